/* Opens devices by name, and finds the GPU that a name means. */
#include "core/device/device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "core/base/machine.h"
#include "core/config/params.h"
#include "core/device/device_cpu.h"
#include "core/device/device_gpu.h"
#include "core/device/transfer.h"
#include "core/processes/processes.h"

enum { CAPABILITY_MINIMUM = 8 }; /* compute capability 8.0, the oldest supported */

static bool is_usable(const struct gpumc_gpu *gpu)
{
  return gpu->major >= CAPABILITY_MINIMUM;
}

int gpumc_gpus_usable(const struct gpumc_gpu_list *gpus)
{
  int usable = 0;
  for (int i = 0; i < gpus->count; i++)
    usable += is_usable(&gpus->gpu[i]);
  return usable;
}

int gpumc_gpus_in_turn(const struct gpumc_gpu_list *gpus, int local_rank)
{
  const int usable = gpumc_gpus_usable(gpus);
  int before = usable > 0 ? local_rank % usable : 0; /* among the usable ones */
  for (int i = 0; i < gpus->count; i++)
    if (is_usable(&gpus->gpu[i]) && before-- == 0)
      return i;
  return -1;
}

const char *gpumc_cuda_version_text(int version, char text[static 16])
{
  if (version == 0)
    snprintf(text, 16, "none");
  else
    snprintf(text, 16, "%d.%d", version / 1000, version % 1000 / 10);
  return text;
}

/* 0: all. */
static int processors_of(const struct gpumc_processes *processes)
{
  return processes != NULL ? processes->processors : 0;
}

/* There is no GPU at all. */
static enum gpumc_status
refuse_all(const struct gpumc_gpu_list *gpus, const char *name, struct gpumc_error *error)
{
  char driver[16], runtime[16];
  if (!gpus->built)
    return gpumc_error_set(
        error, GPUMC_DEVICE,
        "device %s: this gpumc was built without CUDA; use the device cpu, or build "
        "gpumc with a CUDA toolkit and -DGPUMC_CUDA=ON",
        name);
  if (gpus->driver == 0)
    return gpumc_error_set(
        error, GPUMC_DEVICE,
        "device %s: no NVIDIA driver was found on this machine (%s); use the device cpu", name,
        gpus->failure);
  if (gpus->driver / 1000 < gpus->runtime / 1000)
    return gpumc_error_set(
        error, GPUMC_DEVICE,
        "device %s: the NVIDIA driver supports CUDA %s, but this gpumc needs %s (%s): update the "
        "driver, build with an older toolkit, or use the device cpu",
        name, gpumc_cuda_version_text(gpus->driver, driver),
        gpumc_cuda_version_text(gpus->runtime, runtime), gpus->failure);
  return gpumc_error_set(error, GPUMC_DEVICE,
                         "device %s: no GPU was found (%s); use the device cpu", name,
                         gpus->failure);
}

static enum gpumc_status
refuse_number(const struct gpumc_gpu_list *gpus, const char *name, struct gpumc_error *error)
{
  struct gpumc_text list = {0};
  for (int i = 0; i < gpus->count; i++)
    gpumc_text_append(&list, "%scuda:%d (%s)", i == 0 ? "" : ", ", i, gpus->gpu[i].name);
  enum gpumc_status status =
      gpumc_error_set(error, GPUMC_DEVICE, "device %s: this machine has no such GPU; it has %s",
                      name, gpumc_text_string(&list));
  gpumc_text_free(&list);
  return status;
}

enum gpumc_status gpumc_gpus_choose(const struct gpumc_gpu_list *gpus, const char *name,
                                    int local_rank, int *index, struct gpumc_error *error)
{
  const char *number = strchr(name, ':');
  if (gpus->count == 0)
    return refuse_all(gpus, name, error);
  *index = number != NULL ? atoi(number + 1) : gpumc_gpus_in_turn(gpus, local_rank);
  if (*index >= gpus->count)
    return refuse_number(gpus, name, error);
  const struct gpumc_gpu *gpu = &gpus->gpu[*index >= 0 ? *index : 0];
  if (!is_usable(gpu))
    return gpumc_error_set(
        error, GPUMC_DEVICE,
        "device %s: %s has compute capability %d.%d, but gpumc needs %d.0 or higher", name,
        gpu->name, gpu->major, gpu->minor, CAPABILITY_MINIMUM);
  return GPUMC_OK;
}

enum gpumc_status gpumc_device_open(const char *name, int threads, struct gpumc_device *device,
                                    struct gpumc_error *error)
{
  return gpumc_device_open_among(name, threads, NULL, device, error);
}

enum gpumc_status gpumc_device_open_among(const char *name, int threads,
                                          const struct gpumc_processes *processes,
                                          struct gpumc_device *device, struct gpumc_error *error)
{
  const int local_rank = processes != NULL ? processes->module.local_rank : 0;
  int index = -1;
  struct gpumc_gpu_list gpus = {0};
  memset(device, 0, sizeof *device);
  if (!gpumc_device_name_is_valid(name))
    return gpumc_error_set(error, GPUMC_INVALID,
                           "unknown device '%s'; use auto, cpu, cuda or cuda:N", name);
  bool is_auto = strcmp(name, "auto") == 0, is_cpu = strcmp(name, "cpu") == 0;
  GPUMC_TRY(gpumc_threads_choose(threads, processors_of(processes), &threads, error));
  GPUMC_TRY(gpumc_threads_try(threads, error));
  if (!is_cpu)
    gpumc_gpus_find(&gpus);
  if (is_cpu || (is_auto && gpumc_gpus_in_turn(&gpus, local_rank) < 0)) {
    gpumc_device_cpu_open(threads, device);
  } else {
    GPUMC_TRY(gpumc_gpus_choose(&gpus, is_auto ? "cuda" : name, local_rank, &index, error));
    GPUMC_TRY(gpumc_device_cuda_open(&gpus, index, device, error));
  }
  device->threads = threads;
  device->processes = processes;
  return GPUMC_OK;
}

enum gpumc_status gpumc_device_open_absent(int threads, const struct gpumc_processes *processes,
                                           struct gpumc_device *device, struct gpumc_error *error)
{
  memset(device, 0, sizeof *device);
  GPUMC_TRY(gpumc_threads_choose(threads, processors_of(processes), &device->threads, error));
  device->ops = gpumc_device_cuda_absent();
  snprintf(device->description, sizeof device->description, "none: this machine has no GPU");
  return GPUMC_OK;
}

bool gpumc_device_is_absent(const char *name)
{
  struct gpumc_gpu_list gpus = {0};
  if (strncmp(name, "cuda", 4) != 0)
    return false;
  gpumc_gpus_find(&gpus);
  return gpus.count == 0;
}

void gpumc_device_close(struct gpumc_device *device)
{
  gpumc_transfer_close(device->transfer);
  if (device->ops != NULL)
    device->ops->close(device);
  memset(device, 0, sizeof *device);
}

enum gpumc_status gpumc_slots_create(struct gpumc_device *device, size_t bytes, const char *what,
                                     struct gpumc_slot slot[GPUMC_SLOTS], struct gpumc_error *error)
{
  enum gpumc_status status;
  memset(slot, 0, GPUMC_SLOTS * sizeof *slot);
  for (size_t i = 0; i < GPUMC_SLOTS; i++)
    GPUMC_TRY_OUT(status, device->ops->slot_create(device, bytes, what, &slot[i], error));
  return GPUMC_OK;
out:
  gpumc_slots_free(device, slot);
  return status;
}

void gpumc_slots_free(struct gpumc_device *device, struct gpumc_slot slot[GPUMC_SLOTS])
{
  for (size_t i = 0; i < GPUMC_SLOTS; i++)
    device->ops->slot_free(device, &slot[i]);
}

size_t gpumc_slots_device_bytes(const struct gpumc_device *device, size_t bytes)
{
  return device->ops->kind == GPUMC_KIND_CPU ? GPUMC_SLOTS * bytes : 0;
}

size_t gpumc_slots_host_bytes(const struct gpumc_device *device, size_t bytes)
{
  return device->ops->kind == GPUMC_KIND_CPU ? 0 : GPUMC_SLOTS * bytes;
}
