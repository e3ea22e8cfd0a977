/* The rules of heisenberg_physics.h: the distribution of the angle between two spins by each move
 * in each precision, lengths of spins, and energies under over-relaxation.
 *
 * Null: two spins with the weight exp(K S_1 . S_2) enclose an angle of density exp(K cos) sin (n =
 * 3) or exp(K cos) (n = 2). SAMPLES independent pairs go into BINS bins of equal probability.
 * Bound: chi^2 of BINS - 1 = 49 degrees of freedom exceeds 110 once in 10^6; 20 comparisons.
 * Controls, which must exceed it: proposals that are not uniform on the sphere, and a heat bath
 * whose tail is cut off. Seeds are fixed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "models/heisenberg/heisenberg_physics.h"

enum { SAMPLES = 100000, BINS = 50, UPDATES = 60, GRID = 20000 };
#define BOUND 110.0

enum control { RIGHT, NOT_UNIFORM, CUT_OFF };

/* Probability that the angle's cosine is below `cosine`. */
static double distribution(int components, double K, double cosine)
{
  static double table[GRID + 1], of = 0; /* of n = 2, by the trapezoidal rule, from angle pi on */
  if (components == 3)
    return K == 0 ? (1 + cosine) / 2 : expm1(K * (1 + cosine)) / expm1(2 * K);
  const double step = GPUMC_PI / GRID;
  if (of != K) {
    for (int i = 0; i < GRID; i++)
      table[i + 1] =
          table[i] + 0.5 * step * (exp(-K * cos(i * step)) + exp(-K * cos((i + 1) * step)));
    of = K;
  }
  const double place = (GPUMC_PI - acos(fmax(-1, fmin(1, cosine)))) / step;
  const int i = place < GRID ? (int)place : GRID - 1;
  return (table[i] + (place - i) * (table[i + 1] - table[i])) / table[GRID];
}

/* A spin of the pair `r` after update number `time` given g, and the words that are for it. */
#define RULES(precision)                                                                           \
  typedef struct heisenberg_vector_##precision vector_##precision;                                 \
  static struct heisenberg_words draw_##precision(uint32_t r, uint32_t time, uint32_t attempt)     \
  {                                                                                                \
    return heisenberg_words_##precision(                                                           \
        gpumc_random_make(11, 0, 10), r, 0, time,                                                  \
        gpumc_random_label(GPUMC_RANDOM_LATTICE_SWEEP, heisenberg_draw(0, attempt)));              \
  }                                                                                                \
  static vector_##precision heat_bath_##precision(int n, uint32_t r, uint32_t time,                \
                                                  vector_##precision g, enum control control)      \
  {                                                                                                \
    vector_##precision spin = {0, 0, 0};                                                           \
    bool accepted = false;                                                                         \
    if (n == 3) {                                                                                  \
      struct heisenberg_uniform_##precision uniform =                                              \
          heisenberg_of_sphere_##precision(draw_##precision(r, time, 0));                          \
      if (control == CUT_OFF) /* one in 128 of the distribution */                                 \
        uniform.u = (precision)0x1p-7 + (precision)(1 - 0x1p-7) * uniform.u;                       \
      return heisenberg_sphere_##precision(g, uniform);                                            \
    }                                                                                              \
    /* With the tail cut off the first proposal stays. */                                          \
    for (uint32_t i = 0; i < HEISENBERG_ATTEMPTS && !accepted; i++)                                \
      accepted = heisenberg_circle_trial_##precision(                                              \
                     g, heisenberg_of_circle_##precision(draw_##precision(r, time, i)), &spin) ||  \
                 control == CUT_OFF;                                                               \
    return spin;                                                                                   \
  }                                                                                                \
  static vector_##precision metropolis_##precision(int n, uint32_t r, uint32_t time,               \
                                                   vector_##precision spin, vector_##precision g,  \
                                                   enum control control)                           \
  {                                                                                                \
    const struct heisenberg_words words = draw_##precision(r, time, 0);                            \
    struct heisenberg_uniform_##precision uniform =                                                \
        n == 3 ? heisenberg_of_proposal_##precision(words)                                         \
               : heisenberg_of_circle_##precision(words);                                          \
    if (control == NOT_UNIFORM && n == 3) /* a polar angle that is uniform */                      \
      uniform.u = (precision)(0.5 - 0.5 * cos(GPUMC_PI * (double)uniform.u));                      \
    if (control == NOT_UNIFORM && n == 2) /* three quarters of the circle */                       \
      uniform.azimuth -= uniform.azimuth / 4;                                                      \
    const vector_##precision proposal = heisenberg_anywhere_##precision(n, uniform);               \
    return heisenberg_accepts_##precision(n, spin, proposal, g, uniform.other) ? proposal : spin;  \
  }                                                                                                \
  static vector_##precision times_##precision(enum heisenberg_move move, double K,                 \
                                              vector_##precision spin)                             \
  {                                                                                                \
    return heisenberg_field_##precision(spin, (precision)K, heisenberg_bias_##precision(move, 0)); \
  }                                                                                                \
  /* The cosine of pair r in the end; both spins are updated in turns. */                          \
  static double cosine_##precision(int n, enum heisenberg_move move, uint32_t r, double K,         \
                                   enum control control)                                           \
  {                                                                                                \
    vector_##precision spin[2];                                                                    \
    for (uint32_t i = 0; i < 2; i++)                                                               \
      spin[i] = heisenberg_anywhere_##precision(                                                   \
          n, heisenberg_of_sphere_##precision(draw_##precision(r, i, 0)));                         \
    for (uint32_t time = 2; time < UPDATES; time++) {                                              \
      vector_##precision *own = &spin[time % 2], other = spin[1 - time % 2];                       \
      switch (heisenberg_move_at(move, 4, time)) {                                                 \
      case HEISENBERG_METROPOLIS:                                                                  \
        *own = metropolis_##precision(                                                             \
            n, r, time, *own, times_##precision(HEISENBERG_METROPOLIS, K, other), control);        \
        break;                                                                                     \
      case HEISENBERG_HEAT_BATH:                                                                   \
        *own = heat_bath_##precision(n, r, time,                                                   \
                                     times_##precision(HEISENBERG_HEAT_BATH, K, other), control);  \
        break;                                                                                     \
      default:                                                                                     \
        *own = heisenberg_reflected_##precision(n, *own, other,                                    \
                                                time % HEISENBERG_RENORMALISATION == 0);           \
      }                                                                                            \
    }                                                                                              \
    for (int i = 0; i < 2; i++) {                                                                  \
      const double norm = (double)heisenberg_dot_##precision(n, spin[i], spin[i]);                 \
      assert_true(fabs(norm - 1) < (sizeof(precision) == 8 ? 1e-14 : 5e-6));                       \
    }                                                                                              \
    return (double)heisenberg_dot_##precision(n, spin[0], spin[1]);                                \
  }
RULES(double)
RULES(float)

static double
chi_square(int n, enum heisenberg_move move, bool single, double K, enum control control)
{
  double count[BINS] = {0}, chi = 0;
  for (uint32_t r = 0; r < SAMPLES; r++) {
    const double cosine =
        single ? cosine_float(n, move, r, K, control) : cosine_double(n, move, r, K, control);
    const int bin = (int)(BINS * distribution(n, K, cosine));
    count[bin < 0 ? 0 : bin < BINS ? bin : BINS - 1]++;
  }
  for (int b = 0; b < BINS; b++) {
    const double expected = (double)SAMPLES / BINS, off = count[b] - expected;
    chi += off * off / expected;
  }
  print_message("O(%d) move %d %s K = %g control %d: chi^2 = %.1f\n", n, (int)move,
                single ? "float" : "double", K, (int)control, chi);
  return chi;
}

static void angles_have_their_distribution(void **state)
{
  (void)state;
  static const enum heisenberg_move moves[] = {HEISENBERG_HEAT_BATH, HEISENBERG_METROPOLIS,
                                               HEISENBERG_MIXED};
  for (int n = 2; n <= 3; n++)
    for (int single = 0; single < 2; single++) {
      for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
        assert_true(chi_square(n, moves[i], single, 2.0, RIGHT) < BOUND);
      assert_true(chi_square(n, HEISENBERG_HEAT_BATH, single, 1e-3, RIGHT) < BOUND);
      assert_true(chi_square(n, HEISENBERG_HEAT_BATH, single, 50.0, RIGHT) < BOUND);
    }
}

static void wrong_moves_are_rejected(void **state)
{
  (void)state;
  for (int n = 2; n <= 3; n++)
    for (int single = 0; single < 2; single++) {
      assert_true(chi_square(n, HEISENBERG_METROPOLIS, single, 2.0, NOT_UNIFORM) > BOUND);
      assert_true(chi_square(n, HEISENBERG_HEAT_BATH, single, 2.0, CUT_OFF) > BOUND);
      assert_true(chi_square(n, HEISENBERG_OVER_RELAXATION, single, 2.0, RIGHT) > BOUND);
    }
}

static void fields_without_a_length_are_no_harm(void **state)
{
  (void)state;
  static const float lengths[] = {0.0f, 1e-38f, 1e-30f, 0x1p-50f, 1e-10f, 1e4f};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
    for (uint32_t r = 0; r < 1000; r++)
      for (int sign = -1; sign <= 1; sign += 2) {
        const vector_float g = {0, 0, (float)sign * lengths[i]},
                           flat = {(float)sign * lengths[i], 0, 0};
        const vector_float sphere =
            heat_bath_float(3, r, 0, times_float(HEISENBERG_HEAT_BATH, 1, g), RIGHT);
        const vector_float circle =
            heat_bath_float(2, r, 0, times_float(HEISENBERG_HEAT_BATH, 1, flat), RIGHT);
        const vector_float turned = heisenberg_reflected_float(3, sphere, g, false);
        assert_true(fabsf(heisenberg_dot_float(3, sphere, sphere) - 1.0f) < 1e-6f);
        assert_true(fabsf(heisenberg_dot_float(2, circle, circle) - 1.0f) < 1e-6f);
        assert_true(fabsf(heisenberg_dot_float(3, turned, turned) - 1.0f) < 2e-6f);
      }
}

/* A million reflections at fields that change: renormalisation keeps the length, and without it the
 * length drifts by more. */
static void lengths_do_not_drift(void **state)
{
  (void)state;
  double worst[2] = {0, 0};
  for (int off = 0; off < 2; off++) {
    vector_float spin = {1, 0, 0};
    for (uint32_t time = 0; time < 1000000; time++) {
      const vector_float f =
          heisenberg_anywhere_float(3, heisenberg_of_sphere_float(draw_float(time % 4096, 0, 0)));
      const bool renormalise = off == 0 && time % HEISENBERG_RENORMALISATION == 0;
      spin = heisenberg_reflected_float(3, spin, f, renormalise);
      const double norm = (double)heisenberg_dot_float(3, spin, spin);
      worst[off] = fmax(worst[off], fabs(0.5 * (norm - 1.0)));
    }
  }
  print_message("largest | |S| - 1 |: %.2g, without renormalisation %.2g\n", worst[0], worst[1]);
  assert_true(worst[0] < 1e-5);
  assert_true(worst[1] > 1e-5);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(angles_have_their_distribution),
      cmocka_unit_test(wrong_moves_are_rejected),
      cmocka_unit_test(fields_without_a_length_are_no_harm),
      cmocka_unit_test(lengths_do_not_drift),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
