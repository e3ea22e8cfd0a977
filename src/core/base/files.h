/* Files of users and files that survive a power failure.
 *
 * A path may lead to a FIFO, where opening waits for a process at the other end, to a device that
 * can be read without end, to a socket or a directory. Every path that comes from a user, or is
 * derived from one, is opened by gpumc_regular_open and nowhere else, so every open file is a
 * regular file. */
#ifndef GPUMC_CORE_FILES_H
#define GPUMC_CORE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "core/base/error.h"

/* ---- whole or not at all: write beside the name, fsync, rename, fsync the directory ---- */

/* `path` followed by `suffix`. NULL, with the error set, when memory ran out. Caller frees. */
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

/* ---- files that users name ---- */

/* A descriptor, closed on exec, of the regular file at `path`; `flags` are those of open(2). -1
 * when there is none: errno says why (EINVAL: not a regular file), and `*reason`, which needs no
 * freeing, says it in words for a message: "Permission denied", "not a regular file but a FIFO".
 * Never waits. A file is emptied (O_TRUNC) only once it is known to be regular. */
int gpumc_regular_open(const char *path, int flags, const char **reason);

/* The same as a stream for reading; NULL when there is none. */
FILE *gpumc_regular_stream(const char *path, const char **reason);

#endif
