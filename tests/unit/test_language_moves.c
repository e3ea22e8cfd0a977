/* What a configuration asks of its moves: those that kernels have, turns, steps that are tuned,
 * channels that only some measure, keys of moves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/simulation/curves.h"
#include "core/simulation/observables.h"
#include "core/simulation/shared_keys.h"
#include "core/simulation/steps.h"
#include "support/language_fixture.h"

static const struct gpumc_key update_keys[] = {GPUMC_UPDATE_KEY("How a spin is updated."), {0}};
static const struct gpumc_algorithm_ops updating = {.name = "updating",
                                                    .summary = "Updates nothing.",
                                                    .keys = update_keys,
                                                    .required = GPUMC_OPERATION_SWEEP};

static const struct gpumc_key shaking_keys[] = {
    GPUMC_UPDATE_KEY_FOR(GPUMC_ATHERMAL, "How a state is updated."), {0}};
static const struct gpumc_algorithm_ops shaking = {.name = "shaking",
                                                   .summary = "Knows no temperature.",
                                                   .keys = shaking_keys,
                                                   .target = GPUMC_ATHERMAL,
                                                   .required = GPUMC_OPERATION_SWEEP};

/* The chain's kernels have one move, and that of another model two. */
static const struct gpumc_move both[] = {{.name = "metropolis", .summary = "The first."},
                                         {.name = "heat_bath", .summary = "The second."}};
static const struct gpumc_kernel_ops bathing_kernel = {.device = "cpu",
                                                       .variant = "bathing",
                                                       .summary = "Moves nothing in two ways.",
                                                       .trajectory = "bathing",
                                                       .moves = both,
                                                       .n_moves = 2};
static const struct gpumc_kernel_ops *const bathing_kernels[] = {&bathing_kernel, NULL};
static const struct gpumc_key no_keys[] = {{0}};
static const struct gpumc_control controls[] = {
    {{"beta", "inverse temperature", "1", "β"}, .inverse_temperature = true}};
static const struct gpumc_control pressures[] = {
    {.label = {"beta_pressure", "pressure", "1", "βP"}}};
static const struct gpumc_model_ops bathing = {.name = "bathing",
                                               .summary = "Has two moves.",
                                               .keys = no_keys,
                                               .controls = controls,
                                               .n_controls = 1,
                                               .kernels = bathing_kernels};

/* The mistakes where there are any, else the variant. */
static void check(const struct gpumc_plugins *plugins, const char *text, const char *variant,
                  const char *expected)
{
  struct gpumc_config config;
  struct gpumc_error error = {0};
  const enum gpumc_status status =
      gpumc_config_parse_with(plugins, "c.yaml", text, strlen(text), NULL, 0, &config, &error);
  assert_int_equal(status, expected == NULL ? GPUMC_OK : GPUMC_INVALID);
  if (status == GPUMC_OK) {
    const struct gpumc_params kernel = gpumc_task_params(&config.tasks[0], "kernel");
    assert_string_equal(gpumc_params_string(&kernel, "variant"), variant);
  } else {
    assert_string_equal(gpumc_error_text(&error), expected);
  }
  gpumc_error_free(&error);
  gpumc_config_free(&config);
}

/* Of an algorithm with the key `update`. */
static void check_update(const struct gpumc_model_ops *model, const char *text, const char *variant,
                         const char *expected)
{
  const struct gpumc_model_ops *const models[] = {model, &bathing, NULL};
  static const struct gpumc_algorithm_ops *const algorithms[] = {&updating, &shaking, NULL};
  const struct gpumc_plugins plugins = {.models = models, .algorithms = algorithms};
  check(&plugins, text, variant, expected);
}

#define UPDATING "algorithm: {name: updating}\n"
#define BATH "algorithm: {name: updating, update: heat_bath}\n"

/* No kernel of the chain has heat-bath updates. */
static void test_updates_that_no_kernel_has(void **state)
{
  (void)state;
  check_update(&fake_chain, HEAD MODEL UPDATING "kernel: {variant: wide}\n", "wide", NULL);
  check_update(
      &fake_chain, HEAD MODEL BATH "kernel: {variant: wide}\n", NULL,
      "c.yaml:6:19: no kernel of model chain on cpu can run algorithm updating: wide cannot "
      "do update: heat_bath; kernels that can: none; or use algorithm.update: metropolis");
  check_update(&fake_chain, HEAD MODEL BATH, NULL,
               "c.yaml:5:19: no kernel of model chain on cpu can run algorithm updating: plain "
               "cannot do update: heat_bath; wide cannot do update: heat_bath; kernels that can: "
               "none; or use "
               "algorithm.update: metropolis");
  check_update(&fake_chain, HEAD MODEL "algorithm: {name: updating, update: hot_bath}\n", NULL,
               "c.yaml:5:37: algorithm.update: expected one of metropolis, heat_bath, found text "
               "'hot_bath'; did you mean 'heat_bath'?");
}

/* `auto` passes over those that do not have them. */
static void test_updates_that_one_kernel_has(void **state)
{
  struct gpumc_kernel_ops kernel[] = {*fake_chain.kernels[0], *fake_chain.kernels[1]};
  const struct gpumc_kernel_ops *const kernels[] = {&kernel[0], &kernel[1], NULL};
  struct gpumc_model_ops model = fake_chain;
  (void)state;
  kernel[1].moves = both;
  kernel[1].n_moves = 2;
  model.kernels = kernels;
  check_update(&model, HEAD MODEL UPDATING, "plain", NULL);
  check_update(&model, HEAD MODEL BATH, "wide", NULL);
  check_update(
      &model, HEAD MODEL BATH "kernel: {variant: plain}\n", NULL,
      "c.yaml:6:19: no kernel of model chain on cpu can run algorithm updating: plain cannot "
      "do update: heat_bath; kernels that can: wide on cpu; or use algorithm.update: metropolis");
}

/* Kernels for another device that only other builds have are no mistake of a configuration. */
static void test_device_of_another_build(void **state)
{
  struct gpumc_kernel_ops kernel[] = {*fake_chain.kernels[0], *fake_chain.kernels[0]};
  const struct gpumc_kernel_ops *const kernels[] = {&kernel[0], &kernel[1], NULL};
  struct gpumc_model_ops model = fake_chain;
  (void)state;
  kernel[1].device = "cuda";
  kernel[1].absent = GPUMC_OPERATION_SWEEP;
  model.kernels = kernels;
  check_update(&model, HEAD MODEL UPDATING "kernel: {device: cuda}\n", "plain", NULL);
  kernel[1].variant = "another";
  check_update(&model, HEAD MODEL UPDATING "kernel: {device: cuda}\n", NULL,
               "c.yaml:6:18: kernel variant 'plain' of model chain runs on cpu, not on cuda");
}

/* Without the key in the file: the first move of the model's first kernel. */
static void test_default_move(void **state)
{
  static const struct gpumc_move reversed[] = {{.name = "heat_bath"}, {.name = "metropolis"}};
  struct gpumc_kernel_ops kernel = *fake_chain.kernels[0];
  const struct gpumc_kernel_ops *const kernels[] = {&kernel, NULL};
  struct gpumc_model_ops model = fake_chain;
  (void)state;
  kernel.moves = reversed;
  kernel.n_moves = 1;
  model.kernels = kernels;
  check_update(&model, HEAD MODEL UPDATING, "plain", NULL);
  check_update(&model, HEAD MODEL "algorithm: {name: updating, update: metropolis}\n", NULL,
               "c.yaml:5:19: no kernel of model chain on cpu can run algorithm updating: plain "
               "cannot do update: metropolis; kernels that can: none; or use algorithm.update: "
               "heat_bath");
}

/* Weights by a temperature and states of equal weight: algorithms and moves are for one of them,
 * and a model without controls has the latter. */
static void test_targets(void **state)
{
  static const struct gpumc_move moves[] = {
      {.name = "metropolis", .targets = 1u << GPUMC_BOLTZMANN},
      {.name = "shake", .targets = 1u << GPUMC_ATHERMAL},
      {.name = "stir", .targets = 1u << GPUMC_ATHERMAL | 1u << GPUMC_BOLTZMANN}};
  struct gpumc_kernel_ops kernel = *fake_chain.kernels[0];
  const struct gpumc_kernel_ops *const kernels[] = {&kernel, NULL};
  struct gpumc_model_ops model = fake_chain;
  (void)state;
  check_update(&model, HEAD MODEL "algorithm: {name: shaking}\n", NULL,
               "c.yaml:5:19: algorithm shaking gives all states the same weight, but model chain "
               "weights them by their energy: use updating");
  kernel.moves = moves;
  kernel.n_moves = 3;
  model.kernels = kernels;
  check_update(&model, HEAD MODEL "algorithm: {name: shaking}\n", "plain", NULL);
  check_update(&model, HEAD MODEL "algorithm: {name: shaking, update: stir}\n", "plain", NULL);
  check_update(&model, HEAD MODEL "algorithm: {name: updating, update: stir}\n", "plain", NULL);
  check_update(&model, HEAD MODEL "algorithm: {name: shaking, update: metropolis}\n", NULL,
               "c.yaml:5:36: algorithm.update: expected one of shake, stir, found text "
               "'metropolis'");
  model.n_controls = 0;
  check_update(&model, HEAD MODEL "algorithm: {name: shaking}\n", "plain", NULL);
  check_update(&model, HEAD MODEL UPDATING, NULL,
               "c.yaml:5:19: model chain has no temperature, from which algorithm updating "
               "computes weights: all its allowed states have the same weight: use shaking");
  model.n_controls = 1;
  model.controls = pressures;
  check_update(&model, HEAD MODEL UPDATING, NULL,
               "c.yaml:5:19: algorithm updating only moves temperatures, and model chain has none: "
               "use shaking");
  check_update(&model, HEAD MODEL "algorithm: {name: shaking}\n", "plain", NULL);
  model.controls = controls;
  kernel.n_moves = 1;
  check_update(&model, HEAD MODEL UPDATING, "plain", NULL);
}

/* Profiles are asked of algorithms that average them. */
static void test_profiles(void **state)
{
  static const struct gpumc_key asking_keys[] = {GPUMC_REQUESTS_KEY, {0}};
  static const struct gpumc_channel channels[] = {
      {.label = {"energy", "energy per site", GPUMC_UNIT_ENERGY, "E"}},
      {.label = {"correlation", "correlation function", "1", "g"},
       .request_key = "correlation",
       .request = "Whether it is measured.",
       .axis = {"distance", "distance", "1", "r"}}};
  struct gpumc_algorithm_ops averaging = {
      .name = "averaging", .keys = asking_keys, .profiles = true};
  struct gpumc_algorithm_ops asking = {.name = "asking", .keys = asking_keys};
  struct gpumc_model_ops model = fake_chain;
  const struct gpumc_model_ops *const models[] = {&model, NULL};
  const struct gpumc_algorithm_ops *const algorithms[] = {&averaging, &asking, NULL};
  const struct gpumc_plugins plugins = {.models = models, .algorithms = algorithms};
  (void)state;
  model.channels = channels;
  model.n_channels = 2;
  model.n_means = model.n_quantities = 0;
#define ASK "algorithm: {name: asking, correlation: true}\n"
  check(&plugins, HEAD MODEL "algorithm: {name: averaging, correlation: true}\n", "plain", NULL);
  check(&plugins, HEAD MODEL "algorithm: {name: asking, correlation: false}\n", "plain", NULL);
  check(&plugins, HEAD MODEL ASK, NULL,
        "c.yaml:5:40: algorithm asking does not average profiles, and correlation is one: leave it "
        "out, "
        "or use averaging");
  averaging.profiles = false;
  check(&plugins, HEAD MODEL ASK, NULL,
        "c.yaml:5:40: algorithm asking does not average profiles, and correlation is one: leave it "
        "out");
}

#define TURNS "algorithm: {name: updating, update: [{heat_bath: 2}, {metropolis: 1}]}\n"

/* All moves that take turns are the kernel's own; `auto` passes over those that lack one. */
static void test_turns(void **state)
{
  struct gpumc_kernel_ops plain = *fake_chain.kernels[0], wide = *fake_chain.kernels[1];
  const struct gpumc_kernel_ops *const kernels[] = {&plain, &wide, NULL};
  struct gpumc_model_ops model = fake_chain;
  (void)state;
  wide.moves = both;
  wide.n_moves = 2;
  model.kernels = kernels;
  check_update(&model, HEAD MODEL TURNS, "wide", NULL);
  check_update(&model,
               HEAD MODEL "algorithm: {name: updating, update: [{metropolis: 2}, {metropolis: "
                          "1}]}\n",
               "plain", NULL);
  check_update(
      &model, HEAD MODEL TURNS "kernel: {variant: plain}\n", NULL,
      "c.yaml:6:19: no kernel of model chain on cpu can run algorithm updating: plain cannot "
      "do update: heat_bath; kernels that can: wide on cpu; or use algorithm.update: "
      "metropolis");
}

static void read_nothing(const struct gpumc_params *kernel, struct gpumc_kernel_options *options)
{
  (void)kernel, (void)options;
}

static double no_size(const struct gpumc_kernel_options *options)
{
  (void)options;
  return 0;
}

/* Moves with steps: one of them in a list, with a time to tune it. */
static void test_steps_in_turns(void **state)
{
  static const struct gpumc_key keys[] = {
      GPUMC_UPDATE_KEY("How a spin is updated."),
      {.name = "thermalization", .type = GPUMC_KEY_INTEGER, .default_text = "0"},
      {0}};
  static const struct gpumc_key sizes[] = {
      {.name = "width", .type = GPUMC_KEY_REAL}, {.name = "depth", .type = GPUMC_KEY_REAL}, {0}};
  static const struct gpumc_step width = {.label.name = "width", .key = "width", .given = no_size},
                                 depth = {.label.name = "depth", .key = "depth", .given = no_size};
  static const struct gpumc_move three[] = {
      {.name = "still"}, {.name = "shift", .step = &width}, {.name = "dive", .step = &depth}};
  const struct gpumc_algorithm_ops algorithm = {
      .name = "updating", .keys = keys, .required = GPUMC_OPERATION_SWEEP};
  struct gpumc_kernel_ops kernel = *fake_chain.kernels[1];
  const struct gpumc_kernel_ops *const kernels[] = {&kernel, NULL};
  struct gpumc_model_ops model = fake_chain;
  const struct gpumc_model_ops *const models[] = {&model, NULL};
  const struct gpumc_algorithm_ops *const algorithms[] = {&algorithm, NULL};
  const struct gpumc_plugins plugins = {.models = models, .algorithms = algorithms};
  (void)state;
  kernel.moves = three;
  kernel.n_moves = 3;
  kernel.keys = sizes;
  kernel.read = read_nothing;
  model.kernels = kernels;
#define STEPS(thermalization, list)                                                                \
  HEAD MODEL "algorithm: {name: updating, thermalization: " thermalization ", update: " list "}\n"
  check(&plugins, STEPS("16", "[{still: 1}, {shift: 1}]"), "wide", NULL);
  check(
      &plugins, STEPS("15", "[{still: 1}, {shift: 1}]"), NULL,
      "c.yaml:5:45: shift tunes its width during at least the first 8 sweeps that it makes in the "
      "thermalization: set a longer algorithm.thermalization, or kernel.width");
  check(&plugins, STEPS("15", "[{still: 1}, {shift: 1}]") "kernel: {width: 1}\n", "wide", NULL);
  check(&plugins, STEPS("100", "[{shift: 1}, {dive: 1}]"), NULL,
        "c.yaml:5:58: shift and dive both have a step of their own, width and depth: of moves that "
        "take turns only one may have any");
  check(&plugins, STEPS("100", "[{still: 1}, {shift: 1}]") "kernel: {depth: 1}\n", NULL,
        "c.yaml:6:17: kernel.depth has no effect with update: [{still: 1}, {shift: 1}], only "
        "with dive: set algorithm.update to that, or leave kernel.depth out");
#undef STEPS
}

/* A channel that one move measures, asked for with it and without. */
static void test_channels_of_moves(void **state)
{
  static const struct gpumc_key keys[] = {
      GPUMC_UPDATE_KEY("How a spin is updated."), GPUMC_REQUESTS_KEY, {0}};
  static const struct gpumc_channel channels[] = {
      {.label = {"energy", "energy per site", GPUMC_UNIT_ENERGY, "E"}},
      {.label = {"clusters", "clusters", "1", "c"},
       .request_key = "improved",
       .request = "Whether clusters are measured."},
      {.label = {"waves", "waves of clusters", "1", "w"}, .request_key = "improved"}};
  static const struct gpumc_move moves[] = {{.name = "metropolis"},
                                            {.name = "cluster", .measures = 1u << 1 | 1u << 2}};
  const struct gpumc_algorithm_ops algorithm = {
      .name = "updating", .keys = keys, .required = GPUMC_OPERATION_SWEEP};
  const struct gpumc_algorithm_ops unchanging = {
      .name = "unchanging", .keys = keys + 1, .required = GPUMC_OPERATION_SWEEP};
  struct gpumc_kernel_ops kernel = *fake_chain.kernels[0];
  const struct gpumc_kernel_ops *const kernels[] = {&kernel, NULL};
  struct gpumc_model_ops model = fake_chain;
  const struct gpumc_model_ops *const models[] = {&model, NULL};
  const struct gpumc_algorithm_ops *const algorithms[] = {&algorithm, &unchanging, NULL};
  const struct gpumc_plugins plugins = {.models = models, .algorithms = algorithms};
  (void)state;
  kernel.moves = moves;
  kernel.n_moves = 2;
  model.kernels = kernels;
  model.channels = channels;
  model.n_channels = 3;
  model.n_means = model.n_quantities = 0;
#define IMPROVED(update)                                                                           \
  HEAD MODEL "algorithm: {name: updating, improved: true, update: " update "}\n"
  check(&plugins, IMPROVED("cluster"), "plain", NULL);
  check(&plugins, IMPROVED("[{metropolis: 5}, {cluster: 1}]"), "plain", NULL);
  check(&plugins, IMPROVED("metropolis"), NULL,
        "c.yaml:5:39: improved is measured with the help of the move cluster: set algorithm.update "
        "to that, alone or in turn with others, or leave improved out");
  check(&plugins, HEAD MODEL "algorithm: {name: updating, improved: false}\n", "plain", NULL);
  check(&plugins, HEAD MODEL "algorithm: {name: unchanging, improved: true}\n", NULL,
        "c.yaml:5:41: improved is measured with the help of the move cluster, which algorithm "
        "unchanging does not make: leave improved out");
  kernel.n_moves = 1;
  check(&plugins, IMPROVED("metropolis"), "plain", NULL);
#undef IMPROVED
}

/* Where no model is known, all moves there are, and no default, or one for each model. */
static void test_moves_in_schema_and_reference(void **state)
{
  const struct gpumc_model_ops *const models[] = {&fake_chain, &bathing, NULL};
  const struct gpumc_algorithm_ops *const algorithms[] = {&updating, NULL};
  const struct gpumc_plugins plugins = {.models = models, .algorithms = algorithms};
  struct gpumc_text reference = {0};
  (void)state;
  cJSON *schema = gpumc_language_schema_with(&plugins);
  const cJSON *block =
      cJSON_GetObjectItem(cJSON_GetObjectItem(schema, "definitions"), "algorithm-updating");
  const cJSON *key = cJSON_GetObjectItem(cJSON_GetObjectItem(block, "properties"), "update");
  const cJSON *forms = cJSON_GetObjectItem(key, "anyOf"), *list = cJSON_GetArrayItem(forms, 0);
  const cJSON *turns = cJSON_GetObjectItem(cJSON_GetObjectItem(list, "items"), "anyOf");
  char *choices = cJSON_PrintUnformatted(cJSON_GetObjectItem(cJSON_GetArrayItem(forms, 1), "enum"));
  assert_string_equal(choices, "[\"metropolis\",\"heat_bath\"]");
  free(choices);
  choices = cJSON_PrintUnformatted(cJSON_GetObjectItem(cJSON_GetArrayItem(turns, 1), "properties"));
  assert_string_equal(choices,
                      "{\"metropolis\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000000},"
                      "\"heat_bath\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000000}}");
  assert_null(cJSON_GetObjectItem(key, "default"));
  free(choices);
  cJSON_Delete(schema);
  gpumc_language_reference_with(&plugins, &reference);
  assert_non_null(strstr(gpumc_text_string(&reference), "one of metropolis, heat_bath"));
  assert_non_null(strstr(gpumc_text_string(&reference), "| `metropolis (chain, bathing)` |"));
  gpumc_text_free(&reference);
}

static const struct gpumc_key keys_of_some[] = {
    {.name = "depth", .type = GPUMC_KEY_INTEGER, .doc = "Of heat baths.", .default_text = "2"},
    {.name = "stride", .type = GPUMC_KEY_INTEGER, .doc = "Of all moves.", .default_text = "1"},
    {0}};

/* Keys that moves name are for these alone, but for their defaults, and others for all. */
static void test_keys_of_moves(void **state)
{
  static const char *const depth[] = {"depth", NULL};
  static const struct gpumc_move some[] = {{.name = "metropolis"},
                                           {.name = "heat_bath", .keys = depth},
                                           {.name = "deep", .keys = depth}};
  struct gpumc_kernel_ops kernel = *fake_chain.kernels[1];
  const struct gpumc_kernel_ops *const kernels[] = {&kernel, NULL};
  struct gpumc_model_ops model = fake_chain;
  (void)state;
  kernel.moves = some;
  kernel.n_moves = 3;
  kernel.keys = keys_of_some;
  kernel.read = read_nothing;
  model.kernels = kernels;
  check_update(&model, HEAD MODEL BATH "kernel: {depth: 3, stride: 2}\n", "wide", NULL);
  check_update(&model, HEAD MODEL TURNS "kernel: {depth: 3, stride: 2}\n", "wide", NULL);
  check_update(&model, HEAD MODEL UPDATING "kernel: {depth: 2, stride: 2}\n", "wide", NULL);
  check_update(&model, HEAD MODEL UPDATING "kernel: {stride: 2, depth: 3}\n", NULL,
               "c.yaml:6:28: kernel.depth has no effect with update: metropolis, only with "
               "heat_bath, deep: set algorithm.update to that, or leave kernel.depth out");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_device_of_another_build),
      cmocka_unit_test(test_updates_that_no_kernel_has),
      cmocka_unit_test(test_updates_that_one_kernel_has),
      cmocka_unit_test(test_turns),
      cmocka_unit_test(test_steps_in_turns),
      cmocka_unit_test(test_channels_of_moves),
      cmocka_unit_test(test_default_move),
      cmocka_unit_test(test_targets),
      cmocka_unit_test(test_profiles),
      cmocka_unit_test(test_moves_in_schema_and_reference),
      cmocka_unit_test(test_keys_of_moves),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
