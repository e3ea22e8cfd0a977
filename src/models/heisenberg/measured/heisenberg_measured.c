/* What is measured of O(n) spins: channels, pairs and means. e, m are per site. */
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

/* ---- means ---- */

const struct gpumc_mean heisenberg_means[HEISENBERG_MEANS] = {
    [HEISENBERG_MEAN_ENERGY] = {.label = {"energy", "energy per site", GPUMC_UNIT_ENERGY, "e"},
                                .index = HEISENBERG_ENERGY,
                                .power = 1,
                                .watch = GPUMC_WATCH_ALWAYS},
    [HEISENBERG_MEAN_ENERGY2] = {.label = {"energy2", "square of the energy per site",
                                           GPUMC_UNIT_ENERGY2, "<e^2>"},
                                 .index = HEISENBERG_ENERGY,
                                 .power = 2},
    [HEISENBERG_MEAN_MAGNETIZATION_X] = {.label = {"magnetization_x",
                                                   "magnetization per site along the field, x", "1",
                                                   "<m_x>"},
                                         .index = HEISENBERG_MAGNETIZATION_X,
                                         .power = 1},
    [HEISENBERG_MEAN_MAGNETIZATION_X2] =
        {.label = {"magnetization_x2", "square of the magnetization per site along the field", "1",
                   "<m_x^2>"},
         .index = HEISENBERG_MAGNETIZATION_X,
         .power = 2,
         .controls = HEISENBERG_IN_FIELD},
    [HEISENBERG_MEAN_ABS_MAGNETIZATION] = {.label = {"abs_magnetization",
                                                     "length of the magnetization per site", "1",
                                                     "<|m|>"},
                                           .index = HEISENBERG_MAGNETIZATION,
                                           .power = 1,
                                           .watch = GPUMC_WATCH_ALWAYS},
    [HEISENBERG_MEAN_MAGNETIZATION2] = {.label = {"magnetization2",
                                                  "second moment of the magnetization per site",
                                                  "1", "<m^2>"},
                                        .index = HEISENBERG_MAGNETIZATION2,
                                        .power = 1},
    [HEISENBERG_MEAN_MAGNETIZATION4] = {.label = {"magnetization4",
                                                  "fourth moment of the magnetization per site",
                                                  "1", "<m^4>"},
                                        .index = HEISENBERG_MAGNETIZATION2,
                                        .power = 2},
    [HEISENBERG_MEAN_ALONG] = {.label = {"bonds_along_x",
                                         "sum of S_i . S_j over bonds along x, per site", "1",
                                         "<B_x>/N"},
                               .index = HEISENBERG_ALONG,
                               .power = 1},
    [HEISENBERG_MEAN_ACROSS] =
        {.label = {"current2_along_x",
                   "square of the sum of S_i x S_j over bonds along x, per site", "1", "<I_x^2>/N"},
         .index = HEISENBERG_ACROSS,
         .power = 1},
    [HEISENBERG_MEAN_DRIFT] = {.label = {"norm_drift", "largest ||S_i| - 1| of a replica", "1",
                                         "<max ||S|-1|>"},
                               .index = HEISENBERG_DRIFT,
                               .power = 1},
    [HEISENBERG_MEAN_STRUCTURE_FACTOR] =
        {.label = {"structure_factor",
                   "structure factor |M_k|^2 / N at the smallest wave vectors, averaged over them",
                   "1", "S(k_min)"},
         .index = HEISENBERG_WAVE,
         .power = 1},
    /* Copies are independent, so <e_1 e_2> has the mean <e>^2, which the square of an average of n
     * measurements exceeds by its variance. */
    [HEISENBERG_MEAN_ENERGY_PRODUCT] = {.label = {"energy_product",
                                                  "product of the energies of two copies",
                                                  GPUMC_UNIT_ENERGY2, "<e_1 e_2>"},
                                        .source = GPUMC_MEAN_PRODUCT,
                                        .index = HEISENBERG_ENERGY,
                                        .power = 1,
                                        .controls = HEISENBERG_IN_BETA},
    [HEISENBERG_MEAN_OVERLAP2] =
        {.label = {"overlap2", "second moment of the overlap tensor, summed over its components",
                   "1", "<q^2>"},
         .source = GPUMC_MEAN_PAIR,
         .index = HEISENBERG_PAIR_OVERLAP2,
         .power = 1,
         .watch = GPUMC_WATCH_ALWAYS},
    [HEISENBERG_MEAN_OVERLAP4] = {.label = {"overlap4", "mean of the square of q^2", "1", "<q^4>"},
                                  .source = GPUMC_MEAN_PAIR,
                                  .index = HEISENBERG_PAIR_OVERLAP2,
                                  .power = 2},
    [HEISENBERG_MEAN_LINK_OVERLAP] = {.label = {"link_overlap", "link overlap of two copies", "1",
                                                "<q_l>"},
                                      .source = GPUMC_MEAN_PAIR,
                                      .index = HEISENBERG_PAIR_LINK,
                                      .power = 1,
                                      .watch = GPUMC_WATCH_ALWAYS},
    [HEISENBERG_MEAN_OVERLAP_WAVE] =
        {.label = {"overlap_structure_factor",
                   "sum over m and n of |sum of S_i^m S_i^n exp(i k r_i)|^2 / N "
                   "at the smallest wave vectors, averaged over them",
                   "1", "χ(k_min)"},
         .source = GPUMC_MEAN_PAIR,
         .index = HEISENBERG_PAIR_WAVE,
         .power = 1},
    [HEISENBERG_MEAN_CHIRALITY_OVERLAP2] = {.label = {"chirality_overlap2",
                                                      "second moment of the chirality overlap", "1",
                                                      "<q_κ^2>"},
                                            .source = GPUMC_MEAN_PAIR,
                                            .index = HEISENBERG_PAIR_CHIRALITY,
                                            .power = 2},
    [HEISENBERG_MEAN_CHIRALITY_OVERLAP4] = {.label = {"chirality_overlap4",
                                                      "fourth moment of the chirality overlap", "1",
                                                      "<q_κ^4>"},
                                            .source = GPUMC_MEAN_PAIR,
                                            .index = HEISENBERG_PAIR_CHIRALITY,
                                            .power = 4},
    [HEISENBERG_MEAN_CLUSTER_SQUARE] =
        {.label = {"cluster_square",
                   "sum over clusters of the squared magnetization along a "
                   "random axis, per site",
                   "1", "<Σ (r M_c)^2>/N"},
         .index = HEISENBERG_CLUSTER_SQUARE,
         .power = 1},
    [HEISENBERG_MEAN_CLUSTER_WAVE] =
        {.label = {"cluster_wave",
                   "sum over clusters of the squared amplitude along a random "
                   "axis at the smallest wave vectors, averaged over them, per "
                   "site",
                   "1", "<Σ |r M_c,k|^2>/N"},
         .index = HEISENBERG_CLUSTER_WAVE,
         .power = 1},
};
