/* Population annealing: sizes and families of a batch's populations on the host. */
#ifndef GPUMC_ALGORITHMS_PA_FAMILIES_H
#define GPUMC_ALGORITHMS_PA_FAMILIES_H

#include "algorithms/pa/pa_state.h"

/* The replicas of the batch by their places, run behind run. */
struct pa_families {
  uint32_t *size;   /* [runs of the batch] */
  uint32_t *family; /* [replicas of all runs] */
  size_t replicas;
};

/* Sizes are those of the ensemble, which is waited for; families are still to be filled in. Legal
 * to free when making failed. */
GPUMC_MUST_CHECK enum gpumc_status
pa_families_make(const struct pa *pa, struct pa_families *families, struct gpumc_error *error);
void pa_families_free(struct pa_families *families);

/* From the device and to it. */
GPUMC_MUST_CHECK enum gpumc_status
pa_families_fetch(const struct pa *pa, struct pa_families *families, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
pa_families_bring(const struct pa *pa, struct pa_families *families, struct gpumc_error *error);

#endif
