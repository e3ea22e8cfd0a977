/* Averages over samples of the disorder: when they are too few for an error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "core/simulation/algorithm.h"

enum { CHANNEL_ENERGY, CHANNEL_ORDER, SAMPLES = 16 };

static const struct gpumc_channel channels[] = {{.label = {"energy", "energy", "1", "e"}},
                                                {.label = {"order", "order", "1", "m"}}};
static const struct gpumc_mean means[] = {
    {.label = {"energy", "energy", "1", "e"}, .index = CHANNEL_ENERGY, .power = 1},
    {.label = {"order4", "fourth power of the order", "1", "m4"},
     .index = CHANNEL_ORDER,
     .power = 4}};
static const struct gpumc_model_ops ops = {.name = "model",
                                           .tracked = CHANNEL_ENERGY,
                                           .channels = channels,
                                           .n_channels = 2,
                                           .means = means,
                                           .n_means = 2};
static const struct gpumc_observables observables = {
    .n_channels = 2, .n_means = 2, .mean = {&means[0], &means[1]}};

/* Looks at samples whose energies are -1 and -1.1 in turn but for the first, and whose order is a
 * constant but for the last. */
static struct gpumc_few_samples look(bool disorder, double first, double order, double last)
{
  const struct gpumc_model model = {.ops = &ops, .disorder = disorder};
  double averages[SAMPLES][2];
  struct gpumc_few_samples few = {0};
  for (size_t s = 0; s < SAMPLES; s++) {
    averages[s][0] = s % 2 == 0 ? -1 : -1.1;
    averages[s][1] = order * (s % 2 == 0 ? 1 : 1.1);
  }
  averages[0][0] = first;
  averages[SAMPLES - 1][1] = last;
  gpumc_few_samples_look(&few, &model, &observables, averages[0], SAMPLES, 2, 0.5);
  return few;
}

static void test_an_average_that_one_sample_carries(void **state)
{
  char text[GPUMC_FEW_SAMPLES_BYTES];
  const struct gpumc_few_samples few = look(true, -1, 0.01, 1);
  (void)state;
  assert_int_equal(few.count, 1);
  assert_int_equal(few.of, 1);
  assert_string_equal(few.label.name, "order4");
  assert_true(few.freedom < 5);
  gpumc_few_samples_explain(&few, "beta", text);
  assert_non_null(strstr(text, "16 samples are too few for errors at 1 of 1 temperatures"));
  assert_non_null(strstr(text, "the fourth power of the order at beta = 0.5"));
  /* Of as many values that may be negative, or of samples alike, nothing is known that way. */
  assert_int_equal(look(true, -1, 0.01, -1).count, 0);
  assert_int_equal(look(true, -1, 1, 1).count, 0);
  assert_int_equal(look(false, -1, 0.01, 1).count, 0);
}

/* 2 (mean/error)^2 of values of which one in n differs, against the sum written out. */
static void test_its_degrees_of_freedom(void **state)
{
  const struct gpumc_model model = {.ops = &ops, .disorder = true};
  const double averages[] = {0, 1, 0, 2, 0, 1, 0, 4};
  struct gpumc_few_samples few = {0};
  (void)state;
  gpumc_few_samples_look(&few, &model, &observables, averages, 4, 2, 0.5);
  /* Mean 2, sum of squares 6, square of the error 6/(4 3): 16 degrees of freedom. */
  assert_int_equal(few.count, 0);
  const double wider[] = {0, 0.5, 0, 2, 0, 1, 0, 4.5};
  gpumc_few_samples_look(&few, &model, &observables, wider, 4, 2, 0.25);
  /* 2.25 + 0 + 1 + 6.25 */
  assert_int_equal(few.count, 1);
  assert_int_equal(few.of, 2);
  assert_true(fabs(few.freedom - 2 * 4 * 12 / 9.5) < 1e-12);
  assert_true(few.value == 0.25);
}

/* One sample far from all others: of the tracked channel, and where signs differ. */
static void test_a_rare_sample_of_the_tracked_channel(void **state)
{
  const struct gpumc_few_samples few = look(true, 40, 1, 1);
  (void)state;
  assert_int_equal(few.count, 1);
  assert_string_equal(few.label.name, "energy");
  assert_int_equal(look(true, -1.05, 1, 1).count, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_an_average_that_one_sample_carries),
                                     cmocka_unit_test(test_its_degrees_of_freedom),
                                     cmocka_unit_test(test_a_rare_sample_of_the_tracked_channel)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
