/* Warnings about results that cannot be trusted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/simulation/algorithm.h"

static void test_failing(void **state)
{
  static const double beta[] = {0.1, 0.25, 0.5, 1.125};
  static const struct {
    double passed[4];
    size_t failing;
    const char *coldest, *hottest;
  } cases[] = {
      {{1, 1, 1, 1}, 0, "", ""},
      {{0, 1, 1, 1},
       1,
       "1 of 4 temperatures, the coldest beta = 0.1",
       "1 of 4 temperatures, the hottest beta = 0.1"},
      {{1, 0, 1, 0},
       2,
       "2 of 4 temperatures, the coldest beta = 1.125",
       "2 of 4 temperatures, the hottest beta = 0.25"},
      {{0, 0, 0, 0},
       4,
       "4 of 4 temperatures, the coldest beta = 1.125",
       "4 of 4 temperatures, the hottest beta = 0.1"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[GPUMC_FAILING_BYTES];
    assert_int_equal(gpumc_trust_failing(cases[i].passed, "beta", beta, 4, false, text),
                     cases[i].failing);
    assert_string_equal(text, cases[i].coldest);
    assert_int_equal(gpumc_trust_failing(cases[i].passed, "beta", beta, 4, true, text),
                     cases[i].failing);
    assert_string_equal(text, cases[i].hottest);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_failing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
