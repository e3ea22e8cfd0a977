/* Samples of the disorder as cluster moves read them: by site, in quanta. */
#ifndef GPUMC_ISING_CLUSTER_SAMPLES_H
#define GPUMC_ISING_CLUSTER_SAMPLES_H

#include "core/simulation/model.h"

/* Returns the numbers of a sample: [dimension][sites] couplings, and its fields after them if
 * there are random ones; 0: couplings and fields are uniform. */
size_t ising_cluster_sample_terms(const struct gpumc_model *model);
/* Writes terms[ising_cluster_sample_terms], host memory, of sample `number` of the whole. */
GPUMC_MUST_CHECK enum gpumc_status ising_cluster_sample(const struct gpumc_model *model,
                                                        size_t number, int32_t *terms,
                                                        struct gpumc_error *error);

#endif
