/* Operations of an ensemble that is divided among processes: those of the kernel on a view of the
 * ensemble that holds only the share, and messages. */
#include "core/simulation/share.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/simulation/columns.h"
#include "core/simulation/shares/share_between.h"
#include "core/simulation/shares/share_view.h"

static enum gpumc_status
agree(const struct gpumc_ensemble *ensemble, enum gpumc_status status, struct gpumc_error *error)
{
  return gpumc_processes_agree(ensemble->plan.processes, status, error);
}

/* ---- arrays of all runs ---- */

/* Returns the replicas before those of a share, in the order of [runs][capacity], and the number of
 * these. */
static struct gpumc_slice
cells_of(const struct gpumc_ensemble *ensemble, const struct gpumc_share *share)
{
  return (struct gpumc_slice){share->first_run * ensemble->plan.capacity + share->first_replica,
                              share->runs * share->replicas};
}

/* Gives every process the parts that all others have of an array [runs][capacity] in device
 * memory. */
static enum gpumc_status make_whole(const struct gpumc_ensemble *ensemble, void *array,
                                    size_t bytes_of_replica, struct gpumc_error *error)
{
  for (int p = 0; p < ensemble->plan.processes->module.size; p++) {
    const struct gpumc_share share = gpumc_share_at(ensemble, p);
    ensemble->share->counts[p] = cells_of(ensemble, &share).count * bytes_of_replica;
  }
  return gpumc_share_join(ensemble, array, error);
}

/* Adds what a sweep of the share has counted to the counts of all runs. */
static enum gpumc_status add_counts(const struct gpumc_ensemble *ensemble, const uint64_t *counted,
                                    uint64_t *counts, struct gpumc_error *error)
{
  const struct gpumc_device_ops *ops = ensemble->device->ops;
  const struct gpumc_share own = gpumc_share_own(ensemble);
  const struct gpumc_slice of_share = {own.first_run, own.runs};
  const size_t runs = ensemble->runs;
  uint64_t *sum = NULL, *before = NULL;
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&sum, runs, "proposals", error));
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&before, runs, "proposals", error));
  GPUMC_TRY_OUT(status,
                ops->copy_to_host(ensemble->device, before, counts, runs * sizeof *before, error));
  GPUMC_TRY_OUT(status, gpumc_columns_sum_counts(ensemble->device, ensemble->plan.processes,
                                                 counted, of_share, sum, runs, error));
  for (size_t m = 0; m < runs; m++)
    sum[m] += before[m];
  status = ops->copy_to_device(ensemble->device, counts, sum, runs * sizeof *sum, error);
out:
  free(sum);
  free(before);
  return status;
}

static enum gpumc_status
clear_counts(const struct gpumc_ensemble *view, uint64_t *counts, struct gpumc_error *error)
{
  return counts != NULL ? view->device->ops->fill(view->device, counts, 0,
                                                  view->plan.runs * sizeof *counts, error)
                        : GPUMC_OK;
}

/* Returns the values per replica: one, or those of a profile. */
static size_t width_of(const struct gpumc_ensemble *ensemble, size_t c)
{
  const struct gpumc_model *model = ensemble->model;
  return model->ops->channels[c].axis.name != NULL ? model->profile[c].width : 1;
}

/* Sets `own` to where the replicas of the share are in the arrays of channels, which may cover the
 * own runs alone. */
static void find_own(const struct gpumc_ensemble *ensemble, const struct gpumc_share *share,
                     int64_t *const *channel, int64_t *own[GPUMC_CHANNELS_MAXIMUM])
{
  const size_t first = ensemble->plan.own_runs ? 0 : cells_of(ensemble, share).first;
  for (size_t c = 0; c < ensemble->model->ops->n_channels; c++)
    own[c] = channel[c] != NULL ? channel[c] + first * width_of(ensemble, c) : NULL;
}

static enum gpumc_status make_channels_whole(const struct gpumc_ensemble *ensemble,
                                             int64_t *const *channel, struct gpumc_error *error)
{
  for (size_t c = 0; c < ensemble->model->ops->n_channels && !ensemble->plan.own_runs; c++)
    if (channel[c] != NULL)
      GPUMC_TRY(make_whole(ensemble, channel[c], width_of(ensemble, c) * sizeof(int64_t), error));
  return GPUMC_OK;
}

/* ---- numbers of replicas ---- */

/* For the own runs, and for one more that has visitors (gpumc_share_compare). */
static enum gpumc_status set_compared_sizes(const struct gpumc_ensemble *ensemble,
                                            const uint32_t *size, struct gpumc_error *error)
{
  struct gpumc_device *device = ensemble->device;
  const struct gpumc_share own = gpumc_share_own(ensemble);
  const uint32_t visitors = (uint32_t)ensemble->expected;
  if (own.runs > 0)
    GPUMC_TRY(device->ops->copy_to_device(device, ensemble->share->size, size + own.first_run,
                                          own.runs * sizeof *size, error));
  return device->ops->copy_to_device(device, ensemble->share->size + own.runs, &visitors,
                                     sizeof visitors, error);
}

enum gpumc_status
gpumc_share_resize(struct gpumc_ensemble *ensemble, const uint32_t *size, struct gpumc_error *error)
{
  const struct gpumc_share own = gpumc_share_own(ensemble);
  if (ensemble->share->ops.compare != NULL && ensemble->plan.division == GPUMC_BY_RUNS)
    return set_compared_sizes(ensemble, size, error);
  if (!gpumc_share_is_part(ensemble, &own))
    return GPUMC_OK;
  const uint32_t part = gpumc_share_part(&own, size[own.first_run]);
  return ensemble->device->ops->copy_to_device(ensemble->device, ensemble->share->size, &part,
                                               sizeof part, error);
}

void gpumc_share_cut_sizes(const struct gpumc_ensemble *ensemble, const uint32_t *size,
                           uint32_t *own_size)
{
  const struct gpumc_share own = gpumc_share_own(ensemble);
  for (size_t m = 0; m < ensemble->runs; m++)
    own_size[m] = gpumc_share_part(&own, size[m]);
}

/* ---- operations ---- */

static enum gpumc_status start(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const struct gpumc_share own = gpumc_share_own(ensemble);
  struct gpumc_ensemble view = gpumc_share_view(ensemble, &own);
  return agree(ensemble, own.runs > 0 ? view.ops->start(&view, error) : GPUMC_OK, error);
}

static enum gpumc_status sweep(struct gpumc_ensemble *ensemble, const struct gpumc_target *target,
                               uint32_t sweeps, int64_t *const *channel, struct gpumc_error *error)
{
  const struct gpumc_share own = gpumc_share_own(ensemble);
  struct gpumc_ensemble view = gpumc_share_view(ensemble, &own);
  struct gpumc_target of_share = target != NULL ? *target : (struct gpumc_target){0};
  int64_t *measured[GPUMC_CHANNELS_MAXIMUM] = {NULL};
  if (of_share.control != NULL)
    of_share.control += own.first_run * ensemble->model->ops->n_controls;
  if (channel != NULL)
    find_own(ensemble, &own, channel, measured);
  GPUMC_TRY(clear_counts(&view, view.accepted, error));
  GPUMC_TRY(clear_counts(&view, view.proposed, error));
  if (own.runs > 0)
    GPUMC_TRY(view.ops->sweep(&view, target != NULL ? &of_share : NULL, sweeps,
                              channel != NULL ? measured : NULL, error));
  if (view.accepted != NULL)
    GPUMC_TRY(add_counts(ensemble, view.accepted, ensemble->accepted, error));
  if (view.proposed != NULL)
    GPUMC_TRY(add_counts(ensemble, view.proposed, ensemble->proposed, error));
  return channel != NULL ? make_channels_whole(ensemble, channel, error) : GPUMC_OK;
}

static enum gpumc_status
measure(struct gpumc_ensemble *ensemble, int64_t *const *channel, struct gpumc_error *error)
{
  const struct gpumc_share own = gpumc_share_own(ensemble);
  struct gpumc_ensemble view = gpumc_share_view(ensemble, &own);
  int64_t *measured[GPUMC_CHANNELS_MAXIMUM] = {NULL};
  find_own(ensemble, &own, channel, measured);
  if (own.runs > 0)
    GPUMC_TRY(view.ops->measure(&view, measured, error));
  return make_channels_whole(ensemble, channel, error);
}

static enum gpumc_status inspect(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const struct gpumc_share own = gpumc_share_own(ensemble);
  struct gpumc_ensemble view = gpumc_share_view(ensemble, &own);
  return agree(ensemble, own.runs > 0 ? view.ops->inspect(&view, error) : GPUMC_OK, error);
}

/* For whole runs. */
static enum gpumc_status
gather(struct gpumc_ensemble *ensemble, const uint32_t *parent, struct gpumc_error *error)
{
  const struct gpumc_share own = gpumc_share_own(ensemble);
  struct gpumc_ensemble view = gpumc_share_view(ensemble, &own);
  const size_t first = ensemble->plan.own_runs ? 0 : own.first_run * ensemble->plan.capacity;
  return own.runs > 0 ? view.ops->gather(&view, parent + first, error) : GPUMC_OK;
}

/* ---- transfers, by numbers in the whole ---- */

/* Returns those of the replicas first .. first + count - 1 of run m that a share has. */
static struct gpumc_slice
common(const struct gpumc_share *share, size_t m, size_t first, size_t count)
{
  const size_t end = first + count, share_end = share->first_replica + share->replicas;
  const size_t from = first > share->first_replica ? first : share->first_replica;
  const size_t until = end < share_end ? end : share_end;
  if (m < share->first_run || m >= share->first_run + share->runs || from >= until)
    return (struct gpumc_slice){first, 0};
  return (struct gpumc_slice){from, until - from};
}

/* Replicas of a run, each read by the process that has it, and the `status` of that process. */
struct reading {
  size_t m, first, count;
  size_t bytes;    /* of a replica */
  uint8_t *values; /* [count][bytes] */
  int to;          /* the process that receives them all, or GPUMC_TO_ALL */
};

static enum gpumc_status join(const struct gpumc_ensemble *ensemble, const struct reading *reading,
                              enum gpumc_status status, struct gpumc_error *error)
{
  const struct gpumc_processes *processes = ensemble->plan.processes;
  size_t *counts = ensemble->share->counts;
  size_t own = 0;
  GPUMC_TRY(agree(ensemble, status, error));
  for (int p = 0; p < processes->module.size; p++) {
    const struct gpumc_share share = gpumc_share_at(ensemble, p);
    const struct gpumc_slice slice = common(&share, reading->m, reading->first, reading->count);
    counts[p] = slice.count * reading->bytes;
    if (p == processes->module.rank)
      own = (slice.first - reading->first) * reading->bytes;
  }
  gpumc_processes_gather(processes, reading->values + own, reading->values, counts, reading->to);
  return GPUMC_OK;
}

static enum gpumc_status get_to(struct gpumc_ensemble *ensemble, size_t m, size_t first,
                                size_t count, int to, uint8_t *portable, struct gpumc_error *error)
{
  const struct gpumc_share own = gpumc_share_own(ensemble);
  const struct gpumc_slice slice = common(&own, m, first, count);
  struct gpumc_ensemble view = gpumc_share_view(ensemble, &own);
  const size_t bytes = ensemble->model->portable_bytes;
  const struct reading reading = {
      .m = m, .first = first, .count = count, .bytes = bytes, .values = portable, .to = to};
  enum gpumc_status status = GPUMC_OK;
  if (slice.count > 0)
    status = view.ops->get(&view, m - own.first_run, slice.first - own.first_replica, slice.count,
                           portable + (slice.first - first) * bytes, error);
  return join(ensemble, &reading, status, error);
}

static enum gpumc_status get(struct gpumc_ensemble *ensemble, size_t m, size_t first, size_t count,
                             uint8_t *portable, struct gpumc_error *error)
{
  return get_to(ensemble, m, first, count, GPUMC_TO_ALL, portable, error);
}

enum gpumc_status gpumc_share_get_to_root(struct gpumc_ensemble *ensemble, size_t m, size_t first,
                                          size_t count, uint8_t *portable,
                                          struct gpumc_error *error)
{
  return get_to(ensemble, m, first, count, GPUMC_TO_ROOT, portable, error);
}

static enum gpumc_status set(struct gpumc_ensemble *ensemble, size_t m, size_t first, size_t count,
                             const uint8_t *portable, struct gpumc_error *error)
{
  const struct gpumc_share own = gpumc_share_own(ensemble);
  const struct gpumc_slice slice = common(&own, m, first, count);
  struct gpumc_ensemble view = gpumc_share_view(ensemble, &own);
  enum gpumc_status status = GPUMC_OK;
  if (slice.count > 0)
    status =
        view.ops->set(&view, m - own.first_run, slice.first - own.first_replica, slice.count,
                      portable + (slice.first - first) * ensemble->model->portable_bytes, error);
  return agree(ensemble, status, error);
}

/* Returns the bytes of one replica's state; kernels store it for all replicas of a run, one after
 * the other. */
static size_t state_of_replica(const struct gpumc_ensemble *view)
{
  return view->ops->state_bytes(view) / view->plan.capacity;
}

static size_t state_bytes(const struct gpumc_ensemble *ensemble)
{
  const struct gpumc_ensemble view = gpumc_share_own_view(ensemble);
  return state_of_replica(&view) * gpumc_plan_whole(&ensemble->plan);
}

static bool has_of_run(const struct gpumc_share *share, size_t m)
{
  return m >= share->first_run && m < share->first_run + share->runs;
}

static enum gpumc_status get_state_to(struct gpumc_ensemble *ensemble, size_t m, int to,
                                      uint8_t *state, struct gpumc_error *error)
{
  const struct gpumc_share own = gpumc_share_own(ensemble);
  struct gpumc_ensemble view = gpumc_share_view(ensemble, &own);
  const size_t bytes = state_of_replica(&view);
  const struct reading reading = {.m = m,
                                  .count = gpumc_plan_whole(&ensemble->plan),
                                  .bytes = bytes,
                                  .values = state,
                                  .to = to};
  enum gpumc_status status = GPUMC_OK;
  if (has_of_run(&own, m))
    status =
        view.ops->get_state(&view, m - own.first_run, state + own.first_replica * bytes, error);
  return join(ensemble, &reading, status, error);
}

static enum gpumc_status
get_state(struct gpumc_ensemble *ensemble, size_t m, uint8_t *state, struct gpumc_error *error)
{
  return get_state_to(ensemble, m, GPUMC_TO_ALL, state, error);
}

enum gpumc_status gpumc_share_get_state_to_root(struct gpumc_ensemble *ensemble, size_t m,
                                                uint8_t *state, struct gpumc_error *error)
{
  return get_state_to(ensemble, m, GPUMC_TO_ROOT, state, error);
}

static enum gpumc_status set_state(struct gpumc_ensemble *ensemble, size_t m, const uint8_t *state,
                                   struct gpumc_error *error)
{
  const struct gpumc_share own = gpumc_share_own(ensemble);
  struct gpumc_ensemble view = gpumc_share_view(ensemble, &own);
  enum gpumc_status status = GPUMC_OK;
  if (has_of_run(&own, m))
    status = view.ops->set_state(&view, m - own.first_run,
                                 state + own.first_replica * state_of_replica(&view), error);
  return agree(ensemble, status, error);
}

/* ---- life ---- */

static void release(struct gpumc_ensemble *ensemble)
{
  struct gpumc_share_state *state = ensemble->share;
  struct gpumc_device *device = ensemble->device;
  device->ops->release(device, state->size);
  device->ops->release(device, state->swap);
  device->ops->release(device, state->accepted);
  device->ops->release(device, state->proposed);
  free(state->counts);
  free(state->memory);
  free(state);
  ensemble->share = NULL;
}

static void destroy(struct gpumc_ensemble *ensemble)
{
  const struct gpumc_kernel_ops *kernel = ensemble->share->kernel;
  struct gpumc_ensemble view = gpumc_share_own_view(ensemble);
  kernel->destroy(&view);
  release(ensemble);
  ensemble->ops = kernel; /* which these operations replaced */
  ensemble->storage = NULL;
}

/* Operations on whole runs or parts of one, for callers that need not know which. Runs can be
 * exchanged and compared if they are whole (share_between.c). */
static void stand_in(const struct gpumc_ensemble_plan *plan, struct gpumc_kernel_ops *ops)
{
  const bool of_runs = plan->division == GPUMC_BY_RUNS;
  ops->sweep = sweep;
  ops->measure = measure;
  ops->gather = ops->gather != NULL ? gather : NULL;
  ops->walk = NULL;              /* which has outcomes of its own */
  ops->exchange_clusters = NULL; /* between runs that would be in two processes (division.c) */
  ops->exchange = of_runs && ops->exchange != NULL ? gpumc_share_exchange : NULL;
  ops->compare = of_runs && plan->compared > 0 && ops->compare != NULL ? gpumc_share_compare : NULL;
}

static void make_ops(const struct gpumc_ensemble *ensemble, struct gpumc_kernel_ops *ops)
{
  ops->destroy = destroy;
  ops->start = start;
  ops->inspect = ops->inspect != NULL ? inspect : NULL;
  ops->get = get;
  ops->set = set;
  ops->get_list = NULL; /* of a process's own replicas: columns.h */
  ops->set_list = NULL;
  if (ops->state_bytes != NULL) {
    ops->state_bytes = state_bytes;
    ops->get_state = get_state;
    ops->set_state = set_state;
  }
  if (ensemble->plan.division != GPUMC_BY_REPLICAS)
    stand_in(&ensemble->plan, ops);
}

static enum gpumc_status allocate(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  struct gpumc_share_state *state = ensemble->share;
  struct gpumc_device *device = ensemble->device;
  const size_t size = (size_t)ensemble->plan.processes->module.size;
  const size_t runs = gpumc_share_plan(&ensemble->plan, ensemble->plan.processes->module.rank).runs;
  GPUMC_TRY(gpumc_allocate_array(&state->counts, size, "counts of bytes", error));
  if (ensemble->plan.division == GPUMC_BY_REPLICAS)
    return GPUMC_OK;
  GPUMC_TRY(gpumc_device_array(device, &state->size, runs, "numbers of replicas", error));
  if (state->ops.exchange != NULL)
    GPUMC_TRY(gpumc_device_array(device, &state->swap,
                                 runs * gpumc_swap_words(ensemble->plan.capacity), "exchanges",
                                 error));
  if (ensemble->accepted != NULL)
    GPUMC_TRY(gpumc_device_array(device, &state->accepted, runs, "accepted proposals", error));
  return ensemble->proposed != NULL
             ? gpumc_device_array(device, &state->proposed, runs, "proposals", error)
             : GPUMC_OK;
}

enum gpumc_status gpumc_share_create(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const struct gpumc_kernel_ops *kernel = ensemble->ops;
  GPUMC_TRY(gpumc_allocate_array(&ensemble->share, 1, "replicas of several processes", error));
  ensemble->share->kernel = kernel;
  ensemble->share->ops = *kernel;
  make_ops(ensemble, &ensemble->share->ops);
  ensemble->ops = &ensemble->share->ops;
  GPUMC_TRY(allocate(ensemble, error));
  struct gpumc_ensemble view = gpumc_share_own_view(ensemble);
  const enum gpumc_status status = kernel->create(&view, error);
  ensemble->storage = view.storage;
  return status;
}
