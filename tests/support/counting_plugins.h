/* A model and an algorithm that only count, for tests of the run itself. */
#ifndef TESTS_SUPPORT_COUNTING_PLUGINS_H
#define TESTS_SUPPORT_COUNTING_PLUGINS_H

#include "core/simulation/algorithm.h"
#include "core/simulation/kernel.h"
#include "core/simulation/model.h"

/* Not constant, since a later version of the program may have another trajectory. */
extern struct gpumc_kernel_ops counting_kernel;
/* A replica is one byte: the number of sweeps it has had. */
extern const struct gpumc_model_ops counting_model;
/* Keys: `population`, `units` and `fail_at`, the unit that fails (the summary counts as the
 * last). */
extern const struct gpumc_algorithm_ops counting_algorithm;

#endif
