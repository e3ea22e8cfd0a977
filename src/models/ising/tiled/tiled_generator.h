/* The generators of the tiled kernel other than Philox, as used by M. Weigel, J. Comput. Phys. 231,
 * 3064 (2012), section 3.2. UNSAFE: his Table 1 shows their errors, and this kernel reproduces
 * them.
 *
 * A launch over one half of the tiles has a block for each tile and a thread for each site of one
 * colour: thread j = b P + i, b the block, P = t^d / 2 the places of a colour, i the place. Each
 * update of a colour takes one number of every thread's; both halves and both colours take turns on
 * the same J = N / 4 threads.
 *
 * Linear congruential, x -> a x + c: lcg32 mod 2^32 with a = 1664525, c = 1013904223 (Numerical
 * Recipes), u = x; lcg64 mod 2^64 with a = 2862933555777941757 (P. L'Ecuyer, Math. Comp. 68, 249
 * (1999)), c = 1442695040888963407 (Knuth's MMIX), u = the upper 32 bits. Thread j begins at x_j of
 * the sequence that begins at x_0 and goes on in steps of J: x_{j+J}, x_{j+2J}, ... With `_random`
 * it begins at a random state of its own and goes on in steps of one.
 *
 * Lagged Fibonacci, a sequence for each block: x_n = x_{n-r} + x_{n-s} mod 2^32, (r, s) = (521,
 * 353) or (1279, 861), primitive trinomials both (R. P. Brent, Proc. 5th Australian Supercomputer
 * Conf. (1992)); the numbers of an update are the next P ones, in the order of the places. The r
 * numbers before the first are random.
 *
 * Random states: element i of block b's has the lower 32 bits of output 0 and, for lcg64, output 1
 * of the counter {b, replica, 0, (LATTICE_GENERATOR, i)}; x_0 is that of b = i = 0. */
#ifndef GPUMC_ISING_TILED_GENERATOR_H
#define GPUMC_ISING_TILED_GENERATOR_H

#include <stddef.h>

#include "core/numerics/random.h"

/* All but Philox are unsafe, provided to reproduce their errors. */
enum ising_generator {
  ISING_GENERATOR_PHILOX,
  ISING_GENERATOR_LCG32,        /* all threads skip through one sequence */
  ISING_GENERATOR_LCG32_RANDOM, /* every thread from a random state of its own */
  ISING_GENERATOR_LCG64,
  ISING_GENERATOR_LCG64_RANDOM,
  ISING_GENERATOR_FIBONACCI_521, /* lagged, a sequence for each block of threads */
  ISING_GENERATOR_FIBONACCI_1279,
  ISING_GENERATORS
};

enum ising_tiled_kind {
  ISING_TILED_PHILOX,
  ISING_TILED_LCG32,
  ISING_TILED_LCG64,
  ISING_TILED_FIBONACCI
};

/* x -> multiplier x + increment, mod 2^64. */
struct ising_tiled_step {
  uint64_t multiplier, increment;
};

/* The state of a replica is state[blocks][block_words]: for lcg64 pairs of words, the lower first,
 * for Fibonacci the last r numbers, the oldest first. */
struct ising_tiled_generator {
  enum ising_tiled_kind kind;
  uint32_t skipping; /* all threads in one sequence */
  uint32_t blocks, block_words;
  uint32_t lag_r, lag_s;
  struct ising_tiled_step one, thread; /* of the sequence, and of a thread from number to number */
};

/* Returns `step` performed n times. */
GPUMC_HOST_DEVICE static inline struct ising_tiled_step
ising_tiled_power(struct ising_tiled_step step, uint64_t n)
{
  struct ising_tiled_step power = {1, 0};
  for (; n > 0; n >>= 1) {
    if (n & 1) {
      power.multiplier *= step.multiplier;
      power.increment = step.multiplier * power.increment + step.increment;
    }
    step.increment *= step.multiplier + 1;
    step.multiplier *= step.multiplier;
  }
  return power;
}

GPUMC_HOST_DEVICE static inline uint64_t
ising_tiled_random_state(struct gpumc_random random, uint32_t replica, uint32_t b, uint32_t i)
{
  uint32_t drawn[4];
  gpumc_random_draw(random, b, replica, 0, gpumc_random_label(GPUMC_RANDOM_LATTICE_GENERATOR, i),
                    drawn);
  return (uint64_t)drawn[1] << 32 | drawn[0];
}

/* Returns element i of the state of block b before the first number. `elements`: of a block. */
GPUMC_HOST_DEVICE static inline uint64_t
ising_tiled_first_state(const struct ising_tiled_generator *generator, struct gpumc_random random,
                        uint32_t replica, uint32_t b, uint32_t i, uint32_t elements)
{
  if (!generator->skipping)
    return ising_tiled_random_state(random, replica, b, i);
  const uint64_t origin = ising_tiled_random_state(random, replica, 0, 0);
  const struct ising_tiled_step skip =
      ising_tiled_power(generator->one, (uint64_t)b * elements + i);
  return skip.multiplier * origin + skip.increment;
}

/* Returns the elements of a block's state. */
GPUMC_HOST_DEVICE static inline uint32_t
ising_tiled_elements(const struct ising_tiled_generator *generator)
{
  return generator->kind == ISING_TILED_LCG64 ? generator->block_words / 2 : generator->block_words;
}

/* Sets element i of a block's state. */
GPUMC_HOST_DEVICE static inline void
ising_tiled_set_state(const struct ising_tiled_generator *generator, uint32_t *state, uint32_t i,
                      uint64_t value)
{
  if (generator->kind == ISING_TILED_LCG64) {
    state[2 * i] = (uint32_t)value;
    state[2 * i + 1] = (uint32_t)(value >> 32);
  } else {
    state[i] = (uint32_t)value;
  }
}

/* Returns the next number of thread i of a block. */
GPUMC_HOST_DEVICE static inline uint32_t
ising_tiled_lcg(const struct ising_tiled_generator *generator, uint32_t *state, uint32_t i)
{
  const struct ising_tiled_step *step = &generator->thread;
  uint64_t x = state[i];
  if (generator->kind == ISING_TILED_LCG64)
    x = (uint64_t)state[2 * i + 1] << 32 | state[2 * i];
  x = step->multiplier * x + step->increment;
  ising_tiled_set_state(generator, state, i, x);
  return generator->kind == ISING_TILED_LCG64 ? (uint32_t)(x >> 32) : (uint32_t)x;
}

/* Returns the words of the state of a replica. */
static inline size_t ising_tiled_state_words(const struct ising_tiled_generator *generator)
{
  return (size_t)generator->blocks * generator->block_words;
}

struct ising_tiled_geometry;
struct ising_tiled_generator
ising_tiled_generator(const struct ising_tiled_geometry *geometry, enum ising_generator generator);

#endif
