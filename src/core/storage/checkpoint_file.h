/* The outer shell of a checkpoint file, and what its writer and reader share.
 *
 * The first 512 bytes are an HDF5 user block; numbers little-endian:
 *   0   16  "gpumc-checkpoint", without a final NUL
 *   16   4  format version
 *   20   4  size of this block, 512
 *   24   8  size of the whole file in bytes
 *   32   8  checksum of the bytes 512 .. size - 1
 *   40 464  zero
 *   504  8  checksum of the bytes 0 .. 503 */
#ifndef GPUMC_CORE_CHECKPOINT_FILE_H
#define GPUMC_CORE_CHECKPOINT_FILE_H

#include "core/storage/checkpoint.h"
#include "core/storage/hdf5_file.h"

enum { GPUMC_CHECKPOINT_BLOCK = 512 };
/* What the user block begins with, of a file that is just being written too. */
#define GPUMC_CHECKPOINT_MARK "gpumc-checkpoint"

struct gpumc_checkpoint_element {
  const char *name; /* "float64" */
  size_t size;      /* bytes */
  hid_t stored, native;
};
struct gpumc_checkpoint_element gpumc_checkpoint_element(enum gpumc_element element);

/* Fill in the user block of a closed file and bring it all to the disk. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_checkpoint_seal(const char *path, struct gpumc_error *error);
enum gpumc_checkpoint_extent { GPUMC_CHECKPOINT_HEAD, GPUMC_CHECKPOINT_WHOLE };
/* Check user block, length, and of the WHOLE file the checksum, without HDF5. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_checkpoint_verify(const char *path,
                                                           enum gpumc_checkpoint_extent extent,
                                                           struct gpumc_error *error);

#endif
