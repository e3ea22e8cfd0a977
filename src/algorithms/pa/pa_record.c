/* Population annealing: the tables of a run, the row of one temperature, the lowest value of all
 * rows, and steps of moves. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/pa/pa_state.h"
#include "algorithms/pa/pa_rules.h"
#include "core/base/memory.h"
#include "core/numerics/power.h"
#include "core/simulation/ensemble.h"
#include "core/simulation/steps.h"

#define LABEL(n, l, u, s)                                                                          \
  {                                                                                                \
    .name = (n), .long_name = (l), .units = (u), .symbol = (s)                                     \
  }

static const struct gpumc_column further_columns[PA_FURTHER_COUNT] = {
    [PA_BETA_FREE_ENERGY] = {.label = PA_LABEL_BETA_FREE_ENERGY, .width = 1},
    [PA_ENTROPY] = {.label = PA_LABEL_ENTROPY, .width = 1},
    [PA_POPULATION] = {.label = LABEL("population", "replicas after resampling", "1", "R_i"),
                       .width = 1,
                       .integer = true},
    [PA_LOG_PARTITION_RATIO] = {.label = LABEL("log_partition_ratio",
                                               "ln Q of the step to this temperature (eq. 1)", "1",
                                               "ln Q"),
                                .width = 1},
    [PA_OVERLAP] =
        {.label =
             LABEL("overlap",
                   "overlap with the previous energy histogram (eq. 8, R the population there)",
                   "1", "α"),
         .width = 1},
    [PA_FAMILIES] = {.label = LABEL("families", "initial replicas with descendants", "1", "n_fam"),
                     .width = 1,
                     .integer = true},
    [PA_RHO_T] = {.label = LABEL("rho_t", "mean square family size, R sum n^2", "1", "ρ_t"),
                  .width = 1},
    [PA_RHO_S] = {.label = LABEL("rho_s", "entropic family size, R exp(sum n ln n)", "1", "ρ_s"),
                  .width = 1},
    /* Named after the tracked channel. */
    [PA_LOWEST] = {.width = 1},
    [PA_LOWEST_REPLICAS] = {.width = 1, .integer = true},
    [PA_LOWEST_FAMILIES] = {.width = 1, .integer = true},
};

static const struct gpumc_column block_columns[PA_BLOCK_MEANS] = {
    [PA_BLOCK_POPULATION] = {.label =
                                 LABEL("population", "replicas by block of families", "1", "R_b"),
                             .integer = true},
    [PA_BLOCK_WEIGHT] = {.label = LABEL("weight",
                                        "share of the resampling weights that led here, by block",
                                        "1", "W_b")},
};
enum { LONGEST_TEXT = 128, NAMED = 5 };

/* Texts of the labels that are named after the tracked channel; recorders copy them. */
struct named {
  char name[NAMED][LONGEST_TEXT], long_name[NAMED][LONGEST_TEXT], symbol[NAMED][LONGEST_TEXT];
};

static struct gpumc_label name_label(struct named *named, size_t i, const char *units)
{
  return (struct gpumc_label){named->name[i], named->long_name[i], units, named->symbol[i]};
}

size_t pa_run_quantities(const struct pa_settings *settings)
{
  size_t count = 0;
  for (size_t q = 0; q < settings->observables.n_quantities; q++)
    count += gpumc_quantity_is_of_each(&settings->observables, q);
  return count;
}

/* For the tracked channel per site. */
static const struct gpumc_label *tracked_label(const struct pa *pa)
{
  const struct gpumc_observables *observables = &pa->settings.observables;
  return &observables
              ->mean[gpumc_observables_power(observables, pa->context.model->ops->tracked, 1)]
              ->label;
}

static struct gpumc_column column_of(struct gpumc_label label)
{
  return (struct gpumc_column){.label = label, .width = 1};
}

/* Sums of the tracked channel are labelled as sums. */
static struct gpumc_label
sum_label(const struct pa *pa, const struct gpumc_mean *mean, struct named *named)
{
  const struct gpumc_label *value = tracked_label(pa);
  const size_t i = mean->power;
  if (mean->index != pa->context.model->ops->tracked || mean->power > 2)
    return mean->label;
  snprintf(named->name[i], LONGEST_TEXT, "%s", mean->label.name);
  snprintf(named->long_name[i], LONGEST_TEXT, "sum of the %s, by block", mean->label.long_name);
  snprintf(named->symbol[i], LONGEST_TEXT, i == 1 ? "sum %s" : "sum %s^2", value->symbol);
  return name_label(named, i, mean->label.units);
}

/* For one of the columns about the lowest value. */
static struct gpumc_label lowest_label(const struct pa *pa, size_t c, struct named *named)
{
  const char *channel =
      pa->context.model->ops->channels[pa->context.model->ops->tracked].label.name;
  const struct gpumc_label *value = tracked_label(pa);
  const size_t i = c - PA_LOWEST;
  const bool replicas = c == PA_LOWEST_REPLICAS;
  if (c == PA_LOWEST) {
    snprintf(named->name[i], LONGEST_TEXT, "lowest_%s", channel);
    snprintf(named->long_name[i], LONGEST_TEXT, "lowest %s in the population", value->long_name);
    snprintf(named->symbol[i], LONGEST_TEXT, "%s_min", value->symbol);
    return name_label(named, i, value->units);
  }
  snprintf(named->name[i], LONGEST_TEXT, "lowest_%s_%s", channel,
           replicas ? "replicas" : "families");
  snprintf(named->long_name[i], LONGEST_TEXT, "%s at the lowest %s",
           replicas ? "replicas" : "families", channel);
  snprintf(named->symbol[i], LONGEST_TEXT, "%c_min", replicas ? 'n' : 'f');
  return name_label(named, i, "1");
}

static struct gpumc_column further_column(const struct pa *pa, size_t c, struct named *named)
{
  const struct gpumc_label difference = PA_LABEL_BETA_FREE_ENERGY_DIFFERENCE;
  const struct gpumc_label ratio =
      LABEL("log_partition_ratio", "ln Q of the step to this value (eq. 1)", "1", "ln Q");
  const struct gpumc_label overlap = LABEL(
      "overlap", "overlap with the previous histogram (eq. 8, R the population there)", "1", "α");
  struct gpumc_column column = further_columns[c];
  if (c >= PA_LOWEST && c <= PA_LOWEST_FAMILIES)
    column.label = lowest_label(pa, c, named);
  if (pa_knows_partition(&pa->settings))
    return column;
  if (c == PA_BETA_FREE_ENERGY)
    column.label = difference;
  else if (c == PA_LOG_PARTITION_RATIO)
    column.label = ratio;
  else if (c == PA_OVERLAP)
    column.label = overlap;
  return column;
}

static enum gpumc_status
declare_curve(struct pa *pa, const char *group, size_t *table, struct gpumc_error *error)
{
  const struct gpumc_observables *observables = &pa->settings.observables;
  const size_t width = pa_curve_width(&pa->settings);
  struct gpumc_column *columns = NULL;
  struct named named;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&columns, width, "columns", error));
  size_t count = 0;
  columns[count++] = column_of(pa->axis);
  for (size_t q = 0; q < observables->n_quantities; q++)
    if (gpumc_quantity_is_of_each(observables, q))
      columns[count++] = column_of(gpumc_quantity_label(observables, q));
  for (size_t c = 0; c < PA_FURTHER_COUNT; c++)
    if (c != PA_ENTROPY || pa_knows_partition(&pa->settings))
      columns[count++] = further_column(pa, c, &named);
  GPUMC_TRY_OUT(status, gpumc_curve_add_table(pa->context.recorder, pa->context.model, group,
                                              columns, width, table, error));
out:
  free(columns);
  return status;
}

static enum gpumc_status
declare_blocks(struct pa *pa, const char *group, size_t *table, struct gpumc_error *error)
{
  const struct gpumc_observables *observables = &pa->settings.observables;
  const size_t count = 1 + PA_BLOCK_MEANS + observables->n_means;
  struct gpumc_column *columns = NULL;
  struct named named;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&columns, count, "columns", error));
  columns[0] = column_of(pa->axis);
  memcpy(columns + 1, block_columns, sizeof block_columns);
  for (size_t k = 0; k < observables->n_means; k++)
    columns[1 + PA_BLOCK_MEANS + k] = column_of(sum_label(pa, observables->mean[k], &named));
  for (size_t c = 1; c < count; c++) {
    columns[c].width = pa->settings.blocks;
    columns[c].across = "block";
  }
  GPUMC_TRY_OUT(status, gpumc_curve_add_table(pa->context.recorder, pa->context.model, group,
                                              columns, count, table, error));
out:
  free(columns);
  return status;
}

enum gpumc_status pa_tables_declare(struct pa *pa, struct gpumc_error *error)
{
  for (size_t m = 0; m < pa->settings.runs; m++) {
    char group[64];
    snprintf(group, sizeof group, "runs/%04zu", m);
    GPUMC_TRY(declare_curve(pa, group, &pa->tables[m].curve, error));
    snprintf(group, sizeof group, "runs/%04zu/blocks", m);
    GPUMC_TRY(declare_blocks(pa, group, &pa->tables[m].blocks, error));
  }
  return GPUMC_OK;
}

/* Returns the sum over a block of a mean's source, in quanta. */
static double block_sum(const struct gpumc_moment_sums *sums, const struct gpumc_mean *mean)
{
  if (mean->power == 1)
    return (double)(mean->absolute ? sums->absolute : sums->first);
  return (double)(mean->power == 2 ? sums->second : sums->fourth);
}

/* Fills block_row: the sums of every block. */
static void fill_blocks(struct pa *pa, const struct pa_outcome *outcome, double value)
{
  const struct gpumc_observables *observables = &pa->settings.observables;
  const size_t blocks = pa->settings.blocks;
  double *row = pa->block_row + 1;
  pa->block_row[0] = value;
  for (size_t b = 0; b < blocks; b++) {
    row[PA_BLOCK_POPULATION * blocks + b] = (double)outcome->sums[0][b].count;
    row[PA_BLOCK_WEIGHT * blocks + b] =
        outcome->total > 0 ? (double)outcome->block_weight[b] / (double)outcome->total : 0.0;
  }
  for (size_t k = 0; k < observables->n_means; k++) {
    const struct gpumc_mean *mean = observables->mean[k];
    const struct gpumc_moment_sums *sums = outcome->sums[mean->index];
    const double unit =
        gpumc_power(gpumc_mean_unit(mean, pa->context.model), mean->power, mean->absolute);
    for (size_t b = 0; b < blocks; b++)
      row[(PA_BLOCK_MEANS + k) * blocks + b] = block_sum(&sums[b], mean) * unit;
  }
}

static double block_mean(const struct pa *pa, size_t column, size_t replicas)
{
  const double *values = pa->block_row + 1 + column * pa->settings.blocks;
  double sum = 0;
  for (size_t b = 0; b < pa->settings.blocks; b++)
    sum += values[b];
  return sum / (double)replicas;
}

/* Returns where columns after the entropy are, by their numbers: one place earlier if there is no
 * entropy. */
static double *further_of(const struct pa *pa, double *row)
{
  return row + pa_curve_index(&pa->settings, PA_POPULATION) - PA_POPULATION;
}

/* rho_t = R sum n^2 and rho_s = R exp(sum n ln n), n the share of a family (Wang, Machta,
 * Katzgraber, Phys. Rev. E 92, 063307). */
static void fill_families(const struct pa *pa, const struct pa_outcome *outcome, double *row)
{
  const struct gpumc_model *model = pa->context.model;
  const double size = (double)outcome->size;
  double *further = further_of(pa, row);
  further[PA_FAMILIES] = (double)outcome->families;
  further[PA_RHO_T] = (double)outcome->square_sum / size;
  further[PA_RHO_S] = size * gpumc_exp(outcome->entropy);
  further[PA_LOWEST] =
      (double)outcome->lowest * model->quantum[model->ops->tracked] / (double)model->sites;
  further[PA_LOWEST_REPLICAS] = (double)outcome->lowest_replicas;
  further[PA_LOWEST_FAMILIES] = (double)outcome->lowest_families;
}

/* Returns ln Q (eq. 1): the mean weight, with its unit and its reference restored. */
static double
log_ratio(const struct pa *pa, const struct pa_step *step, const struct pa_outcome *outcome)
{
  const int shift = pa_weight_shift(pa_plan_whole(&pa->population.plan));
  if (step->weighing == 0.0)
    return 0.0;
  return gpumc_log((double)outcome->total) - shift * GPUMC_LN2 -
         gpumc_log((double)outcome->before) - step->weighing * (double)outcome->reference;
}

static void fill_curve(struct pa *pa, const struct pa_step *step, size_t m, double ratio)
{
  const struct gpumc_model *model = pa->context.model;
  const struct gpumc_observables *observables = &pa->settings.observables;
  const struct pa_outcome *outcome = &pa->outcome[m];
  const struct gpumc_controls controls =
      gpumc_controls_at(pa->settings.moved.fixed, pa->settings.moved.control, step->value);
  const double sites = (double)model->sites;
  double *row = pa->curve_row, *further = further_of(pa, row);
  double mean[GPUMC_MEANS_MAXIMUM];
  for (size_t k = 0; k < observables->n_means; k++)
    mean[k] = block_mean(pa, PA_BLOCK_MEANS + k, outcome->size);
  *row++ = step->value;
  for (size_t q = 0; q < observables->n_quantities; q++)
    if (gpumc_quantity_is_of_each(observables, q))
      *row++ = gpumc_quantity_value(observables, q, model, &controls, mean);
  *row++ = -pa->log_partition[m] / sites;
  if (pa_knows_partition(&pa->settings))
    *row++ = step->value * pa_conjugate_mean(&pa->settings, mean) + pa->log_partition[m] / sites;
  further[PA_POPULATION] = (double)outcome->size;
  further[PA_LOG_PARTITION_RATIO] = ratio;
  further[PA_OVERLAP] = step->weighing == 0.0 ? 1.0 : outcome->overlap;
  fill_families(pa, outcome, pa->curve_row);
}

enum gpumc_status
pa_record(struct pa *pa, const struct pa_step *step, size_t m, struct gpumc_error *error)
{
  const struct pa_outcome *outcome = &pa->outcome[m];
  const struct pa_run_tables *tables = &pa->tables[pa->batch.first + m];
  struct gpumc_recorder *recorder = pa->context.recorder;
  const double ratio = log_ratio(pa, step, outcome);
  pa->log_partition[m] += ratio;
  pa->updates += (double)outcome->size * (double)pa->context.model->sites *
                 (step->weighing != 0.0 ? pa->settings.sweeps : pa->settings.thermalization);
  fill_blocks(pa, outcome, step->value);
  fill_curve(pa, step, m, ratio);
  GPUMC_TRY(gpumc_recorder_append(recorder, tables->curve, pa->curve_row, error));
  return gpumc_recorder_append(recorder, tables->blocks, pa->block_row, error);
}

double pa_curve_value(const struct pa *pa, size_t run, size_t row, enum pa_further_column column)
{
  size_t n_rows;
  const double *rows = gpumc_recorder_rows(pa->context.recorder, pa->tables[run].curve, &n_rows);
  return rows[row * pa_curve_width(&pa->settings) + pa_curve_index(&pa->settings, column)];
}

enum gpumc_status pa_write_lowest(struct pa *pa, struct gpumc_error *error)
{
  struct gpumc_recorder *recorder = pa->context.recorder;
  double lowest = INFINITY;
  double first = 0;
  double replicas = 0;
  double families = 0;
  size_t last = pa->schedule.count - 1;
  const struct gpumc_model_ops *model = pa->context.model->ops;
  const char *channel = model->channels[model->tracked].label.name;
  char name[128];
  for (size_t m = 0; m < pa->settings.runs; m++)
    for (size_t t = 0; t <= last; t++) {
      double value = pa_curve_value(pa, m, t, PA_LOWEST);
      double at = pa->schedule.value[t];
      if (value < lowest || (value <= lowest && at < first)) {
        lowest = value;
        first = at;
      }
    }
  for (size_t m = 0; m < pa->settings.runs; m++)
    if (pa_curve_value(pa, m, last, PA_LOWEST) <= lowest) {
      replicas += pa_curve_value(pa, m, last, PA_LOWEST_REPLICAS);
      families += pa_curve_value(pa, m, last, PA_LOWEST_FAMILIES);
    }
  snprintf(name, sizeof name, "lowest_%s", channel);
  GPUMC_TRY(gpumc_recorder_number(recorder, "summary", name, lowest, error));
  snprintf(name, sizeof name, "lowest_%s_first_%s", channel, pa->axis.name);
  GPUMC_TRY(gpumc_recorder_number(recorder, "summary", name, first, error));
  snprintf(name, sizeof name, "lowest_%s_replicas", channel);
  GPUMC_TRY(gpumc_recorder_integer(recorder, "summary", name, (int64_t)replicas, error));
  snprintf(name, sizeof name, "lowest_%s_families", channel);
  return gpumc_recorder_integer(recorder, "summary", name, (int64_t)families, error);
}

/* ---- steps of moves, such as the number of Wolff's clusters in a sweep ----
 *
 * A step that is not given is tuned from one temperature to the next: that of a temperature follows
 * from the share of proposals that the run's replicas accepted at the temperature before, and stays
 * for all sweeps there. So sweeps preserve the weights of their temperature, and every run has its
 * steps to itself, whichever runs go side by side. */

bool pa_has_steps(const struct pa *pa)
{
  return pa->settings.tunes && gpumc_step_of(pa->context.ensemble) != NULL;
}

enum gpumc_status pa_steps_create(struct pa *pa, struct gpumc_error *error)
{
  const size_t batch = pa_plan_batch(&pa->population.plan);
  for (size_t slot = 0; slot < GPUMC_SLOTS && pa_has_steps(pa); slot++) {
    GPUMC_TRY(gpumc_allocate_array(&pa->step_size[slot], batch, "steps", error));
    GPUMC_TRY(gpumc_allocate_array(&pa->step_share[slot], batch, "steps", error));
  }
  return GPUMC_OK;
}

void pa_steps_free(struct pa *pa)
{
  for (size_t slot = 0; slot < GPUMC_SLOTS; slot++) {
    free(pa->step_size[slot]);
    free(pa->step_share[slot]);
  }
}

enum gpumc_status pa_steps_declare(struct pa *pa, struct gpumc_error *error)
{
  const struct gpumc_step *step = gpumc_step_of(pa->context.ensemble);
  if (!pa_has_steps(pa))
    return GPUMC_OK;
  struct gpumc_column columns[] = {{.label = pa->axis, .width = 1},
                                   {.label = step->label, .width = 1},
                                   {.label = gpumc_step_share_label(step), .width = 1}};
  for (size_t m = 0; m < pa->settings.runs; m++) {
    char group[64];
    snprintf(group, sizeof group, "runs/%04zu/steps", m);
    GPUMC_TRY(gpumc_curve_add_table(pa->context.recorder, pa->context.model, group, columns,
                                    sizeof columns / sizeof *columns, &pa->tables[m].steps, error));
  }
  return GPUMC_OK;
}

/* At the first value nothing is left to be tuned: no sweeps were made there, or they were those of
 * the thermalization, during which it was. */
enum gpumc_status pa_steps_take(struct pa *pa, struct gpumc_error *error)
{
  struct gpumc_ensemble *ensemble = pa->context.ensemble;
  const size_t slot = pa->row % GPUMC_SLOTS;
  uint32_t *size = NULL;
  if (!pa_has_steps(pa))
    return GPUMC_OK;
  const uint32_t sweeps = pa->row > 0 ? pa->settings.sweeps : 0;
  for (size_t m = 0; m < pa->batch.count; m++)
    pa->step_size[slot][m] = ensemble->time > 0 ? ensemble->step[m] : NAN;
  GPUMC_TRY(gpumc_allocate_array(&size, ensemble->runs, "numbers of replicas", error));
  enum gpumc_status status = gpumc_ensemble_whole_sizes(ensemble, size, error);
  if (status == GPUMC_OK)
    status = gpumc_steps_follow(ensemble, sweeps, size, pa->step_share[slot], error);
  free(size);
  return status;
}

enum gpumc_status
pa_steps_record(struct pa *pa, double value, size_t row, size_t m, struct gpumc_error *error)
{
  const size_t slot = row % GPUMC_SLOTS;
  if (!pa_has_steps(pa))
    return GPUMC_OK;
  const double values[] = {value, pa->step_size[slot][m], pa->step_share[slot][m]};
  return gpumc_recorder_append(pa->context.recorder, pa->tables[pa->batch.first + m].steps, values,
                               error);
}
