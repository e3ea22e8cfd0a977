/* Files that commands write for their user: configurations, tables, manual pages, completions.
 *
 * All follow one rule. A file is written beside its name, made durable, and given the name
 * when it is whole, so that a lack of space or a signal leaves nothing under it. A name that is
 * taken is refused, a symbolic link or what is no regular file always, a regular file unless the
 * command recognises it as one that it wrote itself, or was told to replace it. */
#ifndef GPUMC_CORE_USER_FILE_H
#define GPUMC_CORE_USER_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "core/base/error.h"
#include "core/base/text.h"

/* When a regular file may be replaced. */
struct gpumc_user_file_rule {
  bool replace; /* the user said so */
  /* Returns whether a file that begins so, NUL-terminated, was written by this command; NULL: it
   * does not know. */
  bool (*own)(const char *begin);
  const char *remedy; /* of a refusal: "choose another name with -o" */
};

/* Zero-initialise. */
struct gpumc_user_file {
  char *path;
  char *written; /* the name beside it */
  FILE *stream;  /* while it is being written */
  bool is_there; /* a file has the name, and is replaced */
  bool whole, published;
};

/* Checks whether the name may be given, and keeps it. GPUMC_FAILURE if not; nothing is created. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_user_file_name(struct gpumc_user_file *file, const char *path,
                     const struct gpumc_user_file_rule *rule, struct gpumc_error *error);

/* Opens `stream` for writing, beside the name. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_user_file_open(struct gpumc_user_file *file, struct gpumc_error *error);

/* Closes it, its contents durable. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_user_file_close(struct gpumc_user_file *file, struct gpumc_error *error);

/* Gives whole files their names, all or, as far as the file system lets us, none: if `status` is
 * already a failure or one cannot be given, the new ones are removed. Returns the status. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_user_files_publish(struct gpumc_user_file *files, size_t n,
                                                            enum gpumc_status status,
                                                            struct gpumc_error *error);

/* Frees the names and removes what was not published; legal on zeroed objects and on NULL. */
void gpumc_user_files_free(struct gpumc_user_file *files, size_t n);

/* All of this for one text; creates the directory if it is missing. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_user_file_write(const char *path, const struct gpumc_text *text,
                      const struct gpumc_user_file_rule *rule, struct gpumc_error *error);

#endif
