/* Population annealing: what its files share. Equations are those of Barash et al., Comput. Phys.
 * Commun. 220, 341 (2017). */
#ifndef GPUMC_ALGORITHMS_PA_STATE_H
#define GPUMC_ALGORITHMS_PA_STATE_H

#include "core/algorithm.h"

/* Runs are dealt into strata, so that the jackknife samples stay few however many runs there are.
 */
enum { PA_BETA_ROWS_MAXIMUM = 1000000, PA_STRATA_MAXIMUM = 16, PA_RUN_GROUPS_MAXIMUM = 256 };

/* Columns of the table runs/NNNN, in this order; the model's observables stand between. */
enum pa_column {
  PA_BETA,
  PA_ENERGY,
  PA_SPECIFIC_HEAT,
  PA_OBSERVABLES, /* first of the model's; the others follow behind them */
};
enum pa_column_behind {
  PA_BETA_FREE_ENERGY,
  PA_ENTROPY,
  PA_POPULATION,
  PA_LOG_PARTITION_RATIO,
  PA_OVERLAP,
  PA_FAMILIES,
  PA_RHO_T,
  PA_RHO_S,
  PA_LOWEST_ENERGY,
  PA_LOWEST_ENERGY_REPLICAS,
  PA_LOWEST_ENERGY_FAMILIES,
  PA_BEHIND_COUNT,
};

/* Columns of the table runs/NNNN/blocks behind beta, each of width `blocks`: replicas, the share of
 * the weights that led here, and sums over the block's replicas of e, e^2 and the observables. */
enum pa_block_column {
  PA_BLOCK_POPULATION,
  PA_BLOCK_WEIGHT,
  PA_BLOCK_ENERGY,
  PA_BLOCK_ENERGY2,
  PA_BLOCK_OBSERVABLES,
};

/* What the configuration says. `beta`: the temperatures known so far, all of them unless adaptive.
 */
struct pa_settings {
  size_t population; /* R */
  uint32_t sweeps;   /* theta */
  size_t runs;       /* M */
  size_t blocks;     /* of families in a run, for the errors */
  size_t strata;     /* run m belongs to stratum m mod strata: each run its own, unless many */
  size_t run_groups; /* for the jackknife over runs: each run its own, unless many */
  enum gpumc_resampling resampling;
  bool adaptive;
  double overlap; /* alpha*, adaptive only */
  double beta_end;
  bool reweight;
  double reweight_from, reweight_to, reweight_step;
};

struct pa_schedule {
  double *beta;
  size_t count, capacity;
};

struct pa_run_tables {
  size_t curve, blocks;
};

struct pa {
  struct gpumc_context context;
  struct pa_settings settings;
  struct pa_schedule schedule;
  struct pa_run_tables *tables; /* [runs] */
  size_t run, row;              /* the row to be made next */
  bool measured;                /* channel[] belong to the ensemble as it is */
  double log_partition;         /* ln Z at the current beta (eq. 4) */
  double updates;
  /* Device memory, [capacity] each; bins[strata][blocks][levels] when reweighting. */
  int64_t *channel[GPUMC_CHANNELS_MAXIMUM];
  uint64_t *weight;
  uint32_t *parent, *scratch, *family;
  uint64_t *bins;
  /* Host memory. */
  struct gpumc_moment_sums *sums; /* [blocks] */
  uint64_t *block_weight;         /* [blocks] */
  uint32_t *family_sizes;         /* [capacity + 1] */
  double *curve_row, *block_row;
  char energy2_unit[48];
};

/* What one resampling step was, for the row. */
struct pa_step {
  double beta;
  double log_ratio; /* ln Q (eq. 1) */
  double overlap;   /* alpha (eq. 8) */
};

static inline size_t pa_curve_width(const struct gpumc_model_ops *model)
{
  return PA_OBSERVABLES + model->n_observables + PA_BEHIND_COUNT;
}

static inline size_t
pa_curve_index(const struct gpumc_model_ops *model, enum pa_column_behind column)
{
  return PA_OBSERVABLES + model->n_observables + (size_t)column;
}

static inline size_t pa_block_width(const struct gpumc_model_ops *model, size_t blocks)
{
  return 1 + (PA_BLOCK_OBSERVABLES + model->n_observables) * blocks;
}

extern const struct gpumc_key pa_keys[];
void pa_check(const struct gpumc_params *params, const struct gpumc_model_ops *model,
              const struct gpumc_params *model_params, struct gpumc_report *report);
void pa_check_instance(const struct gpumc_params *params, const struct gpumc_model *model,
                       struct gpumc_report *report);
void pa_settings_read(const struct gpumc_params *params, struct pa_settings *settings);
/* Replicas a run has at the most: the target and twenty standard deviations of rounding. */
size_t pa_capacity(size_t population);

/* The temperatures that the configuration fixes: beta = 0 first; adaptive: only that. */
GPUMC_MUST_CHECK enum gpumc_status pa_schedule_make(const struct gpumc_params *params,
                                                    struct pa_schedule *schedule,
                                                    struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
pa_schedule_append(struct pa_schedule *schedule, double beta, struct gpumc_error *error);

GPUMC_MUST_CHECK enum gpumc_status
pa_demand(const struct gpumc_params *params, const struct gpumc_model *model,
          struct gpumc_demand *demanded, struct gpumc_error *error);

/* Declare runs/NNNN and runs/NNNN/blocks for every run. */
GPUMC_MUST_CHECK enum gpumc_status pa_tables_declare(struct pa *pa, struct gpumc_error *error);
/* Measure sums over the population and append the row of the current temperature to both tables. */
GPUMC_MUST_CHECK enum gpumc_status
pa_record(struct pa *pa, const struct pa_step *step, struct gpumc_error *error);
/* A recorded value. */
double pa_curve_value(const struct pa *pa, size_t run, size_t row, enum pa_column_behind column);
/* Draw a run's population at beta = 0 and record it; take the next temperature step and record it.
 */
GPUMC_MUST_CHECK enum gpumc_status pa_start_run(struct pa *pa, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status pa_anneal(struct pa *pa, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status pa_measure(struct pa *pa, struct gpumc_error *error);

/* Averages over runs, errors, warnings, reweighting: everything below /summary. */
GPUMC_MUST_CHECK enum gpumc_status pa_summarize(void *state, struct gpumc_error *error);

#endif
