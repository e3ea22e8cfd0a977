/* Multicanonical sampling: the state at the end, from finished results of other seeds.
 *
 * Runs of other seeds have other weights; what they have in common is what follows from these: ln
 * Omega, equally normalised, and averages by level. At each level their averages, weighted by the
 * visits, give those of all, and canonical averages follow from them as in a run. Runs are
 * independent of each other and know their own errors, from many blocks, so these add up in
 * squares. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/muca/muca.h"
#include "core/base/memory.h"

static const char *refuses(const struct gpumc_params *params)
{
  if (gpumc_params_integer(params, "samples") > 1)
    return "averages over samples are formed from means of each sample, which results do not "
           "contain; use one run for all samples";
  if (gpumc_params_has(params, "windows"))
    return "results do not record how windows are joined; use one window, or merge by hand from "
           "/summary/log_dos";
  return NULL;
}

/* One source: its own levels, at their places among those of all. */
struct part {
  const struct muca *muca;
  const struct gpumc_source *source;
  size_t levels;
  size_t *at;              /* [levels] level of the model, less the first of the range */
  double *visits;          /* [levels] */
  double *values, *errors; /* [levels] being read */
};

static void part_free(struct part *part)
{
  free(part->at);
  free(part->visits);
  free(part->values);
  free(part->errors);
}

static enum gpumc_status
read_levels(const struct part *part, const char *name, double *values, struct gpumc_error *error)
{
  char path[192];
  snprintf(path, sizeof path, "summary/%s", name);
  return gpumc_source_read(part->source, path, &part->levels, 1, values, error);
}

static enum gpumc_status
read_with_errors(const struct part *part, const char *name, struct gpumc_error *error)
{
  char error_name[160];
  snprintf(error_name, sizeof error_name, "%s_error", name);
  GPUMC_TRY(read_levels(part, name, part->values, error));
  return read_levels(part, error_name, part->errors, error);
}

/* Values this share of the distance of two levels apart are equal. */
static const double same_level = 1e-6;

/* Identifies the levels by their values. */
static enum gpumc_status place_levels(struct part *part, struct gpumc_error *error)
{
  const struct muca_settings *settings = &part->muca->settings;
  const struct gpumc_model *model = part->muca->context.model;
  const double first = muca_level_value(settings, model, settings->first);
  const double spacing = muca_level_width(settings, model);
  const double most = (double)(settings->last - settings->first);
  for (size_t v = 0; v < part->levels; v++) {
    const double at = (part->values[v] - first) / spacing, place = round(at);
    if (!(place >= 0 && place <= most && fabs(at - place) <= same_level))
      return gpumc_error_set(
          error, GPUMC_INVALID,
          "%s has the level %g, which its configuration does not have: leave it out",
          part->source->path, part->values[v]);
    part->at[v] = (size_t)place;
  }
  return GPUMC_OK;
}

static enum gpumc_status part_open(const struct muca *muca, const struct gpumc_source *source,
                                   struct part *part, struct gpumc_error *error)
{
  struct muca_level_texts texts;
  const struct gpumc_label axis = muca_level_label(muca, &texts);
  size_t shape[GPUMC_DATASET_RANK_MAXIMUM], rank;
  char path[96];
  *part = (struct part){.muca = muca, .source = source};
  snprintf(path, sizeof path, "summary/%s", axis.name);
  GPUMC_TRY(gpumc_source_shape(source, path, shape, &rank, error));
  part->levels = rank == 1 ? shape[0] : 0;
  GPUMC_TRY(gpumc_allocate_array(&part->at, part->levels + 1, "levels", error));
  GPUMC_TRY(gpumc_allocate_array(&part->visits, part->levels + 1, "visits", error));
  GPUMC_TRY(gpumc_allocate_array(&part->values, part->levels + 1, "levels", error));
  GPUMC_TRY(gpumc_allocate_array(&part->errors, part->levels + 1, "levels", error));
  GPUMC_TRY(read_levels(part, axis.name, part->values, error));
  GPUMC_TRY(place_levels(part, error));
  return read_levels(part, "visits", part->visits, error);
}

/* ---- the density of states, and averages by level ---- */

/* Curves over the levels of the range; `weight`: visits of parts so far. Errors are sums of squares
 * of errors times visits until they are divided. */
struct curve {
  double *value, *square, *weight; /* [levels of the range] */
};

/* The data of all sources, level by level, over the range. */
struct merged {
  size_t range, means;
  double *visits; /* [range] */
  struct curve log_dos;
  struct curve *average; /* [means]; empty for means that follow from the level */
};

static enum gpumc_status curve_make(struct curve *curve, size_t n, struct gpumc_error *error)
{
  GPUMC_TRY(gpumc_allocate_array(&curve->value, n, "levels", error));
  GPUMC_TRY(gpumc_allocate_array(&curve->square, n, "levels", error));
  return gpumc_allocate_array(&curve->weight, n, "levels", error);
}

static void curve_free(struct curve *curve)
{
  free(curve->value);
  free(curve->square);
  free(curve->weight);
}

static void merged_free(struct merged *merged)
{
  free(merged->visits);
  curve_free(&merged->log_dos);
  for (size_t k = 0; merged->average != NULL && k < merged->means; k++)
    curve_free(&merged->average[k]);
  free(merged->average);
}

static enum gpumc_status
merged_make(const struct muca *muca, struct merged *merged, struct gpumc_error *error)
{
  merged->range = muca->settings.last + 1 - muca->settings.first;
  merged->means = muca->settings.observables.n_means;
  GPUMC_TRY(gpumc_allocate_array(&merged->visits, merged->range, "visits", error));
  GPUMC_TRY(curve_make(&merged->log_dos, merged->range, error));
  GPUMC_TRY(gpumc_allocate_array(&merged->average, merged->means + 1, "averages", error));
  for (size_t k = 0; k < merged->means; k++)
    GPUMC_TRY(curve_make(&merged->average[k], merged->range, error));
  return GPUMC_OK;
}

static void add(const struct part *part, struct curve *curve)
{
  for (size_t v = 0; v < part->levels; v++) {
    const size_t l = part->at[v];
    const double before = curve->weight[l], weighted = part->visits[v] * part->errors[v];
    curve->weight[l] =
        gpumc_average_add(&curve->value[l], before, part->values[v], part->visits[v]);
    if (curve->weight[l] > before)
      curve->square[l] += weighted * weighted;
  }
}

/* Returns whether it is measured in the levels, rather than following from them. */
static bool is_measured(const struct muca *muca, size_t k)
{
  return muca->settings.observables.mean[k]->index != muca->settings.channel;
}

static enum gpumc_status
take(const struct part *part, struct merged *merged, struct gpumc_error *error)
{
  const struct gpumc_observables *observables = &part->muca->settings.observables;
  for (size_t v = 0; v < part->levels; v++)
    merged->visits[part->at[v]] += part->visits[v];
  GPUMC_TRY(read_with_errors(part, "log_dos", error));
  add(part, &merged->log_dos);
  for (size_t k = 0; k < merged->means; k++) {
    char name[128];
    if (!is_measured(part->muca, k))
      continue;
    snprintf(name, sizeof name, "microcanonical/%s", observables->mean[k]->label.name);
    GPUMC_TRY(read_with_errors(part, name, error));
    add(part, &merged->average[k]);
  }
  return GPUMC_OK;
}

static double error_of(const struct curve *curve, size_t l)
{
  return curve->weight[l] > 0 ? sqrt(curve->square[l]) / curve->weight[l] : NAN;
}

static void set_level(const struct muca *muca, const struct merged *merged, size_t l,
                      struct muca_density *density)
{
  const size_t v = density->levels++, level = muca->settings.first + l;
  density->level[v] = level;
  density->value[v] = muca_level_value(&muca->settings, muca->context.model, level);
  density->visits[v] = merged->visits[l];
  density->log_dos[v] = merged->log_dos.value[l];
  density->error_of[v] = error_of(&merged->log_dos, l);
  density->measured[v] = true;
  for (size_t k = 0; k < merged->means; k++) {
    const struct curve *average = &merged->average[k];
    const bool known = average->weight[l] > 0, measured = is_measured(muca, k);
    double *to = &density->average[v * merged->means + k];
    *to = measured && known ? average->value[l]
          : measured        ? (double)NAN
                            : muca_level_average(muca, muca->settings.observables.mean[k], level);
    density->average_error[v * merged->means + k] = measured ? error_of(average, l) : 0;
    density->measured[v] = density->measured[v] && isfinite(*to);
  }
}

/* There are no blocks, since errors are known. A single source is normalised already. */
static enum gpumc_status
make_density(struct muca *muca, const struct merged *merged, bool alone, struct gpumc_error *error)
{
  struct muca_density *density = &muca->density;
  const size_t range = merged->range, averages = range * merged->means + 1;
  *density = (struct muca_density){.first = muca->settings.first,
                                   .last = muca->settings.last,
                                   .normalised = muca_knows_all_states(muca)};
  GPUMC_TRY(gpumc_allocate_array(&density->level, range, "levels", error));
  GPUMC_TRY(gpumc_allocate_array(&density->value, range, "levels", error));
  GPUMC_TRY(gpumc_allocate_array(&density->visits, range, "visits", error));
  GPUMC_TRY(gpumc_allocate_array(&density->log_dos, range, "the density of states", error));
  GPUMC_TRY(gpumc_allocate_array(&density->error_of, range, "errors", error));
  GPUMC_TRY(gpumc_allocate_array(&density->average, averages, "averages by level", error));
  GPUMC_TRY(gpumc_allocate_array(&density->average_error, averages, "averages by level", error));
  GPUMC_TRY(gpumc_allocate_array(&density->measured, range, "averages by level", error));
  for (size_t l = 0; l < range; l++)
    if (merged->visits[l] > 0)
      set_level(muca, merged, l, density);
  const double states = density->normalised ? muca->context.model->log_states : 0;
  const double shift = alone ? 0 : states - muca_log_sum(density->log_dos, density->levels);
  for (size_t v = 0; v < density->levels; v++)
    density->log_dos[v] += shift;
  muca->opened = 1;
  return GPUMC_OK;
}

/* ---- curves over the grid ---- */

/* Values follow from the density, errors from those of the sources: share[sources] of the visits.
 * If there is no value there is no error. */
static enum gpumc_status merge_errors(const struct muca *muca, const struct gpumc_sources *sources,
                                      const double *share, struct gpumc_error *error)
{
  const struct muca_curves *curves = &muca->curves;
  const size_t points = curves->points, results = curves->results;
  double *found;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY(gpumc_allocate_array(&found, points, "errors", error));
  for (size_t r = 0; r < results; r++) {
    char path[160];
    snprintf(path, sizeof path, "summary/%s_error", muca_result_label(muca, r).name);
    for (size_t p = 0; p < points; p++)
      curves->error_of[p * results + r] = 0;
    for (size_t i = 0; i < sources->count; i++) {
      GPUMC_TRY_OUT(status, gpumc_source_read(&sources->of[i], path, &points, 1, found, error));
      for (size_t p = 0; p < points; p++)
        curves->error_of[p * results + r] += share[i] * share[i] * found[p] * found[p];
    }
    for (size_t p = 0; p < points; p++) {
      double *to = &curves->error_of[p * results + r];
      *to = isfinite(curves->value[p * results + r]) ? sqrt(*to) : NAN;
    }
  }
out:
  free(found);
  return status;
}

/* ---- whether to trust it ---- */

/* Judges whether weights of each source have converged, and its walkers have forgotten their
 * start. */
static enum gpumc_status
judge(struct muca *muca, const struct gpumc_sources *sources, struct gpumc_error *error)
{
  struct muca_table *table = &muca->table[0];
  struct muca_progress *progress = table->progress;
  GPUMC_TRY(gpumc_allocate_array(&muca->travels, muca->tables, "travels of walkers", error));
  struct muca_travels *travels = &muca->travels[0];
  *progress = (struct muca_progress){.phase = MUCA_DONE, .converged = 1};
  *travels = (struct muca_travels){.enough = true};
  *table->divergence = 0;
  for (size_t i = 0; i < sources->count; i++) {
    const struct gpumc_source *source = &sources->of[i];
    double converged, iterations, divergence, trips, time, walked;
    GPUMC_TRY(gpumc_source_number(source, "converged", &converged, error));
    GPUMC_TRY(gpumc_source_number(source, "iterations", &iterations, error));
    GPUMC_TRY(gpumc_source_number(source, "divergence", &divergence, error));
    GPUMC_TRY(gpumc_source_number(source, "round_trips", &trips, error));
    GPUMC_TRY(gpumc_source_number(source, "tunnelling_time", &time, error));
    GPUMC_TRY(gpumc_source_number(source, "production_updates", &walked, error));
    progress->converged = progress->converged && converged != 0;
    progress->iteration = (uint64_t)fmax((double)progress->iteration, iterations);
    progress->walked = (uint64_t)fmax((double)progress->walked, walked);
    *table->divergence = fmax(*table->divergence, divergence);
    travels->round_trips += trips;
    travels->time += time / (double)sources->count;
    travels->enough = travels->enough &&
                      gpumc_result_field(&source->result.summary, "round_trips_warning") == NULL;
  }
  return GPUMC_OK;
}

/* ---- all of it ---- */

/* Checks what is needed of levels and is not in any result. */
static enum gpumc_status
check(const struct muca *muca, const struct gpumc_sources *sources, struct gpumc_error *error)
{
  const struct gpumc_observables *observables = &muca->settings.observables;
  bool named = true;
  for (size_t k = 0; k < observables->n_means; k++)
    named = named && (!is_measured(muca, k) || observables->mean[k]->label.name != NULL);
  if (named && !muca->settings.binned)
    return GPUMC_OK;
  return gpumc_error_set(error, GPUMC_INVALID,
                         "%s cannot be merged: it has bins in place of levels, and results do not "
                         "say how other quantities vary within a bin; merge by hand from "
                         "/summary/log_dos",
                         sources->of[0].path);
}

/* Takes everything of all sources; share[sources] of the visits. */
static enum gpumc_status take_all(const struct muca *muca, const struct gpumc_sources *sources,
                                  struct merged *merged, double *share, struct gpumc_error *error)
{
  double all = 0;
  for (size_t i = 0; i < sources->count; i++) {
    struct part part;
    enum gpumc_status status = part_open(muca, &sources->of[i], &part, error);
    if (status == GPUMC_OK)
      status = take(&part, merged, error);
    for (size_t v = 0; v < part.levels && status == GPUMC_OK; v++)
      share[i] += part.visits[v];
    all += share[i];
    part_free(&part);
    GPUMC_TRY(status);
  }
  for (size_t i = 0; i < sources->count; i++)
    share[i] /= all;
  return GPUMC_OK;
}

static enum gpumc_status
fill(void *state, const struct gpumc_sources *sources, struct gpumc_error *error)
{
  struct muca *muca = state;
  struct merged merged = {0};
  double *share = NULL;
  bool finished = false;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY(check(muca, sources, error));
  muca->is_merged = true;
  GPUMC_TRY_OUT(status, merged_make(muca, &merged, error));
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&share, sources->count, "shares", error));
  GPUMC_TRY_OUT(status, take_all(muca, sources, &merged, share, error));
  GPUMC_TRY_OUT(status, make_density(muca, &merged, sources->count == 1, error));
  while (!finished)
    GPUMC_TRY_OUT(status, muca_reweight_unit(muca, &finished, error));
  GPUMC_TRY_OUT(status, merge_errors(muca, sources, share, error));
  status = judge(muca, sources, error);
out:
  merged_free(&merged);
  free(share);
  return status;
}

const struct gpumc_merger muca_merger = {.refuses = refuses, .fill = fill};
