/* A device behind one ops struct: memory, copies, numbers on their way to the host without waiting,
 * exact sums by group, prefix sums. Whoever has device code of its own chooses it by `kind`; all
 * else is the same on every device.
 *
 * Work of a device is done in the order of the calls that ask for it. On a GPU a call returns when
 * the work is enqueued on the device's stream; copies and `synchronize` wait for all that came
 * before, and report what went wrong in it. */
#ifndef GPUMC_CORE_DEVICE_H
#define GPUMC_CORE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/base/machine.h"
#include "core/device/tally.h"
#include "core/numerics/isa.h"

/* What a device spends its time on, by stages (core/base/machine.h): an algorithm says which stage
 * begins, and the device keeps the time, on a GPU by events on the stream, so that nothing waits.
 * This is for a device that works while the caller waits. */
struct gpumc_stopwatch {
  size_t stage;
  double begun; /* on the monotonic clock; 0: not yet */
  double seconds[GPUMC_STAGES_MAXIMUM];
};

struct gpumc_device;
struct gpumc_processes;
struct gpumc_transfer;

enum gpumc_device_kind { GPUMC_KIND_CPU, GPUMC_KIND_CUDA, GPUMC_KINDS };

/* A piece of host memory to which device memory is published; with two of them, one can be read
 * while the other is on its way. */
enum { GPUMC_SLOTS = 2 };

struct gpumc_slot {
  void *memory;  /* valid after `collect`, until the slot is published again */
  void *arrived; /* cudaEvent_t; NULL on the CPU */
};

struct gpumc_device_ops {
  const char *name; /* "cpu", "cuda" */
  enum gpumc_device_kind kind;
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
  /* Every one of `bytes` bytes of device memory becomes `byte`. */
  GPUMC_MUST_CHECK enum gpumc_status (*fill)(struct gpumc_device *device, void *memory, int byte,
                                             size_t bytes, struct gpumc_error *error);
  /* A slot of so many bytes; `what` names it in the message. Free is legal on a zeroed slot and
   * leaves it zeroed; it waits for what is on its way. */
  GPUMC_MUST_CHECK enum gpumc_status (*slot_create)(struct gpumc_device *device, size_t bytes,
                                                    const char *what, struct gpumc_slot *slot,
                                                    struct gpumc_error *error);
  void (*slot_free)(struct gpumc_device *device, struct gpumc_slot *slot);
  /* Begin to bring device memory into a slot; then wait for it, and for nothing that was enqueued
   * later. */
  GPUMC_MUST_CHECK enum gpumc_status (*publish)(struct gpumc_device *device,
                                                struct gpumc_slot *slot, const void *from,
                                                size_t bytes, struct gpumc_error *error);
  GPUMC_MUST_CHECK enum gpumc_status (*collect)(struct gpumc_device *device,
                                                const struct gpumc_slot *slot,
                                                struct gpumc_error *error);
  /* Begin to bring a slot's memory to the device; it may be changed after `collect`. */
  GPUMC_MUST_CHECK enum gpumc_status (*deliver)(struct gpumc_device *device,
                                                struct gpumc_slot *slot, void *to, size_t bytes,
                                                struct gpumc_error *error);
  /* Add to the sums of every run (core/device/tally.h). */
  GPUMC_MUST_CHECK enum gpumc_status (*tally)(struct gpumc_device *device,
                                              const struct gpumc_tally *tally,
                                              const struct gpumc_tally_values *values,
                                              struct gpumc_error *error);
  /* Every element becomes the sum, modulo 2^64, of those before it, and of itself if `inclusive`.
   * `memory`: scan_bytes(count) of device memory. */
  size_t (*scan_bytes)(size_t count);
  GPUMC_MUST_CHECK enum gpumc_status (*scan)(struct gpumc_device *device, uint64_t *value,
                                             size_t count, bool inclusive, void *memory,
                                             struct gpumc_error *error);
  /* Bytes of device memory that can be taken at present. */
  double (*available)(const struct gpumc_device *device);
  /* From here on, work counts as `stage` < GPUMC_STAGES_MAXIMUM, and so do the messages of the
   * processes among which the device was opened. */
  void (*enter)(struct gpumc_device *device, size_t stage);
  /* What is enqueued from here on is a transfer to other processes (transfer.h), or no longer, and
   * counts for the stage all the same. NULL: such work is done by the host. */
  void (*mark_transfer)(struct gpumc_device *device, bool begins);
  /* Seconds spent in each stage since the device was opened, and of these about how many in
   * transfers, which may be NULL; waits for all that is enqueued. */
  GPUMC_MUST_CHECK enum gpumc_status (*stage_seconds)(struct gpumc_device *device,
                                                      double seconds[GPUMC_STAGES_MAXIMUM],
                                                      double transfers[GPUMC_STAGES_MAXIMUM],
                                                      struct gpumc_error *error);
  void (*close)(struct gpumc_device *device);
};

/* An open device. CPU: `threads` work for it, kernels of the level `isa` run. CUDA: the rest.
 * `isa`, `block_threads` and `sharers` are set by whoever opens the device. */
struct gpumc_device {
  const struct gpumc_device_ops *ops;
  int threads;
  enum gpumc_isa isa;
  int index;                               /* of the GPU among those that CUDA shows */
  void *stream;                            /* cudaStream_t */
  const struct gpumc_processes *processes; /* that are told of its stages; NULL: none */
  int sharers; /* processes that work on this GPU (devices.h); 0: this one alone */
  int multiprocessors;
  size_t shared_bytes;              /* shared memory that one block may have */
  void *events;                     /* of the stages */
  struct gpumc_stopwatch stopwatch; /* of the CPU's stages */
  struct gpumc_transfer *transfer;  /* to those of other processes (transfer.h); NULL: none yet */
  uint32_t block_threads; /* threads of a block; 0: each kernel's own choice. Decides no result */
  char description[128];  /* "AMD EPYC, 2 threads", "NVIDIA H200, 132 multiprocessors" */
};

/* Open what the configuration asks for: "cpu", "cuda", "cuda:N", or "auto": the first GPU where
 * there is one, else the CPU. `threads`: as for gpumc_threads_choose, of all processors.
 * GPUMC_DEVICE, naming the devices that exist, if it is unavailable. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_device_open(const char *name, int threads,
                                                     struct gpumc_device *device,
                                                     struct gpumc_error *error);
/* The same for one of several processes: those of a host take its GPUs in turn, by their local
 * ranks, where the name has no number, and its processors as processes->processors has them. They
 * outlive the device. NULL: alone. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_device_open_among(const char *name, int threads, const struct gpumc_processes *processes,
                        struct gpumc_device *device, struct gpumc_error *error);
/* A GPU that is not here, so that memory can be planned for it: it has nothing but its name, the
 * sizes of what it would hold, and `threads` of the host, as for gpumc_device_open_among. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_device_open_absent(int threads, const struct gpumc_processes *processes,
                         struct gpumc_device *device, struct gpumc_error *error);
/* Whether a name, "cuda:1", asks for a GPU, and this machine has none that CUDA shows. */
bool gpumc_device_is_absent(const char *name);
void gpumc_device_close(struct gpumc_device *device);

/* Slots of `bytes` bytes, GPUMC_SLOTS of them: zeroed, then created, or freed if one failed. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_slots_create(struct gpumc_device *device, size_t bytes, const char *what,
                   struct gpumc_slot slot[GPUMC_SLOTS], struct gpumc_error *error);
void gpumc_slots_free(struct gpumc_device *device, struct gpumc_slot slot[GPUMC_SLOTS]);
/* What they take of device memory, which on a CPU is the host's, and of host memory beside it. */
size_t gpumc_slots_device_bytes(const struct gpumc_device *device, size_t bytes);
size_t gpumc_slots_host_bytes(const struct gpumc_device *device, size_t bytes);

/* For loops of the CPU over runs and over the replicas of a run: many runs are shared out among the
 * threads; of few, each is worked on by all threads. Returns the threads of the loop over runs. */
static inline int gpumc_threads_outside(const struct gpumc_device *device, size_t runs)
{
  return runs >= (size_t)device->threads ? device->threads : 1;
}

/* Typed front: gpumc_device_array(device, &pointer, count, "what", error). */
#define gpumc_device_array(device, pointer, count, what, error)                                    \
  (device)->ops->allocate((device), (count), sizeof **(pointer), (what), (void **)(pointer), error)

#endif
