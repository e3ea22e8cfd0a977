/* How GCC compiles the loops over spins: the first file that those of the kernels include. It
 * changes no number. */
#ifndef GPUMC_HEISENBERG_COMPILED_H
#define GPUMC_HEISENBERG_COMPILED_H

#if defined(__GNUC__) && !defined(__clang__)
/* Floating-point exceptions are never tested. If they counted, GCC would not vectorise loops with
 * selections before AVX-512. */
#pragma GCC optimize("no-trapping-math")
#if defined(__x86_64__) && !defined(__FMA__)
/* At x86-64-v2 calls of fma() take most of the time. More optimisation gains 1 %, and takes half as
 * long again to compile. With this one GCC does not see that loops over the lanes of a vector set
 * all of them. */
#pragma GCC optimize("O1")
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#endif

#endif
