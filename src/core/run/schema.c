/* The JSON Schema of the whole language, from all declared keys: the root, a definition for each
 * plugin, the campaign. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/config/params.h"
#include "core/config/schema_keys.h"
#include "core/run/language_internal.h"
#include "core/simulation/ladder.h"
#include "core/simulation/observables.h"

/* The schema under construction. `rules`: what must hold at the root besides the plain blocks. */
struct builder {
  const struct gpumc_plugins *plugins;
  cJSON *definitions;
  cJSON *rules;
  struct gpumc_language_tables tables;
};

/* A campaign's properties and the array of their names (may be NULL), while keys are visited. */
struct axes {
  cJSON *properties, *names;
  bool failed;
};

/* A single value is a list of itself, and where the key is a list of one, that as well. */
static cJSON *scalar_value(const struct gpumc_key *key)
{
  struct gpumc_key single = *key;
  single.list_minimum = single.list_maximum = 0;
  single.default_text = NULL;
  return gpumc_schema_value(&single);
}

static void add_axis(void *state, const char *dotted_key, const struct gpumc_key *key)
{
  struct axes *axes = state;
  if (!key->sweepable || axes->failed)
    return;
  cJSON *list = gpumc_json_pair("type", cJSON_CreateString("array"));
  bool good = gpumc_json_put(list, "minItems", cJSON_CreateNumber(1));
  good = good && gpumc_json_put(list, "items", gpumc_schema_value(key));
  cJSON *forms = cJSON_CreateArray();
  good = gpumc_json_push(forms, list) && good;
  if (key->list_minimum <= 1)
    good = gpumc_json_push(forms, scalar_value(key)) && good;
  good = gpumc_json_put(axes->properties, dotted_key, gpumc_json_pair("anyOf", forms)) && good;
  axes->failed = !good || (axes->names != NULL &&
                           !gpumc_json_push(axes->names, cJSON_CreateString(dotted_key)));
}

/* {not: {pattern: "^model\\."}}: a key of another block. */
static cJSON *outside(const char *block)
{
  char pattern[64];
  snprintf(pattern, sizeof pattern, "^%s\\.", block);
  return gpumc_json_pair("not", gpumc_json_pair("pattern", cJSON_CreateString(pattern)));
}

/* {campaign: {...}} of one plugin: its own keys with their types, no others of its block. */
static cJSON *campaign_of(const char *block, const struct gpumc_key *keys)
{
  cJSON *campaign = cJSON_CreateObject();
  cJSON *allowed = cJSON_CreateArray();
  struct axes axes = {.properties = cJSON_CreateObject(), .names = cJSON_CreateArray()};
  gpumc_keys_visit(keys, block, add_axis, &axes);
  bool any = axes.names != NULL && axes.names->child != NULL;
  bool good = gpumc_json_push(allowed, outside(block));
  if (any)
    good = gpumc_json_push(allowed, gpumc_json_pair("enum", axes.names)) && good;
  else
    cJSON_Delete(axes.names);
  good = gpumc_json_put(campaign, "properties", axes.properties) && good;
  good = gpumc_json_put(campaign, "propertyNames", gpumc_json_pair("anyOf", allowed)) && good;
  if (good && !axes.failed)
    return gpumc_json_pair("campaign", campaign);
  cJSON_Delete(campaign);
  return NULL;
}

/* {BLOCK: {properties: {name: NAME}, required: [name]}} as an `if`; `name` is taken over. */
static cJSON *is_named(const char *block, cJSON *name)
{
  const char *key = "name";
  cJSON *condition = gpumc_json_pair("properties", gpumc_json_pair("name", name));
  bool good = gpumc_json_put(condition, "required", cJSON_CreateStringArray(&key, 1));
  cJSON *schema = gpumc_json_pair("properties", gpumc_json_pair(block, condition));
  if (good && gpumc_json_put(schema, "required", cJSON_CreateStringArray(&block, 1)))
    return schema;
  cJSON_Delete(schema);
  return NULL;
}

/* {enum: [...]} of the models that have controls and no temperature; NULL: there are none. */
static cJSON *names_without_temperature(const struct gpumc_plugins *plugins)
{
  cJSON *names = cJSON_CreateArray();
  bool good = true;
  for (size_t i = 0; plugins->models[i] != NULL; i++) {
    const struct gpumc_model_ops *model = plugins->models[i];
    if (model->n_controls > 0 && !gpumc_model_has_temperature(model))
      good = gpumc_json_push(names, cJSON_CreateString(model->name)) && good;
  }
  if (good && names != NULL && names->child != NULL)
    return gpumc_json_pair("enum", names);
  cJSON_Delete(names);
  return NULL;
}

/* What the block must hold of an algorithm that moves controls, for these models: the conditions of
 * its other keys, which are changed, `control`, and no temperatures. */
static cJSON *without_temperature(const char *block, struct gpumc_key *keys)
{
  static const char *const absent[] = {"beta", "temperature"};
  const char *control = "control";
  cJSON *conditions = cJSON_CreateArray(), *blocks = cJSON_CreateObject();
  gpumc_block_without_temperature(keys);
  cJSON_Delete(gpumc_schema_block(keys, block, conditions));
  bool good = true;
  cJSON *moved = cJSON_CreateObject();
  for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
    good = gpumc_json_put(blocks, absent[i], cJSON_CreateFalse()) &&
           gpumc_json_put(moved, absent[i], cJSON_CreateFalse()) && good;
  good = gpumc_json_put(blocks, control, gpumc_json_pair("properties", moved)) && good;
  cJSON *inside = gpumc_json_pair("properties", blocks);
  good = gpumc_json_put(inside, "required", cJSON_CreateStringArray(&control, 1)) && good;
  cJSON *schema = gpumc_json_pair("properties", gpumc_json_pair(block, inside));
  good = gpumc_json_put(schema, "allOf", conditions) && good;
  if (good)
    return schema;
  cJSON_Delete(schema);
  return NULL;
}

/* [{if: such a model, then: ..., else: {allOf: conditions}}] in place of conditions[] of a block;
 * as they are where there is no such model, or the block moves no control. NULL when memory ran
 * out. */
static cJSON *conditions_by_model(const struct builder *builder, const char *block,
                                  struct gpumc_key *keys, cJSON *conditions)
{
  cJSON *names = names_without_temperature(builder->plugins);
  if (names == NULL || strcmp(block, "algorithm") != 0 || !gpumc_keys_move_controls(keys)) {
    cJSON_Delete(names);
    return conditions;
  }
  cJSON *rule = gpumc_json_pair("if", is_named("model", names));
  bool good = gpumc_json_put(rule, "then", without_temperature(block, keys));
  good = gpumc_json_put(rule, "else", gpumc_json_pair("allOf", conditions)) && good;
  cJSON *rules = cJSON_CreateArray();
  if (gpumc_json_push(rules, rule) && good)
    return rules;
  cJSON_Delete(rules);
  return NULL;
}

/* The definition of one plugin's block, and the rule that asks for it where it is named. */
static bool add_plugin(struct builder *builder, const char *block, const char *const *names,
                       const char *name, const char *summary, const struct gpumc_key *plugin_keys)
{
  char definition[GPUMC_KEY_NAME_BYTES], reference[GPUMC_KEY_NAME_BYTES];
  snprintf(definition, sizeof definition, "%s-%s", block, name);
  snprintf(reference, sizeof reference, "#/definitions/%s-%s", block, name);
  struct gpumc_key *keys = gpumc_block_keys(&builder->tables, block, names, plugin_keys);
  cJSON *conditions = cJSON_CreateArray(), *consequence = cJSON_CreateObject();
  if (keys == NULL || conditions == NULL || consequence == NULL)
    goto fail;
  cJSON *schema = gpumc_schema_block(keys, block, conditions);
  if (!gpumc_json_put(builder->definitions, definition, schema) ||
      !gpumc_json_put(schema, "description", cJSON_CreateString(summary)))
    goto fail;
  cJSON *properties = campaign_of(block, keys);
  if (!gpumc_json_put(consequence, "properties", properties) ||
      !gpumc_json_put(properties, block, gpumc_json_pair("$ref", cJSON_CreateString(reference))))
    goto fail;
  conditions = conditions_by_model(builder, block, keys, conditions);
  if (conditions == NULL)
    goto fail;
  free(keys);
  if (conditions->child == NULL)
    cJSON_Delete(conditions);
  else if (!gpumc_json_put(consequence, "allOf", conditions)) {
    cJSON_Delete(consequence);
    return false;
  }
  cJSON *rule =
      gpumc_json_pair("if", is_named(block, gpumc_json_pair("const", cJSON_CreateString(name))));
  bool good = gpumc_json_put(rule, "then", consequence);
  return gpumc_json_push(builder->rules, rule) && good;
fail:
  free(keys);
  cJSON_Delete(conditions);
  cJSON_Delete(consequence);
  return false;
}

/* In the root, a plugin's block must name one; the rules say the rest. */
static bool describe_block(cJSON *properties, const char *block, const char *const *names)
{
  cJSON *schema = cJSON_GetObjectItemCaseSensitive(properties, block);
  const char *required = "name";
  int count = 0;
  while (names[count] != NULL)
    count++;
  cJSON *name = gpumc_json_pair("enum", cJSON_CreateStringArray(names, count));
  return gpumc_json_put(schema, "properties", gpumc_json_pair("name", name)) &&
         gpumc_json_put(schema, "required", cJSON_CreateStringArray(&required, 1));
}

static bool describe_campaign(const struct builder *builder, cJSON *properties)
{
  cJSON *campaign = cJSON_GetObjectItemCaseSensitive(properties, "campaign");
  struct axes axes = {.properties = cJSON_CreateObject()};
  gpumc_keys_visit(builder->tables.root, "", add_axis, &axes);
  bool good = gpumc_json_put(campaign, "properties", axes.properties) && !axes.failed;
  return good &&
         gpumc_json_put(campaign, "patternProperties",
                        gpumc_json_pair("^(model|algorithm)\\.", cJSON_CreateTrue())) &&
         gpumc_json_put(campaign, "additionalProperties", cJSON_CreateFalse());
}

static bool add_plugins(struct builder *builder, cJSON *properties, const char *const *models,
                        const char *const *algorithms)
{
  bool good = describe_block(properties, "model", models) &&
              describe_block(properties, "algorithm", algorithms) &&
              describe_campaign(builder, properties);
  for (size_t i = 0; good && models[i] != NULL; i++) {
    const struct gpumc_model_ops *model = builder->plugins->models[i];
    good = add_plugin(builder, "model", models, model->name, model->summary, model->keys);
  }
  for (size_t i = 0; good && algorithms[i] != NULL; i++) {
    const struct gpumc_algorithm_ops *ops = builder->plugins->algorithms[i];
    good = add_plugin(builder, "algorithm", algorithms, ops->name, ops->summary, ops->keys);
  }
  return good;
}

static bool build(const struct gpumc_plugins *plugins, cJSON *schema, const char **models,
                  const char **algorithms)
{
  struct builder builder = {.plugins = plugins, .rules = cJSON_CreateArray()};
  gpumc_language_tables_fill(&builder.tables, plugins->models);
  cJSON *root = gpumc_schema_block(builder.tables.root, "", builder.rules);
  bool good = gpumc_json_put(schema, "$schema",
                             cJSON_CreateString("http://json-schema.org/draft-07/schema#")) &&
              gpumc_json_put(schema, "title", cJSON_CreateString("Configuration of gpumc"));
  for (cJSON *item; good && root != NULL && (item = root->child) != NULL;) {
    char *name = strdup(item->string);
    good = gpumc_json_put(schema, name != NULL ? name : "", cJSON_DetachItemViaPointer(root, item));
    free(name);
  }
  good = good && root != NULL;
  cJSON_Delete(root);
  good = gpumc_json_put(schema, "allOf", builder.rules) && good;
  builder.definitions = cJSON_CreateObject();
  good = gpumc_json_put(schema, "definitions", builder.definitions) && good;
  return good && add_plugins(&builder, cJSON_GetObjectItemCaseSensitive(schema, "properties"),
                             models, algorithms);
}

cJSON *gpumc_language_schema_with(const struct gpumc_plugins *plugins)
{
  const char **models = gpumc_model_names(plugins), **algorithms = gpumc_algorithm_names(plugins);
  cJSON *schema = cJSON_CreateObject();
  bool good = models != NULL && algorithms != NULL && schema != NULL &&
              build(plugins, schema, models, algorithms);
  free(models);
  free(algorithms);
  if (good)
    return schema;
  cJSON_Delete(schema);
  return NULL;
}

cJSON *gpumc_language_schema(const struct gpumc_plugin_set *set)
{
  const struct gpumc_plugins plugins = gpumc_plugins_of(set);
  return gpumc_language_schema_with(&plugins);
}
