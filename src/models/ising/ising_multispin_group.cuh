/* One group in the hands of one or several warps: between its two forms, and measured. */
#ifndef GPUMC_ISING_MULTISPIN_GROUP_CUH
#define GPUMC_ISING_MULTISPIN_GROUP_CUH

#include "models/ising/ising_multispin_update.cuh"
#include "models/lattice/vertical_counter.cuh"

/* Sums over one group, by lane. */
struct ising_multispin_group_sums {
  uint32_t unlike[ISING_MULTISPIN_LANES]; /* bonds between unlike words, as they stand */
  uint32_t up[ISING_MULTISPIN_LANES];     /* spins up */
};

/* A group, and the calling thread among the `threads` (whole warps) that work on it. */
struct ising_multispin_group {
  uint32_t m, number; /* run of the replicas, group of the run */
  uint32_t thread, threads;
  uint32_t *tiles; /* [tiles][256] by replica, device memory */
};

/* False where the run has no such group. */
__device__ static inline bool
ising_multispin_group_find(const struct ising_multispin_replicas *replicas, uint32_t m,
                           uint32_t number, uint32_t thread, uint32_t threads,
                           struct ising_multispin_group *group)
{
  group->m = m;
  group->number = number;
  group->thread = thread;
  group->threads = threads;
  group->tiles = replicas->words + ((size_t)m * replicas->groups + number) * replicas->tiles *
                                       (size_t)GPUMC_TILE_WORDS;
  return number < replicas->groups && number * ISING_MULTISPIN_LANES < replicas->batch.size[m];
}

/* Words of a group by site: whole threads of a tile. */
__host__ __device__ static inline size_t
ising_multispin_group_words(const struct ising_multispin_replicas *replicas)
{
  const size_t sites = 2 * (size_t)replicas->colour, part = GPUMC_TILE_LANE_WORDS;
  return (sites + part - 1) / part * part;
}

/* Turn over colour 1 of the words w .. w + 7. */
__device__ static inline void
ising_multispin_stagger(const struct ising_multispin_replicas *replicas, uint32_t stagger, size_t w,
                        uint32_t *word)
{
#pragma unroll
  for (uint32_t i = 0; i < GPUMC_TILE_LANE_WORDS; i++)
    if (w + i >= replicas->colour && w + i < 2 * (size_t)replicas->colour)
      word[i] ^= stagger;
}

/* From the tiles to `sites`, which may stand in the place of the tiles. */
__device__ static inline void
ising_multispin_group_load(const struct ising_multispin_replicas *replicas,
                           const struct ising_multispin_group *group, uint32_t stagger,
                           uint32_t *sites)
{
  const uint32_t lane = group->thread % 32, place = gpumc_tile_place(lane);
  const size_t words = ising_multispin_group_words(replicas);
  for (uint32_t tile = group->thread / 32; tile < replicas->tiles; tile += group->threads / 32) {
    const uint32_t *from = group->tiles + (size_t)tile * GPUMC_TILE_WORDS + place;
    const size_t w = (size_t)tile * GPUMC_TILE_WORDS + lane * GPUMC_TILE_LANE_WORDS;
    uint32_t word[GPUMC_TILE_LANE_WORDS];
#pragma unroll
    for (int i = 0; i < GPUMC_TILE_LANE_WORDS; i++)
      word[i] = from[i * GPUMC_TILE_LANE_WORDS];
    gpumc_tile_transpose(word);
    if (stagger != 0)
      ising_multispin_stagger(replicas, stagger, w, word);
    if (w < words) {
      *(uint4 *)(sites + w) = make_uint4(word[0], word[1], word[2], word[3]);
      *(uint4 *)(sites + w + 4) = make_uint4(word[4], word[5], word[6], word[7]);
    }
  }
}

/* Add up the spins up, which a thread has of the lanes 8 (thread mod 4) .. + 7. */
__device__ static inline void ising_multispin_add_up(const uint32_t up[GPUMC_TILE_LANE_WORDS],
                                                     struct ising_multispin_group_sums *sums)
{
  const uint32_t lane = threadIdx.x % 32;
#pragma unroll
  for (uint32_t i = 0; i < GPUMC_TILE_LANE_WORDS; i++) {
    uint32_t sum = up[i];
#pragma unroll
    for (uint32_t width = 4; width < 32; width *= 2)
      sum += __shfl_xor_sync(UINT32_MAX, sum, width);
    if (lane < 4)
      atomicAdd(&sums->up[lane * GPUMC_TILE_LANE_WORDS + i], sum);
  }
}

/* From `sites` to the tiles, if `write`; `sums` get the spins up, if `count`. */
__device__ static inline void
ising_multispin_group_store(const struct ising_multispin_replicas *replicas,
                            const struct ising_multispin_group *group, uint32_t stagger,
                            const uint32_t *sites, bool write, bool count,
                            struct ising_multispin_group_sums *sums)
{
  const uint32_t lane = group->thread % 32, place = gpumc_tile_place(lane);
  const size_t words = ising_multispin_group_words(replicas);
  uint32_t up[GPUMC_TILE_LANE_WORDS] = {0};
  for (uint32_t tile = group->thread / 32; tile < replicas->tiles; tile += group->threads / 32) {
    uint32_t *to = group->tiles + (size_t)tile * GPUMC_TILE_WORDS + place;
    const size_t w = (size_t)tile * GPUMC_TILE_WORDS + lane * GPUMC_TILE_LANE_WORDS;
    uint32_t word[GPUMC_TILE_LANE_WORDS] = {0};
    if (w < words) {
      ising_multispin_load<ISING_MULTISPIN_VECTOR>(sites + w, word);
      ising_multispin_load<ISING_MULTISPIN_VECTOR>(sites + w + 4, word + 4);
    }
    if (stagger != 0)
      ising_multispin_stagger(replicas, stagger, w, word);
    gpumc_tile_transpose(word);
#pragma unroll
    for (int i = 0; i < GPUMC_TILE_LANE_WORDS; i++) {
      up[i] += (uint32_t)__popc(word[i]);
      if (write)
        to[i * GPUMC_TILE_LANE_WORDS] = word[i];
    }
  }
  if (count)
    ising_multispin_add_up(up, sums);
}

/* Bonds of the words k .. k + WIDTH - 1 of colour 0. */
template <int WIDTH>
__device__ static inline void
ising_multispin_count_words(const struct ising_multispin_replicas *replicas, const uint32_t *sites,
                            uint32_t k, struct gpumc_vertical_counter *counter)
{
  struct ising_multispin_neighbours<WIDTH> near;
  uint32_t spin[WIDTH], carry[WIDTH];
  ising_multispin_load<WIDTH>(sites + k, spin);
  ising_multispin_load_neighbours<WIDTH>(replicas, sites + replicas->colour, k,
                                         ising_multispin_side<WIDTH>(replicas, 0, k), &near);
#pragma unroll
  for (int j = 0; j < WIDTH; j++) {
    const uint32_t unlike[4] = {spin[j] ^ near.above[j], spin[j] ^ near.below[j],
                                spin[j] ^ near.same[j], spin[j] ^ near.side[j]};
    carry[j] = gpumc_counter_add4(counter, unlike);
  }
  if constexpr (WIDTH == ISING_MULTISPIN_VECTOR) {
    const uint32_t eight0 = gpumc_full_add(&counter->plane[2], carry[0], carry[1]);
    const uint32_t eight1 = gpumc_full_add(&counter->plane[2], carry[2], carry[3]);
    gpumc_counter_carry(counter, 4, gpumc_full_add(&counter->plane[3], eight0, eight1));
  } else {
    gpumc_counter_carry(counter, 2, carry[0]);
  }
}

/* Bonds between unlike words: each has one end in colour 0. */
template <int WIDTH>
__device__ static inline void
ising_multispin_group_count(const struct ising_multispin_replicas *replicas,
                            const struct ising_multispin_group *group, const uint32_t *sites,
                            struct ising_multispin_group_sums *sums)
{
  const size_t step = (size_t)group->threads * WIDTH;
  const size_t most =
      ((1u << GPUMC_COUNTER_PLANES) / 4 - WIDTH) / WIDTH; /* steps a counter holds */
  for (size_t begin = 0; begin < replicas->colour; begin += most * step) {
    const size_t end =
        begin + most * step < replicas->colour ? begin + most * step : replicas->colour;
    struct gpumc_vertical_counter counter = {{0}};
    for (size_t k = begin + group->thread * WIDTH; k < end; k += step)
      ising_multispin_count_words<WIDTH>(replicas, sites, (uint32_t)k, &counter);
    atomicAdd(&sums->unlike[group->thread % 32], gpumc_counter_warp_sum(&counter));
  }
}

/* The channels of the group's replicas, by its first 32 threads. */
__device__ static inline void
ising_multispin_group_record(const struct ising_multispin_sweep *sweep,
                             const struct ising_multispin_group *group,
                             const struct ising_multispin_group_sums *sums)
{
  const struct ising_multispin_replicas *replicas = &sweep->replicas;
  const uint32_t lane = group->thread, replica = group->number * ISING_MULTISPIN_LANES + lane;
  if (lane >= ISING_MULTISPIN_LANES || replica >= replicas->batch.size[group->m])
    return;
  /* What was turned over changed all bonds. */
  const int64_t sites = 2 * (int64_t)replicas->colour, unlike = sums->unlike[lane];
  ising_record(&sweep->channels, (size_t)group->m * replicas->batch.capacity + replica, sites,
               sums->up[lane], sweep->rule.stagger != 0 ? 2 * sites - unlike : unlike);
}

#endif
