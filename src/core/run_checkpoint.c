/* The checkpoint of a run: identity, counters, replicas, rows, the algorithm's state. */
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/clock.h"
#include "core/run_internal.h"

enum { SLICE = 1024 /* replicas that are copied at once */ };

/* Order in "run/counters". */
enum { COUNTER_RESUMES, COUNTER_SIZE, COUNTER_RUN, COUNTER_TIME, N_COUNTERS };

/* Copies replicas `first` to `first + count` between the ensemble and a file, by way of `slice`. */
typedef enum gpumc_status copy_slice(struct gpumc_ensemble *ensemble, void *file, size_t first,
                                     size_t count, uint8_t *slice, struct gpumc_error *error);

static enum gpumc_status copy_replicas(struct gpumc_ensemble *ensemble, copy_slice *copy,
                                       void *file, struct gpumc_error *error)
{
  uint8_t *slice = NULL;
  enum gpumc_status status = gpumc_allocate_array(&slice, SLICE * ensemble->model->portable_bytes,
                                                  "replicas of a checkpoint", error);
  for (size_t first = 0; first < ensemble->size && status == GPUMC_OK; first += SLICE) {
    size_t count = ensemble->size - first < SLICE ? ensemble->size - first : SLICE;
    status = copy(ensemble, file, first, count, slice, error);
  }
  free(slice);
  return status;
}

static enum gpumc_status save_slice(struct gpumc_ensemble *ensemble, void *writer, size_t first,
                                    size_t count, uint8_t *slice, struct gpumc_error *error)
{
  enum gpumc_status status = ensemble->ops->get(ensemble, first, count, slice, error);
  if (status == GPUMC_OK)
    status = gpumc_checkpoint_put_rows(writer, "ensemble/replicas", first, count, slice, error);
  return status;
}

static enum gpumc_status load_slice(struct gpumc_ensemble *ensemble, void *reader, size_t first,
                                    size_t count, uint8_t *slice, struct gpumc_error *error)
{
  enum gpumc_status status =
      gpumc_checkpoint_get_rows(reader, "ensemble/replicas", GPUMC_UINT8, first, count,
                                ensemble->model->portable_bytes, slice, error);
  if (status == GPUMC_OK)
    status = ensemble->ops->set(ensemble, first, count, slice, error);
  return status;
}

static enum gpumc_status save_replicas(struct gpumc_ensemble *ensemble,
                                       struct gpumc_checkpoint_writer *writer,
                                       struct gpumc_error *error)
{
  if (ensemble->size == 0)
    return GPUMC_OK;
  enum gpumc_status status =
      gpumc_checkpoint_declare(writer, "ensemble/replicas", GPUMC_UINT8, ensemble->size,
                               ensemble->model->portable_bytes, error);
  return status == GPUMC_OK ? copy_replicas(ensemble, save_slice, writer, error) : status;
}

static enum gpumc_status
save_all(struct gpumc_run *run, struct gpumc_checkpoint_writer *writer, struct gpumc_error *error)
{
  const struct gpumc_ensemble *ensemble = &run->ensemble;
  uint64_t counters[N_COUNTERS] = {[COUNTER_RESUMES] = run->resumes,
                                   [COUNTER_SIZE] = ensemble->size,
                                   [COUNTER_RUN] = ensemble->run,
                                   [COUNTER_TIME] = ensemble->time};
  double seconds = gpumc_run_seconds(run);
  enum gpumc_status status =
      gpumc_checkpoint_put_text(writer, "run/identity", run->identity, error);
  if (status == GPUMC_OK)
    status = gpumc_checkpoint_put_text(writer, "run/trajectory", ensemble->ops->trajectory, error);
  if (status == GPUMC_OK)
    status = gpumc_checkpoint_put_text(writer, "run/started", run->started, error);
  if (status == GPUMC_OK)
    status =
        gpumc_checkpoint_put(writer, "run/counters", GPUMC_UINT64, N_COUNTERS, 1, counters, error);
  if (status == GPUMC_OK)
    status = gpumc_checkpoint_put(writer, "run/seconds", GPUMC_FLOAT64, 1, 1, &seconds, error);
  if (status == GPUMC_OK)
    status = save_replicas(&run->ensemble, writer, error);
  if (status == GPUMC_OK)
    status = gpumc_recorder_save(run->recorder, writer, error);
  if (status == GPUMC_OK)
    status = run->task->algorithm->save(run->state, writer, error);
  return status;
}

enum gpumc_status gpumc_run_save(struct gpumc_run *run, struct gpumc_error *error)
{
  struct gpumc_checkpoint_writer *writer = NULL;
  enum gpumc_status status = gpumc_checkpoint_begin(run->files.checkpoint, &writer, error);
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

static enum gpumc_status check_identity(const struct gpumc_run *run,
                                        struct gpumc_checkpoint_reader *reader,
                                        struct gpumc_error *error)
{
  char *identity = NULL;
  enum gpumc_status status = gpumc_checkpoint_get_text(reader, "run/identity", &identity, error);
  if (status == GPUMC_OK && strcmp(identity, run->identity) != 0) {
    char *difference = gpumc_identity_difference(identity, run->identity);
    status = gpumc_error_set(error, GPUMC_INVALID,
                             "%s is the checkpoint of another configuration:\n%s\n"
                             "run the earlier configuration, choose another output, or start over "
                             "with --fresh",
                             run->files.checkpoint, difference != NULL ? difference : "");
    free(difference);
  }
  free(identity);
  return status;
}

static enum gpumc_status check_trajectory(const struct gpumc_run *run,
                                          struct gpumc_checkpoint_reader *reader,
                                          struct gpumc_error *error)
{
  const char *now = run->ensemble.ops->trajectory;
  char *before = NULL;
  enum gpumc_status status = gpumc_checkpoint_get_text(reader, "run/trajectory", &before, error);
  if (status == GPUMC_OK && strcmp(before, now) != 0)
    status = gpumc_error_set(error, GPUMC_INVALID,
                             "%s: the checkpoint was made with trajectory %s, this program has %s: "
                             "finish it with the program that began it, choose another output, or "
                             "start over with --fresh",
                             run->files.checkpoint, before, now);
  free(before);
  return status;
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
  if (counters[COUNTER_SIZE] > run->ensemble.capacity || counters[COUNTER_TIME] > UINT32_MAX ||
      counters[COUNTER_RUN] > GPUMC_RUN_MAXIMUM)
    return gpumc_error_set(error, GPUMC_FAILURE, "counters out of range");
  run->resumes = counters[COUNTER_RESUMES] + 1;
  run->ensemble.size = (size_t)counters[COUNTER_SIZE];
  run->ensemble.run = (uint32_t)counters[COUNTER_RUN];
  run->ensemble.time = (uint32_t)counters[COUNTER_TIME];
  return GPUMC_OK;
}

static enum gpumc_status
load_all(struct gpumc_run *run, struct gpumc_checkpoint_reader *reader, struct gpumc_error *error)
{
  enum gpumc_status status = load_counters(run, reader, error);
  if (status == GPUMC_OK && run->ensemble.size > 0)
    status = copy_replicas(&run->ensemble, load_slice, reader, error);
  if (status == GPUMC_OK)
    status = gpumc_recorder_load(run->recorder, reader, error);
  if (status == GPUMC_OK)
    status = run->task->algorithm->load(run->state, reader, &run->finished, error);
  if (status != GPUMC_OK)
    gpumc_error_prefix(error, "checkpoint %s", run->files.checkpoint);
  return status;
}

enum gpumc_status gpumc_run_load(struct gpumc_run *run, bool *resumed, struct gpumc_error *error)
{
  struct gpumc_checkpoint_reader *reader = NULL;
  *resumed = false;
  if (!gpumc_file_exists(run->files.checkpoint))
    return GPUMC_OK;
  enum gpumc_status status = gpumc_checkpoint_open(run->files.checkpoint, &reader, error);
  if (status == GPUMC_OK)
    status = check_identity(run, reader, error);
  if (status == GPUMC_OK)
    status = check_trajectory(run, reader, error);
  if (status == GPUMC_OK)
    status = load_all(run, reader, error);
  gpumc_checkpoint_close(reader);
  if (status == GPUMC_OK) {
    *resumed = true;
  } else if (status == GPUMC_FAILURE) {
    char *reason = strdup(gpumc_error_text(error));
    gpumc_error_set(error, GPUMC_FAILURE,
                    "%s\nnothing was deleted: put a good copy in its place, choose another output, "
                    "or start over with --fresh",
                    reason != NULL ? reason : "");
    free(reason);
  }
  return status;
}
