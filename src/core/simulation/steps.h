/* Steps: a parameter of a move whose size can be chosen freely, such as the largest angle of a
 * rotation or the largest distance of a displacement. The configuration gives it, or it is tuned in
 * a warm-up, so that half of the proposals are accepted or by a rule of the move's own.
 *
 * A kernel with such a move (gpumc_move.step) reads the step of run m, ensemble->step[m], and adds
 * the proposals that it accepts to ensemble->accepted[m]. gpumc_ensemble_sweep_target() adapts
 * steps after GPUMC_STEP_FIRST sweeps, twice, four times as many and so on, up to plan.warm_up, by
 * what was accepted since the previous time, and those of some moves (gpumc_step.often) more often
 * at first; after that they do not change, since only then do sweeps preserve the weight. Accepted
 * proposals are counted in integers, and only arithmetic follows from them: steps are the same on
 * every device, for any number of threads, and after every stop. Runs that are `plan.alike` runs
 * apart share one step. If moves take turns, only one of them has a step, and only its sweeps
 * count. */
#ifndef GPUMC_CORE_STEPS_H
#define GPUMC_CORE_STEPS_H

#include "core/simulation/curves.h"

enum { GPUMC_STEP_FIRST = 8 }; /* sweeps */

struct gpumc_observer;

/* The parameter of a move that has a size. */
struct gpumc_step {
  struct gpumc_label label; /* of the step in results */
  const char *key;          /* the kernel's own key that gives it */
  double least, largest;
  double first;   /* with which tuning begins; 0: the largest */
  uint32_t often; /* first sweeps of the move after each of which it is adapted */
  /* The number of proposals in a sweep is not one per site, and sweeps add it to
   * ensemble->proposed. */
  bool counts;
  /* Returns the step that the options give; 0: it is tuned. */
  double (*given)(const struct gpumc_kernel_options *options);
  /* Returns the step that follows on one with this share of accepted proposals; what lies outside
   * of least .. largest is moved there. NULL: the one that is expected to bring the share nearer to
   * a half. */
  double (*adapt)(double step, double share);
  struct gpumc_label share; /* of the share in results; no name: move_acceptance */
};

/* Returns the step of the ensemble's move, or of that one of its moves that has any; NULL: neither
 * they nor the ensemble have one. */
const struct gpumc_step *gpumc_step_of(const struct gpumc_ensemble *ensemble);

/* Returns the label of the share of accepted proposals in results. */
struct gpumc_label gpumc_step_share_label(const struct gpumc_step *step);

/* Makes room for steps; sets their first values at the start of runs. Free is legal on none. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_steps_create(struct gpumc_ensemble *ensemble, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
gpumc_steps_start(struct gpumc_ensemble *ensemble, struct gpumc_error *error);
void gpumc_steps_free(struct gpumc_ensemble *ensemble);

/* Returns the sweeps until steps are adapted, from ensemble->time on; UINT32_MAX: never again.
 * Until then sweeps need not preserve the weight. */
uint32_t gpumc_steps_until(const struct gpumc_ensemble *ensemble);
/* Returns the sweeps by its move in which a step can be tuned. */
uint32_t gpumc_steps_enough(const struct gpumc_step *step);
/* Adapts steps at such a time. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_steps_adapt(struct gpumc_ensemble *ensemble, struct gpumc_error *error);

/* For an algorithm that moves a control on after a number of sweeps: computes the share of their
 * proposals that each run accepted, share[runs], NaN if none were made, and changes steps that are
 * tuned as it asks for, so that they are those of the sweeps at the next value. size[runs]: the
 * replicas that made these sweeps, of all processes. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_steps_follow(struct gpumc_ensemble *ensemble,
                                                      uint32_t sweeps, const uint32_t *size,
                                                      double *share, struct gpumc_error *error);

/* Adds accepted proposals of run m; for kernels on the CPU, from any of its threads. */
static inline void
gpumc_steps_count(const struct gpumc_ensemble *ensemble, size_t m, uint64_t accepted)
{
#pragma omp atomic
  ensemble->accepted[m] += accepted;
}

/* Adds proposals of run m, likewise, if they are counted. */
static inline void
gpumc_steps_propose(const struct gpumc_ensemble *ensemble, size_t m, uint64_t proposed)
{
#pragma omp atomic
  ensemble->proposed[m] += proposed;
}

/* Saves steps, and the proposals accepted since they were adapted, to a checkpoint, or loads
 * them. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_steps_save(struct gpumc_ensemble *ensemble,
                                                    struct gpumc_checkpoint_writer *writer,
                                                    struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status gpumc_steps_load(struct gpumc_ensemble *ensemble,
                                                    struct gpumc_checkpoint_reader *reader,
                                                    struct gpumc_error *error);

/* Call before the summary, which the root forms alone: every process gets the counts of all of
 * them, and no further sweeps are possible. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_steps_settle(struct gpumc_ensemble *ensemble, struct gpumc_error *error);
/* Computes the proposals of all replicas from the beginning of the run on, if they are counted and
 * no move takes turns with others; otherwise `*proposals` is unchanged. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_steps_proposals(const struct gpumc_ensemble *ensemble,
                                                         double *proposals,
                                                         struct gpumc_error *error);

/* Writes the steps of the first runs, count[0] of the place, those that are alike, and the share of
 * their proposals accepted since the step was last changed; warns, also in the group's attribute
 * step_warning, of those whose tuning ended far from its aim. Does nothing for moves without a
 * step, or if no replicas have made any (gpumc_merge). */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_steps_write(const struct gpumc_ensemble *ensemble, const struct gpumc_curve_place *place,
                  const struct gpumc_observer *observer, struct gpumc_error *error);

#endif
