#include "core/simulation/ensemble.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/simulation/share.h"
#include "core/simulation/shared_keys.h"
#include "core/simulation/steps.h"

/* Every run begins with the fixed controls; sweeps set the moved one. */
static enum gpumc_status create_controls(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const size_t n = ensemble->model->ops->n_controls, count = ensemble->plan.runs * n;
  const double *stay = ensemble->plan.fixes ? ensemble->plan.fixed : ensemble->model->control;
  GPUMC_TRY(gpumc_allocate_array(&ensemble->control, count > 0 ? count : 1, "controls", error));
  for (size_t i = 0; i < count; i++)
    ensemble->control[i] = stay[i % n];
  return GPUMC_OK;
}

static enum gpumc_status
check_share(const struct gpumc_kernel_ops *ops, const struct gpumc_model *model,
            const struct gpumc_ensemble_plan *plan, struct gpumc_error *error)
{
  const size_t group = gpumc_plan_group(ops, plan), all = gpumc_plan_size(plan, plan->capacity);
  if (all == plan->capacity && plan->first_replica == 0 && plan->first_sample == 0)
    return GPUMC_OK;
  if (group == 0)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "kernel %s of model %s cannot divide the replicas of a run: it does not "
                           "declare that it identifies them by their numbers in the whole run",
                           ops->variant, model->ops->name);
  if (plan->first_replica % group != 0 || plan->first_replica + plan->capacity > all)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "kernel %s of model %s cannot have a share of %zu replicas that begins "
                           "at number %zu of %zu, only at multiples of %zu",
                           ops->variant, model->ops->name, plan->capacity, plan->first_replica, all,
                           group);
  return GPUMC_OK;
}

enum gpumc_status
gpumc_ensemble_create(const struct gpumc_kernel_ops *ops, const struct gpumc_model *model,
                      struct gpumc_device *device, const struct gpumc_ensemble_plan *plan,
                      uint64_t seed, uint32_t rounds, struct gpumc_ensemble *ensemble,
                      struct gpumc_error *error)
{
  assert(plan->runs > 0 && plan->capacity > 0);
  assert(plan->samples == 1 || plan->sample_by_run || plan->samples == plan->capacity);
  assert(!plan->sample_by_run || (ops->walk != NULL && plan->runs % plan->samples == 0));
  *ensemble = (struct gpumc_ensemble){
      .ops = ops,
      .model = model,
      .device = device,
      .seed = seed,
      .rounds = rounds,
      .plan = *plan,
  };
  if (plan->division == GPUMC_BY_REPLICAS)
    ensemble->plan = gpumc_share_plan(plan, plan->processes->module.rank);
  enum gpumc_status status;
  if (plan->walks && model->unwalkable != NULL)
    GPUMC_TRY_OUT(status, gpumc_error_set(error, GPUMC_INVALID,
                                          "model %s does not walk under a tabulated weight: %s",
                                          model->ops->name, model->unwalkable));
  GPUMC_TRY_OUT(status, check_share(ops, model, &ensemble->plan, error));
  GPUMC_TRY_OUT(status, gpumc_device_array(device, &ensemble->size, plan->runs,
                                           "numbers of replicas", error));
  GPUMC_TRY_OUT(status, create_controls(ensemble, error));
  GPUMC_TRY_OUT(status, gpumc_steps_create(ensemble, error));
  GPUMC_TRY_OUT(status, plan->division != GPUMC_UNDIVIDED ? gpumc_share_create(ensemble, error)
                                                          : ops->create(ensemble, error));
  return GPUMC_OK;
out:
  gpumc_ensemble_free(ensemble);
  return status;
}

enum gpumc_status gpumc_ensemble_get_sizes(const struct gpumc_ensemble *ensemble, uint32_t *size,
                                           struct gpumc_error *error)
{
  return ensemble->device->ops->copy_to_host(ensemble->device, size, ensemble->size,
                                             ensemble->runs * sizeof *size, error);
}

enum gpumc_status gpumc_ensemble_set_sizes(struct gpumc_ensemble *ensemble, const uint32_t *size,
                                           struct gpumc_error *error)
{
  ensemble->expected = 0;
  for (size_t m = 0; m < ensemble->runs; m++)
    ensemble->expected = size[m] > ensemble->expected ? size[m] : ensemble->expected;
  GPUMC_TRY(ensemble->device->ops->copy_to_device(ensemble->device, ensemble->size, size,
                                                  ensemble->runs * sizeof *size, error));
  return ensemble->share != NULL ? gpumc_share_resize(ensemble, size, error) : GPUMC_OK;
}

const struct gpumc_processes *gpumc_ensemble_processes(const struct gpumc_ensemble *ensemble)
{
  return ensemble->plan.division != GPUMC_UNDIVIDED ? ensemble->plan.processes
                                                    : gpumc_processes_alone();
}

bool gpumc_ensemble_has_own_runs(const struct gpumc_ensemble *ensemble)
{
  return ensemble->plan.own_runs && ensemble->plan.division == GPUMC_BY_RUNS;
}

struct gpumc_slice gpumc_ensemble_runs_of(const struct gpumc_ensemble *ensemble, int rank)
{
  if (!gpumc_ensemble_has_own_runs(ensemble))
    return (struct gpumc_slice){0, ensemble->runs};
  const struct gpumc_share share = gpumc_share_of(&ensemble->plan, ensemble->runs, rank);
  return (struct gpumc_slice){share.first_run, share.runs};
}

enum gpumc_status gpumc_ensemble_whole_sizes(const struct gpumc_ensemble *ensemble, uint32_t *size,
                                             struct gpumc_error *error)
{
  uint64_t *sum = NULL;
  GPUMC_TRY(gpumc_ensemble_get_sizes(ensemble, size, error));
  if (ensemble->plan.division != GPUMC_BY_REPLICAS && !gpumc_ensemble_has_own_runs(ensemble))
    return GPUMC_OK;
  GPUMC_TRY(gpumc_allocate_array(&sum, ensemble->runs, "numbers of replicas", error));
  const struct gpumc_slice own =
      gpumc_ensemble_runs_of(ensemble, ensemble->plan.processes->module.rank);
  for (size_t m = own.first; m < own.first + own.count; m++)
    sum[m] = size[m];
  gpumc_processes_sum(ensemble->plan.processes, sum, ensemble->runs);
  for (size_t m = 0; m < ensemble->runs; m++)
    size[m] = (uint32_t)sum[m];
  free(sum);
  return GPUMC_OK;
}

/* Sets this process's part of size[runs]. */
static enum gpumc_status
set_whole_sizes(struct gpumc_ensemble *ensemble, const uint32_t *size, struct gpumc_error *error)
{
  uint32_t *own = NULL;
  if (ensemble->plan.division != GPUMC_BY_REPLICAS)
    return gpumc_ensemble_set_sizes(ensemble, size, error);
  GPUMC_TRY(gpumc_allocate_array(&own, ensemble->runs, "numbers of replicas", error));
  gpumc_share_cut_sizes(ensemble, size, own);
  const enum gpumc_status status = gpumc_ensemble_set_sizes(ensemble, own, error);
  free(own);
  return status;
}

static enum gpumc_status
set_equal_sizes(struct gpumc_ensemble *ensemble, size_t size, struct gpumc_error *error)
{
  uint32_t *sizes = NULL;
  GPUMC_TRY(gpumc_allocate_array(&sizes, ensemble->runs, "numbers of replicas", error));
  for (size_t m = 0; m < ensemble->runs; m++)
    sizes[m] = (uint32_t)size;
  const enum gpumc_status status = set_whole_sizes(ensemble, sizes, error);
  free(sizes);
  return status;
}

enum gpumc_status gpumc_ensemble_start(struct gpumc_ensemble *ensemble, uint32_t first_run,
                                       size_t runs, size_t size, struct gpumc_error *error)
{
  assert(runs <= ensemble->plan.runs && size <= gpumc_plan_whole(&ensemble->plan));
  ensemble->first_run = first_run;
  ensemble->runs = runs;
  ensemble->time = 0;
  GPUMC_TRY(set_equal_sizes(ensemble, size, error));
  GPUMC_TRY(gpumc_steps_start(ensemble, error));
  return ensemble->ops->start(ensemble, error);
}

static void set_moved(struct gpumc_ensemble *ensemble, size_t m, double value)
{
  const size_t n = ensemble->model->ops->n_controls;
  if (ensemble->plan.moved < n)
    ensemble->control[m * n + ensemble->plan.moved] = value;
}

static enum gpumc_status sweep_boltzmann(struct gpumc_ensemble *ensemble, uint32_t sweeps,
                                         int64_t *const *channel, struct gpumc_error *error)
{
  const struct gpumc_target target = {.kind = GPUMC_BOLTZMANN, .control = ensemble->control};
  return gpumc_ensemble_sweep_target(ensemble, &target, sweeps, channel, error);
}

enum gpumc_status gpumc_ensemble_sweep(struct gpumc_ensemble *ensemble, uint32_t sweeps,
                                       double value, int64_t *const *channel,
                                       struct gpumc_error *error)
{
  for (size_t m = 0; m < ensemble->runs; m++)
    set_moved(ensemble, m, value);
  return sweep_boltzmann(ensemble, sweeps, channel, error);
}

enum gpumc_status gpumc_ensemble_sweep_each(struct gpumc_ensemble *ensemble, uint32_t sweeps,
                                            const double *value, int64_t *const *channel,
                                            struct gpumc_error *error)
{
  for (size_t m = 0; m < ensemble->runs; m++)
    set_moved(ensemble, m, value[m]);
  return sweep_boltzmann(ensemble, sweeps, channel, error);
}

enum gpumc_status gpumc_ensemble_sweep_any(struct gpumc_ensemble *ensemble, uint32_t sweeps,
                                           double value, int64_t *const *channel,
                                           struct gpumc_error *error)
{
  static const struct gpumc_target athermal = {.kind = GPUMC_ATHERMAL};
  const struct gpumc_kernel_ops *ops = ensemble->ops;
  if (ops->n_moves > 0 && !gpumc_move_serves(&ops->moves[ensemble->plan.move], GPUMC_BOLTZMANN))
    return gpumc_ensemble_sweep_target(ensemble, &athermal, sweeps, channel, error);
  return gpumc_ensemble_sweep(ensemble, sweeps, value, channel, error);
}

static uint32_t least(uint32_t one, uint32_t other)
{
  return one < other ? one : other;
}

/* Sweeps end where another move has its turn, and where steps are adapted. */
enum gpumc_status gpumc_ensemble_sweep_target(struct gpumc_ensemble *ensemble,
                                              const struct gpumc_target *target, uint32_t sweeps,
                                              int64_t *const *channel, struct gpumc_error *error)
{
  if (sweeps > UINT32_MAX - ensemble->time)
    return gpumc_error_set(error, GPUMC_FAILURE,
                           "%u sweeps after %u exceed the %u that a run may have", sweeps,
                           ensemble->time, UINT32_MAX);
  do {
    const uint32_t until = gpumc_steps_until(ensemble);
    uint32_t piece = least(gpumc_plan_take_turn(&ensemble->plan, ensemble->time), sweeps);
    const bool adapts = until < UINT32_MAX && until <= piece;
    piece = least(until, piece);
    GPUMC_TRY(
        ensemble->ops->sweep(ensemble, target, piece, piece == sweeps ? channel : NULL, error));
    ensemble->time += piece;
    sweeps -= piece;
    if (adapts)
      GPUMC_TRY(gpumc_steps_adapt(ensemble, error));
  } while (sweeps > 0);
  return GPUMC_OK;
}

enum gpumc_status gpumc_ensemble_exchange_clusters(struct gpumc_ensemble *ensemble,
                                                   const struct gpumc_cluster_exchange *with,
                                                   struct gpumc_error *error)
{
  struct gpumc_cluster_exchange at_controls = *with;
  assert(ensemble->plan.clusters && with->first + with->runs <= ensemble->runs &&
         with->second + with->runs <= ensemble->runs);
  at_controls.control = ensemble->control;
  return ensemble->ops->exchange_clusters(ensemble, &at_controls, error);
}

enum gpumc_status gpumc_ensemble_inspect(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  return ensemble->runs > 0 && ensemble->ops->inspect != NULL
             ? ensemble->ops->inspect(ensemble, error)
             : GPUMC_OK;
}

enum gpumc_status gpumc_ensemble_set_options(struct gpumc_ensemble *ensemble,
                                             const struct gpumc_kernel_options *options,
                                             struct gpumc_error *error)
{
  ensemble->plan.options = *options;
  GPUMC_TRY(gpumc_steps_start(ensemble, error));
  ensemble->proposed_before = 0;
  return GPUMC_OK;
}

enum gpumc_status gpumc_ensemble_get_to_root(struct gpumc_ensemble *ensemble, size_t m,
                                             size_t first, size_t count, uint8_t *portable,
                                             struct gpumc_error *error)
{
  return ensemble->share != NULL
             ? gpumc_share_get_to_root(ensemble, m, first, count, portable, error)
             : ensemble->ops->get(ensemble, m, first, count, portable, error);
}

void gpumc_ensemble_free(struct gpumc_ensemble *ensemble)
{
  if (ensemble->ops != NULL) {
    ensemble->ops->destroy(ensemble);
    ensemble->device->ops->release(ensemble->device, ensemble->size);
    free(ensemble->control);
    gpumc_steps_free(ensemble);
  }
  memset(ensemble, 0, sizeof *ensemble);
}

/* Replicas copied at once at most, and about how many bytes, unless one has more. */
enum { SLICE = 1024, SLICE_BYTES = 1 << 28 };

/* Returns the replicas of a slice, at least one. */
static size_t slice_replicas(const struct gpumc_model *model, size_t capacity)
{
  const size_t fitting = SLICE_BYTES / model->portable_bytes;
  const size_t most = capacity < SLICE ? capacity : SLICE;
  return fitting == 0 ? 1 : fitting < most ? fitting : most;
}

double gpumc_ensemble_checkpoint_bytes(const struct gpumc_model *model, size_t capacity)
{
  return (double)slice_replicas(model, capacity) * (double)model->portable_bytes;
}

/* An ensemble being copied to a checkpoint (`writer`) or from one (`reader`); the other is NULL. */
struct transfer {
  struct gpumc_ensemble *ensemble;
  struct gpumc_checkpoint_writer *writer;
  struct gpumc_checkpoint_reader *reader;
};

static enum gpumc_status
save_sizes(const struct transfer *transfer, uint32_t *size, struct gpumc_error *error)
{
  const struct gpumc_ensemble *ensemble = transfer->ensemble;
  size_t replicas = 0;
  GPUMC_TRY(gpumc_ensemble_whole_sizes(ensemble, size, error));
  GPUMC_TRY(gpumc_checkpoint_put(transfer->writer, "ensemble/sizes", GPUMC_UINT32, ensemble->runs,
                                 1, size, error));
  for (size_t m = 0; m < ensemble->runs; m++)
    replicas += size[m];
  return gpumc_checkpoint_declare(transfer->writer, "ensemble/replicas", GPUMC_UINT8, replicas,
                                  ensemble->model->portable_bytes, error);
}

static enum gpumc_status
load_sizes(const struct transfer *transfer, uint32_t *size, struct gpumc_error *error)
{
  struct gpumc_ensemble *ensemble = transfer->ensemble;
  GPUMC_TRY(gpumc_checkpoint_get_rows(transfer->reader, "ensemble/sizes", GPUMC_UINT32, 0,
                                      ensemble->runs, 1, size, error));
  for (size_t m = 0; m < ensemble->runs; m++)
    if (size[m] > gpumc_plan_whole(&ensemble->plan))
      return gpumc_error_set(error, GPUMC_FAILURE,
                             "is damaged: it has %u replicas, more than this task can have",
                             size[m]);
  return set_whole_sizes(ensemble, size, error);
}

/* Copies replicas `first` to `first + count` of run m, which are at `row` in the file. */
static enum gpumc_status copy_slice(const struct transfer *transfer, size_t m, size_t first,
                                    size_t count, size_t row, uint8_t *slice,
                                    struct gpumc_error *error)
{
  struct gpumc_ensemble *ensemble = transfer->ensemble;
  if (transfer->writer != NULL) {
    GPUMC_TRY(gpumc_ensemble_get_to_root(ensemble, m, first, count, slice, error));
    return gpumc_checkpoint_put_rows(transfer->writer, "ensemble/replicas", row, count, slice,
                                     error);
  }
  GPUMC_TRY(gpumc_checkpoint_get_rows(transfer->reader, "ensemble/replicas", GPUMC_UINT8, row,
                                      count, ensemble->model->portable_bytes, slice, error));
  return ensemble->ops->set(ensemble, m, first, count, slice, error);
}

/* Copies all runs of the batch, run after run. */
static enum gpumc_status copy_replicas(const struct transfer *transfer, struct gpumc_error *error)
{
  const struct gpumc_ensemble *ensemble = transfer->ensemble;
  const size_t most = slice_replicas(ensemble->model, gpumc_plan_whole(&ensemble->plan));
  uint32_t *size = NULL;
  uint8_t *slice = NULL;
  size_t row = 0;
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&size, ensemble->runs, "numbers of replicas", error));
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&slice, most * ensemble->model->portable_bytes,
                                             "replicas of a checkpoint", error));
  GPUMC_TRY_OUT(status, transfer->writer != NULL ? save_sizes(transfer, size, error)
                                                 : load_sizes(transfer, size, error));
  for (size_t m = 0; m < ensemble->runs; m++)
    for (size_t first = 0; first < size[m]; first += most) {
      const size_t count = size[m] - first < most ? size[m] - first : most;
      GPUMC_TRY_OUT(status, copy_slice(transfer, m, first, count, row, slice, error));
      row += count;
    }
out:
  free(size);
  free(slice);
  return status;
}

/* Copies the state of run m, `bytes` bytes, by way of `state`. */
static enum gpumc_status copy_state(const struct transfer *transfer, size_t m, size_t bytes,
                                    uint8_t *state, struct gpumc_error *error)
{
  struct gpumc_ensemble *ensemble = transfer->ensemble;
  if (transfer->writer != NULL) {
    GPUMC_TRY(ensemble->share != NULL ? gpumc_share_get_state_to_root(ensemble, m, state, error)
                                      : ensemble->ops->get_state(ensemble, m, state, error));
    return gpumc_checkpoint_put_rows(transfer->writer, "ensemble/generators", m, 1, state, error);
  }
  GPUMC_TRY(gpumc_checkpoint_get_rows(transfer->reader, "ensemble/generators", GPUMC_UINT8, m, 1,
                                      bytes, state, error));
  return ensemble->ops->set_state(ensemble, m, state, error);
}

/* Copies the generators of all runs, if the kernel has any. */
static enum gpumc_status copy_states(const struct transfer *transfer, struct gpumc_error *error)
{
  const struct gpumc_ensemble *ensemble = transfer->ensemble;
  const size_t bytes =
      ensemble->ops->state_bytes != NULL ? ensemble->ops->state_bytes(ensemble) : 0;
  uint8_t *state = NULL;
  if (bytes == 0)
    return GPUMC_OK;
  if (transfer->writer != NULL)
    GPUMC_TRY(gpumc_checkpoint_declare(transfer->writer, "ensemble/generators", GPUMC_UINT8,
                                       ensemble->runs, bytes, error));
  enum gpumc_status status = gpumc_allocate_array(&state, bytes, "state of generators", error);
  for (size_t m = 0; m < ensemble->runs && status == GPUMC_OK; m++)
    status = copy_state(transfer, m, bytes, state, error);
  free(state);
  return status;
}

static enum gpumc_status copy_all(const struct transfer *transfer, struct gpumc_error *error)
{
  if (transfer->ensemble->runs == 0)
    return GPUMC_OK;
  GPUMC_TRY(copy_replicas(transfer, error));
  GPUMC_TRY(transfer->writer != NULL
                ? gpumc_steps_save(transfer->ensemble, transfer->writer, error)
                : gpumc_steps_load(transfer->ensemble, transfer->reader, error));
  return copy_states(transfer, error);
}

enum gpumc_status gpumc_ensemble_save(struct gpumc_ensemble *ensemble,
                                      struct gpumc_checkpoint_writer *writer,
                                      struct gpumc_error *error)
{
  const struct transfer transfer = {.ensemble = ensemble, .writer = writer};
  return copy_all(&transfer, error);
}

enum gpumc_status gpumc_ensemble_load(struct gpumc_ensemble *ensemble,
                                      struct gpumc_checkpoint_reader *reader,
                                      struct gpumc_error *error)
{
  const struct transfer transfer = {.ensemble = ensemble, .reader = reader};
  return copy_all(&transfer, error);
}
