/* The measured quantities of Ising spins, and those derived from them: the tables of the family.
 * Formulas: shared by ferromagnets and spin glasses; e, m, q are per site, q_l per bond. */
#include <math.h>

#include "core/simulation/curves.h"
#include "models/ising/ising.h"
#include "models/ising/ising_channels.h"
#include "models/lattice/quantities.h"

_Static_assert((int)ISING_BETA == LATTICE_BETA && (int)ISING_FIELD == LATTICE_FIELD,
               "controls that models of spins share");

const struct gpumc_channel ising_channels[ISING_CHANNELS] = {
    [ISING_ENERGY] = {.label = {"energy", "energy per site", GPUMC_UNIT_ENERGY, "E"}},
    [ISING_MAGNETIZATION] = {.label = {"magnetization", "magnetization per site", "1", "M"}},
    [ISING_WAVE] =
        {.label = {"wave",
                   "squared amplitude at the smallest wave vectors, averaged over them, per site",
                   "1", "|M_k|^2"},
         LATTICE_WAVE_REQUEST},
    [ISING_CLUSTER_SQUARE] = {.label = {"cluster_square",
                                        "sum over clusters of the squared magnetization, per site",
                                        "1", "Σ M_c^2"},
                              LATTICE_IMPROVED_REQUEST},
    [ISING_CLUSTER_WAVE] = {.label = {"cluster_wave",
                                      "sum over clusters of the squared amplitude at the smallest "
                                      "wave vectors, averaged over them, per site",
                                      "1", "Σ |M_c,k|^2"},
                            LATTICE_IMPROVED_REQUEST},
};

const struct gpumc_control ising_controls[ISING_CONTROLS] = {
    [ISING_BETA] = {.label = {"beta", "inverse temperature", GPUMC_UNIT_BETA, "β"},
                    .inverse_temperature = true},
    [ISING_FIELD] = {.label = {"h", "magnetic field", GPUMC_UNIT_ENERGY, "h"}},
};

void ising_coefficients(const struct gpumc_model *model, const double *control, double *coefficient)
{
  coefficient[ISING_ENERGY] = control[ISING_BETA];
  coefficient[ISING_MAGNETIZATION] =
      -control[ISING_BETA] * (control[ISING_FIELD] - model->control[ISING_FIELD]);
  for (size_t c = ISING_WAVE; c < ISING_CHANNELS; c++)
    coefficient[c] = 0.0;
}

const struct gpumc_pair ising_pairs[ISING_PAIRS] = {
    [ISING_PAIR_SPIN] = {{"q", "overlap of two copies", "1", "q"},
                         {"overlap_distribution", "probability density of the overlap", "1",
                          "P(q)"}},
    [ISING_PAIR_LINK] = {{"q_link", "link overlap of two copies", "1", "q_l"},
                         {"link_overlap_distribution", "probability density of the link overlap",
                          "1", "P(q_l)"}},
    [ISING_PAIR_WAVE] = {.label = {"overlap_wave",
                                   "squared amplitude of the overlap at the smallest wave vectors, "
                                   "averaged over them, per site",
                                   "1", "|q_k|^2"}},
};

/* Responses to the moved control. */
enum { IN_BETA = 1 << ISING_BETA, IN_FIELD = 1 << ISING_FIELD };

const struct gpumc_mean ising_means[ISING_MEANS] = {
    [ISING_MEAN_ENERGY] = {.label = {"energy", "energy per site", GPUMC_UNIT_ENERGY, "e"},
                           .index = ISING_ENERGY,
                           .power = 1,
                           .watch = GPUMC_WATCH_ALWAYS},
    [ISING_MEAN_ENERGY2] = {.label = {"energy2", "square of the energy per site",
                                      GPUMC_UNIT_ENERGY2, "<e^2>"},
                            .index = ISING_ENERGY,
                            .power = 2},
    [ISING_MEAN_ABS_MAGNETIZATION] = {.label = {"abs_magnetization",
                                                "absolute magnetization per site", "1", "<|m|>"},
                                      .index = ISING_MAGNETIZATION,
                                      .power = 1,
                                      .absolute = true,
                                      .watch = GPUMC_WATCH_WITHOUT_PAIRS},
    [ISING_MEAN_MAGNETIZATION2] = {.label = {"magnetization2",
                                             "second moment of the magnetization per site", "1",
                                             "<m^2>"},
                                   .index = ISING_MAGNETIZATION,
                                   .power = 2},
    [ISING_MEAN_MAGNETIZATION4] = {.label = {"magnetization4",
                                             "fourth moment of the magnetization per site", "1",
                                             "<m^4>"},
                                   .index = ISING_MAGNETIZATION,
                                   .power = 4},
    [ISING_MEAN_STRUCTURE_FACTOR] =
        {.label = {"structure_factor",
                   "structure factor |M_k|^2 / N at the smallest wave vectors, averaged over them",
                   "1", "S(k_min)"},
         .index = ISING_WAVE,
         .power = 1},
    /* Copies are independent, so <e_1 e_2> has the mean <e>^2, which the square of an average of n
     * measurements exceeds by its variance. */
    [ISING_MEAN_ENERGY_PRODUCT] = {.label = {"energy_product",
                                             "product of the energies of two copies",
                                             GPUMC_UNIT_ENERGY2, "<e_1 e_2>"},
                                   .source = GPUMC_MEAN_PRODUCT,
                                   .index = ISING_ENERGY,
                                   .power = 1,
                                   .controls = IN_BETA},
    [ISING_MEAN_ABS_OVERLAP] = {.label = {"abs_overlap", "absolute overlap of two copies", "1",
                                          "<|q|>"},
                                .source = GPUMC_MEAN_PAIR,
                                .index = ISING_PAIR_SPIN,
                                .power = 1,
                                .absolute = true},
    [ISING_MEAN_OVERLAP2] = {.label = {"overlap2", "second moment of the overlap", "1", "<q^2>"},
                             .source = GPUMC_MEAN_PAIR,
                             .index = ISING_PAIR_SPIN,
                             .power = 2,
                             .watch = GPUMC_WATCH_ALWAYS},
    [ISING_MEAN_OVERLAP4] = {.label = {"overlap4", "fourth moment of the overlap", "1", "<q^4>"},
                             .source = GPUMC_MEAN_PAIR,
                             .index = ISING_PAIR_SPIN,
                             .power = 4},
    [ISING_MEAN_LINK_OVERLAP] = {.label = {"link_overlap", "link overlap of two copies", "1",
                                           "<q_l>"},
                                 .source = GPUMC_MEAN_PAIR,
                                 .index = ISING_PAIR_LINK,
                                 .power = 1,
                                 .watch = GPUMC_WATCH_ALWAYS},
    [ISING_MEAN_OVERLAP_WAVE] =
        {.label =
             {"overlap_structure_factor",
              "|sum of q_i exp(i k r_i)|^2 / N at the smallest wave vectors, averaged over them",
              "1", "χ(k_min)"},
         .source = GPUMC_MEAN_PAIR,
         .index = ISING_PAIR_WAVE,
         .power = 1},
    [ISING_MEAN_CLUSTER_SQUARE] = {.label = {"cluster_square",
                                             "sum over clusters of the squared magnetization, "
                                             "per site",
                                             "1", "<Σ M_c^2>/N"},
                                   .index = ISING_CLUSTER_SQUARE,
                                   .power = 1},
    [ISING_MEAN_CLUSTER_WAVE] = {.label = {"improved_structure_factor",
                                           "improved estimator of the structure factor at the "
                                           "smallest wave vectors, averaged over them",
                                           "1", "S(k_min)"},
                                 .index = ISING_CLUSTER_WAVE,
                                 .power = 1},
    [ISING_MEAN_MAGNETIZATION] = {.label = {"magnetization", "magnetization per site", "1", "<m>"},
                                  .index = ISING_MAGNETIZATION,
                                  .power = 1,
                                  .watch = GPUMC_WATCH_ALWAYS,
                                  .controls = IN_FIELD},
    [ISING_MEAN_MAGNETIZATION_PRODUCT] = {.label = {"magnetization_product",
                                                    "product of the magnetizations of two copies",
                                                    "1", "<m_1 m_2>"},
                                          .source = GPUMC_MEAN_PRODUCT,
                                          .index = ISING_MAGNETIZATION,
                                          .power = 1,
                                          .controls = IN_FIELD},
};

/* C = beta^2 N (<e^2> - <e>^2), with <e_1 e_2> for <e>^2 if it is measured. */
static double
specific_heat(const struct gpumc_model *model, const double *control, const double *mean)
{
  const double beta = control[ISING_BETA];
  const double square = isnan(mean[2]) ? mean[0] * mean[0] : mean[2];
  return beta * beta * (double)model->sites * (mean[1] - square);
}

/* chi = d<m>/dh = beta N (<m^2> - <m>^2), in the same way. */
static double
susceptibility(const struct gpumc_model *model, const double *control, const double *mean)
{
  const double square = isnan(mean[2]) ? mean[0] * mean[0] : mean[2];
  return control[ISING_BETA] * (double)model->sites * (mean[1] - square);
}

/* For the magnetization or the overlap. */
static double
correlation_length(const struct gpumc_model *model, const double *control, const double *mean)
{
  (void)control;
  return lattice_correlation_length(model, ising_parameters(model)->wave_number, mean);
}

static double
correlation_length_scale(const struct gpumc_model *model, const double *control, const double *mean)
{
  (void)control;
  return lattice_correlation_length_scale(model, ising_parameters(model)->wave_number, mean);
}

/* ---- improved estimators: the first mean is <sum of M_c^2>/N = N <m^2> ---- */

static double
improved_square(const struct gpumc_model *model, const double *control, const double *mean)
{
  (void)control;
  return mean[0] / (double)model->sites;
}

/* chi = beta N <m^2>, since <m> = 0 without a field. */
static double
improved_susceptibility(const struct gpumc_model *model, const double *control, const double *mean)
{
  (void)model;
  return control[ISING_BETA] * mean[0];
}

static double improved_correlation_length(const struct gpumc_model *model, const double *control,
                                          const double *mean)
{
  const double plain[] = {improved_square(model, control, mean), mean[1]};
  return correlation_length(model, control, plain);
}

static double improved_correlation_length_scale(const struct gpumc_model *model,
                                                const double *control, const double *mean)
{
  const double plain[] = {improved_square(model, control, mean), mean[1]};
  return correlation_length_scale(model, control, plain);
}

static bool has_no_field(const struct gpumc_model *model)
{
  return ising_parameters(model)->field == 0.0 && !ising_disorder_traits(model).fields;
}

static double
binder_overlap(const struct gpumc_model *model, const double *control, const double *mean)
{
  (void)model, (void)control;
  return 0.5 * (3.0 - mean[1] / (mean[0] * mean[0]));
}

static double
binder_overlap_scale(const struct gpumc_model *model, const double *control, const double *mean)
{
  return 1.5 + fabs(binder_overlap(model, control, mean));
}

static double
chi_overlap(const struct gpumc_model *model, const double *control, const double *mean)
{
  (void)control;
  return (double)model->sites * mean[0];
}

/* Katzgraber, Palassini and Young, Phys. Rev. B 63, 184422 (2001), eq. 11. */
static double
gaussian_identity(const struct gpumc_model *model, const double *control, const double *mean)
{
  return mean[0] + ising_parameters(model)->bond_variance * control[ISING_BETA] * (1.0 - mean[1]);
}

static double
gaussian_identity_scale(const struct gpumc_model *model, const double *control, const double *mean)
{
  return fabs(mean[0]) + ising_parameters(model)->bond_variance * control[ISING_BETA];
}

static bool has_gaussian_bonds(const struct gpumc_model *model)
{
  return ising_parameters(model)->bond_variance > 0;
}

#define MEAN(mean)                                                                                 \
  {                                                                                                \
    .n_uses = 1, .uses = {(mean) }                                                                 \
  }

const struct gpumc_quantity ising_quantities[ISING_QUANTITIES] = {
    MEAN(ISING_MEAN_ENERGY),
    {.label = {"specific_heat", "specific heat per site", "k_B", "C"},
     .n_uses = 3,
     .n_needed = 2,
     .uses = {ISING_MEAN_ENERGY, ISING_MEAN_ENERGY2, ISING_MEAN_ENERGY_PRODUCT},
     .value = specific_heat,
     .scale = lattice_specific_heat_scale,
     .is_known = lattice_is_infinitely_hot,
     .controls = IN_BETA,
     .of_each = true},
    {.label = {"energy_in_field", "energy per site including that in the field, e - h m",
               GPUMC_UNIT_ENERGY, "e - h m"},
     .n_uses = 2,
     .uses = {ISING_MEAN_ENERGY, ISING_MEAN_MAGNETIZATION},
     .value = lattice_energy_in_field,
     .scale = lattice_energy_in_field_scale},
    MEAN(ISING_MEAN_MAGNETIZATION),
    {.label = {"susceptibility", "susceptibility dm/dh", GPUMC_UNIT_BETA, "χ"},
     .n_uses = 3,
     .n_needed = 2,
     .uses = {ISING_MEAN_MAGNETIZATION, ISING_MEAN_MAGNETIZATION2,
              ISING_MEAN_MAGNETIZATION_PRODUCT},
     .value = susceptibility,
     .scale = lattice_susceptibility_scale,
     .is_known = lattice_is_infinitely_hot,
     .controls = IN_FIELD,
     .of_each = true},
    MEAN(ISING_MEAN_ABS_MAGNETIZATION),
    MEAN(ISING_MEAN_MAGNETIZATION2),
    MEAN(ISING_MEAN_MAGNETIZATION4),
    MEAN(ISING_MEAN_STRUCTURE_FACTOR),
    {.label = {"binder_parameter", "Binder parameter of the magnetization, 1 - <m^4>/(3 <m^2>^2)",
               "1", "U_4"},
     .n_uses = 2,
     .uses = {ISING_MEAN_MAGNETIZATION2, ISING_MEAN_MAGNETIZATION4},
     .value = lattice_binder_parameter,
     .partial = true,
     .scale = lattice_binder_parameter_scale},
    {.label = {"correlation_length", "second-moment correlation length", "sites", "ξ"},
     .n_uses = 2,
     .uses = {ISING_MEAN_MAGNETIZATION2, ISING_MEAN_STRUCTURE_FACTOR},
     .value = correlation_length,
     .partial = true,
     .scale = correlation_length_scale},
    MEAN(ISING_MEAN_ABS_OVERLAP),
    MEAN(ISING_MEAN_OVERLAP2),
    MEAN(ISING_MEAN_OVERLAP4),
    {.label = {"binder_overlap", "Binder parameter of the overlap, (3 - [q^4]/[q^2]^2)/2", "1",
               "g"},
     .n_uses = 2,
     .uses = {ISING_MEAN_OVERLAP2, ISING_MEAN_OVERLAP4},
     .value = binder_overlap,
     .partial = true,
     .scale = binder_overlap_scale},
    {.label = {"chi_overlap", "spin-glass susceptibility N [q^2]", "1", "χ_SG"},
     .n_uses = 1,
     .uses = {ISING_MEAN_OVERLAP2},
     .value = chi_overlap},
    MEAN(ISING_MEAN_OVERLAP_WAVE),
    {.label = {"correlation_length_overlap", "second-moment correlation length of the overlap",
               "sites", "ξ_SG"},
     .n_uses = 2,
     .uses = {ISING_MEAN_OVERLAP2, ISING_MEAN_OVERLAP_WAVE},
     .value = correlation_length,
     .partial = true,
     .scale = correlation_length_scale},
    MEAN(ISING_MEAN_LINK_OVERLAP),
    {.label = {"gaussian_identity", "[e] + beta sigma^2 (1 - [q_l]) N_b/N, 0 in equilibrium",
               GPUMC_UNIT_ENERGY, "Δ"},
     .n_uses = 2,
     .uses = {ISING_MEAN_ENERGY, ISING_MEAN_LINK_OVERLAP},
     .value = gaussian_identity,
     .scale = gaussian_identity_scale,
     .applies = has_gaussian_bonds,
     .applies_where = "couplings are Gaussian",
     .identity = "the Gaussian identity"},
    /* Averages over states and bonds: those of the states alone are not what is reweighted. */
    {.label = {"improved_magnetization2",
               "improved estimator of the second moment of the magnetization per site", "1",
               "<m^2>"},
     .n_uses = 1,
     .uses = {ISING_MEAN_CLUSTER_SQUARE},
     .value = improved_square,
     .of_moves = true},
    {.label = {"improved_susceptibility", "improved estimator of the susceptibility dm/dh",
               GPUMC_UNIT_BETA, "χ"},
     .n_uses = 1,
     .uses = {ISING_MEAN_CLUSTER_SQUARE},
     .value = improved_susceptibility,
     .is_known = lattice_is_infinitely_hot,
     .applies = has_no_field,
     .applies_where = "model.h is 0 and there are no random fields",
     .controls = IN_BETA,
     .of_moves = true},
    {.n_uses = 1, .uses = {ISING_MEAN_CLUSTER_WAVE}, .of_moves = true},
    {.label = {"improved_correlation_length",
               "improved estimator of the second-moment correlation length", "sites", "ξ"},
     .n_uses = 2,
     .uses = {ISING_MEAN_CLUSTER_SQUARE, ISING_MEAN_CLUSTER_WAVE},
     .value = improved_correlation_length,
     .partial = true,
     .scale = improved_correlation_length_scale,
     .of_moves = true},
};

struct lattice_wave ising_wave_of(const struct gpumc_model *model)
{
  return lattice_wave_of(&ising_parameters(model)->lattice, model->quantum[ISING_WAVE]);
}
