/* The 2D Ising model on a finite periodic lattice, exactly: B. Kaufman, Phys. Rev. 76, 1232 (1949).
 */
#ifndef GPUMC_TESTS_SUPPORT_KAUFMAN_H
#define GPUMC_TESTS_SUPPORT_KAUFMAN_H

#include <stddef.h>

/* Values per site: ln Z / N, e = <E>/N in units of energy, C = beta^2 (<E^2> - <E>^2)/N. */
struct exact_thermodynamics {
  long double log_z, energy, specific_heat;
};

/* Returns the exact values for `rows` x `columns` sites, both even and at least 2, no field, any
 * sign of `coupling` (J). Errors are below 1e-12 for |beta J| <= 2 and sides up to 512. */
struct exact_thermodynamics
kaufman_ising2d(size_t rows, size_t columns, double coupling, double beta);

/* Returns the energy per site of the infinite lattice, J = 1: L. Onsager, Phys. Rev. 65, 117
 * (1944). */
long double onsager_energy(double beta);

#endif
