/* The measurement of a replica in device memory by one thread, in double precision for both kernels
 * and for both compilers, so that tests can run it site by site; and sums over the threads of a
 * warp. REAL: the precision that spins and couplings are stored in. */
#ifndef GPUMC_HEISENBERG_SUMS_CUH
#define GPUMC_HEISENBERG_SUMS_CUH

#include "models/heisenberg/heisenberg_gpu.h"
#include "models/heisenberg/heisenberg_length.h"
#include "models/heisenberg/heisenberg_precision.cuh"

enum {
  MEASURING_THREADS = 128,
  MEASURING_STEPS = 16, /* sites of colour 0 that a thread measures at most */
};

/* Returns spin k of a colour that begins at `colour`, as it is. */
template <class REAL, int N>
GPUMC_HOST_DEVICE static inline struct heisenberg_vector_double
stored_spin(const REAL *colour, size_t sites, uint32_t k)
{
  struct heisenberg_vector_double spin = {(double)colour[k], (double)colour[sites + k], 0};
  if (N == 3)
    spin.z = (double)colour[2 * sites + k];
  return spin;
}

/* Returns it divided by its length if it is stored in single precision and `unit`. */
template <class REAL, int N>
GPUMC_HOST_DEVICE static inline struct heisenberg_vector_double
spin_at(const REAL *colour, size_t sites, uint32_t k, bool unit)
{
  const struct heisenberg_vector_double spin = stored_spin<REAL, N>(colour, sites, k);
  return sizeof(REAL) == sizeof(float) && unit ? heisenberg_of_length_1(N, spin) : spin;
}

GPUMC_HOST_DEVICE static inline double
component_of(struct heisenberg_vector_double spin, uint32_t component)
{
  return component == 0 ? spin.x : component == 1 ? spin.y : spin.z;
}

/* Returns the layer along an axis that contains the site at index k of a colour. */
GPUMC_HOST_DEVICE static inline uint32_t
layer_of(const struct heisenberg_gpu_lattice *lattice, uint32_t colour, uint32_t k, uint32_t axis)
{
  const struct heisenberg_place place = heisenberg_place_at(lattice, k);
  const uint32_t x = 2 * place.x + (heisenberg_is_back(place, colour) ? 0 : 1);
  return axis == 0 ? x : axis == 1 ? place.y : place.z;
}

GPUMC_HOST_DEVICE static inline struct heisenberg_vector_double
sum_of(struct heisenberg_vector_double a, struct heisenberg_vector_double b)
{
  const struct heisenberg_vector_double sum = {a.x + b.x, a.y + b.y, a.z + b.z};
  return sum;
}

template <int N>
GPUMC_HOST_DEVICE static inline void
add_magnetization(struct heisenberg_vector_double spin, struct heisenberg_sums *sums)
{
  sums->magnetization[0] += heisenberg_quanta_double(spin.x);
  sums->magnetization[1] += heisenberg_quanta_double(spin.y);
  if (N == 3)
    sums->magnetization[2] += heisenberg_quanta_double(spin.z);
}

GPUMC_HOST_DEVICE static inline int64_t
larger_drift(struct heisenberg_vector_double spin, int64_t largest)
{
  const int64_t drift = heisenberg_drift(spin.x, spin.y, spin.z);
  return drift > largest ? drift : largest;
}

GPUMC_HOST_DEVICE static inline struct heisenberg_vector_double
scaled(struct heisenberg_vector_double v, double factor)
{
  const struct heisenberg_vector_double product = {factor * v.x, factor * v.y, factor * v.z};
  return product;
}

GPUMC_HOST_DEVICE static inline struct heisenberg_vector_double
fused(double factor, struct heisenberg_vector_double v, struct heisenberg_vector_double sum)
{
  const struct heisenberg_vector_double next = {fma(factor, v.x, sum.x), fma(factor, v.y, sum.y),
                                                fma(factor, v.z, sum.z)};
  return next;
}

/* What of a replica is measured beside the magnetization and all bonds: the bonds along x, and the
 * lengths; `unit`: of spins of length 1. */
struct heisenberg_wanted {
  bool twist, drift, unit;
};

/* Adds the contribution of site k of colour 0: its bonds, its spin, and that of the same index of
 * colour 1. `couplings`: those of the site's colour if QUENCHED. */
template <class REAL, int N, bool QUENCHED>
GPUMC_HOST_DEVICE static inline void
add_site(const struct heisenberg_gpu_lattice *lattice, const REAL *couplings, const REAL *spins,
         uint32_t k, struct heisenberg_wanted wanted, struct heisenberg_sums *sums)
{
  typedef struct heisenberg_vector_double vector;
  const size_t sites = 2 * (size_t)lattice->colour;
  const REAL *other = spins + lattice->colour;
  const struct heisenberg_place place = heisenberg_place_at(lattice, k);
  const bool back = heisenberg_is_back(place, 0), unit = wanted.unit;
  const vector spin = spin_at<REAL, N>(spins, sites, k, unit);
  const vector same = spin_at<REAL, N>(other, sites, k, unit);
  vector side = spin_at<REAL, N>(other, sites,
                                 back ? heisenberg_before_in_row(lattice, k, place.x)
                                      : heisenberg_after_in_row(lattice, k, place.x),
                                 unit);
  vector along = same, both = sum_of(same, side), sum = both;
  if (QUENCHED) {
    const size_t n = lattice->colour;
    const double to_side = (double)couplings[HEISENBERG_SIDE * n + k];
    along = scaled(same, (double)couplings[k]);
    sum = fused(to_side, side, along);
    side = scaled(side, to_side);
    both = sum_of(along, side);
    for (uint32_t kind = HEISENBERG_ROW_BEFORE; kind < 2 * lattice->dimension; kind++) {
      const uint32_t next =
          kind == HEISENBERG_ROW_BEFORE     ? heisenberg_row_before(lattice, k, place.y)
          : kind == HEISENBERG_ROW_AFTER    ? heisenberg_row_after(lattice, k, place.y)
          : kind == HEISENBERG_PLANE_BEFORE ? heisenberg_plane_before(lattice, k)
                                            : heisenberg_plane_after(lattice, k);
      sum = fused((double)couplings[kind * n + k], spin_at<REAL, N>(other, sites, next, unit), sum);
    }
  }
  if (!QUENCHED && lattice->dimension >= 2) {
    sum = sum_of(sum,
                 spin_at<REAL, N>(other, sites, heisenberg_row_before(lattice, k, place.y), unit));
    sum = sum_of(sum,
                 spin_at<REAL, N>(other, sites, heisenberg_row_after(lattice, k, place.y), unit));
  }
  if (!QUENCHED && lattice->dimension == 3) {
    sum = sum_of(sum, spin_at<REAL, N>(other, sites, heisenberg_plane_before(lattice, k), unit));
    sum = sum_of(sum, spin_at<REAL, N>(other, sites, heisenberg_plane_after(lattice, k), unit));
  }
  add_magnetization<N>(spin, sums);
  add_magnetization<N>(same, sums);
  sums->bonds += heisenberg_quanta_double(heisenberg_dot_double(N, spin, sum));
  if (wanted.drift)
    sums->drift = larger_drift(stored_spin<REAL, N>(other, sites, k),
                               larger_drift(stored_spin<REAL, N>(spins, sites, k), sums->drift));
  if (!wanted.twist)
    return;
  /* The step forward leads to the same index if the side is one back. */
  const double forward = back ? 1 : -1;
  const vector step = {forward * (along.x - side.x), forward * (along.y - side.y),
                       forward * (along.z - side.z)};
  sums->along += heisenberg_quanta_double(heisenberg_dot_double(N, spin, both));
  sums->across[2] += heisenberg_quanta_double(spin.x * step.y - spin.y * step.x);
  if (N == 3) {
    sums->across[0] += heisenberg_quanta_double(spin.y * step.z - spin.z * step.y);
    sums->across[1] += heisenberg_quanta_double(spin.z * step.x - spin.x * step.z);
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
