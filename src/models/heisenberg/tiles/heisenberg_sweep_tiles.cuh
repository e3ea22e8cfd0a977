/* Sweeps of large square lattices by tiles (heisenberg_tile.cuh): the launches, which go from the
 * replicas to a second buffer and back, and how lattices are cut. Included only by
 * heisenberg_sweep.cuh. */
#ifndef GPUMC_HEISENBERG_SWEEP_TILES_CUH
#define GPUMC_HEISENBERG_SWEEP_TILES_CUH

#include <math.h>

#include "models/heisenberg/heisenberg_launched.cuh"
#include "models/heisenberg/tiles/heisenberg_tile.cuh"
#include "core/device/early.cuh"

/* Replicas first .. first + count - 1 of all runs: replica number `first` is at `from` before the
 * sweeps time .. time + tiling.sweeps - 1, and at `to` after them. */
struct heisenberg_tile_pass {
  unsigned char *from, *to;
  size_t first;
  uint32_t count, time;
};

template <class KIND, enum heisenberg_move MOVE>
static __device__ inline uint32_t
sweep_tile(const struct heisenberg_gpu_sweep *sweep, const struct heisenberg_tile<KIND> &tile,
           uint32_t run, uint32_t replica, uint32_t time, uint32_t margin)
{
  struct heisenberg_turn<KIND> turn = {
    tile.lattice, heisenberg_tile_colours(tile, 0),
        heisenberg_stream_make(lattice_batch_random(&sweep->replicas.batch, run),
                               lattice_batch_replica(&sweep->replicas.batch, replica), time),
        0, strength_of<KIND>(sweep, run, MOVE)
  };
  uint32_t taken = 0;
#pragma unroll 1
  for (uint32_t colour = 0; colour < 2; colour++) {
    turn.colour = colour;
    turn.colours = heisenberg_tile_colours(tile, colour);
    taken +=
        heisenberg_tile_update<KIND, MOVE>(tile, margin - colour, turn, threadIdx.x, blockDim.x);
    __syncthreads();
  }
  return taken;
}

/* MOVE: Metropolis of either kind, or HEISENBERG_MIXED for heat bath and over-relaxation. */
template <class KIND, enum heisenberg_move MOVE>
static __global__ void __launch_bounds__(KIND::rules::THREADS)
    sweep_tiles(const __grid_constant__ struct heisenberg_gpu_sweep sweep,
                const __grid_constant__ struct heisenberg_tiling tiling,
                const __grid_constant__ struct heisenberg_tile_pass pass)
{
  typedef typename KIND::real real;
  const struct lattice_batch *batch = &sweep.replicas.batch;
  const uint32_t line = blockIdx.x / tiling.tiles_x, number = line / tiling.tiles_y;
  const uint32_t run = (uint32_t)((pass.first + number) / batch->capacity);
  const uint32_t replica = (uint32_t)(pass.first + number - run * batch->capacity);
  if (replica >= batch->size[run]) {
    gpumc_wait_for_before(); /* when a launch has ended, so have all before it */
    return;
  }
  struct heisenberg_tile<KIND> tile;
  tile.lattice = &sweep.replicas.lattice;
  tile.tiling = &tiling;
  tile.x = (blockIdx.x - line * tiling.tiles_x) * tiling.wide;
  tile.y = (line - number * tiling.tiles_y) * tiling.high;
  tile.shared = (real *)shared;
  tile.from = (const real *)(pass.from + number * sweep.replicas.stride);
  tile.to = (real *)(pass.to + number * sweep.replicas.stride);
  gpumc_wait_for_before();
  heisenberg_tile_read(tile, threadIdx.x, blockDim.x);
  __syncthreads();
  uint32_t taken = 0;
#pragma unroll 1
  for (uint32_t s = 0; s < tiling.sweeps; s++) {
    const uint32_t time = pass.time + s, margin = 2 * (tiling.sweeps - s) - 1;
    if constexpr (MOVE != HEISENBERG_MIXED)
      taken += sweep_tile<KIND, MOVE>(&sweep, tile, run, replica, time, margin);
    else if (heisenberg_move_at(sweep.move, sweep.over_relaxations, time) == HEISENBERG_HEAT_BATH)
      sweep_tile<KIND, HEISENBERG_HEAT_BATH>(&sweep, tile, run, replica, time, margin);
    else
      sweep_tile<KIND, HEISENBERG_OVER_RELAXATION>(&sweep, tile, run, replica, time, margin);
  }
  /* Blocks of the next launch start while this one writes; any earlier they would be in the way. */
  gpumc_let_next_begin();
  heisenberg_tile_write(tile, threadIdx.x, blockDim.x);
  if constexpr (MOVE == HEISENBERG_METROPOLIS_SMALL)
    count_taken(&sweep, run, taken);
}

/* ---- how lattices are cut ---- */

/* Estimates that only decide the speed of sweeps, in cycles of a multiprocessor: for a warp whose
 * threads update two pairs each, in float, among many; how many times longer it takes in double,
 * and alone; the share of it that one pair takes; bytes per cycle to and from device memory; the
 * latency of a read; a launch; and how often a sweep in device memory reads or writes a spin. */
#define TILE_METROPOLIS 150.0
#define TILE_HEAT_BATH 207.0
#define TILE_OVER_RELAXATION 80.0
#define TILE_IN_DOUBLE 2.4
#define TILE_ALONE (KIND::rules::SHARED ? 20.0 : 10.0)
#define TILE_ONE_PAIR 0.6
#define TILE_BYTES 20.0
#define TILE_READING 2000.0
#define TILE_LAUNCH 3000.0
#define DEVICE_PASSES 3.2

enum {
  TILE_SWEEPS_MAXIMUM = 8, /* of a launch */
  TILE_WIDE_LEAST = 4,     /* pairs */
  TILE_WIDE_MOST = 64,
  TILE_HIGH_LEAST = 2, /* lines */
  TILE_HIGH_MOST = 255,
  TILE_HEIGHTS = 11, /* to be tried */
};

template <class KIND> static size_t tile_bytes(const struct heisenberg_tiling *tiling)
{
  return (size_t)2 * KIND::COMPONENTS * heisenberg_tile_colour(tiling) *
         sizeof(typename KIND::real);
}

/* Returns the cost of a warp's update, averaged over the coming sweeps. */
template <class KIND> static double tile_work(const struct heisenberg_gpu_sweep *sweep)
{
  const double others = sweep->over_relaxations;
  const double work = sweep->move == HEISENBERG_MIXED
                          ? (TILE_HEAT_BATH + others * TILE_OVER_RELAXATION) / (1.0 + others)
                      : sweep->move == HEISENBERG_HEAT_BATH       ? TILE_HEAT_BATH
                      : sweep->move == HEISENBERG_OVER_RELAXATION ? TILE_OVER_RELAXATION
                                                                  : TILE_METROPOLIS;
  return KIND::rules::SHARED ? work : TILE_IN_DOUBLE * work;
}

/* Returns the threads of a block, at most `limit`: as many as have something to do, in whole warps,
 * none of them idle for long. */
static uint32_t tile_threads(const struct heisenberg_gpu_sweep *sweep, size_t units, size_t limit)
{
  const size_t wanted = sweep->block_threads;
  const size_t warps = lattice_parts(units, HEISENBERG_WARP);
  const size_t most = lattice_parts(wanted > 0 && wanted < limit ? wanted : limit, HEISENBERG_WARP);
  return (uint32_t)(lattice_parts(warps, lattice_parts(warps, most)) * HEISENBERG_WARP);
}

/* Returns the cycles of `blocks` blocks side by side on a multiprocessor, each of which moves this
 * many bytes. */
template <class KIND>
static double
tile_cycles(const struct heisenberg_gpu_sweep *sweep, const struct heisenberg_tiling *tiling,
            uint32_t threads, double bytes, double blocks)
{
  const uint32_t warps = threads / HEISENBERG_WARP;
  double updates = 0.0;
  for (uint32_t margin = 0; margin < 2 * tiling->sweeps; margin++) {
    const struct heisenberg_tile_part part = heisenberg_tile_part_of(tiling, margin);
    const uint32_t all = (uint32_t)lattice_parts(part.units, HEISENBERG_WARP), rest = all % warps;
    const double single = tiling->fours ? part.units - part.within : part.units;
    const double share = 1.0 - (1.0 - TILE_ONE_PAIR) * single / part.units;
    updates += share * (all / warps * fmax(blocks * warps, TILE_ALONE) +
                        (rest > 0 ? fmax(blocks * rest, TILE_ALONE) : 0.0));
  }
  return tile_work<KIND>(sweep) * updates + blocks * bytes / TILE_BYTES + TILE_READING;
}

/* Plans launches for this many replicas at once. */
template <class KIND>
static struct heisenberg_tile_plan
plan_tiling(const struct heisenberg_gpu_sweep *sweep, const struct heisenberg_tiling *tiling,
            uint32_t limit, double replicas)
{
  struct heisenberg_tile_plan plan;
  plan.wide = tiling->wide;
  plan.high = tiling->high;
  plan.bytes = tile_bytes<KIND>(tiling);
  plan.threads = tile_threads(sweep, heisenberg_tile_part_of(tiling, tiling->sweeps).units, limit);
  const size_t of_memory = (sweep->shared_bytes + 1024) / (plan.bytes + 1024);
  const size_t of_threads = KIND::rules::THREADS / plan.threads;
  const double most = (double)(of_memory < of_threads ? of_memory : of_threads);
  const double blocks = replicas * tiling->tiles_x * tiling->tiles_y;
  const double each = ceil(blocks / (sweep->multiprocessors > 0 ? sweep->multiprocessors : 1));
  const double full = ceil(each / most) - 1.0, together = fmin(each, most);
  const double bytes = (double)plan.bytes + (double)tiling->wide * tiling->high * HEISENBERG_PAIR *
                                                2 * KIND::COMPONENTS * sizeof(typename KIND::real);
  plan.cycles =
      TILE_LAUNCH + tile_cycles<KIND>(sweep, tiling, plan.threads, bytes, each - full * together);
  if (full > 0.0)
    plan.cycles += full * tile_cycles<KIND>(sweep, tiling, plan.threads, bytes, together);
  return plan;
}

/* Divides `count` evenly into as many parts as parts of `wanted` would make; returns the size of
 * one, a multiple of `step`. */
static uint32_t tile_share(uint32_t count, uint32_t wanted, uint32_t step)
{
  return heisenberg_multiple_from((uint32_t)lattice_parts(count, lattice_parts(count, wanted)),
                                  step);
}

/* Returns a height of tiles in lines to try, `tiles_x` in a row for this many replicas: fixed
 * heights, then those with which the blocks are just one for each multiprocessor, or two, three or
 * four; 0: none. */
static uint32_t tile_height(const struct heisenberg_gpu_sweep *sweep, uint32_t number,
                            double tiles_x, double replicas)
{
  static const uint32_t common[] = {12, 16, 24, 32, 48, 64, 96};
  const uint32_t lines = sweep->replicas.lattice.height.value, n = sizeof common / sizeof *common;
  if (number < n)
    return tile_share(lines, common[number], 1);
  const double blocks = (double)sweep->multiprocessors * (number - n + 1);
  const uint32_t tiles_y = (uint32_t)(blocks / (tiles_x * replicas));
  return tiles_y > 0 ? tile_share(lines, (uint32_t)lattice_parts(lines, tiles_y), 1) : 0;
}

/* Finds the tiles estimated to be fastest for launches of this many sweeps, among those that fit
 * into shared memory; threads = 0: none. */
template <class KIND>
static struct heisenberg_tile_plan
find_tiling(const struct heisenberg_gpu_sweep *sweep, uint32_t sweeps, double replicas)
{
  const struct heisenberg_gpu_lattice *lattice = &sweep->replicas.lattice;
  const uint32_t pairs = lattice->row.value / HEISENBERG_PAIR;
  const uint32_t sharing = HEISENBERG_SHARING / HEISENBERG_PAIR;
  struct heisenberg_tile_plan best = {};
  for (uint32_t wide = TILE_WIDE_LEAST; wide <= TILE_WIDE_MOST; wide *= 2)
    for (uint32_t number = 0; number < TILE_HEIGHTS; number++) {
      /* Tiles of one size, none of them mostly beyond the lattice. */
      const uint32_t step = pairs % sharing == 0 && wide >= sharing ? sharing : 1;
      const uint32_t width = tile_share(pairs, wide, step);
      const uint32_t high =
          tile_height(sweep, number, (double)lattice_parts(pairs, width), replicas);
      if (high < TILE_HIGH_LEAST || high > TILE_HIGH_MOST)
        continue;
      const struct heisenberg_tiling tiling = heisenberg_tiling_of(lattice, width, high, sweeps);
      if (tile_bytes<KIND>(&tiling) > sweep->shared_bytes)
        continue;
      for (uint32_t limit = KIND::rules::THREADS / 2; limit <= KIND::rules::THREADS; limit *= 2) {
        const struct heisenberg_tile_plan plan = plan_tiling<KIND>(sweep, &tiling, limit, replicas);
        if (best.threads == 0 || plan.cycles < best.cycles)
          best = plan;
      }
    }
  return best;
}

/* Returns the cycles of a sweep in device memory, with this many replicas. */
template <class KIND>
static double device_cycles(const struct heisenberg_gpu_sweep *sweep, double replicas)
{
  const double bytes = DEVICE_PASSES * KIND::COMPONENTS * sizeof(typename KIND::real);
  const double spins = 2.0 * sweep->replicas.lattice.colour * replicas /
                       (sweep->multiprocessors > 0 ? sweep->multiprocessors : 1);
  const double work = tile_work<KIND>(sweep), update = work * spins / (4 * HEISENBERG_WARP);
  return 2.0 * (TILE_LAUNCH + TILE_READING) + spins * bytes / TILE_BYTES +
         fmax(update, 2.0 * TILE_ALONE * work);
}

/* ---- launches ---- */

template <class KIND>
static struct heisenberg_tile_course find_course(const struct heisenberg_gpu_sweep *sweep)
{
  const struct lattice_batch *batch = &sweep->replicas.batch;
  const double expected = (double)batch->runs * (double)(batch->expected > 0 ? batch->expected : 1);
  const double together = fmin(expected, (double)sweep->others);
  double least = sweep->sweeps * device_cycles<KIND>(sweep, expected) * together / expected;
  struct heisenberg_tile_course best = {};
  uint32_t before = 0;
  best.sweeps = sweep->sweeps;
  best.expected = batch->expected;
  for (uint32_t sweeps = 1; sweeps <= TILE_SWEEPS_MAXIMUM; sweeps++) {
    const uint32_t launches = 2 * (uint32_t)lattice_parts(sweep->sweeps, 2 * (size_t)sweeps);
    if (launches > sweep->sweeps || launches == before)
      continue;
    before = launches;
    const struct heisenberg_tile_plan plan =
        find_tiling<KIND>(sweep, (uint32_t)lattice_parts(sweep->sweeps, launches), together);
    if (plan.threads == 0 || launches * plan.cycles >= least)
      continue;
    least = launches * plan.cycles;
    best.plan = plan;
    best.launches = launches;
  }
  return best;
}

/* Computed once for similar calls. */
template <class KIND>
static const struct heisenberg_tile_course *tile_course(const struct heisenberg_gpu_sweep *sweep)
{
  struct heisenberg_tile_course *course = sweep->course;
  if (course->sweeps != sweep->sweeps || course->expected != sweep->replicas.batch.expected)
    *course = find_course<KIND>(sweep);
  return course;
}

/* Sweeps replicas first .. first + count - 1. */
template <class KIND, enum heisenberg_move MOVE>
static enum gpumc_status sweep_pass(const struct heisenberg_gpu_sweep *sweep, size_t first,
                                    size_t count, bool may_begin_early, struct gpumc_error *error)
{
  const struct heisenberg_replicas *replicas = &sweep->replicas;
  const struct heisenberg_tile_course *course = sweep->course;
  unsigned char *stored = (unsigned char *)replicas->spins + first * replicas->stride;
  unsigned char *other = (unsigned char *)sweep->other;
  uint32_t done = 0;
  for (uint32_t number = 0; number < course->launches; number++) {
    const uint32_t sweeps =
        (uint32_t)lattice_parts(sweep->sweeps - done, course->launches - number);
    const struct heisenberg_tiling tiling =
        heisenberg_tiling_of(&replicas->lattice, course->plan.wide, course->plan.high, sweeps);
    const struct heisenberg_tile_pass pass = {number % 2 == 0 ? stored : other,
                                              number % 2 == 0 ? other : stored, first,
                                              (uint32_t)count, replicas->batch.time + done};
    const struct gpumc_early_launch launch = {
        dim3((uint32_t)count * tiling.tiles_x * tiling.tiles_y), course->plan.threads,
        tile_bytes<KIND>(&tiling), replicas->batch.stream, may_begin_early && first + number > 0};
    GPUMC_TRY(gpumc_launch_early(sweep_tiles<KIND, MOVE>, launch, error, *sweep, tiling, pass));
    done += sweeps;
  }
  return GPUMC_OK;
}

/* Sweeps as many replicas at a time as the second buffer has room for. */
template <class KIND, enum heisenberg_move MOVE>
static enum gpumc_status
sweep_in_passes(const struct heisenberg_gpu_sweep *sweep, struct gpumc_error *error)
{
  const struct lattice_batch *batch = &sweep->replicas.batch;
  const size_t all = batch->runs * batch->capacity;
  bool may_begin_early;
  GPUMC_TRY(gpumc_may_begin_early(sweep_tiles<KIND, MOVE>, &may_begin_early, error));
  if (sweep->course->plan.bytes > DEFAULT_SHARED_BYTES)
    GPUMC_TRY(GPUMC_CUDA(cudaFuncSetAttribute(sweep_tiles<KIND, MOVE>,
                                              cudaFuncAttributeMaxDynamicSharedMemorySize,
                                              (int)sweep->course->plan.bytes),
                         error));
  for (size_t first = 0; first < all; first += sweep->others) {
    const size_t left = all - first;
    GPUMC_TRY((sweep_pass<KIND, MOVE>(sweep, first, left < sweep->others ? left : sweep->others,
                                      may_begin_early, error)));
  }
  return GPUMC_OK;
}

template <class KIND>
static enum gpumc_status
sweep_by_tiles(const struct heisenberg_gpu_sweep *sweep, struct gpumc_error *error)
{
  if (sweep->move == HEISENBERG_METROPOLIS)
    return sweep_in_passes<KIND, HEISENBERG_METROPOLIS>(sweep, error);
  if (sweep->move == HEISENBERG_METROPOLIS_SMALL)
    return sweep_in_passes<KIND, HEISENBERG_METROPOLIS_SMALL>(sweep, error);
  return sweep_in_passes<KIND, HEISENBERG_MIXED>(sweep, error);
}

#endif
