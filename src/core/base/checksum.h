/* A 64-bit checksum of a stream of bytes, to notice damage: torn writes, flipped bits, lost blocks.
 *
 * It is no defence against somebody who wants to deceive: collisions are easy to make on purpose. A
 * change confined to one aligned 8-byte word is always noticed, any other but once in 2^64. */
#ifndef GPUMC_CORE_CHECKSUM_H
#define GPUMC_CORE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

enum { GPUMC_CHECKSUM_LANES = 4, GPUMC_CHECKSUM_BLOCK = 8 * GPUMC_CHECKSUM_LANES };

/* `pending[n_pending]`: bytes that do not fill a block yet; n_pending = length mod block. */
struct gpumc_checksum {
  uint64_t lanes[GPUMC_CHECKSUM_LANES];
  uint64_t length;
  unsigned char pending[GPUMC_CHECKSUM_BLOCK];
};

void gpumc_checksum_begin(struct gpumc_checksum *checksum);
/* However the stream is cut into calls, the value is the same. */
void gpumc_checksum_add(struct gpumc_checksum *checksum, const void *bytes, size_t count);
/* The value of all bytes so far; more may follow. The same on every machine. */
uint64_t gpumc_checksum_value(const struct gpumc_checksum *checksum);

/* All in one. */
uint64_t gpumc_checksum_of(const void *bytes, size_t count);

#endif
