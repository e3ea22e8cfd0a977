/* One run from a task to its finished file: start or resume, the loop, checkpoints, stopping. */
#include "core/run/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/machine.h"
#include "core/base/text.h"
#include "core/run/decide.h"
#include "core/run/provenance.h"
#include "core/simulation/ensemble.h"
#include "core/simulation/shared_keys.h"
#include "core/simulation/steps.h"

static const double status_interval = 2.0; /* s */
/* The summary may take long: more than this much work is saved before it. */
static const double final_interval = 5.0; /* s */

/* Zero-initialise. Everything is owned unless it says otherwise. */
struct run {
  const struct gpumc_config *config;       /* borrowed */
  const struct gpumc_task *task;           /* borrowed */
  const struct gpumc_run_options *options; /* borrowed */
  const struct gpumc_processes *processes; /* borrowed, never NULL */
  struct gpumc_task_files files;
  char *identity;
  struct gpumc_preparation preparation;
  uint64_t read_checksum; /* gpumc_checksum_of_files; 0: none */
  struct gpumc_ensemble ensemble;
  struct gpumc_recorder *recorder;
  struct gpumc_checkpoint_reader *checkpoint; /* to continue from; NULL: none */
  struct gpumc_context context;
  void *state;   /* the algorithm's */
  bool finished; /* all units are done */
  /* Survive in the checkpoint. */
  char started[32]; /* UTC, ISO 8601 */
  uint64_t resumes;
  double earlier_seconds; /* worked before this invocation */
  /* Of this invocation, on the monotonic clock. */
  double begun, begun_fraction, checkpointed, status_written;
  double unit_seconds; /* spent in units: without start, checkpoints and end */
  double seconds;      /* gpumc_context.seconds */
};

/* Seconds worked so far, earlier invocations included. */
static double seconds_worked(const struct run *run)
{
  return run->earlier_seconds + gpumc_clock() - run->begun;
}

static struct gpumc_position position_of(const struct run *run)
{
  struct gpumc_position position = {.coordinate = ""};
  if (run->state != NULL)
    run->task->algorithm->position(run->state, &position);
  position.updates *= run->preparation.per_site;
  position.unit = gpumc_trials_unit(run->preparation.kernel);
  return position;
}

/* For those who look on; best effort, since it decides nothing. `message`: of a failure, else NULL.
 */
static void write_status(struct run *run, enum gpumc_record_state state, const char *message)
{
  struct gpumc_error ignored = {0};
  struct gpumc_status_record record = {.state = state, .remaining_seconds = -1};
  double worked = gpumc_clock() - run->begun;
  record.fraction = run->state != NULL ? position_of(run).fraction : -1;
  record.seconds = seconds_worked(run);
  if (record.fraction > run->begun_fraction)
    record.remaining_seconds =
        worked * (1 - record.fraction) / (record.fraction - run->begun_fraction);
  if (message != NULL)
    snprintf(record.message, sizeof record.message, "%s", message);
  if (gpumc_status_record_write(&run->files, &record, &ignored) != GPUMC_OK)
    gpumc_error_free(&ignored);
  run->status_written = gpumc_clock();
}

/* Order in "run/counters". */
enum { COUNTER_RESUMES, COUNTER_FIRST_RUN, COUNTER_RUNS, COUNTER_TIME, N_COUNTERS };

static enum gpumc_status
save_all(struct run *run, struct gpumc_checkpoint_writer *writer, struct gpumc_error *error)
{
  const struct gpumc_ensemble *ensemble = &run->ensemble;
  uint64_t counters[N_COUNTERS] = {[COUNTER_RESUMES] = run->resumes,
                                   [COUNTER_FIRST_RUN] = ensemble->first_run,
                                   [COUNTER_RUNS] = ensemble->runs,
                                   [COUNTER_TIME] = ensemble->time};
  double seconds = seconds_worked(run);
  GPUMC_TRY(gpumc_checkpoint_put_text(writer, "run/identity", run->identity, error));
  GPUMC_TRY(gpumc_checkpoint_put_text(writer, "run/trajectory",
                                      gpumc_kernel_trajectory(ensemble->ops), error));
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

static enum gpumc_status save(struct run *run, struct gpumc_error *error)
{
  struct gpumc_checkpoint_writer *writer = NULL;
  if (run->task->algorithm->settle != NULL)
    GPUMC_TRY(run->task->algorithm->settle(run->state, error));
  GPUMC_TRY(gpumc_ensemble_inspect(&run->ensemble, error));
  GPUMC_TRY(gpumc_checkpoint_begin(run->files.checkpoint, &writer, error));
  const enum gpumc_status status = save_all(run, writer, error);
  if (status != GPUMC_OK) {
    gpumc_checkpoint_abandon(writer);
    gpumc_error_prefix(error, "checkpoint %s", run->files.checkpoint);
    return status;
  }
  run->checkpointed = gpumc_clock();
  return gpumc_checkpoint_commit(writer, error);
}

static enum gpumc_status
load_counters(struct run *run, struct gpumc_checkpoint_reader *reader, struct gpumc_error *error)
{
  uint64_t counters[N_COUNTERS];
  char *started = NULL;
  GPUMC_TRY(gpumc_checkpoint_get_rows(reader, "run/counters", GPUMC_UINT64, 0, N_COUNTERS, 1,
                                      counters, error));
  GPUMC_TRY(gpumc_checkpoint_get_rows(reader, "run/seconds", GPUMC_FLOAT64, 0, 1, 1,
                                      &run->earlier_seconds, error));
  GPUMC_TRY(gpumc_checkpoint_get_text(reader, "run/started", &started, error));
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
load_all(struct run *run, struct gpumc_checkpoint_reader *reader, struct gpumc_error *error)
{
  GPUMC_TRY(load_counters(run, reader, error));
  GPUMC_TRY(gpumc_ensemble_load(&run->ensemble, reader, error));
  GPUMC_TRY(gpumc_recorder_load(run->recorder, reader, error));
  return run->task->algorithm->load(run->state, reader, &run->finished, error);
}

/* Continues from a checkpoint of this configuration: GPUMC_INVALID when a file that the task
 * reads has changed since, GPUMC_FAILURE when it cannot be read. */
static enum gpumc_status
load(struct run *run, struct gpumc_checkpoint_reader *reader, struct gpumc_error *error)
{
  enum gpumc_status status;
  GPUMC_TRY_OUT(status,
                gpumc_compare_samples(run->files.checkpoint, reader, run->read_checksum, error));
  status = load_all(run, reader, error);
  if (status != GPUMC_OK)
    gpumc_error_prefix(error, "checkpoint %s", run->files.checkpoint);
out:
  return status == GPUMC_FAILURE ? gpumc_decide_nothing_deleted(error) : status;
}

/* Everything that the algorithm works with. */
static enum gpumc_status build(struct run *run, struct gpumc_error *error)
{
  struct gpumc_preparation *preparation = &run->preparation;
  uint64_t samples = 0;
  GPUMC_TRY(gpumc_prepare(run->task, run->options->threads, preparation, error));
  GPUMC_TRY(gpumc_preparation_fits(preparation, error));
  GPUMC_TRY(gpumc_samples_checksum(&preparation->model, preparation->demand.plan.samples, &samples,
                                   error));
  GPUMC_TRY(gpumc_ensemble_create(preparation->kernel, &preparation->model, &preparation->device,
                                  &preparation->demand.plan, preparation->seed, preparation->rounds,
                                  &run->ensemble, error));
  GPUMC_TRY(gpumc_prepare_recorder(run->task, run->config->document.source, &run->recorder, error));
  run->context = (struct gpumc_context){.params = gpumc_task_params(run->task, "algorithm"),
                                        .seed = preparation->seed,
                                        .rounds = preparation->rounds,
                                        .model = &preparation->model,
                                        .device = &preparation->device,
                                        .ensemble = &run->ensemble,
                                        .recorder = run->recorder,
                                        .observer = run->options->observer,
                                        .warnings = run->task->warnings,
                                        .seconds = &run->seconds,
                                        .max_seconds = run->options->max_seconds};
  GPUMC_TRY(run->task->algorithm->create(&run->context, &run->state, error));
  run->read_checksum = gpumc_checksum_of_files(run->task, samples, run->context.file_checksum);
  /* Again: what has been allocated may have left no room for their stacks. */
  return gpumc_threads_try(preparation->device.threads, error);
}

/* As far as it is known now. */
static struct gpumc_provenance provenance_of(struct run *run)
{
  return (struct gpumc_provenance){.preparation = &run->preparation,
                                   .processes = run->processes,
                                   .context = &run->context,
                                   .read_checksum = run->read_checksum,
                                   .command_line = run->options->command_line,
                                   .started = run->started,
                                   .resumes = run->resumes,
                                   .updates = position_of(run).updates,
                                   .seconds = seconds_worked(run),
                                   .unit_seconds = run->unit_seconds};
}

static void warn_of_idle_processes(const struct run *run)
{
  char text[160];
  if (run->processes->module.size == 1)
    return;
  snprintf(text, sizeof text,
           "%d processes, but the work of %s is not divided yet: process 0 does all of it",
           run->processes->module.size, run->task->algorithm->name);
  gpumc_observer_tell(run->options->observer, GPUMC_WARNING, text);
}

/* Continues from the checkpoint if there is one, and puts the working file in its place. */
static enum gpumc_status start(struct run *run, struct gpumc_error *error)
{
  if (run->options->fresh)
    GPUMC_TRY(gpumc_clear_files(run->task, &run->files, run->options->observer, error));
  else if (run->checkpoint != NULL)
    GPUMC_TRY(load(run, run->checkpoint, error));
  if (run->checkpoint != NULL)
    gpumc_observer_note(run->options->observer, "%s: resuming at %.0f %%", run->task->output,
                        100 * position_of(run).fraction);
  gpumc_checkpoint_close(run->checkpoint);
  run->checkpoint = NULL;
  warn_of_idle_processes(run);
  const cJSON *warning;
  cJSON_ArrayForEach(warning, run->context.warnings)
      gpumc_observer_tell(run->options->observer, GPUMC_WARNING, warning->valuestring);
  run->begun_fraction = position_of(run).fraction;
  run->checkpointed = gpumc_clock();
  const struct gpumc_provenance provenance = provenance_of(run);
  GPUMC_TRY(gpumc_provenance_start(&provenance, error));
  return gpumc_recorder_start(run->recorder, error);
}

/* What processes tell each other between units. */
enum { WORD_STOP, WORD_OVER, N_WORDS };

/* Whether any of them was asked to stop; the root says whether the run is over, for the others to
 * learn. */
static bool exchange_words(const struct gpumc_processes *processes,
                           const struct gpumc_run_options *options, bool *over)
{
  uint64_t words[N_WORDS] = {
      [WORD_STOP] = options->stop != NULL && *options->stop != 0, [WORD_OVER] = *over};
  gpumc_processes_largest(processes, words, N_WORDS);
  *over = words[WORD_OVER] != 0;
  return words[WORD_STOP] != 0;
}

static bool stop_asked(const struct run *run)
{
  bool over = false;
  return exchange_words(run->processes, run->options, &over);
}

static bool out_of_time(const struct run *run)
{
  return run->options->max_seconds > 0 && gpumc_clock() - run->begun >= run->options->max_seconds;
}

static enum gpumc_status stop(struct run *run, struct gpumc_error *error)
{
  GPUMC_TRY(save(run, error));
  GPUMC_TRY(gpumc_recorder_flush(run->recorder, error));
  write_status(run, GPUMC_RECORD_STOPPED, NULL);
  gpumc_observer_note(run->options->observer, "%s: stopped at %.0f %%, checkpoint written",
                      run->task->output, 100 * position_of(run).fraction);
  return gpumc_error_set(error, GPUMC_STOPPED, "stopped");
}

static void tell_progress(struct run *run)
{
  const struct gpumc_observer *observer = run->options->observer;
  if (observer != NULL && observer->progress != NULL) {
    struct gpumc_position position = position_of(run);
    observer->progress(observer->state, &position, seconds_worked(run));
  }
  if (gpumc_clock() - run->status_written >= status_interval)
    write_status(run, GPUMC_RECORD_RUNNING, NULL);
}

/* Units of progress until the last one, a stop, or a failure. */
static enum gpumc_status work(struct run *run, struct gpumc_error *error)
{
  struct gpumc_params root = gpumc_task_params(run->task, "");
  double checkpoint_interval = gpumc_params_real(&root, "checkpoint.every");
  write_status(run, GPUMC_RECORD_RUNNING, NULL);
  while (!run->finished) {
    if (stop_asked(run))
      return stop(run, error);
    double unit_begun = gpumc_clock();
    GPUMC_TRY(run->task->algorithm->advance(run->state, &run->finished, error));
    run->unit_seconds += gpumc_clock() - unit_begun;
    tell_progress(run);
    if (!run->finished && out_of_time(run))
      return stop(run, error);
    double interval =
        run->finished ? fmin(checkpoint_interval, final_interval) : checkpoint_interval;
    if (gpumc_clock() - run->checkpointed >= interval || position_of(run).decided)
      GPUMC_TRY(save(run, error));
  }
  return GPUMC_OK;
}

static enum gpumc_status finish(struct run *run, struct gpumc_error *error)
{
  char duration[32];
  GPUMC_TRY(gpumc_ensemble_inspect(&run->ensemble, error));
  GPUMC_TRY(gpumc_recorder_close_tables(run->recorder, error));
  if (run->task->model->record != NULL)
    GPUMC_TRY(run->task->model->record(&run->preparation.model, run->ensemble.plan.samples,
                                       run->recorder, error));
  run->seconds = seconds_worked(run);
  GPUMC_TRY(run->task->algorithm->summarize(run->state, error));
  struct gpumc_provenance provenance = provenance_of(run);
  GPUMC_TRY(gpumc_steps_proposals(&run->ensemble, &provenance.updates, error));
  GPUMC_TRY(gpumc_provenance_end(&provenance, error));
  if (gpumc_file_exists(run->files.output))
    return gpumc_error_set(error, GPUMC_FAILURE,
                           "%s: has appeared while the run worked, and is left alone: move it "
                           "away, and the same command finishes the run",
                           run->files.output);
  GPUMC_TRY(gpumc_recorder_finish(run->recorder, error));
  gpumc_observer_note(run->options->observer, "%s: complete after %s", run->task->output,
                      gpumc_duration_text(seconds_worked(run), duration));
  return GPUMC_OK;
}

static void release(struct run *run)
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

static enum gpumc_status clear_side_files(const struct run *run, struct gpumc_error *error)
{
  const bool did_work = run->recorder != NULL;
  return gpumc_clear_side_files(run->task, &run->files, did_work, run->options->observer, error);
}

static void note_complete(const struct run *run)
{
  gpumc_observer_note(run->options->observer, "%s: already complete", run->task->output);
}

/* A file as it was seen: another one, or other contents, differ in some of this. */
struct sight {
  bool complete; /* this task's finished result */
  struct stat file;
};

/* A look without the lock, which can only be trusted when it finds this task's finished result. */
static struct sight look(const struct run *run)
{
  struct gpumc_error ignored = {0};
  struct sight sight = {0};
  if (!run->options->fresh && stat(run->task->output, &sight.file) == 0 &&
      gpumc_check_output(run->task, GPUMC_CHECK_FILES, &sight.complete, &ignored) != GPUMC_OK)
    gpumc_error_free(&ignored);
  return sight;
}

static bool same_instant(struct timespec a, struct timespec b)
{
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* Whether the finished result that was seen is still the same file, unchanged: it may be large, and
 * so may be the files that the task reads, so none is read again. */
static bool is_still_complete(const struct run *run, const struct sight *sight)
{
  const struct stat *before = &sight->file;
  struct stat now;
  return sight->complete && stat(run->task->output, &now) == 0 && now.st_dev == before->st_dev &&
         now.st_ino == before->st_ino && now.st_size == before->st_size &&
         same_instant(now.st_mtim, before->st_mtim) && same_instant(now.st_ctim, before->st_ctim);
}

/* The whole run. `*in_the_way`: it did not start because of files of another configuration. */
static enum gpumc_status
build_to_finish(struct run *run, bool *in_the_way, struct gpumc_error *error)
{
  *in_the_way = false;
  GPUMC_TRY(build(run, error));
  const enum gpumc_status status = start(run, error);
  *in_the_way = status == GPUMC_INVALID;
  GPUMC_TRY(status);
  GPUMC_TRY(work(run, error));
  return finish(run, error);
}

/* With the lock held: the files are ours alone. */
static enum gpumc_status
run_locked(struct run *run, const struct sight *sight, struct gpumc_error *error)
{
  if (is_still_complete(run, sight)) {
    note_complete(run);
    return clear_side_files(run, error);
  }
  const enum gpumc_result_check check = run->options->fresh ? GPUMC_CHECK_ANY : GPUMC_CHECK_FILES;
  struct gpumc_decision decision;
  GPUMC_TRY(gpumc_decide(run->task, &run->files, check, &decision, error));
  if (decision.complete && !run->options->fresh) {
    note_complete(run);
    return clear_side_files(run, error);
  }
  run->checkpoint = decision.checkpoint;
  /* Files of another configuration, and the status record is theirs; a result that a fresh start
   * has not come to discard stays what it was. */
  bool in_the_way;
  enum gpumc_status status = build_to_finish(run, &in_the_way, error);
  if (status == GPUMC_OK)
    status = clear_side_files(run, error);
  else if (status != GPUMC_STOPPED && !in_the_way && !gpumc_file_exists(run->files.output))
    write_status(run, GPUMC_RECORD_FAILED, gpumc_error_text(error));
  release(run);
  return status;
}

/* A finished result needs no lock, and a directory that cannot be written grants none. */
static enum gpumc_status run_with_lock(struct run *run, struct gpumc_error *error)
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

/* The task, by the root. */
static enum gpumc_status lead(struct run *run, struct gpumc_error *error)
{
  enum gpumc_status status = gpumc_task_files_init(&run->files, run->task->output, error);
  if (status == GPUMC_OK)
    status = run_with_lock(run, error);
  gpumc_task_files_free(&run->files);
  bool over = true;
  if (run->processes->module.size > 1)
    (void)exchange_words(run->processes, run->options, &over);
  return status;
}

/* The task, by a process that has no part of it: passes on the signals that it gets. */
static enum gpumc_status stand_by(const struct run *run)
{
  for (bool over = false; !over;)
    (void)exchange_words(run->processes, run->options, &over);
  return GPUMC_OK;
}

enum gpumc_status gpumc_run_task(const struct gpumc_config *config, const struct gpumc_task *task,
                                 const struct gpumc_run_options *options, struct gpumc_error *error)
{
  struct run run = {.config = config, .task = task, .options = options};
  run.begun = gpumc_clock();
  run.processes = options->processes != NULL ? options->processes : gpumc_processes_alone();
  gpumc_timestamp(run.started);
  run.identity = gpumc_task_identity(task);
  const char *identity = run.identity != NULL ? run.identity : "";
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, gpumc_processes_same(run.processes, "the configuration", identity, error));
  if (run.identity == NULL)
    GPUMC_TRY_OUT(status,
                  gpumc_error_set(error, GPUMC_FAILURE, "out of memory: the identity of a task"));
  status = gpumc_is_root(run.processes) ? lead(&run, error) : stand_by(&run);
  status = gpumc_processes_agree(run.processes, status, error);
out:
  free(run.identity);
  return status;
}
