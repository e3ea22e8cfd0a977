/* The nodes of a configuration: making, finding, copying, freeing. */
#include "core/config/config_internal.h"

#include <stdlib.h>
#include <string.h>

struct gpumc_node *
gpumc_node_create(enum gpumc_node_kind kind, struct gpumc_mark mark, const char *text, bool plain)
{
  struct gpumc_node *node = calloc(1, sizeof *node);
  if (node == NULL)
    return NULL;
  node->kind = kind;
  node->mark = mark;
  node->plain = plain;
  if (text != NULL && (node->text = strdup(text)) == NULL) {
    free(node);
    return NULL;
  }
  return node;
}

/* Room for one more element: arrays grow when their count is 0 or a power of two. */
static bool make_room(void **array, size_t count, size_t size)
{
  if ((count & (count - 1)) != 0)
    return true;
  void *larger = realloc(*array, (count == 0 ? 1 : 2 * count) * size);
  if (larger == NULL)
    return false;
  *array = larger;
  return true;
}

bool gpumc_node_append(struct gpumc_node *sequence, struct gpumc_node *item)
{
  if (!make_room((void **)&sequence->items, sequence->count, sizeof *sequence->items)) {
    gpumc_node_free(item);
    return false;
  }
  sequence->items[sequence->count++] = item;
  return true;
}

bool gpumc_node_insert(struct gpumc_node *mapping, const char *key, struct gpumc_mark key_mark,
                       struct gpumc_node *value)
{
  char *copy = strdup(key);
  if (copy == NULL ||
      !make_room((void **)&mapping->entries, mapping->count, sizeof *mapping->entries)) {
    free(copy);
    gpumc_node_free(value);
    return false;
  }
  mapping->entries[mapping->count++] =
      (struct gpumc_entry){.key = copy, .key_mark = key_mark, .value = value};
  return true;
}

bool gpumc_node_budget_spent(const struct gpumc_node_budget *budget)
{
  return budget->nodes > GPUMC_CONFIG_NODES_MAXIMUM || budget->bytes > GPUMC_CONFIG_BYTES_MAXIMUM ||
         budget->depth > GPUMC_CONFIG_DEPTH_MAXIMUM;
}

bool gpumc_node_budget_spend(struct gpumc_node_budget *budget, size_t bytes, size_t depth)
{
  budget->nodes++;
  budget->bytes += bytes;
  if (depth > budget->depth)
    budget->depth = depth;
  return !gpumc_node_budget_spent(budget);
}

void gpumc_node_budget_report(const struct gpumc_node_budget *budget, struct gpumc_mark mark,
                              struct gpumc_report *report)
{
  if (budget->depth > GPUMC_CONFIG_DEPTH_MAXIMUM)
    gpumc_report_mistake(report, mark, "nested deeper than %d", GPUMC_CONFIG_DEPTH_MAXIMUM);
  else if (budget->nodes > GPUMC_CONFIG_NODES_MAXIMUM)
    gpumc_report_mistake(report, mark,
                         "too large: more than %d keys and values when aliases are expanded; use "
                         "shorter lists, or several configurations",
                         GPUMC_CONFIG_NODES_MAXIMUM);
  else
    gpumc_report_mistake(report, mark,
                         "too large: keys and values of more than %d MiB when aliases are "
                         "expanded; use shorter texts and lists, or several configurations",
                         GPUMC_CONFIG_MEBIBYTES_MAXIMUM);
}

static bool copy_children(struct gpumc_node *copy, const struct gpumc_node *node, size_t depth,
                          struct gpumc_node_budget *budget)
{
  for (size_t i = 0; i < node->count; i++) {
    bool is_sequence = node->kind == GPUMC_NODE_SEQUENCE;
    if (!is_sequence && !gpumc_node_budget_spend(budget, strlen(node->entries[i].key), 0))
      return false;
    struct gpumc_node *child =
        gpumc_node_copy(is_sequence ? node->items[i] : node->entries[i].value, depth + 1, budget);
    if (child == NULL)
      return false;
    if (is_sequence
            ? !gpumc_node_append(copy, child)
            : !gpumc_node_insert(copy, node->entries[i].key, node->entries[i].key_mark, child))
      return false;
  }
  return true;
}

struct gpumc_node *
gpumc_node_copy(const struct gpumc_node *node, size_t depth, struct gpumc_node_budget *budget)
{
  if (!gpumc_node_budget_spend(budget, node->text != NULL ? strlen(node->text) : 0,
                               node->kind == GPUMC_NODE_SCALAR ? 0 : depth))
    return NULL;
  struct gpumc_node *copy = gpumc_node_create(node->kind, node->mark, node->text, node->plain);
  if (copy != NULL && !copy_children(copy, node, depth, budget)) {
    gpumc_node_free(copy);
    return NULL;
  }
  return copy;
}

void gpumc_node_free(struct gpumc_node *node)
{
  if (node == NULL)
    return;
  for (size_t i = 0; i < node->count; i++) {
    if (node->kind == GPUMC_NODE_SEQUENCE) {
      gpumc_node_free(node->items[i]);
    } else {
      free(node->entries[i].key);
      gpumc_node_free(node->entries[i].value);
    }
  }
  free(node->items);
  free(node->entries);
  free(node->text);
  free(node);
}

struct gpumc_entry *
gpumc_node_entry_n(const struct gpumc_node *node, const char *key, size_t length)
{
  if (node == NULL || node->kind != GPUMC_NODE_MAPPING)
    return NULL;
  for (size_t i = 0; i < node->count; i++)
    if (strncmp(node->entries[i].key, key, length) == 0 && node->entries[i].key[length] == '\0')
      return &node->entries[i];
  return NULL;
}

struct gpumc_entry *gpumc_node_entry(const struct gpumc_node *node, const char *key)
{
  return gpumc_node_entry_n(node, key, strlen(key));
}

struct gpumc_node *gpumc_node_find(const struct gpumc_node *node, const char *dotted_key)
{
  for (;;) {
    const struct gpumc_entry *entry = gpumc_node_entry(node, dotted_key);
    const char *dot = strchr(dotted_key, '.');
    if (entry != NULL)
      return entry->value;
    if (dot == NULL)
      return NULL;
    entry = gpumc_node_entry_n(node, dotted_key, (size_t)(dot - dotted_key));
    if (entry == NULL)
      return NULL;
    node = entry->value;
    dotted_key = dot + 1;
  }
}

static struct gpumc_entry *
add_entry(struct gpumc_node *mapping, const char *name, size_t length, struct gpumc_mark mark)
{
  char *key = strndup(name, length);
  bool added = key != NULL && gpumc_node_insert(mapping, key, mark, NULL);
  free(key);
  return added ? &mapping->entries[mapping->count - 1] : NULL;
}

struct gpumc_entry *gpumc_node_slot(struct gpumc_node *root, const char *dotted_key,
                                    struct gpumc_mark mark, bool *memory)
{
  struct gpumc_node *node = root;
  *memory = true;
  for (bool in_campaign = false;;) {
    if (node->kind != GPUMC_NODE_MAPPING)
      return NULL;
    size_t length = in_campaign ? strlen(dotted_key) : strcspn(dotted_key, ".");
    struct gpumc_entry *entry = gpumc_node_entry_n(node, dotted_key, length);
    if (entry == NULL)
      entry = add_entry(node, dotted_key, length, mark);
    bool last = dotted_key[length] == '\0';
    if (entry != NULL && !last && entry->value == NULL)
      entry->value = gpumc_node_create(GPUMC_NODE_MAPPING, mark, NULL, false);
    if (entry == NULL || (!last && entry->value == NULL)) {
      *memory = false;
      return NULL;
    }
    if (last)
      return entry;
    in_campaign = node == root && strcmp(entry->key, "campaign") == 0;
    node = entry->value;
    dotted_key += length + 1;
  }
}

void gpumc_node_remove(struct gpumc_node *root, const char *dotted_key)
{
  struct gpumc_node *node = root;
  for (bool in_campaign = false;;) {
    size_t length = in_campaign ? strlen(dotted_key) : strcspn(dotted_key, ".");
    struct gpumc_entry *entry = gpumc_node_entry_n(node, dotted_key, length);
    if (entry == NULL)
      return;
    if (dotted_key[length] == '\0') {
      size_t behind = (size_t)(node->entries + node->count - entry) - 1;
      free(entry->key);
      gpumc_node_free(entry->value);
      memmove(entry, entry + 1, behind * sizeof *entry);
      node->count--;
      return;
    }
    in_campaign = node == root && strcmp(entry->key, "campaign") == 0;
    node = entry->value;
    dotted_key += length + 1;
  }
}
