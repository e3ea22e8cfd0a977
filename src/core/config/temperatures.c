/* Temperatures in place of inverse temperatures: their keys, and what becomes of their values. */
#include "core/config/temperatures.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/config/config.h"

/* ---- their keys ---- */

static bool is_named(const struct gpumc_key *key, const char *name)
{
  return strcmp(key->name, name) == 0;
}

/* A number, or numbers, of a block of inverse temperatures, or beside one. */
static bool is_inverse(const struct gpumc_key *key)
{
  return key->temperature_doc != NULL && key->type == GPUMC_KEY_REAL;
}

/* The unit of 1/x: that of x where it is given as "1/UNIT". */
static const char *inverse_unit(const char *unit)
{
  return unit != NULL && strncmp(unit, "1/", 2) == 0 ? unit + 2 : unit;
}

/* An inverse temperature from 0 on allows .inf; a spacing of temperatures is not one of inverse
 * ones, and has no limits. */
static void invert_limits(struct gpumc_key *key)
{
  const bool step = is_named(key, "step");
  const double coldest = key->maximum, hottest = key->minimum;
  key->unit = inverse_unit(key->unit);
  key->or_infinite = !step && hottest <= 0 && !key->minimum_exclusive;
  key->minimum = step ? 0 : 1 / coldest;
  key->maximum = step || hottest <= 0 ? INFINITY : 1 / hottest;
  key->minimum_exclusive = step;
  key->monotonic = key->ascending;
  key->ascending = false;
}

/* The key of temperatures for one of inverse temperatures, or for one in a block of them. */
static struct gpumc_key inverted(const struct gpumc_key *key)
{
  struct gpumc_key typed = *key;
  typed.temperature = typed.temperature_doc = NULL;
  if (key->temperature_doc != NULL)
    typed.doc = key->temperature_doc;
  if (is_inverse(key)) {
    invert_limits(&typed);
    typed.default_text = NULL;
  }
  return typed;
}

static bool has_temperatures(const struct gpumc_key *keys)
{
  for (; keys != NULL && keys->name != NULL; keys++)
    if (keys->temperature != NULL || has_temperatures(keys->children))
      return true;
  return false;
}

/* Entries of the table and of those in it that are made anew, their ends included. */
static size_t room_for(const struct gpumc_key *keys)
{
  size_t room = 1;
  for (; keys->name != NULL; keys++) {
    room++;
    if (has_temperatures(keys->children))
      room += room_for(keys->children);
    if (keys->temperature != NULL)
      room += 1 + (keys->children != NULL ? gpumc_key_count(keys->children) + 1 : 0);
  }
  return room;
}

/* Tables are laid into one array; `next`: what is left of it. */
struct arena {
  struct gpumc_key *next;
};

static struct gpumc_key *take(struct arena *arena, size_t count)
{
  struct gpumc_key *table = arena->next;
  arena->next += count;
  return table;
}

/* The keys of a block of temperatures. */
static const struct gpumc_key *invert_block(const struct gpumc_key *keys, struct arena *arena)
{
  struct gpumc_key *table = take(arena, gpumc_key_count(keys) + 1);
  for (size_t i = 0; keys[i].name != NULL; i++) {
    assert(keys[i].temperature == NULL && keys[i].children == NULL);
    table[i] = inverted(&keys[i]);
  }
  return table;
}

/* The sibling of a key of inverse temperatures. */
static struct gpumc_key sibling(const struct gpumc_key *key, struct arena *arena)
{
  struct gpumc_key typed = inverted(key);
  typed.name = key->temperature;
  typed.inverse_of = key->name;
  typed.required = false;
  typed.required_unless = NULL;
  if (key->children != NULL)
    typed.children = invert_block(key->children, arena);
  return typed;
}

/* `table` has room for what becomes of `keys`. */
static void fill(const struct gpumc_key *keys, struct gpumc_key *table, struct arena *arena)
{
  for (; keys->name != NULL; keys++) {
    *table = *keys;
    if (has_temperatures(keys->children)) {
      struct gpumc_key *children = take(arena, 0);
      size_t count = 1;
      for (const struct gpumc_key *child = keys->children; child->name != NULL; child++)
        count += child->temperature != NULL ? 2 : 1;
      take(arena, count);
      fill(keys->children, children, arena);
      table->children = children;
    }
    table++;
    if (keys->temperature != NULL)
      *table++ = sibling(keys, arena);
  }
}

struct gpumc_key *gpumc_keys_add_temperatures(const struct gpumc_key *keys, size_t spare)
{
  struct gpumc_key *table = calloc(room_for(keys) + spare, sizeof *table);
  size_t own = 1 + spare;
  if (table == NULL)
    return NULL;
  for (const struct gpumc_key *key = keys; key->name != NULL; key++)
    own += key->temperature != NULL ? 2 : 1;
  struct arena arena = {.next = table + own};
  fill(keys, table, &arena);
  return table;
}

/* The key that takes temperatures in place of this one of a table; NULL: there is none. */
static const struct gpumc_key *
find_sibling(const struct gpumc_key *keys, const struct gpumc_key *key)
{
  for (; keys->name != NULL; keys++)
    if (keys->inverse_of != NULL && strcmp(keys->inverse_of, key->name) == 0)
      return keys;
  return NULL;
}

bool gpumc_temperatures_sibling(const struct gpumc_key *keys, const char *dotted_key,
                                char name[static GPUMC_KEY_NAME_BYTES])
{
  const struct gpumc_key *key = NULL;
  bool found = false;
  size_t length = 0;
  for (const char *rest = dotted_key; keys != NULL && *rest != '\0'; keys = key->children) {
    char part[GPUMC_KEY_NAME_BYTES];
    const size_t part_length = strcspn(rest, ".");
    snprintf(part, sizeof part, "%.*s", (int)part_length, rest);
    key = gpumc_key_find(keys, part);
    if (key == NULL)
      return false;
    const struct gpumc_key *sibling = find_sibling(keys, key);
    found = found || sibling != NULL;
    length += (size_t)snprintf(name + length, GPUMC_KEY_NAME_BYTES - length, "%s%s",
                               length > 0 ? "." : "", (sibling != NULL ? sibling : key)->name);
    rest += part_length + (rest[part_length] == '.');
  }
  return found && key != NULL && is_inverse(key) && !is_named(key, "step");
}

/* ---- what becomes of their values ---- */

/* A block of temperatures on its way. `values`: what it has, checked key by key. */
struct block {
  const struct gpumc_key *key, *typed;
  const struct gpumc_entry *entry;
  const cJSON *values;
  struct gpumc_report *report;
};

static const cJSON *member(const struct block *block, const char *name)
{
  return cJSON_GetObjectItemCaseSensitive(block->values, name);
}

static double number(const struct block *block, const char *name)
{
  return cJSON_GetNumberValue(member(block, name));
}

static struct gpumc_mark mark_of(const struct block *block, const char *name)
{
  const struct gpumc_entry *entry = gpumc_node_entry(block->entry->value, name);
  return entry != NULL ? entry->value->mark : block->entry->value->mark;
}

/* Reports a mistake at one of the keys of the block: "temperature.from = 0.5 ...". */
#define MISTAKE(block, member_name, format, ...)                                                   \
  gpumc_report_mistake((block)->report, mark_of(block, member_name), "%s.%s" format,               \
                       (block)->typed->name, member_name, __VA_ARGS__)

/* 1/T in the digits that give it back. */
static struct gpumc_node *inverse_node(double temperature, struct gpumc_mark mark)
{
  char text[40];
  snprintf(text, sizeof text, "%.17g", isinf(temperature) ? 0.0 : 1 / temperature);
  return gpumc_node_create(GPUMC_NODE_SCALAR, mark, text, true);
}

/* Temperatures in a row: those of a list, or of equal steps. */
struct row {
  const cJSON *list; /* NULL: steps */
  double from, step; /* towards `last`, where the final step ends if `ends` */
  double last;
  bool ends;
  size_t count;
};

static double stepped(const struct row *row, size_t i)
{
  return row->ends && i + 1 == row->count ? row->last : fma((double)i, row->step, row->from);
}

/* The inverses of count temperatures in ascending order, as a list. NULL after a mistake, or when
 * memory ran out. */
static struct gpumc_node *
inverse_list(const struct block *block, const char *name, const struct row *row)
{
  const struct gpumc_mark mark = mark_of(block, name);
  struct gpumc_node *list = gpumc_node_create(GPUMC_NODE_SEQUENCE, mark, NULL, false);
  double *temperature = calloc(row->count + 1, sizeof *temperature);
  const cJSON *item = row->list != NULL ? row->list->child : NULL;
  bool good = list != NULL && temperature != NULL;
  for (size_t i = 0; i < row->count && good; i++) {
    temperature[i] = item != NULL ? item->valuedouble : stepped(row, i);
    item = item != NULL ? item->next : NULL;
  }
  const bool cooling = row->count < 2 || (good && temperature[0] > temperature[1]);
  double before = -1;
  for (size_t i = 0; i < row->count && good; i++) {
    const double hot = temperature[cooling ? i : row->count - 1 - i];
    const double beta = isinf(hot) ? 0 : 1 / hot;
    good = beta > before;
    if (!good)
      gpumc_report_mistake(block->report, mark,
                           "%s: neighbours near T = %.17g have the same inverse",
                           block->typed->name, hot);
    before = beta;
    struct gpumc_node *inverse = good ? inverse_node(hot, mark) : NULL;
    good = inverse != NULL && gpumc_node_append(list, inverse);
  }
  free(temperature);
  if (good)
    return list;
  gpumc_node_free(list);
  return NULL;
}

/* A list for `values`: their number is one that the key of inverse temperatures takes. */
static bool count_fits(const struct block *block, const char *name, double count)
{
  const struct gpumc_key *values = gpumc_key_find(block->key->children, "values");
  const double least = (double)values->list_minimum, most = (double)values->list_maximum;
  if (count >= least && count <= most)
    return true;
  MISTAKE(block, name, " gives %.0f temperature%s, and %s %.0f are %s", count,
          count == 1 ? "" : "s", count < least ? "at least" : "at most",
          count < least ? least : most,
          count < least ? "needed: use a smaller step" : "possible: use a larger step");
  return false;
}

/* No temperature but those of `name`: the first of the keys that is given beside it is a mistake.
 */
static bool stands_alone(const struct block *block, const char *name, const char *words,
                         const char *const *others)
{
  for (; *others != NULL; others++)
    if (member(block, *others) != NULL) {
      MISTAKE(block, *others, ": %s.%s %s; leave out %s.%s", block->typed->name, name, words,
              block->typed->name, *others);
      return false;
    }
  return true;
}

/* Both ends, finite. */
static bool ends_fit(const struct block *block, const char *name)
{
  static const char *const ends[] = {"from", "to"};
  for (size_t i = 0; i < 2; i++)
    if (member(block, ends[i]) == NULL) {
      MISTAKE(block, name, " needs both %s.from and %s.to", block->typed->name, block->typed->name);
      return false;
    }
  for (size_t i = 0; i < 2; i++)
    if (isinf(number(block, ends[i]))) {
      MISTAKE(block, ends[i], ": %s.%s needs a finite temperature here, or inverse ones: use %s",
              block->typed->name, name, block->key->name);
      return false;
    }
  return true;
}

static struct gpumc_node *listed(const struct block *block)
{
  static const char *const others[] = {"from", "to", "spacing", NULL};
  const cJSON *list = member(block, "values");
  const struct row row = {.list = list, .count = (size_t)cJSON_GetArraySize(list)};
  if (!stands_alone(block, "values", "holds all temperatures", others))
    return NULL;
  return inverse_list(block, "values", &row);
}

/* Equal steps of T from `from` towards `to`; a rest below a millionth of a step is rounding. */
static struct gpumc_node *equal_steps(const struct block *block)
{
  static const char *const others[] = {"spacing", NULL};
  if (!stands_alone(block, "step", "makes equal steps", others) || !ends_fit(block, "step"))
    return NULL;
  const double from = number(block, "from"), to = number(block, "to");
  const double step = number(block, "step"), steps = fabs(to - from) / step;
  const bool shortened = gpumc_key_find(block->key->children, "step")->ends_at_to;
  /* Steps that lead to `to` up to rounding end there exactly, so that grids with the same ends have
   * the same inverse temperatures there. */
  const bool ends = shortened || fabs(steps - round(steps)) < 1e-6;
  const double count = (shortened ? ceil(steps - 1e-6) : floor(steps + 1e-6)) + 1;
  if (!count_fits(block, "step", count))
    return NULL;
  const struct row row = {.from = from,
                          .step = to < from ? -step : step,
                          .last = to,
                          .ends = ends,
                          .count = (size_t)count};
  return inverse_list(block, "step", &row);
}

/* So many temperatures in equal steps of T. */
static struct gpumc_node *counted(const struct block *block)
{
  const double from = number(block, "from"), to = number(block, "to");
  const double count = number(block, "count");
  const struct row row = {.from = from,
                          .step = (to - from) / (count - 1),
                          .last = to,
                          .ends = true,
                          .count = (size_t)count};
  return inverse_list(block, "count", &row);
}

static bool is_linear(const struct block *block)
{
  const char *spacing = cJSON_GetStringValue(member(block, "spacing"));
  return spacing != NULL && strcmp(spacing, "linear") == 0;
}

/* Adds `name` to a block of inverse temperatures; takes over `value`. False when memory ran out. */
static bool put(const struct block *block, struct gpumc_node *inverse, const char *name,
                const char *from, struct gpumc_node *value)
{
  return value != NULL && gpumc_node_insert(inverse, name, mark_of(block, from), value);
}

/* A range stays one: `from` is the hotter end, and keys that are no temperatures stay as they are.
 * Returns false when memory ran out. */
static bool put_range(const struct block *block, struct gpumc_node *inverse)
{
  const bool both = member(block, "from") != NULL && member(block, "to") != NULL;
  const bool warming = both && number(block, "from") < number(block, "to");
  bool good = true;
  for (size_t i = 0; i < block->entry->value->count && good; i++) {
    const struct gpumc_entry *entry = &block->entry->value->entries[i];
    const struct gpumc_key *key = gpumc_key_find(block->typed->children, entry->key);
    struct gpumc_node_budget budget = {0};
    const char *name = !warming                          ? entry->key
                       : strcmp(entry->key, "from") == 0 ? "to"
                       : strcmp(entry->key, "to") == 0   ? "from"
                                                         : entry->key;
    good = put(block, inverse, name, entry->key,
               key->or_infinite || strcmp(key->name, "to") == 0 || strcmp(key->name, "from") == 0
                   ? inverse_node(number(block, entry->key), entry->value->mark)
                   : gpumc_node_copy(entry->value, 1, &budget));
  }
  return good;
}

/* Whether the ends of a range differ, where there are two. */
static bool differ(const struct block *block)
{
  const bool both = member(block, "from") != NULL && member(block, "to") != NULL;
  if (!both || number(block, "from") != number(block, "to"))
    return true;
  MISTAKE(block, "from", " = %g must differ from %s.to = %g", number(block, "from"),
          block->typed->name, number(block, "to"));
  return false;
}

static struct gpumc_node *invert_members(const struct block *block)
{
  const bool list = member(block, "values") != NULL, step = member(block, "step") != NULL;
  const bool count = member(block, "count") != NULL;
  struct gpumc_node *inverse =
      gpumc_node_create(GPUMC_NODE_MAPPING, block->entry->value->mark, NULL, false);
  struct gpumc_node *values = NULL;
  bool good = inverse != NULL;
  if (count && !list && !step)
    good = good && ends_fit(block, "count");
  if (!list && !step)
    good = good && differ(block);
  const bool row = list || step || (count && is_linear(block));
  if (good && row)
    values = list ? listed(block) : step ? equal_steps(block) : counted(block);
  good = good && (row ? put(block, inverse, "values",
                            list   ? "values"
                            : step ? "step"
                                   : "count",
                            values)
                      : put_range(block, inverse));
  if (good)
    return inverse;
  gpumc_node_free(inverse);
  return NULL;
}

struct gpumc_node *gpumc_temperatures_invert(const struct gpumc_key *key,
                                             const struct gpumc_key *typed,
                                             const struct gpumc_entry *entry, const cJSON *values,
                                             struct gpumc_report *report)
{
  const struct block block = {
      .key = key, .typed = typed, .entry = entry, .values = values, .report = report};
  if (key->type == GPUMC_KEY_MAPPING)
    return invert_members(&block);
  if (!cJSON_IsArray(values))
    return inverse_node(cJSON_GetNumberValue(values), entry->value->mark);
  const struct row row = {.list = values, .count = (size_t)cJSON_GetArraySize(values)};
  return inverse_list(&block, typed->name, &row);
}

void gpumc_temperatures_strip(const struct gpumc_key *keys, cJSON *values)
{
  for (; keys != NULL && keys->name != NULL; keys++) {
    if (keys->inverse_of != NULL)
      cJSON_DeleteItemFromObjectCaseSensitive(values, keys->name);
    else if (keys->children != NULL)
      gpumc_temperatures_strip(keys->children,
                               cJSON_GetObjectItemCaseSensitive(values, keys->name));
  }
}
