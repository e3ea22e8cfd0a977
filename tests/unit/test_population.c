/* The population operations against the slow obvious way, for one and several threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/device.h"
#include "core/elementary.h"

enum { REPLICAS = 1003, CAPACITY = 1400, FAMILIES = 500, BLOCKS = 7, SHIFT = 50 };

static struct population {
  int64_t energy[CAPACITY];
  uint32_t family[CAPACITY], parent[CAPACITY], scratch[CAPACITY];
  uint64_t weight[CAPACITY], total;
  struct gpumc_device device;
} fixture;

static uint32_t draw(uint32_t i)
{
  uint32_t word[4];
  gpumc_random_draw(gpumc_random_make(3, 0, 10), i, 0, 0, 0, word);
  return word[0];
}

static struct population *make(int threads)
{
  struct gpumc_error error = {0};
  struct population *p = &fixture;
  memset(p, 0, sizeof *p);
  assert_int_equal(gpumc_device_open("cpu", threads, &p->device, &error), GPUMC_OK);
  for (uint32_t r = 0; r < REPLICAS; r++) {
    p->energy[r] = (int64_t)(draw(r) % 400) - 200;
    p->family[r] = draw(r + 10000) % FAMILIES;
  }
  struct gpumc_weighing weighing = {.step = 0.01, .reference = -200, .shift = SHIFT};
  assert_int_equal(p->device.ops->population->weigh(&p->device, p->energy, REPLICAS, weighing,
                                                    p->weight, &p->total, &error),
                   GPUMC_OK);
  return p;
}

static void test_weights_are_boltzmann_factors(void **state)
{
  (void)state;
  for (int threads = 1; threads <= 3; threads++) {
    struct population *p = make(threads);
    uint64_t total = 0;
    for (size_t r = 0; r < REPLICAS; r++) {
      double exact = exp(-0.01 * (double)(p->energy[r] + 200));
      assert_true(fabs((double)p->weight[r] * 0x1p-50 - exact) < 1e-14);
      total += p->weight[r];
    }
    assert_true(total == p->total);
  }
}

static void test_overlap_is_the_clipped_mean(void **state)
{
  (void)state;
  struct population *p = make(2);
  struct gpumc_error error = {0};
  double alpha;
  double expected = 0;
  size_t target = 900;
  for (size_t r = 0; r < REPLICAS; r++)
    expected += fmin(1.0, (double)target * (double)p->weight[r] / (double)p->total) / REPLICAS;
  assert_int_equal(p->device.ops->population->overlap(&p->device, p->weight, REPLICAS, target,
                                                      p->total, &alpha, &error),
                   GPUMC_OK);
  assert_true(fabs(alpha - expected) < 1e-12);
}

static void test_moments_and_extremes(void **state)
{
  (void)state;
  for (int threads = 1; threads <= 3; threads++) {
    struct population *p = make(threads);
    const struct gpumc_population_ops *ops = p->device.ops->population;
    struct gpumc_error error = {0};
    struct gpumc_moment_sums sums[BLOCKS];
    struct gpumc_moment_sums expected[BLOCKS] = {0};
    int64_t least;
    int64_t greatest;
    int64_t seen_least = INT64_MAX;
    int64_t seen_greatest = INT64_MIN;
    unsigned all = GPUMC_SUM_FIRST | GPUMC_SUM_ABSOLUTE | GPUMC_SUM_SECOND | GPUMC_SUM_FOURTH;
    for (size_t r = 0; r < REPLICAS; r++) {
      struct gpumc_moment_sums *block = &expected[p->family[r] % BLOCKS];
      gpumc_wide x = p->energy[r];
      block->count++;
      block->first += x;
      block->absolute += x < 0 ? -x : x;
      block->second += x * x;
      block->fourth += x * x * x * x;
      seen_least = p->energy[r] < seen_least ? p->energy[r] : seen_least;
      seen_greatest = p->energy[r] > seen_greatest ? p->energy[r] : seen_greatest;
    }
    assert_int_equal(
        ops->moments(&p->device, p->energy, p->family, REPLICAS, BLOCKS, all, sums, &error),
        GPUMC_OK);
    for (size_t b = 0; b < BLOCKS; b++) {
      assert_int_equal(sums[b].count, expected[b].count);
      assert_true(sums[b].first == expected[b].first && sums[b].second == expected[b].second);
      assert_true(sums[b].absolute == expected[b].absolute);
      assert_true(sums[b].fourth == expected[b].fourth);
    }
    assert_int_equal(ops->extremes(&p->device, p->energy, REPLICAS, &least, &greatest, &error),
                     GPUMC_OK);
    assert_int_equal(least, seen_least);
    assert_int_equal(greatest, seen_greatest);
  }
}

/* The rule of gpumc_population_ops.resample, and copies within one of their expectation. */
static void check_parents(const struct population *p, size_t target, size_t size)
{
  size_t copies[REPLICAS] = {0};
  for (size_t r = 0; r < size; r++) {
    assert_true(p->parent[r] < REPLICAS);
    copies[p->parent[r]]++;
  }
  for (size_t r = 0; r < REPLICAS; r++) {
    double expected = (double)target * (double)p->weight[r] / (double)p->total;
    assert_true(fabs((double)copies[r] - expected) < 1.0);
    if (copies[r] > 0 && r < size)
      assert_int_equal(p->parent[r], r);
  }
}

static void test_resampling(void **state)
{
  (void)state;
  static const size_t targets[] = {1003, 700, 1300};
  for (int method = 0; method < 2; method++)
    for (size_t i = 0; i < 3; i++)
      for (int threads = 1; threads <= 2; threads++) {
        struct population *p = make(threads);
        struct gpumc_error error = {0};
        size_t size;
        struct gpumc_resampling_request request = {
            .method = method == 0 ? GPUMC_RESAMPLING_NEAREST_INTEGER : GPUMC_RESAMPLING_SYSTEMATIC,
            .random = gpumc_random_make(9, 2, 10),
            .time = 17,
            .total = p->total,
            .target = targets[i],
            .capacity = CAPACITY};
        assert_int_equal(p->device.ops->population->resample(&p->device, p->weight, REPLICAS,
                                                             &request, p->parent, p->scratch, &size,
                                                             &error),
                         GPUMC_OK);
        if (method == 1)
          assert_int_equal(size, targets[i]);
        assert_true(fabs((double)size - (double)targets[i]) < 100);
        check_parents(p, targets[i], size);
      }
}

/* Over many steps the mean number of copies is R w/W: bound 5 standard deviations for each replica
 * (false alarm 6e-4 in all). Always rounding up, or down, is far outside. */
static void test_mean_number_of_copies(void **state)
{
  (void)state;
  enum { STEPS = 4000 };
  for (int method = 0; method < 2; method++) {
    static double mean[REPLICAS];
    struct population *p = make(1);
    struct gpumc_error error = {0};
    memset(mean, 0, sizeof mean);
    for (uint32_t step = 0; step < STEPS; step++) {
      size_t size;
      struct gpumc_resampling_request request = {
          .method = method == 0 ? GPUMC_RESAMPLING_NEAREST_INTEGER : GPUMC_RESAMPLING_SYSTEMATIC,
          .random = gpumc_random_make(4, 0, 10),
          .time = step,
          .total = p->total,
          .target = REPLICAS,
          .capacity = CAPACITY};
      assert_int_equal(p->device.ops->population->resample(&p->device, p->weight, REPLICAS,
                                                           &request, p->parent, p->scratch, &size,
                                                           &error),
                       GPUMC_OK);
      for (size_t r = 0; r < size; r++)
        mean[p->parent[r]] += 1.0 / STEPS;
    }
    for (size_t r = 0; r < REPLICAS; r++) {
      double expected = REPLICAS * ((double)p->weight[r] / (double)p->total);
      double fraction = expected - floor(expected);
      double deviation = sqrt(fraction * (1 - fraction) / STEPS);
      assert_true(fabs(mean[r] - expected) < 5 * deviation + 1e-9);
    }
  }
}

static void test_resampling_errors(void **state)
{
  (void)state;
  struct population *p = make(1);
  struct gpumc_error error = {0};
  size_t size;
  struct gpumc_resampling_request request = {.method = GPUMC_RESAMPLING_SYSTEMATIC,
                                             .random = gpumc_random_make(9, 2, 10),
                                             .time = 17,
                                             .total = p->total,
                                             .target = 1300,
                                             .capacity = 1299};
  assert_int_equal(p->device.ops->population->resample(&p->device, p->weight, REPLICAS, &request,
                                                       p->parent, p->scratch, &size, &error),
                   GPUMC_FAILURE);
  assert_non_null(strstr(gpumc_error_text(&error), "resampling step 17 gave 1300 replicas"));
  gpumc_error_free(&error);
}

static void test_inheritance_in_place(void **state)
{
  (void)state;
  struct population *p = make(2);
  struct gpumc_error error = {0};
  uint32_t before[CAPACITY];
  size_t size;
  struct gpumc_resampling_request request = {.random = gpumc_random_make(9, 2, 10),
                                             .total = p->total,
                                             .target = 1200,
                                             .capacity = CAPACITY};
  memcpy(before, p->family, sizeof before);
  assert_int_equal(p->device.ops->population->resample(&p->device, p->weight, REPLICAS, &request,
                                                       p->parent, p->scratch, &size, &error),
                   GPUMC_OK);
  assert_int_equal(
      p->device.ops->population->inherit(&p->device, p->family, p->parent, size, &error), GPUMC_OK);
  for (size_t r = 0; r < size; r++)
    assert_int_equal(p->family[r], before[p->parent[r]]);
}

static void test_families_and_holders(void **state)
{
  (void)state;
  struct population *p = make(1);
  const struct gpumc_population_ops *ops = p->device.ops->population;
  struct gpumc_error error = {0};
  struct gpumc_family_statistics statistics;
  uint32_t sizes[REPLICAS + 1];
  size_t replicas;
  size_t families;
  assert_int_equal(ops->families(&p->device, p->family, REPLICAS, FAMILIES, p->scratch, &statistics,
                                 sizes, REPLICAS + 1, &error),
                   GPUMC_OK);
  size_t members = 0;
  size_t squares = 0;
  size_t found = 0;
  for (size_t s = 1; s <= statistics.largest; s++) {
    members += s * sizes[s];
    squares += s * s * sizes[s];
    found += sizes[s];
  }
  assert_int_equal(members, REPLICAS);
  assert_int_equal(squares, statistics.square_sum);
  assert_int_equal(found, statistics.families);
  for (size_t r = 0; r < 5; r++) {
    p->energy[r] = -201;
    p->family[r] = (uint32_t)(r / 2);
  }
  assert_int_equal(ops->holders(&p->device, p->energy, p->family, REPLICAS, FAMILIES, -201,
                                p->scratch, &replicas, &families, &error),
                   GPUMC_OK);
  assert_int_equal(replicas, 5);
  assert_int_equal(families, 3);
}

static void test_histogram_and_block_weights(void **state)
{
  (void)state;
  struct population *p = make(1);
  const struct gpumc_population_ops *ops = p->device.ops->population;
  struct gpumc_error error = {0};
  static uint64_t bins[BLOCKS * 400];
  uint64_t sums[BLOCKS];
  uint64_t total = 0;
  uint64_t counted = 0;
  memset(bins, 0, sizeof bins);
  assert_int_equal(ops->histogram(&p->device, p->energy, p->family, REPLICAS, BLOCKS, -200, 1, 400,
                                  bins, &error),
                   GPUMC_OK);
  for (size_t r = 0; r < REPLICAS; r++)
    assert_true(bins[p->family[r] % BLOCKS * 400 + (size_t)(p->energy[r] + 200)] > 0);
  for (size_t i = 0; i < BLOCKS * 400; i++)
    counted += bins[i];
  assert_int_equal(counted, REPLICAS);
  assert_int_equal(
      ops->block_weights(&p->device, p->weight, p->family, REPLICAS, BLOCKS, sums, &error),
      GPUMC_OK);
  for (size_t b = 0; b < BLOCKS; b++)
    total += sums[b];
  assert_true(total == p->total);
}

static void test_a_device_that_is_not_there(void **state)
{
  (void)state;
  struct gpumc_device device;
  struct gpumc_error error = {0};
  assert_int_equal(gpumc_device_open("cuda:1", 1, &device, &error), GPUMC_DEVICE);
  assert_string_equal(gpumc_error_text(&error),
                      "device cuda:1: this gpumc was built without CUDA; there is: cpu");
  gpumc_error_free(&error);
}

static void test_device_memory_that_is_not_there(void **state)
{
  (void)state;
  struct gpumc_device device;
  struct gpumc_error error = {0};
  uint64_t value, *values = &value;
  assert_int_equal(gpumc_device_open("cpu", 1, &device, &error), GPUMC_OK);
  assert_int_equal(gpumc_device_array(&device, &values, SIZE_MAX / 8 + 2, "weights", &error),
                   GPUMC_FAILURE);
  assert_null(values);
  gpumc_error_free(&error);
  gpumc_device_close(&device);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_weights_are_boltzmann_factors),
      cmocka_unit_test(test_overlap_is_the_clipped_mean),
      cmocka_unit_test(test_moments_and_extremes),
      cmocka_unit_test(test_resampling),
      cmocka_unit_test(test_mean_number_of_copies),
      cmocka_unit_test(test_resampling_errors),
      cmocka_unit_test(test_inheritance_in_place),
      cmocka_unit_test(test_families_and_holders),
      cmocka_unit_test(test_histogram_and_block_weights),
      cmocka_unit_test(test_a_device_that_is_not_there),
      cmocka_unit_test(test_device_memory_that_is_not_there),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
