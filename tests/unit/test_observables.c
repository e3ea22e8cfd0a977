/* The selection of means, and the quantities of Ising spins that follow from them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "core/numerics/elementary.h"
#include "core/simulation/observables.h"
#include "models/heisenberg/heisenberg.h"
#include "models/ising/ising.h"
#include "models/ising2d/ising2d.h"
#include "support/fake_plugins.h"

static bool is_reported(const struct gpumc_observables *observables, const char *name)
{
  bool found = false;
  for (size_t q = 0; q < observables->n_quantities; q++)
    found = found || strcmp(gpumc_quantity_label(observables, q).name, name) == 0;
  return found;
}

static void make(struct gpumc_model *model)
{
  struct gpumc_error error = {0};
  if (ising2d_instance((size_t[]){4, 4}, 1, 0, model, &error) != GPUMC_OK)
    fail_msg("%s", gpumc_error_text(&error));
}

static void test_selection(void **state)
{
  const struct gpumc_observables few = gpumc_observables_select(&gpumc_model_ising2d, 0, NULL);
  const struct gpumc_observables more =
      gpumc_observables_select(&gpumc_model_ising2d, 1u << ISING_WAVE, NULL);
  (void)state;
  assert_int_equal(few.n_channels, ISING_WAVE);
  assert_int_equal(few.n_means, 5);
  assert_int_equal(few.n_quantities, 6);
  assert_true(is_reported(&few, "binder_parameter") && !is_reported(&few, "correlation_length"));
  assert_int_equal(more.n_channels, ISING_STATE_CHANNELS);
  assert_int_equal(more.n_means, 6);
  assert_int_equal(more.n_quantities, 8);
  assert_true(is_reported(&more, "correlation_length") && !more.pairs);
  for (size_t q = 0; q < more.n_quantities; q++)
    for (size_t i = 0; i < more.quantity[q].what->n_uses; i++)
      if (more.quantity[q].uses[i] != GPUMC_NOT_MEASURED)
        assert_ptr_equal(more.mean[more.quantity[q].uses[i]],
                         &gpumc_model_ising2d.means[more.quantity[q].what->uses[i]]);
}

static void test_selection_of_pairs(void **state)
{
  struct gpumc_model model;
  (void)state;
  make(&model);
  const struct gpumc_observables plain = gpumc_observables_select(model.ops, 0, &model);
  assert_true(plain.pairs && is_reported(&plain, "overlap2"));
  assert_int_equal(plain.n_means, 5 + 5);
  model.disorder = true;
  const struct gpumc_observables quenched = gpumc_observables_select(model.ops, 0, &model);
  assert_int_equal(quenched.n_means, 5 + 5 + 1);
  assert_int_equal(quenched.n_quantities, plain.n_quantities);
  model.pair[ISING_PAIR_LINK].unit = 0;
  const struct gpumc_observables sites = gpumc_observables_select(model.ops, 0, &model);
  assert_true(is_reported(&sites, "overlap2") && !is_reported(&sites, "link_overlap"));
  assert_false(is_reported(&sites, "gaussian_identity"));
  model.ops->destroy(&model);
}

/* The response to the temperature gives way to the response to the field. */
static void test_selection_in_the_field(void **state)
{
  cJSON *block = cJSON_Parse("{\"structure_factor\": false}");
  const struct gpumc_params params = {.values = block};
  (void)state;
  const struct gpumc_observables hot =
      gpumc_observables_of(&params, &gpumc_model_ising2d, NULL, ISING_BETA);
  const struct gpumc_observables field =
      gpumc_observables_of(&params, &gpumc_model_ising2d, NULL, ISING_FIELD);
  cJSON_Delete(block);
  assert_true(is_reported(&hot, "specific_heat") && !is_reported(&hot, "susceptibility"));
  assert_true(!is_reported(&hot, "magnetization") && !is_reported(&hot, "energy_in_field"));
  assert_false(is_reported(&field, "specific_heat"));
  assert_true(is_reported(&field, "susceptibility") && is_reported(&field, "magnetization"));
  assert_int_equal(field.n_means, hot.n_means + 1);
  assert_string_equal(gpumc_declared_moved(&gpumc_model_ising2d, 2), "h");
  assert_null(gpumc_declared_moved(&gpumc_model_ising2d, 0));
  assert_null(gpumc_declared_moved(&gpumc_model_ising2d, 1));
}

/* Quantities that an instance lacks are left out, and requesting them is a mistake. */
static void test_quantities_of_an_instance(void **state)
{
  cJSON *block = cJSON_Parse("{\"helicity_modulus\": true}");
  const struct gpumc_node node = {.mark = {"c.yaml", 3, 4}};
  const struct gpumc_params params = {.values = block, .node = &node};
  (void)state;
  for (int in_field = 0; in_field < 2; in_field++) {
    const struct heisenberg_settings settings = {
        .dimension = 1, .shape = {4}, .components = 3, .coupling = 1, .field = 0.25 * in_field};
    struct gpumc_model model;
    struct gpumc_error error = {0};
    struct gpumc_report report = {0};
    if (heisenberg_instance(&settings, &model, &error) != GPUMC_OK)
      fail_msg("%s", gpumc_error_text(&error));
    const struct gpumc_observables selected =
        gpumc_observables_of(&params, model.ops, NULL, HEISENBERG_BETA);
    const struct gpumc_observables left = gpumc_observables_that_apply(&selected, &model);
    assert_true(is_reported(&selected, "binder_parameter"));
    assert_int_equal(is_reported(&left, "binder_parameter"), !in_field);
    assert_int_equal(is_reported(&left, "susceptibility"), !in_field);
    assert_int_equal(is_reported(&left, "helicity_modulus"), !in_field);
    assert_true(is_reported(&left, "energy") && is_reported(&left, "magnetization4"));
    assert_int_equal(left.n_means, selected.n_means);
    gpumc_observables_check_instance(&params, "helicity_modulus", &model, &report);
    assert_int_equal(report.mistakes, in_field);
    if (in_field)
      assert_string_equal(gpumc_text_string(&report.lines),
                          "c.yaml:3:4: model heisenberg has helicity_modulus only where model.h is "
                          "0: leave helicity_modulus out\n");
    gpumc_report_free(&report);
    model.ops->destroy(&model);
  }
  cJSON_Delete(block);
}

/* chi = beta N (<m^2> - <m>^2), and e - h m. */
static void test_quantities_in_the_field(void **state)
{
  cJSON *block = cJSON_Parse("{\"structure_factor\": false}");
  const struct gpumc_params params = {.values = block};
  struct gpumc_model model;
  (void)state;
  make(&model);
  const struct gpumc_observables field =
      gpumc_observables_of(&params, model.ops, NULL, ISING_FIELD);
  cJSON_Delete(block);
  struct gpumc_controls controls = gpumc_controls_at(model.control, ISING_FIELD, 0.5);
  controls.value[ISING_BETA] = 2.0;
  double mean[GPUMC_MEANS_MAXIMUM] = {0};
  mean[gpumc_observables_power(&field, ISING_ENERGY, 1)] = -1.5;
  mean[gpumc_observables_power(&field, ISING_MAGNETIZATION, 1)] = 0.25;
  mean[gpumc_observables_power(&field, ISING_MAGNETIZATION, 2)] = 0.125;
  for (size_t q = 0; q < field.n_quantities; q++) {
    const char *name = gpumc_quantity_label(&field, q).name;
    const double value = gpumc_quantity_value(&field, q, &model, &controls, mean);
    if (strcmp(name, "susceptibility") == 0)
      assert_true(fabs(value - 2.0 * (double)model.sites * (0.125 - 0.0625)) < 1e-12);
    if (strcmp(name, "energy_in_field") == 0)
      assert_true(fabs(value - (-1.5 - 0.5 * 0.25)) < 1e-12);
  }
  model.ops->destroy(&model);
}

static void test_model_without_means(void **state)
{
  const struct gpumc_observables none = gpumc_observables_select(&fake_frozen, ~0u, NULL);
  (void)state;
  assert_int_equal(none.n_means, 0);
  assert_int_equal(none.n_quantities, 0);
  assert_int_equal(none.n_channels, 1);
}

/* Where means are stored, and which quantities they are. */
static void test_places(void **state)
{
  const struct gpumc_observables few = gpumc_observables_select(&gpumc_model_ising2d, 0, NULL);
  (void)state;
  assert_int_equal(gpumc_observables_power(&few, ISING_ENERGY, 1), 0);
  assert_int_equal(gpumc_observables_power(&few, ISING_ENERGY, 2), 1);
  assert_int_equal(gpumc_observables_power(&few, ISING_MAGNETIZATION, 1), few.n_means);
  assert_int_equal(gpumc_observables_power(&few, ISING_WAVE, 1), few.n_means);
  assert_int_equal(gpumc_observables_reported(&few, 0), 0);
  assert_int_equal(gpumc_observables_reported(&few, 1), few.n_quantities);
  assert_int_equal(gpumc_observables_reported(&few, 2), 2);
}

/* A mistake if a model has none; no mistake if it has one or it is not requested. */
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
    gpumc_observables_check(&params, "structure_factor", cases[i].model, GPUMC_BOLTZMANN, &report);
    assert_int_equal(report.mistakes, cases[i].mistakes);
    if (report.mistakes > 0)
      assert_string_equal(gpumc_text_string(&report.lines),
                          "c.yaml:3:4: model chain has no structure_factor: leave "
                          "structure_factor out\n");
    gpumc_report_free(&report);
    cJSON_Delete(values);
  }
}

/* A model without a temperature has the volume if its pressure is moved, and contacts on request if
 * nothing is moved. */
static void test_controls_of_an_athermal_model(void **state)
{
  static const struct gpumc_control controls[] = {
      {.label = {"beta_pressure", "pressure", "1", "p"}}};
  static const struct gpumc_channel channels[] = {
      {.label = {"volume", "volume", "1", "V"}},
      {.label = {"contacts", "contacts", "1", "c"}, .request_key = "contacts", .request = "c"}};
  static const struct gpumc_mean means[] = {
      {.label = {"volume", "volume", "1", "V"}, .index = 0, .power = 1, .controls = 1 << 0},
      {.label = {"contacts", "contacts", "1", "c"}, .index = 1, .power = 1}};
  static const struct gpumc_quantity quantities[] = {
      {.n_uses = 1, .uses = {0}}, {.n_uses = 1, .uses = {1}, .controls = GPUMC_CONTROLS_NONE}};
  const struct gpumc_model_ops model = {.name = "gas",
                                        .controls = controls,
                                        .n_controls = 1,
                                        .channels = channels,
                                        .n_channels = 2,
                                        .means = means,
                                        .n_means = 2,
                                        .quantities = quantities,
                                        .n_quantities = 2};
  const struct gpumc_node node = {.mark = {"c.yaml", 3, 4}};
  cJSON *values = cJSON_Parse("{\"contacts\": true}");
  const struct gpumc_params params = {.values = values, .node = &node};
  (void)state;
  assert_string_equal(gpumc_declared_moved(&model, 0), "beta_pressure");
  assert_ptr_equal(gpumc_declared_moved(&model, 1), gpumc_no_control);
  struct gpumc_observables selected = gpumc_observables_of(&params, &model, NULL, 0);
  assert_int_equal(selected.n_quantities, 1);
  assert_string_equal(gpumc_quantity_label(&selected, 0).name, "volume");
  selected = gpumc_observables_of(&params, &model, NULL, GPUMC_CONTROL_NONE);
  assert_int_equal(selected.n_quantities, 1);
  assert_string_equal(gpumc_quantity_label(&selected, 0).name, "contacts");
  struct gpumc_report report = {0};
  gpumc_observables_check(&params, "contacts", &model, GPUMC_ATHERMAL, &report);
  assert_int_equal(report.mistakes, 0);
  gpumc_observables_check(&params, "contacts", &model, GPUMC_BOLTZMANN, &report);
  assert_string_equal(gpumc_text_string(&report.lines),
                      "c.yaml:3:4: model gas has contacts only where no control is moved: leave "
                      "contacts out\n");
  gpumc_report_free(&report);
  cJSON_Delete(values);
}

static void assert_near(double found, double expected, double tolerance)
{
  if (!(fabs(found - expected) <= tolerance))
    fail_msg("%.17g, expected %.17g", found, expected);
}

/* Returns the quantity `name` of a model with smallest wave number `wave`, from the means in
 * `mean`, by number. */
static double value_of(const char *name, size_t sites, double wave, double beta,
                       const double mean[ISING_MEANS], double *scale)
{
  struct ising_parameters parameters = {.wave_number = wave, .bond_variance = 3.0};
  struct gpumc_model model = {
      .ops = &gpumc_model_ising2d, .sites = sites, .disorder = true, .parameters = &parameters};
  for (size_t k = 0; k < GPUMC_PAIRS_MAXIMUM; k++)
    model.pair[k].unit = 1;
  const struct gpumc_observables all =
      gpumc_observables_select(model.ops, ((1u << ISING_CHANNELS) - 1), &model);
  const struct gpumc_controls controls = gpumc_controls_at(model.control, ISING_BETA, beta);
  assert_int_equal(all.n_means, ISING_MEANS - 2);
  assert_int_equal(all.n_quantities, ISING_QUANTITIES - 3);
  for (size_t q = 0; q < all.n_quantities; q++)
    if (strcmp(gpumc_quantity_label(&all, q).name, name) == 0) {
      if (scale != NULL)
        *scale = gpumc_quantity_scale(&all, q, &model, &controls, mean);
      return gpumc_quantity_value(&all, q, &model, &controls, mean);
    }
  fail_msg("no quantity %s", name);
  return 0;
}

static void test_binder_parameter(void **state)
{
  const double ordered[ISING_MEANS] = {
      [ISING_MEAN_MAGNETIZATION2] = 1, [ISING_MEAN_MAGNETIZATION4] = 1};
  const double gaussian[ISING_MEANS] = {
      [ISING_MEAN_MAGNETIZATION2] = 0.01, [ISING_MEAN_MAGNETIZATION4] = 0.0003};
  const double nothing[ISING_MEANS] = {0};
  const char *name = "binder_parameter";
  (void)state;
  assert_near(value_of(name, 16, 1, 1, ordered, NULL), 2.0 / 3.0, 1e-15);
  assert_near(value_of(name, 16, 1, 1, gaussian, NULL), 0.0, 1e-15);
  assert_true(isnan(value_of(name, 16, 1, 1, nothing, NULL)));
}

/* A structure factor of Ornstein-Zernike form on a lattice, S = chi / (1 + xi^2 4 sin^2(k/2)),
 * gives xi back, for the magnetization, the overlap and improved estimators. */
static void test_correlation_length(void **state)
{
  static const struct {
    const char *name;
    size_t square, wave;
    double sites; /* by which the square is divided */
  } kinds[] = {
      {"correlation_length", ISING_MEAN_MAGNETIZATION2, ISING_MEAN_STRUCTURE_FACTOR, 4096},
      {"correlation_length_overlap", ISING_MEAN_OVERLAP2, ISING_MEAN_OVERLAP_WAVE, 4096},
      {"improved_correlation_length", ISING_MEAN_CLUSTER_SQUARE, ISING_MEAN_CLUSTER_WAVE, 1}};
  const double chi = 37.0, length = 5.5, wave = 2 * GPUMC_PI / 64, step = 2 * sin(wave / 2);
  (void)state;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    double mean[ISING_MEANS] = {0};
    mean[kinds[i].square] = chi / kinds[i].sites;
    mean[kinds[i].wave] = chi / (1 + length * length * step * step);
    assert_near(value_of(kinds[i].name, 4096, wave, 1, mean, NULL), length, 1e-12);
    mean[kinds[i].wave] = chi;
    double scale;
    assert_near(value_of(kinds[i].name, 4096, wave, 1, mean, &scale), 0.0, 0.0);
    assert_true(isinf(scale));
    mean[kinds[i].wave] = 1.01 * chi;
    assert_true(isnan(value_of(kinds[i].name, 4096, wave, 1, mean, NULL)));
    mean[kinds[i].wave] = 0;
    assert_true(isnan(value_of(kinds[i].name, 4096, wave, 1, mean, NULL)));
  }
}

/* chi = beta N <m^2>. */
static void test_improved_susceptibility(void **state)
{
  const double mean[ISING_MEANS] = {[ISING_MEAN_CLUSTER_SQUARE] = 24.0};
  (void)state;
  assert_near(value_of("improved_susceptibility", 16, 1, 0.25, mean, NULL), 6.0, 1e-15);
  assert_near(value_of("improved_magnetization2", 16, 1, 0.25, mean, NULL), 1.5, 1e-15);
}

/* With and without the product of two copies in place of the square of the energy. */
static void test_specific_heat(void **state)
{
  double scale, mean[ISING_MEANS] = {[ISING_MEAN_ENERGY] = -1.5,
                                     [ISING_MEAN_ENERGY2] = 2.5,
                                     [ISING_MEAN_ENERGY_PRODUCT] = 2.0};
  const struct gpumc_observables alone = gpumc_observables_select(&gpumc_model_ising2d, 0, NULL);
  const struct gpumc_model model = {.ops = &gpumc_model_ising2d, .sites = 16};
  const struct gpumc_controls hot = gpumc_controls_at(model.control, ISING_BETA, 0);
  const struct gpumc_controls cold = gpumc_controls_at(model.control, ISING_BETA, 0.5);
  (void)state;
  assert_near(value_of("specific_heat", 16, 1, 0.5, mean, &scale), 0.25 * 16 * 0.5, 1e-15);
  assert_near(scale, 0.25 * 16 * 2.5, 1e-15);
  assert_near(gpumc_quantity_value(&alone, 1, &model, &cold, mean), 0.25 * 16 * 0.25, 1e-15);
  assert_true(gpumc_quantity_is_known(&alone, 1, &model, &hot));
  assert_false(gpumc_quantity_is_known(&alone, 1, &model, &cold));
  assert_false(gpumc_quantity_is_known(&alone, 0, &model, &hot));
}

/* A susceptibility is a multiple of beta: it is 0 without any measurement if beta is 0, and only
 * then. */
static void test_susceptibilities_without_interactions(void **state)
{
  static const struct {
    const struct gpumc_model_ops *ops;
    const char *name;
  } all[] = {{&gpumc_model_ising2d, "susceptibility"},
             {&gpumc_model_heisenberg, "susceptibility"},
             {&gpumc_model_heisenberg, "susceptibility_x"}};
  (void)state;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    const struct gpumc_model model = {.ops = all[i].ops};
    const struct gpumc_controls hot = gpumc_controls_at(model.control, ISING_BETA, 0),
                                cold = gpumc_controls_at(model.control, ISING_BETA, 0.5);
    const struct gpumc_quantity *quantity = all[i].ops->quantities;
    while (quantity->label.name == NULL || strcmp(quantity->label.name, all[i].name) != 0)
      quantity++;
    assert_true(quantity->is_known(&model, hot.value));
    assert_false(quantity->is_known(&model, cold.value));
  }
}

static void test_quantities_of_overlaps(void **state)
{
  double scale;
  const double mean[ISING_MEANS] = {[ISING_MEAN_ENERGY] = -1.0,
                                    [ISING_MEAN_OVERLAP2] = 0.5,
                                    [ISING_MEAN_OVERLAP4] = 0.375,
                                    [ISING_MEAN_LINK_OVERLAP] = 0.75};
  (void)state;
  assert_near(value_of("binder_overlap", 16, 1, 2, mean, &scale), 0.75, 1e-15);
  assert_near(scale, 2.25, 1e-15);
  assert_near(value_of("chi_overlap", 16, 1, 2, mean, NULL), 8, 1e-15);
  assert_near(value_of("gaussian_identity", 16, 1, 2, mean, &scale), -1 + 3 * 2 * 0.25, 1e-15);
  assert_near(scale, 1 + 3 * 2, 1e-15);
}

/* For two samples, fluctuations are formed per sample and averaged; a Binder parameter uses the
 * averages. */
static void test_averages_over_samples(void **state)
{
  const struct gpumc_observables few = gpumc_observables_select(&gpumc_model_ising2d, 0, NULL);
  const struct gpumc_model model = {.ops = &gpumc_model_ising2d, .sites = 16};
  const struct gpumc_controls controls = gpumc_controls_at(model.control, ISING_BETA, 0.5);
  const double mean[2][5] = {{-1.0, 1.5, 0.5, 0.4, 0.3}, {-0.5, 0.5, 0.25, 0.2, 0.1}};
  double average[2][GPUMC_MEANS_MAXIMUM + GPUMC_QUANTITIES_MAXIMUM];
  double result[GPUMC_QUANTITIES_MAXIMUM];
  (void)state;
  for (size_t s = 0; s < 2; s++)
    gpumc_averages_of_each(&few, &model, &controls, mean[s], average[s]);
  for (size_t i = 0; i < gpumc_averages(&few); i++)
    average[0][i] = (average[0][i] + average[1][i]) / 2;
  gpumc_averages_evaluate(&few, &model, &controls, average[0], result);
  assert_near(result[0], -0.75, 1e-15);
  assert_near(result[1], 0.25 * 16 * (0.5 + 0.25) / 2, 1e-15);
  assert_near(result[2], 0.375, 1e-15);
  assert_near(result[5], 1 - 0.2 / (3 * 0.3 * 0.3), 1e-15);
}

/* ---- systematic errors and identities ---- */

static double one(const struct gpumc_model *model, const double *control, const double *mean)
{
  (void)model, (void)control;
  return mean[0];
}

static double tenth(const struct gpumc_model *model, const double *control, const double *mean)
{
  (void)model, (void)control;
  return 0.1 * mean[0];
}

/* A pressure that a second one doubts, and their difference, which must be 0. */
static const struct gpumc_channel pressed_channels[] = {{.label = {"sum", "sum", "1", "s"}}};
static const struct gpumc_mean pressed_means[] = {
    {.label = {"sum", "sum", "1", "s"}, .index = 0, .power = 1}};
static const struct gpumc_quantity pressed_quantities[] = {
    {.label = {"pressure", "pressure", "1", "P"},
     .n_uses = 1,
     .uses = {0},
     .value = one,
     .n_doubts = 1,
     .doubts = {1},
     .systematic = tenth},
    {.label = {"change", "change", "1", "d"}, .n_uses = 1, .uses = {0}, .value = one},
    {.label = {"difference", "difference", "1", "D"},
     .n_uses = 1,
     .uses = {0},
     .value = one,
     .identity = "the equality of both",
     .broken = "measure longer"}};
static const struct gpumc_model_ops pressed = {.name = "gas",
                                               .channels = pressed_channels,
                                               .n_channels = 1,
                                               .means = pressed_means,
                                               .n_means = 1,
                                               .quantities = pressed_quantities,
                                               .n_quantities = 3};

static void test_errors_contain_systematic_ones(void **state)
{
  const struct gpumc_observables selected = gpumc_observables_select(&pressed, 0, NULL);
  const struct gpumc_model model = {.ops = &pressed, .sites = 1};
  const struct gpumc_controls controls = {0};
  const double mean[] = {4.0};
  /* A change, its error, and the square that is added to 1 and that of the known error, 0.4. */
  static const double cases[][3] = {{0.0, 1.0, 0.0},        {1.9, 1.0, 0.0},  {-1.9, 1.0, 0.0},
                                    {3.0, 1.0, 5.0},        {-3.0, 1.0, 5.0}, {3.0, 0.0, 9.0},
                                    {3.0, (double)NAN, 0.0}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const double value[] = {4.0, cases[i][0], 0.0};
    double error[] = {1.0, cases[i][1], 2.0};
    gpumc_errors_widen(&selected, &model, &controls, mean, value, error);
    assert_near(error[0], sqrt(1.0 + 0.16 + cases[i][2]), 1e-15);
    assert_near(error[2], 2.0, 0.0);
  }
  const double value[] = {4.0, 1.0, 0.0};
  double unknown[] = {(double)NAN, 0.1, 2.0};
  gpumc_errors_widen(&selected, &model, &controls, mean, value, unknown);
  assert_true(isnan(unknown[0]));
}

static void test_identities_of_chains(void **state)
{
  const struct gpumc_observables selected = gpumc_observables_select(&pressed, 0, NULL);
  const double value[] = {2.9, -3.2, 1.0}, error[] = {1.0, 1.0, (double)NAN};
  char text[GPUMC_EXCESS_BYTES] = "";
  (void)state;
  assert_int_equal(gpumc_identity_broken(&selected, 2, value, error, 1, false, text), 0);
  assert_int_equal(gpumc_identity_broken(&selected, 2, value + 2, error + 2, 1, false, text), 0);
  assert_string_equal(text, "");
  assert_int_equal(gpumc_identity_broken(&selected, 2, value + 1, error + 1, 1, false, text), 1);
  assert_string_equal(text, "the equality of both does not hold: difference = -3.2 is 3.2 errors "
                            "from 0; measure longer");
  assert_int_equal(gpumc_identity_broken(&selected, 2, value, error, 3, true, text), 1);
  assert_string_equal(text, "at 1 of 3 temperatures the equality of both does not hold: "
                            "difference = -3.2 is 3.2 errors from 0; measure longer");
  assert_int_equal(gpumc_identity_broken(&selected, 0, value + 1, error + 1, 1, false, text), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_selection),
      cmocka_unit_test(test_selection_of_pairs),
      cmocka_unit_test(test_selection_in_the_field),
      cmocka_unit_test(test_quantities_of_an_instance),
      cmocka_unit_test(test_quantities_in_the_field),
      cmocka_unit_test(test_model_without_means),
      cmocka_unit_test(test_places),
      cmocka_unit_test(test_check),
      cmocka_unit_test(test_controls_of_an_athermal_model),
      cmocka_unit_test(test_binder_parameter),
      cmocka_unit_test(test_correlation_length),
      cmocka_unit_test(test_improved_susceptibility),
      cmocka_unit_test(test_specific_heat),
      cmocka_unit_test(test_susceptibilities_without_interactions),
      cmocka_unit_test(test_quantities_of_overlaps),
      cmocka_unit_test(test_averages_over_samples),
      cmocka_unit_test(test_errors_contain_systematic_ones),
      cmocka_unit_test(test_identities_of_chains),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
