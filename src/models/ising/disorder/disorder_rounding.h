/* Whether the quantum of the energy is fine enough for what an instance was given. */
#ifndef GPUMC_ISING_DISORDER_ROUNDING_H
#define GPUMC_ISING_DISORDER_ROUNDING_H

#include "models/ising/ising.h"

/* GPUMC_INVALID where J, h or a bimodal width changes by more than one part in 2^17 when it is
 * rounded to quanta, where quanta are coarser than 2^-12 of a Gaussian's standard deviation, or
 * where the values of a file change by more than one part in 2^12, the mean over those that are not
 * 0. For an instance that is complete otherwise; without disorder nothing is rounded. */
GPUMC_MUST_CHECK enum gpumc_status ising_rounding_check(const struct ising_settings *settings,
                                                        const struct gpumc_model *model,
                                                        struct gpumc_error *error);

#endif
