/* Exchanging a cluster between two replicas of the spin kernel on the CPU. */
#ifndef GPUMC_ISING_SPIN_EXCHANGE_H
#define GPUMC_ISING_SPIN_EXCHANGE_H

#include "models/ising/ising_exchange.h"
#include "models/ising/spin/spin_rule.h"

/* Two replicas of one sample and beta, spins[position] and other[position], 1 up and 0 down.
 * `coupling`: J if the sample has none or only signs, otherwise the quantum of its terms.
 * queue[sites]: of the calling thread. */
struct ising_spin_pair {
  const struct gpumc_checkerboard *lattice;
  struct ising_spin_sample sample;
  enum gpumc_cluster_rule rule;
  double beta, coupling;
  uint64_t threshold; /* of a bond, unless the sample has terms */
  struct gpumc_random random;
  uint32_t replica, time;
  uint8_t *spins, *other;
  uint32_t *queue;
};

static inline size_t ising_spin_exchange_bytes(const struct gpumc_checkerboard *lattice)
{
  return 2 * lattice->colour * sizeof(uint32_t);
}

/* Exchanges a cluster, and counts it. */
void ising_spin_exchange(const struct ising_spin_pair *pair, struct gpumc_cluster_counts *counts);

#endif
