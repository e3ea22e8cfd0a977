/* The pressure of hard disks from histograms of distances, for both compilers.
 *
 * Contact (Anderson et al. 2013, eqs. 2 to 4): g(r) of pairs in bins of 10^-4 up to 1.02, at
 * abscissas R_i = (2/3) (r_{i+1}^3 - r_i^3) / (r_{i+1}^2 - r_i^2), is extrapolated to contact by a
 * polynomial of degree 5, and
 *
 *   P* = P sigma^2 / kT = rho (1 + (pi/2) rho g(1+)).
 *
 * Scaling: lambda_i = 1 - 1/r with the nearest disk of i at r is how far the box could shrink
 * before i overlaps. The density s of lambda, in bins of 10^-4 up to 0.02, is extrapolated to 0
 * likewise, and P* = rho (1 + s(0+) / 4) (two dimensions; Anderson, Irrgang and Glotzer, Comput.
 * Phys. Commun. 204, 21 (2016)).
 *
 * A least-squares polynomial is linear in the histogram: its extrapolated value is a sum over bins
 * of a constant weight times the number in the bin. So each pressure is the mean of a sum over
 * pairs, or disks, of the weight of their bin, an integer in quanta:
 *
 *   contact: c / N = rho g(1+) / 2, P* = rho (1 + pi c / N);  scaling: s / N = s(0+), P* = rho (1 +
 * s / (4 N)).
 *
 * The range of 0.02 is right for fluids, where both densities hardly change over it. Near close
 * packing they vanish within gaps of 2/Z of a diameter, and in a jammed state within less. So both
 * sums are formed at several levels: at level k bins and range are smaller by 4^k. Which level
 * counts follows from the measured densities (hard_disks_pressures.c).
 *
 * All begin at HARD_DISKS_CONTACT_DISTANCE, below which there are no pairs, so the first bin is as
 * wide as the others. */
#ifndef GPUMC_HARD_DISKS_PRESSURE_H
#define GPUMC_HARD_DISKS_PRESSURE_H

#include <math.h>

#include "models/hard_disks/hard_disks_physics.h"

enum {
  HARD_DISKS_BINS = 200,
  HARD_DISKS_BINS_IN_UNIT = 10000, /* at level 0 */
  HARD_DISKS_NARROWING = 4,        /* from one level to the next */
  HARD_DISKS_CONTACT_LEVELS = 5,   /* the last one reaches to 7.8e-5, */
  HARD_DISKS_SCALING_LEVELS = 6    /* and 2.0e-5, some 160 quanta of length */
};

/* The mean distance at which disks begin to overlap if distances are rounded as in
 * hard_disks_overlap(). */
#define HARD_DISKS_CONTACT_DISTANCE (1.0 + 0.72 * 0x1p-23)
/* Squared distances from the first number on, and distances from the second on, are in no bin. */
#define HARD_DISKS_NEAR 1.0413
#define HARD_DISKS_REACH 1.0205

/* Returns the cell, two steps away along an axis, in which a disk at x may see disks within that
 * distance: 2, -2, or 0 if there is none. Cells that are two steps away along both axes are too
 * far. */
GPUMC_HOST_DEVICE static inline int hard_disks_beyond(double x, double width)
{
  return x > 2.0 * width - HARD_DISKS_REACH ? 2 : x < HARD_DISKS_REACH - width ? -2 : 0;
}

/* Returns a pair's distance above contact, given the square of the distance. */
GPUMC_HOST_DEVICE static inline double hard_disks_gap(double square)
{
  return sqrt(square) - HARD_DISKS_CONTACT_DISTANCE;
}

/* Returns the scaling at which a disk overlaps the nearest one, given its squared distance. */
GPUMC_HOST_DEVICE static inline double hard_disks_scaling(double square)
{
  return 1.0 - HARD_DISKS_CONTACT_DISTANCE / sqrt(square);
}

/* Returns the bin of level 0 of a gap or a scaling; HARD_DISKS_BINS and more: none. */
GPUMC_HOST_DEVICE static inline uint32_t hard_disks_bin(double x)
{
  return x > 0.0 ? (uint32_t)(x * (double)HARD_DISKS_BINS_IN_UNIT) : 0;
}

/* Adds the weights of a gap's, or a scaling's, bins at all levels to sums that are `stride` apart,
 * given weight[levels][HARD_DISKS_BINS]. */
GPUMC_HOST_DEVICE static inline void
hard_disks_add_levels(double x, const int64_t *weight, int levels, int64_t *sum, int stride)
{
  double at = x > 0.0 ? x * (double)HARD_DISKS_BINS_IN_UNIT : 0.0;
  for (int k = 0; k < levels; k++) {
    const uint32_t bin = (uint32_t)at;
    if (bin >= HARD_DISKS_BINS)
      return;
    sum[k * stride] += weight[k * HARD_DISKS_BINS + (int)bin];
    at *= (double)HARD_DISKS_NARROWING;
  }
}

#endif
