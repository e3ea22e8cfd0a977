/* The kernel of a task: the variant that is chosen and pinned, the keys that kernels add to their
 * block, and the instruction set.
 */
#include <string.h>

#include "core/config/params.h"
#include "core/numerics/isa.h"
#include "core/run/language_internal.h"
#include "core/simulation/ladder.h"
#include "core/simulation/registry.h"

/* ---- the keys that kernels add to their block, once the kernel of a task is known ---- */

static bool has_key(const struct gpumc_kernel_ops *kernel, const char *name)
{
  return kernel->keys != NULL && gpumc_key_find(kernel->keys, name) != NULL;
}

/* The variant of the first kernel that has the key. */
static const char *owner_of(const struct gpumc_plugins *plugins, const char *name)
{
  for (size_t i = 0; plugins->models[i] != NULL; i++)
    for (size_t k = 0; plugins->models[i]->kernels[k] != NULL; k++)
      if (has_key(plugins->models[i]->kernels[k], name))
        return plugins->models[i]->kernels[k]->variant;
  return "";
}

/* A kernel takes no key of another one but at its default, and has no use for it then: it stays out
 * of the task unless it was written down. */
static void refuse_key(struct gpumc_language *language, const struct gpumc_params *params,
                       cJSON *block, const struct gpumc_kernel_ops *kernel,
                       const struct gpumc_key *key)
{
  const char *name = key->name;
  const cJSON *value = cJSON_GetObjectItemCaseSensitive(block, name);
  if (value == NULL || gpumc_wrong_has(&language->report, params->block, name))
    return;
  const char *owner = owner_of(language->plugins, name);
  if (!gpumc_key_has_default(key, value))
    gpumc_params_mistake(params, &language->report, name,
                         "kernel.%s applies to the %s kernel only, not to %s: set "
                         "kernel.variant: %s, or leave kernel.%s out",
                         name, owner, kernel->variant, owner, name);
  else if (!gpumc_params_given(params, name))
    cJSON_DeleteItemFromObjectCaseSensitive(block, name);
}

/* The names of the kernel's own keys, separated by blanks. False when memory ran out. */
static bool list_keys(const struct gpumc_kernel_ops *kernel, struct gpumc_text *names)
{
  for (const struct gpumc_key *key = kernel->keys; key->name != NULL; key++)
    gpumc_text_append(names, "%s ", key->name);
  return !names->failed;
}

/* The keys of kernels in `block`, the resolved `kernel` block that `params` views: mistakes where a
 * kernel is given one of another, or where its own do not suit the instance (NULL: there is none).
 * False when memory ran out. */
static bool settle_kernel_keys(struct gpumc_language *language, const struct gpumc_params *params,
                               cJSON *block, const struct gpumc_model *instance,
                               const struct gpumc_kernel_ops *kernel)
{
  struct gpumc_text names = {0};
  struct gpumc_params keys;
  for (const struct gpumc_key *key = gpumc_own_keys(&language->tables); key->name != NULL; key++)
    if (!has_key(kernel, key->name))
      refuse_key(language, params, block, kernel, key);
  if (instance == NULL || kernel->keys == NULL || kernel->refuses == NULL)
    return true;
  if (list_keys(kernel, &names) &&
      gpumc_params_narrow(params, &language->report, gpumc_text_string(&names), &keys)) {
    struct gpumc_kernel_options options;
    const char *key = NULL;
    kernel->read(&keys, &options);
    const char *refusal = kernel->refuses(instance, &options, &key);
    if (refusal != NULL)
      gpumc_params_mistake(params, &language->report, key, "kernel %s: %s", kernel->variant,
                           refusal);
  }
  const bool good = !names.failed;
  gpumc_text_free(&names);
  return good;
}

/* Mistakes of its keys beside the algorithm's `interval`; `params` and `algorithm` view the
 * resolved blocks. False when memory ran out. */
static bool check_kernel_keys(struct gpumc_language *language, const struct gpumc_params *params,
                              const struct gpumc_params *algorithm,
                              const struct gpumc_kernel_ops *kernel)
{
  struct gpumc_text names = {0};
  struct gpumc_params keys, times;
  if (kernel->check == NULL ||
      !gpumc_params_narrow(algorithm, &language->report, "interval", &times))
    return true;
  if (list_keys(kernel, &names) &&
      gpumc_params_narrow(params, &language->report, gpumc_text_string(&names), &keys) &&
      gpumc_params_has(&times, "interval"))
    kernel->check(&keys, gpumc_params_integer(&times, "interval"), &language->report);
  const bool good = !names.failed;
  gpumc_text_free(&names);
  return good;
}

/* Mistakes at values of the moved control that the instance (NULL: there is none) does not have
 * with this kernel and its keys; `params` and `algorithm` view the resolved blocks. */
static void check_moved(struct gpumc_language *language, const struct gpumc_params *params,
                        const struct gpumc_params *algorithm, const struct gpumc_model *instance,
                        const struct gpumc_kernel_ops *kernel)
{
  struct gpumc_params keys, moved;
  if (instance == NULL || kernel->check_value == NULL ||
      !gpumc_keys_move_controls(language->algorithm->keys) ||
      !gpumc_params_narrow(algorithm, &language->report, "control", &moved) ||
      !gpumc_params_has(&moved, "control") ||
      !gpumc_params_narrow(params, &language->report, NULL, &keys))
    return;
  struct gpumc_kernel_options options = {0};
  if (kernel->read != NULL)
    kernel->read(&keys, &options);
  gpumc_control_check_values(&moved, instance, kernel, &options, &language->report);
}

/* ---- the variant ---- */

/* A level that this build does not have can never run; one that this machine lacks may run on
 * another. */
static void check_instruction_set(struct gpumc_language *language, const struct gpumc_node *root,
                                  const cJSON *resolved)
{
  const struct gpumc_params kernel = gpumc_language_view(language, resolved, root, "kernel");
  struct gpumc_params isa;
  if (!gpumc_params_narrow(&kernel, &language->report, "isa", &isa))
    return;
  const char *name = gpumc_params_string(&isa, "isa");
  if (!gpumc_isa_is_compiled(name))
    gpumc_params_mistake(&isa, &language->report, "isa",
                         "kernel.isa: this build supports %s, not %s", gpumc_isa_compiled(), name);
}

/* Where a refused kernel is reported: at kernel.variant, or at the algorithm that asks for too
 * much. */
static struct gpumc_mark kernel_place(const struct gpumc_node *root)
{
  const struct gpumc_node *variant = gpumc_node_find(root, "kernel.variant");
  return variant != NULL ? variant->mark : gpumc_node_find(root, "algorithm.name")->mark;
}

/* A kernel for the CPU pins the trajectory; a variant of another device alone is accepted too. */
static bool choose_kernel(const struct gpumc_kernel_wish *wish, const char *variant,
                          const struct gpumc_kernel_ops **kernel, struct gpumc_error *error)
{
  const struct gpumc_kernel_ops *const *kernels = wish->model->kernels;
  const struct gpumc_kernel_ops *const named = gpumc_kernel_named(wish->model, NULL, variant);
  const bool elsewhere = named != NULL && named->absent == 0 &&
                         gpumc_kernel_named(wish->model, "cpu", variant) == NULL;
  if (gpumc_kernel_choose(wish, elsewhere ? named->device : "cpu", variant, kernel, error) ==
      GPUMC_OK)
    return true;
  for (size_t i = 0; kernels[i] != NULL; i++) {
    struct gpumc_error unused = {0};
    enum gpumc_status status =
        gpumc_kernel_choose(wish, kernels[i]->device, variant, kernel, &unused);
    gpumc_error_free(&unused);
    if (status == GPUMC_OK)
      return true;
  }
  return false;
}

/* The whole block, which has no mistakes. */
static bool view_whole(struct gpumc_language *language, const cJSON *resolved,
                       const struct gpumc_node *root, const char *block, struct gpumc_params *whole)
{
  const struct gpumc_params closed = gpumc_language_view(language, resolved, root, block);
  return gpumc_params_narrow(&closed, &language->report, NULL, whole);
}

/* Only the instance, which is not made, would tell which kernel an automatic variant is. */
static bool is_open(struct gpumc_language *language, const cJSON *resolved, const char *variant)
{
  struct gpumc_params model;
  return language->look && strcmp(variant, "auto") == 0 &&
         view_whole(language, resolved, NULL, "model", &model) &&
         gpumc_language_reads_file(language, &model);
}

/* A variant that no model has; `place` of the name. */
static void
refuse_for_all(struct gpumc_language *language, struct gpumc_mark place, const char *variant)
{
  const struct gpumc_model_ops *const *models = language->plugins->models;
  const char *nearest = NULL;
  for (size_t i = 0; models[i] != NULL; i++) {
    if (gpumc_kernel_named(models[i], NULL, variant) != NULL)
      return;
    for (size_t k = 0; models[i]->kernels[k] != NULL; k++) {
      const char *pair[] = {nearest, models[i]->kernels[k]->variant};
      nearest =
          gpumc_nearest_name(variant, nearest != NULL ? pair : pair + 1, nearest != NULL ? 2 : 1);
    }
  }
  gpumc_report_mistake(&language->report, place, "no model has a kernel variant '%s'%s%s%s",
                       variant, nearest != NULL ? "; did you mean '" : "",
                       nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
}

/* Where no kernel can be chosen, since it is not known for what: whether the model, or that which
 * is probably meant, has a variant of this name. */
static void check_variant_name(struct gpumc_language *language, const struct gpumc_node *root,
                               const char *variant)
{
  const struct gpumc_node *node = gpumc_node_find(root, "kernel.variant");
  struct gpumc_error error = {0};
  if (node == NULL || strcmp(variant, "auto") == 0)
    return;
  if (language->model == NULL)
    refuse_for_all(language, node->mark, variant);
  else if (gpumc_kernel_named(language->model, NULL, variant) == NULL &&
           gpumc_kernel_refuse_variant(language->model, "cpu", variant, &error) != GPUMC_OK)
    gpumc_report_mistake(&language->report, node->mark, "%s", gpumc_error_text(&error));
  gpumc_error_free(&error);
}

/* `*kernel`: the one that was chosen, or NULL where there is none or it stays open. False when
 * memory ran out. */
static bool pin_variant(struct gpumc_language *language, const struct gpumc_node *root,
                        const struct gpumc_kernel_wish *wish, cJSON *resolved,
                        const struct gpumc_kernel_ops **kernel)
{
  struct gpumc_error error = {0};
  const struct gpumc_params block = gpumc_language_view(language, resolved, root, "kernel");
  struct gpumc_params params;
  if (!gpumc_params_narrow(&block, &language->report, "variant", &params))
    return true;
  const char *variant = gpumc_params_string(&params, "variant");
  if (wish->model == NULL || wish->algorithm == NULL) {
    check_variant_name(language, root, variant);
    return true;
  }
  bool good = true;
  if (choose_kernel(wish, variant, kernel, &error)) {
    const bool open = is_open(language, resolved, variant);
    cJSON *values = cJSON_GetObjectItemCaseSensitive(resolved, "kernel");
    if (!open)
      good = gpumc_json_replace(values, "variant", cJSON_CreateString((*kernel)->variant));
    good = settle_kernel_keys(language, &block, values, wish->instance, *kernel) && good;
    if (open)
      *kernel = NULL;
  } else {
    gpumc_report_mistake(&language->report, kernel_place(root), "%s", gpumc_error_text(&error));
  }
  gpumc_error_free(&error);
  return good;
}

/* A device that is named has a kernel of the variant, if perhaps in another build. */
static void check_device(struct gpumc_language *language, const struct gpumc_params *params,
                         const struct gpumc_kernel_ops *kernel)
{
  struct gpumc_error error = {0};
  struct gpumc_params key;
  if (!gpumc_params_narrow(params, &language->report, "device", &key))
    return;
  const char *device = gpumc_params_string(&key, "device");
  const char *const kind = strncmp(device, "cuda", 4) == 0 ? "cuda" : device;
  if (strcmp(kind, "auto") == 0 ||
      gpumc_kernel_named(language->model, kind, kernel->variant) != NULL)
    return;
  if (gpumc_kernel_refuse_variant(language->model, kind, kernel->variant, &error) != GPUMC_OK)
    gpumc_params_mistake(&key, &language->report, "device", "%s", gpumc_error_text(&error));
  gpumc_error_free(&error);
}

/* Of an algorithm that has replicas walk, for an instance that does not. */
static void check_walk(struct gpumc_language *language, const struct gpumc_node *root,
                       const struct gpumc_kernel_wish *wish)
{
  if (wish->model != NULL && wish->instance != NULL && wish->instance->unwalkable != NULL &&
      wish->algorithm != NULL && (wish->algorithm->required & GPUMC_OPERATION_WALK) != 0)
    gpumc_report_mistake(&language->report, gpumc_node_find(root, "algorithm.name")->mark,
                         "algorithm %s cannot run model %s, which does not walk under a tabulated "
                         "weight: %s",
                         wish->algorithm->name, wish->model->name, wish->instance->unwalkable);
}

bool gpumc_language_settle_kernel(struct gpumc_language *language, const struct gpumc_node *root,
                                  const struct gpumc_model *instance, bool suits, cJSON *resolved,
                                  const struct gpumc_kernel_ops **kernel)
{
  struct gpumc_params whole;
  const struct gpumc_params algorithm = gpumc_language_view(language, resolved, root, "algorithm");
  const struct gpumc_params own = gpumc_language_view(language, resolved, root, "kernel");
  const struct gpumc_kernel_wish wish = {
      .model = language->model_is_guess ? NULL : language->model,
      .instance = instance,
      .algorithm = language->algorithm_is_guess || !suits ? NULL : language->algorithm,
      .params = gpumc_params_narrow(&algorithm, &language->report, NULL, &whole) ? &whole : NULL,
  };
  *kernel = NULL;
  check_instruction_set(language, root, resolved);
  check_walk(language, root, &wish);
  if (!pin_variant(language, root, &wish, resolved, kernel))
    return false;
  if (*kernel == NULL)
    return true;
  if (!check_kernel_keys(language, &own, &algorithm, *kernel) ||
      !gpumc_language_check_moves(language, root, resolved, *kernel))
    return false;
  check_device(language, &own, *kernel);
  check_moved(language, &own, &algorithm, instance, *kernel);
  return true;
}
