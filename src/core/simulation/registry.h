/* The plugins there are, and which kernel serves a model and an algorithm. */
#ifndef GPUMC_CORE_REGISTRY_H
#define GPUMC_CORE_REGISTRY_H

#include "core/simulation/algorithm.h"
#include "core/simulation/model.h"

/* NULL-terminated. */
const struct gpumc_model_ops *const *gpumc_models(void);
const struct gpumc_algorithm_ops *const *gpumc_algorithms(void);
/* NULL when there is none of that name. */
const struct gpumc_model_ops *gpumc_model_find(const char *name);
const struct gpumc_algorithm_ops *gpumc_algorithm_find(const char *name);

/* The operations of a kernel, of enum gpumc_operation. */
uint32_t gpumc_kernel_operations(const struct gpumc_kernel_ops *kernel);
/* The name of one operation, "gather"; NULL of a bit that is none. */
const char *gpumc_operation_name(uint32_t operation);
/* Whether a kernel has all operations that an algorithm requires, and a move for its target; what
 * it cannot do without those that it lacks ("save replicas, exchange replicas") is appended to
 * `missing`. */
bool gpumc_kernel_serves(const struct gpumc_kernel_ops *kernel,
                         const struct gpumc_algorithm_ops *algorithm, struct gpumc_text *missing);

/* Whether that is the variant's name, or one that it had before. */
bool gpumc_kernel_is_named(const struct gpumc_kernel_ops *kernel, const char *variant);

/* Why a kernel cannot take an instance, whatever its own keys, or NULL. */
const char *
gpumc_kernel_refusal(const struct gpumc_kernel_ops *kernel, const struct gpumc_model *instance);

/* GPUMC_INVALID: there is no kernel of that variant on the device, and what there is. */
enum gpumc_status gpumc_kernel_refuse_variant(const struct gpumc_model_ops *model,
                                              const char *device, const char *variant,
                                              struct gpumc_error *error);

/* The kernel of that name, one that this build lacks too; NULL: there is none. */
const struct gpumc_kernel_ops *
gpumc_kernel_named(const struct gpumc_model_ops *model, const char *device, const char *variant);

/* What a kernel is wanted for. */
struct gpumc_kernel_wish {
  const struct gpumc_model_ops *model;
  const struct gpumc_model *instance; /* NULL: whatever the instance */
  const struct gpumc_algorithm_ops *algorithm;
  const struct gpumc_params *params; /* the algorithm's block; NULL: whatever its keys ask for */
};

/* The kernel of the model on `device` ("cpu", "cuda") of that variant ("auto": of those that serve
 * the algorithm with its keys and take the instance, the one of least cost for the replicas that
 * the keys ask for; the first of them where instance or keys are not known). GPUMC_INVALID with
 * what does exist: unknown variant (nearest name), one of another device or of none in this build,
 * one that lacks operations or the move that the algorithm needs or refuses the instance, no kernel
 * on that device. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_kernel_choose(const struct gpumc_kernel_wish *wish, const char *device, const char *variant,
                    const struct gpumc_kernel_ops **kernel, struct gpumc_error *error);

#endif
