/* The kernel `checkerboard` of hard disks gives the bits of plain loops over cells: replicas,
 * accepted trials and channels after sweeps, copies, exchanges and a round trip through the
 * portable form; in boxes with two cells per side up to several vectors of them, dilute and dense;
 * for any number of trials per cell, without shuffles or shifts, and with trials that leave their
 * cells; at every level of the instruction set, for any number of threads.
 *
 * CTest: first */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models/hard_disks/checkerboard/checkerboard_plain.h"
#include "support/disks_fixture.h"
#include "support/cases.h"
#include "support/status.h"

enum { RUNS = 2, REPLICAS = 3 };

static const struct {
  size_t particles;
  double fraction, aspect, move_size;
  bool lattice; /* start on a lattice */
  struct hard_disks_options options;
} cases[] = {
    {1, 0.15, 1.0, 0.16, true, {4, true, true, true}},
    {2, 0.35, 1.0, 0.3, true, {4, true, true, true}},
    {3, 0.16, 1.0, 0.49, true, {4, true, true, true}}, /* cells up to 2 wide */
    {5, 0.55, 1.0, 0.16, false, {7, true, true, true}},
    {40, 0.5, 0.3, 0.2, true, {3, true, true, true}},
    {64, 0.7, 1.0, 0.1, false, {1, true, true, true}},
    {64, 0.3, 1.0, 0.49, true, {2, true, true, true}},
    {100, 0.05, 1.0, 0.3, true, {4, true, true, true}},
    {400, 0.72, 0.25, 0.16, false, {8, true, true, true}},
    {500, 0.6, 4.0, 0.16, true, {5, true, true, true}},
    {1200, 0.65, 1.0, 0.16, true, {4, true, true, true}},
    {2800, 0.5, 1.0, 0.16, true, {9, false, true, true}}, /* SHARED by threads */
    {300, 0.6, 1.0, 0.16, true, {4, true, false, true}},
    {300, 0.6, 1.0, 0.16, true, {4, true, true, false}},
};
enum { CASES = sizeof cases / sizeof *cases, SHARED = 11 };

static void open_case(size_t i, struct test_setting setting, struct disks *disks)
{
  disks_open(&(struct disks_job){.settings = {.particles = cases[i].particles,
                                              .packing_fraction = cases[i].fraction,
                                              .aspect = cases[i].aspect,
                                              .start = cases[i].lattice ? HARD_DISKS_LATTICE
                                                                        : HARD_DISKS_COMPRESSED},
                                 .variant = "checkerboard",
                                 .options = cases[i].options,
                                 .move_size = cases[i].move_size,
                                 .runs = RUNS,
                                 .replicas = REPLICAS,
                                 .seed = 42},
             setting, disks);
}

/* Sweeps replicas in portable form by plain loops. */
static void sweep_plainly(size_t i, const struct disks *disks, uint32_t time, uint32_t sweeps,
                          uint8_t *replicas, struct checkerboard_counts counts[RUNS])
{
  const struct hard_disks_grid *grid = &hard_disks_parameters(&disks->model)->fixed;
  const struct hard_disks_layout layout = hard_disks_plain_layout(&grid->box);
  float *x = malloc(4 * layout.count * sizeof *x);
  struct hard_disks_head head;
  assert_non_null(x);
  const struct hard_disks_replica replica = {&grid->box, &layout, x, x + layout.count, &head};
  for (size_t r = 0; r < disks->count; r++) {
    struct gpumc_error error = {0};
    const struct checkerboard_sweeps job = {
        .box = &grid->box,
        .options = cases[i].options,
        .scale = hard_disks_scale(cases[i].move_size),
        .random = gpumc_ensemble_random(&disks->ensemble, r / REPLICAS),
        .replica = (uint32_t)(r % REPLICAS),
        .time = time,
        .sweeps = sweeps,
    };
    uint8_t *portable = replicas + r * disks->model.portable_bytes;
    assert_ok(hard_disks_set(grid, portable, &replica, &error), &error);
    assert_true(checkerboard_plain(&job, &replica, x + 2 * layout.count, &counts[r / REPLICAS]));
    hard_disks_get(&replica, portable);
  }
  free(x);
}

static void compare_sweeps(size_t i, struct test_setting setting)
{
  static const uint32_t pieces[] = {1, 4, 12};
  struct disks disks;
  struct checkerboard_counts counts[RUNS] = {{0}};
  open_case(i, setting, &disks);
  uint8_t *plain = disks_replicas(&disks);
  for (size_t p = 0, time = 0; p < 3; time += pieces[p++]) {
    disks_sweep(&disks, pieces[p]);
    sweep_plainly(i, &disks, (uint32_t)time, pieces[p], plain, counts);
    uint8_t *replicas = disks_replicas(&disks);
    disks_expect_same(i, &disks, plain, replicas, "sweeps", setting);
    free(replicas);
  }
  for (size_t m = 0; m < RUNS; m++) {
    const struct checkerboard_counts of = disks_counts(&disks, m);
    if (of.accepted != counts[m].accepted || of.proposed != counts[m].proposed)
      fail_msg("case %zu: %llu of %llu trials accepted, should be %llu of %llu", i,
               (unsigned long long)of.accepted, (unsigned long long)of.proposed,
               (unsigned long long)counts[m].accepted, (unsigned long long)counts[m].proposed);
  }
  free(plain);
  disks_close(&disks);
}

static void sweeps_have_the_bits_of_plain_loops(void **state)
{
  (void)state;
  struct test_setting setting[TEST_SETTINGS_MAXIMUM];
  const size_t settings = test_settings(1, 4, true, setting);
  FOR_CASES (chosen)
    for (size_t i = 0; i < CASES; i++)
      for (size_t k = 0; k < settings; k++)
        if ((test_device_is_cpu() || cases[i].options.confine) && cases_take(&chosen))
          compare_sweeps(i, setting[k]);
}

static void threads_of_a_replica_wait_for_each_other(void **state)
{
  (void)state;
  struct test_setting setting = test_setting();
  setting.threads = 4; /* more than three replicas for each would have threads of their own */
  compare_sweeps(SHARED, setting);
}

/* Nothing is in the way of one disk, and a trial that does not take place is not counted; confined
 * to its cell it is refused at times. */
static void trials_of_a_disk_alone_are_accepted(void **state)
{
  (void)state;
  for (int confine = 0; confine < 2; confine++) {
    struct disks disks;
    if (!test_device_is_cpu() && !confine)
      continue;
    disks_open(
        &(struct disks_job){.settings = {.particles = 1, .packing_fraction = 0.05, .aspect = 1.0},
                            .variant = "checkerboard",
                            .options = {4, true, true, confine != 0},
                            .move_size = 0.49,
                            .seed = 42},
        test_setting(), &disks);
    disks_sweep(&disks, 200);
    const struct checkerboard_counts counts = disks_counts(&disks, 0);
    assert_true(counts.accepted > 200);
    assert_int_equal(counts.accepted == counts.proposed, confine == 0);
    disks_close(&disks);
  }
}

static void replicas_come_back_from_their_portable_form(void **state)
{
  (void)state;
  FOR_CASES (chosen)
    for (size_t i = 0; i < CASES; i++) {
      struct disks one, other;
      struct test_setting setting = test_setting();
      if ((!test_device_is_cpu() && !cases[i].options.confine) || !cases_take(&chosen))
        continue;
      open_case(i, setting, &one);
      open_case(i, setting, &other);
      disks_sweep(&one, 7);
      disks_sweep(&other, 7);
      uint8_t *before = disks_replicas(&one);
      disks_set(&one, before);
      uint8_t *set = disks_replicas(&one);
      disks_expect_same(i, &one, before, set, "set and got", setting);
      free(set);
      disks_sweep(&one, 5);
      disks_sweep(&other, 5);
      uint8_t *a = disks_replicas(&one), *b = disks_replicas(&other);
      disks_expect_same(i, &one, a, b, "set and swept", setting);
      disks_measure(&one);
      disks_measure(&other);
      for (size_t c = 0; c < HARD_DISKS_NUMBERS; c++)
        assert_memory_equal(one.measured[c], other.measured[c], one.count * sizeof(int64_t));
      free(before);
      free(a);
      free(b);
      disks_close(&one);
      disks_close(&other);
    }
}

static void replicas_are_copied_and_exchanged(void **state)
{
  (void)state;
  static const uint32_t parent[RUNS][REPLICAS] = {{0, 0, 0}, {2, 1, 2}}, swap[RUNS] = {1 << 1, 0};
  static const size_t from[RUNS * REPLICAS] = {0, 4, 0, 5, 0, 5};
  struct gpumc_error error = {0};
  struct disks disks;
  uint32_t *on_device;
  open_case(5, test_setting(), &disks);
  struct gpumc_ensemble *ensemble = &disks.ensemble;
  disks_sweep(&disks, 3);
  uint8_t *before = disks_replicas(&disks);
  assert_ok(gpumc_device_array(&disks.device, &on_device, RUNS * REPLICAS, "parents", &error),
            &error);
  assert_ok(
      disks.device.ops->copy_to_device(&disks.device, on_device, parent, sizeof parent, &error),
      &error);
  assert_ok(ensemble->ops->gather(ensemble, on_device, &error), &error);
  assert_ok(disks.device.ops->copy_to_device(&disks.device, on_device, swap, sizeof swap, &error),
            &error);
  assert_ok(ensemble->ops->exchange(ensemble, on_device, &error), &error);
  uint8_t *after = disks_replicas(&disks);
  const size_t bytes = disks.model.portable_bytes;
  for (size_t r = 0; r < RUNS * REPLICAS; r++)
    if (memcmp(after + r * bytes, before + from[r] * bytes, bytes) != 0)
      fail_msg("replica %zu is not what %zu was", r, from[r]);
  disks.device.ops->release(&disks.device, on_device);
  free(before);
  free(after);
  disks_close(&disks);
}

int main(void)
{
  test_device_require();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sweeps_have_the_bits_of_plain_loops),
      cmocka_unit_test(threads_of_a_replica_wait_for_each_other),
      cmocka_unit_test(trials_of_a_disk_alone_are_accepted),
      cmocka_unit_test(replicas_come_back_from_their_portable_form),
      cmocka_unit_test(replicas_are_copied_and_exchanged),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
