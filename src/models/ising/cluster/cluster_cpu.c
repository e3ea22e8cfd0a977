/* Cluster moves of the kernel `spin` on the CPU: rules of the runs, samples by site, the sweeps of
 * a replica, and what is measured from its clusters. */
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/simulation/steps.h"
#include "models/ising/cluster/cluster.h"
#include "models/ising/cluster/cluster_samples.h"
#include "models/ising/ising.h"
#include "models/ising/ising_channels.h"
#include "models/lattice/clusters/clusters_step.h"
#include "models/lattice/replicas_cpu.h"

/* ---- memory ---- */

static size_t parts_of(size_t length, size_t extent)
{
  return (length + extent - 1) / extent;
}

/* Returns the bytes of the words of a replica: of rows, or of tiles. */
static size_t words_bytes(const struct gpumc_checkerboard *lattice)
{
  const size_t length[] = {lattice->length_x, lattice->length_y, lattice->length_z};
  const size_t extent = ising_wolff_extent((uint32_t)lattice->dimension);
  size_t of_rows = parts_of(length[0], ISING_ROW_WORD), of_tiles = 1;
  for (size_t d = 0; d < LATTICE_DIMENSIONS_MAXIMUM; d++) {
    of_rows *= d > 0 ? length[d] : 1;
    of_tiles *= parts_of(length[d], d < lattice->dimension ? extent : 1);
  }
  return (of_rows > of_tiles ? of_rows : of_tiles) * ISING_ROW_WORD_BYTES;
}

/* Returns the bytes of sums by name, which follow the spins of an area. */
static size_t sums_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  const struct lattice_wave wave = ising_wave_of(model);
  return plan->channels > ISING_CLUSTER_SQUARE ? lattice_cluster_squares_bytes(&wave, model->sites)
                                               : 0;
}

/* Returns the bytes of an area for sweeps, and for measurements. */
static size_t own_bytes(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  const size_t sums = sums_bytes(model, plan);
  const size_t measuring = sums > 0 ? lattice_clusters_lines(model->sites) + sums : 0;
  const size_t sweeping = words_bytes(&ising_parameters(model)->lattice);
  return sweeping > measuring ? sweeping : measuring;
}

/* Sets the sizes of a description, without memory. */
static struct ising_cluster_cpu clusters_of(const struct gpumc_model *model,
                                            const struct gpumc_device *device,
                                            const struct gpumc_ensemble_plan *plan)
{
  return (struct ising_cluster_cpu){
      .memory = lattice_clusters_cpu_of(&ising_parameters(model)->lattice, device, plan,
                                        own_bytes(model, plan),
                                        gpumc_plan_makes(plan, ISING_MOVE_SWENDSEN_WANG),
                                        gpumc_plan_makes(plan, ISING_MOVE_WOLFF)),
      .random_fields = ising_disorder_traits(model).fields,
      .sample_terms = ising_cluster_sample_terms(model),
  };
}

size_t ising_cluster_cpu_bytes(const struct gpumc_model *model, const struct gpumc_device *device,
                               const struct gpumc_ensemble_plan *plan)
{
  const struct ising_cluster_cpu clusters = clusters_of(model, device, plan);
  if (!ising_cluster_is_planned(plan))
    return 0;
  return lattice_clusters_cpu_bytes(&clusters.memory) + plan->runs * sizeof *clusters.rule +
         plan->samples * clusters.sample_terms * sizeof *clusters.terms;
}

static enum gpumc_status
create_samples(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan,
               struct ising_cluster_cpu *clusters, struct gpumc_error *error)
{
  if (clusters->sample_terms == 0)
    return GPUMC_OK;
  GPUMC_TRY(gpumc_allocate_array(&clusters->terms, plan->samples * clusters->sample_terms,
                                 "samples by site", error));
  for (size_t s = 0; s < plan->samples; s++)
    GPUMC_TRY(ising_cluster_sample(model, plan->first_sample + s,
                                   clusters->terms + s * clusters->sample_terms, error));
  return GPUMC_OK;
}

enum gpumc_status ising_cluster_cpu_create(const struct gpumc_ensemble *ensemble,
                                           struct ising_cluster_cpu *clusters,
                                           struct gpumc_error *error)
{
  const struct gpumc_ensemble_plan *plan = &ensemble->plan;
  if (!ising_cluster_is_planned(plan))
    return GPUMC_OK;
  *clusters = clusters_of(ensemble->model, ensemble->device, plan);
  GPUMC_TRY(gpumc_allocate_array(&clusters->rule, plan->runs, "rules of the runs", error));
  GPUMC_TRY(lattice_clusters_cpu_create(&clusters->memory, error));
  return create_samples(ensemble->model, plan, clusters, error);
}

void ising_cluster_cpu_free(struct ising_cluster_cpu *clusters)
{
  free(clusters->rule);
  free(clusters->terms);
  lattice_clusters_cpu_free(&clusters->memory);
}

/* ---- replicas ---- */

static void set_rules(const struct gpumc_ensemble *ensemble,
                      const struct ising_cluster_cpu *clusters, const double *control)
{
  const struct gpumc_model *model = ensemble->model;
  for (size_t m = 0; m < ensemble->runs; m++) {
    const double *at = ising_controls_of(control, m);
    clusters->rule[m] = ising_cluster_rule_of(at[ISING_BETA], ising_parameters(model)->coupling,
                                              at[ISING_FIELD], model->quantum[ISING_ENERGY],
                                              clusters->memory.shape.checkerboard.dimension,
                                              clusters->random_fields);
  }
}

static struct ising_cluster_work work_of(const struct gpumc_ensemble *ensemble,
                                         const struct ising_cluster_cpu *clusters,
                                         const struct lattice_cluster_part *part)
{
  const struct lattice_cpu_place *place = part->place;
  struct ising_cluster_work work = {.graph = part->graph,
                                    .rule = clusters->rule[place->run],
                                    .random_fields = clusters->random_fields,
                                    .words = (struct ising_cluster_word *)(void *)part->own,
                                    .turns = part->graph.bonds,
                                    .spins = part->own};
  if (clusters->terms != NULL)
    work.terms =
        clusters->terms +
        clusters->sample_terms * gpumc_ensemble_sample(&ensemble->plan, place->run, place->first);
  return work;
}

static enum gpumc_isa isa_of(const struct gpumc_ensemble *ensemble)
{
  return ((const struct lattice_cpu_storage *)ensemble->storage)->isa;
}

/* Makes sweeps by Swendsen and Wang, as one thread of those that share the lattice. */
static void swendsen_wang(const struct ising_runs_ops *ops, struct ising_cluster_work *work,
                          const struct lattice_cluster_part *part, uint32_t sweeps)
{
  ops->load(work, part->place->data, part->first, part->end);
  lattice_cluster_wait(part);
  for (uint32_t s = 0; s < sweeps; s++, work->graph.time++) {
    ops->bind(work, part->first, part->end);
    lattice_cluster_wait(part);
    ops->join(work, part->end);
    lattice_cluster_wait(part);
    if (work->rule.has_field) {
      ops->hold(work, part->first, part->end);
      lattice_cluster_wait(part);
    }
    ops->flip(work, part->first, part->end);
    lattice_cluster_wait(part);
  }
  ops->store(work, part->place->data, part->first, part->end);
}

/* Makes sweeps of Wolff's clusters. Returns the spins that they flipped. */
static uint64_t wolff(const struct ising_wolff_ops *ops, struct ising_cluster_work *work,
                      uint8_t *coloured, uint32_t clusters, uint64_t limit, uint32_t sweeps)
{
  uint64_t flipped = 0;
  ops->load(work, coloured);
  for (uint32_t s = 0; s < sweeps; s++, work->graph.time++)
    flipped += ops->sweep(work, clusters, limit);
  ops->store(work, coloured);
  return flipped;
}

/* lattice_cluster_sweeps */
static void sweep_replica(const struct gpumc_ensemble *ensemble,
                          const struct lattice_cluster_part *part, uint32_t sweeps)
{
  const struct lattice_cpu_place *place = part->place;
  struct ising_cluster_work work = work_of(ensemble, part->with, part);
  if (ensemble->plan.move == ISING_MOVE_WOLFF)
    gpumc_steps_count(ensemble, place->run,
                      wolff(GPUMC_ISA_OBJECT(ising_wolff, isa_of(ensemble)), &work, place->data,
                            (uint32_t)ensemble->step[place->run], lattice_wolff_limit(ensemble),
                            sweeps));
  else
    swendsen_wang(GPUMC_ISA_OBJECT(ising_runs, isa_of(ensemble)), &work, part, sweeps);
}

void ising_cluster_cpu_sweep(const struct gpumc_ensemble *ensemble,
                             const struct ising_cluster_cpu *clusters, const double *control,
                             uint32_t sweeps)
{
  set_rules(ensemble, clusters, control);
  lattice_clusters_cpu_sweep(ensemble, &clusters->memory, clusters, sweep_replica, sweeps);
}

/* ---- measurements ---- */

struct measurement {
  const struct ising_cluster_cpu *clusters;
  const struct lattice_cluster_scale *scale;
  uint32_t time;
  int64_t *const *channel;
};

/* lattice_cluster_sweeps, of which it makes none. */
static void measure_replica(const struct gpumc_ensemble *ensemble,
                            const struct lattice_cluster_part *part, uint32_t sweeps)
{
  const struct measurement *with = part->with;
  const struct lattice_cpu_place *place = part->place;
  const struct ising_cluster_ops *ops = GPUMC_ISA_OBJECT(ising_cluster, isa_of(ensemble));
  struct ising_cluster_work work = work_of(ensemble, with->clusters, part);
  const struct lattice_cluster_squares squares = lattice_cluster_squares_of(
      part, with->scale, part->own + lattice_clusters_lines(part->clusters->shape.sites),
      with->channel[ISING_CLUSTER_SQUARE], with->channel[ISING_CLUSTER_WAVE]);
  (void)sweeps;
  work.graph.time = with->time;
  ops->load(&work, place->data, part->first, part->end);
  lattice_cluster_wait(part);
  ops->bind(&work, part->first, part->end);
  lattice_cluster_wait(part);
  ops->join(&work, part->end);
  lattice_cluster_wait(part);
  ops->name(&work, part->first, part->end);
  lattice_cluster_wait(part);
  lattice_cluster_squares_measure(&squares, part, ising_cluster_sum, &work,
                                  place->run * ensemble->plan.capacity + place->first);
}

void ising_cluster_cpu_measure(const struct gpumc_ensemble *ensemble,
                               const struct ising_cluster_cpu *clusters, const double *control,
                               uint32_t time, const struct lattice_cluster_scale *scale,
                               int64_t *const *channel)
{
  const struct measurement with = {clusters, scale, time, channel};
  if (channel[ISING_CLUSTER_SQUARE] == NULL && channel[ISING_CLUSTER_WAVE] == NULL)
    return;
  set_rules(ensemble, clusters, control);
  lattice_clusters_cpu_sweep(ensemble, &clusters->memory, &with, measure_replica, 0);
}
