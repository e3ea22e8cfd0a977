/* Recorders that run out of room for their files. */
#ifndef TESTS_SUPPORT_FULL_DISK_H
#define TESTS_SUPPORT_FULL_DISK_H

#include "core/storage/recorder.h"

/* Runs `live` in processes of its own whose files may have at most 0, step, 2 step ... bytes. With
 * little room it ends with an ordinary error and no result out/x.h5, later with the result; both
 * occur before `end`. */
void expect_full_disk_is_told(int (*live)(void), size_t end, size_t step);

/* Ends `live`: finishes and frees the recorder if all went well so far. Returns what `live` must
 * return: whether it ended well, with an error that names `file` and the cause, or otherwise. */
int full_disk_outcome(struct gpumc_recorder *recorder, enum gpumc_status status,
                      struct gpumc_error *error, const char *file);

#endif
