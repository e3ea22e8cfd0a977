/* The keys of kernels with tiles. */
#include "models/ising/tiled/tiling.h"

#include <string.h>

#include "core/config/params.h"

const char *const gpumc_tiling_keys[] = {"hits", "tile", "order", "generator", NULL};
const char *const gpumc_tiling_orders[] = {"forward", "symmetrised", NULL};

#define UNSAFE_GENERATORS(OF)                                                                      \
  OF(LCG32, "lcg32")                                                                               \
  OF(LCG32_RANDOM, "lcg32_random")                                                                 \
  OF(LCG64, "lcg64")                                                                               \
  OF(LCG64_RANDOM, "lcg64_random")                                                                 \
  OF(FIBONACCI_521, "lagged_fibonacci_521")                                                        \
  OF(FIBONACCI_1279, "lagged_fibonacci_1279")
#define NAME(generator, name) [GPUMC_GENERATOR_##generator] = name,
#define WARNING(generator, name)                                                                   \
  [GPUMC_GENERATOR_##generator] =                                                                  \
      "kernel.generator = " name " is UNSAFE: results with such generators are known to be "       \
      "wrong; use kernel.generator: philox",

const char *const gpumc_generators[GPUMC_GENERATORS + 1] = {NAME(PHILOX, "philox")
                                                                UNSAFE_GENERATORS(NAME)};

const char *gpumc_generator_warning(enum gpumc_generator generator)
{
  static const char *const warnings[GPUMC_GENERATORS] = {UNSAFE_GENERATORS(WARNING)};
  return warnings[generator];
}

static int choice_of(const struct gpumc_params *kernel, const char *key, const char *const *choices)
{
  const char *name = gpumc_params_string(kernel, key);
  int choice = 0;
  while (choices[choice] != NULL && strcmp(choices[choice], name) != 0)
    choice++;
  return choices[choice] != NULL ? choice : 0;
}

struct gpumc_tiling gpumc_tiling_make(const struct gpumc_params *kernel)
{
  struct gpumc_tiling tiling = {0};
  if (gpumc_params_has(kernel, "hits"))
    tiling.hits = (uint32_t)gpumc_params_integer(kernel, "hits");
  if (gpumc_params_has(kernel, "tile"))
    tiling.tile = (uint32_t)gpumc_params_integer(kernel, "tile");
  if (gpumc_params_has(kernel, "order"))
    tiling.order = (enum gpumc_tiling_order)choice_of(kernel, "order", gpumc_tiling_orders);
  if (gpumc_params_has(kernel, "generator"))
    tiling.generator = (enum gpumc_generator)choice_of(kernel, "generator", gpumc_generators);
  return tiling;
}
