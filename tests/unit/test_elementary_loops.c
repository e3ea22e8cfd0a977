/* The functions of elementary_loops.h against long double, in both precisions: cos and sin within
 * one unit in the last place of 1, exponentials and logarithms within two of the result; and that
 * double agrees with elementary.h where both have a function. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/numerics/elementary_loops.h"
#include "core/numerics/random.h"

enum { SAMPLES = 1000000 };

static const double unit[2] = {0x1p-52, 0x1p-23}; /* of 1, in double and in float */

static uint32_t word(uint32_t i, uint32_t which)
{
  uint32_t words[4];
  gpumc_random_draw(gpumc_random_make(2, 0, 10), i, 0, 0, 0, words);
  return words[which];
}

/* Returns a uniform number in (0, 1). */
static double uniform(uint32_t i)
{
  return (word(i, 0) + 0.5) / 4294967296.0;
}

/* Returns the difference in units in the last place of `exact`, as represented in this
 * precision. */
static double units_off(int precision, double value, long double exact)
{
  int exponent;
  (void)frexpl(exact, &exponent);
  return (double)(fabsl(value - exact) / ldexpl(unit[precision], exponent - 1));
}

static void turns_are_cosines_and_sines(void **state)
{
  (void)state;
  const long double circle = 2.0L * acosl(-1.0L);
  double worst[2] = {0, 0};
  for (uint32_t i = 0; i < SAMPLES; i++) {
    /* Also around multiples of an eighth, where the quarter changes. */
    const uint32_t turn = i % 2 == 0 ? word(i, 0) : (word(i, 0) & 7u << 29) + i % 64 - 32;
    const long double angle = circle * turn / 4294967296.0L;
    double c, s;
    float c_float, s_float;
    gpumc_turn_double(turn, &c, &s);
    gpumc_turn_float(turn, &c_float, &s_float);
    const long double off[2][2] = {{c - cosl(angle), s - sinl(angle)},
                                   {c_float - cosl(angle), s_float - sinl(angle)}};
    for (int p = 0; p < 2; p++)
      worst[p] = fmax(worst[p], (double)fmaxl(fabsl(off[p][0]), fabsl(off[p][1])) / unit[p]);
  }
  print_message("turn: %.3f and %.3f units of 1\n", worst[0], worst[1]);
  assert_true(worst[0] < 1.0 && worst[1] < 1.0);
}

static void quarters_are_exact(void **state)
{
  (void)state;
  for (uint32_t quarter = 0; quarter < 4; quarter++) {
    static const float cosine[] = {1, 0, -1, 0}, sine[] = {0, 1, 0, -1};
    double c, s;
    float c_float, s_float;
    gpumc_turn_double(quarter << 30, &c, &s);
    gpumc_turn_float(quarter << 30, &c_float, &s_float);
    assert_true(c == cosine[quarter] && s == sine[quarter]);
    assert_true(c_float == cosine[quarter] && s_float == sine[quarter]);
  }
}

static void decays_are_exponentials(void **state)
{
  (void)state;
  double worst[2] = {0, 0}, worst_less_one[2] = {0, 0};
  for (uint32_t i = 0; i < SAMPLES; i++) {
    /* Has all sizes down to 2^-20, a few of them positive. */
    const float x = (float)((i % 2 == 0 ? 80.9 : ldexp(1.0, -(int)(i % 20))) * uniform(i) -
                            (i % 2 == 0 ? 79.9 : 0.0));
    const float argument = i % 4 == 1 ? -x : x;
    double e, less_one;
    float e_float, less_one_float;
    gpumc_decay_double(argument, &e, &less_one);
    gpumc_decay_float(argument, &e_float, &less_one_float);
    worst[0] = fmax(worst[0], units_off(0, e, expl(argument)));
    worst[1] = fmax(worst[1], units_off(1, e_float, expl(argument)));
    worst_less_one[0] = fmax(worst_less_one[0], units_off(0, less_one, expm1l(argument)));
    worst_less_one[1] = fmax(worst_less_one[1], units_off(1, less_one_float, expm1l(argument)));
  }
  print_message("decay: %.3f and %.3f units, less one %.3f and %.3f\n", worst[0], worst[1],
                worst_less_one[0], worst_less_one[1]);
  assert_true(worst[0] < 2.0 && worst[1] < 2.0);
  assert_true(worst_less_one[0] < 2.0 && worst_less_one[1] < 2.0);
}

static void decays_end_at_the_lowest(void **state)
{
  (void)state;
  static const float below[] = {-80.0f, -81.0f, -1e10f, -INFINITY};
  for (size_t i = 0; i < sizeof below / sizeof *below; i++) {
    double e, less_one;
    float e_float, less_one_float;
    gpumc_decay_double(below[i], &e, &less_one);
    gpumc_decay_float(below[i], &e_float, &less_one_float);
    assert_true(e > 0 && e < 2e-35 && less_one == -1.0);
    assert_true(e_float > 0 && e_float < 2e-35f && less_one_float == -1.0f);
  }
}

/* Arguments as far from 1 as floats go, and, near 1, those that are determined only by their
 * difference from 1. */
static void logarithms(void **state)
{
  (void)state;
  double worst[2] = {0, 0};
  for (uint32_t i = 0; i < SAMPLES; i++) {
    const float wide = (float)exp((uniform(i) - 0.95) * 80.0);
    const float less_one = -(float)ldexp(0.25 * uniform(i), -(int)(i % 40));
    const bool near = i % 2 == 0;
    const float a = near ? 1.0f + less_one : wide;
    const long double exact = near ? log1pl(less_one) : logl(wide);
    worst[0] = fmax(worst[0], units_off(0,
                                        gpumc_log_of_double(near ? 1.0 + (double)less_one : wide,
                                                            near ? less_one : (double)wide - 1.0),
                                        exact));
    worst[1] =
        fmax(worst[1], units_off(1, gpumc_log_of_float(a, near ? less_one : wide - 1.0f), exact));
  }
  print_message("log: %.3f and %.3f units\n", worst[0], worst[1]);
  assert_true(worst[0] < 2.0 && worst[1] < 2.0);
}

static void logarithms_are_those_of_elementary(void **state)
{
  (void)state;
  for (uint32_t i = 0; i < SAMPLES / 10; i++) {
    const double a = exp((uniform(i) - 0.5) * 1000.0);
    const double one = gpumc_log(a), other = gpumc_log_of_double(a, a - 1.0);
    assert_true(one == other);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(turns_are_cosines_and_sines),
      cmocka_unit_test(quarters_are_exact),
      cmocka_unit_test(decays_are_exponentials),
      cmocka_unit_test(decays_end_at_the_lowest),
      cmocka_unit_test(logarithms),
      cmocka_unit_test(logarithms_are_those_of_elementary),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
