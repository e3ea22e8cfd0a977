/* Exchanges of neighbouring temperatures, exactly: how often one is accepted for given energies,
 * and that equilibrium is preserved, every sample an independent trial.
 *
 * Gates: |z| < 5 in each of fewer than 100 comparisons, a false alarm in 2e4 seeds. The seed is
 * fixed; other tests in this file show that wrong rules are rejected.
 *
 * CTest: first */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "algorithms/pt/pt_rules.h"
#include "support/tempering_fixture.h"

enum { SAMPLES = 1 << 20, T = 3 };

static const double gate = 5.0, quantum = 0.25;
static const double beta[T] = {0.3, 0.7, 1.5};
static const int64_t bounds[] = {1};
static const struct pt_tempering_plan plan = {
    .temperatures = T, .copies = 1, .samples = SAMPLES, .strata = 1, .n_channels = 1};

static double score(double count, double trials, double probability)
{
  const double variance = trials * probability * (1 - probability);
  return (count - trials * probability) / sqrt(variance);
}

/* Exchanges of t and t + 1 in one round. */
static uint64_t accepted(struct tempering_fixture *fixture, uint32_t round, size_t t)
{
  struct gpumc_error error = {0};
  struct pt_outcome outcome;
  assert_int_equal(pt_tempering_exchange(&fixture->tempering, fixture->random, round, &error),
                   GPUMC_OK);
  tempering_publish(fixture, 0);
  tempering_collect(fixture, 0, &outcome);
  return outcome.accepted[t];
}

static void an_exchange_has_its_probability(void **state)
{
  static const int64_t gaps[] = {1, 2, 5, 9, 20};
  struct tempering_fixture fixture;
  (void)state;
  tempering_open(&fixture, &plan, beta, bounds, test_setting());
  for (uint32_t i = 0; i < sizeof gaps / sizeof *gaps; i++)
    for (uint32_t t = 0; t + 1 < T; t++)
      for (int up = 0; up < 2; up++) {
        const uint32_t round = 4 * i + 2 * (uint32_t)up + t;
        int64_t *hotter = fixture.reference.channel[0] + (size_t)t * SAMPLES;
        int64_t *colder = hotter + SAMPLES;
        for (size_t s = 0; s < SAMPLES; s++) {
          hotter[s] = -100 + (up ? gaps[i] : 0);
          colder[s] = -100 + (up ? 0 : gaps[i]);
        }
        tempering_bring_channels(&fixture);
        const double count = (double)accepted(&fixture, round, t);
        const double chance = exp(-(beta[t + 1] - beta[t]) * quantum * (double)gaps[i]);
        /* The hotter one is the lower one: it must move down. */
        if (!up)
          assert_int_equal((uint64_t)count, SAMPLES);
        else if (fabs(score(count, SAMPLES, chance)) > gate)
          fail_msg("gap %d at %u: %.0f accepted, expected %.1f", (int)gaps[i], t, count,
                   chance * SAMPLES);
        /* A forgotten quantum, a wrong temperature. */
        if (up)
          assert_true(fabs(score(count, SAMPLES, pow(chance, 1.1))) > gate);
      }
  tempering_close(&fixture);
}

/* Energies 0, 1, 2, 3 with the degeneracies 1, 4, 6, 2, drawn from equilibrium. */
enum { LEVELS = 4 };

static void boltzmann(double inverse_temperature, double probability[LEVELS])
{
  static const double degeneracy[LEVELS] = {1, 4, 6, 2};
  double total = 0;
  for (int e = 0; e < LEVELS; e++)
    total += degeneracy[e] * exp(-inverse_temperature * quantum * e);
  for (int e = 0; e < LEVELS; e++)
    probability[e] = degeneracy[e] * exp(-inverse_temperature * quantum * e) / total;
}

static int64_t draw_level(uint32_t sample, uint32_t t, const double probability[LEVELS])
{
  uint32_t word[4];
  gpumc_random_draw(gpumc_random_make(77, 0, 10), sample, t, 0, 0, word);
  double uniform = ((double)word[0] + 0.5) * 0x1p-32;
  int64_t level = 0;
  while (level + 1 < LEVELS && uniform >= probability[level])
    uniform -= probability[level++];
  return level;
}

static void draw_levels(struct tempering_fixture *fixture, const double at[T])
{
  for (uint32_t t = 0; t < T; t++) {
    double probability[LEVELS];
    boltzmann(at[t], probability);
    for (uint32_t s = 0; s < SAMPLES; s++)
      fixture->reference.channel[0][t * SAMPLES + s] = draw_level(s, t, probability);
  }
  tempering_bring_channels(fixture);
}

/* Returns the largest |z| of the joint frequencies of the levels at t and t + 1, which are
 * independent. */
static double largest_score(struct tempering_fixture *fixture, size_t t)
{
  double hotter[LEVELS], colder[LEVELS], largest = 0;
  uint64_t count[LEVELS][LEVELS] = {{0}};
  const size_t bytes = (size_t)T * SAMPLES * sizeof(int64_t);
  int64_t *energy = tempering_fetch(fixture, fixture->tempering.channel[0], bytes);
  for (size_t s = 0; s < SAMPLES; s++)
    count[energy[t * SAMPLES + s]][energy[(t + 1) * SAMPLES + s]]++;
  free(energy);
  boltzmann(beta[t], hotter);
  boltzmann(beta[t + 1], colder);
  for (int i = 0; i < LEVELS; i++)
    for (int j = 0; j < LEVELS; j++)
      largest = fmax(largest, fabs(score((double)count[i][j], SAMPLES, hotter[i] * colder[j])));
  return largest;
}

static void equilibrium_stays(void **state)
{
  struct tempering_fixture fixture;
  (void)state;
  tempering_open(&fixture, &plan, beta, bounds, test_setting());
  draw_levels(&fixture, beta);
  for (uint32_t round = 0; round < 6; round++) {
    const uint64_t count = accepted(&fixture, round, round % 2);
    const double largest = largest_score(&fixture, round % 2);
    print_message("round %u: %.3f accepted, largest z %.2f\n", round, (double)count / SAMPLES,
                  largest);
    assert_in_range(count, SAMPLES / 2, SAMPLES - SAMPLES / 50);
    assert_true(largest < gate);
  }
  tempering_close(&fixture);
}

/* Exchanges at other temperatures, by a tenth of a step, are out of balance after the first. */
static void other_temperatures_are_seen(void **state)
{
  static const double other[T] = {0.3, 0.74, 1.62};
  struct tempering_fixture fixture;
  (void)state;
  tempering_open(&fixture, &plan, other, bounds, test_setting());
  draw_levels(&fixture, beta);
  (void)accepted(&fixture, 0, 0);
  (void)accepted(&fixture, 1, 1);
  const double hotter = largest_score(&fixture, 0), colder = largest_score(&fixture, 1);
  print_message("largest z at other temperatures: %.2f and %.2f\n", hotter, colder);
  assert_true(hotter > gate && colder > gate);
  tempering_close(&fixture);
}

int main(void)
{
  test_device_require();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_exchange_has_its_probability),
      cmocka_unit_test(equilibrium_stays),
      cmocka_unit_test(other_temperatures_are_seen),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
