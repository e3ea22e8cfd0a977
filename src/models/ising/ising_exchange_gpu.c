/* Launches of exchanges of clusters on a GPU. */
#include "models/ising/ising_exchange_gpu.h"

#include "models/ising/ising.h"
#include "models/lattice/replicas_gpu.h"

/* Blocks that work in device memory, and blocks at all, at most; shared memory that a block needs
 * beside its words. */
enum { STORED_BLOCKS = 256, BLOCKS = 1 << 30, SHARED_BYTES = 2048 };

struct ising_exchange_launch
ising_exchange_launch_of(const struct gpumc_cluster_exchange *with, double coupling)
{
  return (struct ising_exchange_launch){
      .first = (uint32_t)with->first,
      .second = (uint32_t)with->second,
      .activated = with->rule == GPUMC_CLUSTER_ACTIVATED,
      .time = with->time,
      .counts = with->counts,
      .coupling = coupling,
  };
}

bool ising_exchange_next(const struct gpumc_cluster_exchange *with,
                         struct ising_exchange_launch *launch)
{
  launch->first += launch->runs;
  launch->second += launch->runs;
  launch->counts += launch->runs;
  const size_t left = with->first + with->runs - launch->first;
  launch->runs = (uint32_t)(left < ISING_EXCHANGE_RUNS ? left : ISING_EXCHANGE_RUNS);
  for (uint32_t i = 0; i < launch->runs; i++) {
    launch->beta[i] = ising_controls_of(with->control, launch->first + i)[ISING_BETA];
    launch->threshold[i] = ising_exchange_threshold(launch->beta[i], launch->coupling);
  }
  return launch->runs > 0;
}

size_t ising_exchange_scratch_bytes(size_t pairs, size_t words)
{
  return (pairs < STORED_BLOCKS ? pairs : STORED_BLOCKS) * words * sizeof(uint32_t);
}

enum gpumc_status ising_exchange_spread(struct gpumc_ensemble *ensemble, size_t pairs,
                                        struct ising_exchange_launch *launch,
                                        struct gpumc_error *error)
{
  const size_t bytes = launch->words * sizeof(uint32_t);
  void *memory = NULL;
  launch->blocks = (uint32_t)(pairs < BLOCKS ? pairs : BLOCKS);
  if (bytes + SHARED_BYTES <= ensemble->device->shared_bytes)
    return GPUMC_OK;
  launch->blocks = (uint32_t)(pairs < STORED_BLOCKS ? pairs : STORED_BLOCKS);
  GPUMC_TRY(lattice_gpu_scratch(ensemble, launch->blocks * bytes, &memory, error));
  launch->memory = memory;
  return GPUMC_OK;
}
