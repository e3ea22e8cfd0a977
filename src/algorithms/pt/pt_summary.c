/* Parallel tempering: the summary - the last bin of time, exchanges, walkers, whether equilibrium
 * was reached, and warnings. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "algorithms/pt/pt_output.h"
#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/simulation/steps.h"
#include "core/statistics/significance.h"

/* ---- warnings of the summary ---- */

/* Samples of one model disagree if the variance of their averages exceeds what their change from
 * bin to bin suggests by more than this factor, and by more than chance explains. */
static const double scatter_allowed = 30.0;
/* Number of samples that must fluctuate, or all if there are fewer. */
enum { SAMPLES_IN_MOTION = 8 };
/* Required round trips per walker; with fewer, cold temperatures have seen one descent at most. */
static const double round_trips_needed = 1.0;
/* Neighbours that exchange less often than this hardly take part in the tempering. */
static const double acceptance_needed = 0.01;
/* Acceptances of tuned neighbours that differ by more than this ratio are not equal. */
static const double uneven = 4.0;

/* For few samples, the comparisons of two earlier bins with the last one, at every temperature and
 * of every compared quantity. */
static double comparisons(const struct pt *pt)
{
  return (double)(pt->settings.temperatures * pt->terms.n_compared * (PT_BINS_COMPARED - 1));
}

struct scatter {
  double mean, variance;
};

/* Returns the scatter over the samples of after[] - before[], or of after[] if before is NULL. */
static struct scatter scatter_of(const double *after, const double *before, size_t samples)
{
  struct scatter scatter = {0, 0};
  for (size_t s = 0; s < samples; s++)
    scatter.mean += (after[s] - (before != NULL ? before[s] : 0)) / (double)samples;
  for (size_t s = 0; s < samples; s++) {
    const double deviation = after[s] - (before != NULL ? before[s] : 0) - scatter.mean;
    scatter.variance += deviation * deviation / (double)(samples - 1);
  }
  return scatter;
}

/* Returns an error without Student's factor, which it has for `freedom` degrees of freedom. */
static double plain(double error_of, double freedom)
{
  return error_of * sqrt((freedom - 2) / freedom);
}

static bool is_same(double a, double b)
{
  return fabs(a - b) <= 1e-12 * fabs(a);
}

/* For few samples: the bins are independent, with errors from blocks of time; at least as many as
 * pt_block_groups needs. A bin that did not fluctuate has no error; if neither has one, only equal
 * values agree. */
static bool agree_by_time(const struct pt *pt, size_t bin, size_t last, size_t quantity, size_t t)
{
  const double value[2] = {pt_bin_values(pt, last, quantity)[t],
                           pt_bin_values(pt, bin, quantity)[t]};
  const double error_of[2] = {pt_bin_errors(pt, last, quantity)[t],
                              pt_bin_errors(pt, bin, quantity)[t]};
  const double freedom = PT_FEWEST_GROUPS - 1;
  double squares = 0;
  for (int i = 0; i < 2; i++)
    squares += isnan(error_of[i]) ? 0 : error_of[i] * error_of[i];
  return is_same(value[0], value[1]) ||
         gpumc_student_tail((value[0] - value[1]) / plain(sqrt(squares), freedom), freedom) *
                 comparisons(pt) >=
             GPUMC_FALSE_ALARMS;
}

static bool is_disordered(const struct pt *pt)
{
  return pt->context.model->disorder;
}

/* Returns whether samples of one model agree: they do not if each moves far less in time than they
 * differ. The change between the last bin and the one before it, half as long, has three times the
 * variance of the last one's averages. */
static bool samples_agree(const struct pt *pt, size_t last, size_t compared, size_t t)
{
  const double *after = pt_remembered(pt, last, compared, t);
  const double *before = pt_remembered(pt, last - 1, compared, t);
  const struct scatter apart = scatter_of(after, NULL, pt->settings.samples);
  const struct scatter change = scatter_of(after, before, pt->settings.samples);
  const double rounding = 1e-12 * apart.mean, freedom = (double)(pt->settings.samples - 1);
  const double comparisons = (double)(pt->settings.temperatures * pt->terms.n_compared);
  const double alarms = GPUMC_FALSE_ALARMS - PT_ALARMS_OF_DRIFT;
  const double ratio = 3.0 * (apart.variance - rounding * rounding) / change.variance;
  return !(ratio > scatter_allowed &&
           gpumc_fisher_tail(ratio, freedom, freedom) * comparisons < alarms);
}

/* Returns whether the tracked channel of a sample has more than one value in the last bin. Sums of
 * n equal numbers are wrong by n/4 epsilon at most. */
static bool is_in_motion(const struct pt *pt, size_t t, size_t s)
{
  const struct pt_sums sums = pt_held_sums(pt);
  const double mean = pt_term_mean_of_all(&sums, pt->terms.tracked, t, s);
  const double square = pt_term_mean_of_all(&sums, pt->terms.tracked2, t, s);
  double measurements = 0;
  for (size_t b = 0; b < pt->bin.blocks; b++)
    measurements += (double)pt->bin.measurements[b];
  const double values =
      measurements * (double)pt_tempering_values(&pt->tempering.plan, pt->terms.tracked);
  return square - mean * mean > gpumc_rounding(values / 4, square);
}

/* Returns whether nothing of the sample changes from bin to bin although its energies are not all
 * the same: its copies are stuck in different states. */
static bool is_frozen_apart(const struct pt *pt, size_t last, size_t t, size_t s)
{
  bool still = true;
  for (size_t back = 1; back < PT_BINS_COMPARED && still; back++)
    for (size_t i = 0; i < pt->terms.n_compared && still; i++)
      still = is_same(pt_remembered(pt, last, i, t)[s], pt_remembered(pt, last - back, i, t)[s]);
  return still && is_in_motion(pt, t, s);
}

/* Detects what differences between bins do not show, because there are none. */
static bool is_moving(const struct pt *pt, size_t last, size_t t)
{
  bool good = true;
  for (size_t s = 0; s < pt->settings.samples && good; s++)
    good = !is_frozen_apart(pt, last, t, s);
  for (size_t i = 0; i < pt->terms.n_compared && good; i++)
    good = pt->settings.by_time || is_disordered(pt) || samples_agree(pt, last, i, t);
  return good;
}

/* Returns whether at temperature t the compared quantities of the last bins of time agree, besides
 * those of the samples, blocks of time are long enough for errors from them, and samples and copies
 * do not stay apart. */
static bool is_equilibrated(const struct pt *pt, size_t t)
{
  const size_t last = pt->timeline.bins - 1;
  bool good = pt->timeline.bins >= PT_BINS_COMPARED;
  for (size_t back = 1; back < PT_BINS_COMPARED && good && pt->settings.by_time; back++)
    for (size_t i = 0; i < pt->terms.n_compared && good; i++)
      good = agree_by_time(
          pt, last - back, last,
          gpumc_observables_reported(&pt->settings.observables, pt->terms.compared[i]), t);
  good = good && is_moving(pt, last, t);
  const struct pt_sums sums = pt_held_sums(pt);
  if (good && pt->settings.by_time)
    (void)pt_block_groups(&sums, t, &good);
  return good;
}

/* Finds whether the error of the tracked channel at temperature t rests on enough events, 0 or 1,
 * and looks at the samples. The average is that of the last bin. */
static enum gpumc_status find_determined(struct pt_average *average, size_t t, double *determined,
                                         struct gpumc_few_samples *few, struct gpumc_error *error)
{
  const struct pt *pt = average->pt;
  double value[GPUMC_QUANTITIES_MAXIMUM], error_of[GPUMC_QUANTITIES_MAXIMUM];
  size_t moving = 0;
  GPUMC_TRY(pt_average_at(average, t, value, error_of, error));
  const size_t tracked = gpumc_observables_reported(&pt->settings.observables, pt->terms.tracked);
  const bool good = gpumc_trust_samples(average->variance[tracked].freedom, average->left_outs);
  if (!pt->settings.by_time)
    gpumc_few_samples_look(few, pt->context.model, &pt->settings.observables, average->by_sample,
                           pt->settings.samples, average->width, pt->value[t]);
  for (size_t s = 0; s < pt->settings.samples && !is_disordered(pt); s++)
    moving += is_in_motion(pt, t, s);
  *determined =
      good && (is_disordered(pt) || moving >= SAMPLES_IN_MOTION || moving == pt->settings.samples);
  return GPUMC_OK;
}

/* Returns whether there are several disorder samples, but too few for errors of their average. */
static bool errors_are_thermal(const struct pt *pt)
{
  return is_disordered(pt) && pt->settings.by_time && pt->settings.samples > 1;
}

/* Returns those of all samples and copies. */
static uint64_t round_trips_of(const struct pt *pt)
{
  uint64_t trips = 0;
  for (size_t s = 0; s < pt->settings.samples; s++)
    trips += pt->counts.round_trips[s];
  return trips;
}

static double round_trips_per_walker(const struct pt *pt)
{
  const struct pt_settings *settings = &pt->settings;
  const double walkers =
      (double)settings->samples * (double)settings->copies * (double)settings->temperatures;
  return (double)round_trips_of(pt) / walkers;
}

/* Returns whether walkers have made round trips, one each on average; true without exchanges. */
static bool walkers_return(const struct pt *pt)
{
  return !pt->settings.exchange || round_trips_per_walker(pt) >= round_trips_needed;
}

static void warn(struct pt *pt, struct gpumc_text *all, const char *text)
{
  gpumc_text_append(all, "%s%s", all->length == 0 ? "" : "; ", text);
  gpumc_observer_tell(pt->context.observer, GPUMC_WARNING, text);
}

static void warn_of_equilibrium(struct pt *pt, const double *equilibrated, struct gpumc_text *all)
{
  const struct gpumc_observables *observables = &pt->settings.observables;
  const bool has_identity = pt->terms.identity < observables->n_quantities;
  char text[384], where[GPUMC_FAILING_BYTES];
  if (gpumc_trust_failing(equilibrated, pt->axis.name, pt->value, pt->settings.temperatures, false,
                          where) == 0)
    return;
  snprintf(text, sizeof text,
           "not known to be in equilibrium at %s: the last %d bins of time disagree%s%s%s or are "
           "too short for errors, or samples or copies stay apart; use more sweeps",
           where, PT_BINS_COMPARED, has_identity ? ", or violate " : "",
           has_identity ? observables->quantity[pt->terms.identity].what->identity : "",
           has_identity ? "," : "");
  warn(pt, all, text);
}

static void warn_of_events(struct pt *pt, const double *determined, struct gpumc_text *all)
{
  char text[256], where[GPUMC_FAILING_BYTES];
  if (gpumc_trust_failing(determined, pt->axis.name, pt->value, pt->settings.temperatures, false,
                          where) == 0)
    return;
  snprintf(text, sizeof text,
           "at %s, hardly anything fluctuates: too few events to estimate an error; use more "
           "sweeps or samples, or stay %s",
           where, pt_moves_beta(pt) ? "above these temperatures" : "away from these values");
  warn(pt, all, text);
}

static void warn_of_walkers(struct pt *pt, struct gpumc_text *all)
{
  char text[320];
  snprintf(text, sizeof text,
           "%.3g round trips of a walker between the %s, on average, are too few to establish "
           "equilibrium: at least %g is needed; use more sweeps, or more %s where few exchanges "
           "are accepted",
           round_trips_per_walker(pt),
           pt_moves_beta(pt) ? "hottest and the coldest temperature" : "first and the last value",
           round_trips_needed, pt_moves_beta(pt) ? "temperatures" : "values");
  warn(pt, all, text);
}

static void warn_of_errors(struct pt *pt, struct gpumc_text *all)
{
  char text[192];
  snprintf(text, sizeof text,
           "errors cover fluctuations in time only, not how other disorder samples than these %zu "
           "would differ; use %d samples or more",
           pt->settings.samples, PT_SAMPLES_FOR_ERRORS);
  warn(pt, all, text);
}

static void
warn_of_samples(struct pt *pt, const struct gpumc_few_samples *few, struct gpumc_text *all)
{
  char text[GPUMC_FEW_SAMPLES_BYTES];
  if (few->count == 0)
    return;
  gpumc_few_samples_explain(few, pt->axis.name, text);
  warn(pt, all, text);
}

/* Returns what would make exchanges more frequent. A tuning that was long enough leaves no
 * neighbours that exchange much more often than others. */
static const char *remedy_of_exchanges(const struct pt *pt, double least, double greatest)
{
  const bool is_beta = pt_moves_beta(pt);
  if (pt->settings.tuning_iterations == 0)
    return is_beta ? "use more temperatures, or `tune`" : "use more values, or `tune`";
  if (greatest > uneven * least)
    return is_beta ? "others are far more frequent, so use more `tune.sweeps`, or more temperatures"
                   : "others are far more frequent, so use more `tune.sweeps`, or more values";
  return is_beta ? "use more temperatures or a narrower range, since these have been tuned"
                 : "use more values or a narrower range, since these have been tuned";
}

static void warn_of_exchanges(struct pt *pt, struct gpumc_text *all)
{
  const double places = (double)(pt->settings.copies * pt->settings.samples);
  char text[320];
  size_t worst = 0;
  double least = INFINITY, greatest = 0;
  for (size_t t = 0; t + 1 < pt->settings.temperatures; t++) {
    const double acceptance =
        pt_acceptance(pt->counts.rounds, pt->counts.accepted, places, pt->settings.temperatures, t);
    greatest = fmax(greatest, acceptance);
    if (acceptance < least) {
      least = acceptance;
      worst = t;
    }
  }
  if (!(least < acceptance_needed))
    return;
  snprintf(text, sizeof text,
           "between %s = %g and %g only %.2g %% of the exchanges are accepted: %s", pt->axis.name,
           pt->value[worst], pt->value[worst + 1], 100 * least,
           remedy_of_exchanges(pt, least, greatest));
  warn(pt, all, text);
}

/* Warns of quantities that exceed their limits; returns how many. */
static size_t warn_of_excess(struct pt *pt, struct gpumc_text *all)
{
  size_t exceeding = 0;
  for (size_t q = 0; q < pt->settings.observables.n_quantities; q++) {
    char text[GPUMC_EXCESS_BYTES];
    if (gpumc_quantity_excess(&pt->settings.observables, q,
                              pt_bin_values(pt, pt->timeline.bins - 1, q),
                              pt->settings.temperatures, pt_moves_beta(pt), text) == 0)
      continue;
    exceeding++;
    if (all != NULL)
      warn(pt, all, text);
  }
  return exceeding;
}

/* What speaks for and against a result: equilibrated and determined, 0 or 1, [temperatures]; and
 * whether samples are too few. */
struct flags {
  double *equilibrated, *determined;
  struct gpumc_few_samples few;
};

/* Reports them to the observer and in the file. */
static enum gpumc_status
write_warnings(struct pt *pt, const struct flags *flags, struct gpumc_error *error)
{
  struct gpumc_text all = {0};
  enum gpumc_status status = GPUMC_OK;
  warn_of_equilibrium(pt, flags->equilibrated, &all);
  warn_of_events(pt, flags->determined, &all);
  if (!walkers_return(pt))
    warn_of_walkers(pt, &all);
  if (errors_are_thermal(pt))
    warn_of_errors(pt, &all);
  warn_of_samples(pt, &flags->few, &all);
  if (pt->settings.exchange)
    warn_of_exchanges(pt, &all);
  (void)warn_of_excess(pt, &all);
  if (all.failed)
    status = gpumc_error_set(error, GPUMC_FAILURE, "out of memory: warnings");
  else if (all.length > 0)
    status = gpumc_recorder_text(pt->context.recorder, "summary", "warning",
                                 gpumc_text_string(&all), error);
  gpumc_text_free(&all);
  return status;
}

static const char *tracked_name(const struct pt *pt)
{
  const struct gpumc_model_ops *model = pt->context.model->ops;
  return model->channels[model->tracked].label.name;
}

/* ---- summary ---- */

struct gpumc_curve_place pt_summary_place(const struct pt *pt)
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
  const struct gpumc_curve_place place = pt_summary_place(pt);
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
          ? "share of the walkers that visited the hottest temperature more recently than the "
            "coldest one"
          : "share of the walkers that visited the first value more recently than the last one",
      "1", "f"};
  const struct pt_counts *counts = &pt->counts;
  const struct gpumc_curve_place place = pt_summary_place(pt);
  const size_t temperatures = pt->settings.temperatures;
  const double places = (double)(pt->settings.copies * pt->settings.samples);
  for (size_t t = 0; t < temperatures; t++)
    values[t] = pt_acceptance(counts->rounds, counts->accepted, places, temperatures, t);
  GPUMC_TRY(gpumc_curve_write(&place, &acceptance, false, values, error));
  for (size_t t = 0; t < temperatures; t++)
    values[t] = counts->labelled[t] > 0
                    ? (double)counts->from_hottest[t] / (double)counts->labelled[t]
                    : NAN;
  GPUMC_TRY(gpumc_curve_write(&place, &flow, false, values, error));
  return gpumc_steps_write(pt->context.ensemble, &place, pt->context.observer, error);
}

static enum gpumc_status find_flags(struct pt *pt, struct flags *flags, struct gpumc_error *error)
{
  const struct pt_sums sums = pt_held_sums(pt);
  struct pt_average average;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, pt_average_init(&sums, &average, error));
  GPUMC_TRY_OUT(status, pt_find_drift(pt, flags->equilibrated, error));
  for (size_t t = 0; t < pt->settings.temperatures; t++) {
    flags->equilibrated[t] = flags->equilibrated[t] != 0 && is_equilibrated(pt, t);
    GPUMC_TRY_OUT(status, find_determined(&average, t, &flags->determined[t], &flags->few, error));
  }
out:
  pt_average_free(&average);
  return status;
}

static enum gpumc_status write_flag(struct pt *pt, const struct gpumc_label *label,
                                    const double *flag, bool *all, struct gpumc_error *error)
{
  const struct gpumc_curve_place place = pt_summary_place(pt);
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
  snprintf(long_name, sizeof long_name,
           "1 where the %s fluctuates often enough to estimate its error", tracked_name(pt));
  const struct gpumc_label determined = {"determined", long_name, "1", ""};
  bool all = !errors_are_thermal(pt) && walkers_return(pt) && warn_of_excess(pt, NULL) == 0;
  GPUMC_TRY(find_flags(pt, flags, error));
  GPUMC_TRY(write_flag(pt, &equilibrated, flags->equilibrated, &all, error));
  GPUMC_TRY(write_flag(pt, &determined, flags->determined, &all, error));
  GPUMC_TRY(gpumc_trust_record(&pt->context, all && flags->few.count == 0, error));
  return write_warnings(pt, flags, error);
}

/* Writes numbers that are not curves. */
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
      {"round_trips", round_trips_of(pt)},
  };
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    GPUMC_TRY(gpumc_recorder_integer(recorder, "summary", numbers[i].name,
                                     (int64_t)numbers[i].value, error));
  GPUMC_TRY(gpumc_recorder_number(recorder, "summary", "round_trips_per_walker",
                                  round_trips_per_walker(pt), error));
  return gpumc_recorder_text(recorder, "summary", "errors_from",
                             settings->by_time ? "blocks of time" : "samples", error);
}

enum gpumc_status pt_summarize(void *state, struct gpumc_error *error)
{
  struct pt *pt = state;
  const struct gpumc_curve_place place = pt_summary_place(pt);
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
  GPUMC_TRY_OUT(status, pt_clusters_write(pt, &place, values, error));
  GPUMC_TRY_OUT(status, write_numbers(pt, error));
  GPUMC_TRY_OUT(status, write_equilibrium(pt, &flags, error));
  if (pt->settings.observables.pairs)
    GPUMC_TRY_OUT(status, pt_write_distributions(pt, error));
  GPUMC_TRY_OUT(status, pt_write_samples(pt, error));
out:
  free(values);
  free(flags.equilibrated);
  free(flags.determined);
  return status;
}
