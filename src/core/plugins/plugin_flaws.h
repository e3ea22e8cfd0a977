/* Tables that lack what the contracts ask for: looked at in tests of what is built in, and in every
 * plugin that is loaded. */
#ifndef GPUMC_CORE_PLUGIN_FLAWS_H
#define GPUMC_CORE_PLUGIN_FLAWS_H

#include "core/simulation/algorithm.h"
#include "core/simulation/model.h"

/* What is wrong with a model and its kernels, "a channel without a label"; NULL: nothing. */
const char *gpumc_model_flaw(const struct gpumc_model_ops *model);
const char *gpumc_algorithm_flaw(const struct gpumc_algorithm_ops *algorithm);
/* The same of an instance that a model has made. */
const char *gpumc_instance_flaw(const struct gpumc_model *model);

#endif
