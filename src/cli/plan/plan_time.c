/* gpumc plan: how long a run would take, by timing its operations on a scratch ensemble. */
#include "cli/plan/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "core/base/machine.h"
#include "core/base/memory.h"
#include "core/simulation/ladder.h"
#include "core/simulation/shared_keys.h"

enum {
  REPLICAS_LEAST = 64, /* of a run at least, so that wide words are filled: two of them, */
  WORD = 32,           /* or one where replicas are large */
  /* Of one sweep, at most, unless the replicas above need more; a GPU wants to be filled. */
  UPDATES_CPU = 1 << 24,
  UPDATES_GPU = 1 << 30,
  TOGETHER_MOST = 1 << 11,
  CYCLE_MOST = 1 << 6, /* sweeps of moves that take turns, about */
  STEP_SWEEPS_MOST = 16,
  SEED = 1,
};
static const double sweep_budget = 0.2, step_budget = 0.08, other_budget = 0.02; /* s */
/* Longer than the start of the threads, and shorter than a turn of the scheduler's: where other
 * programs run, some repeats then have the processors for themselves. */
static const double repeat_seconds = 0.001;
/* A walk as long as those of a run: what it begins and ends with takes little of that. */
static const double walk_seconds = 0.05;
static const double probe_beta = 0.4; /* also of controls of models with a temperature */
/* Of a core, for what an algorithm does with the values of one replica. */
static const double value_seconds = 20e-9;
/* Of the time of sweeps, what an algorithm takes for looks at slow observables. */
static const double looking_share = 0.1;
/* Of a core, for a term of the sums that follow. */
static const double term_seconds = 3e-9;

/* The ensemble, smaller than that of the run where this one is large. */
struct probe {
  struct gpumc_device *device;
  const struct gpumc_work *work;
  double control; /* value of the one that is moved */
  struct gpumc_ensemble ensemble;
  size_t replicas;  /* of each run */
  double sites;     /* of all replicas */
  uint32_t sweeps;  /* of one call without measurement */
  uint32_t stepped; /* of one call with it */
  int64_t *channel[GPUMC_CHANNELS_MAXIMUM];
  int64_t *watched[GPUMC_CHANNELS_MAXIMUM];
  int64_t *pair[GPUMC_PAIRS_MAXIMUM];
  uint32_t *swap;
  struct gpumc_weight_table table; /* flat, of walks; no levels: it sweeps */
  int64_t *lowest;
  int64_t *log_weight;
  uint64_t *clock; /* [runs], of walks */
  uint32_t *steps; /* the same */
};

/* Runs the operation `calls` times. */
typedef enum gpumc_status operation(struct probe *probe, size_t calls, struct gpumc_error *error);

static enum gpumc_status
sweep(struct probe *probe, uint32_t sweeps, int64_t *const *channel, struct gpumc_error *error)
{
  if (probe->ensemble.time > UINT32_MAX - sweeps)
    probe->ensemble.time = 0; /* the same random numbers again do no harm here */
  return gpumc_ensemble_sweep_any(&probe->ensemble, sweeps, probe->control, channel, error);
}

/* Many sweeps are one call: threads that start together for each are held up by other programs. */
static enum gpumc_status sweep_alone(struct probe *probe, size_t calls, struct gpumc_error *error)
{
  return sweep(probe, probe->sweeps * (uint32_t)calls, NULL, error);
}

/* As many updates as those sweeps have. */
static enum gpumc_status walk_alone(struct probe *probe, size_t calls, struct gpumc_error *error)
{
  const struct gpumc_target target = {.kind = GPUMC_TABULATED, .table = &probe->table};
  const uint64_t updates = (uint64_t)probe->sweeps * calls * probe->ensemble.model->sites;
  uint32_t part;
  for (uint64_t left = gpumc_walk_steps(updates); left > 0; left -= part) {
    part = left < UINT32_MAX ? (uint32_t)left : UINT32_MAX;
    for (size_t m = 0; m < probe->ensemble.runs; m++)
      probe->steps[m] = part;
    GPUMC_TRY(probe->ensemble.ops->walk(&probe->ensemble, &target, error));
    for (size_t m = 0; m < probe->ensemble.runs; m++)
      probe->clock[m] += part;
  }
  return GPUMC_OK;
}

static enum gpumc_status step(struct probe *probe, size_t calls, struct gpumc_error *error)
{
  for (size_t i = 0; i < calls; i++)
    GPUMC_TRY(sweep(probe, probe->stepped, probe->channel, error));
  return GPUMC_OK;
}

static enum gpumc_status look(struct probe *probe, size_t calls, struct gpumc_error *error)
{
  for (size_t i = 0; i < calls; i++)
    GPUMC_TRY(probe->ensemble.ops->measure(&probe->ensemble, probe->watched, error));
  return GPUMC_OK;
}

static enum gpumc_status exchange(struct probe *probe, size_t calls, struct gpumc_error *error)
{
  for (size_t i = 0; i < calls; i++)
    GPUMC_TRY(probe->ensemble.ops->exchange(&probe->ensemble, probe->swap, error));
  return GPUMC_OK;
}

/* The first half of the runs with the second. */
static enum gpumc_status compare(struct probe *probe, size_t calls, struct gpumc_error *error)
{
  const size_t half = probe->ensemble.runs / 2;
  for (size_t i = 0; i < calls; i++)
    GPUMC_TRY(probe->ensemble.ops->compare(&probe->ensemble, 0, half, half, probe->pair, error));
  return GPUMC_OK;
}

/* Of the one thread that works, what other programs take left aside; else on the wall. */
static double now(const struct probe *probe)
{
  struct timespec own;
  if (strcmp(probe->device->ops->name, "cpu") != 0 || probe->device->threads > 1 ||
      clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own) != 0)
    return gpumc_clock();
  return (double)own.tv_sec + 1e-9 * (double)own.tv_nsec;
}

/* Seconds of one call, of the fastest repeat: whatever else the machine does can only slow one
 * down. Calls that are too short to be timed are repeated more often. */
static enum gpumc_status measure(struct probe *probe, operation *operate, double budget,
                                 double *seconds, struct gpumc_error *error)
{
  enum { CALLS_MOST = 1 << 20 };
  const double least = operate == walk_alone ? walk_seconds : repeat_seconds;
  const double begun = gpumc_clock();
  size_t calls = 1;
  *seconds = INFINITY;
  do {
    const double begin = now(probe);
    GPUMC_TRY(operate(probe, calls, error));
    GPUMC_TRY(probe->device->ops->synchronize(probe->device, error));
    const double elapsed = now(probe) - begin;
    if (elapsed < least && calls < CALLS_MOST)
      calls *= 2;
    else
      *seconds = fmin(*seconds, elapsed / (double)calls);
  } while (gpumc_clock() - begun < budget || isinf(*seconds));
  return GPUMC_OK;
}

/* As many replicas as take no more memory than one, at most a word: those that a kernel keeps
 * together. */
static size_t kept_together(const struct gpumc_preparation *preparation)
{
  struct gpumc_ensemble_plan plan = preparation->demand.plan;
  const struct gpumc_kernel_ops *kernel = preparation->kernel;
  plan.runs = plan.samples = plan.capacity = 1;
  const size_t single = kernel->bytes(&preparation->model, &preparation->device, &plan);
  plan.capacity = WORD;
  return kernel->bytes(&preparation->model, &preparation->device, &plan) < 2 * single ? WORD : 1;
}

static size_t bounded(double value, size_t least, size_t most)
{
  const size_t bound = least < most ? least : most;
  return value <= (double)bound ? bound : value >= (double)most ? most : (size_t)value;
}

/* Shortens long turns of moves, all in proportion. */
static void shorten_turns(struct gpumc_ensemble_plan *plan)
{
  const double part = fmin(1, (double)CYCLE_MOST / gpumc_plan_cycle(plan));
  for (size_t t = 0; t < plan->n_turns; t++)
    plan->turn[t].sweeps = (uint32_t)ceil(part * plan->turn[t].sweeps);
}

/* What the run has where that is little, else as many replicas, then runs, as fill the device. */
static void shrink(struct probe *probe, const struct gpumc_preparation *preparation, bool gpu)
{
  const struct gpumc_demand *demand = &preparation->demand;
  const double updates = gpu ? UPDATES_GPU : UPDATES_CPU, sites = (double)preparation->model.sites;
  const size_t pairs = demand->work.moved > 0 || demand->work.compared > 0 ? 2 : 1;
  const size_t runs = gpu ? demand->plan.runs : pairs;
  const size_t least =
      sites * REPLICAS_LEAST > updates ? kept_together(preparation) : REPLICAS_LEAST;
  probe->replicas = bounded(updates / sites / (double)runs, least, demand->replicas);
  struct gpumc_ensemble_plan *plan = &probe->ensemble.plan;
  *plan = demand->plan;
  plan->processes = NULL;
  plan->division = GPUMC_UNDIVIDED;
  plan->for_timings = true;
  plan->runs =
      bounded(updates / sites / (double)probe->replicas, gpu ? runs : pairs, demand->plan.runs);
  plan->capacity = probe->replicas;
  if (plan->sample_by_run && plan->samples > plan->runs)
    plan->samples = plan->runs;
  else if (plan->sample_by_run)
    plan->runs -= plan->runs % plan->samples;
  else if (plan->samples > 1)
    plan->samples = probe->replicas;
  probe->sites = sites * (double)plan->runs * (double)plan->capacity;
  /* Fewer than the kernel does as one are enough to measure the rate of a large lattice. */
  const size_t together = plan->options.together > 0 ? plan->options.together : 1;
  const double most = fmax(updates / probe->sites, 1);
  probe->sweeps = (uint32_t)bounded(fmin(most, TOGETHER_MOST), 1, together);
  probe->stepped = (uint32_t)bounded(fmin(most, STEP_SWEEPS_MOST), 1, demand->work.sweeps);
  shorten_turns(plan);
  if (plan->n_turns > 0) /* the fastest repeat would be of the fastest move */
    probe->sweeps = probe->stepped = gpumc_plan_cycle(plan);
}

/* Among those that the algorithm moves its control over, in the middle, where the model has no
 * temperature and a value of another system may be out of its range. */
static double probe_control(const struct gpumc_task *task)
{
  const struct gpumc_params params = gpumc_task_params(task, "algorithm");
  if (gpumc_model_has_temperature(task->model) ||
      !gpumc_keys_move_controls(task->algorithm->keys) || !gpumc_params_has(&params, "control"))
    return probe_beta;
  if (!gpumc_params_has(&params, "control.values"))
    return 0.5 *
           (gpumc_params_real(&params, "control.from") + gpumc_params_real(&params, "control.to"));
  struct gpumc_list values = gpumc_params_list(&params, "control.values");
  const size_t after = values.left / 2;
  double value = gpumc_list_real(&values);
  while (values.left > after)
    value = gpumc_list_real(&values);
  return value;
}

/* A third of the replicas of every other pair of runs change places. */
static enum gpumc_status make_swap(struct probe *probe, struct gpumc_error *error)
{
  static const uint32_t thirds = 0x24924924;
  const struct gpumc_ensemble_plan *plan = &probe->ensemble.plan;
  const size_t words = gpumc_swap_words(plan->capacity), count = plan->runs * words;
  uint32_t *swap = NULL;
  GPUMC_TRY(gpumc_allocate_array(&swap, count, "exchanges", error));
  for (size_t m = 0; m + 1 < plan->runs; m += 2)
    for (size_t word = 0; word < words; word++) {
      const size_t left = plan->capacity - word * 32;
      swap[m * words + word] = left >= 32 ? thirds : thirds & ((UINT32_C(1) << left) - 1);
    }
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, gpumc_device_array(probe->device, &probe->swap, count, "exchanges", error));
  status = probe->device->ops->copy_to_device(probe->device, probe->swap, swap,
                                              count * sizeof *swap, error);
out:
  free(swap);
  return status;
}

/* Every state has the same weight, by the channel that algorithms track, in as many levels as it
 * has, or about as many bins as the run. */
static enum gpumc_status
make_table(struct probe *probe, const struct gpumc_model *model, struct gpumc_error *error)
{
  const size_t channel = model->ops->tracked;
  const bool spectrum = model->grid[channel].levels > 0;
  const double bins = (double)probe->ensemble.plan.levels;
  const int64_t width = spectrum ? 0 : (int64_t)(2 * ceil(model->bound[channel]) / bins) + 1;
  const struct gpumc_grid levels = gpumc_model_bins(model, channel, width);
  struct gpumc_weight_table table = {
      .channel = channel, .spacing = levels.spacing, .levels = levels.levels, .parts = 1};
  const size_t runs = probe->ensemble.plan.runs, count = runs * table.levels;
  GPUMC_TRY(gpumc_allocate_array(&probe->log_weight, count, "weights", error));
  GPUMC_TRY(gpumc_allocate_array(&probe->lowest, runs, "levels of the runs", error));
  GPUMC_TRY(gpumc_allocate_array(&probe->clock, runs, "clocks of the runs", error));
  GPUMC_TRY(gpumc_allocate_array(&probe->steps, runs, "steps of the runs", error));
  GPUMC_TRY(gpumc_device_array(probe->device, &table.visits, count, "visits", error));
  for (size_t m = 0; m < runs; m++)
    probe->lowest[m] = levels.lowest;
  table.lowest = probe->lowest;
  table.log_weight = probe->log_weight;
  table.time = probe->clock;
  table.steps = probe->steps;
  probe->table = table;
  return GPUMC_OK;
}

static enum gpumc_status
make(struct probe *probe, const struct gpumc_preparation *preparation, struct gpumc_error *error)
{
  const struct gpumc_model *model = &preparation->model;
  const struct gpumc_work *work = probe->work;
  const struct gpumc_ensemble_plan plan = probe->ensemble.plan;
  const size_t values = plan.runs * plan.capacity;
  GPUMC_TRY(gpumc_ensemble_create(preparation->kernel, model, probe->device, &plan, SEED,
                                  preparation->rounds, &probe->ensemble, error));
  GPUMC_TRY(gpumc_ensemble_start(&probe->ensemble, 0, plan.runs, plan.capacity, error));
  for (size_t c = 0; c < GPUMC_CHANNELS_MAXIMUM; c++) {
    const bool profile = (work->profiles >> c & 1) != 0;
    if (c < work->n_channels || profile)
      GPUMC_TRY(gpumc_device_array(probe->device, &probe->channel[c],
                                   values * (profile ? model->profile[c].width : 1), "measurements",
                                   error));
  }
  for (size_t c = 0; c < GPUMC_CHANNELS_MAXIMUM; c++)
    if ((work->watched >> c & 1) != 0)
      GPUMC_TRY(
          gpumc_device_array(probe->device, &probe->watched[c], values, "measurements", error));
  for (int kind = 0; work->compared > 0 && kind < GPUMC_PAIRS_MAXIMUM; kind++)
    if (model->pair[kind].unit > 0)
      GPUMC_TRY(gpumc_device_array(probe->device, &probe->pair[kind], values, "overlaps", error));
  if ((preparation->task->algorithm->required & GPUMC_OPERATION_WALK) != 0)
    GPUMC_TRY(make_table(probe, model, error));
  return work->moved > 0 ? make_swap(probe, error) : GPUMC_OK;
}

static void release(struct probe *probe)
{
  for (size_t c = 0; c < GPUMC_CHANNELS_MAXIMUM; c++) {
    probe->device->ops->release(probe->device, probe->channel[c]);
    probe->device->ops->release(probe->device, probe->watched[c]);
  }
  for (int kind = 0; kind < GPUMC_PAIRS_MAXIMUM; kind++)
    probe->device->ops->release(probe->device, probe->pair[kind]);
  probe->device->ops->release(probe->device, probe->swap);
  probe->device->ops->release(probe->device, probe->table.visits);
  free(probe->log_weight);
  free(probe->lowest);
  free(probe->clock);
  free(probe->steps);
  gpumc_ensemble_free(&probe->ensemble);
}

/* Times an operation if the run does it. */
static enum gpumc_status measure_if(struct probe *probe, operation *operate, double sites,
                                    double each, double budget, double *call,
                                    struct gpumc_error *error)
{
  return sites > 0 && each > 0 ? measure(probe, operate, budget, call, error) : GPUMC_OK;
}

static enum gpumc_status time_calls(struct probe *probe, double budget,
                                    struct cli_plan_calls *calls, struct gpumc_error *error)
{
  const struct gpumc_work *work = probe->work;
  const double other = budget * other_budget;
  operation *update_all = probe->table.levels > 0 ? walk_alone : sweep_alone;
  GPUMC_TRY(measure(probe, update_all, budget * sweep_budget, &calls->update, error));
  GPUMC_TRY(measure_if(probe, step, work->measured, 1, budget * step_budget, &calls->step, error));
  GPUMC_TRY(measure_if(probe, look, work->watched != 0 ? work->looked : 0, probe->sites, other,
                       &calls->look, error));
  GPUMC_TRY(measure_if(probe, exchange, work->moved, probe->sites, other, &calls->exchange, error));
  return measure_if(probe, compare, work->compared, (double)(probe->ensemble.plan.runs / 2), other,
                    &calls->compare, error);
}

/* The probe of a task; nothing is created yet. */
static struct probe probe_of(const struct gpumc_preparation *preparation)
{
  struct probe probe = {.work = &preparation->demand.work};
  probe.control = probe_control(preparation->task);
  shrink(&probe, preparation, strcmp(preparation->device.ops->name, "cuda") == 0);
  return probe;
}

/* Appends a block of the task without its seeds and the number of its sample. */
static void append_block(struct gpumc_text *key, const cJSON *block)
{
  cJSON *copy = cJSON_Duplicate(block, true);
  cJSON_DeleteItemFromObjectCaseSensitive(copy, "disorder_seed");
  cJSON_DeleteItemFromObjectCaseSensitive(copy, "sample");
  char *text = cJSON_PrintUnformatted(copy);
  gpumc_text_append(key, "%s\n", text != NULL ? text : "");
  key->failed = key->failed || text == NULL;
  cJSON_free(text);
  cJSON_Delete(copy);
}

void cli_plan_time_key(const struct gpumc_preparation *preparation, struct gpumc_text *key)
{
  const struct probe probe = probe_of(preparation);
  const struct gpumc_ensemble_plan *plan = &probe.ensemble.plan;
  const struct gpumc_work *work = probe.work;
  const struct gpumc_task *task = preparation->task;
  append_block(key, gpumc_task_params(task, "model").values);
  append_block(key, gpumc_task_params(task, "kernel").values);
  gpumc_text_append(key, "%s %s %s %d %u\n", preparation->device.ops->name,
                    preparation->kernel->variant, task->algorithm->name,
                    preparation->device.threads, preparation->rounds);
  gpumc_text_append(key, "%zu %zu %zu %zu %u %u %.17g\n", plan->runs, probe.replicas, plan->samples,
                    plan->levels, probe.sweeps, probe.stepped, probe.control);
  gpumc_text_append(key, "%d%d%d%d%d%d%d %u %zu %zu %zu %zu\n", plan->sample_by_run, plan->walks,
                    plan->clusters, plan->copies, plan->exchanges, plan->fixes, work->measured > 0,
                    plan->move, plan->channels, plan->compared, plan->moved, plan->alike);
  for (size_t i = 0; i < plan->n_turns; i++)
    gpumc_text_append(key, "%u %u\n", plan->turn[i].move, plan->turn[i].sweeps);
  for (size_t i = 0; plan->fixes && i < GPUMC_CONTROLS_MAXIMUM; i++)
    gpumc_text_append(key, "%.17g ", plan->fixed[i]);
  for (size_t i = 0; i < sizeof plan->options.own / sizeof plan->options.own[0]; i++)
    gpumc_text_append(key, "%llx ", (unsigned long long)plan->options.own[i]);
  gpumc_text_append(key, "%u %d%d%d %zu %x %x\n", plan->options.together, work->moved > 0,
                    work->compared > 0, work->looked > 0, work->n_channels, work->profiles,
                    work->watched);
}

enum gpumc_status cli_plan_time_measure(struct gpumc_preparation *preparation, double budget,
                                        struct cli_plan_calls *calls, struct gpumc_error *error)
{
  struct probe probe = probe_of(preparation);
  *calls = (struct cli_plan_calls){0};
  probe.device = &preparation->device;
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, make(&probe, preparation, error));
  status = time_calls(&probe, budget, calls, error);
out:
  release(&probe);
  return status;
}

struct cli_plan_time
cli_plan_time_of(const struct gpumc_preparation *preparation, const struct cli_plan_calls *calls)
{
  const struct probe probe = probe_of(preparation);
  const struct gpumc_demand *demand = &preparation->demand;
  const struct gpumc_work *work = &demand->work;
  const bool gpu = strcmp(preparation->device.ops->name, "cuda") == 0;
  const double runs = (double)probe.ensemble.plan.runs,
               pairs = (double)(probe.ensemble.plan.runs / 2);
  const double update = calls->update / probe.sites / probe.sweeps; /* seconds */
  double seconds = fmax(demand->updates - work->measured * probe.stepped, 0) * update +
                   work->measured / probe.sites * calls->step;
  /* Looks are as rare as takes that share of the sweeps, unless the run is short. */
  if (work->watched != 0)
    seconds +=
        fmax(work->looked / probe.sites * calls->look, looking_share * demand->updates * update);
  seconds += work->moved / probe.sites * calls->exchange;
  if (pairs > 0)
    seconds += work->compared / (probe.sites / runs * pairs) * calls->compare;
  /* By the process that has most of it; what follows is done by each for all. */
  seconds *= cli_plan_share(preparation) * cli_plan_gpu_sharers(preparation, false);
  seconds += work->seconds;
  seconds += work->values * value_seconds / (gpu ? 1 : preparation->device.threads);
  seconds += work->summed * term_seconds / preparation->device.threads;
  return (struct cli_plan_time){.rate = 1 / update, .seconds = seconds};
}
