/* The mark of results, found in the first bytes of a file. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/storage/hdf5_values.h"
#include "core/storage/result_mark.h"
#include "support/status.h"
#include "support/work_directory.h"

enum { MOST = 16384, MUTATIONS = 50000 };

struct content {
  char bytes[MOST];
  size_t length;
};

/* Makes a file whose root has a group and the attributes "note" and "format", the latter with this
 * text. */
static struct content make(const char *format, int notes)
{
  struct content content = {.length = 0};
  struct gpumc_error error = {0};
  struct gpumc_hdf5_file *file;
  char name[32];
  assert_ok(gpumc_hdf5_create("x.h5", 0, NULL, &file, &error), &error);
  for (int i = 0; i < notes; i++) {
    snprintf(name, sizeof name, "note%d", i);
    assert_ok(gpumc_hdf5_set_text(file, file->id, "/", name, "a note of gpumc-results", &error),
              &error);
  }
  if (format != NULL)
    assert_ok(gpumc_hdf5_set_text(file, file->id, "/", "format", format, &error), &error);
  gpumc_hdf5_release(gpumc_hdf5_group(file->id, "gpumc-results"));
  assert_ok(gpumc_hdf5_close(file, &error), &error);
  FILE *stream = fopen("x.h5", "rb");
  content.length = fread(content.bytes, 1, MOST, stream);
  fclose(stream);
  return content;
}

/* Returns whether a copy is recognised that ends where its memory ends, so that reading past the
 * end is detected. */
static bool recognised(const struct content *content, size_t length, bool *closed)
{
  char *copy = malloc(length + 1);
  assert_non_null(copy);
  char *begin = copy + 1;
  memcpy(begin, content->bytes, length);
  const bool found = gpumc_result_mark_recognise(begin, length);
  *closed = gpumc_result_mark_is_closed(begin, length);
  free(copy);
  return found;
}

static void test_by_the_attribute_alone(void **state)
{
  (void)state;
  static const struct {
    const char *format;
    int notes;
    bool ours;
  } cases[] = {{"gpumc-results", 0, true},
               {"gpumc-results", 1, true},
               {"gpumc-results", 6, true},
               {"gpumc-result", 1, false},
               {"gpumc-results of", 0, false},
               {"", 1, false},
               {"not gpumc-results", 0, false},
               {NULL, 1, false},
               {NULL, 20, false},
               {NULL, 0, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const struct content content = make(cases[i].format, cases[i].notes);
    bool closed;
    assert_int_equal(recognised(&content, content.length, &closed), cases[i].ours);
    assert_int_equal(closed, cases[i].ours);
  }
}

static void test_that_is_left_open(void **state)
{
  (void)state;
  struct content content = make("gpumc-results", 0);
  bool closed;
  content.bytes[11] = 5;
  assert_true(recognised(&content, content.length, &closed));
  assert_false(closed);
  memcpy(content.bytes + 48, "????", 4); /* the root group does not exist yet */
  assert_true(recognised(&content, content.length, &closed));
  content.bytes[11] = 0;
  assert_false(recognised(&content, content.length, &closed));
  assert_true(recognised(&content, 48, &closed));
  assert_false(closed);
}

static void test_damage_is_met_within_the_bytes(void **state)
{
  (void)state;
  const struct content good = make("gpumc-results", 2);
  uint64_t random = 20261123;
  bool closed;
  for (size_t length = 0; length < good.length; length++)
    (void)recognised(&good, length, &closed);
  for (int i = 0; i < MUTATIONS; i++) {
    struct content damaged = good;
    for (int changes = 0; changes < 1 + i % 3; changes++) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      const size_t most = i % 2 == 0 ? 512 : good.length;
      damaged.bytes[(random >> 33) % most] = (char)(random >> 25);
    }
    (void)recognised(&damaged, good.length - (random >> 40) % 64, &closed);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_by_the_attribute_alone, work_directory_enter,
                                      work_directory_leave),
      cmocka_unit_test_setup_teardown(test_that_is_left_open, work_directory_enter,
                                      work_directory_leave),
      cmocka_unit_test_setup_teardown(test_damage_is_met_within_the_bytes, work_directory_enter,
                                      work_directory_leave),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
