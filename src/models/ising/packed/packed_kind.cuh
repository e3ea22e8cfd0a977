/* The kinds of packed sweeps: those of the multispin kernel without signs, with words of sites. */
#ifndef GPUMC_ISING_PACKED_KIND_CUH
#define GPUMC_ISING_PACKED_KIND_CUH

#include "models/ising/multispin/multispin_update.cuh"
#include "models/ising/packed/packed_gpu.h"

template <class KIND>
using ising_packed_kind =
    struct ising_multispin_kind<KIND::WIDTH, KIND::DIMENSION, false, KIND::PLAIN, KIND::EACH,
                                KIND::ROUNDS, KIND::ZEROS, true>;

template <class LAUNCH, int WIDTH>
static enum gpumc_status
ising_packed_by_dimension(const struct ising_multispin_sweep *sweep, struct gpumc_error *error)
{
  return sweep->replicas.dimension == 2
             ? ising_multispin_by_rule<LAUNCH, WIDTH, 2, false>(sweep, error)
             : ising_multispin_by_rule<LAUNCH, WIDTH, 3, false>(sweep, error);
}

/* Calls LAUNCH::launch<KIND>(sweep, error) for the kind of the sweep, which ising_packed_kind
 * converts. */
template <class LAUNCH>
static enum gpumc_status
ising_packed_dispatch(const struct ising_multispin_sweep *sweep, struct gpumc_error *error)
{
  return sweep->spread.width == ISING_MULTISPIN_VECTOR
             ? ising_packed_by_dimension<LAUNCH, ISING_MULTISPIN_VECTOR>(sweep, error)
             : ising_packed_by_dimension<LAUNCH, 1>(sweep, error);
}

#endif
