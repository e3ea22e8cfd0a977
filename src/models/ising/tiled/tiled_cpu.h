/* The tiled kernel on the CPU above the instruction-set levels: what its files share. */
#ifndef GPUMC_ISING_TILED_CPU_H
#define GPUMC_ISING_TILED_CPU_H

#include "models/ising/ising.h"
#include "models/lattice/replicas_cpu.h"
#include "models/ising/tiled/tiled_isa.h"
#include "models/ising/tiled/tiled_measure.h"

/* lattice_cpu_storage.own. state[plan.runs][plan.capacity][state_words], those of the generators;
 * rule[plan.runs], of the present call; wave_table: cosines, then sines. */
struct ising_tiled_own {
  struct ising_tiled_geometry geometry;
  struct ising_tiled_generator generator;
  size_t state_words;
  uint32_t *state;
  struct ising_tiled_rule *rule;
  struct ising_tiled_waves waves;
  int32_t *wave_table;
};

static inline struct ising_tiled_own *ising_tiled_own_of(const struct gpumc_ensemble *ensemble)
{
  const struct lattice_cpu_storage *storage = ensemble->storage;
  return storage->own;
}

/* The state of the generator of a replica of a run. */
static inline uint32_t *
ising_tiled_state(const struct gpumc_ensemble *ensemble, size_t run, size_t replica)
{
  const struct ising_tiled_own *own = ising_tiled_own_of(ensemble);
  return own->state + (run * ensemble->plan.capacity + replica) * own->state_words;
}

/* The calling thread's. */
static inline struct ising_tiled_scratch
ising_tiled_scratch_of(const struct gpumc_ensemble *ensemble)
{
  return ising_tiled_scratch_at(&ising_tiled_own_of(ensemble)->geometry,
                                lattice_cpu_scratch(ensemble->storage));
}

/* gpumc_kernel_ops.measure */
GPUMC_MUST_CHECK enum gpumc_status ising_tiled_cpu_measure(struct gpumc_ensemble *ensemble,
                                                           int64_t *const *channel,
                                                           struct gpumc_error *error);

#endif
