/* Common units of couplings and fields, and the spectra that follow from them: decimals of all
 * kinds, in any order, sums of samples and their parity, numbers without a unit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "core/simulation/model.h"
#include "models/ising/ising.h"
#include "models/ising2d/ising2d.h"
#include "models/lattice/disorder/multiples.h"

enum { NUMBERS = 4 };

static struct lattice_multiples of(const double number[NUMBERS])
{
  struct lattice_multiples multiples = {0};
  for (int i = 0; i < NUMBERS; i++)
    lattice_multiples_add(&multiples, number[i]);
  lattice_multiples_end_sample(&multiples);
  return multiples;
}

static void test_units(void **state)
{
  static const struct {
    double number[NUMBERS], unit;
    int64_t sum;
  } known[] = {
      {{1, -1, 0, 1}, 1, 3},
      {{1, 0.3, 0, 0}, 0.1, 13},
      {{0.5, 0.75, -1, 0}, 0.25, 9},
      {{0.1, 0.2, 0.3, 0.7}, 0.1, 13},
      {{2, 4, -6, 0}, 2, 6},
      {{0.7, -0.7, 0.7, 0}, 0.7, 3},
      {{1.05, 0.35, 0, 0}, 0.35, 4},
      {{100, 0.01, 0, 0}, 0.01, 10001},
      {{123.456789, 246.913578, 0, 0}, 123.456789, 3},
      {{0.0009765625, 1, 0, 0}, 0.0009765625, 1025},
      {{1e-20, 3e-20, 0, 0}, 1e-20, 4},
      {{999999.999999, 0, 0, 0}, 999999.999999, 1},
  };
  (void)state;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    for (int turn = 0; turn < NUMBERS; turn++) {
      double number[NUMBERS];
      for (int k = 0; k < NUMBERS; k++)
        number[k] = known[i].number[(k + turn) % NUMBERS];
      const struct lattice_multiples found = of(number);
      assert_false(found.none);
      assert_true((double)found.unit.size / lattice_unit_parts(found.unit) == known[i].unit);
      assert_int_equal(found.largest, known[i].sum);
      assert_int_equal(found.odd, known[i].sum % 2);
      assert_int_equal(found.even, known[i].sum % 2 == 0);
    }
}

static void test_numbers_without_a_unit(void **state)
{
  static const double none[][NUMBERS] = {{1.0 / 3, 1, 0, 0},
                                         {0.1 + 0.2, 0.3, 0, 0},
                                         {1, 1e-13, 0, 0},
                                         {0.1f, 1, 0, 0},
                                         {1e300, 1, 0, 0},
                                         {5e-324, 0, 0, 0},
                                         {3.14159265358979, 2.71828182845905, 0, 0}};
  (void)state;
  for (size_t i = 0; i < sizeof none / sizeof *none; i++)
    assert_true(of(none[i]).none);
}

/* Sums that were odd become even in a unit of half the size, which later numbers may ask for. */
static void test_parity_follows_the_unit(void **state)
{
  struct lattice_multiples multiples = {0};
  (void)state;
  lattice_multiples_add(&multiples, 1);
  lattice_multiples_end_sample(&multiples);
  lattice_multiples_add(&multiples, 2);
  lattice_multiples_end_sample(&multiples);
  assert_true(multiples.even && multiples.odd);
  lattice_multiples_add(&multiples, 0.5);
  lattice_multiples_add(&multiples, 0.5);
  lattice_multiples_end_sample(&multiples);
  assert_true(multiples.even && !multiples.odd);
  assert_int_equal(multiples.largest, 4);
  lattice_multiples_join(&multiples, lattice_multiples_alike(0.1, 3));
  assert_true(!multiples.even && multiples.odd);
  assert_int_equal(multiples.largest, 23);
  lattice_multiples_join(&multiples, (struct lattice_multiples){0});
  assert_true(!multiples.even && multiples.odd && multiples.largest == 23);
  lattice_multiples_join(&multiples, (struct lattice_multiples){.none = true});
  assert_true(multiples.none);
}

static void open_square(double coupling, double field, double width, struct gpumc_model *model)
{
  struct ising_settings settings = {.ops = &gpumc_model_ising2d,
                                    .dimension = 2,
                                    .shape = {4, 4},
                                    .coupling = coupling,
                                    .field = field};
  struct gpumc_error error = {0};
  settings.disorder.positive = 0.5;
  settings.disorder.width = width;
  settings.disorder.fields = width > 0 ? LATTICE_BIMODAL : LATTICE_UNIFORM;
  if (ising_instance(&settings, model, &error) != GPUMC_OK)
    fail_msg("%s", gpumc_error_text(&error));
}

/* The lowest level, the distance and the number of levels of 4 x 4; 0 levels: too many, or none. */
static void test_spectra(void **state)
{
  static const struct {
    double coupling, field, width, lowest, distance;
    size_t levels;
  } known[] = {
      {1, 0, 0, -32, 4, 17},          {0.3, 0, 0, -9.6, 1.2, 17},
      {1, 0.5, 0, -40, 1, 81},        {1, 1, 0, -48, 2, 49},
      {1, 2, 0, -64, 4, 33},          {-1, 0.1, 0, -33.6, 0.2, 337},
      {0.5, 0.3, 0, -20.8, 0.2, 209}, {1, 0, 0.3, -36.8, 0.2, 369},
      {1, 0.5, 0.25, -44, 0.5, 177},  {1, 0.003, 0, -32.048, 0.002, 0},
      {1, 1.0 / 3, 0, 0, 0, 0},
  };
  (void)state;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    struct gpumc_model model;
    open_square(known[i].coupling, known[i].field, known[i].width, &model);
    const struct gpumc_grid *grid = &model.grid[ISING_ENERGY];
    assert_int_equal(grid->levels, known[i].levels);
    if (grid->levels > 0) {
      assert_true(fabs(gpumc_level_value(&model, ISING_ENERGY, 0) - known[i].lowest) < 1e-14);
      assert_true(fabs(gpumc_level_distance(&model, ISING_ENERGY) - known[i].distance) < 1e-15);
      /* 0 is a level, and measured in the middle of its quanta. */
      assert_true(gpumc_level_value(&model, ISING_ENERGY, 0.5 * (double)(grid->levels - 1)) == 0.0);
      assert_int_equal((0 - grid->lowest) / grid->spacing, grid->levels / 2);
    }
    ising_destroy(&model);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_units),
      cmocka_unit_test(test_numbers_without_a_unit),
      cmocka_unit_test(test_parity_follows_the_unit),
      cmocka_unit_test(test_spectra),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
