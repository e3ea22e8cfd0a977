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
  if (gpumc_kernel_choose(&fake_chain, NULL, &fake_anneal, device, variant, &kernel, &error) !=
      GPUMC_OK)
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
  assert_int_equal(
      gpumc_kernel_choose(&fake_chain, NULL, &fake_look, "cpu", "auto", &kernel, &error), GPUMC_OK);
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
    assert_int_equal(gpumc_kernel_choose(cases[i].model, NULL, &fake_anneal, cases[i].device,
                                         cases[i].variant, &kernel, &error),
                     GPUMC_INVALID);
    assert_string_equal(gpumc_error_text(&error), cases[i].message);
    assert_null(kernel);
    gpumc_error_free(&error);
  }
}

/* A model with a kernel on the CPU and two that this build lacks. */
static const struct gpumc_kernel_ops near = {.device = "cpu", .variant = "near"},
                                     near_absent = {.device = "cuda",
                                                    .variant = "near",
                                                    .absent = true},
                                     far_absent = {
                                         .device = "cuda", .variant = "far", .absent = true};
static const struct gpumc_kernel_ops *const half_kernels[] = {&near_absent, &near, &far_absent,
                                                              NULL};
static const struct gpumc_model_ops half = {.name = "half", .kernels = half_kernels};
static const struct gpumc_algorithm_ops idle = {.name = "idle"};

static void test_kernels_that_a_build_lacks(void **state)
{
  static const struct {
    const struct gpumc_model_ops *model;
    const char *device, *variant, *message;
  } cases[] = {
      {&half, "cpu", "far",
       "kernel variant 'far' of model half is for cuda only, and this gpumc was built without "
       "CUDA"},
      {&half, "cuda", "auto",
       "model half has no kernel on cuda in this gpumc, built without CUDA; it has kernels on: "
       "cpu"},
      {&half, "cpu", "fra",
       "model half has no kernel variant 'fra' on cpu; its variants are: near"},
      {&fake_chain, "cpu", "deep", "kernel variant 'deep' of model chain is for cuda, not cpu"}};
  const struct gpumc_kernel_ops *kernel;
  struct gpumc_error error = {0};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_equal(gpumc_kernel_choose(cases[i].model, NULL, &idle, cases[i].device,
                                         cases[i].variant, &kernel, &error),
                     GPUMC_INVALID);
    assert_string_equal(gpumc_error_text(&error), cases[i].message);
    gpumc_error_free(&error);
  }
  assert_int_equal(gpumc_kernel_choose(&half, NULL, &idle, "cpu", "auto", &kernel, &error),
                   GPUMC_OK);
  assert_ptr_equal(kernel, &near);
}

static const struct gpumc_kernel_ops picky = {.device = "cpu", .variant = "picky"};
static const struct gpumc_kernel_ops *const picky_kernels[] = {&picky, &near, NULL};

static const char *
refuses_odd(const struct gpumc_model *model, const struct gpumc_kernel_ops *kernel)
{
  return kernel == &picky && model->sites % 2 == 1 ? "it takes no odd number of sites" : NULL;
}

static const struct gpumc_model_ops choosy = {
    .name = "choosy", .kernels = picky_kernels, .refuses = refuses_odd};

/* `auto` passes over a kernel that cannot take the instance; asked for, it is refused. */
static void test_kernels_that_cannot_take_the_instance(void **state)
{
  const struct gpumc_model even = {.ops = &choosy, .sites = 4}, odd = {.ops = &choosy, .sites = 3};
  const struct gpumc_kernel_ops *kernel;
  struct gpumc_error error = {0};
  (void)state;
  assert_int_equal(gpumc_kernel_choose(&choosy, &even, &idle, "cpu", "auto", &kernel, &error),
                   GPUMC_OK);
  assert_ptr_equal(kernel, &picky);
  assert_int_equal(gpumc_kernel_choose(&choosy, &odd, &idle, "cpu", "auto", &kernel, &error),
                   GPUMC_OK);
  assert_ptr_equal(kernel, &near);
  assert_int_equal(gpumc_kernel_choose(&choosy, NULL, &idle, "cpu", "picky", &kernel, &error),
                   GPUMC_OK);
  assert_int_equal(gpumc_kernel_choose(&choosy, &odd, &idle, "cpu", "picky", &kernel, &error),
                   GPUMC_INVALID);
  assert_string_equal(gpumc_error_text(&error),
                      "no kernel of model choosy on cpu serves algorithm idle: picky cannot take "
                      "this model: it takes no odd number of sites; kernels that do: near on cpu");
  gpumc_error_free(&error);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_find),
      cmocka_unit_test(test_find_errors),
      cmocka_unit_test(test_choose),
      cmocka_unit_test(test_choose_errors),
      cmocka_unit_test(test_kernels_that_a_build_lacks),
      cmocka_unit_test(test_kernels_that_cannot_take_the_instance),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
