/* What a device offers to algorithms besides memory: exact sums by group, prefix sums, filling, and
 * publication, each against the slow, simple way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/numerics/random.h"
#include "support/status.h"
#include "support/test_device.h"

enum { ALL_SUMS = 15, RUNS_MAXIMUM = 40 };

static uint64_t draw(uint32_t what, uint32_t run, uint32_t i)
{
  uint32_t word[4];
  gpumc_random_draw(gpumc_random_make(11, run, 10), i, what, 0, 1, word);
  return (uint64_t)word[0] << 32 | word[1];
}

static void *zeroed(size_t count, size_t size)
{
  void *memory = calloc(count + 1, size);
  assert_non_null(memory);
  return memory;
}

/* Returns device memory with the contents of host memory. */
static void *brought(struct gpumc_device *device, const void *from, size_t bytes)
{
  struct gpumc_error error = {0};
  void *memory = NULL;
  assert_ok(device->ops->allocate(device, bytes, 1, "test", &memory, &error), &error);
  assert_ok(device->ops->copy_to_device(device, memory, from, bytes, &error), &error);
  return memory;
}

static void fetch(struct gpumc_device *device, void *to, const void *from, size_t bytes)
{
  struct gpumc_error error = {0};
  assert_ok(device->ops->copy_to_host(device, to, from, bytes, &error), &error);
}

static void for_every_setting(void (*body)(struct gpumc_device *device, const char *where))
{
  struct test_setting setting[TEST_SETTINGS_MAXIMUM];
  const size_t settings = test_settings(1, 3, false, setting);
  for (size_t i = 0; i < settings; i++) {
    struct gpumc_device device = test_device(setting[i]);
    body(&device, test_setting_text(setting[i]));
  }
}

/* ---- sums by group ---- */

struct sums_case {
  const char *name;
  struct gpumc_tally_plan plan;
  size_t runs;
  uint32_t labels; /* number of labels; each replica has one */
};

static const struct sums_case cases[] = {
    {"one run",
     {.capacity = 1400,
      .rows = 7,
      .count = true,
      .n_channels = 2,
      .sums = {ALL_SUMS, GPUMC_SUM_ABSOLUTE | GPUMC_SUM_SECOND | GPUMC_SUM_FOURTH},
      .bound = {200, 4096}},
     1,
     1200},
    {"sums of one to four words",
     {.capacity = 700,
      .rows = 16,
      .count = true,
      .n_channels = 4,
      .sums = {ALL_SUMS, ALL_SUMS, GPUMC_SUM_FIRST, GPUMC_SUM_SECOND},
      .bound = {1, 0x1p28, 0x1p62, 0x1p57}},
     5,
     600},
    {"not counted, powers of zero",
     {.capacity = 170,
      .rows = 100,
      .n_channels = 2,
      .sums = {GPUMC_SUM_FIRST, ALL_SUMS},
      .bound = {0x1p54, 0}},
     RUNS_MAXIMUM,
     3},
    {"more groups than shared memory holds",
     {.capacity = 33333,
      .rows = 20000,
      .count = true,
      .n_channels = 1,
      .sums = {GPUMC_SUM_FIRST | GPUMC_SUM_SECOND},
      .bound = {8192}},
     2,
     30000},
    {"one group of many",
     {.capacity = 150000,
      .rows = 1,
      .count = true,
      .n_channels = 1,
      .sums = {GPUMC_SUM_FIRST | GPUMC_SUM_SECOND},
      .bound = {0x1p45}},
     1,
     UINT32_MAX},
};

/* The replicas of a case on the host. */
struct replicas {
  uint32_t size[RUNS_MAXIMUM];
  uint32_t *label;
  int64_t *channel[GPUMC_CHANNELS_MAXIMUM];
};

/* Makes empty, full, and other runs; the first two replicas have the largest values. */
static void make_replicas(const struct sums_case *which, struct replicas *replicas)
{
  const struct gpumc_tally_plan *plan = &which->plan;
  memset(replicas, 0, sizeof *replicas);
  replicas->label = zeroed(which->runs * plan->capacity, sizeof *replicas->label);
  for (size_t c = 0; c < plan->n_channels; c++)
    replicas->channel[c] = zeroed(which->runs * plan->capacity, sizeof *replicas->channel[c]);
  for (uint32_t m = 0; m < which->runs; m++) {
    const uint32_t capacity = (uint32_t)plan->capacity;
    replicas->size[m] = m % 4 == 0   ? capacity
                        : m % 4 == 1 ? 0
                        : m % 4 == 2 ? 1
                                     : (uint32_t)(draw(0, m, 0) % capacity);
    /* Replicas beyond the size also exist, and are not counted. */
    for (uint32_t r = 0; r < capacity; r++) {
      replicas->label[m * capacity + r] = (uint32_t)(draw(1, m, r) % which->labels);
      for (uint32_t c = 0; c < plan->n_channels; c++) {
        const int64_t bound = (int64_t)plan->bound[c];
        const uint64_t any = draw(2 + c, m, r) % (2 * (uint64_t)bound + 1);
        replicas->channel[c][m * capacity + r] =
            r < 2 ? (r == 0 ? bound : -bound) : (int64_t)(any - (uint64_t)bound);
      }
    }
  }
}

static void free_replicas(struct replicas *replicas)
{
  free(replicas->label);
  for (size_t c = 0; c < GPUMC_CHANNELS_MAXIMUM; c++)
    free(replicas->channel[c]);
}

/* Computes the expected sums one replica after another. */
static void expect_sums(const struct sums_case *which, const struct replicas *replicas, size_t m,
                        struct gpumc_moment_sums *expected)
{
  const struct gpumc_tally_plan *plan = &which->plan;
  memset(expected, 0, plan->n_channels * plan->rows * sizeof *expected);
  for (size_t c = 0; c < plan->n_channels; c++)
    for (size_t r = 0; r < replicas->size[m]; r++) {
      const size_t i = m * plan->capacity + r;
      struct gpumc_moment_sums *sums = &expected[c * plan->rows + replicas->label[i] % plan->rows];
      const gpumc_wide x = replicas->channel[c][i];
      sums->count += plan->count;
      sums->first += plan->sums[c] & GPUMC_SUM_FIRST ? x : 0;
      sums->absolute += plan->sums[c] & GPUMC_SUM_ABSOLUTE ? (x < 0 ? -x : x) : 0;
      sums->second += plan->sums[c] & GPUMC_SUM_SECOND ? x * x : 0;
      sums->fourth += plan->sums[c] & GPUMC_SUM_FOURTH ? x * x * x * x : 0;
    }
}

static bool
same_sums(const struct gpumc_moment_sums *a, const struct gpumc_moment_sums *b, gpumc_wide times)
{
  return a->count == (int64_t)times * b->count && a->first == times * b->first &&
         a->absolute == times * b->absolute && a->second == times * b->second &&
         a->fourth == times * b->fourth;
}

/* Checks the sums of every run after `times` identical tallies. */
static void check_sums(struct gpumc_device *device, const struct sums_case *which,
                       const struct gpumc_tally *tally, const struct replicas *replicas,
                       const void *on_device, int times, const char *where)
{
  const size_t count = tally->n_channels * tally->rows;
  struct gpumc_moment_sums *found = zeroed(count, sizeof *found);
  struct gpumc_moment_sums *expected = zeroed(count, sizeof *expected);
  uint8_t *sums = zeroed(which->runs, tally->stride);
  fetch(device, sums, on_device, which->runs * tally->stride);
  for (size_t m = 0; m < which->runs; m++) {
    gpumc_tally_read(tally, sums + m * tally->stride, found);
    expect_sums(which, replicas, m, expected);
    for (size_t i = 0; i < count; i++)
      if (!same_sums(&found[i], &expected[i], times))
        fail_msg("%s, %s: run %zu, channel %zu, row %zu: first %.17g, expected %d times %.17g",
                 which->name, where, m, i / tally->rows, i % tally->rows, (double)found[i].first,
                 times, (double)expected[i].first);
  }
  free(found);
  free(expected);
  free(sums);
}

static void
tally_case(struct gpumc_device *device, const struct sums_case *which, const char *where)
{
  struct gpumc_error error = {0};
  struct gpumc_tally tally;
  struct replicas replicas;
  struct gpumc_tally_values values = {.runs = which->runs};
  const size_t places = which->runs * which->plan.capacity;
  gpumc_tally_make(&which->plan, &tally);
  make_replicas(which, &replicas);
  uint32_t *size = brought(device, replicas.size, which->runs * sizeof *replicas.size);
  uint32_t *label = brought(device, replicas.label, places * sizeof *replicas.label);
  values.size = size;
  values.label = label;
  for (size_t c = 0; c < which->plan.n_channels; c++)
    values.channel[c] = brought(device, replicas.channel[c], places * sizeof **replicas.channel);
  uint8_t *clear = zeroed(which->runs, tally.stride);
  values.sums = brought(device, clear, which->runs * tally.stride);
  assert_ok(device->ops->tally(device, &tally, &values, &error), &error);
  check_sums(device, which, &tally, &replicas, values.sums, 1, where);
  device->ops->release(device, size);
  device->ops->release(device, label);
  for (size_t c = 0; c < which->plan.n_channels; c++)
    device->ops->release(device, (int64_t *)(uintptr_t)values.channel[c]);
  device->ops->release(device, values.sums);
  free(clear);
  free_replicas(&replicas);
}

static void tally_all(struct gpumc_device *device, const char *where)
{
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    tally_case(device, &cases[i], where);
}

static void sums_are_exact(void **state)
{
  (void)state;
  for_every_setting(tally_all);
}

/* Adds a second tally to the first, with carries through all words and both signs; tallies of
 * several processes add up in the same way. */
static void add_twice(struct gpumc_device *device, const char *where)
{
  enum { N = 3 };
  static const int64_t values_of[N] = {-1, -(INT64_C(1) << 40), (INT64_C(1) << 40) - 1};
  static const uint32_t size = N, labels[N] = {5, 2, 2};
  static const struct gpumc_tally_plan plan = {
      .capacity = 1000,
      .rows = 3,
      .count = true,
      .n_channels = 1,
      .sums = {GPUMC_SUM_FIRST | GPUMC_SUM_ABSOLUTE | GPUMC_SUM_SECOND},
      .bound = {0x1p41}};
  struct gpumc_error error = {0};
  struct gpumc_tally tally;
  struct gpumc_moment_sums sums[3];
  gpumc_tally_make(&plan, &tally);
  uint8_t *record = zeroed(1, tally.stride);
  uint64_t *wide = zeroed(tally.words * plan.rows, sizeof *wide);
  uint32_t *on_device = brought(device, &size, sizeof size);
  uint32_t *label = brought(device, labels, sizeof labels);
  int64_t *value = brought(device, values_of, sizeof values_of);
  uint8_t *into = brought(device, record, tally.stride);
  const struct gpumc_tally_values values = {
      .runs = 1, .size = on_device, .label = label, .channel = {value}, .sums = into};
  for (int64_t times = 1; times <= 3; times++) {
    assert_ok(device->ops->tally(device, &tally, &values, &error), &error);
    fetch(device, record, into, tally.stride);
    gpumc_tally_read(&tally, record, sums);
    /* 5 and 2 are the same modulo 3. */
    if (sums[2].first != -2 * times || sums[2].count != 3 * times ||
        sums[2].absolute != times * ((gpumc_wide)1 << 41))
      fail_msg("%s: after %d tallies the sum is %.17g, of %d replicas", where, (int)times,
               (double)sums[2].first, (int)sums[2].count);
    assert_true(sums[0].count == 0 && sums[0].first == 0 && sums[1].second == 0);
    /* From one process that has tallied once and another that has tallied twice. */
    for (size_t i = 0; i < tally.words * plan.rows && times < 3; i++)
      wide[i] += ((const uint32_t *)(const void *)record)[i];
  }
  uint8_t *carried = zeroed(1, tally.stride);
  gpumc_tally_carry(&tally, wide, carried);
  assert_memory_equal(carried, record, tally.words * plan.rows * sizeof(uint32_t));
  free(carried);
  free(wide);
  device->ops->release(device, on_device);
  device->ops->release(device, label);
  device->ops->release(device, value);
  device->ops->release(device, into);
  free(record);
}

static void tallies_add_up(void **state)
{
  (void)state;
  for_every_setting(add_twice);
}

/* A wrong number anywhere is detected: the comparison's negative control. */
static void the_reference_notices_one_quantum(void **state)
{
  (void)state;
  const struct sums_case *which = &cases[0];
  const size_t count = which->plan.n_channels * which->plan.rows;
  struct gpumc_moment_sums *right = zeroed(count, sizeof *right);
  struct gpumc_moment_sums *wrong = zeroed(count, sizeof *wrong);
  struct replicas replicas;
  size_t different = 0;
  make_replicas(which, &replicas);
  expect_sums(which, &replicas, 0, right);
  replicas.channel[0][500]++;
  expect_sums(which, &replicas, 0, wrong);
  for (size_t i = 0; i < count; i++)
    different += !same_sums(&right[i], &wrong[i], 1);
  assert_int_equal(different, 1);
  free(right);
  free(wrong);
  free_replicas(&replicas);
}

/* ---- prefix sums ---- */

static void
scan_case(struct gpumc_device *device, uint32_t count, bool inclusive, const char *where)
{
  struct gpumc_error error = {0};
  uint64_t *value = zeroed(count, sizeof *value), *found = zeroed(count, sizeof *found);
  void *memory = NULL;
  uint64_t sum = 0;
  for (uint32_t i = 0; i < count; i++)
    value[i] = i % 3 == 0 ? 0 : draw(20, count, i);
  uint64_t *on_device = brought(device, value, count * sizeof *value);
  assert_ok(
      device->ops->allocate(device, device->ops->scan_bytes(count), 1, "scan", &memory, &error),
      &error);
  assert_ok(device->ops->scan(device, on_device, count, inclusive, memory, &error), &error);
  fetch(device, found, on_device, count * sizeof *found);
  for (uint32_t i = 0; i < count; i++) {
    const uint64_t before = sum;
    sum += value[i]; /* modulo 2^64 */
    if (found[i] != (inclusive ? sum : before))
      fail_msg("%s: element %u of %u is wrong", where, i, count);
  }
  device->ops->release(device, on_device);
  device->ops->release(device, memory);
  free(value);
  free(found);
}

static void scan_all(struct gpumc_device *device, const char *where)
{
  static const uint32_t counts[] = {0, 1, 2, 3, 31, 1000, 65537, 300001};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    scan_case(device, counts[i], false, where);
    scan_case(device, counts[i], true, where);
  }
}

static void prefix_sums(void **state)
{
  (void)state;
  for_every_setting(scan_all);
}

/* ---- filling and publication ---- */

static void fill_case(struct gpumc_device *device, const char *where)
{
  enum { BYTES = 1001, FIRST = 3, COUNT = 900 };
  struct gpumc_error error = {0};
  uint8_t bytes[BYTES];
  memset(bytes, 0x55, sizeof bytes);
  uint8_t *memory = brought(device, bytes, sizeof bytes);
  assert_ok(device->ops->fill(device, memory + FIRST, 0x7f, COUNT, &error), &error);
  fetch(device, bytes, memory, sizeof bytes);
  for (size_t i = 0; i < BYTES; i++)
    if (bytes[i] != (i >= FIRST && i < FIRST + COUNT ? 0x7f : 0x55))
      fail_msg("%s: byte %zu is %x", where, i, bytes[i]);
  device->ops->release(device, memory);
}

static void filling(void **state)
{
  (void)state;
  for_every_setting(fill_case);
}

/* Published numbers are those at the time, whatever happens to the memory later; a slot keeps its
 * numbers while the other is published. */
static void publish_case(struct gpumc_device *device, const char *where)
{
  enum { BYTES = 5000 };
  struct gpumc_error error = {0};
  struct gpumc_slot slot[GPUMC_SLOTS];
  static const uint8_t zeros[BYTES];
  uint8_t expected[BYTES];
  uint8_t *memory = brought(device, zeros, BYTES);
  assert_ok(gpumc_slots_create(device, BYTES, "test", slot, &error), &error);
  for (int time = 1; time <= 5; time++) {
    assert_ok(device->ops->fill(device, memory, time, BYTES, &error), &error);
    assert_ok(device->ops->publish(device, &slot[time % GPUMC_SLOTS], memory, BYTES, &error),
              &error);
    assert_ok(device->ops->fill(device, memory, 0xee, BYTES, &error), &error);
    if (time == 1)
      continue;
    const struct gpumc_slot *earlier = &slot[(time - 1) % GPUMC_SLOTS];
    assert_ok(device->ops->collect(device, earlier, &error), &error);
    memset(expected, time - 1, BYTES);
    if (memcmp(earlier->memory, expected, BYTES) != 0)
      fail_msg("%s: publication %d came out otherwise", where, time - 1);
  }
  gpumc_slots_free(device, slot);
  for (size_t i = 0; i < GPUMC_SLOTS; i++)
    assert_null(slot[i].memory);
  gpumc_slots_free(device, slot);
  device->ops->release(device, memory);
}

/* A slot's contents arrive before anything enqueued later, and the slot is free after `collect`. */
static void deliver_case(struct gpumc_device *device, const char *where)
{
  enum { BYTES = 5000 };
  struct gpumc_error error = {0};
  struct gpumc_slot slot[GPUMC_SLOTS];
  uint8_t expected[BYTES], found[BYTES];
  uint8_t *memory;
  assert_ok(gpumc_device_array(device, &memory, BYTES, "test", &error), &error);
  assert_ok(gpumc_slots_create(device, BYTES, "test", slot, &error), &error);
  for (int time = 1; time <= 5; time++) {
    memset(slot[0].memory, time, BYTES);
    memset(expected, time, BYTES);
    assert_ok(device->ops->fill(device, memory, 0xee, BYTES, &error), &error);
    assert_ok(device->ops->deliver(device, &slot[0], memory, BYTES - 1, &error), &error);
    assert_ok(device->ops->collect(device, &slot[0], &error), &error);
    memset(slot[0].memory, 0xdd, BYTES);
    assert_ok(device->ops->copy_to_host(device, found, memory, BYTES, &error), &error);
    expected[BYTES - 1] = 0xee;
    if (memcmp(found, expected, BYTES) != 0)
      fail_msg("%s: what was delivered at time %d came out otherwise", where, time);
  }
  gpumc_slots_free(device, slot);
  device->ops->release(device, memory);
}

static void delivery(void **state)
{
  (void)state;
  for_every_setting(deliver_case);
}

static void publication(void **state)
{
  (void)state;
  for_every_setting(publish_case);
}

/* Together they are the memory of the slots, on whichever side it is. */
static void memory_of_slots(void **state)
{
  (void)state;
  const struct gpumc_device device = test_device(test_setting());
  assert_int_equal(gpumc_slots_device_bytes(&device, 1000) + gpumc_slots_host_bytes(&device, 1000),
                   GPUMC_SLOTS * 1000);
  assert_int_equal(gpumc_slots_host_bytes(&device, 1000),
                   test_device_is_cpu() ? 0 : GPUMC_SLOTS * 1000);
}

int main(void)
{
  test_device_require();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_are_exact),
      cmocka_unit_test(tallies_add_up),
      cmocka_unit_test(the_reference_notices_one_quantum),
      cmocka_unit_test(prefix_sums),
      cmocka_unit_test(filling),
      cmocka_unit_test(publication),
      cmocka_unit_test(delivery),
      cmocka_unit_test(memory_of_slots),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
