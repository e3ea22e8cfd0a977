/* Messages between the blocks of threads that sweep the strips of a lattice (strips.h), and
 * launches of such blocks: all of them run at the same time, or the launch fails. */
#ifndef GPUMC_LATTICE_STRIPS_CUH
#define GPUMC_LATTICE_STRIPS_CUH

#include <cuda_runtime.h>

#include "core/device/cuda_error.h"
#include "models/lattice/strips.h"

/* Where a block sends its messages and finds those for it, in the first slot: the words at this
 * strip's ends, [ends][edge], those at the last end of the strip before, and those at the first end
 * of the strip after. */
struct lattice_post {
  uint64_t *mine;
  const uint64_t *before, *after;
  size_t slot; /* from one slot to the next */
};

/* The same for one turn. */
struct lattice_turn {
  uint64_t *mine;
  const uint64_t *before, *after;
  uint32_t tag;
};

/* `strip`: of all replicas, of which there are `all`. */
__device__ static inline struct lattice_post
lattice_post_of(const struct lattice_strips *strips, uint32_t all, uint32_t strip)
{
  const uint32_t before = lattice_strip_beside(strips, strip, 0),
                 after = lattice_strip_beside(strips, strip, 1);
  return {strips->mail + lattice_strip_slot(strips, all, 0, strip, 0, 0),
          strips->mail + lattice_strip_slot(strips, all, 0, before, 1, 0),
          strips->mail + lattice_strip_slot(strips, all, 0, after, 0, 0),
          lattice_strip_slot(strips, all, 1, 0, 0, 0)};
}

__device__ static inline struct lattice_turn
lattice_turn_of(const struct lattice_post *post, const struct lattice_strips *strips, uint32_t turn)
{
  const uint32_t tag = strips->tag + 1 + turn;
  const size_t slot = tag % LATTICE_STRIP_SLOTS * post->slot;
  return {post->mine + slot, post->before + slot, post->after + slot, tag};
}

/* Sends word i of an end. */
__device__ static inline void lattice_send(const struct lattice_turn *turn,
                                           const struct lattice_strips *strips, uint32_t end,
                                           uint32_t i, uint32_t word)
{
  const uint64_t message = (uint64_t)turn->tag << 32 | word;
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;"
               :
               : "l"(turn->mine + end * strips->edge + i), "l"(message)
               : "memory");
}

/* Waits for the word of this turn in a slot, and returns it. */
__device__ static inline uint32_t
lattice_receive(const struct lattice_turn *turn, const uint64_t *slot)
{
  uint64_t message;
  do
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(message) : "l"(slot) : "memory");
  while ((uint32_t)(message >> 32) != turn->tag);
  return (uint32_t)message;
}

/* Launches blocks of `threads` with this much shared memory, together if replicas are cut. */
template <class... TAKEN, class... GIVEN>
static enum gpumc_status
lattice_launch_strips(void (*kernel)(TAKEN...), const struct lattice_strips *strips, dim3 grid,
                      uint32_t threads, size_t shared_bytes, void *stream,
                      struct gpumc_error *error, GIVEN... given)
{
  cudaLaunchAttribute together = {};
  together.id = cudaLaunchAttributeCooperative;
  together.val.cooperative = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = (cudaStream_t)stream;
  config.attrs = &together;
  config.numAttrs = strips->count > 1 ? 1 : 0;
  GPUMC_TRY(GPUMC_CUDA(cudaFuncSetAttribute((const void *)kernel,
                                            cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            (int)shared_bytes),
                       error));
  return GPUMC_CUDA(cudaLaunchKernelEx(&config, kernel, given...), error);
}

#endif
