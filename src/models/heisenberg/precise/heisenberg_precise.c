/* Where single precision is too coarse for a move of O(n) spins. */
#include "models/heisenberg/precise/heisenberg_precise.h"

#include <math.h>

#include "models/heisenberg/heisenberg.h"

/* Limit on beta times the field of a spin: energies are then off by less than 2e-4 of what they
 * differ from the ground state's (measured: 3e-3 at six times, 1e-2 at fourteen times the limit, as
 * the square). */
#define LIMIT 1e6

/* Returns the field of a spin whose neighbours are along it, that of random couplings on average:
 * their root mean square. */
static double field_of(const struct heisenberg_parameters *parameters, double field)
{
  const double coupling = parameters->disorder != NULL
                              ? sqrt(lattice_samples_coupling_square(parameters->disorder))
                              : fabs(parameters->coupling);
  return 2.0 * (double)parameters->lattice.dimension * coupling + fabs(field);
}

enum gpumc_status heisenberg_check_precise(const struct gpumc_ensemble *ensemble,
                                           const double *control, struct gpumc_error *error)
{
  const struct heisenberg_parameters *parameters = heisenberg_parameters(ensemble->model);
  for (size_t m = 0; m < ensemble->runs && ensemble->plan.move == HEISENBERG_METROPOLIS_SMALL;
       m++) {
    const double *of_run = control + m * HEISENBERG_CONTROLS, beta = of_run[HEISENBERG_BETA];
    const double field = field_of(parameters, of_run[HEISENBERG_FIELD]);
    if (beta * field > LIMIT)
      return gpumc_error_set(error, GPUMC_INVALID,
                             "at beta = %g spins are too cold for metropolis_small in single "
                             "precision: beta times the field of a spin, %g, is above %g, so that "
                             "rounding would decide which steps are accepted; use kernel.variant: "
                             "double, or update: heat_bath or mixed",
                             beta, field, LIMIT);
  }
  return GPUMC_OK;
}
