/* Operations of an ensemble whose runs are divided among processes: those of the kernel on a view
 * of the ensemble, which has the share alone, and messages. */
#include "core/simulation/share.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"

/* In `storage` of the ensemble. */
struct divided {
  struct gpumc_kernel_ops ops;           /* of the ensemble */
  const struct gpumc_kernel_ops *kernel; /* borrowed */
  void *storage;                         /* the kernel's */
  size_t *counts;                        /* [processes] bytes that each has of an array */
  uint8_t *memory;                       /* of an array of the device on its way */
  size_t bytes;
};

static struct divided *divided_of(const struct gpumc_ensemble *ensemble)
{
  return ensemble->storage;
}

bool gpumc_share_divides(const struct gpumc_ensemble_plan *plan)
{
  return plan->runs > 1 && !plan->sample_by_run;
}

size_t gpumc_share_runs(const struct gpumc_ensemble_plan *plan)
{
  if (plan->processes == NULL)
    return plan->runs;
  const size_t size = (size_t)plan->processes->module.size;
  return plan->runs / size + (plan->runs % size > 0);
}

/* Of the runs of the present batch. */
static struct gpumc_slice share_of(const struct gpumc_ensemble *ensemble, int rank)
{
  return gpumc_slice(ensemble->runs, 1, (size_t)ensemble->plan.processes->module.size,
                     (size_t)rank);
}

static struct gpumc_slice own_share(const struct gpumc_ensemble *ensemble)
{
  return share_of(ensemble, ensemble->plan.processes->module.rank);
}

static int owner_of(const struct gpumc_ensemble *ensemble, size_t m)
{
  int rank = 0;
  struct gpumc_slice slice;
  while (slice = share_of(ensemble, rank), m >= slice.first + slice.count)
    rank++;
  return rank;
}

/* What the kernel is to see: the runs of a slice. It shares all arrays with the ensemble. */
static struct gpumc_ensemble
view_of(const struct gpumc_ensemble *ensemble, const struct gpumc_slice *slice)
{
  const struct divided *divided = divided_of(ensemble);
  struct gpumc_ensemble view = *ensemble;
  view.ops = divided->kernel;
  view.storage = divided->storage;
  view.plan.runs = gpumc_share_runs(&ensemble->plan);
  view.plan.processes = NULL;
  view.runs = slice->count;
  view.first_run += (uint32_t)slice->first;
  view.control += slice->first * ensemble->model->ops->n_controls;
  view.size += slice->first;
  if (view.step != NULL)
    view.step += slice->first;
  if (view.accepted != NULL)
    view.accepted += slice->first;
  if (view.proposed != NULL)
    view.proposed += slice->first;
  return view;
}

static struct gpumc_ensemble own_view(const struct gpumc_ensemble *ensemble)
{
  const struct gpumc_slice own = own_share(ensemble);
  return view_of(ensemble, &own);
}

static enum gpumc_status
agree(const struct gpumc_ensemble *ensemble, enum gpumc_status status, struct gpumc_error *error)
{
  return gpumc_processes_agree(ensemble->plan.processes, status, error);
}

/* ---- arrays of all runs ---- */

static enum gpumc_status reserve(struct divided *divided, size_t bytes, struct gpumc_error *error)
{
  if (bytes <= divided->bytes)
    return GPUMC_OK;
  free(divided->memory);
  divided->bytes = 0;
  GPUMC_TRY(gpumc_allocate_array(&divided->memory, bytes, "messages between processes", error));
  divided->bytes = bytes;
  return GPUMC_OK;
}

/* Of an array of the device's memory every process gets the runs of all others. */
static enum gpumc_status make_whole(const struct gpumc_ensemble *ensemble, void *array,
                                    size_t bytes_of_run, struct gpumc_error *error)
{
  struct divided *divided = divided_of(ensemble);
  struct gpumc_device *device = ensemble->device;
  const struct gpumc_processes *processes = ensemble->plan.processes;
  const struct gpumc_slice own = own_share(ensemble);
  const size_t first = own.first * bytes_of_run, all = ensemble->runs * bytes_of_run;
  uint8_t *memory = array;
  for (int p = 0; p < processes->module.size; p++)
    divided->counts[p] = share_of(ensemble, p).count * bytes_of_run;
  if (device->ops->kind == GPUMC_KIND_CPU) {
    gpumc_processes_gather(processes, memory + first, memory, divided->counts, -1);
    return GPUMC_OK;
  }
  GPUMC_TRY(reserve(divided, all, error));
  GPUMC_TRY(device->ops->copy_to_host(device, divided->memory + first, memory + first,
                                      own.count * bytes_of_run, error));
  gpumc_processes_gather(processes, divided->memory + first, divided->memory, divided->counts, -1);
  return device->ops->copy_to_device(device, array, divided->memory, all, error);
}

/* Values of a replica: one, or those of a profile. */
static size_t width_of(const struct gpumc_ensemble *ensemble, size_t c)
{
  const struct gpumc_model *model = ensemble->model;
  return model->ops->channels[c].axis.name != NULL ? model->profile[c].width : 1;
}

static size_t channel_bytes(const struct gpumc_ensemble *ensemble, size_t c)
{
  return ensemble->plan.capacity * width_of(ensemble, c) * sizeof(int64_t);
}

/* Into `own` where the runs of the share are in the arrays of channels. */
static void find_own(const struct gpumc_ensemble *ensemble, const struct gpumc_slice *slice,
                     int64_t *const *channel, int64_t *own[GPUMC_CHANNELS_MAXIMUM])
{
  for (size_t c = 0; c < ensemble->model->ops->n_channels; c++)
    own[c] = channel[c] != NULL
                 ? channel[c] + slice->first * ensemble->plan.capacity * width_of(ensemble, c)
                 : NULL;
}

static enum gpumc_status make_channels_whole(const struct gpumc_ensemble *ensemble,
                                             int64_t *const *channel, struct gpumc_error *error)
{
  for (size_t c = 0; c < ensemble->model->ops->n_channels; c++)
    if (channel[c] != NULL)
      GPUMC_TRY(make_whole(ensemble, channel[c], channel_bytes(ensemble, c), error));
  return GPUMC_OK;
}

/* ---- operations ---- */

static enum gpumc_status start(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const struct gpumc_slice own = own_share(ensemble);
  struct gpumc_ensemble view = view_of(ensemble, &own);
  return agree(ensemble, own.count > 0 ? view.ops->start(&view, error) : GPUMC_OK, error);
}

static enum gpumc_status sweep(struct gpumc_ensemble *ensemble, const struct gpumc_target *target,
                               uint32_t sweeps, int64_t *const *channel, struct gpumc_error *error)
{
  const struct gpumc_slice own = own_share(ensemble);
  struct gpumc_ensemble view = view_of(ensemble, &own);
  struct gpumc_target of_share = target != NULL ? *target : (struct gpumc_target){0};
  int64_t *measured[GPUMC_CHANNELS_MAXIMUM] = {NULL};
  if (of_share.control != NULL)
    of_share.control += own.first * ensemble->model->ops->n_controls;
  if (channel != NULL)
    find_own(ensemble, &own, channel, measured);
  if (own.count > 0)
    GPUMC_TRY(view.ops->sweep(&view, target != NULL ? &of_share : NULL, sweeps,
                              channel != NULL ? measured : NULL, error));
  if (ensemble->accepted != NULL)
    GPUMC_TRY(make_whole(ensemble, ensemble->accepted, sizeof *ensemble->accepted, error));
  if (ensemble->proposed != NULL)
    GPUMC_TRY(make_whole(ensemble, ensemble->proposed, sizeof *ensemble->proposed, error));
  return channel != NULL ? make_channels_whole(ensemble, channel, error) : GPUMC_OK;
}

static enum gpumc_status
measure(struct gpumc_ensemble *ensemble, int64_t *const *channel, struct gpumc_error *error)
{
  const struct gpumc_slice own = own_share(ensemble);
  struct gpumc_ensemble view = view_of(ensemble, &own);
  int64_t *measured[GPUMC_CHANNELS_MAXIMUM] = {NULL};
  find_own(ensemble, &own, channel, measured);
  if (own.count > 0)
    GPUMC_TRY(view.ops->measure(&view, measured, error));
  return make_channels_whole(ensemble, channel, error);
}

static enum gpumc_status inspect(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const struct gpumc_slice own = own_share(ensemble);
  struct gpumc_ensemble view = view_of(ensemble, &own);
  return agree(ensemble, own.count > 0 ? view.ops->inspect(&view, error) : GPUMC_OK, error);
}

static enum gpumc_status
gather(struct gpumc_ensemble *ensemble, const uint32_t *parent, struct gpumc_error *error)
{
  const struct gpumc_slice own = own_share(ensemble);
  struct gpumc_ensemble view = view_of(ensemble, &own);
  return own.count > 0
             ? view.ops->gather(&view, parent + own.first * ensemble->plan.capacity, error)
             : GPUMC_OK;
}

/* What the owner of a run has read, or its failure, to all. */
static enum gpumc_status give_to_all(const struct gpumc_ensemble *ensemble, int owner,
                                     enum gpumc_status status, uint8_t *values, size_t bytes,
                                     struct gpumc_error *error)
{
  GPUMC_TRY(agree(ensemble, status, error));
  gpumc_processes_broadcast(ensemble->plan.processes, values, bytes, owner);
  return GPUMC_OK;
}

static bool is_own(const struct gpumc_ensemble *ensemble, int owner)
{
  return owner == ensemble->plan.processes->module.rank;
}

static enum gpumc_status get(struct gpumc_ensemble *ensemble, size_t m, size_t first, size_t count,
                             uint8_t *portable, struct gpumc_error *error)
{
  const int owner = owner_of(ensemble, m);
  const size_t own_m = m - own_share(ensemble).first;
  struct gpumc_ensemble view = own_view(ensemble);
  enum gpumc_status status = GPUMC_OK;
  if (is_own(ensemble, owner))
    status = view.ops->get(&view, own_m, first, count, portable, error);
  return give_to_all(ensemble, owner, status, portable, count * ensemble->model->portable_bytes,
                     error);
}

static enum gpumc_status set(struct gpumc_ensemble *ensemble, size_t m, size_t first, size_t count,
                             const uint8_t *portable, struct gpumc_error *error)
{
  const size_t own_m = m - own_share(ensemble).first;
  struct gpumc_ensemble view = own_view(ensemble);
  enum gpumc_status status = GPUMC_OK;
  if (is_own(ensemble, owner_of(ensemble, m)))
    status = view.ops->set(&view, own_m, first, count, portable, error);
  return agree(ensemble, status, error);
}

static size_t state_bytes(const struct gpumc_ensemble *ensemble)
{
  const struct gpumc_ensemble view = own_view(ensemble);
  return view.ops->state_bytes(&view);
}

static enum gpumc_status
get_state(struct gpumc_ensemble *ensemble, size_t m, uint8_t *state, struct gpumc_error *error)
{
  const int owner = owner_of(ensemble, m);
  const size_t own_m = m - own_share(ensemble).first;
  struct gpumc_ensemble view = own_view(ensemble);
  enum gpumc_status status = GPUMC_OK;
  if (is_own(ensemble, owner))
    status = view.ops->get_state(&view, own_m, state, error);
  return give_to_all(ensemble, owner, status, state, state_bytes(ensemble), error);
}

static enum gpumc_status set_state(struct gpumc_ensemble *ensemble, size_t m, const uint8_t *state,
                                   struct gpumc_error *error)
{
  const size_t own_m = m - own_share(ensemble).first;
  struct gpumc_ensemble view = own_view(ensemble);
  enum gpumc_status status = GPUMC_OK;
  if (is_own(ensemble, owner_of(ensemble, m)))
    status = view.ops->set_state(&view, own_m, state, error);
  return agree(ensemble, status, error);
}

/* ---- life ---- */

static void destroy(struct gpumc_ensemble *ensemble)
{
  struct divided *divided = divided_of(ensemble);
  if (divided == NULL)
    return;
  struct gpumc_ensemble view = view_of(ensemble, &(struct gpumc_slice){0});
  view.ops->destroy(&view);
  free(divided->counts);
  free(divided->memory);
  ensemble->ops = divided->kernel; /* that these operations stood in */
  free(divided);
  ensemble->storage = NULL;
}

static enum gpumc_status
create_in(struct gpumc_ensemble *ensemble, struct divided *divided, struct gpumc_error *error)
{
  GPUMC_TRY(gpumc_allocate_array(&divided->counts, (size_t)ensemble->plan.processes->module.size,
                                 "counts of bytes", error));
  struct gpumc_ensemble view = view_of(ensemble, &(struct gpumc_slice){0});
  const enum gpumc_status status = view.ops->create(&view, error);
  divided->storage = view.storage;
  return status;
}

enum gpumc_status gpumc_share_create(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const struct gpumc_kernel_ops *kernel = ensemble->ops;
  struct divided *divided;
  GPUMC_TRY(gpumc_allocate_array(&divided, 1, "an ensemble of several processes", error));
  divided->kernel = kernel;
  divided->ops = *kernel;
  divided->ops.destroy = destroy;
  divided->ops.start = start;
  divided->ops.sweep = sweep;
  divided->ops.measure = measure;
  divided->ops.inspect = kernel->inspect != NULL ? inspect : NULL;
  divided->ops.gather = kernel->gather != NULL ? gather : NULL;
  divided->ops.get = get;
  divided->ops.set = set;
  divided->ops.state_bytes = kernel->state_bytes != NULL ? state_bytes : NULL;
  divided->ops.get_state = get_state;
  divided->ops.set_state = set_state;
  /* Between runs that may be elsewhere, and walks, which have outcomes of their own. */
  divided->ops.walk = NULL;
  divided->ops.exchange = NULL;
  divided->ops.compare = NULL;
  ensemble->ops = &divided->ops;
  ensemble->storage = divided;
  return create_in(ensemble, divided, error);
}
