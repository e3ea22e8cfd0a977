#include "core/simulation/steps.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/memory.h"
#include "core/simulation/algorithm.h"
#include "core/simulation/columns.h"
#include "core/simulation/shared_keys.h"
#include "core/storage/checkpoint.h"

/* Half of the proposals should be accepted. A step whose share is a becomes ((a + EASE) / (TARGET +
 * EASE))^(3/4) times as large: the share falls between the first and the second power of large
 * steps, and more slowly than the first power of small ones, so this exponent neither overshoots
 * nor crawls, and EASE limits the effect of few proposals. */
#define TARGET 0.5
#define EASE 0.02

/* While a control is fixed, a step grows by this factor at most. This limits rules of moves of
 * their own, where a few sweeps at the beginning may tell nothing of later ones. */
#define LARGEST_GROWTH 4.0

/* Returns the number of the move that has a step; n_moves: none has. */
static uint32_t stepping_move(const struct gpumc_ensemble *ensemble)
{
  uint32_t move = 0;
  while (move < ensemble->ops->n_moves &&
         (ensemble->ops->moves[move].step == NULL || !gpumc_plan_makes(&ensemble->plan, move)))
    move++;
  return move;
}

const struct gpumc_step *gpumc_step_of(const struct gpumc_ensemble *ensemble)
{
  const uint32_t move = stepping_move(ensemble);
  return move < ensemble->ops->n_moves ? ensemble->ops->moves[move].step : NULL;
}

static size_t alike(const struct gpumc_ensemble *ensemble)
{
  const size_t apart = ensemble->plan.alike;
  return apart > 0 && apart < ensemble->runs ? apart : ensemble->runs;
}

enum gpumc_status gpumc_steps_create(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  if (gpumc_step_of(ensemble) == NULL)
    return GPUMC_OK;
  GPUMC_TRY(gpumc_allocate_array(&ensemble->step, ensemble->plan.runs, "steps", error));
  if (gpumc_step_of(ensemble)->counts)
    GPUMC_TRY(gpumc_device_array(ensemble->device, &ensemble->proposed, ensemble->plan.runs,
                                 "proposals", error));
  return gpumc_device_array(ensemble->device, &ensemble->accepted, ensemble->plan.runs,
                            "accepted proposals", error);
}

/* Returns the processes that must add up their counts. */
static const struct gpumc_processes *counting(const struct gpumc_ensemble *ensemble)
{
  return ensemble->settled ? gpumc_processes_alone() : gpumc_columns_processes(ensemble);
}

/* Adds up the counts of all processes for runs 0 .. runs - 1: sum[runs] on the host. */
static enum gpumc_status sum_counts(const struct gpumc_ensemble *ensemble, const uint64_t *counts,
                                    size_t runs, uint64_t *sum, struct gpumc_error *error)
{
  return gpumc_columns_sum_counts(ensemble->device, counting(ensemble), counts,
                                  (struct gpumc_slice){0, runs}, sum, runs, error);
}

/* *sum: proposals of all runs that there is room for, if they are counted. */
static enum gpumc_status
add_proposed(const struct gpumc_ensemble *ensemble, uint64_t *sum, struct gpumc_error *error)
{
  const size_t runs = ensemble->plan.runs;
  uint64_t *of_runs = NULL;
  enum gpumc_status status;
  GPUMC_TRY(gpumc_allocate_array(&of_runs, runs, "proposals", error));
  GPUMC_TRY_OUT(status, sum_counts(ensemble, ensemble->proposed, runs, of_runs, error));
  for (size_t m = 0; m < runs; m++)
    *sum += of_runs[m];
out:
  free(of_runs);
  return status;
}

enum gpumc_status gpumc_steps_proposals(const struct gpumc_ensemble *ensemble, double *proposals,
                                        struct gpumc_error *error)
{
  uint64_t sum = ensemble->proposed_before;
  if (ensemble->proposed == NULL || ensemble->plan.n_turns > 0)
    return GPUMC_OK;
  GPUMC_TRY(add_proposed(ensemble, &sum, error));
  *proposals = (double)sum;
  return GPUMC_OK;
}

static enum gpumc_status count_anew(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const struct gpumc_device_ops *ops = ensemble->device->ops;
  const size_t bytes = ensemble->plan.runs * sizeof(uint64_t);
  if (ensemble->proposed != NULL) {
    GPUMC_TRY(add_proposed(ensemble, &ensemble->proposed_before, error));
    GPUMC_TRY(ops->fill(ensemble->device, ensemble->proposed, 0, bytes, error));
  }
  return ops->fill(ensemble->device, ensemble->accepted, 0, bytes, error);
}

enum gpumc_status gpumc_steps_start(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const struct gpumc_step *step = gpumc_step_of(ensemble);
  if (step == NULL)
    return GPUMC_OK;
  const double given = step->given(&ensemble->plan.options);
  const double first = step->first > 0 ? step->first : step->largest;
  for (size_t m = 0; m < ensemble->plan.runs; m++)
    ensemble->step[m] = given > 0 ? given : first;
  return count_anew(ensemble, error);
}

void gpumc_steps_free(struct gpumc_ensemble *ensemble)
{
  ensemble->device->ops->release(ensemble->device, ensemble->accepted);
  ensemble->device->ops->release(ensemble->device, ensemble->proposed);
  free(ensemble->step);
}

/* Returns when the next sweep after `time` by the move that has a step ends. */
static uint64_t after_sweep(const struct gpumc_ensemble *ensemble, uint64_t time)
{
  const uint32_t move = stepping_move(ensemble);
  struct gpumc_ensemble_plan plan = ensemble->plan;
  uint32_t left = gpumc_plan_take_turn(&plan, (uint32_t)time);
  for (; plan.move != move && time + left < UINT32_MAX;
       left = gpumc_plan_take_turn(&plan, (uint32_t)time))
    time += left;
  return time + 1;
}

/* Returns when steps are adapted next after `time`, in a warm-up without an end. */
static uint64_t adapted_after(const struct gpumc_ensemble *ensemble, uint64_t time)
{
  const uint32_t often = gpumc_step_of(ensemble)->often, move = stepping_move(ensemble);
  uint64_t next = GPUMC_STEP_FIRST;
  if (often > 0 && gpumc_plan_sweeps(&ensemble->plan, move, (uint32_t)time) < often)
    return after_sweep(ensemble, time);
  while (next <= time)
    next *= 2;
  return next;
}

/* Returns when steps were last adapted before `time`; 0: never. */
static uint32_t adapted_before(const struct gpumc_ensemble *ensemble, uint32_t time)
{
  const struct gpumc_step *step = gpumc_step_of(ensemble);
  uint64_t last = 0, next = adapted_after(ensemble, 0);
  for (; next < time && next <= ensemble->plan.warm_up; next = adapted_after(ensemble, next))
    last = next;
  return step->given(&ensemble->plan.options) > 0 ? 0 : (uint32_t)last;
}

uint32_t gpumc_steps_until(const struct gpumc_ensemble *ensemble)
{
  const struct gpumc_step *step = gpumc_step_of(ensemble);
  if (step == NULL || step->given(&ensemble->plan.options) > 0)
    return UINT32_MAX;
  const uint64_t next = adapted_after(ensemble, ensemble->time);
  return next <= ensemble->plan.warm_up ? (uint32_t)next - ensemble->time : UINT32_MAX;
}

uint32_t gpumc_steps_enough(const struct gpumc_step *step)
{
  return step->often > GPUMC_STEP_FIRST ? step->often : GPUMC_STEP_FIRST;
}

/* Adds up numbers of each run over those that are alike, sum[alike]. */
static enum gpumc_status add_alike(const struct gpumc_ensemble *ensemble, const uint64_t *numbers,
                                   double *sum, struct gpumc_error *error)
{
  const size_t apart = alike(ensemble);
  uint64_t *of_runs = NULL;
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&of_runs, ensemble->runs, "proposals", error));
  GPUMC_TRY_OUT(status, sum_counts(ensemble, numbers, ensemble->runs, of_runs, error));
  for (size_t m = apart; m < ensemble->runs; m++)
    of_runs[m % apart] += of_runs[m];
  for (size_t t = 0; t < apart; t++)
    sum[t] = (double)of_runs[t];
out:
  free(of_runs);
  return status;
}

/* Returns the sweeps since time `since` by the move that has a step. */
static uint32_t stepping_sweeps(const struct gpumc_ensemble *ensemble, uint32_t since)
{
  const uint32_t move = stepping_move(ensemble);
  return gpumc_plan_sweeps(&ensemble->plan, move, ensemble->time) -
         gpumc_plan_sweeps(&ensemble->plan, move, since);
}

/* Computes the share of proposals that runs that are alike have accepted: share[alike].
 * proposals[alike]: one per site and sweep, which is replaced if they are counted. */
static enum gpumc_status divide_by(const struct gpumc_ensemble *ensemble, double *proposals,
                                   double *share, struct gpumc_error *error)
{
  if (ensemble->proposed != NULL)
    GPUMC_TRY(add_alike(ensemble, ensemble->proposed, proposals, error));
  GPUMC_TRY(add_alike(ensemble, ensemble->accepted, share, error));
  for (size_t t = 0; t < alike(ensemble); t++)
    share[t] = proposals[t] > 0 ? share[t] / proposals[t] : NAN;
  return GPUMC_OK;
}

/* The same since time `since`, for runs with the replicas that they began with. */
static enum gpumc_status find_shares(const struct gpumc_ensemble *ensemble, uint32_t since,
                                     double *share, struct gpumc_error *error)
{
  const size_t apart = alike(ensemble);
  uint64_t expected = ensemble->expected;
  double *proposals = NULL;
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&proposals, apart, "proposals", error));
  gpumc_processes_sum(counting(ensemble), &expected, 1);
  for (size_t t = 0; t < apart; t++)
    proposals[t] = (double)(ensemble->runs / apart) * (double)expected *
                   (double)ensemble->model->sites * (double)stepping_sweeps(ensemble, since);
  status = divide_by(ensemble, proposals, share, error);
out:
  free(proposals);
  return status;
}

/* The same since time `since`, for runs of size[runs] replicas, none of them alike. */
static enum gpumc_status find_shares_of(const struct gpumc_ensemble *ensemble, uint32_t since,
                                        const uint32_t *size, double *share,
                                        struct gpumc_error *error)
{
  double *proposals = NULL;
  GPUMC_TRY(gpumc_allocate_array(&proposals, ensemble->runs, "proposals", error));
  for (size_t m = 0; m < ensemble->runs; m++)
    proposals[m] =
        (double)size[m] * (double)ensemble->model->sites * (double)stepping_sweeps(ensemble, since);
  const enum gpumc_status status = divide_by(ensemble, proposals, share, error);
  free(proposals);
  return status;
}

/* Returns the step that follows on one with this share of accepted proposals. */
static double next_step(const struct gpumc_step *step, double size, double share)
{
  if (step->adapt != NULL)
    return step->adapt(size, share);
  const double root = sqrt((share + EASE) / (TARGET + EASE));
  return size * (root * sqrt(root));
}

/* Gives each run the step that follows on its share, at most `growth` times as large as its last
 * one; share[alike]. */
static void change_steps(struct gpumc_ensemble *ensemble, const double *share, double growth)
{
  const struct gpumc_step *step = gpumc_step_of(ensemble);
  const size_t apart = alike(ensemble);
  for (size_t m = 0; m < ensemble->runs; m++) {
    const double size = ensemble->step[m], next = next_step(step, size, share[m % apart]);
    ensemble->step[m] = fmin(fmax(fmin(next, growth * size), step->least), step->largest);
  }
}

enum gpumc_status gpumc_steps_adapt(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  const uint32_t since = adapted_before(ensemble, ensemble->time);
  double *share = NULL;
  enum gpumc_status status;
  if (stepping_sweeps(ensemble, since) == 0)
    return GPUMC_OK;
  GPUMC_TRY_OUT(
      status, gpumc_allocate_array(&share, alike(ensemble), "shares of accepted proposals", error));
  GPUMC_TRY_OUT(status, find_shares(ensemble, since, share, error));
  change_steps(ensemble, share, LARGEST_GROWTH);
  GPUMC_TRY_OUT(status, count_anew(ensemble, error));
out:
  free(share);
  return status;
}

enum gpumc_status gpumc_steps_follow(struct gpumc_ensemble *ensemble, uint32_t sweeps,
                                     const uint32_t *size, double *share, struct gpumc_error *error)
{
  const uint32_t since = ensemble->time - sweeps;
  const bool is_given = gpumc_step_of(ensemble)->given(&ensemble->plan.options) > 0;
  GPUMC_TRY(find_shares_of(ensemble, since, size, share, error));
  if (!is_given && stepping_sweeps(ensemble, since) > 0)
    change_steps(ensemble, share, INFINITY);
  return count_anew(ensemble, error);
}

/* Gives each process the counts of all. */
static enum gpumc_status
settle_counts(const struct gpumc_ensemble *ensemble, uint64_t *counts, struct gpumc_error *error)
{
  struct gpumc_device *device = ensemble->device;
  const size_t runs = ensemble->plan.runs;
  uint64_t *sum = NULL;
  enum gpumc_status status;
  if (counts == NULL)
    return GPUMC_OK;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&sum, runs, "proposals", error));
  GPUMC_TRY_OUT(status, sum_counts(ensemble, counts, runs, sum, error));
  status = device->ops->copy_to_device(device, counts, sum, runs * sizeof *sum, error);
out:
  free(sum);
  return status;
}

enum gpumc_status gpumc_steps_settle(struct gpumc_ensemble *ensemble, struct gpumc_error *error)
{
  uint64_t expected = ensemble->expected;
  if (counting(ensemble)->module.size == 1)
    return GPUMC_OK;
  GPUMC_TRY(settle_counts(ensemble, ensemble->accepted, error));
  GPUMC_TRY(settle_counts(ensemble, ensemble->proposed, error));
  gpumc_processes_sum(counting(ensemble), &expected, 1);
  ensemble->expected = expected;
  ensemble->settled = true;
  return GPUMC_OK;
}

/* ---- checkpoints ---- */

static struct gpumc_part part_of_steps(const struct gpumc_ensemble *ensemble)
{
  return (struct gpumc_part){"sizes", GPUMC_FLOAT64, ensemble->runs, 1, ensemble->step};
}

static struct gpumc_part part_of_proposed_before(struct gpumc_ensemble *ensemble)
{
  return (struct gpumc_part){"proposed_before", GPUMC_UINT64, 1, 1, &ensemble->proposed_before};
}

static struct gpumc_part
part_of_counts(const struct gpumc_ensemble *ensemble, const char *name, uint64_t *counts)
{
  return (struct gpumc_part){name, GPUMC_UINT64, ensemble->runs, 1, counts};
}

enum gpumc_status gpumc_steps_save(struct gpumc_ensemble *ensemble,
                                   struct gpumc_checkpoint_writer *writer,
                                   struct gpumc_error *error)
{
  const struct gpumc_part sizes = part_of_steps(ensemble);
  const struct gpumc_part accepted = part_of_counts(ensemble, "accepted", ensemble->accepted),
                          proposed = part_of_counts(ensemble, "proposed", ensemble->proposed);
  if (gpumc_step_of(ensemble) == NULL)
    return GPUMC_OK;
  const struct gpumc_processes *processes = gpumc_columns_processes(ensemble);
  GPUMC_TRY(gpumc_parts_save(&sizes, 1, NULL, writer, "ensemble/steps", error));
  if (ensemble->proposed != NULL) {
    const struct gpumc_part before = part_of_proposed_before(ensemble);
    GPUMC_TRY(gpumc_parts_save(&before, 1, NULL, writer, "ensemble/steps", error));
    GPUMC_TRY(gpumc_columns_save_counts(ensemble->device, processes, &proposed, writer,
                                        "ensemble/steps", error));
  }
  return gpumc_columns_save_counts(ensemble->device, processes, &accepted, writer, "ensemble/steps",
                                   error);
}

enum gpumc_status gpumc_steps_load(struct gpumc_ensemble *ensemble,
                                   struct gpumc_checkpoint_reader *reader,
                                   struct gpumc_error *error)
{
  const struct gpumc_step *step = gpumc_step_of(ensemble);
  const struct gpumc_part sizes = part_of_steps(ensemble);
  const struct gpumc_part accepted = part_of_counts(ensemble, "accepted", ensemble->accepted),
                          proposed = part_of_counts(ensemble, "proposed", ensemble->proposed);
  if (step == NULL)
    return GPUMC_OK;
  const struct gpumc_processes *processes = gpumc_columns_processes(ensemble);
  GPUMC_TRY(gpumc_parts_load(&sizes, 1, NULL, reader, "ensemble/steps", error));
  for (size_t m = 0; m < ensemble->runs; m++)
    if (!(ensemble->step[m] >= step->least && ensemble->step[m] <= step->largest))
      return gpumc_error_set(error, GPUMC_FAILURE,
                             "is damaged: it has a %s of %g, which is not possible",
                             step->label.name, ensemble->step[m]);
  if (ensemble->proposed != NULL) {
    const struct gpumc_part before = part_of_proposed_before(ensemble);
    GPUMC_TRY(gpumc_parts_load(&before, 1, NULL, reader, "ensemble/steps", error));
    GPUMC_TRY(gpumc_columns_load_counts(ensemble->device, processes, &proposed, reader,
                                        "ensemble/steps", error));
  }
  return gpumc_columns_load_counts(ensemble->device, processes, &accepted, reader, "ensemble/steps",
                                   error);
}

/* ---- results ---- */

/* Tuned steps outside of these shares cause a warning, or those that a move's own rule would still
 * change by more than this factor, unless they could not be changed further. */
#define LEAST_SHARE 0.3
#define LARGEST_SHARE 0.7
#define LARGEST_FACTOR 2.0

static bool is_off(const struct gpumc_step *step, double size, double share)
{
  if (step->adapt != NULL) {
    const double next = step->adapt(size, share);
    return (next < size / LARGEST_FACTOR && size > step->least) ||
           (next > size * LARGEST_FACTOR && size < step->largest);
  }
  return (share < LEAST_SHARE && size > step->least) ||
         (share > LARGEST_SHARE && size < step->largest);
}

/* Returns how far a step is from its aim. */
static double distance(const struct gpumc_step *step, double size, double share)
{
  return step->adapt != NULL ? fabs(log(step->adapt(size, share) / size)) : fabs(share - TARGET);
}

/* Writes what a step of this size does, and what it should do. */
static void
describe_share(const struct gpumc_step *step, double size, double share, char *text, size_t bytes)
{
  if (step->adapt != NULL)
    snprintf(text, bytes, "with %.4g %s is %.2g, for which %.4g would be better", size,
             step->share.name, share, step->adapt(size, share));
  else
    snprintf(text, bytes, "with %.4g, a fraction %.2g of the proposals is accepted, not %g", size,
             share, TARGET);
}

struct gpumc_label gpumc_step_share_label(const struct gpumc_step *step)
{
  static const struct gpumc_label acceptance = {
      "move_acceptance", "share of the proposals of the moves that were accepted", "1", ""};
  return step->share.name != NULL ? step->share : acceptance;
}

/* Names the step whose share is farthest from its target, and the remedy. */
static enum gpumc_status warn_of_shares(const struct gpumc_ensemble *ensemble, const double *share,
                                        const struct gpumc_curve_place *place,
                                        const struct gpumc_observer *observer,
                                        struct gpumc_error *error)
{
  const struct gpumc_step *step = gpumc_step_of(ensemble);
  const size_t apart = alike(ensemble);
  size_t off = 0, worst = 0;
  char words[160], text[512];
  for (size_t t = 0; t < apart; t++)
    if (is_off(step, ensemble->step[t], share[t])) {
      worst = off == 0 || distance(step, ensemble->step[t], share[t]) >
                              distance(step, ensemble->step[worst], share[worst])
                  ? t
                  : worst;
      off++;
    }
  if (off == 0 || step->given(&ensemble->plan.options) > 0)
    return GPUMC_OK;
  describe_share(step, ensemble->step[worst], share[worst], words, sizeof words);
  snprintf(text, sizeof text,
           "tuning of the %s ended far from its target in %zu of %zu places: %s; use a longer "
           "thermalization, or set kernel.%s",
           step->label.name, off, apart, words, step->key);
  gpumc_observer_tell(observer, GPUMC_WARNING, text);
  return gpumc_recorder_text(place->recorder, place->group, "step_warning", text, error);
}

enum gpumc_status
gpumc_steps_write(const struct gpumc_ensemble *ensemble, const struct gpumc_curve_place *place,
                  const struct gpumc_observer *observer, struct gpumc_error *error)
{
  const struct gpumc_step *step = gpumc_step_of(ensemble);
  double *share = NULL;
  enum gpumc_status status = GPUMC_OK;
  if (step == NULL || ensemble->step == NULL)
    return GPUMC_OK;
  GPUMC_TRY_OUT(
      status, gpumc_allocate_array(&share, alike(ensemble), "shares of accepted proposals", error));
  GPUMC_TRY_OUT(status, find_shares(ensemble, adapted_before(ensemble, UINT32_MAX), share, error));
  GPUMC_TRY_OUT(status, gpumc_curve_write(place, &step->label, false, ensemble->step, error));
  const struct gpumc_label label = gpumc_step_share_label(step);
  GPUMC_TRY_OUT(status, gpumc_curve_write(place, &label, false, share, error));
  GPUMC_TRY_OUT(status, warn_of_shares(ensemble, share, place, observer, error));
out:
  free(share);
  return status;
}
