/* Typed reading of resolved values, and a plugin's own mistakes. */
#include "core/config/params.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/config/config_internal.h"
#include "core/config/params_internal.h"

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

/* What a check that reads a key beside those that it declares gets, so that it comes to its end:
 * the internal error ends the task then. */
static const cJSON no = {.type = cJSON_False}, empty = {.type = cJSON_String, .valuestring = ""};
static const cJSON one = {.type = cJSON_Number, .valueint = 1, .valuedouble = 1};
static const cJSON list_of_one = {.type = cJSON_Array, .child = (cJSON *)&one};

static const cJSON *
find(const struct gpumc_params *params, const char *dotted_key, const cJSON *stand_in)
{
  const cJSON *value = params->values;
  if (!gpumc_params_may_read(params, dotted_key))
    return stand_in;
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
  return find(params, dotted_key, NULL) != NULL;
}

static int64_t integer_of(const cJSON *value)
{
  assert(cJSON_IsNumber(value) && value->valuedouble == floor(value->valuedouble));
  return (int64_t)cJSON_GetNumberValue(value);
}

static double real_of(const cJSON *value)
{
  assert(cJSON_IsNumber(value));
  return cJSON_GetNumberValue(value);
}

bool gpumc_params_boolean(const struct gpumc_params *params, const char *dotted_key)
{
  const cJSON *value = find(params, dotted_key, &no);
  assert(cJSON_IsBool(value));
  return cJSON_IsTrue(value);
}

int64_t gpumc_params_integer(const struct gpumc_params *params, const char *dotted_key)
{
  return integer_of(find(params, dotted_key, &one));
}

double gpumc_params_real(const struct gpumc_params *params, const char *dotted_key)
{
  return real_of(find(params, dotted_key, &one));
}

const char *gpumc_params_string(const struct gpumc_params *params, const char *dotted_key)
{
  const cJSON *value = find(params, dotted_key, &empty);
  assert(cJSON_IsString(value));
  return cJSON_GetStringValue(value);
}

struct gpumc_list gpumc_params_list(const struct gpumc_params *params, const char *dotted_key)
{
  const cJSON *list = find(params, dotted_key, &list_of_one);
  assert(cJSON_IsArray(list));
  return (struct gpumc_list){.next = list->child, .left = (size_t)cJSON_GetArraySize(list)};
}

static const cJSON *take(struct gpumc_list *list)
{
  const cJSON *value = list->next;
  assert(list->left > 0);
  if (list->left == 0)
    return &one;
  list->next = value->next;
  list->left--;
  return value;
}

int64_t gpumc_list_integer(struct gpumc_list *list)
{
  return integer_of(take(list));
}

double gpumc_list_real(struct gpumc_list *list)
{
  return real_of(take(list));
}

double gpumc_params_last(const struct gpumc_params *params, const char *dotted_key)
{
  struct gpumc_list list = gpumc_params_list(params, dotted_key);
  while (list.left > 1)
    take(&list);
  return gpumc_list_real(&list);
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
  gpumc_wrong_note(report, params->block != NULL ? params->block : "", dotted_key);
  if (length >= 0)
    free(message);
}
