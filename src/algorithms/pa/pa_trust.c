/* Population annealing: whether the averages of the summary can be trusted. */
#include <math.h>
#include <stdio.h>

#include "algorithms/pa/pa_summary.h"
#include "core/base/text.h"
#include "core/statistics/significance.h"

/* Required effective families, R/rho_t of a single run (Wang, Machta, Katzgraber 2015). */
static const double families_needed = 100.0;

static const char *tracked_name(const struct pa_trust *trust)
{
  const struct gpumc_model_ops *model = trust->pa->context.model->ops;
  return model->channels[model->tracked].label.name;
}

void pa_trust_regard_quantity(struct pa_trust *trust, size_t row, size_t q,
                              struct gpumc_variance by_block, struct gpumc_variance by_run)
{
  /* The same events make the blocks and the runs scatter: they count once. */
  if (q == trust->watched && !gpumc_trust_freedom(by_block.freedom))
    trust->determined[row] = 0;
  const double chance =
      gpumc_fisher_tail(by_run.value / by_block.value, by_run.freedom, by_block.freedom);
  trust->chance[row] = fmin(trust->chance[row], chance);
}

/* A family's share of the average is that of its run times its share in the run; 1 over the sum of
 * the squares of all shares is the number of equal families that would scatter as much. */
void pa_trust_regard_families(struct pa_trust *trust, size_t row, const double *weight)
{
  const struct pa *pa = trust->pa;
  double squares = 0;
  for (size_t m = 0; m < pa->settings.runs; m++) {
    const double replicas = pa_curve_value(pa, m, row, PA_POPULATION);
    const double rho = pa_curve_value(pa, m, row, PA_RHO_T);
    squares += weight[m] * weight[m] * rho / replicas;
  }
  trust->families[row] = 1 / squares;
}

static enum gpumc_status write_trust_curves(const struct pa_trust *trust, struct gpumc_error *error)
{
  const struct gpumc_label families = {
      "effective_families", "number of equal families that would scatter like those of all runs",
      "1", "n"};
  char determined_where[128];
  snprintf(determined_where, sizeof determined_where,
           "1 where the %s fluctuates often enough to estimate its error", tracked_name(trust));
  const struct gpumc_label determined = {"determined", determined_where, "1", ""};
  const struct gpumc_curve_place place = {.recorder = trust->pa->context.recorder,
                                          .model = trust->pa->context.model,
                                          .group = "summary",
                                          .axis = {trust->pa->axis_of_summary},
                                          .count = {trust->temperatures}};
  GPUMC_TRY(gpumc_curve_write(&place, &families, false, trust->families, error));
  return gpumc_curve_write(&place, &determined, true, trust->determined, error);
}

static void warn(const struct pa_trust *trust, struct gpumc_text *all, const char *text)
{
  gpumc_text_append(all, "%s%s", all->length == 0 ? "" : "; ", text);
  gpumc_observer_tell(trust->pa->context.observer, GPUMC_WARNING, text);
}

static void warn_of_families(const struct pa_trust *trust, double families, struct gpumc_text *all)
{
  char text[256];
  if (families > families_needed)
    return;
  snprintf(text, sizeof text,
           "the replicas of all runs scatter like %.4g independent families, but more than %g are "
           "needed: averages may be biased and errors too small; use a larger population, more "
           "runs, more sweeps or smaller steps",
           families, families_needed);
  warn(trust, all, text);
}

static void warn_of_events(const struct pa_trust *trust, struct gpumc_text *all)
{
  char text[256], where[GPUMC_FAILING_BYTES];
  if (gpumc_trust_failing(trust->determined, trust->pa->axis.name, trust->pa->schedule.value,
                          trust->temperatures, true, where) == 0)
    return;
  snprintf(text, sizeof text,
           "at %s, the %s fluctuates in too few families to estimate its error; use a larger "
           "population or stay %s",
           where, tracked_name(trust),
           trust->pa->settings.moved.beta ? "above these temperatures" : "away from these values");
  warn(trust, all, text);
}

static void warn_of_runs(const struct pa_trust *trust, size_t worst, struct gpumc_text *all)
{
  char text[192];
  snprintf(text, sizeof text,
           "the runs contradict each other at %s = %g: they scatter more than their families "
           "explain; use a larger population, more sweeps or smaller steps",
           trust->pa->axis.name, trust->pa->schedule.value[worst]);
  warn(trust, all, text);
}

/* Warns of quantities that exceed their limits, value[Q][T]. */
static void
warn_of_excess(const struct pa_trust *trust, const double *value, struct gpumc_text *all)
{
  const struct pa_settings *settings = &trust->pa->settings;
  char text[GPUMC_EXCESS_BYTES];
  for (size_t q = 0; q < settings->observables.n_quantities; q++)
    if (gpumc_quantity_excess(&settings->observables, q, value + q * trust->temperatures,
                              trust->temperatures, settings->moved.beta, text) > 0)
      warn(trust, all, text);
}

enum gpumc_status
pa_trust_write(const struct pa_trust *trust, const double *value, struct gpumc_error *error)
{
  const struct pa *pa = trust->pa;
  struct gpumc_text all = {0};
  double rho = 0, families = INFINITY;
  size_t worst = 0;
  for (size_t t = 0; t < trust->temperatures; t++) {
    for (size_t m = 0; m < pa->settings.runs; m++)
      rho = fmax(rho, pa_curve_value(pa, m, t, PA_RHO_T));
    families = fmin(families, trust->families[t]);
    worst = trust->chance[t] < trust->chance[worst] ? t : worst;
  }
  const double comparisons = (double)(trust->temperatures * pa_quantities(&pa->settings));
  warn_of_families(trust, families, &all);
  warn_of_events(trust, &all);
  warn_of_excess(trust, value, &all);
  if (trust->chance[worst] < GPUMC_FALSE_ALARMS / comparisons)
    warn_of_runs(trust, worst, &all);
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, write_trust_curves(trust, error));
  GPUMC_TRY_OUT(
      status, gpumc_recorder_number(pa->context.recorder, "summary", "rho_t_maximum", rho, error));
  GPUMC_TRY_OUT(status, gpumc_trust_record(&pa->context, all.length == 0, error));
  if (all.failed)
    GPUMC_TRY_OUT(status, gpumc_error_set(error, GPUMC_FAILURE, "out of memory: warnings"));
  if (all.length > 0)
    GPUMC_TRY_OUT(status, gpumc_recorder_text(pa->context.recorder, "summary", "warning",
                                              gpumc_text_string(&all), error));
out:
  gpumc_text_free(&all);
  return status;
}
