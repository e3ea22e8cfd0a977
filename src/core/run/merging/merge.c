/* Merging: from compatible sources to the finished file.
 *
 * A merged result is made like that of a run: by the algorithm's own state, here filled from the
 * sources instead of by sweeps, and by the functions that end a run. There are no replicas: the
 * ensemble is a name and a plan. */
#include "core/run/merging/merge.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/files.h"
#include "core/run/decide.h"
#include "core/run/prepare.h"
#include "core/run/provenance.h"
#include "core/simulation/registry.h"
#include "core/simulation/shared_keys.h"

/* Zero-initialise. Everything is owned unless it says otherwise. */
struct merge {
  const struct gpumc_merge_options *options; /* borrowed */
  struct gpumc_merging merging;
  struct gpumc_task_files files;
  struct gpumc_device device;
  bool device_open;
  struct gpumc_model model;
  struct gpumc_ensemble ensemble; /* without replicas: nothing of it is owned */
  struct gpumc_recorder *recorder;
  struct gpumc_context context;
  void *state;
  char started[32];
};

/* ---- the file at the output ---- */

static enum gpumc_status check_is_no_source(const struct merge *merge, struct gpumc_error *error)
{
  const struct gpumc_merge_options *options = merge->options;
  for (size_t i = 0; i < options->n_paths; i++)
    if (gpumc_file_is_same(options->paths[i], options->output))
      return gpumc_error_set(error, GPUMC_INVALID,
                             "%s: is both the output, which comes first, and one of the files to "
                             "be merged: choose another output",
                             options->output);
  return GPUMC_OK;
}

/* Checks names that a merged result needs, and that may belong to a run. */
static enum gpumc_status check_output(const struct merge *merge, struct gpumc_error *error)
{
  const struct gpumc_task_files *files = &merge->files;
  const char *const names[] = {files->output, files->partial, files->checkpoint, files->log};
  bool complete;
  for (size_t i = 0; i < sizeof names / sizeof *names && !merge->options->fresh; i++)
    if (gpumc_file_exists(names[i]))
      return gpumc_error_set(error, GPUMC_INVALID,
                             "%s exists already: choose another output, or replace it with --fresh",
                             names[i]);
  GPUMC_TRY(gpumc_check_output(&merge->merging.task, GPUMC_CHECK_ANY, &complete, error));
  return gpumc_side_files_check(files->output, error);
}

/* ---- the merged result ---- */

static enum gpumc_status create_model(struct merge *merge, struct gpumc_error *error)
{
  const struct gpumc_task *task = &merge->merging.task;
  const struct gpumc_params params = gpumc_task_params(task, "model");
  const enum gpumc_status status = gpumc_model_create(task->model, &params, &merge->model, error);
  if (status != GPUMC_OK)
    gpumc_error_prefix(error, "%s: cannot recreate its model, which merging requires",
                       merge->merging.sources.of[0].path);
  return status;
}

/* Uses the kernel that this program would choose on a CPU: no kernel sweeps, whatever made the
 * sources. */
static enum gpumc_status name_ensemble(struct merge *merge, struct gpumc_error *error)
{
  const struct gpumc_task *task = &merge->merging.task;
  const struct gpumc_params root = gpumc_task_params(task, "");
  const struct gpumc_params params = gpumc_task_params(task, "algorithm");
  const struct gpumc_kernel_wish wish = {
      .model = task->model, .algorithm = task->algorithm, .params = &params};
  const struct gpumc_spread alone = {.processes = 1};
  struct gpumc_demand demand = {0};
  struct gpumc_ensemble *ensemble = &merge->ensemble;
  GPUMC_TRY(
      task->algorithm->demand(&params, &merge->model, &merge->device, &alone, &demand, error));
  GPUMC_TRY(gpumc_kernel_choose(&wish, "cpu", "auto", &ensemble->ops, error));
  const struct gpumc_update update = gpumc_update_of(&params);
  ensemble->model = &merge->model;
  ensemble->device = &merge->device;
  ensemble->seed = (uint64_t)gpumc_params_integer(&root, "seed");
  ensemble->plan = demand.plan;
  ensemble->plan.channels = demand.work.n_channels;
  gpumc_update_plan(&update, ensemble->ops, task->algorithm->target, &ensemble->plan);
  return GPUMC_OK;
}

/* What the algorithm knew against each source may not hold for all of them together, such as too few
 * replicas: it is asked again. */
static enum gpumc_status renew_warning(struct merge *merge, struct gpumc_error *error)
{
  const struct gpumc_task *task = &merge->merging.task;
  const struct gpumc_params params = gpumc_task_params(task, "algorithm");
  const char *name;
  char text[GPUMC_WARNING_BYTES];
  if (task->algorithm->warn == NULL)
    return GPUMC_OK;
  GPUMC_TRY(task->algorithm->warn(&params, &merge->model, merge->ensemble.ops, &name, text, error));
  cJSON_DeleteItemFromObjectCaseSensitive(task->warnings, name);
  return text[0] == '\0' || cJSON_AddStringToObject(task->warnings, name, text) != NULL
             ? GPUMC_OK
             : gpumc_error_set(error, GPUMC_FAILURE, "out of memory: warnings");
}

static enum gpumc_status build(struct merge *merge, struct gpumc_error *error)
{
  const struct gpumc_task *task = &merge->merging.task;
  GPUMC_TRY(gpumc_device_open("cpu", 0, &merge->device, error));
  merge->device_open = true;
  GPUMC_TRY(create_model(merge, error));
  GPUMC_TRY(name_ensemble(merge, error));
  GPUMC_TRY(renew_warning(merge, error));
  GPUMC_TRY(gpumc_prepare_recorder(task, merge->merging.sources.of[0].result.source, false,
                                   &merge->recorder, error));
  merge->context = (struct gpumc_context){
      .params = gpumc_task_params(task, "algorithm"),
      .seed = merge->ensemble.seed,
      .model = &merge->model,
      .device = &merge->device,
      .ensemble = &merge->ensemble,
      .recorder = merge->recorder,
      .observer = merge->options->observer,
      .warnings = task->warnings,
      .samples = merge->merging.samples.count > 0 ? &merge->merging.samples : NULL,
      .seconds = &merge->merging.seconds};
  return task->algorithm->create(&merge->context, &merge->state, error);
}

static enum gpumc_status start(struct merge *merge, struct gpumc_error *error)
{
  const struct gpumc_merge_work work = {.context = &merge->context,
                                        .command_line = merge->options->command_line,
                                        .started = merge->started,
                                        .plugins = merge->merging.task.plugins,
                                        .updates = merge->merging.updates,
                                        .seconds = merge->merging.seconds};
  const cJSON *warning;
  cJSON_ArrayForEach(warning, merge->context.warnings)
      gpumc_observer_tell(merge->options->observer, GPUMC_WARNING, warning->valuestring);
  GPUMC_TRY(gpumc_provenance_of_merge(&work, error));
  GPUMC_TRY(gpumc_merging_record_sources(&merge->merging, merge->recorder, error));
  return gpumc_recorder_start(merge->recorder, error);
}

/* A previous file at the output is removed once its successor is complete. */
static enum gpumc_status finish(struct merge *merge, struct gpumc_error *error)
{
  const struct gpumc_task *task = &merge->merging.task;
  GPUMC_TRY(gpumc_recorder_close_tables(merge->recorder, error));
  GPUMC_TRY(gpumc_merging_record_disorder(&merge->merging, merge->recorder,
                                          merge->options->observer, error));
  GPUMC_TRY(task->algorithm->summarize(merge->state, error));
  GPUMC_TRY(
      gpumc_recorder_integer(merge->recorder, "summary", "files", merge->merging.files, error));
  GPUMC_TRY(merge->options->fresh ? gpumc_recorder_replace(merge->recorder, error)
                                  : gpumc_recorder_finish(merge->recorder, error));
  return gpumc_clear_side_files(task, &merge->files, true, merge->options->observer, error);
}

static void release(struct merge *merge)
{
  if (merge->state != NULL)
    merge->merging.task.algorithm->destroy(merge->state);
  gpumc_recorder_free(merge->recorder);
  if (merge->model.ops != NULL)
    merge->model.ops->destroy(&merge->model);
  if (merge->device_open)
    gpumc_device_close(&merge->device);
}

/* Call with the lock held. Removes a working file that was begun and is of no use. */
static enum gpumc_status merge_locked(struct merge *merge, struct gpumc_error *error)
{
  struct gpumc_error ignored = {0};
  bool started = false;
  enum gpumc_status status = check_output(merge, error);
  if (status == GPUMC_OK)
    status = build(merge, error);
  if (status == GPUMC_OK) {
    started = true;
    status = start(merge, error);
  }
  if (status == GPUMC_OK)
    status = merge->merging.merger->fill(merge->state, &merge->merging.sources, error);
  if (status == GPUMC_OK)
    status = finish(merge, error);
  release(merge);
  if (status != GPUMC_OK && started &&
      gpumc_side_file_remove(merge->files.output, GPUMC_SIDE_PARTIAL, &ignored) != GPUMC_OK)
    gpumc_error_free(&ignored);
  return status;
}

enum gpumc_status gpumc_merge(const struct gpumc_merge_options *options, struct gpumc_error *error)
{
  struct merge merge = {.options = options};
  struct gpumc_task_lock *lock = NULL;
  enum gpumc_status status = GPUMC_OK;
  gpumc_timestamp(merge.started);
  GPUMC_TRY_OUT(status, check_is_no_source(&merge, error));
  GPUMC_TRY_OUT(status,
                gpumc_merging_open(options->paths, options->n_paths, &merge.merging, error));
  merge.merging.task.output = strdup(options->output);
  if (merge.merging.task.output == NULL)
    GPUMC_TRY_OUT(status, gpumc_error_set(error, GPUMC_FAILURE, "out of memory: a path"));
  GPUMC_TRY_OUT(status, gpumc_task_files_init(&merge.files, options->output, error));
  GPUMC_TRY_OUT(status, gpumc_task_lock_acquire(&merge.files, &lock, error));
  status = merge_locked(&merge, error);
out:
  gpumc_task_lock_release(lock);
  gpumc_task_files_free(&merge.files);
  gpumc_merging_free(&merge.merging);
  return status;
}
