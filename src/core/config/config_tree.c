/* The nodes of a configuration: making, finding, copying, freeing; and the mistakes found in them.
 */
#include "core/config/config.h"

#include <stdarg.h>
#include <stdio.h>
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
    gpumc_report_mistake(report, mark, "nested more than %d levels deep",
                         GPUMC_CONFIG_DEPTH_MAXIMUM);
  else if (budget->nodes > GPUMC_CONFIG_NODES_MAXIMUM)
    gpumc_report_mistake(report, mark,
                         "too large: more than %d keys and values when aliases are expanded; use "
                         "shorter lists, or several configurations",
                         GPUMC_CONFIG_NODES_MAXIMUM);
  else
    gpumc_report_mistake(report, mark,
                         "too large: more than %d MiB of keys and values when aliases are "
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
      size_t following = (size_t)(node->entries + node->count - entry) - 1;
      free(entry->key);
      gpumc_node_free(entry->value);
      memmove(entry, entry + 1, following * sizeof *entry);
      node->count--;
      return;
    }
    in_campaign = node == root && strcmp(entry->key, "campaign") == 0;
    node = entry->value;
    dotted_key += length + 1;
  }
}

/* ---- the mistakes of a configuration: one line each, every line once, in the order of the file
 * ---- */

static bool is_listed(const struct gpumc_text *lines, const char *line)
{
  size_t length = strlen(line);
  const char *found = gpumc_text_string(lines);
  while ((found = strstr(found, line)) != NULL) {
    bool starts = found == lines->characters || found[-1] == '\n';
    if (starts && found[length] == '\n')
      return true;
    found++;
  }
  return false;
}

void gpumc_report_mistake(struct gpumc_report *report, struct gpumc_mark mark, const char *format,
                          ...)
{
  report->calls++;
  if (report->mistakes > GPUMC_MISTAKES_LISTED)
    return;
  char *message = NULL;
  struct gpumc_text line = {0};
  va_list arguments;
  va_start(arguments, format);
  int length = vasprintf(&message, format, arguments);
  va_end(arguments);
  gpumc_text_append_escaped(&line, mark.source, GPUMC_ESCAPES_TEXT);
  gpumc_text_append(&line, ":%zu:%zu: ", mark.line, mark.column);
  if (report->mistakes == GPUMC_MISTAKES_LISTED)
    gpumc_text_append(&line, "more than %d mistakes; the rest is not listed",
                      GPUMC_MISTAKES_LISTED);
  else
    gpumc_text_append_escaped(
        &line, length < 0 ? "a mistake (out of memory while describing it)" : message,
        GPUMC_ESCAPES_TEXT);
  if (length >= 0)
    free(message);
  if (line.failed)
    report->lines.failed = true;
  else if (!is_listed(&report->lines, gpumc_text_string(&line))) {
    gpumc_text_append(&report->lines, "%s\n", gpumc_text_string(&line));
    report->mistakes++;
  }
  gpumc_text_free(&line);
}

void gpumc_report_fault(struct gpumc_report *report, const char *block, const char *key)
{
  report->calls++;
  if (report->fault.length == 0)
    gpumc_text_append(&report->fault,
                      "a check of '%s' reads the key '%s', which it does not declare: a bug in "
                      "gpumc or a plugin, not in the configuration; please report it to its author",
                      block, key);
}

/* A line of the report taken apart; `order`: its number among the lines. */
struct place {
  const char *text;
  size_t source_length, line, column, order;
};

/* The first ":NUMBER:NUMBER: " ends the source. */
static void find_place(struct place *place)
{
  const char *colon = place->text;
  while ((colon = strchr(colon, ':')) != NULL) {
    int end = 0;
    if (sscanf(colon, ":%zu:%zu: %n", &place->line, &place->column, &end) == 2 && end > 0)
      break;
    colon++;
  }
  place->source_length = colon == NULL ? 0 : (size_t)(colon - place->text);
}

static int compare_places(const void *left, const void *right)
{
  const struct place *a = left, *b = right;
  size_t shorter = a->source_length < b->source_length ? a->source_length : b->source_length;
  int order = strncmp(a->text, b->text, shorter);
  if (order == 0)
    order = (a->source_length > b->source_length) - (a->source_length < b->source_length);
  if (order == 0)
    order = (a->line > b->line) - (a->line < b->line);
  if (order == 0)
    order = (a->column > b->column) - (a->column < b->column);
  return order != 0 ? order : (a->order > b->order) - (a->order < b->order);
}

void gpumc_report_sort(struct gpumc_report *report)
{
  struct gpumc_text sorted = {0};
  struct place *places = calloc(report->mistakes + 1, sizeof *places);
  size_t count = 0;
  if (places == NULL || report->lines.failed) {
    report->lines.failed = true;
    goto out;
  }
  for (char *line = report->lines.characters; line != NULL && *line != '\0'; count++) {
    char *end = strchr(line, '\n');
    *end = '\0';
    places[count] = (struct place){.text = line, .order = count};
    find_place(&places[count]);
    line = end + 1;
  }
  qsort(places, count, sizeof *places, compare_places);
  for (size_t i = 0; i < count; i++)
    gpumc_text_append(&sorted, "%s\n", places[i].text);
  gpumc_text_free(&report->lines);
  report->lines = sorted;
out:
  free(places);
}

void gpumc_report_free(struct gpumc_report *report)
{
  gpumc_text_free(&report->lines);
  gpumc_text_free(&report->wrong);
  gpumc_text_free(&report->typed);
  gpumc_text_free(&report->fault);
  report->mistakes = 0;
  report->calls = 0;
}
