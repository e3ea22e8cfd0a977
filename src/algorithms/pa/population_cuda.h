/* The population operations on CUDA: what the host logic (*_cuda.c) and the kernels (*.cu) share.
 *
 * All sums of a run stand in one record, so that two memsets clear and one copy publishes them:
 *
 *   struct gpumc_resampled | block weights | struct gpumc_tallied | sums of the channels by block
 *   `- of the resampling                     `- of the tally
 *
 * An exact sum is a row of 32-bit words, the lowest first, in two's complement; word i of block b
 * is element i * blocks + b. */
#ifndef GPUMC_CORE_POPULATION_CUDA_H
#define GPUMC_CORE_POPULATION_CUDA_H

#include "algorithms/pa/population.h"
#include "core/numerics/host_device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sums over the replicas of one run, but for `before` and `reference`. */
struct gpumc_resampled {
  uint64_t before, size, total;
  uint64_t overlap_high, overlap_low; /* of gpumc_overlap */
  int64_t reference;
};

struct gpumc_tallied {
  uint64_t depth; /* INT64_MAX - lowest energy, so that 0 is nothing found and the largest wins */
  uint64_t lowest_replicas, lowest_families, families, square_sum;
  int64_t entropy; /* of gpumc_family_entropy */
};

GPUMC_HOST_DEVICE static inline int64_t gpumc_lowest_of(const struct gpumc_tallied *tallied)
{
  return (int64_t)((uint64_t)INT64_MAX - tallied->depth);
}

enum { GPUMC_WARP_THREADS = 32, GPUMC_BLOCK_THREADS_MAXIMUM = 1024 };

enum { GPUMC_WEIGHT_WORDS = 2 };

struct gpumc_population_layout {
  struct gpumc_exact_sum sum[GPUMC_EXACT_SUMS_MAXIMUM];
  uint32_t n_sums, words; /* words of all sums of one block */
  /* Bytes from the beginning of a run's record, and of the whole record. */
  size_t block_weight, tallied, sums, stride;
};

/* What every kernel gets. Replica r of run m is element m * capacity + r. */
struct gpumc_population_work {
  void *stream;
  uint32_t threads, blocks_per_run; /* of the launches */
  size_t runs, capacity, founders, blocks, n_channels;
  uint32_t *size;
  const int64_t *channel[GPUMC_CHANNELS_MAXIMUM];
  uint64_t *weight;
  uint32_t *parent, *copies, *family;
  uint8_t *resampled; /* records that resampling writes: the runs', or the one of `trial` */
  uint8_t *records;
  struct gpumc_population_layout layout;
  void *scan_memory;
  size_t scan_bytes;
};

struct gpumc_resample_work {
  struct gpumc_population_work population;
  struct gpumc_resampling_request request;
  int weight_shift;
};

struct gpumc_tally_work {
  struct gpumc_population_work population;
  uint64_t *bins; /* NULL: no histogram */
  size_t first_run, strata, levels;
  int64_t lowest, spacing;
  /* [runs][capacity] each, cleared: members of every family, and whether one has the lowest energy.
   */
  uint32_t *members, *mark;
};

/* Weights, their sum and the block weights; `before` and `reference`. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_weigh_cuda(const struct gpumc_resample_work *work, struct gpumc_error *error);
/* The overlap only. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_overlap_cuda(const struct gpumc_resample_work *work, struct gpumc_error *error);
/* The overlap, copies and their sum. Systematic resampling expects the cumulated weights. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_copies_cuda(const struct gpumc_resample_work *work, struct gpumc_error *error);
/* weight becomes the sum of all weights up to and with it, through all runs. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_cumulate_cuda(const struct gpumc_population_work *work, struct gpumc_error *error);
/* Parents, families and sizes from the copies; weight is overwritten. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_places_cuda(const struct gpumc_population_work *work, struct gpumc_error *error);
/* Device memory that the two above need for `count` elements. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_scan_bytes_cuda(size_t count, size_t *bytes, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
gpumc_found_cuda(const struct gpumc_population_work *work, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
gpumc_tally_cuda(const struct gpumc_tally_work *work, struct gpumc_error *error);

#ifdef __cplusplus
}
#endif

/* Host only. */

void gpumc_population_layout_make(const struct gpumc_population_plan *plan,
                                  struct gpumc_population_layout *layout);

/* What was published: the records in pinned memory and, once collected, the outcomes' arrays. */
struct gpumc_outcome_slot {
  uint8_t *records;
  void *arrived; /* cudaEvent_t */
  size_t runs;
  uint64_t *block_weight;         /* [plan.runs][blocks] */
  struct gpumc_moment_sums *sums; /* [plan.runs][n_channels][blocks] */
};

/* gpumc_population.own */
struct gpumc_population_cuda {
  struct gpumc_population_work work; /* all but `runs` and the launches is fixed */
  struct gpumc_outcome_slot slot[GPUMC_OUTCOME_SLOTS];
};

/* Host memory of one slot. */
size_t gpumc_outcome_slot_bytes(const struct gpumc_population_plan *plan,
                                const struct gpumc_population_layout *layout);
/* One slot; free is legal after a failed create. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_outcome_slot_create(const struct gpumc_population_plan *plan,
                          const struct gpumc_population_layout *layout,
                          struct gpumc_outcome_slot *slot, struct gpumc_error *error);
void gpumc_outcome_slot_free(struct gpumc_outcome_slot *slot);
/* The entries of the ops table. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_population_cuda_publish(struct gpumc_population *population, size_t slot,
                              struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
gpumc_population_cuda_collect(struct gpumc_population *population, size_t slot,
                              struct gpumc_population_outcome *outcome, struct gpumc_error *error);

extern const struct gpumc_population_ops gpumc_population_cuda;

#endif
