/* Walks of the kernel `double` on the CPU. */
#if defined(__GNUC__) && !defined(__clang__)
/* Nobody looks at floating-point exceptions: see heisenberg_double_isa.c. And GCC is not to join
 * two rounds of the loop over neighbours, whose loop over lanes it would then not make vectors of.
 * Neither changes any number. */
#pragma GCC optimize("no-trapping-math", "no-loop-unroll-and-jam")
#endif

#include "models/heisenberg/heisenberg_physics.h"

#define HEISENBERG_PRECISION double
#define HEISENBERG_SHARED_COUNTERS 0
#include "models/heisenberg/walk/heisenberg_walk_loops.h"
