/* The rules of heisenberg_physics.h: the distribution of the angle between two spins by each move
 * in each precision, lengths of spins, and energies under over-relaxation.
 *
 * Null hypothesis: for two spins with weight exp(K S_1 . S_2), the enclosed angle has density exp(K
 * cos) sin (n = 3) or exp(K cos) (n = 2). SAMPLES independent pairs go into BINS bins of equal
 * probability. Bound: chi^2 with BINS - 1 = 49 degrees of freedom exceeds 110 once in 10^6; there
 * are 52 comparisons. Controls that must exceed it: proposals that are not uniform on the sphere,
 * small steps whose width depends on the spin, so that both directions are not equally likely, and
 * a heat bath with its tail cut off. Seeds are fixed.
 *
 * CTest: cases 3 s */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "models/heisenberg/heisenberg_physics.h"

#include "support/cases.h"

enum { SAMPLES = 100000, BINS = 50, UPDATES = 60, GRID = 20000 };
#define BOUND 110.0
#define WIDTH 1.5 /* width of small steps */

enum control { RIGHT, NOT_UNIFORM, CUT_OFF, BY_SPIN };

/* Returns the probability that the cosine of the angle is below `cosine`. */
static double distribution(int components, double K, double cosine)
{
  static double table[GRID + 1], of = 0; /* for n = 2, by the trapezoidal rule, starting at angle
                                          * pi */
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

/* Finds the place of proposal `other` for spin `own`; uses chords, because cosines resolve small
 * angles poorly. */
static void
find_place(int n, const double own[3], const double other[3], double width, double place[2])
{
  const double x = other[0] - own[0], y = other[1] - own[1], z = other[2] - own[2];
  const double angle = 2 * asin(fmin(1, 0.5 * sqrt(x * x + y * y + z * z)));
  const double turned = own[0] * other[1] - own[1] * other[0];
  if (n == 2) {
    place[0] = 0.5 + 0.5 * copysign(angle, turned) / width;
    place[1] = 0.5;
    return;
  }
  /* Axes perpendicular to the spin: own x e_z, and own x that. */
  const double length = hypot(own[0], own[1]), a[2] = {own[1] / length, -own[0] / length};
  const double b[3] = {-own[2] * a[1], own[2] * a[0], own[0] * a[1] - own[1] * a[0]};
  const double along_a = x * a[0] + y * a[1], along_b = x * b[0] + y * b[1] + z * b[2];
  place[0] = pow(sin(angle / 2) / sin(width / 2), 2);
  place[1] = 0.5 + atan2(along_b, along_a) / (2 * GPUMC_PI);
}

/* Updates a spin of pair `r` in update number `time` given g, with its own random words. */
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
      if (control == CUT_OFF) /* one part in 128 of the distribution */                            \
        uniform.u = (precision)0x1p-7 + (precision)(1 - 0x1p-7) * uniform.u;                       \
      return heisenberg_sphere_##precision(g, uniform);                                            \
    }                                                                                              \
    /* With the tail cut off, the first proposal is kept. */                                       \
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
    if (control == NOT_UNIFORM && n == 3) /* a uniform polar angle */                              \
      uniform.u = (precision)(0.5 - 0.5 * cos(GPUMC_PI * (double)uniform.u));                      \
    if (control == NOT_UNIFORM && n == 2) /* three quarters of the circle */                       \
      uniform.azimuth -= uniform.azimuth / 4;                                                      \
    const vector_##precision proposal = heisenberg_anywhere_##precision(n, uniform);               \
    return heisenberg_accepts_##precision(n, spin, proposal, g, uniform.other) ? proposal : spin;  \
  }                                                                                                \
  static vector_##precision small_##precision(int n, uint32_t r, uint32_t time,                    \
                                              vector_##precision spin, vector_##precision g,       \
                                              enum control control)                                \
  {                                                                                                \
    const struct heisenberg_words words = draw_##precision(r, time, 0);                            \
    const struct heisenberg_uniform_##precision uniform =                                          \
        n == 3 ? heisenberg_of_proposal_##precision(words)                                         \
               : heisenberg_of_circle_##precision(words);                                          \
    const double narrower = control == BY_SPIN ? 0.55 + 0.45 * (double)spin.x : 1.0;               \
    const precision reach = (precision)heisenberg_reach(n, narrower * WIDTH);                      \
    const vector_##precision proposal = heisenberg_near_##precision(n, spin, uniform, reach);      \
    return heisenberg_accepts_##precision(n, spin, proposal, g, uniform.other) ? proposal : spin;  \
  }                                                                                                \
  static vector_##precision times_##precision(enum heisenberg_move move, double K,                 \
                                              vector_##precision spin)                             \
  {                                                                                                \
    return heisenberg_field_##precision(spin, (precision)K, heisenberg_bias_##precision(move, 0)); \
  }                                                                                                \
  /* Returns the final cosine of pair r; both spins are updated in turn. */                        \
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
      case HEISENBERG_METROPOLIS_SMALL:                                                            \
        *own = small_##precision(                                                                  \
            n, r, time, *own, times_##precision(HEISENBERG_METROPOLIS_SMALL, K, other), control);  \
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
  }                                                                                                \
  /* Where a small step of spin r is: its share of the reach and of a turn round the spin, 0 to 1; \
   * n = 2: of the angle, and 0.5. The spin is one of 16. */                                       \
  static void place_##precision(int n, uint32_t r, double width, double place[2])                  \
  {                                                                                                \
    const vector_##precision spin = heisenberg_anywhere_##precision(                               \
        n, heisenberg_of_sphere_##precision(draw_##precision(r % 16, 1, 0)));                      \
    const struct heisenberg_words words = draw_##precision(r, 2, 0);                               \
    const vector_##precision near =                                                                \
        heisenberg_near_##precision(n, spin,                                                       \
                                    n == 3 ? heisenberg_of_proposal_##precision(words)             \
                                           : heisenberg_of_circle_##precision(words),              \
                                    (precision)heisenberg_reach(n, width));                        \
    const double own[3] = {(double)spin.x, (double)spin.y, (double)spin.z};                        \
    const double other[3] = {(double)near.x, (double)near.y, (double)near.z};                      \
    assert_true(fabs((double)heisenberg_dot_##precision(n, near, near) - 1) <                      \
                (sizeof(precision) == 8 ? 1e-15 : 5e-7));                                          \
    find_place(n, own, other, width, place);                                                       \
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
                                               HEISENBERG_MIXED, HEISENBERG_METROPOLIS_SMALL};
  for (int n = 2; n <= 3; n++)
    for (int single = 0; single < 2; single++) {
      for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
        assert_true(chi_square(n, moves[i], single, 2.0, RIGHT) < BOUND);
      assert_true(chi_square(n, HEISENBERG_HEAT_BATH, single, 1e-3, RIGHT) < BOUND);
      assert_true(chi_square(n, HEISENBERG_HEAT_BATH, single, 50.0, RIGHT) < BOUND);
    }
}

/* Null hypothesis: 1 - cos is uniform up to its maximum, and so is the azimuth; n = 2: the angle
 * is. Control: a width off by 3 %. */
static void small_steps_are_uniform(void **state)
{
  (void)state;
  static const double widths[] = {0.01, 0.5, 2.0, GPUMC_PI};
  for (int way = 0; way < 4; way++)
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
      for (int wrong = 0; wrong < 2; wrong++) {
        const int n = 2 + way / 2;
        double count[2][BINS] = {{0}}, chi[2] = {0, 0};
        for (uint32_t r = 0; r < SAMPLES; r++) {
          double place[2];
          const double width = widths[w] * (wrong ? 0.97 : 1.0);
          if (way % 2 == 0)
            place_double(n, r, width, place);
          else
            place_float(n, r, width, place);
          if (wrong && n == 2)
            place[0] = 0.5 + 0.97 * (place[0] - 0.5);
          else if (wrong)
            place[0] *= pow(sin(width / 2) / sin(widths[w] / 2), 2);
          for (int k = 0; k < 2; k++) {
            const int bin = (int)(BINS * place[k]);
            count[k][bin < BINS ? bin : BINS - 1]++;
          }
        }
        for (int k = 0; k < 2; k++)
          for (int b = 0; b < BINS; b++)
            chi[k] += pow(count[k][b] - (double)SAMPLES / BINS, 2) / ((double)SAMPLES / BINS);
        print_message("O(%d) %s width %g%s: chi^2 = %.1f, azimuth %.1f\n", n,
                      way % 2 == 0 ? "double" : "float", widths[w], wrong ? " off" : "", chi[0],
                      n == 3 ? chi[1] : NAN);
        /* For the whole sphere, 3 % of the width is one part in 500 of the reach. */
        if (!wrong)
          assert_true(chi[0] < BOUND && (n == 2 || chi[1] < BOUND));
        else if (n == 2 || widths[w] < 3)
          assert_true(chi[0] > BOUND);
      }
}

static void wrong_moves_are_rejected(void **state)
{
  (void)state;
  for (int n = 2; n <= 3; n++)
    for (int single = 0; single < 2; single++) {
      assert_true(chi_square(n, HEISENBERG_METROPOLIS, single, 2.0, NOT_UNIFORM) > BOUND);
      assert_true(chi_square(n, HEISENBERG_METROPOLIS_SMALL, single, 2.0, BY_SPIN) > BOUND);
      assert_true(chi_square(n, HEISENBERG_HEAT_BATH, single, 2.0, CUT_OFF) > BOUND);
      assert_true(chi_square(n, HEISENBERG_OVER_RELAXATION, single, 2.0, RIGHT) > BOUND);
    }
}

static void tiny_and_large_fields_leave_lengths_alone(void **state)
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

/* Fields of neighbours that cancel the bias of the heat bath along x except for one part in 10^4,
 * too little to divide by: drawn spins have length 1, as without the cancellation. */
#define CANCELLED(precision, bound)                                                                \
  static void check_cancelled_##precision(void)                                                    \
  {                                                                                                \
    const precision bias = heisenberg_bias_##precision(HEISENBERG_HEAT_BATH, 0);                   \
    for (int i = -1; i <= 1; i++)                                                                  \
      for (uint32_t r = 0; r < 1000; r++) {                                                        \
        const precision along = -bias * ((precision)1 + (precision)i * (precision)1e-4);           \
        const vector_##precision sum = {along, 0, 0},                                              \
                                 g = heisenberg_field_##precision(sum, 1, bias);                   \
        const vector_##precision sphere = heat_bath_##precision(3, r, 0, g, RIGHT);                \
        const vector_##precision circle = heat_bath_##precision(2, r, 0, g, RIGHT);                \
        assert_true(fabs((double)g.x) < 0x1p-50);                                                  \
        assert_true(fabs((double)heisenberg_dot_##precision(3, sphere, sphere) - 1.0) < bound);    \
        assert_true(fabs((double)heisenberg_dot_##precision(2, circle, circle) - 1.0) < bound);    \
      }                                                                                            \
  }
CANCELLED(double, 1e-14)
CANCELLED(float, 1e-6)

static void a_field_that_cancels_the_bias_leaves_lengths_alone(void **state)
{
  (void)state;
  check_cancelled_double();
  check_cancelled_float();
}

/* A million reflections in changing fields: with renormalization the length is kept; without it the
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
      cmocka_unit_test(small_steps_are_uniform),
      cmocka_unit_test(wrong_moves_are_rejected),
      cmocka_unit_test(tiny_and_large_fields_leave_lengths_alone),
      cmocka_unit_test(a_field_that_cancels_the_bias_leaves_lengths_alone),
      cmocka_unit_test(lengths_do_not_drift),
  };
  return CASES_RUN(tests);
}
