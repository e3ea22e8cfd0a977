/* Sweeps of the kernel `checkerboard` on a GPU: launches, and the choice between the two ways to
 * sweep.
 *
 * nvcc: --compress-mode=size */
#include <cuda_runtime.h>
#include <math.h>

#include "models/hard_disks/checkerboard/checkerboard_whole.cuh"
#include "core/device/early.cuh"

enum {
  WARP = 32,
  THREADS = 256,     /* of a block at most */
  BLOCKS = 3,        /* blocks of that size for which a multiprocessor has registers */
  FEW_THREADS = 160, /* the same if there are few blocks: more registers */
  FEW_BLOCKS = 4,
  DEFAULT_SHARED_BYTES = 49152, /* available to every block */
  SWEEPS_AT_ONCE = 1024,        /* for whole replicas: keeps counts of a block below 2^32 */
  PHILOX_SHORT = 7,             /* the other number of rounds */
  PHILOX_LONG = 10,
};

static_assert(sizeof(float4) == HARD_DISKS_PAIR_BYTES, "pairs of disks");

extern __shared__ float4 shared[];

/* Sums what the threads of a block counted in shared memory: one number for each block is added to
 * that of the run; one for each warp would wait in line with all others. */
static __device__ inline void sum_counts(const struct disks_counts *counts, uint32_t *listed)
{
  const uint32_t accepted = __reduce_add_sync(UINT32_MAX, counts->accepted);
  const uint32_t cells = __reduce_add_sync(UINT32_MAX, counts->cells);
  if (threadIdx.x % WARP == 0) {
    atomicAdd(&listed[DISKS_ACCEPTED], accepted);
    atomicAdd(&listed[DISKS_MOVED], cells);
  }
}

/* Adds to the counts of the run, after the threads of the block have synchronised. */
static __device__ inline void
add_counts(const struct hard_disks_gpu_sweep *sweep, const uint32_t *listed)
{
  if (threadIdx.x != 0)
    return;
  atomicAdd((unsigned long long *)&sweep->accepted[blockIdx.y],
            (unsigned long long)listed[DISKS_ACCEPTED]);
  atomicAdd((unsigned long long *)&sweep->proposed[blockIdx.y],
            (unsigned long long)listed[DISKS_MOVED] * sweep->moves);
}

static __device__ inline struct disks_rule rule_of(const struct hard_disks_gpu_sweep *sweep)
{
  struct disks_rule rule = {};
  rule.width_x = sweep->replicas.box.width_x;
  rule.width_y = sweep->replicas.box.width_y;
  rule.scale = sweep->scale[blockIdx.y];
  rule.moves = sweep->moves;
  rule.shuffle = sweep->shuffle;
  return rule;
}

/* ---- tiles ---- */

/* OPEN: replicas have boxes of their own, given in their heads. FEW: multiprocessors have room for
 * the blocks of two launches; the slowest block decides. Not with OPEN, whose blocks wait for the
 * move of the volume before they do anything. */
template <uint32_t ROUNDS, bool OPEN, bool FEW>
static __global__ void __launch_bounds__(FEW ? FEW_THREADS : THREADS, FEW ? FEW_BLOCKS : BLOCKS)
    sweep_tiles(const __grid_constant__ struct hard_disks_gpu_sweep sweep,
                const __grid_constant__ struct disks_tiling tiling, const unsigned char *from,
                unsigned char *to, uint32_t time)
{
  const struct hard_disks_replicas *replicas = &sweep.replicas;
  const struct lattice_batch *batch = &replicas->batch;
  const uint32_t row = blockIdx.x / tiling.x.tiles, i = blockIdx.x - row * tiling.x.tiles;
  const uint32_t replica = row / tiling.y.tiles, j = row - replica * tiling.y.tiles;
  if (replica >= batch->size[blockIdx.y])
    return;
  const struct gpumc_random random = lattice_batch_random(batch, blockIdx.y);
  size_t place = (blockIdx.y * batch->capacity + replica) * replicas->stored.bytes;
  disks_keep(place);
  const struct disks_block block = disks_block_at(shared, &tiling);
  struct disks_task task;
  task.box = &replicas->box;
  task.stored = &replicas->stored;
  task.tiling = &tiling;
  task.from = from + place;
  task.to = to + place;
  task.rule = rule_of(&sweep);
  struct hard_disks_box own;
  if (OPEN) {
    gpumc_wait_for_before();
    own = hard_disks_box_with(&replicas->box, ((const struct hard_disks_head *)task.from)->width);
    task.box = &own;
    task.rule.width_x = own.width_x;
    task.rule.width_y = own.width_y;
  }
  const uint32_t replica_number = lattice_batch_replica(batch, replica);
  task.sweep = hard_disks_sweep_of(random, task.box, replica_number, time);
  if (!sweep.shift)
    task.sweep.distance = 0.0f;
  task.rule.group = gpumc_philox_group(random, replica_number, time);
  task.tile = disks_tile_of(&tiling, task.sweep.direction, i, j);
  disks_prepare(&task, &block, threadIdx.x, blockDim.x);
  if (!OPEN)
    gpumc_wait_for_before();
  /* Blocks of the next sweep start during this one, and are ready when it is done. */
  if (FEW)
    gpumc_let_next_begin();
  __syncthreads();
  disks_read<FEW ? DISKS_READS_OF_FEW : DISKS_READS>(&task, &block, threadIdx.x, blockDim.x);
  __syncthreads();
  if (disks_has_more_than_two(&block)) {
    disks_read_rest(&task, &block, threadIdx.x, blockDim.x);
    __syncthreads();
  }
  struct disks_counts counts = {0, 0};
#pragma unroll 1
  for (uint32_t turn = 0; turn < HARD_DISKS_COLOURS; turn++) {
    disks_move_turn<ROUNDS, OPEN, FEW>(&task, &block, turn, threadIdx.x, blockDim.x, &counts);
    if (FEW && turn + 1 == HARD_DISKS_COLOURS)
      sum_counts(&counts, block.listed);
    __syncthreads();
  }
  /* The next sweep begins while this one writes: a launch takes a microsecond less. Any earlier and
   * its blocks would be in the way of others. */
  if (!FEW)
    gpumc_let_next_begin();
  if (FEW)
    add_counts(&sweep, block.listed);
  disks_write(&task, &block, threadIdx.x, blockDim.x);
  if (i == 0 && j == 0)
    disks_write_head(&task, threadIdx.x);
  if (!FEW) {
    sum_counts(&counts, block.listed);
    __syncthreads();
    add_counts(&sweep, block.listed);
  }
}

/* ---- whole replicas ---- */

template <uint32_t ROUNDS, bool OPEN>
static __global__ void __launch_bounds__(THREADS, BLOCKS)
    sweep_whole(const __grid_constant__ struct hard_disks_gpu_sweep sweep,
                const __grid_constant__ struct disks_whole whole)
{
  const struct hard_disks_replicas *replicas = &sweep.replicas;
  const struct lattice_batch *batch = &replicas->batch;
  const uint32_t size = batch->size[blockIdx.y], first = blockIdx.x * whole.replicas;
  if (first >= size)
    return;
  const struct disks_whole_memory memory = disks_whole_memory_at(shared, &whole);
  struct disks_whole_task task;
  task.box = &replicas->box;
  task.stored = &replicas->stored;
  task.whole = whole;
  task.present = size - first < whole.replicas ? size - first : whole.replicas;
  task.first = lattice_batch_replica(batch, first);
  task.from = replicas->replicas + (blockIdx.y * batch->capacity + first) * replicas->stored.bytes;
  task.random = lattice_batch_random(batch, blockIdx.y);
  task.rule = rule_of(&sweep);
  task.shift = sweep.shift;
  struct disks_cells cells = memory.cells[0], next = memory.cells[1];
  struct disks_counts counts = {0, 0};
  disks_carry<false>(&task, &memory, &cells, threadIdx.x, blockDim.x);
#pragma unroll 1
  for (uint32_t s = 0; s < sweep.sweeps; s++) {
    disks_begin_sweep<OPEN>(&task, &memory, batch->time + s, threadIdx.x, blockDim.x);
    __syncthreads();
    disks_list_cells(&task, &memory, &cells, threadIdx.x, blockDim.x);
    __syncthreads();
#pragma unroll 1
    for (uint32_t turn = 0; turn < HARD_DISKS_COLOURS; turn++) {
      disks_move_listed<ROUNDS, OPEN>(&task, &memory, &cells, turn, threadIdx.x, blockDim.x,
                                      &counts);
      __syncthreads();
    }
    disks_shift_all<OPEN>(&task, &memory, &cells, &next, threadIdx.x, blockDim.x);
    __syncthreads();
    const struct disks_cells before = cells;
    cells = next;
    next = before;
  }
  disks_carry<true>(&task, &memory, &cells, threadIdx.x, blockDim.x);
  sum_counts(&counts, memory.listed);
  __syncthreads();
  add_counts(&sweep, memory.listed);
}

/* ---- which way to sweep, with how many threads ---- */

/* Estimates that only decide the speed of sweeps: instructions of a warp for a row of up to 32
 * cells that is read, or written, and for 32 cells that are moved; latency of an instruction in
 * cycles; how many complete per cycle on a multiprocessor; a launch in cycles. */
#define READ_WORK 70.0
#define MOVE_WORK 530.0
#define WRITE_WORK 90.0
#define LATENCY 4.5
#define AT_ONCE 2.4
#define LAUNCH_CYCLES 3000.0
/* Share of cells that have disks at the densities of interest, and threads for which a
 * multiprocessor has registers. */
#define FILLED 0.85
#define THREADS_TOGETHER ((double)(THREADS * BLOCKS))

enum { SIDE_LEAST = 8, SIDE_MOST = 56, SIDE_STEP = 4 };

/* How blocks work: threads, shared memory, and cycles of a sweep. */
struct plan {
  uint32_t threads;
  size_t bytes;
  double cycles;
};

static double parts_of(double count, double part)
{
  return ceil(count / part);
}

/* Returns the number of threads that moves this many cells in as few rounds as possible, with none
 * of them idle for long. */
static uint32_t threads_for(const struct hard_disks_gpu_sweep *sweep, double cells)
{
  const double most = sweep->block_threads > 0 && sweep->block_threads < THREADS
                          ? (double)sweep->block_threads
                          : (double)THREADS;
  const double rounds = parts_of(cells, most);
  const double threads = WARP * parts_of(parts_of(cells, rounds), WARP);
  return (uint32_t)(threads < most ? threads : WARP * parts_of(most, WARP));
}

/* Returns the cycles of `blocks` blocks that read and write this many rows and move this many cells
 * each. */
static double cycles_of(const struct hard_disks_gpu_sweep *sweep, const struct plan *plan,
                        double blocks, double read, double moved, double written)
{
  const double threads = plan->threads, warps = threads / WARP, colours = HARD_DISKS_COLOURS;
  const double work = READ_WORK * read + MOVE_WORK * moved / WARP + WRITE_WORK * written;
  const double latency = LATENCY * (READ_WORK * parts_of(read, warps) +
                                    colours * MOVE_WORK * parts_of(moved / colours, threads) +
                                    WRITE_WORK * parts_of(written, warps));
  const double of_memory =
      floor((double)(sweep->shared_bytes + 1024) / (double)(plan->bytes + 1024));
  const double of_threads = floor(THREADS_TOGETHER / threads);
  const double together = of_memory < of_threads ? of_memory : of_threads;
  const double each = parts_of(blocks, (double)sweep->multiprocessors);
  const double busy = each * work / AT_ONCE, waiting = parts_of(each, together) * latency;
  return busy > waiting ? busy : waiting;
}

static double replicas_in(const struct lattice_batch *batch)
{
  const double replicas = (double)batch->runs * (double)batch->expected;
  return replicas >= 1.0 ? replicas : 1.0;
}

static struct plan
plan_tiling(const struct hard_disks_gpu_sweep *sweep, const struct disks_tiling *tiling)
{
  const double x = tiling->x.side.value, y = tiling->y.side.value;
  const double blocks =
      replicas_in(&sweep->replicas.batch) * (double)tiling->x.tiles * (double)tiling->y.tiles;
  struct plan plan;
  double moved = 0.0;
  for (int turn = 0; turn < HARD_DISKS_COLOURS; turn++) {
    const double border = 2 * (DISKS_BORDER - turn) - 1.5;
    moved += FILLED / HARD_DISKS_COLOURS * (x + border) * (y + border);
  }
  plan.threads = threads_for(sweep, 1.1 * moved / HARD_DISKS_COLOURS);
  plan.bytes = disks_block_bytes(tiling);
  const double read = parts_of(x + 2 * DISKS_BORDER + 1, WARP) * (y + 2 * DISKS_BORDER);
  const double written = parts_of(x, WARP) * y;
  plan.cycles = LAUNCH_CYCLES + cycles_of(sweep, &plan, blocks, read, moved, written);
  return plan;
}

/* Finds the tiling estimated to be fastest among those that fit into shared memory; the smallest
 * always fits. */
static struct plan find_tiling(const struct hard_disks_gpu_sweep *sweep, struct disks_tiling *found)
{
  const struct hard_disks_box *box = &sweep->replicas.box;
  struct plan best = {};
  for (uint32_t high = SIDE_LEAST; high <= SIDE_MOST; high += SIDE_STEP)
    for (uint32_t wide = SIDE_LEAST; wide <= SIDE_MOST; wide += SIDE_STEP) {
      /* Tiles of one size, none of them mostly beyond the box. */
      const uint32_t in_x = (box->cells_x + wide - 1) / wide;
      const uint32_t in_y = (box->cells_y + high - 1) / high;
      const struct disks_tiling tiling =
          disks_tiling_of(box, (box->cells_x + in_x - 1) / in_x, (box->cells_y + in_y - 1) / in_y);
      const struct plan plan = plan_tiling(sweep, &tiling);
      if (plan.bytes > sweep->shared_bytes || (best.threads > 0 && plan.cycles >= best.cycles))
        continue;
      best = plan;
      *found = tiling;
    }
  return best;
}

/* threads = 0: they do not fit. */
static struct plan find_whole(const struct hard_disks_gpu_sweep *sweep, struct disks_whole *found)
{
  const struct hard_disks_box *box = &sweep->replicas.box;
  const double cells = (double)box->cells_x * (double)box->cells_y;
  const double replicas = replicas_in(&sweep->replicas.batch);
  struct plan best = {};
  if (box->cells_x > DISKS_SIDE_MAXIMUM || box->cells_y > DISKS_SIDE_MAXIMUM)
    return best;
  for (uint32_t together = 1; together <= DISKS_TOGETHER_MAXIMUM; together++) {
    const struct disks_whole whole = disks_whole_of(box, together);
    struct plan plan;
    plan.bytes = disks_whole_memory_bytes(&whole);
    plan.threads = threads_for(sweep, FILLED / HARD_DISKS_COLOURS * cells * together);
    if (plan.bytes > sweep->shared_bytes)
      break;
    const double blocks = parts_of(replicas, (double)together);
    plan.cycles = cycles_of(sweep, &plan, blocks, cells * together / WARP,
                            FILLED * cells * together, cells * together / WARP);
    if (best.threads > 0 && plan.cycles >= best.cycles)
      continue;
    best = plan;
    *found = whole;
  }
  return best;
}

/* ---- launches ---- */

template <class KERNEL>
static enum gpumc_status
allow_shared(KERNEL kernel, const struct plan *plan, struct gpumc_error *error)
{
  if (plan->bytes <= DEFAULT_SHARED_BYTES)
    return GPUMC_OK;
  return GPUMC_CUDA(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)plan->bytes),
      error);
}

/* The volume move after the sweep at `time`, if there is one; the replicas are in `from`. */
static enum gpumc_status move_volumes(const struct hard_disks_gpu_sweep *sweep, uint32_t time,
                                      unsigned char *from, unsigned char *other,
                                      struct gpumc_error *error)
{
  struct hard_disks_gpu_volumes volumes;
  if (sweep->rule == NULL || (time + 1) % sweep->volume_sweeps != 0)
    return GPUMC_OK;
  volumes.replicas = sweep->replicas;
  volumes.replicas.replicas = from;
  volumes.other = other;
  volumes.rule = sweep->rule;
  volumes.time = time;
  return hard_disks_move_volumes(&volumes, error);
}

/* Returns whether multiprocessors have room for the blocks of two launches. */
static bool
are_few(const struct hard_disks_gpu_sweep *sweep, const struct plan *plan, size_t blocks)
{
  const size_t of_memory = (sweep->shared_bytes + 1024) / (plan->bytes + 1024);
  const size_t of_threads = (size_t)(FEW_THREADS * FEW_BLOCKS) / plan->threads;
  const size_t together = of_memory < of_threads ? of_memory : of_threads;
  return plan->threads <= FEW_THREADS && 2 * blocks <= together * sweep->multiprocessors;
}

template <uint32_t ROUNDS, bool OPEN, bool FEW>
static enum gpumc_status
sweep_by_blocks(const struct hard_disks_gpu_sweep *sweep, const struct disks_tiling *tiling,
                const struct plan *plan, struct gpumc_error *error)
{
  const struct lattice_batch *batch = &sweep->replicas.batch;
  struct gpumc_early_launch launch = {
      dim3((uint32_t)batch->capacity * tiling->x.tiles * tiling->y.tiles, batch->runs),
      plan->threads, plan->bytes, batch->stream, false};
  bool may_begin_early;
  GPUMC_TRY(allow_shared(sweep_tiles<ROUNDS, OPEN, FEW>, plan, error));
  GPUMC_TRY(gpumc_may_begin_early(sweep_tiles<ROUNDS, OPEN, FEW>, &may_begin_early, error));
  for (uint32_t s = 0; s < sweep->sweeps; s++) {
    unsigned char *from = s % 2 == 0 ? sweep->replicas.replicas : sweep->other;
    unsigned char *to = s % 2 == 0 ? sweep->other : sweep->replicas.replicas;
    launch.early = may_begin_early && s > 0;
    GPUMC_TRY(gpumc_launch_early(sweep_tiles<ROUNDS, OPEN, FEW>, launch, error, *sweep, *tiling,
                                 (const unsigned char *)from, to, batch->time + s));
    GPUMC_TRY(move_volumes(sweep, batch->time + s, to, from, error));
  }
  return GPUMC_OK;
}

template <uint32_t ROUNDS, bool OPEN>
static enum gpumc_status
sweep_by_tiles(const struct hard_disks_gpu_sweep *sweep, const struct disks_tiling *tiling,
               const struct plan *plan, struct gpumc_error *error)
{
  const struct lattice_batch *batch = &sweep->replicas.batch;
  const size_t blocks = (size_t)batch->capacity * batch->runs * tiling->x.tiles * tiling->y.tiles;
  return !OPEN && are_few(sweep, plan, blocks)
             ? sweep_by_blocks<ROUNDS, OPEN, !OPEN>(sweep, tiling, plan, error)
             : sweep_by_blocks<ROUNDS, OPEN, false>(sweep, tiling, plan, error);
}

/* Returns the sweeps of a launch: up to the next move of the volume. */
static uint32_t sweeps_of(const struct hard_disks_gpu_sweep *sweep, uint32_t left, uint32_t time)
{
  const uint32_t until =
      sweep->rule != NULL ? sweep->volume_sweeps - time % sweep->volume_sweeps : UINT32_MAX;
  const uint32_t most = left < SWEEPS_AT_ONCE ? left : (uint32_t)SWEEPS_AT_ONCE;
  return most < until ? most : until;
}

template <uint32_t ROUNDS, bool OPEN>
static enum gpumc_status
sweep_wholly(const struct hard_disks_gpu_sweep *sweep, const struct disks_whole *whole,
             const struct plan *plan, struct gpumc_error *error)
{
  const struct lattice_batch *batch = &sweep->replicas.batch;
  const dim3 grid((uint32_t)lattice_parts(batch->capacity, whole->replicas), batch->runs);
  struct hard_disks_gpu_sweep part = *sweep;
  GPUMC_TRY(allow_shared(sweep_whole<ROUNDS, OPEN>, plan, error));
  for (uint32_t left = sweep->sweeps; left > 0; left -= part.sweeps) {
    part.replicas.batch.time = batch->time + (sweep->sweeps - left);
    part.sweeps = sweeps_of(sweep, left, part.replicas.batch.time);
    sweep_whole<ROUNDS, OPEN>
        <<<grid, plan->threads, plan->bytes, (cudaStream_t)batch->stream>>>(part, *whole);
    GPUMC_TRY(GPUMC_CUDA_LAUNCHED("sweep_whole", error));
    GPUMC_TRY(move_volumes(sweep, part.replicas.batch.time + part.sweeps - 1,
                           sweep->replicas.replicas, sweep->other, error));
  }
  return GPUMC_OK;
}

template <bool OPEN>
static enum gpumc_status
sweep_all(const struct hard_disks_gpu_sweep *sweep, bool *turned, struct gpumc_error *error)
{
  struct disks_tiling tiling;
  struct disks_whole whole;
  const struct plan by_tiles = find_tiling(sweep, &tiling), wholly = find_whole(sweep, &whole);
  const bool short_one = sweep->replicas.batch.rounds == PHILOX_SHORT;
  const bool fits = wholly.threads > 0 && wholly.cycles <= by_tiles.cycles;
  *turned = !fits && sweep->sweeps % 2 == 1;
  if (fits)
    return short_one ? sweep_wholly<PHILOX_SHORT, OPEN>(sweep, &whole, &wholly, error)
                     : sweep_wholly<PHILOX_LONG, OPEN>(sweep, &whole, &wholly, error);
  return short_one ? sweep_by_tiles<PHILOX_SHORT, OPEN>(sweep, &tiling, &by_tiles, error)
                   : sweep_by_tiles<PHILOX_LONG, OPEN>(sweep, &tiling, &by_tiles, error);
}

enum gpumc_status hard_disks_sweep_checkerboard(const struct hard_disks_gpu_sweep *sweep,
                                                bool *turned, struct gpumc_error *error)
{
  return sweep->rule != NULL ? sweep_all<true>(sweep, turned, error)
                             : sweep_all<false>(sweep, turned, error);
}
