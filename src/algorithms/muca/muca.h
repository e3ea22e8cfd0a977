/* Multicanonical sampling on many parallel walkers: declarations shared by the sources of this
 * folder.
 *
 * Walkers move under one tabulated weight W by the level of a channel. An iteration lets them
 * settle, counts where they are, and divides the weight by the histogram (Gross et al., Comput.
 * Phys. Commun. 224, 387 (2018), eq. 4), until that is flat; then a production run with fixed
 * weights gives the density of states, and with it everything at any value of the control.
 *
 * A run may have several tables of weights, each with walkers of its own: one for each window of
 * the range, and each sample of the disorder. They are runs of the ensemble and go through their
 * phases side by side; numbers of a sample do not depend on the others. Windows begin with walkers
 * of a neighbour that has converged, and produce when all of their sample can.
 *
 *            window 0        window 1        window 2
 *          |--------------|
 *                     |--------------|                     levels of the coordinate
 *                                |--------------|
 *   sample 0: table 0        table 1         table 2       joined: ln Omega of sample 0
 *   sample 1: table 3        table 4         table 5       joined: ln Omega of sample 1
 *
 * If there are several processes, each has some of the walkers of every table
 * (core/simulation/columns.h). All have all weights and phases: visits and passages are added up
 * over the processes when the host takes them in, and measurements that decide something are made
 * whole, so that all continue in the same way.
 *
 *   muca_keys.c      keys and their checks
 *   muca_settings.c  what they say, and their defaults
 *   muca_demand.c    what a run will need, memory and time
 *   muca.c           creation, checkpoints, vtable
 *   muca_rows.c      tables of iterations and of the start
 *   muca_walk.c      units of work, in which all tables walk
 *   muca_enter.c     how walkers come into their windows
 *   muca_begin.c     how iterations begin, and how weights do
 *   muca_phases.c    phases of a table, one after the other
 *   muca_weights.c   the weights, their iteration, how long iterations are
 *   muca_start.c     weights to begin with, from a file
 *   muca_measure.c   production: sums by level
 *   muca_parts.c     what is measured, and which of these sums a process forms
 *   muca_density.h   what the next four sources offer to the others
 *   muca_density.c   ln Omega and averages by level
 *   muca_join.c      ln Omega of windows that overlap
 *   muca_reweight.c  canonical averages, of one sample and of many
 *   muca_curves.c    these over the grid, in units of work, checkpoints and the result
 *   muca_samples.c   what is written of each sample
 *   muca_merge.c     the state at the end, from results of other seeds
 *   muca_summary.c   what is written of the whole run
 *   muca_trust.c     whether to trust it, windows
 */
#ifndef GPUMC_MUCA_H
#define GPUMC_MUCA_H

#include "algorithms/muca/muca_density.h"
#include "core/simulation/algorithm.h"
#include "core/simulation/columns.h"
#include "core/simulation/ladder.h"
#include "core/simulation/observables.h"

enum { MUCA_GRID_MAXIMUM = 100000, MUCA_BLOCKS = 100 };
/* A production whose length follows from tunnelling lasts this many passages of each walker; if its
 * blocks are pieces of time, each block lasts this many. */
enum { MUCA_PASSAGES_OF_PRODUCTION = 2, MUCA_PASSAGES_OF_A_BLOCK = 2 };

/* How weights begin. */
enum muca_start { MUCA_START_FLAT, MUCA_START_WANG_LANDAU, MUCA_START_FILE };
extern const char *const muca_start_choices[]; /* their names in configurations */

enum { MUCA_LEVELS_MAXIMUM = 1 << 22 }; /* of a table of weights */

/* Levels are those of the coordinate, the channel conjugate to the control that reweighting moves:
 * level l holds the values lowest + l spacing .., in quanta; first .. last are sampled, in windows
 * of `window` levels each. */
struct muca_settings {
  struct gpumc_moved moved;
  struct gpumc_observables observables;
  size_t channel, levels, first, last;
  int64_t lowest, spacing;
  size_t windows, window; /* number of windows, and levels of one */
  size_t samples;         /* of the disorder */
  bool binned;            /* levels hold several values, so that their contents are averaged */
  size_t width;   /* sums per level: of each mean and, if `binned`, of each times the value */
  size_t walkers; /* per table, in all processes */
  double thermalization;            /* updates per level of the range, f_therm */
  double updates, exponent, growth; /* of eq. 7, and the factor once the range no longer grows */
  double divergence;                /* weights are converged below this */
  size_t iterations;                /* maximum */
  bool extrapolate, write_weights;
  enum muca_start start;
  uint64_t production; /* updates of a walker; 0: determined by tunnelling */
  size_t measurements;
  size_t blocks,
      parts; /* of the jackknife; parts = blocks if they are groups of walkers, otherwise 1 */
};

void muca_settings_read(const struct gpumc_params *params, const struct gpumc_model *model,
                        struct muca_settings *settings);
extern const struct gpumc_key muca_keys[];
extern const struct gpumc_check muca_checks[];
cJSON *muca_defaults(const struct gpumc_params *params, const struct gpumc_model *model);
size_t muca_replicas(const struct gpumc_params *params);

static inline size_t muca_tables(const struct muca_settings *settings)
{
  return settings->samples * settings->windows;
}

/* Returns the first level of a window: windows are evenly spaced, the last one ends with the
 * range. */
static inline size_t muca_window_first(const struct muca_settings *settings, size_t window)
{
  const size_t slack = settings->last + 1 - settings->first - settings->window;
  return settings->first + (settings->windows > 1 ? window * slack / (settings->windows - 1) : 0);
}

/* Returns how many levels of the model's spectrum a level has: more than one in bins of them. */
static inline double
muca_levels_within(const struct muca_settings *settings, const struct gpumc_model *model)
{
  return (double)(settings->spacing / model->grid[settings->channel].spacing);
}

/* Returns the value of a level for the whole system, in the channel's unit; of a bin, the middle of
 * its values. */
static inline double muca_level_value(const struct muca_settings *settings,
                                      const struct gpumc_model *model, size_t level)
{
  if (model->grid[settings->channel].levels > 0) {
    const double within = muca_levels_within(settings, model);
    return gpumc_level_value(model, settings->channel,
                             (double)level * within + 0.5 * (within - 1.0));
  }
  const double quanta = (double)settings->lowest + (double)level * (double)settings->spacing +
                        0.5 * (double)(settings->spacing - 1);
  return quanta * model->quantum[settings->channel];
}

/* Returns the distance of two levels; of bins, their width. */
static inline double
muca_level_width(const struct muca_settings *settings, const struct gpumc_model *model)
{
  const size_t channel = settings->channel;
  return model->grid[channel].levels > 0
             ? muca_levels_within(settings, model) * gpumc_level_distance(model, channel)
             : (double)settings->spacing * model->quantum[channel];
}

/* Returns the end of a range of levels, its first one or its last one (side = -1, 1): of bins, the
 * end of the bin. */
static inline double muca_end_value(const struct muca_settings *settings,
                                    const struct gpumc_model *model, size_t level, int side)
{
  const double beyond = settings->binned ? 0.5 * side * muca_level_width(settings, model) : 0.0;
  return muca_level_value(settings, model, level) + beyond;
}

/* ---- weights ---- */

#define MUCA_WEIGHT_UNIT 0x1p32 /* of ln W, in fixed point */

/* The weights of a window's levels. `seen` marks the levels visited since the start: only these are
 * known to exist. */
struct muca_weights {
  size_t levels;
  int64_t *log_weight;
  uint8_t *seen;
  size_t count;           /* of levels seen */
  size_t lowest, highest; /* of these */
  /* ln W of a start from a file, and the width of the range for which it had values; NULL: none. */
  int64_t *guess;
  size_t guessed;
};

/* The findings of an iteration. */
struct muca_flatness {
  double divergence, chebyshev; /* eq. 6, eq. A.1 */
  bool grew;                    /* new levels were seen */
};

/* Computes count, lowest and highest from `seen`. */
void muca_weights_recount(struct muca_weights *weights);
/* Takes the values of a start file, extended beyond its ends by straight lines or, with the plain
 * scheme, by the value at the end; guess[levels] is GPUMC_WEIGHT_NONE where the file has nothing.
 * No level counts as seen. */
void muca_weights_take(struct muca_weights *weights, const struct muca_settings *settings,
                       int64_t *guess);
/* Sets the weights to these. */
void muca_weights_begin(struct muca_weights *weights);
/* Continues from the converged weights of a neighbour, `offset` levels further up. */
void muca_weights_continue(struct muca_weights *weights, const struct muca_settings *settings,
                           const struct muca_weights *neighbour, int64_t offset);
/* Returns the width of the range seen, or covered by a file, in levels, at least 10. */
double muca_weights_width(const struct muca_weights *weights);
/* Performs one iteration with the histogram visits[levels]: eq. 4; beyond the range seen the
 * weights continue as a straight line, or like those of the file from which they began; with the
 * plain scheme they do not change there. */
struct muca_flatness muca_weights_iterate(struct muca_weights *weights,
                                          const struct muca_settings *settings,
                                          const uint64_t *visits);
/* Marks the levels that were visited; returns whether any is new. */
bool muca_weights_see(struct muca_weights *weights, const uint64_t *visits);
/* ln W becomes ln W - factor times the histogram over its mean (Wang and Landau, Phys. Rev. Lett.
 * 86, 2050 (2001), of all walkers at once). */
void muca_weights_wang_landau(struct muca_weights *weights, const struct muca_settings *settings,
                              const uint64_t *visits, double factor);
/* Returns w^z of eq. 7. */
double muca_mean_updates(const struct muca_settings *settings, double width);
/* Return the updates of a walker: to settle, and to be counted (eq. 7); `quiet`: iterations since
 * the range last grew. */
uint64_t muca_thermalization(const struct muca_settings *settings, double width);
uint64_t muca_updates(const struct muca_settings *settings, double width, size_t quiet);

/* ---- a start from a file ---- */

/* Reads algorithm.iteration.file: -ln Omega at its levels, and at those in between, into
 * log_weight[levels] (NULL: it is only checked), GPUMC_WEIGHT_NONE at others of the range.
 * GPUMC_INVALID with a remedy if there is none. */
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
  MUCA_ENTER,      /* walkers move to the range */
  MUCA_START,      /* pieces of Wang and Landau's scheme */
  MUCA_SETTLE,     /* an iteration: updates that are not counted */
  MUCA_COUNT,      /* an iteration: counted updates */
  MUCA_APPROACH,   /* production: until the start is forgotten */
  MUCA_PRODUCTION, /* production: measurements */
  /* The table does not move in the following phases. */
  MUCA_DONE,
  MUCA_WAIT,  /* for walkers of a neighbouring window */
  MUCA_READY, /* for production, which begins when all windows of a sample are ready */
  MUCA_CLOSED /* permanently, without walkers */
};

/* Counters of a table, kept in a checkpoint. */
struct muca_progress {
  /* Remaining updates of each walker in it; for a closed window, the walkers that came into it. */
  uint64_t phase, left;
  uint64_t iteration, quiet;
  uint64_t counted; /* updates of each walker in this iteration */
  uint64_t converged;
  /* The start by Wang and Landau's scheme counts completed pieces, updates of each walker in them,
   * halvings of the factor, and pieces since the last halving. */
  uint64_t pieces, started, halvings, unhalved;
  uint64_t rounds;     /* of entering, or chunks of the approach */
  uint64_t walked;     /* updates of each walker in production so far, without the approach */
  uint64_t approach;   /* those of the approach */
  uint64_t production; /* total for production */
  uint64_t measured;   /* measurements done */
  uint64_t updates;    /* of each walker, in total */
};
enum { MUCA_COUNTERS = sizeof(struct muca_progress) / sizeof(uint64_t) };
static inline bool muca_has_ended(const struct muca_progress *progress)
{
  return progress->phase == MUCA_DONE || progress->phase == MUCA_CLOSED;
}

/* One table of weights and its walkers: a run of the ensemble. Arrays are those of struct muca, at
 * its place. */
struct muca_table {
  size_t index, sample, first; /* level 0 of its weights is level `first` of all */
  struct muca_progress *progress;
  struct muca_weights weights;
  double *divergence;  /* the last one */
  uint64_t *histogram; /* [window] since Wang and Landau's factor was halved */
  size_t rows, pieces; /* the recorder's tables of iterations and of the start */
  /* Production, by block and level; sums and measurements are those of muca_own_parts until it
   * ends. */
  uint64_t *counted;      /* [blocks][window] visits */
  uint64_t *measurements; /* [blocks][window] */
  double *sums;           /* [blocks][window][settings.width] of powers of values in quanta */
};

/* The travels of a table's walkers from end to end in production. */
struct muca_travels {
  double round_trips, time; /* all of them; updates of a walker from one end to the other */
  bool enough;
};

/* Returns whether walkers have never come into the window. */
static inline bool muca_is_closed(const struct muca_table *table)
{
  return table->progress->phase == MUCA_CLOSED;
}

/* Returns whether the next window, which exists, is joined to that of a table. */
static inline bool muca_are_joined(const struct muca_table *table)
{
  return !muca_is_closed(&table[0]) && !muca_is_closed(&table[1]);
}

struct muca {
  struct gpumc_context context;
  struct muca_settings settings;
  size_t tables;
  size_t own; /* walkers of each table that this process has */
  struct muca_table *table;
  /* Arrays that hold all tables, one after the other. */
  struct muca_progress *progress;
  double *divergence;
  int64_t *log_weight;
  uint8_t *seen;
  uint64_t *histogram, *counted, *measurements;
  double *sums;
  /* Arguments of a call for walks: controls of the weight that the tables' own are added to,
   * [tables][controls]; for each table the lowest value, the clock, the steps, the parts of the
   * visits and the ends. */
  double *control;
  int64_t *lowest;
  uint64_t *time;
  uint32_t *steps, *parts;
  size_t *ends;
  int64_t *entering; /* [tables][levels] weights that lead into the windows, while entering */
  double *row;       /* for the recorder */
  /* [tables][parts][window] device memory, of the process's own walkers; one part in iterations */
  uint64_t *visits;
  uint64_t *host_visits;                           /* [window] of all walkers */
  uint32_t *passages;                              /* [tables][own] device memory */
  uint32_t *host_passages;                         /* [own] */
  int64_t *device_channel[GPUMC_CHANNELS_MAXIMUM]; /* [tables][own] */
  int64_t *own_channels; /* [channels][tables][own] on the host; NULL if these are all */
  int64_t *channels;     /* [channels][tables][walkers] */
  struct muca_curves curves;
  uint64_t reweighted;          /* finished grid points, of one sample after the other */
  double share;                 /* approximate share of the run's time that curves take */
  struct muca_density density;  /* of a sample */
  size_t opened;                /* its number plus 1; 0: none */
  struct muca_travels *travels; /* [tables] of the summary */
  bool is_merged;               /* travels are those of its sources; there are no weights */
};

/* muca_demand.c: gpumc_algorithm_ops.demand, and the approximate share of a run's time that its
 * curves take. */
GPUMC_MUST_CHECK enum gpumc_status
muca_demand(const struct gpumc_params *params, const struct gpumc_model *model,
            const struct gpumc_device *device, const struct gpumc_spread *spread,
            struct gpumc_demand *demanded, struct gpumc_error *error);
double muca_share_of_curves(const struct muca *muca);

/* muca_rows.c: declare the tables of the recorder, and append their rows. The weights of an
 * iteration are taken before it changes them. */
void muca_rows_weights(struct muca *muca, const struct muca_table *table);
GPUMC_MUST_CHECK enum gpumc_status muca_rows_declare(struct muca *muca, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
muca_rows_iteration(struct muca *muca, const struct muca_table *table, uint64_t settled,
                    const struct muca_flatness *flatness, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status muca_rows_piece(struct muca *muca,
                                                   const struct muca_table *table, double factor,
                                                   struct gpumc_error *error);

/* Returns updates as whole steps, at least one. */
uint64_t muca_rounded(double updates);
/* muca_begin.c: the first phase after a table's walkers are in its window; an iteration, and
 * updates of each walker before it counts. */
GPUMC_MUST_CHECK enum gpumc_status
muca_begin(struct muca *muca, struct muca_table *table, struct gpumc_error *error);
void muca_begin_iteration(struct muca *muca, struct muca_table *table);
uint64_t muca_settling(const struct muca *muca, const struct muca_table *table);
/* Returns how often the updates of eq. 7 have grown when they are w^z / divergence: that many can
 * resolve such a divergence, while fewer would spoil weights that are equally good. */
uint64_t muca_growths_for(const struct muca_settings *settings, double divergence);
/* Changes the weights by the histogram of a piece of Wang and Landau's scheme; once all pieces
 * since the last halving are flat, halves the factor. */
GPUMC_MUST_CHECK enum gpumc_status
muca_end_piece(struct muca *muca, struct muca_table *table, struct gpumc_error *error);
/* Begins what follows a phase that has ended; after entering and production, walkers have been
 * measured. */
GPUMC_MUST_CHECK enum gpumc_status
muca_end_phase(struct muca *muca, struct muca_table *table, struct gpumc_error *error);

/* muca_enter.c: called after the walkers of a table have been led towards its window for a while,
 * and measured: if too few have come in, it is closed, and with it those that wait for walkers from
 * it; GPUMC_FAILURE if no other is open. The other function, called when the weights of `from` have
 * converged, starts the neighbouring windows that wait. They do not start, and `went` is not
 * advanced, if none of its walkers is in one of them, unless this is the last time. */
GPUMC_MUST_CHECK enum gpumc_status
muca_end_entering(struct muca *muca, struct muca_table *table, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status muca_go_on(struct muca *muca, const struct muca_table *from,
                                              bool at_last, bool *went, struct gpumc_error *error);

/* Returns whether a table is closed although there may be states in its window: no neighbour is
 * open, or the open one has seen levels that it shares with the closed ones, or walkers came into
 * one of these. */
bool muca_is_missing(const struct muca *muca, const struct muca_table *table);
/* " of window 1 of sample 3", as far as there are several; and the remedy for one that is
 * closed. */
enum { MUCA_NAME_BYTES = 64 };
const char *muca_table_name(const struct muca *muca, const struct muca_table *table,
                            char text[static MUCA_NAME_BYTES]);
extern const char muca_closed_remedy[];

/* muca_walk.c: gpumc_algorithm_ops.advance and position. */
extern const char *const muca_stages[];
GPUMC_MUST_CHECK enum gpumc_status
muca_advance(void *state, bool *finished, struct gpumc_error *error);
void muca_position(const void *state, struct gpumc_position *position);

/* Counts how often walkers of a table, those of all processes, went from one end of the window to
 * the other since passages were cleared; two of the same walker are a round trip. */
struct muca_passages {
  double all, round_trips;
};
GPUMC_MUST_CHECK enum gpumc_status
muca_count_passages(struct muca *muca, const struct muca_table *table,
                    struct muca_passages *passages, struct gpumc_error *error);
/* Restarts the count of passages; the end that a walker visited last is kept, unless `forgets`. */
GPUMC_MUST_CHECK enum gpumc_status muca_clear_passages(struct muca *muca,
                                                       const struct muca_table *table, bool forgets,
                                                       struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
muca_clear_visits(struct muca *muca, const struct muca_table *table, struct gpumc_error *error);
/* Copies the visits of an iteration, those of all processes, to host_visits[window]. */
GPUMC_MUST_CHECK enum gpumc_status
muca_fetch_visits(struct muca *muca, const struct muca_table *table, struct gpumc_error *error);
/* Adds up the visits of an iteration that are in several parts into the first: in this process
 * alone. */
GPUMC_MUST_CHECK enum gpumc_status
muca_join_visits(struct muca *muca, const struct muca_table *table, struct gpumc_error *error);

/* Adds the measurement of the walkers of a table to its sums, those of muca_own_parts. */
void muca_add_measured(struct muca *muca, struct muca_table *table);
/* Return the level of a walker of a table, among all levels, as measured, and whether it is in a
 * window. */
int64_t muca_level_of(const struct muca *muca, const struct muca_table *table, size_t walker);
bool muca_is_inside(const struct muca *muca, const struct muca_table *table, size_t walker,
                    const struct muca_table *window);

/* muca_parts.c: the parts that a process adds up, and the walkers of one. */
struct gpumc_slice muca_own_parts(const struct muca *muca);
struct gpumc_slice muca_part_walkers(const struct muca_settings *settings, size_t part);
/* Measures the channels of all walkers of all tables, on the host, in all processes; or those of
 * the walkers of muca_own_parts alone. */
GPUMC_MUST_CHECK enum gpumc_status muca_measure(struct muca *muca, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status muca_measure_parts(struct muca *muca, struct gpumc_error *error);
/* Gives all processes the sums and measurements of a table for all parts. */
GPUMC_MUST_CHECK enum gpumc_status
muca_make_sums_whole(struct muca *muca, const struct muca_table *table, struct gpumc_error *error);

/* Assigns the visits since the previous block, of all processes, to the block that ends with this
 * measurement. */
GPUMC_MUST_CHECK enum gpumc_status
muca_take_visits(struct muca *muca, struct muca_table *table, struct gpumc_error *error);

/* ---- the summary (muca_summary.c, muca_trust.c) ---- */

/* Counts the travels of the walkers of all tables, which the summary and the verdict read: by all
 * processes, after the last walk. */
GPUMC_MUST_CHECK enum gpumc_status muca_travels_count(struct muca *muca, struct gpumc_error *error);
/* Returns whether the tilt of join k is 0 within its error, as one of as many comparisons as there
 * are joins. */
bool muca_join_holds(const struct muca *muca, const struct muca_density *density, size_t k);
/* Writes /summary/windows, for one sample in several windows. */
GPUMC_MUST_CHECK enum gpumc_status muca_windows_write(const struct muca *muca,
                                                      const struct muca_density *density,
                                                      struct gpumc_error *error);
/* Writes what is found for and against results. */
GPUMC_MUST_CHECK enum gpumc_status
muca_trust_write(const struct muca *muca, struct gpumc_error *error);
/* muca_samples.c: writes the group `samples`. */
GPUMC_MUST_CHECK enum gpumc_status
muca_samples_write(const struct muca *muca, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status muca_summarize(void *state, struct gpumc_error *error);
/* gpumc_algorithm_ops.merger (muca_merge.c) */
extern const struct gpumc_merger muca_merger;

#endif
