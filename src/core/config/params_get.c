/* Reading declared keys: by whom they may be read, and their values by type. */
#include "core/config/params.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which keys have a mistake, and checks that run only where those they read have none ---- */

void gpumc_wrong_note(struct gpumc_report *report, const char *block, const char *name)
{
  const char *dot = block[0] != '\0' && name[0] != '\0' ? "." : "";
  gpumc_text_append(&report->wrong, "%s%s%s\n", block, dot, name);
}

void gpumc_wrong_forget(struct gpumc_report *report)
{
  gpumc_text_free(&report->wrong);
  gpumc_text_free(&report->typed);
}

/* Whether one of two dotted names is the other or a block round it. The root, "", is round all. */
static bool is_related(const char *name, size_t name_length, const char *other, size_t other_length)
{
  const size_t shorter = name_length < other_length ? name_length : other_length;
  const char *longer = name_length < other_length ? other : name;
  return strncmp(name, other, shorter) == 0 &&
         (shorter == 0 || name_length == other_length || longer[shorter] == '.');
}

static bool has_wrong(const struct gpumc_report *report, const char *block, const char *name,
                      size_t name_length)
{
  struct gpumc_text dotted = {0};
  const char *dot = block[0] != '\0' && name_length > 0 ? "." : "";
  if (report->wrong.length == 0 && !report->wrong.failed)
    return false;
  gpumc_text_append(&dotted, "%s%s%.*s", block, dot, (int)name_length, name);
  bool found = dotted.failed || report->wrong.failed;
  for (const char *line = gpumc_text_string(&report->wrong); *line != '\0' && !found;) {
    const size_t length = strcspn(line, "\n");
    found = is_related(line, length, gpumc_text_string(&dotted), dotted.length);
    line += length + 1;
  }
  gpumc_text_free(&dotted);
  return found;
}

bool gpumc_wrong_has(const struct gpumc_report *report, const char *block, const char *name)
{
  return has_wrong(report, block, name, strlen(name));
}

/* ---- keys that the file gives as temperatures ---- */

void gpumc_typed_note(struct gpumc_report *report, const char *block, const char *name,
                      const char *typed)
{
  char dotted[GPUMC_KEY_NAME_BYTES];
  gpumc_text_append(&report->typed, "%s %s\n", gpumc_key_join(block, name, dotted), typed);
}

/* A key as the file has it. `parent`: the length of the name of the block that holds the
 * temperatures, `rest`: where the name goes on after them, both in the key's own dotted name;
 * `name`: that of the temperatures, `length` bytes. */
struct typed {
  size_t parent, rest;
  const char *name;
  size_t length;
};

/* Whether the key of this dotted name, or a block round it, was given as temperatures. */
static bool find_typed(const struct gpumc_report *report, const char *dotted, struct typed *typed)
{
  for (const char *line = gpumc_text_string(&report->typed); *line != '\0';
       line += strcspn(line, "\n") + 1) {
    const size_t length = strcspn(line, " ");
    if (strncmp(line, dotted, length) != 0 || (dotted[length] != '\0' && dotted[length] != '.'))
      continue;
    typed->parent = length;
    while (typed->parent > 0 && line[typed->parent - 1] != '.')
      typed->parent--;
    typed->rest = length;
    typed->name = line + length + 1;
    typed->length = strcspn(typed->name, "\n");
    return true;
  }
  return false;
}

/* The next of names separated by blanks; its length is 0 after the last. */
static size_t next_name(const char **names)
{
  *names += strspn(*names, " ");
  return strcspn(*names, " ");
}

bool gpumc_params_narrow(const struct gpumc_params *params, struct gpumc_report *report,
                         const char *reads, struct gpumc_params *view)
{
  const char *block = params->block != NULL ? params->block : "";
  bool clean = reads != NULL || !gpumc_wrong_has(report, block, "");
  const char *name = reads != NULL ? reads : "";
  for (size_t length; (length = next_name(&name)) > 0 && clean; name += length)
    clean = !has_wrong(report, block, name, length);
  *view = *params;
  view->reads = clean ? reads : "";
  view->report = report;
  return clean;
}

/* Whether the view holds the key. Where it does not, a check reads what it does not declare:
 * asserts in debug builds, and is an internal error of the report in others. */
static bool params_may_read(const struct gpumc_params *params, const char *dotted_key)
{
  const char *name = params->reads;
  bool declared = name == NULL;
  const size_t key_length = strlen(dotted_key);
  for (size_t length; !declared && (length = next_name(&name)) > 0; name += length)
    declared = key_length >= length && is_related(name, length, dotted_key, key_length);
  assert(declared && "a check reads the keys that it declares");
  if (!declared)
    gpumc_report_fault(params->report, params->block, dotted_key);
  return declared;
}

void gpumc_checks_run(const struct gpumc_check *checks, enum gpumc_check_needs needs,
                      const struct gpumc_params *params, const struct gpumc_subject *subject,
                      struct gpumc_report *report)
{
  for (; checks != NULL && checks->run != NULL; checks++) {
    struct gpumc_params view;
    if (checks->needs == needs && gpumc_params_narrow(params, report, checks->reads, &view))
      checks->run(&view, subject, report);
  }
}

/* ---- typed reading of resolved values, and a plugin's own mistakes ---- */

static const cJSON *child_n(const cJSON *object, const char *name, size_t length)
{
  const cJSON *child = NULL;
  cJSON_ArrayForEach(child, object)
  {
    if (child->string != NULL && strncmp(child->string, name, length) == 0 &&
        child->string[length] == '\0')
      return child;
  }
  return NULL;
}

/* What a check that reads a key beside those that it declares gets, so that it ends normally:
 * the internal error then ends the task. */
static const cJSON no = {.type = cJSON_False}, empty = {.type = cJSON_String, .valuestring = ""};
static const cJSON one = {.type = cJSON_Number, .valueint = 1, .valuedouble = 1};
static const cJSON list_of_one = {.type = cJSON_Array, .child = (cJSON *)&one};

static const cJSON *
find(const struct gpumc_params *params, const char *dotted_key, const cJSON *stand_in)
{
  const cJSON *value = params->values;
  if (!params_may_read(params, dotted_key))
    return stand_in;
  for (;;) {
    size_t length = strcspn(dotted_key, ".");
    value = child_n(value, dotted_key, length);
    if (value == NULL || dotted_key[length] == '\0')
      return value;
    dotted_key += length + 1;
  }
}

bool gpumc_params_has(const struct gpumc_params *params, const char *dotted_key)
{
  return find(params, dotted_key, NULL) != NULL;
}

bool gpumc_params_given(const struct gpumc_params *params, const char *name)
{
  return params->node != NULL && gpumc_node_find(params->node, name) != NULL;
}

static int64_t integer_of(const cJSON *value)
{
  assert(cJSON_IsNumber(value) && value->valuedouble == floor(value->valuedouble));
  return (int64_t)cJSON_GetNumberValue(value);
}

static double real_of(const cJSON *value)
{
  assert(cJSON_IsNumber(value));
  return cJSON_GetNumberValue(value);
}

bool gpumc_params_boolean(const struct gpumc_params *params, const char *dotted_key)
{
  const cJSON *value = find(params, dotted_key, &no);
  assert(cJSON_IsBool(value));
  return cJSON_IsTrue(value);
}

int64_t gpumc_params_integer(const struct gpumc_params *params, const char *dotted_key)
{
  return integer_of(find(params, dotted_key, &one));
}

double gpumc_params_real(const struct gpumc_params *params, const char *dotted_key)
{
  return real_of(find(params, dotted_key, &one));
}

const char *gpumc_params_string(const struct gpumc_params *params, const char *dotted_key)
{
  const cJSON *value = find(params, dotted_key, &empty);
  assert(cJSON_IsString(value));
  return cJSON_GetStringValue(value);
}

struct gpumc_list gpumc_params_list(const struct gpumc_params *params, const char *dotted_key)
{
  const cJSON *list = find(params, dotted_key, &list_of_one);
  assert(cJSON_IsArray(list));
  return (struct gpumc_list){.next = list->child, .left = (size_t)cJSON_GetArraySize(list)};
}

static const cJSON *take(struct gpumc_list *list)
{
  const cJSON *value = list->next;
  assert(list->left > 0);
  if (list->left == 0)
    return &one;
  list->next = value->next;
  list->left--;
  return value;
}

int64_t gpumc_list_integer(struct gpumc_list *list)
{
  return integer_of(take(list));
}

double gpumc_list_real(struct gpumc_list *list)
{
  return real_of(take(list));
}

struct gpumc_list gpumc_params_turns(const struct gpumc_params *params, const char *dotted_key)
{
  const cJSON *turns = find(params, dotted_key, &empty);
  assert(cJSON_IsString(turns) || cJSON_IsArray(turns));
  if (cJSON_IsString(turns))
    return (struct gpumc_list){.next = turns, .left = 1};
  return (struct gpumc_list){.next = turns->child, .left = (size_t)cJSON_GetArraySize(turns)};
}

const char *gpumc_list_turn(struct gpumc_list *list, uint32_t *number)
{
  const cJSON *turn = take(list);
  *number = cJSON_IsString(turn) ? 1 : (uint32_t)turn->child->valuedouble;
  return cJSON_IsString(turn) ? turn->valuestring : turn->child->string;
}

double gpumc_params_last(const struct gpumc_params *params, const char *dotted_key)
{
  struct gpumc_list list = gpumc_params_list(params, dotted_key);
  while (list.left > 1)
    take(&list);
  return gpumc_list_real(&list);
}

/* The place of the deepest part of the key that was given. */
static struct gpumc_mark place_of(const struct gpumc_params *params, const char *dotted_key)
{
  struct gpumc_mark mark = {.source = "configuration", .line = 1, .column = 1};
  const struct gpumc_node *node = params->node;
  while (node != NULL) {
    mark = node->mark;
    size_t length = strcspn(dotted_key, ".");
    const struct gpumc_entry *entry = gpumc_node_entry_n(node, dotted_key, length);
    node = entry != NULL ? entry->value : NULL;
    if (node != NULL && dotted_key[length] == '\0')
      return node->mark;
    dotted_key += dotted_key[length] == '\0' ? length : length + 1;
  }
  return mark;
}

void gpumc_params_mistake(const struct gpumc_params *params, struct gpumc_report *report,
                          const char *dotted_key, const char *format, ...)
{
  const char *block = params->block != NULL ? params->block : "";
  char dotted[GPUMC_KEY_NAME_BYTES];
  struct gpumc_text given = {0}, words = {0};
  struct typed typed;
  char *message = NULL;
  va_list arguments;
  va_start(arguments, format);
  int length = vasprintf(&message, format, arguments);
  va_end(arguments);
  gpumc_key_join(block, dotted_key, dotted);
  const bool as_temperatures = find_typed(report, dotted, &typed);
  if (as_temperatures) {
    gpumc_text_append(&given, "%.*s%.*s", (int)typed.parent, dotted, (int)typed.length, typed.name);
    gpumc_text_append(&words, "%s, as beta = 1/T: ", gpumc_text_string(&given));
    gpumc_text_append(&given, "%s", dotted + typed.rest);
  }
  const size_t before = block[0] != '\0' ? strlen(block) + 1 : 0;
  const char *place = as_temperatures && !given.failed ? given.characters + before : dotted_key;
  gpumc_report_mistake(report, place_of(params, place), "%s%s", gpumc_text_string(&words),
                       length < 0 ? "a mistake (out of memory while describing it)" : message);
  gpumc_wrong_note(report, block, dotted_key);
  gpumc_text_free(&given);
  gpumc_text_free(&words);
  if (length >= 0)
    free(message);
}

bool gpumc_params_as_temperatures(const struct gpumc_params *params,
                                  const struct gpumc_report *report, const char *dotted_key)
{
  char dotted[GPUMC_KEY_NAME_BYTES];
  struct typed typed;
  gpumc_key_join(params->block != NULL ? params->block : "", dotted_key, dotted);
  return find_typed(report, dotted, &typed);
}
