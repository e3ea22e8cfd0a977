/* Durations and sizes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/text.h"

static void test_durations(void **state)
{
  static const struct {
    const char *text;
    double seconds;
  } cases[] = {{"100 ms", 0.1}, {"90 s", 90},    {"10 min", 600},   {"2 h", 7200},  {"1 d", 86400},
               {"90s", 90},     {"1.5 h", 5400}, {"0.5   min", 30}, {"05 min", 300}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double seconds = -1;
    if (!gpumc_duration_read(cases[i].text, &seconds) || seconds != cases[i].seconds)
      fail_msg("'%s' -> %g, expected %g", cases[i].text, seconds, cases[i].seconds);
  }
}

static void test_durations_errors(void **state)
{
  static const char *const cases[] = {"",
                                      "10",
                                      "min",
                                      "-1 s",
                                      "0 s",
                                      "1 min ",
                                      " 1 s",
                                      "1 Min",
                                      "1e3 s",
                                      "1. s",
                                      ".5 s",
                                      "1,5 s",
                                      "1 s 2 s",
                                      "nan s",
                                      "inf s",
                                      "0x10 s",
                                      "1\ts",
                                      "1234567890123456 s",
                                      "0.1234567890123456 s"};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double seconds;
    if (gpumc_duration_read(cases[i], &seconds))
      fail_msg("'%s' was read as %g s", cases[i], seconds);
  }
}

static void test_sizes(void **state)
{
  static const struct {
    const char *text;
    double bytes;
  } cases[] = {{"512 B", 512},
               {"4 KiB", 4096},
               {"1 MiB", 1048576},
               {"2 GiB", 2147483648.0},
               {"1 kB", 1000},
               {"3 MB", 3e6},
               {"1 TiB", 1099511627776.0},
               {"1.5KiB", 1536},
               {"0.1 B", 1},
               {"1.1 kB", 1100},
               {"2 TB", 2e12},
               {"1 GB", 1e9}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double bytes = -1;
    if (!gpumc_size_read(cases[i].text, &bytes) || bytes != cases[i].bytes)
      fail_msg("'%s' -> %.17g, expected %g", cases[i].text, bytes, cases[i].bytes);
  }
}

static void test_sizes_errors(void **state)
{
  static const char *const cases[] = {"", "4", "4 gib", "4 KB", "0 B", "-1 B", "GiB", "4 GiBs"};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double bytes;
    assert_false(gpumc_size_read(cases[i], &bytes));
  }
}

static void test_duration_text(void **state)
{
  char text[32];
  (void)state;
  assert_string_equal(gpumc_duration_text(4.2, text), "4.2 s");
  assert_string_equal(gpumc_duration_text(0, text), "0.0 s");
  assert_string_equal(gpumc_duration_text(59.97, text), "1 min 00 s");
  assert_string_equal(gpumc_duration_text(200, text), "3 min 20 s");
  assert_string_equal(gpumc_duration_text(3599.6, text), "1 h 00 min");
  assert_string_equal(gpumc_duration_text(7500, text), "2 h 05 min");
  assert_string_equal(gpumc_duration_text(90000, text), "1 d 01 h");
}

static void test_duration_text_errors(void **state)
{
  char text[32];
  (void)state;
  assert_string_equal(gpumc_duration_text(-1, text), "unknown");
  assert_string_equal(gpumc_duration_text(1e300, text), "unknown");
  assert_string_equal(gpumc_duration_text(0.0 / 0.0, text), "unknown");
}

static void test_measured_text(void **state)
{
  static const struct {
    double value, error;
    const char *text;
  } cases[] = {
      {-0.136, 0.0791, "-0.136(79)"},
      {-1.4123456, 0.00021, "-1.41235(21)"},
      {0.5, 0.00996, "0.500(10)"},
      {0.5, 0.0996, "0.50(10)"},
      {1.9996, 0.0031, "1.9996(31)"},
      {123.456, 1.54, "123.5(1.5)"},
      {12.34, 9.96, "12(10)"},
      {12.34, 15, "12(15)"},
      {1234, 150, "1230(150)"},
      {0.02, 1.5, "0.0(1.5)"},
      {-0.02, 1.5, "0.0(1.5)"},
      {0.02, 15, "0(15)"},
      {3, 0, "3(0)"},
      {-0.0, 0, "0(0)"},
      {-1.99995, (double)NAN, "-1.99995(?)"},
      {1, -(double)NAN, "1(?)"},
      {1, -0.5, "1(?)"},
      {1, (double)INFINITY, "1(?)"},
      {-(double)NAN, 0.1, "?"},
      {-(double)INFINITY, 0.1, "-inf"},
      {1.23456e-7, 1.2e-10, "1.2346(12)e-07"},
      {1e-9, 2.34e-7, "0.0(2.3)e-07"},
      {9.9996e6, 51, "9999600(51)"},
      {1.23456789e12, 3.4e9, "1.2346(34)e+12"},
      {1.5e7, 1.2e7, "1.5(1.2)e+07"},
      {1, 1e-17, "1(1e-17)"},
      {-1, 1e-20, "-1(1e-20)"},
      {0.1, 2.5e-16, "0.1(2.5e-16)"},
      {0.1, 2.5e-15, "0.1000000000000000(25)"},
      {123456789.125, 1e-12, "123456789.125(1e-12)"},
      {1.5e20, 3, "1.5e+20(3)"},
      {1e-300, 1e-301, "1e-300(1e-301)"},
      {99.96, 0.12, "99.96(12)"},
      {999.96, 14, "1000(14)"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[64];
    assert_string_equal(gpumc_measured_text(cases[i].value, cases[i].error, text), cases[i].text);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_durations),     cmocka_unit_test(test_durations_errors),
      cmocka_unit_test(test_sizes),         cmocka_unit_test(test_sizes_errors),
      cmocka_unit_test(test_duration_text), cmocka_unit_test(test_duration_text_errors),
      cmocka_unit_test(test_measured_text),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
