/* Population annealing: its life from creation to destruction, and its vtable. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/pa/pa_state.h"
#include "core/base/memory.h"

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
  enum gpumc_status status = gpumc_allocate_array(&pa->tables, settings->runs, "tables", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&pa->outcome, batch, "outcomes", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&pa->log_partition, batch, "partition functions", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&pa->curve_row, pa_curve_width(settings), "a row", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&pa->block_row, pa_block_width(settings), "a row", error);
  return status;
}

static enum gpumc_status create_population(struct pa *pa, struct gpumc_error *error)
{
  const struct pa_population_plan plan =
      pa_population_plan(&pa->settings, pa->context.model, pa->schedule.value[0]);
  return pa_population_create(pa->context.device, &plan, pa->context.ensemble->size,
                              &pa->population, error);
}

static enum gpumc_status
create(struct gpumc_context *context, void **state, struct gpumc_error *error)
{
  struct pa *pa = NULL;
  *state = NULL;
  enum gpumc_status status = gpumc_allocate_array(&pa, 1, "population annealing", error);
  if (status != GPUMC_OK)
    return status;
  pa->context = *context;
  pa_settings_read(&context->params, context->model, &pa->settings);
  pa->axis = gpumc_moved_label(context->model, &pa->settings.moved);
  snprintf(pa->axis_of_summary, sizeof pa->axis_of_summary, "summary/%s", pa->axis.name);
  pa->batch = pa_batch_from(&pa->settings, context->model, 0);
  status = pa_schedule_make(&context->params, &pa->schedule, error);
  if (status == GPUMC_OK)
    status = create_population(pa, error);
  if (status == GPUMC_OK)
    status = allocate_host_arrays(pa, error);
  if (status == GPUMC_OK)
    status = pa_tables_declare(pa, error);
  if (status == GPUMC_OK)
    status = gpumc_configurations_request_read(&context->params, GPUMC_CONFIGURATIONS_BETAS, 0,
                                               &pa->request, error);
  if (status == GPUMC_OK)
    status = pa_configurations_declare(pa, error);
  if (status != GPUMC_OK) {
    destroy(pa);
    return status;
  }
  *state = pa;
  return GPUMC_OK;
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

/* Record the row that was on its way. What went wrong there is told, and not what followed from it.
 */
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
  if (pending)
    status = collect_earlier(pa, &step, status, error);
  if (status != GPUMC_OK)
    return status;
  pa->pending = true;
  pa->row++;
  if (!batch_is_over(pa))
    return GPUMC_OK;
  status = settle(pa, error);
  if (status == GPUMC_OK) {
    pa->batch = pa_batch_from(&pa->settings, pa->context.model, pa->batch.first + pa->batch.count);
    pa->row = 0;
    *finished = pa->batch.count == 0;
  }
  return status;
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
    .save = pa_save,
    .load = pa_load,
    .summarize = pa_summarize,
    .destroy = destroy,
};
