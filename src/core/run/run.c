/* One run from a task to its finished file: start or resume, the loop, checkpoints, stopping. */
#include "core/device/transfer.h"
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
#include "core/run/run_internal.h"
#include "core/simulation/shared_keys.h"
#include "core/simulation/steps.h"

static const double status_interval = 2.0; /* s */
/* The summary may take long: work of more than this many seconds is saved before it. */
static const double final_interval = 5.0; /* s */

/* Messages between processes between units: that one of them was asked to stop; from the root, that
 * the others take part from here on, or that the run is over. */
enum { WORD_STOP, WORD_BEGIN, WORD_OVER, N_WORDS };

static void
exchange_words(const struct run *run, bool begins, bool is_over, uint64_t words[static N_WORDS])
{
  const volatile sig_atomic_t *asked = run->options->stop;
  words[WORD_STOP] = asked != NULL && __atomic_load_n(asked, __ATOMIC_RELAXED) != 0;
  words[WORD_BEGIN] = begins;
  words[WORD_OVER] = is_over;
  gpumc_processes_largest(run->processes, words, N_WORDS);
}

/* Returns whether the algorithm lets processes divide its work, if there is enough of it. */
static bool takes_part(const struct run *run)
{
  return run->processes->module.size > 1 && run->task->algorithm->divides != NULL;
}

/* Returns whether a process lacks room for what is planned. */
static bool one_lacks_room(const struct run *run)
{
  uint64_t lacking = !gpumc_preparation_has_room(&run->preparation);
  gpumc_processes_largest(run->processes, &lacking, 1);
  return lacking != 0;
}

/* If one has no room for whole runs, all have a part of each, provided that this fits. */
static enum gpumc_status make_room(struct run *run, struct gpumc_error *error)
{
  struct gpumc_preparation *preparation = &run->preparation;
  const struct gpumc_preparation before = *preparation;
  if (!one_lacks_room(run))
    return GPUMC_OK;
  GPUMC_TRY(gpumc_run_agree(run, gpumc_preparation_narrow(preparation, error), error));
  if (one_lacks_room(run))
    *preparation = before;
  return GPUMC_OK;
}

/* Decides whether all processes work, the same in all, and what each has of the work. */
static enum gpumc_status divide(struct run *run, struct gpumc_error *error)
{
  struct gpumc_preparation *preparation = &run->preparation;
  char kernel[160];
  if (!takes_part(run))
    return GPUMC_OK;
  snprintf(kernel, sizeof kernel, "%s on %s, trajectory %s", preparation->kernel->variant,
           preparation->kernel->device, gpumc_kernel_trajectory(preparation->kernel));
  GPUMC_TRY(gpumc_processes_same(run->processes, "the kernel", kernel, error));
  GPUMC_TRY(gpumc_processes_agree(
      run->processes, gpumc_preparation_divide(preparation, run->processes, error), error));
  run->divided = preparation->demand.plan.division != GPUMC_UNDIVIDED;
  if (!run->divided)
    return GPUMC_OK;
  GPUMC_TRY(gpumc_devices_gather(run->processes, &preparation->device, &run->devices, error));
  const size_t rank = (size_t)run->processes->module.rank;
  gpumc_preparation_share_gpu(preparation, (int)gpumc_devices_sharers(&run->devices, rank));
  return make_room(run, error);
}

/* Prepares device, kernel and model, for the runs that the root's checkpoint has begun. */
static enum gpumc_status prepare(struct run *run, struct gpumc_error *error)
{
  const struct gpumc_processes *processes = takes_part(run) ? run->processes : NULL;
  struct gpumc_slice begun = {0, 0};
  enum gpumc_status status = GPUMC_OK;
  if (run->checkpoint != NULL && !run->options->fresh)
    status = gpumc_run_begun(run, &begun, error);
  if (processes != NULL) {
    GPUMC_TRY(gpumc_processes_agree(processes, status, error));
    gpumc_processes_broadcast(processes, &begun, sizeof begun, 0);
  }
  if (status == GPUMC_OK)
    status = gpumc_prepare(run->task, run->options->threads, processes, &begun, &run->preparation,
                           error);
  return processes != NULL ? gpumc_processes_agree(processes, status, error) : status;
}

/* Builds everything that the algorithm works with. */
static enum gpumc_status build(struct run *run, struct gpumc_error *error)
{
  struct gpumc_preparation *preparation = &run->preparation;
  uint64_t samples = 0;
  GPUMC_TRY(gpumc_preparation_fits(preparation, error));
  GPUMC_TRY(gpumc_samples_checksum(&preparation->model, preparation->demand.plan.samples, &samples,
                                   error));
  GPUMC_TRY(gpumc_ensemble_create(preparation->kernel, &preparation->model, &preparation->device,
                                  &preparation->demand.plan, preparation->seed, preparation->rounds,
                                  &run->ensemble, error));
  GPUMC_TRY(gpumc_prepare_recorder(run->task, run->config->document.source,
                                   !gpumc_is_root(run->processes), &run->recorder, error));
  run->context = (struct gpumc_context){.params = gpumc_task_params(run->task, "algorithm"),
                                        .seed = preparation->seed,
                                        .rounds = preparation->rounds,
                                        .model = &preparation->model,
                                        .device = &preparation->device,
                                        .ensemble = &run->ensemble,
                                        .recorder = run->recorder,
                                        .processes = run->divided ? run->processes : NULL,
                                        .observer = run->options->observer,
                                        .warnings = run->task->warnings,
                                        .seconds = &run->seconds,
                                        .max_seconds = run->options->max_seconds};
  GPUMC_TRY(run->task->algorithm->create(&run->context, &run->state, error));
  run->read_checksum = gpumc_checksum_of_files(run->task, samples, run->context.file_checksum);
  /* Tried again: the allocations may have left no room for their stacks. */
  return gpumc_threads_try(preparation->device.threads, error);
}

/* Returns what is known now. */
static struct gpumc_provenance provenance_of(struct run *run)
{
  return (struct gpumc_provenance){.preparation = &run->preparation,
                                   .processes = run->processes,
                                   .devices = &run->devices,
                                   .context = &run->context,
                                   .read_checksum = run->read_checksum,
                                   .command_line = run->options->command_line,
                                   .started = run->started,
                                   .resumes = run->resumes,
                                   .updates = gpumc_run_position(run).updates,
                                   .seconds = gpumc_run_seconds(run),
                                   .invocation_seconds = gpumc_clock() - run->begun,
                                   .unit_seconds = run->unit_seconds};
}

/* Warns of work that is not divided, and of GPUs that several processes share. */
static void warn_of_division(const struct run *run)
{
  struct gpumc_text undivided = {0}, shared = {0};
  if (gpumc_preparation_undivided(&run->preparation, run->processes, &undivided))
    gpumc_observer_tell(run->options->observer, GPUMC_WARNING, gpumc_text_string(&undivided));
  if (run->preparation.narrowed)
    gpumc_observer_tell(
        run->options->observer, GPUMC_WARNING,
        "a process has too little memory for whole runs of its own: each process works on a part "
        "of every run, and the processes exchange messages in every step");
  if (gpumc_devices_shared(&run->devices, &shared))
    gpumc_observer_tell(run->options->observer, GPUMC_WARNING, gpumc_text_string(&shared));
  const struct gpumc_transfer *transfer = run->preparation.device.transfer;
  if (transfer != NULL && transfer->failed) {
    struct gpumc_text text = {0};
    gpumc_text_append(&text, "data moves between GPUs by %s", transfer->name);
    gpumc_observer_tell(run->options->observer, GPUMC_WARNING, gpumc_text_string(&text));
    gpumc_text_free(&text);
  }
  gpumc_text_free(&undivided);
  gpumc_text_free(&shared);
}

/* Files of couplings or states may differ on another host. */
static enum gpumc_status compare_what_is_read(const struct run *run, struct gpumc_error *error)
{
  char text[GPUMC_READ_CHECKSUM_BYTES];
  return run->divided
             ? gpumc_processes_same(run->processes, "what is read from files",
                                    gpumc_read_checksum_text(run->read_checksum, text), error)
             : GPUMC_OK;
}

/* Finds whether the root has a checkpoint, or discards existing files; all processes learn the
 * answer. */
static enum gpumc_status find_start(struct run *run, bool *resumes, struct gpumc_error *error)
{
  enum gpumc_status status = GPUMC_OK;
  uint64_t word = run->checkpoint != NULL && !run->options->fresh;
  if (run->options->fresh && gpumc_is_root(run->processes))
    status = gpumc_clear_files(run->task, &run->files, run->options->observer, error);
  GPUMC_TRY(gpumc_run_agree(run, status, error));
  if (run->divided)
    gpumc_processes_broadcast(run->processes, &word, sizeof word, 0);
  *resumes = word != 0;
  return run->divided && *resumes ? gpumc_checkpoint_share(&run->checkpoint, run->processes, error)
                                  : GPUMC_OK;
}

/* Continues from the checkpoint if there is one, and puts the working file in its place. */
static enum gpumc_status start(struct run *run, struct gpumc_error *error)
{
  bool resumes;
  GPUMC_TRY(compare_what_is_read(run, error));
  GPUMC_TRY(find_start(run, &resumes, error));
  if (resumes && gpumc_run_load(run, error) != GPUMC_OK)
    return gpumc_run_fail(run, error);
  if (run->checkpoint != NULL)
    gpumc_observer_note(run->options->observer, "%s: resuming at %.0f %%", run->task->output,
                        100 * gpumc_run_position(run).fraction);
  gpumc_checkpoint_close(run->checkpoint);
  run->checkpoint = NULL;
  warn_of_division(run);
  const cJSON *warning;
  cJSON_ArrayForEach(warning, run->context.warnings)
      gpumc_observer_tell(run->options->observer, GPUMC_WARNING, warning->valuestring);
  run->begun_fraction = gpumc_run_position(run).fraction;
  run->checkpointed = gpumc_clock();
  const struct gpumc_provenance provenance = provenance_of(run);
  GPUMC_TRY(gpumc_provenance_start(&provenance, error));
  return gpumc_recorder_start(run->recorder, error);
}

static void tell_work(const struct run *run, bool at_work)
{
  if (run->options->at_work != NULL)
    __atomic_store_n(run->options->at_work, at_work, __ATOMIC_SEQ_CST);
}

static bool stop_asked(const struct run *run)
{
  uint64_t words[N_WORDS];
  exchange_words(run, false, false, words);
  return words[WORD_STOP] != 0;
}

/* Decided by the root's clock. */
static bool out_of_time(const struct run *run)
{
  return gpumc_is_root(run->processes) && run->options->max_seconds > 0 &&
         gpumc_clock() - run->begun >= run->options->max_seconds;
}

static enum gpumc_status stop(struct run *run, struct gpumc_error *error)
{
  GPUMC_TRY(gpumc_run_save(run, error));
  GPUMC_TRY(gpumc_run_agree(run, gpumc_recorder_flush(run->recorder, error), error));
  gpumc_run_write_status(run, GPUMC_RECORD_STOPPED, NULL);
  gpumc_observer_note(run->options->observer, "%s: stopped at %.0f %%, checkpoint written",
                      run->task->output, 100 * gpumc_run_position(run).fraction);
  return gpumc_error_set(error, GPUMC_STOPPED, "stopped");
}

static void tell_progress(struct run *run)
{
  const struct gpumc_observer *observer = run->options->observer;
  if (observer != NULL && observer->progress != NULL) {
    struct gpumc_position position = gpumc_run_position(run);
    observer->progress(observer->state, &position, gpumc_run_seconds(run));
  }
  if (gpumc_clock() - run->status_written >= status_interval)
    gpumc_run_write_status(run, GPUMC_RECORD_RUNNING, NULL);
}

/* What to do after a unit, as the root decides. */
enum { DUE_STOP, DUE_CHECKPOINT, N_DUE };

static void find_due(const struct run *run, double interval, uint64_t due[static N_DUE])
{
  const bool root = gpumc_is_root(run->processes);
  due[DUE_STOP] = !run->finished && out_of_time(run);
  due[DUE_CHECKPOINT] =
      root && (gpumc_clock() - run->checkpointed >= interval || gpumc_run_position(run).decided);
  if (run->divided)
    gpumc_processes_broadcast(run->processes, due, N_DUE * sizeof *due, 0);
}

/* Waits for what units have enqueued, as part of their time. */
static enum gpumc_status wait_for_units(struct run *run, struct gpumc_error *error)
{
  struct gpumc_device *device = &run->preparation.device;
  const double begun = gpumc_clock();
  if (device->ops->synchronize(device, error) != GPUMC_OK)
    return gpumc_run_fail(run, error);
  run->unit_seconds += gpumc_clock() - begun;
  return GPUMC_OK;
}

/* Performs units of progress until the last one, a stop, or a failure. */
static enum gpumc_status work(struct run *run, struct gpumc_error *error)
{
  struct gpumc_params root = gpumc_task_params(run->task, "");
  double checkpoint_interval = gpumc_params_real(&root, "checkpoint.every");
  gpumc_run_write_status(run, GPUMC_RECORD_RUNNING, NULL);
  while (!run->finished) {
    uint64_t due[N_DUE];
    if (stop_asked(run))
      return stop(run, error);
    double unit_begun = gpumc_clock();
    if (run->task->algorithm->advance(run->state, &run->finished, error) != GPUMC_OK)
      return gpumc_run_fail(run, error);
    run->unit_seconds += gpumc_clock() - unit_begun;
    tell_progress(run);
    find_due(run, run->finished ? fmin(checkpoint_interval, final_interval) : checkpoint_interval,
             due);
    if (due[DUE_STOP])
      return stop(run, error);
    if (due[DUE_CHECKPOINT])
      GPUMC_TRY(gpumc_run_save(run, error));
  }
  return wait_for_units(run, error);
}

static enum gpumc_status finish(struct run *run, struct gpumc_error *error)
{
  char duration[32];
  GPUMC_TRY(gpumc_ensemble_inspect(&run->ensemble, error));
  if (gpumc_steps_settle(&run->ensemble, error) != GPUMC_OK)
    return gpumc_run_fail(run, error);
  if (run->divided && run->task->algorithm->bring_together != NULL &&
      run->task->algorithm->bring_together(run->state, error) != GPUMC_OK)
    return gpumc_run_fail(run, error);
  if (!gpumc_is_root(run->processes))
    return GPUMC_OK;
  GPUMC_TRY(gpumc_recorder_close_tables(run->recorder, error));
  if (run->task->model->record != NULL)
    GPUMC_TRY(run->task->model->record(&run->preparation.model,
                                       run->preparation.demand.plan.samples, run->recorder, error));
  run->seconds = gpumc_run_seconds(run);
  GPUMC_TRY(run->task->algorithm->summarize(run->state, error));
  struct gpumc_provenance provenance = provenance_of(run);
  GPUMC_TRY(gpumc_steps_proposals(&run->ensemble, &provenance.updates, error));
  GPUMC_TRY(gpumc_provenance_end(&provenance, error));
  if (gpumc_file_exists(run->files.output))
    return gpumc_error_set(error, GPUMC_FAILURE,
                           "%s: appeared during the run, and was left alone: move it away, and the "
                           "same command finishes the run",
                           run->files.output);
  GPUMC_TRY(gpumc_recorder_finish(run->recorder, error));
  gpumc_observer_note(run->options->observer, "%s: complete after %s", run->task->output,
                      gpumc_duration_text(gpumc_run_seconds(run), duration));
  return GPUMC_OK;
}

static void release(struct run *run)
{
  run->task->algorithm->destroy(run->state);
  gpumc_recorder_free(run->recorder);
  gpumc_checkpoint_close(run->checkpoint);
  gpumc_ensemble_free(&run->ensemble);
  gpumc_preparation_free(&run->preparation);
  gpumc_devices_free(&run->devices);
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

/* A file as it was seen: another file, or other contents, differ in at least one of these. */
struct sight {
  bool complete; /* this task's finished result */
  struct stat file;
};

/* Looks without the lock; this can only be trusted if it finds the task's finished result. */
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

/* Returns whether the finished result that was seen is still the same file, unchanged: it may be
 * large, and so may the task's input files, so none is read again. */
static bool is_still_complete(const struct run *run, const struct sight *sight)
{
  const struct stat *before = &sight->file;
  struct stat now;
  return sight->complete && stat(run->task->output, &now) == 0 && now.st_dev == before->st_dev &&
         now.st_ino == before->st_ino && now.st_size == before->st_size &&
         same_instant(now.st_mtim, before->st_mtim) && same_instant(now.st_ctim, before->st_ctim);
}

/* Performs the whole run. `*in_the_way`: it did not start because of files of another
 * configuration. Processes other than the root return if they have no part of it. */
static enum gpumc_status
build_to_finish(struct run *run, bool *in_the_way, struct gpumc_error *error)
{
  *in_the_way = false;
  GPUMC_TRY(prepare(run, error));
  GPUMC_TRY(divide(run, error));
  if (!run->divided && !gpumc_is_root(run->processes))
    return GPUMC_OK;
  GPUMC_TRY(gpumc_run_agree(run, build(run, error), error));
  const enum gpumc_status status = gpumc_run_agree(run, start(run, error), error);
  *in_the_way = status == GPUMC_INVALID;
  GPUMC_TRY(status);
  tell_work(run, true);
  GPUMC_TRY(work(run, error));
  return finish(run, error);
}

/* Call with the lock held: no other process touches the files. */
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
  /* If files of another configuration are in the way, the status record is theirs; a result that a
   * fresh start did not discard stays as it was. */
  bool in_the_way;
  uint64_t words[N_WORDS];
  if (takes_part(run))
    exchange_words(run, true, false, words);
  enum gpumc_status status = build_to_finish(run, &in_the_way, error);
  tell_work(run, false);
  if (status == GPUMC_OK)
    status = clear_side_files(run, error);
  else if (status != GPUMC_STOPPED && !in_the_way && !gpumc_file_exists(run->files.output))
    gpumc_run_write_status(run, GPUMC_RECORD_FAILED, gpumc_error_text(error));
  release(run);
  return status;
}

/* A finished result needs no lock, and a directory that is not writable grants none. */
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

/* The task, as the root performs it. */
static enum gpumc_status lead(struct run *run, struct gpumc_error *error)
{
  enum gpumc_status status = gpumc_task_files_init(&run->files, run->task->output, error);
  if (status == GPUMC_OK)
    status = run_with_lock(run, error);
  gpumc_task_files_free(&run->files);
  uint64_t words[N_WORDS];
  if (run->processes->module.size > 1)
    exchange_words(run, false, true, words);
  return status;
}

/* The task in another process: its part, if it has one, and the signals that it receives. */
static enum gpumc_status follow(struct run *run, struct gpumc_error *error)
{
  enum gpumc_status status = GPUMC_OK;
  uint64_t words[N_WORDS] = {0};
  tell_work(run, true); /* the root's, which may begin at any instant */
  for (bool in_the_way; !words[WORD_OVER];) {
    exchange_words(run, false, false, words);
    if (words[WORD_BEGIN]) {
      status = build_to_finish(run, &in_the_way, error);
      release(run);
    }
  }
  tell_work(run, false);
  return status;
}

enum gpumc_status gpumc_run_task(const struct gpumc_config *config, const struct gpumc_task *task,
                                 const struct gpumc_run_options *options, struct gpumc_error *error)
{
  struct run run = {.config = config, .task = task, .options = options};
  run.begun = gpumc_clock();
  run.processes = options->processes != NULL ? options->processes : gpumc_processes_alone();
  gpumc_processes_restart(run.processes);
  gpumc_timestamp(run.started);
  run.identity = gpumc_task_identity(task);
  const char *identity = run.identity != NULL ? run.identity : "";
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, gpumc_processes_same(run.processes, "the configuration", identity, error));
  if (run.identity == NULL)
    GPUMC_TRY_OUT(status,
                  gpumc_error_set(error, GPUMC_FAILURE, "out of memory: the identity of a task"));
  status = gpumc_is_root(run.processes) ? lead(&run, error) : follow(&run, error);
  status = gpumc_processes_agree(run.processes, status, error);
out:
  free(run.identity);
  return status;
}
