/* Sweeps in one precision: in shared memory if a replica fits, otherwise by tiles or in device
 * memory. For heisenberg_double_gpu.cu and so on, which instantiate them. */
#ifndef GPUMC_HEISENBERG_SWEEP_CUH
#define GPUMC_HEISENBERG_SWEEP_CUH

#include "models/heisenberg/tiles/heisenberg_sweep_tiles.cuh"

enum {
  THREADS = 128,        /* of a block in which small replicas are combined */
  DEVICE_THREADS = 256, /* of a block that sweeps in device memory */
};

/* ---- in shared memory ---- */

/* A block of threads has `replicas` replicas, `threads` threads each. */
struct shape {
  uint32_t threads, replicas;
};

/* The data that a thread needs of its replica. `first`: where the replica begins in shared memory,
 * in bytes; `number`: in the whole, which takes fewer registers than adding it up for every
 * sweep. */
struct seat {
  uint32_t q, replica, first, number;
  bool active;
};

template <class KIND>
static __device__ inline uint32_t colour_bytes(const struct heisenberg_gpu_lattice *lattice)
{
  return heisenberg_shared_colour<KIND::COMPONENTS>(lattice->colour) *
         (uint32_t)sizeof(typename KIND::real);
}

/* Copies from device memory to shared memory, or back; done by thread seat.q of `threads`. */
template <class KIND, bool BACK>
static __device__ inline void
copy_replica(const struct heisenberg_gpu_lattice *lattice, typename KIND::real *stored,
             const struct seat &seat, uint32_t threads)
{
  typedef typename KIND::real real;
  const uint32_t n = lattice->colour;
  for (uint32_t colour = 0; colour < 2; colour++)
    for (uint32_t k = seat.q; k < n; k += threads) {
      real *here = KIND::at((real *)shared,
                            seat.first + colour * colour_bytes<KIND>(lattice) + KIND::place(k));
      real *there = stored + (size_t)colour * n + k;
#pragma unroll
      for (int a = 0; a < KIND::COMPONENTS; a++)
        if (BACK)
          there[(size_t)a * 2 * n] = here[a * HEISENBERG_SHARING];
        else
          here[a * HEISENBERG_SHARING] = there[(size_t)a * 2 * n];
    }
}

/* Returns them by their first bytes in shared memory. */
template <class KIND>
static __device__ inline struct heisenberg_colours<KIND>
colours_at(uint32_t own, uint32_t other, const typename KIND::real *couplings) {
  typedef typename KIND::real real;
  const struct heisenberg_colours<KIND> colours = {
    KIND::at((real *)shared, own), KIND::at((real *)shared, other), HEISENBERG_SHARING, couplings
  };
  return colours;
}

/* Returns how many proposals of Metropolis the thread accepted. */
template <class KIND, enum heisenberg_move MOVE>
static __device__ inline uint32_t
sweep_four(const struct heisenberg_gpu_sweep *sweep, const struct seat &seat,
           const struct heisenberg_four &four, uint32_t time)
{
  const struct heisenberg_gpu_lattice *lattice = &sweep->replicas.lattice;
  const struct heisenberg_stream stream = heisenberg_stream_make(
      lattice_batch_random(&sweep->replicas.batch, blockIdx.y), seat.number, time);
  const struct heisenberg_strength<KIND> strength = strength_of<KIND>(sweep, blockIdx.y, MOVE);
  uint32_t taken = 0;
  const typename KIND::real *couplings = couplings_of<KIND>(&sweep->replicas, seat.replica);
#pragma unroll 1
  for (uint32_t colour = 0; colour < 2; colour++) {
    uint32_t own = colour * colour_bytes<KIND>(lattice), other = colour_bytes<KIND>(lattice) - own;
    heisenberg_keep(own);
    heisenberg_keep(other);
    const struct heisenberg_turn<KIND> turn = {
      lattice,
          colours_at<KIND>(own, other, heisenberg_couplings_at<KIND>(lattice, couplings, colour)),
          stream, colour, strength
    };
    if (seat.active)
      taken += heisenberg_update_four<KIND, MOVE>(turn, four);
    __syncthreads();
  }
  return taken;
}

template <class KIND>
static __device__ inline void
sweep_rows(const struct heisenberg_gpu_sweep *sweep, const struct seat &seat,
           const struct heisenberg_rows &rows, bool renormalise)
{
  const uint32_t bytes = colour_bytes<KIND>(&sweep->replicas.lattice);
  const struct heisenberg_strength<KIND> strength =
      strength_of<KIND>(sweep, blockIdx.y, HEISENBERG_OVER_RELAXATION);
  if (seat.active)
    heisenberg_reflect_rows<KIND, 0>(colours_at<KIND>(0, bytes, NULL), rows, strength, renormalise);
  __syncthreads();
  if (seat.active)
    heisenberg_reflect_rows<KIND, 1>(colours_at<KIND>(bytes, 0, NULL), rows, strength, renormalise);
  __syncthreads();
}

/* MOVE: Metropolis of either kind, or HEISENBERG_MIXED for heat bath and over-relaxation. */
template <class KIND, enum heisenberg_move MOVE>
static __device__ inline void
sweep_all(const struct heisenberg_gpu_sweep *sweep, const struct seat &seat)
{
  const struct heisenberg_gpu_lattice *lattice = &sweep->replicas.lattice;
  struct heisenberg_four four = heisenberg_four_of<KIND>(lattice, seat.q, seat.first);
  const bool by_rows = heisenberg_goes_by_rows<KIND>(lattice);
  struct heisenberg_rows rows = {};
  uint32_t taken = 0;
  heisenberg_keep_four<KIND>(lattice, four);
  if (MOVE == HEISENBERG_MIXED && by_rows) {
    rows = heisenberg_rows_of<KIND>(lattice, seat.q, seat.first);
    heisenberg_keep_rows<KIND>(rows);
  }
#pragma unroll 1
  for (uint32_t s = 0; s < sweep->sweeps; s++) {
    const uint32_t time = sweep->replicas.batch.time + s;
    if constexpr (MOVE != HEISENBERG_MIXED)
      taken += sweep_four<KIND, MOVE>(sweep, seat, four, time);
    else if (heisenberg_move_at(sweep->move, sweep->over_relaxations, time) == HEISENBERG_HEAT_BATH)
      sweep_four<KIND, HEISENBERG_HEAT_BATH>(sweep, seat, four, time);
    else if (KIND::PAIRED && by_rows)
      sweep_rows<KIND>(sweep, seat, rows, time % HEISENBERG_RENORMALISATION == 0);
    else
      sweep_four<KIND, HEISENBERG_OVER_RELAXATION>(sweep, seat, four, time);
  }
  if constexpr (MOVE == HEISENBERG_METROPOLIS_SMALL)
    count_taken(sweep, blockIdx.y, taken);
}

template <class KIND, enum heisenberg_move MOVE>
static __global__ void __launch_bounds__(KIND::rules::THREADS)
    sweep_shared(const __grid_constant__ struct heisenberg_gpu_sweep sweep,
                 const __grid_constant__ struct shape shape)
{
  typedef typename KIND::real real;
  const struct heisenberg_gpu_lattice *lattice = &sweep.replicas.lattice;
  const uint32_t size = sweep.replicas.batch.size[blockIdx.y], first = blockIdx.x * shape.replicas;
  if (first >= size)
    return;
  const uint32_t slot = threadIdx.x / shape.threads;
  struct seat seat = {threadIdx.x - slot * shape.threads, first + slot, 0,
                      lattice_batch_replica(&sweep.replicas.batch, first + slot), false};
  seat.active = slot < shape.replicas && seat.replica < size;
  seat.first = seat.active ? slot * 2 * colour_bytes<KIND>(lattice) : 0;
  real *stored = (real *)heisenberg_replica(&sweep.replicas, blockIdx.y, seat.replica);
  if (seat.active)
    copy_replica<KIND, false>(lattice, stored, seat, shape.threads);
  __syncthreads();
  sweep_all<KIND, MOVE>(&sweep, seat);
  if (seat.active)
    copy_replica<KIND, true>(lattice, stored, seat, shape.threads);
}

/* ---- in device memory ---- */

/* Blocks of the next launch draw their random words while the last ones of this launch update, and
 * then wait for them. Those without a replica wait, too: when a launch has ended, so have all
 * before it. */
template <class KIND, enum heisenberg_move MOVE>
static __global__ void __launch_bounds__(DEVICE_THREADS)
    sweep_device(const __grid_constant__ struct heisenberg_gpu_sweep sweep,
                 const __grid_constant__ struct heisenberg_fold fold, uint32_t colour,
                 uint32_t time, uint32_t parts)
{
  typedef typename KIND::real real;
  const struct heisenberg_gpu_lattice *lattice = &sweep.replicas.lattice;
  const uint32_t replica = blockIdx.x / parts;
  const uint32_t replica_number = lattice_batch_replica(&sweep.replicas.batch, replica);
  gpumc_let_next_begin();
  if (replica >= sweep.replicas.batch.size[blockIdx.y]) {
    gpumc_wait_for_before();
    return;
  }
  const uint32_t q = heisenberg_folded(
      lattice, fold, (blockIdx.x - replica * parts) * DEVICE_THREADS + threadIdx.x);
  const uint32_t n = lattice->colour;
  const bool present = heisenberg_first_site(q) < n;
  real *spins = (real *)heisenberg_replica(&sweep.replicas, blockIdx.y, replica);
  const struct heisenberg_turn<KIND> turn = {
    lattice,
        {spins + (size_t)colour * n, spins + (size_t)(1 - colour) * n, (size_t)2 * n,
         heisenberg_couplings_at<KIND>(lattice, couplings_of<KIND>(&sweep.replicas, replica),
                                       colour)},
        heisenberg_stream_make(lattice_batch_random(&sweep.replicas.batch, blockIdx.y),
                               replica_number, time),
        colour, strength_of<KIND>(&sweep, blockIdx.y, MOVE)
  };
  const struct heisenberg_four four = heisenberg_four_of<KIND>(lattice, q, 0);
  struct heisenberg_words words[2][2];
  uint32_t taken = 0;
  if (MOVE != HEISENBERG_OVER_RELAXATION)
    heisenberg_draw_four<typename KIND::rules>(turn.stream, colour, heisenberg_first_site(q),
                                               words);
  gpumc_wait_for_before();
  if (present)
    taken = heisenberg_update_drawn<KIND, MOVE>(turn, four, words);
  if constexpr (MOVE == HEISENBERG_METROPOLIS_SMALL)
    count_taken(&sweep, blockIdx.y, taken);
}

template <class KIND, enum heisenberg_move MOVE>
static enum gpumc_status
sweep_once_in_device(const struct heisenberg_gpu_sweep *sweep, const struct heisenberg_fold &fold,
                     uint32_t s, struct gpumc_error *error)
{
  const struct lattice_batch *batch = &sweep->replicas.batch;
  const uint32_t parts = (uint32_t)lattice_parts(heisenberg_threads_of(&sweep->replicas.lattice),
                                                 (size_t)DEVICE_THREADS);
  struct gpumc_early_launch launch = {dim3((uint32_t)batch->capacity * parts, batch->runs),
                                      DEVICE_THREADS, 0, batch->stream, false};
  bool may_begin_early;
  GPUMC_TRY(gpumc_may_begin_early(sweep_device<KIND, MOVE>, &may_begin_early, error));
  for (uint32_t colour = 0; colour < 2; colour++) {
    launch.early = may_begin_early && s + colour > 0;
    GPUMC_TRY(gpumc_launch_early(sweep_device<KIND, MOVE>, launch, error, *sweep, fold, colour,
                                 batch->time + s, parts));
  }
  return GPUMC_OK;
}

template <class KIND>
static enum gpumc_status
sweep_in_device(const struct heisenberg_gpu_sweep *sweep, struct gpumc_error *error)
{
  const struct heisenberg_fold fold = heisenberg_fold_of(&sweep->replicas.lattice, DEVICE_THREADS);
  for (uint32_t s = 0; s < sweep->sweeps; s++) {
    const enum heisenberg_move move =
        heisenberg_move_at(sweep->move, sweep->over_relaxations, sweep->replicas.batch.time + s);
    GPUMC_TRY(
        move == HEISENBERG_METROPOLIS
            ? (sweep_once_in_device<KIND, HEISENBERG_METROPOLIS>(sweep, fold, s, error))
        : move == HEISENBERG_METROPOLIS_SMALL
            ? (sweep_once_in_device<KIND, HEISENBERG_METROPOLIS_SMALL>(sweep, fold, s, error))
        : move == HEISENBERG_HEAT_BATH
            ? (sweep_once_in_device<KIND, HEISENBERG_HEAT_BATH>(sweep, fold, s, error))
            : (sweep_once_in_device<KIND, HEISENBERG_OVER_RELAXATION>(sweep, fold, s, error)));
  }
  return GPUMC_OK;
}

/* ---- the driver ---- */

template <class KIND> static size_t replica_bytes(const struct heisenberg_gpu_lattice *lattice)
{
  return (size_t)2 * heisenberg_shared_colour<KIND::COMPONENTS>(lattice->colour) *
         sizeof(typename KIND::real);
}

template <class KIND> static bool fits(const struct heisenberg_gpu_sweep *sweep)
{
  const struct heisenberg_gpu_lattice *lattice = &sweep->replicas.lattice;
  return heisenberg_threads_of(lattice) <= (uint32_t)KIND::rules::THREADS &&
         replica_bytes<KIND>(lattice) <= sweep->shared_bytes;
}

/* As many replicas as the threads of a block suffice for, at least one. */
template <class KIND> static struct shape shape_of(const struct heisenberg_gpu_sweep *sweep)
{
  const uint32_t wanted = sweep->block_threads > 0 ? sweep->block_threads : THREADS;
  const uint32_t most = wanted < (uint32_t)KIND::rules::THREADS ? wanted : KIND::rules::THREADS;
  const size_t room = sweep->shared_bytes / replica_bytes<KIND>(&sweep->replicas.lattice);
  struct shape shape = {heisenberg_threads_of(&sweep->replicas.lattice), 1};
  if (most > shape.threads)
    shape.replicas = most / shape.threads;
  if (shape.replicas > room)
    shape.replicas = (uint32_t)room;
  return shape;
}

template <class KIND>
static enum gpumc_status
sweep_in_shared(const struct heisenberg_gpu_sweep *sweep, struct gpumc_error *error)
{
  const struct lattice_batch *batch = &sweep->replicas.batch;
  const struct shape shape = shape_of<KIND>(sweep);
  const size_t bytes = shape.replicas * replica_bytes<KIND>(&sweep->replicas.lattice);
  const uint32_t threads =
      (uint32_t)lattice_parts((size_t)shape.threads * shape.replicas, HEISENBERG_WARP) *
      HEISENBERG_WARP;
  const dim3 grid((uint32_t)lattice_parts(batch->capacity, shape.replicas), batch->runs);
  void (*kernel)(struct heisenberg_gpu_sweep, struct shape) =
      sweep->move == HEISENBERG_METROPOLIS         ? sweep_shared<KIND, HEISENBERG_METROPOLIS>
      : sweep->move == HEISENBERG_METROPOLIS_SMALL ? sweep_shared<KIND, HEISENBERG_METROPOLIS_SMALL>
                                                   : sweep_shared<KIND, HEISENBERG_MIXED>;
  if (bytes > DEFAULT_SHARED_BYTES)
    GPUMC_TRY(GPUMC_CUDA(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes),
        error));
  kernel<<<grid, threads, bytes, (cudaStream_t)batch->stream>>>(*sweep, shape);
  return GPUMC_CUDA_LAUNCHED("sweep_shared", error);
}

template <class RULES, int N, int DIMENSION_OR_ANY, bool QUENCHED>
static enum gpumc_status
sweep_lattice(const struct heisenberg_gpu_sweep *sweep, struct gpumc_error *error)
{
  typedef struct heisenberg_kind<RULES, N, DIMENSION_OR_ANY, true, QUENCHED> small;
  typedef struct heisenberg_kind<RULES, N, DIMENSION_OR_ANY, false, QUENCHED> large;
  if (fits<small>(sweep))
    return sweep_in_shared<small>(sweep, error);
  if constexpr (DIMENSION_OR_ANY == 2 && !QUENCHED)
    if (sweep->others > 0 && tile_course<small>(sweep)->launches > 0)
      return sweep_by_tiles<small>(sweep, error);
  return sweep_in_device<large>(sweep, error);
}

template <class RULES, int N, bool QUENCHED>
static enum gpumc_status
sweep_components(const struct heisenberg_gpu_sweep *sweep, struct gpumc_error *error)
{
  const struct heisenberg_gpu_lattice *lattice = &sweep->replicas.lattice;
  if (lattice->row.value % HEISENBERG_PAIR != 0 || lattice->dimension == 1)
    return sweep_lattice<RULES, N, HEISENBERG_ANY, QUENCHED>(sweep, error);
  return lattice->dimension == 2 ? sweep_lattice<RULES, N, 2, QUENCHED>(sweep, error)
                                 : sweep_lattice<RULES, N, 3, QUENCHED>(sweep, error);
}

template <class RULES, bool QUENCHED>
static enum gpumc_status
sweep_precision(const struct heisenberg_gpu_sweep *sweep, struct gpumc_error *error)
{
  return sweep->replicas.components == 3 ? sweep_components<RULES, 3, QUENCHED>(sweep, error)
                                         : sweep_components<RULES, 2, QUENCHED>(sweep, error);
}

#endif
