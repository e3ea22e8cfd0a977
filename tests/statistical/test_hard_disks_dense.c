/* The kernels of hard disks sample the same dense fluid: 128 disks at a packing fraction of 0.66
 * and 256 at 0.69, `checkerboard` against `serial`, in pressures, orientational order and the
 * distribution of |Psi_6|.
 *
 * |Psi_6| of 256 disks has an autocorrelation time of 1300 sweeps of `serial` and 550 of
 * `checkerboard` (a pilot run with another seed). Samples are four of these apart, and more than
 * twenty pass to forget the starting lattice.
 *
 * Gates: a probability of 1e-5 in each of 22 comparisons, a false alarm in 4500 seeds; the seed is
 * fixed. Control: `checkerboard` at a packing fraction that is lower by 0.01.
 *
 * CTest: validate everywhere (exact_test_hard_disks) */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/disks_fluid.h"

static const double gate = 1e-5;

static const struct density {
  size_t particles;
  double fraction;
} densities[] = {{128, 0.66}, {256, 0.69}};

static struct disks_fluid sample(const struct density *density, const char *variant)
{
  struct test_setting setting = test_setting();
  struct disks_fluid fluid;
  const bool single = variant[0] == 's';
  const struct disks_fluid_job job = {.particles = density->particles,
                                      .packing_fraction = density->fraction,
                                      .move_size = 0.2,
                                      .variant = variant,
                                      .replicas = 64,
                                      .samples = 16,
                                      .warm_up = single ? 30000 : 12000,
                                      .interval = single ? 5200 : 2200,
                                      .seed = 20130808};
  setting.threads = test_device_is_cpu() ? 2 : setting.threads;
  disks_fluid_sample(&job, setting, &fluid);
  return fluid;
}

static void the_checkerboard_agrees_with_serial(void **state)
{
  (void)state;
  for (size_t d = 0; d < sizeof densities / sizeof *densities; d++) {
    const struct density lower = {densities[d].particles, densities[d].fraction - 0.01};
    struct disks_fluid serial = sample(&densities[d], "serial");
    struct disks_fluid checkerboard = sample(&densities[d], "checkerboard");
    struct disks_fluid wrong = sample(&lower, "checkerboard");
    const char *what;
    disks_fluid_expect_same(&serial, &checkerboard, gate);
    if (!(disks_fluid_probability(&serial, &wrong, &what) < gate))
      fail_msg("a packing fraction of %g passes as %g", lower.fraction, densities[d].fraction);
    free(serial.order);
    free(checkerboard.order);
    free(wrong.order);
  }
}

int main(void)
{
  test_device_require();
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_checkerboard_agrees_with_serial)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
