/* Every kernel that the registry has on the device under test, with instances that it takes and
 * keys of its own. For cmocka tests in a work directory (support/work_directory.h). */
#ifndef TESTS_SUPPORT_KERNEL_CASES_H
#define TESTS_SUPPORT_KERNEL_CASES_H

#include "core/simulation/model.h"

struct kernel_instance {
  const char *model, *keys;
  double value[GPUMC_CONTROLS_MAXIMUM]; /* of the controls, where they are moved or fixed */
  size_t replicas; /* that are not too many for it; 0: as many as a test likes */
  bool for_gpus;   /* larger than what stands in shared memory */
};

/* The first one of the list is small. */
extern const struct kernel_instance kernel_instances[];

/* `with`: keys of the kernel's own, of which `options` are; "": none. */
struct kernel_case {
  const struct kernel_instance *instance;
  const struct gpumc_model *model;
  const struct gpumc_kernel_ops *kernel;
  const char *with;
  struct gpumc_kernel_options options;
};

/* Calls the body for every case. */
void kernel_cases_each(void (*body)(const struct kernel_case *at));
/* Whether the kernel is in this build and on the device under test. */
bool kernel_is_examined(const struct gpumc_kernel_ops *kernel);
/* A control stays where the instance has it, or at the value listed. */
void kernel_case_fix_controls(const struct kernel_case *at, struct gpumc_ensemble_plan *plan);

/* For the caller to destroy. */
void kernel_instance_open(const struct kernel_instance *instance, struct gpumc_model *model);

#endif
