/* Quantities shared by models of spins, whatever their spins are: functions of controls and means
 * as in struct gpumc_quantity. e, m are per site. */
#ifndef GPUMC_LATTICE_QUANTITIES_H
#define GPUMC_LATTICE_QUANTITIES_H

#include "core/simulation/model.h"

/* Their first controls. */
enum lattice_control { LATTICE_BETA, LATTICE_FIELD };

/* Return the largest terms of beta^2 N (<e^2> - ..) and of beta N (<m^2> - ..); mean: <x>,
 * <x^2>. */
double lattice_specific_heat_scale(const struct gpumc_model *model, const double *control,
                                   const double *mean);
double lattice_susceptibility_scale(const struct gpumc_model *model, const double *control,
                                    const double *mean);
/* Returns e - (h - model.h) <m>; mean: <e>, <m>. Measured energies do not include the moved
 * field. */
double
lattice_energy_in_field(const struct gpumc_model *model, const double *control, const double *mean);
double lattice_energy_in_field_scale(const struct gpumc_model *model, const double *control,
                                     const double *mean);
/* Returns whether beta = 0: multiples of beta, such as a specific heat or a susceptibility, are
 * then 0. */
bool lattice_is_infinitely_hot(const struct gpumc_model *model, const double *control);
/* Returns U4 = 1 - m4 / (3 m2^2); mean: <m^2>, <m^4>. 2/3 in an ordered phase, and 1 - (n + 2) / (3
 * n) in a disordered one of spins with n components. */
double lattice_binder_parameter(const struct gpumc_model *model, const double *control,
                                const double *mean);
double lattice_binder_parameter_scale(const struct gpumc_model *model, const double *control,
                                      const double *mean);

/* Returns the second-moment correlation length from chi(0) = N x2 and chi(k) at the smallest wave
 * number k, in lattice spacings; mean: x2, chi(k). */
double
lattice_correlation_length(const struct gpumc_model *model, double wave_number, const double *mean);
double lattice_correlation_length_scale(const struct gpumc_model *model, double wave_number,
                                        const double *mean);

/* The request of a channel of squared amplitudes of waves (wave.h). */
#define LATTICE_WAVE_REQUEST                                                                       \
  .request_key = "structure_factor",                                                               \
  .request = "Whether the structure factor at the smallest wave vectors is measured, and with it " \
             "the correlation length."

/* The request of channels of squared sums over clusters (clusters/clusters_squares.h). */
#define LATTICE_IMPROVED_REQUEST                                                                   \
  .request_key = "improved_estimators",                                                            \
  .request = "Whether susceptibility, structure factor at the smallest wave vectors and "          \
             "correlation length are also measured from clusters: averages over all flips of the " \
             "clusters that a Swendsen-Wang sweep would find, instead of one of them."

#endif
