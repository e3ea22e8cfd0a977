/* The tables of every registered plugin keep what the headers promise, and faulty ones are found.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/plugins/plugin_flaws.h"
#include "core/simulation/curves.h"
#include "core/simulation/observables.h"
#include "core/simulation/registry.h"
#include "core/simulation/shared_keys.h"

/* The block of a small instance. A new model adds its own here. */
static const struct {
  const char *model, *block;
} instances[] = {{"ising2d", "{shape: [4, 4]}"},
                 {"ising3d", "{shape: [4, 4, 4]}"},
                 {"ea", "{shape: [4, 4, 4]}"},
                 {"heisenberg", "{shape: [4]}"},
                 {"hard_disks", "{particles: 8, packing_fraction: 0.3}"}};

static void make(const struct gpumc_model_ops *ops, const char *block, struct gpumc_model *model)
{
  struct gpumc_report report = {0};
  struct gpumc_document document = {0};
  struct gpumc_error error = {0};
  assert_int_equal(
      gpumc_document_parse(ops->name, block, strlen(block), &document, &report, &error), GPUMC_OK);
  cJSON *values =
      gpumc_params_resolve(ops->keys, document.root, document.root->mark, "model", &report);
  const struct gpumc_params params = {.values = values};
  if (report.mistakes > 0)
    fail_msg("%s", gpumc_text_string(&report.lines));
  if (gpumc_model_create(ops, &params, model, &error) != GPUMC_OK)
    fail_msg("%s", gpumc_error_text(&error));
  cJSON_Delete(values);
  gpumc_document_free(&document);
  gpumc_report_free(&report);
}

static const char *block_of(const char *model)
{
  for (size_t i = 0; i < sizeof instances / sizeof *instances; i++)
    if (strcmp(instances[i].model, model) == 0)
      return instances[i].block;
  fail_msg("no small instance of model %s in this test", model);
  return NULL;
}

static void test_registered_models(void **state)
{
  (void)state;
  for (size_t i = 0; gpumc_models()[i] != NULL; i++) {
    const struct gpumc_model_ops *ops = gpumc_models()[i];
    struct gpumc_model model;
    if (gpumc_model_flaw(ops) != NULL)
      fail_msg("%s: %s", ops->name, gpumc_model_flaw(ops));
    make(ops, block_of(ops->name), &model);
    if (gpumc_instance_flaw(&model) != NULL)
      fail_msg("%s: %s", ops->name, gpumc_instance_flaw(&model));
    ops->destroy(&model);
  }
}

static void test_registered_algorithms(void **state)
{
  (void)state;
  for (size_t i = 0; gpumc_algorithms()[i] != NULL; i++)
    if (gpumc_algorithm_flaw(gpumc_algorithms()[i]) != NULL)
      fail_msg("%s: %s", gpumc_algorithms()[i]->name, gpumc_algorithm_flaw(gpumc_algorithms()[i]));
}

/* Of the first model, with one thing wrong at a time. */
static void test_flaws_are_found(void **state)
{
  (void)state;
  const struct gpumc_model_ops good = *gpumc_models()[0];
  struct gpumc_kernel_ops kernel = *good.kernels[0];
  const struct gpumc_kernel_ops *const kernels[] = {&kernel, NULL};
  struct gpumc_model_ops model = good;
  model.kernels = kernels;
  assert_null(gpumc_model_flaw(&model));
  kernel.get = NULL;
  assert_string_equal(gpumc_model_flaw(&model), "a kernel with only one of set and get");
  kernel = *good.kernels[0];
  kernel.n_moves = 0;
  assert_string_equal(gpumc_model_flaw(&model), "a kernel that sweeps but has no moves");
  kernel = *good.kernels[0];
  kernel.trajectory = NULL;
  assert_string_equal(gpumc_model_flaw(&model),
                      "a kernel without a trajectory that auto may choose");
  kernel = *good.kernels[0];
  kernel.trajectory = "another";
  const struct gpumc_kernel_ops *const twice[] = {good.kernels[0], &kernel, NULL};
  model.kernels = twice;
  assert_string_equal(gpumc_model_flaw(&model), "kernels of one variant with two trajectories");
  kernel.variant = "without";
  kernel.trajectory = NULL;
  assert_string_equal(gpumc_model_flaw(&model),
                      "a kernel without a trajectory that auto may choose");
  kernel.cost = NULL;
  assert_null(gpumc_model_flaw(&model));
  kernel = *good.kernels[0];
  kernel.gather = NULL;
  assert_string_equal(gpumc_model_flaw(&model), "kernels of one variant with different operations");
  kernel = *good.kernels[0];
  kernel.n_moves = 1;
  assert_string_equal(gpumc_model_flaw(&model),
                      "kernels whose moves of one name, or of one variant, differ");
  struct gpumc_move moves[] = {kernel.moves[0], kernel.moves[1]};
  moves[0].at_zero = NULL;
  kernel = *good.kernels[0];
  kernel.moves = moves;
  kernel.variant = "another";
  assert_string_equal(gpumc_model_flaw(&model),
                      "kernels whose moves of one name, or of one variant, differ");
  model = good;
  model.n_channels = 1;
  assert_string_equal(gpumc_model_flaw(&model), "a mean of a channel that does not exist");
  struct gpumc_channel channels[GPUMC_CHANNELS_MAXIMUM];
  memcpy(channels, good.channels, good.n_channels * sizeof *channels);
  model = good;
  model.channels = channels;
  assert_null(gpumc_model_flaw(&model));
  channels[1].label.units = NULL;
  assert_string_equal(gpumc_model_flaw(&model), "a channel without a label");
  channels[1].label.units = good.channels[1].label.units;
  channels[1].axis.name = "distance";
  assert_string_equal(gpumc_model_flaw(&model),
                      "a profile that is not on request, or whose axis has no label");
  channels[1].axis = (struct gpumc_label){"distance", "distance of two sites", "1", "r"};
  channels[1].request_key = "profile";
  assert_string_equal(gpumc_model_flaw(&model), "a mean of a profile");
  channels[1].axis = (struct gpumc_label){NULL};
  channels[1].request_key = good.channels[1].request_key;
  channels[0].label.units = "1";
  assert_string_equal(gpumc_model_flaw(&model), "the energy has another unit");
  struct gpumc_mean means[GPUMC_MEANS_MAXIMUM];
  memcpy(means, good.means, good.n_means * sizeof *means);
  model = good;
  model.means = means;
  assert_null(gpumc_model_flaw(&model));
  means[2].power = 3;
  assert_string_equal(gpumc_model_flaw(&model), "a mean with an unsupported power");
  means[2] = good.means[2];
  means[1].index = 1;
  assert_string_equal(gpumc_model_flaw(&model), "no mean of the tracked channel or its square");
  model = good;
  model.n_means = 2;
  assert_string_equal(gpumc_model_flaw(&model), "a quantity without valid means");
  struct gpumc_quantity quantities[GPUMC_QUANTITIES_MAXIMUM];
  memcpy(quantities, good.quantities, good.n_quantities * sizeof *quantities);
  model = good;
  model.quantities = quantities;
  quantities[1].label.name = NULL;
  assert_string_equal(gpumc_model_flaw(&model), "a quantity without a label");
  struct gpumc_control controls[GPUMC_CONTROLS_MAXIMUM];
  memcpy(controls, good.controls, good.n_controls * sizeof *controls);
  model = good;
  model.controls = controls;
  assert_null(gpumc_model_flaw(&model));
  controls[0].inverse_temperature = false;
  assert_string_equal(
      gpumc_model_flaw(&model),
      "an inverse temperature that is marked only by its flag or only by its unit, or is not the "
      "first control");
  controls[0].label.units = "1";
  assert_null(gpumc_model_flaw(&model));
  model.coefficients = NULL;
  assert_string_equal(gpumc_model_flaw(&model), "controls without coefficients");
  model = good;
  model.destroy = NULL;
  assert_non_null(gpumc_model_flaw(&model));
}

static void test_flaws_of_instances_are_found(void **state)
{
  (void)state;
  struct gpumc_model good, model;
  make(gpumc_models()[0], block_of(gpumc_models()[0]->name), &good);
  assert_null(gpumc_instance_flaw(&good));
  model = good;
  model.bound[1] = 0;
  assert_non_null(gpumc_instance_flaw(&model));
  model = good;
  model.pair[1].spacing = 0;
  assert_non_null(gpumc_instance_flaw(&model));
  model = good;
  model.samples = 0;
  assert_non_null(gpumc_instance_flaw(&model));
  model = good;
  model.beta_unit[0] = '\0';
  assert_non_null(gpumc_instance_flaw(&model));
  const struct gpumc_kernel_ops exchanges = {.exchange = good.ops->kernels[0]->exchange};
  const struct gpumc_kernel_ops *const kernels[] = {&exchanges, NULL};
  struct gpumc_model_ops ops = *good.ops;
  ops.kernels = kernels;
  model = good;
  model.ops = &ops;
  assert_non_null(gpumc_instance_flaw(&model));
  model.pair[0].unit = 0;
  assert_null(gpumc_instance_flaw(&model));
  good.ops->destroy(&good);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_registered_models),
      cmocka_unit_test(test_registered_algorithms),
      cmocka_unit_test(test_flaws_are_found),
      cmocka_unit_test(test_flaws_of_instances_are_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
