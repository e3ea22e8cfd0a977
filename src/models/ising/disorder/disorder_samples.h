/* The samples of an instance, behind disorder.h. */
#ifndef GPUMC_ISING_DISORDER_SAMPLES_H
#define GPUMC_ISING_DISORDER_SAMPLES_H

#include "models/ising/ising.h"

/* *disorder is NULL where the settings have none. Reads the file of ISING_FILE, and keeps some of
 * its samples; GPUMC_INVALID when it does not hold the requested samples. */
GPUMC_MUST_CHECK enum gpumc_status ising_samples_create(const struct ising_settings *settings,
                                                        struct ising_disorder **disorder,
                                                        struct gpumc_error *error);
/* What needs the quantum of the energy, which follows from the largest values: mean squares and
 * rounding of the values of a file. */
GPUMC_MUST_CHECK enum gpumc_status
ising_samples_complete(struct ising_disorder *disorder, double quantum, struct gpumc_error *error);
/* Legal on NULL. */
void ising_samples_free(struct ising_disorder *disorder);
/* As ising_disorder_traits, but field_width is an energy; all false for NULL. */
struct ising_disorder_traits ising_samples_traits(const struct ising_disorder *disorder);
/* No |J_ij| and no random |h_i| of any sample is larger. */
double ising_samples_largest_coupling(const struct ising_disorder *disorder);
double ising_samples_largest_field(const struct ising_disorder *disorder);
/* Means of J_ij^2 and of the square of a random field, over the samples there can be. */
double ising_samples_coupling_square(const struct ising_disorder *disorder);
double ising_samples_field_square(const struct ising_disorder *disorder);
/* Of the values of a file, couplings or fields, whichever is more: the mean of their relative
 * change when rounded to quanta, over those that are not 0. */
double ising_samples_rounding(const struct ising_disorder *disorder);
/* Samples from the first on: those of a file, or as many as have a number. */
size_t ising_samples_count(const struct ising_disorder *disorder);

#endif
