/* A 64-bit checksum of a stream of bytes, to notice damage: torn writes, flipped bits, lost blocks.
 *
 * It does not protect against deliberate tampering: collisions are easy to construct. A change
 * confined to one aligned 8-byte word is always noticed; any other change goes unnoticed once in
 * 2^64. */
#ifndef GPUMC_CORE_CHECKSUM_H
#define GPUMC_CORE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

enum { GPUMC_CHECKSUM_LANES = 4, GPUMC_CHECKSUM_BLOCK = 8 * GPUMC_CHECKSUM_LANES };

/* `pending[n_pending]`: bytes that do not fill a block yet; n_pending = length mod block. */
struct gpumc_checksum {
  uint64_t lanes[GPUMC_CHECKSUM_LANES];
  uint64_t length;
  unsigned char pending[GPUMC_CHECKSUM_BLOCK];
};

void gpumc_checksum_begin(struct gpumc_checksum *checksum);
/* Adds bytes to the stream; the value does not depend on how the stream is cut into calls. */
void gpumc_checksum_add(struct gpumc_checksum *checksum, const void *bytes, size_t count);
/* Returns the value of all bytes so far; more may follow. It is the same on every machine. */
uint64_t gpumc_checksum_value(const struct gpumc_checksum *checksum);

/* Returns the checksum of `count` bytes in a single call. */
uint64_t gpumc_checksum_of(const void *bytes, size_t count);

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

enum { GPUMC_SEAL_BYTES = 32 };

/* NONE: the file does not end in a seal. BROKEN: it does, but the contents are not those that were
 * sealed. */
enum gpumc_seal { GPUMC_SEAL_NONE, GPUMC_SEAL_WHOLE, GPUMC_SEAL_BROKEN };

/* Appends the seal to a finished file that has none. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_seal_file(const char *path, struct gpumc_error *error);
/* Reads the whole file if it ends in a seal, otherwise 32 bytes. GPUMC_FAILURE if it cannot be read
 * or is not a regular file. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_seal_check(const char *path, enum gpumc_seal *seal, struct gpumc_error *error);

#endif
