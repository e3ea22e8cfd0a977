/* Wolff's clusters of one replica of O(n) spins in device memory, by the threads of a block: for
 * both compilers, so that tests can run them with one thread.
 *
 * A cluster grows by all bonds of the sites that came last at once. Nothing depends on their
 * order. */
#ifndef GPUMC_HEISENBERG_CLUSTER_GROW_CUH
#define GPUMC_HEISENBERG_CLUSTER_GROW_CUH

#include "models/heisenberg/cluster/cluster_site.cuh"

/* The threads of a block. */
struct heisenberg_team {
  uint32_t thread, threads;
  GPUMC_HOST_DEVICE void wait() const
  {
#ifdef __CUDA_ARCH__
    __syncthreads();
#endif
  }
};

/* Shared by the threads: sites of the cluster, and whether it is joined to the ghost. */
struct heisenberg_growth {
  uint32_t size, joined;
};

/* marks: a bit for each site, of those in the cluster, all clear between clusters; queue[sites]: in
 * the order in which they came. */
struct heisenberg_cluster {
  struct heisenberg_team team;
  struct heisenberg_growth *growth;
  uint32_t *marks, *queue;
};

enum { HEISENBERG_MARKS = 32 }; /* of a word */

GPUMC_HOST_DEVICE static inline bool
heisenberg_is_in(const struct heisenberg_cluster *cluster, uint32_t site)
{
  return (heisenberg_seen(&cluster->marks[site / HEISENBERG_MARKS]) >> site % HEISENBERG_MARKS &
          1) != 0;
}

/* Adds a site to the cluster unless it is there. */
GPUMC_HOST_DEVICE static inline void
heisenberg_add(const struct heisenberg_cluster *cluster, uint32_t site)
{
  const uint32_t bit = 1u << site % HEISENBERG_MARKS;
  if ((heisenberg_set_bits(&cluster->marks[site / HEISENBERG_MARKS], bit) & bit) == 0)
    cluster->queue[heisenberg_count_up(&cluster->growth->size)] = site;
}

/* Follows one of the bonds of a site of the cluster: along each axis, on and back, and that with
 * the ghost. */
template <class KIND, int N>
GPUMC_HOST_DEVICE static inline void
heisenberg_follow(const struct heisenberg_graph<KIND> *graph,
                  const struct heisenberg_cluster *cluster, uint32_t site, uint32_t end)
{
  const struct heisenberg_gpu_lattice *lattice = graph->lattice;
  const struct heisenberg_spot here = heisenberg_spot_of(lattice, site);
  const uint32_t axis = end / 2;
  const bool forward = end % 2 == 0;
  if (axis == lattice->dimension) {
    if (heisenberg_held<KIND, N>(graph, here))
      heisenberg_set_bits(&cluster->growth->joined, 1);
    return;
  }
  const struct heisenberg_spot there = heisenberg_beside(lattice, here, axis, forward);
  const uint32_t other = heisenberg_site_at(lattice, there);
  if (!heisenberg_is_in(cluster, other) &&
      heisenberg_bond<KIND, N>(graph, forward ? here : there, axis))
    heisenberg_add(cluster, other);
}

/* Lets the cluster of a site grow until it is complete or joined to the ghost. Returns its size. */
template <class KIND, int N>
GPUMC_HOST_DEVICE static inline uint32_t
heisenberg_grow(const struct heisenberg_graph<KIND> *graph,
                const struct heisenberg_cluster *cluster, uint32_t seed)
{
  const struct heisenberg_team *team = &cluster->team;
  const uint32_t ends = 2 * graph->lattice->dimension + 1;
  if (team->thread == 0) {
    cluster->growth->size = cluster->growth->joined = 0;
    heisenberg_add(cluster, seed);
  }
  team->wait();
  uint32_t first = 0, size = 1;
  while (first < size) {
    for (size_t i = team->thread; i < (size_t)(size - first) * ends; i += team->threads)
      heisenberg_follow<KIND, N>(graph, cluster, cluster->queue[first + i / ends],
                                 (uint32_t)(i % ends));
    team->wait();
    const bool joined = heisenberg_seen(&cluster->growth->joined) != 0;
    first = size;
    size = heisenberg_seen(&cluster->growth->size);
    team->wait();
    if (joined)
      break;
  }
  return size;
}

/* Makes a sweep of `clusters` clusters, or of fewer that reflect `limit` sites; returns the sites
 * that are reflected. */
template <class KIND, int N>
GPUMC_HOST_DEVICE static inline uint64_t
heisenberg_wolff(const struct heisenberg_rule *rule, struct heisenberg_graph<KIND> *graph,
                 const struct heisenberg_cluster *cluster, uint32_t clusters, uint64_t limit)
{
  const uint64_t sites = 2 * (uint64_t)graph->lattice->colour;
  const struct heisenberg_team *team = &cluster->team;
  uint64_t reflected = 0;
  for (uint32_t c = 0; c < clusters && reflected < limit; c++) {
    heisenberg_graph_begin<KIND, N>(rule, c, lattice_wolff_label(LATTICE_WOLFF_BONDS + c), graph);
    const uint32_t size = heisenberg_grow<KIND, N>(
        graph, cluster, lattice_wolff_seed(graph->random, graph->replica, graph->time, c, sites));
    const bool turns = heisenberg_seen(&cluster->growth->joined) == 0;
    for (uint32_t i = team->thread; i < size; i += team->threads) {
      const uint32_t site = cluster->queue[i];
      heisenberg_clear_bits(&cluster->marks[site / HEISENBERG_MARKS],
                            1u << site % HEISENBERG_MARKS);
      if (turns)
        heisenberg_mirror<KIND, N>(graph, heisenberg_spot_of(graph->lattice, site));
    }
    team->wait();
    reflected += turns ? size : 0;
  }
  return reflected;
}

#endif
