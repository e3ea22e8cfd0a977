/* Data-parallel operations on a population: weights, resampling, families, sums. Every sum is exact
 * (integers or 64-bit fixed point), so that no result depends on threads, blocks or order.
 *
 * Arrays named here live on the device; plain outputs (`*total`) are host memory. n = replicas. */
#ifndef GPUMC_CORE_POPULATION_H
#define GPUMC_CORE_POPULATION_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/random.h"

struct gpumc_device;

typedef __int128 gpumc_wide;

enum gpumc_resampling { GPUMC_RESAMPLING_NEAREST_INTEGER, GPUMC_RESAMPLING_SYSTEMATIC };

/* Which sums `moments` forms; the others stay 0. */
enum gpumc_moment_choice {
  GPUMC_SUM_FIRST = 1,
  GPUMC_SUM_ABSOLUTE = 2,
  GPUMC_SUM_SECOND = 4,
  GPUMC_SUM_FOURTH = 8
};

/* Sums over the replicas of one block of families; x in quanta of the channel. The caller sees to
 * it that n times the largest power stays below 2^127. */
struct gpumc_moment_sums {
  gpumc_wide first, absolute, second, fourth;
  int64_t count;
};

/* Weights w_j = exp(-step (x_j - reference)) in units of 2^-shift: integers, at most 2^shift. */
struct gpumc_weighing {
  double step;       /* difference of inverse temperatures times the quantum of the energy */
  int64_t reference; /* the energy of the largest weight */
  int shift;
};

/* One resampling step: how often replica j is copied, given its weight. */
struct gpumc_resampling_request {
  enum gpumc_resampling method;
  struct gpumc_random random;
  uint32_t time;   /* annealing step, for the counter */
  uint64_t total;  /* sum of all weights */
  size_t target;   /* R, the population aimed at */
  size_t capacity; /* the most replicas there is room for */
};

/* Family sizes. `square_sum`: sum of n_f^2; `largest`: the greatest n_f. */
struct gpumc_family_statistics {
  size_t families;
  size_t largest;
  uint64_t square_sum;
};

/* A block is the families f with f mod blocks = block. */
struct gpumc_population_ops {
  GPUMC_MUST_CHECK enum gpumc_status (*extremes)(struct gpumc_device *device, const int64_t *x,
                                                 size_t n, int64_t *minimum, int64_t *maximum,
                                                 struct gpumc_error *error);
  /* sums[blocks], host memory, overwritten; `which`: of enum gpumc_moment_choice. */
  GPUMC_MUST_CHECK enum gpumc_status (*moments)(struct gpumc_device *device, const int64_t *x,
                                                const uint32_t *family, size_t n, size_t blocks,
                                                unsigned which, struct gpumc_moment_sums *sums,
                                                struct gpumc_error *error);
  /* weight[n] and their sum. shift + log2(n) must not exceed 62. */
  GPUMC_MUST_CHECK enum gpumc_status (*weigh)(struct gpumc_device *device, const int64_t *energy,
                                              size_t n, struct gpumc_weighing weighing,
                                              uint64_t *weight, uint64_t *total,
                                              struct gpumc_error *error);
  /* sums[blocks], host memory: weights by block. */
  GPUMC_MUST_CHECK enum gpumc_status (*block_weights)(struct gpumc_device *device,
                                                      const uint64_t *weight,
                                                      const uint32_t *family, size_t n,
                                                      size_t blocks, uint64_t *sums,
                                                      struct gpumc_error *error);
  /* alpha = (1/n) sum_j min(1, target w_j / total): eq. 8 of Barash et al. (2017). */
  GPUMC_MUST_CHECK enum gpumc_status (*overlap)(struct gpumc_device *device, const uint64_t *weight,
                                                size_t n, size_t target, uint64_t total,
                                                double *alpha, struct gpumc_error *error);
  /* parent[r] for the new population 0 <= r < *size. A replica that lives on keeps its place;
   * further children, and children of replicas beyond the new size, fill the free places in
   * ascending order of parent and place. So parent[p] = p for every parent p < *size, and copying
   * in place is safe. parent[capacity], scratch[capacity]. GPUMC_FAILURE when *size would exceed
   * the capacity or be 0. */
  GPUMC_MUST_CHECK enum gpumc_status (*resample)(struct gpumc_device *device,
                                                 const uint64_t *weight, size_t n,
                                                 const struct gpumc_resampling_request *request,
                                                 uint32_t *parent, uint32_t *scratch, size_t *size,
                                                 struct gpumc_error *error);
  /* label[r] = label[parent[r]] for 0 <= r < n, in place, under the rule of `resample`. */
  GPUMC_MUST_CHECK enum gpumc_status (*inherit)(struct gpumc_device *device, uint32_t *label,
                                                const uint32_t *parent, size_t n,
                                                struct gpumc_error *error);
  /* scratch[families]; sizes_of[s], host memory, for s <= largest and s < limit: how many families
   * have s members (s = 0 not counted). */
  GPUMC_MUST_CHECK enum gpumc_status (*families)(struct gpumc_device *device,
                                                 const uint32_t *family, size_t n,
                                                 size_t n_families, uint32_t *scratch,
                                                 struct gpumc_family_statistics *statistics,
                                                 uint32_t *sizes, size_t limit,
                                                 struct gpumc_error *error);
  /* Replicas with x = value, and the families among them. scratch[n_families]. */
  GPUMC_MUST_CHECK enum gpumc_status (*holders)(struct gpumc_device *device, const int64_t *x,
                                                const uint32_t *family, size_t n, size_t n_families,
                                                int64_t value, uint32_t *scratch, size_t *replicas,
                                                size_t *families, struct gpumc_error *error);
  /* bins[blocks][levels] (device) += 1 at level (x - lowest)/spacing of each replica. */
  GPUMC_MUST_CHECK enum gpumc_status (*histogram)(struct gpumc_device *device, const int64_t *x,
                                                  const uint32_t *family, size_t n, size_t blocks,
                                                  int64_t lowest, int64_t spacing, size_t levels,
                                                  uint64_t *bins, struct gpumc_error *error);
};

#endif
