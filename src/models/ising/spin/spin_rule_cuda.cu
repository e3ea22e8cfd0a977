/* The rules of the runs on their way to the GPU: as arguments, which need no copy and no wait. */
#include "models/ising/spin/spin_rule_cuda.h"

static __global__ void store_rules(const __grid_constant__ struct ising_rules_part arguments)
{
  if (threadIdx.x < arguments.count)
    arguments.rules[arguments.first + threadIdx.x] = arguments.rule[threadIdx.x];
}

extern "C" enum gpumc_status
ising_rules_store(const struct ising_rules_part *arguments, struct gpumc_error *error)
{
  store_rules<<<1, ISING_RULES_AT_ONCE, 0, (cudaStream_t)arguments->stream>>>(*arguments);
  return GPUMC_CUDA_LAUNCHED("store_rules", error);
}
