/* A test of differences whose mean should be zero, by the signs that they might as well have. */
#ifndef GPUMC_CORE_SIGN_FLIPS_H
#define GPUMC_CORE_SIGN_FLIPS_H

#include <stddef.h>

/* Groups of samples whose signs are flipped together, so that there are 2^15 ways at most. */
enum { GPUMC_FLIPS_GROUPS = 16, GPUMC_FLIPS_POOLS = 16 };

/* Products of the groups' differences, summed over the comparisons of a pool: pool[a][b]. */
struct gpumc_flips {
  size_t groups, pools;
  double pool[GPUMC_FLIPS_POOLS][GPUMC_FLIPS_GROUPS][GPUMC_FLIPS_GROUPS];
};

/* Share of all sign flips, no flip included, under which the products of different groups add up to
 * as much as they do, over their standard deviation and in the pool where this is the most. In
 * groups that are independent and symmetric about zero it is below p with probability p at most,
 * however the comparisons depend on each other. *strongest: the pool where they are the most. */
double gpumc_flips_chance(const struct gpumc_flips *flips, size_t *strongest);

#endif
