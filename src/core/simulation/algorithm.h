/* Algorithms: what the run asks of one, the context it works in, and whether results can be
 * trusted.
 */
#ifndef GPUMC_CORE_ALGORITHM_H
#define GPUMC_CORE_ALGORITHM_H

#include "core/simulation/ensemble.h"
#include "core/simulation/merge.h"
#include "core/statistics/significance.h"

/* What takes time beside updates, added up over the run: for estimates. */
struct gpumc_work {
  double measured;   /* sites of replicas that are measured at the end of a call for sweeps */
  uint32_t sweeps;   /* of such a call */
  double moved;      /* sites of replicas that are offered an exchange */
  double compared;   /* pairs of sites of two replicas */
  double values;     /* replicas whose measurements are taken in */
  size_t n_channels; /* that a measurement has: the first ones, */
  uint32_t profiles; /* and of these profiles, a bit for each channel */
  uint32_t watched;  /* channels that are looked at now and then, a bit for each, */
  double looked;     /* and at least so many sites of replicas */
  double seconds;    /* that it spends by the clock, whatever the rest takes */
  double summed; /* terms of sums that the host forms, all of its threads, when all is measured */
};

/* The processes among which an algorithm may divide its runs, if these are independent. */
struct gpumc_spread {
  size_t processes; /* which may have runs of their own, each with memory of its own; 1: alone */
  /* The runs side by side in the checkpoint that is continued. They stay together, so the plan
   * needs room for at least as many; those before them are done. `count` 0: none have begun. */
  struct gpumc_slice begun;
};

/* What an algorithm needs, known before anything is allocated. */
struct gpumc_demand {
  size_t replicas;                 /* of a run, as asked for */
  size_t runs;                     /* in all, batch after batch; 0: those of the plan */
  struct gpumc_ensemble_plan plan; /* runs of a batch, side by side; the most replicas of a run */
  size_t host_bytes;               /* work arrays and accumulators on the host */
  size_t device_bytes;             /* work arrays on the device, the ensemble not included */
  /* Of these two, what is as much less in a process as it has fewer of the replicas. */
  size_t host_bytes_by_replicas, device_bytes_by_replicas;
  /* And what is as much less where it has fewer of the runs (gpumc_ensemble_plan.own_runs). */
  size_t host_bytes_by_runs, device_bytes_by_runs;
  /* What there is beside, as much less again in each, only where processes divide the replicas. */
  size_t divided_host_bytes, divided_device_bytes;
  /* And what each has then, however few replicas. */
  size_t each_host_bytes, each_device_bytes;
  bool transfers;             /* then numbers go from device to device (transfer.h) */
  double configuration_bytes; /* that are written into the result on request */
  double result_bytes;        /* of the numbers in the result, configurations not included */
  double series_bytes;        /* of series, among these: the log has them as well */
  double state_bytes;         /* of rows and sums in a checkpoint; the replicas not included */
  /* Of the whole run, a sweep counting as an update of each site, whatever the kernel proposes
   * (gpumc_kernel_trials); with adaptive steps an estimate. */
  double updates;
  struct gpumc_work work;
  bool estimated;
};

/* A number of bytes that was added up in double precision: more than any memory stays so. */
static inline size_t gpumc_demand_bytes(double bytes)
{
  return bytes < 0x1p62 ? (size_t)bytes : (size_t)1 << 62;
}

enum gpumc_message_level { GPUMC_NOTE, GPUMC_WARNING };

struct gpumc_position;

/* How a run reports what happens: the library never prints, the caller's observer does. Both
 * functions may be NULL. */
struct gpumc_observer {
  void *state;
  void (*message)(void *state, enum gpumc_message_level level, const char *text);
  /* Called after every unit. `seconds`: time worked so far, earlier parts included. */
  void (*progress)(void *state, const struct gpumc_position *position, double seconds);
};

/* To the observer, NULL for none, if it listens. */
static inline void gpumc_observer_tell(const struct gpumc_observer *observer,
                                       enum gpumc_message_level level, const char *text)
{
  if (observer != NULL && observer->message != NULL)
    observer->message(observer->state, level, text);
}

/* A note to it, as printf. */
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
  const struct gpumc_processes *processes; /* that divide it; NULL: all is here */
  struct gpumc_recorder *recorder;
  const struct gpumc_observer *observer;
  const cJSON *warnings; /* gpumc_task.warnings; reported by the run */
  /* Of a merged result the samples that it lists; NULL in a run, whose samples are those of the
   * model from the first one on. */
  const struct gpumc_sample_list *samples;
  /* Worked so far, earlier parts of the run included, once the last unit is finished: no result may
   * depend on it. */
  const double *seconds;
  double max_seconds; /* of this invocation, as its limit; 0: none. Decides no result either */
  /* `create` sets it where the algorithm reads a file (gpumc_algorithm_ops.file_key). */
  uint64_t file_checksum;
};

/* Where a run stands, for progress bars and status. */
struct gpumc_position {
  double fraction;        /* of the work, 0 .. 1 */
  double updates;         /* done, as gpumc_demand counts them; observers get those of the kernel */
  const char *coordinate; /* "beta" */
  double value;
  /* Something was decided that cannot be found again: a checkpoint is due, whatever the time. */
  bool decided;
  const char *unit; /* of `updates`, "flips" or "trials"; set by the run */
};

struct gpumc_algorithm_ops {
  const char *name;
  const char *summary;
  const char *citation;         /* BibTeX */
  const struct gpumc_key *keys; /* without `name` */
  /* Names of what its work on the device consists of, NULL the last: the time of number i, which
   * it enters as stage i + 1 (core/device/device.h), is /provenance/seconds_NAME, and that of its
   * messages to other processes /provenance/seconds_communication_NAME. NULL: none. */
  const char *const *stages;
  uint32_t required; /* operations of the kernel, of enum gpumc_operation */
  /* What its sweeps are for, GPUMC_BOLTZMANN or GPUMC_ATHERMAL: models and moves that do not serve
   * it are refused. */
  enum gpumc_target_kind target;
  /* How processes may divide its ensemble, in the order of preference, GPUMC_UNDIVIDED the last:
   * the first is taken that has a share for each. It then does the same in all of them, and decides
   * by gpumc_processes_clock() where by time. By runs and parts it need not know of it (share.h);
   * by replicas it does (columns.h). NULL: not at all. */
  const enum gpumc_division *divides;
  bool profiles; /* whether it averages these (gpumc_channel.axis); else it refuses to be asked */
  /* Whether nothing but sweeps takes it from one state to the next, so that what is known against
   * the move that its key `update` names (gpumc_move.warn) is known against its results. */
  bool sweeps_alone;
  /* Whether results at different values of the moved control are independent of each other, as
   * those of separate simulations are; with several disorder samples, which all values share, they
   * are not.
   */
  bool independent_values;
  /* Its key for the sweeps at each value of the moved control, where replicas are to relax at every
   * one: fewer than gpumc_move.cycle are warned of. NULL: none. */
  const char *relaxing_key;
  /* How finished results of it become one (merge.h); NULL: they are not merged. */
  const struct gpumc_merger *merger;
  /* Of its block, with the model or an instance of it where they ask for one; NULL: none. `demand`
   * relies on them. */
  const struct gpumc_check *checks;
  /* The defaults that depend on other keys or on the model's instance, of a block without mistakes:
   * an object with them, of given keys too; the caller deletes it. They come into the resolved
   * configuration where the keys are not given. `model` is NULL where the instance, which has
   * disorder then, is not read from its file. May be NULL; returns NULL when memory ran out. */
  cJSON *(*defaults)(const struct gpumc_params *params, const struct gpumc_model *model);
  /* Of the path of a file that the algorithm reads where the key, dotted below its block, is set;
   * NULL: there is none. `read_file` checks the file against the instance, of a block without
   * mistakes: GPUMC_INVALID is reported as a mistake at that key. `*checksum`: of what decides
   * numbers, by which a resumed or finished run tells a file that has changed. */
  const char *file_key;
  GPUMC_MUST_CHECK enum gpumc_status (*read_file)(const struct gpumc_params *params,
                                                  const struct gpumc_model *model,
                                                  uint64_t *checksum, struct gpumc_error *error);
  /* Replicas of each run, about, of a block without mistakes: for the choice of a kernel. May be
   * NULL: not known. */
  size_t (*replicas)(const struct gpumc_params *params);
  /* How many runs are side by side, and what that takes, may follow from `spread`; no number of a
   * result may. */
  GPUMC_MUST_CHECK enum gpumc_status (*demand)(const struct gpumc_params *params,
                                               const struct gpumc_model *model,
                                               const struct gpumc_device *device,
                                               const struct gpumc_spread *spread,
                                               struct gpumc_demand *demand,
                                               struct gpumc_error *error);
  /* Allocate the state and declare the recorder's tables. The caller destroys the state, after a
   * failure too. */
  GPUMC_MUST_CHECK enum gpumc_status (*create)(struct gpumc_context *context, void **state,
                                               struct gpumc_error *error);
  /* One unit of progress (a temperature step), between which the run answers signals and time
   * limits, so that it should take seconds at the most; `*finished` after the last. Its rows may be
   * appended by a later unit, while the device works on that one, or by `settle`. */
  GPUMC_MUST_CHECK enum gpumc_status (*advance)(void *state, bool *finished,
                                                struct gpumc_error *error);
  /* Append the rows that are still on their way, so that rows and state are those of one instant:
   * called before a checkpoint. Nothing is on its way when the last unit is finished. NULL:
   * nothing ever is. */
  GPUMC_MUST_CHECK enum gpumc_status (*settle)(void *state, struct gpumc_error *error);
  void (*position)(const void *state, struct gpumc_position *position);
  /* State to and from a checkpoint, the ensemble and recorder excepted: the run saves those. */
  GPUMC_MUST_CHECK enum gpumc_status (*save)(const void *state,
                                             struct gpumc_checkpoint_writer *writer,
                                             struct gpumc_error *error);
  /* `*finished`: the state is that after the last unit, only the summary is missing. */
  GPUMC_MUST_CHECK enum gpumc_status (*load)(void *state, struct gpumc_checkpoint_reader *reader,
                                             bool *finished, struct gpumc_error *error);
  /* After the last unit, before `summarize`, in all processes that divide the work: the root gets
   * what that needs of the others. Nothing is saved afterwards. NULL: it has it. */
  GPUMC_MUST_CHECK enum gpumc_status (*bring_together)(void *state, struct gpumc_error *error);
  /* After the last unit, by the root: per-run results and the summary into the recorder. */
  GPUMC_MUST_CHECK enum gpumc_status (*summarize)(void *state, struct gpumc_error *error);
  /* Legal on NULL. */
  void (*destroy)(void *state);
};

/* Whether a variance has degrees of freedom enough for a result to be trusted: 15, that is five of
 * many deviations with rare events, four of 32. Of fewer than 16 deviations it never has. */
bool gpumc_trust_freedom(double freedom);
/* The same of n samples, which are as many as there are: of fewer than 30 half of them is enough,
 * more than one rare event of 8 or two of 16 give. */
bool gpumc_trust_samples(double freedom, size_t n);

enum { GPUMC_FAILING_BYTES = 96 };
/* Counts the values of the moved control at which passed[count] is 0, and describes them: "3 of 16
 * temperatures, the coldest beta = 1.2", or with the hottest one; of controls other than `beta`, "3
 * of 16 values, the last h = 1.2", or the first one. value[count] ascends. Without any, `text` is
 * empty. */
size_t gpumc_trust_failing(const double *passed, const char *control, const double *value,
                           size_t count, bool hottest, char text[static GPUMC_FAILING_BYTES]);

/* The attributes of /summary that say whether results can be trusted: where the algorithm finds
 * nothing against them, and nothing was known against the task from the start. What the algorithm
 * finds it writes itself. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_trust_record(const struct gpumc_context *context, bool trusted, struct gpumc_error *error);
/* What was known from the start, gpumc_task.warnings, as attributes of `group`. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_trust_record_warnings(const struct gpumc_context *context,
                                                               const char *group,
                                                               struct gpumc_error *error);

#endif
