/* Algorithms: what a run requires of one, the context it works in, and whether results can be
 * trusted. */
#ifndef GPUMC_CORE_ALGORITHM_H
#define GPUMC_CORE_ALGORITHM_H

#include "core/simulation/ensemble.h"
#include "core/simulation/merge.h"
#include "core/simulation/observables.h"
#include "core/statistics/significance.h"

/* Work that takes time beside updates, added up over the run: for estimates. */
struct gpumc_work {
  double measured;   /* sites of replicas that are measured at the end of a call to sweep */
  uint32_t sweeps;   /* of such a call */
  double moved;      /* sites of replicas that are offered an exchange */
  double compared;   /* pairs of sites of two replicas */
  double values;     /* replicas whose measurements are processed */
  size_t n_channels; /* channels of a measurement: the first ones, */
  uint32_t profiles; /* and those of them that are profiles, a bit for each channel */
  uint32_t watched;  /* channels that are read now and then, a bit for each, */
  double looked;     /* and at least this many sites of replicas */
  double seconds;    /* spent by the clock, whatever the rest takes */
  double summed;     /* terms of sums that the host forms, all of its threads, when everything is
                      * measured */
};

/* The processes among which an algorithm may divide its runs, if these are independent. */
struct gpumc_spread {
  size_t processes; /* processes that may have runs of their own, each with its own memory; 1: a
                     * single process */
  /* The runs side by side in the checkpoint that the run continues from. They stay together, so the
   * plan needs room for at least as many; those before them are done. `count` 0: none have
   * begun. */
  struct gpumc_slice begun;
};

/* What an algorithm needs, known before anything is allocated. */
struct gpumc_demand {
  size_t replicas;                 /* of a run, as requested */
  size_t runs;                     /* in total, batch after batch; 0: those of the plan */
  struct gpumc_ensemble_plan plan; /* runs of a batch, side by side; the most replicas of a run */
  size_t host_bytes;               /* work arrays and accumulators on the host */
  size_t device_bytes;             /* work arrays on the device, the ensemble not included */
  /* The part of these two that shrinks in proportion if a process has fewer of the replicas. */
  size_t host_bytes_by_replicas, device_bytes_by_replicas;
  /* The part that shrinks in proportion if it has fewer of the runs
   * (gpumc_ensemble_plan.own_runs). */
  size_t host_bytes_by_runs, device_bytes_by_runs;
  /* Additional memory, only if processes divide the replicas; it shrinks in each in the same
   * proportion. */
  size_t divided_host_bytes, divided_device_bytes;
  /* Additional memory of each process in that case, however few replicas it has. */
  size_t each_host_bytes, each_device_bytes;
  bool transfers;             /* whether numbers then go from device to device (transfer.h) */
  double configuration_bytes; /* written into the result on request */
  double result_bytes;        /* of the numbers in the result, without configurations */
  double series_bytes;        /* of series, included in these: the log has them as well */
  double state_bytes;         /* of rows and sums in a checkpoint, without the replicas */
  /* Of the whole run; a sweep counts as an update of each site, whatever the kernel proposes
   * (gpumc_kernel_trials). An estimate if steps are adaptive. */
  double updates;
  struct gpumc_work work;
  bool estimated;
};

/* Converts a number of bytes that was added up in double precision; more than any memory stays
 * so. */
static inline size_t gpumc_demand_bytes(double bytes)
{
  return bytes < 0x1p62 ? (size_t)bytes : (size_t)1 << 62;
}

enum gpumc_message_level { GPUMC_NOTE, GPUMC_WARNING };

struct gpumc_position;

/* How a run reports events: the library never prints, the caller's observer does. Both functions
 * may be NULL. */
struct gpumc_observer {
  void *state;
  void (*message)(void *state, enum gpumc_message_level level, const char *text);
  /* Called after every unit. `seconds`: time worked so far, earlier parts included. */
  void (*progress)(void *state, const struct gpumc_position *position, double seconds);
};

/* Passes a message to the observer, if there is one (not NULL) and it listens. */
static inline void gpumc_observer_tell(const struct gpumc_observer *observer,
                                       enum gpumc_message_level level, const char *text)
{
  if (observer != NULL && observer->message != NULL)
    observer->message(observer->state, level, text);
}

/* Passes it a note, with printf's arguments. */
void gpumc_observer_note(const struct gpumc_observer *observer, const char *format, ...)
    GPUMC_PRINTF(2, 3);

/* Everything an algorithm works with; all of it belongs to the run. */
struct gpumc_context {
  struct gpumc_params params; /* the algorithm's block */
  uint64_t seed;
  uint32_t rounds;
  const struct gpumc_model *model;
  struct gpumc_device *device;
  struct gpumc_ensemble *ensemble;         /* created for demand.plan, empty */
  const struct gpumc_processes *processes; /* that divide it; NULL: not divided */
  struct gpumc_recorder *recorder;
  const struct gpumc_observer *observer;
  const cJSON *warnings; /* gpumc_task.warnings; reported by the run */
  /* For a merged result, the samples that it lists; NULL in a run, whose samples are those of the
   * model from the first one on. */
  const struct gpumc_sample_list *samples;
  /* Seconds worked so far, including earlier parts of the run, once the last unit is finished: no
   * result may depend on it. */
  const double *seconds;
  double max_seconds; /* of this invocation, its limit; 0: none. No result may depend on it
                       * either */
  /* Set by `create` if the algorithm reads a file (gpumc_algorithm_ops.file_key). */
  uint64_t file_checksum;
};

/* The progress of a run, for progress bars and status. */
struct gpumc_position {
  double fraction;        /* share of the work, 0 to 1 */
  double updates;         /* done, as gpumc_demand counts them; observers get those of the kernel */
  const char *coordinate; /* "beta" */
  double value;
  /* A decision was made that cannot be reproduced, so a checkpoint is due, whatever the time. */
  bool decided;
  const char *unit; /* of `updates`, "flips" or "trials"; set by the run */
};

struct gpumc_algorithm_ops {
  const char *name;
  const char *summary;
  const char *citation;         /* BibTeX */
  const struct gpumc_key *keys; /* without `name` */
  /* Names of the stages of its work on the device, ending with NULL: the time of number i, which it
   * enters as stage i + 1 (core/device/device.h), is /provenance/seconds_NAME, and that of its
   * messages to other processes is /provenance/seconds_communication_NAME. NULL: none. */
  const char *const *stages;
  uint32_t required; /* operations required of the kernel, of enum gpumc_operation */
  /* Returns those that a block without mistakes requires in addition; NULL: none does. */
  uint32_t (*needs)(const struct gpumc_params *params);
  /* The kind of target of its sweeps, GPUMC_BOLTZMANN or GPUMC_ATHERMAL: models and moves that do
   * not serve it are refused. */
  enum gpumc_target_kind target;
  /* How processes may divide its ensemble, in order of preference, ending with GPUMC_UNDIVIDED: the
   * first that has a share for each process is taken. All processes then do the same, and decisions
   * by time use gpumc_processes_clock(). If the division is by runs or parts, the algorithm need
   * not know of it (share.h); by replicas, it must (columns.h). NULL: it cannot be divided. */
  const enum gpumc_division *divides;
  bool profiles; /* whether it averages profiles (gpumc_channel.axis); otherwise it refuses requests
                  * for them */
  /* Whether sweeps alone take it from one state to the next, so that anything known against the
   * move that its key `update` names (gpumc_move.warn) is known against its results. */
  bool sweeps_alone;
  /* Whether results at different values of the moved control are independent of each other, as
   * those of separate simulations are; with several disorder samples, which all values share, they
   * are not.
   */
  bool independent_values;
  /* Its key for the sweeps at each value of the moved control, where replicas are to relax at every
   * one: fewer than gpumc_move.cycle are warned of. NULL: none. */
  const char *relaxing_key;
  /* How finished results are merged (merge.h); NULL: they are not. */
  const struct gpumc_merger *merger;
  /* Checks of its block, with the model or an instance of it if they need one; NULL: none. `demand`
   * relies on them. */
  const struct gpumc_check *checks;
  /* Returns the defaults that depend on other keys or on the model's instance, for a block without
   * mistakes: an object that contains them even for keys that are given; the caller deletes it.
   * They enter the resolved configuration if the keys are not given. `model` is NULL if the
   * instance, which then has disorder, is not read from its file. May be NULL; returns NULL if
   * memory ran out. */
  cJSON *(*defaults)(const struct gpumc_params *params, const struct gpumc_model *model);
  /* Writes to `text` why no result of a block without mistakes is to be trusted, however the run
   * goes, with the remedy; empty: there is no reason. Sets `*name` to the name of the result's
   * attribute, always the same. May be NULL. */
  GPUMC_MUST_CHECK enum gpumc_status (*warn)(const struct gpumc_params *params,
                                             const struct gpumc_model *model,
                                             const struct gpumc_kernel_ops *kernel,
                                             const char **name, char text[GPUMC_WARNING_BYTES],
                                             struct gpumc_error *error);
  /* The key, dotted below its block, for the path of a file that the algorithm reads if the key is
   * set; NULL: there is none. `read_file` checks the file against the instance, for a block without
   * mistakes: GPUMC_INVALID is reported as a mistake at that key. `*checksum`: of the contents that
   * decide numbers, by which a resumed or finished run recognises that a file has changed. */
  const char *file_key;
  GPUMC_MUST_CHECK enum gpumc_status (*read_file)(const struct gpumc_params *params,
                                                  const struct gpumc_model *model,
                                                  uint64_t *checksum, struct gpumc_error *error);
  /* Returns the approximate number of replicas of each run, for a block without mistakes, for the
   * choice of a kernel. May be NULL: unknown. */
  size_t (*replicas)(const struct gpumc_params *params);
  /* The number of runs side by side, and the memory they need, may depend on `spread`; no number of
   * a result may. */
  GPUMC_MUST_CHECK enum gpumc_status (*demand)(const struct gpumc_params *params,
                                               const struct gpumc_model *model,
                                               const struct gpumc_device *device,
                                               const struct gpumc_spread *spread,
                                               struct gpumc_demand *demand,
                                               struct gpumc_error *error);
  /* Allocates the state and declares the recorder's tables. The caller destroys the state, after a
   * failure too. */
  GPUMC_MUST_CHECK enum gpumc_status (*create)(struct gpumc_context *context, void **state,
                                               struct gpumc_error *error);
  /* Performs one unit of progress (a temperature step). Between units the run handles signals and
   * time limits, so a unit should take seconds at most; `*finished` after the last. Its rows may be
   * appended by a later unit, while the device works on that one, or by `settle`. */
  GPUMC_MUST_CHECK enum gpumc_status (*advance)(void *state, bool *finished,
                                                struct gpumc_error *error);
  /* Appends the rows that are still pending, so that rows and state are those of one instant:
   * called before a checkpoint. Nothing is pending once the last unit is finished. NULL: nothing
   * ever is. */
  GPUMC_MUST_CHECK enum gpumc_status (*settle)(void *state, struct gpumc_error *error);
  void (*position)(const void *state, struct gpumc_position *position);
  /* Saves the state to a checkpoint, or loads it, without the ensemble and the recorder, which the
   * run saves. */
  GPUMC_MUST_CHECK enum gpumc_status (*save)(const void *state,
                                             struct gpumc_checkpoint_writer *writer,
                                             struct gpumc_error *error);
  /* `*finished`: the state is that after the last unit, and only the summary is missing. */
  GPUMC_MUST_CHECK enum gpumc_status (*load)(void *state, struct gpumc_checkpoint_reader *reader,
                                             bool *finished, struct gpumc_error *error);
  /* Called after the last unit, before `summarize`, in all processes that divide the work: the root
   * gets what that needs from the others. Nothing is saved afterwards. NULL: the root has it
   * already. */
  GPUMC_MUST_CHECK enum gpumc_status (*bring_together)(void *state, struct gpumc_error *error);
  /* Called after the last unit, by the root: writes per-run results and the summary to the
   * recorder. */
  GPUMC_MUST_CHECK enum gpumc_status (*summarize)(void *state, struct gpumc_error *error);
  /* Legal on NULL. */
  void (*destroy)(void *state);
};

/* Returns whether a variance has enough degrees of freedom for a result to be trusted: 15, which is
 * five out of many deviations with rare events, four out of 32. With fewer than 16 deviations it
 * never has. */
bool gpumc_trust_freedom(double freedom);
/* The same for n samples, of which there are no more: if fewer than 30, half of them is enough,
 * more than one rare event of 8 or two of 16 give. */
bool gpumc_trust_samples(double freedom, size_t n);

/* Averages over samples of the disorder: whether these are enough to tell an error by their
 * scatter.
 *
 * The average of [<m^4>] rests on the few samples with a large m. Of 16 samples of a glass most
 * often none is such a one: the average and its error are too small, and nothing in the scatter
 * shows it. But the average itself does. One of values that are never negative is about chi square
 * with 2 (average/error)^2 degrees of freedom (Satterthwaite, Biometrics Bull. 2, 110 (1946)),
 * which is how well its error is known; and where such values scatter more than their average is
 * large, a hundred of them are needed to tell even that. The tracked channel, which may have any
 * sign, must have as many by the kurtosis of the samples.
 *
 *   struct gpumc_few_samples few = {0};
 *   for (each value of the control)
 *     gpumc_few_samples_look(&few, model, observables, averages, samples, stride, value);
 *   trusted = trusted && few.count == 0;
 */
struct gpumc_few_samples {
  size_t count, of; /* values of the control at which samples are too few, of those looked at */
  double value;     /* that of the worst average there */
  double freedom;   /* of its error; at 15 or more it can be trusted */
  size_t samples;
  struct gpumc_label label; /* of the worst average */
};

/* Looks at one value of the control: at averages[s * stride + k], k < gpumc_averages(observables),
 * of each of the samples. Nothing to see without disorder, or with NaN among the samples. */
void gpumc_few_samples_look(struct gpumc_few_samples *few, const struct gpumc_model *model,
                            const struct gpumc_observables *observables, const double *averages,
                            size_t samples, size_t stride, double value);

enum { GPUMC_FEW_SAMPLES_BYTES = 384 };
/* Says which average rests on too few samples, and how many would do; `control`: the name of what
 * is moved. `count` is not 0. */
void gpumc_few_samples_explain(const struct gpumc_few_samples *few, const char *control,
                               char text[static GPUMC_FEW_SAMPLES_BYTES]);

enum { GPUMC_FAILING_BYTES = 96 };
/* Counts the values of the moved control at which passed[count] is 0, and describes them: "3 of 16
 * temperatures, the coldest beta = 1.2", or with the hottest one; for controls other than `beta`,
 * "3 of 16 values, the last h = 1.2", or the first one. value[count] ascends. If there are none,
 * `text` is empty. */
size_t gpumc_trust_failing(const double *passed, const char *control, const double *value,
                           size_t count, bool hottest, char text[static GPUMC_FAILING_BYTES]);

/* Writes the attributes of /summary that say whether results can be trusted: if the algorithm finds
 * nothing against them, nothing was known against the task from the start, and no main number is
 * missing (NaN). Call it when all curves are written; the algorithm writes its own findings. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_trust_record(const struct gpumc_context *context, bool trusted, struct gpumc_error *error);
/* Writes what was known from the start, gpumc_task.warnings, as attributes of `group`. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_trust_record_warnings(const struct gpumc_context *context,
                                                               const char *group,
                                                               struct gpumc_error *error);

#endif
