/* The walker kernel on a GPU: walks in device memory, for replicas that do not fit into shared
 * memory, and for models whose flips do not move a replica by whole levels. One thread per
 * replica.
 *
 * nvcc: --compress-mode=size */
#include "models/ising/walker/walker_lane.cuh"

/* The sums that the energy and the magnetization are computed from. */
struct state {
  int64_t bonds, spins, along, terms;
};

/* A walking thread. */
struct walker {
  struct lane lane;
  struct sample sample;
  struct state state;
  int64_t energy;
  uint32_t level;
};

/* The surroundings of a spin. signs: the sum over its neighbours of their spins times the signs of
 * the couplings; terms: that of their spins times the couplings, plus the field. */
struct near {
  int64_t signs, terms, field;
  int32_t along;
};

template <int DIMENSION, int KIND>
static __device__ inline struct near
near_of(const struct walker *walker, uint32_t colour, uint32_t k)
{
  const struct sample sample = walker->sample;
  const size_t position = (size_t)colour * walker->lane.colour + k;
  const uint32_t signs = KIND == ISING_SPIN_SIGNS ? sample.signs[position * sample.step] : 0;
  uint32_t neighbour[2 * DIMENSION];
  struct near near = {0, 0, 0, 1};
  find_neighbours<DIMENSION>(walker->lane, colour, k, neighbour);
#pragma unroll
  for (int n = 0; n < 2 * DIMENSION; n++)
    neighbour[n] = *spin_at(walker->lane, 1 - colour, neighbour[n]);
#pragma unroll
  for (int n = 0; n < 2 * DIMENSION; n++)
    near.signs += (neighbour[n] ^ (signs >> n & 1)) != 0 ? 1 : -1;
  if (KIND == ISING_SPIN_SIGNS)
    near.along = (signs >> ISING_FIELD_SIGN & 1) != 0 ? 1 : -1;
  if (KIND == ISING_SPIN_TERMS) {
    near.field = sample.terms[2 * DIMENSION * sample.stride + position * sample.step];
    near.terms = field_of<DIMENSION, int64_t>(sample, position, neighbour);
  }
  return near;
}

static __device__ inline uint32_t level_of(const struct ising_walker_walk *walk,
                                           const struct lattice_walk_run *run, int64_t energy,
                                           int64_t spins)
{
  const int64_t above = (walk->by_energy ? energy : spins) - run->lowest;
  return above < 0 ? UINT32_MAX : (uint32_t)(walk->spacing == 1 ? above : above / walk->spacing);
}

static __device__ inline int64_t energy_of(const struct ising_walker_walk *walk, struct state state)
{
  return ising_tables_energy(&walk->tables, state.bonds, state.spins, state.along, state.terms);
}

/* Bonds, and couplings, are counted at their ends of colour 0. */
template <int DIMENSION, int KIND>
static __device__ inline void find_state(const struct ising_walker_walk *walk,
                                         const struct lattice_walk_run *run, struct walker *walker)
{
  struct state state = {0, 0, 0, 0};
  for (uint32_t colour = 0; colour < 2; colour++)
    for (uint32_t k = 0; k < walker->lane.colour; k++) {
      const int64_t spin = *spin_at(walker->lane, colour, k) != 0 ? 1 : -1;
      const struct near near = near_of<DIMENSION, KIND>(walker, colour, k);
      state.spins += spin;
      state.along += spin * near.along;
      state.bonds += colour == 0 ? spin * near.signs : 0;
      state.terms -= spin * (colour == 0 ? near.terms : near.field);
    }
  walker->state = state;
  walker->energy = energy_of(walk, state);
  walker->level = level_of(walk, run, walker->energy, state.spins);
}

/* Returns the threshold of a flip by the table, and the level after it. */
template <int DIMENSION>
static __device__ inline uint32_t
threshold_by_table(const struct ising_walker_walk *walk, const struct lattice_walk_run *run,
                   uint32_t level, int64_t spin, struct near near, uint32_t *to)
{
  const uint32_t unlike = (uint32_t)((2 * DIMENSION - spin * near.signs) / 2), up = spin > 0;
  const uint32_t class_ = unlike + (walk->by_spin ? up * (2 * DIMENSION + 1) : 0);
  *to = level + (uint32_t)(walk->step_base + walk->step_unlike * (int32_t)unlike +
                           walk->step_up * (int32_t)up);
  return walk->threshold[((size_t)run->number * walk->levels + level) * walk->classes + class_];
}

template <int DIMENSION, int KIND>
static __device__ inline void
update(const struct ising_walker_walk *walk, const struct lattice_walk_run *run,
       struct walker *walker, uint32_t site, uint32_t number)
{
  const uint32_t colour = site >= walker->lane.colour, k = site - colour * walker->lane.colour;
  uint8_t *stored = spin_at(walker->lane, colour, k);
  const int64_t spin = *stored != 0 ? 1 : -1;
  const struct near near = near_of<DIMENSION, KIND>(walker, colour, k);
  struct state next = walker->state;
  uint32_t to, threshold;
  next.bonds -= 2 * spin * near.signs;
  next.spins -= 2 * spin;
  next.along -= 2 * spin * near.along;
  next.terms += 2 * spin * near.terms;
  int64_t energy = 0;
  if (walk->tabled)
    threshold = threshold_by_table<DIMENSION>(walk, run, walker->level, spin, near, &to);
  else {
    const int64_t *weight = walk->log_weight + (size_t)run->number * walk->levels;
    energy = energy_of(walk, next);
    to = level_of(walk, run, energy, next.spins);
    threshold = to < walk->levels ? ising_walker_threshold(&run->canonical, weight[walker->level],
                                                           weight[to], energy - walker->energy,
                                                           next.spins - walker->state.spins)
                                  : 0;
  }
  if (number >= threshold)
    return;
  *stored ^= 1;
  walker->state = next;
  walker->energy = energy;
  walker->level = to;
}

/* Blocks per multiprocessor, so that couplings of a cube take no more registers than the rest. */
enum { BLOCKS_OF_COUPLINGS = 20 };

template <int DIMENSION, int KIND>
__global__ void
__launch_bounds__(GPUMC_WALK_GROUP,
                  DIMENSION == 3 && KIND == ISING_SPIN_TERMS ? BLOCKS_OF_COUPLINGS : 0)
    walk_global(const __grid_constant__ struct ising_walker_walk walk)
{
  const struct lattice_batch *batch = &walk.replicas.batch;
  const struct lattice_walk_run *run = &walk.run[blockIdx.y];
  const uint32_t replica = blockIdx.x * GPUMC_WALK_GROUP + threadIdx.x;
  const uint32_t size = batch->size[run->number], sites = 2 * walk.replicas.colour;
  const struct stretch stretch = stretch_of(&walk, run);
  if (replica >= size || stretch.steps == 0)
    return;
  const struct gpumc_random random = lattice_batch_random(batch, run->number);
  const uint32_t group = lattice_batch_group(batch, blockIdx.x, GPUMC_WALK_GROUP),
                 replica_number = lattice_batch_replica(batch, replica);
  const uint32_t label = gpumc_random_label(GPUMC_RANDOM_LATTICE_WALK, ISING_WALKER_ACCEPTANCE);
  uint32_t *passages =
      walk.passages != NULL ? walk.passages + run->number * batch->capacity + replica : NULL;
  unsigned long long *visits = (unsigned long long *)walk.visits;
  if (visits != NULL)
    visits +=
        ((size_t)run->number * walk.parts + lattice_walk_part(batch, replica, size, run->parts)) *
        walk.levels;
  struct walker walker = {lane_of(&walk.replicas, run->number, replica),
                          sample_of(&walk.replicas, &walk.tables, run->number, replica)};
  find_state<DIMENSION, KIND>(&walk, run, &walker);
  for (uint32_t step = 0; step < stretch.steps; step++) {
    const uint64_t time = stretch.time + step;
    uint32_t site[GPUMC_WALK_UPDATES], number[GPUMC_WALK_UPDATES];
    lattice_walk_sites(random, group, time, sites, site);
    gpumc_random_draw(random, replica_number, (uint32_t)(time >> 32), (uint32_t)time, label,
                      number);
#pragma unroll
    for (int j = 0; j < GPUMC_WALK_UPDATES; j++)
      update<DIMENSION, KIND>(&walk, run, &walker, site[j], number[j]);
    if (visits != NULL)
      atomicAdd(&visits[walker.level], 1);
    for (uint32_t side = 0; passages != NULL && side < 2; side++)
      if (walker.level == run->end[side])
        *passages = gpumc_walk_arrive(*passages, side);
  }
}

typedef void walk_kernel(struct ising_walker_walk);

template <int DIMENSION> static walk_kernel *choose(enum ising_spin_kind kind)
{
  if (kind == ISING_SPIN_UNIFORM)
    return walk_global<DIMENSION, ISING_SPIN_UNIFORM>;
  return kind == ISING_SPIN_SIGNS ? walk_global<DIMENSION, ISING_SPIN_SIGNS>
                                  : walk_global<DIMENSION, ISING_SPIN_TERMS>;
}

extern "C" enum gpumc_status
ising_walker_walk_global(const struct ising_walker_walk *walk, struct gpumc_error *error)
{
  const struct lattice_batch *batch = &walk->replicas.batch;
  walk_kernel *kernel =
      walk->replicas.dimension == 2 ? choose<2>(walk->tables.kind) : choose<3>(walk->tables.kind);
  const dim3 grid((uint32_t)lattice_parts(batch->capacity, GPUMC_WALK_GROUP), walk->active);
  kernel<<<grid, GPUMC_WALK_GROUP, 0, (cudaStream_t)batch->stream>>>(*walk);
  return GPUMC_CUDA_LAUNCHED("walk_global", error);
}
