/* Multicanonical sampling: ln Omega of one sample from windows that overlap.
 *
 *   window k      |---------------|
 *   window k + 1             |----------------|
 *                            |----|             levels that both have
 *
 * Each window determines ln Omega up to a constant. That of a window follows from the levels in
 * common with the one before, a mean weighted by how well both know them; there, ln Omega is the
 * mean of both by their visits. The blocks of all windows are left out together, as if a block were
 * one of all of them, so that errors go through the join.
 *
 * Windows that no walker has entered are at the ends, and are ignored.
 *
 * If two windows disagree on the slope of ln Omega along their common levels, one of them has not
 * reached all of its states. The tilt of a join is the constant found from the upper half of the
 * common levels less that from the lower half: 0 within its error. */
#include <math.h>

#include "algorithms/muca/muca.h"
#include "core/numerics/elementary.h"

/* Returns the visits of level l of a table in a row, without a block. */
static double visits_of(const struct muca *muca, const struct muca_table *table, size_t b,
                        const double *total, size_t l)
{
  const struct muca_settings *settings = &muca->settings;
  const double left_out =
      b < settings->blocks ? (double)table->counted[b * settings->window + l] : 0;
  return total[l] - left_out;
}

static double log_dos_of(const struct muca_table *table, double visits, size_t l)
{
  return gpumc_log(visits) - (double)table->weights.log_weight[l] / MUCA_WEIGHT_UNIT;
}

/* Sums over common levels, of weights and of weights times differences. */
struct common {
  double weight, difference;
};

static double mean_of(struct common common)
{
  return common.difference / common.weight;
}

/* Returns the offset that window k needs to meet the one before, and the tilt. */
static double meet(const struct muca *muca, const struct muca_table *table, size_t b,
                   const double *total, size_t k, double *tilt)
{
  const size_t window = muca->settings.window;
  const struct muca_table *below = &table[k - 1], *above = &table[k];
  const size_t from = above->first, to = below->first + window, middle = from + (to - from) / 2;
  struct common half[2] = {{0, 0}, {0, 0}};
  for (size_t level = from; level < to; level++) {
    const size_t i = level - below->first, j = level - above->first;
    const double m = visits_of(muca, below, b, total + (k - 1) * window, i);
    const double n = visits_of(muca, above, b, total + k * window, j);
    if (m <= 0 || n <= 0)
      continue;
    struct common *of = &half[level >= middle];
    const double weight = m * n / (m + n);
    of->weight += weight;
    of->difference += weight * (log_dos_of(below, m, i) - log_dos_of(above, n, j));
  }
  *tilt = mean_of(half[1]) - mean_of(half[0]);
  return mean_of(
      (struct common){half[0].weight + half[1].weight, half[0].difference + half[1].difference});
}

/* Returns the mean of the windows that have the level, weighted by their visits. */
static double log_dos_at(const struct muca *muca, const struct muca_table *table, size_t b,
                         const double *total, size_t level, const double *lift)
{
  const size_t windows = muca->settings.windows, window = muca->settings.window;
  double sum = 0, visits = 0;
  size_t seen = 0;
  for (size_t k = 0; k < windows; k++) {
    if (level < table[k].first || level >= table[k].first + window)
      continue;
    const size_t l = level - table[k].first;
    const double n = visits_of(muca, &table[k], b, total + k * window, l);
    if (n <= 0)
      continue;
    const double here = log_dos_of(&table[k], n, l) + lift[k];
    sum += n * here;
    visits += n;
    seen++;
    if (seen == 1 && (k + 1 == windows || level < table[k + 1].first))
      return here;
  }
  return seen > 0 ? sum / visits : -(double)INFINITY;
}

void muca_join(const struct muca *muca, const struct muca_table *table, size_t b,
               const double *total, const struct muca_density *density, double *log_dos,
               double *lift, double *tilt)
{
  const size_t windows = muca->settings.windows;
  lift[0] = 0;
  for (size_t k = 1; k < windows; k++) {
    tilt[k - 1] = NAN;
    lift[k] = lift[k - 1];
    if (muca_are_joined(&table[k - 1]))
      lift[k] += meet(muca, table, b, total, k, &tilt[k - 1]);
  }
  for (size_t v = 0; v < density->levels; v++)
    log_dos[v] = log_dos_at(muca, table, b, total, density->level[v], lift);
}
