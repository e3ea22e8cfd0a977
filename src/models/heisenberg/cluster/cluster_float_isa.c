/* Cluster moves of the kernel `float` on the CPU. */
#if defined(__GNUC__) && !defined(__clang__)
/* Floating-point exceptions are never tested: see heisenberg_float_isa.c. This changes no number.
 */
#pragma GCC optimize("no-trapping-math")
#endif

#include "models/heisenberg/cluster/cluster_physics.h"

#define HEISENBERG_PRECISION float
#include "models/heisenberg/cluster/cluster_loops.h"
