/* The kernel `checkerboard` on a GPU: memory, copying of replicas, and calls of the drivers. */
#include "models/hard_disks/checkerboard/checkerboard_gpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/simulation/ensemble.h"
#include "models/hard_disks/hard_disks.h"
#include "models/lattice/replicas_gpu.h"

enum { RUNS_MAXIMUM = 65535 }; /* of a batch: a dimension of CUDA's grid */

/* gpumc_ensemble.storage. */
struct storage {
  struct hard_disks_stored stored;
  unsigned char *replicas, *other;               /* [runs][capacity][stored.bytes], device memory */
  float *scale;                                  /* [runs], device memory */
  double *step;                                  /* the steps that `scale` was computed for */
  struct hard_disks_volume_rule *rule, *of_runs; /* [runs], device memory, and host memory */
  double *pressure;                              /* [runs] the pressures that `rule` was computed
                                                  * for */
  struct hard_disks_sums *sums;                  /* [runs][capacity], device memory */
  int64_t *weight[2];      /* [levels][HARD_DISKS_BINS], device memory: contact, scaling */
  uint64_t *lost;          /* replicas that were found with disks missing */
  struct gpumc_slot found; /* `lost` after a measurement */
  bool measured;           /* `found` is in transit */
};

static const struct hard_disks_grid *grid_of(const struct gpumc_ensemble *ensemble)
{
  return hard_disks_grid_of(ensemble->model, &ensemble->plan);
}

static struct hard_disks_replicas replicas_of(const struct gpumc_ensemble *ensemble)
{
  const struct storage *storage = ensemble->storage;
  return (struct hard_disks_replicas){
      .batch = lattice_gpu_batch(ensemble),
      .box = grid_of(ensemble)->box,
      .stored = storage->stored,
      .replicas = storage->replicas,
  };
}

/* ---- storage ---- */

static size_t bytes(const struct gpumc_model *model, const struct gpumc_device *device,
                    const struct gpumc_ensemble_plan *plan)
{
  (void)device;
  const size_t replicas = plan->runs * plan->capacity;
  const size_t stored = hard_disks_stored_of(&hard_disks_grid_of(model, plan)->box).bytes;
  return replicas * (2 * stored + sizeof(struct hard_disks_sums)) + plan->runs * sizeof(float) +
         plan->runs * sizeof(struct hard_disks_volume_rule) +
         2 * HARD_DISKS_BINS * sizeof(int64_t) + sizeof(uint64_t);
}

static void destroy(struct gpumc_ensemble *ensemble)
{
  struct gpumc_device *device = ensemble->device;
  struct storage *storage = ensemble->storage;
  if (storage == NULL)
    return;
  device->ops->release(device, storage->replicas);
  device->ops->release(device, storage->other);
  device->ops->release(device, storage->scale);
  device->ops->release(device, storage->rule);
  device->ops->release(device, storage->sums);
  device->ops->release(device, storage->weight[0]);
  device->ops->release(device, storage->weight[1]);
  device->ops->release(device, storage->lost);
  device->ops->slot_free(device, &storage->found);
  free(storage->step);
  free(storage->of_runs);
  free(storage->pressure);
  free(storage);
  ensemble->storage = NULL;
}

static enum gpumc_status bring_weights(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const struct hard_disks_parameters *parameters = hard_disks_parameters(ensemble->model);
  const struct storage *storage = ensemble->storage;
  struct gpumc_device *device = ensemble->device;
  GPUMC_TRY(device->ops->copy_to_device(device, storage->weight[0], parameters->contact_weight,
                                        sizeof parameters->contact_weight, error));
  return device->ops->copy_to_device(device, storage->weight[1], parameters->scaling_weight,
                                     sizeof parameters->scaling_weight, error);
}

static enum gpumc_status allocate(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  struct storage *storage = ensemble->storage;
  struct gpumc_device *device = ensemble->device;
  const size_t runs = ensemble->plan.runs, replicas = runs * ensemble->plan.capacity;
  GPUMC_TRY(device->ops->allocate(device, replicas, storage->stored.bytes, "replicas",
                                  (void **)&storage->replicas, error));
  GPUMC_TRY(device->ops->allocate(device, replicas, storage->stored.bytes, "replicas after a sweep",
                                  (void **)&storage->other, error));
  GPUMC_TRY(gpumc_device_array(device, &storage->scale, runs, "sizes of moves", error));
  GPUMC_TRY(gpumc_device_array(device, &storage->sums, replicas, "sums over replicas", error));
  for (size_t i = 0; i < 2; i++)
    GPUMC_TRY(gpumc_device_array(
        device, &storage->weight[i],
        (size_t)(i == 0 ? HARD_DISKS_CONTACT_LEVELS : HARD_DISKS_SCALING_LEVELS) * HARD_DISKS_BINS,
        "weights of distances", error));
  GPUMC_TRY(gpumc_device_array(device, &storage->lost, 1, "lost disks", error));
  GPUMC_TRY(device->ops->slot_create(device, sizeof *storage->lost, "lost disks", &storage->found,
                                     error));
  GPUMC_TRY(gpumc_device_array(device, &storage->rule, runs, "rules of volume moves", error));
  GPUMC_TRY(gpumc_allocate_array(&storage->of_runs, runs, "rules of volume moves", error));
  GPUMC_TRY(gpumc_allocate_array(&storage->pressure, runs, "pressures", error));
  return gpumc_allocate_array(&storage->step, runs, "sizes of moves", error);
}

static enum gpumc_status create(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  struct storage *storage;
  if (ensemble->plan.runs > RUNS_MAXIMUM)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "a batch on a GPU may have at most %d runs, not %zu", RUNS_MAXIMUM,
                           ensemble->plan.runs);
  GPUMC_TRY(gpumc_allocate_array(&storage, 1, "the kernel's storage", error));
  ensemble->storage = storage;
  storage->stored = hard_disks_stored_of(&grid_of(ensemble)->box);
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, allocate(ensemble, error));
  GPUMC_TRY_OUT(status, bring_weights(ensemble, error));
  for (size_t m = 0; m < ensemble->plan.runs; m++)
    storage->step[m] = storage->pressure[m] = (double)NAN;
out:
  if (status != GPUMC_OK)
    destroy(ensemble);
  return status;
}

/* ---- operations ---- */

static enum gpumc_status transfer(const struct gpumc_ensemble *ensemble, size_t m, size_t first,
                                  size_t count, const uint8_t *in, uint8_t *out,
                                  struct gpumc_error *error)
{
  const struct storage *storage = ensemble->storage;
  return hard_disks_pass_replicas(ensemble, storage->replicas, m, first, count, in, out, error);
}

static enum gpumc_status set(struct gpumc_ensemble *ensemble, size_t m, size_t first, size_t count,
                             const uint8_t *portable, struct gpumc_error *error)
{
  return transfer(ensemble, m, first, count, portable, NULL, error);
}

static enum gpumc_status get(struct gpumc_ensemble *ensemble, size_t m, size_t first, size_t count,
                             uint8_t *portable, struct gpumc_error *error)
{
  return transfer(ensemble, m, first, count, NULL, portable, error);
}

static enum gpumc_status start(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  uint32_t *size;
  enum gpumc_status status;
  GPUMC_TRY(gpumc_allocate_array(&size, ensemble->plan.runs, "numbers of replicas", error));
  GPUMC_TRY_OUT(status, gpumc_ensemble_get_sizes(ensemble, size, error));
  for (size_t m = 0; m < ensemble->runs; m++)
    GPUMC_TRY_OUT(status, transfer(ensemble, m, 0, size[m], NULL, NULL, error));
out:
  free(size);
  return status;
}

/* Returns an error if a completed measurement found disks missing. */
static enum gpumc_status look_for_lost(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  struct storage *storage = ensemble->storage;
  struct gpumc_device *device = ensemble->device;
  if (!storage->measured)
    return GPUMC_OK;
  storage->measured = false;
  GPUMC_TRY(device->ops->collect(device, &storage->found, error));
  return *(const uint64_t *)storage->found.memory == 0
             ? GPUMC_OK
             : gpumc_error_set(
                   error, GPUMC_FAILURE,
                   "replicas have lost disks, and the run cannot continue: this is a mistake in "
                   "gpumc or damage to its memory, not in the configuration: please report it");
}

static enum gpumc_status
measure(struct gpumc_ensemble *ensemble, int64_t *const *channel, struct gpumc_error *error)
{
  struct storage *storage = ensemble->storage;
  struct gpumc_device *device = ensemble->device;
  struct hard_disks_gpu_measurement arguments = {
      .replicas = replicas_of(ensemble),
      .open = ensemble->plan.move == HARD_DISKS_VOLUME_MOVE,
      .units = hard_disks_units_of(ensemble->model),
      .contact_weight = storage->weight[0],
      .scaling_weight = storage->weight[1],
      .sums = storage->sums,
      .lost = storage->lost,
  };
  for (size_t c = 0; c < HARD_DISKS_NUMBERS; c++)
    arguments.channel[c] = channel[c];
  GPUMC_TRY(look_for_lost(ensemble, error));
  GPUMC_TRY(hard_disks_measure_on_gpu(&arguments, error));
  GPUMC_TRY(
      device->ops->publish(device, &storage->found, storage->lost, sizeof *storage->lost, error));
  storage->measured = true;
  return hard_disks_profiles_by_host(ensemble, storage->replicas, channel, error);
}

/* Performs a measurement of no channel, which counts disks. */
static enum gpumc_status inspect(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  int64_t *const nothing[GPUMC_CHANNELS_MAXIMUM] = {NULL};
  GPUMC_TRY(measure(ensemble, nothing, error));
  return look_for_lost(ensemble, error);
}

static enum gpumc_status bring_steps(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const struct storage *storage = ensemble->storage;
  struct gpumc_device *device = ensemble->device;
  const size_t runs = ensemble->runs, size = runs * sizeof *ensemble->step;
  float *scale;
  if (memcmp(storage->step, ensemble->step, size) == 0)
    return GPUMC_OK;
  GPUMC_TRY(gpumc_allocate_array(&scale, runs, "sizes of moves", error));
  for (size_t m = 0; m < runs; m++)
    scale[m] = hard_disks_scale(ensemble->step[m]);
  const enum gpumc_status status =
      device->ops->copy_to_device(device, storage->scale, scale, runs * sizeof *scale, error);
  if (status == GPUMC_OK)
    memcpy(storage->step, ensemble->step, size);
  free(scale);
  return status;
}

static enum gpumc_status bring_rules(struct gpumc_ensemble *ensemble,
                                     const struct gpumc_target *target, struct gpumc_error *error)
{
  const struct storage *storage = ensemble->storage;
  struct gpumc_device *device = ensemble->device;
  const size_t runs = ensemble->runs, size = runs * sizeof *target->control;
  if (memcmp(storage->pressure, target->control, size) == 0)
    return GPUMC_OK;
  GPUMC_TRY(hard_disks_find_rules(ensemble, target, storage->of_runs, error));
  GPUMC_TRY(device->ops->copy_to_device(device, storage->rule, storage->of_runs,
                                        runs * sizeof *storage->rule, error));
  memcpy(storage->pressure, target->control, size);
  return GPUMC_OK;
}

static enum gpumc_status sweep(struct gpumc_ensemble *ensemble, const struct gpumc_target *target,
                               uint32_t sweeps, int64_t *const *channel, struct gpumc_error *error)
{
  struct storage *storage = ensemble->storage;
  const struct hard_disks_options options = hard_disks_options_of(&ensemble->plan.options);
  const bool moves_volume = ensemble->plan.move == HARD_DISKS_VOLUME_MOVE;
  const struct hard_disks_gpu_sweep arguments = {
      .replicas = replicas_of(ensemble),
      .other = storage->other,
      .scale = storage->scale,
      .sweeps = sweeps,
      .moves = options.moves,
      .shuffle = options.shuffle,
      .shift = options.shift,
      .accepted = ensemble->accepted,
      .proposed = ensemble->proposed,
      .block_threads = ensemble->device->block_threads,
      .multiprocessors = (uint32_t)ensemble->device->multiprocessors,
      .shared_bytes = ensemble->device->shared_bytes,
      .rule = moves_volume ? storage->rule : NULL,
      .volume_sweeps = hard_disks_volume_options_of(&ensemble->plan.options).sweeps,
  };
  bool turned = false;
  if (sweeps > 0) {
    if (moves_volume)
      GPUMC_TRY(bring_rules(ensemble, target, error));
    GPUMC_TRY(bring_steps(ensemble, error));
    GPUMC_TRY(hard_disks_sweep_checkerboard(&arguments, &turned, error));
  }
  if (turned) {
    storage->other = storage->replicas;
    storage->replicas = arguments.other;
  }
  return channel != NULL ? measure(ensemble, channel, error) : GPUMC_OK;
}

static struct lattice_copy copy_of(const struct gpumc_ensemble *ensemble)
{
  const struct storage *storage = ensemble->storage;
  return (struct lattice_copy){
      .batch = lattice_gpu_batch(ensemble),
      .replicas = storage->replicas,
      .groups = ensemble->plan.capacity,
      .units = storage->stored.bytes / HARD_DISKS_UNIT_BYTES,
      .group = 1,
      .unit_bytes = HARD_DISKS_UNIT_BYTES,
  };
}

static enum gpumc_status
gather(struct gpumc_ensemble *ensemble, const uint32_t *parent, struct gpumc_error *error)
{
  struct lattice_copy arguments = copy_of(ensemble);
  arguments.parent = parent;
  return lattice_copy_parents(&arguments, error);
}

static enum gpumc_status
exchange(struct gpumc_ensemble *ensemble, const uint32_t *swap, struct gpumc_error *error)
{
  struct lattice_copy arguments = copy_of(ensemble);
  arguments.swap = swap;
  return lattice_swap_replicas(&arguments, error);
}

static const char *refuses(const struct gpumc_model *model,
                           const struct gpumc_kernel_options *options, const char **key)
{
  (void)model;
  *key = "confine";
  return hard_disks_options_of(options).confine ? NULL
                                                : "kernel.confine: false is for CPUs only, because "
                                                  "every trial then depends on the one before";
}

const struct gpumc_kernel_ops hard_disks_checkerboard_cuda = {
    HARD_DISKS_CHECKERBOARD_NAMES,
    .device = "cuda",
    .bytes = bytes,
    .create = create,
    .destroy = destroy,
    .start = start,
    .set = set,
    .get = get,
    .sweep = sweep,
    .measure = measure,
    .inspect = inspect,
    .gather = gather,
    .exchange = exchange,
    .refuses = refuses,
};
