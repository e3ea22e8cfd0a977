/* Keys set from the command line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/language_fixture.h"

static void test_overrides(void **state)
{
  struct gpumc_config config;
  static const char *const assignments[] = {"seed=11",
                                            "algorithm.beta.to=2.5",
                                            "seed=",
                                            "rng=philox4x32-7",
                                            "model.shape=[4, 4]",
                                            "campaign.model.J=[1, 2]",
                                            "output={model.J}.h5"};
  (void)state;
  static const char *const used[] = {"seed=11",
                                     "algorithm.beta.to=2.5",
                                     "rng=philox4x32-7",
                                     "model.shape=[4, 4]",
                                     "campaign.model.J=[1, 2]",
                                     "output='{model.J}.h5'"};
  language_accept_set(GOOD, used, 6, &config);
  assert_int_equal(config.n_tasks, 2);
  assert_string_equal(config.tasks[1].output, "2.h5");
  struct gpumc_params root = gpumc_task_params(&config.tasks[1], "");
  assert_int_equal(gpumc_params_integer(&root, "seed"), 11);
  assert_true(gpumc_params_real(&root, "algorithm.beta.to") == 2.5);
  assert_string_equal(gpumc_params_string(&root, "rng"), "philox4x32-7");
  gpumc_config_free(&config);
  language_refuse_set(
      GOOD, assignments, 7,
      "--set output={model.J}.h5:1:17: not valid YAML: there is text after the end of "
      "the value; put text with braces or brackets in quotes\n"
      "--set seed=:1:6: seed: expected an integer from 0 to 281474976710655, found "
      "empty text");
}

static void refuse_set(const char *text, const char *assignment, const char *message)
{
  language_refuse_set(text, &assignment, 1, message);
}

static void test_overrides_with_empty_text(void **state)
{
  static const char *const assignments[] = {"title=", "title=\"\""};
  (void)state;
  for (size_t i = 0; i < 2; i++) {
    struct gpumc_config config;
    language_accept_set(GOOD "title: words\n", &assignments[i], 1, &config);
    struct gpumc_params root = gpumc_task_params(&config.tasks[0], "");
    assert_string_equal(gpumc_params_string(&root, "title"), "");
    gpumc_config_free(&config);
  }
  refuse_set(GOOD, "output=", "--set output=:1:8: output must not be empty");
  refuse_set(GOOD, "algorithm.window=",
             "--set algorithm.window=:1:18: algorithm.window: expected a block of keys, found "
             "empty text");
}

static void test_overrides_that_remove(void **state)
{
  struct gpumc_config config;
  (void)state;
  static const char *const assignments[] = {
      "algorithm.window=null", "algorithm.beta.step=~", "algorithm.beta.overlap=0.5",
      "title= null ",          "campaign.seed=null",    "campaign.model.J=null",
      "kernel.isa=null",       "checkpoint=null"};
  language_accept_set("gpumc: 1\noutput: '{seed}.h5'\ntitle: words\n" MODEL
                      "algorithm:\n  name: anneal\n  population: 10\n  beta: {to: 1, step: 0.1}\n"
                      "  window: {from: 1, to: 2}\n  offset: 3\nseed: 4\n"
                      "campaign: {model.J: [1, 2], seed: [1, 2], algorithm.population: [2]}\n",
                      assignments, sizeof assignments / sizeof *assignments, &config);
  assert_int_equal(config.n_tasks, 1);
  struct gpumc_params root = gpumc_task_params(&config.tasks[0], "");
  assert_false(gpumc_params_has(&root, "algorithm.window"));
  assert_false(gpumc_params_has(&root, "algorithm.beta.step"));
  assert_true(gpumc_params_real(&root, "algorithm.beta.overlap") == 0.5);
  assert_int_equal(gpumc_params_integer(&root, "algorithm.offset"), 3);
  assert_int_equal(gpumc_params_integer(&root, "seed"), 4);
  assert_string_equal(gpumc_params_string(&root, "title"), "");
  assert_string_equal(config.tasks[0].label, "algorithm.population=2");
  gpumc_config_free(&config);
}

static void test_overrides_that_remove_errors(void **state)
{
  (void)state;
  refuse_set(GOOD, "seed=null", "c.yaml:1:1: missing key 'seed'");
  refuse_set(GOOD, "algorithm.popultion=null",
             "--set algorithm.popultion=null:1:1: unknown key 'algorithm.popultion'; did you mean "
             "'algorithm.population'?");
  refuse_set(GOOD, "campaign.modle.J=~",
             "--set campaign.modle.J=~:1:1: unknown key 'campaign.modle.J'; did you mean "
             "'campaign.model.J'?");
  refuse_set(GOOD, "frobnicate=null", "--set frobnicate=null:1:1: unknown key 'frobnicate'");
  refuse_set(GOOD, "a..b=null",
             "--set a..b=null:1:1: expected KEY=VALUE, such as seed=7");
  refuse_set(GOOD, "model.shape=nil",
             "--set model.shape=nil:1:13: model.shape: expected a list of 1 to 3 values, each an "
             "integer from 2 to 1024, a multiple of 2, found text 'nil'");
}

static void test_overrides_errors(void **state)
{
  static const struct {
    const char *assignment, *message;
  } cases[] = {
      {"seed", "--set seed:1:1: expected KEY=VALUE, such as seed=7"},
      {"a..b=1", "--set a..b=1:1:1: expected KEY=VALUE, such as seed=7"},
      {"=1", "--set =1:1:1: expected KEY=VALUE, such as seed=7"},
      {"seed=x", "--set seed=x:1:6: seed: expected an integer from 0 to 281474976710655, found "
                 "text 'x'"},
      {"algorithm.popu=3", "--set algorithm.popu=3:1:1: unknown key 'popu' in algorithm; known "
                           "keys: name, population, offset, flavour, beta, window, pause, memory, "
                           "where, note"},
      {"seed.x=3", "--set seed.x=3:1:1: 'seed.x' cannot be set: a key in its path is not a block"},
      {"model.J=4", "--set model.J=4:1:1: 'model.J' is varied by the campaign; set "
                    "'campaign.model.J' to a list instead"}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    refuse_set(GOOD "campaign: {model.J: [1]}\n", cases[i].assignment, cases[i].message);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_overrides),
      cmocka_unit_test(test_overrides_with_empty_text),
      cmocka_unit_test(test_overrides_that_remove),
      cmocka_unit_test(test_overrides_that_remove_errors),
      cmocka_unit_test(test_overrides_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
