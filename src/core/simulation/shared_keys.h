/* Keys that algorithms share: sweeps, the move by which they change replicas, and samples of
 * quenched disorder. Those with a table of their own are in ladder.h, observables.h and
 * configurations.h. */
#ifndef GPUMC_CORE_SHARED_KEYS_H
#define GPUMC_CORE_SHARED_KEYS_H

#include "core/simulation/model.h"

#define GPUMC_SWEEPS_MAXIMUM 4294967295.0 /* the counter of the random numbers has 32 bits */

/* Initialiser of struct gpumc_key, followed by further members: a number of sweeps. */
#define GPUMC_SWEEPS_KEY(key, least, ...)                                                          \
  {                                                                                                \
    .name = (key), .type = GPUMC_KEY_INTEGER, .minimum = (least), .maximum = GPUMC_SWEEPS_MAXIMUM, \
    .unit = "sweeps", __VA_ARGS__                                                                  \
  }

/* The key `update`, the same in every algorithm that has it. Its choices are the names of the moves
 * of all kernels that serve the algorithm's target, its default is the first of them of the model's
 * first kernel: the language puts both into its copy of the table, where it finds this placeholder
 * for the choices. */
extern const char *const gpumc_update_choices[GPUMC_SWEPT_TARGETS][1];
#define GPUMC_UPDATE_KEY_FOR(target, text)                                                         \
  {                                                                                                \
    .name = "update", .type = GPUMC_KEY_CHOICE, .choices = gpumc_update_choices[target],           \
    .sweepable = true, .doc = (text)                                                               \
  }
#define GPUMC_UPDATE_KEY(text) GPUMC_UPDATE_KEY_FOR(GPUMC_BOLTZMANN, text)

/* Returns the move that a block requests, or NULL if it has no key `update`. */
const char *gpumc_update_name(const struct gpumc_params *params);
/* Returns the kernel's move of that name, for NULL its first, among those that serve the target;
 * NULL if it has none. */
const struct gpumc_move *gpumc_kernel_move(const struct gpumc_kernel_ops *kernel, const char *name,
                                           enum gpumc_target_kind target);
/* Returns whether the kernel has a move for the target; one without any moves is for
 * GPUMC_BOLTZMANN. */
bool gpumc_kernel_samples(const struct gpumc_kernel_ops *kernel, enum gpumc_target_kind target);
/* Returns whether the model has weights given by its controls, or needs none, and a kernel that
 * samples them, even one that this build lacks. */
bool gpumc_model_samples(const struct gpumc_model_ops *model, enum gpumc_target_kind target);

/* Reports a mistake if sweeps would be made at beta = 0 by a move that is useless there
 * (gpumc_move.at_zero), for a block with `update` and the temperatures of ladder.h; none if another
 * control is moved. Its check must follow that of the temperatures in an algorithm's table. */
void gpumc_update_check_temperatures(const struct gpumc_params *params,
                                     const struct gpumc_subject *subject,
                                     struct gpumc_report *report);
#define GPUMC_UPDATE_CHECK                                                                         \
  {                                                                                                \
    .reads = "beta update", .needs = GPUMC_NEEDS_MODEL, .run = gpumc_update_check_temperatures     \
  }

/* Reports a mistake at the key `samples` if a model with disorder has fewer of them, such as one
 * that reads them from a file; for the algorithm's `check_instance`. */
void gpumc_samples_check(const struct gpumc_params *params, const struct gpumc_model *model,
                         size_t samples, struct gpumc_report *report);

/* Computes the identity of the samples 0 .. samples - 1 of a model that reads them from a file; 0
 * for others. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_samples_checksum(const struct gpumc_model *model,
                                                          size_t samples, uint64_t *checksum,
                                                          struct gpumc_error *error);

/* Returns the seed of the random numbers that simulate the samples from `first` on: the task's for
 * 0. Otherwise 48 bits of a Philox draw with the task's seed as key and `first` in the counter,
 * since replicas of one seed have the same random numbers whatever their samples are. */
uint64_t gpumc_samples_seed(uint64_t seed, size_t first);

#endif
