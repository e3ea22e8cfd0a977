/* The work of a GPU's threads on Ising spins, on the CPU: the code of spin_lane.cuh and
 * multispin_situation.cuh, which both compilers read. */
#ifndef TESTS_SUPPORT_ISING_EMULATED_H
#define TESTS_SUPPORT_ISING_EMULATED_H

#include "models/ising/multispin/multispin_gpu.h"
#include "models/ising/spin/spin_gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A sweep of the replica in column `lane` of columns[colour][words][32]. `fields`: the terms have
 * some. */
struct ising_lane_emulated {
  struct ising_spin_gpu_lattice lattice;
  struct ising_run_rule rule;
  const uint8_t *sample; /* ising_spin_pack_terms */
  struct gpumc_random random;
  uint32_t replica, time, lane;
  bool fields;
  uint32_t *columns;
};

void ising_lane_emulate(const struct ising_lane_emulated *job);

/* Stores the words of the neighbours of words k and k + 1 of a colour, and the signs of the bonds
 * with them, by enum gpumc_neighbour. sites[2 colour]; signs[7][colour], as a set of the disorder.
 */
void ising_pair_emulate(const struct ising_multispin_replicas *lattice, const uint32_t *sites,
                        const uint32_t *signs, uint32_t colour, uint32_t k,
                        uint32_t near[GPUMC_NEIGHBOURS_MAXIMUM][2],
                        uint32_t sign[GPUMC_NEIGHBOURS_MAXIMUM][2]);

#ifdef __cplusplus
}
#endif

#endif
