/* Measurement of stored replicas of the spin kernel, for any lattice and disorder, or of products
 * of two: energies, spins, bonds, waves. A block of threads has a replica or, if there are few, a
 * part of one; parts add up their sums, and the block that comes last records them. */
#include "models/ising/spin/spin_general.cuh"
#include "models/ising/spin/spin_tables_gpu.h"

enum { WARP = 32, THREADS = 256, AXES = 3 };

/* Sums over the words of one thread, then of one replica. Signed ones are added as unsigned. */
enum sum { UP, UNLIKE, ALONG, ENERGY, COSINE, SINE = COSINE + AXES, SUMS = SINE + AXES };
static_assert((int)SUMS == (int)ISING_SPIN_SUMS, "the driver has room for them");

/* The replica, and the one that it is multiplied with, or NULL. */
struct pair {
  const uint32_t *words, *other;
};

/* Returns word w of a colour, up where the spins are alike. */
static __device__ inline uint32_t
word_of(const struct ising_spin_gpu_lattice *lattice, struct pair pair, uint32_t colour, uint32_t w)
{
  const size_t at = (size_t)colour * ising_spin_words(lattice) + w;
  if (pair.other == NULL)
    return pair.words[at];
  return ~(pair.words[at] ^ pair.other[at]) & ising_spin_valid(lattice, w);
}

/* Returns the neighbours of word w of colour 0. */
static __device__ inline struct ising_spin_near
near_of(const struct ising_spin_gpu_lattice *lattice, struct pair pair, uint32_t w)
{
  const uint32_t n_words = ising_spin_words(lattice);
  struct ising_spin_near near = ising_spin_near_of(lattice, pair.words + n_words, 0, w);
  if (pair.other == NULL)
    return near;
  const struct ising_spin_near second = ising_spin_near_of(lattice, pair.other + n_words, 0, w);
#pragma unroll
  for (int n = 0; n < GPUMC_NEIGHBOURS_MAXIMUM; n++)
    near.neighbour[n] = ~(near.neighbour[n] ^ second.neighbour[n]);
  return near;
}

/* Each bond has one end of colour 0. */
static __device__ inline void add_bonds(const struct ising_spin_gpu_lattice *lattice,
                                        uint32_t spins, const struct ising_spin_near *near,
                                        unsigned long long sum[SUMS])
{
#pragma unroll
  for (uint32_t n = 0; n < GPUMC_NEIGHBOURS_MAXIMUM; n++)
    if (n < 2 * lattice->dimension)
      sum[UNLIKE] += (uint32_t)__popc((spins ^ near->neighbour[n]) & near->valid);
}

/* Adds the sum over the spins of a word of s_i (h_i + sum_j J_ij s_j), for colour 1 that of s_i
 * h_i. */
static __device__ inline void add_terms(const struct ising_spin_gpu_lattice *lattice,
                                        const uint8_t *sample, uint32_t colour, uint32_t w,
                                        uint32_t spins, const struct ising_spin_near *near,
                                        unsigned long long sum[SUMS])
{
  const uint32_t block = w / ISING_SPIN_WORDS;
  const uint32_t first = w % ISING_SPIN_WORDS * ISING_SPIN_WORD_BITS;
  const uint32_t valid = ising_spin_valid(lattice, w);
  for (uint32_t bit = 0; bit < ISING_SPIN_WORD_BITS && (valid >> bit & 1) != 0; bit++) {
    const size_t at = (first + bit) * (size_t)lattice->blocks + block;
    const int64_t field =
        colour == 0 ? ising_spin_field<int64_t>(lattice, sample, 0, block, first + bit, near)
                    : ising_spin_terms(lattice, sample, colour, 2 * lattice->dimension)[at];
    sum[ENERGY] += (unsigned long long)((spins >> bit & 1) != 0 ? -field : field);
  }
}

static __device__ inline void add_waves(const struct ising_spin_gpu_lattice *lattice,
                                        const struct ising_tables *tables, uint32_t colour,
                                        uint32_t w, uint32_t spins, unsigned long long sum[SUMS])
{
  const uint32_t valid = ising_spin_valid(lattice, w), row = lattice->row;
  const uint32_t k = w * ISING_SPIN_WORD_BITS;
  uint32_t line = k / row, j = k - line * row;
  for (uint32_t bit = 0; bit < ISING_SPIN_WORD_BITS && (valid >> bit & 1) != 0; bit++) {
    const uint32_t z = line / lattice->height, y = line - z * lattice->height;
    const uint32_t at[AXES] = {2 * j + ((y + z + colour) & 1), y, z};
    const bool up = (spins >> bit & 1) != 0;
#pragma unroll
    for (int axis = 0; axis < AXES; axis++)
      if (tables->wave.along[axis]) {
        const int64_t cosine = tables->cosine[at[axis]], sine = tables->sine[at[axis]];
        sum[COSINE + axis] += (unsigned long long)(up ? cosine : -cosine);
        sum[SINE + axis] += (unsigned long long)(up ? sine : -sine);
      }
    if (++j == row) {
      j = 0;
      line++;
    }
  }
}

static __device__ inline void add_word(const struct ising_spin_gpu_measurement *arguments,
                                       const uint8_t *sample, struct pair pair, uint32_t colour,
                                       uint32_t w, unsigned long long sum[SUMS])
{
  const struct ising_spin_gpu_lattice *lattice = &arguments->replicas.lattice;
  const struct ising_tables *tables = &arguments->tables;
  const enum ising_spin_kind kind = pair.other == NULL ? tables->kind : ISING_SPIN_UNIFORM;
  const uint32_t spins = word_of(lattice, pair, colour, w);
  sum[UP] += (uint32_t)__popc(spins);
  if (arguments->measured.wave != NULL)
    add_waves(lattice, tables, colour, w, spins, sum);
  if (arguments->measured.energy == NULL && arguments->measured.links == NULL)
    return;
  struct ising_spin_near near = {{0}, 0};
  if (colour == 0)
    near = near_of(lattice, pair, w);
  if (kind == ISING_SPIN_TERMS) {
    add_terms(lattice, sample, colour, w, spins, &near, sum);
    return;
  }
  if (kind == ISING_SPIN_SIGNS) {
    const uint32_t larger = ising_spin_signs(lattice, sample, colour, 2 * lattice->dimension)[w];
    sum[ALONG] += (uint32_t)__popc(~(spins ^ larger) & ising_spin_valid(lattice, w));
    if (colour == 0)
      ising_spin_turn(lattice, sample, 0, w, &near);
  }
  if (colour == 0)
    add_bonds(lattice, spins, &near, sum);
}

static __device__ inline void record(const struct ising_spin_gpu_measurement *arguments,
                                     size_t element, const unsigned long long *sum)
{
  const struct ising_measured *measured = &arguments->measured;
  const struct ising_spin_gpu_lattice *lattice = &arguments->replicas.lattice;
  const int64_t sites = 2 * (int64_t)lattice->colour, spins = 2 * (int64_t)sum[UP] - sites;
  const int64_t bonds = lattice->dimension * sites - 2 * (int64_t)sum[UNLIKE];
  if (measured->energy != NULL)
    measured->energy[element] = ising_tables_energy(
        &arguments->tables, bonds, spins, 2 * (int64_t)sum[ALONG] - sites, (int64_t)sum[ENERGY]);
  if (measured->spins != NULL)
    measured->spins[element] = spins;
  if (measured->links != NULL)
    measured->links[element] = bonds;
  if (measured->wave != NULL) {
    int64_t cosine[AXES], sine[AXES];
    for (int axis = 0; axis < AXES; axis++) {
      cosine[axis] = (int64_t)sum[COSINE + axis];
      sine[axis] = (int64_t)sum[SINE + axis];
    }
    measured->wave[element] = lattice_wave_square(&arguments->tables.wave, cosine, sine);
  }
}

/* Adds the sums of a part of a replica to those of its other parts; returns whether that was the
 * last, and then `all` has the sums of the replica. Called by a block of threads. */
static __device__ inline bool
add_part(struct ising_spin_sums *sums, uint32_t parts, unsigned long long all[SUMS])
{
  __shared__ bool last;
  if (threadIdx.x < SUMS)
    atomicAdd(&sums->sum[threadIdx.x], all[threadIdx.x]);
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0)
    last = atomicAdd(&sums->parts, 1ull) + 1 == parts;
  __syncthreads();
  if (!last)
    return false;
  __threadfence();
  if (threadIdx.x < SUMS)
    all[threadIdx.x] = atomicExch(&sums->sum[threadIdx.x], 0ull);
  if (threadIdx.x == 0)
    sums->parts = 0;
  __syncthreads();
  return true;
}

static __global__ void __launch_bounds__(THREADS)
    measure_stored(const __grid_constant__ struct ising_spin_gpu_measurement arguments)
{
  __shared__ unsigned long long all[SUMS];
  const struct ising_spin_replicas *replicas = &arguments.replicas;
  const struct ising_measured *measured = &arguments.measured;
  const struct lattice_batch *batch = &replicas->batch;
  const uint32_t n_words = ising_spin_words(&replicas->lattice);
  const uint32_t replica = blockIdx.x / arguments.parts, part = blockIdx.x % arguments.parts;
  const uint32_t run = measured->first + blockIdx.y;
  if (replica >= batch->size[run])
    return;
  const size_t second = measured->second + blockIdx.y;
  const size_t element = blockIdx.y * batch->capacity + replica;
  struct pair pair = {replicas->words + (run * batch->capacity + replica) * 2 * n_words, NULL};
  if (measured->product)
    pair.other = replicas->words + (second * batch->capacity + replica) * 2 * n_words;
  const uint8_t *sample = ising_spin_sample_of(&arguments.tables, replica);
  unsigned long long sum[SUMS] = {0};
  for (uint32_t i = part * blockDim.x + threadIdx.x; i < 2 * n_words;
       i += arguments.parts * blockDim.x)
    add_word(&arguments, sample, pair, i >= n_words, i >= n_words ? i - n_words : i, sum);
  if (threadIdx.x < SUMS)
    all[threadIdx.x] = 0;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < SUMS; i++) {
    for (uint32_t distance = WARP / 2; distance > 0; distance /= 2)
      sum[i] += __shfl_xor_sync(UINT32_MAX, sum[i], distance);
    if (threadIdx.x % WARP == 0)
      atomicAdd(&all[i], sum[i]);
  }
  __syncthreads();
  if (arguments.parts > 1 && !add_part(&arguments.sums[element], arguments.parts, all))
    return;
  if (threadIdx.x == 0)
    record(&arguments, element, all);
}

extern "C" enum gpumc_status
ising_spin_measure_stored(const struct ising_spin_gpu_measurement *arguments,
                          struct gpumc_error *error)
{
  const struct lattice_batch *batch = &arguments->replicas.batch;
  const uint32_t words = 2 * ISING_SPIN_WORDS * arguments->replicas.lattice.blocks;
  uint32_t threads = WARP;
  while (threads < THREADS && threads < words)
    threads *= 2;
  measure_stored<<<dim3((uint32_t)batch->capacity * arguments->parts, arguments->measured.runs),
                   threads, 0, (cudaStream_t)batch->stream>>>(*arguments);
  return GPUMC_CUDA_LAUNCHED("measure_stored", error);
}
