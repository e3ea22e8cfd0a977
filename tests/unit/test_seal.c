/* Seals of files: what is whole, what is not, and what cannot be read. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/checksum.h"
#include "support/status.h"
#include "support/work_directory.h"

enum { SIZE = 3000017 }; /* a few buffers and a remainder */

static enum gpumc_seal seal_of(const char *path)
{
  struct gpumc_error error = {0};
  enum gpumc_seal seal;
  assert_ok(gpumc_seal_check(path, &seal, &error), &error);
  return seal;
}

static void change(const char *path, long place, int whence)
{
  FILE *file = fopen(path, "r+b");
  assert_non_null(file);
  assert_int_equal(fseek(file, place, whence), 0);
  const int byte = fgetc(file);
  assert_int_equal(fseek(file, place, whence), 0);
  assert_int_equal(fputc(byte ^ 4, file), byte ^ 4);
  assert_int_equal(fclose(file), 0);
}

static void make(const char *path, size_t size)
{
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  for (size_t i = 0; i < size; i++)
    assert_true(fputc((int)(i * 2654435761U >> 13 & 0xff), file) != EOF);
  assert_int_equal(fclose(file), 0);
}

static void test_every_change_is_seen(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  const long places[] = {0, 1, 1 << 20, SIZE - 1};
  make("x", SIZE);
  assert_int_equal(seal_of("x"), GPUMC_SEAL_NONE);
  assert_ok(gpumc_seal_file("x", &error), &error);
  assert_int_equal(seal_of("x"), GPUMC_SEAL_WHOLE);
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    change("x", places[i], SEEK_SET);
    assert_int_equal(seal_of("x"), GPUMC_SEAL_BROKEN);
    change("x", places[i], SEEK_SET);
  }
  for (long byte = 1; byte <= GPUMC_SEAL_BYTES; byte++) {
    change("x", -byte, SEEK_END);
    assert_int_equal(seal_of("x"), byte <= 16 ? GPUMC_SEAL_BROKEN : GPUMC_SEAL_NONE);
    change("x", -byte, SEEK_END);
  }
  assert_int_equal(seal_of("x"), GPUMC_SEAL_WHOLE);
  assert_int_equal(truncate("x", SIZE + GPUMC_SEAL_BYTES - 1), 0);
  assert_int_equal(seal_of("x"), GPUMC_SEAL_NONE);
}

static void test_short_files(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  make("x", 0);
  assert_int_equal(seal_of("x"), GPUMC_SEAL_NONE);
  assert_ok(gpumc_seal_file("x", &error), &error);
  assert_int_equal(seal_of("x"), GPUMC_SEAL_WHOLE);
  make("x", GPUMC_SEAL_BYTES - 1);
  assert_int_equal(seal_of("x"), GPUMC_SEAL_NONE);
}

static void test_what_cannot_be_read(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  enum gpumc_seal seal;
  assert_refused(gpumc_seal_check("absent", &seal, &error), &error, "absent",
                 "cannot open: No such");
  assert_refused(gpumc_seal_check(".", &seal, &error), &error, ".", "not a regular file");
  assert_int_equal(mkfifo("pipe", 0600), 0);
  assert_refused(gpumc_seal_check("pipe", &seal, &error), &error, "pipe", "not a regular file");
  assert_refused(gpumc_seal_file("absent", &error), &error, "absent", "cannot open: No such");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, work_directory_enter, work_directory_leave)
  const struct CMUnitTest tests[] = {TEST(test_every_change_is_seen), TEST(test_short_files),
                                     TEST(test_what_cannot_be_read)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
