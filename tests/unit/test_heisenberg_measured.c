/* Channels of Heisenberg and XY spins against slow, simple sums over replicas in portable form, for
 * every CPU kernel: sums of products, currents along x, and waves. Both kernels are as exact:
 * `float` measures spins divided by their lengths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/simulation/ensemble.h"
#include "models/heisenberg/heisenberg.h"
#include "models/heisenberg/heisenberg_wave.h"
#include "support/status.h"

enum { REPLICAS = 2, SWEEPS = 7 };
#define BETA 0.8

static const struct heisenberg_settings cases[] = {
    {.dimension = 1, .shape = {2}, .components = 3, .coupling = 1},
    {.dimension = 1, .shape = {66}, .components = 2, .coupling = -1.5, .field = 0.25},
    {.dimension = 2, .shape = {2, 2}, .components = 3, .coupling = 1},
    {.dimension = 2, .shape = {12, 4}, .components = 3, .coupling = 1, .field = -0.5},
    {.dimension = 2, .shape = {4, 34}, .components = 2, .coupling = 0.5},
    {.dimension = 3, .shape = {4, 4, 4}, .components = 3, .coupling = 1},
    {.dimension = 3, .shape = {6, 8, 8}, .components = 2, .coupling = 1},
    {.dimension = 3, .shape = {36, 2, 10}, .components = 3, .coupling = -1},
};

struct fixture {
  struct gpumc_device device;
  struct gpumc_model model;
  struct gpumc_ensemble ensemble;
  int64_t *channel[HEISENBERG_CHANNELS];
};

static void open(struct fixture *fixture, const struct heisenberg_settings *settings,
                 const struct gpumc_kernel_ops *kernel)
{
  const struct gpumc_ensemble_plan plan = {.runs = 1,
                                           .capacity = REPLICAS,
                                           .samples = 1,
                                           .move = HEISENBERG_MIXED,
                                           .options = {.own = {4}}};
  struct gpumc_error error = {0};
  memset(fixture, 0, sizeof *fixture);
  assert_ok(gpumc_device_open("cpu", 2, &fixture->device, &error), &error);
  assert_ok(heisenberg_instance(settings, &fixture->model, &error), &error);
  assert_ok(gpumc_ensemble_create(kernel, &fixture->model, &fixture->device, &plan, 5, 10,
                                  &fixture->ensemble, &error),
            &error);
  assert_ok(gpumc_ensemble_start(&fixture->ensemble, 0, 1, REPLICAS, &error), &error);
  for (size_t c = 0; c < HEISENBERG_STATE_CHANNELS; c++) {
    fixture->channel[c] = calloc(REPLICAS, sizeof **fixture->channel);
    assert_non_null(fixture->channel[c]);
  }
}

static void close(struct fixture *fixture)
{
  for (size_t c = 0; c < HEISENBERG_STATE_CHANNELS; c++)
    free(fixture->channel[c]);
  gpumc_ensemble_free(&fixture->ensemble);
  fixture->model.ops->destroy(&fixture->model);
  gpumc_device_close(&fixture->device);
}

/* spins[sites][n]; with two components the third is 0. */
static void spin_at(const double *spins, int components, size_t site, double spin[3])
{
  spin[2] = 0;
  memcpy(spin, spins + site * (size_t)components, (size_t)components * sizeof *spin);
}

static double dot(const double a[3], const double b[3])
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double wave_of(const struct heisenberg_settings *settings, size_t sites, const double *spins)
{
  double total = 0, longest = 0, axes = 0;
  for (size_t d = 0; d < settings->dimension; d++)
    longest = fmax(longest, (double)settings->shape[d]);
  size_t stride = 1;
  for (size_t d = 0; d < settings->dimension; stride *= settings->shape[d++]) {
    double cosine[3] = {0}, sine[3] = {0};
    if ((double)settings->shape[d] < longest)
      continue;
    for (size_t i = 0; i < sites; i++) {
      const double angle = 2 * GPUMC_PI * (double)(i / stride % settings->shape[d]) / longest;
      double spin[3];
      spin_at(spins, settings->components, i, spin);
      for (int a = 0; a < 3; a++) {
        cosine[a] += spin[a] * cos(angle);
        sine[a] += spin[a] * sin(angle);
      }
    }
    total += dot(cosine, cosine) + dot(sine, sine);
    axes++;
  }
  return total / axes;
}

static void expect(const struct heisenberg_settings *settings, const struct gpumc_model *model,
                   const double *spins, double value[HEISENBERG_STATE_CHANNELS])
{
  const struct gpumc_checkerboard lattice =
      gpumc_checkerboard_make(settings->dimension, settings->shape);
  double bonds = 0, along = 0, current[3] = {0}, m[3] = {0};
  for (size_t i = 0; i < model->sites; i++) {
    double spin[3], other[3];
    spin_at(spins, settings->components, i, spin);
    for (int a = 0; a < 3; a++)
      m[a] += spin[a];
    for (size_t d = 0; d < settings->dimension; d++) {
      spin_at(spins, settings->components, gpumc_checkerboard_next(&lattice, i, d), other);
      bonds += dot(spin, other);
      for (int a = 0; a < 3 && d == 0; a++)
        current[a] +=
            spin[(a + 1) % 3] * other[(a + 2) % 3] - spin[(a + 2) % 3] * other[(a + 1) % 3];
      along += d == 0 ? dot(spin, other) : 0;
    }
  }
  value[HEISENBERG_ENERGY] = -settings->coupling * bonds - settings->field * m[0];
  for (size_t a = 0; a < 3; a++)
    value[HEISENBERG_MAGNETIZATION_X + a] = m[a];
  value[HEISENBERG_MAGNETIZATION] = sqrt(dot(m, m));
  value[HEISENBERG_MAGNETIZATION2] = dot(m, m) / (double)model->sites;
  value[HEISENBERG_ALONG] = along;
  value[HEISENBERG_ACROSS] = dot(current, current);
  value[HEISENBERG_DRIFT] = 0;
  for (size_t i = 0; i < model->sites; i++) {
    double spin[3];
    spin_at(spins, settings->components, i, spin);
    value[HEISENBERG_DRIFT] =
        fmax(value[HEISENBERG_DRIFT], (double)model->sites * fabs(sqrt(dot(spin, spin)) - 1));
  }
  value[HEISENBERG_WAVE] = wave_of(settings, model->sites, spins);
}

/* Returns the tolerance of N terms, each rounded; squares of sums up to N. */
static double tolerance_of(const struct gpumc_model *model, size_t channel)
{
  const double sites = (double)model->sites, rounded = 0x1p-29;
  const bool square = channel == HEISENBERG_ACROSS || channel == HEISENBERG_WAVE;
  if (channel == HEISENBERG_DRIFT) /* computed in double */
    return 0x1p-50 * sites;
  return 6 * rounded * sites * (square ? 2 * sites : 1) + 2 * model->quantum[channel];
}

/* Divides spins by their lengths. */
static void normalise(double *spins, int components, size_t sites)
{
  for (size_t i = 0; i < sites; i++) {
    double spin[3];
    spin_at(spins, components, i, spin);
    for (int a = 0; a < components; a++)
      spins[i * (size_t)components + (size_t)a] /= sqrt(dot(spin, spin));
  }
}

/* `as_they_are`: lengths of spins in float are left in the expected values. Returns whether a
 * channel is not what is expected. */
static bool differs(const struct heisenberg_settings *settings,
                    const struct gpumc_kernel_ops *kernel, uint32_t sweeps, bool as_they_are,
                    char text[256])
{
  struct fixture fixture;
  struct gpumc_error error = {0};
  double value[HEISENBERG_STATE_CHANNELS];
  bool different = false;
  open(&fixture, settings, kernel);
  const struct gpumc_model *model = &fixture.model;
  double *spins = malloc(REPLICAS * model->portable_bytes);
  assert_non_null(spins);
  assert_ok(gpumc_ensemble_sweep(&fixture.ensemble, sweeps, BETA, fixture.channel, &error), &error);
  assert_ok(kernel->get(&fixture.ensemble, 0, 0, REPLICAS, (uint8_t *)spins, &error), &error);
  for (size_t r = 0; r < REPLICAS; r++) {
    double *of_replica = spins + r * model->portable_bytes / sizeof *spins;
    expect(settings, model, of_replica, value);
    const double drift = value[HEISENBERG_DRIFT];
    if (strcmp(kernel->variant, "float") == 0 && !as_they_are) {
      normalise(of_replica, settings->components, model->sites);
      expect(settings, model, of_replica, value);
      value[HEISENBERG_DRIFT] = drift;
    }
    for (size_t c = 0; c < HEISENBERG_STATE_CHANNELS; c++) {
      const double found = (double)fixture.channel[c][r] * model->quantum[c];
      const double room = tolerance_of(model, c);
      if (fabs(found - value[c]) <= room && fabs((double)fixture.channel[c][r]) <= model->bound[c])
        continue;
      snprintf(text, 256, "%s, O(%d), %zu sites in %zu dimensions: %s is %.12g, expected %.12g",
               kernel->variant, settings->components, model->sites, settings->dimension,
               heisenberg_channels[c].label.name, found, value[c]);
      different = true;
    }
  }
  free(spins);
  close(&fixture);
  return different;
}

static void channels_are_their_sums(void **state)
{
  char text[256];
  (void)state;
  for (const struct gpumc_kernel_ops *const *kernel = gpumc_model_heisenberg.kernels;
       *kernel != NULL; kernel++)
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
      if (strcmp((*kernel)->device, "cpu") == 0 && differs(&cases[i], *kernel, SWEEPS, false, text))
        fail_msg("%s", text);
}

/* Control: what rounding has done to the lengths of spins in float is more than the tolerance. */
static void lengths_are_noticed(void **state)
{
  char text[256];
  (void)state;
  assert_true(differs(&cases[6], &heisenberg_float_cpu, 15, true, text));
  assert_false(differs(&cases[6], &heisenberg_float_cpu, 15, false, text));
}

/* A channel measured alone has the same number as with all others. */
static void channels_do_not_depend_on_each_other(void **state)
{
  struct fixture fixture;
  struct gpumc_error error = {0};
  (void)state;
  open(&fixture, &cases[5], &heisenberg_float_cpu);
  assert_ok(fixture.ensemble.ops->measure(&fixture.ensemble, fixture.channel, &error), &error);
  for (size_t c = 0; c < HEISENBERG_STATE_CHANNELS; c++) {
    int64_t alone[REPLICAS], *wanted[HEISENBERG_CHANNELS] = {NULL};
    wanted[c] = alone;
    assert_ok(fixture.ensemble.ops->measure(&fixture.ensemble, wanted, &error), &error);
    assert_memory_equal(alone, fixture.channel[c], sizeof alone);
  }
  close(&fixture);
}

/* Identical spins have no wave. With one full turn through the lattice, cosines and sines are in
 * one component each, which gives half of N^2. */
static void a_spiral_is_one_wave(void **state)
{
  (void)state;
  for (size_t turns = 0; turns < 3; turns++) {
    struct fixture fixture;
    struct gpumc_error error = {0};
    open(&fixture, &cases[1], &heisenberg_double_cpu);
    const size_t sites = fixture.model.sites;
    double *spins = malloc(fixture.model.portable_bytes);
    assert_non_null(spins);
    for (size_t i = 0; i < sites; i++) {
      const double angle = 2 * GPUMC_PI * (double)(turns * i) / (double)sites;
      spins[2 * i] = cos(angle);
      spins[2 * i + 1] = sin(angle);
    }
    const struct gpumc_kernel_ops *kernel = fixture.ensemble.ops;
    assert_ok(kernel->set(&fixture.ensemble, 0, 0, 1, (uint8_t *)spins, &error), &error);
    assert_ok(kernel->measure(&fixture.ensemble, fixture.channel, &error), &error);
    const double found = (double)fixture.channel[HEISENBERG_WAVE][0] *
                         fixture.model.quantum[HEISENBERG_WAVE] / (double)(sites * sites);
    assert_true(fabs(found - (turns == 1 ? 0.5 : 0.0)) < 1e-7);
    free(spins);
    close(&fixture);
  }
}

/* Sums made number by number, as on GPUs, equal those in 128 bits. */
static void sums_in_two_words_are_exact(void **state)
{
  const struct gpumc_random random = gpumc_random_make(3, 0, 10);
  struct heisenberg_wave_sum sum = {0, 0};
  __int128 wide = 0;
  (void)state;
  for (uint32_t i = 0; i < 100000; i++) {
    uint32_t word[4];
    gpumc_random_draw(random, i, 0, 0, 0, word);
    const int32_t quanta = (int32_t)(word[0] >> 2) - (1 << 29), table = (int32_t)word[1] >> 1;
    heisenberg_wave_add(&sum, quanta, table);
    wide += (__int128)quanta * table;
    if (!((int64_t)(wide >> HEISENBERG_QUANTUM_BITS) == heisenberg_wave_amplitude(&sum)))
      fail_msg("after %u numbers", i);
  }
}

/* One spin that is longer or shorter than the others is detected. */
static void a_length_that_is_wrong_is_seen(void **state)
{
  static const double lengths[] = {1.0, 1.001, 0.99, 3.0};
  (void)state;
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    struct fixture fixture;
    struct gpumc_error error = {0};
    open(&fixture, &cases[5], &heisenberg_double_cpu);
    const size_t sites = fixture.model.sites;
    double *spins = calloc(1, fixture.model.portable_bytes);
    assert_non_null(spins);
    for (size_t k = 0; k < sites; k++)
      spins[3 * k + k % 3] = k == 7 ? lengths[i] : 1.0;
    const struct gpumc_kernel_ops *kernel = fixture.ensemble.ops;
    assert_ok(kernel->set(&fixture.ensemble, 0, 0, 1, (uint8_t *)spins, &error), &error);
    assert_ok(kernel->measure(&fixture.ensemble, fixture.channel, &error), &error);
    const double found = (double)fixture.channel[HEISENBERG_DRIFT][0] *
                         fixture.model.quantum[HEISENBERG_DRIFT] / (double)sites;
    assert_true(fabs(found - fmin(1.0, fabs(lengths[i] - 1.0))) < 1e-15);
    free(spins);
    close(&fixture);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(channels_are_their_sums),
      cmocka_unit_test(lengths_are_noticed),
      cmocka_unit_test(channels_do_not_depend_on_each_other),
      cmocka_unit_test(a_spiral_is_one_wave),
      cmocka_unit_test(sums_in_two_words_are_exact),
      cmocka_unit_test(a_length_that_is_wrong_is_seen),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
