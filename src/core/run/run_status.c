/* What onlookers learn about a task: its status record, and `gpumc status`. */
#include <stdio.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/run/run_internal.h"

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

/* A failure of the last run does not keep the next one from going on; without a checkpoint, which
 * would show that there is something to go on from, it is all that is known of the task. */
static void
report_failure(const struct gpumc_status_record *record, struct gpumc_task_report *report)
{
  if (report->state == GPUMC_TASK_NOT_STARTED) {
    report->state = GPUMC_TASK_FAILED;
    snprintf(report->message, sizeof report->message, "%s", record->message);
  } else if (report->state == GPUMC_TASK_RESUMABLE) {
    snprintf(report->message, sizeof report->message, "the last run failed: %.480s",
             record->message);
  }
}

static void report_record(const struct gpumc_task_files *files, struct gpumc_task_report *report)
{
  struct gpumc_status_record record;
  if (!gpumc_status_record_read(files, &record))
    return;
  if (record.state == GPUMC_RECORD_FAILED)
    report_failure(&record, report);
  if (report->state == GPUMC_TASK_NOT_STARTED)
    return;
  report->fraction = record.fraction;
  report->seconds = record.seconds;
  report->remaining_seconds = record.remaining_seconds;
}

/* What a run would do, decided by the same code. */
static void report_decision(const struct gpumc_task *task, const struct gpumc_task_files *files,
                            enum gpumc_result_check check, struct gpumc_task_report *report)
{
  struct gpumc_error error = {0};
  struct gpumc_run_decision decision;
  enum gpumc_status status = gpumc_run_decide(task, files, check, &decision, &error);
  if (status != GPUMC_OK) {
    report->state = status == GPUMC_INVALID ? GPUMC_TASK_REFUSED : GPUMC_TASK_FAILED;
    snprintf(report->message, sizeof report->message, "%s", gpumc_error_text(&error));
  } else if (decision.complete) {
    report->state = GPUMC_TASK_DONE;
    report->fraction = 1;
    report->remaining_seconds = 0;
  } else if (decision.checkpoint != NULL) {
    report->state = GPUMC_TASK_RESUMABLE;
  }
  gpumc_checkpoint_close(decision.checkpoint);
  gpumc_error_free(&error);
}

void gpumc_task_inspect(const struct gpumc_task *task, const char *refusal,
                        struct gpumc_task_report *report)
{
  const enum gpumc_result_check check =
      refusal != NULL ? GPUMC_CHECK_CONFIGURATION : GPUMC_CHECK_LOOK;
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
  if (gpumc_task_lock_held(&files, NULL))
    report->state = GPUMC_TASK_RUNNING;
  else
    report_decision(task, &files, check, report);
  if (report->state != GPUMC_TASK_DONE && report->state != GPUMC_TASK_REFUSED)
    report_record(&files, report);
  gpumc_task_files_free(&files);
  if (refusal != NULL && report->state != GPUMC_TASK_RUNNING) {
    report->state = GPUMC_TASK_REFUSED;
    snprintf(report->message, sizeof report->message, "%s", refusal);
  }
}
