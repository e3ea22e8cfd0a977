/* An ensemble of an Ising spin model without a configuration, on the device under test. */
#ifndef TESTS_SUPPORT_ISING_FIXTURE_H
#define TESTS_SUPPORT_ISING_FIXTURE_H

#include "core/simulation/ensemble.h"
#include "models/ising/ising.h"
#include "models/ising/tiled/tiled.h"
#include "support/ising_reference.h"
#include "support/test_device.h"

enum { FIXTURE_KERNELS_MAXIMUM = 8 };

struct ising_case {
  const struct gpumc_kernel_ops *kernel;
  struct ising_settings settings;
  size_t runs, capacity;
  bool sample_each; /* with disorder: replica r has sample r; otherwise all have the first */
  size_t samples;   /* unless 0: the number of samples, where each run has one */
  enum ising_move update;
  bool exchanges;           /* the plan announces exchanges of replicas */
  bool exchanges_clusters;  /* clusters between runs */
  uint32_t clusters;        /* of Wolff in a sweep; 0 means 1 */
  bool tunes;               /* their number; it begins with that */
  bool measures_clusters;   /* all channels are measured, those of clusters as well */
  enum ising_control moved; /* what sweeps are given; by default the inverse temperature */
  bool fixes;               /* fixes the other control at `fixed`; otherwise the instance's own
                             * value applies */
  double fixed[ISING_CONTROLS];
  struct ising_tiling tiling;
  uint32_t first_run;
  uint64_t seed;
  uint32_t rounds;
  struct test_setting setting;
};

struct ising_fixture {
  struct gpumc_device device;
  struct gpumc_model model;
  struct gpumc_ensemble ensemble;
  int64_t *channel[ISING_CHANNELS]; /* [runs][capacity], device memory */
  int64_t *overlap[ISING_PAIRS];    /* the same */
  uint32_t *parent;                 /* the same */
  uint32_t *swap[2];                /* [runs][gpumc_swap_words(capacity)], device memory; in turn */
  size_t exchanges;                 /* so far */
};

/* Finds the kernels on the device under test that reference.h covers: not those with tiles
 * (tiled_reference.h). Returns how many there are. */
size_t fixture_kernels(const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM]);
/* Returns the kernel with tiles on the device under test. */
const struct gpumc_kernel_ops *fixture_tiled_kernel(void);
/* Returns the trajectory that the kernel declares; with tiles it begins as REFERENCE_SPIN. */
enum reference_trajectory fixture_trajectory(const struct gpumc_kernel_ops *kernel);

/* Returns a case with J = 1, h = 0, no disorder, Metropolis, one run, number 0, seed 1, Philox with
 * 10 rounds, test_setting(). */
struct ising_case fixture_case(const struct gpumc_kernel_ops *kernel, size_t dimension,
                               const size_t *shape, size_t capacity);
/* Returns a case on a square lattice. */
struct ising_case fixture_square(const struct gpumc_kernel_ops *kernel, size_t length_x,
                                 size_t length_y, size_t capacity);
/* Returns a text for messages. It is valid until the next call. */
const char *fixture_text(const struct ising_case *with);

/* Returns whether the kernel takes the instance: a GPU kernel may not, nor may the packed one; the
 * other CPU kernels take all. */
bool fixture_serves(const struct ising_case *with);

/* These fail the running test on any error. */
void fixture_open(struct ising_fixture *fixture, const struct ising_case *with);
void fixture_close(struct ising_fixture *fixture);
/* Creates run m of the case in the reference, drawn at beta = 0. */
void fixture_reference(const struct ising_fixture *fixture, const struct ising_case *with, size_t m,
                       size_t replicas, struct reference *reference);
/* Randomizes all runs, with `size` replicas each. */
void fixture_randomize(struct ising_fixture *fixture, const struct ising_case *with, size_t size);
void fixture_set_sizes(struct ising_fixture *fixture, const uint32_t *size);
size_t fixture_size(const struct ising_fixture *fixture, size_t m);
void fixture_sweep(struct ising_fixture *fixture, uint32_t sweeps, double beta);
/* beta[runs] */
void fixture_sweep_each(struct ising_fixture *fixture, uint32_t sweeps, const double *beta);
/* parent[runs][capacity]; size[runs] afterwards. */
void fixture_gather(struct ising_fixture *fixture, const uint32_t *parent, const uint32_t *size);
/* swap[runs][gpumc_swap_words(capacity)] */
void fixture_exchange(struct ising_fixture *fixture, const uint32_t *swap);
/* Stores value[kind][runs][capacity] in host memory; NULL: not wanted. */
void fixture_overlap(struct ising_fixture *fixture, size_t first, size_t second, size_t runs,
                     int64_t *const value[ISING_PAIRS]);
/* Stores value[channel][runs][capacity]; NULL: not wanted. The second function measures together
 * with sweeps. */
void fixture_measure_channels(struct ising_fixture *fixture, int64_t *const value[ISING_CHANNELS]);
void fixture_sweep_and_measure_channels(struct ising_fixture *fixture, uint32_t sweeps,
                                        const double *beta, int64_t *const value[ISING_CHANNELS]);
/* Do the same for energy and magnetization, with all runs at one temperature. */
void fixture_measure(struct ising_fixture *fixture, int64_t *energy, int64_t *magnetization);
void fixture_sweep_and_measure(struct ising_fixture *fixture, uint32_t sweeps, double beta,
                               int64_t *energy, int64_t *magnetization);
/* Returns all replicas of run m in portable form; the caller frees them. */
uint8_t *fixture_get(struct ising_fixture *fixture, size_t m);
/* Returns the first replica of run m that is not that of the reference; their number: none. */
size_t fixture_alike(struct ising_fixture *fixture, size_t m, const struct reference *reference);
/* Checks that there is none. */
void fixture_expect_same(struct ising_fixture *fixture, const struct ising_case *with, size_t m,
                         const struct reference *reference);

#endif
