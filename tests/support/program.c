/* The program of a folder of tests, build/release/tests/FOLDER_tests: all its test_NAME.c in one,
 * which saves more than a hundred links.
 *
 *     unit_tests                             names them
 *     unit_tests unit_test_params            runs one
 *     unit_tests unit_test_params '*null*'   those of its functions whose names match; at least one
 *
 * tests/CMakeLists.txt renames the main() of each and lists them in tests.def. */
#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
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

static const char *filter;
static size_t matching;

/* cmocka_run_group_tests() calls this (the linker's --wrap): a filter that matches nothing has not
 * passed, and where a test may be stopped (measured.c), nothing is begun after a failure. */
int __real__cmocka_run_group_tests(const char *, const struct CMUnitTest *, size_t,
                                   CMFixtureFunction, CMFixtureFunction);
int __wrap__cmocka_run_group_tests(const char *, const struct CMUnitTest *, size_t,
                                   CMFixtureFunction, CMFixtureFunction);
int __wrap__cmocka_run_group_tests(const char *name, const struct CMUnitTest *functions,
                                   size_t count, CMFixtureFunction setup,
                                   CMFixtureFunction teardown)
{
  int failed = 0;
  for (size_t f = 0; f < count; f++)
    matching +=
        filter == NULL || (strpbrk(filter, "[\\") == NULL && /* only * and ? are special there */
                           fnmatch(filter, functions[f].name, 0) == 0);
  if (getenv("GPUMC_STOP_AFTER") == NULL)
    return __real__cmocka_run_group_tests(name, functions, count, setup, teardown);
  for (size_t f = 0; f < count && failed == 0; f++)
    failed = __real__cmocka_run_group_tests(name, &functions[f], 1, setup, teardown);
  return failed;
}

int main(int argc, char **argv)
{
  for (size_t t = 0; t < sizeof tests / sizeof *tests; t++)
    if (argc < 2) {
      printf("%s\n", tests[t].name);
    } else if (strcmp(argv[1], tests[t].name) == 0) {
      filter = argv[2];
      if (filter != NULL)
        cmocka_set_test_filter(filter);
      const int result = tests[t].run();
      if (result != 0 || filter == NULL || matching > 0)
        return result;
      fprintf(stderr, "%s: %s has no function whose name matches %s\n", argv[0], argv[1], filter);
      return 2;
    }
  if (argc < 2)
    return 0;
  fprintf(stderr, "%s: no test %s; run it without arguments to list them\n", argv[0], argv[1]);
  return 2;
}
