/* Checks of keys against each other: they run only if what they read has no mistake, and can read
 * nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/config/params.h"
#include "support/fake_plugins.h"
#include "support/language_fixture.h"

static const struct gpumc_key inner_keys[] = {
    {.name = "from", .type = GPUMC_KEY_INTEGER, .default_text = "1"},
    {.name = "to", .type = GPUMC_KEY_INTEGER, .default_text = "2"},
    {0}};
static const struct gpumc_key keys[] = {
    {.name = "sweeps", .type = GPUMC_KEY_INTEGER, .minimum = 1, .maximum = 100, .required = true},
    {.name = "sweeper", .type = GPUMC_KEY_INTEGER, .default_text = "5"},
    {.name = "inner", .type = GPUMC_KEY_MAPPING, .children = inner_keys},
    {0}};

static struct {
  int sweeps, inner, both;
} ran;

static void run_sweeps(const struct gpumc_params *params, const struct gpumc_subject *subject,
                       struct gpumc_report *report)
{
  (void)subject;
  ran.sweeps++;
  if (gpumc_params_integer(params, "sweeps") == 13)
    gpumc_params_mistake(params, report, "sweeps", "13 is refused");
}

static void run_inner(const struct gpumc_params *params, const struct gpumc_subject *subject,
                      struct gpumc_report *report)
{
  (void)subject;
  (void)report;
  ran.inner++;
  assert_true(gpumc_params_has(params, "inner"));
  assert_true(gpumc_params_integer(params, "inner.from") < 100);
}

static void run_both(const struct gpumc_params *params, const struct gpumc_subject *subject,
                     struct gpumc_report *report)
{
  (void)subject;
  (void)report;
  ran.both += (int)(100 / gpumc_params_integer(params, "sweeps"));
}

static const struct gpumc_check checks[] = {{.reads = "sweeps", .run = run_sweeps},
                                            {.reads = "inner", .run = run_inner},
                                            {.reads = "inner.to sweeps", .run = run_both},
                                            {0}};

/* Runs the checks on a block of a configuration. */
static void run(const char *text)
{
  struct gpumc_document document;
  struct gpumc_report report = {0};
  struct gpumc_error error = {0};
  const struct gpumc_subject subject = {0};
  memset(&ran, 0, sizeof ran);
  assert_int_equal(gpumc_document_parse("c", text, strlen(text), &document, &report, &error),
                   GPUMC_OK);
  cJSON *values = gpumc_params_resolve(keys, document.root, document.root->mark, "block", &report);
  const struct gpumc_params params = {
      .values = values, .node = document.root, .block = "block", .reads = ""};
  gpumc_checks_run(checks, GPUMC_NEEDS_KEYS, &params, &subject, &report);
  cJSON_Delete(values);
  gpumc_report_free(&report);
  gpumc_document_free(&document);
}

static void assert_ran(int sweeps, int inner, int both)
{
  assert_int_equal(ran.sweeps, sweeps);
  assert_int_equal(ran.inner, inner);
  assert_int_equal(ran.both, both);
}

static void test_checks_run_on_clean_keys(void **state)
{
  (void)state;
  run("{sweeps: 5}");
  assert_ran(1, 1, 20);
  run("{sweeps: 5, sweeper: x}"); /* a longer name with the same start */
  assert_ran(1, 1, 20);
}

static void test_checks_do_not_run_on_mistakes(void **state)
{
  (void)state;
  static const char *const wrong[] = {"{sweeps: 0}", "{sweeps: two}", "{sweeps: [1]}", "{}",
                                      "{swep: 3}"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    run(wrong[i]);
    assert_ran(0, 1, 0);
  }
  run("{sweeps: 5, inner: {from: x}}"); /* its sibling is clean */
  assert_ran(1, 0, 20);
  run("{sweeps: 5, inner: {to: x}}");
  assert_ran(1, 0, 0);
  run("{sweeps: 5, inner: 3}");
  assert_ran(1, 0, 0);
}

static void test_refused_keys_are_not_read_later(void **state)
{
  (void)state;
  run("{sweeps: 13}");
  assert_ran(1, 1, 0);
}

/* Returns whether the key can be read through a view of the keys in `reads`. */
static bool can_read(const char *reads, const char *key)
{
  cJSON *values = cJSON_Parse("{\"a\":1,\"ab\":1,\"b\":{\"c\":1}}");
  struct gpumc_report report = {0};
  const struct gpumc_params params = {
      .values = values, .block = "block", .reads = reads, .report = &report};
#ifdef NDEBUG
  const bool has = gpumc_params_has(&params, key);
  assert_int_equal(report.calls, has ? 0 : 1);
  assert_int_equal(report.fault.length > 0, !has);
  gpumc_report_free(&report);
#else
  int status;
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0)
    _exit(gpumc_params_has(&params, key) ? 0 : 1);
  assert_int_equal(waitpid(child, &status, 0), child);
  const bool has = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  assert_true(has || (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT));
#endif
  cJSON_Delete(values);
  return has;
}

static void test_undeclared_keys_cannot_be_read(void **state)
{
  (void)state;
  assert_true(can_read(NULL, "b.c"));
  assert_true(can_read("a b", "a"));
  assert_true(can_read("a b", "b.c"));
  assert_true(can_read("  b.c", "b.c"));
  assert_false(can_read("", "a"));
  assert_false(can_read("b.c", "b"));
  assert_false(can_read("a b", "ab"));
  assert_false(can_read("ab", "a"));
}

#ifdef NDEBUG
static void check_blindly(const struct gpumc_params *params, const struct gpumc_subject *subject,
                          struct gpumc_report *report)
{
  (void)subject;
  if (gpumc_params_integer(params, "offset") != 5)
    return;
  struct gpumc_list list = gpumc_params_list(params, "shape");
  assert_int_equal(gpumc_list_integer(&list) + gpumc_list_integer(&list), 2);
  assert_false(gpumc_params_has(params, "note"));
  assert_false(gpumc_params_boolean(params, "note"));
  assert_string_equal(gpumc_params_string(params, "where"), "");
  if (gpumc_params_real(params, "beta.to") + (double)gpumc_params_integer(params, "population") ==
      2)
    gpumc_params_mistake(params, report, "offset", "a mistake that is none");
}

/* The only sign of a check under an "if" that no test has reached. */
static void test_an_undeclared_key_is_an_internal_error(void **state)
{
  const struct gpumc_check blind_checks[] = {{.reads = "offset", .run = check_blindly}, {0}};
  struct gpumc_algorithm_ops blind = fake_anneal;
  blind.checks = blind_checks;
  const struct gpumc_model_ops *const models[] = {&fake_chain, NULL};
  const struct gpumc_algorithm_ops *const algorithms[] = {&blind, NULL};
  const struct gpumc_plugins plugins = {.models = models, .algorithms = algorithms};
  const char *text = HEAD MODEL
      "algorithm: {name: anneal, population: 100, offset: 5, beta: {to: 1.0, step: 0.1}}\n";
  struct gpumc_config config;
  struct gpumc_error error = {0};
  (void)state;
  assert_int_equal(
      gpumc_config_parse_with(&plugins, "c.yaml", text, strlen(text), NULL, 0, &config, &error),
      GPUMC_FAILURE);
  assert_string_equal(gpumc_error_text(&error),
                      "a check of 'algorithm' reads the key 'shape', which it does not declare: a "
                      "bug in gpumc or a plugin, not in the configuration; please report it to its "
                      "author");
  assert_null(config.tasks);
  gpumc_error_free(&error);
  gpumc_config_free(&config);
}
#endif

/* Checks read the same values in a task with a mistake elsewhere as in the task without it. */
static void test_a_mistake_in_one_task_of_a_campaign_is_not_that_of_the_next(void **state)
{
  (void)state;
  language_refuse("gpumc: 1\nseed: 1\noutput: '{model.shape}.h5'\nmodel: {name: chain}\n"
                  "algorithm: {name: anneal, population: 2, beta: {to: 1, step: 0.1}}\n"
                  "campaign: {model.shape: [[x], [1024, 8]]}\n",
                  "c.yaml:6:27: model.shape: expected an integer from 2 to 1024, a multiple of 2, "
                  "found text 'x'\n"
                  "c.yaml:6:31: 8192 sites are too many for a test");
}

static void test_divisors(void **state)
{
  (void)state;
  assert_int_equal(gpumc_divisor_up_to(8192, 10), 8);
  assert_int_equal(gpumc_divisor_up_to(100, 10), 10);
  assert_int_equal(gpumc_divisor_up_to(7, 10), 7);
  assert_int_equal(gpumc_divisor_up_to(9007199254740881, 10), 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_checks_run_on_clean_keys),
      cmocka_unit_test(test_checks_do_not_run_on_mistakes),
      cmocka_unit_test(test_refused_keys_are_not_read_later),
      cmocka_unit_test(test_undeclared_keys_cannot_be_read),
#ifdef NDEBUG
      cmocka_unit_test(test_an_undeclared_key_is_an_internal_error),
#endif
      cmocka_unit_test(test_a_mistake_in_one_task_of_a_campaign_is_not_that_of_the_next),
      cmocka_unit_test(test_divisors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
