/* How a spin is updated: what that asks of kernels and temperatures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/simulation/sweeps.h"

static const struct gpumc_model_ops two_states = {.name = "two", .traits = GPUMC_TRAIT_TWO_STATES};
static const struct gpumc_model_ops three_states = {.name = "three", .traits = GPUMC_TRAIT_LATTICE};

static size_t mistakes(const char *block, const struct gpumc_model_ops *model)
{
  struct gpumc_report report = {0};
  const struct gpumc_params params = {.values = cJSON_Parse(block)};
  assert_non_null(params.values);
  const struct gpumc_subject subject = {.model = model};
  gpumc_update_check_temperatures(&params, &subject, &report);
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

static uint32_t further(const char *block, const char **remedy)
{
  const struct gpumc_params params = {.values = cJSON_Parse(block)};
  assert_non_null(params.values);
  const uint32_t capabilities = gpumc_update_further(&params, remedy);
  cJSON_Delete((cJSON *)params.values);
  return capabilities;
}

static void test_capabilities_of_updates(void **state)
{
  (void)state;
  const char *remedy = NULL;
  assert_int_equal(further("{\"update\":\"metropolis\"}", &remedy), 0);
  assert_null(remedy);
  assert_int_equal(further("{\"update\":\"heat_bath\"}", &remedy), GPUMC_CAN_HEAT_BATH);
  assert_string_equal(remedy, "use algorithm.update: metropolis");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_metropolis_at_infinite_temperature),
      cmocka_unit_test(test_capabilities_of_updates),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
