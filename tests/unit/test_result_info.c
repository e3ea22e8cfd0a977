/* Reading results: everything is recovered, and no foreign or damaged file does harm. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <hdf5.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/storage/hdf5_file.h"
#include "core/storage/recorder.h"
#include "core/storage/result_info.h"
#include "support/result_dataset.h"
#include "support/status.h"
#include "support/work_directory.h"

static const char path[] = "x.h5";

static void assert_unreadable(const char *file, const char *message)
{
  struct gpumc_error error = {0};
  struct gpumc_result result;
  assert_refused(gpumc_result_read(file, &result, &error), &error, file, message);
  gpumc_result_free(&result);
}

static struct gpumc_recorder *start(void)
{
  static const struct gpumc_column columns[] = {
      {{"beta", "inverse temperature", "1/J", "\\beta"}, 1, false, NULL, 0},
      {{"energy", "energy per site", "J", "e"}, 1, false, NULL, 0},
  };
  struct gpumc_error error = {0};
  struct gpumc_recorder *recorder;
  struct gpumc_recorder_header header = {path, "a title", "seed: 1\n", "{\"seed\":1}", "@misc{}"};
  size_t table;
  const double row[2] = {0.5, -1};
  assert_ok(gpumc_recorder_create(&header, &recorder, &error), &error);
  assert_ok(gpumc_recorder_add_table(recorder, "runs/0000", columns, 2, &table, &error), &error);
  assert_ok(gpumc_recorder_add_table(recorder, "runs/0001", columns, 2, &table, &error), &error);
  assert_ok(gpumc_recorder_text(recorder, "provenance", "host", "here", &error), &error);
  assert_ok(gpumc_recorder_start(recorder, &error), &error);
  assert_ok(gpumc_recorder_append(recorder, table, row, &error), &error);
  assert_ok(gpumc_recorder_flush(recorder, &error), &error);
  return recorder;
}

static void finish(struct gpumc_recorder *recorder)
{
  struct gpumc_error error = {0};
  const double values[6] = {0, 0.5, 1, -1, -1.5, -2};
  const struct gpumc_dataset datasets[] = {
      {"summary", {"beta", "inverse temperature", "1/J", "b"}, 1, {3}, {NULL}, false, values},
      {"summary", {"axis", "an index", "1", "i"}, 1, {2}, {NULL}, true, (double[]){0, 1}},
      {"summary",
       {"map", "two", "J", "m"},
       2,
       {2, 3},
       {"summary/axis", "summary/beta"},
       false,
       values},
      {"summary", {"energy", "energy", "J", "e"}, 1, {3}, {"summary/beta"}, false, values + 3},
      {"summary/fine", {"energy", "finer", "J", "e"}, 1, {2}, {"summary/axis"}, false, values + 4},
      {"summary", {"count", "one", "1", ""}, 0, {0}, {NULL}, true, (double[]){7}},
  };
  assert_ok(gpumc_recorder_close_tables(recorder, &error), &error);
  for (size_t i = 0; i < sizeof datasets / sizeof *datasets; i++)
    assert_ok(gpumc_recorder_dataset(recorder, &datasets[i], &error), &error);
  assert_ok(gpumc_recorder_text(recorder, "summary", "warnings", "few", &error), &error);
  assert_ok(gpumc_recorder_number(recorder, "provenance", "rate", 0.1, &error), &error);
  assert_ok(gpumc_recorder_integer(recorder, "provenance", "resumes", -3, &error), &error);
  assert_ok(gpumc_recorder_finish(recorder, &error), &error);
  gpumc_recorder_free(recorder);
}

static int type_of(const struct gpumc_result_fields *fields, const char *name)
{
  for (size_t i = 0; i < fields->count; i++)
    if (strcmp(fields->items[i].name, name) == 0)
      return (int)fields->items[i].type;
  return -1;
}

static void test_finished_result(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  struct gpumc_result result;
  finish(start());
  assert_ok(gpumc_result_read(path, &result, &error), &error);
  assert_true(result.complete);
  assert_int_equal(result.format_version, GPUMC_RESULT_VERSION);
  assert_string_equal(result.title, "a title");
  assert_string_equal(result.source, "seed: 1\n");
  assert_string_equal(result.resolved, "{\"seed\":1}");
  assert_int_equal(result.n_runs, 2);
  assert_string_equal(gpumc_result_field(&result.provenance, "host"), "here");
  assert_string_equal(gpumc_result_field(&result.provenance, "rate"), "0.1");
  assert_string_equal(gpumc_result_field(&result.provenance, "resumes"), "-3");
  assert_string_equal(gpumc_result_field(&result.provenance, "citations"), "@misc{}");
  assert_null(gpumc_result_field(&result.provenance, "none"));
  assert_int_equal(type_of(&result.provenance, "host"), GPUMC_FIELD_TEXT);
  assert_int_equal(type_of(&result.provenance, "rate"), GPUMC_FIELD_REAL);
  assert_int_equal(type_of(&result.provenance, "resumes"), GPUMC_FIELD_INTEGER);
  assert_null(result.runs);
  assert_string_equal(gpumc_result_field(&result.summary, "warnings"), "few");
  assert_int_equal(result.n_datasets, 6);
  assert_string_equal(result.datasets[0].name, "beta");
  assert_string_equal(result.datasets[0].units, "1/J");
  assert_string_equal(result.datasets[0].long_name, "inverse temperature");
  assert_string_equal(result.datasets[0].symbol, "b");
  const struct gpumc_result_dataset *energy = find_dataset(&result, "energy");
  assert_int_equal(energy->rank, 1);
  assert_int_equal(energy->shape[0], 3);
  assert_true(energy->values[2] == -2 && !energy->integer);
  const struct gpumc_result_dataset *map = find_dataset(&result, "map");
  assert_true(map->rank == 2 && map->shape[0] == 2 && map->shape[1] == 3 && map->values[5] == -2);
  const struct gpumc_result_dataset *count = find_dataset(&result, "count");
  assert_true(count->rank == 0 && count->integer && count->values[0] == 7);
  const struct gpumc_result_dataset *fine = find_dataset(&result, "fine/energy");
  assert_true(fine->rank == 1 && fine->shape[0] == 2 && fine->values[1] == -2);
  assert_string_equal(fine->long_name, "finer");
  assert_null(find_dataset(&result, "none"));
  gpumc_result_free(&result);
  gpumc_result_free(&result);
}

static void test_working_file(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  struct gpumc_result result;
  struct gpumc_recorder *recorder = start();
  assert_ok(gpumc_result_read("x.h5.partial", &result, &error), &error);
  assert_false(result.complete);
  assert_string_equal(result.resolved, "{\"seed\":1}");
  assert_string_equal(gpumc_result_field(&result.provenance, "host"), "here");
  assert_int_equal(result.n_runs, 2);
  assert_string_equal(result.runs[1].name, "0001");
  assert_int_equal(result.runs[0].n_rows, 0);
  assert_int_equal(result.runs[0].n_columns, 2);
  assert_int_equal(result.runs[1].n_rows, 1);
  assert_string_equal(result.runs[1].columns[0].name, "beta");
  assert_string_equal(result.runs[1].columns[1].units, "J");
  assert_true(result.runs[1].columns[0].values[0] == 0.5);
  assert_true(result.runs[1].columns[1].values[0] == -1);
  gpumc_result_free(&result);
  assert_ok(gpumc_recorder_close_tables(recorder, &error), &error);
  assert_unreadable("x.h5.partial", "is being written right now");
  gpumc_recorder_free(recorder);
}

static void test_foreign_files(void **state)
{
  (void)state;
  assert_unreadable("none.h5", "No such file or directory");
  assert_unreadable(".", "not a regular file but a directory");
  write_file("text", "some text that is long enough\n", 30);
  assert_unreadable("text", "is not a result of gpumc");
  write_file("empty", "", 0);
  assert_unreadable("empty", "is not a result of gpumc");
  H5Fclose(H5Fcreate("old.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  assert_unreadable("old.h5", "is an HDF5 file, but not a result of gpumc");
  hid_t access_list = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_libver_bounds(access_list, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  H5Fclose(H5Fcreate("new.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access_list));
  H5Pclose(access_list);
  assert_unreadable("new.h5", "is an HDF5 file, but not a result of gpumc");
}

static void test_newer_format(void **state)
{
  (void)state;
  const int64_t version = 9;
  finish(start());
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  hid_t attribute = H5Aopen(file, "format_version", H5P_DEFAULT);
  assert_true(H5Awrite(attribute, H5T_NATIVE_INT64, &version) >= 0);
  H5Aclose(attribute);
  H5Fclose(file);
  assert_unreadable(path, "was written in result format 9; this program reads 1 to 3");
}

/* In a child process, so that a crash is detected. */
static void test_numbers_are_no_texts(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  finish(start());
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  hid_t type = H5Tcopy(H5T_C_S1);
  hid_t space = H5Screate(H5S_SCALAR);
  assert_true(H5Adelete(file, "complete") >= 0);
  hid_t attribute = H5Acreate2(file, "complete", type, space, H5P_DEFAULT, H5P_DEFAULT);
  assert_true(H5Awrite(attribute, type, "1") >= 0);
  H5Aclose(attribute);
  H5Sclose(space);
  H5Tclose(type);
  H5Fclose(file);
  assert_unreadable(path, "it does not say whether it is complete");
  gpumc_error_free(&error);
}

static int read_in_child(void)
{
  int status;
  pid_t child = fork();
  if (child == 0) {
    struct gpumc_error error = {0};
    struct gpumc_result result;
    /* cmocka would catch it and continue with the tests, here in the child. */
    signal(SIGSEGV, SIG_DFL);
    signal(SIGABRT, SIG_DFL);
    alarm(20);
    enum gpumc_status outcome = gpumc_result_read(path, &result, &error);
    gpumc_error_free(&error);
    gpumc_result_free(&result);
    _exit(outcome == GPUMC_OK ? 0 : outcome == GPUMC_FAILURE ? 1 : 2);
  }
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_damage_does_no_harm(void **state)
{
  (void)state;
  size_t size;
  int outcomes[2] = {0};
  finish(start());
  unsigned char *bytes = file_bytes(path, &size);
  for (size_t i = 0; i < size; i += i < 100 ? 1 : 23) {
    unsigned char kept = bytes[i];
    bytes[i] = (unsigned char)(i % 2 == 0 ? 0xff : kept ^ 1 << i % 8);
    write_file(path, bytes, size);
    int outcome = read_in_child();
    if (outcome != 0 && outcome != 1)
      fail_msg("reading ended with %d after a change of byte %zu", outcome, i);
    outcomes[outcome]++;
    bytes[i] = kept;
  }
  for (size_t length = 0; length < size; length += 97) {
    write_file(path, bytes, length);
    int outcome = read_in_child();
    if (outcome != 1)
      fail_msg("reading ended with %d when cut to %zu bytes", outcome, length);
  }
  assert_true(outcomes[1] > 0);
  free(bytes);
}

int main(void)
{
  gpumc_hdf5_prepare_program();
#define TEST(name) cmocka_unit_test_setup_teardown(name, work_directory_enter, work_directory_leave)
  const struct CMUnitTest tests[] = {
      TEST(test_finished_result), TEST(test_working_file),         TEST(test_foreign_files),
      TEST(test_newer_format),    TEST(test_numbers_are_no_texts), TEST(test_damage_does_no_harm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
