/* Cluster moves are those of the slow reference, which searches clusters breadth first: the same
 * spins after each sweep, bit for bit, for every instruction set and any number of threads, whether
 * these have replicas of their own or share a lattice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/ising_compare.h"
#include "support/cases.h"

enum { SWEEPS = 2, THREADS = 3, REPLICAS = 4, ROOM = 5, RUNS = 3, CLUSTERS = 7 };

/* Near the transitions, hot, and so cold that nearly all bonds are active. */
static const double betas[RUNS] = {0.44, 0.15, 1.5};

/* Sides of 2; rows that end within vectors; more sites than one part of a drawing. */
static const struct ising_shape shapes[] = {
    {2, {2, 2, 1}},    {2, {2, 130, 1}}, {2, {34, 18, 1}}, {2, {130, 66, 1}},
    {2, {2050, 4, 1}}, {3, {2, 2, 2}},   {3, {2, 4, 6}},   {3, {6, 4, 10}},
    {3, {8, 8, 8}},    {3, {34, 2, 4}},  {3, {2, 2, 66}},  {3, {18, 16, 16}},
};

static const struct ising_feeling feelings[] = {
    {.coupling = 1.0},
    {.coupling = -1.3},
    {.coupling = 1.0, .field = 0.3},
    {.coupling = -0.9, .field = -0.2},
    {.coupling = 1.0, .couplings = LATTICE_BIMODAL, .positive = 0.5, .sample_each = true},
    {.coupling = 1.0, .field = -0.4, .couplings = LATTICE_BIMODAL, .positive = 0.8},
    {.coupling = 1.0, .couplings = LATTICE_GAUSSIAN, .sample_each = true},
    {.coupling = 1.0, .field = 0.1, .couplings = LATTICE_GAUSSIAN},
    {.coupling = 1.0, .fields = LATTICE_BIMODAL, .width = 0.7, .sample_each = true},
    {.coupling = 1.0, .field = 0.25, .fields = LATTICE_BIMODAL, .width = 0.7},
    {.coupling = -1.2, .fields = LATTICE_GAUSSIAN, .width = 0.8, .sample_each = true},
    {.coupling = 1.0, .couplings = LATTICE_GAUSSIAN, .fields = LATTICE_GAUSSIAN, .width = 0.5},
};

enum { SHAPES = sizeof shapes / sizeof *shapes, FEELINGS = sizeof feelings / sizeof *feelings };

static struct ising_case
make_case(const struct gpumc_kernel_ops *kernel, const struct ising_shape *shape,
          const struct ising_feeling *feeling, enum ising_move update, size_t number)
{
  struct ising_case with = case_of(kernel, shape, feeling, ROOM);
  with.runs = RUNS;
  with.first_run = (uint32_t)number % 5;
  with.update = update;
  with.clusters = CLUSTERS;
  with.seed = 41 + number;
  with.rounds = number % 2 == 0 ? 10 : 7;
  return with;
}

/* Several sweeps in a call, then one. */
static void follow(const struct ising_case *with, size_t replicas)
{
  struct ising_pair pair;
  pair_open(&pair, with, replicas);
  pair_sweep_reference(&pair, SWEEPS, betas);
  fixture_sweep_each(&pair.fixture, SWEEPS, betas);
  pair_expect_replicas(&pair);
  pair_sweep_reference(&pair, 1, betas);
  fixture_sweep_each(&pair.fixture, 1, betas);
  pair_expect_replicas(&pair);
  pair_close(&pair);
}

static void compare_update(enum ising_move update)
{
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = case_cluster_kernels(kernel);
  FOR_CASES (cases)
    for (size_t k = 0; k < kernels; k++)
      for (size_t shape = 0; shape < SHAPES; shape++)
        for (size_t feeling = 0; feeling < FEELINGS; feeling++)
          if (cases_take(&cases))
            compare_settings(make_case(kernel[k], &shapes[shape], &feelings[feeling], update,
                                       cases_number(&cases)),
                             THREADS, REPLICAS, follow);
}

static void swendsen_wang_sweeps(void **state)
{
  (void)state;
  compare_update(ISING_MOVE_SWENDSEN_WANG);
}

static void wolff_sweeps(void **state)
{
  (void)state;
  compare_update(ISING_MOVE_WOLFF);
}

/* One replica of each run: threads share the lattice, and its rows or planes are not a multiple of
 * them. */
static void lattices_shared_by_threads(void **state)
{
  (void)state;
  static const struct ising_shape large[] = {
      {2, {128, 130, 1}}, {2, {1026, 16, 1}}, {3, {32, 32, 14}}, {3, {66, 64, 4}}};
  static const struct ising_feeling kinds[] = {
      {.coupling = 1.0},
      {.coupling = 1.0, .field = 0.02},
      {.coupling = 1.0, .couplings = LATTICE_GAUSSIAN},
      {.coupling = 1.0, .fields = LATTICE_GAUSSIAN, .width = 0.3}};
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = case_cluster_kernels(kernel);
  FOR_CASES (cases)
    for (size_t k = 0; k < kernels; k++)
      for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        for (size_t j = 0; j < sizeof kinds / sizeof *kinds; j++) {
          struct ising_case with =
              make_case(kernel[k], &large[i], &kinds[j], ISING_MOVE_SWENDSEN_WANG, 4 * i + j);
          with.runs = 1;
          with.capacity = 1;
          if (cases_take(&cases))
            compare_settings(with, THREADS, 1, follow);
        }
}

/* Labels that do not fit into the shared memory of a GPU: tiles and seams, whole ones and parts;
 * one replica, or several. */
static void lattices_in_tiles(void **state)
{
  (void)state;
  static const struct ising_shape large[] = {{2, {256, 256, 1}}, {2, {290, 196, 1}},
                                             {2, {2, 3000, 1}},  {2, {49000, 2, 1}},
                                             {3, {66, 36, 34}},  {3, {2, 40, 40}}};
  static const struct ising_feeling kinds[] = {
      {.coupling = 1.0},
      {.coupling = -1.0, .field = 0.02},
      {.coupling = 1.0, .couplings = LATTICE_BIMODAL, .positive = 0.7, .sample_each = true},
      {.coupling = 1.0, .fields = LATTICE_GAUSSIAN, .width = 0.1}};
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = case_cluster_kernels(kernel);
  FOR_CASES (cases)
    for (size_t k = 0; k < kernels; k++)
      for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        for (size_t j = 0; j < sizeof kinds / sizeof *kinds; j++) {
          if (!cases_take(&cases))
            continue;
          struct ising_case with = make_case(kernel[k], &large[i], &kinds[j],
                                             ISING_MOVE_SWENDSEN_WANG, cases_number(&cases));
          with.runs = 1 + j % 2;
          compare_settings(with, THREADS, 1 + i % 2, follow);
          with.update = ISING_MOVE_WOLFF;
          if (i % 4 == 0)
            compare_settings(with, THREADS, 1, follow);
        }
}

/* While the number of clusters is tuned, a sweep ends with the cluster by which four times as many
 * spins as there are sites have been flipped. Control: without that limit spins differ. */
static void sweeps_that_end_early(void **state)
{
  (void)state;
  static const double cold[] = {0.5, 0.45};
  static const size_t chosen[] = {2, 7, 8};
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = case_cluster_kernels(kernel);
  for (size_t k = 0; k < kernels; k++)
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++)
      for (int limited = 0; limited < 2; limited++) {
        struct ising_pair pair;
        struct ising_case with =
            make_case(kernel[k], &shapes[chosen[i]], &feelings[i % 2], ISING_MOVE_WOLFF, i);
        with.runs = 2;
        with.clusters = 200; /* random spins have small ones */
        with.tunes = true;
        if (!fixture_serves(&with))
          continue;
        pair_open(&pair, &with, REPLICAS);
        for (size_t m = 0; m < with.runs && limited; m++)
          pair.reference[m].limit = 4 * pair.reference[m].sites;
        pair_sweep_reference(&pair, 1, cold);
        fixture_sweep_each(&pair.fixture, 1, cold);
        if (limited)
          pair_expect_replicas(&pair);
        else
          assert_true(fixture_alike(&pair.fixture, 1, &pair.reference[1]) < REPLICAS);
        pair_close(&pair);
      }
}

/* Where no bond is active, or all that their spins satisfy. */
static void extreme_controls(void **state)
{
  (void)state;
  static const double extreme[] = {0.0, 1e-30, 300.0, 1e5, 1e30};
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = case_cluster_kernels(kernel);
  for (size_t k = 0; k < kernels; k++)
    for (size_t i = 0; i < 4 * sizeof extreme / sizeof *extreme; i++) {
      const enum ising_move update = i % 2 == 0 ? ISING_MOVE_SWENDSEN_WANG : ISING_MOVE_WOLFF;
      struct ising_pair pair;
      struct ising_case with =
          make_case(kernel[k], &shapes[2], &feelings[i % 4 < 2 ? 0 : 10], update, i);
      with.runs = 1;
      if (!fixture_serves(&with))
        continue;
      pair_open(&pair, &with, REPLICAS);
      pair_sweep_reference(&pair, SWEEPS, &extreme[i / 4]);
      fixture_sweep(&pair.fixture, SWEEPS, extreme[i / 4]);
      pair_expect_replicas(&pair);
      pair_close(&pair);
    }
}

/* Without its field a square lattice has two sites a counter. */
static void a_field_that_comes_and_goes(void **state)
{
  (void)state;
  static const double fields[] = {0.0, 0.2, -0.1, 0.0};
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = case_cluster_kernels(kernel);
  for (size_t k = 0; k < kernels; k++)
    for (size_t i = 0; i < 4; i++) {
      struct ising_pair pair;
      struct ising_case with = make_case(kernel[k], &shapes[2], &feelings[i < 2 ? 0 : 4],
                                         ISING_MOVE_SWENDSEN_WANG + i % 2, i);
      with.runs = 1;
      with.moved = ISING_FIELD;
      with.fixes = true;
      with.fixed[ISING_BETA] = betas[0];
      if (!fixture_serves(&with))
        continue;
      pair_open(&pair, &with, REPLICAS);
      for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
        pair.reference->moved_field = fields[f];
        pair_sweep_reference(&pair, 1, &betas[0]);
        fixture_sweep(&pair.fixture, 1, fields[f]);
        pair_expect_replicas(&pair);
      }
      pair_close(&pair);
    }
}

int main(void)
{
  test_device_require();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(swendsen_wang_sweeps),        cmocka_unit_test(wolff_sweeps),
      cmocka_unit_test(lattices_shared_by_threads),  cmocka_unit_test(lattices_in_tiles),
      cmocka_unit_test(sweeps_that_end_early),       cmocka_unit_test(extreme_controls),
      cmocka_unit_test(a_field_that_comes_and_goes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
