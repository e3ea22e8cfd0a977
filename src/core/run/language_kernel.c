/* The keys that kernels add to their block, once the kernel of a task is known. */
#include <stdlib.h>
#include <string.h>

#include "core/config/params.h"
#include "core/run/language_internal.h"
#include "core/simulation/shared_keys.h"
#include "core/simulation/steps.h"

static bool is_default(const struct gpumc_key *key, const cJSON *value)
{
  if (key->default_text == NULL)
    return false;
  if (cJSON_IsNumber(value))
    return value->valuedouble == strtod(key->default_text, NULL);
  return strcmp(cJSON_GetStringValue(value), key->default_text) == 0;
}

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
  if (!is_default(key, value))
    gpumc_params_mistake(params, &language->report, name,
                         "kernel.%s applies to the %s kernel only, not to %s: set "
                         "kernel.variant: %s, or leave kernel.%s out",
                         name, owner, kernel->variant, owner, name);
  else if (params->node == NULL || gpumc_node_find(params->node, name) == NULL)
    cJSON_DeleteItemFromObjectCaseSensitive(block, name);
}

/* The names of the kernel's own keys, separated by blanks. False when memory ran out. */
static bool list_keys(const struct gpumc_kernel_ops *kernel, struct gpumc_text *names)
{
  for (const struct gpumc_key *key = kernel->keys; key->name != NULL; key++)
    gpumc_text_append(names, "%s ", key->name);
  return !names->failed;
}

bool gpumc_language_settle_kernel_keys(struct gpumc_language *language,
                                       const struct gpumc_params *params, cJSON *block,
                                       const struct gpumc_model *instance,
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

bool gpumc_language_check_kernel_keys(struct gpumc_language *language,
                                      const struct gpumc_params *params,
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

void gpumc_language_check_step(struct gpumc_language *language, const struct gpumc_params *params,
                               const struct gpumc_params *algorithm,
                               const struct gpumc_kernel_ops *kernel)
{
  struct gpumc_params times, key;
  if (!gpumc_params_narrow(algorithm, &language->report, "update thermalization", &times))
    return;
  const struct gpumc_move *move =
      gpumc_kernel_move(kernel, gpumc_update_name(&times), language->algorithm->target);
  if (move == NULL || move->step == NULL || !gpumc_params_has(&times, "thermalization") ||
      !gpumc_params_narrow(params, &language->report, move->step->key, &key) ||
      gpumc_params_has(&key, move->step->key))
    return;
  if (gpumc_params_integer(&times, "thermalization") < GPUMC_STEP_FIRST)
    gpumc_params_mistake(&times, &language->report, "thermalization",
                         "%s tunes its %s in the first %d sweeps of the thermalization or more: "
                         "make it longer, or set kernel.%s",
                         move->name, move->step->label.name, GPUMC_STEP_FIRST, move->step->key);
}
