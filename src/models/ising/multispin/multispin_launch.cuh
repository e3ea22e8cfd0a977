/* Which code a sweep is launched with, and what its blocks share. */
#ifndef GPUMC_ISING_MULTISPIN_LAUNCH_CUH
#define GPUMC_ISING_MULTISPIN_LAUNCH_CUH

#include "models/ising/multispin/multispin_update.cuh"

/* Open words of `threads` threads, whatever the rule. */
static inline size_t
ising_multispin_queue_bytes(const struct ising_multispin_replicas *replicas, uint32_t threads)
{
  return threads / 32 *
         (replicas->dimension == 3 ? sizeof(struct gpumc_open_words<2>)
                                   : sizeof(struct gpumc_open_words<1>));
}

/* The masks of run m, by all threads of the block. */
__device__ static inline void
ising_multispin_expand(const struct ising_multispin_device_rule *rule, uint32_t m,
                       uint32_t rows[ISING_MULTISPIN_ROWS][ISING_MULTISPIN_COLUMNS])
{
  for (uint32_t i = threadIdx.x; i < ISING_MULTISPIN_ROWS * ISING_MULTISPIN_COLUMNS;
       i += blockDim.x)
    rows[i / ISING_MULTISPIN_COLUMNS][i % ISING_MULTISPIN_COLUMNS] =
        ising_multispin_mask(&rule->physics, &rule->thresholds[m], i / ISING_MULTISPIN_COLUMNS,
                             i % ISING_MULTISPIN_COLUMNS);
}

/* One temperature for all runs has code of its own where speed counts most: masks come with the
 * launch, and fewer thresholds are looked at. */
template <class LAUNCH, int WIDTH, int ROUNDS>
static enum gpumc_status
ising_multispin_together(const struct ising_multispin_sweep *sweep, struct gpumc_error *error)
{
  if constexpr (WIDTH == ISING_MULTISPIN_VECTOR) {
    if (sweep->rule.zeros >= 4)
      return LAUNCH::template launch<
          struct ising_multispin_kind<WIDTH, 2, false, true, false, ROUNDS, 4>>(sweep, error);
    if (sweep->rule.zeros >= 2)
      return LAUNCH::template launch<
          struct ising_multispin_kind<WIDTH, 2, false, true, false, ROUNDS, 2>>(sweep, error);
  }
  return LAUNCH::template launch<
      struct ising_multispin_kind<WIDTH, 2, false, true, false, ROUNDS, 0>>(sweep, error);
}

template <class LAUNCH, int WIDTH, int DIMENSION, bool SIGNS, bool PLAIN>
static enum gpumc_status
ising_multispin_by_rounds(const struct ising_multispin_sweep *sweep, struct gpumc_error *error)
{
  const bool fast = sweep->replicas.batch.rounds == 7;
  if constexpr (DIMENSION == 2 && !SIGNS && PLAIN)
    if (!sweep->rule.each)
      return fast ? ising_multispin_together<LAUNCH, WIDTH, 7>(sweep, error)
                  : ising_multispin_together<LAUNCH, WIDTH, 10>(sweep, error);
  return fast ? LAUNCH::template launch<
                    struct ising_multispin_kind<WIDTH, DIMENSION, SIGNS, PLAIN, true, 7, 0>>(sweep,
                                                                                             error)
              : LAUNCH::template launch<
                    struct ising_multispin_kind<WIDTH, DIMENSION, SIGNS, PLAIN, true, 10, 0>>(
                    sweep, error);
}

template <class LAUNCH, int WIDTH, int DIMENSION, bool SIGNS>
static enum gpumc_status
ising_multispin_by_rule(const struct ising_multispin_sweep *sweep, struct gpumc_error *error)
{
  return sweep->rule.physics.plain
             ? ising_multispin_by_rounds<LAUNCH, WIDTH, DIMENSION, SIGNS, true>(sweep, error)
             : ising_multispin_by_rounds<LAUNCH, WIDTH, DIMENSION, SIGNS, false>(sweep, error);
}

template <class LAUNCH, int WIDTH, int DIMENSION>
static enum gpumc_status
ising_multispin_by_signs(const struct ising_multispin_sweep *sweep, struct gpumc_error *error)
{
  return sweep->disorder.signs != NULL
             ? ising_multispin_by_rule<LAUNCH, WIDTH, DIMENSION, true>(sweep, error)
             : ising_multispin_by_rule<LAUNCH, WIDTH, DIMENSION, false>(sweep, error);
}

/* LAUNCH::launch<KIND>(sweep, error) for the kind of the sweep; not `each` is for uniform square
 * lattices only. */
template <class LAUNCH, int DIMENSION>
static enum gpumc_status
ising_multispin_dispatch(const struct ising_multispin_sweep *sweep, struct gpumc_error *error)
{
  switch (sweep->spread.width) {
  case ISING_MULTISPIN_VECTOR:
    return ising_multispin_by_signs<LAUNCH, ISING_MULTISPIN_VECTOR, DIMENSION>(sweep, error);
  case 2:
    return ising_multispin_by_signs<LAUNCH, 2, DIMENSION>(sweep, error);
  default:
    return ising_multispin_by_signs<LAUNCH, 1, DIMENSION>(sweep, error);
  }
}

#endif
