/* The samples of an instance, behind ising_disorder.h. */
#ifndef GPUMC_ISING_SAMPLES_H
#define GPUMC_ISING_SAMPLES_H

#include "models/ising/ising.h"

/* *disorder is NULL where the settings have none. Reads the file of ISING_FILE. */
GPUMC_MUST_CHECK enum gpumc_status ising_samples_create(const struct ising_settings *settings,
                                                        struct ising_disorder **disorder,
                                                        struct gpumc_error *error);
/* Legal on NULL. */
void ising_samples_free(struct ising_disorder *disorder);
/* No |J_ij| and no random |h_i| of any sample is larger. */
double ising_samples_largest_coupling(const struct ising_disorder *disorder);
double ising_samples_largest_field(const struct ising_disorder *disorder);

#endif
