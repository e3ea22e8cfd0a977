/* What the neighbours of a word say of each of its lanes, and the comparison that follows. */
#ifndef GPUMC_ISING_MULTISPIN_SITUATION_CUH
#define GPUMC_ISING_MULTISPIN_SITUATION_CUH

#include "models/ising/multispin/multispin_near.cuh"
#include "models/lattice/bit_serial.cuh"

enum { ISING_MULTISPIN_DRAW_BITS = 4 };

/* Plain: class_bit[0] is "one bond unsatisfied" in three dimensions, the last one "none". Else the
 * bits of the number of neighbours that pull up. */
template <class KIND> struct ising_multispin_situation {
  uint32_t class_bit[KIND::CLASS_BITS];
  uint32_t need; /* lanes that need a comparison */
};

/* Masks of one row (multispin_rule_cuda.h), on four words' boundaries. */
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

/* What a row says of every lane. */
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

/* Plain, of word j of a square lattice whose couplings are the same: two bonds at a time. */
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

/* Plain. At most half of the bonds less one unsatisfied: a comparison is needed. */
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

/* With a field or heat bath: the neighbours that pull up are counted. `keep`: all ones for
 * Metropolis, none for heat bath, where all lanes are compared. */
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

/* Go on with the four bits u of `draw`. The first ZEROS of them (0, 2 or 4) meet thresholds that
 * are 0 there for all classes: then only zeros keep what was. */
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

/* The spins of a word after the comparison: undecided lanes stay as they were or, heat bath, are
 * down until they are decided. */
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
