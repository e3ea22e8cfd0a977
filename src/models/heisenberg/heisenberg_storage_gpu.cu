/* Replicas of O(n) spins on a GPU: drawing uniformly, portable form, channels; and passing the
 * rules of the runs to the device. */
#include <cuda_runtime.h>

#include "models/heisenberg/heisenberg_gpu.h"
#include "models/heisenberg/heisenberg_sums.cuh"
#include "models/heisenberg/walk/heisenberg_walk_gpu.h"

enum {
  THREADS = 256,
};

/* Returns the blocks for `n` threads in total. */
static uint32_t blocks_for(size_t n, size_t threads)
{
  return (uint32_t)lattice_parts(n, threads);
}

/* ---- rules ---- */

static __global__ void store_rules(const __grid_constant__ struct heisenberg_rules arguments)
{
  if (threadIdx.x < arguments.count)
    arguments.rules[arguments.first + threadIdx.x] = arguments.rule[threadIdx.x];
}

enum gpumc_status
heisenberg_store_rules(const struct heisenberg_rules *arguments, struct gpumc_error *error)
{
  store_rules<<<1, HEISENBERG_RULES_AT_ONCE, 0, (cudaStream_t)arguments->stream>>>(*arguments);
  return GPUMC_CUDA_LAUNCHED("store_rules", error);
}

/* ---- states to begin with ---- */

/* One thread for each site of the run's replicas. */
template <class RULES>
static __global__ void __launch_bounds__(THREADS)
    randomize(const __grid_constant__ struct heisenberg_replicas replicas)
{
  typedef typename RULES::real real;
  const uint32_t n = replicas.lattice.colour;
  const size_t number = (size_t)blockIdx.x * THREADS + threadIdx.x, sites = 2 * (size_t)n;
  const size_t replica = number / sites, site = number - replica * sites;
  if (replica >= replicas.batch.size[blockIdx.y])
    return;
  const uint32_t colour = site >= n, k = (uint32_t)(site - (colour != 0 ? n : 0));
  const typename RULES::uniform uniform = RULES::of_sphere(
      RULES::words(lattice_batch_random(&replicas.batch, blockIdx.y), k,
                   lattice_batch_replica(&replicas.batch, (uint32_t)replica), 0,
                   gpumc_random_label(GPUMC_RANDOM_LATTICE_INITIAL, heisenberg_draw(colour, 0))));
  real *spins = (real *)heisenberg_replica(&replicas, blockIdx.y, replica) + site;
  const typename RULES::vector spin =
      replicas.components == 3 ? RULES::anywhere(3, uniform) : RULES::anywhere(2, uniform);
  spins[0] = spin.x;
  spins[sites] = spin.y;
  if (replicas.components == 3)
    spins[2 * sites] = spin.z;
}

enum gpumc_status
heisenberg_randomize(const struct heisenberg_replicas *arguments, struct gpumc_error *error)
{
  const struct lattice_batch *batch = &arguments->batch;
  const size_t sites = batch->capacity * 2 * arguments->lattice.colour;
  const dim3 grid(blocks_for(sites, THREADS), batch->runs);
  if (arguments->single)
    randomize<struct heisenberg_in_float>
        <<<grid, THREADS, 0, (cudaStream_t)batch->stream>>>(*arguments);
  else
    randomize<struct heisenberg_in_double>
        <<<grid, THREADS, 0, (cudaStream_t)batch->stream>>>(*arguments);
  return GPUMC_CUDA_LAUNCHED("randomize", error);
}

/* ---- portable form ---- */

/* Returns the element of the replica for piece i of the transfer, and the replica. */
static __device__ inline size_t
element_of(const struct heisenberg_transfer *transfer, size_t i, size_t *replica)
{
  const struct heisenberg_replicas *replicas = &transfer->replicas;
  const struct heisenberg_gpu_lattice *lattice = &replicas->lattice;
  const size_t sites = 2 * (size_t)lattice->colour, n = replicas->components;
  const size_t number = transfer->portable.first + i, at = number / (sites * n);
  const size_t rest = number - at * sites * n, site = rest / n, a = rest - site * n;
  *replica = lattice_portable_replica(&transfer->portable, at);
  /* Half the number of a site is its index, whichever its colour. */
  const uint32_t k = (uint32_t)(site / 2);
  const struct heisenberg_place place = heisenberg_place_at(lattice, k);
  const size_t colour = (site + place.y + place.z) & 1;
  return a * sites + colour * lattice->colour + k;
}

template <class REAL, bool BACK>
static __global__ void __launch_bounds__(THREADS)
    transfer(const __grid_constant__ struct heisenberg_transfer arguments)
{
  const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
  if (i >= arguments.portable.count)
    return;
  size_t replica;
  const size_t element = element_of(&arguments, i, &replica);
  double *portable = (double *)arguments.portable.replica + i;
  REAL *stored = (REAL *)heisenberg_replica(&arguments.replicas, arguments.portable.run, replica);
  if (BACK)
    *portable = (double)stored[element];
  else
    stored[element] = (REAL)*portable;
}

template <bool BACK>
static enum gpumc_status
launch_transfer(const struct heisenberg_transfer *arguments, struct gpumc_error *error)
{
  cudaStream_t stream = (cudaStream_t)arguments->replicas.batch.stream;
  const uint32_t blocks = blocks_for(arguments->portable.count, THREADS);
  if (arguments->replicas.single)
    transfer<float, BACK><<<blocks, THREADS, 0, stream>>>(*arguments);
  else
    transfer<double, BACK><<<blocks, THREADS, 0, stream>>>(*arguments);
  return GPUMC_CUDA_LAUNCHED("transfer", error);
}

enum gpumc_status
heisenberg_from_portable(const struct heisenberg_transfer *arguments, struct gpumc_error *error)
{
  return launch_transfer<false>(arguments, error);
}

enum gpumc_status
heisenberg_to_portable(const struct heisenberg_transfer *arguments, struct gpumc_error *error)
{
  return launch_transfer<true>(arguments, error);
}

/* ---- measurement ---- */

/* For numbers that are not negative. */
static __device__ inline void largest_of_warp(int64_t value, int64_t *largest)
{
#pragma unroll
  for (uint32_t width = HEISENBERG_WARP / 2; width != 0; width /= 2) {
    const int64_t other = __shfl_xor_sync(UINT32_MAX, value, width);
    value = other > value ? other : value;
  }
  if (threadIdx.x % HEISENBERG_WARP == 0)
    atomicMax((unsigned long long *)largest, (unsigned long long)value);
}

template <class REAL, int N, bool QUENCHED>
static __global__ void __launch_bounds__(MEASURING_THREADS)
    measure(const __grid_constant__ struct heisenberg_gpu_measurement measurement, uint32_t parts,
            uint32_t part)
{
  const struct heisenberg_replicas *replicas = &measurement.replicas;
  const struct lattice_batch *batch = &replicas->batch;
  const uint32_t replica = blockIdx.x / parts, n = replicas->lattice.colour;
  const uint32_t begin = (blockIdx.x - replica * parts) * part;
  if (replica >= batch->size[blockIdx.y])
    return;
  const uint32_t end = n - begin < part ? n : begin + part;
  const REAL *spins = (const REAL *)heisenberg_replica(replicas, blockIdx.y, replica);
  const REAL *couplings =
      QUENCHED ? (const REAL *)replicas->couplings.numbers + replica * replicas->couplings.stride
               : NULL;
  const struct heisenberg_wanted wanted = {measurement.channel[HEISENBERG_ALONG] != NULL ||
                                               measurement.channel[HEISENBERG_ACROSS] != NULL,
                                           measurement.channel[HEISENBERG_DRIFT] != NULL,
                                           measurement.walks == 0};
  struct heisenberg_sums sums = {};
  for (uint32_t k = begin + threadIdx.x; k < end; k += MEASURING_THREADS)
    add_site<REAL, N, QUENCHED>(&replicas->lattice, couplings, spins, k, wanted, &sums);
  struct heisenberg_sums *all = measurement.sums + blockIdx.y * batch->capacity + replica;
  add_of_warp(sums.bonds, &all->bonds);
  for (int a = 0; a < N; a++)
    add_of_warp(sums.magnetization[a], &all->magnetization[a]);
  if (wanted.drift)
    largest_of_warp(sums.drift, &all->drift);
  if (!wanted.twist)
    return;
  add_of_warp(sums.along, &all->along);
  for (int a = N == 3 ? 0 : 2; a < 3; a++)
    add_of_warp(sums.across[a], &all->across[a]);
}

/* Adds to the sums of one component, for two sites, one of each colour. */
template <class REAL, int N>
static __device__ inline void
add_wave(const struct heisenberg_gpu_measurement *measurement, const REAL *spins,
         uint32_t component, uint32_t axis, uint32_t k, struct heisenberg_wave_sum *cosine,
         struct heisenberg_wave_sum *sine)
{
  const struct heisenberg_gpu_lattice *lattice = &measurement->replicas.lattice;
  const size_t sites = 2 * (size_t)lattice->colour;
  for (uint32_t colour = 0; colour < 2; colour++) {
    const uint32_t layer = layer_of(lattice, colour, k, axis);
    const struct heisenberg_vector_double spin = spin_at<REAL, N>(
        spins + (size_t)colour * lattice->colour, sites, k, measurement->walks == 0);
    const int32_t quanta = heisenberg_quanta_double(component_of(spin, component));
    heisenberg_wave_add(cosine, quanta, measurement->cosine[layer]);
    heisenberg_wave_add(sine, quanta, measurement->sine[layer]);
  }
}

/* The same parts of the same replicas as above. */
template <class REAL, int N>
static __global__ void __launch_bounds__(MEASURING_THREADS)
    measure_waves(const __grid_constant__ struct heisenberg_gpu_measurement measurement,
                  uint32_t parts, uint32_t part)
{
  const struct heisenberg_replicas *replicas = &measurement.replicas;
  const struct lattice_batch *batch = &replicas->batch;
  const uint32_t replica = blockIdx.x / parts, n = replicas->lattice.colour;
  const uint32_t begin = (blockIdx.x - replica * parts) * part;
  if (replica >= batch->size[blockIdx.y])
    return;
  const uint32_t end = n - begin < part ? n : begin + part;
  const REAL *spins = (const REAL *)heisenberg_replica(replicas, blockIdx.y, replica);
  struct heisenberg_wave_sums *all = measurement.waves + blockIdx.y * batch->capacity + replica;
  for (uint32_t axis = 0; axis < 3; axis++)
    for (int a = 0; a < N && measurement.wave.along[axis]; a++) {
      struct heisenberg_wave_sum cosine = {0, 0}, sine = {0, 0};
      for (uint32_t k = begin + threadIdx.x; k < end; k += MEASURING_THREADS)
        add_wave<REAL, N>(&measurement, spins, (uint32_t)a, axis, k, &cosine, &sine);
      add_wave_of_warp(&cosine, &all->cosine[a][axis]);
      add_wave_of_warp(&sine, &all->sine[a][axis]);
    }
}

static __global__ void __launch_bounds__(THREADS)
    record(const __grid_constant__ struct heisenberg_gpu_measurement measurement)
{
  const struct lattice_batch *batch = &measurement.replicas.batch;
  const uint32_t replica = blockIdx.x * THREADS + threadIdx.x;
  if (replica >= batch->size[blockIdx.y])
    return;
  const size_t at = blockIdx.y * batch->capacity + replica;
  struct heisenberg_sums sums = measurement.sums[at];
  if (measurement.waves != NULL)
    sums.wave = heisenberg_wave_square(&measurement.wave, measurement.replicas.components,
                                       &measurement.waves[at]);
  heisenberg_record(&measurement.units, &sums, measurement.channel, at);
}

template <class REAL>
static enum gpumc_status
launch_measure(const struct heisenberg_gpu_measurement *measurement, struct gpumc_error *error)
{
  const struct heisenberg_replicas *replicas = &measurement->replicas;
  const struct lattice_batch *batch = &replicas->batch;
  const uint32_t part = MEASURING_THREADS * MEASURING_STEPS;
  const uint32_t parts = blocks_for(replicas->lattice.colour, part);
  const dim3 grid((uint32_t)batch->capacity * parts, batch->runs);
  void (*kernel)(struct heisenberg_gpu_measurement, uint32_t, uint32_t) =
      replicas->couplings.numbers != NULL
          ? (replicas->components == 3 ? measure<REAL, 3, true> : measure<REAL, 2, true>)
          : (replicas->components == 3 ? measure<REAL, 3, false> : measure<REAL, 2, false>);
  kernel<<<grid, MEASURING_THREADS, 0, (cudaStream_t)batch->stream>>>(*measurement, parts, part);
  GPUMC_TRY(GPUMC_CUDA_LAUNCHED("measure", error));
  if (measurement->waves == NULL)
    return GPUMC_OK;
  kernel = replicas->components == 3 ? measure_waves<REAL, 3> : measure_waves<REAL, 2>;
  kernel<<<grid, MEASURING_THREADS, 0, (cudaStream_t)batch->stream>>>(*measurement, parts, part);
  return GPUMC_CUDA_LAUNCHED("measure_waves", error);
}

enum gpumc_status
heisenberg_measure(const struct heisenberg_gpu_measurement *measurement, struct gpumc_error *error)
{
  const struct lattice_batch *batch = &measurement->replicas.batch;
  cudaStream_t stream = (cudaStream_t)batch->stream;
  const size_t bytes = batch->runs * batch->capacity * sizeof *measurement->sums;
  const dim3 grid(blocks_for(batch->capacity, THREADS), batch->runs);
  GPUMC_TRY(GPUMC_CUDA(cudaMemsetAsync(measurement->sums, 0, bytes, stream), error));
  if (measurement->waves != NULL)
    GPUMC_TRY(GPUMC_CUDA(cudaMemsetAsync(measurement->waves, 0,
                                         batch->runs * batch->capacity * sizeof *measurement->waves,
                                         stream),
                         error));
  GPUMC_TRY(measurement->replicas.single ? launch_measure<float>(measurement, error)
                                         : launch_measure<double>(measurement, error));
  if (measurement->walks)
    GPUMC_TRY(heisenberg_walk_bonds(measurement, error));
  record<<<grid, THREADS, 0, stream>>>(*measurement);
  return GPUMC_CUDA_LAUNCHED("record", error);
}
