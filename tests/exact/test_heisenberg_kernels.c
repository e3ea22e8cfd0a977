/* The kernels of O(n) spins on the device under test give the bits of the CPU's with one thread:
 * replicas and channels after sweeps of every move, copies, exchanges, and a round trip through the
 * portable form; small steps that are tuned meanwhile, and their acceptance; in a moved temperature
 * and in a moved field; on lattices of one to three dimensions that fit into a GPU's shared memory
 * and that do not, in tiles or in device memory; and with quenched couplings, where replicas are
 * compared, too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/heisenberg_job.h"
#include "support/kernel_side.h"
#include "support/cases.h"
#include "support/status.h"
#include "support/test_device.h"

enum { RUNS = 3, ROOM = 5, FIRST_RUN = 7, SEED = 20120603 };

static const uint32_t sizes[RUNS] = {5, 4, 5};
static const double beta[RUNS] = {0.4, 0.9, 2.5}, field[RUNS] = {0.0, 0.3, -1.2};

static const struct heisenberg_settings lattices[] = {
    {.dimension = 1, .shape = {2}},
    {.dimension = 1, .shape = {6}},
    {.dimension = 1, .shape = {100}},
    {.dimension = 1, .shape = {10000}},
    {.dimension = 2, .shape = {2, 2}},
    {.dimension = 2, .shape = {6, 4}},
    {.dimension = 2, .shape = {8, 8}},
    {.dimension = 2, .shape = {16, 16}},
    {.dimension = 2, .shape = {34, 2}},
    {.dimension = 2, .shape = {64, 64}},
    {.dimension = 2, .shape = {64, 80}},
    {.dimension = 2, .shape = {98, 96}},
    {.dimension = 2, .shape = {128, 96}},
    {.dimension = 3, .shape = {2, 2, 2}},
    {.dimension = 3, .shape = {4, 6, 2}},
    {.dimension = 3, .shape = {8, 8, 8}},
    {.dimension = 3, .shape = {6, 10, 4}},
    {.dimension = 3, .shape = {16, 16, 16}},
    {.dimension = 3, .shape = {22, 20, 22}},
    {.dimension = 3, .shape = {64, 16, 12}},
    /* In tiles on a GPU: the smallest in float and double, lines that are not a multiple of 64
     * sites, few of them, an odd number of tiles, and more replicas than are swept at once. */
    {.dimension = 2, .shape = {4, 2050}},
    {.dimension = 2, .shape = {4, 1026}},
    {.dimension = 2, .shape = {260, 34}},
    {.dimension = 2, .shape = {1024, 10}},
    {.dimension = 2, .shape = {192, 90}},
    {.dimension = 2, .shape = {256, 190}},
};

static void
open_side(const struct heisenberg_job *job, struct gpumc_device device, struct kernel_side *side)
{
  struct gpumc_error error = {0};
  struct gpumc_ensemble_plan plan = heisenberg_job_plan(job, RUNS, ROOM);
  plan.warm_up = 16;
  plan.options.own[0] = 2; /* over-relaxations */
  plan.options.own[2] = 3; /* clusters */
  assert_ok(heisenberg_instance(&job->settings, &side->model, &error), &error);
  side_open(side, device, job->variant, &plan, SEED, job->rounds, FIRST_RUN, sizes);
}

static void
sweep(struct kernel_side *side, const struct heisenberg_job *job, uint32_t sweeps, bool measured)
{
  struct gpumc_error error = {0};
  assert_ok(gpumc_ensemble_sweep_each(&side->ensemble, sweeps, job->in_field ? field : beta,
                                      measured ? side->channel : NULL, &error),
            &error);
}

/* Sweeps, copies, sweeps, exchanges, a round trip through portable form, measured sweeps. */
static void work(struct kernel_side *side, const struct heisenberg_job *job)
{
  static const uint32_t parent[RUNS][ROOM] = {{0, 0, 2, 2, 0}, {0, 1, 2, 3, 0}, {4, 1, 1, 4, 4}};
  static const uint32_t swap[RUNS] = {1 << 1 | 1 << 3, 1 << 0 | 1 << 2, 0};
  struct gpumc_error error = {0};
  struct gpumc_ensemble *ensemble = &side->ensemble;
  sweep(side, job, 2, false);
  side_gather(side, parent[0]);
  sweep(side, job, 1, true);
  side_exchange(side, swap);
  uint8_t *portable = side_replicas(side);
  const size_t bytes = side->model.portable_bytes;
  assert_ok(ensemble->ops->set(ensemble, 2, 1, 2, portable + (size_t)ROOM * bytes, &error), &error);
  free(portable);
  sweep(side, job, 17, true);
  if (side->model.disorder)
    assert_ok(ensemble->ops->compare(ensemble, 0, 2, 1, side->pair, &error), &error);
}

static size_t tuned; /* jobs whose steps have changed */

static void compare(const struct heisenberg_job *job)
{
  struct test_setting setting[TEST_SETTINGS_MAXIMUM];
  const size_t settings = test_settings(2, 2, true, setting);
  const size_t *shape = job->settings.shape;
  struct gpumc_device cpu = side_reference_device();
  struct kernel_side reference;
  open_side(job, cpu, &reference);
  work(&reference, job);
  for (size_t i = 0; i < settings; i++) {
    struct kernel_side side;
    char text[256];
    snprintf(text, sizeof text, "%s, %zu x %zu x %zu, O(%d), %s, %s%s", job->variant, shape[0],
             shape[1], shape[2], job->settings.components, heisenberg_moves[job->move].name,
             reference.model.disorder ? "quenched, " : "", test_setting_text(setting[i]));
    open_side(job, test_device(setting[i]), &side);
    work(&side, job);
    sides_expect_channels(&side, &reference, text);
    if (reference.model.disorder)
      sides_expect_pairs(&side, &reference, text);
    sides_expect_replicas(&side, &reference, text);
    sides_expect_steps(&side, &reference, text);
    tuned +=
        job->move == HEISENBERG_METROPOLIS_SMALL && reference.ensemble.step[RUNS - 1] < GPUMC_PI;
    side_close(&side);
  }
  side_close(&reference);
  gpumc_device_close(&cpu);
}

static void compare_variant(const char *variant)
{
  FOR_CASES (cases)
    for (size_t lattice = 0; lattice < sizeof lattices / sizeof *lattices; lattice++)
      for (int components = 2; components <= 3; components++)
        for (uint32_t move = 0; move < HEISENBERG_MOVES; move++)
          if (cases_take(&cases)) {
            const struct heisenberg_job job =
                heisenberg_job_of(&lattices[lattice], lattice, components, variant, move);
            compare(&job);
          }
}

static void in_double(void **state)
{
  (void)state;
  compare_variant("double");
}

static void in_float(void **state)
{
  (void)state;
  compare_variant("float");
}

/* Control: the steps that are compared do change. */
static void steps_are_tuned(void **state)
{
  (void)state;
  tuned = 0;
  for (size_t i = 0; tuned == 0 && i < sizeof lattices / sizeof *lattices; i++) {
    const struct heisenberg_job job =
        heisenberg_job_of(&lattices[i], i, 3, "float", HEISENBERG_METROPOLIS_SMALL);
    compare(&job);
  }
  assert_true(tuned > 0);
}

/* +-J and Gaussian couplings alternately, with one sample or one for each replica. */
static void quenched(void **state)
{
  /* Some of each kind; the large ones take long. */
  static const size_t chosen[] = {0, 1, 2, 4, 5, 6, 8, 11, 13, 14, 15, 16};
  static const char *const variants[] = {"double", "float"};
  (void)state;
  FOR_CASES (cases)
    for (size_t v = 0; v < 2; v++)
      for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++)
        for (int components = 2; components <= 3; components++)
          for (uint32_t move = 0; move < HEISENBERG_MOVES; move++)
            if (cases_take(&cases)) {
              struct heisenberg_job job =
                  heisenberg_job_of(&lattices[chosen[i]], chosen[i], components, variants[v], move);
              heisenberg_job_quench(&job, chosen[i], ROOM);
              compare(&job);
            }
}

/* Control: another precision has other bits. */
static void another_precision_is_noticed(void **state)
{
  (void)state;
  const struct heisenberg_job one = heisenberg_job_of(&lattices[7], 7, 3, "double",
                                                      HEISENBERG_METROPOLIS),
                              other = heisenberg_job_of(&lattices[7], 7, 3, "float",
                                                        HEISENBERG_METROPOLIS);
  struct kernel_side side[2];
  open_side(&one, test_device(test_setting()), &side[0]);
  open_side(&other, test_device(test_setting()), &side[1]);
  work(&side[0], &one);
  work(&side[1], &other);
  uint8_t *replicas[2] = {side_replicas(&side[0]), side_replicas(&side[1])};
  assert_int_not_equal(memcmp(replicas[0], replicas[1], side[0].model.portable_bytes), 0);
  for (size_t i = 0; i < 2; i++) {
    free(replicas[i]);
    side_close(&side[i]);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(in_double),
      cmocka_unit_test(in_float),
      cmocka_unit_test(steps_are_tuned),
      cmocka_unit_test(quenched),
      cmocka_unit_test(another_precision_is_noticed),
  };
  test_device_require();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
