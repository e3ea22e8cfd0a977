/* Walks of O(n) spins on a GPU: memory, and calls of the drivers. */
#include "models/heisenberg/walk/heisenberg_walk_gpu.h"

#include <stdlib.h>

#include "core/base/memory.h"
#include "models/heisenberg/walk/heisenberg_walk_host.h"
#include "models/lattice/replicas_gpu.h"

enum { STEPS_OF_A_LAUNCH = 1 << 22, ALIGNMENT = 256 };

/* Offsets of the parts of a walk in the scratch, after the lanes. */
struct places {
  size_t weight, run, end;
};

static size_t aligned(size_t bytes)
{
  return lattice_parts(bytes, ALIGNMENT) * ALIGNMENT;
}

static size_t
lanes_bytes(const struct gpumc_model *model, size_t runs, size_t capacity, bool single)
{
  const size_t of_replica = model->portable_bytes / (single ? 2 : 1);
  return aligned(runs * lattice_parts(capacity, GPUMC_WALK_GROUP) * GPUMC_WALK_GROUP * of_replica);
}

static struct places
places_of(const struct gpumc_model *model, size_t runs, size_t capacity, size_t levels, bool single)
{
  struct places at = {.weight = lanes_bytes(model, runs, capacity, single)};
  at.run = at.weight + aligned(runs * (levels + 2) * sizeof(double));
  at.end = at.run + runs * sizeof(struct lattice_walk_run);
  return at;
}

size_t heisenberg_walk_gpu_bytes(const struct gpumc_model *model,
                                 const struct gpumc_ensemble_plan *plan, bool single)
{
  return plan->walks ? places_of(model, plan->runs, plan->capacity, plan->levels, single).end : 0;
}

size_t heisenberg_walk_gpu_fills(const struct gpumc_model *model, const struct gpumc_device *device,
                                 bool single)
{
  return heisenberg_walk_occupy((uint32_t)heisenberg_parameters(model)->components, single,
                                (uint32_t)device->multiprocessors);
}

/* Copies weights and runs to the device; `there`: its scratch. */
static enum gpumc_status bring_tables(struct gpumc_ensemble *ensemble,
                                      const struct gpumc_target *target, const struct places *at,
                                      unsigned char *there, struct heisenberg_gpu_walk *walk,
                                      struct gpumc_error *error)
{
  struct gpumc_device *device = ensemble->device;
  unsigned char *made;
  const size_t bytes = at->end - at->weight;
  GPUMC_TRY(gpumc_allocate_array(&made, bytes, "tables of a walk", error));
  struct lattice_walk_run *run = (void *)(made + (at->run - at->weight));
  heisenberg_walk_weights(target->table, ensemble->runs, (void *)made);
  walk->active = lattice_walk_runs(target->table, ensemble->runs, run);
  for (uint32_t i = 0; i < walk->active; i++)
    run[i].canonical = heisenberg_walk_canonical_of(ensemble->model, target, run[i].number);
  walk->lanes = there;
  walk->weight = (const void *)(there + at->weight);
  walk->run = (const void *)(there + at->run);
  const enum gpumc_status status =
      device->ops->copy_to_device(device, there + at->weight, made, bytes, error);
  free(made);
  return status;
}

enum gpumc_status
heisenberg_walk_gpu(struct gpumc_ensemble *ensemble, const struct gpumc_target *target,
                    const struct heisenberg_replicas *replicas, struct gpumc_error *error)
{
  const struct gpumc_weight_table *table = target->table;
  const size_t runs = ensemble->runs, capacity = ensemble->plan.capacity;
  struct heisenberg_gpu_walk walk = {
      .replicas = *replicas,
      .groups = lattice_parts(capacity, GPUMC_WALK_GROUP),
      .levels = table->levels,
      .parts = table->parts,
      .visits = table->visits,
      .passages = table->passages,
  };
  const struct places at =
      places_of(ensemble->model, runs, capacity, table->levels, replicas->single);
  void *scratch;
  uint32_t most = 0;
  GPUMC_TRY(heisenberg_walk_rule_make(ensemble->model, table, &walk.rule, error));
  for (size_t m = 0; m < runs; m++)
    most = table->steps[m] > most ? table->steps[m] : most;
  GPUMC_TRY(lattice_gpu_scratch(ensemble, at.end, &scratch, error));
  GPUMC_TRY(bring_tables(ensemble, target, &at, scratch, &walk, error));
  if (walk.active == 0)
    return GPUMC_OK;
  GPUMC_TRY(heisenberg_walk_load(&walk, error));
  for (; walk.done < most; walk.done += walk.steps) {
    walk.steps = most - walk.done < STEPS_OF_A_LAUNCH ? most - walk.done : STEPS_OF_A_LAUNCH;
    GPUMC_TRY(heisenberg_walk_launch(&walk, error));
  }
  return heisenberg_walk_store(&walk, error);
}
