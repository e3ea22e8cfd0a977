/* Exchanges of clusters between two replicas on a GPU: a block of threads takes one pair after
 * another, 32 spins of a word at a time. A cluster grows from its seed along links until no word
 * changes, so the order in which threads look at words decides nothing. */
#include "models/ising/ising_exchange.cuh"
#include "models/ising/spin/spin_exchange_gpu.h"
#include "models/ising/spin/spin_general.cuh"

enum { WARP = 32, THREADS_MAXIMUM = 256 };

/* A pair of replicas and its arrays: cluster and differ [colour 2][words of a colour], and
 * link[colour 2][2 d][words of a colour], where a spin and its neighbour in a direction belong
 * together. */
struct exchange_work {
  const struct ising_spin_gpu_exchange *with;
  uint32_t run, replica, n_words;
  const uint8_t *sample;
  uint32_t *one, *other;
  uint32_t *cluster, *differ, *link;
};

/* Sums and places that threads of the block share. */
struct exchange_shared {
  uint32_t before[THREADS_MAXIMUM + 1]; /* spins that differ, in the parts of the threads before */
  uint32_t exchanged;
};

__device__ static inline uint32_t *
link_of(const struct exchange_work *work, uint32_t colour, uint32_t direction)
{
  const size_t directions = 2 * work->with->replicas.lattice.dimension;
  return work->link + (colour * directions + direction) * work->n_words;
}

/* Returns whether the bond of spin `bit` of word w of colour 0 joins its ends, at which the
 * replicas differ. `unlike`: whether its spins do; `negative`: the sign of its coupling, if
 * couplings are signs. */
__device__ static inline bool joins(const struct exchange_work *work, uint32_t w, uint32_t bit,
                                    uint32_t direction, bool unlike, bool negative)
{
  const struct ising_spin_gpu_exchange *with = work->with;
  const struct ising_spin_gpu_lattice *lattice = &with->replicas.lattice;
  const struct lattice_batch *batch = &with->replicas.batch;
  const bool terms = with->tables.kind == ISING_SPIN_TERMS;
  int32_t coupling = negative ? -1 : 1;
  if (terms)
    coupling = ising_spin_terms(
        lattice, work->sample, 0,
        direction)[(w % ISING_SPIN_WORDS * ISING_SPIN_WORD_BITS + bit) * (size_t)lattice->blocks +
                   w / ISING_SPIN_WORDS];
  if (with->launch.activated == 0)
    return coupling != 0;
  const double beta = with->launch.beta[work->run];
  const double gain = beta * with->launch.coupling * (double)coupling;
  if (unlike ? !(gain < 0.0) : !(gain > 0.0))
    return false;
  const uint64_t threshold =
      terms ? ising_exchange_threshold(beta, (double)coupling * with->launch.coupling)
            : with->launch.threshold[work->run];
  uint32_t word[4];
  gpumc_random_draw(lattice_batch_random(batch, with->launch.first + work->run),
                    w * ISING_SPIN_WORD_BITS + bit, lattice_batch_replica(batch, work->replica),
                    with->launch.time, ising_exchange_draw(direction), word);
  const uint32_t u = (direction & 2) == 0 ? ((direction & 1) == 0 ? word[0] : word[1])
                                          : ((direction & 1) == 0 ? word[2] : word[3]);
  return u >= threshold;
}

/* Finds the links of word w of colour 0; a warp, each thread one spin. */
__device__ static inline void make_links_of(const struct exchange_work *work, uint32_t w)
{
  const struct ising_spin_gpu_lattice *lattice = &work->with->replicas.lattice;
  const uint32_t n_words = work->n_words, bit = threadIdx.x % WARP;
  const struct ising_spin_near differ = ising_spin_near_of(lattice, work->differ + n_words, 0, w);
  const struct ising_spin_near spins = ising_spin_near_of(lattice, work->one + n_words, 0, w);
  const bool signs = work->with->tables.kind == ISING_SPIN_SIGNS;
#pragma unroll
  for (uint32_t d = 0; d < GPUMC_NEIGHBOURS_MAXIMUM; d++) {
    if (d >= 2 * lattice->dimension)
      break;
    const uint32_t both = work->differ[w] & differ.neighbour[d] & differ.valid;
    const uint32_t unlike = work->one[w] ^ spins.neighbour[d];
    const uint32_t negative = signs ? ising_spin_signs(lattice, work->sample, 0, d)[w] : 0;
    const bool joined = (both >> bit & 1) != 0 && joins(work, w, bit, d, (unlike >> bit & 1) != 0,
                                                        (negative >> bit & 1) != 0);
    const uint32_t links = __ballot_sync(UINT32_MAX, joined);
    if (bit == 0)
      link_of(work, 0, d)[w] = links;
  }
}

/* The links of colour 1 are those of colour 0 from their other ends. */
__device__ static inline void make_links(const struct exchange_work *work)
{
  const struct ising_spin_gpu_lattice *lattice = &work->with->replicas.lattice;
  for (uint32_t w = threadIdx.x / WARP; w < work->n_words; w += blockDim.x / WARP)
    make_links_of(work, w);
  __syncthreads();
  for (uint32_t w = threadIdx.x; w < work->n_words; w += blockDim.x)
#pragma unroll
    for (uint32_t d = 0; d < GPUMC_NEIGHBOURS_MAXIMUM; d++)
      if (d < 2 * lattice->dimension) {
        const struct ising_spin_near near =
            ising_spin_near_of(lattice, link_of(work, 0, ising_exchange_reverse(d)), 1, w);
        link_of(work, 1, d)[w] = near.neighbour[d] & near.valid;
      }
}

/* The words from `first` on that a thread counts, in order. */
struct stretch {
  uint32_t first, end;
};

__device__ static inline struct stretch own_stretch(const struct exchange_work *work)
{
  const uint32_t all = 2 * work->n_words, part = (all + blockDim.x - 1) / blockDim.x;
  const uint32_t first = min(threadIdx.x * part, all);
  return {first, min(first + part, all)};
}

/* Finds where the replicas differ; returns at how many spins. */
__device__ static inline uint32_t
find_differing(const struct exchange_work *work, struct exchange_shared *shared)
{
  const struct stretch own = own_stretch(work);
  uint32_t count = 0;
  for (uint32_t w = own.first; w < own.end; w++) {
    work->differ[w] = work->one[w] ^ work->other[w];
    work->cluster[w] = 0;
    count += (uint32_t)__popc(work->differ[w]);
  }
  shared->before[threadIdx.x + 1] = count;
  if (threadIdx.x == 0)
    shared->before[0] = shared->exchanged = 0;
  __syncthreads();
  if (threadIdx.x == 0)
    for (uint32_t i = 0; i < blockDim.x; i++)
      shared->before[i + 1] += shared->before[i];
  __syncthreads();
  return shared->before[blockDim.x];
}

/* Begins the cluster; one thread finds the seed among its words. */
__device__ static inline void
plant(const struct exchange_work *work, const struct exchange_shared *shared, uint32_t differing)
{
  const struct ising_spin_gpu_exchange *with = work->with;
  const struct lattice_batch *batch = &with->replicas.batch;
  const struct stretch own = own_stretch(work);
  uint32_t word[4];
  gpumc_random_draw(lattice_batch_random(batch, with->launch.first + work->run), 0,
                    lattice_batch_replica(batch, work->replica), with->launch.time,
                    gpumc_random_label(GPUMC_RANDOM_LATTICE_PAIRS, 0), word);
  const uint32_t number = (uint32_t)ising_exchange_seed(word[0], differing);
  if (number < shared->before[threadIdx.x] || number >= shared->before[threadIdx.x + 1])
    return;
  uint32_t left = number - shared->before[threadIdx.x], w = own.first;
  for (; left >= (uint32_t)__popc(work->differ[w]); w++)
    left -= (uint32_t)__popc(work->differ[w]);
  uint32_t bits = work->differ[w];
  for (; left > 0; left--)
    bits &= bits - 1;
  work->cluster[w] = bits & (0 - bits);
}

/* Lets the words of one colour take over spins from their neighbours; returns whether any did. */
__device__ static inline bool grow(const struct exchange_work *work, uint32_t colour)
{
  const struct ising_spin_gpu_lattice *lattice = &work->with->replicas.lattice;
  uint32_t *own = work->cluster + colour * work->n_words;
  const uint32_t *other = work->cluster + (1 - colour) * work->n_words;
  const uint32_t *differ = work->differ + colour * work->n_words;
  bool changed = false;
  for (uint32_t w = threadIdx.x; w < work->n_words; w += blockDim.x) {
    const uint32_t missing = differ[w] & ~own[w];
    uint32_t found = 0;
    if (missing == 0)
      continue;
    const struct ising_spin_near near = ising_spin_near_of(lattice, other, colour, w);
#pragma unroll
    for (uint32_t d = 0; d < GPUMC_NEIGHBOURS_MAXIMUM; d++)
      if (d < 2 * lattice->dimension)
        found |= near.neighbour[d] & link_of(work, colour, d)[w];
    if ((found & missing) != 0) {
      own[w] |= found & missing;
      changed = true;
    }
  }
  return changed;
}

/* Turns the spins of the cluster over in both replicas; adds its size to shared->exchanged. */
__device__ static inline void turn(const struct exchange_work *work, struct exchange_shared *shared)
{
  uint32_t count = 0;
  for (uint32_t w = threadIdx.x; w < 2 * work->n_words; w += blockDim.x) {
    work->one[w] ^= work->cluster[w];
    work->other[w] ^= work->cluster[w];
    count += (uint32_t)__popc(work->cluster[w]);
  }
  atomicAdd(&shared->exchanged, count);
}

__device__ static inline void
exchange_pair(const struct exchange_work *work, struct exchange_shared *shared)
{
  const uint32_t differing = find_differing(work, shared);
  bool changed;
  if (differing == 0)
    return;
  make_links(work);
  plant(work, shared, differing);
  __syncthreads();
  do {
    changed = grow(work, 0);
    __syncthreads();
    changed = grow(work, 1) || changed;
  } while (__syncthreads_or(changed) != 0);
  turn(work, shared);
  __syncthreads();
  if (threadIdx.x == 0)
    ising_exchange_record(shared->exchanged, differing, &work->with->launch.counts[work->run]);
}

static __global__ void __launch_bounds__(THREADS_MAXIMUM)
    exchange_replicas(const __grid_constant__ struct ising_spin_gpu_exchange with)
{
  extern __shared__ uint32_t memory[];
  __shared__ struct exchange_shared shared;
  const struct lattice_batch *batch = &with.replicas.batch;
  const uint32_t capacity = (uint32_t)batch->capacity;
  struct exchange_work work;
  work.with = &with;
  work.n_words = ising_spin_words(&with.replicas.lattice);
  work.cluster =
      with.launch.memory != NULL ? with.launch.memory + blockIdx.x * with.launch.words : memory;
  work.differ = work.cluster + 2 * (size_t)work.n_words;
  work.link = work.differ + 2 * (size_t)work.n_words;
  for (size_t i = blockIdx.x; i < (size_t)with.launch.runs * capacity; i += gridDim.x) {
    work.run = (uint32_t)(i / capacity);
    work.replica = (uint32_t)(i % capacity);
    if (work.replica >= batch->size[with.launch.first + work.run])
      continue;
    const size_t one = (size_t)(with.launch.first + work.run) * capacity + work.replica;
    const size_t other = (size_t)(with.launch.second + work.run) * capacity + work.replica;
    work.one = with.replicas.words + one * 2 * work.n_words;
    work.other = with.replicas.words + other * 2 * work.n_words;
    work.sample = ising_spin_sample_of(&with.tables, work.replica);
    exchange_pair(&work, &shared);
    __syncthreads();
  }
}

extern "C" enum gpumc_status
ising_spin_exchange_replicas(const struct ising_spin_gpu_exchange *with, struct gpumc_error *error)
{
  const size_t shared = with->launch.memory != NULL ? 0 : with->launch.words * sizeof(uint32_t);
  GPUMC_TRY(
      GPUMC_CUDA(cudaFuncSetAttribute((const void *)exchange_replicas,
                                      cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared),
                 error));
  exchange_replicas<<<with->launch.blocks, with->launch.threads, shared,
                      (cudaStream_t)with->replicas.batch.stream>>>(*with);
  return GPUMC_CUDA_LAUNCHED("exchange_replicas", error);
}
