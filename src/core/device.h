/* A device behind one ops struct: memory, copies, and the data-parallel operations on a population.
 * Algorithms use nothing else, so that the same algorithm runs wholly on whatever device it is
 * given. */
#ifndef GPUMC_CORE_DEVICE_H
#define GPUMC_CORE_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/isa.h"
#include "core/population.h"

struct gpumc_device;

struct gpumc_device_ops {
  const char *name; /* "cpu" */
  /* Zeroed device memory for `count` elements of `size` bytes; `what` names it in the message.
   * GPUMC_FAILURE, with *memory NULL, when count * size overflows or there is not so much. */
  GPUMC_MUST_CHECK enum gpumc_status (*allocate)(struct gpumc_device *device, size_t count,
                                                 size_t size, const char *what, void **memory,
                                                 struct gpumc_error *error);
  void (*release)(struct gpumc_device *device, void *memory);
  GPUMC_MUST_CHECK enum gpumc_status (*copy_to_device)(struct gpumc_device *device, void *to,
                                                       const void *from, size_t bytes,
                                                       struct gpumc_error *error);
  GPUMC_MUST_CHECK enum gpumc_status (*copy_to_host)(struct gpumc_device *device, void *to,
                                                     const void *from, size_t bytes,
                                                     struct gpumc_error *error);
  const struct gpumc_population_ops *population;
};

/* An open device. `threads`: host threads that work for it (CPU). `isa`: the level whose kernels
 * run (CPU), set by whoever opens the device. */
struct gpumc_device {
  const struct gpumc_device_ops *ops;
  int threads;
  enum gpumc_isa isa;
  char description[128]; /* "AMD EPYC, 2 threads" */
};

/* Open what the configuration asks for: "auto", "cpu", "cuda", "cuda:N". `threads`: 0 for all.
 * GPUMC_DEVICE, saying what there is, when it is not to be had. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_device_open(const char *name, int threads,
                                                     struct gpumc_device *device,
                                                     struct gpumc_error *error);
void gpumc_device_close(struct gpumc_device *device);

/* Typed front: gpumc_device_array(device, &pointer, count, "what", error). */
#define gpumc_device_array(device, pointer, count, what, error)                                    \
  (device)->ops->allocate((device), (count), sizeof **(pointer), (what), (void **)(pointer), error)

#endif
