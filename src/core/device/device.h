/* A device behind one ops struct: memory, copies, and the data-parallel operations on populations
 * and on temperatures. Algorithms use nothing else, so that the same algorithm runs wholly on
 * whatever device it is given.
 *
 * Work of a device is done in the order of the calls that ask for it. On a GPU a call returns when
 * the work is enqueued on the device's stream; copies and `synchronize` wait for all that came
 * before, and report what went wrong in it. */
#ifndef GPUMC_CORE_DEVICE_H
#define GPUMC_CORE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "algorithms/pa/population.h"
#include "core/base/error.h"
#include "core/device/stages.h"
#include "core/numerics/isa.h"

struct gpumc_device;
struct gpumc_tempering_ops;

struct gpumc_device_ops {
  const char *name; /* "cpu", "cuda" */
  /* Zeroed device memory for `count` elements of `size` bytes; `what` names it in the message.
   * GPUMC_FAILURE, with *memory NULL, when count * size overflows or there is not so much. */
  GPUMC_MUST_CHECK enum gpumc_status (*allocate)(struct gpumc_device *device, size_t count,
                                                 size_t size, const char *what, void **memory,
                                                 struct gpumc_error *error);
  /* Legal on NULL. */
  void (*release)(struct gpumc_device *device, void *memory);
  GPUMC_MUST_CHECK enum gpumc_status (*copy_to_device)(struct gpumc_device *device, void *to,
                                                       const void *from, size_t bytes,
                                                       struct gpumc_error *error);
  GPUMC_MUST_CHECK enum gpumc_status (*copy_to_host)(struct gpumc_device *device, void *to,
                                                     const void *from, size_t bytes,
                                                     struct gpumc_error *error);
  GPUMC_MUST_CHECK enum gpumc_status (*synchronize)(struct gpumc_device *device,
                                                    struct gpumc_error *error);
  /* Bytes of device memory that can be taken at present. */
  double (*available)(const struct gpumc_device *device);
  /* From here on, what is asked for counts as `stage`. */
  void (*enter)(struct gpumc_device *device, enum gpumc_stage stage);
  /* Seconds spent in each stage since the device was opened; waits for all that is enqueued. */
  GPUMC_MUST_CHECK enum gpumc_status (*stage_seconds)(struct gpumc_device *device,
                                                      double seconds[GPUMC_STAGES],
                                                      struct gpumc_error *error);
  void (*close)(struct gpumc_device *device);
  const struct gpumc_population_ops *population;
  const struct gpumc_tempering_ops *tempering;
};

/* An open device. CPU: `threads` work for it, kernels of the level `isa` run. CUDA: the rest.
 * `isa` and `block_threads` are set by whoever opens the device. */
struct gpumc_device {
  const struct gpumc_device_ops *ops;
  int threads;
  enum gpumc_isa isa;
  int index;    /* of the GPU among those that CUDA shows */
  void *stream; /* cudaStream_t */
  int multiprocessors;
  size_t shared_bytes;              /* shared memory that one block may have */
  void *events;                     /* of the stages */
  struct gpumc_stopwatch stopwatch; /* of the CPU's stages */
  uint32_t block_threads; /* threads of a block; 0: each kernel's own choice. Decides no result */
  char description[128];  /* "AMD EPYC, 2 threads", "NVIDIA H200, 132 multiprocessors" */
};

/* Open what the configuration asks for: "cpu", "cuda", "cuda:N", or "auto": the first GPU where
 * there is one, else the CPU. `threads`: as for gpumc_threads_choose. GPUMC_DEVICE, naming
 * the devices that exist, if it is unavailable. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_device_open(const char *name, int threads,
                                                     struct gpumc_device *device,
                                                     struct gpumc_error *error);
/* A GPU that is not here, so that memory can be planned for it: it has nothing but its name, the
 * sizes of what it would hold, and `threads` of the host. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_device_open_absent(int threads, struct gpumc_device *device, struct gpumc_error *error);
/* Whether a name, "cuda:1", asks for a GPU, and this machine has none that CUDA shows. */
bool gpumc_device_is_absent(const char *name);
void gpumc_device_close(struct gpumc_device *device);

/* Typed front: gpumc_device_array(device, &pointer, count, "what", error). */
#define gpumc_device_array(device, pointer, count, what, error)                                    \
  (device)->ops->allocate((device), (count), sizeof **(pointer), (what), (void **)(pointer), error)

#endif
