/* The slow, simple tiled kernel: one replica, one spin after another, written from the text of
 * models/ising/tiled/tiled.h and tiled/tiled_generator.h. */
#ifndef TESTS_SUPPORT_TILED_REFERENCE_H
#define TESTS_SUPPORT_TILED_REFERENCE_H

#include "models/ising/tiled/tiled.h"
#include "support/ising_reference.h"

enum { TILED_FIBONACCI_MAXIMUM = 1279 };

/* Replica number `replica` of the run that `spins` belongs to. */
struct tiled_reference {
  struct reference *spins; /* borrowed */
  size_t replica;
  struct ising_tiling tiling; /* hits and tile are set */
  size_t tiles[3], blocks, places;
  uint64_t *thread; /* [blocks][places] congruential: the last numbers */
  uint32_t *last;   /* [blocks][r] lagged Fibonacci: the last numbers, the newest last */
};

void tiled_reference_init(struct tiled_reference *tiled, struct reference *spins, size_t replica,
                          struct ising_tiling tiling);
void tiled_reference_free(struct tiled_reference *tiled);
/* Does one call of `sweeps` sweeps, the first with number `time`. */
void tiled_reference_sweep(struct tiled_reference *tiled, double beta, uint32_t time,
                           uint32_t sweeps);

#endif
