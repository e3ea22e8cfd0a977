/* Files of users: names that may be given, and contents that are whole before they have one. */
#include "core/base/user_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/files.h"

enum { BEGIN_BYTES = 512 };

static enum gpumc_status cannot_write(const char *path, const char *why, struct gpumc_error *error)
{
  return gpumc_error_set(error, GPUMC_FAILURE, "cannot write %s: %s", path, why);
}

static bool is_own(const char *path, const struct gpumc_user_file_rule *rule)
{
  char begin[BEGIN_BYTES + 1] = "";
  const char *reason;
  FILE *stream = rule->own == NULL ? NULL : gpumc_regular_stream(path, &reason);
  if (stream == NULL)
    return false;
  begin[fread(begin, 1, BEGIN_BYTES, stream)] = '\0';
  fclose(stream);
  return rule->own(begin);
}

static enum gpumc_status refuse(const char *path, const struct gpumc_user_file_rule *rule,
                                const char *what, struct gpumc_error *error)
{
  return gpumc_error_set(error, GPUMC_FAILURE, "%s: %s, so it was left alone: %s", path, what,
                         rule->remedy);
}

/* Checks what has the name. A link is not followed, and not replaced either: it is somebody's. */
static enum gpumc_status check_name(struct gpumc_user_file *file, const char *path,
                                    const struct gpumc_user_file_rule *rule,
                                    struct gpumc_error *error)
{
  struct stat found;
  if (lstat(path, &found) != 0)
    return errno == ENOENT || errno == ENOTDIR ? GPUMC_OK
                                               : cannot_write(path, strerror(errno), error);
  file->is_there = true;
  if (S_ISLNK(found.st_mode))
    return refuse(path, rule, "is a symbolic link", error);
  if (!S_ISREG(found.st_mode)) {
    const char *reason = "not a regular file";
    const int descriptor = gpumc_regular_open(path, O_RDONLY, &reason);
    if (descriptor >= 0)
      close(descriptor);
    return refuse(path, rule, reason, error);
  }
  if (rule->replace || is_own(path, rule))
    return GPUMC_OK;
  return refuse(path, rule,
                rule->own != NULL ? "already exists and was not written by this command"
                                  : "already exists",
                error);
}

enum gpumc_status gpumc_user_file_name(struct gpumc_user_file *file, const char *path,
                                       const struct gpumc_user_file_rule *rule,
                                       struct gpumc_error *error)
{
  memset(file, 0, sizeof *file);
  GPUMC_TRY(check_name(file, path, rule, error));
  file->path = strdup(path);
  if (asprintf(&file->written, "%s.%ld.new", path, (long)getpid()) < 0)
    file->written = NULL;
  return file->path != NULL && file->written != NULL
             ? GPUMC_OK
             : gpumc_error_set(error, GPUMC_FAILURE, "out of memory: the name %s", path);
}

enum gpumc_status gpumc_user_file_open(struct gpumc_user_file *file, struct gpumc_error *error)
{
  const char *reason;
  const int descriptor = gpumc_regular_open(file->written, O_WRONLY | O_CREAT | O_EXCL, &reason);
  if (descriptor < 0)
    return cannot_write(file->path, reason, error);
  file->stream = fdopen(descriptor, "w");
  if (file->stream != NULL) {
    errno = 0;
    return GPUMC_OK;
  }
  const int code = errno;
  close(descriptor);
  unlink(file->written);
  return cannot_write(file->path, strerror(code), error);
}

enum gpumc_status gpumc_user_file_close(struct gpumc_user_file *file, struct gpumc_error *error)
{
  /* errno is that of the write that failed, which may have been an earlier one. */
  const bool written = fflush(file->stream) == 0 && ferror(file->stream) == 0;
  const bool safe = written && fsync(fileno(file->stream)) == 0;
  int code = errno;
  const bool closed = fclose(file->stream) == 0;
  file->stream = NULL;
  file->whole = safe && closed;
  if (file->whole)
    return GPUMC_OK;
  code = safe ? errno : code;
  unlink(file->written);
  return cannot_write(file->path, code != 0 ? strerror(code) : "its contents are incomplete",
                      error);
}

static enum gpumc_status publish(struct gpumc_user_file *file, struct gpumc_error *error)
{
  GPUMC_TRY(file->is_there ? gpumc_file_publish(file->written, file->path, error)
                           : gpumc_file_publish_new(file->written, file->path, error));
  file->published = true;
  return GPUMC_OK;
}

/* Removes what is beside the name. */
static void discard(struct gpumc_user_file *file)
{
  if (file->stream != NULL)
    fclose(file->stream);
  if ((file->stream != NULL || file->whole) && !file->published)
    unlink(file->written);
  file->stream = NULL;
  file->whole = false;
}

enum gpumc_status gpumc_user_files_publish(struct gpumc_user_file *files, size_t n,
                                           enum gpumc_status status, struct gpumc_error *error)
{
  for (size_t i = 0; i < n && status == GPUMC_OK; i++)
    status = publish(&files[i], error);
  for (size_t i = 0; i < n && status != GPUMC_OK; i++)
    if (files[i].published && !files[i].is_there)
      unlink(files[i].path);
    else
      discard(&files[i]);
  return status;
}

void gpumc_user_files_free(struct gpumc_user_file *files, size_t n)
{
  for (size_t i = 0; i < n && files != NULL; i++) {
    discard(&files[i]);
    free(files[i].path);
    free(files[i].written);
    memset(&files[i], 0, sizeof files[i]);
  }
}

enum gpumc_status gpumc_user_file_write(const char *path, const struct gpumc_text *text,
                                        const struct gpumc_user_file_rule *rule,
                                        struct gpumc_error *error)
{
  struct gpumc_user_file file = {0};
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, gpumc_user_file_name(&file, path, rule, error));
  GPUMC_TRY_OUT(status, gpumc_directory_prepare(path, error));
  GPUMC_TRY_OUT(status, gpumc_user_file_open(&file, error));
  (void)fwrite(gpumc_text_string(text), 1, text->length, file.stream);
  status = gpumc_user_files_publish(&file, 1, gpumc_user_file_close(&file, error), error);
out:
  gpumc_user_files_free(&file, 1);
  return status;
}
