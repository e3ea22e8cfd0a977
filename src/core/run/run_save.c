/* Writes a run to its checkpoint, and continues from it. In a divided run all processes do the
 * same, with what the root reads and writes. */
#include <stdlib.h>
#include <string.h>

#include "core/base/machine.h"
#include "core/run/decide.h"
#include "core/run/run_internal.h"

/* Order of numbers in "run/counters". */
enum { COUNTER_RESUMES, COUNTER_FIRST_RUN, COUNTER_RUNS, COUNTER_TIME, N_COUNTERS };

static enum gpumc_status
save_all(struct run *run, struct gpumc_checkpoint_writer *writer, struct gpumc_error *error)
{
  const struct gpumc_ensemble *ensemble = &run->ensemble;
  uint64_t counters[N_COUNTERS] = {[COUNTER_RESUMES] = run->resumes,
                                   [COUNTER_FIRST_RUN] = ensemble->first_run,
                                   [COUNTER_RUNS] = ensemble->runs,
                                   [COUNTER_TIME] = ensemble->time};
  double seconds = gpumc_run_seconds(run);
  GPUMC_TRY(gpumc_checkpoint_put_text(writer, "run/identity", run->identity, error));
  GPUMC_TRY(gpumc_checkpoint_put_text(writer, "run/trajectory",
                                      gpumc_kernel_trajectory(ensemble->ops), error));
  if (run->task->plugins != NULL)
    GPUMC_TRY(
        gpumc_checkpoint_put_text(writer, GPUMC_CHECKPOINT_PLUGINS, run->task->plugins, error));
  GPUMC_TRY(
      gpumc_checkpoint_put(writer, "run/read", GPUMC_UINT64, 1, 1, &run->read_checksum, error));
  GPUMC_TRY(gpumc_checkpoint_put_text(writer, "run/started", run->started, error));
  GPUMC_TRY(
      gpumc_checkpoint_put(writer, "run/counters", GPUMC_UINT64, N_COUNTERS, 1, counters, error));
  GPUMC_TRY(gpumc_checkpoint_put(writer, "run/seconds", GPUMC_FLOAT64, 1, 1, &seconds, error));
  GPUMC_TRY(gpumc_ensemble_save(&run->ensemble, writer, error));
  GPUMC_TRY(gpumc_recorder_save(run->recorder, writer, error));
  return run->task->algorithm->save(run->state, writer, error);
}

/* Only the root knows the file. */
static void prefix_checkpoint(const struct run *run, struct gpumc_error *error)
{
  const char *path = run->files.checkpoint;
  gpumc_error_prefix(error, "%s%s", path != NULL ? "checkpoint " : "the checkpoint",
                     path != NULL ? path : "");
}

/* Begins the root's, or one that writes nothing. */
static enum gpumc_status
begin(const struct run *run, struct gpumc_checkpoint_writer **writer, struct gpumc_error *error)
{
  if (!gpumc_is_root(run->processes))
    return gpumc_checkpoint_begin_silent(writer, error);
  GPUMC_TRY(gpumc_checkpoint_begin(run->files.checkpoint, writer, error));
  if (run->divided)
    gpumc_checkpoint_defer(*writer);
  return GPUMC_OK;
}

/* Failures in the root's file alone are kept for the commit. */
static enum gpumc_status
write_all(struct run *run, struct gpumc_checkpoint_writer *writer, struct gpumc_error *error)
{
  if (save_all(run, writer, error) == GPUMC_OK)
    return gpumc_checkpoint_commit(writer, error);
  gpumc_checkpoint_abandon(writer);
  prefix_checkpoint(run, error);
  return gpumc_run_fail(run, error);
}

enum gpumc_status gpumc_run_save(struct run *run, struct gpumc_error *error)
{
  struct gpumc_checkpoint_writer *writer = NULL;
  if (run->task->algorithm->settle != NULL &&
      run->task->algorithm->settle(run->state, error) != GPUMC_OK)
    return gpumc_run_fail(run, error);
  GPUMC_TRY(gpumc_ensemble_inspect(&run->ensemble, error));
  const enum gpumc_status status = gpumc_run_agree(run, begin(run, &writer, error), error);
  if (status != GPUMC_OK) {
    gpumc_checkpoint_abandon(writer);
    return status;
  }
  run->checkpointed = gpumc_clock();
  return gpumc_run_agree(run, write_all(run, writer, error), error);
}

static enum gpumc_status read_counters(struct gpumc_checkpoint_reader *reader,
                                       uint64_t counters[static N_COUNTERS],
                                       struct gpumc_error *error)
{
  return gpumc_checkpoint_get_rows(reader, "run/counters", GPUMC_UINT64, 0, N_COUNTERS, 1, counters,
                                   error);
}

enum gpumc_status
gpumc_run_begun(const struct run *run, struct gpumc_slice *begun, struct gpumc_error *error)
{
  uint64_t counters[N_COUNTERS];
  if (read_counters(run->checkpoint, counters, error) != GPUMC_OK) {
    gpumc_error_prefix(error, "checkpoint %s", run->files.checkpoint);
    return gpumc_decide_nothing_deleted(error);
  }
  *begun =
      (struct gpumc_slice){(size_t)counters[COUNTER_FIRST_RUN], (size_t)counters[COUNTER_RUNS]};
  return GPUMC_OK;
}

static enum gpumc_status
load_counters(struct run *run, struct gpumc_checkpoint_reader *reader, struct gpumc_error *error)
{
  uint64_t counters[N_COUNTERS];
  char *started = NULL;
  GPUMC_TRY(read_counters(reader, counters, error));
  GPUMC_TRY(gpumc_checkpoint_get_rows(reader, "run/seconds", GPUMC_FLOAT64, 0, 1, 1,
                                      &run->earlier_seconds, error));
  GPUMC_TRY(gpumc_checkpoint_get_text(reader, "run/started", &started, error));
  strncpy(run->started, started, sizeof run->started - 1);
  free(started);
  if (counters[COUNTER_RUNS] > run->ensemble.plan.runs || counters[COUNTER_TIME] > UINT32_MAX ||
      counters[COUNTER_FIRST_RUN] > GPUMC_RUN_MAXIMUM)
    return gpumc_run_agree(run,
                           gpumc_error_set(error, GPUMC_FAILURE,
                                           "is damaged: its counts of runs or sweeps do not fit "
                                           "this task"),
                           error);
  run->resumes = counters[COUNTER_RESUMES] + 1;
  run->ensemble.runs = (size_t)counters[COUNTER_RUNS];
  run->ensemble.first_run = (uint32_t)counters[COUNTER_FIRST_RUN];
  run->ensemble.time = (uint32_t)counters[COUNTER_TIME];
  return GPUMC_OK;
}

static enum gpumc_status
load_all(struct run *run, struct gpumc_checkpoint_reader *reader, struct gpumc_error *error)
{
  GPUMC_TRY(load_counters(run, reader, error));
  GPUMC_TRY(gpumc_ensemble_load(&run->ensemble, reader, error));
  GPUMC_TRY(gpumc_run_agree(run, gpumc_recorder_load(run->recorder, reader, error), error));
  return run->task->algorithm->load(run->state, reader, &run->finished, error);
}

enum gpumc_status gpumc_run_load(struct run *run, struct gpumc_error *error)
{
  struct gpumc_checkpoint_reader *reader = run->checkpoint;
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, gpumc_run_agree(run,
                                        gpumc_compare_samples(run->files.checkpoint, reader,
                                                              run->read_checksum, error),
                                        error));
  status = load_all(run, reader, error);
  if (status != GPUMC_OK)
    prefix_checkpoint(run, error);
out:
  return status == GPUMC_FAILURE ? gpumc_decide_nothing_deleted(error) : status;
}
