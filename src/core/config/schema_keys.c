/* JSON Schema of single keys and of blocks. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "core/config/schema_keys.h"

bool gpumc_json_put(cJSON *object, const char *name, cJSON *value)
{
  if (object != NULL && value != NULL && cJSON_AddItemToObject(object, name, value))
    return true;
  cJSON_Delete(value);
  return false;
}

bool gpumc_json_push(cJSON *array, cJSON *value)
{
  if (array != NULL && value != NULL && cJSON_AddItemToArray(array, value))
    return true;
  cJSON_Delete(value);
  return false;
}

cJSON *gpumc_json_pair(const char *name, cJSON *value)
{
  cJSON *object = cJSON_CreateObject();
  if (gpumc_json_put(object, name, value))
    return object;
  cJSON_Delete(object);
  return NULL;
}

static bool put_number(cJSON *object, const char *name, double value)
{
  return gpumc_json_put(object, name, cJSON_CreateNumber(value));
}

static bool put_text(cJSON *object, const char *name, const char *value)
{
  return gpumc_json_put(object, name, cJSON_CreateString(value));
}

static bool put_limits(cJSON *schema, const struct gpumc_key *key)
{
  bool limited = gpumc_key_has_limits(key), integer = key->type == GPUMC_KEY_INTEGER;
  double minimum = limited ? key->minimum : -INFINITY;
  double maximum = limited ? key->maximum : INFINITY;
  bool good = true;
  if (integer) {
    minimum = fmax(minimum, -GPUMC_INTEGER_LIMIT);
    maximum = fmin(maximum, GPUMC_INTEGER_LIMIT);
  }
  if (isfinite(minimum))
    good = put_number(schema, limited && key->minimum_exclusive ? "exclusiveMinimum" : "minimum",
                      minimum);
  if (isfinite(maximum))
    good = good && put_number(schema, "maximum", maximum);
  if (key->multiple_of > 1)
    good = good && put_number(schema, "multipleOf", (double)key->multiple_of);
  return good;
}

static bool put_choices(cJSON *schema, const struct gpumc_key *key)
{
  cJSON *choices = cJSON_AddArrayToObject(schema, "enum");
  bool good = true;
  for (size_t i = 0; key->choices[i] != NULL && good; i++)
    good = gpumc_json_push(choices, cJSON_CreateString(key->choices[i]));
  return good;
}

static bool put_type(cJSON *schema, const struct gpumc_key *key)
{
  switch (key->type) {
  case GPUMC_KEY_BOOLEAN:
    return put_text(schema, "type", "boolean");
  case GPUMC_KEY_INTEGER:
    return put_text(schema, "type", "integer") && put_limits(schema, key);
  case GPUMC_KEY_REAL:
    return put_text(schema, "type", "number") && put_limits(schema, key);
  case GPUMC_KEY_STRING:
    return put_text(schema, "type", "string") &&
           (!key->required || put_number(schema, "minLength", 1));
  case GPUMC_KEY_CHOICE:
  case GPUMC_KEY_TURNS:
    return put_text(schema, "type", "string") && put_choices(schema, key);
  case GPUMC_KEY_DEVICE:
    return put_text(schema, "type", "string") && put_text(schema, "pattern", gpumc_device_pattern);
  case GPUMC_KEY_DURATION:
    return put_text(schema, "type", "string") &&
           put_text(schema, "pattern", gpumc_duration_pattern);
  case GPUMC_KEY_SIZE:
    return put_text(schema, "type", "string") && put_text(schema, "pattern", gpumc_size_pattern);
  case GPUMC_KEY_MAPPING:
    break;
  }
  return false;
}

/* A choice, or {CHOICE: NUMBER}. */
static bool put_turn(cJSON *schema, const struct gpumc_key *key)
{
  struct gpumc_key count = *key;
  cJSON *forms = cJSON_AddArrayToObject(schema, "anyOf");
  cJSON *choice = cJSON_CreateObject(), *block = cJSON_CreateObject();
  cJSON *properties = cJSON_CreateObject();
  count.type = GPUMC_KEY_INTEGER;
  bool good = put_type(choice, key) && put_text(block, "type", "object");
  for (size_t i = 0; key->choices[i] != NULL && good; i++) {
    cJSON *number = cJSON_CreateObject();
    good = put_type(number, &count);
    good = gpumc_json_put(properties, key->choices[i], number) && good;
  }
  good = gpumc_json_put(block, "properties", properties) && good;
  good = good && put_number(block, "minProperties", 1) && put_number(block, "maxProperties", 1) &&
         gpumc_json_put(block, "additionalProperties", cJSON_CreateFalse());
  good = gpumc_json_push(forms, choice) && good;
  return gpumc_json_push(forms, block) && good;
}

static bool put_list(cJSON *schema, const struct gpumc_key *key)
{
  cJSON *items = cJSON_CreateObject();
  bool good = key->type == GPUMC_KEY_TURNS ? put_turn(items, key) : put_type(items, key);
  good = put_text(schema, "type", "array") && good;
  good = gpumc_json_put(schema, "items", items) && good;
  good = good && put_number(schema, "minItems", (double)key->list_minimum);
  if (key->list_maximum != SIZE_MAX)
    good = good && put_number(schema, "maxItems", (double)key->list_maximum);
  return good;
}

static bool put_description(cJSON *schema, const struct gpumc_key *key)
{
  struct gpumc_text text = {0};
  gpumc_text_append(&text, "%s", key->doc != NULL ? key->doc : "");
  if (key->unit != NULL)
    gpumc_text_append(&text, " Unit: %s.", key->unit);
  bool good = put_text(schema, "description", gpumc_text_string(&text));
  gpumc_text_free(&text);
  return good;
}

/* As a user would write it: durations and sizes with their unit. */
static bool put_default(cJSON *schema, const struct gpumc_key *key)
{
  if (key->default_text == NULL)
    return true;
  if (key->type == GPUMC_KEY_DURATION || key->type == GPUMC_KEY_SIZE)
    return put_text(schema, "default", key->default_text);
  return gpumc_json_put(schema, "default", gpumc_key_default(key));
}

static bool put_number_or_auto(cJSON *schema, const struct gpumc_key *key)
{
  cJSON *forms = cJSON_AddArrayToObject(schema, "anyOf");
  cJSON *number = cJSON_CreateObject();
  const bool good = put_type(number, key);
  return gpumc_json_push(forms, number) && good &&
         gpumc_json_push(forms, gpumc_json_pair("const", cJSON_CreateString("auto")));
}

/* A list of one may be its value. */
static bool put_list_or_value(cJSON *schema, const struct gpumc_key *key)
{
  if (key->list_minimum > 1)
    return put_list(schema, key);
  cJSON *forms = cJSON_AddArrayToObject(schema, "anyOf");
  cJSON *list = cJSON_CreateObject(), *value = cJSON_CreateObject();
  bool good = put_list(list, key) && put_type(value, key);
  good = gpumc_json_push(forms, list) && good;
  return gpumc_json_push(forms, value) && good;
}

cJSON *gpumc_schema_value(const struct gpumc_key *key)
{
  cJSON *schema = cJSON_CreateObject();
  if (put_description(schema, key) &&
      (key->list_maximum > 0 ? put_list_or_value(schema, key)
       : key->or_auto        ? put_number_or_auto(schema, key)
                             : put_type(schema, key)) &&
      put_default(schema, key))
    return schema;
  cJSON_Delete(schema);
  return NULL;
}

static cJSON *names_array(const char *name)
{
  cJSON *names = cJSON_CreateArray();
  if (gpumc_json_push(names, cJSON_CreateString(name)))
    return names;
  cJSON_Delete(names);
  return NULL;
}

/* "a.b.c" is there: {required: [a], properties: {a: {required: [b], ...}}}. */
static cJSON *presence_in_blocks(const char *dotted_key)
{
  char name[GPUMC_KEY_NAME_BYTES];
  size_t length = strcspn(dotted_key, ".");
  snprintf(name, sizeof name, "%.*s", (int)length, dotted_key);
  cJSON *schema = gpumc_json_pair("required", names_array(name));
  bool good = schema != NULL;
  if (good && dotted_key[length] == '.')
    good = gpumc_json_put(schema, "properties",
                          gpumc_json_pair(name, presence_in_blocks(dotted_key + length + 1)));
  if (good)
    return schema;
  cJSON_Delete(schema);
  return NULL;
}

static cJSON *presence_in_campaign(const char *dotted_key)
{
  cJSON *inside = gpumc_json_pair("required", names_array(dotted_key));
  cJSON *schema = gpumc_json_pair("properties", gpumc_json_pair("campaign", inside));
  if (gpumc_json_put(schema, "required", names_array("campaign")))
    return schema;
  cJSON_Delete(schema);
  return NULL;
}

/* The key stands in its block or, when it may be swept, in the campaign. */
static cJSON *presence(const struct gpumc_key *key, const char *dotted_key)
{
  if (!key->sweepable)
    return presence_in_blocks(dotted_key);
  cJSON *either = cJSON_CreateArray();
  if (gpumc_json_push(either, presence_in_blocks(dotted_key)) &&
      gpumc_json_push(either, presence_in_campaign(dotted_key)))
    return gpumc_json_pair("anyOf", either);
  cJSON_Delete(either);
  return NULL;
}

static bool is_same_group(const struct gpumc_key *a, const struct gpumc_key *b)
{
  return a->exactly_one_of != NULL && b->exactly_one_of != NULL &&
         strcmp(a->exactly_one_of, b->exactly_one_of) == 0;
}

static bool is_first_of_group(const struct gpumc_key *keys, const struct gpumc_key *key)
{
  for (; keys < key; keys++)
    if (is_same_group(keys, key))
      return false;
  return key->exactly_one_of != NULL;
}

/* {oneOf: [presence of each member]}, as seen from the block (`name` "") or from the root. */
static cJSON *group_schema(const struct gpumc_key *first, const char *name, bool at_root)
{
  char dotted[GPUMC_KEY_NAME_BYTES];
  cJSON *members = cJSON_CreateArray();
  bool good = members != NULL;
  for (const struct gpumc_key *key = first; key->name != NULL && good; key++)
    if (is_same_group(first, key))
      good =
          gpumc_json_push(members, at_root ? presence(key, gpumc_key_join(name, key->name, dotted))
                                           : presence_in_blocks(key->name));
  if (good)
    return gpumc_json_pair("oneOf", members);
  cJSON_Delete(members);
  return NULL;
}

static bool is_group_sweepable(const struct gpumc_key *first)
{
  for (const struct gpumc_key *key = first; key->name != NULL; key++)
    if (is_same_group(first, key) && key->sweepable)
      return true;
  return false;
}

static bool
push_groups(const struct gpumc_key *keys, const char *name, cJSON *conditions, cJSON *inside)
{
  bool good = true;
  for (const struct gpumc_key *key = keys; key->name != NULL && good; key++)
    if (is_first_of_group(keys, key)) {
      bool at_root = conditions != NULL && is_group_sweepable(key);
      good = gpumc_json_push(at_root ? conditions : inside, group_schema(key, name, at_root));
    }
  return good;
}

/* Pushes the presence of a key and of the temperatures that may take its place. */
static bool push_forms(const struct gpumc_key *keys, const struct gpumc_key *key, const char *name,
                       bool at_root, cJSON *members)
{
  const struct gpumc_key *const forms[] = {
      key, key->temperature != NULL ? gpumc_key_find(keys, key->temperature) : NULL};
  char dotted[GPUMC_KEY_NAME_BYTES];
  bool good = true;
  for (size_t i = 0; i < 2 && good; i++)
    if (forms[i] != NULL)
      good = gpumc_json_push(
          members, at_root ? presence(forms[i], gpumc_key_join(name, forms[i]->name, dotted))
                           : presence_in_blocks(forms[i]->name));
  return good;
}

/* {anyOf: [presence of the key, presence of what takes its place]}. */
static cJSON *replaceable_schema(const struct gpumc_key *keys, const struct gpumc_key *key,
                                 const char *name, bool at_root)
{
  cJSON *either = cJSON_CreateArray();
  bool good = either != NULL && push_forms(keys, key, name, at_root, either);
  if (good && key->required_unless != NULL)
    good = push_forms(keys, gpumc_key_find(keys, key->required_unless), name, at_root, either);
  if (good)
    return gpumc_json_pair("anyOf", either);
  cJSON_Delete(either);
  return NULL;
}

/* {not: {required: [the key, its temperatures]}}, in the block or at the root. */
static cJSON *not_twice(const struct gpumc_key *key)
{
  const char *const both[] = {key->inverse_of, key->name};
  cJSON *schema = gpumc_json_pair("required", cJSON_CreateStringArray(both, 2));
  return gpumc_json_pair("not", schema);
}

/* `inside`: conditions of the block itself. */
static bool put_required(cJSON *block, const struct gpumc_key *keys, const char *name,
                         cJSON *conditions, cJSON *inside)
{
  char dotted[GPUMC_KEY_NAME_BYTES];
  cJSON *required = cJSON_CreateArray();
  bool good = required != NULL;
  for (const struct gpumc_key *key = keys; key->name != NULL && good; key++) {
    const bool at_root = conditions != NULL && key->sweepable;
    if (key->required_unless != NULL || (key->required && key->temperature != NULL))
      good = gpumc_json_push(at_root ? conditions : inside,
                             replaceable_schema(keys, key, name, at_root));
    else if (key->inverse_of != NULL && key->exactly_one_of == NULL)
      good = gpumc_json_push(inside, not_twice(key));
    else if (key->required && at_root)
      good = gpumc_json_push(conditions, presence(key, gpumc_key_join(name, key->name, dotted)));
    else if (key->required)
      good = gpumc_json_push(required, cJSON_CreateString(key->name));
  }
  if (good && required->child != NULL)
    return gpumc_json_put(block, "required", required);
  cJSON_Delete(required);
  return good;
}

/* Moves those of a block that may be absent to `conditions`: {anyOf: [{not: its presence}, {allOf:
 * own}]}. */
static bool push_where_present(const char *dotted_key, cJSON *own, cJSON *conditions)
{
  cJSON *either = cJSON_CreateArray();
  const bool good = gpumc_json_push(either, gpumc_json_pair("not", presence_in_blocks(dotted_key)));
  const bool all = gpumc_json_push(either, gpumc_json_pair("allOf", own));
  if (good && all)
    return gpumc_json_push(conditions, gpumc_json_pair("anyOf", either));
  cJSON_Delete(either);
  return false;
}

/* `name`: the block's, dotted. */
static cJSON *child_block(const struct gpumc_key *key, const char *name, cJSON *conditions)
{
  if (key->required || conditions == NULL)
    return gpumc_schema_block(key->children, name, conditions);
  cJSON *own = cJSON_CreateArray();
  cJSON *schema = own != NULL ? gpumc_schema_block(key->children, name, own) : NULL;
  if (schema != NULL && own->child != NULL) {
    if (push_where_present(name, own, conditions))
      return schema;
    cJSON_Delete(schema);
    return NULL;
  }
  cJSON_Delete(own);
  return schema;
}

static cJSON *child_schema(const struct gpumc_key *key, const char *name, cJSON *conditions)
{
  char dotted[GPUMC_KEY_NAME_BYTES];
  if (key->type != GPUMC_KEY_MAPPING)
    return gpumc_schema_value(key);
  if (key->children != NULL) {
    cJSON *schema = child_block(key, gpumc_key_join(name, key->name, dotted), conditions);
    if (schema == NULL || put_description(schema, key))
      return schema;
    cJSON_Delete(schema);
    return NULL;
  }
  cJSON *schema = gpumc_json_pair("type", cJSON_CreateString("object"));
  if (schema == NULL || put_description(schema, key))
    return schema;
  cJSON_Delete(schema);
  return NULL;
}

cJSON *gpumc_schema_block(const struct gpumc_key *keys, const char *name, cJSON *conditions)
{
  cJSON *schema = gpumc_json_pair("type", cJSON_CreateString("object"));
  cJSON *properties = cJSON_CreateObject();
  bool good = properties != NULL;
  for (const struct gpumc_key *key = keys; key->name != NULL && good; key++)
    good = gpumc_json_put(properties, key->name, child_schema(key, name, conditions));
  good = gpumc_json_put(schema, "properties", properties) && good;
  cJSON *inside = cJSON_CreateArray();
  good = good && inside != NULL && put_required(schema, keys, name, conditions, inside) &&
         push_groups(keys, name, conditions, inside);
  if (inside != NULL && inside->child != NULL)
    good = gpumc_json_put(schema, "allOf", inside) && good;
  else
    cJSON_Delete(inside);
  good = good && gpumc_json_put(schema, "additionalProperties", cJSON_CreateFalse());
  if (good)
    return schema;
  cJSON_Delete(schema);
  return NULL;
}
