/* Moves as keys name them: which of a kernel's moves are meant, in which turns, and what is refused
 * at beta = 0. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/base/text.h"
#include "core/simulation/shared_keys.h"

static const struct gpumc_move moves[] = {
    {.name = "metropolis", .at_zero = "at beta = 0 nothing changes"}, {.name = "heat_bath"}};
static const struct gpumc_kernel_ops one = {.moves = moves + 1, .n_moves = 1},
                                     both = {.moves = moves, .n_moves = 2}, none = {0};
static const struct gpumc_kernel_ops *const kernels[] = {&none, &one, &both, NULL};
static const struct gpumc_kernel_ops *const few[] = {&none, &one, NULL};
static const struct gpumc_model_ops model = {.name = "model", .kernels = kernels};
static const struct gpumc_model_ops other = {.name = "other", .kernels = few};

static size_t mistakes(const char *block, const struct gpumc_model_ops *of)
{
  struct gpumc_report report = {0};
  const struct gpumc_params params = {.values = cJSON_Parse(block)};
  assert_non_null(params.values);
  const struct gpumc_subject subject = {.model = of};
  gpumc_update_check_temperatures(&params, &subject, &report);
  const size_t count = report.calls;
  gpumc_report_free(&report);
  cJSON_Delete((cJSON *)params.values);
  return count;
}

static void test_moves_at_infinite_temperature(void **state)
{
  (void)state;
  static const char values[] = "{\"update\":\"metropolis\",\"beta\":{\"values\":[0, 1]}}";
  static const char range[] = "{\"update\":\"metropolis\",\"beta\":{\"from\":0,\"to\":1}}";
  static const char bath[] = "{\"update\":\"heat_bath\",\"beta\":{\"values\":[0, 1]}}";
  static const char finite[] = "{\"update\":\"metropolis\",\"beta\":{\"values\":[0.1, 1]}}";
  assert_int_equal(mistakes(values, &model), 1);
  assert_int_equal(mistakes(range, &model), 1);
  assert_int_equal(mistakes(bath, &model), 0);
  assert_int_equal(mistakes(finite, &model), 0);
  assert_int_equal(mistakes(values, &other), 0);
  assert_int_equal(mistakes(range, &other), 0);
}

/* One that is useful there is enough. */
static void test_turns_at_infinite_temperature(void **state)
{
  (void)state;
  static const char some[] =
      "{\"update\":[{\"metropolis\":5},{\"heat_bath\":1}],\"beta\":{\"values\":[0, 1]}}";
  static const char weak[] =
      "{\"update\":[{\"metropolis\":5},{\"metropolis\":1}],\"beta\":{\"values\":[0, 1]}}";
  assert_int_equal(mistakes(some, &model), 0);
  assert_int_equal(mistakes(weak, &model), 1);
}

static void test_moves_by_name(void **state)
{
  (void)state;
  assert_ptr_equal(gpumc_kernel_move(&both, "metropolis", GPUMC_BOLTZMANN), &moves[0]);
  assert_ptr_equal(gpumc_kernel_move(&both, "heat_bath", GPUMC_BOLTZMANN), &moves[1]);
  assert_ptr_equal(gpumc_kernel_move(&both, NULL, GPUMC_BOLTZMANN), &moves[0]);
  assert_ptr_equal(gpumc_kernel_move(&one, NULL, GPUMC_BOLTZMANN), &moves[1]);
  assert_null(gpumc_kernel_move(&one, "metropolis", GPUMC_BOLTZMANN));
  assert_null(gpumc_kernel_move(&none, NULL, GPUMC_BOLTZMANN));
}

/* Reads a block, and compares the plan with one kernel that has both moves. */
static void check_block(const char *block, const char *text, uint32_t move, size_t n_turns)
{
  const struct gpumc_params params = {.values = cJSON_Parse(block)};
  struct gpumc_ensemble_plan plan = {0};
  struct gpumc_text words = {0};
  assert_non_null(params.values);
  const struct gpumc_update update = gpumc_update_of(&params);
  gpumc_update_plan(&update, &both, GPUMC_BOLTZMANN, &plan);
  assert_int_equal(plan.move, move);
  assert_int_equal(plan.n_turns, n_turns);
  for (size_t t = 0; t < n_turns; t++) {
    assert_int_equal(plan.turn[t].sweeps, update.turn[t].sweeps);
    assert_ptr_equal(gpumc_kernel_move(&both, update.turn[t].move, GPUMC_BOLTZMANN),
                     &moves[plan.turn[t].move]);
  }
  if (text == NULL) {
    assert_int_equal(update.count, 1);
    assert_null(update.turn[0].move);
  } else {
    gpumc_update_append(&update, &words);
    assert_string_equal(gpumc_text_string(&words), text);
    gpumc_text_free(&words);
  }
  cJSON_Delete((cJSON *)params.values);
}

static void test_blocks_with_and_without_the_key(void **state)
{
  (void)state;
  check_block("{\"sweeps\":1}", NULL, 0, 0);
  check_block("{\"update\":\"heat_bath\"}", "heat_bath", 1, 0);
  check_block("{\"update\":[{\"heat_bath\":3},{\"metropolis\":1}]}",
              "[{heat_bath: 3}, {metropolis: 1}]", 1, 2);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_moves_at_infinite_temperature),
      cmocka_unit_test(test_turns_at_infinite_temperature),
      cmocka_unit_test(test_moves_by_name),
      cmocka_unit_test(test_blocks_with_and_without_the_key),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
