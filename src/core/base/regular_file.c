/* Opening regular files only, without waiting. */
#include "core/base/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MODE = 0666 };

/* Of what stat says; NULL of a regular file. */
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

/* Checked before opening, since merely opening some devices has effects, and again afterwards,
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
