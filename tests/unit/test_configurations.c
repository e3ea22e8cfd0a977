/* Configurations: when and of which temperatures they are asked for, and what they take. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "core/configurations.h"

static struct gpumc_params params_of(const char *json)
{
  const struct gpumc_params params = {.values = cJSON_Parse(json)};
  assert_non_null(params.values);
  return params;
}

static void
read_request(const char *json, size_t temperatures, struct gpumc_configurations_request *request)
{
  struct gpumc_error error = {0};
  const struct gpumc_params params = params_of(json);
  if (gpumc_configurations_read(&params, temperatures, request, &error) != GPUMC_OK)
    fail_msg("%s", gpumc_error_text(&error));
  cJSON_Delete((cJSON *)params.values);
}

static void check_times(const char *json, uint32_t sweep, size_t expected)
{
  struct gpumc_configurations_request request;
  read_request(json, 3, &request);
  assert_int_equal(gpumc_configurations_asked(&request), strcmp(json, "{}") != 0);
  assert_int_equal(gpumc_configurations_until(&request, sweep), expected);
  gpumc_configurations_request_free(&request);
}

static void test_times(void **state)
{
  (void)state;
  check_times("{}", 1000, 0);
  check_times("{\"configurations\":{\"every\":10}}", 0, 0);
  check_times("{\"configurations\":{\"every\":10}}", 9, 0);
  check_times("{\"configurations\":{\"every\":10}}", 10, 1);
  check_times("{\"configurations\":{\"every\":10}}", 1000, 100);
  check_times("{\"configurations\":{\"times\":[1, 10, 100]}}", 0, 0);
  check_times("{\"configurations\":{\"times\":[1, 10, 100]}}", 1, 1);
  check_times("{\"configurations\":{\"times\":[1, 10, 100]}}", 9, 1);
  check_times("{\"configurations\":{\"times\":[1, 10, 100]}}", 10, 2);
  check_times("{\"configurations\":{\"times\":[1, 10, 100]}}", 99, 2);
  check_times("{\"configurations\":{\"times\":[1, 10, 100]}}", 100, 3);
  check_times("{\"configurations\":{\"times\":[1, 10, 100]}}", 4000000000u, 3);
}

static void check_temperatures(const char *json, size_t count, const size_t *expected)
{
  struct gpumc_configurations_request request;
  read_request(json, 3, &request);
  assert_int_equal(request.n_temperatures, count);
  for (size_t i = 0; i < count; i++)
    assert_int_equal(request.temperature[i], expected[i]);
  gpumc_configurations_request_free(&request);
}

static void test_temperatures(void **state)
{
  (void)state;
  check_temperatures("{}", 0, NULL);
  check_temperatures("{\"configurations\":{\"every\":10}}", 3, (const size_t[]){0, 1, 2});
  check_temperatures("{\"configurations\":{\"every\":10,\"temperatures\":[0, 2]}}", 2,
                     (const size_t[]){0, 2});
}

/* Replicas of many bytes go one by one, small ones in blocks, and few of them in a smaller one. */
static void test_memory(void **state)
{
  const double mebi = 0x1p20;
  struct gpumc_model model = {.portable_bytes = 1 << 20};
  (void)state;
  assert_float_equal(gpumc_configurations_host_bytes(&model, 1), 4 * mebi, 0);
  assert_float_equal(gpumc_configurations_host_bytes(&model, 3), 7 * mebi, 0);
  assert_float_equal(gpumc_configurations_host_bytes(&model, 1e9), 20 * mebi, 0);
  model.portable_bytes = (size_t)1 << 30;
  assert_float_equal(gpumc_configurations_host_bytes(&model, 1e9), 4096 * mebi, 0);
  model.portable_bytes = 8;
  assert_float_equal(gpumc_configurations_file_bytes(&model, 4, 1e9), 48e9, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_times),
      cmocka_unit_test(test_temperatures),
      cmocka_unit_test(test_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
