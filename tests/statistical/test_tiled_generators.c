/* The exact test of the generators of the tiled kernel, after Table 1 of M. Weigel, J. Comput.
 * Phys. 231, 3064 (2012), at beta = 0.4 against Kaufman: energy and specific heat are right with
 * Philox, for both orders and both updates, and with generators that are seeded at random for each
 * thread or block; threads that skip through one sequence of the 32-bit linear congruential
 * generator give very wrong results on the larger lattice.
 *
 * Why 512^2: a thread's numbers are those of x -> A x + C with A = a^J, J = N/4 threads. For J =
 * 2^p A - 1 is a multiple of 2^(p+2) and C of 2^p, so that a thread's step (A - 1) x + C takes
 * 2^(30-2p) values: 1024 at 64^2, where nothing is seen, 4 at 256^2, and one from p = 15 on, where
 * its numbers are equidistant. 512^2, p = 16, is the first such lattice of these.
 *
 * 16 comparisons, see support/tiled_deviation.h: false alarm 0.7 %. The 64-bit generator in one
 * sequence needs a larger lattice and longer runs: test_tiled_generator_lcg64.c.
 *
 * CTest: release */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/tiled_deviation.h"

static const struct tiled_size small = {64, 16, 200, 200}, large = {512, 32, 120, 15};

static const double errors_of_control = 20;

static void philox(void **state)
{
  (void)state;
  tiled_expect_right(&small, (struct ising_tiling){.hits = 1}, ISING_MOVE_METROPOLIS);
  tiled_expect_right(&small, (struct ising_tiling){.hits = 4}, ISING_MOVE_METROPOLIS);
  tiled_expect_right(&small, (struct ising_tiling){.hits = 4, .order = ISING_ORDER_SYMMETRISED},
                     ISING_MOVE_METROPOLIS);
  tiled_expect_right(&small, (struct ising_tiling){.hits = 2, .order = ISING_ORDER_SYMMETRISED},
                     ISING_MOVE_HEAT_BATH);
}

static void random_seeds(void **state)
{
  (void)state;
  tiled_expect_right(&small,
                     (struct ising_tiling){.hits = 1, .generator = ISING_GENERATOR_LCG32_RANDOM},
                     ISING_MOVE_METROPOLIS);
  tiled_expect_right(&small,
                     (struct ising_tiling){.hits = 1, .generator = ISING_GENERATOR_LCG64_RANDOM},
                     ISING_MOVE_METROPOLIS);
  tiled_expect_right(&small,
                     (struct ising_tiling){.hits = 1, .generator = ISING_GENERATOR_FIBONACCI_1279},
                     ISING_MOVE_METROPOLIS);
}

static void one_sequence_for_all_threads(void **state)
{
  (void)state;
  const struct ising_tiling right = {.hits = 1};
  const struct ising_tiling tiling = {.hits = 1, .generator = ISING_GENERATOR_LCG32};
  tiled_expect_right(&large, right, ISING_MOVE_METROPOLIS);
  const struct tiled_deviation found = tiled_deviation(&large, tiling, ISING_MOVE_METROPOLIS);
  print_message("lcg32: energy %+.2f, specific heat %+.2f errors\n", found.energy,
                found.specific_heat);
  assert_true(fabs(found.energy) > errors_of_control);
}

int main(void)
{
  test_device_require();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(philox),
      cmocka_unit_test(random_seeds),
      cmocka_unit_test(one_sequence_for_all_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
