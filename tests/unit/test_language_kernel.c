/* What a configuration asks of its kernel: the variant, the device, walks, the instruction set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/numerics/isa.h"
#include "support/language_fixture.h"

static void test_variant(void **state)
{
  struct gpumc_config config;
  (void)state;
  language_accept(GOOD "kernel: {variant: deep}\n", &config);
  struct gpumc_params kernel = gpumc_task_params(&config.tasks[0], "kernel");
  assert_string_equal(gpumc_params_string(&kernel, "variant"), "deep");
  gpumc_config_free(&config);
  language_accept(HEAD "model: {name: frozen}\nalgorithm: {name: look}\n", &config);
  kernel = gpumc_task_params(&config.tasks[0], "kernel");
  assert_string_equal(gpumc_params_string(&kernel, "variant"), "still");
  gpumc_config_free(&config);
}

/* A configuration may give the name that a variant had before. */
static void test_former_variant(void **state)
{
  struct gpumc_config config;
  (void)state;
  language_accept(GOOD "kernel: {variant: bottom}\n", &config);
  const struct gpumc_params kernel = gpumc_task_params(&config.tasks[0], "kernel");
  assert_string_equal(gpumc_params_string(&kernel, "variant"), "deep");
  gpumc_config_free(&config);
}

static void test_variant_errors(void **state)
{
  (void)state;
  language_refuse(
      GOOD "kernel: {variant: wied}\n",
      "c.yaml:6:19: model chain has no kernel variant 'wied' on cpu; its variants are: plain, "
      "wide; did you mean 'wide'?");
  language_refuse(
      GOOD "kernel:\n  variant: plain\n",
      "c.yaml:7:12: no kernel of model chain on cpu can run algorithm anneal: plain cannot "
      "copy replicas; kernels that can: wide on cpu, wide on cuda, deep on cuda");
  language_refuse(
      HEAD "model: {name: frozen}\n" ALGORITHM,
      "c.yaml:5:19: no kernel of model frozen on cpu can run algorithm anneal: still cannot "
      "sweep, copy replicas; kernels that can: none");
}

#define LOOK HEAD MODEL "algorithm: {name: look}\n"

/* A device that is named has the kernel, as a run would ask; which device `auto` is, is not known.
 */
static void test_device(void **state)
{
  struct gpumc_config config;
  (void)state;
  const char *const accepted[] = {LOOK "kernel: {variant: plain, device: auto}\n",
                                  LOOK "kernel: {variant: plain, device: cpu}\n",
                                  LOOK "kernel: {variant: wide, device: \"cuda:1\"}\n",
                                  LOOK "kernel: {variant: deep, device: cuda}\n",
                                  LOOK "kernel: {variant: deep}\n"};
  for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++) {
    language_accept(accepted[i], &config);
    gpumc_config_free(&config);
  }
  language_refuse(LOOK "kernel: {variant: plain, device: \"cuda:1\"}\n",
                  "c.yaml:6:34: kernel variant 'plain' of model chain runs on cpu, not on cuda");
  language_refuse(LOOK "kernel: {device: cuda, variant: plain}\n",
                  "c.yaml:6:18: kernel variant 'plain' of model chain runs on cpu, not on cuda");
  language_refuse(LOOK "kernel: {variant: deep, device: cpu}\n",
                  "c.yaml:6:33: kernel variant 'deep' of model chain runs on cuda, not on cpu");
}

static enum gpumc_status never_walk(struct gpumc_ensemble *ensemble,
                                    const struct gpumc_target *target, struct gpumc_error *error)
{
  (void)ensemble, (void)target;
  return gpumc_error_set(error, GPUMC_FAILURE, "kernels of fake models do nothing");
}

static enum gpumc_status create_standing(const struct gpumc_params *params,
                                         struct gpumc_model *model, struct gpumc_error *error)
{
  const enum gpumc_status status = fake_chain.create(params, model, error);
  model->unwalkable = model->sites > 32 ? "it is too long; make it shorter" : NULL;
  return status;
}

/* Only where the algorithm has replicas walk, and with place and remedy. */
static void test_walks_of_an_instance_that_does_not(void **state)
{
  struct gpumc_kernel_ops kernel = *fake_chain.kernels[1];
  const struct gpumc_kernel_ops *const kernels[] = {&kernel, NULL};
  struct gpumc_model_ops standing = fake_chain;
  const struct gpumc_model_ops *const models[] = {&standing, NULL};
  struct gpumc_algorithm_ops walker = fake_look;
  const struct gpumc_algorithm_ops *const algorithms[] = {&walker, &fake_anneal, NULL};
  const struct gpumc_plugins plugins = {.models = models, .algorithms = algorithms};
  static const struct {
    const char *text, *expected;
  } cases[] = {
      {HEAD MODEL "algorithm: {name: walker}\n", NULL},
      {HEAD "model: {name: chain, shape: [8, 6]}\nalgorithm: {name: walker}\n",
       "c.yaml:5:19: algorithm walker cannot run model chain, which does not walk under a "
       "tabulated weight: it is too long; make it shorter"},
      {HEAD "model: {name: chain, shape: [8, 6]}\n" ALGORITHM, NULL},
  };
  (void)state;
  kernel.walk = never_walk;
  standing.kernels = kernels;
  standing.create = create_standing;
  walker.name = "walker";
  walker.required = GPUMC_OPERATION_WALK;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct gpumc_config config;
    struct gpumc_error error = {0};
    const char *text = cases[i].text, *expected = cases[i].expected;
    assert_int_equal(
        gpumc_config_parse_with(&plugins, "c.yaml", text, strlen(text), NULL, 0, &config, &error),
        expected == NULL ? GPUMC_OK : GPUMC_INVALID);
    if (expected != NULL)
      assert_string_equal(gpumc_error_text(&error), expected);
    gpumc_error_free(&error);
    gpumc_config_free(&config);
  }
}

/* Every build has "auto" and lacks some level. */
static void test_instruction_set_errors(void **state)
{
  static const char *const levels[] = {"x86-64-v2", "x86-64-v3", "x86-64-v4", "portable"};
  struct gpumc_config config;
  size_t refused = 0;
  (void)state;
  language_accept(GOOD "kernel: {isa: auto}\n", &config);
  gpumc_config_free(&config);
  for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
    struct gpumc_text text = {0}, message = {0};
    gpumc_text_append(&text, GOOD "kernel: {isa: %s}\n", levels[i]);
    gpumc_text_append(&message, "c.yaml:6:15: kernel.isa: this build supports %s, not %s",
                      gpumc_isa_compiled(), levels[i]);
    if (gpumc_isa_is_compiled(levels[i])) {
      language_accept(gpumc_text_string(&text), &config);
      gpumc_config_free(&config);
    } else {
      language_refuse(gpumc_text_string(&text), gpumc_text_string(&message));
      refused++;
    }
    gpumc_text_free(&text);
    gpumc_text_free(&message);
  }
  assert_true(refused > 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_variant),
      cmocka_unit_test(test_former_variant),
      cmocka_unit_test(test_variant_errors),
      cmocka_unit_test(test_device),
      cmocka_unit_test(test_walks_of_an_instance_that_does_not),
      cmocka_unit_test(test_instruction_set_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
