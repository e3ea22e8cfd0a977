/* Compares replicas of O(n) spins with quenched couplings on a GPU (quenched_pairs.h). */
#include <cuda_runtime.h>

#include "models/heisenberg/quenched/quenched_compare.cuh"

enum { THREADS = 256 };

template <class REAL>
static __device__ inline struct two<REAL>
two_of(const struct heisenberg_gpu_comparison *comparison, uint32_t replica) {
  const struct heisenberg_replicas *replicas = &comparison->replicas;
  const struct two<REAL> both = {
    &replicas->lattice,
        (const REAL *)heisenberg_replica(replicas, comparison->first + blockIdx.y, replica),
        (const REAL *)heisenberg_replica(replicas, comparison->second + blockIdx.y, replica),
        (const REAL *)replicas->couplings.numbers + replica * replicas->couplings.stride
  };
  return both;
}

/* Returns whether the thread's block has a part of a replica in use: its sites of each colour from
 * *begin to *end. */
static __device__ inline bool
has_part(const struct heisenberg_gpu_comparison *comparison, uint32_t parts, uint32_t part,
         uint32_t *replica, uint32_t *begin, uint32_t *end)
{
  const uint32_t n = comparison->replicas.lattice.colour;
  *replica = blockIdx.x / parts;
  *begin = (blockIdx.x - *replica * parts) * part;
  *end = n - *begin < part ? n : *begin + part;
  return *replica < comparison->replicas.batch.size[comparison->first + blockIdx.y];
}

/* ---- sums ---- */

template <class REAL, int N>
static __global__ void __launch_bounds__(MEASURING_THREADS)
    compare(const __grid_constant__ struct heisenberg_gpu_comparison comparison, uint32_t parts,
            uint32_t part)
{
  uint32_t replica, begin, end;
  if (!has_part(&comparison, parts, part, &replica, &begin, &end))
    return;
  const struct two<REAL> both = two_of<REAL>(&comparison, replica);
  int64_t overlap[N][N] = {}, link = 0, chirality = 0;
  for (uint32_t k = begin + threadIdx.x; k < end; k += MEASURING_THREADS)
    for (uint32_t colour = 0; colour < 2; colour++) {
      add_overlap<REAL, N>(both, colour, k, overlap);
      add_bonds<REAL, N>(both, colour, k, &link, &chirality);
    }
  struct heisenberg_pair_sums *all =
      comparison.sums + (size_t)blockIdx.y * comparison.replicas.batch.capacity + replica;
  add_of_warp(link, &all->link);
  add_of_warp(chirality, &all->chirality);
  for (int m = 0; m < N; m++)
    for (int n = 0; n < N; n++)
      add_of_warp(overlap[m][n], &all->overlap[m][n]);
}

/* ---- waves ---- */

template <class REAL, int N>
static __global__ void __launch_bounds__(MEASURING_THREADS)
    compare_waves(const __grid_constant__ struct heisenberg_gpu_comparison comparison,
                  uint32_t parts, uint32_t part)
{
  uint32_t replica, begin, end;
  if (!has_part(&comparison, parts, part, &replica, &begin, &end))
    return;
  const struct two<REAL> both = two_of<REAL>(&comparison, replica);
  struct heisenberg_pair_sums *all =
      comparison.sums + (size_t)blockIdx.y * comparison.replicas.batch.capacity + replica;
  for (uint32_t axis = 0; axis < 3; axis++)
    for (uint32_t i = 0; i < N * N && comparison.wave.along[axis]; i++) {
      const uint32_t m = i / N, n = i % N;
      struct heisenberg_wave_sum cosine = {0, 0}, sine = {0, 0};
      for (uint32_t k = begin + threadIdx.x; k < end; k += MEASURING_THREADS)
        add_waves<REAL, N>(both, comparison.cosine, comparison.sine, m, n, axis, k, &cosine, &sine);
      add_wave_of_warp(&cosine, &all->wave[m].cosine[n][axis]);
      add_wave_of_warp(&sine, &all->wave[m].sine[n][axis]);
    }
}

/* ---- all together ---- */

static __global__ void __launch_bounds__(THREADS)
    record(const __grid_constant__ struct heisenberg_gpu_comparison comparison)
{
  const struct heisenberg_replicas *replicas = &comparison.replicas;
  const uint32_t replica = blockIdx.x * THREADS + threadIdx.x;
  if (replica >= replicas->batch.size[comparison.first + blockIdx.y])
    return;
  const size_t at = (size_t)blockIdx.y * replicas->batch.capacity + replica;
  heisenberg_record_pair(&comparison.wave, replicas->components,
                         2.0 * (double)replicas->lattice.colour, &comparison.sums[at],
                         comparison.pair, at);
}

template <class REAL, int N>
static enum gpumc_status
launch(const struct heisenberg_gpu_comparison *comparison, struct gpumc_error *error)
{
  const struct lattice_batch *batch = &comparison->replicas.batch;
  const uint32_t part = MEASURING_THREADS * MEASURING_STEPS;
  const uint32_t parts = (uint32_t)lattice_parts(comparison->replicas.lattice.colour, part);
  const dim3 grid((uint32_t)batch->capacity * parts, comparison->runs);
  cudaStream_t stream = (cudaStream_t)batch->stream;
  compare<REAL, N><<<grid, MEASURING_THREADS, 0, stream>>>(*comparison, parts, part);
  GPUMC_TRY(GPUMC_CUDA_LAUNCHED("compare", error));
  if (comparison->pair[HEISENBERG_PAIR_WAVE] == NULL)
    return GPUMC_OK;
  compare_waves<REAL, N><<<grid, MEASURING_THREADS, 0, stream>>>(*comparison, parts, part);
  return GPUMC_CUDA_LAUNCHED("compare_waves", error);
}

template <class REAL>
static enum gpumc_status
launch_components(const struct heisenberg_gpu_comparison *comparison, struct gpumc_error *error)
{
  return comparison->replicas.components == 3 ? launch<REAL, 3>(comparison, error)
                                              : launch<REAL, 2>(comparison, error);
}

enum gpumc_status
heisenberg_compare(const struct heisenberg_gpu_comparison *comparison, struct gpumc_error *error)
{
  const struct lattice_batch *batch = &comparison->replicas.batch;
  cudaStream_t stream = (cudaStream_t)batch->stream;
  const size_t bytes = comparison->runs * batch->capacity * sizeof *comparison->sums;
  const dim3 grid((uint32_t)lattice_parts(batch->capacity, THREADS), comparison->runs);
  GPUMC_TRY(GPUMC_CUDA(cudaMemsetAsync(comparison->sums, 0, bytes, stream), error));
  GPUMC_TRY(comparison->replicas.single ? launch_components<float>(comparison, error)
                                        : launch_components<double>(comparison, error));
  record<<<grid, THREADS, 0, stream>>>(*comparison);
  return GPUMC_CUDA_LAUNCHED("record", error);
}
