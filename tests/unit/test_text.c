/* Growing strings and nearest names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/text.h"

static void test_append(void **state)
{
  struct gpumc_text text = {0};
  (void)state;
  assert_string_equal(gpumc_text_string(&text), "");
  for (int i = 0; i < 1000; i++)
    gpumc_text_append(&text, "%d,", i % 10);
  assert_int_equal(text.length, 2000);
  assert_int_equal(strlen(gpumc_text_string(&text)), 2000);
  assert_memory_equal(gpumc_text_string(&text) + 1990, "5,6,7,8,9,", 11);
  assert_false(text.failed);
  gpumc_text_free(&text);
  assert_null(text.characters);
  gpumc_text_free(&text);
}

static void test_append_escaped(void **state)
{
  static const struct {
    const char *text, *escaped[3]; /* by gpumc_escapes */
  } cases[] = {
      {"plain \xce\xb2", {"plain \xce\xb2", "plain \xce\xb2", "plain \xce\xb2"}},
      {"a\n\tb\r", {"a\\x0a\\x09b\\x0d", "a\n\tb\\x0d", "a\n\tb\r"}},
      {"\x1b[31m\x7f", {"\\x1b[31m\\x7f", "\\x1b[31m\\x7f", "\x1b[31m\\u007f"}},
      {"\xc2\x9bm\xc2\xa0", {"\\x9bm\xc2\xa0", "\\x9bm\xc2\xa0", "\\u009bm\xc2\xa0"}},
      {"\x9bm\xff\xc2", {"\\x9bm\\xff\\xc2", "\\x9bm\\xff\\xc2", "\\ufffdm\\ufffd\\ufffd"}},
      {"", {"", "", ""}},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (enum gpumc_escapes escapes = 0; escapes < 3; escapes++) {
      struct gpumc_text text = {0};
      gpumc_text_append_escaped(&text, cases[i].text, escapes);
      assert_string_equal(gpumc_text_string(&text), cases[i].escaped[escapes]);
      gpumc_text_free(&text);
    }
}

static void test_nearest_name(void **state)
{
  static const char *const names[] = {"population", "sweeps", "beta", "runs", "rng"};
  (void)state;
  assert_string_equal(gpumc_nearest_name("poulation", names, 5), "population");
  assert_string_equal(gpumc_nearest_name("popluation", names, 5), "population");
  assert_string_equal(gpumc_nearest_name("sweep", names, 5), "sweeps");
  assert_string_equal(gpumc_nearest_name("btea", names, 5), "beta");
  assert_string_equal(gpumc_nearest_name("runs", names, 5), "runs");
}

static void test_nearest_name_errors(void **state)
{
  static const char *const names[] = {"population", "beta"};
  char lengthy[200];
  (void)state;
  memset(lengthy, 'b', sizeof lengthy - 1);
  lengthy[sizeof lengthy - 1] = '\0';
  assert_null(gpumc_nearest_name("temperature", names, 2));
  assert_null(gpumc_nearest_name(lengthy, names, 2));
  assert_null(gpumc_nearest_name("beta", names, 0));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_append),
      cmocka_unit_test(test_append_escaped),
      cmocka_unit_test(test_nearest_name),
      cmocka_unit_test(test_nearest_name_errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
