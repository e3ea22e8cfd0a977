/* What the tiled kernels of all devices say of themselves. */
#ifndef GPUMC_ISING_TILED_NAMES_H
#define GPUMC_ISING_TILED_NAMES_H

#include "models/ising/ising_takes.h"
#include "models/ising/tiled/tiled.h"

/* Designated initialisers of a struct gpumc_kernel_ops. */
#define ISING_TILED_NAMES                                                                          \
  .variant = "tiled",                                                                              \
  .summary = "one large lattice, tiles in a double checkerboard, several hits a tile",             \
  .takes = ISING_TAKES_TILED, .trajectory = "ising.tiled.1", .moves = ising_moves,                 \
  .n_moves = ISING_MOVES, .keys = ising_tiling_keys, .read = ising_tiling_read,                    \
  .refuses = ising_tiled_refuses, .check = ising_tiling_check, .warning = ising_tiling_warning,    \
  .recorded_key = "generator"

#endif
