/* Multicanonical sampling: the tables of a result with a row for each iteration, and for each piece
 * of the start. */
#include <math.h>
#include <stdio.h>

#include "algorithms/muca/muca.h"
#include "core/base/memory.h"
#include "core/simulation/curves.h"

enum { GROUP_BYTES = 48 };

/* Columns of iterations, and of pieces of the start. */
enum {
  ITERATION,
  LOWEST,
  HIGHEST,
  LEVELS,
  DIVERGENCE,
  CHEBYSHEV,
  SETTLING,
  COUNTED,
  WALKERS,
  LOG_WEIGHT,
  COLUMNS
};

enum { PIECE_UPDATES, PIECE_LOWEST, PIECE_HIGHEST, PIECE_LEVELS, PIECE_FACTOR, PIECE_COLUMNS };

/* Labels of the ends of what has been seen: values of levels, or the middles of bins. */
static struct gpumc_label seen_label(const struct muca *muca, bool highest)
{
  const struct gpumc_label *channel =
      &muca->context.model->ops->channels[muca->settings.channel].label;
  const bool binned = muca->settings.binned;
  return (struct gpumc_label){highest ? "highest" : "lowest",
                              binned && highest
                                  ? "middle of the highest bin seen so far, of the whole system"
                              : binned ? "middle of the lowest bin seen so far, of the whole system"
                              : highest ? "highest value seen so far, of the whole system"
                                        : "lowest value seen so far, of the whole system",
                              channel->units, channel->symbol};
}

static enum gpumc_status
declare_iterations(struct muca *muca, struct muca_table *table, struct gpumc_error *error)
{
  char group[GROUP_BYTES];
  const struct gpumc_model *model = muca->context.model;
  struct gpumc_column columns[COLUMNS] = {
      [ITERATION] = {.label = {"iteration", "iterations of the weights, from 0", "1", "n"},
                     .width = 1,
                     .integer = true},
      [LOWEST] = {.label = seen_label(muca, false), .width = 1},
      [HIGHEST] = {.label = seen_label(muca, true), .width = 1},
      [LEVELS] = {.label = {"levels", "levels seen so far", "1", "w"}, .width = 1, .integer = true},
      [DIVERGENCE] = {.label = {"kullback_leibler",
                                "divergence of the histogram from the uniform one (eq. 6)", "1",
                                "d_k"},
                      .width = 1},
      [CHEBYSHEV] = {.label = {"chebyshev", "largest relative deviation of the histogram (eq. A.1)",
                               "1", "d_c"},
                     .width = 1},
      [SETTLING] = {.label = {"thermalization", "updates of each walker before counting", "updates",
                              ""},
                    .width = 1,
                    .integer = true},
      [COUNTED] = {.label = {"updates", "updates of each walker that were counted", "updates", ""},
                   .width = 1,
                   .integer = true},
      [WALKERS] = {.label = {"walkers", "parallel walkers", "1", "W"}, .width = 1, .integer = true},
      [LOG_WEIGHT] = {.label = {"log_weight",
                                "logarithm of the weight during the iteration, NaN where there is "
                                "none",
                                "1", "ln W"},
                      .width = muca->settings.window,
                      .across = "level"},
  };
  snprintf(group, sizeof group, "runs/%04zu/iterations", table->index);
  return gpumc_curve_add_table(muca->context.recorder, model, group, columns,
                               muca->settings.write_weights ? COLUMNS : LOG_WEIGHT, &table->rows,
                               error);
}

static enum gpumc_status
declare_start(struct muca *muca, struct muca_table *table, struct gpumc_error *error)
{
  char group[GROUP_BYTES];
  const struct gpumc_model *model = muca->context.model;
  struct gpumc_column columns[PIECE_COLUMNS] = {
      [PIECE_UPDATES] = {.label = {"updates", "updates of each walker so far", "updates", ""},
                         .width = 1,
                         .integer = true},
      [PIECE_LOWEST] = {.label = seen_label(muca, false), .width = 1},
      [PIECE_HIGHEST] = {.label = seen_label(muca, true), .width = 1},
      [PIECE_LEVELS] = {.label = {"levels", "levels seen so far", "1", "w"},
                        .width = 1,
                        .integer = true},
      [PIECE_FACTOR] = {.label = {"factor", "scale of the changes in the logarithm of the weights",
                                  "1", "ln f"},
                        .width = 1},
  };
  snprintf(group, sizeof group, "runs/%04zu/start", table->index);
  return gpumc_curve_add_table(muca->context.recorder, model, group, columns, PIECE_COLUMNS,
                               &table->pieces, error);
}

enum gpumc_status muca_rows_declare(struct muca *muca, struct gpumc_error *error)
{
  GPUMC_TRY(gpumc_allocate_array(&muca->row, COLUMNS + muca->settings.window, "a row", error));
  for (size_t i = 0; i < muca->tables; i++) {
    if (muca->settings.start == MUCA_START_WANG_LANDAU)
      GPUMC_TRY(declare_start(muca, &muca->table[i], error));
    GPUMC_TRY(declare_iterations(muca, &muca->table[i], error));
  }
  return GPUMC_OK;
}

static double level_or_nan(const struct muca *muca, const struct muca_table *table, size_t level)
{
  return table->weights.count == 0
             ? NAN
             : muca_level_value(&muca->settings, muca->context.model, table->first + level);
}

enum gpumc_status muca_rows_iteration(struct muca *muca, const struct muca_table *table,
                                      uint64_t settled, const struct muca_flatness *flatness,
                                      struct gpumc_error *error)
{
  const struct muca_weights *weights = &table->weights;
  double *row = muca->row;
  row[ITERATION] = (double)table->progress->iteration;
  row[LOWEST] = level_or_nan(muca, table, weights->lowest);
  row[HIGHEST] = level_or_nan(muca, table, weights->highest);
  row[LEVELS] = (double)weights->count;
  row[DIVERGENCE] = flatness->divergence;
  row[CHEBYSHEV] = flatness->chebyshev;
  row[SETTLING] = (double)settled;
  row[COUNTED] = (double)table->progress->counted;
  row[WALKERS] = (double)muca->settings.walkers;
  return gpumc_recorder_append(muca->context.recorder, table->rows, row, error);
}

void muca_rows_weights(struct muca *muca, const struct muca_table *table)
{
  for (size_t l = 0; l < table->weights.levels; l++)
    muca->row[LOG_WEIGHT + l] = (double)table->weights.log_weight[l] / MUCA_WEIGHT_UNIT;
}

enum gpumc_status muca_rows_piece(struct muca *muca, const struct muca_table *table, double factor,
                                  struct gpumc_error *error)
{
  const double row[PIECE_COLUMNS] = {
      [PIECE_UPDATES] = (double)table->progress->started,
      [PIECE_LOWEST] = level_or_nan(muca, table, table->weights.lowest),
      [PIECE_HIGHEST] = level_or_nan(muca, table, table->weights.highest),
      [PIECE_LEVELS] = (double)table->weights.count,
      [PIECE_FACTOR] = factor};
  return gpumc_recorder_append(muca->context.recorder, table->pieces, row, error);
}
