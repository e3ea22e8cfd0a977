/* Samples of quenched disorder: whether an instance has as many as are asked for, whether a file
 * still has those that were read from it, and the seed of their simulation. */
#ifndef GPUMC_CORE_SAMPLES_H
#define GPUMC_CORE_SAMPLES_H

#include "core/simulation/model.h"

/* A mistake at the key `samples` where a model with disorder has fewer of them, as one that reads
 * them from a file; for the algorithm's `check_instance`. */
void gpumc_samples_check(const struct gpumc_params *params, const struct gpumc_model *model,
                         size_t samples, struct gpumc_report *report);

/* What the samples 0 .. samples - 1 of a model are known by that reads them from a file; 0 of
 * others.
 */
GPUMC_MUST_CHECK enum gpumc_status gpumc_samples_checksum(const struct gpumc_model *model,
                                                          size_t samples, uint64_t *checksum,
                                                          struct gpumc_error *error);

/* The seed of the random numbers that simulate the samples from `first` on: the task's for 0. Else
 * 48 bits of a Philox draw with the task's seed as key and `first` in the counter, since replicas
 * of one seed have the same random numbers whatever their samples are. */
uint64_t gpumc_samples_seed(uint64_t seed, size_t first);

#endif
