/* The keys of kernels with tiles, once the kernel of a task is known. */
#include <stdlib.h>
#include <string.h>

#include "core/language_internal.h"
#include "core/params_internal.h"
#include "core/tiling.h"

static bool is_default(const struct gpumc_key *key, const cJSON *value)
{
  if (cJSON_IsNumber(value))
    return value->valuedouble == strtod(key->default_text, NULL);
  return strcmp(cJSON_GetStringValue(value), key->default_text) == 0;
}

/* A kernel without tiles takes none of the keys but at its default, and has no use for it then: it
 * stays out of the task unless it was written down. */
static void refuse_keys(struct gpumc_language *language, const struct gpumc_params *params,
                        cJSON *block, const struct gpumc_kernel_ops *kernel)
{
  for (size_t i = 0; gpumc_tiling_keys[i] != NULL; i++) {
    const char *name = gpumc_tiling_keys[i];
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(block, name);
    if (value == NULL)
      continue;
    if (!is_default(gpumc_key_find(gpumc_kernel_keys(), name), value))
      gpumc_params_mistake(params, &language->report, name,
                           "kernel.%s is for kernels with tiles, not for %s: set kernel.variant: "
                           "tiled, or leave kernel.%s out",
                           name, kernel->variant, name);
    else if (params->node == NULL || gpumc_node_find(params->node, name) == NULL)
      cJSON_DeleteItemFromObjectCaseSensitive(block, name);
  }
}

/* What is no value of a key has been told already. */
static bool are_values(const struct gpumc_params *params)
{
  bool good = true;
  for (size_t i = 0; gpumc_tiling_keys[i] != NULL && params->node != NULL; i++) {
    const struct gpumc_key *key = gpumc_key_find(gpumc_kernel_keys(), gpumc_tiling_keys[i]);
    const struct gpumc_node *node = gpumc_node_find(params->node, key->name);
    struct gpumc_report report = {0};
    if (node != NULL)
      cJSON_Delete(gpumc_key_value(key, node, key->name, &report));
    good = good && report.calls == 0;
    gpumc_report_free(&report);
  }
  return good;
}

void gpumc_language_settle_tiling(struct gpumc_language *language,
                                  const struct gpumc_params *params, cJSON *block,
                                  const struct gpumc_model *instance,
                                  const struct gpumc_kernel_ops *kernel)
{
  if ((kernel->capabilities & GPUMC_CAN_TILE) == 0) {
    refuse_keys(language, params, block, kernel);
    return;
  }
  const struct gpumc_tiling tiling = gpumc_tiling_make(params);
  const char *refusal = NULL, *key = NULL;
  if (instance != NULL && kernel->refuses_tiling != NULL && are_values(params))
    refusal = kernel->refuses_tiling(instance, &tiling, &key);
  if (refusal != NULL)
    gpumc_params_mistake(params, &language->report, key, "kernel %s: %s", kernel->variant, refusal);
}

void gpumc_language_check_order(struct gpumc_language *language, const struct gpumc_params *params,
                                const struct gpumc_params *algorithm)
{
  const struct gpumc_tiling tiling = gpumc_tiling_make(params);
  if (tiling.order != GPUMC_ORDER_SYMMETRISED || !gpumc_params_has(algorithm, "interval"))
    return;
  const int64_t interval = gpumc_params_integer(algorithm, "interval");
  if (interval % tiling.hits != 0)
    gpumc_params_mistake(
        params, &language->report, "order",
        "kernel.order: symmetrised has detailed balance only if the sweeps between "
        "two measurements, algorithm.interval = %lld, are a multiple of "
        "kernel.hits = %u: make them one, or use kernel.order: forward",
        (long long)interval, tiling.hits);
}
