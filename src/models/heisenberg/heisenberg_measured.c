/* The measured quantities of O(n) spins, and those derived from them. e, m are per site. */
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
                          .request = "Whether the largest deviation of a spin's length from 1, "
                                     "caused by rounding, is measured."},
    [HEISENBERG_WAVE] =
        {.label = {"wave",
                   "squared amplitude at the smallest wave vectors, averaged over them, per site",
                   "1", "|M_k|^2"},
         LATTICE_WAVE_REQUEST},
    [HEISENBERG_CLUSTER_SQUARE] = {.label = {"cluster_square",
                                             "sum over clusters of the squared magnetization along "
                                             "a random axis, per site",
                                             "1", "Σ (r M_c)^2"},
                                   LATTICE_IMPROVED_REQUEST},
    [HEISENBERG_CLUSTER_WAVE] =
        {.label = {"cluster_wave",
                   "sum over clusters of the squared amplitude along a random axis at the smallest "
                   "wave vectors, averaged over them, per site",
                   "1", "Σ |r M_c,k|^2"},
         LATTICE_IMPROVED_REQUEST},
};

const struct gpumc_control heisenberg_controls[HEISENBERG_CONTROLS] = {
    [HEISENBERG_BETA] = {.label = {"beta", "inverse temperature", GPUMC_UNIT_BETA, "β"},
                         .inverse_temperature = true},
    [HEISENBERG_FIELD] = {.label = {"h", "magnetic field along x", GPUMC_UNIT_ENERGY, "h"}},
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

double heisenberg_chiralities(const struct gpumc_model *model)
{
  const struct heisenberg_parameters *parameters = heisenberg_parameters(model);
  const double dimension = (double)parameters->lattice.dimension;
  const double of_site = parameters->components == 3 ? dimension : dimension * (dimension - 1) / 2;
  return of_site * (double)model->sites;
}

struct lattice_wave heisenberg_wave_of(const struct gpumc_model *model)
{
  return lattice_wave_of(&heisenberg_parameters(model)->lattice, model->quantum[HEISENBERG_WAVE]);
}

uint32_t heisenberg_cluster_shift(const struct gpumc_model *model)
{
  return (uint32_t)(ilogb(model->quantum[HEISENBERG_CLUSTER_SQUARE]) + 2 * HEISENBERG_QUANTUM_BITS);
}

/* ---- pairs ---- */

const struct gpumc_pair heisenberg_pairs[HEISENBERG_PAIRS] = {
    [HEISENBERG_PAIR_OVERLAP2] =
        {.label = {"q2", "square of the overlap tensor of two copies, summed over its components",
                   "1", "q^2"}},
    [HEISENBERG_PAIR_LINK] = {.label = {"q_link", "link overlap of two copies", "1", "q_l"}},
    [HEISENBERG_PAIR_CHIRALITY] = {.label = {"q_chirality", "chirality overlap of two copies", "1",
                                             "q_κ"}},
    [HEISENBERG_PAIR_WAVE] = {.label = {"overlap_wave",
                                        "squared amplitude of the overlap tensor at the smallest "
                                        "wave vectors, averaged over them, per site",
                                        "1", "|q_k|^2"}},
};

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
  MEAN_ENERGY_PRODUCT,
  MEAN_OVERLAP2,
  MEAN_OVERLAP4,
  MEAN_LINK_OVERLAP,
  MEAN_OVERLAP_WAVE,
  MEAN_CHIRALITY_OVERLAP2,
  MEAN_CHIRALITY_OVERLAP4,
  MEAN_CLUSTER_SQUARE,
  MEAN_CLUSTER_WAVE,
};
_Static_assert(MEAN_CLUSTER_WAVE + 1 == HEISENBERG_MEANS, "as many as the header says");

/* Responses to the moved control. */
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
    [MEAN_STRUCTURE_FACTOR] =
        {.label = {"structure_factor",
                   "structure factor |M_k|^2 / N at the smallest wave vectors, averaged over them",
                   "1", "S(k_min)"},
         .index = HEISENBERG_WAVE,
         .power = 1},
    /* Copies are independent, so <e_1 e_2> has the mean <e>^2, which the square of an average of n
     * measurements exceeds by its variance. */
    [MEAN_ENERGY_PRODUCT] = {.label = {"energy_product", "product of the energies of two copies",
                                       GPUMC_UNIT_ENERGY2, "<e_1 e_2>"},
                             .source = GPUMC_MEAN_PRODUCT,
                             .index = HEISENBERG_ENERGY,
                             .power = 1,
                             .controls = IN_BETA},
    [MEAN_OVERLAP2] = {.label = {"overlap2",
                                 "second moment of the overlap tensor, summed over its components",
                                 "1", "<q^2>"},
                       .source = GPUMC_MEAN_PAIR,
                       .index = HEISENBERG_PAIR_OVERLAP2,
                       .power = 1,
                       .watch = GPUMC_WATCH_ALWAYS},
    [MEAN_OVERLAP4] = {.label = {"overlap4", "mean of the square of q^2", "1", "<q^4>"},
                       .source = GPUMC_MEAN_PAIR,
                       .index = HEISENBERG_PAIR_OVERLAP2,
                       .power = 2},
    [MEAN_LINK_OVERLAP] = {.label = {"link_overlap", "link overlap of two copies", "1", "<q_l>"},
                           .source = GPUMC_MEAN_PAIR,
                           .index = HEISENBERG_PAIR_LINK,
                           .power = 1,
                           .watch = GPUMC_WATCH_ALWAYS},
    [MEAN_OVERLAP_WAVE] = {.label = {"overlap_structure_factor",
                                     "sum over m and n of |sum of S_i^m S_i^n exp(i k r_i)|^2 / N "
                                     "at the smallest wave vectors, averaged over them",
                                     "1", "χ(k_min)"},
                           .source = GPUMC_MEAN_PAIR,
                           .index = HEISENBERG_PAIR_WAVE,
                           .power = 1},
    [MEAN_CHIRALITY_OVERLAP2] = {.label = {"chirality_overlap2",
                                           "second moment of the chirality overlap", "1",
                                           "<q_κ^2>"},
                                 .source = GPUMC_MEAN_PAIR,
                                 .index = HEISENBERG_PAIR_CHIRALITY,
                                 .power = 2},
    [MEAN_CHIRALITY_OVERLAP4] = {.label = {"chirality_overlap4",
                                           "fourth moment of the chirality overlap", "1",
                                           "<q_κ^4>"},
                                 .source = GPUMC_MEAN_PAIR,
                                 .index = HEISENBERG_PAIR_CHIRALITY,
                                 .power = 4},
    [MEAN_CLUSTER_SQUARE] = {.label = {"cluster_square",
                                       "sum over clusters of the squared magnetization along a "
                                       "random axis, per site",
                                       "1", "<Σ (r M_c)^2>/N"},
                             .index = HEISENBERG_CLUSTER_SQUARE,
                             .power = 1},
    [MEAN_CLUSTER_WAVE] = {.label = {"cluster_wave",
                                     "sum over clusters of the squared amplitude along a random "
                                     "axis at the smallest wave vectors, averaged over them, per "
                                     "site",
                                     "1", "<Σ |r M_c,k|^2>/N"},
                           .index = HEISENBERG_CLUSTER_WAVE,
                           .power = 1},
};

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
#define WITHOUT_FIELD .applies = has_no_field, .applies_where = "model.h is 0", .controls = IN_BETA

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
    MEAN(MEAN_ENERGY),
    {.label = {"specific_heat", "specific heat per site", "k_B", "C"},
     .n_uses = 3,
     .n_needed = 2,
     .uses = {MEAN_ENERGY, MEAN_ENERGY2, MEAN_ENERGY_PRODUCT},
     .value = specific_heat,
     .scale = lattice_specific_heat_scale,
     .is_known = lattice_is_infinitely_hot,
     .controls = IN_BETA,
     .of_each = true},
    {.label = {"energy_in_field", "energy per site including that in the field, e - h m_x",
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
     .is_known = lattice_is_infinitely_hot,
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
     .is_known = lattice_is_infinitely_hot,
     WITHOUT_FIELD},
    {.label = {"binder_parameter",
               "Binder parameter of the magnetization, 1 - <m^4>/(3 <m^2>^2): 2/3 with order, "
               "2(n - 1)/(3n) without it",
               "1", "U_4"},
     .n_uses = 2,
     .uses = {MEAN_MAGNETIZATION2, MEAN_MAGNETIZATION4},
     .value = lattice_binder_parameter,
     .scale = lattice_binder_parameter_scale,
     WITHOUT_FIELD},
    {.label = {"correlation_length", "second-moment correlation length", "sites", "ξ"},
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
    MEAN(MEAN_OVERLAP2),
    MEAN(MEAN_OVERLAP4),
    {.label = {"binder_overlap", "Binder parameter of the overlap, (n^2 + 2 - n^2 [q^4]/[q^2]^2)/2",
               "1", "g"},
     .n_uses = 2,
     .uses = {MEAN_OVERLAP2, MEAN_OVERLAP4},
     .value = binder_overlap,
     .scale = binder_overlap_scale},
    {.label = {"chi_overlap", "spin-glass susceptibility N [q^2]", "1", "χ_SG"},
     .n_uses = 1,
     .uses = {MEAN_OVERLAP2},
     .value = chi_overlap},
    MEAN(MEAN_OVERLAP_WAVE),
    {.label = {"correlation_length_overlap", "second-moment correlation length of the overlap",
               "sites", "ξ_SG"},
     .n_uses = 2,
     .uses = {MEAN_OVERLAP2, MEAN_OVERLAP_WAVE},
     .value = correlation_length,
     .scale = correlation_length_scale},
    MEAN(MEAN_LINK_OVERLAP),
    MEAN(MEAN_CHIRALITY_OVERLAP2),
    MEAN(MEAN_CHIRALITY_OVERLAP4),
    {.label = {"binder_chirality",
               "Binder parameter of the chirality overlap, (3 - [q_κ^4]/[q_κ^2]^2)/2", "1", "g_κ"},
     .n_uses = 2,
     .uses = {MEAN_CHIRALITY_OVERLAP2, MEAN_CHIRALITY_OVERLAP4},
     .value = binder_chirality,
     .scale = binder_chirality_scale},
    {.label = {"chi_chirality",
               "chiral-glass susceptibility, the number of chiralities times [q_κ^2]", "1", "χ_CG"},
     .n_uses = 1,
     .uses = {MEAN_CHIRALITY_OVERLAP2},
     .value = chi_chirality},
    /* Averages over states and bonds: those of the states alone are not what is reweighted. */
    {.label = {"improved_magnetization2",
               "improved estimator of the second moment of the magnetization per site", "1",
               "<m^2>"},
     .n_uses = 1,
     .uses = {MEAN_CLUSTER_SQUARE},
     .value = improved_square,
     .of_moves = true},
    {.label = {"improved_susceptibility",
               "improved estimator of the susceptibility without a field", GPUMC_UNIT_BETA, "χ"},
     .n_uses = 1,
     .uses = {MEAN_CLUSTER_SQUARE},
     .value = improved_susceptibility,
     .is_known = lattice_is_infinitely_hot,
     .of_moves = true,
     WITHOUT_FIELD},
    {.label = {"improved_structure_factor",
               "improved estimator of the structure factor at the smallest wave vectors, averaged "
               "over them",
               "1", "S(k_min)"},
     .n_uses = 1,
     .uses = {MEAN_CLUSTER_WAVE},
     .value = improved_structure_factor,
     .of_moves = true},
    {.label = {"improved_correlation_length",
               "improved estimator of the second-moment correlation length", "sites", "ξ"},
     .n_uses = 2,
     .uses = {MEAN_CLUSTER_SQUARE, MEAN_CLUSTER_WAVE},
     .value = improved_correlation_length,
     .scale = improved_correlation_length_scale,
     .of_moves = true,
     WITHOUT_FIELD},
};
