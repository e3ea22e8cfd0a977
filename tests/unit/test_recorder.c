/* The recorder: tables, resuming, refusals, and disk failures. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <hdf5.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/storage/hdf5_file.h"
#include "core/storage/recorder.h"
#include "core/storage/result_info.h"
#include "support/full_disk.h"
#include "support/status.h"
#include "support/work_directory.h"

enum { ROW = 5 };

static const struct gpumc_column columns[] = {
    {{"beta", "inverse temperature", "1/J", "\\beta"}, 1, false, NULL, 0},
    {{"energy", "energy per site", "J", "e"}, 1, false, NULL, 0},
    {{"families", "families alive", "1", "F"}, 1, true, NULL, 0},
    {{"block_energy", "energy per site of each block", "J", "e_b"}, 2, false, "block", 0},
};

/* Declares two tables without starting them. */
static struct gpumc_recorder *declare(size_t tables[2])
{
  struct gpumc_error error = {0};
  struct gpumc_recorder *recorder;
  struct gpumc_recorder_header header = {"out/x.h5", "title", "seed: 1\n", "{\"seed\":1}",
                                         "@misc{}"};
  assert_ok(gpumc_recorder_create(&header, &recorder, &error), &error);
  assert_ok(gpumc_recorder_add_table(recorder, "runs/0000", columns, 4, &tables[0], &error),
            &error);
  assert_ok(gpumc_recorder_add_table(recorder, "runs/0001", columns, 4, &tables[1], &error),
            &error);
  return recorder;
}

static void append(struct gpumc_recorder *recorder, size_t table, size_t first, size_t end)
{
  struct gpumc_error error = {0};
  for (size_t i = first; i < end; i++) {
    double x = (double)i;
    double row[ROW] = {0.1 * x, -x, 1000 + x, -x - 1, -x + 1};
    assert_ok(gpumc_recorder_append(recorder, table, row, &error), &error);
  }
}

static void save(struct gpumc_recorder *recorder)
{
  struct gpumc_error error = {0};
  struct gpumc_checkpoint_writer *writer;
  assert_ok(gpumc_checkpoint_begin("x.ckpt", &writer, &error), &error);
  assert_ok(gpumc_recorder_save(recorder, writer, &error), &error);
  assert_ok(gpumc_checkpoint_commit(writer, &error), &error);
}

static void load(struct gpumc_recorder *recorder)
{
  struct gpumc_error error = {0};
  struct gpumc_checkpoint_reader *reader;
  assert_ok(gpumc_checkpoint_open("x.ckpt", &reader, &error), &error);
  assert_ok(gpumc_recorder_load(recorder, reader, &error), &error);
  gpumc_checkpoint_close(reader);
}

static void finish(struct gpumc_recorder *recorder)
{
  struct gpumc_error error = {0};
  const double beta[] = {0, 0.5, 1};
  struct gpumc_dataset axis = {"summary", columns[0].label, 1, {3}, {NULL}, false, beta};
  struct gpumc_dataset energy = {"summary", columns[1].label, 1, {3}, {"summary/beta"}, false,
                                 beta};
  assert_ok(gpumc_recorder_close_tables(recorder, &error), &error);
  assert_ok(gpumc_recorder_dataset(recorder, &axis, &error), &error);
  assert_ok(gpumc_recorder_dataset(recorder, &energy, &error), &error);
  assert_ok(gpumc_recorder_text(recorder, "summary", "warnings", "few families", &error), &error);
  assert_ok(gpumc_recorder_finish(recorder, &error), &error);
  gpumc_recorder_free(recorder);
}

/* Reads one column of a table in a file. */
static size_t read_column(const char *path, const char *name, double *values, size_t most)
{
  hsize_t shape[2] = {0, 1};
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  hid_t data = H5Dopen2(file, name, H5P_DEFAULT);
  hid_t space = H5Dget_space(data);
  assert_true(file >= 0 && data >= 0);
  H5Sget_simple_extent_dims(space, shape, NULL);
  assert_true(shape[0] * shape[1] <= most);
  assert_true(H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Sclose(space);
  H5Dclose(data);
  H5Fclose(file);
  return (size_t)shape[0];
}

static void test_finished_file_has_all_rows(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  double values[4000];
  size_t tables[2];
  struct gpumc_recorder *recorder = declare(tables);
  assert_ok(gpumc_recorder_text(recorder, "provenance", "host", "here", &error), &error);
  assert_ok(gpumc_recorder_start(recorder, &error), &error);
  append(recorder, tables[0], 0, 700);
  assert_ok(gpumc_recorder_flush(recorder, &error), &error);
  append(recorder, tables[1], 0, 3);
  append(recorder, tables[0], 700, 1500);
  assert_int_equal(access("out/x.h5", F_OK), -1);
  finish(recorder);
  assert_int_equal(access("out/x.h5.partial", F_OK), -1);
  assert_int_equal(read_column("out/x.h5", "runs/0000/energy", values, 4000), 1500);
  for (size_t i = 0; i < 1500; i++)
    assert_true(values[i] == -(double)i);
  assert_int_equal(read_column("out/x.h5", "runs/0000/families", values, 4000), 1500);
  assert_true(values[1499] == 2499);
  assert_int_equal(read_column("out/x.h5", "runs/0000/block_energy", values, 4000), 1500);
  assert_true(values[2998] == -1500 && values[2999] == -1498);
  assert_int_equal(read_column("out/x.h5", "runs/0001/beta", values, 4000), 3);
}

static void test_dataset_in_pieces(void **state)
{
  (void)state;
  enum { ROWS = 5, WIDTH = 3 };
  struct gpumc_error error = {0};
  size_t tables[2];
  double values[ROWS * WIDTH], found[ROWS * WIDTH] = {0};
  struct gpumc_recorder *recorder = declare(tables);
  const struct gpumc_dataset dataset = {
      "summary", {"n", "", "", ""}, 2, {ROWS, WIDTH}, {NULL}, true, NULL};
  struct gpumc_dataset lost = dataset;
  lost.label.name = "m";
  for (size_t i = 0; i < ROWS * WIDTH; i++)
    values[i] = (double)(i * i);
  assert_ok(gpumc_recorder_start(recorder, &error), &error);
  assert_ok(gpumc_recorder_close_tables(recorder, &error), &error);
  assert_ok(gpumc_recorder_dataset(recorder, &dataset, &error), &error);
  assert_ok(gpumc_recorder_dataset_rows(recorder, &dataset, 3, 2, values + 3 * WIDTH, &error),
            &error);
  assert_ok(gpumc_recorder_dataset_rows(recorder, &dataset, 0, 3, values, &error), &error);
  assert_refused(gpumc_recorder_dataset_rows(recorder, &lost, 0, 1, values, &error), &error,
                 "out/x.h5.partial", "cannot open the dataset m in summary");
  values[0] = 0.5;
  assert_refused(gpumc_recorder_dataset_rows(recorder, &dataset, 0, 1, values, &error), &error,
                 "n: 0.5", "is not an integer");
  values[0] = 0.0;
  assert_ok(gpumc_recorder_finish(recorder, &error), &error);
  gpumc_recorder_free(recorder);
  assert_int_equal(read_column("out/x.h5", "summary/n", found, ROWS * WIDTH), ROWS);
  assert_memory_equal(found, values, sizeof found);
}

static void test_refusals(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  size_t tables[2];
  struct gpumc_recorder *recorder = declare(tables);
  double row[ROW] = {0};
  const double half = 0.5, one = 1;
  assert_ok(gpumc_recorder_start(recorder, &error), &error);
  const double bad[] = {NAN, 0.5, 0x1p54, -INFINITY};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    row[2] = bad[i];
    assert_refused(gpumc_recorder_append(recorder, tables[0], row, &error), &error,
                   "runs/0000/families", "is not an integer");
  }
  assert_ok(gpumc_recorder_close_tables(recorder, &error), &error);
  struct gpumc_dataset dataset = {"summary", {"n", "", "", ""}, 0, {0}, {NULL}, true, &half};
  assert_refused(gpumc_recorder_dataset(recorder, &dataset, &error), &error, "n: 0.5",
                 "is not an integer");
  dataset.values = &one; /* nothing was written */
  assert_ok(gpumc_recorder_dataset(recorder, &dataset, &error), &error);
  assert_refused(gpumc_recorder_dataset(recorder, &dataset, &error), &error, "out/x.h5.partial",
                 "cannot create the dataset n in summary");
  struct gpumc_dataset lost = {"summary", {"m", "", "", ""}, 1, {1}, {"summary/no"}, false, &half};
  assert_refused(gpumc_recorder_dataset(recorder, &lost, &error), &error, "out/x.h5.partial",
                 "cannot use summary/no as an axis");
  gpumc_recorder_free(recorder);
  gpumc_recorder_free(NULL);
}

static void test_directory_errors(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  struct gpumc_recorder *recorder;
  struct gpumc_recorder_header header = {"file/x.h5", "", "", "{}", ""};
  write_file("file", "x", 1);
  assert_refused(gpumc_recorder_create(&header, &recorder, &error), &error, "file/x.h5",
                 "is not a directory");
  assert_null(recorder);
  header.output = "file/deeper/x.h5";
  assert_refused(gpumc_recorder_create(&header, &recorder, &error), &error, "file/deeper",
                 "Not a directory");
  assert_int_equal(mkdir("taken.h5", 0777), 0);
  header.output = "taken.h5";
  assert_refused(gpumc_recorder_create(&header, &recorder, &error), &error, "taken.h5",
                 "is a directory");
}

/* After a stop and a resume with the old working file damaged, the result is the same. */
static void test_resume_rebuilds_the_working_file(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  double values[400];
  size_t n_rows;
  size_t tables[2];
  struct gpumc_recorder *recorder = declare(tables);
  assert_ok(gpumc_recorder_start(recorder, &error), &error);
  append(recorder, tables[0], 0, 100);
  save(recorder);
  append(recorder, tables[0], 100, 150);
  gpumc_recorder_free(recorder);
  for (int damage = 0; damage < 3; damage++) {
    if (damage == 1)
      write_file("out/x.h5.partial", "rubbish", 7);
    if (damage == 2)
      unlink("out/x.h5.partial");
    recorder = declare(tables);
    load(recorder);
    assert_ok(gpumc_recorder_start(recorder, &error), &error);
    const double *rows = gpumc_recorder_rows(recorder, tables[0], &n_rows);
    assert_int_equal(n_rows, 100);
    assert_true(rows[99 * ROW + 1] == -99);
    append(recorder, tables[0], 100, 200);
    finish(recorder);
    assert_int_equal(read_column("out/x.h5", "runs/0000/energy", values, 400), 200);
    for (size_t i = 0; i < 200; i++)
      assert_true(values[i] == -(double)i);
    assert_int_equal(read_column("out/x.h5", "runs/0001/energy", values, 400), 0);
    unlink("out/x.h5");
  }
}

static void test_a_file_that_has_come_is_left_alone(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  size_t tables[2];
  struct gpumc_recorder *recorder = declare(tables);
  assert_ok(gpumc_recorder_start(recorder, &error), &error);
  assert_ok(gpumc_recorder_close_tables(recorder, &error), &error);
  write_file("out/x.h5", "mine", 4);
  assert_refused(gpumc_recorder_finish(recorder, &error), &error, "out/x.h5: appeared",
                 "was left alone");
  gpumc_recorder_free(recorder);
  char found[8];
  FILE *stream = fopen("out/x.h5", "rb");
  assert_int_equal(fread(found, 1, sizeof found, stream), 4);
  assert_memory_equal(found, "mine", 4);
  fclose(stream);
  assert_int_equal(access("out/x.h5.partial", F_OK), 0);
  unlink("out/x.h5");
}

static void test_resume_errors(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  size_t tables[2];
  size_t table;
  struct gpumc_checkpoint_reader *reader;
  struct gpumc_recorder *recorder = declare(tables);
  save(recorder);
  gpumc_recorder_free(recorder);
  assert_ok(gpumc_checkpoint_open("x.ckpt", &reader, &error), &error);
  struct gpumc_recorder_header header = {"y.h5", "", "", "{}", ""};
  assert_ok(gpumc_recorder_create(&header, &recorder, &error), &error);
  assert_ok(gpumc_recorder_add_table(recorder, "runs/0000", columns, 3, &table, &error), &error);
  assert_refused(gpumc_recorder_load(recorder, reader, &error), &error, "other columns",
                 "block_energy:2f");
  gpumc_recorder_free(recorder);
  recorder = declare(tables);
  assert_ok(gpumc_recorder_add_table(recorder, "runs/0002", columns, 4, &table, &error), &error);
  assert_refused(gpumc_recorder_load(recorder, reader, &error), &error, "x.ckpt",
                 "holds no recorder/2/layout");
  gpumc_recorder_free(recorder);
  gpumc_checkpoint_close(reader);
}

/* Runs the whole life on a disk that may be full. */
static int live(void)
{
  struct gpumc_error error = {0};
  size_t tables[2];
  struct gpumc_recorder *recorder = declare(tables);
  enum gpumc_status status = gpumc_recorder_start(recorder, &error);
  double row[ROW] = {0};
  for (size_t i = 0; i < 3000 && status == GPUMC_OK; i++) {
    status = gpumc_recorder_append(recorder, tables[0], row, &error);
    if (status == GPUMC_OK && i % 1000 == 0)
      status = gpumc_recorder_flush(recorder, &error);
  }
  return full_disk_outcome(recorder, status, &error, "out/x.h5.partial");
}

static void test_full_disk_is_an_ordinary_error(void **state)
{
  (void)state;
  expect_full_disk_is_told(live, 240000, 7001);
}

/* HDF5's own error printing is restored after our calls. */
static void test_error_printing_is_put_back(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  struct gpumc_hdf5_file *file;
  H5E_auto2_t function;
  void *data;
  assert_true(H5Eset_auto2(H5E_DEFAULT, (H5E_auto2_t)H5Eprint2, stderr) >= 0);
  assert_refused(gpumc_hdf5_open("none", GPUMC_HDF5_READ, &file, &error), &error, "none",
                 "No such file or directory");
  assert_true(H5Eget_auto2(H5E_DEFAULT, &function, &data) >= 0);
  assert_true(function == (H5E_auto2_t)H5Eprint2 && data == stderr);
}

int main(void)
{
  gpumc_hdf5_prepare_program();
#define TEST(name) cmocka_unit_test_setup_teardown(name, work_directory_enter, work_directory_leave)
  const struct CMUnitTest tests[] = {
      TEST(test_finished_file_has_all_rows),
      TEST(test_dataset_in_pieces),
      TEST(test_refusals),
      TEST(test_directory_errors),
      TEST(test_resume_rebuilds_the_working_file),
      TEST(test_a_file_that_has_come_is_left_alone),
      TEST(test_resume_errors),
      TEST(test_full_disk_is_an_ordinary_error),
      TEST(test_error_printing_is_put_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
