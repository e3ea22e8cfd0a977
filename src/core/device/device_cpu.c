/* The CPU as a device. */
#include "core/device/device_cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/machine.h"
#include "core/base/memory.h"
#include "core/processes/processes.h"

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

static enum gpumc_status
fill(struct gpumc_device *device, void *memory, int byte, size_t bytes, struct gpumc_error *error)
{
  (void)device;
  (void)error;
  memset(memory, byte, bytes);
  return GPUMC_OK;
}

static enum gpumc_status slot_create(struct gpumc_device *device, size_t bytes, const char *what,
                                     struct gpumc_slot *slot, struct gpumc_error *error)
{
  (void)device;
  slot->arrived = NULL;
  return gpumc_allocate(bytes, 1, what, &slot->memory, error);
}

static void slot_free(struct gpumc_device *device, struct gpumc_slot *slot)
{
  (void)device;
  free(slot->memory);
  slot->memory = NULL;
}

static enum gpumc_status publish(struct gpumc_device *device, struct gpumc_slot *slot,
                                 const void *from, size_t bytes, struct gpumc_error *error)
{
  return copy(device, slot->memory, from, bytes, error);
}

static enum gpumc_status deliver(struct gpumc_device *device, struct gpumc_slot *slot, void *to,
                                 size_t bytes, struct gpumc_error *error)
{
  return copy(device, to, slot->memory, bytes, error);
}

static enum gpumc_status
collect(struct gpumc_device *device, const struct gpumc_slot *slot, struct gpumc_error *error)
{
  (void)slot;
  return synchronize(device, error);
}

static size_t scan_bytes(size_t count)
{
  (void)count;
  return 0;
}

/* Two passes: sums of the threads' parts, then within each part. The parts' sums are few; with a
 * single part the first pass is skipped. */
static enum gpumc_status scan(struct gpumc_device *device, uint64_t *value, size_t count,
                              bool inclusive, void *memory, struct gpumc_error *error)
{
  const size_t parts = (size_t)device->threads;
  uint64_t *before = NULL;
  (void)memory;
  GPUMC_TRY(gpumc_allocate_array(&before, parts + 1, "sums of parts", error));
#pragma omp parallel for num_threads((int)parts) if (parts > 1)
  for (size_t p = 0; p < parts - 1; p++)
    for (size_t i = count * p / parts; i < count * (p + 1) / parts; i++)
      before[p + 1] += value[i];
  for (size_t p = 1; p < parts; p++)
    before[p] += before[p - 1];
#pragma omp parallel for num_threads((int)parts) if (parts > 1)
  for (size_t p = 0; p < parts; p++) {
    uint64_t sum = before[p];
    for (size_t i = count * p / parts; i < count * (p + 1) / parts; i++) {
      const uint64_t up_to = sum + value[i];
      value[i] = inclusive ? up_to : sum;
      sum = up_to;
    }
  }
  free(before);
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

/* ---- stages, by the host's clock ---- */

static void enter(struct gpumc_device *device, size_t stage)
{
  struct gpumc_stopwatch *stopwatch = &device->stopwatch;
  const double now = gpumc_clock();
  gpumc_processes_enter(device->processes, stage);
  if (stopwatch->begun > 0)
    stopwatch->seconds[stopwatch->stage] += now - stopwatch->begun;
  stopwatch->stage = stage;
  stopwatch->begun = now;
}

static enum gpumc_status
stage_seconds(struct gpumc_device *device, double seconds[GPUMC_STAGES_MAXIMUM],
              double transfers[GPUMC_STAGES_MAXIMUM], struct gpumc_error *error)
{
  (void)error;
  enter(device, device->stopwatch.stage);
  for (size_t stage = 0; stage < GPUMC_STAGES_MAXIMUM; stage++) {
    seconds[stage] = device->stopwatch.seconds[stage];
    if (transfers != NULL)
      transfers[stage] = 0;
  }
  return GPUMC_OK;
}

static const struct gpumc_device_ops cpu = {
    .name = "cpu",
    .kind = GPUMC_KIND_CPU,
    .allocate = allocate,
    .release = release,
    .copy_to_device = copy,
    .copy_to_host = copy,
    .synchronize = synchronize,
    .fill = fill,
    .slot_create = slot_create,
    .slot_free = slot_free,
    .publish = publish,
    .collect = collect,
    .deliver = deliver,
    .tally = gpumc_tally_cpu,
    .scan_bytes = scan_bytes,
    .scan = scan,
    .available = available,
    .enter = enter,
    .stage_seconds = stage_seconds,
    .close = close_cpu,
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
