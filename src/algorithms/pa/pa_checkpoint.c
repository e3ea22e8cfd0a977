/* Population annealing: its state to and from a checkpoint, and the families of its replicas on the
 * host. */
#include "algorithms/pa/pa_state.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"

/* ---- sizes and families between the device and the host ---- */

enum gpumc_status
pa_families_make(const struct pa *pa, struct pa_families *families, struct gpumc_error *error)
{
  const struct gpumc_ensemble *ensemble = pa->context.ensemble;
  memset(families, 0, sizeof *families);
  enum gpumc_status status =
      gpumc_allocate_array(&families->size, ensemble->runs + 1, "sizes of the populations", error);
  if (status == GPUMC_OK)
    status = gpumc_ensemble_get_sizes(ensemble, families->size, error);
  for (size_t m = 0; m < ensemble->runs && status == GPUMC_OK; m++)
    families->replicas += families->size[m];
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&families->family, families->replicas + 1, "families", error);
  return status;
}

void pa_families_free(struct pa_families *families)
{
  free(families->size);
  free(families->family);
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

/* On the device every run has room for `capacity`. */
static enum gpumc_status copy_families(const struct pa *pa, copy_labels *copy,
                                       const struct pa_families *families,
                                       struct gpumc_error *error)
{
  uint32_t *on_host = families->family;
  enum gpumc_status status = GPUMC_OK;
  for (size_t m = 0; m < pa->context.ensemble->runs && status == GPUMC_OK; m++) {
    status = copy(pa->context.device, pa->population.family + m * pa->population.plan.capacity,
                  on_host, families->size[m], error);
    on_host += families->size[m];
  }
  return status;
}

enum gpumc_status
pa_families_fetch(const struct pa *pa, struct pa_families *families, struct gpumc_error *error)
{
  return copy_families(pa, fetch, families, error);
}

enum gpumc_status
pa_families_bring(const struct pa *pa, struct pa_families *families, struct gpumc_error *error)
{
  return copy_families(pa, bring, families, error);
}

/* ---- state ---- */

enum { COUNTER_FIRST, COUNTER_COUNT, COUNTER_ROW, N_COUNTERS };

static enum gpumc_status save_families(const struct pa *pa, struct gpumc_checkpoint_writer *writer,
                                       struct gpumc_error *error)
{
  struct pa_families families;
  enum gpumc_status status = pa_families_make(pa, &families, error);
  if (status == GPUMC_OK)
    status = pa_families_fetch(pa, &families, error);
  if (status == GPUMC_OK)
    status = gpumc_checkpoint_put(writer, "pa/family", GPUMC_UINT32, families.replicas, 1,
                                  families.family, error);
  pa_families_free(&families);
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
    status = pa_schedule_append(&pa->schedule, rows[i * width], error);
  return status;
}

/* Whether every run has the rows that the counters say, and configurations are those of them. */
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
  return pa_configurations_fit(pa);
}

/* A checkpoint that is whole may still be wrong: what indexes arrays must fit them. */
static enum gpumc_status check_position(const struct pa *pa, const int64_t counters[N_COUNTERS],
                                        const struct pa_families *families,
                                        struct gpumc_error *error)
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
  for (size_t r = 0; r < families->replicas && fits; r++)
    fits = families->family[r] < pa->settings.population;
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
  struct pa_families families;
  enum gpumc_status status = pa_families_make(pa, &families, error);
  if (status == GPUMC_OK)
    status = gpumc_checkpoint_get_rows(reader, "pa/family", GPUMC_UINT32, 0, families.replicas, 1,
                                       families.family, error);
  if (status == GPUMC_OK)
    status = check_position(pa, counters, &families, error);
  if (status == GPUMC_OK)
    status = pa_families_bring(pa, &families, error);
  pa_families_free(&families);
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
