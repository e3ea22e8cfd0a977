/* From a path to tasks: read, override, check every combination. */
#include "core/run/language.h"

#include <stdlib.h>
#include <string.h>

#include "core/config/config.h"
#include "core/config/params.h"
#include "core/run/language_internal.h"

static enum gpumc_status out_of_memory(struct gpumc_error *error)
{
  return gpumc_error_set(error, GPUMC_FAILURE, "out of memory: checking the configuration");
}

/* An override of a key that the campaign varies would have no effect; it is refused. */
static void check_overrides(struct gpumc_language *language, const char *const *assignments,
                            size_t n_assignments)
{
  const struct gpumc_document *document = &language->config->document;
  const struct gpumc_entry *campaign = gpumc_node_entry(document->root, "campaign");
  for (size_t i = 0; i < n_assignments && campaign != NULL; i++) {
    size_t length = strcspn(assignments[i], "=");
    const struct gpumc_entry *axis = gpumc_node_entry_n(campaign->value, assignments[i], length);
    if (axis == NULL)
      continue;
    struct gpumc_mark mark = {.source = document->sources[i], .line = 1, .column = 1};
    gpumc_report_mistake(&language->report, mark,
                         "'%s' is varied by the campaign; set 'campaign.%s' to a list instead",
                         axis->key, axis->key);
  }
}

/* Taking away a key that does not exist would have no effect either. */
static void
check_removal(struct gpumc_language *language, const char *dotted_key, struct gpumc_mark mark)
{
  static const char campaign[] = "campaign.";
  bool varied = strncmp(dotted_key, campaign, strlen(campaign)) == 0;
  const char *prefix = varied ? campaign : "";
  const char *key = dotted_key + strlen(prefix);
  if (gpumc_language_find(language, key) != NULL || gpumc_language_is_below_unknown(language, key))
    return;
  char *nearest = gpumc_language_nearest(language, key, varied);
  if (nearest != NULL)
    gpumc_report_mistake(&language->report, mark, "unknown key '%s'; did you mean '%s%s'?",
                         dotted_key, prefix, nearest);
  else
    gpumc_report_mistake(&language->report, mark, "unknown key '%s'", dotted_key);
  free(nearest);
}

/* False when memory ran out. */
static bool check_removals(struct gpumc_language *language, const char *const *assignments,
                           size_t n_assignments)
{
  char *const *sources = language->config->document.sources;
  for (size_t i = 0; i < n_assignments; i++) {
    if (!gpumc_assignment_removes(assignments[i]))
      continue;
    char *key = strndup(assignments[i], strcspn(assignments[i], "="));
    if (key == NULL)
      return false;
    check_removal(language, key, (struct gpumc_mark){.source = sources[i], .line = 1, .column = 1});
    free(key);
  }
  return true;
}

static enum gpumc_status override(struct gpumc_language *language, const char *const *assignments,
                                  size_t n_assignments, struct gpumc_error *error)
{
  enum gpumc_status status = GPUMC_OK;
  for (size_t i = 0; i < n_assignments && status == GPUMC_OK; i++)
    status =
        gpumc_document_set(&language->config->document, assignments[i], &language->report, error);
  return status;
}

static enum gpumc_status check_document(struct gpumc_language *language,
                                        const char *const *assignments, size_t n_assignments,
                                        struct gpumc_error *error)
{
  enum gpumc_status status = override(language, assignments, n_assignments, error);
  if (status != GPUMC_OK || language->config->document.root == NULL)
    return status;
  check_overrides(language, assignments, n_assignments);
  gpumc_language_tables_fill(&language->tables, language->plugins->models);
  if (!gpumc_language_find_plugins(language) ||
      !check_removals(language, assignments, n_assignments))
    return out_of_memory(error);
  status = gpumc_language_expand(language, error);
  if (status == GPUMC_OK && !gpumc_language_check_files(language))
    status = out_of_memory(error);
  return status;
}

/* The document is read; `status` tells how that went. */
static enum gpumc_status finish(struct gpumc_language *language, enum gpumc_status status,
                                const char *const *assignments, size_t n_assignments,
                                struct gpumc_error *error)
{
  if (status == GPUMC_OK)
    status = check_document(language, assignments, n_assignments, error);
  const struct gpumc_text *fault = &language->report.fault;
  if (status == GPUMC_OK && (fault->length > 0 || fault->failed)) {
    status = gpumc_error_set(error, GPUMC_FAILURE, "%s", gpumc_text_string(fault));
  } else if (status == GPUMC_OK && language->report.calls > 0) {
    gpumc_report_sort(&language->report);
    const struct gpumc_text *lines = &language->report.lines;
    int length = lines->length > 0 ? (int)lines->length - 1 : 0;
    status = gpumc_error_set(error, GPUMC_INVALID, "%.*s", length, gpumc_text_string(lines));
  }
  if (status != GPUMC_OK)
    gpumc_config_free(language->config);
  gpumc_report_free(&language->report);
  free(language->model_names);
  free(language->algorithm_names);
  free(language->model_keys);
  free(language->algorithm_keys);
  return status;
}

enum gpumc_status gpumc_config_load_with(const struct gpumc_plugins *plugins, const char *path,
                                         bool look, const char *const *assignments,
                                         size_t n_assignments, struct gpumc_config *config,
                                         struct gpumc_error *error)
{
  struct gpumc_language language = {.plugins = plugins, .config = config, .look = look};
  memset(config, 0, sizeof *config);
  enum gpumc_status status = gpumc_document_read(path, &config->document, &language.report, error);
  return finish(&language, status, assignments, n_assignments, error);
}

enum gpumc_status gpumc_config_parse_with(const struct gpumc_plugins *plugins, const char *name,
                                          const char *text, size_t length,
                                          const char *const *assignments, size_t n_assignments,
                                          struct gpumc_config *config, struct gpumc_error *error)
{
  struct gpumc_language language = {.plugins = plugins, .config = config};
  memset(config, 0, sizeof *config);
  enum gpumc_status status =
      gpumc_document_parse(name, text, length, &config->document, &language.report, error);
  return finish(&language, status, assignments, n_assignments, error);
}

enum gpumc_status gpumc_config_load(const char *path, const char *const *assignments,
                                    size_t n_assignments, struct gpumc_config *config,
                                    struct gpumc_error *error)
{
  struct gpumc_plugins plugins = gpumc_plugins_registered();
  return gpumc_config_load_with(&plugins, path, false, assignments, n_assignments, config, error);
}

enum gpumc_status gpumc_config_look(const char *path, const char *const *assignments,
                                    size_t n_assignments, struct gpumc_config *config,
                                    struct gpumc_error *error)
{
  struct gpumc_plugins plugins = gpumc_plugins_registered();
  return gpumc_config_load_with(&plugins, path, true, assignments, n_assignments, config, error);
}

void gpumc_task_free(struct gpumc_task *task)
{
  cJSON_Delete(task->resolved);
  cJSON_Delete(task->defaults);
  cJSON_Delete(task->warnings);
  free(task->output);
  free(task->label);
}

void gpumc_config_free(struct gpumc_config *config)
{
  for (size_t i = 0; i < config->n_tasks; i++)
    gpumc_task_free(&config->tasks[i]);
  free(config->tasks);
  gpumc_document_free(&config->document);
  memset(config, 0, sizeof *config);
}

struct gpumc_params gpumc_task_params(const struct gpumc_task *task, const char *block)
{
  const cJSON *values =
      block[0] == '\0' ? task->resolved : cJSON_GetObjectItemCaseSensitive(task->resolved, block);
  return (struct gpumc_params){.values = values};
}
