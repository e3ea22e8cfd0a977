/* Population annealing: the labels of what it reports, and datasets of the summary. */
#ifndef GPUMC_ALGORITHMS_PA_OUTPUT_H
#define GPUMC_ALGORITHMS_PA_OUTPUT_H

#include "algorithms/pa/pa_state.h"

/* Units of labels that are declared before the model is known: these stand for its own. */
#define PA_UNIT_ENERGY "energy"
#define PA_UNIT_ENERGY2 "energy^2"
#define PA_UNIT_BETA "1/energy"

/* Initialisers of struct gpumc_label. */
#define PA_LABEL_BETA                                                                              \
  {                                                                                                \
    "beta", "inverse temperature", PA_UNIT_BETA, "β"                                              \
  }
#define PA_LABEL_ENERGY                                                                            \
  {                                                                                                \
    "energy", "energy per site", PA_UNIT_ENERGY, "e"                                               \
  }
#define PA_LABEL_SPECIFIC_HEAT                                                                     \
  {                                                                                                \
    "specific_heat", "specific heat per site", "k_B", "C"                                          \
  }
#define PA_LABEL_BETA_FREE_ENERGY                                                                  \
  {                                                                                                \
    "beta_free_energy", "free energy per site times inverse temperature", "1", "βF/N"             \
  }
#define PA_LABEL_ENTROPY                                                                           \
  {                                                                                                \
    "entropy", "entropy per site", "k_B", "S/N"                                                    \
  }

/* The unit to be written for the declared one. */
const char *pa_unit(const struct pa *pa, const char *declared);

/* Where datasets of one length go: `axis` is the path of their axis. */
struct pa_place {
  const char *group;
  size_t count;
  const char *axis;
};

GPUMC_MUST_CHECK enum gpumc_status pa_write_axis(struct pa *pa, const struct pa_place *place,
                                                 const struct gpumc_label *label,
                                                 const double *values, struct gpumc_error *error);
/* NAME and NAME_error. */
GPUMC_MUST_CHECK enum gpumc_status
pa_write_with_error(struct pa *pa, const struct pa_place *place, const struct gpumc_label *label,
                    const double *values, const double *errors, struct gpumc_error *error);

#endif
