/* The selection of observables, and derived quantities. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "core/numerics/elementary.h"
#include "core/simulation/observables.h"
#include "models/ising2d/ising2d.h"
#include "support/fake_plugins.h"

static void test_selection(void **state)
{
  const struct gpumc_observables few = gpumc_observables_select(&gpumc_model_ising2d, false);
  const struct gpumc_observables all = gpumc_observables_select(&gpumc_model_ising2d, true);
  (void)state;
  assert_int_equal(few.n_channels, ISING_WAVE);
  assert_int_equal(few.count, 3);
  assert_int_equal(few.n_derived, 1);
  assert_string_equal(few.derived[0].what->name, "binder_parameter");
  assert_int_equal(all.n_channels, ISING_CHANNELS);
  assert_int_equal(all.count, ISING_OBSERVABLES);
  assert_int_equal(all.n_derived, 2);
  for (size_t k = 0; k < all.n_derived; k++)
    for (size_t i = 0; i < 2; i++)
      assert_ptr_equal(all.item[all.derived[k].from[i]],
                       &gpumc_model_ising2d.observables[all.derived[k].what->from[i]]);
}

static void test_model_without_observables(void **state)
{
  const struct gpumc_observables none = gpumc_observables_select(&fake_frozen, true);
  (void)state;
  assert_int_equal(none.count, 0);
  assert_int_equal(none.n_derived, 0);
  assert_int_equal(none.n_channels, 1);
}

/* A mistake where a model has none, and none where it has one or it is not asked for. */
static void test_check(void **state)
{
  static const struct {
    const struct gpumc_model_ops *model;
    const char *values;
    size_t mistakes;
  } cases[] = {{&gpumc_model_ising2d, "{\"structure_factor\": true}", 0},
               {&fake_chain, "{\"structure_factor\": true}", 1},
               {&fake_chain, "{\"structure_factor\": false}", 0}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct gpumc_report report = {0};
    const struct gpumc_node node = {.mark = {"c.yaml", 3, 4}};
    cJSON *values = cJSON_Parse(cases[i].values);
    const struct gpumc_params params = {.values = values, .node = &node};
    const struct gpumc_subject subject = {.model = cases[i].model};
    gpumc_observables_check(&params, &subject, &report);
    assert_int_equal(report.mistakes, cases[i].mistakes);
    if (report.mistakes > 0)
      assert_string_equal(gpumc_text_string(&report.lines),
                          "c.yaml:3:4: model chain has no structure factor: leave "
                          "structure_factor out\n");
    gpumc_report_free(&report);
    cJSON_Delete(values);
  }
}

static void assert_near(double found, double expected, double tolerance)
{
  if (!(fabs(found - expected) <= tolerance))
    fail_msg("%.17g, expected %.17g", found, expected);
}

static void test_binder_parameter(void **state)
{
  const double ordered[2] = {1.0, 1.0}, gaussian[2] = {0.01, 0.0003}, nothing[2] = {0.0, 0.0};
  const struct gpumc_model model = {.sites = 16};
  (void)state;
  assert_near(gpumc_derive(&model, GPUMC_BINDER_PARAMETER, ordered), 2.0 / 3.0, 1e-15);
  assert_near(gpumc_derive(&model, GPUMC_BINDER_PARAMETER, gaussian), 0.0, 1e-15);
  assert_true(isnan(gpumc_derive(&model, GPUMC_BINDER_PARAMETER, nothing)));
}

/* A structure factor of the Ornstein-Zernike form on a lattice, S = chi / (1 + xi^2 4 sin^2(k/2)),
 * gives xi back. */
static void test_correlation_length(void **state)
{
  const double chi = 37.0, length = 5.5;
  const struct gpumc_model model = {.sites = 4096, .wave_number = 2 * GPUMC_PI / 64};
  const double step = 2 * sin(model.wave_number / 2);
  const double from[2] = {chi / 4096, chi / (1 + length * length * step * step)};
  const double steep[2] = {chi / 4096, 1.01 * chi}, none[2] = {chi / 4096, 0.0};
  (void)state;
  assert_near(gpumc_derive(&model, GPUMC_CORRELATION_LENGTH, from), length, 1e-12);
  assert_true(isnan(gpumc_derive(&model, GPUMC_CORRELATION_LENGTH, steep)));
  assert_true(isnan(gpumc_derive(&model, GPUMC_CORRELATION_LENGTH, none)));
}

static void test_all_derived(void **state)
{
  const struct gpumc_observables all = gpumc_observables_select(&gpumc_model_ising2d, true);
  const struct gpumc_model model = {.sites = 16, .wave_number = GPUMC_PI / 2};
  const double average[] = {0.5, 0.4, 0.3, 3.2};
  double derived[2];
  (void)state;
  gpumc_derive_all(&all, &model, average, derived);
  assert_near(derived[0], 1 - 0.3 / (3 * 0.16), 1e-15);
  assert_near(derived[1], 1 / (2 * sin(GPUMC_PI / 4)), 1e-15);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_selection),
      cmocka_unit_test(test_model_without_observables),
      cmocka_unit_test(test_check),
      cmocka_unit_test(test_binder_parameter),
      cmocka_unit_test(test_correlation_length),
      cmocka_unit_test(test_all_derived),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
