/* One value of a configuration against its declared key. */
#include "core/config/params.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"

/* ---- scalars as YAML text, and the words for what a key wants and what was found instead ---- */

enum { SHOWN_BYTES = 40 };

const char *const gpumc_device_pattern = "^(auto|cpu|cuda(:(0|[1-9][0-9]{0,2}))?)$";

bool gpumc_scalar_is_null(const struct gpumc_node *node)
{
  static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};
  if (node->kind != GPUMC_NODE_SCALAR || !node->plain)
    return false;
  for (size_t i = 0; i < sizeof nulls / sizeof *nulls; i++)
    if (strcmp(node->text, nulls[i]) == 0)
      return true;
  return false;
}

static size_t digits(const char *text)
{
  return strspn(text, "0123456789");
}

/* [+-] digits [. digits] [e [+-] digits], without leading zeros: YAML 1.1 reads those as octal. */
static bool is_decimal(const char *text)
{
  text += *text == '+' || *text == '-';
  size_t whole = digits(text), fraction = 0;
  if (whole > 1 && text[0] == '0')
    return false;
  text += whole;
  if (*text == '.') {
    fraction = digits(text + 1);
    text += fraction + 1;
  }
  if (whole + fraction == 0)
    return false;
  if (*text == 'e' || *text == 'E') {
    text++;
    text += *text == '+' || *text == '-';
    size_t exponent = digits(text);
    if (exponent == 0)
      return false;
    text += exponent;
  }
  return *text == '\0';
}

/* An unquoted decimal number (no hex, octal, infinity, leading zeros); may overflow to infinity. */
static bool scalar_number(const struct gpumc_node *node, double *value)
{
  if (node->kind != GPUMC_NODE_SCALAR || !node->plain || !is_decimal(node->text))
    return false;
  *value = strtod(node->text, NULL) + 0.0; /* no negative zero: it is the same parameter */
  return true;
}

bool gpumc_scalar_is_infinite(const struct gpumc_node *node)
{
  static const char *const words[] = {".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"};
  bool infinite = false;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    infinite = infinite || (node->kind == GPUMC_NODE_SCALAR && node->plain &&
                            strcmp(node->text, words[i]) == 0);
  return infinite;
}

/* As scalar_number, with .inf where the key allows for it. */
static bool key_number(const struct gpumc_key *key, const struct gpumc_node *node, double *value)
{
  if (!key->or_infinite || !gpumc_scalar_is_infinite(node))
    return scalar_number(node, value);
  *value = INFINITY;
  return true;
}

/* true or false, not quoted. */
static bool scalar_boolean(const struct gpumc_node *node, bool *value)
{
  if (node->kind != GPUMC_NODE_SCALAR || !node->plain)
    return false;
  *value = strcmp(node->text, "true") == 0;
  return *value || strcmp(node->text, "false") == 0;
}

bool gpumc_device_name_is_valid(const char *name)
{
  static const char prefix[] = "cuda:";
  if (strcmp(name, "auto") == 0 || strcmp(name, "cpu") == 0 || strcmp(name, "cuda") == 0)
    return true;
  if (strncmp(name, prefix, strlen(prefix)) != 0)
    return false;
  const char *number = name + strlen(prefix);
  size_t length = digits(number);
  return length >= 1 && length <= 3 && number[length] == '\0' && (length == 1 || number[0] != '0');
}

/* Not in the middle of a UTF-8 character. */
static size_t shown_length(const char *text)
{
  size_t length = strlen(text);
  if (length <= SHOWN_BYTES)
    return length;
  length = SHOWN_BYTES;
  while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
    length--;
  return length;
}

const char *
gpumc_node_describe(const struct gpumc_node *node, char description[static GPUMC_DESCRIPTION_BYTES])
{
  double number;
  bool truth;
  if (node->kind == GPUMC_NODE_SEQUENCE) {
    snprintf(description, GPUMC_DESCRIPTION_BYTES, "a list");
  } else if (node->kind == GPUMC_NODE_MAPPING) {
    snprintf(description, GPUMC_DESCRIPTION_BYTES, "a block of keys");
  } else if (gpumc_scalar_is_null(node)) {
    snprintf(description, GPUMC_DESCRIPTION_BYTES, "nothing");
  } else if (node->text[0] == '\0') {
    snprintf(description, GPUMC_DESCRIPTION_BYTES, "empty text");
  } else {
    int shown = (int)shown_length(node->text);
    const char *more = node->text[shown] == '\0' ? "" : "...";
    if (scalar_number(node, &number))
      snprintf(description, GPUMC_DESCRIPTION_BYTES, "the number %.*s%s", shown, node->text, more);
    else if (scalar_boolean(node, &truth) || gpumc_scalar_is_infinite(node))
      snprintf(description, GPUMC_DESCRIPTION_BYTES, "%s", node->text);
    else
      snprintf(description, GPUMC_DESCRIPTION_BYTES, "text '%.*s%s'%s", shown, node->text, more,
               node->plain ? "" : " in quotes");
  }
  return description;
}

void gpumc_number_append(struct gpumc_text *text, double number)
{
  char digits_text[40];
  if (number == floor(number) && fabs(number) <= GPUMC_INTEGER_LIMIT) {
    gpumc_text_append(text, "%.0f", number);
    return;
  }
  for (int precision = 15; precision <= 17; precision++) {
    snprintf(digits_text, sizeof digits_text, "%.*g", precision, number);
    if (strtod(digits_text, NULL) == number)
      break;
  }
  gpumc_text_append(text, "%s", digits_text);
}

bool gpumc_key_has_limits(const struct gpumc_key *key)
{
  return key->minimum != 0 || key->maximum != 0;
}

static const char *limit_unit(const struct gpumc_key *key)
{
  return key->type == GPUMC_KEY_DURATION ? " s" : key->type == GPUMC_KEY_SIZE ? " B" : "";
}

static void
append_limit(struct gpumc_text *text, const char *words, double limit, const struct gpumc_key *key)
{
  gpumc_text_append(text, "%s", words);
  gpumc_number_append(text, limit);
  gpumc_text_append(text, "%s", limit_unit(key));
}

/* Its range alone: " from 2 to 65536", "" without. */
static void key_range(const struct gpumc_key *key, struct gpumc_text *text)
{
  if (!gpumc_key_has_limits(key))
    return;
  bool above = isfinite(key->minimum), below = isfinite(key->maximum);
  if (above && key->minimum == key->maximum) {
    append_limit(text, " equal to ", key->minimum, key);
    return;
  }
  if (above && below && !key->minimum_exclusive) {
    append_limit(text, " from ", key->minimum, key);
    append_limit(text, " to ", key->maximum, key);
    return;
  }
  if (above)
    append_limit(text, key->minimum_exclusive ? " greater than " : " of at least ", key->minimum,
                 key);
  if (below)
    append_limit(text, above ? " and at most " : " of at most ", key->maximum, key);
}

static const char *type_words(enum gpumc_key_type type)
{
  switch (type) {
  case GPUMC_KEY_BOOLEAN:
    return "true or false";
  case GPUMC_KEY_INTEGER:
    return "an integer";
  case GPUMC_KEY_REAL:
    return "a number";
  case GPUMC_KEY_STRING:
    return "text";
  case GPUMC_KEY_CHOICE:
    return "one of ";
  case GPUMC_KEY_DEVICE:
    return "auto, cpu, cuda or cuda:N";
  case GPUMC_KEY_DURATION:
    return "a duration such as 10 min";
  case GPUMC_KEY_SIZE:
    return "a size such as 4 GiB";
  case GPUMC_KEY_MAPPING:
    return "a block of keys";
  }
  return "a value";
}

/* The same for one value of it. */
static void key_element_expectation(const struct gpumc_key *key, struct gpumc_text *text)
{
  gpumc_text_append(text, "%s", type_words(key->type));
  if (key->type == GPUMC_KEY_CHOICE)
    for (size_t i = 0; key->choices[i] != NULL; i++)
      gpumc_text_append(text, "%s%s", i == 0 ? "" : ", ", key->choices[i]);
  key_range(key, text);
  if (key->multiple_of > 1)
    gpumc_text_append(text, ", a multiple of %lld", (long long)key->multiple_of);
  if (key->or_auto)
    gpumc_text_append(text, ", or auto");
  if (key->or_infinite)
    gpumc_text_append(text, ", or .inf");
}

void gpumc_key_expectation(const struct gpumc_key *key, struct gpumc_text *text)
{
  if (key->list_maximum == 0) {
    key_element_expectation(key, text);
    return;
  }
  gpumc_text_append(text, "a list of ");
  if (key->list_maximum == SIZE_MAX)
    gpumc_text_append(text, "at least %zu", key->list_minimum);
  else if (key->list_minimum == key->list_maximum)
    gpumc_text_append(text, "%zu", key->list_minimum);
  else
    gpumc_text_append(text, "%zu to %zu", key->list_minimum, key->list_maximum);
  gpumc_text_append(text, "%s, each ",
                    key->ascending   ? " ascending values"
                    : key->monotonic ? " ascending or descending values"
                                     : " values");
  key_element_expectation(key, text);
}

/* ---- against the declared key: type, range, choices, list ---- */

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
    key_element_expectation(check->key, &wanted);
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
  if (!scalar_number(node, &value)) {
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
  if (!key_number(check->key, node, &value))
    report_found(check, node, false, gpumc_scalar_is_infinite(node) ? ", which is not finite" : "");
  else if (!isfinite(value) && !gpumc_scalar_is_infinite(node))
    report_found(check, node, false, ", which is too large");
  else if (!is_in_range(check->key, value))
    report_found(check, node, false, "");
  return cJSON_CreateNumber(value);
}

static cJSON *read_boolean(const struct check *check, const struct gpumc_node *node)
{
  bool value = false;
  if (!scalar_boolean(node, &value))
    report_found(check, node, false, "");
  return cJSON_CreateBool(value);
}

/* A number or true is no text, so that a title 2024 is not guessed to mean '2024'. */
static bool is_text(const struct gpumc_node *node)
{
  double number;
  bool truth;
  return node->kind == GPUMC_NODE_SCALAR && !gpumc_scalar_is_null(node) &&
         !scalar_number(node, &number) && !scalar_boolean(node, &truth);
}

bool gpumc_key_is_auto(const struct gpumc_key *key, const struct gpumc_node *node)
{
  return key->or_auto && is_text(node) && strcmp(node->text, "auto") == 0;
}

static cJSON *read_string(const struct check *check, const struct gpumc_node *node)
{
  if (!is_text(node)) {
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
    if (is_text(node) && strcmp(node->text, choices[count]) == 0)
      return cJSON_CreateString(node->text);
  const char *nearest = is_text(node) ? gpumc_nearest_name(node->text, choices, count) : NULL;
  struct gpumc_text hint = {0};
  if (nearest != NULL)
    gpumc_text_append(&hint, "; did you mean '%s'?", nearest);
  report_found(check, node, false, gpumc_text_string(&hint));
  gpumc_text_free(&hint);
  return cJSON_CreateString("");
}

static cJSON *read_device(const struct check *check, const struct gpumc_node *node)
{
  if (is_text(node) && gpumc_device_name_is_valid(node->text))
    return cJSON_CreateString(node->text);
  report_found(check, node, false, "");
  return cJSON_CreateString("");
}

static cJSON *read_quantity(const struct check *check, const struct gpumc_node *node)
{
  double value = 0;
  double number;
  bool good = is_text(node) &&
              (check->key->type == GPUMC_KEY_DURATION ? gpumc_duration_read(node->text, &value)
                                                      : gpumc_size_read(node->text, &value));
  if (!good)
    report_found(check, node, false, scalar_number(node, &number) ? "; the unit is missing" : "");
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
                          key_number(key, item_of(list, 0), &before) &&
                          key_number(key, item_of(list, 1), &value) && value < before;
  for (size_t i = 1; i < count; i++) {
    const struct gpumc_node *previous = item_of(list, i - 1), *item = item_of(list, i);
    if (key_number(key, previous, &before) && key_number(key, item, &value) &&
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

cJSON *gpumc_key_value(const struct gpumc_key *key, const struct gpumc_node *node, const char *name,
                       struct gpumc_report *report)
{
  struct check check = {.key = key, .name = name, .report = report};
  if (gpumc_key_is_auto(key, node))
    return cJSON_CreateNull();
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
