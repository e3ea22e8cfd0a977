/* The files of a task beside its result: their names, and the lock. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/files.h"
#include "core/base/memory.h"
#include "core/storage/side_files.h"

/* A process that asks whether the lock is held takes it for an instant, so try for a while. */
enum { LOCK_TRIES = 25, LOCK_PAUSE_NANOSECONDS = 10000000 };
enum { HOST_LENGTH = 64 };

struct gpumc_task_lock {
  int descriptor;
  char *path;
};

enum gpumc_status
gpumc_task_files_init(struct gpumc_task_files *files, const char *output, struct gpumc_error *error)
{
  memset(files, 0, sizeof *files);
  files->output = gpumc_path_with_suffix(output, "", error);
  files->partial = gpumc_path_with_suffix(output, ".partial", error);
  files->checkpoint = gpumc_path_with_suffix(output, ".ckpt", error);
  files->log = gpumc_path_with_suffix(output, ".log", error);
  files->lock = gpumc_path_with_suffix(output, ".lock", error);
  files->status = gpumc_path_with_suffix(output, ".status", error);
  if (files->output != NULL && files->partial != NULL && files->checkpoint != NULL &&
      files->log != NULL && files->lock != NULL && files->status != NULL)
    return GPUMC_OK;
  gpumc_task_files_free(files);
  return GPUMC_FAILURE;
}

void gpumc_task_files_free(struct gpumc_task_files *files)
{
  free(files->output);
  free(files->partial);
  free(files->checkpoint);
  free(files->log);
  free(files->lock);
  free(files->status);
  memset(files, 0, sizeof *files);
}

/* Reads "gpumc PROCESS HOST\n", as the holder wrote it; 0 and "" if it cannot be read. */
static void read_holder(int descriptor, long *process, char host[static HOST_LENGTH])
{
  char text[HOST_LENGTH + 32] = {0};
  *process = 0;
  host[0] = '\0';
  if (pread(descriptor, text, sizeof text - 1, 0) > 0 &&
      sscanf(text, GPUMC_LOCK_MARK "%ld %63s", process, host) < 1)
    *process = 0;
}

static enum gpumc_status
refuse(int descriptor, const struct gpumc_task_files *files, struct gpumc_error *error)
{
  long process;
  char host[HOST_LENGTH];
  read_holder(descriptor, &process, host);
  if (process == 0)
    return gpumc_error_set(error, GPUMC_BUSY, "%s is being worked on by another gpumc",
                           files->output);
  return gpumc_error_set(error, GPUMC_BUSY, "%s is being worked on by process %ld%s%s",
                         files->output, process, host[0] != '\0' ? " on " : "", host);
}

static int lock_patiently(int descriptor)
{
  struct timespec pause = {0, LOCK_PAUSE_NANOSECONDS};
  int tries = 0;
  while (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EINTR && (errno != EWOULDBLOCK || ++tries == LOCK_TRIES))
      return -1;
    nanosleep(&pause, NULL);
  }
  return 0;
}

/* Returns whether `path` still names the file behind the descriptor: its holder removes it on
 * release, perhaps between our opening and our locking it. */
static bool is_current(int descriptor, const char *path)
{
  struct stat opened;
  struct stat named;
  return fstat(descriptor, &opened) == 0 && stat(path, &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

/* `creating`: O_CREAT, or 0, in which case a missing lock file is not an error and `*descriptor` is
 * -1. */
static enum gpumc_status open_lock(const struct gpumc_task_files *files, int creating,
                                   int *descriptor, struct gpumc_error *error)
{
  const char *reason;
  *descriptor = -1;
  GPUMC_TRY(gpumc_side_file_check(files->lock, GPUMC_SIDE_LOCK, error));
  *descriptor = gpumc_regular_open(files->lock, O_RDWR | O_NOFOLLOW | creating, &reason);
  if (*descriptor < 0 && (creating != 0 || errno != ENOENT))
    return gpumc_error_set(error, GPUMC_FAILURE, "%s: cannot open: %s", files->lock, reason);
  return GPUMC_OK;
}

enum gpumc_status
gpumc_task_lock_check(const struct gpumc_task_files *files, struct gpumc_error *error)
{
  int descriptor = -1;
  GPUMC_TRY(gpumc_directory_check(files->output, error));
  const enum gpumc_status status = open_lock(files, 0, &descriptor, error);
  if (descriptor >= 0)
    close(descriptor);
  return status;
}

/* `*locked`: a locked descriptor of the lock file that has the name now. */
static enum gpumc_status
open_and_lock(const struct gpumc_task_files *files, int *locked, struct gpumc_error *error)
{
  for (;;) {
    int descriptor;
    GPUMC_TRY(open_lock(files, O_CREAT, &descriptor, error));
    if (lock_patiently(descriptor) != 0) {
      enum gpumc_status status = errno == EWOULDBLOCK
                                     ? refuse(descriptor, files, error)
                                     : gpumc_error_set(error, GPUMC_FAILURE, "%s: cannot lock: %s",
                                                       files->lock, strerror(errno));
      close(descriptor);
      return status;
    }
    if (is_current(descriptor, files->lock)) {
      *locked = descriptor;
      return GPUMC_OK;
    }
    close(descriptor);
  }
}

/* Only for messages, so a failure does not matter; but half a line would not be recognised as
 * ours. */
static void write_holder(int descriptor)
{
  char host[HOST_LENGTH] = {0};
  char text[HOST_LENGTH + 32];
  if (gethostname(host, sizeof host - 1) != 0)
    host[0] = '\0';
  int length = snprintf(text, sizeof text, GPUMC_LOCK_MARK "%ld %s\n", (long)getpid(), host);
  if (ftruncate(descriptor, 0) == 0 &&
      gpumc_write_all_at(descriptor, text, (size_t)length, 0) != 0 && ftruncate(descriptor, 0) != 0)
    return;
}

enum gpumc_status gpumc_task_lock_acquire(const struct gpumc_task_files *files,
                                          struct gpumc_task_lock **lock, struct gpumc_error *error)
{
  int descriptor = -1;
  enum gpumc_status status;
  *lock = NULL;
  GPUMC_TRY(gpumc_directory_prepare(files->output, error));
  char *path = gpumc_path_with_suffix(files->lock, "", error);
  if (path == NULL)
    return GPUMC_FAILURE;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(lock, 1, "a lock", error));
  GPUMC_TRY_OUT(status, open_and_lock(files, &descriptor, error));
  write_holder(descriptor);
  (*lock)->descriptor = descriptor;
  (*lock)->path = path;
  return GPUMC_OK;
out:
  free(path);
  free(*lock);
  *lock = NULL;
  return status;
}

void gpumc_task_lock_release(struct gpumc_task_lock *lock)
{
  if (lock == NULL)
    return;
  /* Removed while still held, so that the name is never somebody else's lock. */
  if (is_current(lock->descriptor, lock->path))
    unlink(lock->path);
  close(lock->descriptor);
  free(lock->path);
  free(lock);
}

bool gpumc_task_lock_held(const struct gpumc_task_files *files, long *process)
{
  char host[HOST_LENGTH];
  long holder = 0;
  bool held = false;
  const char *reason;
  const bool ours = gpumc_side_file_look(files->lock, GPUMC_SIDE_LOCK) == GPUMC_PRESENCE_OURS;
  int descriptor = ours ? gpumc_regular_open(files->lock, O_RDONLY, &reason) : -1;
  if (descriptor >= 0) {
    held = flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (held)
      read_holder(descriptor, &holder, host);
    close(descriptor);
  }
  if (process != NULL)
    *process = holder;
  return held;
}
