/* Checks that the result or the checkpoint of a task matches its configuration. */
#include "core/run/compare.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/checksum.h"
#include "core/simulation/registry.h"
#include "core/simulation/shared_keys.h"

/* Returns the trajectory of the kernel that this program uses for the task on that device or, if
 * there is no such device, on the CPU, which has all of them. "none" if there is no kernel. */
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
  return kernel != NULL ? gpumc_kernel_trajectory(kernel) : "none";
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
                         "%s was made with trajectory %s, but this program has %s: choose another "
                         "output, or replace it with --fresh",
                         task->output, before != NULL ? before : "unknown", now);
}

/* Another version of a plugin may also give other numbers, which its author indicates by the
 * version. A result that does not record its plugins is accepted. */
static enum gpumc_status compare_plugins(const struct gpumc_task *task,
                                         const struct gpumc_result *result,
                                         struct gpumc_error *error)
{
  char difference[256];
  if (gpumc_plugins_agree(gpumc_result_field(&result->provenance, GPUMC_RECORDED_PLUGINS),
                          task->plugins, difference))
    return GPUMC_OK;
  return gpumc_error_set(error, GPUMC_INVALID,
                         "%s was made with %s: choose another output, or replace it with --fresh",
                         task->output, difference);
}

/* Counts the samples that a run uses, which does not depend on the device. */
static enum gpumc_status count_samples(const struct gpumc_task *task,
                                       const struct gpumc_model *model, size_t *samples,
                                       struct gpumc_error *error)
{
  const struct gpumc_params params = gpumc_task_params(task, "algorithm");
  const struct gpumc_spread alone = {.processes = 1};
  struct gpumc_demand demand = {0};
  struct gpumc_device device;
  GPUMC_TRY(gpumc_device_open("cpu", 1, &device, error));
  const enum gpumc_status status =
      task->algorithm->demand(&params, model, &device, &alone, &demand, error);
  *samples = demand.plan.samples;
  gpumc_device_close(&device);
  return status;
}

uint64_t gpumc_checksum_of_files(const struct gpumc_task *task, uint64_t samples, uint64_t file)
{
  const uint64_t both[] = {samples, file};
  return gpumc_task_file(task, "algorithm") != NULL ? gpumc_checksum_of(both, sizeof both)
                                                    : samples;
}

/* Computes the checksum of the task's input files as they are now: of the model's samples the first
 * `samples`, or those that a run uses if that is 0; `*enough` is false if its file has fewer. */
static enum gpumc_status read_again(const struct gpumc_task *task, size_t samples,
                                    uint64_t *checksum, bool *enough, struct gpumc_error *error)
{
  const struct gpumc_params params = gpumc_task_params(task, "model");
  const struct gpumc_params algorithm = gpumc_task_params(task, "algorithm");
  struct gpumc_model model = {0};
  uint64_t of_samples = 0, of_file = 0;
  enum gpumc_status status;
  *enough = false;
  GPUMC_TRY_OUT(status, gpumc_model_create(task->model, &params, &model, error));
  if (samples == 0)
    GPUMC_TRY_OUT(status, count_samples(task, &model, &samples, error));
  *enough = samples <= model.samples;
  if (*enough)
    GPUMC_TRY_OUT(status, gpumc_samples_checksum(&model, samples, &of_samples, error));
  if (gpumc_task_file(task, "algorithm") != NULL)
    GPUMC_TRY_OUT(status, task->algorithm->read_file(&algorithm, &model, &of_file, error));
  *checksum = gpumc_checksum_of_files(task, of_samples, of_file);
out:
  task->model->destroy(&model);
  return status;
}

const char *gpumc_read_checksum_text(uint64_t checksum, char text[static GPUMC_READ_CHECKSUM_BYTES])
{
  snprintf(text, GPUMC_READ_CHECKSUM_BYTES, "%016" PRIx64, checksum);
  return text;
}

/* The same configuration may name a file that has changed. A result that does not record its input
 * files is accepted as it is: it reads none, or it is older than this record. */
static enum gpumc_status compare_what_was_read(const struct gpumc_task *task,
                                               const struct gpumc_result *result,
                                               struct gpumc_error *error)
{
  const char *before = gpumc_result_field(&result->provenance, GPUMC_READ_CHECKSUM);
  const char *samples = gpumc_result_field(&result->provenance, GPUMC_READ_SAMPLES);
  char now[GPUMC_READ_CHECKSUM_BYTES];
  uint64_t checksum = 0;
  bool enough = false;
  if (before == NULL || samples == NULL)
    return GPUMC_OK;
  GPUMC_TRY(read_again(task, strtoul(samples, NULL, 10), &checksum, &enough, error));
  if (enough && strcmp(before, gpumc_read_checksum_text(checksum, now)) == 0)
    return GPUMC_OK;
  return gpumc_error_set(error, GPUMC_INVALID,
                         "%s: a file that the task reads has changed since the result was made: "
                         "restore it, choose another output, or replace the result with --fresh",
                         task->output);
}

/* Compares the task with the resolved configuration stored in a file. The caller frees
 * `*difference`, in words, which is NULL if memory is short. */
static enum gpumc_status find_difference(const struct gpumc_task *task, const char *stored,
                                         bool *differs, char **difference,
                                         struct gpumc_error *error)
{
  char *before = gpumc_task_identity_stored(task, stored);
  char *after = gpumc_task_identity(task);
  enum gpumc_status status = GPUMC_OK;
  *differs = false;
  *difference = NULL;
  if (before == NULL || after == NULL) {
    status = gpumc_error_set(error, GPUMC_FAILURE, "out of memory: comparing configurations");
  } else if (strcmp(before, after) != 0) {
    *differs = true;
    *difference = gpumc_identity_difference(before, after);
  }
  free(before);
  free(after);
  return status;
}

static enum gpumc_status compare_configuration(const struct gpumc_task *task,
                                               const struct gpumc_result *result,
                                               struct gpumc_error *error)
{
  bool differs;
  char *difference;
  GPUMC_TRY(find_difference(task, result->resolved, &differs, &difference, error));
  if (!differs) {
    GPUMC_TRY(compare_trajectory(task, result, error));
    return compare_plugins(task, result, error);
  }
  struct gpumc_text name = {0};
  gpumc_text_append_escaped(&name, task->output, GPUMC_ESCAPES_TEXT);
  const enum gpumc_status status =
      gpumc_error_set(error, GPUMC_INVALID,
                      "%s is the result of another configuration:\n%s\n"
                      "choose another output, or replace it with --fresh",
                      gpumc_text_string(&name), difference != NULL ? difference : "");
  gpumc_text_free(&name);
  free(difference);
  return status;
}

enum gpumc_status gpumc_compare_result(const struct gpumc_task *task,
                                       const struct gpumc_result *result,
                                       enum gpumc_result_check check, struct gpumc_error *error)
{
  struct gpumc_task closed = *task;
  if (gpumc_result_field(&result->provenance, "merged_from") != NULL)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "%s was merged from several results: choose another output, or replace "
                           "it with --fresh",
                           task->output);
  closed.resolved = gpumc_task_close(task, result->resolved);
  if (closed.resolved == NULL)
    return gpumc_error_set(error, GPUMC_FAILURE, "out of memory: comparing configurations");
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, compare_configuration(&closed, result, error));
  if (check != GPUMC_CHECK_CONFIGURATION)
    status = compare_what_was_read(task, result, error);
out:
  cJSON_Delete(closed.resolved);
  return status;
}

/* If the configuration leaves the variant open, uses the one that the checkpoint was made with. */
static enum gpumc_status compare_identity(const struct gpumc_task *task, const char *path,
                                          const char *stored, struct gpumc_error *error)
{
  bool differs;
  char *difference;
  GPUMC_TRY(find_difference(task, stored, &differs, &difference, error));
  if (!differs)
    return GPUMC_OK;
  struct gpumc_text name = {0};
  gpumc_text_append_escaped(&name, path, GPUMC_ESCAPES_TEXT);
  const enum gpumc_status status =
      gpumc_error_set(error, GPUMC_INVALID,
                      "%s is the checkpoint of another configuration:\n%s\n"
                      "run the earlier configuration, choose another output, or start over "
                      "with --fresh",
                      gpumc_text_string(&name), difference != NULL ? difference : "");
  gpumc_text_free(&name);
  free(difference);
  return status;
}

static enum gpumc_status check_trajectory(const struct gpumc_task *task, const char *path,
                                          const char *before, struct gpumc_error *error)
{
  const char *now = trajectory_of(task, "cpu");
  if (strcmp(before, now) == 0)
    return GPUMC_OK;
  return gpumc_error_set(
      error, GPUMC_INVALID,
      "%s: the checkpoint was made with trajectory %s, but this program has %s: finish it with the "
      "program that began it, choose another output, or start over with --fresh",
      path, before, now);
}

/* Does the same as compare_plugins() for a checkpoint. Checkpoints without plugins have no such
 * text. */
static enum gpumc_status check_plugins(const struct gpumc_task *task, const char *path,
                                       struct gpumc_checkpoint_reader *reader,
                                       struct gpumc_error *error)
{
  struct gpumc_error ignored = {0};
  char *before = NULL, difference[256];
  if (gpumc_checkpoint_get_text(reader, GPUMC_CHECKPOINT_PLUGINS, &before, &ignored) != GPUMC_OK)
    gpumc_error_free(&ignored);
  const bool agree = gpumc_plugins_agree(before, task->plugins, difference);
  free(before);
  if (agree)
    return GPUMC_OK;
  return gpumc_error_set(error, GPUMC_INVALID,
                         "%s: the checkpoint was made with %s: finish it with the version that "
                         "began it, choose another output, or start over with --fresh",
                         path, difference);
}

enum gpumc_status gpumc_compare_checkpoint(const struct gpumc_task *task, const char *path,
                                           struct gpumc_checkpoint_reader *reader,
                                           struct gpumc_error *error)
{
  char *stored = NULL, *trajectory = NULL;
  struct gpumc_task closed = *task;
  closed.resolved = NULL;
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, gpumc_checkpoint_get_text(reader, "run/identity", &stored, error));
  GPUMC_TRY_OUT(status, gpumc_checkpoint_get_text(reader, "run/trajectory", &trajectory, error));
  closed.resolved = gpumc_task_close(task, stored);
  if (closed.resolved == NULL)
    GPUMC_TRY_OUT(status,
                  gpumc_error_set(error, GPUMC_FAILURE, "out of memory: comparing configurations"));
  GPUMC_TRY_OUT(status, compare_identity(&closed, path, stored, error));
  GPUMC_TRY_OUT(status, check_trajectory(&closed, path, trajectory, error));
  GPUMC_TRY_OUT(status, check_plugins(task, path, reader, error));
out:
  cJSON_Delete(closed.resolved);
  free(stored);
  free(trajectory);
  return status;
}

enum gpumc_status gpumc_compare_samples(const char *path, struct gpumc_checkpoint_reader *reader,
                                        uint64_t checksum, struct gpumc_error *error)
{
  uint64_t before = 0;
  GPUMC_TRY(gpumc_checkpoint_get_rows(reader, "run/read", GPUMC_UINT64, 0, 1, 1, &before, error));
  if (before == checksum)
    return GPUMC_OK;
  return gpumc_error_set(error, GPUMC_INVALID,
                         "%s: a file that the task reads has changed since the checkpoint was "
                         "made: restore it, choose another output, or start over with --fresh",
                         path);
}

enum gpumc_status gpumc_compare_file(const struct gpumc_task *task, const char *path,
                                     struct gpumc_checkpoint_reader *reader,
                                     struct gpumc_error *error)
{
  uint64_t now = 0;
  bool enough = true;
  if (gpumc_task_file(task, "model") == NULL && gpumc_task_file(task, "algorithm") == NULL)
    return GPUMC_OK;
  GPUMC_TRY(read_again(task, 0, &now, &enough, error));
  return gpumc_compare_samples(path, reader, now, error);
}
