/* The output path of a task: placeholders filled with the values that it stands for. */
#include <stdlib.h>
#include <string.h>

#include "core/language_internal.h"
#include "core/params_internal.h"

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
  } else {
    gpumc_text_append(path, "%s", cJSON_GetStringValue(value));
  }
}

static void report_unknown(const struct gpumc_language *language, const char *key,
                           struct gpumc_mark mark, struct gpumc_report *report)
{
  char *nearest = gpumc_language_nearest(language, key, false);
  if (nearest != NULL)
    gpumc_report_mistake(report, mark, "output: unknown key '%s' in braces; did you mean '%s'?",
                         key, nearest);
  else
    gpumc_report_mistake(report, mark, "output: unknown key '%s' in braces", key);
  free(nearest);
}

static bool append_placeholder(const struct gpumc_language *language, struct gpumc_text *path,
                               const char *key, const cJSON *resolved, struct gpumc_mark mark,
                               struct gpumc_report *report)
{
  const struct gpumc_key *declared = gpumc_language_find(language, key);
  const cJSON *value = gpumc_resolved_find(resolved, key);
  if (declared == NULL || strcmp(key, "output") == 0) {
    report_unknown(language, key, mark, report);
    return false;
  }
  if (declared->type == GPUMC_KEY_MAPPING || value == NULL) {
    gpumc_report_mistake(report, mark, "output: '%s' in braces %s", key,
                         value == NULL ? "has no value here" : "is a block, not a value");
    return false;
  }
  append_value(path, value);
  return true;
}

static bool fill(const struct gpumc_language *language, struct gpumc_text *path,
                 const char *pattern, const cJSON *resolved, struct gpumc_mark mark,
                 struct gpumc_report *report)
{
  char key[GPUMC_KEY_NAME_BYTES];
  while (*pattern != '\0' && path->length <= GPUMC_OUTPUT_BYTES_MAXIMUM) {
    size_t literal = strcspn(pattern, "{}");
    gpumc_text_append(path, "%.*s", (int)literal, pattern);
    pattern += literal;
    if (*pattern == '\0')
      break;
    size_t length = strcspn(pattern + 1, "{}");
    if (*pattern == '}' || pattern[1 + length] != '}' || length >= sizeof key) {
      gpumc_report_mistake(report, mark, "output: braces must be pairs round the name of a key");
      return false;
    }
    memcpy(key, pattern + 1, length);
    key[length] = '\0';
    if (!append_placeholder(language, path, key, resolved, mark, report))
      return false;
    pattern += length + 2;
  }
  return true;
}

char *gpumc_output_fill(const struct gpumc_language *language, const char *pattern,
                        const cJSON *resolved, struct gpumc_mark mark, struct gpumc_report *report)
{
  struct gpumc_text path = {0};
  bool good = fill(language, &path, pattern, resolved, mark, report);
  const char *text = gpumc_text_string(&path);
  if (good && path.length > GPUMC_OUTPUT_BYTES_MAXIMUM) {
    gpumc_report_mistake(report, mark, "output: the path is longer than %d bytes",
                         GPUMC_OUTPUT_BYTES_MAXIMUM);
    good = false;
  } else if (good && (path.length == 0 || text[path.length - 1] == '/')) {
    gpumc_report_mistake(report, mark, "output: expected the path of a file, found '%s'", text);
    good = false;
  }
  char *output = good && !path.failed ? strdup(text) : NULL;
  gpumc_text_free(&path);
  return output;
}
