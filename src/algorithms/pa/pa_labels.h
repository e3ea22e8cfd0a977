/* Population annealing: labels of what only it reports, initialisers of struct gpumc_label. */
#ifndef GPUMC_ALGORITHMS_PA_LABELS_H
#define GPUMC_ALGORITHMS_PA_LABELS_H

#include "core/simulation/curves.h"

#define PA_LABEL_BETA_FREE_ENERGY                                                                  \
  {                                                                                                \
    "beta_free_energy", "free energy per site times inverse temperature", "1", "βF/N"             \
  }
#define PA_LABEL_ENTROPY                                                                           \
  {                                                                                                \
    "entropy", "entropy per site", "k_B", "S/N"                                                    \
  }

#endif
