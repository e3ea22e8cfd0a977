/* Thresholds of the runs' temperatures for the CUDA kernels that compare bit by bit: multispin and
 * packed. */
#ifndef GPUMC_ISING_MULTISPIN_TEMPERATURE_CUDA_H
#define GPUMC_ISING_MULTISPIN_TEMPERATURE_CUDA_H

#include "core/simulation/kernel.h"
#include "models/ising/multispin/multispin_cuda.h"

/* Every byte of a temperature that none is: a NaN. */
enum { ISING_NO_TEMPERATURE = UINT8_MAX };

struct ising_multispin_physics ising_multispin_physics_of(const struct gpumc_ensemble *ensemble);

/* The rest of a rule with physics, thresholds, and `each` where masks of one temperature do not
 * serve. control[runs][ISING_CONTROLS]; known[plan.runs][..]: those whose thresholds are on the
 * device, at first filled with ISING_NO_TEMPERATURE. */
GPUMC_MUST_CHECK enum gpumc_status
ising_multispin_set_temperatures(const struct gpumc_ensemble *ensemble, const double *control,
                                 double *known, struct ising_multispin_device_rule *rule,
                                 struct gpumc_error *error);

#endif
