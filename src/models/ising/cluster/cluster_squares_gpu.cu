/* Squares of sums over clusters on a GPU (clusters_squares.h), after clusters are labelled by
 * tiles: for each sum a launch for tiles, which finishes the clusters that lie within one of them,
 * and one for the sites that others are named after. Sums are of integers, so that the order of
 * threads does not matter. */
#include "models/ising/cluster/cluster_tiles.cuh"

enum { THREADS = ISING_TILE_WORDS, SITE_THREADS = 256, RECORD_THREADS = 256 };

/* Scratch after that of the tiles of all replicas of a launch: sum[replicas][sites], by name, of
 * the clusters at borders; all zero between launches for a sum. totals[replicas]. */
struct sums {
  unsigned long long *sum;
  struct lattice_cluster_totals *totals;
  size_t sites;
};

/* In shared memory: a sum of each cluster of the tile, 2^16 high + low, since a multiprocessor adds
 * 32 bits in one operation and 64 in a loop, over and over for the many runs of a large cluster;
 * and which clusters are at its border. A tile has fewer than 2^16 runs. */
struct tile {
  uint32_t low[ISING_TILE_LABELS];
  int32_t high[ISING_TILE_LABELS];
  uint32_t border[ISING_TILE_WORDS];
};

__device__ static inline void add_to_tile(struct tile *tile, uint32_t number, int64_t sum)
{
  atomicAdd(&tile->low[number], (uint32_t)(sum & 0xffff));
  atomicAdd(&tile->high[number], (int32_t)(sum >> 16));
}

__device__ static inline int64_t of_tile(const struct tile *tile, uint32_t number)
{
  return (int64_t)tile->high[number] * 0x10000 + tile->low[number];
}

__host__ __device__ static inline size_t sites_of(const struct ising_cluster_gpu *clusters)
{
  return 2 * (size_t)clusters->replicas.lattice.colour;
}

static size_t bytes_of(const struct ising_cluster_gpu *clusters)
{
  return ising_cluster_tiles_bytes(clusters) + sites_of(clusters) * sizeof(unsigned long long) +
         sizeof(struct lattice_cluster_totals);
}

extern "C" size_t
ising_cluster_squares_scratch(const struct ising_cluster_gpu *clusters, size_t replicas)
{
  return ising_cluster_tiles_together(bytes_of(clusters), replicas) * bytes_of(clusters);
}

static struct sums sums_of(const struct ising_cluster_gpu *clusters, size_t replicas)
{
  struct sums sums;
  uint8_t *own = (uint8_t *)clusters->scratch + replicas * ising_cluster_tiles_bytes(clusters);
  sums.sites = sites_of(clusters);
  sums.sum = (unsigned long long *)own;
  sums.totals = (struct lattice_cluster_totals *)(sums.sum + replicas * sums.sites);
  return sums;
}

/* ---- sums ---- */

/* Returns sum number k over the sites of a word at a spot. */
__device__ static inline int64_t sum_of(const struct lattice_cluster_scale *scale, uint32_t k,
                                        const struct ising_cluster_spot *spot, uint32_t spins,
                                        uint32_t sites)
{
  const int64_t all = 2 * __popc(spins & sites) - __popc(sites);
  if (k == LATTICE_CLUSTER_SPINS)
    return all;
  const int32_t *table = lattice_cluster_table_of(scale, k);
  const uint32_t axis = lattice_cluster_axis_of(k);
  if (axis > 0)
    return all * table[axis == 1 ? spot->at[1] : spot->at[2]];
  int64_t sum = 0;
  for (uint32_t left = sites; left != 0; left &= left - 1) {
    const uint32_t bit = ising_bit_lowest(left);
    const int64_t factor = table[ISING_CLUSTER_WORD * spot->at[0] + bit];
    sum += (spins >> bit & 1) != 0 ? factor : -factor;
  }
  return sum;
}

/* Adds the runs of a thread's word to the clusters of its tile. */
__device__ static inline void add_runs(const struct ising_cluster_gpu_squares *arguments,
                                       const struct ising_tile_element *element,
                                       const struct ising_tile_mine *mine, const uint16_t *label,
                                       uint32_t joined, struct tile *tile)
{
  const uint32_t spins =
      ising_cluster_spins(&arguments->clusters.replicas.lattice, element->words, &mine->spot);
  for (uint32_t starts = mine->place.sites & ~joined; starts != 0; starts &= starts - 1) {
    const uint32_t start = ising_bit_lowest(starts);
    const int64_t sum = sum_of(&arguments->scale, arguments->k, &mine->spot, spins,
                               ising_runs_sites(joined, 1u << start));
    add_to_tile(tile, label[start * ISING_TILE_WORDS + threadIdx.x], sum);
  }
}

__device__ static inline bool is_held(const struct ising_cluster_gpu *clusters,
                                      const struct ising_tile_element *element, uint32_t site)
{
  uint32_t bit;
  if (!clusters->rules[element->run].clusters.rule.has_field)
    return false;
  return (*ising_tile_held(clusters, element, site, &bit) >> bit & 1) != 0;
}

/* A thread's part of the totals of a replica. */
struct part {
  unsigned long long squares, ghost;
};

__device__ static inline void add_cluster(const struct ising_cluster_gpu_squares *arguments,
                                          const struct ising_tile_element *element, uint32_t site,
                                          unsigned long long sum, struct part *part)
{
  if (is_held(&arguments->clusters, element, site))
    part->ghost += sum;
  else
    part->squares += lattice_cluster_square_of(&arguments->scale, arguments->k, (int64_t)sum);
}

/* Called by all threads of a block. */
__device__ static inline void
add_part(struct lattice_cluster_totals *totals, uint32_t k, const struct part *part)
{
  __shared__ unsigned long long squares, ghost;
  if (threadIdx.x == 0)
    squares = ghost = 0;
  __syncthreads();
  if (part->squares != 0)
    atomicAdd(&squares, part->squares);
  if (part->ghost != 0)
    atomicAdd(&ghost, part->ghost);
  __syncthreads();
  if (threadIdx.x == 0 && squares != 0)
    atomicAdd((unsigned long long *)&totals->squares[k], squares);
  if (threadIdx.x == 0 && ghost != 0)
    atomicAdd((unsigned long long *)&totals->ghost[k], ghost);
}

/* ---- launches ---- */

static __global__ void __launch_bounds__(THREADS)
    sum_tiles(const __grid_constant__ struct ising_cluster_gpu_squares arguments,
              const __grid_constant__ struct sums sums, size_t first)
{
  extern __shared__ uint32_t shared[];
  struct tile *tile = (struct tile *)shared;
  const struct ising_cluster_gpu *clusters = &arguments.clusters;
  const struct ising_tile_element element = ising_tile_element_of(clusters, first);
  if (!element.exists)
    return;
  const struct ising_tile_mine mine = ising_tile_mine_of(&clusters->tiling);
  const uint16_t *label = element.tiles.label + (size_t)blockIdx.x * ISING_TILE_LABELS;
  const uint32_t joined = mine.exists ? ising_tile_joined(&element, &mine) : 0;
  struct part part = {0, 0};
  for (uint32_t i = threadIdx.x; i < ISING_TILE_LABELS; i += THREADS)
    tile->low[i] = tile->high[i] = 0;
  tile->border[threadIdx.x] = 0;
  __syncthreads();
  ising_tile_for_border(&mine, joined, label, [&](uint32_t number) {
    atomicOr(&tile->border[number / ISING_CLUSTER_WORD], 1u << number % ISING_CLUSTER_WORD);
  });
  if (mine.exists)
    add_runs(&arguments, &element, &mine, label, joined, tile);
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < ISING_TILE_LABELS; i += THREADS) {
    const unsigned long long sum = (unsigned long long)of_tile(tile, i);
    const bool at_border =
        (tile->border[i / ISING_CLUSTER_WORD] >> i % ISING_CLUSTER_WORD & 1) != 0;
    bool own;
    if (sum == 0)
      continue;
    if (at_border)
      atomicAdd(
          &sums.sum[blockIdx.y * sums.sites + ising_tile_root(clusters, &element, &mine, i, &own)],
          sum);
    else
      add_cluster(&arguments, &element, ising_tiling_site(&clusters->tiling, &mine.box, i), sum,
                  &part);
  }
  add_part(&sums.totals[blockIdx.y], arguments.k, &part);
}

/* Goes through all sites, and leaves their sums zero. */
static __global__ void __launch_bounds__(SITE_THREADS)
    square_sites(const __grid_constant__ struct ising_cluster_gpu_squares arguments,
                 const __grid_constant__ struct sums sums, size_t first)
{
  const struct ising_tile_element element = ising_tile_element_of(&arguments.clusters, first);
  unsigned long long *sum = sums.sum + blockIdx.y * sums.sites;
  struct part part = {0, 0};
  if (!element.exists)
    return;
  for (size_t i = blockIdx.x * SITE_THREADS + threadIdx.x; i < sums.sites;
       i += (size_t)gridDim.x * SITE_THREADS)
    if (sum[i] != 0) {
      add_cluster(&arguments, &element, (uint32_t)i, sum[i], &part);
      sum[i] = 0;
    }
  add_part(&sums.totals[blockIdx.y], arguments.k, &part);
}

static __global__ void __launch_bounds__(RECORD_THREADS)
    record(const __grid_constant__ struct ising_cluster_gpu_squares arguments,
           const __grid_constant__ struct sums sums, size_t first, uint32_t count)
{
  const uint32_t i = blockIdx.x * RECORD_THREADS + threadIdx.x;
  if (i < count)
    lattice_cluster_totals_record(&sums.totals[i], &arguments.scale, first + i, arguments.square,
                                  arguments.wave);
}

/* ---- measurements ---- */

enum { SITE_BLOCKS = 1024 }; /* of a replica, at most */

static enum gpumc_status add_sum(const struct ising_cluster_gpu_squares *arguments,
                                 const struct sums *sums, size_t first, size_t count,
                                 struct gpumc_error *error)
{
  const struct ising_cluster_tiling *tiling = &arguments->clusters.tiling;
  cudaStream_t stream = (cudaStream_t)arguments->clusters.replicas.batch.stream;
  const uint32_t tiles = ising_tiling_tiles(tiling);
  const size_t blocks = lattice_parts(sums->sites, SITE_THREADS);
  const dim3 grid((uint32_t)(blocks < SITE_BLOCKS ? blocks : (size_t)SITE_BLOCKS), (uint32_t)count);
  sum_tiles<<<dim3(tiles, (uint32_t)count), THREADS, sizeof(struct tile), stream>>>(*arguments,
                                                                                    *sums, first);
  GPUMC_TRY(GPUMC_CUDA_LAUNCHED("sum_tiles", error));
  if (tiles == 1)
    return GPUMC_OK;
  square_sites<<<grid, SITE_THREADS, 0, stream>>>(*arguments, *sums, first);
  return GPUMC_CUDA_LAUNCHED("square_sites", error);
}

/* Measures `count` replicas of all runs from number `first` on. */
static enum gpumc_status measure(struct ising_cluster_gpu_squares *arguments,
                                 const struct sums *sums, size_t first, size_t count,
                                 struct gpumc_error *error)
{
  cudaStream_t stream = (cudaStream_t)arguments->clusters.replicas.batch.stream;
  GPUMC_TRY(ising_cluster_tiles_label(&arguments->clusters, first, count, arguments->time, error));
  GPUMC_TRY(
      GPUMC_CUDA(cudaMemsetAsync(sums->totals, 0, count * sizeof *sums->totals, stream), error));
  for (uint32_t k = 0; k < LATTICE_CLUSTER_SUMS; k++) {
    arguments->k = k;
    if (lattice_cluster_sum_is_wanted(&arguments->scale, k, arguments->square, arguments->wave))
      GPUMC_TRY(add_sum(arguments, sums, first, count, error));
  }
  record<<<(uint32_t)lattice_parts(count, RECORD_THREADS), RECORD_THREADS, 0, stream>>>(
      *arguments, *sums, first, (uint32_t)count);
  return GPUMC_CUDA_LAUNCHED("record", error);
}

extern "C" enum gpumc_status
ising_cluster_squares_measure(const struct ising_cluster_gpu_squares *arguments,
                              struct gpumc_error *error)
{
  struct ising_cluster_gpu_squares of_sum = *arguments;
  const struct ising_cluster_gpu *clusters = &arguments->clusters;
  const struct lattice_batch *batch = &clusters->replicas.batch;
  const size_t replicas = batch->runs * batch->capacity;
  const size_t most = ising_cluster_tiles_together(bytes_of(clusters), replicas);
  const struct sums sums = sums_of(clusters, most);
  GPUMC_TRY(GPUMC_CUDA(cudaMemsetAsync(sums.sum, 0, most * sums.sites * sizeof *sums.sum,
                                       (cudaStream_t)batch->stream),
                       error));
  GPUMC_TRY(GPUMC_CUDA(cudaFuncSetAttribute(sum_tiles, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            (int)sizeof(struct tile)),
                       error));
  for (size_t first = 0; first < replicas; first += most)
    GPUMC_TRY(
        measure(&of_sum, &sums, first, replicas - first < most ? replicas - first : most, error));
  return GPUMC_OK;
}
