/* Population annealing: declarations shared by its files. Equations are those of Barash et al.,
 * Comput. Phys. Commun. 220, 341 (2017). */
#ifndef GPUMC_ALGORITHMS_PA_STATE_H
#define GPUMC_ALGORITHMS_PA_STATE_H

#include "algorithms/pa/pa_population.h"
#include "core/simulation/algorithm.h"
#include "core/simulation/configurations.h"
#include "core/simulation/curves.h"
#include "core/simulation/ladder.h"
#include "core/simulation/observables.h"

/* Runs are distributed over strata, so that there are few jackknife samples however many runs there
 * are. */
enum {
  PA_ROWS_MAXIMUM = 1000000,
  PA_VALUES_MAXIMUM = 10000,
  PA_STRATA_MAXIMUM = 16,
  PA_RUN_GROUPS_MAXIMUM = 256,
  PA_CONFIGURATIONS_LABELS = 5 /* columns beside each configuration */
};

/* Stages of the device's time, named in pa.c. */
enum pa_stage {
  PA_STAGE_OTHER = GPUMC_STAGE_OTHER,
  PA_STAGE_RESAMPLE,
  PA_STAGE_GATHER,
  PA_STAGE_SWEEP,
  PA_STAGE_TALLY
};

/* Columns of the table runs/NNNN, in this order: the moved control, the quantities that are
 * computed for each run by itself, and these; without the entropy if only the change of ln Z is
 * known. */
enum pa_further_column {
  PA_BETA_FREE_ENERGY,
  PA_ENTROPY,
  PA_POPULATION,
  PA_LOG_PARTITION_RATIO,
  PA_OVERLAP,
  PA_FAMILIES,
  PA_RHO_T,
  PA_RHO_S,
  PA_LOWEST,
  PA_LOWEST_REPLICAS,
  PA_LOWEST_FAMILIES,
  PA_FURTHER_COUNT,
};

/* Columns of the table runs/NNNN/blocks after the moved control, each of width `blocks`: replicas,
 * the share of the weights that led here, and sums over the block's replicas of the sources of the
 * means. */
enum pa_block_column { PA_BLOCK_POPULATION, PA_BLOCK_WEIGHT, PA_BLOCK_MEANS };

/* Labels of quantities that only population annealing reports, initialisers of struct
 * gpumc_label. */
#define PA_LABEL_BETA_FREE_ENERGY                                                                  \
  {                                                                                                \
    "beta_free_energy",                                                                            \
        "free energy over kT per site or particle, -ln(Z)/N, Z the sum of the weights of all "     \
        "states" GPUMC_COUNTED,                                                                    \
        "1", "βF/N"                                                                               \
  }
#define PA_LABEL_BETA_FREE_ENERGY_DIFFERENCE                                                       \
  {                                                                                                \
    "beta_free_energy_difference",                                                                 \
        "free energy over kT per site or particle, -ln(Z)/N, minus that at the first value, Z "    \
        "the sum of the weights of all states",                                                    \
        "1", "βΔF/N"                                                                             \
  }
#define PA_LABEL_ENTROPY                                                                           \
  {                                                                                                \
    "entropy", "entropy per site" GPUMC_COUNTED, "k_B", "S/N"                                      \
  }

/* Settings from the configuration. */
struct pa_settings {
  struct gpumc_moved moved; /* the annealed control */
  /* Sweeps of every replica at the first value, unless that is beta = 0, where every state has the
   * same weight and all replicas are drawn. */
  uint32_t thermalization;
  size_t population; /* R */
  uint32_t sweeps;   /* theta */
  bool tunes;        /* a move was chosen, and its step, if it has one, is tuned (pa_record.c) */
  size_t runs;       /* M */
  size_t blocks;     /* of families in a run, for the errors */
  size_t strata;     /* run m belongs to stratum m mod strata: one per run, unless there are many */
  size_t run_groups; /* for the jackknife over runs: one per run, unless there are many */
  enum pa_resampling resampling;
  bool adaptive;
  double overlap; /* alpha*, adaptive only */
  double end;     /* the last value */
  struct gpumc_observables observables;
  bool reweight;
};

/* The values of the moved control known so far, ascending: all of them unless adaptive. */
struct pa_schedule {
  const char *block; /* of the keys that give them */
  double *value;
  size_t count, capacity;
};

struct pa_run_tables {
  size_t curve, blocks, steps;
};

/* Parameters of one temperature step, for the rows of the runs. */
struct pa_step {
  double value;
  /* Difference of the coefficients (gpumc_moved_coefficient) times the quantum of the conjugate
   * channel: for beta, times that of the energy; 0 at the start. */
  double weighing;
};

/* The runs first .. first+count-1 go through the temperatures together. */
struct pa_batch {
  size_t first, count;
};

struct pa {
  struct gpumc_context context;
  struct pa_settings settings;
  struct gpumc_label axis;  /* of the control that is moved */
  char axis_of_summary[64]; /* its path */
  struct pa_schedule schedule;
  struct pa_run_tables *tables; /* [runs] */
  struct pa_population population;
  struct pa_batch batch; /* the current one; count 0: all are done */
  size_t batch_runs;     /* maximum for the next one; that of a checkpoint may have more */
  size_t row;            /* to be made next */
  bool tallied;          /* the population knows the ensemble's energies */
  /* The row before `row` is pending: made, but not yet recorded. */
  bool pending;
  struct pa_step step;
  struct pa_outcome *outcome; /* [runs of a batch] */
  size_t *counts;             /* [processes] bytes of messages, if runs are divided (pa_runs.h) */
  double *log_partition;      /* [runs of a batch] ln Z, eq. 4, or its change, as recorded */
  double updates;             /* as recorded */
  double *curve_row, *block_row;
  /* Of moves with a step: its size in each run of a batch at the rows that are pending, by slots,
   * and the share of proposals accepted; NULL: there is none (pa_record.c). */
  double *step_size[GPUMC_SLOTS], *step_share[GPUMC_SLOTS];
  struct gpumc_configurations_request request;
  struct gpumc_configurations configurations;
};

/* Returns whether ln Z is known, starting from beta = 0; otherwise only its change since the first
 * value is. */
static inline bool pa_knows_partition(const struct pa_settings *settings)
{
  return settings->moved.beta;
}
/* Returns ln Z at the first value, or 0 if changes count from there. */
static inline double
pa_first_log_partition(const struct pa_settings *settings, const struct gpumc_model *model)
{
  return pa_knows_partition(settings) ? model->log_states : 0;
}
/* Returns the spectrum of the tracked channel, whose histograms are used for reweighting. */
static inline const struct gpumc_grid *pa_spectrum(const struct gpumc_model *model)
{
  return &model->grid[model->ops->tracked];
}
/* Returns the mean of the conjugate channel per site among those of a run or an average. */
static inline double pa_conjugate_mean(const struct pa_settings *settings, const double *mean)
{
  return mean[gpumc_observables_power(&settings->observables, settings->moved.conjugate, 1)];
}
/* Returns the number of quantities that are computed for each run by itself. */
size_t pa_run_quantities(const struct pa_settings *settings);
static inline size_t
pa_curve_index(const struct pa_settings *settings, enum pa_further_column column)
{
  const bool shifted = column > PA_ENTROPY && !pa_knows_partition(settings);
  return 1 + pa_run_quantities(settings) + (size_t)column - shifted;
}

static inline size_t pa_curve_width(const struct pa_settings *settings)
{
  return pa_curve_index(settings, PA_FURTHER_COUNT);
}

static inline size_t pa_block_width(const struct pa_settings *settings)
{
  return 1 + (PA_BLOCK_MEANS + settings->observables.n_means) * settings->blocks;
}

extern const struct gpumc_key pa_keys[];
extern const struct gpumc_check pa_checks[];
/* gpumc_algorithm_ops.warn: populations that begin where states may be metastable. */
GPUMC_MUST_CHECK enum gpumc_status
pa_warn(const struct gpumc_params *params, const struct gpumc_model *model,
        const struct gpumc_kernel_ops *kernel, const char **name, char text[GPUMC_WARNING_BYTES],
        struct gpumc_error *error);
cJSON *pa_defaults(const struct gpumc_params *params, const struct gpumc_model *model);
/* gpumc_algorithm_ops.replicas */
size_t pa_replicas(const struct gpumc_params *params);
void pa_settings_read(const struct gpumc_params *params, const struct gpumc_model *model,
                      struct pa_settings *settings);
/* Returns the most replicas that a run can have: the target and twenty standard deviations of
 * rounding. */
size_t pa_capacity(size_t population);

/* Returns the most runs of a batch if `processes` processes may have runs of their own: that many
 * times the runs of one of them, which follows from the configuration alone, never from the
 * device. */
size_t pa_batch_runs(const struct pa_settings *settings, const struct gpumc_model *model,
                     size_t processes);
/* Returns how many runs need room side by side: at least those that a checkpoint has in progress,
 * and no more than are left. */
size_t pa_batch_room(const struct pa_settings *settings, const struct gpumc_model *model,
                     const struct gpumc_spread *spread);
/* Returns the batch that begins with run `first`, of at most `most` runs: in adaptive runs the
 * first one is alone, since it finds the temperatures of the others. */
struct pa_batch pa_batch_from(const struct pa_settings *settings, size_t most, size_t first);
/* Returns the plan for batches of `runs`, in a schedule with this first value. */
struct pa_population_plan pa_population_plan(const struct pa_settings *settings,
                                             const struct gpumc_model *model, size_t runs,
                                             double first);

/* Makes the values that the configuration fixes, for beta from 0 on; adaptive: only the first. */
GPUMC_MUST_CHECK enum gpumc_status pa_schedule_make(const struct gpumc_params *params,
                                                    struct pa_schedule *schedule,
                                                    struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
pa_schedule_append(struct pa_schedule *schedule, double value, struct gpumc_error *error);

/* Returns whether the populations of a row are requested, in a schedule that ends at the value
 * `last`. */
bool pa_has_configurations(const struct gpumc_configurations_request *request, const double *value,
                           size_t row, double last);
GPUMC_MUST_CHECK enum gpumc_status
pa_demand(const struct gpumc_params *params, const struct gpumc_model *model,
          const struct gpumc_device *device, const struct gpumc_spread *spread,
          struct gpumc_demand *demanded, struct gpumc_error *error);

/* Steps of moves (pa_record.c): room for them, which needs the tables of runs; the tables
 * runs/NNNN/steps; after the sweeps of row pa->row, its steps, which gives those of the next one;
 * and what the row of a run adds to its table. All do nothing if no step is tuned. */
GPUMC_MUST_CHECK enum gpumc_status pa_steps_create(struct pa *pa, struct gpumc_error *error);
void pa_steps_free(struct pa *pa);
GPUMC_MUST_CHECK enum gpumc_status pa_steps_declare(struct pa *pa, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status pa_steps_take(struct pa *pa, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status pa_steps_record(struct pa *pa, double value, size_t row,
                                                   size_t m, struct gpumc_error *error);
bool pa_has_steps(const struct pa *pa);

/* Declares runs/NNNN and runs/NNNN/blocks for every run. */
GPUMC_MUST_CHECK enum gpumc_status pa_tables_declare(struct pa *pa, struct gpumc_error *error);
/* Appends the findings for run m of the batch to both its tables; updates ln Z and updates. */
GPUMC_MUST_CHECK enum gpumc_status
pa_record(struct pa *pa, const struct pa_step *step, size_t m, struct gpumc_error *error);
/* Returns a recorded value. */
double pa_curve_value(const struct pa *pa, size_t run, size_t row, enum pa_further_column column);
/* Writes to the summary the lowest value of the tracked channel, of all runs and rows, the first
 * value of the moved control where a run saw it, and how many hold it at the last. */
GPUMC_MUST_CHECK enum gpumc_status pa_write_lowest(struct pa *pa, struct gpumc_error *error);
/* gpumc_algorithm_ops.merger (pa_merge.c) */
extern const struct gpumc_merger pa_merger;
/* gpumc_algorithm_ops.save and load */
GPUMC_MUST_CHECK enum gpumc_status
pa_save(const void *state, struct gpumc_checkpoint_writer *writer, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status pa_load(void *state, struct gpumc_checkpoint_reader *reader,
                                           bool *finished, struct gpumc_error *error);

/* Adds up the histograms of all processes in the root, and clears those of the others. */
GPUMC_MUST_CHECK enum gpumc_status pa_gather_bins(const struct pa *pa, struct gpumc_error *error);

GPUMC_MUST_CHECK enum gpumc_status
pa_configurations_declare(struct pa *pa, struct gpumc_error *error);
/* Writes the populations of the row pa->row as measured, if requested; waits for them. */
GPUMC_MUST_CHECK enum gpumc_status
pa_configurations_write(struct pa *pa, struct gpumc_error *error);
/* Averages over runs, errors, warnings, reweighting: everything below /summary. */
GPUMC_MUST_CHECK enum gpumc_status pa_summarize(void *state, struct gpumc_error *error);

#endif
