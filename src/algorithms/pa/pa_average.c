/* Population annealing: averages over runs.
 *
 * Families (the descendants of one initial replica) are independent of each other but for the
 * common normalisation, so leaving a block of families out of a run is a jackknife sample of the
 * run: means without its replicas, and Q without its weights. The influence of resampling noise on
 * ln Z cancels in each Q as it does in the run itself. */
#include "algorithms/pa/pa_average.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/numerics/elementary.h"
#include "core/simulation/algorithm.h"
#include "core/simulation/curves.h"
#include "core/statistics/significance.h"

/* A share this near to nothing is the rounding of 1 - 1. */
static const double least_share = 1e-12;

enum gpumc_status
pa_average_init(const struct pa *pa, struct pa_average *average, struct gpumc_error *error)
{
  size_t estimates = pa->settings.runs * (pa->settings.blocks + 1);
  memset(average, 0, sizeof *average);
  average->pa = pa;
  average->row = SIZE_MAX;
  average->n_means = pa->settings.observables.n_means;
  GPUMC_TRY(gpumc_allocate_array(&average->log_partition, estimates, "averages", error));
  GPUMC_TRY(gpumc_allocate_array(&average->mean, estimates * average->n_means, "averages", error));
  return gpumc_allocate_array(&average->weight, pa->settings.runs, "averages", error);
}

void pa_average_free(struct pa_average *average)
{
  free(average->log_partition);
  free(average->mean);
  free(average->weight);
  memset(average, 0, sizeof *average);
}

/* Column `column` of the blocks at a row: [blocks]. */
static const double *
block_values(const struct pa_average *average, size_t run, size_t row, size_t column)
{
  size_t n_rows;
  const struct pa *pa = average->pa;
  const double *rows = gpumc_recorder_rows(pa->context.recorder, pa->tables[run].blocks, &n_rows);
  return rows + row * pa_block_width(&pa->settings) + 1 + column * pa->settings.blocks;
}

static double sum(const double *values, size_t n)
{
  double total = 0;
  for (size_t i = 0; i < n; i++)
    total += values[i];
  return total;
}

/* ln Q without block b: the weights without its weight over the replicas without its replicas. A
 * block that is everything cannot be left out. */
static void advance_partition(struct pa_average *average, size_t run)
{
  const struct pa *pa = average->pa;
  size_t blocks = pa->settings.blocks;
  double *log_partition = average->log_partition + run * (blocks + 1);
  if (average->row == 0) {
    for (size_t b = 0; b <= blocks; b++)
      log_partition[b] = pa_first_log_partition(&pa->settings, pa->context.model);
    return;
  }
  double log_ratio = pa_curve_value(pa, run, average->row, PA_LOG_PARTITION_RATIO);
  const double *population = block_values(average, run, average->row - 1, PA_BLOCK_POPULATION);
  const double *weight = block_values(average, run, average->row, PA_BLOCK_WEIGHT);
  double replicas = sum(population, blocks);
  log_partition[0] += log_ratio;
  for (size_t b = 0; b < blocks; b++) {
    double weight_kept = 1.0 - weight[b];
    double replicas_kept = 1.0 - population[b] / replicas;
    bool all = !(weight_kept > least_share) || !(replicas_kept > least_share);
    log_partition[b + 1] +=
        log_ratio + (all ? 0.0 : gpumc_log(weight_kept) - gpumc_log(replicas_kept));
  }
}

static void find_means(struct pa_average *average, size_t run)
{
  const struct pa *pa = average->pa;
  size_t blocks = pa->settings.blocks;
  const double *population = block_values(average, run, average->row, PA_BLOCK_POPULATION);
  double replicas = sum(population, blocks);
  for (size_t k = 0; k < average->n_means; k++) {
    const double *values = block_values(average, run, average->row, PA_BLOCK_MEANS + k);
    double total = sum(values, blocks);
    double *mean = average->mean + run * (blocks + 1) * average->n_means + k;
    mean[0] = total / replicas;
    for (size_t b = 0; b < blocks; b++) {
      double kept = replicas - population[b];
      mean[(b + 1) * average->n_means] = kept > 0 ? (total - values[b]) / kept : mean[0];
    }
  }
}

void pa_average_next(struct pa_average *average)
{
  average->row++;
  for (size_t m = 0; m < average->pa->settings.runs; m++) {
    advance_partition(average, m);
    find_means(average, m);
  }
}

static bool
run_is_left_out(const struct pa_average *average, struct pa_left_out left_out, size_t run)
{
  return left_out.run_group != PA_NONE &&
         run % average->pa->settings.run_groups == left_out.run_group;
}

/* Which of a run's estimates serves. */
static size_t estimate_of(const struct pa_average *average, struct pa_left_out left_out, size_t run)
{
  size_t blocks = average->pa->settings.blocks;
  bool without =
      left_out.stratum != PA_NONE && run % average->pa->settings.strata == left_out.stratum;
  return run * (blocks + 1) + (without ? left_out.block + 1 : 0);
}

/* weight[m] of eq. 7 and ln of the mean of Z over the runs used. */
static double find_weights(struct pa_average *average, struct pa_left_out left_out)
{
  size_t runs = average->pa->settings.runs;
  double largest = -INFINITY;
  double total = 0;
  double used = 0;
  for (size_t m = 0; m < runs; m++) {
    double log_partition = average->log_partition[estimate_of(average, left_out, m)];
    if (!run_is_left_out(average, left_out, m) && log_partition > largest)
      largest = log_partition;
  }
  for (size_t m = 0; m < runs; m++) {
    double log_partition = average->log_partition[estimate_of(average, left_out, m)];
    bool absent = run_is_left_out(average, left_out, m);
    average->weight[m] = absent ? 0.0 : gpumc_exp(log_partition - largest);
    total += average->weight[m];
    used += !absent;
  }
  for (size_t m = 0; m < runs; m++)
    average->weight[m] /= total;
  return largest + gpumc_log(total / used);
}

/* The weights of eq. 7 of the runs at the row, as average->weight. */
static void average_weigh(struct pa_average *average)
{
  (void)find_weights(average, (struct pa_left_out){PA_NONE, PA_NONE, PA_NONE});
}

void pa_average_means(struct pa_average *average, struct pa_left_out left_out, double *mean)
{
  const double log_partition = find_weights(average, left_out);
  memset(mean, 0, average->n_means * sizeof *mean);
  for (size_t m = 0; m < average->pa->settings.runs; m++) {
    const double *of_run = average->mean + estimate_of(average, left_out, m) * average->n_means;
    for (size_t k = 0; k < average->n_means; k++)
      mean[k] += average->weight[m] * of_run[k];
  }
  mean[average->n_means] = log_partition;
}

double pa_average_block_population(const struct pa_average *average, size_t stratum, size_t block)
{
  double population = 0;
  for (size_t m = stratum; m < average->pa->settings.runs; m += average->pa->settings.strata)
    population += block_values(average, m, average->row, PA_BLOCK_POPULATION)[block];
  return population;
}

/* ---- the quantities at a point, from an average ---- */

static struct gpumc_controls controls_of(const struct pa_point *point)
{
  const struct gpumc_moved *moved = &point->pa->settings.moved;
  return gpumc_controls_at(moved->fixed, moved->control, point->value);
}

/* The inverse temperature times the energy, or what it stands before, per site. */
static double beta_energy_of(const struct pa_point *point, const double *mean)
{
  return point->value * pa_conjugate_mean(&point->pa->settings, mean);
}

/* From an average: the quantities of the model, F and S. */
static void results_of_average(const void *state, const double *mean, double *result)
{
  const struct pa_point *point = state;
  const struct gpumc_observables *observables = &point->pa->settings.observables;
  const struct gpumc_controls controls = controls_of(point);
  const double sites = (double)point->pa->context.model->sites;
  const double log_partition = mean[observables->n_means];
  double *behind = result + observables->n_quantities;
  for (size_t q = 0; q < observables->n_quantities; q++)
    result[q] = gpumc_quantity_value(observables, q, point->pa->context.model, &controls, mean);
  behind[PA_Q_BETA_FREE_ENERGY] = -log_partition / sites;
  if (pa_knows_partition(&point->pa->settings))
    behind[PA_Q_ENTROPY] = beta_energy_of(point, mean) + log_partition / sites;
}

/* By how large the numbers are that a quantity is formed of. */
static void roundings_of_average(const void *state, const double *mean, double *rounding)
{
  const struct pa_point *point = state;
  const struct pa *pa = point->pa;
  const struct gpumc_observables *observables = &pa->settings.observables;
  const struct gpumc_controls controls = controls_of(point);
  const double free_energy = fabs(mean[observables->n_means]) / (double)pa->context.model->sites;
  double *behind = rounding + observables->n_quantities;
  for (size_t q = 0; q < observables->n_quantities; q++)
    rounding[q] = gpumc_rounding(
        point->terms, gpumc_quantity_scale(observables, q, pa->context.model, &controls, mean));
  behind[PA_Q_BETA_FREE_ENERGY] = gpumc_rounding(point->terms, free_energy);
  if (pa_knows_partition(&pa->settings))
    behind[PA_Q_ENTROPY] =
        gpumc_rounding(point->terms, fabs(beta_energy_of(point, mean)) + free_energy);
}

bool pa_quantity_is_known(const struct pa_point *point, size_t q)
{
  const struct gpumc_observables *observables = &point->pa->settings.observables;
  const struct gpumc_controls controls = controls_of(point);
  return q < observables->n_quantities
             ? gpumc_quantity_is_known(observables, q, point->pa->context.model, &controls)
             : point->is_first;
}

static bool is_known(const void *state, size_t q)
{
  return pa_quantity_is_known(state, q);
}

enum gpumc_status pa_estimate(const struct pa_point *point, const double *mean,
                              const struct gpumc_replicates *of, size_t n_of, double *value,
                              double *error_of, struct gpumc_variance *variance,
                              struct gpumc_error *error)
{
  const struct gpumc_estimator estimator = {.width = pa_average_width(&point->pa->settings),
                                            .n_results = pa_quantities(&point->pa->settings),
                                            .state = point,
                                            .results = results_of_average,
                                            .roundings = roundings_of_average,
                                            .is_known = is_known};
  return gpumc_estimate(&estimator, mean, of, n_of, value, error_of, variance, error);
}

struct gpumc_label pa_quantity_label(const struct pa_settings *settings, size_t q)
{
  static const struct gpumc_label difference = PA_LABEL_BETA_FREE_ENERGY_DIFFERENCE;
  static const struct gpumc_label behind[] = {
      [PA_Q_BETA_FREE_ENERGY] = PA_LABEL_BETA_FREE_ENERGY, [PA_Q_ENTROPY] = PA_LABEL_ENTROPY};
  const size_t own = settings->observables.n_quantities;
  if (q < own)
    return gpumc_quantity_label(&settings->observables, q);
  return pa_knows_partition(settings) ? behind[q - own] : difference;
}

/* ---- whether the averages can be trusted ---- */

/* Effective families, R/rho_t of a single run (Wang, Machta, Katzgraber 2015). */
static const double families_needed = 100.0;

enum gpumc_status pa_trust_init(struct pa_trust *trust, struct pa *pa, struct gpumc_error *error)
{
  memset(trust, 0, sizeof *trust);
  trust->pa = pa;
  trust->temperatures = pa->schedule.count;
  trust->watched = gpumc_observables_reported(
      &pa->settings.observables,
      gpumc_observables_power(&pa->settings.observables, pa->context.model->ops->tracked, 1));
  GPUMC_TRY(gpumc_allocate_array(&trust->families, trust->temperatures, "the summary", error));
  GPUMC_TRY(gpumc_allocate_array(&trust->determined, trust->temperatures, "the summary", error));
  GPUMC_TRY(gpumc_allocate_array(&trust->chance, trust->temperatures, "the summary", error));
  for (size_t t = 0; t < trust->temperatures; t++)
    trust->determined[t] = trust->chance[t] = 1;
  return GPUMC_OK;
}

static const char *tracked_name(const struct pa_trust *trust)
{
  const struct gpumc_model_ops *model = trust->pa->context.model->ops;
  return model->channels[model->tracked].label.name;
}

void pa_trust_free(struct pa_trust *trust)
{
  free(trust->families);
  free(trust->determined);
  free(trust->chance);
}

void pa_trust_regard_quantity(struct pa_trust *trust, size_t row, size_t q,
                              struct gpumc_variance by_block, struct gpumc_variance by_run)
{
  /* The same events make the blocks and the runs scatter: they count once. */
  if (q == trust->watched && !gpumc_trust_freedom(by_block.freedom))
    trust->determined[row] = 0;
  const double chance =
      gpumc_fisher_tail(by_run.value / by_block.value, by_run.freedom, by_block.freedom);
  trust->chance[row] = fmin(trust->chance[row], chance);
}

/* A family's share of the average is that of its run, times that in its run; 1 over the sum of the
 * squares of all shares is the number of equal families that would scatter as much. */
void pa_trust_regard_families(struct pa_trust *trust, struct pa_average *average)
{
  const struct pa *pa = trust->pa;
  double squares = 0;
  average_weigh(average);
  for (size_t m = 0; m < pa->settings.runs; m++) {
    const double replicas = pa_curve_value(pa, m, average->row, PA_POPULATION);
    const double rho = pa_curve_value(pa, m, average->row, PA_RHO_T);
    squares += average->weight[m] * average->weight[m] * rho / replicas;
  }
  trust->families[average->row] = 1 / squares;
}

static enum gpumc_status write_curves(const struct pa_trust *trust, struct gpumc_error *error)
{
  const struct gpumc_label families = {
      "effective_families", "number of equal families that scatter as those of all runs", "1", "n"};
  char determined_where[128];
  snprintf(determined_where, sizeof determined_where,
           "1 where the %s fluctuates often enough to know its error", tracked_name(trust));
  const struct gpumc_label determined = {"determined", determined_where, "1", ""};
  const struct gpumc_curve_place place = {.recorder = trust->pa->context.recorder,
                                          .model = trust->pa->context.model,
                                          .group = "summary",
                                          .axis = {trust->pa->axis_of_summary},
                                          .count = {trust->temperatures}};
  GPUMC_TRY(gpumc_curve_write(&place, &families, false, trust->families, error));
  return gpumc_curve_write(&place, &determined, true, trust->determined, error);
}

static void warn(const struct pa_trust *trust, struct gpumc_text *all, const char *text)
{
  gpumc_text_append(all, "%s%s", all->length == 0 ? "" : "; ", text);
  gpumc_observer_tell(trust->pa->context.observer, GPUMC_WARNING, text);
}

static void warn_of_families(const struct pa_trust *trust, double families, struct gpumc_text *all)
{
  char text[256];
  if (families > families_needed)
    return;
  snprintf(text, sizeof text,
           "the replicas of all runs scatter like %.4g independent families, and more "
           "than %g are needed: averages may be biased and errors too small; use a larger "
           "population, more runs, more sweeps or smaller steps",
           families, families_needed);
  warn(trust, all, text);
}

static void warn_of_events(const struct pa_trust *trust, struct gpumc_text *all)
{
  char text[256], where[GPUMC_FAILING_BYTES];
  if (gpumc_trust_failing(trust->determined, trust->pa->axis.name, trust->pa->schedule.value,
                          trust->temperatures, true, where) == 0)
    return;
  snprintf(text, sizeof text,
           "at %s, the %s fluctuates in too few families to know its error; use a larger "
           "population or stay %s",
           where, tracked_name(trust),
           gpumc_moves_beta(&trust->pa->settings.moved) ? "above these temperatures"
                                                        : "away from these values");
  warn(trust, all, text);
}

static void warn_of_runs(const struct pa_trust *trust, size_t worst, struct gpumc_text *all)
{
  char text[192];
  snprintf(text, sizeof text,
           "the runs contradict each other at %s = %g: they scatter more than their families "
           "explain; use a larger population, more sweeps or smaller steps",
           trust->pa->axis.name, trust->pa->schedule.value[worst]);
  warn(trust, all, text);
}

enum gpumc_status pa_trust_write(const struct pa_trust *trust, struct gpumc_error *error)
{
  const struct pa *pa = trust->pa;
  struct gpumc_text all = {0};
  double rho = 0, families = INFINITY;
  size_t worst = 0;
  for (size_t t = 0; t < trust->temperatures; t++) {
    for (size_t m = 0; m < pa->settings.runs; m++)
      rho = fmax(rho, pa_curve_value(pa, m, t, PA_RHO_T));
    families = fmin(families, trust->families[t]);
    worst = trust->chance[t] < trust->chance[worst] ? t : worst;
  }
  const double comparisons = (double)(trust->temperatures * pa_quantities(&pa->settings));
  warn_of_families(trust, families, &all);
  warn_of_events(trust, &all);
  if (trust->chance[worst] < GPUMC_FALSE_ALARMS / comparisons)
    warn_of_runs(trust, worst, &all);
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, write_curves(trust, error));
  GPUMC_TRY_OUT(
      status, gpumc_recorder_number(pa->context.recorder, "summary", "rho_t_maximum", rho, error));
  GPUMC_TRY_OUT(status, gpumc_trust_record(&pa->context, all.length == 0, error));
  if (all.failed)
    GPUMC_TRY_OUT(status, gpumc_error_set(error, GPUMC_FAILURE, "out of memory: warnings"));
  if (all.length > 0)
    GPUMC_TRY_OUT(status, gpumc_recorder_text(pa->context.recorder, "summary", "warning",
                                              gpumc_text_string(&all), error));
out:
  gpumc_text_free(&all);
  return status;
}
