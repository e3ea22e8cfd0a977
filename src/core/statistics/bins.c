/* Bins whose length doubles when they are full, and jackknife over them. */
#include "core/statistics/bins.h"

#include <math.h>
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

/* The first half of the room takes all of them; the rest is empty then. */
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
  return gpumc_error_set(error, GPUMC_FAILURE, "bins of a time series: numbers out of range");
}

void gpumc_bins_mean(const struct gpumc_bins *bins, size_t bin, double *means)
{
  double values = (double)bins->state[GPUMC_BINS_LENGTH];
  for (size_t i = 0; i < bins->width; i++)
    means[i] = sums_of(bins, bin)[i] / values;
}

/* Complete bins that make up a block. */
static size_t bins_a_block(const struct gpumc_bins *bins, double shortest)
{
  size_t together = 1;
  size_t count = (size_t)bins->state[GPUMC_BINS_COUNT];
  while ((double)together * (double)bins->state[GPUMC_BINS_LENGTH] < shortest &&
         count / (together + 1) >= GPUMC_BINS_FEWEST)
    together++;
  return together;
}

/* Means of all values into `means`; their number. */
static double mean_of_all(const struct gpumc_bins *bins, double *means)
{
  const uint64_t *state = bins->state;
  double values =
      (double)(state[GPUMC_BINS_COUNT] * state[GPUMC_BINS_LENGTH] + state[GPUMC_BINS_FILLED]);
  memset(means, 0, bins->width * sizeof *means);
  for (size_t bin = 0; bin <= state[GPUMC_BINS_COUNT]; bin++)
    add_sums(means, sums_of(bins, bin), bins->width);
  for (size_t i = 0; i < bins->width; i++)
    means[i] /= values;
  return values;
}

/* Sums over the bins of one block. */
static void sum_block(const struct gpumc_bins *bins, size_t block, size_t together, double *sums)
{
  memset(sums, 0, bins->width * sizeof *sums);
  for (size_t k = 0; k < together; k++)
    add_sums(sums, sums_of(bins, block * together + k), bins->width);
}

/* What the jackknife works with: sums over all blocks and one, means, the results without each
 * block [n_blocks][n_results], those of one quantity [n_blocks]. */
struct work {
  double *total, *block, *means, *without, *column;
};

static enum gpumc_status work_begin(struct work *work, size_t width, size_t n_blocks,
                                    size_t n_results, double **memory, struct gpumc_error *error)
{
  enum gpumc_status status = gpumc_allocate_array(
      memory, 3 * width + n_blocks * (n_results + 1) + 1, "jackknife over bins", error);
  if (status != GPUMC_OK)
    return status;
  work->total = *memory;
  work->block = work->total + width;
  work->means = work->block + width;
  work->without = work->means + width;
  work->column = work->without + n_blocks * n_results;
  return GPUMC_OK;
}

static void leave_out_each(const struct gpumc_bins *bins, size_t n_blocks, size_t together,
                           gpumc_bins_function *function, const void *state, size_t n_results,
                           struct work *work)
{
  double left = (double)((n_blocks - 1) * together) * (double)bins->state[GPUMC_BINS_LENGTH];
  sum_block(bins, 0, n_blocks * together, work->total);
  for (size_t b = 0; b < n_blocks; b++) {
    sum_block(bins, b, together, work->block);
    for (size_t i = 0; i < bins->width; i++)
      work->means[i] = (work->total[i] - work->block[i]) / left;
    function(state, work->means, work->without + b * n_results);
  }
}

enum gpumc_status gpumc_bins_jackknife(const struct gpumc_bins *bins, double shortest,
                                       gpumc_bins_function *function, const void *state,
                                       size_t n_results, double *results,
                                       struct gpumc_variance *variances, struct gpumc_error *error)
{
  struct work work;
  double *memory;
  size_t together = bins_a_block(bins, shortest);
  size_t n_blocks = (size_t)bins->state[GPUMC_BINS_COUNT] / together;
  enum gpumc_status status = work_begin(&work, bins->width, n_blocks, n_results, &memory, error);
  if (status != GPUMC_OK)
    return status;
  if (mean_of_all(bins, work.means) > 0)
    function(state, work.means, results);
  else
    for (size_t r = 0; r < n_results; r++)
      results[r] = NAN;
  if (n_blocks > 1)
    leave_out_each(bins, n_blocks, together, function, state, n_results, &work);
  for (size_t r = 0; r < n_results; r++) {
    for (size_t b = 0; b < n_blocks; b++)
      work.column[b] = work.without[b * n_results + r];
    variances[r] = gpumc_jackknife(work.column, 1, n_blocks);
  }
  free(memory);
  return GPUMC_OK;
}
