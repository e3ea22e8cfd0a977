/* One block of 64 spins of a colour of any lattice and disorder: two or three dimensions, samples
 * of signs or of terms, the rule of the run by a table of classes or by the sum of the terms; and
 * the choice of the kernel that sweeps with it. */
#ifndef GPUMC_ISING_SPIN_GENERAL_CUH
#define GPUMC_ISING_SPIN_GENERAL_CUH

#include "models/ising/spin/spin_block.cuh"
#include "models/ising/spin/spin_rule.h"
#include "models/lattice/checkerboard.h"

/* The neighbours of the 32 spins of a word; in two dimensions the last two are not set. */
struct ising_spin_near {
  uint32_t neighbour[GPUMC_NEIGHBOURS_MAXIMUM];
  uint32_t valid;
};

__device__ static inline struct ising_spin_near
ising_spin_near_cubic(const struct ising_spin_gpu_lattice *lattice, const uint32_t *other,
                      uint32_t colour, uint32_t w)
{
  const uint32_t start = w * ISING_SPIN_WORD_BITS, row = lattice->row, plane = lattice->plane;
  const struct ising_spin_plane_masks masks = lattice->plane_masks[w];
  const uint32_t all = lattice->colour;
  struct ising_spin_near near;
  const uint32_t before = ising_spin_periodic_window(lattice, other, start + all - row);
  const uint32_t around_before = ising_spin_periodic_window(lattice, other, start + plane - row);
  const uint32_t after = ising_spin_periodic_window(lattice, other, start + row);
  const uint32_t around_after =
      ising_spin_periodic_window(lattice, other, start + all + row - plane);
  near.neighbour[GPUMC_ROW_BEFORE] = (before & ~masks.first) | (around_before & masks.first);
  near.neighbour[GPUMC_ROW_AFTER] = (after & ~masks.last) | (around_after & masks.last);
  near.neighbour[GPUMC_SAME_INDEX] = other[w];
  near.neighbour[GPUMC_SIDE] = ising_spin_side_any(lattice, other, colour, w);
  near.neighbour[GPUMC_PLANE_BEFORE] =
      ising_spin_periodic_window(lattice, other, start + all - plane);
  near.neighbour[GPUMC_PLANE_AFTER] = ising_spin_periodic_window(lattice, other, start + plane);
  near.valid = ising_spin_valid(lattice, w);
  return near;
}

__device__ static inline struct ising_spin_near
ising_spin_near_of(const struct ising_spin_gpu_lattice *lattice, const uint32_t *other,
                   uint32_t colour, uint32_t w)
{
  if (lattice->dimension == 3)
    return ising_spin_near_cubic(lattice, other, colour, w);
  const struct ising_spin_neighbours n = ising_spin_neighbours_of(lattice, other, colour, w);
  return {{n.before, n.after, n.beside, n.side, 0, 0}, n.valid};
}

/* Returns the sample of a replica. */
__device__ static inline const uint8_t *
ising_spin_sample_of(const struct ising_tables *tables, size_t replica)
{
  return tables->samples + (tables->lanes == 0 ? 0 : replica * tables->group_bytes);
}

/* Returns the words of a colour's signs: neighbour `slot`, or the fields after them. */
__device__ static inline const uint32_t *
ising_spin_signs(const struct ising_spin_gpu_lattice *lattice, const uint8_t *sample,
                 uint32_t colour, uint32_t slot)
{
  const size_t slots = 2 * lattice->dimension + 1;
  return (const uint32_t *)sample + (colour * slots + slot) * ising_spin_words(lattice);
}

GPUMC_HOST_DEVICE static inline const int32_t *
ising_spin_terms(const struct ising_spin_gpu_lattice *lattice, const uint8_t *sample,
                 uint32_t colour, uint32_t slot)
{
  const size_t slots = 2 * lattice->dimension + 1;
  return (const int32_t *)sample +
         (colour * slots + slot) * ISING_SPIN_BLOCK * (size_t)lattice->blocks;
}

/* Converts the neighbours of word w to the direction of their pull. */
__device__ static inline void ising_spin_turn(const struct ising_spin_gpu_lattice *lattice,
                                              const uint8_t *sample, uint32_t colour, uint32_t w,
                                              struct ising_spin_near *near)
{
#pragma unroll
  for (uint32_t n = 0; n < GPUMC_NEIGHBOURS_MAXIMUM; n++)
    if (n < 2 * lattice->dimension)
      near->neighbour[n] ^= ising_spin_signs(lattice, sample, colour, n)[w];
}

/* The classes of 32 spins, by binary digit; the highest is the kind of field. */
struct ising_spin_classes {
  uint32_t digit[4];
};

__device__ static inline struct ising_spin_classes
ising_spin_classes_of(const struct ising_spin_near *near)
{
  const uint32_t *n = near->neighbour;
  const uint32_t odd_a = n[0] ^ n[1] ^ n[2], two_a = (n[0] & n[1]) | (n[2] & (n[0] ^ n[1]));
  const uint32_t odd_b = n[3] ^ n[4] ^ n[5], two_b = (n[3] & n[4]) | (n[5] & (n[3] ^ n[4]));
  const uint32_t carry = odd_a & odd_b;
  return {{odd_a ^ odd_b, two_a ^ two_b ^ carry, (two_a & two_b) | (carry & (two_a ^ two_b)), 0}};
}

__device__ static inline uint32_t
ising_spin_class(const struct ising_spin_classes *classes, uint32_t bit)
{
  return (classes->digit[0] >> bit & 1) | (classes->digit[1] >> bit & 1) << 1 |
         (classes->digit[2] >> bit & 1) << 2 | (classes->digit[3] >> bit & 1) << 3;
}

/* Returns the local field of the spin at `place` of block `block`, in quanta. NUMBER: float or
 * int64_t. */
template <typename NUMBER>
GPUMC_HOST_DEVICE static inline NUMBER
ising_spin_field(const struct ising_spin_gpu_lattice *lattice, const uint8_t *sample,
                 uint32_t colour, uint32_t block, uint32_t place,
                 const struct ising_spin_near *near)
{
  const size_t at = place * (size_t)lattice->blocks + block;
  NUMBER field = (NUMBER)ising_spin_terms(lattice, sample, colour, 2 * lattice->dimension)[at];
  GPUMC_UNROLL
  for (uint32_t n = 0; n < GPUMC_NEIGHBOURS_MAXIMUM; n++)
    if (n < 2 * lattice->dimension) {
      const NUMBER coupling = (NUMBER)ising_spin_terms(lattice, sample, colour, n)[at];
      field += (near->neighbour[n] >> place % ISING_SPIN_WORD_BITS & 1) != 0 ? coupling : -coupling;
    }
  return field;
}

/* The data needed to update one block. */
struct ising_spin_update {
  const struct ising_spin_gpu_lattice *lattice;
  const struct ising_run_rule *rule; /* in shared memory: threads look up different classes */
  const uint8_t *sample;
  uint32_t colour, block;
  const uint32_t *other;
  struct ising_spin_near near[ISING_SPIN_WORDS];
  struct ising_spin_classes classes[ISING_SPIN_WORDS];
  uint32_t start[ISING_SPIN_WORDS];
};

/* Decides a spin by the exact sum of its terms. */
GPUMC_HOST_DEVICE static inline bool
ising_spin_decide_summed(const struct ising_spin_gpu_lattice *lattice,
                         const struct ising_run_rule *rule, const uint8_t *sample, uint32_t colour,
                         uint32_t block, const struct ising_spin_near *near, uint32_t place,
                         uint32_t start, uint32_t number)
{
  const int64_t field = ising_spin_field<int64_t>(lattice, sample, colour, block, place, near);
  return ising_spin_flips(&rule->exact, rule->start == 0, field, start, number);
}

/* Decides what single precision leaves open. Finds the neighbours again in a function of its own,
 * so that nothing is kept for it. */
static __device__ __noinline__ bool
ising_spin_decide_exactly(const struct ising_spin_gpu_lattice *lattice,
                          const struct ising_run_rule *rule, const uint8_t *sample, uint32_t colour,
                          uint32_t block, const uint32_t *other, uint32_t place, uint32_t start,
                          uint32_t number)
{
  const struct ising_spin_near near = ising_spin_near_of(
      lattice, other, colour, block * ISING_SPIN_WORDS + place / ISING_SPIN_WORD_BITS);
  return ising_spin_decide_summed(lattice, rule, sample, colour, block, &near, place, start,
                                  number);
}

/* Returns whether the spin at bit `bit` of word i of the block flips. */
template <bool TERMS>
__device__ static inline bool
ising_spin_decide(const struct ising_spin_update *update, int i, uint32_t bit, uint32_t number)
{
  const struct ising_run_rule *rule = update->rule;
  const uint32_t start = update->start[i] >> bit & 1;
  if (!TERMS) {
    const uint32_t of_spin = ising_spin_class(&update->classes[i], bit);
    return number < rule->threshold[of_spin] || ising_rule_compared(rule, of_spin) != start;
  }
  const uint32_t place = (uint32_t)i * ISING_SPIN_WORD_BITS + bit;
  const float field = ising_spin_field<float>(update->lattice, update->sample, update->colour,
                                              update->block, place, &update->near[i]);
  const uint32_t estimate = ising_spin_estimate(&rule->estimate, field, start, number);
  if (estimate != ISING_OPEN)
    return estimate == ISING_FLIPS;
  return ising_spin_decide_exactly(update->lattice, rule, update->sample, update->colour,
                                   update->block, update->other, place, start, number);
}

__device__ static inline void ising_spin_look(const struct ising_tables *tables,
                                              const uint32_t *words, const uint32_t *other,
                                              struct ising_spin_update *update)
{
  const struct ising_spin_gpu_lattice *lattice = update->lattice;
#pragma unroll
  for (int i = 0; i < ISING_SPIN_WORDS; i++) {
    const uint32_t w = update->block * ISING_SPIN_WORDS + i;
    update->near[i] = ising_spin_near_of(lattice, other, update->colour, w);
    update->start[i] = words[w] & update->rule->start;
    if (tables->kind == ISING_SPIN_SIGNS)
      ising_spin_turn(lattice, update->sample, update->colour, w, &update->near[i]);
    update->classes[i] = ising_spin_classes_of(&update->near[i]);
    if (tables->kind == ISING_SPIN_SIGNS)
      update->classes[i].digit[3] =
          ising_spin_signs(lattice, update->sample, update->colour, 2 * lattice->dimension)[w];
  }
}

/* As ising_spin_block_flips. */
template <uint32_t ROUNDS, bool TERMS>
__device__ static inline void
ising_spin_block_flips_general(const struct ising_spin_gpu_lattice *lattice,
                               const struct ising_tables *tables, const struct ising_run_rule *rule,
                               const uint8_t *sample, const struct gpumc_philox_group *random,
                               uint32_t colour, uint32_t block, struct ising_spin_lane lane,
                               const uint32_t *words, const uint32_t *other,
                               uint32_t spins[ISING_SPIN_WORDS], uint32_t flips[ISING_SPIN_WORDS])
{
  const uint32_t label = gpumc_random_label(GPUMC_RANDOM_LATTICE_SWEEP, colour);
  struct ising_spin_update update = {lattice, rule, sample, colour, block, other};
  flips[0] = flips[1] = 0;
  ising_spin_look(tables, words, other, &update);
#pragma unroll 2
  for (uint32_t n = 0; n < lane.counters; n++) {
    const uint32_t i = lane.number + n * lane.of;
    const struct gpumc_philox_word word =
        gpumc_philox_word(random, block * ISING_SPIN_COUNTERS + i);
    uint32_t number[4];
    gpumc_philox_draw<ROUNDS>(random, &word, gpumc_philox_label(random->key, word.first, label),
                              number);
#pragma unroll
    for (uint32_t j = 0; j < 4; j++) {
      const uint32_t bit = 16 * (j % 2) + i;
      flips[j / 2] |= (uint32_t)ising_spin_decide<TERMS>(&update, (int)(j / 2), bit, number[j])
                      << bit;
    }
  }
#pragma unroll
  for (int i = 0; i < ISING_SPIN_WORDS; i++) {
    spins[i] = update.start[i];
    flips[i] &= update.near[i].valid;
  }
}

template <uint32_t ROUNDS, bool TERMS>
__device__ static inline void
ising_spin_update_general(const struct ising_spin_gpu_lattice *lattice,
                          const struct ising_tables *tables, const struct ising_run_rule *rule,
                          const uint8_t *sample, const struct gpumc_philox_group *random,
                          uint32_t colour, uint32_t block, uint32_t *words, const uint32_t *other)
{
  uint32_t spins[ISING_SPIN_WORDS], flips[ISING_SPIN_WORDS];
  ising_spin_block_flips_general<ROUNDS, TERMS>(lattice, tables, rule, sample, random, colour,
                                                block, ising_spin_lane_of(0, 1), words, other,
                                                spins, flips);
#pragma unroll
  for (int i = 0; i < ISING_SPIN_WORDS; i++)
    words[block * ISING_SPIN_WORDS + i] = spins[i] ^ flips[i];
}

/* Chooses the kernel of a sweep: kernels.choose<ROUNDS, MODE, EACH>(). EACH: every run has a rule
 * of its own. */
template <class KERNELS, uint32_t ROUNDS>
static auto
ising_spin_choose_mode(const struct ising_spin_gpu_sweep *arguments, const KERNELS &kernels)
{
  const bool each = arguments->each_its_own != 0;
  if (arguments->mode == ISING_SPIN_PLAIN)
    return each ? kernels.template choose<ROUNDS, ISING_SPIN_PLAIN, true>()
                : kernels.template choose<ROUNDS, ISING_SPIN_PLAIN, false>();
  if (arguments->mode == ISING_SPIN_FIELD)
    return each ? kernels.template choose<ROUNDS, ISING_SPIN_FIELD, true>()
                : kernels.template choose<ROUNDS, ISING_SPIN_FIELD, false>();
  if (arguments->mode == ISING_SPIN_CLASSES)
    return kernels.template choose<ROUNDS, ISING_SPIN_CLASSES, true>();
  return kernels.template choose<ROUNDS, ISING_SPIN_BY_TERMS, true>();
}

template <class KERNELS>
static auto
ising_spin_choose_kernel(const struct ising_spin_gpu_sweep *arguments, const KERNELS &kernels)
{
  return arguments->replicas.batch.rounds == 7
             ? ising_spin_choose_mode<KERNELS, 7>(arguments, kernels)
             : ising_spin_choose_mode<KERNELS, 10>(arguments, kernels);
}

#endif
