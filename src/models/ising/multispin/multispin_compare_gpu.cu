/* Overlaps of the replicas of two runs, and waves: a block compares a group with another and counts
 * the differences, by site. Groups too large for shared memory are transposed in place, and back.
 * Waves: cosine and sine sums along the axes, from the sums over the planes of a group. */
#include "models/ising/multispin/multispin_group.cuh"

/* Planes of a thread's counter, and words that it takes at once. */
enum { ISING_MULTISPIN_WAVE_PLANES = 9, ISING_MULTISPIN_WAVE_WORDS = 4 };

/* By axis and lane, for the bits that are set; sums of signed numbers as unsigned ones. */
struct ising_multispin_wave_sums {
  unsigned long long cosine[3][ISING_MULTISPIN_LANES], sine[3][ISING_MULTISPIN_LANES];
};

/* The planes across one axis that a warp counts together: thread `lane` takes the plane first +
 * lane mod `together`, a power of two, and one of its `parts` parts. Half of a plane, one colour,
 * is `lines` lines of `points` words, `step` apart from point to point. Threads begin at different
 * points (`turn`), so that their words are in different banks. */
struct ising_multispin_planes {
  uint32_t axis, c;
  uint32_t together, parts, part;
  uint32_t lines, points, step, turn;
};

__device__ static inline struct ising_multispin_planes
ising_multispin_planes_of(const struct ising_multispin_replicas *lattice, uint32_t length,
                          uint32_t axis, uint32_t first)
{
  const uint32_t lane = threadIdx.x % 32, row = lattice->row.value, height = lattice->height.value;
  struct ising_multispin_planes planes;
  planes.axis = axis;
  planes.together = 2;
  while (planes.together < length && planes.together < 32)
    planes.together *= 2;
  planes.parts = 32 / planes.together;
  planes.part = lane / planes.together;
  planes.c = first + lane % planes.together;
  planes.lines = lattice->colour / lattice->plane;
  planes.points = axis == 0 ? height / 2 : row;
  planes.step = axis == 0 ? 2 * row : 1;
  planes.turn = axis == 0 ? planes.part % planes.points : lane * row / 32;
  if (axis == 2) {
    planes.points = min(lattice->plane, planes.together);
    planes.lines = (lattice->plane + planes.points - 1) / planes.points;
    planes.turn = planes.c % planes.points;
  }
  return planes;
}

/* Returns where a line begins in its colour. Across x: of rows 2 i and 2 i + 1 of plane z, which is
 * the line's number, the one that has x = c in this colour (lattice/checkerboard.h). */
__device__ static inline uint32_t
ising_multispin_line_begin(const struct ising_multispin_replicas *lattice,
                           const struct ising_multispin_planes *planes, uint32_t colour,
                           uint32_t line)
{
  const uint32_t row = lattice->row.value;
  if (planes->axis == 0)
    return line * lattice->plane + ((planes->c + line + colour) & 1) * row + planes->c / 2;
  if (planes->axis == 1)
    return line * lattice->plane + planes->c * row;
  return planes->c * lattice->plane + line * planes->points;
}

/* Counts ISING_MULTISPIN_WAVE_WORDS points of one line from its point number i on. */
__device__ static inline void
ising_multispin_line_count(const struct ising_multispin_replicas *lattice,
                           const struct ising_multispin_planes *planes, const uint32_t *sites,
                           uint32_t colour, uint32_t line, uint32_t i,
                           struct gpumc_vertical_counter<ISING_MULTISPIN_WAVE_PLANES> *counter)
{
  const uint32_t begin = ising_multispin_line_begin(lattice, planes, colour, line);
  const uint32_t *half = sites + (size_t)colour * lattice->colour;
  /* The last line across z may end earlier. */
  const uint32_t end = planes->axis == 2 ? lattice->plane - line * planes->points : planes->points;
  uint32_t word[ISING_MULTISPIN_WAVE_WORDS];
#pragma unroll
  for (uint32_t j = 0; j < ISING_MULTISPIN_WAVE_WORDS; j++) {
    const uint32_t turned = i + j + planes->turn;
    const uint32_t point = turned >= planes->points ? turned - planes->points : turned;
    word[j] = i + j < planes->points && point < end ? half[begin + point * planes->step] : 0;
  }
  gpumc_counter_add<0, ISING_MULTISPIN_WAVE_WORDS, ISING_MULTISPIN_WAVE_PLANES>(counter, word);
}

/* Adds the counts of all planes, times cosine and sine, to the sums of the thread's lane. */
struct ising_multispin_wave_sum {
  int64_t cosine, sine;
};

__device__ static inline void
ising_multispin_planes_add(struct gpumc_vertical_counter<ISING_MULTISPIN_WAVE_PLANES> *counter,
                           uint32_t together, const int32_t *cosine, const int32_t *sine,
                           uint32_t planes, struct ising_multispin_wave_sum *sum)
{
  uint32_t column[ISING_MULTISPIN_WAVE_PLANES];
  for (uint32_t width = together; width < 32; width *= 2)
    gpumc_counter_share<ISING_MULTISPIN_WAVE_PLANES>(counter, width);
#pragma unroll
  for (int p = 0; p < ISING_MULTISPIN_WAVE_PLANES; p++)
    column[p] = gpumc_warp_column(counter->plane[p]);
#pragma unroll 2
  for (uint32_t c = 0; c < planes; c++) {
    int32_t count = 0;
#pragma unroll
    for (int p = 0; p < ISING_MULTISPIN_WAVE_PLANES; p++)
      count += (int32_t)((column[p] >> c & 1) << p);
    sum->cosine += (int64_t)count * cosine[c];
    sum->sine += (int64_t)count * sine[c];
  }
#pragma unroll
  for (int p = 0; p < ISING_MULTISPIN_WAVE_PLANES; p++)
    counter->plane[p] = 0;
}

/* Counts one of `shares` shares of the lines of up to 32 planes across one axis, by a warp;
 * counters are emptied before they are full. */
__device__ static inline void
ising_multispin_wave_share(const struct ising_multispin_replicas *lattice,
                           const struct ising_multispin_planes *planes, uint32_t length,
                           const int32_t *cosine, const int32_t *sine, uint32_t share,
                           uint32_t shares, const uint32_t *sites,
                           struct ising_multispin_wave_sum *sum)
{
  const uint32_t most = ((1u << ISING_MULTISPIN_WAVE_PLANES) - 1) / planes->parts;
  const uint32_t here = min(planes->together, length), halves = 2 * planes->lines;
  const bool idle = threadIdx.x % planes->together >= here;
  struct gpumc_vertical_counter<ISING_MULTISPIN_WAVE_PLANES> counter = {
    {
      0
    }
  };
  uint32_t added = 0;
  for (uint32_t first = share * planes->parts; first < halves; first += shares * planes->parts) {
    const uint32_t half = first + planes->part;
    for (uint32_t i = 0; i < planes->points; i += ISING_MULTISPIN_WAVE_WORDS) {
      if (added + ISING_MULTISPIN_WAVE_WORDS > most) {
        ising_multispin_planes_add(&counter, planes->together, cosine, sine, here, sum);
        added = 0;
      }
      if (!idle && half < halves)
        ising_multispin_line_count(lattice, planes, sites, half % 2, half / 2, i, &counter);
      added += ISING_MULTISPIN_WAVE_WORDS;
    }
  }
  ising_multispin_planes_add(&counter, planes->together, cosine, sine, here, sum);
}

/* More warps share planes that have enough words to be worth it. */
__device__ static inline void
ising_multispin_wave_add(const struct ising_multispin_replicas *lattice,
                         const struct lattice_wave *wave, const int32_t *cosine,
                         const int32_t *sine, const uint32_t *sites,
                         struct ising_multispin_wave_sums *sums)
{
  enum { WORTH = 2048 }; /* words */
  const uint32_t lane = threadIdx.x % 32, warps = blockDim.x / 32;
  const uint32_t pieces = (wave->length + 31) / 32;
  const uint32_t shares = min(warps, lattice->colour / WORTH + 1);
  for (uint32_t task = threadIdx.x / 32; task < 3 * pieces * shares; task += warps) {
    const uint32_t axis = task / shares % 3, first = task / shares / 3 * 32;
    if (!wave->along[axis])
      continue;
    const struct ising_multispin_planes planes =
        ising_multispin_planes_of(lattice, wave->length, axis, first);
    struct ising_multispin_wave_sum sum = {0, 0};
    ising_multispin_wave_share(lattice, &planes, wave->length - first, cosine + first, sine + first,
                               task % shares, shares, sites, &sum);
    atomicAdd(&sums->cosine[axis][lane], (unsigned long long)sum.cosine);
    atomicAdd(&sums->sine[axis][lane], (unsigned long long)sum.sine);
  }
}

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

/* Loads the differences to the other group, if there is one, by site; counts them. */
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

/* Restores the group from its differences, in place. */
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
  return lattice_wave_square(&arguments->wave, cosine, sine);
}

/* Done by the first 32 threads of the block. */
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

/* For runs arguments.first + i + blockIdx.y. */
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

/* In place, one pair of runs after another if a run is part of two. */
template <class KIND>
static enum gpumc_status
launch(const struct ising_multispin_comparison *arguments, struct gpumc_error *error)
{
  const uint32_t runs = arguments->runs, first = arguments->first, second = arguments->second;
  const bool apart = !arguments->pairs || first + runs <= second || second + runs <= first;
  const uint32_t together = arguments->in_shared || apart ? runs : 1;
  GPUMC_TRY(GPUMC_CUDA(cudaFuncSetAttribute((const void *)compare<KIND>,
                                            cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            (int)arguments->shared_bytes),
                       error));
  for (uint32_t i = 0; i < runs; i += together) {
    compare<KIND><<<dim3(arguments->replicas.groups, together), THREADS, arguments->shared_bytes,
                    (cudaStream_t)arguments->replicas.batch.stream>>>(*arguments, i);
    GPUMC_TRY(GPUMC_CUDA_LAUNCHED("compare", error));
  }
  return GPUMC_OK;
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
