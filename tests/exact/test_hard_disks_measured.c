/* Measurements of hard disks other than their pressure: bond order, histograms of distances and the
 * structure factor.
 *
 * Exactly: psi_6 of triangular lattices in two orientations, and their Bragg peaks; pairs in every
 * bin against all pairs of a small system, whatever the grid; the channel `contact` as the weighted
 * sum over its histogram; waves against plain sums of cosines and sines.
 *
 * In distribution, gates |z| < 4.5 in each of 7 comparisons, by the scatter of independent
 * replicas, a false alarm in 20000 seeds; seeds are fixed. By symmetry psi_6 of two disks in a
 * square box is 0 on average, and an oblong box must fail this test; g(r) of a dilute gas is
 * exp(-u) (1 + rho a(r)) with the common area a of two circles of radius 1, and must fail without
 * a; second-order terms are at most one error.
 *
 * CTest: release (cli_test_hard_disks_profiles, exact_test_disks_kernels) */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/disks_fixture.h"
#include "support/status.h"

static const double gate = 4.5;

/* A state in cells, with its measurements. */
struct look {
  struct gpumc_model model;
  struct hard_disks_layout layout;
  struct hard_disks_replica replica;
  struct hard_disks_head head;
  int64_t *channel[HARD_DISKS_CHANNELS];
};

static void open_look(const struct hard_disks_settings *settings, struct look *look)
{
  struct gpumc_error error = {0};
  memset(look, 0, sizeof *look);
  assert_ok(hard_disks_instance(settings, &look->model, &error), &error);
  look->layout = hard_disks_plain_layout(&hard_disks_parameters(&look->model)->box);
  look->replica.grid = &hard_disks_parameters(&look->model)->box;
  look->replica.layout = &look->layout;
  look->replica.x = calloc(look->layout.count, sizeof(float));
  look->replica.y = calloc(look->layout.count, sizeof(float));
  look->replica.head = &look->head;
  for (size_t c = 0; c < HARD_DISKS_CHANNELS; c++) {
    const size_t width = c < HARD_DISKS_NUMBERS ? 1 : look->model.profile[c].width;
    look->channel[c] = calloc(width, sizeof(int64_t));
    assert_non_null(look->channel[c]);
  }
}

static void close_look(struct look *look)
{
  for (size_t c = 0; c < HARD_DISKS_CHANNELS; c++)
    free(look->channel[c]);
  free(look->replica.x);
  free(look->replica.y);
  look->model.ops->destroy(&look->model);
}

static void put(struct look *look, const uint8_t *portable)
{
  struct gpumc_error error = {0};
  assert_ok(
      hard_disks_set(&hard_disks_parameters(&look->model)->fixed, portable, &look->replica, &error),
      &error);
}

static void measure(struct look *look, const uint8_t *portable)
{
  struct gpumc_error error = {0};
  put(look, portable);
  assert_ok(hard_disks_measure(&look->model, &look->replica, look->channel, 0, &error), &error);
}

static void measure_pair_correlation(struct look *look, const uint8_t *portable)
{
  struct gpumc_error error = {0};
  int64_t *channel[HARD_DISKS_CHANNELS] = {NULL};
  channel[HARD_DISKS_PAIR_CORRELATION] = look->channel[HARD_DISKS_PAIR_CORRELATION];
  put(look, portable);
  assert_ok(hard_disks_measure_profiles(&look->model, &look->replica, channel, 0, &error), &error);
}

/* Returns a number, per disk. */
static double value(const struct look *look, size_t channel)
{
  return (double)look->channel[channel][0] * look->model.quantum[channel] /
         (double)look->model.sites;
}

static double number_of(const struct look *look, size_t channel, size_t i)
{
  return (double)look->channel[channel][i] * look->model.profile[channel].unit[i];
}

/* Returns the portable form of the start; the caller frees it. */
static double *start_of(const struct look *look)
{
  struct gpumc_error error = {0};
  double *portable = calloc(1, look->model.portable_bytes);
  assert_non_null(portable);
  assert_ok(hard_disks_start_state(&look->model, &(struct gpumc_ensemble_plan){.runs = 1},
                                   gpumc_random_make(3, 0, 10), 0, 1, (uint8_t *)portable, &error),
            &error);
  return portable;
}

/* ---- lattices ---- */

enum { COLUMNS = 12, ROWS = 14, LATTICE_SITES = COLUMNS * ROWS };

static void expect_lattice(const struct look *look, double orientation)
{
  const double found[] = {value(look, HARD_DISKS_PSI6_REAL),   value(look, HARD_DISKS_PSI6_IMAG),
                          value(look, HARD_DISKS_PSI6),        value(look, HARD_DISKS_PSI6_LOCAL),
                          value(look, HARD_DISKS_PSI6_WAVE_X), value(look, HARD_DISKS_PSI6_WAVE_Y)},
               expected[] = {orientation, 0.0, 1.0, 1.0, 0.0, 0.0};
  for (size_t i = 0; i < sizeof found / sizeof *found; i++)
    if (!(fabs(found[i] - expected[i]) < 1e-5))
      fail_msg("number %zu of a lattice is %.9g, should be %g", i, found[i], expected[i]);
  const double peaks[] = {LATTICE_SITES, LATTICE_SITES, 0.0, 0.0};
  for (size_t i = 0; i < look->model.profile[HARD_DISKS_STRUCTURE_FACTOR].width; i++) {
    const double peak = number_of(look, HARD_DISKS_STRUCTURE_FACTOR, i);
    if (!(fabs(peak - peaks[i]) < 1e-5 * LATTICE_SITES))
      fail_msg("S(k) of a lattice at vector %zu is %.9g, should be %g", i, peak, peaks[i]);
  }
  size_t pairs = 0;
  for (size_t i = 0; i < look->model.profile[HARD_DISKS_PAIR_CORRELATION].width; i++) {
    const double pair = number_of(look, HARD_DISKS_PAIR_CORRELATION, i),
                 bond = number_of(look, HARD_DISKS_BOND_CORRELATION, i);
    if (!(fabs(bond - pair) <= 1e-5 * pair))
      fail_msg("g_6 of a lattice in bin %zu is %.9g / %.9g", i, bond, pair);
    pairs += (size_t)look->channel[HARD_DISKS_PAIR_CORRELATION][i];
  }
  assert_true(pairs >= 9 * LATTICE_SITES); /* 18 neighbours within 2 spacings */
}

static void a_lattice_has_its_order(void **state)
{
  (void)state;
  /* k along the rows' columns, across the rows; two that do not belong to the lattice. */
  static const int32_t along[] = {COLUMNS, ROWS / 2, 0, ROWS, 1, 0, COLUMNS, 1},
                       turned[] = {ROWS / 2, COLUMNS, -ROWS, 0, 0, 1, 1, -COLUMNS};
  struct look look, other;
  open_look(&(struct hard_disks_settings){.lattice = {COLUMNS, ROWS},
                                          .packing_fraction = 0.75,
                                          .start = HARD_DISKS_LATTICE,
                                          .n_waves = 4,
                                          .wave = along},
            &look);
  double *portable = start_of(&look);
  measure(&look, (uint8_t *)portable);
  expect_lattice(&look, 1.0);

  const double *length = hard_disks_parameters(&look.model)->length;
  open_look(&(struct hard_disks_settings){.particles = LATTICE_SITES,
                                          .length = {length[1], length[0]},
                                          .n_waves = 4,
                                          .wave = turned},
            &other);
  for (size_t i = 0; i < HARD_DISKS_PORTABLE_HEAD + 2 * LATTICE_SITES; i += 2) {
    const double x = portable[i];
    portable[i] = portable[i + 1];
    portable[i + 1] = x;
  }
  measure(&other, (uint8_t *)portable);
  expect_lattice(&other, -1.0);
  free(portable);
  close_look(&look);
  close_look(&other);
}

/* ---- one state against plain sums ---- */

enum { FEW = 150 };

static double apart(double a, double b, double length)
{
  return remainder(a - b, length);
}

static void expect_pairs(const struct look *look, const double *portable)
{
  const double *length = hard_disks_parameters(&look->model)->length,
               *place = portable + HARD_DISKS_PORTABLE_HEAD;
  const size_t bins = look->model.profile[HARD_DISKS_PAIR_CORRELATION].width;
  int64_t *found = calloc(bins, sizeof *found), contact[HARD_DISKS_BINS] = {0}, weighted = 0;
  assert_non_null(found);
  assert_true(1.0 + (double)bins / 100.0 <= 0.5 * fmin(length[0], length[1]));
  for (size_t i = 0; i < FEW; i++)
    for (size_t j = 0; j < i; j++) {
      const double dx = apart(place[2 * i], place[2 * j], length[0]),
                   dy = apart(place[2 * i + 1], place[2 * j + 1], length[1]),
                   r = sqrt(dx * dx + dy * dy);
      const double bin = (r - 1.0) * 100.0, fine = (r - HARD_DISKS_CONTACT_DISTANCE) * 1e4;
      if (bin < (double)bins)
        found[(size_t)bin]++;
      if (fine < HARD_DISKS_BINS)
        contact[fine > 0.0 ? (size_t)fine : 0]++;
    }
  assert_memory_equal(found, look->channel[HARD_DISKS_PAIR_CORRELATION], bins * sizeof *found);
  assert_memory_equal(contact, look->channel[HARD_DISKS_CONTACT_HISTOGRAM], sizeof contact);
  for (size_t i = 0; i < HARD_DISKS_BINS; i++)
    weighted += contact[i] * hard_disks_parameters(&look->model)->contact_weight[0][i];
  assert_int_equal(weighted, look->channel[HARD_DISKS_CONTACT][0]);
  free(found);
}

static void expect_waves(const struct look *look, const double *portable)
{
  const struct hard_disks_parameters *parameters = hard_disks_parameters(&look->model);
  const double *place = portable + HARD_DISKS_PORTABLE_HEAD;
  for (size_t k = 0; k < parameters->n_waves; k++) {
    double sum[2] = {0.0};
    for (size_t i = 0; i < FEW; i++) {
      const double phase = 2.0 * M_PI *
                           (parameters->wave[2 * k] * place[2 * i] / parameters->length[0] +
                            parameters->wave[2 * k + 1] * place[2 * i + 1] / parameters->length[1]);
      sum[0] += cos(phase);
      sum[1] += sin(phase);
    }
    const double expected = (sum[0] * sum[0] + sum[1] * sum[1]) / FEW,
                 found = number_of(look, HARD_DISKS_STRUCTURE_FACTOR, k);
    if (!(fabs(found - expected) < 1e-6))
      fail_msg("S(k) of vector %zu is %.12g, should be %.12g", k, found, expected);
  }
}

/* psi_6 of each disk, by hard_disks_find_order(), which is tested on lattices. */
static void expect_order_waves(const struct look *look)
{
  const struct hard_disks_parameters *parameters = hard_disks_parameters(&look->model);
  const struct hard_disks_box *box = &parameters->box;
  double sum[2][2] = {{0.0}};
  for (size_t b = 0; b < box->cells_y; b++)
    for (size_t a = 0; a < box->cells_x; a++)
      for (size_t s = 0; s < HARD_DISKS_SLOTS; s++) {
        const size_t place = hard_disks_place(&look->layout, s, a, b);
        int64_t psi6[2];
        if (look->replica.x[place] < 0.0f)
          break;
        hard_disks_find_order(parameters, &look->replica, a, b, place, psi6);
        const double at[2] = {(double)a * (double)box->width_x + (double)look->replica.x[place],
                              (double)b * (double)box->width_y + (double)look->replica.y[place]};
        for (size_t d = 0; d < 2; d++) {
          const double phase = 2.0 * M_PI * at[d] / parameters->length[d];
          const double real = ldexp((double)psi6[0], -30), imaginary = ldexp((double)psi6[1], -30);
          sum[d][0] += real * cos(phase) - imaginary * sin(phase);
          sum[d][1] += real * sin(phase) + imaginary * cos(phase);
        }
      }
  for (size_t d = 0; d < 2; d++) {
    const double expected = (sum[d][0] * sum[d][0] + sum[d][1] * sum[d][1]) / FEW / FEW,
                 found = value(look, HARD_DISKS_PSI6_WAVE_X + d);
    if (!(fabs(found - expected) < 1e-7))
      fail_msg("psi_6 at the smallest k along axis %zu is %.12g, should be %.12g", d, found,
               expected);
  }
}

static void one_state_agrees_with_plain_sums(void **state)
{
  (void)state;
  static const int32_t wave[] = {1, 0, 0, 1, -3, 2, 17, 5, 0, -40, 300, 0};
  struct look look;
  open_look(&(struct hard_disks_settings){.particles = FEW,
                                          .packing_fraction = 0.68,
                                          .aspect = 1.2,
                                          .start = HARD_DISKS_COMPRESSED,
                                          .n_waves = 6,
                                          .wave = wave},
            &look);
  double *portable = start_of(&look);
  /* The same on another grid. */
  for (int k = 0; k < 2; k++) {
    portable[2] = k == 0 ? 0.0 : 0.3125;
    portable[3] = k == 0 ? 0.0 : 4.75;
    measure(&look, (uint8_t *)portable);
    assert_true(look.channel[HARD_DISKS_CONTACT][0] != 0);
    expect_pairs(&look, portable);
    expect_waves(&look, portable);
    expect_order_waves(&look);
  }
  free(portable);
  close_look(&look);
}

static const struct gpumc_quantity *quantity_of(const char *name)
{
  for (size_t q = 0; q < HARD_DISKS_QUANTITIES; q++)
    if (hard_disks_quantities[q].label.name != NULL &&
        strcmp(hard_disks_quantities[q].label.name, name) == 0)
      return &hard_disks_quantities[q];
  fail_msg("no quantity %s", name);
  return NULL;
}

/* For a form chi / (1 + xi^2 k^2) it returns xi. At xi = 0 its rounding has no bound, and if chi(k)
 * is above chi(0) there is none. */
static void the_correlation_length_is_that_of_its_form(void **state)
{
  (void)state;
  const struct gpumc_quantity *length = quantity_of("psi6_correlation_length");
  const double chi = 0.02, xi = 3.25;
  struct look look;
  open_look(&(struct hard_disks_settings){.particles = FEW,
                                          .packing_fraction = 0.68,
                                          .aspect = 1.2,
                                          .start = HARD_DISKS_COMPRESSED},
            &look);
  double mean[4] = {chi, chi, chi, (double)NAN};
  assert_true(length->value(&look.model, NULL, mean) == 0.0);
  assert_true(isinf(length->scale(&look.model, NULL, mean)));
  for (size_t d = 0; d < 2; d++) {
    const double k = 2.0 * M_PI / hard_disks_parameters(&look.model)->length[d];
    mean[1 + d] = chi / (1.0 + xi * xi * k * k);
  }
  const double found = length->value(&look.model, NULL, mean);
  const double scale = length->scale(&look.model, NULL, mean);
  if (!(fabs(found - xi) < 1e-13 * scale && scale < 10.0 * xi))
    fail_msg("xi is %.17g on a scale of %g, should be %g", found, scale, xi);
  /* At constant pressure wave numbers are those of the mean area of a disk. */
  mean[3] = 4.0 / hard_disks_parameters(&look.model)->density;
  assert_true(fabs(length->value(&look.model, NULL, mean) - 2.0 * found) < 1e-12 * scale);
  mean[1] = mean[2] = 1.01 * chi;
  assert_true(isnan(length->value(&look.model, NULL, mean)));
  close_look(&look);
}

/* Cells are hardly wider than 1, so that disks two cells apart can be in a bin of the pressure. */
static void pairs_two_cells_apart_count(void **state)
{
  (void)state;
  enum { CELLS = 8, PLACES = HARD_DISKS_PORTABLE_HEAD + 4 };
  struct look look;
  open_look(&(struct hard_disks_settings){.particles = 2,
                                          .length = {8.01, 8.01},
                                          .start = HARD_DISKS_COMPRESSED},
            &look);
  const struct hard_disks_parameters *parameters = hard_disks_parameters(&look.model);
  const double width = (double)parameters->box.width_x;
  assert_int_equal(parameters->box.cells_x, CELLS);
  for (int k = 0; k < 2 * CELLS; k++) {
    const int axis = k % 2, cell = k / 2;
    double portable[PLACES] = {parameters->length[0], parameters->length[1]};
    double *one = portable + HARD_DISKS_PORTABLE_HEAD, *other = one + 2;
    int64_t pairs = 0, weighted = 0;
    one[axis] = cell * width + 0.9921875;
    other[axis] = (cell + 2) % CELLS * width + 0.00390625;
    one[!axis] = other[!axis] = 4.0 * width + 0.5;
    measure(&look, (const uint8_t *)portable);
    for (size_t i = 0; i < HARD_DISKS_BINS; i++) {
      pairs += look.channel[HARD_DISKS_CONTACT_HISTOGRAM][i];
      weighted += look.channel[HARD_DISKS_CONTACT_HISTOGRAM][i] * parameters->contact_weight[0][i];
    }
    assert_int_equal(pairs, 1);
    assert_int_equal(weighted, look.channel[HARD_DISKS_CONTACT][0]);
    assert_true(look.channel[HARD_DISKS_SCALING][0] != 0);
  }
  close_look(&look);
}

/* ---- averages ---- */

/* Returns the mean of a number over independent replicas, in standard errors. */
static double deviation(const double *of_replica, size_t replicas, double expected)
{
  double mean = 0.0, square = 0.0;
  for (size_t r = 0; r < replicas; r++)
    mean += of_replica[r] / (double)replicas;
  for (size_t r = 0; r < replicas; r++)
    square += (of_replica[r] - mean) * (of_replica[r] - mean);
  return (mean - expected) / sqrt(square / (double)(replicas * (replicas - 1)));
}

static struct test_setting all_threads(void)
{
  struct test_setting setting = test_setting();
  setting.threads = test_device_is_cpu() ? 2 : setting.threads;
  return setting;
}

/* Computes deviations of the real and the imaginary part of psi_6 of two disks from 0. */
static void order_of_two(double fraction, double aspect, double deviations[2])
{
  enum { REPLICAS = 4000, SAMPLES = 4 };
  static double part[2][REPLICAS];
  struct disks disks;
  memset(part, 0, sizeof part);
  disks_open(&(struct disks_job){.settings = {.particles = 2,
                                              .packing_fraction = fraction,
                                              .aspect = aspect,
                                              .start = HARD_DISKS_COMPRESSED},
                                 .variant = "checkerboard",
                                 .move_size = 0.4,
                                 .replicas = REPLICAS,
                                 .seed = 20130807},
             all_threads(), &disks);
  for (size_t s = 0; s < SAMPLES; s++) {
    disks_sweep(&disks, 60);
    disks_measure(&disks);
    for (size_t r = 0; r < REPLICAS; r++)
      for (size_t i = 0; i < 2; i++)
        part[i][r] += disks_value(&disks, HARD_DISKS_PSI6_REAL + i, r);
  }
  for (size_t i = 0; i < 2; i++)
    deviations[i] = deviation(part[i], REPLICAS, 0.0);
  disks_close(&disks);
}

static void two_disks_have_no_order_on_average(void **state)
{
  (void)state;
  double square[2], oblong[2];
  order_of_two(0.3, 1.0, square);
  order_of_two(0.12, 0.5, oblong);
  if (!(fabs(square[0]) < gate && fabs(square[1]) < gate))
    fail_msg("psi_6 in a square is off by %.1f and %.1f errors", square[0], square[1]);
  if (!(fabs(oblong[0]) > gate && fabs(oblong[1]) < gate))
    fail_msg("psi_6 in an oblong is off by %.1f and %.1f errors", oblong[0], oblong[1]);
}

enum { RANGES = 4, GASES = 64 };
static const double range[RANGES + 1] = {1.0, 1.6, 2.0, 4.0, 9.0};

/* Returns the common area of circles of radius 1 at a distance. */
static double common_area(double r)
{
  return r < 2.0 ? 2.0 * acos(0.5 * r) - 0.5 * r * sqrt(4.0 - r * r) : 0.0;
}

/* of_gas[k][r]: g(r) averaged over range k of distances, by areas; expected[order][k], to first
 * order in the density or without it. */
static void sample_gas(double of_gas[RANGES][GASES], double expected[2][RANGES])
{
  enum { SAMPLES = 20 };
  const struct hard_disks_settings settings = {
      .particles = 600, .packing_fraction = 0.04, .aspect = 1.0, .start = HARD_DISKS_COMPRESSED};
  struct disks disks;
  struct look look;
  double area[RANGES] = {0.0};
  disks_open(&(struct disks_job){.settings = settings,
                                 .variant = "checkerboard",
                                 .move_size = 0.45,
                                 .replicas = GASES,
                                 .seed = 20130808},
             all_threads(), &disks);
  open_look(&settings, &look);
  const double density = hard_disks_parameters(&look.model)->density;
  const struct gpumc_profile *profile = &look.model.profile[HARD_DISKS_PAIR_CORRELATION];
  disks_sweep(&disks, 100);
  for (int s = 0; s < SAMPLES; s++) {
    disks_sweep(&disks, 10);
    uint8_t *replicas = disks_replicas(&disks);
    for (size_t r = 0; r < GASES; r++) {
      measure_pair_correlation(&look, replicas + r * look.model.portable_bytes);
      for (size_t i = 0, k = 0; i < profile->width && profile->at[i] < range[RANGES]; i++) {
        k += profile->at[i] > range[k + 1];
        of_gas[k][r] += profile->at[i] * number_of(&look, HARD_DISKS_PAIR_CORRELATION, i) / SAMPLES;
      }
    }
    free(replicas);
  }
  for (size_t i = 0, k = 0; i < profile->width && profile->at[i] < range[RANGES]; i++) {
    k += profile->at[i] > range[k + 1];
    area[k] += profile->at[i];
    for (size_t order = 0; order < 2; order++)
      expected[order][k] += profile->at[i] * (1.0 - 1.0 / (double)settings.particles) *
                            (1.0 + (double)order * density * common_area(profile->at[i]));
  }
  for (size_t k = 0; k < RANGES; k++) {
    for (size_t r = 0; r < GASES; r++)
      of_gas[k][r] /= area[k];
    for (size_t order = 0; order < 2; order++)
      expected[order][k] /= area[k];
  }
  close_look(&look);
  disks_close(&disks);
}

static void a_dilute_gas_has_its_pair_correlation(void **state)
{
  (void)state;
  static double of_gas[RANGES][GASES];
  double expected[2][RANGES] = {{0.0}};
  sample_gas(of_gas, expected);
  for (size_t k = 0; k < RANGES; k++) {
    const double off = deviation(of_gas[k], GASES, expected[1][k]);
    if (!(fabs(off) < gate))
      fail_msg("g(r) from r = %g to %g is off by %.1f errors", range[k], range[k + 1], off);
  }
  const double ideal = deviation(of_gas[0], GASES, expected[0][0]);
  if (!(fabs(ideal) > gate))
    fail_msg("g(r) from r = %g to %g is only %.1f errors from that of points", range[0], range[1],
             ideal);
}

int main(void)
{
  test_device_require();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_lattice_has_its_order),
      cmocka_unit_test(one_state_agrees_with_plain_sums),
      cmocka_unit_test(the_correlation_length_is_that_of_its_form),
      cmocka_unit_test(pairs_two_cells_apart_count),
      cmocka_unit_test(two_disks_have_no_order_on_average),
      cmocka_unit_test(a_dilute_gas_has_its_pair_correlation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
