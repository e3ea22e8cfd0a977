/* The registered plugins, and the choice of a kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/registry.h"
#include "support/fake_plugins.h"

static void test_find(void **state)
{
  (void)state;
  assert_non_null(gpumc_models()[0]);
  assert_non_null(gpumc_algorithms()[0]);
  for (size_t i = 0; gpumc_models()[i] != NULL; i++)
    assert_ptr_equal(gpumc_model_find(gpumc_models()[i]->name), gpumc_models()[i]);
  for (size_t i = 0; gpumc_algorithms()[i] != NULL; i++)
    assert_ptr_equal(gpumc_algorithm_find(gpumc_algorithms()[i]->name), gpumc_algorithms()[i]);
  assert_non_null(gpumc_model_find("ising2d"));
  assert_non_null(gpumc_algorithm_find("pa"));
}

static void test_find_errors(void **state)
{
  (void)state;
  assert_null(gpumc_model_find("ising"));
  assert_null(gpumc_model_find(""));
  assert_null(gpumc_algorithm_find("PA"));
}

static const struct gpumc_kernel_ops *choose(const char *device, const char *variant)
{
  const struct gpumc_kernel_ops *kernel;
  struct gpumc_error error = {0};
  if (gpumc_kernel_choose(&fake_chain, &fake_anneal, device, variant, &kernel, &error) != GPUMC_OK)
    fail_msg("%s", gpumc_error_text(&error));
  return kernel;
}

static void test_choose(void **state)
{
  const struct gpumc_kernel_ops *kernel;
  struct gpumc_error error = {0};
  (void)state;
  assert_string_equal(choose("cpu", "auto")->variant, "wide");
  assert_string_equal(choose("cuda", "auto")->variant, "wide");
  assert_string_equal(choose("cuda", "auto")->trajectory, choose("cpu", "auto")->trajectory);
  assert_string_equal(choose("cuda", "deep")->variant, "deep");
  assert_int_equal(gpumc_kernel_choose(&fake_chain, &fake_look, "cpu", "auto", &kernel, &error),
                   GPUMC_OK);
  assert_string_equal(kernel->variant, "plain");
}

static void test_choose_errors(void **state)
{
  static const struct {
    const struct gpumc_model_ops *model;
    const char *device, *variant, *message;
  } cases[] = {
      {&fake_chain, "cuda", "wid",
       "model chain has no kernel variant 'wid' on cuda; its variants are: wide, deep; did you "
       "mean 'wide'?"},
      {&fake_chain, "cpu", "plain",
       "no kernel of model chain on cpu serves algorithm anneal: plain lacks gather; kernels that "
       "do: wide on cpu, wide on cuda, deep on cuda"},
      {&fake_frozen, "cuda", "auto", "model frozen has no kernel on cuda; it has kernels on: cpu"},
      {&fake_frozen, "cpu", "auto",
       "no kernel of model frozen on cpu serves algorithm anneal: still lacks sweep, gather; "
       "kernels that do: none"}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const struct gpumc_kernel_ops *kernel = &(struct gpumc_kernel_ops){0};
    struct gpumc_error error = {0};
    assert_int_equal(gpumc_kernel_choose(cases[i].model, &fake_anneal, cases[i].device,
                                         cases[i].variant, &kernel, &error),
                     GPUMC_INVALID);
    assert_string_equal(gpumc_error_text(&error), cases[i].message);
    assert_null(kernel);
    gpumc_error_free(&error);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_find),
      cmocka_unit_test(test_find_errors),
      cmocka_unit_test(test_choose),
      cmocka_unit_test(test_choose_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
