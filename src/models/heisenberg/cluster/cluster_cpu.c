/* Cluster moves of O(n) spins on the CPU: the sweeps of a replica. */
#include "core/simulation/steps.h"
#include "models/heisenberg/cluster/cluster.h"
#include "models/lattice/clusters/clusters_step.h"

/* The model's memory of an area: components along r, then marks, used blocks and their states, and
 * last the sums of measurements. */
static size_t along_bytes(size_t sites, size_t number_bytes)
{
  return lattice_clusters_lines(sites * number_bytes);
}
static size_t blocks_of(size_t sites)
{
  return (sites + HEISENBERG_CLUSTER_BLOCK - 1) / HEISENBERG_CLUSTER_BLOCK;
}
static size_t used_bytes(size_t sites)
{
  return lattice_clusters_lines(blocks_of(sites) * sizeof(uint32_t));
}

static size_t sweeping_bytes(size_t sites, size_t number_bytes)
{
  return along_bytes(sites, number_bytes) + lattice_clusters_lines(sites) + used_bytes(sites) +
         lattice_clusters_lines(blocks_of(sites));
}
static size_t sums_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  const struct lattice_wave wave = heisenberg_wave_of(model);
  return plan->channels > HEISENBERG_CLUSTER_SQUARE
             ? lattice_cluster_squares_bytes(&wave, model->sites)
             : 0;
}

static struct lattice_clusters_cpu
clusters_of(const struct gpumc_model *model, const struct gpumc_device *device,
            const struct gpumc_ensemble_plan *plan, size_t number_bytes)
{
  const size_t own = sweeping_bytes(model->sites, number_bytes) + sums_bytes(model, plan);
  return lattice_clusters_cpu_of(&heisenberg_parameters(model)->lattice, device, plan, own,
                                 gpumc_plan_makes(plan, HEISENBERG_SWENDSEN_WANG),
                                 gpumc_plan_makes(plan, HEISENBERG_WOLFF));
}

size_t heisenberg_cluster_cpu_bytes(const struct gpumc_model *model,
                                    const struct gpumc_device *device,
                                    const struct gpumc_ensemble_plan *plan, size_t number_bytes)
{
  const struct lattice_clusters_cpu clusters = clusters_of(model, device, plan, number_bytes);
  return heisenberg_cluster_is_planned(plan) ? lattice_clusters_cpu_bytes(&clusters) : 0;
}

enum gpumc_status
heisenberg_cluster_cpu_create(const struct gpumc_ensemble *ensemble, size_t number_bytes,
                              struct lattice_clusters_cpu *clusters, struct gpumc_error *error)
{
  if (!heisenberg_cluster_is_planned(&ensemble->plan))
    return GPUMC_OK;
  *clusters = clusters_of(ensemble->model, ensemble->device, &ensemble->plan, number_bytes);
  return lattice_clusters_cpu_create(clusters, error);
}

static size_t number_bytes_of(const struct heisenberg_cluster_sweep *with)
{
  return with->single ? sizeof(float) : sizeof(double);
}

static struct heisenberg_cluster_work work_of(const struct gpumc_ensemble *ensemble,
                                              const struct heisenberg_cluster_sweep *with,
                                              const struct lattice_cluster_part *part)
{
  const struct heisenberg_parameters *parameters = heisenberg_parameters(ensemble->model);
  const struct lattice_cpu_place *place = part->place;
  const double *control = with->control + place->run * HEISENBERG_CONTROLS;
  const size_t sites = ensemble->model->sites;
  struct heisenberg_cluster_work work = {
      .graph = part->graph,
      .components = parameters->components,
      .beta = control[HEISENBERG_BETA],
      .coupling = parameters->coupling * parameters->weight,
      .field = control[HEISENBERG_FIELD],
      .spins = place->data,
      .along = part->own,
      .marks = part->own + along_bytes(sites, number_bytes_of(with)),
  };
  uint8_t *used = work.marks + lattice_clusters_lines(sites);
  work.used = (uint32_t *)(void *)used;
  work.state = used + used_bytes(sites);
  if (with->couplings != NULL)
    work.couplings =
        with->couplings +
        with->sample_bytes * gpumc_ensemble_sample(&ensemble->plan, place->run, place->first);
  return work;
}

static const struct heisenberg_cluster_ops *
ops_of(const struct gpumc_ensemble *ensemble, const struct heisenberg_cluster_sweep *with)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  return with->single ? GPUMC_ISA_OBJECT(heisenberg_cluster_float, storage->isa)
                      : GPUMC_ISA_OBJECT(heisenberg_cluster_double, storage->isa);
}

/* The work of a thread in one sweep. */
static void swendsen_wang(const struct heisenberg_cluster_ops *ops,
                          const struct heisenberg_cluster_work *work,
                          const struct lattice_cluster_part *part)
{
  ops->project(work, part->first, part->end);
  lattice_cluster_wait(part);
  ops->bind(work, part->first, part->end);
  lattice_cluster_wait(part);
  ops->join(work, part->end);
  lattice_cluster_wait(part);
  ops->name(work, part->first, part->end);
  lattice_cluster_wait(part);
  ops->flip(work, part->first, part->end);
  lattice_cluster_wait(part);
}

/* lattice_cluster_sweeps */
static void sweep_replica(const struct gpumc_ensemble *ensemble,
                          const struct lattice_cluster_part *part, uint32_t sweeps)
{
  const struct heisenberg_cluster_ops *ops = ops_of(ensemble, part->with);
  struct heisenberg_cluster_work work = work_of(ensemble, part->with, part);
  const size_t run = part->place->run;
  const uint64_t limit = lattice_wolff_limit(ensemble);
  for (uint32_t s = 0; s < sweeps; s++, work.graph.time++)
    if (ensemble->plan.move == HEISENBERG_WOLFF)
      gpumc_steps_count(ensemble, run, ops->wolff(&work, (uint32_t)ensemble->step[run], limit));
    else
      swendsen_wang(ops, &work, part);
}

void heisenberg_cluster_cpu_sweep(const struct gpumc_ensemble *ensemble,
                                  const struct heisenberg_cluster_sweep *with, uint32_t sweeps)
{
  lattice_clusters_cpu_sweep(ensemble, with->clusters, with, sweep_replica, sweeps);
}

/* ---- measurements ---- */

struct measurement {
  const struct heisenberg_cluster_sweep *with;
  const struct lattice_cluster_scale *scale;
  uint32_t time;
  int64_t *const *channel;
};

/* lattice_cluster_sweeps, of which it makes none. */
static void measure_replica(const struct gpumc_ensemble *ensemble,
                            const struct lattice_cluster_part *part, uint32_t sweeps)
{
  const struct measurement *of = part->with;
  const struct lattice_cpu_place *place = part->place;
  const struct heisenberg_cluster_ops *ops = ops_of(ensemble, of->with);
  struct heisenberg_cluster_work work = work_of(ensemble, of->with, part);
  const struct lattice_cluster_squares squares = lattice_cluster_squares_of(
      part, of->scale,
      part->own + sweeping_bytes(ensemble->model->sites, number_bytes_of(of->with)),
      of->channel[HEISENBERG_CLUSTER_SQUARE], of->channel[HEISENBERG_CLUSTER_WAVE]);
  (void)sweeps;
  work.measures = true;
  work.graph.time = of->time;
  ops->project(&work, part->first, part->end);
  lattice_cluster_wait(part);
  ops->bind(&work, part->first, part->end);
  lattice_cluster_wait(part);
  ops->join(&work, part->end);
  lattice_cluster_wait(part);
  ops->name(&work, part->first, part->end);
  lattice_cluster_wait(part);
  lattice_cluster_squares_measure(&squares, part, ops->sum, &work,
                                  place->run * ensemble->plan.capacity + place->first);
}

void heisenberg_cluster_cpu_measure(const struct gpumc_ensemble *ensemble,
                                    const struct heisenberg_cluster_sweep *with, uint32_t time,
                                    const struct lattice_cluster_scale *scale,
                                    int64_t *const *channel)
{
  const struct measurement of = {with, scale, time, channel};
  if (channel[HEISENBERG_CLUSTER_SQUARE] == NULL && channel[HEISENBERG_CLUSTER_WAVE] == NULL)
    return;
  lattice_clusters_cpu_sweep(ensemble, with->clusters, &of, measure_replica, 0);
}
