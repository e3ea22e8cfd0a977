/* The exact references themselves: Kaufman's formula against published values, the infinite
 * lattice, whole densities of states and its own finite differences.
 *
 * CTest: first */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "support/density_of_states.h"
#include "support/kaufman.h"

static void assert_near(const char *what, long double got, long double wanted, long double bound)
{
  if (!(fabsl(got - wanted) <= bound))
    fail_msg("%s: %.17Lg, wanted %.17Lg, off by %.2Lg, allowed %.2Lg", what, got, wanted,
             got - wanted, bound);
}

static void assert_thermodynamics(struct exact_thermodynamics got,
                                  struct exact_thermodynamics wanted, long double bound)
{
  assert_near("ln Z / N", got.log_z, wanted.log_z, bound);
  assert_near("e", got.energy, wanted.energy, bound);
  assert_near("C", got.specific_heat, wanted.specific_heat, bound);
}

static void test_reference_table(void **state)
{
  (void)state;
  static const struct {
    size_t side;
    double beta;
    struct exact_thermodynamics wanted;
  } rows[] = {
      {4, 0.4, {0.910068313990253L, -1.37911648225935L, 0.812515229440L}},
      {4, 0.5, {1.06908544492072L, -1.75538028877744L, 0.605532657210L}},
      {8, 0.4, {0.884365449381646L, -1.22232064325091L, 1.10047588936L}},
      {16, 0.44, {0.931200184391561L, -1.44774346482773L, 1.50598860254L}},
      {32, 0.44, {0.929338014071546L, -1.42709060770977L, 1.86152196792L}},
      {64, 0.4, {0.879363835297562L, -1.10608299247209L, 0.861855083163L}},
      {64, 0.5, {1.02596203808080L, -1.74556457531252L, 0.724871448605L}},
      {128, 0.5, {1.02583511904139L, -1.74556457531255L, 0.724871448602L}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct exact_thermodynamics got =
        kaufman_ising2d(rows[i].side, rows[i].side, 1.0, rows[i].beta);
    assert_near("ln Z / N", got.log_z, rows[i].wanted.log_z, 1e-14L);
    assert_near("e", got.energy, rows[i].wanted.energy, 2e-14L);
    /* The table gives 11 or 12 digits of C. */
    assert_near("C", got.specific_heat, rows[i].wanted.specific_heat, 6e-12L);
  }
}

static void test_large_lattice_approaches_onsager(void **state)
{
  (void)state;
  assert_near("Onsager, beta = 0.4", onsager_energy(0.4), -1.10607920374579L, 2e-14L);
  assert_near("Onsager, beta = 0.5", onsager_energy(0.5), -1.74556457531255L, 2e-14L);
  assert_near("Onsager, critical", onsager_energy(0.440686793509772), -sqrtl(2.0L), 1e-13L);
  assert_near("Onsager, beta = 0", onsager_energy(0.0), 0.0L, 0.0L);
  const double far_from_criticality[] = {0.1, 0.3, 0.5, 0.7, 1.0, 2.0};
  for (size_t i = 0; i < 6; i++) {
    double beta = far_from_criticality[i];
    assert_near("e of 256 x 256", kaufman_ising2d(256, 256, 1.0, beta).energy, onsager_energy(beta),
                1e-12L);
  }
}

static void test_densities_of_states(void **state)
{
  (void)state;
  const struct density_of_states *const all[] = {&ising2d_states_4, &ising2d_states_8};
  const double betas[] = {0.0, 1e-6, 0.01, 0.1, 0.3, 0.4, 0.440686793509772, 0.45, 0.5, 1.0, 2.0};
  for (size_t i = 0; i < 2; i++)
    for (size_t b = 0; b < sizeof betas / sizeof *betas; b++)
      assert_thermodynamics(kaufman_ising2d(all[i]->side, all[i]->side, 1.0, betas[b]),
                            density_of_states_thermodynamics(all[i], betas[b]), 1e-15L);
}

static void test_density_of_states_is_whole(void **state)
{
  (void)state;
  const struct density_of_states *const all[] = {&ising2d_states_4, &ising2d_states_8};
  for (size_t i = 0; i < 2; i++) {
    uint64_t total = 0; /* 2^64 = 0 for 64 sites */
    for (size_t k = 0; k < all[i]->levels; k++) {
      total += all[i]->count[k];
      assert_int_equal(all[i]->count[k], all[i]->count[all[i]->levels - 1 - k]);
    }
    assert_int_equal(total, all[i]->sites == 64 ? 0 : UINT64_C(1) << all[i]->sites);
  }
}

static void test_distribution_is_normalised(void **state)
{
  (void)state;
  long double probability[17], total = 0.0L, mean = 0.0L;
  density_of_states_distribution(&ising2d_states_4, 0.4, probability);
  for (size_t k = 0; k < 17; k++) {
    total += probability[k];
    mean += probability[k] * (4.0L * (long double)k - 32.0L) / 16.0L;
  }
  assert_near("sum of probabilities", total, 1.0L, 1e-18L);
  assert_near("e", mean, -1.37911648225935L, 1e-14L);
}

/* e and C against differences of ln Z and e, over the whole range and for a rectangle. */
static void test_derivatives(void **state)
{
  (void)state;
  const double step = 1.0 / 8192.0;
  for (int i = 1; i <= 20; i++) {
    double beta = 0.1 * i;
    struct exact_thermodynamics low = kaufman_ising2d(12, 6, 1.0, beta - step);
    struct exact_thermodynamics middle = kaufman_ising2d(12, 6, 1.0, beta);
    struct exact_thermodynamics high = kaufman_ising2d(12, 6, 1.0, beta + step);
    long double width = 2.0L * (long double)step;
    assert_near("e from ln Z", middle.energy, -(high.log_z - low.log_z) / width, 2e-7L);
    long double C = -(long double)beta * (long double)beta * (high.energy - low.energy) / width;
    assert_near("C from e", middle.specific_heat, C, 2e-6L);
  }
}

static void test_symmetries(void **state)
{
  (void)state;
  struct exact_thermodynamics tall = kaufman_ising2d(6, 10, 1.0, 0.45);
  assert_thermodynamics(kaufman_ising2d(10, 6, 1.0, 0.45), tall, 1e-16L);
  assert_thermodynamics(kaufman_ising2d(6, 10, -1.0, 0.45), tall, 0.0L);
  struct exact_thermodynamics weak = kaufman_ising2d(6, 10, 0.5, 0.9);
  assert_near("ln Z / N", weak.log_z, tall.log_z, 1e-16L);
  assert_near("e in units of energy", weak.energy, 0.5L * tall.energy, 1e-16L);
  assert_near("C", weak.specific_heat, tall.specific_heat, 1e-15L);
}

static void test_limits(void **state)
{
  (void)state;
  assert_thermodynamics(kaufman_ising2d(64, 64, 1.0, 0.0),
                        (struct exact_thermodynamics){logl(2.0L), 0.0L, 0.0L}, 0.0L);
  /* First orders in beta: e = -2 beta, C = 2 beta^2. */
  assert_thermodynamics(kaufman_ising2d(64, 64, 1.0, 1e-9),
                        (struct exact_thermodynamics){logl(2.0L) + 1e-18L, -2e-9L, 2e-18L}, 1e-18L);
  /* Two ground states, and N states with one flipped spin. */
  assert_near("ln Z / N at beta = 2", kaufman_ising2d(256, 256, 1.0, 2.0).log_z,
              4.0L + logl(2.0L) / 65536.0L + expl(-16.0L), 1e-9L);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reference_table),
      cmocka_unit_test(test_large_lattice_approaches_onsager),
      cmocka_unit_test(test_densities_of_states),
      cmocka_unit_test(test_density_of_states_is_whole),
      cmocka_unit_test(test_distribution_is_normalised),
      cmocka_unit_test(test_derivatives),
      cmocka_unit_test(test_symmetries),
      cmocka_unit_test(test_limits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
