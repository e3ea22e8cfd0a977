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

/* Of all temperatures, and the samples that the host has. */
static inline struct pt_sums pt_held_sums(const struct pt *pt)
{
  return (struct pt_sums){pt, pt->bin.sums, 0, pt->settings.temperatures, pt->held};
}

/* Blocks of the present bin. */
struct pt_blocks {
  size_t first, end;
};

/* Mean of a term in the present bin at one temperature, in one sample, over all blocks but those of
 * `left_out`. */
double pt_term_mean(const struct pt_sums *sums, size_t term, size_t t, size_t s,
                    struct pt_blocks left_out);
static inline double
pt_term_mean_of_all(const struct pt_sums *sums, size_t term, size_t t, size_t s)
{
  return pt_term_mean(sums, term, t, s, (struct pt_blocks){0, 0});
}

/* ---- averages over the samples at one temperature, with errors ---- */

/* Averages of a bin of time, all of whose blocks are there. What is left out, one at a time, for
 * the jackknife: samples, or groups of blocks of time. W numbers are averaged over the samples
 * (gpumc_averages). */
struct pt_average {
  const struct pt *pt;
  struct pt_sums sums; /* of all samples */
  size_t width;
  double *by_sample;               /* [samples][W] */
  double *mean;                    /* [W] over the samples */
  double *without;                 /* [left_outs][W] */
  struct gpumc_variance *variance; /* [quantities] of the errors that were formed last */
  size_t left_outs;                /* at the last temperature */
};

GPUMC_MUST_CHECK enum gpumc_status
pt_average_init(const struct pt_sums *sums, struct pt_average *average, struct gpumc_error *error);
/* All quantities and their standard errors at temperature t, one of the sums: value[quantities],
 * error_of[quantities]. */
GPUMC_MUST_CHECK enum gpumc_status pt_average_at(struct pt_average *average, size_t t,
                                                 double *value, double *error_of,
                                                 struct gpumc_error *error);
/* Legal on a zeroed object; leaves it zeroed. */
void pt_average_free(struct pt_average *average);

/* Independent groups of blocks that a jackknife needs to know its error. Of 256 blocks that hardly
 * remember their predecessor there are 64 to 128, fewer than make a series converged. */
enum { PT_FEWEST_GROUPS = 32 };
/* Of few samples: into how many groups the blocks of the present bin are joined at temperature t so
 * that the groups are independent of each other. *known: whether there are enough of them to tell,
 * and samples of one model agree. */
size_t pt_block_groups(const struct pt_sums *sums, size_t t, bool *known);

/* ---- rows of the tables, datasets of the summary, and their checks ---- */

/* Columns of the table of bins; then for every quantity its values and its errors over the
 * temperatures, and the acceptance. */
enum { PT_BIN_SWEEP, PT_BIN_MEASUREMENTS, PT_BIN_QUANTITIES };

static inline struct gpumc_label pt_acceptance_label(const struct pt *pt)
{
  return (struct gpumc_label){
      "acceptance",
      pt_moves_beta(pt) ? "share of the exchanges with the next temperature that were accepted"
                        : "share of the exchanges with the next value that were accepted",
      "1", "A"};
}

size_t pt_bin_row_width(const struct pt *pt);
/* When a bin ends, into its row, and how many measurements it is to have. */
void pt_bin_begin_row(const struct pt *pt, size_t bin, double *row);
uint64_t pt_bin_measurements(const struct pt *pt, size_t bin);
/* The row of a bin of time, all of whose blocks are there; what is compared is remembered.
 * Collective. */
GPUMC_MUST_CHECK enum gpumc_status
pt_record_bin(struct pt *pt, size_t bin, struct gpumc_error *error);
/* The row of an iteration of the tuning, at the temperatures that it had. */
GPUMC_MUST_CHECK enum gpumc_status
pt_record_tuning(struct pt *pt, const struct pt_stretch *stretch, struct gpumc_error *error);
/* [temperatures], of a bin that is recorded. */
const double *pt_bin_values(const struct pt *pt, size_t bin, size_t quantity);
const double *pt_bin_errors(const struct pt *pt, size_t bin, size_t quantity);

/* [held], averages of one of the compared terms in one of the last bins. */
static inline const double *
pt_remembered(const struct pt *pt, size_t bin, size_t compared, size_t t)
{
  const size_t temperatures = pt->settings.temperatures;
  return pt->history +
         ((bin % PT_BINS_COMPARED * pt->terms.n_compared + compared) * temperatures + t) * pt->held;
}

/* Of the false alarms of a run: those of a drift over the samples. With 8 samples chance leaves one
 * of 128 ways, 0.0078. */
#define PT_ALARMS_OF_DRIFT (0.8 * GPUMC_FALSE_ALARMS)
/* Where the last bins of all samples agree, and obey an identity that the model has:
 * steady[temperatures], 1 or 0. All 1 where samples are too few and errors are from blocks of time.
 */
GPUMC_MUST_CHECK enum gpumc_status
pt_find_drift(const struct pt *pt, double *steady, struct gpumc_error *error);
/* Distributions in the last bin of the pairs that have one, each a group of the summary. */
GPUMC_MUST_CHECK enum gpumc_status pt_write_distributions(struct pt *pt, struct gpumc_error *error);
/* The group `samples`: averages of each sample, from which those of several files can be formed
 * together. */
GPUMC_MUST_CHECK enum gpumc_status pt_write_samples(struct pt *pt, struct gpumc_error *error);

#endif
