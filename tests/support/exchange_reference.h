/* The slow, simple exchange of clusters between two replicas of Ising spins, written from the text
 * of models/ising/ising_exchange.h and not from the kernels; it can be made wrong on purpose. */
#ifndef TESTS_SUPPORT_EXCHANGE_REFERENCE_H
#define TESTS_SUPPORT_EXCHANGE_REFERENCE_H

#include "support/ising_reference.h"

/* Deliberate faults. BIASED: clusters that would raise the energy of the first replica stay. PART:
 * only half of the cluster's sites change places. PROBABILITY: bonds are active with 1 - exp(-2
 * |beta J|). */
enum exchange_fault { EXCHANGE_RIGHT, EXCHANGE_BIASED, EXCHANGE_PART, EXCHANGE_PROBABILITY };

/* Exchanges a cluster between any two replicas with one number, with the generator of `one`, and
 * adds to `counts`. Both are references of one model, with as many replicas. */
void reference_exchange_clusters(struct reference *one, struct reference *other,
                                 enum gpumc_cluster_rule rule, double beta, uint32_t number,
                                 enum exchange_fault fault, struct gpumc_cluster_counts *counts);

#endif
