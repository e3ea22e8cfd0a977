/* Update rates, measured through the kernel's operations only. */
#include "cli/rate.h"

#include "core/clock.h"

enum { REPEATS_MINIMUM = 3, SWEEPS_MAXIMUM = 1 << 24, RATE_SEED = 1 };

/* Shorter repeats would measure the start of the threads and the grain of the scheduler. */
static const double repeat_seconds = 0.01;

static enum gpumc_status time_sweeps(const struct cli_rate_request *request,
                                     struct gpumc_ensemble *ensemble, uint32_t sweeps,
                                     double *seconds, struct gpumc_error *error)
{
  if (ensemble->time > UINT32_MAX - sweeps)
    ensemble->time = 0; /* the same random numbers again do no harm here */
  double begin = gpumc_clock();
  enum gpumc_status status = gpumc_ensemble_sweep(ensemble, sweeps, request->beta, NULL, error);
  *seconds = gpumc_clock() - begin;
  return status;
}

/* Repeats that turn out too short are not counted and double the sweeps. Of the others the fastest
 * tells the rate of the machine: whatever else it does can only slow a repeat down. */
static enum gpumc_status time_repeats(const struct cli_rate_request *request,
                                      struct gpumc_ensemble *ensemble, double *rate,
                                      struct gpumc_error *error)
{
  double updates_per_sweep = (double)request->population * (double)request->model->sites;
  double elapsed, begin = gpumc_clock();
  uint32_t sweeps = request->sweeps;
  enum gpumc_status status = time_sweeps(request, ensemble, sweeps, &elapsed, error);
  *rate = 0;
  for (int counted = 0; status == GPUMC_OK &&
                        (counted < REPEATS_MINIMUM || gpumc_clock() - begin < request->seconds);) {
    status = time_sweeps(request, ensemble, sweeps, &elapsed, error);
    if (elapsed < repeat_seconds && sweeps < SWEEPS_MAXIMUM) {
      sweeps *= 2;
      continue;
    }
    double measured = updates_per_sweep * sweeps / elapsed;
    *rate = measured > *rate ? measured : *rate;
    counted++;
  }
  return status;
}

enum gpumc_status
cli_measure_rate(const struct cli_rate_request *request, double *rate, struct gpumc_error *error)
{
  struct gpumc_ensemble ensemble = {0};
  enum gpumc_status status =
      gpumc_ensemble_create(request->kernel, request->model, request->device, 1, request->population,
                            RATE_SEED, request->rounds, &ensemble, error);
  if (status == GPUMC_OK)
    status = gpumc_ensemble_randomize(&ensemble, 0, 1, request->population, error);
  if (status == GPUMC_OK)
    status = time_repeats(request, &ensemble, rate, error);
  gpumc_ensemble_free(&ensemble);
  return status;
}
