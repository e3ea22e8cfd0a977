/* Independent replicas of the 4 x 4 lattice after many sweeps, against the whole exact distribution
 * (all 2^16 states), and against each other.
 *
 * Null hypotheses: (1) the histogram of the bonds, and the joint histogram of bonds and
 * magnetization, are multinomial with the exact probabilities; (2) the energies of the 32 replicas
 * of a word are independent. Each statistic is chi-square under its null; the bound is its quantile
 * at Z = 4.75 (Wilson and Hilferty), a false alarm in a million for each. Seeds are fixed and were
 * not chosen.
 *
 * The exact probabilities are Boltzmann's except for one thing. Without a field, a state in which
 * every spin sees two neighbours up and two down (f(x + y) with f = ++--, and the like) is flipped
 * as a whole by every half sweep, since dE = 0 is always accepted, and neither left nor ever
 * reached: 36 of the 65536 states. They keep the probability that the start at beta = 0 gave them.
 * (Population annealing reweights them like every state, so it is not biased; two rows determine
 * such a state, so their share is at most 2^(2L - L^2), 2^-48 on an 8 x 8 lattice.)
 *
 * CTest: first, release (one sweep of each kernel: exact_test_ising_bits) */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/ising_fixture.h"
#include "support/cases.h"

/* SWEEPS from a random start: by the transition matrix, the trace of the start is below 1e-8 after
 * 40 sweeps at beta = 0.5 and after 20 at 0.4. REPLICAS: an acceptance that is 1 % wrong then
 * exceeds the bound on the energies about twice. */
enum { LENGTH = 4, SITES = 16, REPLICAS = 640000, SWEEPS = 40, BONDS = 65, SPINS = 33 };
static const size_t shape[2] = {LENGTH, LENGTH};
#define Z 4.75
#define LEAST_EXPECTED 10.0 /* cells expected to hold fewer replicas are combined */

static const struct condition {
  double coupling, field, beta;
} conditions[] = {
    {1.0, 0.0, 0.2}, {1.0, 0.0, 0.4}, {-1.0, 0.0, 0.5}, {1.0, 0.25, 0.4}, {-1.0, -0.5, 0.3}};

enum { CONDITIONS = sizeof conditions / sizeof *conditions };

static double chi_square_bound(double degrees)
{
  const double a = 2.0 / (9.0 * degrees);
  return degrees * pow(1.0 - a + Z * sqrt(a), 3.0);
}

/* Returns whether every spin sees two neighbours up and two down. */
static bool stuck(const int8_t *spin)
{
  for (size_t i = 0; i < SITES; i++) {
    const size_t x = i % LENGTH, y = i / LENGTH;
    if (spin[y * LENGTH + (x + 1) % LENGTH] + spin[y * LENGTH + (x + 3) % LENGTH] +
            spin[(y + 1) % LENGTH * LENGTH + x] + spin[(y + 3) % LENGTH * LENGTH + x] !=
        0)
      return false;
  }
  return true;
}

/* probability[bonds + 32][M + 16]; all in the first column unless `joint`. */
static void
exact_distribution(const struct condition *at, bool joint, double probability[BONDS][SPINS])
{
  struct reference state;
  double sum = 0, kept[BONDS][SPINS] = {{0}}, all_kept = 0;
  reference_init(&state, REFERENCE_MULTISPIN, 2, shape, 1);
  memset(probability, 0, BONDS * sizeof *probability);
  for (uint32_t bits = 0; bits < 1u << SITES; bits++) {
    for (uint32_t i = 0; i < SITES; i++)
      state.spin[i] = (bits >> i & 1) != 0 ? 1 : -1;
    const int64_t bonds = reference_bonds(&state, 0), spins = reference_magnetization(&state, 0);
    const int64_t column = joint ? spins + 16 : 0;
    if (at->field == 0.0 && stuck(state.spin)) {
      kept[bonds + 32][column] += 1.0 / (1 << SITES);
      all_kept += 1.0 / (1 << SITES);
      continue;
    }
    const double weight =
        exp(at->beta * (at->coupling * (double)bonds + at->field * (double)spins));
    probability[bonds + 32][column] += weight;
    sum += weight;
  }
  for (size_t b = 0; b < BONDS; b++)
    for (size_t m = 0; m < SPINS; m++)
      probability[b][m] = probability[b][m] / sum * (1 - all_kept) + kept[b][m];
  reference_free(&state);
}

/* Returns chi-square over its bound: above 1 rejects. */
static double discrepancy(const struct condition *at, bool joint, size_t replicas,
                          const int64_t *bonds, const int64_t *spins)
{
  static double probability[BONDS][SPINS];
  double observed[BONDS][SPINS] = {{0}};
  double chi_square = 0, rare = 0, rare_expected = 0, cells = 0;
  exact_distribution(at, joint, probability);
  for (size_t r = 0; r < replicas; r++)
    observed[bonds[r] + 32][joint ? spins[r] + 16 : 0] += 1;
  for (size_t b = 0; b < BONDS; b++)
    for (size_t m = 0; m < SPINS; m++) {
      const double expected = probability[b][m] * (double)replicas;
      if (expected == 0.0 && observed[b][m] > 0)
        return INFINITY;
      if (expected < LEAST_EXPECTED) {
        rare += observed[b][m];
        rare_expected += expected;
      } else {
        chi_square += pow(observed[b][m] - expected, 2) / expected;
        cells++;
      }
    }
  if (rare_expected >= LEAST_EXPECTED) {
    chi_square += pow(rare - rare_expected, 2) / rare_expected;
    cells++;
  }
  return chi_square / chi_square_bound(cells - 1);
}

/* Returns the scatter of the means of words of 32, in units of what independence allows; above 1
 * rejects. */
static double dependence(size_t replicas, const int64_t *bonds)
{
  double mean = 0, variance = 0, between = 0;
  const size_t words = replicas / 32;
  for (size_t r = 0; r < words * 32; r++)
    mean += (double)bonds[r] / (double)(words * 32);
  for (size_t w = 0; w < words; w++) {
    double word = 0;
    for (size_t lane = 0; lane < 32; lane++) {
      const double x = (double)bonds[w * 32 + lane] - mean;
      variance += x * x / (double)(words * 32);
      word += x / 32;
    }
    between += word * word;
  }
  return between / (variance / 32) / chi_square_bound((double)words - 1);
}

static void sample_kernel(const struct gpumc_kernel_ops *kernel, const struct condition *at,
                          int64_t *bonds, int64_t *spins)
{
  struct ising_case with = fixture_square(kernel, LENGTH, LENGTH, REPLICAS);
  struct ising_fixture fixture;
  with.settings.coupling = at->coupling;
  with.settings.field = at->field;
  with.seed = 20170801;
  with.setting.threads = 2;
  fixture_open(&fixture, &with);
  fixture_randomize(&fixture, &with, REPLICAS);
  fixture_sweep(&fixture, SWEEPS, at->beta);
  fixture_measure(&fixture, bonds, spins);
  for (size_t r = 0; r < REPLICAS; r++) {
    const double energy = (double)bonds[r] * fixture.model.quantum[ISING_ENERGY];
    bonds[r] = (int64_t)rint(-(energy + at->field * (double)spins[r]) / at->coupling);
  }
  fixture_close(&fixture);
}

static void expect_exact(const struct gpumc_kernel_ops *kernel, const struct condition *at)
{
  int64_t *bonds = calloc(REPLICAS, sizeof *bonds), *spins = calloc(REPLICAS, sizeof *spins);
  assert_true(bonds != NULL && spins != NULL);
  sample_kernel(kernel, at, bonds, spins);
  const double energies = discrepancy(at, false, REPLICAS, bonds, spins);
  const double histogram = discrepancy(at, true, REPLICAS, bonds, spins);
  const double words = dependence(REPLICAS, bonds);
  print_message("%s, condition %zu: energies %.3f, joint %.3f, words %.3f of the bound\n",
                kernel->variant, (size_t)(at - conditions), energies, histogram, words);
  assert_true(energies <= 1);
  assert_true(histogram <= 1);
  assert_true(words <= 1);
  free(bonds);
  free(spins);
}

static void every_kernel_has_the_exact_histogram(void **state)
{
  (void)state;
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = fixture_kernels(kernel);
  FOR_CASES (cases)
    for (size_t k = 0; k < kernels; k++)
      for (size_t c = 0; c < CONDITIONS; c++) {
        const struct ising_case with = fixture_square(kernel[k], LENGTH, LENGTH, REPLICAS);
        if (cases_take(&cases) && fixture_serves(&with))
          expect_exact(kernel[k], &conditions[c]);
      }
}

/* A sampler with a fault, at conditions[1]. */
static void sample_faulty(enum reference_trajectory trajectory, enum reference_fault fault,
                          size_t replicas, uint32_t sweeps, int64_t *bonds, int64_t *spins)
{
  struct reference reference;
  reference_init(&reference, trajectory, 2, shape, replicas);
  reference.fault = fault;
  reference_randomize(&reference);
  for (uint32_t s = 0; s < sweeps; s++)
    reference_sweep(&reference, conditions[1].beta, s);
  for (size_t r = 0; r < replicas; r++) {
    bonds[r] = reference_bonds(&reference, r);
    spins[r] = reference_magnetization(&reference, r);
  }
  reference_free(&reference);
}

static void wrong_acceptance_is_rejected(void **state)
{
  (void)state;
  enum { ENOUGH = 20, CONTROL = REPLICAS / 8 };
  int64_t *bonds = calloc(REPLICAS, sizeof *bonds), *spins = calloc(REPLICAS, sizeof *spins);
  assert_true(bonds != NULL && spins != NULL);
  sample_faulty(REFERENCE_SPIN, REFERENCE_RIGHT, CONTROL, ENOUGH, bonds, spins);
  const double right = discrepancy(&conditions[1], false, CONTROL, bonds, spins);
  sample_faulty(REFERENCE_SPIN, REFERENCE_ACCEPTANCE, REPLICAS, ENOUGH, bonds, spins);
  const double wrong = discrepancy(&conditions[1], false, REPLICAS, bonds, spins);
  print_message("of the bound: right %.3f, acceptance 1 %% too low %.3f\n", right, wrong);
  assert_true(right <= 1);
  assert_true(wrong > 1);
  free(bonds);
  free(spins);
}

static void shared_random_numbers_are_rejected(void **state)
{
  (void)state;
  enum { FEW = 3200, ENOUGH = 50 };
  int64_t bonds[FEW], spins[FEW];
  sample_faulty(REFERENCE_MULTISPIN, REFERENCE_RIGHT, FEW, ENOUGH, bonds, spins);
  const double right = dependence(FEW, bonds);
  sample_faulty(REFERENCE_MULTISPIN, REFERENCE_SHARED, FEW, ENOUGH, bonds, spins);
  const double wrong = dependence(FEW, bonds);
  print_message("of the bound: right %.3f, one random number a word %.3f\n", right, wrong);
  assert_true(right <= 1);
  assert_true(wrong > 1);
}

int main(void)
{
  test_device_require();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_kernel_has_the_exact_histogram),
      cmocka_unit_test(wrong_acceptance_is_rejected),
      cmocka_unit_test(shared_random_numbers_are_rejected),
  };
  return CASES_RUN(tests);
}
