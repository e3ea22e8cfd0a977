/* Whether a result can be trusted, as its summary says it. */
#ifndef GPUMC_CORE_TRUST_H
#define GPUMC_CORE_TRUST_H

#include "core/simulation/algorithm.h"
#include "core/statistics/significance.h"

/* Whether a variance has degrees of freedom enough for a result to be trusted: 15, that is five of
 * many deviations with rare events, four of 32. Of fewer than 16 deviations it never has. */
bool gpumc_trust_freedom(double freedom);
/* The same of n samples, which are as many as there are: of fewer than 30 half of them is enough,
 * more than one rare event of 8 or two of 16 give. */
bool gpumc_trust_samples(double freedom, size_t n);

enum { GPUMC_FAILING_BYTES = 96 };
/* Counts the values of the moved control at which passed[count] is 0, and describes them: "3 of 16
 * temperatures, the coldest beta = 1.2", or with the hottest one; of controls other than `beta`, "3
 * of 16 values, the last h = 1.2", or the first one. value[count] ascends. Without any, `text` is
 * empty. */
size_t gpumc_trust_failing(const double *passed, const char *control, const double *value,
                           size_t count, bool hottest, char text[static GPUMC_FAILING_BYTES]);

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
