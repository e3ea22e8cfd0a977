/* The JSON Schema and the reference page; and what happens when memory runs out on the way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/fake_plugins.h"

static const char good[] =
    "gpumc: 1\nseed: 7\noutput: out.h5\nmodel: {name: chain, shape: [8, 4]}\n"
    "algorithm: {name: anneal, population: 100, beta: {to: 1.0, step: 0.1}}\n"
    "campaign: {model.J: [1]}\n";

static const cJSON *at(const cJSON *json, const char *path)
{
  char name[64];
  while (json != NULL && *path != '\0') {
    size_t length = strcspn(path, "/");
    memcpy(name, path, length);
    name[length] = '\0';
    json = cJSON_GetObjectItemCaseSensitive(json, name);
    path += length + (path[length] == '/');
  }
  return json;
}

static void assert_json(const cJSON *json, const char *path, const char *expected)
{
  char *printed = cJSON_PrintUnformatted(at(json, path));
  assert_non_null(printed);
  assert_string_equal(printed, expected);
  cJSON_free(printed);
}

static void test_schema_of_keys(void **state)
{
  cJSON *schema = gpumc_language_schema_with(&fake_plugins);
  (void)state;
  assert_json(schema, "properties/seed",
              "{\"description\":\"The seed of all random numbers.\",\"type\":\"integer\","
              "\"minimum\":0,\"maximum\":281474976710655}");
  assert_json(schema, "properties/model/properties/name/enum", "[\"chain\",\"frozen\"]");
  assert_json(schema, "definitions/model-chain/properties/shape",
              "{\"description\":\"Sites in each direction. Unit: sites.\",\"anyOf\":["
              "{\"type\":\"array\",\"items\":{\"type\":\"integer\",\"minimum\":2,"
              "\"maximum\":1024,\"multipleOf\":2},\"minItems\":1,\"maxItems\":3},"
              "{\"type\":\"integer\",\"minimum\":2,\"maximum\":1024,\"multipleOf\":2}]}");
  assert_json(schema, "definitions/algorithm-anneal/properties/beta/properties/overlap",
              "{\"description\":\"Adaptive steps.\",\"type\":\"number\",\"exclusiveMinimum\":0,"
              "\"maximum\":1}");
  assert_json(schema, "definitions/algorithm-anneal/properties/window/required", "[\"from\",\"to\"]");
  assert_json(schema, "definitions/algorithm-anneal/properties/pause/default", "\"90 s\"");
  assert_json(schema, "properties/campaign/additionalProperties", "false");
  cJSON_Delete(schema);
}

/* Every object with properties of its own closes itself; fragments of conditions do not. */
static void test_schema_blocks_are_closed(void **state)
{
  cJSON *schema = gpumc_language_schema_with(&fake_plugins);
  const cJSON *definition = NULL;
  (void)state;
  assert_json(schema, "additionalProperties", "false");
  cJSON_ArrayForEach(definition, at(schema, "definitions"))
  {
    assert_json(definition, "additionalProperties", "false");
  }
  assert_json(schema, "definitions/algorithm-anneal/properties/beta/additionalProperties", "false");
  cJSON_Delete(schema);
}

static void test_reference(void **state)
{
  struct gpumc_text text = {0};
  (void)state;
  gpumc_language_reference_with(&fake_plugins, &text);
  const char *page = gpumc_text_string(&text);
  static const char *const parts[] = {
      "| `seed` | an integer from 0 to 281474976710655 |  | required | yes | ",
      "| `checkpoint.every` | a duration such as 10 min |  | `10 min` |  | ",
      "## Model `chain`\n",
      "| `model.shape` | a list of 1 to 3 values, each an integer from 2 to 1024, a multiple of 2 "
      "| sites | required | yes | ",
      "| `algorithm.beta.step` | a number greater than 0 |  | one of a group | yes | Constant "
      "step. "
      "Exactly one of `step`, `overlap`. |",
      "| `abs_magnetization` | <\\|m\\|> | 1 | absolute magnetization per site |",
      "| cuda | `deep` | `chain-deep` | On no CPU. |",
      "```bibtex\n@misc{anneal}\n```\n"};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (strstr(page, parts[i]) == NULL)
      fail_msg("the page does not hold: %s\n%s", parts[i], page);
  gpumc_text_free(&text);
}

static size_t allocations_left;

static void *failing_malloc(size_t size)
{
  if (allocations_left == 0)
    return NULL;
  allocations_left--;
  return malloc(size);
}

static void fail_after(size_t allocations)
{
  cJSON_Hooks hooks = {.malloc_fn = failing_malloc, .free_fn = free};
  allocations_left = allocations;
  cJSON_InitHooks(&hooks);
}

static void test_schema_without_memory_errors(void **state)
{
  cJSON *schema = NULL;
  size_t allocations = 0;
  (void)state;
  for (; schema == NULL; allocations += 7) {
    fail_after(allocations);
    schema = gpumc_language_schema_with(&fake_plugins);
  }
  assert_true(allocations > 500);
  cJSON_Delete(schema);
  cJSON_InitHooks(NULL);
}

static void test_config_without_memory_errors(void **state)
{
  enum gpumc_status status = GPUMC_FAILURE;
  (void)state;
  for (size_t allocations = 0; status != GPUMC_OK; allocations++) {
    struct gpumc_config config;
    struct gpumc_error error = {0};
    fail_after(allocations);
    status = gpumc_config_parse_with(&fake_plugins, "c", good, sizeof good - 1, NULL, 0, &config,
                                     &error);
    if (status != GPUMC_OK) {
      assert_int_equal(status, GPUMC_FAILURE);
      assert_memory_equal(gpumc_error_text(&error), "out of memory", 13);
    }
    gpumc_error_free(&error);
    gpumc_config_free(&config);
  }
  cJSON_InitHooks(NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_schema_of_keys),
      cmocka_unit_test(test_schema_blocks_are_closed),
      cmocka_unit_test(test_reference),
      cmocka_unit_test(test_schema_without_memory_errors),
      cmocka_unit_test(test_config_without_memory_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
