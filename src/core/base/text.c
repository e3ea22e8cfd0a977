/* Growing strings, edit distance for "did you mean", UTF-8, durations and sizes. */
#include "core/base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- characters: is a text UTF-8 that YAML allows? Reported with the place, which libyaml does
 * not give for bad bytes ---- */

enum { BYTE_ORDER_MARK = 0xfeff };

/* Returns the code point at `bytes` (`left` bytes remain) and its length; length 0: not valid
 * UTF-8. */
static uint32_t utf8_decode(const unsigned char *bytes, size_t left, size_t *length)
{
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  uint32_t code = bytes[0];
  size_t n = code < 0x80 ? 1 : (code & 0xe0) == 0xc0 ? 2 : (code & 0xf0) == 0xe0 ? 3 : 4;
  *length = 0;
  if (n > left || (n == 4 && (code & 0xf8) != 0xf0))
    return 0;
  if (n > 1)
    code &= 0x7fu >> n;
  for (size_t i = 1; i < n; i++) {
    if ((bytes[i] & 0xc0) != 0x80)
      return 0;
    code = code << 6 | (bytes[i] & 0x3f);
  }
  if (code < least[n] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
    return 0;
  *length = n;
  return code;
}

/* The characters of YAML 1.1, section 4.1. */
static bool is_allowed(uint32_t code)
{
  return code == '\t' || code == '\n' || code == '\r' || (code >= 0x20 && code < 0x7f) ||
         code == 0x85 || (code >= 0xa0 && code < 0xfffe && code != BYTE_ORDER_MARK) ||
         code >= 0x10000;
}

enum gpumc_utf8 gpumc_utf8_check(const char *text, size_t length, struct gpumc_utf8_place *place)
{
  const unsigned char *bytes = (const unsigned char *)text;
  *place = (struct gpumc_utf8_place){.line = 1, .column = 1};
  for (size_t at = 0, n; at < length; at += n) {
    place->code = utf8_decode(bytes + at, length - at, &n);
    if (n == 0) {
      place->code = bytes[at];
      return GPUMC_UTF8_BAD_BYTE;
    }
    if (place->code == BYTE_ORDER_MARK && at == 0)
      continue;
    if (!is_allowed(place->code))
      return GPUMC_UTF8_BAD_CHARACTER;
    bool line_end =
        place->code == '\n' || (place->code == '\r' && !(at + 1 < length && bytes[at + 1] == '\n'));
    place->line += line_end;
    place->column = line_end ? 1 : place->column + 1;
  }
  return GPUMC_UTF8_GOOD;
}

/* ---- growing strings, near names ---- */

enum { INITIAL_CAPACITY = 256, LONGEST_NAME = 64 };

static bool reserve(struct gpumc_text *text, size_t more)
{
  size_t wanted = text->length + more + 1;
  if (wanted <= text->capacity)
    return true;
  size_t capacity = text->capacity == 0 ? INITIAL_CAPACITY : text->capacity;
  while (capacity < wanted)
    capacity *= 2;
  char *characters = realloc(text->characters, capacity);
  if (characters == NULL) {
    text->failed = true;
    return false;
  }
  text->characters = characters;
  text->capacity = capacity;
  return true;
}

void gpumc_text_append(struct gpumc_text *text, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  if (length < 0 || !reserve(text, (size_t)length)) {
    text->failed = true;
    return;
  }
  va_start(arguments, format);
  vsnprintf(text->characters + text->length, (size_t)length + 1, format, arguments);
  va_end(arguments);
  text->length += (size_t)length;
}

void gpumc_text_append_escaped(struct gpumc_text *text, const char *string,
                               enum gpumc_escapes escapes)
{
  const unsigned char *next = (const unsigned char *)string, *end = next + strlen(string);
  while (next < end) {
    size_t plain = 0, length = 1;
    uint32_t code = 0;
    while (next + plain < end) {
      code = utf8_decode(next + plain, (size_t)(end - next) - plain, &length);
      const bool kept = escapes == GPUMC_ESCAPES_JSON ||
                        (escapes == GPUMC_ESCAPES_LINES && (code == '\n' || code == '\t'));
      if (length == 0 || (code < 0x20 && !kept) || (code >= 0x7f && code < 0xa0))
        break;
      plain += length;
    }
    gpumc_text_append(text, "%.*s", (int)plain, (const char *)next);
    next += plain;
    if (next == end)
      break;
    if (escapes == GPUMC_ESCAPES_JSON)
      gpumc_text_append(text, "\\u%04x", length == 0 ? 0xfffdu : (unsigned)code);
    else
      gpumc_text_append(text, "\\x%02x", length == 0 ? *next : (unsigned)code);
    next += length == 0 ? 1 : length;
  }
}

const char *gpumc_text_string(const struct gpumc_text *text)
{
  return text->characters != NULL ? text->characters : "";
}

void gpumc_text_free(struct gpumc_text *text)
{
  free(text->characters);
  memset(text, 0, sizeof *text);
}

static size_t smaller(size_t a, size_t b)
{
  return a < b ? a : b;
}

/* Returns the optimal string alignment distance; both lengths are at most LONGEST_NAME. */
static size_t edit_distance(const char *a, size_t length_a, const char *b, size_t length_b)
{
  size_t distance[LONGEST_NAME + 1][LONGEST_NAME + 1];
  for (size_t i = 0; i <= length_a; i++)
    distance[i][0] = i;
  for (size_t j = 0; j <= length_b; j++)
    distance[0][j] = j;
  for (size_t i = 1; i <= length_a; i++)
    for (size_t j = 1; j <= length_b; j++) {
      size_t best = distance[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
      best = smaller(best, distance[i - 1][j] + 1);
      best = smaller(best, distance[i][j - 1] + 1);
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        best = smaller(best, distance[i - 2][j - 2] + 1);
      distance[i][j] = best;
    }
  return distance[length_a][length_b];
}

const char *gpumc_nearest_name(const char *name, const char *const *candidates, size_t count)
{
  const char *nearest = NULL;
  size_t length = strlen(name);
  size_t least = LONGEST_NAME + 1;
  if (length > LONGEST_NAME)
    return NULL;
  for (size_t i = 0; i < count; i++) {
    size_t candidate_length = strlen(candidates[i]);
    if (candidate_length > LONGEST_NAME)
      continue;
    size_t distance = edit_distance(name, length, candidates[i], candidate_length);
    size_t longer = length > candidate_length ? length : candidate_length;
    /* A name that has nothing in common is never near, however short. */
    if (distance < least && 3 * distance <= longer + 2 && distance < longer) {
      least = distance;
      nearest = candidates[i];
    }
  }
  return nearest;
}

/* ---- durations and sizes: a decimal number and a unit ---- */

enum { DIGITS_MAXIMUM = 15 };
enum { MINUTE = 60, HOUR = 3600, DAY = 86400 };

struct unit {
  const char *name;
  double value;
};

static const struct unit durations[] = {{"ms", 1e-3}, {"s", 1},   {"min", MINUTE},
                                        {"h", HOUR},  {"d", DAY}, {NULL, 0}};
static const struct unit sizes[] = {
    {"B", 1},           {"kB", 1e3},           {"MB", 1e6},
    {"GB", 1e9},        {"TB", 1e12},          {"KiB", 1024.0},
    {"MiB", 1048576.0}, {"GiB", 1073741824.0}, {"TiB", 1099511627776.0},
    {NULL, 0}};

/* Both describe what the readers below accept, digit for digit. */
const char *const gpumc_duration_pattern =
    "^(?=[0-9.]*[1-9])[0-9]{1,15}(\\.[0-9]{1,15})? *(ms|s|min|h|d)$";
const char *const gpumc_size_pattern =
    "^(?=[0-9.]*[1-9])[0-9]{1,15}(\\.[0-9]{1,15})? *(B|kB|MB|GB|TB|KiB|MiB|GiB|TiB)$";

static size_t count_digits(const char *text)
{
  return strspn(text, "0123456789");
}

/* Summed by hand: strtod would follow the locale's decimal point. */
static bool read_quantity(const char *text, const struct unit *units, double *value)
{
  size_t whole = count_digits(text);
  size_t fraction = text[whole] == '.' ? count_digits(text + whole + 1) : 0;
  const char *rest = text + whole + (text[whole] == '.' ? fraction + 1 : 0);
  if (whole == 0 || whole > DIGITS_MAXIMUM || fraction > DIGITS_MAXIMUM ||
      (text[whole] == '.' && fraction == 0))
    return false;
  rest += strspn(rest, " ");
  double number = 0, scale = 1;
  for (size_t i = 0; i < whole; i++)
    number = 10 * number + (text[i] - '0');
  double part = 0;
  for (size_t i = 0; i < fraction; i++) {
    part = 10 * part + (text[whole + 1 + i] - '0');
    scale *= 10;
  }
  for (; units->name != NULL; units++)
    if (strcmp(rest, units->name) == 0) {
      *value = (number + part / scale) * units->value;
      return *value > 0;
    }
  return false;
}

bool gpumc_duration_read(const char *text, double *seconds)
{
  return read_quantity(text, durations, seconds);
}

bool gpumc_size_read(const char *text, double *bytes)
{
  if (!read_quantity(text, sizes, bytes))
    return false;
  *bytes = fmax(1, round(*bytes));
  return true;
}

const char *gpumc_duration_text(double seconds, char text[static 32])
{
  long long whole = isfinite(seconds) && seconds < 1e15 ? llround(seconds) : 0;
  if (!(seconds >= 0 && seconds < 1e15))
    snprintf(text, 32, "unknown");
  else if (seconds < 59.95)
    snprintf(text, 32, "%.1f s", seconds);
  else if (whole < HOUR)
    snprintf(text, 32, "%lld min %02lld s", whole / MINUTE, whole % MINUTE);
  else if (whole < DAY)
    snprintf(text, 32, "%lld h %02lld min", whole / HOUR, whole % HOUR / MINUTE);
  else
    snprintf(text, 32, "%lld d %02lld h", whole / DAY, whole % DAY / HOUR);
  return text;
}

/* Returns the power of ten of the first digit of `size` > 0, once rounded to `decimals` decimals in
 * scientific notation. */
static int exponent_of(double size, int decimals)
{
  char digits[40];
  snprintf(digits, sizeof digits, "%.*e", decimals, size);
  return atoi(strchr(digits, 'e') + 1);
}

/* Appends both numbers in units of 10^`exponent`; their last digit is 10^`last`, last <= exponent +
 * 1. */
static void append_measured(double value, double error, int exponent, int last, char text[64])
{
  const int decimals = last < exponent ? exponent - last : 0;
  const double unit = pow(10, exponent), grain = pow(10, last);
  const double rounded = round(value / grain) * grain / unit;
  const double digits = round(error / grain);
  const char *sign = value < 0 && rounded != 0 ? "-" : "";
  if (decimals > 0 && error < unit)
    snprintf(text, 64, "%s%.*f(%.0f)", sign, decimals, fabs(rounded), digits);
  else
    snprintf(text, 64, "%s%.*f(%.*f)", sign, decimals, fabs(rounded), decimals,
             digits * grain / unit);
}

/* Smaller errors, and numbers beyond the reciprocal, are not scaled by powers of ten. */
#define SCALED_LEAST 1e-290

const char *gpumc_measured_text(double value, double error, char text[static 64])
{
  enum { DIGITS_MOST = 15, PLAIN_LEAST = -5, PLAIN_MOST = 7 };
  if (!isfinite(value)) {
    snprintf(text, 64, "%s", isnan(value) ? "?" : value > 0 ? "inf" : "-inf");
    return text;
  }
  if (!isfinite(error) || error <= 0) {
    snprintf(text, 64, "%.7g(%s)", value + 0.0, error == 0 ? "0" : "?");
    return text;
  }
  const double larger = fmax(fabs(value), error);
  if (error < SCALED_LEAST || larger > 1 / SCALED_LEAST) {
    snprintf(text, 64, "%.7g(%.2g)", value, error);
    return text;
  }
  int last = exponent_of(error, 1) - 1;
  int first = exponent_of(larger, DIGITS_MOST);
  if (first - last > DIGITS_MOST) { /* no digit of a double would be left for the error */
    snprintf(text, 64, "%.*g(%.2g)", DIGITS_MOST + 1, value, error);
    return text;
  }
  if (exponent_of(larger, first > last ? first - last : 0) > first)
    first++;
  const bool plain = first >= PLAIN_LEAST && first < PLAIN_MOST;
  append_measured(value, error, plain ? 0 : first, last, text);
  if (!plain) {
    const size_t length = strlen(text);
    snprintf(text + length, 64 - length, "e%+03d", first);
  }
  return text;
}
