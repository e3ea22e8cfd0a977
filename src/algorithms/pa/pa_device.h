/* The steps of population annealing that each device performs in its own way: pa_cpu.c on the CPU,
 * pa_gpu.cu on CUDA. The operations in between (clearing, sums of channels by block, prefix sums)
 * are the device's, and pa_population.c puts them in order. */
#ifndef GPUMC_ALGORITHMS_PA_DEVICE_H
#define GPUMC_ALGORITHMS_PA_DEVICE_H

#include <assert.h>

#include "algorithms/pa/pa_families.h"
#include "algorithms/pa/pa_flow.h"
#include "algorithms/pa/pa_places.h"
#include "algorithms/pa/pa_population.h"
#include "algorithms/pa/pa_rules.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The findings of the steps in one run. If processes divide it, each finds those of its own
 * replicas and puts them into its row of an array with a row for every process; the rows of all are
 * gathered (pa_parts.h) before the next step uses their sums. If it is undivided, there is one row.
 *
 *   pa_weighed[processes][runs]       | own 0 | own 1 | own 2 |    before = own 0 + own 1 + own 2
 */
struct pa_weighed {
  uint64_t own, total; /* replicas, sum of their weights */
};

struct pa_copied {
  uint64_t size, high, low; /* copies, and the sums that pa_overlap computes the overlap from */
  uint64_t living;          /* replicas with copies; counted only if processes divide the run */
};

/* The maximum over processes is that of the whole. */
struct pa_reached {
  uint64_t depth;  /* pa_reach of the lowest value */
  uint64_t extent; /* pa_reach of the reference if that is not the lowest value */
};

/* Findings on families and on the lowest value. In a divided run they cover the families whose
 * founder's place is here, and of their members those that are here; those elsewhere are added
 * later (pa_families.h). */
struct pa_tallied {
  uint64_t lowest_replicas, lowest_families, families, square_sum;
  int64_t entropy; /* of pa_family_entropy */
};

/* Returns how near a value is to the lowest, or the highest, possible one: 0 means nothing found,
 * and the largest wins. */
GPUMC_HOST_DEVICE static inline uint64_t pa_reach(int64_t value, bool highest)
{
  return highest ? (uint64_t)value - (uint64_t)INT64_MIN : (uint64_t)INT64_MAX - (uint64_t)value;
}

GPUMC_HOST_DEVICE static inline int64_t pa_reached_value(uint64_t reach, bool highest)
{
  return (int64_t)(highest ? reach + (uint64_t)INT64_MIN : (uint64_t)INT64_MAX - reach);
}

GPUMC_HOST_DEVICE static inline int64_t pa_lowest_of(const struct pa_reached *reached)
{
  return pa_reached_value(reached->depth, false);
}

/* The arguments of every step; arrays as in struct pa_population. */
struct pa_work {
  size_t runs, capacity, founders, blocks;
  size_t first, whole; /* as in the plan; whole > 0 */
  bool divided;
  size_t processes, rank; /* 1 and 0 if it is not divided */
  uint32_t *size;
  const int64_t *tracked, *conjugate; /* equal if replicas are weighed by the tracked one */
  bool falls;                         /* as in the plan */
  uint64_t *weight;
  uint32_t *parent, *copies, *family;
  /* In the record, or in that of `trial`; cleared before the resampling and before the tally. */
  int64_t *reference;         /* [runs] */
  struct pa_weighed *weighed; /* [processes][runs] */
  struct pa_copied *copied;   /* [processes][runs] */
  struct pa_need *need;       /* [runs], of this process in a divided population */
  struct pa_reached *reached; /* [runs] */
  struct pa_tallied *tallied; /* [runs] */
  void *scan;
  struct pa_stranger *stranger; /* [runs * capacity], in a divided population */
  uint64_t *n_strangers;
};

/* Returns the element of this process. */
GPUMC_HOST_DEVICE static inline size_t pa_own_row(const struct pa_work *work, size_t m)
{
  return work->rank * work->runs + m;
}

/* For a run in the whole: replicas that were weighed, the sum of their weights, and the part of
 * that in earlier processes. */
struct pa_weights {
  uint64_t before, total, below;
};

GPUMC_HOST_DEVICE static inline struct pa_weights
pa_weights_of(const struct pa_work *work, size_t m)
{
  struct pa_weights weights = {0, 0, 0};
  for (size_t p = 0; p < work->processes; p++) {
    const struct pa_weighed *weighed = &work->weighed[p * work->runs + m];
    if (p == work->rank)
      weights.below = weights.total;
    weights.before += weighed->own;
    weights.total += weighed->total;
  }
  return weights;
}

GPUMC_HOST_DEVICE static inline struct pa_copied pa_copied_of(const struct pa_work *work, size_t m)
{
  struct pa_copied copied = {0, 0, 0, 0};
  for (size_t p = 0; p < work->processes; p++) {
    copied.size += work->copied[p * work->runs + m].size;
    copied.high += work->copied[p * work->runs + m].high;
    copied.low += work->copied[p * work->runs + m].low;
  }
  return copied;
}

/* Returns how many replicas the process has of a run with `size` replicas. */
GPUMC_HOST_DEVICE static inline size_t pa_own_of(const struct pa_work *work, uint64_t size)
{
  const uint64_t rest = size > work->first ? size - work->first : 0;
  return rest < work->capacity ? (size_t)rest : work->capacity;
}

/* Returns its own part of the new size, or 0 if there is no room for that size. */
GPUMC_HOST_DEVICE static inline size_t pa_size_after(const struct pa_work *work, uint64_t size)
{
  return size <= work->whole ? pa_own_of(work, size) : 0;
}

/* Returns the number of this process's first free place less that of its first child (pa_places.h),
 * in a run of the new size `size`. Neither counts the replicas of earlier processes that live on in
 * their places, so it is the number of all places there less that of all copies. */
GPUMC_HOST_DEVICE static inline int64_t
pa_shift_of(const struct pa_work *work, size_t m, uint64_t size)
{
  uint64_t shift = size < work->first ? size : work->first;
  for (size_t p = 0; p < work->rank; p++)
    shift -= work->copied[p * work->runs + m].size;
  return (int64_t)shift;
}

/* Returns the number of families whose founder's place is here: they have the numbers first ..
 * first + that - 1. */
GPUMC_HOST_DEVICE static inline size_t pa_own_families(const struct pa_work *work)
{
  return pa_own_of(work, work->founders);
}

/* Returns whether the reference of the weights is not the lowest value. */
GPUMC_HOST_DEVICE static inline bool pa_is_apart(const struct pa_work *work)
{
  return work->conjugate != work->tracked || work->falls;
}

GPUMC_HOST_DEVICE static inline int64_t
pa_reference_of(const struct pa_work *work, const struct pa_reached *reached)
{
  return pa_is_apart(work) ? pa_reached_value(reached->extent, work->falls) : pa_lowest_of(reached);
}

struct pa_resample_work {
  struct pa_work population;
  struct pa_resampling_request request;
  int weight_shift;
  struct gpumc_tally tally; /* of weights by block of families */
  void *block_weights;      /* its sums, cleared; NULL: not wanted */
};

struct pa_survey_work {
  struct pa_work population;
  uint64_t *bins; /* NULL: no histogram */
  size_t first_run, strata, levels;
  int64_t lowest, spacing;
  /* [runs][capacity] each, cleared: members of every family, and whether one has the lowest value.
   * In a divided population `mark` is a bit of `members`, which are copied to the host. */
  uint32_t *members, *mark;
};

/* The whole tally of an undivided population: `cleared` bytes of the record from `record` on are
 * cleared, and the members of families and their marks; then sums by block, and the survey. */
struct pa_tally_work {
  struct pa_survey_work survey;
  struct gpumc_tally tally;
  struct gpumc_tally_values values;
  uint8_t *record;
  size_t cleared; /* a multiple of 4 */
};

/* That bit: a divided population has fewer than 2^31 replicas (pa_parts.c). */
enum { PA_MEMBERS_MARK = 31 };

/* Replicas that change process: parents of the children that leave, with their families, or free
 * places that others fill. They are numbers first .. first + count - 1 of all children without a
 * place, or of all free places, of run m. Slots ascend; one parent may have several children. */
enum pa_movement { PA_LEAVING, PA_ARRIVING };

struct pa_movers {
  enum pa_movement movement;
  size_t m;
  uint64_t first;
  size_t count;
  uint32_t *slot, *family; /* [count] each, device memory */
};

/* The methods of resampling for `copies`, plus one: the overlap alone. */
enum { PA_OVERLAP_ONLY = -1 };

struct pa_steps {
  /* Begins to load what the steps need; NULL: nothing. */
  void (*load)(struct gpumc_device *device);
  /* Perform, in an undivided population, the whole tally, and a resampling by nearest integers
   * after the record is cleared. *done: whether they did; if not, their steps are performed one
   * after the other. NULL: they never do. */
  GPUMC_MUST_CHECK enum gpumc_status (*tally)(struct gpumc_device *device,
                                              const struct pa_tally_work *work, bool *done,
                                              struct gpumc_error *error);
  GPUMC_MUST_CHECK enum gpumc_status (*resample)(struct gpumc_device *device,
                                                 const struct pa_resample_work *work, bool *done,
                                                 struct gpumc_error *error);
  /* Sets the families of the founders. The first rows of `weighed` and `copied` have their number,
   * and all others 0. */
  GPUMC_MUST_CHECK enum gpumc_status (*found)(struct gpumc_device *device,
                                              const struct pa_work *work,
                                              struct gpumc_error *error);
  /* Computes weights, their sum and their sums by block; `weighed` and `reference`. */
  GPUMC_MUST_CHECK enum gpumc_status (*weigh)(struct gpumc_device *device,
                                              const struct pa_resample_work *work,
                                              struct gpumc_error *error);
  /* Computes `copied`, and the copies unless only the overlap is wanted. Systematic resampling
   * needs the sums of the weights up to and including each, through all runs. */
  GPUMC_MUST_CHECK enum gpumc_status (*copies)(struct gpumc_device *device,
                                               const struct pa_resample_work *work, int method,
                                               struct gpumc_error *error);
  /* Numbers children that need a place and free places in the memory of the weights (pa_places.h);
   * and computes `need`. */
  GPUMC_MUST_CHECK enum gpumc_status (*needs)(struct gpumc_device *device,
                                              const struct pa_work *work,
                                              struct gpumc_error *error);
  /* Computes parents, families and sizes, from the copies and `needs`. A place for a child of
   * another process keeps its contents. */
  GPUMC_MUST_CHECK enum gpumc_status (*places)(struct gpumc_device *device,
                                               const struct pa_work *work,
                                               struct gpumc_error *error);
  /* Finds members of families, lowest energies, references of the weights, histogram. */
  GPUMC_MUST_CHECK enum gpumc_status (*survey)(struct gpumc_device *device,
                                               const struct pa_survey_work *work,
                                               struct gpumc_error *error);
  /* Then, from the lowest energies of the whole, computes `tallied`, and strangers. */
  GPUMC_MUST_CHECK enum gpumc_status (*families)(struct gpumc_device *device,
                                                 const struct pa_survey_work *work,
                                                 struct gpumc_error *error);
  /* For a divided population, after `places`: fill in slots and families of those that leave, or
   * slots for those that arrive; and give these their families. */
  GPUMC_MUST_CHECK enum gpumc_status (*find_movers)(struct gpumc_device *device,
                                                    const struct pa_work *work,
                                                    const struct pa_movers *movers,
                                                    struct gpumc_error *error);
  GPUMC_MUST_CHECK enum gpumc_status (*adopt)(struct gpumc_device *device,
                                              const struct pa_work *work,
                                              const struct pa_movers *movers,
                                              struct gpumc_error *error);
};

extern const struct pa_steps pa_steps_cpu, pa_steps_gpu;

/* ---- for both compilers ---- */

GPUMC_HOST_DEVICE static inline void
pa_add_share(struct pa_copied *copied, uint64_t weight, uint64_t n, uint64_t total)
{
  const uint64_t share = pa_overlap_share(weight, n, total);
  copied->high += share >> PA_OVERLAP_LOW_BITS;
  copied->low += share & (((uint64_t)1 << PA_OVERLAP_LOW_BITS) - 1);
}

/* Adds one family for `families`. */
GPUMC_HOST_DEVICE static inline void
pa_add_family(struct pa_tallied *tallied, uint64_t members, uint64_t size)
{
  if (members == 0)
    return;
  tallied->families++;
  tallied->square_sum += members * members;
  tallied->entropy += pa_family_entropy(members, size);
}

/* Returns the counter of a value in the histograms; run: among all runs. */
GPUMC_HOST_DEVICE static inline size_t
pa_bin_of(const struct pa_survey_work *work, size_t run, uint32_t family, int64_t value)
{
  const size_t blocks = work->population.blocks;
  const size_t level = (size_t)((value - work->lowest) / work->spacing);
  assert(value >= work->lowest && level < work->levels);
  return (run % work->strata * blocks + family % (uint32_t)blocks) * work->levels + level;
}

#ifdef __cplusplus
}
#endif

#endif
