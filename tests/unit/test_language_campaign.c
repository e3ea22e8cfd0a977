/* Campaigns, and the outputs of their tasks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/language_fixture.h"

static void test_campaign(void **state)
{
  struct gpumc_config config;
  (void)state;
  language_accept("gpumc: 1\noutput: 'r/{model.shape}-{seed}.h5'\nmodel: {name: chain}\n" ALGORITHM
                  "campaign:\n  model.shape: [[8, 8], [16]]\n  seed: [1, 2, 3]\n",
                  &config);
  static const char *const outputs[] = {"r/8x8-1.h5", "r/8x8-2.h5", "r/8x8-3.h5",
                                        "r/16-1.h5",  "r/16-2.h5",  "r/16-3.h5"};
  assert_int_equal(config.n_tasks, 6);
  for (size_t i = 0; i < 6; i++) {
    assert_int_equal(config.tasks[i].index, i);
    assert_string_equal(config.tasks[i].output, outputs[i]);
    assert_null(cJSON_GetObjectItem(config.tasks[i].resolved, "campaign"));
  }
  assert_string_equal(config.tasks[0].label, "model.shape=[8,8] seed=1");
  assert_string_equal(config.tasks[5].label, "model.shape=[16] seed=3");
  gpumc_config_free(&config);
}

static void test_campaign_makes_blocks(void **state)
{
  struct gpumc_config config;
  (void)state;
  language_accept(HEAD MODEL
                  "algorithm: {name: anneal, population: 4, beta: {to: 1}}\n"
                  "campaign: {algorithm.beta.overlap: [0.5], algorithm.flavour: [systematic]}\n",
                  &config);
  struct gpumc_params params = gpumc_task_params(&config.tasks[0], "algorithm");
  assert_true(gpumc_params_real(&params, "beta.overlap") == 0.5);
  assert_string_equal(gpumc_params_string(&params, "flavour"), "systematic");
  assert_string_equal(config.tasks[0].label,
                      "algorithm.beta.overlap=0.5 algorithm.flavour=systematic");
  gpumc_config_free(&config);
}

static void test_campaign_errors(void **state)
{
  (void)state;
  language_refuse(GOOD "campaign:\n  model.shap: [1]\n",
                  "c.yaml:7:3: unknown key 'model.shap' in campaign; did you mean 'model.shape'?");
  language_refuse(GOOD "campaign:\n  title: [a]\n",
                  "c.yaml:7:3: 'title' cannot be varied in a campaign");
  language_refuse(
      GOOD "campaign:\n  seed:\n",
      "c.yaml:7:8: campaign.seed: expected a list of at least one value, found nothing");
  language_refuse(
      GOOD "campaign:\n  seed: []\n",
      "c.yaml:7:9: campaign.seed: expected a list of at least one value, found an empty list");
  language_refuse(GOOD "campaign: [seed]\n",
                  "c.yaml:6:11: campaign: expected a block of keys, found a list");
  language_refuse(
      GOOD "campaign:\n  seed: [1, x]\n  model.J: [1, y]\n",
      "c.yaml:7:13: seed: expected an integer from 0 to 281474976710655, found text 'x'\n"
      "c.yaml:8:16: model.J: expected a number, found text 'y'");
  language_refuse(
      GOOD "campaign:\n  seed: [1, 2]\n",
      "c.yaml:3:9: output: tasks 0 (seed=1) and 1 (seed=2) would both write 'out.h5'; name the "
      "keys of the campaign in braces, such as {seed}");
  language_refuse(GOOD "campaign:\n  algorithm.beta.overlap: [0.5]\n",
                  "c.yaml:7:3: 'step' and 'overlap' in algorithm.beta exclude each other");
  language_refuse(
      "gpumc: 1\nseed: x\noutput: '{seed}'\n" MODEL ALGORITHM "campaign: {seed: [1, 2]}\n",
      "c.yaml:2:7: seed: expected an integer from 0 to 281474976710655, found text 'x'");
}

static void test_campaign_too_large(void **state)
{
  struct gpumc_text text = {0};
  (void)state;
  gpumc_text_append(&text, GOOD "campaign:\n  seed: [0");
  for (int i = 1; i < 400; i++)
    gpumc_text_append(&text, ",%d", i);
  gpumc_text_append(&text, "]\n  model.J: [1");
  for (int i = 2; i <= 400; i++)
    gpumc_text_append(&text, ",%d", i);
  gpumc_text_append(&text, "]\n");
  language_refuse(gpumc_text_string(&text), "c.yaml:6:1: campaign: more than 100000 combinations");
  gpumc_text_free(&text);
}

/* What --set adds may bring a configuration beyond the limits of one that is read. */
static void test_campaign_nested_too_deep(void **state)
{
  (void)state;
  static const char *const assignment = "title=[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[x]]]]]]]]]]]]]]]]"
                                        "]]]]]]]]]]]]]]]]";
  language_refuse_set(GOOD "campaign: {model.J: [1, 2]}\n", &assignment, 1,
                      "c.yaml:6:1: nested more than 32 levels deep");
}

/* Told once, at the value in the campaign that did it. */
static void test_checks_of_instances_in_campaigns(void **state)
{
  (void)state;
  language_refuse("gpumc: 1\noutput: '{seed}-{algorithm.population}.h5'\n"
                  "model: {name: chain, shape: [64, 64]}\n" ALGORITHM
                  "campaign:\n  seed: [1, 2, 3]\n  algorithm.population: [2, 10000000]\n",
                  "c.yaml:7:29: 10000000 replicas of 4096 sites are too many");
  language_refuse("gpumc: 1\noutput: '{seed}-{model.shape}.h5'\nmodel: {name: chain}\n"
                  "algorithm: {name: anneal, population: 10000000, beta: {to: 1, step: 0.1}}\n"
                  "campaign:\n  seed: [1, 2, 3]\n  model.shape: [[2], [64, 64]]\n",
                  "c.yaml:4:39: 10000000 replicas of 4096 sites are too many");
}

static void test_output_errors(void **state)
{
  (void)state;
#define BRACES                                                                                     \
  "c.yaml:3:9: output: braces must enclose the name of a key; {{ and }} stand for braces"
#define WITH_OUTPUT(output) "gpumc: 1\nseed: 7\noutput: " output "\n" MODEL ALGORITHM
  language_refuse(WITH_OUTPUT("'{model.shap}'"),
                  "c.yaml:3:9: output: unknown key 'model.shap' in braces; "
                  "did you mean 'model.shape'?");
  language_refuse(WITH_OUTPUT("'{output}'"),
                  "c.yaml:3:9: output: {output} stands for the output itself; name other keys "
                  "in braces, such as {seed}");
  language_refuse(WITH_OUTPUT("'a{seed'"), BRACES);
  language_refuse(WITH_OUTPUT("'a}'"), BRACES);
  language_refuse(WITH_OUTPUT("'{seed}}'"), BRACES);
  language_refuse(WITH_OUTPUT("'{{seed}'"), BRACES);
  language_refuse(WITH_OUTPUT("'{model}'"),
                  "c.yaml:3:9: output: 'model' in braces is a block, not a value");
  language_refuse(WITH_OUTPUT("'{algorithm.note}'"),
                  "c.yaml:3:9: output: 'algorithm.note' in braces has no value here");
  language_refuse(
      WITH_OUTPUT("'{foo}{model.shap}'"),
      "c.yaml:3:9: output: unknown key 'foo' in braces\n"
      "c.yaml:3:9: output: unknown key 'model.shap' in braces; did you mean 'model.shape'?");
  language_refuse(WITH_OUTPUT("results/"),
                  "c.yaml:3:9: output: expected the path of a file, found 'results/'");
  language_refuse(WITH_OUTPUT("''"), "c.yaml:3:9: output must not be empty");
}

static void test_output_of_every_type(void **state)
{
  struct gpumc_config config;
  (void)state;
  language_accept(WITH_OUTPUT("'{algorithm.flavour}-{model.periodic}-{algorithm.beta.step}-"
                              "{checkpoint.every}-{model.weights}-{kernel.variant}'"),
                  &config);
  assert_string_equal(config.tasks[0].output, "plain-true-0.1-600-0.25x1-wide");
  gpumc_config_free(&config);
}

static void test_output_with_braces(void **state)
{
  struct gpumc_config config;
  (void)state;
  language_accept(WITH_OUTPUT("'a{{x}}{{{seed}}}{{seed}}'"), &config);
  assert_string_equal(config.tasks[0].output, "a{x}{7}{seed}");
  gpumc_config_free(&config);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_campaign),
      cmocka_unit_test(test_campaign_makes_blocks),
      cmocka_unit_test(test_campaign_errors),
      cmocka_unit_test(test_campaign_too_large),
      cmocka_unit_test(test_campaign_nested_too_deep),
      cmocka_unit_test(test_checks_of_instances_in_campaigns),
      cmocka_unit_test(test_output_errors),
      cmocka_unit_test(test_output_of_every_type),
      cmocka_unit_test(test_output_with_braces),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
