/* Scalars as YAML has them, and the words for what a key wants and for what was found instead. */
#include "core/config/params_words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

bool gpumc_scalar_number(const struct gpumc_node *node, double *value)
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

/* .inf, -.inf or .nan, which YAML calls numbers too. */
static bool is_not_finite(const struct gpumc_node *node)
{
  static const char *const words[] = {"-.inf", "-.Inf", "-.INF", ".nan", ".NaN", ".NAN"};
  bool found = gpumc_scalar_is_infinite(node);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    found = found ||
            (node->kind == GPUMC_NODE_SCALAR && node->plain && strcmp(node->text, words[i]) == 0);
  return found;
}

bool gpumc_key_number(const struct gpumc_key *key, const struct gpumc_node *node, double *value)
{
  if (!key->or_infinite || !gpumc_scalar_is_infinite(node))
    return gpumc_scalar_number(node, value);
  *value = INFINITY;
  return true;
}

bool gpumc_scalar_boolean(const struct gpumc_node *node, bool *value)
{
  if (node->kind != GPUMC_NODE_SCALAR || !node->plain)
    return false;
  *value = strcmp(node->text, "true") == 0;
  return *value || strcmp(node->text, "false") == 0;
}

bool gpumc_scalar_is_text(const struct gpumc_node *node)
{
  double number;
  bool truth;
  return node->kind == GPUMC_NODE_SCALAR && !gpumc_scalar_is_null(node) &&
         !gpumc_scalar_number(node, &number) && !gpumc_scalar_boolean(node, &truth) &&
         !is_not_finite(node);
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
    if (gpumc_scalar_number(node, &number))
      snprintf(description, GPUMC_DESCRIPTION_BYTES, "the number %.*s%s", shown, node->text, more);
    else if (is_not_finite(node))
      snprintf(description, GPUMC_DESCRIPTION_BYTES, "%s, which is not a finite number",
               node->text);
    else if (gpumc_scalar_boolean(node, &truth))
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
  case GPUMC_KEY_TURNS:
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

void gpumc_key_element_expectation(const struct gpumc_key *key, struct gpumc_text *text)
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

/* Choices that may take turns. */
static void turns_expectation(const struct gpumc_key *key, struct gpumc_text *text)
{
  const struct gpumc_key choice = {.type = GPUMC_KEY_CHOICE, .choices = key->choices};
  gpumc_key_element_expectation(&choice, text);
  if (key->choices[1] != NULL)
    gpumc_text_append(text, ", or a list of up to %zu that take turns, such as [{%s: 2}, {%s: 1}]",
                      key->list_maximum, key->choices[0], key->choices[1]);
}

void gpumc_key_expectation(const struct gpumc_key *key, struct gpumc_text *text)
{
  if (key->type == GPUMC_KEY_TURNS) {
    turns_expectation(key, text);
    return;
  }
  if (key->list_maximum == 0) {
    gpumc_key_element_expectation(key, text);
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
  gpumc_key_element_expectation(key, text);
}
