/* Multicanonical sampling: the table of weights, its iteration, and how long iterations are. */
#include <math.h>

#include "algorithms/muca/muca.h"
#include "core/numerics/elementary.h"

static const double unit = MUCA_WEIGHT_UNIT;
static const double guess_most = 0x1p30; /* of ln W */

enum {
  EDGE = 8,        /* levels that determine the slope at an edge, */
  EDGE_VISITS = 8, /* those that were visited this often in the iteration */
  WIDTH_LEAST = 10,
  /* Iterations grow to at most this many times w^z of each walker, or the length by eq. 7: walkers
   * that have not crossed the range by then never will. */
  UPDATES_MOST = 10000
};

void muca_weights_recount(struct muca_weights *weights)
{
  weights->count = 0;
  weights->lowest = weights->levels;
  weights->highest = 0;
  for (size_t l = 0; l < weights->levels; l++) {
    if (!weights->seen[l])
      continue;
    weights->count++;
    weights->lowest = l < weights->lowest ? l : weights->lowest;
    weights->highest = l;
  }
}

double muca_weights_width(const struct muca_weights *weights)
{
  const size_t seen = weights->count == 0 ? 0 : weights->highest - weights->lowest + 1;
  const size_t width = seen > weights->guessed ? seen : weights->guessed;
  return width < WIDTH_LEAST ? WIDTH_LEAST : (double)width;
}

bool muca_weights_see(struct muca_weights *weights, const uint64_t *visits)
{
  const size_t before = weights->count;
  for (size_t l = 0; l < weights->levels; l++) {
    if (visits[l] == 0 || weights->seen[l])
      continue;
    weights->seen[l] = 1;
    weights->count++;
    weights->lowest = l < weights->lowest ? l : weights->lowest;
    weights->highest = l > weights->highest ? l : weights->highest;
  }
  return weights->count > before;
}

/* Both compare with the uniform distribution over the levels that are known to exist: unknown
 * levels are not in the paper's count of bins either. */
static struct muca_flatness flatness_of(const struct muca_weights *weights, const uint64_t *visits)
{
  struct muca_flatness flatness = {0};
  double total = 0;
  for (size_t l = 0; l < weights->levels; l++)
    total += (double)visits[l];
  const double expected = total / (double)weights->count;
  for (size_t l = 0; l < weights->levels; l++) {
    const double ratio = (double)visits[l] / expected;
    if (!weights->seen[l])
      continue;
    if (visits[l] > 0)
      flatness.divergence += (double)visits[l] / total * gpumc_log(ratio);
    flatness.chebyshev = fmax(flatness.chebyshev, fabs(ratio - 1.0));
  }
  return flatness;
}

/* ln W beyond an edge of the range seen: `at` there, and `slope` more for each level outwards. */
struct line {
  double at, slope;
};

/* Levels lowest .. highest have weights; visits NULL: all are good. */
struct known {
  int64_t *log_weight;
  const uint64_t *visits;
  size_t lowest, highest;
};

/* Fits a least-squares line along the levels nearest to an edge. */
static struct line line_at(const struct known *known, bool at_top)
{
  double n = 0, x_sum = 0, y_sum = 0, xx = 0, xy = 0;
  const size_t edge = at_top ? known->highest : known->lowest;
  const size_t span = known->highest - known->lowest;
  const int64_t reference = known->log_weight[edge];
  struct line line = {.at = (double)reference / unit};
  for (size_t d = 0; d <= span && n < EDGE; d++) {
    const size_t l = at_top ? edge - d : edge + d;
    if (known->visits != NULL && known->visits[l] < EDGE_VISITS)
      continue;
    const double x = -(double)d, y = (double)(known->log_weight[l] - reference) / unit;
    n++, x_sum += x, y_sum += y, xx += x * x, xy += x * y;
  }
  const double spread = n * xx - x_sum * x_sum;
  if (spread <= 0)
    return line;
  line.slope = fmax((n * xy - x_sum * y_sum) / spread, 0);
  line.at += (y_sum - line.slope * x_sum) / n;
  return line;
}

static int64_t on_line(struct line line, size_t distance)
{
  const double log_weight = fma(line.slope, (double)distance, line.at);
  return (int64_t)rint(fmin(fmax(log_weight, -guess_most), guess_most) * unit);
}

/* ln Omega is concave almost everywhere, so a straight line underestimates the weights. */
static void draw_lines(const struct known *known, size_t levels)
{
  const struct line down = line_at(known, false), up = line_at(known, true);
  for (size_t l = 0; l < known->lowest; l++)
    known->log_weight[l] = on_line(down, known->lowest - l);
  for (size_t l = known->highest + 1; l < levels; l++)
    known->log_weight[l] = on_line(up, l - known->highest);
}

/* Extends by straight lines or, with the plain scheme, by the value at the edge. */
static void go_beyond(const struct known *known, size_t levels, bool extrapolate)
{
  for (size_t l = 0; l < levels; l++)
    if (l < known->lowest || l > known->highest)
      known->log_weight[l] = known->log_weight[l < known->lowest ? known->lowest : known->highest];
  if (extrapolate)
    draw_lines(known, levels);
}

/* Returns how far the weights have moved from those of the file, at the levels nearest to an
 * edge. */
static int64_t moved_at(const struct muca_weights *weights, const uint64_t *visits, bool at_top)
{
  double n = 0, sum = 0;
  const size_t edge = at_top ? weights->highest : weights->lowest;
  const size_t span = weights->highest - weights->lowest;
  for (size_t d = 0; d <= span && n < EDGE; d++) {
    const size_t l = at_top ? edge - d : edge + d;
    if (visits[l] >= EDGE_VISITS)
      n++, sum += (double)(weights->log_weight[l] - weights->guess[l]);
  }
  return n > 0 ? (int64_t)rint(sum / n) : weights->log_weight[edge] - weights->guess[edge];
}

static void extrapolate(struct muca_weights *weights, const struct muca_settings *settings,
                        const uint64_t *visits)
{
  if (!settings->extrapolate)
    return;
  if (weights->guess == NULL) {
    const struct known known = {weights->log_weight, visits, weights->lowest, weights->highest};
    draw_lines(&known, weights->levels);
    return;
  }
  const int64_t down = moved_at(weights, visits, false), up = moved_at(weights, visits, true);
  for (size_t l = 0; l < weights->lowest; l++)
    weights->log_weight[l] = weights->guess[l] + down;
  for (size_t l = weights->highest + 1; l < weights->levels; l++)
    weights->log_weight[l] = weights->guess[l] + up;
}

void muca_weights_take(struct muca_weights *weights, const struct muca_settings *settings,
                       int64_t *guess)
{
  struct known known = {.log_weight = guess, .lowest = 0, .highest = weights->levels - 1};
  while (guess[known.lowest] == GPUMC_WEIGHT_NONE)
    known.lowest++;
  while (guess[known.highest] == GPUMC_WEIGHT_NONE)
    known.highest--;
  go_beyond(&known, weights->levels, settings->extrapolate);
  for (size_t l = 0; l < weights->levels; l++)
    guess[l] = (int64_t)fmin(fmax((double)guess[l], -guess_most * unit), guess_most * unit);
  weights->guess = guess;
  weights->guessed = known.highest - known.lowest + 1;
}

void muca_weights_begin(struct muca_weights *weights)
{
  for (size_t l = 0; l < weights->levels; l++)
    weights->log_weight[l] = weights->guess[l];
}

void muca_weights_continue(struct muca_weights *weights, const struct muca_settings *settings,
                           const struct muca_weights *neighbour, int64_t offset)
{
  struct known known = {.log_weight = weights->log_weight, .lowest = weights->levels};
  for (size_t l = 0; l < weights->levels; l++) {
    const int64_t other = (int64_t)l - offset;
    if (other < 0 || other >= (int64_t)neighbour->levels || !neighbour->seen[other])
      continue;
    weights->log_weight[l] = neighbour->log_weight[other];
    known.lowest = l < known.lowest ? l : known.lowest;
    known.highest = l;
  }
  if (known.lowest < weights->levels)
    go_beyond(&known, weights->levels, settings->extrapolate);
}

struct muca_flatness muca_weights_iterate(struct muca_weights *weights,
                                          const struct muca_settings *settings,
                                          const uint64_t *visits)
{
  const bool grew = muca_weights_see(weights, visits);
  struct muca_flatness flatness = flatness_of(weights, visits);
  flatness.grew = grew;
  for (size_t l = 0; l < weights->levels; l++)
    if (visits[l] > 0)
      weights->log_weight[l] -= (int64_t)rint(gpumc_log((double)visits[l]) * unit);
  extrapolate(weights, settings, visits);
  return flatness;
}

void muca_weights_wang_landau(struct muca_weights *weights, const struct muca_settings *settings,
                              const uint64_t *visits, double factor)
{
  double total = 0;
  for (size_t l = 0; l < weights->levels; l++)
    total += (double)visits[l];
  const double mean = total / (double)weights->count;
  for (size_t l = 0; l < weights->levels; l++)
    if (visits[l] > 0)
      weights->log_weight[l] -= (int64_t)rint(factor * (double)visits[l] / mean * unit);
  extrapolate(weights, settings, visits);
}

/* Numbers of updates are truncated, plus one. */
static uint64_t whole(double updates)
{
  return updates < 0x1p62 ? (uint64_t)updates + 1 : (uint64_t)1 << 62;
}

uint64_t muca_thermalization(const struct muca_settings *settings, double width)
{
  return settings->thermalization > 0 ? whole(settings->thermalization * width) : 0;
}

double muca_mean_updates(const struct muca_settings *settings, double width)
{
  return gpumc_exp(settings->exponent * gpumc_log(width));
}

uint64_t muca_updates(const struct muca_settings *settings, double width, size_t quiet)
{
  double updates =
      settings->updates * muca_mean_updates(settings, width) / (double)settings->walkers;
  const double most = UPDATES_MOST * fmax(updates, muca_mean_updates(settings, width));
  for (size_t i = 0; i < quiet && updates < most; i++)
    updates *= settings->growth;
  return whole(updates);
}
