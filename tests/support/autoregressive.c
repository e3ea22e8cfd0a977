/* AR(1) series, and Sokal's automatic window. */
#include "support/autoregressive.h"

#include <math.h>

enum { PURPOSE = 200 };
static const double sokal_window = 6;

/* Draws normal numbers by the method of Box and Muller. */
static void draw(struct autoregressive *process)
{
  uint32_t word[4];
  gpumc_random_draw(process->random, 0, process->repeat, process->time++,
                    gpumc_random_label(PURPOSE, 0), word);
  for (int pair = 0; pair < 4; pair += 2) {
    double radius = sqrt(-2 * log(((double)word[pair] + 0.5) * 0x1p-32));
    double angle = 2 * M_PI * ((double)word[pair + 1] + 0.5) * 0x1p-32;
    process->gaussian[pair] = radius * cos(angle);
    process->gaussian[pair + 1] = radius * sin(angle);
  }
  process->left = 4;
}

static double next_gaussian(struct autoregressive *process)
{
  if (process->left == 0)
    draw(process);
  return process->gaussian[--process->left];
}

void autoregressive_begin(struct autoregressive *process, double phi, uint64_t seed,
                          uint32_t repeat)
{
  *process = (struct autoregressive){
      .random = gpumc_random_make(seed, 0, 10), .repeat = repeat, .phi = phi};
  process->x = next_gaussian(process);
}

double autoregressive_next(struct autoregressive *process)
{
  double x = process->x;
  process->x = process->phi * x + sqrt(1 - process->phi * process->phi) * next_gaussian(process);
  return x;
}

double autoregressive_time(double phi)
{
  return (1 + phi) / (2 * (1 - phi));
}

double autoregressive_phi(double time)
{
  return (2 * time - 1) / (2 * time + 1);
}

double autoregressive_mean_variance(double phi, size_t n)
{
  double sum = 1;
  double power = 1;
  for (size_t t = 1; t < n && power > 1e-20; t++) {
    power *= phi;
    sum += 2 * (1 - (double)t / (double)n) * power;
  }
  return sum / (double)n;
}

static double covariance(const double *values, size_t n, double mean, size_t t)
{
  double sum = 0;
  for (size_t i = 0; i + t < n; i++)
    sum += (values[i] - mean) * (values[i + t] - mean);
  return sum / (double)(n - t);
}

double sokal_time(const double *values, size_t n)
{
  double mean = 0;
  for (size_t i = 0; i < n; i++)
    mean += values[i] / (double)n;
  double variance = covariance(values, n, mean, 0);
  double time = 0.5;
  for (size_t t = 1; t < n && (double)t < sokal_window * time; t++)
    time += covariance(values, n, mean, t) / variance;
  return time;
}

struct gpumc_series_estimate
autoregressive_estimate(double phi, uint64_t seed, uint32_t number, size_t n, int merged)
{
  struct gpumc_series all = {0};
  struct gpumc_series_estimate estimate;
  for (int part = 0; part < merged; part++) {
    struct autoregressive process;
    struct gpumc_series series = {0};
    autoregressive_begin(&process, phi, seed, number + (uint32_t)part);
    for (size_t i = 0; i < n / (size_t)merged; i++)
      gpumc_series_add(&series, autoregressive_next(&process));
    gpumc_series_merge(&all, &series);
  }
  gpumc_series_estimate(&all, &estimate);
  return estimate;
}
