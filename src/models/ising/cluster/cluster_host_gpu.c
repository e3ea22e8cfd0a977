/* Cluster moves of the kernel `spin` on a GPU: samples by site, arguments of the drivers, and which
 * of them sweeps. */
#include "models/ising/cluster/cluster_host_gpu.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/memory.h"
#include "models/ising/cluster/cluster.h"
#include "models/ising/cluster/cluster_samples.h"
#include "models/ising/ising.h"
#include "models/lattice/clusters/clusters_step.h"
#include "models/lattice/replicas_gpu.h"

size_t
ising_cluster_table_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  if (!ising_cluster_is_planned(plan))
    return 0;
  return plan->samples * ising_cluster_sample_terms(model) * sizeof(int32_t);
}

enum gpumc_status
ising_cluster_table_fill(struct gpumc_ensemble *ensemble, void *table, struct gpumc_error *error)
{
  struct gpumc_device *device = ensemble->device;
  const struct gpumc_ensemble_plan *plan = &ensemble->plan;
  const size_t terms = ising_cluster_sample_terms(ensemble->model);
  int32_t *sample;
  if (ising_cluster_table_bytes(ensemble->model, plan) == 0)
    return GPUMC_OK;
  GPUMC_TRY(gpumc_allocate_array(&sample, terms, "a sample by site", error));
  enum gpumc_status status = GPUMC_OK;
  for (size_t s = 0; s < plan->samples; s++) {
    GPUMC_TRY_OUT(status,
                  ising_cluster_sample(ensemble->model, plan->first_sample + s, sample, error));
    GPUMC_TRY_OUT(status, device->ops->copy_to_device(device, (int32_t *)table + s * terms, sample,
                                                      terms * sizeof *sample, error));
  }
out:
  free(sample);
  return status;
}

static struct ising_cluster_gpu arguments_of(const struct ising_spin_replicas *replicas,
                                             const struct gpumc_model *model,
                                             const struct gpumc_ensemble_plan *plan)
{
  const struct gpumc_checkerboard *lattice = &ising_parameters(model)->lattice;
  const uint32_t length[ISING_CLUSTER_AXES] = {
      (uint32_t)lattice->length_x, (uint32_t)lattice->length_y, (uint32_t)lattice->length_z};
  return (struct ising_cluster_gpu){
      .replicas = *replicas,
      .tiling = ising_cluster_tiling_make((uint32_t)lattice->dimension, length),
      .sample_terms = ising_cluster_sample_terms(model),
      .samples = (uint32_t)plan->samples,
      .random_fields = ising_disorder_traits(model).fields,
  };
}

/* Returns the scratch of a sweep of this number of replicas by that move. */
static size_t scratch_of(const struct ising_cluster_gpu *arguments, uint32_t move, size_t replicas)
{
  if (move == ISING_MOVE_WOLFF)
    return ising_cluster_wolff_scratch(arguments, replicas);
  return ising_cluster_block_fits(arguments) ? 0 : ising_cluster_tiles_scratch(arguments, replicas);
}

size_t ising_cluster_scratch_bytes(const struct ising_spin_replicas *replicas,
                                   const struct gpumc_model *model,
                                   const struct gpumc_ensemble_plan *plan)
{
  const struct ising_cluster_gpu arguments = arguments_of(replicas, model, plan);
  size_t most = 0;
  for (uint32_t move = ISING_LOCAL_MOVES; move < ISING_MOVES; move++) {
    const size_t bytes = gpumc_plan_makes(plan, move)
                             ? scratch_of(&arguments, move, plan->runs * plan->capacity)
                             : 0;
    most = bytes > most ? bytes : most;
  }
  if (ising_cluster_is_planned(plan) && plan->channels > ISING_CLUSTER_SQUARE) {
    const size_t bytes = ising_cluster_squares_scratch(&arguments, plan->runs * plan->capacity);
    most = bytes > most ? bytes : most;
  }
  return most;
}

/* Returns whether any run has a field. */
static bool has_fields(const struct gpumc_ensemble *ensemble, const double *control)
{
  bool has = ising_disorder_traits(ensemble->model).fields;
  for (size_t m = 0; m < ensemble->runs; m++)
    has = has || ising_controls_of(control, m)[ISING_FIELD] != 0.0;
  return has;
}

/* Numbers of clusters travel with launches, each for some of the runs. */
static enum gpumc_status sweep_wolff(const struct gpumc_ensemble *ensemble,
                                     struct ising_cluster_gpu *arguments, struct gpumc_error *error)
{
  const uint64_t limit = lattice_wolff_limit(ensemble);
  struct lattice_wolff_part part;
  for (size_t m = 0; m < ensemble->runs; m += part.count) {
    part = lattice_wolff_part_of(ensemble->step, ensemble->runs, m, limit);
    GPUMC_TRY(ising_cluster_wolff_sweep(arguments, &part, error));
  }
  return GPUMC_OK;
}

/* Returns the arguments for the present runs. */
static struct ising_cluster_gpu
present_arguments(const struct gpumc_ensemble *ensemble, const struct ising_spin_replicas *replicas,
                  const struct ising_tables *tables, const void *table, const double *control)
{
  struct ising_cluster_gpu arguments = arguments_of(replicas, ensemble->model, &ensemble->plan);
  arguments.rules = tables->rules;
  arguments.by_run = tables->by_run;
  arguments.plan_runs = tables->plan_runs;
  arguments.terms = arguments.sample_terms > 0 ? table : NULL;
  arguments.fields = has_fields(ensemble, control);
  return arguments;
}

enum gpumc_status
ising_cluster_gpu_sweep(struct gpumc_ensemble *ensemble, const struct ising_spin_replicas *replicas,
                        const struct ising_tables *tables, const void *table, const double *control,
                        uint32_t sweeps, struct gpumc_error *error)
{
  const struct gpumc_ensemble_plan *plan = &ensemble->plan;
  struct ising_cluster_gpu arguments =
      present_arguments(ensemble, replicas, tables, table, control);
  arguments.sweeps = sweeps;
  arguments.accepted = ensemble->accepted;
  const size_t bytes = scratch_of(&arguments, plan->move, ensemble->runs * plan->capacity);
  if (bytes > 0)
    GPUMC_TRY(lattice_gpu_scratch(ensemble, bytes, &arguments.scratch, error));
  if (plan->move == ISING_MOVE_WOLFF)
    return sweep_wolff(ensemble, &arguments, error);
  return ising_cluster_block_fits(&arguments) ? ising_cluster_block_sweep(&arguments, error)
                                              : ising_cluster_tiles_sweep(&arguments, error);
}

enum gpumc_status ising_cluster_gpu_measure(struct gpumc_ensemble *ensemble,
                                            const struct ising_spin_replicas *replicas,
                                            const struct ising_tables *tables, const void *table,
                                            const double *control, uint32_t time,
                                            int64_t *const *channel, struct gpumc_error *error)
{
  struct gpumc_ensemble of_clusters = *ensemble;
  struct ising_cluster_gpu_squares arguments = {
      .clusters = present_arguments(ensemble, replicas, tables, table, control),
      .scale = {.wave = tables->wave,
                .shift = (uint32_t)ilogb(ensemble->model->quantum[ISING_CLUSTER_SQUARE]),
                .cosine = tables->cosine,
                .sine = tables->sine},
      .time = time,
      .square = channel[ISING_CLUSTER_SQUARE],
      .wave = channel[ISING_CLUSTER_WAVE],
  };
  if (arguments.square == NULL && arguments.wave == NULL)
    return GPUMC_OK;
  /* Rules are those of the move that they are for. */
  of_clusters.plan.move = ISING_MOVE_SWENDSEN_WANG;
  GPUMC_TRY(ising_tables_set_rules(&of_clusters, tables, control, error));
  const size_t bytes =
      ising_cluster_squares_scratch(&arguments.clusters, ensemble->runs * ensemble->plan.capacity);
  GPUMC_TRY(lattice_gpu_scratch(ensemble, bytes, &arguments.clusters.scratch, error));
  return ising_cluster_squares_measure(&arguments, error);
}
