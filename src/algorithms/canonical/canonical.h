/* Canonical runs: the part that tests use. */
#ifndef GPUMC_ALGORITHMS_CANONICAL_H
#define GPUMC_ALGORITHMS_CANONICAL_H

#include "algorithms/chains/chains.h"

/* Reads a block without mistakes: settings, the inverse temperatures, and the grid. */
chains_read canonical_read;

#endif
