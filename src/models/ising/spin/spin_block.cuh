/* One block of 64 spins of a colour: its neighbours, its update, and its measurement. The words of
 * a colour may be in shared or in global memory. */
#ifndef GPUMC_ISING_SPIN_BLOCK_CUH
#define GPUMC_ISING_SPIN_BLOCK_CUH

#include "core/numerics/philox.cuh"
#include "models/ising/ising_channels.h"
#include "models/ising/spin/spin_gpu.h"

enum { ISING_SPIN_COUNTERS = 16 };

/* The neighbours of the 32 spins of a word, by direction; which bits of the word are spins. */
struct ising_spin_neighbours {
  uint32_t before, after, beside, side;
  uint32_t valid;
};

/* Returns 32 bits from bit `shift` of word i on; 0 beyond the colour's words. */
__device__ static inline uint32_t
ising_spin_window(const uint32_t *words, uint32_t n_words, uint32_t i, uint32_t shift)
{
  const uint32_t low = i < n_words ? words[i] : 0;
  const uint32_t high = i + 1 < n_words ? words[i + 1] : 0;
  return __funnelshift_r(low, high, shift);
}

/* Returns 32 bits from bit `start` on of a colour that repeats periodically; start < 2 colour. */
__device__ static inline uint32_t
ising_spin_periodic_window(const struct ising_spin_gpu_lattice *lattice, const uint32_t *words,
                           uint32_t start)
{
  if (start >= lattice->colour)
    start -= lattice->colour;
  uint32_t bits = ising_spin_window(words, ising_spin_words(lattice), start / ISING_SPIN_WORD_BITS,
                                    start % ISING_SPIN_WORD_BITS);
  for (uint32_t n = lattice->colour - start; n < ISING_SPIN_WORD_BITS; n += lattice->colour)
    bits |= words[0] << n;
  return bits;
}

/* Returns the bits of word w that are spins. */
GPUMC_HOST_DEVICE static inline uint32_t
ising_spin_valid(const struct ising_spin_gpu_lattice *lattice, uint32_t w)
{
  const uint32_t start = w * ISING_SPIN_WORD_BITS;
  if (start >= lattice->colour)
    return 0;
  const uint32_t n = lattice->colour - start;
  return n < ISING_SPIN_WORD_BITS ? (1u << n) - 1 : UINT32_MAX;
}

/* The side of spin k is k + 1 or k - 1, except for the last or the first of a row, which may have
 * any length. */
__device__ static inline uint32_t ising_spin_side_any(const struct ising_spin_gpu_lattice *lattice,
                                                      const uint32_t *other, uint32_t colour,
                                                      uint32_t w)
{
  const uint32_t n_words = ising_spin_words(lattice);
  const uint32_t row = lattice->row, start = w * ISING_SPIN_WORD_BITS;
  const struct ising_spin_row_masks masks = lattice->masks[w];
  const int32_t to_first = 1 - (int32_t)row;
  const uint32_t first = ising_spin_window(other, n_words, w + (uint32_t)(to_first >> 5),
                                           (uint32_t)to_first % ISING_SPIN_WORD_BITS);
  const uint32_t last = ising_spin_window(other, n_words, (start + row - 1) / ISING_SPIN_WORD_BITS,
                                          (row - 1) % ISING_SPIN_WORD_BITS);
  const uint32_t next = ising_spin_window(other, n_words, w, 1);
  const uint32_t previous = ising_spin_window(other, n_words, w - 1, ISING_SPIN_WORD_BITS - 1);
  const uint32_t forward = (next & ~masks.last) | (first & masks.last);
  const uint32_t backward = (previous & ~masks.first) | (last & masks.first);
  const uint32_t odd = colour == 0 ? masks.odd : ~masks.odd;
  return (forward & odd) | (backward & ~odd);
}

/* For rows of any length. */
__device__ static inline struct ising_spin_neighbours
ising_spin_neighbours_any(const struct ising_spin_gpu_lattice *lattice, const uint32_t *other,
                          uint32_t colour, uint32_t w)
{
  const uint32_t row = lattice->row, start = w * ISING_SPIN_WORD_BITS;
  struct ising_spin_neighbours neighbours;
  neighbours.before = ising_spin_periodic_window(lattice, other, start + lattice->colour - row);
  neighbours.after = ising_spin_periodic_window(lattice, other, start + row);
  neighbours.beside = other[w];
  neighbours.side = ising_spin_side_any(lattice, other, colour, w);
  neighbours.valid = ising_spin_valid(lattice, w);
  return neighbours;
}

/* For rows of whole words. */
__device__ static inline struct ising_spin_neighbours
ising_spin_neighbours_aligned(const struct ising_spin_gpu_lattice *lattice, const uint32_t *other,
                              uint32_t colour, uint32_t w)
{
  const uint32_t n_words = ising_spin_words(lattice);
  const uint32_t row_words = lattice->row_words.value;
  struct ising_spin_neighbours neighbours;
  neighbours.before = other[w < row_words ? w + n_words - row_words : w - row_words];
  neighbours.after = other[w + row_words < n_words ? w + row_words : w + row_words - n_words];
  neighbours.beside = other[w];
  neighbours.valid = UINT32_MAX;
  uint32_t y = w, beyond = neighbours.beside;
  if (row_words > 1) {
    y = gpumc_divide(w, lattice->row_words);
    const uint32_t first = y * row_words, last = first + row_words - 1;
    if (((y ^ colour) & 1) != 0)
      beyond = other[w < last ? w + 1 : first];
    else
      beyond = other[w > first ? w - 1 : last];
  }
  neighbours.side = ((y ^ colour) & 1) != 0 ? __funnelshift_r(neighbours.beside, beyond, 1)
                                            : __funnelshift_l(beyond, neighbours.beside, 1);
  return neighbours;
}

__device__ static inline struct ising_spin_neighbours
ising_spin_neighbours_of(const struct ising_spin_gpu_lattice *lattice, const uint32_t *other,
                         uint32_t colour, uint32_t w)
{
  return lattice->row % ISING_SPIN_WORD_BITS == 0
             ? ising_spin_neighbours_aligned(lattice, other, colour, w)
             : ising_spin_neighbours_any(lattice, other, colour, w);
}

/* Returns the comparison for a number of neighbours up: without a field 0 is for 1 and 3, 1 for 0
 * and 4. */
template <int COMPARISONS> __device__ static inline int ising_spin_comparison(int up)
{
  return COMPARISONS == ISING_CLASSES ? up : up % 4 == 0;
}

/* Returns the place in a table of results of gpumc_philox_word_label, for counter i of a block of a
 * colour. */
__device__ static inline uint32_t
ising_spin_table_place(const struct ising_spin_gpu_lattice *lattice, uint32_t colour,
                       uint32_t block, uint32_t i)
{
  return (colour * ISING_SPIN_COUNTERS + i) * lattice->blocks + block;
}

/* One of the `of` lanes of a warp that share a block of spins, a power of two up to the number of
 * counters: it has the counters number, number + of, .., so many, and their spins' `bits` in a
 * word. */
struct ising_spin_lane {
  uint32_t number, of, counters, bits;
};

__device__ static inline struct ising_spin_lane ising_spin_lane_of(uint32_t number, uint32_t of)
{
  const uint32_t half = UINT16_MAX / ((1u << of) - 1) << number;
  return {number, of, ISING_SPIN_COUNTERS / of, half << 16 | half};
}

/* Sets above[c][word]: the spins of the lane whose random number is not below the threshold of
 * comparison c. The bits are combined by additions: the unit for logic operations is the busiest.
 * SHARED: the block has several lanes, each of which computes two counters side by side. */
template <uint32_t ROUNDS, int COMPARISONS, bool TABLE, bool SHARED>
__device__ static inline void
ising_spin_compare(const struct ising_spin_gpu_lattice *lattice, const struct ising_rule *rule,
                   const struct gpumc_philox_group *random, uint32_t colour, uint32_t block,
                   struct ising_spin_lane lane, const uint2 *table,
                   uint32_t above[COMPARISONS][ISING_SPIN_WORDS])
{
  const uint32_t label = gpumc_random_label(GPUMC_RANDOM_LATTICE_SWEEP, colour);
  for (int c = 0; c < COMPARISONS; c++)
    above[c][0] = above[c][1] = 0;
#pragma unroll(SHARED ? 2 : ISING_SPIN_COUNTERS)
  for (uint32_t n = 0; n < lane.counters; n++) {
    const uint32_t i = lane.number + n * lane.of, site = block * ISING_SPIN_COUNTERS + i;
    const struct gpumc_philox_word word = gpumc_philox_word(random, site);
    const uint2 of_label = TABLE ? table[ising_spin_table_place(lattice, colour, block, i)]
                                 : gpumc_philox_label(random->key, word.first, label);
    uint32_t number[4];
    gpumc_philox_draw<ROUNDS>(random, &word, of_label, number);
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
      for (int up = ISING_CLASSES - COMPARISONS; up < ISING_CLASSES; up++)
        if (number[j] >= rule->threshold[up])
          above[ising_spin_comparison<COMPARISONS>(up)][j / 2] += 1u << (16 * (j % 2) + i);
  }
}

/* The number of the four neighbours that are up, in binary; `some`: the bit of 2, or four. */
struct ising_spin_count {
  uint32_t odd, some, four;
};

__device__ static inline struct ising_spin_count ising_spin_count_up(struct ising_spin_neighbours n)
{
  const uint32_t odd_a = n.before ^ n.after, odd_b = n.beside ^ n.side;
  const uint32_t both_a = n.before & n.after, both_b = n.beside & n.side;
  return {odd_a ^ odd_b, both_a | both_b | (odd_a & odd_b), both_a & both_b};
}

/* Returns the spins that stay as they start: those compared whose number is not below the
 * threshold. */
template <int COMPARISONS>
__device__ static inline uint32_t
ising_spin_staying(const struct ising_rule *rule, struct ising_spin_count count, uint32_t spins,
                   const uint32_t above[COMPARISONS][ISING_SPIN_WORDS], int word)
{
  const uint32_t none = ~(count.odd | count.some);
  if (COMPARISONS < ISING_CLASSES) {
    const uint32_t one_or_three = count.odd & above[0][word] & rule->needed[3];
    const uint32_t none_or_four = (none | count.four) & above[1][word] & rule->needed[4];
    return (one_or_three | none_or_four) & ~(spins ^ count.some ^ rule->flip[4]);
  }
  const uint32_t is[ISING_CLASSES] = {none, count.odd & ~count.some,
                                      count.some & ~(count.odd | count.four),
                                      count.odd & count.some, count.four};
  uint32_t stay = 0;
#pragma unroll
  for (int up = 0; up < ISING_CLASSES; up++)
    stay |= is[up] & (spins ^ rule->flip[up]) & rule->needed[up] &
            above[ising_spin_comparison<COMPARISONS>(up)][word];
  return stay;
}

/* Sets the spins of a block before the update and those of the lane that change. `table` is used if
 * TABLE; SHARED: by several lanes. */
template <uint32_t ROUNDS, int COMPARISONS, bool TABLE, bool SHARED>
__device__ static inline void
ising_spin_block_flips(const struct ising_spin_gpu_lattice *lattice, const struct ising_rule *rule,
                       const struct gpumc_philox_group *random, uint32_t colour, uint32_t block,
                       struct ising_spin_lane lane, const uint2 *table, const uint32_t *words,
                       const uint32_t *other, uint32_t spins[ISING_SPIN_WORDS],
                       uint32_t flips[ISING_SPIN_WORDS])
{
  uint32_t above[COMPARISONS][ISING_SPIN_WORDS];
  ising_spin_compare<ROUNDS, COMPARISONS, TABLE, SHARED>(lattice, rule, random, colour, block, lane,
                                                         table, above);
#pragma unroll
  for (int i = 0; i < ISING_SPIN_WORDS; i++) {
    const uint32_t w = block * ISING_SPIN_WORDS + i;
    spins[i] = COMPARISONS < ISING_CLASSES ? words[w] : words[w] & rule->start;
    const struct ising_spin_neighbours neighbours =
        ising_spin_neighbours_of(lattice, other, colour, w);
    const struct ising_spin_count count = ising_spin_count_up(neighbours);
    const uint32_t stay = ising_spin_staying<COMPARISONS>(rule, count, spins[i], above, i);
    flips[i] = ~stay & neighbours.valid & lane.bits;
  }
}

template <uint32_t ROUNDS, int COMPARISONS, bool TABLE>
__device__ static inline void
ising_spin_update_block(const struct ising_spin_gpu_lattice *lattice, const struct ising_rule *rule,
                        const struct gpumc_philox_group *random, uint32_t colour, uint32_t block,
                        const uint2 *table, uint32_t *words, const uint32_t *other)
{
  uint32_t spins[ISING_SPIN_WORDS], flips[ISING_SPIN_WORDS];
  ising_spin_block_flips<ROUNDS, COMPARISONS, TABLE, false>(lattice, rule, random, colour, block,
                                                            ising_spin_lane_of(0, 1), table, words,
                                                            other, spins, flips);
#pragma unroll
  for (int i = 0; i < ISING_SPIN_WORDS; i++)
    words[block * ISING_SPIN_WORDS + i] = spins[i] ^ flips[i];
}

/* Adds the spins up and the unsatisfied bonds of one block of colour 0 and the corresponding one of
 * colour 1. */
__device__ static inline void ising_spin_measure_block(const struct ising_spin_gpu_lattice *lattice,
                                                       const uint32_t *words, uint32_t block,
                                                       uint32_t *up, uint32_t *unsatisfied)
{
  const uint32_t *other = words + ising_spin_words(lattice);
#pragma unroll
  for (int i = 0; i < ISING_SPIN_WORDS; i++) {
    const uint32_t w = block * ISING_SPIN_WORDS + i, spins = words[w];
    const struct ising_spin_neighbours n = ising_spin_neighbours_of(lattice, other, 0, w);
    *up += __popc(spins) + __popc(other[w]);
    *unsatisfied += __popc((spins ^ n.before) & n.valid) + __popc((spins ^ n.after) & n.valid) +
                    __popc((spins ^ n.beside) & n.valid) + __popc((spins ^ n.side) & n.valid);
  }
}

/* The part of a replica that one thread works on: blocks first, first + step, .. */
struct ising_spin_share {
  uint32_t first, step;
  uint32_t mask;        /* the lanes of the warp that work on the same replica */
  uint32_t whole_block; /* whether all threads of the block do */
};

/* Returns the sum over the lanes of `mask`, which call it together. */
__device__ static inline uint64_t ising_spin_sum_lanes(uint32_t mask, uint32_t value)
{
  const uint64_t high = __reduce_add_sync(mask, value >> 16);
  return (high << 16) + __reduce_add_sync(mask, value & 0xffff);
}

/* Writes the channels of replica `element` of the batch; done by the threads that work on it. */
__device__ static inline void ising_spin_measure(const struct ising_spin_gpu_lattice *lattice,
                                                 const struct ising_channels *channels,
                                                 struct ising_spin_share share,
                                                 const uint32_t *words, size_t element)
{
  __shared__ unsigned long long sums[2];
  uint32_t up = 0, unsatisfied = 0;
  for (uint32_t b = share.first; b < lattice->blocks; b += share.step)
    ising_spin_measure_block(lattice, words, b, &up, &unsatisfied);
  uint64_t all_up = ising_spin_sum_lanes(share.mask, up);
  uint64_t all_unsatisfied = ising_spin_sum_lanes(share.mask, unsatisfied);
  if (share.whole_block) {
    if (threadIdx.x < 2)
      sums[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x % warpSize == 0) {
      atomicAdd(&sums[0], all_up);
      atomicAdd(&sums[1], all_unsatisfied);
    }
    __syncthreads();
    all_up = sums[0];
    all_unsatisfied = sums[1];
  }
  if (share.first == 0)
    ising_record_counts(channels, element, 2 * (int64_t)lattice->colour, (int64_t)all_up,
                        (int64_t)all_unsatisfied);
}

#endif
