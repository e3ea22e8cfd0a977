/* Stages of a device that works while the caller waits: the host's clock. */
#include "core/device/stages.h"

#include "core/base/clock.h"
#include "core/device/device.h"

const char *gpumc_stage_name(enum gpumc_stage stage)
{
  static const char *const names[GPUMC_STAGES] = {
      [GPUMC_STAGE_OTHER] = "other",   [GPUMC_STAGE_RESAMPLE] = "resample",
      [GPUMC_STAGE_GATHER] = "gather", [GPUMC_STAGE_SWEEP] = "sweep",
      [GPUMC_STAGE_TALLY] = "tally",   [GPUMC_STAGE_EXCHANGE] = "exchange",
  };
  return names[stage];
}

void gpumc_host_enter(struct gpumc_device *device, enum gpumc_stage stage)
{
  struct gpumc_stopwatch *stopwatch = &device->stopwatch;
  const double now = gpumc_clock();
  if (stopwatch->begun > 0)
    stopwatch->seconds[stopwatch->stage] += now - stopwatch->begun;
  stopwatch->stage = stage;
  stopwatch->begun = now;
}

enum gpumc_status gpumc_host_stage_seconds(struct gpumc_device *device,
                                           double seconds[GPUMC_STAGES], struct gpumc_error *error)
{
  (void)error;
  gpumc_host_enter(device, device->stopwatch.stage);
  for (size_t stage = 0; stage < GPUMC_STAGES; stage++)
    seconds[stage] = device->stopwatch.seconds[stage];
  return GPUMC_OK;
}
