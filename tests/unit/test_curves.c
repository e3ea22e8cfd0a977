/* Curves of a result: the model's units instead of declared ones, errors beside values, one axis or
 * two, tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "core/simulation/curves.h"
#include "core/storage/hdf5_file.h"
#include "core/storage/result_info.h"
#include "support/result_dataset.h"
#include "support/status.h"
#include "support/work_directory.h"

static const char path[] = "x.h5";
static const struct gpumc_label energy_label = {"energy", "energy per site", GPUMC_UNIT_ENERGY,
                                                "e"};
static const struct gpumc_label energy2_label = {"energy2", "square of the energy per site",
                                                 GPUMC_UNIT_ENERGY2, "e²"};
static const struct gpumc_model_ops ops = {.name = "model"};
static const struct gpumc_model model = {.ops = &ops, .energy_unit = "J/2.5", .beta_unit = "2.5/J"};

static struct gpumc_recorder *create(void)
{
  struct gpumc_error error = {0};
  struct gpumc_recorder *recorder;
  const struct gpumc_recorder_header header = {path, "", "", "{}", ""};
  assert_ok(gpumc_recorder_create(&header, &recorder, &error), &error);
  return recorder;
}

static void start(struct gpumc_recorder *recorder)
{
  struct gpumc_error error = {0};
  assert_ok(gpumc_recorder_start(recorder, &error), &error);
  assert_ok(gpumc_recorder_close_tables(recorder, &error), &error);
}

static void finish(struct gpumc_recorder *recorder, struct gpumc_result *result)
{
  struct gpumc_error error = {0};
  assert_ok(gpumc_recorder_finish(recorder, &error), &error);
  gpumc_recorder_free(recorder);
  assert_ok(gpumc_result_read(path, result, &error), &error);
}

static void check(const struct gpumc_result *result, const char *name, const char *long_name,
                  const char *units, const char *symbol, const size_t shape[2])
{
  const struct gpumc_result_dataset *found = find_dataset(result, name);
  assert_non_null(found);
  assert_string_equal(found->long_name, long_name);
  assert_string_equal(found->units, units);
  assert_string_equal(found->symbol, symbol);
  assert_int_equal(found->rank, shape[1] > 0 ? 2 : 1);
  assert_int_equal(found->shape[0], shape[0]);
  if (shape[1] > 0)
    assert_int_equal(found->shape[1], shape[1]);
}

static void test_units(void **state)
{
  (void)state;
  char text[GPUMC_UNIT_BYTES];
  assert_string_equal(gpumc_unit_of(&model, GPUMC_UNIT_ENERGY, text), "J/2.5");
  assert_string_equal(gpumc_unit_of(&model, GPUMC_UNIT_ENERGY2, text), "(J/2.5)^2");
  assert_string_equal(gpumc_unit_of(&model, GPUMC_UNIT_BETA, text), "2.5/J");
  assert_string_equal(gpumc_unit_of(&model, "k_B", text), "k_B");
}

static void test_one_axis(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  struct gpumc_recorder *recorder = create();
  struct gpumc_result result;
  const double values[] = {0.1, 0.2, 0.3};
  const struct gpumc_curve_place place = {recorder, &model, "summary", {"summary/beta"}, {3}};
  start(recorder);
  assert_ok(gpumc_curve_write_axis(&place, 0, &gpumc_label_beta, false, values, &error), &error);
  assert_ok(gpumc_curve_write_with_error(&place, &energy_label, values, values, &error), &error);
  finish(recorder, &result);
  check(&result, "beta", "inverse temperature", "2.5/J", "β", (size_t[]){3, 0});
  check(&result, "energy", "energy per site", "J/2.5", "e", (size_t[]){3, 0});
  check(&result, "energy_error", "standard error of the energy per site", "J/2.5", "σ(e)",
        (size_t[]){3, 0});
  gpumc_result_free(&result);
}

/* A quantity without a symbol has an error without one. */
static void test_no_symbol(void **state)
{
  (void)state;
  const struct gpumc_label time = {"time", "autocorrelation time", "sweeps", ""};
  struct gpumc_error_texts texts;
  assert_string_equal(gpumc_error_label(&time, &texts).symbol, "");
  assert_string_equal(gpumc_error_label(&energy_label, &texts).symbol, "σ(e)");
}

/* If nothing is moved there are single numbers. */
static void test_no_axis(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  struct gpumc_recorder *recorder = create();
  struct gpumc_result result;
  const double value = 0.5;
  const struct gpumc_curve_place place = {recorder, &model, "summary", {NULL}, {1}};
  start(recorder);
  assert_ok(gpumc_curve_write_with_error(&place, &energy_label, &value, &value, &error), &error);
  finish(recorder, &result);
  assert_string_equal(find_dataset(&result, "energy")->units, "J/2.5");
  assert_int_equal(find_dataset(&result, "energy")->rank, 0);
  assert_true(find_dataset(&result, "energy_error")->values[0] == 0.5);
  gpumc_result_free(&result);
}

static void test_two_axes(void **state)
{
  (void)state;
  const struct gpumc_label sample = {"sample", "number of the sample", "1", "s"};
  struct gpumc_error error = {0};
  struct gpumc_recorder *recorder = create();
  struct gpumc_result result;
  const double values[] = {0, 1, 2, 3, 4, 5};
  const struct gpumc_curve_place place = {
      recorder, &model, "summary", {"summary/sample", "summary/beta"}, {2, 3}};
  start(recorder);
  assert_ok(gpumc_curve_write_axis(&place, 1, &gpumc_label_beta, false, values, &error), &error);
  assert_ok(gpumc_curve_write_axis(&place, 0, &sample, true, values, &error), &error);
  assert_ok(gpumc_curve_write(&place, &energy2_label, false, values, &error), &error);
  finish(recorder, &result);
  check(&result, "beta", "inverse temperature", "2.5/J", "β", (size_t[]){3, 0});
  check(&result, "sample", "number of the sample", "1", "s", (size_t[]){2, 0});
  assert_true(find_dataset(&result, "sample")->integer);
  check(&result, "energy2", "square of the energy per site", "(J/2.5)^2", "e²", (size_t[]){2, 3});
  assert_true(find_dataset(&result, "energy2")->values[5] == 5);
  gpumc_result_free(&result);
}

/* The working file has the details of tables that a finished one omits. */
static void test_table(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  struct gpumc_recorder *recorder = create();
  struct gpumc_result result;
  struct gpumc_error_texts texts;
  struct gpumc_column columns[] = {
      {.label = gpumc_label_beta, .width = 1},
      {.label = gpumc_error_label(&energy2_label, &texts), .width = 1},
  };
  size_t table;
  assert_ok(gpumc_curve_add_table(recorder, &model, "runs/0000", columns, 2, &table, &error),
            &error);
  assert_ok(gpumc_recorder_start(recorder, &error), &error);
  assert_ok(gpumc_result_read("x.h5.partial", &result, &error), &error);
  assert_int_equal(result.runs[0].n_columns, 2);
  assert_string_equal(result.runs[0].columns[0].units, "2.5/J");
  assert_string_equal(result.runs[0].columns[1].name, "energy2_error");
  assert_string_equal(result.runs[0].columns[1].units, "(J/2.5)^2");
  gpumc_result_free(&result);
  gpumc_recorder_free(recorder);
}

/* Each channel of a series has its own unit and name; the energy has the model's. */
static void test_series_of_channels(void **state)
{
  static const struct gpumc_channel energy = {
      .label = {"energy", "energy per site", GPUMC_UNIT_ENERGY, "E"}};
  static const struct gpumc_channel length = {
      .label = {"length", "mean length of a bond", "σ", "l"}};
  (void)state;
  struct gpumc_error error = {0};
  struct gpumc_recorder *recorder = create();
  struct gpumc_result result;
  struct gpumc_column columns[] = {
      {.label = {"sweep", "sweeps done", "sweeps", "t"}, .width = 1, .integer = true},
      {.label = energy.label, .width = 1},
      {.label = length.label, .width = 1},
  };
  size_t table;
  assert_ok(gpumc_curve_add_series(recorder, &model, "runs/0000", columns, 3, &table, &error),
            &error);
  assert_ok(gpumc_recorder_start(recorder, &error), &error);
  assert_ok(gpumc_result_read("x.h5.partial", &result, &error), &error);
  assert_int_equal(result.runs[0].n_columns, 3);
  assert_string_equal(result.runs[0].columns[0].units, "sweeps");
  assert_string_equal(result.runs[0].columns[1].units, "J/2.5");
  assert_string_equal(result.runs[0].columns[2].name, "length");
  assert_string_equal(result.runs[0].columns[2].units, "σ");
  assert_string_equal(result.runs[0].columns[2].long_name, "mean length of a bond");
  gpumc_result_free(&result);
  gpumc_recorder_free(recorder);
}

int main(void)
{
  gpumc_hdf5_prepare_program();
#define TEST(name) cmocka_unit_test_setup_teardown(name, work_directory_enter, work_directory_leave)
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_units),  cmocka_unit_test(test_no_symbol),
      TEST(test_one_axis),           TEST(test_no_axis),
      TEST(test_two_axes),           TEST(test_table),
      TEST(test_series_of_channels),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
