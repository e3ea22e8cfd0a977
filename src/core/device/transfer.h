/* What processes tell each other of numbers in device memory: operations as those of
 * core/processes/processes.h, enqueued in the order of the device's work.
 *
 * Between GPUs they go by a module (NCCL) where every process has a GPU of its own, and by way of
 * the host where not, which waits for them; the bits are the same. Memory of a CPU's device is the
 * host's, and goes as it is. */
#ifndef GPUMC_CORE_TRANSFER_H
#define GPUMC_CORE_TRANSFER_H

#include "core/device/device.h"
#include "core/device/transfer_module.h"
#include "core/processes/processes.h"

struct gpumc_transfer {
  const struct gpumc_processes *processes;
  struct gpumc_device *device;
  struct gpumc_transfer_module module; /* ops: NULL, by way of the host */
  struct gpumc_slot out, in;           /* of a GPU, its numbers on the host; grow as needed */
  size_t out_bytes, in_bytes;
  size_t *counts; /* [processes] */
  bool failed;    /* NCCL could not be opened, for a reason that should not be */
  char name[160]; /* "NCCL 2.28.3", "host copies: processes share a GPU" */
};

/* That of the device, which is opened at the first call and stays open until the device is closed.
 * By all processes. GPUMC_FAILURE, in all, where memory ran out. With GPUMC_TRANSFERS=host in the
 * environment of one, all go by way of the host; with nccl GPUMC_DEVICE where they cannot go by
 * that. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_transfer_of(struct gpumc_device *device, const struct gpumc_processes *processes,
                  struct gpumc_transfer **transfer, struct gpumc_error *error);
/* Legal on NULL. */
void gpumc_transfer_close(struct gpumc_transfer *transfer);

/* Host memory beside what is sent, where it goes by way of the host, of messages of so many bytes
 * out and in. */
size_t gpumc_transfer_host_bytes(const struct gpumc_device *device, size_t out, size_t in);

/* `bytes` of each process, one process after the other in all[], where its own are already. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_transfer_gather(struct gpumc_transfer *transfer, void *all,
                                                         size_t bytes, struct gpumc_error *error);
/* In place, the largest of each over all processes. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_transfer_largest(struct gpumc_transfer *transfer,
                                                          uint64_t *values, size_t count,
                                                          struct gpumc_error *error);
/* n_out[p] bytes to each process p, in the order of processes, and n_in[p] from it. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_transfer_trade(struct gpumc_transfer *transfer, const void *out, const size_t *n_out,
                     void *in, const size_t *n_in, struct gpumc_error *error);

/* Device memory of a GPU that a module takes for itself, with some room: more processes take more.
 */
size_t gpumc_transfer_device_bytes(const struct gpumc_device *device);
/* What is to be expected of processes with so many on a GPU, if they have anything to tell: "NCCL",
 * "NCCL, or host copies where processes share a GPU" where that number is unknown (0), "host
 * copies". */
const char *gpumc_transfer_expected(int on_a_gpu);

#endif
