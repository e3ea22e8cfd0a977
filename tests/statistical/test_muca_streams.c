/* Errors of ln Omega over groups of walkers require that groups have random numbers of their own.
 *
 * Null:  GROUPS groups of walkers of 4 x 4 under the exact weights, each with numbers of its own,
 * give ln Omega, and a jackknife over groups its errors: over REPEATS repetitions and all levels
 * the mean of (deviation/error)^2 is 19/17. Deviations of the levels of one repetition are
 * correlated, and the mean over them has a standard deviation of less than 1: of REPEATS
 * repetitions less than 0.1. Bound: 0.5, set before the first run, a false alarm in a million
 * seeds. The seeds are fixed.
 *
 * Control: from the same states, all groups with one stream of numbers, as for a kernel whose keys
 * lack the group. Walkers at the same place in their groups then come together and stay so, groups
 * count the same, and errors are too small.
 *
 * CTest: release (resume_test_resume_muca) */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/statistics/estimate.h"
#include "support/density_of_states.h"
#include "support/status.h"
#include "support/walk_cases.h"

enum {
  GROUPS = 20,
  WALKERS = 32,
  REPEATS = 100,
  LEVELS = 17, /* those with states are 15 */
  SETTLING = 2000,
  STEPS = 4000
};
static const double expected = 19.0 / 17, bound = 0.5;

/* Walks `steps` steps from `time` on. */
static void walk(struct ising_fixture *fixture, const int64_t *log_weight, uint64_t *visits,
                 uint64_t time, uint32_t steps)
{
  const struct gpumc_grid *grid = &fixture->model.grid[ISING_ENERGY];
  struct gpumc_error error = {0};
  assert_int_equal(grid->levels, LEVELS);
  const struct gpumc_weight_table table = {.channel = ISING_ENERGY,
                                           .lowest = &grid->lowest,
                                           .spacing = grid->spacing,
                                           .levels = LEVELS,
                                           .log_weight = log_weight,
                                           .time = &time,
                                           .steps = &steps,
                                           .visits = visits,
                                           .parts = 1};
  const struct gpumc_target target = {.kind = GPUMC_TABULATED, .table = &table};
  assert_ok(fixture->ensemble.ops->walk(&fixture->ensemble, &target, &error), &error);
}

/* Counts visits of one group; `number`: of its stream, once it has settled. */
static void
count(size_t repeat, size_t group, uint32_t number, const int64_t *log_weight, double *counted)
{
  struct ising_case with = fixture_square(walk_kernel(), 4, 4, WALKERS);
  struct gpumc_error error = {0};
  struct ising_fixture fixture;
  uint64_t *visits, found[LEVELS];
  with.seed = repeat + 1;
  with.first_run = (uint32_t)group;
  fixture_open(&fixture, &with);
  fixture_randomize(&fixture, &with, WALKERS);
  struct gpumc_device *device = fixture.ensemble.device;
  assert_ok(gpumc_device_array(device, &visits, LEVELS, "visits", &error), &error);
  walk(&fixture, log_weight, NULL, 0, SETTLING);
  fixture.ensemble.first_run = number;
  walk(&fixture, log_weight, visits, SETTLING, STEPS);
  assert_ok(device->ops->copy_to_host(device, found, visits, sizeof found, &error), &error);
  for (size_t l = 0; l < LEVELS; l++)
    counted[l] = (double)found[l];
  device->ops->release(device, visits);
  fixture_close(&fixture);
}

/* Computes ln Omega from visits, normalised to all states. */
static void density(const double *visits, const int64_t *log_weight, double *log_dos)
{
  double sum = 0;
  for (size_t l = 0; l < LEVELS; l++)
    sum += visits[l] * exp(-(double)log_weight[l] * 0x1p-32);
  for (size_t l = 0; l < LEVELS; l++)
    log_dos[l] = log(visits[l] / sum) - (double)log_weight[l] * 0x1p-32 + 16 * log(2);
}

/* Returns the mean over levels of (deviation/error)^2 of one repetition. */
static double mean_square(size_t repeat, bool shared, const int64_t *log_weight)
{
  const uint64_t *states = ising2d_states_4.count;
  double counted[GROUPS][LEVELS], all[LEVELS] = {0}, without[GROUPS][LEVELS], log_dos[LEVELS];
  double squares = 0;
  size_t levels = 0;
  for (size_t g = 0; g < GROUPS; g++) {
    count(repeat, g, shared ? GROUPS : (uint32_t)(GROUPS + g), log_weight, counted[g]);
    for (size_t l = 0; l < LEVELS; l++)
      all[l] += counted[g][l];
  }
  density(all, log_weight, log_dos);
  for (size_t g = 0; g < GROUPS; g++) {
    double rest[LEVELS];
    for (size_t l = 0; l < LEVELS; l++)
      rest[l] = all[l] - counted[g][l];
    density(rest, log_weight, without[g]);
  }
  for (size_t l = 0; l < LEVELS; l++) {
    double column[GROUPS];
    if (states[l] == 0)
      continue;
    for (size_t g = 0; g < GROUPS; g++)
      column[g] = without[g][l];
    const double deviation = log_dos[l] - log((double)states[l]);
    squares += deviation * deviation / gpumc_jackknife_of(column, 1, GROUPS, 0).value;
    levels++;
  }
  assert_int_equal(levels, 15);
  return squares / (double)levels;
}

static double mean_of_all(bool shared)
{
  const uint64_t *states = ising2d_states_4.count;
  int64_t log_weight[LEVELS];
  double sum = 0, squares = 0;
  for (size_t l = 0; l < LEVELS; l++)
    log_weight[l] = states[l] == 0 ? 0 : -(int64_t)(log((double)states[l]) * 0x1p32);
  for (size_t repeat = 0; repeat < REPEATS; repeat++) {
    const double square = mean_square(repeat, shared, log_weight);
    sum += square;
    squares += square * square;
  }
  const double mean = sum / REPEATS;
  print_message("%s: mean square %.3f, standard deviation of one repetition %.2f\n",
                shared ? "one stream" : "streams of their own", mean,
                sqrt(squares / REPEATS - mean * mean));
  return mean;
}

static void errors_are_right_with_streams_of_their_own(void **state)
{
  (void)state;
  assert_true(fabs(mean_of_all(false) - expected) < bound);
}

static void one_stream_for_all_groups_is_rejected(void **state)
{
  (void)state;
  assert_true(fabs(mean_of_all(true) - expected) > bound);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_are_right_with_streams_of_their_own),
      cmocka_unit_test(one_stream_for_all_groups_is_rejected),
  };
  test_device_require();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
