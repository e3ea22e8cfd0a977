/* Quantities that models of spins have in common, whatever their spins are: functions of controls
 * and means as struct gpumc_quantity has them. e, m are per site. */
#ifndef GPUMC_LATTICE_QUANTITIES_H
#define GPUMC_LATTICE_QUANTITIES_H

#include "core/simulation/model.h"

/* Their first controls. */
enum lattice_control { LATTICE_BETA, LATTICE_FIELD };

/* Largest terms of beta^2 N (<e^2> - ..) and of beta N (<m^2> - ..); mean: <x>, <x^2>. */
double lattice_specific_heat_scale(const struct gpumc_model *model, const double *control,
                                   const double *mean);
double lattice_susceptibility_scale(const struct gpumc_model *model, const double *control,
                                    const double *mean);
/* e - (h - model.h) <m>; mean: <e>, <m>. Energies that are measured are without the moved field. */
double
lattice_energy_in_field(const struct gpumc_model *model, const double *control, const double *mean);
double lattice_energy_in_field_scale(const struct gpumc_model *model, const double *control,
                                     const double *mean);
/* beta = 0: what is a multiple of beta, such as a specific heat or a susceptibility, is 0. */
bool lattice_is_infinitely_hot(const struct gpumc_model *model, const double *control);
/* U4 = 1 - m4 / (3 m2^2); mean: <m^2>, <m^4>. 2/3 in an ordered phase, and in a disordered one of
 * spins with n components 1 - (n + 2) / (3 n). */
double lattice_binder_parameter(const struct gpumc_model *model, const double *control,
                                const double *mean);
double lattice_binder_parameter_scale(const struct gpumc_model *model, const double *control,
                                      const double *mean);

/* The second-moment correlation length from chi(0) = N x2 and chi(k) at the smallest wave number k,
 * in lattice spacings; mean: x2, chi(k). */
double
lattice_correlation_length(const struct gpumc_model *model, double wave_number, const double *mean);
double lattice_correlation_length_scale(const struct gpumc_model *model, double wave_number,
                                        const double *mean);

/* Of a channel of squared amplitudes of waves (wave.h): what asks for it. */
#define LATTICE_WAVE_REQUEST                                                                       \
  .request_key = "structure_factor",                                                               \
  .request = "Whether the structure factor at the smallest wave vectors is measured, and with it " \
             "the correlation length."

#endif
