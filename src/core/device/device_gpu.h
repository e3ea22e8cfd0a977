/* The GPUs that CUDA shows, the choice of one, and opening it. A build without CUDA shows none. */
#ifndef GPUMC_CORE_DEVICE_GPU_H
#define GPUMC_CORE_DEVICE_GPU_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/device/device.h"

enum { GPUMC_GPUS_MAXIMUM = 64 };

struct gpumc_gpu {
  char name[96];
  char identity[40]; /* of the card, or the part of one, on any host and for any process */
  int major, minor;  /* compute capability */
  int multiprocessors;
  size_t shared_bytes; /* that one block may have */
  double bytes;        /* of device memory in all */
};

struct gpumc_gpu_list {
  bool built;          /* the program was built with CUDA */
  int driver, runtime; /* CUDA versions, 1000 major + 10 minor; driver 0: there is none */
  char failure[160];   /* CUDA's own text where it shows no GPU */
  int count;
  struct gpumc_gpu gpu[GPUMC_GPUS_MAXIMUM];
};

/* What there is; makes no context on a GPU. */
void gpumc_gpus_find(struct gpumc_gpu_list *gpus);

/* How many of them kernels run on. */
int gpumc_gpus_usable(const struct gpumc_gpu_list *gpus);

/* The GPU of the process of that local rank of its host: those that kernels run on are taken in
 * turn by processes that see all of them, and a launcher may show each a single one. -1: none. */
int gpumc_gpus_in_turn(const struct gpumc_gpu_list *gpus, int local_rank);

/* The GPU of the name "cuda" (in turn) or "cuda:N". GPUMC_DEVICE with what was found when it is not
 * available. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_gpus_choose(const struct gpumc_gpu_list *gpus,
                                                     const char *name, int local_rank, int *index,
                                                     struct gpumc_error *error);

/* "13.0" into `text`, "none" for 0. Returns `text`. */
const char *gpumc_cuda_version_text(int version, char text[static 16]);

/* Of a GPU that is not here: a name, sizes, and `close`. Without CUDA the memory of scans is not
 * known, and counts as none. */
const struct gpumc_device_ops *gpumc_device_cuda_absent(void);
/* Its operations in either build: its memory is unknown, and there is nothing to close. */
static inline double gpumc_absent_available(const struct gpumc_device *device)
{
  (void)device;
  return (double)INFINITY;
}
static inline void gpumc_absent_close(struct gpumc_device *device)
{
  (void)device;
}

/* Bytes that are free on a GPU; makes a context on it. Negative where CUDA does not tell. */
double gpumc_gpu_available(int index);

/* Makes it the GPU of the calling thread. Fills all but `isa`, `threads` and `block_threads`. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_device_cuda_open(const struct gpumc_gpu_list *gpus,
                                                          int index, struct gpumc_device *device,
                                                          struct gpumc_error *error);

#endif
