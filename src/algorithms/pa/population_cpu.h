/* The population operations on the CPU: what their files share. */
#ifndef GPUMC_CORE_POPULATION_CPU_H
#define GPUMC_CORE_POPULATION_CPU_H

#include "core/device/device.h"

extern const struct gpumc_population_ops gpumc_population_cpu;

/* The arrays of one run. */
struct gpumc_population_run {
  const int64_t *channel[GPUMC_CHANNELS_MAXIMUM]; /* [capacity] each */
  uint64_t *weight;
  uint32_t *parent, *copies, *family;
  uint32_t *size;
};

/* What was found for one run; the arrays of `found` are this run's. */
struct gpumc_population_findings {
  struct gpumc_population_outcome found;
  uint64_t *block_weight;                                 /* [blocks] */
  struct gpumc_moment_sums *sums[GPUMC_CHANNELS_MAXIMUM]; /* [blocks] each */
};

/* gpumc_population.own. findings[1 + GPUMC_OUTCOME_SLOTS][runs]: the present ones, then the
 * slots'. */
struct gpumc_population_cpu {
  struct gpumc_population_findings *findings;
  uint64_t *block_weights;                  /* where the findings' point to */
  struct gpumc_moment_sums *sums, *partial; /* the same; [threads][blocks] */
};

static inline struct gpumc_population_cpu *
gpumc_population_cpu_of(const struct gpumc_population *population)
{
  return (struct gpumc_population_cpu *)population->own;
}

static inline struct gpumc_population_run
gpumc_population_run(const struct gpumc_population *population, size_t m)
{
  const size_t first = m * population->plan.capacity;
  struct gpumc_population_run run = {.weight = population->weight + first,
                                     .parent = population->parent + first,
                                     .copies = population->copies + first,
                                     .family = population->family + first,
                                     .size = population->size + m};
  for (size_t c = 0; c < population->plan.n_channels; c++)
    run.channel[c] = population->channel[c] + first;
  return run;
}

/* Many runs are shared out among the threads; of few, each is worked on by all threads. */
static inline int gpumc_population_threads_outside(const struct gpumc_population *population)
{
  int threads = population->device->threads;
  return population->runs >= (size_t)threads ? threads : 1;
}

static inline int gpumc_population_threads_inside(const struct gpumc_population *population)
{
  return population->device->threads / gpumc_population_threads_outside(population);
}

/* Entries of the table that have files of their own. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_population_cpu_tally(struct gpumc_population *population,
                                                              uint32_t first_run, bool histogram,
                                                              struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
gpumc_population_cpu_resample(struct gpumc_population *population,
                              const struct gpumc_resampling_request *request,
                              struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status gpumc_population_cpu_trial(struct gpumc_population *population,
                                                              double step, double *overlap,
                                                              struct gpumc_error *error);

#endif
