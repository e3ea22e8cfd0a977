/* Joining windows of a multicanonical run: counts that follow one density of states give that
 * density back; if one window disagrees, the join reports it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "algorithms/muca/muca.h"

enum { WINDOWS = 3, WINDOW = 24, BLOCKS = 20, LEVELS = 60, MISSING = 21 };
static const double visits = 1e6; /* per level and block */

/* Windows of a run without walkers, with the data that production leaves. */
struct joined {
  struct muca muca;
  struct muca_table table[WINDOWS];
  struct muca_progress progress[WINDOWS];
  int64_t log_weight[WINDOWS][WINDOW];
  uint64_t counted[WINDOWS][BLOCKS][WINDOW];
  double total[WINDOWS * WINDOW];
  struct muca_density density;
  size_t level[LEVELS];
  double log_dos[LEVELS], lift[WINDOWS], tilt[(BLOCKS + 1) * (WINDOWS - 1)];
};

static double exact(size_t level)
{
  const double x = (double)level / LEVELS - 0.5;
  return -300 * x * x + 0.1 * (double)(level % 7);
}

/* Blocks scatter by a thousandth; window 2 is off by `wrong` per level. One level has no states. */
static void make(struct joined *joined, double wrong)
{
  struct muca_settings *settings = &joined->muca.settings;
  memset(joined, 0, sizeof *joined);
  *settings = (struct muca_settings){.levels = LEVELS,
                                     .last = LEVELS - 1,
                                     .windows = WINDOWS,
                                     .window = WINDOW,
                                     .samples = 1,
                                     .blocks = BLOCKS};
  for (size_t k = 0; k < WINDOWS; k++) {
    struct muca_table *table = &joined->table[k];
    table->first = muca_window_first(settings, k);
    table->progress = &joined->progress[k];
    table->weights.log_weight = joined->log_weight[k];
    table->counted = joined->counted[k][0];
    for (size_t l = 0; l < WINDOW; l++) {
      const size_t level = table->first + l;
      joined->log_weight[k][l] = (int64_t)(-(exact(level) + (double)k) * MUCA_WEIGHT_UNIT);
      for (size_t b = 0; b < BLOCKS && level != MISSING; b++) {
        const double scatter = 1e-3 * (double)((b * 7 + k * 5 + l * 3) % 11) - 5e-3;
        const double tilted = k == 2 ? wrong * (double)l : 0;
        joined->counted[k][b][l] = (uint64_t)(visits * exp(scatter + tilted));
        joined->total[k * WINDOW + l] += (double)joined->counted[k][b][l];
      }
    }
  }
  joined->density =
      (struct muca_density){.blocks = BLOCKS, .level = joined->level, .tilt = joined->tilt};
  for (size_t level = 0; level < LEVELS; level++)
    if (level != MISSING)
      joined->level[joined->density.levels++] = level;
}

static void join(struct joined *joined)
{
  for (size_t b = 0; b <= BLOCKS; b++)
    muca_join(&joined->muca, joined->table, b, joined->total, &joined->density, joined->log_dos,
              joined->lift, joined->tilt + b * (WINDOWS - 1));
}

/* Returns the largest deviation from the exact density, both up to a constant. */
static double farthest(const struct joined *joined)
{
  const double constant = joined->log_dos[0] - exact(joined->level[0]);
  double most = 0;
  for (size_t v = 0; v < joined->density.levels; v++)
    most = fmax(most, fabs(joined->log_dos[v] - exact(joined->level[v]) - constant));
  return most;
}

static void windows_cover_the_range(void **state)
{
  struct joined *joined = calloc(1, sizeof *joined);
  (void)state;
  assert_non_null(joined);
  make(joined, 0);
  assert_int_equal(joined->table[0].first, 0);
  assert_int_equal(joined->table[WINDOWS - 1].first + WINDOW, LEVELS);
  for (size_t k = 1; k < WINDOWS; k++)
    assert_true(joined->table[k].first < joined->table[k - 1].first + WINDOW);
  free(joined);
}

static void one_density_comes_back(void **state)
{
  struct joined *joined = calloc(1, sizeof *joined);
  (void)state;
  assert_non_null(joined);
  make(joined, 0);
  join(joined);
  assert_true(farthest(joined) < 2e-3);
  for (size_t k = 0; k + 1 < WINDOWS; k++)
    assert_true(muca_join_holds(&joined->muca, &joined->density, k));
  free(joined);
}

static void a_window_that_disagrees_is_seen(void **state)
{
  struct joined *joined = calloc(1, sizeof *joined);
  (void)state;
  assert_non_null(joined);
  make(joined, 0.02);
  join(joined);
  assert_true(farthest(joined) > 0.1);
  assert_true(muca_join_holds(&joined->muca, &joined->density, 0));
  assert_false(muca_join_holds(&joined->muca, &joined->density, 1));
  free(joined);
}

/* Windows with no level that both have visited cannot be joined. */
static void nothing_in_common_is_seen(void **state)
{
  struct joined *joined = calloc(1, sizeof *joined);
  (void)state;
  assert_non_null(joined);
  make(joined, 0);
  for (size_t l = 0; l < WINDOW; l++)
    for (size_t b = 0; b < BLOCKS && joined->table[2].first + l < joined->table[1].first + WINDOW;
         b++) {
      joined->total[2 * WINDOW + l] -= (double)joined->counted[2][b][l];
      joined->counted[2][b][l] = 0;
    }
  join(joined);
  assert_true(muca_join_holds(&joined->muca, &joined->density, 0));
  assert_false(muca_join_holds(&joined->muca, &joined->density, 1));
  free(joined);
}

/* A window that no walker has entered does not contribute to the others. */
static void closed_windows_are_left_out(void **state)
{
  struct joined *joined = calloc(1, sizeof *joined), *open = calloc(1, sizeof *open);
  (void)state;
  assert_true(joined != NULL && open != NULL);
  make(open, 0);
  join(open);
  make(joined, 0);
  joined->progress[0].phase = MUCA_CLOSED;
  memset(joined->counted[0], 0, sizeof joined->counted[0]);
  memset(joined->total, 0, WINDOW * sizeof *joined->total);
  joined->density.levels = 0;
  for (size_t level = joined->table[1].first; level < LEVELS; level++)
    if (level != MISSING)
      joined->level[joined->density.levels++] = level;
  join(joined);
  assert_true(farthest(joined) < 2e-3);
  assert_true(isnan(joined->tilt[BLOCKS * (WINDOWS - 1)]));
  assert_true(joined->tilt[BLOCKS * (WINDOWS - 1) + 1] == open->tilt[BLOCKS * (WINDOWS - 1) + 1]);
  assert_true(muca_join_holds(&joined->muca, &joined->density, 1));
  free(joined);
  free(open);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(windows_cover_the_range),
      cmocka_unit_test(one_density_comes_back),
      cmocka_unit_test(a_window_that_disagrees_is_seen),
      cmocka_unit_test(nothing_in_common_is_seen),
      cmocka_unit_test(closed_windows_are_left_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
