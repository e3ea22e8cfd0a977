/* The progress of a run, for onlookers, and how it fails among several processes. */
#include <stdio.h>

#include "core/base/machine.h"
#include "core/run/run_internal.h"

struct gpumc_position gpumc_run_position(const struct run *run)
{
  struct gpumc_position position = {.coordinate = ""};
  if (run->state != NULL)
    run->task->algorithm->position(run->state, &position);
  position.updates *= run->preparation.per_site;
  position.unit = gpumc_trials_unit(run->preparation.kernel);
  return position;
}

void gpumc_run_write_status(struct run *run, enum gpumc_record_state state, const char *message)
{
  struct gpumc_error ignored = {0};
  if (!gpumc_is_root(run->processes))
    return;
  struct gpumc_status_record record = {.state = state, .remaining_seconds = -1};
  double worked = gpumc_clock() - run->begun;
  record.fraction = run->state != NULL ? gpumc_run_position(run).fraction : -1;
  record.seconds = gpumc_run_seconds(run);
  if (record.fraction > run->begun_fraction)
    record.remaining_seconds =
        worked * (1 - record.fraction) / (record.fraction - run->begun_fraction);
  if (message != NULL)
    snprintf(record.message, sizeof record.message, "%s", message);
  if (gpumc_status_record_write(&run->files, &record, &ignored) != GPUMC_OK)
    gpumc_error_free(&ignored);
  run->status_written = gpumc_clock();
}

enum gpumc_status gpumc_run_fail(struct run *run, struct gpumc_error *error)
{
  const enum gpumc_status status = error->status;
  if (!run->divided || error->everywhere)
    return status;
  gpumc_run_write_status(run, GPUMC_RECORD_FAILED, gpumc_error_text(error));
  if (!gpumc_is_root(run->processes))
    gpumc_processes_give_way();
  gpumc_processes_abandon(run->processes, error);
  return status;
}
