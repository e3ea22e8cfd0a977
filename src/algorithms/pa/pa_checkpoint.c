/* Population annealing: data that leave the device besides the sums. The families of all replicas
 * are copied to the host for a checkpoint and for the populations requested by the block
 * `configurations`; those of all processes, if these divide the population. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/pa/pa_parts.h"
#include "algorithms/pa/pa_runs.h"
#include "algorithms/pa/pa_state.h"
#include "core/base/memory.h"
#include "core/simulation/curves.h"
#include "core/simulation/ladder.h"

/* ---- sizes and families between the device and the host ---- */

/* The replicas of the batch by their places, run after run. */
struct families {
  uint32_t *size;   /* [runs of the batch] */
  uint32_t *family; /* [replicas of all runs] */
  size_t replicas;
};

/* Takes the sizes of the ensemble, waiting for them; families are still to be filled in. Legal to
 * free when making failed. */
static enum gpumc_status
families_make(const struct pa *pa, struct families *families, struct gpumc_error *error)
{
  const struct gpumc_ensemble *ensemble = pa->context.ensemble;
  memset(families, 0, sizeof *families);
  GPUMC_TRY(
      gpumc_allocate_array(&families->size, ensemble->runs + 1, "sizes of the populations", error));
  GPUMC_TRY(gpumc_ensemble_whole_sizes(ensemble, families->size, error));
  for (size_t m = 0; m < ensemble->runs; m++)
    families->replicas += families->size[m];
  return gpumc_allocate_array(&families->family, families->replicas + 1, "families", error);
}

static void families_free(struct families *families)
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

/* The families of run m, own and whole: [capacity] of each. */
struct rows {
  uint32_t *own, *whole;
};

/* Copies from the devices of all processes to family[size]. */
static enum gpumc_status fetch_divided(const struct pa *pa, size_t m, const struct rows *rows,
                                       uint32_t *family, size_t size, struct gpumc_error *error)
{
  const struct gpumc_ensemble *ensemble = pa->context.ensemble;
  const size_t capacity = ensemble->plan.capacity;
  GPUMC_TRY(
      fetch(pa->context.device, pa->population.family + m * capacity, rows->own, capacity, error));
  GPUMC_TRY(
      gpumc_columns_gather_to_root(ensemble, rows->own, 1, sizeof *rows->own, rows->whole, error));
  memcpy(family, rows->whole, size * sizeof *family);
  return GPUMC_OK;
}

static enum gpumc_status bring_divided(const struct pa *pa, size_t m, const struct rows *rows,
                                       const uint32_t *family, size_t size,
                                       struct gpumc_error *error)
{
  const struct gpumc_ensemble *ensemble = pa->context.ensemble;
  const size_t capacity = ensemble->plan.capacity;
  memcpy(rows->whole, family, size * sizeof *family);
  gpumc_columns_take(ensemble, rows->whole, 1, sizeof *rows->own, rows->own);
  return bring(pa->context.device, pa->population.family + m * capacity, rows->own, capacity,
               error);
}

static enum gpumc_status copy_divided(const struct pa *pa, copy_labels *copy,
                                      const struct families *families, struct gpumc_error *error)
{
  const struct gpumc_ensemble_plan *plan = &pa->context.ensemble->plan;
  struct rows rows = {NULL, NULL};
  uint32_t *family = families->family;
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&rows.own, plan->capacity, "families", error));
  GPUMC_TRY_OUT(status,
                gpumc_allocate_array(&rows.whole, gpumc_plan_whole(plan), "families", error));
  for (size_t m = 0; m < pa->context.ensemble->runs; family += families->size[m++])
    GPUMC_TRY_OUT(status, copy == fetch
                              ? fetch_divided(pa, m, &rows, family, families->size[m], error)
                              : bring_divided(pa, m, &rows, family, families->size[m], error));
out:
  free(rows.own);
  free(rows.whole);
  return status;
}

/* On the device every run has room for `capacity`; runs of other processes are left out. */
static enum gpumc_status copy_families(const struct pa *pa, copy_labels *copy,
                                       const struct families *families, struct gpumc_error *error)
{
  if (pa->population.parts != NULL)
    return copy_divided(pa, copy, families, error);
  const size_t first = pa->population.first, end = first + pa->population.runs;
  uint32_t *on_host = families->family;
  for (size_t m = 0; m < end; on_host += families->size[m++])
    if (m >= first)
      GPUMC_TRY(copy(pa->context.device,
                     pa->population.family + (m - first) * pa->population.plan.capacity, on_host,
                     families->size[m], error));
  return GPUMC_OK;
}

static enum gpumc_status
families_fetch(const struct pa *pa, struct families *families, struct gpumc_error *error)
{
  GPUMC_TRY(copy_families(pa, fetch, families, error));
  pa_runs_gather_families(pa, families->size, families->family);
  return GPUMC_OK;
}

static enum gpumc_status
families_bring(const struct pa *pa, struct families *families, struct gpumc_error *error)
{
  return copy_families(pa, bring, families, error);
}

/* ---- histograms ---- */

static struct gpumc_part part_of_bins(const struct pa *pa)
{
  return (struct gpumc_part){"bins", GPUMC_UINT64, pa->settings.strata * pa->settings.blocks,
                             pa_spectrum(pa->context.model)->levels, pa->population.bins};
}

enum gpumc_status pa_gather_bins(const struct pa *pa, struct gpumc_error *error)
{
  const struct gpumc_processes *processes = gpumc_ensemble_processes(pa->context.ensemble);
  struct gpumc_device *device = pa->context.device;
  const struct gpumc_part bins = part_of_bins(pa);
  const size_t count = bins.rows * bins.width;
  uint64_t *sum = NULL;
  enum gpumc_status status;
  if (processes->module.size == 1 || !pa->settings.reweight)
    return GPUMC_OK;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&sum, count, "histograms", error));
  GPUMC_TRY_OUT(status,
                gpumc_columns_sum_counts(device, processes, bins.values,
                                         (struct gpumc_slice){0, count}, sum, count, error));
  if (!gpumc_is_root(processes))
    memset(sum, 0, count * sizeof *sum);
  status = device->ops->copy_to_device(device, bins.values, sum, count * sizeof *sum, error);
out:
  free(sum);
  return status;
}

/* ---- configurations ---- */

enum { STEP, VALUE, RUN, REPLICA, FAMILY };

enum gpumc_status pa_configurations_declare(struct pa *pa, struct gpumc_error *error)
{
  const struct gpumc_column labels[PA_CONFIGURATIONS_LABELS] = {
      [STEP] = {.label = {"step",
                          pa->settings.moved.beta ? "temperature steps from beta = 0"
                                                  : "steps from the first value",
                          "steps", "i"},
                .width = 1,
                .integer = true},
      [VALUE] = {.label = pa->axis, .width = 1},
      [RUN] = {.label = {"run", "index of the run, from 0", "1", ""}, .width = 1, .integer = true},
      [REPLICA] = {.label = {"replica", "index of the replica in its population, from 0", "1", ""},
                   .width = 1,
                   .integer = true},
      [FAMILY] = {.label = {"family", "initial replica from which it descends", "1", ""},
                  .width = 1,
                  .integer = true},
  };
  if (!gpumc_configurations_request_any(&pa->request))
    return GPUMC_OK;
  return gpumc_configurations_declare(&pa->context, labels, PA_CONFIGURATIONS_LABELS,
                                      &pa->configurations, error);
}

static enum gpumc_status
write_populations(struct pa *pa, const struct families *families, struct gpumc_error *error)
{
  const uint32_t *family = families->family;
  for (size_t m = 0; m < pa->batch.count; m++) {
    const double shared[] = {[STEP] = (double)pa->row,
                             [VALUE] = pa->schedule.value[pa->row],
                             [RUN] = (double)(pa->batch.first + m)};
    const struct gpumc_configurations_rows rows = {
        .run = m, .count = families->size[m], .label = shared, .mark = family};
    GPUMC_TRY(gpumc_configurations_write(&pa->configurations, &rows, error));
    family += families->size[m];
  }
  return GPUMC_OK;
}

enum gpumc_status pa_configurations_write(struct pa *pa, struct gpumc_error *error)
{
  struct families families;
  if (!pa_has_configurations(&pa->request, pa->schedule.value, pa->row, pa->settings.end))
    return GPUMC_OK;
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, families_make(pa, &families, error));
  GPUMC_TRY_OUT(status, families_fetch(pa, &families, error));
  status = write_populations(pa, &families, error);
out:
  families_free(&families);
  return status;
}

/* Returns whether their number is the one that follows from the rows of the runs. */
static bool configurations_fit(const struct pa *pa)
{
  uint64_t expected = 0;
  for (size_t m = 0; m < pa->settings.runs && gpumc_configurations_request_any(&pa->request); m++) {
    size_t rows;
    gpumc_recorder_rows(pa->context.recorder, pa->tables[m].curve, &rows);
    for (size_t row = 0; row < rows; row++)
      if (pa_has_configurations(&pa->request, pa->schedule.value, row, pa->settings.end))
        expected += (uint64_t)pa_curve_value(pa, m, row, PA_POPULATION);
  }
  return gpumc_configurations_count(&pa->configurations) == expected;
}

/* ---- the state to and from a checkpoint ---- */

enum { COUNTER_FIRST, COUNTER_COUNT, COUNTER_ROW, N_COUNTERS };

static enum gpumc_status save_families(const struct pa *pa, struct gpumc_checkpoint_writer *writer,
                                       struct gpumc_error *error)
{
  struct families families;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, families_make(pa, &families, error));
  GPUMC_TRY_OUT(status, families_fetch(pa, &families, error));
  GPUMC_TRY_OUT(status, gpumc_checkpoint_put(writer, "pa/family", GPUMC_UINT32, families.replicas,
                                             1, families.family, error));
out:
  families_free(&families);
  return status;
}

enum gpumc_status
pa_save(const void *state, struct gpumc_checkpoint_writer *writer, struct gpumc_error *error)
{
  const struct pa *pa = state;
  const int64_t counters[N_COUNTERS] = {[COUNTER_FIRST] = (int64_t)pa->batch.first,
                                        [COUNTER_COUNT] = (int64_t)pa->batch.count,
                                        [COUNTER_ROW] = (int64_t)pa->row};
  GPUMC_TRY(
      gpumc_checkpoint_put(writer, "pa/counters", GPUMC_INT64, N_COUNTERS, 1, counters, error));
  GPUMC_TRY(gpumc_checkpoint_put(writer, "pa/updates", GPUMC_FLOAT64, 1, 1, &pa->updates, error));
  GPUMC_TRY(gpumc_checkpoint_put(writer, "pa/log_partition", GPUMC_FLOAT64,
                                 pa_plan_batch(&pa->population.plan), 1, pa->log_partition, error));
  GPUMC_TRY(save_families(pa, writer, error));
  if (!pa->settings.reweight)
    return GPUMC_OK;
  const struct gpumc_part bins = part_of_bins(pa);
  return gpumc_columns_save_counts(pa->context.device,
                                   gpumc_ensemble_processes(pa->context.ensemble), &bins, writer,
                                   "pa", error);
}

/* The temperatures chosen by the first run are in its rows. */
static enum gpumc_status reload_schedule(struct pa *pa, struct gpumc_error *error)
{
  size_t n_rows;
  size_t width = pa_curve_width(&pa->settings);
  const double *rows = gpumc_recorder_rows(pa->context.recorder, pa->tables[0].curve, &n_rows);
  for (size_t i = pa->schedule.count; i < n_rows; i++)
    GPUMC_TRY(pa_schedule_append(&pa->schedule, rows[i * width], error));
  return GPUMC_OK;
}

/* Returns whether every run has the rows given by the counters, and configurations match them. */
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
  return configurations_fit(pa);
}

static enum gpumc_status refuse(struct gpumc_error *error)
{
  return gpumc_error_set(error, GPUMC_FAILURE,
                         "is damaged: its counters, rows and families are inconsistent");
}

/* A checkpoint of another number of processes may have other batches: one in progress is the
 * ensemble; for one that comes next only the first run matters. */
static bool batch_fits(const struct pa *pa, const int64_t counters[N_COUNTERS])
{
  const struct gpumc_ensemble *ensemble = pa->context.ensemble;
  const int64_t first = counters[COUNTER_FIRST], count = counters[COUNTER_COUNT];
  const int64_t runs = (int64_t)pa->settings.runs, left = runs - first;
  if (first < 0 || first > runs || count < 0 || count > left || (count == 0) != (left == 0) ||
      counters[COUNTER_ROW] < 0)
    return false;
  if (pa->settings.adaptive && first == 0 && count > 1)
    return false;
  return counters[COUNTER_ROW] == 0 ||
         (count == (int64_t)ensemble->runs && first == (int64_t)ensemble->first_run);
}

/* A readable checkpoint may still be wrong: numbers that index arrays must fit them. */
static enum gpumc_status check_position(const struct pa *pa, const int64_t counters[N_COUNTERS],
                                        const struct families *families, struct gpumc_error *error)
{
  bool fits = rows_fit(pa, counters);
  for (size_t r = 0; r < families->replicas && fits; r++)
    fits = families->family[r] < pa->settings.population;
  return fits ? GPUMC_OK : refuse(error);
}

static enum gpumc_status load_numbers(struct pa *pa, struct gpumc_checkpoint_reader *reader,
                                      int64_t counters[N_COUNTERS], struct gpumc_error *error)
{
  GPUMC_TRY(gpumc_checkpoint_get_rows(reader, "pa/counters", GPUMC_INT64, 0, N_COUNTERS, 1,
                                      counters, error));
  GPUMC_TRY(
      gpumc_checkpoint_get_rows(reader, "pa/updates", GPUMC_FLOAT64, 0, 1, 1, &pa->updates, error));
  if (!batch_fits(pa, counters))
    return refuse(error);
  return counters[COUNTER_ROW] > 0
             ? gpumc_checkpoint_get_rows(reader, "pa/log_partition", GPUMC_FLOAT64, 0,
                                         (size_t)counters[COUNTER_COUNT], 1, pa->log_partition,
                                         error)
             : GPUMC_OK;
}

static enum gpumc_status load_families(struct pa *pa, struct gpumc_checkpoint_reader *reader,
                                       const int64_t counters[N_COUNTERS],
                                       struct gpumc_error *error)
{
  struct families families;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, families_make(pa, &families, error));
  GPUMC_TRY_OUT(status, gpumc_checkpoint_get_rows(reader, "pa/family", GPUMC_UINT32, 0,
                                                  families.replicas, 1, families.family, error));
  GPUMC_TRY_OUT(status, check_position(pa, counters, &families, error));
  GPUMC_TRY_OUT(status, families_bring(pa, &families, error));
out:
  families_free(&families);
  return status;
}

enum gpumc_status pa_load(void *state, struct gpumc_checkpoint_reader *reader, bool *finished,
                          struct gpumc_error *error)
{
  struct pa *pa = state;
  int64_t counters[N_COUNTERS];
  GPUMC_TRY(load_numbers(pa, reader, counters, error));
  GPUMC_TRY(reload_schedule(pa, error));
  pa_runs_take(pa);
  GPUMC_TRY(load_families(pa, reader, counters, error));
  if (pa->settings.reweight) {
    const struct gpumc_part bins = part_of_bins(pa);
    GPUMC_TRY(gpumc_columns_load_counts(pa->context.device,
                                        gpumc_ensemble_processes(pa->context.ensemble), &bins,
                                        reader, "pa", error));
  }
  const size_t first = (size_t)counters[COUNTER_FIRST], count = (size_t)counters[COUNTER_COUNT];
  pa->row = (size_t)counters[COUNTER_ROW];
  pa->batch = pa->row > 0 ? (struct pa_batch){first, count}
                          : pa_batch_from(&pa->settings, pa->batch_runs, first);
  pa->tallied = false;
  *finished = pa->batch.count == 0;
  return GPUMC_OK;
}
