/* Words of a group, their neighbours, and the signs of the couplings between them. */
#ifndef GPUMC_ISING_MULTISPIN_NEAR_CUH
#define GPUMC_ISING_MULTISPIN_NEAR_CUH

#include "models/ising/multispin/multispin_cuda.h"
#include "models/lattice/lop3.cuh"

/* The words k .. k + WIDTH - 1 of a colour, which stand in a row: neighbours and, where couplings
 * have words, their signs. */
template <class KIND> struct ising_multispin_neighbours {
  uint32_t near[KIND::NEIGHBOURS][KIND::WIDTH];
  uint32_t sign[KIND::SIGNS ? KIND::NEIGHBOURS : 1][KIND::WIDTH];
};

/* Where words find their neighbours, counted from the first word. At the side: the word before or
 * the one after, and `beyond`, the place of what lies beyond the WIDTH words themselves. Rows
 * before and after: of planes in three dimensions, else these follow from k at once. */
struct ising_multispin_place {
  bool back;
  int32_t beyond, above, below;
};

template <int WIDTH>
__device__ static inline void ising_multispin_load(const uint32_t *from, uint32_t word[WIDTH])
{
  if constexpr (WIDTH == 4) {
    const uint4 vector = *(const uint4 *)from;
    word[0] = vector.x;
    word[1] = vector.y;
    word[2] = vector.z;
    word[3] = vector.w;
  } else if constexpr (WIDTH == 2) {
    const uint2 vector = *(const uint2 *)from;
    word[0] = vector.x;
    word[1] = vector.y;
  } else {
    word[0] = *from;
  }
}

/* The same of what no kernel writes, from device memory. */
template <int WIDTH>
__device__ static inline void ising_multispin_fetch(const uint32_t *from, uint32_t word[WIDTH])
{
  if constexpr (WIDTH == 4) {
    const uint4 vector = __ldg((const uint4 *)from);
    word[0] = vector.x;
    word[1] = vector.y;
    word[2] = vector.z;
    word[3] = vector.w;
  } else if constexpr (WIDTH == 2) {
    const uint2 vector = __ldg((const uint2 *)from);
    word[0] = vector.x;
    word[1] = vector.y;
  } else {
    word[0] = __ldg(from);
  }
}

template <int WIDTH>
__device__ static inline void ising_multispin_store(uint32_t *to, const uint32_t *word)
{
  if constexpr (WIDTH == 4)
    *(uint4 *)to = make_uint4(word[0], word[1], word[2], word[3]);
  else if constexpr (WIDTH == 2)
    *(uint2 *)to = make_uint2(word[0], word[1]);
  else
    *to = word[0];
}

/* Of the words k .. k + WIDTH - 1 of a colour (lattice/checkerboard.h). */
template <class KIND>
__device__ static inline struct ising_multispin_place
ising_multispin_place(const struct ising_multispin_replicas *lattice, uint32_t colour, uint32_t k)
{
  const uint32_t row = lattice->row.value, line = gpumc_divide(k, lattice->row);
  const uint32_t x = k - line * row;
  uint32_t parity = line + colour;
  struct ising_multispin_place place = {false, 0, 0, 0};
  if constexpr (KIND::DIMENSION == 3) {
    const int32_t plane = (int32_t)lattice->plane, step = (int32_t)row;
    const uint32_t z = gpumc_divide(line, lattice->height), y = line - z * lattice->height.value;
    parity += z;
    place.above = y == 0 ? plane - step : -step;
    place.below = y == lattice->height.value - 1 ? step - plane : step;
  }
  place.back = (parity & 1) == 0;
  const int32_t around = x == (place.back ? 0 : row - KIND::WIDTH) ? (int32_t)row : 0;
  place.beyond = place.back ? around - 1 : KIND::WIDTH - around;
  return place;
}

/* From k to the place `step` further, and to the one `step` back, of all `n`, periodic. */
__device__ static inline int32_t ising_multispin_after(uint32_t k, int32_t step, int32_t n)
{
  return k >= (uint32_t)(n - step) ? step - n : step;
}

__device__ static inline int32_t ising_multispin_before(uint32_t k, int32_t step, int32_t n)
{
  return k < (uint32_t)step ? n - step : -step;
}

/* The signs of the couplings in one direction: for colour 0 of the array `own`, for colour 1 of
 * `others` at the place of the neighbour (struct ising_multispin_disorder). */
template <int WIDTH>
__device__ static inline void
ising_multispin_fetch_signs(const uint32_t *signs, uint32_t n, uint32_t colour, uint32_t own,
                            uint32_t others, uint32_t k, int32_t offset, uint32_t word[WIDTH])
{
  const uint32_t at = colour == 0 ? own * n + k : others * n + k + (uint32_t)offset;
  ising_multispin_fetch<WIDTH>(signs + at, word);
}

/* signs: of the group, where KIND has any. */
template <class KIND>
__device__ static inline void
ising_multispin_load_neighbours(const struct ising_multispin_replicas *lattice,
                                const uint32_t *other, const uint32_t *signs, uint32_t colour,
                                uint32_t k, struct ising_multispin_place place,
                                struct ising_multispin_neighbours<KIND> *at)
{
  constexpr int WIDTH = KIND::WIDTH;
  const int32_t row = (int32_t)lattice->row.value, n = (int32_t)lattice->colour;
  const uint32_t *same = other + k, beyond = same[place.beyond];
  int32_t offset[KIND::NEIGHBOURS];
  offset[ISING_MULTISPIN_SAME] = offset[ISING_MULTISPIN_SIDE] = 0;
  if constexpr (KIND::DIMENSION == 3) {
    const int32_t plane = (int32_t)lattice->plane;
    offset[ISING_MULTISPIN_ABOVE] = place.above;
    offset[ISING_MULTISPIN_BELOW] = place.below;
    offset[ISING_MULTISPIN_BEFORE] = ising_multispin_before(k, plane, n);
    offset[ISING_MULTISPIN_BEHIND] = ising_multispin_after(k, plane, n);
  } else {
    offset[ISING_MULTISPIN_ABOVE] = ising_multispin_before(k, row, n);
    offset[ISING_MULTISPIN_BELOW] = ising_multispin_after(k, row, n);
  }
#pragma unroll
  for (int d = 0; d < KIND::NEIGHBOURS; d++)
    if (d != ISING_MULTISPIN_SIDE)
      ising_multispin_load<WIDTH>(same + offset[d], at->near[d]);
#pragma unroll
  for (int j = 0; j < WIDTH; j++) {
    const uint32_t *in_row = at->near[ISING_MULTISPIN_SAME];
    const uint32_t before = j == 0 ? beyond : in_row[(j + WIDTH - 1) % WIDTH];
    const uint32_t after = j == WIDTH - 1 ? beyond : in_row[(j + 1) % WIDTH];
    if constexpr (KIND::PACKED)
      at->near[ISING_MULTISPIN_SIDE][j] =
          place.back ? __funnelshift_l(before, in_row[j], 1) : __funnelshift_r(in_row[j], after, 1);
    else
      at->near[ISING_MULTISPIN_SIDE][j] = place.back ? before : after;
  }
  if constexpr (KIND::SIGNS) {
#pragma unroll
    for (int d = 0; d < KIND::NEIGHBOURS; d++) {
      const bool in_row = d == ISING_MULTISPIN_SAME || d == ISING_MULTISPIN_SIDE;
      const uint32_t opposite = in_row ? d : d ^ 1;
      const uint32_t others = d == ISING_MULTISPIN_SIDE ? KIND::NEIGHBOURS : opposite;
      ising_multispin_fetch_signs<WIDTH>(signs, (uint32_t)n, colour, d, others, k, offset[d],
                                         at->sign[d]);
    }
  }
}

/* Neighbour d of word j as the bond shows it. */
template <class KIND>
__device__ static inline uint32_t
ising_multispin_pull(const struct ising_multispin_neighbours<KIND> *at, int d, int j)
{
  if constexpr (KIND::SIGNS)
    return at->near[d][j] ^ at->sign[d][j];
  else
    return at->near[d][j];
}

/* Where the bond to neighbour d is not satisfied. */
template <class KIND>
__device__ static inline uint32_t
ising_multispin_unlike(const struct ising_multispin_neighbours<KIND> *at, uint32_t spin, int d,
                       int j)
{
  enum { A = GPUMC_LOP3_A, B = GPUMC_LOP3_B, C = GPUMC_LOP3_C };
  if constexpr (KIND::SIGNS)
    return gpumc_lop3<A ^ B ^ C>(spin, at->near[d][j], at->sign[d][j]);
  else
    return spin ^ at->near[d][j];
}

#endif
