/* Swendsen-Wang for replicas whose labels fit into shared memory: a block of threads has one or
 * several of them for all sweeps of a call, a thread some of their words (cluster_words.h).
 *
 * nvcc: --compress-mode=size */
#include "models/ising/cluster/cluster_list.cuh"
#include "models/ising/cluster/cluster_word.cuh"

enum {
  WARP = 32,
  THREADS_MAXIMUM = 512,
  BLOCKS = 3,       /* for whose threads a multiprocessor must have registers */
  WORDS_BUSY = 128, /* of a block of threads, from several small replicas */
  LISTED = 4,       /* bonds of a word on the list, on average */
  STATIC_BYTES = 16,
  /* Numbers for each word: its labels, spins, bonds, ghost, flips, and the list. */
  NUMBERS = ISING_CLUSTER_WORD + ISING_CLUSTER_AXES + 3 + LISTED
};

/* How replicas are assigned to blocks of threads. Decides no result. */
struct shape {
  uint32_t replicas, threads;
  struct gpumc_divisor words, row, rows; /* of a replica, a row; rows of a plane */
  uint32_t stride;                       /* words of a block, a multiple of a warp */
  size_t shared_bytes;
};

static struct shape choose_shape(const struct ising_cluster_gpu *arguments)
{
  const uint32_t words = (uint32_t)ising_tiling_words(&arguments->tiling);
  const uint32_t wanted = arguments->replicas.block_threads;
  struct shape shape;
  shape.replicas = words < WORDS_BUSY ? WORDS_BUSY / words : 1;
  shape.words = gpumc_divisor_make(words);
  shape.row = gpumc_divisor_make(arguments->tiling.size[0]);
  shape.rows = gpumc_divisor_make(arguments->tiling.size[1]);
  shape.stride = (uint32_t)lattice_parts(shape.replicas * words, WARP) * WARP;
  shape.threads = wanted > 0 ? (uint32_t)lattice_parts(wanted, WARP) * WARP : shape.stride;
  shape.threads = shape.threads < THREADS_MAXIMUM ? shape.threads : (uint32_t)THREADS_MAXIMUM;
  shape.shared_bytes = NUMBERS * sizeof(uint32_t) * shape.stride;
  return shape;
}

extern "C" int ising_cluster_block_fits(const struct ising_cluster_gpu *arguments)
{
  return ising_tiling_words(&arguments->tiling) <= arguments->replicas.shared_bytes / WARP &&
         choose_shape(arguments).shared_bytes + STATIC_BYTES <= arguments->replicas.shared_bytes;
}

/* The replicas of a block of threads: words of one after those of another. */
struct memory {
  struct ising_cluster_words words;
  uint32_t *spins, *ghost, *flips;
  struct ising_cluster_list list;
};

/* A word of a thread, and its replica; `exists`: there is such a replica. */
struct mine {
  struct ising_cluster_place place;
  uint32_t replica;
  bool exists;
};

struct block {
  const struct ising_cluster_gpu *arguments;
  const struct shape *shape;
  struct ising_cluster_box box;
  struct memory memory;
  uint32_t run, first, end; /* its replicas: numbers first .. end - 1 of the run */
};

__device__ static inline struct memory
memory_of(uint32_t *shared, uint32_t stride, uint32_t *listed)
{
  struct memory memory;
  memory.words.label = shared;
  memory.words.stride = stride;
  uint32_t *array = shared + ISING_CLUSTER_WORD * stride;
#pragma unroll
  for (uint32_t d = 0; d < ISING_CLUSTER_AXES; d++, array += stride)
    memory.words.bond[d] = array;
  memory.spins = array;
  memory.ghost = array + stride;
  memory.flips = array + 2 * stride;
  memory.list = {listed, array + 3 * stride, LISTED * stride};
  return memory;
}

__device__ static inline struct ising_cluster_box
box_of(const struct ising_cluster_tiling *tiling, const struct shape *shape)
{
  struct ising_cluster_box box;
  box.row = shape->row;
  box.rows = shape->rows;
  box.axes = tiling->axes;
  box.around = (1u << ISING_CLUSTER_AXES) - 1;
  box.words = tiling->size[0];
  box.last = ising_tiling_last(tiling);
#pragma unroll
  for (uint32_t d = 0; d < ISING_CLUSTER_AXES; d++) {
    box.size[d] = tiling->size[d];
    box.first[d] = 0;
  }
  return box;
}

/* Returns word w of the block. */
__device__ static inline struct mine word_of(const struct block *block, uint32_t w)
{
  struct mine mine;
  const uint32_t r = gpumc_divide(w, block->shape->words), begin = r * block->shape->words.value;
  mine.place = ising_box_place(&block->box, w - begin, begin);
  mine.replica = block->first + r;
  mine.exists = mine.replica < block->end;
  return mine;
}

/* Calls `step` for each word of the thread, then waits for the others. */
template <typename STEP>
__device__ static inline void for_words(const struct block *block, STEP step)
{
  const uint32_t words = block->shape->replicas * block->shape->words.value;
  for (uint32_t w = threadIdx.x; w < words; w += blockDim.x) {
    const struct mine mine = word_of(block, w);
    if (mine.exists)
      step(mine);
  }
  __syncthreads();
}

__device__ static inline struct ising_cluster_spot
spot_of(const struct block *block, const struct ising_cluster_place *place)
{
  return ising_cluster_spot_of(&block->arguments->tiling, place->at[0], place->at[1], place->at[2]);
}

__device__ static inline uint32_t *replica_of(const struct block *block, const struct mine *mine)
{
  const struct ising_spin_replicas *replicas = &block->arguments->replicas;
  const size_t element = block->run * replicas->batch.capacity + mine->replica;
  return replicas->words + element * 2 * ISING_SPIN_WORDS * replicas->lattice.blocks;
}

template <uint32_t ROUNDS, bool TERMS>
__device__ static inline void
bind(const struct block *block, const struct mine *mine, uint32_t time)
{
  const struct memory *memory = &block->memory;
  const uint32_t w = mine->place.number;
  const struct ising_cluster_spot spot = spot_of(block, &mine->place);
  const struct ising_cluster_sweep sweep =
      ising_cluster_sweep_of(block->arguments, block->run, mine->replica, time);
  struct ising_cluster_near near = {memory->spins[w], {0, 0, 0}};
#pragma unroll
  for (uint32_t d = 0; d < ISING_CLUSTER_AXES; d++)
    if (d < block->box.axes)
      near.next[d] = memory->spins[ising_box_after(&block->box, &mine->place, d)];
  near.next[0] = ising_cluster_next_along_x(&spot, near.here, near.next[0]);
  const struct ising_cluster_bonds bonds = ising_cluster_bind<ROUNDS, TERMS>(&sweep, &spot, &near);
#pragma unroll
  for (uint32_t d = 0; d < ISING_CLUSTER_AXES; d++)
    if (d < block->box.axes)
      memory->words.bond[d][w] = bonds.axis[d];
  memory->ghost[w] = bonds.ghost;
  memory->flips[w] = ising_cluster_flips<ROUNDS>(&sweep.group, spot.site);
}

/* Unites runs by the bonds that are left. */
__device__ static inline void join(const struct block *block)
{
  const struct ising_cluster_words *words = &block->memory.words;
  const struct ising_cluster_list *list = &block->memory.list;
  if (ising_list_holds_all(list)) {
    ising_list_take(list, [&](uint32_t axis, uint32_t word, uint32_t bit) {
      const struct mine mine = word_of(block, word);
      ising_words_unite(&block->box, words, &mine.place, axis, bit);
    });
    __syncthreads();
    return;
  }
  for_words(block, [&](const struct mine &mine) {
    const struct ising_cluster_left left = ising_words_left(&block->box, words, &mine.place);
    ising_words_join(&block->box, words, &mine.place, &left);
  });
}

/* Makes roots of all labels. */
__device__ static inline void shorten(const struct block *block)
{
  bool changed;
  do {
    changed = false;
    for_words(block, [&](const struct mine &mine) {
      changed |= ising_words_shorten(&block->memory.words, &mine.place);
    });
  } while (__syncthreads_or(changed));
}

/* Takes the flips of clusters that are joined to the ghost back. */
__device__ static inline void
hold(const struct memory *memory, const struct ising_cluster_place *place)
{
  const uint32_t joined = ising_words_joined(&memory->words, place->number, place->sites);
  for (uint32_t ghost = memory->ghost[place->number]; ghost != 0;) {
    const uint32_t start = ising_run_start(joined, ising_bit_lowest(ghost));
    const uint32_t root = *ising_words_label(&memory->words, place->number, start);
    atomicAnd(&memory->flips[root / ISING_CLUSTER_WORD], ~(1u << root % ISING_CLUSTER_WORD));
    ghost &= ~ising_runs_sites(joined, 1u << start);
  }
}

template <uint32_t ROUNDS, bool TERMS>
__global__ void __launch_bounds__(THREADS_MAXIMUM, BLOCKS)
    sweep_block(const __grid_constant__ struct ising_cluster_gpu arguments,
                const __grid_constant__ struct shape shape)
{
  extern __shared__ uint32_t shared[];
  __shared__ uint32_t listed;
  const struct lattice_batch *batch = &arguments.replicas.batch;
  const struct ising_spin_gpu_lattice *lattice = &arguments.replicas.lattice;
  const uint32_t size = batch->size[blockIdx.y], first = blockIdx.x * shape.replicas;
  if (first >= size)
    return;
  struct block block = {&arguments,
                        &shape,
                        box_of(&arguments.tiling, &shape),
                        memory_of(shared, shape.stride, &listed),
                        blockIdx.y,
                        first,
                        size};
  const struct memory *memory = &block.memory;
  const bool has_field = arguments.rules[blockIdx.y].clusters.rule.has_field;
  for_words(&block, [&](const struct mine &mine) {
    const struct ising_cluster_spot spot = spot_of(&block, &mine.place);
    memory->spins[mine.place.number] =
        ising_cluster_spins(lattice, replica_of(&block, &mine), &spot);
  });
  for (uint32_t s = 0; s < arguments.sweeps; s++) {
    if (threadIdx.x == 0)
      listed = 0;
    for_words(&block, [&](const struct mine &mine) {
      bind<ROUNDS, TERMS>(&block, &mine, batch->time + s);
    });
    for_words(&block, [&](const struct mine &mine) {
      const struct ising_cluster_left left =
          ising_words_begin(&block.box, &memory->words, &mine.place);
      ising_list_put(&memory->list, mine.place.number, &left);
    });
    for (int i = 0; i < ISING_CLUSTER_SHORTENED; i++)
      for_words(&block, [&](const struct mine &mine) {
        (void)ising_words_shorten(&memory->words, &mine.place);
      });
    join(&block);
    shorten(&block);
    if (has_field)
      for_words(&block, [&](const struct mine &mine) { hold(memory, &mine.place); });
    for_words(&block, [&](const struct mine &mine) {
      const uint32_t w = mine.place.number, sites = mine.place.sites;
      memory->spins[w] ^=
          ising_cluster_flipped(memory->words.label, memory->words.stride, memory->flips, w, sites,
                                ising_words_joined(&memory->words, w, sites));
    });
  }
  for_words(&block, [&](const struct mine &mine) {
    const struct ising_cluster_spot spot = spot_of(&block, &mine.place);
    uint32_t *replica = replica_of(&block, &mine);
    ising_cluster_flip(lattice, replica, &spot,
                       memory->spins[mine.place.number] ^
                           ising_cluster_spins(lattice, replica, &spot));
  });
}

typedef void sweep_kernel(struct ising_cluster_gpu, struct shape);

template <uint32_t ROUNDS> static sweep_kernel *choose_kernel(bool terms)
{
  return terms ? sweep_block<ROUNDS, true> : sweep_block<ROUNDS, false>;
}

extern "C" enum gpumc_status
ising_cluster_block_sweep(const struct ising_cluster_gpu *arguments, struct gpumc_error *error)
{
  const struct lattice_batch *batch = &arguments->replicas.batch;
  const struct shape shape = choose_shape(arguments);
  const bool terms = arguments->terms != NULL;
  sweep_kernel *kernel = batch->rounds == 7 ? choose_kernel<7>(terms) : choose_kernel<10>(terms);
  GPUMC_TRY(GPUMC_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            (int)shape.shared_bytes),
                       error));
  const dim3 grid((uint32_t)lattice_parts(batch->capacity, shape.replicas), batch->runs);
  kernel<<<grid, shape.threads, shape.shared_bytes, (cudaStream_t)batch->stream>>>(*arguments,
                                                                                   shape);
  return GPUMC_CUDA_LAUNCHED("sweep_block", error);
}
