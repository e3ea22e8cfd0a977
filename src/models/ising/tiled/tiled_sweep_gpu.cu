/* Updates of the tiled kernel on a GPU: a launch for each visit of one half of the tiles. */
#include "core/numerics/philox.cuh"
#include "models/ising/tiled/tiled_block.cuh"

/* In place of rounds of Philox: one of the other generators. */
enum { UNSAFE = 0 };

/* The shared memory of a block. numbers[places + LANES] and state[block_words]: for unsafe
 * generators. */
struct shared {
  struct ising_tiled_rule *rule;
  uint32_t *copy, *numbers, *state;
};

static __host__ __device__ inline size_t shared_bytes(const struct ising_tiled_geometry *geometry,
                                                      const struct ising_tiled_generator *generator)
{
  size_t words = 2 * geometry->copy_words;
  if (generator->kind != ISING_TILED_PHILOX)
    words += geometry->places + ISING_TILED_LANES + generator->block_words;
  return sizeof(struct ising_tiled_rule) + words * sizeof(uint32_t);
}

static __device__ inline struct shared shared_of(const struct ising_tiled_geometry *geometry)
{
  extern __shared__ uint64_t memory[];
  struct shared shared;
  shared.rule = (struct ising_tiled_rule *)memory;
  shared.copy = (uint32_t *)(shared.rule + 1);
  shared.numbers = shared.copy + 2 * geometry->copy_words;
  shared.state = shared.numbers + geometry->places + ISING_TILED_LANES;
  return shared;
}

/* Draws the numbers of all places of a block from its ring, `oldest` the place of the oldest: as
 * many at once as do not depend on each other. */
static __device__ void draw_fibonacci(const struct ising_tiled_generator *generator,
                                      const struct shared *shared, uint32_t places,
                                      uint32_t *oldest)
{
  const uint32_t r = generator->lag_r, s = generator->lag_s;
  for (uint32_t first = 0; first < places; first += s) {
    const uint32_t count = places - first < s ? places - first : s;
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x)
      shared->numbers[first + i] =
          shared->state[(*oldest + i) % r] + shared->state[(*oldest + i + r - s) % r];
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x)
      shared->state[(*oldest + i) % r] = shared->numbers[first + i];
    __syncthreads();
    *oldest = (*oldest + count) % r;
  }
}

static __device__ void draw_unsafe(const struct ising_tiled_generator *generator,
                                   const struct shared *shared, uint32_t places, uint32_t *oldest)
{
  if (generator->kind == ISING_TILED_FIBONACCI)
    draw_fibonacci(generator, shared, places, oldest);
  else
    for (uint32_t i = threadIdx.x; i < places; i += blockDim.x)
      shared->numbers[i] = ising_tiled_lcg(generator, shared->state, i);
  __syncthreads();
}

/* Copies the state of the block to and from shared memory; Fibonacci: the oldest number first. */
static __device__ void bring_state(const struct ising_tiled_generator *generator,
                                   const struct shared *shared, const uint32_t *state)
{
  for (uint32_t i = threadIdx.x; i < generator->block_words; i += blockDim.x)
    shared->state[i] = state[i];
}

static __device__ void keep_state(const struct ising_tiled_generator *generator,
                                  const struct shared *shared, uint32_t oldest, uint32_t *state)
{
  for (uint32_t i = threadIdx.x; i < generator->block_words; i += blockDim.x)
    state[i] = shared->state[oldest == 0 ? i : (oldest + i) % generator->block_words];
}

/* The random stream of one block. */
struct stream {
  struct gpumc_random random;
  uint32_t replica, first_word; /* in the whole; the tile's first word among those with a counter */
};

/* Updates one colour of the tile, in the sweep with number `time`. `mine`: word threadIdx.x. */
template <uint32_t ROUNDS>
static __device__ inline void
update_colour(const struct ising_tiled_geometry *geometry, const struct shared *shared,
              const struct stream *stream, const struct ising_tiled_word *mine, uint32_t colour,
              uint32_t time)
{
  uint32_t *own = shared->copy + colour * geometry->copy_words;
  const uint32_t *other = shared->copy + (1 - colour) * geometry->copy_words;
  const struct gpumc_philox_group group = gpumc_philox_group(stream->random, stream->replica, time);
  const uint32_t label = gpumc_random_label(GPUMC_RANDOM_LATTICE_SWEEP, colour);
  for (uint32_t w = threadIdx.x; w < geometry->words; w += blockDim.x) {
    const struct ising_tiled_word word = w == threadIdx.x ? *mine : ising_tiled_word(geometry, w);
    uint32_t u[ISING_TILED_LANES];
    if constexpr (ROUNDS != UNSAFE) {
      const uint32_t number = stream->first_word + w;
      const struct gpumc_philox_word of_word = gpumc_philox_word(&group, number);
      gpumc_philox_draw<ROUNDS>(&group, &of_word,
                                gpumc_philox_label(stream->random.key, of_word.first, label), u);
    } else {
      const uint32_t place = word.line * geometry->row + word.along * ISING_TILED_LANES;
      for (uint32_t lane = 0; lane < ISING_TILED_LANES; lane++)
        u[lane] = shared->numbers[place + lane];
    }
    const uint32_t up = ising_tiled_up(geometry, other, word.at, word.shift ^ colour);
    own[word.at] = ising_tiled_updated(shared->rule, own[word.at], up, u, word.sites);
  }
  __syncthreads();
}

static __device__ void
store(const struct ising_tiled_geometry *geometry, const uint32_t *copy, uint32_t *tile)
{
  for (uint32_t colour = 0; colour < 2; colour++)
    for (uint32_t w = threadIdx.x; w < geometry->words; w += blockDim.x) {
      const struct ising_tiled_word word = ising_tiled_word(geometry, w);
      tile[colour * geometry->words + w] =
          copy[colour * geometry->copy_words + word.at] & word.sites;
    }
}

static __device__ void bring_rule(const struct ising_tiled_rule *rule, struct ising_tiled_rule *to)
{
  for (uint32_t i = threadIdx.x; i < sizeof *rule / sizeof(uint32_t); i += blockDim.x)
    ((uint32_t *)to)[i] = ((const uint32_t *)rule)[i];
}

/* Minimum number of blocks per multiprocessor: 40 registers per thread; sometimes the compiler
 * would use 58 in three dimensions. */
enum { BLOCKS = 3 };

/* blockIdx.x: block of the half, of each replica; blockIdx.y: run. */
template <uint32_t ROUNDS, uint32_t DIMENSION>
static __global__ void __launch_bounds__(ISING_TILED_THREADS_MAXIMUM, BLOCKS)
    visit_blocks(const __grid_constant__ struct ising_tiled_sweep arguments)
{
  const struct lattice_batch *batch = &arguments.replicas.batch;
  const struct ising_tiled_generator *generator = &arguments.replicas.generator;
  const struct ising_tiled_visit *visit = &arguments.visit;
  struct ising_tiled_geometry geometry = arguments.replicas.geometry;
  geometry.dimension = DIMENSION;
  const uint32_t replica = blockIdx.x / generator->blocks, b = blockIdx.x % generator->blocks;
  if (replica >= batch->size[blockIdx.y])
    return;
  const size_t element = blockIdx.y * batch->capacity + replica;
  uint32_t *words = arguments.replicas.words + element * ising_tiled_replica_words(&geometry);
  uint32_t *state =
      arguments.replicas.state + (element * generator->blocks + b) * generator->block_words;
  const struct shared shared = shared_of(&geometry);
  const struct ising_tiled_tile tile = ising_tiled_tile(&geometry, visit->half, b);
  const struct stream stream = {lattice_batch_random(batch, blockIdx.y),
                                lattice_batch_replica(batch, replica),
                                ising_tiled_number(&geometry, tile) * geometry.words};
  const struct ising_tiled_word mine = ising_tiled_word(&geometry, threadIdx.x);
  uint32_t oldest = 0;
  bring_rule(&arguments.replicas.rule[blockIdx.y], shared.rule);
  if (ROUNDS == UNSAFE)
    bring_state(generator, &shared, state);
  ising_tiled_load(&geometry, words, tile, shared.copy);
  for (uint32_t hit = 0; hit < visit->hits; hit++) {
    const uint32_t reversed = (hit < visit->turn) == (visit->reversed != 0);
    for (uint32_t i = 0; i < 2; i++) {
      if (ROUNDS == UNSAFE)
        draw_unsafe(generator, &shared, geometry.places, &oldest);
      update_colour<ROUNDS>(&geometry, &shared, &stream, &mine, i ^ reversed,
                            batch->time + visit->first + hit);
    }
  }
  store(&geometry, shared.copy, words + ising_tiled_words(&geometry, tile));
  if (ROUNDS == UNSAFE)
    keep_state(generator, &shared, oldest, state);
}

static __global__ void set_rules(const __grid_constant__ struct ising_tiled_rules arguments)
{
  if (threadIdx.x < arguments.count)
    arguments.rule[arguments.first + threadIdx.x] = arguments.value[threadIdx.x];
}

extern "C" enum gpumc_status
ising_tiled_set_rules(const struct ising_tiled_rules *arguments, struct gpumc_error *error)
{
  set_rules<<<1, ISING_TILED_RULES, 0, (cudaStream_t)arguments->stream>>>(*arguments);
  return GPUMC_CUDA_LAUNCHED("set_rules", error);
}

template <uint32_t DIMENSION>
static void (*kernel_of(const struct ising_tiled_replicas *replicas))(struct ising_tiled_sweep)
{
  if (replicas->generator.kind != ISING_TILED_PHILOX)
    return visit_blocks<UNSAFE, DIMENSION>;
  return replicas->batch.rounds == 7 ? visit_blocks<7, DIMENSION> : visit_blocks<10, DIMENSION>;
}

extern "C" enum gpumc_status
ising_tiled_visit_blocks(const struct ising_tiled_sweep *arguments, struct gpumc_error *error)
{
  const struct ising_tiled_replicas *replicas = &arguments->replicas;
  const struct lattice_batch *batch = &replicas->batch;
  void (*kernel)(struct ising_tiled_sweep) =
      replicas->geometry.dimension == 3 ? kernel_of<3>(replicas) : kernel_of<2>(replicas);
  const dim3 grid((uint32_t)batch->capacity * replicas->generator.blocks, batch->runs);
  kernel<<<grid, ising_tiled_threads(replicas),
           shared_bytes(&replicas->geometry, &replicas->generator), (cudaStream_t)batch->stream>>>(
      *arguments);
  return GPUMC_CUDA_LAUNCHED("visit_blocks", error);
}
