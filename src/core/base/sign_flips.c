/* The test by sign flips: all signs of the groups in the order of a Gray code. */
#include "core/base/sign_flips.h"

#include <math.h>
#include <stdint.h>

enum { GROUPS = GPUMC_FLIPS_GROUPS };
/* Sums that are equal but for rounding, in standard deviations. */
static const double equal = 1e-9;

/* Of one pool: the sum of products of different groups, with their signs, its part that each group
 * has, and its standard deviation over all signs. */
struct sum {
  double value, part[GROUPS], deviation;
};

static struct sum sum_of(const struct gpumc_flips *flips, size_t p)
{
  struct sum sum = {0, {0}, 0};
  double squares = 0;
  for (size_t a = 0; a < flips->groups; a++)
    for (size_t b = 0; b < flips->groups; b++)
      if (b != a) {
        sum.part[a] += flips->pool[p][a][b];
        squares += flips->pool[p][a][b] * flips->pool[p][a][b];
      }
  for (size_t a = 0; a < flips->groups; a++)
    sum.value += sum.part[a];
  sum.deviation = sqrt(2 * squares);
  return sum;
}

static void
flip(const struct gpumc_flips *flips, size_t p, size_t a, const double *sign, struct sum *sum)
{
  sum->value -= 4 * sign[a] * sum->part[a];
  for (size_t b = 0; b < flips->groups; b++)
    if (b != a)
      sum->part[b] -= 2 * sign[a] * flips->pool[p][b][a];
}

static double largest_of(const struct sum *sums, size_t pools, size_t *strongest)
{
  double largest = -INFINITY;
  for (size_t p = 0; p < pools; p++) {
    const double value = sums[p].deviation > 0 ? sums[p].value / sums[p].deviation : -INFINITY;
    if (value > largest) {
      largest = value;
      *strongest = p;
    }
  }
  return largest;
}

double gpumc_flips_chance(const struct gpumc_flips *flips, size_t *strongest)
{
  struct sum sums[GPUMC_FLIPS_POOLS];
  double sign[GROUPS];
  size_t pool;
  for (size_t a = 0; a < GROUPS; a++)
    sign[a] = 1;
  for (size_t p = 0; p < flips->pools; p++)
    sums[p] = sum_of(flips, p);
  *strongest = 0;
  const double found = largest_of(sums, flips->pools, strongest);
  if (isinf(found))
    return 1;
  const uint32_t ways = (uint32_t)1 << (flips->groups - 1);
  uint32_t as_many = 1;
  for (uint32_t way = 1; way < ways; way++) {
    size_t a = 0;
    while ((way >> a & 1) == 0)
      a++;
    for (size_t p = 0; p < flips->pools; p++)
      flip(flips, p, a, sign, &sums[p]);
    sign[a] = -sign[a];
    as_many += largest_of(sums, flips->pools, &pool) >= found - equal;
  }
  return (double)as_many / ways;
}
