/* Instances of models, and the kernels that take them. */
#include "support/kernel_cases.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/run/language.h"
#include "support/cases.h"
#include "support/status.h"
#include "support/test_device.h"
#include "support/work_directory.h"

#define SPINS                                                                                      \
  {                                                                                                \
    0.35, 0.2                                                                                      \
  }
#define DISKS                                                                                      \
  {                                                                                                \
    5.0                                                                                            \
  }
const struct kernel_instance kernel_instances[] = {
    {"ising2d", "shape: [64, 4]", SPINS, 0, false},
    {"ising2d", "shape: [6, 4], J: -0.7, h: 0.3", SPINS, 0, false},
    {"ising2d", "shape: [1024, 512]", SPINS, 35, true},
    {"ising3d", "shape: [64, 2, 4]", SPINS, 0, false},
    {"ising3d", "shape: [4, 6, 2], h: 0.3", SPINS, 0, false},
    {"ising3d", "shape: [4, 4, 4], random_field: {distribution: bimodal, width: 0.5}", SPINS, 0,
     false},
    {"ising3d", "shape: [4, 2, 4], random_field: {distribution: gaussian, width: 0.5}", SPINS, 0,
     false},
    {"ea", "shape: [6, 4], couplings: bimodal", SPINS, 0, false},
    {"ea", "shape: [4, 4, 2], couplings: gaussian, sample: 5", SPINS, 0, false},
    {"ea", "shape: [256, 256], couplings: bimodal", SPINS, 35, true},
    {"heisenberg", "shape: [8]", SPINS, 0, false},
    {"heisenberg", "shape: [6, 4], components: 2, h: 0.3", SPINS, 0, false},
    {"heisenberg", "shape: [4, 2, 4], couplings: gaussian", SPINS, 0, false},
    {"heisenberg", "shape: [256, 256]", SPINS, 5, true},
    {"heisenberg", "shape: [2052, 1030], components: 2", SPINS, 3, true},
    {"hard_disks", "particles: 20, packing_fraction: 0.6", DISKS, 0, false},
    {"hard_disks", "particles: 9, packing_fraction: 0.1", DISKS, 0, false},
    {"hard_disks", "lattice: [4, 6], packing_fraction: 0.6, start: lattice", DISKS, 0, false},
    {"hard_disks", "lattice: [4, 6], packing_fraction: 0.6, start: mixed", DISKS, 0, false},
    {"hard_disks", "particles: 3, box: [6, 6], start: file, file: disks.txt", DISKS, 0, false},
    {"hard_disks", "particles: 4000, packing_fraction: 0.6", DISKS, 3, true},
};

/* Keys specific to kernels that change what they keep or how they draw. */
static const struct {
  const char *variant, *keys;
} variations[] = {
    {"tiled", "hits: 2, order: symmetrised"},
    {"tiled", "generator: lcg32"},
    {"tiled", "generator: lagged_fibonacci_521"},
    {"checkerboard", "confine: false"},
};

/* Returns false if the kernel refuses the instance or the keys. */
static bool load(const struct kernel_instance *instance, const char *variant, const char *keys,
                 struct gpumc_config *config)
{
  const bool disks = strcmp(instance->model, "hard_disks") == 0;
  char text[1024];
  struct gpumc_error error = {0};
  snprintf(text, sizeof text,
           "gpumc: 1\nseed: 7\noutput: case.h5\nmodel: {name: %s, %s}\nalgorithm: {name: %s, "
           "thermalization: 4, sweeps: 8, interval: 2}\nkernel: {device: %s, variant: %s%s%s}\n",
           instance->model, instance->keys, disks ? "mpmc" : "canonical, beta: {values: [0.3]}",
           test_device_name(), variant, keys[0] != '\0' ? ", " : "", keys);
  write_file("case.yaml", text, strlen(text));
  const enum gpumc_status status = gpumc_config_load("case.yaml", NULL, 0, config, &error);
  if (status == GPUMC_OK)
    return true;
  if (strcmp(variant, "auto") == 0 || strstr(gpumc_error_text(&error), "kernel") == NULL)
    fail_msg("%s: %s", text, gpumc_error_text(&error));
  gpumc_error_free(&error);
  gpumc_config_free(config);
  return false;
}

void kernel_instance_open(const struct kernel_instance *instance, struct gpumc_model *model)
{
  struct gpumc_config config;
  struct gpumc_error error = {0};
  assert_true(load(instance, "auto", "", &config));
  const struct gpumc_params params = gpumc_task_params(config.tasks, "model");
  assert_ok(gpumc_model_create(config.tasks->model, &params, model, &error), &error);
  gpumc_config_free(&config);
}

/* Returns false if the options are refused. */
static bool read_options(const struct kernel_instance *instance,
                         const struct gpumc_kernel_ops *kernel, const char *keys,
                         struct gpumc_kernel_options *options)
{
  struct gpumc_config config;
  if (!load(instance, kernel->variant, keys, &config))
    return false;
  const struct gpumc_params params = gpumc_task_params(config.tasks, "kernel");
  if (kernel->read != NULL)
    kernel->read(&params, options);
  gpumc_config_free(&config);
  return true;
}

bool kernel_is_examined(const struct gpumc_kernel_ops *kernel)
{
  return kernel->absent == 0 && strcmp(kernel->device, test_device_name()) == 0;
}

void kernel_case_fix_controls(const struct kernel_case *at, struct gpumc_ensemble_plan *plan)
{
  plan->fixes = true;
  for (size_t c = 0; c < at->model->ops->n_controls; c++)
    plan->fixed[c] = isnan(at->model->control[c]) ? at->instance->value[c] : at->model->control[c];
}

/* All cases, in the order of the instances, with a model each of these. */
enum { CASES_MOST = 128, INSTANCES = sizeof kernel_instances / sizeof *kernel_instances };
static struct {
  struct gpumc_model model[INSTANCES];
  struct kernel_case of[CASES_MOST];
  size_t count;
} all;

/* Returns false if the kernel does not take the instance or these keys. */
static bool add(const struct kernel_instance *instance, const struct gpumc_model *model,
                const struct gpumc_kernel_ops *kernel, const char *with)
{
  struct kernel_case at = {instance, model, kernel, with, {0}, false};
  if (!read_options(instance, kernel, with, &at.options))
    return false;
  assert_true(all.count < CASES_MOST);
  all.of[all.count++] = at;
  return true;
}

static void add_all_of(const struct kernel_instance *instance, const struct gpumc_model *model)
{
  for (const struct gpumc_kernel_ops *const *kernel = model->ops->kernels; *kernel != NULL;
       kernel++) {
    if (!kernel_is_examined(*kernel) || !add(instance, model, *kernel, ""))
      continue;
    for (size_t i = 0; i < sizeof variations / sizeof *variations; i++)
      if (strcmp(variations[i].variant, (*kernel)->variant) == 0 &&
          !add(instance, model, *kernel, variations[i].keys) && test_device_is_cpu())
        fail_msg("%s {%s} is refused", variations[i].variant, variations[i].keys);
  }
}

/* Whether the instance is for the device under test. */
static bool is_for_device(size_t instance)
{
  return !kernel_instances[instance].for_gpus || !test_device_is_cpu();
}

void kernel_cases_each(void (*body)(const struct kernel_case *at))
{
  static const char disks[] = "1 1\n3 1.5\n2 4\n";
  write_file("disks.txt", disks, sizeof disks - 1);
  all.count = 0;
  for (size_t i = 0; i < INSTANCES; i++)
    if (is_for_device(i)) {
      kernel_instance_open(&kernel_instances[i], &all.model[i]);
      add_all_of(&kernel_instances[i], &all.model[i]);
    }
  for (size_t c = 0; c < all.count; c++)
    body(&all.of[c]);
  FOR_CASES (cases)
    for (size_t c = 0; c < all.count; c++) {
      struct kernel_case at = all.of[c];
      at.is_taken = cases_take(&cases);
      if (at.is_taken)
        body(&at);
    }
  for (size_t i = 0; i < INSTANCES; i++)
    if (is_for_device(i))
      all.model[i].ops->destroy(&all.model[i]);
}
