/* Swendsen-Wang for O(n) spins on a GPU, a launch for each step: a thread has one site. */
#include <cuda_runtime.h>

#include "models/heisenberg/cluster/cluster_site.cuh"

enum { THREADS = 256 };

enum step { BIND, JOIN, NAME, FLIP, STEPS };

static size_t sites_of(const struct heisenberg_cluster_gpu *arguments)
{
  return 2 * (size_t)arguments->replicas.lattice.colour;
}

extern "C" size_t
heisenberg_swendsen_wang_scratch(const struct heisenberg_cluster_gpu *arguments, size_t replicas)
{
  return 2 * replicas * sites_of(arguments) * sizeof(uint32_t);
}

template <class KIND, int N, enum step STEP>
static __global__ void __launch_bounds__(THREADS)
    step_of_sweep(const __grid_constant__ struct heisenberg_cluster_gpu arguments, uint32_t time)
{
  const struct lattice_batch *batch = &arguments.replicas.batch;
  const size_t sites = 2 * (size_t)arguments.replicas.lattice.colour;
  const size_t number = (size_t)blockIdx.x * THREADS + threadIdx.x, replica = number / sites;
  const uint32_t run = blockIdx.y, site = (uint32_t)(number - replica * sites);
  if (replica >= batch->size[run])
    return;
  const struct heisenberg_labels labels = heisenberg_labels_of(&arguments, run, replica);
  if (STEP == JOIN)
    heisenberg_join(&arguments.replicas.lattice, labels, site);
  if (STEP == NAME)
    heisenberg_name(labels, site);
  if (STEP == JOIN || STEP == NAME)
    return;
  struct heisenberg_graph<KIND> graph =
      heisenberg_graph_of<KIND>(&arguments, run, (uint32_t)replica, time);
  heisenberg_graph_begin<KIND, N>(&arguments.rules[run], 0,
                                  lattice_cluster_label(LATTICE_CLUSTER_BONDS), &graph);
  if (STEP == BIND)
    heisenberg_bind<KIND, N>(&graph, labels, site);
  else
    heisenberg_flip<KIND, N>(&graph, labels, site);
}

/* Makes the first `steps` steps of a sweep. */
template <class KIND, int N>
static enum gpumc_status make_steps(const struct heisenberg_cluster_gpu *arguments, uint32_t time,
                                    int steps, struct gpumc_error *error)
{
  void (*const kernel[STEPS])(struct heisenberg_cluster_gpu, uint32_t) = {
      step_of_sweep<KIND, N, BIND>, step_of_sweep<KIND, N, JOIN>, step_of_sweep<KIND, N, NAME>,
      step_of_sweep<KIND, N, FLIP>};
  const struct lattice_batch *batch = &arguments->replicas.batch;
  const size_t threads = batch->capacity * sites_of(arguments);
  const dim3 grid((uint32_t)lattice_parts(threads, THREADS), batch->runs);
  for (int step = 0; step < steps; step++) {
    kernel[step]<<<grid, THREADS, 0, (cudaStream_t)batch->stream>>>(*arguments, time);
    GPUMC_TRY(GPUMC_CUDA_LAUNCHED("step_of_sweep", error));
  }
  return GPUMC_OK;
}

static enum gpumc_status steps_of(const struct heisenberg_cluster_gpu *arguments, uint32_t time,
                                  int steps, struct gpumc_error *error)
{
  const bool sphere = arguments->replicas.components == 3;
  if (arguments->replicas.single)
    return sphere
               ? make_steps<struct heisenberg_cluster_in_float, 3>(arguments, time, steps, error)
               : make_steps<struct heisenberg_cluster_in_float, 2>(arguments, time, steps, error);
  return sphere ? make_steps<struct heisenberg_cluster_in_double, 3>(arguments, time, steps, error)
                : make_steps<struct heisenberg_cluster_in_double, 2>(arguments, time, steps, error);
}

extern "C" enum gpumc_status
heisenberg_swendsen_wang_sweep(const struct heisenberg_cluster_gpu *arguments,
                               struct gpumc_error *error)
{
  for (uint32_t s = 0; s < arguments->sweeps; s++)
    GPUMC_TRY(steps_of(arguments, arguments->replicas.batch.time + s, STEPS, error));
  return GPUMC_OK;
}

extern "C" enum gpumc_status
heisenberg_swendsen_wang_label(const struct heisenberg_cluster_gpu *arguments, uint32_t time,
                               struct gpumc_error *error)
{
  return steps_of(arguments, time, FLIP, error);
}
