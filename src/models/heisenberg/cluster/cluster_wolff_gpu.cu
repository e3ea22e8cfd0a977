/* Wolff's clusters of O(n) spins on a GPU: a block of threads has one replica after the other. */
#include <cuda_runtime.h>

#include "models/heisenberg/cluster/cluster_grow.cuh"

enum {
  THREADS = 128,
  THREADS_MAXIMUM = 1024,
  BLOCKS = 1024 /* at most; enough for any device */
};

/* Decides no result. Scratch of a block: marks, then its queue. */
struct shape {
  uint32_t threads, blocks;
  size_t marks, words;
};

static struct shape choose_shape(const struct heisenberg_cluster_gpu *arguments, size_t replicas)
{
  const size_t sites = 2 * (size_t)arguments->replicas.lattice.colour;
  struct shape shape;
  shape.marks = lattice_parts(sites, HEISENBERG_MARKS);
  shape.words = shape.marks + sites;
  shape.blocks = (uint32_t)(replicas < BLOCKS ? replicas : (size_t)BLOCKS);
  shape.threads =
      arguments->block_threads > 0
          ? (uint32_t)lattice_parts(arguments->block_threads, HEISENBERG_WARP) * HEISENBERG_WARP
          : (uint32_t)THREADS;
  shape.threads = shape.threads < THREADS_MAXIMUM ? shape.threads : (uint32_t)THREADS_MAXIMUM;
  return shape;
}

extern "C" size_t
heisenberg_wolff_scratch(const struct heisenberg_cluster_gpu *arguments, size_t replicas)
{
  const struct shape shape = choose_shape(arguments, replicas);
  return shape.blocks * shape.words * sizeof(uint32_t);
}

template <class KIND, int N>
static __global__ void __launch_bounds__(THREADS_MAXIMUM)
    sweep_wolff(const __grid_constant__ struct heisenberg_cluster_gpu arguments,
                const __grid_constant__ struct shape shape,
                const __grid_constant__ struct lattice_wolff_part part)
{
  __shared__ struct heisenberg_growth growth;
  const struct lattice_batch *batch = &arguments.replicas.batch;
  uint32_t *marks = (uint32_t *)arguments.scratch + blockIdx.x * shape.words;
  const struct heisenberg_cluster cluster = {
      {threadIdx.x, blockDim.x}, &growth, marks, marks + shape.marks};
  for (size_t w = threadIdx.x; w < shape.marks; w += blockDim.x)
    marks[w] = 0;
  __syncthreads();
  for (size_t i = blockIdx.x; i < part.count * batch->capacity; i += gridDim.x) {
    const uint32_t of_part = (uint32_t)(i / batch->capacity), run = part.first + of_part;
    const uint32_t replica = (uint32_t)(i - of_part * batch->capacity);
    uint64_t reflected = 0;
    if (replica >= batch->size[run])
      continue;
    for (uint32_t s = 0; s < arguments.sweeps; s++) {
      struct heisenberg_graph<KIND> graph =
          heisenberg_graph_of<KIND>(&arguments, run, replica, batch->time + s);
      reflected += heisenberg_wolff<KIND, N>(&arguments.rules[run], &graph, &cluster,
                                             part.clusters[of_part], part.limit);
    }
    if (threadIdx.x == 0)
      atomicAdd((unsigned long long *)&arguments.accepted[run], (unsigned long long)reflected);
  }
}

extern "C" enum gpumc_status heisenberg_wolff_sweep(const struct heisenberg_cluster_gpu *arguments,
                                                    const struct lattice_wolff_part *part,
                                                    struct gpumc_error *error)
{
  const struct lattice_batch *batch = &arguments->replicas.batch;
  const struct shape shape = choose_shape(arguments, part->count * batch->capacity);
  const bool sphere = arguments->replicas.components == 3;
  void (*kernel)(struct heisenberg_cluster_gpu, struct shape, struct lattice_wolff_part) =
      arguments->replicas.single ? (sphere ? sweep_wolff<struct heisenberg_cluster_in_float, 3>
                                           : sweep_wolff<struct heisenberg_cluster_in_float, 2>)
                                 : (sphere ? sweep_wolff<struct heisenberg_cluster_in_double, 3>
                                           : sweep_wolff<struct heisenberg_cluster_in_double, 2>);
  kernel<<<shape.blocks, shape.threads, 0, (cudaStream_t)batch->stream>>>(*arguments, shape, *part);
  return GPUMC_CUDA_LAUNCHED("sweep_wolff", error);
}
