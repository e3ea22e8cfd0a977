/* The CPU as a device. */
#include "core/device/device_cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/pa/population_cpu.h"
#include "algorithms/pt/tempering_cpu.h"
#include "core/base/memory.h"
#include "core/base/system_memory.h"

static enum gpumc_status allocate(struct gpumc_device *device, size_t count, size_t size,
                                  const char *what, void **memory, struct gpumc_error *error)
{
  (void)device;
  return gpumc_allocate(count, size, what, memory, error);
}

static void release(struct gpumc_device *device, void *memory)
{
  (void)device;
  free(memory);
}

static enum gpumc_status copy(struct gpumc_device *device, void *to, const void *from, size_t bytes,
                              struct gpumc_error *error)
{
  (void)device;
  (void)error;
  memcpy(to, from, bytes);
  return GPUMC_OK;
}

static enum gpumc_status synchronize(struct gpumc_device *device, struct gpumc_error *error)
{
  (void)device;
  (void)error;
  return GPUMC_OK;
}

static double available(const struct gpumc_device *device)
{
  (void)device;
  return gpumc_available_memory();
}

static void close_cpu(struct gpumc_device *device)
{
  (void)device;
}

static const struct gpumc_device_ops cpu = {
    .name = "cpu",
    .allocate = allocate,
    .release = release,
    .copy_to_device = copy,
    .copy_to_host = copy,
    .synchronize = synchronize,
    .available = available,
    .enter = gpumc_host_enter,
    .stage_seconds = gpumc_host_stage_seconds,
    .close = close_cpu,
    .population = &gpumc_population_cpu,
    .tempering = &gpumc_tempering_cpu,
};

void gpumc_processor_name(char *name, size_t size)
{
  char line[256];
  FILE *file = fopen("/proc/cpuinfo", "r");
  snprintf(name, size, "processor");
  if (file == NULL)
    return;
  while (fgets(line, sizeof line, file) != NULL) {
    char *colon = strchr(line, ':');
    if (strncmp(line, "model name", 10) != 0 || colon == NULL)
      continue;
    colon[strcspn(colon, "\n")] = '\0';
    char *text = colon + 1;
    snprintf(name, size, "%s", text + strspn(text, " \t"));
    break;
  }
  fclose(file);
}

void gpumc_device_cpu_open(int threads, struct gpumc_device *device)
{
  char processor[64];
  gpumc_processor_name(processor, sizeof processor);
  device->ops = &cpu;
  device->threads = threads;
  snprintf(device->description, sizeof device->description, "%s, %d thread%s", processor,
           device->threads, device->threads == 1 ? "" : "s");
}
