/* Multispin sweeps: Metropolis without any field. */
#include "models/ising/multispin/multispin_update.h"

ISING_VARIANTS_OF_SIGNS(plain, ISING_PLAIN, 0)
ISING_VARIANTS_OF_SIGNS(plain, ISING_PLAIN, 1)

const ising_sweep_table GPUMC_ISA_NAME(ising_sweep_plain) = {
    ISING_TABLE_OF_SIGNS(plain, 0),
    ISING_TABLE_OF_SIGNS(plain, 1),
};
