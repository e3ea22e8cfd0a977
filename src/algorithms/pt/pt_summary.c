/* Parallel tempering: the summary - the last bin of time, exchanges, walkers, equilibrium. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "algorithms/pt/pt_output.h"
#include "core/base/memory.h"
#include "core/simulation/algorithm.h"
#include "core/statistics/estimate.h"

/* ---- distributions of the overlaps in the last bin of time ---- */

/* One kind of overlap on its way to the file; B bins, T temperatures, R rows of the histogram, G
 * groups of neighbouring rows that are left out one at a time. */
struct distribution {
  const uint64_t *counts; /* [R][T][B] */
  size_t rows, temperatures, bins;
  size_t groups;              /* at the present temperature */
  double width;               /* of a bin, in the unit of the overlap */
  double *axis;               /* [B] middles */
  double *density, *error_of; /* [T][B] */
  double *mean;               /* [B] at one temperature, as are the next two */
  double *without;            /* [G][B] */
  uint64_t *total;            /* [G] */
};

static void distribution_free(struct distribution *distribution)
{
  free(distribution->axis);
  free(distribution->density);
  free(distribution->error_of);
  free(distribution->mean);
  free(distribution->without);
  free(distribution->total);
}

/* Blocks of time that the last bin really has. */
static size_t rows_of(const struct pt *pt)
{
  return pt->settings.by_time ? pt->bin.blocks : pt->tempering.plan.strata;
}

static enum gpumc_status distribution_init(const struct pt *pt, size_t kind,
                                           struct distribution *distribution,
                                           struct gpumc_error *error)
{
  const struct pt_histogram *histogram = &pt->tempering.plan.histogram[kind];
  const struct gpumc_pair_scale *scale = &pt->context.model->pair[kind];
  const double bound = (double)scale->bound;
  const size_t points = pt->settings.temperatures * histogram->bins;
  *distribution = (struct distribution){.counts = pt->histogram[kind],
                                        .rows = rows_of(pt),
                                        .temperatures = pt->settings.temperatures,
                                        .bins = histogram->bins,
                                        .width = (double)histogram->spacing / bound};
  GPUMC_TRY(gpumc_allocate_array(&distribution->axis, histogram->bins, "overlaps", error));
  GPUMC_TRY(gpumc_allocate_array(&distribution->density, points, "distributions", error));
  GPUMC_TRY(gpumc_allocate_array(&distribution->error_of, points, "distributions", error));
  GPUMC_TRY(gpumc_allocate_array(&distribution->mean, histogram->bins, "a distribution", error));
  GPUMC_TRY(gpumc_allocate_array(&distribution->without, distribution->rows * histogram->bins,
                                 "a jackknife", error));
  GPUMC_TRY(gpumc_allocate_array(&distribution->total, distribution->rows, "totals", error));
  /* The possible values of a bin are its lowest and further ones, scale->spacing apart. */
  const double middle = 0.5 * (double)(histogram->spacing - scale->spacing);
  for (size_t b = 0; b < histogram->bins; b++)
    distribution->axis[b] =
        ((double)histogram->lowest + (double)b * (double)histogram->spacing + middle) / bound;
  return GPUMC_OK;
}

/* Counts of bin b at temperature t in group g of the rows. */
static uint64_t count_of(const struct distribution *distribution, size_t t, size_t g, size_t b)
{
  const size_t rows = distribution->rows, groups = distribution->groups;
  uint64_t count = 0;
  for (size_t r = g * rows / groups; r < (g + 1) * rows / groups; r++)
    count += distribution->counts[(r * distribution->temperatures + t) * distribution->bins + b];
  return count;
}

/* Densities at temperature t, and errors from leaving out one group of rows after the other. */
static enum gpumc_status
estimate(struct distribution *distribution, size_t t, struct gpumc_error *error)
{
  const size_t bins = distribution->bins, groups = distribution->groups;
  const double width = distribution->width;
  uint64_t whole = 0;
  for (size_t g = 0; g < groups; g++) {
    distribution->total[g] = 0;
    for (size_t b = 0; b < bins; b++)
      distribution->total[g] += count_of(distribution, t, g, b);
    whole += distribution->total[g];
  }
  for (size_t b = 0; b < bins; b++) {
    uint64_t sum = 0;
    for (size_t g = 0; g < groups; g++)
      sum += count_of(distribution, t, g, b);
    distribution->mean[b] = (double)sum / ((double)whole * width);
    for (size_t g = 0; g < groups; g++)
      distribution->without[g * bins + b] = (double)(sum - count_of(distribution, t, g, b)) /
                                            ((double)(whole - distribution->total[g]) * width);
  }
  const struct gpumc_estimator estimator = {.width = bins, .n_results = bins};
  const struct gpumc_replicates replicates = {
      .strata = 1, .blocks = groups, .without = distribution->without, .freedom = INFINITY};
  return gpumc_estimate(&estimator, distribution->mean, &replicates, 1,
                        distribution->density + t * bins, distribution->error_of + t * bins, NULL,
                        error);
}

static enum gpumc_status write(struct pt *pt, const struct gpumc_pair *pair,
                               const struct distribution *distribution, struct gpumc_error *error)
{
  char group[96], value[192], overlap[128];
  snprintf(group, sizeof group, "summary/%s", pair->distribution.name);
  snprintf(value, sizeof value, "%s/%s", group, pt->axis.name);
  snprintf(overlap, sizeof overlap, "%s/%s", group, pair->label.name);
  struct gpumc_label density = pair->distribution;
  density.name = "probability";
  const struct gpumc_curve_place place = {
      .recorder = pt->context.recorder,
      .model = pt->context.model,
      .group = group,
      .axis = {value, overlap},
      .count = {distribution->temperatures, distribution->bins}};
  GPUMC_TRY(gpumc_curve_write_axis(&place, 0, &pt->axis, false, pt->value, error));
  GPUMC_TRY(gpumc_curve_write_axis(&place, 1, &pair->label, false, distribution->axis, error));
  return gpumc_curve_write_with_error(&place, &density, distribution->density,
                                      distribution->error_of, error);
}

/* The distribution of pair k. */
static enum gpumc_status write_distribution(struct pt *pt, size_t k, struct gpumc_error *error)
{
  struct distribution distribution;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, distribution_init(pt, k, &distribution, error));
  for (size_t t = 0; t < pt->settings.temperatures; t++) {
    bool known;
    distribution.groups = pt->settings.by_time ? pt_block_groups(pt, t, &known) : distribution.rows;
    GPUMC_TRY_OUT(status, estimate(&distribution, t, error));
  }
  GPUMC_TRY_OUT(status, write(pt, &pt->context.model->ops->pairs[k], &distribution, error));
out:
  distribution_free(&distribution);
  return status;
}

/* Distributions in the last bin of the pairs that have one, each a group of the summary. */
static enum gpumc_status write_distributions(struct pt *pt, struct gpumc_error *error)
{
  const struct gpumc_model_ops *model = pt->context.model->ops;
  for (size_t k = 0; k < model->n_pairs; k++)
    if (pt->tempering.plan.histogram[k].bins > 0 && model->pairs[k].distribution.name != NULL)
      GPUMC_TRY(write_distribution(pt, k, error));
  return GPUMC_OK;
}

/* ---- the summary ---- */

/* ---- averages of each sample in the last bin of time, from which those of several files can be
 * formed together ---- */

/* Curves over the samples, and those over samples and temperatures. */
static struct gpumc_curve_place place_of_samples(const struct pt *pt, size_t temperatures)
{
  return (struct gpumc_curve_place){.recorder = pt->context.recorder,
                                    .model = pt->context.model,
                                    .group = "samples",
                                    .axis = {"samples/sample", pt->axis_of_samples},
                                    .count = {pt->settings.samples, temperatures}};
}

static enum gpumc_status write_axes(struct pt *pt, double *values, struct gpumc_error *error)
{
  const struct gpumc_label label = {"sample", "number of the sample of the disorder", "1", "s"};
  const struct gpumc_curve_place place = place_of_samples(pt, pt->settings.temperatures);
  GPUMC_TRY(gpumc_curve_write_axis(&place, 1, &pt->axis, false, pt->value, error));
  for (size_t s = 0; s < pt->settings.samples; s++)
    values[s] = (double)(pt->context.model->first_sample + s);
  return gpumc_curve_write_axis(&place, 0, &label, true, values, error);
}

/* By which merge-pt knows a sample; as many bits as integers of a result have. */
static enum gpumc_status write_checksums(struct pt *pt, double *values, struct gpumc_error *error)
{
  const struct gpumc_model *model = pt->context.model;
  const struct gpumc_label label = {"checksum",
                                    "checksum of the couplings and fields of the sample", "1", ""};
  const struct gpumc_curve_place place = place_of_samples(pt, 0);
  if (!model->disorder || model->ops->sample_checksum == NULL)
    return GPUMC_OK;
  for (size_t s = 0; s < pt->settings.samples; s++) {
    uint64_t checksum = 0;
    GPUMC_TRY(model->ops->sample_checksum(model, s, &checksum, error));
    values[s] = (double)(checksum >> 11);
  }
  return gpumc_curve_write(&place, &label, true, values, error);
}

static enum gpumc_status
write_term(struct pt *pt, size_t term, double *values, struct gpumc_error *error)
{
  const size_t samples = pt->settings.samples, temperatures = pt->settings.temperatures;
  const struct gpumc_curve_place place = place_of_samples(pt, temperatures);
  for (size_t s = 0; s < samples; s++)
    for (size_t t = 0; t < temperatures; t++)
      values[s * temperatures + t] = pt_term_mean_of_all(pt, term, t, s);
  return gpumc_curve_write(&place, &pt->settings.observables.mean[term]->label, false, values,
                           error);
}

static const char *tracked_name(const struct pt *pt)
{
  const struct gpumc_model_ops *model = pt->context.model->ops;
  return model->channels[model->tracked].label.name;
}

static enum gpumc_status write_lowest(struct pt *pt, double *values, struct gpumc_error *error)
{
  const struct gpumc_model *model = pt->context.model;
  const struct gpumc_label *mean = &pt->settings.observables.mean[pt->terms.tracked]->label;
  char name[64], long_name[128], symbol[32];
  snprintf(name, sizeof name, "lowest_%s", tracked_name(pt));
  snprintf(long_name, sizeof long_name, "lowest %s that was measured", mean->long_name);
  snprintf(symbol, sizeof symbol, "%s_min", mean->symbol);
  const struct gpumc_label label = {name, long_name, mean->units, symbol};
  const struct gpumc_curve_place place = place_of_samples(pt, 0);
  for (size_t s = 0; s < pt->settings.samples; s++)
    values[s] = (double)pt->lowest[s] * model->quantum[model->ops->tracked] / (double)model->sites;
  return gpumc_curve_write(&place, &label, false, values, error);
}

static enum gpumc_status write_round_trips(struct pt *pt, double *values, struct gpumc_error *error)
{
  const struct gpumc_label label = {
      "round_trips",
      pt_moves_beta(pt) ? "round trips between the hottest and the coldest temperature, all copies"
                        : "round trips between the first and the last value, all copies",
      "1", "n_rt"};
  const struct gpumc_curve_place place = place_of_samples(pt, 0);
  for (size_t s = 0; s < pt->settings.samples; s++)
    values[s] = (double)pt->counts.round_trips[s];
  return gpumc_curve_write(&place, &label, true, values, error);
}

/* What is compared, in the two bins before the last: earlier_bins/1 is the one before it. */
static enum gpumc_status
write_earlier_bins(struct pt *pt, double *values, struct gpumc_error *error)
{
  const size_t samples = pt->settings.samples, temperatures = pt->settings.temperatures;
  for (size_t back = 1; back < PT_BINS_COMPARED && back < pt->timeline.bins; back++)
    for (size_t i = 0; i < pt->terms.n_compared; i++) {
      char group[32];
      struct gpumc_curve_place place = place_of_samples(pt, temperatures);
      snprintf(group, sizeof group, "earlier_bins/%zu", back);
      place.group = group;
      for (size_t t = 0; t < temperatures; t++) {
        const double *of_samples = pt_remembered(pt, pt->timeline.bins - 1 - back, i, t);
        for (size_t s = 0; s < samples; s++)
          values[s * temperatures + t] = of_samples[s];
      }
      const struct gpumc_mean *mean = pt->settings.observables.mean[pt->terms.compared[i]];
      GPUMC_TRY(gpumc_curve_write(&place, &mean->label, false, values, error));
    }
  return GPUMC_OK;
}

static enum gpumc_status write_samples(struct pt *pt, struct gpumc_error *error)
{
  double *values = NULL;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status,
                gpumc_allocate_array(&values, pt->settings.samples * pt->settings.temperatures,
                                     "averages of samples", error));
  GPUMC_TRY_OUT(status, write_axes(pt, values, error));
  GPUMC_TRY_OUT(status, write_checksums(pt, values, error));
  for (size_t k = 0; k < pt->terms.count; k++)
    GPUMC_TRY_OUT(status, write_term(pt, k, values, error));
  GPUMC_TRY_OUT(status, write_lowest(pt, values, error));
  GPUMC_TRY_OUT(status, write_round_trips(pt, values, error));
  GPUMC_TRY_OUT(status, write_earlier_bins(pt, values, error));
out:
  free(values);
  return status;
}

/* ---- summary ---- */

/* Curves over the temperatures. */
static struct gpumc_curve_place place_of(const struct pt *pt)
{
  return (struct gpumc_curve_place){.recorder = pt->context.recorder,
                                    .model = pt->context.model,
                                    .group = "summary",
                                    .axis = {pt->axis_of_summary},
                                    .count = {pt->settings.temperatures}};
}

static enum gpumc_status write_quantities(struct pt *pt, struct gpumc_error *error)
{
  const size_t last = pt->timeline.bins - 1;
  const struct gpumc_curve_place place = place_of(pt);
  GPUMC_TRY(gpumc_curve_write_axis(&place, 0, &pt->axis, false, pt->value, error));
  for (size_t q = 0; q < pt->settings.observables.n_quantities; q++)
    GPUMC_TRY(gpumc_curve_write_with_error(&place, &pt->labels.of[q], pt_bin_values(pt, last, q),
                                           pt_bin_errors(pt, last, q), error));
  return GPUMC_OK;
}

/* Acceptance and flow over the temperatures; `values` is scratch. */
static enum gpumc_status write_exchanges(struct pt *pt, double *values, struct gpumc_error *error)
{
  const struct gpumc_label acceptance = pt_acceptance_label(pt);
  const struct gpumc_label flow = {
      "flow",
      pt_moves_beta(pt)
          ? "share of the walkers that were at the hottest temperature after the coldest one"
          : "share of the walkers that were at the first value after the last one",
      "1", "f"};
  const struct pt_counts *counts = &pt->counts;
  const struct gpumc_curve_place place = place_of(pt);
  const size_t temperatures = pt->settings.temperatures;
  const double places = (double)(pt->settings.copies * pt->settings.samples);
  for (size_t t = 0; t < temperatures; t++)
    values[t] = pt_acceptance(counts->rounds, counts->accepted, places, temperatures, t);
  GPUMC_TRY(gpumc_curve_write(&place, &acceptance, false, values, error));
  for (size_t t = 0; t < temperatures; t++)
    values[t] = counts->labelled[t] > 0
                    ? (double)counts->from_hottest[t] / (double)counts->labelled[t]
                    : NAN;
  return gpumc_curve_write(&place, &flow, false, values, error);
}

/* 0 or 1, [temperatures] */
struct flags {
  double *equilibrated, *determined;
};

static enum gpumc_status find_flags(struct pt *pt, struct flags *flags, struct gpumc_error *error)
{
  struct pt_average average;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, pt_average_init(pt, &average, error));
  GPUMC_TRY_OUT(status, pt_find_drift(pt, flags->equilibrated, error));
  for (size_t t = 0; t < pt->settings.temperatures; t++) {
    flags->equilibrated[t] = flags->equilibrated[t] != 0 && pt_equilibrated(pt, t);
    GPUMC_TRY_OUT(status, pt_determined(&average, t, &flags->determined[t], error));
  }
out:
  pt_average_free(&average);
  return status;
}

static enum gpumc_status write_flag(struct pt *pt, const struct gpumc_label *label,
                                    const double *flag, bool *all, struct gpumc_error *error)
{
  const struct gpumc_curve_place place = place_of(pt);
  for (size_t t = 0; t < pt->settings.temperatures; t++)
    *all = *all && flag[t] != 0;
  return gpumc_curve_write(&place, label, true, flag, error);
}

static enum gpumc_status
write_equilibrium(struct pt *pt, struct flags *flags, struct gpumc_error *error)
{
  const struct gpumc_label equilibrated = {
      "equilibrated", "1 where the last bins of time agree with each other", "1", "eq"};
  char long_name[128];
  snprintf(long_name, sizeof long_name, "1 where the %s fluctuates often enough to know its error",
           tracked_name(pt));
  const struct gpumc_label determined = {"determined", long_name, "1", ""};
  bool all = !pt_errors_are_thermal(pt) && pt_walkers_return(pt);
  GPUMC_TRY(find_flags(pt, flags, error));
  GPUMC_TRY(write_flag(pt, &equilibrated, flags->equilibrated, &all, error));
  GPUMC_TRY(write_flag(pt, &determined, flags->determined, &all, error));
  GPUMC_TRY(gpumc_trust_record(&pt->context, all, error));
  return pt_write_warnings(pt, flags->equilibrated, flags->determined, error);
}

/* Numbers that are no curves. */
static enum gpumc_status write_numbers(struct pt *pt, struct gpumc_error *error)
{
  struct gpumc_recorder *recorder = pt->context.recorder;
  const struct pt_settings *settings = &pt->settings;
  uint64_t measurements = 0;
  for (size_t b = 0; b < pt->bin.blocks; b++)
    measurements += pt->bin.measurements[b];
  const struct {
    const char *name;
    uint64_t value;
  } numbers[] = {
      {"sites", pt->context.model->sites}, {"samples", settings->samples},
      {"replicas", settings->copies},      {"measurements", measurements},
      {"round_trips", pt_round_trips(pt)},
  };
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    GPUMC_TRY(gpumc_recorder_integer(recorder, "summary", numbers[i].name,
                                     (int64_t)numbers[i].value, error));
  GPUMC_TRY(gpumc_recorder_number(recorder, "summary", "round_trips_per_walker",
                                  pt_round_trips_per_walker(pt), error));
  return gpumc_recorder_text(recorder, "summary", "errors_from",
                             settings->by_time ? "blocks of time" : "samples", error);
}

enum gpumc_status pt_summarize(void *state, struct gpumc_error *error)
{
  struct pt *pt = state;
  double *values = NULL;
  struct flags flags = {0};
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status,
                gpumc_allocate_array(&values, pt->settings.temperatures, "the summary", error));
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&flags.equilibrated, pt->settings.temperatures,
                                             "the summary", error));
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&flags.determined, pt->settings.temperatures,
                                             "the summary", error));
  GPUMC_TRY_OUT(status, write_quantities(pt, error));
  if (pt->settings.exchange)
    GPUMC_TRY_OUT(status, write_exchanges(pt, values, error));
  GPUMC_TRY_OUT(status, write_numbers(pt, error));
  GPUMC_TRY_OUT(status, write_equilibrium(pt, &flags, error));
  if (pt->settings.observables.pairs)
    GPUMC_TRY_OUT(status, write_distributions(pt, error));
  GPUMC_TRY_OUT(status, write_samples(pt, error));
out:
  free(values);
  free(flags.equilibrated);
  free(flags.determined);
  return status;
}
