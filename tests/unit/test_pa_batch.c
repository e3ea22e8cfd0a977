/* Batches of population annealing: bounded in memory and updates, the same on every device, and
 * together covering all runs once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>

#include "algorithms/pa/pa_state.h"
#include "core/device/device.h"
#include "models/ising2d/ising2d.h"

/* Limits of one batch, as stated in pa_plan.c. */
static const double bytes_maximum = 0x1p28, updates_maximum = 0x1p35;

struct batch_case {
  size_t shape[2];
  size_t population;
  uint32_t sweeps;
  size_t runs, blocks;
};

static const struct batch_case cases[] = {
    {{2, 2}, 1, 1, 65535, 1},
    {{2, 2}, 100, 1, 65535, 64},
    {{2, 2}, 100, 0, 65535, 4096},
    {{4, 4}, 10000, 10000, 10000, 64},
    {{4, 4}, 10000, 0, 10000, 64},
    {{8, 10}, 201, 1, 1, 64},
    {{8, 10}, 201, 1, 5, 64},
    {{64, 64}, 1000, 500, 300, 64},
    {{64, 64}, 100, 1, 10000, 100},
    {{256, 256}, 7000, 1, 3, 64},
    {{1024, 1024}, 1000, 100, 7, 64},
    {{64, 64}, 1000000, 10, 4, 64},
    {{16, 16}, 1000000, 4294967295u, 3, 64},
};

struct batch_job {
  struct pa_settings settings;
  struct gpumc_model model;
};

static void open_job(struct batch_job *job, const struct batch_case *with)
{
  struct gpumc_error error = {0};
  job->settings = (struct pa_settings){
      .population = with->population,
      .sweeps = with->sweeps,
      .runs = with->runs,
      .blocks = with->blocks,
      .strata = 1,
      .run_groups = 1,
      .observables = gpumc_observables_select(&gpumc_model_ising2d, 0, NULL),
  };
  if (ising2d_instance(with->shape, 1.0, 0.0, &job->model, &error) != GPUMC_OK)
    fail_msg("%s", gpumc_error_text(&error));
}

/* Returns the plan for the batches of one process. */
static struct pa_population_plan population_plan(const struct batch_job *job)
{
  const size_t runs = pa_batch_runs(&job->settings, &job->model, 1);
  return pa_population_plan(&job->settings, &job->model, runs, 0);
}

/* Runs `body` for every case. */
static void for_every_case(void (*body)(struct batch_job *job))
{
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct batch_job job;
    open_job(&job, &cases[i]);
    body(&job);
    job.model.ops->destroy(&job.model);
  }
}

static void check_bounds(struct batch_job *job)
{
  const struct pa_settings *settings = &job->settings;
  const size_t runs = pa_batch_runs(settings, &job->model, 1);
  const double replicas = (double)runs * (double)settings->population;
  assert_in_range(runs, 1, settings->runs);
  if (runs == 1)
    return;
  assert_true(replicas * (double)job->model.sites * settings->sweeps <= updates_maximum);
  assert_true(2 * replicas * (double)job->model.portable_bytes <= bytes_maximum);
}

static void test_bounds(void **state)
{
  (void)state;
  for_every_case(check_bounds);
}

/* 2^35 updates are 8388.6 sweeps of 1000 replicas at L = 64. */
static void test_as_many_as_the_updates_allow(void **state)
{
  struct batch_job job;
  (void)state;
  open_job(&job, &(struct batch_case){{64, 64}, 1000, 500, 300, 64});
  assert_int_equal(pa_batch_runs(&job.settings, &job.model, 1), 16);
  job.settings.sweeps = 4194;
  assert_int_equal(pa_batch_runs(&job.settings, &job.model, 1), 2);
  job.settings.sweeps = 4195;
  assert_int_equal(pa_batch_runs(&job.settings, &job.model, 1), 1);
  job.settings.sweeps = 8389;
  assert_int_equal(pa_batch_runs(&job.settings, &job.model, 1), 1);
  job.settings.sweeps = 80;
  job.settings.runs = 20;
  assert_int_equal(pa_batch_runs(&job.settings, &job.model, 1), 20);
  job.model.ops->destroy(&job.model);
}

/* Checks that several processes have that many times what one has, up to all runs. */
static void check_processes(struct batch_job *job)
{
  static const size_t numbers[] = {1, 2, 3, 7, 64, 100000};
  const size_t one = pa_batch_runs(&job->settings, &job->model, 1), runs = job->settings.runs;
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    const size_t most = one * numbers[i] < runs ? one * numbers[i] : runs;
    assert_int_equal(pa_batch_runs(&job->settings, &job->model, numbers[i]), most);
  }
}

static void test_every_process_has_as_many(void **state)
{
  (void)state;
  for_every_case(check_processes);
}

static size_t room(const struct batch_job *job, size_t processes, size_t first, size_t begun)
{
  const struct gpumc_spread spread = {.processes = processes, .begun = {first, begun}};
  return pa_batch_room(&job->settings, &job->model, &spread);
}

/* With 10 runs, where each is as much as a process takes. */
static void test_room_for_what_has_begun(void **state)
{
  struct batch_job job;
  (void)state;
  open_job(&job, &(struct batch_case){{64, 64}, 1000000, 10, 10, 64});
  assert_int_equal(room(&job, 1, 0, 0), 1);
  assert_int_equal(room(&job, 4, 0, 0), 4);
  assert_int_equal(room(&job, 40, 0, 0), 10);
  assert_int_equal(room(&job, 1, 0, 4), 4); /* what four have started */
  assert_int_equal(room(&job, 2, 4, 4), 4);
  assert_int_equal(room(&job, 4, 0, 1), 4);
  assert_int_equal(room(&job, 4, 8, 1), 2); /* what is left */
  assert_int_equal(room(&job, 4, 9, 1), 1);
  assert_int_equal(room(&job, 1, 4, 6), 6);
  assert_int_equal(room(&job, 1, SIZE_MAX, SIZE_MAX), 10); /* from a damaged checkpoint */
  job.model.ops->destroy(&job.model);
}

/* While the first run finds the temperatures, the other processes wait. They wait only if they then
 * have runs of their own for at least four fifths of the time. */
static void test_room_of_adaptive_runs(void **state)
{
  struct batch_job job;
  (void)state;
  open_job(&job, &(struct batch_case){{64, 64}, 1000000, 10, 17, 64});
  job.settings.adaptive = true;
  assert_int_equal(room(&job, 4, 0, 0), 4);
  assert_int_equal(room(&job, 5, 0, 0), 1);
  assert_int_equal(room(&job, 5, 0, 1), 1);
  assert_int_equal(room(&job, 5, 1, 1), 5); /* that is finished */
  job.settings.runs = 16;
  assert_int_equal(room(&job, 4, 0, 0), 1);
  job.settings.runs = 1;
  assert_int_equal(room(&job, 1, 0, 0), 1);
  job.model.ops->destroy(&job.model);
}

static void check_cover(struct batch_job *job)
{
  const size_t most = pa_batch_runs(&job->settings, &job->model, 1);
  size_t next = 0;
  while (next < job->settings.runs) {
    const struct pa_batch batch = pa_batch_from(&job->settings, most, next);
    const bool alone = job->settings.adaptive && next == 0;
    assert_int_equal(batch.first, next);
    assert_in_range(batch.count, 1, alone ? 1 : most);
    if (!alone && batch.first + batch.count < job->settings.runs)
      assert_int_equal(batch.count, most);
    next += batch.count;
  }
  assert_int_equal(next, job->settings.runs);
  assert_int_equal(pa_batch_from(&job->settings, most, next).count, 0);
}

static void test_every_run_once(void **state)
{
  (void)state;
  for_every_case(check_cover);
}

static void check_adaptive(struct batch_job *job)
{
  job->settings.adaptive = true;
  assert_int_equal(pa_batch_from(&job->settings, 7, 0).count, 1);
  check_cover(job);
}

static void test_adaptive_run_0_is_alone(void **state)
{
  (void)state;
  for_every_case(check_adaptive);
}

static void check_plan(struct batch_job *job)
{
  const struct pa_settings *settings = &job->settings;
  const struct pa_population_plan plan = population_plan(job);
  assert_int_equal(plan.runs, pa_batch_runs(settings, &job->model, 1));
  assert_int_equal(plan.capacity, pa_capacity(settings->population));
  assert_int_equal(plan.founders, settings->population);
  assert_int_equal(plan.blocks, settings->blocks);
  assert_in_range(plan.founders, 1, plan.capacity);
  assert_true((double)plan.runs * (double)plan.capacity < 0x1p32);
  assert_int_equal(plan.levels, 0);
}

static void test_plans(void **state)
{
  (void)state;
  for_every_case(check_plan);
}

/* Histograms use the tracked channel, whichever it is. */
static void test_histograms_of_the_tracked_channel(void **state)
{
  struct batch_job job;
  (void)state;
  open_job(&job, &cases[0]);
  struct gpumc_model_ops ops = *job.model.ops;
  ops.tracked = 1;
  job.settings.reweight = true;
  job.model.ops = &ops;
  job.model.grid[1] = (struct gpumc_grid){.lowest = -7, .spacing = 3, .levels = 5};
  const struct pa_population_plan plan = population_plan(&job);
  assert_int_equal(plan.tracked, 1);
  assert_int_equal(plan.lowest, -7);
  assert_int_equal(plan.spacing, 3);
  assert_int_equal(plan.levels, 5);
  ops.destroy(&job.model);
}

/* Checks memory; the bound is approximate, and a CPU stays within twice the bound. */
static void check_memory(struct batch_job *job)
{
  struct gpumc_error error = {0};
  struct gpumc_device device;
  const struct pa_population_plan plan = population_plan(job);
  if (gpumc_device_open("cpu", 1, &device, &error) != GPUMC_OK)
    fail_msg("%s", gpumc_error_text(&error));
  const double bytes = (double)pa_population_bytes(&device, &plan);
  if (plan.runs > 1 && bytes > 2 * bytes_maximum)
    fail_msg("%zu runs of %zu replicas in %zu blocks take %.0f bytes", plan.runs, plan.capacity,
             plan.blocks, bytes);
  gpumc_device_close(&device);
}

static void test_memory_on_a_cpu(void **state)
{
  (void)state;
  for_every_case(check_memory);
}

/* Returns the number of mistakes in a block with this member for an instance whose ln Z at beta = 0
 * is `log_states`. */
static size_t mistakes_of(const char *member, double log_states)
{
  static const size_t shape[2] = {4, 4};
  struct gpumc_error error = {0};
  struct gpumc_report report = {0};
  struct gpumc_model model;
  char json[256];
  if (ising2d_instance(shape, 1.0, 0.0, &model, &error) != GPUMC_OK)
    fail_msg("%s", gpumc_error_text(&error));
  model.log_states = log_states;
  snprintf(json, sizeof json, "{\"population\":100,\"structure_factor\":false,%s}", member);
  const struct gpumc_params params = {.values = cJSON_Parse(json)};
  const struct gpumc_subject subject = {.model = model.ops, .instance = &model};
  assert_non_null(params.values);
  gpumc_checks_run(pa_checks, GPUMC_NEEDS_INSTANCE, &params, &subject, &report);
  const size_t mistakes = report.calls;
  gpumc_report_free(&report);
  cJSON_Delete((cJSON *)params.values);
  model.ops->destroy(&model);
  return mistakes;
}

/* A model without an equilibrium at beta = 0 is annealed only in other controls. */
static void test_where_populations_start(void **state)
{
  static const char beta[] = "\"beta\":{\"from\":0,\"to\":1,\"step\":0.1}";
  static const char field[] = "\"control\":{\"name\":\"h\",\"beta\":0.5,\"from\":0,\"to\":1,"
                              "\"step\":0.1,\"thermalization\":9}";
  (void)state;
  assert_int_equal(mistakes_of(beta, 11.09), 0);
  assert_int_equal(mistakes_of(beta, (double)NAN), 1);
  assert_int_equal(mistakes_of(field, 11.09), 0);
  assert_int_equal(mistakes_of(field, (double)NAN), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bounds),
      cmocka_unit_test(test_as_many_as_the_updates_allow),
      cmocka_unit_test(test_every_process_has_as_many),
      cmocka_unit_test(test_room_for_what_has_begun),
      cmocka_unit_test(test_room_of_adaptive_runs),
      cmocka_unit_test(test_every_run_once),
      cmocka_unit_test(test_adaptive_run_0_is_alone),
      cmocka_unit_test(test_plans),
      cmocka_unit_test(test_histograms_of_the_tracked_channel),
      cmocka_unit_test(test_memory_on_a_cpu),
      cmocka_unit_test(test_where_populations_start),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
