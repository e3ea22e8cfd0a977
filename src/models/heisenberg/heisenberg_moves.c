/* The moves of O(n) spins, and what is known against them. */
#include "models/heisenberg/heisenberg.h"

/* gpumc_move.warn of over-relaxation. */
static enum gpumc_status warn_of_over_relaxation(const struct gpumc_model *model, size_t samples,
                                                 const char **warning, struct gpumc_error *error)
{
  (void)model, (void)samples, (void)error;
  *warning = "over-relaxation alone never changes the energy, so that its sweeps stay among states "
             "of the energy that they began with: use update: mixed, which has heat-bath sweeps "
             "between them";
  return GPUMC_OK;
}

const struct gpumc_move heisenberg_moves[HEISENBERG_MOVES] = {
    [HEISENBERG_MIXED] = {.name = "mixed",
                          .summary = "a sweep of heat_bath, then kernel.over_relaxation sweeps of "
                                     "over_relaxation, and so on"},
    [HEISENBERG_HEAT_BATH] = {.name = "heat_bath",
                              .summary = "a spin is drawn anew, given its neighbours"},
    [HEISENBERG_METROPOLIS] = {.name = "metropolis",
                               .summary = "a spin in a direction drawn uniformly is taken with "
                                          "probability min(1, exp(-beta dE))"},
    [HEISENBERG_OVER_RELAXATION] = {.name = "over_relaxation",
                                    .summary = "a spin is reflected at the field of its "
                                               "neighbours, which keeps the energy",
                                    .warn = warn_of_over_relaxation},
};
