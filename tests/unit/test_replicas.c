/* The storage of replicas shared by lattice models, against arrays of states: portable form, copies
 * after resampling, exchanges and sweeps, for every layout on the device under test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/numerics/random.h"
#include "core/simulation/ensemble.h"
#include "support/status.h"
#include "support/test_device.h"
#include "support/toy_replicas.h"

enum { RUNS = 3, CAPACITY = 75, SWAP_WORDS = (CAPACITY + 31) / 32 };

static const struct gpumc_ensemble_plan usual = {.runs = RUNS, .capacity = CAPACITY, .samples = 1};

/* The expected replicas, and an ensemble that should hold them. */
struct replicas {
  struct gpumc_device device;
  struct gpumc_ensemble ensemble;
  uint8_t state[RUNS][CAPACITY][TOY_SITES];
};

static uint32_t noise(uint32_t i)
{
  uint32_t word[4];
  gpumc_random_draw(gpumc_random_make(15, 0, 10), i, 0, 0, 0, word);
  return word[0];
}

static void draw(struct replicas *replicas, size_t m, size_t r)
{
  for (size_t i = 0; i < TOY_SITES; i++)
    replicas->state[m][r][i] =
        (uint8_t)(noise((uint32_t)((m * CAPACITY + r) * TOY_SITES + i)) % TOY_STATES);
}

static void bring(struct replicas *replicas, size_t m, size_t first, size_t count)
{
  static uint8_t portable[CAPACITY * TOY_PORTABLE_BYTES];
  struct gpumc_error error = {0};
  memset(portable, 0, sizeof portable);
  for (size_t r = 0; r < count; r++)
    for (size_t i = 0; i < TOY_SITES; i++)
      toy_set_portable_state(portable + r * TOY_PORTABLE_BYTES, i,
                             replicas->state[m][first + r][i]);
  assert_ok(replicas->ensemble.ops->set(&replicas->ensemble, m, first, count, portable, &error),
            &error);
}

/* Checks that replicas first .. first + count - 1 of run m are as expected. */
static void
check_part(const struct replicas *replicas, size_t m, size_t first, size_t count, const char *what)
{
  static uint8_t portable[CAPACITY * TOY_PORTABLE_BYTES];
  struct gpumc_ensemble ensemble = replicas->ensemble;
  struct gpumc_error error = {0};
  assert_ok(ensemble.ops->get(&ensemble, m, first, count, portable, &error), &error);
  for (size_t r = 0; r < count; r++)
    for (size_t i = 0; i < TOY_SITES; i++) {
      const unsigned is = toy_portable_state(portable + r * TOY_PORTABLE_BYTES, i),
                     expected = replicas->state[m][first + r][i];
      if (is != expected)
        fail_msg("%s, %s: site %zu of replica %zu of run %zu is %u instead of %u",
                 ensemble.ops->variant, what, i, first + r, m, is, expected);
    }
}

static void check(const struct replicas *replicas, const char *what)
{
  for (size_t m = 0; m < RUNS; m++)
    check_part(replicas, m, 0, CAPACITY, what);
}

static void open_replicas(struct replicas *replicas, const struct gpumc_kernel_ops *kernel,
                          struct test_setting setting)
{
  static const uint32_t sizes[RUNS] = {CAPACITY, CAPACITY, CAPACITY};
  struct gpumc_error error = {0};
  replicas->device = test_device(setting);
  assert_ok(gpumc_ensemble_create(kernel, &toy_model, &replicas->device, &usual, 7, 10,
                                  &replicas->ensemble, &error),
            &error);
  replicas->ensemble.runs = RUNS;
  assert_ok(gpumc_ensemble_set_sizes(&replicas->ensemble, sizes, &error), &error);
  for (size_t m = 0; m < RUNS; m++) {
    for (size_t r = 0; r < CAPACITY; r++)
      draw(replicas, m, r);
    bring(replicas, m, 0, CAPACITY);
  }
}

/* Runs `body` for every layout and setting of the device. */
static void for_every_layout(void (*body)(struct replicas *replicas))
{
  static struct replicas replicas;
  struct test_setting setting[TEST_SETTINGS_MAXIMUM];
  const size_t settings = test_settings(1, 3, false, setting);
  const struct gpumc_kernel_ops *const *kernels =
      test_device_is_cpu() ? toy_cpu_kernels : toy_cuda_kernels;
  assert_non_null(kernels[0]);
  for (; *kernels != NULL; kernels++)
    for (size_t s = 0; s < settings; s++) {
      open_replicas(&replicas, *kernels, setting[s]);
      body(&replicas);
      gpumc_ensemble_free(&replicas.ensemble);
    }
}

static void set_some(struct replicas *replicas)
{
  check(replicas, "all set");
  for (size_t r = 5; r < 40; r++)
    memset(replicas->state[1][r], (int)(r % TOY_STATES), TOY_SITES);
  bring(replicas, 1, 5, 35);
  check(replicas, "some set");
  check_part(replicas, 1, 33, 7, "some read");
}

static void portable_form_comes_back_and_leaves_others_alone(void **state)
{
  (void)state;
  for_every_layout(set_some);
}

/* Lists with neighbours, with lanes that share a word, and with one replica requested twice; then
 * the replicas of a list become what others are. */
static void pass_lists(struct replicas *replicas)
{
  static const uint32_t read[] = {0, 1, 1, 3, 31, 32, 33, 74}, written[] = {2, 3, 5, 34, 60, 73};
  enum { READ = sizeof read / sizeof *read, WRITTEN = sizeof written / sizeof *written };
  uint8_t portable[READ * TOY_PORTABLE_BYTES], *states;
  struct gpumc_device *device = &replicas->device;
  struct gpumc_ensemble *ensemble = &replicas->ensemble;
  struct gpumc_error error = {0};
  uint32_t *slot;
  assert_ok(gpumc_device_array(device, &slot, READ, "slots", &error), &error);
  assert_ok(gpumc_device_array(device, &states, sizeof portable, "states", &error), &error);
  assert_ok(device->ops->copy_to_device(device, slot, read, sizeof read, &error), &error);
  assert_ok(ensemble->ops->get_list(ensemble, 1, slot, READ, states, &error), &error);
  assert_ok(device->ops->copy_to_host(device, portable, states, sizeof portable, &error), &error);
  for (size_t k = 0; k < READ; k++)
    for (size_t i = 0; i < TOY_SITES; i++)
      assert_int_equal(toy_portable_state(portable + k * TOY_PORTABLE_BYTES, i),
                       replicas->state[1][read[k]][i]);
  assert_ok(device->ops->copy_to_device(device, slot, written, sizeof written, &error), &error);
  assert_ok(ensemble->ops->set_list(ensemble, 2, slot, WRITTEN, states, &error), &error);
  for (size_t k = 0; k < WRITTEN; k++)
    memcpy(replicas->state[2][written[k]], replicas->state[1][read[k]], TOY_SITES);
  check(replicas, "listed");
  device->ops->release(device, slot);
  device->ops->release(device, states);
}

static void lists_are_their_replicas_and_leave_others_alone(void **state)
{
  (void)state;
  for_every_layout(pass_lists);
}

/* Gathers: survivors keep their places; every other live replica becomes a copy of one of them. */
static void gather_sizes(struct replicas *replicas, const uint32_t size[RUNS])
{
  struct gpumc_device *device = &replicas->device;
  static uint32_t parent[RUNS][CAPACITY];
  struct gpumc_error error = {0};
  uint32_t *on_device;
  for (size_t m = 0; m < RUNS; m++)
    for (uint32_t r = 0; r < size[m]; r++) {
      const bool lives = r == 0 || noise((uint32_t)(1000000 + m * CAPACITY) + r) % 3 == 0;
      parent[m][r] = lives ? r : parent[m][noise(2000000 + r) % r];
      memcpy(replicas->state[m][r], replicas->state[m][parent[m][r]], TOY_SITES);
    }
  assert_ok(gpumc_ensemble_set_sizes(&replicas->ensemble, size, &error), &error);
  assert_ok(gpumc_device_array(device, &on_device, RUNS * CAPACITY, "parents", &error), &error);
  assert_ok(device->ops->copy_to_device(device, on_device, parent, sizeof parent, &error), &error);
  assert_ok(replicas->ensemble.ops->gather(&replicas->ensemble, on_device, &error), &error);
  for (size_t m = 0; m < RUNS; m++)
    check_part(replicas, m, 0, size[m], "gathered");
  device->ops->release(device, on_device);
}

static void gather_all(struct replicas *replicas)
{
  static const uint32_t full[RUNS] = {CAPACITY, CAPACITY, CAPACITY}, some[RUNS] = {41, 1, 32};
  gather_sizes(replicas, full);
  gather_sizes(replicas, some);
}

static void copies_are_their_parents(void **state)
{
  (void)state;
  for_every_layout(gather_all);
}

static void exchange_some(struct replicas *replicas)
{
  struct gpumc_device *device = &replicas->device;
  uint32_t swap[RUNS][SWAP_WORDS] = {{0}}, *on_device;
  struct gpumc_error error = {0};
  for (size_t r = 0; r < CAPACITY; r++) {
    const size_t m = noise(3000000 + (uint32_t)r) % RUNS;
    if (m + 1 == RUNS)
      continue;
    swap[m][r / 32] |= (uint32_t)1 << r % 32;
    for (size_t i = 0; i < TOY_SITES; i++) {
      const uint8_t one = replicas->state[m][r][i];
      replicas->state[m][r][i] = replicas->state[m + 1][r][i];
      replicas->state[m + 1][r][i] = one;
    }
  }
  assert_ok(gpumc_device_array(device, &on_device, RUNS * SWAP_WORDS, "bits", &error), &error);
  assert_ok(device->ops->copy_to_device(device, on_device, swap, sizeof swap, &error), &error);
  assert_ok(replicas->ensemble.ops->exchange(&replicas->ensemble, on_device, &error), &error);
  check(replicas, "exchanged");
  device->ops->release(device, on_device);
}

static void neighbouring_runs_exchange_replicas(void **state)
{
  (void)state;
  for_every_layout(exchange_some);
}

/* Sweeps live replicas once each; those beyond the size stay. */
static void sweep_all(struct replicas *replicas)
{
  static const uint32_t size[RUNS] = {CAPACITY, 0, 37};
  static int64_t sums[RUNS * CAPACITY];
  int64_t *const channel[] = {sums};
  const struct gpumc_target target = {.kind = GPUMC_BOLTZMANN};
  struct gpumc_error error = {0};
  struct gpumc_ensemble *ensemble = &replicas->ensemble;
  memset(sums, 0, sizeof sums);
  assert_ok(gpumc_ensemble_set_sizes(ensemble, size, &error), &error);
  assert_ok(ensemble->ops->sweep(ensemble, &target, 2, channel, &error), &error);
  for (size_t m = 0; m < RUNS; m++)
    for (size_t r = 0; r < CAPACITY; r++) {
      int64_t sum = 0;
      for (size_t i = 0; r < size[m] && i < TOY_SITES; i++)
        sum += replicas->state[m][r][i] = (uint8_t)((replicas->state[m][r][i] + 2) % TOY_STATES);
      assert_int_equal(sums[m * CAPACITY + r], sum);
    }
  check(replicas, "swept");
}

static void every_replica_alive_is_swept_once(void **state)
{
  (void)state;
  if (!test_device_is_cpu())
    skip();
  for_every_layout(sweep_all);
}

/* Blocks of 1 and 4 replicas, in one buffer and in two. */
static void memory_is_planned_as_it_is_taken(void **state)
{
  (void)state;
  const struct gpumc_device device = test_device(test_setting());
  const size_t expected[] = {(size_t)RUNS * CAPACITY * TOY_SITES,
                             (size_t)2 * RUNS * 19 * 4 * TOY_SITES};
  if (!test_device_is_cpu())
    skip();
  for (size_t k = 0; toy_cpu_kernels[k] != NULL; k++)
    assert_int_equal(toy_cpu_kernels[k]->bytes(&toy_model, &device, &usual), expected[k]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(portable_form_comes_back_and_leaves_others_alone),
      cmocka_unit_test(lists_are_their_replicas_and_leave_others_alone),
      cmocka_unit_test(copies_are_their_parents),
      cmocka_unit_test(neighbouring_runs_exchange_replicas),
      cmocka_unit_test(every_replica_alive_is_swept_once),
      cmocka_unit_test(memory_is_planned_as_it_is_taken),
  };
  test_device_require();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
