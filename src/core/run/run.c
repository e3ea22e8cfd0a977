/* One run from a task to its finished file: start or resume, the loop, checkpoints, stopping. */
#include "core/run/run.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "core/base/clock.h"
#include "core/base/threads.h"
#include "core/base/units.h"
#include "core/run/run_internal.h"
#include "core/simulation/samples.h"

static const double status_interval = 2.0; /* s */
/* The summary may take long: more than this much work is saved before it. */
static const double final_interval = 5.0; /* s */

double gpumc_run_seconds(const struct gpumc_run *run)
{
  return run->earlier_seconds + gpumc_clock() - run->begun;
}

void gpumc_run_timestamp(char text[static 32])
{
  time_t now = time(NULL);
  struct tm utc;
  gmtime_r(&now, &utc);
  strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

void gpumc_run_note(const struct gpumc_run *run, const char *format, ...)
{
  char *text = NULL;
  va_list arguments;
  va_start(arguments, format);
  if (vasprintf(&text, format, arguments) >= 0)
    gpumc_observer_tell(run->options->observer, GPUMC_NOTE, text);
  va_end(arguments);
  free(text);
}

struct gpumc_position gpumc_run_position(const struct gpumc_run *run)
{
  struct gpumc_position position = {.coordinate = ""};
  if (run->state != NULL)
    run->task->algorithm->position(run->state, &position);
  return position;
}

static enum gpumc_status create_recorder(struct gpumc_run *run, struct gpumc_error *error)
{
  const struct gpumc_task *task = run->task;
  struct gpumc_params root = gpumc_task_params(task, "");
  struct gpumc_text citations = {0};
  char *resolved = cJSON_Print(task->resolved);
  gpumc_text_append(&citations, "%s%s", task->model->citation != NULL ? task->model->citation : "",
                    task->algorithm->citation != NULL ? task->algorithm->citation : "");
  enum gpumc_status status;
  if (resolved == NULL || citations.failed) {
    status = gpumc_error_set(error, GPUMC_FAILURE, "out of memory: the resolved configuration");
  } else {
    struct gpumc_recorder_header header = {
        .output = task->output,
        .title = gpumc_params_has(&root, "title") ? gpumc_params_string(&root, "title") : "",
        .source = run->config->document.source,
        .resolved = resolved,
        .citations = gpumc_text_string(&citations)};
    status = gpumc_recorder_create(&header, &run->recorder, error);
  }
  gpumc_text_free(&citations);
  free(resolved);
  return status;
}

/* Everything that the algorithm works with. */
static enum gpumc_status build(struct gpumc_run *run, struct gpumc_error *error)
{
  struct gpumc_preparation *preparation = &run->preparation;
  enum gpumc_status status = gpumc_prepare(run->task, run->options->threads, preparation, error);
  if (status == GPUMC_OK)
    status = gpumc_preparation_fits(preparation, error);
  if (status == GPUMC_OK)
    status = gpumc_samples_checksum(&preparation->model, preparation->demand.plan.samples,
                                    &run->read_checksum, error);
  if (status == GPUMC_OK)
    status = gpumc_ensemble_create(preparation->kernel, &preparation->model, &preparation->device,
                                   &preparation->demand.plan, preparation->seed,
                                   preparation->rounds, &run->ensemble, error);
  if (status == GPUMC_OK)
    status = create_recorder(run, error);
  if (status != GPUMC_OK)
    return status;
  run->context = (struct gpumc_context){.params = gpumc_task_params(run->task, "algorithm"),
                                        .seed = preparation->seed,
                                        .rounds = preparation->rounds,
                                        .model = &preparation->model,
                                        .device = &preparation->device,
                                        .ensemble = &run->ensemble,
                                        .recorder = run->recorder,
                                        .observer = run->options->observer,
                                        .warnings = run->task->warnings};
  status = run->task->algorithm->create(&run->context, &run->state, error);
  /* Again: what has been allocated may have left no room for their stacks. */
  return status == GPUMC_OK ? gpumc_threads_try(preparation->device.threads, error) : status;
}

/* Go on where a checkpoint is, and put the working file in its place. */
static enum gpumc_status start(struct gpumc_run *run, struct gpumc_error *error)
{
  enum gpumc_status status = GPUMC_OK;
  if (run->options->fresh)
    status = gpumc_run_discard(run, error);
  else if (run->checkpoint != NULL)
    status = gpumc_run_load(run, run->checkpoint, error);
  if (status != GPUMC_OK)
    return status;
  if (run->checkpoint != NULL)
    gpumc_run_note(run, "%s: resuming at %.0f %%", run->task->output,
                   100 * gpumc_run_position(run).fraction);
  gpumc_checkpoint_close(run->checkpoint);
  run->checkpoint = NULL;
  const cJSON *warning;
  cJSON_ArrayForEach(warning, run->context.warnings)
      gpumc_observer_tell(run->options->observer, GPUMC_WARNING, warning->valuestring);
  run->begun_fraction = gpumc_run_position(run).fraction;
  run->checkpointed = gpumc_clock();
  status = gpumc_run_record_start(run, error);
  return status == GPUMC_OK ? gpumc_recorder_start(run->recorder, error) : status;
}

static bool stop_asked(const struct gpumc_run *run)
{
  return run->options->stop != NULL && *run->options->stop != 0;
}

static bool out_of_time(const struct gpumc_run *run)
{
  return run->options->max_seconds > 0 && gpumc_clock() - run->begun >= run->options->max_seconds;
}

static enum gpumc_status stop(struct gpumc_run *run, struct gpumc_error *error)
{
  enum gpumc_status status = gpumc_run_save(run, error);
  if (status == GPUMC_OK)
    status = gpumc_recorder_flush(run->recorder, error);
  if (status != GPUMC_OK)
    return status;
  gpumc_run_write_status(run, GPUMC_RECORD_STOPPED, NULL);
  gpumc_run_note(run, "%s: stopped at %.0f %%, checkpoint written", run->task->output,
                 100 * gpumc_run_position(run).fraction);
  return gpumc_error_set(error, GPUMC_STOPPED, "stopped");
}

static void tell_progress(struct gpumc_run *run)
{
  const struct gpumc_observer *observer = run->options->observer;
  if (observer != NULL && observer->progress != NULL) {
    struct gpumc_position position = gpumc_run_position(run);
    observer->progress(observer->state, &position, gpumc_run_seconds(run));
  }
  if (gpumc_clock() - run->status_written >= status_interval)
    gpumc_run_write_status(run, GPUMC_RECORD_RUNNING, NULL);
}

/* Units of progress until the last one, a stop, or a failure. */
static enum gpumc_status work(struct gpumc_run *run, struct gpumc_error *error)
{
  struct gpumc_params root = gpumc_task_params(run->task, "");
  double checkpoint_interval = gpumc_params_real(&root, "checkpoint.every");
  enum gpumc_status status = GPUMC_OK;
  gpumc_run_write_status(run, GPUMC_RECORD_RUNNING, NULL);
  while (!run->finished && status == GPUMC_OK) {
    if (stop_asked(run))
      return stop(run, error);
    double unit_begun = gpumc_clock();
    status = run->task->algorithm->advance(run->state, &run->finished, error);
    if (status != GPUMC_OK)
      return status;
    run->unit_seconds += gpumc_clock() - unit_begun;
    tell_progress(run);
    if (!run->finished && out_of_time(run))
      return stop(run, error);
    double interval =
        run->finished ? fmin(checkpoint_interval, final_interval) : checkpoint_interval;
    if (gpumc_clock() - run->checkpointed >= interval)
      status = gpumc_run_save(run, error);
  }
  return status;
}

static enum gpumc_status finish(struct gpumc_run *run, struct gpumc_error *error)
{
  char duration[32];
  enum gpumc_status status = gpumc_recorder_close_tables(run->recorder, error);
  if (status == GPUMC_OK && run->task->model->record != NULL)
    status = run->task->model->record(&run->preparation.model, run->ensemble.plan.samples,
                                      run->recorder, error);
  if (status == GPUMC_OK)
    status = run->task->algorithm->summarize(run->state, error);
  if (status == GPUMC_OK)
    status = gpumc_run_record_end(run, error);
  if (status == GPUMC_OK && gpumc_file_exists(run->files.output))
    status = gpumc_error_set(error, GPUMC_FAILURE,
                             "%s: has appeared while the run worked, and is left alone: move it "
                             "away, and the same command finishes the run",
                             run->files.output);
  if (status == GPUMC_OK)
    status = gpumc_recorder_finish(run->recorder, error);
  if (status != GPUMC_OK)
    return status;
  gpumc_run_note(run, "%s: complete after %s", run->task->output,
                 gpumc_duration_text(gpumc_run_seconds(run), duration));
  return GPUMC_OK;
}

static void release(struct gpumc_run *run)
{
  run->task->algorithm->destroy(run->state);
  gpumc_recorder_free(run->recorder);
  gpumc_checkpoint_close(run->checkpoint);
  gpumc_ensemble_free(&run->ensemble);
  gpumc_preparation_free(&run->preparation);
  run->state = NULL;
  run->recorder = NULL;
  run->checkpoint = NULL;
}

static void note_complete(const struct gpumc_run *run)
{
  gpumc_run_note(run, "%s: already complete", run->task->output);
}

/* A file as it was seen: another one, or other contents, differ in some of this. */
struct sight {
  bool complete; /* this task's finished result */
  struct stat file;
};

/* A look without the lock, which can only be trusted when it finds this task's finished result. */
static struct sight look(const struct gpumc_run *run)
{
  struct gpumc_error ignored = {0};
  struct sight sight = {0};
  if (!run->options->fresh && stat(run->task->output, &sight.file) == 0 &&
      gpumc_run_check_output(run->task, GPUMC_CHECK_FILES, &sight.complete, &ignored) != GPUMC_OK)
    gpumc_error_free(&ignored);
  return sight;
}

static bool same_instant(struct timespec a, struct timespec b)
{
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* Whether the finished result that was seen is still the same file, unchanged: it may be large, and
 * so may be the file that the model reads, so neither is read again. */
static bool is_still_complete(const struct gpumc_run *run, const struct sight *sight)
{
  const struct stat *before = &sight->file;
  struct stat now;
  return sight->complete && stat(run->task->output, &now) == 0 && now.st_dev == before->st_dev &&
         now.st_ino == before->st_ino && now.st_size == before->st_size &&
         same_instant(now.st_mtim, before->st_mtim) && same_instant(now.st_ctim, before->st_ctim);
}

/* With the lock held: the files are ours alone. */
static enum gpumc_status
run_locked(struct gpumc_run *run, const struct sight *sight, struct gpumc_error *error)
{
  if (is_still_complete(run, sight)) {
    note_complete(run);
    return gpumc_run_remove_side_files(run, error);
  }
  const enum gpumc_result_check check = run->options->fresh ? GPUMC_CHECK_ANY : GPUMC_CHECK_FILES;
  struct gpumc_run_decision decision;
  enum gpumc_status status = gpumc_run_decide(run->task, &run->files, check, &decision, error);
  if (status != GPUMC_OK)
    return status;
  if (decision.complete && !run->options->fresh) {
    note_complete(run);
    return gpumc_run_remove_side_files(run, error);
  }
  run->checkpoint = decision.checkpoint;
  /* Files of another configuration, and the status record is theirs; a result that a fresh start
   * has not come to discard stays what it was. */
  bool in_the_way = false;
  status = build(run, error);
  if (status == GPUMC_OK) {
    status = start(run, error);
    in_the_way = status == GPUMC_INVALID;
  }
  if (status == GPUMC_OK)
    status = work(run, error);
  if (status == GPUMC_OK)
    status = finish(run, error);
  if (status == GPUMC_OK)
    status = gpumc_run_remove_side_files(run, error);
  else if (status != GPUMC_STOPPED && !in_the_way && !gpumc_file_exists(run->files.output))
    gpumc_run_write_status(run, GPUMC_RECORD_FAILED, gpumc_error_text(error));
  release(run);
  return status;
}

/* A finished result needs no lock, and a directory that cannot be written grants none. */
static enum gpumc_status run_with_lock(struct gpumc_run *run, struct gpumc_error *error)
{
  struct gpumc_task_lock *lock = NULL;
  const struct sight sight = look(run);
  enum gpumc_status status = gpumc_task_lock_acquire(&run->files, &lock, error);
  if (status == GPUMC_OK) {
    status = run_locked(run, &sight, error);
  } else if (sight.complete && !gpumc_task_lock_held(&run->files, NULL)) {
    note_complete(run);
    gpumc_error_free(error);
    status = GPUMC_OK;
  }
  gpumc_task_lock_release(lock);
  return status;
}

enum gpumc_status gpumc_run_task(const struct gpumc_config *config, const struct gpumc_task *task,
                                 const struct gpumc_run_options *options, struct gpumc_error *error)
{
  struct gpumc_run run = {.config = config, .task = task, .options = options};
  run.begun = gpumc_clock();
  gpumc_run_timestamp(run.started);
  run.identity = gpumc_task_identity(task);
  enum gpumc_status status =
      run.identity == NULL
          ? gpumc_error_set(error, GPUMC_FAILURE, "out of memory: the identity of a task")
          : gpumc_task_files_init(&run.files, task->output, error);
  if (status == GPUMC_OK)
    status = run_with_lock(&run, error);
  gpumc_task_files_free(&run.files);
  free(run.identity);
  return status;
}
