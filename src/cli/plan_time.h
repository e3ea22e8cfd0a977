/* How long a run would take: its operations timed on a scratch ensemble, as often as it does them.
 */
#ifndef GPUMC_CLI_PLAN_TIME_H
#define GPUMC_CLI_PLAN_TIME_H

#include "core/run/prepare.h"

struct cli_plan_time {
  double rate;    /* updates per second, of sweeps alone */
  double seconds; /* of the whole run */
};

/* Takes a third of a second or, where a single operation takes longer, a few of these. */
GPUMC_MUST_CHECK enum gpumc_status cli_plan_time_measure(struct gpumc_preparation *preparation,
                                                         struct cli_plan_time *time,
                                                         struct gpumc_error *error);

#endif
