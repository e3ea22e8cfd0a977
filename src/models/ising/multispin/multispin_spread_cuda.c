/* How the multispin kernel spreads groups over the blocks and threads of a GPU. It decides no
 * result. */
#include "core/device/device.h"
#include "models/ising/multispin/multispin_cuda.h"

enum {
  LEAST_BLOCK = 128,     /* threads of a block that is free to choose: a warp a scheduler */
  BUSY_THREADS = 448,    /* that keep a multiprocessor busy */
  BLOCK_OVERHEAD = 1024, /* shared memory that each block takes beside its own */
  STEP_COST = 10,        /* of one step of a thread, and of finishing a colour */
  FINISH_COST = 6,
  WAVES_IN_STEP = 2,
};

static uint32_t whole_warps(size_t threads)
{
  return (uint32_t)lattice_parts(threads, 32) * 32;
}

/* Blocks of this spread that a multiprocessor has registers and shared memory for. */
static size_t
resident(const struct gpumc_device *device, const struct ising_multispin_spread *spread)
{
  const size_t by_threads = (size_t)ISING_MULTISPIN_THREADS / (spread->slots * spread->threads);
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

/* How long `groups` groups take, shared out among the multiprocessors. One or two waves of blocks
 * go in step: all of the first, then the rest. Where there are more, blocks end one by one, and new
 * ones take their places at once. Open words are finished after each colour. */
static double duration(const struct gpumc_device *device,
                       const struct ising_multispin_spread *spread, size_t groups, size_t vectors)
{
  const size_t multiprocessors = device->multiprocessors > 0 ? (size_t)device->multiprocessors : 1;
  const size_t block = spread->slots * spread->threads, together = resident(device, spread);
  const size_t blocks = lattice_parts(groups, spread->slots);
  const size_t most = lattice_parts(blocks, multiprocessors);
  const double cost = (double)(lattice_parts(vectors, spread->threads) * STEP_COST + FINISH_COST);
  if (most <= WAVES_IN_STEP * together)
    return cost *
           (double)(most / together * weight(together * block) + weight(most % together * block));
  const double slowed = (double)weight(together * block) / (double)(together * block);
  return cost * slowed * (double)blocks * (double)block / (double)multiprocessors;
}

/* `threads` for each group, and as many groups as `block` threads take and shared memory holds. */
static struct ising_multispin_spread filled(const struct gpumc_device *device,
                                            const struct ising_multispin_replicas *replicas,
                                            uint32_t threads, uint32_t block)
{
  struct ising_multispin_spread spread = {.slots = 1, .threads = threads};
  while ((spread.slots + 1) * threads <= block &&
         ising_multispin_shared_bytes(replicas, spread.slots + 1, threads) <= device->shared_bytes)
    spread.slots++;
  spread.shared_bytes = (uint32_t)ising_multispin_shared_bytes(replicas, spread.slots, threads);
  return spread;
}

/* The spread of the shortest duration; of two, the one with fewer threads. */
static struct ising_multispin_spread best_spread(const struct gpumc_device *device,
                                                 const struct ising_multispin_replicas *replicas,
                                                 size_t vectors)
{
  const size_t of_run = lattice_parts(replicas->batch.expected, ISING_MULTISPIN_LANES);
  const size_t groups = replicas->batch.runs * of_run;
  struct ising_multispin_spread best = filled(device, replicas, 32, LEAST_BLOCK);
  for (uint32_t threads = 64; threads <= ISING_MULTISPIN_THREADS && threads < 2 * vectors;
       threads *= 2) {
    const struct ising_multispin_spread spread = filled(device, replicas, threads, LEAST_BLOCK);
    if (spread.shared_bytes > device->shared_bytes)
      break;
    if (duration(device, &spread, groups, vectors) < duration(device, &best, groups, vectors))
      best = spread;
  }
  return best;
}

/* What was asked for, as far as the kernel can: whole warps, and shared memory for them. */
static struct ising_multispin_spread asked_spread(const struct gpumc_device *device,
                                                  const struct ising_multispin_replicas *replicas,
                                                  uint32_t block, size_t vectors)
{
  uint32_t threads = block < whole_warps(vectors) ? block : whole_warps(vectors);
  while (ising_multispin_shared_bytes(replicas, 1, threads) > device->shared_bytes)
    threads -= 32;
  return filled(device, replicas, threads, block);
}

/* The most words at once that stand in one row, if a warp finds so many. */
static uint32_t width_of(const struct ising_multispin_replicas *replicas)
{
  uint32_t width = ISING_MULTISPIN_VECTOR;
  while (width > 1 && (replicas->row.value % width != 0 || replicas->colour < 32 * width))
    width /= 2;
  return width;
}

struct ising_multispin_spread
ising_multispin_spread(const struct gpumc_device *device,
                       const struct ising_multispin_replicas *replicas)
{
  const uint32_t width = width_of(replicas);
  const size_t vectors = replicas->colour / width;
  const bool in_shared = ising_multispin_shared_bytes(replicas, 1, 32) <= device->shared_bytes;
  uint32_t block = whole_warps(device->block_threads);
  block = block > ISING_MULTISPIN_THREADS ? ISING_MULTISPIN_THREADS : block;
  struct ising_multispin_spread spread;
  if (!in_shared)
    spread =
        (struct ising_multispin_spread){.slots = 1, .threads = block > 0 ? block : LEAST_BLOCK};
  else if (block > 0)
    spread = asked_spread(device, replicas, block, vectors);
  else
    spread = best_spread(device, replicas, vectors);
  /* Two rows of a square lattice, or two planes, have all places that there are. */
  const uint32_t period = 2 * (replicas->dimension == 3 ? replicas->plane : replicas->row.value);
  spread.in_shared = in_shared;
  spread.width = width;
  spread.regular = spread.threads * width % period == 0;
  return spread;
}
