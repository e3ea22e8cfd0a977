/* The inner loops of parallel tempering on the CPU, compiled once for each instruction-set level:
 * over neighbouring samples of one run. Every level gives the same bits. */
#ifndef GPUMC_ALGORITHMS_PT_LOOPS_H
#define GPUMC_ALGORITHMS_PT_LOOPS_H

#include "algorithms/pt/pt_tempering.h"
#include "core/numerics/isa.h"

enum { PT_LANES = 32 }; /* samples in a word of swap bits */

/* Two runs at neighbouring temperatures in one round of exchanges. */
struct pt_exchange_pair {
  struct gpumc_random random;
  uint32_t run, round; /* run: of the hotter one */
  double step;         /* as in struct pt_tempering */
};

struct pt_loops {
  /* sums[i] += pt_term_value(values[i], ..), i < n. */
  void (*add_values)(double *sums, const int64_t *values, size_t n, double scale,
                     enum gpumc_moment_choice moment);
  /* sums[i] += pt_term_product(one[i], other[i], scale) */
  void (*add_products)(double *sums, const int64_t *one, const int64_t *other, size_t n,
                       double scale);
  /* Sets lowest[i] to the smaller of itself and value[i]. */
  void (*find_lowest)(int64_t *lowest, const int64_t *value, size_t n);
  /* Returns in bit i pt_exchange_accepted for sample `first` + i, i < n <= PT_LANES, whose energies
   * are hotter[i] and colder[i]. */
  uint32_t (*decide)(const struct pt_exchange_pair *pair, uint32_t first, size_t n,
                     const int64_t *hotter, const int64_t *colder);
  /* Swaps elements i < n of a and b if bit i of `swap` is set. */
  void (*exchange)(int64_t *a, int64_t *b, size_t n, uint32_t swap);
  void (*exchange_walkers)(uint32_t *a, uint32_t *b, size_t n, uint32_t swap);
  /* Counts, of n walkers, those with a label, and those whose label is PT_WALKER_HOT. */
  void (*count_labels)(const uint32_t *walker, size_t n, uint64_t *labelled,
                       uint64_t *from_hottest);
};

#ifdef GPUMC_ISA_X86_64
extern const struct pt_loops pt_loops_v2, pt_loops_v3, pt_loops_v4;
#else
extern const struct pt_loops pt_loops_portable;
#endif

#endif
