/* Swendsen-Wang by tiles (cluster_tiles.h), for lattices whose labels do not fit into shared
 * memory: launches for tiles, for seams, in a field for clusters that are joined to the ghost, and
 * for flips. Of tiles a block of threads has one, a thread a word.
 *
 * nvcc: --compress-mode=size */
#include "models/ising/cluster/cluster_tiles.cuh"

enum {
  THREADS = ISING_TILE_WORDS,
  BLOCKS = 5, /* of a multiprocessor together, with the registers that leaves */
  SEAM_THREADS = 256,
  RUNS_LIMIT = 65535,           /* replicas in a launch: a dimension of CUDA's grid */
  PACKED = 4,                   /* labels that are copied together */
  LISTED = 4 * ISING_TILE_WORDS /* bonds on a list */
};

/* Scratch for the replicas of a launch, at most, unless one takes more. */
#define SCRATCH_BYTES ((size_t)1 << 29)

/* ---- scratch ---- */

extern "C" size_t ising_cluster_tiles_bytes(const struct ising_cluster_gpu *arguments)
{
  return ising_tile_places_of(&arguments->tiling).end;
}

extern "C" size_t ising_cluster_tiles_together(size_t bytes, size_t replicas)
{
  const size_t fit = SCRATCH_BYTES / bytes;
  const size_t most = fit < 1 ? 1 : fit < RUNS_LIMIT ? fit : (size_t)RUNS_LIMIT;
  return replicas < most ? replicas : most;
}

extern "C" size_t
ising_cluster_tiles_scratch(const struct ising_cluster_gpu *arguments, size_t replicas)
{
  const size_t bytes = ising_cluster_tiles_bytes(arguments);
  return ising_cluster_tiles_together(bytes, replicas) * bytes;
}

/* ---- tiles ---- */

/* In shared memory. */
struct tile {
  uint32_t label[ISING_TILE_LABELS];
  uint32_t bond[ISING_CLUSTER_AXES][ISING_TILE_WORDS];
  uint32_t spins[ISING_TILE_WORDS], held[ISING_TILE_WORDS];
  uint32_t item[LISTED], listed;
};

/* Returns the spins one step on along an axis, which may be of another tile. */
__device__ static inline uint32_t
next_spins(const struct ising_cluster_gpu *arguments, const struct ising_tile_element *element,
           const struct tile *tile, const struct ising_tile_mine *mine, uint32_t axis)
{
  const uint32_t after = ising_box_after(&mine->box, &mine->place, axis);
  if (after != ISING_CLUSTER_NONE)
    return tile->spins[after];
  const struct ising_cluster_spot spot =
      ising_cluster_spot_after(&arguments->tiling, &mine->spot, axis);
  return ising_cluster_spins(&arguments->replicas.lattice, element->words, &spot);
}

template <uint32_t ROUNDS, bool TERMS>
__device__ static inline uint32_t
bind(const struct ising_cluster_gpu *arguments, const struct ising_tile_element *element,
     struct tile *tile, const struct ising_tile_mine *mine, uint32_t time)
{
  const struct ising_cluster_sweep sweep =
      ising_cluster_sweep_of(arguments, element->run, element->replica, time);
  struct ising_cluster_near near = {tile->spins[threadIdx.x], {0, 0, 0}};
#pragma unroll
  for (uint32_t d = 0; d < ISING_CLUSTER_AXES; d++)
    if (d < arguments->tiling.axes)
      near.next[d] = next_spins(arguments, element, tile, mine, d);
  near.next[0] = ising_cluster_next_along_x(&mine->spot, near.here, near.next[0]);
  const struct ising_cluster_bonds bonds =
      ising_cluster_bind<ROUNDS, TERMS>(&sweep, &mine->spot, &near);
#pragma unroll
  for (uint32_t d = 0; d < ISING_CLUSTER_AXES; d++)
    tile->bond[d][threadIdx.x] = bonds.axis[d];
  return bonds.ghost;
}

/* Labels the runs of the tile; called by all threads, after all bonds are there. */
__device__ static inline void label_words(const struct ising_cluster_words *words,
                                          struct tile *tile, const struct ising_tile_mine *mine)
{
  const struct ising_cluster_list list = {&tile->listed, tile->item, LISTED};
  struct ising_cluster_left left;
  bool changed = false;
  if (mine->exists) {
    left = ising_words_begin(&mine->box, words, &mine->place);
    ising_list_put(&list, threadIdx.x, &left);
  }
  __syncthreads();
  for (int i = 0; i < ISING_CLUSTER_SHORTENED; i++) {
    if (mine->exists)
      (void)ising_words_shorten(words, &mine->place);
    __syncthreads();
  }
  if (ising_list_holds_all(&list))
    ising_list_take(&list, [&](uint32_t axis, uint32_t word, uint32_t bit) {
      const struct ising_cluster_place place = ising_box_place(&mine->box, word, 0);
      ising_words_unite(&mine->box, words, &place, axis, bit);
    });
  else if (mine->exists)
    ising_words_join(&mine->box, words, &mine->place, &left);
  __syncthreads();
  do {
    changed = mine->exists && ising_words_shorten(words, &mine->place);
  } while (__syncthreads_or(changed));
}

/* Notes which clusters of the tile are joined to the ghost. */
__device__ static inline void hold(const struct ising_cluster_words *words, struct tile *tile,
                                   const struct ising_tile_mine *mine, uint32_t ghost)
{
  const uint32_t joined = ising_words_joined(words, threadIdx.x, mine->place.sites);
  while (ghost != 0) {
    const uint32_t start = ising_run_start(joined, ising_bit_lowest(ghost));
    const uint32_t root = *ising_words_label(words, threadIdx.x, start);
    atomicOr(&tile->held[root / ISING_CLUSTER_WORD], 1u << root % ISING_CLUSTER_WORD);
    ghost &= ~ising_runs_sites(joined, 1u << start);
  }
}

/* Writes what seams and flips need: bonds, and clusters at the border by themselves. */
__device__ static inline void
write_word(const struct ising_cluster_tiling *tiling, const struct ising_cluster_words *words,
           const struct ising_tile_element *element, const struct ising_tile_mine *mine)
{
  const struct ising_cluster_tiles *tiles = &element->tiles;
  const uint32_t joined = ising_words_joined(words, threadIdx.x, mine->place.sites);
  tiles->bond[0][mine->word] = words->bond[0][threadIdx.x];
#pragma unroll
  for (uint32_t d = 1; d < ISING_CLUSTER_AXES; d++)
    if (d < tiling->axes && mine->place.at[d] + 1 == mine->box.size[d])
      tiles->bond[d][mine->word] = words->bond[d][threadIdx.x];
  for (uint32_t border = ising_tiling_border(&mine->box, &mine->place, joined); border != 0;
       border &= border - 1) {
    const uint32_t root = *ising_words_label(words, threadIdx.x, ising_bit_lowest(border));
    const uint32_t site = ising_tiling_site(tiling, &mine->box, root);
    tiles->parent[site] = site;
  }
}

/* Writes the labels of the tile. */
__device__ static inline void write_labels(const struct tile *tile, uint16_t *label)
{
  ushort4 *to = (ushort4 *)(label + (size_t)blockIdx.x * ISING_TILE_LABELS);
  for (uint32_t i = threadIdx.x; i < ISING_TILE_LABELS / PACKED; i += THREADS) {
    const uint4 from = ((const uint4 *)tile->label)[i];
    to[i] = make_ushort4((unsigned short)from.x, (unsigned short)from.y, (unsigned short)from.z,
                         (unsigned short)from.w);
  }
}

template <uint32_t ROUNDS, bool TERMS>
__global__ void __launch_bounds__(THREADS, BLOCKS)
    label_tiles(const __grid_constant__ struct ising_cluster_gpu arguments, size_t first,
                uint32_t time)
{
  extern __shared__ uint4 shared[];
  struct tile *tile = (struct tile *)shared;
  const struct ising_tile_element element = ising_tile_element_of(&arguments, first);
  if (!element.exists)
    return;
  const struct ising_tile_mine mine = ising_tile_mine_of(&arguments.tiling);
  const struct ising_cluster_words words = {
      {tile->bond[0], tile->bond[1], tile->bond[2]}, tile->label, ISING_TILE_WORDS};
  const bool has_field = arguments.rules[element.run].clusters.rule.has_field;
  uint32_t ghost = 0;
  tile->held[threadIdx.x] = 0;
  if (threadIdx.x == 0)
    tile->listed = 0;
  if (mine.exists)
    tile->spins[threadIdx.x] =
        ising_cluster_spins(&arguments.replicas.lattice, element.words, &mine.spot);
  __syncthreads();
  if (mine.exists)
    ghost = bind<ROUNDS, TERMS>(&arguments, &element, tile, &mine, time);
  __syncthreads();
  label_words(&words, tile, &mine);
  if (has_field && mine.exists)
    hold(&words, tile, &mine, ghost);
  __syncthreads();
  write_labels(tile, element.tiles.label);
  if (!mine.exists)
    return;
  write_word(&arguments.tiling, &words, &element, &mine);
  if (has_field)
    element.tiles.held[mine.word] = tile->held[threadIdx.x];
}

/* ---- seams ---- */

template <uint32_t AXIS>
static __global__ void __launch_bounds__(SEAM_THREADS)
    unite_seams(const __grid_constant__ struct ising_cluster_gpu arguments, size_t first,
                uint32_t places)
{
  const struct ising_tile_element element = ising_tile_element_of(&arguments, first);
  const uint32_t place = blockIdx.x * SEAM_THREADS + threadIdx.x;
  if (element.exists && place < places)
    ising_seam_unite(&arguments.tiling, &element.tiles, AXIS, place);
}

/* Passes on to the root of a cluster that one of its parts is joined to the ghost. */
static __global__ void __launch_bounds__(THREADS)
    pass_held(const __grid_constant__ struct ising_cluster_gpu arguments, size_t first)
{
  const struct ising_tile_element element = ising_tile_element_of(&arguments, first);
  if (!element.exists || !arguments.rules[element.run].clusters.rule.has_field)
    return;
  const struct ising_tile_mine mine = ising_tile_mine_of(&arguments.tiling);
  const uint16_t *label = element.tiles.label + (size_t)blockIdx.x * ISING_TILE_LABELS;
  const uint32_t joined = mine.exists ? ising_tile_joined(&element, &mine) : 0;
  ising_tile_for_border(&mine, joined, label, [&](uint32_t number) {
    bool own;
    uint32_t bit;
    const uint32_t root = ising_tile_root(&arguments, &element, &mine, number, &own);
    const uint32_t site = ising_tiling_site(&arguments.tiling, &mine.box, number);
    const uint32_t *held = ising_tile_held(&arguments, &element, site, &bit);
    if (own || (*(const volatile uint32_t *)held >> bit & 1) == 0)
      return;
    uint32_t *of_root = ising_tile_held(&arguments, &element, root, &bit);
    atomicOr(of_root, 1u << bit);
  });
}

/* ---- flips ---- */

/* Sets the flip of a cluster at the border to that of its name. */
template <uint32_t ROUNDS>
__device__ static inline void
flip_border(const struct ising_cluster_gpu *arguments, const struct ising_tile_element *element,
            const struct ising_tile_mine *mine, const struct gpumc_philox_group *group,
            bool has_field, uint32_t number, uint32_t *flips)
{
  bool own;
  uint32_t bit;
  const uint32_t root = ising_tile_root(arguments, element, mine, number, &own);
  if (own)
    return;
  uint32_t is = ising_cluster_flips<ROUNDS>(group, root & ~31u) >> root % 32 & 1;
  if (has_field) {
    const uint32_t *held = ising_tile_held(arguments, element, root, &bit);
    is &= ~(*held >> bit) & 1;
  }
  const uint32_t of_number = 1u << number % ISING_CLUSTER_WORD;
  if (is != 0)
    atomicOr(&flips[number / ISING_CLUSTER_WORD], of_number);
  else
    atomicAnd(&flips[number / ISING_CLUSTER_WORD], ~of_number);
}

template <uint32_t ROUNDS>
__global__ void __launch_bounds__(THREADS)
    flip_tiles(const __grid_constant__ struct ising_cluster_gpu arguments, size_t first,
               uint32_t time)
{
  __shared__ uint16_t label[ISING_TILE_LABELS] __attribute__((aligned(16)));
  __shared__ uint32_t flips[ISING_TILE_WORDS];
  const struct ising_tile_element element = ising_tile_element_of(&arguments, first);
  if (!element.exists)
    return;
  const struct ising_tile_mine mine = ising_tile_mine_of(&arguments.tiling);
  const struct lattice_batch *batch = &arguments.replicas.batch;
  const bool has_field = arguments.rules[element.run].clusters.rule.has_field;
  const struct gpumc_philox_group group =
      gpumc_philox_group(lattice_batch_random(batch, element.run),
                         lattice_batch_replica(batch, element.replica), time);
  const uint4 *from = (const uint4 *)(element.tiles.label + (size_t)blockIdx.x * ISING_TILE_LABELS);
  for (uint32_t i = threadIdx.x; i < sizeof label / sizeof *from; i += THREADS)
    ((uint4 *)label)[i] = from[i];
  const uint32_t joined = mine.exists ? ising_tile_joined(&element, &mine) : 0;
  if (mine.exists)
    flips[threadIdx.x] = ising_cluster_flips<ROUNDS>(&group, mine.spot.site) &
                         ~(has_field ? element.tiles.held[mine.word] : 0);
  ising_tile_for_border(&mine, joined, label, [&](uint32_t number) {
    flip_border<ROUNDS>(&arguments, &element, &mine, &group, has_field, number, flips);
  });
  __syncthreads();
  if (!mine.exists)
    return;
  ising_cluster_flip(
      &arguments.replicas.lattice, element.words, &mine.spot,
      ising_cluster_flipped(label, ISING_TILE_WORDS, flips, threadIdx.x, mine.place.sites, joined));
}

/* ---- sweeps ---- */

typedef void tiles_kernel(struct ising_cluster_gpu, size_t, uint32_t);

template <uint32_t AXIS>
static enum gpumc_status unite(const struct ising_cluster_gpu *arguments, size_t first,
                               size_t count, struct gpumc_error *error)
{
  const size_t places = ising_seam_places(&arguments->tiling, AXIS);
  const dim3 blocks((uint32_t)lattice_parts(places, SEAM_THREADS), (uint32_t)count);
  if (places == 0)
    return GPUMC_OK;
  unite_seams<AXIS><<<blocks, SEAM_THREADS, 0, (cudaStream_t)arguments->replicas.batch.stream>>>(
      *arguments, first, (uint32_t)places);
  return GPUMC_CUDA_LAUNCHED("unite_seams", error);
}

extern "C" enum gpumc_status ising_cluster_tiles_label(const struct ising_cluster_gpu *arguments,
                                                       size_t first, size_t count, uint32_t time,
                                                       struct gpumc_error *error)
{
  const struct lattice_batch *batch = &arguments->replicas.batch;
  const bool terms = arguments->terms != NULL;
  tiles_kernel *of_seven = terms ? label_tiles<7, true> : label_tiles<7, false>;
  tiles_kernel *of_ten = terms ? label_tiles<10, true> : label_tiles<10, false>;
  tiles_kernel *label = batch->rounds == 7 ? of_seven : of_ten;
  cudaStream_t stream = (cudaStream_t)batch->stream;
  const dim3 grid(ising_tiling_tiles(&arguments->tiling), (uint32_t)count);
  GPUMC_TRY(GPUMC_CUDA(cudaFuncSetAttribute(label, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            (int)sizeof(struct tile)),
                       error));
  label<<<grid, THREADS, sizeof(struct tile), stream>>>(*arguments, first, time);
  GPUMC_TRY(GPUMC_CUDA_LAUNCHED("label_tiles", error));
  GPUMC_TRY(unite<0>(arguments, first, count, error));
  GPUMC_TRY(unite<1>(arguments, first, count, error));
  GPUMC_TRY(unite<2>(arguments, first, count, error));
  if (!arguments->fields)
    return GPUMC_OK;
  pass_held<<<grid, THREADS, 0, stream>>>(*arguments, first);
  return GPUMC_CUDA_LAUNCHED("pass_held", error);
}

/* Sweeps `count` replicas of all runs from number `first` on, once. */
static enum gpumc_status sweep(const struct ising_cluster_gpu *arguments, size_t first,
                               size_t count, uint32_t time, struct gpumc_error *error)
{
  const struct lattice_batch *batch = &arguments->replicas.batch;
  const dim3 grid(ising_tiling_tiles(&arguments->tiling), (uint32_t)count);
  tiles_kernel *flip = batch->rounds == 7 ? flip_tiles<7> : flip_tiles<10>;
  GPUMC_TRY(ising_cluster_tiles_label(arguments, first, count, time, error));
  flip<<<grid, THREADS, 0, (cudaStream_t)batch->stream>>>(*arguments, first, time);
  return GPUMC_CUDA_LAUNCHED("flip_tiles", error);
}

extern "C" enum gpumc_status
ising_cluster_tiles_sweep(const struct ising_cluster_gpu *arguments, struct gpumc_error *error)
{
  const struct lattice_batch *batch = &arguments->replicas.batch;
  const size_t replicas = batch->runs * batch->capacity;
  const size_t most = ising_cluster_tiles_together(ising_cluster_tiles_bytes(arguments), replicas);
  for (size_t first = 0; first < replicas; first += most) {
    const size_t count = replicas - first < most ? replicas - first : most;
    for (uint32_t s = 0; s < arguments->sweeps; s++)
      GPUMC_TRY(sweep(arguments, first, count, batch->time + s, error));
  }
  return GPUMC_OK;
}
