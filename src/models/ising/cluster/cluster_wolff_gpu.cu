/* Wolff's clusters on a GPU: a block of threads has one replica after the other, and its cluster
 * grows by all bonds of the sites that came last at once. Nothing depends on their order.
 *
 * Spins and the cluster are bits in the order of the replica's words, by colour; the cluster's
 * sites are in a queue, in the order in which they came. All are in shared memory if they fit. */
#include "models/ising/cluster/cluster_word.cuh"

enum {
  THREADS = 128,
  THREADS_MAXIMUM = 1024,
  WARP = 32,
  BLOCKS = 8,                /* of a multiprocessor, when they do not have shared memory only */
  SHARED_MAXIMUM = 48 << 10, /* bytes; a queue that takes more is in global memory */
};

/* Decides no result. */
struct shape {
  uint32_t threads, blocks;
  struct gpumc_divisor row, rows, ends; /* sites of a row, rows of a plane; bonds of a site */
  uint32_t words;                       /* of a replica */
  bool shared_bits, shared_queue;
  size_t shared_bytes, scratch_bytes; /* of a block of threads */
};

static struct shape choose_shape(const struct ising_cluster_gpu *arguments, size_t replicas)
{
  const struct ising_cluster_tiling *tiling = &arguments->tiling;
  const struct ising_spin_replicas *all = &arguments->replicas;
  const size_t queue = sizeof(uint32_t) * 2 * all->lattice.colour;
  struct shape shape;
  shape.words = 2 * ISING_SPIN_WORDS * all->lattice.blocks;
  const size_t bits = sizeof(uint32_t) * shape.words;
  shape.row = gpumc_divisor_make(tiling->length[0]);
  shape.rows = gpumc_divisor_make(tiling->length[1]);
  shape.ends = gpumc_divisor_make(2 * tiling->axes + 1);
  shape.shared_bits = 2 * bits <= SHARED_MAXIMUM;
  shape.shared_queue = 2 * bits + queue <= SHARED_MAXIMUM;
  shape.shared_bytes = (shape.shared_bits ? 2 * bits : 0) + (shape.shared_queue ? queue : 0);
  shape.scratch_bytes = (shape.shared_bits ? 0 : bits) + (shape.shared_queue ? 0 : queue);
  const size_t most = shape.scratch_bytes > 0 ? (size_t)BLOCKS * all->multiprocessors : replicas;
  shape.blocks = (uint32_t)(replicas < most ? replicas : most);
  shape.threads = all->block_threads > 0 ? (uint32_t)lattice_parts(all->block_threads, WARP) * WARP
                                         : (uint32_t)THREADS;
  shape.threads = shape.threads < THREADS_MAXIMUM ? shape.threads : (uint32_t)THREADS_MAXIMUM;
  return shape;
}

extern "C" size_t
ising_cluster_wolff_scratch(const struct ising_cluster_gpu *arguments, size_t replicas)
{
  const struct shape shape = choose_shape(arguments, replicas);
  return shape.blocks * shape.scratch_bytes;
}

/* Shared by the threads of a block. */
struct growth {
  uint32_t size;   /* sites of the cluster */
  uint32_t joined; /* to the ghost */
};

/* words[words], of the replica, and cluster[words]: bits by colour. */
struct work {
  const struct shape *shape;
  struct ising_cluster_sweep sweep;
  uint32_t *words, *cluster, *queue;
  struct growth *growth;
};

struct place {
  uint32_t word, bit;
};

__device__ static inline struct place place_of(const struct work *work, uint32_t site)
{
  const struct ising_spin_gpu_lattice *lattice = &work->sweep.arguments->replicas.lattice;
  const uint32_t line = gpumc_divide(site, work->shape->row);
  const uint32_t z = gpumc_divide(line, work->shape->rows);
  const uint32_t x = site - line * work->shape->row.value;
  const uint32_t y = line - z * work->shape->rows.value;
  const uint32_t colour = (x + y + z) & 1, k = line * lattice->row + x / 2;
  return {colour * ISING_SPIN_WORDS * lattice->blocks + k / ISING_SPIN_WORD_BITS,
          1u << k % ISING_SPIN_WORD_BITS};
}

/* Returns the site one step on along an axis, or back. */
__device__ static inline uint32_t
beside(const struct work *work, uint32_t site, uint32_t axis, bool forward)
{
  const uint32_t *length = work->sweep.arguments->tiling.length;
  const uint32_t line = gpumc_divide(site, work->shape->row);
  const uint32_t z = gpumc_divide(line, work->shape->rows);
  const uint32_t at = axis == 0   ? site - line * work->shape->row.value
                      : axis == 1 ? line - z * work->shape->rows.value
                                  : z;
  const uint32_t extent = axis == 0 ? length[0] : axis == 1 ? length[1] : length[2];
  const uint32_t step = axis == 0 ? 1 : axis == 1 ? length[0] : length[0] * length[1];
  if (forward)
    return at + 1 < extent ? site + step : site - step * at;
  return at > 0 ? site - step : site + step * (extent - 1);
}

template <uint32_t ROUNDS>
__device__ static inline uint32_t
draw(const struct work *work, uint32_t label, uint32_t owner, uint32_t axis)
{
  const struct ising_cluster_sweep *sweep = &work->sweep;
  const bool paired = sweep->run->rule.paired;
  const struct gpumc_philox_word word =
      gpumc_philox_word(&sweep->group, lattice_cluster_counter(paired, owner));
  uint32_t number[4];
  gpumc_philox_draw<ROUNDS>(&sweep->group, &word,
                            gpumc_philox_label(sweep->group.key, word.first, label), number);
  return ising_cluster_pick(number, lattice_cluster_word(paired, owner, axis));
}

/* Returns whether the bond that `owner` has along `axis` is active. */
template <uint32_t ROUNDS>
__device__ static inline bool
is_active(const struct work *work, uint32_t label, uint32_t owner, uint32_t axis, bool alike)
{
  const struct ising_cluster_sweep *sweep = &work->sweep;
  const struct ising_cluster_run *run = sweep->run;
  const size_t sites = 2 * (size_t)sweep->arguments->replicas.lattice.colour;
  if (sweep->terms == NULL && (alike != (run->alike != 0) || run->bond_any == 0))
    return false;
  const uint32_t u = draw<ROUNDS>(work, label, owner, axis);
  if (sweep->terms == NULL)
    return u <= run->bond_last;
  return ising_cluster_active(&run->rule, sweep->terms[axis * sites + owner], alike, u);
}

template <uint32_t ROUNDS>
__device__ static inline bool
is_held(const struct work *work, uint32_t label, uint32_t site, bool up)
{
  const struct ising_cluster_sweep *sweep = &work->sweep;
  const struct ising_cluster_run *run = sweep->run;
  const struct ising_cluster_gpu *arguments = sweep->arguments;
  if (!arguments->random_fields && (up != (run->down == 0) || run->ghost_any == 0))
    return false;
  const uint32_t u = draw<ROUNDS>(work, label, site, LATTICE_CLUSTER_GHOST);
  if (!arguments->random_fields)
    return u <= run->ghost_last;
  const size_t field = arguments->tiling.axes * 2 * (size_t)arguments->replicas.lattice.colour;
  return ising_cluster_active(&run->rule, sweep->terms[field + site], up, u);
}

/* Adds a site to the cluster unless it is there. */
__device__ static inline void add(const struct work *work, uint32_t site, struct place place)
{
  if ((atomicOr(&work->cluster[place.word], place.bit) & place.bit) == 0)
    work->queue[atomicAdd(&work->growth->size, 1)] = site;
}

/* Follows one of the bonds of a site of the cluster: along each axis, on and back, and that with
 * the ghost. */
template <uint32_t ROUNDS>
__device__ static inline void
follow(const struct work *work, uint32_t label, uint32_t site, uint32_t end)
{
  const struct ising_cluster_sweep *sweep = &work->sweep;
  const uint32_t axis = end / 2;
  const struct place here = place_of(work, site);
  const bool up = (work->words[here.word] & here.bit) != 0;
  if (axis == sweep->arguments->tiling.axes) {
    if (sweep->run->rule.has_field && is_held<ROUNDS>(work, label, site, up))
      work->growth->joined = 1;
    return;
  }
  const bool forward = end % 2 == 0;
  const uint32_t other = beside(work, site, axis, forward);
  const struct place there = place_of(work, other);
  const bool alike = ((work->words[there.word] & there.bit) != 0) == up;
  if ((*(volatile uint32_t *)&work->cluster[there.word] & there.bit) == 0 &&
      is_active<ROUNDS>(work, label, forward ? site : other, axis, alike))
    add(work, other, there);
}

/* Lets cluster c grow until it is complete or joined to the ghost. Returns its size. */
template <uint32_t ROUNDS>
__device__ static inline uint32_t grow(const struct work *work, uint32_t c)
{
  const struct ising_cluster_sweep *sweep = &work->sweep;
  const uint32_t label = lattice_wolff_label(LATTICE_WOLFF_BONDS + c);
  volatile struct growth *growth = work->growth;
  if (threadIdx.x == 0) {
    const uint64_t sites = 2 * (uint64_t)sweep->arguments->replicas.lattice.colour;
    const uint32_t seed = lattice_wolff_seed(sweep->random, sweep->replica, sweep->time, c, sites);
    growth->size = growth->joined = 0;
    add(work, seed, place_of(work, seed));
  }
  __syncthreads();
  uint32_t first = 0, size = growth->size;
  while (first < size) {
    const struct gpumc_divisor ends = work->shape->ends;
    __syncthreads();
    for (size_t i = threadIdx.x; i < (size_t)(size - first) * ends.value; i += blockDim.x) {
      const uint32_t at = (uint32_t)(i / ends.value);
      follow<ROUNDS>(work, label, work->queue[first + at], (uint32_t)(i - at * ends.value));
    }
    __syncthreads();
    first = growth->joined != 0 ? growth->size : size;
    size = growth->size;
  }
  return size;
}

/* Flips the cluster, and empties it. */
__device__ static inline void flip(const struct work *work, uint32_t size)
{
  const bool turns = work->growth->joined == 0;
  for (uint32_t i = threadIdx.x; i < size; i += blockDim.x) {
    const struct place place = place_of(work, work->queue[i]);
    atomicAnd(&work->cluster[place.word], ~place.bit);
    if (turns)
      atomicXor(&work->words[place.word], place.bit);
  }
  __syncthreads();
}

/* Copies the words of a replica. */
__device__ static inline void copy(const struct work *work, uint32_t *to, const uint32_t *from)
{
  for (uint32_t w = threadIdx.x; w < work->shape->words; w += blockDim.x)
    to[w] = from[w];
  __syncthreads();
}

/* Takes the memory of a block of threads. */
__device__ static inline void
take_memory(const struct ising_cluster_gpu *arguments, uint32_t *shared, struct work *work)
{
  const struct shape *shape = work->shape;
  uint32_t *scratch =
      (uint32_t *)((uint8_t *)arguments->scratch + blockIdx.x * shape->scratch_bytes);
  if (shape->shared_bits) {
    work->words = shared;
    work->cluster = shared + shape->words;
    work->queue = shape->shared_queue ? shared + 2 * (size_t)shape->words : scratch;
  } else {
    work->cluster = scratch;
    work->queue = scratch + shape->words;
  }
  for (uint32_t w = threadIdx.x; w < shape->words; w += blockDim.x)
    work->cluster[w] = 0;
  __syncthreads();
}

template <uint32_t ROUNDS>
__global__ void __launch_bounds__(THREADS_MAXIMUM)
    sweep_wolff(const __grid_constant__ struct ising_cluster_gpu arguments,
                const __grid_constant__ struct shape shape,
                const __grid_constant__ struct lattice_wolff_part part)
{
  extern __shared__ uint32_t shared[];
  __shared__ struct growth growth;
  const struct lattice_batch *batch = &arguments.replicas.batch;
  struct work work = {&shape, {}, NULL, NULL, NULL, &growth};
  take_memory(&arguments, shared, &work);
  for (size_t i = blockIdx.x; i < part.count * batch->capacity; i += gridDim.x) {
    const uint32_t of_part = (uint32_t)(i / batch->capacity), run = part.first + of_part;
    const uint32_t replica = (uint32_t)(i - of_part * batch->capacity);
    uint32_t *stored = arguments.replicas.words + (run * batch->capacity + replica) * shape.words;
    uint64_t flipped = 0;
    if (replica >= batch->size[run])
      continue;
    if (shape.shared_bits)
      copy(&work, work.words, stored);
    else
      work.words = stored;
    for (uint32_t s = 0; s < arguments.sweeps; s++) {
      work.sweep = ising_cluster_sweep_of(&arguments, run, replica, batch->time + s);
      uint64_t of_sweep = 0;
      for (uint32_t c = 0; c < part.clusters[of_part] && of_sweep < part.limit; c++) {
        const uint32_t size = grow<ROUNDS>(&work, c);
        of_sweep += growth.joined != 0 ? 0 : size;
        flip(&work, size);
      }
      flipped += of_sweep;
    }
    if (shape.shared_bits)
      copy(&work, stored, work.words);
    if (threadIdx.x == 0)
      atomicAdd((unsigned long long *)&arguments.accepted[run], (unsigned long long)flipped);
  }
}

extern "C" enum gpumc_status ising_cluster_wolff_sweep(const struct ising_cluster_gpu *arguments,
                                                       const struct lattice_wolff_part *part,
                                                       struct gpumc_error *error)
{
  const struct lattice_batch *batch = &arguments->replicas.batch;
  const struct shape shape = choose_shape(arguments, part->count * batch->capacity);
  void (*kernel)(struct ising_cluster_gpu, struct shape, struct lattice_wolff_part) =
      batch->rounds == 7 ? sweep_wolff<7> : sweep_wolff<10>;
  kernel<<<shape.blocks, shape.threads, shape.shared_bytes, (cudaStream_t)batch->stream>>>(
      *arguments, shape, *part);
  return GPUMC_CUDA_LAUNCHED("sweep_wolff", error);
}
