/* The keys of kernels with tiles, once the kernel of a task is known. */
#include <stdlib.h>
#include <string.h>

#include "core/config/params_internal.h"
#include "core/run/language_internal.h"
#include "models/ising/tiled/tiling.h"

static const char all_keys[] = "hits tile order generator";

static bool is_default(const struct gpumc_key *key, const cJSON *value)
{
  if (cJSON_IsNumber(value))
    return value->valuedouble == strtod(key->default_text, NULL);
  return strcmp(cJSON_GetStringValue(value), key->default_text) == 0;
}

/* A kernel without tiles takes none of the keys but at its default, and has no use for it then: it
 * stays out of the task unless it was written down. */
static void refuse_key(struct gpumc_language *language, const struct gpumc_params *params,
                       cJSON *block, const struct gpumc_kernel_ops *kernel, const char *name)
{
  const cJSON *value = cJSON_GetObjectItemCaseSensitive(block, name);
  if (value == NULL || gpumc_wrong_has(&language->report, params->block, name))
    return;
  if (!is_default(gpumc_key_find(gpumc_kernel_keys(), name), value))
    gpumc_params_mistake(params, &language->report, name,
                         "kernel.%s applies to the tiled kernel only, not to %s: set "
                         "kernel.variant: tiled, or leave kernel.%s out",
                         name, kernel->variant, name);
  else if (params->node == NULL || gpumc_node_find(params->node, name) == NULL)
    cJSON_DeleteItemFromObjectCaseSensitive(block, name);
}

void gpumc_language_settle_tiling(struct gpumc_language *language,
                                  const struct gpumc_params *params, cJSON *block,
                                  const struct gpumc_model *instance,
                                  const struct gpumc_kernel_ops *kernel)
{
  struct gpumc_params keys;
  if ((kernel->capabilities & GPUMC_CAN_TILE) == 0) {
    for (size_t i = 0; gpumc_tiling_keys[i] != NULL; i++)
      refuse_key(language, params, block, kernel, gpumc_tiling_keys[i]);
    return;
  }
  if (instance == NULL || kernel->refuses_tiling == NULL ||
      !gpumc_params_narrow(params, &language->report, all_keys, &keys))
    return;
  const struct gpumc_tiling tiling = gpumc_tiling_make(&keys);
  const char *key = NULL;
  const char *refusal = kernel->refuses_tiling(instance, &tiling, &key);
  if (refusal != NULL)
    gpumc_params_mistake(params, &language->report, key, "kernel %s: %s", kernel->variant, refusal);
}

void gpumc_language_check_order(struct gpumc_language *language, const struct gpumc_params *params,
                                const struct gpumc_params *algorithm)
{
  struct gpumc_params keys, times;
  if (!gpumc_params_narrow(params, &language->report, all_keys, &keys) ||
      !gpumc_params_narrow(algorithm, &language->report, "interval", &times))
    return;
  const struct gpumc_tiling tiling = gpumc_tiling_make(&keys);
  if (tiling.order != GPUMC_ORDER_SYMMETRISED || !gpumc_params_has(&times, "interval"))
    return;
  const int64_t interval = gpumc_params_integer(&times, "interval");
  if (interval % tiling.hits != 0)
    gpumc_params_mistake(
        params, &language->report, "order",
        "kernel.order: symmetrised has detailed balance only if the sweeps between "
        "two measurements, algorithm.interval = %lld, are a multiple of "
        "kernel.hits = %u: make them one, or use kernel.order: forward",
        (long long)interval, tiling.hits);
}
