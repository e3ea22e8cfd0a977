/* Recorders that find no more room for their files. */
#ifndef TESTS_SUPPORT_FULL_DISK_H
#define TESTS_SUPPORT_FULL_DISK_H

#include "core/storage/recorder.h"

/* Runs `live` in processes of their own whose files have 0, step, 2 step ... bytes at the most.
 * Sooner it ends with an ordinary error and no result out/x.h5, later with the result; both come
 * before `end`. */
void expect_full_disk_is_told(int (*live)(void), size_t end, size_t step);

/* For the end of `live`: finishes and frees the recorder if all went well so far. What `live` is to
 * return: whether it ended well, with an error that names `file` and the cause, or otherwise. */
int full_disk_outcome(struct gpumc_recorder *recorder, enum gpumc_status status,
                      struct gpumc_error *error, const char *file);

#endif
