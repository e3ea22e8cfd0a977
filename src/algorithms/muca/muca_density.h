/* Multicanonical sampling: results from the visits of a production. ln Omega of a sample and
 * averages by level, with its windows joined, and canonical averages over the grid of the moved
 * control, of one sample and of many. muca.h includes this and lists the sources. */
#ifndef GPUMC_MUCA_DENSITY_H
#define GPUMC_MUCA_DENSITY_H

#include "core/simulation/algorithm.h"
#include "core/simulation/observables.h"

struct muca;
struct muca_table;

/* The density from a sample's visits, with V visited levels and B blocks. Rows 0 .. B - 1 leave
 * that block out, row B has all of them. */
struct muca_density {
  size_t levels, blocks;
  size_t first, last;    /* among all levels: those of the open windows */
  size_t *level;         /* [V] */
  double *value;         /* [V] of the whole system, in the channel's unit */
  double *visits;        /* [V] */
  double *log_dos;       /* [B + 1][V] */
  double *error_of;      /* [V] of log_dos */
  double *average;       /* [B + 1][V][n_means] at the level; NaN if nothing was measured */
  double *average_error; /* [V][n_means] for a merged result, which has no blocks; NULL: not
                          * merged */
  double *slope;     /* likewise, covariances with the value within the level; NULL: not binned */
  uint8_t *measured; /* [B + 1][V] whether any walker was measured at the level */
  double *ratio;     /* [B][V] exp(log_dos) over that of row B; NULL: binned */
  double *tilt;      /* [B + 1][windows - 1] see muca_join.c */
  bool normalised;   /* to the number of states; otherwise to 1 */
};
enum muca_fault { MUCA_FAULT_NONE, MUCA_FAULT_CUT, MUCA_FAULT_BINS };

/* Curves over the grid of the moved control. Results are the model's quantities and, if all states
 * are sampled, two potentials. If there are many samples, also the means from which averages over
 * them are computed, NAN where there are none, and densities of states over all levels from the
 * first one to the last, NAN where a sample has none; with one sample these are NULL. */
struct muca_curves {
  size_t points, results;            /* 0 until they are begun */
  double *grid;                      /* [points] */
  uint8_t *fault;                    /* [points] why one of the samples has no averages there */
  double *value, *error_of;          /* [samples][points][results] */
  double *averages;                  /* [samples][points][width] */
  double *log_dos, *log_dos_error;   /* [samples][levels] */
  double *bin_mean, *bin_mean_error; /* likewise, of the values in a bin; NULL: not binned */
  double *tilted;                    /* [samples] joins of windows that fail */
};

/* ---- the density of states ---- */

/* Returns whether all states are sampled and their number is known, which normalises ln Omega. */
bool muca_knows_all_states(const struct muca *muca);
GPUMC_MUST_CHECK enum gpumc_status muca_density_make(const struct muca *muca, size_t sample,
                                                     struct muca_density *density,
                                                     struct gpumc_error *error);
void muca_density_free(struct muca_density *density);
/* Computes jackknife errors of numbers[B + 1][V], each `stride` places after the one before. */
GPUMC_MUST_CHECK enum gpumc_status muca_density_errors(const struct muca_density *density,
                                                       const double *numbers, size_t stride,
                                                       double *error_of, struct gpumc_error *error);
/* Returns a mean that follows from the value of a level of a spectrum. */
double muca_level_average(const struct muca *muca, const struct gpumc_mean *mean, size_t level);
/* Computes, for levels that are bins, the mean of the values in each, mean[V] with its error, of
 * the whole system; NAN where nothing was measured. */
GPUMC_MUST_CHECK enum gpumc_status muca_bin_means(const struct muca *muca,
                                                  const struct muca_density *density, double *mean,
                                                  double *error_of, struct gpumc_error *error);
/* Labels of ln Omega and of its axis, and for bins of their width and the mean of their values; the
 * last three borrow `texts`. */
struct muca_level_texts {
  char name[64], long_name[96];
};
struct gpumc_label muca_level_label(const struct muca *muca, struct muca_level_texts *texts);
struct gpumc_label muca_bin_width_label(const struct muca *muca, struct muca_level_texts *texts);
struct gpumc_label muca_bin_mean_label(const struct muca *muca, struct muca_level_texts *texts);
struct gpumc_label muca_log_dos_label(const struct muca *muca);
/* Returns the tilt of join k and its error. */
double muca_density_tilt(const struct muca *muca, const struct muca_density *density, size_t k,
                         double *error_of);
/* muca_join.c: computes ln Omega, up to a constant, of row b at the levels of a density:
 * log_dos[V], from the tables of a sample, table[windows], whose visits in all blocks are
 * total[windows][window]. Also the offsets of the windows, lift[windows], and tilts, tilt[windows -
 * 1]. */
void muca_join(const struct muca *muca, const struct muca_table *table, size_t b,
               const double *total, const struct muca_density *density, double *log_dos,
               double *lift, double *tilt);

/* Makes muca->density the density of a sample. */
GPUMC_MUST_CHECK enum gpumc_status
muca_density_open(struct muca *muca, size_t sample, struct gpumc_error *error);

/* ---- canonical averages (muca_reweight.c) ---- */

/* Return the number of results, their labels, and the number of averages. */
size_t muca_results(const struct muca *muca);
struct gpumc_label muca_result_label(const struct muca *muca, size_t result);
size_t muca_averages_width(const struct muca *muca);
/* Reweights one sample to the points first .. first + count - 1, with errors from its blocks. */
GPUMC_MUST_CHECK enum gpumc_status
muca_reweight(const struct muca *muca, const struct muca_density *density,
              struct muca_curves *curves, size_t sample, size_t first, size_t count,
              struct gpumc_error *error);
/* Averages over all samples, with errors from their scatter: value, error_of [points][results]. */
GPUMC_MUST_CHECK enum gpumc_status
muca_reweight_samples(const struct muca *muca, const struct muca_curves *curves, double *value,
                      double *error_of, struct gpumc_error *error);

/* Returns ln of the sum of n numbers of states given by their logarithms (muca_density.c). */
double muca_log_sum(const double *log_term, size_t n);

/* ---- curves (muca_curves.c) ---- */

GPUMC_MUST_CHECK enum gpumc_status muca_curves_create(struct muca *muca, struct gpumc_error *error);
void muca_curves_free(struct muca_curves *curves);
/* Performs a unit of work after the last walk; `*finished` after the last one. Also returns how
 * much of it is done. */
GPUMC_MUST_CHECK enum gpumc_status
muca_reweight_unit(struct muca *muca, bool *finished, struct gpumc_error *error);
double muca_reweighted(const struct muca *muca);
GPUMC_MUST_CHECK enum gpumc_status muca_curves_save(struct muca *muca,
                                                    struct gpumc_checkpoint_writer *writer,
                                                    struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status muca_curves_load(struct muca *muca,
                                                    struct gpumc_checkpoint_reader *reader,
                                                    struct gpumc_error *error);
/* Writes the grid, and over it value, error_of [points][results]; or over samples and it,
 * `by_sample`, [samples][points][results]. */
GPUMC_MUST_CHECK enum gpumc_status muca_curves_write(const struct muca *muca, const char *group,
                                                     const double *value, const double *error_of,
                                                     bool by_sample, struct gpumc_error *error);

#endif
