/* Population annealing: the summary - weighted averages over runs with errors, the lowest energy.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/pa/pa_average.h"
#include "core/base/memory.h"
#include "core/statistics/estimate.h"

/* Work arrays of the summary. T temperatures, Q quantities, W numbers of an average, S strata of B
 * blocks, G = S B, N groups of runs. */
struct summary {
  struct pa *pa;
  size_t temperatures, quantities, width, strata, blocks, run_groups;
  double *value, *error;           /* [Q][T] */
  double *mean;                    /* [W] at one temperature, as are the next six */
  double *by_block;                /* [G][W] without each block */
  double *by_run;                  /* [N][W] without each group of runs */
  double *whole, *whole_error;     /* [Q] */
  struct gpumc_variance *variance; /* [2][Q] from blocks, from runs */
  double *sizes;                   /* [B] */
  double *log_partition;           /* [G + 1][T] */
  double *population;              /* [G][T] */
  double *freedom;                 /* [T]: most degrees of freedom of an error from blocks */
  struct pa_trust trust;
};

static void summary_free(struct summary *summary)
{
  free(summary->value);
  free(summary->error);
  free(summary->mean);
  free(summary->by_block);
  free(summary->by_run);
  free(summary->whole);
  free(summary->whole_error);
  free(summary->variance);
  free(summary->sizes);
  free(summary->log_partition);
  free(summary->population);
  free(summary->freedom);
  pa_trust_free(&summary->trust);
}

static enum gpumc_status
summary_init(struct summary *summary, struct pa *pa, struct gpumc_error *error)
{
  const size_t groups = pa->settings.strata * pa->settings.blocks;
  memset(summary, 0, sizeof *summary);
  summary->pa = pa;
  summary->temperatures = pa->schedule.count;
  summary->quantities = pa_quantities(&pa->settings);
  summary->width = pa_average_width(&pa->settings);
  summary->strata = pa->settings.strata;
  summary->blocks = pa->settings.blocks;
  summary->run_groups = pa->settings.run_groups;
  struct {
    double **array;
    size_t count;
  } arrays[] = {
      {&summary->value, summary->quantities * summary->temperatures},
      {&summary->error, summary->quantities * summary->temperatures},
      {&summary->mean, summary->width},
      {&summary->by_block, groups * summary->width},
      {&summary->by_run, summary->run_groups * summary->width},
      {&summary->whole, summary->quantities},
      {&summary->whole_error, summary->quantities},
      {&summary->sizes, summary->blocks},
      {&summary->log_partition, (groups + 1) * summary->temperatures},
      {&summary->population, groups * summary->temperatures},
      {&summary->freedom, summary->temperatures},
  };
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    GPUMC_TRY(gpumc_allocate_array(arrays[i].array, arrays[i].count, "the summary", error));
  GPUMC_TRY(
      gpumc_allocate_array(&summary->variance, 2 * summary->quantities, "the summary", error));
  return pa_trust_init(&summary->trust, pa, error);
}

/* The whole, leaving out each block of each stratum, and each group of runs. */
static void leave_out_each(struct summary *summary, struct pa_average *average)
{
  const size_t t = average->row, log_partition = summary->width - 1;
  struct pa_left_out left_out = {PA_NONE, PA_NONE, PA_NONE};
  double freedom = 0;
  pa_average_means(average, left_out, summary->mean);
  summary->log_partition[t] = summary->mean[log_partition];
  for (size_t s = 0; s < summary->strata; s++) {
    for (size_t b = 0; b < summary->blocks; b++) {
      const size_t g = s * summary->blocks + b;
      double *without = summary->by_block + g * summary->width;
      left_out.stratum = s;
      left_out.block = b;
      pa_average_means(average, left_out, without);
      summary->log_partition[(g + 1) * summary->temperatures + t] = without[log_partition];
      summary->sizes[b] = pa_average_block_population(average, s, b);
      summary->population[g * summary->temperatures + t] = summary->sizes[b];
    }
    freedom += gpumc_effective_blocks(summary->sizes, summary->blocks) - 1;
  }
  summary->freedom[t] = freedom;
  for (size_t g = 0; g < summary->run_groups && summary->run_groups > 1; g++)
    pa_average_means(average, (struct pa_left_out){PA_NONE, PA_NONE, g},
                     summary->by_run + g * summary->width);
}

/* All quantities at the average's temperature. The error pools two estimates of the variance: from
 * blocks of families within the runs, whose degrees of freedom cannot exceed the number of blocks
 * of equal size less one, and from the runs. */
static enum gpumc_status summarize_temperature(struct summary *summary, struct pa_average *average,
                                               struct gpumc_error *error)
{
  const size_t t = average->row;
  const struct pa *pa = summary->pa;
  /* Sums over the blocks and runs, and over the steps to ln Z. */
  const struct pa_point point = {.pa = pa,
                                 .value = pa->schedule.value[t],
                                 .terms = (double)(pa->settings.runs + pa->settings.blocks + t),
                                 .is_first = t == 0};
  leave_out_each(summary, average);
  const struct gpumc_replicates replicates[] = {{.strata = summary->strata,
                                                 .blocks = summary->blocks,
                                                 .without = summary->by_block,
                                                 .freedom = summary->freedom[t]},
                                                {.strata = 1,
                                                 .blocks = summary->run_groups,
                                                 .without = summary->by_run,
                                                 .freedom = INFINITY}};
  GPUMC_TRY(pa_estimate(&point, summary->mean, replicates, 2, summary->whole, summary->whole_error,
                        summary->variance, error));
  for (size_t q = 0; q < summary->quantities; q++) {
    summary->value[q * summary->temperatures + t] = summary->whole[q];
    summary->error[q * summary->temperatures + t] = summary->whole_error[q];
    if (!pa_quantity_is_known(&point, q))
      pa_trust_regard_quantity(&summary->trust, t, q, summary->variance[q],
                               summary->variance[summary->quantities + q]);
  }
  pa_trust_regard_families(&summary->trust, average);
  return GPUMC_OK;
}

static enum gpumc_status write_curves(struct summary *summary, struct gpumc_error *error)
{
  const struct pa *pa = summary->pa;
  const struct gpumc_curve_place place = {.recorder = pa->context.recorder,
                                          .model = pa->context.model,
                                          .group = "summary",
                                          .axis = {pa->axis_of_summary},
                                          .count = {summary->temperatures}};
  GPUMC_TRY(gpumc_curve_write_axis(&place, 0, &pa->axis, false, pa->schedule.value, error));
  for (size_t q = 0; q < summary->quantities; q++) {
    const struct gpumc_label label = pa_quantity_label(&pa->settings, q);
    GPUMC_TRY(gpumc_curve_write_with_error(&place, &label,
                                           summary->value + q * summary->temperatures,
                                           summary->error + q * summary->temperatures, error));
  }
  return GPUMC_OK;
}

/* The lowest value of all runs and rows of the tracked channel, the first value of the moved
 * control where a run saw it, and who holds it at the last. */
static enum gpumc_status write_lowest(struct summary *summary, struct gpumc_error *error)
{
  struct pa *pa = summary->pa;
  struct gpumc_recorder *recorder = pa->context.recorder;
  double lowest = INFINITY;
  double first = 0;
  double replicas = 0;
  double families = 0;
  size_t last = summary->temperatures - 1;
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

enum gpumc_status pa_summarize(void *state, struct gpumc_error *error)
{
  struct pa *pa = state;
  struct summary summary;
  struct pa_average average = {0};
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, summary_init(&summary, pa, error));
  GPUMC_TRY_OUT(status, pa_average_init(pa, &average, error));
  for (size_t t = 0; t < summary.temperatures; t++) {
    pa_average_next(&average);
    GPUMC_TRY_OUT(status, summarize_temperature(&summary, &average, error));
  }
  GPUMC_TRY_OUT(status, write_curves(&summary, error));
  GPUMC_TRY_OUT(status, pa_trust_write(&summary.trust, error));
  GPUMC_TRY_OUT(status, write_lowest(&summary, error));
  const struct pa_curves curves = {summary.log_partition, summary.population, summary.freedom};
  if (pa->settings.reweight)
    GPUMC_TRY_OUT(status, pa_reweight(pa, &curves, error));
out:
  pa_average_free(&average);
  summary_free(&summary);
  return status;
}
