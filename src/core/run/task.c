/* A task: its blocks, the part that decides the numbers of its result, and how two such parts
 * differ. */
#include <stdlib.h>
#include <string.h>

#include "core/config/params.h"
#include "core/run/language_internal.h"
#include "core/simulation/registry.h"

struct gpumc_params gpumc_task_params(const struct gpumc_task *task, const char *block)
{
  const cJSON *values =
      block[0] == '\0' ? task->resolved : cJSON_GetObjectItemCaseSensitive(task->resolved, block);
  return (struct gpumc_params){.values = values};
}

const char *gpumc_task_file_key(const struct gpumc_task *task, const char *block)
{
  const struct gpumc_params params = gpumc_task_params(task, block);
  const char *key = strcmp(block, "model") == 0 ? task->model->file_key : task->algorithm->file_key;
  return key != NULL && gpumc_params_has(&params, key) ? key : NULL;
}

const char *gpumc_task_file(const struct gpumc_task *task, const char *block)
{
  const struct gpumc_params params = gpumc_task_params(task, block);
  const char *key = gpumc_task_file_key(task, block);
  return key != NULL ? gpumc_params_string(&params, key) : NULL;
}

void gpumc_task_free(struct gpumc_task *task)
{
  cJSON_Delete(task->resolved);
  cJSON_Delete(task->defaults);
  cJSON_Delete(task->warnings);
  free(task->output);
  free(task->label);
  free(task->typed_label);
}

/* ---- identity ---- */

static bool put(cJSON *object, const char *name, cJSON *value)
{
  if (value != NULL && cJSON_AddItemToObject(object, name, value))
    return true;
  cJSON_Delete(value);
  return false;
}

/* cJSON 1.7.15 continues without a name when there is no memory for one. */
bool gpumc_json_replace(cJSON *object, const char *name, cJSON *value)
{
  if (value != NULL && cJSON_ReplaceItemInObjectCaseSensitive(object, name, value))
    return value->string != NULL;
  cJSON_Delete(value);
  return false;
}

bool gpumc_json_fill(cJSON *values, const cJSON *defaults)
{
  const cJSON *value = NULL;
  bool good = true;
  cJSON_ArrayForEach(value, defaults)
  {
    cJSON *present = cJSON_GetObjectItemCaseSensitive(values, value->string);
    if (present == NULL)
      good = good && put(values, value->string, cJSON_Duplicate(value, true));
    else if (cJSON_IsObject(present) && cJSON_IsObject(value))
      good = good && gpumc_json_fill(present, value);
  }
  return good;
}

/* Whether this is a switch at its default, off: a task is the same for a program that does not have
 * it yet. */
static bool is_off(const struct gpumc_key *key, const cJSON *value)
{
  return key->type == GPUMC_KEY_BOOLEAN && cJSON_IsFalse(value) && key->default_text != NULL &&
         strcmp(key->default_text, "false") == 0;
}

/* Copies the values of the keys that decide; NULL if memory ran out. */
static cJSON *copy_deciding(const struct gpumc_key *keys, const cJSON *values)
{
  cJSON *copy = cJSON_CreateObject();
  for (; copy != NULL && keys->name != NULL; keys++) {
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(values, keys->name);
    if (value == NULL || keys->incidental || is_off(keys, value))
      continue;
    bool is_block = keys->type == GPUMC_KEY_MAPPING && keys->children != NULL;
    cJSON *child = is_block ? copy_deciding(keys->children, value) : cJSON_Duplicate(value, true);
    if (child != NULL && is_block && child->child == NULL) {
      cJSON_Delete(child);
    } else if (!put(copy, keys->name, child)) {
      cJSON_Delete(copy);
      return NULL;
    }
  }
  return copy;
}

/* Replaces the block, copied whole, by its deciding keys. */
static bool strip_block(const struct gpumc_language_tables *tables, cJSON *identity,
                        const cJSON *resolved, const char *block,
                        const struct gpumc_key *plugin_keys)
{
  static const char *const none[] = {NULL};
  struct gpumc_key *keys = gpumc_block_keys(tables, block, none, plugin_keys);
  if (keys == NULL)
    return false;
  cJSON *values = copy_deciding(keys, cJSON_GetObjectItemCaseSensitive(resolved, block));
  free(keys);
  return gpumc_json_replace(identity, block, values);
}

/* cJSON prints numbers to within an ulp; here two numbers look the same only if they are equal. */
static void append_json(struct gpumc_text *text, const cJSON *value)
{
  const cJSON *item = NULL;
  if (cJSON_IsNumber(value)) {
    gpumc_number_append(text, value->valuedouble);
  } else if (cJSON_IsArray(value) || cJSON_IsObject(value)) {
    bool is_array = cJSON_IsArray(value);
    gpumc_text_append(text, is_array ? "[" : "{");
    cJSON_ArrayForEach(item, value)
    {
      gpumc_text_append(text, "%s", item == value->child ? "" : ",");
      if (!is_array)
        gpumc_text_append(text, "\"%s\":", item->string);
      append_json(text, item);
    }
    gpumc_text_append(text, is_array ? "]" : "}");
  } else {
    char *printed = cJSON_PrintUnformatted(value);
    text->failed = text->failed || printed == NULL;
    gpumc_text_append(text, "%s", printed != NULL ? printed : "");
    free(printed);
  }
}

char *gpumc_json_text(const cJSON *value)
{
  struct gpumc_text text = {0};
  append_json(&text, value);
  if (!text.failed)
    return text.characters;
  gpumc_text_free(&text);
  return NULL;
}

char *gpumc_task_identity(const struct gpumc_task *task)
{
  char *text = NULL;
  struct gpumc_language_tables tables;
  gpumc_language_tables_fill(&tables, gpumc_models());
  gpumc_language_tables_add(&tables, task->model);
  cJSON *identity = copy_deciding(tables.root, task->resolved);
  if (identity != NULL &&
      strip_block(&tables, identity, task->resolved, "model", task->model->keys) &&
      strip_block(&tables, identity, task->resolved, "algorithm", task->algorithm->keys))
    text = gpumc_json_text(identity);
  cJSON_Delete(identity);
  return text;
}

/* Returns the name of a block's plugin, or NULL: a file may contain anything. */
static const char *stored_name(const cJSON *resolved, const char *block)
{
  const cJSON *values = cJSON_GetObjectItemCaseSensitive(resolved, block);
  return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(values, "name"));
}

/* Returns the plugin with that name: the task's own, which may have been loaded, or the built-in
 * one. */
static const struct gpumc_model_ops *model_named(const struct gpumc_task *task, const char *name)
{
  if (name == NULL)
    return NULL;
  return strcmp(task->model->name, name) == 0 ? task->model : gpumc_model_find(name);
}

static const struct gpumc_algorithm_ops *
algorithm_named(const struct gpumc_task *task, const char *name)
{
  if (name == NULL)
    return NULL;
  return strcmp(task->algorithm->name, name) == 0 ? task->algorithm : gpumc_algorithm_find(name);
}

char *gpumc_task_identity_stored(const struct gpumc_task *task, const char *stored)
{
  char *identity = NULL;
  cJSON *json = cJSON_Parse(stored);
  const char *model = stored_name(json, "model"), *algorithm = stored_name(json, "algorithm");
  struct gpumc_task other = {.resolved = json,
                             .model = model_named(task, model),
                             .algorithm = algorithm_named(task, algorithm)};
  bool good = true;
  if (other.algorithm == task->algorithm)
    good = gpumc_json_fill(cJSON_GetObjectItemCaseSensitive(json, "algorithm"), task->defaults);
  if (good && other.model != NULL && other.algorithm != NULL)
    identity = gpumc_task_identity(&other);
  cJSON_Delete(json);
  return identity != NULL ? identity : strdup(stored);
}

static bool is_same(const cJSON *value, const cJSON *other)
{
  struct gpumc_text first = {0}, second = {0};
  append_json(&first, value);
  if (other != NULL)
    append_json(&second, other);
  bool same = strcmp(gpumc_text_string(&first), gpumc_text_string(&second)) == 0;
  gpumc_text_free(&first);
  gpumc_text_free(&second);
  return same;
}

static void append_side(struct gpumc_text *text, const cJSON *value)
{
  if (value != NULL)
    append_json(text, value);
  else
    gpumc_text_append(text, "(not set)");
}

/* Appends one line; keys that are blocks on both sides are compared key by key by the caller. */
static void append_change(struct gpumc_text *text, const char *prefix, const char *name,
                          const cJSON *before, const cJSON *after)
{
  gpumc_text_append(text, "%s%s%s%s: ", text->length == 0 ? "" : "\n", prefix,
                    prefix[0] == '\0' ? "" : ".", name);
  append_side(text, before);
  gpumc_text_append(text, " -> ");
  append_side(text, after);
}

static void
compare(struct gpumc_text *text, const char *prefix, const cJSON *before, const cJSON *after)
{
  const cJSON *value = NULL;
  cJSON_ArrayForEach(value, before)
  {
    const cJSON *other = cJSON_GetObjectItemCaseSensitive(after, value->string);
    if (cJSON_IsObject(value) && cJSON_IsObject(other)) {
      struct gpumc_text name = {0};
      gpumc_text_append(&name, "%s%s%s", prefix, prefix[0] == '\0' ? "" : ".", value->string);
      compare(text, gpumc_text_string(&name), value, other);
      gpumc_text_free(&name);
    } else if (!is_same(value, other)) {
      append_change(text, prefix, value->string, value, other);
    }
  }
  cJSON_ArrayForEach(value, after)
  {
    if (cJSON_GetObjectItemCaseSensitive(before, value->string) == NULL)
      append_change(text, prefix, value->string, NULL, value);
  }
}

/* Returns the changes from one configuration to another; the texts where they are none. */
static char *changes(const cJSON *first, const cJSON *second, const char *before, const char *after)
{
  struct gpumc_text text = {0};
  if (cJSON_IsObject(first) && cJSON_IsObject(second))
    compare(&text, "", first, second);
  else if (strcmp(before, after) != 0)
    gpumc_text_append(&text, "configuration: %s -> %s", before, after);
  char *lines = text.failed ? NULL : strdup(gpumc_text_string(&text));
  gpumc_text_free(&text);
  return lines;
}

char *gpumc_identity_difference(const char *before, const char *after)
{
  cJSON *first = cJSON_Parse(before), *second = cJSON_Parse(after);
  char *lines = changes(first, second, before, after);
  cJSON_Delete(first);
  cJSON_Delete(second);
  return lines;
}

/* Deletes the keys that decide no number, and blocks of nothing else. Keys that are not declared
 * stay: they may be those of a plugin that is not loaded. */
static void remove_incidental(const struct gpumc_key *keys, cJSON *values)
{
  for (; keys->name != NULL; keys++) {
    cJSON *value = cJSON_GetObjectItemCaseSensitive(values, keys->name);
    if (cJSON_IsObject(value) && keys->children != NULL)
      remove_incidental(keys->children, value);
    if (value != NULL && (keys->incidental || (cJSON_IsObject(value) && value->child == NULL)))
      cJSON_DeleteItemFromObjectCaseSensitive(values, keys->name);
  }
}

char *gpumc_configuration_difference(const char *before, const char *after)
{
  struct gpumc_language_tables tables;
  cJSON *first = cJSON_Parse(before), *second = cJSON_Parse(after);
  gpumc_language_tables_fill(&tables, gpumc_models());
  remove_incidental(tables.root, first);
  remove_incidental(tables.root, second);
  char *lines = changes(first, second, before, after);
  cJSON_Delete(first);
  cJSON_Delete(second);
  return lines;
}

cJSON *gpumc_task_close(const struct gpumc_task *task, const char *resolved)
{
  const struct gpumc_params root = gpumc_task_params(task, "");
  cJSON *closed = cJSON_Duplicate(task->resolved, true);
  cJSON *stored = cJSON_Parse(resolved);
  const cJSON *stored_kernel = cJSON_GetObjectItemCaseSensitive(stored, "kernel");
  const char *variant =
      cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(stored_kernel, "variant"));
  cJSON *kernel = cJSON_GetObjectItemCaseSensitive(closed, "kernel");
  if (kernel != NULL && variant != NULL &&
      strcmp(gpumc_params_string(&root, "kernel.variant"), "auto") == 0 &&
      !gpumc_json_replace(kernel, "variant", cJSON_CreateString(variant))) {
    cJSON_Delete(closed);
    closed = NULL;
  }
  cJSON_Delete(stored);
  return closed;
}
