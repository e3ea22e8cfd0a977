/* The seal of a file: its last 32 bytes, a checksum of everything before them.
 *
 * It is verified before any library parses the file, so damage to any byte, whether of numbers or
 * of the structure that holds them, is noticed first. HDF5 ignores bytes after its own end.
 *
 *     byte  size
 *        0    16  "gpumc-sealed-1" and two zeros
 *       16     8  bytes before the seal, little-endian
 *       24     4  CRC-32 (zlib's) of these bytes
 *       28     4  CRC-32 of the 28 bytes above
 */
#ifndef GPUMC_CORE_SEAL_H
#define GPUMC_CORE_SEAL_H

#include "core/base/error.h"

enum { GPUMC_SEAL_BYTES = 32 };

/* NONE: the file does not end in a seal. BROKEN: it does, and is not what was sealed. */
enum gpumc_seal { GPUMC_SEAL_NONE, GPUMC_SEAL_WHOLE, GPUMC_SEAL_BROKEN };

/* Appends the seal to a finished file that has none. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_seal_file(const char *path, struct gpumc_error *error);
/* Reads the whole file where it ends in a seal, and 32 bytes otherwise. GPUMC_FAILURE where it
 * cannot be read or is no regular file. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_seal_check(const char *path, enum gpumc_seal *seal, struct gpumc_error *error);

#endif
