/* Stages of a device that works while the caller waits: the host's clock. */
#include "core/device/stages.h"

#include "core/base/machine.h"
#include "core/device/device.h"

void gpumc_host_enter(struct gpumc_device *device, size_t stage)
{
  struct gpumc_stopwatch *stopwatch = &device->stopwatch;
  const double now = gpumc_clock();
  if (stopwatch->begun > 0)
    stopwatch->seconds[stopwatch->stage] += now - stopwatch->begun;
  stopwatch->stage = stage;
  stopwatch->begun = now;
}

enum gpumc_status gpumc_host_stage_seconds(struct gpumc_device *device,
                                           double seconds[GPUMC_STAGES_MAXIMUM],
                                           struct gpumc_error *error)
{
  (void)error;
  gpumc_host_enter(device, device->stopwatch.stage);
  for (size_t stage = 0; stage < GPUMC_STAGES_MAXIMUM; stage++)
    seconds[stage] = device->stopwatch.seconds[stage];
  return GPUMC_OK;
}
