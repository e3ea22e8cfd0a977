#include "support/ising_emulated.h"

#include <string.h>

#include "models/ising/multispin/multispin_situation.cuh"
#include "models/ising/spin/spin_lane.cuh"

template <uint32_t ROUNDS, int DIMENSION, bool FIELD>
static void sweep(const struct ising_lane_emulated *job)
{
  const struct ising_lane_rule rule = ising_lane_rule_of(&job->rule);
  const struct gpumc_philox_group at_time =
      gpumc_philox_group(job->random, job->replica, job->time);
  const size_t words = (size_t)ISING_SPIN_WORDS * job->lattice.blocks * ISING_LANE_COLUMNS;
  uint32_t *column = job->columns + job->lane;
  for (uint32_t colour = 0; colour < 2; colour++)
    for (uint32_t b = 0; b < job->lattice.blocks; b++)
      ising_lane_update<ROUNDS, DIMENSION, FIELD>(&job->lattice, &rule, &job->rule, job->sample,
                                                  &at_time, colour, b, column + colour * words,
                                                  column + (1 - colour) * words);
}

template <uint32_t ROUNDS, int DIMENSION> static void choose(const struct ising_lane_emulated *job)
{
  if (job->fields)
    sweep<ROUNDS, DIMENSION, true>(job);
  else
    sweep<ROUNDS, DIMENSION, false>(job);
}

void ising_lane_emulate(const struct ising_lane_emulated *job)
{
  if (job->random.rounds == 7)
    job->lattice.dimension == 3 ? choose<7, 3>(job) : choose<7, 2>(job);
  else
    job->lattice.dimension == 3 ? choose<10, 3>(job) : choose<10, 2>(job);
}

void ising_pair_emulate(const struct ising_multispin_replicas *lattice, const uint32_t *sites,
                        const uint32_t *signs, uint32_t colour, uint32_t k,
                        uint32_t near[GPUMC_NEIGHBOURS_MAXIMUM][2],
                        uint32_t sign[GPUMC_NEIGHBOURS_MAXIMUM][2])
{
  typedef struct ising_multispin_kind<2, 3, true, true, true, 10, 0, false, true> pairs;
  struct ising_multispin_neighbours<pairs> at;
  ising_multispin_load_neighbours<pairs>(lattice, sites + (1 - colour) * lattice->colour, signs,
                                         colour, k,
                                         ising_multispin_place<pairs>(lattice, colour, k), &at);
  memcpy(near, at.near, sizeof at.near);
  memcpy(sign, at.sign, sizeof at.sign);
}
