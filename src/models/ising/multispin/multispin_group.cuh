/* One group processed by one or several warps: converted between its two forms, and measured. */
#ifndef GPUMC_ISING_MULTISPIN_GROUP_CUH
#define GPUMC_ISING_MULTISPIN_GROUP_CUH

#include "models/ising/multispin/multispin_update.cuh"
#include "models/lattice/bit_sliced.cuh"

/* Planes of a thread's counter of bonds: enough for 42 steps of four words on a cube, and each
 * plane that stays empty takes a vote. */
enum { ISING_MULTISPIN_BOND_PLANES = 10 };

/* Sums over one group, by lane. */
struct ising_multispin_group_sums {
  unsigned long long unlike[ISING_MULTISPIN_LANES]; /* unsatisfied bonds, for the words as they
                                                     * are */
  uint32_t up[ISING_MULTISPIN_LANES];               /* spins up */
  uint32_t along[ISING_MULTISPIN_LANES];            /* words up, if spins are inverted */
};

/* A group, and the calling thread among the `threads` (whole warps) that work on it. */
struct ising_multispin_gpu_group {
  uint32_t m, number; /* run of the replicas, group of the run */
  uint32_t thread, threads;
  uint32_t *tiles; /* [tiles][256] by replica, device memory */
};

/* Returns false if the run has no such group. */
__device__ static inline bool
ising_multispin_group_find(const struct ising_multispin_replicas *replicas, uint32_t m,
                           uint32_t number, uint32_t thread, uint32_t threads,
                           struct ising_multispin_gpu_group *group)
{
  group->m = m;
  group->number = number;
  group->thread = thread;
  group->threads = threads;
  group->tiles = replicas->words + ((size_t)m * replicas->groups + number) * replicas->tiles *
                                       (size_t)GPUMC_TILE_WORDS;
  return number < replicas->groups && number * ISING_MULTISPIN_LANES < replicas->batch.size[m];
}

/* Returns the words of a group by site: whole threads of a tile. */
__host__ __device__ static inline size_t
ising_multispin_group_words(const struct ising_multispin_replicas *replicas)
{
  const size_t sites = 2 * (size_t)replicas->colour, part = GPUMC_TILE_LANE_WORDS;
  return (sites + part - 1) / part * part;
}

/* Inverts the words w .. w + 7 of a group as the disorder demands. */
__device__ static inline void ising_multispin_turn(const struct ising_multispin_replicas *replicas,
                                                   const struct ising_multispin_disorder *disorder,
                                                   uint32_t number, size_t w,
                                                   uint32_t word[GPUMC_TILE_LANE_WORDS])
{
  if (disorder->stagger != 0) {
#pragma unroll
    for (uint32_t i = 0; i < GPUMC_TILE_LANE_WORDS; i++)
      if (w + i >= replicas->colour && w + i < 2 * (size_t)replicas->colour)
        word[i] ^= UINT32_MAX;
  }
  if (disorder->turned != NULL && w < ising_multispin_group_words(replicas)) {
    const uint32_t *turned = disorder->turned + number * disorder->turned_stride + w;
#pragma unroll
    for (uint32_t i = 0; i < GPUMC_TILE_LANE_WORDS; i++)
      word[i] ^= turned[i];
  }
}

/* Stores the words w .. w + 7 of a group of `words`. */
__device__ static inline void
ising_multispin_words_store(uint32_t *sites, size_t w, size_t words, const uint32_t *word)
{
  if (w < words) {
    ising_multispin_store<ISING_MULTISPIN_VECTOR>(sites + w, word);
    ising_multispin_store<ISING_MULTISPIN_VECTOR>(sites + w + 4, word + 4);
  }
}

__device__ static inline void
ising_multispin_words_load(const uint32_t *sites, size_t w, size_t words, uint32_t *word)
{
  if (w < words) {
    ising_multispin_load<ISING_MULTISPIN_VECTOR>(sites + w, word);
    ising_multispin_load<ISING_MULTISPIN_VECTOR>(sites + w + 4, word + 4);
  }
}

/* Where a thread finds the words of a tile (gpumc_tile_place) whose replicas come from other
 * places: word i at origin[i] in the first tile, counted from `from`. A tile further they are
 * GPUMC_TILE_WORDS further. */
struct ising_multispin_origins {
  const uint32_t *from;
  uint32_t origin[GPUMC_TILE_LANE_WORDS];
};

/* Returns the lanes of a group of run m that are exchanged with run m + 1. */
__device__ static inline uint32_t
ising_multispin_swapped(const struct ising_multispin_replicas *replicas, const uint32_t *swap,
                        uint32_t m, uint32_t number)
{
  const uint32_t first = number * ISING_MULTISPIN_LANES, size = replicas->batch.size[m];
  const uint32_t here = size > first ? size - first : 0;
  const uint32_t live = here < ISING_MULTISPIN_LANES ? (1u << here) - 1 : UINT32_MAX;
  return swap[(size_t)m * replicas->groups + number] & live;
}

/* Each replica from its parent's place. All loads come before all uses, and none is beyond the live
 * replicas. */
__device__ static inline void
ising_multispin_copied_origins(const struct ising_multispin_replicas *replicas,
                               const struct ising_multispin_gpu_group *group,
                               const uint32_t *parents, uint32_t first,
                               uint32_t origin[GPUMC_TILE_LANE_WORDS])
{
  const uint32_t *parent = parents + (size_t)group->m * replicas->batch.capacity;
  const uint32_t live = replicas->batch.size[group->m];
  uint32_t place[GPUMC_TILE_LANE_WORDS];
#pragma unroll
  for (uint32_t i = 0; i < GPUMC_TILE_LANE_WORDS; i++)
    place[i] = parent[first + i < live ? first + i : live - 1];
#pragma unroll
  for (uint32_t i = 0; i < GPUMC_TILE_LANE_WORDS; i++) {
    const uint32_t from = first + i < live ? place[i] : first + i;
    origin[i] = (group->m * replicas->groups + from / ISING_MULTISPIN_LANES) * replicas->tiles *
                    GPUMC_TILE_WORDS +
                from % ISING_MULTISPIN_LANES * GPUMC_TILE_LANE_WORDS;
  }
}

/* Each replica from its own place, or from that of its partner in the run after or before it. */
__device__ static inline void
ising_multispin_swapped_origins(const struct ising_multispin_replicas *replicas,
                                const struct ising_multispin_gpu_group *group, const uint32_t *swap,
                                uint32_t first, uint32_t origin[GPUMC_TILE_LANE_WORDS])
{
  const uint32_t m = group->m, number = group->number, bit = first % ISING_MULTISPIN_LANES;
  const uint32_t of_group = replicas->tiles * GPUMC_TILE_WORDS,
                 of_run = replicas->groups * of_group;
  const uint32_t own = m * of_run + number * of_group + bit * GPUMC_TILE_LANE_WORDS;
  uint32_t after = 0, before = 0;
  if (m + 1 < replicas->batch.runs)
    after = ising_multispin_swapped(replicas, swap, m, number) >> bit;
  if (m > 0)
    before = ising_multispin_swapped(replicas, swap, m - 1, number) >> bit;
#pragma unroll
  for (uint32_t i = 0; i < GPUMC_TILE_LANE_WORDS; i++)
    origin[i] =
        own + i * GPUMC_TILE_LANE_WORDS + (after >> i & 1) * of_run - (before >> i & 1) * of_run;
}

__device__ static inline struct ising_multispin_origins
ising_multispin_find_origins(const struct ising_multispin_replicas *replicas,
                             const struct lattice_moves *moves,
                             const struct ising_multispin_gpu_group *group)
{
  const uint32_t lane = group->thread % 32, part = GPUMC_TILE_LANE_WORDS;
  const uint32_t bit = lane % 4 * part, first = group->number * ISING_MULTISPIN_LANES + bit;
  struct ising_multispin_origins at = {(const uint32_t *)moves->from, {0}};
  if (moves->parent != NULL) {
    ising_multispin_copied_origins(replicas, group, moves->parent, first, at.origin);
  } else if (moves->swap != NULL) {
    ising_multispin_swapped_origins(replicas, group, moves->swap, first, at.origin);
  } else {
    at.from = group->tiles;
#pragma unroll
    for (uint32_t i = 0; i < GPUMC_TILE_LANE_WORDS; i++)
      at.origin[i] = (bit + i) * part;
  }
  at.from += lane / 4;
  return at;
}

/* Copies from the tiles to `sites`, which may be in their place if no replica moves. */
__device__ static inline void
ising_multispin_group_load(const struct ising_multispin_replicas *replicas,
                           const struct ising_multispin_disorder *disorder,
                           const struct lattice_moves *moves,
                           const struct ising_multispin_gpu_group *group, uint32_t *sites)
{
  const struct ising_multispin_origins at = ising_multispin_find_origins(replicas, moves, group);
  const uint32_t lane = group->thread % 32;
  const size_t words = ising_multispin_group_words(replicas);
  for (uint32_t tile = group->thread / 32; tile < replicas->tiles; tile += group->threads / 32) {
    const size_t w = (size_t)tile * GPUMC_TILE_WORDS + lane * GPUMC_TILE_LANE_WORDS;
    uint32_t word[GPUMC_TILE_LANE_WORDS];
#pragma unroll
    for (int i = 0; i < GPUMC_TILE_LANE_WORDS; i++)
      word[i] = at.from[(size_t)tile * GPUMC_TILE_WORDS + at.origin[i]];
    gpumc_tile_transpose(word);
    ising_multispin_turn(replicas, disorder, group->number, w, word);
    ising_multispin_words_store(sites, w, words, word);
  }
}

/* Adds up a thread's counts of the lanes 8 (thread mod 4) .. + 7. */
__device__ static inline void ising_multispin_add_up(const uint32_t up[GPUMC_TILE_LANE_WORDS],
                                                     uint32_t sums[ISING_MULTISPIN_LANES])
{
  const uint32_t lane = threadIdx.x % 32;
#pragma unroll
  for (uint32_t i = 0; i < GPUMC_TILE_LANE_WORDS; i++) {
    uint32_t sum = up[i];
#pragma unroll
    for (uint32_t width = 4; width < 32; width *= 2)
      sum += __shfl_xor_sync(UINT32_MAX, sum, width);
    if (lane < 4)
      atomicAdd(&sums[lane * GPUMC_TILE_LANE_WORDS + i], sum);
  }
}

__device__ static inline void ising_multispin_count_up(const uint32_t word[GPUMC_TILE_LANE_WORDS],
                                                       uint32_t up[GPUMC_TILE_LANE_WORDS])
{
#pragma unroll
  for (int i = 0; i < GPUMC_TILE_LANE_WORDS; i++)
    up[i] += (uint32_t)__popc(word[i]);
}

/* Copies from `sites` to the tiles, if `write`; adds the spins up to `sums`, if `count`. */
__device__ static inline void
ising_multispin_group_store(const struct ising_multispin_replicas *replicas,
                            const struct ising_multispin_disorder *disorder,
                            const struct ising_multispin_gpu_group *group, const uint32_t *sites,
                            bool write, bool count, struct ising_multispin_group_sums *sums)
{
  const uint32_t lane = group->thread % 32, place = gpumc_tile_place(lane);
  const size_t words = ising_multispin_group_words(replicas);
  const bool twice = count && disorder->turned != NULL;
  uint32_t up[GPUMC_TILE_LANE_WORDS] = {0}, along[GPUMC_TILE_LANE_WORDS] = {0};
  for (uint32_t tile = group->thread / 32; tile < replicas->tiles; tile += group->threads / 32) {
    uint32_t *to = group->tiles + (size_t)tile * GPUMC_TILE_WORDS + place;
    const size_t w = (size_t)tile * GPUMC_TILE_WORDS + lane * GPUMC_TILE_LANE_WORDS;
    uint32_t word[GPUMC_TILE_LANE_WORDS] = {0};
    if (twice) {
      ising_multispin_words_load(sites, w, words, word);
      gpumc_tile_transpose(word);
      ising_multispin_count_up(word, along);
#pragma unroll
      for (int i = 0; i < GPUMC_TILE_LANE_WORDS; i++)
        word[i] = 0;
    }
    ising_multispin_words_load(sites, w, words, word);
    ising_multispin_turn(replicas, disorder, group->number, w, word);
    gpumc_tile_transpose(word);
    ising_multispin_count_up(word, up);
#pragma unroll
    for (int i = 0; i < GPUMC_TILE_LANE_WORDS; i++)
      if (write)
        to[i * GPUMC_TILE_LANE_WORDS] = word[i];
  }
  if (count)
    ising_multispin_add_up(up, sums->up);
  if (twice)
    ising_multispin_add_up(along, sums->along);
}

/* Counts the bonds of the words k .. k + WIDTH - 1 of colour 0. */
template <class KIND>
__device__ static inline void
ising_multispin_count_words(const struct ising_multispin_replicas *replicas, const uint32_t *signs,
                            const uint32_t *sites, uint32_t k,
                            struct gpumc_vertical_counter<ISING_MULTISPIN_BOND_PLANES> *counter)
{
  constexpr int WIDTH = KIND::WIDTH, NEIGHBOURS = KIND::NEIGHBOURS;
  struct ising_multispin_neighbours<KIND> near;
  uint32_t spin[WIDTH], unlike[WIDTH * NEIGHBOURS];
  ising_multispin_load<WIDTH>(sites + k, spin);
  ising_multispin_load_neighbours<KIND>(replicas, sites + replicas->colour, signs, 0, k,
                                        ising_multispin_place<KIND>(replicas, 0, k), &near);
#pragma unroll
  for (int j = 0; j < WIDTH; j++)
#pragma unroll
    for (int d = 0; d < NEIGHBOURS; d++)
      unlike[j * NEIGHBOURS + d] = ising_multispin_unlike<KIND>(&near, spin[j], d, j);
  gpumc_counter_add<0, WIDTH * NEIGHBOURS, ISING_MULTISPIN_BOND_PLANES>(counter, unlike);
}

/* Adds to a sum in shared memory, where atomic additions of 64 bits are loops. */
__device__ static inline void ising_multispin_add_unlike(unsigned long long *sum, uint32_t count)
{
  uint32_t *half = (uint32_t *)sum;
  const uint32_t before = atomicAdd(&half[0], count);
  if (before + count < before)
    atomicAdd(&half[1], 1);
}

/* Counts unsatisfied bonds: each has one end in colour 0. */
template <class KIND>
__device__ static inline void
ising_multispin_group_count(const struct ising_multispin_replicas *replicas, const uint32_t *signs,
                            const struct ising_multispin_gpu_group *group, const uint32_t *sites,
                            unsigned long long unlike[ISING_MULTISPIN_LANES])
{
  constexpr size_t ADDED = (size_t)KIND::WIDTH * KIND::NEIGHBOURS;
  constexpr size_t MOST =
      ((1u << ISING_MULTISPIN_BOND_PLANES) - 1) / ADDED; /* steps a counter holds */
  const size_t step = (size_t)group->threads * KIND::WIDTH;
  for (size_t begin = 0; begin < replicas->colour; begin += MOST * step) {
    const size_t end =
        begin + MOST * step < replicas->colour ? begin + MOST * step : replicas->colour;
    struct gpumc_vertical_counter<ISING_MULTISPIN_BOND_PLANES> counter = {
      {
        0
      }
    };
    for (size_t k = begin + group->thread * KIND::WIDTH; k < end; k += step)
      ising_multispin_count_words<KIND>(replicas, signs, sites, (uint32_t)k, &counter);
    ising_multispin_add_unlike(&unlike[group->thread % 32], gpumc_counter_warp_sum(&counter));
  }
}

/* Writes the channels of the group's replicas; done by its first 32 threads. */
__device__ static inline void
ising_multispin_group_record(const struct ising_multispin_sweep *sweep,
                             const struct ising_multispin_gpu_group *group,
                             const struct ising_multispin_group_sums *sums)
{
  const struct ising_multispin_replicas *replicas = &sweep->replicas;
  const uint32_t lane = group->thread, replica = group->number * ISING_MULTISPIN_LANES + lane;
  if (lane >= ISING_MULTISPIN_LANES || replica >= replicas->batch.size[group->m])
    return;
  const int64_t sites = 2 * (int64_t)replicas->colour, unlike = (int64_t)sums->unlike[lane];
  const int64_t bonds = (int64_t)replicas->dimension * sites - 2 * unlike;
  const int64_t spins = 2 * (int64_t)sums->up[lane] - sites;
  const int64_t along = 2 * (int64_t)sums->along[lane] - sites;
  /* Staggering changed all bonds. */
  ising_record_sums(&sweep->channels, (size_t)group->m * replicas->batch.capacity + replica,
                    sweep->disorder.stagger != 0 ? -bonds : bonds, spins,
                    sweep->disorder.turned != NULL ? along : spins);
}

/* Returns the signs of a group. */
__device__ static inline const uint32_t *
ising_multispin_signs(const struct ising_multispin_disorder *disorder, uint32_t number)
{
  return disorder->signs + number * disorder->signs_stride;
}

/* Sets the sums of a group to zero. */
__device__ static inline void
ising_multispin_sums_clear(struct ising_multispin_group_sums *sums, uint32_t lane)
{
  sums->unlike[lane] = 0;
  sums->up[lane] = sums->along[lane] = 0;
}

#endif
