/* The kernel `double` on the CPU. */
#include "models/heisenberg/heisenberg_physics.h"

#define HEISENBERG_PRECISION double
#define HEISENBERG_SHARED_COUNTERS 0
#include "models/heisenberg/heisenberg_loops.h"
