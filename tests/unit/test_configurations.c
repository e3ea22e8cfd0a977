/* Configurations: when and at which temperatures they are requested, and what they take. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "core/simulation/configurations.h"

static struct gpumc_params params_of(const char *json)
{
  const struct gpumc_params params = {.values = cJSON_Parse(json)};
  assert_non_null(params.values);
  return params;
}

static void read_request(const char *json, enum gpumc_configurations_list list, size_t temperatures,
                         struct gpumc_configurations_request *request)
{
  struct gpumc_error error = {0};
  const struct gpumc_params params = params_of(json);
  if (gpumc_configurations_request_read(&params, list, temperatures, request, &error) != GPUMC_OK)
    fail_msg("%s", gpumc_error_text(&error));
  cJSON_Delete((cJSON *)params.values);
}

static void check_times(const char *json, uint32_t sweep, size_t expected)
{
  struct gpumc_configurations_request request;
  read_request(json, GPUMC_CONFIGURATIONS_TIMES, 3, &request);
  assert_int_equal(gpumc_configurations_request_any(&request), strcmp(json, "{}") != 0);
  assert_int_equal(gpumc_configurations_request_until(&request, sweep), expected);
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

static void check_betas(const char *json, uint32_t step, double beta, size_t expected)
{
  struct gpumc_configurations_request request;
  read_request(json, GPUMC_CONFIGURATIONS_BETAS, 0, &request);
  assert_int_equal(request.n_temperatures, 0);
  assert_int_equal(gpumc_configurations_request_passed(&request, step, beta), expected);
  gpumc_configurations_request_free(&request);
}

/* Inverse temperatures match except for their last digits. */
static void test_betas(void **state)
{
  (void)state;
  check_betas("{\"configurations\":{\"every\":3}}", 2, 0.5, 0);
  check_betas("{\"configurations\":{\"every\":3}}", 7, 0.5, 2);
  check_betas("{\"configurations\":{\"betas\":[0, 0.3, 0.5]}}", 0, 0, 1);
  check_betas("{\"configurations\":{\"betas\":[0, 0.3, 0.5]}}", 9, 0.3 - 1e-10, 2);
  check_betas("{\"configurations\":{\"betas\":[0, 0.3, 0.5]}}", 9, 0.3 - 1e-9, 1);
  check_betas("{\"configurations\":{\"betas\":[0, 0.3, 0.5]}}", 9, 0.7, 3);
}

static void check_temperatures(const char *json, size_t count, const size_t *expected)
{
  struct gpumc_configurations_request request;
  read_request(json, GPUMC_CONFIGURATIONS_TIMES, 3, &request);
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

static void
check_demand(size_t replica_bytes, double rows, double replicas, double result, double host)
{
  const struct gpumc_model model = {.portable_bytes = replica_bytes};
  struct gpumc_demand demanded = {.host_bytes = 1000};
  gpumc_configurations_demand(&model, 4, rows, replicas, &demanded);
  assert_float_equal(demanded.configuration_bytes, result, 0);
  assert_float_equal((double)demanded.host_bytes - 1000, host, 0);
}

/* Replicas of many bytes go one by one, small ones in blocks, and a few small ones in a smaller
 * block. Rows have 40 bytes of labels. Up to 16 MiB of them wait, or all of them, and three, or as
 * many as make up 1 MiB each, are in transfer. */
static void test_memory(void **state)
{
  const double mebi = 0x1p20, row = mebi + 40;
  (void)state;
  check_demand(1 << 20, 100, 1, 100 * row, (1 + 16 + 3) * row);
  check_demand(1 << 20, 100, 3, 100 * row, (1 + 16 + 3) * row + 3 * mebi);
  check_demand(1 << 20, 100, 1e9, 100 * row, (1 + 16 + 3) * row + 16 * mebi);
  check_demand(1 << 20, 2, 1, 2 * row, (1 + 2 + 3) * row);
  check_demand((size_t)1 << 30, 100, 1e9, 100 * (1024 * mebi + 40), 5 * (1024 * mebi + 40));
  check_demand(88, 0x1p30, 1, 0x1p37, 128 + 16 * mebi + 3 * mebi);
  check_demand(88, 10, 10, 1280, 128 + 880 + 4 * 1280);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_times),
      cmocka_unit_test(test_betas),
      cmocka_unit_test(test_temperatures),
      cmocka_unit_test(test_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
