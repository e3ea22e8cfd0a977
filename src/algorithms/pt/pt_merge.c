/* Parallel tempering: the state after the last unit, from finished results of other samples.
 *
 * A result's data for each sample - averages in the last bins of time, round trips, the lowest
 * energy - are put into the sums of the bin as a run would have them, so that the summary of all
 * samples is computed like that of a run. Counts are recovered from the shares in a result; for
 * walkers that have been at an end, whose number is missing there, and for distributions, whose
 * groups of samples are missing, averages are weighted by the number of samples. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/pt/pt_output.h"
#include "core/base/memory.h"

static const char *const dropped[] = {"blocks", "configurations", NULL};

static const char *refuses(const struct gpumc_params *params)
{
  return gpumc_params_has(params, "tune.sweeps") ? "tuned temperatures differ from run to run; "
                                                   "give all runs those of one as beta.values"
                                                 : NULL;
}

/* Work arrays for one source of n samples. */
struct part {
  struct pt *pt;
  const struct gpumc_source *source;
  size_t first, n; /* its samples among all */
  double *values;  /* [n][temperatures] */
};

static enum gpumc_status
read_terms(const struct part *part, const char *path, double *values, struct gpumc_error *error)
{
  const size_t shape[] = {part->n, part->pt->settings.temperatures};
  return gpumc_source_read(part->source, path, shape, 2, values, error);
}

/* ---- sums of the last bin ---- */

/* Returns the sum whose mean over `count` numbers this is, bit for bit: a sum and its neighbours
 * may have one mean, so the one that is found need not be the run's. */
static double sum_of(double mean, double count)
{
  const double sum = mean * count;
  const double near[] = {sum, nextafter(sum, INFINITY), nextafter(sum, -INFINITY)};
  for (size_t i = 0; i < sizeof near / sizeof *near; i++)
    if (near[i] / count == mean)
      return near[i];
  return sum;
}

static enum gpumc_status take_terms(const struct part *part, struct gpumc_error *error)
{
  const struct pt *pt = part->pt;
  const size_t samples = pt->settings.samples, temperatures = pt->settings.temperatures;
  for (size_t k = 0; k < pt->terms.count; k++) {
    char path[128];
    const double count =
        (double)pt->bin.measurements[0] * (double)pt_tempering_values(&pt->tempering.plan, k);
    snprintf(path, sizeof path, "samples/%s", pt->settings.observables.mean[k]->label.name);
    GPUMC_TRY(read_terms(part, path, part->values, error));
    for (size_t s = 0; s < part->n; s++)
      for (size_t t = 0; t < temperatures; t++)
        pt->bin.sums[(k * temperatures + t) * samples + part->first + s] =
            sum_of(part->values[s * temperatures + t], count);
  }
  return GPUMC_OK;
}

/* The compared terms in the bins before the last. */
static enum gpumc_status take_earlier(const struct part *part, struct gpumc_error *error)
{
  const struct pt *pt = part->pt;
  const size_t samples = pt->settings.samples, temperatures = pt->settings.temperatures;
  for (size_t back = 1; back < PT_BINS_COMPARED && back < pt->timeline.bins; back++)
    for (size_t i = 0; i < pt->terms.n_compared; i++) {
      const size_t slot = (pt->timeline.bins - 1 - back) % PT_BINS_COMPARED;
      double *history = pt->history + (slot * pt->terms.n_compared + i) * temperatures * samples;
      char path[128];
      snprintf(path, sizeof path, "earlier_bins/%zu/%s", back,
               pt->settings.observables.mean[pt->terms.compared[i]]->label.name);
      GPUMC_TRY(read_terms(part, path, part->values, error));
      for (size_t s = 0; s < part->n; s++)
        for (size_t t = 0; t < temperatures; t++)
          history[t * samples + part->first + s] = part->values[s * temperatures + t];
    }
  return GPUMC_OK;
}

static enum gpumc_status take_extremes(const struct part *part, struct gpumc_error *error)
{
  const struct pt *pt = part->pt;
  const struct gpumc_model *model = pt->context.model;
  const size_t tracked = model->ops->tracked;
  char path[128];
  snprintf(path, sizeof path, "samples/lowest_%s", model->ops->channels[tracked].label.name);
  GPUMC_TRY(gpumc_source_read(part->source, path, &part->n, 1, part->values, error));
  for (size_t s = 0; s < part->n; s++)
    pt->lowest[part->first + s] =
        llround(part->values[s] * (double)model->sites / model->quantum[tracked]);
  GPUMC_TRY(
      gpumc_source_read(part->source, "samples/round_trips", &part->n, 1, part->values, error));
  for (size_t s = 0; s < part->n; s++)
    pt->counts.round_trips[part->first + s] = (uint64_t)part->values[s];
  return GPUMC_OK;
}

static enum gpumc_status
check_measurements(const struct part *part, double *measurements, struct gpumc_error *error)
{
  double own;
  GPUMC_TRY(gpumc_source_number(part->source, "measurements", &own, error));
  if (part->first > 0 && own != *measurements)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "%s has %g measurements in the last bin of time, but the files before "
                           "it have %g: leave it out",
                           part->source->path, own, *measurements);
  *measurements = own;
  return GPUMC_OK;
}

/* ---- exchanges ---- */

/* Counts exchanges of even and odd pairs from round `begin` to before `end`. */
static void count_rounds(uint64_t begin, uint64_t end, uint64_t rounds[2])
{
  for (size_t parity = 0; parity < 2; parity++)
    rounds[parity] = (end + 1 - parity) / 2 - (begin + 1 - parity) / 2;
}

/* Returns the first round of the last bin. */
static uint64_t begin_of_last_bin(const struct pt_timeline *timeline)
{
  uint64_t begin = timeline->rounds;
  for (size_t i = timeline->count; i > 0; i--) {
    const struct pt_stretch *stretch = &timeline->stretch[i - 1];
    if (stretch->phase != PT_MEASUREMENT || stretch->index + 1 != timeline->bins)
      break;
    begin -= stretch->rounds;
  }
  return begin;
}

/* Adds the accepted exchanges of a source of n samples, by their shares[temperatures]. */
static void add_accepted(const struct pt *pt, const double *share, size_t n,
                         const uint64_t rounds[2], uint64_t *accepted)
{
  for (size_t t = 0; t + 1 < pt->settings.temperatures; t++)
    if (!isnan(share[t]))
      accepted[t] +=
          (uint64_t)llround(share[t] * ((double)rounds[t % 2] * (double)(pt->settings.copies * n)));
}

/* Walkers are counted in units of a share of all, fine enough that shares are preserved. */
static const double whole_share = 0x1p62;

static void finish_flow(struct pt *pt, const double *flow)
{
  for (size_t t = 0; t < pt->settings.temperatures; t++) {
    pt->counts.labelled[t] = isnan(flow[t]) ? 0 : (uint64_t)whole_share;
    pt->counts.from_hottest[t] = isnan(flow[t]) ? 0 : (uint64_t)(flow[t] * whole_share);
  }
}

static enum gpumc_status
take_exchanges(struct pt *pt, const struct gpumc_sources *sources, struct gpumc_error *error)
{
  const size_t temperatures = pt->settings.temperatures;
  double *share = NULL, *flow = NULL, *before = NULL;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&share, temperatures, "exchanges", error));
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&flow, temperatures, "walkers", error));
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&before, temperatures, "walkers", error));
  count_rounds(pt->timeline.lead, pt->timeline.rounds, pt->counts.rounds);
  for (size_t t = 0; t < temperatures; t++)
    flow[t] = NAN;
  for (size_t i = 0; i < sources->count; i++) {
    const struct gpumc_source *source = &sources->of[i];
    GPUMC_TRY_OUT(status,
                  gpumc_source_read(source, "summary/acceptance", &temperatures, 1, share, error));
    add_accepted(pt, share, (size_t)source->counted, pt->counts.rounds, pt->counts.accepted);
    GPUMC_TRY_OUT(status,
                  gpumc_source_read(source, "summary/flow", &temperatures, 1, share, error));
    for (size_t t = 0; t < temperatures; t++)
      before[t] = gpumc_average_add(&flow[t], before[t], share[t], (double)source->counted);
  }
  finish_flow(pt, flow);
out:
  free(share);
  free(flow);
  free(before);
  return status;
}

/* ---- the table of bins ---- */

/* Reads a column of a source's table of bins, its last pt->timeline.bins rows: values[bins][T]. */
static enum gpumc_status read_column(const struct pt *pt, const struct gpumc_source *source,
                                     const char *name, double *values, struct gpumc_error *error)
{
  const size_t bins = pt->timeline.bins, temperatures = pt->settings.temperatures;
  char path[160];
  double *all = NULL;
  size_t shape[GPUMC_DATASET_RANK_MAXIMUM], rank;
  snprintf(path, sizeof path, "runs/0000/%s", name);
  GPUMC_TRY(gpumc_source_shape(source, path, shape, &rank, error));
  if (rank != 2 || shape[0] < bins || shape[1] != temperatures)
    return gpumc_error_set(
        error, GPUMC_INVALID,
        "%s: %s does not have as many rows as its configuration asks for: leave it out",
        source->path, path);
  GPUMC_TRY(gpumc_allocate_array(&all, shape[0] * shape[1], "bins of time", error));
  const enum gpumc_status status = gpumc_source_read(source, path, shape, rank, all, error);
  if (status == GPUMC_OK)
    memcpy(values, all + (shape[0] - bins) * temperatures, bins * temperatures * sizeof *values);
  free(all);
  return status;
}

/* Averages over the sources of the contents of their tables: rows[bins][width], except for the
 * first columns. Results that are nonlinear in the means are off by more than those of all samples
 * together would be, so only the rows before the last are made in this way. */
struct rows {
  struct pt *pt;
  const struct gpumc_sources *sources;
  double *rows;
  double *values, *errors; /* [sources][bins][temperatures] */
  double *average, *error_of;
  double *weight; /* [sources] */
};

static void store(const struct rows *work, const double *values, size_t column)
{
  const size_t temperatures = work->pt->settings.temperatures;
  for (size_t b = 0; b < work->pt->timeline.bins; b++)
    memcpy(work->rows + b * pt_bin_row_width(work->pt) + PT_BIN_QUANTITIES + column * temperatures,
           values + b * temperatures, temperatures * sizeof *values);
}

/* Averages a quantity with its error, or without (error_name NULL), at that number of columns. */
static enum gpumc_status average_column(const struct rows *work, const char *name,
                                        const char *error_name, size_t column,
                                        struct gpumc_error *error)
{
  const size_t n = work->pt->timeline.bins * work->pt->settings.temperatures;
  bool known = true;
  for (size_t i = 0; i < work->sources->count; i++) {
    const struct gpumc_source *source = &work->sources->of[i];
    const char *from = gpumc_result_field(&source->result.summary, "errors_from");
    known = known && from != NULL && strcmp(from, "samples") == 0;
    GPUMC_TRY(read_column(work->pt, source, name, work->values + i * n, error));
    if (error_name != NULL)
      GPUMC_TRY(read_column(work->pt, source, error_name, work->errors + i * n, error));
  }
  const struct gpumc_parts_of_curve curve = {work->sources->count, n,    work->weight, work->values,
                                             work->errors,         known};
  gpumc_parts_average(&curve, work->average, work->error_of);
  store(work, work->average, column);
  if (error_name != NULL)
    store(work, work->error_of, column + 1);
  return GPUMC_OK;
}

static enum gpumc_status average_rows(const struct rows *work, struct gpumc_error *error)
{
  const struct pt *pt = work->pt;
  const size_t quantities = pt->settings.observables.n_quantities;
  for (size_t q = 0; q < quantities; q++) {
    struct gpumc_error_texts texts;
    const struct gpumc_label label = gpumc_error_label(&pt->labels.of[q], &texts);
    GPUMC_TRY(average_column(work, pt->labels.of[q].name, label.name, 2 * q, error));
  }
  return average_column(work, pt_acceptance_label(pt).name, NULL, 2 * quantities, error);
}

static void free_rows(struct rows *work)
{
  free(work->rows);
  free(work->values);
  free(work->errors);
  free(work->average);
  free(work->error_of);
  free(work->weight);
}

static enum gpumc_status make_rows(struct rows *work, struct gpumc_error *error)
{
  const struct pt *pt = work->pt;
  const size_t n = pt->timeline.bins * pt->settings.temperatures, count = work->sources->count;
  GPUMC_TRY(gpumc_allocate_array(&work->rows, pt->timeline.bins * pt_bin_row_width(pt),
                                 "bins of time", error));
  GPUMC_TRY(gpumc_allocate_array(&work->values, count * n, "bins of time", error));
  GPUMC_TRY(gpumc_allocate_array(&work->errors, count * n, "bins of time", error));
  GPUMC_TRY(gpumc_allocate_array(&work->average, n, "bins of time", error));
  GPUMC_TRY(gpumc_allocate_array(&work->error_of, n, "bins of time", error));
  GPUMC_TRY(gpumc_allocate_array(&work->weight, count, "bins of time", error));
  for (size_t i = 0; i < count; i++)
    work->weight[i] = (double)work->sources->of[i].counted;
  return GPUMC_OK;
}

/* Takes the rows before the last, and the accepted exchanges of the last one. */
static enum gpumc_status take_rows(struct rows *work, struct gpumc_error *error)
{
  struct pt *pt = work->pt;
  const size_t temperatures = pt->settings.temperatures, bins = pt->timeline.bins;
  GPUMC_TRY(make_rows(work, error));
  GPUMC_TRY(average_rows(work, error));
  for (size_t b = 0; b + 1 < bins; b++) {
    double *row = work->rows + b * pt_bin_row_width(pt);
    pt_bin_begin_row(pt, b, row);
    row[PT_BIN_MEASUREMENTS] = (double)pt_bin_measurements(pt, b);
    GPUMC_TRY(gpumc_recorder_append(pt->context.recorder, pt->table_bins, row, error));
  }
  count_rounds(begin_of_last_bin(&pt->timeline), pt->timeline.rounds, pt->bin.rounds);
  for (size_t i = 0; i < work->sources->count && pt->settings.exchange; i++)
    add_accepted(pt, work->values + (i * bins + bins - 1) * temperatures,
                 (size_t)work->sources->of[i].counted, pt->bin.rounds, pt->bin.accepted);
  return GPUMC_OK;
}

/* ---- distributions ---- */

static enum gpumc_status merge_distribution(struct pt *pt, const struct gpumc_sources *sources,
                                            size_t kind, struct gpumc_error *error)
{
  const struct gpumc_pair *pair = &pt->context.model->ops->pairs[kind];
  const size_t shape[] = {pt->settings.temperatures, pt->tempering.plan.histogram[kind].bins};
  const size_t n = shape[0] * shape[1];
  double *values = NULL, *errors = NULL, *weight = NULL;
  bool known = true;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&values, sources->count * n, "distributions", error));
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&errors, sources->count * n, "distributions", error));
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&weight, sources->count, "distributions", error));
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&pt->merged[kind].density, n, "distributions", error));
  GPUMC_TRY_OUT(status,
                gpumc_allocate_array(&pt->merged[kind].error_of, n, "distributions", error));
  for (size_t i = 0; i < sources->count; i++) {
    const struct gpumc_source *source = &sources->of[i];
    const char *from = gpumc_result_field(&source->result.summary, "errors_from");
    char path[192];
    known = known && from != NULL && strcmp(from, "samples") == 0;
    weight[i] = (double)source->counted;
    snprintf(path, sizeof path, "summary/%s/probability", pair->distribution.name);
    GPUMC_TRY_OUT(status, gpumc_source_read(source, path, shape, 2, values + i * n, error));
    snprintf(path, sizeof path, "summary/%s/probability_error", pair->distribution.name);
    GPUMC_TRY_OUT(status, gpumc_source_read(source, path, shape, 2, errors + i * n, error));
  }
  const struct gpumc_parts_of_curve curve = {sources->count, n, weight, values, errors, known};
  gpumc_parts_average(&curve, pt->merged[kind].density, pt->merged[kind].error_of);
out:
  free(values);
  free(errors);
  free(weight);
  return status;
}

/* ---- all of it ---- */

/* For each sample. */
static enum gpumc_status
take_samples(struct pt *pt, const struct gpumc_sources *sources, struct gpumc_error *error)
{
  double measurements = 0;
  struct part part = {.pt = pt};
  for (size_t i = 0; i < sources->count; i++, part.first += part.n) {
    enum gpumc_status status;
    part.source = &sources->of[i];
    part.n = (size_t)part.source->counted;
    GPUMC_TRY(check_measurements(&part, &measurements, error));
    pt->bin.measurements[0] = (uint64_t)measurements;
    GPUMC_TRY(gpumc_allocate_array(&part.values, part.n * pt->settings.temperatures,
                                   "averages of samples", error));
    status = take_terms(&part, error);
    if (status == GPUMC_OK)
      status = take_earlier(&part, error);
    if (status == GPUMC_OK)
      status = take_extremes(&part, error);
    free(part.values);
    GPUMC_TRY(status);
  }
  pt->bin.blocks = 1;
  return GPUMC_OK;
}

/* Results of earlier programs lack bins before the last; then nothing is known of equilibrium. */
static void regard_bins(struct pt *pt, const struct gpumc_sources *sources)
{
  for (size_t i = 0; i < sources->count; i++) {
    const size_t earlier = gpumc_source_members(&sources->of[i], "earlier_bins");
    const bool has_table = gpumc_source_has(&sources->of[i], "runs/0000");
    if (!has_table || (pt->timeline.bins > 1 && earlier == 0))
      pt->timeline.bins = 1;
  }
}

static enum gpumc_status
fill(void *state, const struct gpumc_sources *sources, struct gpumc_error *error)
{
  struct pt *pt = state;
  struct rows rows = {.pt = pt, .sources = sources};
  if (pt->settings.by_time)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "%s and the others have %zu samples together, but errors need at least "
                           "%d: simulate more samples",
                           sources->of[0].path, pt->settings.samples, PT_SAMPLES_FOR_ERRORS);
  regard_bins(pt, sources);
  GPUMC_TRY(take_samples(pt, sources, error));
  if (pt->settings.exchange)
    GPUMC_TRY(take_exchanges(pt, sources, error));
  if (pt_has_clusters(&pt->settings))
    GPUMC_TRY(pt_clusters_merge(pt, sources, error));
  for (size_t k = 0; k < pt->context.model->ops->n_pairs; k++)
    if (pt->tempering.plan.histogram[k].bins > 0 &&
        pt->context.model->ops->pairs[k].distribution.name != NULL)
      GPUMC_TRY(merge_distribution(pt, sources, k, error));
  enum gpumc_status status = take_rows(&rows, error);
  free_rows(&rows);
  GPUMC_TRY(status);
  return pt_record_bin(pt, pt->timeline.bins - 1, error);
}

const struct gpumc_merger pt_merger = {
    .counted = "samples", .samples = true, .dropped = dropped, .refuses = refuses, .fill = fill};
