/* Words of a group, their neighbours, and the signs of the couplings between them; the situation of
 * each lane of a word derived from these, and the comparison that follows. */
#ifndef GPUMC_ISING_MULTISPIN_SITUATION_CUH
#define GPUMC_ISING_MULTISPIN_SITUATION_CUH

#include <type_traits>

#include "models/ising/multispin/multispin_gpu.h"
#include "models/lattice/bit_sliced.cuh"

enum { ISING_MULTISPIN_EITHER = 0 }; /* rounds of Philox: 7 or 10 */

/* WIDTH: words that a thread takes at once. SIGNS: couplings differ, and have words of their own.
 * PLAIN: Metropolis without a field. EACH: every run has its own temperature. ROUNDS: of Philox,
 * or ISING_MULTISPIN_EITHER: those of the batch. ZEROS: planes (0, 2 or 4), from the first, in
 * which all thresholds are 0. PACKED: the lanes of a word are sites of a row of one replica
 * (packed_gpu.h), not replicas. PAIRS: the two words of a thread may be in two rows (struct
 * ising_multispin_pair_sites). GROUPS: that a thread takes at once, a word of each; with WIDTH 1.
 */
template <int WIDTH_, int DIMENSION_, bool SIGNS_, bool PLAIN_, bool EACH_, int ROUNDS_, int ZEROS_,
          bool PACKED_ = false, bool PAIRS_ = false, int GROUPS_ = 1>
struct ising_multispin_kind {
  static constexpr int WIDTH = WIDTH_, DIMENSION = DIMENSION_, ROUNDS = ROUNDS_, ZEROS = ZEROS_,
                       GROUPS = GROUPS_, WORDS = WIDTH_ * GROUPS_;
  static constexpr bool SIGNS = SIGNS_, PLAIN = PLAIN_, EACH = EACH_, PACKED = PACKED_,
                        PAIRS = PAIRS_;
  static constexpr int NEIGHBOURS = 2 * DIMENSION;
  /* Plain: the classes of spins that need a comparison. */
  static constexpr int CLASSES = PLAIN ? DIMENSION : NEIGHBOURS + 1;
  static constexpr int CLASS_BITS = PLAIN ? DIMENSION - 1 : 3;
};

/* The words k .. k + WIDTH - 1 of a colour, which are consecutive: neighbours and, if couplings
 * have words, their signs. */
template <class KIND> struct ising_multispin_neighbours {
  uint32_t near[KIND::NEIGHBOURS][KIND::WIDTH];
  uint32_t sign[KIND::SIGNS ? KIND::NEIGHBOURS : 1][KIND::WIDTH];
};

/* Where words find their neighbours, counted from the first word. At the side: the word before or
 * the one after, and `beyond`, the place of the word outside of the WIDTH words themselves. Rows
 * before and after: of planes in three dimensions; otherwise these follow directly from k. */
struct ising_multispin_place {
  bool back;
  int32_t beyond, above, below;
};

/* The same for a pair of words of any rows: the neighbours themselves. */
struct ising_multispin_pair_place {
  uint32_t above[2], below[2], side[2];
};

template <class KIND>
using ising_multispin_place_of =
    typename std::conditional<KIND::PAIRS, struct ising_multispin_pair_place,
                              struct ising_multispin_place>::type;

template <int WIDTH>
GPUMC_HOST_DEVICE static inline void
ising_multispin_load(const uint32_t *from, uint32_t word[WIDTH])
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

/* The same for data that no kernel writes, from device memory. */
template <int WIDTH>
GPUMC_HOST_DEVICE static inline void
ising_multispin_fetch(const uint32_t *from, uint32_t word[WIDTH])
{
#ifndef __CUDA_ARCH__
  ising_multispin_load<WIDTH>(from, word);
#else
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
#endif
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

/* For the pair of words k, k + 1. */
GPUMC_HOST_DEVICE static inline struct ising_multispin_pair_place
ising_multispin_pair_place(const struct ising_multispin_replicas *lattice, uint32_t colour,
                           uint32_t k)
{
  uint32_t pair[4];
  ising_multispin_fetch<4>((const uint32_t *)&lattice->pairs[k / 2], pair);
  const uint32_t side = colour == 0 ? pair[2] : pair[3];
  return {{pair[0] & UINT16_MAX, pair[0] >> 16},
          {pair[1] & UINT16_MAX, pair[1] >> 16},
          {side & UINT16_MAX, side >> 16}};
}

/* For the words k .. k + WIDTH - 1 of a colour (lattice/checkerboard.h). */
template <class KIND>
GPUMC_HOST_DEVICE static inline ising_multispin_place_of<KIND>
ising_multispin_place(const struct ising_multispin_replicas *lattice, uint32_t colour, uint32_t k)
{
  if constexpr (KIND::PAIRS) {
    return ising_multispin_pair_place(lattice, colour, k);
  } else {
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
}

/* Returns the step from k to the place `step` further, or `step` back, of all `n`, periodic. */
GPUMC_HOST_DEVICE static inline int32_t ising_multispin_after(uint32_t k, int32_t step, int32_t n)
{
  return k >= (uint32_t)(n - step) ? step - n : step;
}

GPUMC_HOST_DEVICE static inline int32_t ising_multispin_before(uint32_t k, int32_t step, int32_t n)
{
  return k < (uint32_t)step ? n - step : -step;
}

/* Loads the signs of the couplings in one direction: for colour 0 from the array `own`, for colour
 * 1 from `others` at the place of the neighbour (struct ising_multispin_disorder). */
template <int WIDTH>
GPUMC_HOST_DEVICE static inline void
ising_multispin_fetch_signs(const uint32_t *signs, uint32_t n, uint32_t colour, uint32_t own,
                            uint32_t others, uint32_t k, int32_t offset, uint32_t word[WIDTH])
{
  const uint32_t at = colour == 0 ? own * n + k : others * n + k + (uint32_t)offset;
  ising_multispin_fetch<WIDTH>(signs + at, word);
}

/* Returns the array with the signs of the bonds in direction d for colour 1. */
template <class KIND> GPUMC_HOST_DEVICE constexpr uint32_t ising_multispin_others_signs(uint32_t d)
{
  if (d == ISING_MULTISPIN_SIDE)
    return KIND::NEIGHBOURS;
  return d == ISING_MULTISPIN_SAME ? d : d ^ 1;
}

/* signs: of the group, if KIND has any. */
template <class KIND>
GPUMC_HOST_DEVICE static inline void
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
  GPUMC_UNROLL
  for (int d = 0; d < KIND::NEIGHBOURS; d++)
    if (d != ISING_MULTISPIN_SIDE)
      ising_multispin_load<WIDTH>(same + offset[d], at->near[d]);
  GPUMC_UNROLL
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
    GPUMC_UNROLL
    for (int d = 0; d < KIND::NEIGHBOURS; d++)
      ising_multispin_fetch_signs<WIDTH>(signs, (uint32_t)n, colour, d,
                                         ising_multispin_others_signs<KIND>(d), k, offset[d],
                                         at->sign[d]);
  }
}

/* The same for a pair. */
template <class KIND>
GPUMC_HOST_DEVICE static inline void
ising_multispin_load_neighbours(const struct ising_multispin_replicas *lattice,
                                const uint32_t *other, const uint32_t *signs, uint32_t colour,
                                uint32_t k, struct ising_multispin_pair_place place,
                                struct ising_multispin_neighbours<KIND> *at)
{
  const int32_t plane = (int32_t)lattice->plane, n = (int32_t)lattice->colour;
  const int32_t before = ising_multispin_before(k, plane, n),
                behind = ising_multispin_after(k, plane, n);
  ising_multispin_load<2>(other + k, at->near[ISING_MULTISPIN_SAME]);
  ising_multispin_load<2>(other + k + before, at->near[ISING_MULTISPIN_BEFORE]);
  ising_multispin_load<2>(other + k + behind, at->near[ISING_MULTISPIN_BEHIND]);
  GPUMC_UNROLL
  for (uint32_t j = 0; j < 2; j++) {
    at->near[ISING_MULTISPIN_ABOVE][j] = other[place.above[j]];
    at->near[ISING_MULTISPIN_BELOW][j] = other[place.below[j]];
    at->near[ISING_MULTISPIN_SIDE][j] = other[place.side[j]];
  }
  if constexpr (KIND::SIGNS) {
    const int32_t offset[KIND::NEIGHBOURS] = {0, 0, 0, 0, before, behind};
    GPUMC_UNROLL
    for (int d = ISING_MULTISPIN_SAME; d < KIND::NEIGHBOURS; d++)
      ising_multispin_fetch_signs<2>(signs, (uint32_t)n, colour, d,
                                     ising_multispin_others_signs<KIND>(d), k, offset[d],
                                     at->sign[d]);
    GPUMC_UNROLL
    for (uint32_t j = 0; j < 2; j++) {
      const uint32_t above = colour == 0 ? k + j : n + place.above[j],
                     below = colour == 0 ? n + k + j : place.below[j];
      ising_multispin_fetch<1>(signs + above, &at->sign[ISING_MULTISPIN_ABOVE][j]);
      ising_multispin_fetch<1>(signs + below, &at->sign[ISING_MULTISPIN_BELOW][j]);
    }
  }
}

/* Returns neighbour d of word j as seen through the bond. */
template <class KIND>
__device__ static inline uint32_t
ising_multispin_pull(const struct ising_multispin_neighbours<KIND> *at, int d, int j)
{
  if constexpr (KIND::SIGNS)
    return at->near[d][j] ^ at->sign[d][j];
  else
    return at->near[d][j];
}

/* Returns where the bond to neighbour d is unsatisfied. */
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

enum { ISING_MULTISPIN_DRAW_BITS = 4 };

/* Plain: class_bit[0] is "one bond unsatisfied" in three dimensions, the last one "none". Otherwise
 * the bits of the number of neighbours that pull up. */
template <class KIND> struct ising_multispin_situation {
  uint32_t class_bit[KIND::CLASS_BITS];
  uint32_t need; /* lanes that need a comparison */
};

/* Returns the masks of one row (multispin_gpu.h), aligned to four words. */
template <class KIND>
__device__ static inline void ising_multispin_row(const uint32_t (*rows)[ISING_MULTISPIN_COLUMNS],
                                                  uint32_t row, uint32_t value[KIND::CLASSES])
{
  if constexpr (KIND::EACH) {
    uint32_t all[ISING_MULTISPIN_COLUMNS];
    ising_multispin_load<4>(rows[row], all);
    if constexpr (KIND::CLASSES > 4)
      ising_multispin_load<4>(rows[row] + 4, all + 4);
#pragma unroll
    for (int c = 0; c < KIND::CLASSES; c++)
      value[c] = all[c];
  } else {
#pragma unroll
    for (int c = 0; c < KIND::CLASSES; c++)
      value[c] = rows[row][c];
  }
}

/* Returns the row's value for every lane. */
template <class KIND>
__device__ static inline uint32_t
ising_multispin_select(const uint32_t (*rows)[ISING_MULTISPIN_COLUMNS], uint32_t row,
                       const uint32_t class_bit[KIND::CLASS_BITS])
{
  enum { A = GPUMC_LOP3_A, B = GPUMC_LOP3_B, C = GPUMC_LOP3_C };
  uint32_t value[KIND::CLASSES];
  ising_multispin_row<KIND>(rows, row, value);
  if constexpr (KIND::PLAIN) {
    uint32_t selected = value[0];
#pragma unroll
    for (int b = 0; b < KIND::CLASS_BITS; b++)
      selected = gpumc_lop3<(A & B) ^ C>(class_bit[b], value[b + 1], selected);
    return selected;
  } else {
    const uint32_t low = gpumc_select(class_bit[0], value[1], value[0]);
    const uint32_t middle = gpumc_select(class_bit[0], value[3], value[2]);
    uint32_t high = value[4];
    if constexpr (KIND::CLASSES > 5)
      high = gpumc_select(class_bit[1], value[6], gpumc_select(class_bit[0], value[5], value[4]));
    return gpumc_select(class_bit[2], high, gpumc_select(class_bit[1], middle, low));
  }
}

/* Plain, for word j of a square lattice whose couplings are uniform: two bonds at a time. */
template <class KIND>
__device__ static inline struct ising_multispin_situation<KIND>
ising_multispin_plain_square(const struct ising_multispin_neighbours<KIND> *near, uint32_t spin,
                             int j) {
  enum { A = GPUMC_LOP3_A, B = GPUMC_LOP3_B, C = GPUMC_LOP3_C };
  struct ising_multispin_situation<KIND> at;
  const uint32_t a = near->near[0][j], b = near->near[1][j], c = near->near[2][j],
                 d = near->near[3][j];
  const uint32_t both1 = gpumc_lop3<~(A ^ C) & ~(B ^ C)>(a, b, spin);
  const uint32_t both2 = gpumc_lop3<~(A ^ C) & ~(B ^ C)>(c, d, spin);
  const uint32_t any1 = gpumc_lop3<~(A ^ C) | ~(B ^ C)>(a, b, spin);
  const uint32_t any2 = gpumc_lop3<~(A ^ C) | ~(B ^ C)>(c, d, spin);
  at.class_bit[0] = both1 & both2;
  at.need = gpumc_lop3<(A & B) | C>(any1, both2, both1 &any2);
  return at;
}

/* Plain. If fewer than half of the bonds are unsatisfied, a comparison is needed. */
template <class KIND>
__device__ static inline struct ising_multispin_situation<KIND>
ising_multispin_plain(const struct ising_multispin_neighbours<KIND> *near, uint32_t spin, int j) {
  enum { A = GPUMC_LOP3_A, B = GPUMC_LOP3_B, C = GPUMC_LOP3_C };
  enum { MAJORITY = (A & B) | (A & C) | (B & C) };
  struct ising_multispin_situation<KIND> at;
  uint32_t x[KIND::NEIGHBOURS];
#pragma unroll
  for (int d = 0; d < KIND::NEIGHBOURS; d++)
    x[d] = ising_multispin_unlike<KIND>(near, spin, d, j);
  if constexpr (KIND::DIMENSION == 2) {
    const uint32_t some = gpumc_lop3<A | B | C>(x[0], x[1], x[2]);
    const uint32_t two = gpumc_lop3<MAJORITY>(x[0], x[1], x[2]);
    at.class_bit[0] = ~(some | x[3]);
    at.need = gpumc_lop3<~(A | (B & C))>(two, some, x[3]);
  } else {
    const uint32_t one1 = gpumc_lop3<A ^ B ^ C>(x[0], x[1], x[2]);
    const uint32_t one2 = gpumc_lop3<A ^ B ^ C>(x[3], x[4], x[5]);
    const uint32_t two1 = gpumc_lop3<MAJORITY>(x[0], x[1], x[2]);
    const uint32_t two2 = gpumc_lop3<MAJORITY>(x[3], x[4], x[5]);
    const uint32_t some = one1 | one2;
    at.class_bit[0] = one1 ^ one2;
    at.class_bit[1] = gpumc_lop3<~(A | B | C)>(two1, two2, some);
    at.need = gpumc_lop3<~MAJORITY>(two1, two2, some);
  }
  return at;
}

/* With a field or heat bath: counts the neighbours that pull up. `keep`: all ones for Metropolis,
 * none for heat bath, where all lanes are compared. */
template <class KIND>
__device__ static inline struct ising_multispin_situation<KIND>
ising_multispin_counted(const struct ising_multispin_neighbours<KIND> *near,
                        const uint32_t (*rows)[ISING_MULTISPIN_COLUMNS], uint32_t keep,
                        uint32_t spin, int j) {
  enum { A = GPUMC_LOP3_A, B = GPUMC_LOP3_B, C = GPUMC_LOP3_C };
  enum { MAJORITY = (A & B) | (A & C) | (B & C) };
  struct ising_multispin_situation<KIND> at;
  uint32_t a[KIND::NEIGHBOURS];
#pragma unroll
  for (int d = 0; d < KIND::NEIGHBOURS; d++)
    a[d] = ising_multispin_pull<KIND>(near, d, j);
  const uint32_t one = gpumc_lop3<A ^ B ^ C>(a[0], a[1], a[2]);
  const uint32_t two = gpumc_lop3<MAJORITY>(a[0], a[1], a[2]);
  if constexpr (KIND::DIMENSION == 2) {
    at.class_bit[0] = one ^ a[3];
    at.class_bit[1] = gpumc_lop3<A ^ (B & C)>(two, one, a[3]);
    at.class_bit[2] = gpumc_lop3<A & B & C>(two, one, a[3]);
  } else {
    const uint32_t one2 = gpumc_lop3<A ^ B ^ C>(a[3], a[4], a[5]);
    const uint32_t two2 = gpumc_lop3<MAJORITY>(a[3], a[4], a[5]);
    const uint32_t carry = one & one2;
    at.class_bit[0] = one ^ one2;
    at.class_bit[1] = gpumc_lop3<A ^ B ^ C>(two, two2, carry);
    at.class_bit[2] = gpumc_lop3<MAJORITY>(two, two2, carry);
  }
  const uint32_t spin_up =
      ising_multispin_select<KIND>(rows, ISING_MULTISPIN_SPIN_UP, at.class_bit);
  at.need = gpumc_lop3<~((A ^ B) & C)>(spin, spin_up, keep);
  return at;
}

template <class KIND>
__device__ static inline struct ising_multispin_situation<KIND>
ising_multispin_situation_of(const struct ising_multispin_neighbours<KIND> *near,
                             const uint32_t (*rows)[ISING_MULTISPIN_COLUMNS], uint32_t keep,
                             uint32_t spin, int j) {
  if constexpr (KIND::PLAIN && KIND::DIMENSION == 2 && !KIND::SIGNS)
    return ising_multispin_plain_square<KIND>(near, spin, j);
  else if constexpr (KIND::PLAIN)
    return ising_multispin_plain<KIND>(near, spin, j);
  else
    return ising_multispin_counted<KIND>(near, rows, keep, spin, j);
}

/* Continues with the four bits u of `draw`. For the first ZEROS of them (0, 2 or 4) the thresholds
 * of all classes are 0: only zeros keep the previous result. */
template <class KIND, int ZEROS>
__device__ static inline void
ising_multispin_compare_draw(const uint32_t (*rows)[ISING_MULTISPIN_COLUMNS],
                             const uint32_t class_bit[KIND::CLASS_BITS], uint32_t draw,
                             const uint32_t u[ISING_MULTISPIN_DRAW_BITS], uint32_t *less,
                             uint32_t *equal)
{
#pragma unroll
  for (int p = ISING_MULTISPIN_DRAW_BITS - 1; p >= ZEROS; p--) {
    const uint32_t threshold = ising_multispin_select<KIND>(
        rows, draw * ISING_MULTISPIN_DRAW_BITS + (uint32_t)p, class_bit);
    gpumc_compare_bit(u[p], threshold, less, equal);
  }
#pragma unroll
  for (int p = 0; p < ZEROS; p += 2) {
    enum { BEFORE = GPUMC_LOP3_A, U0 = GPUMC_LOP3_B, U1 = GPUMC_LOP3_C };
    *less = gpumc_lop3<BEFORE & ~U0 & ~U1>(*less, u[p], u[p + 1]);
    *equal = gpumc_lop3<BEFORE & ~U0 & ~U1>(*equal, u[p], u[p + 1]);
  }
}

/* Returns the spins of a word after the comparison: undecided lanes stay as they were or, under
 * heat bath, are down until they are decided. */
template <class KIND>
__device__ static inline uint32_t
ising_multispin_decided(uint32_t spin, uint32_t keep, uint32_t less, uint32_t need)
{
  enum { A = GPUMC_LOP3_A, B = GPUMC_LOP3_B, C = GPUMC_LOP3_C };
  if constexpr (KIND::PLAIN)
    return gpumc_lop3<A ^ (B | ~C)>(spin, less, need);
  else
    return gpumc_lop3<(A & B) ^ C>(spin, keep, less | ~need);
}

#endif
