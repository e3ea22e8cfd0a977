/* A single process, slices, and what the environment says about a launcher. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/processes/host.h"
#include "core/processes/launcher.h"

static void one_process_has_operations_that_change_nothing(void **unused)
{
  (void)unused;
  const struct gpumc_processes *alone = gpumc_processes_alone();
  struct gpumc_error error = {0};
  uint64_t values[] = {3, UINT64_MAX};
  char in[4] = "", all[4] = "";
  const size_t four = 4;
  gpumc_processes_sum(alone, values, 2);
  gpumc_processes_largest(alone, values, 2);
  gpumc_processes_broadcast(alone, values, sizeof values, 0);
  gpumc_processes_barrier(alone);
  assert_int_equal(values[0], 3);
  assert_true(values[1] == UINT64_MAX);
  gpumc_processes_gather(alone, "abc", all, &four, 0);
  gpumc_processes_trade(alone, "def", &four, in, &four);
  assert_string_equal(all, "abc");
  assert_string_equal(in, "def");
  assert_true(gpumc_is_root(alone));
  assert_int_equal(alone->module.size, 1);
  double seconds[GPUMC_STAGES_MAXIMUM];
  gpumc_processes_enter(NULL, 1);
  gpumc_processes_enter(alone, 1);
  gpumc_processes_restart(alone);
  assert_true(gpumc_processes_seconds(alone, seconds) == 0);
  for (size_t stage = 0; stage < GPUMC_STAGES_MAXIMUM; stage++)
    assert_true(seconds[stage] == 0);
  assert_int_equal(gpumc_processes_same(alone, "text", "text", &error), GPUMC_OK);
  assert_int_equal(gpumc_processes_agree(alone, GPUMC_OK, &error), GPUMC_OK);
}

static void one_process_keeps_its_error(void **unused)
{
  (void)unused;
  struct gpumc_error error = {0};
  (void)gpumc_error_set(&error, GPUMC_DEVICE, "gone");
  assert_int_equal(gpumc_processes_agree(gpumc_processes_alone(), GPUMC_DEVICE, &error),
                   GPUMC_DEVICE);
  gpumc_processes_abandon(gpumc_processes_alone(), &error);
  assert_string_equal(gpumc_error_text(&error), "gone");
  gpumc_error_free(&error);
  gpumc_processes_close(NULL);
}

static void slices_are_even_and_begin_at_granules(void **unused)
{
  (void)unused;
  for (size_t granule = 1; granule <= 4; granule++)
    for (size_t n = 0; n <= 60; n++)
      for (size_t parts = 1; parts <= 9; parts++) {
        size_t end = 0, least = SIZE_MAX, most = 0;
        for (size_t i = 0; i < parts; i++) {
          const struct gpumc_slice slice = gpumc_slice(n, granule, parts, i);
          const size_t units = (slice.count + granule - 1) / granule;
          assert_int_equal(slice.first, end);
          assert_true(slice.first % granule == 0 || slice.first == n);
          end = slice.first + slice.count;
          least = units < least ? units : least;
          most = units > most ? units : most;
        }
        assert_int_equal(end, n);
        assert_true(most - least <= 1);
      }
}

static void slices_of_very_many_do_not_overflow(void **unused)
{
  (void)unused;
  const size_t n = SIZE_MAX / 2;
  size_t end = 0;
  for (size_t i = 0; i < 1000; i++) {
    const struct gpumc_slice slice = gpumc_slice(n, 1, 1000, i);
    assert_true(slice.first == end);
    end = slice.first + slice.count;
  }
  assert_true(end == n);
}

/* Returns processors first .. first + count - 1. */
static struct gpumc_processor_set set_of(size_t first, size_t count)
{
  struct gpumc_processor_set set = {0};
  for (size_t p = first; p < first + count; p++)
    set.word[p / 64] |= UINT64_C(1) << p % 64;
  return set;
}

static void assert_shares(const struct gpumc_processor_set *sets, size_t count, const int *expected)
{
  for (size_t i = 0; i < count; i++)
    assert_int_equal(gpumc_processors_share(sets, count, i, 40), expected[i]);
}

static void processes_divide_processors_that_they_share(void **unused)
{
  (void)unused;
  const struct gpumc_processor_set all = set_of(0, 8), none = {0}, single = set_of(1023, 1);
  /* Unbound. */
  assert_shares((const struct gpumc_processor_set[]){all}, 1, (const int[]){8});
  assert_shares((const struct gpumc_processor_set[]){all, all}, 2, (const int[]){4, 4});
  assert_shares((const struct gpumc_processor_set[]){all, all, all}, 3, (const int[]){3, 3, 2});
  /* More processes than processors. */
  assert_shares((const struct gpumc_processor_set[]){single, single, single}, 3,
                (const int[]){1, 1, 1});
  /* Bound: each to some of its own, two to each of two sockets, and one to half of another's. */
  assert_shares((const struct gpumc_processor_set[]){set_of(0, 3), set_of(60, 8)}, 2,
                (const int[]){3, 8});
  assert_shares((const struct gpumc_processor_set[]){set_of(0, 4), set_of(0, 4), set_of(100, 7),
                                                     set_of(100, 7)},
                4, (const int[]){2, 2, 4, 3});
  assert_shares((const struct gpumc_processor_set[]){all, set_of(4, 4)}, 2, (const int[]){4, 4});
  /* Unknown. */
  assert_shares((const struct gpumc_processor_set[]){all, none, all}, 3, (const int[]){14, 13, 13});
}

static void no_processor_is_taken_twice(void **unused)
{
  (void)unused;
  for (size_t count = 1; count <= 9; count++)
    for (size_t width = count; width <= 40; width++) {
      struct gpumc_processor_set sets[9];
      int sum = 0;
      for (size_t i = 0; i < count; i++)
        sets[i] = set_of(0, width);
      for (size_t i = 0; i < count; i++) {
        const int share = gpumc_processors_share(sets, count, i, 1);
        assert_int_equal(share, gpumc_processors_part((int)width, count, i));
        sum += share;
      }
      assert_int_equal(sum, width);
    }
}

static void planned_processes_are_the_first(void **unused)
{
  (void)unused;
  const struct gpumc_processes planned = gpumc_processes_planned(8, 1);
  assert_true(gpumc_is_root(&planned));
  assert_int_equal(planned.module.size, 8);
  assert_int_equal(planned.module.local_size, 1);
  assert_true(planned.processors >= 1);
  assert_int_equal(gpumc_processes_planned(4096, 4096).processors, 1);
  assert_int_equal(gpumc_processes_alone()->processors, 0);
}

static const char *const variables[] = {
    "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "PMI_SIZE",         "PMI_RANK", "PMIX_RANK",
    "SLURM_STEP_NUM_TASKS", "SLURM_PROCID",         "GPUMC_MPI_MODULES"};

static int forget_launchers(void **unused)
{
  (void)unused;
  for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
    unsetenv(variables[i]);
  return 0;
}

static void assert_launcher(const char *name, int rank, int size)
{
  struct gpumc_launcher launcher;
  gpumc_launcher_find(&launcher);
  if (name == NULL)
    assert_null(launcher.name);
  else
    assert_string_equal(launcher.name, name);
  assert_int_equal(launcher.rank, rank);
  assert_int_equal(launcher.size, size);
  forget_launchers(NULL);
}

static void launchers_are_known_by_what_they_set(void **unused)
{
  (void)unused;
  assert_launcher(NULL, 0, 1);
  setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
  setenv("OMPI_COMM_WORLD_RANK", "3", 1);
  assert_launcher("Open MPI", 3, 4);
  setenv("PMI_SIZE", "2", 1);
  setenv("PMI_RANK", "0", 1);
  assert_launcher("MPICH", 0, 2);
  setenv("SLURM_STEP_NUM_TASKS", "5", 1);
  setenv("PMIX_RANK", "4", 1);
  setenv("SLURM_PROCID", "4", 1);
  assert_launcher("Slurm", 4, 5);
}

static void a_launcher_without_mpi_reaches_nobody(void **unused)
{
  (void)unused;
  struct gpumc_launcher launcher;
  setenv("SLURM_STEP_NUM_TASKS", "5", 1);
  setenv("SLURM_PROCID", "4", 1);
  gpumc_launcher_find(&launcher);
  assert_false(launcher.reaches);
  setenv("PMIX_RANK", "4", 1);
  gpumc_launcher_find(&launcher);
  assert_true(launcher.reaches);
}

static void ranks_on_a_host_are_what_the_launcher_says(void **unused)
{
  (void)unused;
  struct gpumc_launcher launcher;
  setenv("PMI_SIZE", "8", 1);
  setenv("PMI_RANK", "5", 1);
  gpumc_launcher_find(&launcher);
  assert_int_equal(launcher.local_rank, 5);
  setenv("MPI_LOCALRANKID", "1", 1);
  gpumc_launcher_find(&launcher);
  assert_int_equal(launcher.local_rank, 1);
}

static void a_launcher_needs_sensible_numbers(void **unused)
{
  (void)unused;
  static const char *const bad[][2] = {{"", "0"},  {"four", "0"}, {"4", "4"}, {"4", "-1"},
                                       {"0", "0"}, {"4x", "0"},   {"4", ""},  {"99999999999", "0"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    setenv("OMPI_COMM_WORLD_SIZE", bad[i][0], 1);
    setenv("OMPI_COMM_WORLD_RANK", bad[i][1], 1);
    assert_launcher(NULL, 0, 1);
  }
  setenv("PMI_SIZE", "4", 1);
  assert_launcher(NULL, 0, 1);
}

static void assert_refused(const char *words)
{
  struct gpumc_launcher launcher;
  struct gpumc_processes *processes = NULL;
  struct gpumc_error error = {0};
  setenv("GPUMC_MPI_MODULES", "/nowhere", 1);
  gpumc_launcher_find(&launcher);
  assert_int_equal(gpumc_launcher_join(&launcher, &processes, &error), GPUMC_INVALID);
  assert_null(processes);
  assert_non_null(strstr(gpumc_error_text(&error), words));
  assert_null(strchr(gpumc_error_text(&error), '\n'));
  gpumc_error_free(&error);
  forget_launchers(NULL);
}

static void processes_without_a_module_are_refused(void **unused)
{
  (void)unused;
  setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
  setenv("OMPI_COMM_WORLD_RANK", "3", 1);
  assert_refused("started as 4 processes by Open MPI, but this gpumc has modules for neither Open "
                 "MPI nor MPICH");
  setenv("SLURM_STEP_NUM_TASKS", "5", 1);
  setenv("SLURM_PROCID", "4", 1);
  assert_refused("srun started 5 processes that no MPI can connect");
}

static void one_process_opens_nothing(void **unused)
{
  (void)unused;
  struct gpumc_launcher launcher;
  struct gpumc_processes *processes = NULL;
  struct gpumc_error error = {0};
  setenv("GPUMC_MPI_MODULES", "/nowhere", 1);
  setenv("OMPI_COMM_WORLD_SIZE", "1", 1);
  setenv("OMPI_COMM_WORLD_RANK", "0", 1);
  gpumc_launcher_find(&launcher);
  assert_int_equal(gpumc_launcher_join(&launcher, &processes, &error), GPUMC_OK);
  assert_null(processes);
}

static void what_is_no_module_is_not_opened(void **unused)
{
  (void)unused;
  struct gpumc_processes *processes = NULL;
  struct gpumc_error error = {0};
  const struct gpumc_module_file none = {.name = "Open MPI", .path = "/nowhere/gpumc_openmpi.so"};
  enum gpumc_module_cuda cuda = GPUMC_MODULE_CUDA_YES;
  char message[256];
  assert_int_equal(gpumc_processes_open("/nowhere/gpumc_openmpi.so", 0, &processes, &error),
                   GPUMC_FAILURE);
  assert_non_null(strstr(gpumc_error_text(&error), "cannot load MPI: /nowhere/gpumc_openmpi.so"));
  assert_int_equal(gpumc_processes_open("libm.so.6", 0, &processes, &error), GPUMC_FAILURE);
  assert_non_null(strstr(gpumc_error_text(&error), "libm.so.6: cannot open the module of gpumc"));
  const char *build = getenv("GPUMC_BUILD");
  char empty[4096];
  snprintf(empty, sizeof empty, "%s/tests/libgpumc_empty_module.so",
           build != NULL ? build : "build/release");
  assert_int_equal(gpumc_processes_open(empty, 0, &processes, &error), GPUMC_FAILURE);
  assert_non_null(
      strstr(gpumc_error_text(&error), "module.so belongs to another version of gpumc"));
  assert_null(processes);
  assert_false(gpumc_module_try(&none, &cuda, message, sizeof message));
  assert_non_null(strstr(message, "/nowhere/gpumc_openmpi.so"));
  assert_int_equal(cuda, GPUMC_MODULE_CUDA_UNKNOWN);
  gpumc_error_free(&error);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_process_has_operations_that_change_nothing),
      cmocka_unit_test(one_process_keeps_its_error),
      cmocka_unit_test(slices_are_even_and_begin_at_granules),
      cmocka_unit_test(slices_of_very_many_do_not_overflow),
      cmocka_unit_test(processes_divide_processors_that_they_share),
      cmocka_unit_test(no_processor_is_taken_twice),
      cmocka_unit_test(planned_processes_are_the_first),
      cmocka_unit_test_setup_teardown(launchers_are_known_by_what_they_set, forget_launchers,
                                      forget_launchers),
      cmocka_unit_test_setup_teardown(a_launcher_without_mpi_reaches_nobody, forget_launchers,
                                      forget_launchers),
      cmocka_unit_test_setup_teardown(ranks_on_a_host_are_what_the_launcher_says, forget_launchers,
                                      forget_launchers),
      cmocka_unit_test_setup_teardown(a_launcher_needs_sensible_numbers, forget_launchers,
                                      forget_launchers),
      cmocka_unit_test_setup_teardown(processes_without_a_module_are_refused, forget_launchers,
                                      forget_launchers),
      cmocka_unit_test_setup_teardown(one_process_opens_nothing, forget_launchers,
                                      forget_launchers),
      cmocka_unit_test(what_is_no_module_is_not_opened),
  };
  return cmocka_run_group_tests_name("processes", tests, NULL, NULL);
}
