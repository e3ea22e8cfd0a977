/* The keys of kernels with tiles. */
#include "core/tiling.h"

#include <string.h>

#include "core/params.h"

const char *const gpumc_tiling_keys[] = {"hits", "tile", "order", "generator", NULL};
const char *const gpumc_tiling_orders[] = {"forward", "symmetrised", NULL};
const char *const gpumc_generators[] = {"philox",
                                        "lcg32",
                                        "lcg32_random",
                                        "lcg64",
                                        "lcg64_random",
                                        "lagged_fibonacci_521",
                                        "lagged_fibonacci_1279",
                                        NULL};

#define UNSAFE(name)                                                                               \
  "kernel.generator = " name " is UNSAFE: results with such generators are known to be wrong; "    \
  "use kernel.generator: philox"

const char *gpumc_generator_warning(enum gpumc_generator generator)
{
  static const char *const warnings[GPUMC_GENERATORS] = {
      [GPUMC_GENERATOR_LCG32] = UNSAFE("lcg32"),
      [GPUMC_GENERATOR_LCG32_RANDOM] = UNSAFE("lcg32_random"),
      [GPUMC_GENERATOR_LCG64] = UNSAFE("lcg64"),
      [GPUMC_GENERATOR_LCG64_RANDOM] = UNSAFE("lcg64_random"),
      [GPUMC_GENERATOR_FIBONACCI_521] = UNSAFE("lagged_fibonacci_521"),
      [GPUMC_GENERATOR_FIBONACCI_1279] = UNSAFE("lagged_fibonacci_1279"),
  };
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
