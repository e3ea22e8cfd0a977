/* Which devices processes work on, and which GPUs they share. */
#include "core/device/devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/memory.h"
#include "core/device/device_gpu.h"

static struct gpumc_device_place
place_of(const struct gpumc_processes *processes, const struct gpumc_device *device)
{
  struct gpumc_device_place place = {.host = processes->module.host};
  struct gpumc_gpu_list gpus;
  if (gethostname(place.host_name, sizeof place.host_name - 1) != 0)
    snprintf(place.host_name, sizeof place.host_name, "an unknown host");
  snprintf(place.description, sizeof place.description, "%s", device->description);
  if (device->ops->kind == GPUMC_KIND_CPU) {
    snprintf(place.device, sizeof place.device, "%s", device->ops->name);
    return place;
  }
  snprintf(place.device, sizeof place.device, "%s:%d", device->ops->name, device->index);
  gpumc_gpus_find(&gpus);
  if (device->index < gpus.count)
    memcpy(place.identity, gpus.gpu[device->index].identity, sizeof place.identity);
  return place;
}

enum gpumc_status gpumc_devices_gather(const struct gpumc_processes *processes,
                                       const struct gpumc_device *device,
                                       struct gpumc_devices *devices, struct gpumc_error *error)
{
  const size_t size = (size_t)processes->module.size;
  const struct gpumc_device_place own = place_of(processes, device);
  size_t *counts = NULL;
  enum gpumc_status status = gpumc_allocate_array(&counts, size, "devices of processes", error);
  if (status == GPUMC_OK)
    status = gpumc_allocate_array(&devices->of, size, "devices of processes", error);
  status = gpumc_processes_agree(processes, status, error);
  for (size_t p = 0; p < size && status == GPUMC_OK; p++)
    counts[p] = sizeof own;
  if (status == GPUMC_OK) {
    gpumc_processes_gather(processes, &own, devices->of, counts, GPUMC_TO_ALL);
    devices->count = size;
  }
  free(counts);
  return status;
}

void gpumc_devices_free(struct gpumc_devices *devices)
{
  free(devices->of);
  *devices = (struct gpumc_devices){0};
}

static bool same_gpu(const struct gpumc_device_place *a, const struct gpumc_device_place *b)
{
  return a->host == b->host && a->identity[0] != '\0' && strcmp(a->identity, b->identity) == 0;
}

size_t gpumc_devices_sharers(const struct gpumc_devices *devices, size_t p)
{
  size_t sharers = 0;
  for (size_t other = 0; other < devices->count; other++)
    sharers += same_gpu(&devices->of[p], &devices->of[other]);
  return sharers > 1 ? sharers : 1;
}

/* Returns whether p is the first of the processes on one GPU. */
static bool is_first(const struct gpumc_devices *devices, size_t p)
{
  for (size_t lower = 0; lower < p; lower++)
    if (same_gpu(&devices->of[p], &devices->of[lower]))
      return false;
  return true;
}

bool gpumc_devices_shared(const struct gpumc_devices *devices, struct gpumc_text *text)
{
  size_t shared = 0;
  for (size_t p = 0; p < devices->count; p++) {
    const struct gpumc_device_place *place = &devices->of[p];
    const size_t sharers = gpumc_devices_sharers(devices, p);
    if (sharers > 1 && is_first(devices, p) && shared++ == 0)
      gpumc_text_append(text, "%zu processes on %s share %s (%s)", sharers, place->host_name,
                        place->device, place->description);
  }
  if (shared > 1)
    gpumc_text_append(text, ", and %zu more GPU%s shared, too", shared - 1,
                      shared == 2 ? " is" : "s are");
  return shared > 0;
}

void gpumc_devices_list(const struct gpumc_devices *devices, struct gpumc_text *text)
{
  for (size_t p = 0; p < devices->count; p++) {
    const struct gpumc_device_place *place = &devices->of[p];
    gpumc_text_append(text, "%s%s %s: %s", p > 0 ? "\n" : "", place->host_name, place->device,
                      place->description);
  }
}
