/* Canonical runs: what their files share. Run m of the ensemble is temperature m of the list, its
 * replicas are independent copies there, or one disorder sample each. */
#ifndef GPUMC_ALGORITHMS_CANONICAL_H
#define GPUMC_ALGORITHMS_CANONICAL_H

#include "core/simulation/algorithm.h"
#include "core/simulation/configurations.h"
#include "core/simulation/observables.h"
#include "core/statistics/bins.h"
#include "core/statistics/estimate.h"
#include "core/statistics/series.h"

enum {
  CANONICAL_TEMPERATURES_MAXIMUM = GPUMC_RUN_MAXIMUM,
  CANONICAL_GRID_MAXIMUM = 100000,
  /* Groups of replicas of which each is a time series by itself, so that their scatter tells what a
   * single series cannot know. */
  CANONICAL_CHAINS_MAXIMUM = 8
};

/* What the configuration says. Times are in sweeps. */
struct canonical_settings {
  size_t replicas;
  size_t chains;    /* of a temperature; 1 with a sample for each replica */
  bool each_sample; /* of quenched disorder: replica r has the r-th */
  uint32_t thermalization, sweeps, interval;
  bool series;
};

/* Means are summed up, results are the quantities of the model that follow from them. Means that
 * are results themselves have time series, from which their errors come. */
struct canonical_quantities {
  const struct gpumc_model *model;
  struct gpumc_observables observables;
  size_t count; /* of means */
  double unit[GPUMC_MEANS_MAXIMUM];
  size_t n_series;
  size_t series_mean[GPUMC_MEANS_MAXIMUM];   /* [n_series] which mean it is */
  size_t series_result[GPUMC_MEANS_MAXIMUM]; /* [n_series] which result */
};

/* Chain b has the replicas from the first of b up to that of b + 1: their numbers differ by one at
 * most. */
static inline size_t canonical_chain_first(const struct canonical_settings *settings, size_t b)
{
  return b * settings->replicas / settings->chains;
}

/* The inverse temperatures. */
struct canonical_betas {
  double *beta;
  size_t count;
};

/* Points of the grid of reweighting, in the order of the temperatures that serve them: those of
 * temperature m are first[m] .. first[m + 1] - 1. */
struct canonical_grid {
  size_t points;
  double *beta;  /* [points] */
  size_t *first; /* [temperatures + 1] */
};

/* One temperature's accumulators. `vector`: what is averaged, canonical_vector_width() numbers for
 * each measurement: the quantities, then for each point of the grid the weight, its square, and the
 * weight times each quantity. */
struct canonical_sums {
  int64_t reference;          /* of the conjugate channel, in quanta: weights refer to it */
  struct gpumc_series *chain; /* [chains][series] */
  struct gpumc_bins bins;     /* of the vectors, averaged over the replicas */
  double *replica;            /* [vector][replicas] over the time */
  double *half;               /* the same over its first half; NULL without `samples` */
};

struct canonical {
  struct gpumc_context context;
  struct canonical_settings settings;
  struct canonical_quantities quantities;
  size_t conjugate; /* channel by which weights follow the inverse temperature */
  struct canonical_betas betas;
  struct canonical_grid grid;
  struct gpumc_configurations_request request;
  struct gpumc_configurations configurations;
  uint32_t unit;               /* sweeps between which the run may stop */
  struct canonical_sums *sums; /* [temperatures] */
  uint64_t measured;           /* measurements that are in the sums */
  /* The measurement at the ensemble's time is on its way, but not in the sums yet. */
  bool pending;
  int64_t *device_channel[GPUMC_CHANNELS_MAXIMUM]; /* [runs][replicas]; NULL: not measured */
  int64_t *channel[GPUMC_CHANNELS_MAXIMUM];        /* the same on the host */
  double *scratch;                                 /* [threads][canonical_scratch_width()] */
  size_t *table;                                   /* [temperatures] of the time series */
  double *row;                                     /* of a time series */
};

static inline size_t canonical_grid_count(const struct canonical_grid *grid, size_t m)
{
  return grid->points > 0 ? grid->first[m + 1] - grid->first[m] : 0;
}

/* Sums of one point of the grid: w, w^2, and w times each quantity. */
static inline size_t canonical_point_width(const struct canonical_quantities *quantities)
{
  return 2 + quantities->count;
}

static inline size_t canonical_vector_width(const struct canonical *canonical, size_t m)
{
  return canonical->quantities.count +
         canonical_grid_count(&canonical->grid, m) * canonical_point_width(&canonical->quantities);
}

extern const struct gpumc_key canonical_keys[];
extern const struct gpumc_check canonical_checks[];
/* gpumc_algorithm_ops.replicas */
size_t canonical_replicas(const struct gpumc_params *params);
/* gpumc_algorithm_ops.defaults */
cJSON *canonical_defaults(const struct gpumc_params *params, const struct gpumc_model *model);
void canonical_settings_read(const struct gpumc_params *params,
                             struct canonical_settings *settings);

/* Legal to free when zeroed or when making it failed. */
GPUMC_MUST_CHECK enum gpumc_status canonical_betas_make(const struct gpumc_params *params,
                                                        struct canonical_betas *betas,
                                                        struct gpumc_error *error);
void canonical_betas_free(struct canonical_betas *betas);
/* Every point is served by the temperature nearest to it. Without the block `reweight`: none. */
GPUMC_MUST_CHECK enum gpumc_status
canonical_grid_make(const struct gpumc_params *params, const struct canonical_betas *betas,
                    struct canonical_grid *grid, struct gpumc_error *error);
void canonical_grid_free(struct canonical_grid *grid);

/* Sweeps of a unit: 2^28 updates, which take two processors or a slow kernel up to a second, and a
 * measurement at least. */
uint32_t canonical_unit(const struct canonical_settings *settings, const struct gpumc_model *model,
                        size_t temperatures);
size_t canonical_threads(const struct gpumc_device *device);
size_t canonical_scratch_width(const struct canonical *canonical);

/* Sums for every temperature, and room for measurements. */
GPUMC_MUST_CHECK enum gpumc_status
canonical_sums_make(struct canonical *canonical, struct gpumc_error *error);
void canonical_sums_free(struct canonical *canonical);

/* Sweeps in all, and how many of them the time `time` has measured. */
static inline uint32_t canonical_end(const struct canonical_settings *settings)
{
  return settings->thermalization + settings->sweeps;
}
static inline uint64_t
canonical_measurements(const struct canonical_settings *settings, uint32_t time)
{
  return time > settings->thermalization ? (time - settings->thermalization) / settings->interval
                                         : 0;
}
/* Of them those that the sums of the first half contain. */
static inline uint64_t canonical_half(const struct canonical_settings *settings, uint64_t measured)
{
  const uint64_t half = settings->sweeps / settings->interval / 2;
  return measured < half ? measured : half;
}
/* Bring the measurement to the host, and from there into the sums and the time series. */
GPUMC_MUST_CHECK enum gpumc_status
canonical_fetch(struct canonical *canonical, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
canonical_digest(struct canonical *canonical, struct gpumc_error *error);

/* Declares runs/NNNN, with the time series if requested. */
GPUMC_MUST_CHECK enum gpumc_status
canonical_tables_declare(struct canonical *canonical, struct gpumc_error *error);

/* Values, errors, warnings: everything below /summary and, for merging, /runs. */
GPUMC_MUST_CHECK enum gpumc_status canonical_summarize(void *state, struct gpumc_error *error);

void canonical_quantities_make(const struct gpumc_model *model,
                               const struct gpumc_observables *observables,
                               struct canonical_quantities *quantities);

/* What mean k is made of, of `count` values of its channel. */
void canonical_moments_of(const struct gpumc_mean *mean, double unit, const int64_t *channel,
                          size_t count, double *values);

/* The points of a temperature: the temperature itself first, then those of the grid. Of each point
 * the results (canonical_quantities) and the share of the measurements that count there. */
struct canonical_estimates {
  size_t points, results;             /* results of a point, the share not included */
  double *average;                    /* of all points (canonical_estimate.c) */
  double *value, *error;              /* [points][results + 1]; the share has no error */
  struct gpumc_series_estimate *mean; /* [series] replicas together */
  bool converged;                     /* all of them */
  /* [series] it never changed: of samples, that of none of them. */
  bool still[GPUMC_MEANS_MAXIMUM];
  /* With a sample for each replica: too few of them for errors; so short a time series that what is
   * formed of each sample is still off. */
  bool unknown, biased;
};

GPUMC_MUST_CHECK enum gpumc_status
canonical_estimates_make(const struct canonical *canonical, size_t m,
                         struct canonical_estimates *estimates, struct gpumc_error *error);
/* Legal on a zeroed object. */
void canonical_estimates_free(struct canonical_estimates *estimates);

#endif
