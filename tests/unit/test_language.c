/* The configuration language, from text to tasks, with plugins that compute nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/isa.h"
#include "core/sweeps.h"
#include "support/fake_plugins.h"

#define HEAD "gpumc: 1\nseed: 7\noutput: out.h5\n"
#define MODEL "model: {name: chain, shape: [8, 4]}\n"
#define ALGORITHM "algorithm: {name: anneal, population: 100, beta: {to: 1.0, step: 0.1}}\n"
#define GOOD HEAD MODEL ALGORITHM

static enum gpumc_status
parse(const char *text, struct gpumc_config *config, struct gpumc_error *error)
{
  return gpumc_config_parse_with(&fake_plugins, "c.yaml", text, strlen(text), NULL, 0, config,
                                 error);
}

static void accept(const char *text, struct gpumc_config *config)
{
  struct gpumc_error error = {0};
  if (parse(text, config, &error) != GPUMC_OK)
    fail_msg("%s", gpumc_error_text(&error));
}

/* The whole message, so that no mistake is told twice or with company. */
static void refuse(const char *text, const char *message)
{
  struct gpumc_config config;
  struct gpumc_error error = {0};
  assert_int_equal(parse(text, &config, &error), GPUMC_INVALID);
  assert_string_equal(gpumc_error_text(&error), message);
  assert_null(config.tasks);
  gpumc_error_free(&error);
  gpumc_config_free(&config);
}

static void test_one_task(void **state)
{
  struct gpumc_config config;
  (void)state;
  accept(GOOD, &config);
  assert_int_equal(config.n_tasks, 1);
  const struct gpumc_task *task = &config.tasks[0];
  assert_ptr_equal(task->model, &fake_chain);
  assert_ptr_equal(task->algorithm, &fake_anneal);
  assert_string_equal(task->output, "out.h5");
  assert_string_equal(task->label, "");
  char *resolved = cJSON_PrintUnformatted(task->resolved);
  assert_string_equal(
      resolved,
      "{\"gpumc\":1,\"title\":\"\",\"seed\":7,\"rng\":\"philox4x32-10\","
      "\"model\":{\"name\":\"chain\",\"shape\":[8,4],\"J\":1,\"periodic\":true,"
      "\"weights\":[0.25,1]},"
      "\"algorithm\":{\"name\":\"anneal\",\"population\":100,\"offset\":0,\"flavour\":\"plain\","
      "\"beta\":{\"from\":0,\"to\":1,\"step\":0.1},\"pause\":90,\"memory\":2048,"
      "\"where\":\"cpu\"},"
      "\"kernel\":{\"device\":\"auto\",\"variant\":\"wide\",\"isa\":\"auto\",\"block_threads\":0},"
      "\"output\":\"out.h5\",\"checkpoint\":{\"every\":600}}");
  free(resolved);
  struct gpumc_params root = gpumc_task_params(task, "");
  struct gpumc_params algorithm = gpumc_task_params(task, "algorithm");
  assert_int_equal(gpumc_params_integer_at(&root, "model.shape", 1), 4);
  assert_true(gpumc_params_real(&algorithm, "beta.step") == 0.1);
  assert_null(algorithm.node);
  gpumc_config_free(&config);
}

static void test_campaign(void **state)
{
  struct gpumc_config config;
  (void)state;
  accept("gpumc: 1\noutput: 'r/{model.shape}-{seed}.h5'\nmodel: {name: chain}\n" ALGORITHM
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
  accept(HEAD MODEL "algorithm: {name: anneal, population: 4, beta: {to: 1}}\n"
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
  refuse(GOOD "campaign:\n  model.shap: [1]\n",
         "c.yaml:7:3: unknown key 'model.shap' in campaign: it is no key of this configuration; "
         "did you mean 'model.shape'?");
  refuse(GOOD "campaign:\n  title: [a]\n",
         "c.yaml:7:3: unknown key 'title' in campaign: it cannot be varied in this configuration");
  refuse(GOOD "campaign:\n  seed: 3\n",
         "c.yaml:7:9: campaign.seed: expected a list of at least one value, found the number 3");
  refuse(GOOD "campaign:\n  seed: []\n",
         "c.yaml:7:9: campaign.seed: expected a list of at least one value, found an empty list");
  refuse(GOOD "campaign: [seed]\n",
         "c.yaml:6:11: campaign: expected a block of keys, found a list");
  refuse(GOOD "campaign:\n  seed: [1, x]\n  model.J: [1, y]\n",
         "c.yaml:7:13: seed: expected an integer from 0 to 281474976710655, found text 'x'\n"
         "c.yaml:8:16: model.J: expected a number, found text 'y'");
  refuse(GOOD "campaign:\n  seed: [1, 2]\n",
         "c.yaml:3:9: output: tasks 0 (seed=1) and 1 (seed=2) would both write 'out.h5'; name the "
         "keys of the campaign in braces, such as {seed}");
  refuse(GOOD "campaign:\n  algorithm.beta.overlap: [0.5]\n",
         "c.yaml:7:3: 'step' and 'overlap' in algorithm.beta exclude each other");
  refuse("gpumc: 1\nseed: x\noutput: '{seed}'\n" MODEL ALGORITHM "campaign: {seed: [1, 2]}\n",
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
  refuse(gpumc_text_string(&text), "c.yaml:6:1: campaign: more than 100000 combinations");
  gpumc_text_free(&text);
}

static void test_all_mistakes_at_once(void **state)
{
  (void)state;
  refuse("gpumc: 2\nsede: 7\nmodel:\n  name: chain\n  shape: [3, 4096]\nalgorithm:\n"
         "  name: anneal\n  poulation: 5\n  beta: {from: -1}\nrng: mersenne\n",
         "c.yaml:1:1: missing key 'seed'\n"
         "c.yaml:1:1: missing key 'output'\n"
         "c.yaml:1:8: gpumc: expected an integer equal to 1, found the number 2\n"
         "c.yaml:2:1: unknown key 'sede'; did you mean 'seed'?\n"
         "c.yaml:5:11: model.shape: expected an integer from 2 to 1024, a multiple of 2, found the "
         "number 3\n"
         "c.yaml:5:14: model.shape: expected an integer from 2 to 1024, a multiple of 2, found the "
         "number 4096\n"
         "c.yaml:6:1: missing key 'population' in algorithm\n"
         "c.yaml:8:3: unknown key 'poulation' in algorithm; did you mean 'population'?\n"
         "c.yaml:9:3: missing key 'to' in algorithm.beta\n"
         "c.yaml:9:3: exactly one of 'step', 'overlap' is needed in algorithm.beta\n"
         "c.yaml:9:16: algorithm.beta.from: expected a number of at least 0, found the number -1\n"
         "c.yaml:10:6: rng: expected one of philox4x32-10, philox4x32-7, found text 'mersenne'");
}

static void test_plugin_name_errors(void **state)
{
  (void)state;
  refuse(HEAD "model: {name: chian, shape: 5, x: 1}\n"
              "algorithm: {name: anneal, population: 1, beta: {to: 1, step: 0.1}}\n"
              "campaign: {model.z: [1]}\n",
         "c.yaml:4:15: model.name: expected one of chain, frozen, found text 'chian'; did you mean "
         "'chain'?\n"
         "c.yaml:5:39: algorithm.population: expected an integer from 2 to 2147483647, found the "
         "number 1");
  refuse(HEAD "model: {shape: [2]}\nalgorithm: []\n",
         "c.yaml:4:1: missing key 'name' in model\n"
         "c.yaml:5:12: algorithm: expected a block of keys, found a list");
  refuse(HEAD MODEL, "c.yaml:1:1: missing key 'algorithm'");
}

static void test_checks_of_plugins(void **state)
{
  (void)state;
  refuse(HEAD "model: {name: chain, shape: [1024, 8]}\n" ALGORITHM,
         "c.yaml:4:29: 8192 sites are too many for a test");
  refuse(HEAD "model: {name: chain, shape: [2], J: 0}\n"
              "algorithm: {name: anneal, population: 2, beta: {from: 2, to: 1, step: 0.1}}\n",
         "c.yaml:5:48: nothing to anneal in chain without J\n"
         "c.yaml:5:62: beta.to must exceed beta.from");
}

static void test_variant(void **state)
{
  struct gpumc_config config;
  (void)state;
  accept(GOOD "kernel: {variant: deep}\n", &config);
  struct gpumc_params kernel = gpumc_task_params(&config.tasks[0], "kernel");
  assert_string_equal(gpumc_params_string(&kernel, "variant"), "deep");
  gpumc_config_free(&config);
  accept(HEAD "model: {name: frozen}\nalgorithm: {name: look}\n", &config);
  kernel = gpumc_task_params(&config.tasks[0], "kernel");
  assert_string_equal(gpumc_params_string(&kernel, "variant"), "still");
  gpumc_config_free(&config);
}

static void test_variant_errors(void **state)
{
  (void)state;
  refuse(GOOD "kernel: {variant: wied}\n",
         "c.yaml:6:19: model chain has no kernel variant 'wied' on cpu; its variants are: plain, "
         "wide; did you mean 'wide'?");
  refuse(GOOD "kernel:\n  variant: plain\n",
         "c.yaml:7:12: no kernel of model chain on cpu serves algorithm anneal: plain lacks "
         "gather; kernels that do: wide on cpu, wide on cuda, deep on cuda");
  refuse(HEAD "model: {name: frozen}\n" ALGORITHM,
         "c.yaml:5:19: no kernel of model frozen on cpu serves algorithm anneal: still lacks "
         "sweep, gather; kernels that do: none");
}

static const struct gpumc_key update_keys[] = {GPUMC_UPDATE_KEY("How a spin is updated."), {0}};
static const struct gpumc_algorithm_ops updating = {.name = "updating",
                                                    .summary = "Updates nothing.",
                                                    .keys = update_keys,
                                                    .required = GPUMC_CAN_SWEEP};

/* The mistakes of an algorithm with the key `update`, "" where there are none. */
static void check_update(const char *text, const char *expected)
{
  static const struct gpumc_model_ops *const models[] = {&fake_chain, NULL};
  static const struct gpumc_algorithm_ops *const algorithms[] = {&updating, NULL};
  const struct gpumc_plugins plugins = {.models = models, .algorithms = algorithms};
  struct gpumc_config config;
  struct gpumc_error error = {0};
  const enum gpumc_status status =
      gpumc_config_parse_with(&plugins, "c.yaml", text, strlen(text), NULL, 0, &config, &error);
  assert_int_equal(status, expected[0] == '\0' ? GPUMC_OK : GPUMC_INVALID);
  if (status != GPUMC_OK)
    assert_string_equal(gpumc_error_text(&error), expected);
  gpumc_error_free(&error);
  gpumc_config_free(&config);
}

/* No kernel of the chain has heat-bath updates. */
static void test_updates_that_the_kernel_does_not_have(void **state)
{
  (void)state;
#define MESSAGE(kernel)                                                                            \
  "kernel " kernel " of model chain on cpu has no heat-bath updates; use algorithm.update: "       \
  "metropolis, or another kernel.variant"
  check_update(HEAD MODEL "algorithm: {name: updating}\nkernel: {variant: wide}\n", "");
  check_update(HEAD MODEL "algorithm: {name: updating, update: heat_bath}\n"
                          "kernel: {variant: wide}\n",
               "c.yaml:6:19: " MESSAGE("wide"));
  check_update(HEAD MODEL "algorithm: {name: updating, update: heat_bath}\n",
               "c.yaml:5:19: " MESSAGE("plain"));
  check_update(HEAD MODEL "algorithm: {name: updating, update: hot_bath}\n",
               "c.yaml:5:37: algorithm.update: expected one of metropolis, heat_bath, found text "
               "'hot_bath'; did you mean 'heat_bath'?");
#undef MESSAGE
}

static void test_output_errors(void **state)
{
  (void)state;
#define BRACES                                                                                     \
  "c.yaml:3:9: output: braces must be pairs round the name of a key; {{ and }} stand for braces"
#define WITH_OUTPUT(output) "gpumc: 1\nseed: 7\noutput: " output "\n" MODEL ALGORITHM
  refuse(WITH_OUTPUT("'{model.shap}'"), "c.yaml:3:9: output: unknown key 'model.shap' in braces; "
                                        "did you mean 'model.shape'?");
  refuse(WITH_OUTPUT("'{output}'"), "c.yaml:3:9: output: unknown key 'output' in braces; did you "
                                    "mean 'output'?");
  refuse(WITH_OUTPUT("'a{seed'"), BRACES);
  refuse(WITH_OUTPUT("'a}'"), BRACES);
  refuse(WITH_OUTPUT("'{seed}}'"), BRACES);
  refuse(WITH_OUTPUT("'{{seed}'"), BRACES);
  refuse(WITH_OUTPUT("'{model}'"), "c.yaml:3:9: output: 'model' in braces is a block, not a value");
  refuse(WITH_OUTPUT("'{algorithm.note}'"),
         "c.yaml:3:9: output: 'algorithm.note' in braces has no value here");
  refuse(WITH_OUTPUT("'{foo}{model.shap}'"),
         "c.yaml:3:9: output: unknown key 'foo' in braces\n"
         "c.yaml:3:9: output: unknown key 'model.shap' in braces; did you mean 'model.shape'?");
  refuse(WITH_OUTPUT("results/"),
         "c.yaml:3:9: output: expected the path of a file, found 'results/'");
  refuse(WITH_OUTPUT("''"), "c.yaml:3:9: output must not be empty");
}

static void test_output_of_every_type(void **state)
{
  struct gpumc_config config;
  (void)state;
  accept(WITH_OUTPUT("'{algorithm.flavour}-{model.periodic}-{algorithm.beta.step}-"
                     "{checkpoint.every}-{model.weights}-{kernel.variant}'"),
         &config);
  assert_string_equal(config.tasks[0].output, "plain-true-0.1-600-0.25x1-wide");
  gpumc_config_free(&config);
}

static void test_output_with_braces(void **state)
{
  struct gpumc_config config;
  (void)state;
  accept(WITH_OUTPUT("'a{{x}}{{{seed}}}{{seed}}'"), &config);
  assert_string_equal(config.tasks[0].output, "a{x}{7}{seed}");
  gpumc_config_free(&config);
}

/* Whatever is wrong elsewhere, each check that can be made is made. */
static void test_checks_are_independent(void **state)
{
  (void)state;
  refuse("gpumc: 1\nseed: 0x10\noutput: o{foo}.h5\nmodel: {name: chain, shape: [1024, 8]}\n"
         "algorithm: {name: anneal, population: 1, beta: {to: 1, step: 0.1}}\n",
         "c.yaml:2:7: seed: expected an integer from 0 to 281474976710655, found text '0x10'\n"
         "c.yaml:3:9: output: unknown key 'foo' in braces\n"
         "c.yaml:4:29: 8192 sites are too many for a test\n"
         "c.yaml:5:39: algorithm.population: expected an integer from 2 to 2147483647, found the "
         "number 1");
  refuse("gpumc: 1\nseed: 0x10\noutput: 'o{seed}{model}.h5'\n" MODEL
         "algorithm: {name: anneal, population: 2, beta: {from: 2, to: 1, step: 0.1}}\n",
         "c.yaml:2:7: seed: expected an integer from 0 to 281474976710655, found text '0x10'\n"
         "c.yaml:3:9: output: 'model' in braces is a block, not a value\n"
         "c.yaml:5:62: beta.to must exceed beta.from");
  refuse("gpumc: 1\nseed: 1\noutput: '{foo}{model.bar}{algorithm.note}.h5'\n"
         "model: {name: chian}\n" ALGORITHM,
         "c.yaml:3:9: output: unknown key 'foo' in braces\n"
         "c.yaml:4:15: model.name: expected one of chain, frozen, found text 'chian'; did you mean "
         "'chain'?");
  refuse("gpumc: 1\nseed: 1\noutput: [a]\n" MODEL ALGORITHM,
         "c.yaml:3:9: output: expected text, found a list");
}

static void test_checks_of_instances(void **state)
{
  (void)state;
  refuse(HEAD "model: {name: chain, shape: [64, 64]}\n"
              "algorithm: {name: anneal, population: 10000000, beta: {to: 1, step: 0.1}}\n",
         "c.yaml:5:39: 10000000 replicas of 4096 sites are too many");
  refuse(HEAD "model: {name: chain, shape: [2], J: 13}\n" ALGORITHM,
         "c.yaml:4:8: no chain is made with J = 13");
  refuse("gpumc: 1\nseed: x\noutput: o.h5\nmodel: {name: chain, shape: [64, 64]}\n"
         "algorithm: {name: anneal, population: 10000000, beta: {to: 1, step: 0.1}}\n",
         "c.yaml:2:7: seed: expected an integer from 0 to 281474976710655, found text 'x'\n"
         "c.yaml:5:39: 10000000 replicas of 4096 sites are too many");
}

/* Told once, at the value in the campaign that did it. */
static void test_checks_of_instances_in_campaigns(void **state)
{
  (void)state;
  refuse("gpumc: 1\noutput: '{seed}-{algorithm.population}.h5'\n"
         "model: {name: chain, shape: [64, 64]}\n" ALGORITHM
         "campaign:\n  seed: [1, 2, 3]\n  algorithm.population: [2, 10000000]\n",
         "c.yaml:7:29: 10000000 replicas of 4096 sites are too many");
  refuse("gpumc: 1\noutput: '{seed}-{model.shape}.h5'\nmodel: {name: chain}\n"
         "algorithm: {name: anneal, population: 10000000, beta: {to: 1, step: 0.1}}\n"
         "campaign:\n  seed: [1, 2, 3]\n  model.shape: [[2], [64, 64]]\n",
         "c.yaml:4:39: 10000000 replicas of 4096 sites are too many");
}

/* Every build has "auto" and lacks some level. */
static void test_instruction_set_errors(void **state)
{
  static const char *const levels[] = {"x86-64-v2", "x86-64-v3", "x86-64-v4", "portable"};
  struct gpumc_config config;
  size_t refused = 0;
  (void)state;
  accept(GOOD "kernel: {isa: auto}\n", &config);
  gpumc_config_free(&config);
  for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
    struct gpumc_text text = {0}, message = {0};
    gpumc_text_append(&text, GOOD "kernel: {isa: %s}\n", levels[i]);
    gpumc_text_append(&message, "c.yaml:6:15: kernel.isa: this build has %s, not %s",
                      gpumc_isa_compiled(), levels[i]);
    if (gpumc_isa_is_compiled(levels[i])) {
      accept(gpumc_text_string(&text), &config);
      gpumc_config_free(&config);
    } else {
      refuse(gpumc_text_string(&text), gpumc_text_string(&message));
      refused++;
    }
    gpumc_text_free(&text);
    gpumc_text_free(&message);
  }
  assert_true(refused > 0);
}

static enum gpumc_status set(const char *text, const char *const *assignments, size_t count,
                             struct gpumc_config *config, struct gpumc_error *error)
{
  return gpumc_config_parse_with(&fake_plugins, "c.yaml", text, strlen(text), assignments, count,
                                 config, error);
}

static void test_overrides(void **state)
{
  struct gpumc_config config;
  struct gpumc_error error = {0};
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
  assert_int_equal(set(GOOD, used, 6, &config, &error), GPUMC_OK);
  assert_int_equal(config.n_tasks, 2);
  assert_string_equal(config.tasks[1].output, "2.h5");
  struct gpumc_params root = gpumc_task_params(&config.tasks[1], "");
  assert_int_equal(gpumc_params_integer(&root, "seed"), 11);
  assert_true(gpumc_params_real(&root, "algorithm.beta.to") == 2.5);
  assert_string_equal(gpumc_params_string(&root, "rng"), "philox4x32-7");
  gpumc_config_free(&config);
  assert_int_equal(set(GOOD, assignments, 7, &config, &error), GPUMC_INVALID);
  assert_string_equal(gpumc_error_text(&error),
                      "--set output={model.J}.h5:1:17: not valid YAML: did not find expected "
                      "<document start>\n"
                      "--set seed=:1:6: seed: expected an integer from 0 to 281474976710655, found "
                      "empty text");
  gpumc_error_free(&error);
}

static void accept_set(const char *text, const char *const *assignments, size_t count,
                       struct gpumc_config *config)
{
  struct gpumc_error error = {0};
  if (set(text, assignments, count, config, &error) != GPUMC_OK)
    fail_msg("%s", gpumc_error_text(&error));
}

static void refuse_set(const char *text, const char *assignment, const char *message)
{
  struct gpumc_config config;
  struct gpumc_error error = {0};
  assert_int_equal(set(text, &assignment, 1, &config, &error), GPUMC_INVALID);
  assert_string_equal(gpumc_error_text(&error), message);
  gpumc_error_free(&error);
}

static void test_overrides_with_empty_text(void **state)
{
  static const char *const assignments[] = {"title=", "title=\"\""};
  (void)state;
  for (size_t i = 0; i < 2; i++) {
    struct gpumc_config config;
    accept_set(GOOD "title: words\n", &assignments[i], 1, &config);
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
  accept_set("gpumc: 1\noutput: '{seed}.h5'\ntitle: words\n" MODEL
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
             "--set a..b=null:1:1: expected KEY=VALUE, such as algorithm.population=1000");
  refuse_set(GOOD, "model.shape=nil",
             "--set model.shape=nil:1:13: model.shape: expected a list of 1 to 3 values, each an "
             "integer from 2 to 1024, a multiple of 2, found text 'nil'");
}

static void test_overrides_errors(void **state)
{
  static const struct {
    const char *assignment, *message;
  } cases[] = {
      {"seed", "--set seed:1:1: expected KEY=VALUE, such as algorithm.population=1000"},
      {"a..b=1", "--set a..b=1:1:1: expected KEY=VALUE, such as algorithm.population=1000"},
      {"=1", "--set =1:1:1: expected KEY=VALUE, such as algorithm.population=1000"},
      {"seed=x", "--set seed=x:1:6: seed: expected an integer from 0 to 281474976710655, found "
                 "text 'x'"},
      {"algorithm.popu=3", "--set algorithm.popu=3:1:1: unknown key 'popu' in algorithm; known "
                           "keys: name, population, offset, flavour, beta, window, pause, memory, "
                           "where, note"},
      {"seed.x=3", "--set seed.x=3:1:1: 'seed.x' cannot be set: a key on its way holds no keys"},
      {"model.J=4", "--set model.J=4:1:1: 'model.J' is varied by the campaign; set "
                    "'campaign.model.J' to a list instead"}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct gpumc_config config;
    struct gpumc_error error = {0};
    assert_int_equal(
        set(GOOD "campaign: {model.J: [1]}\n", &cases[i].assignment, 1, &config, &error),
        GPUMC_INVALID);
    assert_string_equal(gpumc_error_text(&error), cases[i].message);
    gpumc_error_free(&error);
  }
}

static char *identity_of(const char *text)
{
  struct gpumc_config config;
  accept(text, &config);
  char *identity = gpumc_task_identity(&config.tasks[0]);
  gpumc_config_free(&config);
  return identity;
}

static void test_identity(void **state)
{
  (void)state;
  char *plain = identity_of(GOOD);
  char *same = identity_of("title: other\noutput: there.h5\ngpumc: 1\nseed: 7\n"
                           "kernel: {device: cuda:1, variant: wide, isa: x86-64-v4}\n"
                           "checkpoint: {every: 2 h}\n" ALGORITHM MODEL);
  char *other = identity_of("gpumc: 1\nseed: 8\noutput: out.h5\n"
                            "model: {name: chain, shape: [8], J: 0.30000000000000004}\n"
                            "algorithm: {name: anneal, population: 100, where: cuda, note: hi, "
                            "beta: {to: 1, overlap: 0.5}}\n");
  assert_string_equal(plain, same);
  assert_null(strstr(plain, "output"));
  assert_null(strstr(plain, "checkpoint"));
  assert_null(strstr(plain, "where"));
  char *difference = gpumc_identity_difference(plain, other);
  assert_string_equal(difference, "seed: 7 -> 8\n"
                                  "model.shape: [8,4] -> [8]\n"
                                  "model.J: 1 -> 0.30000000000000004\n"
                                  "algorithm.beta.step: 0.1 -> (not set)\n"
                                  "algorithm.beta.overlap: (not set) -> 0.5\n"
                                  "algorithm.note: (not set) -> \"hi\"");
  free(difference);
  difference = gpumc_identity_difference(plain, same);
  assert_string_equal(difference, "");
  free(difference);
  difference = gpumc_identity_difference("no json", "{}");
  assert_string_equal(difference, "configuration: no json -> {}");
  free(difference);
  free(plain);
  free(same);
  free(other);
}

static void test_load_errors(void **state)
{
  struct gpumc_config config;
  struct gpumc_error error = {0};
  (void)state;
  assert_int_equal(gpumc_config_load("no/such.yaml", NULL, 0, &config, &error), GPUMC_FAILURE);
  assert_string_equal(gpumc_error_text(&error),
                      "cannot read no/such.yaml: No such file or directory");
  assert_int_equal(gpumc_config_load("/", NULL, 0, &config, &error), GPUMC_FAILURE);
  assert_string_equal(gpumc_error_text(&error), "cannot read /: Is a directory");
  assert_int_equal(gpumc_config_load("/dev/zero", NULL, 0, &config, &error), GPUMC_INVALID);
  gpumc_error_free(&error);
  gpumc_config_free(&config);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_task),
      cmocka_unit_test(test_campaign),
      cmocka_unit_test(test_campaign_makes_blocks),
      cmocka_unit_test(test_campaign_errors),
      cmocka_unit_test(test_campaign_too_large),
      cmocka_unit_test(test_all_mistakes_at_once),
      cmocka_unit_test(test_plugin_name_errors),
      cmocka_unit_test(test_checks_of_plugins),
      cmocka_unit_test(test_variant),
      cmocka_unit_test(test_variant_errors),
      cmocka_unit_test(test_updates_that_the_kernel_does_not_have),
      cmocka_unit_test(test_output_errors),
      cmocka_unit_test(test_output_of_every_type),
      cmocka_unit_test(test_output_with_braces),
      cmocka_unit_test(test_checks_are_independent),
      cmocka_unit_test(test_checks_of_instances),
      cmocka_unit_test(test_checks_of_instances_in_campaigns),
      cmocka_unit_test(test_instruction_set_errors),
      cmocka_unit_test(test_overrides),
      cmocka_unit_test(test_overrides_with_empty_text),
      cmocka_unit_test(test_overrides_that_remove),
      cmocka_unit_test(test_overrides_that_remove_errors),
      cmocka_unit_test(test_overrides_errors),
      cmocka_unit_test(test_identity),
      cmocka_unit_test(test_load_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
