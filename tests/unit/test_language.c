/* The configuration language, from text to tasks, with plugins that compute nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/language_fixture.h"

static void test_one_task(void **state)
{
  struct gpumc_config config;
  (void)state;
  language_accept(GOOD, &config);
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
  assert_true(gpumc_params_last(&root, "model.shape") == 4);
  assert_true(gpumc_params_real(&algorithm, "beta.step") == 0.1);
  assert_null(algorithm.node);
  gpumc_config_free(&config);
}

static void test_all_mistakes_at_once(void **state)
{
  (void)state;
  language_refuse(
      "gpumc: 2\nsede: 7\nmodel:\n  name: chain\n  shape: [3, 4096]\nalgorithm:\n"
      "  name: anneal\n  poulation: 5\n  beta: {from: -1}\nrng: mersenne\n",
      "c.yaml:1:1: missing key 'output'\n"
      "c.yaml:1:8: gpumc: expected an integer equal to 1, found the number 2\n"
      "c.yaml:2:1: unknown key 'sede'; did you mean 'seed'?\n"
      "c.yaml:5:11: model.shape: expected an integer from 2 to 1024, a multiple of 2, found the "
      "number 3\n"
      "c.yaml:5:14: model.shape: expected an integer from 2 to 1024, a multiple of 2, found the "
      "number 4096\n"
      "c.yaml:8:3: unknown key 'poulation' in algorithm; did you mean 'population'?\n"
      "c.yaml:9:3: missing key 'to' in algorithm.beta\n"
      "c.yaml:9:3: give exactly one of 'step', 'overlap' in algorithm.beta\n"
      "c.yaml:9:16: algorithm.beta.from: expected a number of at least 0, found the number -1\n"
      "c.yaml:10:6: rng: expected one of philox4x32-10, philox4x32-7, found text 'mersenne'");
}

static void test_plugin_name_errors(void **state)
{
  (void)state;
  language_refuse(
      HEAD "model: {name: chian, shape: 5, x: 1}\n"
           "algorithm: {name: anneal, population: 1, beta: {to: 1, step: 0.1}}\n"
           "campaign: {model.z: [1]}\n",
      "c.yaml:4:15: model.name: expected one of chain, frozen, found text 'chian'; did you mean "
      "'chain'?\n"
      "c.yaml:4:29: model.shape: expected a list of 1 to 3 values, each an integer from 2 to 1024, "
      "a "
      "multiple of 2, found the number 5\n"
      "c.yaml:4:32: unknown key 'x' in model; known keys: name, shape, J, periodic, weights\n"
      "c.yaml:5:39: algorithm.population: expected an integer from 2 to 2147483647, found the "
      "number 1\n"
      "c.yaml:6:12: unknown key 'model.z' in campaign; did you mean 'model.J'?");
  language_refuse(
      HEAD "model: {name: spins, shape: 5, x: 1}\n" ALGORITHM,
      "c.yaml:4:15: model.name: expected one of chain, frozen, found text 'spins'\n"
      "c.yaml:4:29: model.shape: expected a list of 1 to 3 values, each an integer from 2 "
      "to 1024, a multiple of 2, found the number 5\n"
      "c.yaml:4:32: unknown key 'x' in model: no model has it");
  language_refuse(HEAD "model: {shape: [2]}\nalgorithm: []\n",
                  "c.yaml:4:1: missing key 'name' in model\n"
                  "c.yaml:5:12: algorithm: expected a block of keys, found a list");
  language_refuse(HEAD MODEL, "c.yaml:1:1: missing key 'algorithm'");
}

static void test_checks_of_plugins(void **state)
{
  (void)state;
  language_refuse(HEAD "model: {name: chain, shape: [1024, 8]}\n" ALGORITHM,
                  "c.yaml:4:29: 8192 sites are too many for a test");
  language_refuse(HEAD
                  "model: {name: chain, shape: [2]}\n"
                  "algorithm: {name: anneal, population: 2, offset: 13, beta: {from: 2, to: 1, "
                  "step: 0.1}}\n",
                  "c.yaml:5:60: nothing to anneal in chain at offset 13\n"
                  "c.yaml:5:74: beta.to must exceed beta.from");
}

/* Whatever is wrong elsewhere, each check that can be made is made. */
static void test_checks_are_independent(void **state)
{
  (void)state;
  language_refuse(
      "gpumc: 1\nseed: 0x10\noutput: o{foo}.h5\nmodel: {name: chain, shape: [1024, 8]}\n"
      "algorithm: {name: anneal, population: 1, beta: {to: 1, step: 0.1}}\n",
      "c.yaml:2:7: seed: expected an integer from 0 to 281474976710655, found text '0x10'\n"
      "c.yaml:3:9: output: unknown key 'foo' in braces\n"
      "c.yaml:4:29: 8192 sites are too many for a test\n"
      "c.yaml:5:39: algorithm.population: expected an integer from 2 to 2147483647, found the "
      "number 1");
  language_refuse(
      "gpumc: 1\nseed: 0x10\noutput: 'o{seed}{model}.h5'\n" MODEL
      "algorithm: {name: anneal, population: 2, beta: {from: 2, to: 1, step: 0.1}}\n",
      "c.yaml:2:7: seed: expected an integer from 0 to 281474976710655, found text '0x10'\n"
      "c.yaml:3:9: output: 'model' in braces is a block, not a value\n"
      "c.yaml:5:62: beta.to must exceed beta.from");
  language_refuse(
      "gpumc: 1\nseed: 1\noutput: '{foo}{model.bar}{algorithm.note}.h5'\n"
      "model: {name: chian}\n" ALGORITHM,
      "c.yaml:3:9: output: unknown key 'foo' in braces\n"
      "c.yaml:3:9: output: unknown key 'model.bar' in braces; did you mean 'model.name'?\n"
      "c.yaml:4:1: missing key 'shape' in model\n"
      "c.yaml:4:15: model.name: expected one of chain, frozen, found text 'chian'; did you mean "
      "'chain'?");
  language_refuse("gpumc: 1\nseed: 1\noutput: [a]\n" MODEL ALGORITHM,
                  "c.yaml:3:9: output: expected text, found a list");
}

static void test_checks_of_instances(void **state)
{
  (void)state;
  language_refuse(HEAD
                  "model: {name: chain, shape: [64, 64]}\n"
                  "algorithm: {name: anneal, population: 10000000, beta: {to: 1, step: 0.1}}\n",
                  "c.yaml:5:39: 10000000 replicas of 4096 sites are too many");
  language_refuse(HEAD "model: {name: chain, shape: [2], J: 13}\n" ALGORITHM,
                  "c.yaml:4:8: no chain is made with J = 13");
  language_refuse(
      "gpumc: 1\nseed: x\noutput: o.h5\nmodel: {name: chain, shape: [64, 64]}\n"
      "algorithm: {name: anneal, population: 10000000, beta: {to: 1, step: 0.1}}\n",
      "c.yaml:2:7: seed: expected an integer from 0 to 281474976710655, found text 'x'\n"
      "c.yaml:5:39: 10000000 replicas of 4096 sites are too many");
}

static char *identity_of(const char *text)
{
  struct gpumc_config config;
  language_accept(text, &config);
  char *identity = gpumc_task_identity(&config.tasks[0]);
  gpumc_config_free(&config);
  return identity;
}

static void test_identity(void **state)
{
  (void)state;
  char *plain = identity_of(GOOD);
  char *same = identity_of("title: other\noutput: there.h5\ngpumc: 1\nseed: 7\n"
                           "kernel: {device: cuda:1, variant: wide, isa: x86-64-v3}\n"
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
  assert_string_equal(gpumc_error_text(&error),
                      "cannot read /: not a regular file but a directory");
  assert_int_equal(gpumc_config_load("/dev/zero", NULL, 0, &config, &error), GPUMC_FAILURE);
  assert_string_equal(gpumc_error_text(&error),
                      "cannot read /dev/zero: not a regular file but a device");
  gpumc_error_free(&error);
  gpumc_config_free(&config);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_task),
      cmocka_unit_test(test_all_mistakes_at_once),
      cmocka_unit_test(test_plugin_name_errors),
      cmocka_unit_test(test_checks_of_plugins),
      cmocka_unit_test(test_checks_are_independent),
      cmocka_unit_test(test_checks_of_instances),
      cmocka_unit_test(test_identity),
      cmocka_unit_test(test_load_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
