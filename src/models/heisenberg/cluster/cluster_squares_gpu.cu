/* Squares of sums over clusters of O(n) spins on a GPU (clusters_squares.h): a thread has one site.
 * Sums are of integers, so that the order of threads does not matter. */
#include <cuda_runtime.h>

#include "models/heisenberg/cluster/cluster_site.cuh"

enum { THREADS = 256, WARP = 32 };

/* Scratch: labels and states of Swendsen-Wang, then sum[runs][capacity][sites], by name, all zero
 * between the launches for a sum, and totals[runs][capacity]. */
struct sums {
  unsigned long long *sum;
  struct lattice_cluster_totals *totals;
};

static size_t sites_of(const struct heisenberg_cluster_gpu *clusters)
{
  return 2 * (size_t)clusters->replicas.lattice.colour;
}

extern "C" size_t
heisenberg_cluster_squares_scratch(const struct heisenberg_cluster_gpu *clusters, size_t replicas)
{
  return heisenberg_swendsen_wang_scratch(clusters, replicas) +
         replicas * (sites_of(clusters) * sizeof(unsigned long long) +
                     sizeof(struct lattice_cluster_totals));
}

static struct sums sums_of(const struct heisenberg_cluster_gpu *clusters)
{
  const struct lattice_batch *batch = &clusters->replicas.batch;
  const size_t replicas = batch->runs * batch->capacity;
  uint8_t *own =
      (uint8_t *)clusters->scratch + heisenberg_swendsen_wang_scratch(clusters, replicas);
  struct sums sums;
  sums.sum = (unsigned long long *)own;
  sums.totals = (struct lattice_cluster_totals *)(sums.sum + replicas * sites_of(clusters));
  return sums;
}

/* ---- sums ---- */

/* Adds a number to where it belongs, those of the same place at once; NULL: nowhere. Called by all
 * threads of a warp: large clusters have most of its sites. */
static __device__ inline void add_together(unsigned long long *to, unsigned long long value)
{
  const uint32_t lane = threadIdx.x % WARP;
  for (uint32_t left = __ballot_sync(UINT32_MAX, to != NULL); left != 0;) {
    const int first = __ffs((int)left) - 1;
    const bool mine =
        (unsigned long long)to == __shfl_sync(UINT32_MAX, (unsigned long long)to, first);
    const uint32_t group = __ballot_sync(UINT32_MAX, mine);
    unsigned long long part = mine ? value : 0;
    for (uint32_t step = WARP / 2; step > 0 && (group & (group - 1)) != 0; step /= 2)
      part += __shfl_xor_sync(UINT32_MAX, part, (int)step);
    if (lane == (uint32_t)first)
      atomicAdd(to, part);
    left &= ~group;
  }
}

/* The site of a thread. */
struct here {
  bool exists;
  uint32_t run, site;
  size_t replica, of_all; /* in the run, in all runs */
};

static __device__ inline struct here here_of(const struct heisenberg_cluster_gpu *clusters)
{
  const struct lattice_batch *batch = &clusters->replicas.batch;
  const size_t sites = 2 * (size_t)clusters->replicas.lattice.colour;
  const size_t number = (size_t)blockIdx.x * THREADS + threadIdx.x;
  struct here here;
  here.run = blockIdx.y;
  here.replica = number / sites;
  here.site = (uint32_t)(number - here.replica * sites);
  here.of_all = here.run * batch->capacity + here.replica;
  here.exists = here.replica < batch->size[here.run];
  return here;
}

static __device__ inline int32_t quanta_of(double along)
{
  return heisenberg_quanta_double(along);
}
static __device__ inline int32_t quanta_of(float along)
{
  return heisenberg_quanta_float(along);
}

/* Returns what a site adds to sum number k. */
static __device__ inline int64_t term_of(const struct heisenberg_cluster_gpu_squares *arguments,
                                         struct heisenberg_spot spot, int32_t quanta)
{
  const struct heisenberg_gpu_lattice *lattice = &arguments->clusters.replicas.lattice;
  const struct heisenberg_place place = heisenberg_place_at(lattice, spot.k);
  if (arguments->k == LATTICE_CLUSTER_SPINS)
    return quanta;
  const uint32_t axis = lattice_cluster_axis_of(arguments->k);
  const uint32_t x = 2 * place.x + (heisenberg_is_back(place, spot.colour) ? 0 : 1);
  const int32_t *table = lattice_cluster_table_of(&arguments->scale, arguments->k);
  return heisenberg_cluster_term(quanta, table[axis == 0 ? x : axis == 1 ? place.y : place.z]);
}

/* ---- launches ---- */

template <class KIND, int N>
static __global__ void __launch_bounds__(THREADS)
    sum_sites(const __grid_constant__ struct heisenberg_cluster_gpu_squares arguments,
              const __grid_constant__ struct sums sums)
{
  const struct heisenberg_cluster_gpu *clusters = &arguments.clusters;
  const size_t sites = 2 * (size_t)clusters->replicas.lattice.colour;
  const struct here here = here_of(clusters);
  unsigned long long *to = NULL;
  int64_t term = 0;
  if (here.exists) {
    struct heisenberg_graph<KIND> graph =
        heisenberg_graph_of<KIND>(clusters, here.run, (uint32_t)here.replica, arguments.time);
    heisenberg_graph_begin<KIND, N>(&clusters->rules[here.run], 0, 0, &graph);
    const struct heisenberg_spot spot = heisenberg_spot_of(graph.lattice, here.site);
    const uint32_t *label = heisenberg_labels_of(clusters, here.run, here.replica).label;
    term = term_of(&arguments, spot, quanta_of(heisenberg_along<KIND, N>(&graph, spot)));
    to = sums.sum + here.of_all * sites + label[here.site];
  }
  add_together(to, (unsigned long long)term);
}

/* Leaves the sums of names zero. */
static __global__ void __launch_bounds__(THREADS)
    square_names(const __grid_constant__ struct heisenberg_cluster_gpu_squares arguments,
                 const __grid_constant__ struct sums sums)
{
  const struct heisenberg_cluster_gpu *clusters = &arguments.clusters;
  const size_t sites = 2 * (size_t)clusters->replicas.lattice.colour;
  const uint32_t k = arguments.k;
  const struct here here = here_of(clusters);
  unsigned long long *to = NULL, value = 0;
  if (here.exists) {
    const struct heisenberg_labels labels = heisenberg_labels_of(clusters, here.run, here.replica);
    if (labels.label[here.site] == here.site) {
      struct lattice_cluster_totals *totals = &sums.totals[here.of_all];
      const bool held = (labels.state[here.site] & HEISENBERG_HELD) != 0;
      value = sums.sum[here.of_all * sites + here.site];
      sums.sum[here.of_all * sites + here.site] = 0;
      if (!held)
        value = lattice_cluster_square_of(&arguments.scale, k, (int64_t)value);
      to = (unsigned long long *)(held ? (void *)&totals->ghost[k] : (void *)&totals->squares[k]);
    }
  }
  add_together(to, value);
}

static __global__ void __launch_bounds__(THREADS)
    record(const __grid_constant__ struct heisenberg_cluster_gpu_squares arguments,
           const __grid_constant__ struct sums sums)
{
  const struct lattice_batch *batch = &arguments.clusters.replicas.batch;
  const uint32_t r = blockIdx.x * THREADS + threadIdx.x, run = blockIdx.y;
  const size_t at = run * batch->capacity + r;
  if (r < batch->size[run])
    lattice_cluster_totals_record(&sums.totals[at], &arguments.scale, at, arguments.square,
                                  arguments.wave);
}

/* ---- measurements ---- */

template <class KIND, int N>
static enum gpumc_status
measure(struct heisenberg_cluster_gpu_squares *arguments, struct gpumc_error *error)
{
  const struct heisenberg_cluster_gpu *clusters = &arguments->clusters;
  const struct lattice_batch *batch = &clusters->replicas.batch;
  const struct sums sums = sums_of(clusters);
  const size_t replicas = batch->runs * batch->capacity;
  const size_t bytes = replicas * (sites_of(clusters) * sizeof *sums.sum + sizeof *sums.totals);
  const dim3 grid((uint32_t)lattice_parts(batch->capacity * sites_of(clusters), THREADS),
                  batch->runs);
  const dim3 replica_grid((uint32_t)lattice_parts(batch->capacity, THREADS), batch->runs);
  cudaStream_t stream = (cudaStream_t)batch->stream;
  GPUMC_TRY(GPUMC_CUDA(cudaMemsetAsync(sums.sum, 0, bytes, stream), error));
  for (uint32_t k = 0; k < LATTICE_CLUSTER_SUMS; k++) {
    arguments->k = k;
    if (!lattice_cluster_sum_is_wanted(&arguments->scale, k, arguments->square, arguments->wave))
      continue;
    sum_sites<KIND, N><<<grid, THREADS, 0, stream>>>(*arguments, sums);
    GPUMC_TRY(GPUMC_CUDA_LAUNCHED("sum_sites", error));
    square_names<<<grid, THREADS, 0, stream>>>(*arguments, sums);
    GPUMC_TRY(GPUMC_CUDA_LAUNCHED("square_names", error));
  }
  record<<<replica_grid, THREADS, 0, stream>>>(*arguments, sums);
  return GPUMC_CUDA_LAUNCHED("record", error);
}

extern "C" enum gpumc_status
heisenberg_cluster_squares_measure(const struct heisenberg_cluster_gpu_squares *arguments,
                                   struct gpumc_error *error)
{
  struct heisenberg_cluster_gpu_squares of_sum = *arguments;
  const bool sphere = arguments->clusters.replicas.components == 3;
  GPUMC_TRY(heisenberg_swendsen_wang_label(&arguments->clusters, arguments->time, error));
  if (arguments->clusters.replicas.single)
    return sphere ? measure<struct heisenberg_cluster_in_float, 3>(&of_sum, error)
                  : measure<struct heisenberg_cluster_in_float, 2>(&of_sum, error);
  return sphere ? measure<struct heisenberg_cluster_in_double, 3>(&of_sum, error)
                : measure<struct heisenberg_cluster_in_double, 2>(&of_sum, error);
}
