/* Whether a result can be trusted, as its summary says it. */
#ifndef GPUMC_CORE_TRUST_H
#define GPUMC_CORE_TRUST_H

#include "core/algorithm.h"

/* The attributes of /summary that say whether results can be trusted: where the algorithm finds
 * nothing against them, and nothing is known against the random numbers. What the algorithm finds
 * it writes itself. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_trust_record(const struct gpumc_context *context, bool trusted, struct gpumc_error *error);

#endif
