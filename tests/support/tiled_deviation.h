/* How far the tiled kernel of the device under test deviates from Kaufman's lattice. */
#ifndef TESTS_SUPPORT_TILED_DEVIATION_H
#define TESTS_SUPPORT_TILED_DEVIATION_H

#include "models/ising/tiled/tiled.h"
#include "support/ising_fixture.h"

/* A square lattice; sweeps beforehand, and measurements every four sweeps. */
struct tiled_size {
  size_t side;
  uint32_t tile, warm, measurements;
};

struct tiled_deviation {
  double energy, specific_heat; /* in errors */
};

/* Measures the deviations at beta = 0.4 with seed 1. Errors come from 16 independent replicas:
 * deviations are distributed as Student's t with 15 degrees of freedom. The tile is the one in
 * `size`. */
struct tiled_deviation
tiled_deviation(const struct tiled_size *size, struct ising_tiling tiling, enum ising_move update);
/* Fails the running test if energy or specific heat are 4.5 errors off: false alarm rate 4.2e-4 for
 * either. */
void tiled_expect_right(const struct tiled_size *size, struct ising_tiling tiling,
                        enum ising_move update);

#endif
