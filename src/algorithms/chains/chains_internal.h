/* Chains: what its own files share, beyond what algorithms use of them (chains.h). */
#ifndef GPUMC_ALGORITHMS_CHAINS_INTERNAL_H
#define GPUMC_ALGORITHMS_CHAINS_INTERNAL_H

#include <math.h>

#include "algorithms/chains/chains.h"

struct gpumc_curve_place;

/* Returns, for a merged result, the merged estimate of a plain mean, or of one that is watched. */
static inline struct gpumc_series_estimate *
chains_merged_mean(const struct chains *chains, size_t m, size_t k)
{
  return &chains->merged.mean[m * (chains->quantities.n_series + chains->watch.count) + k];
}
/* Returns whether a plain mean, or one that is watched, decides about convergence and trust:
 * properties of the moves do not (gpumc_quantity.of_moves). */
static inline bool chains_series_decides(const struct chains *chains, size_t k)
{
  const struct chains_quantities *quantities = &chains->quantities;
  return k >= quantities->n_series ||
         !quantities->observables.quantity[quantities->series_result[k]].what->of_moves;
}
/* Returns the number of series that decide, at all temperatures together. */
static inline size_t chains_deciding(const struct chains *chains)
{
  const size_t means = chains->quantities.n_series + chains->watch.count;
  size_t deciding = 0;
  for (size_t k = 0; k < means; k++)
    deciding += chains_series_decides(chains, k);
  return chains->runs * deciding;
}
/* Legal on one that is not a merged result. */
void chains_merged_free(struct chains *chains);

/* Makes what the configuration determines: everything except memory and tables. Legal to free when
 * zeroed or when making it failed. */
GPUMC_MUST_CHECK enum gpumc_status
chains_settings_make(chains_read *read, const struct gpumc_params *params,
                     const struct gpumc_model *model, struct chains *chains,
                     struct gpumc_error *error);
void chains_settings_free(struct chains *chains);

/* The columns of configurations, and the order of the runs in them. */
enum { CHAINS_SWEEP, CHAINS_RUN, CHAINS_REPLICA, CHAINS_LABELS };
static inline struct gpumc_configurations_chains chains_all_replicas(const struct chains *chains)
{
  return (struct gpumc_configurations_chains){
      .temperatures = chains->runs, .copies = 1, .replicas = chains->settings.replicas};
}
double chains_configurations_rows(const struct chains *chains, uint32_t sweep);

/* Sets how often the chains are interrupted, for units and for looks, from the cost of sweeps
 * (chains_sweep.c). */
void chains_pace(struct chains *chains);
/* Returns the sweeps of a unit, after which signals are handled and checkpoints written: 2^28
 * updates of sites or particles, on a CPU at most 2^28 ns of a core by the kernel's cost (an update
 * of particles may take twenty); and at least one. If measurements, whose time is unpredictable,
 * make a unit longer, it still ends after CHAINS_UNIT_SECONDS on the clock; this decides no
 * number. */
#define CHAINS_UNIT_SECONDS 1.0
uint32_t chains_unit(const struct chains_settings *settings, const struct gpumc_ensemble *ensemble,
                     size_t runs);
/* Returns the numbers of a channel in a measurement of all runs. */
size_t chains_values(const struct chains *chains, size_t channel);
/* Allocates room for the channels that are asked for; legal to free after a failure. */
GPUMC_MUST_CHECK enum gpumc_status
chains_channels_make(const struct chains *chains, const bool asked[static GPUMC_CHANNELS_MAXIMUM],
                     struct chains_channels *channels, struct gpumc_error *error);
void chains_channels_free(const struct chains *chains, struct chains_channels *channels);
/* Brings a measurement to the host, without its profiles if those were not measured. */
GPUMC_MUST_CHECK enum gpumc_status chains_channels_fetch(const struct chains *chains,
                                                         const struct chains_channels *channels,
                                                         bool profiles, struct gpumc_error *error);
size_t chains_threads(const struct gpumc_device *device);
size_t chains_scratch_width(const struct chains *chains);

/* Allocates sums for every temperature, and room for measurements. */
GPUMC_MUST_CHECK enum gpumc_status
chains_sums_make(struct chains *chains, struct gpumc_error *error);
void chains_sums_free(struct chains *chains);

/* Return the total number of sweeps, and the number of measurements up to time `time`. */
static inline uint32_t chains_end(const struct chains_settings *settings)
{
  return settings->thermalization + settings->sweeps;
}
static inline uint64_t chains_measurements(const struct chains_settings *settings, uint32_t time)
{
  return time > settings->thermalization ? (time - settings->thermalization) / settings->interval
                                         : 0;
}
/* Returns how many of them the sums of the first half contain. */
static inline uint64_t chains_half(const struct chains_settings *settings, uint64_t measured)
{
  const uint64_t half = settings->sweeps / settings->interval / 2;
  return measured < half ? measured : half;
}
/* Adds the mean of channel[replicas] over each chain to series[b * stride]; scratch[replicas]. */
void chains_add_means(const struct chains_settings *settings, const struct gpumc_mean *mean,
                      double unit, const int64_t *channel, double *scratch,
                      struct gpumc_series *series, size_t stride);
/* Bring the measurement to the host, and add it to the sums. */
GPUMC_MUST_CHECK enum gpumc_status chains_fetch(struct chains *chains, struct gpumc_error *error);
void chains_digest(struct chains *chains);

/* In a checkpoint: number of arrays of a temperature's sums, or of a profile's, and bytes of a
 * name. */
enum { CHAINS_PARTS = 6, CHAINS_NAME_BYTES = 128 };

/* Profiles (chains_profile.c): the numbers of each replica in all of them, and of their sums. */
double chains_profile_width(const struct chains *chains);
double chains_profile_sums(const struct chains *chains);
/* For run m; free is legal on zeroed sums. */
GPUMC_MUST_CHECK enum gpumc_status
chains_profiles_make(struct chains *chains, size_t m, struct gpumc_error *error);
void chains_profiles_free(struct chains_sums *sums);
/* Adds the measurement that is on the host; `scratch` has room for the widest. */
void chains_profiles_add(const struct chains *chains, size_t m, double *scratch);
/* Lists the arrays of a checkpoint that hold the sums of profile p, below `prefix`. Returns their
 * number. */
size_t chains_profile_parts(const struct chains *chains, size_t m, size_t p,
                            struct gpumc_part part[static CHAINS_PARTS],
                            char prefix[static CHAINS_NAME_BYTES]);
/* Writes their bins beside those of means, over the axis of `bins` and their own. */
GPUMC_MUST_CHECK enum gpumc_status chains_profiles_write_bins(const struct chains *chains, size_t m,
                                                              const struct gpumc_curve_place *bins,
                                                              struct gpumc_error *error);
/* Writes them to the summary, with errors from blocks of shortest[runs] measurements or more. */
GPUMC_MUST_CHECK enum gpumc_status chains_profiles_write(const struct chains *chains,
                                                         const double *shortest,
                                                         struct gpumc_error *error);

/* Chooses what is watched beside the observables of a run (chains_watch.c); and the minimum number
 * of looks in each chain. */
void chains_watch_choose(const struct gpumc_model *model,
                         const struct gpumc_observables *observables, struct chains_watch *watch);
double chains_least_looks(const struct chains_settings *settings);
/* Sets `every`, once the kernel's options are known. */
void chains_watch_pace(struct chains *chains);
GPUMC_MUST_CHECK enum gpumc_status
chains_watch_make(struct chains *chains, struct gpumc_error *error);
void chains_watch_free(struct chains *chains);
/* Returns the number of looks in its series. */
uint64_t chains_looks(const struct chains *chains);
/* Steps of a look: measures its channels on the device; copies them to the host; and adds them to
 * series[runs][chains][count]. */
GPUMC_MUST_CHECK enum gpumc_status
chains_watch_measure(struct chains *chains, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
chains_watch_fetch(struct chains *chains, struct gpumc_error *error);
void chains_watch_digest(const struct chains *chains, struct gpumc_series *series);
/* Estimates watched mean w in run m; times are in looks. */
void chains_watch_estimate(const struct chains *chains, size_t m, size_t w,
                           struct gpumc_series_estimate *estimate);
/* Writes their means, with the errors of their series, as curves over the runs. */
GPUMC_MUST_CHECK enum gpumc_status chains_watch_write(const struct chains *chains,
                                                      const struct gpumc_curve_place *place,
                                                      struct gpumc_error *error);
/* Load this after `measured` and, if there is any, the tuning. */
GPUMC_MUST_CHECK enum gpumc_status chains_watch_save(const struct chains *chains,
                                                     struct gpumc_checkpoint_writer *writer,
                                                     struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status chains_watch_load(struct chains *chains,
                                                     struct gpumc_checkpoint_reader *reader,
                                                     struct gpumc_error *error);

/* Sweeps under the target of the chains. */
GPUMC_MUST_CHECK enum gpumc_status chains_sweep(const struct chains *chains, uint32_t sweeps,
                                                int64_t *const *channel, struct gpumc_error *error);

static inline const struct gpumc_tunable *chains_tunables(const struct chains *chains)
{
  return chains->context.ensemble->ops->tunables;
}

/* Tuning (chains_tune.c) if settings.tune asks for it: whether it is still in progress, its memory
 * (GPUMC_INVALID if the kernel has no tunables), and a unit of it. */
bool chains_tunes(const struct chains *chains);
GPUMC_MUST_CHECK enum gpumc_status
chains_tuning_make(struct chains *chains, struct gpumc_error *error);
void chains_tuning_free(struct chains_tuning *tuning);
GPUMC_MUST_CHECK enum gpumc_status chains_tune(struct chains *chains, struct gpumc_error *error);
/* If a load finds no choice, no run has begun, and tuning restarts. */
GPUMC_MUST_CHECK enum gpumc_status chains_tuning_save(const struct chains *chains,
                                                      struct gpumc_checkpoint_writer *writer,
                                                      struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status chains_tuning_load(struct chains *chains,
                                                      struct gpumc_checkpoint_reader *reader,
                                                      struct gpumc_error *error);
/* The result of tuning (chains_tuned.c): the best of the candidates that were tried, a note of the
 * chosen one or a warning that none is known, and provenance/tuning. */
size_t chains_tuning_best(const struct chains_tuning *tuning);
void chains_tuning_tell(const struct chains *chains);
GPUMC_MUST_CHECK enum gpumc_status
chains_tuning_write(const struct chains *chains, struct gpumc_error *error);

/* runs/NNNN: declares it, with the time series if requested; appends to these the measurement that
 * was last added to the sums; and writes the averages of bins and replicas at the end. */
GPUMC_MUST_CHECK enum gpumc_status
chains_tables_declare(struct chains *chains, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
chains_series_record(struct chains *chains, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
chains_runs_write(const struct chains *chains, struct gpumc_error *error);

void chains_quantities_make(const struct gpumc_model *model,
                            const struct gpumc_observables *observables,
                            struct chains_quantities *quantities);

/* Computes what mean k averages, from `count` values of its channel. */
void chains_moments_of(const struct gpumc_mean *mean, double unit, const int64_t *channel,
                       size_t count, double *values);

/* The points of a temperature: the temperature itself first, then those onto which it is reweighted
 * (chains_grid_count). Each point has the results (chains_quantities) and the share of the
 * measurements that count there. */
struct chains_estimates {
  size_t points, results;             /* results of a point, without the share */
  double *average;                    /* of all points (chains_estimate.c) */
  double *value, *error;              /* [points][results + 1]; the share has no error */
  struct gpumc_series_estimate *mean; /* [series] all replicas together */
  bool converged;                     /* all of them */
  double shortest;                    /* minimum length of the blocks of a jackknife, in
                                       * measurements */
  /* [series] whether it never changed: for samples, in none of them. */
  bool still[GPUMC_MEANS_MAXIMUM];
  /* If each replica has a sample: there are too few of them for errors; or time series are so short
   * that nonlinear results of each sample are still biased. */
  bool unknown, biased;
};

/* `few` looks at the samples of temperature m, if each replica has one. */
GPUMC_MUST_CHECK enum gpumc_status
chains_estimates_make(const struct chains *chains, size_t m, struct chains_estimates *estimates,
                      struct gpumc_few_samples *few, struct gpumc_error *error);
/* Legal on a zeroed object. */
void chains_estimates_free(struct chains_estimates *estimates);

/* Returns the error of a plain mean from its series, with Student's factor; for a merged result it
 * is already included. */
static inline double chains_series_error(const struct gpumc_series_estimate *mean)
{
  const struct gpumc_variance none = {0, 0}, variance = {mean->error * mean->error, mean->freedom};
  return isinf(mean->freedom) ? mean->error : gpumc_pooled_error(variance, none);
}

/* ---- how far measurements reach when reweighted (chains_reach.c) ---- */

/* Results of each temperature reweighted onto its neighbours; NaN if next to no measurements count,
 * or if there are no grid points in between. */
struct chains_reach {
  const struct chains *chains;
  size_t results;
  double *value, *error;     /* [runs][CHAINS_SIDES][results] */
  size_t doubtful, quantity; /* points whose errors were made unknown; an affected quantity */
};

GPUMC_MUST_CHECK enum gpumc_status chains_reach_init(const struct chains *chains,
                                                     struct chains_reach *reach,
                                                     struct gpumc_error *error);
/* Legal on a zeroed object. */
void chains_reach_free(struct chains_reach *reach);
/* Takes the results at neighbours from the estimates of temperature m. */
void chains_reach_take(struct chains_reach *reach, size_t m,
                       const struct chains_estimates *estimates, double least_share);
/* Makes errors unknown, NaN, for the grid points on the way to a neighbour if a result reweighted
 * that far contradicts the measurement there: value[results][runs] with errors;
 * grid_error[results][points]. */
void chains_reach_doubt(struct chains_reach *reach, const double *value, const double *error,
                        double *grid_error);
/* Writes the warning about that, in `bytes` bytes. */
void chains_reach_explain(const struct chains_reach *reach, size_t bytes, char *text);

#endif
