/* The kernel `double` on the CPU, and the measurements of both kernels. */
#if defined(__GNUC__) && !defined(__clang__)
/* Floating-point exceptions are never tested. If they counted, GCC would not vectorise loops with
 * selections before AVX-512. This changes no number. */
#pragma GCC optimize("no-trapping-math")
#ifndef __FMA__
/* Without fused multiply-add, at x86-64-v2, calls of fma() take nine tenths of the time, and more
 * optimisation gains nothing but a minute of compiling. */
#pragma GCC optimize("O1")
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#endif

#include "models/heisenberg/heisenberg_physics.h"

#define HEISENBERG_PRECISION double
#define HEISENBERG_SHARED_COUNTERS 0
#include "models/heisenberg/heisenberg_loops.h"
#include "models/heisenberg/heisenberg_measure_loops.h"
#include "models/heisenberg/quenched/quenched_compare_loops.h"

extern const struct heisenberg_ops GPUMC_ISA_NAME(OPS);
const struct heisenberg_ops GPUMC_ISA_NAME(OPS) = {.start = start_replica, .sweep = sweep_replica};
