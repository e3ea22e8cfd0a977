/* The two-dimensional Ising model. */
#ifndef GPUMC_ISING2D_H
#define GPUMC_ISING2D_H

#include "models/ising/ising.h"

/* Creates an instance without a configuration: sides even, from 2 to 1048576, J not 0. */
GPUMC_MUST_CHECK enum gpumc_status ising2d_instance(const size_t shape[2], double coupling,
                                                    double field, struct gpumc_model *model,
                                                    struct gpumc_error *error);

extern const struct gpumc_model_ops gpumc_model_ising2d;

#endif
