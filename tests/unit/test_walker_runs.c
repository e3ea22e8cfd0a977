/* Runs that walk side by side, each with its own steps, clock and weights, and with one disorder
 * sample for every two: each run equals, bit for bit, the same run alone in an ensemble that has
 * only its sample. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/status.h"
#include "support/walk_cases.h"

enum {
  RUNS = 6,
  SAMPLES = 3,
  REPLICAS = 45,
  PARTS = 2,
  WALKS = 2,
  FIRST_RUN = 3,
  FIRST_SAMPLE = 2
};

/* For the runs in the two walks. In the first walk one run stands still, and clocks pass 2^32. */
static const uint32_t steps[WALKS][RUNS] = {{40, 0, 7, 64, 1, 33}, {0, 20, 9, 3, 0, 35}};
static const uint64_t begin[RUNS] = {0, 5, 0xfffffffd, 0xffffffe2, 0x200000001, 12};

static const struct walk_case cases[] = {
    {"square", 2, {4, 6}, .channel = ISING_ENERGY, .wider = 1},
    {"glass", 3, {4, 2, 4}, .couplings = LATTICE_BIMODAL, .channel = ISING_ENERGY, .wider = 1},
    {"magnetization of a glass",
     2,
     {4, 4},
     .couplings = LATTICE_BIMODAL,
     .channel = ISING_MAGNETIZATION,
     .wider = 1,
     .beta = 0.4},
    {"random field", 2, {4, 4}, .random_field = 0.5, .channel = ISING_ENERGY, .wider = 1},
    {"random field without a grid",
     2,
     {4, 4},
     .random_field = 1.0 / 3.0,
     .channel = ISING_ENERGY,
     .wider = 1 << 20},
    {"Gaussian",
     3,
     {4, 2, 4},
     .couplings = LATTICE_GAUSSIAN,
     .channel = ISING_ENERGY,
     .wider = 1 << 30},
};

static bool has_samples(const struct walk_case *of)
{
  return of->couplings != LATTICE_UNIFORM || of->random_field > 0;
}

/* Returns the case of runs `first` to first + runs - 1 of all, in samples from number `sample`
 * on. */
static struct ising_case
case_of(const struct walk_case *of, size_t first, size_t runs, size_t sample)
{
  struct ising_case with = walk_ising_case(of, REPLICAS);
  with.runs = runs;
  with.first_run = (uint32_t)(FIRST_RUN + first);
  with.samples = runs == RUNS && has_samples(of) ? SAMPLES : 0;
  with.settings.disorder.first_sample = FIRST_SAMPLE + sample;
  return with;
}

/* An ensemble, and what its walks count. */
struct walking {
  struct ising_fixture fixture;
  size_t first, runs; /* of all */
  struct gpumc_weight_table table;
  int64_t lowest[RUNS];
  int64_t *log_weight; /* [runs][levels] */
  size_t end[2 * RUNS];
  double control[RUNS * ISING_CONTROLS];
  bool canonical;
  const uint32_t *run_parts; /* [runs]; NULL: PARTS */
  uint64_t *visits;          /* [runs][PARTS][levels], device memory */
  uint32_t *passages;        /* [runs][REPLICAS], device memory */
};

/* Returns the table without weights. */
static struct gpumc_weight_table
table_of(const struct gpumc_model *model, const struct walk_case *of, int64_t lowest[RUNS])
{
  const struct gpumc_grid bins = walk_levels(model, of);
  struct gpumc_weight_table table = {.channel = of->channel, .parts = PARTS};
  for (size_t i = 0; i < RUNS; i++)
    lowest[i] = bins.lowest;
  table.lowest = lowest;
  table.spacing = bins.spacing;
  table.levels = bins.levels;
  return table;
}

/* Makes weights for run i of the ensemble that pull towards the ends and differ between all
 * runs. */
static void make_weights(struct walking *walking, size_t i, double beta)
{
  const size_t levels = walking->table.levels, m = walking->first + i;
  for (size_t l = 0; l < levels; l++) {
    const double x = (double)l / (double)levels - 0.5;
    walking->log_weight[i * levels + l] =
        (int64_t)((double)(4 + 3 * m) * x * x * 0x1p32) + (int64_t)(l * 7919 % 1000) * 1000000;
  }
  walking->end[2 * i] = levels * 2 / 5;
  walking->end[2 * i + 1] = levels * 3 / 5;
  walking->control[i * ISING_CONTROLS + ISING_BETA] = beta * (double)(m + 1);
}

static void open_walking(struct walking *walking, const struct walk_case *of,
                         const struct ising_case *with, struct walk_setting how)
{
  struct gpumc_error error = {0};
  memset(walking, 0, sizeof *walking);
  walking->first = with->first_run - FIRST_RUN;
  walking->runs = with->runs;
  walking->canonical = of->beta > 0;
  walk_open(&walking->fixture, *with, how);
  struct gpumc_device *device = walking->fixture.ensemble.device;
  walking->table = table_of(&walking->fixture.model, of, walking->lowest);
  const size_t runs = walking->runs, levels = walking->table.levels;
  walking->log_weight = calloc(runs * levels, sizeof *walking->log_weight);
  assert_non_null(walking->log_weight);
  assert_ok(gpumc_device_array(device, &walking->visits, runs * PARTS * levels, "visits", &error),
            &error);
  assert_ok(gpumc_device_array(device, &walking->passages, runs * REPLICAS, "passages", &error),
            &error);
  for (size_t i = 0; i < runs; i++)
    make_weights(walking, i, of->beta);
}

static void close_walking(struct walking *walking)
{
  struct gpumc_device *device = walking->fixture.ensemble.device;
  device->ops->release(device, walking->visits);
  device->ops->release(device, walking->passages);
  free(walking->log_weight);
  fixture_close(&walking->fixture);
}

/* Does walk number `number` with clocks that are `late`. */
static void walk(struct walking *walking, size_t number, uint64_t late)
{
  struct gpumc_error error = {0};
  struct gpumc_weight_table table = walking->table;
  const struct gpumc_target target = {.kind = GPUMC_TABULATED,
                                      .control = walking->canonical ? walking->control : NULL,
                                      .table = &table};
  uint64_t time[RUNS];
  for (size_t i = 0; i < walking->runs; i++) {
    time[i] = begin[walking->first + i] + late;
    for (size_t before = 0; before < number; before++)
      time[i] += steps[before][walking->first + i];
  }
  table.log_weight = walking->log_weight;
  table.time = time;
  table.steps = &steps[number][walking->first];
  table.visits = walking->visits;
  table.passages = walking->passages;
  table.end = walking->end;
  table.run_parts = walking->run_parts;
  assert_ok(walking->fixture.ensemble.ops->walk(&walking->fixture.ensemble, &target, &error),
            &error);
}

/* ---- what they are compared by ---- */

/* The results of one run. */
struct seen {
  uint8_t *spins;
  int64_t energy[REPLICAS];
  uint64_t *visits;
  uint32_t *passages;
};

/* Returns row i of an array in device memory; the caller frees it. */
static void *row_of(struct walking *walking, const void *rows, size_t i, size_t bytes)
{
  struct gpumc_device *device = walking->fixture.ensemble.device;
  struct gpumc_error error = {0};
  void *row = malloc(bytes);
  assert_non_null(row);
  assert_ok(device->ops->copy_to_host(device, row, (const char *)rows + i * bytes, bytes, &error),
            &error);
  return row;
}

static size_t visits_bytes(const struct walking *walking)
{
  return PARTS * walking->table.levels * sizeof *walking->visits;
}

static void look(struct walking *walking, size_t i, struct seen *seen)
{
  int64_t energy[RUNS * REPLICAS], magnetization[RUNS * REPLICAS];
  fixture_measure(&walking->fixture, energy, magnetization);
  memcpy(seen->energy, energy + i * REPLICAS, sizeof seen->energy);
  seen->spins = fixture_get(&walking->fixture, i);
  seen->visits = row_of(walking, walking->visits, i, visits_bytes(walking));
  seen->passages = row_of(walking, walking->passages, i, REPLICAS * sizeof *seen->passages);
}

static void release(struct seen *seen)
{
  free(seen->spins);
  free(seen->visits);
  free(seen->passages);
}

static bool same_spins(struct walking *walking, const struct seen *left, const struct seen *right)
{
  const size_t bytes = REPLICAS * walking->fixture.model.portable_bytes;
  return memcmp(left->spins, right->spins, bytes) == 0;
}

/* Compares run m of `together` with the only run of `alone`. */
static void expect_same(const char *text, struct walking *together, size_t m, struct walking *alone)
{
  struct seen left, right;
  look(together, m, &left);
  look(alone, 0, &right);
  if (!same_spins(together, &left, &right))
    fail_msg("%s: spins of run %zu", text, m);
  if (memcmp(left.energy, right.energy, sizeof left.energy) != 0)
    fail_msg("%s: energies of run %zu", text, m);
  if (memcmp(left.visits, right.visits, visits_bytes(together)) != 0)
    fail_msg("%s: visits of run %zu", text, m);
  if (memcmp(left.passages, right.passages, REPLICAS * sizeof *left.passages) != 0)
    fail_msg("%s: passages of run %zu", text, m);
  release(&left);
  release(&right);
}

/* ---- the tests ---- */

static size_t sample_of(const struct walk_case *of, size_t m)
{
  return has_samples(of) ? m / (RUNS / SAMPLES) : 0;
}

/* Compares walks, and sweeps after them. */
static void compare_with_each_alone(const struct walk_case *of, struct walk_setting how)
{
  const struct ising_case all = case_of(of, 0, RUNS, 0);
  struct walking together, alone[RUNS];
  char text[200];
  snprintf(text, sizeof text, "%s, %s", of->name, test_setting_text(how.setting));
  open_walking(&together, of, &all, how);
  for (size_t m = 0; m < RUNS; m++) {
    const struct ising_case one = case_of(of, m, 1, sample_of(of, m));
    open_walking(&alone[m], of, &one, how);
    expect_same(text, &together, m, &alone[m]);
  }
  for (size_t number = 0; number < WALKS; number++) {
    walk(&together, number, 0);
    for (size_t m = 0; m < RUNS; m++) {
      walk(&alone[m], number, 0);
      expect_same(text, &together, m, &alone[m]);
    }
  }
  fixture_sweep(&together.fixture, 2, 0.4);
  for (size_t m = 0; m < RUNS; m++) {
    fixture_sweep(&alone[m].fixture, 2, 0.4);
    expect_same(text, &together, m, &alone[m]);
    close_walking(&alone[m]);
  }
  close_walking(&together);
}

static void each_run_is_what_it_is_alone(void **state)
{
  (void)state;
  walk_for_every_setting(cases, sizeof cases / sizeof *cases, compare_with_each_alone);
}

/* Returns the setting for tests that need no other. */
static struct walk_setting usual(void)
{
  return (struct walk_setting){test_setting(), true};
}

static void a_run_without_steps_stands_still(void **state)
{
  const struct ising_case all = case_of(&cases[1], 0, RUNS, 0);
  struct walking walking;
  struct seen before[RUNS], after;
  (void)state;
  open_walking(&walking, &cases[1], &all, usual());
  for (size_t m = 0; m < RUNS; m++)
    look(&walking, m, &before[m]);
  walk(&walking, 0, 0);
  for (size_t m = 0; m < RUNS; m++) {
    uint64_t visits = 0;
    look(&walking, m, &after);
    for (size_t i = 0; i < PARTS * walking.table.levels; i++)
      visits += after.visits[i];
    assert_int_equal(visits, (uint64_t)REPLICAS * steps[0][m]);
    assert_int_equal(same_spins(&walking, &before[m], &after), steps[0][m] == 0);
    release(&before[m]);
    release(&after);
  }
  close_walking(&walking);
}

static void compare_in_fewer_parts(const struct walk_case *of, struct walk_setting how)
{
  static const uint32_t run_parts[RUNS] = {1, 1, PARTS, 1, PARTS, PARTS};
  const struct ising_case all = case_of(of, 0, RUNS, 0);
  struct walking apart, some;
  open_walking(&apart, of, &all, how);
  open_walking(&some, of, &all, how);
  some.run_parts = run_parts;
  walk(&apart, 0, 0);
  walk(&some, 0, 0);
  for (size_t m = 0; m < RUNS; m++) {
    const size_t levels = apart.table.levels;
    struct seen left, right;
    look(&apart, m, &left);
    look(&some, m, &right);
    for (size_t l = 0; l < levels && run_parts[m] == 1; l++) {
      left.visits[l] += left.visits[levels + l];
      left.visits[levels + l] = 0;
    }
    if (memcmp(left.visits, right.visits, visits_bytes(&apart)) != 0)
      fail_msg("%s: visits of run %zu in fewer parts", of->name, m);
    release(&left);
    release(&right);
  }
  close_walking(&apart);
  close_walking(&some);
}

/* For the runs counted in one part, the counts are the sum over the parts; nothing is in the
 * others. */
static void fewer_parts_have_the_same_visits(void **state)
{
  (void)state;
  walk_for_both_memories(cases, sizeof cases / sizeof *cases, compare_in_fewer_parts);
}

/* Runs run 3, whose clock passes 2^32, alone: unchanged, in another sample, and at a time with
 * another upper word. */
static void other_samples_and_other_clocks_give_other_states(void **state)
{
  enum { RUN = 3, SAME = 0, OTHER_SAMPLE, OTHER_CLOCK, CHANGES };
  (void)state;
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
    for (int change = SAME; change < CHANGES; change++) {
      const bool other_sample = change == OTHER_SAMPLE && has_samples(&cases[c]);
      const size_t sample = sample_of(&cases[c], RUN) + other_sample;
      const struct ising_case all = case_of(&cases[c], 0, RUNS, 0);
      const struct ising_case one = case_of(&cases[c], RUN, 1, sample);
      struct walking together, alone;
      struct seen left, right;
      open_walking(&together, &cases[c], &all, usual());
      open_walking(&alone, &cases[c], &one, usual());
      walk(&together, 0, 0);
      walk(&alone, 0, change == OTHER_CLOCK ? 0x100000000 : 0);
      look(&together, RUN, &left);
      look(&alone, 0, &right);
      assert_int_equal(same_spins(&together, &left, &right),
                       !other_sample && change != OTHER_CLOCK);
      release(&left);
      release(&right);
      close_walking(&together);
      close_walking(&alone);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_run_is_what_it_is_alone),
      cmocka_unit_test(a_run_without_steps_stands_still),
      cmocka_unit_test(fewer_parts_have_the_same_visits),
      cmocka_unit_test(other_samples_and_other_clocks_give_other_states),
  };
  test_device_require();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
