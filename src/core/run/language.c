/* From a path to tasks: read, override, expand the campaign, check every combination. */
#include "core/run/language.h"

#include <stdlib.h>
#include <string.h>

#include "core/config/config.h"
#include "core/config/params.h"
#include "core/run/language_internal.h"

static enum gpumc_status out_of_memory(const char *doing, struct gpumc_error *error)
{
  return gpumc_error_set(error, GPUMC_FAILURE, "out of memory: %s", doing);
}

/* ---- the campaign: dotted keys with lists of values, every combination a task ---- */

/* After so many mistakes (repeated ones counted) further combinations are not tried. */
enum { MISTAKES_ENOUGH = 10000 };

/* One key that is varied. `owned`: the value that stood at its place in the working copy. */
struct axis {
  struct gpumc_node *values; /* a list, or a single value, which is a list of itself */
  size_t position;
  struct gpumc_node *owned;
};

/* `root`: a working copy of the document into which the values of a combination are put.
 * `slots[count]`: their places in it. */
struct campaign {
  struct gpumc_node *root;
  size_t count;
  struct axis *axes;
  struct gpumc_entry **slots;
  const char **keys;
};

static size_t count_of(const struct gpumc_node *values)
{
  return values->kind == GPUMC_NODE_SEQUENCE ? values->count : 1;
}

static struct gpumc_node *value_of(const struct axis *axis)
{
  return axis->values->kind == GPUMC_NODE_SEQUENCE ? axis->values->items[axis->position]
                                                   : axis->values;
}

static void
report_key(struct gpumc_language *language, const struct gpumc_entry *entry, bool declared)
{
  char *nearest = declared ? NULL : gpumc_language_nearest(language, entry->key, true);
  if (declared)
    gpumc_report_mistake(&language->report, entry->key_mark, "'%s' cannot be varied in a campaign",
                         entry->key);
  else if (nearest != NULL)
    gpumc_report_mistake(&language->report, entry->key_mark,
                         "unknown key '%s' in campaign; did you mean '%s'?", entry->key, nearest);
  else
    gpumc_report_mistake(&language->report, entry->key_mark,
                         "unknown key '%s' in campaign; give dotted names such as model.shape",
                         entry->key);
  free(nearest);
}

/* May this entry be expanded? The value that it replaces is checked here: no combination sees it.
 */
static bool check_axis(struct gpumc_language *language, const struct gpumc_entry *entry)
{
  const struct gpumc_key *key = gpumc_language_find(language, entry->key);
  char found[GPUMC_DESCRIPTION_BYTES];
  if (gpumc_language_is_below_unknown(language, entry->key))
    return false;
  if (key == NULL || !key->sweepable || key->type == GPUMC_KEY_MAPPING) {
    report_key(language, entry, key != NULL);
    return false;
  }
  const bool single =
      entry->value->kind == GPUMC_NODE_SCALAR && !gpumc_scalar_is_null(entry->value);
  if (!single && (entry->value->kind != GPUMC_NODE_SEQUENCE || entry->value->count == 0)) {
    gpumc_report_mistake(
        &language->report, entry->value->mark,
        "campaign.%s: expected a list of at least one value, found %s%s", entry->key,
        entry->value->kind == GPUMC_NODE_SEQUENCE ? "an empty list" : "",
        entry->value->kind == GPUMC_NODE_SEQUENCE ? "" : gpumc_node_describe(entry->value, found));
    return false;
  }
  const struct gpumc_node *replaced = gpumc_node_find(language->config->document.root, entry->key);
  if (replaced != NULL)
    cJSON_Delete(gpumc_key_value(key, replaced, entry->key, &language->report));
  return true;
}

/* False when memory ran out. */
static bool add_axis(struct campaign *campaign, const struct gpumc_entry *entry)
{
  bool memory;
  struct gpumc_entry *slot = gpumc_node_slot(campaign->root, entry->key, entry->key_mark, &memory);
  if (slot == NULL)
    return memory;
  if (slot->value == NULL)
    slot->value = gpumc_node_create(GPUMC_NODE_SCALAR, entry->key_mark, "", true);
  campaign->axes[campaign->count].values = entry->value;
  campaign->keys[campaign->count] = entry->key;
  campaign->count++;
  return slot->value != NULL;
}

/* Slots are looked up once all of them exist: making one may move others. False: memory. */
static bool
add_axes(struct gpumc_language *language, struct campaign *campaign, const struct gpumc_node *block)
{
  for (size_t i = 0; i < block->count; i++)
    if (gpumc_node_entry(block, block->entries[i].key) == &block->entries[i] &&
        check_axis(language, &block->entries[i]) && !add_axis(campaign, &block->entries[i]))
      return false;
  for (size_t i = 0; i < campaign->count; i++) {
    bool memory;
    campaign->slots[i] =
        gpumc_node_slot(campaign->root, campaign->keys[i], campaign->root->mark, &memory);
    campaign->axes[i].owned = campaign->slots[i]->value;
  }
  return true;
}

static bool is_small_enough(const struct campaign *campaign)
{
  size_t tasks = 1;
  for (size_t i = 0; i < campaign->count; i++)
    if (__builtin_mul_overflow(tasks, count_of(campaign->axes[i].values), &tasks) ||
        tasks > GPUMC_TASKS_MAXIMUM)
      return false;
  return true;
}

/* The next combination; false after the last. */
static bool advance(struct campaign *campaign)
{
  for (size_t i = campaign->count; i-- > 0;) {
    struct axis *axis = &campaign->axes[i];
    if (++axis->position < count_of(axis->values))
      return true;
    axis->position = 0;
  }
  return false;
}

/* `all`: every combination, the first key slowest; otherwise the first combination alone. */
static enum gpumc_status expand(struct gpumc_language *language, struct campaign *campaign,
                                bool all, struct gpumc_error *error)
{
  enum gpumc_status status;
  do {
    for (size_t i = 0; i < campaign->count; i++)
      campaign->slots[i]->value = value_of(&campaign->axes[i]);
    GPUMC_TRY_OUT(status, gpumc_language_add_task(language, campaign->root, campaign->keys,
                                                  campaign->count, error));
  } while (all && language->report.calls < MISTAKES_ENOUGH && advance(campaign));
out:
  for (size_t i = 0; i < campaign->count; i++)
    campaign->slots[i]->value = campaign->axes[i].owned;
  return status;
}

static enum gpumc_status expand_block(struct gpumc_language *language, struct campaign *campaign,
                                      const struct gpumc_entry *entry, struct gpumc_error *error)
{
  struct gpumc_node_budget budget = {0};
  size_t room = entry->value->count + 1;
  campaign->root = gpumc_node_copy(language->config->document.root, 1, &budget);
  if (gpumc_node_budget_spent(&budget)) {
    gpumc_node_budget_report(&budget, entry->key_mark, &language->report);
    return GPUMC_OK;
  }
  campaign->axes = calloc(room, sizeof *campaign->axes);
  campaign->slots = calloc(room, sizeof *campaign->slots);
  campaign->keys = calloc(room, sizeof *campaign->keys);
  if (campaign->root == NULL || campaign->axes == NULL || campaign->slots == NULL ||
      campaign->keys == NULL || !add_axes(language, campaign, entry->value))
    return out_of_memory("expanding the campaign", error);
  bool all = is_small_enough(campaign);
  if (!all)
    gpumc_report_mistake(&language->report, entry->key_mark, "campaign: more than %d combinations",
                         GPUMC_TASKS_MAXIMUM);
  return expand(language, campaign, all, error);
}

/* Every combination of the campaign, or the one task without. */
static enum gpumc_status
gpumc_language_expand(struct gpumc_language *language, struct gpumc_error *error)
{
  const struct gpumc_node *root = language->config->document.root;
  const struct gpumc_entry *entry = gpumc_node_entry(root, "campaign");
  struct campaign campaign = {0};
  if (entry == NULL)
    return gpumc_language_add_task(language, root, NULL, 0, error);
  if (entry->value->kind != GPUMC_NODE_MAPPING) {
    char found[GPUMC_DESCRIPTION_BYTES];
    gpumc_report_mistake(&language->report, entry->value->mark,
                         "campaign: expected a block of keys, found %s",
                         gpumc_node_describe(entry->value, found));
    return gpumc_language_add_task(language, root, NULL, 0, error);
  }
  enum gpumc_status status = expand_block(language, &campaign, entry, error);
  gpumc_node_free(campaign.root);
  free(campaign.axes);
  free(campaign.slots);
  free(campaign.keys);
  return status;
}

/* ---- from a path to tasks ---- */

/* An override of a key that the campaign varies would have no effect; it is refused. */
static void check_overrides(struct gpumc_language *language, const char *const *assignments,
                            size_t n_assignments)
{
  const struct gpumc_document *document = &language->config->document;
  const struct gpumc_entry *campaign = gpumc_node_entry(document->root, "campaign");
  for (size_t i = 0; i < n_assignments && campaign != NULL; i++) {
    size_t length = strcspn(assignments[i], "=");
    const struct gpumc_entry *axis = gpumc_node_entry_n(campaign->value, assignments[i], length);
    const struct gpumc_key *key = axis != NULL ? gpumc_language_find(language, axis->key) : NULL;
    if (axis == NULL || (key != NULL && !key->sweepable)) /* a mistake at the campaign's own key */
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
  for (size_t i = 0; i < n_assignments; i++)
    GPUMC_TRY(
        gpumc_document_set(&language->config->document, assignments[i], &language->report, error));
  return GPUMC_OK;
}

static enum gpumc_status check_document(struct gpumc_language *language,
                                        const char *const *assignments, size_t n_assignments,
                                        struct gpumc_error *error)
{
  GPUMC_TRY(override(language, assignments, n_assignments, error));
  if (language->config->document.root == NULL)
    return GPUMC_OK;
  if (language->loads) {
    const size_t before = language->report.calls;
    GPUMC_TRY(gpumc_language_load_plugins(language, error));
    if (language->report.calls > before)
      return GPUMC_OK; /* what is missing with a plugin would be reported once more */
    language->loaded = gpumc_plugins_of(&language->config->plugins);
    language->plugins = &language->loaded;
  }
  gpumc_language_tables_fill(&language->tables, language->plugins->models);
  if (!gpumc_language_find_plugins(language) ||
      !check_removals(language, assignments, n_assignments))
    return out_of_memory("checking the configuration", error);
  check_overrides(language, assignments, n_assignments);
  GPUMC_TRY(gpumc_language_expand(language, error));
  return gpumc_language_check_files(language) ? GPUMC_OK
                                              : out_of_memory("checking the configuration", error);
}

/* What the report has: a fault of the program's, or the mistakes of the document. */
static enum gpumc_status report_status(struct gpumc_report *report, struct gpumc_error *error)
{
  if (report->fault.length > 0)
    return gpumc_error_set(error, GPUMC_FAILURE, "%s", gpumc_text_string(&report->fault));
  if (report->calls == 0)
    return GPUMC_OK;
  gpumc_report_sort(report);
  if (report->fault.failed || report->lines.failed)
    return out_of_memory("checking the configuration", error);
  return gpumc_error_set(error, GPUMC_INVALID, "%.*s", (int)report->lines.length - 1,
                         gpumc_text_string(&report->lines));
}

/* The document is read; `status` says how that went. */
static enum gpumc_status finish(struct gpumc_language *language, enum gpumc_status status,
                                const char *const *assignments, size_t n_assignments,
                                struct gpumc_error *error)
{
  if (status != GPUMC_OK)
    goto out;
  GPUMC_TRY_OUT(status, check_document(language, assignments, n_assignments, error));
  status = report_status(&language->report, error);
out:
  if (status != GPUMC_OK)
    gpumc_config_free(language->config);
  gpumc_report_free(&language->report);
  free(language->model_names);
  free(language->algorithm_names);
  free(language->model_keys);
  free(language->algorithm_keys);
  return status;
}

static enum gpumc_status load(const char *path, bool look, const char *const *assignments,
                              size_t n_assignments, struct gpumc_config *config,
                              struct gpumc_error *error)
{
  struct gpumc_language language = {.config = config, .loads = true, .look = look};
  memset(config, 0, sizeof *config);
  enum gpumc_status status = gpumc_plugin_set_init(&config->plugins, error);
  if (status == GPUMC_OK)
    status = gpumc_document_read(path, &config->document, &language.report, error);
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
  return load(path, false, assignments, n_assignments, config, error);
}

enum gpumc_status gpumc_config_look(const char *path, const char *const *assignments,
                                    size_t n_assignments, struct gpumc_config *config,
                                    struct gpumc_error *error)
{
  return load(path, true, assignments, n_assignments, config, error);
}

void gpumc_config_free(struct gpumc_config *config)
{
  for (size_t i = 0; i < config->n_tasks; i++)
    gpumc_task_free(&config->tasks[i]);
  free(config->tasks);
  gpumc_document_free(&config->document);
  gpumc_plugin_set_free(&config->plugins);
  free(config->plugins_text);
  memset(config, 0, sizeof *config);
}
