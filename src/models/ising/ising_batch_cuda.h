/* What all CUDA kernels are told about the replicas of a batch, their portable form and the
 * channels. */
#ifndef GPUMC_ISING_BATCH_CUDA_H
#define GPUMC_ISING_BATCH_CUDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/numerics/host_device.h"

/* See struct gpumc_ensemble. */
struct ising_batch {
  const uint32_t *size; /* [runs] replicas of each run, device memory */
  uint32_t runs;
  size_t capacity;         /* replicas of one run that there is room for */
  size_t expected;         /* replicas of one run, about */
  uint32_t key[2], rounds; /* of the first run's generator */
  uint32_t time;
  void *stream; /* cudaStream_t */
};

/* Replicas first .. first+count-1 of run `run` in portable form, or so many pieces of all its
 * replicas, one behind the other: replica[count][replica_bytes], device memory. */
struct ising_portable {
  uint32_t run;
  size_t first, count, replica_bytes;
  uint8_t *replica;
};

/* Arrays [runs][capacity] in device memory, NULL where not wanted; J and h in quanta, h the size of
 * random fields that are signs. */
struct ising_channels {
  int64_t *energy, *magnetization;
  double coupling, field;
};

GPUMC_HOST_DEVICE static inline bool ising_wanted(const struct ising_channels *channels)
{
  return channels->energy != NULL || channels->magnetization != NULL;
}

/* Parts of `part` that hold `count`. */
GPUMC_HOST_DEVICE static inline size_t ising_parts(size_t count, size_t part)
{
  return (count + part - 1) / part;
}

#endif
