/* The cases of a loop are all taken once where there is time, in an order that
 * unit_test_cases_order compares with that of tests/support/cases.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/cases.h"

enum { ROWS = 17, COLUMNS = 41 };

static void take_all(int taken[ROWS * COLUMNS])
{
  memset(taken, 0, ROWS * COLUMNS * sizeof *taken);
  FOR_CASES (cases)
    for (int i = 0; i < ROWS; i++)
      for (int j = 0; j < COLUMNS; j++)
        if (cases_take(&cases)) {
          assert_int_equal(cases_number(&cases), i * COLUMNS + j);
          taken[i * COLUMNS + j]++;
        }
}

static void all_are_taken_once(void **state)
{
  (void)state;
  int taken[ROWS * COLUMNS];
  take_all(taken);
  for (int i = 0; i < ROWS * COLUMNS; i++)
    assert_int_equal(taken[i], 1);
}

static void one_is_taken_without_time(void **state)
{
  (void)state;
  int taken[ROWS * COLUMNS], count = 0;
  assert_int_equal(setenv("GPUMC_CASES_SECONDS", "0", 1), 0);
  take_all(taken);
  for (int i = 0; i < ROWS * COLUMNS; i++)
    count += taken[i];
  assert_int_equal(count, 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_are_taken_once),
      cmocka_unit_test(one_is_taken_without_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
