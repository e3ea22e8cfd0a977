/* The status record: a small JSON object, replaced at once, read with distrust. */
#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/base/files.h"
#include "core/storage/side_files.h"
#include "core/storage/task_files.h"

enum { LONGEST_RECORD = 16384 };

static const char *const state_names[] = {
    [GPUMC_RECORD_RUNNING] = "running",
    [GPUMC_RECORD_STOPPED] = "stopped",
    [GPUMC_RECORD_FAILED] = "failed",
};
enum { N_STATES = sizeof state_names / sizeof *state_names };

static const char *const members[] = {"state",   "fraction", "seconds", "remaining_seconds",
                                      "message", "updated"};
enum { N_MEMBERS = sizeof members / sizeof *members };

/* What is unknown or not finite is null. */
static cJSON *add_number(cJSON *object, const char *name, double value)
{
  if (isfinite(value) && value >= 0)
    return cJSON_AddNumberToObject(object, name, value);
  return cJSON_AddNullToObject(object, name);
}

static char *record_text(const struct gpumc_status_record *record)
{
  char *text = NULL;
  cJSON *object = cJSON_CreateObject();
  if (object != NULL &&
      cJSON_AddStringToObject(object, "state", state_names[record->state]) != NULL &&
      add_number(object, "fraction", record->fraction) != NULL &&
      add_number(object, "seconds", record->seconds) != NULL &&
      add_number(object, "remaining_seconds", record->remaining_seconds) != NULL &&
      cJSON_AddStringToObject(object, "message", record->message) != NULL &&
      add_number(object, "updated", (double)time(NULL)) != NULL)
    text = cJSON_Print(object);
  cJSON_Delete(object);
  return text;
}

/* It is written often and worth little: no fsync, which could stall the run. */
static int write_record(const char *path, const char *written, const char *text)
{
  const char *reason;
  int descriptor = gpumc_regular_open(written, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, &reason);
  if (descriptor < 0)
    return -1;
  int failed = gpumc_write_all_at(descriptor, text, strlen(text), 0);
  int code = errno;
  if (close(descriptor) != 0 && failed == 0) {
    failed = -1;
    code = errno;
  }
  if (failed == 0)
    return rename(written, path);
  unlink(written);
  errno = code;
  return -1;
}

enum gpumc_status gpumc_status_record_write(const struct gpumc_task_files *files,
                                            const struct gpumc_status_record *record,
                                            struct gpumc_error *error)
{
  enum gpumc_status status = GPUMC_OK;
  char *text = record_text(record);
  char *written = gpumc_path_with_suffix(files->status, ".new", error);
  if (text == NULL || written == NULL)
    status =
        gpumc_error_set(error, GPUMC_FAILURE, "out of memory: the status of %s", files->output);
  else if ((status = gpumc_side_file_check(files->status, GPUMC_SIDE_STATUS, error)) == GPUMC_OK &&
           (status = gpumc_side_file_check(written, GPUMC_SIDE_STATUS, error)) == GPUMC_OK &&
           write_record(files->status, written, text) != 0)
    status = gpumc_error_set(error, GPUMC_FAILURE, "%s: cannot write: %s", files->status,
                             strerror(errno));
  free(written);
  cJSON_free(text);
  return status;
}

static double number_of(const cJSON *object, const char *name)
{
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
  return cJSON_IsNumber(item) && isfinite(item->valuedouble) ? item->valuedouble : -1;
}

static bool parse_record(const char *text, struct gpumc_status_record *record)
{
  cJSON *object = cJSON_Parse(text);
  const char *state = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, "state"));
  const char *message = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, "message"));
  size_t known = 0;
  while (known < N_STATES && (state == NULL || strcmp(state, state_names[known]) != 0))
    known++;
  /* All members, and no others, so that another's file is not taken for a record. */
  for (size_t i = 0; i < N_MEMBERS && known < N_STATES; i++)
    if (!cJSON_HasObjectItem(object, members[i]) || cJSON_GetArraySize(object) != N_MEMBERS)
      known = N_STATES;
  if (known < N_STATES) {
    record->state = (enum gpumc_record_state)known;
    record->fraction = number_of(object, "fraction");
    record->seconds = number_of(object, "seconds");
    record->remaining_seconds = number_of(object, "remaining_seconds");
    record->updated = number_of(object, "updated");
    snprintf(record->message, sizeof record->message, "%s", message != NULL ? message : "");
  }
  cJSON_Delete(object);
  return known < N_STATES;
}

bool gpumc_status_record_recognise(const char *text)
{
  struct gpumc_status_record record;
  return parse_record(text, &record);
}

bool gpumc_status_record_read(const struct gpumc_task_files *files,
                              struct gpumc_status_record *record)
{
  char text[LONGEST_RECORD];
  memset(record, 0, sizeof *record);
  const char *reason;
  int descriptor = gpumc_regular_open(files->status, O_RDONLY, &reason);
  if (descriptor < 0)
    return false;
  ssize_t length = read(descriptor, text, sizeof text - 1);
  close(descriptor);
  if (length <= 0)
    return false;
  text[length] = '\0';
  return parse_record(text, record);
}
