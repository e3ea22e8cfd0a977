/* The multispin kernel on a GPU: memory, rules and spreads for the drivers. */
#include "models/ising2d/ising2d_multispin_cuda.h"

#include <assert.h>
#include <stdlib.h>

#include "core/memory.h"
#include "models/ising2d/ising2d.h"
#include "models/ising2d/ising2d_cuda.h"
#include "models/ising2d/ising2d_multispin.h"

enum {
  STAGE_BYTES = 16 << 20, /* of replicas on their way, unless one is larger */
  RUNS_MAXIMUM = 65535,   /* of a batch: a dimension of CUDA's grid */
};

static_assert((int)ISING2D_CUDA_CLASSES == (int)ISING2D_CLASSES &&
                  (int)ISING2D_CUDA_PLANES == (int)GPUMC_BIT_PLANES,
              "the drivers' thresholds are those of the rule");

/* gpumc_ensemble.storage. stage[stage_replicas][portable_bytes]. */
struct storage {
  struct ising2d_cuda_batch batch; /* `runs` set for each call */
  uint8_t *stage;
  size_t stage_replicas;
};

static size_t ceiling(size_t count, size_t part)
{
  return (count + part - 1) / part;
}

static size_t tiles_of(const struct gpumc_model *model)
{
  return ceiling(model->sites, ISING2D_CUDA_TILE_SITES);
}

static size_t stage_replicas(const struct gpumc_model *model, size_t capacity)
{
  size_t replicas = STAGE_BYTES / model->portable_bytes;
  if (replicas > capacity)
    replicas = capacity;
  return replicas > 0 ? replicas : 1;
}

static size_t bytes(const struct gpumc_model *model, const struct gpumc_device *device, size_t runs,
                    size_t capacity)
{
  (void)device;
  return runs * ceiling(capacity, ISING2D_CUDA_LANES) * tiles_of(model) * ISING2D_CUDA_TILE_BYTES +
         stage_replicas(model, capacity) * model->portable_bytes;
}

static void destroy(struct gpumc_ensemble *ensemble)
{
  struct storage *storage = ensemble->storage;
  if (storage == NULL)
    return;
  ensemble->device->ops->release(ensemble->device, storage->batch.words);
  ensemble->device->ops->release(ensemble->device, storage->stage);
  free(storage);
  ensemble->storage = NULL;
}

static struct ising2d_cuda_batch batch_of(const struct gpumc_ensemble *ensemble)
{
  const struct gpumc_model *model = ensemble->model;
  const struct gpumc_checkerboard *lattice = &ising2d_parameters(model)->lattice;
  return (struct ising2d_cuda_batch){
      .size = ensemble->size,
      .capacity = (uint32_t)ensemble->capacity,
      .groups = (uint32_t)ceiling(ensemble->capacity, ISING2D_CUDA_LANES),
      .tiles = (uint32_t)tiles_of(model),
      .length_x = (uint32_t)lattice->length_x,
      .length_y = (uint32_t)lattice->length_y,
      .colour = (uint32_t)lattice->colour,
      .row = gpumc_divisor_make((uint32_t)lattice->row),
      .portable_bytes = model->portable_bytes,
      .stream = ensemble->device->stream,
  };
}

static enum gpumc_status create(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  struct gpumc_device *device = ensemble->device;
  const struct gpumc_model *model = ensemble->model;
  if (model->sites >= (size_t)1 << 31)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "the multispin kernel on a GPU takes lattices below 2^31 sites, not %zu",
                           model->sites);
  if (ensemble->runs_capacity > RUNS_MAXIMUM)
    return gpumc_error_set(error, GPUMC_INVALID, "a batch may have %d runs on a GPU, not %zu",
                           RUNS_MAXIMUM, ensemble->runs_capacity);
  struct storage *storage;
  enum gpumc_status status = gpumc_allocate_array(&storage, 1, "an ensemble", error);
  if (status != GPUMC_OK)
    return status;
  ensemble->storage = storage;
  storage->batch = batch_of(ensemble);
  storage->stage_replicas = stage_replicas(model, ensemble->capacity);
  const size_t tiles = ensemble->runs_capacity * storage->batch.groups * storage->batch.tiles;
  status = device->ops->allocate(device, tiles, ISING2D_CUDA_TILE_BYTES, "replicas",
                                 (void **)&storage->batch.words, error);
  if (status == GPUMC_OK)
    status = device->ops->allocate(device, storage->stage_replicas, model->portable_bytes,
                                   "replicas on their way", (void **)&storage->stage, error);
  if (status != GPUMC_OK)
    destroy(ensemble);
  return status;
}

/* Of the runs that there are at present. */
static struct ising2d_cuda_batch present_batch(const struct gpumc_ensemble *ensemble)
{
  const struct storage *storage = ensemble->storage;
  struct ising2d_cuda_batch batch = storage->batch;
  batch.runs = (uint32_t)ensemble->runs;
  batch.size = ensemble->size;
  return batch;
}

static struct ising2d_cuda_random random_of(const struct gpumc_ensemble *ensemble)
{
  const struct gpumc_random random = gpumc_ensemble_random(ensemble, 0);
  return (struct ising2d_cuda_random){{random.key[0], random.key[1]}, random.rounds};
}

static enum gpumc_status randomize(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const struct ising2d_cuda_batch batch = present_batch(ensemble);
  return ising2d_cuda_randomize(&batch, random_of(ensemble), error);
}

/* Part by part through the stage: from `in`, or to `out`; the other is NULL. */
static enum gpumc_status transfer(struct gpumc_ensemble *ensemble, size_t m, size_t first,
                                  size_t count, const uint8_t *in, uint8_t *out,
                                  struct gpumc_error *error)
{
  assert(first + count <= ensemble->capacity);
  const struct storage *storage = ensemble->storage;
  const struct gpumc_device_ops *ops = ensemble->device->ops;
  const size_t replica_bytes = ensemble->model->portable_bytes;
  enum gpumc_status status = GPUMC_OK;
  for (size_t done = 0; done < count && status == GPUMC_OK; done += storage->stage_replicas) {
    const size_t part =
        count - done < storage->stage_replicas ? count - done : storage->stage_replicas;
    const struct ising2d_cuda_transfer request = {
        .batch = present_batch(ensemble),
        .m = (uint32_t)m,
        .first = (uint32_t)(first + done),
        .count = (uint32_t)part,
        .portable = storage->stage,
    };
    if (in != NULL)
      status = ops->copy_to_device(ensemble->device, storage->stage, in + done * replica_bytes,
                                   part * replica_bytes, error);
    if (status == GPUMC_OK)
      status = in != NULL ? ising2d_cuda_set(&request, error) : ising2d_cuda_get(&request, error);
    if (status == GPUMC_OK && out != NULL)
      status = ops->copy_to_host(ensemble->device, out + done * replica_bytes, storage->stage,
                                 part * replica_bytes, error);
  }
  if (status == GPUMC_OK)
    status = ops->synchronize(ensemble->device, error);
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

/* The plain rule has two classes. */
static bool no_bit(const uint32_t bit[ISING2D_CLASSES], bool plain)
{
  uint32_t any = 0;
  for (size_t c = 0; c < (plain ? 2 : ISING2D_CLASSES); c++)
    any |= bit[c];
  return any == 0;
}

/* A class that is always accepted has all ones, and its lanes that equal them are let through. */
static struct ising2d_cuda_rule rule_of(const struct gpumc_ensemble *ensemble, double beta)
{
  const struct ising2d_parameters *parameters = ising2d_parameters(ensemble->model);
  const struct ising2d_multispin_rule host =
      ising2d_multispin_rule(&parameters->lattice, gpumc_ensemble_random(ensemble, 0), beta,
                             parameters->coupling, parameters->field);
  struct ising2d_cuda_rule rule = {.plain = host.plain, .stagger = host.plain ? ~host.like : 0};
  for (size_t c = 0; c < ISING2D_CLASSES; c++) {
    rule.always[c] = ~host.thresholds.need[c];
    rule.spin_up[c] = host.spin_up[c];
    for (size_t p = 0; p < GPUMC_BIT_PLANES; p++)
      rule.bit[p][c] = host.thresholds.bit[p][c] | rule.always[c];
  }
  while (rule.zeros < GPUMC_BIT_PLANES && no_bit(rule.bit[rule.zeros], host.plain))
    rule.zeros++;
  return rule;
}

static enum gpumc_status sweep(struct gpumc_ensemble *ensemble, uint32_t sweeps, double beta,
                               int64_t *const *channel, struct gpumc_error *error)
{
  const struct ising2d_parameters *parameters = ising2d_parameters(ensemble->model);
  struct ising2d_cuda_sweep request = {
      .batch = present_batch(ensemble),
      .random = random_of(ensemble),
      .rule = rule_of(ensemble, beta),
      .time = ensemble->time,
      .sweeps = sweeps,
      .coupling_quanta = parameters->coupling_quanta,
      .field_quanta = parameters->field_quanta,
      .energy = channel != NULL ? channel[ISING2D_ENERGY] : NULL,
      .magnetization = channel != NULL ? channel[ISING2D_MAGNETIZATION] : NULL,
  };
  request.spread = ising2d_cuda_spread(ensemble->device, &request.batch);
  return request.spread.in_shared ? ising2d_cuda_sweep_shared(&request, error)
                                  : ising2d_cuda_sweep_device(&request, error);
}

static enum gpumc_status
measure(struct gpumc_ensemble *ensemble, int64_t *const *channel, struct gpumc_error *error)
{
  return sweep(ensemble, 0, 0.0, channel, error);
}

static enum gpumc_status
gather(struct gpumc_ensemble *ensemble, const uint32_t *parent, struct gpumc_error *error)
{
  const struct ising2d_cuda_batch batch = present_batch(ensemble);
  return ising2d_cuda_gather(&batch, parent, error);
}

const struct gpumc_kernel_ops ising2d_multispin_cuda = {
    ISING2D_MULTISPIN_CUDA_NAMES, .bytes = bytes,   .create = create, .destroy = destroy,
    .randomize = randomize,       .set = set,       .get = get,       .sweep = sweep,
    .measure = measure,           .gather = gather,
};
