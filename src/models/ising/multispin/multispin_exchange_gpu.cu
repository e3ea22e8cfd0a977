/* Exchanges of clusters between two groups on a GPU: a block of threads takes one pair of groups
 * after another, the clusters of all 32 lanes at once. Words are by site; colour 0 comes first. A
 * cluster grows from its seed along links until no word changes, so the order in which threads look
 * at words decides nothing. */
#include "models/ising/ising_exchange.cuh"
#include "models/ising/multispin/multispin_exchange_gpu.h"
#include "models/ising/multispin/multispin_group.cuh"

enum { WARP = 32 };

/* A pair of groups and its arrays: words by site, of the first group and then of the clusters;
 * those where the groups differ; link[2 d][colour], the lanes in which a site of colour 0 and its
 * neighbour in a direction belong together. */
struct exchange_work {
  const struct ising_multispin_gpu_exchange *with;
  struct ising_multispin_gpu_group group, second;
  uint32_t run; /* of the launch */
  uint32_t lanes;
  uint32_t *spins, *differ, *link;
};

/* Returns the index of a neighbour in the other colour. */
__device__ static inline uint32_t neighbour_of(const struct ising_multispin_replicas *lattice,
                                               uint32_t colour, uint32_t k, uint32_t direction)
{
  const uint32_t row = lattice->row.value, plane = lattice->plane, all = lattice->colour;
  const uint32_t line = gpumc_divide(k, lattice->row), j = k - line * row;
  const uint32_t z = gpumc_divide(line, lattice->height), y = line - z * lattice->height.value;
  switch (direction) {
  case ISING_MULTISPIN_SAME:
    return k;
  case ISING_MULTISPIN_SIDE:
    if (((y + z + colour) & 1) == 0)
      return j > 0 ? k - 1 : k + row - 1;
    return j + 1 < row ? k + 1 : k - j;
  case ISING_MULTISPIN_ABOVE:
    return y > 0 ? k - row : k + plane - row;
  case ISING_MULTISPIN_BELOW:
    return y + 1 < lattice->height.value ? k + row : k + row - plane;
  case ISING_MULTISPIN_BEFORE:
    return z > 0 ? k - plane : k + all - plane;
  default:
    return k + plane < all ? k + plane : k + plane - all;
  }
}

/* Returns the lanes of `open` in which the bond's number is not below the threshold. */
__device__ static inline uint32_t
drawn_active(const struct exchange_work *work, uint32_t k, uint32_t direction, uint32_t open)
{
  const struct lattice_batch *batch = &work->with->replicas.batch;
  const struct gpumc_random random = lattice_batch_random(batch, work->group.m);
  const uint32_t group = lattice_batch_group(batch, work->group.number, ISING_MULTISPIN_LANES);
  const uint64_t threshold = work->with->launch.threshold[work->run];
  uint32_t active = 0;
  if (threshold >= GPUMC_THRESHOLD_ALWAYS)
    return 0;
  for (uint32_t draw = 0; open != 0 && draw < ISING_MULTISPIN_PLANES / 4; draw++) {
    uint32_t word[4];
    gpumc_random_draw(random, k, group, work->with->launch.time,
                      ising_exchange_bits(direction) + draw, word);
#pragma unroll
    for (uint32_t i = 0; i < 4; i++) {
      const bool bit = (threshold >> (ISING_MULTISPIN_PLANES - 1 - 4 * draw - i) & 1) != 0;
      active |= bit ? 0 : open & word[i];
      open &= bit ? word[i] : ~word[i];
    }
  }
  return active | open;
}

__device__ static inline void make_links(const struct exchange_work *work)
{
  const struct ising_multispin_gpu_exchange *with = work->with;
  const struct ising_multispin_replicas *lattice = &with->replicas;
  const uint32_t colour = lattice->colour;
  const uint32_t *signs = with->disorder.signs != NULL
                              ? ising_multispin_signs(&with->disorder, work->group.number)
                              : NULL;
  const uint32_t like = with->launch.beta[work->run] * with->launch.coupling > 0.0 ? UINT32_MAX : 0;
  for (uint32_t direction = 0; direction < 2 * lattice->dimension; direction++)
    for (uint32_t k = threadIdx.x; k < colour; k += blockDim.x) {
      const size_t at = (size_t)direction * colour + k;
      const uint32_t other = colour + neighbour_of(lattice, 0, k, direction);
      uint32_t lanes = work->differ[k] & work->differ[other];
      if (with->launch.activated != 0) {
        lanes &= work->spins[k] ^ work->spins[other] ^ (signs != NULL ? signs[at] : 0) ^ like;
        lanes = lanes != 0 ? drawn_active(work, k, direction, lanes) : 0;
      }
      work->link[at] = lanes;
    }
}

/* Returns how many words have the bit of a lane; called by a warp. */
__device__ static inline uint32_t count_lane(const uint32_t *words, uint32_t sites, uint32_t lane)
{
  uint32_t count = 0;
  for (uint32_t first = 0; first < sites; first += WARP) {
    const uint32_t site = first + threadIdx.x % WARP;
    const uint32_t word = site < sites ? words[site] : 0;
    count += (uint32_t)__popc(__ballot_sync(UINT32_MAX, (word >> lane & 1) != 0));
  }
  return count;
}

/* Finds the seed of a lane, one of `differing` > 0 sites; called by a warp. */
__device__ static inline void
plant(const struct exchange_work *work, uint32_t lane, uint32_t differing)
{
  const struct lattice_batch *batch = &work->with->replicas.batch;
  const uint32_t sites = 2 * work->with->replicas.colour;
  uint32_t word[4];
  gpumc_random_draw(lattice_batch_random(batch, work->group.m), lane >> 2,
                    lattice_batch_group(batch, work->group.number, ISING_MULTISPIN_LANES),
                    work->with->launch.time, gpumc_random_label(GPUMC_RANDOM_LATTICE_PAIRS, 0),
                    word);
  const uint32_t w =
      lane % 4 < 2 ? (lane % 4 == 0 ? word[0] : word[1]) : (lane % 4 == 2 ? word[2] : word[3]);
  uint32_t left = (uint32_t)ising_exchange_seed(w, differing);
  for (uint32_t first = 0; first < sites; first += WARP) {
    const uint32_t site = first + threadIdx.x % WARP;
    const bool differs = site < sites && (work->differ[site] >> lane & 1) != 0;
    const uint32_t here = __ballot_sync(UINT32_MAX, differs);
    const uint32_t before = (uint32_t)__popc(here & ((1u << threadIdx.x % WARP) - 1));
    if (differs && before == left)
      atomicOr(&work->spins[site], 1u << lane);
    if (left < (uint32_t)__popc(here))
      return;
    left -= (uint32_t)__popc(here);
  }
}

/* Lets the words of one colour take over lanes from their neighbours; returns whether any did. */
__device__ static inline bool grow(const struct exchange_work *work, uint32_t colour)
{
  const struct ising_multispin_replicas *lattice = &work->with->replicas;
  const uint32_t all = lattice->colour;
  uint32_t *own = work->spins + (size_t)colour * all;
  const uint32_t *other = work->spins + (size_t)(1 - colour) * all;
  const uint32_t *differ = work->differ + (size_t)colour * all;
  bool changed = false;
  for (uint32_t k = threadIdx.x; k < all; k += blockDim.x) {
    const uint32_t missing = differ[k] & ~own[k];
    uint32_t found = 0;
    if (missing == 0)
      continue;
    for (uint32_t direction = 0; direction < 2 * lattice->dimension; direction++) {
      const uint32_t q = neighbour_of(lattice, colour, k, direction);
      const uint32_t link = colour == 0
                                ? work->link[(size_t)direction * all + k]
                                : work->link[(size_t)ising_exchange_reverse(direction) * all + q];
      found |= other[q] & link;
    }
    if ((found & missing) != 0) {
      own[k] |= found;
      changed = true;
    }
  }
  return changed;
}

/* Turns the spins of the clusters over in both groups. */
__device__ static inline void turn(const struct exchange_work *work)
{
  const struct ising_multispin_replicas *replicas = &work->with->replicas;
  const uint32_t lane = threadIdx.x % WARP, place = gpumc_tile_place(lane);
  const size_t words = ising_multispin_group_words(replicas);
  for (uint32_t tile = threadIdx.x / WARP; tile < replicas->tiles; tile += blockDim.x / WARP) {
    const size_t at = (size_t)tile * GPUMC_TILE_WORDS + place;
    uint32_t word[GPUMC_TILE_LANE_WORDS] = {0};
    ising_multispin_words_load(
        work->spins, (size_t)tile * GPUMC_TILE_WORDS + lane * GPUMC_TILE_LANE_WORDS, words, word);
    gpumc_tile_transpose(word);
#pragma unroll
    for (int i = 0; i < GPUMC_TILE_LANE_WORDS; i++) {
      work->group.tiles[at + i * GPUMC_TILE_LANE_WORDS] ^= word[i];
      work->second.tiles[at + i * GPUMC_TILE_LANE_WORDS] ^= word[i];
    }
  }
}

/* Finds where the groups differ, and the links; then the first words are those of clusters. */
__device__ static inline void prepare(const struct exchange_work *work)
{
  const struct ising_multispin_gpu_exchange *with = work->with;
  const struct ising_multispin_replicas *replicas = &with->replicas;
  const size_t words = ising_multispin_group_words(replicas), sites = 2 * (size_t)replicas->colour;
  const struct lattice_moves none = {NULL, NULL, NULL};
  ising_multispin_group_load(replicas, &with->disorder, &none, &work->group, work->spins);
  ising_multispin_group_load(replicas, &with->disorder, &none, &work->second, work->differ);
  __syncthreads();
  for (size_t i = threadIdx.x; i < words; i += blockDim.x)
    work->differ[i] = i < sites ? (work->differ[i] ^ work->spins[i]) & work->lanes : 0;
  __syncthreads();
  make_links(work);
  __syncthreads();
  for (size_t i = threadIdx.x; i < words; i += blockDim.x)
    work->spins[i] = 0;
  __syncthreads();
}

__device__ static inline void exchange_pair(const struct exchange_work *work, uint32_t *differing)
{
  const uint32_t sites = 2 * work->with->replicas.colour;
  const uint32_t warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
  bool changed;
  prepare(work);
  for (uint32_t lane = warp; lane < ISING_MULTISPIN_LANES; lane += warps) {
    const uint32_t count = count_lane(work->differ, sites, lane);
    if (threadIdx.x % WARP == 0)
      differing[lane] = count;
    if (count > 0)
      plant(work, lane, count);
  }
  __syncthreads();
  do {
    changed = grow(work, 0);
    __syncthreads();
    changed = grow(work, 1) || changed;
  } while (__syncthreads_or(changed) != 0);
  for (uint32_t lane = warp; lane < ISING_MULTISPIN_LANES; lane += warps) {
    const uint32_t count = count_lane(work->spins, sites, lane);
    if (threadIdx.x % WARP == 0 && differing[lane] > 0)
      ising_exchange_record(count, differing[lane], &work->with->launch.counts[work->run]);
  }
  turn(work);
}

static __global__ void __launch_bounds__(ISING_MULTISPIN_THREADS)
    exchange_groups(const __grid_constant__ struct ising_multispin_gpu_exchange with)
{
  extern __shared__ uint4 shared[];
  __shared__ uint32_t differing[ISING_MULTISPIN_LANES];
  const struct ising_multispin_replicas *replicas = &with.replicas;
  const size_t words = ising_multispin_group_words(replicas);
  struct exchange_work work;
  work.with = &with;
  work.spins = with.launch.memory != NULL ? with.launch.memory + blockIdx.x * with.launch.words
                                          : (uint32_t *)shared;
  work.differ = work.spins + words;
  work.link = work.differ + words;
  for (uint32_t i = blockIdx.x; i < with.launch.runs * replicas->groups; i += gridDim.x) {
    const uint32_t number = i % replicas->groups;
    work.run = i / replicas->groups;
    if (!ising_multispin_group_find(replicas, with.launch.first + work.run, number, threadIdx.x,
                                    blockDim.x, &work.group))
      continue;
    ising_multispin_group_find(replicas, with.launch.second + work.run, number, threadIdx.x,
                               blockDim.x, &work.second);
    const uint32_t left = replicas->batch.size[work.group.m] - number * ISING_MULTISPIN_LANES;
    work.lanes = left < ISING_MULTISPIN_LANES ? (1u << left) - 1 : UINT32_MAX;
    exchange_pair(&work, differing);
    __syncthreads();
  }
}

extern "C" enum gpumc_status
ising_multispin_exchange_groups(const struct ising_multispin_gpu_exchange *with,
                                struct gpumc_error *error)
{
  const size_t shared = with->launch.memory != NULL ? 0 : with->launch.words * sizeof(uint32_t);
  GPUMC_TRY(
      GPUMC_CUDA(cudaFuncSetAttribute((const void *)exchange_groups,
                                      cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared),
                 error));
  exchange_groups<<<with->launch.blocks, with->launch.threads, shared,
                    (cudaStream_t)with->replicas.batch.stream>>>(*with);
  return GPUMC_CUDA_LAUNCHED("exchange_groups", error);
}
