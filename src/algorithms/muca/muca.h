/* Multicanonical sampling on many parallel walkers: what the sources of this folder share.
 *
 * Walkers move under one tabulated weight W by the level of a channel. An iteration lets them
 * settle, counts where they are, and divides the weight by the histogram (Gross et al., Comput.
 * Phys. Commun. 224, 387 (2018), eq. 4), until that is flat; then a production run with fixed
 * weights gives the density of states, and with it everything at any value of the control.
 *
 *   muca_keys.c      keys, checks, defaults, settings      muca.c          phases, checkpoints,
 * vtable muca_weights.c   the table, its iteration, schedule    muca_measure.c  production: sums by
 * level muca_summary.c   ln Omega, reweighting, trust
 */
#ifndef GPUMC_MUCA_H
#define GPUMC_MUCA_H

#include "core/simulation/algorithm.h"
#include "core/simulation/ladder.h"
#include "core/simulation/observables.h"

enum { MUCA_GRID_MAXIMUM = 100000, MUCA_BLOCKS = 100 };

/* How weights begin. */
enum muca_start { MUCA_START_FLAT, MUCA_START_WANG_LANDAU };

/* Levels are those of the coordinate, the channel conjugate to the control that reweighting moves:
 * level l holds the values lowest + l spacing .., in quanta; first .. last are sampled. */
struct muca_settings {
  struct gpumc_moved moved;
  struct gpumc_observables observables;
  size_t channel, levels, first, last;
  int64_t lowest, spacing;
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

/* The value of a level for the whole system, in the channel's unit. */
static inline double muca_level_value(const struct muca_settings *settings,
                                      const struct gpumc_model *model, size_t level)
{
  const double quanta =
      (double)settings->lowest + (double)level * (double)settings->spacing +
      0.5 * (double)(settings->spacing - 1) * (model->grid[settings->channel].levels == 0);
  return quanta * model->quantum[settings->channel];
}

/* ---- the table of weights ---- */

/* ln W in units of 2^-32. `seen`: levels that have been visited since the start, which are those
 * that are known to exist. */
struct muca_weights {
  size_t levels;
  int64_t *log_weight;
  uint8_t *seen;
  size_t count;           /* of levels seen */
  size_t lowest, highest; /* of these */
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
/* The width of the range seen, in levels, at least 10. */
double muca_weights_width(const struct muca_weights *weights);
/* One iteration with the histogram visits[levels]: eq. 4, and beyond the range seen the weights go
 * on as a straight line, or with the plain scheme stay what they were. */
struct muca_flatness muca_weights_iterate(struct muca_weights *weights,
                                          const struct muca_settings *settings,
                                          const uint64_t *visits);
/* Marks the levels that were visited; returns whether any is new. */
bool muca_weights_see(struct muca_weights *weights, const uint64_t *visits);
/* Updates of a walker: to settle, and to be counted (eq. 7); `quiet`: iterations since the range
 * last grew. */
uint64_t muca_thermalization(const struct muca_settings *settings, double width);
uint64_t muca_updates(const struct muca_settings *settings, double width, size_t quiet);

/* ---- the run ---- */

enum muca_phase {
  MUCA_ENTER,      /* walkers go to the range */
  MUCA_SETTLE,     /* an iteration: updates that are not counted */
  MUCA_COUNT,      /* an iteration: updates that are */
  MUCA_APPROACH,   /* production: until the start is forgotten */
  MUCA_PRODUCTION, /* production: measurements */
  MUCA_DONE
};

/* Counters that a checkpoint has. */
struct muca_progress {
  uint64_t phase, left; /* updates of each walker that are left of it */
  uint64_t iteration, quiet;
  uint64_t converged;
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
  size_t table;          /* of iterations */
  double *row;           /* of it */
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
  double *sums;      /* [blocks][levels][n_means] of powers of values in quanta */
};

/* Passages of all walkers since they were cleared. */
GPUMC_MUST_CHECK enum gpumc_status
muca_count_passages(struct muca *muca, double *passages, struct gpumc_error *error);

/* Measures all walkers, into the sums. */
GPUMC_MUST_CHECK enum gpumc_status muca_measure(struct muca *muca, struct gpumc_error *error);
/* Whether all walkers stand in the range. */
GPUMC_MUST_CHECK enum gpumc_status
muca_is_inside(struct muca *muca, bool *inside, struct gpumc_error *error);
/* Visits since the block before become those of the block that ends with this measurement. */
GPUMC_MUST_CHECK enum gpumc_status muca_take_visits(struct muca *muca, struct gpumc_error *error);

GPUMC_MUST_CHECK enum gpumc_status muca_summarize(void *state, struct gpumc_error *error);

#endif
