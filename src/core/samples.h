/* Samples of quenched disorder: what every algorithm with a key `samples` asks of an instance. */
#ifndef GPUMC_CORE_SAMPLES_H
#define GPUMC_CORE_SAMPLES_H

#include "core/model.h"

/* A mistake at the key `samples` where a model with disorder has fewer of them, as one that reads
 * them from a file; for the algorithm's `check_instance`. */
void gpumc_samples_check(const struct gpumc_params *params, const struct gpumc_model *model,
                         size_t samples, struct gpumc_report *report);

#endif
