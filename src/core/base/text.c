/* Growing strings, and edit distance for "did you mean". */
#include "core/base/text.h"

#include "core/base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
      code = gpumc_utf8_decode(next + plain, (size_t)(end - next) - plain, &length);
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

/* Optimal string alignment distance; both lengths at most LONGEST_NAME. */
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
    /* A name that has nothing in common is not near, however short. */
    if (distance < least && 3 * distance <= longer + 2 && distance < longer) {
      least = distance;
      nearest = candidates[i];
    }
  }
  return nearest;
}
