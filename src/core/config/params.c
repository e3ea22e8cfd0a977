/* A block of keys against its table: unknown and missing keys, exclusive groups, defaults. */
#include "core/config/params.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "core/config/config.h"
#include "core/config/temperatures.h"

enum { KEYS_MAXIMUM = 64, INVERTED_MAXIMUM = 4 };

/* A block being checked. `name`: dotted, "" for the root. `inverted[n_inverted]`: what stands for
 * keys that were given as temperatures; the values are owned. */
struct block {
  const struct gpumc_key *keys;
  const struct gpumc_node *node;
  struct gpumc_mark place;
  const char *name;
  struct gpumc_report *report;
  struct {
    const struct gpumc_key *key;
    struct gpumc_entry entry;
  } inverted[INVERTED_MAXIMUM];
  size_t n_inverted;
};

/* The entry of a key as it is given, or as its temperatures are; NULL: neither. */
static const struct gpumc_entry *entry_of(const struct block *block, const char *name)
{
  for (size_t i = 0; i < block->n_inverted; i++)
    if (strcmp(block->inverted[i].key->name, name) == 0)
      return &block->inverted[i].entry;
  return gpumc_node_entry(block->node, name);
}

/* A block that is left out stays absent when one of its keys must be given. */
static bool keys_need_values(const struct gpumc_key *keys)
{
  for (; keys != NULL && keys->name != NULL; keys++)
    if (keys->required || keys->required_unless != NULL || keys->exactly_one_of != NULL)
      return true;
  return false;
}

/* " in algorithm.beta", or nothing for the root. */
static const char *in_block(const struct block *block, char text[static GPUMC_KEY_NAME_BYTES])
{
  snprintf(text, GPUMC_KEY_NAME_BYTES, block->name[0] == '\0' ? "%s" : " in %s", block->name);
  return text;
}

static void report_unknown(const struct block *block, const struct gpumc_entry *entry)
{
  char where[GPUMC_KEY_NAME_BYTES];
  const char *names[KEYS_MAXIMUM];
  size_t count = gpumc_key_count(block->keys);
  struct gpumc_text known = {0};
  assert(count <= KEYS_MAXIMUM);
  for (size_t i = 0; i < count; i++) {
    names[i] = block->keys[i].name;
    gpumc_text_append(&known, "%s%s", i == 0 ? "" : ", ", names[i]);
  }
  const char *nearest = gpumc_nearest_name(entry->key, names, count);
  if (nearest != NULL)
    gpumc_report_mistake(block->report, entry->key_mark, "unknown key '%s'%s; did you mean '%s'?",
                         entry->key, in_block(block, where), nearest);
  /* The key that was meant is neither missing nor at its default. */
  if (nearest != NULL && gpumc_node_entry(block->node, nearest) == NULL)
    gpumc_wrong_note(block->report, block->name, nearest);
  if (nearest == NULL)
    gpumc_report_mistake(block->report, entry->key_mark, "unknown key '%s'%s; known keys: %s",
                         entry->key, in_block(block, where), gpumc_text_string(&known));
  gpumc_text_free(&known);
}

static void check_unknown(const struct block *block)
{
  for (size_t i = 0; i < block->node->count; i++) {
    const char *key = block->node->entries[i].key;
    bool known = false;
    for (const struct gpumc_key *k = block->keys; k->name != NULL && !known; k++)
      known = strcmp(k->name, key) == 0;
    if (!known)
      report_unknown(block, &block->node->entries[i]);
  }
}

/* The group that `first`, its first member, stands for: exactly one of them must be given. */
static void check_group(const struct block *block, const struct gpumc_key *first)
{
  char where[GPUMC_KEY_NAME_BYTES];
  struct gpumc_text members = {0};
  const char *given = NULL;
  bool wrong = false;
  for (const struct gpumc_key *key = first; key->name != NULL; key++) {
    if (key->exactly_one_of == NULL || strcmp(key->exactly_one_of, first->exactly_one_of) != 0)
      continue;
    gpumc_text_append(&members, "%s'%s'", key == first ? "" : ", ", key->name);
    wrong = wrong || gpumc_wrong_has(block->report, block->name, key->name);
    const struct gpumc_entry *entry = gpumc_node_entry(block->node, key->name);
    if (entry != NULL && given != NULL) {
      gpumc_report_mistake(block->report, entry->key_mark, "'%s' and '%s'%s exclude each other",
                           given, key->name, in_block(block, where));
      gpumc_wrong_note(block->report, block->name, key->name);
    } else if (entry != NULL)
      given = key->name;
  }
  if (given == NULL && !wrong) {
    gpumc_report_mistake(block->report, block->place, "give exactly one of %s%s",
                         gpumc_text_string(&members), in_block(block, where));
    gpumc_wrong_note(block->report, block->name, first->name);
  }
  gpumc_text_free(&members);
}

static void check_groups(const struct block *block)
{
  for (const struct gpumc_key *key = block->keys; key->name != NULL; key++) {
    bool is_first = key->exactly_one_of != NULL;
    for (const struct gpumc_key *other = block->keys; other < key && is_first; other++)
      is_first =
          other->exactly_one_of == NULL || strcmp(other->exactly_one_of, key->exactly_one_of) != 0;
    if (is_first)
      check_group(block, key);
  }
}

static cJSON *resolve_block(struct block *block);

static cJSON *resolve_child(const struct block *parent, const struct gpumc_key *key,
                            const struct gpumc_entry *entry)
{
  char name[GPUMC_KEY_NAME_BYTES];
  if (key->children == NULL)
    return cJSON_CreateObject();
  struct block block = {.keys = key->children,
                        .node = entry != NULL ? entry->value : NULL,
                        .place = entry != NULL ? entry->key_mark : parent->place,
                        .name = gpumc_key_join(parent->name, key->name, name),
                        .report = parent->report};
  return resolve_block(&block);
}

int64_t gpumc_divisor_up_to(int64_t number, int64_t most)
{
  assert(number > 0 && most > 0);
  int64_t divisor = most < number ? most : number;
  while (number % divisor != 0)
    divisor--;
  return divisor;
}

/* The first given of the siblings that the default of `key` divides, and its entry; NULL: none. */
static const struct gpumc_key *
divided_by(const struct block *block, const struct gpumc_key *key, const struct gpumc_entry **entry)
{
  for (const char *const *name = key->default_divides; name != NULL && *name != NULL; name++) {
    const struct gpumc_key *sibling = gpumc_key_find(block->keys, *name);
    *entry = gpumc_node_entry(block->node, *name);
    if (*entry != NULL && !gpumc_key_is_auto(sibling, (*entry)->value))
      return sibling;
  }
  return NULL;
}

/* The default of a key, as wrong as what it divides. NULL when memory ran out. */
static cJSON *default_value(const struct block *block, const struct gpumc_key *key)
{
  struct gpumc_report unused = {0};
  const struct gpumc_entry *entry = NULL;
  const struct gpumc_key *divided = divided_by(block, key, &entry);
  cJSON *value = gpumc_key_default(key);
  if (divided == NULL || value == NULL)
    return value;
  cJSON *number = gpumc_key_value(divided, entry->value, divided->name, &unused);
  if (unused.calls > 0)
    gpumc_wrong_note(block->report, block->name, key->name);
  else if (number != NULL)
    cJSON_SetNumberValue(value, (double)gpumc_divisor_up_to((int64_t)number->valuedouble,
                                                            (int64_t)value->valuedouble));
  gpumc_report_free(&unused);
  if (number == NULL) {
    cJSON_Delete(value);
    value = NULL;
  }
  cJSON_Delete(number);
  return value;
}

/* A value without mistakes, or null. NULL when memory ran out. */
static cJSON *
given_value(const struct block *block, const struct gpumc_key *key, const struct gpumc_node *node)
{
  char name[GPUMC_KEY_NAME_BYTES];
  const size_t before = block->report->calls;
  cJSON *value =
      gpumc_key_value(key, node, gpumc_key_join(block->name, key->name, name), block->report);
  if (block->report->calls == before)
    return value;
  gpumc_wrong_note(block->report, block->name, key->name);
  cJSON_Delete(value);
  return cJSON_CreateNull();
}

/* Whether the key has a mistake that was reported already, or its temperatures have. */
static bool has_mistake(const struct block *block, const struct gpumc_key *key)
{
  return gpumc_wrong_has(block->report, block->name, key->name) ||
         (key->temperature != NULL &&
          gpumc_wrong_has(block->report, block->name, key->temperature));
}

/* Whether such a mistake explains why `key` is absent: it or the sibling that takes its place was
 * meant there. */
static bool is_explained(const struct block *block, const struct gpumc_key *key)
{
  return has_mistake(block, key) ||
         (key->required_unless != NULL &&
          has_mistake(block, gpumc_key_find(block->keys, key->required_unless)));
}

static bool is_required(const struct block *block, const struct gpumc_key *key)
{
  return key->required ||
         (key->required_unless != NULL && entry_of(block, key->required_unless) == NULL);
}

/* "missing key 'beta' or 'temperature' in algorithm". */
static void report_missing(const struct block *block, const struct gpumc_key *key)
{
  char name[GPUMC_KEY_NAME_BYTES];
  const bool either = key->temperature != NULL;
  gpumc_report_mistake(block->report, block->place, "missing key '%s'%s%s%s%s", key->name,
                       either ? " or '" : "", either ? key->temperature : "", either ? "'" : "",
                       in_block(block, name));
}

/* Adds the value of `key` to `values`; false when memory ran out. */
static bool resolve_key(const struct block *block, const struct gpumc_key *key, cJSON *values)
{
  const struct gpumc_entry *entry = entry_of(block, key->name);
  cJSON *value = NULL;
  if (entry != NULL && gpumc_key_is_auto(key, entry->value))
    entry = NULL;
  if (entry == NULL && is_required(block, key)) {
    if (!is_explained(block, key))
      report_missing(block, key);
    gpumc_wrong_note(block->report, block->name, key->name);
    return true;
  }
  if (key->type == GPUMC_KEY_MAPPING) {
    if (entry == NULL && keys_need_values(key->children))
      return true;
    value = resolve_child(block, key, entry);
  } else if (entry != NULL) {
    value = given_value(block, key, entry->value);
  } else if (key->default_text != NULL) {
    value = default_value(block, key);
  } else {
    return true;
  }
  if (value != NULL && cJSON_AddItemToObject(values, key->name, value))
    return true;
  cJSON_Delete(value);
  return false;
}

/* Whether both the temperatures and what they stand for are given, a mistake. Of a group it is one
 * of check_group. */
static bool is_given_twice(const struct block *block, const struct gpumc_key *key,
                           const struct gpumc_entry *typed)
{
  char where[GPUMC_KEY_NAME_BYTES];
  if (gpumc_node_entry(block->node, key->inverse_of) == NULL)
    return false;
  if (key->exactly_one_of == NULL)
    gpumc_report_mistake(block->report, typed->key_mark,
                         "'%s' and '%s'%s exclude each other: leave out one of them",
                         key->inverse_of, key->name, in_block(block, where));
  return true;
}

/* The temperatures of a key with `inverse_of`: into `values`, and inverted in the place of that
 * sibling. False when memory ran out. */
static bool resolve_temperatures(struct block *block, const struct gpumc_key *key, cJSON *values)
{
  const struct gpumc_entry *typed = gpumc_node_entry(block->node, key->name);
  const struct gpumc_key *sibling = gpumc_key_find(block->keys, key->inverse_of);
  const size_t before = block->report->calls;
  struct gpumc_node *node = NULL;
  if (typed == NULL)
    return true;
  if (!resolve_key(block, key, values))
    return false;
  if (!is_given_twice(block, key, typed) && block->report->calls == before) {
    node = gpumc_temperatures_invert(
        sibling, key, typed, cJSON_GetObjectItemCaseSensitive(values, key->name), block->report);
    if (node == NULL && block->report->calls == before)
      return false;
  }
  if (node == NULL) {
    gpumc_wrong_note(block->report, block->name, sibling->name);
    gpumc_wrong_note(block->report, block->name, key->name);
    return true;
  }
  assert(block->n_inverted < INVERTED_MAXIMUM);
  block->inverted[block->n_inverted].key = sibling;
  block->inverted[block->n_inverted++].entry =
      (struct gpumc_entry){.key_mark = typed->key_mark, .value = node};
  gpumc_typed_note(block->report, block->name, sibling->name, key->name);
  return true;
}

/* Temperatures first: other keys read what they stand for. False when memory ran out. */
static bool resolve_keys(struct block *block, cJSON *values)
{
  for (const struct gpumc_key *key = block->keys; key->name != NULL; key++)
    if (key->inverse_of != NULL && !resolve_temperatures(block, key, values))
      return false;
  for (const struct gpumc_key *key = block->keys; key->name != NULL; key++)
    if (key->inverse_of == NULL && !resolve_key(block, key, values))
      return false;
  return true;
}

static cJSON *resolve_block(struct block *block)
{
  cJSON *values = cJSON_CreateObject();
  if (values == NULL)
    return NULL;
  if (block->node != NULL && block->node->kind != GPUMC_NODE_MAPPING) {
    char found[GPUMC_DESCRIPTION_BYTES];
    gpumc_report_mistake(block->report, block->node->mark, "%s: expected a block of keys, found %s",
                         block->name, gpumc_node_describe(block->node, found));
    gpumc_wrong_note(block->report, block->name, "");
    return values;
  }
  if (block->node != NULL)
    check_unknown(block);
  const bool good = resolve_keys(block, values);
  for (size_t i = 0; i < block->n_inverted; i++)
    gpumc_node_free(block->inverted[i].entry.value);
  if (!good) {
    cJSON_Delete(values);
    return NULL;
  }
  check_groups(block);
  return values;
}

cJSON *gpumc_params_resolve(const struct gpumc_key *keys, const struct gpumc_node *node,
                            struct gpumc_mark place, const char *context,
                            struct gpumc_report *report)
{
  struct block block = {
      .keys = keys, .node = node, .place = place, .name = context, .report = report};
  return resolve_block(&block);
}
