/* Moves of the volume on a GPU: three launches. */
#include <cuda_runtime.h>

#include "models/hard_disks/checkerboard/checkerboard_volume.cuh"

enum { THREADS = 256, REPLICAS_TOGETHER = 32 };

static_assert(sizeof(struct disks_trial) <= sizeof(struct hard_disks_head) + HARD_DISKS_PAIR_BYTES,
              "a replica has room for a trial");

/* Returns false if there is no such replica. */
static __device__ inline bool take_replica(const struct hard_disks_gpu_volumes *volumes,
                                           uint32_t number, struct disks_volume *volume)
{
  const struct hard_disks_replicas *replicas = &volumes->replicas;
  const struct lattice_batch *batch = &replicas->batch;
  if (number >= batch->size[blockIdx.y])
    return false;
  const size_t place = (blockIdx.y * batch->capacity + number) * replicas->stored.bytes;
  volume->grid = &replicas->box;
  volume->stored = &replicas->stored;
  volume->random = lattice_batch_random(batch, blockIdx.y);
  volume->number = lattice_batch_replica(batch, number);
  volume->time = volumes->time;
  volume->replica = replicas->replicas + place;
  volume->trial = (struct disks_trial *)(volumes->other + place);
  return true;
}

static __global__ void __launch_bounds__(REPLICAS_TOGETHER)
    draw_volumes(const __grid_constant__ struct hard_disks_gpu_volumes volumes)
{
  struct disks_volume volume;
  if (take_replica(&volumes, blockIdx.x * REPLICAS_TOGETHER + threadIdx.x, &volume))
    disks_try_volume(&volume, &volumes.rule[blockIdx.y]);
}

static __global__ void __launch_bounds__(THREADS)
    find_overlaps(const __grid_constant__ struct hard_disks_gpu_volumes volumes, uint32_t patches_x,
                  uint32_t patches)
{
  __shared__ float4 first[DISKS_PATCH_PLACES], second[DISKS_PATCH_PLACES];
  __shared__ uint8_t count[DISKS_PATCH_PLACES];
  __shared__ uint32_t is_needed;
  struct disks_volume volume;
  const uint32_t number = blockIdx.x / patches, of_replica = blockIdx.x - number * patches;
  if (!take_replica(&volumes, number, &volume))
    return;
  if (threadIdx.x == 0) {
    const volatile struct disks_trial *trial = volume.trial;
    is_needed = disks_may_overlap(volume.trial) && trial->overlap == 0;
  }
  __syncthreads();
  if (is_needed == 0)
    return;
  const uint32_t row = of_replica / patches_x;
  const struct disks_patch patch = {
      {first, second, count}, (of_replica - row * patches_x) * DISKS_PATCH, row * DISKS_PATCH};
  disks_scale_patch(&volume, &patch, threadIdx.x, THREADS);
  __syncthreads();
  disks_look_at_patch(&volume, &patch, threadIdx.x, THREADS);
}

static __global__ void __launch_bounds__(THREADS)
    scale_volumes(const __grid_constant__ struct hard_disks_gpu_volumes volumes, uint32_t parts)
{
  struct disks_volume volume;
  const uint32_t number = blockIdx.x / parts;
  const uint32_t cell = (blockIdx.x - number * parts) * THREADS + threadIdx.x;
  if (!take_replica(&volumes, number, &volume))
    return;
  if (cell < volume.grid->cells_x * volume.grid->cells_y && disks_is_taken(volume.trial))
    disks_scale_cell(&volume, cell);
  if (cell == 0)
    disks_end_volume(&volume);
}

enum gpumc_status
hard_disks_move_volumes(const struct hard_disks_gpu_volumes *volumes, struct gpumc_error *error)
{
  const struct hard_disks_replicas *replicas = &volumes->replicas;
  const struct hard_disks_box *box = &replicas->box;
  const struct lattice_batch *batch = &replicas->batch;
  const cudaStream_t stream = (cudaStream_t)batch->stream;
  const size_t patches_x = lattice_parts(box->cells_x, (size_t)DISKS_PATCH);
  const size_t patches = patches_x * lattice_parts(box->cells_y, (size_t)DISKS_PATCH);
  const size_t parts = lattice_parts((size_t)box->cells_x * box->cells_y, (size_t)THREADS);
  const dim3 each((uint32_t)lattice_parts(batch->capacity, (size_t)REPLICAS_TOGETHER), batch->runs);
  draw_volumes<<<each, REPLICAS_TOGETHER, 0, stream>>>(*volumes);
  GPUMC_TRY(GPUMC_CUDA_LAUNCHED("draw_volumes", error));
  find_overlaps<<<dim3((uint32_t)(batch->capacity * patches), batch->runs), THREADS, 0, stream>>>(
      *volumes, (uint32_t)patches_x, (uint32_t)patches);
  GPUMC_TRY(GPUMC_CUDA_LAUNCHED("find_overlaps", error));
  scale_volumes<<<dim3((uint32_t)(batch->capacity * parts), batch->runs), THREADS, 0, stream>>>(
      *volumes, (uint32_t)parts);
  return GPUMC_CUDA_LAUNCHED("scale_volumes", error);
}
