/* Multispin sweeps: heat bath, with fields or without. */
#include "models/ising/multispin/multispin_update.h"

ISING_VARIANTS_OF_SIGNS(heat_bath, ISING_HEAT_BATH, 0)
ISING_VARIANTS_OF_SIGNS(heat_bath, ISING_HEAT_BATH, 1)
ISING_VARIANTS_OF_SIGNS(heat_bath, ISING_HEAT_BATH, 2)

const ising_sweep_table GPUMC_ISA_NAME(ising_sweep_heat_bath) = {
    ISING_TABLE_OF_SIGNS(heat_bath, 0),
    ISING_TABLE_OF_SIGNS(heat_bath, 1),
    ISING_TABLE_OF_SIGNS(heat_bath, 2),
};
