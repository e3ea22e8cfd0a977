/* Definitions that the kernels of O(n) spins share: their moves and the warnings against them,
 * their keys, and their costs. */
#include <string.h>

#include "models/heisenberg/heisenberg.h"
#include "models/lattice/clusters/clusters_step.h"
#include "models/lattice/instance.h"

/* Approximate nanoseconds per spin and sweep (docs/kernels/heisenberg.md). */
#define SPIN_COST_DOUBLE 6.0
#define SPIN_COST_FLOAT 4.5
/* With moves of clusters. */
#define CLUSTER_COST_DOUBLE 20.0
#define CLUSTER_COST_FLOAT 17.0

enum { OVER_RELAXATION_DEFAULT = 4 };

/* gpumc_move.warn for over-relaxation. */
static enum gpumc_status warn_of_over_relaxation(const struct gpumc_model *model, size_t samples,
                                                 const char **warning, struct gpumc_error *error)
{
  (void)model, (void)samples, (void)error;
  *warning =
      "over-relaxation alone never changes the energy, so its sweeps only visit states with the "
      "energy they started from: use update: mixed, which has heat-bath sweeps between them";
  return GPUMC_OK;
}

/* gpumc_move.mixes for all moves that change the energy: at such temperatures the distribution of a
 * spin among its neighbours has one maximum and no barrier, and clusters are of few spins. */
static bool mixes_when_hot(const struct gpumc_model *model, const double *control)
{
  const struct heisenberg_parameters *parameters = heisenberg_parameters(model);
  return lattice_is_hot(parameters->lattice.dimension, control[HEISENBERG_BETA],
                        lattice_largest_coupling(parameters->disorder, parameters->coupling));
}

/* For small steps: the widest is no restriction, and tuning begins with it. */
static double given_width(const struct gpumc_kernel_options *options)
{
  double width;
  memcpy(&width, &options->own[1], sizeof width);
  return width;
}

static const struct gpumc_step width = {
    .label = {"width", "largest angle of a small step of a spin", "radians", "w"},
    .key = "width",
    .least = 1e-3,
    .largest = GPUMC_PI,
    .given = given_width,
};

static double given_clusters(const struct gpumc_kernel_options *options)
{
  return (double)options->own[2];
}

static const struct gpumc_step clusters = LATTICE_WOLFF_STEP(given_clusters);

static uint32_t cycle_of_mixed(const struct gpumc_kernel_options *options)
{
  return 1 + (uint32_t)options->own[0];
}

static const char *const keys_of_mixed[] = {"over_relaxation", NULL};

/* Improved estimators. */
enum { OF_CLUSTERS = 1 << HEISENBERG_CLUSTER_SQUARE | 1 << HEISENBERG_CLUSTER_WAVE };

const struct gpumc_move heisenberg_moves[HEISENBERG_MOVES] = {
    [HEISENBERG_MIXED] =
        {.name = "mixed",
         .summary =
             "one sweep of heat_bath and kernel.over_relaxation sweeps of over_relaxation in turn",
         .mixes = mixes_when_hot,
         .cycle = cycle_of_mixed,
         .keys = keys_of_mixed},
    [HEISENBERG_HEAT_BATH] =
        {.name = "heat_bath",
         .summary = "a spin is redrawn from its equilibrium distribution, given its neighbours",
         .mixes = mixes_when_hot},
    [HEISENBERG_METROPOLIS] =
        {.name = "metropolis",
         .summary =
             "a uniformly drawn direction is accepted with probability min(1, exp(-beta dE))",
         .mixes = mixes_when_hot},
    [HEISENBERG_OVER_RELAXATION] =
        {.name = "over_relaxation",
         .summary =
             "a spin is reflected about the field of its neighbours, which conserves the energy",
         .warn = warn_of_over_relaxation},
    [HEISENBERG_METROPOLIS_SMALL] = {.name = "metropolis_small",
                                     .summary = "a rotation by an angle of up to kernel.width is "
                                                "accepted with probability min(1, exp(-beta dE))",
                                     .mixes = mixes_when_hot,
                                     .step = &width},
    [HEISENBERG_SWENDSEN_WANG] =
        {.name = "swendsen_wang",
         .summary = "all clusters of spins joined by active bonds are found, and each is reflected "
                    "at a random plane with probability 1/2",
         .mixes = mixes_when_hot,
         .measures = OF_CLUSTERS},
    [HEISENBERG_WOLFF] = {.name = "wolff",
                          .summary = "kernel.clusters clusters, each that of a random spin, are "
                                     "reflected at random planes one after the other",
                          .mixes = mixes_when_hot,
                          .step = &clusters,
                          .measures = OF_CLUSTERS},
};

const struct gpumc_key heisenberg_keys[] = {
    {.name = "over_relaxation",
     .type = GPUMC_KEY_INTEGER,
     .doc = "Over-relaxation sweeps after each heat-bath sweep, where `update` is `mixed`; with "
            "other moves only the default is accepted. Kernels of O(n) spins only.",
     .default_text = "4",
     .unit = "sweeps",
     .minimum = 0,
     .maximum = 1000,
     .sweepable = true},
    {.name = "width",
     .type = GPUMC_KEY_REAL,
     .doc = "Largest angle between a spin and its proposals where `update` is `metropolis_small`; "
            "refused with other moves. By default it is tuned during the thermalization, so that "
            "half of the proposals are accepted. Kernels of O(n) spins only.",
     .unit = "radians",
     .minimum = 1e-3,
     .maximum = GPUMC_PI,
     .sweepable = true},
    LATTICE_WOLFF_KEY,
    {.name = NULL},
};

void heisenberg_read_keys(const struct gpumc_params *kernel, struct gpumc_kernel_options *options)
{
  options->own[0] = gpumc_params_has(kernel, "over_relaxation")
                        ? (uint64_t)gpumc_params_integer(kernel, "over_relaxation")
                        : OVER_RELAXATION_DEFAULT;
  const double given = gpumc_params_has(kernel, "width") ? gpumc_params_real(kernel, "width") : 0.0;
  memcpy(&options->own[1], &given, sizeof given);
  options->own[2] =
      gpumc_params_has(kernel, "clusters") ? (uint64_t)gpumc_params_integer(kernel, "clusters") : 0;
  options->together = 0;
}

double heisenberg_cost_double(const struct gpumc_model *model,
                              const struct gpumc_ensemble_plan *plan, size_t replicas)
{
  const double cost = plan->move < HEISENBERG_LOCAL_MOVES ? SPIN_COST_DOUBLE : CLUSTER_COST_DOUBLE;
  return cost * (double)model->sites * (double)replicas;
}

double heisenberg_cost_float(const struct gpumc_model *model,
                             const struct gpumc_ensemble_plan *plan, size_t replicas)
{
  const double cost = plan->move < HEISENBERG_LOCAL_MOVES ? SPIN_COST_FLOAT : CLUSTER_COST_FLOAT;
  return cost * (double)model->sites * (double)replicas;
}
