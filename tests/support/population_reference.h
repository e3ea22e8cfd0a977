/* The slow, simple population: one replica after another, sums in 128 bits, places from two lists.
 * Only the formulas of algorithms/pa/pa_rules.h are shared with what is tested. */
#ifndef TESTS_SUPPORT_POPULATION_REFERENCE_H
#define TESTS_SUPPORT_POPULATION_REFERENCE_H

#include "algorithms/pa/pa_population.h"

/* The replicas of one run: channel[c][capacity], family[capacity], and parent[capacity] from the
 * last resampling. */
struct population_sample {
  size_t size, capacity, n_channels;
  int64_t *channel[GPUMC_CHANNELS_MAXIMUM];
  uint32_t *family, *parent;
};

void population_sample_init(struct population_sample *sample,
                            const struct pa_population_plan *plan);
void population_sample_free(struct population_sample *sample);
/* Puts every replica in its own family, with as many as the founders. */
void population_sample_found(struct population_sample *sample,
                             const struct pa_population_plan *plan);
/* Puts `size` replicas in random families, some of them large. */
void population_sample_families(struct population_sample *sample,
                                const struct pa_population_plan *plan, uint32_t run, size_t size);
/* Sets random values for the present replicas, within the plan's bounds and reaching them; energies
 * are on the plan's levels, if any. */
void population_sample_channels(struct population_sample *sample,
                                const struct pa_population_plan *plan, uint32_t run, uint32_t time);

/* An outcome with its own arrays. */
struct population_expected {
  struct pa_outcome found;
  uint64_t *block_weight;
  struct gpumc_moment_sums *sums[GPUMC_CHANNELS_MAXIMUM];
};

void population_expected_init(struct population_expected *expected,
                              const struct pa_population_plan *plan);
void population_expected_free(struct population_expected *expected);

/* Sets what pa_population_found leaves in the outcome. */
void population_expect_founding(struct population_expected *expected,
                                const struct pa_population_plan *plan);
void population_expect_tally(struct population_expected *expected,
                             const struct pa_population_plan *plan,
                             const struct population_sample *sample);
/* Adds 1 to bins[blocks][levels] for every replica. */
void population_expect_histogram(uint64_t *bins, const struct pa_population_plan *plan,
                                 const struct population_sample *sample);
/* Computes the families, parents and size; `run`: for the random numbers. */
void population_expect_resampling(struct population_expected *expected,
                                  const struct pa_population_plan *plan,
                                  const struct pa_resampling_request *request, uint32_t run,
                                  struct population_sample *sample);

#endif
