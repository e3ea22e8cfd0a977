/* Deciding an update in single precision: never wrong, and rarely undecided. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "models/ising/ising.h"
#include "models/ising/spin/spin_rule.h"
#include "models/ising2d/ising2d.h"

static void exponential_is_right_to_a_millionth(void **state)
{
  (void)state;
  double largest = 0;
  for (int32_t i = -6000000; i <= 6000000; i += 7) {
    const float x = (float)i * 1e-5f;
    const double exact = exp((double)x);
    largest = fmax(largest, fabs((double)ising_estimate_exp(x) - exact) / exact);
  }
  print_message("largest relative error 2^%.2f\n", log2(largest));
  assert_true(largest < 0x1p-21);
}

static void make_model(struct gpumc_model *model)
{
  struct gpumc_error error = {0};
  const struct ising_settings settings = {
      .ops = &gpumc_model_ising2d,
      .dimension = 3,
      .shape = {4, 4, 4},
      .coupling = 1.0,
      .field = 0.5,
      .disorder = {.couplings = LATTICE_GAUSSIAN, .fields = LATTICE_GAUSSIAN, .width = 1.0}};
  assert_int_equal(ising_instance(&settings, model, &error), GPUMC_OK);
}

/* Tests numbers at the threshold and 1, 2, 4, .. above and below it. The field is rounded and
 * shifted by as much as sums of rounded terms may be wrong. */
static void
expect_never_wrong(const struct ising_spin_rule *rule, int64_t f, float moved, uint32_t spin)
{
  const float field = (float)f + moved;
  uint64_t low = 0, high = GPUMC_THRESHOLD_ALWAYS;
  while (low < high) {
    const uint64_t middle = (low + high) / 2;
    if (ising_spin_flips(&rule->exact, rule->start == 0, f, spin, (uint32_t)middle))
      low = middle + 1;
    else
      high = middle;
  }
  for (int64_t away = 1, sign = -1; away<INT64_C(1) << 32; sign = -sign, away *= sign> 0 ? 1 : 2) {
    const int64_t u = (int64_t)low + (sign > 0 ? away - 1 : -away);
    if (u < 0 || u > UINT32_MAX)
      continue;
    const uint32_t estimate = ising_spin_estimate(&rule->estimate, field, spin, (uint32_t)u);
    if (estimate != ISING_OPEN && (estimate == ISING_FLIPS) != (u < (int64_t)low))
      fail_msg("beta = %g, f = %lld, spin %u, u = %lld of %llu: estimated %u", rule->exact.beta,
               (long long)f, spin, (long long)u, (unsigned long long)low, estimate);
  }
}

static void estimates_are_never_wrong(void **state)
{
  (void)state;
  static const double betas[] = {0.0, 0.01, 0.7, 2.0, 20.0, 3000.0, 1e7};
  struct gpumc_model model;
  make_model(&model);
  const double quantum = model.quantum[ISING_ENERGY];
  for (size_t b = 0; b < sizeof betas / sizeof *betas; b++)
    for (uint32_t i = 0; i < 4000; i++) {
      uint32_t word[4];
      gpumc_random_draw(gpumc_random_make(4, 0, 10), i, 0, 0, 0, word);
      const double size = i % 2 == 0 ? 8.0 : 16.0 / fmax(1.0, 2.0 * betas[b]);
      const int64_t f = (int64_t)(ldexp((double)word[0], -31) * size / quantum - size / quantum);
      /* 2^-21 of the largest field: seven terms, each rounded, and their sums. */
      const float moved = (float)(0x1p-22 * 60.0 / quantum) * (i % 3 == 0 ? -1.0f : 1.0f);
      const enum ising_move update = i % 4 < 2 ? ISING_MOVE_METROPOLIS : ISING_MOVE_HEAT_BATH;
      const double control[ISING_CONTROLS] = {betas[b], 0.0};
      const struct ising_spin_rule rule = ising_spin_rule(&model, update, control);
      expect_never_wrong(&rule, f, moved, update == ISING_MOVE_METROPOLIS ? word[1] & 1 : 0);
    }
  model.ops->destroy(&model);
}

static void few_spins_are_left_open(void **state)
{
  (void)state;
  enum { SPINS = 1000000 };
  struct gpumc_model model;
  size_t open = 0;
  make_model(&model);
  const double control[ISING_CONTROLS] = {1.0, 0.0};
  const struct ising_spin_rule rule = ising_spin_rule(&model, ISING_MOVE_METROPOLIS, control);
  for (uint32_t i = 0; i < SPINS; i++) {
    uint32_t word[4];
    gpumc_random_draw(gpumc_random_make(5, 0, 10), i, 0, 0, 0, word);
    const double energy = ldexp((double)word[0], -30) - 2.0;
    open += ising_spin_estimate(&rule.estimate, (float)(energy / model.quantum[ISING_ENERGY]),
                                word[1] & 1, word[2]) == ISING_OPEN;
  }
  print_message("%zu of %d are left open\n", open, SPINS);
  assert_true(open < SPINS / 2000);
  model.ops->destroy(&model);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(exponential_is_right_to_a_millionth),
      cmocka_unit_test(estimates_are_never_wrong),
      cmocka_unit_test(few_spins_are_left_open),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
