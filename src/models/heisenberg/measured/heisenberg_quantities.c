/* The quantities that are derived from the means of O(n) spins. e, m are per site. */
#include <math.h>

#include "core/simulation/curves.h"
#include "models/heisenberg/heisenberg.h"
#include "models/lattice/quantities.h"

/* C = beta^2 N (<e^2> - <e>^2), with <e_1 e_2> for <e>^2 if it is measured. */
static double
specific_heat(const struct gpumc_model *model, const double *control, const double *mean)
{
  const double beta = control[HEISENBERG_BETA];
  const double square = isnan(mean[2]) ? mean[0] * mean[0] : mean[2];
  return beta * beta * (double)model->sites * (mean[1] - square);
}

/* chi = d<m_x>/dh = beta N (<m_x^2> - <m_x>^2). */
static double
susceptibility_along(const struct gpumc_model *model, const double *control, const double *mean)
{
  return control[HEISENBERG_BETA] * (double)model->sites * (mean[1] - mean[0] * mean[0]);
}

/* For relations that hold because all directions are equivalent, which they are not in a field. */
static bool has_no_field(const struct gpumc_model *model)
{
  return heisenberg_parameters(model)->field == 0.0;
}
#define WITHOUT_FIELD                                                                              \
  .applies = has_no_field, .applies_where = "model.h is 0", .controls = HEISENBERG_IN_BETA

/* chi = beta N <m^2> / n. */
static double
susceptibility(const struct gpumc_model *model, const double *control, const double *mean)
{
  return control[HEISENBERG_BETA] * (double)model->sites * mean[0] /
         heisenberg_parameters(model)->components;
}

/* The second derivative of the free energy by a twist along x, per site: for the angle of O(2), N Y
 * = J <B_x> - beta J^2 <I_x^2>; for O(3) the mean over the three axes of rotation, N Y = (2/3) J
 * <B_x> - (beta/3) J^2 <I_x^2>. Teitel and Jayaprakash, Phys. Rev. B 27, 598 (1983). */
static double helicity_terms(const struct gpumc_model *model, const double *control,
                             const double *mean, double sign)
{
  const struct heisenberg_parameters *parameters = heisenberg_parameters(model);
  const double coupling = parameters->coupling, beta = control[HEISENBERG_BETA];
  const double along = coupling * mean[0], across = beta * coupling * coupling * mean[1];
  return parameters->components == 2 ? along + sign * across : (2.0 * along + sign * across) / 3.0;
}

static double
helicity_modulus(const struct gpumc_model *model, const double *control, const double *mean)
{
  return helicity_terms(model, control, mean, -1.0);
}

static double
helicity_modulus_scale(const struct gpumc_model *model, const double *control, const double *mean)
{
  return fabs(helicity_terms(model, control, mean, 1.0));
}

static double
correlation_length(const struct gpumc_model *model, const double *control, const double *mean)
{
  (void)control;
  return lattice_correlation_length(
      model, lattice_wave_number(&heisenberg_parameters(model)->lattice), mean);
}

static double
correlation_length_scale(const struct gpumc_model *model, const double *control, const double *mean)
{
  (void)control;
  return lattice_correlation_length_scale(
      model, lattice_wave_number(&heisenberg_parameters(model)->lattice), mean);
}

/* ---- improved estimators: the means are N <m^2>/n and S(k_min)/n ---- */

static double
improved_square(const struct gpumc_model *model, const double *control, const double *mean)
{
  (void)control;
  return heisenberg_parameters(model)->components * mean[0] / (double)model->sites;
}

static double
improved_susceptibility(const struct gpumc_model *model, const double *control, const double *mean)
{
  (void)model;
  return control[HEISENBERG_BETA] * mean[0];
}

static double improved_structure_factor(const struct gpumc_model *model, const double *control,
                                        const double *mean)
{
  (void)control;
  return heisenberg_parameters(model)->components * mean[0];
}

static double improved_correlation_length(const struct gpumc_model *model, const double *control,
                                          const double *mean)
{
  const double plain[] = {improved_square(model, control, mean),
                          improved_structure_factor(model, control, mean + 1)};
  return correlation_length(model, control, plain);
}

static double improved_correlation_length_scale(const struct gpumc_model *model,
                                                const double *control, const double *mean)
{
  const double plain[] = {improved_square(model, control, mean),
                          improved_structure_factor(model, control, mean + 1)};
  return correlation_length_scale(model, control, plain);
}

/* ---- overlaps ---- */

/* 0 if `components` numbers are Gaussian and independent of each other, q^2 the sum of their
 * squares; 1 if q^2 does not fluctuate. */
static double binder_of(double components, const double *mean)
{
  return 0.5 * (components + 2.0 - components * mean[1] / (mean[0] * mean[0]));
}

static double binder_scale(double components, const double *mean)
{
  return 0.5 * (components + 2.0) + fabs(binder_of(components, mean));
}

static double tensor_components(const struct gpumc_model *model)
{
  const double components = (double)heisenberg_parameters(model)->components;
  return components * components;
}

static double
binder_overlap(const struct gpumc_model *model, const double *control, const double *mean)
{
  (void)control;
  return binder_of(tensor_components(model), mean);
}

static double
binder_overlap_scale(const struct gpumc_model *model, const double *control, const double *mean)
{
  (void)control;
  return binder_scale(tensor_components(model), mean);
}

static double
binder_chirality(const struct gpumc_model *model, const double *control, const double *mean)
{
  (void)model, (void)control;
  return binder_of(1.0, mean);
}

static double
binder_chirality_scale(const struct gpumc_model *model, const double *control, const double *mean)
{
  (void)model, (void)control;
  return binder_scale(1.0, mean);
}

static double
chi_overlap(const struct gpumc_model *model, const double *control, const double *mean)
{
  (void)control;
  return (double)model->sites * mean[0];
}

static double
chi_chirality(const struct gpumc_model *model, const double *control, const double *mean)
{
  (void)control;
  return heisenberg_chiralities(model) * mean[0];
}

#define MEAN(mean)                                                                                 \
  {                                                                                                \
    .n_uses = 1, .uses = {(mean) }                                                                 \
  }

const struct gpumc_quantity heisenberg_quantities[HEISENBERG_QUANTITIES] = {
    MEAN(HEISENBERG_MEAN_ENERGY),
    {.label = {"specific_heat", "specific heat per site", "k_B", "C"},
     .n_uses = 3,
     .n_needed = 2,
     .uses = {HEISENBERG_MEAN_ENERGY, HEISENBERG_MEAN_ENERGY2, HEISENBERG_MEAN_ENERGY_PRODUCT},
     .value = specific_heat,
     .scale = lattice_specific_heat_scale,
     .is_known = lattice_is_infinitely_hot,
     .controls = HEISENBERG_IN_BETA,
     .of_each = true},
    {.label = {"energy_in_field", "energy per site including that in the field, e - h m_x",
               GPUMC_UNIT_ENERGY, "e - h m_x"},
     .n_uses = 2,
     .uses = {HEISENBERG_MEAN_ENERGY, HEISENBERG_MEAN_MAGNETIZATION_X},
     .value = lattice_energy_in_field,
     .scale = lattice_energy_in_field_scale,
     .controls = HEISENBERG_IN_FIELD},
    MEAN(HEISENBERG_MEAN_MAGNETIZATION_X),
    {.label = {"susceptibility_x", "susceptibility along the field, dm_x/dh", GPUMC_UNIT_BETA,
               "χ_x"},
     .n_uses = 2,
     .uses = {HEISENBERG_MEAN_MAGNETIZATION_X, HEISENBERG_MEAN_MAGNETIZATION_X2},
     .value = susceptibility_along,
     .scale = lattice_susceptibility_scale,
     .is_known = lattice_is_infinitely_hot,
     .controls = HEISENBERG_IN_FIELD,
     .of_each = true},
    MEAN(HEISENBERG_MEAN_ABS_MAGNETIZATION),
    MEAN(HEISENBERG_MEAN_MAGNETIZATION2),
    MEAN(HEISENBERG_MEAN_MAGNETIZATION4),
    MEAN(HEISENBERG_MEAN_STRUCTURE_FACTOR),
    {.n_uses = 1, .uses = {HEISENBERG_MEAN_DRIFT}, .of_moves = true},
    {.label = {"susceptibility", "susceptibility without a field, beta N <m^2>/n", GPUMC_UNIT_BETA,
               "χ"},
     .n_uses = 1,
     .uses = {HEISENBERG_MEAN_MAGNETIZATION2},
     .value = susceptibility,
     .is_known = lattice_is_infinitely_hot,
     WITHOUT_FIELD},
    {.label = {"binder_parameter",
               "Binder parameter of the magnetization, 1 - <m^4>/(3 <m^2>^2): 2/3 with order, "
               "2(n - 1)/(3n) without it",
               "1", "U_4"},
     .n_uses = 2,
     .uses = {HEISENBERG_MEAN_MAGNETIZATION2, HEISENBERG_MEAN_MAGNETIZATION4},
     .value = lattice_binder_parameter,
     .partial = true,
     .scale = lattice_binder_parameter_scale,
     WITHOUT_FIELD},
    {.label = {"correlation_length", "second-moment correlation length", "sites", "ξ"},
     .n_uses = 2,
     .uses = {HEISENBERG_MEAN_MAGNETIZATION2, HEISENBERG_MEAN_STRUCTURE_FACTOR},
     .value = correlation_length,
     .partial = true,
     .scale = correlation_length_scale,
     WITHOUT_FIELD},
    {.label = {"helicity_modulus", "helicity modulus (spin stiffness) along x", GPUMC_UNIT_ENERGY,
               "Υ"},
     .n_uses = 2,
     .uses = {HEISENBERG_MEAN_ALONG, HEISENBERG_MEAN_ACROSS},
     .value = helicity_modulus,
     .scale = helicity_modulus_scale,
     WITHOUT_FIELD},
    MEAN(HEISENBERG_MEAN_OVERLAP2),
    MEAN(HEISENBERG_MEAN_OVERLAP4),
    {.label = {"binder_overlap", "Binder parameter of the overlap, (n^2 + 2 - n^2 [q^4]/[q^2]^2)/2",
               "1", "g"},
     .n_uses = 2,
     .uses = {HEISENBERG_MEAN_OVERLAP2, HEISENBERG_MEAN_OVERLAP4},
     .value = binder_overlap,
     .partial = true,
     .scale = binder_overlap_scale},
    {.label = {"chi_overlap", "spin-glass susceptibility N [q^2]", "1", "χ_SG"},
     .n_uses = 1,
     .uses = {HEISENBERG_MEAN_OVERLAP2},
     .value = chi_overlap},
    MEAN(HEISENBERG_MEAN_OVERLAP_WAVE),
    {.label = {"correlation_length_overlap", "second-moment correlation length of the overlap",
               "sites", "ξ_SG"},
     .n_uses = 2,
     .uses = {HEISENBERG_MEAN_OVERLAP2, HEISENBERG_MEAN_OVERLAP_WAVE},
     .value = correlation_length,
     .partial = true,
     .scale = correlation_length_scale},
    MEAN(HEISENBERG_MEAN_LINK_OVERLAP),
    MEAN(HEISENBERG_MEAN_CHIRALITY_OVERLAP2),
    MEAN(HEISENBERG_MEAN_CHIRALITY_OVERLAP4),
    {.label = {"binder_chirality",
               "Binder parameter of the chirality overlap, (3 - [q_κ^4]/[q_κ^2]^2)/2", "1", "g_κ"},
     .n_uses = 2,
     .uses = {HEISENBERG_MEAN_CHIRALITY_OVERLAP2, HEISENBERG_MEAN_CHIRALITY_OVERLAP4},
     .value = binder_chirality,
     .partial = true,
     .scale = binder_chirality_scale},
    {.label = {"chi_chirality",
               "chiral-glass susceptibility, the number of chiralities times [q_κ^2]", "1", "χ_CG"},
     .n_uses = 1,
     .uses = {HEISENBERG_MEAN_CHIRALITY_OVERLAP2},
     .value = chi_chirality},
    /* Averages over states and bonds: those of the states alone are not what is reweighted. */
    {.label = {"improved_magnetization2",
               "improved estimator of the second moment of the magnetization per site", "1",
               "<m^2>"},
     .n_uses = 1,
     .uses = {HEISENBERG_MEAN_CLUSTER_SQUARE},
     .value = improved_square,
     .of_moves = true},
    {.label = {"improved_susceptibility",
               "improved estimator of the susceptibility without a field", GPUMC_UNIT_BETA, "χ"},
     .n_uses = 1,
     .uses = {HEISENBERG_MEAN_CLUSTER_SQUARE},
     .value = improved_susceptibility,
     .is_known = lattice_is_infinitely_hot,
     .of_moves = true,
     WITHOUT_FIELD},
    {.label = {"improved_structure_factor",
               "improved estimator of the structure factor at the smallest wave vectors, averaged "
               "over them",
               "1", "S(k_min)"},
     .n_uses = 1,
     .uses = {HEISENBERG_MEAN_CLUSTER_WAVE},
     .value = improved_structure_factor,
     .of_moves = true},
    {.label = {"improved_correlation_length",
               "improved estimator of the second-moment correlation length", "sites", "ξ"},
     .n_uses = 2,
     .uses = {HEISENBERG_MEAN_CLUSTER_SQUARE, HEISENBERG_MEAN_CLUSTER_WAVE},
     .value = improved_correlation_length,
     .partial = true,
     .scale = improved_correlation_length_scale,
     .of_moves = true,
     WITHOUT_FIELD},
};
