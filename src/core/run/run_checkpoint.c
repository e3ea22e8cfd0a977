/* The checkpoint of a run: identity, counters, replicas, rows, the algorithm's state. */
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/run/run_internal.h"
#include "core/simulation/ensemble_checkpoint.h"

/* Order in "run/counters". */
enum { COUNTER_RESUMES, COUNTER_FIRST_RUN, COUNTER_RUNS, COUNTER_TIME, N_COUNTERS };

static enum gpumc_status
save_all(struct gpumc_run *run, struct gpumc_checkpoint_writer *writer, struct gpumc_error *error)
{
  const struct gpumc_ensemble *ensemble = &run->ensemble;
  uint64_t counters[N_COUNTERS] = {[COUNTER_RESUMES] = run->resumes,
                                   [COUNTER_FIRST_RUN] = ensemble->first_run,
                                   [COUNTER_RUNS] = ensemble->runs,
                                   [COUNTER_TIME] = ensemble->time};
  double seconds = gpumc_run_seconds(run);
  enum gpumc_status status =
      gpumc_checkpoint_put_text(writer, "run/identity", run->identity, error);
  if (status == GPUMC_OK)
    status = gpumc_checkpoint_put_text(writer, "run/trajectory", ensemble->ops->trajectory, error);
  if (status == GPUMC_OK)
    status =
        gpumc_checkpoint_put(writer, "run/read", GPUMC_UINT64, 1, 1, &run->read_checksum, error);
  if (status == GPUMC_OK)
    status = gpumc_checkpoint_put_text(writer, "run/started", run->started, error);
  if (status == GPUMC_OK)
    status =
        gpumc_checkpoint_put(writer, "run/counters", GPUMC_UINT64, N_COUNTERS, 1, counters, error);
  if (status == GPUMC_OK)
    status = gpumc_checkpoint_put(writer, "run/seconds", GPUMC_FLOAT64, 1, 1, &seconds, error);
  if (status == GPUMC_OK)
    status = gpumc_ensemble_save(&run->ensemble, writer, error);
  if (status == GPUMC_OK)
    status = gpumc_recorder_save(run->recorder, writer, error);
  if (status == GPUMC_OK)
    status = run->task->algorithm->save(run->state, writer, error);
  return status;
}

enum gpumc_status gpumc_run_save(struct gpumc_run *run, struct gpumc_error *error)
{
  struct gpumc_checkpoint_writer *writer = NULL;
  enum gpumc_status status = run->task->algorithm->settle(run->state, error);
  if (status == GPUMC_OK)
    status = gpumc_checkpoint_begin(run->files.checkpoint, &writer, error);
  if (status != GPUMC_OK)
    return status;
  status = save_all(run, writer, error);
  if (status != GPUMC_OK) {
    gpumc_checkpoint_abandon(writer);
    gpumc_error_prefix(error, "checkpoint %s", run->files.checkpoint);
    return status;
  }
  run->checkpointed = gpumc_clock();
  return gpumc_checkpoint_commit(writer, error);
}

static enum gpumc_status load_counters(struct gpumc_run *run,
                                       struct gpumc_checkpoint_reader *reader,
                                       struct gpumc_error *error)
{
  uint64_t counters[N_COUNTERS];
  char *started = NULL;
  enum gpumc_status status = gpumc_checkpoint_get_rows(reader, "run/counters", GPUMC_UINT64, 0,
                                                       N_COUNTERS, 1, counters, error);
  if (status == GPUMC_OK)
    status = gpumc_checkpoint_get_rows(reader, "run/seconds", GPUMC_FLOAT64, 0, 1, 1,
                                       &run->earlier_seconds, error);
  if (status == GPUMC_OK)
    status = gpumc_checkpoint_get_text(reader, "run/started", &started, error);
  if (status != GPUMC_OK)
    return status;
  strncpy(run->started, started, sizeof run->started - 1);
  free(started);
  if (counters[COUNTER_RUNS] > run->ensemble.plan.runs || counters[COUNTER_TIME] > UINT32_MAX ||
      counters[COUNTER_FIRST_RUN] > GPUMC_RUN_MAXIMUM)
    return gpumc_error_set(error, GPUMC_FAILURE, "counters out of range");
  run->resumes = counters[COUNTER_RESUMES] + 1;
  run->ensemble.runs = (size_t)counters[COUNTER_RUNS];
  run->ensemble.first_run = (uint32_t)counters[COUNTER_FIRST_RUN];
  run->ensemble.time = (uint32_t)counters[COUNTER_TIME];
  return GPUMC_OK;
}

static enum gpumc_status
load_all(struct gpumc_run *run, struct gpumc_checkpoint_reader *reader, struct gpumc_error *error)
{
  enum gpumc_status status = load_counters(run, reader, error);
  if (status == GPUMC_OK)
    status = gpumc_ensemble_load(&run->ensemble, reader, error);
  if (status == GPUMC_OK)
    status = gpumc_recorder_load(run->recorder, reader, error);
  if (status == GPUMC_OK)
    status = run->task->algorithm->load(run->state, reader, &run->finished, error);
  if (status != GPUMC_OK)
    gpumc_error_prefix(error, "checkpoint %s", run->files.checkpoint);
  return status;
}

enum gpumc_status gpumc_run_load(struct gpumc_run *run, struct gpumc_checkpoint_reader *reader,
                                 struct gpumc_error *error)
{
  enum gpumc_status status =
      gpumc_run_compare_samples(run->files.checkpoint, reader, run->read_checksum, error);
  if (status == GPUMC_OK)
    status = load_all(run, reader, error);
  return status == GPUMC_FAILURE ? gpumc_run_nothing_deleted(error) : status;
}
