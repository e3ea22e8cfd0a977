/* The registered plugins, and the choice of a kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/config/config.h"
#include "core/config/params.h"
#include "core/simulation/registry.h"
#include "core/simulation/shared_keys.h"
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

/* Former names of variants of the models here. */
static void test_former_names(void **state)
{
  const struct gpumc_model_ops *ising = gpumc_model_find("ising2d");
  const struct gpumc_kernel_ops *kernel = gpumc_kernel_named(ising, "cpu", "replica");
  (void)state;
  assert_non_null(kernel);
  assert_string_equal(kernel->variant, "walker");
  assert_ptr_equal(kernel, gpumc_kernel_named(ising, "cpu", "walker"));
}

static void test_find_errors(void **state)
{
  (void)state;
  assert_null(gpumc_model_find("ising"));
  assert_null(gpumc_model_find(""));
  assert_null(gpumc_algorithm_find("PA"));
}

struct lists {
  const struct gpumc_key *keys;
  size_t values;
};

/* Returns whether the key stands in the place of another one, which cannot be given beside it: it
 * is a list of temperatures, or is in a block of them. */
static bool is_alternative(const struct gpumc_key *keys, const char *dotted_key)
{
  char name[GPUMC_KEY_NAME_BYTES];
  for (size_t length = 1; length <= strlen(dotted_key); length++)
    if (dotted_key[length] == '.' || dotted_key[length] == '\0') {
      snprintf(name, sizeof name, "%.*s", (int)length, dotted_key);
      if (gpumc_key_find(keys, name)->inverse_of != NULL)
        return true;
    }
  return false;
}

static void add_list(void *state, const char *dotted_key, const struct gpumc_key *key)
{
  struct lists *lists = state;
  if (key->list_maximum > GPUMC_LIST_MAXIMUM)
    fail_msg("%s: a list of %zu values", dotted_key, key->list_maximum);
  if (!is_alternative(lists->keys, dotted_key))
    lists->values += key->list_maximum;
}

static size_t values_in_lists(const struct gpumc_key *keys)
{
  struct lists lists = {.keys = keys};
  gpumc_keys_visit(keys, "", add_list, &lists);
  return lists.values;
}

/* The longest lists together, with all digits of each number, each on its own line. */
static void test_lists_have_room_in_a_configuration(void **state)
{
  enum { LINE_BYTES = 32, OTHER_KEYS_AND_VALUES = 1000 };
  (void)state;
  for (size_t i = 0; gpumc_models()[i] != NULL; i++)
    for (size_t k = 0; gpumc_algorithms()[k] != NULL; k++) {
      const size_t values = OTHER_KEYS_AND_VALUES + values_in_lists(gpumc_models()[i]->keys) +
                            values_in_lists(gpumc_algorithms()[k]->keys);
      assert_in_range(values, OTHER_KEYS_AND_VALUES, GPUMC_CONFIG_NODES_MAXIMUM);
      assert_in_range(values * LINE_BYTES, 0, GPUMC_CONFIG_BYTES_MAXIMUM);
    }
}

static const struct gpumc_kernel_wish annealed_chain = {.model = &fake_chain,
                                                        .algorithm = &fake_anneal};

static const struct gpumc_kernel_ops *choose(const char *device, const char *variant)
{
  const struct gpumc_kernel_ops *kernel;
  struct gpumc_error error = {0};
  if (gpumc_kernel_choose(&annealed_chain, device, variant, &kernel, &error) != GPUMC_OK)
    fail_msg("%s", gpumc_error_text(&error));
  return kernel;
}

static void test_choose(void **state)
{
  const struct gpumc_kernel_wish look = {.model = &fake_chain, .algorithm = &fake_look};
  const struct gpumc_kernel_ops *kernel;
  struct gpumc_error error = {0};
  (void)state;
  assert_string_equal(choose("cpu", "auto")->variant, "wide");
  assert_string_equal(choose("cuda", "auto")->variant, "wide");
  assert_string_equal(choose("cuda", "auto")->trajectory, choose("cpu", "auto")->trajectory);
  assert_string_equal(choose("cuda", "deep")->variant, "deep");
  assert_int_equal(gpumc_kernel_choose(&look, "cpu", "auto", &kernel, &error), GPUMC_OK);
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
       "no kernel of model chain on cpu can run algorithm anneal: plain cannot copy replicas; "
       "kernels "
       "that "
       "can: wide on cpu, wide on cuda, deep on cuda"},
      {&fake_frozen, "cuda", "auto",
       "model frozen has no kernel for cuda; it has kernels for: cpu"},
      {&fake_frozen, "cpu", "auto",
       "no kernel of model frozen on cpu can run algorithm anneal: still cannot sweep, copy "
       "replicas; "
       "kernels that can: none"}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const struct gpumc_kernel_ops *kernel = &(struct gpumc_kernel_ops){0};
    struct gpumc_error error = {0};
    const struct gpumc_kernel_wish wish = {.model = cases[i].model, .algorithm = &fake_anneal};
    assert_int_equal(gpumc_kernel_choose(&wish, cases[i].device, cases[i].variant, &kernel, &error),
                     GPUMC_INVALID);
    assert_string_equal(gpumc_error_text(&error), cases[i].message);
    assert_null(kernel);
    gpumc_error_free(&error);
  }
}

/* A model with one CPU kernel and two that this build lacks. */
static const struct gpumc_kernel_ops near = {.device = "cpu", .variant = "near"},
                                     near_absent = {.device = "cuda",
                                                    .variant = "near",
                                                    .absent = GPUMC_OPERATION_SWEEP},
                                     far_absent = {.device = "cuda",
                                                   .variant = "far",
                                                   .absent = GPUMC_OPERATION_SWEEP};
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
       "kernel variant 'far' of model half runs only on cuda, and this gpumc was built without "
       "CUDA"},
      {&half, "cuda", "auto",
       "model half has no kernel for cuda in this gpumc, built without CUDA; it has kernels for: "
       "cpu"},
      {&half, "cpu", "fra",
       "model half has no kernel variant 'fra' on cpu; its variants are: near"},
      {&fake_chain, "cpu", "deep",
       "kernel variant 'deep' of model chain runs on cuda, not on cpu"}};
  const struct gpumc_kernel_ops *kernel;
  struct gpumc_error error = {0};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const struct gpumc_kernel_wish wish = {.model = cases[i].model, .algorithm = &idle};
    assert_int_equal(gpumc_kernel_choose(&wish, cases[i].device, cases[i].variant, &kernel, &error),
                     GPUMC_INVALID);
    assert_string_equal(gpumc_error_text(&error), cases[i].message);
    gpumc_error_free(&error);
  }
  const struct gpumc_kernel_wish wish = {.model = &half, .algorithm = &idle};
  assert_int_equal(gpumc_kernel_choose(&wish, "cpu", "auto", &kernel, &error), GPUMC_OK);
  assert_ptr_equal(kernel, &near);
}

static const char *refuses_odd(const struct gpumc_model *model,
                               const struct gpumc_kernel_options *options, const char **key)
{
  (void)options;
  (void)key;
  return model->sites % 2 == 1 ? "it takes no odd number of sites" : NULL;
}

static const struct gpumc_kernel_ops picky = {
    .device = "cpu", .variant = "picky", .refuses = refuses_odd};
static const struct gpumc_kernel_ops *const picky_kernels[] = {&picky, &near, NULL};
static const struct gpumc_model_ops choosy = {.name = "choosy", .kernels = picky_kernels};

/* `auto` skips a kernel that cannot take the instance; if it is requested, it is refused. */
static void test_kernels_that_cannot_take_the_instance(void **state)
{
  const struct gpumc_model even = {.ops = &choosy, .sites = 4}, odd = {.ops = &choosy, .sites = 3};
  const struct gpumc_kernel_wish for_even = {&choosy, &even, &idle, NULL},
                                 for_odd = {&choosy, &odd, &idle, NULL},
                                 for_any = {&choosy, NULL, &idle, NULL};
  const struct gpumc_kernel_ops *kernel;
  struct gpumc_error error = {0};
  (void)state;
  assert_int_equal(gpumc_kernel_choose(&for_even, "cpu", "auto", &kernel, &error), GPUMC_OK);
  assert_ptr_equal(kernel, &picky);
  assert_int_equal(gpumc_kernel_choose(&for_odd, "cpu", "auto", &kernel, &error), GPUMC_OK);
  assert_ptr_equal(kernel, &near);
  assert_int_equal(gpumc_kernel_choose(&for_any, "cpu", "picky", &kernel, &error), GPUMC_OK);
  assert_int_equal(gpumc_kernel_choose(&for_odd, "cpu", "picky", &kernel, &error), GPUMC_INVALID);
  assert_string_equal(
      gpumc_error_text(&error),
      "no kernel of model choosy on cpu can run algorithm idle: picky cannot simulate "
      "this model: it takes no odd number of sites; kernels that can: near on cpu");
  gpumc_error_free(&error);
}

static enum gpumc_status
measure(struct gpumc_ensemble *ensemble, int64_t *const *channel, struct gpumc_error *error)
{
  (void)ensemble, (void)channel, (void)error;
  return GPUMC_OK;
}

/* Two kernels; only the second has the move that some blocks request. */
static const struct gpumc_move steps[] = {{.name = "step"}, {.name = "stride"}};
static const struct gpumc_kernel_ops
    still = {.device = "cpu", .variant = "still", .moves = steps, .n_moves = 1},
    walker = {.device = "cpu", .variant = "walker", .moves = steps, .n_moves = 2};
static const struct gpumc_kernel_ops *const walking_kernels[] = {&still, &walker, NULL};
static const struct gpumc_model_ops walkable = {.name = "walkable", .kernels = walking_kernels};
static const struct gpumc_algorithm_ops stroll = {.name = "stroll"},
                                        march = {.name = "march",
                                                 .required = GPUMC_OPERATION_MEASURE};

/* `auto` skips a kernel that lacks the move a key requests; if it is requested, it is refused, with
 * advice on the key if that alone is the obstacle. */
static void test_kernels_that_lack_a_move(void **state)
{
  (void)state;
  const struct gpumc_params near_by = {.values = cJSON_Parse("{\"update\":\"step\"}")};
  const struct gpumc_params far_away = {.values = cJSON_Parse("{\"update\":\"stride\"}")};
  const struct gpumc_kernel_wish short_one = {&walkable, NULL, &stroll, &near_by},
                                 long_one = {&walkable, NULL, &stroll, &far_away},
                                 any = {&walkable, NULL, &stroll, NULL},
                                 measured = {&walkable, NULL, &march, &far_away};
  const struct gpumc_kernel_ops *kernel;
  struct gpumc_error error = {0};
  assert_int_equal(gpumc_kernel_choose(&short_one, "cpu", "auto", &kernel, &error), GPUMC_OK);
  assert_ptr_equal(kernel, &still);
  assert_int_equal(gpumc_kernel_choose(&long_one, "cpu", "auto", &kernel, &error), GPUMC_OK);
  assert_ptr_equal(kernel, &walker);
  assert_int_equal(gpumc_kernel_choose(&any, "cpu", "still", &kernel, &error), GPUMC_OK);
  assert_int_equal(gpumc_kernel_choose(&long_one, "cpu", "still", &kernel, &error), GPUMC_INVALID);
  assert_string_equal(gpumc_error_text(&error),
                      "no kernel of model walkable on cpu can run algorithm stroll: still cannot "
                      "do update: stride; kernels that can: walker on cpu; or use "
                      "algorithm.update: step");
  gpumc_error_free(&error);
  assert_int_equal(gpumc_kernel_choose(&measured, "cpu", "auto", &kernel, &error), GPUMC_INVALID);
  assert_string_equal(
      gpumc_error_text(&error),
      "no kernel of model walkable on cpu can run algorithm march: still cannot measure, "
      "do update: stride; walker cannot measure; kernels that can: none");
  gpumc_error_free(&error);
  cJSON_Delete((cJSON *)near_by.values);
  cJSON_Delete((cJSON *)far_away.values);
}

/* A kernel has the operations that are not NULL; a kernel of another build has those it
 * declares. */
static void test_operations_of_kernels(void **state)
{
  static const uint32_t all = 0x17f;
  const struct gpumc_kernel_ops measures = {.measure = measure};
  (void)state;
  assert_int_equal(gpumc_kernel_operations(&still), 0);
  assert_int_equal(gpumc_kernel_operations(&measures), GPUMC_OPERATION_MEASURE);
  assert_int_equal(gpumc_kernel_operations(&far_absent), GPUMC_OPERATION_SWEEP);
  assert_int_equal(gpumc_kernel_operations(gpumc_model_find("ising2d")->kernels[0]), all);
  assert_string_equal(gpumc_operation_name(GPUMC_OPERATION_GATHER), "gather");
  assert_null(gpumc_operation_name(0));
  assert_null(gpumc_operation_name(1u << 31));
}

static double
of_words(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan, size_t replicas)
{
  (void)plan;
  return (double)model->sites * (double)((replicas + 31) / 32);
}

static double of_replicas(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan,
                          size_t replicas)
{
  (void)plan;
  return (double)model->sites * (double)replicas / 8;
}

/* Returns sixteen updates per site for a sweep of the same cost. */
static double sixteen(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  (void)plan;
  return 16 * (double)model->sites;
}

static const struct gpumc_kernel_ops words = {.device = "cpu",
                                              .variant = "words",
                                              .cost = of_words},
                                     each = {.device = "cpu",
                                             .variant = "each",
                                             .cost = of_replicas},
                                     slow = {.device = "cpu", .variant = "slow"};
static const struct gpumc_kernel_ops *const priced_kernels[] = {&slow, &words, &each, NULL};
static const struct gpumc_model_ops priced = {.name = "priced", .kernels = priced_kernels};

static size_t replicas_of(const struct gpumc_params *params)
{
  return (size_t)gpumc_params_integer(params, "replicas");
}

static const struct gpumc_algorithm_ops counted = {.name = "counted", .replicas = replicas_of};

/* `auto` takes the cheapest kernel for the number of replicas in the keys, the first if the number
 * is unknown, and a kernel without a cost only if it is requested. */
static void test_kernels_with_a_cost(void **state)
{
  static const struct {
    const char *params;
    const struct gpumc_kernel_ops *expected;
  } cases[] = {{"{\"replicas\":1}", &each},
               {"{\"replicas\":7}", &each},
               {"{\"replicas\":8}", &words}, /* the same cost: the first one */
               {"{\"replicas\":32}", &words},
               {"{\"replicas\":33}", &words}};
  const struct gpumc_model model = {.ops = &priced, .sites = 4};
  const struct gpumc_kernel_ops *kernel;
  struct gpumc_error error = {0};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const struct gpumc_params params = {.values = cJSON_Parse(cases[i].params)};
    const struct gpumc_kernel_wish wish = {&priced, &model, &counted, &params};
    assert_int_equal(gpumc_kernel_choose(&wish, "cpu", "auto", &kernel, &error), GPUMC_OK);
    assert_string_equal(kernel->variant, cases[i].expected->variant);
    assert_int_equal(gpumc_kernel_choose(&wish, "cpu", "slow", &kernel, &error), GPUMC_OK);
    assert_ptr_equal(kernel, &slow);
    cJSON_Delete((cJSON *)params.values);
  }
  const struct gpumc_kernel_wish open = {&priced, &model, &counted, NULL};
  assert_int_equal(gpumc_kernel_choose(&open, "cpu", "auto", &kernel, &error), GPUMC_OK);
  assert_ptr_equal(kernel, &slow);
}

/* The cost of an equal number of updates is compared, not that of a sweep. */
static void test_kernels_by_their_trials(void **state)
{
  const struct gpumc_kernel_ops thorough = {
      .device = "cpu", .variant = "thorough", .cost = of_words, .trials = sixteen};
  const struct gpumc_kernel_ops *const kernels[] = {&each, &words, &thorough, NULL};
  const struct gpumc_model_ops ops = {.name = "priced", .kernels = kernels};
  const struct gpumc_model model = {.ops = &ops, .sites = 4};
  const struct gpumc_params params = {.values = cJSON_Parse("{\"replicas\":4}")};
  const struct gpumc_kernel_wish wish = {&ops, &model, &counted, &params};
  const struct gpumc_kernel_ops *kernel;
  struct gpumc_error error = {0};
  (void)state;
  assert_int_equal(gpumc_kernel_choose(&wish, "cpu", "auto", &kernel, &error), GPUMC_OK);
  assert_ptr_equal(kernel, &thorough);
  assert_string_equal(gpumc_trials_unit(&thorough), "trials");
  assert_string_equal(gpumc_trials_unit(&each), "flips");
  assert_true(gpumc_kernel_trials(&each, &model, NULL) == 4);
  cJSON_Delete((cJSON *)params.values);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_find),
      cmocka_unit_test(test_find_errors),
      cmocka_unit_test(test_former_names),
      cmocka_unit_test(test_lists_have_room_in_a_configuration),
      cmocka_unit_test(test_choose),
      cmocka_unit_test(test_choose_errors),
      cmocka_unit_test(test_kernels_that_a_build_lacks),
      cmocka_unit_test(test_kernels_that_cannot_take_the_instance),
      cmocka_unit_test(test_kernels_that_lack_a_move),
      cmocka_unit_test(test_operations_of_kernels),
      cmocka_unit_test(test_kernels_with_a_cost),
      cmocka_unit_test(test_kernels_by_their_trials),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
