/* Exchanges of clusters between groups of the multispin kernel on a GPU: the host's interface. */
#ifndef GPUMC_ISING_MULTISPIN_EXCHANGE_GPU_H
#define GPUMC_ISING_MULTISPIN_EXCHANGE_GPU_H

#include "models/ising/ising_exchange_gpu.h"
#include "models/ising/multispin/multispin_gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ising_multispin_gpu_exchange {
  struct ising_multispin_replicas replicas;
  struct ising_multispin_disorder disorder;
  struct ising_exchange_launch launch;
};

GPUMC_MUST_CHECK enum gpumc_status
ising_multispin_exchange_groups(const struct ising_multispin_gpu_exchange *with,
                                struct gpumc_error *error);

#ifdef __cplusplus
}
#endif

#endif
