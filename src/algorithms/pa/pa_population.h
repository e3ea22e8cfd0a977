/* The populations of a batch of runs, and the operations of population annealing on them on a
 * device: weights, resampling, families, sums. Every sum is exact (integers or 64-bit fixed point),
 * so no result depends on threads, blocks, order or device; the formulas are in pa_rules.h.
 *
 * The runs of a batch are stored side by side: replica r of run m is element m * capacity + r of
 * every array. The number of replicas of a run is decided on the device and stays there. Operations
 * are enqueued in the order of the calls and need not be done when the call returns; their findings
 * reach the host by `publish` and, one step later, `collect`, so that the device never waits for
 * the host. */
#ifndef GPUMC_ALGORITHMS_PA_POPULATION_H
#define GPUMC_ALGORITHMS_PA_POPULATION_H

#include "core/device/device.h"

struct pa_steps;
struct pa_parts;

enum pa_resampling { PA_RESAMPLING_NEAREST_INTEGER, PA_RESAMPLING_SYSTEMATIC };

/* Parameters that are fixed when a population is created. A block is the families f with f mod
 * blocks = block. */
struct pa_population_plan {
  size_t runs;     /* of a batch at most, or those of them that the process has */
  size_t batch;    /* maximum number of runs of a batch for whose outcomes there is room; 0:
                    * `runs` */
  size_t capacity; /* replicas of a run at most; runs * capacity < 2^32 */
  /* If processes divide the runs: `capacity` is the process's own, which begins with replica
   * `first` of `whole` (0: there is no more than `capacity`). Everything else refers to the
   * whole. */
  size_t first, whole;
  size_t processes, rank; /* 0: undivided */
  size_t founders;        /* replicas that a run starts with: family labels are below */
  size_t blocks;
  size_t n_channels;
  size_t tracked;   /* channel whose lowest value is kept */
  size_t conjugate; /* channel by which replicas are weighed */
  bool falls;       /* steps are below 0, so that the highest value has the largest weight */
  unsigned sums[GPUMC_CHANNELS_MAXIMUM]; /* of enum gpumc_moment_choice */
  /* Largest |x| of each channel: capacity times the largest power summed must stay below 2^127. */
  double bound[GPUMC_CHANNELS_MAXIMUM];
  /* Histograms of the tracked channel, run by run into the stratum run mod strata. levels = 0:
   * none. */
  size_t strata, levels;
  int64_t lowest, spacing;
};

static inline size_t pa_plan_batch(const struct pa_population_plan *plan)
{
  return plan->batch > 0 ? plan->batch : plan->runs;
}

static inline size_t pa_plan_processes(const struct pa_population_plan *plan)
{
  return plan->processes > 0 ? plan->processes : 1;
}

static inline size_t pa_plan_whole(const struct pa_population_plan *plan)
{
  return plan->whole > 0 ? plan->whole : plan->capacity;
}

/* One resampling step of every run of the batch. */
struct pa_resampling_request {
  enum pa_resampling method;
  uint64_t seed;
  uint32_t rounds;        /* of Philox */
  uint32_t first_run;     /* in the batch */
  uint32_t first_replica; /* of the share (gpumc_ensemble_plan) */
  uint32_t time;          /* annealing step, for the counter */
  /* Difference of the coefficients of the conjugate channel times its quantum: for the energy, of
   * inverse temperatures times its quantum. Above 0, or below if the plan says so. */
  double step;
  size_t target; /* R, the target population */
};

/* The findings of the last resampling and the last tally in one run. */
struct pa_outcome {
  /* The resampling; after `found`, `before` = `size` and all else 0. For the whole runs, in all
   * processes. */
  size_t before;     /* replicas that were weighed */
  size_t size;       /* replicas that resulted; outside 1 .. whole the run is left empty */
  int64_t reference; /* the conjugate channel's value with the largest weight */
  uint64_t total;    /* sum of the weights, in units of 2^-pa_weight_shift(whole) */
  double overlap;    /* eq. 8 of Barash et al. (2017), with `before` for R */
  const uint64_t *block_weight; /* [blocks] weights by block */
  /* The tally. */
  const struct gpumc_moment_sums *sums[GPUMC_CHANNELS_MAXIMUM]; /* [blocks] each */
  int64_t lowest;                                               /* of the tracked channel */
  size_t lowest_replicas, lowest_families;                      /* with that value */
  size_t families;
  uint64_t square_sum; /* of the family sizes */
  double entropy;      /* sum of share ln(share) over the families */
};

/* Offsets of the findings of all runs in the record that is published: bytes from its beginning,
 * for the arrays that struct pa_work points to.
 *
 *   reference | weighed | copied | need | weights by block | reached | tallied | strangers | sums
 * by block
 *   `- of the resampling                                   `- of the tally */
struct pa_resampled_layout {
  size_t reference, weighed, copied, need;
};

struct pa_layout {
  struct pa_resampled_layout resampled;
  size_t weights, reached, tallied, strangers, sums;
  struct pa_resampled_layout trial; /* of one run, after what is published */
  size_t bytes, trial_bytes;
  struct gpumc_tally by_weight, by_value;
};

/* Pointers are to device memory except `trial`, `block_weight` and `moments`. `size` belongs to the
 * ensemble. */
struct pa_population {
  struct pa_population_plan plan;
  struct gpumc_device *device;
  const struct pa_steps *steps; /* the device's */
  /* In the current batch, <= plan.runs; set by the caller that starts it. With none, operations do
   * nothing. */
  size_t runs;
  size_t first;   /* number in the batch of the first of them */
  uint32_t *size; /* [runs] */
  /* [plan.runs][plan.capacity] each: */
  int64_t *channel[GPUMC_CHANNELS_MAXIMUM];
  uint64_t *weight;
  uint32_t *parent, *copies, *family;
  uint64_t *bins; /* [strata][blocks][levels] */
  void *scan;     /* scratch memory for the device's prefix sums */
  struct pa_layout layout;
  uint8_t *record; /* layout.bytes, and trial_bytes */
  uint8_t *trial;  /* trial_bytes of host memory */
  struct gpumc_slot slot[GPUMC_SLOTS];
  size_t published[GPUMC_SLOTS];     /* runs */
  uint64_t *block_weight;            /* [plan.batch][blocks], as collected */
  struct gpumc_moment_sums *moments; /* [plan.batch][n_channels][blocks] */
  struct pa_parts *parts;            /* for several processes (pa_parts.h); NULL: not divided */
};

/* Return the device memory of a population, the part of it for replicas, and the host memory beside
 * it. */
size_t
pa_population_bytes(const struct gpumc_device *device, const struct pa_population_plan *plan);
size_t pa_population_replica_bytes(const struct gpumc_device *device,
                                   const struct pa_population_plan *plan);
size_t
pa_population_host_bytes(const struct gpumc_device *device, const struct pa_population_plan *plan);
/* `size`: gpumc_ensemble.size, borrowed. */
GPUMC_MUST_CHECK enum gpumc_status
pa_population_create(struct gpumc_device *device, const struct pa_population_plan *plan,
                     uint32_t *size, struct pa_population *population, struct gpumc_error *error);
/* Legal on a zeroed object; leaves it zeroed. */
void pa_population_free(struct pa_population *population);

/* Sets family[r] = r for every founder of the runs 0 .. runs-1; no resampling took place. */
GPUMC_MUST_CHECK enum gpumc_status
pa_population_found(struct pa_population *population, struct gpumc_error *error);
/* Finds sums, families and extremes of the current channels; with `histogram`, bins += 1 for every
 * replica, run m into the stratum (first_run + m) mod strata. */
GPUMC_MUST_CHECK enum gpumc_status pa_population_tally(struct pa_population *population,
                                                       uint32_t first_run, bool histogram,
                                                       struct gpumc_error *error);
/* Finds the overlap of a step from the current values of the conjugate channel in the batch's first
 * run, and waits for it. Needs a tally of these values. */
GPUMC_MUST_CHECK enum gpumc_status pa_population_trial(struct pa_population *population,
                                                       double step, double *overlap,
                                                       struct gpumc_error *error);
/* Weighs every replica, draws its number of copies, and assigns places to the copies: parent[r] for
 * r < the new size. A replica that lives on keeps its place; further children, and children of
 * replicas beyond the new size, fill the free places in ascending order of parent and place. So
 * parent[p] = p for every parent p < size, and copying in place is safe. Families are inherited and
 * *size is updated: 0 if the outcome's size is outside 1 .. whole. Needs a tally of the current
 * values.
 *
 * In a divided population parent[p] = p also if a child from elsewhere has its place there: its
 * family and state are brought by pa_parts_migrate. */
GPUMC_MUST_CHECK enum gpumc_status
pa_population_resample(struct pa_population *population,
                       const struct pa_resampling_request *request, struct gpumc_error *error);
/* Starts copying the findings of the last `resample` (or `found`) and `tally` into `slot`. */
GPUMC_MUST_CHECK enum gpumc_status
pa_population_publish(struct pa_population *population, size_t slot, struct gpumc_error *error);
/* Waits for it and fills outcome[first .. first + runs - 1], by numbers in the batch, whose arrays
 * are valid until the next call. */
GPUMC_MUST_CHECK enum gpumc_status pa_population_collect(struct pa_population *population,
                                                         size_t slot, struct pa_outcome *outcome,
                                                         struct gpumc_error *error);
/* Sets the pointers of the outcome of run m of the batch to its arrays. */
void pa_population_point(const struct pa_population *population, size_t m,
                         struct pa_outcome *outcome);

#endif
