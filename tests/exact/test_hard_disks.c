/* The kernels of hard disks sample the uniform weight of all states without overlap.
 *
 * One disk: its place relative to the cells is uniform. Two disks in a square box: the position of
 * one relative to the other is uniform outside of the unit circle at any phi up to 0.39, and P /
 * (rho kT) = (1 - phi) / (1 - 2 phi). 64 and 256 disks: `checkerboard` against `serial`, at packing
 * fractions up to 0.6: pressures, orientational order and the distribution of |Psi_6| (dense ones
 * are in statistical/test_hard_disks_dense.c). Disks of a cell are moved equally often. After many
 * sweeps no disks overlap, and none is lost.
 *
 * Gates: chi-square and t with a probability of 1e-5 in each of 57 comparisons, a false alarm in
 * 1750 seeds; seeds are fixed. These must be rejected: trials that leave their cells, a grid that
 * is not shifted, disks that are not shuffled. Replicas are independent, and begin on the same
 * lattice; samples of a replica are some correlation times apart.
 *
 * CTest: release (exact_test_hard_disks_bits, exact_test_disks_kernels), cases 3 s */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/statistics/significance.h"
#include "support/cases.h"
#include "support/disks_fixture.h"
#include "support/disks_fluid.h"

static const double gate = 1e-5;
static const struct hard_disks_options right = {HARD_DISKS_MOVES_DEFAULT, true, true, true};

static struct test_setting all_threads(void)
{
  struct test_setting setting = test_setting();
  setting.threads = test_device_is_cpu() ? 2 : setting.threads;
  return setting;
}

/* Disks in a square box that begin on a lattice and take large steps. */
static void open_few(size_t particles, double packing_fraction, const char *variant,
                     struct hard_disks_options options, size_t replicas, uint64_t seed,
                     struct disks *disks)
{
  disks_open(&(struct disks_job){.settings = {.particles = particles,
                                              .packing_fraction = packing_fraction,
                                              .aspect = 1.0,
                                              .start = HARD_DISKS_LATTICE},
                                 .variant = variant,
                                 .options = options,
                                 .move_size = 0.4,
                                 .replicas = replicas,
                                 .seed = seed},
             all_threads(), disks);
}

/* Returns the probability of a chi-square at least this large. */
static double chi_square_tail(double chi_square, double freedom)
{
  return gpumc_fisher_tail(chi_square / freedom, freedom, 1e9);
}

/* ---- one disk ---- */

enum { PLACES = 24 };

/* Returns the probability that a disk's place relative to its cell is uniform. */
static double uniform_in_cells(const char *variant, struct hard_disks_options options)
{
  enum { REPLICAS = 2000, SAMPLES = 30 };
  struct disks disks;
  double count[2][PLACES] = {{0}}, chi_square = 0.0;
  open_few(1, 0.15, variant, options, REPLICAS, 20130801, &disks);
  const struct hard_disks_box *box = &hard_disks_parameters(&disks.model)->box;
  const double width[2] = {(double)box->width_x, (double)box->width_y};
  for (int s = 0; s < SAMPLES; s++) {
    disks_sweep(&disks, 20);
    uint8_t *replicas = disks_replicas(&disks);
    for (size_t r = 0; r < REPLICAS; r++) {
      const double *head =
          (const double *)(const void *)(replicas + r * disks.model.portable_bytes);
      for (size_t d = 0; d < 2; d++) {
        const double place = fmod(head[4 + d] - head[2 + d] + head[d], width[d]);
        count[d][(size_t)(place / width[d] * PLACES)]++;
      }
    }
    free(replicas);
  }
  for (size_t d = 0; d < 2; d++)
    for (size_t i = 0; i < PLACES; i++) {
      const double expected = (double)REPLICAS * SAMPLES / PLACES;
      chi_square += (count[d][i] - expected) * (count[d][i] - expected) / expected;
    }
  disks_close(&disks);
  return chi_square_tail(chi_square, 2 * (PLACES - 1));
}

static void one_disk_is_anywhere_in_its_cell(void **state)
{
  (void)state;
  const double found = uniform_in_cells("checkerboard", right);
  if (!(found > gate))
    fail_msg("a probability of %.2g", found);
}

static void trials_that_leave_their_cells_are_found(void **state)
{
  (void)state;
  struct hard_disks_options wrong = right;
  wrong.confine = false;
  const double found = uniform_in_cells("checkerboard", wrong);
  if (!(found < gate))
    fail_msg("a probability of %.2g", found);
}

/* ---- two disks ---- */

enum { SIDE = 10, FINE = 200 };

/* expected[x][y]: shares of |dx|, |dy| in SIDE bins up to L/2, outside of the unit circle. */
static void find_shares(double length, double expected[SIDE][SIDE])
{
  double all = 0.0;
  for (size_t i = 0; i < (size_t)SIDE * SIDE; i++) {
    double inside = 0.0;
    for (size_t k = 0; k < (size_t)FINE * FINE; k++) {
      const size_t x = i % SIDE * FINE + k % FINE, y = i / SIDE * FINE + k / FINE;
      const double dx = 0.5 * length * ((double)x + 0.5) / (SIDE * FINE),
                   dy = 0.5 * length * ((double)y + 0.5) / (SIDE * FINE);
      inside += dx * dx + dy * dy >= 1.0;
    }
    expected[i / SIDE][i % SIDE] = inside;
    all += inside;
  }
  for (size_t i = 0; i < (size_t)SIDE * SIDE; i++)
    expected[i / SIDE][i % SIDE] /= all;
}

struct two {
  double probability;      /* of the distribution of the difference */
  double contact, scaling; /* deviations of the pressure in standard errors */
};

static double deviation(const double *sum, size_t n, double factor, double expected)
{
  const double mean = sum[0] / (double)n, square = sum[1] / (double)n - mean * mean;
  return (factor * mean - expected) / (factor * sqrt(square / (double)(n - 1)));
}

static struct two
two_disks(const char *variant, struct hard_disks_options options, double fraction, uint32_t sweeps)
{
  enum { REPLICAS = 4000, SAMPLES = 12 };
  struct disks disks;
  double expected[SIDE][SIDE], count[SIDE][SIDE] = {{0}}, chi_square = 0.0, freedom = -1.0;
  double contact[2] = {0}, scaling[2] = {0};
  open_few(2, fraction, variant, options, REPLICAS, 20130802, &disks);
  const double length = hard_disks_parameters(&disks.model)->length[0];
  find_shares(length, expected);
  for (int s = 0; s < SAMPLES; s++) {
    disks_sweep(&disks, sweeps);
    disks_measure(&disks);
    uint8_t *replicas = disks_replicas(&disks);
    for (size_t r = 0; r < REPLICAS; r++) {
      const double *place = disks_places(replicas + r * disks.model.portable_bytes);
      const double c = disks_value(&disks, HARD_DISKS_CONTACT, r),
                   l = disks_value(&disks, HARD_DISKS_SCALING, r);
      const double x = fabs(remainder(place[2] - place[0], length)) / length * (2 * SIDE),
                   y = fabs(remainder(place[3] - place[1], length)) / length * (2 * SIDE);
      count[(size_t)fmin(y, SIDE - 1)][(size_t)fmin(x, SIDE - 1)]++;
      contact[0] += c;
      contact[1] += c * c;
      scaling[0] += l;
      scaling[1] += l * l;
    }
    free(replicas);
  }
  const double samples = (double)REPLICAS * SAMPLES;
  for (size_t i = 0; i < (size_t)SIDE * SIDE; i++) {
    const double mean = samples * expected[i / SIDE][i % SIDE];
    const double difference = count[i / SIDE][i % SIDE] - mean;
    if (mean < 10.0)
      continue;
    chi_square += difference * difference / mean;
    freedom++;
  }
  disks_close(&disks);
  /* P / (rho kT) = 1 + pi c = 1 + s / 4. */
  const double excess = (1.0 - fraction) / (1.0 - 2.0 * fraction) - 1.0;
  return (struct two){chi_square_tail(chi_square, freedom),
                      deviation(contact, (size_t)samples, M_PI, excess),
                      deviation(scaling, (size_t)samples, 0.25, excess)};
}

static void expect_two_disks(const char *variant, double fraction, uint32_t sweeps)
{
  const struct two two = two_disks(variant, right, fraction, sweeps);
  if (!(two.probability > gate && fabs(two.contact) < 4.4 && fabs(two.scaling) < 4.4))
    fail_msg("%s, phi = %g: a probability of %.2g, pressures off by %.1f and %.1f errors", variant,
             fraction, two.probability, two.contact, two.scaling);
}

/* Boxes of 0.1 to 0.18 have cells that are wider than 2^(1/2), that of 0.39 is as small as boxes
 * are. */
static void two_disks_are_anywhere(void **state)
{
  (void)state;
  static const double fractions[] = {0.3, 0.1, 0.15, 0.18, 0.39};
  for (size_t f = 0; f < sizeof fractions / sizeof *fractions; f++) {
    const uint32_t sweeps = f == 0 ? 40 : 160;
    if (test_device_is_cpu())
      expect_two_disks("serial", fractions[f], sweeps);
    expect_two_disks("checkerboard", fractions[f], sweeps);
  }
}

static void a_grid_that_stays_is_found(void **state)
{
  (void)state;
  struct hard_disks_options wrong = right;
  wrong.shift = false;
  const struct two two = two_disks("checkerboard", wrong, 0.3, 40);
  if (!(two.probability < gate))
    fail_msg("a probability of %.2g", two.probability);
}

/* ---- a fluid ---- */

static void the_checkerboard_agrees_with_serial(void **state)
{
  (void)state;
  static const struct {
    size_t particles, replicas;
    double fraction;
  } fluids[] = {{64, 256, 0.3}, {64, 256, 0.6}, {256, 64, 0.5}};
  for (size_t f = 0; f < sizeof fluids / sizeof *fluids; f++) {
    struct disks_fluid serial, checkerboard;
    struct disks_fluid_job job = {.particles = fluids[f].particles,
                                  .packing_fraction = fluids[f].fraction,
                                  .move_size = 0.25,
                                  .variant = "serial",
                                  .replicas = fluids[f].replicas,
                                  .samples = 8,
                                  .warm_up = 1000,
                                  .interval = 200,
                                  .seed = 20130803};
    disks_fluid_sample(&job, all_threads(), &serial);
    job.variant = "checkerboard";
    job.warm_up = 300;
    job.interval = 60;
    disks_fluid_sample(&job, all_threads(), &checkerboard);
    disks_fluid_expect_same(&serial, &checkerboard, gate);
    free(serial.order);
    free(checkerboard.order);
  }
}

/* ---- shuffles ---- */

/* Returns the probability that of two disks in a cell the first and the second are moved equally
 * often, in sweeps of one trial per cell. The order of the portable form is that of the slots. */
static double moved_equally(struct hard_disks_options options)
{
  enum { REPLICAS = 4000 };
  struct disks disks;
  double moved[2] = {0};
  options.moves = 1;
  options.shift = false;
  disks_open(&(struct disks_job){.settings = {.particles = 2,
                                              .packing_fraction = 0.3,
                                              .aspect = 1.0,
                                              .start = HARD_DISKS_COMPRESSED},
                                 .variant = "checkerboard",
                                 .options = options,
                                 .replicas = REPLICAS,
                                 .seed = 20130804},
             all_threads(), &disks);
  const struct hard_disks_box *box = &hard_disks_parameters(&disks.model)->box;
  uint8_t *before = disks_replicas(&disks);
  disks_sweep(&disks, 1);
  uint8_t *after = disks_replicas(&disks);
  for (size_t r = 0; r < REPLICAS; r++) {
    const double *from = disks_places(before + r * disks.model.portable_bytes),
                 *to = disks_places(after + r * disks.model.portable_bytes);
    const bool together = (from[0] < (double)box->width_x) == (from[2] < (double)box->width_x) &&
                          (from[1] < (double)box->width_y) == (from[3] < (double)box->width_y);
    for (size_t i = 0; together && i < 2; i++)
      moved[i] += memcmp(from + 2 * i, to + 2 * i, 2 * sizeof *from) != 0;
  }
  free(before);
  free(after);
  disks_close(&disks);
  const double difference = moved[0] - moved[1];
  return chi_square_tail(difference * difference / (moved[0] + moved[1]), 1);
}

static void disks_of_a_cell_are_shuffled(void **state)
{
  (void)state;
  struct hard_disks_options wrong = right;
  wrong.shuffle = false;
  const double shuffled = moved_equally(right), unshuffled = moved_equally(wrong);
  if (!(shuffled > gate && unshuffled < gate))
    fail_msg("probabilities of %.2g with, and %.2g without shuffles", shuffled, unshuffled);
}

/* ---- long runs ---- */

static void disks_do_not_overlap_and_none_is_lost(void **state)
{
  (void)state;
  static const struct {
    size_t particles;
    double fraction, aspect;
    uint32_t sweeps;
  } runs[] = {{400, 0.72, 1.0, 1000}, {300, 0.55, 0.37, 1000}, {3000, 0.05, 2.0, 100}};
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    struct disks disks;
    disks_open(&(struct disks_job){.settings = {.particles = runs[i].particles,
                                                .packing_fraction = runs[i].fraction,
                                                .aspect = runs[i].aspect},
                                   .variant = "checkerboard",
                                   .replicas = 2,
                                   .seed = 20130805},
               all_threads(), &disks);
    for (int k = 0; k < 2; k++) {
      uint8_t *replicas = disks_replicas(&disks);
      for (size_t r = 0; r < 2; r++) {
        const char *flaw = disks_flaw(&disks.model, replicas + r * disks.model.portable_bytes);
        if (flaw != NULL)
          fail_msg("%zu disks, %s: %s", runs[i].particles, k == 0 ? "start" : "end", flaw);
      }
      free(replicas);
      disks_sweep(&disks, runs[i].sweeps);
    }
    disks_measure(&disks); /* counts them */
    disks_close(&disks);
  }
}

int main(void)
{
  test_device_require();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_disk_is_anywhere_in_its_cell),
      cmocka_unit_test(trials_that_leave_their_cells_are_found),
      cmocka_unit_test(two_disks_are_anywhere),
      cmocka_unit_test(a_grid_that_stays_is_found),
      cmocka_unit_test(the_checkerboard_agrees_with_serial),
      cmocka_unit_test(disks_of_a_cell_are_shuffled),
      cmocka_unit_test(disks_do_not_overlap_and_none_is_lost),
  };
  return CASES_RUN(tests);
}
