/* Stages of a GPU: an event where each begins, read when its successor has passed. */
#include <stdbool.h>
#include <stdlib.h>

#include "core/base/memory.h"
#include "core/device/cuda_error.h"
#include "core/device/device.h"

enum { EVENTS = 256 };

/* A ring of the marks oldest .. oldest+count-1. A failed mark loses times, never a result, so it is
 * no error; `worked` keeps what CUDA remembers of it from the next one who asks. */
struct events {
  cudaEvent_t event[EVENTS];
  size_t stage[EVENTS];
  size_t oldest, count;
  double seconds[GPUMC_STAGES_MAXIMUM];
};

void gpumc_cuda_stages_free(struct gpumc_device *device)
{
  struct events *events = device->events;
  for (size_t i = 0; events != NULL && i < EVENTS; i++)
    if (events->event[i] != NULL)
      cudaEventDestroy(events->event[i]);
  free(events);
  device->events = NULL;
}

static bool worked(cudaError_t code)
{
  if (code != cudaSuccess)
    (void)cudaGetLastError();
  return code == cudaSuccess;
}

static struct events *events_of(struct gpumc_device *device)
{
  if (device->events == NULL)
    device->events = calloc(1, sizeof(struct events));
  return device->events;
}

/* Account for the oldest mark, whose successor has passed. */
static void read_oldest(struct events *events)
{
  float milliseconds = 0;
  const size_t next = (events->oldest + 1) % EVENTS;
  if (worked(
          cudaEventElapsedTime(&milliseconds, events->event[events->oldest], events->event[next])))
    events->seconds[events->stage[events->oldest]] += 1e-3 * (double)milliseconds;
  events->oldest = next;
  events->count--;
}

/* Make room: read what has passed without waiting, or wait where the ring is full. */
static void read_passed(struct events *events)
{
  while (events->count > 1) {
    cudaEvent_t next = events->event[(events->oldest + 1) % EVENTS];
    if (events->count < EVENTS && !worked(cudaEventQuery(next)))
      return;
    if (!worked(cudaEventSynchronize(next)))
      return;
    read_oldest(events);
  }
}

void gpumc_cuda_enter(struct gpumc_device *device, size_t stage)
{
  struct events *events = events_of(device);
  if (events == NULL)
    return;
  if (events->count >= EVENTS / 2)
    read_passed(events);
  const size_t at = (events->oldest + events->count) % EVENTS;
  if (events->count == EVENTS)
    return;
  if (events->event[at] == NULL && !worked(cudaEventCreate(&events->event[at])))
    return;
  if (!worked(cudaEventRecord(events->event[at], device->stream)))
    return;
  events->stage[at] = stage;
  events->count++;
}

enum gpumc_status gpumc_cuda_stage_seconds(struct gpumc_device *device,
                                           double seconds[GPUMC_STAGES_MAXIMUM],
                                           struct gpumc_error *error)
{
  struct events *events = events_of(device);
  if (events == NULL)
    return gpumc_error_set(error, GPUMC_FAILURE, "out of memory: stages of the device");
  size_t stage = GPUMC_STAGE_OTHER;
  if (events->count > 0)
    stage = events->stage[(events->oldest + events->count - 1) % EVENTS];
  gpumc_cuda_enter(device, stage);
  GPUMC_TRY(GPUMC_CUDA(cudaStreamSynchronize(device->stream), error));
  read_passed(events);
  for (size_t i = 0; i < GPUMC_STAGES_MAXIMUM; i++)
    seconds[i] = events->seconds[i];
  return GPUMC_OK;
}
