/* Lists the GPUs that CUDA shows, chooses one, and opens it. A build without CUDA shows none. */
#ifndef GPUMC_CORE_DEVICE_GPU_H
#define GPUMC_CORE_DEVICE_GPU_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/device/device.h"

enum { GPUMC_GPUS_MAXIMUM = 64 };

struct gpumc_gpu {
  char name[96];
  char identity[40]; /* of the card, or of a part of one, unique across hosts and processes */
  int major, minor;  /* compute capability */
  int multiprocessors;
  size_t shared_bytes; /* available to one block */
  double bytes;        /* total device memory */
};

struct gpumc_gpu_list {
  bool built;          /* the program was built with CUDA */
  int driver, runtime; /* CUDA versions, 1000 major + 10 minor; driver 0: no driver */
  char failure[160];   /* CUDA's own message if it shows no GPU */
  int count;
  struct gpumc_gpu gpu[GPUMC_GPUS_MAXIMUM];
};

/* Finds the GPUs; creates no context on them. */
void gpumc_gpus_find(struct gpumc_gpu_list *gpus);

/* Returns how many of them can run kernels. */
int gpumc_gpus_usable(const struct gpumc_gpu_list *gpus);

/* Returns the GPU for the process with that local rank on its host: usable GPUs are taken in turn
 * by processes that see all of them, but a launcher may show each process a single one. -1:
 * none. */
int gpumc_gpus_in_turn(const struct gpumc_gpu_list *gpus, int local_rank);

/* Chooses the GPU named "cuda" (in turn) or "cuda:N". GPUMC_DEVICE, with a list of what was found,
 * if it is not available. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_gpus_choose(const struct gpumc_gpu_list *gpus,
                                                     const char *name, int local_rank, int *index,
                                                     struct gpumc_error *error);

/* Writes "13.0" to `text`, "none" for 0. Returns `text`. */
const char *gpumc_cuda_version_text(int version, char text[static 16]);

/* Returns the operations of a GPU that is not here: a name, sizes, and `close`. Without CUDA the
 * memory of scans is unknown and counts as none. */
const struct gpumc_device_ops *gpumc_device_cuda_absent(void);
/* Operations that both builds share: its memory is unknown, and there is nothing to close. */
static inline double gpumc_absent_available(const struct gpumc_device *device)
{
  (void)device;
  return (double)INFINITY;
}
static inline void gpumc_absent_close(struct gpumc_device *device)
{
  (void)device;
}

/* Returns the free bytes on a GPU; creates a context on it. Negative if CUDA does not say. */
double gpumc_gpu_available(int index);

/* Makes it the GPU of the calling thread. Fills in all fields except `isa`, `threads` and
 * `block_threads`. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_device_cuda_open(const struct gpumc_gpu_list *gpus,
                                                          int index, struct gpumc_device *device,
                                                          struct gpumc_error *error);

#endif
