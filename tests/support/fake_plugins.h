/* Plugins that compute nothing: every type of key, and kernels that lack operations. */
#ifndef TESTS_SUPPORT_FAKE_PLUGINS_H
#define TESTS_SUPPORT_FAKE_PLUGINS_H

#include "core/run/language_internal.h"

/* "chain": kernels cpu plain (cannot gather), cpu wide, cuda wide, cuda deep. "frozen": one CPU
 * kernel, which only measures. */
extern const struct gpumc_model_ops fake_chain, fake_frozen;
/* "anneal" needs sweep, measure and gather; "look" needs only measure. */
extern const struct gpumc_algorithm_ops fake_anneal, fake_look;
extern const struct gpumc_plugins fake_plugins;

#endif
