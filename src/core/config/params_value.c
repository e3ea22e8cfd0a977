/* One value of a configuration against its declared key: type, range, choices, list. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/config/params_words.h"

/* The key, its dotted name and where mistakes go. */
struct check {
  const struct gpumc_key *key;
  const char *name;
  struct gpumc_report *report;
  bool single; /* a value without the brackets of the list that is expected */
};

/* "NAME: expected ..., found ...HINT". */
static void
report_found(const struct check *check, const struct gpumc_node *node, bool whole, const char *hint)
{
  struct gpumc_text wanted = {0};
  char found[GPUMC_DESCRIPTION_BYTES];
  if (whole || check->single)
    gpumc_key_expectation(check->key, &wanted);
  else
    gpumc_key_element_expectation(check->key, &wanted);
  gpumc_report_mistake(check->report, node->mark, "%s: expected %s, found %s%s", check->name,
                       gpumc_text_string(&wanted), gpumc_node_describe(node, found), hint);
  gpumc_text_free(&wanted);
}

static bool is_in_range(const struct gpumc_key *key, double value)
{
  if (!gpumc_key_has_limits(key))
    return true;
  return value <= key->maximum &&
         (key->minimum_exclusive ? value > key->minimum : value >= key->minimum);
}

static cJSON *read_integer(const struct check *check, const struct gpumc_node *node)
{
  double value = 0;
  if (!gpumc_scalar_number(node, &value)) {
    report_found(check, node, false, "");
    return cJSON_CreateNumber(0);
  }
  bool divides = check->key->multiple_of <= 1 || fmod(value, (double)check->key->multiple_of) == 0;
  if (fabs(value) > GPUMC_INTEGER_LIMIT)
    report_found(check, node, false,
                 gpumc_key_has_limits(check->key) ? "" : ", which is beyond 2^53");
  else if (value != floor(value) || !is_in_range(check->key, value) || !divides)
    report_found(check, node, false, "");
  return cJSON_CreateNumber(value);
}

static cJSON *read_real(const struct check *check, const struct gpumc_node *node)
{
  double value = 0;
  if (!gpumc_key_number(check->key, node, &value))
    report_found(check, node, false, "");
  else if (!isfinite(value) && !gpumc_scalar_is_infinite(node))
    report_found(check, node, false, ", which is too large");
  else if (!is_in_range(check->key, value))
    report_found(check, node, false, "");
  return cJSON_CreateNumber(value);
}

static cJSON *read_boolean(const struct check *check, const struct gpumc_node *node)
{
  bool value = false;
  if (!gpumc_scalar_boolean(node, &value))
    report_found(check, node, false, "");
  return cJSON_CreateBool(value);
}

bool gpumc_key_is_auto(const struct gpumc_key *key, const struct gpumc_node *node)
{
  return key->or_auto && gpumc_scalar_is_text(node) && strcmp(node->text, "auto") == 0;
}

static cJSON *read_string(const struct check *check, const struct gpumc_node *node)
{
  if (!gpumc_scalar_is_text(node)) {
    bool scalar = node->kind == GPUMC_NODE_SCALAR && !gpumc_scalar_is_null(node);
    report_found(check, node, false, scalar ? "; put it in quotes" : "");
    return cJSON_CreateString("");
  }
  if (check->key->required && node->text[0] == '\0')
    gpumc_report_mistake(check->report, node->mark, "%s must not be empty", check->name);
  return cJSON_CreateString(node->text);
}

static cJSON *read_choice(const struct check *check, const struct gpumc_node *node)
{
  const char *const *choices = check->key->choices;
  size_t count = 0;
  for (; choices[count] != NULL; count++)
    if (gpumc_scalar_is_text(node) && strcmp(node->text, choices[count]) == 0)
      return cJSON_CreateString(node->text);
  const char *nearest =
      gpumc_scalar_is_text(node) ? gpumc_nearest_name(node->text, choices, count) : NULL;
  struct gpumc_text hint = {0};
  if (nearest != NULL)
    gpumc_text_append(&hint, "; did you mean '%s'?", nearest);
  report_found(check, node, false, gpumc_text_string(&hint));
  gpumc_text_free(&hint);
  return cJSON_CreateString("");
}

static cJSON *read_device(const struct check *check, const struct gpumc_node *node)
{
  if (gpumc_scalar_is_text(node) && gpumc_device_name_is_valid(node->text))
    return cJSON_CreateString(node->text);
  report_found(check, node, false, "");
  return cJSON_CreateString("");
}

static cJSON *read_quantity(const struct check *check, const struct gpumc_node *node)
{
  double value = 0;
  double number;
  bool good = gpumc_scalar_is_text(node) &&
              (check->key->type == GPUMC_KEY_DURATION ? gpumc_duration_read(node->text, &value)
                                                      : gpumc_size_read(node->text, &value));
  if (!good)
    report_found(check, node, false,
                 gpumc_scalar_number(node, &number) ? "; the unit is missing" : "");
  else if (!is_in_range(check->key, value))
    report_found(check, node, false, "");
  return cJSON_CreateNumber(value);
}

static cJSON *read_scalar(const struct check *check, const struct gpumc_node *node)
{
  switch (check->key->type) {
  case GPUMC_KEY_BOOLEAN:
    return read_boolean(check, node);
  case GPUMC_KEY_INTEGER:
    return read_integer(check, node);
  case GPUMC_KEY_REAL:
    return read_real(check, node);
  case GPUMC_KEY_STRING:
    return read_string(check, node);
  case GPUMC_KEY_CHOICE:
    return read_choice(check, node);
  case GPUMC_KEY_DEVICE:
    return read_device(check, node);
  case GPUMC_KEY_DURATION:
  case GPUMC_KEY_SIZE:
    return read_quantity(check, node);
  case GPUMC_KEY_TURNS:
  case GPUMC_KEY_MAPPING:
    break;
  }
  assert(!"a block is no value");
  return cJSON_CreateNull();
}

/* A single value counts as a list of one. */
static const struct gpumc_node *item_of(const struct gpumc_node *list, size_t i)
{
  return list->kind == GPUMC_NODE_SEQUENCE ? list->items[i] : list;
}

/* Where values that ascend must go on to do so, or those that descend. */
static void check_order(const struct check *check, const struct gpumc_node *list, size_t count)
{
  const struct gpumc_key *key = check->key;
  double before, value;
  const bool descending = key->monotonic && count > 1 &&
                          gpumc_key_number(key, item_of(list, 0), &before) &&
                          gpumc_key_number(key, item_of(list, 1), &value) && value < before;
  for (size_t i = 1; i < count; i++) {
    const struct gpumc_node *previous = item_of(list, i - 1), *item = item_of(list, i);
    if (gpumc_key_number(key, previous, &before) && gpumc_key_number(key, item, &value) &&
        !(descending ? value < before : value > before))
      gpumc_report_mistake(check->report, item->mark, "%s: expected %s values, but %s %s %s",
                           check->name, descending ? "descending" : "ascending", item->text,
                           descending ? "is not below" : "does not exceed", previous->text);
  }
}

static bool is_single(const struct gpumc_key *key, const struct gpumc_node *node)
{
  return node->kind == GPUMC_NODE_SCALAR && !gpumc_scalar_is_null(node) && key->list_minimum <= 1;
}

static cJSON *read_list(const struct check *check, const struct gpumc_node *node)
{
  const struct gpumc_key *key = check->key;
  const size_t count = check->single ? 1 : node->count;
  cJSON *list = cJSON_CreateArray();
  if (list == NULL)
    return NULL;
  if (node->kind != GPUMC_NODE_SEQUENCE && !check->single) {
    report_found(check, node, true, "");
    return list;
  }
  if (count < key->list_minimum || count > key->list_maximum) {
    struct gpumc_text hint = {0};
    gpumc_text_append(&hint, " of %zu", count);
    report_found(check, node, true, gpumc_text_string(&hint));
    gpumc_text_free(&hint);
  }
  for (size_t i = 0; i < count; i++) {
    cJSON *element = read_scalar(check, item_of(node, i));
    if (element == NULL || !cJSON_AddItemToArray(list, element)) {
      cJSON_Delete(element);
      cJSON_Delete(list);
      return NULL;
    }
  }
  if (key->ascending || key->monotonic)
    check_order(check, node, count);
  return list;
}

/* ---- choices that take turns ---- */

/* The key of a single choice. */
static struct gpumc_key choice_of(const struct gpumc_key *key)
{
  return (struct gpumc_key){
      .name = key->name, .type = GPUMC_KEY_CHOICE, .choices = key->choices, .doc = key->doc};
}

/* The key of the number of a turn. */
static struct gpumc_key number_of(const struct gpumc_key *key)
{
  return (struct gpumc_key){.name = key->name,
                            .type = GPUMC_KEY_INTEGER,
                            .minimum = key->minimum,
                            .maximum = key->maximum};
}

/* A turn on its way into a list; `choice` and `number` are owned. */
struct turn {
  cJSON *choice, *number;
};

static void free_turn(struct turn *turn)
{
  cJSON_Delete(turn->choice);
  cJSON_Delete(turn->number);
}

/* A list, or a block of several keys: what a turn is not. */
static void
report_turn(const struct gpumc_node *item, const char *name, struct gpumc_report *report)
{
  char found[GPUMC_DESCRIPTION_BYTES];
  if (item->kind == GPUMC_NODE_MAPPING)
    gpumc_report_mistake(report, item->mark,
                         "%s: each turn is one name with its number, but this block has %zu: begin "
                         "a new one for each, [{%s: 1}, ...]",
                         name, item->count, item->count > 0 ? item->entries[0].key : "NAME");
  else
    gpumc_report_mistake(report, item->mark, "%s: expected a turn such as {NAME: 1}, found %s",
                         name, gpumc_node_describe(item, found));
}

/* {CHOICE: NUMBER}, or CHOICE alone, for 1. NULL in `turn`: memory ran out, or it is no turn. */
static struct turn read_turn(const struct gpumc_key *key, const struct gpumc_node *item,
                             const char *name, struct gpumc_report *report)
{
  const struct gpumc_key choice = choice_of(key), number = number_of(key);
  char dotted[GPUMC_KEY_NAME_BYTES];
  if (item->kind == GPUMC_NODE_SCALAR)
    return (struct turn){gpumc_key_value(&choice, item, name, report), cJSON_CreateNumber(1)};
  if (item->kind != GPUMC_NODE_MAPPING || item->count != 1) {
    report_turn(item, name, report);
    return (struct turn){cJSON_CreateString(""), cJSON_CreateNumber(1)};
  }
  const struct gpumc_entry *entry = &item->entries[0];
  const struct gpumc_node word = {
      .kind = GPUMC_NODE_SCALAR, .mark = entry->key_mark, .text = entry->key, .plain = true};
  struct turn turn = {.choice = gpumc_key_value(&choice, &word, name, report)};
  const bool named = cJSON_IsString(turn.choice) && turn.choice->valuestring[0] != '\0';
  turn.number = gpumc_key_value(
      &number, entry->value, named ? gpumc_key_join(name, turn.choice->valuestring, dotted) : name,
      report);
  return turn;
}

/* Appends {choice: number}, or adds to the turn before, if that is of the same choice. False when
 * memory ran out. */
static bool append_turn(const struct gpumc_key *key, cJSON *list, struct turn *turn)
{
  const char *choice = turn->choice->valuestring;
  const int count = cJSON_GetArraySize(list);
  cJSON *before = count > 0 ? cJSON_GetArrayItem(list, count - 1)->child : NULL;
  if (before != NULL && strcmp(before->string, choice) == 0 &&
      before->valuedouble + turn->number->valuedouble <= key->maximum) {
    cJSON_SetNumberValue(before, before->valuedouble + turn->number->valuedouble);
    return true;
  }
  cJSON *item = cJSON_CreateObject();
  if (item == NULL || !cJSON_AddItemToArray(list, item)) {
    cJSON_Delete(item);
    return false;
  }
  if (!cJSON_AddItemToObject(item, choice, turn->number))
    return false;
  turn->number = NULL;
  return true;
}

/* Turns of a single choice are that choice: its number would change nothing. Takes over `list`. */
static cJSON *simplest(cJSON *list)
{
  if (cJSON_GetArraySize(list) != 1)
    return list;
  cJSON *choice = cJSON_CreateString(list->child->child->string);
  cJSON_Delete(list);
  return choice;
}

/* The value of a key whose choices may take turns: a choice, or the list of blocks of one key each;
 * turns of one choice that follow on each other are one. */
static cJSON *read_turns(const struct gpumc_key *key, const struct gpumc_node *node,
                         const char *name, struct gpumc_report *report)
{
  const struct gpumc_key choice = choice_of(key);
  struct gpumc_text wanted = {0};
  char found[GPUMC_DESCRIPTION_BYTES];
  if (node->kind == GPUMC_NODE_SCALAR)
    return gpumc_key_value(&choice, node, name, report);
  if (node->kind != GPUMC_NODE_SEQUENCE || node->count < key->list_minimum ||
      node->count > key->list_maximum) {
    gpumc_key_expectation(key, &wanted);
    gpumc_text_append(&wanted, ", found %s", gpumc_node_describe(node, found));
    if (node->kind == GPUMC_NODE_SEQUENCE)
      gpumc_text_append(&wanted, " of %zu", node->count);
    gpumc_report_mistake(report, node->mark, "%s: expected %s", name, gpumc_text_string(&wanted));
    gpumc_text_free(&wanted);
    return cJSON_CreateString("");
  }
  cJSON *list = cJSON_CreateArray();
  bool good = list != NULL;
  for (size_t i = 0; good && i < node->count; i++) {
    struct turn turn = read_turn(key, node->items[i], name, report);
    good = turn.choice != NULL && turn.number != NULL && append_turn(key, list, &turn);
    free_turn(&turn);
  }
  if (good)
    return simplest(list);
  cJSON_Delete(list);
  return NULL;
}

/* ---- any value ---- */

cJSON *gpumc_key_value(const struct gpumc_key *key, const struct gpumc_node *node, const char *name,
                       struct gpumc_report *report)
{
  struct check check = {.key = key, .name = name, .report = report};
  if (gpumc_key_is_auto(key, node))
    return cJSON_CreateNull();
  if (key->type == GPUMC_KEY_TURNS)
    return read_turns(key, node, name, report);
  check.single = key->list_maximum > 0 && is_single(key, node);
  return key->list_maximum > 0 ? read_list(&check, node) : read_scalar(&check, node);
}

/* Lists go through the YAML reader; a single value is its text. */
cJSON *gpumc_key_default(const struct gpumc_key *key)
{
  struct gpumc_report report = {0};
  struct gpumc_error error = {0};
  struct gpumc_node *list = NULL;
  struct gpumc_mark mark = {.source = key->name, .line = 1, .column = 1};
  bool number = key->type == GPUMC_KEY_INTEGER || key->type == GPUMC_KEY_REAL ||
                key->type == GPUMC_KEY_BOOLEAN;
  char *text = strdup(key->default_text);
  struct gpumc_node scalar = {
      .kind = GPUMC_NODE_SCALAR, .mark = mark, .text = text, .plain = number};
  if (text != NULL && key->list_maximum > 0 &&
      gpumc_node_parse(key->name, 0, text, strlen(text), &list, &report, &error) != GPUMC_OK)
    gpumc_error_free(&error);
  const struct gpumc_node *node = key->list_maximum > 0 ? list : &scalar;
  cJSON *value =
      text == NULL || node == NULL ? NULL : gpumc_key_value(key, node, key->name, &report);
  assert(report.mistakes == 0 && "the default of a declared key is not valid");
  gpumc_node_free(list);
  gpumc_report_free(&report);
  free(text);
  return value;
}
