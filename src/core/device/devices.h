/* The hosts and devices that the processes of a divided run work on. */
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
  char identity[40];     /* of a GPU; "" otherwise */
  char description[128]; /* of the device */
};

/* The places of all processes in the order of their ranks. Zero-initialise. */
struct gpumc_devices {
  size_t count; /* 0: a single process */
  struct gpumc_device_place *of;
};

/* Gathers the places of several processes; collective. GPUMC_FAILURE, in all, if memory ran out. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_devices_gather(const struct gpumc_processes *processes, const struct gpumc_device *device,
                     struct gpumc_devices *devices, struct gpumc_error *error);
/* Legal on a zeroed object; leaves it zeroed. */
void gpumc_devices_free(struct gpumc_devices *devices);

/* Returns how many processes use the GPU of process p; 1 on a CPU. */
size_t gpumc_devices_sharers(const struct gpumc_devices *devices, size_t p);
/* Appends "2 processes of HOST share cuda:0 (NVIDIA H200, ...)", once for all shared GPUs; false if
 * none is shared. */
bool gpumc_devices_shared(const struct gpumc_devices *devices, struct gpumc_text *text);
/* Appends "HOST cuda:0: NVIDIA H200, ...", one line per process. */
void gpumc_devices_list(const struct gpumc_devices *devices, struct gpumc_text *text);

#endif
