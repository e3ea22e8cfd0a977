/* Canonical runs: how a configuration defines grids and chains, and how the channels of a
 * measurement are processed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "algorithms/canonical/canonical.h"
#include "algorithms/chains/chains_internal.h"
#include "models/ising2d/ising2d.h"
#include "support/status.h"

/* Returns the values of the algorithm's block, given as JSON. */
static struct gpumc_params params_of(const char *json)
{
  const struct gpumc_params params = {.values = cJSON_Parse(json)};
  assert_non_null(params.values);
  return params;
}

static void release(struct gpumc_params *params)
{
  cJSON_Delete((cJSON *)params->values);
}

#define TIMES                                                                                      \
  "\"update\":\"heat_bath\",\"thermalization\":100,\"sweeps\":60,\"interval\":20,\"series\":"      \
  "false,"                                                                                         \
  "\"samples\":1"

/* Checks that every point occurs once, in order, at the temperature nearest to it. */
static void check_grid(const char *json, size_t points)
{
  struct gpumc_error error = {0};
  struct gpumc_params params = params_of(json);
  struct chains chains = {0};
  assert_ok(canonical_read(&params, &chains, &error), &error);
  const struct chains_grid *const grid = &chains.grid;
  assert_int_equal(grid->points, points);
  assert_int_equal(grid->first[0], 0);
  assert_int_equal(grid->first[chains.runs], points);
  for (size_t m = 0; m < chains.runs; m++)
    for (size_t p = grid->first[m]; p < grid->first[m + 1]; p++)
      for (size_t other = 0; other < chains.runs; other++)
        if (fabs(chains.value[other] - grid->value[p]) < fabs(chains.value[m] - grid->value[p]))
          fail_msg("%s: point %zu is nearer to temperature %zu than %zu", json, p, other, m);
  chains_settings_free(&chains);
  release(&params);
}

static void test_grid(void **state)
{
  (void)state;
#define GRID TIMES ",\"reweight\":{\"from\":0.2,\"to\":0.6,\"step\":0.01}}"
  check_grid("{\"beta\":{\"values\":[0.4]}," GRID, 41);
  check_grid("{\"beta\":{\"values\":[0.1, 0.3, 0.31, 0.5, 0.9]}," GRID, 41);
  check_grid("{\"beta\":{\"values\":[0.01, 0.02, 0.03]}," GRID, 41);
  check_grid("{\"beta\":{\"values\":[2, 3, 4]}," GRID, 41);
  check_grid("{\"beta\":{\"from\":0.2,\"to\":0.6,\"step\":0.005}," GRID, 41);
#undef GRID
}

static void test_no_grid(void **state)
{
  struct gpumc_error error = {0};
  struct gpumc_params params = params_of("{\"beta\":{\"values\":[0.4]}," TIMES "}");
  struct chains chains = {0};
  (void)state;
  assert_ok(canonical_read(&params, &chains, &error), &error);
  assert_int_equal(chains.grid.points, 0);
  assert_int_equal(chains_grid_served(&chains.grid, 0), 0);
  chains_settings_free(&chains);
  release(&params);
}

static struct chains_settings settings_of(const char *sizes)
{
  char json[512];
  struct chains chains = {0};
  struct gpumc_error error = {0};
  snprintf(json, sizeof json,
           "{\"beta\":{\"values\":[0.4]},%s,\"update\":\"heat_bath\",\"thermalization\":100,"
           "\"sweeps\":60,\"interval\":20,\"series\":false}",
           sizes);
  struct gpumc_params params = params_of(json);
  assert_ok(canonical_read(&params, &chains, &error), &error);
  chains_settings_free(&chains);
  release(&params);
  return chains.settings;
}

static void test_replicas_and_chains(void **state)
{
  static const struct {
    const char *sizes;
    size_t replicas, chains;
  } cases[] = {
      {"\"samples\":1", 32, 8},
      {"\"samples\":1,\"replicas\":1", 1, 1},
      {"\"samples\":1,\"replicas\":6", 6, 6},
      {"\"samples\":1,\"replicas\":12", 12, 8},
      {"\"samples\":1,\"replicas\":31", 31, 8},
      {"\"samples\":1,\"replicas\":64000", 64000, 8},
      {"\"samples\":2", 2, 1},
      {"\"samples\":1000", 1000, 1},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const struct chains_settings settings = settings_of(cases[i].sizes);
    assert_int_equal(settings.replicas, cases[i].replicas);
    assert_int_equal(settings.chains, cases[i].chains);
    assert_int_equal(settings.each_sample, strstr(cases[i].sizes, "\"samples\":1,") == NULL &&
                                               strcmp(cases[i].sizes, "\"samples\":1") != 0);
    assert_int_equal(chains_first(&settings, settings.chains), cases[i].replicas);
    for (size_t b = 0; b < settings.chains; b++) {
      const size_t members = chains_first(&settings, b + 1) - chains_first(&settings, b);
      assert_in_range(members, settings.replicas / settings.chains,
                      (settings.replicas - 1) / settings.chains + 1);
    }
  }
}

static void test_times(void **state)
{
  const struct chains_settings settings = settings_of("\"samples\":1");
  (void)state;
  assert_int_equal(chains_end(&settings), 160);
  assert_int_equal(chains_measurements(&settings, 0), 0);
  assert_int_equal(chains_measurements(&settings, 119), 0);
  assert_int_equal(chains_measurements(&settings, 120), 1);
  assert_int_equal(chains_measurements(&settings, 160), 3);
}

static double twenty_a_site(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan,
                            size_t replicas)
{
  (void)plan;
  return 20.0 * (double)model->sites * (double)replicas;
}

static double four_a_site(const struct gpumc_model *model, const struct gpumc_ensemble_plan *plan)
{
  (void)plan;
  return 4.0 * (double)model->sites;
}

/* A unit is 2^28 site updates, whatever number of trials that takes, but at least one sweep and no
 * more than remains to be done; for a slow kernel on a CPU it is 2^28 ns. */
static void test_units(void **state)
{
  struct gpumc_error error = {0};
  struct gpumc_model model;
  struct gpumc_device_ops processors = {.kind = GPUMC_KIND_CPU};
  struct gpumc_device device = {.ops = &processors};
  struct gpumc_kernel_ops kernel = {0};
  const struct gpumc_ensemble ensemble = {.ops = &kernel, .model = &model, .device = &device};
  struct chains_settings settings = settings_of("\"samples\":1");
  (void)state;
  assert_ok(ising2d_instance((size_t[]){1024, 1024}, 1, 0, &model, &error), &error);
  assert_int_equal(chains_unit(&settings, &ensemble, 1), 8);
  assert_int_equal(chains_unit(&settings, &ensemble, 2), 4);
  assert_int_equal(chains_unit(&settings, &ensemble, 100), 1);
  settings.replicas = 1;
  assert_int_equal(chains_unit(&settings, &ensemble, 1), 160);
  settings.sweeps = 4000000000u;
  assert_int_equal(chains_unit(&settings, &ensemble, 1), 256);
  kernel.cost = twenty_a_site;
  assert_int_equal(chains_unit(&settings, &ensemble, 1), 12);
  assert_int_equal(chains_unit(&settings, &ensemble, 100), 1);
  processors.kind = GPUMC_KIND_CUDA;
  assert_int_equal(chains_unit(&settings, &ensemble, 1), 256);
  kernel.trials = four_a_site;
  assert_int_equal(chains_unit(&settings, &ensemble, 1), 256);
  model.ops->destroy(&model);
}

static void test_moments_of_channels(void **state)
{
  static const int64_t channel[] = {-3, 0, 2, 8};
  static const struct {
    struct gpumc_mean mean;
    double expected[4];
  } cases[] = {
      {{.power = 1}, {-1.5, 0, 1, 4}},
      {{.power = 1, .absolute = true}, {1.5, 0, 1, 4}},
      {{.power = 2}, {2.25, 0, 1, 16}},
      {{.power = 4}, {5.0625, 0, 1, 256}},
  };
  (void)state;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    double value[4];
    chains_moments_of(&cases[k].mean, 0.5, channel, 4, value);
    for (size_t i = 0; i < 4; i++)
      assert_true(value[i] == cases[k].expected[i]);
  }
}

static void test_results(void **state)
{
  struct gpumc_error error = {0};
  struct gpumc_model model;
  struct chains_quantities quantities;
  const double mean[GPUMC_MEANS_MAXIMUM] = {-1.5, 2.5, 0.75, 0.5, 0.375};
  double average[GPUMC_MEANS_MAXIMUM + GPUMC_QUANTITIES_MAXIMUM];
  double result[GPUMC_QUANTITIES_MAXIMUM];
  (void)state;
  assert_ok(ising2d_instance((size_t[]){4, 4}, 1, 0, &model, &error), &error);
  const struct gpumc_observables observables = gpumc_observables_select(model.ops, 0, NULL);
  const struct gpumc_controls controls = gpumc_controls_at(model.control, 0, 0.5);
  chains_quantities_make(&model, &observables, &quantities);
  assert_int_equal(quantities.count, 5);
  assert_int_equal(quantities.n_series, 4);
  assert_string_equal(gpumc_quantity_label(&observables, 1).name, "specific_heat");
  assert_string_equal(observables.mean[quantities.series_mean[1]]->label.name, "abs_magnetization");
  assert_string_equal(gpumc_quantity_label(&observables, quantities.series_result[1]).name,
                      "abs_magnetization");
  gpumc_averages_of_each(&observables, &model, &controls, mean, average);
  gpumc_averages_evaluate(&observables, &model, &controls, average, result);
  assert_true(result[0] == -1.5);
  assert_true(result[1] == 0.25 * 16 * 0.25);
  for (size_t q = 2; q < observables.n_quantities; q++)
    if (strcmp(gpumc_quantity_label(&observables, q).name, "binder_parameter") == 0)
      assert_true(result[q] == 0.5);
  model.ops->destroy(&model);
}

/* A measurement of two replicas is reweighted to a grid of one point with the channel conjugate to
 * the moved control, which need not be the first: at beta = 1, weights use the field times the
 * magnetization. */
static void test_weights_follow_the_conjugate_channel(void **state)
{
  struct gpumc_error error = {0};
  struct gpumc_model model;
  struct gpumc_device device;
  double field = 0.5, point = 0.75;
  size_t first[] = {0, 1};
  (void)state;
  assert_ok(ising2d_instance((size_t[]){4, 4}, 1, 0, &model, &error), &error);
  assert_ok(gpumc_device_open("cpu", 1, &device, &error), &error);
  model.quantum[1] = 0.5;
  struct chains chains = {.context = {.model = &model, .device = &device},
                          .settings = {.replicas = 2, .chains = 1, .interval = 1},
                          .moved = {.control = ISING_FIELD, .conjugate = 1, .fixed = {1.0}},
                          .runs = 1,
                          .value = &field,
                          .grid = {1, &point, first}};
  const struct gpumc_observables observables = gpumc_observables_select(model.ops, 0, NULL);
  chains_quantities_make(&model, &observables, &chains.quantities);
  assert_ok(chains_sums_make(&chains, &error), &error);
  memcpy(chains.channels.host[0], (int64_t[]){-100, 100}, 2 * sizeof(int64_t));
  memcpy(chains.channels.host[1], (int64_t[]){2, 6}, 2 * sizeof(int64_t));
  chains_digest(&chains);
  assert_int_equal(chains.sums[0].reference, 4);
  const double *weight = chains.sums[0].replica + 2 * chains.quantities.count;
  assert_true(fabs(weight[0] - exp(-0.25)) < 1e-14);
  assert_true(fabs(weight[1] - exp(0.25)) < 1e-14);
  chains_sums_free(&chains);
  gpumc_device_close(&device);
  model.ops->destroy(&model);
}

/* Checks a profile of an athermal target with three replicas in two chains, or with one sample
 * each: each number of a profile has its own unit, and bins are averages over all replicas. */
static void check_profile(bool each_sample, const double *group)
{
  static const double at[] = {1, 2}, unit[] = {0.5, 4};
  struct gpumc_error error = {0};
  struct gpumc_model model;
  struct gpumc_device device;
  struct gpumc_channel channels[GPUMC_CHANNELS_MAXIMUM];
  assert_ok(ising2d_instance((size_t[]){4, 4}, 1, 0, &model, &error), &error);
  assert_ok(gpumc_device_open("cpu", 1, &device, &error), &error);
  struct gpumc_model_ops ops = *model.ops;
  const size_t last = ops.n_channels;
  memcpy(channels, ops.channels, last * sizeof *channels);
  channels[last] = (struct gpumc_channel){.label = {"profile", "a profile", "1", "p"},
                                          .request_key = "profile",
                                          .axis = {"distance", "distance", "1", "r"}};
  ops.channels = channels;
  ops.n_channels = last + 1;
  model.ops = &ops;
  model.profile[last] = (struct gpumc_profile){2, at, unit};
  struct chains chains = {
      .context = {.model = &model, .device = &device},
      .settings = {.replicas = 3, .chains = 2, .each_sample = each_sample, .interval = 1},
      .runs = 1};
  const struct gpumc_observables observables = gpumc_observables_select(&ops, 1u << last, NULL);
  assert_int_equal(observables.n_profiles, 1);
  assert_int_equal(observables.profile[0], last);
  chains_quantities_make(&model, &observables, &chains.quantities);
  assert_int_equal(chains_profile_width(&chains), 2);
  assert_ok(chains_sums_make(&chains, &error), &error);
  assert_int_equal(chains_values(&chains, 0), 3);
  assert_int_equal(chains_values(&chains, last), 6);
  memset(chains.channels.host[0], 0, 3 * sizeof(int64_t));
  memset(chains.channels.host[1], 0, 3 * sizeof(int64_t));
  memcpy(chains.channels.host[last], (int64_t[]){2, 1, 4, 2, 6, 6}, 6 * sizeof(int64_t));
  chains_digest(&chains);
  chains_digest(&chains);
  const struct chains_profile *profile = &chains.sums[0].profile[0];
  for (size_t i = 0; i < (each_sample ? 6 : 4); i++)
    assert_true(profile->group[i] == 2 * group[i]);
  double mean[2];
  assert_true(gpumc_bins_mean_of_all(&profile->bins, mean) == 2);
  assert_true(mean[0] == 2 && mean[1] == 12);
  chains_sums_free(&chains);
  gpumc_device_close(&device);
  model.ops->destroy(&model);
}

static void test_profiles(void **state)
{
  (void)state;
  check_profile(false, (double[]){1, 4, 2 + 3, 8 + 24});
  check_profile(true, (double[]){1, 4, 2, 8, 3, 24});
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_grid),
      cmocka_unit_test(test_no_grid),
      cmocka_unit_test(test_replicas_and_chains),
      cmocka_unit_test(test_times),
      cmocka_unit_test(test_units),
      cmocka_unit_test(test_moments_of_channels),
      cmocka_unit_test(test_results),
      cmocka_unit_test(test_weights_follow_the_conjugate_channel),
      cmocka_unit_test(test_profiles),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
