/* Host memory: zeroed and aligned, refusals that say what was requested, and sizes as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "core/base/memory.h"

static void arrays_are_zeroed_and_aligned(void **state)
{
  struct gpumc_error error = {0};
  (void)state;
  for (size_t count = 0; count < 200; count++) {
    double *values;
    assert_int_equal(gpumc_allocate_array(&values, count, "values", &error), GPUMC_OK);
    assert_non_null(values);
    assert_int_equal((uintptr_t)values % 64, 0);
    for (size_t i = 0; i < count; i++)
      assert_true(values[i] == 0);
    free(values);
  }
}

static void overflow_is_refused(void **state)
{
  static const size_t counts[] = {SIZE_MAX, SIZE_MAX / 8 + 1, SIZE_MAX / 8};
  struct gpumc_error error = {0};
  (void)state;
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    double value, *values = &value;
    assert_int_equal(gpumc_allocate_array(&values, counts[i], "values", &error), GPUMC_FAILURE);
    assert_null(values);
    gpumc_error_free(&error);
  }
  void *memory;
  assert_int_equal(gpumc_allocate(SIZE_MAX, 2, "values", &memory, &error), GPUMC_FAILURE);
  assert_string_equal(gpumc_error_text(&error),
                      "out of memory: values needs 18446744073709551615 times 2 bytes");
  gpumc_error_free(&error);
}

/* Exceeds any machine's address space without overflow. */
static void failure_is_refused(void **state)
{
  struct gpumc_error error = {0};
  void *memory = &error;
  (void)state;
  assert_int_equal(gpumc_allocate((size_t)1 << 60, 1, "values", &memory, &error), GPUMC_FAILURE);
  assert_null(memory);
  assert_string_equal(gpumc_error_text(&error), "out of memory: values needs 1024 PiB");
  gpumc_error_free(&error);
}

static void sizes_as_text(void **state)
{
  static const struct {
    double bytes;
    const char *text;
  } cases[] = {
      {0, "0 B"},
      {999, "999 B"},
      {1023, "1023 B"},
      {1024, "1 KiB"},
      {1536, "1.5 KiB"},
      {999.4 * 1024, "999 KiB"},
      {999.6 * 1024, "1000 KiB"},
      {1010.0 * 1048576, "1010 MiB"},
      {1023.4 * 1048576, "1023 MiB"},
      {1023.9 * 1048576, "1 GiB"},
      {0x1p50, "1 PiB"},
      {0x1p61, "2048 PiB"},
  };
  char text[32];
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_string_equal(gpumc_size_text(cases[i].bytes, text), cases[i].text);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arrays_are_zeroed_and_aligned),
      cmocka_unit_test(overflow_is_refused),
      cmocka_unit_test(failure_is_refused),
      cmocka_unit_test(sizes_as_text),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
