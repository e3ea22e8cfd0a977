/* Inside checkpoint: the user block before the HDF5 file, which seals it. */
#ifndef GPUMC_CORE_CHECKPOINT_SEAL_H
#define GPUMC_CORE_CHECKPOINT_SEAL_H

#include "core/storage/checkpoint.h"

enum { GPUMC_CHECKPOINT_BLOCK_BYTES = 512 };

/* What is verified: the user block and the length of the file, or the checksum as well. */
enum gpumc_checkpoint_extent { GPUMC_CHECKPOINT_HEAD, GPUMC_CHECKPOINT_WHOLE };
GPUMC_MUST_CHECK enum gpumc_status gpumc_checkpoint_verify(const char *path,
                                                           enum gpumc_checkpoint_extent extent,
                                                           struct gpumc_error *error);

#endif
