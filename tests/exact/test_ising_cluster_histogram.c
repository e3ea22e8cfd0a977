/* Independent replicas of 16 spins after cluster moves, against the whole exact distribution of
 * energy and magnetization (all 2^16 states): without and with a field, in three dimensions, a
 * frustrated glass, random fields of both signs.
 *
 * Null hypothesis: the joint histogram is multinomial with the Boltzmann probabilities. The bound
 * on chi-square is its quantile at Z = 4.75 (Wilson and Hilferty), a false alarm in a million for
 * each. Seeds are fixed and were not chosen. Negative controls are the slow reference with bonds of
 * an inverse temperature 2 % too high, with flips that prefer one direction, and without the
 * ghost.
 *
 * CTest: release (a few sweeps of each kind: exact_test_ising_clusters) */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/ising_cases.h"
#include "support/cases.h"

/* Energies are multiples of a quarter, up to 64. */
enum {
  SITES = 16,
  STATES = 1 << SITES,
  REPLICAS = 100000,
  CLUSTERS = 4,
  STEPS = 4,
  LEVELS = 2 * 64 * STEPS + 1,
  SPINS = SITES + 1
};
#define Z 4.75
#define LEAST_EXPECTED 10.0 /* cells expected to hold fewer replicas are combined */

static const struct ising_shape square = {2, {4, 4, 1}}, cubic = {3, {2, 2, 4}};

/* sweeps: from a random start. In random fields of both signs few clusters are free to flip, so
 * that the start is forgotten slowly: after 12, 25, 50, 100, 200 and 400 sweeps of Swendsen-Wang
 * the discrepancy is 8.4, 1.5, 0.69, 0.63, 0.68 and 0.68 of the bound. */
static const struct condition {
  const struct ising_shape *shape;
  struct ising_feeling feeling;
  double beta;
  uint32_t sweeps;
} conditions[] = {
    {&square, {.coupling = 1.0}, 0.4, 25},
    {&square, {.coupling = 1.0, .field = 0.25}, 0.4, 25},
    {&square, {.coupling = -1.0, .field = -0.5}, 0.3, 25},
    {&cubic, {.coupling = 1.0, .field = 0.25}, 0.2, 25},
    {&square, {.coupling = 1.0, .couplings = LATTICE_BIMODAL, .positive = 0.5}, 0.5, 25},
    {&square, {.coupling = 1.0, .field = 0.25, .fields = LATTICE_BIMODAL, .width = 0.75}, 0.4, 200},
};

enum { CONDITIONS = sizeof conditions / sizeof *conditions };

/* histogram[level][spins up] */
struct histogram {
  double cell[LEVELS][SPINS];
};

static struct histogram *histogram_new(void)
{
  struct histogram *histogram = calloc(1, sizeof *histogram);
  assert_non_null(histogram);
  return histogram;
}

static size_t level_of(double energy)
{
  const double level = energy * STEPS + (LEVELS - 1) / 2;
  assert_true(level >= 0 && level < LEVELS && fabs(level - rint(level)) < 1e-6);
  return (size_t)rint(level);
}

static double chi_square_bound(double degrees)
{
  const double a = 2.0 / (9.0 * degrees);
  return degrees * pow(1.0 - a + Z * sqrt(a), 3.0);
}

/* Probabilities; `state` is used to measure. */
static struct histogram *exact_distribution(struct reference *state, double beta)
{
  struct histogram *exact = histogram_new();
  double sum = 0;
  for (uint32_t bits = 0; bits < STATES; bits++) {
    for (uint32_t i = 0; i < SITES; i++)
      state->spin[i] = (bits >> i & 1) != 0 ? 1 : -1;
    const double energy = reference_energy(state, 0), weight = exp(-beta * energy);
    exact->cell[level_of(energy)][(reference_magnetization(state, 0) + SITES) / 2] += weight;
    sum += weight;
  }
  for (size_t i = 0; i < (size_t)LEVELS * SPINS; i++)
    exact->cell[i / SPINS][i % SPINS] /= sum;
  return exact;
}

/* Returns chi-square over its bound: above 1 rejects. */
static double
discrepancy(const struct histogram *exact, const struct histogram *observed, size_t replicas)
{
  double chi_square = 0, rare = 0, rare_expected = 0, cells = 0;
  for (size_t i = 0; i < (size_t)LEVELS * SPINS; i++) {
    const double expected = exact->cell[i / SPINS][i % SPINS] * (double)replicas;
    const double found = observed->cell[i / SPINS][i % SPINS];
    if (expected == 0.0 && found > 0)
      return INFINITY;
    if (expected < LEAST_EXPECTED) {
      rare += found;
      rare_expected += expected;
    } else {
      chi_square += pow(found - expected, 2) / expected;
      cells++;
    }
  }
  if (rare_expected >= LEAST_EXPECTED) {
    chi_square += pow(rare - rare_expected, 2) / rare_expected;
    cells++;
  }
  return chi_square / chi_square_bound(cells - 1);
}

static struct ising_case case_at(const struct gpumc_kernel_ops *kernel, size_t condition,
                                 enum ising_move update, size_t replicas)
{
  struct ising_case with =
      case_of(kernel, conditions[condition].shape, &conditions[condition].feeling, replicas);
  with.update = update;
  with.clusters = CLUSTERS;
  with.seed = 20260801;
  with.setting.threads = 2;
  return with;
}

static struct histogram *
histogram_of_kernel(const struct ising_case *with, const struct condition *at)
{
  struct histogram *found = histogram_new();
  struct ising_fixture fixture;
  int64_t *energy = calloc(REPLICAS, sizeof *energy), *spins = calloc(REPLICAS, sizeof *spins);
  assert_true(energy != NULL && spins != NULL);
  fixture_open(&fixture, with);
  fixture_randomize(&fixture, with, REPLICAS);
  fixture_sweep(&fixture, at->sweeps, at->beta);
  fixture_measure(&fixture, energy, spins);
  for (size_t r = 0; r < REPLICAS; r++)
    found->cell[level_of((double)energy[r] * fixture.model.quantum[ISING_ENERGY])]
               [(spins[r] + SITES) / 2] += 1;
  fixture_close(&fixture);
  free(energy);
  free(spins);
  return found;
}

static void
expect_exact(const struct gpumc_kernel_ops *kernel, size_t condition, enum ising_move update)
{
  const struct ising_case with = case_at(kernel, condition, update, REPLICAS);
  const double beta = conditions[condition].beta;
  struct ising_fixture fixture;
  struct reference state;
  if (!fixture_serves(&with))
    return;
  fixture_open(&fixture, &with);
  fixture_reference(&fixture, &with, 0, 1, &state);
  struct histogram *exact = exact_distribution(&state, beta);
  struct histogram *found = histogram_of_kernel(&with, &conditions[condition]);
  const double share = discrepancy(exact, found, REPLICAS);
  print_message("%s, condition %zu: %.3f of the bound\n", ising_moves[update].name, condition,
                share);
  assert_true(share <= 1);
  reference_free(&state);
  fixture_close(&fixture);
  free(exact);
  free(found);
}

static void histograms_are_exact(void **state)
{
  (void)state;
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = case_kernels(GPUMC_OPERATION_SWEEP, kernel);
  FOR_CASES (cases)
    for (size_t k = 0; k < kernels; k++)
      for (size_t move = ISING_LOCAL_MOVES; move < kernel[k]->n_moves; move++)
        for (size_t condition = 0; condition < CONDITIONS; condition++)
          if (cases_take(&cases))
            expect_exact(kernel[k], condition, (enum ising_move)move);
  assert_true(kernels > 0);
}

/* Returns the discrepancy of the reference with a fault. */
static double faulty(size_t condition, enum ising_move update, enum reference_fault fault)
{
  enum { CONTROL = 40000, ENOUGH = 12 };
  const struct ising_case with = case_at(&ising_spin_cpu, condition, update, CONTROL);
  const double beta = conditions[condition].beta;
  struct ising_fixture fixture;
  struct reference state, reference;
  struct histogram *found = histogram_new();
  fixture_open(&fixture, &with);
  fixture_reference(&fixture, &with, 0, 1, &state);
  fixture_reference(&fixture, &with, 0, CONTROL, &reference);
  reference.fault = fault;
  for (uint32_t s = 0; s < ENOUGH; s++)
    reference_sweep(&reference, beta, s);
  for (size_t r = 0; r < CONTROL; r++)
    found->cell[level_of(reference_energy(&reference, r))]
               [(reference_magnetization(&reference, r) + SITES) / 2] += 1;
  struct histogram *exact = exact_distribution(&state, beta);
  const double share = discrepancy(exact, found, CONTROL);
  print_message("%s, condition %zu, fault %d: %.2f of the bound\n", ising_moves[update].name,
                condition, (int)fault, share);
  reference_free(&state);
  reference_free(&reference);
  fixture_close(&fixture);
  free(exact);
  free(found);
  return share;
}

static void faults_are_rejected(void **state)
{
  (void)state;
  static const struct {
    size_t condition;
    enum reference_fault fault;
  } faults[] = {
      {1, REFERENCE_RIGHT}, {1, REFERENCE_BONDS}, {0, REFERENCE_BIAS}, {1, REFERENCE_NO_GHOST}};
  FOR_CASES (cases)
    for (size_t move = ISING_LOCAL_MOVES; move < ISING_MOVES; move++)
      for (size_t f = 0; f < sizeof faults / sizeof *faults; f++)
        if (cases_take(&cases)) {
          const double share = faulty(faults[f].condition, (enum ising_move)move, faults[f].fault);
          assert_int_equal(share > 1, faults[f].fault != REFERENCE_RIGHT);
        }
}

int main(void)
{
  test_device_require();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(histograms_are_exact),
      cmocka_unit_test(faults_are_rejected),
  };
  return CASES_RUN(tests);
}
