/* What a task will work with: device, kernel, model, memory. */
#include "core/run/prepare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/machine.h"
#include "core/base/text.h"
#include "core/device/transfer.h"
#include "core/numerics/isa.h"
#include "core/processes/host.h"
#include "core/simulation/ensemble.h"
#include "core/simulation/division.h"
#include "core/simulation/shared_keys.h"

static enum gpumc_status open_device(struct gpumc_preparation *preparation, int threads,
                                     const struct gpumc_processes *processes,
                                     struct gpumc_error *error)
{
  const struct gpumc_task *task = preparation->task;
  const struct gpumc_params params = gpumc_task_params(task, "kernel");
  const struct gpumc_params algorithm = gpumc_task_params(task, "algorithm");
  /* The variant is fixed: it was chosen for this instance when the task was made. */
  const struct gpumc_kernel_wish wish = {
      .model = task->model, .algorithm = task->algorithm, .params = &algorithm};
  GPUMC_TRY(gpumc_device_open_among(gpumc_params_string(&params, "device"), threads, processes,
                                    &preparation->device, error));
  preparation->device_open = true;
  preparation->device.block_threads = (uint32_t)gpumc_params_integer(&params, "block_threads");
  GPUMC_TRY(gpumc_isa_parse(gpumc_params_string(&params, "isa"), &preparation->device.isa, error));
  return gpumc_kernel_choose(&wish, preparation->device.ops->name,
                             gpumc_params_string(&params, "variant"), &preparation->kernel, error);
}

/* Uses the task's own kernel, even if this build lacks it. */
static enum gpumc_status open_absent(struct gpumc_preparation *preparation, int threads,
                                     const struct gpumc_processes *processes,
                                     struct gpumc_error *error)
{
  const struct gpumc_task *task = preparation->task;
  const struct gpumc_params params = gpumc_task_params(task, "kernel");
  const char *variant = gpumc_params_string(&params, "variant");
  GPUMC_TRY(gpumc_device_open_absent(threads, processes, &preparation->device, error));
  preparation->device_open = true;
  preparation->kernel = gpumc_kernel_named(task->model, preparation->device.ops->name, variant);
  return preparation->kernel != NULL
             ? GPUMC_OK
             : gpumc_kernel_refuse_variant(task->model, preparation->device.ops->name, variant,
                                           error);
}

/* Asks the algorithm what it needs with that block, by which moves, and with which keys of the
 * kernel. */
static enum gpumc_status ask_demand(const struct gpumc_preparation *preparation,
                                    const struct gpumc_params *algorithm,
                                    struct gpumc_demand *demand, struct gpumc_error *error)
{
  const struct gpumc_task *task = preparation->task;
  const struct gpumc_params kernel = gpumc_task_params(task, "kernel");
  GPUMC_TRY(task->algorithm->demand(algorithm, &preparation->model, &preparation->device,
                                    &preparation->spread, demand, error));
  const struct gpumc_update update = gpumc_update_of(algorithm);
  demand->plan.channels = demand->work.n_channels;
  gpumc_update_plan(&update, preparation->kernel, task->algorithm->target, &demand->plan);
  if (preparation->kernel->read != NULL)
    preparation->kernel->read(&kernel, &demand->plan.options);
  return GPUMC_OK;
}

/* The total bytes of a demand. */
struct memory_plan {
  double ensemble, host, device;
};

/* For a kernel that this build lacks: groups of 32 replicas, plus what the kernel of the same
 * trajectory on the CPU has for the samples beside the replicas. */
static double
absent_bytes(const struct gpumc_preparation *preparation, const struct gpumc_ensemble_plan *plan)
{
  enum { GROUP = 32 };
  const struct gpumc_model *model = &preparation->model;
  const struct gpumc_kernel_ops *host =
      gpumc_kernel_named(model->ops, "cpu", preparation->kernel->variant);
  const size_t groups = (plan->capacity + GROUP - 1) / GROUP;
  const double replicas = (double)(plan->capacity == 1 ? 1 : groups * GROUP);
  struct gpumc_ensemble_plan all = *plan, single = *plan;
  all.runs = single.runs = 1;
  double samples = 0;
  if (host != NULL && host->bytes != NULL) {
    single.samples = 1;
    samples = (double)host->bytes(model, &preparation->device, &all) -
              (double)host->bytes(model, &preparation->device, &single);
    single.capacity = 1;
    samples += model->disorder ? (double)host->bytes(model, &preparation->device, &single) : 0;
  }
  return (double)plan->runs * replicas * (double)model->portable_bytes + samples;
}

/* From 2^60 bytes in portable form on, that form's size is used: kernels add up in integers, which
 * would wrap. */
static double
ensemble_bytes(const struct gpumc_preparation *preparation, const struct gpumc_ensemble_plan *plan)
{
  const struct gpumc_model *model = &preparation->model;
  const double portable =
      (double)plan->runs * (double)plan->capacity * (double)model->portable_bytes;
  if (portable >= 0x1p60)
    return portable;
  return preparation->kernel->bytes != NULL
             ? (double)preparation->kernel->bytes(model, &preparation->device, plan)
             : absent_bytes(preparation, plan);
}

static struct memory_plan
plan_memory(const struct gpumc_preparation *preparation, const struct gpumc_demand *demand)
{
  const struct gpumc_device *device = &preparation->device;
  struct memory_plan plan = {
      .host = (double)demand->host_bytes +
              gpumc_ensemble_checkpoint_bytes(&preparation->model, demand->plan.capacity)};
  const struct gpumc_ensemble_plan share = gpumc_share_largest(&demand->plan);
  const bool divided = demand->plan.division == GPUMC_BY_REPLICAS;
  const bool own_runs = demand->plan.division == GPUMC_BY_RUNS && demand->plan.own_runs;
  const double has = (double)share.capacity / (double)demand->plan.capacity * (double)share.runs /
                     (double)demand->plan.runs;
  const double missing = divided || own_runs ? 1 - has : 0, beside = divided ? has : 0;
  const double runs_missing = own_runs ? 1 - has : 0;
  plan.ensemble = ensemble_bytes(preparation, &share);
  plan.host += beside * (double)demand->divided_host_bytes +
               (divided ? (double)demand->each_host_bytes : 0) -
               floor(missing * (double)demand->host_bytes_by_replicas) -
               floor(runs_missing * (double)demand->host_bytes_by_runs);
  double *place = strcmp(device->ops->name, "cpu") == 0 ? &plan.host : &plan.device;
  *place += plan.ensemble + (double)demand->device_bytes +
            beside * (double)demand->divided_device_bytes +
            (divided ? (double)demand->each_device_bytes : 0) +
            (divided && demand->transfers ? (double)gpumc_transfer_device_bytes(device) : 0) -
            floor(missing * (double)demand->device_bytes_by_replicas) -
            floor(runs_missing * (double)demand->device_bytes_by_runs);
  if (demand->plan.processes != NULL) { /* as much for each process on the host or GPU */
    plan.host *= demand->plan.processes->module.local_size;
    plan.device *= device->sharers > 1 ? device->sharers : 1;
  }
  return plan;
}

static bool fits(const struct gpumc_preparation *preparation, double host, double device)
{
  return host <= preparation->available_bytes && device <= preparation->device_available_bytes;
}

bool gpumc_preparation_has_room(const struct gpumc_preparation *preparation)
{
  return fits(preparation, preparation->host_bytes, preparation->device_bytes);
}

/* After a failed create the remains are destroyed with the preparation. */
static enum gpumc_status
create_model(struct gpumc_preparation *preparation, struct gpumc_error *error)
{
  const struct gpumc_task *task = preparation->task;
  const struct gpumc_params params = gpumc_task_params(task, "model");
  return gpumc_model_create(task->model, &params, &preparation->model, error);
}

static void plan_all(struct gpumc_preparation *preparation)
{
  const struct memory_plan plan = plan_memory(preparation, &preparation->demand);
  preparation->ensemble_bytes = plan.ensemble;
  preparation->host_bytes = plan.host;
  preparation->device_bytes = plan.device;
}

static enum gpumc_status divide(const struct gpumc_preparation *preparation,
                                const struct gpumc_processes *processes,
                                struct gpumc_demand *demand, struct gpumc_error *error)
{
  return gpumc_division_choose(preparation->task->algorithm->divides, preparation->kernel,
                               demand->replicas, processes, &demand->plan, error);
}

/* The same, but too many processes are not an error. */
static enum gpumc_status try_to_divide(const struct gpumc_preparation *preparation,
                                       const struct gpumc_processes *processes,
                                       struct gpumc_demand *demand)
{
  struct gpumc_error ignored = {0};
  const enum gpumc_status status = divide(preparation, processes, demand, &ignored);
  gpumc_error_free(&ignored);
  return status;
}

static bool is_divided(const struct gpumc_preparation *preparation,
                       const struct gpumc_processes *processes, struct gpumc_demand *demand)
{
  return try_to_divide(preparation, processes, demand) == GPUMC_OK &&
         demand->plan.division != GPUMC_UNDIVIDED;
}

/* The rest of a resumed run may have too few runs for these processes even if the total is enough:
 * some then have none in the remaining batches. */
static enum gpumc_status divide_what_is_left(struct gpumc_preparation *preparation,
                                             const struct gpumc_processes *processes,
                                             struct gpumc_error *error)
{
  const struct gpumc_params params = gpumc_task_params(preparation->task, "algorithm");
  const enum gpumc_status status = divide(preparation, processes, &preparation->demand, error);
  if (status != GPUMC_INVALID || preparation->spread.begun.first == 0)
    return status;
  gpumc_error_free(error);
  preparation->spread.begun.first = 0;
  preparation->demand = (struct gpumc_demand){0};
  GPUMC_TRY(ask_demand(preparation, &params, &preparation->demand, error));
  return divide(preparation, processes, &preparation->demand, error);
}

enum gpumc_status gpumc_preparation_divide(struct gpumc_preparation *preparation,
                                           const struct gpumc_processes *processes,
                                           struct gpumc_error *error)
{
  GPUMC_TRY(divide_what_is_left(preparation, processes, error));
  plan_all(preparation);
  return GPUMC_OK;
}

/* Asks what the algorithm demands if it spreads its runs over this process alone. */
static enum gpumc_status ask_alone(const struct gpumc_preparation *preparation,
                                   struct gpumc_demand *demand, struct gpumc_error *error)
{
  const struct gpumc_params params = gpumc_task_params(preparation->task, "algorithm");
  struct gpumc_preparation alone = *preparation;
  alone.spread.processes = 1;
  *demand = (struct gpumc_demand){0};
  return ask_demand(&alone, &params, demand, error);
}

enum gpumc_status
gpumc_preparation_narrow(struct gpumc_preparation *preparation, struct gpumc_error *error)
{
  const struct gpumc_processes *processes = preparation->demand.plan.processes;
  struct gpumc_demand narrow;
  if (processes == NULL || preparation->spread.processes == 1)
    return GPUMC_OK;
  GPUMC_TRY(ask_alone(preparation, &narrow, error));
  if (!is_divided(preparation, processes, &narrow))
    return GPUMC_OK;
  preparation->spread.processes = 1;
  preparation->narrowed = true;
  preparation->demand = narrow;
  plan_all(preparation);
  return GPUMC_OK;
}

void gpumc_preparation_share_gpu(struct gpumc_preparation *preparation, int processes)
{
  preparation->device.sharers = processes;
  plan_all(preparation);
}

bool gpumc_preparation_undivided(const struct gpumc_preparation *preparation,
                                 const struct gpumc_processes *processes, struct gpumc_text *text)
{
  const int size = processes->module.size;
  if (size == 1 || preparation->demand.plan.division != GPUMC_UNDIVIDED)
    return false;
  gpumc_text_append(text,
                    "%d processes, but the work of %s is not divided here: process 0 does all of "
                    "it",
                    size, preparation->task->algorithm->name);
  return true;
}

typedef enum gpumc_status opener(struct gpumc_preparation *preparation, int threads,
                                 const struct gpumc_processes *processes,
                                 struct gpumc_error *error);

/* Opens the device, and asks what the algorithm demands with it. */
static enum gpumc_status open_and_ask(struct gpumc_preparation *preparation, int threads,
                                      opener *open, const struct gpumc_processes *processes,
                                      struct gpumc_error *error)
{
  const struct gpumc_params params = gpumc_task_params(preparation->task, "algorithm");
  if (preparation->device_open)
    gpumc_device_close(&preparation->device);
  preparation->device_open = false;
  GPUMC_TRY(open(preparation, threads, processes, error));
  if (preparation->model.ops == NULL)
    GPUMC_TRY(create_model(preparation, error));
  preparation->spread.processes = processes != NULL ? (size_t)processes->module.size : 1;
  return ask_demand(preparation, &params, &preparation->demand, error);
}

/* Too many processes are a different case, refused later. */
static bool is_left_to_root(const struct gpumc_preparation *preparation,
                            const struct gpumc_processes *processes)
{
  struct gpumc_demand demand = preparation->demand;
  return try_to_divide(preparation, processes, &demand) == GPUMC_OK &&
         demand.plan.division == GPUMC_UNDIVIDED;
}

static enum gpumc_status prepare(const struct gpumc_task *task, int threads, opener *open,
                                 const struct gpumc_processes *processes,
                                 const struct gpumc_slice *begun,
                                 struct gpumc_preparation *preparation, struct gpumc_error *error)
{
  memset(preparation, 0, sizeof *preparation);
  preparation->task = task;
  if (begun != NULL)
    preparation->spread.begun = *begun;
  struct gpumc_params root = gpumc_task_params(task, "");
  preparation->seed = (uint64_t)gpumc_params_integer(&root, "seed");
  preparation->rounds = strcmp(gpumc_params_string(&root, "rng"), "philox4x32-7") == 0 ? 7 : 10;
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, open_and_ask(preparation, threads, open, processes, error));
  if (processes != NULL && gpumc_is_root(processes) && is_left_to_root(preparation, processes))
    GPUMC_TRY_OUT(status, open_and_ask(preparation, threads, open, NULL, error));
  preparation->seed = gpumc_samples_seed(preparation->seed, preparation->model.first_sample);
  preparation->per_site =
      gpumc_kernel_trials(preparation->kernel, &preparation->model, &preparation->demand.plan) /
      (double)preparation->model.sites;
  plan_all(preparation);
  preparation->available_bytes = gpumc_available_memory();
  preparation->device_available_bytes = preparation->device.ops->available(&preparation->device);
out:
  if (status != GPUMC_OK)
    gpumc_preparation_free(preparation);
  return status;
}

enum gpumc_status gpumc_prepare(const struct gpumc_task *task, int threads,
                                const struct gpumc_processes *processes,
                                const struct gpumc_slice *begun,
                                struct gpumc_preparation *preparation, struct gpumc_error *error)
{
  return prepare(task, threads, open_device, processes, begun, preparation, error);
}

enum gpumc_status gpumc_prepare_absent(const struct gpumc_task *task, int threads,
                                       const struct gpumc_processes *processes,
                                       struct gpumc_preparation *preparation,
                                       struct gpumc_error *error)
{
  return prepare(task, threads, open_absent, processes, NULL, preparation, error);
}

/* Returns the largest of the algorithm's keys for numbers of replicas or samples; NULL if none is
 * given. */
static const struct gpumc_key *proportional_key(const struct gpumc_task *task)
{
  const struct gpumc_params params = gpumc_task_params(task, "algorithm");
  const struct gpumc_key *largest = NULL;
  int64_t value = 0;
  for (const struct gpumc_key *key = task->algorithm->keys; key->name != NULL; key++)
    if (key->proportional && gpumc_params_has(&params, key->name) &&
        gpumc_params_integer(&params, key->name) > value) {
      largest = key;
      value = gpumc_params_integer(&params, key->name);
    }
  return largest;
}

static bool value_fits(const struct gpumc_preparation *preparation, const char *key, int64_t value)
{
  struct gpumc_error ignored = {0};
  struct gpumc_demand demand = {0};
  struct gpumc_params params = gpumc_task_params(preparation->task, "algorithm");
  cJSON *values = cJSON_Duplicate(params.values, true);
  bool good = false;
  if (values != NULL &&
      cJSON_ReplaceItemInObjectCaseSensitive(values, key, cJSON_CreateNumber((double)value))) {
    params.values = values;
    good = ask_demand(preparation, &params, &demand, &ignored) == GPUMC_OK;
  }
  if (good && preparation->demand.plan.processes != NULL)
    good = is_divided(preparation, preparation->demand.plan.processes, &demand);
  if (good) {
    struct memory_plan plan = plan_memory(preparation, &demand);
    good = fits(preparation, plan.host, plan.device);
  }
  cJSON_Delete(values);
  gpumc_error_free(&ignored);
  return good;
}

/* Bisection in steps of the required multiple of the key; 0: none fits. */
static int64_t
largest_value(const struct gpumc_preparation *preparation, const struct gpumc_key *key)
{
  struct gpumc_params params = gpumc_task_params(preparation->task, "algorithm");
  int64_t step = key->multiple_of > 0 ? key->multiple_of : 1;
  int64_t fitting = 0, excess = gpumc_params_integer(&params, key->name) / step;
  while (excess - fitting > 1) {
    int64_t middle = fitting + (excess - fitting) / 2;
    if (value_fits(preparation, key->name, middle * step))
      fitting = middle;
    else
      excess = middle;
  }
  return fitting * step;
}

/* Returns the least number of processes each of which has room for its part of the runs that must
 * be side by side, assuming each has as much memory as this host; 0: unknown. */
static int enough_processes(const struct gpumc_preparation *preparation)
{
  enum { MOST = 1024 };
  struct gpumc_error ignored = {0};
  struct gpumc_preparation each = *preparation;
  struct gpumc_demand demand;
  each.device.sharers = 1;
  if (ask_alone(preparation, &demand, &ignored) != GPUMC_OK) {
    gpumc_error_free(&ignored);
    return 0;
  }
  for (int size = 2; size <= MOST; size++) {
    const struct gpumc_processes several = gpumc_processes_planned(size, 1);
    if (!is_divided(&each, &several, &demand))
      return 0;
    const struct memory_plan plan = plan_memory(&each, &demand);
    if (fits(preparation, plan.host, plan.device))
      return size;
  }
  return 0;
}

/* For a resumed run, whose keys cannot change. */
static void append_processes(const struct gpumc_preparation *preparation, struct gpumc_text *text)
{
  const int enough = enough_processes(preparation);
  if (enough > 0)
    gpumc_text_append(text, "; %d processes with as much memory each would be enough", enough);
}

static void append_largest(const struct gpumc_preparation *preparation, struct gpumc_text *text)
{
  const struct gpumc_key *key = proportional_key(preparation->task);
  const int64_t value = key != NULL ? largest_value(preparation, key) : 0;
  if (value > 0)
    gpumc_text_append(text, "; the largest algorithm.%s that fits is %lld", key->name,
                      (long long)value);
}

/* Appends "400 replicas (2 runs side by side; fewer need less)". */
static void append_replicas(const struct gpumc_preparation *preparation, struct gpumc_text *text)
{
  const struct gpumc_ensemble_plan *plan = &preparation->demand.plan;
  const bool continues = plan->runs == preparation->spread.begun.count;
  gpumc_text_append(text, "%zu replicas", plan->runs * plan->capacity);
  if (plan->runs > 1)
    gpumc_text_append(text, " (%zu runs side by side%s)", plan->runs,
                      continues ? ", as in the checkpoint" : "; fewer need less");
}

enum gpumc_status
gpumc_preparation_fits(const struct gpumc_preparation *preparation, struct gpumc_error *error)
{
  char needed[32], available[32];
  struct gpumc_text replicas = {0}, remedy = {0};
  if (gpumc_preparation_has_room(preparation))
    return GPUMC_OK;
  const bool host = preparation->host_bytes > preparation->available_bytes;
  gpumc_size_text(host ? preparation->host_bytes : preparation->device_bytes, needed);
  gpumc_size_text(host ? preparation->available_bytes : preparation->device_available_bytes,
                  available);
  append_replicas(preparation, &replicas);
  if (preparation->spread.begun.count > 0)
    append_processes(preparation, &remedy);
  else
    append_largest(preparation, &remedy);
  const enum gpumc_status status = gpumc_error_set(
      error, GPUMC_FAILURE, "not enough memory%s: %s need %s, and %s is available%s",
      host ? "" : " on the GPU", gpumc_text_string(&replicas), needed, available,
      gpumc_text_string(&remedy));
  gpumc_text_free(&replicas);
  gpumc_text_free(&remedy);
  return status;
}

void gpumc_preparation_free(struct gpumc_preparation *preparation)
{
  if (preparation->model.ops != NULL)
    preparation->model.ops->destroy(&preparation->model);
  if (preparation->device_open)
    gpumc_device_close(&preparation->device);
  memset(preparation, 0, sizeof *preparation);
}
