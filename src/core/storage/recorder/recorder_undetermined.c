/* What a recorder remembers of numbers that are none. */
#include "core/storage/recorder/recorder_undetermined.h"

#include <math.h>
#include <stdio.h>

#include "core/storage/recorder/recorder_internal.h"

void gpumc_recorder_note_undetermined(struct gpumc_recorder *recorder, const char *name,
                                      const double *value, const double *error_of, size_t of)
{
  struct gpumc_undetermined *undetermined = &recorder->undetermined;
  size_t values = 0, count = 0;
  for (size_t i = 0; i < of; i++) {
    values += isfinite(value[i]) ? 0 : 1;
    count += isfinite(value[i]) && isfinite(error_of[i]) ? 0 : 1;
  }
  if (count == 0)
    return;
  if (undetermined->columns++ > 0)
    return;
  snprintf(undetermined->first, sizeof undetermined->first, "%s", name);
  undetermined->count = count;
  undetermined->of = of;
  undetermined->only_errors = values == 0;
}

const struct gpumc_undetermined *gpumc_recorder_undetermined(const struct gpumc_recorder *recorder)
{
  return &recorder->undetermined;
}
