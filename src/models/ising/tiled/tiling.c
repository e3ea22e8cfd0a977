/* The keys of the tiled kernels. */
#include "models/ising/tiled/tiled.h"

#include <string.h>

const char *const ising_tiling_orders[] = {"forward", "symmetrised", NULL};

#define UNSAFE_GENERATORS(OF)                                                                      \
  OF(LCG32, "lcg32")                                                                               \
  OF(LCG32_RANDOM, "lcg32_random")                                                                 \
  OF(LCG64, "lcg64")                                                                               \
  OF(LCG64_RANDOM, "lcg64_random")                                                                 \
  OF(FIBONACCI_521, "lagged_fibonacci_521")                                                        \
  OF(FIBONACCI_1279, "lagged_fibonacci_1279")
#define NAME(generator, name) [ISING_GENERATOR_##generator] = name,
#define WARNING(generator, name)                                                                   \
  [ISING_GENERATOR_##generator] =                                                                  \
      "kernel.generator = " name " is UNSAFE: results with such generators are known to be "       \
      "wrong; use kernel.generator: philox",

const char *const ising_generators[ISING_GENERATORS + 1] = {NAME(PHILOX, "philox")
                                                                UNSAFE_GENERATORS(NAME)};

const struct gpumc_key ising_tiling_keys[] = {
    {.name = "hits",
     .type = GPUMC_KEY_INTEGER,
     .doc = "How many times the spins of a tile are updated before it is the turn of "
            "the other half of the tiles; fewer in the last round where the sweeps "
            "between two measurements are not a multiple of it. Kernel `tiled` only.",
     .default_text = "1",
     .unit = "sweeps",
     .minimum = 1,
     .maximum = ISING_HITS_MAXIMUM,
     .sweepable = true},
    {.name = "tile",
     .type = GPUMC_KEY_INTEGER,
     .doc = "Side of the tiles; every side of the lattice must be a multiple of "
            "twice this. 0 picks the largest that fits, up to 32 (square lattices) "
            "or 8 (cubic ones). Kernel `tiled` only.",
     .default_text = "0",
     .unit = "sites",
     .minimum = 0,
     .maximum = ISING_TILE_MAXIMUM,
     .multiple_of = 2,
     .sweepable = true},
    {.name = "order",
     .type = GPUMC_KEY_CHOICE,
     .doc = "Order of the updates: all hits of one half of the tiles, then all of "
            "the other (forward), or a palindrome, which has detailed balance "
            "(symmetrised; `hits` must be even, and divide the sweeps between two "
            "measurements). Kernel `tiled` only.",
     .default_text = "forward",
     .choices = ising_tiling_orders,
     .sweepable = true},
    {.name = "generator",
     .type = GPUMC_KEY_CHOICE,
     .doc = "Generator of the random numbers of the updates. All but philox are "
            "UNSAFE: linear congruential and lagged Fibonacci generators are known "
            "to give wrong results, some only in long runs, and exist to demonstrate "
            "it. Kernel `tiled` only.",
     .default_text = "philox",
     .choices = ising_generators,
     .sweepable = true},
    {0}};

static int choice_of(const struct gpumc_params *kernel, const char *key, const char *const *choices)
{
  const char *name = gpumc_params_string(kernel, key);
  int choice = 0;
  while (choices[choice] != NULL && strcmp(choices[choice], name) != 0)
    choice++;
  return choices[choice] != NULL ? choice : 0;
}

struct gpumc_kernel_options ising_tiling_options(const struct ising_tiling *tiling)
{
  struct gpumc_kernel_options options = {.together = tiling->hits};
  _Static_assert(sizeof *tiling <= sizeof options.own, "options have room for a tiling");
  memcpy(options.own, tiling, sizeof *tiling);
  return options;
}

struct ising_tiling ising_tiling_of(const struct gpumc_kernel_options *options)
{
  struct ising_tiling tiling;
  memcpy(&tiling, options->own, sizeof tiling);
  return tiling;
}

void ising_tiling_read(const struct gpumc_params *kernel, struct gpumc_kernel_options *options)
{
  struct ising_tiling tiling = {0};
  if (gpumc_params_has(kernel, "hits"))
    tiling.hits = (uint32_t)gpumc_params_integer(kernel, "hits");
  if (gpumc_params_has(kernel, "tile"))
    tiling.tile = (uint32_t)gpumc_params_integer(kernel, "tile");
  if (gpumc_params_has(kernel, "order"))
    tiling.order = (enum ising_tiling_order)choice_of(kernel, "order", ising_tiling_orders);
  if (gpumc_params_has(kernel, "generator"))
    tiling.generator = (enum ising_generator)choice_of(kernel, "generator", ising_generators);
  *options = ising_tiling_options(&tiling);
}

/* A palindrome of hits that the next measurement cuts off has no detailed balance, which it is for.
 */
void ising_tiling_check(const struct gpumc_params *kernel, int64_t interval,
                        struct gpumc_report *report)
{
  const int64_t hits = gpumc_params_integer(kernel, "hits");
  if (strcmp(gpumc_params_string(kernel, "order"), ising_tiling_orders[ISING_ORDER_SYMMETRISED]) ==
          0 &&
      interval % hits != 0)
    gpumc_params_mistake(
        kernel, report, "order",
        "kernel.order: symmetrised has detailed balance only if the sweeps between "
        "two measurements, algorithm.interval = %lld, are a multiple of "
        "kernel.hits = %lld: make them one, or use kernel.order: forward",
        (long long)interval, (long long)hits);
}

const char *ising_tiling_warning(const struct gpumc_kernel_options *options, const char **name)
{
  static const char *const warnings[ISING_GENERATORS] = {UNSAFE_GENERATORS(WARNING)};
  *name = "generator_warning";
  return warnings[ising_tiling_of(options).generator];
}
