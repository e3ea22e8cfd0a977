/* The tally on the CPU: sums by block of families, histogram, families, lowest energy. All sums are
 * of integers, so that the order of the threads does not matter. */
#include <assert.h>
#include <omp.h>
#include <string.h>

#include "algorithms/pa/population_cpu.h"
#include "algorithms/pa/population_rules.h"

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

/* sums[blocks] over the replicas first .. end-1. */
static void sum_replicas(const struct gpumc_population_run *run, size_t channel, size_t first,
                         size_t end, size_t blocks, unsigned which, struct gpumc_moment_sums *sums)
{
  memset(sums, 0, blocks * sizeof *sums);
  for (size_t r = first; r < end; r++)
    add_moments(&sums[run->family[r] % blocks], run->channel[channel][r], which);
}

static void sum_channel(const struct gpumc_population *population,
                        const struct gpumc_population_run *run, size_t channel,
                        struct gpumc_moment_sums *sums)
{
  const size_t blocks = population->plan.blocks, n = *run->size;
  const unsigned which = population->plan.sums[channel];
  const size_t threads = (size_t)gpumc_population_threads_inside(population);
  struct gpumc_moment_sums *partial = gpumc_population_cpu_of(population)->partial;
  if (threads == 1) {
    sum_replicas(run, channel, 0, n, blocks, which, sums);
    return;
  }
#pragma omp parallel for num_threads((int)threads) schedule(static, 1)
  for (size_t t = 0; t < threads; t++)
    sum_replicas(run, channel, n * t / threads, n * (t + 1) / threads, blocks, which,
                 partial + t * blocks);
  memset(sums, 0, blocks * sizeof *sums);
  for (size_t t = 0; t < threads; t++)
    for (size_t b = 0; b < blocks; b++)
      merge_moments(&sums[b], &partial[t * blocks + b]);
}

/* members[founders] and what follows from it. */
static void count_families(const struct gpumc_population_run *run, size_t founders,
                           uint32_t *members, struct gpumc_population_outcome *found)
{
  const size_t n = *run->size;
  int64_t entropy = 0;
  memset(members, 0, founders * sizeof *members);
  found->families = 0;
  found->square_sum = 0;
  for (size_t r = 0; r < n; r++)
    members[run->family[r]]++;
  for (size_t f = 0; f < founders; f++) {
    const uint64_t of_family = members[f];
    if (of_family == 0)
      continue;
    found->families++;
    found->square_sum += of_family * of_family;
    entropy += gpumc_family_entropy(of_family, n);
  }
  found->entropy = (double)entropy * GPUMC_ENTROPY_UNIT;
}

/* seen[founders]. */
static void find_lowest(const struct gpumc_population_run *run, size_t founders, uint32_t *seen,
                        struct gpumc_population_outcome *found)
{
  const int64_t *energy = run->channel[0];
  const size_t n = *run->size;
  found->lowest = INT64_MAX;
  found->lowest_replicas = found->lowest_families = 0;
  for (size_t r = 0; r < n; r++)
    found->lowest = energy[r] < found->lowest ? energy[r] : found->lowest;
  memset(seen, 0, founders * sizeof *seen);
  for (size_t r = 0; r < n; r++) {
    if (energy[r] != found->lowest)
      continue;
    found->lowest_replicas++;
    found->lowest_families += seen[run->family[r]] == 0;
    seen[run->family[r]] = 1;
  }
}

static void add_to_histogram(const struct gpumc_population *population,
                             const struct gpumc_population_run *run, size_t stratum)
{
  const struct gpumc_population_plan *plan = &population->plan;
  uint64_t *bins = population->bins + stratum * plan->blocks * plan->levels;
  for (size_t r = 0; r < *run->size; r++) {
    const int64_t above = run->channel[0][r] - plan->lowest;
    const size_t level = (size_t)(above / plan->spacing);
    assert(level < plan->levels && above % plan->spacing == 0);
    bins[run->family[r] % plan->blocks * plan->levels + level]++;
  }
}

/* Runs of one stratum add to the same bins, one after another. */
static void add_to_histograms(const struct gpumc_population *population, uint32_t first_run)
{
  const size_t strata = population->plan.strata, runs = population->runs;
#pragma omp parallel for num_threads(population->device->threads) schedule(dynamic)
  for (size_t first = 0; first < (runs < strata ? runs : strata); first++)
    for (size_t m = first; m < runs; m += strata) {
      const struct gpumc_population_run run = gpumc_population_run(population, m);
      add_to_histogram(population, &run, (first_run + m) % strata);
    }
}

enum gpumc_status gpumc_population_cpu_tally(struct gpumc_population *population,
                                             uint32_t first_run, bool histogram,
                                             struct gpumc_error *error)
{
  (void)error;
  const struct gpumc_population_plan *plan = &population->plan;
#pragma omp parallel for num_threads(gpumc_population_threads_outside(population))
  for (size_t m = 0; m < population->runs; m++) {
    const struct gpumc_population_run run = gpumc_population_run(population, m);
    struct gpumc_population_findings *findings = &gpumc_population_cpu_of(population)->findings[m];
    for (size_t c = 0; c < plan->n_channels; c++)
      sum_channel(population, &run, c, findings->sums[c]);
    /* The numbers of copies are not needed until the next resampling. */
    count_families(&run, plan->founders, run.copies, &findings->found);
    find_lowest(&run, plan->founders, run.copies, &findings->found);
  }
  if (histogram && plan->levels > 0)
    add_to_histograms(population, first_run);
  return GPUMC_OK;
}
