/* Test directories. */
#include "support/work_directory.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
  (void)status;
  (void)kind;
  (void)place;
  return remove(path);
}

int work_directory_enter(void **state)
{
  char *path = strdup("/tmp/gpumc-test-XXXXXX");
  if (path == NULL || mkdtemp(path) == NULL || chdir(path) != 0)
    return -1;
  *state = path;
  return 0;
}

int work_directory_leave(void **state)
{
  int failed = chdir("/") != 0 || nftw(*state, remove_entry, 16, FTW_DEPTH | FTW_PHYS) != 0;
  free(*state);
  return failed ? -1 : 0;
}

unsigned char *file_bytes(const char *path, size_t *size)
{
  struct stat found;
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  assert_int_equal(fstat(fileno(file), &found), 0);
  *size = (size_t)found.st_size;
  unsigned char *bytes = malloc(*size + 1);
  assert_non_null(bytes);
  assert_int_equal(fread(bytes, 1, *size, file), *size);
  fclose(file);
  return bytes;
}

void write_file(const char *path, const void *bytes, size_t size)
{
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}
