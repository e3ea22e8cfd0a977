/* Bins whose length doubles when they are full. */
#include "core/statistics/bins.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"

enum gpumc_status gpumc_bins_init(struct gpumc_bins *bins, size_t width, struct gpumc_error *error)
{
  *bins = (struct gpumc_bins){.width = width, .state = {[GPUMC_BINS_LENGTH] = 1}};
  return gpumc_allocate_array(&bins->sums, GPUMC_BINS_MOST * width, "bins of a time series", error);
}

void gpumc_bins_free(struct gpumc_bins *bins)
{
  free(bins->sums);
  memset(bins, 0, sizeof *bins);
}

static double *sums_of(const struct gpumc_bins *bins, size_t bin)
{
  return bins->sums + bin * bins->width;
}

static void add_sums(double *sums, const double *others, size_t width)
{
  for (size_t i = 0; i < width; i++)
    sums[i] += others[i];
}

/* Packs all bins into the first half of the room; the rest is then empty. */
static void join_neighbours(struct gpumc_bins *bins)
{
  for (size_t bin = 0; bin < GPUMC_BINS_MOST / 2; bin++) {
    memmove(sums_of(bins, bin), sums_of(bins, 2 * bin), bins->width * sizeof *bins->sums);
    add_sums(sums_of(bins, bin), sums_of(bins, 2 * bin + 1), bins->width);
  }
  memset(sums_of(bins, GPUMC_BINS_MOST / 2), 0,
         GPUMC_BINS_MOST / 2 * bins->width * sizeof *bins->sums);
  bins->state[GPUMC_BINS_COUNT] = GPUMC_BINS_MOST / 2;
  bins->state[GPUMC_BINS_LENGTH] *= 2;
}

void gpumc_bins_add(struct gpumc_bins *bins, const double *values)
{
  uint64_t *state = bins->state;
  add_sums(sums_of(bins, (size_t)state[GPUMC_BINS_COUNT]), values, bins->width);
  if (++state[GPUMC_BINS_FILLED] < state[GPUMC_BINS_LENGTH])
    return;
  state[GPUMC_BINS_FILLED] = 0;
  if (++state[GPUMC_BINS_COUNT] == GPUMC_BINS_MOST)
    join_neighbours(bins);
}

enum gpumc_status gpumc_bins_check(const struct gpumc_bins *bins, struct gpumc_error *error)
{
  uint64_t length = bins->state[GPUMC_BINS_LENGTH];
  if (length > 0 && (length & (length - 1)) == 0 &&
      bins->state[GPUMC_BINS_COUNT] < GPUMC_BINS_MOST && bins->state[GPUMC_BINS_FILLED] < length)
    return GPUMC_OK;
  return gpumc_error_set(error, GPUMC_FAILURE,
                         "is damaged: the bins of a time series have impossible counts");
}

void gpumc_bins_mean(const struct gpumc_bins *bins, size_t bin, double *means)
{
  double values = (double)bins->state[GPUMC_BINS_LENGTH];
  for (size_t i = 0; i < bins->width; i++)
    means[i] = sums_of(bins, bin)[i] / values;
}

size_t gpumc_bins_blocks(const struct gpumc_bins *bins, double shortest)
{
  size_t together = 1;
  const size_t count = (size_t)bins->state[GPUMC_BINS_COUNT];
  while ((double)together * (double)bins->state[GPUMC_BINS_LENGTH] < shortest &&
         count / (together + 1) >= GPUMC_BINS_FEWEST)
    together++;
  return count / together;
}

double gpumc_bins_mean_of_all(const struct gpumc_bins *bins, double *means)
{
  const uint64_t *state = bins->state;
  const double values =
      (double)(state[GPUMC_BINS_COUNT] * state[GPUMC_BINS_LENGTH] + state[GPUMC_BINS_FILLED]);
  memset(means, 0, bins->width * sizeof *means);
  for (size_t bin = 0; bin <= state[GPUMC_BINS_COUNT]; bin++)
    add_sums(means, sums_of(bins, bin), bins->width);
  for (size_t i = 0; i < bins->width; i++)
    means[i] /= values;
  return values;
}

/* Sums `count` bins from `first` on. */
static void sum_bins(const struct gpumc_bins *bins, size_t first, size_t count, double *sums)
{
  memset(sums, 0, bins->width * sizeof *sums);
  for (size_t k = 0; k < count; k++)
    add_sums(sums, sums_of(bins, first + k), bins->width);
}

void gpumc_bins_leave_out(const struct gpumc_bins *bins, size_t blocks, double *without)
{
  const size_t width = bins->width;
  const size_t together = (size_t)bins->state[GPUMC_BINS_COUNT] / blocks;
  const double left = (double)((blocks - 1) * together) * (double)bins->state[GPUMC_BINS_LENGTH];
  for (size_t b = 0; b < blocks; b++)
    sum_bins(bins, b * together, together, without + b * width);
  for (size_t i = 0; i < width; i++) {
    double total = 0;
    for (size_t bin = 0; bin < blocks * together; bin++)
      total += sums_of(bins, bin)[i];
    for (size_t b = 0; b < blocks; b++)
      without[b * width + i] = (total - without[b * width + i]) / left;
  }
}
