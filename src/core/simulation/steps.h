/* Steps: what of a move has a size that is free to choose, such as the largest angle of a rotation
 * or the largest distance of a displacement. The configuration gives it, or it is tuned in a
 * warm-up so that half of the proposals are accepted.
 *
 * A kernel with such a move (gpumc_move.step) reads the step of run m, ensemble->step[m], and adds
 * the proposals that it takes to ensemble->accepted[m]. gpumc_ensemble_sweep_target() adapts steps
 * after GPUMC_STEP_FIRST sweeps, twice, four times as many and so on, up to plan.warm_up, by what
 * was accepted since the time before; after that they stay as they are, for only then do sweeps
 * leave the weight as it is. Accepted proposals are counted in integers, and nothing but arithmetic
 * follows from them: steps are the same on every device, for any number of threads, and after every
 * stop. Runs that are `plan.alike` runs apart have one step. */
#ifndef GPUMC_CORE_STEPS_H
#define GPUMC_CORE_STEPS_H

#include "core/simulation/curves.h"

enum { GPUMC_STEP_FIRST = 8 }; /* sweeps */

struct gpumc_observer;

/* What of a move has a size. Tuning begins with the largest. */
struct gpumc_step {
  struct gpumc_label label; /* of the step in results */
  const char *key;          /* the kernel's own key that gives it */
  double least, largest;
  /* Sweeps make another number of proposals than one for each site, and add it to
   * ensemble->proposed. */
  bool counts;
  /* The step that the options give; 0: it is tuned. */
  double (*given)(const struct gpumc_kernel_options *options);
};

/* Of the ensemble's move; NULL: it has none, and neither has the ensemble. */
const struct gpumc_step *gpumc_step_of(const struct gpumc_ensemble *ensemble);

/* Room for steps, and at the start of runs their first values. Free is legal on none. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_steps_create(struct gpumc_ensemble *ensemble, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
gpumc_steps_start(struct gpumc_ensemble *ensemble, struct gpumc_error *error);
void gpumc_steps_free(struct gpumc_ensemble *ensemble);

/* Sweeps until steps are adapted, from ensemble->time on; UINT32_MAX: never. */
uint32_t gpumc_steps_until(const struct gpumc_ensemble *ensemble);
/* At such a time. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_steps_adapt(struct gpumc_ensemble *ensemble, struct gpumc_error *error);

/* Adds accepted proposals of run m; for kernels on the CPU, from any of its threads. */
static inline void
gpumc_steps_count(const struct gpumc_ensemble *ensemble, size_t m, uint64_t accepted)
{
#pragma omp atomic
  ensemble->accepted[m] += accepted;
}

/* Adds proposals of run m, likewise, where they are counted. */
static inline void
gpumc_steps_propose(const struct gpumc_ensemble *ensemble, size_t m, uint64_t proposed)
{
#pragma omp atomic
  ensemble->proposed[m] += proposed;
}

/* Steps and what is accepted since they were adapted, to and from a checkpoint. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_steps_save(struct gpumc_ensemble *ensemble,
                                                    struct gpumc_checkpoint_writer *writer,
                                                    struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status gpumc_steps_load(struct gpumc_ensemble *ensemble,
                                                    struct gpumc_checkpoint_reader *reader,
                                                    struct gpumc_error *error);

/* Before the summary, which the root forms alone: every process gets what all of them have counted,
 * and nothing can be swept any more. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_steps_settle(struct gpumc_ensemble *ensemble, struct gpumc_error *error);
/* What was proposed from the beginning of the run on, where it is counted, by all replicas;
 * otherwise `*proposals` stays. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_steps_proposals(const struct gpumc_ensemble *ensemble,
                                                         double *proposals,
                                                         struct gpumc_error *error);

/* Steps of the first runs, count[0] of the place, those that are alike, and the share of their
 * proposals that was accepted since the step is what it is; warns of those whose tuning ended far
 * from its aim, in the group's attribute step_warning too. Nothing for moves without a step, nor
 * where there are no replicas that have made any (gpumc_merge). */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_steps_write(const struct gpumc_ensemble *ensemble, const struct gpumc_curve_place *place,
                  const struct gpumc_observer *observer, struct gpumc_error *error);

#endif
