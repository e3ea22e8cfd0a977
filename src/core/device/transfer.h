/* Exchanges numbers in device memory between processes: the operations of
 * core/processes/processes.h, enqueued in the order of the device's work.
 *
 * Between GPUs a module (NCCL) carries them if every process has a GPU of its own; otherwise they
 * go through the host, which waits for them. The bits are the same. The memory of a CPU device is
 * the host's own and is sent as it is. */
#ifndef GPUMC_CORE_TRANSFER_H
#define GPUMC_CORE_TRANSFER_H

#include "core/device/device.h"
#include "core/device/transfer_module.h"
#include "core/processes/processes.h"

struct gpumc_transfer {
  const struct gpumc_processes *processes;
  struct gpumc_device *device;
  struct gpumc_transfer_module module; /* ops is NULL if data goes through the host */
  struct gpumc_slot out, in;           /* a GPU's data on the host; grow as needed */
  size_t out_bytes, in_bytes;
  size_t *counts; /* [processes] */
  bool failed;    /* NCCL should have opened, but did not */
  char name[160]; /* "NCCL 2.28.3", "host copies: processes share a GPU" */
};

/* Returns the device's transfer. The first call opens it, by all processes together; it stays open
 * until the device is closed. GPUMC_FAILURE, in all, if memory runs out. With GPUMC_TRANSFERS=host
 * in the environment of any process, data goes through the host; with GPUMC_TRANSFERS=nccl the call
 * fails with GPUMC_DEVICE if NCCL cannot be used, as where device->sharers says that processes
 * share a GPU. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_transfer_of(struct gpumc_device *device, const struct gpumc_processes *processes,
                  struct gpumc_transfer **transfer, struct gpumc_error *error);
/* Legal on NULL. */
void gpumc_transfer_close(struct gpumc_transfer *transfer);

/* Returns the host memory taken by messages of `out` and `in` bytes, if they go through the host.
 */
size_t gpumc_transfer_host_bytes(const struct gpumc_device *device, size_t out, size_t in);

/* Gathers `bytes` bytes of each process into all[], one process after the other. A process's own
 * are already in place. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_transfer_gather(struct gpumc_transfer *transfer, void *all,
                                                         size_t bytes, struct gpumc_error *error);
/* Replaces each value by the largest over all processes. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_transfer_largest(struct gpumc_transfer *transfer,
                                                          uint64_t *values, size_t count,
                                                          struct gpumc_error *error);
/* Sends n_out[p] bytes to each process p and receives n_in[p] from it, in the order of the
 * processes. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_transfer_trade(struct gpumc_transfer *transfer, const void *out, const size_t *n_out,
                     void *in, const size_t *n_in, struct gpumc_error *error);

/* Returns the GPU memory that the module itself takes, with some room: more processes take more. */
size_t gpumc_transfer_device_bytes(const struct gpumc_device *device);
/* Returns how data is expected to move between processes, `on_a_gpu` of them on each GPU: "NCCL";
 * "NCCL, or host copies where processes share a GPU" if that number is unknown (0); or "host
 * copies". */
const char *gpumc_transfer_expected(int on_a_gpu);

#endif
