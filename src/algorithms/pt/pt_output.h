/* Parallel tempering: averages, rows of the tables, datasets of the summary, and their checks. */
#ifndef GPUMC_ALGORITHMS_PT_OUTPUT_H
#define GPUMC_ALGORITHMS_PT_OUTPUT_H

#include "algorithms/pt/pt_state.h"
#include "core/statistics/estimate.h"

/* ---- sums of the present bin ---- */

/* Some temperatures, from number `first` on, and samples: all, or the own ones. */
struct pt_sums {
  const struct pt *pt;
  const double *values; /* [blocks][terms][temperatures][samples] */
  size_t first, temperatures, samples;
};

/* Returns those of all temperatures, and of the samples that the host has. */
static inline struct pt_sums pt_held_sums(const struct pt *pt)
{
  return (struct pt_sums){pt, pt->bin.sums, 0, pt->settings.temperatures, pt->held};
}

/* Blocks of the current bin. */
struct pt_blocks {
  size_t first, end;
};

/* Returns the mean of a term in the current bin at one temperature, in one sample, over all blocks
 * except those of `left_out`. */
double pt_term_mean(const struct pt_sums *sums, size_t term, size_t t, size_t s,
                    struct pt_blocks left_out);
static inline double
pt_term_mean_of_all(const struct pt_sums *sums, size_t term, size_t t, size_t s)
{
  return pt_term_mean(sums, term, t, s, (struct pt_blocks){0, 0});
}

/* ---- averages over the samples at one temperature, with errors ---- */

/* Averages of a bin of time whose blocks are complete. For the jackknife, samples or groups of
 * blocks of time are left out one at a time. W numbers are averaged over the samples
 * (gpumc_averages). */
struct pt_average {
  const struct pt *pt;
  struct pt_sums sums; /* of all samples */
  size_t width;
  double *by_sample;               /* [samples][W] */
  double *mean;                    /* [W] over the samples */
  double *without;                 /* [left_outs][W] */
  struct gpumc_variance *variance; /* [quantities] of the errors computed last */
  size_t left_outs;                /* at the last temperature */
};

GPUMC_MUST_CHECK enum gpumc_status
pt_average_init(const struct pt_sums *sums, struct pt_average *average, struct gpumc_error *error);
/* Computes all quantities and their standard errors at temperature t, one of the sums:
 * value[quantities], error_of[quantities]. */
GPUMC_MUST_CHECK enum gpumc_status pt_average_at(struct pt_average *average, size_t t,
                                                 double *value, double *error_of,
                                                 struct gpumc_error *error);
/* Legal on a zeroed object; leaves it zeroed. */
void pt_average_free(struct pt_average *average);

/* Independent groups of blocks that a jackknife needs to determine its error. 256 blocks that
 * hardly remember their predecessor make 64 to 128 groups; a converged series needs more. */
enum { PT_FEWEST_GROUPS = 32 };
/* For few samples: returns into how many groups the blocks of the current bin are joined at
 * temperature t so that the groups are independent of each other. *known: whether there are enough
 * of them to tell, and samples of one model agree. */
size_t pt_block_groups(const struct pt_sums *sums, size_t t, bool *known);

/* ---- rows of the tables, datasets of the summary, and their checks ---- */

/* Columns of the table of bins; they are followed, for every quantity, by its values and its errors
 * over the temperatures, and by the acceptance. */
enum { PT_BIN_SWEEP, PT_BIN_MEASUREMENTS, PT_BIN_QUANTITIES };

static inline struct gpumc_label pt_acceptance_label(const struct pt *pt)
{
  return (struct gpumc_label){
      "acceptance",
      pt_moves_beta(pt) ? "share of the exchanges with the next temperature that were accepted"
                        : "share of the exchanges with the next value that were accepted",
      "1", "A"};
}

/* Returns where curves of the summary over the temperatures are written. */
struct gpumc_curve_place pt_summary_place(const struct pt *pt);

size_t pt_bin_row_width(const struct pt *pt);
/* Writes the end of a bin into its row; the other function returns how many measurements it will
 * have. */
void pt_bin_begin_row(const struct pt *pt, size_t bin, double *row);
uint64_t pt_bin_measurements(const struct pt *pt, size_t bin);
/* Writes the row of a bin of time whose blocks are complete; stores what is compared.
 * Collective. */
GPUMC_MUST_CHECK enum gpumc_status
pt_record_bin(struct pt *pt, size_t bin, struct gpumc_error *error);
/* Writes the row of an iteration of the tuning, at the temperatures that it had. */
GPUMC_MUST_CHECK enum gpumc_status
pt_record_tuning(struct pt *pt, const struct pt_stretch *stretch, struct gpumc_error *error);
/* Returns [temperatures], for a recorded bin. */
const double *pt_bin_values(const struct pt *pt, size_t bin, size_t quantity);
const double *pt_bin_errors(const struct pt *pt, size_t bin, size_t quantity);

/* Returns [held], averages of one of the compared terms in one of the last bins. */
static inline const double *
pt_remembered(const struct pt *pt, size_t bin, size_t compared, size_t t)
{
  const size_t temperatures = pt->settings.temperatures;
  return pt->history +
         ((bin % PT_BINS_COMPARED * pt->terms.n_compared + compared) * temperatures + t) * pt->held;
}

/* The share of a run's false alarms that is for a drift over the samples. With 8 samples chance
 * leaves one of 128 combinations, 0.0078. */
#define PT_ALARMS_OF_DRIFT (0.8 * GPUMC_FALSE_ALARMS)
/* Finds where the last bins of all samples agree, and satisfy the model's identity, if any:
 * steady[temperatures], 1 or 0. All 1 if samples are too few and errors are from blocks of time. */
GPUMC_MUST_CHECK enum gpumc_status
pt_find_drift(const struct pt *pt, double *steady, struct gpumc_error *error);
/* Writes distributions in the last bin for the pairs that have one, each as a group of the
 * summary. */
GPUMC_MUST_CHECK enum gpumc_status pt_write_distributions(struct pt *pt, struct gpumc_error *error);
/* Writes the group `samples`: averages of each sample, from which those of several files can be
 * combined. */
GPUMC_MUST_CHECK enum gpumc_status pt_write_samples(struct pt *pt, struct gpumc_error *error);

#endif
