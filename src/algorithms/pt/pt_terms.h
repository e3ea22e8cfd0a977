/* Parallel tempering: what is summed up for every sample, and what is reported of it. */
#ifndef GPUMC_ALGORITHMS_PT_TERMS_H
#define GPUMC_ALGORITHMS_PT_TERMS_H

#include "algorithms/pt/pt_tempering.h"
#include "core/simulation/curves.h"
#include "core/simulation/observables.h"

enum { PT_COMPARED_MAXIMUM = 4 };

/* The terms are the selected means, in their order. */
struct pt_terms {
  size_t count;
  struct pt_term term[PT_TERMS_MAXIMUM];
  size_t energy, energy2;
  size_t n_compared, compared[PT_COMPARED_MAXIMUM]; /* between bins of time */
  size_t identity; /* the quantity that is 0 in equilibrium; n_quantities: there is none */
};

/* Labels of the quantities, borrowed from the model and from here; units are declared ones
 * (curves.h). */
struct pt_labels {
  struct gpumc_label of[GPUMC_QUANTITIES_MAXIMUM];
  char biased[GPUMC_QUANTITIES_MAXIMUM][96];
};

void pt_terms_make(const struct gpumc_model *model, const struct gpumc_observables *observables,
                   struct pt_terms *terms);
void pt_labels_make(const struct gpumc_model *model, const struct gpumc_observables *observables,
                    struct pt_labels *labels);

#endif
