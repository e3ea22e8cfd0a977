/* The kernel `float` on the CPU. */
#include "models/heisenberg/heisenberg_compiled.h"

#include "models/heisenberg/heisenberg_length.h"

#define HEISENBERG_PRECISION float
#define HEISENBERG_SHARED_COUNTERS 1
#include "models/heisenberg/heisenberg_loops.h"

static void widen(size_t n, const void *numbers, double *wide)
{
  const float *from = numbers;
  for (size_t i = 0; i < n; i++)
    wide[i] = (double)from[i];
}

GPUMC_INLINE void
widen_units(const int components, size_t sites, const float *restrict from, double *restrict wide)
{
  for (size_t i = 0; i < sites; i++) {
    struct heisenberg_vector_double spin = {(double)from[i], (double)from[sites + i], 0};
    if (components == 3)
      spin.z = (double)from[2 * sites + i];
    spin = heisenberg_of_length_1(components, spin);
    wide[i] = spin.x;
    wide[sites + i] = spin.y;
    if (components == 3)
      wide[2 * sites + i] = spin.z;
  }
}

static void widen_spins(size_t sites, int components, bool unit, const void *spins, double *wide)
{
  if (!unit)
    widen((size_t)components * sites, spins, wide);
  else if (components == 3)
    widen_units(3, sites, spins, wide);
  else
    widen_units(2, sites, spins, wide);
}

extern const struct heisenberg_ops GPUMC_ISA_NAME(OPS);
const struct heisenberg_ops GPUMC_ISA_NAME(OPS) = {
    .start = start_replica, .sweep = sweep_replica, .widen = widen, .widen_spins = widen_spins};
