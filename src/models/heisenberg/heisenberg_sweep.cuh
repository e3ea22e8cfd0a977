/* Sweeps in one precision: in shared memory where a replica fits, else in device memory. For
 * heisenberg_double_gpu.cu and so on, which instantiate them. */
#ifndef GPUMC_HEISENBERG_SWEEP_CUH
#define GPUMC_HEISENBERG_SWEEP_CUH

#include <cuda_runtime.h>

#include "models/heisenberg/heisenberg_block.cuh"

enum {
  THREADS = 128,               /* of a block, where small replicas share one */
  DEVICE_THREADS = 256,        /* of a block that sweeps in device memory */
  DEFAULT_SHARED_BYTES = 49152 /* that every block may have */
};

static __device__ inline uint32_t replicas_in(const struct lattice_batch *batch)
{
  return batch->size[blockIdx.y];
}

template <class KIND>
static __device__ inline struct heisenberg_strength<KIND>
strength_of(const struct heisenberg_gpu_sweep *sweep, enum heisenberg_move move) {
  typedef typename KIND::real real;
  const struct heisenberg_rule *rule = &sweep->rules[blockIdx.y];
  const bool over_relaxation = move == HEISENBERG_OVER_RELAXATION;
  struct heisenberg_strength<KIND> strength;
  strength.coupling = (real)(over_relaxation ? sweep->coupling : rule->coupling);
  strength.field =
      KIND::rules::bias(move, (real)(over_relaxation ? rule->bare_field : rule->field));
  strength.reach = (real)rule->reach;
  return strength;
}

/* Adds what the threads of a block took of small steps. */
static __device__ inline void
count_taken(const struct heisenberg_gpu_sweep *sweep, uint32_t taken)
{
  const uint32_t of_warp = __reduce_add_sync(UINT32_MAX, taken);
  if (threadIdx.x % HEISENBERG_WARP == 0)
    atomicAdd((unsigned long long *)&sweep->accepted[blockIdx.y], (unsigned long long)of_warp);
}

/* Of a replica's sample. */
template <class KIND>
static __device__ inline const typename KIND::real *
couplings_of(const struct heisenberg_replicas *replicas, uint32_t replica)
{
  return KIND::QUENCHED ? (const typename KIND::real *)replicas->couplings.numbers +
                              replica * replicas->couplings.stride
                        : NULL;
}

/* ---- in shared memory ---- */

/* A block of threads has `replicas` replicas, `threads` threads each. */
struct shape {
  uint32_t threads, replicas;
};

/* What a thread has to know of its replica. `first`: where the replica begins in shared memory, in
 * bytes. */
struct seat {
  uint32_t q, replica, first;
  bool active;
};

extern __shared__ uint4 shared[];

template <class KIND>
static __device__ inline uint32_t colour_bytes(const struct heisenberg_gpu_lattice *lattice)
{
  return heisenberg_shared_colour<KIND::COMPONENTS>(lattice->colour) *
         (uint32_t)sizeof(typename KIND::real);
}

/* From device memory to shared memory, or back. Thread seat.q of `threads`. */
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

/* By their first bytes in shared memory. */
template <class KIND>
static __device__ inline struct heisenberg_colours<KIND>
colours_at(uint32_t own, uint32_t other, const typename KIND::real *couplings) {
  typedef typename KIND::real real;
  const struct heisenberg_colours<KIND> colours = {
    KIND::at((real *)shared, own), KIND::at((real *)shared, other), HEISENBERG_SHARING, couplings
  };
  return colours;
}

/* Returns how many proposals of Metropolis the thread took. */
template <class KIND, enum heisenberg_move MOVE>
static __device__ inline uint32_t
sweep_four(const struct heisenberg_gpu_sweep *sweep, const struct seat &seat,
           const struct heisenberg_four &four, uint32_t time)
{
  const struct heisenberg_gpu_lattice *lattice = &sweep->replicas.lattice;
  const struct heisenberg_stream stream = heisenberg_stream_make(
      lattice_batch_random(&sweep->replicas.batch, blockIdx.y), seat.replica, time);
  const struct heisenberg_strength<KIND> strength = strength_of<KIND>(sweep, MOVE);
  uint32_t taken = 0;
  const typename KIND::real *couplings = couplings_of<KIND>(&sweep->replicas, seat.replica);
#pragma unroll 1
  for (uint32_t colour = 0; colour < 2; colour++) {
    uint32_t own = colour * colour_bytes<KIND>(lattice), other = colour_bytes<KIND>(lattice) - own;
    heisenberg_keep(own);
    heisenberg_keep(other);
    if (seat.active)
      taken += heisenberg_update_four<KIND, MOVE>(
          lattice,
          colours_at<KIND>(own, other, heisenberg_couplings_at<KIND>(lattice, couplings, colour)),
          four, stream, colour, strength);
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
      strength_of<KIND>(sweep, HEISENBERG_OVER_RELAXATION);
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
    count_taken(sweep, taken);
}

template <class KIND, enum heisenberg_move MOVE>
static __global__ void __launch_bounds__(KIND::rules::THREADS)
    sweep_shared(const __grid_constant__ struct heisenberg_gpu_sweep sweep,
                 const __grid_constant__ struct shape shape)
{
  typedef typename KIND::real real;
  const struct heisenberg_gpu_lattice *lattice = &sweep.replicas.lattice;
  const uint32_t size = replicas_in(&sweep.replicas.batch), first = blockIdx.x * shape.replicas;
  if (first >= size)
    return;
  const uint32_t slot = threadIdx.x / shape.threads;
  struct seat seat = {threadIdx.x - slot * shape.threads, first + slot, 0, false};
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

/* Blocks of threads go down `fold` lines before they go to the next 32 sites, so that most
 * neighbours in other rows are in the cache; 1: along lines. */
template <class KIND, enum heisenberg_move MOVE>
static __global__ void __launch_bounds__(DEVICE_THREADS)
    sweep_device(const __grid_constant__ struct heisenberg_gpu_sweep sweep, uint32_t colour,
                 uint32_t time, uint32_t parts, uint32_t fold)
{
  typedef typename KIND::real real;
  const struct heisenberg_gpu_lattice *lattice = &sweep.replicas.lattice;
  const uint32_t replica = blockIdx.x / parts;
  if (replica >= replicas_in(&sweep.replicas.batch))
    return;
  uint32_t q = (blockIdx.x - replica * parts) * DEVICE_THREADS + threadIdx.x;
  if (fold > 1) {
    const uint32_t wide = lattice->row.value / HEISENBERG_SHARING, all = wide * fold;
    const uint32_t sharing = q / HEISENBERG_OF_SHARING, lines = sharing / all;
    const uint32_t within = sharing - lines * all, column = within / fold;
    q +=
        ((lines * fold + within - column * fold) * wide + column - sharing) * HEISENBERG_OF_SHARING;
  }
  const uint32_t n = lattice->colour;
  uint32_t taken = 0;
  if (heisenberg_first_site(q) < n) {
    real *spins = (real *)heisenberg_replica(&sweep.replicas, blockIdx.y, replica);
    const struct heisenberg_colours<KIND> colours = {
      spins + (size_t)colour *n, spins + (size_t)(1 - colour) * n, (size_t)2 * n,
          heisenberg_couplings_at<KIND>(lattice, couplings_of<KIND>(&sweep.replicas, replica),
                                        colour)
    };
    const struct heisenberg_four four = heisenberg_four_of<KIND>(lattice, q, 0);
    const struct heisenberg_stream stream = heisenberg_stream_make(
        lattice_batch_random(&sweep.replicas.batch, blockIdx.y), replica, time);
    taken = heisenberg_update_four<KIND, MOVE>(lattice, colours, four, stream, colour,
                                               strength_of<KIND>(&sweep, MOVE));
  }
  if constexpr (MOVE == HEISENBERG_METROPOLIS_SMALL)
    count_taken(&sweep, taken);
}

/* Lines that a block goes down: a power of two that divides their number. */
static uint32_t fold_of(const struct heisenberg_gpu_lattice *lattice)
{
  const uint32_t most = DEVICE_THREADS / HEISENBERG_OF_SHARING;
  const uint32_t lines = lattice->colour / lattice->row.value;
  if (lattice->row.value % HEISENBERG_SHARING != 0)
    return 1;
  uint32_t fold = 1;
  while (fold < most && lines % (2 * fold) == 0)
    fold *= 2;
  return fold;
}

template <class KIND>
static enum gpumc_status
sweep_in_device(const struct heisenberg_gpu_sweep *sweep, struct gpumc_error *error)
{
  const struct heisenberg_gpu_lattice *lattice = &sweep->replicas.lattice;
  const struct lattice_batch *batch = &sweep->replicas.batch;
  const uint32_t parts =
      (uint32_t)lattice_parts(heisenberg_threads_of(lattice), (size_t)DEVICE_THREADS);
  const dim3 grid((uint32_t)batch->capacity * parts, batch->runs);
  const uint32_t fold = fold_of(lattice);
  for (uint32_t s = 0; s < sweep->sweeps; s++) {
    const uint32_t time = batch->time + s;
    const enum heisenberg_move move =
        heisenberg_move_at(sweep->move, sweep->over_relaxations, time);
    void (*kernel)(struct heisenberg_gpu_sweep, uint32_t, uint32_t, uint32_t, uint32_t) =
        move == HEISENBERG_METROPOLIS         ? sweep_device<KIND, HEISENBERG_METROPOLIS>
        : move == HEISENBERG_METROPOLIS_SMALL ? sweep_device<KIND, HEISENBERG_METROPOLIS_SMALL>
        : move == HEISENBERG_HEAT_BATH        ? sweep_device<KIND, HEISENBERG_HEAT_BATH>
                                              : sweep_device<KIND, HEISENBERG_OVER_RELAXATION>;
    for (uint32_t colour = 0; colour < 2; colour++) {
      kernel<<<grid, DEVICE_THREADS, 0, (cudaStream_t)batch->stream>>>(*sweep, colour, time, parts,
                                                                       fold);
      GPUMC_TRY(GPUMC_CUDA_LAUNCHED("sweep_device", error));
    }
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

/* As many replicas as the threads of a block are enough for, at least one. */
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
  return fits<small>(sweep) ? sweep_in_shared<small>(sweep, error)
                            : sweep_in_device<large>(sweep, error);
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
