/* Tells our files from those of others at the names beside a result, such as OUTPUT.ckpt.
 *
 * Only files known to be ours are overwritten or removed. A file is recognised by its first bytes,
 * which each of ours has from the start, so files left behind by a killed process are recognised
 * too. An empty file counts as ours: a killed process may leave one, and nothing is lost with
 * it. */
#ifndef GPUMC_CORE_SIDE_FILES_H
#define GPUMC_CORE_SIDE_FILES_H

#include <stdbool.h>

#include "core/base/error.h"

/* The first bytes of a lock file; process and host follow. */
#define GPUMC_LOCK_MARK "gpumc "

enum gpumc_side {
  GPUMC_SIDE_PARTIAL,
  GPUMC_SIDE_CHECKPOINT,
  GPUMC_SIDE_LOG,
  GPUMC_SIDE_STATUS,
  GPUMC_SIDE_LOCK,
};
/* Suffixes of OUTPUT in their names, and in those of their temporary files; NULL-terminated. */
extern const char *const gpumc_side_suffixes[];

/* UNKNOWN: it cannot be examined. */
enum gpumc_presence {
  GPUMC_PRESENCE_NONE,
  GPUMC_PRESENCE_OURS,
  GPUMC_PRESENCE_FOREIGN,
  GPUMC_PRESENCE_UNKNOWN
};
/* A link, or anything that is not a regular file, is foreign: ours are neither. */
enum gpumc_presence gpumc_side_file_look(const char *path, enum gpumc_side side);

/* Returns GPUMC_FAILURE, naming file and remedy, if it is not ours, or if that cannot be
 * determined. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_side_file_check(const char *path, enum gpumc_side side, struct gpumc_error *error);
/* Returns whether the file is a working file, or a result, that its writer has closed. */
bool gpumc_working_file_is_closed(const char *path);
/* The same as gpumc_side_file_check for all names beside OUTPUT except the lock, which is checked
 * when it is taken. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_side_files_check(const char *output, struct gpumc_error *error);
/* Removes the file of that kind beside OUTPUT, and any remains of an interrupted replacement; keeps
 * files that are not ours. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_side_file_remove(const char *output, enum gpumc_side side, struct gpumc_error *error);

/* ---- the files of a task beside its result: their names, the lock that keeps two programs from
 * working on one task, and the status record for those who look on ---- */

/* All derived from the output path: OUTPUT, OUTPUT.partial, OUTPUT.ckpt, OUTPUT.log, OUTPUT.lock,
 * OUTPUT.status. */
struct gpumc_task_files {
  char *output, *partial, *checkpoint, *log, *lock, *status;
};
GPUMC_MUST_CHECK enum gpumc_status gpumc_task_files_init(struct gpumc_task_files *files,
                                                         const char *output,
                                                         struct gpumc_error *error);
/* Legal on a zeroed object; leaves it zeroed. */
void gpumc_task_files_free(struct gpumc_task_files *files);
/* Returns whether a file of that name exists, even as a dangling symbolic link. */
bool gpumc_file_exists(const char *path);
/* Removes a file; a missing one is not an error. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_file_remove(const char *path, struct gpumc_error *error);

/* The lock ends with the process, however that ends; a lock file left behind is no obstacle.
 * GPUMC_BUSY "OUTPUT is being worked on by process 1234 on HOST" if it is held. */
struct gpumc_task_lock;
GPUMC_MUST_CHECK enum gpumc_status gpumc_task_lock_acquire(const struct gpumc_task_files *files,
                                                           struct gpumc_task_lock **lock,
                                                           struct gpumc_error *error);
/* Checks whether that would succeed if nobody held the lock, with the same message if not; creates
 * nothing. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_task_lock_check(const struct gpumc_task_files *files, struct gpumc_error *error);
/* Removes the lock file; legal on NULL. */
void gpumc_task_lock_release(struct gpumc_task_lock *lock);
/* Returns whether a living process holds the lock, without disturbing it. `process`: its number, 0
 * if unknown; may be NULL. */
bool gpumc_task_lock_held(const struct gpumc_task_files *files, long *process);

/* The latest status of the run: JSON in OUTPUT.status. */
enum gpumc_record_state { GPUMC_RECORD_RUNNING, GPUMC_RECORD_STOPPED, GPUMC_RECORD_FAILED };
struct gpumc_status_record {
  enum gpumc_record_state state;
  double fraction; /* 0 .. 1; negative: unknown, as for the next two */
  double seconds;  /* worked so far, including earlier parts */
  double remaining_seconds;
  double updated;    /* seconds since 1970; set on writing */
  char message[512]; /* why it failed; cut off if it is longer */
};
/* Replaces the record in one step; not fsynced: after a power failure an older one may be there. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_status_record_write(const struct gpumc_task_files *files,
                          const struct gpumc_status_record *record, struct gpumc_error *error);
/* Returns false if there is none, or none that can be understood. */
bool gpumc_status_record_read(const struct gpumc_task_files *files,
                              struct gpumc_status_record *record);

#endif
