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

/* ---- the files of a task beside its result: their names, the lock that keeps two programs from
 * working on one task, and the status record for those who look on ---- */

/* All by the output path: OUTPUT, OUTPUT.partial, OUTPUT.ckpt, OUTPUT.log, OUTPUT.lock,
 * OUTPUT.status. */
struct gpumc_task_files {
  char *output, *partial, *checkpoint, *log, *lock, *status;
};
GPUMC_MUST_CHECK enum gpumc_status gpumc_task_files_init(struct gpumc_task_files *files,
                                                         const char *output,
                                                         struct gpumc_error *error);
/* Legal on a zeroed object; leaves it zeroed. */
void gpumc_task_files_free(struct gpumc_task_files *files);
/* Whether there is a file of that name, be it a symbolic link that leads nowhere. */
bool gpumc_file_exists(const char *path);
/* Remove a file; one that is not there is no error. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_file_remove(const char *path, struct gpumc_error *error);

/* The lock ends with the process, however that ends; a lock file left behind is no obstacle.
 * GPUMC_BUSY "OUTPUT is being worked on by process 1234 on HOST" when it is held. */
struct gpumc_task_lock;
GPUMC_MUST_CHECK enum gpumc_status gpumc_task_lock_acquire(const struct gpumc_task_files *files,
                                                           struct gpumc_task_lock **lock,
                                                           struct gpumc_error *error);
/* Whether that would succeed if nobody held the lock, with the same message where it would not;
 * makes nothing. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_task_lock_check(const struct gpumc_task_files *files, struct gpumc_error *error);
/* Removes the lock file; legal on NULL. */
void gpumc_task_lock_release(struct gpumc_task_lock *lock);
/* Whether a living process holds the lock, without disturbing it. `process`: its number, 0 if
 * unknown; may be NULL. */
bool gpumc_task_lock_held(const struct gpumc_task_files *files, long *process);

/* What the run said last: JSON in OUTPUT.status. */
enum gpumc_record_state { GPUMC_RECORD_RUNNING, GPUMC_RECORD_STOPPED, GPUMC_RECORD_FAILED };
struct gpumc_status_record {
  enum gpumc_record_state state;
  double fraction; /* 0 .. 1; negative: unknown, as for the next two */
  double seconds;  /* worked so far, earlier parts included */
  double remaining_seconds;
  double updated;    /* seconds since 1970; set by the writing */
  char message[512]; /* why it failed; cut off where it is longer */
};
/* Replaces the record at once; not fsynced: after a power failure an older one may be there. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_status_record_write(const struct gpumc_task_files *files,
                          const struct gpumc_status_record *record, struct gpumc_error *error);
/* False when there is none, or none that can be understood. */
bool gpumc_status_record_read(const struct gpumc_task_files *files,
                              struct gpumc_status_record *record);

#endif
