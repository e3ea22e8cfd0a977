/* The numbers of bonds on the CPU, in vectors: for sources that are compiled once for each
 * instruction-set level. */
#ifndef GPUMC_ISING_CLUSTER_BONDS_H
#define GPUMC_ISING_CLUSTER_BONDS_H

#include "models/ising/cluster/cluster.h"
#include "models/lattice/clusters/clusters_labels.h"

enum {
  ISING_BONDS_VECTORS = 4, /* of counters that are drawn together */
  ISING_BONDS_COUNTERS = ISING_BONDS_VECTORS * GPUMC_VECTOR_WORDS,
  /* Sites beyond the last one that are written. */
  ISING_BONDS_BEYOND = 2 * ISING_BONDS_COUNTERS,
  /* Bit d: the number of bond d is below its threshold. Behind these bits, which spins satisfy it:
   * equal ones if the bit is 1; for the ghost a spin down. */
  ISING_BONDS_SIGNS = 4
};

/* Results of comparisons, as sites: two of a counter, or one. */
typedef uint16_t ising_bonds_pairs __attribute__((vector_size(GPUMC_VECTOR_BYTES / 2)));
typedef uint8_t ising_bonds_singles __attribute__((vector_size(GPUMC_VECTOR_BYTES / 4)));

/* For uniform couplings and fields: u < T as u <= last, by words; `below`: the bit of the word, or
 * 0 if T = 0; `signs`: those of all words of a counter. For others `stream` alone. */
struct ising_bonds {
  struct gpumc_philox_stream stream;
  uint32_t label;
  uint32_t last[LATTICE_CLUSTER_WORDS], below[LATTICE_CLUSTER_WORDS], signs;
};

static inline struct ising_bonds
ising_bonds_of(const struct ising_cluster_work *work, uint32_t label)
{
  const struct ising_cluster_rule *rule = &work->rule;
  const double bond = ising_cluster_exponent(rule, rule->coupling),
               ghost = ising_cluster_exponent(rule, rule->field);
  struct ising_bonds bonds = {.label = label};
  bonds.stream =
      gpumc_philox_stream_make(work->graph.random, work->graph.replica, work->graph.time);
  for (uint32_t w = 0; w < LATTICE_CLUSTER_WORDS; w++) {
    const bool of_ghost = !rule->paired && w == LATTICE_CLUSTER_GHOST;
    const double x = of_ghost ? ghost : bond;
    const uint64_t threshold = ising_cluster_threshold(fabs(x));
    /* Words 2 and 3 of a pair are those of the second site, a byte further on. */
    const uint32_t bit = rule->paired ? 1u << (w & 1) << (w & 2) * 4 : 1u << w;
    bonds.below[w] = threshold > 0 ? bit : 0;
    bonds.last[w] = (uint32_t)(threshold - (threshold > 0));
    bonds.signs |= (of_ghost ? x < 0.0 : x > 0.0) ? bit << ISING_BONDS_SIGNS : 0;
  }
  return bonds;
}

/* `rounds`, `paired`: constants. */
GPUMC_INLINE void ising_bonds_draw_with(const struct ising_bonds *bonds, const uint32_t rounds,
                                        const bool paired, size_t first, size_t n, uint8_t *bits)
{
  const uint32_t label[ISING_BONDS_VECTORS] = {bonds->label, bonds->label, bonds->label,
                                               bonds->label};
  const size_t step = paired ? 2 : 1;
  for (size_t i = 0; i < n; i += step * ISING_BONDS_COUNTERS) {
    const uint32_t counter = lattice_cluster_counter(paired, (uint32_t)(first + i));
    gpumc_v32 site[ISING_BONDS_VECTORS], word[ISING_BONDS_VECTORS][LATTICE_CLUSTER_WORDS];
#pragma GCC unroll 4
    for (uint32_t v = 0; v < ISING_BONDS_VECTORS; v++)
      site[v] = gpumc_lane_numbers() + (counter + v * GPUMC_VECTOR_WORDS);
    gpumc_philox_draws(&bonds->stream, rounds, ISING_BONDS_VECTORS, site, label, word);
#pragma GCC unroll 4
    for (size_t v = 0; v < ISING_BONDS_VECTORS; v++) {
      gpumc_v32 below = gpumc_broadcast(bonds->signs);
#pragma GCC unroll 4
      for (uint32_t w = 0; w < LATTICE_CLUSTER_WORDS; w++)
        below |= (gpumc_v32)(word[v][w] <= bonds->last[w]) & bonds->below[w];
      uint8_t *to = bits + i + v * step * GPUMC_VECTOR_WORDS;
      if (paired) {
        const ising_bonds_pairs packed = __builtin_convertvector(below, ising_bonds_pairs);
        memcpy(to, &packed, sizeof packed);
      } else {
        const ising_bonds_singles packed = __builtin_convertvector(below, ising_bonds_singles);
        memcpy(to, &packed, sizeof packed);
      }
    }
  }
}

/* Sets the bits of bond `bit` with the numbers u, and that of its sign, for terms in quanta.
 * No branch, so that loops become vectors; beyond x = 700 a bond is active in any case. */
static inline void ising_bonds_compare(const struct ising_cluster_rule *rule, uint32_t bit,
                                       bool of_ghost, size_t n, const uint32_t *restrict u,
                                       const int32_t *restrict term, uint8_t *restrict bits)
{
  const double beta = rule->beta, quantum = rule->quantum, turned = of_ghost ? -1.0 : 1.0;
  const uint32_t sign = bit << ISING_BONDS_SIGNS;
  for (size_t i = 0; i < n; i++) {
    const double given = beta * (2.0 * ((double)term[i] * quantum)), size = fabs(given);
    const double x = size < 700.0 ? size : 700.0;
    const double most = fma(1.0 - gpumc_exp_within(-x), 4294967296.0, 0.5);
    const uint32_t active = (double)u[i] + 1.0 <= most ? bit : 0;
    const uint32_t positive = turned * given > 0.0 ? sign : 0;
    bits[i] = (uint8_t)(bits[i] | active | positive);
  }
}

/* The ghost and a uniform field. */
static inline void ising_bonds_compare_uniform(const struct ising_bonds *bonds, size_t n,
                                               const uint32_t *restrict u, uint8_t *restrict bits)
{
  const uint32_t below = bonds->below[LATTICE_CLUSTER_GHOST],
                 last = bonds->last[LATTICE_CLUSTER_GHOST],
                 sign = bonds->signs & 1u << LATTICE_CLUSTER_GHOST << ISING_BONDS_SIGNS;
  for (size_t i = 0; i < n; i++)
    bits[i] = (uint8_t)(bits[i] | sign | (u[i] <= last ? below : 0));
}

static inline void ising_bonds_draw_terms(const struct ising_cluster_work *work,
                                          const struct ising_bonds *bonds, size_t first, size_t n,
                                          uint8_t *bits)
{
  const size_t sites = work->graph.shape->sites,
               dimension = work->graph.shape->checkerboard.dimension;
  uint32_t number[LATTICE_CLUSTER_WORDS][LATTICE_CLUSTER_CHUNK] __attribute__((aligned(64)));
  lattice_cluster_numbers(&work->graph, &bonds->stream, bonds->label, work->rule.paired, first, n,
                          number);
  memset(bits, 0, n);
  for (size_t d = 0; d < dimension; d++)
    ising_bonds_compare(&work->rule, 1u << d, false, n, number[d], work->terms + d * sites + first,
                        bits);
  if (work->random_fields)
    ising_bonds_compare(&work->rule, 1u << LATTICE_CLUSTER_GHOST, true, n,
                        number[LATTICE_CLUSTER_GHOST], work->terms + dimension * sites + first,
                        bits);
  else if (work->rule.has_field)
    ising_bonds_compare_uniform(bonds, n, number[LATTICE_CLUSTER_GHOST], bits);
}

/* Writes bits[n], and up to ISING_BONDS_BEYOND more, of the sites from `first` on; it is even, as
 * is n, at most LATTICE_CLUSTER_CHUNK. */
static inline void ising_bonds_draw(const struct ising_cluster_work *work,
                                    const struct ising_bonds *bonds, size_t first, size_t n,
                                    uint8_t *bits)
{
  const bool paired = work->rule.paired;
  if (work->terms != NULL)
    ising_bonds_draw_terms(work, bonds, first, n, bits);
  else if (work->graph.random.rounds == 7 && paired)
    ising_bonds_draw_with(bonds, 7, true, first, n, bits);
  else if (work->graph.random.rounds == 7)
    ising_bonds_draw_with(bonds, 7, false, first, n, bits);
  else if (paired)
    ising_bonds_draw_with(bonds, 10, true, first, n, bits);
  else
    ising_bonds_draw_with(bonds, 10, false, first, n, bits);
}

#endif
