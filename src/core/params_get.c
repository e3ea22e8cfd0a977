/* Typed reading of resolved values, and a plugin's own mistakes. */
#include "core/params.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/config_internal.h"
#include "core/params_internal.h"

static const cJSON *child_n(const cJSON *object, const char *name, size_t length)
{
  const cJSON *child = NULL;
  cJSON_ArrayForEach(child, object)
  {
    if (child->string != NULL && strncmp(child->string, name, length) == 0 &&
        child->string[length] == '\0')
      return child;
  }
  return NULL;
}

static const cJSON *find(const struct gpumc_params *params, const char *dotted_key)
{
  const cJSON *value = params->values;
  for (;;) {
    size_t length = strcspn(dotted_key, ".");
    value = child_n(value, dotted_key, length);
    if (value == NULL || dotted_key[length] == '\0')
      return value;
    dotted_key += length + 1;
  }
}

bool gpumc_params_has(const struct gpumc_params *params, const char *dotted_key)
{
  return find(params, dotted_key) != NULL;
}

static int64_t integer_of(const cJSON *value)
{
  assert(cJSON_IsNumber(value) && value->valuedouble == floor(value->valuedouble));
  return (int64_t)cJSON_GetNumberValue(value);
}

bool gpumc_params_boolean(const struct gpumc_params *params, const char *dotted_key)
{
  const cJSON *value = find(params, dotted_key);
  assert(cJSON_IsBool(value));
  return cJSON_IsTrue(value);
}

int64_t gpumc_params_integer(const struct gpumc_params *params, const char *dotted_key)
{
  return integer_of(find(params, dotted_key));
}

double gpumc_params_real(const struct gpumc_params *params, const char *dotted_key)
{
  const cJSON *value = find(params, dotted_key);
  assert(cJSON_IsNumber(value));
  return cJSON_GetNumberValue(value);
}

const char *gpumc_params_string(const struct gpumc_params *params, const char *dotted_key)
{
  const cJSON *value = find(params, dotted_key);
  assert(cJSON_IsString(value));
  return cJSON_GetStringValue(value);
}

size_t gpumc_params_count(const struct gpumc_params *params, const char *dotted_key)
{
  const cJSON *list = find(params, dotted_key);
  assert(cJSON_IsArray(list));
  return (size_t)cJSON_GetArraySize(list);
}

static const cJSON *element(const struct gpumc_params *params, const char *key, size_t index)
{
  const cJSON *list = find(params, key);
  assert(cJSON_IsArray(list) && index < (size_t)cJSON_GetArraySize(list));
  return cJSON_GetArrayItem(list, (int)index);
}

int64_t gpumc_params_integer_at(const struct gpumc_params *params, const char *key, size_t index)
{
  return integer_of(element(params, key, index));
}

double gpumc_params_real_at(const struct gpumc_params *params, const char *key, size_t index)
{
  const cJSON *value = element(params, key, index);
  assert(cJSON_IsNumber(value));
  return cJSON_GetNumberValue(value);
}

/* The place of the deepest part of the key that was given. */
static struct gpumc_mark place_of(const struct gpumc_params *params, const char *dotted_key)
{
  struct gpumc_mark mark = {.source = "configuration", .line = 1, .column = 1};
  const struct gpumc_node *node = params->node;
  while (node != NULL) {
    mark = node->mark;
    size_t length = strcspn(dotted_key, ".");
    const struct gpumc_entry *entry = gpumc_node_entry_n(node, dotted_key, length);
    node = entry != NULL ? entry->value : NULL;
    if (node != NULL && dotted_key[length] == '\0')
      return node->mark;
    dotted_key += dotted_key[length] == '\0' ? length : length + 1;
  }
  return mark;
}

void gpumc_params_mistake(const struct gpumc_params *params, struct gpumc_report *report,
                          const char *dotted_key, const char *format, ...)
{
  char *message = NULL;
  va_list arguments;
  va_start(arguments, format);
  int length = vasprintf(&message, format, arguments);
  va_end(arguments);
  gpumc_report_mistake(report, place_of(params, dotted_key), "%s",
                       length < 0 ? "a mistake (out of memory while describing it)" : message);
  if (length >= 0)
    free(message);
}
