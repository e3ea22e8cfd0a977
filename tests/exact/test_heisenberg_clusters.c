/* Cluster moves of O(n) spins are those of the slow reference, which searches clusters breadth
 * first: the same spins, numbers of reflected ones and improved estimators after each sweep, bit
 * for bit, for every instruction set and any number of threads, whether these have replicas of
 * their own or share a lattice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/heisenberg_clusters.h"
#include "support/heisenberg_job.h"
#include "support/kernel_side.h"
#include "support/cases.h"
#include "support/status.h"
#include "support/test_device.h"

enum { RUNS = 3, ROOM = 3, FIRST_RUN = 4, SEED = 1989, SWEEPS = 3, CLUSTERS = 5, MANY = 40 };

static const uint32_t sizes[RUNS] = {3, 2, 3};
/* Hot, near the transitions, and so cold that most bonds are active. */
static const double beta[RUNS] = {0.3, 0.9, 6.0}, field[RUNS] = {0.0, 0.3, -1.2};

/* Sides of 2; rows that end within vectors; more sites than one part of a drawing. */
static const struct heisenberg_settings lattices[] = {
    {.dimension = 1, .shape = {2}},         {.dimension = 1, .shape = {6}},
    {.dimension = 1, .shape = {2050}},      {.dimension = 1, .shape = {4400}},
    {.dimension = 2, .shape = {2, 2}},      {.dimension = 2, .shape = {6, 4}},
    {.dimension = 2, .shape = {34, 18}},    {.dimension = 2, .shape = {2, 130}},
    {.dimension = 2, .shape = {130, 34}},   {.dimension = 2, .shape = {2050, 4}},
    {.dimension = 3, .shape = {2, 2, 2}},   {.dimension = 3, .shape = {6, 4, 10}},
    {.dimension = 3, .shape = {8, 8, 8}},   {.dimension = 3, .shape = {34, 2, 4}},
    {.dimension = 3, .shape = {2, 2, 130}}, {.dimension = 3, .shape = {16, 18, 14}},
};
enum { LATTICES = sizeof lattices / sizeof *lattices };

struct job {
  struct heisenberg_job of;
  bool tunes;   /* the number of Wolff's clusters, MANY before each of two sweeps */
  bool limited; /* so does the reference */
  enum heisenberg_clusters_fault fault;
};

static uint32_t clusters_of(const struct job *job)
{
  return job->of.move != HEISENBERG_WOLFF ? 0 : job->tunes ? MANY : CLUSTERS;
}

static struct gpumc_ensemble_plan plan_of(const struct job *job, size_t runs)
{
  struct gpumc_ensemble_plan plan = heisenberg_job_plan(&job->of, runs, ROOM);
  if (job->tunes)
    plan.warm_up = UINT32_MAX;
  else
    plan.options.own[2] = CLUSTERS;
  return plan;
}

/* Returns relative[samples][sites][dimension]; NULL without quenched couplings. */
static double *relative_couplings(const struct gpumc_model *model, size_t samples)
{
  const struct gpumc_checkerboard *lattice = &heisenberg_parameters(model)->lattice;
  const size_t dimension = lattice->dimension, count = heisenberg_couplings_count(model);
  struct gpumc_error error = {0};
  if (count == 0)
    return NULL;
  double *kept = calloc(samples * count, sizeof *kept);
  double *relative = calloc(samples * model->sites * dimension, sizeof *relative), *to = relative;
  assert_ok(heisenberg_couplings_fill(model, 0, samples, false, kept, &error), &error);
  for (size_t s = 0; s < samples; s++)
    for (size_t i = 0; i < model->sites; i++)
      for (size_t d = 0; d < dimension; d++) {
        const struct gpumc_checkerboard_place place = gpumc_checkerboard_place(lattice, i);
        const size_t towards =
            heisenberg_towards(gpumc_checkerboard_side_is_back(&place), (uint32_t)d, true);
        *to++ =
            kept[s * count + (place.colour * 2 * dimension + towards) * lattice->colour + place.k];
      }
  free(kept);
  return relative;
}

/* What the reference's replicas are, spins[runs][ROOM][sites][n], how many spins it has reflected,
 * and what it measures. */
struct state {
  double *spins;
  uint64_t reflected[RUNS];
  int64_t square[RUNS * ROOM], wave[RUNS * ROOM];
};

/* The reference's sweeps of all replicas; adds up those reflected. */
static void sweep_reference(const struct job *job, const struct gpumc_ensemble *ensemble,
                            uint32_t time, uint32_t sweeps, struct state *state)
{
  const struct gpumc_model *model = ensemble->model;
  const struct heisenberg_parameters *parameters = heisenberg_parameters(model);
  const size_t values = model->portable_bytes / sizeof(double);
  double *relative = relative_couplings(model, job->of.samples);
  for (size_t m = 0; m < ensemble->runs; m++)
    for (size_t r = 0; r < sizes[m]; r++) {
      struct heisenberg_clusters of = {
          .dimension = job->of.settings.dimension,
          .components = (size_t)job->of.settings.components,
          .beta = job->of.in_field ? HEISENBERG_JOB_BETA : beta[m],
          .coupling = parameters->coupling * parameters->weight,
          .field = job->of.in_field ? field[m] : parameters->field,
          .single = strcmp(job->of.variant, "float") == 0,
          .random = gpumc_ensemble_random(ensemble, m),
          .replica = (uint32_t)r,
          .limit = job->limited ? 4 * model->sites : 0,
          .fault = job->fault,
          .spin = state->spins + (m * ROOM + r) * values,
      };
      memcpy(of.shape, job->of.settings.shape, sizeof of.shape);
      if (relative != NULL)
        of.relative =
            relative + (job->of.samples > 1 ? r : 0) * model->sites * job->of.settings.dimension;
      for (uint32_t s = 0; s < sweeps; s++)
        state->reflected[m] += heisenberg_clusters_sweep(&of, time + s, clusters_of(job));
      heisenberg_clusters_measure(&of, time + sweeps, &model->quantum[HEISENBERG_CLUSTER_SQUARE],
                                  &state->square[m * ROOM + r], &state->wave[m * ROOM + r]);
    }
  free(relative);
}

static void sweep(struct kernel_side *side, const struct job *job, uint32_t sweeps)
{
  struct gpumc_error error = {0};
  for (size_t m = 0; m < side->ensemble.runs && job->tunes; m++)
    side->ensemble.step[m] = MANY;
  assert_ok(gpumc_ensemble_sweep_each(&side->ensemble, sweeps, job->of.in_field ? field : beta,
                                      side->channel, &error),
            &error);
}

/* Sweeps of the first call. */
static uint32_t sweeps_of(const struct job *job)
{
  return job->tunes ? 1 : SWEEPS;
}

/* The reference after several sweeps, and after one more. */
struct trace {
  struct state at[2];
};

static void
open_side(const struct job *job, struct gpumc_device device, size_t runs, struct kernel_side *side)
{
  struct gpumc_error error = {0};
  const struct gpumc_ensemble_plan plan = plan_of(job, runs);
  assert_ok(heisenberg_instance(&job->of.settings, &side->model, &error), &error);
  side_open(side, device, job->of.variant, &plan, SEED, job->of.rounds, FIRST_RUN, sizes);
}

/* From the starting states of the kernel. */
static struct trace trace_of(const struct job *job, size_t runs)
{
  struct kernel_side side;
  struct trace trace = {0};
  open_side(job, test_device(test_setting()), runs, &side);
  const size_t bytes = runs * ROOM * side.model.portable_bytes;
  trace.at[0].spins = (double *)(void *)side_replicas(&side);
  sweep_reference(job, &side.ensemble, 0, sweeps_of(job), &trace.at[0]);
  trace.at[1] = trace.at[0];
  trace.at[1].spins = malloc(bytes);
  memcpy(trace.at[1].spins, trace.at[0].spins, bytes);
  sweep_reference(job, &side.ensemble, sweeps_of(job), 1, &trace.at[1]);
  side_close(&side);
  return trace;
}

/* Returns whether the kernel's channels of clusters are the reference's. */
static bool measures(struct kernel_side *side, const struct state *state, size_t runs)
{
  int64_t square[RUNS * ROOM], wave[RUNS * ROOM];
  bool same = true;
  side_read(side, square, side->channel[HEISENBERG_CLUSTER_SQUARE], runs * ROOM * sizeof *square);
  side_read(side, wave, side->channel[HEISENBERG_CLUSTER_WAVE], runs * ROOM * sizeof *wave);
  for (size_t m = 0; m < runs; m++)
    same = same &&
           memcmp(square + m * ROOM, state->square + m * ROOM, sizes[m] * sizeof *square) == 0 &&
           memcmp(wave + m * ROOM, state->wave + m * ROOM, sizes[m] * sizeof *wave) == 0;
  return same;
}

/* Returns whether the kernel's spins, and what it measures, are the reference's after several
 * sweeps in one call and one in another. */
static bool
follows(const struct job *job, const struct trace *trace, struct gpumc_device device, size_t runs)
{
  struct kernel_side side;
  uint64_t counted[RUNS];
  bool same = true;
  open_side(job, device, runs, &side);
  const size_t bytes = side.model.portable_bytes;
  for (size_t i = 0; i < 2; i++) {
    sweep(&side, job, i == 0 ? sweeps_of(job) : 1);
    uint8_t *found = side_replicas(&side);
    for (size_t m = 0; m < runs; m++)
      same =
          same && memcmp(found + m * ROOM * bytes, (uint8_t *)trace->at[i].spins + m * ROOM * bytes,
                         sizes[m] * bytes) == 0;
    free(found);
    same = same && measures(&side, &trace->at[i], runs);
    if (job->of.move != HEISENBERG_WOLFF || job->tunes)
      continue;
    side_read(&side, counted, side.ensemble.accepted, runs * sizeof *counted);
    same = same && memcmp(counted, trace->at[i].reflected, runs * sizeof *counted) == 0;
  }
  side_close(&side);
  return same;
}

static void free_trace(struct trace *trace)
{
  free(trace->at[0].spins);
  free(trace->at[1].spins);
}

static void compare(const struct job *job, size_t runs)
{
  struct test_setting setting[TEST_SETTINGS_MAXIMUM];
  const size_t settings = test_settings(1, 3, true, setting);
  const size_t *shape = job->of.settings.shape;
  struct trace trace = trace_of(job, runs);
  for (size_t i = 0; i < settings; i++)
    if (!follows(job, &trace, test_device(setting[i]), runs))
      fail_msg("%s, %zu x %zu x %zu, O(%d), %s, %s", job->of.variant, shape[0], shape[1], shape[2],
               job->of.settings.components, heisenberg_moves[job->of.move].name,
               test_setting_text(setting[i]));
  free_trace(&trace);
}

static struct job job_of(size_t lattice, int components, const char *variant, uint32_t move)
{
  return (struct job){
      .of = heisenberg_job_of(&lattices[lattice], lattice, components, variant, move)};
}

/* Half of the jobs have quenched couplings, one sample or one for each replica. */
static void compare_variant(const char *variant)
{
  FOR_CASES (cases)
    for (size_t lattice = 0; lattice < LATTICES; lattice++)
      for (int components = 2; components <= 3; components++)
        for (uint32_t move = HEISENBERG_LOCAL_MOVES; move < HEISENBERG_MOVES; move++)
          for (int quenched = 0; quenched < 2; quenched++) {
            struct job job = job_of(lattice, components, variant, move);
            if (quenched)
              heisenberg_job_quench(&job.of, lattice, ROOM);
            if (cases_take(&cases))
              compare(&job, RUNS);
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

/* One run: threads share the lattice, and its rows or planes are not a multiple of them. */
static void lattices_shared_by_threads(void **state)
{
  (void)state;
  static const struct heisenberg_settings large[] = {{.dimension = 2, .shape = {128, 130}},
                                                     {.dimension = 2, .shape = {1026, 16}},
                                                     {.dimension = 3, .shape = {32, 32, 14}}};
  FOR_CASES (cases)
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
      for (int components = 2; components <= 3; components++) {
        struct job job =
            job_of(0, components, components == 2 ? "float" : "double", HEISENBERG_SWENDSEN_WANG);
        memcpy(job.of.settings.shape, large[i].shape, sizeof job.of.settings.shape);
        job.of.settings.dimension = large[i].dimension;
        job.of.settings.field = i % 2 == 0 ? 0.0 : 0.02;
        job.of.in_field = false;
        if (cases_take(&cases))
          compare(&job, 1);
      }
}

/* While the number of clusters is tuned, a sweep ends with the cluster by which four times as many
 * spins as there are sites have been reflected. Control: without that limit spins differ. */
static void sweeps_that_end_early(void **state)
{
  (void)state;
  FOR_CASES (cases)
    for (size_t lattice = 6; lattice < LATTICES; lattice += 4)
      for (int components = 2; components <= 3; components++)
        for (int limited = 0; limited < 2; limited++) {
          if (!cases_take(&cases))
            continue;
          struct job job =
              job_of(lattice, components, components == 2 ? "float" : "double", HEISENBERG_WOLFF);
          job.of.settings.field = 0.0;
          job.of.in_field = false;
          job.tunes = true;
          job.limited = limited;
          struct trace trace = trace_of(&job, RUNS);
          assert_int_equal(follows(&job, &trace, test_device(test_setting()), RUNS), limited);
          free_trace(&trace);
        }
}

/* Controls: each fault of the reference is noticed. */
static void faults_are_noticed(void **state)
{
  (void)state;
  FOR_CASES (cases)
    for (uint32_t move = HEISENBERG_LOCAL_MOVES; move < HEISENBERG_MOVES; move++)
      for (int fault = HEISENBERG_CLUSTERS_BONDS; fault <= HEISENBERG_CLUSTERS_SPLIT; fault++) {
        if (!cases_take(&cases))
          continue;
        struct job job = job_of(11, 3, "double", move);
        job.of.settings.field = 0.3;
        job.of.in_field = false;
        for (int wrong = 0; wrong < 2; wrong++) {
          job.fault = wrong ? (enum heisenberg_clusters_fault)fault : HEISENBERG_CLUSTERS_RIGHT;
          struct trace trace = trace_of(&job, RUNS);
          assert_int_equal(follows(&job, &trace, test_device(test_setting()), RUNS), !wrong);
          free_trace(&trace);
        }
      }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(in_double),
      cmocka_unit_test(in_float),
      cmocka_unit_test(lattices_shared_by_threads),
      cmocka_unit_test(sweeps_that_end_early),
      cmocka_unit_test(faults_are_noticed),
  };
  test_device_require();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
