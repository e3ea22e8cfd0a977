/* Parallel tempering: averages over the samples at one temperature, with errors. */
#ifndef GPUMC_ALGORITHMS_PT_AVERAGE_H
#define GPUMC_ALGORITHMS_PT_AVERAGE_H

#include "algorithms/pt/pt_state.h"
#include "core/statistics/estimate.h"

/* Averages of a bin of time, all of whose blocks are there. What is left out, one at a time, for
 * the jackknife: samples, or groups of blocks of time. W numbers are averaged over the samples
 * (gpumc_averages). */
struct pt_average {
  const struct pt *pt;
  size_t width;
  double *by_sample;               /* [samples][W] */
  double *mean;                    /* [W] over the samples */
  double *without;                 /* [left_outs][W] */
  struct gpumc_variance *variance; /* [quantities] of the errors that were formed last */
  size_t left_outs;                /* at the last temperature */
};

GPUMC_MUST_CHECK enum gpumc_status
pt_average_init(const struct pt *pt, struct pt_average *average, struct gpumc_error *error);
/* All quantities and their standard errors at temperature t: value[quantities],
 * error_of[quantities]. */
GPUMC_MUST_CHECK enum gpumc_status pt_average_at(struct pt_average *average, size_t t,
                                                 double *value, double *error_of,
                                                 struct gpumc_error *error);
/* Legal on a zeroed object; leaves it zeroed. */
void pt_average_free(struct pt_average *average);

/* Blocks of the present bin. */
struct pt_blocks {
  size_t first, end;
};

/* Mean of a term in the present bin at one temperature, in one sample, over all blocks but those of
 * `left_out`. */
double
pt_term_mean(const struct pt *pt, size_t term, size_t t, size_t s, struct pt_blocks left_out);
static inline double pt_term_mean_of_all(const struct pt *pt, size_t term, size_t t, size_t s)
{
  return pt_term_mean(pt, term, t, s, (struct pt_blocks){0, 0});
}

/* Independent groups of blocks that a jackknife needs to know its error. Of 256 blocks that hardly
 * remember their predecessor there are 64 to 128, fewer than make a series converged. */
enum { PT_FEWEST_GROUPS = 32 };
/* Of few samples: into how many groups the blocks of the present bin are joined at temperature t so
 * that the groups are independent of each other. *known: whether there are enough of them to tell,
 * and samples of one model agree. */
size_t pt_block_groups(const struct pt *pt, size_t t, bool *known);

#endif
