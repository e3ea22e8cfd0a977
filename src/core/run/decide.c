/* The files of a task before and after a run, and how the run handles them. */
#include "core/run/decide.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/files.h"
#include "core/base/checksum.h"
#include "core/storage/side_files.h"

/* Refuses an OUTPUT that is not a result, and leaves it alone. `maybe`: it might have been one. */
static enum gpumc_status refuse_output(const char *what, bool maybe, struct gpumc_error *error)
{
  return gpumc_error_set(
      error, GPUMC_INVALID,
      "there is something other than a result at the output path, which was left alone: %s\n%smove "
      "it away, %sor choose another output",
      what, maybe ? "it may be a damaged result, for example one whose end is missing: " : "",
      maybe ? "restore it from a copy, " : "");
}

static enum gpumc_status refuse_link(const char *output, const char *why, struct gpumc_error *error)
{
  return gpumc_error_set(error, GPUMC_INVALID,
                         "%s is a symbolic link%s, and links are never replaced: give the name of "
                         "the file itself, or choose another output",
                         output, why);
}

/* Checks whether there is a file that may be a result; GPUMC_OK with `*there` false if there is
 * none. A link is followed only to a finished result of this configuration, which needs no
 * writing. */
static enum gpumc_status
look_at_output(const char *output, bool *there, bool *linked, struct gpumc_error *error)
{
  struct stat found;
  const char *reason;
  *there = lstat(output, &found) == 0;
  *linked = *there && S_ISLNK(found.st_mode);
  if (!*there)
    return errno == ENOENT || errno == ENOTDIR
               ? GPUMC_OK
               : gpumc_error_set(error, GPUMC_FAILURE, "%s: cannot examine it: %s", output,
                                 strerror(errno));
  int descriptor = gpumc_regular_open(output, O_RDONLY, &reason);
  if (descriptor >= 0) {
    close(descriptor);
    return GPUMC_OK;
  }
  if (*linked && (errno == ENOENT || errno == ELOOP))
    return refuse_link(output, errno == ELOOP ? " that leads in a circle" : " that leads nowhere",
                       error);
  if (errno != EINVAL)
    return gpumc_error_set(error, GPUMC_FAILURE, "%s: cannot open: %s", output, reason);
  struct gpumc_error special = {0};
  gpumc_error_set(&special, GPUMC_INVALID, "%s: %s", output, reason);
  enum gpumc_status status = refuse_output(gpumc_error_text(&special), false, error);
  gpumc_error_free(&special);
  return status;
}

enum gpumc_status gpumc_check_output(const struct gpumc_task *task, enum gpumc_result_check check,
                                     bool *complete, struct gpumc_error *error)
{
  struct gpumc_result result = {0};
  struct gpumc_error reason = {0};
  bool there, linked;
  *complete = false;
  GPUMC_TRY(look_at_output(task->output, &there, &linked, error));
  if (!there)
    return GPUMC_OK;
  enum gpumc_status status = gpumc_result_read(task->output, &result, &reason);
  if (linked && (status != GPUMC_OK || !result.complete || check == GPUMC_CHECK_ANY))
    status = refuse_link(task->output, "", error);
  else if (status != GPUMC_OK && result.damaged && check == GPUMC_CHECK_ANY)
    status = GPUMC_OK; /* a result of gpumc, to be replaced */
  else if (status != GPUMC_OK && result.damaged)
    status = gpumc_error_set(error, GPUMC_FAILURE,
                             "%s\nrestore it from a copy, or replace it with --fresh",
                             gpumc_error_text(&reason));
  else if (status != GPUMC_OK)
    status = refuse_output(gpumc_error_text(&reason), !result.foreign, error);
  else if (!result.complete)
    status = gpumc_error_set(error, GPUMC_INVALID,
                             "%s is an unfinished working file; move it away or choose another "
                             "output",
                             task->output);
  else if (check != GPUMC_CHECK_ANY)
    status = gpumc_compare_result(task, &result, check, error);
  *complete = status == GPUMC_OK;
  gpumc_error_free(&reason);
  gpumc_result_free(&result);
  return status;
}

/* Returns whether an unreadable working file was a finished result. The recorder syncs everything
 * to the disk before it seals; and a file without a seal that a killed process leaves is still
 * open, or has a checkpoint from which it is rebuilt. */
static bool was_finished(const struct gpumc_task_files *files, const char *path)
{
  struct gpumc_error ignored = {0};
  enum gpumc_seal seal = GPUMC_SEAL_NONE;
  if (gpumc_seal_check(path, &seal, &ignored) != GPUMC_OK)
    gpumc_error_free(&ignored);
  return seal != GPUMC_SEAL_NONE ||
         (gpumc_working_file_is_closed(path) && !gpumc_file_exists(files->checkpoint));
}

/* A finished result at OUTPUT.partial is ours if a run was killed between finishing it and giving
 * it its name, or while it had both names; any other, such as another task's or a copy that
 * somebody made, is not, nor is a damaged one. */
static bool is_foreign_result(const struct gpumc_task *task, const struct gpumc_task_files *files,
                              const char *path)
{
  struct gpumc_result result = {0};
  struct gpumc_error ignored = {0};
  if (gpumc_side_file_look(path, GPUMC_SIDE_PARTIAL) != GPUMC_PRESENCE_OURS ||
      gpumc_file_is_same(path, files->output))
    return false;
  const bool readable = gpumc_working_file_read(path, &result, &ignored) == GPUMC_OK;
  bool foreign = readable ? result.complete : was_finished(files, path);
  if (foreign && readable && strcmp(path, files->partial) == 0)
    foreign = gpumc_file_exists(files->output) ||
              gpumc_compare_result(task, &result, GPUMC_CHECK_CONFIGURATION, &ignored) != GPUMC_OK;
  gpumc_error_free(&ignored);
  gpumc_result_free(&result);
  return foreign;
}

/* Returns the name of one at OUTPUT.partial or OUTPUT.partial.new; NULL if there is none. Caller
 * frees. */
static char *
find_foreign_result(const struct gpumc_task *task, const struct gpumc_task_files *files)
{
  static const char *const suffixes[] = {"", ".new"};
  struct gpumc_error ignored = {0};
  for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
    char *path = gpumc_path_with_suffix(files->partial, suffixes[i], &ignored);
    if (path != NULL && is_foreign_result(task, files, path))
      return path;
    free(path);
  }
  gpumc_error_free(&ignored);
  return NULL;
}

static enum gpumc_status check_side_files(const struct gpumc_task *task,
                                          const struct gpumc_task_files *files,
                                          struct gpumc_error *error)
{
  char *foreign = find_foreign_result(task, files);
  if (foreign != NULL) {
    gpumc_error_set(error, GPUMC_FAILURE,
                    "%s: not a working file but a finished or damaged result, which was left "
                    "alone: move it away or choose another output",
                    foreign);
    free(foreign);
    return GPUMC_FAILURE;
  }
  GPUMC_TRY(gpumc_side_file_check(files->lock, GPUMC_SIDE_LOCK, error));
  return gpumc_side_files_check(files->output, error);
}

enum gpumc_status gpumc_decide_nothing_deleted(struct gpumc_error *error)
{
  char *reason = strdup(gpumc_error_text(error));
  const bool everywhere = error->everywhere;
  gpumc_error_set(error, GPUMC_FAILURE,
                  "%s\nnothing was deleted: put a good copy in its place, choose another output, "
                  "or start over with --fresh",
                  reason != NULL ? reason : "");
  error->everywhere = everywhere;
  free(reason);
  return GPUMC_FAILURE;
}

typedef enum gpumc_status open_checkpoint(const char *path, struct gpumc_checkpoint_reader **reader,
                                          struct gpumc_error *error);

/* Opens a checkpoint of the task's configuration, which the caller closes; NULL on failure. */
static enum gpumc_status take_checkpoint(const struct gpumc_task *task, const char *path,
                                         enum gpumc_result_check check, open_checkpoint *open_it,
                                         struct gpumc_checkpoint_reader **checkpoint,
                                         struct gpumc_error *error)
{
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, open_it(path, checkpoint, error));
  GPUMC_TRY_OUT(status, gpumc_compare_checkpoint(task, path, *checkpoint, error));
  if (check == GPUMC_CHECK_LOOK)
    GPUMC_TRY_OUT(status, gpumc_compare_file(task, path, *checkpoint, error));
  return GPUMC_OK;
out:
  gpumc_checkpoint_close(*checkpoint);
  *checkpoint = NULL;
  return status;
}

static bool is_look(enum gpumc_result_check check)
{
  return check == GPUMC_CHECK_CONFIGURATION || check == GPUMC_CHECK_LOOK;
}

/* A run takes the lock first: if something prevents that, it is the reason that the run reports. */
static enum gpumc_status prefer_obstacle(const struct gpumc_task_files *files,
                                         enum gpumc_status status, struct gpumc_error *error)
{
  struct gpumc_error obstacle = {0};
  if (gpumc_task_lock_check(files, &obstacle) == GPUMC_OK)
    return status;
  gpumc_error_free(error);
  *error = obstacle;
  return error->status;
}

enum gpumc_status gpumc_decide(const struct gpumc_task *task, const struct gpumc_task_files *files,
                               enum gpumc_result_check check, struct gpumc_decision *decision,
                               struct gpumc_error *error)
{
  *decision = (struct gpumc_decision){0};
  enum gpumc_status status = gpumc_check_output(task, check, &decision->complete, error);
  if (decision->complete && check != GPUMC_CHECK_ANY)
    return status;
  if (is_look(check))
    status = prefer_obstacle(files, status, error);
  GPUMC_TRY(status);
  GPUMC_TRY(check_side_files(task, files, error));
  if (check == GPUMC_CHECK_ANY || !gpumc_file_exists(files->checkpoint))
    return GPUMC_OK;
  /* Only success may skip the verification: a refusal must give the reason that the run gives. */
  if (is_look(check)) {
    struct gpumc_error ignored = {0};
    if (take_checkpoint(task, files->checkpoint, check, gpumc_checkpoint_peek,
                        &decision->checkpoint, &ignored) == GPUMC_OK)
      return GPUMC_OK;
    gpumc_error_free(&ignored);
  }
  status = take_checkpoint(task, files->checkpoint, check, gpumc_checkpoint_open,
                           &decision->checkpoint, error);
  return status == GPUMC_FAILURE ? gpumc_decide_nothing_deleted(error) : status;
}

static bool is_empty(const char *path)
{
  struct stat found;
  return lstat(path, &found) == 0 && found.st_size == 0;
}

/* Returns whether a checkpoint of gpumc exists that is not of this configuration, or cannot be
 * read. */
static bool
is_foreign_checkpoint(const struct gpumc_task *task, const struct gpumc_task_files *files)
{
  struct gpumc_checkpoint_reader *checkpoint = NULL;
  struct gpumc_error ignored = {0};
  if (gpumc_side_file_look(files->checkpoint, GPUMC_SIDE_CHECKPOINT) != GPUMC_PRESENCE_OURS ||
      is_empty(files->checkpoint))
    return false;
  const bool foreign = take_checkpoint(task, files->checkpoint, GPUMC_CHECK_CONFIGURATION,
                                       gpumc_checkpoint_open, &checkpoint, &ignored) != GPUMC_OK;
  gpumc_checkpoint_close(checkpoint);
  gpumc_error_free(&ignored);
  return foreign;
}

/* The same for a working file that is not a finished result. */
static bool
is_foreign_working_file(const struct gpumc_task *task, const struct gpumc_task_files *files)
{
  struct gpumc_result result = {0};
  struct gpumc_error ignored = {0};
  const bool foreign =
      gpumc_side_file_look(files->partial, GPUMC_SIDE_PARTIAL) == GPUMC_PRESENCE_OURS &&
      gpumc_result_read(files->partial, &result, &ignored) == GPUMC_OK && !result.complete &&
      gpumc_compare_result(task, &result, GPUMC_CHECK_CONFIGURATION, &ignored) != GPUMC_OK;
  gpumc_error_free(&ignored);
  gpumc_result_free(&result);
  return foreign;
}

/* Returns whether another configuration has been run under the same name: a run that found its
 * result complete, and did no work itself, leaves those files alone. */
static bool another_was_at_work(const struct gpumc_task *task, const struct gpumc_task_files *files,
                                const struct gpumc_observer *observer)
{
  const char *kept = is_foreign_checkpoint(task, files)     ? files->checkpoint
                     : is_foreign_working_file(task, files) ? files->partial
                                                            : NULL;
  if (kept != NULL)
    gpumc_observer_note(observer,
                        "%s: belongs to another configuration or is damaged; it was left alone, "
                        "with the files that belong to it",
                        kept);
  return kept != NULL;
}

enum gpumc_status gpumc_clear_side_files(const struct gpumc_task *task,
                                         const struct gpumc_task_files *files, bool did_work,
                                         const struct gpumc_observer *observer,
                                         struct gpumc_error *error)
{
  /* The log last: after the checkpoint that needs it. */
  static const enum gpumc_side sides[] = {GPUMC_SIDE_CHECKPOINT, GPUMC_SIDE_PARTIAL,
                                          GPUMC_SIDE_STATUS, GPUMC_SIDE_LOG};
  if (!did_work && another_was_at_work(task, files, observer))
    return GPUMC_OK;
  char *foreign_result = find_foreign_result(task, files);
  enum gpumc_status status = GPUMC_OK;
  for (size_t i = 0; i < sizeof sides / sizeof *sides; i++)
    if (sides[i] != GPUMC_SIDE_PARTIAL || foreign_result == NULL)
      GPUMC_TRY_OUT(status, gpumc_side_file_remove(files->output, sides[i], error));
out:
  free(foreign_result);
  return status;
}

enum gpumc_status
gpumc_clear_files(const struct gpumc_task *task, const struct gpumc_task_files *files,
                  const struct gpumc_observer *observer, struct gpumc_error *error)
{
  struct gpumc_decision decision;
  GPUMC_TRY(gpumc_decide(task, files, GPUMC_CHECK_ANY, &decision, error));
  GPUMC_TRY(gpumc_clear_side_files(task, files, true, observer, error));
  return gpumc_file_remove(files->output, error);
}

/* A failure of the last run does not keep the next one from continuing; if there is no checkpoint
 * to continue from, it is all that is known of the task. */
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

/* Reports what a run would do, decided by the same code. */
static void report_decision(const struct gpumc_task *task, const struct gpumc_task_files *files,
                            enum gpumc_result_check check, struct gpumc_task_report *report)
{
  struct gpumc_error error = {0};
  struct gpumc_decision decision;
  enum gpumc_status status = gpumc_decide(task, files, check, &decision, &error);
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
