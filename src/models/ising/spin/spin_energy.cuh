/* The energy of a replica from its sums, for the CUDA kernels of one number a spin. */
#ifndef GPUMC_ISING_SPIN_ENERGY_CUH
#define GPUMC_ISING_SPIN_ENERGY_CUH

#include "models/ising/spin/spin_tables_cuda.h"

/* In quanta. bonds, spins, along: as ising_energy and ising_energy_of_signs have them; terms: the
 * sum over couplings and fields of any size. */
static __device__ inline int64_t energy_of(const struct ising_tables *tables, int64_t bonds,
                                           int64_t spins, int64_t along, int64_t terms)
{
  if (tables->kind == ISING_SPIN_TERMS)
    return terms;
  if (tables->kind == ISING_SPIN_UNIFORM)
    return ising_energy(tables->coupling, tables->field, bonds, spins);
  return ising_energy_of_signs(tables->coupling, tables->field, tables->width, bonds, spins, along);
}

#endif
