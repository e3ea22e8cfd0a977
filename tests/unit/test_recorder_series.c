/* Long tables: rows that leave memory; logs that are cut, torn, damaged or not ours. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/storage/hdf5_file.h"
#include "core/storage/recorder/recorder_internal.h"
#include "support/full_disk.h"
#include "support/status.h"
#include "support/work_directory.h"

/* A row is a time, an integer, and as many replicas as the table is wide. */
enum { MOST_WIDTH = 200000 };

struct tables {
  size_t ordinary, narrow, wide;
  size_t width;
};

static struct gpumc_recorder *declare(struct tables *tables, size_t width)
{
  const struct gpumc_column columns[] = {
      {{"time", "sweeps", "1", "t"}, 1, true, NULL, 0},
      {{"energy", "energy per site", "J", "e"}, width, false, width > 1 ? "replica" : NULL, 0},
  };
  struct gpumc_error error = {0};
  struct gpumc_recorder *recorder;
  struct gpumc_recorder_header header = {"out/x.h5", "", "", "{}", ""};
  tables->width = width;
  assert_ok(gpumc_recorder_create(&header, &recorder, &error), &error);
  assert_ok(gpumc_recorder_add_series(recorder, "wide", columns, 2, &tables->wide, &error), &error);
  assert_ok(gpumc_recorder_add_table(recorder, "ordinary", columns, 1, &tables->ordinary, &error),
            &error);
  assert_ok(gpumc_recorder_add_series(recorder, "narrow", columns, 1, &tables->narrow, &error),
            &error);
  return recorder;
}

static double value_at(size_t row, size_t replica)
{
  return 0.1 * (double)row - (double)replica;
}

/* Appends a row to each table. */
static enum gpumc_status append_one(struct gpumc_recorder *recorder, const struct tables *tables,
                                    size_t i, struct gpumc_error *error)
{
  static double row[1 + MOST_WIDTH];
  row[0] = (double)(7 * i);
  for (size_t k = 0; k < tables->width; k++)
    row[1 + k] = value_at(i, k);
  enum gpumc_status status = gpumc_recorder_append(recorder, tables->wide, row, error);
  if (status == GPUMC_OK)
    status = gpumc_recorder_append(recorder, tables->narrow, row, error);
  if (status == GPUMC_OK)
    status = gpumc_recorder_append(recorder, tables->ordinary, row, error);
  return status;
}

static void
append(struct gpumc_recorder *recorder, const struct tables *tables, size_t first, size_t end)
{
  struct gpumc_error error = {0};
  for (size_t i = first; i < end; i++)
    assert_ok(append_one(recorder, tables, i, &error), &error);
}

static void save(struct gpumc_recorder *recorder)
{
  struct gpumc_error error = {0};
  struct gpumc_checkpoint_writer *writer;
  assert_ok(gpumc_checkpoint_begin("x.ckpt", &writer, &error), &error);
  assert_ok(gpumc_recorder_save(recorder, writer, &error), &error);
  assert_ok(gpumc_checkpoint_commit(writer, &error), &error);
}

static enum gpumc_status load(struct gpumc_recorder *recorder, struct gpumc_error *error)
{
  struct gpumc_checkpoint_reader *reader;
  assert_ok(gpumc_checkpoint_open("x.ckpt", &reader, error), error);
  enum gpumc_status status = gpumc_recorder_load(recorder, reader, error);
  gpumc_checkpoint_close(reader);
  return status;
}

static void start(struct gpumc_recorder *recorder)
{
  struct gpumc_error error = {0};
  assert_ok(gpumc_recorder_start(recorder, &error), &error);
}

static struct gpumc_recorder *resume(struct tables *tables, size_t width)
{
  struct gpumc_error error = {0};
  struct gpumc_recorder *recorder = declare(tables, width);
  assert_ok(load(recorder, &error), &error);
  start(recorder);
  return recorder;
}

static void flush(struct gpumc_recorder *recorder)
{
  struct gpumc_error error = {0};
  assert_ok(gpumc_recorder_flush(recorder, &error), &error);
}

static void finish(struct gpumc_recorder *recorder)
{
  struct gpumc_error error = {0};
  assert_ok(gpumc_recorder_close_tables(recorder, &error), &error);
  assert_ok(gpumc_recorder_finish(recorder, &error), &error);
  gpumc_recorder_free(recorder);
}

/* Reads one row of a dataset into `values`; returns the number of its rows. */
static size_t read_row(const char *name, size_t row, size_t width, double *values)
{
  hsize_t shape[2] = {0, 1};
  hid_t file = H5Fopen("out/x.h5", H5F_ACC_RDONLY, H5P_DEFAULT);
  hid_t data = H5Dopen2(file, name, H5P_DEFAULT);
  hid_t space = H5Dget_space(data);
  assert_true(file >= 0 && data >= 0);
  int rank = H5Sget_simple_extent_dims(space, shape, NULL);
  hsize_t begin[2] = {row, 0};
  hsize_t extent[2] = {1, width};
  hid_t memory = H5Screate_simple(rank, extent, NULL);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, begin, NULL, extent, NULL);
  assert_true(H5Dread(data, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values) >= 0);
  H5Sclose(memory);
  H5Sclose(space);
  H5Dclose(data);
  H5Fclose(file);
  return (size_t)shape[0];
}

static void assert_result(size_t n_rows, size_t width)
{
  static double values[MOST_WIDTH];
  const char *const times[] = {"wide/time", "narrow/time", "ordinary/time"};
  size_t step = n_rows > 100 ? n_rows / 50 : 1;
  for (size_t i = 0; i < n_rows; i += step) {
    for (int t = 0; t < 3; t++) {
      assert_int_equal(read_row(times[t], i, 1, values), n_rows);
      assert_true(values[0] == (double)(7 * i));
    }
    assert_int_equal(read_row("wide/energy", i, width, values), n_rows);
    for (size_t k = 0; k < width; k++)
      assert_true(values[k] == value_at(i, k));
  }
}

static void test_finished_file_has_all_rows_and_memory_none(void **state)
{
  (void)state;
  struct tables tables;
  const size_t widths[] = {1, 3, 1000};
  for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
    struct gpumc_recorder *recorder = declare(&tables, widths[w]);
    start(recorder);
    append(recorder, &tables, 0, 700);
    flush(recorder);
    append(recorder, &tables, 700, 1500);
    assert_int_equal(gpumc_recorder_count(recorder, tables.wide), 1500);
    flush(recorder);
    const struct gpumc_table *wide = &recorder->tables[tables.wide];
    assert_int_equal(wide->n_dropped, 1500);
    assert_true(wide->capacity < 1500);
    finish(recorder);
    assert_result(1500, widths[w]);
    assert_int_equal(access("out/x.h5.log", F_OK), 0);
    unlink("out/x.h5");
  }
}

/* Checks the room after asking for one row, then for another again and again. */
static void
assert_capacities(size_t row_bytes, bool is_long, size_t n_steps, const size_t *expected)
{
  const struct gpumc_column column = {.label = {"index", "row", "1", ""}, .width = 1};
  struct gpumc_error error = {0};
  struct gpumc_table table;
  assert_ok(gpumc_table_init(&table, "rows", &column, 1, &error), &error);
  table.row_width = row_bytes / sizeof(double);
  table.is_long = is_long;
  for (size_t i = 0; i < n_steps; i++) {
    assert_ok(gpumc_table_reserve(&table, table.capacity + 1, &error), &error);
    assert_int_equal(table.capacity, expected[i]);
  }
  gpumc_table_free(&table);
}

/* There is no room for 64 rows of a gibibyte, nor, in a long table, for more rows than reach the
 * file together. */
static void test_room_for_large_rows(void **state)
{
  (void)state;
  const size_t mebi = 1 << 20;
  assert_capacities(8, false, 2, (const size_t[]){64, 128});
  assert_capacities(mebi / 64 + 8, false, 2, (const size_t[]){63, 126});
  assert_capacities(mebi, false, 6, (const size_t[]){1, 2, 4, 8, 16, 32});
  assert_capacities(mebi, true, 6, (const size_t[]){1, 2, 4, 8, 16, 17});
  assert_capacities(5 * mebi, true, 4, (const size_t[]){1, 2, 4, 5});
  assert_capacities(1024 * mebi, true, 1, (const size_t[]){1});
}

/* Rows of more than a record's mebibyte, so many that they go to the file without a flush. */
static void test_rows_larger_than_a_record(void **state)
{
  (void)state;
  struct tables tables;
  struct gpumc_recorder *recorder = declare(&tables, MOST_WIDTH);
  start(recorder);
  append(recorder, &tables, 0, 25);
  assert_true(recorder->tables[tables.wide].n_dropped >= 10);
  save(recorder);
  gpumc_recorder_free(recorder);
  recorder = resume(&tables, MOST_WIDTH);
  assert_int_equal(recorder->tables[tables.wide].n_dropped, 25);
  append(recorder, &tables, 25, 30);
  finish(recorder);
  assert_result(30, MOST_WIDTH);
}

/* Stops again and again, with rows after the checkpoint in the log and a torn record at its end. */
static void test_resume_cuts_the_log_and_rebuilds_the_file(void **state)
{
  (void)state;
  struct tables tables;
  struct gpumc_recorder *recorder = declare(&tables, 3);
  start(recorder);
  save(recorder);
  for (size_t part = 0; part < 6; part++) {
    size_t size;
    append(recorder, &tables, 100 * part, 100 * part + 100);
    save(recorder);
    append(recorder, &tables, 100 * part + 100, 100 * part + 150);
    flush(recorder);
    gpumc_recorder_free(recorder);
    unsigned char *log = file_bytes("out/x.h5.log", &size);
    write_file("out/x.h5.log", log, size - 11 * part);
    free(log);
    if (part % 2 == 0)
      write_file("out/x.h5.partial", "rubbish", 7);
    recorder = resume(&tables, 3);
    assert_int_equal(gpumc_recorder_count(recorder, tables.narrow), 100 * part + 100);
    assert_true(recorder->log->length <= size - 50 * 4 * sizeof(double));
    free(file_bytes("out/x.h5.log", &size));
    assert_int_equal(size, recorder->log->length);
  }
  append(recorder, &tables, 600, 650);
  finish(recorder);
  assert_result(650, 3);
}

/* Makes a checkpoint of 20 rows in two records per table, and its log. */
static unsigned char *make_log(size_t *size)
{
  struct tables tables;
  struct gpumc_recorder *recorder = declare(&tables, 2);
  start(recorder);
  append(recorder, &tables, 0, 10);
  flush(recorder);
  append(recorder, &tables, 10, 20);
  save(recorder);
  gpumc_recorder_free(recorder);
  return file_bytes("out/x.h5.log", size);
}

static void assert_load_refused(const char *text)
{
  struct gpumc_error error = {0};
  struct tables tables;
  size_t before;
  size_t after;
  unsigned char *bytes = NULL;
  if (access("out/x.h5.log", F_OK) == 0)
    bytes = file_bytes("out/x.h5.log", &before);
  struct gpumc_recorder *recorder = declare(&tables, 2);
  assert_refused(load(recorder, &error), &error, text, "");
  gpumc_recorder_free(recorder);
  if (bytes == NULL)
    return;
  unsigned char *left = file_bytes("out/x.h5.log", &after);
  assert_int_equal(after, before);
  assert_memory_equal(left, bytes, before);
  free(bytes);
  free(left);
}

static void test_every_flipped_bit_is_found(void **state)
{
  (void)state;
  size_t size;
  unsigned char *log = make_log(&size);
  assert_true(size > 700 && size < 2000);
  for (size_t i = 0; i < size; i++) {
    log[i] ^= (unsigned char)(1 << i % 8);
    write_file("out/x.h5.log", log, size);
    assert_load_refused(i < 16   ? "out/x.h5.log: is not a log of gpumc"
                        : i < 32 ? "out/x.h5.log: its header is damaged"
                                 : "out/x.h5.log: damaged at byte ");
    log[i] ^= (unsigned char)(1 << i % 8);
  }
  write_file("out/x.h5.log", log, size);
  struct tables tables;
  struct gpumc_recorder *recorder = resume(&tables, 2);
  append(recorder, &tables, 20, 25);
  finish(recorder);
  assert_result(25, 2);
  free(log);
}

static void test_short_and_missing_logs_are_told(void **state)
{
  (void)state;
  size_t size;
  unsigned char *log = make_log(&size);
  for (size_t length = 0; length < size; length += 13) {
    write_file("out/x.h5.log", log, length);
    assert_load_refused("that it had when the checkpoint was written");
  }
  unlink("out/x.h5.log");
  assert_load_refused("out/x.h5.log: cannot open it: No such file or directory");
  free(log);
}

/* A log that is whole, with the same length and layout, but from another run; or with its records
 * in another order. */
static void test_log_of_another_run_is_refused(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  size_t size;
  size_t other_size;
  unsigned char *log = make_log(&size);
  struct tables tables;
  struct gpumc_recorder *recorder = declare(&tables, 2);
  start(recorder);
  append(recorder, &tables, 0, 10);
  flush(recorder);
  append(recorder, &tables, 11, 21);
  flush(recorder);
  gpumc_recorder_free(recorder);
  unsigned char *other = file_bytes("out/x.h5.log", &other_size);
  assert_int_equal(other_size, size);
  assert_load_refused("out/x.h5.log: is not the log that the checkpoint was written with");
  memcpy(other, log, size);
  size_t wide = 32 + 10 * 3 * sizeof(double);
  size_t narrow = 32 + 10 * sizeof(double);
  memcpy(other + 32, log + 32 + wide + narrow, wide);
  write_file("out/x.h5.log", other, size);
  assert_load_refused("out/x.h5.log: damaged at byte 32: a record whose rows are not the next");
  free(other);
  write_file("out/x.h5.log", log, size);
  recorder = declare(&tables, 3);
  assert_refused(load(recorder, &error), &error, "whose table has other columns (", "\"long wide");
  gpumc_recorder_free(recorder);
  free(log);
}

static void test_foreign_file_is_left_alone(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  struct tables tables;
  size_t size;
  struct gpumc_recorder *recorder = declare(&tables, 1);
  write_file("out/x.h5.log", "my notes", 8);
  assert_refused(gpumc_recorder_start(recorder, &error), &error,
                 "out/x.h5.log: ", "not a log of gpumc, and was left alone");
  gpumc_recorder_free(recorder);
  unsigned char *bytes = file_bytes("out/x.h5.log", &size);
  assert_int_equal(size, 8);
  assert_memory_equal(bytes, "my notes", 8);
  free(bytes);
}

/* Runs the whole life on a disk that may be full. */
static int live(void)
{
  struct gpumc_error error = {0};
  struct tables tables;
  struct gpumc_recorder *recorder = declare(&tables, 2);
  enum gpumc_status status = gpumc_recorder_start(recorder, &error);
  for (size_t i = 0; i < 3000 && status == GPUMC_OK; i++) {
    status = append_one(recorder, &tables, i, &error);
    if (status == GPUMC_OK && i % 500 == 0)
      status = gpumc_recorder_flush(recorder, &error);
  }
  return full_disk_outcome(recorder, status, &error, "out/x.h5");
}

static void test_full_disk_is_an_ordinary_error(void **state)
{
  (void)state;
  expect_full_disk_is_told(live, 400000, 9001);
}

/* Writes 160 MB of rows, which are rebuilt after a resume and continued. */
static void live_long(void)
{
  enum { WIDTH = 99, ROWS = 200000 };
  struct gpumc_error error = {0};
  struct tables tables;
  double row[1 + WIDTH] = {0};
  struct gpumc_recorder *recorder = declare(&tables, WIDTH);
  start(recorder);
  for (size_t i = 0; i < ROWS; i++)
    assert_ok(gpumc_recorder_append(recorder, tables.wide, row, &error), &error);
  save(recorder);
  gpumc_recorder_free(recorder);
  recorder = resume(&tables, WIDTH);
  append(recorder, &tables, 0, 1);
  assert_int_equal(gpumc_recorder_count(recorder, tables.wide), ROWS + 1);
  gpumc_recorder_free(recorder);
}

/* 50 MB were measured; with every row in memory it would exceed 160. */
static void test_memory_stays_small(void **state)
{
  (void)state;
#if defined(__SANITIZE_ADDRESS__)
  skip();
#endif
  const long most = 110L << 10; /* kB */
  struct rusage usage;
  int status;
  pid_t child = fork();
  if (child == 0) {
    live_long();
    _exit(0);
  }
  assert_int_equal(wait4(child, &status, 0, &usage), child);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  print_message("at most %ld MB\n", usage.ru_maxrss >> 10);
  assert_true(usage.ru_maxrss < most);
}

int main(void)
{
  gpumc_hdf5_prepare_program();
#define TEST(name) cmocka_unit_test_setup_teardown(name, work_directory_enter, work_directory_leave)
  const struct CMUnitTest tests[] = {
      TEST(test_finished_file_has_all_rows_and_memory_none),
      TEST(test_room_for_large_rows),
      TEST(test_rows_larger_than_a_record),
      TEST(test_resume_cuts_the_log_and_rebuilds_the_file),
      TEST(test_every_flipped_bit_is_found),
      TEST(test_short_and_missing_logs_are_told),
      TEST(test_log_of_another_run_is_refused),
      TEST(test_foreign_file_is_left_alone),
      TEST(test_memory_stays_small),
      TEST(test_full_disk_is_an_ordinary_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
