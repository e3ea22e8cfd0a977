/* Configurations: the requests of the block, and copying replicas of an ensemble to the rows of
 * their table. */
#include "core/simulation/configurations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/simulation/curves.h"
#include "core/simulation/division.h"
#include "core/simulation/shared_keys.h"
#include "core/simulation/ladder.h"

#define TIMES_KEYS                                                                                 \
  GPUMC_SWEEPS_KEY("every", 1, .exactly_one_of = "moments", .example = "1000",                     \
                   .doc = "Number of sweeps between configurations, counted from the end of the "  \
                          "thermalization."),                                                      \
      GPUMC_SWEEPS_KEY(                                                                            \
          "times", 1, .list_minimum = 1, .list_maximum = GPUMC_LIST_MAXIMUM, .ascending = true,    \
          .exactly_one_of = "moments",                                                             \
          .doc = "Numbers of sweeps after which configurations are stored, counted from the end "  \
                 "of the thermalization.")
const struct gpumc_key gpumc_configurations_times_keys[] = {TIMES_KEYS, {0}};
const struct gpumc_key gpumc_configurations_keys[] = {
    TIMES_KEYS,
    {.name = "temperatures",
     .type = GPUMC_KEY_INTEGER,
     .minimum = 0,
     .maximum = GPUMC_RUN_MAXIMUM - 1,
     .list_minimum = 1,
     .list_maximum = GPUMC_RUN_MAXIMUM,
     .ascending = true,
     .doc = "Temperatures at which configurations are stored, numbered from 0, the hottest; "
            "all of them by default."},
    {0}};

static void check_time(const struct gpumc_params *params, const char *key, int64_t time,
                       const char *unit_key, int64_t unit, struct gpumc_report *report)
{
  const int64_t sweeps = gpumc_params_integer(params, "sweeps");
  if (time % unit != 0 || time > sweeps)
    gpumc_params_mistake(params, report, key,
                         "%lld must be a multiple of %s = %lld and at most sweeps = %lld",
                         (long long)time, unit_key, (long long)unit, (long long)sweeps);
}

void gpumc_configurations_check_times(const struct gpumc_params *params, const char *unit_key,
                                      int64_t unit, struct gpumc_report *report)
{
  if (gpumc_params_has(params, "configurations.every"))
    check_time(params, "configurations.every", gpumc_params_integer(params, "configurations.every"),
               unit_key, unit, report);
  if (!gpumc_params_has(params, "configurations.times"))
    return;
  for (struct gpumc_list times = gpumc_params_list(params, "configurations.times"); times.left > 0;)
    check_time(params, "configurations.times", gpumc_list_integer(&times), unit_key, unit, report);
}

void gpumc_configurations_check_temperatures(const struct gpumc_params *params, const char *block,
                                             struct gpumc_report *report)
{
  if (!gpumc_params_has(params, "configurations.temperatures"))
    return;
  const int64_t coldest = (int64_t)gpumc_params_last(params, "configurations.temperatures");
  const size_t count = gpumc_ladder_count(params, block);
  const bool is_beta = strcmp(block, "beta") == 0;
  if (coldest >= (int64_t)count)
    gpumc_params_mistake(params, report, "configurations.temperatures",
                         "there is no %s %lld: the %zu of `%s` are numbered from 0%s, to %zu",
                         is_beta ? "temperature" : "value", (long long)coldest, count, block,
                         is_beta ? ", the hottest" : "", count - 1);
}

/* The key of the list, and how exactly its values must be met. */
static const struct {
  const char *key;
  double rounding;
} lists[] = {
    [GPUMC_CONFIGURATIONS_TIMES] = {"configurations.times", 0},
    [GPUMC_CONFIGURATIONS_BETAS] = {"configurations.betas", GPUMC_CONFIGURATIONS_ROUNDING}};

static enum gpumc_status
read_moments(const struct gpumc_params *params, enum gpumc_configurations_list list,
             struct gpumc_configurations_request *request, struct gpumc_error *error)
{
  if (gpumc_params_has(params, "configurations.every"))
    request->every = (uint32_t)gpumc_params_integer(params, "configurations.every");
  if (!gpumc_params_has(params, lists[list].key))
    return GPUMC_OK;
  struct gpumc_list values = gpumc_params_list(params, lists[list].key);
  request->rounding = lists[list].rounding;
  request->n_values = values.left;
  GPUMC_TRY(
      gpumc_allocate_array(&request->value, request->n_values, "moments of configurations", error));
  for (size_t i = 0; i < request->n_values; i++)
    request->value[i] = gpumc_list_real(&values);
  return GPUMC_OK;
}

static enum gpumc_status read_temperatures(const struct gpumc_params *params, size_t temperatures,
                                           struct gpumc_configurations_request *request,
                                           struct gpumc_error *error)
{
  const bool some = gpumc_params_has(params, "configurations.temperatures");
  struct gpumc_list numbers = {0};
  if (some)
    numbers = gpumc_params_list(params, "configurations.temperatures");
  request->n_temperatures = some ? numbers.left : temperatures;
  GPUMC_TRY(gpumc_allocate_array(&request->temperature, request->n_temperatures,
                                 "temperatures of configurations", error));
  for (size_t i = 0; i < request->n_temperatures; i++)
    request->temperature[i] = some ? (size_t)gpumc_list_integer(&numbers) : i;
  return GPUMC_OK;
}

enum gpumc_status gpumc_configurations_request_read(const struct gpumc_params *params,
                                                    enum gpumc_configurations_list list,
                                                    size_t temperatures,
                                                    struct gpumc_configurations_request *request,
                                                    struct gpumc_error *error)
{
  memset(request, 0, sizeof *request);
  GPUMC_TRY(read_moments(params, list, request, error));
  if (temperatures == 0 || !gpumc_configurations_request_any(request))
    return GPUMC_OK;
  return read_temperatures(params, temperatures, request, error);
}

void gpumc_configurations_request_free(struct gpumc_configurations_request *request)
{
  free(request->value);
  free(request->temperature);
  memset(request, 0, sizeof *request);
}

bool gpumc_configurations_request_any(const struct gpumc_configurations_request *request)
{
  return request->every > 0 || request->n_values > 0;
}

size_t gpumc_configurations_request_passed(const struct gpumc_configurations_request *request,
                                           uint32_t count, double value)
{
  size_t past = 0, end = request->n_values;
  if (request->every > 0)
    return count / request->every;
  while (past < end) {
    const size_t middle = past + (end - past) / 2;
    if (request->value[middle] * (1 - request->rounding) <= value)
      past = middle + 1;
    else
      end = middle;
  }
  return past;
}

/* Bytes of replicas fetched from the ensemble together, unless one is larger: enough that a GPU
 * need not wait for each of them. */
static const double block_bytes = 0x1p24;

/* At least one. */
static double replicas_at_once(const struct gpumc_model *model, double replicas)
{
  return fmax(1, fmin(replicas, floor(block_bytes / (double)model->portable_bytes)));
}

static size_t bytes_column(const struct gpumc_configurations *configurations)
{
  return 1 + configurations->n_labels;
}

static enum gpumc_status declare_table(struct gpumc_configurations *configurations,
                                       const struct gpumc_column *labels, size_t bytes,
                                       struct gpumc_error *error)
{
  const size_t last = bytes_column(configurations);
  struct gpumc_column *columns = NULL;
  GPUMC_TRY(gpumc_allocate_array(&columns, last + 1, "columns", error));
  columns[0] = (struct gpumc_column){
      .label = {"configuration", "index of the configuration, from 0", "1", ""},
      .width = 1,
      .integer = true};
  memcpy(columns + 1, labels, configurations->n_labels * sizeof *columns);
  columns[last] =
      (struct gpumc_column){.label = {"bytes", "a replica on its way to the file", "1", ""},
                            .width = gpumc_column_words(bytes),
                            .bytes = bytes};
  const enum gpumc_status status =
      gpumc_curve_add_series(configurations->recorder, configurations->ensemble->model,
                             "configurations", columns, last + 1, &configurations->table, error);
  free(columns);
  return status;
}

enum gpumc_status gpumc_configurations_declare(const struct gpumc_context *context,
                                               const struct gpumc_column *labels, size_t n_labels,
                                               struct gpumc_configurations *configurations,
                                               struct gpumc_error *error)
{
  const struct gpumc_model *model = context->model;
  const size_t bytes = model->portable_bytes;
  *configurations =
      (struct gpumc_configurations){.ensemble = context->ensemble,
                                    .recorder = context->recorder,
                                    .n_labels = n_labels,
                                    .at_once = (size_t)replicas_at_once(
                                        model, (double)gpumc_plan_whole(&context->ensemble->plan))};
  GPUMC_TRY(gpumc_allocate_array(&configurations->row, 1 + n_labels + gpumc_column_words(bytes),
                                 "a configuration", error));
  if (configurations->at_once > 1)
    GPUMC_TRY(gpumc_allocate_array(&configurations->block, configurations->at_once * bytes,
                                   "configurations", error));
  return declare_table(configurations, labels, bytes, error);
}

void gpumc_configurations_free(struct gpumc_configurations *configurations)
{
  free(configurations->row);
  free(configurations->block);
  memset(configurations, 0, sizeof *configurations);
}

uint64_t gpumc_configurations_count(const struct gpumc_configurations *configurations)
{
  if (configurations->row == NULL)
    return 0;
  return gpumc_recorder_count(configurations->recorder, configurations->table);
}

/* Fills the labels of replica r. */
static void label(const struct gpumc_configurations *configurations,
                  const struct gpumc_configurations_rows *rows, size_t r, double *label)
{
  const size_t shared = configurations->n_labels - (rows->mark != NULL ? 2 : 1);
  memcpy(label, rows->label, shared * sizeof *label);
  label[shared] = (double)(rows->first + r);
  if (rows->mark != NULL)
    label[shared + 1] = (double)rows->mark[r];
}

/* Writes the replicas first .. first + count - 1, no more than there is room for. */
static enum gpumc_status write_block(struct gpumc_configurations *configurations,
                                     const struct gpumc_configurations_rows *rows, size_t first,
                                     size_t count, struct gpumc_error *error)
{
  struct gpumc_ensemble *ensemble = configurations->ensemble;
  const size_t bytes = ensemble->model->portable_bytes;
  double *row = configurations->row;
  uint8_t *replica = (uint8_t *)(row + bytes_column(configurations));
  uint8_t *block = configurations->block != NULL ? configurations->block : replica;
  GPUMC_TRY(gpumc_ensemble_get_to_root(ensemble, rows->run, first, count, block, error));
  for (size_t i = 0; i < count; i++) {
    row[0] = (double)gpumc_configurations_count(configurations);
    label(configurations, rows, first + i, row + 1);
    if (block != replica)
      memcpy(replica, block + i * bytes, bytes);
    GPUMC_TRY(gpumc_recorder_append(configurations->recorder, configurations->table, row, error));
  }
  return GPUMC_OK;
}

enum gpumc_status gpumc_configurations_write(struct gpumc_configurations *configurations,
                                             const struct gpumc_configurations_rows *rows,
                                             struct gpumc_error *error)
{
  for (size_t first = 0; first < rows->count; first += configurations->at_once) {
    const size_t left = rows->count - first;
    const size_t next = left < configurations->at_once ? left : configurations->at_once;
    GPUMC_TRY(write_block(configurations, rows, first, next, error));
  }
  return GPUMC_OK;
}

enum gpumc_status
gpumc_configurations_write_chains(struct gpumc_configurations *configurations,
                                  const struct gpumc_configurations_request *request,
                                  const struct gpumc_configurations_chains *chains, uint32_t sweep,
                                  struct gpumc_error *error)
{
  for (size_t i = 0; i < request->n_temperatures; i++)
    for (size_t c = 0; c < chains->copies; c++) {
      const size_t t = request->temperature[i];
      const double shared[] = {(double)sweep, (double)t, (double)c};
      const struct gpumc_configurations_rows rows = {.run = c * chains->temperatures + t,
                                                     .count = chains->replicas,
                                                     .label = shared,
                                                     .first = chains->first};
      GPUMC_TRY(gpumc_configurations_write(configurations, &rows, error));
    }
  return GPUMC_OK;
}

double gpumc_configurations_chain_rows(const struct gpumc_configurations_request *request,
                                       const struct gpumc_configurations_chains *chains,
                                       uint32_t sweep)
{
  return (double)gpumc_configurations_request_until(request, sweep) *
         (double)request->n_temperatures * (double)chains->copies * (double)chains->replicas;
}

void gpumc_configurations_demand(const struct gpumc_model *model, size_t n_labels, double rows,
                                 double replicas, struct gpumc_demand *demanded)
{
  const double bytes = (double)model->portable_bytes;
  const double row = bytes + (double)(1 + n_labels) * sizeof(double);
  const double at_once = replicas_at_once(model, replicas);
  const double block = at_once > 1 ? at_once * bytes : 0;
  demanded->configuration_bytes = rows * row;
  demanded->host_bytes +=
      gpumc_demand_bytes(row + block + gpumc_recorder_series_bytes(row, rows * row));
}
