/* The population operations on a GPU compared with those on the CPU: every array and every outcome,
 * bit for bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "algorithms/pa/pa_population.h"
#include "core/base/memory.h"
#include "core/numerics/random.h"
#include "support/test_device.h"

enum { STEPS = 4, BLOCKS = 7, STRATA = 2, LEVELS = 257, SPACING = 4, CHANNELS = 2, FIRST_RUN = 3 };
enum { LOWEST = -2 * LEVELS, MAGNETISATION_BITS = 24, LARGE_BITS = 40 };

enum energies {
  ENERGIES_OF_LEVELS,
  ENERGIES_EQUAL,
  ENERGIES_DOMINATED, /* one replica far below all others */
  ENERGIES_LARGE      /* of both signs, no levels */
};

struct scenario {
  enum pa_resampling method;
  enum energies energies;
  double step; /* below 0 where the plan falls */
  size_t conjugate;
  size_t runs, capacity, founders, blocks;
  size_t target[STEPS];
  uint32_t block_threads;
};

/* One device's populations. */
struct side {
  struct gpumc_device device;
  struct pa_population population;
  uint32_t *size;
};

static const size_t capacities[] = {1, 2, 33, 1000, 100003};
enum { N_CAPACITIES = sizeof capacities / sizeof *capacities };

static void check(enum gpumc_status status, const struct gpumc_error *error)
{
  if (status != GPUMC_OK)
    fail_msg("%s", gpumc_error_text(error));
}

#define call(expression)                                                                           \
  do {                                                                                             \
    struct gpumc_error error = {0};                                                                \
    check((expression), &error);                                                                   \
  } while (0)

static struct pa_population_plan plan_of(const struct scenario *scenario)
{
  const double energy_bound =
      scenario->energies == ENERGIES_LARGE ? (double)(1LL << LARGE_BITS) : SPACING * LEVELS;
  return (struct pa_population_plan){
      .runs = scenario->runs,
      .capacity = scenario->capacity,
      .founders = scenario->founders,
      .blocks = scenario->blocks,
      .n_channels = CHANNELS,
      .conjugate = scenario->conjugate,
      .falls = scenario->step < 0,
      .sums = {GPUMC_SUM_FIRST | GPUMC_SUM_SECOND,
               GPUMC_SUM_FIRST | GPUMC_SUM_ABSOLUTE | GPUMC_SUM_SECOND | GPUMC_SUM_FOURTH},
      .bound = {energy_bound, 1 << MAGNETISATION_BITS},
      .strata = STRATA,
      .levels = scenario->energies == ENERGIES_LARGE ? 0 : LEVELS,
      .lowest = LOWEST,
      .spacing = SPACING};
}

static void open_side(struct side *side, const char *device, const struct scenario *scenario)
{
  const struct pa_population_plan plan = plan_of(scenario);
  uint32_t *size = NULL;
  memset(side, 0, sizeof *side);
  call(gpumc_device_open(device, 1, &side->device, &error));
  side->device.block_threads = scenario->block_threads;
  call(gpumc_device_array(&side->device, &side->size, plan.runs, "sizes", &error));
  call(pa_population_create(&side->device, &plan, side->size, &side->population, &error));
  call(gpumc_allocate_array(&size, plan.runs, "sizes", &error));
  for (size_t m = 0; m < plan.runs; m++)
    size[m] = (uint32_t)plan.founders;
  call(side->device.ops->copy_to_device(&side->device, side->size, size, plan.runs * sizeof *size,
                                        &error));
  free(size);
  side->population.runs = plan.runs;
  call(pa_population_found(&side->population, &error));
}

static void close_side(struct side *side)
{
  pa_population_free(&side->population);
  side->device.ops->release(&side->device, side->size);
  gpumc_device_close(&side->device);
}

/* Returns a signed number of `bits` bits. */
static int64_t signed_of(uint32_t high, uint32_t low, int bits)
{
  return (int64_t)((uint64_t)high << 32 | low) >> (63 - bits);
}

static int64_t energy_of(enum energies energies, size_t element, const uint32_t word[4])
{
  switch (energies) {
  case ENERGIES_LARGE:
    return signed_of(word[0], word[1], LARGE_BITS);
  case ENERGIES_EQUAL:
    return LOWEST;
  case ENERGIES_DOMINATED:
    return LOWEST + SPACING * (element == 0 ? 0 : LEVELS - 1);
  default:
    /* The low levels are rare. */
    return LOWEST + (int64_t)SPACING * (LEVELS - 1 - word[0] % LEVELS % (1 + word[1] % LEVELS));
  }
}

/* Makes the same new measurements on both sides. */
static void measure(const struct scenario *scenario, uint32_t time, struct side *const side[2])
{
  const size_t count = scenario->runs * scenario->capacity;
  int64_t *channel[CHANNELS];
  for (size_t c = 0; c < CHANNELS; c++)
    call(gpumc_allocate_array(&channel[c], count, "measurements", &error));
  for (size_t i = 0; i < count; i++) {
    uint32_t word[4];
    gpumc_random_draw(gpumc_random_make(5, 0, 10), (uint32_t)i, 0, time, 0, word);
    channel[0][i] = energy_of(scenario->energies, i % scenario->capacity, word);
    channel[1][i] = signed_of(word[2], word[3], MAGNETISATION_BITS);
  }
  for (size_t c = 0; c < CHANNELS; c++) {
    for (size_t s = 0; s < 2; s++)
      call(side[s]->device.ops->copy_to_device(&side[s]->device, side[s]->population.channel[c],
                                               channel[c], count * sizeof *channel[c], &error));
    free(channel[c]);
  }
}

/* Returns host memory with `bytes` bytes of the side's device. */
static void *fetch(struct side *side, const void *from, size_t bytes)
{
  uint8_t *copy = NULL;
  call(gpumc_allocate_array(&copy, bytes, "a copy", &error));
  call(side->device.ops->copy_to_host(&side->device, copy, from, bytes, &error));
  return copy;
}

static void assert_same_values(struct side *const side[2], const uint32_t *const from[2],
                               const uint32_t *size, const char *what)
{
  const struct pa_population_plan *plan = &side[0]->population.plan;
  const size_t bytes = plan->runs * plan->capacity * sizeof **from;
  uint32_t *values[2] = {fetch(side[0], from[0], bytes), fetch(side[1], from[1], bytes)};
  for (size_t m = 0; m < plan->runs; m++)
    for (size_t r = 0; r < size[m]; r++) {
      const size_t i = m * plan->capacity + r;
      if (values[0][i] != values[1][i])
        fail_msg("%s of replica %zu, run %zu of %zu, capacity %zu: %u, not %u", what, r, m,
                 plan->runs, plan->capacity, values[1][i], values[0][i]);
    }
  free(values[0]);
  free(values[1]);
}

static void assert_same_resampling(struct side *const side[2])
{
  const struct pa_population *cpu = &side[0]->population, *cuda = &side[1]->population;
  const size_t bytes = cpu->plan.runs * sizeof *cpu->size;
  uint32_t *size[2] = {fetch(side[0], cpu->size, bytes), fetch(side[1], cuda->size, bytes)};
  const uint32_t *const parent[2] = {cpu->parent, cuda->parent};
  const uint32_t *const family[2] = {cpu->family, cuda->family};
  for (size_t m = 0; m < cpu->plan.runs; m++)
    assert_int_equal(size[1][m], size[0][m]);
  assert_same_values(side, parent, size[0], "parent");
  assert_same_values(side, family, size[0], "family");
  free(size[0]);
  free(size[1]);
}

static void assert_same_sums(const struct pa_population_plan *plan, const struct pa_outcome *cpu,
                             const struct pa_outcome *cuda)
{
  assert_memory_equal(cuda->block_weight, cpu->block_weight,
                      plan->blocks * sizeof *cpu->block_weight);
  for (size_t c = 0; c < plan->n_channels; c++)
    for (size_t b = 0; b < plan->blocks; b++) {
      const struct gpumc_moment_sums *expected = &cpu->sums[c][b], *sums = &cuda->sums[c][b];
      assert_int_equal(sums->count, expected->count);
      assert_true(sums->first == expected->first);
      assert_true(sums->absolute == expected->absolute);
      assert_true(sums->second == expected->second);
      assert_true(sums->fourth == expected->fourth);
    }
}

static void assert_same_outcomes(struct side *const side[2], size_t slot)
{
  const struct pa_population_plan *plan = &side[0]->population.plan;
  struct pa_outcome *outcome[2] = {NULL, NULL};
  for (size_t s = 0; s < 2; s++) {
    call(gpumc_allocate_array(&outcome[s], plan->runs, "outcomes", &error));
    call(pa_population_collect(&side[s]->population, slot, outcome[s], &error));
  }
  for (size_t m = 0; m < plan->runs; m++) {
    const struct pa_outcome *cpu = &outcome[0][m], *cuda = &outcome[1][m];
    assert_int_equal(cuda->before, cpu->before);
    assert_int_equal(cuda->size, cpu->size);
    assert_int_equal(cuda->reference, cpu->reference);
    assert_int_equal(cuda->total, cpu->total);
    assert_memory_equal(&cuda->overlap, &cpu->overlap, sizeof cpu->overlap);
    assert_int_equal(cuda->lowest, cpu->lowest);
    assert_int_equal(cuda->lowest_replicas, cpu->lowest_replicas);
    assert_int_equal(cuda->lowest_families, cpu->lowest_families);
    assert_int_equal(cuda->families, cpu->families);
    assert_int_equal(cuda->square_sum, cpu->square_sum);
    assert_memory_equal(&cuda->entropy, &cpu->entropy, sizeof cpu->entropy);
    assert_same_sums(plan, cpu, cuda);
  }
  free(outcome[0]);
  free(outcome[1]);
}

static void assert_same_bins(struct side *const side[2])
{
  const struct pa_population_plan *plan = &side[0]->population.plan;
  const size_t bytes = plan->strata * plan->blocks * plan->levels * sizeof(uint64_t);
  if (bytes == 0)
    return;
  uint64_t *bins[2] = {fetch(side[0], side[0]->population.bins, bytes),
                       fetch(side[1], side[1]->population.bins, bytes)};
  assert_memory_equal(bins[1], bins[0], bytes);
  free(bins[0]);
  free(bins[1]);
}

static void assert_same_trial(struct side *const side[2], double step)
{
  double overlap[2] = {-1, -2};
  for (size_t s = 0; s < 2; s++)
    call(pa_population_trial(&side[s]->population, step, &overlap[s], &error));
  assert_memory_equal(&overlap[1], &overlap[0], sizeof overlap[0]);
}

static struct pa_resampling_request request_of(const struct scenario *scenario, uint32_t time)
{
  return (struct pa_resampling_request){.method = scenario->method,
                                        .seed = 11,
                                        .rounds = 10,
                                        .first_run = FIRST_RUN,
                                        .time = time,
                                        .step = scenario->step,
                                        .target = scenario->target[time]};
}

/* Performs several steps of both sides; the outcome of each is collected when the next one is
 * enqueued. */
static void compare(const struct scenario *scenario)
{
  struct side cpu, cuda;
  struct side *const side[2] = {&cpu, &cuda};
  open_side(&cpu, "cpu", scenario);
  open_side(&cuda, "cuda", scenario);
  for (uint32_t time = 0; time < STEPS; time++) {
    const struct pa_resampling_request request = request_of(scenario, time);
    for (size_t s = 0; s < 2 && time > 0; s++)
      call(pa_population_resample(&side[s]->population, &request, &error));
    if (time > 0)
      assert_same_resampling(side);
    measure(scenario, time, side);
    for (size_t s = 0; s < 2; s++) {
      call(pa_population_tally(&side[s]->population, FIRST_RUN, true, &error));
      call(pa_population_publish(&side[s]->population, time % GPUMC_SLOTS, &error));
    }
    if (time > 0)
      assert_same_outcomes(side, (time - 1) % GPUMC_SLOTS);
    assert_same_trial(side, scenario->step);
  }
  assert_same_outcomes(side, (STEPS - 1) % GPUMC_SLOTS);
  assert_same_bins(side);
  close_side(&cpu);
  close_side(&cuda);
}

static size_t at_least_one(size_t n)
{
  return n > 0 ? n : 1;
}

/* Three quarters of the capacity, then half of these, then three quarters again. */
static struct scenario usual(enum pa_resampling method, size_t runs, size_t capacity)
{
  const size_t founders = at_least_one(capacity * 3 / 4);
  return (struct scenario){
      .method = method,
      .energies = ENERGIES_OF_LEVELS,
      .step = 0.003,
      .runs = runs,
      .capacity = capacity,
      .founders = founders,
      .blocks = BLOCKS,
      .target = {founders, founders, at_least_one(founders / 2), founders},
  };
}

static const enum pa_resampling methods[] = {PA_RESAMPLING_NEAREST_INTEGER,
                                             PA_RESAMPLING_SYSTEMATIC};

static void compare_energies(enum energies energies, double step)
{
  for (size_t k = 0; k < 2; k++)
    for (size_t i = 0; i < N_CAPACITIES; i++) {
      struct scenario scenario = usual(methods[k], 2, capacities[i]);
      scenario.energies = energies;
      scenario.step = step;
      compare(&scenario);
    }
}

static void test_growing_and_shrinking_populations(void **state)
{
  (void)state;
  static const size_t runs[] = {1, 5};
  for (size_t k = 0; k < 2; k++)
    for (size_t i = 0; i < N_CAPACITIES; i++)
      for (size_t j = 0; j < sizeof runs / sizeof *runs; j++) {
        const struct scenario scenario = usual(methods[k], runs[j], capacities[i]);
        compare(&scenario);
      }
}

static void test_many_small_runs(void **state)
{
  (void)state;
  for (size_t k = 0; k < 2; k++) {
    const struct scenario scenario = usual(methods[k], 1000, 13);
    compare(&scenario);
  }
}

static void test_one_family_takes_all(void **state)
{
  (void)state;
  compare_energies(ENERGIES_DOMINATED, 1.0);
}

static void test_equal_energies(void **state)
{
  (void)state;
  compare_energies(ENERGIES_EQUAL, 0.1);
}

static void test_large_energies_of_both_signs(void **state)
{
  (void)state;
  compare_energies(ENERGIES_LARGE, 1e-12);
}

/* As if a control other than beta is moved. */
static void test_weights_by_another_channel(void **state)
{
  (void)state;
  static const double steps[] = {0x1p-24, -0x1p-24};
  for (size_t k = 0; k < 2; k++)
    for (size_t i = 0; i < N_CAPACITIES; i++)
      for (size_t c = 0; c < CHANNELS; c++) {
        struct scenario scenario = usual(methods[k], 2, capacities[i]);
        scenario.conjugate = c;
        scenario.step = c == 0 ? -0.003 : steps[k];
        compare(&scenario);
      }
}

/* Too few families per block for shared memory, and all in one block. */
static void test_many_blocks_and_one(void **state)
{
  (void)state;
  static const size_t blocks[] = {1, 64, 20000};
  for (size_t k = 0; k < 2; k++)
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
      struct scenario scenario = usual(methods[k], 2, 33333);
      scenario.blocks = blocks[i];
      compare(&scenario);
    }
}

static void test_block_size_decides_nothing(void **state)
{
  (void)state;
  static const uint32_t threads[] = {32, 96, 256, 1000, 1024};
  for (size_t k = 0; k < 2; k++)
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
      struct scenario scenario = usual(methods[k], 3, 5000);
      scenario.block_threads = threads[i];
      compare(&scenario);
    }
}

/* Targets of no replica, and of more than there is room for; the following steps work on empty
 * runs. */
static void test_populations_that_have_no_room(void **state)
{
  (void)state;
  for (size_t k = 0; k < 2; k++)
    for (size_t i = 0; i < N_CAPACITIES; i++) {
      struct scenario scenario = usual(methods[k], 2, capacities[i]);
      scenario.target[2] = 0;
      compare(&scenario);
      scenario.target[2] = 2 * scenario.capacity;
      compare(&scenario);
    }
}

/* The same request on the same families, twice. */
static void test_a_repeated_resampling_is_the_same(void **state)
{
  (void)state;
  for (size_t k = 0; k < 2; k++) {
    const struct scenario scenario = usual(methods[k], 3, 100003);
    const struct pa_resampling_request request = request_of(&scenario, 1);
    struct side first, second;
    struct side *const side[2] = {&first, &second};
    open_side(&first, "cuda", &scenario);
    open_side(&second, "cuda", &scenario);
    measure(&scenario, 0, side);
    for (size_t s = 0; s < 2; s++) {
      call(pa_population_tally(&side[s]->population, FIRST_RUN, false, &error));
      call(pa_population_resample(&side[s]->population, &request, &error));
      call(pa_population_publish(&side[s]->population, 0, &error));
    }
    assert_same_resampling(side);
    assert_same_outcomes(side, 0);
    close_side(&first);
    close_side(&second);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_growing_and_shrinking_populations),
      cmocka_unit_test(test_many_small_runs),
      cmocka_unit_test(test_one_family_takes_all),
      cmocka_unit_test(test_equal_energies),
      cmocka_unit_test(test_large_energies_of_both_signs),
      cmocka_unit_test(test_weights_by_another_channel),
      cmocka_unit_test(test_many_blocks_and_one),
      cmocka_unit_test(test_block_size_decides_nothing),
      cmocka_unit_test(test_populations_that_have_no_room),
      cmocka_unit_test(test_a_repeated_resampling_is_the_same),
  };
  test_device_require();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
