/* Update rates, measured through the kernel's operations only. */
#include "cli/rate.h"

#include <stdlib.h>

#include "core/clock.h"

enum { REPEATS_MINIMUM = 3, REPEATS_MAXIMUM = 1000, RATE_SEED = 1 };

static int compare(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static enum gpumc_status time_repeats(const struct cli_rate_request *request,
                                      struct gpumc_ensemble *ensemble, double *rate,
                                      struct gpumc_error *error)
{
  double rates[REPEATS_MAXIMUM];
  size_t n = 0;
  double updates =
      (double)request->population * (double)request->model->sites * (double)request->sweeps;
  enum gpumc_status status = gpumc_ensemble_sweep(ensemble, request->sweeps, request->beta, error);
  double begin = gpumc_clock();
  while (status == GPUMC_OK && n < REPEATS_MAXIMUM &&
         (n < REPEATS_MINIMUM || gpumc_clock() - begin < request->seconds)) {
    double before = gpumc_clock();
    status = gpumc_ensemble_sweep(ensemble, request->sweeps, request->beta, error);
    double elapsed = gpumc_clock() - before;
    rates[n++] = updates / (elapsed > 1e-9 ? elapsed : 1e-9);
  }
  if (status != GPUMC_OK)
    return status;
  qsort(rates, n, sizeof *rates, compare);
  *rate = rates[n / 2];
  return GPUMC_OK;
}

enum gpumc_status
cli_measure_rate(const struct cli_rate_request *request, double *rate, struct gpumc_error *error)
{
  struct gpumc_ensemble ensemble = {0};
  enum gpumc_status status =
      gpumc_ensemble_create(request->kernel, request->model, request->device, request->population,
                            RATE_SEED, request->rounds, &ensemble, error);
  if (status == GPUMC_OK)
    status = gpumc_ensemble_randomize(&ensemble, 0, request->population, error);
  if (status == GPUMC_OK)
    status = time_repeats(request, &ensemble, rate, error);
  gpumc_ensemble_free(&ensemble);
  return status;
}
