/* The expected number of trials in a sweep of hard disks, and the check afterwards: the trials that
 * a kernel expects are those that it counts, within 2 % (they scatter by a tenth of that, and the
 * estimate is off by at most 1 %), and within 4 % on the wider cells of constant pressure; a lost
 * disk is found. These must be rejected: one trial for each disk, as many as the trials of a cell
 * for each disk, and an intact state passed off as one with a lost disk. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/simulation/shared_keys.h"
#include "core/simulation/steps.h"
#include "models/lattice/replicas_cpu.h"
#include "support/disks_fixture.h"

static const double bound = 0.02;
/* At constant pressure, up to packing fractions of 0.7: in cells of 1.19^2 more of the pair
 * correlation matters than the contact, and its decay in the estimate is for narrower ones; also
 * there is room for three disks, which the estimate ignores. */
static const double wide_bound = 0.04;

struct system {
  size_t particles;
  double fraction, aspect;
  uint32_t moves;  /* 0: the default */
  double pressure; /* 0: at constant volume */
};

static void open_system(const struct system *system, const char *variant, struct disks *disks)
{
  struct test_setting setting = test_setting();
  setting.threads = test_device_is_cpu() ? 2 : setting.threads;
  disks_open(&(struct disks_job){.settings = {.particles = system->particles,
                                              .packing_fraction = system->fraction,
                                              .aspect = system->aspect},
                                 .variant = variant,
                                 .options = {system->moves, true, true, true},
                                 .beta_pressure = system->pressure,
                                 .seed = 20131205},
             setting, disks);
}

/* Finds the trials of a sweep, expected and counted. */
static void find_trials(const struct system *system, const char *variant, double found[2])
{
  enum { SWEEPS = 200 };
  struct disks disks;
  struct gpumc_error error = {0};
  open_system(system, variant, &disks);
  found[0] = gpumc_kernel_trials(disks.ensemble.ops, &disks.model, &disks.ensemble.plan);
  disks_sweep(&disks, SWEEPS);
  found[1] = (double)disks_counts(&disks, 0).proposed / SWEEPS;
  double all = -1.0;
  assert_int_equal(gpumc_steps_proposals(&disks.ensemble, &all, &error), GPUMC_OK);
  assert_true(all == found[1] * SWEEPS);
  assert_int_equal(
      gpumc_ensemble_set_options(&disks.ensemble, &disks.ensemble.plan.options, &error), GPUMC_OK);
  assert_int_equal(gpumc_steps_proposals(&disks.ensemble, &all, &error), GPUMC_OK);
  assert_true(all == 0.0);
  disks_close(&disks);
}

static void expected_trials_are_those_that_are_counted(void **state)
{
  (void)state;
  static const struct system systems[] = {{1000, 0.05, 1.0, 4, 0.0}, {1000, 0.4, 2.0, 4, 0.0},
                                          {1000, 0.5, 1.0, 1, 0.0},  {400, 0.65, 1.0, 16, 0.0},
                                          {1000, 0.7, 0.5, 4, 0.0},  {4096, 0.716, 1.0, 4, 0.0}};
  for (size_t i = 0; i < sizeof systems / sizeof *systems; i++) {
    double found[2];
    find_trials(&systems[i], "checkerboard", found);
    print_message("%4zu disks at %.3f: %.4f of the counted trials are expected\n",
                  systems[i].particles, systems[i].fraction, found[0] / found[1]);
    if (!(fabs(found[0] / found[1] - 1.0) < bound))
      fail_msg("system %zu: %.6g trials expected, %.6g counted", i, found[0], found[1]);
    const double disks = (double)systems[i].particles;
    if (systems[i].fraction > 0.6)
      assert_true(fabs(systems[i].moves * disks / found[1] - 1.0) > bound);
    if (systems[i].moves > 1)
      assert_true(fabs(disks / found[1] - 1.0) > bound);
  }
}

/* The cells of the grid for moves of the volume are wider, so their number differs: that of the
 * grid at constant volume must be rejected. */
static void those_at_constant_pressure_are_those_of_wider_cells(void **state)
{
  (void)state;
  static const struct system systems[] = {
      {1000, 0.4, 1.0, 4, 1.5}, {1000, 0.6, 0.5, 4, 4.5}, {1024, 0.7, 1.0, 8, 9.0}};
  for (size_t i = 0; i < sizeof systems / sizeof *systems; i++) {
    struct system fixed = systems[i];
    double found[2], at_constant_volume[2];
    find_trials(&systems[i], "checkerboard", found);
    fixed.pressure = 0.0;
    find_trials(&fixed, "checkerboard", at_constant_volume);
    print_message("%4zu disks at beta P = %.1f: %.4f of the counted trials are expected\n",
                  systems[i].particles, systems[i].pressure, found[0] / found[1]);
    if (!(fabs(found[0] / found[1] - 1.0) < wide_bound))
      fail_msg("system %zu: %.6g trials expected, %.6g counted", i, found[0], found[1]);
    if (systems[i].fraction > 0.5)
      assert_true(fabs(at_constant_volume[0] / found[1] - 1.0) > wide_bound);
  }
}

static void those_of_serial_are_exact(void **state)
{
  (void)state;
  double found[2];
  if (!test_device_is_cpu())
    skip();
  find_trials(&(struct system){.particles = 150, .fraction = 0.6, .aspect = 1.0}, "serial", found);
  assert_true(found[0] == 150.0 && found[1] == 150.0);
}

/* Units and plans use it: with twice the trials a sweep costs more, but not twice as much. */
static void a_sweep_costs_what_its_trials_cost(void **state)
{
  (void)state;
  struct disks disks;
  open_system(&(struct system){1000, 0.6, 1.0, 4, 0.0}, "checkerboard", &disks);
  struct gpumc_ensemble_plan plan = disks.ensemble.plan;
  const struct gpumc_kernel_ops *ops = disks.ensemble.ops;
  const double four = ops->cost(&disks.model, &plan, 3);
  const struct gpumc_tunable *moves = &ops->tunables[1];
  assert_string_equal(moves->key, "moves_per_cell");
  assert_true(moves->get(&plan.options) == 4.0);
  moves->set(&plan.options, 8.0);
  const double eight = ops->cost(&disks.model, &plan, 3);
  assert_true(eight > 1.2 * four && eight < 2.0 * four);
  assert_true(fabs(gpumc_kernel_trials(ops, &disks.model, &plan) /
                       gpumc_kernel_trials(ops, &disks.model, &disks.ensemble.plan) -
                   2.0) < 1e-12);
  disks_close(&disks);
}

static void a_move_of_the_volume_has_a_cost(void **state)
{
  (void)state;
  struct disks disks;
  open_system(&(struct system){1000, 0.6, 1.0, 4, 4.5}, "checkerboard", &disks);
  struct gpumc_ensemble_plan plan = disks.ensemble.plan;
  const struct gpumc_kernel_ops *ops = disks.ensemble.ops;
  const double each = ops->cost(&disks.model, &plan, 3);
  hard_disks_pack_volume(&(struct hard_disks_volume_options){2.0, 1000}, &plan.options);
  const double rare = ops->cost(&disks.model, &plan, 3);
  assert_true(each > 1.1 * rare && each < 1.25 * rare); /* as documented: 14 to 20 % */
  assert_true(gpumc_kernel_trials(ops, &disks.model, &plan) ==
              gpumc_kernel_trials(ops, &disks.model, &disks.ensemble.plan));
  disks_close(&disks);
}

/* Takes the first disk of a replica out of the CPU's memory, where the first coordinates follow the
 * offset of the grid. */
static void lose_one(struct disks *disks, size_t head_bytes)
{
  float *x = (float *)(void *)((unsigned char *)lattice_cpu_block(disks->ensemble.storage, 0, 0) +
                               head_bytes);
  struct gpumc_error error = {0};
  enum gpumc_status status = GPUMC_OK;
  for (size_t i = 0; status == GPUMC_OK; i++) /* columns that are copies do not count */
    if (x[i] >= 0.0f) {
      x[i] = HARD_DISKS_NOWHERE;
      status = gpumc_ensemble_inspect(&disks->ensemble, &error);
    }
  gpumc_error_free(&error);
}

/* For the CPU, whose memory can be written to. */
static void a_lost_disk_is_found(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  struct disks disks;
  if (!test_device_is_cpu())
    skip();
  open_system(&(struct system){300, 0.6, 1.0, 4, 0.0}, "checkerboard", &disks);
  disks_sweep(&disks, 3);
  assert_int_equal(gpumc_ensemble_inspect(&disks.ensemble, &error), GPUMC_OK);
  lose_one(&disks, 64);
  assert_int_equal(gpumc_ensemble_inspect(&disks.ensemble, &error), GPUMC_FAILURE);
  assert_non_null(strstr(gpumc_error_text(&error), "disks, but should have 300"));
  gpumc_error_free(&error);
  disks_close(&disks);
}

int main(void)
{
  test_device_require();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(expected_trials_are_those_that_are_counted),
      cmocka_unit_test(those_at_constant_pressure_are_those_of_wider_cells),
      cmocka_unit_test(those_of_serial_are_exact),
      cmocka_unit_test(a_move_of_the_volume_has_a_cost),
      cmocka_unit_test(a_sweep_costs_what_its_trials_cost),
      cmocka_unit_test(a_lost_disk_is_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
