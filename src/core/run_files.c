/* What stands in the files of a task before and after a run, and what `gpumc status` says of it. */
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "core/durable_file.h"
#include "core/recorder_log.h"
#include "core/registry.h"
#include "core/result_info.h"
#include "core/samples.h"
#include "core/clock.h"
#include "core/run_internal.h"

/* The trajectory of the kernel that this program takes for the task on that device; on the CPU,
 * which has all of them, where there is no such device. "none" when there is no kernel. */
static const char *trajectory_of(const struct gpumc_task *task, const char *device)
{
  struct gpumc_error ignored = {0};
  const struct gpumc_kernel_ops *kernel = NULL;
  struct gpumc_params root = gpumc_task_params(task, "");
  const char *variant = gpumc_params_string(&root, "kernel.variant");
  const char *const devices[] = {device, "cpu"};
  const struct gpumc_kernel_wish wish = {.model = task->model, .algorithm = task->algorithm};
  for (size_t i = 0; i < sizeof devices / sizeof *devices && kernel == NULL; i++)
    if (gpumc_kernel_choose(&wish, devices[i], variant, &kernel, &ignored) != GPUMC_OK)
      gpumc_error_free(&ignored);
  return kernel != NULL ? kernel->trajectory : "none";
}

/* The same configuration gives other numbers with a kernel of another trajectory. */
static enum gpumc_status compare_trajectory(const struct gpumc_task *task,
                                            const struct gpumc_result *result,
                                            struct gpumc_error *error)
{
  const char *before = gpumc_result_field(&result->provenance, "trajectory");
  const char *device = gpumc_result_field(&result->provenance, "kernel_device");
  const char *now = trajectory_of(task, device != NULL ? device : "cpu");
  if (before != NULL && strcmp(before, now) == 0)
    return GPUMC_OK;
  return gpumc_error_set(error, GPUMC_INVALID,
                         "%s was made with trajectory %s, this program has %s: choose another "
                         "output, or replace it with --fresh",
                         task->output, before != NULL ? before : "unknown", now);
}

/* Of the first `samples` of the task's model as they stand in its file now; `*now` is empty where
 * there are no longer so many. */
static enum gpumc_status read_again(const struct gpumc_task *task, size_t samples,
                                    char now[static GPUMC_READ_CHECKSUM_BYTES],
                                    struct gpumc_error *error)
{
  const struct gpumc_params params = gpumc_task_params(task, "model");
  struct gpumc_model model = {0};
  uint64_t checksum = 0;
  now[0] = '\0';
  enum gpumc_status status = task->model->create(&params, &model, error);
  const bool enough = status == GPUMC_OK && samples <= model.samples;
  if (enough)
    status = gpumc_samples_checksum(&model, samples, &checksum, error);
  if (enough && status == GPUMC_OK)
    gpumc_run_read_checksum_text(checksum, now);
  task->model->destroy(&model);
  return status;
}

/* The same configuration may name a file that has changed. A result that does not say what was read
 * is taken as it is: its model reads nothing, or it is from before results said so. */
static enum gpumc_status compare_what_was_read(const struct gpumc_task *task,
                                               const struct gpumc_result *result,
                                               struct gpumc_error *error)
{
  const char *before = gpumc_result_field(&result->provenance, GPUMC_READ_CHECKSUM);
  const char *samples = gpumc_result_field(&result->provenance, GPUMC_READ_SAMPLES);
  char now[GPUMC_READ_CHECKSUM_BYTES];
  if (before == NULL || samples == NULL)
    return GPUMC_OK;
  enum gpumc_status status = read_again(task, strtoul(samples, NULL, 10), now, error);
  if (status == GPUMC_OK && strcmp(before, now) != 0)
    status = gpumc_error_set(error, GPUMC_INVALID,
                             "%s: the file that the model reads holds other values than when the "
                             "result was made: restore it, choose another output, or replace the "
                             "result with --fresh",
                             task->output);
  return status;
}

static enum gpumc_status compare_configuration(const struct gpumc_task *task,
                                               const struct gpumc_result *result,
                                               struct gpumc_error *error)
{
  char *before = gpumc_task_identity_stored(task, result->resolved);
  char *after = gpumc_task_identity(task);
  enum gpumc_status status = GPUMC_OK;
  if (before == NULL || after == NULL) {
    status = gpumc_error_set(error, GPUMC_FAILURE, "out of memory: comparing configurations");
  } else if (strcmp(before, after) != 0) {
    char *difference = gpumc_identity_difference(before, after);
    status = gpumc_error_set(error, GPUMC_INVALID,
                             "%s is the result of another configuration:\n%s\n"
                             "choose another output, or replace it with --fresh",
                             task->output, difference != NULL ? difference : "");
    free(difference);
  } else {
    status = compare_trajectory(task, result, error);
  }
  free(before);
  free(after);
  return status;
}

static enum gpumc_status compare_result(const struct gpumc_task *task,
                                        const struct gpumc_result *result,
                                        enum gpumc_result_check check, struct gpumc_error *error)
{
  struct gpumc_task closed = *task;
  closed.resolved = gpumc_task_close(task, result->resolved);
  if (closed.resolved == NULL)
    return gpumc_error_set(error, GPUMC_FAILURE, "out of memory: comparing configurations");
  enum gpumc_status status = compare_configuration(&closed, result, error);
  if (status == GPUMC_OK && check == GPUMC_CHECK_FILES)
    status = compare_what_was_read(task, result, error);
  cJSON_Delete(closed.resolved);
  return status;
}

enum gpumc_status gpumc_run_check_output(const struct gpumc_task *task,
                                         enum gpumc_result_check check, bool *complete,
                                         struct gpumc_error *error)
{
  struct gpumc_result result = {0};
  struct gpumc_error reason = {0};
  *complete = false;
  if (!gpumc_file_exists(task->output))
    return GPUMC_OK;
  enum gpumc_status status = gpumc_result_read(task->output, &result, &reason);
  if (status != GPUMC_OK && result.damaged && check == GPUMC_CHECK_ANY)
    status = GPUMC_OK; /* a result of gpumc, to be replaced */
  else if (status != GPUMC_OK && result.damaged)
    status = gpumc_error_set(error, GPUMC_FAILURE,
                             "%s\nrestore it from a copy, or replace it with --fresh",
                             gpumc_error_text(&reason));
  else if (status != GPUMC_OK)
    status = gpumc_error_set(error, GPUMC_INVALID,
                             "something else stands in the place of the result, and is left alone: "
                             "%s\nmove it away or choose another output",
                             gpumc_error_text(&reason));
  else if (!result.complete)
    status = gpumc_error_set(error, GPUMC_INVALID,
                             "%s is an unfinished working file; move it away or choose another "
                             "output",
                             task->output);
  else if (check != GPUMC_CHECK_ANY)
    status = compare_result(task, &result, check, error);
  *complete = status == GPUMC_OK;
  gpumc_error_free(&reason);
  gpumc_result_free(&result);
  return status;
}

/* `path` and what an interrupted replacement of it may have left. */
static enum gpumc_status remove_with_successor(const char *path, struct gpumc_error *error)
{
  char *successor = gpumc_path_with_suffix(path, ".new", error);
  if (successor == NULL)
    return GPUMC_FAILURE;
  enum gpumc_status status = gpumc_file_remove(path, error);
  if (status == GPUMC_OK)
    status = gpumc_file_remove(successor, error);
  free(successor);
  return status;
}

enum gpumc_status
gpumc_run_remove_side_files(const struct gpumc_run *run, struct gpumc_error *error)
{
  const char *const paths[] = {run->files.checkpoint, run->files.partial, run->files.status};
  enum gpumc_status status = GPUMC_OK;
  for (size_t i = 0; i < sizeof paths / sizeof *paths && status == GPUMC_OK; i++)
    status = remove_with_successor(paths[i], error);
  /* Behind the checkpoint that needs it; a file of somebody else's is not ours to remove. */
  if (status == GPUMC_OK && gpumc_log_look(run->files.log) != GPUMC_LOG_FOREIGN)
    status = remove_with_successor(run->files.log, error);
  return status;
}

enum gpumc_status gpumc_run_discard(const struct gpumc_run *run, struct gpumc_error *error)
{
  bool complete;
  enum gpumc_status status = gpumc_run_check_output(run->task, GPUMC_CHECK_ANY, &complete, error);
  if (status == GPUMC_OK)
    status = gpumc_run_remove_side_files(run, error);
  if (status == GPUMC_OK)
    status = gpumc_file_remove(run->files.output, error);
  return status;
}

void gpumc_run_write_status(struct gpumc_run *run, enum gpumc_record_state state,
                            const char *message)
{
  struct gpumc_error ignored = {0};
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

static void report_result(const struct gpumc_task *task, struct gpumc_task_report *report)
{
  struct gpumc_error error = {0};
  bool complete;
  if (gpumc_run_check_output(task, GPUMC_CHECK_CONFIGURATION, &complete, &error) == GPUMC_OK) {
    report->state = GPUMC_TASK_DONE;
    report->fraction = 1;
    report->remaining_seconds = 0;
    report->message[0] = '\0';
  } else {
    report->state = GPUMC_TASK_FAILED;
    snprintf(report->message, sizeof report->message, "%s", gpumc_error_text(&error));
  }
  gpumc_error_free(&error);
}

static void report_record(const struct gpumc_task_files *files, struct gpumc_task_report *report)
{
  struct gpumc_status_record record;
  bool running = gpumc_task_lock_held(files, NULL);
  bool known = gpumc_status_record_read(files, &record);
  if (running)
    report->state = GPUMC_TASK_RUNNING;
  else if (known && record.state == GPUMC_RECORD_FAILED)
    report->state = GPUMC_TASK_FAILED;
  else if (gpumc_file_exists(files->checkpoint))
    report->state = GPUMC_TASK_RESUMABLE;
  if (!known || report->state == GPUMC_TASK_NOT_STARTED)
    return;
  report->fraction = record.fraction;
  report->seconds = record.seconds;
  report->remaining_seconds = record.remaining_seconds;
  if (report->state == GPUMC_TASK_FAILED)
    snprintf(report->message, sizeof report->message, "%s", record.message);
}

void gpumc_task_inspect(const struct gpumc_task *task, struct gpumc_task_report *report)
{
  struct gpumc_error error = {0};
  struct gpumc_task_files files;
  *report = (struct gpumc_task_report){
      .state = GPUMC_TASK_NOT_STARTED, .fraction = -1, .seconds = -1, .remaining_seconds = -1};
  if (gpumc_task_files_init(&files, task->output, &error) != GPUMC_OK) {
    report->state = GPUMC_TASK_FAILED;
    snprintf(report->message, sizeof report->message, "%s", gpumc_error_text(&error));
    gpumc_error_free(&error);
    return;
  }
  report_record(&files, report);
  if (report->state != GPUMC_TASK_RUNNING && gpumc_file_exists(files.output))
    report_result(task, report);
  gpumc_task_files_free(&files);
}
