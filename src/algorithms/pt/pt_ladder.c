/* Parallel tempering: the temperatures, and their tuning to equal acceptance.
 *
 * For energies of Gaussian distribution an exchange is accepted with the probability erfc(l/2), l
 * growing linearly with the distance in beta (Kofke, J. Chem. Phys. 117, 6911 (2002)). So lengths l
 * of the present steps are taken from their acceptance, and the whole length is divided anew into
 * equal parts, l being uniform within each present step. Where the distribution is another one, the
 * steps still end up with equal acceptance: only that is left as it is. */
#include <math.h>
#include <string.h>

#include "algorithms/pt/pt_state.h"
#include "core/numerics/elementary.h"

bool pt_ladder_ascends(const double *beta, size_t temperatures)
{
  bool ascends = isfinite(beta[0]) && isfinite(beta[temperatures - 1]);
  for (size_t t = 0; t + 1 < temperatures && ascends; t++)
    ascends = beta[t] < beta[t + 1];
  return ascends;
}

double pt_acceptance(const uint64_t rounds[2], const uint64_t *accepted, double places,
                     size_t temperatures, size_t t)
{
  if (t + 1 == temperatures || rounds[t % 2] == 0)
    return NAN;
  return (double)accepted[t] / ((double)rounds[t % 2] * places);
}

/* x with erfc(x) = p, to 0.2 % (Winitzki 2008): from elementary functions of our own, since it
 * decides temperatures. */
static double inverse_erfc(double p)
{
  const double a = 0.147;
  const double logarithm = gpumc_log(p * (2.0 - p));
  const double half = 2.0 / (GPUMC_PI * a) + 0.5 * logarithm;
  return sqrt(sqrt(half * half - logarithm / a) - half);
}

/* Half an exchange more of each outcome than was counted, so that no length is infinite, and none
 * 0: where nearly all are accepted, erfc(x) = 1 - 2 x/sqrt(pi) tells more than rounding leaves of
 * the formula. */
static double step_length(const struct pt_counts *counts, double places, size_t t)
{
  const double tried = (double)counts->rounds[t % 2] * places;
  const double accepted = (double)counts->accepted[t];
  const double least = 0.5 * sqrt(GPUMC_PI) * ((tried - accepted + 0.5) / (tried + 1.0));
  return fmax(inverse_erfc((accepted + 0.5) / (tried + 1.0)), least);
}

void pt_ladder_adjust(const struct pt_counts *counts, double places, size_t temperatures,
                      const double *present, double *beta)
{
  const size_t steps = temperatures - 1;
  double whole = 0.0, before = 0.0, length = step_length(counts, places, 0);
  size_t t = 0;
  for (size_t i = 0; i < steps; i++)
    whole += step_length(counts, places, i);
  beta[0] = present[0];
  beta[steps] = present[steps];
  for (size_t i = 1; i < steps; i++) {
    const double target = whole * (double)i / (double)steps;
    while (before + length < target && t + 1 < steps) {
      before += length;
      length = step_length(counts, places, ++t);
    }
    const double share = fmin((target - before) / length, 1.0);
    beta[i] = fma(share, present[t + 1] - present[t], present[t]);
  }
  if (!pt_ladder_ascends(beta, temperatures))
    memcpy(beta, present, temperatures * sizeof *beta);
}
