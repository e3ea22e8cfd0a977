/* How one large lattice is updated tile by tile (M. Weigel, Comput. Phys. Commun. 182, 1833
 * (2011); J. Comput. Phys. 231, 3064 (2012)): the keys that the tiled kernels add to the block
 * `kernel`. All of them decide numbers. */
#ifndef GPUMC_ISING_TILING_H
#define GPUMC_ISING_TILING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/simulation/kernel.h"

/* A and B are the two halves of a checkerboard of tiles. With k hits k sweeps are done as k updates
 * of A, then k of B (forward), or as a palindrome: k/2 of A, k of B, k/2 of A in reversed order. */
enum ising_tiling_order { ISING_ORDER_FORWARD, ISING_ORDER_SYMMETRISED };

/* All but Philox are unsafe, there to reproduce what they do wrong. */
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

/* Zeroed: one hit, the kernel's own side, forward, Philox. */
struct ising_tiling {
  uint32_t hits; /* updates of a tile before the other half has its turn; 0 is 1 */
  uint32_t tile; /* side in sites; 0: the kernel's choice by the shape of the lattice */
  enum ising_tiling_order order;
  enum ising_generator generator;
};

enum { ISING_HITS_MAXIMUM = 1000, ISING_TILE_MAXIMUM = 64 };

/* The names of the choices; NULL-terminated. */
extern const char *const ising_tiling_orders[], *const ising_generators[];

/* Options of a plan and what they hold. */
struct gpumc_kernel_options ising_tiling_options(const struct ising_tiling *tiling);
struct ising_tiling ising_tiling_of(const struct gpumc_kernel_options *options);

#endif
