/* Tells our files from those of others at the names beside a result, such as OUTPUT.ckpt.
 *
 * Only files known to be ours are overwritten or removed. A file is recognised by its first bytes,
 * which each of ours has from the start, so files that a killed process left behind are recognised
 * too. An empty file counts as ours: a killed process may leave one, and nothing is lost with it.
 */
#ifndef GPUMC_CORE_SIDE_FILES_H
#define GPUMC_CORE_SIDE_FILES_H

#include <stdbool.h>

#include "core/base/error.h"

/* What a lock file begins with; process and host follow. */
#define GPUMC_LOCK_MARK "gpumc "

enum gpumc_side {
  GPUMC_SIDE_PARTIAL,
  GPUMC_SIDE_CHECKPOINT,
  GPUMC_SIDE_LOG,
  GPUMC_SIDE_STATUS,
  GPUMC_SIDE_LOCK,
};
/* What follows OUTPUT in their names, and in those of their temporary files; NULL-terminated. */
extern const char *const gpumc_side_suffixes[];

/* UNKNOWN: it cannot be looked at. */
enum gpumc_presence {
  GPUMC_PRESENCE_NONE,
  GPUMC_PRESENCE_OURS,
  GPUMC_PRESENCE_FOREIGN,
  GPUMC_PRESENCE_UNKNOWN
};
/* A link, or what is no regular file, is foreign: ours are neither. */
enum gpumc_presence gpumc_side_file_look(const char *path, enum gpumc_side side);

/* GPUMC_FAILURE, naming file and remedy, if it is not ours, or if that cannot be known. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_side_file_check(const char *path, enum gpumc_side side, struct gpumc_error *error);
/* Whether the file is a working file, or a result, that its writer has closed. */
bool gpumc_working_file_is_closed(const char *path);
/* The same as gpumc_side_file_check of all names beside OUTPUT but that of the lock, which is
 * checked when it is taken. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_side_files_check(const char *output, struct gpumc_error *error);
/* Remove the file of that kind beside OUTPUT, and what an interrupted replacement of it may have
 * left; what is not ours stays. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_side_file_remove(const char *output, enum gpumc_side side, struct gpumc_error *error);

#endif
