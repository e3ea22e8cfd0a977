/* The multispin kernel on a GPU below its ops: the host's interface to the drivers in
 * multispin_*_gpu.cu.
 *
 * A group is 32 replicas, one bit each. In device memory it is a row of tiles
 * (lattice/bit_sliced.cuh) by replica, so that a replica is copied without touching its neighbours;
 * sites are in the order of the trajectory's words, and the part of a last tile beyond the lattice
 * is 0. For sweeps the tiles are transposed to the form by site: in shared memory if a group fits,
 * otherwise in place. */
#ifndef GPUMC_ISING_MULTISPIN_GPU_H
#define GPUMC_ISING_MULTISPIN_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/device/cuda_error.h"
#include "core/simulation/kernel.h"
#include "models/ising/ising_channels.h"
#include "models/ising/ising_physics.h"
#include "models/lattice/batch.h"
#include "models/lattice/divisor.h"
#include "models/lattice/strips.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rules: thresholds of one temperature, and the masks that words of 32 replicas are compared with.
 * For both compilers: a temperature shared by all runs is passed with the launch, those of each run
 * are computed on the GPU. */
enum {
  ISING_MULTISPIN_PLANES = 32,
  ISING_MULTISPIN_ALWAYS = ISING_MULTISPIN_PLANES, /* row for the classes that need no comparison */
  ISING_MULTISPIN_SPIN_UP,                         /* row for the spin that needs it */
  ISING_MULTISPIN_ROWS,
  ISING_MULTISPIN_COLUMNS = 8,
};

/* Parameters shared by all runs. `plain`: Metropolis without a field. `width`: of random fields. */
struct ising_multispin_physics {
  double coupling, width;
  uint32_t neighbours, plain, heat_bath, random_fields;
};

/* By the number n of neighbours that pull up: the threshold, all ones if no comparison is needed,
 * in which case bit n of `always` is set; Metropolis: bit n of `spin_up` tells which spin needs
 * it. */
struct ising_multispin_thresholds {
  uint32_t threshold[ISING_CLASSES_MAXIMUM];
  uint32_t always, spin_up;
};

GPUMC_HOST_DEVICE static inline struct ising_multispin_thresholds
ising_multispin_thresholds(const struct ising_multispin_physics *physics, double beta,
                           double uniform_field)
{
  const double field = physics->random_fields ? physics->width : uniform_field;
  struct ising_multispin_thresholds rule = {{0}, 0, 0};
  struct ising_acceptance acceptance =
      ising_acceptance(beta, physics->coupling, field, physics->neighbours);
  if (physics->heat_bath)
    ising_heat_bath(beta, physics->coupling, field, physics->neighbours, acceptance.threshold);
  for (uint32_t up = 0; up <= physics->neighbours; up++) {
    const uint64_t threshold = acceptance.threshold[up];
    const uint32_t always = threshold >= GPUMC_THRESHOLD_ALWAYS;
    rule.threshold[up] = always ? UINT32_MAX : (uint32_t)threshold;
    rule.always |= always << up;
    rule.spin_up |= acceptance.spin_up[up] << up;
  }
  return rule;
}

GPUMC_HOST_DEVICE static inline uint32_t
ising_multispin_rule_bit(const struct ising_multispin_thresholds *rule, uint32_t row, uint32_t up)
{
  if (row == ISING_MULTISPIN_ALWAYS)
    return rule->always >> up & 1;
  if (row == ISING_MULTISPIN_SPIN_UP)
    return rule->spin_up >> up & 1;
  return rule->threshold[up] >> (ISING_MULTISPIN_PLANES - 1 - row) & 1;
}

/* Returns all ones or zeros. In general column c is the number of neighbours that pull up. Plain:
 * only spins with most bonds satisfied are compared; column 0 is the class with the fewest of
 * these, column c the difference to the class with c more satisfied. */
GPUMC_HOST_DEVICE static inline uint32_t
ising_multispin_mask(const struct ising_multispin_physics *physics,
                     const struct ising_multispin_thresholds *rule, uint32_t row, uint32_t column)
{
  const uint32_t least = physics->plain ? physics->neighbours / 2 + 1 : 0;
  uint32_t bit = 0;
  if (least + column <= physics->neighbours)
    bit = ising_multispin_rule_bit(rule, row, least + column);
  if (physics->plain && column > 0)
    bit ^= least + column <= physics->neighbours ? ising_multispin_rule_bit(rule, row, least) : 0;
  return 0 - bit;
}

enum {
  ISING_MULTISPIN_LANES = 32,
  ISING_MULTISPIN_TILE_BYTES = 1024,
  ISING_MULTISPIN_TILE_SITES = 256,
  ISING_MULTISPIN_THREADS = 640, /* of a block at most: sweeps have registers for no more */
  ISING_MULTISPIN_VECTOR = 4,    /* words that a thread takes at once at most */
  ISING_MULTISPIN_GROUPS = 4,    /* groups that it does, if they are small */
};

/* Where the neighbours of two words of a colour are that need not be in one row: those in other
 * rows, and those at the side, for each colour. For cubic lattices whose rows have an odd number of
 * words. */
struct ising_multispin_pair_sites {
  uint16_t above[2], below[2], side[2][2];
};

/* words[runs][groups][tiles][256], device memory. pairs[colour / 2]: NULL if there are none. */
struct ising_multispin_replicas {
  struct lattice_batch batch;
  uint32_t *words;
  uint32_t groups, tiles; /* of a run; of a group */
  uint32_t dimension, length_x;
  uint32_t colour, plane;           /* sites of one colour; in a plane (lattice/checkerboard.h) */
  struct gpumc_divisor row, height; /* sites of one colour in a row; rows in a plane */
  const struct ising_multispin_pair_sites *pairs;
};

/* Neighbours by direction, the first four in two dimensions; the other end of a bond has the
 * opposite direction: above instead of below, before instead of after. */
enum ising_multispin_direction {
  ISING_MULTISPIN_ABOVE,
  ISING_MULTISPIN_BELOW,
  ISING_MULTISPIN_SAME,
  ISING_MULTISPIN_SIDE,
  ISING_MULTISPIN_BEFORE,
  ISING_MULTISPIN_BEHIND,
};

/* Disorder as words of 32 lanes in device memory, NULL if there is none of a kind; group g has
 * those from g times the stride on.
 *
 * signs[2 d + 1][colour]: all ones if J_ij is less than 0, for the bonds from colour 0 in the order
 * of enum ising_multispin_direction; the last array holds the bonds at the side, by the site of
 * colour 1. `turned`, by site as sweeps see it, padded to whole vectors: spins that are inverted
 * during sweeps, those in random fields below 0. `stagger`: all ones if J < 0 and all spins of
 * colour 1 are inverted. */
struct ising_multispin_disorder {
  const uint32_t *signs, *turned;
  size_t signs_stride, turned_stride;
  uint32_t stagger;
};

/* `each`: every run has its own temperature, and thresholds[runs] in device memory; otherwise all
 * have the one whose masks are `rows`, and the first `zeros` planes have no bit set. `ready`:
 * thresholds were computed before this call. */
struct ising_multispin_device_rule {
  struct ising_multispin_physics physics;
  struct ising_multispin_thresholds *thresholds;
  uint32_t each, zeros, ready;
  uint32_t rows[ISING_MULTISPIN_ROWS][ISING_MULTISPIN_COLUMNS];
};

/* How a sweep is spread: `slots` times `groups` groups per block, `threads` for each slot;
 * `shared_bytes` of a block. */
struct ising_multispin_spread {
  uint32_t in_shared; /* a group is in shared memory */
  uint32_t width;     /* words that a thread takes at once: 1, 2 or 4 */
  uint32_t slots, groups, threads, shared_bytes;
  uint32_t regular; /* a thread keeps its place within rows from step to step */
  uint32_t pairs;   /* two words need not be in one row */
};

/* `sweeps` may be 0. `moves`: the words in its `from`, as in replicas, are fewer than 2^32.
 * `strips`: of packed replicas (packed_gpu.h). */
struct ising_multispin_sweep {
  struct ising_multispin_replicas replicas;
  struct lattice_moves moves;
  struct ising_multispin_disorder disorder;
  struct ising_multispin_device_rule rule;
  struct ising_multispin_spread spread;
  struct ising_channels channels;
  uint32_t sweeps;
  struct lattice_strips strips;
};

/* Temperatures and fields of the runs first .. first + count - 1, and the thresholds computed from
 * them. */
enum { ISING_MULTISPIN_TEMPERATURES = 128 };
struct ising_multispin_temperature {
  double beta, field;
};
struct ising_multispin_temperatures {
  struct ising_multispin_physics physics;
  struct ising_multispin_thresholds *thresholds; /* [runs], device memory */
  uint32_t first, count;
  struct ising_multispin_temperature at[ISING_MULTISPIN_TEMPERATURES];
  void *stream; /* cudaStream_t */
};

struct ising_multispin_transfer {
  struct ising_multispin_replicas replicas;
  struct lattice_portable portable;
};

/* Replicas of the runs first + i and, if `pairs`, their overlaps with those of the runs second + i,
 * i < runs. cosine, sine: [wave.length], and their sums; arrays [runs][capacity], NULL if not
 * wanted; without pairs only `square` may be given. */
struct ising_multispin_comparison {
  struct ising_multispin_replicas replicas;
  struct lattice_wave wave;
  const int32_t *cosine, *sine;
  int64_t sum_cosine, sum_sine;
  uint32_t pairs, first, second, runs;
  uint32_t in_shared, by_fours, shared_bytes;
  int64_t *spin, *link, *square;
};

struct gpumc_device;
struct gpumc_ensemble;
struct gpumc_checkerboard;

/* Returns the replicas of an ensemble, `groups` per run, without tiles. `lattice` counts words of a
 * group, which are sites or, in the packed kernel, many sites of a row. */
struct ising_multispin_replicas
ising_multispin_replicas_on(const struct gpumc_ensemble *ensemble,
                            const struct gpumc_checkerboard *lattice, size_t groups);

/* Returns the shared memory of a block that compares a group, */
size_t
ising_multispin_comparison_bytes(const struct ising_multispin_replicas *replicas, bool in_shared);
/* and of one that sweeps `slots` times `groups` of them with `threads` for each slot. */
size_t ising_multispin_shared_bytes(const struct ising_multispin_replicas *replicas, uint32_t slots,
                                    uint32_t groups, uint32_t threads);
/* Sweeps, then measures the wanted channels, with a group in shared memory. */
GPUMC_MUST_CHECK enum gpumc_status
ising_multispin_sweep_shared(const struct ising_multispin_sweep *arguments,
                             struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
ising_multispin_sweep_shared_cubic(const struct ising_multispin_sweep *arguments,
                                   struct gpumc_error *error);
/* Loads the code of such sweeps, for one temperature whatever its thresholds, or for those of each
 * run, and that of a start. */
void ising_multispin_load_shared(const struct ising_multispin_sweep *arguments);
void ising_multispin_load_shared_cubic(const struct ising_multispin_sweep *arguments);
void ising_multispin_load_start(void);
/* The same sweeps in device memory. */
GPUMC_MUST_CHECK enum gpumc_status
ising_multispin_sweep_global(const struct ising_multispin_sweep *arguments,
                             struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
ising_multispin_sweep_global_cubic(const struct ising_multispin_sweep *arguments,
                                   struct gpumc_error *error);

GPUMC_MUST_CHECK enum gpumc_status
ising_multispin_work_out(const struct ising_multispin_temperatures *arguments,
                         struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
ising_multispin_randomize(const struct ising_multispin_replicas *arguments,
                          struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
ising_multispin_from_portable(const struct ising_multispin_transfer *arguments,
                              struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
ising_multispin_to_portable(const struct ising_multispin_transfer *arguments,
                            struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
ising_multispin_compare(const struct ising_multispin_comparison *arguments,
                        struct gpumc_error *error);

/* Data in device memory beside the replicas: disorder as words, tables of waves, and the thresholds
 * of every run's temperature. Offsets of the parts, in bytes. Disorder comes in `sets`, for 32
 * samples each or one for all; a part that is not needed has 0 words per set. */
struct ising_multispin_table {
  size_t sets, signs_words, turned_words, n_pairs;
  size_t signs, turned, cosine, sine, pairs, thresholds, bytes;
};

struct ising_multispin_table
ising_multispin_table_of(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan);

/* Returns the words of the disorder in `table`. */
struct ising_multispin_disorder ising_multispin_disorder_of(const struct gpumc_ensemble *ensemble);

/* Returns what belongs to the pair of words 2 `number` and 2 `number` + 1 of a colour. */
struct ising_multispin_pair_sites
ising_multispin_pair_of(const struct gpumc_checkerboard *lattice, size_t number);

/* Draws the samples of the ensemble and copies them to the device, with the tables of the wave,
 * whose sums, of cosines and of sines, are returned. The ensemble's storage exists. GPUMC_INVALID:
 * disorder that cannot be stored as bits. */
GPUMC_MUST_CHECK enum gpumc_status ising_multispin_table_fill(const struct gpumc_ensemble *ensemble,
                                                              int64_t wave_sum[2],
                                                              struct gpumc_error *error);

struct ising_multispin_physics ising_multispin_physics_of(const struct gpumc_ensemble *ensemble);

/* Sets the rest of a rule with physics, thresholds, and `each` if masks of a single temperature do
 * not suffice. control[runs][ISING_CONTROLS]; `known`: that whose thresholds are on the device
 * (ising_host_gpu.h). */
GPUMC_MUST_CHECK enum gpumc_status
ising_multispin_set_temperatures(const struct gpumc_ensemble *ensemble, const double *control,
                                 double *known, struct ising_multispin_device_rule *rule,
                                 struct gpumc_error *error);

#ifdef __cplusplus
}
#endif

#endif
