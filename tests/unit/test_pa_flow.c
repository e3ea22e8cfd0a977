/* Resampling over several processes: which children move, and how a device resamples its own part
 * of a population; put together, against the same resampling by one process. The processes are
 * played one after another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "algorithms/pa/pa_device.h"
#include "core/processes/processes.h"
#include "algorithms/pa/pa_flow.h"
#include "support/draw.h"
#include "support/status.h"
#include "support/test_device.h"

enum { RUNS = 3, PROCESSES = 9 };

static void *zeroed(size_t count, size_t size)
{
  void *memory = calloc(count + 1, size);
  assert_non_null(memory);
  return memory;
}

/* ---- populations ---- */

struct resampling_case {
  const char *name;
  size_t founders, capacity; /* for the whole population */
  size_t size[RUNS];         /* before resampling */
  unsigned most;             /* most copies, ... */
  unsigned rare;             /* which one in this many replicas has, and */
  size_t only;               /* which only this many first replicas can have; 0: all */
};

static const struct resampling_case cases[] = {
    {"even", 200, 360, {200, 200, 200}, 3, 1, 0},
    {"larger and smaller", 200, 360, {120, 290, 200}, 3, 1, 0},
    {"few parents", 200, 360, {200, 190, 210}, 40, 20, 0},
    {"parents at one end", 200, 360, {200, 200, 200}, 7, 1, 60},
    {"one parent", 100, 260, {100, 100, 90}, 100, 1, 1},
    {"more than there is room for", 100, 130, {100, 100, 100}, 4, 1, 0},
    {"nobody lives on", 100, 260, {100, 100, 1}, 0, 1, 0},
    {"half live on", 200, 360, {200, 290, 130}, 1, 1, 0},
    {"small", 9, 40, {9, 8, 12}, 3, 1, 0},
};

/* [RUNS][capacity] */
struct replicas {
  uint32_t size[RUNS], *copies, *family, *state;
};

static void replicas_init(struct replicas *replicas, size_t capacity)
{
  replicas->copies = zeroed(RUNS * capacity, sizeof(uint32_t));
  replicas->family = zeroed(RUNS * capacity, sizeof(uint32_t));
  replicas->state = zeroed(RUNS * capacity, sizeof(uint32_t));
}

static void replicas_free(struct replicas *replicas)
{
  free(replicas->copies);
  free(replicas->family);
  free(replicas->state);
}

static void
replicas_draw(struct replicas *replicas, const struct resampling_case *what, uint32_t round)
{
  replicas_init(replicas, what->capacity);
  for (uint32_t m = 0; m < RUNS; m++) {
    replicas->size[m] = (uint32_t)what->size[m];
    for (uint32_t r = 0; r < what->size[m]; r++) {
      const size_t i = m * what->capacity + r;
      const uint64_t any = test_draw(round, m, r);
      const bool can = what->only == 0 || r < what->only;
      if (can && any % what->rare == 0 && what->most > 0)
        replicas->copies[i] =
            what->only == 1 ? what->most : (uint32_t)(any / what->rare % (what->most + 1));
      replicas->family[i] = (uint32_t)((any >> 32) % what->founders);
      replicas->state[i] = 1000 * m + r;
    }
  }
}

/* ---- one process of several ---- */

struct part {
  struct gpumc_device *device;
  struct pa_work work; /* device memory */
  size_t own[RUNS];
  uint64_t size[RUNS]; /* of the whole, after resampling */
  struct pa_need need[RUNS];
  bool last[RUNS]; /* no later process had replicas before */
  struct pa_copied copied[RUNS];
  uint32_t *parent, *state; /* host memory */
};

static void *on_device(struct gpumc_device *device, size_t count, size_t size)
{
  struct gpumc_error error = {0};
  void *memory = NULL;
  assert_ok(device->ops->allocate(device, count + 1, size, "test", &memory, &error), &error);
  return memory;
}

static void bring(const struct part *part, void *to, const void *from, size_t bytes)
{
  struct gpumc_error error = {0};
  assert_ok(part->device->ops->copy_to_device(part->device, to, from, bytes, &error), &error);
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

/* Returns the share of process p; the last one has the room beyond the founders. */
static struct gpumc_slice share_of(const struct resampling_case *what, size_t processes, size_t p)
{
  struct gpumc_slice share = gpumc_slice(what->founders, 1, processes, p);
  if (p + 1 == processes)
    share.count = what->capacity - share.first;
  return share;
}

/* Returns the replicas and copies that a share has in run m. */
static struct pa_copied copied_of(const struct resampling_case *what,
                                  const struct replicas *replicas, const struct gpumc_slice *share,
                                  size_t m)
{
  struct pa_copied copied = {0};
  for (size_t r = share->first; r < share->first + share->count; r++) {
    const uint32_t copies = replicas->copies[m * what->capacity + r];
    copied.size += copies;
    copied.living += copies > 0;
  }
  return copied;
}

/* Sets what all processes know of each other before `needs`: replicas and copies. `wrong`: this
 * many copies of the first process count for the second, a mistake. */
static void bring_rows(struct part *part, const struct resampling_case *what,
                       const struct replicas *replicas, uint64_t wrong)
{
  struct pa_weighed weighed[PROCESSES * RUNS] = {0};
  struct pa_copied copied[PROCESSES * RUNS] = {0};
  const size_t rows = part->work.processes * RUNS, rank = part->work.rank;
  for (size_t m = 0; m < RUNS; m++) {
    part->size[m] = 0;
    for (size_t p = 0; p < part->work.processes; p++) {
      const struct gpumc_slice share = share_of(what, part->work.processes, p);
      const struct pa_work of = {.first = share.first, .capacity = share.count};
      weighed[p * RUNS + m].own = pa_own_of(&of, replicas->size[m]);
      copied[p * RUNS + m] = copied_of(what, replicas, &share, m);
      part->size[m] += copied[p * RUNS + m].size;
    }
    part->own[m] = weighed[rank * RUNS + m].own;
    part->copied[m] = copied[rank * RUNS + m];
    part->last[m] = replicas->size[m] <= part->work.first + part->work.capacity;
  }
  copied[0].size -= wrong;
  copied[(part->work.processes - 1) * RUNS].size += wrong;
  bring(part, part->work.weighed, weighed, rows * sizeof *weighed);
  bring(part, part->work.copied, copied, rows * sizeof *copied);
}

static void part_init(struct part *part, struct gpumc_device *device,
                      const struct resampling_case *what, size_t processes, size_t rank,
                      const struct replicas *replicas, uint64_t wrong)
{
  const struct gpumc_slice share = share_of(what, processes, rank);
  const size_t count = RUNS * share.count, rows = RUNS * processes;
  memset(part, 0, sizeof *part);
  part->device = device;
  part->work = (struct pa_work){.runs = RUNS,
                                .capacity = share.count,
                                .founders = what->founders,
                                .first = share.first,
                                .whole = what->capacity,
                                .divided = processes > 1,
                                .processes = processes,
                                .rank = rank,
                                .size = on_device(device, RUNS, sizeof(uint32_t)),
                                .weight = on_device(device, count, sizeof(uint64_t)),
                                .parent = on_device(device, count, sizeof(uint32_t)),
                                .copies = on_device(device, count, sizeof(uint32_t)),
                                .family = on_device(device, count, sizeof(uint32_t)),
                                .weighed = on_device(device, rows, sizeof(struct pa_weighed)),
                                .copied = on_device(device, rows, sizeof(struct pa_copied)),
                                .need = on_device(device, RUNS, sizeof(struct pa_need)),
                                .scan = on_device(device, device->ops->scan_bytes(count), 1)};
  part->parent = zeroed(count, sizeof(uint32_t));
  part->state = zeroed(count, sizeof(uint32_t));
  for (size_t m = 0; m < RUNS; m++) {
    const size_t from = m * what->capacity + share.first, to = m * share.count;
    const size_t bytes = share.count * sizeof(uint32_t);
    bring(part, part->work.copies + to, replicas->copies + from, bytes);
    bring(part, part->work.family + to, replicas->family + from, bytes);
    memcpy(part->state + to, replicas->state + from, bytes);
  }
  bring_rows(part, what, replicas, wrong);
}

static void part_free(struct part *part)
{
  const struct gpumc_device_ops *ops = part->device->ops;
  ops->release(part->device, part->work.size);
  ops->release(part->device, part->work.weight);
  ops->release(part->device, part->work.parent);
  ops->release(part->device, part->work.copies);
  ops->release(part->device, part->work.family);
  ops->release(part->device, part->work.weighed);
  ops->release(part->device, part->work.copied);
  ops->release(part->device, part->work.need);
  ops->release(part->device, part->work.scan);
  free(part->parent);
  free(part->state);
}

static void find_needs(struct part *part)
{
  struct gpumc_error error = {0};
  assert_ok(steps_of(part)->needs(part->device, &part->work, &error), &error);
  fetch(part, part->need, part->work.need, sizeof part->need);
}

static void find_places(struct part *part)
{
  struct gpumc_error error = {0};
  assert_ok(steps_of(part)->places(part->device, &part->work, &error), &error);
  fetch(part, part->parent, part->work.parent, RUNS * part->work.capacity * sizeof(uint32_t));
}

static size_t size_of(const struct part *part, size_t m)
{
  uint32_t size;
  fetch(part, &size, part->work.size + m, sizeof size);
  return size;
}

/* Gathers as kernels do. */
static void gather(struct part *part)
{
  for (size_t m = 0; m < RUNS; m++) {
    uint32_t *state = part->state + m * part->work.capacity;
    const uint32_t *parent = part->parent + m * part->work.capacity;
    const size_t size = size_of(part, m);
    for (size_t r = 0; r < size; r++)
      if (parent[r] != r)
        state[r] = state[parent[r]];
  }
}

/* ---- all of them ---- */

/* Counts of replicas that have moved; of needs that follow from what all processes know; of the
 * last process's needs that do so; and of unknown needs. */
struct counted {
  size_t moved, known, of_last, unknown;
};

/* A stream in transfer. */
struct cargo {
  struct pa_stream stream;
  uint32_t *family, *state; /* device memory, host memory */
};

/* Returns the slots of the replicas that move, from device memory; the caller frees them. */
static uint32_t *slots_of(const struct part *part, const struct pa_movers *movers)
{
  uint32_t *slot = zeroed(movers->count, sizeof *slot);
  fetch(part, slot, movers->slot, movers->count * sizeof *slot);
  for (size_t i = 1; i < movers->count; i++)
    assert_true(slot[i] >= slot[i - 1]);
  return slot;
}

static void take(struct part *part, size_t m, struct cargo *cargo)
{
  struct gpumc_error error = {0};
  const size_t count = cargo->stream.count;
  cargo->family = on_device(part->device, count, sizeof(uint32_t));
  cargo->state = zeroed(count, sizeof(uint32_t));
  const struct pa_movers movers = {
      PA_LEAVING,   m, cargo->stream.child, count, on_device(part->device, count, sizeof(uint32_t)),
      cargo->family};
  assert_ok(steps_of(part)->find_movers(part->device, &part->work, &movers, &error), &error);
  uint32_t *slot = slots_of(part, &movers);
  for (size_t i = 0; i < count; i++)
    cargo->state[i] = part->state[m * part->work.capacity + slot[i]];
  part->device->ops->release(part->device, movers.slot);
  free(slot);
}

static void put(struct part *part, size_t m, struct cargo *cargo)
{
  struct gpumc_error error = {0};
  const size_t count = cargo->stream.count, size = size_of(part, m);
  const struct pa_movers movers = {
      PA_ARRIVING,  m, cargo->stream.place, count, on_device(part->device, count, sizeof(uint32_t)),
      cargo->family};
  assert_ok(steps_of(part)->find_movers(part->device, &part->work, &movers, &error), &error);
  assert_ok(steps_of(part)->adopt(part->device, &part->work, &movers, &error), &error);
  uint32_t *slot = slots_of(part, &movers);
  for (size_t i = 0; i < count; i++) {
    assert_true(slot[i] < size);
    part->state[m * part->work.capacity + slot[i]] = cargo->state[i];
  }
  part->device->ops->release(part->device, movers.slot);
  part->device->ops->release(part->device, cargo->family);
  free(cargo->state);
  free(slot);
}

struct exchange {
  size_t processes;
  struct part part[PROCESSES];
  struct pa_need need[PROCESSES * RUNS];
  uint64_t child[RUNS * (PROCESSES + 1)], place[RUNS * (PROCESSES + 1)];
  struct cargo cargo[RUNS][PROCESSES][PROCESSES];
  struct counted counted;
};

static struct pa_flow flow_of(struct exchange *exchange, size_t rank)
{
  return (struct pa_flow){(int)exchange->processes, (int)rank,       RUNS,
                          exchange->need,           exchange->child, exchange->place};
}

/* Repeats the device's count and compares. */
static void check_needs(const struct part *part, size_t m)
{
  const size_t own = part->own[m], after = pa_size_after(&part->work, part->size[m]);
  const size_t most = own > after ? own : after;
  uint32_t *copies = zeroed(most, sizeof *copies);
  struct pa_need need = {0};
  fetch(part, copies, part->work.copies + m * part->work.capacity, own * sizeof *copies);
  for (size_t r = 0; r < most; r++) {
    const bool lives = r < after && copies[r] > 0;
    need.children += copies[r] - lives;
    need.places += r < after && !lives;
  }
  free(copies);
  if (part->size[m] > part->work.whole)
    need = (struct pa_need){0, 0};
  assert_int_equal(need.children, part->need[m].children);
  assert_int_equal(need.places, part->need[m].places);
}

/* Returns what the others know of this part's needs: the whole, or for the last process something
 * equivalent. */
static struct pa_need known_need(const struct part *part, size_t m, struct counted *counted)
{
  const size_t places = pa_size_after(&part->work, part->size[m]);
  const struct pa_kept kept = {.own = part->own[m],
                               .places = places,
                               .copies = part->copied[m].size,
                               .living = part->copied[m].living,
                               .last = part->last[m]};
  struct pa_need need = {0, 0};
  if (part->size[m] > part->work.whole)
    return need;
  if (!pa_flow_need(&kept, &need)) {
    counted->unknown++;
    return part->need[m];
  }
  const uint64_t more = need.children - part->need[m].children;
  assert_int_equal(need.places, part->need[m].places + more);
  assert_true(more == 0 || (kept.last && places > 0 && places < kept.own));
  counted->of_last += more > 0;
  counted->known += more == 0;
  return need;
}

static void resample(struct exchange *exchange)
{
  const size_t processes = exchange->processes;
  for (size_t p = 0; p < processes; p++) {
    find_needs(&exchange->part[p]);
    for (size_t m = 0; m < RUNS && processes > 1; m++) {
      check_needs(&exchange->part[p], m);
      exchange->need[p * RUNS + m] = known_need(&exchange->part[p], m, &exchange->counted);
    }
  }
  for (size_t p = 0; p < processes; p++) {
    struct pa_flow flow = flow_of(exchange, p);
    pa_flow_number(&flow);
    find_places(&exchange->part[p]);
    for (size_t m = 0; m < RUNS; m++)
      for (size_t q = 0; q < processes; q++) {
        exchange->cargo[m][p][q].stream = pa_flow_stream(&flow, m, (int)p, (int)q);
        if (p == q || exchange->cargo[m][p][q].stream.count == 0)
          continue;
        take(&exchange->part[p], m, &exchange->cargo[m][p][q]);
        exchange->counted.moved += exchange->cargo[m][p][q].stream.count;
      }
  }
  for (size_t q = 0; q < processes; q++) {
    for (size_t m = 0; m < RUNS; m++)
      for (size_t p = 0; p < processes; p++)
        if (p != q && exchange->cargo[m][p][q].stream.count > 0)
          put(&exchange->part[q], m, &exchange->cargo[m][p][q]);
    gather(&exchange->part[q]);
  }
}

/* Checks the result and returns the counts; `wrong`: as in bring_rows. */
static struct counted expect(struct gpumc_device *device, const struct resampling_case *what,
                             const struct replicas *replicas, size_t processes, uint64_t wrong,
                             struct replicas *after)
{
  struct exchange *exchange = zeroed(1, sizeof *exchange);
  exchange->processes = processes;
  for (size_t p = 0; p < processes; p++)
    part_init(&exchange->part[p], device, what, processes, p, replicas, wrong);
  resample(exchange);
  replicas_init(after, what->capacity);
  memset(after->size, 0, sizeof after->size);
  for (size_t p = 0; p < processes; p++) {
    struct part *part = &exchange->part[p];
    for (size_t m = 0; m < RUNS; m++) {
      const size_t to = m * what->capacity + part->work.first, from = m * part->work.capacity;
      const size_t size = size_of(part, m);
      after->size[m] += (uint32_t)size;
      fetch(part, after->family + to, part->work.family + from, size * sizeof(uint32_t));
      memcpy(after->state + to, part->state + from, size * sizeof(uint32_t));
    }
    part_free(part);
  }
  const struct counted counted = exchange->counted;
  free(exchange);
  return counted;
}

static bool same(const struct replicas *one, const struct replicas *other, size_t capacity)
{
  if (memcmp(one->size, other->size, sizeof one->size) != 0)
    return false;
  for (size_t m = 0; m < RUNS; m++)
    for (size_t i = m * capacity; i < m * capacity + one->size[m]; i++)
      if (one->state[i] != other->state[i] || one->family[i] != other->family[i])
        return false;
  return true;
}

static void add(struct counted *sum, const struct counted *counted)
{
  sum->moved += counted->moved;
  sum->known += counted->known;
  sum->of_last += counted->of_last;
  sum->unknown += counted->unknown;
}

static void compare(struct gpumc_device *device, const struct resampling_case *what, uint32_t round,
                    struct counted *sum)
{
  struct replicas before, whole, divided;
  replicas_draw(&before, what, round);
  expect(device, what, &before, 1, 0, &whole);
  for (size_t processes = 2; processes <= PROCESSES && processes <= what->founders; processes++) {
    const struct counted counted = expect(device, what, &before, processes, 0, &divided);
    add(sum, &counted);
    if (!same(&whole, &divided, what->capacity))
      fail_msg("%s, round %u: %zu processes differ from one", what->name, round, processes);
    replicas_free(&divided);
  }
  replicas_free(&before);
  replicas_free(&whole);
}

static void for_every_setting(void (*body)(struct gpumc_device *device))
{
  struct test_setting setting[TEST_SETTINGS_MAXIMUM];
  const size_t settings = test_settings(1, 3, false, setting);
  for (size_t i = 0; i < settings; i++) {
    struct gpumc_device device = test_device(setting[i]);
    body(&device);
  }
}

static void compare_all(struct gpumc_device *device)
{
  struct counted sum = {0};
  /* On a GPU most of the time is spent allocating memory. */
  const uint32_t rounds = device->ops->kind == GPUMC_KIND_CPU ? 5 : 1;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (uint32_t round = 0; round < rounds; round++)
      compare(device, &cases[i], round, &sum);
  assert_true(sum.moved > 0 && sum.known > 0 && sum.of_last > 0 && sum.unknown > 0);
}

static void as_one_process(void **state)
{
  (void)state;
  for_every_setting(compare_all);
}

static void notice(struct gpumc_device *device)
{
  struct replicas before, whole, divided;
  const struct resampling_case *what = &cases[0];
  replicas_draw(&before, what, 0);
  expect(device, what, &before, 1, 0, &whole);
  assert_true(expect(device, what, &before, 4, 0, &divided).moved > 0);
  assert_true(same(&whole, &divided, what->capacity));
  replicas_free(&divided);
  expect(device, what, &before, 4, 1, &divided);
  assert_false(same(&whole, &divided, what->capacity));
  replicas_free(&divided);
  replicas_free(&before);
  replicas_free(&whole);
}

static void a_wrong_number_is_noticed(void **state)
{
  (void)state;
  for_every_setting(notice);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(as_one_process),
      cmocka_unit_test(a_wrong_number_is_noticed),
  };
  test_device_require();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
