/* Keys that algorithms share: sweeps, the move by which they change replicas, and samples of
 * quenched disorder. Those with a table of their own are in ladder.h, observables.h and
 * configurations.h. */
#ifndef GPUMC_CORE_SHARED_KEYS_H
#define GPUMC_CORE_SHARED_KEYS_H

#include "core/simulation/model.h"

#define GPUMC_SWEEPS_MAXIMUM 4294967295.0 /* the counter of the random numbers has 32 bits */

/* Initialiser of struct gpumc_key, the further members after it: a number of sweeps. */
#define GPUMC_SWEEPS_KEY(key, least, ...)                                                          \
  {                                                                                                \
    .name = (key), .type = GPUMC_KEY_INTEGER, .minimum = (least), .maximum = GPUMC_SWEEPS_MAXIMUM, \
    .unit = "sweeps", __VA_ARGS__                                                                  \
  }

/* The key `update`, the same in every algorithm that has it. Its choices are the names of the moves
 * of all kernels that serve the algorithm's target, its default is the first of them of the model's
 * first kernel: the language puts both into its copy of the table, where it finds these choices,
 * which are none. */
extern const char *const gpumc_update_choices[GPUMC_SWEPT_TARGETS][1];
#define GPUMC_UPDATE_KEY_FOR(target, text)                                                         \
  {                                                                                                \
    .name = "update", .type = GPUMC_KEY_CHOICE, .choices = gpumc_update_choices[target],           \
    .sweepable = true, .doc = (text)                                                               \
  }
#define GPUMC_UPDATE_KEY(text) GPUMC_UPDATE_KEY_FOR(GPUMC_BOLTZMANN, text)

/* The move that a block asks for, or NULL where it has no key `update`. */
const char *gpumc_update_name(const struct gpumc_params *params);
/* The kernel's move of that name, for NULL its first, of those that serve the target; NULL where it
 * has none. */
const struct gpumc_move *gpumc_kernel_move(const struct gpumc_kernel_ops *kernel, const char *name,
                                           enum gpumc_target_kind target);
/* Whether the kernel has a move for the target; one without any is for GPUMC_BOLTZMANN. */
bool gpumc_kernel_samples(const struct gpumc_kernel_ops *kernel, enum gpumc_target_kind target);
/* Whether the model has weights that its controls give, or needs none, and a kernel that samples
 * them, one that this build lacks included. */
bool gpumc_model_samples(const struct gpumc_model_ops *model, enum gpumc_target_kind target);

/* A mistake where sweeps would be made at beta = 0 by a move that is of no use there
 * (gpumc_move.at_zero), of a block with `update` and the temperatures of ladder.h; none where
 * another control is moved. Its check must follow that of the temperatures in an algorithm's table.
 */
void gpumc_update_check_temperatures(const struct gpumc_params *params,
                                     const struct gpumc_subject *subject,
                                     struct gpumc_report *report);
#define GPUMC_UPDATE_CHECK                                                                         \
  {                                                                                                \
    .reads = "beta update", .needs = GPUMC_NEEDS_MODEL, .run = gpumc_update_check_temperatures     \
  }

/* A mistake at the key `samples` where a model with disorder has fewer of them, as one that reads
 * them from a file; for the algorithm's `check_instance`. */
void gpumc_samples_check(const struct gpumc_params *params, const struct gpumc_model *model,
                         size_t samples, struct gpumc_report *report);

/* What the samples 0 .. samples - 1 of a model are known by that reads them from a file; 0 of
 * others.
 */
GPUMC_MUST_CHECK enum gpumc_status gpumc_samples_checksum(const struct gpumc_model *model,
                                                          size_t samples, uint64_t *checksum,
                                                          struct gpumc_error *error);

/* The seed of the random numbers that simulate the samples from `first` on: the task's for 0. Else
 * 48 bits of a Philox draw with the task's seed as key and `first` in the counter, since replicas
 * of one seed have the same random numbers whatever their samples are. */
uint64_t gpumc_samples_seed(uint64_t seed, size_t first);

#endif
