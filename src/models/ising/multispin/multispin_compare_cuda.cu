/* Overlaps of the replicas of two runs, and waves: a block compares a group with another and counts
 * what is different, by site. Groups too large for shared memory are turned in the place of their
 * tiles, and back. */
#include "models/ising/multispin/multispin_wave.cuh"

enum { THREADS = 256 };

struct comparison_sums {
  unsigned long long unlike[ISING_MULTISPIN_LANES]; /* bonds between unlike words */
  uint32_t up[ISING_MULTISPIN_LANES];
  struct ising_multispin_wave_sums wave;
};

size_t
ising_multispin_comparison_bytes(const struct ising_multispin_replicas *replicas, bool in_shared)
{
  return sizeof(struct comparison_sums) +
         (in_shared ? ising_multispin_group_words(replicas) * sizeof(uint32_t) : 0);
}

/* What is different from the other group, if there is one, by site; counts it. */
__device__ static inline void load_difference(const struct ising_multispin_replicas *replicas,
                                              const struct ising_multispin_gpu_group *group,
                                              const uint32_t *other, uint32_t *sites,
                                              struct comparison_sums *sums)
{
  const uint32_t lane = group->thread % 32, place = gpumc_tile_place(lane);
  const size_t words = ising_multispin_group_words(replicas);
  uint32_t up[GPUMC_TILE_LANE_WORDS] = {0};
  for (uint32_t tile = group->thread / 32; tile < replicas->tiles; tile += group->threads / 32) {
    const size_t begin = (size_t)tile * GPUMC_TILE_WORDS;
    uint32_t word[GPUMC_TILE_LANE_WORDS];
#pragma unroll
    for (int i = 0; i < GPUMC_TILE_LANE_WORDS; i++) {
      const size_t at = begin + place + i * GPUMC_TILE_LANE_WORDS;
      word[i] = group->tiles[at] ^ (other != NULL ? other[at] : 0);
    }
    ising_multispin_count_up(word, up);
    gpumc_tile_transpose(word);
    ising_multispin_words_store(sites, begin + lane * GPUMC_TILE_LANE_WORDS, words, word);
  }
  ising_multispin_add_up(up, sums->up);
}

/* The group from its difference, in place. */
__device__ static inline void restore(const struct ising_multispin_replicas *replicas,
                                      const struct ising_multispin_gpu_group *group,
                                      const uint32_t *other)
{
  const uint32_t lane = group->thread % 32, place = gpumc_tile_place(lane);
  const size_t words = ising_multispin_group_words(replicas);
  for (uint32_t tile = group->thread / 32; tile < replicas->tiles; tile += group->threads / 32) {
    const size_t begin = (size_t)tile * GPUMC_TILE_WORDS;
    uint32_t word[GPUMC_TILE_LANE_WORDS] = {0};
    ising_multispin_words_load(group->tiles, begin + lane * GPUMC_TILE_LANE_WORDS, words, word);
    gpumc_tile_transpose(word);
#pragma unroll
    for (int i = 0; i < GPUMC_TILE_LANE_WORDS; i++) {
      const size_t at = begin + place + i * GPUMC_TILE_LANE_WORDS;
      group->tiles[at] = word[i] ^ (other != NULL ? other[at] : 0);
    }
  }
}

__device__ static inline int64_t wave_of_lane(const struct ising_multispin_comparison *arguments,
                                              const struct ising_multispin_wave_sums *sums,
                                              uint32_t lane)
{
  const int64_t of_plane =
      2 * (int64_t)arguments->replicas.colour / (int64_t)arguments->wave.length;
  int64_t cosine[3], sine[3];
  for (uint32_t axis = 0; axis < 3; axis++) {
    cosine[axis] = 2 * (int64_t)sums->cosine[axis][lane] - of_plane * arguments->sum_cosine;
    sine[axis] = 2 * (int64_t)sums->sine[axis][lane] - of_plane * arguments->sum_sine;
  }
  return ising_wave_square(&arguments->wave, cosine, sine);
}

/* By the first 32 threads of the block. */
__device__ static inline void record(const struct ising_multispin_comparison *arguments,
                                     const struct ising_multispin_gpu_group *group,
                                     const struct comparison_sums *sums)
{
  const struct ising_multispin_replicas *replicas = &arguments->replicas;
  const uint32_t lane = group->thread, replica = group->number * ISING_MULTISPIN_LANES + lane;
  if (lane >= ISING_MULTISPIN_LANES || replica >= replicas->batch.size[group->m])
    return;
  const size_t element = (size_t)(group->m - arguments->first) * replicas->batch.capacity + replica;
  const int64_t sites = 2 * (int64_t)replicas->colour;
  if (arguments->spin != NULL)
    arguments->spin[element] = sites - 2 * (int64_t)sums->up[lane];
  if (arguments->link != NULL)
    arguments->link[element] =
        (int64_t)replicas->dimension * sites - 2 * (int64_t)sums->unlike[lane];
  if (arguments->square != NULL)
    arguments->square[element] = wave_of_lane(arguments, &sums->wave, lane);
}

/* Runs arguments.first + i + blockIdx.y. */
template <class KIND>
__global__ void __launch_bounds__(THREADS)
    compare(const __grid_constant__ struct ising_multispin_comparison arguments, uint32_t i)
{
  extern __shared__ uint4 shared[];
  const struct ising_multispin_replicas *replicas = &arguments.replicas;
  struct comparison_sums *sums = (struct comparison_sums *)shared;
  struct ising_multispin_gpu_group group, second;
  const uint32_t number = blockIdx.x;
  i += blockIdx.y;
  if (!ising_multispin_group_find(replicas, arguments.first + i, number, threadIdx.x, THREADS,
                                  &group))
    return;
  ising_multispin_group_find(replicas, arguments.second + i, number, threadIdx.x, THREADS, &second);
  const uint32_t *other = arguments.pairs ? second.tiles : NULL;
  uint32_t *sites = arguments.in_shared ? (uint32_t *)(sums + 1) : group.tiles;
  for (uint32_t j = threadIdx.x; j < sizeof *sums / sizeof(uint32_t); j += THREADS)
    ((uint32_t *)sums)[j] = 0;
  __syncthreads();
  load_difference(replicas, &group, other, sites, sums);
  __syncthreads();
  if (arguments.link != NULL)
    ising_multispin_group_count<KIND>(replicas, NULL, &group, sites, sums->unlike);
  if (arguments.square != NULL)
    ising_multispin_wave_add(replicas, &arguments.wave, arguments.cosine, arguments.sine, sites,
                             &sums->wave);
  __syncthreads();
  record(&arguments, &group, sums);
  if (!arguments.in_shared)
    restore(replicas, &group, other);
}

/* In place one pair of runs after another where a run is part of two. */
template <class KIND>
static enum gpumc_status
launch(const struct ising_multispin_comparison *arguments, struct gpumc_error *error)
{
  const uint32_t runs = arguments->runs, first = arguments->first, second = arguments->second;
  const bool apart = !arguments->pairs || first + runs <= second || second + runs <= first;
  const uint32_t together = arguments->in_shared || apart ? runs : 1;
  enum gpumc_status status = GPUMC_CUDA(
      cudaFuncSetAttribute((const void *)compare<KIND>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                           (int)arguments->shared_bytes),
      error);
  for (uint32_t i = 0; i < runs && status == GPUMC_OK; i += together) {
    compare<KIND><<<dim3(arguments->replicas.groups, together), THREADS, arguments->shared_bytes,
                    (cudaStream_t)arguments->replicas.batch.stream>>>(*arguments, i);
    status = GPUMC_CUDA_LAUNCHED("compare", error);
  }
  return status;
}

template <int WIDTH>
static enum gpumc_status
launch_lattice(const struct ising_multispin_comparison *arguments, struct gpumc_error *error)
{
  return arguments->replicas.dimension == 2
             ? launch<struct ising_multispin_kind<WIDTH, 2, false, true, true, 10, 0>>(arguments,
                                                                                       error)
             : launch<struct ising_multispin_kind<WIDTH, 3, false, true, true, 10, 0>>(arguments,
                                                                                       error);
}

enum gpumc_status ising_multispin_compare(const struct ising_multispin_comparison *arguments,
                                          struct gpumc_error *error)
{
  return arguments->by_fours ? launch_lattice<ISING_MULTISPIN_VECTOR>(arguments, error)
                             : launch_lattice<1>(arguments, error);
}
