/* Replicas drawn at beta = 0, brought in and out, and copied: everything that moves tiles by
 * replica and updates nothing. */
#include "models/ising2d/ising2d_multispin_group.cuh"

enum {
  THREADS = 256,
  GATHER_TILES = 4, /* pieces of a replica that a thread copies at once */
};

/* A warp draws a tile by site. */
__global__ void __launch_bounds__(THREADS)
    randomize(const __grid_constant__ struct ising2d_cuda_batch batch,
              struct ising2d_cuda_random random)
{
  const uint32_t lane = threadIdx.x % 32;
  const size_t index = ((size_t)blockIdx.x * THREADS + threadIdx.x) / 32;
  const uint32_t number = (uint32_t)(index / batch.tiles), tile = (uint32_t)(index % batch.tiles);
  struct ising2d_group group;
  if (!ising2d_group_find(&batch, blockIdx.y, number, threadIdx.x, THREADS, &group))
    return;
  const struct gpumc_random generator = {{random.key[0], random.key[1] + (blockIdx.y << 16)},
                                         random.rounds};
  const size_t w = (size_t)tile * GPUMC_TILE_WORDS + lane * GPUMC_TILE_LANE_WORDS;
  uint32_t word[GPUMC_TILE_LANE_WORDS];
  for (uint32_t half = 0; half < 2; half++)
    gpumc_random_draw(generator, (uint32_t)(w / 4) + half, number, 0,
                      gpumc_random_label(GPUMC_RANDOM_LATTICE_INITIAL, 0), word + 4 * half);
#pragma unroll
  for (int i = 0; i < GPUMC_TILE_LANE_WORDS; i++)
    word[i] = w + i < 2 * (size_t)batch.colour ? word[i] : 0;
  gpumc_tile_transpose(word);
  uint32_t *to = group.tiles + (size_t)tile * GPUMC_TILE_WORDS + gpumc_tile_place(lane);
#pragma unroll
  for (int i = 0; i < GPUMC_TILE_LANE_WORDS; i++)
    to[i * GPUMC_TILE_LANE_WORDS] = word[i];
}

/* Word v of a replica of run m: its sites 32 v .. 32 v + 31. */
__device__ static inline uint32_t *
word_of(const struct ising2d_cuda_batch *batch, uint32_t m, uint32_t replica, size_t v)
{
  const size_t group = (size_t)m * batch->groups + replica / ISING2D_CUDA_LANES;
  const size_t tile = group * batch->tiles + v / GPUMC_TILE_LANE_WORDS;
  return batch->words + tile * GPUMC_TILE_WORDS +
         replica % ISING2D_CUDA_LANES * GPUMC_TILE_LANE_WORDS + v % GPUMC_TILE_LANE_WORDS;
}

/* One word of one replica from 32 bits of its portable form. */
__global__ void __launch_bounds__(THREADS)
    set_words(const __grid_constant__ struct ising2d_cuda_transfer transfer)
{
  const struct ising2d_cuda_batch *batch = &transfer.batch;
  const size_t words = (size_t)batch->tiles * GPUMC_TILE_LANE_WORDS;
  const size_t index = (size_t)blockIdx.x * THREADS + threadIdx.x;
  const uint32_t replica = (uint32_t)(index / words);
  const size_t v = index % words;
  if (replica >= transfer.count)
    return;
  const uint8_t *portable = transfer.portable + replica * batch->portable_bytes;
  uint32_t word = 0;
  for (uint32_t i = 0; i < 32; i++) {
    const size_t w = 32 * v + i;
    if (w >= 2 * (size_t)batch->colour)
      break;
    const uint32_t colour = w >= batch->colour, k = (uint32_t)(w - colour * batch->colour);
    const uint32_t y = gpumc_divide(k, batch->row), half_x = k - y * batch->row.value;
    const size_t site = (size_t)y * batch->length_x + 2 * half_x + ((y + colour) & 1);
    word |= (uint32_t)(portable[site / 8] >> site % 8 & 1) << i;
  }
  *word_of(batch, transfer.m, transfer.first + replica, v) = word;
}

/* One byte of the portable form. */
__global__ void __launch_bounds__(THREADS)
    get_bytes(const __grid_constant__ struct ising2d_cuda_transfer transfer)
{
  const struct ising2d_cuda_batch *batch = &transfer.batch;
  const size_t index = (size_t)blockIdx.x * THREADS + threadIdx.x;
  const uint32_t replica = (uint32_t)(index / batch->portable_bytes);
  const size_t byte = index % batch->portable_bytes;
  if (replica >= transfer.count)
    return;
  uint32_t bits = 0;
  for (uint32_t i = 0; i < 8 && 8 * byte + i < 2 * (size_t)batch->colour; i++) {
    const size_t site = 8 * byte + i;
    const uint32_t y = (uint32_t)(site / batch->length_x), x = (uint32_t)(site % batch->length_x);
    const size_t w = (size_t)((x + y) & 1) * batch->colour + (size_t)y * batch->row.value + x / 2;
    bits |= (*word_of(batch, transfer.m, transfer.first + replica, w / 32) >> w % 32 & 1) << i;
  }
  transfer.portable[index] = (uint8_t)bits;
}

/* A thread copies one sector of one replica in each of GATHER_TILES tiles; a warp has a group. */
__global__ void __launch_bounds__(THREADS)
    gather(const __grid_constant__ struct ising2d_cuda_batch batch,
           const uint32_t *__restrict__ parent)
{
  const uint32_t parts = (batch.tiles + GATHER_TILES - 1) / GATHER_TILES;
  const size_t index = ((size_t)blockIdx.x * THREADS + threadIdx.x) / 32;
  const size_t group = index / parts;
  const uint32_t first = (uint32_t)(index - group * parts) * GATHER_TILES;
  const size_t replica = group * ISING2D_CUDA_LANES + threadIdx.x % 32;
  if (replica >= batch.size[blockIdx.y])
    return;
  const uint32_t from = parent[(size_t)blockIdx.y * batch.capacity + replica];
  if (from == replica)
    return;
  const uint4 *source =
      (const uint4 *)word_of(&batch, blockIdx.y, from, (size_t)first * GPUMC_TILE_LANE_WORDS);
  uint4 *to = (uint4 *)word_of(&batch, blockIdx.y, (uint32_t)replica,
                               (size_t)first * GPUMC_TILE_LANE_WORDS);
  uint4 piece[2 * GATHER_TILES];
  const uint32_t stride = GPUMC_TILE_WORDS / 4; /* of tiles, in vectors */
#pragma unroll
  for (uint32_t i = 0; i < 2 * GATHER_TILES; i++)
    if (first + i / 2 < batch.tiles)
      piece[i] = source[i / 2 * stride + i % 2];
#pragma unroll
  for (uint32_t i = 0; i < 2 * GATHER_TILES; i++)
    if (first + i / 2 < batch.tiles)
      to[i / 2 * stride + i % 2] = piece[i];
}

static uint32_t blocks_for(size_t threads)
{
  return (uint32_t)((threads + THREADS - 1) / THREADS);
}

enum gpumc_status ising2d_cuda_randomize(const struct ising2d_cuda_batch *batch,
                                         struct ising2d_cuda_random random,
                                         struct gpumc_error *error)
{
  const dim3 grid(blocks_for((size_t)batch->groups * batch->tiles * 32), batch->runs);
  randomize<<<grid, THREADS, 0, (cudaStream_t)batch->stream>>>(*batch, random);
  return GPUMC_CUDA_LAUNCHED("randomize", error);
}

enum gpumc_status
ising2d_cuda_set(const struct ising2d_cuda_transfer *transfer, struct gpumc_error *error)
{
  const struct ising2d_cuda_batch *batch = &transfer->batch;
  const size_t words = (size_t)transfer->count * batch->tiles * GPUMC_TILE_LANE_WORDS;
  set_words<<<blocks_for(words), THREADS, 0, (cudaStream_t)batch->stream>>>(*transfer);
  return GPUMC_CUDA_LAUNCHED("set_words", error);
}

enum gpumc_status
ising2d_cuda_get(const struct ising2d_cuda_transfer *transfer, struct gpumc_error *error)
{
  const struct ising2d_cuda_batch *batch = &transfer->batch;
  const size_t bytes = (size_t)transfer->count * batch->portable_bytes;
  get_bytes<<<blocks_for(bytes), THREADS, 0, (cudaStream_t)batch->stream>>>(*transfer);
  return GPUMC_CUDA_LAUNCHED("get_bytes", error);
}

enum gpumc_status ising2d_cuda_gather(const struct ising2d_cuda_batch *batch,
                                      const uint32_t *parent, struct gpumc_error *error)
{
  const uint32_t parts = (batch->tiles + GATHER_TILES - 1) / GATHER_TILES;
  const dim3 grid(blocks_for((size_t)batch->groups * parts * 32), batch->runs);
  gather<<<grid, THREADS, 0, (cudaStream_t)batch->stream>>>(*batch, parent);
  return GPUMC_CUDA_LAUNCHED("gather", error);
}
