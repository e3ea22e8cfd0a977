/* Canonical runs: what tests look at. */
#ifndef GPUMC_ALGORITHMS_CANONICAL_H
#define GPUMC_ALGORITHMS_CANONICAL_H

#include "algorithms/chains/chains.h"

/* What a block without mistakes says: settings, the inverse temperatures, and the grid. */
chains_read canonical_read;

#endif
