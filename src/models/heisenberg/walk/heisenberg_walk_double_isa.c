/* Walks of the kernel `double` on the CPU. */
#if defined(__GNUC__) && !defined(__clang__)
/* Floating-point exceptions are never tested: see heisenberg_double_isa.c. GCC must not join two
 * iterations of the loop over neighbours, or it would not vectorise their loop over lanes. Neither
 * changes any number. */
#pragma GCC optimize("no-trapping-math", "no-loop-unroll-and-jam")
#endif

#include "models/heisenberg/heisenberg_physics.h"

#define HEISENBERG_PRECISION double
#define HEISENBERG_SHARED_COUNTERS 0
#include "models/heisenberg/walk/heisenberg_walk_loops.h"
