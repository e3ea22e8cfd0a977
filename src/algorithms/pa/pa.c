/* Population annealing: its state to and from a checkpoint, its life from creation to destruction,
 * and its vtable. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/pa/pa_state.h"
#include "core/base/memory.h"

/* ---- the state to and from a checkpoint ---- */

enum { COUNTER_FIRST, COUNTER_COUNT, COUNTER_ROW, N_COUNTERS };

static enum gpumc_status save_families(const struct pa *pa, struct gpumc_checkpoint_writer *writer,
                                       struct gpumc_error *error)
{
  struct pa_families families;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, pa_families_make(pa, &families, error));
  GPUMC_TRY_OUT(status, pa_families_fetch(pa, &families, error));
  GPUMC_TRY_OUT(status, gpumc_checkpoint_put(writer, "pa/family", GPUMC_UINT32, families.replicas,
                                             1, families.family, error));
out:
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
  const size_t rows = histogram_rows(pa), levels = pa_spectrum(pa->context.model)->levels;
  uint64_t *bins = NULL;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&bins, rows * levels, "energy histograms", error));
  GPUMC_TRY_OUT(status, device->ops->copy_to_host(device, bins, pa->population.bins,
                                                  rows * levels * sizeof *bins, error));
  GPUMC_TRY_OUT(status,
                gpumc_checkpoint_put(writer, "pa/bins", GPUMC_UINT64, rows, levels, bins, error));
out:
  free(bins);
  return status;
}

static enum gpumc_status
save(const void *state, struct gpumc_checkpoint_writer *writer, struct gpumc_error *error)
{
  const struct pa *pa = state;
  const int64_t counters[N_COUNTERS] = {[COUNTER_FIRST] = (int64_t)pa->batch.first,
                                        [COUNTER_COUNT] = (int64_t)pa->batch.count,
                                        [COUNTER_ROW] = (int64_t)pa->row};
  GPUMC_TRY(
      gpumc_checkpoint_put(writer, "pa/counters", GPUMC_INT64, N_COUNTERS, 1, counters, error));
  GPUMC_TRY(gpumc_checkpoint_put(writer, "pa/updates", GPUMC_FLOAT64, 1, 1, &pa->updates, error));
  GPUMC_TRY(gpumc_checkpoint_put(writer, "pa/log_partition", GPUMC_FLOAT64,
                                 pa->population.plan.runs, 1, pa->log_partition, error));
  GPUMC_TRY(save_families(pa, writer, error));
  if (pa->settings.reweight)
    GPUMC_TRY(save_bins(pa, writer, error));
  return GPUMC_OK;
}

static enum gpumc_status
load_bins(struct pa *pa, struct gpumc_checkpoint_reader *reader, struct gpumc_error *error)
{
  struct gpumc_device *device = pa->context.device;
  const size_t rows = histogram_rows(pa), levels = pa_spectrum(pa->context.model)->levels;
  uint64_t *bins = NULL;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&bins, rows * levels, "energy histograms", error));
  GPUMC_TRY_OUT(status, gpumc_checkpoint_get_rows(reader, "pa/bins", GPUMC_UINT64, 0, rows, levels,
                                                  bins, error));
  GPUMC_TRY_OUT(status, device->ops->copy_to_device(device, pa->population.bins, bins,
                                                    rows * levels * sizeof *bins, error));
out:
  free(bins);
  return status;
}

/* The temperatures that the first run chose stand in its rows. */
static enum gpumc_status reload_schedule(struct pa *pa, struct gpumc_error *error)
{
  size_t n_rows;
  size_t width = pa_curve_width(&pa->settings);
  const double *rows = gpumc_recorder_rows(pa->context.recorder, pa->tables[0].curve, &n_rows);
  for (size_t i = pa->schedule.count; i < n_rows; i++)
    GPUMC_TRY(pa_schedule_append(&pa->schedule, rows[i * width], error));
  return GPUMC_OK;
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
  GPUMC_TRY(gpumc_checkpoint_get_rows(reader, "pa/counters", GPUMC_INT64, 0, N_COUNTERS, 1,
                                      counters, error));
  GPUMC_TRY(
      gpumc_checkpoint_get_rows(reader, "pa/updates", GPUMC_FLOAT64, 0, 1, 1, &pa->updates, error));
  return gpumc_checkpoint_get_rows(reader, "pa/log_partition", GPUMC_FLOAT64, 0,
                                   pa->population.plan.runs, 1, pa->log_partition, error);
}

static enum gpumc_status load_families(struct pa *pa, struct gpumc_checkpoint_reader *reader,
                                       const int64_t counters[N_COUNTERS],
                                       struct gpumc_error *error)
{
  struct pa_families families;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, pa_families_make(pa, &families, error));
  GPUMC_TRY_OUT(status, gpumc_checkpoint_get_rows(reader, "pa/family", GPUMC_UINT32, 0,
                                                  families.replicas, 1, families.family, error));
  GPUMC_TRY_OUT(status, check_position(pa, counters, &families, error));
  GPUMC_TRY_OUT(status, pa_families_bring(pa, &families, error));
out:
  pa_families_free(&families);
  return status;
}

static enum gpumc_status
load(void *state, struct gpumc_checkpoint_reader *reader, bool *finished, struct gpumc_error *error)
{
  struct pa *pa = state;
  int64_t counters[N_COUNTERS];
  GPUMC_TRY(load_numbers(pa, reader, counters, error));
  GPUMC_TRY(reload_schedule(pa, error));
  GPUMC_TRY(load_families(pa, reader, counters, error));
  if (pa->settings.reweight)
    GPUMC_TRY(load_bins(pa, reader, error));
  pa->batch = (struct pa_batch){(size_t)counters[COUNTER_FIRST], (size_t)counters[COUNTER_COUNT]};
  pa->population.runs = pa->batch.count;
  pa->row = (size_t)counters[COUNTER_ROW];
  pa->tallied = false;
  *finished = pa->batch.count == 0;
  return GPUMC_OK;
}

/* ---- from creation to destruction ---- */

static void destroy(void *state)
{
  struct pa *pa = state;
  if (pa == NULL)
    return;
  pa_population_free(&pa->population);
  free(pa->schedule.value);
  free(pa->tables);
  free(pa->outcome);
  free(pa->log_partition);
  free(pa->curve_row);
  free(pa->block_row);
  gpumc_configurations_request_free(&pa->request);
  gpumc_configurations_free(&pa->configurations);
  free(pa);
}

static enum gpumc_status allocate_host_arrays(struct pa *pa, struct gpumc_error *error)
{
  const struct pa_settings *settings = &pa->settings;
  const size_t batch = pa->population.plan.runs;
  GPUMC_TRY(gpumc_allocate_array(&pa->tables, settings->runs, "tables", error));
  GPUMC_TRY(gpumc_allocate_array(&pa->outcome, batch, "outcomes", error));
  GPUMC_TRY(gpumc_allocate_array(&pa->log_partition, batch, "partition functions", error));
  GPUMC_TRY(gpumc_allocate_array(&pa->curve_row, pa_curve_width(settings), "a row", error));
  return gpumc_allocate_array(&pa->block_row, pa_block_width(settings), "a row", error);
}

static enum gpumc_status create_population(struct pa *pa, struct gpumc_error *error)
{
  const struct pa_population_plan plan =
      pa_population_plan(&pa->settings, pa->context.model, pa->schedule.value[0]);
  return pa_population_create(pa->context.device, &plan, pa->context.ensemble->size,
                              &pa->population, error);
}

static enum gpumc_status build(struct pa *pa, struct gpumc_error *error)
{
  const struct gpumc_context *context = &pa->context;
  pa_settings_read(&context->params, context->model, &pa->settings);
  pa->axis = gpumc_moved_label(context->model, &pa->settings.moved);
  snprintf(pa->axis_of_summary, sizeof pa->axis_of_summary, "summary/%s", pa->axis.name);
  pa->batch = pa_batch_from(&pa->settings, context->model, 0);
  GPUMC_TRY(pa_schedule_make(&context->params, &pa->schedule, error));
  GPUMC_TRY(create_population(pa, error));
  GPUMC_TRY(allocate_host_arrays(pa, error));
  GPUMC_TRY(pa_tables_declare(pa, error));
  GPUMC_TRY(gpumc_configurations_request_read(&context->params, GPUMC_CONFIGURATIONS_BETAS, 0,
                                              &pa->request, error));
  return pa_configurations_declare(pa, error);
}

/* Leaves nothing half-made: the position of a state may be asked for at any time. */
static enum gpumc_status
create(struct gpumc_context *context, void **state, struct gpumc_error *error)
{
  struct pa *pa;
  GPUMC_TRY(gpumc_allocate_array(&pa, 1, "population annealing", error));
  pa->context = *context;
  const enum gpumc_status status = build(pa, error);
  if (status == GPUMC_OK)
    *state = pa;
  else
    destroy(pa);
  return status;
}

static bool batch_is_over(const struct pa *pa)
{
  return pa->row > 0 && pa->schedule.value[pa->row - 1] >= pa->settings.end;
}

static enum gpumc_status settle(void *state, struct gpumc_error *error)
{
  struct pa *pa = state;
  if (!pa->pending)
    return GPUMC_OK;
  pa->pending = false;
  return pa_collect(pa, &pa->step, pa->row - 1, error);
}

/* Records the row that was on its way. If that fails, its error is reported, not the one that
 * followed from it. */
static enum gpumc_status collect_earlier(struct pa *pa, const struct pa_step *step,
                                         enum gpumc_status status, struct gpumc_error *error)
{
  struct gpumc_error earlier = {0};
  enum gpumc_status collected = pa_collect(pa, step, pa->row - 1, &earlier);
  if (collected == GPUMC_OK)
    return status;
  gpumc_error_free(error);
  *error = earlier;
  return collected;
}

/* One row of every run of the batch is enqueued, then the row before it recorded, so that the
 * device works meanwhile. */
static enum gpumc_status advance(void *state, bool *finished, struct gpumc_error *error)
{
  struct pa *pa = state;
  const struct pa_step step = pa->step;
  const bool pending = pa->pending;
  pa->pending = false;
  enum gpumc_status status = pa_enqueue(pa, error);
  *finished = false;
  GPUMC_TRY(pending ? collect_earlier(pa, &step, status, error) : status);
  pa->pending = true;
  pa->row++;
  if (!batch_is_over(pa))
    return GPUMC_OK;
  GPUMC_TRY(settle(pa, error));
  pa->batch = pa_batch_from(&pa->settings, pa->context.model, pa->batch.first + pa->batch.count);
  pa->row = 0;
  *finished = pa->batch.count == 0;
  return GPUMC_OK;
}

static void position(const void *state, struct gpumc_position *where)
{
  const struct pa *pa = state;
  const double first = pa->schedule.value[0];
  double value = pa->row > 0 ? pa->schedule.value[pa->row - 1] : first;
  bool growing = pa->settings.adaptive && pa->batch.first == 0;
  double of_batch = growing ? (value - first) / (pa->settings.end - first)
                            : (double)pa->row / (double)pa->schedule.count;
  where->fraction =
      ((double)pa->batch.first + (double)pa->batch.count * of_batch) / (double)pa->settings.runs;
  where->updates = pa->updates;
  where->coordinate = pa->axis.name;
  where->value = value;
}

static const char citation[] =
    "@article{barash2017population,\n"
    "  author  = {Barash, Lev Yu. and Weigel, Martin and Borovsk{\\'y}, Michal and Janke, Wolfhard "
    "and Shchur, Lev N.},\n"
    "  title   = {{GPU} accelerated population annealing algorithm},\n"
    "  journal = {Computer Physics Communications},\n"
    "  volume  = {220},\n"
    "  pages   = {341--350},\n"
    "  year    = {2017},\n"
    "  doi     = {10.1016/j.cpc.2017.06.020}\n"
    "}\n";

static const char *const stages[] = {"resample", "gather", "sweep", "tally", NULL};

const struct gpumc_algorithm_ops gpumc_algorithm_pa = {
    .name = "pa",
    .summary = "population annealing: a population of replicas, cooled and resampled",
    .citation = citation,
    .keys = pa_keys,
    .stages = stages,
    .required = GPUMC_OPERATION_START | GPUMC_OPERATION_TRANSFER | GPUMC_OPERATION_SWEEP |
                GPUMC_OPERATION_MEASURE | GPUMC_OPERATION_GATHER,
    .checks = pa_checks,
    .defaults = pa_defaults,
    .replicas = pa_replicas,
    .demand = pa_demand,
    .create = create,
    .advance = advance,
    .position = position,
    .settle = settle,
    .save = save,
    .load = load,
    .summarize = pa_summarize,
    .destroy = destroy,
};
