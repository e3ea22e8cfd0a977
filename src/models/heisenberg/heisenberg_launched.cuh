/* Functions that sweeps share on the device, whichever way they go. */
#ifndef GPUMC_HEISENBERG_LAUNCHED_CUH
#define GPUMC_HEISENBERG_LAUNCHED_CUH

#include <cuda_runtime.h>

#include "models/heisenberg/heisenberg_block.cuh"

enum { DEFAULT_SHARED_BYTES = 49152 }; /* available to every block */

extern __shared__ uint4 shared[];

template <class KIND>
static __device__ inline struct heisenberg_strength<KIND>
strength_of(const struct heisenberg_gpu_sweep *sweep, uint32_t run, enum heisenberg_move move) {
  typedef typename KIND::real real;
  const struct heisenberg_rule *rule = &sweep->rules[run];
  const bool over_relaxation = move == HEISENBERG_OVER_RELAXATION;
  struct heisenberg_strength<KIND> strength;
  strength.coupling = (real)(over_relaxation ? sweep->coupling : rule->coupling);
  strength.field =
      KIND::rules::bias(move, (real)(over_relaxation ? rule->bare_field : rule->field));
  strength.reach = (real)rule->reach;
  return strength;
}

/* Adds the accepted small steps of the threads of a block, which has replicas of a run. */
static __device__ inline void
count_taken(const struct heisenberg_gpu_sweep *sweep, uint32_t run, uint32_t taken)
{
  const uint32_t of_warp = __reduce_add_sync(UINT32_MAX, taken);
  if (threadIdx.x % HEISENBERG_WARP == 0)
    atomicAdd((unsigned long long *)&sweep->accepted[run], (unsigned long long)of_warp);
}

/* Returns the couplings of a replica's sample. */
template <class KIND>
static __device__ inline const typename KIND::real *
couplings_of(const struct heisenberg_replicas *replicas, uint32_t replica)
{
  return KIND::QUENCHED ? (const typename KIND::real *)replicas->couplings.numbers +
                              replica * replicas->couplings.stride
                        : NULL;
}

#endif
