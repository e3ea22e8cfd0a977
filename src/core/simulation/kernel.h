/* Kernels and ensembles: R replicas of one model instance, owned by a kernel, opaque to everything
 * else. */
#ifndef GPUMC_CORE_KERNEL_H
#define GPUMC_CORE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/device/device.h"
#include "core/numerics/random.h"
#include "core/simulation/target.h"

/* What an algorithm may ask of an ensemble; each bit means that certain functions are not NULL. */
enum gpumc_operation {
  GPUMC_OPERATION_START = 1 << 0,    /* starting states */
  GPUMC_OPERATION_TRANSFER = 1 << 1, /* set and get replicas in portable form */
  GPUMC_OPERATION_SWEEP = 1 << 2,    /* sweeps, a target for each run */
  GPUMC_OPERATION_MEASURE = 1 << 3,  /* per-replica channels */
  GPUMC_OPERATION_GATHER = 1 << 4,   /* copies in place */
  GPUMC_OPERATION_EXCHANGE = 1 << 5, /* replicas of neighbouring runs swapped */
  GPUMC_OPERATION_COMPARE = 1 << 6,  /* replicas of two runs compared */
  GPUMC_OPERATION_WALK = 1 << 7,     /* single updates under a tabulated weight */
  GPUMC_OPERATION_CLUSTERS = 1 << 8, /* clusters exchanged between replicas of two runs */
};

/* Alignment in bytes of arrays of replicas in portable form in device memory. */
enum { GPUMC_STATES_ALIGNMENT = 16 };
/* Maximum number of integers that a model has of two replicas. */
enum { GPUMC_PAIRS_MAXIMUM = 4 };
/* Maximum number of turns of moves in a plan. */
enum { GPUMC_TURNS_MAXIMUM = 8 };
/* The source of a mean: a channel, a pair, or the product of a channel in two replicas. */
enum gpumc_mean_source { GPUMC_MEAN_CHANNEL, GPUMC_MEAN_PAIR, GPUMC_MEAN_PRODUCT };

struct gpumc_key;
struct gpumc_params;
struct gpumc_report;

/* The values of a kernel's own keys: read by the kernel, only passed on by everything else. */
struct gpumc_kernel_options {
  uint32_t together; /* sweeps performed as one; work is better not interrupted within them; 0: any
                      * number */
  uint64_t own[7];
};

/* The contents of an ensemble: `runs` runs of up to `capacity` replicas. Quenched disorder: with
 * samples = 1 all replicas have the sample that the model's configuration names. Otherwise samples
 * = capacity, and replica r of every run has the r-th sample from there on; or, if sample_by_run,
 * runs is a multiple of samples, and runs / samples successive runs share a sample, all replicas of
 * them. Only kernels with `walk` get a plan with samples by run. `options`: read by the kernel from
 * its own keys, zeroed if it has none. `moved`: the control that is passed to sweeps and differs
 * between runs and from sweep to sweep, or GPUMC_CONTROL_NONE; all others stay at the instance's
 * own values (gpumc_model.control) or, if `fixes`, at `fixed`. `levels`, `channels` and `compared`
 * announce what will be requested beside sweeps, so that memory for it is planned: an operation
 * that needs more than was planned takes it nevertheless. Only with `clusters` may they be
 * exchanged. `for_timings`: starting states only have
 * to be allowed, and are made as quickly as possible.
 *
 * A share of a larger ensemble holds the replicas first_replica .. first_replica + capacity - 1 of
 * each run out of all_replicas (0: `capacity`), and the samples from number first_sample of the
 * whole on. Operations count replicas and samples from the share's first; random numbers and
 * disorder go by the whole's numbers (gpumc_plan_replica), so that a share's replicas are those of
 * the whole, bit for bit. It begins at a multiple of gpumc_plan_group. */
struct gpumc_processes;
/* Several moves take turns: `sweeps` sweeps by gpumc_kernel_ops.moves[move], then those of the next
 * turn, and after the last one the first again. Which turn it is follows from the time alone. */
struct gpumc_turn {
  uint32_t move, sweeps;
};
enum gpumc_division {
  GPUMC_UNDIVIDED,
  GPUMC_BY_RUNS,     /* processes have whole runs */
  GPUMC_BY_PARTS,    /* or, if there are fewer runs, one part of one run */
  GPUMC_BY_REPLICAS, /* processes have a part of every run */
};
struct gpumc_ensemble_plan {
  size_t runs, capacity, samples;
  size_t first_replica, all_replicas, first_sample;
  bool sample_by_run;
  bool for_timings;
  bool walks;      /* replicas will walk: channels must be exactly those that `walk` keeps */
  bool clusters;   /* clusters will be exchanged between replicas of two runs */
  bool copies;     /* replicas will be copied by `gather` */
  bool exchanges;  /* replicas will be exchanged by `exchange` */
  size_t levels;   /* largest number of levels in the tables under which they walk */
  size_t channels; /* channels 0 .. channels - 1 of the model are measured */
  size_t compared; /* largest number of runs that `compare` is called for at once */
  /* The move of the sweeps being made, of gpumc_kernel_ops.moves, which the core changes from turn
   * to turn; for `cost` and `trials` the one that they are asked about. `turn[n_turns]`: all turns
   * if there are several, of moves that serve one target; n_turns = 0: all sweeps are by `move`.
   * `bytes` and `create` provide for all of them (gpumc_plan_makes). */
  uint32_t move;
  struct gpumc_turn turn[GPUMC_TURNS_MAXIMUM];
  size_t n_turns;
  size_t moved;
  uint32_t warm_up; /* sweeps at the beginning of every run during which steps are tuned
                     * (steps.h) */
  size_t alike;     /* runs m and m + alike share one step; 0: each has its own */
  bool fixes;
  double fixed[GPUMC_CONTROLS_MAXIMUM];
  struct gpumc_kernel_options options;
  /* The processes that divide it (division.h), which no kernel sees; NULL: not divided. */
  const struct gpumc_processes *processes;
  enum gpumc_division division;
  /* For an ensemble divided by runs: measurements and copies are requested only for the process's
   * own runs (gpumc_ensemble_runs_of), and others are told nothing of them. */
  bool own_runs;
  size_t granule; /* shares of a run begin at multiples of this; 0: it is not divided */
  size_t even;    /* replicas of a run that are cut evenly: the last share has the remaining room */
};

/* How a cluster is chosen among the sites at which two replicas differ; a random one of these sites
 * belongs to it. */
enum gpumc_cluster_rule {
  GPUMC_CLUSTER_CONNECTED, /* all that interactions join to it (Houdayer 2001) */
  GPUMC_CLUSTER_ACTIVATED, /* those that interactions join to it, each with a probability that
                            * follows from the temperature (Joerg 2005) */
  GPUMC_CLUSTER_RULES
};

/* Sums over the replicas of a run that exchanged clusters with another one. */
struct gpumc_cluster_counts {
  uint64_t exchanges; /* of replicas that differed at all */
  uint64_t differing; /* sites at which they differed */
  uint64_t exchanged; /* those of them in the cluster */
  uint64_t shares;    /* exchanged/differing of each, in units of 2^-GPUMC_CLUSTER_SHARE_BITS,
                       * rounded down */
};

enum { GPUMC_CLUSTER_SHARE_BITS = 24 };

/* Exchanges between replica r of run first + i and replica r of run second + i, i < runs, all r. */
struct gpumc_cluster_exchange {
  size_t first, second, runs;
  enum gpumc_cluster_rule rule;
  uint32_t time;         /* of the counter; a pair of runs uses a number once */
  const double *control; /* [ensemble->runs][n_controls], the same for both runs of a pair; host
                          * memory */
  struct gpumc_cluster_counts *counts; /* [runs], added to; device memory */
};

struct gpumc_model;
struct gpumc_kernel_ops;
struct gpumc_step;

/* A rule by which sweeps change replicas: a choice of the key `update`
 * (core/simulation/shared_keys.h). Moves of the same name in kernels of one model mean the same. */
struct gpumc_move {
  const char *name;    /* "gibbs" */
  const char *summary; /* one line */
  uint32_t targets;    /* targets that it serves, 1u << kind of each (target.h); 0:
                        * GPUMC_BOLTZMANN */
  /* Why sweeps of it alone are useless if the moved control is 0, with the remedy; NULL: they are
   * useful. */
  const char *at_zero;
  /* Sets `*warning` to why sweeps of it alone do not reach every state of one of the samples 0 ..
   * samples - 1 from the first on, with the remedy; NULL if they do. NULL: they always do.
   * GPUMC_FAILURE if memory ran out. */
  GPUMC_MUST_CHECK enum gpumc_status (*warn)(const struct gpumc_model *model, size_t samples,
                                             const char **warning, struct gpumc_error *error);
  /* Returns whether sweeps of it, at these values of all controls, have no barrier to cross, by a
   * proof or by experience that is as good: no set of states is left or entered so much more rarely
   * than its weight suggests that a chain may never see it. NULL, or false: states may be
   * metastable, and only chains from different starts can show that one of them missed some. For an
   * athermal target control is NULL.
   */
  bool (*mixes)(const struct gpumc_model *model, const double *control);
  /* Returns a number of successive sweeps of which at least one changes the energy; NULL: each
   * does. */
  uint32_t (*cycle)(const struct gpumc_kernel_options *options);
  /* The parameter of it that has a size, given or tuned (steps.h); NULL: none. Of moves that take
   * turns only one may have any. */
  const struct gpumc_step *step;
  /* Channels that can only be measured where the plan makes such a move, a bit for each: requests
   * for them are refused where it makes none. `measure` has them whenever one is made, whichever
   * move has its turn. */
  uint32_t measures;
  /* The kernel's own keys that are for this move, except that of `step`, NULL-terminated; NULL:
   * none. With other moves they are refused; keys that no move names are for all. */
  const char *const *keys;
};

/* A number among the kernel's own keys that a run may tune by the clock: sweeps read it from the
 * options each time, and neither memory nor replicas depend on it. */
struct gpumc_tunable {
  const char *key;
  size_t count;
  const double *value; /* [count] values to try, ascending */
  double (*get)(const struct gpumc_kernel_options *options);
  void (*set)(struct gpumc_kernel_options *options, double value);
};

static inline bool gpumc_move_serves(const struct gpumc_move *move, enum gpumc_target_kind target)
{
  return ((move->targets != 0 ? move->targets : 1u << GPUMC_BOLTZMANN) >> target & 1) != 0;
}

/* The replicas of a batch of runs: the runs first_run .. first_run + runs - 1, all at the same
 * time, which is the number of sweeps done; walks have clocks of their own, given in their table.
 * Counters are those of each run by itself, so that a run's replicas do not depend on the batch. */
struct gpumc_ensemble {
  const struct gpumc_kernel_ops *ops;
  const struct gpumc_model *model;
  struct gpumc_device *device;
  uint64_t seed;
  uint32_t rounds; /* of Philox */
  uint32_t first_run;
  uint32_t time;
  size_t runs; /* of the current batch; 0: none begun */
  struct gpumc_ensemble_plan plan;
  double *control; /* [plan.runs][n_controls] for the next sweep, host memory */
  uint32_t *size;  /* [plan.runs] replicas of each run, device memory */
  /* [plan.runs] for a move with steps: their size, host memory, and how many proposals were
   * accepted since that was last set, device memory; otherwise NULL. */
  double *step;
  uint64_t *accepted;
  /* [plan.runs] how many were proposed since then, device memory; NULL: one per site and sweep
   * (gpumc_step.counts). */
  uint64_t *proposed;
  uint64_t proposed_before; /* by all runs, until `proposed` was last set */
  bool settled;             /* both are those of all processes, if these have a part of each run */
  size_t expected; /* approximate number of replicas of each run: for distributing work, decides no
                    * result */
  void *storage;   /* the kernel's own */
  struct gpumc_share_state *share; /* of several processes; NULL: not divided */
};

/* Operations work on every run m < runs and its replicas r < size[m], possibly none, and are
 * enqueued in the order of the calls (core/device/device.h). Arrays of replicas are device memory,
 * [runs][capacity]; that of the CPU is ordinary memory. Random numbers of run m are those of
 * gpumc_ensemble_random(ensemble, m), with gpumc_plan_replica(plan, r) in the counter and no run
 * number, since batches differ. */
struct gpumc_kernel_ops {
  const char *device;  /* "cpu", "cuda" */
  const char *variant; /* its name in `kernel.variant` */
  const char *former;  /* a former name of the variant, still accepted; NULL: none */
  const char *summary; /* one line */
  const char *takes;   /* its requirements on instances; NULL: none */
  /* Kernels with the same id produce the same replicas, bit for bit; NULL: it makes no such
   * promise. It then has no cost either and comes after a kernel that can do as much, so it is used
   * only if named. */
  const char *trajectory;
  /* 0: it is in this build. Otherwise its operations in builds that have it, of enum
   * gpumc_operation; it is listed so that a request for it is not mistaken for a typo. */
  uint32_t absent;
  /* Number of replicas that it draws random numbers for together, a power of two: a share of an
   * ensemble begins at a multiple of it. 1: each replica by itself. 0: it does not declare that it
   * names replicas and samples by their numbers in the whole, and replicas of a run are not
   * divided. */
  size_t group;
  /* Its moves; the first is used if an algorithm leaves no choice, and that of the model's first
   * kernel is the default of `update`. */
  const struct gpumc_move *moves;
  size_t n_moves;
  /* Returns the approximate nanoseconds of one core for a sweep of a run with `replicas` replicas,
   * given the move and options of a plan, whose other fields are ignored and zeroed if unknown.
   * Units of work are planned with it, and the automatic choice among the kernels of a model
   * compares the cost of a proposal. It depends on nothing but its arguments and is the same for
   * all kernels of a variant, since that choice decides numbers. NULL: chosen only if no kernel
   * with a cost is suitable. */
  double (*cost)(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan,
                 size_t replicas);
  /* Returns the expected number of proposals that a replica makes in a sweep with that move and
   * options: plans, rates and units of work count them (gpumc_kernel_trials). NULL: an update of
   * each site. */
  double (*trials)(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan);
  /* Returns the device memory of an ensemble, everything that the kernel allocates included. */
  size_t (*bytes)(const struct gpumc_model *model, const struct gpumc_device *device,
                  const struct gpumc_ensemble_plan *plan);
  /* Allocates `storage`, which is NULL; the other fields are set. */
  GPUMC_MUST_CHECK enum gpumc_status (*create)(struct gpumc_ensemble *ensemble,
                                               struct gpumc_error *error);
  /* Legal after a failed create, and with `storage` NULL. */
  void (*destroy)(struct gpumc_ensemble *ensemble);
  /* Sets every replica to a starting state, from counters alone: for a model that knows ln Z at
   * beta = 0 (gpumc_model.log_states) independent states of equal weight; for others they only have
   * to be allowed, and algorithms make no use of them before sweeping them. */
  GPUMC_MUST_CHECK enum gpumc_status (*start)(struct gpumc_ensemble *ensemble,
                                              struct gpumc_error *error);
  /* Copies replicas first .. first+count-1 of run m from and to host memory, model->portable_bytes
   * each; done on return. */
  GPUMC_MUST_CHECK enum gpumc_status (*set)(struct gpumc_ensemble *ensemble, size_t m, size_t first,
                                            size_t count, const uint8_t *portable,
                                            struct gpumc_error *error);
  GPUMC_MUST_CHECK enum gpumc_status (*get)(struct gpumc_ensemble *ensemble, size_t m, size_t first,
                                            size_t count, uint8_t *portable,
                                            struct gpumc_error *error);
  /* The same with device memory, enqueued: for the replicas slot[0] .. slot[count-1] of run m, in
   * ascending order; `get_list` may be given the same one several times. states[count] are elements
   * of an array that begins at a multiple of GPUMC_STATES_ALIGNMENT bytes. All other replicas stay
   * as they are. NULL: `set` and `get` do it (columns.h). */
  GPUMC_MUST_CHECK enum gpumc_status (*set_list)(struct gpumc_ensemble *ensemble, size_t m,
                                                 const uint32_t *slot, size_t count,
                                                 const uint8_t *states, struct gpumc_error *error);
  GPUMC_MUST_CHECK enum gpumc_status (*get_list)(struct gpumc_ensemble *ensemble, size_t m,
                                                 const uint32_t *slot, size_t count,
                                                 uint8_t *states, struct gpumc_error *error);
  /* Performs `sweeps` sweeps of every replica for `target` (may be freed when the call returns;
   * NULL if sweeps = 0) by plan.move, sweep i with the counter's time ensemble->time + i, which the
   * caller advances; then, unless `channel` is NULL, does what `measure` does. */
  GPUMC_MUST_CHECK enum gpumc_status (*sweep)(struct gpumc_ensemble *ensemble,
                                              const struct gpumc_target *target, uint32_t sweeps,
                                              int64_t *const *channel, struct gpumc_error *error);
  /* Performs steps of every run for a tabulated target; each run has a table of its own and makes
   * as many steps as that says: GPUMC_WALK_UPDATES single updates of every replica in each, at
   * sites in an order that replicas of a group share, with random numbers of their own. Step i of
   * run m is at time[m] + i of the table's clock, whose 64 bits are two words of the counters;
   * ensemble->time is not used. For ensembles in which all replicas of a run have one sample of the
   * disorder. */
  GPUMC_MUST_CHECK enum gpumc_status (*walk)(struct gpumc_ensemble *ensemble,
                                             const struct gpumc_target *target,
                                             struct gpumc_error *error);
  /* Returns the number of replicas that keep the device busy while they walk: with fewer, part of
   * it is idle. 0, or NULL: unknown. */
  size_t (*fills)(const struct gpumc_model *model, const struct gpumc_device *device,
                  const struct gpumc_ensemble_plan *plan);
  /* Fills channel[c][runs][plan.capacity] for every channel c of the model, [width] numbers each if
   * it is a profile; NULL: not wanted. */
  GPUMC_MUST_CHECK enum gpumc_status (*measure)(struct gpumc_ensemble *ensemble,
                                                int64_t *const *channel, struct gpumc_error *error);
  /* Looks for anything that sweeps must never do to replicas, such as losing a particle:
   * GPUMC_FAILURE that says what happened. Waits for everything enqueued. NULL: there is nothing to
   * look for. */
  GPUMC_MUST_CHECK enum gpumc_status (*inspect)(struct gpumc_ensemble *ensemble,
                                                struct gpumc_error *error);
  /* Makes replica r of run m a copy of replica parent[m][r] of that run, r < size[m], in place;
   * parent[p] = p for every parent p < size, so that no replica is read after it was
   * overwritten. `parent` stays as it is until the next operation, which may make the copies. */
  GPUMC_MUST_CHECK enum gpumc_status (*gather)(struct gpumc_ensemble *ensemble,
                                               const uint32_t *parent, struct gpumc_error *error);
  /* Swaps replica r of run m and replica r of run m + 1 if bit r % 32 of word swap[m][r / 32] is
   * set; swap[runs][gpumc_swap_words(capacity)], device memory. A replica takes part in at most one
   * exchange. `swap` stays as it is until the next operation, which may make the exchanges. */
  GPUMC_MUST_CHECK enum gpumc_status (*exchange)(struct gpumc_ensemble *ensemble,
                                                 const uint32_t *swap, struct gpumc_error *error);
  /* Computes pair[kind][i][r], kinds as the model declares them: replica r of run first + i with
   * replica r of run second + i, i < runs; arrays [runs][capacity], NULL: not wanted. */
  GPUMC_MUST_CHECK enum gpumc_status (*compare)(struct gpumc_ensemble *ensemble, size_t first,
                                                size_t second, size_t runs,
                                                int64_t *const pair[GPUMC_PAIRS_MAXIMUM],
                                                struct gpumc_error *error);
  /* Exchanges a cluster between any two replicas that differ: their values at its sites change
   * places. The product of their weights stays what it was, and the reverse exchange is as likely.
   * Random numbers are those of the run first + i. */
  GPUMC_MUST_CHECK enum gpumc_status (*exchange_clusters)(struct gpumc_ensemble *ensemble,
                                                          const struct gpumc_cluster_exchange *with,
                                                          struct gpumc_error *error);
  /* Returns the bytes of the part of an ensemble's state that is neither replicas nor counters: the
   * state of random number generators, for all replicas of a run that there is room for, one after
   * the other. NULL, or no bytes: none. */
  size_t (*state_bytes)(const struct gpumc_ensemble *ensemble);
  /* Copies that of run m to and from host memory; done on return. */
  GPUMC_MUST_CHECK enum gpumc_status (*get_state)(struct gpumc_ensemble *ensemble, size_t m,
                                                  uint8_t *state, struct gpumc_error *error);
  GPUMC_MUST_CHECK enum gpumc_status (*set_state)(struct gpumc_ensemble *ensemble, size_t m,
                                                  const uint8_t *state, struct gpumc_error *error);
  /* Keys of its own, which it adds to the block `kernel`; NULL: none, and neither of the following.
   * Kernels of one name on several devices have the same keys. */
  const struct gpumc_key *keys;
  /* Reads a resolved block `kernel`, in which some of these keys may be missing. */
  void (*read)(const struct gpumc_params *kernel, struct gpumc_kernel_options *options);
  /* Returns why the kernel cannot take an instance with these options, and in `*key` which of its
   * keys would have to change; NULL if it can. */
  const char *(*refuses)(const struct gpumc_model *model,
                         const struct gpumc_kernel_options *options, const char **key);
  /* Returns GPUMC_INVALID, with the remedy, for a value that a control of the instance cannot be
   * moved to; all values between two that are possible must be possible. NULL: all are, in sweeps
   * under a target that has controls. */
  GPUMC_MUST_CHECK enum gpumc_status (*check_value)(const struct gpumc_model *model,
                                                    const struct gpumc_kernel_options *options,
                                                    size_t control, double value,
                                                    struct gpumc_error *error);
  /* Its `n_tunables` keys that a run may be asked to tune; NULL: none. */
  const struct gpumc_tunable *tunables;
  size_t n_tunables;
  /* Reports mistakes in its keys, given the number of sweeps between two measurements. May be
   * NULL. */
  void (*check)(const struct gpumc_params *kernel, int64_t interval, struct gpumc_report *report);
  /* Returns what is known against results with such options, and the name of the attribute that
   * says so; NULL: nothing. May be NULL. */
  const char *(*warning)(const struct gpumc_kernel_options *options, const char **name);
  /* The one of its keys whose value is also recorded in /provenance; NULL: none. */
  const char *recorded_key;
};

/* Returns the trajectory as results and tables state it. */
static inline const char *gpumc_kernel_trajectory(const struct gpumc_kernel_ops *kernel)
{
  return kernel->trajectory != NULL ? kernel->trajectory : "none";
}

/* Returns whether sweeps of the plan are made by that move. */
static inline bool gpumc_plan_makes(const struct gpumc_ensemble_plan *plan, uint32_t move)
{
  bool makes = plan->n_turns == 0 && plan->move == move;
  for (size_t t = 0; t < plan->n_turns; t++)
    makes = makes || plan->turn[t].move == move;
  return makes;
}

/* Returns the 32-bit words that hold one bit for each replica of a run. */
static inline size_t gpumc_swap_words(size_t capacity)
{
  return (capacity + 31) / 32;
}

/* Returns which of the samples run m of `runs` has if samples go by runs. */
GPUMC_HOST_DEVICE static inline size_t gpumc_sample_of_run(size_t samples, size_t runs, size_t m)
{
  return m * samples / runs;
}

/* Returns which of the plan's samples of the disorder replica r of run m has, counted from
 * first_sample. */
static inline size_t
gpumc_ensemble_sample(const struct gpumc_ensemble_plan *plan, size_t m, size_t r)
{
  if (plan->samples == 1)
    return 0;
  return plan->sample_by_run ? gpumc_sample_of_run(plan->samples, plan->runs, m) : r;
}

/* Returns the number of replica r of a run in the whole, by which counters name it. */
static inline uint32_t gpumc_plan_replica(const struct gpumc_ensemble_plan *plan, size_t r)
{
  return (uint32_t)(plan->first_replica + r);
}

/* Returns the replicas of a run in the whole, if this share has `size` of them and the others are
 * full. */
static inline size_t gpumc_plan_size(const struct gpumc_ensemble_plan *plan, size_t size)
{
  return plan->all_replicas > plan->capacity ? plan->all_replicas - plan->capacity + size : size;
}

/* Returns the granule at whose multiples shares of such ensembles begin; 0: they are not
 * divided. */
static inline size_t
gpumc_plan_group(const struct gpumc_kernel_ops *kernel, const struct gpumc_ensemble_plan *plan)
{
  return plan->walks && kernel->group > 0 && kernel->group < GPUMC_WALK_GROUP ? GPUMC_WALK_GROUP
                                                                              : kernel->group;
}

/* Returns the generator of run m of the batch. */
static inline struct gpumc_random
gpumc_ensemble_random(const struct gpumc_ensemble *ensemble, size_t m)
{
  return gpumc_random_make(ensemble->seed, ensemble->first_run + (uint32_t)m, ensemble->rounds);
}

#endif
