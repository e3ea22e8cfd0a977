/* Checkpoints: round trips, every kind of damage, and failures that leave the old one valid. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/storage/checkpoint.h"
#include "core/storage/hdf5_values.h"
#include "core/storage/recorder/recorder_internal.h"
#include "support/status.h"
#include "support/work_directory.h"

static const char path[] = "run.ckpt";
enum { N_WORDS = 5000, N_KILLS = 50 };

/* Writes a checkpoint whose words are all `number`. */
static enum gpumc_status write_number(uint64_t number, struct gpumc_error *error)
{
  static uint64_t words[N_WORDS];
  struct gpumc_checkpoint_writer *writer;
  for (size_t i = 0; i < N_WORDS; i++)
    words[i] = number;
  enum gpumc_status status = gpumc_checkpoint_begin(path, &writer, error);
  if (status != GPUMC_OK)
    return status;
  status =
      gpumc_checkpoint_put(writer, "state/words", GPUMC_UINT64, N_WORDS / 10, 10, words, error);
  if (status == GPUMC_OK)
    return gpumc_checkpoint_commit(writer, error);
  gpumc_checkpoint_abandon(writer);
  return status;
}

static uint64_t read_number(void)
{
  static uint64_t words[N_WORDS];
  struct gpumc_error error = {0};
  struct gpumc_checkpoint_reader *reader;
  assert_ok(gpumc_checkpoint_open(path, &reader, &error), &error);
  assert_ok(gpumc_checkpoint_get_rows(reader, "state/words", GPUMC_UINT64, 0, N_WORDS / 10, 10,
                                      words, &error),
            &error);
  gpumc_checkpoint_close(reader);
  for (size_t i = 1; i < N_WORDS; i++)
    assert_int_equal(words[i], words[0]);
  return words[0];
}

static void test_round_trip(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  struct gpumc_checkpoint_writer *writer;
  const uint8_t bytes[3][2] = {{0, 1}, {2, 255}, {4, 5}};
  const uint32_t words[2] = {7, UINT32_MAX};
  const int64_t energies[2] = {INT64_MIN, INT64_MAX};
  const uint64_t counts[2] = {0, UINT64_MAX};
  const double numbers[4] = {-0.0, 5e-324, 1.0 / 3, 1e308};
  assert_ok(gpumc_checkpoint_begin(path, &writer, &error), &error);
  assert_ok(gpumc_checkpoint_declare(writer, "replicas", GPUMC_UINT8, 3, 2, &error), &error);
  assert_ok(gpumc_checkpoint_put_rows(writer, "replicas", 2, 1, bytes[2], &error), &error);
  assert_ok(gpumc_checkpoint_put_rows(writer, "replicas", 0, 2, bytes[0], &error), &error);
  assert_ok(gpumc_checkpoint_put(writer, "a/b/words", GPUMC_UINT32, 1, 2, words, &error), &error);
  assert_ok(gpumc_checkpoint_put(writer, "a/energies", GPUMC_INT64, 2, 1, energies, &error),
            &error);
  assert_ok(gpumc_checkpoint_put(writer, "a/counts", GPUMC_UINT64, 2, 1, counts, &error), &error);
  assert_ok(gpumc_checkpoint_put(writer, "numbers", GPUMC_FLOAT64, 2, 2, numbers, &error), &error);
  assert_ok(gpumc_checkpoint_put(writer, "empty", GPUMC_FLOAT64, 0, 3, NULL, &error), &error);
  assert_ok(gpumc_checkpoint_put_text(writer, "config", "seed: 1\n\xce\xb2", &error), &error);
  assert_ok(gpumc_checkpoint_put_text(writer, "nothing", "", &error), &error);
  assert_ok(gpumc_checkpoint_commit(writer, &error), &error);
  assert_int_equal(access("run.ckpt.new", F_OK), -1);

  struct gpumc_checkpoint_reader *reader;
  uint8_t bytes_read[3][2];
  uint32_t words_read[2];
  int64_t energies_read[2];
  uint64_t counts_read[2];
  double numbers_read[4];
  size_t rows;
  size_t width;
  char *text;
  assert_ok(gpumc_checkpoint_open(path, &reader, &error), &error);
#define READ(name, element, first, count, width, values)                                           \
  assert_ok(gpumc_checkpoint_get_rows(reader, name, element, first, count, width, values, &error), \
            &error)
  READ("replicas", GPUMC_UINT8, 1, 2, 2, bytes_read[1]);
  READ("replicas", GPUMC_UINT8, 0, 1, 2, bytes_read[0]);
  READ("a/b/words", GPUMC_UINT32, 0, 1, 2, words_read);
  READ("a/energies", GPUMC_INT64, 0, 2, 1, energies_read);
  READ("a/counts", GPUMC_UINT64, 0, 2, 1, counts_read);
  READ("numbers", GPUMC_FLOAT64, 0, 2, 2, numbers_read);
  READ("empty", GPUMC_FLOAT64, 0, 0, 3, NULL);
#undef READ
  assert_memory_equal(bytes_read, bytes, sizeof bytes);
  assert_memory_equal(words_read, words, sizeof words);
  assert_memory_equal(energies_read, energies, sizeof energies);
  assert_memory_equal(counts_read, counts, sizeof counts);
  assert_memory_equal(numbers_read, numbers, sizeof numbers);
  assert_ok(gpumc_checkpoint_shape(reader, "empty", &rows, &width, &error), &error);
  assert_int_equal(rows, 0);
  assert_int_equal(width, 3);
  assert_ok(gpumc_checkpoint_get_text(reader, "config", &text, &error), &error);
  assert_string_equal(text, "seed: 1\n\xce\xb2");
  free(text);
  assert_ok(gpumc_checkpoint_get_text(reader, "nothing", &text, &error), &error);
  assert_string_equal(text, "");
  free(text);
  gpumc_checkpoint_close(reader);
}

static void test_round_trip_errors(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  struct gpumc_checkpoint_reader *reader;
  uint64_t words[20];
  size_t rows;
  size_t width;
  char *text;
  assert_ok(write_number(3, &error), &error);
  assert_ok(gpumc_checkpoint_open(path, &reader, &error), &error);
  assert_refused(gpumc_checkpoint_shape(reader, "state/none", &rows, &width, &error), &error, path,
                 "holds no state/none");
  assert_refused(gpumc_checkpoint_get_rows(reader, "x/y", GPUMC_UINT64, 0, 1, 1, words, &error),
                 &error, path, "holds no x/y");
#define REFUSE(element, first, count, wide, message)                                               \
  assert_refused(gpumc_checkpoint_get_rows(reader, "state/words", element, first, count, wide,     \
                                           words, &error),                                         \
                 &error, "run.ckpt: state/words", message)
  REFUSE(GPUMC_INT64, 0, 1, 10, "is of uint64, not of int64");
  REFUSE(GPUMC_UINT64, 0, 1, 9, "has 10 values per row, not 9");
  REFUSE(GPUMC_UINT64, 499, 2, 10, "has 500 rows; rows 499 to 501 were requested");
  REFUSE(GPUMC_UINT64, SIZE_MAX, 2, 10, "has 500 rows");
#undef REFUSE
  assert_refused(gpumc_checkpoint_get_text(reader, "state/words", &text, &error), &error, path,
                 "is not text");
  assert_refused(gpumc_checkpoint_get_text(reader, "none", &text, &error), &error, path,
                 "holds no none");
  gpumc_checkpoint_close(reader);
  gpumc_checkpoint_close(NULL);
  gpumc_checkpoint_abandon(NULL);
}

/* HDF5 numbers the ids of a kind consecutively: everything between two marks was created in
 * between. */
struct mark {
  hid_t space, list, type;
};

static struct mark set_mark(void)
{
  struct mark mark = {.space = H5Screate(H5S_SCALAR),
                      .list = H5Pcreate(H5P_LINK_CREATE),
                      .type = H5Tcopy(H5T_C_S1)};
  assert_true(mark.space >= 0 && mark.list >= 0 && mark.type >= 0);
  return mark;
}

static int count_valid(hid_t first, hid_t last)
{
  int count = 0;
  for (hid_t id = first + 1; id < last; id++)
    count += H5Iis_valid(id) > 0;
  H5Idec_ref(first);
  H5Idec_ref(last);
  return count;
}

/* Checks each refusal by HDF5 itself: it has its reason and leaves nothing open. */
static void test_failures_leave_nothing_open(void **state)
{
  (void)state;
  GPUMC_HDF5_QUIET();
  struct gpumc_error error = {0};
  struct gpumc_checkpoint_writer *writer;
  const uint64_t values[2] = {1, 2};
  const double numbers[2] = {0, 1};
  struct gpumc_hdf5_file *file;
  assert_ok(gpumc_checkpoint_begin("other.ckpt", &writer, &error), &error);
  assert_ok(gpumc_checkpoint_put(writer, "a", GPUMC_UINT64, 2, 1, values, &error), &error);
  assert_ok(gpumc_hdf5_create("x.h5", 0, NULL, &file, &error), &error);
  struct gpumc_label label = {"d", "", "1", ""};
  hsize_t shape[1] = {2};
  hid_t data = gpumc_dataset_create(file, file->id, "/", &label, 1, shape, 0, false, &error);
  assert_true(data >= 0);
  struct mark before = set_mark();
  assert_refused(gpumc_checkpoint_put_rows(writer, "a", 1, 2, values, &error), &error, "other.ckpt",
                 "rows from 1 to 3 of a");
  assert_refused(gpumc_checkpoint_declare(writer, "a", GPUMC_UINT64, 2, 1, &error), &error,
                 "other.ckpt", "cannot write a: ");
  assert_refused(gpumc_checkpoint_put_text(writer, "a/b", "text", &error), &error, "other.ckpt",
                 "cannot write a/b: ");
  assert_refused(gpumc_dataset_write(file, data, "d", false, 1, 2, 1, numbers, &error), &error,
                 "x.h5", "cannot write d: ");
  assert_true(gpumc_hdf5_group(file->id, "d/e") < 0);
  assert_true(gpumc_dataset_create(file, file->id, "/", &label, 1, shape, 0, false, &error) < 0);
  struct mark after = set_mark();
  assert_int_equal(count_valid(before.space, after.space), 0);
  assert_int_equal(count_valid(before.list, after.list), 0);
  assert_int_equal(count_valid(before.type, after.type), 0);
  assert_int_equal(H5Fget_obj_count(file->id, H5F_OBJ_ALL), 2); /* itself and `data` */
  gpumc_error_free(&error);
  gpumc_hdf5_release(data);
  gpumc_hdf5_discard(file);
  gpumc_checkpoint_abandon(writer);
}

static void test_abandoned_leaves_the_old_one(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  struct gpumc_checkpoint_writer *writer;
  assert_ok(write_number(1, &error), &error);
  assert_ok(gpumc_checkpoint_begin(path, &writer, &error), &error);
  assert_ok(gpumc_checkpoint_put_text(writer, "x", "y", &error), &error);
  assert_refused(gpumc_checkpoint_put_text(writer, "x", "y", &error), &error, "run.ckpt.new",
                 "cannot write x");
  assert_refused(gpumc_checkpoint_put_rows(writer, "z", 0, 1, "y", &error), &error, "run.ckpt.new",
                 "cannot write z");
  gpumc_checkpoint_abandon(writer);
  assert_int_equal(access("run.ckpt.new", F_OK), -1);
  assert_int_equal(read_number(), 1);
  assert_refused(gpumc_checkpoint_begin("no/such/place", &writer, &error), &error, "no/such/place",
                 "No such file or directory");
}

static void assert_damaged(const unsigned char *bytes, size_t size, const char *message)
{
  struct gpumc_error error = {0};
  struct gpumc_checkpoint_reader *reader;
  write_file(path, bytes, size);
  assert_refused(gpumc_checkpoint_open(path, &reader, &error), &error, path, message);
  assert_null(reader);
}

static void test_damage_is_noticed(void **state)
{
  (void)state;
  size_t size;
  struct gpumc_error error = {0};
  assert_ok(write_number(1, &error), &error);
  unsigned char *bytes = file_bytes(path, &size);
  for (size_t i = 0; i < size; i += i < 600 ? 1 : 397) {
    bytes[i] ^= (unsigned char)(1 << i % 8);
    assert_damaged(bytes, size, "run.ckpt: ");
    bytes[i] ^= (unsigned char)(1 << i % 8);
  }
  for (size_t length = 0; length < size; length += length < 600 ? 1 : 397)
    assert_damaged(bytes, length, "run.ckpt: ");
  assert_damaged(bytes, 100, "cut off after 100 bytes");
  assert_damaged(bytes, size - 1, "bytes long instead of");
  memset(bytes + 4096, 0, 4096);
  assert_damaged(bytes, size, "its checksum is wrong");
  free(bytes);
}

static void test_foreign_files_are_named(void **state)
{
  (void)state;
  size_t size;
  struct gpumc_error error = {0};
  struct gpumc_checkpoint_reader *reader;
  char text[2000];
  memset(text, 'x', sizeof text);
  assert_damaged((unsigned char *)text, sizeof text, "is not a checkpoint of gpumc");
  assert_refused(gpumc_checkpoint_open("none.ckpt", &reader, &error), &error, "none.ckpt",
                 "No such file or directory");
  assert_refused(gpumc_checkpoint_open(".", &reader, &error), &error, ".",
                 "not a regular file but a directory");
  assert_int_equal(unlink(path), 0);
  assert_ok(write_number(1, &error), &error);
  unsigned char *bytes = file_bytes(path, &size);
  bytes[16] = 7;
  assert_damaged(bytes, size, "was written in checkpoint format 7; this program reads 5");
  free(bytes);
}

/* With every size limit from nothing to enough, the write fails or succeeds, and the old or the new
 * checkpoint is whole. */
static void test_full_disk_leaves_the_old_one(void **state)
{
  (void)state;
  size_t size;
  struct gpumc_error error = {0};
  assert_ok(write_number(1, &error), &error);
  free(file_bytes(path, &size));
  for (size_t limit = 0; limit < size; limit += 3001) {
    pid_t child = fork();
    if (child == 0) {
      struct rlimit sizes = {limit, limit};
      int refused = setrlimit(RLIMIT_FSIZE, &sizes) == 0 &&
                    write_number(2, &error) == GPUMC_FAILURE &&
                    strstr(gpumc_error_text(&error), "File too large") != NULL;
      _exit(refused ? 0 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(access("run.ckpt.new", F_OK), -1);
    assert_int_equal(read_number(), 1);
  }
}

static void test_kill_at_any_instant_leaves_a_whole_one(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  assert_ok(write_number(0, &error), &error);
  uint64_t before = 0;
  for (int kills = 0; kills < N_KILLS; kills++) {
    pid_t child = fork();
    if (child == 0)
      for (uint64_t number = before + 1;; number++)
        if (write_number(number, &error) != GPUMC_OK)
          _exit(1);
    struct timespec pause = {0, 1000000 + kills * 777777 % 40000000};
    nanosleep(&pause, NULL);
    kill(child, SIGKILL);
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status));
    uint64_t number = read_number();
    assert_true(number >= before);
    before = number;
  }
  assert_true(before > 0);
}

int main(void)
{
  gpumc_hdf5_prepare_program();
#define TEST(name) cmocka_unit_test_setup_teardown(name, work_directory_enter, work_directory_leave)
  const struct CMUnitTest tests[] = {
      TEST(test_round_trip),
      TEST(test_round_trip_errors),
      TEST(test_failures_leave_nothing_open),
      TEST(test_abandoned_leaves_the_old_one),
      TEST(test_damage_is_noticed),
      TEST(test_foreign_files_are_named),
      TEST(test_full_disk_leaves_the_old_one),
      TEST(test_kill_at_any_instant_leaves_a_whole_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
