/* Host code of cluster moves of O(n) spins on a GPU. */
#include "models/heisenberg/cluster/cluster_host_gpu.h"

#include "models/heisenberg/cluster/cluster.h"
#include "models/heisenberg/cluster/cluster_gpu.h"
#include "models/heisenberg/heisenberg.h"
#include "models/lattice/clusters/clusters_step.h"
#include "models/lattice/replicas_gpu.h"

/* Returns the scratch of a sweep of this number of replicas by that move. */
static size_t
scratch_of(const struct heisenberg_cluster_gpu *arguments, uint32_t move, size_t replicas)
{
  return move == HEISENBERG_WOLFF ? heisenberg_wolff_scratch(arguments, replicas)
                                  : heisenberg_swendsen_wang_scratch(arguments, replicas);
}

size_t heisenberg_cluster_scratch_bytes(const struct gpumc_model *model,
                                        const struct gpumc_ensemble_plan *plan)
{
  const struct heisenberg_cluster_gpu arguments = {
      .replicas.lattice = heisenberg_gpu_lattice_of(&heisenberg_parameters(model)->lattice)};
  const size_t replicas = plan->runs * plan->capacity;
  size_t most = plan->channels > HEISENBERG_CLUSTER_SQUARE && heisenberg_cluster_is_planned(plan)
                    ? heisenberg_cluster_squares_scratch(&arguments, replicas)
                    : 0;
  for (uint32_t move = HEISENBERG_LOCAL_MOVES; move < HEISENBERG_MOVES; move++) {
    const size_t bytes = gpumc_plan_makes(plan, move) ? scratch_of(&arguments, move, replicas) : 0;
    most = bytes > most ? bytes : most;
  }
  return most;
}

/* Numbers of clusters travel with launches, each for some of the runs. */
static enum gpumc_status sweep_wolff(const struct gpumc_ensemble *ensemble,
                                     const struct heisenberg_cluster_gpu *arguments,
                                     struct gpumc_error *error)
{
  const uint64_t limit = lattice_wolff_limit(ensemble);
  struct lattice_wolff_part part;
  for (size_t m = 0; m < ensemble->runs; m += part.count) {
    part = lattice_wolff_part_of(ensemble->step, ensemble->runs, m, limit);
    GPUMC_TRY(heisenberg_wolff_sweep(arguments, &part, error));
  }
  return GPUMC_OK;
}

enum gpumc_status heisenberg_cluster_gpu_sweep(struct gpumc_ensemble *ensemble,
                                               const struct heisenberg_replicas *replicas,
                                               const struct heisenberg_rule *rules, uint32_t sweeps,
                                               struct gpumc_error *error)
{
  const struct gpumc_ensemble_plan *plan = &ensemble->plan;
  struct heisenberg_cluster_gpu arguments = {
      .replicas = *replicas,
      .rules = rules,
      .sweeps = sweeps,
      .block_threads = ensemble->device->block_threads,
      .accepted = ensemble->accepted,
  };
  const size_t bytes = scratch_of(&arguments, plan->move, ensemble->runs * plan->capacity);
  GPUMC_TRY(lattice_gpu_scratch(ensemble, bytes, &arguments.scratch, error));
  return plan->move == HEISENBERG_WOLFF ? sweep_wolff(ensemble, &arguments, error)
                                        : heisenberg_swendsen_wang_sweep(&arguments, error);
}

enum gpumc_status heisenberg_cluster_gpu_measure(struct gpumc_ensemble *ensemble,
                                                 const struct heisenberg_replicas *replicas,
                                                 const struct heisenberg_rule *rules,
                                                 const struct lattice_cluster_scale *scale,
                                                 uint32_t time, int64_t *const *channel,
                                                 struct gpumc_error *error)
{
  struct heisenberg_cluster_gpu_squares arguments = {
      .clusters = {.replicas = *replicas, .rules = rules},
      .scale = *scale,
      .time = time,
      .square = channel[HEISENBERG_CLUSTER_SQUARE],
      .wave = channel[HEISENBERG_CLUSTER_WAVE],
  };
  const size_t bytes = heisenberg_cluster_squares_scratch(&arguments.clusters,
                                                          ensemble->runs * ensemble->plan.capacity);
  if (arguments.square == NULL && arguments.wave == NULL)
    return GPUMC_OK;
  GPUMC_TRY(lattice_gpu_scratch(ensemble, bytes, &arguments.clusters.scratch, error));
  return heisenberg_cluster_squares_measure(&arguments, error);
}
