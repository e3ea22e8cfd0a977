/* Threads that skip through one sequence of the 64-bit linear congruential generator give wrong
 * results, as in Table 1 of M. Weigel, J. Comput. Phys. 231, 3064 (2012), on its lattice at its
 * temperature; Philox is right there with as many sweeps. Separate from test_tiled_generators.c
 * because this takes minutes on a CPU.
 *
 * Why 1024^2: with J = 2^p = N/4 threads the second difference of a thread's numbers takes
 * 2^(60-3p) values: 2^18 at 256^2 and 4096 at 512^2, where errors of 2e-4 of the energy show
 * nothing, 64 at 1024^2, where 10^7 sweeps (docs/papers.md) are off by -7.1e-4. Why 1600 sweeps of
 * 16 replicas: their errors are 4.5e-5, and -7.1e-4 is 16 of them. The bound, 8 errors, leaves room
 * for the errors' own uncertainty of 18 %, and right ones are that low with probability 4e-7.
 *
 * CTest: validate */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/tiled_deviation.h"

static const struct tiled_size size = {1024, 32, 120, 400};

static const double errors_of_control = 8;

static void philox(void **state)
{
  (void)state;
  tiled_expect_right(&size, (struct ising_tiling){.hits = 1}, ISING_MOVE_METROPOLIS);
}

static void one_sequence_for_all_threads(void **state)
{
  (void)state;
  const struct ising_tiling tiling = {.hits = 1, .generator = ISING_GENERATOR_LCG64};
  const struct tiled_deviation found = tiled_deviation(&size, tiling, ISING_MOVE_METROPOLIS);
  print_message("lcg64: energy %+.2f, specific heat %+.2f errors\n", found.energy,
                found.specific_heat);
  assert_true(found.energy < -errors_of_control);
}

int main(void)
{
  test_device_require();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(philox),
      cmocka_unit_test(one_sequence_for_all_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
