/* Population annealing: the temperature steps of a batch of runs (section 2.1 of the paper), a run
 * from its creation to its destruction, and the vtable. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/pa/pa_parts.h"
#include "algorithms/pa/pa_runs.h"
#include "algorithms/pa/pa_state.h"
#include "core/base/memory.h"
#include "core/numerics/elementary.h"

/* ---- one temperature step of every run of the batch ---- */

enum { BISECTIONS = 30 };

static void enter(const struct pa *pa, enum pa_stage stage)
{
  pa->context.device->ops->enter(pa->context.device, stage);
}

static size_t slot_of(size_t row)
{
  return row % GPUMC_SLOTS;
}

/* Enqueues the sums of the current replicas, whose channels are measured. `histogram`: unless these
 * replicas were already counted. */
static enum gpumc_status tally(struct pa *pa, bool histogram, struct gpumc_error *error)
{
  GPUMC_TRY(pa_population_tally(&pa->population, pa_runs_first(pa), histogram, error));
  pa->tallied = true;
  return GPUMC_OK;
}

static enum gpumc_status measure(struct pa *pa, struct gpumc_error *error)
{
  struct gpumc_ensemble *ensemble = pa->context.ensemble;
  return ensemble->ops->measure(ensemble, pa->population.channel, error);
}

static enum gpumc_status start_batch(struct pa *pa, struct gpumc_error *error)
{
  GPUMC_TRY(gpumc_ensemble_start(pa->context.ensemble, (uint32_t)pa->batch.first, pa->batch.count,
                                 pa->settings.population, error));
  pa_runs_take(pa);
  pa->step = (struct pa_step){.value = pa->schedule.value[0], .weighing = 0.0};
  for (size_t m = 0; m < pa->batch.count; m++)
    pa->log_partition[m] = pa_first_log_partition(&pa->settings, pa->context.model);
  GPUMC_TRY(pa_population_found(&pa->population, error));
  if (pa->settings.thermalization > 0)
    enter(pa, PA_STAGE_SWEEP);
  /* Without sweeps as well, since what is measured may depend on the value. */
  return gpumc_ensemble_sweep(pa->context.ensemble, pa->settings.thermalization, pa->step.value,
                              pa->population.channel, error);
}

static double weighing_to(const struct pa *pa, double value)
{
  const struct gpumc_moved *moved = &pa->settings.moved;
  const struct gpumc_model *model = pa->context.model;
  return (gpumc_moved_coefficient(model, moved, value) -
          gpumc_moved_coefficient(model, moved, pa->schedule.value[pa->row - 1])) *
         model->quantum[moved->conjugate];
}

static enum gpumc_status
overlap_at(struct pa *pa, double value, double *overlap, struct gpumc_error *error)
{
  if (pa->population.runs > 0)
    GPUMC_TRY(pa_population_trial(&pa->population, weighing_to(pa, value), overlap, error));
  pa_runs_tell_overlap(pa, overlap);
  return GPUMC_OK;
}

/* Finds a value *high whose overlap is below alpha*, or the end, by doubling the last step. *low
 * follows as long as the overlap suffices. */
static enum gpumc_status
bracket(struct pa *pa, double *low, double *high, bool *reached, struct gpumc_error *error)
{
  const double present = pa->schedule.value[pa->row - 1];
  double end = pa->settings.end;
  double step = pa->row >= 2 ? present - pa->schedule.value[pa->row - 2] : (end - present) / 1024.0;
  *low = present;
  *reached = false;
  for (;; step *= 2) {
    double overlap = 0;
    *high = fmin(present + step, end);
    GPUMC_TRY(overlap_at(pa, *high, &overlap, error));
    if (overlap < pa->settings.overlap)
      return GPUMC_OK;
    *low = *high;
    *reached = *high >= end;
    if (*reached)
      return GPUMC_OK;
  }
}

/* Finds the value whose overlap with the present one is alpha* (section 2.3) by bisection: the
 * overlap falls continuously from 1 as the step grows. */
static enum gpumc_status choose_value(struct pa *pa, double *value, struct gpumc_error *error)
{
  double low;
  double high;
  bool reached;
  GPUMC_TRY(bracket(pa, &low, &high, &reached, error));
  for (int i = 0; i < BISECTIONS && !reached; i++) {
    double overlap = 0;
    double middle = 0.5 * (low + high);
    GPUMC_TRY(overlap_at(pa, middle, &overlap, error));
    if (overlap < pa->settings.overlap)
      high = middle;
    else
      low = middle;
  }
  *value = low;
  if (low > pa->schedule.value[pa->row - 1])
    return GPUMC_OK;
  return gpumc_error_set(error, GPUMC_FAILURE,
                         "at %s = %.17g the next step with an overlap of %g is too small to "
                         "be taken; use a smaller algorithm.%s.overlap",
                         pa->axis.name, low, pa->settings.overlap, pa->schedule.block);
}

/* Weights need a reference, found by a tally; after a resume there has been none. */
static enum gpumc_status ensure_tally(struct pa *pa, struct gpumc_error *error)
{
  if (pa->tallied)
    return GPUMC_OK;
  GPUMC_TRY(measure(pa, error));
  return tally(pa, false, error);
}

static enum gpumc_status next_value(struct pa *pa, struct gpumc_error *error)
{
  double value;
  if (pa->row < pa->schedule.count)
    return GPUMC_OK;
  GPUMC_TRY(choose_value(pa, &value, error));
  return pa_schedule_append(&pa->schedule, value, error);
}

static enum gpumc_status resample(struct pa *pa, struct gpumc_error *error)
{
  const struct pa_resampling_request request = {
      .method = pa->settings.resampling,
      .seed = pa->context.seed,
      .rounds = pa->context.rounds,
      .first_run = pa_runs_first(pa),
      .first_replica = (uint32_t)pa->context.ensemble->plan.first_replica,
      .time = (uint32_t)pa->row,
      .step = pa->step.weighing,
      .target = pa->settings.population,
  };
  struct gpumc_ensemble *ensemble = pa->context.ensemble;
  enter(pa, PA_STAGE_RESAMPLE);
  GPUMC_TRY(pa_population_resample(&pa->population, &request, error));
  enter(pa, PA_STAGE_GATHER);
  GPUMC_TRY(pa_parts_migrate(&pa->population, error));
  return ensemble->ops->gather(ensemble, pa->population.parent, error);
}

static enum gpumc_status anneal(struct pa *pa, struct gpumc_error *error)
{
  GPUMC_TRY(ensure_tally(pa, error));
  GPUMC_TRY(next_value(pa, error));
  pa->step.value = pa->schedule.value[pa->row];
  pa->step.weighing = weighing_to(pa, pa->step.value);
  GPUMC_TRY(resample(pa, error));
  pa->tallied = false;
  enter(pa, PA_STAGE_SWEEP);
  return gpumc_ensemble_sweep(pa->context.ensemble, pa->settings.sweeps, pa->step.value,
                              pa->population.channel, error);
}

static enum gpumc_status enqueue(struct pa *pa, struct gpumc_error *error)
{
  GPUMC_TRY(pa->row == 0 ? start_batch(pa, error) : anneal(pa, error));
  GPUMC_TRY(pa_steps_take(pa, error));
  enter(pa, PA_STAGE_TALLY);
  GPUMC_TRY(tally(pa, true, error));
  GPUMC_TRY(pa_population_publish(&pa->population, slot_of(pa->row), error));
  enter(pa, PA_STAGE_OTHER);
  return pa_configurations_write(pa, error);
}

static enum gpumc_status
check_size(const struct pa *pa, size_t m, size_t row, struct gpumc_error *error)
{
  const size_t size = pa->outcome[m].size, capacity = pa_plan_whole(&pa->population.plan);
  if (size >= 1 && size <= capacity)
    return GPUMC_OK;
  return gpumc_error_set(error, GPUMC_FAILURE,
                         "run %zu: resampling step %zu, to %s = %g, gave %zu replicas, but the "
                         "population has room for 1 to %zu: the step in %s is too large for it",
                         pa->batch.first + m, row, pa->axis.name, pa->schedule.value[row], size,
                         capacity, pa->axis.name);
}

/* `pa->step` may already be that of the next row. */
static enum gpumc_status
collect(struct pa *pa, const struct pa_step *step, size_t row, struct gpumc_error *error)
{
  const struct gpumc_processes *processes = pa->context.device->processes;
  gpumc_processes_enter(processes, PA_STAGE_TALLY); /* for messages; the device carries on */
  GPUMC_TRY(pa_population_collect(&pa->population, slot_of(row), pa->outcome, error));
  pa_runs_share_outcomes(pa);
  gpumc_processes_enter(processes, GPUMC_STAGE_OTHER);
  for (size_t m = 0; m < pa->batch.count; m++) {
    GPUMC_TRY(check_size(pa, m, row, error));
    GPUMC_TRY(pa_record(pa, step, m, error));
    GPUMC_TRY(pa_steps_record(pa, step->value, row, m, error));
  }
  return GPUMC_OK;
}

/* ---- from creation to destruction ---- */

static void destroy(void *state)
{
  struct pa *pa = state;
  if (pa == NULL)
    return;
  pa_population_free(&pa->population);
  pa_runs_free(pa);
  free(pa->schedule.value);
  free(pa->tables);
  free(pa->outcome);
  free(pa->log_partition);
  free(pa->curve_row);
  free(pa->block_row);
  pa_steps_free(pa);
  gpumc_configurations_request_free(&pa->request);
  gpumc_configurations_free(&pa->configurations);
  free(pa);
}

static enum gpumc_status allocate_host_arrays(struct pa *pa, struct gpumc_error *error)
{
  const struct pa_settings *settings = &pa->settings;
  const size_t batch = pa_plan_batch(&pa->population.plan);
  GPUMC_TRY(gpumc_allocate_array(&pa->tables, settings->runs, "tables", error));
  GPUMC_TRY(gpumc_allocate_array(&pa->outcome, batch, "outcomes", error));
  GPUMC_TRY(gpumc_allocate_array(&pa->log_partition, batch, "partition functions", error));
  GPUMC_TRY(gpumc_allocate_array(&pa->curve_row, pa_curve_width(settings), "a row", error));
  return gpumc_allocate_array(&pa->block_row, pa_block_width(settings), "a row", error);
}

static enum gpumc_status create_population(struct pa *pa, struct gpumc_error *error)
{
  struct gpumc_ensemble *ensemble = pa->context.ensemble;
  struct pa_population_plan plan = pa_population_plan(&pa->settings, pa->context.model,
                                                      ensemble->plan.runs, pa->schedule.value[0]);
  if (ensemble->plan.division == GPUMC_BY_REPLICAS) {
    plan.whole = plan.capacity;
    plan.capacity = ensemble->plan.capacity;
    plan.first = ensemble->plan.first_replica;
    plan.processes = (size_t)ensemble->plan.processes->module.size;
    plan.rank = (size_t)ensemble->plan.processes->module.rank;
  }
  pa_runs_plan(ensemble, &plan);
  GPUMC_TRY(
      pa_population_create(pa->context.device, &plan, ensemble->size, &pa->population, error));
  GPUMC_TRY(pa_runs_create(pa, error));
  return pa_parts_create(&pa->population, ensemble, error);
}

static enum gpumc_status build(struct pa *pa, struct gpumc_error *error)
{
  const struct gpumc_context *context = &pa->context;
  const size_t processes = context->processes != NULL ? (size_t)context->processes->module.size : 1;
  pa_settings_read(&context->params, context->model, &pa->settings);
  pa->axis = gpumc_moved_label(context->model, &pa->settings.moved);
  snprintf(pa->axis_of_summary, sizeof pa->axis_of_summary, "summary/%s", pa->axis.name);
  const size_t room = context->ensemble->plan.runs;
  const size_t most = pa_batch_runs(&pa->settings, context->model, processes);
  pa->batch_runs = room < most ? room : most;
  pa->batch = pa_batch_from(&pa->settings, pa->batch_runs, 0);
  GPUMC_TRY(pa_schedule_make(&context->params, &pa->schedule, error));
  GPUMC_TRY(create_population(pa, error));
  GPUMC_TRY(allocate_host_arrays(pa, error));
  GPUMC_TRY(pa_tables_declare(pa, error));
  GPUMC_TRY(pa_steps_create(pa, error));
  GPUMC_TRY(pa_steps_declare(pa, error));
  GPUMC_TRY(gpumc_configurations_request_read(&context->params, GPUMC_CONFIGURATIONS_BETAS, 0,
                                              &pa->request, error));
  return pa_configurations_declare(pa, error);
}

/* Leaves no partial state: the position may be requested at any time. */
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
  return collect(pa, &pa->step, pa->row - 1, error);
}

/* Records the pending row. If that fails, its error is reported, not one that followed from it. If
 * processes have to exchange messages for it, one that already has an error cannot, and only
 * reports that. */
static enum gpumc_status collect_earlier(struct pa *pa, const struct pa_step *step,
                                         enum gpumc_status status, struct gpumc_error *error)
{
  struct gpumc_error earlier = {0};
  if (status != GPUMC_OK && pa->context.ensemble->plan.division != GPUMC_UNDIVIDED)
    return status;
  enum gpumc_status collected = collect(pa, step, pa->row - 1, &earlier);
  if (collected == GPUMC_OK)
    return status;
  gpumc_error_free(error);
  *error = earlier;
  return collected;
}

/* Enqueues one row of every run of the batch and records the row before it while the device
 * works. */
static enum gpumc_status advance(void *state, bool *finished, struct gpumc_error *error)
{
  struct pa *pa = state;
  const struct pa_step step = pa->step;
  const bool pending = pa->pending;
  pa->pending = false;
  enum gpumc_status status = enqueue(pa, error);
  *finished = false;
  GPUMC_TRY(pending ? collect_earlier(pa, &step, status, error) : status);
  pa->pending = true;
  pa->row++;
  if (!batch_is_over(pa))
    return GPUMC_OK;
  GPUMC_TRY(settle(pa, error));
  pa->batch = pa_batch_from(&pa->settings, pa->batch_runs, pa->batch.first + pa->batch.count);
  pa->row = 0;
  *finished = pa->batch.count == 0;
  return *finished ? pa_gather_bins(pa, error) : GPUMC_OK;
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

static const enum gpumc_division divides[] = {GPUMC_BY_RUNS, GPUMC_BY_REPLICAS, GPUMC_UNDIVIDED};

const struct gpumc_algorithm_ops gpumc_algorithm_pa = {
    .name = "pa",
    .summary = "population annealing: a population of replicas, cooled and resampled",
    .citation = citation,
    .keys = pa_keys,
    .stages = stages,
    .required = GPUMC_OPERATION_START | GPUMC_OPERATION_TRANSFER | GPUMC_OPERATION_SWEEP |
                GPUMC_OPERATION_MEASURE | GPUMC_OPERATION_GATHER,
    .divides = divides,
    .relaxing_key = "sweeps",
    .merger = &pa_merger,
    .checks = pa_checks,
    .defaults = pa_defaults,
    .warn = pa_warn,
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
