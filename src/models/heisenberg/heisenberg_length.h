/* What is measured of spins in single precision: for both compilers.
 *
 * All measurements are in double precision. Rounding has made spins in float longer or shorter than
 * 1 by about 1e-7, by over-relaxation systematically, and with them every bond. They are measured
 * as the unit vectors that they point along, and stay what they are: no sweep takes notice.
 *
 * Ensembles that walk measure spins as they are: what a walk goes by has to be what is measured
 * (walk/heisenberg_walk.h). Their spins are drawn uniformly, which makes lengths wrong by 2e-8, and
 * by 2e-9 on average. */
#ifndef GPUMC_HEISENBERG_LENGTH_H
#define GPUMC_HEISENBERG_LENGTH_H

#include "models/heisenberg/heisenberg_physics.h"

/* Returns a spin divided by its length, |S|^2 = 1 + excess, by the series of (1 + excess)^(-1/2):
 * exact to double precision if the length is within 1e-4 of 1. */
GPUMC_HOST_DEVICE static inline struct heisenberg_vector_double
heisenberg_of_length_1(const int components, struct heisenberg_vector_double spin)
{
  const double plane = fma(spin.y, spin.y, fma(spin.x, spin.x, -1.0));
  const double excess = components == 3 ? fma(spin.z, spin.z, plane) : plane;
  const double longer = excess * fma(excess, fma(excess, -0.3125, 0.375), -0.5);
  spin.x = fma(spin.x, longer, spin.x);
  spin.y = fma(spin.y, longer, spin.y);
  spin.z = fma(spin.z, longer, spin.z);
  return spin;
}

#endif
