/* The spectrum of an instance whose couplings and fields are multiples of a common unit u.
 *
 * All energies of a sample have the parity of the sum of its couplings and fields: a flip changes
 * the energy by 2 s f, f the local field, a multiple of u. Levels are thus 2 u apart if the sums of
 * all samples are even, or all odd, and u apart otherwise. With uniform couplings J a spin has as
 * many bonds of each direction as of the other, and f - h is a multiple of 2 J, which takes the
 * place of J.
 *
 * Kernels measure energies in quanta that are much finer than levels, and round: terms, if there is
 * disorder, or the whole. A level is therefore a range of quanta around its value.
 *
 *      -2u            0             2u      levels
 *   |-------------|-------------|----------
 *         .:.           .:.           .:.   energies, in quanta */
#include <math.h>

#include "models/ising/ising.h"

/* Larger spectra are more work than the bins that a histogram has otherwise. */
enum { LEVELS_MOST = 1 << 14 };

double ising_largest_coupling(const struct ising_parameters *parameters)
{
  return lattice_largest_coupling(parameters->disorder, parameters->coupling);
}

double ising_largest_field(const struct ising_parameters *parameters)
{
  return fabs(parameters->field) +
         (parameters->disorder != NULL ? lattice_samples_largest_field(parameters->disorder) : 0.0);
}

/* Returns all terms of the energy; the bonds of uniform couplings in pairs. */
static struct lattice_multiples terms_of(const struct gpumc_model *model)
{
  const struct ising_parameters *parameters = ising_parameters(model);
  const struct lattice_disorder *disorder = parameters->disorder;
  const size_t bonds = model->sites * parameters->lattice.dimension;
  struct lattice_multiples terms =
      lattice_samples_traits(disorder).couplings
          ? lattice_samples_coupling_multiples(disorder, bonds)
          : lattice_multiples_alike(2.0 * fabs(parameters->coupling), bonds / 2);
  lattice_multiples_join(&terms, lattice_multiples_alike(fabs(parameters->field), model->sites));
  if (disorder != NULL)
    lattice_multiples_join(&terms, lattice_samples_field_multiples(disorder, model->sites));
  return terms;
}

/* Returns by how many quanta energies may lie beside their levels, with ranges `spacing` quanta
 * wide about the middle of the spectrum. */
static double largest_shift(const struct gpumc_model *model, double levels)
{
  const struct ising_parameters *parameters = ising_parameters(model);
  const double terms = (double)model->sites * ((double)parameters->lattice.dimension + 2.0);
  const double rounded = parameters->disorder != NULL ? 0.5 * terms : 0.5;
  return rounded + 0.25 * levels + 1.0;
}

/* Returns how many levels in a row may have no states: single flips, none of which changes the
 * energy by more than 2 (sum of |J_ij| + |h_i|), lead from every state to every other. */
static size_t largest_gap(const struct gpumc_model *model, double distance)
{
  const struct ising_parameters *parameters = ising_parameters(model);
  const double neighbours = 2.0 * (double)parameters->lattice.dimension;
  const double change =
      2.0 * fma(neighbours, ising_largest_coupling(parameters), ising_largest_field(parameters));
  return (size_t)ceil(change / distance);
}

void ising_describe_spectrum(struct gpumc_model *model)
{
  const struct lattice_multiples terms = terms_of(model);
  const int64_t apart = terms.even && terms.odd ? 1 : 2;
  const double levels = 2.0 * (double)terms.largest / (double)apart + 1.0;
  if (terms.none || levels > LEVELS_MOST)
    return;
  if (terms.largest == 0) {
    model->grid[ISING_ENERGY] = (struct gpumc_grid){.spacing = 1, .levels = 1};
    return;
  }
  const double step = (double)(apart * terms.unit.size);
  const double parts = lattice_unit_parts(terms.unit);
  const double spacing = rint(step / parts / model->quantum[ISING_ENERGY]);
  if (2.0 * largest_shift(model, levels) >= spacing)
    return;
  model->grid[ISING_ENERGY] =
      (struct gpumc_grid){-(int64_t)(0.5 * spacing * levels), (int64_t)spacing, (size_t)levels};
  model->level[ISING_ENERGY] =
      (struct gpumc_levels){-0.5 * (levels - 1.0), step, parts, largest_gap(model, step / parts)};
}
