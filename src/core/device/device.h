/* A device behind one ops struct: memory, copies, publishing numbers to the host without waiting,
 * exact sums by group, prefix sums. Callers with device code of their own choose it by `kind`;
 * everything else is the same on every device.
 *
 * A device works in the order of the calls. On a GPU a call returns once its work is enqueued on
 * the device's stream; copies and `synchronize` wait for everything enqueued before them and report
 * what went wrong in it. */
#ifndef GPUMC_CORE_DEVICE_H
#define GPUMC_CORE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/base/machine.h"
#include "core/device/tally.h"
#include "core/numerics/isa.h"

/* The time that a device spends in each stage (core/base/machine.h): an algorithm says which stage
 * begins, and the device keeps the time, on a GPU by events on the stream, so that nothing waits.
 * This struct is for a device that works while the caller waits. */
struct gpumc_stopwatch {
  size_t stage;
  double begun; /* on the monotonic clock; 0: not started */
  double seconds[GPUMC_STAGES_MAXIMUM];
};

struct gpumc_device;
struct gpumc_processes;
struct gpumc_transfer;

enum gpumc_device_kind { GPUMC_KIND_CPU, GPUMC_KIND_CUDA, GPUMC_KINDS };

/* Host memory to which device memory is published; with two slots, one can be read while the other
 * is in transit. */
enum { GPUMC_SLOTS = 2 };

struct gpumc_slot {
  void *memory;  /* valid after `collect`, until the slot is published again */
  void *arrived; /* cudaEvent_t; NULL on the CPU */
};

struct gpumc_device_ops {
  const char *name; /* "cpu", "cuda" */
  enum gpumc_device_kind kind;
  /* Allocates zeroed device memory for `count` elements of `size` bytes; `what` names it in the
   * message. GPUMC_FAILURE, with *memory NULL, if count * size overflows or there is not enough
   * memory. */
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
  /* Sets each of `bytes` bytes of device memory to `byte`. */
  GPUMC_MUST_CHECK enum gpumc_status (*fill)(struct gpumc_device *device, void *memory, int byte,
                                             size_t bytes, struct gpumc_error *error);
  /* Creates a slot of `bytes` bytes; `what` names it in the message. Free is legal on a zeroed slot
   * and leaves it zeroed; it waits for transfers in progress. */
  GPUMC_MUST_CHECK enum gpumc_status (*slot_create)(struct gpumc_device *device, size_t bytes,
                                                    const char *what, struct gpumc_slot *slot,
                                                    struct gpumc_error *error);
  void (*slot_free)(struct gpumc_device *device, struct gpumc_slot *slot);
  /* Starts a copy of device memory into a slot; `collect` waits for it, and for nothing that was
   * enqueued later. */
  GPUMC_MUST_CHECK enum gpumc_status (*publish)(struct gpumc_device *device,
                                                struct gpumc_slot *slot, const void *from,
                                                size_t bytes, struct gpumc_error *error);
  GPUMC_MUST_CHECK enum gpumc_status (*collect)(struct gpumc_device *device,
                                                const struct gpumc_slot *slot,
                                                struct gpumc_error *error);
  /* Starts a copy of a slot's memory to the device; the slot may be changed after `collect`. */
  GPUMC_MUST_CHECK enum gpumc_status (*deliver)(struct gpumc_device *device,
                                                struct gpumc_slot *slot, void *to, size_t bytes,
                                                struct gpumc_error *error);
  /* Adds to the sums of every run (core/device/tally.h). */
  GPUMC_MUST_CHECK enum gpumc_status (*tally)(struct gpumc_device *device,
                                              const struct gpumc_tally *tally,
                                              const struct gpumc_tally_values *values,
                                              struct gpumc_error *error);
  /* Replaces every element by the sum, modulo 2^64, of those before it, plus itself if `inclusive`.
   * `memory`: scan_bytes(count) of device memory. */
  size_t (*scan_bytes)(size_t count);
  GPUMC_MUST_CHECK enum gpumc_status (*scan)(struct gpumc_device *device, uint64_t *value,
                                             size_t count, bool inclusive, void *memory,
                                             struct gpumc_error *error);
  /* Returns the bytes of device memory that are available at present. */
  double (*available)(const struct gpumc_device *device);
  /* From here on, counts work as `stage` < GPUMC_STAGES_MAXIMUM, and likewise the messages of the
   * processes among which the device was opened. */
  void (*enter)(struct gpumc_device *device, size_t stage);
  /* Marks the work enqueued from here on as a transfer to other processes (transfer.h), or ends
   * that; it still counts for the stage. NULL: the host does such work. */
  void (*mark_transfer)(struct gpumc_device *device, bool begins);
  /* Returns the seconds spent in each stage since the device was opened and, unless NULL, roughly
   * how many of them in transfers; waits for everything enqueued. */
  GPUMC_MUST_CHECK enum gpumc_status (*stage_seconds)(struct gpumc_device *device,
                                                      double seconds[GPUMC_STAGES_MAXIMUM],
                                                      double transfers[GPUMC_STAGES_MAXIMUM],
                                                      struct gpumc_error *error);
  void (*close)(struct gpumc_device *device);
};

/* An open device. CPU: it uses `threads` threads and kernels of the level `isa`. CUDA: it uses the
 * other fields. `isa`, `block_threads` and `sharers` are set by whoever opens the device. */
struct gpumc_device {
  const struct gpumc_device_ops *ops;
  int threads;
  enum gpumc_isa isa;
  int index;                               /* number of the GPU among those that CUDA shows */
  void *stream;                            /* cudaStream_t */
  const struct gpumc_processes *processes; /* that follow its stages; NULL: none */
  int sharers; /* processes that use this GPU (devices.h); 0: only this one */
  int multiprocessors;
  size_t shared_bytes;              /* shared memory that one block may have */
  void *events;                     /* of its stages */
  void *beside;                     /* background threads (beside_gpu.h); NULL: none */
  struct gpumc_stopwatch stopwatch; /* for the stages of a CPU */
  struct gpumc_transfer *transfer;  /* transfers to other processes (transfer.h); NULL: none yet */
  uint32_t block_threads; /* threads of a block; 0: each kernel's own choice. Does not affect
                           * results */
  char description[128];  /* "AMD EPYC, 2 threads", "NVIDIA H200, 132 multiprocessors" */
};

/* Opens the device that the configuration asks for: "cpu", "cuda", "cuda:N", or "auto": the first
 * GPU if there is one, else the CPU. `threads`: as for gpumc_threads_choose, with all processors.
 * GPUMC_DEVICE, naming the devices that exist, if it is unavailable. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_device_open(const char *name, int threads,
                                                     struct gpumc_device *device,
                                                     struct gpumc_error *error);
/* The same for one of several processes: if the name has no number, those of a host take its GPUs
 * in turn, by their local ranks; they divide its processors as processes->processors says. The
 * processes outlive the device. NULL: a single process. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_device_open_among(const char *name, int threads, const struct gpumc_processes *processes,
                        struct gpumc_device *device, struct gpumc_error *error);
/* Opens a GPU that is not here, to plan memory for it: it has only a name, the sizes of its
 * contents, and `threads` of the host, as for gpumc_device_open_among. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_device_open_absent(int threads, const struct gpumc_processes *processes,
                         struct gpumc_device *device, struct gpumc_error *error);
/* Returns whether a name, "cuda:1", asks for a GPU although CUDA shows none on this machine. */
bool gpumc_device_is_absent(const char *name);
void gpumc_device_close(struct gpumc_device *device);

/* Creates GPUMC_SLOTS zeroed slots of `bytes` bytes; frees them all if one fails. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_slots_create(struct gpumc_device *device, size_t bytes, const char *what,
                   struct gpumc_slot slot[GPUMC_SLOTS], struct gpumc_error *error);
void gpumc_slots_free(struct gpumc_device *device, struct gpumc_slot slot[GPUMC_SLOTS]);
/* Returns the device memory they take (on a CPU that is the host's) and the host memory beside
 * it. */
size_t gpumc_slots_device_bytes(const struct gpumc_device *device, size_t bytes);
size_t gpumc_slots_host_bytes(const struct gpumc_device *device, size_t bytes);

/* Divides loops of the CPU over runs and over the replicas of a run: many runs are shared out among
 * the threads; if there are few, all threads work on each. Returns the threads of the loop over
 * runs. */
static inline int gpumc_threads_outside(const struct gpumc_device *device, size_t runs)
{
  return runs >= (size_t)device->threads ? device->threads : 1;
}

/* Typed front: gpumc_device_array(device, &pointer, count, "what", error). */
#define gpumc_device_array(device, pointer, count, what, error)                                    \
  (device)->ops->allocate((device), (count), sizeof **(pointer), (what), (void **)(pointer), error)

#endif
