/* The kernel `float` on the CPU. */
#include "models/heisenberg/heisenberg_physics.h"

#define HEISENBERG_PRECISION float
#define HEISENBERG_SHARED_COUNTERS 1
#include "models/heisenberg/heisenberg_loops.h"
