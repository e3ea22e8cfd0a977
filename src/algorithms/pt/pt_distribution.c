/* Parallel tempering: distributions of the overlaps in the last bin of time. */
#include <stdio.h>
#include <stdlib.h>

#include "algorithms/pt/pt_average.h"
#include "algorithms/pt/pt_output.h"
#include "core/base/memory.h"
#include "core/statistics/estimate.h"

/* One kind of overlap on its way to the file; B bins, T temperatures, R rows of the histogram, G
 * groups of neighbouring rows that are left out one at a time. */
struct distribution {
  const uint64_t *counts; /* [R][T][B] */
  size_t rows, temperatures, bins;
  size_t groups;              /* at the present temperature */
  double width;               /* of a bin, in the unit of the overlap */
  double *axis;               /* [B] middles */
  double *density, *error_of; /* [T][B] */
  double *without;            /* [G] */
  uint64_t *group_total;      /* [G] at one temperature */
};

static void distribution_free(struct distribution *distribution)
{
  free(distribution->axis);
  free(distribution->density);
  free(distribution->error_of);
  free(distribution->without);
  free(distribution->group_total);
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
  enum gpumc_status status =
      gpumc_allocate_array(&distribution->axis, histogram->bins, "overlaps", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&distribution->density, points, "distributions", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&distribution->error_of, points, "distributions", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&distribution->without, distribution->rows, "a bin", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&distribution->group_total, distribution->rows, "totals", error);
  if (status != GPUMC_OK)
    return status;
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
static void estimate(struct distribution *distribution, size_t t)
{
  const size_t bins = distribution->bins, groups = distribution->groups;
  const struct gpumc_variance none = {0, 0};
  uint64_t whole = 0;
  for (size_t g = 0; g < groups; g++) {
    distribution->group_total[g] = 0;
    for (size_t b = 0; b < bins; b++)
      distribution->group_total[g] += count_of(distribution, t, g, b);
    whole += distribution->group_total[g];
  }
  for (size_t b = 0; b < bins; b++) {
    uint64_t sum = 0;
    for (size_t g = 0; g < groups; g++)
      sum += count_of(distribution, t, g, b);
    for (size_t g = 0; g < groups; g++)
      distribution->without[g] =
          (double)(sum - count_of(distribution, t, g, b)) /
          ((double)(whole - distribution->group_total[g]) * distribution->width);
    distribution->density[t * bins + b] = (double)sum / ((double)whole * distribution->width);
    distribution->error_of[t * bins + b] =
        gpumc_pooled_error(gpumc_jackknife(distribution->without, 1, groups), none);
  }
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

enum gpumc_status pt_write_distributions(struct pt *pt, struct gpumc_error *error)
{
  const struct gpumc_model_ops *model = pt->context.model->ops;
  enum gpumc_status status = GPUMC_OK;
  for (size_t k = 0; k < model->n_pairs && status == GPUMC_OK; k++) {
    struct distribution distribution;
    if (pt->tempering.plan.histogram[k].bins == 0 || model->pairs[k].distribution.name == NULL)
      continue;
    status = distribution_init(pt, k, &distribution, error);
    for (size_t t = 0; t < pt->settings.temperatures && status == GPUMC_OK; t++) {
      bool known;
      distribution.groups =
          pt->settings.by_time ? pt_block_groups(pt, t, &known) : distribution.rows;
      estimate(&distribution, t);
    }
    if (status == GPUMC_OK)
      status = write(pt, &model->pairs[k], &distribution, error);
    distribution_free(&distribution);
  }
  return status;
}
