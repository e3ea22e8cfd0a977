/* The output path of a task: placeholders filled with the values that it stands for. */
#include <stdlib.h>
#include <string.h>

#include "core/config/params.h"
#include "core/run/language_internal.h"

/* A path being filled in. `complete`: nothing else of the configuration is wrong, so that every
 * value is known. */
struct filling {
  const struct gpumc_language *language;
  const cJSON *resolved;
  bool complete;
  struct gpumc_mark mark;
  struct gpumc_report *report;
};

const cJSON *gpumc_resolved_find(const cJSON *resolved, const char *dotted_key)
{
  char name[GPUMC_KEY_NAME_BYTES];
  while (resolved != NULL) {
    size_t length = strcspn(dotted_key, ".");
    if (length >= sizeof name)
      return NULL;
    memcpy(name, dotted_key, length);
    name[length] = '\0';
    resolved = cJSON_GetObjectItemCaseSensitive(resolved, name);
    if (dotted_key[length] == '\0')
      return resolved;
    dotted_key += length + 1;
  }
  return NULL;
}

static void append_value(struct gpumc_text *path, const cJSON *value)
{
  if (cJSON_IsArray(value)) {
    const cJSON *item = NULL;
    cJSON_ArrayForEach(item, value)
    {
      gpumc_text_append(path, "%s", item == value->child ? "" : "x");
      append_value(path, item);
    }
  } else if (cJSON_IsNumber(value)) {
    gpumc_number_append(path, value->valuedouble);
  } else if (cJSON_IsBool(value)) {
    gpumc_text_append(path, "%s", cJSON_IsTrue(value) ? "true" : "false");
  } else if (cJSON_IsString(value)) {
    gpumc_text_append(path, "%s", cJSON_GetStringValue(value));
  }
}

static void report_unknown(const struct filling *filling, const char *key)
{
  char *nearest = gpumc_language_nearest(filling->language, key, false);
  if (nearest != NULL)
    gpumc_report_mistake(filling->report, filling->mark,
                         "output: unknown key '%s' in braces; did you mean '%s'?", key, nearest);
  else
    gpumc_report_mistake(filling->report, filling->mark, "output: unknown key '%s' in braces", key);
  free(nearest);
}

static void
append_placeholder(const struct filling *filling, struct gpumc_text *path, const char *key)
{
  const struct gpumc_key *declared = gpumc_language_find(filling->language, key);
  const cJSON *value = gpumc_resolved_find(filling->resolved, key);
  if (gpumc_language_is_below_unknown(filling->language, key))
    return;
  if (declared == NULL || strcmp(key, "output") == 0)
    report_unknown(filling, key);
  else if (declared->type == GPUMC_KEY_MAPPING)
    gpumc_report_mistake(filling->report, filling->mark,
                         "output: '%s' in braces is a block, not a value", key);
  else if (value != NULL)
    append_value(path, value);
  else if (filling->complete)
    gpumc_report_mistake(filling->report, filling->mark, "output: '%s' in braces has no value here",
                         key);
}

/* Fills in as much as it can: every mistake is told. */
static void fill(const struct filling *filling, const char *pattern, struct gpumc_text *path)
{
  char key[GPUMC_KEY_NAME_BYTES];
  while (*pattern != '\0' && path->length <= GPUMC_OUTPUT_BYTES_MAXIMUM) {
    size_t literal = strcspn(pattern, "{}");
    gpumc_text_append(path, "%.*s", (int)literal, pattern);
    pattern += literal;
    if (*pattern == '\0')
      break;
    if (pattern[1] == *pattern) {
      gpumc_text_append(path, "%c", *pattern);
      pattern += 2;
      continue;
    }
    size_t length = strcspn(pattern + 1, "{}");
    if (*pattern == '}' || pattern[1 + length] != '}' || length >= sizeof key) {
      gpumc_report_mistake(filling->report, filling->mark,
                           "output: braces must be pairs round the name of a key; {{ and }} stand "
                           "for braces");
      return;
    }
    memcpy(key, pattern + 1, length);
    key[length] = '\0';
    append_placeholder(filling, path, key);
    pattern += length + 2;
  }
}

/* What the path as a whole must be, known once every value is. */
static void check_path(const struct filling *filling, const struct gpumc_text *path)
{
  const char *text = gpumc_text_string(path);
  if (path->length > GPUMC_OUTPUT_BYTES_MAXIMUM)
    gpumc_report_mistake(filling->report, filling->mark, "output: the path is longer than %d bytes",
                         GPUMC_OUTPUT_BYTES_MAXIMUM);
  else if (path->length == 0 || text[path->length - 1] == '/')
    gpumc_report_mistake(filling->report, filling->mark,
                         "output: expected the path of a file, found '%s'", text);
}

char *gpumc_output_fill(const struct gpumc_language *language, const char *pattern,
                        const cJSON *resolved, bool complete, struct gpumc_mark mark,
                        struct gpumc_report *report)
{
  struct gpumc_text path = {0};
  struct filling filling = {.language = language,
                            .resolved = resolved,
                            .complete = complete,
                            .mark = mark,
                            .report = report};
  size_t before = report->calls;
  fill(&filling, pattern, &path);
  if (complete && report->calls == before)
    check_path(&filling, &path);
  bool good = complete && report->calls == before && !path.failed;
  char *output = good ? strdup(gpumc_text_string(&path)) : NULL;
  gpumc_text_free(&path);
  return output;
}
