/* Heisenberg and XY spins with quenched couplings against slow, simple sums over replicas in
 * portable form, for every CPU kernel: channels, comparisons of two replicas, what a sample's
 * couplings depend on, and which instances do not walk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/simulation/ensemble.h"
#include "models/heisenberg/heisenberg.h"
#include "support/status.h"

enum { RUNS = 2, SAMPLES = 2, SWEEPS = 9 };

#define BIMODAL                                                                                    \
  {                                                                                                \
    .couplings = LATTICE_BIMODAL, .positive = 0.5, .seed = 3                                       \
  }
#define GAUSSIAN                                                                                   \
  {                                                                                                \
    .couplings = LATTICE_GAUSSIAN, .seed = 4, .first_sample = 7                                    \
  }

static const struct heisenberg_settings cases[] = {
    {.dimension = 1, .shape = {2}, .components = 3, .coupling = 1, .disorder = GAUSSIAN},
    {.dimension = 1, .shape = {34}, .components = 2, .coupling = 0.3, .disorder = GAUSSIAN},
    {.dimension = 1, .shape = {8}, .components = 3, .coupling = 1, .disorder = BIMODAL},
    {.dimension = 2, .shape = {2, 2}, .components = 2, .coupling = 1, .disorder = BIMODAL},
    {.dimension = 2,
     .shape = {12, 4},
     .components = 3,
     .coupling = 2.5,
     .field = -0.5,
     .disorder = BIMODAL},
    {.dimension = 2, .shape = {4, 6}, .components = 2, .coupling = 1, .disorder = GAUSSIAN},
    {.dimension = 3, .shape = {4, 4, 4}, .components = 3, .coupling = 1, .disorder = GAUSSIAN},
    {.dimension = 3, .shape = {6, 4, 8}, .components = 2, .coupling = 1, .disorder = BIMODAL},
    {.dimension = 3, .shape = {36, 2, 10}, .components = 3, .coupling = 1, .disorder = BIMODAL},
};

/* Runs 0 and 1 with one replica per sample. */
struct fixture {
  struct gpumc_device device;
  struct gpumc_model model;
  struct gpumc_ensemble ensemble;
  int64_t *channel[HEISENBERG_CHANNELS]; /* [RUNS][SAMPLES] */
  int64_t *pair[HEISENBERG_PAIRS];       /* [SAMPLES] */
  double *spins;                         /* [RUNS][SAMPLES], portable, of length 1 */
};

/* Divides spins by their lengths, as measurements of spins in float do. */
static void normalise(double *spins, size_t n, size_t count)
{
  for (size_t i = 0; i < count; i++, spins += n) {
    double square = 0;
    for (size_t a = 0; a < n; a++)
      square += spins[a] * spins[a];
    for (size_t a = 0; a < n; a++)
      spins[a] /= sqrt(square);
  }
}

static void open(struct fixture *fixture, const struct heisenberg_settings *settings,
                 const struct gpumc_kernel_ops *kernel)
{
  const struct gpumc_ensemble_plan plan = {.runs = RUNS,
                                           .capacity = SAMPLES,
                                           .samples = SAMPLES,
                                           .move = HEISENBERG_MIXED,
                                           .options = {.own = {4}}};
  const double beta[RUNS] = {0.8, 1.3};
  struct gpumc_error error = {0};
  memset(fixture, 0, sizeof *fixture);
  assert_ok(gpumc_device_open("cpu", 2, &fixture->device, &error), &error);
  assert_ok(heisenberg_instance(settings, &fixture->model, &error), &error);
  struct gpumc_ensemble *ensemble = &fixture->ensemble;
  assert_ok(gpumc_ensemble_create(kernel, &fixture->model, &fixture->device, &plan, 5, 10, ensemble,
                                  &error),
            &error);
  assert_ok(gpumc_ensemble_start(ensemble, 0, RUNS, SAMPLES, &error), &error);
  for (size_t c = 0; c < HEISENBERG_CHANNELS; c++)
    assert_non_null(fixture->channel[c] = calloc(RUNS * SAMPLES, sizeof(int64_t)));
  for (size_t k = 0; k < HEISENBERG_PAIRS; k++)
    assert_non_null(fixture->pair[k] = calloc(SAMPLES, sizeof(int64_t)));
  const size_t bytes = SAMPLES * fixture->model.portable_bytes;
  assert_non_null(fixture->spins = calloc(RUNS, bytes));
  assert_ok(gpumc_ensemble_sweep_each(ensemble, SWEEPS, beta, fixture->channel, &error), &error);
  assert_ok(kernel->compare(ensemble, 0, 1, 1, fixture->pair, &error), &error);
  for (size_t m = 0; m < RUNS; m++)
    assert_ok(kernel->get(ensemble, m, 0, SAMPLES, (uint8_t *)fixture->spins + m * bytes, &error),
              &error);
  normalise(fixture->spins, (size_t)settings->components, RUNS * SAMPLES * fixture->model.sites);
}

static void close(struct fixture *fixture)
{
  for (size_t c = 0; c < HEISENBERG_CHANNELS; c++)
    free(fixture->channel[c]);
  for (size_t k = 0; k < HEISENBERG_PAIRS; k++)
    free(fixture->pair[k]);
  free(fixture->spins);
  gpumc_ensemble_free(&fixture->ensemble);
  fixture->model.ops->destroy(&fixture->model);
  gpumc_device_close(&fixture->device);
}

/* A replica in portable form, and its sample. */
struct state {
  const struct gpumc_model *model;
  struct gpumc_checkerboard lattice;
  size_t n;
  uint32_t sample;
  const double *spins;
};

static struct state state_of(struct fixture *fixture, size_t run, size_t sample)
{
  const struct heisenberg_parameters *parameters = heisenberg_parameters(&fixture->model);
  struct gpumc_error error = {0};
  struct state state = {.model = &fixture->model,
                        .lattice = parameters->lattice,
                        .n = (size_t)parameters->components,
                        .spins = fixture->spins + (run * SAMPLES + sample) *
                                                      fixture->model.portable_bytes /
                                                      sizeof(double)};
  assert_ok(lattice_samples_find(parameters->disorder, sample, &state.sample, &error), &error);
  return state;
}

static void spin_at(const struct state *state, size_t site, double spin[3])
{
  spin[2] = 0;
  memcpy(spin, state->spins + site * state->n, state->n * sizeof *spin);
}

static double dot(const double a[3], const double b[3])
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double product[3])
{
  for (int i = 0; i < 3; i++)
    product[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static double coupling_at(const struct state *state, size_t site, size_t axis)
{
  return lattice_samples_coupling(heisenberg_parameters(state->model)->disorder, state->sample,
                                  site * state->lattice.dimension + axis);
}

static size_t next(const struct state *state, size_t site, size_t axis)
{
  return gpumc_checkerboard_next(&state->lattice, site, axis);
}

/* Return S_i . S_j and (S_i x S_j)_z for the bond from a site. */
static double product_at(const struct state *state, size_t site, size_t axis, double turn[3])
{
  double spin[3], other[3];
  spin_at(state, site, spin);
  spin_at(state, next(state, site, axis), other);
  cross(spin, other, turn);
  return dot(spin, other);
}

static void expect_channels(const struct state *state, double value[HEISENBERG_CHANNELS])
{
  const struct heisenberg_parameters *parameters = heisenberg_parameters(state->model);
  double current[3] = {0}, m = 0;
  value[HEISENBERG_ENERGY] = value[HEISENBERG_ALONG] = 0;
  for (size_t i = 0; i < state->model->sites; i++)
    for (size_t d = 0; d < state->lattice.dimension; d++) {
      double turn[3];
      const double coupling = coupling_at(state, i, d), bond = product_at(state, i, d, turn);
      const double along = d == 0 ? coupling / parameters->coupling : 0;
      value[HEISENBERG_ENERGY] -= coupling * bond;
      value[HEISENBERG_ALONG] += along * bond;
      for (int a = 0; a < 3; a++)
        current[a] += along * turn[a];
      m += d == 0 ? state->spins[i * state->n] : 0;
    }
  value[HEISENBERG_ENERGY] -= parameters->field * m;
  value[HEISENBERG_MAGNETIZATION_X] = m;
  value[HEISENBERG_ACROSS] = dot(current, current);
}

static double triple_at(const struct state *state, size_t back, size_t axis)
{
  const size_t site = next(state, back, axis);
  double spin[3][3], product[3];
  spin_at(state, back, spin[0]);
  spin_at(state, site, spin[1]);
  spin_at(state, next(state, site, axis), spin[2]);
  cross(spin[1], spin[0], product);
  return dot(spin[2], product);
}

static double sine_at(const struct state *state, size_t site, size_t axis)
{
  double turn[3];
  const double coupling = coupling_at(state, site, axis);
  (void)product_at(state, site, axis, turn);
  return -copysign(1.0, coupling) * turn[2];
}

static double plaquette_at(const struct state *state, size_t site, size_t a, size_t b)
{
  return (sine_at(state, site, a) + sine_at(state, next(state, site, a), b) -
          sine_at(state, next(state, site, b), a) - sine_at(state, site, b)) /
         sqrt(8);
}

/* Returns the mean over the longest axes of |sum of q exp(i k r)|^2. */
static double wave_of(const struct state *one, const struct state *other, size_t m, size_t n)
{
  const size_t length[3] = {one->lattice.length_x, one->lattice.length_y, one->lattice.length_z};
  double total = 0, axes = 0;
  size_t longest = 0, stride = 1;
  for (size_t d = 0; d < one->lattice.dimension; d++)
    longest = length[d] > longest ? length[d] : longest;
  for (size_t d = 0; d < one->lattice.dimension; stride *= length[d++]) {
    double cosine = 0, sine = 0;
    for (size_t i = 0; i < one->model->sites && length[d] == longest; i++) {
      const double angle = 2 * GPUMC_PI * (double)(i / stride % longest) / (double)longest;
      const double q = one->spins[i * one->n + m] * other->spins[i * one->n + n];
      cosine += q * cos(angle);
      sine += q * sin(angle);
    }
    total += cosine * cosine + sine * sine;
    axes += length[d] == longest;
  }
  return total / axes;
}

static void
expect_pairs(const struct state *one, const struct state *other, double value[HEISENBERG_PAIRS])
{
  const double sites = (double)one->model->sites;
  const size_t dimension = one->lattice.dimension;
  double turn[3];
  memset(value, 0, HEISENBERG_PAIRS * sizeof *value);
  for (size_t m = 0; m < one->n; m++)
    for (size_t n = 0; n < one->n; n++) {
      double q = 0;
      for (size_t i = 0; i < one->model->sites; i++)
        q += one->spins[i * one->n + m] * other->spins[i * one->n + n] / sites;
      value[HEISENBERG_PAIR_OVERLAP2] += q * q;
      value[HEISENBERG_PAIR_WAVE] += wave_of(one, other, m, n) / sites;
    }
  for (size_t i = 0; i < one->model->sites; i++)
    for (size_t a = 0; a < dimension; a++) {
      value[HEISENBERG_PAIR_LINK] += product_at(one, i, a, turn) * product_at(other, i, a, turn);
      if (one->n == 3)
        value[HEISENBERG_PAIR_CHIRALITY] += triple_at(one, i, a) * triple_at(other, i, a);
      for (size_t b = a + 1; b < dimension && one->n == 2; b++)
        value[HEISENBERG_PAIR_CHIRALITY] +=
            plaquette_at(one, i, a, b) * plaquette_at(other, i, a, b);
    }
  value[HEISENBERG_PAIR_LINK] /= (double)dimension * sites;
  value[HEISENBERG_PAIR_CHIRALITY] /= heisenberg_chiralities(one->model);
}

static void check_channels(struct fixture *fixture, const char *variant)
{
  static const enum heisenberg_channel channels[] = {HEISENBERG_ENERGY, HEISENBERG_MAGNETIZATION_X,
                                                     HEISENBERG_ALONG, HEISENBERG_ACROSS};
  const double sites = (double)fixture->model.sites;
  for (size_t m = 0; m < RUNS; m++)
    for (size_t s = 0; s < SAMPLES; s++) {
      const struct state state = state_of(fixture, m, s);
      double value[HEISENBERG_CHANNELS];
      expect_channels(&state, value);
      for (size_t i = 0; i < sizeof channels / sizeof *channels; i++) {
        const enum heisenberg_channel c = channels[i];
        const double number = (double)fixture->channel[c][m * SAMPLES + s];
        const double found = number * fixture->model.quantum[c];
        /* Gaussian couplings are also rounded. */
        const double room = 0x1p-19 * sites * (c == HEISENBERG_ACROSS ? 4 * sites : 1);
        if (!(fabs(found - value[c]) <= room) || !(fabs(number) <= fixture->model.bound[c]))
          fail_msg("%s, O(%zu), %g sites, sample %zu: %s is %.12g, expected %.12g", variant,
                   state.n, sites, s, heisenberg_channels[c].label.name, found, value[c]);
      }
    }
}

static void check_pairs(struct fixture *fixture, const char *variant)
{
  for (size_t s = 0; s < SAMPLES; s++) {
    const struct state one = state_of(fixture, 0, s), other = state_of(fixture, 1, s);
    double value[HEISENBERG_PAIRS];
    expect_pairs(&one, &other, value);
    for (size_t k = 0; k < HEISENBERG_PAIRS; k++) {
      const double unit = fixture->model.pair[k].unit, found = unit * (double)fixture->pair[k][s];
      /* Squares of each tensor component are rounded down. */
      const double scale = k == HEISENBERG_PAIR_WAVE ? 8 * (double)fixture->model.sites : 4,
                   room = 0x1p-27 * scale + 9 * unit;
      if (unit > 0 && !(fabs(found - value[k]) <= room))
        fail_msg("%s, O(%zu), %zu sites, sample %zu: %s is %.12g, expected %.12g", variant, one.n,
                 fixture->model.sites, s, heisenberg_pairs[k].label.name, found, value[k]);
    }
  }
}

static void channels_and_pairs_are_their_sums(void **unused)
{
  (void)unused;
  for (const struct gpumc_kernel_ops *const *kernel = gpumc_model_heisenberg.kernels;
       *kernel != NULL; kernel++)
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
      if (strcmp((*kernel)->device, "cpu") == 0) {
        struct fixture fixture;
        open(&fixture, &cases[i], *kernel);
        check_channels(&fixture, (*kernel)->variant);
        check_pairs(&fixture, (*kernel)->variant);
        close(&fixture);
      }
}

/* Control: energies with another sample's couplings, and pairs from other samples, differ. */
static void samples_differ(void **unused)
{
  struct fixture fixture;
  double here[HEISENBERG_CHANNELS], there[HEISENBERG_CHANNELS], same[HEISENBERG_PAIRS],
      mixed[HEISENBERG_PAIRS];
  (void)unused;
  open(&fixture, &cases[6], &heisenberg_double_cpu);
  const struct state first = state_of(&fixture, 0, 0), second = state_of(&fixture, 1, 0),
                     third = state_of(&fixture, 1, 1);
  struct state wrong = first;
  wrong.sample = third.sample;
  expect_channels(&first, here);
  expect_channels(&wrong, there);
  assert_true(fabs(here[HEISENBERG_ENERGY] - there[HEISENBERG_ENERGY]) > 1);
  expect_pairs(&first, &second, same);
  expect_pairs(&first, &third, mixed);
  for (size_t k = 0; k < HEISENBERG_PAIRS; k++)
    assert_true(fabs(same[k] - mixed[k]) > 1e-4);
  close(&fixture);
}

/* Kernels in float and double have the same couplings, and J_ij are the drawn values rounded to
 * 2^-24 of a power of two above them all, 16 J. */
static void couplings_are_those_of_the_sample(void **unused)
{
  struct gpumc_model model;
  struct gpumc_error error = {0};
  (void)unused;
  assert_ok(heisenberg_instance(&cases[1], &model, &error), &error);
  const size_t count = heisenberg_couplings_count(&model);
  assert_int_equal(count, 2 * model.sites);
  float *single = calloc(count, sizeof *single);
  double *twice = calloc(count, sizeof *twice);
  assert_non_null(single);
  assert_non_null(twice);
  assert_ok(heisenberg_couplings_fill(&model, 1, 1, true, single, &error), &error);
  assert_ok(heisenberg_couplings_fill(&model, 1, 1, false, twice, &error), &error);
  const struct heisenberg_parameters *parameters = heisenberg_parameters(&model);
  assert_true(parameters->weight == 16);
  for (size_t i = 0; i < count; i++)
    assert_true((double)single[i] == twice[i] && fabs(twice[i]) <= 1);
  /* Site x = 2 of colour 0 has k = 1; its forward bond to x = 3 has the same index in colour 1. */
  uint32_t sample;
  assert_ok(lattice_samples_find(parameters->disorder, 1, &sample, &error), &error);
  const double drawn = lattice_samples_coupling(parameters->disorder, sample, 2),
               had = parameters->coupling * parameters->weight * twice[HEISENBERG_SAME + 1];
  assert_true(fabs(drawn - had) <= 0x1p-25 * 16 * parameters->coupling);
  free(single);
  free(twice);
  model.ops->destroy(&model);
}

/* Checks that an instance that cannot walk is refused before anything is allocated, and still
 * sweeps. */
static void refuse_walks(const struct heisenberg_settings *settings, const char *message)
{
  const struct gpumc_kernel_ops *const *kernel = gpumc_model_heisenberg.kernels;
  struct gpumc_device device;
  struct gpumc_model model;
  struct gpumc_error error = {0};
  assert_ok(gpumc_device_open("cpu", 1, &device, &error), &error);
  assert_ok(heisenberg_instance(settings, &model, &error), &error);
  for (; *kernel != NULL; kernel++) {
    struct gpumc_ensemble_plan plan = {.runs = 1, .capacity = 1, .samples = 1, .walks = true};
    struct gpumc_ensemble ensemble;
    if (strcmp((*kernel)->device, "cpu") != 0)
      continue;
    assert_int_equal(
        gpumc_ensemble_create(*kernel, &model, &device, &plan, 5, 10, &ensemble, &error),
        GPUMC_INVALID);
    assert_string_equal(gpumc_error_text(&error), message);
    gpumc_error_free(&error);
    if (model.sites > 1000)
      continue;
    plan.walks = false;
    assert_ok(gpumc_ensemble_create(*kernel, &model, &device, &plan, 5, 10, &ensemble, &error),
              &error);
    gpumc_ensemble_free(&ensemble);
  }
  model.ops->destroy(&model);
  gpumc_device_close(&device);
}

static void what_does_not_walk_is_refused(void **unused)
{
  const struct heisenberg_settings settings = {
      .dimension = 3, .shape = {178, 178, 178}, .components = 3, .coupling = 1};
  (void)unused;
  refuse_walks(&cases[5], "model heisenberg does not walk under a tabulated weight: its couplings "
                          "are quenched; leave model.couplings at uniform, or use algorithm "
                          "canonical, pt or pa");
  refuse_walks(&settings,
               "model heisenberg does not walk under a tabulated weight: it has 16919256 "
               "bonds, but exact sums over them need fewer than 2^24 = 16777216; use a "
               "smaller model.shape");
}

/* 2^24 bonds are one too many. */
static void the_largest_lattice_that_walks(void **unused)
{
  (void)unused;
  for (size_t more = 0; more <= 2; more += 2) {
    const struct heisenberg_settings settings = {
        .dimension = 2, .shape = {4096, 2046 + more}, .components = 2, .coupling = -1};
    struct gpumc_model model;
    struct gpumc_error error = {0};
    assert_ok(heisenberg_instance(&settings, &model, &error), &error);
    assert_int_equal(model.unwalkable == NULL, more == 0);
    model.ops->destroy(&model);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(channels_and_pairs_are_their_sums),
      cmocka_unit_test(samples_differ),
      cmocka_unit_test(couplings_are_those_of_the_sample),
      cmocka_unit_test(what_does_not_walk_is_refused),
      cmocka_unit_test(the_largest_lattice_that_walks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
