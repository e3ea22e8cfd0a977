/* The walker kernel's sweeps: every thread goes through the lattice of its replica, spin by spin.
 * The scheme of Barash et al., Comput. Phys. Commun. 220, 341 (2017), section 3, which works for
 * any model.
 *
 * nvcc: --compress-mode=size */
#include "models/ising/ising_channels.h"
#include "models/ising/spin/spin_rule.h"
#include "models/ising/walker/walker_lane.cuh"

enum {
  SWEEP_THREADS = 128,
  THREADS = 256,
  THREADS_MAXIMUM = 1024,
  BLOCK = 64, /* spins of a colour that get their numbers from COUNTERS Philox counters */
  COUNTERS = 16,
  OUTPUTS = 4
};

/* The data that a thread needs for a sweep. */
struct sweeping {
  const struct ising_run_rule *rule; /* in shared memory: threads look up different classes */
  struct lane lane;
  struct sample sample;
  struct gpumc_random random;
  uint32_t replica;
};

template <int DIMENSION, int KIND>
static __device__ inline bool
flips(const struct sweeping *walk, uint32_t colour, uint32_t k, uint32_t start, uint32_t number)
{
  const struct ising_run_rule *rule = walk->rule;
  uint32_t near[2 * DIMENSION];
  find_neighbours<DIMENSION>(walk->lane, colour, k, near);
#pragma unroll
  for (int n = 0; n < 2 * DIMENSION; n++)
    near[n] = *spin_at(walk->lane, 1 - colour, near[n]);
  const size_t position = (size_t)colour * walk->lane.colour + k;
  if (KIND != ISING_SPIN_TERMS) {
    const uint32_t of_spin = class_of<DIMENSION, KIND>(walk->sample, position, near);
    return number < rule->threshold[of_spin] || ising_rule_compared(rule, of_spin) != start;
  }
  const uint32_t estimate = ising_spin_estimate(
      &rule->estimate, field_of<DIMENSION, float>(walk->sample, position, near), start, number);
  if (estimate != ISING_OPEN)
    return estimate == ISING_FLIPS;
  return ising_spin_flips(&rule->exact, rule->start == 0,
                          field_of<DIMENSION, int64_t>(walk->sample, position, near), start,
                          number);
}

template <int DIMENSION, int KIND>
static __device__ inline void
update_colour(const struct sweeping *walk, uint32_t time, uint32_t colour)
{
  const uint32_t label = gpumc_random_label(GPUMC_RANDOM_LATTICE_SWEEP, colour);
  const uint32_t n_counters = (walk->lane.colour + BLOCK - 1) / BLOCK * COUNTERS;
  for (uint32_t counter = 0; counter < n_counters; counter++) {
    uint32_t number[OUTPUTS];
    gpumc_random_draw(walk->random, counter, walk->replica, time, label, number);
#pragma unroll
    for (uint32_t j = 0; j < OUTPUTS; j++) {
      const uint32_t k = counter / COUNTERS * BLOCK + j * COUNTERS + counter % COUNTERS;
      if (k >= walk->lane.colour)
        break;
      uint8_t *spin = spin_at(walk->lane, colour, k);
      const uint32_t start = *spin & walk->rule->start;
      *spin =
          (uint8_t)(start ^ (uint32_t)flips<DIMENSION, KIND>(walk, colour, k, start, number[j]));
    }
  }
}

template <int DIMENSION, int KIND>
__global__ void __launch_bounds__(THREADS_MAXIMUM)
    sweep_replicas(const __grid_constant__ struct ising_walker_sweep arguments)
{
  __shared__ struct ising_run_rule rule;
  const struct lattice_batch *batch = &arguments.replicas.batch;
  const uint32_t replica = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0)
    rule = arguments.tables.rules[blockIdx.y];
  __syncthreads();
  if (replica >= batch->size[blockIdx.y])
    return;
  const struct sweeping walk = {
      &rule, lane_of(&arguments.replicas, blockIdx.y, replica),
      sample_of(&arguments.replicas, &arguments.tables, blockIdx.y, replica),
      lattice_batch_random(batch, blockIdx.y), lattice_batch_replica(batch, replica)};
  for (uint32_t s = 0; s < arguments.sweeps; s++)
    for (uint32_t colour = 0; colour < 2; colour++)
      update_colour<DIMENSION, KIND>(&walk, batch->time + s, colour);
}

static __global__ void randomize(const __grid_constant__ struct ising_walker_replicas arguments)
{
  const struct lattice_batch *batch = &arguments.batch;
  const uint32_t replica = blockIdx.x * blockDim.x + threadIdx.x;
  if (replica >= batch->size[blockIdx.y])
    return;
  const struct gpumc_random random = lattice_batch_random(batch, blockIdx.y);
  const struct lane lane = lane_of(&arguments, blockIdx.y, replica);
  const uint32_t label = gpumc_random_label(GPUMC_RANDOM_LATTICE_INITIAL, 0);
  const size_t sites = 2 * (size_t)lane.colour;
  for (size_t first = 0; first < sites; first += 32 * OUTPUTS) {
    uint32_t word[OUTPUTS];
    gpumc_random_draw(random, (uint32_t)(first / (32 * OUTPUTS)),
                      lattice_batch_replica(batch, replica), 0, label, word);
#pragma unroll
    for (uint32_t i = 0; i < 32 * OUTPUTS; i++)
      if (first + i < sites)
        lane.spins[(first + i) * GPUMC_WALK_GROUP] = word[i / 32] >> i % 32 & 1;
  }
}

/* One thread for each byte of portable form; see spin_of_site. */
static __device__ inline struct lane
portable_lane(const struct ising_walker_transfer *arguments, size_t *number, size_t *first_site)
{
  *number = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  const size_t i = *number / arguments->portable.replica_bytes;
  *first_site = (*number - i * arguments->portable.replica_bytes) * 8;
  if (i >= arguments->portable.count)
    return {NULL};
  const struct lattice_portable *portable = &arguments->portable;
  return lane_of(&arguments->replicas, portable->run,
                 lattice_portable_replica(portable, portable->first + i));
}

static __device__ inline uint8_t *spin_of_site(struct lane lane, size_t site)
{
  const uint32_t k = (uint32_t)(site / 2);
  const uint32_t line = k / lane.row;
  return spin_at(lane, (line + line / lane.height + site) & 1, k);
}

static __global__ void from_portable(const __grid_constant__ struct ising_walker_transfer arguments)
{
  size_t number, site;
  const struct lane lane = portable_lane(&arguments, &number, &site);
  if (lane.spins == NULL)
    return;
  for (uint32_t j = 0; j < 8 && site + j < 2 * (size_t)lane.colour; j++)
    *spin_of_site(lane, site + j) = arguments.portable.replica[number] >> j & 1;
}

static __global__ void to_portable(const __grid_constant__ struct ising_walker_transfer arguments)
{
  size_t number, site;
  const struct lane lane = portable_lane(&arguments, &number, &site);
  if (lane.spins == NULL)
    return;
  uint32_t bits = 0;
  for (uint32_t j = 0; j < 8 && site + j < 2 * (size_t)lane.colour; j++)
    bits |= (uint32_t)*spin_of_site(lane, site + j) << j;
  arguments.portable.replica[number] = (uint8_t)bits;
}

static dim3 replica_grid(const struct lattice_batch *batch, uint32_t threads)
{
  return dim3((uint32_t)lattice_parts(batch->capacity, threads), batch->runs);
}

extern "C" enum gpumc_status
ising_walker_randomize(const struct ising_walker_replicas *arguments, struct gpumc_error *error)
{
  const struct lattice_batch *batch = &arguments->batch;
  randomize<<<replica_grid(batch, THREADS), THREADS, 0, (cudaStream_t)batch->stream>>>(*arguments);
  return GPUMC_CUDA_LAUNCHED("randomize", error);
}

typedef void sweep_kernel(struct ising_walker_sweep);

template <int DIMENSION> static sweep_kernel *choose_kernel(enum ising_spin_kind kind)
{
  if (kind == ISING_SPIN_UNIFORM)
    return sweep_replicas<DIMENSION, ISING_SPIN_UNIFORM>;
  return kind == ISING_SPIN_SIGNS ? sweep_replicas<DIMENSION, ISING_SPIN_SIGNS>
                                  : sweep_replicas<DIMENSION, ISING_SPIN_TERMS>;
}

extern "C" enum gpumc_status
ising_walker_run(const struct ising_walker_sweep *arguments, struct gpumc_error *error)
{
  const struct lattice_batch *batch = &arguments->replicas.batch;
  uint32_t threads = arguments->replicas.block_threads;
  if (threads == 0 || threads > THREADS_MAXIMUM)
    threads = (uint32_t)(threads == 0 ? SWEEP_THREADS : THREADS_MAXIMUM);
  sweep_kernel *kernel = arguments->tables.dimension == 3
                             ? choose_kernel<3>(arguments->tables.kind)
                             : choose_kernel<2>(arguments->tables.kind);
  kernel<<<replica_grid(batch, threads), threads, 0, (cudaStream_t)batch->stream>>>(*arguments);
  return GPUMC_CUDA_LAUNCHED("sweep_replicas", error);
}

static uint32_t portable_blocks(const struct ising_walker_transfer *arguments)
{
  return (uint32_t)lattice_parts(arguments->portable.count * arguments->portable.replica_bytes,
                                 THREADS);
}

extern "C" enum gpumc_status
ising_walker_from_portable(const struct ising_walker_transfer *arguments, struct gpumc_error *error)
{
  cudaStream_t stream = (cudaStream_t)arguments->replicas.batch.stream;
  from_portable<<<portable_blocks(arguments), THREADS, 0, stream>>>(*arguments);
  return GPUMC_CUDA_LAUNCHED("from_portable", error);
}

extern "C" enum gpumc_status
ising_walker_to_portable(const struct ising_walker_transfer *arguments, struct gpumc_error *error)
{
  cudaStream_t stream = (cudaStream_t)arguments->replicas.batch.stream;
  to_portable<<<portable_blocks(arguments), THREADS, 0, stream>>>(*arguments);
  return GPUMC_CUDA_LAUNCHED("to_portable", error);
}

/* Measurement: one thread per replica as well. */
enum { MEASURE_THREADS = 128, AXES = 3 };

/* The replica, and the one that it is multiplied with. */
struct pair {
  struct lane one, other;
  bool product;
};

/* Returns 1 or 0: spin k is up, or both are alike. */
static __device__ inline uint32_t value_of(const struct pair *pair, uint32_t colour, uint32_t k)
{
  const uint32_t spin = *spin_at(pair->one, colour, k);
  return pair->product ? spin ^ *spin_at(pair->other, colour, k) ^ 1 : spin;
}

struct sums {
  int64_t up, unlike, along, energy, cosine[AXES], sine[AXES];
};

static __device__ inline void add_wave(const struct ising_tables *tables, struct coordinates where,
                                       uint32_t colour, uint32_t spin, struct sums *sums)
{
  const uint32_t y = where.y, z = where.z;
  const uint32_t at[AXES] = {2 * where.x + ((y ^ z ^ colour) & 1), y, z};
#pragma unroll
  for (int axis = 0; axis < AXES; axis++)
    if (tables->wave.along[axis]) {
      const int64_t cosine = tables->cosine[at[axis]], sine = tables->sine[at[axis]];
      sums->cosine[axis] += spin != 0 ? cosine : -cosine;
      sums->sine[axis] += spin != 0 ? sine : -sine;
    }
}

/* Bonds are counted at their ends of colour 0; near[n] says whether neighbour n is up. */
template <int DIMENSION>
static __device__ inline void
add_energy(enum ising_spin_kind kind, struct sample sample, size_t position, uint32_t colour,
           uint32_t spin, const uint32_t near[2 * DIMENSION], struct sums *sums)
{
  if (kind == ISING_SPIN_TERMS) {
    const int64_t field =
        colour == 0 ? field_of<DIMENSION, int64_t>(sample, position, near)
                    : sample.terms[2 * DIMENSION * sample.stride + position * sample.step];
    sums->energy -= spin != 0 ? field : -field;
    return;
  }
  const uint32_t of_spin = kind == ISING_SPIN_SIGNS
                               ? class_of<DIMENSION, ISING_SPIN_SIGNS>(sample, position, near)
                               : class_of<DIMENSION, ISING_SPIN_UNIFORM>(sample, position, near);
  const uint32_t up = of_spin % ISING_TABLE_FIELD, larger = of_spin / ISING_TABLE_FIELD;
  sums->along += (spin ^ larger) == 0;
  if (colour == 0)
    sums->unlike += spin != 0 ? 2 * DIMENSION - up : up;
}

template <int DIMENSION>
static __device__ inline void
add_spin(const struct ising_walker_measurement *arguments, struct sample sample,
         const struct pair *pair, uint32_t colour, struct coordinates where, struct sums *sums)
{
  const struct ising_measured *measured = &arguments->measured;
  const uint32_t k = where.k, spin = value_of(pair, colour, k);
  sums->up += spin;
  if (measured->wave != NULL)
    add_wave(&arguments->tables, where, colour, spin, sums);
  if (measured->energy == NULL && measured->links == NULL)
    return;
  uint32_t near[2 * DIMENSION] = {0};
  if (colour == 0) {
    find_neighbours_at<DIMENSION>(pair->one, 0, where, near);
    for (int n = 0; n < 2 * DIMENSION; n++)
      near[n] = value_of(pair, 1, near[n]);
  }
  add_energy<DIMENSION>(pair->product ? ISING_SPIN_UNIFORM : arguments->tables.kind, sample,
                        (size_t)colour * pair->one.colour + k, colour, spin, near, sums);
}

template <int DIMENSION>
__global__ void __launch_bounds__(MEASURE_THREADS)
    measure_replicas(const __grid_constant__ struct ising_walker_measurement arguments)
{
  const struct ising_walker_replicas *replicas = &arguments.replicas;
  const struct ising_measured *measured = &arguments.measured;
  const struct lattice_batch *batch = &replicas->batch;
  const uint32_t replica = blockIdx.x * blockDim.x + threadIdx.x;
  const uint32_t run = measured->first + blockIdx.y;
  if (replica >= batch->size[run])
    return;
  const struct pair pair = {lane_of(replicas, run, replica),
                            lane_of(replicas, measured->second + blockIdx.y, replica),
                            measured->product != 0};
  const struct sample sample = sample_of(replicas, &arguments.tables, run, replica);
  struct sums sums = {0};
  for (uint32_t colour = 0; colour < 2; colour++)
#pragma unroll 4
    for (struct coordinates where = {0}; where.k < replicas->colour; advance(pair.one, &where))
      add_spin<DIMENSION>(&arguments, sample, &pair, colour, where, &sums);
  const size_t element = blockIdx.y * batch->capacity + replica;
  const int64_t sites = 2 * (int64_t)replicas->colour, spins = 2 * sums.up - sites;
  const int64_t bonds = DIMENSION * sites - 2 * sums.unlike;
  if (measured->energy != NULL)
    measured->energy[element] =
        ising_tables_energy(&arguments.tables, bonds, spins, 2 * sums.along - sites, sums.energy);
  if (measured->spins != NULL)
    measured->spins[element] = spins;
  if (measured->links != NULL)
    measured->links[element] = bonds;
  if (measured->wave != NULL)
    measured->wave[element] = lattice_wave_square(&arguments.tables.wave, sums.cosine, sums.sine);
}

extern "C" enum gpumc_status
ising_walker_measure(const struct ising_walker_measurement *arguments, struct gpumc_error *error)
{
  const struct lattice_batch *batch = &arguments->replicas.batch;
  const dim3 grid((uint32_t)lattice_parts(batch->capacity, MEASURE_THREADS),
                  arguments->measured.runs);
  void (*kernel)(struct ising_walker_measurement) =
      arguments->tables.dimension == 3 ? measure_replicas<3> : measure_replicas<2>;
  kernel<<<grid, MEASURE_THREADS, 0, (cudaStream_t)batch->stream>>>(*arguments);
  return GPUMC_CUDA_LAUNCHED("measure_replicas", error);
}
