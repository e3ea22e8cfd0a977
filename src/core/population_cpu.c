/* The population operations on the CPU: weights, sums and families, threaded by OpenMP. All sums
 * are of integers, so that the order of the threads does not matter. */
#include "core/population_cpu.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/device.h"
#include "core/elementary.h"
#include "core/memory.h"

static enum gpumc_status extremes(struct gpumc_device *device, const int64_t *x, size_t n,
                                  int64_t *minimum, int64_t *maximum, struct gpumc_error *error)
{
  (void)error;
  int64_t least = INT64_MAX;
  int64_t greatest = INT64_MIN;
#pragma omp parallel for num_threads(device->threads) reduction(min                                \
                                                                : least) reduction(max             \
                                                                                   : greatest)
  for (size_t r = 0; r < n; r++) {
    least = x[r] < least ? x[r] : least;
    greatest = x[r] > greatest ? x[r] : greatest;
  }
  *minimum = least;
  *maximum = greatest;
  return GPUMC_OK;
}

static void add_moments(struct gpumc_moment_sums *sums, int64_t x, unsigned which)
{
  gpumc_wide square = (gpumc_wide)x * x;
  sums->count++;
  if (which & GPUMC_SUM_FIRST)
    sums->first += x;
  if (which & GPUMC_SUM_ABSOLUTE)
    sums->absolute += x < 0 ? -x : x;
  if (which & GPUMC_SUM_SECOND)
    sums->second += square;
  if (which & GPUMC_SUM_FOURTH)
    sums->fourth += square * square;
}

static void merge_moments(struct gpumc_moment_sums *into, const struct gpumc_moment_sums *from)
{
  into->count += from->count;
  into->first += from->first;
  into->absolute += from->absolute;
  into->second += from->second;
  into->fourth += from->fourth;
}

static enum gpumc_status moments(struct gpumc_device *device, const int64_t *x,
                                 const uint32_t *family, size_t n, size_t blocks, unsigned which,
                                 struct gpumc_moment_sums *sums, struct gpumc_error *error)
{
  struct gpumc_moment_sums *partial = NULL;
  size_t threads = (size_t)device->threads;
  enum gpumc_status status =
      gpumc_allocate_array(&partial, threads * blocks, "sums by block", error);
  if (status != GPUMC_OK)
    return status;
#pragma omp parallel for num_threads(device->threads) schedule(static, 1)
  for (size_t t = 0; t < threads; t++) {
    struct gpumc_moment_sums *mine = partial + t * blocks;
    for (size_t r = n * t / threads; r < n * (t + 1) / threads; r++)
      add_moments(&mine[family[r] % blocks], x[r], which);
  }
  memset(sums, 0, blocks * sizeof *sums);
  for (size_t t = 0; t < threads; t++)
    for (size_t b = 0; b < blocks; b++)
      merge_moments(&sums[b], &partial[t * blocks + b]);
  free(partial);
  return GPUMC_OK;
}

static enum gpumc_status weigh(struct gpumc_device *device, const int64_t *energy, size_t n,
                               struct gpumc_weighing weighing, uint64_t *weight, uint64_t *total,
                               struct gpumc_error *error)
{
  (void)error;
  uint64_t sum = 0;
  double unit = gpumc_power_of_two(weighing.shift);
#pragma omp parallel for num_threads(device->threads) reduction(+ : sum)
  for (size_t r = 0; r < n; r++) {
    double exponent = -weighing.step * (double)(energy[r] - weighing.reference);
    weight[r] = (uint64_t)rint(gpumc_exp(exponent) * unit);
    sum += weight[r];
  }
  *total = sum;
  return GPUMC_OK;
}

static enum gpumc_status block_weights(struct gpumc_device *device, const uint64_t *weight,
                                       const uint32_t *family, size_t n, size_t blocks,
                                       uint64_t *sums, struct gpumc_error *error)
{
  uint64_t *partial = NULL;
  size_t threads = (size_t)device->threads;
  enum gpumc_status status =
      gpumc_allocate_array(&partial, threads * blocks, "weights by block", error);
  if (status != GPUMC_OK)
    return status;
#pragma omp parallel for num_threads(device->threads) schedule(static, 1)
  for (size_t t = 0; t < threads; t++)
    for (size_t r = n * t / threads; r < n * (t + 1) / threads; r++)
      partial[t * blocks + family[r] % blocks] += weight[r];
  memset(sums, 0, blocks * sizeof *sums);
  for (size_t i = 0; i < threads * blocks; i++)
    sums[i % blocks] += partial[i];
  free(partial);
  return GPUMC_OK;
}

/* The sum of min(total, target w) may need 93 bits: two words of 62 bits and more each. */
static enum gpumc_status overlap(struct gpumc_device *device, const uint64_t *weight, size_t n,
                                 size_t target, uint64_t total, double *alpha,
                                 struct gpumc_error *error)
{
  (void)error;
  uint64_t high = 0;
  uint64_t low = 0;
#pragma omp parallel for num_threads(device->threads) reduction(+ : high, low)
  for (size_t r = 0; r < n; r++) {
    uint64_t share = target * weight[r];
    share = share < total ? share : total;
    high += share >> 31;
    low += share & 0x7fffffff;
  }
  double sum = fma((double)high, 0x1p31, (double)low);
  *alpha = sum / ((double)n * (double)total);
  return GPUMC_OK;
}

static enum gpumc_status inherit(struct gpumc_device *device, uint32_t *label,
                                 const uint32_t *parent, size_t n, struct gpumc_error *error)
{
  (void)error;
  /* A parent below n is its own parent, so no thread writes what another reads. */
#pragma omp parallel for num_threads(device->threads)
  for (size_t r = 0; r < n; r++)
    if (parent[r] != r)
      label[r] = label[parent[r]];
  return GPUMC_OK;
}

static enum gpumc_status families(struct gpumc_device *device, const uint32_t *family, size_t n,
                                  size_t n_families, uint32_t *scratch,
                                  struct gpumc_family_statistics *statistics, uint32_t *sizes,
                                  size_t limit, struct gpumc_error *error)
{
  (void)device;
  (void)error;
  memset(scratch, 0, n_families * sizeof *scratch);
  memset(statistics, 0, sizeof *statistics);
  memset(sizes, 0, limit * sizeof *sizes);
  for (size_t r = 0; r < n; r++)
    scratch[family[r]]++;
  for (size_t f = 0; f < n_families; f++) {
    size_t members = scratch[f];
    if (members == 0)
      continue;
    statistics->families++;
    statistics->square_sum += members * members;
    if (members > statistics->largest)
      statistics->largest = members;
    if (members < limit)
      sizes[members]++;
  }
  return GPUMC_OK;
}

static enum gpumc_status holders(struct gpumc_device *device, const int64_t *x,
                                 const uint32_t *family, size_t n, size_t n_families, int64_t value,
                                 uint32_t *scratch, size_t *replicas, size_t *n_holding,
                                 struct gpumc_error *error)
{
  (void)device;
  (void)error;
  memset(scratch, 0, n_families * sizeof *scratch);
  *replicas = 0;
  *n_holding = 0;
  for (size_t r = 0; r < n; r++) {
    if (x[r] != value)
      continue;
    ++*replicas;
    *n_holding += scratch[family[r]] == 0;
    scratch[family[r]] = 1;
  }
  return GPUMC_OK;
}

static enum gpumc_status histogram(struct gpumc_device *device, const int64_t *x,
                                   const uint32_t *family, size_t n, size_t blocks, int64_t lowest,
                                   int64_t spacing, size_t levels, uint64_t *bins,
                                   struct gpumc_error *error)
{
  (void)device;
  (void)error;
  for (size_t r = 0; r < n; r++) {
    size_t level = (size_t)((x[r] - lowest) / spacing);
    assert(level < levels && (x[r] - lowest) % spacing == 0);
    bins[family[r] % blocks * levels + level]++;
  }
  return GPUMC_OK;
}

const struct gpumc_population_ops gpumc_population_cpu = {
    .extremes = extremes,
    .moments = moments,
    .weigh = weigh,
    .block_weights = block_weights,
    .overlap = overlap,
    .resample = gpumc_population_cpu_resample,
    .inherit = inherit,
    .families = families,
    .holders = holders,
    .histogram = histogram,
};
