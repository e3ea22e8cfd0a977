/* Memory and threads of cluster moves on the CPU. */
#include "models/lattice/clusters/clusters_cpu.h"

#include <stdlib.h>

#include "core/base/memory.h"

enum {
  CACHE_LINE = 64,
  BEYOND = 256,           /* bytes that vectors reach beyond an array */
  SHARED_SITES = 1 << 12, /* of a thread, in a lattice that is the work of several: they wait for
                           * each other four times a sweep */
  SHARED_REPLICAS = 2     /* a thread: with that many or more, each has replicas of its own */
};

/* ---- memory ---- */

size_t lattice_clusters_lines(size_t bytes)
{
  return (bytes + BEYOND + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

/* The parts of an area, in this order, after the model's. */
static size_t bonds_bytes(size_t sites)
{
  return lattice_clusters_lines(sites);
}
static size_t labels_bytes(size_t sites)
{
  return lattice_clusters_lines(sites * sizeof(uint32_t));
}
static size_t flips_bytes(size_t sites)
{
  return lattice_clusters_lines((sites + LATTICE_CLUSTER_NAMES - 1) / LATTICE_CLUSTER_NAMES *
                                (LATTICE_CLUSTER_NAMES / 8));
}

struct lattice_clusters_cpu lattice_clusters_cpu_of(const struct gpumc_checkerboard *lattice,
                                                    const struct gpumc_device *device,
                                                    const struct gpumc_ensemble_plan *plan,
                                                    size_t own_bytes, bool layered, bool alone)
{
  const size_t replicas = plan->runs * plan->capacity;
  const size_t threads = device->threads < 1 ? 1 : (size_t)device->threads;
  struct lattice_clusters_cpu clusters = {.shape = lattice_cluster_shape_of(lattice),
                                          .own_bytes = own_bytes};
  const size_t sites = clusters.shape.sites, layers = clusters.shape.layers;
  const size_t most = sites / SHARED_SITES, sharing = most < layers ? most : layers;
  clusters.shared = layered && !alone && replicas < SHARED_REPLICAS * threads && sharing > 1;
  clusters.threads = (int)(clusters.shared && sharing < threads ? sharing : threads);
  clusters.areas = clusters.shared ? 1 : replicas < threads ? replicas : threads;
  clusters.area_bytes = own_bytes + bonds_bytes(sites) + labels_bytes(sites) + flips_bytes(sites);
  return clusters;
}

enum gpumc_status
lattice_clusters_cpu_create(struct lattice_clusters_cpu *clusters, struct gpumc_error *error)
{
  return gpumc_allocate_array(&clusters->area, clusters->areas * clusters->area_bytes,
                              "bonds and clusters", error);
}

void lattice_clusters_cpu_free(struct lattice_clusters_cpu *clusters)
{
  free(clusters->area);
}

/* ---- sweeps ---- */

/* Returns the part of the calling thread: the replica in its area, or its share of it. */
static struct lattice_cluster_part part_of(const struct gpumc_ensemble *ensemble,
                                           const struct lattice_clusters_cpu *clusters,
                                           const void *with, const struct lattice_cpu_place *place)
{
  const bool shared = clusters->shared;
  const size_t thread = (size_t)omp_get_thread_num(), sites = clusters->shape.sites;
  const size_t threads = shared ? (size_t)omp_get_num_threads() : 1, number = shared ? thread : 0;
  const size_t layers = clusters->shape.layers;
  uint8_t *memory = clusters->area + (shared ? 0 : thread) * clusters->area_bytes;
  uint8_t *bonds = memory + clusters->own_bytes, *labels = bonds + bonds_bytes(sites);
  return (struct lattice_cluster_part){
      .clusters = clusters,
      .with = with,
      .graph = {.shape = &clusters->shape,
                .random = gpumc_ensemble_random(ensemble, place->run),
                .replica = place->number,
                .time = ensemble->time,
                .bonds = bonds,
                .label = (uint32_t *)(void *)labels,
                .flips = (uint32_t *)(void *)(labels + labels_bytes(sites))},
      .place = place,
      .first = number * layers / threads,
      .end = (number + 1) * layers / threads,
      .own = memory,
  };
}

/* All threads go through all replicas together. */
static void sweep_shared(const struct gpumc_ensemble *ensemble,
                         const struct lattice_clusters_cpu *clusters, const void *with,
                         lattice_cluster_sweeps *sweep, uint32_t sweeps)
{
  const size_t places = lattice_cpu_places(ensemble);
#pragma omp parallel num_threads(clusters->threads)
  for (size_t i = 0; i < places; i++) {
    const struct lattice_cpu_place place = lattice_cpu_place(ensemble, i);
    const struct lattice_cluster_part part = part_of(ensemble, clusters, with, &place);
    if (place.count > 0)
      sweep(ensemble, &part, sweeps);
    lattice_cluster_wait(&part);
  }
}

void lattice_clusters_cpu_sweep(const struct gpumc_ensemble *ensemble,
                                const struct lattice_clusters_cpu *clusters, const void *with,
                                lattice_cluster_sweeps *sweep, uint32_t sweeps)
{
  const size_t places = lattice_cpu_places(ensemble);
  if (clusters->shared) {
    sweep_shared(ensemble, clusters, with, sweep, sweeps);
    return;
  }
#pragma omp parallel for schedule(dynamic, 1)                                                      \
    num_threads((int)clusters->areas) if (clusters->areas > 1)
  for (size_t i = 0; i < places; i++) {
    const struct lattice_cpu_place place = lattice_cpu_next_place(ensemble, 0, ensemble->runs, i);
    const struct lattice_cluster_part part = part_of(ensemble, clusters, with, &place);
    if (place.count > 0)
      sweep(ensemble, &part, sweeps);
  }
}
