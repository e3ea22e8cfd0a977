/* Copies of replicas and exchanges between neighbouring runs, for every layout of replicas.
 *
 * A part of a group is moved by `width` consecutive threads: one thread per replica if replicas are
 * stored side by side, otherwise threads along one replica, so that a warp's simultaneous reads and
 * writes are contiguous either way. A thread reads several units before it writes them. */
#include <cuda_runtime.h>

#include "core/device/cuda_error.h"
#include "models/lattice/batch.h"

enum {
  THREADS = 256,
  THREADS_ENOUGH = 1 << 20, /* that fill every GPU; with more the replicas' parents cost time */
  PAIR_BYTES = 32
};

/* One unit of 32 bytes: a sector of device memory. */
struct __align__(16) pair
{
  uint4 first, second;
};

/* How the replicas of a run are spread over threads: groups[parts][width]. Sizes that are powers of
 * two are given by their logarithms, since a division by a number known only at run time takes
 * longer than a copy. */
struct spread {
  uint32_t width, group; /* logarithms */
  uint32_t parts;        /* of a group */
};

template <typename UNIT, bool SWAP> struct at_once {
  static const uint32_t units = sizeof(UNIT) < (SWAP ? PAIR_BYTES : sizeof(uint4)) ? 8 : 4;
  /* Blocks per multiprocessor: most replicas stay as they are, so there must be many threads that
   * only read a parent. */
  static const int blocks = SWAP ? 2 : sizeof(UNIT) < PAIR_BYTES ? 6 : 4;
};

/* Returns the first unit of a replica of run m; the next ones are `group` units apart. */
template <typename UNIT>
__device__ static inline UNIT *
place_of(const struct lattice_copy *copy, uint32_t group, size_t m, size_t replica)
{
  return (UNIT *)copy->replicas + ((m * copy->groups + (replica >> group)) * copy->units << group) +
         (replica & ((1u << group) - 1));
}

/* Returns where replica `replica` of run m comes from, or the one that it is swapped with; NULL: it
 * stays as it is. */
template <typename UNIT, bool SWAP>
__device__ static inline UNIT *
other_of(const struct lattice_copy *copy, uint32_t group, size_t m, size_t replica)
{
  if (SWAP) {
    const uint32_t *swap = copy->swap + m * lattice_parts(copy->batch.capacity, 32);
    return (swap[replica / 32] >> replica % 32 & 1) != 0
               ? place_of<UNIT>(copy, group, m + 1, replica)
               : NULL;
  }
  const uint32_t parent = copy->parent[m * copy->batch.capacity + replica];
  return parent != replica ? place_of<UNIT>(copy, group, m, parent) : NULL;
}

template <typename UNIT, bool SWAP>
static __global__ void __launch_bounds__(THREADS, at_once<UNIT, SWAP>::blocks)
    move_replicas(const __grid_constant__ struct lattice_copy copy,
                  const __grid_constant__ struct spread spread)
{
  enum { UNITS = at_once<UNIT, SWAP>::units };
  const uint32_t group = copy.group, step = 1u << (spread.width - spread.group);
  const uint32_t m = blockIdx.y, thread = threadIdx.x & ((1u << spread.width) - 1);
  const uint32_t index = (uint32_t)(((size_t)blockIdx.x * THREADS + threadIdx.x) >> spread.width);
  const uint32_t number = spread.parts > 1 ? index / spread.parts : index;
  const uint32_t part = index - number * spread.parts;
  const size_t replica = ((size_t)number << spread.group) + (thread & (group - 1));
  if (replica >= copy.batch.size[m])
    return;
  UNIT *from = other_of<UNIT, SWAP>(&copy, spread.group, m, replica);
  if (from == NULL)
    return;
  UNIT *to = place_of<UNIT>(&copy, spread.group, m, replica);
  for (size_t first = (size_t)part * step * UNITS + (thread >> spread.group); first < copy.units;
       first += (size_t)spread.parts * step * UNITS) {
    UNIT there[UNITS], here[UNITS];
#pragma unroll
    for (uint32_t i = 0; i < UNITS; i++)
      if (first + i * step < copy.units) {
        there[i] = from[(first + i * step) * group];
        if (SWAP)
          here[i] = to[(first + i * step) * group];
      }
#pragma unroll
    for (uint32_t i = 0; i < UNITS; i++)
      if (first + i * step < copy.units) {
        to[(first + i * step) * group] = there[i];
        if (SWAP)
          from[(first + i * step) * group] = here[i];
      }
  }
}

/* Returns as many threads along one replica as it has units, and a power of two. */
static uint32_t width_of(const struct lattice_copy *copy)
{
  uint32_t width = copy->group;
  while (copy->group == 1 && width < THREADS && width < copy->units)
    width *= 2;
  return width;
}

template <typename UNIT, bool SWAP>
static void launch(const struct lattice_copy *copy, uint32_t runs)
{
  const size_t width = width_of(copy), step = width / copy->group;
  const size_t enough = THREADS_ENOUGH / (runs * copy->groups * width);
  const size_t most = enough > 0 ? enough : 1;
  const size_t parts = lattice_parts(copy->units, step * at_once<UNIT, SWAP>::units);
  const struct spread spread = {(uint32_t)__builtin_ctzll(width),
                                (uint32_t)__builtin_ctz(copy->group),
                                (uint32_t)(parts < most ? parts : most)};
  const dim3 grid((uint32_t)lattice_parts(copy->groups * spread.parts * width, THREADS), runs);
  move_replicas<UNIT, SWAP><<<grid, THREADS, 0, (cudaStream_t)copy->batch.stream>>>(*copy, spread);
}

template <bool SWAP>
static enum gpumc_status
move_units(const struct lattice_copy *copy, uint32_t runs, struct gpumc_error *error)
{
  if (copy->unit_bytes == 1)
    launch<uint8_t, SWAP>(copy, runs);
  else if (copy->unit_bytes == sizeof(uint4))
    launch<uint4, SWAP>(copy, runs);
  else
    launch<struct pair, SWAP>(copy, runs);
  return GPUMC_CUDA_LAUNCHED("move_replicas", error);
}

/* Parents stay in place, so no replica is both read and written. */
extern "C" enum gpumc_status
lattice_copy_parents(const struct lattice_copy *arguments, struct gpumc_error *error)
{
  return move_units<false>(arguments, arguments->batch.runs, error);
}

extern "C" enum gpumc_status
lattice_swap_replicas(const struct lattice_copy *arguments, struct gpumc_error *error)
{
  const uint32_t runs = arguments->batch.runs;
  return runs < 2 ? GPUMC_OK : move_units<true>(arguments, runs - 1, error);
}
