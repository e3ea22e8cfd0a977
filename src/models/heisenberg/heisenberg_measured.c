/* What is measured of O(n) spins, and what follows from it. e, m are per site. */
#include <math.h>

#include "core/simulation/curves.h"
#include "models/heisenberg/heisenberg.h"
#include "models/lattice/quantities.h"

_Static_assert((int)HEISENBERG_BETA == LATTICE_BETA && (int)HEISENBERG_FIELD == LATTICE_FIELD,
               "controls that models of spins share");

static const char request_key[] = "helicity_modulus";
static const char request[] = "Whether the helicity modulus (spin stiffness) along x is measured.";

const struct gpumc_channel heisenberg_channels[HEISENBERG_CHANNELS] = {
    [HEISENBERG_ENERGY] = {.label = {"energy", "energy per site", GPUMC_UNIT_ENERGY, "E"}},
    [HEISENBERG_MAGNETIZATION_X] = {.label = {"magnetization_x",
                                              "magnetization per site along x, the axis of the "
                                              "field",
                                              "1", "M_x"}},
    [HEISENBERG_MAGNETIZATION_Y] = {.label = {"magnetization_y", "magnetization per site along y",
                                              "1", "M_y"}},
    [HEISENBERG_MAGNETIZATION_Z] = {.label = {"magnetization_z",
                                              "magnetization per site along z, 0 with two "
                                              "components",
                                              "1", "M_z"}},
    [HEISENBERG_MAGNETIZATION] = {.label = {"magnetization", "length of the magnetization per site",
                                            "1", "|M|"}},
    [HEISENBERG_MAGNETIZATION2] = {.label = {"magnetization2",
                                             "square of the magnetization per site", "1", "M^2/N"}},
    [HEISENBERG_ALONG] = {.label = {"bonds_along_x",
                                    "sum of S_i . S_j over bonds along x, times J_ij/J where "
                                    "couplings are quenched, per site",
                                    "1", "B_x"},
                          .request_key = request_key,
                          .request = request},
    [HEISENBERG_ACROSS] =
        {.label = {"current2_along_x",
                   "square of the sum of S_i x S_j over bonds along x, times J_ij/J "
                   "where couplings are quenched, per site",
                   "1", "I_x^2"},
         .request_key = request_key,
         .request = request},
    [HEISENBERG_DRIFT] = {.label = {"norm_drift", "largest ||S_i| - 1| of a replica", "1",
                                    "max ||S|-1|"},
                          .request_key = "norm_drift",
                          .request = "Whether the largest deviation of a spin's length from 1 is "
                                     "measured, which rounding leads to."},
    [HEISENBERG_WAVE] = {.label = {"wave",
                                   "squared amplitude of the smallest waves, their mean, per site",
                                   "1", "|M_k|^2"},
                         LATTICE_WAVE_REQUEST},
};

const struct gpumc_control heisenberg_controls[HEISENBERG_CONTROLS] = {
    [HEISENBERG_BETA] = {{"beta", "inverse temperature", GPUMC_UNIT_BETA, "β"}},
    [HEISENBERG_FIELD] = {{"h", "magnetic field along x", GPUMC_UNIT_ENERGY, "h"}},
};

void heisenberg_coefficients(const struct gpumc_model *model, const double *control,
                             double *coefficient)
{
  for (size_t c = 0; c < HEISENBERG_CHANNELS; c++)
    coefficient[c] = 0.0;
  coefficient[HEISENBERG_ENERGY] = control[HEISENBERG_BETA];
  coefficient[HEISENBERG_MAGNETIZATION_X] =
      -control[HEISENBERG_BETA] * (control[HEISENBERG_FIELD] - model->control[HEISENBERG_FIELD]);
}

/* ---- channels from sums ---- */

struct heisenberg_units heisenberg_units_of(const struct gpumc_model *model)
{
  const struct heisenberg_parameters *parameters = heisenberg_parameters(model);
  struct heisenberg_units units = {.coupling = parameters->coupling,
                                   .weight = parameters->weight,
                                   .field = parameters->field,
                                   .sites = (double)model->sites};
  for (size_t c = 0; c < HEISENBERG_CHANNELS; c++)
    units.quantum[c] = model->quantum[c];
  return units;
}

struct lattice_wave heisenberg_wave_of(const struct gpumc_model *model)
{
  return lattice_wave_of(&heisenberg_parameters(model)->lattice, model->quantum[HEISENBERG_WAVE]);
}

/* ---- means and quantities ---- */

enum {
  MEAN_ENERGY,
  MEAN_ENERGY2,
  MEAN_MAGNETIZATION_X,
  MEAN_MAGNETIZATION_X2,
  MEAN_ABS_MAGNETIZATION,
  MEAN_MAGNETIZATION2,
  MEAN_MAGNETIZATION4,
  MEAN_ALONG,
  MEAN_ACROSS,
  MEAN_DRIFT,
  MEAN_STRUCTURE_FACTOR,
};
_Static_assert(MEAN_STRUCTURE_FACTOR + 1 == HEISENBERG_MEANS, "as many as the header says");

/* What answers to the control that is moved. */
enum { IN_BETA = 1 << HEISENBERG_BETA, IN_FIELD = 1 << HEISENBERG_FIELD };

const struct gpumc_mean heisenberg_means[HEISENBERG_MEANS] = {
    [MEAN_ENERGY] = {.label = {"energy", "energy per site", GPUMC_UNIT_ENERGY, "e"},
                     .index = HEISENBERG_ENERGY,
                     .power = 1,
                     .watch = GPUMC_WATCH_ALWAYS},
    [MEAN_ENERGY2] = {.label = {"energy2", "square of the energy per site", GPUMC_UNIT_ENERGY2,
                                "<e^2>"},
                      .index = HEISENBERG_ENERGY,
                      .power = 2},
    [MEAN_MAGNETIZATION_X] = {.label = {"magnetization_x",
                                        "magnetization per site along the field, x", "1", "<m_x>"},
                              .index = HEISENBERG_MAGNETIZATION_X,
                              .power = 1},
    [MEAN_MAGNETIZATION_X2] = {.label = {"magnetization_x2",
                                         "square of the magnetization per site along the field",
                                         "1", "<m_x^2>"},
                               .index = HEISENBERG_MAGNETIZATION_X,
                               .power = 2,
                               .controls = IN_FIELD},
    [MEAN_ABS_MAGNETIZATION] = {.label = {"abs_magnetization",
                                          "length of the magnetization per site", "1", "<|m|>"},
                                .index = HEISENBERG_MAGNETIZATION,
                                .power = 1,
                                .watch = GPUMC_WATCH_ALWAYS},
    [MEAN_MAGNETIZATION2] = {.label = {"magnetization2",
                                       "second moment of the magnetization per site", "1", "<m^2>"},
                             .index = HEISENBERG_MAGNETIZATION2,
                             .power = 1},
    [MEAN_MAGNETIZATION4] = {.label = {"magnetization4",
                                       "fourth moment of the magnetization per site", "1", "<m^4>"},
                             .index = HEISENBERG_MAGNETIZATION2,
                             .power = 2},
    [MEAN_ALONG] = {.label = {"bonds_along_x", "sum of S_i . S_j over bonds along x, per site", "1",
                              "<B_x>/N"},
                    .index = HEISENBERG_ALONG,
                    .power = 1},
    [MEAN_ACROSS] = {.label = {"current2_along_x",
                               "square of the sum of S_i x S_j over bonds along x, per site", "1",
                               "<I_x^2>/N"},
                     .index = HEISENBERG_ACROSS,
                     .power = 1},
    [MEAN_DRIFT] = {.label = {"norm_drift", "largest ||S_i| - 1| of a replica", "1",
                              "<max ||S|-1|>"},
                    .index = HEISENBERG_DRIFT,
                    .power = 1},
    [MEAN_STRUCTURE_FACTOR] = {.label = {"structure_factor",
                                         "structure factor |M_k|^2 / N at the smallest wave "
                                         "vectors, their mean",
                                         "1", "S(k_min)"},
                               .index = HEISENBERG_WAVE,
                               .power = 1},
};

/* C = beta^2 N (<e^2> - <e>^2). */
static double
specific_heat(const struct gpumc_model *model, const double *control, const double *mean)
{
  const double beta = control[HEISENBERG_BETA];
  return beta * beta * (double)model->sites * (mean[1] - mean[0] * mean[0]);
}

/* chi = d<m_x>/dh = beta N (<m_x^2> - <m_x>^2). */
static double
susceptibility_along(const struct gpumc_model *model, const double *control, const double *mean)
{
  return control[HEISENBERG_BETA] * (double)model->sites * (mean[1] - mean[0] * mean[0]);
}

/* What follows from all directions being alike, which they are not in a field. */
static bool has_no_field(const struct gpumc_model *model)
{
  return heisenberg_parameters(model)->field == 0.0;
}
#define WITHOUT_FIELD .applies = has_no_field, .applies_where = "model.h is 0", .controls = IN_BETA

/* chi = beta N <m^2> / n. */
static double
susceptibility(const struct gpumc_model *model, const double *control, const double *mean)
{
  return control[HEISENBERG_BETA] * (double)model->sites * mean[0] /
         heisenberg_parameters(model)->components;
}

/* The second derivative of the free energy by a twist along x, per site: of the angle of O(2), N Y
 * = J <B_x> - beta J^2 <I_x^2>; of O(3) the mean over the three axes of rotation, N Y = (2/3) J
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

#define MEAN(mean)                                                                                 \
  {                                                                                                \
    .n_uses = 1, .uses = {(mean) }                                                                 \
  }

const struct gpumc_quantity heisenberg_quantities[HEISENBERG_QUANTITIES] = {
    MEAN(MEAN_ENERGY),
    {.label = {"specific_heat", "specific heat per site", "k_B", "C"},
     .n_uses = 2,
     .uses = {MEAN_ENERGY, MEAN_ENERGY2},
     .value = specific_heat,
     .scale = lattice_specific_heat_scale,
     .is_known = lattice_is_infinitely_hot,
     .controls = IN_BETA,
     .of_each = true},
    {.label = {"energy_in_field", "energy per site with that in the field, e - h m_x",
               GPUMC_UNIT_ENERGY, "e - h m_x"},
     .n_uses = 2,
     .uses = {MEAN_ENERGY, MEAN_MAGNETIZATION_X},
     .value = lattice_energy_in_field,
     .scale = lattice_energy_in_field_scale,
     .controls = IN_FIELD},
    MEAN(MEAN_MAGNETIZATION_X),
    {.label = {"susceptibility_x", "susceptibility along the field, dm_x/dh", GPUMC_UNIT_BETA,
               "χ_x"},
     .n_uses = 2,
     .uses = {MEAN_MAGNETIZATION_X, MEAN_MAGNETIZATION_X2},
     .value = susceptibility_along,
     .scale = lattice_susceptibility_scale,
     .controls = IN_FIELD,
     .of_each = true},
    MEAN(MEAN_ABS_MAGNETIZATION),
    MEAN(MEAN_MAGNETIZATION2),
    MEAN(MEAN_MAGNETIZATION4),
    MEAN(MEAN_STRUCTURE_FACTOR),
    MEAN(MEAN_DRIFT),
    {.label = {"susceptibility", "susceptibility without a field, beta N <m^2>/n", GPUMC_UNIT_BETA,
               "χ"},
     .n_uses = 1,
     .uses = {MEAN_MAGNETIZATION2},
     .value = susceptibility,
     WITHOUT_FIELD},
    {.label = {"binder_parameter", "Binder parameter of the magnetization, 1 - <m^4>/(3 <m^2>^2)",
               "1", "U_4"},
     .n_uses = 2,
     .uses = {MEAN_MAGNETIZATION2, MEAN_MAGNETIZATION4},
     .value = lattice_binder_parameter,
     .scale = lattice_binder_parameter_scale,
     WITHOUT_FIELD},
    {.label = {"correlation_length", "second-moment correlation length, in lattice spacings", "1",
               "ξ"},
     .n_uses = 2,
     .uses = {MEAN_MAGNETIZATION2, MEAN_STRUCTURE_FACTOR},
     .value = correlation_length,
     .scale = correlation_length_scale,
     WITHOUT_FIELD},
    {.label = {"helicity_modulus", "helicity modulus (spin stiffness) along x", GPUMC_UNIT_ENERGY,
               "Υ"},
     .n_uses = 2,
     .uses = {MEAN_ALONG, MEAN_ACROSS},
     .value = helicity_modulus,
     .scale = helicity_modulus_scale,
     WITHOUT_FIELD},
};
