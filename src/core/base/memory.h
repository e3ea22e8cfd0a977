/* Host memory: allocation that reports what was wanted. */
#ifndef GPUMC_CORE_MEMORY_H
#define GPUMC_CORE_MEMORY_H

#include <stddef.h>

#include "core/base/error.h"

/* Sets `*memory` to a zeroed array of `count` elements of `size` bytes, 64-byte aligned; release it
 * with free(). `what` names the array in the message ("energies of 20000 replicas"). GPUMC_FAILURE,
 * with *memory NULL, if count * size overflows or there is not enough memory. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_allocate(size_t count, size_t size, const char *what,
                                                  void **memory, struct gpumc_error *error);

/* Typed front: gpumc_allocate_array(&pointer, count, "what", error). */
#define gpumc_allocate_array(pointer, count, what, error)                                          \
  gpumc_allocate((count), sizeof **(pointer), (what), (void **)(pointer), (error))

/* Writes a byte count in binary units, "1.5 GiB", to `text`. Returns `text`. */
const char *gpumc_size_text(double bytes, char text[static 32]);

#endif
