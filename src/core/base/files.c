/* Durable replacement of files, their directories, and opening regular files only. */
#include "core/base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- durable replacement of files, and their directories ---- */

enum { DIRECTORY_MODE = 0777 };

char *gpumc_path_with_suffix(const char *path, const char *suffix, struct gpumc_error *error)
{
  char *joined = NULL;
  if (asprintf(&joined, "%s%s", path, suffix) < 0) {
    (void)gpumc_error_set(error, GPUMC_FAILURE, "out of memory: the name %s%s", path, suffix);
    return NULL;
  }
  return joined;
}

/* Writes the directory of `path` to `directory`: "." if it names none. */
static enum gpumc_status
directory_of(const char *path, char directory[static PATH_MAX], struct gpumc_error *error)
{
  const char *slash = strrchr(path, '/');
  size_t length = slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
  if (length >= PATH_MAX)
    return gpumc_error_set(error, GPUMC_FAILURE, "%s: %s", path, strerror(ENAMETOOLONG));
  if (length == 0) {
    strcpy(directory, ".");
    return GPUMC_OK;
  }
  memcpy(directory, path, length);
  directory[length] = '\0';
  return GPUMC_OK;
}

/* Calls mkdir for every part of `directory`, which is cut and restored in place. */
static int make_directories(char *directory)
{
  for (char *slash = strchr(directory + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    int failed = mkdir(directory, DIRECTORY_MODE) != 0 && errno != EEXIST;
    *slash = '/';
    /* A parent that cannot be created may exist all the same (a read-only mount, say). */
    if (failed && errno != EROFS && errno != EACCES)
      return -1;
  }
  return mkdir(directory, DIRECTORY_MODE) != 0 && errno != EEXIST ? -1 : 0;
}

/* Returns why `directory`, which is cut in place, cannot be created: an errno for the nearest
 * existing name above it; 0 if it can. */
static int obstacle(char *directory)
{
  struct stat found;
  while (lstat(directory, &found) != 0) {
    char *slash = strrchr(directory, '/');
    if (errno != ENOENT)
      return errno;
    if (slash == NULL)
      strcpy(directory, ".");
    else
      slash[slash == directory ? 1 : 0] = '\0';
  }
  if (stat(directory, &found) != 0)
    return errno;
  if (!S_ISDIR(found.st_mode))
    return ENOTDIR;
  return access(directory, W_OK | X_OK) != 0 ? errno : 0;
}

static enum gpumc_status
cannot_make(const char *path, const char *directory, int code, struct gpumc_error *error)
{
  return gpumc_error_set(error, GPUMC_FAILURE, "%s: cannot create the directory %s: %s", path,
                         directory, strerror(code));
}

enum gpumc_status gpumc_directory_check(const char *path, struct gpumc_error *error)
{
  char directory[PATH_MAX], above[PATH_MAX];
  struct stat found;
  GPUMC_TRY(directory_of(path, directory, error));
  if (stat(directory, &found) != 0) {
    const int code = obstacle(strcpy(above, directory));
    return code != 0 ? cannot_make(path, directory, code, error) : GPUMC_OK;
  }
  if (!S_ISDIR(found.st_mode))
    return gpumc_error_set(error, GPUMC_FAILURE, "%s: %s is not a directory", path, directory);
  if (access(directory, W_OK | X_OK) != 0)
    return gpumc_error_set(error, GPUMC_FAILURE, "%s: cannot write to the directory %s: %s", path,
                           directory, strerror(errno));
  if (stat(path, &found) == 0 && S_ISDIR(found.st_mode))
    return gpumc_error_set(error, GPUMC_FAILURE, "%s: is a directory", path);
  return GPUMC_OK;
}

enum gpumc_status gpumc_directory_prepare(const char *path, struct gpumc_error *error)
{
  char directory[PATH_MAX];
  struct stat found;
  GPUMC_TRY(gpumc_directory_check(path, error));
  GPUMC_TRY(directory_of(path, directory, error));
  if (stat(directory, &found) == 0)
    return GPUMC_OK;
  return make_directories(directory) != 0 ? cannot_make(path, directory, errno, error)
                                          : gpumc_directory_check(path, error);
}

int gpumc_write_all_at(int descriptor, const void *bytes, size_t count, long long offset)
{
  const char *next = bytes;
  while (count > 0) {
    ssize_t written = pwrite(descriptor, next, count, (off_t)offset);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0) {
      errno = written == 0 ? ENOSPC : errno;
      return -1;
    }
    next += written;
    offset += written;
    count -= (size_t)written;
  }
  return 0;
}

static int sync_path(const char *path, int flags)
{
  int descriptor = open(path, flags | O_CLOEXEC);
  if (descriptor < 0)
    return -1;
  int failed = fsync(descriptor);
  int code = errno;
  close(descriptor);
  errno = code;
  return failed;
}

enum gpumc_status gpumc_file_sync(const char *path, struct gpumc_error *error)
{
  if (sync_path(path, O_RDONLY | O_NONBLOCK) != 0)
    return gpumc_error_set(error, GPUMC_FAILURE, "%s: cannot sync it to the disk: %s", path,
                           strerror(errno));
  return GPUMC_OK;
}

/* Makes the name itself durable, once it is given. */
static enum gpumc_status sync_name(const char *path, struct gpumc_error *error)
{
  char directory[PATH_MAX];
  GPUMC_TRY(directory_of(path, directory, error));
  /* Some file systems cannot fsync a directory; there the rename has to do. */
  if (sync_path(directory, O_RDONLY | O_DIRECTORY) != 0 && errno != EINVAL && errno != EACCES)
    return gpumc_error_set(error, GPUMC_FAILURE, "%s: cannot sync its name to the disk: %s", path,
                           strerror(errno));
  return GPUMC_OK;
}

static enum gpumc_status
cannot_rename(const char *written, const char *path, struct gpumc_error *error)
{
  return gpumc_error_set(error, GPUMC_FAILURE, "%s: cannot rename it to %s: %s", written, path,
                         strerror(errno));
}

enum gpumc_status
gpumc_file_replace(const char *written, const char *path, struct gpumc_error *error)
{
  return rename(written, path) == 0 ? GPUMC_OK : cannot_rename(written, path, error);
}

enum gpumc_status
gpumc_file_publish(const char *written, const char *path, struct gpumc_error *error)
{
  GPUMC_TRY(gpumc_file_replace(written, path, error));
  return sync_name(path, error);
}

bool gpumc_file_is_same(const char *one, const char *other)
{
  struct stat a, b;
  return lstat(one, &a) == 0 && lstat(other, &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

/* If a file server's answer was lost and the request came twice, the file already has both names.
 * The old one does no harm if it cannot be removed. */
static int link_and_unlink(const char *written, const char *path)
{
  if (link(written, path) != 0 && !(errno == EEXIST && gpumc_file_is_same(written, path)))
    return -1;
  (void)unlink(written);
  return 0;
}

/* File systems may lack either of the calls that never replace a file. If they lack both, the name
 * is checked just before it is given. */
static int rename_to_free_name(const char *written, const char *path)
{
  struct stat found;
  if (renameat2(AT_FDCWD, written, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
    return 0;
  if (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP)
    return -1;
  if (link_and_unlink(written, path) == 0)
    return 0;
  if (errno != EPERM && errno != ENOSYS && errno != EOPNOTSUPP && errno != EMLINK)
    return -1;
  if (lstat(path, &found) != 0)
    return rename(written, path);
  errno = EEXIST;
  return -1;
}

enum gpumc_status
gpumc_file_publish_new(const char *written, const char *path, struct gpumc_error *error)
{
  if (rename_to_free_name(written, path) == 0)
    return sync_name(path, error);
  if (errno != EEXIST)
    return cannot_rename(written, path, error);
  return gpumc_error_set(error, GPUMC_FAILURE,
                         "%s: appeared while it was being made, and was left alone: move it away, "
                         "and run the same command again",
                         path);
}

/* ---- opening regular files only, without waiting ---- */

enum { FILE_MODE = 0666 };

/* Returns why a file of this mode (from stat) is refused; NULL for a regular file. */
static const char *refusal(mode_t mode)
{
  if (S_ISREG(mode))
    return NULL;
  return S_ISFIFO(mode)                   ? "not a regular file but a FIFO"
         : S_ISSOCK(mode)                 ? "not a regular file but a socket"
         : S_ISDIR(mode)                  ? "not a regular file but a directory"
         : S_ISCHR(mode) || S_ISBLK(mode) ? "not a regular file but a device"
                                          : "not a regular file";
}

static int refuse(int code, const char *why, const char **reason)
{
  *reason = why != NULL ? why : strerror(code);
  errno = why != NULL ? EINVAL : code;
  return -1;
}

/* Checked before opening, since merely opening some devices has side effects, and again afterwards,
 * since the name may lead elsewhere by then. */
int gpumc_regular_open(const char *path, int flags, const char **reason)
{
  const int opening = (flags & ~O_TRUNC) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  struct stat found;
  if (stat(path, &found) == 0 && !S_ISREG(found.st_mode))
    return refuse(EINVAL, refusal(found.st_mode), reason);
  int descriptor = open(path, opening, FILE_MODE);
  if (descriptor < 0)
    return refuse(errno, NULL, reason);
  const char *why = NULL;
  int code = 0;
  if (fstat(descriptor, &found) != 0)
    code = errno;
  else if (!S_ISREG(found.st_mode))
    why = refusal(found.st_mode);
  else if ((flags & O_TRUNC) != 0 && found.st_size > 0 && ftruncate(descriptor, 0) != 0)
    code = errno;
  if (code == 0 && why == NULL)
    return descriptor;
  close(descriptor);
  return refuse(code, why, reason);
}

FILE *gpumc_regular_stream(const char *path, const char **reason)
{
  int descriptor = gpumc_regular_open(path, O_RDONLY, reason);
  if (descriptor < 0)
    return NULL;
  FILE *stream = fdopen(descriptor, "rb");
  if (stream == NULL) {
    int code = errno;
    close(descriptor);
    (void)refuse(code, NULL, reason);
  }
  return stream;
}
