/* Hard disks at constant pressure: moves of the volume sample exp(-beta P V) Z_N(V) dV in the range
 * of the grid.
 *
 * Two disks in a square box: Z_2 = V (V - pi) is known, and so is the distribution of V. These must
 * be rejected: the distributions of samplers that count V^N twice for one disk (ln V in place of
 * V), forget |dV / dW|, or do not check for overlaps. 64 disks: the mean of the pressure over the
 * boxes, rho (1 + pi c), is the imposed pressure, for any N; `checkerboard` against `serial` in the
 * distribution of V. The kernel gives the bits of plain loops at every level of the instruction
 * set, for any number of threads. After many moves no disks overlap, none is lost, and no box is
 * beyond the range.
 *
 * Gates: chi-square and t with a probability of 1e-5 in each of 8 comparisons; seeds are fixed.
 *
 * CTest: validate (exact_test_hard_disks_pressure, resume_test_resume_hard_disks) */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/statistics/significance.h"
#include "support/disks_fixture.h"
#include "support/status.h"

static const double gate = 1e-5;

static struct test_setting all_threads(void)
{
  struct test_setting setting = test_setting();
  setting.threads = test_device_is_cpu() ? 2 : setting.threads;
  return setting;
}

/* Returns the probability of a chi-square at least this large. */
static double chi_square_tail(double chi_square, double freedom)
{
  return gpumc_fisher_tail(chi_square / freedom, freedom, 1e9);
}

/* ---- two disks ---- */

enum { BINS = 40, FINE = 500 };

/* Z_2 of boxes, per |dV|: right, and for wrong samplers. */
typedef double (*weight_of)(double volume);
static double right(double volume)
{
  return volume * (volume - M_PI);
}
static double of_log_volume(double volume)
{
  return right(volume) * volume;
}
static double without_jacobian(double volume)
{
  return right(volume) / sqrt(volume);
}
static double with_overlaps(double volume)
{
  return volume * volume;
}

struct two {
  double least, most, pressure; /* of V; beta P */
  double count[BINS], samples;
};

/* Returns the probability of these counts in equal bins of the range. */
static double probability(const struct two *two, weight_of weight)
{
  const double step = (two->most - two->least) / (BINS * FINE);
  double expected[BINS] = {0}, all = 0.0, chi_square = 0.0;
  for (size_t i = 0; i < (size_t)BINS * FINE; i++) {
    const double volume = two->least + ((double)i + 0.5) * step;
    const double share = weight(volume) * exp(-two->pressure * (volume - two->least));
    expected[i / FINE] += share;
    all += share;
  }
  for (size_t i = 0; i < BINS; i++) {
    const double mean = two->samples * expected[i] / all;
    chi_square += (two->count[i] - mean) * (two->count[i] - mean) / mean;
  }
  return chi_square_tail(chi_square, BINS - 1);
}

/* Finds the volumes of the grid. */
static void find_range(const struct hard_disks_grid *grid, double range[2])
{
  const uint32_t width[2] = {grid->least, grid->most};
  for (size_t i = 0; i < 2; i++)
    range[i] = hard_disks_volume_with(
        &grid->box, (const float[2]){hard_disks_width(width[i]),
                                     hard_disks_width(hard_disks_height(&grid->box, width[i]))});
}

static void sample_two(const char *variant, struct two *two)
{
  enum { REPLICAS = 4000, SAMPLES = 25 };
  struct disks disks;
  double range[2];
  disks_open(&(struct disks_job){.settings = {.particles = 2,
                                              .packing_fraction = 0.28,
                                              .aspect = 1.0,
                                              .start = HARD_DISKS_LATTICE},
                                 .variant = variant,
                                 .move_size = 0.4,
                                 .beta_pressure = 0.8,
                                 .replicas = REPLICAS,
                                 .seed = 20130806},
             all_threads(), &disks);
  find_range(&hard_disks_parameters(&disks.model)->open, range);
  *two = (struct two){
      .least = range[0], .most = range[1], .pressure = 0.8, .samples = (double)REPLICAS * SAMPLES};
  disks_sweep(&disks, 100);
  for (int s = 0; s < SAMPLES; s++) {
    disks_sweep(&disks, 60);
    disks_measure_pressure(&disks);
    for (size_t r = 0; r < REPLICAS; r++) {
      const double volume = 2.0 * disks_value(&disks, HARD_DISKS_VOLUME, r);
      const double bin = (volume - two->least) / (two->most - two->least) * BINS;
      two->count[(size_t)fmin(fmax(bin, 0.0), BINS - 1)]++;
    }
  }
  disks_close(&disks);
}

static void expect_two_disks(const char *variant)
{
  static const weight_of wrong[] = {of_log_volume, without_jacobian, with_overlaps};
  struct two two;
  sample_two(variant, &two);
  const double found = probability(&two, right);
  if (!(found > gate))
    fail_msg("%s: the volumes have a probability of %.2g", variant, found);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    const double of_wrong = probability(&two, wrong[i]);
    if (!(of_wrong < gate))
      fail_msg("%s: wrong sampler %zu has a probability of %.2g", variant, i, of_wrong);
  }
}

static void two_disks_have_the_volumes_of_their_weight(void **state)
{
  (void)state;
  if (test_device_is_cpu())
    expect_two_disks("serial");
  expect_two_disks("checkerboard");
}

/* ---- 64 disks ---- */

enum { COPIES = 256, SAMPLES = 16, SHARES = 8 };

struct fluid {
  double volume[COPIES * SAMPLES];
  double pressure[COPIES]; /* of each replica, the mean of its samples */
  double accepted, beyond; /* shares of the last moves */
};

static void sample_fluid(const char *variant, double beta_pressure, struct fluid *fluid)
{
  struct disks disks;
  double range[2];
  disks_open(&(struct disks_job){.settings = {.particles = 64,
                                              .packing_fraction = 0.6,
                                              .aspect = 1.0,
                                              .start = HARD_DISKS_LATTICE},
                                 .variant = variant,
                                 .move_size = 0.2,
                                 .beta_pressure = beta_pressure,
                                 .replicas = COPIES,
                                 .seed = 20130807},
             all_threads(), &disks);
  /* The volume, which moves in steps of up to 2 / (beta P), has correlation times of 200 to 300
   * moves: those before the first sample are ten of them. */
  const uint32_t sweeps = 100, moves_before = 3000;
  memset(fluid, 0, sizeof *fluid);
  find_range(&hard_disks_parameters(&disks.model)->open, range);
  disks_sweep(&disks, moves_before);
  for (size_t s = 0; s < SAMPLES; s++) {
    disks_sweep(&disks, sweeps);
    disks_measure_pressure(&disks);
    for (size_t r = 0; r < COPIES; r++) {
      const double volume = disks_value(&disks, HARD_DISKS_VOLUME, r);
      fluid->volume[s * COPIES + r] = volume;
      fluid->pressure[r] +=
          (1.0 + M_PI * disks_value(&disks, HARD_DISKS_CONTACT, r)) / volume / SAMPLES;
      const double moved = disks_value(&disks, HARD_DISKS_VOLUME_MOVED, r);
      fluid->accepted += (moved > 0.0) / (double)(COPIES * SAMPLES);
      fluid->beyond += (moved < 0.0) / (double)(COPIES * SAMPLES);
      if (!(64.0 * volume >= range[0] && 64.0 * volume <= range[1]))
        fail_msg("%s: a volume of %.9g", variant, 64.0 * volume);
    }
  }
  disks_expect_sound(&disks, variant);
  disks_close(&disks);
}

/* Finds the share of each replica's samples that is below a volume. */
static void find_shares(const struct fluid *fluid, double below, double *mean, double *error2)
{
  double sum = 0.0, square = 0.0;
  for (size_t r = 0; r < COPIES; r++) {
    double share = 0.0;
    for (size_t s = 0; s < SAMPLES; s++)
      share += (fluid->volume[s * COPIES + r] < below) / (double)SAMPLES;
    sum += share;
    square += share * share;
  }
  *mean = sum / COPIES;
  *error2 = (square / COPIES - *mean * *mean) / (COPIES - 1);
}

/* Returns the probability that two samples have the same distribution, by their shares below the
 * octiles of the first. Samples of a replica depend on each other; replicas do not. */
static double same_distribution(const struct fluid *one, const struct fluid *other)
{
  static double sorted[COPIES * SAMPLES];
  double least = 1.0;
  memcpy(sorted, one->volume, sizeof sorted);
  qsort(sorted, COPIES * SAMPLES, sizeof *sorted, disks_ascending);
  for (size_t k = 1; k < SHARES; k++) {
    double mean[2], error2[2];
    find_shares(one, sorted[k * COPIES * SAMPLES / SHARES], &mean[0], &error2[0]);
    find_shares(other, sorted[k * COPIES * SAMPLES / SHARES], &mean[1], &error2[1]);
    const double off = fabs(mean[0] - mean[1]) / sqrt(error2[0] + error2[1]);
    least = fmin(least, 2.0 * gpumc_student_tail(off, 2 * (COPIES - 1)) * (SHARES - 1));
  }
  return least;
}

/* Returns the pressure of the boxes, in standard errors from `expected`. */
static double pressure_off(const struct fluid *fluid, double expected)
{
  double mean = 0.0, square = 0.0;
  for (size_t r = 0; r < COPIES; r++)
    mean += fluid->pressure[r] / COPIES;
  for (size_t r = 0; r < COPIES; r++)
    square += (fluid->pressure[r] - mean) * (fluid->pressure[r] - mean);
  return (mean - expected) / sqrt(square / COPIES / (COPIES - 1));
}

static void boxes_have_the_pressure_that_is_imposed(void **state)
{
  (void)state;
  static struct fluid serial, checkerboard;
  static const double pressures[] = {3.0, 6.0};
  for (size_t p = 0; p < sizeof pressures / sizeof *pressures; p++) {
    sample_fluid("serial", pressures[p], &serial);
    sample_fluid("checkerboard", pressures[p], &checkerboard);
    const double off[2] = {pressure_off(&serial, pressures[p]),
                           pressure_off(&checkerboard, pressures[p])};
    print_message("beta P = %g: off by %.2f and %.2f errors, accepted %.3f and %.3f, beyond %.4f\n",
                  pressures[p], off[0], off[1], serial.accepted, checkerboard.accepted,
                  checkerboard.beyond);
    for (size_t i = 0; i < 2; i++)
      if (!(gpumc_student_tail(fabs(off[i]), COPIES - 1) > 0.5 * gate))
        fail_msg("beta P = %g, %s: the pressure is off by %.1f errors", pressures[p],
                 i == 0 ? "serial" : "checkerboard", off[i]);
    const double same = same_distribution(&serial, &checkerboard);
    if (!(same > gate))
      fail_msg("beta P = %g: volumes have a probability of %.2g", pressures[p], same);
    assert_true(checkerboard.accepted > 0.3 && checkerboard.accepted < 0.7);
    assert_true(checkerboard.beyond < 0.01);
  }
}

/* ---- bits ---- */

enum { RUNS = 2, REPLICAS = 3 };

static const struct {
  size_t particles;
  double fraction, aspect, beta_pressure;
  struct hard_disks_options options;
  struct hard_disks_volume_options volume;
} cases[] = {
    {1, 0.15, 1.0, 0.3, {4, true, true, true}, {2.0, 1}},
    {2, 0.28, 1.0, 1.0, {4, true, true, true}, {5.0, 1}},
    {5, 0.5, 1.0, 3.0, {7, true, true, true}, {2.0, 2}},
    {40, 0.5, 0.3, 4.0, {3, true, true, true}, {2.0, 3}},
    {64, 0.69, 1.0, 9.0, {1, true, true, true}, {1.0, 1}},
    {300, 0.7, 0.4, 9.0, {4, true, true, true}, {2.0, 1}},
    {500, 0.6, 4.0, 5.0, {5, true, true, true}, {0.05, 1}},
    {6000, 0.5, 1.0, 3.0, {2, false, true, true}, {1.0, 1}}, /* threads share a replica */
    {300, 0.6, 1.0, 5.0, {4, true, true, false}, {2.0, 1}},
};
enum { CASES = sizeof cases / sizeof *cases };

static void open_case(size_t i, struct test_setting setting, struct disks *disks)
{
  disks_open(
      &(struct disks_job){.settings = {.particles = cases[i].particles,
                                       .packing_fraction = cases[i].fraction,
                                       .aspect = cases[i].aspect,
                                       .start = cases[i].particles == 5 ? HARD_DISKS_COMPRESSED
                                                                        : HARD_DISKS_LATTICE},
                          .variant = "checkerboard",
                          .options = cases[i].options,
                          .beta_pressure = cases[i].beta_pressure,
                          .volume = cases[i].volume,
                          .runs = RUNS,
                          .replicas = REPLICAS,
                          .seed = 43},
      setting, disks);
}

/* Sweeps replicas in portable form by plain loops; adds volume moves that were accepted. */
static void sweep_plainly(size_t i, const struct disks *disks, uint32_t time, uint32_t sweeps,
                          uint8_t *replicas, size_t *accepted)
{
  struct gpumc_error error = {0};
  const struct hard_disks_grid *grid = &hard_disks_parameters(&disks->model)->open;
  const struct hard_disks_layout layout = hard_disks_plain_layout(&grid->box);
  const struct gpumc_target target = {.kind = GPUMC_BOLTZMANN, .control = disks->beta_pressure};
  float *x = malloc(4 * layout.count * sizeof *x);
  struct hard_disks_head head;
  struct hard_disks_volume_rule rule[RUNS];
  assert_non_null(x);
  assert_ok(hard_disks_find_rules(&disks->ensemble, &target, rule, &error), &error);
  const struct hard_disks_replica replica = {&grid->box, &layout, x, x + layout.count, &head};
  for (size_t r = 0; r < disks->count; r++) {
    uint8_t *portable = replicas + r * disks->model.portable_bytes;
    const struct gpumc_random random = gpumc_ensemble_random(&disks->ensemble, r / REPLICAS);
    assert_ok(hard_disks_set(grid, portable, &replica, &error), &error);
    for (uint32_t t = 0; t < sweeps; t++) {
      const struct hard_disks_box box = hard_disks_box_of(&replica);
      const struct checkerboard_sweeps job = {.box = &box,
                                              .options = cases[i].options,
                                              .scale = hard_disks_scale(0.16),
                                              .random = random,
                                              .replica = (uint32_t)(r % REPLICAS),
                                              .time = time + t,
                                              .sweeps = 1};
      struct checkerboard_counts counts = {0};
      assert_true(checkerboard_plain(&job, &replica, x + 2 * layout.count, &counts));
      if (!hard_disks_moves_volume(&disks->ensemble.plan, time + t))
        continue;
      checkerboard_plain_volume(&rule[r / REPLICAS], random, (uint32_t)(r % REPLICAS), time + t,
                                &replica, x + 2 * layout.count);
      *accepted += head.last_move == HARD_DISKS_ACCEPTED;
    }
    hard_disks_get(&replica, portable);
  }
  free(x);
}

static void moves_have_the_bits_of_plain_loops(void **state)
{
  (void)state;
  static const uint32_t pieces[] = {1, 6, 12}; /* most end with an earlier sweep's volume move */
  struct test_setting setting[TEST_SETTINGS_MAXIMUM];
  const size_t settings = test_settings(1, 4, true, setting);
  for (size_t i = 0; i < CASES; i++)
    for (size_t k = 0; k < settings; k++) {
      struct disks disks;
      size_t accepted = 0;
      if (!test_device_is_cpu() && !cases[i].options.confine)
        continue;
      open_case(i, setting[k], &disks);
      uint8_t *plain = disks_replicas(&disks);
      for (size_t p = 0, time = 0; p < 3; time += pieces[p++]) {
        disks_sweep(&disks, pieces[p]);
        sweep_plainly(i, &disks, (uint32_t)time, pieces[p], plain, &accepted);
        uint8_t *replicas = disks_replicas(&disks);
        disks_expect_same(i, &disks, plain, replicas, "sweeps", setting[k]);
        disks_set(&disks, replicas);
        free(replicas);
      }
      if (accepted == 0)
        fail_msg("case %zu: no move was accepted", i);
      free(plain);
      disks_close(&disks);
    }
}

static void a_pressure_that_is_too_large_is_refused(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  struct disks disks;
  double pressure[RUNS] = {1.0, 1e9};
  open_case(4, test_setting(), &disks);
  const struct gpumc_target target = {.kind = GPUMC_BOLTZMANN, .control = pressure};
  assert_int_equal(gpumc_ensemble_sweep_target(&disks.ensemble, &target, 1, NULL, &error),
                   GPUMC_INVALID);
  assert_non_null(strstr(gpumc_error_text(&error), "beta_pressure = 1e+09"));
  gpumc_error_free(&error);
  disks_close(&disks);
}

int main(void)
{
  test_device_require();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(moves_have_the_bits_of_plain_loops),
      cmocka_unit_test(two_disks_have_the_volumes_of_their_weight),
      cmocka_unit_test(boxes_have_the_pressure_that_is_imposed),
      cmocka_unit_test(a_pressure_that_is_too_large_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
