/* Merging: opening the sources, and whether they are compatible. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/run/language_internal.h"
#include "core/run/compare.h"
#include "core/run/merging/merge.h"
#include "core/simulation/registry.h"
#include "core/storage/result_data.h"

static enum gpumc_status out_of_memory(struct gpumc_error *error)
{
  return gpumc_error_set(error, GPUMC_FAILURE, "out of memory: merging results");
}

static cJSON *block_of(cJSON *resolved, const char *block)
{
  return cJSON_GetObjectItemCaseSensitive(resolved, block);
}

/* ---- configurations ---- */

/* Fills in defaults of keys that did not exist in the program that made a result; false if memory
 * ran out. */
static bool fill_keys(const struct gpumc_key *keys, cJSON *values);

static bool fill_key(const struct gpumc_key *key, cJSON *values)
{
  cJSON *value = cJSON_GetObjectItemCaseSensitive(values, key->name);
  if (cJSON_IsObject(value) && key->children != NULL)
    return fill_keys(key->children, value);
  if (value != NULL || key->default_text == NULL)
    return true;
  cJSON *added = gpumc_key_default(key);
  return added != NULL && cJSON_AddItemToObject(values, key->name, added);
}

static bool fill_keys(const struct gpumc_key *keys, cJSON *values)
{
  bool good = true;
  for (; keys->name != NULL && good; keys++)
    good = fill_key(keys, values);
  return good;
}

static bool fill_block(const struct gpumc_language_tables *tables, cJSON *resolved,
                       const char *block, const struct gpumc_key *plugin_keys)
{
  static const char *const none[] = {NULL};
  struct gpumc_key *keys = gpumc_block_keys(tables, block, none, plugin_keys);
  cJSON *values = block_of(resolved, block);
  const bool good = keys != NULL && (values == NULL || fill_keys(keys, values));
  free(keys);
  return good;
}

/* Except those of kernels: which of these a task has depends on its own kernel and move. */
static bool fill_defaults(const struct gpumc_task *task)
{
  struct gpumc_language_tables tables;
  gpumc_language_tables_fill(&tables, gpumc_models());
  gpumc_language_tables_add(&tables, task->model);
  for (const struct gpumc_key *key = tables.root; key->name != NULL; key++)
    if (strcmp(key->name, "kernel") != 0 && !fill_key(key, task->resolved))
      return false;
  return fill_block(&tables, task->resolved, "model", task->model->keys) &&
         fill_block(&tables, task->resolved, "algorithm", task->algorithm->keys);
}

/* Drops the key at a dotted name of a block, of two parts at most. */
static void drop_key(cJSON *block, const char *dotted)
{
  const char *dot = strchr(dotted, '.');
  char parent[64];
  if (dot == NULL) {
    cJSON_DeleteItemFromObjectCaseSensitive(block, dotted);
    return;
  }
  snprintf(parent, sizeof parent, "%.*s", (int)(dot - dotted), dotted);
  cJSON_DeleteItemFromObjectCaseSensitive(cJSON_GetObjectItemCaseSensitive(block, parent), dot + 1);
}

static void drop_keys(const struct gpumc_merger *merger, cJSON *algorithm)
{
  for (size_t i = 0; merger->dropped != NULL && merger->dropped[i] != NULL; i++)
    drop_key(algorithm, merger->dropped[i]);
}

/* Returns what all sources must have in common, as JSON; NULL if memory ran out. */
static char *common_of(const struct gpumc_task *task, const struct gpumc_merger *merger)
{
  char *identity = gpumc_task_identity(task);
  cJSON *json = identity != NULL ? cJSON_Parse(identity) : NULL;
  cJSON *algorithm = block_of(json, "algorithm"), *model = block_of(json, "model");
  free(identity);
  if (json == NULL)
    return NULL;
  cJSON_DeleteItemFromObjectCaseSensitive(json, "seed");
  cJSON_DeleteItemFromObjectCaseSensitive(json, "kernel");
  drop_keys(merger, algorithm);
  if (merger->counted != NULL)
    cJSON_DeleteItemFromObjectCaseSensitive(algorithm, merger->counted);
  for (const struct gpumc_key *key = task->model->keys; key->name != NULL; key++)
    if (key->of_samples && merger->samples)
      cJSON_DeleteItemFromObjectCaseSensitive(model, key->name);
  char *text = gpumc_json_text(json);
  cJSON_Delete(json);
  return text;
}

/* Appends the names of the algorithms that can be merged: "a, b and c". */
static void append_mergers(struct gpumc_text *text)
{
  const struct gpumc_algorithm_ops *const *algorithms = gpumc_algorithms();
  const char *last = NULL, *before = "";
  for (size_t i = 0; algorithms[i] != NULL; i++) {
    if (algorithms[i]->merger == NULL)
      continue;
    if (last != NULL) {
      gpumc_text_append(text, "%s%s", before, last);
      before = ", ";
    }
    last = algorithms[i]->name;
  }
  gpumc_text_append(text, "%s%s", before[0] != '\0' ? " and " : "", last != NULL ? last : "none");
}

static enum gpumc_status refuse_algorithm(const struct gpumc_source *source, const char *algorithm,
                                          struct gpumc_error *error)
{
  struct gpumc_text possible = {0};
  append_mergers(&possible);
  const enum gpumc_status status =
      gpumc_error_set(error, GPUMC_INVALID,
                      "%s: is a result of algorithm %s, but only results of %s can be merged; "
                      "average its results outside of gpumc",
                      source->path, algorithm, gpumc_text_string(&possible));
  gpumc_text_free(&possible);
  return status;
}

static const char *name_in(cJSON *resolved, const char *block)
{
  const char *name =
      cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(block_of(resolved, block), "name"));
  return name != NULL ? name : "(none)";
}

/* Loads the plugins that made a source if they are still at their paths; the others, and those that
 * can no longer be used, are looked up by name. */
static void load_recorded(const struct gpumc_source *source, struct gpumc_plugin_set *set)
{
  const char *recorded = gpumc_result_field(&source->result.provenance, GPUMC_RECORDED_PLUGINS);
  cJSON *list = recorded != NULL ? cJSON_Parse(recorded) : NULL;
  const cJSON *entry;
  cJSON_ArrayForEach(entry, list)
  {
    const char *path = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(entry, "path"));
    struct gpumc_error ignored = {0};
    if (path != NULL && gpumc_plugin_set_add(set, path, NULL, &ignored) != GPUMC_OK)
      gpumc_error_free(&ignored);
  }
  cJSON_Delete(list);
}

/* Refuses a source that was made with a different version of a plugin than the one in use. */
static enum gpumc_status compare_plugins(const struct gpumc_source *source,
                                         const struct gpumc_plugin_set *set,
                                         struct gpumc_error *error)
{
  bool failed;
  char difference[256];
  char *now = gpumc_plugin_set_text(set, &failed);
  const bool agree = gpumc_plugins_agree(
      gpumc_result_field(&source->result.provenance, GPUMC_RECORDED_PLUGINS), now, difference);
  free(now);
  if (failed)
    return out_of_memory(error);
  return agree ? GPUMC_OK
               : gpumc_error_set(error, GPUMC_INVALID,
                                 "%s was made with %s: merge only results of one version",
                                 source->path, difference);
}

/* Enters the plugins of a source into the task. */
static enum gpumc_status find_plugins(const struct gpumc_source *source,
                                      struct gpumc_plugin_set *set, struct gpumc_task *task,
                                      struct gpumc_error *error)
{
  const char *model = name_in(source->resolved, "model");
  const char *algorithm = name_in(source->resolved, "algorithm");
  load_recorded(source, set);
  GPUMC_TRY(gpumc_plugin_set_want(set, GPUMC_PLUGIN_MODEL, model, false, error));
  GPUMC_TRY(gpumc_plugin_set_want(set, GPUMC_PLUGIN_ALGORITHM, algorithm, false, error));
  *task = (struct gpumc_task){.resolved = source->resolved,
                              .model = gpumc_plugin_set_model(set, model),
                              .algorithm = gpumc_plugin_set_algorithm(set, algorithm)};
  if (task->model == NULL || task->algorithm == NULL)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "%s: this program has no %s %s: merge it with the program that made "
                           "it, or set GPUMC_PLUGIN_PATH to the folder of its plugin",
                           source->path, task->model == NULL ? "model" : "algorithm",
                           task->model == NULL ? model : algorithm);
  if (task->algorithm->merger == NULL)
    return refuse_algorithm(source, algorithm, error);
  return fill_defaults(task) ? GPUMC_OK : out_of_memory(error);
}

static enum gpumc_status check_block(const struct gpumc_source *source,
                                     const struct gpumc_task *task, struct gpumc_error *error)
{
  const struct gpumc_merger *merger = task->algorithm->merger;
  const struct gpumc_params params = gpumc_task_params(task, "algorithm");
  const char *reason = merger->refuses != NULL ? merger->refuses(&params) : NULL;
  return reason == NULL ? GPUMC_OK
                        : gpumc_error_set(error, GPUMC_INVALID, "%s: cannot be merged: %s",
                                          source->path, reason);
}

/* ---- one source ---- */

static enum gpumc_status
open_source(const char *path, struct gpumc_source *source, struct gpumc_error *error)
{
  GPUMC_HDF5_QUIET();
  source->path = path;
  source->counted = 1;
  GPUMC_TRY(gpumc_result_read(path, &source->result, error));
  if (!source->result.complete)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "%s: is unfinished: run its configuration to the end first, or leave it "
                           "out",
                           path);
  source->resolved = cJSON_Parse(source->result.resolved);
  if (!cJSON_IsObject(source->resolved))
    return gpumc_error_set(error, GPUMC_FAILURE, "%s: is damaged: its configuration is unreadable",
                           path);
  return gpumc_hdf5_open(path, GPUMC_HDF5_READ, &source->file, error);
}

static enum gpumc_status
read_counted(const struct gpumc_task *task, struct gpumc_source *source, struct gpumc_error *error)
{
  const char *counted = task->algorithm->merger->counted;
  const struct gpumc_params params = gpumc_task_params(task, "algorithm");
  if (counted == NULL)
    return GPUMC_OK;
  if (!gpumc_params_has(&params, counted))
    return gpumc_error_set(
        error, GPUMC_INVALID,
        "%s: its configuration does not give algorithm.%s: produce the result again", source->path,
        counted);
  source->counted = gpumc_params_integer(&params, counted);
  return GPUMC_OK;
}

/* The same path may have had other contents. */
static enum gpumc_status
compare_what_was_read(const struct gpumc_source *first, const struct gpumc_source *source,
                      const struct gpumc_task *task, struct gpumc_error *error)
{
  const char *one = gpumc_result_field(&first->result.provenance, GPUMC_READ_CHECKSUM);
  const char *other = gpumc_result_field(&source->result.provenance, GPUMC_READ_CHECKSUM);
  if (task->algorithm->merger->samples || one == NULL || other == NULL || strcmp(one, other) == 0)
    return GPUMC_OK;
  return gpumc_error_set(
      error, GPUMC_INVALID,
      "%s: the contents of the file that it read differ from those for %s: leave it out",
      source->path, first->path);
}

/* Compares with the first one. */
static enum gpumc_status compare(const struct gpumc_source *first, const char *common,
                                 const struct gpumc_source *source, const struct gpumc_task *task,
                                 struct gpumc_error *error)
{
  char *own = common_of(task, task->algorithm->merger);
  if (own == NULL)
    return out_of_memory(error);
  enum gpumc_status status = GPUMC_OK;
  if (strcmp(common, own) != 0) {
    char *difference = gpumc_identity_difference(common, own);
    struct gpumc_text name = {0}, other = {0};
    gpumc_text_append_escaped(&name, source->path, GPUMC_ESCAPES_TEXT);
    gpumc_text_append_escaped(&other, first->path, GPUMC_ESCAPES_TEXT);
    status = gpumc_error_set(
        error, GPUMC_INVALID,
        "%s: has a different configuration from %s:\n%s\nonly results of one "
        "configuration can be merged, with other seeds or samples: leave it out",
        gpumc_text_string(&name), gpumc_text_string(&other), difference != NULL ? difference : "");
    gpumc_text_free(&name);
    gpumc_text_free(&other);
    free(difference);
  }
  free(own);
  return status == GPUMC_OK ? compare_what_was_read(first, source, task, error) : status;
}

/* ---- the merged configuration ---- */

/* Joins the warnings known from the start for any source: texts by name. */
static bool join_warnings(const struct gpumc_sources *sources, cJSON *warnings)
{
  static const char suffix[] = "_warning";
  bool good = true;
  for (size_t i = 0; i < sources->count; i++) {
    const struct gpumc_result_fields *fields = &sources->of[i].result.provenance;
    for (size_t f = 0; f < fields->count && good; f++) {
      const char *name = fields->items[f].name;
      const size_t length = strlen(name);
      if (length < sizeof suffix || strcmp(name + length - strlen(suffix), suffix) != 0 ||
          cJSON_GetObjectItemCaseSensitive(warnings, name) != NULL)
        continue;
      good = cJSON_AddStringToObject(warnings, name, fields->items[f].value) != NULL;
    }
  }
  return good;
}

/* A contradiction between them is known before any sum. */
static bool add_contradiction(const struct gpumc_merging *merging, cJSON *warnings)
{
  char text[GPUMC_CONTRADICTION_BYTES];
  static const char name[] = "contradiction_warning";
  if (!gpumc_merging_contradicts(merging, text))
    return true;
  cJSON_DeleteItemFromObjectCaseSensitive(warnings, name);
  return cJSON_AddStringToObject(warnings, name, text) != NULL;
}

static enum gpumc_status make_task(struct gpumc_merging *merging, struct gpumc_error *error)
{
  const struct gpumc_sources *sources = &merging->sources;
  const struct gpumc_merger *merger = merging->merger;
  struct gpumc_task *task = &merging->task;
  cJSON *resolved = cJSON_Duplicate(sources->of[0].resolved, true);
  cJSON *algorithm = block_of(resolved, "algorithm");
  task->resolved = resolved;
  task->warnings = cJSON_CreateObject();
  task->label = strdup("");
  if (algorithm == NULL || task->warnings == NULL || task->label == NULL)
    return out_of_memory(error);
  drop_keys(merger, algorithm);
  if (merger->counted != NULL &&
      !gpumc_json_replace(algorithm, merger->counted,
                          cJSON_CreateNumber((double)gpumc_sources_counted(sources))))
    return out_of_memory(error);
  return fill_defaults(task) && join_warnings(sources, task->warnings) &&
                 add_contradiction(merging, task->warnings)
             ? GPUMC_OK
             : out_of_memory(error);
}

static void add_work(struct gpumc_merging *merging)
{
  for (size_t i = 0; i < merging->sources.count; i++) {
    const struct gpumc_source *source = &merging->sources.of[i];
    const char *updates = gpumc_result_field(&source->result.provenance, "updates");
    const char *seconds = gpumc_result_field(&source->result.provenance, "seconds");
    const size_t files = gpumc_source_members(source, "provenance/sources");
    merging->updates += updates != NULL ? strtod(updates, NULL) : 0;
    merging->seconds += seconds != NULL ? strtod(seconds, NULL) : 0;
    merging->files += files > 0 ? (int64_t)files : 1;
  }
}

enum gpumc_status gpumc_merging_open(const char *const *paths, size_t n_paths,
                                     struct gpumc_merging *merging, struct gpumc_error *error)
{
  struct gpumc_sources *sources = &merging->sources;
  char *common = NULL;
  bool failed = false;
  enum gpumc_status status = GPUMC_OK;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&sources->of, n_paths, "sources", error));
  GPUMC_TRY_OUT(status, gpumc_plugin_set_init(&merging->plugins, error));
  for (size_t i = 0; i < n_paths; i++) {
    struct gpumc_source *source = &sources->of[sources->count++];
    struct gpumc_task task;
    GPUMC_TRY_OUT(status, open_source(paths[i], source, error));
    GPUMC_TRY_OUT(status, find_plugins(source, &merging->plugins, &task, error));
    GPUMC_TRY_OUT(status, compare_plugins(source, &merging->plugins, error));
    GPUMC_TRY_OUT(status, check_block(source, &task, error));
    GPUMC_TRY_OUT(status, read_counted(&task, source, error));
    if (i == 0) {
      merging->task.model = task.model;
      merging->task.algorithm = task.algorithm;
      merging->merger = task.algorithm->merger;
      common = common_of(&task, merging->merger);
      if (common == NULL)
        GPUMC_TRY_OUT(status, out_of_memory(error));
    }
    GPUMC_TRY_OUT(status, compare(&sources->of[0], common, source, &task, error));
  }
  GPUMC_TRY_OUT(status, gpumc_merging_list_samples(merging, error));
  GPUMC_TRY_OUT(status, gpumc_merging_check_seeds(merging, error));
  GPUMC_TRY_OUT(status, make_task(merging, error));
  merging->plugins_text = gpumc_plugin_set_text(&merging->plugins, &failed);
  if (failed)
    GPUMC_TRY_OUT(status, out_of_memory(error));
  merging->task.plugins = merging->plugins_text;
  add_work(merging);
out:
  free(common);
  return status;
}

void gpumc_merging_free(struct gpumc_merging *merging)
{
  for (size_t i = 0; i < merging->sources.count; i++) {
    struct gpumc_source *source = &merging->sources.of[i];
    gpumc_hdf5_discard(source->file);
    cJSON_Delete(source->resolved);
    gpumc_result_free(&source->result);
  }
  free(merging->sources.of);
  free(merging->samples.number);
  free(merging->samples.seed);
  free(merging->samples.checksum);
  gpumc_task_free(&merging->task);
  gpumc_plugin_set_free(&merging->plugins);
  free(merging->plugins_text);
  memset(merging, 0, sizeof *merging);
}
