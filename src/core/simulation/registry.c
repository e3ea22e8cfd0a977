/* The plugins compiled in, and the choice of a kernel. */
#include "core/simulation/registry.h"

#include <math.h>
#include <string.h>

#include "core/simulation/shared_keys.h"

#define GPUMC_MODEL(model) extern const struct gpumc_model_ops gpumc_model_##model;
#include "models/models.def"
#include "plugins/models.def"
#undef GPUMC_MODEL
#define GPUMC_ALGORITHM(algorithm)                                                                 \
  extern const struct gpumc_algorithm_ops gpumc_algorithm_##algorithm;
#include "algorithms/algorithms.def"
#include "plugins/algorithms.def"
#undef GPUMC_ALGORITHM

static const struct gpumc_model_ops *const models[] = {
#define GPUMC_MODEL(model) &gpumc_model_##model,
#include "models/models.def"
#include "plugins/models.def"
#undef GPUMC_MODEL
    NULL};

static const struct gpumc_algorithm_ops *const algorithms[] = {
#define GPUMC_ALGORITHM(algorithm) &gpumc_algorithm_##algorithm,
#include "algorithms/algorithms.def"
#include "plugins/algorithms.def"
#undef GPUMC_ALGORITHM
    NULL};

enum { NAMES_MAXIMUM = 32 };

const struct gpumc_model_ops *const *gpumc_models(void)
{
  return models;
}

const struct gpumc_algorithm_ops *const *gpumc_algorithms(void)
{
  return algorithms;
}

const struct gpumc_model_ops *gpumc_model_find(const char *name)
{
  for (size_t i = 0; models[i] != NULL; i++)
    if (strcmp(models[i]->name, name) == 0)
      return models[i];
  return NULL;
}

const struct gpumc_algorithm_ops *gpumc_algorithm_find(const char *name)
{
  for (size_t i = 0; algorithms[i] != NULL; i++)
    if (strcmp(algorithms[i]->name, name) == 0)
      return algorithms[i];
  return NULL;
}

static const struct {
  enum gpumc_operation bit;
  const char *name, *verb; /* what a kernel without it cannot do */
} operations[] = {
    {GPUMC_OPERATION_START, "start", "start"},
    {GPUMC_OPERATION_TRANSFER, "transfer", "save replicas"},
    {GPUMC_OPERATION_SWEEP, "sweep", "sweep"},
    {GPUMC_OPERATION_MEASURE, "measure", "measure"},
    {GPUMC_OPERATION_GATHER, "gather", "copy replicas"},
    {GPUMC_OPERATION_EXCHANGE, "exchange", "exchange replicas"},
    {GPUMC_OPERATION_COMPARE, "compare", "compare replicas"},
    {GPUMC_OPERATION_WALK, "walk", "walk under a tabulated weight"},
    {GPUMC_OPERATION_CLUSTERS, "clusters", "exchange clusters between replicas"},
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

uint32_t gpumc_kernel_operations(const struct gpumc_kernel_ops *kernel)
{
  if (kernel->absent != 0)
    return kernel->absent;
  const bool transfers = kernel->set != NULL && kernel->get != NULL;
  return (kernel->start != NULL ? GPUMC_OPERATION_START : 0u) |
         (transfers ? GPUMC_OPERATION_TRANSFER : 0u) |
         (kernel->sweep != NULL ? GPUMC_OPERATION_SWEEP : 0u) |
         (kernel->measure != NULL ? GPUMC_OPERATION_MEASURE : 0u) |
         (kernel->gather != NULL ? GPUMC_OPERATION_GATHER : 0u) |
         (kernel->exchange != NULL ? GPUMC_OPERATION_EXCHANGE : 0u) |
         (kernel->compare != NULL ? GPUMC_OPERATION_COMPARE : 0u) |
         (kernel->walk != NULL ? GPUMC_OPERATION_WALK : 0u) |
         (kernel->exchange_clusters != NULL ? GPUMC_OPERATION_CLUSTERS : 0u);
}

const char *gpumc_operation_name(uint32_t operation)
{
  for (size_t i = 0; i < OPERATIONS; i++)
    if ((uint32_t)operations[i].bit == operation)
      return operations[i].name;
  return NULL;
}

static void append_missing(struct gpumc_text *missing, const char *verb)
{
  gpumc_text_append(missing, "%s%s", missing->length == 0 ? "" : ", ", verb);
}

/* Returns whether a kernel has these operations; appends what it cannot do without those it
 * lacks. */
static bool
has_operations(const struct gpumc_kernel_ops *kernel, uint32_t required, struct gpumc_text *missing)
{
  const uint32_t lacking = required & ~gpumc_kernel_operations(kernel);
  for (size_t i = 0; i < OPERATIONS; i++)
    if ((lacking & operations[i].bit) != 0)
      append_missing(missing, operations[i].verb);
  return lacking == 0;
}

bool gpumc_kernel_serves(const struct gpumc_kernel_ops *kernel,
                         const struct gpumc_algorithm_ops *algorithm, struct gpumc_text *missing)
{
  const bool can = has_operations(kernel, algorithm->required, missing);
  const bool samples = gpumc_kernel_samples(kernel, algorithm->target);
  if (!samples)
    append_missing(missing, algorithm->target == GPUMC_ATHERMAL ? "sample states of equal weight"
                                                                : "sample Boltzmann weights");
  return can && samples;
}

/* Lists each variant (or device) of the kernels in this build once. `device`: NULL for all. */
static size_t distinct_names(const struct gpumc_model_ops *model, const char *device,
                             bool of_devices, const char *names[NAMES_MAXIMUM])
{
  size_t count = 0;
  for (size_t i = 0; model->kernels[i] != NULL && count < NAMES_MAXIMUM; i++) {
    const struct gpumc_kernel_ops *kernel = model->kernels[i];
    if (kernel->absent || (device != NULL && strcmp(kernel->device, device) != 0))
      continue;
    const char *name = of_devices ? kernel->device : kernel->variant;
    bool known = false;
    for (size_t j = 0; j < count && !known; j++)
      known = strcmp(names[j], name) == 0;
    if (!known)
      names[count++] = name;
  }
  return count;
}

static void append_names(struct gpumc_text *text, const char *const *names, size_t count)
{
  for (size_t i = 0; i < count; i++)
    gpumc_text_append(text, "%s%s", i == 0 ? "" : ", ", names[i]);
}

bool gpumc_kernel_is_named(const struct gpumc_kernel_ops *kernel, const char *variant)
{
  return strcmp(kernel->variant, variant) == 0 ||
         (kernel->former != NULL && strcmp(kernel->former, variant) == 0);
}

/* Returns the current name of a variant. */
static const char *present_name(const struct gpumc_model_ops *model, const char *variant)
{
  for (size_t i = 0; variant != NULL && model->kernels[i] != NULL; i++)
    if (gpumc_kernel_is_named(model->kernels[i], variant))
      return model->kernels[i]->variant;
  return variant;
}

/* Finds a kernel on that device or of that variant: the first, but kernels of this build come
 * before others. NULL for any device or any variant. */
static const struct gpumc_kernel_ops *
find_kernel(const struct gpumc_model_ops *model, const char *device, const char *variant)
{
  const struct gpumc_kernel_ops *found = NULL;
  variant = present_name(model, variant);
  for (size_t i = 0; model->kernels[i] != NULL; i++) {
    const struct gpumc_kernel_ops *kernel = model->kernels[i];
    if ((device == NULL || strcmp(kernel->device, device) == 0) &&
        (variant == NULL || strcmp(kernel->variant, variant) == 0) &&
        (found == NULL || (found->absent && !kernel->absent)))
      found = kernel;
  }
  return found;
}

const struct gpumc_kernel_ops *
gpumc_kernel_named(const struct gpumc_model_ops *model, const char *device, const char *variant)
{
  return find_kernel(model, device, variant);
}

static enum gpumc_status
refuse_device(const struct gpumc_model_ops *model, const char *device, struct gpumc_error *error)
{
  const char *names[NAMES_MAXIMUM];
  struct gpumc_text list = {0};
  const char *why =
      find_kernel(model, device, NULL) != NULL ? " in this gpumc, built without CUDA" : "";
  append_names(&list, names, distinct_names(model, NULL, true, names));
  enum gpumc_status status = gpumc_error_set(
      error, GPUMC_INVALID, "model %s has no kernel for %s%s; it has kernels for: %s", model->name,
      device, why, gpumc_text_string(&list));
  gpumc_text_free(&list);
  return status;
}

/* Refuses a variant that exists only on another device. */
static enum gpumc_status refuse_elsewhere(const struct gpumc_model_ops *model, const char *device,
                                          const struct gpumc_kernel_ops *elsewhere,
                                          struct gpumc_error *error)
{
  if (elsewhere->absent)
    return gpumc_error_set(
        error, GPUMC_INVALID,
        "kernel variant '%s' of model %s runs only on %s, and this gpumc was built without CUDA",
        elsewhere->variant, model->name, elsewhere->device);
  return gpumc_error_set(error, GPUMC_INVALID,
                         "kernel variant '%s' of model %s runs on %s, not on %s",
                         elsewhere->variant, model->name, elsewhere->device, device);
}

enum gpumc_status gpumc_kernel_refuse_variant(const struct gpumc_model_ops *model,
                                              const char *device, const char *variant,
                                              struct gpumc_error *error)
{
  const char *names[NAMES_MAXIMUM] = {NULL};
  struct gpumc_text list = {0};
  const struct gpumc_kernel_ops *elsewhere = find_kernel(model, NULL, variant);
  if (elsewhere != NULL)
    return refuse_elsewhere(model, device, elsewhere, error);
  size_t count = distinct_names(model, device, false, names);
  const char *nearest = gpumc_nearest_name(variant, names, count);
  append_names(&list, names, count);
  if (nearest != NULL)
    gpumc_text_append(&list, "; did you mean '%s'?", nearest);
  enum gpumc_status status = gpumc_error_set(
      error, GPUMC_INVALID, "model %s has no kernel variant '%s' on %s; its variants are: %s",
      model->name, variant, device, gpumc_text_string(&list));
  gpumc_text_free(&list);
  return status;
}

const char *
gpumc_kernel_refusal(const struct gpumc_kernel_ops *kernel, const struct gpumc_model *instance)
{
  const struct gpumc_kernel_options any = {0};
  const char *key;
  return instance == NULL || kernel->refuses == NULL ? NULL : kernel->refuses(instance, &any, &key);
}

/* Returns the operations that the keys of the algorithm require. */
static uint32_t needs_of(const struct gpumc_kernel_wish *wish)
{
  return wish->params != NULL && wish->algorithm->needs != NULL
             ? wish->algorithm->needs(wish->params)
             : 0;
}

/* Returns whether a kernel has all moves that the key `update` requests; if not, appends those that
 * it lacks. */
static bool makes_moves(const struct gpumc_kernel_wish *wish, const struct gpumc_kernel_ops *kernel,
                        struct gpumc_text *missing)
{
  const struct gpumc_update update = gpumc_update_of(wish->params);
  bool makes = true;
  for (size_t t = 0; t < update.count; t++) {
    const char *move = update.turn[t].move;
    bool listed = false;
    for (size_t before = 0; before < t; before++)
      listed = listed || strcmp(update.turn[before].move, move) == 0;
    if (listed || move == NULL || gpumc_kernel_move(kernel, move, wish->algorithm->target) != NULL)
      continue;
    makes = false;
    append_missing(missing, "do update: ");
    gpumc_text_append(missing, "%s", move);
  }
  return makes;
}

/* Returns whether a kernel can do what is wanted; if not, appends the reason. */
static bool does(const struct gpumc_kernel_wish *wish, const struct gpumc_kernel_ops *kernel,
                 struct gpumc_text *why_not)
{
  struct gpumc_text missing = {0};
  const char *separator = why_not->length == 0 ? "" : "; ";
  const char *refusal = gpumc_kernel_refusal(kernel, wish->instance);
  bool serves = gpumc_kernel_serves(kernel, wish->algorithm, &missing);
  serves = has_operations(kernel, needs_of(wish), &missing) && serves;
  if (wish->params != NULL && !makes_moves(wish, kernel, &missing))
    serves = false;
  if (!serves)
    gpumc_text_append(why_not, "%s%s cannot %s", separator, kernel->variant,
                      gpumc_text_string(&missing));
  else if (refusal != NULL)
    gpumc_text_append(why_not, "%s%s cannot simulate this model: %s", separator, kernel->variant,
                      refusal);
  gpumc_text_free(&missing);
  return serves && refusal == NULL;
}

/* Returns the move with which a kernel that is otherwise unsuitable would be suitable, else
 * NULL. */
static const char *
remedy_of(const struct gpumc_kernel_wish *wish, const struct gpumc_kernel_ops *kernel)
{
  struct gpumc_kernel_wish without = *wish;
  struct gpumc_text unused = {0};
  without.params = NULL;
  const struct gpumc_move *move = gpumc_kernel_move(kernel, NULL, wish->algorithm->target);
  const bool helps = move != NULL && has_operations(kernel, needs_of(wish), &unused) &&
                     does(&without, kernel, &unused);
  gpumc_text_free(&unused);
  return helps ? move->name : NULL;
}

/* `why_not`: for each kernel that was considered; `remedy`: the move with which one of them would
 * be suitable, or NULL. */
static enum gpumc_status refuse_kernels(const struct gpumc_kernel_wish *wish, const char *device,
                                        const char *why_not, const char *remedy,
                                        struct gpumc_error *error)
{
  const struct gpumc_kernel_ops *const *kernels = wish->model->kernels;
  struct gpumc_text able = {0}, unused = {0};
  for (size_t i = 0; kernels[i] != NULL; i++)
    if (!kernels[i]->absent && does(wish, kernels[i], &unused))
      gpumc_text_append(&able, "%s%s on %s", able.length == 0 ? "" : ", ", kernels[i]->variant,
                        kernels[i]->device);
  enum gpumc_status status = gpumc_error_set(
      error, GPUMC_INVALID,
      "no kernel of model %s on %s can run algorithm %s: %s; kernels that can: %s%s%s",
      wish->model->name, device, wish->algorithm->name, why_not,
      able.length == 0 ? "none" : gpumc_text_string(&able),
      remedy != NULL ? "; or use algorithm.update: " : "", remedy != NULL ? remedy : "");
  gpumc_text_free(&able);
  gpumc_text_free(&unused);
  return status;
}

/* Returns the cost of what the kernel is wanted for, per as many updates as there are sites;
 * infinite if unknown. */
static double cost_of(const struct gpumc_kernel_wish *wish, const struct gpumc_kernel_ops *kernel)
{
  if (wish->instance == NULL || wish->params == NULL || wish->algorithm->replicas == NULL ||
      kernel->cost == NULL)
    return (double)INFINITY;
  static const struct gpumc_ensemble_plan any;
  const double of_sweep =
      kernel->cost(wish->instance, &any, wish->algorithm->replicas(wish->params));
  return of_sweep *
         ((double)wish->instance->sites / gpumc_kernel_trials(kernel, wish->instance, &any));
}

enum gpumc_status gpumc_kernel_choose(const struct gpumc_kernel_wish *wish, const char *device,
                                      const char *variant, const struct gpumc_kernel_ops **kernel,
                                      struct gpumc_error *error)
{
  const struct gpumc_model_ops *model = wish->model;
  struct gpumc_text why_not = {0};
  const char *remedy = NULL;
  bool any = strcmp(variant, "auto") == 0, on_device = false;
  variant = present_name(model, variant);
  *kernel = NULL;
  for (size_t i = 0; model->kernels[i] != NULL && (any || *kernel == NULL); i++) {
    const struct gpumc_kernel_ops *candidate = model->kernels[i];
    if (candidate->absent || strcmp(candidate->device, device) != 0)
      continue;
    on_device = true;
    if (!any && strcmp(candidate->variant, variant) != 0)
      continue;
    if (does(wish, candidate, &why_not)) {
      if (*kernel == NULL || cost_of(wish, candidate) < cost_of(wish, *kernel))
        *kernel = candidate;
    } else if (remedy == NULL) {
      remedy = remedy_of(wish, candidate);
    }
  }
  enum gpumc_status status = GPUMC_OK;
  if (*kernel == NULL && !on_device)
    status = refuse_device(model, device, error);
  else if (*kernel == NULL && why_not.length == 0)
    status = gpumc_kernel_refuse_variant(model, device, variant, error);
  else if (*kernel == NULL)
    status = refuse_kernels(wish, device, gpumc_text_string(&why_not), remedy, error);
  gpumc_text_free(&why_not);
  return status;
}
