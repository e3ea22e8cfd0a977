/* Cluster moves of the kernel `spin` on the CPU: working memory, samples by site, and threads: over
 * replicas, or over the layers of one lattice after the other if there are few and large ones. */
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/simulation/steps.h"
#include "models/ising/cluster/cluster.h"
#include "models/ising/cluster/cluster_samples.h"
#include "models/ising/ising.h"
#include "models/lattice/replicas_cpu.h"

enum {
  CACHE_LINE = 64,
  BEYOND = 256,           /* bytes that vectors reach beyond an array */
  SHARED_SITES = 1 << 12, /* of a thread, in a lattice that is the work of several: they wait for
                           * each other four times a sweep */
  SHARED_REPLICAS = 2     /* a thread: with that many or more, each has replicas of its own */
};

/* ---- memory ---- */

static struct ising_cluster_lattice lattice_of(const struct gpumc_model *model)
{
  struct ising_cluster_lattice lattice = {.checkerboard = ising_parameters(model)->lattice};
  const struct gpumc_checkerboard *shape = &lattice.checkerboard;
  const bool cubic = shape->dimension == 3;
  lattice.sites = 2 * shape->colour;
  lattice.layers = cubic ? shape->length_z : shape->length_y;
  lattice.layer = lattice.sites / lattice.layers;
  return lattice;
}

static size_t whole_lines(size_t bytes)
{
  return (bytes + BEYOND + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

/* The parts of an area, in this order. */
static size_t spins_bytes(size_t sites)
{
  return whole_lines(sites);
}
static size_t labels_bytes(size_t sites)
{
  return whole_lines(sites * sizeof(uint32_t));
}
static size_t flips_bytes(size_t sites)
{
  return whole_lines((sites + ISING_CLUSTER_NAMES - 1) / ISING_CLUSTER_NAMES *
                     (ISING_CLUSTER_NAMES / 8));
}

/* Sets the sizes of a description, without memory. */
static struct ising_cluster_cpu clusters_of(const struct gpumc_model *model,
                                            const struct gpumc_device *device,
                                            const struct gpumc_ensemble_plan *plan)
{
  const struct lattice_disorder_traits traits = ising_disorder_traits(model);
  const size_t replicas = plan->runs * plan->capacity, sites = model->sites;
  const size_t threads = device->threads < 1 ? 1 : (size_t)device->threads;
  struct ising_cluster_cpu clusters = {.lattice = lattice_of(model),
                                       .random_fields = traits.fields};
  const size_t most = sites / SHARED_SITES, layers = clusters.lattice.layers;
  const size_t sharing = most < layers ? most : layers;
  clusters.shared = gpumc_plan_makes(plan, ISING_MOVE_SWENDSEN_WANG) &&
                    !gpumc_plan_makes(plan, ISING_MOVE_WOLFF) &&
                    replicas < SHARED_REPLICAS * threads && sharing > 1;
  clusters.threads = (int)(clusters.shared && sharing < threads ? sharing : threads);
  clusters.areas = clusters.shared ? 1 : replicas < threads ? replicas : threads;
  clusters.area_bytes = 2 * spins_bytes(sites) + labels_bytes(sites) + flips_bytes(sites);
  clusters.sample_terms = ising_cluster_sample_terms(model);
  return clusters;
}

size_t ising_cluster_cpu_bytes(const struct gpumc_model *model, const struct gpumc_device *device,
                               const struct gpumc_ensemble_plan *plan)
{
  const struct ising_cluster_cpu clusters = clusters_of(model, device, plan);
  if (!ising_cluster_is_planned(plan))
    return 0;
  return clusters.areas * clusters.area_bytes + plan->runs * sizeof *clusters.rule +
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
  GPUMC_TRY(gpumc_allocate_array(&clusters->area, clusters->areas * clusters->area_bytes,
                                 "bonds and clusters", error));
  return create_samples(ensemble->model, plan, clusters, error);
}

void ising_cluster_cpu_free(struct ising_cluster_cpu *clusters)
{
  free(clusters->rule);
  free(clusters->terms);
  free(clusters->area);
}

/* ---- sweeps ---- */

static void set_rules(const struct gpumc_ensemble *ensemble,
                      const struct ising_cluster_cpu *clusters, const double *control)
{
  const struct gpumc_model *model = ensemble->model;
  for (size_t m = 0; m < ensemble->runs; m++) {
    const double *at = ising_controls_of(control, m);
    clusters->rule[m] =
        ising_cluster_rule_of(at[ISING_BETA], ising_parameters(model)->coupling, at[ISING_FIELD],
                              model->quantum[ISING_ENERGY],
                              clusters->lattice.checkerboard.dimension, clusters->random_fields);
  }
}

static struct ising_cluster_work work_of(const struct gpumc_ensemble *ensemble,
                                         const struct ising_cluster_cpu *clusters,
                                         const struct lattice_cpu_place *place, size_t area)
{
  const size_t sites = clusters->lattice.sites;
  uint8_t *memory = clusters->area + area * clusters->area_bytes;
  struct ising_cluster_work work = {
      .lattice = &clusters->lattice,
      .rule = clusters->rule[place->run],
      .random_fields = clusters->random_fields,
      .random = gpumc_ensemble_random(ensemble, place->run),
      .replica = place->number,
      .time = ensemble->time,
      .spins = memory,
      .bonds = memory + spins_bytes(sites),
      .label = (uint32_t *)(void *)(memory + 2 * spins_bytes(sites)),
      .flips = (uint32_t *)(void *)(memory + 2 * spins_bytes(sites) + labels_bytes(sites)),
  };
  if (clusters->terms != NULL)
    work.terms =
        clusters->terms +
        clusters->sample_terms * gpumc_ensemble_sample(&ensemble->plan, place->run, place->first);
  return work;
}

static const struct ising_cluster_ops *ops_of(const struct gpumc_ensemble *ensemble)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  return GPUMC_ISA_OBJECT(ising_cluster, storage->isa);
}

/* Waits for the other threads of a team that share a lattice. */
static void wait_for_all(bool shared)
{
  if (shared) {
#pragma omp barrier
  }
}

/* The work of a thread, all of the lattice unless it is shared, in one sweep. */
static void swendsen_wang(const struct ising_cluster_ops *ops,
                          const struct ising_cluster_work *work, size_t first, size_t end,
                          bool shared)
{
  ops->bind(work, first, end);
  wait_for_all(shared);
  ops->join(work, end);
  wait_for_all(shared);
  ops->name(work, first, end);
  wait_for_all(shared);
  if (!work->rule.has_field)
    return;
  ops->flip(work, first, end);
  wait_for_all(shared);
}

/* Sweeps the replica in a thread's area: alone, or with the threads first .. of a team. */
static void sweep_replica(const struct gpumc_ensemble *ensemble,
                          const struct ising_cluster_cpu *clusters,
                          const struct lattice_cpu_place *place, uint32_t sweeps)
{
  const bool shared = clusters->shared;
  const size_t thread = (size_t)omp_get_thread_num();
  const size_t threads = shared ? (size_t)omp_get_num_threads() : 1, part = shared ? thread : 0;
  const size_t layers = clusters->lattice.layers;
  const size_t first = part * layers / threads, end = (part + 1) * layers / threads;
  const struct ising_cluster_ops *ops = ops_of(ensemble);
  struct ising_cluster_work work = work_of(ensemble, clusters, place, shared ? 0 : thread);
  ops->load(&work, place->data, first, end);
  wait_for_all(shared);
  for (uint32_t s = 0; s < sweeps; s++, work.time++)
    if (ensemble->plan.move == ISING_MOVE_WOLFF)
      gpumc_steps_count(ensemble, place->run,
                        ops->wolff(&work, (uint32_t)ensemble->step[place->run]));
    else
      swendsen_wang(ops, &work, first, end, shared);
  ops->store(&work, place->data, first, end);
  wait_for_all(shared);
}

/* All threads go through all replicas together. */
static void sweep_shared(const struct gpumc_ensemble *ensemble,
                         const struct ising_cluster_cpu *clusters, uint32_t sweeps)
{
  const size_t places = lattice_cpu_places(ensemble);
#pragma omp parallel num_threads(clusters->threads)
  for (size_t i = 0; i < places; i++) {
    const struct lattice_cpu_place place = lattice_cpu_place(ensemble, i);
    if (place.count > 0)
      sweep_replica(ensemble, clusters, &place, sweeps);
  }
}

void ising_cluster_cpu_sweep(const struct gpumc_ensemble *ensemble,
                             const struct ising_cluster_cpu *clusters, const double *control,
                             uint32_t sweeps)
{
  const size_t places = lattice_cpu_places(ensemble);
  set_rules(ensemble, clusters, control);
  if (clusters->shared) {
    sweep_shared(ensemble, clusters, sweeps);
    return;
  }
#pragma omp parallel for schedule(dynamic, 1)                                                      \
    num_threads((int)clusters->areas) if (clusters->areas > 1)
  for (size_t i = 0; i < places; i++) {
    const struct lattice_cpu_place place = lattice_cpu_next_place(ensemble, 0, ensemble->runs, i);
    if (place.count > 0)
      sweep_replica(ensemble, clusters, &place, sweeps);
  }
}
