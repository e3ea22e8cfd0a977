/* Chains: the result of tuning (chains_tune.c): the best candidate, the messages about it, and the
 * table of all candidates in the result. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "algorithms/chains/chains_internal.h"
#include "core/base/memory.h"
#include "core/simulation/curves.h"

/* ---- the choice ---- */

static double seconds_per_sweep(const struct chains_candidate *candidate)
{
  return candidate->sweeps > 0 ? candidate->seconds / candidate->sweeps : (double)NAN;
}

static double seconds_of(const struct chains_candidate *candidate)
{
  return candidate->time * seconds_per_sweep(candidate);
}

static double seconds_error(const struct chains_candidate *candidate)
{
  return candidate->time_error * seconds_per_sweep(candidate);
}

/* The given values stay unless another candidate is better by more than the errors of both. */
size_t chains_tuning_best(const struct chains_tuning *tuning)
{
  const struct chains_candidate *given = &tuning->candidate[0];
  size_t best = 0;
  for (size_t i = 1; i < tuning->count; i++)
    if (!isnan(seconds_of(&tuning->candidate[i])) &&
        !(seconds_of(&tuning->candidate[best]) <= seconds_of(&tuning->candidate[i])))
      best = i;
  const double gain = seconds_of(given) - seconds_of(&tuning->candidate[best]);
  return gain <= hypot(seconds_error(given), seconds_error(&tuning->candidate[best])) ? 0 : best;
}

/* Writes "kernel.move_size=0.16 kernel.moves_per_cell=4". */
static const char *
name_candidate(const struct chains *chains, size_t candidate, char *text, size_t size)
{
  size_t length = 0;
  text[0] = '\0';
  for (size_t i = 0; i < chains->tuning.tunables && length < size; i++)
    length += (size_t)snprintf(text + length, size - length, "%skernel.%s=%.15g", i > 0 ? " " : "",
                               chains_tunables(chains)[i].key,
                               chains->tuning.candidate[candidate].value[i]);
  return text;
}

void chains_tuning_tell(const struct chains *chains)
{
  const struct chains_tuning *tuning = &chains->tuning;
  const struct chains_candidate *best = &tuning->candidate[tuning->chosen],
                                *given = &tuning->candidate[0];
  const bool found = !isnan(seconds_of(best));
  char name[256], before[64] = "unknown", text[640];
  name_candidate(chains, tuning->chosen, name, sizeof name);
  if (!isnan(seconds_of(given)))
    snprintf(before, sizeof before, "%.3g s +- %.1g s", seconds_of(given), seconds_error(given));
  if (found)
    snprintf(text, sizeof text,
             "tuned: %s, with an autocorrelation time of %.3g s +- %.1g s; with the given values "
             "it is %s",
             name, seconds_of(best), seconds_error(best), before);
  else
    snprintf(text, sizeof text,
             "tuning found nothing: it was too short for the autocorrelation times, so %s is kept; "
             "raise algorithm.tune",
             name);
  gpumc_observer_tell(chains->context.observer, found ? GPUMC_NOTE : GPUMC_WARNING, text);
}

/* ---- results ---- */

struct column {
  struct gpumc_label label;
  double (*value)(const struct chains_candidate *candidate);
  double (*error)(const struct chains_candidate *candidate); /* NULL: none */
};

static double sweeps_of(const struct chains_candidate *candidate)
{
  return candidate->sweeps;
}

static double time_of(const struct chains_candidate *candidate)
{
  return candidate->time;
}

static double time_error_of(const struct chains_candidate *candidate)
{
  return candidate->time_error;
}

static const struct column columns[] = {
    {{"sweeps", "sweeps of the trial", "sweeps", ""}, sweeps_of, NULL},
    {{"seconds_per_sweep", "time per sweep, including its share of a measurement", "s", ""},
     seconds_per_sweep,
     NULL},
    {{"autocorrelation_time", "integrated autocorrelation time of the slowest watched mean",
      "sweeps", ""},
     time_of,
     time_error_of},
    {{"autocorrelation_seconds", "the same in wall time", "s", ""}, seconds_of, seconds_error},
};

/* Writes the values of tunable number i. */
static enum gpumc_status write_values(const struct chains *chains,
                                      const struct gpumc_curve_place *place, size_t i,
                                      double *scratch, struct gpumc_error *error)
{
  const struct gpumc_tunable *tunable = &chains_tunables(chains)[i];
  const struct gpumc_key *key = gpumc_key_find(chains->context.ensemble->ops->keys, tunable->key);
  const struct gpumc_label label = {tunable->key, key->doc, key->unit != NULL ? key->unit : "1",
                                    ""};
  for (size_t c = 0; c < place->count[0]; c++)
    scratch[c] = chains->tuning.candidate[c].value[i];
  return gpumc_curve_write(place, &label, false, scratch, error);
}

static enum gpumc_status
write_column(const struct chains *chains, const struct gpumc_curve_place *place,
             const struct column *column, double *scratch, struct gpumc_error *error)
{
  const size_t count = place->count[0];
  for (size_t c = 0; c < count; c++) {
    scratch[c] = column->value(&chains->tuning.candidate[c]);
    scratch[count + c] =
        column->error != NULL ? column->error(&chains->tuning.candidate[c]) : (double)NAN;
  }
  return column->error != NULL
             ? gpumc_curve_write_with_error(place, &column->label, scratch, scratch + count, error)
             : gpumc_curve_write(place, &column->label, false, scratch, error);
}

enum gpumc_status chains_tuning_write(const struct chains *chains, struct gpumc_error *error)
{
  static const char group[] = "provenance/tuning", axis_path[] = "provenance/tuning/candidate";
  static const struct gpumc_label axis = {"candidate", "values tried, starting with those given",
                                          "1", ""};
  const struct chains_tuning *tuning = &chains->tuning;
  struct gpumc_recorder *recorder = chains->context.recorder;
  const struct gpumc_curve_place place = {.recorder = recorder,
                                          .model = chains->context.model,
                                          .group = group,
                                          .axis = {axis_path},
                                          .count = {tuning->count}};
  double *scratch = NULL;
  char name[256];
  enum gpumc_status status = GPUMC_OK;
  if (tuning->candidate == NULL)
    return GPUMC_OK;
  GPUMC_TRY(gpumc_allocate_array(&scratch, 2 * tuning->count, "tuned keys", error));
  for (size_t c = 0; c < tuning->count; c++)
    scratch[c] = (double)c;
  GPUMC_TRY_OUT(status, gpumc_curve_write_axis(&place, 0, &axis, true, scratch, error));
  for (size_t i = 0; i < tuning->tunables; i++)
    GPUMC_TRY_OUT(status, write_values(chains, &place, i, scratch, error));
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
    GPUMC_TRY_OUT(status, write_column(chains, &place, &columns[i], scratch, error));
  GPUMC_TRY_OUT(status,
                gpumc_recorder_integer(recorder, group, "chosen", (int64_t)tuning->chosen, error));
  GPUMC_TRY_OUT(status, gpumc_recorder_number(recorder, group, "seconds", tuning->seconds, error));
  name_candidate(chains, tuning->chosen, name, sizeof name);
  GPUMC_TRY_OUT(status, gpumc_recorder_text(recorder, "provenance", "tuned", name, error));
out:
  free(scratch);
  return status;
}
