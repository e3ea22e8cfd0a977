/* Memory of a task: what is requested from the host and from a GPU, and the largest population that
 * fits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/run/prepare.h"

/* An algorithm with `runs` simultaneous runs and capacity = 2 population. Each replica takes
 * REPLICA bytes in the ensemble, WORK in device arrays, HOST on the host, and PORTABLE on the way
 * to a checkpoint, run by run. If processes divide the replicas, each has less of WORK and of the
 * host's FEWER, in proportion to its replicas; the same holds for MORE and LIST, which are then
 * needed as well. */
enum { REPLICA = 64, WORK = 36, HOST = 1000, PORTABLE = 100, FEWER = 100, MORE = 8, LIST = 4 };

static const struct gpumc_key population_keys[] = {
    {.name = "population", .type = GPUMC_KEY_INTEGER, .proportional = true, .multiple_of = 10},
    {.name = "runs", .type = GPUMC_KEY_INTEGER},
    {.name = "copies", .type = GPUMC_KEY_INTEGER, .proportional = true},
    {0}};

static enum gpumc_status demand(const struct gpumc_params *params, const struct gpumc_model *model,
                                const struct gpumc_device *device,
                                const struct gpumc_spread *spread, struct gpumc_demand *demand,
                                struct gpumc_error *error)
{
  const size_t capacity = 2 * (size_t)gpumc_params_integer(params, "population");
  const size_t copies =
      gpumc_params_has(params, "copies") ? (size_t)gpumc_params_integer(params, "copies") : 1;
  const size_t runs = copies * (size_t)gpumc_params_integer(params, "runs");
  (void)model;
  (void)device;
  (void)spread;
  (void)error;
  *demand = (struct gpumc_demand){.plan = {.runs = runs, .capacity = capacity, .samples = 1},
                                  .replicas = capacity / 2,
                                  .host_bytes = HOST * runs * capacity,
                                  .device_bytes = WORK * runs * capacity,
                                  .host_bytes_by_replicas = FEWER * runs * capacity,
                                  .device_bytes_by_replicas = WORK * runs * capacity,
                                  .divided_host_bytes = MORE * runs * capacity,
                                  .divided_device_bytes = LIST * runs * capacity};
  return GPUMC_OK;
}

static size_t bytes(const struct gpumc_model *model, const struct gpumc_device *device,
                    const struct gpumc_ensemble_plan *plan)
{
  (void)model;
  (void)device;
  return REPLICA * plan->runs * plan->capacity;
}

static const struct gpumc_algorithm_ops algorithm = {.keys = population_keys, .demand = demand};
static const struct gpumc_kernel_ops kernel = {.bytes = bytes};
static const struct gpumc_device_ops cpu = {.name = "cpu"}, gpu = {.name = "cuda"};

/* Returns the message for a population, or NULL if it fits; the caller frees it. */
static char *refusal_of(const struct gpumc_device_ops *ops, const char *json, double host_available,
                        double device_available)
{
  struct gpumc_error error = {0};
  struct gpumc_task task = {.resolved = cJSON_Parse(json), .algorithm = &algorithm};
  struct gpumc_params params = gpumc_task_params(&task, "algorithm");
  struct gpumc_preparation preparation = {.task = &task,
                                          .device = {.ops = ops},
                                          .kernel = &kernel,
                                          .model = {.portable_bytes = PORTABLE},
                                          .available_bytes = host_available,
                                          .device_available_bytes = device_available};
  assert_int_equal(demand(&params, NULL, NULL, NULL, &preparation.demand, &error), GPUMC_OK);
  double replicas = (double)(preparation.demand.plan.runs * preparation.demand.plan.capacity);
  bool on_gpu = ops == &gpu;
  preparation.host_bytes = replicas * (on_gpu ? HOST : HOST + WORK + REPLICA) +
                           (double)(PORTABLE * preparation.demand.plan.capacity);
  preparation.device_bytes = on_gpu ? replicas * (WORK + REPLICA) : 0;
  char *message = gpumc_preparation_fits(&preparation, &error) == GPUMC_OK
                      ? NULL
                      : strdup(gpumc_error_text(&error));
  gpumc_error_free(&error);
  cJSON_Delete(task.resolved);
  return message;
}

static void assert_refusal(const struct gpumc_device_ops *ops, const char *json,
                           double host_available, double device_available, const char *expected)
{
  char *message = refusal_of(ops, json, host_available, device_available);
  assert_non_null(message);
  assert_string_equal(message, expected);
  free(message);
}

static const char hundred[] = "{\"algorithm\": {\"population\": 100, \"runs\": 2}}";
static const char one_run[] = "{\"algorithm\": {\"population\": 100, \"runs\": 1}}";

static void test_what_fits(void **state)
{
  (void)state;
  assert_null(refusal_of(&cpu, hundred, 460000, 0));
  assert_null(refusal_of(&gpu, hundred, 420000, 40000));
}

static void test_host_memory_counts_all_on_a_cpu(void **state)
{
  (void)state;
  assert_refusal(&cpu, hundred, 459999, 1e9,
                 "not enough memory: 400 replicas (2 runs side by side; fewer need less) need 449 "
                 "KiB, and 449 KiB is available; the largest "
                 "algorithm.population that fits is 90");
}

static void test_memory_of_a_gpu(void **state)
{
  (void)state;
  assert_refusal(&gpu, hundred, 1e9, 28000,
                 "not enough memory on the GPU: 400 replicas (2 runs side by side; fewer need "
                 "less) need 39.1 KiB, and 27.3 KiB is "
                 "available; the largest algorithm.population that fits is 70");
  assert_refusal(&gpu, hundred, 1e9, 3999,
                 "not enough memory on the GPU: 400 replicas (2 runs side by side; fewer need "
                 "less) need 39.1 KiB, and 3.91 KiB is "
                 "available");
}

static void test_a_run_by_itself(void **state)
{
  (void)state;
  assert_null(refusal_of(&cpu, one_run, 240000, 0));
  assert_refusal(
      &cpu, one_run, 239999, 1e9,
      "not enough memory: 200 replicas need 234 KiB, and 234 KiB is available; the largest "
      "algorithm.population that fits is 90");
  assert_refusal(&gpu, one_run, 1e9, 19999,
                 "not enough memory on the GPU: 200 replicas need 19.5 KiB, and 19.5 KiB is "
                 "available; the largest algorithm.population that fits is 90");
}

/* The population named in the message fits into both. */
static void test_memory_of_a_gpu_and_of_its_host(void **state)
{
  (void)state;
  assert_refusal(&gpu, hundred, 210000, 28000,
                 "not enough memory: 400 replicas (2 runs side by side; fewer need less) need 410 "
                 "KiB, and 205 KiB is available; the largest "
                 "algorithm.population that fits is 50");
  assert_refusal(&gpu, hundred, 420000, 8000,
                 "not enough memory on the GPU: 400 replicas (2 runs side by side; fewer need "
                 "less) need 39.1 KiB, and 7.81 KiB is "
                 "available; the largest algorithm.population that fits is 20");
}

/* The key that requests more is named. */
static void test_the_larger_key_is_named(void **state)
{
  (void)state;
  assert_refusal(&cpu, "{\"algorithm\": {\"population\": 100, \"runs\": 1, \"copies\": 4}}", 450000,
                 0,
                 "not enough memory: 800 replicas (4 runs side by side; fewer need less) need 879 "
                 "KiB, and 439 KiB is available; the largest algorithm.population that fits is 50");
  assert_refusal(&cpu, "{\"algorithm\": {\"population\": 10, \"runs\": 1, \"copies\": 40}}", 450000,
                 0,
                 "not enough memory: 800 replicas (40 runs side by side; fewer need less) need 861 "
                 "KiB, and 439 KiB is available; the largest algorithm.copies that fits is 20");
}

/* With 2 runs of 100 replicas and room for 200, four processes have 25, 25, 25, and 25 plus the
 * room beyond: 125 of 200 places. A host counts all of its processes. */
static void test_replicas_of_several_processes(void **state)
{
  static const enum gpumc_division divides[] = {GPUMC_BY_REPLICAS, GPUMC_UNDIVIDED};
  static const struct gpumc_algorithm_ops divided = {
      .keys = population_keys, .demand = demand, .divides = divides};
  static const struct gpumc_kernel_ops by_one = {.bytes = bytes, .group = 1};
  const struct gpumc_processes processes = {.module = {.size = 4, .local_size = 2}};
  struct gpumc_error error = {0};
  struct gpumc_task task = {.resolved = cJSON_Parse(hundred), .algorithm = &divided};
  struct gpumc_params params = gpumc_task_params(&task, "algorithm");
  struct gpumc_preparation preparation = {.task = &task,
                                          .device = {.ops = &gpu},
                                          .kernel = &by_one,
                                          .model = {.portable_bytes = PORTABLE}};
  const double all = 400, has = 125.0 / 200;
  (void)state;
  assert_int_equal(demand(&params, NULL, NULL, NULL, &preparation.demand, &error), GPUMC_OK);
  assert_int_equal(gpumc_preparation_divide(&preparation, &processes, &error), GPUMC_OK);
  assert_true(preparation.device_bytes == has * all * (REPLICA + WORK + LIST));
  assert_true(preparation.host_bytes ==
              2 * (all * (HOST - FEWER) + has * all * (FEWER + MORE) + PORTABLE * 200));
  cJSON_Delete(task.resolved);
}

/* With several processes, if the algorithm or kernel does not let them divide the work. */
static void test_work_that_is_not_divided(void **state)
{
  (void)state;
  static const enum gpumc_division divides[] = {GPUMC_BY_PARTS, GPUMC_UNDIVIDED};
  static const struct gpumc_kernel_ops grouped = {.bytes = bytes, .group = 1};
  const struct gpumc_algorithm_ops named = {.name = "toy", .divides = divides};
  const struct gpumc_processes alone = {.module = {.size = 1}};
  const struct gpumc_processes three = {.module = {.size = 3, .local_size = 3}};
  const struct gpumc_task task = {.algorithm = &named};
  struct gpumc_preparation preparation = {
      .task = &task,
      .device = {.ops = &cpu},
      .kernel = &kernel,
      .model = {.portable_bytes = PORTABLE},
      .demand = {.plan = {.runs = 2, .capacity = 4, .samples = 1}, .replicas = 4}};
  struct gpumc_error error = {0};
  struct gpumc_text text = {0};
  assert_false(gpumc_preparation_undivided(&preparation, &alone, &text));
  assert_int_equal(gpumc_preparation_divide(&preparation, &three, &error), GPUMC_OK);
  assert_true(gpumc_preparation_undivided(&preparation, &three, &text));
  assert_string_equal(
      gpumc_text_string(&text),
      "3 processes, but the work of toy is not divided here: process 0 does all of it");
  gpumc_text_free(&text);
  preparation.kernel = &grouped;
  assert_int_equal(gpumc_preparation_divide(&preparation, &three, &error), GPUMC_OK);
  assert_false(gpumc_preparation_undivided(&preparation, &three, &text));
}

/* Each process has two of six runs, and a GPU holds their memory once for each process that works
 * on it. */
static void test_processes_on_one_gpu(void **state)
{
  (void)state;
  static const enum gpumc_division divides[] = {GPUMC_BY_RUNS, GPUMC_UNDIVIDED};
  const struct gpumc_algorithm_ops named = {.name = "toy", .divides = divides};
  const struct gpumc_processes three = {.module = {.size = 3, .local_size = 3}};
  const struct gpumc_task task = {.algorithm = &named};
  struct gpumc_preparation preparation = {
      .task = &task,
      .device = {.ops = &gpu},
      .kernel = &kernel,
      .model = {.portable_bytes = PORTABLE},
      .demand = {.plan = {.runs = 6, .capacity = 4, .samples = 1},
                 .replicas = 4,
                 .host_bytes = HOST,
                 .device_bytes = WORK}};
  struct gpumc_error error = {0};
  assert_int_equal(gpumc_preparation_divide(&preparation, &three, &error), GPUMC_OK);
  assert_true(preparation.device_bytes == WORK + REPLICA * 2 * 4);
  assert_true(preparation.host_bytes == 3 * (HOST + PORTABLE * 4));
  gpumc_preparation_share_gpu(&preparation, 3);
  assert_true(preparation.device_bytes == 3 * (WORK + REPLICA * 2 * 4));
  assert_true(preparation.host_bytes == 3 * (HOST + PORTABLE * 4));
  assert_true(preparation.ensemble_bytes == REPLICA * 2 * 4);
}

/* ---- independent runs ---- */

/* For independent runs, each process takes one, or those that a checkpoint has started. */
static enum gpumc_status
demand_runs(const struct gpumc_params *params, const struct gpumc_model *model,
            const struct gpumc_device *device, const struct gpumc_spread *spread,
            struct gpumc_demand *demanded, struct gpumc_error *error)
{
  const size_t all = (size_t)gpumc_params_integer(params, "runs");
  const size_t left = all - spread->begun.first, begun = spread->begun.count;
  size_t runs = spread->processes < left ? spread->processes : left;
  assert_int_equal(demand(params, model, device, spread, demanded, error), GPUMC_OK);
  runs = runs < begun ? begun : runs;
  demanded->plan.runs = runs;
  demanded->plan.own_runs = true;
  const size_t places = runs * demanded->plan.capacity;
  demanded->host_bytes = HOST * places;
  demanded->host_bytes_by_replicas = FEWER * places;
  demanded->host_bytes_by_runs = (HOST - FEWER) * places;
  demanded->device_bytes = demanded->device_bytes_by_replicas = WORK * places;
  demanded->divided_host_bytes = demanded->divided_device_bytes = 0;
  return GPUMC_OK;
}

static const enum gpumc_division by_runs_or_replicas[] = {GPUMC_BY_RUNS, GPUMC_BY_REPLICAS,
                                                          GPUMC_UNDIVIDED};
static const struct gpumc_algorithm_ops of_runs = {
    .keys = population_keys, .demand = demand_runs, .divides = by_runs_or_replicas};
static const struct gpumc_kernel_ops whole = {.bytes = bytes},
                                     singly = {.bytes = bytes, .group = 1};
static const char four_runs[] = "{\"algorithm\": {\"population\": 100, \"runs\": 4}}";

/* On a CPU: one run with room for 200 replicas; and the additional memory if processes have parts
 * of it. */
enum { RUN = 200 * (HOST + WORK + REPLICA), BESIDE = PORTABLE * 200 };

struct independent {
  struct gpumc_task task;
  struct gpumc_preparation preparation;
};

/* Opens four runs on several processes, after those already started. */
static void open_independent(struct independent *of, const struct gpumc_kernel_ops *with,
                             struct gpumc_spread spread, double available)
{
  struct gpumc_error error = {0};
  of->task = (struct gpumc_task){.resolved = cJSON_Parse(four_runs), .algorithm = &of_runs};
  of->preparation = (struct gpumc_preparation){.task = &of->task,
                                               .device = {.ops = &cpu},
                                               .kernel = with,
                                               .model = {.portable_bytes = PORTABLE},
                                               .spread = spread,
                                               .available_bytes = available};
  const struct gpumc_params params = gpumc_task_params(&of->task, "algorithm");
  assert_int_equal(demand_runs(&params, NULL, NULL, &spread, &of->preparation.demand, &error),
                   GPUMC_OK);
}

static void divide(struct independent *of, const struct gpumc_processes *processes)
{
  struct gpumc_error error = {0};
  if (gpumc_preparation_divide(&of->preparation, processes, &error) != GPUMC_OK)
    fail_msg("%s", gpumc_error_text(&error));
}

static void assert_division(const struct independent *of, enum gpumc_division division, size_t runs,
                            double host_bytes)
{
  const struct gpumc_ensemble_plan *plan = &of->preparation.demand.plan;
  assert_int_equal(plan->division, division);
  assert_int_equal(plan->runs, runs);
  assert_true(of->preparation.host_bytes == host_bytes);
}

/* Each on its own host. */
static const struct gpumc_processes four = {.module = {.size = 4, .local_size = 1}};

/* Each process has one run or, if there is no room for it, a part of one. */
static void test_narrowing_for_want_of_memory(void **state)
{
  struct independent of;
  struct gpumc_error error = {0};
  (void)state;
  open_independent(&of, &singly, (struct gpumc_spread){.processes = 4}, RUN + BESIDE);
  divide(&of, &four);
  assert_division(&of, GPUMC_BY_RUNS, 4, RUN + BESIDE);
  assert_true(gpumc_preparation_has_room(&of.preparation));
  of.preparation.available_bytes--;
  assert_false(gpumc_preparation_has_room(&of.preparation));
  assert_int_equal(gpumc_preparation_narrow(&of.preparation, &error), GPUMC_OK);
  assert_int_equal(of.preparation.demand.plan.division, GPUMC_BY_REPLICAS);
  assert_int_equal(of.preparation.demand.plan.runs, 1);
  assert_true(gpumc_preparation_has_room(&of.preparation));
  cJSON_Delete(of.task.resolved);
}

/* A kernel that does not divide a run leaves the runs whole. */
static void test_narrowing_of_what_is_not_divided(void **state)
{
  struct independent of;
  struct gpumc_error error = {0};
  (void)state;
  open_independent(&of, &whole, (struct gpumc_spread){.processes = 4}, 0);
  divide(&of, &four);
  assert_int_equal(gpumc_preparation_narrow(&of.preparation, &error), GPUMC_OK);
  assert_division(&of, GPUMC_BY_RUNS, 4, RUN + BESIDE);
  assert_int_equal(of.preparation.spread.processes, 4);
  cJSON_Delete(of.task.resolved);
}

/* If too few runs are left for the processes, although all runs would be enough, they are divided
 * as a new run would be. */
static void test_what_is_left_of_the_runs(void **state)
{
  const struct gpumc_spread spread = {.processes = 4, .begun = {3, 1}};
  struct independent of;
  (void)state;
  open_independent(&of, &singly, spread, 1e9);
  divide(&of, &four);
  assert_int_equal(of.preparation.demand.plan.division, GPUMC_BY_REPLICAS);
  assert_int_equal(of.preparation.demand.plan.runs, 1);
  cJSON_Delete(of.task.resolved);
  open_independent(&of, &whole, spread, 1e9);
  divide(&of, &four);
  assert_division(&of, GPUMC_BY_RUNS, 4, RUN + BESIDE);
  cJSON_Delete(of.task.resolved);
}

/* One process has room for two of the four runs in a checkpoint. */
static void test_runs_of_a_checkpoint(void **state)
{
  static const char said[] = "not enough memory: 800 replicas (4 runs side by side, as in the "
                             "checkpoint) need 879 KiB, and 449 KiB is available";
  struct independent of;
  struct gpumc_error error = {0};
  char text[256];
  (void)state;
  open_independent(&of, &whole, (struct gpumc_spread){.processes = 1, .begun = {0, 4}},
                   2 * RUN + BESIDE);
  of.preparation.host_bytes = 4 * RUN + BESIDE;
  assert_int_equal(gpumc_preparation_fits(&of.preparation, &error), GPUMC_FAILURE);
  snprintf(text, sizeof text, "%s; 2 processes with as much memory each would be enough", said);
  assert_string_equal(gpumc_error_text(&error), text);
  gpumc_error_free(&error);
  of.preparation.available_bytes -= 1;
  assert_int_equal(gpumc_preparation_fits(&of.preparation, &error), GPUMC_FAILURE);
  snprintf(text, sizeof text, "%s; 4 processes with as much memory each would be enough", said);
  assert_string_equal(gpumc_error_text(&error), text);
  gpumc_error_free(&error);
  cJSON_Delete(of.task.resolved);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_fits),
      cmocka_unit_test(test_host_memory_counts_all_on_a_cpu),
      cmocka_unit_test(test_memory_of_a_gpu),
      cmocka_unit_test(test_a_run_by_itself),
      cmocka_unit_test(test_the_larger_key_is_named),
      cmocka_unit_test(test_memory_of_a_gpu_and_of_its_host),
      cmocka_unit_test(test_replicas_of_several_processes),
      cmocka_unit_test(test_work_that_is_not_divided),
      cmocka_unit_test(test_processes_on_one_gpu),
      cmocka_unit_test(test_narrowing_for_want_of_memory),
      cmocka_unit_test(test_narrowing_of_what_is_not_divided),
      cmocka_unit_test(test_what_is_left_of_the_runs),
      cmocka_unit_test(test_runs_of_a_checkpoint),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
