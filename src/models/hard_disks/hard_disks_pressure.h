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
 * Both begin at HARD_DISKS_CONTACT_DISTANCE, below which there are no pairs, so the first bin is as
 * wide as the others. */
#ifndef GPUMC_HARD_DISKS_PRESSURE_H
#define GPUMC_HARD_DISKS_PRESSURE_H

#include <math.h>

#include "models/hard_disks/hard_disks_physics.h"

enum { HARD_DISKS_BINS = 200, HARD_DISKS_BINS_IN_UNIT = 10000 };

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

/* Returns the bin of a distance above contact, or of a scaling; HARD_DISKS_BINS and more: none. */
GPUMC_HOST_DEVICE static inline uint32_t hard_disks_bin(double x)
{
  return x > 0.0 ? (uint32_t)(x * (double)HARD_DISKS_BINS_IN_UNIT) : 0;
}

/* Returns the squared distance of two disks from the differences of hard_disks_apart(). */
GPUMC_HOST_DEVICE static inline double hard_disks_square(float dx, float dy)
{
  return (double)dx * (double)dx + (double)dy * (double)dy;
}

/* Returns the bin of a pair's distance, given its square below HARD_DISKS_NEAR. */
GPUMC_HOST_DEVICE static inline uint32_t hard_disks_contact_bin(double square)
{
  return hard_disks_bin(sqrt(square) - HARD_DISKS_CONTACT_DISTANCE);
}

/* Returns the bin of a disk's scaling, given the squared distance of the nearest one below
 * HARD_DISKS_NEAR. */
GPUMC_HOST_DEVICE static inline uint32_t hard_disks_scaling_bin(double square)
{
  return hard_disks_bin(1.0 - HARD_DISKS_CONTACT_DISTANCE / sqrt(square));
}

#endif
