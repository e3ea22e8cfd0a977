/* The kernel `float` on the CPU. */
#if defined(__GNUC__) && !defined(__clang__)
/* Floating-point exceptions are never tested. If they counted, GCC would not vectorise loops with
 * selections before AVX-512. This changes no number. */
#pragma GCC optimize("no-trapping-math")
#endif

#include "models/heisenberg/heisenberg_physics.h"

#define HEISENBERG_PRECISION float
#define HEISENBERG_SHARED_COUNTERS 1
#include "models/heisenberg/heisenberg_loops.h"
#include "models/heisenberg/heisenberg_measure_loops.h"
#include "models/heisenberg/quenched/quenched_compare_loops.h"
