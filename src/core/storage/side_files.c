/* Recognises the files beside a result, and writes and reads the status record. */
#include "core/storage/side_files.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/files.h"
#include "core/base/memory.h"
#include "core/storage/checkpoint.h"
#include "core/storage/recorder/recorder_internal.h"
#include "core/storage/result_mark.h"

/* ---- the status record ---- */

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

/* Unknown and non-finite numbers are null. */
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
    GPUMC_TRY_OUT(status, gpumc_error_set(error, GPUMC_FAILURE, "out of memory: the status of %s",
                                          files->output));
  GPUMC_TRY_OUT(status, gpumc_side_file_check(files->status, GPUMC_SIDE_STATUS, error));
  GPUMC_TRY_OUT(status, gpumc_side_file_check(written, GPUMC_SIDE_STATUS, error));
  if (write_record(files->status, written, text) != 0)
    status = gpumc_error_set(error, GPUMC_FAILURE, "%s: cannot write: %s", files->status,
                             strerror(errno));
out:
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
  /* All members, and no others, so that a foreign file is not taken for a record. */
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

/* Returns whether a text is a status record. */
static bool status_record_recognise(const char *text)
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

/* ---- files beside a result ---- */

enum { BEGIN_BYTES = GPUMC_RESULT_MARK_BYTES };

static bool begins_with(const char *begin, size_t length, const char *mark)
{
  return length >= strlen(mark) && memcmp(begin, mark, strlen(mark)) == 0;
}

static bool is_checkpoint(const char *begin, size_t length)
{
  return begins_with(begin, length, GPUMC_CHECKPOINT_MARK);
}

static bool is_log(const char *begin, size_t length)
{
  return begins_with(begin, length, GPUMC_LOG_MARK);
}

static bool is_status(const char *begin, size_t length)
{
  return strlen(begin) == length && status_record_recognise(begin);
}

/* Accepts "gpumc PROCESS HOST\n" and nothing else. */
static bool is_lock(const char *begin, size_t length)
{
  static const char digits[] = "0123456789", ends_of_host[] = " \t\r\n";
  if (strlen(begin) != length || !begins_with(begin, length, GPUMC_LOCK_MARK))
    return false;
  const char *process = begin + strlen(GPUMC_LOCK_MARK), *end = process + strspn(process, digits);
  if (end == process || *end != ' ')
    return false;
  end++;
  return strcmp(end + strcspn(end, ends_of_host), "\n") == 0;
}

/* `begin` has a zero byte after its `length` bytes. */
static const struct {
  const char *suffix, *name;
  bool (*recognise)(const char *begin, size_t length);
} kinds[] = {
    [GPUMC_SIDE_PARTIAL] = {".partial", "working file", gpumc_result_mark_recognise},
    [GPUMC_SIDE_CHECKPOINT] = {".ckpt", "checkpoint", is_checkpoint},
    [GPUMC_SIDE_LOG] = {".log", "log", is_log},
    [GPUMC_SIDE_STATUS] = {".status", "status record", is_status},
    [GPUMC_SIDE_LOCK] = {".lock", "lock", is_lock},
};

const char *const gpumc_side_suffixes[] = {
    ".partial", ".partial.new", ".ckpt",       ".ckpt.new", ".log",
    ".log.new", ".status",      ".status.new", ".lock",     NULL};

/* `*reason`: why it cannot be determined; NULL if the file was read. */
static enum gpumc_presence look(const char *path, enum gpumc_side side, const char **reason)
{
  char begin[BEGIN_BYTES + 1];
  struct stat found;
  *reason = NULL;
  const int looked = lstat(path, &found);
  if (looked != 0 && errno == ENOENT)
    return GPUMC_PRESENCE_NONE;
  if (looked == 0 && S_ISLNK(found.st_mode)) {
    *reason = "a symbolic link";
    return GPUMC_PRESENCE_FOREIGN;
  }
  int descriptor = gpumc_regular_open(path, O_RDONLY | O_NOFOLLOW, reason);
  if (descriptor < 0 && (errno == ENOENT || errno == ENOTDIR))
    return GPUMC_PRESENCE_NONE;
  if (descriptor < 0) /* EINVAL: not a regular file */
    return errno == EINVAL || errno == ELOOP ? GPUMC_PRESENCE_FOREIGN : GPUMC_PRESENCE_UNKNOWN;
  *reason = NULL;
  ssize_t length = pread(descriptor, begin, BEGIN_BYTES, 0);
  if (length < 0)
    *reason = strerror(errno);
  close(descriptor);
  if (length < 0)
    return GPUMC_PRESENCE_UNKNOWN;
  begin[length] = '\0';
  return length == 0 || kinds[side].recognise(begin, (size_t)length) ? GPUMC_PRESENCE_OURS
                                                                     : GPUMC_PRESENCE_FOREIGN;
}

enum gpumc_presence gpumc_side_file_look(const char *path, enum gpumc_side side)
{
  const char *reason;
  return look(path, side, &reason);
}

enum gpumc_status
gpumc_side_file_check(const char *path, enum gpumc_side side, struct gpumc_error *error)
{
  const char *reason;
  const enum gpumc_presence presence = look(path, side, &reason);
  if (presence == GPUMC_PRESENCE_UNKNOWN)
    return gpumc_error_set(error, GPUMC_FAILURE, "%s: cannot examine it: %s", path, reason);
  if (presence != GPUMC_PRESENCE_FOREIGN)
    return GPUMC_OK;
  return gpumc_error_set(
      error, GPUMC_FAILURE,
      "%s: not a %s of gpumc%s%s%s, and was left alone: move it away or choose another output",
      path, kinds[side].name, reason != NULL ? " (" : "", reason != NULL ? reason : "",
      reason != NULL ? ")" : "");
}

bool gpumc_working_file_is_closed(const char *path)
{
  char begin[BEGIN_BYTES];
  const char *reason;
  int descriptor = gpumc_regular_open(path, O_RDONLY | O_NOFOLLOW, &reason);
  if (descriptor < 0)
    return false;
  ssize_t length = pread(descriptor, begin, sizeof begin, 0);
  close(descriptor);
  return length > 0 && gpumc_result_mark_is_closed(begin, (size_t)length);
}

/* Handles OUTPUT.SUFFIX and OUTPUT.SUFFIX.new in turn. */
static enum gpumc_status for_both(const char *output, enum gpumc_side side,
                                  enum gpumc_status (*work)(const char *path, enum gpumc_side side,
                                                            struct gpumc_error *error),
                                  struct gpumc_error *error)
{
  char *path = gpumc_path_with_suffix(output, kinds[side].suffix, error);
  char *successor = path != NULL ? gpumc_path_with_suffix(path, ".new", error) : NULL;
  enum gpumc_status status = GPUMC_FAILURE;
  if (successor == NULL)
    goto out;
  GPUMC_TRY_OUT(status, work(path, side, error));
  status = work(successor, side, error);
out:
  free(successor);
  free(path);
  return status;
}

enum gpumc_status gpumc_side_files_check(const char *output, struct gpumc_error *error)
{
  for (int side = GPUMC_SIDE_PARTIAL; side < GPUMC_SIDE_LOCK; side++)
    GPUMC_TRY(for_both(output, (enum gpumc_side)side, gpumc_side_file_check, error));
  return GPUMC_OK;
}

bool gpumc_file_exists(const char *path)
{
  struct stat found;
  return lstat(path, &found) == 0;
}

enum gpumc_status gpumc_file_remove(const char *path, struct gpumc_error *error)
{
  if (unlink(path) != 0 && errno != ENOENT)
    return gpumc_error_set(error, GPUMC_FAILURE, "%s: cannot remove it: %s", path, strerror(errno));
  return GPUMC_OK;
}

static enum gpumc_status
remove_ours(const char *path, enum gpumc_side side, struct gpumc_error *error)
{
  return gpumc_side_file_look(path, side) == GPUMC_PRESENCE_OURS ? gpumc_file_remove(path, error)
                                                                 : GPUMC_OK;
}

enum gpumc_status
gpumc_side_file_remove(const char *output, enum gpumc_side side, struct gpumc_error *error)
{
  return for_both(output, side, remove_ours, error);
}
