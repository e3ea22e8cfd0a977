/* Series of known autocorrelation time, and the slow way to measure it. */
#ifndef GPUMC_TESTS_AUTOREGRESSIVE_H
#define GPUMC_TESTS_AUTOREGRESSIVE_H

#include <stddef.h>
#include <stdint.h>

#include "core/numerics/random.h"
#include "core/statistics/series.h"

/* AR(1): x' = phi x + sqrt(1 - phi^2) g, g Gaussian, started in equilibrium: mean 0, variance 1,
 * rho(t) = phi^t. */
struct autoregressive {
  struct gpumc_random random;
  uint32_t repeat, time;
  double phi, x;
  double gaussian[4];
  unsigned left; /* of the Gaussian numbers */
};
void autoregressive_begin(struct autoregressive *process, double phi, uint64_t seed,
                          uint32_t repeat);
double autoregressive_next(struct autoregressive *process);
/* Returns (1 + phi)/(2 (1 - phi)). */
double autoregressive_time(double phi);
/* Returns the phi of that time. */
double autoregressive_phi(double time);
/* Returns the variance of the mean of n values: 1/n + 2/n sum over t = 1 .. n-1 of (1 - t/n)
 * phi^t. */
double autoregressive_mean_variance(double phi, size_t n);

/* Returns the integrated autocorrelation time of a stored series: sum of rho(t) up to the first t
 * of at least 6 tau (Sokal, in Functional Integration, Plenum 1997). */
double sokal_time(const double *values, size_t n);

/* Returns estimates from n values of processes of the seed in `merged` series, numbered from
 * `number` on. */
struct gpumc_series_estimate
autoregressive_estimate(double phi, uint64_t seed, uint32_t number, size_t n, int merged);

#endif
