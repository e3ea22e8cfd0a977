/* Undetermined jackknife variances, degrees of freedom, and probabilities of chance. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>

#include <cmocka.h>

#include "core/simulation/algorithm.h"
#include "core/statistics/estimate.h"
#include "core/statistics/significance.h"

enum { BLOCKS = 64 };
static const struct gpumc_variance none = {0, 0};

static void test_what_does_not_fluctuate_is_undetermined(void **state)
{
  (void)state;
  double values[BLOCKS];
  for (int rounded = 0; rounded < 2; rounded++) {
    for (size_t b = 0; b < BLOCKS; b++)
      values[b] = -2 + (rounded ? (double)(b % 3) * 0x1p-51 : 0);
    const struct gpumc_variance variance = gpumc_jackknife(values, 1, BLOCKS);
    assert_true(variance.value == 0 && variance.freedom == 0);
    assert_true(isnan(gpumc_pooled_error(variance, none)));
  }
  const struct gpumc_variance other = {4, 10};
  assert_true(gpumc_pooled_error(gpumc_jackknife(values, 1, BLOCKS), other) == sqrt(5.0));
}

/* A difference of large numbers has their rounding error. */
static void test_rounding_is_that_of_the_arithmetic(void **state)
{
  (void)state;
  double values[BLOCKS];
  for (size_t b = 0; b < BLOCKS; b++)
    values[b] = (double)(b % 3) * 1e-13;
  assert_true(gpumc_jackknife(values, 1, BLOCKS).freedom > 2);
  const double rounding = gpumc_rounding(BLOCKS, 1000);
  assert_true(gpumc_jackknife_of(values, 1, BLOCKS, rounding).freedom == 0);
}

static void test_freedom_of_rare_events(void **state)
{
  (void)state;
  for (size_t events = 1; events <= 8; events++) {
    double values[BLOCKS];
    for (size_t b = 0; b < BLOCKS; b++)
      values[b] = b < events ? -1 : -2;
    const struct gpumc_variance variance = gpumc_jackknife(values, 1, BLOCKS);
    const double ratio = variance.freedom / (double)events;
    assert_true(ratio > 3 && ratio < 4);
    assert_int_equal(gpumc_trust_freedom(variance.freedom), events >= 5);
  }
}

/* With so few deviations, one, two or three events are no certain number. */
static void test_events_in_few_deviations(void **state)
{
  (void)state;
  const size_t cases[][2] = {{8, 1}, {10, 1}, {16, 1}, {16, 2}, {20, 2}, {32, 2}, {32, 3}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double values[BLOCKS];
    for (size_t b = 0; b < cases[i][0]; b++)
      values[b] = b < cases[i][1] ? -1 : -2;
    const double freedom = gpumc_jackknife(values, 1, cases[i][0]).freedom;
    assert_false(gpumc_trust_freedom(freedom));
    assert_false(gpumc_trust_samples(freedom, cases[i][0]));
  }
  assert_true(gpumc_trust_samples(7, 8) && !gpumc_trust_freedom(7));
}

static void test_probabilities(void **state)
{
  (void)state;
  assert_true(fabs(gpumc_student_tail(5.408, 7) - 0.001) < 1e-5);
  assert_true(fabs(gpumc_student_tail(-12.706, 1) - 0.05) < 1e-5);
  assert_true(fabs(gpumc_student_tail(3.2905, 1e7) - 0.001) < 1e-5);
  assert_true(fabs(gpumc_fisher_tail(3.787, 7, 7) - 0.05) < 1e-4);
  for (double t = 0.25; t < 10; t *= 2)
    assert_true(fabs(gpumc_fisher_tail(t * t, 1, 31) - gpumc_student_tail(t, 31)) < 1e-12);
  assert_true(gpumc_student_tail(INFINITY, 7) == 0 && gpumc_student_tail(NAN, 7) == 1);
  assert_true(gpumc_fisher_tail(INFINITY, 3, 7) == 0 && gpumc_fisher_tail(NAN, 3, 7) == 1);
  assert_true(gpumc_student_tail(0, 7) == 1 && gpumc_fisher_tail(0, 3, 7) == 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_does_not_fluctuate_is_undetermined),
      cmocka_unit_test(test_rounding_is_that_of_the_arithmetic),
      cmocka_unit_test(test_freedom_of_rare_events),
      cmocka_unit_test(test_events_in_few_deviations),
      cmocka_unit_test(test_probabilities),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
