/* What the multispin kernel keeps in device memory beside the replicas: disorder as words, tables
 * of waves, and the thresholds of every run's temperature. */
#ifndef GPUMC_ISING_MULTISPIN_TABLE_CUDA_H
#define GPUMC_ISING_MULTISPIN_TABLE_CUDA_H

#include "core/simulation/kernel.h"
#include "models/lattice/replicas_cuda.h"
#include "models/ising/multispin/multispin_cuda.h"

/* Places of the parts, in bytes from the beginning. Disorder comes in `sets`, for 32 samples each
 * or one for all; of a part that is not needed there are 0 words a set. */
struct ising_multispin_table {
  size_t sets, signs_words, turned_words;
  size_t signs, turned, cosine, sine, thresholds, bytes;
};

struct ising_multispin_table
ising_multispin_table_of(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan);

/* What the words of the disorder in `table` are. */
struct ising_multispin_disorder ising_multispin_disorder_of(const struct gpumc_ensemble *ensemble);

/* Draw the samples of the ensemble and bring them to the device, with the tables of the wave, whose
 * sums, of cosines and of sines, are handed out. The ensemble's storage is there. GPUMC_INVALID:
 * disorder that has no bits.
 */
GPUMC_MUST_CHECK enum gpumc_status ising_multispin_table_fill(const struct gpumc_ensemble *ensemble,
                                                              int64_t wave_sum[2],
                                                              struct gpumc_error *error);

#endif
