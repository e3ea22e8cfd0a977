/* Cosine and sine sums of a group along the axes of a wave, by the sums over its planes. */
#ifndef GPUMC_ISING_MULTISPIN_WAVE_CUH
#define GPUMC_ISING_MULTISPIN_WAVE_CUH

#include "models/ising/ising_multispin_group.cuh"

/* By axis and lane, of the bits that are set; sums of signed numbers as unsigned ones. */
struct ising_multispin_wave_sums {
  unsigned long long cosine[3][ISING_MULTISPIN_LANES], sine[3][ISING_MULTISPIN_LANES];
};

/* Word number i of the `colour` ones where coordinate `axis` is c (lattice/checkerboard.h). */
__device__ static inline uint32_t
ising_multispin_plane_word(const struct ising_multispin_replicas *lattice, uint32_t axis,
                           uint32_t c, uint32_t colour, uint32_t i)
{
  const uint32_t row = lattice->row.value, height = lattice->height.value;
  if (axis == 0) { /* of rows 2 i and 2 i + 1 the one that has x = c in this colour */
    const uint32_t z = gpumc_divide(2 * i, lattice->height);
    return (2 * i + ((c + z + colour) & 1)) * row + c / 2;
  }
  if (axis == 1) {
    const uint32_t z = gpumc_divide(i, lattice->row);
    return (z * height + c) * row + (i - z * row);
  }
  return c * lattice->plane + i;
}

/* The bits set in one plane, of lane number `lane` of the calling warp. No plane of a lattice below
 * 2^31 sites is too large for the counter, since the axis is the longest. */
__device__ static inline uint32_t
ising_multispin_plane_count(const struct ising_multispin_replicas *lattice, const uint32_t *sites,
                            uint32_t axis, uint32_t c, uint32_t length, uint32_t lane)
{
  enum { AT_ONCE = 4 };
  const uint32_t of_colour = lattice->colour / length;
  struct gpumc_vertical_counter counter = {{0}};
  for (uint32_t first = lane; first < 2 * of_colour; first += AT_ONCE * 32) {
    uint32_t word[AT_ONCE];
#pragma unroll
    for (uint32_t j = 0; j < AT_ONCE; j++) {
      const uint32_t i = first + j * 32, colour = i >= of_colour;
      const size_t begin = (size_t)colour * lattice->colour;
      word[j] = i < 2 * of_colour
                    ? sites[begin + ising_multispin_plane_word(lattice, axis, c, colour,
                                                               i - colour * of_colour)]
                    : 0;
    }
    gpumc_counter_add<0, AT_ONCE>(&counter, word);
  }
  return gpumc_counter_warp_sum(&counter);
}

/* A warp has a plane at a time, of all axes of the wave. */
__device__ static inline void
ising_multispin_wave_add(const struct ising_multispin_replicas *lattice,
                         const struct ising_wave *wave, const int32_t *cosine, const int32_t *sine,
                         const uint32_t *sites, struct ising_multispin_wave_sums *sums)
{
  const uint32_t lane = threadIdx.x % 32, warps = blockDim.x / 32;
  for (uint32_t axis = 0; axis < 3; axis++) {
    if (!wave->along[axis])
      continue;
    for (uint32_t c = threadIdx.x / 32; c < wave->length; c += warps) {
      const int64_t count =
          ising_multispin_plane_count(lattice, sites, axis, c, wave->length, lane);
      atomicAdd(&sums->cosine[axis][lane], (unsigned long long)(count * cosine[c]));
      atomicAdd(&sums->sine[axis][lane], (unsigned long long)(count * sine[c]));
    }
  }
}

#endif
