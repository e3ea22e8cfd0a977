/* Merging: whether the sources contradict each other.
 *
 * They are independent and have errors, so at every point of every curve of the summary their
 * deviations from the average weighted with the inverse squares of the errors should be as large as
 * these errors, by Fisher's F. Errors are themselves estimated from fluctuations: each is assumed
 * to have the degrees of freedom of one that is just good enough for a result to be trusted, all
 * together as many times that as there are sources. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/run/merging/merge.h"
#include "core/statistics/significance.h"

static const double freedom_of_error = 15;

/* The point at which the sources agree least, by the probability that any point of its curve
 * deviates as much. Every curve has the same share of false alarms, however many points it has. */
struct worst {
  double chance;
  size_t curves;
  const char *name, *axis; /* NULL: the curve is a number */
  double at;
};

static const struct gpumc_result_dataset *find(const struct gpumc_result *result, const char *name)
{
  for (size_t i = 0; i < result->n_datasets; i++)
    if (strcmp(result->datasets[i].name, name) == 0)
      return &result->datasets[i];
  return NULL;
}

/* A curve in one source, with its errors. */
struct part {
  const double *value, *error;
};

/* Returns false if there is no such curve of that length. */
static bool
part_of(const struct gpumc_source *source, const char *name, size_t count, struct part *part)
{
  char name_of_error[256];
  snprintf(name_of_error, sizeof name_of_error, "%s_error", name);
  const struct gpumc_result_dataset *values = find(&source->result, name);
  const struct gpumc_result_dataset *errors = find(&source->result, name_of_error);
  const bool good = values != NULL && errors != NULL && values->shape[0] == count &&
                    errors->shape[0] == count && values->rank < 2 && errors->rank < 2;
  if (good)
    *part = (struct part){values->values, errors->values};
  return good;
}

/* Sums over the sources at one point: of weights, of weighted values and of their squares about the
 * first value. */
struct sums {
  size_t count;
  double first, weight, value, square;
};

static void add(struct sums *sums, double value, double error)
{
  if (!isfinite(value) || !(error > 0) || !isfinite(error))
    return;
  const double weight = 1 / (error * error);
  if (sums->count++ == 0)
    sums->first = value;
  const double above = value - sums->first;
  sums->weight += weight;
  sums->value += weight * above;
  sums->square += weight * above * above;
}

static double chance_of(const struct sums *sums)
{
  const double freedom = (double)sums->count - 1;
  const double squares = fmax(0, sums->square - sums->value * sums->value / sums->weight);
  return gpumc_fisher_tail(squares / freedom, freedom, freedom_of_error * (double)sums->count);
}

static void regard_curve(const struct gpumc_sources *sources, const char *name, size_t count,
                         const struct gpumc_result_dataset *axis, struct worst *worst)
{
  size_t compared = 0, farthest = 0;
  double chance = 1;
  for (size_t at = 0; at < count; at++) {
    struct sums sums = {0};
    for (size_t i = 0; i < sources->count; i++) {
      struct part part;
      if (part_of(&sources->of[i], name, count, &part))
        add(&sums, part.value[at], part.error[at]);
    }
    if (sums.count < 2)
      continue;
    compared++;
    const double found = chance_of(&sums);
    farthest = found < chance ? at : farthest;
    chance = fmin(chance, found);
  }
  worst->curves += compared > 0;
  if (compared == 0 || chance * (double)compared >= worst->chance)
    return;
  worst->chance = chance * (double)compared;
  worst->name = name;
  worst->axis = axis != NULL && axis->shape[0] == count && count > 1 ? axis->name : NULL;
  worst->at = worst->axis != NULL ? axis->values[farthest] : 0;
}

/* Errors from fluctuations in time do not show how other samples of the disorder differ. */
static bool errors_are_of_time(const struct gpumc_merging *merging)
{
  bool of_time = false;
  for (size_t i = 0; i < merging->sources.count && merging->samples.checksum != NULL; i++) {
    const char *from = gpumc_result_field(&merging->sources.of[i].result.summary, "errors_from");
    of_time = of_time || from == NULL || strcmp(from, "samples") != 0;
  }
  return of_time;
}

bool gpumc_merging_contradicts(const struct gpumc_merging *merging,
                               char text[static GPUMC_CONTRADICTION_BYTES])
{
  const struct gpumc_sources *sources = &merging->sources;
  const struct gpumc_result *first = &sources->of[0].result;
  const struct gpumc_result_dataset *axis = first->n_datasets > 0 ? &first->datasets[0] : NULL;
  struct worst worst = {.chance = 1};
  char where[96] = "";
  if (errors_are_of_time(merging))
    return false;
  for (size_t i = 0; i < first->n_datasets; i++) {
    const struct gpumc_result_dataset *dataset = &first->datasets[i];
    struct part part;
    if (strchr(dataset->name, '/') == NULL && dataset->rank < 2 &&
        part_of(&sources->of[0], dataset->name, dataset->shape[0], &part))
      regard_curve(sources, dataset->name, dataset->shape[0], axis, &worst);
  }
  if (worst.name == NULL || worst.chance * (double)worst.curves >= GPUMC_FALSE_ALARMS)
    return false;
  if (worst.axis != NULL)
    snprintf(where, sizeof where, " at %.40s = %g", worst.axis, worst.at);
  snprintf(text, GPUMC_CONTRADICTION_BYTES,
           "the files contradict each other: %.64s%s differs between them by more than its errors "
           "explain (probability %.1g); examine each of them, and leave out those that are not in "
           "equilibrium or belong to another model",
           worst.name, where, worst.chance);
  return true;
}
