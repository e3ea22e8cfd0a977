/* Replicas in device memory, the same for all CUDA kernels. */
#include "models/ising/ising_storage_cuda.h"

#include <assert.h>
#include <stdlib.h>

#include "core/memory.h"
#include "core/model.h"

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

/* At least one. */
static size_t staging_replicas(const struct gpumc_model *model, size_t capacity)
{
  const size_t replicas = smaller(STAGING_BYTES / model->portable_bytes, capacity);
  return replicas < 1 ? 1 : replicas;
}

size_t ising_storage_bytes(const struct gpumc_model *model, const struct ising_layout *layout,
                           const struct gpumc_ensemble_plan *plan)
{
  return plan->runs * ising_parts(plan->capacity, layout->group) * layout->group_bytes +
         layout->table_bytes + staging_replicas(model, plan->capacity) * model->portable_bytes;
}

static enum gpumc_status
check_limits(const struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  if (ensemble->model->sites >= sites_limit)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "a GPU takes lattices below 2^31 sites, not %zu: use device: cpu",
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
  storage->staging_replicas = staging_replicas(ensemble->model, ensemble->plan.capacity);
  if (status == GPUMC_OK)
    status =
        device->ops->allocate(device, storage->staging_replicas, ensemble->model->portable_bytes,
                              "replicas on their way", (void **)&storage->staging, error);
  return status;
}

enum gpumc_status ising_storage_create(struct gpumc_ensemble *ensemble,
                                       const struct ising_layout *layout,
                                       ising_convert *from_portable, ising_convert *to_portable,
                                       struct gpumc_error *error)
{
  struct ising_storage *storage;
  enum gpumc_status status = check_limits(ensemble, error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&storage, 1, "the kernel's storage", error);
  if (status != GPUMC_OK)
    return status;
  ensemble->storage = storage;
  storage->from_portable = from_portable;
  storage->to_portable = to_portable;
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

/* As many replicas as the buffer holds, of those from `first` on. */
static struct ising_portable
next_part(const struct gpumc_ensemble *ensemble, size_t m, size_t first, size_t count)
{
  const struct ising_storage *storage = ising_storage_of(ensemble);
  assert(first + count <= ensemble->plan.capacity);
  return (struct ising_portable){
      .run = (uint32_t)m,
      .first = first,
      .count = smaller(count, storage->staging_replicas),
      .replica_bytes = ensemble->model->portable_bytes,
      .replica = storage->staging,
  };
}

enum gpumc_status ising_storage_set(struct gpumc_ensemble *ensemble, size_t m, size_t first,
                                    size_t count, const uint8_t *portable,
                                    struct gpumc_error *error)
{
  struct gpumc_device *device = ensemble->device;
  struct ising_portable part;
  for (size_t done = 0; done < count; done += part.count) {
    part = next_part(ensemble, m, first + done, count - done);
    enum gpumc_status status =
        device->ops->copy_to_device(device, part.replica, portable + done * part.replica_bytes,
                                    part.count * part.replica_bytes, error);
    if (status == GPUMC_OK)
      status = ising_storage_of(ensemble)->from_portable(ensemble, &part, error);
    if (status != GPUMC_OK)
      return status;
  }
  return device->ops->synchronize(device, error);
}

enum gpumc_status ising_storage_get(struct gpumc_ensemble *ensemble, size_t m, size_t first,
                                    size_t count, uint8_t *portable, struct gpumc_error *error)
{
  struct gpumc_device *device = ensemble->device;
  struct ising_portable part;
  for (size_t done = 0; done < count; done += part.count) {
    part = next_part(ensemble, m, first + done, count - done);
    enum gpumc_status status = ising_storage_of(ensemble)->to_portable(ensemble, &part, error);
    if (status == GPUMC_OK)
      status = device->ops->copy_to_host(device, portable + done * part.replica_bytes, part.replica,
                                         part.count * part.replica_bytes, error);
    if (status != GPUMC_OK)
      return status;
  }
  return GPUMC_OK;
}
