/* The pressure of hard disks at low density, from pairs in contact and from the shrinking box,
 * against the virial series with B_2 to B_10 in units of B_2^(k-1) (N. Clisby and B. M. McCoy, J.
 * Stat. Phys. 122, 15 (2006)).
 *
 * Gates: |z| < 4.5 in each of 6 comparisons, by the scatter of 64 independent replicas, a false
 * alarm in 5000 seeds; errors below 0.5 % of the pressure. The seed is fixed; a packing fraction
 * that is off by 2 % is rejected at the highest density. Disks are inserted one after the other at
 * random places where there is room, almost as in equilibrium: the longest waves of the density,
 * which a lattice lacks, take L^2 / (4 pi^2 D), some 10000 sweeps at 0.05, to develop. With 2000
 * disks the finite size changes the pressure by less than 2e-4 of it.
 *
 * CTest: validate everywhere (exact_test_hard_disks) */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/disks_fixture.h"

enum { REPLICAS = 64, SAMPLES = 120 };

static const double gate = 4.5;

/* P* of the series. */
static double series(double fraction)
{
  static const double coefficient[] = {1.0,       1.0,       0.7820044, 0.5322318, 0.3335560,
                                       0.1988425, 0.1148728, 0.0649930, 0.0362193, 0.0199537};
  double sum = 0.0;
  for (size_t k = sizeof coefficient / sizeof *coefficient; k-- > 0;)
    sum = sum * 2.0 * fraction + coefficient[k]; /* B_2 rho = 2 phi */
  return sum * fraction * 4.0 / M_PI;
}

struct estimate {
  double value, error;
};

static void estimate_of(const double *of_replica, struct estimate *estimate)
{
  double sum = 0.0, square = 0.0;
  for (size_t r = 0; r < REPLICAS; r++)
    sum += of_replica[r] / REPLICAS;
  for (size_t r = 0; r < REPLICAS; r++)
    square += (of_replica[r] - sum) * (of_replica[r] - sum);
  *estimate = (struct estimate){sum, sqrt(square / REPLICAS / (REPLICAS - 1))};
}

/* From contacts and from scaling. */
static void find_pressures(double fraction, struct estimate pressure[2])
{
  struct disks disks;
  double of_replica[2][REPLICAS] = {{0}};
  struct test_setting setting = test_setting();
  setting.threads = test_device_is_cpu() ? 2 : setting.threads;
  disks_open(&(struct disks_job){.settings = {.particles = 2000,
                                              .packing_fraction = fraction,
                                              .aspect = 1.0,
                                              .start = HARD_DISKS_COMPRESSED},
                                 .variant = "checkerboard",
                                 .move_size = 0.45,
                                 .replicas = REPLICAS,
                                 .seed = 20130806},
             setting, &disks);
  const double density = hard_disks_parameters(&disks.model)->density;
  disks_sweep(&disks, 150);
  for (int s = 0; s < SAMPLES; s++) {
    disks_sweep(&disks, 5);
    disks_measure_pressure(&disks);
    for (size_t r = 0; r < REPLICAS; r++) {
      of_replica[0][r] +=
          density * (1.0 + M_PI * disks_value(&disks, HARD_DISKS_CONTACT, r)) / SAMPLES;
      of_replica[1][r] +=
          density * (1.0 + 0.25 * disks_value(&disks, HARD_DISKS_SCALING, r)) / SAMPLES;
    }
  }
  for (size_t k = 0; k < 2; k++)
    estimate_of(of_replica[k], &pressure[k]);
  disks_close(&disks);
}

static void pressures_are_those_of_the_virial_series(void **state)
{
  (void)state;
  static const double fractions[] = {0.05, 0.1, 0.2};
  struct estimate pressure[2];
  for (size_t f = 0; f < 3; f++) {
    find_pressures(fractions[f], pressure);
    for (size_t k = 0; k < 2; k++) {
      const double exact = series(fractions[f]),
                   z = (pressure[k].value - exact) / pressure[k].error;
      print_message("phi = %g, %s: %.6f +- %.6f, exact %.6f\n", fractions[f],
                    k == 0 ? "contact" : "scaling", pressure[k].value, pressure[k].error, exact);
      if (!(fabs(z) < gate && pressure[k].error < 5e-3 * exact))
        fail_msg("phi = %g, %s: %.6f +- %.6f, should be %.6f", fractions[f],
                 k == 0 ? "contact" : "scaling", pressure[k].value, pressure[k].error, exact);
    }
  }
  /* The last ones compared again, with a fluid that is denser by 2 %. */
  for (size_t k = 0; k < 2; k++)
    assert_true(fabs(pressure[k].value - series(1.02 * fractions[2])) > gate * pressure[k].error);
}

int main(void)
{
  test_device_require();
  const struct CMUnitTest tests[] = {cmocka_unit_test(pressures_are_those_of_the_virial_series)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
