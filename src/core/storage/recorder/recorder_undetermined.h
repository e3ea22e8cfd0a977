/* What a recorder remembers of numbers that are none: columns of a summary with NaN among their
 * values or errors. Whoever decides whether a result is trusted asks for them (algorithm.h). */
#ifndef GPUMC_CORE_RECORDER_UNDETERMINED_H
#define GPUMC_CORE_RECORDER_UNDETERMINED_H

#include "core/storage/recorder.h"

enum { GPUMC_UNDETERMINED_NAME_BYTES = 128 };
/* `columns` of which numbers are missing, the first of them by its name, in how many of its `of`
 * numbers, and whether some are missing or only their errors. */
struct gpumc_undetermined {
  size_t columns;
  char first[GPUMC_UNDETERMINED_NAME_BYTES];
  size_t count, of;
  bool only_errors;
};

/* Notes a column and its errors, value[of] and error_of[of], if NaN or an infinite number is among
 * them. */
void gpumc_recorder_note_undetermined(struct gpumc_recorder *recorder, const char *name,
                                      const double *value, const double *error_of, size_t of);
/* Returns what was noted so far; columns = 0: nothing. */
const struct gpumc_undetermined *gpumc_recorder_undetermined(const struct gpumc_recorder *recorder);

#endif
