/* Work that words of a block of threads have in very different amounts, as a list in shared memory,
 * of which each thread then takes the same part. */
#ifndef GPUMC_ISING_CLUSTER_LIST_CUH
#define GPUMC_ISING_CLUSTER_LIST_CUH

#include "models/ising/cluster/cluster_words.h"

/* Numbers of sites, with an axis. A list with more of them than it has room for is not used. */
struct ising_cluster_list {
  uint32_t *count, *item;
  uint32_t room;
};

enum {
  ISING_LIST_AXIS = 30,       /* the first bit of the axis */
  ISING_CLUSTER_SHORTENED = 2 /* how often labels are shortened before unions, which then take less
                               * time */
};

__device__ static inline void ising_list_put(const struct ising_cluster_list *list, uint32_t word,
                                             const struct ising_cluster_left *bits)
{
  const uint32_t n =
      (uint32_t)(__popc(bits->axis[0]) + __popc(bits->axis[1]) + __popc(bits->axis[2]));
  uint32_t at = n > 0 ? atomicAdd(list->count, n) : 0;
  if (at + n > list->room)
    return;
#pragma unroll
  for (uint32_t axis = 0; axis < ISING_CLUSTER_AXES; axis++)
    for (uint32_t left = bits->axis[axis]; left != 0; left &= left - 1)
      list->item[at++] = axis << ISING_LIST_AXIS | ising_label_number(word, ising_bit_lowest(left));
}

__device__ static inline bool ising_list_holds_all(const struct ising_cluster_list *list)
{
  return *list->count <= list->room;
}

/* Calls step(axis, word, bit) for the items of a thread. */
template <typename STEP>
__device__ static inline void ising_list_take(const struct ising_cluster_list *list, STEP step)
{
  const uint32_t count = *list->count;
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    const uint32_t item = list->item[i], number = item & ((1u << ISING_LIST_AXIS) - 1);
    step(item >> ISING_LIST_AXIS, number / ISING_CLUSTER_WORD, number % ISING_CLUSTER_WORD);
  }
}

#endif
