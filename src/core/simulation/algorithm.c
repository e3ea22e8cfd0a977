#include "core/simulation/algorithm.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/simulation/curves.h"
#include "core/statistics/estimate.h"
#include "core/storage/recorder/recorder_undetermined.h"

void gpumc_observer_note(const struct gpumc_observer *observer, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  char *text = length >= 0 ? malloc((size_t)length + 1) : NULL;
  if (text == NULL)
    return;
  va_start(arguments, format);
  vsnprintf(text, (size_t)length + 1, format, arguments);
  va_end(arguments);
  gpumc_observer_tell(observer, GPUMC_NOTE, text);
  free(text);
}

static const double freedom_needed = 15; /* errors of 37 % of what scatters like chi square */

bool gpumc_trust_freedom(double freedom)
{
  return freedom >= freedom_needed;
}

bool gpumc_trust_samples(double freedom, size_t n)
{
  return freedom >= fmin(freedom_needed, (double)n / 2);
}

/* The sums of samples of one average. */
struct scatter {
  double mean, least, squares, fourths, largest;
};

static struct scatter scatter_of(const double *averages, size_t samples, size_t stride)
{
  struct scatter scatter = {.least = INFINITY};
  for (size_t s = 0; s < samples; s++) {
    const double value = averages[s * stride];
    scatter.mean += value / (double)samples;
    scatter.least = fmin(scatter.least, value);
    scatter.largest = fmax(scatter.largest, fabs(value));
  }
  for (size_t s = 0; s < samples; s++) {
    const double square = pow(averages[s * stride] - scatter.mean, 2);
    scatter.squares += square;
    scatter.fourths += square * square;
  }
  return scatter;
}

/* Fewer samples than this do not show how rare large values are, where values that are never
 * negative scatter by more than 70 % of their average; those of a Gaussian's square do by 140 %. */
enum { SKEWED_SAMPLES_LEAST = 100 };
static const double skewed = 0.5; /* square of that share */

/* Returns the degrees of freedom of the error of an average, INFINITY if nothing limits them: if
 * all samples are alike, or some are negative and it is not tracked. */
static double freedom_of(const double *averages, size_t samples, size_t stride, bool tracked)
{
  const struct scatter scatter = scatter_of(averages, samples, stride);
  const double n = (double)samples, rounding = gpumc_rounding(n, scatter.largest);
  const double kurtosis_freedom = 3 * scatter.squares * scatter.squares / scatter.fourths;
  double freedom = INFINITY;
  if (!isfinite(scatter.mean) || scatter.squares <= n * rounding * rounding)
    return INFINITY;
  if (scatter.least >= 0) {
    const double variance = scatter.squares / (n - 1), square = scatter.mean * scatter.mean;
    freedom = 2 * n * square / variance;
    if (samples < SKEWED_SAMPLES_LEAST && variance > skewed * square)
      freedom = fmin(freedom, freedom_needed - 1);
  }
  if (tracked && !gpumc_trust_samples(kurtosis_freedom, samples))
    freedom = fmin(freedom, kurtosis_freedom);
  return freedom;
}

static struct gpumc_label label_of(const struct gpumc_observables *observables, size_t k)
{
  return k < observables->n_means ? observables->mean[k]->label
                                  : gpumc_quantity_label(observables, k - observables->n_means);
}

void gpumc_few_samples_look(struct gpumc_few_samples *few, const struct gpumc_model *model,
                            const struct gpumc_observables *observables, const double *averages,
                            size_t samples, size_t stride, double value)
{
  const size_t tracked = gpumc_observables_power(observables, model->ops->tracked, 1);
  bool enough = true;
  if (!model->disorder || samples < 2)
    return;
  for (size_t k = 0; k < gpumc_averages(observables); k++) {
    const double freedom = freedom_of(averages + k, samples, stride, k == tracked);
    if (freedom >= freedom_needed)
      continue;
    if ((few->count == 0 && enough) || freedom < few->freedom) {
      few->value = value;
      few->freedom = freedom;
      few->samples = samples;
      few->label = label_of(observables, k);
    }
    enough = false;
  }
  few->count += !enough;
  few->of++;
}

void gpumc_few_samples_explain(const struct gpumc_few_samples *few, const char *control,
                               char text[static GPUMC_FEW_SAMPLES_BYTES])
{
  const bool beta = strcmp(control, gpumc_label_beta.name) == 0;
  const double more = 1.25 * freedom_needed / few->freedom * (double)few->samples;
  snprintf(
      text, GPUMC_FEW_SAMPLES_BYTES,
      "%zu samples are too few for errors at %zu of %zu %s: a few of them dominate the average "
      "of the %s at %s = %g, and other samples may give an average that differs by more than "
      "its error; use %.0f samples or more",
      few->samples, few->count, few->of, beta ? "temperatures" : "values", few->label.long_name,
      control, few->value, fmax(more, SKEWED_SAMPLES_LEAST));
}

size_t gpumc_trust_failing(const double *passed, const char *control, const double *value,
                           size_t count, bool hottest, char text[static GPUMC_FAILING_BYTES])
{
  const bool is_beta = strcmp(control, gpumc_label_beta.name) == 0;
  const char *first = is_beta ? "hottest" : "first", *last = is_beta ? "coldest" : "last";
  size_t failing = 0, named = 0;
  for (size_t t = 0; t < count; t++) {
    if (passed[t] != 0)
      continue;
    if (failing == 0 || !hottest)
      named = t;
    failing++;
  }
  text[0] = '\0';
  if (failing > 0)
    snprintf(text, GPUMC_FAILING_BYTES, "%zu of %zu %s, the %s %s = %g", failing, count,
             is_beta ? "temperatures" : "values", hottest ? first : last, control, value[named]);
  return failing;
}

enum gpumc_status gpumc_trust_record_warnings(const struct gpumc_context *context,
                                              const char *group, struct gpumc_error *error)
{
  const cJSON *warning;
  cJSON_ArrayForEach(warning, context->warnings)
  {
    GPUMC_TRY(gpumc_recorder_text(context->recorder, group, warning->string, warning->valuestring,
                                  error));
  }
  return GPUMC_OK;
}

/* Where nothing else speaks against a result, says which numbers it lacks. */
static enum gpumc_status
record_undetermined(const struct gpumc_context *context, struct gpumc_error *error)
{
  const struct gpumc_undetermined *what = gpumc_recorder_undetermined(context->recorder);
  const bool many = what->columns > 1;
  char text[512], more[64] = "", where[64] = "";
  if (many)
    snprintf(more, sizeof more, " and %zu more quantities", what->columns - 1);
  if (what->of > 1)
    snprintf(where, sizeof where, "%s at %zu of %zu points", many ? ", the first" : "", what->count,
             what->of);
  snprintf(text, sizeof text,
           "%s%s%s %s undetermined (NaN)%s, so the result is not trusted; make the run longer or "
           "larger, or do not request what it cannot determine",
           what->only_errors ? "the error of " : "", what->first, more, many ? "are" : "is", where);
  gpumc_observer_tell(context->observer, GPUMC_WARNING, text);
  return gpumc_recorder_text(context->recorder, "summary", "undetermined_warning", text, error);
}

enum gpumc_status
gpumc_trust_record(const struct gpumc_context *context, bool trusted, struct gpumc_error *error)
{
  const bool warned = cJSON_GetArraySize(context->warnings) > 0;
  const bool determined = gpumc_recorder_undetermined(context->recorder)->columns == 0;
  GPUMC_TRY(gpumc_recorder_integer(context->recorder, "summary", "trusted",
                                   trusted && !warned && determined, error));
  if (trusted && !warned && !determined)
    GPUMC_TRY(record_undetermined(context, error));
  return gpumc_trust_record_warnings(context, "summary", error);
}
