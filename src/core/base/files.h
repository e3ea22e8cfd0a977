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

/* Returns `path` followed by `suffix`; the caller frees it. NULL, with the error set, if memory ran
 * out. */
char *gpumc_path_with_suffix(const char *path, const char *suffix, struct gpumc_error *error);

/* Creates the directory that contains `path`, parents included, if it is missing, and checks that
 * files can be created in it. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_directory_prepare(const char *path, struct gpumc_error *error);
/* Checks whether that would succeed, with the same message if not; creates nothing. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_directory_check(const char *path, struct gpumc_error *error);

/* Forces the contents of a file to the disk. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_file_sync(const char *path, struct gpumc_error *error);

/* Renames `written` to `path`, in place of what has that name. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_file_replace(const char *written, const char *path, struct gpumc_error *error);

/* The same, for a file whose contents are on the disk, and makes the name durable too. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_file_publish(const char *written, const char *path, struct gpumc_error *error);

/* As gpumc_file_publish, if `path` must not exist: GPUMC_FAILURE, with both files unchanged, if it
 * does, even if it appeared at the last moment. If the process is killed meanwhile, the file may
 * keep both names on file systems that cannot do it in one step. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_file_publish_new(const char *written, const char *path, struct gpumc_error *error);

/* Returns whether two names refer to the same file. */
bool gpumc_file_is_same(const char *one, const char *other);

/* Writes all bytes at `offset` in spite of interruptions and partial writes; returns 0, or -1 with
 * errno. */
int gpumc_write_all_at(int descriptor, const void *bytes, size_t count, long long offset);

/* ---- files that users name ---- */

/* Opens the regular file at `path` and returns a descriptor that is closed on exec; `flags` are
 * those of open(2). Returns -1 on failure: errno says why (EINVAL: not a regular file), and
 * `*reason`, which needs no freeing, says it in words for a message: "Permission denied", "not a
 * regular file but a FIFO". Never waits. A file is truncated (O_TRUNC) only once it is known to be
 * regular. */
int gpumc_regular_open(const char *path, int flags, const char **reason);

/* The same as a stream for reading; NULL on failure. */
FILE *gpumc_regular_stream(const char *path, const char **reason);

#endif
