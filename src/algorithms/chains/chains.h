/* Chains: the common part of all algorithms that sweep replicas at fixed targets and average what
 * they measure meanwhile: sums, bins and time series, errors and convergence, units of progress,
 * checkpoints, configurations, the summary.
 *
 * Run m of the ensemble is temperature m of the list, or value m of another control; its replicas
 * are independent copies there, or one disorder sample each. An athermal target has one run. An
 * algorithm declares its keys (CHAINS_TIMES_KEYS and so on), reads its own part from them
 * (chains_read), and has the functions of the engine in its vtable. */
#ifndef GPUMC_ALGORITHMS_CHAINS_H
#define GPUMC_ALGORITHMS_CHAINS_H

#include <stdio.h>

#include "core/simulation/algorithm.h"
#include "core/simulation/configurations.h"
#include "core/simulation/ladder.h"
#include "core/simulation/observables.h"
#include "core/simulation/shared_keys.h"
#include "core/statistics/bins.h"
#include "core/statistics/estimate.h"
#include "core/statistics/series.h"

enum {
  /* Groups of replicas, each of which is a time series by itself, so that their scatter shows what
   * a single series cannot. */
  CHAINS_MAXIMUM = 8
};

/* Settings from the configuration. Times are in sweeps. */
struct chains_settings {
  size_t replicas;
  size_t chains;    /* per temperature; 1 if each replica has a sample */
  bool each_sample; /* of quenched disorder: replica r has the r-th one */
  uint32_t thermalization, sweeps, interval;
  bool series;
  double tune; /* seconds to spend on the kernel's tunables; 0: none */
};

/* Means are summed up; results are the model's quantities that follow from them. Means that are
 * results themselves have time series, from which their errors come. */
struct chains_quantities {
  const struct gpumc_model *model;
  struct gpumc_observables observables;
  size_t count; /* of means */
  double unit[GPUMC_MEANS_MAXIMUM];
  size_t n_series;
  size_t series_mean[GPUMC_MEANS_MAXIMUM];   /* [n_series] which mean it is */
  size_t series_result[GPUMC_MEANS_MAXIMUM]; /* [n_series] which result */
};

/* Returns the first replica of chain b; it ends before that of b + 1: the sizes of chains differ by
 * at most one. */
static inline size_t chains_first(const struct chains_settings *settings, size_t b)
{
  return b * settings->replicas / settings->chains;
}

/* Points of the reweighting grid, in the order of the temperatures that serve them: those of
 * temperature m are first[m] .. first[m + 1] - 1. */
struct chains_grid {
  size_t points; /* 0: none, and no arrays */
  double *value; /* [points] */
  size_t *first; /* [temperatures + 1] */
};

/* One temperature's accumulators. `vector`: the averaged numbers, chains_vector_width() for each
 * measurement: the quantities, then for each point onto which they are reweighted
 * (chains_grid_count) the weight, its square, and the weight times each quantity. */
struct chains_profile {
  struct gpumc_bins bins; /* of its numbers, averaged over the replicas */
  double *group; /* [chains][width] over time; if each replica has a sample, [replicas][width] */
};
struct chains_sums {
  int64_t reference;          /* value of the conjugate channel, in quanta, that weights refer to */
  struct gpumc_series *chain; /* [chains][series] */
  struct gpumc_bins bins;     /* of the vectors, averaged over the replicas */
  double *replica;            /* [vector][replicas] over time */
  double *half;               /* the same over its first half; NULL without `samples` */
  struct chains_profile profile[GPUMC_CHANNELS_MAXIMUM]; /* [observables.n_profiles] */
};

/* What a measurement has found, [runs][replicas] numbers of a channel, or times its width; NULL: it
 * is not measured. All are in one piece of memory, profiles last, and come to the host in one
 * transfer. */
struct chains_channels {
  int64_t *device[GPUMC_CHANNELS_MAXIMUM], *host[GPUMC_CHANNELS_MAXIMUM];
  int64_t *all_on_device, *all_on_host;
  size_t values, profiled; /* in all of them, and of these in profiles */
};

/* Means that are watched although they were not requested (chains_watch.c). */
enum { CHAINS_WATCHED = 4 };
struct chains_watch {
  size_t count;
  const struct gpumc_mean *mean[CHAINS_WATCHED];
  double unit[CHAINS_WATCHED];
  double cost;                 /* of a look, in nanoseconds of one core per site */
  uint32_t every;              /* a look comes with every `every`-th measurement */
  bool pending;                /* the pending measurement includes one */
  struct gpumc_series *series; /* [runs][chains][count] */
  struct chains_channels channels;
};

/* Values of the kernel's tunables, and their performance. */
enum { CHAINS_TUNABLES = 4 };
struct chains_candidate {
  double value[CHAINS_TUNABLES];
  double sweeps, seconds;  /* spent on it */
  double time, time_error; /* autocorrelation time in sweeps; NaN: unknown */
};

/* Tuning (chains_tune.c); zeroed if there is none. */
struct chains_tuning {
  struct gpumc_kernel_options given;
  size_t tunables, count;
  struct chains_candidate *candidate; /* [count], the given one first */
  bool relaxed, done;                 /* the states are relaxed; every candidate was tried */
  size_t next;                        /* next one to be tried */
  size_t chosen;
  double spent, seconds; /* of the current candidate's share; in total */
  double stopped;        /* seconds of tunings that were interrupted and restarted */
  uint32_t spacing;      /* measurements between those that count; 0: unknown so far */
  /* For the current candidate: [runs][chains][series], and those of chains_watch. */
  struct gpumc_series *series, *watched;
};

/* For a merged result, which lacks time series (chains_merge.c). */
struct chains_merged {
  struct gpumc_series_estimate *mean; /* [runs][series and watched ones]; NULL: not merged */
  size_t groups;                      /* of sources, for profiles */
  size_t first[CHAINS_MAXIMUM + 1];   /* [groups + 1] replica of each */
};

struct chains {
  struct gpumc_context context;
  const char *name; /* name of the algorithm, and of its states in checkpoints */
  struct chains_settings settings;
  struct chains_quantities quantities;
  size_t runs;
  double *value; /* [runs] of the moved control, such as the temperatures; NULL: the target is
                  * athermal */
  struct gpumc_moved moved; /* GPUMC_CONTROL_NONE for an athermal target */
  struct gpumc_label axis;  /* of its values */
  struct chains_grid grid;
  struct gpumc_configurations_request request;
  struct gpumc_configurations configurations;
  struct chains_watch watch;
  struct chains_tuning tuning;
  uint32_t unit;            /* sweeps between which the run may stop */
  struct chains_sums *sums; /* [temperatures] */
  uint64_t measured;        /* measurements that are in the sums */
  /* The measurement at the ensemble's time is pending, and not in the sums yet. */
  bool pending;
  struct chains_channels channels;
  double *scratch; /* [threads][chains_scratch_width()] */
  size_t *table;   /* [temperatures] of the time series */
  double *row;     /* for a time series */
  struct chains_merged merged;
};

/* Returns "temperatures", or the word for other values. */
static inline const char *chains_values_word(const struct chains *chains)
{
  return chains->moved.beta ? "temperatures" : "values";
}
/* Paths of the values in a group of the result. */
enum { CHAINS_PATH_BYTES = 128 };
static inline void chains_axis_path(const struct chains *chains, const char *group,
                                    char path[static CHAINS_PATH_BYTES])
{
  snprintf(path, CHAINS_PATH_BYTES, "%s/%s", group, chains->axis.name);
}

/* Returns the number of grid points that temperature m serves. */
static inline size_t chains_grid_served(const struct chains_grid *grid, size_t m)
{
  return grid->points > 0 ? grid->first[m + 1] - grid->first[m] : 0;
}

/* Neighbours of a temperature, below and above, onto which its measurements are reweighted like
 * onto the grid points that it serves on that side: the direct measurements there show whether they
 * reach that far (chains_reach.c). */
enum { CHAINS_SIDES = 2 };
/* Returns whether temperature m serves points on that side, and has a neighbour there. */
static inline bool chains_grid_reaches(const struct chains *chains, size_t m, int side)
{
  const struct chains_grid *grid = &chains->grid;
  if (chains_grid_served(grid, m) == 0)
    return false;
  return side == 0 ? m > 0 && grid->value[grid->first[m]] < chains->value[m]
                   : m + 1 < chains->runs && grid->value[grid->first[m + 1] - 1] > chains->value[m];
}

/* Returns the points onto which temperature m is reweighted: those of the grid, then its
 * neighbours. */
static inline size_t chains_grid_count(const struct chains *chains, size_t m)
{
  return chains_grid_served(&chains->grid, m) + chains_grid_reaches(chains, m, 0) +
         chains_grid_reaches(chains, m, 1);
}

static inline double chains_grid_value(const struct chains *chains, size_t m, size_t point)
{
  const size_t served = chains_grid_served(&chains->grid, m);
  if (point < served)
    return chains->grid.value[chains->grid.first[m] + point];
  return point == served && chains_grid_reaches(chains, m, 0) ? chains->value[m - 1]
                                                              : chains->value[m + 1];
}

/* Returns the number of sums of one grid point: w, w^2, and w times each quantity. */
static inline size_t chains_point_width(const struct chains_quantities *quantities)
{
  return 2 + quantities->count;
}

static inline size_t chains_vector_width(const struct chains *chains, size_t m)
{
  return chains->quantities.count +
         chains_grid_count(chains, m) * chains_point_width(&chains->quantities);
}

/* ---- keys (chains_keys.c) ---- */

/* The length of chains, and when they are measured. */
#define CHAINS_TIMES_KEYS                                                                          \
  GPUMC_SWEEPS_KEY("thermalization", 0, .sweepable = true, .example = "500",                       \
                   .doc = "Sweeps after the random start, before measuring begins; by default a "  \
                          "fifth of `sweeps`, rounded up, and at least 100."),                     \
      GPUMC_SWEEPS_KEY(                                                                            \
          "sweeps", 1, .required = true, .sweepable = true, .example = "4000",                     \
          .doc = "Sweeps during which measurements are taken, a multiple of `interval`."),         \
      GPUMC_SWEEPS_KEY("interval", 1, .default_text = "1", .sweepable = true,                      \
                       .doc = "Sweeps between measurements.")
#define CHAINS_SERIES_KEY                                                                          \
  {                                                                                                \
    .name = "series", .type = GPUMC_KEY_BOOLEAN, .default_text = "false",                          \
    .doc = "Write the time series of every replica into the result: all measured channels, "       \
           "including those on request."                                                           \
  }
#define CHAINS_CONFIGURATIONS_KEY(keys)                                                            \
  {                                                                                                \
    .name = "configurations", .type = GPUMC_KEY_MAPPING, .children = (keys),                       \
    .doc = "Write configurations of all replicas into the result, at times that are multiples of " \
           "`interval`."                                                                           \
  }
void chains_check_interval(const struct gpumc_params *params, const struct gpumc_subject *subject,
                           struct gpumc_report *report);
void chains_check_length(const struct gpumc_params *params, const struct gpumc_subject *subject,
                         struct gpumc_report *report);
void chains_check_configurations(const struct gpumc_params *params,
                                 const struct gpumc_subject *subject, struct gpumc_report *report);
#define CHAINS_CHECKS                                                                              \
  {.reads = "sweeps interval", .run = chains_check_interval},                                      \
      {.reads = "sweeps thermalization", .run = chains_check_length},                              \
  {                                                                                                \
    .reads = "configurations sweeps interval", .run = chains_check_configurations                  \
  }
/* Returns the sweeps of the thermalization, given or not; adds them to the defaults of a block,
 * false: memory ran out. */
int64_t chains_thermalization(const struct gpumc_params *params);
bool chains_default_thermalization(const struct gpumc_params *params, cJSON *defaults);
/* Reads a block without mistakes; `samples` exceeds 1 if every replica has a sample of its own, and
 * then replaces the number of replicas. */
struct chains_settings
chains_settings_read(const struct gpumc_params *params, size_t replicas, size_t samples);

/* The function by which an algorithm reads its block: name, settings, runs and, if a control moves
 * the target, its values and the grid. The engine frees what it allocates, after a failure too. */
typedef enum gpumc_status
chains_read(const struct gpumc_params *params, struct chains *chains, struct gpumc_error *error);

/* ---- the functions of an algorithm (chains.c, chains_demand.c, chains_summary.c) ---- */

/* `warn`, `demand` and `create` of struct gpumc_algorithm_ops, for the settings that `read`
 * returns; the others as they are. */
GPUMC_MUST_CHECK enum gpumc_status
chains_warn(chains_read *read, const struct gpumc_params *params, const struct gpumc_model *model,
            const struct gpumc_kernel_ops *kernel, const char **name,
            char text[GPUMC_WARNING_BYTES], struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
chains_demand(chains_read *read, const struct gpumc_params *params, const struct gpumc_model *model,
              const struct gpumc_device *device, struct gpumc_demand *demanded,
              struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status chains_create(chains_read *read, struct gpumc_context *context,
                                                 void **state, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
chains_advance(void *state, bool *finished, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status chains_settle(void *state, struct gpumc_error *error);
void chains_position(const void *state, struct gpumc_position *position);
GPUMC_MUST_CHECK enum gpumc_status
chains_save(const void *state, struct gpumc_checkpoint_writer *writer, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status chains_load(void *state, struct gpumc_checkpoint_reader *reader,
                                               bool *finished, struct gpumc_error *error);
/* Values, errors, warnings: everything below /summary and, for merging, /runs. */
GPUMC_MUST_CHECK enum gpumc_status chains_summarize(void *state, struct gpumc_error *error);
void chains_destroy(void *state);
/* gpumc_merger.fill, for results whose replicas share one sample (chains_merge.c). */
GPUMC_MUST_CHECK enum gpumc_status
chains_merge(void *state, const struct gpumc_sources *sources, struct gpumc_error *error);
extern const char *const chains_stages[];
/* By values, or parts of the replicas of one value. */
extern const enum gpumc_division chains_divides[];
#define CHAINS_OPERATIONS                                                                          \
  .stages = chains_stages,                                                                         \
  .required = GPUMC_OPERATION_START | GPUMC_OPERATION_TRANSFER | GPUMC_OPERATION_SWEEP |           \
              GPUMC_OPERATION_MEASURE,                                                             \
  .divides = chains_divides, .sweeps_alone = true, .profiles = true, .advance = chains_advance,    \
  .position = chains_position, .settle = chains_settle, .save = chains_save, .load = chains_load,  \
  .summarize = chains_summarize, .destroy = chains_destroy

#endif
