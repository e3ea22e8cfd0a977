/* Walks of O(n) spins: the host's preparation of a table of weights, for both devices; and walks on
 * the CPU, threads over groups of 32 replicas. */
#include <math.h>
#include <stdlib.h>

#include "core/base/memory.h"
#include "models/heisenberg/walk/heisenberg_walk_host.h"
#include "models/heisenberg/walk/heisenberg_walk_isa.h"
#include "models/lattice/walk_cpu.h"

/* ---- tables ---- */

enum gpumc_status
heisenberg_walk_rule_make(const struct gpumc_model *model, const struct gpumc_weight_table *table,
                          struct heisenberg_walk_rule *rule, struct gpumc_error *error)
{
  const struct heisenberg_parameters *parameters = heisenberg_parameters(model);
  const double unit = 1.0 / (double)(1 << HEISENBERG_QUANTUM_BITS);
  const double per_quantum = unit / model->quantum[HEISENBERG_ENERGY];
  if (table->channel != HEISENBERG_ENERGY && table->channel != HEISENBERG_MAGNETIZATION_X)
    return gpumc_error_set(
        error, GPUMC_INVALID,
        "weights of O(n) spins depend on the energy or the magnetization along x, not on the %s",
        heisenberg_channels[table->channel].label.name);
  *rule = (struct heisenberg_walk_rule){
      .coupling = parameters->coupling * per_quantum,
      .field = parameters->field * per_quantum,
      .magnetization = unit / model->quantum[HEISENBERG_MAGNETIZATION_X],
      .spacing = (double)table->spacing,
      .inverse_spacing = 1.0 / (double)table->spacing,
      .levels = (double)table->levels,
      .by_energy = table->channel == HEISENBERG_ENERGY,
  };
  return GPUMC_OK;
}

void heisenberg_walk_weights(const struct gpumc_weight_table *table, size_t runs, double *weight)
{
  const int64_t *log_weight = table->log_weight;
  for (size_t m = 0; m < runs; m++) {
    *weight++ = -INFINITY;
    for (size_t l = 0; l < table->levels; l++, log_weight++)
      *weight++ = *log_weight != GPUMC_WEIGHT_NONE ? (double)*log_weight * 0x1p-32 : -INFINITY;
    *weight++ = -INFINITY;
  }
}

/* ---- on the CPU ---- */

struct call {
  const struct gpumc_ensemble *ensemble;
  const struct gpumc_target *target;
  const struct heisenberg_walk_ops *ops;
  struct heisenberg_walk_rule rule;
  const uint32_t (*around)[GPUMC_NEIGHBOURS_MAXIMUM]; /* [sites] */
  double *weight;                                     /* [runs][levels + 2] */
  uint32_t *visits;                                   /* [threads][levels] */
};

static const struct heisenberg_walk_ops *ops_of(const struct gpumc_ensemble *ensemble, bool single)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  return single ? GPUMC_ISA_OBJECT(heisenberg_walk_float, storage->isa)
                : GPUMC_ISA_OBJECT(heisenberg_walk_double, storage->isa);
}

static void walk_group(const void *context, size_t thread, const struct lattice_walk_group *at)
{
  const struct call *call = context;
  const struct gpumc_ensemble *ensemble = call->ensemble;
  const struct heisenberg_parameters *parameters = heisenberg_parameters(ensemble->model);
  const struct gpumc_weight_table *table = call->target->table;
  struct heisenberg_walk_group group = {
      .rule = &call->rule,
      .canonical = heisenberg_walk_canonical_of(ensemble->model, call->target, at->run),
      .lowest = (double)table->lowest[at->run],
      .weight = call->weight + at->run * (table->levels + 2),
      .components = parameters->components,
      .sites = (uint32_t)ensemble->model->sites,
      .neighbours = 2 * (uint32_t)parameters->lattice.dimension,
      .around = call->around,
      .first = parameters->lattice.dimension == 1 ? GPUMC_SAME_INDEX : 0,
      .random = gpumc_ensemble_random(ensemble, at->run),
      .number = (uint32_t)at->number,
      .count = (uint32_t)at->count,
      .steps = at->steps,
      .time = at->time,
      .spins = lattice_cpu_scratch(ensemble->storage),
      .visits = table->visits != NULL ? call->visits + thread * table->levels : NULL,
  };
  for (size_t i = 0; i < at->count; i++)
    group.replica[i] = lattice_cpu_block(ensemble->storage, at->run, at->first + i);
  if (table->passages != NULL)
    group.passages = table->passages + at->run * ensemble->plan.capacity + at->first;
  for (size_t side = 0; side < 2 && table->passages != NULL; side++)
    group.end[side] = (uint32_t)table->end[2 * at->run + side];
  call->ops->walk(&group);
  if (group.visits != NULL)
    lattice_walk_flush(ensemble, table, at, group.visits);
}

static enum gpumc_status make_tables(struct call *call, size_t threads, struct gpumc_error *error)
{
  const struct gpumc_model *model = call->ensemble->model;
  const struct gpumc_weight_table *table = call->target->table;
  const size_t runs = call->ensemble->runs;
  GPUMC_TRY(heisenberg_walk_rule_make(model, table, &call->rule, error));
  GPUMC_TRY(
      gpumc_allocate_array(&call->weight, runs * (table->levels + 2), "weights of a walk", error));
  heisenberg_walk_weights(table, runs, call->weight);
  return gpumc_allocate_array(&call->visits, threads * table->levels, "visits", error);
}

enum gpumc_status heisenberg_walk_cpu(struct gpumc_ensemble *ensemble,
                                      const struct gpumc_target *target,
                                      uint32_t (*around)[GPUMC_NEIGHBOURS_MAXIMUM], bool single,
                                      struct gpumc_error *error)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  const size_t threads = (size_t)storage->threads;
  struct call call = {.ensemble = ensemble,
                      .target = target,
                      .ops = ops_of(ensemble, single),
                      .around = (const uint32_t(*)[GPUMC_NEIGHBOURS_MAXIMUM])around};
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, make_tables(&call, threads, error));
  GPUMC_TRY_OUT(status, lattice_walk_cpu(ensemble, target->table, walk_group, &call, error));
out:
  free(call.visits);
  free(call.weight);
  return status;
}

int64_t
heisenberg_walk_cpu_bonds(const struct gpumc_ensemble *ensemble, const void *spins, bool single)
{
  const struct heisenberg_parameters *parameters = heisenberg_parameters(ensemble->model);
  return ops_of(ensemble, single)->bonds(&parameters->lattice, parameters->components, spins);
}

size_t
heisenberg_walk_cpu_bytes(const struct gpumc_device *device, const struct gpumc_ensemble_plan *plan)
{
  return plan->walks ? plan->runs * (plan->levels + 2) * sizeof(double) +
                           (size_t)device->threads * plan->levels * sizeof(uint32_t) +
                           lattice_walk_cpu_bytes(plan->runs)
                     : 0;
}

size_t heisenberg_walk_cpu_fills(const struct gpumc_model *model, const struct gpumc_device *device,
                                 const struct gpumc_ensemble_plan *plan)
{
  (void)model, (void)plan;
  return (size_t)device->threads * GPUMC_WALK_GROUP;
}
