#include "models/lattice/quantities.h"

#include <math.h>

double lattice_specific_heat_scale(const struct gpumc_model *model, const double *control,
                                   const double *mean)
{
  const double beta = control[LATTICE_BETA];
  return beta * beta * (double)model->sites * mean[1];
}

double lattice_susceptibility_scale(const struct gpumc_model *model, const double *control,
                                    const double *mean)
{
  return control[LATTICE_BETA] * (double)model->sites * mean[1];
}

double
lattice_energy_in_field(const struct gpumc_model *model, const double *control, const double *mean)
{
  return mean[0] - (control[LATTICE_FIELD] - model->control[LATTICE_FIELD]) * mean[1];
}

double lattice_energy_in_field_scale(const struct gpumc_model *model, const double *control,
                                     const double *mean)
{
  return fabs(mean[0]) + fabs((control[LATTICE_FIELD] - model->control[LATTICE_FIELD]) * mean[1]);
}

bool lattice_is_infinitely_hot(const struct gpumc_model *model, const double *control)
{
  (void)model;
  return control[LATTICE_BETA] == 0;
}

double
lattice_binder_parameter(const struct gpumc_model *model, const double *control, const double *mean)
{
  (void)model, (void)control;
  return mean[0] > 0.0 ? 1.0 - mean[1] / (3.0 * mean[0] * mean[0]) : (double)NAN;
}

double lattice_binder_parameter_scale(const struct gpumc_model *model, const double *control,
                                      const double *mean)
{
  (void)model, (void)control, (void)mean;
  return 1.0;
}

/* Returns twice the sine of half the wave number. */
static double wave_of(double wave_number)
{
  return 2.0 * sin(0.5 * wave_number);
}

double
lattice_correlation_length(const struct gpumc_model *model, double wave_number, const double *mean)
{
  const double excess = (double)model->sites * mean[0] / mean[1] - 1.0;
  return mean[1] > 0.0 && excess >= 0.0 ? sqrt(excess) / wave_of(wave_number) : (double)NAN;
}

/* Its square is a difference from 1; if that is 0, the root has no derivative, and its rounding no
 * bound. */
double lattice_correlation_length_scale(const struct gpumc_model *model, double wave_number,
                                        const double *mean)
{
  const double value = lattice_correlation_length(model, wave_number, mean);
  const double wave = wave_of(wave_number) * value;
  return value == 0.0 ? (double)INFINITY : value * (1.0 + wave * wave) / (2.0 * wave * wave);
}
