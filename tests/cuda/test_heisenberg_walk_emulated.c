/* The work of a GPU's thread in a walk of O(n) spins, run on the CPU thread by thread, gives the
 * bits of the CPU's kernels: replicas and visits, in both precisions, on lattices of one to three
 * dimensions, by the energy and by the magnetization. Control: another time.
 *
 * This needs no GPU. exact_test_heisenberg_walk_cuda shows that a GPU computes the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/simulation/ensemble.h"
#include "models/heisenberg/heisenberg.h"
#include "models/heisenberg/walk/heisenberg_walk_host.h"
#include "support/heisenberg_walk_emulated.h"
#include "support/status.h"

enum { FIRST = 96, REPLICAS = 40, RUN = 3, SEED = 91, STEPS = 40, BINS = 80 };
static const uint64_t begin = ((uint64_t)1 << 32) - STEPS / 2;

static const struct heisenberg_settings lattices[] = {
    {.dimension = 1, .shape = {2}},       {.dimension = 1, .shape = {10}},
    {.dimension = 2, .shape = {2, 2}},    {.dimension = 2, .shape = {6, 4}},
    {.dimension = 2, .shape = {4, 10}},   {.dimension = 3, .shape = {2, 2, 2}},
    {.dimension = 3, .shape = {4, 6, 2}}, {.dimension = 3, .shape = {6, 4, 8}},
};

/* An ensemble on the CPU that walks, and its replicas before and after in portable form. */
struct reference {
  bool single, by_field;
  struct gpumc_device device;
  struct gpumc_model model;
  struct gpumc_ensemble ensemble;
  struct gpumc_weight_table table;
  int64_t lowest, *log_weight;
  uint64_t time, *visits;
  uint32_t steps;
  double control[HEISENBERG_CONTROLS], *before, *after;
};

static void get(struct reference *reference, double *portable)
{
  struct gpumc_error error = {0};
  assert_ok(reference->ensemble.ops->get(&reference->ensemble, 0, 0, REPLICAS, (uint8_t *)portable,
                                         &error),
            &error);
}

/* Weights that differ from level to level and pull to one side. */
static void make_table(struct reference *reference)
{
  const size_t channel = reference->by_field ? HEISENBERG_MAGNETIZATION_X : HEISENBERG_ENERGY;
  const double width = 2 * reference->model.bound[channel] / BINS;
  const struct gpumc_grid bins = gpumc_model_bins(&reference->model, channel, (int64_t)width);
  reference->lowest = bins.lowest;
  reference->log_weight = calloc(bins.levels, sizeof *reference->log_weight);
  reference->visits = calloc(bins.levels, sizeof *reference->visits);
  assert_true(reference->log_weight != NULL && reference->visits != NULL);
  for (size_t l = 0; l < bins.levels; l++)
    reference->log_weight[l] = (int64_t)l * 700000000 + (int64_t)(l * 7919 % 1000) * 1000000;
  reference->time = begin;
  reference->steps = STEPS;
  reference->table = (struct gpumc_weight_table){.channel = channel,
                                                 .lowest = &reference->lowest,
                                                 .spacing = bins.spacing,
                                                 .levels = bins.levels,
                                                 .log_weight = reference->log_weight,
                                                 .time = &reference->time,
                                                 .steps = &reference->steps,
                                                 .visits = reference->visits,
                                                 .parts = 1};
}

static struct gpumc_target target_of(const struct reference *reference)
{
  return (struct gpumc_target){.kind = GPUMC_TABULATED,
                               .control = reference->by_field ? reference->control : NULL,
                               .table = &reference->table};
}

static void
open_reference(const struct heisenberg_settings *settings, int way, struct reference *reference)
{
  struct gpumc_error error = {0};
  const struct gpumc_ensemble_plan plan = {.runs = 1,
                                           .capacity = REPLICAS,
                                           .samples = 1,
                                           .first_replica = FIRST,
                                           .all_replicas = FIRST + REPLICAS,
                                           .walks = true};
  memset(reference, 0, sizeof *reference);
  reference->single = way % 2 == 0;
  reference->by_field = way / 2 == 1;
  reference->control[HEISENBERG_BETA] = 0.7;
  reference->control[HEISENBERG_FIELD] = 0.1;
  assert_ok(gpumc_device_open("cpu", 1, &reference->device, &error), &error);
  assert_ok(heisenberg_instance(settings, &reference->model, &error), &error);
  assert_ok(
      gpumc_ensemble_create(reference->single ? &heisenberg_float_cpu : &heisenberg_double_cpu,
                            &reference->model, &reference->device, &plan, SEED,
                            settings->shape[0] % 4 == 0 ? 10 : 7, &reference->ensemble, &error),
      &error);
  assert_ok(gpumc_ensemble_start(&reference->ensemble, RUN, 1, REPLICAS, &error), &error);
  make_table(reference);
  reference->before = malloc(REPLICAS * reference->model.portable_bytes);
  reference->after = malloc(REPLICAS * reference->model.portable_bytes);
  assert_true(reference->before != NULL && reference->after != NULL);
  get(reference, reference->before);
  const struct gpumc_target target = target_of(reference);
  assert_ok(reference->ensemble.ops->walk(&reference->ensemble, &target, &error), &error);
  get(reference, reference->after);
}

static void close_reference(struct reference *reference)
{
  free(reference->before);
  free(reference->after);
  free(reference->log_weight);
  free(reference->visits);
  gpumc_ensemble_free(&reference->ensemble);
  reference->model.ops->destroy(&reference->model);
  gpumc_device_close(&reference->device);
}

/* Converts from portable form to the lanes of all groups, or back. */
static void convert(const struct reference *reference, double *portable, void *lanes, bool back)
{
  const struct heisenberg_parameters *parameters = heisenberg_parameters(&reference->model);
  const size_t n = (size_t)parameters->components, sites = reference->model.sites;
  for (size_t i = 0; i < REPLICAS * sites * n; i++) {
    const size_t a = i % n, site = i / n % sites, r = i / n / sites;
    const size_t position = gpumc_checkerboard_position(&parameters->lattice, site);
    const size_t at = ((r / 32 * sites + position) * n + a) * 32 + r % 32;
    if (back)
      portable[i] = reference->single ? (double)((float *)lanes)[at] : ((double *)lanes)[at];
    else if (reference->single)
      ((float *)lanes)[at] = (float)portable[i];
    else
      ((double *)lanes)[at] = portable[i];
  }
}

/* Walks all replicas from `time` on, and adds up visits. */
static void emulate(const struct reference *reference, uint64_t time, void *lanes, uint64_t *visits)
{
  struct gpumc_error error = {0};
  const struct gpumc_target target = target_of(reference);
  const struct heisenberg_parameters *parameters = heisenberg_parameters(&reference->model);
  const size_t bytes = reference->model.portable_bytes / (reference->single ? 2 : 1);
  double *weight = malloc((reference->table.levels + 2) * sizeof *weight);
  assert_non_null(weight);
  heisenberg_walk_weights(&reference->table, 1, weight);
  struct heisenberg_walk_emulated job = {
      .lattice = heisenberg_gpu_lattice_of(&parameters->lattice),
      .components = (uint32_t)parameters->components,
      .single = reference->single,
      .canonical = heisenberg_walk_canonical_of(&reference->model, &target, 0),
      .lowest = (double)reference->lowest,
      .weight = weight,
      .random = gpumc_ensemble_random(&reference->ensemble, 0),
      .replica = FIRST,
      .steps = STEPS,
      .time = time,
      .visits = visits,
  };
  assert_ok(heisenberg_walk_rule_make(&reference->model, &reference->table, &job.rule, &error),
            &error);
  for (; job.replica < FIRST + REPLICAS; job.replica++) {
    job.lanes = (unsigned char *)lanes + (job.replica - FIRST) / 32 * 32 * bytes;
    heisenberg_walk_emulate(&job);
  }
  free(weight);
}

/* Returns the number of components of spins, and of visits, that differ from the CPU's. */
static size_t differences(struct heisenberg_settings settings, int way, uint64_t ahead)
{
  struct reference reference;
  size_t different = 0;
  open_reference(&settings, way, &reference);
  void *lanes = calloc(2 * 32, reference.model.portable_bytes);
  uint64_t *visits = calloc(reference.table.levels, sizeof *visits);
  assert_true(lanes != NULL && visits != NULL);
  convert(&reference, reference.before, lanes, false);
  emulate(&reference, begin + ahead, lanes, visits);
  convert(&reference, reference.before, lanes, true);
  for (size_t i = 0; i < REPLICAS * reference.model.portable_bytes / sizeof(double); i++)
    different += memcmp(&reference.before[i], &reference.after[i], sizeof(double)) != 0;
  for (size_t l = 0; l < reference.table.levels; l++)
    different += visits[l] != reference.visits[l];
  free(lanes);
  free(visits);
  close_reference(&reference);
  return different;
}

static struct heisenberg_settings settings_of(size_t lattice, int components, int way)
{
  struct heisenberg_settings settings = lattices[lattice];
  settings.components = components;
  settings.coupling = lattice % 2 == 0 ? 1.0 : -0.8;
  settings.field = way / 2 == 1 || lattice % 3 == 0 ? 0.0 : 0.3;
  return settings;
}

static void threads_have_the_bits_of_the_cpu(void **state)
{
  (void)state;
  for (size_t lattice = 0; lattice < sizeof lattices / sizeof *lattices; lattice++)
    for (int components = 2; components <= 3; components++)
      for (int way = 0; way < 4; way++) {
        const struct heisenberg_settings settings = settings_of(lattice, components, way);
        const size_t different = differences(settings, way, 0);
        if (different > 0)
          fail_msg("%zux%zux%zu, O(%d), way %d: %zu numbers differ", settings.shape[0],
                   settings.shape[1], settings.shape[2], components, way, different);
      }
}

static void another_time_is_noticed(void **state)
{
  (void)state;
  const size_t components = (size_t)REPLICAS * 6 * 4 * 3;
  assert_true(differences(settings_of(3, 3, 0), 0, 1) > components / 10);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(threads_have_the_bits_of_the_cpu),
      cmocka_unit_test(another_time_is_noticed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
