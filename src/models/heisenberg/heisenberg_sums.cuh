/* What kernels that measure have in common: spins in device memory, and sums of the threads of a
 * warp. */
#ifndef GPUMC_HEISENBERG_SUMS_CUH
#define GPUMC_HEISENBERG_SUMS_CUH

#include "models/heisenberg/heisenberg_gpu.h"
#include "models/heisenberg/heisenberg_precision.cuh"

enum {
  WARP = 32,
  MEASURING_THREADS = 128,
  MEASURING_STEPS = 16, /* sites of colour 0 that a thread measures, at most */
};

/* Spin k of a colour that begins at `colour`. */
template <class RULES, int N>
static __device__ inline typename RULES::vector
spin_at(const typename RULES::real *colour, size_t sites, uint32_t k)
{
  typename RULES::vector spin = {colour[k], colour[sites + k], 0};
  if (N == 3)
    spin.z = colour[2 * sites + k];
  return spin;
}

static __device__ inline void add_of_warp(int64_t value, int64_t *sum)
{
#pragma unroll
  for (uint32_t width = WARP / 2; width != 0; width /= 2)
    value += __shfl_xor_sync(UINT32_MAX, value, width);
  if (threadIdx.x % WARP == 0)
    atomicAdd((unsigned long long *)sum, (unsigned long long)value);
}

/* The layer along an axis in which the site at index k of a colour is. */
static __device__ inline uint32_t
layer_of(const struct heisenberg_gpu_lattice *lattice, uint32_t colour, uint32_t k, uint32_t axis)
{
  const struct heisenberg_place place = heisenberg_place_at(lattice, k);
  const uint32_t x = 2 * place.x + (heisenberg_is_back(place, colour) ? 0 : 1);
  return axis == 0 ? x : axis == 1 ? place.y : place.z;
}

static __device__ inline void
add_wave_of_warp(const struct heisenberg_wave_sum *of_thread, struct heisenberg_wave_sum *sum)
{
  add_of_warp(of_thread->high, &sum->high);
  add_of_warp(of_thread->low, &sum->low);
}

#endif
