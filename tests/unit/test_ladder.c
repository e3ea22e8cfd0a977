/* Lists of inverse temperatures: each way to give them, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/simulation/ladder.h"

enum { LEAST = 2, MOST = 10 };

/* Returns the block of an algorithm with these keys, given as JSON. */
static struct gpumc_params params_of(const char *beta)
{
  char json[256];
  snprintf(json, sizeof json, "{\"beta\":{%s}}", beta);
  const struct gpumc_params params = {.values = cJSON_Parse(json)};
  assert_non_null(params.values);
  return params;
}

static void check_list(const char *keys, const double *expected, size_t count)
{
  struct gpumc_params params = params_of(keys);
  double beta[MOST];
  assert_int_equal(gpumc_ladder_count(&params, "beta"), count);
  gpumc_ladder_read(&params, "beta", beta);
  for (size_t i = 0; i < count; i++)
    if (!(fabs(beta[i] - expected[i]) < 1e-14))
      fail_msg("%s: beta[%zu] = %.17g", keys, i, beta[i]);
  cJSON_Delete((cJSON *)params.values);
}

static void test_values(void **state)
{
  (void)state;
  check_list("\"values\":[0.25]", (double[]){0.25}, 1);
  check_list("\"values\":[0, 0.25, 7]", (double[]){0, 0.25, 7}, 3);
}

static void test_steps_end_at_or_before_the_last(void **state)
{
  (void)state;
  check_list("\"from\":0.1,\"to\":0.4,\"step\":0.1", (double[]){0.1, 0.2, 0.3, 0.4}, 4);
  check_list("\"from\":0.1,\"to\":0.39,\"step\":0.1", (double[]){0.1, 0.2, 0.3}, 3);
  check_list("\"from\":0.5,\"to\":0.5,\"step\":1", (double[]){0.5}, 1);
}

static void test_counted_ones_are_geometric_or_linear(void **state)
{
  (void)state;
  const double geometric[] = {0.1, 0.2, 0.4, 0.8, 1.6}, linear[] = {0.0, 0.2, 0.4, 0.6, 0.8};
  check_list("\"from\":0.1,\"to\":1.6,\"count\":5", geometric, 5);
  check_list("\"from\":0.1,\"to\":1.6,\"count\":5,\"spacing\":\"geometric\"", geometric, 5);
  check_list("\"from\":0,\"to\":0.8,\"count\":5,\"spacing\":\"linear\"", linear, 5);
}

static void test_both_ends_are_exact(void **state)
{
  (void)state;
  struct gpumc_params params = params_of("\"from\":0.1,\"to\":0.7,\"count\":7");
  double beta[7];
  gpumc_ladder_read(&params, "beta", beta);
  assert_true(beta[0] == 0.1 && beta[6] == 0.7);
  cJSON_Delete((cJSON *)params.values);
}

/* Checks the first mistake, or "" if there is none. */
static void check_mistake(const char *keys, const char *expected)
{
  struct gpumc_params params = params_of(keys);
  struct gpumc_report report = {0};
  gpumc_ladder_check(&params, "beta", LEAST, MOST, &report);
  const char *found = gpumc_text_string(&report.lines);
  if (expected[0] == '\0' ? report.calls != 0 : strstr(found, expected) == NULL)
    fail_msg("%s: \"%s\" instead of \"%s\"", keys, found, expected);
  gpumc_report_free(&report);
  cJSON_Delete((cJSON *)params.values);
}

static void test_good_ones_have_no_mistakes(void **state)
{
  (void)state;
  check_mistake("\"values\":[0, 0.4]", "");
  check_mistake("\"from\":0,\"to\":0.9,\"step\":0.1", "");
  check_mistake("\"from\":0.1,\"to\":0.9,\"count\":10", "");
  check_mistake("\"from\":0,\"to\":0.9,\"count\":2,\"spacing\":\"linear\"", "");
}

static void test_mistakes(void **state)
{
  (void)state;
  check_mistake("\"from\":0.1,\"values\":[0.2, 0.3]", "leave out beta.from and beta.to");
  check_mistake("\"spacing\":\"linear\",\"values\":[0.2, 0.3]", "leave out beta.spacing");
  check_mistake("\"from\":0.1,\"step\":0.1", "beta.step needs both beta.from and beta.to");
  check_mistake("\"to\":0.1,\"count\":3", "beta.count needs both beta.from and beta.to");
  check_mistake("\"from\":0.5,\"to\":0.4,\"step\":0.1",
                "beta.from = 0.5 must not exceed beta.to = 0.4");
  check_mistake("\"from\":0.5,\"to\":0.5,\"count\":3",
                "beta.from = 0.5 must be below beta.to = 0.5");
  check_mistake("\"from\":0,\"to\":1,\"step\":0.1", "more than 10 inverse temperatures");
  check_mistake("\"from\":0,\"to\":1e6,\"step\":1e-300", "more than 10 inverse temperatures");
  check_mistake("\"from\":0.1,\"to\":0.4,\"step\":0.4",
                "beta.step gives 1 inverse temperature, and at least 2 are needed");
  check_mistake("\"from\":0,\"to\":1,\"step\":0.5,\"spacing\":\"linear\"",
                "leave out beta.spacing, or use beta.count");
  check_mistake("\"from\":0,\"to\":1,\"count\":3", "in a constant ratio cannot begin at");
}

static void test_neighbours_that_are_too_close(void **state)
{
  (void)state;
  check_mistake("\"from\":1e5,\"to\":100000.00000000003,\"step\":1e-11", "are not all different");
  check_mistake("\"from\":0.5,\"to\":0.5000000000000001,\"count\":5", "are not all different");
  check_mistake("\"from\":3e-308,\"to\":1e6,\"count\":10", "are not all different, finite numbers");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_values),
      cmocka_unit_test(test_steps_end_at_or_before_the_last),
      cmocka_unit_test(test_counted_ones_are_geometric_or_linear),
      cmocka_unit_test(test_both_ends_are_exact),
      cmocka_unit_test(test_good_ones_have_no_mistakes),
      cmocka_unit_test(test_mistakes),
      cmocka_unit_test(test_neighbours_that_are_too_close),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
