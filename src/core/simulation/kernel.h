/* Kernels and ensembles: R replicas of one model instance, owned by a kernel, opaque to all else.
 */
#ifndef GPUMC_CORE_KERNEL_H
#define GPUMC_CORE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/device/device.h"
#include "core/numerics/random.h"
#include "core/simulation/target.h"

/* What an algorithm may ask of an ensemble; each bit stands for functions that are not NULL. */
enum gpumc_operation {
  GPUMC_OPERATION_START = 1 << 0,    /* states to begin with */
  GPUMC_OPERATION_TRANSFER = 1 << 1, /* set and get replicas in portable form */
  GPUMC_OPERATION_SWEEP = 1 << 2,    /* sweeps, a target for each run */
  GPUMC_OPERATION_MEASURE = 1 << 3,  /* per-replica channels */
  GPUMC_OPERATION_GATHER = 1 << 4,   /* copies in place */
  GPUMC_OPERATION_EXCHANGE = 1 << 5, /* replicas of neighbouring runs change places */
  GPUMC_OPERATION_COMPARE = 1 << 6,  /* replicas of two runs compared */
  GPUMC_OPERATION_WALK = 1 << 7,     /* single updates under a tabulated weight */
};

/* Of arrays of replicas in portable form in device memory, bytes. */
enum { GPUMC_STATES_ALIGNMENT = 16 };
/* Numbers that a model has of two replicas, at most. */
enum { GPUMC_PAIRS_MAXIMUM = 4 };
/* What means are of: a channel, a pair, or the product of a channel in two replicas. */
enum gpumc_mean_source { GPUMC_MEAN_CHANNEL, GPUMC_MEAN_PAIR, GPUMC_MEAN_PRODUCT };

struct gpumc_key;
struct gpumc_params;
struct gpumc_report;

/* What keys of a kernel's own say: read by the kernel, carried by everybody else. */
struct gpumc_kernel_options {
  uint32_t together; /* sweeps that it does as one, which work is better not cut off in; 0: any */
  uint64_t own[7];
};

/* What an ensemble is to hold: `runs` runs of up to `capacity` replicas. Quenched disorder: with
 * samples = 1 all replicas have the sample that the model's configuration names. Otherwise samples
 * = capacity, and replica r of every run has the r-th sample from there on; or where sample_by_run,
 * runs is a multiple of samples, and runs / samples successive runs share a sample, all replicas of
 * them. Only kernels with `walk` are given a plan with samples by run. `options`: what the
 * kernel has read from keys of its own, zeroed where it has none. `moved`: the control that sweeps
 * are given, which differs between runs and from sweep to sweep, or GPUMC_CONTROL_NONE; all others
 * stay at the instance's own values (gpumc_model.control), or where `fixes`, at `fixed`. `levels`,
 * `channels` and `compared` say what is asked for beside sweeps, so that memory for it is planned:
 * an operation that needs more than was planned takes it nevertheless. `for_timings`: states to
 * begin with only have to be allowed, and are made as quickly as possible.
 *
 * A share of a larger ensemble holds the replicas first_replica .. first_replica + capacity - 1 of
 * each run out of all_replicas (0: `capacity`), and the samples from number first_sample of the
 * whole on. Operations count replicas and samples from the share's first; random numbers and
 * disorder go by the whole's numbers (gpumc_plan_replica), so that a share's replicas are those of
 * the whole, bit for bit. It begins at a multiple of gpumc_plan_group. */
struct gpumc_processes;
enum gpumc_division {
  GPUMC_UNDIVIDED,
  GPUMC_BY_RUNS,     /* processes have whole runs */
  GPUMC_BY_PARTS,    /* or, where runs are fewer, one part of one run */
  GPUMC_BY_REPLICAS, /* processes have a part of every run */
};
struct gpumc_ensemble_plan {
  size_t runs, capacity, samples;
  size_t first_replica, all_replicas, first_sample;
  bool sample_by_run;
  bool for_timings;
  bool walks;      /* replicas are to walk: channels have to be exactly those that `walk` keeps */
  size_t levels;   /* of the tables under which they walk, the most that one has */
  size_t channels; /* 0 .. channels - 1 of the model's are measured */
  size_t compared; /* runs that `compare` is asked for at once, at most */
  uint32_t move;   /* of gpumc_kernel_ops.moves */
  size_t moved;
  uint32_t warm_up; /* sweeps at the beginning of every run in which steps are tuned (steps.h) */
  size_t alike;     /* runs m and m + alike have one step; 0: each has its own */
  bool fixes;
  double fixed[GPUMC_CONTROLS_MAXIMUM];
  struct gpumc_kernel_options options;
  /* How it is divided among processes (division.h), which no kernel sees; NULL: all is here. */
  const struct gpumc_processes *processes;
  enum gpumc_division division;
  /* Divided by runs, an ensemble is asked for measurements and copies of the process's own runs
   * alone (gpumc_ensemble_runs_of), of which nothing is told to others. */
  bool own_runs;
  size_t granule; /* shares of a run begin at multiples of it; 0: it is not divided */
  size_t even;    /* replicas of a run that are cut evenly: the last share has the room beyond */
};

struct gpumc_model;
struct gpumc_kernel_ops;
struct gpumc_step;

/* A rule by which sweeps change replicas: a choice of the key `update`
 * (core/simulation/shared_keys.h). Kernels of one model that have a move of the same name mean the
 * same by it. */
struct gpumc_move {
  const char *name;    /* "gibbs" */
  const char *summary; /* one line */
  uint32_t targets;    /* that it serves, 1u << kind of each (target.h); 0: GPUMC_BOLTZMANN */
  /* Why sweeps of it alone are of no use where the moved control is 0, with the remedy; NULL: they
   * are of use. */
  const char *at_zero;
  /* Why sweeps of it alone do not reach every state of one of the samples 0 .. samples - 1 from
   * the first on, with the remedy; `*warning` is NULL where they do. NULL: they always do.
   * GPUMC_FAILURE when memory ran out. */
  GPUMC_MUST_CHECK enum gpumc_status (*warn)(const struct gpumc_model *model, size_t samples,
                                             const char **warning, struct gpumc_error *error);
  /* Of so many successive sweeps one changes the energy at least; NULL: each does. */
  uint32_t (*cycle)(const struct gpumc_kernel_options *options);
  /* What of it has a size, given or tuned (steps.h); NULL: nothing. */
  const struct gpumc_step *step;
  /* Those of the kernel's own keys that are for this move, that of `step` not included,
   * NULL-terminated; NULL: none. With other moves they are refused; keys that no move names are for
   * all. */
  const char *const *keys;
};

/* A number among the kernel's own keys that a run may tune by the clock: sweeps read it anew from
 * the options, and neither memory nor replicas depend on it. */
struct gpumc_tunable {
  const char *key;
  size_t count;
  const double *value; /* [count] to be tried, ascending */
  double (*get)(const struct gpumc_kernel_options *options);
  void (*set)(struct gpumc_kernel_options *options, double value);
};

static inline bool gpumc_move_serves(const struct gpumc_move *move, enum gpumc_target_kind target)
{
  return ((move->targets != 0 ? move->targets : 1u << GPUMC_BOLTZMANN) >> target & 1) != 0;
}

/* The replicas of a batch of runs: the runs first_run .. first_run + runs - 1, which are all at the
 * same time, the sweeps done in these runs; walks have clocks of their own, which their table
 * states. Counters are those of each run by itself, so that a run's replicas do not depend on the
 * batch. */
struct gpumc_ensemble {
  const struct gpumc_kernel_ops *ops;
  const struct gpumc_model *model;
  struct gpumc_device *device;
  uint64_t seed;
  uint32_t rounds; /* of Philox */
  uint32_t first_run;
  uint32_t time;
  size_t runs; /* of the present batch; 0: none begun */
  struct gpumc_ensemble_plan plan;
  double *control; /* [plan.runs][n_controls] of the next sweep, host memory */
  uint32_t *size;  /* [plan.runs] replicas of each run, device memory */
  /* [plan.runs] of a move that has steps: their size, host memory, and how many of them were
   * accepted since that was last set, device memory; else NULL. */
  double *step;
  uint64_t *accepted;
  /* [plan.runs] how many were proposed meanwhile, device memory; NULL: one for each site in a sweep
   * (gpumc_step.counts). */
  uint64_t *proposed;
  uint64_t proposed_before; /* by all runs, until `proposed` was last set */
  bool settled;    /* both are those of all processes, where these have a part of each run */
  size_t expected; /* replicas of each run, about: for how work is spread, decides no result */
  void *storage;   /* the kernel's own */
  struct gpumc_share_state *share; /* of several processes; NULL: all is here */
};

/* Operations work on every run m < runs and its replicas r < size[m], which may be none, and are
 * enqueued in the order of the calls (core/device/device.h). Arrays of replicas are device memory,
 * [runs][capacity]; that of the CPU is ordinary memory. Random numbers of run m are those of
 * gpumc_ensemble_random(ensemble, m), with gpumc_plan_replica(plan, r) in the counter and no run,
 * since batches differ. */
struct gpumc_kernel_ops {
  const char *device;  /* "cpu", "cuda" */
  const char *variant; /* its name in `kernel.variant` */
  const char *former;  /* a name that the variant had before, still accepted; NULL: none */
  const char *summary; /* one line */
  const char *takes;   /* what it asks of instances; NULL: nothing */
  /* Kernels with the same id produce the same replicas, bit for bit; NULL: it makes no such
   * promise. Then it has no cost either and comes after a kernel that can do as much, so that it is
   * only taken by name. */
  const char *trajectory;
  /* 0: it is in this build. Otherwise its operations in those that have it, of enum
   * gpumc_operation; it is named so that asking for it is told from a mistake. */
  uint32_t absent;
  /* Replicas that it draws random numbers for together, a power of two: a share of an ensemble
   * begins at a multiple of it. 1: for each by itself. 0: it does not declare that it names
   * replicas and samples by their numbers in the whole, and replicas of a run are not divided. */
  size_t group;
  /* How it sweeps; the first is done where an algorithm leaves no choice, and that of the model's
   * first kernel is the default of `update`. */
  const struct gpumc_move *moves;
  size_t n_moves;
  /* Approximate nanoseconds of one core for a sweep of a run with `replicas` replicas and the move
   * and options of a plan, of which nothing else is looked at, zeroed where they are not known: by
   * it units of work are planned, and an automatic choice among the kernels of a model compares
   * what a proposal costs. It depends on nothing but its arguments and is the same for all kernels
   * of a variant, since that choice decides numbers. NULL: chosen only where no kernel with a cost
   * does. */
  double (*cost)(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan,
                 size_t replicas);
  /* Proposals that a replica makes in a sweep, expected of that move and options: plans, rates and
   * units of work count them (gpumc_kernel_trials). NULL: an update of each site. */
  double (*trials)(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan);
  /* Device memory that an ensemble takes, everything the kernel allocates included. */
  size_t (*bytes)(const struct gpumc_model *model, const struct gpumc_device *device,
                  const struct gpumc_ensemble_plan *plan);
  /* Allocate `storage`, which is NULL; the other fields are set. */
  GPUMC_MUST_CHECK enum gpumc_status (*create)(struct gpumc_ensemble *ensemble,
                                               struct gpumc_error *error);
  /* Legal after a failed create, and with `storage` NULL. */
  void (*destroy)(struct gpumc_ensemble *ensemble);
  /* States of every replica to begin with, from counters alone: of a model that knows ln Z at beta
   * = 0 (gpumc_model.log_states) independent ones of equal weight; of others they only have to be
   * allowed, and algorithms make no use of them before they have swept them. */
  GPUMC_MUST_CHECK enum gpumc_status (*start)(struct gpumc_ensemble *ensemble,
                                              struct gpumc_error *error);
  /* Replicas first .. first+count-1 of run m from and to host memory, model->portable_bytes each;
   * done on return. */
  GPUMC_MUST_CHECK enum gpumc_status (*set)(struct gpumc_ensemble *ensemble, size_t m, size_t first,
                                            size_t count, const uint8_t *portable,
                                            struct gpumc_error *error);
  GPUMC_MUST_CHECK enum gpumc_status (*get)(struct gpumc_ensemble *ensemble, size_t m, size_t first,
                                            size_t count, uint8_t *portable,
                                            struct gpumc_error *error);
  /* The same with device memory, and enqueued: of the replicas slot[0] .. slot[count-1] of run m,
   * which ascend; `get_list` may be asked for one several times. states[count] are elements of an
   * array that begins at a multiple of GPUMC_STATES_ALIGNMENT bytes. All other replicas stay as
   * they are. NULL: `set` and `get` do it (columns.h). */
  GPUMC_MUST_CHECK enum gpumc_status (*set_list)(struct gpumc_ensemble *ensemble, size_t m,
                                                 const uint32_t *slot, size_t count,
                                                 const uint8_t *states, struct gpumc_error *error);
  GPUMC_MUST_CHECK enum gpumc_status (*get_list)(struct gpumc_ensemble *ensemble, size_t m,
                                                 const uint32_t *slot, size_t count,
                                                 uint8_t *states, struct gpumc_error *error);
  /* `sweeps` sweeps of every replica for `target` (free when the call returns; NULL if sweeps = 0)
   * by plan.move, sweep i with the counter's time ensemble->time + i, which is for the
   * caller to advance; then, unless `channel` is NULL, what `measure` does. */
  GPUMC_MUST_CHECK enum gpumc_status (*sweep)(struct gpumc_ensemble *ensemble,
                                              const struct gpumc_target *target, uint32_t sweeps,
                                              int64_t *const *channel, struct gpumc_error *error);
  /* Steps of every run for a tabulated target, whose runs have a table each, and as many steps as
   * it says: GPUMC_WALK_UPDATES single updates of every replica in each, at sites in an order that
   * replicas of a group share and under random numbers of their own. Step i of run m is at time[m]
   * + i of the table's clock, whose 64 bits are two words of the counters; ensemble->time has no
   * part in it. Of ensembles in which all replicas of a run have one sample of the disorder. */
  GPUMC_MUST_CHECK enum gpumc_status (*walk)(struct gpumc_ensemble *ensemble,
                                             const struct gpumc_target *target,
                                             struct gpumc_error *error);
  /* Replicas that keep the device busy while they walk: with fewer, part of it is idle. 0, or NULL:
   * not known. */
  size_t (*fills)(const struct gpumc_model *model, const struct gpumc_device *device,
                  const struct gpumc_ensemble_plan *plan);
  /* channel[c][runs][plan.capacity] for every channel c of the model, [width] numbers each of one
   * that is a profile; NULL: not wanted. */
  GPUMC_MUST_CHECK enum gpumc_status (*measure)(struct gpumc_ensemble *ensemble,
                                                int64_t *const *channel, struct gpumc_error *error);
  /* Looks for what sweeps must never do to replicas, such as losing a particle: GPUMC_FAILURE that
   * says what happened. Waits for all that is enqueued. NULL: there is nothing to look for. */
  GPUMC_MUST_CHECK enum gpumc_status (*inspect)(struct gpumc_ensemble *ensemble,
                                                struct gpumc_error *error);
  /* Replica r of run m becomes a copy of replica parent[m][r] of that run, r < size[m], in place;
   * parent[p] = p for every parent p < size, so that no replica is read after it was overwritten.
   */
  GPUMC_MUST_CHECK enum gpumc_status (*gather)(struct gpumc_ensemble *ensemble,
                                               const uint32_t *parent, struct gpumc_error *error);
  /* Replica r of run m and replica r of run m + 1 change places where bit r % 32 of word
   * swap[m][r / 32] is set; swap[runs][gpumc_swap_words(capacity)], device memory. A replica is
   * part of one exchange at the most. */
  GPUMC_MUST_CHECK enum gpumc_status (*exchange)(struct gpumc_ensemble *ensemble,
                                                 const uint32_t *swap, struct gpumc_error *error);
  /* pair[kind][i][r], kinds as the model declares them: replica r of run first + i with replica r
   * of run second + i, i < runs; arrays [runs][capacity], NULL: not wanted. */
  GPUMC_MUST_CHECK enum gpumc_status (*compare)(struct gpumc_ensemble *ensemble, size_t first,
                                                size_t second, size_t runs,
                                                int64_t *const pair[GPUMC_PAIRS_MAXIMUM],
                                                struct gpumc_error *error);
  /* What of an ensemble is neither replicas nor counters, and part of its state: that of generators
   * of random numbers, for all replicas of a run that there is room for, one after the other. NULL,
   * or no bytes: none.
   */
  size_t (*state_bytes)(const struct gpumc_ensemble *ensemble);
  /* That of run m to and from host memory; done on return. */
  GPUMC_MUST_CHECK enum gpumc_status (*get_state)(struct gpumc_ensemble *ensemble, size_t m,
                                                  uint8_t *state, struct gpumc_error *error);
  GPUMC_MUST_CHECK enum gpumc_status (*set_state)(struct gpumc_ensemble *ensemble, size_t m,
                                                  const uint8_t *state, struct gpumc_error *error);
  /* Keys of its own, which it adds to the block `kernel`; NULL: none, and neither of the following.
   * Kernels of one name on several devices have the same. */
  const struct gpumc_key *keys;
  /* From a resolved block `kernel`, in which some of these keys may be missing. */
  void (*read)(const struct gpumc_params *kernel, struct gpumc_kernel_options *options);
  /* Why the kernel cannot take an instance so, and `*key`, which of its keys would have to change;
   * NULL where it can. */
  const char *(*refuses)(const struct gpumc_model *model,
                         const struct gpumc_kernel_options *options, const char **key);
  /* GPUMC_INVALID, with the remedy, of a value that a control of the instance cannot be moved to;
   * all values between two that are possible have to be possible. NULL: all are, in sweeps under a
   * target that has controls. */
  GPUMC_MUST_CHECK enum gpumc_status (*check_value)(const struct gpumc_model *model,
                                                    const struct gpumc_kernel_options *options,
                                                    size_t control, double value,
                                                    struct gpumc_error *error);
  /* Among its keys, `n_tunables`: what a run can be asked to tune; NULL: nothing. */
  const struct gpumc_tunable *tunables;
  size_t n_tunables;
  /* Mistakes of its keys beside the number of sweeps between two measurements. May be NULL. */
  void (*check)(const struct gpumc_params *kernel, int64_t interval, struct gpumc_report *report);
  /* What is known against results with such options, and the name of the attribute that says so;
   * NULL: nothing. May be NULL. */
  const char *(*warning)(const struct gpumc_kernel_options *options, const char **name);
  /* That of its keys whose value /provenance states as well; NULL: none. */
  const char *recorded_key;
};

/* As results and tables state it. */
static inline const char *gpumc_kernel_trajectory(const struct gpumc_kernel_ops *kernel)
{
  return kernel->trajectory != NULL ? kernel->trajectory : "none";
}

/* Words of 32 bits that hold one for each replica of a run. */
static inline size_t gpumc_swap_words(size_t capacity)
{
  return (capacity + 31) / 32;
}

/* Which of the samples run m of `runs` has where samples go by runs. */
GPUMC_HOST_DEVICE static inline size_t gpumc_sample_of_run(size_t samples, size_t runs, size_t m)
{
  return m * samples / runs;
}

/* Which of the plan's samples of the disorder replica r of run m has, counted from first_sample. */
static inline size_t
gpumc_ensemble_sample(const struct gpumc_ensemble_plan *plan, size_t m, size_t r)
{
  if (plan->samples == 1)
    return 0;
  return plan->sample_by_run ? gpumc_sample_of_run(plan->samples, plan->runs, m) : r;
}

/* The number in the whole of replica r of a run: what counters name it by. */
static inline uint32_t gpumc_plan_replica(const struct gpumc_ensemble_plan *plan, size_t r)
{
  return (uint32_t)(plan->first_replica + r);
}

/* Replicas of a run in the whole, of which this share has `size` and the others all that there is
 * room for. */
static inline size_t gpumc_plan_size(const struct gpumc_ensemble_plan *plan, size_t size)
{
  return plan->all_replicas > plan->capacity ? plan->all_replicas - plan->capacity + size : size;
}

/* Shares of such ensembles begin at a multiple of it; 0: they are not divided. */
static inline size_t
gpumc_plan_group(const struct gpumc_kernel_ops *kernel, const struct gpumc_ensemble_plan *plan)
{
  return plan->walks && kernel->group > 0 && kernel->group < GPUMC_WALK_GROUP ? GPUMC_WALK_GROUP
                                                                              : kernel->group;
}

/* The generator of run m of the batch. */
static inline struct gpumc_random
gpumc_ensemble_random(const struct gpumc_ensemble *ensemble, size_t m)
{
  return gpumc_random_make(ensemble->seed, ensemble->first_run + (uint32_t)m, ensemble->rounds);
}

#endif
