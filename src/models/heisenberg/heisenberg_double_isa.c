/* The kernel `double` on the CPU, and the measurements of both kernels. */
#include "models/heisenberg/heisenberg_compiled.h"

#include "models/heisenberg/heisenberg_physics.h"

#define HEISENBERG_PRECISION double
#define HEISENBERG_SHARED_COUNTERS 0
#include "models/heisenberg/heisenberg_loops.h"
#include "models/heisenberg/heisenberg_measure_loops.h"
#include "models/heisenberg/quenched/quenched_compare_loops.h"

extern const struct heisenberg_ops GPUMC_ISA_NAME(OPS);
const struct heisenberg_ops GPUMC_ISA_NAME(OPS) = {.start = start_replica, .sweep = sweep_replica};
