/* Families of a population divided among processes: what each finds in its own replicas and what
 * others report about theirs, against what one process finds in all. The processes are played one
 * after another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "algorithms/pa/pa_device.h"
#include "core/processes/processes.h"
#include "support/draw.h"
#include "support/status.h"
#include "support/test_device.h"

enum { RUNS = 3, PROCESSES = 5, FOUNDERS = 700, CAPACITY = 900, LOWEST = -40 };
static const uint32_t sizes[RUNS] = {700, 820, 655};

/* ---- one process of several ---- */

struct part {
  struct gpumc_device *device;
  struct pa_survey_work work; /* device memory */
  struct pa_tallied tallied[RUNS];
  struct pa_reached reached[RUNS];
  uint32_t *members; /* host memory from here on */
  struct pa_stranger *stranger;
  uint64_t n_strangers;
};

static void *on_device(struct gpumc_device *device, size_t count, size_t size)
{
  struct gpumc_error error = {0};
  void *memory = NULL;
  assert_ok(device->ops->allocate(device, count + 1, size, "test", &memory, &error), &error);
  return memory;
}

static void bring(const struct part *part, const void *to, const void *from, size_t bytes)
{
  struct gpumc_error error = {0};
  assert_ok(
      part->device->ops->copy_to_device(part->device, (void *)(uintptr_t)to, from, bytes, &error),
      &error);
}

static void fetch(const struct part *part, void *to, const void *from, size_t bytes)
{
  struct gpumc_error error = {0};
  assert_ok(part->device->ops->copy_to_host(part->device, to, from, bytes, &error), &error);
}

static const struct pa_steps *steps_of(const struct part *part)
{
  return part->device->ops->kind == GPUMC_KIND_CPU ? &pa_steps_cpu : &pa_steps_gpu;
}

/* Gives some families many members; few replicas have the lowest value. */
static uint32_t family_of(size_t m, size_t r)
{
  const uint64_t any = test_draw(1, (uint32_t)m, (uint32_t)r);
  return (uint32_t)(any % 3 == 0 ? any / 3 % 9 * 77 : any / 3 % FOUNDERS);
}

static int64_t value_of(size_t m, size_t r)
{
  return LOWEST + (int64_t)(test_draw(2, (uint32_t)m, (uint32_t)r) % 30) + (int64_t)m;
}

static void bring_replicas(struct part *part)
{
  const struct pa_work *work = &part->work.population;
  struct pa_copied copied[PROCESSES * RUNS] = {0};
  const size_t count = RUNS * work->capacity;
  uint32_t size[RUNS], *family = calloc(count, sizeof *family);
  int64_t *value = calloc(count, sizeof *value);
  assert_true(family != NULL && value != NULL);
  for (size_t m = 0; m < RUNS; m++) {
    size[m] = (uint32_t)pa_own_of(work, sizes[m]);
    copied[m].size = sizes[m];
    for (size_t r = 0; r < size[m]; r++) {
      family[m * work->capacity + r] = family_of(m, work->first + r);
      value[m * work->capacity + r] = value_of(m, work->first + r);
    }
  }
  bring(part, work->size, size, sizeof size);
  bring(part, work->family, family, count * sizeof *family);
  bring(part, work->tracked, value, count * sizeof *value);
  bring(part, work->copied, copied, work->processes * RUNS * sizeof *copied);
  free(family);
  free(value);
}

static void part_init(struct part *part, struct gpumc_device *device, size_t processes, size_t rank)
{
  const struct gpumc_slice share = gpumc_slice(FOUNDERS, 1, processes, rank);
  const size_t capacity = rank + 1 == processes ? CAPACITY - share.first : share.count;
  const size_t count = RUNS * capacity;
  int64_t *tracked = on_device(device, count, sizeof *tracked);
  memset(part, 0, sizeof *part);
  part->device = device;
  part->work.population =
      (struct pa_work){.runs = RUNS,
                       .capacity = capacity,
                       .founders = FOUNDERS,
                       .blocks = 1,
                       .first = share.first,
                       .whole = CAPACITY,
                       .divided = processes > 1,
                       .processes = processes,
                       .rank = rank,
                       .size = on_device(device, RUNS, sizeof(uint32_t)),
                       .tracked = tracked,
                       .conjugate = tracked,
                       .family = on_device(device, count, sizeof(uint32_t)),
                       .copied = on_device(device, processes * RUNS, sizeof(struct pa_copied)),
                       .reached = on_device(device, RUNS, sizeof(struct pa_reached)),
                       .tallied = on_device(device, RUNS, sizeof(struct pa_tallied)),
                       .stranger = on_device(device, count, sizeof(struct pa_stranger)),
                       .n_strangers = on_device(device, 1, sizeof(uint64_t))};
  part->work.members = on_device(device, 2 * count, sizeof(uint32_t));
  part->work.mark = part->work.members + count;
  bring_replicas(part);
}

static void part_free(struct part *part)
{
  const struct pa_work *work = &part->work.population;
  const void *const memory[] = {work->size,     work->tracked,     work->family,
                                work->copied,   work->reached,     work->tallied,
                                work->stranger, work->n_strangers, part->work.members};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
    part->device->ops->release(part->device, (void *)(uintptr_t)memory[i]);
  free(part->members);
  free(part->stranger);
}

static void survey(struct part *part)
{
  struct gpumc_error error = {0};
  assert_ok(steps_of(part)->survey(part->device, &part->work, &error), &error);
  fetch(part, part->reached, part->work.population.reached, sizeof part->reached);
}

/* `depth`: for each run of the whole. */
static void look_at_families(struct part *part, const uint64_t *depth)
{
  const struct pa_work *work = &part->work.population;
  struct gpumc_error error = {0};
  for (size_t m = 0; m < RUNS; m++)
    part->reached[m].depth = depth[m];
  bring(part, work->reached, part->reached, sizeof part->reached);
  assert_ok(steps_of(part)->families(part->device, &part->work, &error), &error);
  fetch(part, part->tallied, work->tallied, sizeof part->tallied);
  fetch(part, &part->n_strangers, work->n_strangers, sizeof part->n_strangers);
  part->members = calloc(RUNS * work->capacity, sizeof *part->members);
  part->stranger = calloc(part->n_strangers + 1, sizeof *part->stranger);
  assert_true(part->members != NULL && part->stranger != NULL);
  fetch(part, part->members, part->work.members, RUNS * work->capacity * sizeof *part->members);
  fetch(part, part->stranger, work->stranger, part->n_strangers * sizeof *part->stranger);
}

/* ---- all of them ---- */

static void tell(struct part *part, size_t processes, const struct pa_stranger *stranger)
{
  const struct pa_kin kin = {0, 1, stranger->run_and_lowest % 2};
  const size_t m = stranger->run_and_lowest / 2;
  size_t owner = 0;
  while (owner + 1 < processes && part[owner + 1].work.population.first <= stranger->family)
    owner++;
  const struct pa_work *work = &part[owner].work.population;
  const size_t number = stranger->family - work->first;
  assert_true(number < pa_own_families(work));
  pa_add_kin(&part[owner].members[m * work->capacity + number], &kin, sizes[m],
             &part[owner].tallied[m]);
}

/* Finds the families of each run; returns how many strangers there were. */
static size_t
find(struct gpumc_device *device, size_t processes, bool told, struct pa_tallied found[RUNS])
{
  struct part part[PROCESSES];
  uint64_t depth[RUNS] = {0};
  size_t strangers = 0;
  memset(found, 0, RUNS * sizeof *found);
  for (size_t p = 0; p < processes; p++) {
    part_init(&part[p], device, processes, p);
    survey(&part[p]);
    for (size_t m = 0; m < RUNS; m++)
      depth[m] = part[p].reached[m].depth > depth[m] ? part[p].reached[m].depth : depth[m];
  }
  for (size_t p = 0; p < processes; p++) {
    look_at_families(&part[p], depth);
    strangers += part[p].n_strangers;
  }
  for (size_t p = 0; p < processes && told; p++)
    for (size_t i = 0; i < part[p].n_strangers; i++)
      tell(part, processes, &part[p].stranger[i]);
  for (size_t p = 0; p < processes; p++) {
    for (size_t m = 0; m < RUNS; m++) {
      found[m].lowest_replicas += part[p].tallied[m].lowest_replicas;
      found[m].lowest_families += part[p].tallied[m].lowest_families;
      found[m].families += part[p].tallied[m].families;
      found[m].square_sum += part[p].tallied[m].square_sum;
      found[m].entropy += part[p].tallied[m].entropy;
    }
    part_free(&part[p]);
  }
  return strangers;
}

/* Computes the expected result with plain loops. */
static struct pa_tallied expected(size_t m)
{
  struct pa_tallied tallied = {0};
  for (uint32_t f = 0; f < FOUNDERS; f++) {
    uint64_t members = 0, lowest = 0;
    for (size_t r = 0; r < sizes[m]; r++) {
      members += family_of(m, r) == f;
      lowest += family_of(m, r) == f && value_of(m, r) == LOWEST + (int64_t)m;
    }
    pa_add_family(&tallied, members, sizes[m]);
    tallied.lowest_replicas += lowest;
    tallied.lowest_families += lowest > 0;
  }
  return tallied;
}

static void compare(struct gpumc_device *device)
{
  struct pa_tallied wanted[RUNS], found[RUNS];
  for (size_t m = 0; m < RUNS; m++) {
    wanted[m] = expected(m);
    assert_true(wanted[m].lowest_replicas > wanted[m].lowest_families);
  }
  assert_int_equal(find(device, 1, true, found), 0);
  assert_memory_equal(found, wanted, sizeof found);
  for (size_t processes = 2; processes <= PROCESSES; processes++) {
    assert_true(find(device, processes, true, found) > 0);
    assert_memory_equal(found, wanted, sizeof found);
  }
  /* Control: strangers that nobody reports. */
  find(device, 3, false, found);
  assert_memory_not_equal(found, wanted, sizeof found);
}

static void as_one_process(void **state)
{
  struct test_setting setting[TEST_SETTINGS_MAXIMUM];
  const size_t settings = test_settings(1, 3, false, setting);
  (void)state;
  for (size_t i = 0; i < settings; i++) {
    struct gpumc_device device = test_device(setting[i]);
    compare(&device);
  }
}

/* ---- strangers ---- */

static void families_are_counted(void **state)
{
  (void)state;
  enum { CELLS = 50, N = 400, FIRST = 128 };
  struct pa_kin scratch[CELLS] = {0}, item[N], expected[CELLS] = {0};
  struct pa_stranger stranger[N];
  size_t families = 0;
  for (uint32_t i = 0; i < N; i++) {
    const uint64_t any = test_draw(1, 1, i);
    stranger[i] = (struct pa_stranger){FIRST + (uint32_t)(any % CELLS * (any % 3) / 3),
                                       2 * 7 + ((any >> 40) % 5 == 0)};
    families += expected[stranger[i].family - FIRST].members++ == 0;
    expected[stranger[i].family - FIRST].lowest += stranger[i].run_and_lowest % 2;
  }
  const size_t count = pa_families_count(stranger, N, FIRST, scratch, item);
  assert_int_equal(count, families);
  for (size_t i = 0; i < count; i++) {
    struct pa_kin *kin = &expected[item[i].cell - FIRST];
    assert_int_equal(item[i].members, kin->members);
    assert_int_equal(item[i].lowest, kin->lowest);
    kin->members = 0;
  }
  for (size_t c = 0; c < CELLS; c++) {
    assert_int_equal(expected[c].members, 0);
    assert_int_equal(scratch[c].members, 0);
    assert_int_equal(scratch[c].lowest, 0);
  }
}

static void owners(void **state)
{
  (void)state;
  size_t first[] = {0, 32, 64, 64, 180};
  const struct pa_owners of = {.founders = 100, .first = first};
  static const int expected[] = {0, 1, 3};
  static const size_t place[] = {31, 32, 99};
  for (size_t i = 0; i < 3; i++)
    for (int guess = 0; guess < 4; guess++)
      assert_int_equal(pa_owners_find(&of, place[i], guess), expected[i]);
  assert_int_equal(pa_owners_width(&of, 0), 32);
  assert_int_equal(pa_owners_width(&of, 2), 0);
  assert_int_equal(pa_owners_width(&of, 3), 36);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(as_one_process),
      cmocka_unit_test(families_are_counted),
      cmocka_unit_test(owners),
  };
  test_device_require();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
