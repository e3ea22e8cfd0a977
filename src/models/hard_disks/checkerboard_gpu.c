/* The kernel `checkerboard` on a GPU: memory, replicas on their way, and what is asked of the
 * drivers. */
#include "models/hard_disks/checkerboard_gpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/simulation/ensemble.h"
#include "models/hard_disks/hard_disks.h"
#include "models/lattice/replicas_gpu.h"

enum {
  STAGING_BYTES = 16 << 20, /* of replicas on their way, unless one is larger */
  RUNS_MAXIMUM = 65535,     /* of a batch: a dimension of CUDA's grid */
};

/* gpumc_ensemble.storage. */
struct storage {
  struct hard_disks_stored stored;
  unsigned char *replicas, *other; /* [runs][capacity][stored.bytes], device memory */
  float *scale;                    /* [runs], device memory */
  double *step;                    /* that `scale` is of */
  struct hard_disks_sums *sums;    /* [runs][capacity], device memory */
  int64_t *weight[2];              /* [HARD_DISKS_BINS], device memory: contact, scaling */
  uint64_t *lost;                  /* replicas that were found without all their disks */
  struct gpumc_slot found;         /* `lost` after a measurement */
  bool measured;                   /* `found` is on its way */
};

static const struct hard_disks_box *box_of(const struct gpumc_ensemble *ensemble)
{
  return &hard_disks_parameters(ensemble->model)->box;
}

static struct hard_disks_replicas replicas_of(const struct gpumc_ensemble *ensemble)
{
  const struct storage *storage = ensemble->storage;
  return (struct hard_disks_replicas){
      .batch = lattice_gpu_batch(ensemble),
      .box = *box_of(ensemble),
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
  const size_t stored = hard_disks_stored_of(&hard_disks_parameters(model)->box).bytes;
  return replicas * (2 * stored + sizeof(struct hard_disks_sums)) + plan->runs * sizeof(float) +
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
  device->ops->release(device, storage->sums);
  device->ops->release(device, storage->weight[0]);
  device->ops->release(device, storage->weight[1]);
  device->ops->release(device, storage->lost);
  device->ops->slot_free(device, &storage->found);
  free(storage->step);
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
    GPUMC_TRY(gpumc_device_array(device, &storage->weight[i], HARD_DISKS_BINS,
                                 "weights of distances", error));
  GPUMC_TRY(gpumc_device_array(device, &storage->lost, 1, "lost disks", error));
  GPUMC_TRY(device->ops->slot_create(device, sizeof *storage->lost, "lost disks", &storage->found,
                                     error));
  return gpumc_allocate_array(&storage->step, runs, "sizes of moves", error);
}

static enum gpumc_status create(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  struct storage *storage;
  if (ensemble->plan.runs > RUNS_MAXIMUM)
    return gpumc_error_set(error, GPUMC_INVALID, "a batch may have %d runs on a GPU, not %zu",
                           RUNS_MAXIMUM, ensemble->plan.runs);
  GPUMC_TRY(gpumc_allocate_array(&storage, 1, "the kernel's storage", error));
  ensemble->storage = storage;
  storage->stored = hard_disks_stored_of(box_of(ensemble));
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, allocate(ensemble, error));
  GPUMC_TRY_OUT(status, bring_weights(ensemble, error));
  for (size_t m = 0; m < ensemble->plan.runs; m++)
    storage->step[m] = (double)NAN;
out:
  if (status != GPUMC_OK)
    destroy(ensemble);
  return status;
}

/* ---- replicas on their way ---- */

static enum gpumc_status
disks_of(const struct hard_disks_layout *layout, float **x, float **y, struct gpumc_error *error)
{
  *x = *y = NULL;
  GPUMC_TRY(gpumc_allocate_array(x, layout->count, "coordinates of a replica", error));
  const enum gpumc_status status =
      gpumc_allocate_array(y, layout->count, "coordinates of a replica", error);
  if (status != GPUMC_OK) {
    free(*x);
    *x = NULL;
  }
  return status;
}

/* The first coordinate of a slot of a cell. */
static float *
slot_of(const struct hard_disks_stored *stored, unsigned char *replica, size_t cell, size_t slot)
{
  unsigned char *pairs = replica + (slot < 2 ? stored->first : stored->second);
  return (float *)(void *)(pairs + cell * HARD_DISKS_PAIR_BYTES) + slot % 2 * 2;
}

void hard_disks_store(const struct hard_disks_stored *stored, const struct hard_disks_replica *from,
                      size_t cells, unsigned char *to)
{
  memcpy(to, from->offset, 2 * sizeof *from->offset);
  for (size_t cell = 0; cell < cells; cell++) {
    uint8_t count = 0;
    for (size_t s = 0; s < HARD_DISKS_SLOTS; s++) {
      const size_t place = s * from->layout->slot + cell;
      float *disk = slot_of(stored, to, cell, s);
      disk[0] = from->x[place];
      disk[1] = from->y[place];
      if (disk[0] >= 0.0f)
        count++;
    }
    to[stored->count + cell] = count;
  }
}

uint64_t hard_disks_restore(const struct hard_disks_stored *stored, unsigned char *from,
                            size_t cells, const struct hard_disks_replica *to)
{
  uint64_t disks = 0;
  memcpy(to->offset, from, 2 * sizeof *to->offset);
  for (size_t cell = 0; cell < cells; cell++) {
    const size_t count = from[stored->count + cell];
    disks += count;
    for (size_t s = 0; s < HARD_DISKS_SLOTS; s++) {
      const size_t place = s * to->layout->slot + cell;
      const float *disk = slot_of(stored, from, cell, s);
      to->x[place] = s < count ? disk[0] : HARD_DISKS_NOWHERE;
      to->y[place] = s < count ? disk[1] : HARD_DISKS_NOWHERE;
    }
  }
  return disks;
}

/* Replica r of run m from its portable form, or to it, by way of `stored`. */
struct passage {
  const struct gpumc_ensemble *ensemble;
  size_t m, r;
  const uint8_t *in; /* NULL: the state in which it begins, or the way is `out` */
  uint8_t *out;      /* NULL: from portable form */
  unsigned char *stored;
};

static enum gpumc_status pass(const struct passage *passage, struct gpumc_error *error)
{
  const struct gpumc_ensemble *ensemble = passage->ensemble;
  const struct gpumc_model *model = ensemble->model;
  const struct hard_disks_box *box = box_of(ensemble);
  const struct hard_disks_stored stored = hard_disks_stored_of(box);
  const struct hard_disks_layout layout = hard_disks_plain_layout(box);
  const size_t cells = (size_t)box->cells_x * box->cells_y;
  int64_t offset[2];
  struct hard_disks_replica replica = {.layout = &layout, .offset = offset};
  uint8_t *begin = NULL;
  enum gpumc_status status;
  GPUMC_TRY(disks_of(&layout, &replica.x, &replica.y, error));
  if (passage->out != NULL) {
    const uint64_t disks = hard_disks_restore(&stored, passage->stored, cells, &replica);
    if (disks != model->sites)
      GPUMC_TRY_OUT(status, hard_disks_lost(model, disks, error));
    hard_disks_get(box, &replica, passage->out);
    status = GPUMC_OK;
    goto out;
  }
  if (passage->in == NULL) {
    GPUMC_TRY_OUT(status, gpumc_allocate_array(&begin, model->portable_bytes,
                                               "a state to begin with", error));
    GPUMC_TRY_OUT(status, hard_disks_start_state(model, gpumc_ensemble_random(ensemble, passage->m),
                                                 (uint32_t)passage->r, begin, error));
  }
  GPUMC_TRY_OUT(status, hard_disks_set(box, begin != NULL ? begin : passage->in, &replica, error));
  hard_disks_store(&stored, &replica, cells, passage->stored);
out:
  free(begin);
  free(replica.x);
  free(replica.y);
  return status;
}

/* The replicas first .. first + count - 1 of run m, by the host's threads; the error is that of one
 * of those that failed. */
static enum gpumc_status
pass_all(const struct passage *of_first, size_t count, struct gpumc_error *error)
{
  const struct gpumc_ensemble *ensemble = of_first->ensemble;
  const size_t portable_bytes = ensemble->model->portable_bytes;
  const size_t stored_bytes = hard_disks_stored_of(box_of(ensemble)).bytes;
  enum gpumc_status status = GPUMC_OK;
#pragma omp parallel for schedule(dynamic, 1) num_threads(ensemble->device->threads)
  for (size_t i = 0; i < count; i++) {
    struct passage passage = *of_first;
    struct gpumc_error of = {0};
    passage.r += i;
    passage.in = passage.in != NULL ? passage.in + i * portable_bytes : NULL;
    passage.out = passage.out != NULL ? passage.out + i * portable_bytes : NULL;
    passage.stored += i * stored_bytes;
    const enum gpumc_status found = pass(&passage, &of);
    if (found == GPUMC_OK)
      continue;
#pragma omp critical(hard_disks_passage)
    {
      status = found;
      *error = of;
    }
  }
  return status;
}

static enum gpumc_status transfer(const struct gpumc_ensemble *ensemble, size_t m, size_t first,
                                  size_t count, const uint8_t *in, uint8_t *out,
                                  struct gpumc_error *error)
{
  const struct storage *storage = ensemble->storage;
  struct gpumc_device *device = ensemble->device;
  const size_t portable_bytes = ensemble->model->portable_bytes, bytes = storage->stored.bytes;
  const size_t fit = STAGING_BYTES / bytes, most = fit < 1 ? 1 : fit < count ? fit : count;
  unsigned char *staging = NULL;
  enum gpumc_status status = GPUMC_OK;
  if (count == 0)
    return GPUMC_OK;
  GPUMC_TRY(gpumc_allocate(most, bytes, "replicas on their way", (void **)&staging, error));
  for (size_t done = 0; done < count; done += most) {
    const size_t now = count - done < most ? count - done : most;
    unsigned char *there = storage->replicas + (m * ensemble->plan.capacity + first + done) * bytes;
    const struct passage passage = {ensemble,
                                    m,
                                    first + done,
                                    in != NULL ? in + done * portable_bytes : NULL,
                                    out != NULL ? out + done * portable_bytes : NULL,
                                    staging};
    if (out != NULL)
      GPUMC_TRY_OUT(status, device->ops->copy_to_host(device, staging, there, now * bytes, error));
    GPUMC_TRY_OUT(status, pass_all(&passage, now, error));
    if (out == NULL)
      GPUMC_TRY_OUT(status,
                    device->ops->copy_to_device(device, there, staging, now * bytes, error));
  }
out:
  free(staging);
  return status;
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

/* ---- operations ---- */

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

/* An error where a measurement that is over found disks missing. */
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
             : gpumc_error_set(error, GPUMC_FAILURE,
                               "replicas have not all the disks that they should have: this is an "
                               "error of gpumc, and the run cannot go on");
}

static enum gpumc_status
measure(struct gpumc_ensemble *ensemble, int64_t *const *channel, struct gpumc_error *error)
{
  struct storage *storage = ensemble->storage;
  struct gpumc_device *device = ensemble->device;
  struct hard_disks_gpu_measurement arguments = {
      .replicas = replicas_of(ensemble),
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

static enum gpumc_status sweep(struct gpumc_ensemble *ensemble, const struct gpumc_target *target,
                               uint32_t sweeps, int64_t *const *channel, struct gpumc_error *error)
{
  struct storage *storage = ensemble->storage;
  const struct hard_disks_options options = hard_disks_options_of(&ensemble->plan.options);
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
  };
  bool turned = false;
  (void)target;
  if (sweeps > 0) {
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
  return hard_disks_options_of(options).confine
             ? NULL
             : "kernel.confine: false is for CPUs only, as every trial then depends on the last";
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
    .gather = gather,
    .exchange = exchange,
    .refuses = refuses,
};
