/* Errors of averages over parts that are independent of each other (core/simulation/merge.h) are
 * right: over 40000 simulated averages of parts around 0, mean/error has variance 1.
 *
 * Null, if errors of the parts are known and add up: mean/error is a Gaussian number of variance 1.
 * If the scatter of the parts gives the error it is Student's t with one degree of freedom less
 * than there are parts, scaled to variance 1; so the share of mean/error below 1 is tested, and its
 * variance from 12 parts on, where its own error exists and is small. Every number is within 3.9 of
 * its standard deviations (false alarm 1e-4). Controls: equally accurate parts with unequal
 * weights, and a missing factor of Student. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/simulation/merge.h"

enum { REPEATS = 40000, PARTS_MAXIMUM = 20 };
static const double most = 3.9;

/* SplitMix64 (Steele, Lea and Flood 2014), and Gaussian numbers from it. */
static uint64_t draw(uint64_t *state)
{
  uint64_t z = (*state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

static double uniform(uint64_t *state)
{
  return ((double)(draw(state) >> 11) + 0.5) * 0x1p-53;
}

static double gaussian(uint64_t *state)
{
  const double radius = sqrt(-2 * log(uniform(state)));
  return radius * cos(2 * acos(-1.0) * uniform(state));
}

struct parts {
  size_t count;
  double weight[PARTS_MAXIMUM];
};

static const struct parts cases[] = {
    {4, {8, 8, 8, 8}},
    {4, {4, 4, 8, 16}},
    {5, {3, 3, 3, 3, 3}},
    {7, {1, 2, 3, 4, 5, 6, 7}},
    {12, {4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4}},
    {12, {1, 2, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8}},
    {20, {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2}},
    {20, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}}};
enum { CASES = sizeof cases / sizeof *cases };

/* mean/error of averages of parts with these errors around 0: z[REPEATS]. */
static void
simulate(const struct parts *parts, const double *error, bool known, uint64_t seed, double *z)
{
  double *values = calloc(parts->count * REPEATS, sizeof *values);
  double *errors = calloc(parts->count * REPEATS, sizeof *errors);
  double *error_of = calloc(REPEATS, sizeof *error_of);
  assert_non_null(values);
  assert_non_null(errors);
  assert_non_null(error_of);
  for (size_t i = 0; i < parts->count * REPEATS; i++) {
    errors[i] = error[i / REPEATS];
    values[i] = errors[i] * gaussian(&seed);
  }
  const struct gpumc_parts_of_curve curve = {parts->count, REPEATS, parts->weight,
                                             values,       errors,  known};
  gpumc_parts_average(&curve, z, error_of);
  for (size_t i = 0; i < REPEATS; i++)
    z[i] /= error_of[i];
  free(values);
  free(errors);
  free(error_of);
}

/* Returns the probability that a t of variance 1 is below 1. */
static double student_share(double freedom)
{
  enum { STEPS = 10000 };
  const double end = sqrt(freedom / (freedom - 2)), width = end / STEPS;
  const double scale =
      exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2)) / sqrt(freedom * acos(-1.0));
  double sum = 0;
  for (int i = 0; i < STEPS; i++) {
    const double t = (i + 0.5) * width;
    sum += pow(1 + t * t / freedom, -(freedom + 1) / 2);
  }
  return 2 * scale * width * sum;
}

/* Returns the deviation from the expected value, in standard deviations of the mean of REPEATS
 * numbers. */
static double
deviation(const char *what, size_t parts, double measured, double expected, double variance)
{
  const double found = (measured - expected) / sqrt(variance / REPEATS);
  printf("%s of %zu parts: %.4f, expected %.4f, %+.2f standard deviations\n", what, parts, measured,
         expected, found);
  return fabs(found);
}

static double share_off(const struct parts *parts, const double *z)
{
  const double expected = student_share((double)parts->count - 1);
  double share = 0;
  for (size_t i = 0; i < REPEATS; i++)
    share += (fabs(z[i]) < 1) / (double)REPEATS;
  return deviation("scatter: share", parts->count, share, expected, expected * (1 - expected));
}

static double variance_off(const struct parts *parts, const double *z, double spread)
{
  double squares = 0;
  for (size_t i = 0; i < REPEATS; i++)
    squares += z[i] * z[i] / REPEATS;
  return deviation("variance", parts->count, squares, 1, spread);
}

static double *numbers(void)
{
  double *z = calloc(REPEATS, sizeof *z);
  assert_non_null(z);
  return z;
}

static void as_weights(const struct parts *parts, double *error)
{
  for (size_t i = 0; i < parts->count; i++)
    error[i] = 1 / sqrt(parts->weight[i]);
}

static void test_from_the_scatter(void **state)
{
  (void)state;
  double *z = numbers(), error[PARTS_MAXIMUM];
  for (size_t c = 0; c < CASES; c++) {
    as_weights(&cases[c], error);
    simulate(&cases[c], error, false, 1 + c, z);
    assert_true(share_off(&cases[c], z) < most);
    if (cases[c].count >= 12)
      assert_true(variance_off(&cases[c], z, 2 + 6 / ((double)cases[c].count - 5)) < most);
  }
  free(z);
}

/* Also if errors do not match the weights. */
static void test_from_known_errors(void **state)
{
  (void)state;
  static const struct parts few[] = {{1, {8}}, {2, {8, 24}}};
  double *z = numbers(), error[PARTS_MAXIMUM];
  for (size_t c = 0; c < CASES + 2; c++) {
    const struct parts *parts = c < CASES ? &cases[c] : &few[c - CASES];
    uint64_t seed = 100 + c;
    as_weights(parts, error);
    simulate(parts, error, true, 200 + c, z);
    assert_true(variance_off(parts, z, 2) < most);
    for (size_t i = 0; i < parts->count; i++)
      error[i] = 0.5 + 1.5 * uniform(&seed);
    simulate(parts, error, true, 300 + c, z);
    assert_true(variance_off(parts, z, 2) < most);
  }
  free(z);
}

/* Two and three parts do not determine their scatter; one has its own error. Parts that do not
 * scatter give no error, and what no part has seen has none. */
static void test_what_has_no_error(void **state)
{
  (void)state;
  const double weight[] = {2, 2, 2, 2};
  const double values[] = {0, 32, 1, 0, 32, 2, 0, 32, 3, 0, 32, 4};
  const double errors[] = {0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1};
  double average[3], error[3];
  struct gpumc_parts_of_curve curve = {4, 3, weight, values, errors, false};
  gpumc_parts_average(&curve, average, error);
  assert_true(isnan(error[0]) && isnan(error[1]) && error[2] > 0);
  curve.known = true;
  gpumc_parts_average(&curve, average, error);
  assert_true(isnan(error[0]) && error[1] == 0.5 && error[2] == 0.5);
  curve.known = false;
  for (curve.parts = 2; curve.parts < 4; curve.parts++) {
    gpumc_parts_average(&curve, average, error);
    assert_true(isnan(error[2]));
  }
  curve.parts = 1;
  gpumc_parts_average(&curve, average, error);
  assert_true(memcmp(average, values, sizeof average) == 0 && error[2] == 1);
}

static void test_controls_are_rejected(void **state)
{
  (void)state;
  const struct parts *parts = &cases[CASES - 1];
  double *z = numbers(), error[PARTS_MAXIMUM];
  for (size_t i = 0; i < parts->count; i++)
    error[i] = 1;
  simulate(parts, error, false, 400, z);
  assert_true(share_off(parts, z) > most);
  as_weights(parts, error);
  simulate(parts, error, false, 401, z);
  for (size_t i = 0; i < REPEATS; i++)
    z[i] *= sqrt(19.0 / 17);
  assert_true(share_off(parts, z) > most);
  free(z);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_from_the_scatter), cmocka_unit_test(test_from_known_errors),
      cmocka_unit_test(test_what_has_no_error), cmocka_unit_test(test_controls_are_rejected)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
