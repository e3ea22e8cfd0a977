/* Ensembles of hard disks on the device under test, and a checker of their states that shares no
 * arithmetic with the kernels. */
#ifndef TESTS_SUPPORT_DISKS_FIXTURE_H
#define TESTS_SUPPORT_DISKS_FIXTURE_H

#include "core/simulation/ensemble.h"
#include "models/hard_disks/checkerboard/checkerboard_plain.h"
#include "support/test_device.h"

struct disks_job {
  struct hard_disks_settings settings;
  const char *variant;               /* "serial", "checkerboard" */
  struct hard_disks_options options; /* moves = 0: the defaults */
  double move_size;                  /* 0: 0.16 */
  double beta_pressure;              /* 0: constant volume */
  struct hard_disks_volume_options volume;
  size_t runs, replicas; /* 0: 1 */
  uint64_t seed;
};

struct disks {
  struct gpumc_device device;
  struct gpumc_model model;
  struct gpumc_ensemble ensemble;
  size_t count;                          /* number of replicas in all runs */
  double *beta_pressure;                 /* [runs]; NULL: constant volume */
  int64_t *channel[HARD_DISKS_NUMBERS];  /* device memory */
  int64_t *measured[HARD_DISKS_NUMBERS]; /* host memory: after disks_measure() */
};

/* Opens and starts the ensemble. */
void disks_open(const struct disks_job *job, struct test_setting setting, struct disks *disks);
void disks_close(struct disks *disks);

void disks_sweep(struct disks *disks, uint32_t sweeps);
/* Measures channels into `measured`: all those that are single numbers, or those not on request. */
void disks_measure(struct disks *disks);
void disks_measure_pressure(struct disks *disks);
/* Returns one replica's value of a channel per disk. */
double disks_value(const struct disks *disks, size_t channel, size_t replica);
/* Returns all replicas in portable form, [count][portable_bytes]; the caller frees them. */
uint8_t *disks_replicas(struct disks *disks);
void disks_set(struct disks *disks, const uint8_t *replicas);
/* Returns the trial counts of run m. */
struct checkerboard_counts disks_counts(struct disks *disks, size_t m);

/* Returns NULL, or what is wrong with a replica: a disk outside the box, or a pair closer than 1.
 * Works in doubles, with cells of its own. */
const char *disks_flaw(const struct gpumc_model *model, const uint8_t *portable);
/* Fails if a replica has such a flaw, and says which replica it is. */
void disks_expect_sound(struct disks *disks, const char *name);
/* Fails if two states of all replicas in portable form differ; i: the case number. */
void disks_expect_same(size_t i, const struct disks *disks, const uint8_t *one,
                       const uint8_t *other, const char *when, struct test_setting setting);
/* Compares doubles for qsort. */
int disks_ascending(const void *a, const void *b);
/* Returns the number of disks and the box of a plain replica, as doubles: x0, y0, ... */
const double *disks_places(const uint8_t *portable);

#endif
