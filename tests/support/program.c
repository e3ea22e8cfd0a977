/* The program of a folder of tests, build/release/tests/FOLDER_tests: all its test_NAME.c in one,
 * which saves more than a hundred links.
 *
 *     unit_tests                             names them
 *     unit_tests unit_test_params            runs one
 *     unit_tests unit_test_params '*null*'   those of its functions whose names match
 *
 * tests/CMakeLists.txt renames the main() of each and lists them in tests.def. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define GPUMC_TEST(name) int name(void);
#include "tests.def"
#undef GPUMC_TEST

static const struct {
  const char *name;
  int (*run)(void);
} tests[] = {
#define GPUMC_TEST(name) {#name, name},
#include "tests.def"
};

/* Tests of what is too large for the memory see what a program without sanitizers sees. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
  return "allocator_may_return_null=1";
}

int main(int argc, char **argv)
{
  for (size_t t = 0; t < sizeof tests / sizeof *tests; t++)
    if (argc < 2) {
      printf("%s\n", tests[t].name);
    } else if (strcmp(argv[1], tests[t].name) == 0) {
      if (argc > 2)
        cmocka_set_test_filter(argv[2]);
      return tests[t].run();
    }
  if (argc < 2)
    return 0;
  fprintf(stderr, "%s: no test %s; run it without arguments to list them\n", argv[0], argv[1]);
  return 2;
}
