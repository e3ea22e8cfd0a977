/* Runs an ensemble of Ising spins alongside the slow reference. */
#include "support/ising_compare.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void pair_open(struct ising_pair *pair, const struct ising_case *with, size_t replicas)
{
  assert_true(with->runs <= COMPARE_RUNS_MAXIMUM);
  pair->with = *with;
  pair->replicas = replicas;
  pair->wave_step = 1;
  fixture_open(&pair->fixture, with);
  for (size_t m = 0; m < with->runs; m++)
    fixture_reference(&pair->fixture, with, m, replicas, &pair->reference[m]);
  fixture_randomize(&pair->fixture, with, replicas);
}

void pair_close(struct ising_pair *pair)
{
  for (size_t m = 0; m < pair->with.runs; m++)
    reference_free(&pair->reference[m]);
  fixture_close(&pair->fixture);
}

void pair_sweep_reference(struct ising_pair *pair, uint32_t sweeps, const double *beta)
{
  const uint32_t time = pair->fixture.ensemble.time;
  for (size_t m = 0; m < pair->with.runs; m++)
    for (uint32_t s = 0; s < sweeps; s++)
      reference_sweep(&pair->reference[m], beta[m], time + s);
}

void pair_exchange(struct ising_pair *pair, const uint32_t *swap)
{
  const size_t words = gpumc_swap_words(pair->with.capacity);
  for (size_t m = 0; m + 1 < pair->with.runs; m++)
    reference_exchange(&pair->reference[m], &pair->reference[m + 1], swap + m * words);
  fixture_exchange(&pair->fixture, swap);
}

void pair_expect_replicas(struct ising_pair *pair)
{
  for (size_t m = 0; m < pair->with.runs; m++)
    fixture_expect_same(&pair->fixture, &pair->with, m, &pair->reference[m]);
}

static bool has_wave_compared(const struct ising_pair *pair, size_t replica)
{
  return replica % pair->wave_step < 2;
}

static void expect_number(const struct ising_pair *pair, const char *what, size_t m, size_t r,
                          int64_t found, int64_t expected)
{
  if (found != expected)
    fail_msg("%s: %s of replica %zu of run %zu is %lld, not %lld", fixture_text(&pair->with), what,
             r, m, (long long)found, (long long)expected);
}

/* Compares energies, which must be exact if there is disorder. */
static void expect_energy(const struct ising_pair *pair, size_t m, size_t r, int64_t found)
{
  const struct reference *reference = &pair->reference[m];
  const double quantum = pair->fixture.model.quantum[ISING_ENERGY];
  const double expected = reference_energy(reference, r);
  const bool same = reference->samples > 0 ? (double)found * quantum == expected
                                           : fabs((double)found - expected / quantum) <= 0.51;
  if (!same)
    fail_msg("%s: energy of replica %zu of run %zu is %.17g, not %.17g", fixture_text(&pair->with),
             r, m, (double)found * quantum, expected);
}

void pair_expect_channels(const struct ising_pair *pair, int64_t *const value[ISING_CHANNELS])
{
  const double wave_quantum = pair->fixture.model.quantum[ISING_WAVE];
  for (size_t m = 0; m < pair->with.runs; m++)
    for (size_t r = 0; r < pair->replicas; r++) {
      const struct reference *reference = &pair->reference[m];
      const size_t at = m * pair->with.capacity + r;
      if (value[ISING_ENERGY] != NULL)
        expect_energy(pair, m, r, value[ISING_ENERGY][at]);
      if (value[ISING_MAGNETIZATION] != NULL)
        expect_number(pair, "magnetization", m, r, value[ISING_MAGNETIZATION][at],
                      reference_magnetization(reference, r));
      if (value[ISING_WAVE] != NULL && has_wave_compared(pair, r))
        expect_number(pair, "wave", m, r, value[ISING_WAVE][at],
                      reference_wave(reference, r, wave_quantum));
    }
}

/* Compares overlaps of one kind; value[runs][capacity]. */
static void expect_overlaps_of(const struct ising_pair *pair, size_t first, size_t second,
                               size_t runs, enum ising_pair_kind kind, const int64_t *value)
{
  static const char *const name[ISING_PAIRS] = {"overlap", "link overlap", "wave of the overlap"};
  const double wave_quantum = pair->fixture.model.quantum[ISING_WAVE];
  for (size_t i = 0; i < runs; i++)
    for (size_t r = 0; r < pair->replicas; r++)
      if (kind != ISING_PAIR_WAVE || has_wave_compared(pair, r))
        expect_number(pair, name[kind], first + i, r, value[i * pair->with.capacity + r],
                      reference_overlap(&pair->reference[first + i], &pair->reference[second + i],
                                        r, kind, wave_quantum));
}

void pair_expect_overlaps(struct ising_pair *pair, size_t first, size_t second, size_t runs,
                          const bool wanted[ISING_PAIRS])
{
  const size_t count = runs * pair->with.capacity;
  int64_t *values = calloc(ISING_PAIRS * count, sizeof *values);
  int64_t *value[ISING_PAIRS] = {NULL};
  assert_non_null(values);
  for (size_t kind = 0; kind < ISING_PAIRS; kind++)
    value[kind] = wanted[kind] ? values + kind * count : NULL;
  fixture_overlap(&pair->fixture, first, second, runs, value);
  for (size_t kind = 0; kind < ISING_PAIRS; kind++)
    if (wanted[kind])
      expect_overlaps_of(pair, first, second, runs, (enum ising_pair_kind)kind, value[kind]);
  free(values);
}

void compare_settings(struct ising_case with, int threads, size_t replicas,
                      void (*follow)(const struct ising_case *with, size_t replicas))
{
  struct test_setting setting[TEST_SETTINGS_MAXIMUM];
  const size_t settings = test_settings(1, threads, true, setting);
  if (!fixture_serves(&with))
    return;
  for (size_t i = 0; i < settings; i++) {
    with.setting = setting[i];
    follow(&with, replicas);
  }
}

void compare_last_run(struct ising_case with, size_t replicas, uint32_t sweeps, double beta)
{
  struct ising_fixture fixture;
  struct test_setting setting[TEST_SETTINGS_MAXIMUM];
  const size_t settings = test_settings(1, 2, true, setting), m = with.runs - 1;
  struct reference reference;
  fixture_open(&fixture, &with);
  fixture_reference(&fixture, &with, m, replicas, &reference);
  fixture_randomize(&fixture, &with, replicas);
  fixture_expect_same(&fixture, &with, m, &reference);
  fixture_close(&fixture);
  for (uint32_t s = 0; s < sweeps; s++)
    reference_sweep(&reference, beta, s);
  for (size_t i = 0; i < settings; i++) {
    with.setting = setting[i];
    fixture_open(&fixture, &with);
    fixture_randomize(&fixture, &with, replicas);
    fixture_sweep(&fixture, 1, beta);
    fixture_sweep(&fixture, sweeps - 1, beta);
    fixture_expect_same(&fixture, &with, m, &reference);
    fixture_close(&fixture);
  }
  reference_free(&reference);
}
