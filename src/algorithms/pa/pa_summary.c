/* Population annealing: the summary - averages over runs with errors.
 *
 * Families (the descendants of one initial replica) are independent of each other except for the
 * common normalisation, so leaving a block of families out of a run gives a jackknife sample of the
 * run: means without its replicas, and Q without its weights. The influence of resampling noise on
 * ln Z cancels in each Q as it does in the run itself. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/pa/pa_summary.h"
#include "core/base/memory.h"
#include "core/numerics/elementary.h"

/* ---- averages over runs at one temperature, whole and with parts left out ---- */

/* Walks the temperatures in order. For each run the state is kept for blocks + 1 estimates: 0 is
 * the whole run, b + 1 is the run without its block b of families. */
struct average {
  const struct pa *pa;
  size_t row;
  size_t n_means;
  double *log_partition; /* [runs][blocks + 1]: ln Z at the row */
  double *mean;          /* [runs][blocks + 1][n_means] at the row */
  double *weight;        /* [runs] of the last average */
};

/* What an average leaves out: block `block` of the runs of stratum `stratum`, and the runs of group
 * `run_group`. NONE: nothing. */
#define NONE SIZE_MAX
struct left_out {
  size_t stratum, block;
  size_t run_group;
};

/* A share this close to 0 is the rounding of 1 - 1. */
static const double least_share = 1e-12;

/* Returns column `column` of the blocks at a row: [blocks]. */
static const double *
block_values(const struct average *average, size_t run, size_t row, size_t column)
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

/* Computes ln Q without block b: the weights without its weight over the replicas without its
 * replicas. A block that contains everything cannot be left out. */
static void advance_partition(struct average *average, size_t run)
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

static void find_means(struct average *average, size_t run)
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

/* Advances to the next temperature; the first call goes to the first. */
static void average_next(struct average *average)
{
  average->row++;
  for (size_t m = 0; m < average->pa->settings.runs; m++) {
    advance_partition(average, m);
    find_means(average, m);
  }
}

static bool run_is_left_out(const struct average *average, struct left_out left_out, size_t run)
{
  return left_out.run_group != NONE && run % average->pa->settings.run_groups == left_out.run_group;
}

/* Returns which of a run's estimates to use. */
static size_t estimate_of(const struct average *average, struct left_out left_out, size_t run)
{
  size_t blocks = average->pa->settings.blocks;
  bool without = left_out.stratum != NONE && run % average->pa->settings.strata == left_out.stratum;
  return run * (blocks + 1) + (without ? left_out.block + 1 : 0);
}

/* Computes weight[m] of eq. 7; returns ln of the mean of Z over the runs used. */
static double find_weights(struct average *average, struct left_out left_out)
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

/* Computes averages over the runs with the weights of eqs. 6 and 7: mean[pa_average_width]. */
static void average_means(struct average *average, struct left_out left_out, double *mean)
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

/* Returns the replicas in block `block` of the runs of stratum `stratum` at the row. */
static double block_population(const struct average *average, size_t stratum, size_t block)
{
  double population = 0;
  for (size_t m = stratum; m < average->pa->settings.runs; m += average->pa->settings.strata)
    population += block_values(average, m, average->row, PA_BLOCK_POPULATION)[block];
  return population;
}

/* ---- the summary ---- */

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
  double *freedom;                 /* [T]: upper limit of the degrees of freedom of an error from
                                    * blocks */
  struct average average;
  struct pa_trust trust;
};

enum { ARRAYS = 17 };

struct array {
  double **at;
  size_t count;
};

static void list_arrays(struct summary *summary, struct array list[ARRAYS])
{
  const struct pa_settings *settings = &summary->pa->settings;
  const size_t temperatures = summary->temperatures, width = summary->width;
  const size_t groups = summary->strata * summary->blocks;
  const size_t estimates = settings->runs * (summary->blocks + 1);
  const struct array all[ARRAYS] = {
      {&summary->value, summary->quantities * temperatures},
      {&summary->error, summary->quantities * temperatures},
      {&summary->mean, width},
      {&summary->by_block, groups * width},
      {&summary->by_run, summary->run_groups * width},
      {&summary->whole, summary->quantities},
      {&summary->whole_error, summary->quantities},
      {&summary->sizes, summary->blocks},
      {&summary->log_partition, (groups + 1) * temperatures},
      {&summary->population, groups * temperatures},
      {&summary->freedom, temperatures},
      {&summary->average.log_partition, estimates},
      {&summary->average.mean, estimates * settings->observables.n_means},
      {&summary->average.weight, settings->runs},
      {&summary->trust.families, temperatures},
      {&summary->trust.determined, temperatures},
      {&summary->trust.chance, temperatures},
  };
  memcpy(list, all, sizeof all);
}

static void summary_free(struct summary *summary)
{
  struct array list[ARRAYS];
  list_arrays(summary, list);
  for (size_t i = 0; i < ARRAYS; i++)
    free(*list[i].at);
  free(summary->variance);
}

static enum gpumc_status
summary_init(struct summary *summary, struct pa *pa, struct gpumc_error *error)
{
  const struct gpumc_observables *observables = &pa->settings.observables;
  const size_t tracked = gpumc_observables_power(observables, pa->context.model->ops->tracked, 1);
  struct array list[ARRAYS];
  *summary =
      (struct summary){.pa = pa,
                       .temperatures = pa->schedule.count,
                       .quantities = pa_quantities(&pa->settings),
                       .width = pa_average_width(&pa->settings),
                       .strata = pa->settings.strata,
                       .blocks = pa->settings.blocks,
                       .run_groups = pa->settings.run_groups,
                       .average = {.pa = pa, .row = SIZE_MAX, .n_means = observables->n_means},
                       .trust = {.pa = pa,
                                 .temperatures = pa->schedule.count,
                                 .watched = gpumc_observables_reported(observables, tracked)}};
  list_arrays(summary, list);
  for (size_t i = 0; i < ARRAYS; i++)
    GPUMC_TRY(gpumc_allocate_array(list[i].at, list[i].count, "the summary", error));
  GPUMC_TRY(
      gpumc_allocate_array(&summary->variance, 2 * summary->quantities, "the summary", error));
  for (size_t t = 0; t < summary->temperatures; t++)
    summary->trust.determined[t] = summary->trust.chance[t] = 1;
  return GPUMC_OK;
}

/* Computes the whole, and leaves out each block of each stratum, and each group of runs. */
static void leave_out_each(struct summary *summary)
{
  struct average *average = &summary->average;
  const size_t t = average->row, log_partition = summary->width - 1;
  struct left_out left_out = {NONE, NONE, NONE};
  double freedom = 0;
  average_means(average, left_out, summary->mean);
  summary->log_partition[t] = summary->mean[log_partition];
  for (size_t s = 0; s < summary->strata; s++) {
    for (size_t b = 0; b < summary->blocks; b++) {
      const size_t g = s * summary->blocks + b;
      double *without = summary->by_block + g * summary->width;
      left_out.stratum = s;
      left_out.block = b;
      average_means(average, left_out, without);
      summary->log_partition[(g + 1) * summary->temperatures + t] = without[log_partition];
      summary->sizes[b] = block_population(average, s, b);
      summary->population[g * summary->temperatures + t] = summary->sizes[b];
    }
    freedom += gpumc_effective_blocks(summary->sizes, summary->blocks) - 1;
  }
  summary->freedom[t] = freedom;
  for (size_t g = 0; g < summary->run_groups && summary->run_groups > 1; g++)
    average_means(average, (struct left_out){NONE, NONE, g}, summary->by_run + g * summary->width);
}

/* Computes all quantities at the average's temperature. The error pools two estimates of the
 * variance: from blocks of families within the runs, whose degrees of freedom cannot exceed the
 * number of blocks of equal size less one, and from the runs. */
static enum gpumc_status summarize_temperature(struct summary *summary, struct gpumc_error *error)
{
  const size_t t = summary->average.row;
  const struct pa *pa = summary->pa;
  /* Sums over the blocks and runs, and over the steps to ln Z. */
  const struct pa_point point = {.pa = pa,
                                 .value = pa->schedule.value[t],
                                 .terms = (double)(pa->settings.runs + pa->settings.blocks + t),
                                 .is_first = t == 0};
  leave_out_each(summary);
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
    const bool decides = q >= pa->settings.observables.n_quantities ||
                         !pa->settings.observables.quantity[q].what->of_moves;
    if (decides && !pa_quantity_is_known(&point, q))
      pa_trust_regard_quantity(&summary->trust, t, q, summary->variance[q],
                               summary->variance[summary->quantities + q]);
  }
  (void)find_weights(&summary->average, (struct left_out){NONE, NONE, NONE});
  pa_trust_regard_families(&summary->trust, t, summary->average.weight);
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

enum gpumc_status pa_summarize(void *state, struct gpumc_error *error)
{
  struct pa *pa = state;
  struct summary summary;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, summary_init(&summary, pa, error));
  for (size_t t = 0; t < summary.temperatures; t++) {
    average_next(&summary.average);
    GPUMC_TRY_OUT(status, summarize_temperature(&summary, error));
  }
  GPUMC_TRY_OUT(status, write_curves(&summary, error));
  const struct pa_curves curves = {summary.log_partition, summary.population, summary.freedom};
  if (pa->settings.reweight)
    GPUMC_TRY_OUT(status, pa_reweight(pa, &curves, error));
  GPUMC_TRY_OUT(status, pa_trust_write(&summary.trust, summary.value, error));
  GPUMC_TRY_OUT(status, pa_write_lowest(pa, error));
out:
  summary_free(&summary);
  return status;
}
