/* Seeds for the simulations of disorder samples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/numerics/random.h"
#include "core/simulation/shared_keys.h"

static void test_the_first_samples_have_the_seed_of_the_task(void **state)
{
  (void)state;
  assert_int_equal(gpumc_samples_seed(0, 0), 0);
  assert_int_equal(gpumc_samples_seed(1975, 0), 1975);
  assert_int_equal(gpumc_samples_seed(GPUMC_SEED_MAXIMUM, 0), GPUMC_SEED_MAXIMUM);
}

/* For few seeds and first samples, and for those that differ only in their high bits. */
static void test_other_samples_have_other_seeds(void **state)
{
  enum { SEEDS = 4, FIRSTS = 7 };
  static const uint64_t seed[SEEDS] = {0, 1, (uint64_t)1 << 32, GPUMC_SEED_MAXIMUM};
  static const size_t first[FIRSTS] = {0, 1, 2, 32, 4096, 8192, 4294967295};
  uint64_t mixed[SEEDS * FIRSTS];
  (void)state;
  for (size_t i = 0; i < SEEDS * FIRSTS; i++) {
    mixed[i] = gpumc_samples_seed(seed[i / FIRSTS], first[i % FIRSTS]);
    assert_in_range(mixed[i], 0, GPUMC_SEED_MAXIMUM);
    for (size_t j = 0; j < i; j++)
      assert_int_not_equal(mixed[i], mixed[j]);
  }
}

/* A change would alter the numbers of every configuration with a first sample. */
static void test_known_seeds(void **state)
{
  (void)state;
  assert_int_equal(gpumc_samples_seed(1, 4096), 274255960581154);
  assert_int_equal(gpumc_samples_seed(1, 8192), 22267784462142);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_first_samples_have_the_seed_of_the_task),
      cmocka_unit_test(test_other_samples_have_other_seeds),
      cmocka_unit_test(test_known_seeds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
