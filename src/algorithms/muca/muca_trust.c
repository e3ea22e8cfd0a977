/* Multicanonical sampling: whether results can be trusted, for each table and for the joins of
 * windows, and what is missing. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "algorithms/muca/muca.h"
#include "core/base/memory.h"
#include "core/simulation/curves.h"
#include "core/statistics/significance.h"

enum {
  ROUND_TRIPS_LEAST = 100, /* of a table; fewer do not determine their number */
  SAMPLES_LEAST = 8        /* whose scatter determines an error */
};

static enum gpumc_status follow(struct muca *muca, const struct muca_table *table,
                                struct muca_travels *travels, struct gpumc_error *error)
{
  const double walkers = (double)muca->settings.walkers;
  struct muca_passages passages;
  GPUMC_TRY(muca_count_passages(muca, table, &passages, error));
  /* Walkers forget where they began, and there are enough of them for errors. */
  travels->enough = passages.round_trips >= ROUND_TRIPS_LEAST && passages.all >= walkers;
  travels->round_trips = passages.round_trips;
  travels->time = passages.all > 0 ? (double)table->progress->walked * walkers / passages.all : NAN;
  return GPUMC_OK;
}

enum gpumc_status muca_travels_count(struct muca *muca, struct gpumc_error *error)
{
  if (muca->is_merged)
    return GPUMC_OK;
  if (muca->travels == NULL)
    GPUMC_TRY(gpumc_allocate_array(&muca->travels, muca->tables, "travels of walkers", error));
  for (size_t i = 0; i < muca->tables; i++)
    GPUMC_TRY(follow(muca, &muca->table[i], &muca->travels[i], error));
  return GPUMC_OK;
}

/* ---- windows ---- */

bool muca_join_holds(const struct muca *muca, const struct muca_density *density, size_t k)
{
  double error_of;
  const double tilt = muca_density_tilt(muca, density, k, &error_of);
  const double joins = (double)((muca->settings.windows - 1) * muca->settings.samples);
  if (!isfinite(tilt) || !isfinite(error_of))
    return false;
  return gpumc_student_tail(fabs(tilt) / error_of, (double)(density->blocks - 1)) >=
         GPUMC_FALSE_ALARMS / joins;
}

/* Columns of /summary/windows. */
enum { FROM, TO, ITERATIONS, CONVERGED, EMPTY, ROUND_TRIPS, TIME, TILT, TILT_ERROR, COLUMNS };

static void fill_window(const struct muca *muca, const struct muca_density *density, size_t k,
                        double *column[COLUMNS])
{
  const struct muca_settings *settings = &muca->settings;
  const struct gpumc_model *model = muca->context.model;
  const struct muca_table *table = &muca->table[k];
  column[FROM][k] = muca_end_value(settings, model, table->first, -1);
  column[TO][k] = muca_end_value(settings, model, table->first + settings->window - 1, 1);
  column[ITERATIONS][k] = (double)table->progress->iteration;
  column[CONVERGED][k] = (double)table->progress->converged;
  column[EMPTY][k] = muca_is_closed(table) && !muca_is_missing(muca, table);
  column[ROUND_TRIPS][k] = muca->travels[k].round_trips;
  column[TIME][k] = muca->travels[k].time;
  column[TILT][k] = column[TILT_ERROR][k] = NAN;
  if (k > 0)
    column[TILT][k] = muca_density_tilt(muca, density, k - 1, &column[TILT_ERROR][k]);
}

enum gpumc_status muca_windows_write(const struct muca *muca, const struct muca_density *density,
                                     struct gpumc_error *error)
{
  const size_t windows = muca->settings.windows;
  const struct gpumc_label *channel =
      &muca->context.model->ops->channels[muca->settings.channel].label;
  const struct gpumc_label axis = {"window", "number of the window", "1", "k"};
  const struct gpumc_label labels[COLUMNS] = {
      [FROM] = {"from", "lowest value of the window, of the whole system", channel->units,
                channel->symbol},
      [TO] = {"to", "highest value of the window, of the whole system", channel->units,
              channel->symbol},
      [ITERATIONS] = {"iterations", "iterations of the weights", "1", "n"},
      [CONVERGED] = {"converged", "whether the weights converged", "1", ""},
      [EMPTY] = {"empty", "whether the window was left out because it has no states", "1", ""},
      [ROUND_TRIPS] = {"round_trips", "round trips of walkers between the ends of the window", "1",
                       "n_rt"},
      [TIME] = {"tunnelling_time", "updates of a walker from one end of the window to the other",
                "updates", "τ"},
      [TILT] = {"tilt",
                "difference of ln Omega from that of the previous window, in the upper half of "
                "their common levels minus that in the lower half",
                "1", ""}};
  const struct gpumc_curve_place place = {.recorder = muca->context.recorder,
                                          .model = muca->context.model,
                                          .group = "summary/windows",
                                          .axis = {"summary/windows/window"},
                                          .count = {windows}};
  double *values, *column[COLUMNS];
  if (windows == 1)
    return GPUMC_OK;
  GPUMC_TRY(gpumc_allocate_array(&values, windows * (COLUMNS + 1), "windows", error));
  for (size_t i = 0; i < COLUMNS; i++)
    column[i] = values + i * windows;
  double *number = values + COLUMNS * windows;
  enum gpumc_status status = GPUMC_OK;
  for (size_t k = 0; k < windows; k++) {
    number[k] = (double)k;
    fill_window(muca, density, k, column);
  }
  GPUMC_TRY_OUT(status, gpumc_curve_write_axis(&place, 0, &axis, true, number, error));
  for (size_t i = 0; i < TILT; i++) {
    const bool whole = i == ITERATIONS || i == CONVERGED || i == EMPTY || i == ROUND_TRIPS;
    GPUMC_TRY_OUT(status, gpumc_curve_write(&place, &labels[i], whole, column[i], error));
  }
  GPUMC_TRY_OUT(status, gpumc_curve_write_with_error(&place, &labels[TILT], column[TILT],
                                                     column[TILT_ERROR], error));
out:
  free(values);
  return status;
}

/* ---- the verdict ---- */

static enum gpumc_status write_warning(const struct muca *muca, const char *name, const char *text,
                                       struct gpumc_error *error)
{
  gpumc_observer_tell(muca->context.observer, GPUMC_WARNING, text);
  return gpumc_recorder_text(muca->context.recorder, "summary", name, text, error);
}

/* For all tables that are not closed. */
struct verdict {
  size_t unconverged, resting; /* tables whose weights or walkers fail */
  size_t closed, missing;
  const struct muca_table *first_missing;
  const struct muca_table *farthest; /* the one with the least flat weights */
  double fewest;                     /* round trips of a resting table */
  double round_trips, time;          /* all of them; the mean tunnelling time */
  uint64_t iterations, walked;       /* maximum */
};

/* Farther from flat weights: unconverged ones before others. */
static bool is_farther(const struct muca_table *table, const struct muca_table *than)
{
  if (table->progress->converged != than->progress->converged)
    return than->progress->converged;
  return *table->divergence > *than->divergence;
}

static void judge(const struct muca *muca, struct verdict *verdict)
{
  *verdict = (struct verdict){.fewest = INFINITY};
  for (size_t i = 0; i < muca->tables; i++) {
    const struct muca_table *table = &muca->table[i];
    const struct muca_progress *progress = table->progress;
    const struct muca_travels *travels = &muca->travels[i];
    if (muca_is_missing(muca, table)) {
      verdict->first_missing = verdict->missing == 0 ? table : verdict->first_missing;
      verdict->missing++;
    }
    verdict->closed += muca_is_closed(table);
    if (muca_is_closed(table))
      continue;
    if (verdict->farthest == NULL || is_farther(table, verdict->farthest))
      verdict->farthest = table;
    verdict->unconverged += !progress->converged;
    verdict->resting += !travels->enough;
    if (!travels->enough)
      verdict->fewest = fmin(verdict->fewest, travels->round_trips);
    verdict->round_trips += travels->round_trips;
    verdict->time += travels->time;
    verdict->iterations =
        progress->iteration > verdict->iterations ? progress->iteration : verdict->iterations;
    verdict->walked = progress->walked > verdict->walked ? progress->walked : verdict->walked;
  }
  verdict->time /= (double)(muca->tables - verdict->closed);
}

enum { WHICH_BYTES = 96 };

/* Writes " in 3 of 8 windows", " of 2 of 64 samples", or nothing if there is only one table. */
static const char *which(const struct muca *muca, size_t count, char text[static WHICH_BYTES])
{
  const bool samples = muca->settings.samples > 1, windows = muca->settings.windows > 1;
  const char *what = samples && windows ? "windows of all samples"
                     : samples          ? "samples"
                                        : "windows";
  text[0] = '\0';
  if (muca->tables > 1)
    snprintf(text, WHICH_BYTES, " in %zu of %zu %s", count, muca->tables, what);
  return text;
}

static enum gpumc_status
write_convergence(const struct muca *muca, const struct verdict *verdict, struct gpumc_error *error)
{
  char text[384], tables[WHICH_BYTES];
  if (verdict->unconverged == 0)
    return GPUMC_OK;
  snprintf(text, sizeof text,
           "weights have not converged%s after %llu iterations: the divergence is %.3g, not below "
           "%.3g; allow more (iteration.maximum), or use more walkers",
           which(muca, verdict->unconverged, tables),
           (unsigned long long)verdict->farthest->progress->iteration,
           *verdict->farthest->divergence, muca->settings.divergence);
  return write_warning(muca, "warning", text, error);
}

static enum gpumc_status
write_travels(const struct muca *muca, const struct verdict *verdict, struct gpumc_error *error)
{
  char text[512], tables[WHICH_BYTES];
  if (verdict->resting == 0)
    return GPUMC_OK;
  snprintf(text, sizeof text,
           "%.0f round trips of %zu walkers between the ends of the range%s are too few; at least "
           "%d are needed, and half a round trip for each walker: errors may be too small; use a "
           "larger production.updates",
           verdict->fewest, muca->settings.walkers, which(muca, verdict->resting, tables),
           ROUND_TRIPS_LEAST);
  return write_warning(muca, "round_trips_warning", text, error);
}

static enum gpumc_status
write_missing(const struct muca *muca, const struct verdict *verdict, struct gpumc_error *error)
{
  char text[640], tables[WHICH_BYTES], name[MUCA_NAME_BYTES];
  const struct muca_table *table = verdict->first_missing;
  const double sites = (double)muca->context.model->sites;
  if (verdict->missing == 0)
    return GPUMC_OK;
  const size_t last = table->first + muca->settings.window - 1;
  snprintf(text, sizeof text,
           "too few walkers%s reached the range from %g to %g per site, the first case%s: levels "
           "there are missing, and averages to which they may contribute are NaN; %s",
           muca_table_name(muca, table, name),
           muca_level_value(&muca->settings, muca->context.model, table->first) / sites,
           muca_level_value(&muca->settings, muca->context.model, last) / sites,
           which(muca, verdict->missing, tables), muca_closed_remedy);
  return write_warning(muca, "entering_warning", text, error);
}

/* Grid points without averages: none of the others is wrong, so the result may be trusted. */
static enum gpumc_status write_fault(const struct muca *muca, const struct muca_curves *curves,
                                     enum muca_fault fault, const char *name, const char *what,
                                     struct gpumc_error *error)
{
  const char *control = gpumc_moved_label(muca->context.model, &muca->settings.moved).name;
  size_t count = 0;
  double first = 0;
  char text[384];
  for (size_t p = curves->points; p-- > 0;)
    if (curves->fault[p] == fault) {
      first = curves->grid[p];
      count++;
    }
  if (count == 0)
    return GPUMC_OK;
  snprintf(text, sizeof text, "at %zu values of %s, the first %g, %s", count, control, first, what);
  return write_warning(muca, name, text, error);
}

static enum gpumc_status
write_faults(const struct muca *muca, const struct muca_curves *curves, struct gpumc_error *error)
{
  GPUMC_TRY(write_fault(muca, curves, MUCA_FAULT_CUT, "range_warning",
                        "states outside algorithm.range contribute: averages there are NaN; use a "
                        "wider range, or a grid within it",
                        error));
  return write_fault(
      muca, curves, MUCA_FAULT_BINS, "bin_warning",
      "weights differ too much within a bin: averages there are NaN; use a narrower algorithm.bin",
      error);
}

static enum gpumc_status
write_joins(const struct muca *muca, double tilted, struct gpumc_error *error)
{
  char text[384];
  if (tilted == 0)
    return GPUMC_OK;
  snprintf(text, sizeof text,
           "windows disagree at %.0f joins on the slope of ln Omega over their common levels, or "
           "have not visited these: walkers in one of them do not reach all states; use fewer "
           "windows, or a larger windows.overlap",
           tilted);
  return write_warning(muca, "windows_warning", text, error);
}

/* Whether samples are enough for errors of averages over them, at the points of the grid. */
static struct gpumc_few_samples look_at_samples(const struct muca *muca)
{
  const struct muca_curves *curves = &muca->curves;
  const size_t samples = muca->settings.samples, width = muca_averages_width(muca);
  struct gpumc_few_samples few = {0};
  for (size_t p = 0; p < curves->points && samples > 1; p++)
    gpumc_few_samples_look(&few, muca->context.model, &muca->settings.observables,
                           curves->averages + p * width, samples, curves->points * width,
                           curves->grid[p]);
  return few;
}

static enum gpumc_status
write_few(const struct muca *muca, const struct gpumc_few_samples *few, struct gpumc_error *error)
{
  const char *control = gpumc_moved_label(muca->context.model, &muca->settings.moved).name;
  const size_t samples = muca->settings.samples;
  char text[GPUMC_FEW_SAMPLES_BYTES];
  if (samples > 1 && samples < SAMPLES_LEAST)
    snprintf(text, sizeof text,
             "errors from the scatter of %zu samples are rough; use at least %d samples", samples,
             SAMPLES_LEAST);
  else if (few->count > 0)
    gpumc_few_samples_explain(few, control, text);
  else
    return GPUMC_OK;
  return write_warning(muca, "samples_warning", text, error);
}

enum gpumc_status muca_trust_write(const struct muca *muca, struct gpumc_error *error)
{
  struct gpumc_recorder *recorder = muca->context.recorder;
  const size_t samples = muca->settings.samples;
  const struct gpumc_few_samples few = look_at_samples(muca);
  const bool enough = samples == 1 || (samples >= SAMPLES_LEAST && few.count == 0);
  struct verdict verdict;
  double tilted = 0;
  for (size_t i = 0; i < samples; i++)
    tilted += muca->curves.tilted[i];
  judge(muca, &verdict);
  const bool converged = verdict.unconverged == 0 && verdict.missing == 0;
  const bool trusted = converged && verdict.resting == 0 && tilted == 0 && enough;
  GPUMC_TRY(write_faults(muca, &muca->curves, error));
  GPUMC_TRY(gpumc_recorder_integer(recorder, "summary", "converged", converged, error));
  GPUMC_TRY(gpumc_recorder_integer(recorder, "summary", "iterations", (int64_t)verdict.iterations,
                                   error));
  GPUMC_TRY(gpumc_recorder_number(recorder, "summary", "divergence", *verdict.farthest->divergence,
                                  error));
  GPUMC_TRY(gpumc_recorder_integer(recorder, "summary", "round_trips", (int64_t)verdict.round_trips,
                                   error));
  GPUMC_TRY(gpumc_recorder_number(recorder, "summary", "tunnelling_time", verdict.time, error));
  GPUMC_TRY(gpumc_recorder_integer(recorder, "summary", "production_updates",
                                   (int64_t)verdict.walked, error));
  GPUMC_TRY(gpumc_trust_record(&muca->context, trusted, error));
  GPUMC_TRY(write_missing(muca, &verdict, error));
  GPUMC_TRY(write_convergence(muca, &verdict, error));
  GPUMC_TRY(write_travels(muca, &verdict, error));
  GPUMC_TRY(write_joins(muca, tilted, error));
  return write_few(muca, &few, error);
}
