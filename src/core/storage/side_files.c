/* Recognising the files beside a result. */
#include "core/storage/side_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/files.h"
#include "core/storage/checkpoint_file.h"
#include "core/storage/recorder_log.h"
#include "core/storage/result_mark.h"
#include "core/storage/task_files.h"

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
  return strlen(begin) == length && gpumc_status_record_recognise(begin);
}

/* "gpumc PROCESS HOST\n" and nothing else. */
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

/* `*reason`: why it cannot be known at all; NULL where it was read. */
static enum gpumc_presence look(const char *path, enum gpumc_side side, const char **reason)
{
  char begin[BEGIN_BYTES + 1];
  struct stat found;
  *reason = NULL;
  if (lstat(path, &found) == 0 && S_ISLNK(found.st_mode)) {
    *reason = "a symbolic link";
    return GPUMC_PRESENCE_FOREIGN;
  }
  int descriptor = gpumc_regular_open(path, O_RDONLY | O_NOFOLLOW, reason);
  if (descriptor < 0 && (errno == ENOENT || errno == ENOTDIR))
    return GPUMC_PRESENCE_NONE;
  if (descriptor < 0) /* EINVAL: no regular file */
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
    return gpumc_error_set(error, GPUMC_FAILURE, "%s: cannot look at it: %s", path, reason);
  if (presence != GPUMC_PRESENCE_FOREIGN)
    return GPUMC_OK;
  return gpumc_error_set(error, GPUMC_FAILURE,
                         "%s: not a %s of gpumc%s%s%s, and left alone: move it away or choose "
                         "another output",
                         path, kinds[side].name, reason != NULL ? " (" : "",
                         reason != NULL ? reason : "", reason != NULL ? ")" : "");
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

/* Of OUTPUT.SUFFIX and OUTPUT.SUFFIX.new in turn. */
static enum gpumc_status for_both(const char *output, enum gpumc_side side,
                                  enum gpumc_status (*work)(const char *path, enum gpumc_side side,
                                                            struct gpumc_error *error),
                                  struct gpumc_error *error)
{
  char *path = gpumc_path_with_suffix(output, kinds[side].suffix, error);
  char *successor = path != NULL ? gpumc_path_with_suffix(path, ".new", error) : NULL;
  enum gpumc_status status = successor != NULL ? work(path, side, error) : GPUMC_FAILURE;
  if (status == GPUMC_OK)
    status = work(successor, side, error);
  free(successor);
  free(path);
  return status;
}

enum gpumc_status gpumc_side_files_check(const char *output, struct gpumc_error *error)
{
  enum gpumc_status status = GPUMC_OK;
  for (int side = GPUMC_SIDE_PARTIAL; side < GPUMC_SIDE_LOCK && status == GPUMC_OK; side++)
    status = for_both(output, (enum gpumc_side)side, gpumc_side_file_check, error);
  return status;
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
