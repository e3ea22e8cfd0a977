/* The kernel `checkerboard` of hard disks on the device under test has the bits of the CPU's with
 * one thread: replicas, numbers of trials and channels after sweeps in pieces, copies, exchanges
 * and a way through the portable form; few disks and many, of which a GPU has whole replicas in
 * shared memory, or tiles; runs with different numbers of replicas. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/disks_fixture.h"
#include "support/share.h"
#include "support/status.h"

enum { RUNS = 3, ROOM = 4, FIRST_RUN = 5, SEED = 1306 };

static const uint32_t sizes[RUNS] = {4, 2, 3};

/* Replicas that are copied and that change places. */
static const uint32_t parents[RUNS][ROOM] = {{0, 0, 2, 2}, {1, 1, 0, 0}, {0, 1, 1, 0}};
static const uint32_t swaps[RUNS] = {1 << 1, 1 << 0, 0};

static const struct {
  struct hard_disks_settings settings;
  uint32_t rounds, moves;
} cases[] = {
    {{.particles = 3, .packing_fraction = 0.45, .aspect = 1.0}, 10, 4},
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

/* An ensemble on a device. */
struct side {
  struct gpumc_device device;
  struct gpumc_model model;
  struct gpumc_ensemble ensemble;
  int64_t *channel[HARD_DISKS_CHANNELS];
  uint32_t *parent, *swap;
};

/* Numbers of a channel of a replica. */
static size_t width_of(const struct gpumc_model *model, size_t channel)
{
  return channel < HARD_DISKS_NUMBERS ? 1 : model->profile[channel].width;
}

static const struct gpumc_kernel_ops *kernel_for(const struct gpumc_device *device)
{
  for (size_t k = 0; gpumc_model_hard_disks.kernels[k] != NULL; k++) {
    const struct gpumc_kernel_ops *kernel = gpumc_model_hard_disks.kernels[k];
    if (strcmp(kernel->device, device->ops->name) == 0 &&
        strcmp(kernel->variant, "checkerboard") == 0)
      return kernel;
  }
  fail_msg("no kernel checkerboard for %s", device->ops->name);
  return NULL;
}

static void open_side(size_t i, struct gpumc_device device, struct side *side)
{
  struct gpumc_error error = {0};
  const struct hard_disks_options options = {cases[i].moves, true, true, true};
  struct gpumc_ensemble_plan plan = {.runs = RUNS, .capacity = ROOM, .samples = 1};
  memset(side, 0, sizeof *side);
  side->device = device;
  hard_disks_pack_options(&options, 0.16, &plan.options);
  assert_ok(hard_disks_instance(&cases[i].settings, &side->model, &error), &error);
  assert_ok(gpumc_ensemble_create(kernel_for(&device), &side->model, &side->device, &plan, SEED,
                                  cases[i].rounds, &side->ensemble, &error),
            &error);
  for (size_t c = 0; c < HARD_DISKS_CHANNELS; c++)
    assert_ok(gpumc_device_array(&side->device, &side->channel[c],
                                 RUNS * ROOM * width_of(&side->model, c), "channel", &error),
              &error);
  assert_ok(gpumc_device_array(&side->device, &side->parent, RUNS * ROOM, "parents", &error),
            &error);
  assert_ok(gpumc_device_array(&side->device, &side->swap, RUNS * gpumc_swap_words(ROOM), "swaps",
                               &error),
            &error);
  assert_ok(gpumc_ensemble_start(&side->ensemble, FIRST_RUN, RUNS, ROOM, &error), &error);
  assert_ok(gpumc_ensemble_set_sizes(&side->ensemble, sizes, &error), &error);
  assert_ok(side->device.ops->copy_to_device(&side->device, side->parent, parents, sizeof parents,
                                             &error),
            &error);
  assert_ok(
      side->device.ops->copy_to_device(&side->device, side->swap, swaps, sizeof swaps, &error),
      &error);
}

static void close_side(struct side *side)
{
  for (size_t c = 0; c < HARD_DISKS_CHANNELS; c++)
    side->device.ops->release(&side->device, side->channel[c]);
  side->device.ops->release(&side->device, side->parent);
  side->device.ops->release(&side->device, side->swap);
  gpumc_ensemble_free(&side->ensemble);
  side->model.ops->destroy(&side->model);
}

static void sweep(struct side *side, uint32_t sweeps, bool measured)
{
  struct gpumc_error error = {0};
  const struct gpumc_target target = {.kind = GPUMC_ATHERMAL};
  assert_ok(gpumc_ensemble_sweep_target(&side->ensemble, &target, sweeps,
                                        measured ? side->channel : NULL, &error),
            &error);
}

/* Of run m, those that are not in use zero. */
static uint8_t *replicas_of(struct side *side, size_t m)
{
  struct gpumc_error error = {0};
  uint8_t *portable = calloc(ROOM, side->model.portable_bytes);
  assert_non_null(portable);
  assert_ok(side->ensemble.ops->get(&side->ensemble, m, 0, sizes[m], portable, &error), &error);
  return portable;
}

static void work(struct side *side)
{
  struct gpumc_error error = {0};
  struct gpumc_ensemble *ensemble = &side->ensemble;
  sweep(side, 3, false);
  assert_ok(ensemble->ops->gather(ensemble, side->parent, &error), &error);
  sweep(side, 2, true);
  assert_ok(ensemble->ops->exchange(ensemble, side->swap, &error), &error);
  sweep(side, 1, false);
  for (size_t m = 0; m < RUNS; m++) {
    uint8_t *portable = replicas_of(side, m);
    assert_ok(ensemble->ops->set(ensemble, m, 0, sizes[m], portable, &error), &error);
    free(portable);
  }
  sweep(side, 4, true);
}

static void read_device(struct side *side, void *to, const void *from, size_t bytes)
{
  struct gpumc_error error = {0};
  assert_ok(side->device.ops->copy_to_host(&side->device, to, from, bytes, &error), &error);
}

static void compare_channel(size_t i, size_t c, struct side *side, struct side *reference,
                            struct test_setting setting)
{
  const size_t width = width_of(&side->model, c), numbers = RUNS * ROOM * width;
  int64_t *found = calloc(numbers, sizeof *found), *expected = calloc(numbers, sizeof *expected);
  assert_non_null(found);
  assert_non_null(expected);
  read_device(side, found, side->channel[c], numbers * sizeof *found);
  read_device(reference, expected, reference->channel[c], numbers * sizeof *expected);
  for (size_t m = 0; m < RUNS; m++)
    for (size_t k = m * ROOM * width; k < (m * ROOM + sizes[m]) * width; k++)
      if (found[k] != expected[k])
        fail_msg("case %zu, %s: channel %zu, number %zu of run %zu is %lld, should be %lld", i,
                 test_setting_text(setting), c, k - m * ROOM * width, m, (long long)found[k],
                 (long long)expected[k]);
  free(found);
  free(expected);
}

static void
compare(size_t i, struct side *side, struct side *reference, struct test_setting setting)
{
  uint64_t counts[2][2][RUNS];
  for (size_t m = 0; m < RUNS; m++) {
    uint8_t *found = replicas_of(side, m), *expected = replicas_of(reference, m);
    if (memcmp(found, expected, ROOM * side->model.portable_bytes) != 0)
      fail_msg("case %zu, %s: replicas of run %zu differ", i, test_setting_text(setting), m);
    free(found);
    free(expected);
  }
  for (size_t c = 0; c < HARD_DISKS_CHANNELS; c++)
    compare_channel(i, c, side, reference, setting);
  struct side *both[2] = {side, reference};
  for (size_t k = 0; k < 2; k++) {
    read_device(both[k], counts[k][0], both[k]->ensemble.accepted, sizeof counts[k][0]);
    read_device(both[k], counts[k][1], both[k]->ensemble.proposed, sizeof counts[k][1]);
  }
  assert_memory_equal(counts[0], counts[1], sizeof counts[0]);
}

static void it_has_the_bits_of_one_thread(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  struct test_setting setting[TEST_SETTINGS_MAXIMUM];
  const size_t settings = test_settings(2, 3, false, setting);
  for (size_t i = 0; i < CASES; i++) {
    struct gpumc_device cpu;
    struct side reference, side;
    if (!share_has(i))
      continue;
    assert_ok(gpumc_device_open("cpu", 1, &cpu, &error), &error);
    open_side(i, cpu, &reference);
    work(&reference);
    for (size_t k = 0; k < settings; k++) {
      open_side(i, test_device(setting[k]), &side);
      work(&side);
      compare(i, &side, &reference, setting[k]);
      close_side(&side);
    }
    close_side(&reference);
    gpumc_device_close(&cpu);
  }
}

/* Control: states that begin with another seed are others. */
static void another_start_is_noticed(void **state)
{
  (void)state;
  struct gpumc_error error = {0};
  struct gpumc_device cpu;
  struct side reference, side;
  assert_ok(gpumc_device_open("cpu", 1, &cpu, &error), &error);
  open_side(2, cpu, &reference);
  open_side(2, test_device(test_setting()), &side);
  work(&reference);
  side.ensemble.seed++;
  work(&side);
  uint8_t *found = replicas_of(&side, 0), *expected = replicas_of(&reference, 0);
  assert_memory_not_equal(found, expected, side.model.portable_bytes);
  free(found);
  free(expected);
  close_side(&side);
  close_side(&reference);
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
