/* Which children go from which process to which other, in whole numbers alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "algorithms/pa/pa_flow.h"
#include "support/draw.h"

enum { RUNS = 3, PROCESSES = 9 };

struct numbers {
  size_t processes;
  struct pa_need need[PROCESSES * RUNS];
  uint64_t child[RUNS * (PROCESSES + 1)], place[RUNS * (PROCESSES + 1)];
};

static struct pa_flow flow_of(struct numbers *numbers)
{
  struct pa_flow flow = {(int)numbers->processes, 0, RUNS, numbers->need, numbers->child,
                         numbers->place};
  pa_flow_number(&flow);
  return flow;
}

/* Draws numbers where every run has as many children as places. */
static void numbers_draw(struct numbers *numbers, uint32_t round)
{
  *numbers = (struct numbers){.processes = 1 + test_draw(round, 0, 0) % PROCESSES};
  for (size_t m = 0; m < RUNS; m++) {
    uint64_t children = 0, places = 0;
    for (uint32_t p = 0; p < numbers->processes; p++) {
      struct pa_need *need = &numbers->need[p * RUNS + m];
      need->children = test_draw(round, (uint32_t)m, 2 * p + 1) % 4 * (test_draw(round, 7, p) % 50);
      children += need->children;
    }
    for (uint32_t p = 0; p < numbers->processes; p++) {
      const uint64_t left = children - places;
      uint64_t some = test_draw(round, (uint32_t)m, 2 * p + 2) % (children + 1);
      some = p + 1 == numbers->processes || some > left ? left : some;
      numbers->need[p * RUNS + m].places = some;
      places += some;
    }
  }
}

/* Checks that all children of process p in run m go somewhere, and that all its places are
 * filled. */
static void check_streams(const struct pa_flow *flow, size_t m, size_t p)
{
  uint64_t out = 0, in = 0;
  for (size_t q = 0; q < (size_t)flow->size; q++) {
    const struct pa_stream to = pa_flow_stream(flow, m, (int)p, (int)q);
    const struct pa_stream from = pa_flow_stream(flow, m, (int)q, (int)p);
    if (to.count > 0)
      assert_int_equal(to.child, out);
    if (from.count > 0)
      assert_int_equal(from.place, in);
    out += to.count;
    in += from.count;
  }
  assert_int_equal(out, flow->need[p * RUNS + m].children);
  assert_int_equal(in, flow->need[p * RUNS + m].places);
}

static void streams_are_complete(void **state)
{
  (void)state;
  for (uint32_t round = 0; round < 200; round++) {
    struct numbers numbers;
    numbers_draw(&numbers, round);
    const struct pa_flow flow = flow_of(&numbers);
    for (size_t m = 0; m < RUNS; m++)
      for (size_t p = 0; p < numbers.processes; p++)
        check_streams(&flow, m, p);
  }
}

/* Both numbers of the last process may be too large by the same amount: the others exchange the
 * same. */
static void last_may_have_more(void **state)
{
  (void)state;
  for (uint32_t round = 0; round < 200; round++) {
    struct numbers one, other;
    numbers_draw(&one, round);
    other = one;
    const size_t last = one.processes - 1;
    for (size_t m = 0; m < RUNS; m++) {
      other.need[last * RUNS + m].children += 1 + m;
      other.need[last * RUNS + m].places += 1 + m;
    }
    const struct pa_flow flow = flow_of(&one), with_more = flow_of(&other);
    for (size_t m = 0; m < RUNS; m++)
      for (int p = 0; p < flow.size; p++)
        for (int q = 0; q < flow.size; q++) {
          const struct pa_stream stream = pa_flow_stream(&flow, m, p, q);
          const struct pa_stream same = pa_flow_stream(&with_more, m, p, q);
          assert_true(p == q || stream.count == same.count);
          assert_true(p == q || (stream.child == same.child && stream.place == same.place));
        }
  }
}

/* All rounds together contain every child once, in order. */
static void streams_are_cut(void **state)
{
  (void)state;
  for (uint32_t round = 0; round < 100; round++) {
    const struct pa_stream whole = {7, 3, (size_t)(test_draw(round, 0, 1) % 40)};
    const size_t before = test_draw(round, 0, 2) % 30, count = 1 + test_draw(round, 0, 3) % 9;
    size_t done = 0;
    for (size_t first = 0; first < 100; first += count) {
      const struct pa_stream part = pa_stream_cut(whole, before, first, count);
      assert_true(part.count <= count);
      if (part.count > 0) {
        assert_int_equal(part.child, whole.child + done);
        assert_int_equal(part.place, whole.place + done);
        assert_true(before + done >= first && before + done + part.count <= first + count);
      }
      done += part.count;
    }
    assert_int_equal(done, whole.count);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(streams_are_complete),
      cmocka_unit_test(last_may_have_more),
      cmocka_unit_test(streams_are_cut),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
