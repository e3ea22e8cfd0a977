/* Update rates, measured through the kernel's operations only. */
#include "cli/rate.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/clock.h"
#include "core/base/memory.h"

enum { SWEEPS_MAXIMUM = 1 << 24, RATE_SEED = 1 };

/* The rates of the repeats that count. */
struct repeats {
  double *rate; /* [capacity] */
  size_t count, capacity;
};

/* From an idle device to an idle device: operations only ask for work (core/device/device.h). */
static enum gpumc_status time_sweeps(const struct cli_rate_request *request,
                                     struct gpumc_ensemble *ensemble, uint32_t sweeps,
                                     double *seconds, struct gpumc_error *error)
{
  struct gpumc_device *device = request->device;
  if (ensemble->time > UINT32_MAX - sweeps)
    ensemble->time = 0; /* the same random numbers again do no harm here */
  enum gpumc_status status = device->ops->synchronize(device, error);
  double begin = gpumc_clock();
  if (status == GPUMC_OK)
    status = gpumc_ensemble_sweep(ensemble, sweeps, request->beta, NULL, error);
  if (status == GPUMC_OK)
    status = device->ops->synchronize(device, error);
  *seconds = gpumc_clock() - begin;
  return status;
}

/* Repeats that turn out too short are not counted and double the sweeps. */
static enum gpumc_status time_repeats(const struct cli_rate_request *request,
                                      struct gpumc_ensemble *ensemble, struct repeats *repeats,
                                      struct gpumc_error *error)
{
  double updates_per_sweep =
      (double)request->runs * (double)request->population * (double)request->model->sites;
  double elapsed, begin = gpumc_clock();
  uint32_t sweeps = request->sweeps;
  enum gpumc_status status = time_sweeps(request, ensemble, sweeps, &elapsed, error);
  if (request->repeats == 1 && elapsed >= request->seconds)
    repeats->rate[repeats->count++] = updates_per_sweep * sweeps / elapsed;
  while (status == GPUMC_OK && repeats->count < repeats->capacity &&
         (repeats->count < request->repeats || gpumc_clock() - begin < request->seconds)) {
    status = time_sweeps(request, ensemble, sweeps, &elapsed, error);
    if (elapsed < request->repeat_seconds && sweeps < SWEEPS_MAXIMUM)
      sweeps *= 2;
    else
      repeats->rate[repeats->count++] = updates_per_sweep * sweeps / elapsed;
  }
  return status;
}

static int ascending(const void *a, const void *b)
{
  const double *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* The fastest tells the rate of the machine: whatever else it does can only slow a repeat down. */
static struct cli_rate evaluate(const struct repeats *repeats)
{
  size_t n = repeats->count;
  qsort(repeats->rate, n, sizeof *repeats->rate, ascending);
  return (struct cli_rate){.fastest = repeats->rate[n - 1],
                           .median = (repeats->rate[(n - 1) / 2] + repeats->rate[n / 2]) / 2};
}

enum gpumc_status cli_measure_rate(const struct cli_rate_request *request, struct cli_rate *rate,
                                   struct gpumc_error *error)
{
  struct gpumc_ensemble ensemble = {0};
  struct repeats repeats = {.capacity = request->repeats +
                                        (size_t)(request->seconds / request->repeat_seconds)};
  const struct gpumc_ensemble_plan plan = {.runs = request->runs,
                                           .capacity = request->population,
                                           .samples = 1,
                                           .tiling = request->tiling};
  enum gpumc_status status =
      gpumc_allocate_array(&repeats.rate, repeats.capacity, "rates of the repeats", error);
  if (status == GPUMC_OK)
    status = gpumc_ensemble_create(request->kernel, request->model, request->device, &plan,
                                   RATE_SEED, request->rounds, &ensemble, error);
  if (status == GPUMC_OK)
    status = gpumc_ensemble_randomize(&ensemble, 0, request->runs, request->population, error);
  if (status == GPUMC_OK)
    status = time_repeats(request, &ensemble, &repeats, error);
  if (status == GPUMC_OK)
    *rate = evaluate(&repeats);
  gpumc_ensemble_free(&ensemble);
  free(repeats.rate);
  return status;
}
