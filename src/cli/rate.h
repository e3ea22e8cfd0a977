/* Update rates, measured through the kernel's operations only. */
#ifndef GPUMC_CLI_RATE_H
#define GPUMC_CLI_RATE_H

#include "core/simulation/model.h"

/* What to measure. */
struct cli_rate_request {
  const struct gpumc_kernel_ops *kernel;
  const struct gpumc_model *model;
  struct gpumc_device *device;
  size_t runs, population; /* runs side by side; replicas of each */
  uint32_t sweeps;         /* of one repeat; more of them where that is too short to be timed */
  uint32_t rounds;         /* of Philox */
  struct gpumc_tiling tiling;
  double beta;
  double repeat_seconds; /* shorter repeats do not count */
  double seconds;        /* repeats go on for about that long, */
  uint32_t repeats;      /* and are these at least; 1: one that takes that long is enough */
};

/* Updates per second, of the repeats after one that is not counted, unless it is enough. */
struct cli_rate {
  double fastest, median;
};

GPUMC_MUST_CHECK enum gpumc_status cli_measure_rate(const struct cli_rate_request *request,
                                                    struct cli_rate *rate,
                                                    struct gpumc_error *error);

#endif
