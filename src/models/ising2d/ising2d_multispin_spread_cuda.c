/* How the multispin kernel spreads groups over the blocks and threads of a GPU. It decides no
 * result. */
#include "core/device.h"
#include "models/ising2d/ising2d_multispin_cuda.h"

enum {
  LEAST_BLOCK = 128,     /* threads of a block that is free to choose: a warp a scheduler */
  BUSY_THREADS = 448,    /* that keep a multiprocessor busy */
  BLOCK_OVERHEAD = 1024, /* shared memory that each block takes beside its own */
  STEP_COST = 10,        /* of one step of a thread, and of finishing a colour */
  FINISH_COST = 6,
};

static size_t ceiling(size_t count, size_t part)
{
  return (count + part - 1) / part;
}

static uint32_t whole_warps(size_t threads)
{
  return (uint32_t)ceiling(threads, 32) * 32;
}

/* Blocks of this spread that a multiprocessor has registers and shared memory for. */
static size_t resident(const struct gpumc_device *device, const struct ising2d_cuda_spread *spread)
{
  const size_t by_threads = (size_t)ISING2D_CUDA_THREADS / (spread->slots * spread->threads);
  const size_t by_shared =
      (device->shared_bytes + BLOCK_OVERHEAD) / (spread->shared_bytes + BLOCK_OVERHEAD);
  return by_threads < by_shared ? by_threads : by_shared;
}

/* How long blocks of `threads` in all take over one step: few threads do not keep the units busy.
 */
static size_t weight(size_t threads)
{
  return threads > BUSY_THREADS ? threads : threads > 0 ? BUSY_THREADS : 0;
}

/* How long the groups of a multiprocessor take: the steps of all waves of blocks, and finishing the
 * open words after each colour. */
static size_t duration(const struct gpumc_device *device, const struct ising2d_cuda_spread *spread,
                       size_t groups, size_t vectors)
{
  const size_t block = spread->slots * spread->threads, blocks = ceiling(groups, spread->slots);
  const size_t together = resident(device, spread);
  const size_t waves =
      blocks / together * weight(together * block) + weight(blocks % together * block);
  return waves * (ceiling(vectors, spread->threads) * STEP_COST + FINISH_COST);
}

/* `threads` for each group, and as many groups as `block` threads take and shared memory holds. */
static struct ising2d_cuda_spread filled(const struct gpumc_device *device,
                                         const struct ising2d_cuda_batch *batch, uint32_t threads,
                                         uint32_t block)
{
  struct ising2d_cuda_spread spread = {.slots = 1, .threads = threads};
  while ((spread.slots + 1) * threads <= block &&
         ising2d_cuda_shared_bytes(batch, spread.slots + 1, threads) <= device->shared_bytes)
    spread.slots++;
  spread.shared_bytes = (uint32_t)ising2d_cuda_shared_bytes(batch, spread.slots, threads);
  return spread;
}

/* The spread of the shortest duration; of two, the one with fewer threads. */
static struct ising2d_cuda_spread best_spread(const struct gpumc_device *device,
                                              const struct ising2d_cuda_batch *batch,
                                              size_t vectors)
{
  const size_t multiprocessors = device->multiprocessors > 0 ? (size_t)device->multiprocessors : 1;
  const size_t groups = ceiling((size_t)batch->runs * batch->groups, multiprocessors);
  struct ising2d_cuda_spread best = filled(device, batch, 32, LEAST_BLOCK);
  for (uint32_t threads = 64; threads <= ISING2D_CUDA_THREADS && threads < 2 * vectors;
       threads *= 2) {
    const struct ising2d_cuda_spread spread = filled(device, batch, threads, LEAST_BLOCK);
    if (spread.shared_bytes > device->shared_bytes)
      break;
    if (duration(device, &spread, groups, vectors) < duration(device, &best, groups, vectors))
      best = spread;
  }
  return best;
}

/* What was asked for, as far as the kernel can: whole warps, and shared memory for them. */
static struct ising2d_cuda_spread asked_spread(const struct gpumc_device *device,
                                               const struct ising2d_cuda_batch *batch,
                                               uint32_t block, size_t vectors)
{
  uint32_t threads = block < whole_warps(vectors) ? block : whole_warps(vectors);
  while (ising2d_cuda_shared_bytes(batch, 1, threads) > device->shared_bytes)
    threads -= 32;
  return filled(device, batch, threads, block);
}

struct ising2d_cuda_spread
ising2d_cuda_spread(const struct gpumc_device *device, const struct ising2d_cuda_batch *batch)
{
  const bool by_fours =
      batch->row.value % ISING2D_CUDA_VECTOR == 0 && batch->colour >= 32 * ISING2D_CUDA_VECTOR;
  const uint32_t width = by_fours ? ISING2D_CUDA_VECTOR : 1;
  const size_t vectors = batch->colour / width;
  const bool in_shared = ising2d_cuda_shared_bytes(batch, 1, 32) <= device->shared_bytes;
  uint32_t block = whole_warps(device->block_threads);
  block = block > ISING2D_CUDA_THREADS ? ISING2D_CUDA_THREADS : block;
  struct ising2d_cuda_spread spread;
  if (!in_shared)
    spread = (struct ising2d_cuda_spread){.slots = 1, .threads = block > 0 ? block : LEAST_BLOCK};
  else if (block > 0)
    spread = asked_spread(device, batch, block, vectors);
  else
    spread = best_spread(device, batch, vectors);
  spread.in_shared = in_shared;
  spread.by_fours = by_fours;
  spread.regular = spread.threads * width % (2 * batch->row.value) == 0;
  return spread;
}
