/* Measurement of the replica kernel: energies, spins, bonds and waves of replicas or of products of
 * two. A thread goes through the lattice. */
#include "models/ising/replica/replica_cuda.cuh"
#include "models/ising/spin/spin_energy.cuh"

enum { THREADS = 128, AXES = 3 };

/* The replica, and the one that it is multiplied with. */
struct pair {
  struct lane one, other;
  bool product;
};

/* 1 or 0: spin k up, or both alike. */
static __device__ inline uint32_t value_of(const struct pair *pair, uint32_t colour, uint32_t k)
{
  const uint32_t spin = *spin_at(pair->one, colour, k);
  return pair->product ? spin ^ *spin_at(pair->other, colour, k) ^ 1 : spin;
}

struct sums {
  int64_t up, unlike, along, energy, cosine[AXES], sine[AXES];
};

static __device__ inline void add_wave(const struct ising_tables *tables, struct lane lane,
                                       uint32_t colour, uint32_t k, uint32_t spin,
                                       struct sums *sums)
{
  const uint32_t line = k / lane.row, z = line / lane.height, y = line - z * lane.height;
  const uint32_t at[AXES] = {2 * (k - line * lane.row) + ((y ^ z ^ colour) & 1), y, z};
#pragma unroll
  for (int axis = 0; axis < AXES; axis++)
    if (tables->wave.along[axis]) {
      const int64_t cosine = tables->cosine[at[axis]], sine = tables->sine[at[axis]];
      sums->cosine[axis] += spin != 0 ? cosine : -cosine;
      sums->sine[axis] += spin != 0 ? sine : -sine;
    }
}

/* Bonds are counted at their ends of colour 0, where near[n] is whether neighbour n is up. */
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
add_spin(const struct ising_replica_measurement *arguments, struct sample sample,
         const struct pair *pair, uint32_t colour, uint32_t k, struct sums *sums)
{
  const struct ising_measured *measured = &arguments->measured;
  const uint32_t spin = value_of(pair, colour, k);
  sums->up += spin;
  if (measured->wave != NULL)
    add_wave(&arguments->tables, pair->one, colour, k, spin, sums);
  if (measured->energy == NULL && measured->links == NULL)
    return;
  uint32_t near[2 * DIMENSION] = {0};
  if (colour == 0) {
    find_neighbours<DIMENSION>(pair->one, 0, k, near);
    for (int n = 0; n < 2 * DIMENSION; n++)
      near[n] = value_of(pair, 1, near[n]);
  }
  add_energy<DIMENSION>(pair->product ? ISING_SPIN_UNIFORM : arguments->tables.kind, sample,
                        (size_t)colour * pair->one.colour + k, colour, spin, near, sums);
}

template <int DIMENSION>
__global__ void __launch_bounds__(THREADS)
    measure_replicas(const __grid_constant__ struct ising_replica_measurement arguments)
{
  const struct ising_replica_replicas *replicas = &arguments.replicas;
  const struct ising_measured *measured = &arguments.measured;
  const struct lattice_batch *batch = &replicas->batch;
  const uint32_t replica = blockIdx.x * blockDim.x + threadIdx.x;
  const uint32_t run = measured->first + blockIdx.y;
  if (replica >= batch->size[run])
    return;
  const struct pair pair = {lane_of(replicas, run, replica),
                            lane_of(replicas, measured->second + blockIdx.y, replica),
                            measured->product != 0};
  const struct sample sample = sample_of(replicas, &arguments.tables, replica);
  struct sums sums = {0};
  for (uint32_t colour = 0; colour < 2; colour++)
    for (uint32_t k = 0; k < replicas->colour; k++)
      add_spin<DIMENSION>(&arguments, sample, &pair, colour, k, &sums);
  const size_t element = blockIdx.y * batch->capacity + replica;
  const int64_t sites = 2 * (int64_t)replicas->colour, spins = 2 * sums.up - sites;
  const int64_t bonds = DIMENSION * sites - 2 * sums.unlike;
  if (measured->energy != NULL)
    measured->energy[element] =
        energy_of(&arguments.tables, bonds, spins, 2 * sums.along - sites, sums.energy);
  if (measured->spins != NULL)
    measured->spins[element] = spins;
  if (measured->links != NULL)
    measured->links[element] = bonds;
  if (measured->wave != NULL)
    measured->wave[element] = ising_wave_square(&arguments.tables.wave, sums.cosine, sums.sine);
}

extern "C" enum gpumc_status
ising_replica_measure(const struct ising_replica_measurement *arguments, struct gpumc_error *error)
{
  const struct lattice_batch *batch = &arguments->replicas.batch;
  const dim3 grid((uint32_t)lattice_parts(batch->capacity, THREADS), arguments->measured.runs);
  void (*kernel)(struct ising_replica_measurement) =
      arguments->tables.dimension == 3 ? measure_replicas<3> : measure_replicas<2>;
  kernel<<<grid, THREADS, 0, (cudaStream_t)batch->stream>>>(*arguments);
  return GPUMC_CUDA_LAUNCHED("measure_replicas", error);
}
