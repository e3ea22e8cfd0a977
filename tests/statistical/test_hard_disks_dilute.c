/* The pressure of a dilute gas of hard disks to 1e-4 of itself, against the virial series.
 *
 * What is compared is P V / (N kT), relative to itself, which is stricter than 1e-4 of P sigma^2 /
 * kT, a number below 0.41 here. Three estimates:
 *
 * - of the states: how much room one more disk would have (support/insertion.h), to 5e-5. Numbers
 *   of pairs in contact have the errors of counting, and the polynomial of degree 5 multiplies them
 *   by 6: to 1e-4 a CPU would need hours, for this minutes.
 * - of the program: `contact` and `scaling`, on a GPU to 1e-4, on a CPU to 4e-3. That they are
 *   the sums over pairs that they should be is known exactly (exact_test_hard_disks_measured).
 *
 * The series has B_2 to B_10 (N. Clisby and B. M. McCoy, J. Stat. Phys. 122, 15 (2006)). Terms
 * decrease by about 0.55 * 2 phi, so that the rest is less than 1.3 times the next one, of B_11 =
 * 0.0109: 1e-12, 1e-9, 7e-8 and 1.2e-6 of P at the four densities.
 *
 * Small boxes relax quickly: the longest waves of the density, absent in the lattice at the start,
 * decay within L^2 / (4 pi^2 D), 600 sweeps at 0.05. N disks have another pressure than the limit.
 * Walls are absent, and a box is far wider than correlations reach, so that the grand canonical
 * partition sum is exp(V p(z)), and the saddle point for N disks gives two orders in 1/N, a
 * thousandth and a millionth here. (At first order in rho this is - B_2 rho / N, from N (N - 1)
 * pairs.)
 *
 * Numbers of samples were chosen by a pilot run with another seed, for errors of 2.4e-5, 2.7e-5,
 * 3.3e-5 and 3.7e-5 by insertion, an eighth of what 2e-4 of the density change. Gates: |z| < 4.5 in
 * each of 12 comparisons, a false alarm in 12000 seeds; the seed is fixed. Controls that are
 * rejected, by insertion: packing fractions off by 2e-4 either way, at every density; at the
 * highest the limit in place of N disks, and the series without B_6 and up.
 *
 * CTest: validate everywhere (exact_test_hard_disks, exact_test_hard_disks_measured) */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/disks_fixture.h"
#include "support/insertion.h"
#include "support/status.h"

/* Disks of a replica; and sweeps between looks at the states of some replicas. On a GPU fewer
 * replicas are examined more often, and between looks contacts of many more are measured several
 * times. */
enum { DISKS = 127, INTERVAL = 8, LOOKED_CPU = 256, LOOKED_GPU = 64, MEASUREMENTS_GPU = 4 };
#define SEED 20131207
/* Trials of insertions: one in a square of this side, and this many in contact with each disk. */
#define SPACING 1.4
enum { CONTACTS = 2 };

static const struct density {
  double fraction;
  uint32_t warm_up;    /* sweeps: ten times what the longest waves take to decay */
  int looks;           /* at each of the replicas on a CPU */
  size_t gpu_replicas; /* for an error of 8e-5 by contacts */
} densities[] = {{0.05, 6000, 300, 20000},
                 {0.1, 3000, 1200, 10000},
                 {0.15, 2000, 3850, 4096},
                 {0.2, 1500, 6000, 4096}};
enum { DENSITIES = sizeof densities / sizeof *densities, TERMS = 10 };

static const double gate = 4.5, insertion_bound = 6e-5, cpu_bound = 4e-3, gpu_bound = 1e-4;
/* Relative change of densities in the controls. */
static const double off = 2e-4;

/* ---- the series ---- */

/* sum over k of k^power b_k (2 phi)^(k - 1). */
static double series(double fraction, int power, int terms)
{
  static const double coefficient[TERMS] = {1.0,       1.0,       0.7820044, 0.5322318, 0.3335560,
                                            0.1988425, 0.1148728, 0.0649930, 0.0362193, 0.0199537};
  double sum = 0.0;
  for (int k = terms; k >= 1; k--)
    sum = sum * 2.0 * fraction + pow(k, power) * coefficient[k - 1];
  return sum;
}

/* k_n: V k_n are the cumulants of the number of disks in a grand canonical box at that mean
 * density, with lengths so that rho = phi: k_1 = rho, k_(n + 1) = k_2 dk_n / d rho, k_2 = rho / (d
 * beta P / d rho). */
static double cumulant(int n, double fraction)
{
  if (n == 1)
    return fraction;
  const double second = fraction / series(fraction, 1, TERMS);
  if (n == 2)
    return second;
  const double step = 1e-3 * fraction;
  return second * (cumulant(n - 1, fraction + step) - cumulant(n - 1, fraction - step)) /
         (2.0 * step);
}

/* t of ln Q_N = V beta P - N ln z - ln(2 pi V k_2) / 2 + t / V, whose derivative by V is beta P_N.
 */
static double tail(double fraction)
{
  const double second = cumulant(2, fraction), third = cumulant(3, fraction);
  return cumulant(4, fraction) / (8.0 * second * second) -
         5.0 * third * third / (24.0 * second * second * second);
}

/* Returns P V / (N kT) of N disks at a packing fraction. */
static double compressibility(double fraction, double disks)
{
  const double step = 1e-3 * fraction, above = fraction + step, below = fraction - step;
  const double first = log(cumulant(2, above) / cumulant(2, below)) / log(above / below) - 1.0;
  const double second = (above * tail(above) - below * tail(below)) / (2.0 * step);
  return series(fraction, 0, TERMS) + first / (2.0 * disks) - second * fraction / (disks * disks);
}

/* ---- estimates ---- */

struct estimate {
  double value, error;
};

/* Returns the ratio of two means over replicas. */
static struct estimate ratio_of(const double *above, const double *below, size_t replicas)
{
  double sum[2] = {0.0}, square = 0.0;
  for (size_t r = 0; r < replicas; r++) {
    sum[0] += above[r];
    sum[1] += below[r];
  }
  const double ratio = sum[0] / sum[1], n = (double)replicas;
  for (size_t r = 0; r < replicas; r++)
    square += (above[r] - ratio * below[r]) * (above[r] - ratio * below[r]);
  return (struct estimate){ratio, sqrt(square * n / (n - 1.0)) / sum[1]};
}

/* Sums over measurements, by replica. */
enum { AREA, BORDER, CONTACT, SCALING, ONE, SUMS };
struct run {
  struct disks disks;
  size_t replicas, looked; /* of them, the first ones */
  int looks, measurements;
  double *sum[SUMS];
};

static void run_open(const struct density *density, struct run *run)
{
  struct test_setting setting = test_setting();
  setting.threads = test_device_is_cpu() ? 2 : setting.threads;
  run->replicas = test_device_is_cpu() ? LOOKED_CPU : density->gpu_replicas;
  run->looked = test_device_is_cpu() ? LOOKED_CPU : LOOKED_GPU;
  run->looks = density->looks * (LOOKED_CPU / (int)run->looked);
  run->measurements = test_device_is_cpu() ? 1 : MEASUREMENTS_GPU;
  disks_open(&(struct disks_job){.settings = {.particles = DISKS,
                                              .packing_fraction =
                                                  density->fraction * DISKS / (DISKS + 1.0),
                                              .aspect = 1.0,
                                              .start = HARD_DISKS_LATTICE},
                                 .variant = "checkerboard",
                                 .move_size = 0.45,
                                 .replicas = run->replicas,
                                 .seed = SEED},
             setting, &run->disks);
  for (size_t i = 0; i < SUMS; i++) {
    run->sum[i] = calloc(run->replicas, sizeof(double));
    assert_non_null(run->sum[i]);
  }
}

static void run_close(struct run *run)
{
  disks_close(&run->disks);
  for (size_t i = 0; i < SUMS; i++)
    free(run->sum[i]);
}

/* portable[looked]: room for states. */
static void add_insertions(struct run *run, int sample, uint8_t *portable)
{
  struct gpumc_error error = {0};
  const struct gpumc_model *model = &run->disks.model;
  assert_ok(run->disks.ensemble.ops->get(&run->disks.ensemble, 0, 0, run->looked, portable, &error),
            &error);
#pragma omp parallel for schedule(dynamic, 1) num_threads(2)
  for (size_t r = 0; r < run->looked; r++) {
    const struct insertion found = insertion_of(hard_disks_parameters(model)->length, DISKS,
                                                disks_places(portable + r * model->portable_bytes),
                                                HARD_DISKS_CONTACT_DISTANCE, SPACING, CONTACTS,
                                                SEED + ((uint64_t)sample << 32) + r);
    run->sum[AREA][r] += found.area;
    run->sum[BORDER][r] += found.border;
  }
}

static void add_pressures(struct run *run)
{
  disks_measure_pressure(&run->disks);
  for (size_t r = 0; r < run->replicas; r++) {
    run->sum[CONTACT][r] += 1.0 + M_PI * disks_value(&run->disks, HARD_DISKS_CONTACT, r);
    run->sum[SCALING][r] += 1.0 + 0.25 * disks_value(&run->disks, HARD_DISKS_SCALING, r);
    run->sum[ONE][r] += 1.0;
  }
}

/* P V / (N kT) of this many disks at that packing fraction, both with the diameter of the
 * kernels. */
struct result {
  const char *by;
  struct estimate found;
  double fraction, disks, bound;
};
enum { INSERTION, RESULTS = 3 };

static void find_results(const struct density *density, struct result result[RESULTS])
{
  struct run run;
  run_open(density, &run);
  uint8_t *portable = calloc(run.looked, run.disks.model.portable_bytes);
  assert_non_null(portable);
  disks_sweep(&run.disks, density->warm_up);
  for (int s = 0; s < run.looks; s++) {
    for (int i = 0; i < run.measurements; i++) {
      disks_sweep(&run.disks, INTERVAL / (uint32_t)run.measurements);
      add_pressures(&run);
    }
    add_insertions(&run, s, portable);
  }
  const double diameter = HARD_DISKS_CONTACT_DISTANCE,
               covered = M_PI / 4.0 * diameter * diameter *
                         hard_disks_parameters(&run.disks.model)->density,
               bound = test_device_is_cpu() ? cpu_bound : gpu_bound;
  const struct estimate border = ratio_of(run.sum[BORDER], run.sum[AREA], run.looked);
  result[INSERTION] =
      (struct result){"insertion",
                      {1.0 + 0.25 * diameter * border.value, 0.25 * diameter * border.error},
                      covered * (DISKS + 1) / DISKS,
                      DISKS + 1,
                      insertion_bound};
  result[1] = (struct result){"contact", ratio_of(run.sum[CONTACT], run.sum[ONE], run.replicas),
                              covered, DISKS, bound};
  result[2] = (struct result){"scaling", ratio_of(run.sum[SCALING], run.sum[ONE], run.replicas),
                              covered, DISKS, bound};
  free(portable);
  run_close(&run);
}

/* Returns the deviation in standard errors from P of a packing fraction that is larger by that
 * much. */
static double deviation(const struct result *result, double larger)
{
  const double factor = 1.0 + larger;
  return (result->found.value -
          factor * compressibility(factor * result->fraction, result->disks)) /
         result->found.error;
}

static void check(const struct result *result, double fraction)
{
  const double error = result->found.error / result->found.value, z = deviation(result, 0.0);
  print_message("phi = %g, %s: %.7f +- %.7f (%.1e of it), exact %.7f, z = %.2f\n", fraction,
                result->by, result->found.value, result->found.error, error,
                compressibility(result->fraction, result->disks), z);
  if (!(fabs(z) < gate && error < result->bound))
    fail_msg("phi = %g, %s: z = %.2f, error %.1e of P", fraction, result->by, z, error);
}

static void pressures_are_those_of_the_virial_series(void **state)
{
  (void)state;
  struct result result[RESULTS];
  for (size_t f = 0; f < DENSITIES; f++) {
    find_results(&densities[f], result);
    for (size_t i = 0; i < RESULTS; i++)
      check(&result[i], densities[f].fraction);
    print_message("  off by 2e-4: z = %.2f and %.2f\n", deviation(&result[INSERTION], off),
                  deviation(&result[INSERTION], -off));
    assert_true(deviation(&result[INSERTION], off) < -gate);
    assert_true(deviation(&result[INSERTION], -off) > gate);
  }
  const struct estimate *highest = &result[INSERTION].found;
  const double fraction = result[INSERTION].fraction;
  assert_true(fabs(highest->value - series(fraction, 0, TERMS)) > gate * highest->error);
  const double rest = series(fraction, 0, TERMS) - series(fraction, 0, 5);
  assert_true(fabs(deviation(&result[INSERTION], 0.0) + rest / highest->error) > gate);
}

int main(void)
{
  test_device_require();
  const struct CMUnitTest tests[] = {cmocka_unit_test(pressures_are_those_of_the_virial_series)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
