/* Samples of quenched disorder: what a sample depends on, its distribution, files, refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/simulation/registry.h"
#include "models/lattice/disorder/disorder.h"
#include "models/ising/ising_keys.h"
#include "models/ising2d/ising2d.h"
#include "support/work_directory.h"

static struct ising_settings settings_of(size_t dimension, const size_t *shape)
{
  struct ising_settings settings = {
      .ops = &gpumc_model_ising2d, .dimension = dimension, .coupling = 1.0};
  memcpy(settings.shape, shape, dimension * sizeof *shape);
  settings.disorder.positive = 0.5;
  return settings;
}

static struct ising_settings square(size_t length)
{
  const size_t shape[2] = {length, length};
  return settings_of(2, shape);
}

static void open_model(const struct ising_settings *settings, struct gpumc_model *model)
{
  struct gpumc_error error = {0};
  if (ising_instance(settings, model, &error) != GPUMC_OK)
    fail_msg("%s", gpumc_error_text(&error));
}

static size_t bonds_of(const struct gpumc_model *model)
{
  return model->sites * ising_parameters(model)->lattice.dimension;
}

/* Returns a sample's couplings, followed by its fields; the caller frees them. */
static int32_t *sample_of(const struct gpumc_model *model, size_t number)
{
  struct gpumc_error error = {0};
  int32_t *values = calloc(bonds_of(model) + model->sites, sizeof *values);
  assert_non_null(values);
  if (ising_disorder_sample(model, number, values, values + bonds_of(model), &error) != GPUMC_OK)
    fail_msg("%s", gpumc_error_text(&error));
  return values;
}

static bool
samples_agree(const struct gpumc_model *a, size_t of_a, const struct gpumc_model *b, size_t of_b)
{
  int32_t *one = sample_of(a, of_a), *other = sample_of(b, of_b);
  const bool agree = memcmp(one, other, (bonds_of(a) + a->sites) * sizeof *one) == 0;
  free(one);
  free(other);
  return agree;
}

static void test_sample_depends_on_seed_and_number_alone(void **state)
{
  struct ising_settings settings = square(8);
  struct gpumc_model from_zero, from_five, other_seed;
  (void)state;
  settings.disorder.couplings = LATTICE_GAUSSIAN;
  settings.disorder.fields = LATTICE_GAUSSIAN;
  settings.disorder.width = 0.7;
  open_model(&settings, &from_zero);
  settings.disorder.first_sample = 5;
  open_model(&settings, &from_five);
  settings.disorder.seed = 1;
  open_model(&settings, &other_seed);
  assert_true(samples_agree(&from_zero, 7, &from_five, 2));
  assert_false(samples_agree(&from_zero, 7, &from_five, 3));
  assert_false(samples_agree(&from_five, 2, &other_seed, 2));
  assert_int_equal(from_five.samples, ((size_t)1 << 32) - 5);
  ising_destroy(&from_zero);
  ising_destroy(&from_five);
  ising_destroy(&other_seed);
}

/* Part of the meaning of a seed: must never change. The values come from another program (Philox in
 * Python integers, the logarithm of the C library), in quanta of 2^-26. */
static void test_known_sample(void **state)
{
  static const int32_t known[8] = {-1, -1, 1, 1, -1, -1, 1, 1};
  static const int32_t known_gaussian[4] = {82468731, 54246817, -33685167, -19755145};
  struct ising_settings settings = square(4);
  struct gpumc_model model;
  (void)state;
  settings.disorder.couplings = LATTICE_BIMODAL;
  settings.disorder.seed = 12345;
  settings.disorder.first_sample = 3;
  open_model(&settings, &model);
  int32_t *values = sample_of(&model, 0);
  assert_memory_equal(values, known, sizeof known);
  free(values);
  ising_destroy(&model);
  settings.disorder.couplings = LATTICE_GAUSSIAN;
  open_model(&settings, &model);
  values = sample_of(&model, 0);
  assert_memory_equal(values, known_gaussian, sizeof known_gaussian);
  free(values);
  ising_destroy(&model);
}

/* Moments of n values in units of energy: mean, variance, excess kurtosis. */
struct moments {
  double n, mean, variance, kurtosis;
};

static struct moments moments_of(const int32_t *values, size_t n, double quantum)
{
  double sums[4] = {0};
  for (size_t i = 0; i < n; i++)
    for (double x = (double)values[i] * quantum, power = x, k = 0; k < 4; k++, power *= x)
      sums[(int)k] += power / (double)n;
  const double mean = sums[0], variance = sums[1] - mean * mean;
  const double fourth =
      sums[3] - 4 * mean * sums[2] + 6 * mean * mean * sums[1] - 3 * mean * mean * mean * mean;
  return (struct moments){(double)n, mean, variance, fourth / (variance * variance) - 3};
}

/* Allows 5 standard errors each (1/n, 2/n, 24/n for unit variance): false alarm rate below 2e-6. */
static void assert_is_gaussian(struct moments found, double sigma)
{
  assert_true(fabs(found.mean) < 5 * sigma / sqrt(found.n));
  assert_true(fabs(found.variance / (sigma * sigma) - 1) < 5 * sqrt(2 / found.n));
  assert_true(fabs(found.kurtosis) < 5 * sqrt(24 / found.n));
}

static void test_gaussian_values(void **state)
{
  struct ising_settings settings = square(256);
  struct gpumc_model model;
  (void)state;
  settings.disorder.couplings = LATTICE_GAUSSIAN;
  settings.disorder.fields = LATTICE_GAUSSIAN;
  settings.disorder.width = 0.3;
  open_model(&settings, &model);
  const size_t bonds = bonds_of(&model);
  int32_t *values = sample_of(&model, 0);
  assert_is_gaussian(moments_of(values, bonds, model.quantum[0]), 1.0);
  assert_is_gaussian(moments_of(values + bonds, model.sites, model.quantum[0]), 0.3);
  assert_int_equal(model.grid[0].levels, 0);
  assert_false(ising_parameters(&model)->plain);
  free(values);
  ising_destroy(&model);
}

static void test_signs(void **state)
{
  struct ising_settings settings = square(256);
  struct gpumc_model model;
  (void)state;
  settings.disorder.couplings = LATTICE_BIMODAL;
  settings.disorder.positive = 0.8;
  open_model(&settings, &model);
  const size_t bonds = bonds_of(&model);
  int32_t *values = sample_of(&model, 0);
  double positive = 0;
  for (size_t i = 0; i < bonds; i++) {
    assert_int_equal(abs(values[i]), 1);
    positive += values[i] > 0;
  }
  /* 5 standard errors. */
  assert_true(fabs(positive / (double)bonds - 0.8) < 5 * sqrt(0.16 / (double)bonds));
  assert_true(ising_parameters(&model)->plain);
  assert_int_equal(model.grid[0].levels, bonds + 1);
  free(values);
  ising_destroy(&model);
}

static void test_uniform_field_is_included(void **state)
{
  struct ising_settings settings = square(4);
  struct gpumc_model model;
  (void)state;
  settings.field = 0.25;
  settings.disorder.fields = LATTICE_BIMODAL;
  settings.disorder.width = 1.5;
  open_model(&settings, &model);
  const struct lattice_disorder_traits traits = ising_disorder_traits(&model);
  int32_t *values = sample_of(&model, 0);
  const int32_t *field = values + bonds_of(&model);
  assert_false(traits.couplings);
  assert_true(traits.fields && traits.fields_are_signs);
  for (size_t i = 0; i < model.sites; i++)
    assert_true(field[i] * model.quantum[0] == 1.75 || field[i] * model.quantum[0] == -1.25);
  assert_true(traits.field_width * model.quantum[0] == 1.5);
  assert_true(values[0] * model.quantum[0] == 1.0);
  free(values);
  ising_destroy(&model);
}

/* All p, including probabilities 0 and 1. */
static void test_all_couplings_of_one_sign(void **state)
{
  struct ising_settings settings = square(16);
  (void)state;
  settings.disorder.couplings = LATTICE_BIMODAL;
  for (int sign = -1; sign <= 1; sign += 2) {
    struct gpumc_model model;
    settings.disorder.positive = sign > 0 ? 1.0 : 0.0;
    open_model(&settings, &model);
    int32_t *values = sample_of(&model, 0);
    for (size_t i = 0; i < bonds_of(&model); i++)
      assert_int_equal(values[i], sign);
    free(values);
    ising_destroy(&model);
  }
}

static struct ising_settings of_file(const char *path)
{
  const size_t shape[2] = {2, 4};
  struct ising_settings settings = settings_of(2, shape);
  settings.disorder.couplings = LATTICE_FILE;
  settings.disorder.path = path;
  return settings;
}

#define ONES "1 -1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"

static void test_text_file(void **state)
{
  static const char text[] = "# two samples\nshape 2 4\ncouplings\n" ONES "\nfields 1 2 3 4 5 6 7 "
                             "8.5e0 # of the same\r\ncouplings " ONES "\tfields 8 7 6 5 4 3 2 -1";
  struct ising_settings settings = of_file("c.txt");
  struct gpumc_model model;
  (void)state;
  write_file("c.txt", text, strlen(text));
  open_model(&settings, &model);
  const struct lattice_disorder_traits traits = ising_disorder_traits(&model);
  int32_t *values = sample_of(&model, 1);
  assert_int_equal(model.samples, 2);
  assert_true(traits.couplings_are_signs && traits.fields && !traits.fields_are_signs);
  assert_true(values[1] * model.quantum[0] == -1.0);
  assert_true(values[16] * model.quantum[0] == 8.0);
  assert_true(values[16 + 7] * model.quantum[0] == -1.0);
  free(values);
  ising_destroy(&model);
}

static void test_text_file_errors(void **state)
{
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"", "c.txt: the file is empty; it must begin with 'shape'"},
      {"shape 2 4\n", "c.txt:1: expected 'couplings', found the end of the file"},
      {"shape 2.7 4\n", "c.txt:1: expected a side of the shape, found '2.7'"},
      {"couplings " ONES, "c.txt:1: expected 'shape', found 'couplings'"},
      {"shape 4\n2", "c.txt:2: the shape is 4 x 2, but the lattice of the model is 2 x 4"},
      {"shape 2", "c.txt:1: expected a side of the shape, found the end of the file"},
      {"shape 2 x", "c.txt:1: expected a side of the shape, found 'x'"},
      {"shape 2 -4", "c.txt:1: expected a side of the shape, found '-4'"},
      {"shape 2 4 6", "c.txt:1: expected 'couplings' or 'fields', found '6'"},
      {"shape 2 4\ncouplings 1 1\n1 one",
       "c.txt:3: expected number 4 of the 16 couplings of sample 0, found 'one'"},
      {"shape 2 4\ncouplings 1 nan",
       "c.txt:2: number 2 of the 16 couplings of sample 0 is nan, beyond +-1e+06"},
      {"shape 2 4\ncouplings 1 1e7",
       "c.txt:2: number 2 of the 16 couplings of sample 0 is 1e7, beyond +-1e+06"},
      {"shape 2 4\ncouplings " ONES "\ncouplings 1",
       "c.txt:3: expected number 2 of the 16 couplings of sample 1, found the end of the file"},
      {"shape 2 4 couplings " ONES " 1", "c.txt:1: expected 'couplings' or 'fields', found '1'"},
      {"shape 2 4 couplings " ONES " shape 2 4",
       "c.txt:1: expected 'couplings' or 'fields', found 'shape'"},
      {"shape 2 4 fields 1", "c.txt:1: fields must follow the couplings of their sample"},
      {"shape 2 4 couplings " ONES " fields 1 1 1 1 1 1 1 1 couplings " ONES,
       "c.txt:1: sample 1 has no fields, but those before it have"},
      {"shape 2 4 couplings " ONES " couplings " ONES " fields 1 1 1 1 1 1 1 1",
       "c.txt:1: sample 1 has fields, but those before it have none"},
      {"shape 2 4 couplings " ONES " fields 1 1 1 1 1 1 1 1 fields 1",
       "c.txt:1: fields must follow the couplings of their sample"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const struct ising_settings settings = of_file("c.txt");
    struct gpumc_model model;
    struct gpumc_error error = {0};
    write_file("c.txt", cases[i].text, strlen(cases[i].text));
    assert_int_equal(ising_instance(&settings, &model, &error), GPUMC_INVALID);
    assert_string_equal(gpumc_error_text(&error), cases[i].message);
    gpumc_error_free(&error);
    ising_destroy(&model);
  }
}

static void test_file_errors(void **state)
{
  static const char text[] = "shape 2 4 couplings " ONES " fields 1 1 1 1 1 1 1 1";
  struct ising_settings settings[3] = {of_file("absent.txt"), of_file("c.txt"), of_file("c.txt")};
  static const char *const messages[] = {
      "cannot read absent.txt: No such file or directory",
      "c.txt holds samples 0 to 0, not sample 1",
      "c.txt holds random fields already: leave out random_field, or take the fields out of the "
      "file"};
  (void)state;
  settings[1].disorder.first_sample = 1;
  settings[2].disorder.fields = LATTICE_BIMODAL;
  settings[2].disorder.width = 1.0;
  write_file("c.txt", text, strlen(text));
  for (size_t i = 0; i < 3; i++) {
    struct gpumc_model model;
    struct gpumc_error error = {0};
    assert_int_equal(ising_instance(&settings[i], &model, &error), GPUMC_INVALID);
    assert_string_equal(gpumc_error_text(&error), messages[i]);
    gpumc_error_free(&error);
    ising_destroy(&model);
  }
}

static void assert_refused(const struct ising_settings *settings, const char *message)
{
  struct gpumc_model model;
  struct gpumc_error error = {0};
  assert_int_equal(ising_instance(settings, &model, &error), GPUMC_INVALID);
  if (strstr(gpumc_error_text(&error), message) == NULL)
    fail_msg("%s", gpumc_error_text(&error));
  gpumc_error_free(&error);
  ising_destroy(&model);
}

/* Values on both sides of the bounds for rounding to quanta (ising_instance.c). */
static void test_values_finer_than_the_quantum(void **state)
{
  static const char uneven[] = "shape 2 4 couplings 1e6 1e-6 1 1 1 1 1 1 1 1 1 1 1 1 1 1";
  static const char even[] = "shape 2 4 couplings 1e3 0 1 1 1 1 1 1 1 1 1 1 1 1 1 -0.001";
  struct ising_settings settings = square(8);
  struct gpumc_model model;
  (void)state;
  settings.disorder.fields = LATTICE_BIMODAL;
  settings.disorder.width = 1e-12;
  assert_refused(&settings, "random_field.width = 1e-12 would become 0: ");
  settings.disorder.fields = LATTICE_GAUSSIAN;
  assert_refused(
      &settings,
      "Gaussian random fields of standard deviation 1e-12 would be rounded too coarsely");
  settings.disorder.width = 1e5;
  settings.coupling = 1e-4;
  assert_refused(&settings, "J = 0.0001 would become ");
  settings.coupling = 1.0;
  settings.disorder.width = 1.0;
  settings.field = 1e-9;
  assert_refused(&settings, "h = 1e-09 would become 0: ");
  settings.field = 0.1;
  open_model(&settings, &model);
  ising_destroy(&model);
  settings = of_file("c.txt");
  write_file("c.txt", uneven, strlen(uneven));
  assert_refused(&settings, "c.txt: its values differ too much in size");
  write_file("c.txt", even, strlen(even));
  open_model(&settings, &model);
  ising_destroy(&model);
}

/* 2 x 9.35 J per site are at most 2^40 quanta: 2^-12 J at 2^23.8 sites. */
static void test_gaussian_couplings_of_large_lattices(void **state)
{
  struct ising_settings settings = square(2048);
  struct gpumc_model model;
  (void)state;
  settings.disorder.couplings = LATTICE_GAUSSIAN;
  open_model(&settings, &model);
  ising_destroy(&model);
  settings = square(8192);
  settings.disorder.couplings = LATTICE_GAUSSIAN;
  assert_refused(&settings,
                 "Gaussian couplings of standard deviation 1 would be rounded too coarsely");
}

static void test_more_samples_than_a_file_has(void **state)
{
  static const char text[] = "shape 2 4 couplings " ONES;
  const struct ising_settings settings = of_file("c.txt");
  struct gpumc_model model;
  struct gpumc_error error = {0};
  int32_t coupling[16];
  (void)state;
  write_file("c.txt", text, strlen(text));
  open_model(&settings, &model);
  assert_int_equal(ising_disorder_sample(&model, 1, coupling, NULL, &error), GPUMC_FAILURE);
  assert_string_equal(gpumc_error_text(&error),
                      "sample 1 after the first requested, but only 1 exist");
  gpumc_error_free(&error);
  ising_destroy(&model);
}

/* Writes a text file of `samples` square samples whose couplings are `size` except for their signs,
 * and `last`. */
static void write_signs(const char *path, size_t length, size_t samples, double size, double last)
{
  const size_t count = 2 * length * length;
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "shape %zu %zu\n", length, length);
  for (size_t sample = 0; sample < samples; sample++) {
    fprintf(file, "couplings");
    for (size_t i = 0; i < count; i++) {
      const bool is_last = sample + 1 == samples && i + 1 == count;
      fprintf(file, " %g", is_last ? last : (i * i + sample) % 3 == 0 ? -size : size);
    }
    fprintf(file, "\n");
  }
  assert_int_equal(fclose(file), 0);
}

/* 18 MB of numbers, more than are kept: numbers of one size are identified in one pass, and a
 * second pass finds the same result, bit for bit. */
static void test_numbers_of_one_size_are_read_once(void **state)
{
  enum { LENGTH = 256, SAMPLES = 12 };
  const size_t shape[] = {LENGTH, LENGTH};
  const double size = 0.7, quantum = 0x1p-20;
  struct lattice_samples_file file;
  struct gpumc_error error = {0};
  double square = 0;
  (void)state;
  for (int alike = 0; alike < 2; alike++) {
    write_signs("large.txt", LENGTH, SAMPLES, size, alike ? size : 0.5);
    assert_int_equal(lattice_samples_open("large.txt", 2, shape, 0, &file, &error), GPUMC_OK);
    assert_true(file.kept_samples < file.samples);
    assert_int_equal(remove("large.txt"), 0);
    assert_int_equal(lattice_samples_weigh(&file, quantum, &error),
                     alike ? GPUMC_OK : GPUMC_INVALID);
    gpumc_error_free(&error);
    const struct lattice_file_values *values = &file.values[LATTICE_FILE_COUPLINGS];
    for (size_t i = 0; alike && i < values->count; i++)
      square += size * size / (double)values->count;
    assert_true(!alike || values->square == square);
    assert_true(!alike || fabs(values->rounding * size -
                               fabs(rint(size / quantum) * quantum - size)) < 1e-20);
    lattice_samples_file_free(&file);
  }
}

static void test_refusals(void **state)
{
  static const struct {
    enum lattice_distribution couplings, fields;
    double field;
    bool refused;
  } cases[] = {
      {LATTICE_UNIFORM, LATTICE_UNIFORM, 0.5, false},
      {LATTICE_BIMODAL, LATTICE_UNIFORM, 0.5, false},
      {LATTICE_BIMODAL, LATTICE_BIMODAL, 0.0, false},
      {LATTICE_BIMODAL, LATTICE_BIMODAL, 0.5, true},
      {LATTICE_GAUSSIAN, LATTICE_UNIFORM, 0.0, true},
      {LATTICE_UNIFORM, LATTICE_GAUSSIAN, 0.0, true},
      {LATTICE_GAUSSIAN, LATTICE_GAUSSIAN, 0.5, true},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct ising_settings settings = square(4);
    struct gpumc_model model;
    settings.field = cases[i].field;
    settings.disorder.couplings = cases[i].couplings;
    settings.disorder.fields = cases[i].fields;
    settings.disorder.width = 1.0;
    open_model(&settings, &model);
    assert_int_equal(gpumc_kernel_refusal(&ising_multispin_cpu, &model) != NULL, cases[i].refused);
    assert_null(gpumc_kernel_refusal(&ising_spin_cpu, &model));
    ising_destroy(&model);
  }
}

int main(void)
{
#define IN_DIRECTORY(test)                                                                         \
  cmocka_unit_test_setup_teardown(test, work_directory_enter, work_directory_leave)
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sample_depends_on_seed_and_number_alone),
      cmocka_unit_test(test_known_sample),
      cmocka_unit_test(test_gaussian_values),
      cmocka_unit_test(test_signs),
      cmocka_unit_test(test_uniform_field_is_included),
      cmocka_unit_test(test_all_couplings_of_one_sign),
      IN_DIRECTORY(test_values_finer_than_the_quantum),
      cmocka_unit_test(test_gaussian_couplings_of_large_lattices),
      IN_DIRECTORY(test_text_file),
      IN_DIRECTORY(test_text_file_errors),
      IN_DIRECTORY(test_file_errors),
      IN_DIRECTORY(test_more_samples_than_a_file_has),
      cmocka_unit_test(test_numbers_of_one_size_are_read_once),
      cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
