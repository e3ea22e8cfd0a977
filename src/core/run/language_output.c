/* The output paths of tasks, and whether their files would collide. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/config/params.h"
#include "core/run/language_internal.h"
#include "core/storage/side_files.h"

/* ---- the output path of a task: placeholders filled with the values that it stands for ---- */

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

/* A turn of a move, {a: 2}, as a-2. */
static void append_value(struct gpumc_text *path, const cJSON *value)
{
  if (cJSON_IsObject(value)) {
    gpumc_text_append(path, "%s-", value->child->string);
    append_value(path, value->child);
  } else if (cJSON_IsArray(value)) {
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

/* Returns whether a value is a path that leads above where it begins, as "../c" does. */
static bool leads_up(const cJSON *value)
{
  const char *text = cJSON_GetStringValue(value);
  long depth = 0;
  while (text != NULL && *text != '\0' && depth >= 0) {
    const size_t length = strcspn(text, "/");
    if (length == 2 && strncmp(text, "..", 2) == 0)
      depth--;
    else if (length > 0 && !(length == 1 && text[0] == '.'))
      depth++;
    text += length + (text[length] == '/');
  }
  return depth < 0;
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
  if (strcmp(key, "output") == 0)
    gpumc_report_mistake(filling->report, filling->mark,
                         "output: {output} stands for the output itself; name other keys in "
                         "braces, such as {seed}");
  else if (declared == NULL)
    report_unknown(filling, key);
  else if (declared->type == GPUMC_KEY_MAPPING)
    gpumc_report_mistake(filling->report, filling->mark,
                         "output: '%s' in braces is a block, not a value", key);
  else if (leads_up(value))
    gpumc_report_mistake(
        filling->report, filling->mark,
        "output: {%s} is '%s' here, whose '..' leads out of the output's folder; omit {%s}, or "
        "give that file a path without '..'",
        key, cJSON_GetStringValue(value), key);
  else if (value != NULL)
    append_value(path, value);
  else if (filling->complete)
    gpumc_report_mistake(filling->report, filling->mark, "output: '%s' in braces has no value here",
                         key);
}

/* Fills in as much as it can: every mistake is reported. */
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
      gpumc_report_mistake(
          filling->report, filling->mark,
          "output: braces must enclose the name of a key; {{ and }} stand for braces");
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

/* ---- whether the files of tasks would collide: results, the files beside them during a run, and
 * what tasks read ---- */

/* A result as every way to write its name has it. */
struct place {
  const struct gpumc_task *task;
  char *path; /* owned */
};

/* `path` from the root, without empty and "." parts; ".." stays, since links decide where it leads.
 * NULL when memory ran out. */
static char *make_absolute(const char *path)
{
  char directory[PATH_MAX] = "";
  struct gpumc_text text = {0};
  if (path[0] != '/' && getcwd(directory, sizeof directory) != NULL && directory[1] != '\0')
    gpumc_text_append(&text, "%s", directory);
  while (*path != '\0') {
    const size_t length = strcspn(path, "/");
    if (length > 0 && !(length == 1 && path[0] == '.'))
      gpumc_text_append(&text, "/%.*s", (int)length, path);
    path += length + (path[length] == '/');
  }
  if (!text.failed)
    return text.characters;
  gpumc_text_free(&text);
  return NULL;
}

/* Appends the parts of `rest` to `path`, a ".." taking the last one away. */
static void append_parts(struct gpumc_text *path, const char *rest)
{
  while (*rest != '\0') {
    rest += *rest == '/';
    const size_t length = strcspn(rest, "/");
    if (length == 2 && strncmp(rest, "..", 2) == 0) {
      char *slash = path->length > 0 ? strrchr(path->characters, '/') : NULL;
      path->length = slash != NULL ? (size_t)(slash - path->characters) : 0;
      if (path->characters != NULL)
        path->characters[path->length] = '\0';
    } else if (length > 0) {
      gpumc_text_append(path, "/%.*s", (int)length, rest);
    }
    rest += length;
  }
}

/* The directory as it is named without links, as far as it exists. NULL when memory ran out. */
static char *resolve_directory(const char *directory)
{
  char real[PATH_MAX];
  struct gpumc_text path = {0};
  char *existing = strdup(directory);
  if (existing == NULL)
    return NULL;
  size_t length = strlen(existing);
  while (length > 0 && realpath(existing, real) == NULL) {
    while (length > 0 && existing[--length] != '/')
      ;
    existing[length] = '\0';
  }
  if (length > 0 && strcmp(real, "/") != 0)
    gpumc_text_append(&path, "%s", real);
  append_parts(&path, directory + length);
  gpumc_text_append(&path, "%s", "");
  free(existing);
  if (!path.failed)
    return path.characters;
  gpumc_text_free(&path);
  return NULL;
}

/* The directories of many tasks are one, and looked up once: `known` as it stands in outputs,
 * `real` resolved. */
struct directory {
  char *known, *real;
};

/* NULL when memory ran out. */
static char *resolve(struct directory *last, const char *output)
{
  char *absolute = make_absolute(output);
  char *path = NULL;
  if (absolute == NULL)
    return NULL;
  char *name = strrchr(absolute, '/');
  *name++ = '\0';
  if (last->real == NULL || strcmp(last->known, absolute) != 0) {
    free(last->known);
    free(last->real);
    last->known = strdup(absolute);
    last->real = last->known != NULL ? resolve_directory(absolute) : NULL;
  }
  if (last->real != NULL && asprintf(&path, "%s/%s", last->real, name) < 0)
    path = NULL;
  free(absolute);
  return path;
}

static int compare_places(const void *left, const void *right)
{
  const struct place *a = left, *b = right;
  const int order = strcmp(a->path, b->path);
  if (order != 0)
    return order;
  return (a->task->index > b->task->index) - (a->task->index < b->task->index);
}

static int compare_path(const void *path, const void *place)
{
  return strcmp(path, ((const struct place *)place)->path);
}

/* The task that has a file beside its result where that of `place` would be; `*suffix`: as what.
 * NULL: none, or memory ran out and `*good` is false. */
static const struct place *beside(const struct place *places, size_t count,
                                  const struct place *place, const char **suffix, bool *good)
{
  const size_t length = strlen(place->path);
  for (const char *const *s = gpumc_side_suffixes; *s != NULL; s++) {
    const size_t own = strlen(*s);
    if (own >= length || strcmp(place->path + length - own, *s) != 0)
      continue;
    char *stem = strndup(place->path, length - own);
    const struct place *found =
        stem != NULL ? bsearch(stem, places, count, sizeof *places, compare_path) : NULL;
    *good = *good && stem != NULL;
    *suffix = *s;
    free(stem);
    if (found != NULL)
      return found;
  }
  return NULL;
}

static void report_same(struct gpumc_language *language, struct gpumc_mark mark,
                        const struct gpumc_task *one, const struct gpumc_task *other)
{
  const bool written_alike = strcmp(one->output, other->output) == 0;
  gpumc_report_mistake(&language->report, mark,
                       "output: tasks %zu (%s) and %zu (%s) would both write '%s'%s%s%s; name the "
                       "keys of the campaign in braces, such as {seed}",
                       one->index, one->label, other->index, other->label, one->output,
                       written_alike ? "" : ", which is '", written_alike ? "" : other->output,
                       written_alike ? "" : "'");
}

/* `places[count]` sorted. */
static bool look(struct gpumc_language *language, struct gpumc_mark mark,
                 const struct place *places, size_t count)
{
  bool good = true;
  for (size_t i = 1; i < count; i++)
    if (strcmp(places[i - 1].path, places[i].path) == 0) {
      report_same(language, mark, places[i - 1].task, places[i].task);
      return true;
    }
  for (size_t i = 0; i < count && good; i++) {
    const char *suffix = NULL;
    const struct place *owner = beside(places, count, &places[i], &suffix, &good);
    if (owner == NULL)
      continue;
    gpumc_report_mistake(&language->report, mark,
                         "output: the result of task %zu (%s), '%s', has the name that task %zu "
                         "(%s) gives the file %s next to its own result, '%s'",
                         places[i].task->index, places[i].task->label, places[i].task->output,
                         owner->task->index, owner->task->label, suffix, owner->task->output);
    break;
  }
  return good;
}

static bool check_places(struct gpumc_language *language, struct gpumc_mark mark)
{
  const struct gpumc_config *config = language->config;
  struct place *places = calloc(config->n_tasks + 1, sizeof *places);
  struct directory last = {0};
  bool good = places != NULL;
  size_t count = 0;
  for (; config->n_tasks > 1 && good && count < config->n_tasks; count++) {
    places[count].task = &config->tasks[count];
    places[count].path = resolve(&last, config->tasks[count].output);
    good = places[count].path != NULL;
  }
  if (good && count > 1) {
    qsort(places, count, sizeof *places, compare_places);
    good = look(language, mark, places, count);
  }
  for (size_t i = 0; i < count; i++)
    free(places[i].path);
  free(places);
  free(last.known);
  free(last.real);
  return good;
}

/* A file that a task reads: whatever its names are, device and number are its own. */
struct input {
  const struct gpumc_task *task;
  const char *block; /* whose key names it */
  const char *path;  /* borrowed */
  dev_t device;
  ino_t number;
};

static int compare_inputs(const void *left, const void *right)
{
  const struct input *a = left, *b = right;
  if (a->device != b->device)
    return a->device < b->device ? -1 : 1;
  return (a->number > b->number) - (a->number < b->number);
}

/* What the tasks read that is there: what is not cannot be lost. `inputs[2 n_tasks]`, sorted. */
static size_t find_inputs(const struct gpumc_config *config, struct input *inputs)
{
  static const char *const blocks[] = {"model", "algorithm"};
  size_t count = 0;
  for (size_t i = 0; i < 2 * config->n_tasks; i++) {
    const struct gpumc_task *task = &config->tasks[i / 2];
    const char *path = gpumc_task_file(task, blocks[i % 2]);
    struct stat found;
    if (path != NULL && stat(path, &found) == 0)
      inputs[count++] = (struct input){task, blocks[i % 2], path, found.st_dev, found.st_ino};
  }
  qsort(inputs, count, sizeof *inputs, compare_inputs);
  return count;
}

static void report_input(struct gpumc_language *language, struct gpumc_mark mark,
                         const struct gpumc_task *writer, const struct input *input,
                         const char *path)
{
  if (writer == input->task)
    gpumc_report_mistake(&language->report, mark,
                         "output: '%s' is the file '%s' that %s.%s names, which would be lost; "
                         "choose another output",
                         path, input->path, input->block,
                         gpumc_task_file_key(input->task, input->block));
  else
    gpumc_report_mistake(&language->report, mark,
                         "output: '%s', a file of task %zu (%s), is the file '%s' that task %zu "
                         "(%s) reads, and would be lost; choose another output",
                         path, writer->index, writer->label, input->path, input->task->index,
                         input->task->label);
}

/* Looks for the file at OUTPUT + `suffix` among what is read; `*met`: reported. False when memory
 * ran out. */
static bool compare_with_inputs(struct gpumc_language *language, struct gpumc_mark mark,
                                const struct gpumc_task *task, const char *suffix,
                                const struct input *inputs, size_t count, bool *met)
{
  char *path = NULL;
  struct stat found;
  if (asprintf(&path, "%s%s", task->output, suffix) < 0)
    return false;
  if (stat(path, &found) == 0) {
    const struct input key = {.device = found.st_dev, .number = found.st_ino};
    const struct input *input = bsearch(&key, inputs, count, sizeof *inputs, compare_inputs);
    *met = input != NULL;
    if (input != NULL)
      report_input(language, mark, task, input, path);
  }
  free(path);
  return true;
}

/* A mistake for the first file that a task reads and a task, the same or another, would replace. */
static bool check_inputs(struct gpumc_language *language, struct gpumc_mark mark)
{
  const struct gpumc_config *config = language->config;
  struct input *inputs = calloc(2 * config->n_tasks + 1, sizeof *inputs);
  bool good = inputs != NULL, met = false;
  const size_t count = good ? find_inputs(config, inputs) : 0;
  for (size_t i = 0; i < config->n_tasks && count > 0 && good && !met; i++) {
    const struct gpumc_task *task = &config->tasks[i];
    good = compare_with_inputs(language, mark, task, "", inputs, count, &met);
    for (const char *const *s = gpumc_side_suffixes; *s != NULL && good && !met; s++)
      good = compare_with_inputs(language, mark, task, *s, inputs, count, &met);
  }
  free(inputs);
  return good;
}

/* A mistake for the first task beside whose result there is no room for the longest name. */
static void check_lengths(struct gpumc_language *language, struct gpumc_mark mark)
{
  const struct gpumc_config *config = language->config;
  size_t longest = 0;
  for (const char *const *s = gpumc_side_suffixes; *s != NULL; s++)
    longest = strlen(*s) > longest ? strlen(*s) : longest;
  for (size_t i = 0; i < config->n_tasks; i++) {
    const char *slash = strrchr(config->tasks[i].output, '/');
    const char *name = slash != NULL ? slash + 1 : config->tasks[i].output;
    if (strlen(name) + longest <= NAME_MAX)
      continue;
    gpumc_report_mistake(&language->report, mark,
                         "output: the name '%s' is %zu bytes long; files next to it need names "
                         "that are up to %zu bytes longer, and the limit is %d",
                         name, strlen(name), longest, NAME_MAX);
    return;
  }
}

bool gpumc_language_check_files(struct gpumc_language *language)
{
  const struct gpumc_config *config = language->config;
  if (config->n_tasks == 0)
    return true;
  const struct gpumc_mark mark = gpumc_node_find(config->document.root, "output")->mark;
  check_lengths(language, mark);
  return check_places(language, mark) && check_inputs(language, mark);
}
