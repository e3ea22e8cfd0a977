/* The replicas of an ensemble, in portable form, and the state of its generators to and from a
 * checkpoint. */
#ifndef GPUMC_CORE_ENSEMBLE_CHECKPOINT_H
#define GPUMC_CORE_ENSEMBLE_CHECKPOINT_H

#include "core/simulation/kernel.h"
#include "core/storage/checkpoint.h"

/* Host memory that replicas take on their way, of runs of at most `capacity` replicas each. */
double gpumc_ensemble_checkpoint_bytes(const struct gpumc_model *model, size_t capacity);

/* Of all runs of the batch; nothing where there is none. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_ensemble_save(struct gpumc_ensemble *ensemble,
                                                       struct gpumc_checkpoint_writer *writer,
                                                       struct gpumc_error *error);
/* Into an ensemble whose `runs` is already that of the checkpoint. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_ensemble_load(struct gpumc_ensemble *ensemble,
                                                       struct gpumc_checkpoint_reader *reader,
                                                       struct gpumc_error *error);

#endif
