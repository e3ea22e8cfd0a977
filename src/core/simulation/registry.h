/* The available plugins, and the kernel that serves a model and an algorithm. */
#ifndef GPUMC_CORE_REGISTRY_H
#define GPUMC_CORE_REGISTRY_H

#include "core/simulation/algorithm.h"
#include "core/simulation/model.h"

/* Returns all models, NULL-terminated. */
const struct gpumc_model_ops *const *gpumc_models(void);
const struct gpumc_algorithm_ops *const *gpumc_algorithms(void);
/* Returns NULL if there is none of that name. */
const struct gpumc_model_ops *gpumc_model_find(const char *name);
const struct gpumc_algorithm_ops *gpumc_algorithm_find(const char *name);

/* Returns the operations of a kernel, of enum gpumc_operation. */
uint32_t gpumc_kernel_operations(const struct gpumc_kernel_ops *kernel);
/* Returns the name of one operation, "gather"; NULL for any other bit. */
const char *gpumc_operation_name(uint32_t operation);
/* Returns whether a kernel has all operations that an algorithm requires, and a move for its
 * target; appends to `missing` what it cannot do without those it lacks ("save replicas, exchange
 * replicas"). */
bool gpumc_kernel_serves(const struct gpumc_kernel_ops *kernel,
                         const struct gpumc_algorithm_ops *algorithm, struct gpumc_text *missing);

/* Returns whether that is the variant's name, or a former one. */
bool gpumc_kernel_is_named(const struct gpumc_kernel_ops *kernel, const char *variant);

/* Returns why a kernel cannot take an instance, whatever its own keys, or NULL. */
const char *
gpumc_kernel_refusal(const struct gpumc_kernel_ops *kernel, const struct gpumc_model *instance);

/* Returns GPUMC_INVALID: there is no kernel of that variant on the device; the message lists those
 * that exist. */
enum gpumc_status gpumc_kernel_refuse_variant(const struct gpumc_model_ops *model,
                                              const char *device, const char *variant,
                                              struct gpumc_error *error);

/* Returns the kernel of that name, even one that this build lacks; NULL: there is none. */
const struct gpumc_kernel_ops *
gpumc_kernel_named(const struct gpumc_model_ops *model, const char *device, const char *variant);

/* The requirements on a kernel. */
struct gpumc_kernel_wish {
  const struct gpumc_model_ops *model;
  const struct gpumc_model *instance; /* NULL: any instance */
  const struct gpumc_algorithm_ops *algorithm;
  const struct gpumc_params *params; /* the algorithm's block; NULL: whatever its keys request */
};

/* Chooses the model's kernel on `device` ("cpu", "cuda") of that variant ("auto": among those that
 * serve the algorithm with its keys and take the instance, the one of least cost for the replicas
 * that the keys request; the first of them if instance or keys are unknown). GPUMC_INVALID, with a
 * list of what exists: unknown variant (nearest name), one of another device or absent from this
 * build, one that lacks operations or the move that the algorithm needs or refuses the instance, no
 * kernel on that device. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_kernel_choose(const struct gpumc_kernel_wish *wish, const char *device, const char *variant,
                    const struct gpumc_kernel_ops **kernel, struct gpumc_error *error);

#endif
