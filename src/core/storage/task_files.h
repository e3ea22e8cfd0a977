/* The files of a task beside its result: their names, the lock that keeps two programs from working
 * on one task, and the status record for those who look on. */
#ifndef GPUMC_CORE_TASK_FILES_H
#define GPUMC_CORE_TASK_FILES_H

#include <stdbool.h>

#include "core/base/error.h"

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
/* Whether a text is such a record. */
bool gpumc_status_record_recognise(const char *text);
/* False when there is none, or none that can be understood. */
bool gpumc_status_record_read(const struct gpumc_task_files *files,
                              struct gpumc_status_record *record);

#endif
