/* Parallel tempering: results over the samples of the last bins of time - whether they drift,
 * distributions of the overlaps, and the averages of each sample. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/pt/pt_output.h"
#include "core/base/memory.h"
#include "core/statistics/significance.h"

/* ---- drift ---- */

/* Whether the last bins of time differ by more than chance explains, over all samples.
 *
 * Few samples determine their own scatter badly: a bound for each comparison by itself that keeps
 * the rate of false alarms of a run is so wide that it hides any drift. A drift appears in many
 * quantities, bins and temperatures at once, above all the coldest. So they are first judged
 * together. */

/* Differences below this share of the averages are rounding. */
static const double largest_rounding = 1e-12;

/* Numbers of the samples that are 0 on average in equilibrium, and the size of their terms. */
struct differences {
  double *of_sample; /* [samples] */
  double scale;
};

static void change_of(const struct pt *pt, size_t back, size_t compared, size_t t,
                      struct differences *differences)
{
  const size_t last = pt->timeline.bins - 1;
  const double *after = pt_remembered(pt, last, compared, t);
  const double *before = pt_remembered(pt, last - back, compared, t);
  double squares = 0;
  for (size_t s = 0; s < pt->settings.samples; s++) {
    differences->of_sample[s] = after[s] - before[s];
    squares += after[s] * after[s];
  }
  differences->scale = sqrt(squares);
}

/* Computes the violation of the identity, with its first mean as the size. */
static void identity_of(const struct pt *pt, size_t t, struct differences *differences)
{
  const struct gpumc_observables *observables = &pt->settings.observables;
  const struct gpumc_selected_quantity *quantity = &observables->quantity[pt->terms.identity];
  const struct gpumc_controls controls = pt_controls(pt, t);
  const struct pt_sums sums = pt_held_sums(pt);
  double mean[GPUMC_MEANS_MAXIMUM] = {0}, squares = 0;
  for (size_t s = 0; s < pt->settings.samples; s++) {
    for (size_t i = 0; i < quantity->what->n_uses; i++)
      mean[quantity->uses[i]] = pt_term_mean_of_all(&sums, quantity->uses[i], t, s);
    differences->of_sample[s] =
        gpumc_quantity_value(observables, pt->terms.identity, pt->context.model, &controls, mean);
    squares += mean[quantity->uses[0]] * mean[quantity->uses[0]];
  }
  differences->scale = sqrt(squares);
}

static size_t compared_bins(const struct pt *pt)
{
  return pt->terms.n_compared * (PT_BINS_COMPARED - 1) +
         (pt->terms.identity < pt->settings.observables.n_quantities);
}

static void compare(const struct pt *pt, size_t which, size_t t, struct differences *differences)
{
  const size_t compared = pt->terms.n_compared;
  if (which < compared * (PT_BINS_COMPARED - 1))
    change_of(pt, 1 + which / compared, which % compared, t, differences);
  else
    identity_of(pt, t, differences);
}

/* Returns their root sum of squares, or 0 if they are rounding. */
static double size_of(const struct pt *pt, const struct differences *differences)
{
  double squares = 0;
  for (size_t s = 0; s < pt->settings.samples; s++)
    squares += differences->of_sample[s] * differences->of_sample[s];
  const double size = sqrt(squares);
  return size > largest_rounding * differences->scale ? size : 0;
}

/* Adds them in units of their size, which no sign changes. */
static void add_products(const struct pt *pt, const struct differences *differences, size_t groups,
                         double product[GPUMC_FLIPS_GROUPS][GPUMC_FLIPS_GROUPS])
{
  const double size = size_of(pt, differences);
  double sum[GPUMC_FLIPS_GROUPS] = {0};
  if (size == 0)
    return;
  for (size_t s = 0; s < pt->settings.samples; s++)
    sum[s % groups] += differences->of_sample[s] / size;
  for (size_t a = 0; a < groups; a++)
    for (size_t b = 0; b < groups; b++)
      product[a][b] += sum[a] * sum[b];
}

/* Forms pools of the coldest 1, 2, 4 ... temperatures and of all. */
static void
form_pools(const struct pt *pt, struct differences *differences, struct gpumc_flips *flips)
{
  const size_t samples = pt->settings.samples, temperatures = pt->settings.temperatures;
  double product[GPUMC_FLIPS_GROUPS][GPUMC_FLIPS_GROUPS] = {{0}};
  flips->groups = samples < GPUMC_FLIPS_GROUPS ? samples : GPUMC_FLIPS_GROUPS;
  flips->pools = 0;
  for (size_t coldest = 1; coldest <= temperatures; coldest++) {
    for (size_t which = 0; which < compared_bins(pt); which++) {
      compare(pt, which, temperatures - coldest, differences);
      add_products(pt, differences, flips->groups, product);
    }
    if ((coldest & (coldest - 1)) == 0 || coldest == temperatures)
      memcpy(flips->pool[flips->pools++], product, sizeof product);
  }
}

/* Tests Student's t of the differences: a single one is off beyond what chance explains in one of
 * so many. */
static bool is_off(const struct pt *pt, const struct differences *differences)
{
  const double samples = (double)pt->settings.samples, size = size_of(pt, differences);
  double mean = 0, squares = 0;
  if (size == 0)
    return false;
  for (size_t s = 0; s < pt->settings.samples; s++)
    mean += differences->of_sample[s] / samples;
  for (size_t s = 0; s < pt->settings.samples; s++)
    squares += pow(differences->of_sample[s] - mean, 2);
  const double t = fabs(mean) / sqrt(squares / (samples * (samples - 1)));
  return gpumc_student_tail(t, samples - 1) < GPUMC_FALSE_ALARMS;
}

/* Once a run drifts, every temperature is judged by itself; if none is off, those of the pool that
 * drifts are marked. */
static void
mark(const struct pt *pt, size_t strongest, struct differences *differences, double *steady)
{
  const size_t temperatures = pt->settings.temperatures;
  bool any = false;
  for (size_t t = 0; t < temperatures; t++)
    for (size_t which = 0; which < compared_bins(pt) && steady[t] != 0; which++) {
      compare(pt, which, t, differences);
      if (is_off(pt, differences)) {
        steady[t] = 0;
        any = true;
      }
    }
  for (size_t coldest = 1; coldest <= temperatures && coldest <= (size_t)1 << strongest; coldest++)
    if (!any)
      steady[temperatures - coldest] = 0;
}

enum gpumc_status pt_find_drift(const struct pt *pt, double *steady, struct gpumc_error *error)
{
  struct differences differences = {0};
  struct gpumc_flips flips;
  size_t strongest;
  for (size_t t = 0; t < pt->settings.temperatures; t++)
    steady[t] = 1;
  if (pt->settings.by_time || pt->timeline.bins < PT_BINS_COMPARED)
    return GPUMC_OK;
  GPUMC_TRY(gpumc_allocate_array(&differences.of_sample, pt->settings.samples,
                                 "differences between bins", error));
  form_pools(pt, &differences, &flips);
  if (gpumc_flips_chance(&flips, &strongest) <= PT_ALARMS_OF_DRIFT)
    mark(pt, strongest, &differences, steady);
  free(differences.of_sample);
  return GPUMC_OK;
}

/* ---- distributions of the overlaps in the last bin of time ---- */

/* One kind of overlap; B bins, T temperatures, R rows of the histogram, G groups of neighbouring
 * rows that are left out one at a time. */
struct distribution {
  const uint64_t *counts; /* [R][T][B] */
  size_t rows, temperatures, bins;
  size_t groups;              /* at the current temperature */
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

/* Returns the blocks of time that the last bin really has. */
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

/* Returns the counts of bin b at temperature t in group g of the rows. */
static uint64_t count_of(const struct distribution *distribution, size_t t, size_t g, size_t b)
{
  const size_t rows = distribution->rows, groups = distribution->groups;
  uint64_t count = 0;
  for (size_t r = g * rows / groups; r < (g + 1) * rows / groups; r++)
    count += distribution->counts[(r * distribution->temperatures + t) * distribution->bins + b];
  return count;
}

/* Computes densities at temperature t, and errors from leaving out one group of rows after the
 * other. */
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

/* Writes the distribution of pair k. */
static enum gpumc_status write_distribution(struct pt *pt, size_t k, struct gpumc_error *error)
{
  struct distribution distribution;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, distribution_init(pt, k, &distribution, error));
  const struct pt_merged_distribution *merged = &pt->merged[k];
  if (merged->density != NULL) {
    const size_t bytes = distribution.temperatures * distribution.bins * sizeof *merged->density;
    memcpy(distribution.density, merged->density, bytes);
    memcpy(distribution.error_of, merged->error_of, bytes);
  }
  const struct pt_sums sums = pt_held_sums(pt);
  for (size_t t = 0; t < pt->settings.temperatures && merged->density == NULL; t++) {
    bool known;
    distribution.groups =
        pt->settings.by_time ? pt_block_groups(&sums, t, &known) : distribution.rows;
    GPUMC_TRY_OUT(status, estimate(&distribution, t, error));
  }
  GPUMC_TRY_OUT(status, write(pt, &pt->context.model->ops->pairs[k], &distribution, error));
out:
  distribution_free(&distribution);
  return status;
}

enum gpumc_status pt_write_distributions(struct pt *pt, struct gpumc_error *error)
{
  const struct gpumc_model_ops *model = pt->context.model->ops;
  for (size_t k = 0; k < model->n_pairs; k++)
    if (pt->tempering.plan.histogram[k].bins > 0 && model->pairs[k].distribution.name != NULL)
      GPUMC_TRY(write_distribution(pt, k, error));
  return GPUMC_OK;
}

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

static enum gpumc_status write_axes(struct pt *pt, struct gpumc_error *error)
{
  const struct gpumc_curve_place place = place_of_samples(pt, pt->settings.temperatures);
  GPUMC_TRY(gpumc_curve_write_axis(&place, 1, &pt->axis, false, pt->value, error));
  return gpumc_curve_write_samples(pt->context.recorder, pt->context.model, pt->settings.samples,
                                   pt->context.samples, error);
}

static enum gpumc_status
write_term(struct pt *pt, size_t term, double *values, struct gpumc_error *error)
{
  const size_t samples = pt->settings.samples, temperatures = pt->settings.temperatures;
  const struct gpumc_curve_place place = place_of_samples(pt, temperatures);
  const struct pt_sums sums = pt_held_sums(pt);
  for (size_t s = 0; s < samples; s++)
    for (size_t t = 0; t < temperatures; t++)
      values[s * temperatures + t] = pt_term_mean_of_all(&sums, term, t, s);
  return gpumc_curve_write(&place, &pt->settings.observables.mean[term]->label, false, values,
                           error);
}

static enum gpumc_status write_lowest(struct pt *pt, double *values, struct gpumc_error *error)
{
  const struct gpumc_model *model = pt->context.model;
  const struct gpumc_label *channel = &model->ops->channels[model->ops->tracked].label;
  const struct gpumc_label *mean = &pt->settings.observables.mean[pt->terms.tracked]->label;
  char name[64], long_name[128], symbol[32];
  snprintf(name, sizeof name, "lowest_%s", channel->name);
  snprintf(long_name, sizeof long_name, "lowest measured %s", mean->long_name);
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

/* Writes what is compared, in the two bins before the last: earlier_bins/1 is the previous one. */
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

enum gpumc_status pt_write_samples(struct pt *pt, struct gpumc_error *error)
{
  double *values = NULL;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status,
                gpumc_allocate_array(&values, pt->settings.samples * pt->settings.temperatures,
                                     "averages of samples", error));
  GPUMC_TRY_OUT(status, write_axes(pt, error));
  for (size_t k = 0; k < pt->terms.count; k++)
    GPUMC_TRY_OUT(status, write_term(pt, k, values, error));
  GPUMC_TRY_OUT(status, write_lowest(pt, values, error));
  GPUMC_TRY_OUT(status, write_round_trips(pt, values, error));
  GPUMC_TRY_OUT(status, write_earlier_bins(pt, values, error));
out:
  free(values);
  return status;
}
