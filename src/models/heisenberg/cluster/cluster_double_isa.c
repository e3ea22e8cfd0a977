/* Cluster moves of the kernel `double` on the CPU. */
#if defined(__GNUC__) && !defined(__clang__)
/* Floating-point exceptions are never tested: see heisenberg_double_isa.c. This changes no number.
 */
#pragma GCC optimize("no-trapping-math")
#endif

#include "models/heisenberg/cluster/cluster_physics.h"

#define HEISENBERG_PRECISION double
#include "models/heisenberg/cluster/cluster_loops.h"
