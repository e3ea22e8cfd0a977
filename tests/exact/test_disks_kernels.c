/* The kernel `checkerboard` of hard disks on the device under test gives the bits of the CPU's with
 * one thread: replicas, numbers of trials and channels after sweeps in pieces, copies, exchanges
 * and a round trip through the portable form; few disks and many, for which a GPU has whole
 * replicas in shared memory, or tiles; runs with different numbers of replicas. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "models/hard_disks/hard_disks.h"
#include "support/kernel_side.h"
#include "support/cases.h"
#include "support/status.h"
#include "support/test_device.h"

enum { RUNS = 3, ROOM = 4, FIRST_RUN = 5, SEED = 1306 };

static const uint32_t sizes[RUNS] = {4, 2, 3};

/* Replicas that are copied and that are exchanged. */
static const uint32_t parents[RUNS][ROOM] = {{0, 0, 2, 2}, {1, 1, 0, 0}, {0, 1, 1, 0}};
static const uint32_t swaps[RUNS] = {1 << 1, 1 << 0, 0};

static const struct {
  struct hard_disks_settings settings;
  uint32_t rounds, moves;
} cases[] = {
    {{.particles = 3, .packing_fraction = 0.45, .aspect = 1.0}, 10, 4},
    {{.particles = 4, .packing_fraction = 0.21, .aspect = 1.0}, 10, 4}, /* wide cells */
    {{.particles = 12, .packing_fraction = 0.6, .aspect = 0.5}, 7, 5},
    {{.particles = 64, .packing_fraction = 0.7, .aspect = 1.0}, 10, 4},
    {{.particles = 230, .packing_fraction = 0.72, .aspect = 1.0}, 10, 1},
    {{.particles = 900, .packing_fraction = 0.7, .aspect = 0.1}, 10, 4},
    {{.particles = 2500, .packing_fraction = 0.71, .aspect = 1.0}, 7, 6},
    {{.lattice = {80, 90}, .packing_fraction = 0.75, .aspect = 1.0, .start = HARD_DISKS_LATTICE},
     10,
     4},
    {{.lattice = {120, 130}, .packing_fraction = 0.7, .aspect = 1.0, .start = HARD_DISKS_LATTICE},
     10,
     4},
};
enum { CASES = sizeof cases / sizeof *cases };

static void open_side(size_t i, struct gpumc_device device, struct kernel_side *side)
{
  struct gpumc_error error = {0};
  const struct hard_disks_options options = {cases[i].moves, true, true, true};
  struct gpumc_ensemble_plan plan = {.runs = RUNS, .capacity = ROOM, .samples = 1};
  hard_disks_pack_options(&options, 0.16, &plan.options);
  assert_ok(hard_disks_instance(&cases[i].settings, &side->model, &error), &error);
  side_open(side, device, "checkerboard", &plan, SEED, cases[i].rounds, FIRST_RUN, sizes);
}

static void sweep(struct kernel_side *side, uint32_t sweeps, bool measured)
{
  struct gpumc_error error = {0};
  const struct gpumc_target target = {.kind = GPUMC_ATHERMAL};
  assert_ok(gpumc_ensemble_sweep_target(&side->ensemble, &target, sweeps,
                                        measured ? side->channel : NULL, &error),
            &error);
}

static void work(struct kernel_side *side)
{
  struct gpumc_error error = {0};
  struct gpumc_ensemble *ensemble = &side->ensemble;
  sweep(side, 3, false);
  side_gather(side, parents[0]);
  sweep(side, 2, true);
  side_exchange(side, swaps);
  sweep(side, 1, false);
  uint8_t *portable = side_replicas(side);
  for (size_t m = 0; m < RUNS; m++)
    assert_ok(ensemble->ops->set(ensemble, m, 0, sizes[m],
                                 portable + m * ROOM * side->model.portable_bytes, &error),
              &error);
  free(portable);
  sweep(side, 4, true);
}

static void compare(size_t i, struct kernel_side *side, struct kernel_side *reference,
                    struct test_setting setting)
{
  char text[128];
  snprintf(text, sizeof text, "case %zu, %s", i, test_setting_text(setting));
  sides_expect_replicas(side, reference, text);
  sides_expect_channels(side, reference, text);
  assert_non_null(reference->ensemble.proposed);
  sides_expect_steps(side, reference, text);
}

static void it_has_the_bits_of_one_thread(void **state)
{
  (void)state;
  struct test_setting setting[TEST_SETTINGS_MAXIMUM];
  const size_t settings = test_settings(2, 3, false, setting);
  FOR_CASES (chosen)
    for (size_t i = 0; i < CASES; i++) {
      struct kernel_side reference, side;
      if (!cases_take(&chosen))
        continue;
      struct gpumc_device cpu = side_reference_device();
      open_side(i, cpu, &reference);
      work(&reference);
      for (size_t k = 0; k < settings; k++) {
        open_side(i, test_device(setting[k]), &side);
        work(&side);
        compare(i, &side, &reference, setting[k]);
        side_close(&side);
      }
      side_close(&reference);
      gpumc_device_close(&cpu);
    }
}

/* Control: states that begin with another seed differ. */
static void another_start_is_noticed(void **state)
{
  (void)state;
  struct gpumc_device cpu = side_reference_device();
  struct kernel_side reference, side;
  open_side(2, cpu, &reference);
  open_side(2, test_device(test_setting()), &side);
  work(&reference);
  side.ensemble.seed++;
  work(&side);
  uint8_t *found = side_replicas(&side), *expected = side_replicas(&reference);
  assert_memory_not_equal(found, expected, side.model.portable_bytes);
  free(found);
  free(expected);
  side_close(&side);
  side_close(&reference);
  gpumc_device_close(&cpu);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_has_the_bits_of_one_thread),
      cmocka_unit_test(another_start_is_noticed),
  };
  test_device_require();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
