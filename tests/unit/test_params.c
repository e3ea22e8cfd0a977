/* Declared keys: every type, its defaults, and every mistake a value can have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "core/config/params.h"

static const char *const choices[] = {"red", "green", NULL};
static const struct gpumc_key inner[] = {
    {.name = "depth", .type = GPUMC_KEY_INTEGER, .default_text = "3"},
    {.name = "either", .type = GPUMC_KEY_REAL, .exactly_one_of = "g"},
    {.name = "or", .type = GPUMC_KEY_REAL, .exactly_one_of = "g"},
    {0}};
static const struct gpumc_key simple[] = {
    {.name = "every", .type = GPUMC_KEY_DURATION, .default_text = "10 min"}, {0}};
static const struct gpumc_key keys[] = {
    {.name = "flag", .type = GPUMC_KEY_BOOLEAN, .default_text = "false"},
    {.name = "count", .type = GPUMC_KEY_INTEGER},
    {.name = "even", .type = GPUMC_KEY_INTEGER, .minimum = 2, .maximum = 64, .multiple_of = 2},
    {.name = "open", .type = GPUMC_KEY_INTEGER, .minimum = 1, .maximum = 9, .or_auto = true},
    {.name = "signed", .type = GPUMC_KEY_INTEGER, .minimum = -5, .maximum = 0},
    {.name = "real", .type = GPUMC_KEY_REAL},
    {.name = "fraction",
     .type = GPUMC_KEY_REAL,
     .minimum = 0,
     .maximum = 1,
     .minimum_exclusive = true},
    {.name = "positive",
     .type = GPUMC_KEY_REAL,
     .minimum = 0,
     .maximum = INFINITY,
     .minimum_exclusive = true},
    {.name = "below", .type = GPUMC_KEY_REAL, .minimum = -INFINITY, .maximum = 2.5},
    {.name = "text", .type = GPUMC_KEY_STRING, .default_text = ""},
    {.name = "colour", .type = GPUMC_KEY_CHOICE, .choices = choices, .default_text = "red"},
    {.name = "device", .type = GPUMC_KEY_DEVICE, .default_text = "auto"},
    {.name = "time", .type = GPUMC_KEY_DURATION, .minimum = 1, .maximum = 60},
    {.name = "size", .type = GPUMC_KEY_SIZE, .default_text = "4 KiB"},
    {.name = "list",
     .type = GPUMC_KEY_REAL,
     .list_minimum = 1,
     .list_maximum = 3,
     .ascending = true,
     .default_text = "[0.5, 1]"},
    {.name = "pair", .type = GPUMC_KEY_INTEGER, .list_minimum = 2, .list_maximum = 2},
    {.name = "many", .type = GPUMC_KEY_INTEGER, .list_minimum = 1, .list_maximum = SIZE_MAX},
    {.name = "light",
     .type = GPUMC_KEY_TURNS,
     .choices = choices,
     .minimum = 1,
     .maximum = 9,
     .list_minimum = 1,
     .list_maximum = 3},
    {.name = "inner", .type = GPUMC_KEY_MAPPING, .children = inner},
    {.name = "simple", .type = GPUMC_KEY_MAPPING, .children = simple},
    {0}};

/* A document and its resolved values. */
struct resolved {
  struct gpumc_document document;
  struct gpumc_report report;
  struct gpumc_params params;
  cJSON *values;
};

static struct resolved resolve(const char *text)
{
  struct resolved r = {0};
  struct gpumc_error error = {0};
  if (gpumc_document_parse("c", text, strlen(text), &r.document, &r.report, &error) != GPUMC_OK)
    fail_msg("%s", gpumc_error_text(&error));
  if (r.document.root == NULL)
    fail_msg("%s", gpumc_text_string(&r.report.lines));
  r.values = gpumc_params_resolve(keys, r.document.root, r.document.root->mark, "block", &r.report);
  r.params = (struct gpumc_params){.values = r.values, .node = r.document.root};
  return r;
}

static void release(struct resolved *r)
{
  cJSON_Delete(r->values);
  gpumc_report_free(&r->report);
  gpumc_document_free(&r->document);
}

static struct resolved accept(const char *text)
{
  struct resolved r = resolve(text);
  if (r.report.mistakes > 0)
    fail_msg("%s", gpumc_text_string(&r.report.lines));
  return r;
}

static void refuse(const char *text, const char *lines)
{
  struct resolved r = resolve(text);
  assert_string_equal(gpumc_text_string(&r.report.lines), lines);
  release(&r);
}

static void test_defaults(void **state)
{
  struct resolved r = accept("{}");
  (void)state;
  char *printed = cJSON_PrintUnformatted(r.values);
  assert_string_equal(printed,
                      "{\"flag\":false,\"text\":\"\",\"colour\":\"red\",\"device\":\"auto\","
                      "\"size\":4096,\"list\":[0.5,1],\"simple\":{\"every\":600}}");
  free(printed);
  assert_false(gpumc_params_has(&r.params, "count"));
  assert_false(gpumc_params_has(&r.params, "inner.depth"));
  assert_true(gpumc_params_has(&r.params, "colour"));
  assert_false(gpumc_params_given(&r.params, "colour"));
  assert_true(gpumc_params_real(&r.params, "simple.every") == 600);
  release(&r);
}

static void test_integers(void **state)
{
  static const struct {
    const char *text;
    int64_t value;
  } cases[] = {{"count: 5", 5},     {"count: -7", -7},
               {"count: +7", 7},    {"count: 1e5", 100000},
               {"count: 2.0", 2},   {"count: 0", 0},
               {"count: -0", 0},    {"count: 9007199254740991", 9007199254740991},
               {"count: 2.5e1", 25}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct resolved r = accept(cases[i].text);
    assert_int_equal(gpumc_params_integer(&r.params, "count"), cases[i].value);
    assert_true(gpumc_params_given(&r.params, "count"));
    release(&r);
  }
}

static void test_auto_is_as_if_left_out(void **state)
{
  static const char *const texts[] = {"open: auto", "open: 'auto'", "{}"};
  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    struct resolved r = accept(texts[i]);
    assert_false(gpumc_params_has(&r.params, "open"));
    release(&r);
  }
  struct resolved r = accept("open: 3");
  assert_int_equal(gpumc_params_integer(&r.params, "open"), 3);
  release(&r);
}

static void test_integers_errors(void **state)
{
  (void)state;
#define WRONG(key, value, expected, found)                                                         \
  refuse(#key ": " value "\n",                                                                     \
         "c:1:" COLUMN ": block." #key ": expected " expected ", found " found "\n")
#define COLUMN "8"
  WRONG(count, "many", "an integer", "text 'many'");
  WRONG(count, "'5'", "an integer", "text '5' in quotes");
  WRONG(count, "1.5", "an integer", "the number 1.5");
  WRONG(count, "0x10", "an integer", "text '0x10'");
  WRONG(count, "0o17", "an integer", "text '0o17'");
  WRONG(count, "017", "an integer", "text '017'");
  WRONG(count, "1_000", "an integer", "text '1_000'");
  WRONG(count, "true", "an integer", "true");
  WRONG(count, "[1]", "an integer", "a list");
  WRONG(count, "{a: 1}", "an integer", "a block of keys");
  WRONG(count, "~", "an integer", "nothing");
  WRONG(count, "null", "an integer", "nothing");
  WRONG(count, "9007199254740992", "an integer",
        "the number 9007199254740992, which is beyond 2^53");
  WRONG(count, "1e999", "an integer", "the number 1e999, which is beyond 2^53");
#undef COLUMN
#define COLUMN "7"
  refuse("count: auto", "c:1:8: block.count: expected an integer, found text 'auto'\n");
  WRONG(open, "10", "an integer from 1 to 9, or auto", "the number 10");
  WRONG(open, "Auto", "an integer from 1 to 9, or auto", "text 'Auto'");
  WRONG(even, "1", "an integer from 2 to 64, a multiple of 2", "the number 1");
  WRONG(even, "7", "an integer from 2 to 64, a multiple of 2", "the number 7");
  WRONG(even, "1e30", "an integer from 2 to 64, a multiple of 2", "the number 1e30");
#undef COLUMN
#define COLUMN "9"
  WRONG(signed, "1", "an integer from -5 to 0", "the number 1");
#undef COLUMN
}

static void test_reals(void **state)
{
  struct resolved r = accept("real: -0.0\nfraction: 1\npositive: 1e300\nbelow: -1e9\n");
  (void)state;
  assert_true(gpumc_params_real(&r.params, "real") == 0);
  assert_false(signbit(gpumc_params_real(&r.params, "real")));
  assert_true(gpumc_params_real(&r.params, "fraction") == 1);
  assert_true(gpumc_params_real(&r.params, "below") == -1e9);
  release(&r);
  r = accept("real: .5\n");
  assert_true(gpumc_params_real(&r.params, "real") == 0.5);
  release(&r);
}

static void test_reals_errors(void **state)
{
  (void)state;
#define COLUMN "7"
  WRONG(real, ".inf", "a number", ".inf, which is not a finite number");
  WRONG(real, "nan", "a number", "text 'nan'");
  WRONG(real, "inf", "a number", "text 'inf'");
  WRONG(real, "0x1p3", "a number", "text '0x1p3'");
  WRONG(real, "1e", "a number", "text '1e'");
  WRONG(real, ".", "a number", "text '.'");
  WRONG(real, "1e999", "a number", "the number 1e999, which is too large");
#undef COLUMN
#define COLUMN "11"
  WRONG(fraction, "0", "a number greater than 0 and at most 1", "the number 0");
  WRONG(fraction, "1.01", "a number greater than 0 and at most 1", "the number 1.01");
  WRONG(positive, "0", "a number greater than 0", "the number 0");
#undef COLUMN
#define COLUMN "8"
  WRONG(below, "3", "a number of at most 2.5", "the number 3");
#undef COLUMN
}

static void test_words(void **state)
{
  struct resolved r = accept("flag: true\ntext: '2024'\ncolour: 'green'\ndevice: cuda:12\n"
                             "time: 30 s\nsize: '1 MiB'\n");
  (void)state;
  assert_true(gpumc_params_boolean(&r.params, "flag"));
  assert_string_equal(gpumc_params_string(&r.params, "text"), "2024");
  assert_string_equal(gpumc_params_string(&r.params, "colour"), "green");
  assert_string_equal(gpumc_params_string(&r.params, "device"), "cuda:12");
  assert_true(gpumc_params_real(&r.params, "time") == 30);
  assert_true(gpumc_params_real(&r.params, "size") == 1048576);
  release(&r);
}

static void test_words_errors(void **state)
{
  (void)state;
#define COLUMN "7"
  WRONG(flag, "yes", "true or false", "text 'yes'");
  WRONG(flag, "'true'", "true or false", "text 'true' in quotes");
  WRONG(flag, "1", "true or false", "the number 1");
  WRONG(text, "2024", "text", "the number 2024; put it in quotes");
  WRONG(text, "true", "text", "true; put it in quotes");
  WRONG(text, "~", "text", "nothing");
  WRONG(text, "[a]", "text", "a list");
  WRONG(time, "90", "a duration such as 10 min from 1 s to 60 s",
        "the number 90; the unit is missing");
  WRONG(time, "90 s", "a duration such as 10 min from 1 s to 60 s", "text '90 s'");
  WRONG(size, "4 gb", "a size such as 4 GiB", "text '4 gb'");
#undef COLUMN
#define COLUMN "9"
  WRONG(colour, "gren", "one of red, green", "text 'gren'; did you mean 'green'?");
  WRONG(colour, "3", "one of red, green", "the number 3");
  WRONG(device, "gpu", "auto, cpu, cuda or cuda:N", "text 'gpu'");
  WRONG(device, "'cuda:'", "auto, cpu, cuda or cuda:N", "text 'cuda:' in quotes");
  WRONG(device, "cuda:01", "auto, cpu, cuda or cuda:N", "text 'cuda:01'");
  WRONG(device, "cuda:1000", "auto, cpu, cuda or cuda:N", "text 'cuda:1000'");
#undef COLUMN
}

static void test_long_text_is_cut_errors(void **state)
{
  (void)state;
  refuse("count: ééééééééééééééééééééééééé\n",
         "c:1:8: block.count: expected an integer, found text 'éééééééééééééééééééé...'\n");
}

static void test_lists(void **state)
{
  struct resolved r = accept("list: [-1, 0, 1e3]\npair: [3, 4]\nmany: [1]\n");
  (void)state;
  struct gpumc_list list = gpumc_params_list(&r.params, "list");
  assert_int_equal(list.left, 3);
  assert_true(gpumc_list_real(&list) == -1);
  assert_true(gpumc_list_real(&list) == 0);
  assert_true(gpumc_list_real(&list) == 1000);
  assert_int_equal(list.left, 0);
  list = gpumc_params_list(&r.params, "pair");
  assert_int_equal(gpumc_list_integer(&list), 3);
  assert_int_equal(gpumc_list_integer(&list), 4);
  assert_true(gpumc_params_last(&r.params, "list") == 1000);
  assert_true(gpumc_params_last(&r.params, "many") == 1);
  release(&r);
}

/* A separate walk for each of these values would take hours. */
static void test_long_lists_are_read_in_one_walk(void **state)
{
  enum { VALUES = 1000000 };
  cJSON *values = cJSON_CreateObject();
  cJSON *list = cJSON_AddArrayToObject(values, "many");
  const struct gpumc_params params = {.values = values};
  int64_t sum = 0;
  (void)state;
  for (int i = 0; i < VALUES; i++)
    assert_true(cJSON_AddItemToArray(list, cJSON_CreateNumber(i)));
  for (struct gpumc_list many = gpumc_params_list(&params, "many"); many.left > 0;)
    sum += gpumc_list_integer(&many);
  assert_true(sum == (int64_t)VALUES * (VALUES - 1) / 2);
  assert_true(gpumc_params_last(&params, "many") == VALUES - 1);
  cJSON_Delete(values);
}

static void test_lists_errors(void **state)
{
  (void)state;
#define COLUMN "7"
  WRONG(pair, "3", "a list of 2 values, each an integer", "the number 3");
  WRONG(pair, "[3]", "a list of 2 values, each an integer", "a list of 1");
  WRONG(many, "[]", "a list of at least 1 values, each an integer", "a list of 0");
  WRONG(list, "[1, 2, 3, 4]", "a list of 1 to 3 ascending values, each a number", "a list of 4");
  refuse("list: [1, 1]\n",
         "c:1:11: block.list: expected ascending values, but 1 does not exceed 1\n");
  refuse("pair: [x, [1]]\n", "c:1:8: block.pair: expected an integer, found text 'x'\n"
                             "c:1:11: block.pair: expected an integer, found a list\n");
#undef COLUMN
}

/* Turns as they stand in the resolved values: the shortest way to say them. */
static void test_turns(void **state)
{
  static const struct {
    const char *given, *resolved;
    size_t count;
  } cases[] = {
      {"red", "\"red\"", 1},
      {"[green]", "\"green\"", 1},
      {"[{green: 5}]", "\"green\"", 1},
      {"[{red: 2}, {red: 3}]", "\"red\"", 1},
      {"[red, green]", "[{\"red\":1},{\"green\":1}]", 2},
      {"[{red: 2}, {red: 3}, {green: 1}]", "[{\"red\":5},{\"green\":1}]", 2},
      {"[{red: 2}, {green: 1}, red]", "[{\"red\":2},{\"green\":1},{\"red\":1}]", 3},
      {"[{red: 6}, {red: 6}, green]", "[{\"red\":6},{\"red\":6},{\"green\":1}]", 3},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[80];
    snprintf(text, sizeof text, "light: %s\n", cases[i].given);
    struct resolved r = accept(text);
    struct gpumc_list list = gpumc_params_turns(&r.params, "light");
    char *printed = cJSON_PrintUnformatted(cJSON_GetObjectItem(r.values, "light"));
    assert_string_equal(printed, cases[i].resolved);
    assert_int_equal(list.left, cases[i].count);
    free(printed);
    release(&r);
  }
  struct resolved r = accept("light: [{red: 2}, green]\n");
  struct gpumc_list list = gpumc_params_turns(&r.params, "light");
  uint32_t number = 0;
  assert_string_equal(gpumc_list_turn(&list, &number), "red");
  assert_int_equal(number, 2);
  assert_string_equal(gpumc_list_turn(&list, &number), "green");
  assert_int_equal(number, 1);
  assert_int_equal(list.left, 0);
  release(&r);
}

static void test_turns_errors(void **state)
{
#define WANTED                                                                                     \
  "block.light: expected one of red, green, or a list of up to 3 that take turns, such as [{red: " \
  "2}, {green: 1}], found "
  (void)state;
  refuse("light: [{red: 1}, {gren: 1}]\n",
         "c:1:20: block.light: expected one of red, green, found text 'gren'; did you mean "
         "'green'?\n");
  refuse("light: gren\n",
         "c:1:8: block.light: expected one of red, green, found text 'gren'; did you mean "
         "'green'?\n");
  refuse("light: []\n", "c:1:8: " WANTED "a list of 0\n");
  refuse("light: [red, green, red, green]\n", "c:1:8: " WANTED "a list of 4\n");
  refuse("light: {red: 1}\n", "c:1:8: " WANTED "a block of keys\n");
  refuse("light: [{red: 0}]\n",
         "c:1:15: block.light.red: expected an integer from 1 to 9, found the number 0\n");
  refuse("light: [{red: 1.5}, {green: }]\n",
         "c:1:15: block.light.red: expected an integer from 1 to 9, found the number 1.5\n"
         "c:1:29: block.light.green: expected an integer from 1 to 9, found nothing\n");
  refuse("light: [{red: 2, green: 1}]\n",
         "c:1:9: block.light: each turn is one name with its number, but this block has 2: begin a "
         "new one for each, [{red: 1}, ...]\n");
  refuse("light: [[red]]\n",
         "c:1:9: block.light: expected a turn such as {NAME: 1}, found a list\n");
#undef WANTED
}

static void test_blocks(void **state)
{
  struct resolved r = accept("inner: {or: 2}\n");
  (void)state;
  assert_int_equal(gpumc_params_integer(&r.params, "inner.depth"), 3);
  assert_true(gpumc_params_has(&r.params, "inner.or"));
  assert_false(gpumc_params_has(&r.params, "inner.either"));
  release(&r);
}

static void test_blocks_errors(void **state)
{
  (void)state;
  refuse("inner: {}\n", "c:1:1: give exactly one of 'either', 'or' in block.inner\n");
  refuse("inner: {or: 1, either: 2}\n",
         "c:1:9: 'either' and 'or' in block.inner exclude each other\n");
  refuse("inner: 5\n", "c:1:8: block.inner: expected a block of keys, found the number 5\n");
  refuse("simple:\n", "c:1:8: block.simple: expected a block of keys, found nothing\n");
  refuse("simple: {ever: 1 s, zzz: 1}\n",
         "c:1:10: unknown key 'ever' in block.simple; did you mean 'every'?\n"
         "c:1:21: unknown key 'zzz' in block.simple; known keys: every\n");
}

static void test_mistake_of_a_plugin(void **state)
{
  struct resolved r = accept("count: 5\ninner:\n  or: 2\n");
  struct gpumc_params nowhere = {.values = r.values};
  (void)state;
  gpumc_params_mistake(&r.params, &r.report, "count", "%d is odd", 5);
  gpumc_params_mistake(&r.params, &r.report, "inner.or", "bad");
  gpumc_params_mistake(&r.params, &r.report, "inner.depth", "absent");
  gpumc_params_mistake(&r.params, &r.report, "simple.every", "absent");
  gpumc_params_mistake(&nowhere, &r.report, "count", "without a place");
  assert_string_equal(gpumc_text_string(&r.report.lines),
                      "c:1:8: 5 is odd\nc:3:7: bad\nc:3:3: absent\nc:1:1: absent\n"
                      "configuration:1:1: without a place\n");
  release(&r);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_defaults),
      cmocka_unit_test(test_integers),
      cmocka_unit_test(test_auto_is_as_if_left_out),
      cmocka_unit_test(test_integers_errors),
      cmocka_unit_test(test_reals),
      cmocka_unit_test(test_reals_errors),
      cmocka_unit_test(test_words),
      cmocka_unit_test(test_words_errors),
      cmocka_unit_test(test_long_text_is_cut_errors),
      cmocka_unit_test(test_lists),
      cmocka_unit_test(test_long_lists_are_read_in_one_walk),
      cmocka_unit_test(test_lists_errors),
      cmocka_unit_test(test_turns),
      cmocka_unit_test(test_turns_errors),
      cmocka_unit_test(test_blocks),
      cmocka_unit_test(test_blocks_errors),
      cmocka_unit_test(test_mistake_of_a_plugin),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
