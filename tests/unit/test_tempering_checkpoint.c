/* Parallel tempering's state in a checkpoint: a restored run continues as if never interrupted, the
 * file holds what is documented, and the announced memory is what is taken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "algorithms/pt/pt_device.h"
#include "core/storage/hdf5_file.h"
#include "models/ising/ising.h"
#include "support/status.h"
#include "support/tempering_fixture.h"
#include "support/work_directory.h"

enum { T = 5, COPIES = 3, SAMPLES = 77, STRATA = 4, BINS = 21 };

static const double beta[T] = {0.2, 0.5, 0.9, 1.1, 1.6};
static const int64_t bounds[] = {24, 90};
static const struct pt_tempering_plan plan = {
    .temperatures = T,
    .copies = COPIES,
    .samples = SAMPLES,
    .strata = STRATA,
    .n_channels = 2,
    .n_terms = 3,
    .term = {{GPUMC_MEAN_CHANNEL, 0, GPUMC_SUM_FIRST, 0.1},
             {GPUMC_MEAN_CHANNEL, 1, GPUMC_SUM_FOURTH, 0.1},
             {GPUMC_MEAN_PAIR, ISING_PAIR_SPIN, GPUMC_SUM_SECOND, 0.1}},
    .histogram = {[ISING_PAIR_LINK] = {-10, 1, BINS}},
};

static void do_rounds(struct tempering_fixture *fixture, uint32_t first, uint32_t end)
{
  for (uint32_t round = first; round < end; round++) {
    tempering_measure(fixture, round);
    tempering_accumulate(fixture, true);
    tempering_exchange(fixture, round);
  }
}

static void save(struct tempering_fixture *fixture, const char *path)
{
  struct gpumc_error error = {0};
  struct gpumc_checkpoint_writer *writer = NULL;
  assert_ok(gpumc_checkpoint_begin(path, &writer, &error), &error);
  assert_ok(pt_tempering_save(&fixture->tempering, writer, "pt/tempering", &error), &error);
  assert_ok(gpumc_checkpoint_commit(writer, &error), &error);
}

static void load(struct tempering_fixture *fixture, const char *path)
{
  struct gpumc_error error = {0};
  struct gpumc_checkpoint_reader *reader = NULL;
  assert_ok(gpumc_checkpoint_open(path, &reader, &error), &error);
  assert_ok(pt_tempering_load(&fixture->tempering, reader, "pt/tempering", &error), &error);
  gpumc_checkpoint_close(reader);
}

static void resumed_rounds_are_the_same(void **state)
{
  struct tempering_fixture fixture;
  struct pt_outcome outcome;
  struct test_setting setting[TEST_SETTINGS_MAXIMUM];
  (void)state;
  const size_t settings = test_settings(1, 2, false, setting);
  tempering_open(&fixture, &plan, beta, bounds, setting[0]);
  do_rounds(&fixture, 0, 3);
  tempering_publish(&fixture, 0);
  tempering_reference_clear(&fixture.reference);
  do_rounds(&fixture, 3, 6);
  save(&fixture, "first.h5");
  tempering_reopen(&fixture, beta, setting[settings - 1]);
  load(&fixture, "first.h5");
  do_rounds(&fixture, 6, 9);
  tempering_expect_same_places(&fixture, "resumed");
  tempering_publish(&fixture, 0);
  tempering_collect(&fixture, 0, &outcome);
  tempering_expect_same_outcome(&outcome, &fixture.reference, "resumed");
  tempering_close(&fixture);
}

static void expect_same_array(struct gpumc_checkpoint_reader *reader, const char *name,
                              enum gpumc_element element, size_t rows, size_t width, size_t size,
                              const void *expected)
{
  struct gpumc_error error = {0};
  void *values = malloc(rows * width * size);
  assert_non_null(values);
  assert_ok(gpumc_checkpoint_get_rows(reader, name, element, 0, rows, width, values, &error),
            &error);
  if (memcmp(values, expected, rows * width * size) != 0)
    fail_msg("%s is not the reference's", name);
  free(values);
}

/* The same on every device, because the reference is. */
static void the_file_holds_the_numbers_of_the_reference(void **state)
{
  struct tempering_fixture fixture;
  struct gpumc_error error = {0};
  struct gpumc_checkpoint_reader *reader = NULL;
  (void)state;
  tempering_open(&fixture, &plan, beta, bounds, test_setting());
  const struct tempering_reference *found = &fixture.reference;
  do_rounds(&fixture, 0, 5);
  save(&fixture, "numbers.h5");
  const uint64_t calls[3] = {5, 3, 2};
  assert_ok(gpumc_checkpoint_open("numbers.h5", &reader, &error), &error);
  expect_same_array(reader, "pt/tempering/calls", GPUMC_UINT64, 3, 1, 8, calls);
  expect_same_array(reader, "pt/tempering/sums", GPUMC_FLOAT64, (size_t)3 * T, SAMPLES, 8,
                    found->sums);
  expect_same_array(reader, "pt/tempering/accepted", GPUMC_UINT64, T, 1, 8, found->accepted);
  expect_same_array(reader, "pt/tempering/labelled", GPUMC_UINT64, T, 1, 8, found->labelled);
  expect_same_array(reader, "pt/tempering/from_hottest", GPUMC_UINT64, T, 1, 8,
                    found->from_hottest);
  expect_same_array(reader, "pt/tempering/lowest", GPUMC_INT64, SAMPLES, 1, 8, found->lowest);
  expect_same_array(reader, "pt/tempering/round_trips", GPUMC_UINT32, COPIES, SAMPLES, 4,
                    found->round_trips);
  expect_same_array(reader, "pt/tempering/link_bins", GPUMC_UINT64, (size_t)STRATA * T, BINS, 8,
                    found->bins[ISING_PAIR_LINK]);
  gpumc_checkpoint_close(reader);
  tempering_close(&fixture);
}

static void a_checkpoint_of_other_sizes_is_refused(void **state)
{
  struct tempering_fixture fixture;
  struct gpumc_error error = {0};
  struct gpumc_checkpoint_reader *reader = NULL;
  struct pt_tempering_plan larger = plan;
  (void)state;
  larger.samples++;
  tempering_open(&fixture, &plan, beta, bounds, test_setting());
  save(&fixture, "small.h5");
  tempering_close(&fixture);
  tempering_open(&fixture, &larger, beta, bounds, test_setting());
  assert_ok(gpumc_checkpoint_open("small.h5", &reader, &error), &error);
  assert_int_equal(pt_tempering_load(&fixture.tempering, reader, "pt/tempering", &error),
                   GPUMC_FAILURE);
  assert_non_null(strstr(gpumc_error_text(&error), "pt/tempering/walker"));
  gpumc_error_free(&error);
  gpumc_checkpoint_close(reader);
  tempering_close(&fixture);
}

/* Device memory requested from the wrapped operation. */
static struct {
  const struct gpumc_device_ops *real;
  size_t bytes;
} counted;

static enum gpumc_status allocate(struct gpumc_device *device, size_t count, size_t size,
                                  const char *what, void **memory, struct gpumc_error *error)
{
  counted.bytes += count * size;
  return counted.real->allocate(device, count, size, what, memory, error);
}

/* Returns the device memory of all slots, which are on one side or the other. */
static size_t slots_on_device(const struct gpumc_device *device)
{
  return gpumc_slots_device_bytes(device, pt_layout_make(&plan).bytes);
}

static void memory_is_what_is_announced(void **state)
{
  struct pt_tempering tempering;
  struct gpumc_error error = {0};
  struct gpumc_device device = test_device(test_setting());
  (void)state;
  counted.real = device.ops;
  counted.bytes = 0;
  struct gpumc_device_ops ops = *device.ops;
  ops.allocate = allocate;
  device.ops = &ops;
  assert_ok(pt_tempering_create(&device, &plan, &tempering, &error), &error);
  /* `allocate` does not take the slots. */
  const size_t record = sizeof(double) * 3 * T * SAMPLES;
  assert_int_equal(counted.bytes + slots_on_device(&device), pt_tempering_bytes(&device, &plan));
  assert_true(slots_on_device(&device) + pt_tempering_host_bytes(&device, &plan) >=
              GPUMC_SLOTS * record);
  pt_tempering_free(&tempering);
}

int main(void)
{
  gpumc_hdf5_prepare_program();
  test_device_require();
#define TEST(name) cmocka_unit_test_setup_teardown(name, work_directory_enter, work_directory_leave)
  const struct CMUnitTest tests[] = {
      TEST(resumed_rounds_are_the_same),
      TEST(the_file_holds_the_numbers_of_the_reference),
      TEST(a_checkpoint_of_other_sizes_is_refused),
      TEST(memory_is_what_is_announced),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
