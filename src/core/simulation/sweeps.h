/* Keys of sweeps: how many of them, and how they update a spin. */
#ifndef GPUMC_CORE_SWEEPS_H
#define GPUMC_CORE_SWEEPS_H

#include "core/simulation/model.h"

#define GPUMC_SWEEPS_MAXIMUM 4294967295.0 /* the counter of the random numbers has 32 bits */

/* Initialiser of struct gpumc_key, the further members behind: a number of sweeps. */
#define GPUMC_SWEEPS_KEY(key, least, ...)                                                          \
  {                                                                                                \
    .name = (key), .type = GPUMC_KEY_INTEGER, .minimum = (least), .maximum = GPUMC_SWEEPS_MAXIMUM, \
    .unit = "sweeps", __VA_ARGS__                                                                  \
  }

/* The key `update`, the same in every algorithm that has it. */
extern const char *const gpumc_update_choices[];
#define GPUMC_UPDATE_KEY(text)                                                                     \
  {                                                                                                \
    .name = "update", .type = GPUMC_KEY_CHOICE, .choices = gpumc_update_choices,                   \
    .default_text = "metropolis", .sweepable = true, .doc = (text)                                 \
  }
enum gpumc_update gpumc_update_of(const struct gpumc_params *params);

/* A mistake where Metropolis sweeps would be made at beta = 0 of a model with
 * GPUMC_TRAIT_TWO_STATES, of a block with `update` and the temperatures of temperatures.h: every
 * flip is accepted there, so that a sweep of a checkerboard turns all spins over and the energy
 * stays what it is. Its check must follow that of the temperatures in an algorithm's table. */
void gpumc_update_check_temperatures(const struct gpumc_params *params,
                                     const struct gpumc_subject *subject,
                                     struct gpumc_report *report);
#define GPUMC_UPDATE_CHECK                                                                         \
  {                                                                                                \
    .reads = "beta update", .needs = GPUMC_NEEDS_MODEL, .run = gpumc_update_check_temperatures     \
  }
/* gpumc_algorithm_ops.further of an algorithm with `update`: not every kernel has heat-bath
 * updates.
 */
uint32_t gpumc_update_further(const struct gpumc_params *params, const char **remedy);
/* gpumc_algorithm_ops.ergodicity of an algorithm with `update` and `samples`. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_update_ergodicity(const struct gpumc_params *params, const struct gpumc_model *model,
                        const char **warning, struct gpumc_error *error);

#endif
