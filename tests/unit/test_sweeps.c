/* How a spin is updated: what kernels and temperatures allow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/sweeps.h"

static const struct gpumc_model_ops two_states = {.name = "two", .traits = GPUMC_TRAIT_TWO_STATES};
static const struct gpumc_model_ops three_states = {.name = "three", .traits = GPUMC_TRAIT_LATTICE};

static size_t mistakes(const char *block, const struct gpumc_model_ops *model)
{
  struct gpumc_report report = {0};
  const struct gpumc_params params = {.values = cJSON_Parse(block)};
  assert_non_null(params.values);
  gpumc_update_check_temperatures(&params, model, &report);
  const size_t count = report.calls;
  gpumc_report_free(&report);
  cJSON_Delete((cJSON *)params.values);
  return count;
}

static void test_metropolis_at_infinite_temperature(void **state)
{
  (void)state;
  static const char values[] = "{\"update\":\"metropolis\",\"beta\":{\"values\":[0, 1]}}";
  static const char range[] = "{\"update\":\"metropolis\",\"beta\":{\"from\":0,\"to\":1}}";
  static const char bath[] = "{\"update\":\"heat_bath\",\"beta\":{\"values\":[0, 1]}}";
  static const char finite[] = "{\"update\":\"metropolis\",\"beta\":{\"values\":[0.1, 1]}}";
  assert_int_equal(mistakes(values, &two_states), 1);
  assert_int_equal(mistakes(range, &two_states), 1);
  assert_int_equal(mistakes(bath, &two_states), 0);
  assert_int_equal(mistakes(finite, &two_states), 0);
  assert_int_equal(mistakes(values, &three_states), 0);
  assert_int_equal(mistakes(range, &three_states), 0);
}

static void test_kernels_without_heat_bath(void **state)
{
  (void)state;
  const struct gpumc_kernel_ops without = {.device = "cpu", .variant = "plain"};
  const struct gpumc_kernel_ops with = {.capabilities = GPUMC_CAN_HEAT_BATH};
  struct gpumc_error error = {0};
  assert_int_equal(gpumc_update_check(GPUMC_METROPOLIS, &without, "three", &error), GPUMC_OK);
  assert_int_equal(gpumc_update_check(GPUMC_HEAT_BATH, &with, "three", &error), GPUMC_OK);
  assert_int_equal(gpumc_update_check(GPUMC_HEAT_BATH, &without, "three", &error), GPUMC_INVALID);
  assert_string_equal(gpumc_error_text(&error),
                      "kernel plain of model three on cpu has no heat-bath updates; use "
                      "algorithm.update: metropolis, or another kernel.variant");
  gpumc_error_free(&error);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_metropolis_at_infinite_temperature),
      cmocka_unit_test(test_kernels_without_heat_bath),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
