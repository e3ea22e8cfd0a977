/* Raw bytes as a column of a table: unchanged, whatever numbers they represent, in the working
 * file, through the log and through a checkpoint. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>

#include "core/storage/hdf5_file.h"
#include "core/storage/recorder.h"
#include "support/status.h"
#include "support/work_directory.h"

enum { FEW = 3, MANY = 21, ROWS = 500, HALF = 200 };

static uint8_t byte_at(size_t row, size_t i)
{
  return (uint8_t)(0xff - 37 * row - 101 * i);
}

struct tables {
  size_t in_memory, logged;
};

static struct gpumc_recorder *declare(struct tables *tables)
{
  const struct gpumc_column columns[] = {
      {.label = {"index", "row", "1", ""}, .width = 1, .integer = true},
      {.label = {"few", "three bytes", "1", ""}, .width = gpumc_column_words(FEW), .bytes = FEW},
      {.label = {"energy", "energy per site", "J", "e"}, .width = 1},
      {.label = {"many", "bytes", "1", ""}, .width = gpumc_column_words(MANY), .bytes = MANY},
  };
  struct gpumc_error error = {0};
  struct gpumc_recorder *recorder;
  struct gpumc_recorder_header header = {"out/x.h5", "", "", "{}", ""};
  assert_ok(gpumc_recorder_create(&header, &recorder, &error), &error);
  assert_ok(gpumc_recorder_add_table(recorder, "memory", columns, 4, &tables->in_memory, &error),
            &error);
  assert_ok(gpumc_recorder_add_series(recorder, "log", columns, 4, &tables->logged, &error),
            &error);
  return recorder;
}

static void append(struct gpumc_recorder *recorder, const struct tables *tables, size_t row)
{
  struct gpumc_error error = {0};
  double values[6] = {(double)row, 0, 0.5 * (double)row, 0, 0, 0};
  uint8_t few[FEW], many[MANY];
  for (size_t i = 0; i < FEW; i++)
    few[i] = byte_at(row, i);
  for (size_t i = 0; i < MANY; i++)
    many[i] = byte_at(row, FEW + i);
  memcpy(values + 1, few, FEW);
  memcpy(values + 3, many, MANY);
  assert_ok(gpumc_recorder_append(recorder, tables->in_memory, values, &error), &error);
  assert_ok(gpumc_recorder_append(recorder, tables->logged, values, &error), &error);
}

static void check_bytes(hid_t file, const char *path, size_t width, size_t skipped)
{
  static uint8_t bytes[ROWS * MANY];
  hsize_t shape[2];
  hid_t data = H5Dopen2(file, path, H5P_DEFAULT);
  assert_true(data >= 0);
  hid_t space = H5Dget_space(data), type = H5Dget_type(data);
  assert_int_equal(H5Sget_simple_extent_dims(space, shape, NULL), 2);
  assert_int_equal(shape[0], ROWS);
  assert_int_equal(shape[1], width);
  assert_true(H5Tequal(type, H5T_STD_U8LE) > 0);
  assert_true(H5Dread(data, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes) >= 0);
  for (size_t row = 0; row < ROWS; row++)
    for (size_t i = 0; i < width; i++)
      if (bytes[row * width + i] != byte_at(row, skipped + i))
        fail_msg("%s: byte %zu of row %zu is %u", path, i, row, bytes[row * width + i]);
  H5Tclose(type);
  H5Sclose(space);
  H5Dclose(data);
}

static void finish_and_check(struct gpumc_recorder *recorder)
{
  struct gpumc_error error = {0};
  assert_ok(gpumc_recorder_close_tables(recorder, &error), &error);
  assert_ok(gpumc_recorder_finish(recorder, &error), &error);
  gpumc_recorder_free(recorder);
  hid_t file = H5Fopen("out/x.h5", H5F_ACC_RDONLY, H5P_DEFAULT);
  assert_true(file >= 0);
  check_bytes(file, "memory/few", FEW, 0);
  check_bytes(file, "memory/many", MANY, FEW);
  check_bytes(file, "log/few", FEW, 0);
  check_bytes(file, "log/many", MANY, FEW);
  H5Fclose(file);
}

static void test_bytes_as_they_came(void **state)
{
  struct gpumc_error error = {0};
  struct tables tables;
  struct gpumc_recorder *recorder = declare(&tables);
  (void)state;
  assert_ok(gpumc_recorder_start(recorder, &error), &error);
  for (size_t row = 0; row < ROWS; row++) {
    append(recorder, &tables, row);
    if (row % 100 == 7)
      assert_ok(gpumc_recorder_flush(recorder, &error), &error);
  }
  finish_and_check(recorder);
}

static void test_bytes_through_a_checkpoint(void **state)
{
  struct gpumc_error error = {0};
  struct gpumc_checkpoint_writer *writer;
  struct gpumc_checkpoint_reader *reader;
  struct tables tables;
  struct gpumc_recorder *recorder = declare(&tables);
  (void)state;
  assert_ok(gpumc_recorder_start(recorder, &error), &error);
  for (size_t row = 0; row < HALF; row++)
    append(recorder, &tables, row);
  assert_ok(gpumc_checkpoint_begin("out/x.ckpt", &writer, &error), &error);
  assert_ok(gpumc_recorder_save(recorder, writer, &error), &error);
  assert_ok(gpumc_checkpoint_commit(writer, &error), &error);
  for (size_t row = HALF; row < HALF + 50; row++)
    append(recorder, &tables, 0); /* to be forgotten */
  gpumc_recorder_free(recorder);

  recorder = declare(&tables);
  assert_ok(gpumc_checkpoint_open("out/x.ckpt", &reader, &error), &error);
  assert_ok(gpumc_recorder_load(recorder, reader, &error), &error);
  gpumc_checkpoint_close(reader);
  assert_ok(gpumc_recorder_start(recorder, &error), &error);
  for (size_t row = HALF; row < ROWS; row++)
    append(recorder, &tables, row);
  finish_and_check(recorder);
}

static struct gpumc_recorder *declare_wide(size_t bytes, size_t *table)
{
  const struct gpumc_column columns[] = {
      {.label = {"index", "row", "1", ""}, .width = 1, .integer = true},
      {.label = {"wide", "bytes", "1", ""}, .width = gpumc_column_words(bytes), .bytes = bytes}};
  struct gpumc_error error = {0};
  struct gpumc_recorder *recorder;
  struct gpumc_recorder_header header = {"out/x.h5", "", "", "{}", ""};
  assert_ok(gpumc_recorder_create(&header, &recorder, &error), &error);
  assert_ok(gpumc_recorder_add_series(recorder, "wide", columns, 2, table, &error), &error);
  return recorder;
}

/* A row of several chunks, none of them a whole number of words. */
static void test_wide_rows(void **state)
{
  enum { WIDE = 3 * (1 << 24) / 2 + 5 };
  const size_t words = 1 + gpumc_column_words(WIDE);
  struct gpumc_error error = {0};
  size_t table;
  struct gpumc_recorder *recorder = declare_wide(WIDE, &table);
  double *row = calloc(words, sizeof *row);
  uint8_t *bytes = malloc(WIDE), *read = malloc(WIDE);
  (void)state;
  assert_true(row != NULL && bytes != NULL && read != NULL);
  for (size_t i = 0; i < WIDE; i++)
    bytes[i] = (uint8_t)(i * i >> 7);
  memcpy(row + 1, bytes, WIDE);
  assert_ok(gpumc_recorder_start(recorder, &error), &error);
  assert_ok(gpumc_recorder_append(recorder, table, row, &error), &error);
  assert_ok(gpumc_recorder_close_tables(recorder, &error), &error);
  assert_ok(gpumc_recorder_finish(recorder, &error), &error);
  gpumc_recorder_free(recorder);
  hid_t file = H5Fopen("out/x.h5", H5F_ACC_RDONLY, H5P_DEFAULT);
  hid_t data = H5Dopen2(file, "wide/wide", H5P_DEFAULT);
  assert_true(data >= 0);
  assert_true(H5Dread(data, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, read) >= 0);
  assert_memory_equal(read, bytes, WIDE);
  H5Dclose(data);
  H5Fclose(file);
  free(read);
  free(bytes);
  free(row);
}

/* HDF5 has no chunks of 4 GiB and more. */
static void test_rows_above_four_gibibytes(void **state)
{
  struct gpumc_error error = {0};
  size_t table;
  struct gpumc_recorder *recorder = declare_wide(((size_t)1 << 32) + 1, &table);
  (void)state;
  assert_ok(gpumc_recorder_start(recorder, &error), &error);
  gpumc_recorder_free(recorder);
}

int main(void)
{
  gpumc_hdf5_prepare_program();
#define TEST(name) cmocka_unit_test_setup_teardown(name, work_directory_enter, work_directory_leave)
  const struct CMUnitTest tests[] = {
      TEST(test_bytes_as_they_came),
      TEST(test_bytes_through_a_checkpoint),
      TEST(test_wide_rows),
      TEST(test_rows_above_four_gibibytes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
