/* Configurations: what the block asks for where time is counted in sweeps. */
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/simulation/configurations.h"
#include "core/simulation/sweeps.h"
#include "core/simulation/ladder.h"

const struct gpumc_key gpumc_configurations_keys[] = {
    GPUMC_SWEEPS_KEY(
        "every", 1, .exactly_one_of = "moments",
        .doc =
            "Number of sweeps between configurations, counted from the end of the thermalization."),
    GPUMC_SWEEPS_KEY(
        "times", 1, .list_minimum = 1, .list_maximum = GPUMC_LIST_MAXIMUM, .ascending = true,
        .exactly_one_of = "moments",
        .doc = "After these numbers of sweeps, counted from the end of the thermalization."),
    {.name = "temperatures",
     .type = GPUMC_KEY_INTEGER,
     .minimum = 0,
     .maximum = GPUMC_RUN_MAXIMUM - 1,
     .list_minimum = 1,
     .list_maximum = GPUMC_RUN_MAXIMUM,
     .ascending = true,
     .doc = "Only at these temperatures, numbered from 0, the hottest; at all of "
            "them by default."},
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

void gpumc_configurations_check_temperatures(const struct gpumc_params *params,
                                             const struct gpumc_subject *subject,
                                             struct gpumc_report *report)
{
  (void)subject;
  if (!gpumc_params_has(params, "configurations.temperatures"))
    return;
  const int64_t coldest = (int64_t)gpumc_params_last(params, "configurations.temperatures");
  const size_t temperatures = gpumc_ladder_count(params, "beta");
  if (coldest >= (int64_t)temperatures)
    gpumc_params_mistake(params, report, "configurations.temperatures",
                         "there is no temperature %lld: the %zu of `beta` are numbered from 0, the "
                         "hottest, to %zu",
                         (long long)coldest, temperatures, temperatures - 1);
}

static enum gpumc_status read_times(const struct gpumc_params *params,
                                    struct gpumc_configurations_request *request,
                                    struct gpumc_error *error)
{
  if (gpumc_params_has(params, "configurations.every"))
    request->every = (uint32_t)gpumc_params_integer(params, "configurations.every");
  if (!gpumc_params_has(params, "configurations.times"))
    return GPUMC_OK;
  struct gpumc_list times = gpumc_params_list(params, "configurations.times");
  request->n_times = times.left;
  enum gpumc_status status =
      gpumc_allocate_array(&request->times, request->n_times, "times of configurations", error);
  for (size_t i = 0; i < request->n_times && status == GPUMC_OK; i++)
    request->times[i] = (uint32_t)gpumc_list_integer(&times);
  return status;
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
  enum gpumc_status status = gpumc_allocate_array(&request->temperature, request->n_temperatures,
                                                  "temperatures of configurations", error);
  for (size_t i = 0; i < request->n_temperatures && status == GPUMC_OK; i++)
    request->temperature[i] = some ? (size_t)gpumc_list_integer(&numbers) : i;
  return status;
}

enum gpumc_status gpumc_configurations_request_read(const struct gpumc_params *params,
                                                    size_t temperatures,
                                                    struct gpumc_configurations_request *request,
                                                    struct gpumc_error *error)
{
  memset(request, 0, sizeof *request);
  enum gpumc_status status = read_times(params, request, error);
  if (status != GPUMC_OK || !gpumc_configurations_request_any(request))
    return status;
  return read_temperatures(params, temperatures, request, error);
}

void gpumc_configurations_request_free(struct gpumc_configurations_request *request)
{
  free(request->times);
  free(request->temperature);
  memset(request, 0, sizeof *request);
}

bool gpumc_configurations_request_any(const struct gpumc_configurations_request *request)
{
  return request->every > 0 || request->n_times > 0;
}

size_t gpumc_configurations_request_until(const struct gpumc_configurations_request *request,
                                          uint32_t sweep)
{
  size_t past = 0, end = request->n_times;
  if (request->every > 0)
    return sweep / request->every;
  while (past < end) {
    const size_t middle = past + (end - past) / 2;
    if (request->times[middle] <= sweep)
      past = middle + 1;
    else
      end = middle;
  }
  return past;
}
