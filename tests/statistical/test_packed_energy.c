/* The packed kernel samples from equilibrium on the 64 x 64 lattice: mean energy and specific heat
 * at three temperatures against B. Kaufman's exact ones, Metropolis and heat bath, J of both signs.
 *
 * Gates: |z| < 5 in each of 24 comparisons, a false alarm in 7e4 seeds. The seed is fixed; a
 * temperature 1 % off is rejected. The replicas are independent; they begin at beta = 0, and the
 * sweeps are 30 autocorrelation times or more.
 *
 * CTest: release (exact_test_ising_bits) */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/ising_fixture.h"
#include "support/kaufman.h"

enum { LENGTH = 64, SITES = LENGTH * LENGTH, REPLICAS = 2048 };

struct condition {
  double beta;
  uint32_t sweeps;
};

static const struct condition conditions[] = {{0.15, 60}, {0.3, 200}, {0.37, 900}};
static const double gate = 5.0;

/* For energies per site: the mean and its error, and beta^2 N times the variance and its error. */
struct estimate {
  double energy, energy_error, specific_heat, specific_heat_error;
};

static struct estimate estimate_of(const int64_t *energy, double beta)
{
  double sum = 0, square = 0, fourth = 0;
  struct estimate estimate;
  for (size_t r = 0; r < REPLICAS; r++)
    sum += (double)energy[r] / SITES;
  estimate.energy = sum / REPLICAS;
  for (size_t r = 0; r < REPLICAS; r++) {
    const double difference = (double)energy[r] / SITES - estimate.energy;
    square += difference * difference;
    fourth += difference * difference * difference * difference;
  }
  const double variance = square / (REPLICAS - 1), scale = beta * beta * SITES;
  estimate.energy_error = sqrt(variance / REPLICAS);
  estimate.specific_heat = scale * variance;
  estimate.specific_heat_error = scale * sqrt((fourth / REPLICAS - variance * variance) / REPLICAS);
  return estimate;
}

static struct estimate
sample(double coupling, enum ising_move update, const struct condition *condition)
{
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = fixture_kernels(kernel);
  size_t k = 0;
  while (k + 1 < kernels && fixture_trajectory(kernel[k]) != REFERENCE_PACKED)
    k++;
  struct ising_case with = fixture_square(kernel[k], LENGTH, LENGTH, REPLICAS);
  struct ising_fixture fixture;
  int64_t *energy = calloc(REPLICAS, sizeof *energy);
  assert_int_equal(fixture_trajectory(kernel[k]), REFERENCE_PACKED);
  assert_non_null(energy);
  with.settings.coupling = coupling;
  with.update = update;
  with.seed = 20;
  fixture_open(&fixture, &with);
  fixture_randomize(&fixture, &with, REPLICAS);
  fixture_sweep_and_measure(&fixture, condition->sweeps, condition->beta, energy, NULL);
  const struct estimate estimate = estimate_of(energy, condition->beta);
  fixture_close(&fixture);
  free(energy);
  return estimate;
}

static void expect_exact(double coupling, enum ising_move update)
{
  for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
    const double beta = conditions[i].beta;
    const struct estimate found = sample(coupling, update, &conditions[i]);
    const struct exact_thermodynamics exact = kaufman_ising2d(LENGTH, LENGTH, coupling, beta);
    const struct exact_thermodynamics off = kaufman_ising2d(LENGTH, LENGTH, coupling, 1.01 * beta);
    const double of_energy = (found.energy - (double)exact.energy) / found.energy_error;
    const double of_heat =
        (found.specific_heat - (double)exact.specific_heat) / found.specific_heat_error;
    print_message("beta = %g: z = %.2f of the energy, %.2f of the specific heat\n", beta, of_energy,
                  of_heat);
    assert_true(fabs(of_energy) < gate && fabs(of_heat) < gate);
    assert_true(fabs(found.energy - (double)off.energy) > gate * found.energy_error);
  }
}

static void metropolis_ferromagnet(void **state)
{
  (void)state;
  expect_exact(1.0, ISING_MOVE_METROPOLIS);
}

static void metropolis_antiferromagnet(void **state)
{
  (void)state;
  expect_exact(-1.0, ISING_MOVE_METROPOLIS);
}

static void heat_bath_ferromagnet(void **state)
{
  (void)state;
  expect_exact(1.0, ISING_MOVE_HEAT_BATH);
}

static void heat_bath_antiferromagnet(void **state)
{
  (void)state;
  expect_exact(-1.0, ISING_MOVE_HEAT_BATH);
}

int main(void)
{
  test_device_require();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(metropolis_ferromagnet),
      cmocka_unit_test(metropolis_antiferromagnet),
      cmocka_unit_test(heat_bath_ferromagnet),
      cmocka_unit_test(heat_bath_antiferromagnet),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
