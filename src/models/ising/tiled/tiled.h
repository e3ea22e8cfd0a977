/* The tiled kernel: one large lattice with uniform couplings and fields, updated tile by tile with
 * all of a tile and its boundary in fast memory (M. Weigel, J. Comput. Phys. 231, 3064 (2012),
 * section 3: the double checkerboard). This header defines what is the same on every device: where
 * spins are, the order of their updates, and the random number of each.
 *
 * Trajectory "ising.tiled.1". The lattice is cut into tiles of side t, every side of the lattice
 * being a multiple of 2 t. Tile (X, Y, Z) has the number (Z Ty + Y) Tx + X and belongs to half A
 * (X + Y + Z even) or B; the blocks b of a half are its tiles in this order. Within a tile, site
 * (x, y, z) has the colour (x + y + z) & 1, the line l = z t + y and the place i = l (t/2) + x/2
 * among those of its colour. Initially spins are those of trajectory "ising.spin.1".
 *
 * A hit with number `time` updates the even sites of all tiles of a half, then the odd ones, or
 * reversed. A call of n sweeps does groups of k = hits sweeps, the last with what is left:
 *   forward:     all times of a group in A, then all of them in B, never reversed.
 *   symmetrised: the first half of a group's times in A, all of them in B, the second half in A;
 * the second half of the times is reversed in both. k is even; where what is left is odd, its last
 * sweep is a group of its own and forward. So every spin is updated once at each time, and a group
 * of the symmetrised order reads the same backwards. u decides as in "ising.spin.1"
 * (ising_physics.h). With Philox, and W = ceil(t / 8) words of four sites to a line, word q = l W +
 * x/8, u is output (x/2) & 3 of the counter {number of the tile * t^(d-1) W + q, replica, time,
 * (LATTICE_SWEEP, colour)}; of the other generators tiled_generator.h tells. */
#ifndef GPUMC_ISING_TILED_H
#define GPUMC_ISING_TILED_H

#include "core/simulation/kernel.h"
#include "core/simulation/model.h"
#include "models/ising/tiled/tiled_generator.h"
#include "models/ising/tiled/tiled_lattice.h"

/* ---- how one large lattice is updated ---- */

/* How one large lattice is updated tile by tile (M. Weigel, Comput. Phys. Commun. 182, 1833 (2011);
 * J. Comput. Phys. 231, 3064 (2012)): the keys that the tiled kernels add to the block `kernel`.
 * All of them decide numbers. */

/* A and B are the two halves of a checkerboard of tiles. With k hits, k sweeps are performed as k
 * updates of A, then k of B (forward), or as a palindrome: k/2 of A, k of B, k/2 of A in reversed
 * order. */
enum ising_tiling_order { ISING_ORDER_FORWARD, ISING_ORDER_SYMMETRISED };

/* Zeroed: one hit, the kernel's own side, forward, Philox. */
struct ising_tiling {
  uint32_t hits; /* updates of a tile before the other half's turn; 0 means 1 */
  uint32_t tile; /* side in sites; 0: the kernel's choice by the shape of the lattice */
  enum ising_tiling_order order;
  enum ising_generator generator;
};

enum { ISING_HITS_MAXIMUM = 1000, ISING_TILE_MAXIMUM = 64 };

/* The names of the choices; NULL-terminated. */
extern const char *const ising_tiling_orders[], *const ising_generators[];

/* Convert between options of a plan and a tiling. */
struct gpumc_kernel_options ising_tiling_options(const struct ising_tiling *tiling);
struct ising_tiling ising_tiling_of(const struct gpumc_kernel_options *options);

/* ---- operations of the kernels of all devices ---- */

/* gpumc_kernel_ops.keys, read, check and warning of the tiled kernels. */
extern const struct gpumc_key ising_tiling_keys[];
void ising_tiling_read(const struct gpumc_params *kernel, struct gpumc_kernel_options *options);
void ising_tiling_check(const struct gpumc_params *kernel, int64_t interval,
                        struct gpumc_report *report);
const char *ising_tiling_warning(const struct gpumc_kernel_options *options, const char **name);

/* gpumc_kernel_ops.refuses */
const char *ising_tiled_refuses(const struct gpumc_model *model,
                                const struct gpumc_kernel_options *options, const char **key);

/* `check` of the layouts. */
GPUMC_MUST_CHECK enum gpumc_status
ising_tiled_check(const struct gpumc_ensemble *ensemble, struct gpumc_error *error);

/* For a tiling that is not refused. */
struct ising_tiled_geometry
ising_tiled_geometry(const struct gpumc_model *model, const struct ising_tiling *tiling);
struct ising_tiled_rule ising_tiled_rule(const struct gpumc_model *model, enum ising_move update,
                                         const double control[ISING_CONTROLS]);

/* Sets `visit` to number `v` of the visits that make up a call of `sweeps` sweeps; false: there are
 * no more. */
bool ising_tiled_visit(const struct ising_tiling *tiling, uint32_t sweeps, uint32_t v,
                       struct ising_tiled_visit *visit);

/* Initialisers shared by the tiled kernels of all devices. */
#define ISING_TILED_NAMES                                                                          \
  .variant = "tiled",                                                                              \
  .summary = "one large lattice, tiles in a double checkerboard, several hits per tile",           \
  .takes = "sides that are multiples of 4, and of twice `kernel.tile` where that is given; no "    \
           "disorder",                                                                             \
  .trajectory = "ising.tiled.1", .moves = ising_moves, .n_moves = ISING_LOCAL_MOVES, .group = 1,   \
  .keys = ising_tiling_keys, .read = ising_tiling_read, .refuses = ising_tiled_refuses,            \
  .check = ising_tiling_check, .warning = ising_tiling_warning, .recorded_key = "generator"

#endif
