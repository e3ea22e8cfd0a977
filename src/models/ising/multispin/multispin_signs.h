/* Which bonds and fields of the samples are negative, for words of 32 samples each: the same for
 * both devices, which lay these words out in their own ways. */
#ifndef GPUMC_ISING_MULTISPIN_SIGNS_H
#define GPUMC_ISING_MULTISPIN_SIGNS_H

#include "core/simulation/kernel.h"
#include "models/ising/ising.h"
#include "models/lattice/checkerboard_neighbour.h"

/* GPUMC_INVALID for couplings or fields that are no signs. */
GPUMC_MUST_CHECK enum gpumc_status
ising_multispin_check(const struct gpumc_model *model, struct gpumc_error *error);

/* Groups whose signs differ: one for every 32 samples, or 1 that serves all. */
size_t ising_multispin_sign_groups(const struct gpumc_ensemble_plan *plan);

/* Where signs go. `lanes`: the samples of the group, a bit each, that have it; all where there is
 * one sample. */
struct ising_multispin_signs_to {
  void *words; /* the first argument of both */
  /* Spins in fields below 0 are turned over, and their bonds with them. */
  bool turned;
  /* A bond with the sign contrary to that of J, told at each of its ends. */
  void (*bond)(void *words, const struct gpumc_checkerboard_place *place,
               enum gpumc_neighbour direction, uint32_t lanes);
  /* A random field below 0. */
  void (*field)(void *words, const struct gpumc_checkerboard_place *place, uint32_t lanes);
};

/* All signs of a group of the ensemble that `plan` is for. */
GPUMC_MUST_CHECK enum gpumc_status
ising_multispin_signs_of_group(const struct gpumc_model *model,
                               const struct gpumc_ensemble_plan *plan, size_t group,
                               const struct ising_multispin_signs_to *to,
                               struct gpumc_error *error);

#endif
