/* Canonical runs: what results can be formed of again, to merge files or analyse them anew. */
#ifndef GPUMC_ALGORITHMS_CANONICAL_OUTPUT_H
#define GPUMC_ALGORITHMS_CANONICAL_OUTPUT_H

#include "algorithms/canonical/canonical_state.h"

/* runs/NNNN/bins and runs/NNNN/replicas of every temperature. */
GPUMC_MUST_CHECK enum gpumc_status
canonical_write_runs(const struct canonical *canonical, struct gpumc_error *error);

#endif
