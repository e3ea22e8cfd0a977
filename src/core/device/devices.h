/* On which hosts and devices the processes of a divided run work. */
#ifndef GPUMC_CORE_DEVICES_H
#define GPUMC_CORE_DEVICES_H

#include "core/base/text.h"
#include "core/device/device.h"
#include "core/processes/processes.h"

/* Where one process works. */
struct gpumc_device_place {
  int32_t host; /* rank of its first process */
  char host_name[65];
  char device[12];       /* "cpu", "cuda:0" */
  char identity[40];     /* of a GPU; "" */
  char description[128]; /* of the device */
};

/* Of all processes in the order of their ranks. Zero-initialise. */
struct gpumc_devices {
  size_t count; /* 0: of one process */
  struct gpumc_device_place *of;
};

/* Of several processes, by all of them. GPUMC_FAILURE, in all, where memory ran out. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_devices_gather(const struct gpumc_processes *processes, const struct gpumc_device *device,
                     struct gpumc_devices *devices, struct gpumc_error *error);
/* Legal on a zeroed object; leaves it zeroed. */
void gpumc_devices_free(struct gpumc_devices *devices);

/* How many work on the GPU of process p; 1 on a CPU. */
size_t gpumc_devices_sharers(const struct gpumc_devices *devices, size_t p);
/* "2 processes of HOST share cuda:0 (NVIDIA H200, ...)", once for all GPUs that are shared; false
 * where none is. */
bool gpumc_devices_shared(const struct gpumc_devices *devices, struct gpumc_text *text);
/* "HOST cuda:0: NVIDIA H200, ...", a line for each process. */
void gpumc_devices_list(const struct gpumc_devices *devices, struct gpumc_text *text);

#endif
