/* Replicas in device memory, the same for all CUDA kernels. */
#include "models/ising/ising_storage_cuda.h"

#include <assert.h>
#include <stdlib.h>

#include "core/base/memory.h"
#include "core/simulation/model.h"
#include "models/ising/ising.h"

enum {
  STAGING_BYTES = 16 << 20, /* of replicas on their way, unless one is larger */
  RUNS_MAXIMUM = 65535,     /* of a batch: a dimension of CUDA's grid */
};

/* Places of sites are 32-bit numbers, sums of two as well. */
static const size_t sites_limit = (size_t)1 << 31;

static size_t smaller(size_t a, size_t b)
{
  return a < b ? a : b;
}

static size_t part_bytes(const struct gpumc_model *model, const struct ising_layout *layout)
{
  return layout->piece_bytes > 0 ? layout->piece_bytes : model->portable_bytes;
}

/* At least one. */
static size_t
staging_parts(const struct gpumc_model *model, const struct ising_layout *layout, size_t capacity)
{
  const size_t bytes = part_bytes(model, layout);
  const size_t parts = smaller(STAGING_BYTES / bytes, capacity * (model->portable_bytes / bytes));
  return parts < 1 ? 1 : parts;
}

size_t ising_storage_bytes(const struct gpumc_model *model, const struct ising_layout *layout,
                           const struct gpumc_ensemble_plan *plan)
{
  return plan->runs * ising_parts(plan->capacity, layout->group) * layout->group_bytes +
         layout->table_bytes +
         staging_parts(model, layout, plan->capacity) * part_bytes(model, layout);
}

static enum gpumc_status check_limits(const struct gpumc_ensemble *ensemble,
                                      const struct ising_layout *layout, struct gpumc_error *error)
{
  const size_t limit = layout->piece_bytes > 0 ? ISING_SITES_LIMIT : sites_limit;
  if (ensemble->model->sites >= limit)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "on a GPU this kernel takes lattices below %zu sites, not %zu", limit,
                           ensemble->model->sites);
  if (ensemble->plan.runs > RUNS_MAXIMUM)
    return gpumc_error_set(error, GPUMC_INVALID, "a batch may have %d runs on a GPU, not %zu",
                           RUNS_MAXIMUM, ensemble->plan.runs);
  return GPUMC_OK;
}

static enum gpumc_status allocate(const struct gpumc_ensemble *ensemble,
                                  const struct ising_layout *layout, struct ising_storage *storage,
                                  struct gpumc_error *error)
{
  struct gpumc_device *device = ensemble->device;
  const size_t groups = ensemble->plan.runs * ising_parts(ensemble->plan.capacity, layout->group);
  enum gpumc_status status = device->ops->allocate(device, groups, layout->group_bytes, "replicas",
                                                   &storage->replicas, error);
  if (status == GPUMC_OK && layout->table_bytes > 0)
    status = device->ops->allocate(device, 1, layout->table_bytes, "a table of the lattice",
                                   &storage->table, error);
  storage->staging_parts = staging_parts(ensemble->model, layout, ensemble->plan.capacity);
  storage->part_bytes = part_bytes(ensemble->model, layout);
  if (status == GPUMC_OK)
    status = device->ops->allocate(device, storage->staging_parts, storage->part_bytes,
                                   "replicas on their way", (void **)&storage->staging, error);
  return status;
}

enum gpumc_status ising_storage_create(struct gpumc_ensemble *ensemble,
                                       const struct ising_layout *layout, ising_convert *convert,
                                       struct gpumc_error *error)
{
  struct ising_storage *storage;
  enum gpumc_status status = check_limits(ensemble, layout, error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&storage, 1, "the kernel's storage", error);
  if (status != GPUMC_OK)
    return status;
  ensemble->storage = storage;
  storage->convert = convert;
  status = allocate(ensemble, layout, storage, error);
  if (status != GPUMC_OK)
    ising_storage_destroy(ensemble);
  return status;
}

void ising_storage_destroy(struct gpumc_ensemble *ensemble)
{
  struct gpumc_device *device = ensemble->device;
  struct ising_storage *storage = ensemble->storage;
  if (storage == NULL)
    return;
  device->ops->release(device, storage->replicas);
  device->ops->release(device, storage->table);
  device->ops->release(device, storage->staging);
  free(storage->notes);
  free(storage);
  ensemble->storage = NULL;
}

/* What the buffer holds of `rest` parts from `first` on, numbered through the replicas of a run. */
static struct ising_portable
next_parts(const struct gpumc_ensemble *ensemble, size_t m, size_t first, size_t rest)
{
  const struct ising_storage *storage = ising_storage_of(ensemble);
  return (struct ising_portable){
      .run = (uint32_t)m,
      .first = first,
      .count = smaller(rest, storage->staging_parts),
      .replica_bytes = storage->part_bytes,
      .replica = storage->staging,
  };
}

/* From `in` to the replicas first .. first + count - 1 of run m, or from them to `out`; the other
 * is NULL. */
static enum gpumc_status transfer(const struct gpumc_ensemble *ensemble, size_t m, size_t first,
                                  size_t count, const uint8_t *in, uint8_t *out,
                                  struct gpumc_error *error)
{
  struct gpumc_device *device = ensemble->device;
  const struct ising_storage *storage = ising_storage_of(ensemble);
  const size_t of_replica = ensemble->model->portable_bytes / storage->part_bytes;
  const size_t parts = count * of_replica;
  enum gpumc_status status = GPUMC_OK;
  struct ising_portable now;
  assert(first + count <= ensemble->plan.capacity);
  for (size_t done = 0; done < parts && status == GPUMC_OK; done += now.count) {
    now = next_parts(ensemble, m, first * of_replica + done, parts - done);
    const size_t at = done * now.replica_bytes, bytes = now.count * now.replica_bytes;
    if (in != NULL)
      status = device->ops->copy_to_device(device, now.replica, in + at, bytes, error);
    if (status == GPUMC_OK)
      status = storage->convert(ensemble, &now,
                                in != NULL ? ISING_FROM_PORTABLE : ISING_TO_PORTABLE, error);
    if (status == GPUMC_OK && out != NULL)
      status = device->ops->copy_to_host(device, out + at, now.replica, bytes, error);
  }
  return status;
}

enum gpumc_status ising_storage_set(struct gpumc_ensemble *ensemble, size_t m, size_t first,
                                    size_t count, const uint8_t *portable,
                                    struct gpumc_error *error)
{
  const enum gpumc_status status = transfer(ensemble, m, first, count, portable, NULL, error);
  return status == GPUMC_OK ? ensemble->device->ops->synchronize(ensemble->device, error) : status;
}

enum gpumc_status ising_storage_get(struct gpumc_ensemble *ensemble, size_t m, size_t first,
                                    size_t count, uint8_t *portable, struct gpumc_error *error)
{
  return transfer(ensemble, m, first, count, NULL, portable, error);
}
