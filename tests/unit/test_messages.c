/* What transfers of a divided ensemble send: replicas for a checkpoint go to the root, each once;
 * those of the `get` operation go to all. There are no other processes: each rank is played in
 * turn, and what it sends is recorded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/simulation/columns.h"
#include "support/ising_fixture.h"
#include "support/status.h"

enum { PROCESSES = 3, RUNS = 4, REPLICAS = 100, MESSAGES = 16 };

struct message {
  int to;
  size_t bytes;
  uint8_t *sent;
};

/* The messages of one process. */
struct wire {
  int rank;
  size_t count;
  struct message message[MESSAGES];
};

static void record(void *own, const void *bytes, void *all, const size_t *counts, int to)
{
  struct wire *wire = own;
  const size_t count = counts[wire->rank];
  struct message *message = &wire->message[wire->count++];
  (void)all;
  assert_true(wire->count <= MESSAGES);
  *message = (struct message){to, count, malloc(count + 1)};
  assert_non_null(message->sent);
  memcpy(message->sent, bytes, count);
}

/* No process has an error. */
static void keep(void *own, uint64_t *values, size_t count)
{
  (void)own, (void)values, (void)count;
}

/* Only numbers of replicas are summed. */
static void sum_replicas(void *own, uint64_t *values, size_t count)
{
  (void)own;
  for (size_t i = 0; i < count; i++)
    values[i] = REPLICAS;
}

static const struct gpumc_processes_ops recording = {
    .sum = sum_replicas, .largest = keep, .gather = record};

static void cut(struct wire wire[PROCESSES])
{
  for (size_t p = 0; p < PROCESSES; p++)
    for (size_t i = 0; i < wire[p].count; i++)
      free(wire[p].message[i].sent);
}

typedef void transfer(struct gpumc_ensemble *ensemble);

static void save(struct gpumc_ensemble *ensemble)
{
  struct gpumc_checkpoint_writer *writer = NULL;
  struct gpumc_error error = {0};
  assert_ok(gpumc_checkpoint_begin_silent(&writer, &error), &error);
  assert_ok(gpumc_ensemble_save(ensemble, writer, &error), &error);
  gpumc_checkpoint_abandon(writer);
}

static void get_all(struct gpumc_ensemble *ensemble)
{
  struct gpumc_error error = {0};
  uint8_t *portable = malloc(REPLICAS * ensemble->model->portable_bytes);
  assert_non_null(portable);
  for (size_t m = 0; m < RUNS; m++)
    assert_ok(ensemble->ops->get(ensemble, m, 0, REPLICAS, portable, &error), &error);
  free(portable);
}

/* Plays that rank, with replicas in their starting states. */
static void play(const struct ising_fixture *fixture, enum gpumc_division division, transfer *move,
                 struct wire *wire)
{
  const enum gpumc_division divides[] = {division, GPUMC_UNDIVIDED};
  const struct gpumc_processes processes = {
      .module = {.ops = &recording, .own = wire, .rank = wire->rank, .size = PROCESSES}};
  struct gpumc_device device = fixture->device;
  struct gpumc_ensemble_plan plan = fixture->ensemble.plan;
  struct gpumc_ensemble ensemble;
  struct gpumc_error error = {0};
  assert_ok(
      gpumc_division_choose(divides, fixture->ensemble.ops, REPLICAS, &processes, &plan, &error),
      &error);
  assert_int_equal(plan.division, division);
  assert_ok(gpumc_ensemble_create(fixture->ensemble.ops, &fixture->model, &device, &plan,
                                  fixture->ensemble.seed, 10, &ensemble, &error),
            &error);
  assert_ok(gpumc_ensemble_start(&ensemble, 0, RUNS, REPLICAS, &error), &error);
  move(&ensemble);
  gpumc_ensemble_free(&ensemble);
}

/* Checks that message m of all processes together is run m of the undivided ensemble. */
static void expect_run(struct ising_fixture *fixture, const struct wire wire[PROCESSES], size_t m)
{
  const size_t bytes = REPLICAS * fixture->model.portable_bytes;
  uint8_t *whole = fixture_get(fixture, m);
  size_t sent = 0;
  for (size_t p = 0; p < PROCESSES; p++) {
    const struct message *message = &wire[p].message[m];
    assert_true(sent + message->bytes <= bytes);
    assert_memory_equal(message->sent, whole + sent, message->bytes);
    sent += message->bytes;
  }
  assert_int_equal(sent, bytes);
  free(whole);
}

static void expect(transfer *move, int to)
{
  static const enum gpumc_division divisions[] = {GPUMC_BY_RUNS, GPUMC_BY_PARTS, GPUMC_BY_REPLICAS};
  const struct gpumc_kernel_ops *kernel[FIXTURE_KERNELS_MAXIMUM];
  const size_t kernels = fixture_kernels(kernel);
  for (size_t k = 0; k < kernels; k++)
    for (size_t d = 0; d < sizeof divisions / sizeof *divisions; d++) {
      struct ising_case with = fixture_square(kernel[k], 8, 8, REPLICAS);
      struct ising_fixture fixture;
      struct wire wire[PROCESSES] = {{0}};
      with.runs = RUNS;
      if (!fixture_serves(&with))
        continue;
      fixture_open(&fixture, &with);
      fixture_randomize(&fixture, &with, REPLICAS);
      for (int p = 0; p < PROCESSES; p++) {
        wire[p].rank = p;
        play(&fixture, divisions[d], move, &wire[p]);
        assert_int_equal(wire[p].count, RUNS);
        for (size_t i = 0; i < RUNS; i++)
          assert_int_equal(wire[p].message[i].to, to);
      }
      for (size_t m = 0; m < RUNS; m++)
        expect_run(&fixture, wire, m);
      cut(wire);
      fixture_close(&fixture);
    }
}

static void replicas_of_a_checkpoint_go_to_the_root_alone(void **state)
{
  (void)state;
  expect(save, GPUMC_TO_ROOT);
}

static void replicas_that_all_work_with_go_to_all(void **state)
{
  (void)state;
  expect(get_all, GPUMC_TO_ALL);
}

static void sum_twice(void *own, uint64_t *values, size_t count)
{
  (void)own;
  for (size_t i = 0; i < count; i++)
    values[i] *= 2;
}

static void counts_are_added_up_in_their_places(void **state)
{
  static const struct gpumc_processes_ops ops = {.sum = sum_twice};
  const struct gpumc_processes two = {.module = {.ops = &ops, .size = 2}};
  const uint64_t counted[] = {3, 5};
  uint64_t sum[4] = {0}, *there = NULL;
  struct gpumc_device device = test_device(test_setting());
  struct gpumc_error error = {0};
  (void)state;
  assert_ok(gpumc_device_array(&device, &there, 2, "counts", &error), &error);
  assert_ok(device.ops->copy_to_device(&device, there, counted, sizeof counted, &error), &error);
  assert_ok(
      gpumc_columns_sum_counts(&device, &two, there, (struct gpumc_slice){1, 2}, sum, 4, &error),
      &error);
  assert_int_equal(sum[0], 0);
  assert_int_equal(sum[1], 6);
  assert_int_equal(sum[2], 10);
  assert_int_equal(sum[3], 0);
  device.ops->release(&device, there);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(replicas_of_a_checkpoint_go_to_the_root_alone),
      cmocka_unit_test(replicas_that_all_work_with_go_to_all),
      cmocka_unit_test(counts_are_added_up_in_their_places),
  };
  test_device_require();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
