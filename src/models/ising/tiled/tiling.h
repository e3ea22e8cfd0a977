/* How one large lattice is updated tile by tile (M. Weigel, Comput. Phys. Commun. 182, 1833
 * (2011); J. Comput. Phys. 231, 3064 (2012)): the keys of the `kernel` block that kernels with
 * tiles have and others refuse. All of them decide numbers. */
#ifndef GPUMC_CORE_TILING_H
#define GPUMC_CORE_TILING_H

#include <stdbool.h>
#include <stdint.h>

struct gpumc_params;

/* A and B are the two halves of a checkerboard of tiles. With k hits k sweeps are done as k updates
 * of A, then k of B (forward), or as a palindrome: k/2 of A, k of B, k/2 of A in reversed order. */
enum gpumc_tiling_order { GPUMC_ORDER_FORWARD, GPUMC_ORDER_SYMMETRISED };

/* All but Philox are unsafe, there to reproduce what they do wrong. */
enum gpumc_generator {
  GPUMC_GENERATOR_PHILOX,
  GPUMC_GENERATOR_LCG32,        /* all threads skip through one sequence */
  GPUMC_GENERATOR_LCG32_RANDOM, /* every thread from a random state of its own */
  GPUMC_GENERATOR_LCG64,
  GPUMC_GENERATOR_LCG64_RANDOM,
  GPUMC_GENERATOR_FIBONACCI_521, /* lagged, a sequence for each block of threads */
  GPUMC_GENERATOR_FIBONACCI_1279,
  GPUMC_GENERATORS
};

/* Zeroed: one hit, the kernel's own side, forward, Philox. */
struct gpumc_tiling {
  uint32_t hits; /* updates of a tile before the other half has its turn; 0 is 1 */
  uint32_t tile; /* side in sites; 0: the kernel's choice by the shape of the lattice */
  enum gpumc_tiling_order order;
  enum gpumc_generator generator;
};

enum { GPUMC_HITS_MAXIMUM = 1000, GPUMC_TILE_MAXIMUM = 64, GPUMC_TILING_KEYS = 4 };

/* The names of the keys, and of the choices; NULL-terminated. */
extern const char *const gpumc_tiling_keys[];
extern const char *const gpumc_tiling_orders[];
extern const char *const gpumc_generators[];

/* From a resolved `kernel` block; one without these keys gives a zeroed tiling. */
struct gpumc_tiling gpumc_tiling_make(const struct gpumc_params *kernel);
/* What is told wherever another generator than Philox is used; NULL of Philox. */
const char *gpumc_generator_warning(enum gpumc_generator generator);

/* Entries of the table of the `kernel` block. */
#define GPUMC_TILING_KEY_TABLE                                                                     \
  {.name = "hits",                                                                                 \
   .type = GPUMC_KEY_INTEGER,                                                                      \
   .doc = "How many times the spins of a tile are updated before it is the turn of "               \
          "the other half of the tiles; fewer in the last round where the sweeps "                 \
          "between two measurements are not a multiple of it. Kernel `tiled` only.",               \
   .default_text = "1",                                                                            \
   .unit = "sweeps",                                                                               \
   .minimum = 1,                                                                                   \
   .maximum = GPUMC_HITS_MAXIMUM,                                                                  \
   .sweepable = true},                                                                             \
      {.name = "tile",                                                                             \
       .type = GPUMC_KEY_INTEGER,                                                                  \
       .doc = "Side of the tiles; every side of the lattice must be a multiple of "                \
              "twice this. 0 picks the largest that fits, up to 32 (square lattices) "             \
              "or 8 (cubic ones). Kernel `tiled` only.",                                           \
       .default_text = "0",                                                                        \
       .unit = "sites",                                                                            \
       .minimum = 0,                                                                               \
       .maximum = GPUMC_TILE_MAXIMUM,                                                              \
       .multiple_of = 2,                                                                           \
       .sweepable = true},                                                                         \
      {.name = "order",                                                                            \
       .type = GPUMC_KEY_CHOICE,                                                                   \
       .doc = "Order of the updates: all hits of one half of the tiles, then all of "              \
              "the other (forward), or a palindrome, which has detailed balance "                  \
              "(symmetrised; `hits` must be even, and divide the sweeps between two "              \
              "measurements). Kernel `tiled` only.",                                               \
       .default_text = "forward",                                                                  \
       .choices = gpumc_tiling_orders,                                                             \
       .sweepable = true},                                                                         \
  {                                                                                                \
    .name = "generator", .type = GPUMC_KEY_CHOICE,                                                 \
    .doc = "Generator of the random numbers of the updates. All but philox are "                   \
           "UNSAFE: linear congruential and lagged Fibonacci generators are known "                \
           "to give wrong results, some only in long runs, and exist to demonstrate "              \
           "it. Kernel `tiled` only.",                                                             \
    .default_text = "philox", .choices = gpumc_generators, .sweepable = true                       \
  }

#endif
