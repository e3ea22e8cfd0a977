/* Replicas of a lattice model in the memory of a GPU: the host's side. */
#include "models/lattice/replicas_gpu.h"

#include <assert.h>
#include <stdlib.h>

#include "core/base/memory.h"
#include "core/simulation/model.h"

enum {
  STAGING_BYTES = 16 << 20, /* of replicas in transit, unless one is larger */
  RUNS_MAXIMUM = 65535,     /* of a batch: a dimension of CUDA's grid */
};

/* Replicas that take more than this are copied and exchanged in place: memory for twice as many
 * matters more, and every GPU that kernels run on has twice this. */
static const size_t spare_bytes_most = (size_t)1 << 30;

static size_t smaller(size_t a, size_t b)
{
  return a < b ? a : b;
}

static size_t part_bytes(const struct lattice_gpu_layout *layout, const struct gpumc_model *model)
{
  return layout->piece_bytes > 0 ? layout->piece_bytes : model->portable_bytes;
}

/* Returns at least one. */
static size_t staging_parts(const struct lattice_gpu_layout *layout,
                            const struct gpumc_model *model, size_t capacity)
{
  const size_t bytes = part_bytes(layout, model);
  const size_t parts = smaller(STAGING_BYTES / bytes, capacity * (model->portable_bytes / bytes));
  return parts < 1 ? 1 : parts;
}

static size_t group_bytes(const struct lattice_gpu_layout *layout, const struct gpumc_model *model,
                          const struct gpumc_ensemble_plan *plan)
{
  return layout->units(model, plan) * layout->group * layout->unit_bytes;
}

static bool has_spare(const struct lattice_gpu_layout *layout, const struct gpumc_model *model,
                      const struct gpumc_ensemble_plan *plan)
{
  const size_t groups = plan->runs * lattice_parts(plan->capacity, layout->group);
  return layout->moves_in_sweeps != NULL && layout->moves_in_sweeps(model) &&
         (plan->copies || plan->exchanges) &&
         groups <= spare_bytes_most / group_bytes(layout, model, plan);
}

size_t lattice_gpu_bytes(const struct lattice_gpu_layout *layout, const struct gpumc_model *model,
                         const struct gpumc_ensemble_plan *plan)
{
  const size_t groups = plan->runs * lattice_parts(plan->capacity, layout->group);
  const size_t replicas = groups * group_bytes(layout, model, plan);
  return (has_spare(layout, model, plan) ? 2 * replicas : replicas) +
         layout->table_bytes(model, plan) +
         (layout->scratch_bytes != NULL ? layout->scratch_bytes(model, plan) : 0) +
         staging_parts(layout, model, plan->capacity) * part_bytes(layout, model);
}

static enum gpumc_status check_limits(const struct lattice_gpu_layout *layout,
                                      const struct gpumc_ensemble *ensemble,
                                      struct gpumc_error *error)
{
  if (ensemble->model->sites >= layout->sites_limit)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "on a GPU this kernel supports lattices below %zu sites, not %zu",
                           layout->sites_limit, ensemble->model->sites);
  if (ensemble->plan.runs > RUNS_MAXIMUM)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "a batch on a GPU may have at most %d runs, not %zu", RUNS_MAXIMUM,
                           ensemble->plan.runs);
  return GPUMC_OK;
}

static enum gpumc_status allocate(const struct lattice_gpu_layout *layout,
                                  const struct gpumc_ensemble *ensemble,
                                  struct lattice_gpu_storage *storage, struct gpumc_error *error)
{
  struct gpumc_device *device = ensemble->device;
  const struct gpumc_model *model = ensemble->model;
  const struct gpumc_ensemble_plan *plan = &ensemble->plan;
  const size_t table_bytes = layout->table_bytes(model, plan);
  const size_t bytes = group_bytes(layout, model, plan);
  storage->layout = layout;
  storage->groups = lattice_parts(plan->capacity, layout->group);
  storage->units = layout->units(model, plan);
  storage->staging_parts = staging_parts(layout, model, plan->capacity);
  storage->part_bytes = part_bytes(layout, model);
  GPUMC_TRY(device->ops->allocate(device, plan->runs * storage->groups, bytes, "replicas",
                                  &storage->replicas, error));
  if (has_spare(layout, model, plan))
    GPUMC_TRY(device->ops->allocate(device, plan->runs * storage->groups, bytes,
                                    "a second memory for replicas", &storage->spare, error));
  if (table_bytes > 0)
    GPUMC_TRY(device->ops->allocate(device, 1, table_bytes, "a table of the lattice",
                                    &storage->table, error));
  GPUMC_TRY(device->ops->allocate(device, storage->staging_parts, storage->part_bytes,
                                  "replicas on their way", (void **)&storage->staging, error));
  if (layout->notes_bytes != NULL)
    GPUMC_TRY(gpumc_allocate(1, layout->notes_bytes(model, plan), "the kernel's notes",
                             &storage->notes, error));
  return GPUMC_OK;
}

enum gpumc_status lattice_gpu_create(const struct lattice_gpu_layout *layout,
                                     struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  struct lattice_gpu_storage *storage;
  assert(layout->unit_bytes == 1 || layout->unit_bytes == 16 || layout->unit_bytes == 32);
  if (layout->check != NULL)
    GPUMC_TRY(layout->check(ensemble, error));
  GPUMC_TRY(check_limits(layout, ensemble, error));
  GPUMC_TRY(gpumc_allocate_array(&storage, 1, "the kernel's storage", error));
  ensemble->storage = storage;
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, allocate(layout, ensemble, storage, error));
  if (layout->fill != NULL)
    GPUMC_TRY_OUT(status, layout->fill(ensemble, error));
out:
  if (status != GPUMC_OK)
    lattice_gpu_destroy(ensemble);
  return status;
}

void lattice_gpu_destroy(struct gpumc_ensemble *ensemble)
{
  struct gpumc_device *device = ensemble->device;
  struct lattice_gpu_storage *storage = ensemble->storage;
  if (storage == NULL)
    return;
  device->ops->release(device, storage->replicas);
  device->ops->release(device, storage->spare);
  device->ops->release(device, storage->table);
  device->ops->release(device, storage->staging);
  device->ops->release(device, storage->scratch);
  free(storage->notes);
  free(storage);
  ensemble->storage = NULL;
}

enum gpumc_status lattice_gpu_scratch(struct gpumc_ensemble *ensemble, size_t bytes, void **scratch,
                                      struct gpumc_error *error)
{
  struct gpumc_device *device = ensemble->device;
  struct lattice_gpu_storage *storage = ensemble->storage;
  if (storage->scratch_bytes < bytes) {
    device->ops->release(device, storage->scratch);
    storage->scratch = NULL;
    storage->scratch_bytes = 0;
    GPUMC_TRY(
        device->ops->allocate(device, 1, bytes, "scratch of the kernel", &storage->scratch, error));
    storage->scratch_bytes = bytes;
  }
  *scratch = storage->scratch;
  return GPUMC_OK;
}

enum gpumc_status lattice_gpu_post(struct gpumc_ensemble *ensemble, uint32_t sweeps,
                                   size_t mail_bytes, struct lattice_strips *strips,
                                   struct gpumc_error *error)
{
  struct lattice_gpu_storage *storage = ensemble->storage;
  const uint32_t turns = lattice_strips_turns(sweeps);
  if (UINT32_MAX - storage->tag < turns) {
    GPUMC_TRY(ensemble->device->ops->fill(ensemble->device, strips->mail, 0, mail_bytes, error));
    storage->tag = 0;
  }
  strips->tag = storage->tag;
  storage->tag += turns;
  return GPUMC_OK;
}

struct lattice_batch lattice_gpu_batch(const struct gpumc_ensemble *ensemble)
{
  const struct gpumc_random random = gpumc_ensemble_random(ensemble, 0);
  return (struct lattice_batch){
      .size = ensemble->size,
      .runs = (uint32_t)ensemble->runs,
      .first = (uint32_t)ensemble->plan.first_replica,
      .capacity = ensemble->plan.capacity,
      .expected = ensemble->expected,
      .key = {random.key[0], random.key[1]},
      .rounds = random.rounds,
      .time = ensemble->time,
      .stream = ensemble->device->stream,
      .others = (uint32_t)gpumc_plan_size(&ensemble->plan, 0),
  };
}

/* Returns what the buffer holds of `rest` parts from `first` on, numbered through the replicas of a
 * run. */
static struct lattice_portable
next_parts(const struct gpumc_ensemble *ensemble, size_t m, size_t first, size_t rest)
{
  const struct lattice_gpu_storage *storage = lattice_gpu_storage_of(ensemble);
  return (struct lattice_portable){
      .run = (uint32_t)m,
      .first = first,
      .count = smaller(rest, storage->staging_parts),
      .replica_bytes = storage->part_bytes,
      .replica = storage->staging,
  };
}

/* Copies from `in` to the replicas first .. first + count - 1 of run m, or from them to `out`; the
 * other is NULL. */
static enum gpumc_status transfer(const struct gpumc_ensemble *ensemble, size_t m, size_t first,
                                  size_t count, const uint8_t *in, uint8_t *out,
                                  struct gpumc_error *error)
{
  struct gpumc_device *device = ensemble->device;
  const struct lattice_gpu_storage *storage = lattice_gpu_storage_of(ensemble);
  const enum lattice_direction direction = in != NULL ? LATTICE_FROM_PORTABLE : LATTICE_TO_PORTABLE;
  const size_t of_replica = ensemble->model->portable_bytes / storage->part_bytes;
  const size_t parts = count * of_replica;
  struct lattice_portable now;
  assert(first + count <= ensemble->plan.capacity && storage->parent == NULL &&
         storage->swap == NULL);
  for (size_t done = 0; done < parts; done += now.count) {
    now = next_parts(ensemble, m, first * of_replica + done, parts - done);
    const size_t at = done * now.replica_bytes, bytes = now.count * now.replica_bytes;
    if (in != NULL)
      GPUMC_TRY(device->ops->copy_to_device(device, now.replica, in + at, bytes, error));
    GPUMC_TRY(storage->layout->convert(ensemble, &now, direction, error));
    if (out != NULL)
      GPUMC_TRY(device->ops->copy_to_host(device, out + at, now.replica, bytes, error));
  }
  return GPUMC_OK;
}

enum gpumc_status lattice_gpu_set(struct gpumc_ensemble *ensemble, size_t m, size_t first,
                                  size_t count, const uint8_t *portable, struct gpumc_error *error)
{
  GPUMC_TRY(lattice_gpu_settle(ensemble, error));
  GPUMC_TRY(transfer(ensemble, m, first, count, portable, NULL, error));
  return ensemble->device->ops->synchronize(ensemble->device, error);
}

enum gpumc_status lattice_gpu_get(struct gpumc_ensemble *ensemble, size_t m, size_t first,
                                  size_t count, uint8_t *portable, struct gpumc_error *error)
{
  GPUMC_TRY(lattice_gpu_settle(ensemble, error));
  return transfer(ensemble, m, first, count, NULL, portable, error);
}

/* Handles few enough replicas at a time that numbers of parts stay small. The direction says
 * whether `states` are read or written. */
static enum gpumc_status pass_list(struct gpumc_ensemble *ensemble, size_t m, const uint32_t *slot,
                                   size_t count, uint8_t *states, enum lattice_direction direction,
                                   struct gpumc_error *error)
{
  const struct lattice_gpu_storage *storage = lattice_gpu_storage_of(ensemble);
  const size_t bytes = ensemble->model->portable_bytes;
  const size_t most = STAGING_BYTES / bytes > 0 ? STAGING_BYTES / bytes : 1;
  GPUMC_TRY(lattice_gpu_settle(ensemble, error));
  for (size_t done = 0, n; done < count; done += n) {
    n = smaller(count - done, most);
    const struct lattice_portable now = {
        .run = (uint32_t)m,
        .count = n * (bytes / storage->part_bytes),
        .replica_bytes = storage->part_bytes,
        .replica = states + done * bytes,
        .slot = slot + done,
    };
    GPUMC_TRY(storage->layout->convert(ensemble, &now, direction, error));
  }
  return GPUMC_OK;
}

enum gpumc_status lattice_gpu_set_list(struct gpumc_ensemble *ensemble, size_t m,
                                       const uint32_t *slot, size_t count, const uint8_t *states,
                                       struct gpumc_error *error)
{
  return pass_list(ensemble, m, slot, count, (uint8_t *)states, LATTICE_FROM_PORTABLE, error);
}

enum gpumc_status lattice_gpu_get_list(struct gpumc_ensemble *ensemble, size_t m,
                                       const uint32_t *slot, size_t count, uint8_t *states,
                                       struct gpumc_error *error)
{
  return pass_list(ensemble, m, slot, count, states, LATTICE_TO_PORTABLE, error);
}

static struct lattice_copy copy_of(const struct gpumc_ensemble *ensemble)
{
  const struct lattice_gpu_storage *storage = lattice_gpu_storage_of(ensemble);
  return (struct lattice_copy){
      .batch = lattice_gpu_batch(ensemble),
      .replicas = storage->replicas,
      .groups = storage->groups,
      .units = storage->units,
      .group = (uint32_t)storage->layout->group,
      .unit_bytes = (uint32_t)storage->layout->unit_bytes,
  };
}

enum gpumc_status lattice_gpu_settle(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  struct lattice_gpu_storage *storage = ensemble->storage;
  struct lattice_copy arguments = copy_of(ensemble);
  arguments.parent = storage->parent;
  arguments.swap = storage->swap;
  storage->parent = storage->swap = NULL;
  if (arguments.swap != NULL)
    return lattice_swap_replicas(&arguments, error);
  return arguments.parent != NULL ? lattice_copy_parents(&arguments, error) : GPUMC_OK;
}

struct lattice_moves lattice_gpu_move_in_sweep(struct gpumc_ensemble *ensemble)
{
  struct lattice_gpu_storage *storage = ensemble->storage;
  const struct lattice_moves moves = {storage->parent, storage->swap, storage->replicas};
  if (moves.parent != NULL || moves.swap != NULL) {
    void *replicas = storage->replicas;
    storage->replicas = storage->spare;
    storage->spare = replicas;
    storage->parent = storage->swap = NULL;
  }
  return moves;
}

/* Leaves copies or exchanges to the next sweep, if there is memory for that. */
static enum gpumc_status move_later(struct gpumc_ensemble *ensemble, const uint32_t *parent,
                                    const uint32_t *swap, struct gpumc_error *error)
{
  struct lattice_gpu_storage *storage = ensemble->storage;
  GPUMC_TRY(lattice_gpu_settle(ensemble, error));
  storage->parent = parent;
  storage->swap = swap;
  return storage->spare == NULL ? lattice_gpu_settle(ensemble, error) : GPUMC_OK;
}

enum gpumc_status lattice_gpu_gather(struct gpumc_ensemble *ensemble, const uint32_t *parent,
                                     struct gpumc_error *error)
{
  return move_later(ensemble, parent, NULL, error);
}

enum gpumc_status lattice_gpu_exchange(struct gpumc_ensemble *ensemble, const uint32_t *swap,
                                       struct gpumc_error *error)
{
  return move_later(ensemble, NULL, swap, error);
}
