/* The run itself, with a model and an algorithm that only count: starting, stopping, failing,
 * resuming from a checkpoint, and refusing what does not fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/storage/side_files.h"
#include "support/counting_run.h"
#include "support/work_directory.h"

/* With 64 replicas and five units. */
static void stop_after_two_units(void)
{
  struct gpumc_error error = {0};
  struct heard heard = {.stop_after = 2};
  assert_int_equal(attempt(&(struct attempt){64, 5, -1, 0, false}, &heard, &error), GPUMC_STOPPED);
  gpumc_error_free(&error);
}

static void runs_to_the_end(void **state)
{
  struct gpumc_error error = {0};
  struct heard heard = {0};
  (void)state;
  assert_int_equal(attempt(&(struct attempt){64, 5, -1, 0, false}, &heard, &error), GPUMC_OK);
  assert_int_equal(heard.units, 5);
  assert_non_null(strstr(heard.notes, "run.h5: complete after"));
  assert_true(gpumc_file_exists("run.h5"));
  assert_false(gpumc_file_exists("run.h5.ckpt"));
  assert_false(gpumc_file_exists("run.h5.log"));
  assert_false(gpumc_file_exists("run.h5.partial"));
  assert_false(gpumc_file_exists("run.h5.status"));
  assert_false(gpumc_file_exists("run.h5.lock"));
}

/* More replicas than are copied at once, and sizes next to multiples of the slice. */
static void goes_on_from_every_stop(void **state)
{
  static const int64_t populations[] = {1, 1023, 1024, 1025, 3000};
  (void)state;
  for (size_t p = 0; p < sizeof populations / sizeof *populations; p++) {
    enum gpumc_status status = GPUMC_STOPPED;
    int invocations = 0;
    while (status == GPUMC_STOPPED) {
      struct gpumc_error error = {0};
      struct heard heard = {.stop_after = 2};
      status = attempt(&(struct attempt){populations[p], 9, -1, 0, false}, &heard, &error);
      gpumc_error_free(&error);
      invocations++;
    }
    assert_int_equal(status, GPUMC_OK);
    assert_int_equal(invocations, 5);
    assert_int_equal(remove("run.h5"), 0);
  }
}

static void stops_before_the_first_unit(void **state)
{
  struct gpumc_error error = {0};
  struct heard heard = {.stop = 1};
  (void)state;
  assert_int_equal(attempt(&(struct attempt){64, 5, -1, 0, false}, &heard, &error), GPUMC_STOPPED);
  assert_int_equal(heard.units, 0);
  gpumc_error_free(&error);
  heard = (struct heard){0};
  assert_int_equal(attempt(&(struct attempt){64, 5, -1, 0, false}, &heard, &error), GPUMC_OK);
  assert_int_equal(heard.units, 5);
}

static void time_limit_leaves_one_unit_at_least(void **state)
{
  struct gpumc_error error = {0};
  struct heard heard = {0};
  (void)state;
  assert_int_equal(attempt(&(struct attempt){64, 5, -1, 1e-9, false}, &heard, &error),
                   GPUMC_STOPPED);
  assert_int_equal(heard.units, 1);
  gpumc_error_free(&error);
}

static void failure_is_told_and_the_checkpoint_stays(void **state)
{
  struct gpumc_error error = {0};
  struct heard heard = {0};
  struct gpumc_task_report report;
  (void)state;
  assert_int_equal(attempt(&(struct attempt){64, 5, 3, 0, false}, &heard, &error), GPUMC_FAILURE);
  assert_string_equal(gpumc_error_text(&error), "unit 3 fails");
  gpumc_error_free(&error);
  inspect(&(struct attempt){64, 5, 3, 0, false}, &report);
  assert_int_equal(report.state, GPUMC_TASK_RESUMABLE);
  assert_string_equal(report.message, "the last run failed: unit 3 fails");
  /* The checkpoint after unit 2 exists: two units are left. `fail_at` does not affect any
   * number. */
  heard = (struct heard){0};
  assert_int_equal(attempt(&(struct attempt){64, 5, -1, 0, false}, &heard, &error), GPUMC_OK);
  assert_int_equal(heard.units, 2);
  assert_non_null(strstr(heard.notes, "resuming at 60 %"));
}

static void failure_of_the_summary_leaves_all_units_done(void **state)
{
  struct gpumc_error error = {0};
  struct heard heard = {0};
  (void)state;
  assert_int_equal(attempt(&(struct attempt){64, 5, 5, 0, false}, &heard, &error), GPUMC_FAILURE);
  assert_string_equal(gpumc_error_text(&error), "the summary fails");
  gpumc_error_free(&error);
  /* Neither a stop nor the time limit prevents a run with no unit left from finishing. */
  heard = (struct heard){.stop = 1};
  assert_int_equal(attempt(&(struct attempt){64, 5, -1, 1e-9, false}, &heard, &error), GPUMC_OK);
  assert_int_equal(heard.units, 0);
  assert_non_null(strstr(heard.notes, "resuming at 100 %"));
  assert_true(gpumc_file_exists("run.h5"));
  assert_false(gpumc_file_exists("run.h5.ckpt"));
}

/* Without its log a checkpoint is useless, and stays; a fresh start needs neither. */
static void lost_log_is_told(void **state)
{
  struct gpumc_error error = {0};
  struct heard heard = {0};
  (void)state;
  stop_after_two_units();
  assert_true(gpumc_file_exists("run.h5.log"));
  assert_int_equal(rename("run.h5.log", "elsewhere"), 0);
  assert_int_equal(attempt(&(struct attempt){64, 5, -1, 0, false}, &heard, &error), GPUMC_FAILURE);
  assert_string_equal(
      gpumc_error_text(&error),
      "checkpoint run.h5.ckpt: run.h5.log: cannot open it: No such file or "
      "directory\nnothing was deleted: put a good copy in its place, choose another "
      "output, or start over with --fresh");
  gpumc_error_free(&error);
  assert_true(gpumc_file_exists("run.h5.ckpt"));
  assert_int_equal(rename("elsewhere", "run.h5.log"), 0);
  assert_int_equal(attempt(&(struct attempt){64, 5, -1, 0, true}, &heard, &error), GPUMC_OK);
  assert_int_equal(heard.units, 5);
  assert_false(gpumc_file_exists("run.h5.log"));
}

/* For example, if the program's messages were redirected there. */
static void file_in_the_place_of_the_log_is_left_alone(void **state)
{
  struct gpumc_error error = {0};
  struct heard heard = {0};
  (void)state;
  write_file("run.h5.log", "my notes", 8);
  for (int fresh = 0; fresh < 2; fresh++) {
    assert_int_equal(attempt(&(struct attempt){64, 5, -1, 0, fresh}, &heard, &error),
                     GPUMC_FAILURE);
    assert_non_null(strstr(gpumc_error_text(&error), "run.h5.log: not a log of gpumc"));
    gpumc_error_free(&error);
    size_t size;
    unsigned char *bytes = file_bytes("run.h5.log", &size);
    assert_int_equal(size, 8);
    assert_memory_equal(bytes, "my notes", 8);
    free(bytes);
  }
}

static void refuses_another_configuration(void **state)
{
  struct gpumc_error error = {0};
  struct heard heard = {0};
  (void)state;
  stop_after_two_units();
  assert_int_equal(attempt(&(struct attempt){64, 6, -1, 0, false}, &heard, &error), GPUMC_INVALID);
  assert_non_null(strstr(gpumc_error_text(&error), "algorithm.units: 5 -> 6"));
  gpumc_error_free(&error);
}

static void refuses_another_trajectory(void **state)
{
  struct gpumc_error error = {0};
  struct heard heard = {0};
  (void)state;
  stop_after_two_units();
  counting_kernel.trajectory = "count.2";
  enum gpumc_status status = attempt(&(struct attempt){64, 5, -1, 0, false}, &heard, &error);
  counting_kernel.trajectory = "count.1";
  assert_int_equal(status, GPUMC_INVALID);
  assert_non_null(strstr(gpumc_error_text(&error), "the checkpoint was made with trajectory "
                                                   "count.1, but this program has count.2: "));
  gpumc_error_free(&error);
  assert_int_equal(attempt(&(struct attempt){64, 5, -1, 0, false}, &heard, &error), GPUMC_OK);
  assert_int_equal(heard.units, 3);
}

static void refuses_what_does_not_fit(void **state)
{
  struct gpumc_error error = {0};
  struct heard heard = {0};
  long long largest;
  (void)state;
  const int64_t population = (int64_t)1 << 50;
  assert_int_equal(attempt(&(struct attempt){population, 1, -1, 0, false}, &heard, &error),
                   GPUMC_FAILURE);
  const char *text = strstr(gpumc_error_text(&error), "algorithm.population that fits is ");
  assert_non_null(text);
  assert_int_equal(sscanf(text, "algorithm.population that fits is %lld", &largest), 1);
  assert_int_equal(largest % 64, 0);
  assert_true(largest > 0 && largest < population);
  assert_false(gpumc_file_exists("run.h5.partial"));
  gpumc_error_free(&error);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(runs_to_the_end, work_directory_enter, work_directory_leave),
      cmocka_unit_test_setup_teardown(goes_on_from_every_stop, work_directory_enter,
                                      work_directory_leave),
      cmocka_unit_test_setup_teardown(stops_before_the_first_unit, work_directory_enter,
                                      work_directory_leave),
      cmocka_unit_test_setup_teardown(time_limit_leaves_one_unit_at_least, work_directory_enter,
                                      work_directory_leave),
      cmocka_unit_test_setup_teardown(failure_is_told_and_the_checkpoint_stays,
                                      work_directory_enter, work_directory_leave),
      cmocka_unit_test_setup_teardown(failure_of_the_summary_leaves_all_units_done,
                                      work_directory_enter, work_directory_leave),
      cmocka_unit_test_setup_teardown(lost_log_is_told, work_directory_enter, work_directory_leave),
      cmocka_unit_test_setup_teardown(file_in_the_place_of_the_log_is_left_alone,
                                      work_directory_enter, work_directory_leave),
      cmocka_unit_test_setup_teardown(refuses_another_configuration, work_directory_enter,
                                      work_directory_leave),
      cmocka_unit_test_setup_teardown(refuses_another_trajectory, work_directory_enter,
                                      work_directory_leave),
      cmocka_unit_test_setup_teardown(refuses_what_does_not_fit, work_directory_enter,
                                      work_directory_leave),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
