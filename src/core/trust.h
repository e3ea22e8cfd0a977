/* Whether a result can be trusted, as its summary says it. */
#ifndef GPUMC_CORE_TRUST_H
#define GPUMC_CORE_TRUST_H

#include "core/algorithm.h"

/* The attributes of /summary that say whether results can be trusted: where the algorithm finds
 * nothing against them, and nothing was known against the task from the start. What the algorithm
 * finds it writes itself. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_trust_record(const struct gpumc_context *context, bool trusted, struct gpumc_error *error);
/* What was known from the start, gpumc_task.warnings, as attributes of `group`. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_trust_record_warnings(const struct gpumc_context *context,
                                                               const char *group,
                                                               struct gpumc_error *error);

#endif
