/* Multispin sweeps: Metropolis with fields. */
#include "models/ising/multispin/multispin_update.h"

ISING_VARIANTS_OF_SIGNS(metropolis, ISING_METROPOLIS, 0)
ISING_VARIANTS_OF_SIGNS(metropolis, ISING_METROPOLIS, 1)
ISING_VARIANTS_OF_SIGNS(metropolis, ISING_METROPOLIS, 2)

const ising_sweep_table GPUMC_ISA_NAME(ising_sweep_metropolis) = {
    ISING_TABLE_OF_SIGNS(metropolis, 0),
    ISING_TABLE_OF_SIGNS(metropolis, 1),
    ISING_TABLE_OF_SIGNS(metropolis, 2),
};
