/* The measurement of a replica in device memory by one thread, for both compilers, so that tests
 * can run it site by site; and sums over the threads of a warp. */
#ifndef GPUMC_HEISENBERG_SUMS_CUH
#define GPUMC_HEISENBERG_SUMS_CUH

#include "models/heisenberg/heisenberg_gpu.h"
#include "models/heisenberg/heisenberg_precision.cuh"

enum {
  MEASURING_THREADS = 128,
  MEASURING_STEPS = 16, /* sites of colour 0 that a thread measures at most */
};

/* Returns spin k of a colour that begins at `colour`. */
template <class RULES, int N>
GPUMC_HOST_DEVICE static inline typename RULES::vector
spin_at(const typename RULES::real *colour, size_t sites, uint32_t k)
{
  typename RULES::vector spin = {colour[k], colour[sites + k], 0};
  if (N == 3)
    spin.z = colour[2 * sites + k];
  return spin;
}

/* Returns the layer along an axis that contains the site at index k of a colour. */
GPUMC_HOST_DEVICE static inline uint32_t
layer_of(const struct heisenberg_gpu_lattice *lattice, uint32_t colour, uint32_t k, uint32_t axis)
{
  const struct heisenberg_place place = heisenberg_place_at(lattice, k);
  const uint32_t x = 2 * place.x + (heisenberg_is_back(place, colour) ? 0 : 1);
  return axis == 0 ? x : axis == 1 ? place.y : place.z;
}

template <class VECTOR> GPUMC_HOST_DEVICE static inline VECTOR sum_of(VECTOR a, VECTOR b)
{
  const VECTOR sum = {a.x + b.x, a.y + b.y, a.z + b.z};
  return sum;
}

template <class RULES, int N>
GPUMC_HOST_DEVICE static inline void
add_magnetization(typename RULES::vector spin, struct heisenberg_sums *sums)
{
  sums->magnetization[0] += RULES::quanta(spin.x);
  sums->magnetization[1] += RULES::quanta(spin.y);
  if (N == 3)
    sums->magnetization[2] += RULES::quanta(spin.z);
}

template <class RULES>
GPUMC_HOST_DEVICE static inline int64_t larger_drift(typename RULES::vector spin, int64_t largest)
{
  const int64_t drift = heisenberg_drift((double)spin.x, (double)spin.y, (double)spin.z);
  return drift > largest ? drift : largest;
}

template <class VECTOR, class REAL>
GPUMC_HOST_DEVICE static inline VECTOR scaled(VECTOR v, REAL factor)
{
  const VECTOR product = {factor * v.x, factor * v.y, factor * v.z};
  return product;
}

template <class RULES>
GPUMC_HOST_DEVICE static inline typename RULES::vector
fused(typename RULES::real factor, typename RULES::vector v, typename RULES::vector sum)
{
  const typename RULES::vector next = {RULES::fused(factor, v.x, sum.x),
                                       RULES::fused(factor, v.y, sum.y),
                                       RULES::fused(factor, v.z, sum.z)};
  return next;
}

/* Adds the contribution of site k of colour 0: its bonds, its spin, and that of the same index of
 * colour 1. `couplings`: those of the site's colour if QUENCHED; `twist`: the bonds along x as
 * well; `drift`: the lengths of both. */
template <class RULES, int N, bool QUENCHED>
GPUMC_HOST_DEVICE static inline void
add_site(const struct heisenberg_gpu_lattice *lattice, const typename RULES::real *couplings,
         const typename RULES::real *spins, uint32_t k, bool twist, bool drift,
         struct heisenberg_sums *sums)
{
  typedef typename RULES::vector vector;
  const size_t sites = 2 * (size_t)lattice->colour;
  const typename RULES::real *other = spins + lattice->colour;
  const struct heisenberg_place place = heisenberg_place_at(lattice, k);
  const bool back = heisenberg_is_back(place, 0);
  const vector spin = spin_at<RULES, N>(spins, sites, k);
  const vector same = spin_at<RULES, N>(other, sites, k);
  vector side = spin_at<RULES, N>(other, sites,
                                  back ? heisenberg_before_in_row(lattice, k, place.x)
                                       : heisenberg_after_in_row(lattice, k, place.x));
  vector along = same, both = sum_of(same, side), sum = both;
  if (QUENCHED) {
    const size_t n = lattice->colour;
    const typename RULES::real to_side = couplings[HEISENBERG_SIDE * n + k];
    along = scaled(same, couplings[k]);
    sum = fused<RULES>(to_side, side, along);
    side = scaled(side, to_side);
    both = sum_of(along, side);
    for (uint32_t kind = HEISENBERG_ROW_BEFORE; kind < 2 * lattice->dimension; kind++) {
      const uint32_t next =
          kind == HEISENBERG_ROW_BEFORE     ? heisenberg_row_before(lattice, k, place.y)
          : kind == HEISENBERG_ROW_AFTER    ? heisenberg_row_after(lattice, k, place.y)
          : kind == HEISENBERG_PLANE_BEFORE ? heisenberg_plane_before(lattice, k)
                                            : heisenberg_plane_after(lattice, k);
      sum = fused<RULES>(couplings[kind * n + k], spin_at<RULES, N>(other, sites, next), sum);
    }
  }
  if (!QUENCHED && lattice->dimension >= 2) {
    sum = sum_of(sum, spin_at<RULES, N>(other, sites, heisenberg_row_before(lattice, k, place.y)));
    sum = sum_of(sum, spin_at<RULES, N>(other, sites, heisenberg_row_after(lattice, k, place.y)));
  }
  if (!QUENCHED && lattice->dimension == 3) {
    sum = sum_of(sum, spin_at<RULES, N>(other, sites, heisenberg_plane_before(lattice, k)));
    sum = sum_of(sum, spin_at<RULES, N>(other, sites, heisenberg_plane_after(lattice, k)));
  }
  add_magnetization<RULES, N>(spin, sums);
  add_magnetization<RULES, N>(same, sums);
  sums->bonds += RULES::quanta(RULES::dot(N, spin, sum));
  if (drift)
    sums->drift = larger_drift<RULES>(same, larger_drift<RULES>(spin, sums->drift));
  if (!twist)
    return;
  /* The step forward leads to the same index if the side is one back. */
  const typename RULES::real forward = back ? 1 : -1;
  const vector step = {forward * (along.x - side.x), forward * (along.y - side.y),
                       forward * (along.z - side.z)};
  sums->along += RULES::quanta(RULES::dot(N, spin, both));
  sums->across[2] += RULES::quanta(spin.x * step.y - spin.y * step.x);
  if (N == 3) {
    sums->across[0] += RULES::quanta(spin.y * step.z - spin.z * step.y);
    sums->across[1] += RULES::quanta(spin.z * step.x - spin.x * step.z);
  }
}

/* ---- sums of a warp ---- */

static __device__ inline void add_of_warp(int64_t value, int64_t *sum)
{
#pragma unroll
  for (uint32_t width = HEISENBERG_WARP / 2; width != 0; width /= 2)
    value += __shfl_xor_sync(UINT32_MAX, value, width);
  if (threadIdx.x % HEISENBERG_WARP == 0)
    atomicAdd((unsigned long long *)sum, (unsigned long long)value);
}

static __device__ inline void
add_wave_of_warp(const struct heisenberg_wave_sum *of_thread, struct heisenberg_wave_sum *sum)
{
  add_of_warp(of_thread->high, &sum->high);
  add_of_warp(of_thread->low, &sum->low);
}

#endif
