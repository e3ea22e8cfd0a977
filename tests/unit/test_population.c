/* Resampling of the populations of a batch: weights, numbers of copies, places, empty and overfull
 * outcomes, trial steps; and devices that cannot be opened. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "algorithms/pa/pa_rules.h"
#include "support/population_fixture.h"

enum { REPLICAS = 1003, CAPACITY = 1400, FOUNDERS = 1100, BLOCKS = 7, RUNS = 3, FIRST_RUN = 2 };

static const double beta_step = 0.01;

static const struct pa_population_plan usual = {
    .runs = RUNS,
    .capacity = CAPACITY,
    .founders = FOUNDERS,
    .blocks = BLOCKS,
    .n_channels = 1,
    .sums = {GPUMC_SUM_FIRST},
    .bound = {200},
};

static struct pa_resampling_request usual_request(int method)
{
  return (struct pa_resampling_request){.method = method == 0 ? PA_RESAMPLING_NEAREST_INTEGER
                                                              : PA_RESAMPLING_SYSTEMATIC,
                                        .seed = 9,
                                        .rounds = 10,
                                        .first_run = FIRST_RUN,
                                        .time = 17,
                                        .step = beta_step,
                                        .target = REPLICAS};
}

/* Fills the runs m with `size[m]` replicas, tallied. */
static void
fill(struct population_fixture *fixture, struct population_sample sample[], const size_t *size)
{
  for (size_t m = 0; m < fixture->population.runs; m++) {
    const uint32_t run = FIRST_RUN + (uint32_t)m;
    population_sample_families(&sample[m], &fixture->population.plan, run, size[m]);
    population_sample_channels(&sample[m], &fixture->population.plan, run, 0);
    population_bring(fixture, m, &sample[m]);
    population_bring_channels(fixture, m, &sample[m]);
  }
  population_tally(fixture, FIRST_RUN, false);
}

static void outcomes_of(struct population_fixture *fixture)
{
  population_publish(fixture, 0);
  population_collect(fixture, 0);
}

/* What a body works on. */
struct filled {
  struct population_fixture fixture;
  struct population_sample sample[RUNS];
};

static void open_filled(struct filled *filled, size_t runs, struct test_setting setting)
{
  static const size_t sizes[RUNS] = {REPLICAS, 1, 64};
  population_open(&filled->fixture, &usual, runs, setting);
  for (size_t m = 0; m < RUNS; m++)
    population_sample_init(&filled->sample[m], &usual);
  fill(&filled->fixture, filled->sample, sizes);
}

static void close_filled(struct filled *filled)
{
  for (size_t m = 0; m < RUNS; m++)
    population_sample_free(&filled->sample[m]);
  population_close(&filled->fixture);
}

static void for_every_setting(void (*body)(struct test_setting setting))
{
  struct test_setting setting[TEST_SETTINGS_MAXIMUM];
  const size_t settings = test_settings(1, 3, false, setting);
  for (size_t i = 0; i < settings; i++)
    body(setting[i]);
}

/* Blocks of one replica each reveal every weight. */
static void weights_case(struct test_setting setting)
{
  enum { FEW = 100 };
  struct population_fixture fixture;
  struct population_sample sample;
  struct pa_population_plan plan = usual;
  struct pa_resampling_request request = usual_request(0);
  plan.founders = plan.blocks = request.target = FEW;
  population_open(&fixture, &plan, 1, setting);
  population_sample_init(&sample, &plan);
  population_sample_found(&sample, &plan);
  population_sample_channels(&sample, &plan, 0, 0);
  population_bring(&fixture, 0, &sample);
  population_bring_channels(&fixture, 0, &sample);
  population_tally(&fixture, 0, false);
  population_resample(&fixture, &request);
  outcomes_of(&fixture);
  const struct pa_outcome *found = &fixture.outcome[0];
  const double unit = ldexp(1.0, -pa_weight_shift(CAPACITY));
  uint64_t total = 0;
  assert_int_equal(found->reference, -200);
  for (size_t r = 0; r < FEW; r++) {
    const double exact = exp(-beta_step * (double)(sample.channel[0][r] + 200));
    assert_true(fabs((double)found->block_weight[r] * unit - exact) < 1e-14);
    total += found->block_weight[r];
  }
  assert_true(total == found->total);
  population_sample_free(&sample);
  population_close(&fixture);
}

static void weights_are_boltzmann_factors(void **state)
{
  (void)state;
  for_every_setting(weights_case);
}

static double weight_of(const struct population_sample *sample, size_t r)
{
  return exp(-beta_step * (double)sample->channel[0][r]);
}

static double total_of(const struct population_sample *sample)
{
  double total = 0;
  for (size_t r = 0; r < sample->size; r++)
    total += weight_of(sample, r);
  return total;
}

static void overlap_case(struct test_setting setting)
{
  struct filled filled;
  const struct pa_resampling_request request = usual_request(0);
  open_filled(&filled, RUNS, setting);
  const double trial = population_trial(&filled.fixture, beta_step);
  population_trial(&filled.fixture, 3 * beta_step);
  population_resample(&filled.fixture, &request);
  outcomes_of(&filled.fixture);
  for (size_t m = 0; m < RUNS; m++) {
    const struct population_sample *sample = &filled.sample[m];
    const double n = (double)sample->size, total = total_of(sample);
    double expected = 0;
    for (size_t r = 0; r < sample->size; r++)
      expected += fmin(1.0, n * weight_of(sample, r) / total) / n;
    assert_true(fabs(filled.fixture.outcome[m].overlap - expected) < 1e-12);
  }
  assert_true(trial == filled.fixture.outcome[0].overlap);
  close_filled(&filled);
}

static void overlap_is_the_clipped_mean_and_that_of_the_trial(void **state)
{
  (void)state;
  for_every_setting(overlap_case);
}

/* A trial does not affect the resampling; smaller steps overlap more. */
static void trials_fall_from_one(void **state)
{
  (void)state;
  struct filled filled;
  open_filled(&filled, 1, test_setting());
  double before = 1;
  for (int i = 0; i <= 30; i++) {
    const double overlap = population_trial(&filled.fixture, ldexp(1e-8, i));
    assert_true(overlap <= before && overlap > 0);
    before = overlap;
  }
  assert_true(population_trial(&filled.fixture, 1e-12) > 1 - 1e-9);
  assert_true(before < 0.1);
  close_filled(&filled);
}

/* Checks the rule of pa_population_resample, and copies within one of their expectation. */
static void check_parents(const struct population_sample *before,
                          const struct population_sample *after, size_t target)
{
  size_t copies[CAPACITY] = {0};
  const double total = total_of(before);
  uint32_t newcomer = 0;
  for (size_t r = 0; r < after->size; r++) {
    const uint32_t parent = after->parent[r];
    assert_true(parent < before->size);
    copies[parent]++;
    assert_int_equal(after->family[r], before->family[parent]);
    if (parent != r) {
      assert_true(parent >= newcomer);
      newcomer = parent;
    }
  }
  for (size_t r = 0; r < before->size; r++) {
    const double expected = (double)target * weight_of(before, r) / total;
    assert_true(fabs((double)copies[r] - expected) < 1.0 + 1e-9);
    if (copies[r] > 0 && r < after->size)
      assert_int_equal(after->parent[r], r);
  }
}

static void places_case(struct test_setting setting)
{
  static const size_t targets[] = {1003, 700, 1300};
  struct population_sample after;
  struct filled filled;
  population_sample_init(&after, &usual);
  for (int method = 0; method < 2; method++)
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
      struct pa_resampling_request request = usual_request(method);
      request.target = targets[i];
      open_filled(&filled, RUNS, setting);
      population_resample(&filled.fixture, &request);
      outcomes_of(&filled.fixture);
      for (size_t m = 0; m < RUNS; m++) {
        population_fetch(&filled.fixture, m, &after);
        assert_int_equal(filled.fixture.outcome[m].size, after.size);
        assert_int_equal(filled.fixture.outcome[m].before, filled.sample[m].size);
        assert_true(fabs((double)after.size - (double)targets[i]) < (method == 0 ? 100 : 1));
        check_parents(&filled.sample[m], &after, targets[i]);
      }
      close_filled(&filled);
    }
  population_sample_free(&after);
}

static void survivors_keep_their_places(void **state)
{
  (void)state;
  for_every_setting(places_case);
}

/* Over many steps the mean number of copies is R w/W; bound: 5 standard deviations per replica
 * (false alarm rate 6e-4 in all). Always rounding up or down is far outside. */
static void mean_number_of_copies(void **state)
{
  (void)state;
  enum { STEPS = 4000 };
  struct population_sample after;
  struct filled filled;
  population_sample_init(&after, &usual);
  open_filled(&filled, 1, test_setting());
  const struct population_sample *sample = &filled.sample[0];
  const double total = total_of(sample);
  for (int method = 0; method < 2; method++) {
    static double mean[REPLICAS];
    struct pa_resampling_request request = usual_request(method);
    memset(mean, 0, sizeof mean);
    for (request.time = 0; request.time < STEPS; request.time++) {
      population_bring(&filled.fixture, 0, sample);
      population_tally(&filled.fixture, FIRST_RUN, false);
      population_resample(&filled.fixture, &request);
      population_fetch(&filled.fixture, 0, &after);
      for (size_t r = 0; r < after.size; r++)
        mean[after.parent[r]] += 1.0 / STEPS;
    }
    for (size_t r = 0; r < REPLICAS; r++) {
      const double expected = REPLICAS * (weight_of(sample, r) / total);
      const double fraction = expected - floor(expected);
      const double deviation = sqrt(fraction * (1 - fraction) / STEPS);
      assert_true(fabs(mean[r] - expected) < 5 * deviation + 1e-9);
    }
  }
  close_filled(&filled);
  population_sample_free(&after);
}

/* Counts the copies of each replica of run 0 after a resampling. */
static void find_copies(struct population_fixture *fixture, struct population_sample *sample,
                        size_t size, size_t target, uint32_t first_replica, uint32_t *copies)
{
  struct gpumc_error error = {0};
  struct gpumc_device *device = &fixture->device;
  struct pa_resampling_request request = usual_request(0);
  request.target = target;
  request.first_replica = first_replica;
  sample->size = size;
  population_bring(fixture, 0, sample);
  population_bring_channels(fixture, 0, sample);
  population_tally(fixture, FIRST_RUN, false);
  population_resample(fixture, &request);
  assert_int_equal(device->ops->copy_to_host(device, copies, fixture->population.copies,
                                             size * sizeof *copies, &error),
                   GPUMC_OK);
}

/* A share with the second half of a population, with the same weights as the first. Control: its
 * replicas treated as those of the first half. */
static void share_case(struct test_setting setting)
{
  enum { HALF = 500 };
  static uint32_t whole[2 * HALF], share[HALF], wrong[HALF];
  struct filled filled;
  open_filled(&filled, 1, setting);
  struct population_sample *sample = &filled.sample[0];
  memcpy(sample->channel[0] + HALF, sample->channel[0], HALF * sizeof *sample->channel[0]);
  find_copies(&filled.fixture, sample, 2 * HALF, 2 * HALF, 0, whole);
  find_copies(&filled.fixture, sample, HALF, HALF, HALF, share);
  find_copies(&filled.fixture, sample, HALF, HALF, 0, wrong);
  assert_memory_equal(share, whole + HALF, sizeof share);
  assert_memory_equal(wrong, whole, sizeof wrong);
  assert_memory_not_equal(wrong, share, sizeof share);
  close_filled(&filled);
}

static void copies_go_by_the_number_in_the_whole(void **state)
{
  (void)state;
  for_every_setting(share_case);
}

/* Populations too large for their room, each run separately; a run next to them keeps its
 * replicas. */
static void overfull_case(struct test_setting setting)
{
  struct population_fixture fixture;
  struct population_sample sample[RUNS];
  struct pa_population_plan plan = usual;
  struct pa_resampling_request request = usual_request(1);
  static const size_t sizes[RUNS] = {90, 33, 64};
  plan.capacity = 90;
  plan.founders = 80;
  population_open(&fixture, &plan, RUNS, setting);
  for (size_t m = 0; m < RUNS; m++)
    population_sample_init(&sample[m], &plan);
  fill(&fixture, sample, sizes);
  request.target = 91;
  population_resample(&fixture, &request);
  outcomes_of(&fixture);
  for (size_t m = 0; m < RUNS; m++) {
    assert_int_equal(fixture.outcome[m].size, 91);
    assert_int_equal(fixture.outcome[m].before, sizes[m]);
    assert_int_equal(population_size(&fixture, m), 0);
  }
  /* An empty population is reported and does no harm. */
  population_tally(&fixture, FIRST_RUN, false);
  population_resample(&fixture, &request);
  outcomes_of(&fixture);
  for (size_t m = 0; m < RUNS; m++) {
    assert_int_equal(fixture.outcome[m].size, 0);
    assert_int_equal(population_size(&fixture, m), 0);
  }
  fill(&fixture, sample, sizes);
  request.target = 90;
  population_resample(&fixture, &request);
  for (size_t m = 0; m < RUNS; m++)
    assert_int_equal(population_size(&fixture, m), 90);
  for (size_t m = 0; m < RUNS; m++)
    population_sample_free(&sample[m]);
  population_close(&fixture);
}

static void overfull_populations_are_left_empty(void **state)
{
  (void)state;
  for_every_setting(overfull_case);
}

/* With a target of one replica, none is left in about one step out of e. */
static void a_population_can_die_out(void **state)
{
  (void)state;
  struct filled filled;
  struct pa_resampling_request request = usual_request(0);
  size_t died = 0;
  open_filled(&filled, 1, test_setting());
  request.target = 1;
  for (request.time = 0; request.time < 100; request.time++) {
    population_bring(&filled.fixture, 0, &filled.sample[0]);
    population_tally(&filled.fixture, FIRST_RUN, false);
    population_resample(&filled.fixture, &request);
    outcomes_of(&filled.fixture);
    assert_int_equal(population_size(&filled.fixture, 0), filled.fixture.outcome[0].size);
    died += filled.fixture.outcome[0].size == 0;
  }
  assert_true(died > 15 && died < 60);
  close_filled(&filled);
}

static void a_device_that_is_not_there(void **state)
{
  (void)state;
  struct gpumc_device device;
  struct gpumc_error error = {0};
  assert_int_equal(gpumc_device_open("cuda:99", 1, &device, &error), GPUMC_DEVICE);
  assert_non_null(strstr(gpumc_error_text(&error), "device cuda:99: "));
  gpumc_error_free(&error);
}

static void device_memory_that_is_not_there(void **state)
{
  (void)state;
  /* On a CPU only sizes that cannot be addressed: for others a sanitizer's malloc ends the
   * program. */
  const size_t counts[] = {SIZE_MAX / 8 + 2, (size_t)1 << 50};
  struct gpumc_device device = test_device(test_setting());
  for (size_t i = 0; i < (test_device_is_cpu() ? 1 : 2); i++) {
    struct gpumc_error error = {0};
    uint64_t value, *values = &value;
    assert_int_equal(gpumc_device_array(&device, &values, counts[i], "weights", &error),
                     GPUMC_FAILURE);
    assert_null(values);
    assert_non_null(strstr(gpumc_error_text(&error), "weights"));
    gpumc_error_free(&error);
  }
}

int main(void)
{
  test_device_require();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(weights_are_boltzmann_factors),
      cmocka_unit_test(overlap_is_the_clipped_mean_and_that_of_the_trial),
      cmocka_unit_test(trials_fall_from_one),
      cmocka_unit_test(survivors_keep_their_places),
      cmocka_unit_test(mean_number_of_copies),
      cmocka_unit_test(copies_go_by_the_number_in_the_whole),
      cmocka_unit_test(overfull_populations_are_left_empty),
      cmocka_unit_test(a_population_can_die_out),
      cmocka_unit_test(a_device_that_is_not_there),
      cmocka_unit_test(device_memory_that_is_not_there),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
