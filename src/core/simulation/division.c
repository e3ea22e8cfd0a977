#include "core/simulation/division.h"

static size_t parts_of(size_t n, size_t granule)
{
  return granule > 0 ? n / granule + (n % granule > 0) : 0;
}

size_t gpumc_division_most(enum gpumc_division division, const struct gpumc_ensemble_plan *plan,
                           size_t granule, size_t even)
{
  if (division == GPUMC_BY_REPLICAS)
    return parts_of(even, granule);
  if (division == GPUMC_UNDIVIDED || plan->sample_by_run || plan->clusters)
    return 0;
  return division == GPUMC_BY_RUNS ? plan->runs : plan->runs * parts_of(plan->capacity, granule);
}

enum gpumc_status gpumc_division_choose(const enum gpumc_division *divides,
                                        const struct gpumc_kernel_ops *kernel, size_t even,
                                        const struct gpumc_processes *processes,
                                        struct gpumc_ensemble_plan *plan, struct gpumc_error *error)
{
  const size_t size = (size_t)processes->module.size, granule = gpumc_plan_group(kernel, plan);
  size_t most = 0;
  plan->division = GPUMC_UNDIVIDED;
  if (even == 0 || even > plan->capacity)
    even = plan->capacity;
  for (; divides != NULL && *divides != GPUMC_UNDIVIDED && size > 1; divides++) {
    const size_t shares = gpumc_division_most(*divides, plan, granule, even);
    most = shares > most ? shares : most;
    if (shares < size)
      continue;
    plan->division = *divides;
    plan->processes = processes;
    plan->granule = granule;
    plan->even = even;
    return GPUMC_OK;
  }
  if (most == 0)
    return GPUMC_OK;
  return gpumc_error_set(
      error, GPUMC_INVALID,
      "%zu processes, but %zu runs of %zu replicas, in groups of %zu, can be divided among at most "
      "%zu; start fewer processes, or request more replicas or runs",
      size, plan->runs, even, granule > 0 ? granule : even, most);
}

/* Returns the part of process `i` out of `parts` of a run: of an even cut, and the room beyond
 * it. */
static struct gpumc_slice
cut(const struct gpumc_ensemble_plan *plan, size_t even, size_t parts, size_t i)
{
  struct gpumc_slice slice = gpumc_slice(even, plan->granule, parts, i);
  if (i + 1 == parts)
    slice.count = gpumc_plan_whole(plan) - slice.first;
  return slice;
}

/* Several processes share a run: process p of P has run floor(p U / P) out of U. */
static struct gpumc_share part_of(const struct gpumc_ensemble_plan *plan, size_t batch, size_t p)
{
  const size_t size = (size_t)plan->processes->module.size, runs = plan->runs;
  const size_t run = p * runs / size;
  const size_t first = (run * size + runs - 1) / runs, end = ((run + 1) * size + runs - 1) / runs;
  const struct gpumc_slice slice = cut(plan, gpumc_plan_whole(plan), end - first, p - first);
  return (struct gpumc_share){run, run < batch, slice.first, slice.count};
}

struct gpumc_share gpumc_share_of(const struct gpumc_ensemble_plan *plan, size_t runs, int rank)
{
  const size_t size = (size_t)plan->processes->module.size, p = (size_t)rank;
  if (plan->division == GPUMC_BY_REPLICAS) {
    const struct gpumc_slice slice = cut(plan, plan->even, size, p);
    return (struct gpumc_share){0, runs, slice.first, slice.count};
  }
  if (plan->division == GPUMC_BY_PARTS && plan->runs < size)
    return part_of(plan, runs, p);
  const struct gpumc_slice slice = gpumc_slice(runs, 1, size, p);
  return (struct gpumc_share){slice.first, slice.count, 0, plan->capacity};
}

struct gpumc_ensemble_plan gpumc_share_plan(const struct gpumc_ensemble_plan *plan, int rank)
{
  struct gpumc_ensemble_plan own = *plan;
  const struct gpumc_share share = gpumc_share_of(plan, plan->runs, rank);
  if (plan->division != GPUMC_BY_REPLICAS) {
    const size_t size = (size_t)plan->processes->module.size;
    own.runs = plan->runs / size + (plan->runs % size > 0); /* in another batch it may have more */
    /* They are made at once: the next ones overwrite their bits (share_between.c). */
    own.exchanges = false;
    if (plan->division == GPUMC_BY_RUNS && plan->compared > 0)
      own.runs++; /* for visitors, one run of another process at a time */
  }
  if (share.replicas == plan->capacity)
    return own;
  own.capacity = share.replicas;
  own.first_replica = plan->first_replica + share.first_replica;
  own.all_replicas = plan->capacity;
  if (plan->samples > 1 && !plan->sample_by_run) {
    own.samples = share.replicas;
    own.first_sample = plan->first_sample + share.first_replica;
  }
  return own;
}

struct gpumc_ensemble_plan gpumc_share_largest(const struct gpumc_ensemble_plan *plan)
{
  struct gpumc_ensemble_plan largest = *plan;
  size_t most = 0;
  if (plan->processes == NULL)
    return largest;
  for (int p = 0; p < plan->processes->module.size; p++) {
    const struct gpumc_ensemble_plan own = gpumc_share_plan(plan, p);
    if (own.capacity > most) {
      most = own.capacity;
      largest = own;
    }
  }
  return largest;
}
