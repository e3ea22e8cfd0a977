/* The walker kernel on a GPU: walks by a table in shared memory, one thread per replica.
 *
 * A block has the thresholds of its run, a histogram, and for each warp the spins of its 32
 * replicas, a bit each, and where the sites of the steps to come are:
 *
 *   thresholds [levels][classes] | visits [levels] | warp 0: places [16][16], sites [128], words
 * [N/32][33] | warp 1 ..
 *
 * All threads of a warp update the same site, so they read neighbouring words, without conflicts;
 * its position they read from one address. Only thresholds and visits are scattered, like the
 * levels of the replicas.
 *
 * nvcc: --compress-mode=size */
#include "core/numerics/philox.cuh"
#include "models/ising/walker/walker_lane.cuh"

enum {
  WARP = GPUMC_WALK_GROUP,
  WARPS_MOST = 16, /* for which a multiprocessor has registers */
  LANE_WORD = 4,   /* bytes */
  /* Bytes from one word of a thread to the next: not a power of two, so that addresses are computed
   * by multiply-add, which leaves more of the logic pipe to operations that need it. */
  ROW = (WARP + 1) * LANE_WORD,
  TURNS = 32,                                /* of a word */
  UPDATES_AHEAD = WARP * GPUMC_WALK_UPDATES, /* whose sites are drawn together, one step per
                                              * thread */
  PLACES_AHEAD = WARP / 2,                   /* that are fetched together, half of one per thread */
  STEPS_AHEAD = PLACES_AHEAD / GPUMC_WALK_UPDATES,
  HALF = sizeof(struct ising_walker_places) / 2 / sizeof(uint4),
  RUN_OF_PLACES = PLACES_AHEAD * sizeof(struct ising_walker_places)
};

/* Returns the bytes of a warp, a multiple of 16. */
static __host__ __device__ inline size_t warp_bytes(uint32_t sites)
{
  const size_t words = (size_t)(sites + 31) / 32 * ROW;
  return RUN_OF_PLACES + UPDATES_AHEAD * sizeof(uint16_t) + (words + 15) / 16 * 16;
}

/* Returns the bytes of a block itself, a multiple of 16. */
static __host__ __device__ inline size_t block_bytes(const struct ising_walker_walk *walk)
{
  const size_t words =
      (size_t)walk->levels * walk->classes + (walk->visits != NULL ? walk->levels : 0);
  return (words * sizeof(uint32_t) + 15) / 16 * 16;
}

static __device__ inline uint32_t row_of(uint32_t site)
{
  return site / 32;
}

static __device__ inline uint32_t turn_of(uint32_t site)
{
  return (site - 2) % TURNS;
}

/* For sample y. */
static __global__ void make_places(const __grid_constant__ struct ising_walker_walk arguments)
{
  const struct ising_walker_replicas *replicas = &arguments.replicas;
  const uint32_t site = blockIdx.x * blockDim.x + threadIdx.x, n = 2 * replicas->dimension;
  if (site >= 2 * replicas->colour)
    return;
  const struct lane lane = lane_of(replicas, 0, 0);
  const uint32_t colour = site >= replicas->colour, k = site - colour * replicas->colour;
  const struct sample sample = sample_numbered(replicas, &arguments.tables, blockIdx.y);
  const uint32_t signs =
      arguments.tables.kind == ISING_SPIN_SIGNS ? sample.signs[site * sample.step] : 0;
  uint32_t neighbour[6];
  if (n == 4)
    find_neighbours<2>(lane, colour, k, neighbour);
  else
    find_neighbours<3>(lane, colour, k, neighbour);
  uint32_t row[6] = {0}, turn[6] = {0};
  for (uint32_t i = 0; i < n; i++) {
    const uint32_t other = (1 - colour) * replicas->colour + neighbour[i];
    row[i] = row_of(other);
    turn[i] = turn_of(other) + (signs >> i & 1) * ISING_WALKER_AGAINST;
  }
  arguments.places[2 * (size_t)replicas->colour * blockIdx.y + site] = {
      row_of(site),    row[0], row[1],  row[2], turn_of(site), turn[0], turn[1], turn[2],
      1u << site % 32, row[3], turn[3], row[4], turn[4],       row[5],  turn[5], 0};
}

/* A walking thread. words: its first one; level: offset of its thresholds in bytes. */
struct walker {
  unsigned char *words;
  uint32_t level;
};

static __device__ inline uint32_t *word_at(const struct walker *walker, uint32_t row)
{
  return (uint32_t *)(walker->words + row * ROW);
}

/* A site and its neighbours in registers; the part of struct ising_walker_places that this many
 * neighbours need. */
struct around {
  uint32_t row[7], turn[7], bit;
};

template <int NEIGHBOURS>
static __device__ inline struct around around_of(const struct ising_walker_places *places)
{
  const uint4 *from = (const uint4 *)places;
  const uint4 rows = from[0], turns = from[1], rest = from[2];
  const uint4 last = NEIGHBOURS > 4 ? from[3] : make_uint4(0, 0, 0, 0);
  return {{rows.x, rows.y, rows.z, rows.w, rest.y, rest.w, last.y},
          {turns.x, turns.y, turns.z, turns.w, rest.z, last.x, last.z},
          rest.x};
}

/* Returns the word with the spin in the bit of value ISING_WALKER_BIT. */
static __device__ inline uint32_t turned(uint32_t word, uint32_t turn)
{
  return __funnelshift_r(word, word, turn);
}

/* Returns how many neighbours a spin is unlike, times ISING_WALKER_BIT. */
template <int NEIGHBOURS, bool SIGNS>
static __device__ inline uint32_t
unlike_of(const struct walker *walker, const struct around *around, uint32_t spin)
{
  uint32_t unlike = 0;
#pragma unroll
  for (int n = 1; n <= NEIGHBOURS; n++) {
    uint32_t other = turned(*word_at(walker, around->row[n]), around->turn[n]);
    if (SIGNS)
      other ^= around->turn[n] / (ISING_WALKER_AGAINST / ISING_WALKER_BIT);
    unlike += (spin ^ other) & ISING_WALKER_BIT;
  }
  return unlike;
}

/* Changes of the level, in bytes of the thresholds. */
struct steps {
  uint32_t base, unlike, up;
};

template <int NEIGHBOURS, bool SIGNS, bool BY_SPIN>
static __device__ inline void
update(struct steps steps, struct walker *walker, const unsigned char *thresholds,
       const struct around *around, uint32_t number)
{
  uint32_t *word = word_at(walker, around->row[0]);
  const uint32_t own = *word, spin = turned(own, around->turn[0]);
  const uint32_t unlike = unlike_of<NEIGHBOURS, SIGNS>(walker, around, spin);
  uint32_t at = walker->level + unlike, step = steps.base + steps.unlike * unlike;
  if (BY_SPIN) {
    at += (spin & ISING_WALKER_BIT) * (NEIGHBOURS + 1);
    step += steps.up * (spin & ISING_WALKER_BIT);
  }
  const bool flips = number < *(const uint32_t *)(thresholds + at);
  *word = flips ? own ^ around->bit : own;
  walker->level += flips ? step : 0;
}

/* Convert spins from their bytes, and back. */
static __device__ inline void load_words(struct lane lane, const struct walker *walker)
{
  const uint32_t sites = 2 * lane.colour;
  for (uint32_t first = 0; first < sites; first += 32) {
    uint32_t word = 0;
#pragma unroll
    for (uint32_t b = 0; b < 32; b++)
      if (first + b < sites)
        word |= (uint32_t)lane.spins[(size_t)(first + b) * GPUMC_WALK_GROUP] << b;
    *word_at(walker, row_of(first)) = word;
  }
}

static __device__ inline void store_words(struct lane lane, const struct walker *walker)
{
  const uint32_t sites = 2 * lane.colour;
  for (uint32_t first = 0; first < sites; first += 32) {
    const uint32_t word = *word_at(walker, row_of(first));
#pragma unroll
    for (uint32_t b = 0; b < 32; b++)
      if (first + b < sites)
        lane.spins[(size_t)(first + b) * GPUMC_WALK_GROUP] = word >> b & 1;
  }
}

/* Bonds are counted at their ends of colour 0. */
template <int NEIGHBOURS, bool SIGNS>
static __device__ inline uint32_t
level_of(const struct ising_walker_walk *walk, const struct lattice_walk_run *run,
         const struct ising_walker_places *places, const struct walker *walker)
{
  const uint32_t colour = walk->replicas.colour;
  int64_t unlike = 0, up = 0;
#pragma unroll 8
  for (uint32_t i = 0; i < 2 * colour; i++) {
    const struct around at = around_of<NEIGHBOURS>(&places[i]);
    const uint32_t spin = turned(*word_at(walker, at.row[0]), at.turn[0]);
    up += (spin & ISING_WALKER_BIT) / ISING_WALKER_BIT;
    if (i < colour)
      unlike += unlike_of<NEIGHBOURS, SIGNS>(walker, &at, spin) / ISING_WALKER_BIT;
  }
  const int64_t spins = 2 * up - 2 * (int64_t)colour,
                bonds = (int64_t)NEIGHBOURS * colour - 2 * unlike;
  const int64_t value =
      walk->by_energy ? ising_tables_energy(&walk->tables, bonds, spins, 0, 0) : spins;
  return (uint32_t)((value - run->lowest) / walk->spacing);
}

/* Where the visits of a warp go: the block's histogram or, if its part differs from that of the
 * block, device memory. */
struct count {
  uint32_t *of_block;
  unsigned long long *of_part;
};

/* A warp's prefetched steps: sites of UPDATES_AHEAD updates, and places of those of STEPS_AHEAD
 * steps. all: places of the run's sample, device memory; time: of step 0. */
struct ahead {
  struct ising_walker_places *places;
  uint16_t *sites;
  const struct ising_walker_places *all;
  uint64_t time;
};

/* Fetches sites and places of the steps from `step` on, if it is the first of such a batch. */
static __device__ inline void look_ahead(const struct ising_walker_walk *walk,
                                         struct gpumc_random random, uint32_t group,
                                         struct ahead ahead, uint32_t step)
{
  const uint32_t lane = threadIdx.x % WARP;
  if (step % STEPS_AHEAD != 0)
    return;
  __syncwarp();
  if (step % WARP == 0) {
    uint32_t site[GPUMC_WALK_UPDATES];
    lattice_walk_sites(random, group, ahead.time + step + lane, 2 * walk->replicas.colour, site);
    *(uint2 *)&ahead.sites[lane * GPUMC_WALK_UPDATES] =
        make_uint2(site[0] | site[1] << 16, site[2] | site[3] << 16);
    __syncwarp();
  }
  const uint32_t site = ahead.sites[step % WARP * GPUMC_WALK_UPDATES + lane / 2];
  const uint4 *from = (const uint4 *)&ahead.all[site] + lane % 2 * HALF;
  uint4 *to = (uint4 *)ahead.places + lane * HALF;
#pragma unroll
  for (uint32_t i = 0; i < HALF; i++)
    to[i] = from[i];
  __syncwarp();
}

/* Returns update j of a prefetched step. */
template <int NEIGHBOURS>
static __device__ inline struct around place_ahead(struct ahead ahead, uint32_t step, uint32_t j)
{
  return around_of<NEIGHBOURS>(&ahead.places[step % STEPS_AHEAD * GPUMC_WALK_UPDATES + j]);
}

/* The numbers of a step. */
struct numbers {
  uint32_t number[GPUMC_WALK_UPDATES];
};

/* Rounds of Philox as the run asks for, with code for both; those without signs that go by energy
 * have code for each. */
enum { EITHER = 0 };

template <uint32_t ROUNDS>
static __device__ inline struct numbers
draw(struct gpumc_random random, uint32_t replica, uint64_t time)
{
  struct numbers numbers;
  const uint32_t label = gpumc_random_label(GPUMC_RANDOM_LATTICE_WALK, ISING_WALKER_ACCEPTANCE);
  const struct gpumc_philox_group at =
      gpumc_philox_group(random, (uint32_t)(time >> 32), (uint32_t)time);
  const struct gpumc_philox_word word = gpumc_philox_word(&at, replica);
  const uint2 of_label = gpumc_philox_label(random.key, word.first, label);
  if constexpr (ROUNDS == EITHER)
    gpumc_philox_draw_either(&at, &word, of_label, random.rounds, numbers.number);
  else
    gpumc_philox_draw<ROUNDS>(&at, &word, of_label, numbers.number);
  return numbers;
}

template <int NEIGHBOURS, bool SIGNS, bool BY_SPIN, uint32_t ROUNDS>
static __device__ inline void
walk_group(const struct ising_walker_walk *walk, const struct lattice_walk_run *run, uint32_t group,
           uint32_t size, struct stretch stretch, const unsigned char *thresholds,
           unsigned char *shared, struct count count)
{
  const struct lattice_batch *batch = &walk->replicas.batch;
  const uint32_t lane = threadIdx.x % WARP, replica = group * GPUMC_WALK_GROUP + lane;
  const struct gpumc_random random = lattice_batch_random(batch, run->number);
  const uint32_t group_number = lattice_batch_group(batch, group, GPUMC_WALK_GROUP),
                 replica_number = lattice_batch_replica(batch, replica);
  constexpr uint32_t stride = (BY_SPIN ? 2 : 1) * (NEIGHBOURS + 1) * sizeof(uint32_t);
  const struct steps steps = {(uint32_t)walk->step_base * stride,
                              (uint32_t)walk->step_unlike * stride / ISING_WALKER_BIT,
                              (uint32_t)walk->step_up * stride / ISING_WALKER_BIT};
  const struct ahead ahead = {
      (struct ising_walker_places *)shared, (uint16_t *)(shared + RUN_OF_PLACES),
      walk->places + sample_of_run(&walk->tables, run->number) * 2 * walk->replicas.colour,
      stretch.time};
  struct walker walker = {
      shared + RUN_OF_PLACES + UPDATES_AHEAD * sizeof(uint16_t) + lane * LANE_WORD, 0};
  const struct lane stored = lane_of(&walk->replicas, run->number, replica);
  const bool lives = replica < size, passes = walk->passages != NULL && lives;
  uint32_t *passages = passes ? walk->passages + run->number * batch->capacity + replica : NULL;
  uint32_t passed = passes ? *passages : 0;
  const uint32_t end0 = passes ? run->end[0] * stride : UINT32_MAX;
  const uint32_t end1 = passes ? run->end[1] * stride : UINT32_MAX;
  load_words(stored, &walker);
  /* If there is no replica, thresholds of some level keep the thread within bounds. */
  walker.level = lives ? level_of<NEIGHBOURS, SIGNS>(walk, run, ahead.all, &walker) * stride : 0;
  look_ahead(walk, random, group_number, ahead, 0);
  struct numbers next = draw<ROUNDS>(random, replica_number, ahead.time);
  struct around around = place_ahead<NEIGHBOURS>(ahead, 0, 0);
  for (uint32_t s = 0; s < stretch.steps; s++) {
    const struct numbers now = next;
    next = draw<ROUNDS>(random, replica_number, ahead.time + s + 1);
#pragma unroll
    for (uint32_t j = 0; j < GPUMC_WALK_UPDATES; j++) {
      const bool last = j + 1 == GPUMC_WALK_UPDATES;
      if (last)
        look_ahead(walk, random, group_number, ahead, s + 1);
      const struct around after =
          place_ahead<NEIGHBOURS>(ahead, last ? s + 1 : s, last ? 0 : j + 1);
      update<NEIGHBOURS, SIGNS, BY_SPIN>(steps, &walker, thresholds, &around, now.number[j]);
      around = after;
    }
    if (count.of_block != NULL && lives)
      atomicAdd(&count.of_block[walker.level / stride], 1);
    if (count.of_part != NULL && lives)
      atomicAdd(&count.of_part[walker.level / stride], 1);
    if (walker.level == end0)
      passed = gpumc_walk_arrive(passed, 0);
    if (walker.level == end1)
      passed = gpumc_walk_arrive(passed, 1);
  }
  if (lives)
    store_words(stored, &walker);
  if (passes)
    *passages = passed;
}

/* Blocks are groups of a run side by side; block y: of run[y]. */
template <int NEIGHBOURS, bool SIGNS, bool BY_SPIN, uint32_t ROUNDS>
__global__ void __launch_bounds__(WARPS_MOST *WARP)
    walk_shared(const __grid_constant__ struct ising_walker_walk walk)
{
  extern __shared__ uint4 memory[];
  uint32_t *thresholds = (uint32_t *)memory, n = walk.levels * walk.classes;
  uint32_t *visits = walk.visits != NULL ? thresholds + n : NULL;
  const struct lattice_walk_run *run = &walk.run[blockIdx.y];
  const uint32_t warps = blockDim.x / WARP, warp = threadIdx.x / WARP;
  const uint32_t size = walk.replicas.batch.size[run->number], first = blockIdx.x * warps,
                 group = first + warp;
  const struct stretch stretch = stretch_of(&walk, run);
  if (first * WARP >= size || stretch.steps == 0)
    return;
  for (uint32_t i = threadIdx.x; i < n; i += blockDim.x)
    thresholds[i] = walk.threshold[(size_t)run->number * n + i];
  for (uint32_t l = threadIdx.x; visits != NULL && l < walk.levels; l += blockDim.x)
    visits[l] = 0;
  __syncthreads();
  unsigned long long *counts =
      (unsigned long long *)walk.visits + (size_t)run->number * walk.parts * walk.levels;
  const size_t part_of_block =
      lattice_walk_part(&walk.replicas.batch, first * WARP, size, run->parts);
  const size_t part = lattice_walk_part(&walk.replicas.batch, group * WARP, size, run->parts);
  struct count count = {NULL, NULL};
  if (visits != NULL && part == part_of_block)
    count.of_block = visits;
  else if (visits != NULL)
    count.of_part = counts + part * walk.levels;
  if (group * WARP < size)
    walk_group<NEIGHBOURS, SIGNS, BY_SPIN, ROUNDS>(
        &walk, run, group, size, stretch, (const unsigned char *)thresholds,
        (unsigned char *)memory + block_bytes(&walk) + warp * warp_bytes(2 * walk.replicas.colour),
        count);
  __syncthreads();
  for (uint32_t l = threadIdx.x; visits != NULL && l < walk.levels; l += blockDim.x)
    if (visits[l] > 0)
      atomicAdd(&counts[part_of_block * walk.levels + l], visits[l]);
}

/* ---- the host's side ---- */

enum { THREADS = 256 };

/* Returns the most warps that fit into a block. */
static uint32_t warps_that_fit(const struct ising_walker_walk *walk)
{
  const size_t sites = 2 * (size_t)walk->replicas.colour, own = block_bytes(walk);
  if (!walk->tabled || sites > UINT16_MAX || own + warp_bytes((uint32_t)sites) > walk->shared_bytes)
    return 0;
  const size_t warps = (walk->shared_bytes - own) / warp_bytes((uint32_t)sites);
  return (uint32_t)(warps < WARPS_MOST ? warps : WARPS_MOST);
}

/* Returns the cost of a launch with `warps` in a block, in units of the time that one warp adds to
 * a step on a multiprocessor: steps take their latency, ALONE of these, and more if many warps
 * share it. */
static double cost_of(const struct ising_walker_walk *walk, size_t warps)
{
  enum { ALONE = 11, OF_THE_SYSTEM = 1024 /* bytes of each block */ };
  const size_t of_run = lattice_parts(walk->replicas.batch.capacity, WARP);
  const size_t bytes = block_bytes(walk) + warps * warp_bytes(2 * walk->replicas.colour);
  const size_t blocks = walk->active * lattice_parts(of_run, warps);
  const size_t in_shared = (walk->shared_bytes + OF_THE_SYSTEM) / (bytes + OF_THE_SYSTEM);
  const size_t of_one = in_shared < WARPS_MOST / warps ? in_shared : WARPS_MOST / warps;
  const size_t waves = lattice_parts(blocks, of_one * walk->multiprocessors);
  const size_t there = waves > 1 ? of_one : lattice_parts(blocks, walk->multiprocessors);
  return (double)waves * (double)(ALONE + there * warps);
}

/* The more there are in a block, the fewer blocks copy thresholds. */
extern "C" uint32_t ising_walker_warps(const struct ising_walker_walk *walk)
{
  const uint32_t most = warps_that_fit(walk);
  if (most == 0 || walk->replicas.block_threads > 0) {
    const uint32_t wanted = (uint32_t)lattice_parts(walk->replicas.block_threads, WARP);
    return most < wanted ? most : wanted;
  }
  uint32_t best = most;
  for (uint32_t warps = most; warps-- > 1;)
    if (cost_of(walk, warps) < cost_of(walk, best))
      best = warps;
  return best;
}

typedef void walk_kernel(struct ising_walker_walk);

template <int NEIGHBOURS> static walk_kernel *choose(bool signs, bool by_spin, uint32_t rounds)
{
  if (signs)
    return by_spin ? walk_shared<NEIGHBOURS, true, true, EITHER>
                   : walk_shared<NEIGHBOURS, true, false, EITHER>;
  if (by_spin)
    return walk_shared<NEIGHBOURS, false, true, EITHER>;
  return rounds == 7 ? walk_shared<NEIGHBOURS, false, false, 7>
                     : walk_shared<NEIGHBOURS, false, false, 10>;
}

static walk_kernel *kernel_of(const struct ising_walker_walk *walk)
{
  const bool signs = walk->tables.kind == ISING_SPIN_SIGNS, by_spin = walk->by_spin != 0;
  const uint32_t rounds = walk->replicas.batch.rounds;
  return walk->replicas.dimension == 2 ? choose<4>(signs, by_spin, rounds)
                                       : choose<6>(signs, by_spin, rounds);
}

static cudaError_t allow_memory(walk_kernel *kernel, size_t bytes)
{
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
}

extern "C" size_t ising_walker_fills(const struct ising_walker_walk *walk)
{
  const uint32_t warps = ising_walker_warps(walk);
  const size_t bytes = block_bytes(walk) + warps * warp_bytes(2 * walk->replicas.colour);
  walk_kernel *kernel = kernel_of(walk);
  int blocks = 0;
  if (warps == 0)
    return 0;
  if (allow_memory(kernel, bytes) != cudaSuccess ||
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, (int)(warps * WARP), bytes) !=
          cudaSuccess) {
    (void)cudaGetLastError(); /* so that no later call is blamed for it */
    return 0;
  }
  return (size_t)blocks * warps * WARP * walk->multiprocessors;
}

extern "C" enum gpumc_status
ising_walker_walk_shared(const struct ising_walker_walk *walk, struct gpumc_error *error)
{
  const struct lattice_batch *batch = &walk->replicas.batch;
  const cudaStream_t stream = (cudaStream_t)batch->stream;
  const uint32_t sites = 2 * walk->replicas.colour, warps = ising_walker_warps(walk);
  walk_kernel *kernel = kernel_of(walk);
  const size_t bytes = block_bytes(walk) + warps * warp_bytes(sites);
  const dim3 of_places((uint32_t)lattice_parts(sites, THREADS),
                       walk->tables.by_run == 0 ? 1 : walk->tables.by_run);
  make_places<<<of_places, THREADS, 0, stream>>>(*walk);
  GPUMC_TRY(GPUMC_CUDA_LAUNCHED("make_places", error));
  GPUMC_TRY(GPUMC_CUDA(allow_memory(kernel, bytes), error));
  const dim3 grid((uint32_t)lattice_parts(lattice_parts(batch->capacity, WARP), warps),
                  walk->active);
  kernel<<<grid, warps * WARP, bytes, stream>>>(*walk);
  return GPUMC_CUDA_LAUNCHED("walk_shared", error);
}
