/* Moves of the volume on a GPU: three launches, a thread for each cell. */
#include <cuda_runtime.h>

#include "models/hard_disks/checkerboard/checkerboard_volume.cuh"

enum { THREADS = 128 };

/* The replica and the cell of a thread; false: there is none. */
struct seat {
  struct disks_volume volume;
  uint32_t replica, cell, cells;
};

static __device__ inline bool
take_seat(const struct hard_disks_gpu_volumes *volumes, uint32_t parts, struct seat *seat)
{
  const struct hard_disks_replicas *replicas = &volumes->replicas;
  const struct lattice_batch *batch = &replicas->batch;
  seat->replica = blockIdx.x / parts;
  if (seat->replica >= batch->size[blockIdx.y])
    return false;
  const size_t place = (blockIdx.y * batch->capacity + seat->replica) * replicas->stored.bytes;
  seat->volume.grid = &replicas->box;
  seat->volume.stored = &replicas->stored;
  seat->volume.replica = replicas->replicas + place;
  seat->volume.other = volumes->other + place;
  seat->cells = replicas->box.cells_x * replicas->box.cells_y;
  seat->cell = (blockIdx.x - seat->replica * parts) * THREADS + threadIdx.x;
  return true;
}

static __global__ void __launch_bounds__(THREADS)
    scale_volumes(const __grid_constant__ struct hard_disks_gpu_volumes volumes, uint32_t parts)
{
  __shared__ struct hard_disks_volume_move move;
  const struct gpumc_random random = lattice_batch_random(&volumes.replicas.batch, blockIdx.y);
  struct seat seat;
  if (!take_seat(&volumes, parts, &seat))
    return;
  if (threadIdx.x == 0) {
    move =
        hard_disks_volume_draw(random, &volumes.rule[blockIdx.y], seat.volume.grid,
                               disks_head(seat.volume.replica)->width, seat.replica, volumes.time);
    if (seat.cell == 0)
      disks_try_volume(&seat.volume, &move);
  }
  __syncthreads();
  if (move.end == HARD_DISKS_ACCEPTED && seat.cell < seat.cells)
    disks_scale_cell(&seat.volume, &move, random, seat.replica, volumes.time, seat.cell);
}

static __global__ void __launch_bounds__(THREADS)
    find_overlaps(const __grid_constant__ struct hard_disks_gpu_volumes volumes, uint32_t parts)
{
  struct seat seat;
  if (!take_seat(&volumes, parts, &seat) || seat.cell >= seat.cells)
    return;
  volatile uint32_t *overlap = &disks_head(seat.volume.other)->overlap;
  if (*overlap == DISKS_TO_LOOK && disks_cell_overlaps(&seat.volume, seat.cell))
    *overlap = DISKS_OVERLAP;
}

static __global__ void __launch_bounds__(THREADS)
    take_volumes(const __grid_constant__ struct hard_disks_gpu_volumes volumes, uint32_t parts)
{
  struct seat seat;
  if (!take_seat(&volumes, parts, &seat) || seat.cell >= seat.cells)
    return;
  if (disks_is_taken(&seat.volume))
    disks_take_cell(&seat.volume, seat.cell);
  if (seat.cell == 0)
    disks_take_head(&seat.volume);
}

enum gpumc_status
hard_disks_move_volumes(const struct hard_disks_gpu_volumes *volumes, struct gpumc_error *error)
{
  const struct hard_disks_replicas *replicas = &volumes->replicas;
  const struct lattice_batch *batch = &replicas->batch;
  const cudaStream_t stream = (cudaStream_t)batch->stream;
  const uint32_t parts = (uint32_t)lattice_parts(
      (size_t)replicas->box.cells_x * replicas->box.cells_y, (size_t)THREADS);
  const dim3 grid((uint32_t)batch->capacity * parts, batch->runs);
  scale_volumes<<<grid, THREADS, 0, stream>>>(*volumes, parts);
  GPUMC_TRY(GPUMC_CUDA_LAUNCHED("scale_volumes", error));
  find_overlaps<<<grid, THREADS, 0, stream>>>(*volumes, parts);
  GPUMC_TRY(GPUMC_CUDA_LAUNCHED("find_overlaps", error));
  take_volumes<<<grid, THREADS, 0, stream>>>(*volumes, parts);
  return GPUMC_CUDA_LAUNCHED("take_volumes", error);
}
