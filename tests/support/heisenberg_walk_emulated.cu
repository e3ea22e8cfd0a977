#include "support/heisenberg_walk_emulated.h"

#include "models/heisenberg/walk/heisenberg_walk.cuh"

template <class RULES, int N> static void emulate(const struct heisenberg_walk_emulated *job)
{
  struct heisenberg_walker<RULES, N> walker;
  walker.rule = &job->rule;
  walker.lattice = &job->lattice;
  walker.weight = job->weight;
  walker.canonical = job->canonical;
  walker.lowest = job->lowest;
  walker.random = job->random;
  walker.replica = job->replica;
  walker.spins = (typename RULES::real *)job->lanes + job->replica % GPUMC_WALK_GROUP;
  heisenberg_walk_begin<RULES, N>(&walker);
  for (uint32_t step = 0; step < job->steps; step++) {
    heisenberg_walk_step<RULES, N>(&walker, job->time + step);
    job->visits[walker.level()]++;
  }
}

void heisenberg_walk_emulate(const struct heisenberg_walk_emulated *job)
{
  if (job->single && job->components == 3)
    emulate<struct heisenberg_in_float, 3>(job);
  else if (job->single)
    emulate<struct heisenberg_in_float, 2>(job);
  else if (job->components == 3)
    emulate<struct heisenberg_in_double, 3>(job);
  else
    emulate<struct heisenberg_in_double, 2>(job);
}
