/* Multicanonical sampling: how the iterations of a table begin, and how its weights begin: flat,
 * from a file or from Wang and Landau's scheme. */
#include <math.h>
#include <string.h>

#include "algorithms/muca/muca.h"

enum { GROWTHS_MOST = 100000 };
/* Parameters of Wang and Landau's scheme. */
enum {
  HALVINGS = 10,          /* of the factor, from 1 */
  PIECES_OF_A_FACTOR = 64 /* maximum: the iterations deal with what is not flat by then */
};
static const double flat_enough = 0.8; /* fewest visits over the mean */

uint64_t muca_rounded(double updates)
{
  return gpumc_walk_steps((uint64_t)fmin(fmax(updates, 1), 0x1p60)) * GPUMC_WALK_UPDATES;
}

/* Good weights of a file stay good only if walkers have first forgotten their initial states: that
 * takes as long as one walker needs by eq. 7, about two relaxation times. */
uint64_t muca_settling(const struct muca *muca, const struct muca_table *table)
{
  const double width = muca_weights_width(&table->weights);
  const uint64_t updates = muca_thermalization(&muca->settings, width);
  if (updates == 0)
    return 0;
  if (table->weights.guess != NULL && table->progress->iteration == 0)
    return muca_rounded(fmax((double)updates, muca_mean_updates(&muca->settings, width)));
  return muca_rounded((double)updates);
}

void muca_begin_iteration(struct muca *muca, struct muca_table *table)
{
  table->progress->phase = MUCA_SETTLE;
  table->progress->left = muca_settling(muca, table);
}

uint64_t muca_growths_for(const struct muca_settings *settings, double divergence)
{
  double updates = settings->updates;
  uint64_t growths = 0;
  while (settings->growth > 1 && updates * divergence < 1 && growths < GROWTHS_MOST) {
    updates *= settings->growth;
    growths++;
  }
  return growths;
}

/* ---- by Wang and Landau's scheme ---- */

/* Begins a piece: walkers settle under the weights that the previous piece has left. */
static enum gpumc_status
begin_piece(struct muca *muca, struct muca_table *table, struct gpumc_error *error)
{
  const double width = muca_weights_width(&table->weights);
  const double settling = (double)muca_thermalization(&muca->settings, width);
  table->progress->phase = MUCA_START;
  table->progress->left = muca_rounded(fmax(settling, width));
  table->progress->started += table->progress->left;
  return muca_clear_visits(muca, table, error);
}

static bool is_flat(const struct muca_table *table)
{
  double least = INFINITY, total = 0;
  for (size_t l = 0; l < table->weights.levels; l++)
    if (table->weights.seen[l]) {
      least = fmin(least, (double)table->histogram[l]);
      total += (double)table->histogram[l];
    }
  return least >= flat_enough * total / (double)table->weights.count;
}

enum gpumc_status
muca_end_piece(struct muca *muca, struct muca_table *table, struct gpumc_error *error)
{
  struct muca_progress *progress = table->progress;
  const double factor = ldexp(1, -(int)progress->halvings);
  const size_t levels = table->weights.levels;
  GPUMC_TRY(muca_fetch_visits(muca, table, error));
  progress->pieces++;
  progress->unhalved++;
  const bool grew = muca_weights_see(&table->weights, muca->host_visits);
  for (size_t l = 0; l < levels; l++)
    table->histogram[l] += muca->host_visits[l];
  muca_weights_wang_landau(&table->weights, &muca->settings, muca->host_visits, factor);
  if ((!grew && is_flat(table)) || progress->unhalved >= PIECES_OF_A_FACTOR) {
    progress->halvings++;
    progress->unhalved = 0;
    memset(table->histogram, 0, levels * sizeof *table->histogram);
  }
  GPUMC_TRY(muca_rows_piece(muca, table, factor, error));
  if (progress->halvings <= HALVINGS)
    return begin_piece(muca, table, error);
  muca_begin_iteration(muca, table);
  return GPUMC_OK;
}

enum gpumc_status muca_begin(struct muca *muca, struct muca_table *table, struct gpumc_error *error)
{
  if (muca->settings.start == MUCA_START_WANG_LANDAU)
    return begin_piece(muca, table, error);
  if (table->weights.guess != NULL) {
    muca_weights_begin(&table->weights);
    table->progress->quiet = muca_growths_for(&muca->settings, muca->settings.divergence);
  }
  muca_begin_iteration(muca, table);
  return GPUMC_OK;
}
