/* Resampling on the CPU: weights, how many copies of each replica, and where they go. */
#include <string.h>

#include "algorithms/pa/population_cpu.h"
#include "algorithms/pa/population_rules.h"

static void weigh(const struct gpumc_population *population, const struct gpumc_population_run *run,
                  double step, struct gpumc_population_outcome *found)
{
  const size_t n = *run->size;
  const int shift = gpumc_weight_shift(population->plan.capacity);
  const int threads = gpumc_population_threads_inside(population);
  const int64_t *energy = run->channel[0];
  uint64_t total = 0, high = 0, low = 0;
  found->before = n;
  found->reference = found->lowest;
#pragma omp parallel for num_threads(threads) reduction(+ : total)
  for (size_t r = 0; r < n; r++) {
    run->weight[r] = gpumc_weight(step, energy[r], found->reference, shift);
    total += run->weight[r];
  }
#pragma omp parallel for num_threads(threads) reduction(+ : high, low)
  for (size_t r = 0; r < n; r++) {
    uint64_t share = gpumc_overlap_share(run->weight[r], n, total);
    high += share >> GPUMC_OVERLAP_LOW_BITS;
    low += share & (((uint64_t)1 << GPUMC_OVERLAP_LOW_BITS) - 1);
  }
  found->total = total;
  found->overlap = gpumc_overlap(high, low, n, total);
}

static void sum_block_weights(const struct gpumc_population_run *run, size_t blocks, uint64_t *sums)
{
  memset(sums, 0, blocks * sizeof *sums);
  for (size_t r = 0; r < *run->size; r++)
    sums[run->family[r] % blocks] += run->weight[r];
}

static void nearest_integer(const struct gpumc_population_run *run, struct gpumc_random random,
                            const struct gpumc_resampling_request *request, uint64_t total,
                            int threads)
{
#pragma omp parallel for num_threads(threads)
  for (size_t r = 0; r < *run->size; r++)
    run->copies[r] = (uint32_t)gpumc_copies_nearest_integer(random, (uint32_t)r, request->time,
                                                            run->weight[r], request->target, total);
}

/* One uniform number for all; the population stays exactly at the target. */
static void systematic(const struct gpumc_population_run *run, struct gpumc_random random,
                       const struct gpumc_resampling_request *request, uint64_t total)
{
  const uint64_t offset = gpumc_resampling_uniform(random, 0, request->time, total);
  uint64_t cumulated = 0, before = 0;
  for (size_t r = 0; r < *run->size; r++) {
    cumulated += run->weight[r];
    uint64_t after = gpumc_points_below(cumulated, offset, request->target, total);
    run->copies[r] = (uint32_t)(after - before);
    before = after;
  }
}

static void assign_places(const struct gpumc_population_run *run, size_t size)
{
  const uint32_t free_place = UINT32_MAX;
  const uint32_t *copies = run->copies;
  const size_t n = *run->size;
  for (size_t r = 0; r < size; r++)
    run->parent[r] = r < n && copies[r] > 0 ? (uint32_t)r : free_place;
  size_t place = 0;
  for (size_t r = 0; r < n; r++) {
    uint32_t children = copies[r] - (r < size && copies[r] > 0);
    for (; children > 0; children--) {
      while (run->parent[place] != free_place)
        place++;
      run->parent[place] = (uint32_t)r;
    }
  }
}

/* A parent below `size` is its own parent, so no thread writes what another reads. */
static void inherit_families(const struct gpumc_population_run *run, size_t size, int threads)
{
#pragma omp parallel for num_threads(threads)
  for (size_t r = 0; r < size; r++)
    if (run->parent[r] != r)
      run->family[r] = run->family[run->parent[r]];
}

static void resample_run(const struct gpumc_population *population, size_t m,
                         const struct gpumc_resampling_request *request)
{
  const struct gpumc_population_run run = gpumc_population_run(population, m);
  struct gpumc_population_findings *findings = &gpumc_population_cpu_of(population)->findings[m];
  const struct gpumc_random random =
      gpumc_random_make(request->seed, request->first_run + (uint32_t)m, request->rounds);
  const int threads = gpumc_population_threads_inside(population);
  size_t size = 0;
  weigh(population, &run, request->step, &findings->found);
  sum_block_weights(&run, population->plan.blocks, findings->block_weight);
  if (request->method == GPUMC_RESAMPLING_SYSTEMATIC)
    systematic(&run, random, request, findings->found.total);
  else
    nearest_integer(&run, random, request, findings->found.total, threads);
  for (size_t r = 0; r < *run.size; r++)
    size += run.copies[r];
  findings->found.size = size;
  if (size > population->plan.capacity)
    size = 0;
  if (size > 0)
    assign_places(&run, size);
  inherit_families(&run, size, threads);
  *run.size = (uint32_t)size;
}

enum gpumc_status gpumc_population_cpu_resample(struct gpumc_population *population,
                                                const struct gpumc_resampling_request *request,
                                                struct gpumc_error *error)
{
  (void)error;
#pragma omp parallel for num_threads(gpumc_population_threads_outside(population))
  for (size_t m = 0; m < population->runs; m++)
    resample_run(population, m, request);
  return GPUMC_OK;
}

enum gpumc_status gpumc_population_cpu_trial(struct gpumc_population *population, double step,
                                             double *overlap, struct gpumc_error *error)
{
  (void)error;
  const struct gpumc_population_run run = gpumc_population_run(population, 0);
  struct gpumc_population_outcome found = gpumc_population_cpu_of(population)->findings[0].found;
  weigh(population, &run, step, &found);
  *overlap = found.overlap;
  return GPUMC_OK;
}
