/* Multicanonical sampling on many parallel walkers: what the sources of this folder share.
 *
 * Walkers move under one tabulated weight W by the level of a channel. An iteration lets them
 * settle, counts where they are, and divides the weight by the histogram (Gross et al., Comput.
 * Phys. Commun. 224, 387 (2018), eq. 4), until that is flat; then a production run with fixed
 * weights gives the density of states, and with it everything at any value of the control.
 *
 *   muca_keys.c      keys, checks, defaults, settings
 *   muca.c           demand, creation, checkpoints, vtable
 *   muca_walk.c      phases of a run, one unit after the other
 *   muca_weights.c   the table, its iteration, how long iterations are
 *   muca_start.c     weights to begin with, from a file
 *   muca_measure.c   production: sums by level
 *   muca_density.c   ln Omega and averages by level
 *   muca_summary.c   reweighting, what is written, trust
 */
#ifndef GPUMC_MUCA_H
#define GPUMC_MUCA_H

#include "core/simulation/algorithm.h"
#include "core/simulation/ladder.h"
#include "core/simulation/observables.h"

enum { MUCA_GRID_MAXIMUM = 100000, MUCA_BLOCKS = 100 };
/* Of a production whose length follows from tunnelling, for each walker. */
enum { MUCA_PASSAGES_OF_PRODUCTION = 2 };

/* How weights begin. */
enum muca_start { MUCA_START_FLAT, MUCA_START_WANG_LANDAU, MUCA_START_FILE };

/* Levels are those of the coordinate, the channel conjugate to the control that reweighting moves:
 * level l holds the values lowest + l spacing .., in quanta; first .. last are sampled. */
struct muca_settings {
  struct gpumc_moved moved;
  struct gpumc_observables observables;
  size_t channel, levels, first, last;
  int64_t lowest, spacing;
  bool binned;  /* levels hold several values, so that what is in them is averaged */
  size_t width; /* sums of a level: of each mean, and where `binned` of each times the value */
  size_t walkers;
  double thermalization;            /* updates a level of the range, f_therm */
  double updates, exponent, growth; /* of eq. 7, and the factor once the range stays */
  double divergence;                /* below which weights are converged */
  size_t iterations;                /* at most */
  bool extrapolate, write_weights;
  enum muca_start start;
  uint64_t production; /* updates of a walker; 0: as tunnelling asks for */
  size_t measurements;
  size_t blocks,
      parts; /* of the jackknife; parts = blocks where they are groups of walkers, else 1 */
};

void muca_settings_read(const struct gpumc_params *params, const struct gpumc_model *model,
                        struct muca_settings *settings);
extern const struct gpumc_key muca_keys[];
extern const struct gpumc_check muca_checks[];
cJSON *muca_defaults(const struct gpumc_params *params, const struct gpumc_model *model);
size_t muca_replicas(const struct gpumc_params *params);

/* The value of a level for the whole system, in the channel's unit: the middle of what it holds. */
static inline double muca_level_value(const struct muca_settings *settings,
                                      const struct gpumc_model *model, size_t level)
{
  const struct gpumc_grid *grid = &model->grid[settings->channel];
  const int64_t apart = grid->levels > 0 ? grid->spacing : 1;
  const double quanta = (double)settings->lowest + (double)level * (double)settings->spacing +
                        0.5 * (double)(settings->spacing - apart);
  return quanta * model->quantum[settings->channel];
}

/* ---- the table of weights ---- */

#define MUCA_WEIGHT_UNIT 0x1p32 /* of ln W, in fixed point */

/* `seen`: levels that have been visited since the start, which are those that are known to exist.
 */
struct muca_weights {
  size_t levels;
  int64_t *log_weight;
  uint8_t *seen;
  size_t count;           /* of levels seen */
  size_t lowest, highest; /* of these */
  /* ln W of a start from a file, and how wide the range is for which it had values; NULL: none. */
  int64_t *guess;
  size_t guessed;
};

/* What an iteration shows. */
struct muca_flatness {
  double divergence, chebyshev; /* eq. 6, eq. A.1 */
  bool grew;                    /* levels were seen that had not been */
};

GPUMC_MUST_CHECK enum gpumc_status muca_weights_create(const struct muca_settings *settings,
                                                       struct muca_weights *weights,
                                                       struct gpumc_error *error);
void muca_weights_free(struct muca_weights *weights);
/* Levels outside the range become steep slopes towards it, of `slope` a level, or where it is
 * infinite are closed. */
void muca_weights_fence(struct muca_weights *weights, const struct muca_settings *settings,
                        double slope);
/* What the file of a start has, and beyond its ends straight lines, or with the plain scheme the
 * value at the end; guess[levels] is GPUMC_WEIGHT_NONE where the file has nothing, and becomes the
 * object's. No level counts as seen. */
void muca_weights_take(struct muca_weights *weights, const struct muca_settings *settings,
                       int64_t *guess);
/* The weights become those. */
void muca_weights_begin(struct muca_weights *weights, const struct muca_settings *settings);
/* The width of the range seen, or that a file had, in levels, at least 10. */
double muca_weights_width(const struct muca_weights *weights);
/* One iteration with the histogram visits[levels]: eq. 4, and beyond the range seen the weights go
 * on as a straight line, or as those of the file do from which they began; with the plain scheme
 * they stay what they were. */
struct muca_flatness muca_weights_iterate(struct muca_weights *weights,
                                          const struct muca_settings *settings,
                                          const uint64_t *visits);
/* Marks the levels that were visited; returns whether any is new. */
bool muca_weights_see(struct muca_weights *weights, const uint64_t *visits);
/* ln W becomes ln W - factor times the histogram over its mean (Wang and Landau, Phys. Rev. Lett.
 * 86, 2050 (2001), of all walkers at once). */
void muca_weights_wang_landau(struct muca_weights *weights, const struct muca_settings *settings,
                              const uint64_t *visits, double factor);
/* w^z of eq. 7. */
double muca_mean_updates(const struct muca_settings *settings, double width);
/* Updates of a walker: to settle, and to be counted (eq. 7); `quiet`: iterations since the range
 * last grew. */
uint64_t muca_thermalization(const struct muca_settings *settings, double width);
uint64_t muca_updates(const struct muca_settings *settings, double width, size_t quiet);

/* ---- a start from a file ---- */

/* Reads algorithm.iteration.file: -ln Omega at the levels that it has, or that lie between them,
 * into log_weight[levels] (NULL: it is only checked), GPUMC_WEIGHT_NONE at others of the range.
 * GPUMC_INVALID with a remedy where there is none. */
GPUMC_MUST_CHECK enum gpumc_status
muca_start_read(const struct gpumc_params *params, const struct gpumc_model *model,
                const struct muca_settings *settings, int64_t *log_weight, uint64_t *checksum,
                struct gpumc_error *error);
/* gpumc_algorithm_ops.read_file. */
GPUMC_MUST_CHECK enum gpumc_status muca_read_file(const struct gpumc_params *params,
                                                  const struct gpumc_model *model,
                                                  uint64_t *checksum, struct gpumc_error *error);

/* ---- the run ---- */

enum muca_phase {
  MUCA_ENTER,      /* walkers go to the range */
  MUCA_START,      /* pieces of Wang and Landau's scheme */
  MUCA_SETTLE,     /* an iteration: updates that are not counted */
  MUCA_COUNT,      /* an iteration: updates that are */
  MUCA_APPROACH,   /* production: until the start is forgotten */
  MUCA_PRODUCTION, /* production: measurements */
  MUCA_DONE
};

/* Columns of the table of iterations, and of that of the start. */
enum {
  MUCA_ITERATION,
  MUCA_LOWEST,
  MUCA_HIGHEST,
  MUCA_LEVELS,
  MUCA_DIVERGENCE,
  MUCA_CHEBYSHEV,
  MUCA_SETTLING,
  MUCA_COUNTED,
  MUCA_WALKERS,
  MUCA_LOG_WEIGHT,
  MUCA_COLUMNS
};
enum {
  MUCA_PIECE_UPDATES,
  MUCA_PIECE_LOWEST,
  MUCA_PIECE_HIGHEST,
  MUCA_PIECE_LEVELS,
  MUCA_PIECE_FACTOR,
  MUCA_PIECE_COLUMNS
};

/* Counters that a checkpoint has. */
struct muca_progress {
  uint64_t phase, left; /* updates of each walker that are left of it */
  uint64_t iteration, quiet;
  uint64_t counted; /* updates of each walker in this iteration */
  uint64_t converged;
  /* Of the start by Wang and Landau's scheme: pieces done, updates of each walker in them, halvings
   * of the factor, pieces since the last one. */
  uint64_t pieces, started, halvings, unhalved;
  uint64_t rounds;     /* of entering, or chunks of the approach */
  uint64_t walked;     /* updates of each walker in production so far, the approach not included */
  uint64_t approach;   /* those of the approach */
  uint64_t production; /* those that production has in all */
  uint64_t measured;   /* measurements done */
  uint64_t updates;    /* of each walker, in all */
};
enum { MUCA_COUNTERS = sizeof(struct muca_progress) / sizeof(uint64_t) };

struct muca {
  struct gpumc_context context;
  struct muca_settings settings;
  struct muca_progress progress;
  struct muca_weights weights;
  uint64_t *histogram;   /* [levels] since Wang and Landau's factor was halved */
  size_t table, pieces;  /* of iterations, and of the start */
  double *row;           /* of them */
  double *control;       /* [n_controls] of the weight on top of which the table's is */
  uint64_t *visits;      /* [parts][levels] device memory; of iterations the first part only */
  uint64_t *host_visits; /* [levels] of an iteration */
  uint32_t *passages;    /* [walkers] device memory */
  uint32_t *host_passages;
  int64_t *device_channel[GPUMC_CHANNELS_MAXIMUM], *channel[GPUMC_CHANNELS_MAXIMUM];
  double divergence; /* the last one */
  /* Production, by block and level. */
  uint64_t *counted; /* [blocks][levels] visits */
  uint64_t *samples; /* [blocks][levels] measurements */
  double *sums;      /* [blocks][levels][settings.width] of powers of values in quanta */
};

/* muca_walk.c: gpumc_algorithm_ops.advance and position. */
extern const char *const muca_stages[];
GPUMC_MUST_CHECK enum gpumc_status
muca_advance(void *state, bool *finished, struct gpumc_error *error);
void muca_position(const void *state, struct gpumc_position *where);

/* From one end of the range to the other, of all walkers since they were cleared; two of the same
 * walker are a round trip. */
struct muca_passages {
  double all, round_trips;
};
GPUMC_MUST_CHECK enum gpumc_status
muca_count_passages(struct muca *muca, struct muca_passages *passages, struct gpumc_error *error);

/* Measures all walkers, into the sums. */
GPUMC_MUST_CHECK enum gpumc_status muca_measure(struct muca *muca, struct gpumc_error *error);
/* Whether all walkers stand in the range. */
GPUMC_MUST_CHECK enum gpumc_status
muca_is_inside(struct muca *muca, bool *inside, struct gpumc_error *error);
/* Visits since the block before become those of the block that ends with this measurement. */
GPUMC_MUST_CHECK enum gpumc_status muca_take_visits(struct muca *muca, struct gpumc_error *error);

/* ---- the density of states ---- */

/* Levels that were visited, V of them; B blocks. Rows 0 .. B - 1 are without that block, row B is
 * of all of them. */
struct muca_density {
  size_t levels, blocks;
  size_t *level;    /* [V] */
  double *value;    /* [V] of the whole system, in the channel's unit */
  double *visits;   /* [V] */
  double *log_dos;  /* [B + 1][V] */
  double *error_of; /* [V] of log_dos */
  double *average;  /* [B + 1][V][n_means] at the level; NaN where nothing was measured */
  double *slope;    /* the same, covariances with the value within the level; NULL: not binned */
  bool normalised;  /* to the number of states; else to 1 */
};
/* Whether all states are sampled and their number is known, by which ln Omega is normalised. */
bool muca_knows_all_states(const struct muca *muca);
GPUMC_MUST_CHECK enum gpumc_status
muca_density_make(const struct muca *muca, struct muca_density *density, struct gpumc_error *error);
void muca_density_free(struct muca_density *density);
/* Jackknife errors of numbers[B + 1][V], each `stride` places after the one before. */
GPUMC_MUST_CHECK enum gpumc_status muca_density_errors(const struct muca_density *density,
                                                       const double *numbers, size_t stride,
                                                       double *error_of, struct gpumc_error *error);

GPUMC_MUST_CHECK enum gpumc_status muca_summarize(void *state, struct gpumc_error *error);

#endif
