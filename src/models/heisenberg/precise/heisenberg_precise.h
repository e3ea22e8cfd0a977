/* Where single precision is too coarse for a move of O(n) spins: for the kernels `float` and
 * `fast`. */
#ifndef GPUMC_HEISENBERG_PRECISE_H
#define GPUMC_HEISENBERG_PRECISE_H

#include "core/simulation/ensemble.h"

/* Small steps compare the energies of nearly equal spins, whose rounding, beta times the field of a
 * spin times 2^-24, has to be far below 1: returns GPUMC_INVALID, with the remedy, for
 * control[runs][2] at which they do not. Other moves are exact at all temperatures: the heat bath,
 * over-relaxation and clusters compare none. */
GPUMC_MUST_CHECK enum gpumc_status heisenberg_check_precise(const struct gpumc_ensemble *ensemble,
                                                            const double *control,
                                                            struct gpumc_error *error);

#endif
