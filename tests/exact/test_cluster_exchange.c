/* Exchanges of clusters between two replicas: the kernels against the slow reference, bit for bit;
 * and that they preserve equilibrium, exactly.
 *
 * Null hypothesis of the second part: the joint histogram of the energies of both replicas is the
 * product of two exact ones, found from all 2^16 states. Replicas are drawn from equilibrium, every
 * pair an independent trial, and then exchange clusters and are swept in turn. Chi-square, its
 * bound the quantile at Z = 4.75 (Wilson and Hilferty), a false alarm in a million for each. Seeds
 * are fixed and were not chosen. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/draw.h"
#include "support/exchange_reference.h"
#include "support/ising_compare.h"
#include "support/cases.h"
#include "support/status.h"

/* ---- the same bits ---- */

enum { RUNS = 4, SIZE = 37, ROOM = 41, FIRST_RUN = 5, ROUNDS = 3, SMALL = 1500 };
static const double betas[RUNS] = {0.9, 0.25, 0.9, 0.25};

/* Couplings of any size: for the kernel `spin` alone. */
static const struct ising_feeling gaussian[] = {
    {.coupling = 1.0, .couplings = LATTICE_GAUSSIAN, .sample_each = true},
    {.coupling = 0.8,
     .field = 0.3,
     .couplings = LATTICE_GAUSSIAN,
     .fields = LATTICE_GAUSSIAN,
     .width = 0.5},
};
enum { GAUSSIAN = sizeof gaussian / sizeof *gaussian };

/* Exchanges between the runs first + i and second + i; counts[runs]. */
static void exchange(struct ising_fixture *fixture, struct gpumc_cluster_exchange with,
                     struct gpumc_cluster_counts *counts)
{
  struct gpumc_error error = {0};
  struct gpumc_device *device = &fixture->device;
  const size_t bytes = with.runs * sizeof *counts;
  assert_ok(gpumc_device_array(device, &with.counts, with.runs, "counts", &error), &error);
  assert_ok(device->ops->copy_to_device(device, with.counts, counts, bytes, &error), &error);
  assert_ok(gpumc_ensemble_exchange_clusters(&fixture->ensemble, &with, &error), &error);
  assert_ok(device->ops->copy_to_host(device, counts, with.counts, bytes, &error), &error);
  device->ops->release(device, with.counts);
}

/* The same by kernel and reference, for runs 0 and 2, and 1 and 3. */
static void exchange_both(struct ising_pair *pair, enum gpumc_cluster_rule rule, uint32_t number)
{
  struct gpumc_cluster_counts found[2] = {{.exchanges = 3, .shares = 9}}, expected[2];
  const struct gpumc_cluster_exchange with = {
      .first = 0, .second = 2, .runs = 2, .rule = rule, .time = number};
  memcpy(expected, found, sizeof expected);
  exchange(&pair->fixture, with, found);
  for (size_t m = 0; m < 2; m++)
    reference_exchange_clusters(&pair->reference[m], &pair->reference[m + 2], rule, betas[m],
                                number, EXCHANGE_RIGHT, &expected[m]);
  pair_expect_replicas(pair);
  for (size_t m = 0; m < 2; m++)
    if (memcmp(&found[m], &expected[m], sizeof *found) != 0)
      fail_msg("%s: run %zu counts %llu %llu %llu %llu, not %llu %llu %llu %llu",
               fixture_text(&pair->with), m, (unsigned long long)found[m].exchanges,
               (unsigned long long)found[m].differing, (unsigned long long)found[m].exchanged,
               (unsigned long long)found[m].shares, (unsigned long long)expected[m].exchanges,
               (unsigned long long)expected[m].differing, (unsigned long long)expected[m].exchanged,
               (unsigned long long)expected[m].shares);
}

static void compare_case(struct ising_case with)
{
  struct ising_pair pair;
  with.runs = RUNS;
  with.first_run = FIRST_RUN;
  with.exchanges_clusters = true;
  if (!fixture_serves(&with))
    return;
  pair_open(&pair, &with, SIZE);
  const uint32_t rounds = pair.fixture.model.sites <= SMALL ? ROUNDS : 1;
  for (uint32_t round = 0; round < rounds; round++) {
    pair_sweep_reference(&pair, 1, betas);
    fixture_sweep_each(&pair.fixture, 1, betas);
    for (int rule = 0; rule < GPUMC_CLUSTER_RULES; rule++)
      exchange_both(&pair, rule, 2 * round + (uint32_t)rule);
  }
  pair_close(&pair);
}

static void kernels_do_what_the_reference_does(void **state)
{
  (void)state;
  struct test_setting setting[TEST_SETTINGS_MAXIMUM];
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t settings = test_settings(1, 3, true, setting);
  const size_t kernels = case_kernels(GPUMC_OPERATION_CLUSTERS, kernel);
  assert_true(kernels >= 2);
  FOR_CASES (cases)
    for (size_t k = 0; k < kernels; k++) {
      const bool words = fixture_trajectory(kernel[k]) == REFERENCE_MULTISPIN;
      for (size_t s = 0; s < CASE_SHAPES; s++)
        for (size_t f = 0; f < CASE_FEELINGS + (words ? 0 : GAUSSIAN); f++) {
          const struct ising_feeling *feeling =
              f < CASE_FEELINGS ? &case_feelings[f] : &gaussian[f - CASE_FEELINGS];
          struct ising_case with = case_of(kernel[k], &case_shapes[s], feeling, ROOM);
          with.rounds = (s + f) % 2 == 0 ? 10 : 7;
          if (cases_take(&cases)) {
            with.setting = setting[cases_number(&cases) % settings];
            compare_case(with);
          }
        }
    }
}

/* ---- equilibrium ---- */

enum { SITES = 16, STATES = 1 << SITES, PAIRS = 100000, MOVES = 6, CLASSES = 24 };
#define Z 4.75
#define LEAST_EXPECTED 10.0 /* cells expected to hold fewer pairs are combined */

static const struct condition {
  const char *text;
  struct ising_shape shape;
  struct ising_feeling feeling;
  double beta;
  bool any_size; /* of couplings: for the kernel `spin` alone */
} conditions[] = {
    {"4 x 4, +-J",
     {2, {4, 4, 1}},
     {.coupling = 1, .couplings = LATTICE_BIMODAL, .positive = 0.5},
     0.5,
     false},
    {"4 x 4, +-J, h = 0.3",
     {2, {4, 4, 1}},
     {.coupling = 1, .field = 0.3, .couplings = LATTICE_BIMODAL, .positive = 0.5},
     0.7,
     false},
    {"2 x 2 x 4, +-J",
     {3, {2, 2, 4}},
     {.coupling = 1, .couplings = LATTICE_BIMODAL, .positive = 0.5},
     0.3,
     false},
    {"2 x 4 x 2, Gaussian, random fields",
     {3, {2, 4, 2}},
     {.coupling = 1, .couplings = LATTICE_GAUSSIAN, .fields = LATTICE_GAUSSIAN, .width = 0.5},
     0.4,
     true},
};
enum { CONDITIONS = sizeof conditions / sizeof *conditions };

/* All states of one sample. A class holds the states of one or several successive energies, so that
 * there are at most CLASSES. */
struct spectrum {
  int64_t *energy;       /* [STATES], quanta */
  double *sum;           /* [STATES], probabilities of the states up to this one */
  int64_t last[CLASSES]; /* highest energy of each class */
  double chance[CLASSES];
  size_t classes;
};

static int by_value(const void *a, const void *b)
{
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* Ends a class where the share of the states below would be 1/CLASSES of those left or more. */
static void classify(struct spectrum *spectrum)
{
  int64_t *sorted = malloc(STATES * sizeof *sorted);
  assert_non_null(sorted);
  memcpy(sorted, spectrum->energy, STATES * sizeof *sorted);
  qsort(sorted, STATES, sizeof *sorted, by_value);
  size_t levels = 1, begin = 0;
  for (size_t i = 1; i < STATES; i++)
    levels += sorted[i] != sorted[i - 1];
  const size_t least = levels <= CLASSES ? 1 : STATES / (CLASSES - 1) + 1;
  for (size_t i = 0; i < STATES; i++) {
    const bool ends = i + 1 == STATES || sorted[i + 1] != sorted[i];
    if (!ends || (i + 1 - begin < least && i + 1 < STATES))
      continue;
    spectrum->last[spectrum->classes++] = sorted[i];
    begin = i + 1;
  }
  free(sorted);
}

static size_t class_of(const struct spectrum *spectrum, int64_t energy)
{
  size_t class = 0;
  while (spectrum->last[class] < energy)
    class ++;
  return class;
}

static void set_state(struct reference *reference, size_t replica, uint32_t bits)
{
  for (size_t i = 0; i < SITES; i++)
    reference->spin[replica * SITES + i] = (bits >> i & 1) != 0 ? 1 : -1;
}

static void enumerate(const struct ising_fixture *fixture, const struct ising_case *with,
                      double beta, struct spectrum *spectrum)
{
  const double quantum = fixture->model.quantum[ISING_ENERGY];
  struct reference reference;
  double sum = 0;
  fixture_reference(fixture, with, 0, 1, &reference);
  *spectrum = (struct spectrum){.energy = malloc(STATES * sizeof *spectrum->energy),
                                .sum = malloc(STATES * sizeof *spectrum->sum)};
  assert_true(spectrum->energy != NULL && spectrum->sum != NULL);
  for (uint32_t bits = 0; bits < STATES; bits++) {
    set_state(&reference, 0, bits);
    const double energy = reference_energy(&reference, 0);
    spectrum->energy[bits] = llround(energy / quantum);
    sum += exp(-beta * energy);
    spectrum->sum[bits] = sum;
  }
  classify(spectrum);
  for (uint32_t bits = 0; bits < STATES; bits++) {
    const double before = bits > 0 ? spectrum->sum[bits - 1] : 0;
    spectrum->chance[class_of(spectrum, spectrum->energy[bits])] +=
        (spectrum->sum[bits] - before) / sum;
  }
  reference_free(&reference);
}

static void free_spectrum(struct spectrum *spectrum)
{
  free(spectrum->energy);
  free(spectrum->sum);
}

/* Returns a state drawn from equilibrium. */
static uint32_t draw_state(const struct spectrum *spectrum, uint32_t run, uint32_t replica)
{
  const double u = ldexp((double)(test_draw(3, run, replica) >> 11) + 0.5, -53);
  size_t low = 0, high = STATES - 1;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (spectrum->sum[middle] < u * spectrum->sum[STATES - 1])
      low = middle + 1;
    else
      high = middle;
  }
  return (uint32_t)low;
}

/* Returns chi-square over its bound, above 1 rejects; energy[2][PAIRS]. */
static double discrepancy(const struct spectrum *spectrum, const int64_t *energy)
{
  static double observed[CLASSES][CLASSES];
  double chi_square = 0, rare = 0, rare_expected = 0, cells = 0;
  memset(observed, 0, sizeof observed);
  for (size_t r = 0; r < PAIRS; r++)
    observed[class_of(spectrum, energy[r])][class_of(spectrum, energy[PAIRS + r])] += 1;
  for (size_t i = 0; i < spectrum->classes; i++)
    for (size_t j = 0; j < spectrum->classes; j++) {
      const double expected = spectrum->chance[i] * spectrum->chance[j] * PAIRS;
      if (expected < LEAST_EXPECTED) {
        rare += observed[i][j];
        rare_expected += expected;
      } else {
        chi_square += pow(observed[i][j] - expected, 2) / expected;
        cells++;
      }
    }
  if (rare_expected >= LEAST_EXPECTED) {
    chi_square += pow(rare - rare_expected, 2) / rare_expected;
    cells++;
  }
  const double a = 2.0 / (9.0 * (cells - 1));
  return chi_square / ((cells - 1) * pow(1.0 - a + Z * sqrt(a), 3.0));
}

static struct ising_case case_at(const struct gpumc_kernel_ops *kernel, const struct condition *at)
{
  struct ising_case with = case_of(kernel, &at->shape, &at->feeling, PAIRS);
  with.runs = 2;
  with.exchanges_clusters = true;
  with.update = ISING_MOVE_HEAT_BATH;
  with.setting.threads = 2;
  return with;
}

/* Sets both replicas of all pairs to states drawn from equilibrium. */
static void draw_pairs(struct ising_fixture *fixture, const struct ising_case *with,
                       const struct spectrum *spectrum)
{
  struct gpumc_error error = {0};
  uint8_t *portable = malloc((size_t)PAIRS * fixture->model.portable_bytes);
  assert_non_null(portable);
  assert_int_equal(fixture->model.portable_bytes, SITES / 8);
  fixture_randomize(fixture, with, PAIRS);
  for (uint32_t m = 0; m < 2; m++) {
    for (uint32_t r = 0; r < PAIRS; r++) {
      const uint32_t bits = draw_state(spectrum, m, r);
      portable[2 * r] = (uint8_t)bits;
      portable[2 * r + 1] = (uint8_t)(bits >> 8);
    }
    assert_ok(fixture->ensemble.ops->set(&fixture->ensemble, m, 0, PAIRS, portable, &error),
              &error);
  }
  free(portable);
}

/* Returns the discrepancy after MOVES exchanges, each followed by a sweep. */
static double judge_kernel(const struct gpumc_kernel_ops *kernel, const struct condition *at,
                           enum gpumc_cluster_rule rule)
{
  const struct ising_case with = case_at(kernel, at);
  const double beta[2] = {at->beta, at->beta};
  struct ising_fixture fixture;
  struct spectrum spectrum;
  struct gpumc_cluster_counts counts = {0};
  int64_t *value = calloc((size_t)2 * PAIRS, sizeof *value);
  assert_non_null(value);
  fixture_open(&fixture, &with);
  enumerate(&fixture, &with, at->beta, &spectrum);
  draw_pairs(&fixture, &with, &spectrum);
  fixture_sweep_each(&fixture, 1, beta);
  for (uint32_t move = 0; move < MOVES; move++) {
    exchange(&fixture, (struct gpumc_cluster_exchange){0, 1, 1, rule, move, NULL, NULL}, &counts);
    fixture_sweep_each(&fixture, 1, beta);
  }
  exchange(&fixture, (struct gpumc_cluster_exchange){0, 1, 1, rule, MOVES, NULL, NULL}, &counts);
  fixture_measure_channels(&fixture, (int64_t *const[ISING_CHANNELS]){value, NULL, NULL});
  const double found = discrepancy(&spectrum, value);
  print_message("%s, %s, %s: %.3f of the bound; %.1f of %.1f differing sites exchanged\n",
                kernel->variant, at->text, rule == GPUMC_CLUSTER_CONNECTED ? "connected" : "active",
                found, (double)counts.exchanged / (double)counts.exchanges,
                (double)counts.differing / (double)counts.exchanges);
  free(value);
  free_spectrum(&spectrum);
  fixture_close(&fixture);
  return found;
}

static void equilibrium_stays(void **state)
{
  (void)state;
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = case_kernels(GPUMC_OPERATION_CLUSTERS, kernel);
  FOR_CASES (cases)
    for (size_t k = 0; k < kernels; k++)
      for (size_t c = 0; c < CONDITIONS; c++)
        for (int rule = 0; rule < GPUMC_CLUSTER_RULES; rule++)
          if ((fixture_trajectory(kernel[k]) != REFERENCE_MULTISPIN || !conditions[c].any_size) &&
              cases_take(&cases))
            assert_true(judge_kernel(kernel[k], &conditions[c], rule) <= 1);
}

/* Returns the discrepancy of the reference with a fault after MOVES exchanges. */
static double
judge_reference(const struct condition *at, enum gpumc_cluster_rule rule, enum exchange_fault fault)
{
  const struct ising_case with = case_at(&ising_spin_cpu, at);
  struct ising_case small = with;
  struct ising_fixture fixture;
  struct spectrum spectrum;
  struct reference reference[2];
  struct gpumc_cluster_counts counts = {0};
  int64_t *value = calloc((size_t)2 * PAIRS, sizeof *value);
  assert_non_null(value);
  small.capacity = 1;
  small.setting.threads = 1;
  small.kernel = test_device_is_cpu() ? &ising_spin_cpu : &ising_spin_cuda;
  fixture_open(&fixture, &small);
  enumerate(&fixture, &small, at->beta, &spectrum);
  for (uint32_t m = 0; m < 2; m++) {
    fixture_reference(&fixture, &small, m, PAIRS, &reference[m]);
    for (uint32_t r = 0; r < PAIRS; r++)
      set_state(&reference[m], r, draw_state(&spectrum, m, r));
  }
  for (uint32_t move = 0; move < MOVES; move++)
    reference_exchange_clusters(&reference[0], &reference[1], rule, at->beta, move, fault, &counts);
  for (size_t m = 0; m < 2; m++)
    for (size_t r = 0; r < PAIRS; r++)
      value[m * PAIRS + r] =
          llround(reference_energy(&reference[m], r) / fixture.model.quantum[ISING_ENERGY]);
  const double found = discrepancy(&spectrum, value);
  for (size_t m = 0; m < 2; m++)
    reference_free(&reference[m]);
  free(value);
  free_spectrum(&spectrum);
  fixture_close(&fixture);
  return found;
}

static void wrong_exchanges_are_rejected(void **state)
{
  (void)state;
  static const struct {
    enum gpumc_cluster_rule rule;
    enum exchange_fault fault;
    const char *text;
  } exchanges[] = {
      {GPUMC_CLUSTER_CONNECTED, EXCHANGE_RIGHT, "right, connected"},
      {GPUMC_CLUSTER_ACTIVATED, EXCHANGE_RIGHT, "right, active"},
      {GPUMC_CLUSTER_CONNECTED, EXCHANGE_BIASED, "never upwards, connected"},
      {GPUMC_CLUSTER_ACTIVATED, EXCHANGE_BIASED, "never upwards, active"},
      {GPUMC_CLUSTER_CONNECTED, EXCHANGE_PART, "half a cluster, connected"},
      {GPUMC_CLUSTER_ACTIVATED, EXCHANGE_PART, "half a cluster, active"},
      {GPUMC_CLUSTER_ACTIVATED, EXCHANGE_PROBABILITY, "half the exponent"},
  };
  FOR_CASES (cases)
    for (size_t i = 0; i < sizeof exchanges / sizeof *exchanges; i++)
      if (cases_take(&cases)) {
        const double found = judge_reference(&conditions[0], exchanges[i].rule, exchanges[i].fault);
        print_message("%s: %.1f of the bound\n", exchanges[i].text, found);
        assert_int_equal(found > 1, exchanges[i].fault != EXCHANGE_RIGHT);
      }
}

/* What Houdayer's rule leaves as it is, pair by pair. */
static void the_energy_of_a_pair_stays(void **state)
{
  (void)state;
  enum { FEW = 70 };
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = case_kernels(GPUMC_OPERATION_CLUSTERS, kernel);
  for (size_t k = 0; k < kernels; k++) {
    struct ising_case with = case_of(kernel[k], &case_shapes[8], &case_feelings[5], FEW);
    const double beta[2] = {0.6, 0.6};
    int64_t before[2 * FEW], after[2 * FEW], q_before[FEW], q_after[FEW];
    struct ising_fixture fixture;
    struct gpumc_cluster_counts counts = {0};
    with.runs = 2;
    with.exchanges_clusters = true;
    fixture_open(&fixture, &with);
    fixture_randomize(&fixture, &with, FEW);
    fixture_sweep_and_measure_channels(&fixture, 5, beta,
                                       (int64_t *const[ISING_CHANNELS]){before, NULL, NULL});
    fixture_overlap(&fixture, 0, 1, 1, (int64_t *const[ISING_PAIRS]){q_before, NULL, NULL});
    exchange(&fixture,
             (struct gpumc_cluster_exchange){0, 1, 1, GPUMC_CLUSTER_CONNECTED, 0, NULL, NULL},
             &counts);
    fixture_measure_channels(&fixture, (int64_t *const[ISING_CHANNELS]){after, NULL, NULL});
    fixture_overlap(&fixture, 0, 1, 1, (int64_t *const[ISING_PAIRS]){q_after, NULL, NULL});
    for (size_t r = 0; r < FEW; r++) {
      assert_int_equal(before[r] + before[FEW + r], after[r] + after[FEW + r]);
      assert_int_equal(q_before[r], q_after[r]);
    }
    assert_int_equal(counts.exchanges, FEW);
    fixture_close(&fixture);
  }
}

int main(void)
{
  test_device_require();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kernels_do_what_the_reference_does),
      cmocka_unit_test(the_energy_of_a_pair_stays),
      cmocka_unit_test(equilibrium_stays),
      cmocka_unit_test(wrong_exchanges_are_rejected),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
