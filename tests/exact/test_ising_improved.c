/* Improved estimators: those of the slow reference, bit for bit, for every instruction set and any
 * number of threads; and their averages over all states of 16 spins are the exact ones.
 *
 * Null hypothesis of the averages: their mean over independent bonds is <M^2>, and that of |M_k|^2,
 * in the exact distribution. States have their exact weights, so that only bonds are random; the
 * error is the scatter of ROUNDS independent averages. Bound: t = 8 with 15 degrees of freedom, a
 * false alarm in a million for each of two quantities and six conditions. Seeds are fixed and were
 * not chosen. Negative controls: bonds of an inverse temperature 2 % too high, and without the
 * ghost. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/ising_compare.h"
#include "support/cases.h"
#include "support/status.h"

enum { SWEEPS = 2, THREADS = 3, REPLICAS = 3, ROOM = 4, RUNS = 2 };

/* ---- bits ---- */

static const double betas[RUNS] = {0.44, 0.2};

/* Sides of 2; rows that end within vectors; whole tiles of a GPU and parts. */
static const struct ising_shape shapes[] = {
    {2, {2, 2, 1}}, {2, {34, 18, 1}}, {2, {130, 66, 1}}, {2, {290, 196, 1}},
    {3, {2, 4, 6}}, {3, {8, 8, 8}},   {3, {34, 2, 4}},   {3, {66, 36, 34}},
};

static const struct ising_feeling feelings[] = {
    {.coupling = 1.0},
    {.coupling = -1.3},
    {.coupling = 1.0, .field = 0.02},
    {.coupling = 1.0, .couplings = LATTICE_BIMODAL, .positive = 0.5, .sample_each = true},
    {.coupling = 1.0, .field = 0.125, .couplings = LATTICE_GAUSSIAN},
    {.coupling = 1.0, .fields = LATTICE_BIMODAL, .width = 0.3, .sample_each = true},
};

enum { SHAPES = sizeof shapes / sizeof *shapes, FEELINGS = sizeof feelings / sizeof *feelings };

/* `square` and `wave` are those of the reference at the present time. */
static void expect_improved(struct ising_pair *pair, const int64_t *square, const int64_t *wave)
{
  const double quantum = pair->fixture.model.quantum[ISING_CLUSTER_WAVE];
  for (size_t m = 0; m < pair->with.runs; m++)
    for (size_t r = 0; r < pair->replicas; r++) {
      const size_t at = m * pair->with.capacity + r;
      int64_t expected[2];
      reference_improved(&pair->reference[m], betas[m], pair->fixture.ensemble.time, r, quantum,
                         &expected[0], &expected[1]);
      if (square[at] != expected[0] || wave[at] != expected[1])
        fail_msg("%s: replica %zu of run %zu has %lld and %lld, not %lld and %lld",
                 fixture_text(&pair->with), r, m, (long long)square[at], (long long)wave[at],
                 (long long)expected[0], (long long)expected[1]);
    }
}

/* Measured with sweeps, alone, and one without the other; the spins stay what they are. */
static void follow(const struct ising_case *with, size_t replicas)
{
  int64_t square[RUNS * ROOM], wave[RUNS * ROOM], spins[RUNS * ROOM], alone[RUNS * ROOM];
  struct ising_pair pair;
  pair_open(&pair, with, replicas);
  pair_sweep_reference(&pair, SWEEPS, betas);
  fixture_sweep_and_measure_channels(&pair.fixture, SWEEPS, betas,
                                     (int64_t *const[ISING_CHANNELS]){
                                         [ISING_MAGNETIZATION] = spins,
                                         [ISING_CLUSTER_SQUARE] = square,
                                         [ISING_CLUSTER_WAVE] = wave,
                                     });
  expect_improved(&pair, square, wave);
  pair_expect_channels(&pair, (int64_t *const[ISING_CHANNELS]){[ISING_MAGNETIZATION] = spins});
  for (size_t c = ISING_CLUSTER_SQUARE; c < ISING_CHANNELS; c++) {
    int64_t *value[ISING_CHANNELS] = {NULL};
    value[c] = alone;
    fixture_measure_channels(&pair.fixture, value);
    expect_improved(&pair, c == ISING_CLUSTER_SQUARE ? alone : square,
                    c == ISING_CLUSTER_WAVE ? alone : wave);
  }
  pair_sweep_reference(&pair, 1, betas);
  fixture_sweep_each(&pair.fixture, 1, betas);
  pair_expect_replicas(&pair);
  pair_close(&pair);
}

/* One replica alone is shared by threads, if it is large; by Wolff, replicas are not. */
static void estimators_are_those_of_the_reference(void **state)
{
  (void)state;
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = case_cluster_kernels(kernel);
  FOR_CASES (cases)
    for (size_t k = 0; k < kernels; k++)
      for (size_t shape = 0; shape < SHAPES; shape++)
        for (size_t feeling = 0; feeling < FEELINGS; feeling++) {
          if (!cases_take(&cases))
            continue;
          const size_t number = cases_number(&cases);
          const bool alone = (shape + feeling) % 2 == 0;
          struct ising_case with = case_of(kernel[k], &shapes[shape], &feelings[feeling], ROOM);
          with.runs = alone ? 1 : RUNS;
          with.first_run = (uint32_t)number % 3;
          with.update = number % 5 == 0 ? ISING_MOVE_WOLFF : ISING_MOVE_SWENDSEN_WANG;
          with.measures_clusters = true;
          with.seed = 77 + number;
          with.rounds = number % 3 == 0 ? 7 : 10;
          if (alone)
            with.capacity = 1;
          compare_settings(with, THREADS, alone ? 1 : REPLICAS, follow);
        }
}

/* ---- averages over all states ---- */

enum { SITES = 16, STATES = 1 << SITES, MORE = 10000, MOST = STATES + MORE, ROUNDS = 16 };
#define BOUND 8.0

static const struct ising_shape square_shape = {2, {4, 4, 1}}, cubic_shape = {3, {2, 2, 4}};

static const struct condition {
  const struct ising_shape *shape;
  struct ising_feeling feeling;
  double beta;
} conditions[] = {
    {&square_shape, {.coupling = 1.0}, 0.4},
    {&square_shape, {.coupling = 1.0, .field = 0.25}, 0.3},
    {&square_shape, {.coupling = -1.0, .field = -0.5}, 0.3},
    {&cubic_shape, {.coupling = 1.0, .field = 0.25}, 0.15},
    {&square_shape, {.coupling = 1.0, .couplings = LATTICE_BIMODAL, .positive = 0.5}, 0.5},
    {&square_shape,
     {.coupling = 1.0, .field = 0.25, .fields = LATTICE_BIMODAL, .width = 0.75},
     0.4},
};

enum { CONDITIONS = sizeof conditions / sizeof *conditions, QUANTITIES = 2 };

/* Every state once, likely ones more often; weight[replica] sums up to 1. */
struct states {
  size_t count;
  double weight[MOST], exact[QUANTITIES];
  uint8_t bits[MOST][SITES / 8];
};

static void set_state(struct reference *state, uint32_t bits)
{
  for (uint32_t i = 0; i < SITES; i++)
    state->spin[i] = (bits >> i & 1) != 0 ? 1 : -1;
}

static struct states *all_states(struct reference *state, double beta, double wave_quantum)
{
  struct states *states = calloc(1, sizeof *states);
  double *weight = calloc(STATES, sizeof *weight), sum = 0;
  assert_true(states != NULL && weight != NULL);
  for (uint32_t bits = 0; bits < STATES; bits++) {
    set_state(state, bits);
    weight[bits] = exp(-beta * reference_energy(state, 0));
    sum += weight[bits];
  }
  for (uint32_t bits = 0; bits < STATES; bits++) {
    const double share = weight[bits] / sum;
    const size_t copies = 1 + (size_t)(share * MORE);
    set_state(state, bits);
    states->exact[0] += share * pow((double)reference_magnetization(state, 0), 2);
    states->exact[1] += share * wave_quantum * (double)reference_wave(state, 0, wave_quantum);
    for (size_t c = 0; c < copies; c++, states->count++) {
      states->weight[states->count] = share / (double)copies;
      reference_portable(state, 0, states->bits[states->count]);
    }
  }
  free(weight);
  return states;
}

/* What is wrong on purpose. */
enum fault { RIGHT, BONDS, NO_GHOST };

/* Sets deviation[..] to how many errors the averages are off. */
static void deviations(struct ising_fixture *fixture, const struct states *states, double beta,
                       enum fault fault, double deviation[QUANTITIES])
{
  const double given = fault == BONDS ? 1.02 * beta : beta;
  int64_t *value = calloc((size_t)QUANTITIES * MOST, sizeof *value);
  double sum[QUANTITIES] = {0}, squares[QUANTITIES] = {0};
  assert_non_null(value);
  if (fault == NO_GHOST)
    fixture->ensemble.control[ISING_FIELD] = 0;
  for (uint32_t round = 0; round < ROUNDS; round++) {
    fixture->ensemble.time = round;
    fixture_sweep_and_measure_channels(fixture, 0, &given,
                                       (int64_t *const[ISING_CHANNELS]){
                                           [ISING_CLUSTER_SQUARE] = value,
                                           [ISING_CLUSTER_WAVE] = value + MOST,
                                       });
    for (size_t q = 0; q < QUANTITIES; q++) {
      const double quantum = fixture->model.quantum[ISING_CLUSTER_SQUARE + q];
      double mean = 0;
      for (size_t r = 0; r < states->count; r++)
        mean += states->weight[r] * quantum * (double)value[q * MOST + r];
      sum[q] += mean - states->exact[q];
      squares[q] += pow(mean - states->exact[q], 2);
    }
  }
  for (size_t q = 0; q < QUANTITIES; q++) {
    const double mean = sum[q] / ROUNDS, variance = squares[q] / ROUNDS - mean * mean;
    deviation[q] = mean / sqrt(variance / (ROUNDS - 1));
  }
  free(value);
}

static double worst(const struct gpumc_kernel_ops *kernel, size_t condition, enum fault fault)
{
  const struct condition *at = &conditions[condition];
  struct gpumc_error error = {0};
  struct ising_case with = case_of(kernel, at->shape, &at->feeling, MOST);
  struct ising_fixture fixture;
  struct reference state;
  double deviation[QUANTITIES];
  with.update = ISING_MOVE_SWENDSEN_WANG;
  with.measures_clusters = true;
  with.seed = 20261101;
  with.setting.threads = 2;
  fixture_open(&fixture, &with);
  fixture_reference(&fixture, &with, 0, 1, &state);
  struct states *states = all_states(&state, at->beta, fixture.model.quantum[ISING_CLUSTER_WAVE]);
  fixture_randomize(&fixture, &with, states->count);
  assert_ok(
      fixture.ensemble.ops->set(&fixture.ensemble, 0, 0, states->count, states->bits[0], &error),
      &error);
  deviations(&fixture, states, at->beta, fault, deviation);
  print_message("condition %zu, fault %d: %+.2f and %+.2f errors\n", condition, (int)fault,
                deviation[0], deviation[1]);
  reference_free(&state);
  fixture_close(&fixture);
  free(states);
  return fmax(fabs(deviation[0]), fabs(deviation[1]));
}

static void averages_are_exact(void **state)
{
  (void)state;
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = case_cluster_kernels(kernel);
  FOR_CASES (cases)
    for (size_t k = 0; k < kernels; k++)
      for (size_t condition = 0; condition < CONDITIONS; condition++)
        if (cases_take(&cases))
          assert_true(worst(kernel[k], condition, RIGHT) <= BOUND);
}

static void faults_are_rejected(void **state)
{
  (void)state;
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = case_cluster_kernels(kernel);
  for (size_t k = 0; k < kernels; k++) {
    assert_true(worst(kernel[k], 0, BONDS) > BOUND);
    assert_true(worst(kernel[k], 1, BONDS) > BOUND);
    assert_true(worst(kernel[k], 1, NO_GHOST) > BOUND);
  }
}

int main(void)
{
  test_device_require();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(estimators_are_those_of_the_reference),
      cmocka_unit_test(averages_are_exact),
      cmocka_unit_test(faults_are_rejected),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
