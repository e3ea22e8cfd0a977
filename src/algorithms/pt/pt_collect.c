/* Parallel tempering: copying the outcome of a stretch of rounds to the host, what it completes,
 * and messages between processes about it. */
#include <stdlib.h>
#include <string.h>

#include "algorithms/pt/pt_output.h"
#include "core/base/memory.h"
#include "core/simulation/columns.h"

/* Returns the number of blocks of the bin before this one. */
static size_t block_of(const struct pt_timeline *timeline, size_t stretch)
{
  size_t block = 0;
  while (block < stretch && timeline->stretch[stretch - block - 1].phase == PT_MEASUREMENT &&
         timeline->stretch[stretch - block - 1].index == timeline->stretch[stretch].index)
    block++;
  return block;
}

/* Fetches the histograms of this block of the last bin, over all processes; on the device they
 * begin anew. */
static enum gpumc_status fetch_histograms(struct pt *pt, struct gpumc_error *error)
{
  struct gpumc_device *device = pt->context.device;
  const struct pt_tempering_plan *plan = &pt->tempering.plan;
  const size_t block = block_of(&pt->timeline, pt->stretch);
  for (int kind = 0; kind < GPUMC_PAIRS_MAXIMUM; kind++) {
    const size_t count = plan->strata * plan->temperatures * plan->histogram[kind].bins;
    uint64_t *of_block = pt->histogram[kind] + block * count;
    if (count == 0)
      continue;
    GPUMC_TRY(device->ops->copy_to_host(device, of_block, pt->tempering.bins[kind],
                                        count * sizeof *of_block, error));
    gpumc_processes_sum(gpumc_columns_processes(pt->context.ensemble), of_block, count);
  }
  return pt_tempering_clear_histograms(&pt->tempering, error);
}

static size_t slot_of(size_t stretch)
{
  return stretch % GPUMC_SLOTS;
}

enum gpumc_status pt_publish(struct pt *pt, struct gpumc_error *error)
{
  GPUMC_TRY(pt_tempering_publish(&pt->tempering, slot_of(pt->stretch), error));
  if (pt->settings.observables.pairs && pt_is_last_bin(pt, &pt->timeline.stretch[pt->stretch]))
    GPUMC_TRY(fetch_histograms(pt, error));
  return GPUMC_OK;
}

/* Adds the counts at the temperatures up over all processes; the rest of an outcome stays that of
 * the own samples. */
static void add_up_counted(const struct pt *pt, struct pt_outcome *outcome)
{
  const size_t temperatures = pt->settings.temperatures;
  const uint64_t **const counted[PT_COUNTED] = {&outcome->accepted, &outcome->labelled,
                                                &outcome->from_hottest};
  for (size_t i = 0; i < PT_COUNTED; i++) {
    uint64_t *numbers = pt->counted + i * temperatures;
    memcpy(numbers, *counted[i], temperatures * sizeof *numbers);
    *counted[i] = numbers;
  }
  gpumc_processes_sum(gpumc_columns_processes(pt->context.ensemble), pt->counted,
                      PT_COUNTED * temperatures);
  pt_clusters_add_up(pt, outcome);
}

/* ---- the row of a bin of time ----
 *
 * Averages over all samples, and errors from leaving out one after the other, sum doubles in the
 * order of the samples. So processes divide the temperatures: each gets the sums of all samples for
 * its own temperatures, and sends its results to all. */

static struct gpumc_slice own_temperatures(const struct pt *pt)
{
  const struct gpumc_ensemble *ensemble = pt->context.ensemble;
  return gpumc_columns_rows(ensemble, pt->settings.temperatures,
                            gpumc_columns_processes(ensemble)->module.rank);
}

enum gpumc_status pt_allocate_of_all(struct pt *pt, struct gpumc_error *error)
{
  const struct pt_settings *settings = &pt->settings;
  const size_t rows = settings->blocks * pt->terms.count * own_temperatures(pt).count;
  return pt->held < settings->samples
             ? gpumc_allocate_array(&pt->bin.of_all, rows * settings->samples + 1,
                                    "sums of a bin of time", error)
             : GPUMC_OK;
}

/* Returns the temperatures of this process. */
static enum gpumc_status
sums_of_all_samples(const struct pt *pt, struct pt_sums *sums, struct gpumc_error *error)
{
  const struct gpumc_slice own = own_temperatures(pt);
  *sums = pt_held_sums(pt);
  if (pt->bin.of_all == NULL)
    return GPUMC_OK;
  *sums = (struct pt_sums){pt, pt->bin.of_all, own.first, own.count, pt->settings.samples};
  return gpumc_columns_trade(pt->context.ensemble, pt->bin.sums, pt->bin.blocks * pt->terms.count,
                             pt->settings.temperatures, sizeof *pt->bin.sums, pt->bin.of_all,
                             error);
}

/* Gathers results[temperatures][width], of which each process has computed those of its
 * temperatures. */
static enum gpumc_status
gather_results(const struct pt *pt, double *results, size_t width, struct gpumc_error *error)
{
  const struct gpumc_ensemble *ensemble = pt->context.ensemble;
  const struct gpumc_processes *processes = gpumc_columns_processes(ensemble);
  const size_t temperatures = pt->settings.temperatures;
  size_t *counts;
  GPUMC_TRY(
      gpumc_allocate_array(&counts, (size_t)processes->module.size, "counts of bytes", error));
  for (int p = 0; p < processes->module.size; p++)
    counts[p] = gpumc_columns_rows(ensemble, temperatures, p).count * width * sizeof *results;
  gpumc_processes_gather(processes, results + own_temperatures(pt).first * width, results, counts,
                         -1);
  free(counts);
  return GPUMC_OK;
}

/* Computes results[temperatures][2][quantities], values and errors. */
static enum gpumc_status
find_results(const struct pt *pt, double *results, struct gpumc_error *error)
{
  const size_t quantities = pt->settings.observables.n_quantities;
  struct pt_average average = {.pt = NULL};
  struct pt_sums sums;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, sums_of_all_samples(pt, &sums, error));
  GPUMC_TRY_OUT(status, pt_average_init(&sums, &average, error));
  for (size_t t = sums.first; t < sums.first + sums.temperatures; t++) {
    double *value = results + 2 * t * quantities;
    GPUMC_TRY_OUT(status, pt_average_at(&average, t, value, value + quantities, error));
  }
  GPUMC_TRY_OUT(status, gather_results(pt, results, 2 * quantities, error));
out:
  pt_average_free(&average);
  return status;
}

static enum gpumc_status fill_row(struct pt *pt, struct gpumc_error *error)
{
  const size_t temperatures = pt->settings.temperatures;
  const size_t quantities = pt->settings.observables.n_quantities;
  const double places = (double)(pt->settings.copies * pt->settings.samples);
  double *columns = pt->row + PT_BIN_QUANTITIES;
  double *acceptance = columns + 2 * quantities * temperatures, *results = NULL;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(
      status, gpumc_allocate_array(&results, 2 * quantities * temperatures + 1, "averages", error));
  GPUMC_TRY_OUT(status, find_results(pt, results, error));
  for (size_t t = 0; t < temperatures; t++) {
    for (size_t q = 0; q < quantities; q++) {
      columns[2 * q * temperatures + t] = results[2 * t * quantities + q];
      columns[(2 * q + 1) * temperatures + t] = results[(2 * t + 1) * quantities + q];
    }
    acceptance[t] = pt_acceptance(pt->bin.rounds, pt->bin.accepted, places, temperatures, t);
  }
out:
  free(results);
  return status;
}

/* Stores what is compared between the last bins, by sample. */
static void remember(struct pt *pt, size_t bin)
{
  const size_t temperatures = pt->settings.temperatures;
  const struct pt_sums sums = pt_held_sums(pt);
  double *values =
      pt->history + bin % PT_BINS_COMPARED * pt->terms.n_compared * temperatures * pt->held;
  for (size_t i = 0; i < pt->terms.n_compared; i++)
    for (size_t t = 0; t < temperatures; t++)
      for (size_t s = 0; s < pt->held; s++)
        *values++ = pt_term_mean_of_all(&sums, pt->terms.compared[i], t, s);
}

enum gpumc_status pt_record_bin(struct pt *pt, size_t bin, struct gpumc_error *error)
{
  double measurements = 0;
  for (size_t b = 0; b < pt->bin.blocks; b++)
    measurements += (double)pt->bin.measurements[b];
  pt_bin_begin_row(pt, bin, pt->row);
  pt->row[PT_BIN_MEASUREMENTS] = measurements;
  GPUMC_TRY(fill_row(pt, error));
  remember(pt, bin);
  return gpumc_recorder_append(pt->context.recorder, pt->table_bins, pt->row, error);
}

/* ---- for the summary ---- */

/* The host's data by sample, `rows` numbers of 8 bytes for each. */
struct by_sample {
  size_t rows;
  void *own, *whole; /* of all samples: the root's, to be freed; otherwise NULL */
};

enum { SUMS, HISTORY, ROUND_TRIPS, LOWEST, BY_SAMPLE };

static enum gpumc_status
gather_all(const struct pt *pt, struct by_sample array[BY_SAMPLE], struct gpumc_error *error)
{
  const struct gpumc_ensemble *ensemble = pt->context.ensemble;
  for (size_t i = 0; i < BY_SAMPLE; i++) {
    if (gpumc_is_root(gpumc_columns_processes(ensemble)))
      GPUMC_TRY(gpumc_allocate(array[i].rows * pt->settings.samples, sizeof(double),
                               "sums of all samples", &array[i].whole, error));
    GPUMC_TRY(gpumc_columns_gather_to_root(ensemble, array[i].own, array[i].rows, sizeof(double),
                                           array[i].whole, error));
  }
  return GPUMC_OK;
}

enum gpumc_status pt_bring_together(void *state, struct gpumc_error *error)
{
  struct pt *pt = state;
  const size_t temperatures = pt->settings.temperatures;
  struct by_sample array[BY_SAMPLE] = {
      [SUMS] = {pt->bin.blocks * pt->terms.count * temperatures, pt->bin.sums, NULL},
      [HISTORY] = {PT_BINS_COMPARED * pt->terms.n_compared * temperatures, pt->history, NULL},
      [ROUND_TRIPS] = {1, pt->counts.round_trips, NULL},
      [LOWEST] = {1, pt->lowest, NULL}};
  if (pt->held == pt->settings.samples)
    return GPUMC_OK;
  free(pt->bin.of_all);
  pt->bin.of_all = NULL;
  const enum gpumc_status status = gather_all(pt, array, error);
  if (status == GPUMC_OK && gpumc_is_root(pt->context.processes)) {
    pt->bin.sums = array[SUMS].whole;
    pt->history = array[HISTORY].whole;
    pt->counts.round_trips = array[ROUND_TRIPS].whole;
    pt->lowest = array[LOWEST].whole;
    pt->held = pt->settings.samples;
  }
  for (size_t i = 0; i < BY_SAMPLE; i++)
    free(pt->held == pt->settings.samples ? array[i].own : array[i].whole);
  return status;
}

/* ---- recording ---- */

static void count(struct pt *pt, const struct pt_outcome *outcome)
{
  struct pt_counts *counts = &pt->counts;
  for (size_t parity = 0; parity < 2; parity++)
    counts->rounds[parity] += outcome->rounds[parity];
  for (size_t t = 0; t < pt->settings.temperatures; t++) {
    counts->accepted[t] += outcome->accepted[t];
    counts->labelled[t] += outcome->labelled[t];
    counts->from_hottest[t] += outcome->from_hottest[t];
  }
  for (size_t c = 0; c < pt->settings.copies; c++)
    for (size_t s = 0; s < pt->held; s++)
      counts->round_trips[s] += outcome->round_trips[c * pt->held + s];
  pt_clusters_count(pt, outcome);
}

static void clear_counts(struct pt *pt)
{
  struct pt_counts *counts = &pt->counts;
  const size_t bytes = pt->settings.temperatures * sizeof *counts->accepted;
  memset(counts->rounds, 0, sizeof counts->rounds);
  memset(counts->accepted, 0, bytes);
  memset(counts->labelled, 0, bytes);
  memset(counts->from_hottest, 0, bytes);
  memset(counts->round_trips, 0, pt->held * sizeof *counts->round_trips);
  pt_clusters_clear(pt);
}

/* Ends an iteration of the tuning: writes its row, and sets other temperatures. */
static enum gpumc_status
end_iteration(struct pt *pt, const struct pt_stretch *stretch, struct gpumc_error *error)
{
  GPUMC_TRY(pt_record_tuning(pt, stretch, error));
  pt_ladder_adjust(&pt->counts, (double)(pt->settings.copies * pt->settings.samples),
                   pt->settings.temperatures, pt->run_value, pt->value);
  clear_counts(pt);
  return pt_set_temperatures(pt, error);
}

static void add_block(struct pt *pt, const struct pt_outcome *outcome)
{
  struct pt_bin *bin = &pt->bin;
  const size_t size = pt->terms.count * pt->settings.temperatures * pt->held;
  bin->measurements[bin->blocks] = outcome->measurements;
  memcpy(bin->sums + bin->blocks * size, outcome->sums, size * sizeof *bin->sums);
  bin->blocks++;
  for (size_t parity = 0; parity < 2; parity++)
    bin->rounds[parity] += outcome->rounds[parity];
  for (size_t t = 0; t < pt->settings.temperatures; t++)
    bin->accepted[t] += outcome->accepted[t];
  for (size_t s = 0; s < pt->held; s++)
    if (outcome->lowest[s] < pt->lowest[s])
      pt->lowest[s] = outcome->lowest[s];
}

static void clear_bin(struct pt *pt)
{
  pt->bin.blocks = 0;
  memset(pt->bin.rounds, 0, sizeof pt->bin.rounds);
  memset(pt->bin.accepted, 0, pt->settings.temperatures * sizeof *pt->bin.accepted);
}

static enum gpumc_status
end_block(struct pt *pt, const struct pt_outcome *outcome, size_t number, struct gpumc_error *error)
{
  const struct pt_stretch *stretch = &pt->timeline.stretch[number];
  if (block_of(&pt->timeline, number) == 0)
    clear_bin(pt);
  add_block(pt, outcome);
  const bool complete =
      number + 1 == pt->timeline.count || pt->timeline.stretch[number + 1].index != stretch->index;
  return complete ? pt_record_bin(pt, stretch->index, error) : GPUMC_OK;
}

enum gpumc_status pt_collect(struct pt *pt, struct gpumc_error *error)
{
  const size_t number = pt->stretch - 1;
  const struct pt_stretch *stretch = &pt->timeline.stretch[number];
  struct pt_outcome outcome;
  GPUMC_TRY(pt_tempering_collect(&pt->tempering, slot_of(number), &outcome, error));
  if (stretch->phase == PT_THERMALIZATION)
    return GPUMC_OK;
  add_up_counted(pt, &outcome);
  count(pt, &outcome);
  return stretch->phase == PT_TUNING ? end_iteration(pt, stretch, error)
                                     : end_block(pt, &outcome, number, error);
}
