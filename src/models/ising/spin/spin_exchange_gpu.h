/* Exchanges of clusters between replicas of the spin kernel on a GPU: the host's interface. */
#ifndef GPUMC_ISING_SPIN_EXCHANGE_GPU_H
#define GPUMC_ISING_SPIN_EXCHANGE_GPU_H

#include "models/ising/ising_exchange_gpu.h"
#include "models/ising/spin/spin_gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* launch.threshold is not used if samples have terms. */
struct ising_spin_gpu_exchange {
  struct ising_spin_replicas replicas;
  struct ising_tables tables;
  struct ising_exchange_launch launch;
};

GPUMC_MUST_CHECK enum gpumc_status
ising_spin_exchange_replicas(const struct ising_spin_gpu_exchange *with, struct gpumc_error *error);

#ifdef __cplusplus
}
#endif

#endif
