/* Population annealing: the summary - weighted averages over runs with errors, the lowest energy.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/pa/pa_labels.h"
#include "algorithms/pa/pa_trust.h"
#include "core/base/memory.h"
#include "core/statistics/jackknife.h"

/* Work arrays of the summary. T temperatures, Q quantities, S strata of B blocks, G = S B, N groups
 * of runs. */
struct summary {
  struct pa *pa;
  size_t temperatures, quantities, strata, blocks;
  double *value, *error; /* [Q][T] */
  double *whole;         /* [Q] at one temperature, as are the next two */
  double *by_block;      /* [G][Q] */
  double *by_run;        /* [N][Q] */
  double *column;        /* [max(G, N)] */
  double *log_partition; /* [G + 1][T] */
  double *population;    /* [G][T] */
  double *freedom;       /* [T]: most degrees of freedom of an error from blocks */
  struct pa_trust trust;
};

static void summary_free(struct summary *summary)
{
  free(summary->value);
  free(summary->error);
  free(summary->whole);
  free(summary->by_block);
  free(summary->by_run);
  free(summary->column);
  free(summary->log_partition);
  free(summary->population);
  free(summary->freedom);
  pa_trust_free(&summary->trust);
}

static enum gpumc_status
summary_init(struct summary *summary, struct pa *pa, struct gpumc_error *error)
{
  size_t groups = pa->settings.strata * pa->settings.blocks;
  size_t run_groups = pa->settings.run_groups;
  memset(summary, 0, sizeof *summary);
  summary->pa = pa;
  summary->temperatures = pa->schedule.count;
  summary->quantities = pa_quantities(&pa->settings);
  summary->strata = pa->settings.strata;
  summary->blocks = pa->settings.blocks;
  struct {
    double **array;
    size_t count;
  } arrays[] = {
      {&summary->value, summary->quantities * summary->temperatures},
      {&summary->error, summary->quantities * summary->temperatures},
      {&summary->whole, summary->quantities},
      {&summary->by_block, groups * summary->quantities},
      {&summary->by_run, run_groups * summary->quantities},
      {&summary->column, groups > run_groups ? groups : run_groups},
      {&summary->log_partition, (groups + 1) * summary->temperatures},
      {&summary->population, groups * summary->temperatures},
      {&summary->freedom, summary->temperatures},
  };
  enum gpumc_status status = GPUMC_OK;
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays && status == GPUMC_OK; i++)
    status = gpumc_allocate_array(arrays[i].array, arrays[i].count, "the summary", error);
  return status == GPUMC_OK ? pa_trust_init(&summary->trust, pa, error) : status;
}

/* Variance of quantity q from the rows of estimates, whose arithmetic has an error of `rounding`.
 */
static struct gpumc_variance variance_of(struct summary *summary, const double *rows, size_t strata,
                                         size_t n, size_t q, double rounding)
{
  for (size_t i = 0; i < strata * n; i++)
    summary->column[i] = rows[i * summary->quantities + q];
  return gpumc_jackknife_of(summary->column, strata, n, rounding);
}

/* Rounding errors of quantity q at the row: of sums over the blocks and runs, and over the steps to
 * ln Z, by how large the numbers are that it is formed of. */
static double rounding_of(const struct summary *summary, size_t row, size_t q)
{
  const struct pa *pa = summary->pa;
  const struct gpumc_observables *observables = &pa->settings.observables;
  const double terms = (double)(pa->settings.runs + summary->blocks + row);
  const double *whole = summary->whole;
  const double energy = pa->schedule.beta[row] * whole[PA_Q_ENERGY];
  const size_t derived = PA_Q_OBSERVABLES + observables->count;
  const size_t free_energy = pa_quantity_index(&pa->settings, PA_Q_BETA_FREE_ENERGY);
  double scale = fabs(whole[q]);
  if (q == PA_Q_SPECIFIC_HEAT)
    scale += energy * energy * (double)pa->context.model->sites;
  else if (q == pa_quantity_index(&pa->settings, PA_Q_ENTROPY))
    scale = fabs(energy) + fabs(whole[free_energy]);
  else if (q >= derived && q < free_energy)
    scale = gpumc_derive_scale(pa->context.model,
                               observables->derived[q - derived].what->derivation, whole[q]);
  return gpumc_rounding(terms, scale);
}

/* The whole, and leaving out each block of each stratum. */
static void estimate_without_blocks(struct summary *summary, struct pa_average *average)
{
  size_t t = average->row;
  double freedom = 0;
  struct pa_left_out left_out = {PA_NONE, PA_NONE, PA_NONE};
  summary->log_partition[t] = pa_average_estimate(average, left_out, summary->whole);
  for (size_t s = 0; s < summary->strata; s++) {
    for (size_t b = 0; b < summary->blocks; b++) {
      size_t g = s * summary->blocks + b;
      left_out.stratum = s;
      left_out.block = b;
      summary->log_partition[(g + 1) * summary->temperatures + t] =
          pa_average_estimate(average, left_out, summary->by_block + g * summary->quantities);
      summary->column[b] = pa_average_block_population(average, s, b);
      summary->population[g * summary->temperatures + t] = summary->column[b];
    }
    freedom += gpumc_effective_blocks(summary->column, summary->blocks) - 1;
  }
  summary->freedom[t] = freedom;
}

/* Of the start at beta = 0, where the partition function is known. */
static bool is_exact(const struct summary *summary, size_t row, size_t q)
{
  return row == 0 && (q == PA_Q_SPECIFIC_HEAT ||
                      q >= pa_quantity_index(&summary->pa->settings, PA_Q_BETA_FREE_ENERGY));
}

/* All quantities at the average's temperature. The error pools two estimates of the variance: from
 * blocks of families within the runs, whose degrees of freedom cannot exceed the number of blocks
 * of equal size less one, and from the runs. */
static void summarize_temperature(struct summary *summary, struct pa_average *average)
{
  size_t run_groups = summary->pa->settings.run_groups;
  estimate_without_blocks(summary, average);
  for (size_t g = 0; g < run_groups && run_groups > 1; g++) {
    struct pa_left_out left_out = {PA_NONE, PA_NONE, g};
    pa_average_estimate(average, left_out, summary->by_run + g * summary->quantities);
  }
  for (size_t q = 0; q < summary->quantities; q++) {
    size_t at = q * summary->temperatures + average->row;
    double rounding = rounding_of(summary, average->row, q);
    struct gpumc_variance by_block =
        variance_of(summary, summary->by_block, summary->strata, summary->blocks, q, rounding);
    struct gpumc_variance by_run =
        variance_of(summary, summary->by_run, 1, run_groups, q, rounding);
    by_block.freedom = fmin(by_block.freedom, summary->freedom[average->row]);
    summary->value[at] = summary->whole[q];
    summary->error[at] =
        is_exact(summary, average->row, q) ? 0 : gpumc_pooled_error(by_block, by_run);
    if (!is_exact(summary, average->row, q))
      pa_trust_regard_quantity(&summary->trust, average->row, q, by_block, by_run);
  }
  pa_trust_regard_families(&summary->trust, average);
}

/* Label of quantity q. */
static struct gpumc_label label_of(const struct pa_settings *settings, size_t q)
{
  static const struct gpumc_label behind[] = {
      [PA_Q_BETA_FREE_ENERGY] = PA_LABEL_BETA_FREE_ENERGY, [PA_Q_ENTROPY] = PA_LABEL_ENTROPY};
  const struct gpumc_observables *observables = &settings->observables;
  if (q < PA_Q_OBSERVABLES)
    return q == PA_Q_ENERGY ? gpumc_label_energy : gpumc_label_specific_heat;
  if (q >= pa_quantity_index(settings, 0))
    return behind[q - pa_quantity_index(settings, 0)];
  q -= PA_Q_OBSERVABLES;
  return q < observables->count
             ? gpumc_observable_label(observables->item[q])
             : gpumc_derived_label(observables->derived[q - observables->count].what);
}

static enum gpumc_status write_curves(struct summary *summary, struct gpumc_error *error)
{
  const struct pa *pa = summary->pa;
  const struct gpumc_curve_place place = {.recorder = pa->context.recorder,
                                          .model = pa->context.model,
                                          .group = "summary",
                                          .axis = {"summary/beta"},
                                          .count = {summary->temperatures}};
  enum gpumc_status status =
      gpumc_curve_write_axis(&place, 0, &gpumc_label_beta, false, pa->schedule.beta, error);
  for (size_t q = 0; q < summary->quantities && status == GPUMC_OK; q++) {
    const struct gpumc_label label = label_of(&pa->settings, q);
    status =
        gpumc_curve_write_with_error(&place, &label, summary->value + q * summary->temperatures,
                                     summary->error + q * summary->temperatures, error);
  }
  return status;
}

/* The lowest energy of all runs and temperatures, the first beta where a run saw it, and who holds
 * it at the last temperature. */
static enum gpumc_status write_lowest(struct summary *summary, struct gpumc_error *error)
{
  struct pa *pa = summary->pa;
  struct gpumc_recorder *recorder = pa->context.recorder;
  double lowest = INFINITY;
  double beta = 0;
  double replicas = 0;
  double families = 0;
  size_t last = summary->temperatures - 1;
  for (size_t m = 0; m < pa->settings.runs; m++)
    for (size_t t = 0; t <= last; t++) {
      double energy = pa_curve_value(pa, m, t, PA_LOWEST_ENERGY);
      double at = pa->schedule.beta[t];
      if (energy < lowest || (energy <= lowest && at < beta)) {
        lowest = energy;
        beta = at;
      }
    }
  for (size_t m = 0; m < pa->settings.runs; m++)
    if (pa_curve_value(pa, m, last, PA_LOWEST_ENERGY) <= lowest) {
      replicas += pa_curve_value(pa, m, last, PA_LOWEST_ENERGY_REPLICAS);
      families += pa_curve_value(pa, m, last, PA_LOWEST_ENERGY_FAMILIES);
    }
  enum gpumc_status status =
      gpumc_recorder_number(recorder, "summary", "lowest_energy", lowest, error);
  if (status == GPUMC_OK)
    status = gpumc_recorder_number(recorder, "summary", "lowest_energy_first_beta", beta, error);
  if (status == GPUMC_OK)
    status = gpumc_recorder_integer(recorder, "summary", "lowest_energy_replicas",
                                    (int64_t)replicas, error);
  if (status == GPUMC_OK)
    status = gpumc_recorder_integer(recorder, "summary", "lowest_energy_families",
                                    (int64_t)families, error);
  return status;
}

enum gpumc_status pa_summarize(void *state, struct gpumc_error *error)
{
  struct pa *pa = state;
  struct summary summary;
  struct pa_average average = {0};
  enum gpumc_status status = summary_init(&summary, pa, error);
  if (status == GPUMC_OK)
    status = pa_average_init(pa, &average, error);
  if (status != GPUMC_OK)
    goto out;
  for (size_t t = 0; t < summary.temperatures; t++) {
    pa_average_next(&average);
    summarize_temperature(&summary, &average);
  }
  status = write_curves(&summary, error);
  if (status == GPUMC_OK)
    status = pa_trust_write(&summary.trust, error);
  if (status == GPUMC_OK)
    status = write_lowest(&summary, error);
  struct pa_curves curves = {summary.log_partition, summary.population, summary.freedom};
  if (status == GPUMC_OK && pa->settings.reweight)
    status = pa_reweight(pa, &curves, error);
out:
  pa_average_free(&average);
  summary_free(&summary);
  return status;
}
