/* The quantities that compare two replicas of O(n) spins with the same quenched couplings, computed
 * from sums over both: for both compilers, by the same arithmetic on every device.
 *
 * Overlap: q_mn = (1/N) sum_i S_i^m(1) S_i^n(2), a tensor; q^2 = sum of the squares of its
 * components, which no rotation of either replica changes. Link overlap: the mean over all bonds of
 * (S_i . S_j)(1) (S_i . S_j)(2). Chirality overlap: the mean of kappa(1) kappa(2). O(3): over all
 * sites i and axes m, kappa = S_k . (S_i x S_j) with j and k one step back and forward from i along
 * m (Viet and Kawamura, Phys. Rev. Lett. 102, 027202 (2009); Fernandez et al., Phys. Rev. B 80,
 * 024422 (2009)). O(2): over all plaquettes, kappa = 2^(-3/2) sum of sgn(J_ij) sin(theta_i -
 * theta_j) over its bonds, in one direction around it (Kawamura and Li, Phys. Rev. Lett. 87, 187204
 * (2001)); none on a chain. */
#ifndef GPUMC_HEISENBERG_QUENCHED_PAIRS_H
#define GPUMC_HEISENBERG_QUENCHED_PAIRS_H

#include "models/heisenberg/heisenberg_wave.h"

enum heisenberg_pair_kind {
  HEISENBERG_PAIR_OVERLAP2,  /* q^2 */
  HEISENBERG_PAIR_LINK,      /* sum over bonds */
  HEISENBERG_PAIR_CHIRALITY, /* sum over sites and axes, or over plaquettes */
  HEISENBERG_PAIR_WAVE,      /* sum over m and n of |sum of S_i^m(1) S_i^n(2) exp(i k r_i)|^2 */
  HEISENBERG_PAIRS
};

enum { HEISENBERG_OVERLAP2_BITS = 40 }; /* q^2 is counted in units of 2^-HEISENBERG_OVERLAP2_BITS */

/* Exact sums over two replicas, in units of 2^-HEISENBERG_QUANTUM_BITS, products rounded to it. */
struct heisenberg_pair_sums {
  int64_t overlap[3][3]; /* [m][n] */
  int64_t link, chirality;
  struct heisenberg_wave_sums wave[3]; /* [m]; its components are n */
};

/* Writes the values of one pair to pair[kind][at] for those kinds that are not NULL. */
GPUMC_HOST_DEVICE static inline void
heisenberg_record_pair(const struct lattice_wave *wave, uint32_t components, double sites,
                       const struct heisenberg_pair_sums *sums, int64_t *const *pair, size_t at)
{
  const double unit = 1.0 / ((double)(1 << HEISENBERG_QUANTUM_BITS) * sites);
  double square = 0.0;
  for (uint32_t m = 0; m < components; m++)
    for (uint32_t n = 0; n < components; n++) {
      const double q = unit * (double)sums->overlap[m][n];
      square = fma(q, q, square);
    }
  if (pair[HEISENBERG_PAIR_OVERLAP2] != NULL)
    pair[HEISENBERG_PAIR_OVERLAP2][at] =
        (int64_t)rint(square * (double)((int64_t)1 << HEISENBERG_OVERLAP2_BITS));
  if (pair[HEISENBERG_PAIR_LINK] != NULL)
    pair[HEISENBERG_PAIR_LINK][at] = sums->link;
  if (pair[HEISENBERG_PAIR_CHIRALITY] != NULL)
    pair[HEISENBERG_PAIR_CHIRALITY][at] = sums->chirality;
  if (pair[HEISENBERG_PAIR_WAVE] != NULL) {
    int64_t total = 0;
    for (uint32_t m = 0; m < components; m++)
      total += heisenberg_wave_square(wave, components, &sums->wave[m]);
    pair[HEISENBERG_PAIR_WAVE][at] = total;
  }
}

#endif
