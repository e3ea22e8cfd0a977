/* Keys that algorithms share: sweeps, the moves by which they change replicas, in turn if there are
 * several, and samples of quenched disorder. Those with a table of their own are in ladder.h,
 * observables.h and configurations.h. */
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

/* ---- moves ---- */

/* The most sweeps of one turn: those of all turns together are far fewer than a run may have. */
#define GPUMC_TURN_SWEEPS_MAXIMUM 1000000

/* The key `update`, the same in every algorithm that has it: a move, or several that take turns.
 * Its choices are the names of the moves of all kernels that serve the algorithm's target, its
 * default is the first of them of the model's first kernel: the language puts both into its copy of
 * the table, where it finds this placeholder for the choices. `..._KEY_ABSENT`: without the key
 * sweeps are made by that move too, but it stays out of the task. */
extern const char *const gpumc_update_choices[GPUMC_SWEPT_TARGETS][1];
#define GPUMC_UPDATE_KEY_WITH(target, text, default)                                               \
  {                                                                                                \
    .name = "update", .type = GPUMC_KEY_TURNS, .choices = gpumc_update_choices[target],            \
    .default_text = (default), .minimum = 1, .maximum = GPUMC_TURN_SWEEPS_MAXIMUM,                 \
    .list_minimum = 1, .list_maximum = GPUMC_TURNS_MAXIMUM, .sweepable = true, .doc = (text)       \
  }
#define GPUMC_UPDATE_KEY_FOR(target, text) GPUMC_UPDATE_KEY_WITH(target, text, "")
#define GPUMC_UPDATE_KEY(text) GPUMC_UPDATE_KEY_FOR(GPUMC_BOLTZMANN, text)
#define GPUMC_UPDATE_KEY_ABSENT(text) GPUMC_UPDATE_KEY_WITH(GPUMC_BOLTZMANN, text, NULL)

/* What a block requests by the key `update`: names of moves, which it owns no longer than the
 * block's values. Without the key one turn whose move is NULL, the kernel's first. */
struct gpumc_update {
  size_t count;
  struct {
    const char *move;
    uint32_t sweeps;
  } turn[GPUMC_TURNS_MAXIMUM];
};
struct gpumc_update gpumc_update_of(const struct gpumc_params *params);
/* Appends it as a configuration has it: "a", "[{a: 2}, {b: 1}]". */
void gpumc_update_append(const struct gpumc_update *update, struct gpumc_text *text);
/* Sets the moves of a plan: those of the kernel for the target; its first one if the kernel has not
 * the one that is requested. */
void gpumc_update_plan(const struct gpumc_update *update, const struct gpumc_kernel_ops *kernel,
                       enum gpumc_target_kind target, struct gpumc_ensemble_plan *plan);

/* Returns the kernel's move of that name, for NULL its first, among those that serve the target;
 * NULL if it has none. */
const struct gpumc_move *gpumc_kernel_move(const struct gpumc_kernel_ops *kernel, const char *name,
                                           enum gpumc_target_kind target);
/* Chains of one system that show whether one of them missed states behind a barrier, since they
 * contradict each other: where random starts lead to either side of it, all begin on the same one
 * in a run of 128. With fewer a run is not trusted where there may be such states
 * (gpumc_move.mixes). */
enum { GPUMC_CHAINS_FOR_TRUST = 8 };
/* Returns whether the moves that are requested are proven to meet no barrier (gpumc_move.mixes) at
 * control[n_controls] of the model, or for an athermal target, control NULL: where they take turns
 * all leave the weight as it is, so what one of them mixes stays mixed. */
bool gpumc_update_mixes(const struct gpumc_update *update, const struct gpumc_kernel_ops *kernel,
                        const struct gpumc_model *model, const double *control);
/* Returns whether the kernel has a move for the target; one without any moves is for
 * GPUMC_BOLTZMANN. */
bool gpumc_kernel_samples(const struct gpumc_kernel_ops *kernel, enum gpumc_target_kind target);
/* Returns whether the model has weights given by its controls, or needs none, and a kernel that
 * samples them, even one that this build lacks. */
bool gpumc_model_samples(const struct gpumc_model_ops *model, enum gpumc_target_kind target);

/* Returns the sweeps of all turns together, after which the first comes again; 1: there is one
 * move. */
uint32_t gpumc_plan_cycle(const struct gpumc_ensemble_plan *plan);
/* Returns the mean over all turns of the cost of a sweep (gpumc_kernel_ops.cost, not NULL), or of
 * the updates of a replica in one, or proposals if the kernel counts those. */
double gpumc_kernel_cost(const struct gpumc_kernel_ops *kernel, const struct gpumc_model *model,
                         const struct gpumc_ensemble_plan *plan, size_t replicas);
double gpumc_kernel_trials(const struct gpumc_kernel_ops *kernel, const struct gpumc_model *model,
                           const struct gpumc_ensemble_plan *plan);
/* Sets plan->move to the move of the sweep at `time`. Returns the sweeps from there on that are by
 * it; UINT32_MAX: all. */
uint32_t gpumc_plan_take_turn(struct gpumc_ensemble_plan *plan, uint32_t time);
/* Returns how many of the sweeps before `time` are by that move. */
uint32_t gpumc_plan_sweeps(const struct gpumc_ensemble_plan *plan, uint32_t move, uint32_t time);

/* Reports a mistake if sweeps would be made at beta = 0 by moves that are all useless there
 * (gpumc_move.at_zero), for a block with `update` and the temperatures of ladder.h; none if another
 * control is moved. Its check must follow that of the temperatures in an algorithm's table. */
void gpumc_update_check_temperatures(const struct gpumc_params *params,
                                     const struct gpumc_subject *subject,
                                     struct gpumc_report *report);
#define GPUMC_UPDATE_CHECK                                                                         \
  {                                                                                                \
    .reads = "beta update", .needs = GPUMC_NEEDS_MODEL, .run = gpumc_update_check_temperatures     \
  }

/* ---- samples of quenched disorder ---- */

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
