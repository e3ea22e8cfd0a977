/* The arithmetic of exchanges, walkers and sums of parallel tempering, for both compilers, which
 * every device must reproduce bit for bit. */
#ifndef GPUMC_ALGORITHMS_PT_RULES_H
#define GPUMC_ALGORITHMS_PT_RULES_H

#include <stdbool.h>

#include "core/device/tally.h"
#include "core/numerics/power.h"
#include "core/numerics/random.h"
#include "core/numerics/threshold.h"

/* Which extremes a walker has visited. */
enum pt_walker_label {
  PT_WALKER_FRESH,      /* none */
  PT_WALKER_HOT,        /* the hottest was visited last */
  PT_WALKER_RETURNING,  /* the coldest was visited last, after the hottest */
  PT_WALKER_BEGUN_COLD, /* only the coldest was visited */
  PT_WALKER_LABELS
};

/* Returns a walker: its number, that of the temperature it began at, and its label. */
GPUMC_HOST_DEVICE static inline uint32_t pt_walker(uint32_t number, uint32_t label)
{
  return number * PT_WALKER_LABELS + label;
}

GPUMC_HOST_DEVICE static inline uint32_t pt_walker_number(uint32_t walker)
{
  return walker / PT_WALKER_LABELS;
}

GPUMC_HOST_DEVICE static inline uint32_t pt_walker_label(uint32_t walker)
{
  return walker % PT_WALKER_LABELS;
}

/* Returns the walker once it is at temperature t; *returned: it has completed a round trip, from
 * the hottest to the coldest and back. */
GPUMC_HOST_DEVICE static inline uint32_t
pt_walker_arrived(uint32_t walker, size_t t, size_t temperatures, bool *returned)
{
  const uint32_t number = pt_walker_number(walker), label = pt_walker_label(walker);
  *returned = t == 0 && label == PT_WALKER_RETURNING;
  if (t == 0)
    return pt_walker(number, PT_WALKER_HOT);
  if (t + 1 < temperatures)
    return walker;
  if (label == PT_WALKER_HOT)
    return pt_walker(number, PT_WALKER_RETURNING);
  return label == PT_WALKER_FRESH ? pt_walker(number, PT_WALKER_BEGUN_COLD) : walker;
}

/* The temperatures of a copy in one round of exchanges: two neighbours that may be exchanged, or
 * one that has no partner. */
struct pt_exchange_unit {
  size_t t, count; /* temperatures t .. t + count - 1 */
};

GPUMC_HOST_DEVICE static inline size_t pt_exchange_units(size_t temperatures, uint32_t round)
{
  return (temperatures + round % 2 + 1) / 2;
}

GPUMC_HOST_DEVICE static inline struct pt_exchange_unit
pt_exchange_unit(size_t number, size_t temperatures, uint32_t round)
{
  const size_t parity = round % 2;
  struct pt_exchange_unit unit;
  unit.t = number == 0 ? 0 : 2 * number - parity;
  unit.count = unit.t + 1 < temperatures && (number > 0 || parity == 0) ? 2 : 1;
  return unit;
}

/* Returns the random number of an exchange. `run`: of the hotter one. */
GPUMC_HOST_DEVICE static inline uint32_t
pt_exchange_draw(struct gpumc_random random, uint32_t sample, uint32_t run, uint32_t round)
{
  uint32_t word[4];
  gpumc_random_draw(random, sample, run, round, gpumc_random_label(GPUMC_RANDOM_EXCHANGE, 0), word);
  return word[0];
}

/* Returns whether the replicas of a sample at two neighbouring temperatures are exchanged: with the
 * probability min(1, exp(step (colder - hotter))), step = beta of the colder less that of the
 * hotter, or the difference of the coefficients of another channel (Hukushima and Nemoto, J. Phys.
 * Soc. Jpn. 65, 1604 (1996), eqs. 9 and 10). */
GPUMC_HOST_DEVICE static inline bool
pt_exchange_accepted(uint32_t drawn, double step, int64_t hotter, int64_t colder)
{
  return drawn < gpumc_threshold_exponential(step * (double)(hotter - colder));
}

/* Returns what a term adds for one measured value. */
GPUMC_HOST_DEVICE static inline double
pt_term_value(int64_t value, double scale, enum gpumc_moment_choice moment)
{
  const double x = (double)value * scale;
  switch (moment) {
  case GPUMC_SUM_FIRST:
    return x;
  case GPUMC_SUM_ABSOLUTE:
    return gpumc_power(x, 1, true);
  case GPUMC_SUM_SECOND:
    return gpumc_power(x, 2, false);
  default:
    return gpumc_power(x, 4, false);
  }
}

/* The same for values in two copies. */
GPUMC_HOST_DEVICE static inline double pt_term_product(int64_t value, int64_t other, double scale)
{
  return (double)value * scale * ((double)other * scale);
}

#endif
