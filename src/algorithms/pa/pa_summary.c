/* Population annealing: the summary - weighted averages over runs with errors, what the families say
 * about trust, the lowest energy. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/pa/pa_average.h"
#include "core/jackknife.h"
#include "core/memory.h"

/* A population is trusted when R > 100 rho_t (Wang, Machta, Katzgraber 2015). */
static const double trusted_families = 100.0;

/* Work arrays of the summary. T temperatures, Q quantities, B blocks, M runs. */
struct summary {
  struct pa *pa;
  size_t temperatures, quantities, blocks;
  double *value, *error;           /* [Q][T] */
  double *estimate;                /* [B + 1][Q] at one temperature */
  double *run_estimate;            /* [M][Q] */
  double *column;                  /* [max(B, M)] */
  double *log_partition;           /* [B + 1][T] */
  double *population;              /* [B][T] */
};

static void summary_free(struct summary *summary)
{
  free(summary->value);
  free(summary->error);
  free(summary->estimate);
  free(summary->run_estimate);
  free(summary->column);
  free(summary->log_partition);
  free(summary->population);
}

static enum gpumc_status summary_init(struct summary *summary, struct pa *pa,
                                      struct gpumc_error *error)
{
  size_t runs = pa->settings.runs;
  size_t blocks = pa->settings.blocks;
  memset(summary, 0, sizeof *summary);
  summary->pa = pa;
  summary->temperatures = pa->schedule.count;
  summary->quantities = pa_quantities(pa->context.model->ops);
  summary->blocks = blocks;
  struct {
    double **array;
    size_t count;
  } arrays[] = {
      {&summary->value, summary->quantities * summary->temperatures},
      {&summary->error, summary->quantities * summary->temperatures},
      {&summary->estimate, (blocks + 1) * summary->quantities},
      {&summary->run_estimate, runs * summary->quantities},
      {&summary->column, blocks > runs ? blocks : runs},
      {&summary->log_partition, (blocks + 1) * summary->temperatures},
      {&summary->population, blocks * summary->temperatures},
  };
  enum gpumc_status status = GPUMC_OK;
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays && status == GPUMC_OK; i++)
    status = gpumc_allocate_array(arrays[i].array, arrays[i].count, "the summary", error);
  return status;
}

/* Variance of quantity q from n rows of estimates. */
static struct gpumc_variance variance_of(struct summary *summary, const double *rows, size_t n,
                                         size_t q)
{
  for (size_t i = 0; i < n; i++)
    summary->column[i] = rows[i * summary->quantities + q];
  return gpumc_jackknife(summary->column, n);
}

/* All quantities at the average's temperature. The error pools two estimates of the variance: from
 * blocks of families within the runs, whose degrees of freedom cannot exceed the number of blocks of
 * equal size less one, and from the runs. */
static void summarize_temperature(struct summary *summary, struct pa_average *average)
{
  const struct pa *pa = summary->pa;
  size_t t = average->row;
  size_t runs = pa->settings.runs;
  size_t blocks = summary->blocks;
  for (size_t e = 0; e <= blocks; e++)
    summary->log_partition[e * summary->temperatures + t] = pa_average_estimate(
        average, e, runs, summary->estimate + e * summary->quantities);
  for (size_t m = 0; m < runs && runs > 1; m++)
    pa_average_estimate(average, 0, m, summary->run_estimate + m * summary->quantities);
  for (size_t b = 0; b < blocks; b++) {
    summary->column[b] = pa_average_block_population(average, b);
    summary->population[b * summary->temperatures + t] = summary->column[b];
  }
  double block_freedom = gpumc_effective_blocks(summary->column, blocks) - 1;
  for (size_t q = 0; q < summary->quantities; q++) {
    struct gpumc_variance by_block =
        variance_of(summary, summary->estimate + summary->quantities, blocks, q);
    struct gpumc_variance by_run = {0, 0};
    if (runs > 1)
      by_run = variance_of(summary, summary->run_estimate, runs, q);
    by_block.freedom = fmin(by_block.freedom, block_freedom);
    summary->value[q * summary->temperatures + t] = summary->estimate[q];
    summary->error[q * summary->temperatures + t] = gpumc_pooled_error(by_block, by_run);
  }
}

static enum gpumc_status write_curve(struct summary *summary, const struct gpumc_label *label,
                                     const double *values, const char *axis,
                                     struct gpumc_error *error)
{
  struct gpumc_dataset dataset = {.group = "summary",
                                  .label = *label,
                                  .rank = 1,
                                  .shape = {summary->temperatures},
                                  .axes = {axis},
                                  .values = values};
  return gpumc_recorder_dataset(summary->pa->context.recorder, &dataset, error);
}

static enum gpumc_status write_with_error(struct summary *summary, const struct gpumc_label *label,
                                          size_t q, struct gpumc_error *error)
{
  char name[128];
  char long_name[192];
  char symbol[64];
  snprintf(name, sizeof name, "%s_error", label->name);
  snprintf(long_name, sizeof long_name, "standard error of the %s", label->long_name);
  snprintf(symbol, sizeof symbol, "σ(%s)", label->symbol);
  struct gpumc_label error_label = {
      .name = name, .long_name = long_name, .units = label->units, .symbol = symbol};
  enum gpumc_status status = write_curve(
      summary, label, summary->value + q * summary->temperatures, "summary/beta", error);
  if (status == GPUMC_OK)
    status = write_curve(summary, &error_label, summary->error + q * summary->temperatures,
                         "summary/beta", error);
  return status;
}

static enum gpumc_status write_curves(struct summary *summary, struct gpumc_error *error)
{
  const struct pa *pa = summary->pa;
  const struct gpumc_model_ops *model = pa->context.model->ops;
  const struct gpumc_label beta = {"beta", "inverse temperature", "1/J", "β"};
  const struct gpumc_label front[] = {{"energy", "energy per site", "J", "e"},
                                      {"specific_heat", "specific heat per site", "k_B", "C"}};
  const struct gpumc_label behind[] = {
      {"beta_free_energy", "free energy per site times inverse temperature", "1", "βF/N"},
      {"entropy", "entropy per site", "k_B", "S/N"}};
  enum gpumc_status status = write_curve(summary, &beta, pa->schedule.beta, NULL, error);
  for (size_t q = 0; q < summary->quantities && status == GPUMC_OK; q++) {
    struct gpumc_label label;
    if (q < 2) {
      label = front[q];
    } else if (q < 2 + model->n_observables) {
      const struct gpumc_observable *observable = &model->observables[q - 2];
      label = (struct gpumc_label){observable->name, observable->long_name, observable->units,
                                   observable->symbol};
    } else {
      label = behind[q - 2 - model->n_observables];
    }
    status = write_with_error(summary, &label, q, error);
  }
  return status;
}

static double curve_value(const struct pa *pa, size_t run, size_t row,
                          enum pa_column_behind column)
{
  size_t n_rows;
  const double *rows = gpumc_recorder_rows(pa->context.recorder, pa->tables[run].curve, &n_rows);
  return rows[row * pa_curve_width(pa->context.model->ops) +
              pa_curve_index(pa->context.model->ops, column)];
}

/* What the families say: the largest rho_t of each run, and a warning when the population is small
 * against it. */
static enum gpumc_status write_trust(struct summary *summary, struct gpumc_error *error)
{
  struct pa *pa = summary->pa;
  struct gpumc_recorder *recorder = pa->context.recorder;
  double worst = 0;
  for (size_t m = 0; m < pa->settings.runs; m++)
    for (size_t t = 0; t < summary->temperatures; t++)
      worst = fmax(worst, curve_value(pa, m, t, PA_RHO_T));
  bool trusted = (double)pa->settings.population > trusted_families * worst;
  enum gpumc_status status =
      gpumc_recorder_number(recorder, "summary", "rho_t_maximum", worst, error);
  if (status == GPUMC_OK)
    status = gpumc_recorder_integer(recorder, "summary", "trusted", trusted, error);
  if (status != GPUMC_OK || trusted)
    return status;
  char text[256];
  snprintf(text, sizeof text,
           "the population of %zu is less than 100 times the mean square family size rho_t = %.4g: "
           "averages may be biased and errors too small; use a larger population, more sweeps or "
           "smaller steps",
           pa->settings.population, worst);
  if (pa->context.observer != NULL && pa->context.observer->message != NULL)
    pa->context.observer->message(pa->context.observer->state, GPUMC_WARNING, text);
  return gpumc_recorder_text(recorder, "summary", "warning", text, error);
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
      double energy = curve_value(pa, m, t, PA_LOWEST_ENERGY);
      double at = pa->schedule.beta[t];
      if (energy < lowest || (energy <= lowest && at < beta)) {
        lowest = energy;
        beta = at;
      }
    }
  for (size_t m = 0; m < pa->settings.runs; m++)
    if (curve_value(pa, m, last, PA_LOWEST_ENERGY) <= lowest) {
      replicas += curve_value(pa, m, last, PA_LOWEST_ENERGY_REPLICAS);
      families += curve_value(pa, m, last, PA_LOWEST_ENERGY_FAMILIES);
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
    status = write_trust(&summary, error);
  if (status == GPUMC_OK)
    status = write_lowest(&summary, error);
  if (status == GPUMC_OK && pa->settings.reweight)
    status = pa_reweight(pa, summary.log_partition, summary.population, error);
out:
  pa_average_free(&average);
  summary_free(&summary);
  return status;
}
