/* Files that are there whole or not at all: write beside the name, fsync, rename, fsync the
 * directory. */
#ifndef GPUMC_CORE_DURABLE_FILE_H
#define GPUMC_CORE_DURABLE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/error.h"

/* `path` with `suffix` behind it. NULL, with the error set, when memory ran out. Caller frees. */
char *gpumc_path_with_suffix(const char *path, const char *suffix, struct gpumc_error *error);

/* Make the directory that `path` lies in, parents included, where it is missing, and check that
 * files can be made in it. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_directory_prepare(const char *path, struct gpumc_error *error);
/* Whether that would succeed, with the same message where it would not; makes nothing. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_directory_check(const char *path, struct gpumc_error *error);

/* Force the contents of a file to the disk. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_file_sync(const char *path, struct gpumc_error *error);

/* Rename `written`, whose contents are on the disk, to `path` and make the name durable too. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_file_publish(const char *written, const char *path, struct gpumc_error *error);

/* The same where `path` must not be there: GPUMC_FAILURE, and both files as they were, where it is,
 * even if it came at the last moment. A process killed meanwhile may leave the file with both names
 * on file systems that cannot do it at once. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_file_publish_new(const char *written, const char *path, struct gpumc_error *error);

/* Whether two names are of one file. */
bool gpumc_file_is_same(const char *one, const char *other);

/* Write all bytes at `offset` in spite of interruptions and partial writes; 0, or -1 with errno. */
int gpumc_write_all_at(int descriptor, const void *bytes, size_t count, long long offset);

#endif
