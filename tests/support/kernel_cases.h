/* Every registered kernel on the device under test, with instances that it takes and its own keys.
 * For cmocka tests in a working directory (support/work_directory.h). */
#ifndef TESTS_SUPPORT_KERNEL_CASES_H
#define TESTS_SUPPORT_KERNEL_CASES_H

#include "core/simulation/model.h"

struct kernel_instance {
  const char *model, *keys;
  double value[GPUMC_CONTROLS_MAXIMUM]; /* values of the controls if they are moved or fixed */
  size_t replicas; /* the most replicas for this instance; 0: as many as a test likes */
  bool for_gpus;   /* too large for shared memory */
};

/* The first in the list is small. */
extern const struct kernel_instance kernel_instances[];

/* `with`: the kernel's own keys, which `options` come from; "": none. `is_taken`: the case is to be
 * examined; before, all are shown as they are, so that a test can tell what there is. */
struct kernel_case {
  const struct kernel_instance *instance;
  const struct gpumc_model *model;
  const struct gpumc_kernel_ops *kernel;
  const char *with;
  struct gpumc_kernel_options options;
  bool is_taken;
};

/* Calls `body` for every case without taking it, then for those that are taken (cases.h). */
void kernel_cases_each(void (*body)(const struct kernel_case *at));
/* Returns whether the kernel is in this build and on the device under test. */
bool kernel_is_examined(const struct gpumc_kernel_ops *kernel);
/* Leaves each control where the instance has it, or sets the listed value. */
void kernel_case_fix_controls(const struct kernel_case *at, struct gpumc_ensemble_plan *plan);

/* Opens an instance, which the caller destroys. */
void kernel_instance_open(const struct kernel_instance *instance, struct gpumc_model *model);

#endif
