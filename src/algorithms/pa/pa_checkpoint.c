/* Population annealing: its state to and from a checkpoint. */
#include <stdlib.h>
#include <string.h>

#include "algorithms/pa/pa_state.h"
#include "core/memory.h"

enum { COUNTER_FIRST, COUNTER_COUNT, COUNTER_ROW, N_COUNTERS };

/* The replicas of the batch, run behind run, as they stand in the file. */
struct labels {
  uint32_t *size;   /* [runs of the batch] */
  uint32_t *family; /* [replicas of all runs] */
  size_t replicas;
};

static void labels_free(struct labels *labels)
{
  free(labels->size);
  free(labels->family);
}

static enum gpumc_status
labels_make(const struct pa *pa, struct labels *labels, struct gpumc_error *error)
{
  const struct gpumc_ensemble *ensemble = pa->context.ensemble;
  memset(labels, 0, sizeof *labels);
  enum gpumc_status status =
      gpumc_allocate_array(&labels->size, ensemble->runs + 1, "sizes of the populations", error);
  if (status == GPUMC_OK)
    status = gpumc_ensemble_get_sizes(ensemble, labels->size, error);
  for (size_t m = 0; m < ensemble->runs && status == GPUMC_OK; m++)
    labels->replicas += labels->size[m];
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&labels->family, labels->replicas + 1, "families", error);
  return status;
}

typedef enum gpumc_status copy_labels(struct gpumc_device *device, uint32_t *on_device,
                                      uint32_t *on_host, size_t count, struct gpumc_error *error);

static enum gpumc_status fetch(struct gpumc_device *device, uint32_t *on_device, uint32_t *on_host,
                               size_t count, struct gpumc_error *error)
{
  return device->ops->copy_to_host(device, on_host, on_device, count * sizeof *on_host, error);
}

static enum gpumc_status bring(struct gpumc_device *device, uint32_t *on_device, uint32_t *on_host,
                               size_t count, struct gpumc_error *error)
{
  return device->ops->copy_to_device(device, on_device, on_host, count * sizeof *on_host, error);
}

/* Between the device, where every run has room for `capacity`, and the file's order. */
static enum gpumc_status copy_families(const struct pa *pa, copy_labels *copy,
                                       const struct labels *labels, struct gpumc_error *error)
{
  uint32_t *on_host = labels->family;
  enum gpumc_status status = GPUMC_OK;
  for (size_t m = 0; m < pa->context.ensemble->runs && status == GPUMC_OK; m++) {
    status = copy(pa->context.device, pa->population.family + m * pa->population.plan.capacity,
                  on_host, labels->size[m], error);
    on_host += labels->size[m];
  }
  return status;
}

static enum gpumc_status save_families(const struct pa *pa, struct gpumc_checkpoint_writer *writer,
                                       struct gpumc_error *error)
{
  struct labels labels;
  enum gpumc_status status = labels_make(pa, &labels, error);
  if (status == GPUMC_OK)
    status = copy_families(pa, fetch, &labels, error);
  if (status == GPUMC_OK)
    status = gpumc_checkpoint_put(writer, "pa/family", GPUMC_UINT32, labels.replicas, 1,
                                  labels.family, error);
  labels_free(&labels);
  return status;
}

static size_t histogram_rows(const struct pa *pa)
{
  return pa->settings.strata * pa->settings.blocks;
}

static enum gpumc_status
save_bins(const struct pa *pa, struct gpumc_checkpoint_writer *writer, struct gpumc_error *error)
{
  struct gpumc_device *device = pa->context.device;
  const size_t rows = histogram_rows(pa), levels = pa->context.model->levels;
  uint64_t *bins = NULL;
  enum gpumc_status status = gpumc_allocate_array(&bins, rows * levels, "energy histograms", error);
  if (status == GPUMC_OK)
    status = device->ops->copy_to_host(device, bins, pa->population.bins,
                                       rows * levels * sizeof *bins, error);
  if (status == GPUMC_OK)
    status = gpumc_checkpoint_put(writer, "pa/bins", GPUMC_UINT64, rows, levels, bins, error);
  free(bins);
  return status;
}

enum gpumc_status
pa_save(const void *state, struct gpumc_checkpoint_writer *writer, struct gpumc_error *error)
{
  const struct pa *pa = state;
  const int64_t counters[N_COUNTERS] = {[COUNTER_FIRST] = (int64_t)pa->batch.first,
                                        [COUNTER_COUNT] = (int64_t)pa->batch.count,
                                        [COUNTER_ROW] = (int64_t)pa->row};
  enum gpumc_status status =
      gpumc_checkpoint_put(writer, "pa/counters", GPUMC_INT64, N_COUNTERS, 1, counters, error);
  if (status == GPUMC_OK)
    status = gpumc_checkpoint_put(writer, "pa/updates", GPUMC_FLOAT64, 1, 1, &pa->updates, error);
  if (status == GPUMC_OK)
    status = gpumc_checkpoint_put(writer, "pa/log_partition", GPUMC_FLOAT64,
                                  pa->population.plan.runs, 1, pa->log_partition, error);
  if (status == GPUMC_OK)
    status = save_families(pa, writer, error);
  if (status == GPUMC_OK && pa->settings.reweight)
    status = save_bins(pa, writer, error);
  return status;
}

static enum gpumc_status
load_bins(struct pa *pa, struct gpumc_checkpoint_reader *reader, struct gpumc_error *error)
{
  struct gpumc_device *device = pa->context.device;
  const size_t rows = histogram_rows(pa), levels = pa->context.model->levels;
  uint64_t *bins = NULL;
  enum gpumc_status status = gpumc_allocate_array(&bins, rows * levels, "energy histograms", error);
  if (status == GPUMC_OK)
    status =
        gpumc_checkpoint_get_rows(reader, "pa/bins", GPUMC_UINT64, 0, rows, levels, bins, error);
  if (status == GPUMC_OK)
    status = device->ops->copy_to_device(device, pa->population.bins, bins,
                                         rows * levels * sizeof *bins, error);
  free(bins);
  return status;
}

/* The temperatures that the first run chose stand in its rows. */
static enum gpumc_status reload_schedule(struct pa *pa, struct gpumc_error *error)
{
  size_t n_rows;
  size_t width = pa_curve_width(&pa->settings);
  const double *rows = gpumc_recorder_rows(pa->context.recorder, pa->tables[0].curve, &n_rows);
  enum gpumc_status status = GPUMC_OK;
  for (size_t i = pa->schedule.count; i < n_rows && status == GPUMC_OK; i++)
    status = pa_schedule_append(&pa->schedule, rows[i * width + PA_BETA], error);
  return status;
}

/* Whether every run has the rows that the counters say. */
static bool rows_fit(const struct pa *pa, const int64_t counters[N_COUNTERS])
{
  const size_t first = (size_t)counters[COUNTER_FIRST], count = (size_t)counters[COUNTER_COUNT];
  for (size_t m = 0; m < pa->settings.runs; m++) {
    size_t n_rows;
    gpumc_recorder_rows(pa->context.recorder, pa->tables[m].curve, &n_rows);
    size_t expected = m < first ? pa->schedule.count : 0;
    if (m >= first && m < first + count)
      expected = (size_t)counters[COUNTER_ROW];
    if (n_rows != expected || n_rows > pa->schedule.count)
      return false;
  }
  return true;
}

/* A checkpoint that is whole may still be wrong: what indexes arrays must fit them. */
static enum gpumc_status check_position(const struct pa *pa, const int64_t counters[N_COUNTERS],
                                        const struct labels *labels, struct gpumc_error *error)
{
  const int64_t runs = (int64_t)pa->settings.runs;
  bool fits =
      counters[COUNTER_FIRST] >= 0 && counters[COUNTER_FIRST] <= runs && counters[COUNTER_ROW] >= 0;
  if (fits) {
    const struct pa_batch batch =
        pa_batch_from(&pa->settings, pa->context.model, (size_t)counters[COUNTER_FIRST]);
    fits = counters[COUNTER_COUNT] == (int64_t)batch.count && rows_fit(pa, counters);
    if (counters[COUNTER_ROW] > 0)
      fits = fits && batch.count == pa->context.ensemble->runs &&
             batch.first == pa->context.ensemble->first_run;
  }
  for (size_t r = 0; r < labels->replicas && fits; r++)
    fits = labels->family[r] < pa->settings.population;
  if (fits)
    return GPUMC_OK;
  return gpumc_error_set(error, GPUMC_FAILURE,
                         "the checkpoint's counters, rows and families contradict each other");
}

static enum gpumc_status load_numbers(struct pa *pa, struct gpumc_checkpoint_reader *reader,
                                      int64_t counters[N_COUNTERS], struct gpumc_error *error)
{
  enum gpumc_status status = gpumc_checkpoint_get_rows(reader, "pa/counters", GPUMC_INT64, 0,
                                                       N_COUNTERS, 1, counters, error);
  if (status == GPUMC_OK)
    status = gpumc_checkpoint_get_rows(reader, "pa/updates", GPUMC_FLOAT64, 0, 1, 1, &pa->updates,
                                       error);
  if (status == GPUMC_OK)
    status = gpumc_checkpoint_get_rows(reader, "pa/log_partition", GPUMC_FLOAT64, 0,
                                       pa->population.plan.runs, 1, pa->log_partition, error);
  return status;
}

static enum gpumc_status load_families(struct pa *pa, struct gpumc_checkpoint_reader *reader,
                                       const int64_t counters[N_COUNTERS],
                                       struct gpumc_error *error)
{
  struct labels labels;
  enum gpumc_status status = labels_make(pa, &labels, error);
  if (status == GPUMC_OK)
    status = gpumc_checkpoint_get_rows(reader, "pa/family", GPUMC_UINT32, 0, labels.replicas, 1,
                                       labels.family, error);
  if (status == GPUMC_OK)
    status = check_position(pa, counters, &labels, error);
  if (status == GPUMC_OK)
    status = copy_families(pa, bring, &labels, error);
  labels_free(&labels);
  return status;
}

enum gpumc_status pa_load(void *state, struct gpumc_checkpoint_reader *reader, bool *finished,
                          struct gpumc_error *error)
{
  struct pa *pa = state;
  int64_t counters[N_COUNTERS];
  enum gpumc_status status = load_numbers(pa, reader, counters, error);
  if (status == GPUMC_OK)
    status = reload_schedule(pa, error);
  if (status == GPUMC_OK)
    status = load_families(pa, reader, counters, error);
  if (status == GPUMC_OK && pa->settings.reweight)
    status = load_bins(pa, reader, error);
  if (status != GPUMC_OK)
    return status;
  pa->batch = (struct pa_batch){(size_t)counters[COUNTER_FIRST], (size_t)counters[COUNTER_COUNT]};
  pa->population.runs = pa->batch.count;
  pa->row = (size_t)counters[COUNTER_ROW];
  pa->tallied = false;
  *finished = pa->batch.count == 0;
  return GPUMC_OK;
}
