/* What is sampled: an argument of every sweep.
 *
 * A model declares controls, such as an inverse temperature and a field, and says how the weight of
 * a state depends on them (model.h). Which of them an algorithm moves, and through which values, is
 * the algorithm's matter; how a state is changed is the kernel's. */
#ifndef GPUMC_CORE_TARGET_H
#define GPUMC_CORE_TARGET_H

#include <stddef.h>
#include <stdint.h>

enum { GPUMC_CONTROLS_MAXIMUM = 4 };

enum gpumc_target_kind {
  GPUMC_ATHERMAL,  /* every allowed state with the same weight */
  GPUMC_BOLTZMANN, /* the weight that the controls give */
  GPUMC_TABULATED  /* a weight by the value of one channel */
};

/* ln of the weight by level of one channel: value = lowest + level * spacing, in quanta. */
struct gpumc_weight_table {
  size_t channel;
  int64_t lowest, spacing;
  size_t levels;
  const int64_t *log_weight; /* [levels] in units of 2^-32, device memory */
  uint64_t *visits; /* [levels] one more for every update, device memory; NULL: not counted */
};

struct gpumc_target {
  enum gpumc_target_kind kind;
  const double *control;                  /* [runs][n_controls] host memory; Boltzmann only */
  const struct gpumc_weight_table *table; /* tabulated only */
};

#endif
