/* Spins whose couplings or fields have any size, a lane of a warp for each replica: all lanes,
 * which have one or a few samples, look at the same sites at the same time, so one load brings the
 * terms of a site for many replicas.
 *
 * The words of 32 replicas stand side by side in shared memory, and each lane sees its column of
 * them alone. A block of 64 spins is updated by single precision, which decides nearly all of
 * them; what it leaves open is decided exactly after the others. */
#ifndef GPUMC_ISING_SPIN_LANE_CUH
#define GPUMC_ISING_SPIN_LANE_CUH

#include "models/ising/spin/spin_general.cuh"

enum { ISING_LANE_COLUMNS = 32, ISING_LANE_DRAWN = 4 /* spins from one Philox counter */ };

/* Returns the terms of the sites of a colour. */
GPUMC_HOST_DEVICE static inline const struct ising_lane_terms *
ising_lane_terms_of(const struct ising_spin_gpu_lattice *lattice, const uint8_t *sample,
                    uint32_t colour)
{
  return (const struct ising_lane_terms *)(sample + ising_spin_terms_bytes(lattice)) +
         colour * ISING_SPIN_BLOCK * (size_t)lattice->blocks;
}

/* Loads those of one site, in two vectors. */
GPUMC_HOST_DEVICE static inline struct ising_lane_terms
ising_lane_terms_at(const struct ising_lane_terms *site)
{
  const float4 *from = (const float4 *)site;
  const float4 low = from[0], high = from[1];
  return {{low.x, low.y, low.z, low.w, high.x, high.y}, high.z, high.w};
}

/* The 64 spins of a block and their neighbours, as they are stored. */
struct ising_lane_near {
  uint64_t spins, neighbour[GPUMC_NEIGHBOURS_MAXIMUM];
};

/* The rule of a replica's run: with the sum f of the terms of a spin s, the odds w = 2^(slope s f),
 * at most 2^most; the spin flips with probability w / (1 + one w). `error`: of w, as a part of
 * it. */
struct ising_lane_rule {
  float slope, most, one, error;
  uint32_t start; /* all ones, or 0 */
};

/* Error of what is compared, beside that of w, in units of 1: numbers are truncated to 23 bits. */
#define ISING_LANE_ERROR 0x1p-20f
#define ISING_LOG2_E 1.44269504f

GPUMC_HOST_DEVICE static inline struct ising_lane_rule
ising_lane_rule_of(const struct ising_run_rule *rule)
{
  const struct ising_spin_estimate *estimate = &rule->estimate;
  struct ising_lane_rule of_lane;
  of_lane.slope = -ISING_LOG2_E * estimate->slope;
  of_lane.most = -ISING_LOG2_E * estimate->least;
  of_lane.one = estimate->one;
  of_lane.error = estimate->wide - 1.0f;
  of_lane.start = rule->start;
  return of_lane;
}

/* Returns 2^x to 2^-21, 0 below 2^-126. */
GPUMC_HOST_DEVICE static inline float ising_lane_power_of_two(float x)
{
#ifdef __CUDA_ARCH__
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return exp2f(x);
#endif
}

GPUMC_HOST_DEVICE static inline uint32_t
ising_lane_word(const struct ising_spin_gpu_lattice *lattice, const uint32_t *column, uint32_t w)
{
  return w < ISING_SPIN_WORDS * lattice->blocks ? column[w * ISING_LANE_COLUMNS] : 0;
}

/* Returns 64 bits from bit `start` on of a colour that repeats periodically; start < 2 colour. */
GPUMC_HOST_DEVICE static inline uint64_t
ising_lane_window(const struct ising_spin_gpu_lattice *lattice, const uint32_t *column,
                  uint32_t start)
{
  if (start >= lattice->colour)
    start -= lattice->colour;
  const uint32_t w = start / ISING_SPIN_WORD_BITS, shift = start % ISING_SPIN_WORD_BITS;
  const uint64_t low = column[w * ISING_LANE_COLUMNS],
                 middle = ising_lane_word(lattice, column, w + 1),
                 high = ising_lane_word(lattice, column, w + 2);
  uint64_t bits = (uint32_t)((middle << ISING_SPIN_WORD_BITS | low) >> shift) |
                  (uint64_t)(uint32_t)((high << ISING_SPIN_WORD_BITS | middle) >> shift)
                      << ISING_SPIN_WORD_BITS;
  for (uint32_t n = lattice->colour - start; n < ISING_SPIN_BLOCK; n += lattice->colour)
    bits |= ((uint64_t)column[ISING_LANE_COLUMNS] << ISING_SPIN_WORD_BITS | column[0]) << n;
  return bits;
}

/* Returns the bits of `outside` where `edge` has ones, otherwise those of `inside`. */
GPUMC_HOST_DEVICE static inline uint64_t
ising_lane_merge(uint64_t inside, uint64_t outside, uint64_t edge)
{
  return (inside & ~edge) | (outside & edge);
}

/* Masks of a block. */
struct ising_lane_masks {
  uint64_t first, last, odd; /* of rows */
  uint64_t first_of_plane, last_of_plane;
};

GPUMC_HOST_DEVICE static inline struct ising_lane_masks
ising_lane_masks(const struct ising_spin_gpu_lattice *lattice, uint32_t block)
{
  const struct ising_spin_row_masks *rows = lattice->masks + (size_t)ISING_SPIN_WORDS * block;
  const struct ising_spin_plane_masks *planes =
      lattice->plane_masks + (size_t)ISING_SPIN_WORDS * block;
  struct ising_lane_masks masks;
  masks.first = (uint64_t)rows[1].first << ISING_SPIN_WORD_BITS | rows[0].first;
  masks.last = (uint64_t)rows[1].last << ISING_SPIN_WORD_BITS | rows[0].last;
  masks.odd = (uint64_t)rows[1].odd << ISING_SPIN_WORD_BITS | rows[0].odd;
  masks.first_of_plane = (uint64_t)planes[1].first << ISING_SPIN_WORD_BITS | planes[0].first;
  masks.last_of_plane = (uint64_t)planes[1].last << ISING_SPIN_WORD_BITS | planes[0].last;
  return masks;
}

/* See lattice/checkerboard.h. */
template <int DIMENSION>
GPUMC_HOST_DEVICE static inline struct ising_lane_near
ising_lane_near_of(const struct ising_spin_gpu_lattice *lattice, const uint32_t *words,
                   const uint32_t *other, uint32_t colour, uint32_t block)
{
  const uint32_t row = lattice->row, plane = lattice->plane, all = lattice->colour;
  const uint32_t w = ISING_SPIN_WORDS * block, start = ISING_SPIN_BLOCK * block;
  const struct ising_lane_masks masks = ising_lane_masks(lattice, block);
  const uint32_t *column = other + (size_t)w * ISING_LANE_COLUMNS;
  struct ising_lane_near near;
  near.spins = (uint64_t)words[(w + 1) * ISING_LANE_COLUMNS] << ISING_SPIN_WORD_BITS |
               words[w * ISING_LANE_COLUMNS];
  const uint64_t same = (uint64_t)column[ISING_LANE_COLUMNS] << ISING_SPIN_WORD_BITS | column[0];
  const uint64_t next = ising_lane_word(lattice, other, w + ISING_SPIN_WORDS),
                 previous = ising_lane_word(lattice, other, w - 1);
  const uint64_t forward =
      ising_lane_merge(same >> 1 | next << (ISING_SPIN_BLOCK - 1),
                       ising_lane_window(lattice, other, start + all + 1 - row), masks.last);
  const uint64_t backward =
      ising_lane_merge(same << 1 | previous >> (ISING_SPIN_WORD_BITS - 1),
                       ising_lane_window(lattice, other, start + row - 1), masks.first);
  near.neighbour[GPUMC_SAME_INDEX] = same;
  near.neighbour[GPUMC_SIDE] =
      ising_lane_merge(backward, forward, colour == 0 ? masks.odd : ~masks.odd);
  near.neighbour[GPUMC_ROW_BEFORE] = ising_lane_window(lattice, other, start + all - row);
  near.neighbour[GPUMC_ROW_AFTER] = ising_lane_window(lattice, other, start + row);
  if constexpr (DIMENSION == 3) {
    near.neighbour[GPUMC_ROW_BEFORE] = ising_lane_merge(
        near.neighbour[GPUMC_ROW_BEFORE], ising_lane_window(lattice, other, start + plane - row),
        masks.first_of_plane);
    near.neighbour[GPUMC_ROW_AFTER] = ising_lane_merge(
        near.neighbour[GPUMC_ROW_AFTER],
        ising_lane_window(lattice, other, start + all + row - plane), masks.last_of_plane);
    near.neighbour[GPUMC_PLANE_BEFORE] = ising_lane_window(lattice, other, start + all - plane);
    near.neighbour[GPUMC_PLANE_AFTER] = ising_lane_window(lattice, other, start + plane);
  }
  return near;
}

/* A block's update: bits of spins, seen from the spin where `alike` says so. */
struct ising_lane_block {
  uint32_t alike[GPUMC_NEIGHBOURS_MAXIMUM][ISING_SPIN_WORDS], start[ISING_SPIN_WORDS];
  uint32_t flips[ISING_SPIN_WORDS], open[ISING_SPIN_WORDS];
};

template <int DIMENSION>
GPUMC_HOST_DEVICE static inline struct ising_lane_block
ising_lane_block_of(const struct ising_lane_near *near, uint32_t start)
{
  struct ising_lane_block block;
  GPUMC_UNROLL
  for (int i = 0; i < ISING_SPIN_WORDS; i++) {
    block.start[i] = (uint32_t)(near->spins >> i * ISING_SPIN_WORD_BITS) & start;
    block.flips[i] = block.open[i] = 0;
    GPUMC_UNROLL
    for (int n = 0; n < 2 * DIMENSION; n++)
      block.alike[n][i] =
          ~((uint32_t)(near->neighbour[n] >> i * ISING_SPIN_WORD_BITS) ^ block.start[i]);
  }
  return block;
}

/* Decides the spin of word i at the bit of `mask`. */
template <int DIMENSION, bool FIELD>
GPUMC_HOST_DEVICE static inline void
ising_lane_decide(const struct ising_lane_rule *rule, const struct ising_lane_terms *terms, int i,
                  uint32_t mask, uint32_t number, struct ising_lane_block *block)
{
  float sum = terms->all_apart;
  GPUMC_UNROLL
  for (int n = 0; n < 2 * DIMENSION; n++)
    if ((block->alike[n][i] & mask) != 0)
      sum += terms->twice[n];
  if (FIELD && (block->start[i] & mask) != 0)
    sum += terms->twice_field;
  const float odds = ising_lane_power_of_two(fminf(rule->slope * sum, rule->most));
  const float uniform = ising_float_of(number >> 9 | 0x3f800000u) - 1.0f;
  const float less = fmaf(-uniform, fmaf(rule->one, odds, 1.0f), odds);
  if (less > 0.0f)
    block->flips[i] |= mask;
  if (!(fabsf(less) > fmaf(rule->error, odds, ISING_LANE_ERROR)))
    block->open[i] |= mask;
}

/* Returns the place of the lowest bit that is set. */
GPUMC_HOST_DEVICE static inline uint32_t ising_lane_first(uint64_t bits)
{
#ifdef __CUDA_ARCH__
  return (uint32_t)__ffsll((long long)bits) - 1;
#else
  return (uint32_t)__builtin_ctzll(bits);
#endif
}

/* Decides the spins that are open, one after the other, and draws their numbers again. */
template <uint32_t ROUNDS, int DIMENSION>
GPUMC_HOST_DEVICE static inline void
ising_lane_settle(const struct ising_spin_gpu_lattice *lattice, const struct ising_run_rule *rule,
                  const uint8_t *sample, const struct gpumc_philox_group *random, uint32_t colour,
                  uint32_t number, struct ising_lane_block *block)
{
  const uint32_t label = gpumc_random_label(GPUMC_RANDOM_LATTICE_SWEEP, colour);
  uint64_t open = (uint64_t)block->open[1] << ISING_SPIN_WORD_BITS | block->open[0];
  for (; open != 0; open &= open - 1) {
    const uint32_t place = ising_lane_first(open);
    const uint32_t i = place / ISING_SPIN_WORD_BITS, bit = place % ISING_SPIN_WORD_BITS;
    const uint32_t start = i == 0 ? block->start[0] : block->start[1];
    struct ising_spin_near near = {{0}, 0};
    GPUMC_UNROLL
    for (int n = 0; n < 2 * DIMENSION; n++)
      near.neighbour[n] = ~((i == 0 ? block->alike[n][0] : block->alike[n][1]) ^ start);
    const struct gpumc_philox_word word =
        gpumc_philox_word(random, number * ISING_SPIN_COUNTERS + place % ISING_SPIN_COUNTERS);
    uint32_t drawn[ISING_LANE_DRAWN];
    gpumc_philox_draw<ROUNDS>(random, &word, gpumc_philox_label(random->key, word.first, label),
                              drawn);
    const uint32_t j = place / ISING_SPIN_COUNTERS;
    const uint32_t u = j < 2 ? (j == 0 ? drawn[0] : drawn[1]) : (j == 2 ? drawn[2] : drawn[3]);
    const uint32_t flips = (uint32_t)ising_spin_decide_summed(lattice, rule, sample, colour, number,
                                                              &near, place, start >> bit & 1, u);
    if (i == 0)
      block->flips[0] = (block->flips[0] & ~(1u << bit)) | flips << bit;
    else
      block->flips[1] = (block->flips[1] & ~(1u << bit)) | flips << bit;
  }
}

/* Updates block `number` of a colour. words, other: the columns of this colour and of the other;
 * FIELD: there are terms of a field. */
template <uint32_t ROUNDS, int DIMENSION, bool FIELD>
GPUMC_HOST_DEVICE static inline void
ising_lane_update(const struct ising_spin_gpu_lattice *lattice, const struct ising_lane_rule *rule,
                  const struct ising_run_rule *of_run, const uint8_t *sample,
                  const struct gpumc_philox_group *random, uint32_t colour, uint32_t number,
                  uint32_t *words, const uint32_t *other)
{
  const uint32_t label = gpumc_random_label(GPUMC_RANDOM_LATTICE_SWEEP, colour);
  const struct ising_lane_near near =
      ising_lane_near_of<DIMENSION>(lattice, words, other, colour, number);
  struct ising_lane_block block = ising_lane_block_of<DIMENSION>(&near, rule->start);
  const struct ising_lane_terms *terms =
      ising_lane_terms_of(lattice, sample, colour) + (size_t)number * ISING_SPIN_BLOCK;
  GPUMC_LOOP
  for (uint32_t i = 0; i < ISING_SPIN_COUNTERS; i++) {
    const struct gpumc_philox_word word =
        gpumc_philox_word(random, number * ISING_SPIN_COUNTERS + i);
    struct ising_lane_terms of_spin[ISING_LANE_DRAWN];
    uint32_t drawn[ISING_LANE_DRAWN];
    GPUMC_UNROLL
    for (int j = 0; j < ISING_LANE_DRAWN; j++)
      of_spin[j] = ising_lane_terms_at(&terms[i + (uint32_t)j * ISING_SPIN_COUNTERS]);
    gpumc_philox_draw<ROUNDS>(random, &word, gpumc_philox_label(random->key, word.first, label),
                              drawn);
    GPUMC_UNROLL
    for (int j = 0; j < ISING_LANE_DRAWN; j++)
      ising_lane_decide<DIMENSION, FIELD>(rule, &of_spin[j], j / 2,
                                          1u << (i + (uint32_t)j % 2 * ISING_SPIN_COUNTERS),
                                          drawn[j], &block);
  }
  if ((block.open[0] | block.open[1]) != 0)
    ising_lane_settle<ROUNDS, DIMENSION>(lattice, of_run, sample, random, colour, number, &block);
  GPUMC_UNROLL
  for (int i = 0; i < ISING_SPIN_WORDS; i++) {
    const uint32_t w = number * ISING_SPIN_WORDS + (uint32_t)i;
    words[w * ISING_LANE_COLUMNS] =
        (block.start[i] ^ block.flips[i]) & ising_spin_valid(lattice, w);
  }
}

#endif
