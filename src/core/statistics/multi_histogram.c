/* Multi-histogram reweighting.
 *
 * The denominator of eq. 9 without block b is the whole one with each temperature's term changed by
 * a factor that does not depend on E, so the exponentials are computed once and the blocks cost a
 * matrix product. */
#include "core/statistics/multi_histogram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/numerics/elementary.h"
#include "core/statistics/estimate.h"

/* factor[b][i]: the term of temperature i without block b, relative to the whole. */
static void block_factors(const struct gpumc_histograms *h, double *factor)
{
  for (size_t b = 0; b < h->blocks; b++)
    for (size_t i = 0; i < h->temperatures; i++) {
      size_t at = b * h->temperatures + i;
      double kept = 1.0 - h->block_samples[at] / h->samples[i];
      factor[at] = kept * gpumc_exp(h->log_partition[i] - h->block_log_partition[at]);
    }
}

/* Computes level `level` of the density. term[temperatures], value[blocks]: scratch. */
static void make_level(const struct gpumc_histograms *h, const double *factor, size_t level,
                       double *term, double *value, struct gpumc_density *density)
{
  double energy = h->lowest + (double)level * h->spacing;
  double largest = -INFINITY;
  double whole = 0;
  uint64_t seen = 0;
  for (size_t b = 0; b < h->blocks; b++)
    seen += h->bins[b * h->levels + level];
  density->log_dos[level] = -INFINITY;
  density->log_dos_error[level] = NAN;
  if (seen == 0)
    return;
  for (size_t i = 0; i < h->temperatures; i++) {
    term[i] = gpumc_log(h->samples[i]) - h->log_partition[i] - h->beta[i] * energy;
    largest = term[i] > largest ? term[i] : largest;
  }
  for (size_t i = 0; i < h->temperatures; i++) {
    term[i] = gpumc_exp(term[i] - largest);
    whole += term[i];
  }
  density->log_dos[level] = gpumc_log((double)seen) - largest - gpumc_log(whole);
  size_t holding = 0;
  for (size_t b = 0; b < h->blocks; b++) {
    double without = 0;
    uint64_t mine = h->bins[b * h->levels + level];
    for (size_t i = 0; i < h->temperatures; i++)
      without += term[i] * factor[b * h->temperatures + i];
    /* A block that holds every sample that matters here cannot be left out. */
    double ratio = without > 0 ? (double)(seen - mine) / (double)seen * (whole / without) : 1.0;
    density->ratio[b * h->levels + level] = ratio;
    value[b] = ratio > 0 ? gpumc_log(ratio) : 0.0;
    holding += mine > 0;
  }
  /* With fewer than two blocks there is no scatter to estimate from; with few blocks at the
   * temperatures that see the level, little. */
  struct gpumc_variance variance = gpumc_jackknife_of(
      value, h->strata, h->blocks / h->strata,
      gpumc_rounding((double)(h->blocks + h->temperatures), 1.0)); /* logarithms of ratios near 1 */
  double freedom = 0;
  for (size_t i = 0; i < h->temperatures; i++)
    freedom += term[i] / whole * h->freedom[i];
  variance.freedom = fmin(variance.freedom, freedom);
  if (holding >= 2)
    density->log_dos_error[level] = gpumc_pooled_error(variance, (struct gpumc_variance){0, 0});
}

enum gpumc_status gpumc_density_make(const struct gpumc_histograms *histograms, int threads,
                                     struct gpumc_density *density, struct gpumc_error *error)
{
  const struct gpumc_histograms *h = histograms;
  double *factor = NULL;
  double *scratch = NULL;
  size_t width = h->temperatures + h->blocks;
  memset(density, 0, sizeof *density);
  density->levels = h->levels;
  density->blocks = h->blocks;
  density->strata = h->strata;
  density->lowest = h->lowest;
  density->spacing = h->spacing;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status,
                gpumc_allocate_array(&density->log_dos, h->levels, "density of states", error));
  GPUMC_TRY_OUT(
      status, gpumc_allocate_array(&density->log_dos_error, h->levels, "density of states", error));
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&density->ratio, h->blocks * h->levels,
                                             "densities of states by block", error));
  GPUMC_TRY_OUT(status,
                gpumc_allocate_array(&factor, h->blocks * h->temperatures, "reweighting", error));
  GPUMC_TRY_OUT(status,
                gpumc_allocate_array(&scratch, (size_t)threads * width, "reweighting", error));
  block_factors(h, factor);
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int t = 0; t < threads; t++) {
    double *term = scratch + (size_t)t * width;
    for (size_t level = (size_t)t; level < h->levels; level += (size_t)threads)
      make_level(h, factor, level, term, term + h->temperatures, density);
  }
out:
  free(factor);
  free(scratch);
  if (status != GPUMC_OK)
    gpumc_density_free(density);
  return status;
}

/* Computes ln Z, mean and variance from weights p(E) relative to `largest`, each times ratio(E). */
static struct gpumc_reweighted averages(const struct gpumc_density *density, const double *weight,
                                        const double *ratio, double largest, double centre)
{
  double sum = 0;
  double first = 0;
  double second = 0;
  for (size_t k = 0; k < density->levels; k++) {
    if (weight[k] == 0.0)
      continue;
    double w = ratio == NULL ? weight[k] : weight[k] * ratio[k];
    double distance = density->lowest + (double)k * density->spacing - centre;
    sum += w;
    first += w * distance;
    second += w * distance * distance;
  }
  double mean = first / sum;
  return (struct gpumc_reweighted){.log_partition = gpumc_log(sum) + largest,
                                   .energy = centre + mean,
                                   .variance = second / sum - mean * mean};
}

void gpumc_density_reweight(const struct gpumc_density *density, double beta, int threads,
                            double *scratch, struct gpumc_reweighted *whole,
                            struct gpumc_reweighted *without)
{
  double largest = -INFINITY;
  double centre = 0;
  for (size_t k = 0; k < density->levels; k++) {
    double energy = density->lowest + (double)k * density->spacing;
    scratch[k] = density->log_dos[k] - beta * energy;
    if (scratch[k] > largest) {
      largest = scratch[k];
      centre = energy;
    }
  }
  for (size_t k = 0; k < density->levels; k++)
    scratch[k] = gpumc_exp(scratch[k] - largest);
  *whole = averages(density, scratch, NULL, largest, centre);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (size_t b = 0; b < density->blocks; b++)
    without[b] = averages(density, scratch, density->ratio + b * density->levels, largest, centre);
}

void gpumc_density_free(struct gpumc_density *density)
{
  free(density->log_dos);
  free(density->log_dos_error);
  free(density->ratio);
  memset(density, 0, sizeof *density);
}
