/* How the datasets of a finished result are stored, and the axes that they share. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <hdf5.h>
#include <hdf5_hl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/storage/hdf5_file.h"
#include "core/storage/recorder.h"
#include "support/status.h"
#include "support/work_directory.h"

/* More axes than wait to be written at once. */
enum { AXES = 150, ROWS = 3 };

static const struct gpumc_column columns[] = {
    {{"beta", "inverse temperature", "1/J", "\\beta"}, 1, false, NULL, 0},
    {{"energy", "energy per site", "J", "e"}, 1, false, NULL, 0},
};

/* Opens a recorder with one table of ROWS rows, whose tables are closed. */
static struct gpumc_recorder *begin(void)
{
  struct gpumc_error error = {0};
  struct gpumc_recorder *recorder;
  const struct gpumc_recorder_header header = {"x.h5", "title", "seed: 1\n", "{}", "@misc{}"};
  size_t table;
  assert_ok(gpumc_recorder_create(&header, &recorder, &error), &error);
  assert_ok(gpumc_recorder_add_table(recorder, "runs/0000", columns, 2, &table, &error), &error);
  assert_ok(gpumc_recorder_start(recorder, &error), &error);
  for (size_t i = 0; i < ROWS; i++) {
    const double row[2] = {0.1 * (double)i, -(double)i};
    assert_ok(gpumc_recorder_append(recorder, table, row, &error), &error);
  }
  assert_ok(gpumc_recorder_close_tables(recorder, &error), &error);
  return recorder;
}

static hid_t finish(struct gpumc_recorder *recorder)
{
  struct gpumc_error error = {0};
  assert_ok(gpumc_recorder_finish(recorder, &error), &error);
  gpumc_recorder_free(recorder);
  hid_t file = H5Fopen("x.h5", H5F_ACC_RDONLY, H5P_DEFAULT);
  assert_true(file >= 0);
  return file;
}

/* What there is to store, and where it should be. */
struct storage {
  const char *name;
  size_t rank, shape[3];
  bool integer, random;
  H5D_layout_t layout;
  int filters;
};

static const struct storage kinds[] = {
    {"scalar", 0, {0}, false, false, H5D_COMPACT, 0},
    {"none", 1, {0}, false, false, H5D_CONTIGUOUS, 0},
    {"one", 1, {1}, true, false, H5D_COMPACT, 0},
    {"few_integers", 1, {31}, true, false, H5D_COMPACT, 0},
    {"integers", 1, {32}, true, false, H5D_CHUNKED, 2},
    {"few_reals", 1, {95}, false, false, H5D_COMPACT, 0},
    {"reals", 1, {96}, false, false, H5D_CHUNKED, 2},
    {"matrix", 2, {16, 40}, false, false, H5D_CHUNKED, 2},
    {"box", 3, {4, 5, 6}, true, false, H5D_CHUNKED, 2},
    {"random_integers", 1, {40}, true, true, H5D_COMPACT, 0},
    {"largest_deflated", 1, {1 << 15}, true, false, H5D_CHUNKED, 2},
    {"large", 1, {(1 << 15) + 1}, true, false, H5D_CONTIGUOUS, 0},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static size_t count_of(const struct storage *kind)
{
  size_t count = 1;
  for (size_t d = 0; d < kind->rank; d++)
    count *= kind->shape[d];
  return count;
}

/* Values that compress, or do not. */
static void make(const struct storage *kind, double *values)
{
  uint64_t state = 88172645463325252u;
  for (size_t i = 0; i < count_of(kind); i++) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    const double draw = (double)(state >> 11);
    values[i] = kind->random ? draw : kind->integer ? (double)i - 5 : 0.25 * (double)i;
  }
}

static void assert_stored(hid_t file, const struct storage *kind, const double *expected)
{
  char path[64];
  const size_t count = count_of(kind);
  double *found = malloc((count + 1) * sizeof *found);
  snprintf(path, sizeof path, "summary/%s", kind->name);
  hid_t data = H5Dopen2(file, path, H5P_DEFAULT), list = H5Dget_create_plist(data);
  hid_t type = H5Dget_type(data);
  assert_true(data >= 0);
  assert_int_equal(H5Pget_layout(list), kind->layout);
  assert_int_equal(H5Pget_nfilters(list), kind->filters);
  assert_true(H5Tequal(type, kind->integer ? H5T_STD_I64LE : H5T_IEEE_F64LE) > 0);
  if (count > 0)
    assert_true(H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, found) >= 0);
  assert_memory_equal(found, expected, count * sizeof *found);
  H5Tclose(type);
  H5Pclose(list);
  H5Dclose(data);
  free(found);
}

static void test_each_dataset_is_stored_as_is_shortest(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  double *values[KINDS];
  struct gpumc_recorder *recorder = begin();
  for (size_t k = 0; k < KINDS; k++) {
    const struct storage *kind = &kinds[k];
    values[k] = malloc((count_of(kind) + 1) * sizeof **values);
    make(kind, values[k]);
    const struct gpumc_dataset dataset = {
        "summary",  {kind->name, "numbers", "1", "n"},
        kind->rank, {kind->shape[0], kind->shape[1], kind->shape[2]},
        {NULL},     kind->integer,
        values[k]};
    assert_ok(gpumc_recorder_dataset(recorder, &dataset, &error), &error);
  }
  hid_t file = finish(recorder);
  for (size_t k = 0; k < KINDS; k++) {
    assert_stored(file, &kinds[k], values[k]);
    free(values[k]);
  }
  H5Fclose(file);
}

static bool has_axis(hid_t file, const char *data, const char *axis)
{
  hid_t one = H5Dopen2(file, data, H5P_DEFAULT), other = H5Dopen2(file, axis, H5P_DEFAULT);
  const htri_t attached = H5DSis_attached(one, other, 0);
  H5Dclose(one);
  H5Dclose(other);
  return attached > 0;
}

static hssize_t count_datasets_of(hid_t file, const char *axis)
{
  hid_t attribute = H5Aopen_by_name(file, axis, "REFERENCE_LIST", H5P_DEFAULT, H5P_DEFAULT);
  hid_t space = H5Aget_space(attribute);
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  H5Sclose(space);
  H5Aclose(attribute);
  return count;
}

static void
put(struct gpumc_recorder *recorder, const char *group, const char *name, const char *axis)
{
  struct gpumc_error error = {0};
  const double values[ROWS] = {1, 2, 3};
  const struct gpumc_dataset dataset = {group, {name, "", "", ""}, 1, {ROWS}, {axis}, false,
                                        values};
  assert_ok(gpumc_recorder_dataset(recorder, &dataset, &error), &error);
}

static void test_axes_of_many_datasets(void **state)
{
  (void)state;
  char group[32], axis[40], data[40];
  struct gpumc_recorder *recorder = begin();
  for (size_t i = 0; i < AXES; i++) {
    snprintf(group, sizeof group, "summary/%zu", i);
    snprintf(axis, sizeof axis, "%s/x", group);
    put(recorder, group, "x", NULL);
    put(recorder, group, "a", axis);
    put(recorder, group, "b", axis);
  }
  /* The first axis has been written by now, and so has that of the table. */
  put(recorder, "summary/0", "c", "summary/0/x");
  put(recorder, "runs/0000", "later", "runs/0000/beta");
  hid_t file = finish(recorder);
  for (size_t i = 0; i < AXES; i++) {
    snprintf(axis, sizeof axis, "summary/%zu/x", i);
    snprintf(data, sizeof data, "summary/%zu/b", i);
    assert_true(has_axis(file, data, axis));
    assert_false(has_axis(file, data, i > 0 ? "summary/0/x" : "summary/1/x"));
    assert_int_equal(count_datasets_of(file, axis), i == 0 ? 3 : 2);
  }
  assert_true(has_axis(file, "summary/0/a", "summary/0/x"));
  assert_true(has_axis(file, "summary/0/c", "summary/0/x"));
  assert_true(has_axis(file, "runs/0000/energy", "runs/0000/beta"));
  assert_true(has_axis(file, "runs/0000/later", "runs/0000/beta"));
  assert_int_equal(count_datasets_of(file, "runs/0000/beta"), 2);
  H5Fclose(file);
}

int main(void)
{
  gpumc_hdf5_prepare_program();
#define TEST(name) cmocka_unit_test_setup_teardown(name, work_directory_enter, work_directory_leave)
  const struct CMUnitTest tests[] = {
      TEST(test_each_dataset_is_stored_as_is_shortest),
      TEST(test_axes_of_many_datasets),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
