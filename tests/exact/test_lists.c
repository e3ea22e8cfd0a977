/* Lists of replicas in device memory: `get_list` and `set_list` against `get` and `set`, for every
 * kernel that the registry has on the device under test, and by the fallback for kernels without
 * them (columns.h). Lists contain single replicas, neighbours, several in one word of a bit-sliced
 * kernel, repeated ones, all, and none. Controls: replicas differ, so one in the place of another
 * is noticed; and so is a list that is off by one.
 *
 * CTest: cases 15 s */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/simulation/columns.h"
#include "core/simulation/registry.h"
#include "support/kernel_cases.h"
#include "support/status.h"
#include "support/test_device.h"
#include "support/work_directory.h"

enum {
  RUNS = 2,
  REPLICAS = 100, /* three groups of 32, and a part of a fourth */
  THREADS = 3,
  AT = 3 /* elements of the array before the states of a list */
};

/* An ensemble, and all its replicas: portable[RUNS][replicas][bytes]. */
struct bench {
  struct gpumc_device device;
  struct gpumc_ensemble ensemble;
  size_t replicas, bytes;
  uint8_t *portable;
  uint32_t *slot;  /* [replicas], device memory */
  uint8_t *states; /* [AT + replicas][bytes], device memory */
  char name[256];
};

/* The replicas of a list, host memory. */
struct list {
  size_t count;
  uint32_t slot[REPLICAS];
};

static void *filled(size_t count, size_t size)
{
  void *memory = malloc(count * size + 1);
  assert_non_null(memory);
  memset(memory, 0x5a, count * size + 1);
  return memory;
}

static void get_all(struct bench *bench, uint8_t *portable)
{
  struct gpumc_error error = {0};
  for (size_t m = 0; m < RUNS; m++)
    assert_ok(bench->ensemble.ops->get(&bench->ensemble, m, 0, bench->replicas,
                                       portable + m * bench->replicas * bench->bytes, &error),
              &error);
}

static uint8_t *replica_of(const struct bench *bench, size_t m, size_t r)
{
  return bench->portable + (m * bench->replicas + r) * bench->bytes;
}

static void open_bench(const struct kernel_case *at, struct bench *bench)
{
  const struct gpumc_model *model = at->model;
  const size_t replicas = at->instance->replicas > 0 ? at->instance->replicas : REPLICAS;
  struct gpumc_ensemble_plan plan = {.runs = RUNS,
                                     .capacity = replicas,
                                     .samples = model->disorder ? replicas : 1,
                                     .moved = GPUMC_CONTROL_NONE,
                                     .options = at->options};
  struct test_setting setting = test_setting();
  struct gpumc_error error = {0};
  setting.threads = THREADS;
  *bench = (struct bench){
      .device = test_device(setting), .replicas = replicas, .bytes = model->portable_bytes};
  snprintf(bench->name, sizeof bench->name, "%s {%s}, %s {%s}", model->ops->name,
           at->instance->keys, at->kernel->variant, at->with);
  kernel_case_fix_controls(at, &plan);
  assert_ok(gpumc_ensemble_create(at->kernel, model, &bench->device, &plan, 20261126, 10,
                                  &bench->ensemble, &error),
            &error);
  assert_ok(gpumc_ensemble_start(&bench->ensemble, 0, RUNS, replicas, &error), &error);
  assert_ok(gpumc_device_array(&bench->device, &bench->slot, replicas, "slots", &error), &error);
  assert_ok(bench->device.ops->allocate(&bench->device, AT + replicas, bench->bytes, "states",
                                        (void **)&bench->states, &error),
            &error);
  bench->portable = filled(RUNS * replicas, bench->bytes);
  get_all(bench, bench->portable);
}

static void close_bench(struct bench *bench)
{
  bench->device.ops->release(&bench->device, bench->slot);
  bench->device.ops->release(&bench->device, bench->states);
  gpumc_ensemble_free(&bench->ensemble);
  free(bench->portable);
}

static uint8_t *states_of(struct bench *bench)
{
  return bench->states + AT * bench->bytes;
}

static void bring_slots(struct bench *bench, const struct list *list)
{
  struct gpumc_error error = {0};
  assert_ok(bench->device.ops->copy_to_device(&bench->device, bench->slot, list->slot,
                                              list->count * sizeof *list->slot, &error),
            &error);
}

/* Returns how many replicas of the list, shifted by `by`, are those of run m. */
static size_t got(struct bench *bench, size_t m, const struct list *list, size_t by)
{
  struct gpumc_device *device = &bench->device;
  uint8_t *states = filled(AT + bench->replicas, bench->bytes);
  struct gpumc_error error = {0};
  size_t same = 0;
  bring_slots(bench, list);
  assert_ok(
      device->ops->fill(device, bench->states, 0xa5, (AT + bench->replicas) * bench->bytes, &error),
      &error);
  assert_ok(gpumc_columns_get_list(&bench->ensemble, m, bench->slot, list->count, states_of(bench),
                                   &error),
            &error);
  assert_ok(device->ops->copy_to_host(device, states, bench->states,
                                      (AT + bench->replicas) * bench->bytes, &error),
            &error);
  for (size_t i = 0; i < (AT + bench->replicas) * bench->bytes; i++)
    if ((i < AT * bench->bytes || i >= (AT + list->count) * bench->bytes) && states[i] != 0xa5)
      fail_msg("%s: %zu replicas of a list were written beyond the end", bench->name, list->count);
  for (size_t i = 0; i < list->count; i++)
    same += memcmp(states + (AT + i) * bench->bytes,
                   replica_of(bench, m, (list->slot[i] + by) % bench->replicas), bench->bytes) == 0;
  free(states);
  return same;
}

static void expect_got(struct bench *bench, const struct list *list)
{
  for (size_t m = 0; m < RUNS; m++) {
    const size_t same = got(bench, m, list, 0);
    if (same != list->count)
      fail_msg("%s: of a list of %zu, %zu are the replicas of run %zu", bench->name, list->count,
               same, m);
  }
}

/* Those of the list, in run m, become replicas of the other run; all others stay. */
static void expect_set(struct bench *bench, size_t m, const struct list *list)
{
  const size_t replicas = bench->replicas, bytes = bench->bytes;
  uint8_t *states = filled(list->count, bytes), *after = filled(RUNS * replicas, bytes);
  struct gpumc_error error = {0};
  for (size_t i = 0; i < list->count; i++)
    memcpy(states + i * bytes, replica_of(bench, (m + 1) % RUNS, (7 * i + 1) % replicas), bytes);
  bring_slots(bench, list);
  assert_ok(bench->device.ops->copy_to_device(&bench->device, states_of(bench), states,
                                              list->count * bytes, &error),
            &error);
  assert_ok(gpumc_columns_set_list(&bench->ensemble, m, bench->slot, list->count, states_of(bench),
                                   &error),
            &error);
  for (size_t i = 0; i < list->count; i++)
    memcpy(replica_of(bench, m, list->slot[i]), states + i * bytes, bytes);
  get_all(bench, after);
  for (size_t i = 0; i < RUNS * replicas; i++)
    if (memcmp(after + i * bytes, bench->portable + i * bytes, bytes) != 0)
      fail_msg("%s: after a list of %zu for run %zu, replica %zu of run %zu is not what it should "
               "be",
               bench->name, list->count, m, i % replicas, i / replicas);
  free(states);
  free(after);
}

/* Makes list number k, without repetitions, if there are enough replicas. */
static bool list_make(size_t k, size_t replicas, struct list *list)
{
  static const struct list lists[] = {
      {0, {0}},
      {1, {0}},
      {1, {99}},
      {9, {0, 1, 2, 31, 32, 33, 34, 64, 98}},
      {12, {3, 5, 6, 30, 31, 40, 41, 63, 64, 65, 96, 99}},
  };
  const size_t made = sizeof lists / sizeof *lists;
  if (k > made)
    return false;
  *list = k < made ? lists[k] : (struct list){.count = replicas};
  for (size_t i = 0; i < list->count && k == made; i++)
    list->slot[i] = (uint32_t)i;
  while (list->count > 0 && list->slot[list->count - 1] >= replicas)
    list->count--;
  return true;
}

/* Every second one, from the first on, is requested three times. */
static struct list repeated(const struct list *list)
{
  struct list more = {0};
  for (size_t i = 0; i < list->count; i++)
    for (size_t n = i % 2 == 0 ? 3 : 1; n > 0 && more.count < REPLICAS; n--)
      more.slot[more.count++] = list->slot[i];
  return more;
}

static void examine_lists(struct bench *bench)
{
  struct list list;
  for (size_t k = 0; list_make(k, bench->replicas, &list); k++) {
    struct list more = repeated(&list);
    more.count = more.count < bench->replicas ? more.count : bench->replicas;
    expect_got(bench, &list);
    expect_got(bench, &more);
    for (size_t m = 0; m < RUNS; m++)
      expect_set(bench, m, &list);
    expect_got(bench, &list);
  }
}

/* For all replicas as they were started. */
static bool are_different(struct bench *bench)
{
  struct list all;
  size_t k = 0;
  while (list_make(k, bench->replicas, &all) && all.count < bench->replicas)
    k++;
  return got(bench, 0, &all, 1) == 0;
}

/* Disks that begin on a lattice or from a file are all alike. */
static bool may_be_alike(const struct gpumc_model *model)
{
  return strcmp(model->ops->name, "hard_disks") == 0;
}

static size_t examined;

static void examine_case(const struct kernel_case *at)
{
  struct gpumc_kernel_ops without = *at->kernel;
  struct bench bench;
  if (!at->is_taken)
    return;
  open_bench(at, &bench);
  if ((at->kernel->get_list == NULL) != (at->kernel->set_list == NULL))
    fail_msg("%s: the kernel has one of get_list and set_list", bench.name);
  examined++;
  if (!may_be_alike(at->model) && !are_different(&bench))
    fail_msg("%s: replicas are alike: a list off by one would not be noticed", bench.name);
  if (at->kernel->get_list != NULL)
    examine_lists(&bench);
  without.get_list = NULL;
  without.set_list = NULL;
  bench.ensemble.ops = &without;
  examine_lists(&bench);
  close_bench(&bench);
}

static void lists_are_what_single_replicas_are(void **state)
{
  (void)state;
  kernel_cases_each(examine_case);
  assert_true(examined > 0);
}

/* Lattices that copy replicas in place have list operations of their own, which wait for
 * nothing. */
static void lattices_have_lists(void **state)
{
  (void)state;
  for (const struct gpumc_model_ops *const *model = gpumc_models(); *model != NULL; model++)
    for (const struct gpumc_kernel_ops *const *kernel = (*model)->kernels; *kernel != NULL;
         kernel++)
      if (kernel_is_examined(*kernel) && (*kernel)->gather != NULL && (*kernel)->get_list == NULL &&
          strcmp((*model)->name, "hard_disks") != 0)
        fail_msg("kernel %s of model %s has no lists", (*kernel)->variant, (*model)->name);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(lists_are_what_single_replicas_are, work_directory_enter,
                                      work_directory_leave),
      cmocka_unit_test(lattices_have_lists),
  };
  test_device_require();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
