/* Cluster moves of two and four O(n) spins in a field, from random starts, have the exact means of
 * energy and magnetization.
 *
 * Null: after WARM_UP sweeps each replica has the canonical distribution. Replicas are independent,
 * so that the error of a mean over them is known. Bounds are four standard errors: 64 comparisons,
 * false alarm 0.4 %. Controls: the slow reference with bonds of a beta that is 2 % off, with biased
 * reflections, and without the ghost breaks the bound in energy or magnetization.
 *
 * CTest: release (exact_test_heisenberg_clusters), cases 3 s */
#include <setjmp.h>
#include <stdarg.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models/heisenberg/heisenberg.h"
#include "support/cases.h"
#include "support/heisenberg_clusters.h"
#include "support/kernel_side.h"
#include "support/status.h"
#include "support/test_device.h"

enum { REPLICAS = 12000, WARM_UP = 24, BETWEEN = 3, MEASUREMENTS = 16, SEED = 62361, CLUSTERS = 3 };

static const double beta = 1.0, field = 0.4, bound = 4.0;

/* Means per site, by n; from quadratures, ring_in_field(n, sites, 1, J, 0.4) of
 * tests/support/heisenberg_exact.py. A square of four sites is a ring of pairs of bonds. */
struct exact {
  struct heisenberg_settings settings;
  double energy[2], magnetization[2];
};
static const struct exact systems[] = {
    {{.dimension = 1, .shape = {2}, .coupling = 1.0},
     {-0.8377119241696739, -0.6259240115141853},
     {0.3195474077865706, 0.19924221556346053}},
    {{.dimension = 1, .shape = {4}, .coupling = 1.0},
     {-0.7189526212562369, -0.457093187997689},
     {0.4177010151327811, 0.2372150826294445}},
    {{.dimension = 1, .shape = {4}, .coupling = -1.0},
     {-0.5196344101766025, -0.35643152280243},
     {0.07307911623993454, 0.0688621230025144}},
    {{.dimension = 2, .shape = {2, 2}, .coupling = 0.5},
     {-0.7189526212562369, -0.457093187997689},
     {0.4177010151327811, 0.2372150826294445}},
};
enum { SYSTEMS = sizeof systems / sizeof *systems };

struct job {
  const struct exact *of;
  int components;
  const char *variant;
  uint32_t move;
  enum heisenberg_clusters_fault fault;
};

/* Per site: sums over the measurements of a replica, and means over replicas with errors. */
struct sums {
  double energy, magnetization;
};
struct mean {
  double value, error;
};

static void open_side(const struct job *job, struct kernel_side *side)
{
  static const uint32_t size[] = {REPLICAS};
  struct gpumc_error error = {0};
  struct heisenberg_settings settings = job->of->settings;
  const struct gpumc_ensemble_plan plan = {.runs = 1,
                                           .capacity = REPLICAS,
                                           .samples = 1,
                                           .move = job->move,
                                           .options = {.own = {[2] = CLUSTERS}}};
  settings.components = job->components;
  settings.field = field;
  assert_ok(heisenberg_instance(&settings, &side->model, &error), &error);
  side_open(side, test_device(test_setting()), job->variant, &plan, SEED, 10, 0, size);
}

static void sweep(struct kernel_side *side, uint32_t sweeps, bool measured)
{
  struct gpumc_error error = {0};
  assert_ok(
      gpumc_ensemble_sweep(&side->ensemble, sweeps, beta, measured ? side->channel : NULL, &error),
      &error);
}

static void measure_kernel(const struct job *job, struct sums *sums)
{
  static int64_t energy[REPLICAS], magnetization[REPLICAS];
  struct kernel_side side;
  open_side(job, &side);
  const double sites = (double)side.model.sites;
  sweep(&side, WARM_UP, false);
  for (int i = 0; i < MEASUREMENTS; i++) {
    sweep(&side, BETWEEN, true);
    side_read(&side, energy, side.channel[HEISENBERG_ENERGY], sizeof energy);
    side_read(&side, magnetization, side.channel[HEISENBERG_MAGNETIZATION_X], sizeof magnetization);
    for (size_t r = 0; r < REPLICAS; r++) {
      sums[r].energy += (double)energy[r] * side.model.quantum[HEISENBERG_ENERGY] / sites;
      sums[r].magnetization +=
          (double)magnetization[r] * side.model.quantum[HEISENBERG_MAGNETIZATION_X] / sites;
    }
  }
  side_close(&side);
}

/* Adds the energy and the magnetization of a ring. */
static void
measure_ring(const double *spin, size_t sites, size_t n, double coupling, struct sums *sums)
{
  double bonds = 0, along = 0;
  for (size_t i = 0; i < sites; i++) {
    along += spin[i * n];
    for (size_t a = 0; a < n; a++)
      bonds += spin[i * n + a] * spin[(i + 1) % sites * n + a];
  }
  sums->energy -= (coupling * bonds + field * along) / (double)sites;
  sums->magnetization += along / (double)sites;
}

/* The reference, from the kernel's starting states; for rings. */
static void measure_reference(const struct job *job, struct sums *sums)
{
  struct kernel_side side;
  open_side(job, &side);
  double *spins = (double *)(void *)side_replicas(&side);
  const size_t sites = side.model.sites, n = (size_t)job->components;
  for (size_t r = 0; r < REPLICAS; r++) {
    const struct heisenberg_clusters of = {
        .dimension = 1,
        .shape = {sites},
        .components = n,
        .beta = beta,
        .coupling = job->of->settings.coupling,
        .field = field,
        .random = gpumc_ensemble_random(&side.ensemble, 0),
        .replica = (uint32_t)r,
        .fault = job->fault,
        .spin = spins + r * sites * n,
    };
    for (uint32_t time = 0; time < WARM_UP + BETWEEN * MEASUREMENTS; time++) {
      heisenberg_clusters_sweep(&of, time, job->move == HEISENBERG_WOLFF ? CLUSTERS : 0);
      if (time >= WARM_UP && (time + 1 - WARM_UP) % BETWEEN == 0)
        measure_ring(of.spin, sites, n, of.coupling, &sums[r]);
    }
  }
  free(spins);
  side_close(&side);
}

static struct mean mean_of(const struct sums *sums, bool energy)
{
  double sum = 0, squares = 0;
  for (size_t r = 0; r < REPLICAS; r++) {
    const double value = (energy ? sums[r].energy : sums[r].magnetization) / MEASUREMENTS;
    sum += value;
    squares += value * value;
  }
  const double mean = sum / REPLICAS;
  return (struct mean){mean, sqrt((squares / REPLICAS - mean * mean) / (REPLICAS - 1))};
}

/* Returns the larger deviation from the exact means, in errors. */
static double deviation_of(const struct job *job)
{
  static struct sums sums[REPLICAS];
  memset(sums, 0, sizeof sums);
  if (job->fault == HEISENBERG_CLUSTERS_RIGHT)
    measure_kernel(job, sums);
  else
    measure_reference(job, sums);
  const struct mean energy = mean_of(sums, true), along = mean_of(sums, false);
  const int n = job->components - 2;
  const double of_energy = (energy.value - job->of->energy[n]) / energy.error,
               of_along = (along.value - job->of->magnetization[n]) / along.error;
  printf("O(%d), %zu sites, J = %g, %s, %s, fault %d: energy %+.2f, magnetization %+.2f errors\n",
         job->components, job->of->settings.shape[0], job->of->settings.coupling, job->variant,
         heisenberg_moves[job->move].name, (int)job->fault, of_energy, of_along);
  return fmax(fabs(of_energy), fabs(of_along));
}

static void kernels_have_the_exact_means(void **state)
{
  static const char *const variants[] = {"double", "float"};
  (void)state;
  FOR_CASES (cases)
    for (size_t v = 0; v < 2; v++)
      for (size_t i = 0; i < SYSTEMS; i++)
        for (int components = 2; components <= 3; components++)
          for (uint32_t move = HEISENBERG_LOCAL_MOVES; move < HEISENBERG_MOVES; move++)
            if (cases_take(&cases)) {
              const struct job job = {&systems[i], components, variants[v], move,
                                      HEISENBERG_CLUSTERS_RIGHT};
              assert_true(deviation_of(&job) < bound);
            }
}

static void faults_are_rejected(void **state)
{
  (void)state;
  FOR_CASES (cases)
    for (int components = 2; components <= 3; components++)
      for (uint32_t move = HEISENBERG_LOCAL_MOVES; move < HEISENBERG_MOVES; move++)
        for (int fault = HEISENBERG_CLUSTERS_BONDS; fault <= HEISENBERG_CLUSTERS_GHOST; fault++)
          if (cases_take(&cases)) {
            const struct job job = {&systems[1], components, "double", move,
                                    (enum heisenberg_clusters_fault)fault};
            assert_true(deviation_of(&job) > bound);
          }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kernels_have_the_exact_means),
      cmocka_unit_test(faults_are_rejected),
  };
  test_device_require();
  return CASES_RUN(tests);
}
