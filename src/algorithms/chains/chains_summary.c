/* Chains: the output of a finished run - averages over bins and of each replica, averages with
 * errors, autocorrelation times, convergence, reweighted curves. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/chains/chains_internal.h"
#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/simulation/curves.h"
#include "core/simulation/algorithm.h"
#include "core/simulation/steps.h"

/* The least share of the measurements that must count at a grid point for it to be reported: that
 * of histograms 1.5 standard deviations apart, which overlap by 45 %. */
static const double least_share = 0.1;

/* The curves of the summary: T temperatures, or grid points; Q results. */
struct curves {
  size_t count;
  double *value, *error; /* [Q][count] */
};

/* M plain means, at the temperatures. */
struct summary {
  const struct chains *chains;
  size_t results, means;
  struct curves direct, reweighted;
  double *share, *served_by; /* [grid points] */
  struct chains_reach reach;
  double *time, *time_error;                     /* [M][T]: autocorrelation time in sweeps */
  double *seconds, *seconds_error;               /* [M][T]: the same as the run took them */
  double *samples;                               /* [M][T]: effective samples */
  double *drift;                                 /* [M][T]: drift of the beginning, as a normal
                                                  * deviate */
  double *drift_sweeps;                          /* [M][T]: length of that beginning */
  double *converged;                             /* [T] */
  double *shortest;                              /* [T]: chains_estimates.shortest */
  size_t drifting;                               /* temperatures */
  size_t unconverged, unserved, unknown, biased; /* temperatures, or grid points */
  struct gpumc_few_samples few;
  size_t doubted[GPUMC_SERIES_DOUBTS]; /* temperatures with such a series among their means */
  size_t slowest[GPUMC_SERIES_DOUBTS]; /* series of that kind at the last such temperature */
};

static void summary_free(struct summary *summary)
{
  free(summary->direct.value);
  free(summary->direct.error);
  free(summary->reweighted.value);
  free(summary->reweighted.error);
  free(summary->share);
  chains_reach_free(&summary->reach);
  free(summary->served_by);
  free(summary->time);
  free(summary->time_error);
  free(summary->seconds);
  free(summary->seconds_error);
  free(summary->drift);
  free(summary->drift_sweeps);
  free(summary->samples);
  free(summary->converged);
  free(summary->shortest);
}

static enum gpumc_status
summary_init(struct summary *summary, const struct chains *chains, struct gpumc_error *error)
{
  const size_t results = chains->quantities.observables.n_quantities;
  const size_t means = chains->quantities.n_series + chains->watch.count;
  const size_t temperatures = chains->runs, points = chains->grid.points;
  *summary = (struct summary){.chains = chains,
                              .results = results,
                              .means = means,
                              .direct = {.count = temperatures},
                              .reweighted = {.count = points}};
  const struct {
    double **array;
    size_t count;
  } arrays[] = {
      {&summary->direct.value, results * temperatures},
      {&summary->direct.error, results * temperatures},
      {&summary->reweighted.value, results * points + 1},
      {&summary->reweighted.error, results * points + 1},
      {&summary->share, points + 1},
      {&summary->served_by, points + 1},
      {&summary->time, means * temperatures},
      {&summary->time_error, means * temperatures},
      {&summary->seconds, means * temperatures},
      {&summary->seconds_error, means * temperatures},
      {&summary->drift, means * temperatures},
      {&summary->drift_sweeps, means * temperatures},
      {&summary->samples, means * temperatures},
      {&summary->converged, temperatures},
      {&summary->shortest, temperatures},
  };
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
    GPUMC_TRY(gpumc_allocate_array(arrays[i].array, arrays[i].count, "the summary", error));
  return chains_reach_init(chains, &summary->reach, error);
}

/* Stores point `point` of a temperature's estimates as number `at` of the curves. */
static void take_point(struct curves *curves, size_t at, const struct chains_estimates *estimates,
                       size_t point, bool known)
{
  for (size_t q = 0; q < estimates->results; q++) {
    const size_t from = point * (estimates->results + 1) + q;
    curves->value[q * curves->count + at] = known ? estimates->value[from] : NAN;
    curves->error[q * curves->count + at] = known ? estimates->error[from] : NAN;
  }
}

static void take_grid(struct summary *summary, size_t m, const struct chains_estimates *estimates)
{
  const struct chains *chains = summary->chains;
  for (size_t p = 1; p <= chains_grid_served(&chains->grid, m); p++) {
    const size_t at = chains->grid.first[m] + p - 1;
    const double share = estimates->value[p * (estimates->results + 1) + estimates->results];
    const bool known = share >= least_share;
    take_point(&summary->reweighted, at, estimates, p, known);
    summary->share[at] = isnan(share) ? 0 : share;
    summary->served_by[at] = chains->value[m];
    summary->unserved += !known;
  }
  chains_reach_take(&summary->reach, m, estimates, least_share);
}

/* Returns whether it was known from the start that results cannot be trusted, by the attribute's
 * name. */
static bool is_warned(const struct summary *summary, const char *name)
{
  return cJSON_GetObjectItemCaseSensitive(summary->chains->context.warnings, name) != NULL;
}

/* Takes number k of the plain means at temperature m: those of the observables, then the watched
 * ones. Returns the sweeps between values of its series. */
static double take_estimate(const struct summary *summary, size_t m, size_t k,
                            const struct chains_estimates *estimates,
                            struct gpumc_series_estimate *mean)
{
  const struct chains *chains = summary->chains;
  const size_t requested = chains->quantities.n_series;
  if (k < requested) {
    *mean = estimates->mean[k];
    return (double)chains->settings.interval;
  }
  chains_watch_estimate(chains, m, k - requested, mean);
  return (double)chains->settings.interval * (double)chains->watch.every;
}

static void take_series(struct summary *summary, size_t m, const struct chains_estimates *estimates)
{
  const size_t temperatures = summary->direct.count;
  const struct chains_tuning *tuning = &summary->chains->tuning;
  const double seconds = (*summary->chains->context.seconds - tuning->seconds - tuning->stopped) /
                         (double)chains_end(&summary->chains->settings);
  bool drifts = false, converged = estimates->converged, doubted[GPUMC_SERIES_DOUBTS] = {false};
  double longest[GPUMC_SERIES_DOUBTS] = {0};
  for (size_t k = 0; k < summary->means; k++) {
    struct gpumc_series_estimate mean;
    const double spacing = take_estimate(summary, m, k, estimates, &mean);
    const size_t at = k * temperatures + m;
    summary->time[at] = mean.autocorrelation_time * spacing;
    summary->time_error[at] = mean.time_error * spacing;
    summary->seconds[at] = summary->time[at] * seconds;
    summary->seconds_error[at] = summary->time_error[at] * seconds;
    summary->samples[at] = mean.effective_samples;
    summary->drift[at] = mean.drift;
    summary->drift_sweeps[at] = (double)mean.drift_length * spacing;
    if (!chains_series_decides(summary->chains, k))
      continue;
    drifts = drifts || mean.drifts;
    converged = converged && mean.converged;
    if (!doubted[mean.doubt] || mean.bin_time * spacing > longest[mean.doubt]) {
      summary->slowest[mean.doubt] = k;
      longest[mean.doubt] = mean.bin_time * spacing;
    }
    doubted[mean.doubt] = true;
  }
  for (size_t doubt = 0; doubt < GPUMC_SERIES_DOUBTS; doubt++)
    summary->doubted[doubt] += doubted[doubt];
  summary->drifting += drifts;
  summary->converged[m] = converged && !is_warned(summary, "ergodicity_warning");
  summary->unconverged += !converged;
  summary->unknown += estimates->unknown;
  summary->biased += estimates->biased;
}

static enum gpumc_status take_temperatures(struct summary *summary, struct gpumc_error *error)
{
  for (size_t m = 0; m < summary->direct.count; m++) {
    struct chains_estimates estimates;
    GPUMC_TRY(chains_estimates_make(summary->chains, m, &estimates, &summary->few, error));
    take_point(&summary->direct, m, &estimates, 0, true);
    take_grid(summary, m, &estimates);
    take_series(summary, m, &estimates);
    summary->shortest[m] = estimates.shortest;
    chains_estimates_free(&estimates);
  }
  chains_reach_doubt(&summary->reach, summary->direct.value, summary->direct.error,
                     summary->reweighted.error);
  return GPUMC_OK;
}

static struct gpumc_label label_of_series(const struct chains *chains, size_t k)
{
  const struct chains_quantities *quantities = &chains->quantities;
  return k < quantities->n_series ? quantities->observables.mean[quantities->series_mean[k]]->label
                                  : chains->watch.mean[k - quantities->n_series]->label;
}

/* Curves over the temperatures or, for an athermal target, single numbers; their axis is at
 * `path`. */
static struct gpumc_curve_place place_of(const struct summary *summary, const char *group,
                                         char path[static CHAINS_PATH_BYTES], size_t count)
{
  chains_axis_path(summary->chains, group, path);
  return (struct gpumc_curve_place){.recorder = summary->chains->context.recorder,
                                    .model = summary->chains->context.model,
                                    .group = group,
                                    .axis = {summary->chains->value != NULL ? path : NULL},
                                    .count = {count}};
}

static enum gpumc_status write_axis(const struct summary *summary,
                                    const struct gpumc_curve_place *place, const double *values,
                                    struct gpumc_error *error)
{
  return place->axis[0] == NULL
             ? GPUMC_OK
             : gpumc_curve_write_axis(place, 0, &summary->chains->axis, false, values, error);
}

static enum gpumc_status write_curves(const struct summary *summary,
                                      const struct gpumc_curve_place *place, const double *values,
                                      const struct curves *curves, struct gpumc_error *error)
{
  const struct gpumc_observables *observables = &summary->chains->quantities.observables;
  GPUMC_TRY(write_axis(summary, place, values, error));
  for (size_t q = 0; q < summary->results; q++) {
    const struct gpumc_label label = gpumc_quantity_label(observables, q);
    if (curves == &summary->reweighted && observables->quantity[q].what->of_moves)
      continue;
    GPUMC_TRY(gpumc_curve_write_with_error(place, &label, curves->value + q * curves->count,
                                           curves->error + q * curves->count, error));
  }
  return GPUMC_OK;
}

static enum gpumc_status write_direct(const struct summary *summary, struct gpumc_error *error)
{
  const struct gpumc_label label = {
      "converged",
      "1 where every time series is stationary and long compared with its autocorrelation time, "
      "the replicas agree and sweeps reach every state",
      "1", ""};
  char path[CHAINS_PATH_BYTES];
  const struct gpumc_curve_place place = place_of(summary, "summary", path, summary->direct.count);
  GPUMC_TRY(write_curves(summary, &place, summary->chains->value, &summary->direct, error));
  GPUMC_TRY(chains_watch_write(summary->chains, &place, error));
  GPUMC_TRY(gpumc_curve_write(&place, &label, true, summary->converged, error));
  const struct gpumc_context *context = &summary->chains->context;
  return gpumc_steps_write(context->ensemble, &place, context->observer, error);
}

static enum gpumc_status write_reweighted(const struct summary *summary, struct gpumc_error *error)
{
  const struct gpumc_label share = {
      "share",
      summary->chains->moved.beta
          ? "share of the measurements at the source temperature that contribute here"
          : "share of the measurements at the source value that contribute here",
      "1", ""};
  const struct gpumc_label *axis = &summary->chains->axis;
  char path[CHAINS_PATH_BYTES], name[96], long_name[160];
  snprintf(name, sizeof name, "from_%s", axis->name);
  snprintf(long_name, sizeof long_name, "%s of the measurements", axis->long_name);
  const struct gpumc_label served_by = {name, long_name, axis->units, axis->symbol};
  if (summary->reweighted.count == 0)
    return GPUMC_OK;
  const struct gpumc_curve_place place =
      place_of(summary, "summary/reweighted", path, summary->reweighted.count);
  GPUMC_TRY(
      write_curves(summary, &place, summary->chains->grid.value, &summary->reweighted, error));
  GPUMC_TRY(gpumc_curve_write(&place, &share, false, summary->share, error));
  return gpumc_curve_write(&place, &served_by, false, summary->served_by, error);
}

/* A group of curves of the plain means: values[M][T], and their errors unless NULL. */
struct curves_of_series {
  const char *group, *what, *units;
  const double *values, *errors;
};

static enum gpumc_status write_of_series(const struct summary *summary,
                                         const struct curves_of_series *curves,
                                         struct gpumc_error *error)
{
  const size_t count = summary->direct.count;
  char path[CHAINS_PATH_BYTES];
  const struct gpumc_curve_place place = place_of(summary, curves->group, path, count);
  GPUMC_TRY(write_axis(summary, &place, summary->chains->value, error));
  for (size_t k = 0; k < summary->means; k++) {
    const struct gpumc_label mean = label_of_series(summary->chains, k);
    char long_name[256];
    snprintf(long_name, sizeof long_name, "%s of the %s", curves->what, mean.long_name);
    const struct gpumc_label label = {mean.name, long_name, curves->units, ""};
    const double *values = curves->values + k * count;
    GPUMC_TRY(curves->errors == NULL
                  ? gpumc_curve_write(&place, &label, false, values, error)
                  : gpumc_curve_write_with_error(&place, &label, values, curves->errors + k * count,
                                                 error));
  }
  return GPUMC_OK;
}

static enum gpumc_status write_series(const struct summary *summary, struct gpumc_error *error)
{
  const struct curves_of_series all[] = {
      {"summary/autocorrelation_time", "integrated autocorrelation time", "sweeps", summary->time,
       summary->time_error},
      {"provenance/autocorrelation_time", "time of the run per integrated autocorrelation time",
       "s", summary->seconds, summary->seconds_error},
      {"summary/effective_samples", "independent measurements", "1", summary->samples, NULL},
      {"summary/drift", "excess of the initial part, in standard errors,", "1", summary->drift,
       NULL},
      {"summary/drift_length", "length of the initial drift", "sweeps", summary->drift_sweeps,
       NULL},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    GPUMC_TRY(write_of_series(summary, &all[i], error));
  return GPUMC_OK;
}

static enum gpumc_status write_warning(const struct summary *summary, const char *name,
                                       const char *text, struct gpumc_error *error)
{
  const struct gpumc_context *context = &summary->chains->context;
  gpumc_observer_tell(context->observer, GPUMC_WARNING, text);
  return gpumc_recorder_text(context->recorder, "summary", name, text, error);
}

/* Returns the label of the first quantity that is computed for each sample, of which there is
 * one. */
static struct gpumc_label fluctuation_label(const struct summary *summary)
{
  const struct gpumc_observables *observables = &summary->chains->quantities.observables;
  size_t q = 0;
  while (q + 1 < observables->n_quantities && !observables->quantity[q].what->of_each)
    q++;
  return gpumc_quantity_label(observables, q);
}

/* Writes reasons to distrust averages over samples. */
static enum gpumc_status
write_sample_warnings(const struct summary *summary, struct gpumc_error *error)
{
  char text[512], name[128];
  if (summary->unknown > 0) {
    snprintf(text, sizeof text,
             "averages at %zu of %zu %s have no errors (NaN), because %zu samples are too few to "
             "estimate the scatter between samples; use more samples",
             summary->unknown, summary->direct.count, chains_values_word(summary->chains),
             summary->chains->settings.replicas);
    GPUMC_TRY(write_warning(summary, "samples_warning", text, error));
  } else if (summary->few.count > 0) {
    gpumc_few_samples_explain(&summary->few, summary->chains->axis.name, text);
    GPUMC_TRY(write_warning(summary, "samples_warning", text, error));
  }
  if (summary->biased > 0) {
    const struct gpumc_label fluctuation = fluctuation_label(summary);
    snprintf(name, sizeof name, "%s_warning", fluctuation.name);
    snprintf(text, sizeof text,
             "at %zu of %zu %s the time series of the samples are so short that the %s "
             "may be too low by more than half its error; use more sweeps",
             summary->biased, summary->direct.count, chains_values_word(summary->chains),
             fluctuation.long_name);
    GPUMC_TRY(write_warning(summary, name, text, error));
  }
  return GPUMC_OK;
}

/* Names the series whose beginning is farthest off, and the remedy. */
static enum gpumc_status write_drift(const struct summary *summary, struct gpumc_error *error)
{
  const size_t temperatures = summary->direct.count;
  const double *value = summary->chains->value;
  size_t worst = 0;
  char which[96] = "the run is", where[128] = "", text[640];
  for (size_t i = 1; i < summary->means * temperatures; i++)
    if (chains_series_decides(summary->chains, i / temperatures) &&
        (isnan(summary->drift[worst]) || fabs(summary->drift[i]) > fabs(summary->drift[worst])))
      worst = i;
  const struct gpumc_label label = label_of_series(summary->chains, worst / temperatures);
  if (value != NULL) {
    snprintf(which, sizeof which, "%zu of %zu %s are", summary->drifting, temperatures,
             chains_values_word(summary->chains));
    snprintf(where, sizeof where, " at %s = %.6g", summary->chains->axis.name,
             value[worst % temperatures]);
  }
  snprintf(text, sizeof text,
           "%s not stationary: %s%s is %s by %.1f standard errors in the first %.0f sweeps after "
           "the thermalization than later; use a longer thermalization",
           which, label.name, where, summary->drift[worst] > 0 ? "higher" : "lower",
           fabs(summary->drift[worst]), summary->drift_sweeps[worst]);
  return write_warning(summary, "drift_warning", text, error);
}

/* Says which test of the time series failed, and at how many temperatures or, for a single run,
 * which observable has the slowest such series. */
static enum gpumc_status write_unconverged(const struct summary *summary, struct gpumc_error *error)
{
  static const char *const reasons[GPUMC_SERIES_DOUBTS] = {
      [GPUMC_SERIES_SHORT] = "a time series is too short for its autocorrelation time",
      [GPUMC_SERIES_STILL] = "hardly anything fluctuated",
      [GPUMC_SERIES_CONTRADICTS] = "the replicas contradict each other",
      [GPUMC_SERIES_DRIFTS] = "a time series drifts"};
  const bool many = summary->chains->value != NULL;
  struct gpumc_text text = {0};
  const char *before = ": ";
  if (many)
    gpumc_text_append(&text, "at %zu of %zu %s ", summary->unconverged, summary->direct.count,
                      chains_values_word(summary->chains));
  gpumc_text_append(&text, "errors are unknown or may be too small");
  for (size_t doubt = GPUMC_SERIES_SHORT; doubt < GPUMC_SERIES_DOUBTS; doubt++) {
    if (summary->doubted[doubt] == 0)
      continue;
    gpumc_text_append(&text, "%s%s", before, reasons[doubt]);
    if (many)
      gpumc_text_append(&text, " at %zu", summary->doubted[doubt]);
    else
      gpumc_text_append(&text, " (%s)",
                        label_of_series(summary->chains, summary->slowest[doubt]).name);
    before = ", ";
  }
  gpumc_text_append(&text, "; use more sweeps or a longer thermalization");
  enum gpumc_status status =
      text.failed ? gpumc_error_set(error, GPUMC_FAILURE, "out of memory: a warning")
                  : write_warning(summary, "warning", gpumc_text_string(&text), error);
  gpumc_text_free(&text);
  return status;
}

/* Writes warnings of quantities that exceed their limits, and of identities that do not hold; *any:
 * there is one. */
static enum gpumc_status
write_excess(const struct summary *summary, bool *any, struct gpumc_error *error)
{
  const struct gpumc_observables *observables = &summary->chains->quantities.observables;
  const bool beta = summary->chains->moved.beta;
  const size_t count = summary->direct.count;
  for (size_t q = 0; q < observables->n_quantities; q++) {
    const double *value = summary->direct.value + q * count;
    char text[GPUMC_EXCESS_BYTES], name[128];
    if (gpumc_quantity_excess(observables, q, value, count, beta, text) == 0 &&
        gpumc_identity_broken(observables, q, value, summary->direct.error + q * count, count, beta,
                              text) == 0)
      continue;
    *any = true;
    snprintf(name, sizeof name, "%s_warning", gpumc_quantity_label(observables, q).name);
    GPUMC_TRY(write_warning(summary, name, text, error));
  }
  return GPUMC_OK;
}

/* Says how much was measured, and what limits the results. */
static enum gpumc_status write_trust(const struct summary *summary, struct gpumc_error *error)
{
  struct gpumc_recorder *recorder = summary->chains->context.recorder;
  bool exceeds = false;
  char text[512];
  GPUMC_TRY(write_excess(summary, &exceeds, error));
  const bool trusted =
      summary->unconverged + summary->unknown + summary->biased + summary->few.count == 0 &&
      !exceeds && summary->reach.doubtful == 0;
  GPUMC_TRY(gpumc_recorder_integer(recorder, "summary", "measurements",
                                   (int64_t)summary->chains->measured, error));
  GPUMC_TRY(gpumc_trust_record(&summary->chains->context, trusted, error));
  GPUMC_TRY(write_sample_warnings(summary, error));
  if (summary->drifting > 0)
    GPUMC_TRY(write_drift(summary, error));
  if (summary->unconverged > 0)
    GPUMC_TRY(write_unconverged(summary, error));
  if (summary->unserved > 0) {
    const char *values = chains_values_word(summary->chains);
    snprintf(text, sizeof text,
             "%zu of %zu points of the reweighting grid are too far from all %s, since less than a "
             "share of %g of the measurements contributes there: they are NaN; simulate more %s",
             summary->unserved, summary->reweighted.count, values, least_share, values);
    GPUMC_TRY(write_warning(summary, "reweight_warning", text, error));
  }
  if (summary->reach.doubtful > 0) {
    chains_reach_explain(&summary->reach, sizeof text, text);
    GPUMC_TRY(write_warning(summary, "reweight_errors_warning", text, error));
  }
  return GPUMC_OK;
}

enum gpumc_status chains_summarize(void *state, struct gpumc_error *error)
{
  const struct chains *chains = state;
  struct summary summary;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, summary_init(&summary, chains, error));
  GPUMC_TRY_OUT(status, take_temperatures(&summary, error));
  GPUMC_TRY_OUT(status, chains_runs_write(chains, error));
  GPUMC_TRY_OUT(status, chains_tuning_write(chains, error));
  GPUMC_TRY_OUT(status, write_direct(&summary, error));
  GPUMC_TRY_OUT(status, write_series(&summary, error));
  GPUMC_TRY_OUT(status, chains_profiles_write(chains, summary.shortest, error));
  GPUMC_TRY_OUT(status, write_reweighted(&summary, error));
  GPUMC_TRY_OUT(status, write_trust(&summary, error));
out:
  summary_free(&summary);
  return status;
}
