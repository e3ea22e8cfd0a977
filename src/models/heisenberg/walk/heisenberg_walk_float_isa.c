/* Walks of the kernel `float` on the CPU. */
#if defined(__GNUC__) && !defined(__clang__)
/* Nobody looks at floating-point exceptions: see heisenberg_float_isa.c. */
#pragma GCC optimize("no-trapping-math")
#endif

#include "models/heisenberg/heisenberg_physics.h"

#define HEISENBERG_PRECISION float
#define HEISENBERG_SHARED_COUNTERS 1
#include "models/heisenberg/walk/heisenberg_walk_loops.h"
