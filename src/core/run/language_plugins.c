/* The plugins that a configuration names, or probably means: registered models and algorithms, and
 * which of them the blocks `model` and `algorithm` are for. */
#include <stdlib.h>
#include <string.h>

#include "core/config/config.h"
#include "core/config/params.h"
#include "core/run/language_internal.h"
#include "core/simulation/registry.h"

struct gpumc_plugins gpumc_plugins_of(const struct gpumc_plugin_set *set)
{
  return (struct gpumc_plugins){.models = set->models, .algorithms = set->algorithms};
}

/* ---- plugins that are loaded ---- */

/* A mistake of the document where a plugin is refused. Memory that ran out stays a failure. */
static enum gpumc_status refused(struct gpumc_language *language, struct gpumc_mark mark,
                                 enum gpumc_status status, struct gpumc_error *error)
{
  if (status != GPUMC_INVALID)
    return status;
  gpumc_report_mistake(&language->report, mark, "%s", gpumc_error_text(error));
  gpumc_error_free(error);
  *error = (struct gpumc_error){0};
  return GPUMC_OK;
}

/* An item of the list `plugins`, or the text that stands in its place. What is no text is a mistake
 * for whoever resolves the key. */
static enum gpumc_status
load_item(struct gpumc_language *language, const struct gpumc_node *item, struct gpumc_error *error)
{
  struct gpumc_config *config = language->config;
  if (item->kind != GPUMC_NODE_SCALAR || gpumc_scalar_is_null(item))
    return GPUMC_OK;
  return refused(language, item->mark,
                 gpumc_plugin_set_add(&config->plugins, item->text, config->document.path, error),
                 error);
}

/* The plugin that has what the block names, if nothing else has it. */
static enum gpumc_status load_named(struct gpumc_language *language, const char *dotted_key,
                                    enum gpumc_plugin_kind kind, struct gpumc_error *error)
{
  struct gpumc_config *config = language->config;
  const struct gpumc_node *name = gpumc_node_find(config->document.root, dotted_key);
  if (name == NULL || name->kind != GPUMC_NODE_SCALAR)
    return GPUMC_OK;
  return refused(language, name->mark,
                 gpumc_plugin_set_want(&config->plugins, kind, name->text, true, error), error);
}

enum gpumc_status
gpumc_language_load_plugins(struct gpumc_language *language, struct gpumc_error *error)
{
  struct gpumc_config *config = language->config;
  const struct gpumc_node *list = gpumc_node_find(config->document.root, "plugins");
  bool failed;
  if (list != NULL && list->kind == GPUMC_NODE_SCALAR)
    GPUMC_TRY(load_item(language, list, error));
  for (size_t i = 0; list != NULL && list->kind == GPUMC_NODE_SEQUENCE && i < list->count; i++)
    GPUMC_TRY(load_item(language, list->items[i], error));
  GPUMC_TRY(load_named(language, "model.name", GPUMC_PLUGIN_MODEL, error));
  GPUMC_TRY(load_named(language, "algorithm.name", GPUMC_PLUGIN_ALGORITHM, error));
  config->plugins_text = gpumc_plugin_set_text(&config->plugins, &failed);
  return failed ? gpumc_error_set(error, GPUMC_FAILURE, "out of memory: loading plugins")
                : GPUMC_OK;
}

/* ---- plugins that are named ---- */

const char **gpumc_model_names(const struct gpumc_plugins *plugins)
{
  size_t count = 0;
  while (plugins->models[count] != NULL)
    count++;
  const char **names = calloc(count + 1, sizeof *names);
  for (size_t i = 0; i < count && names != NULL; i++)
    names[i] = plugins->models[i]->name;
  return names;
}

const char **gpumc_algorithm_names(const struct gpumc_plugins *plugins)
{
  size_t count = 0;
  while (plugins->algorithms[count] != NULL)
    count++;
  const char **names = calloc(count + 1, sizeof *names);
  for (size_t i = 0; i < count && names != NULL; i++)
    names[i] = plugins->algorithms[i]->name;
  return names;
}

/* One block of the document with the plugins that may be meant: names[i] has the keys
 * keys_of(plugins, i). */
struct choice {
  struct gpumc_language *language;
  const char *block;
  const struct gpumc_entry *entry; /* NULL: the block is missing */
  const char *const *names;
  const struct gpumc_key *(*keys_of)(const struct gpumc_plugins *plugins, size_t i);
};

static const struct gpumc_key *model_keys(const struct gpumc_plugins *plugins, size_t i)
{
  return plugins->models[i]->keys;
}

static const struct gpumc_key *algorithm_keys(const struct gpumc_plugins *plugins, size_t i)
{
  return plugins->algorithms[i]->keys;
}

static const struct gpumc_key *keys_of(const struct choice *choice, size_t i)
{
  return choice->keys_of(choice->language->plugins, i);
}

/* A name that neither is one of those known nor near to one may be that of a plugin: says where
 * plugins were looked for. False: it is known, or near to a known one, or no text. */
static bool report_unknown(const struct choice *choice, const struct gpumc_node *name)
{
  struct gpumc_text known = {0}, folders = {0};
  size_t count = 0;
  if (!choice->language->loads || name->kind != GPUMC_NODE_SCALAR || gpumc_scalar_is_null(name))
    return false;
  for (; choice->names[count] != NULL; count++) {
    gpumc_text_append(&known, "%s%s", count == 0 ? "" : ", ", choice->names[count]);
    if (strcmp(choice->names[count], name->text) == 0)
      break;
  }
  const bool unknown =
      choice->names[count] == NULL && gpumc_nearest_name(name->text, choice->names, count) == NULL;
  gpumc_plugin_folders(&folders);
  if (unknown)
    gpumc_report_mistake(
        &choice->language->report, name->mark,
        "%s.name: expected one of %s, found text '%s', which no plugin in %s has: set "
        "GPUMC_PLUGIN_PATH to the folder of its plugin, or list it in `plugins`",
        choice->block, gpumc_text_string(&known), name->text, gpumc_text_string(&folders));
  gpumc_text_free(&known);
  gpumc_text_free(&folders);
  return unknown;
}

/* The node with the name in a plugin's block, or NULL; reports all but an absent block. `*known`:
 * it is one of the names. */
static const struct gpumc_node *name_of(const struct choice *choice, bool *known)
{
  struct gpumc_report *report = &choice->language->report;
  const struct gpumc_entry *entry = choice->entry;
  char found[GPUMC_DESCRIPTION_BYTES], dotted[GPUMC_KEY_NAME_BYTES];
  *known = false;
  if (entry == NULL)
    return NULL;
  if (entry->value->kind != GPUMC_NODE_MAPPING) {
    gpumc_report_mistake(report, entry->value->mark, "%s: expected a block of keys, found %s",
                         choice->block, gpumc_node_describe(entry->value, found));
    return NULL;
  }
  const struct gpumc_key key = {.name = "name", .type = GPUMC_KEY_CHOICE, .choices = choice->names};
  const struct gpumc_node *name = gpumc_node_find(entry->value, "name");
  const size_t before = report->calls;
  if (name == NULL)
    gpumc_report_mistake(report, entry->key_mark, "missing key 'name' in %s", choice->block);
  else if (!report_unknown(choice, name))
    cJSON_Delete(
        gpumc_key_value(&key, name, gpumc_key_join(choice->block, "name", dotted), report));
  *known = report->calls == before;
  return name;
}

/* Mistakes of the block if plugin i were meant; its name is one of them. */
static size_t mistakes_of(const struct choice *choice, size_t i)
{
  struct gpumc_report report = {0};
  struct gpumc_key *keys =
      gpumc_block_keys(&choice->language->tables, choice->block, choice->names, keys_of(choice, i));
  if (keys == NULL)
    return SIZE_MAX;
  cJSON_Delete(gpumc_params_resolve(keys, choice->entry->value, choice->entry->key_mark,
                                    choice->block, &report));
  const size_t mistakes = report.mistakes;
  gpumc_report_free(&report);
  free(keys);
  return mistakes;
}

/* The plugin whose name is nearest to `name`, and of equally near ones that whose keys fit best;
 * the number of plugins where none is near. */
static size_t guess(const struct choice *choice, const char *name)
{
  size_t count = 0, best = 0, least = SIZE_MAX;
  while (choice->names[count] != NULL)
    count++;
  const char *nearest = gpumc_nearest_name(name, choice->names, count);
  best = count;
  for (size_t i = 0; i < count && nearest != NULL; i++) {
    const char *pair[] = {choice->names[i], nearest};
    const size_t mistakes = mistakes_of(choice, i);
    if (gpumc_nearest_name(name, pair, 2) != choice->names[i] || mistakes >= least)
      continue;
    best = i;
    least = mistakes;
  }
  return best;
}

/* Whether plugin i has the key and accepts the value; `*refusing`: the key where it does not
 * accept it. */
static bool takes(const struct choice *choice, size_t i, const struct gpumc_entry *entry,
                  struct gpumc_key *refusing)
{
  struct gpumc_key *keys =
      gpumc_language_plugin_keys(&choice->language->tables, keys_of(choice, i));
  const struct gpumc_key *key = keys != NULL ? gpumc_key_find(keys, entry->key) : NULL;
  struct gpumc_report unused = {0};
  if (key != NULL && key->type != GPUMC_KEY_MAPPING)
    cJSON_Delete(gpumc_key_value(key, entry->value, key->name, &unused));
  const bool taken = key != NULL && unused.calls == 0;
  gpumc_report_free(&unused);
  if (key != NULL && !taken)
    *refusing = *key;
  free(keys);
  return taken;
}

/* Reports a key that no plugin has, and a value that no plugin with the key accepts. */
static void check_any(const struct choice *choice, const struct gpumc_entry *entry)
{
  struct gpumc_report *report = &choice->language->report;
  struct gpumc_key refusing = {0};
  char dotted[GPUMC_KEY_NAME_BYTES];
  for (size_t i = 0; choice->names[i] != NULL; i++)
    if (takes(choice, i, entry, &refusing))
      return;
  if (refusing.name == NULL)
    gpumc_report_mistake(report, entry->key_mark, "unknown key '%s' in %s: no %s has it",
                         entry->key, choice->block, choice->block);
  else
    cJSON_Delete(gpumc_key_value(&refusing, entry->value,
                                 gpumc_key_join(choice->block, refusing.name, dotted), report));
}

/* Returns the place of the plugin that is named or meant, SIZE_MAX where none is. `*is_guess`: it
 * is not named. */
static size_t choose(const struct choice *choice, bool *is_guess)
{
  bool known;
  size_t i = 0;
  const struct gpumc_node *name = name_of(choice, &known);
  *is_guess = !known;
  if (known) {
    while (strcmp(choice->names[i], name->text) != 0)
      i++;
    return i;
  }
  if (choice->entry == NULL || choice->entry->value->kind != GPUMC_NODE_MAPPING)
    return SIZE_MAX;
  if (name != NULL && name->kind == GPUMC_NODE_SCALAR) {
    i = guess(choice, name->text);
    if (choice->names[i] != NULL)
      return i;
  }
  const struct gpumc_node *block = choice->entry->value;
  for (size_t k = 0; k < block->count; k++)
    if (strcmp(block->entries[k].key, "name") != 0)
      check_any(choice, &block->entries[k]);
  return SIZE_MAX;
}

/* As choose(), with the `*table` of keys of the block. False when memory runs out. */
static bool
find(const struct choice *choice, size_t *place, bool *is_guess, struct gpumc_key **table)
{
  *place = choose(choice, is_guess);
  if (*place == SIZE_MAX)
    return true;
  *table = gpumc_block_keys(&choice->language->tables, choice->block, choice->names,
                            keys_of(choice, *place));
  return *table != NULL;
}

static bool find_model(struct gpumc_language *language)
{
  const struct choice choice = {.language = language,
                                .block = "model",
                                .entry = gpumc_node_entry(language->config->document.root, "model"),
                                .names = language->model_names,
                                .keys_of = model_keys};
  size_t i;
  const bool done = find(&choice, &i, &language->model_is_guess, &language->model_keys);
  if (i == SIZE_MAX)
    return done;
  language->model = language->plugins->models[i];
  gpumc_language_tables_select(&language->tables, language->model);
  return done;
}

static bool find_algorithm(struct gpumc_language *language)
{
  const struct choice choice = {.language = language,
                                .block = "algorithm",
                                .entry =
                                    gpumc_node_entry(language->config->document.root, "algorithm"),
                                .names = language->algorithm_names,
                                .keys_of = algorithm_keys};
  size_t i;
  const bool done = find(&choice, &i, &language->algorithm_is_guess, &language->algorithm_keys);
  if (i == SIZE_MAX)
    return done;
  language->algorithm = language->plugins->algorithms[i];
  if (done && language->model != NULL && language->model->n_controls > 0 &&
      !gpumc_model_has_temperature(language->model))
    gpumc_block_without_temperature(language->algorithm_keys);
  return done;
}

bool gpumc_language_find_plugins(struct gpumc_language *language)
{
  language->model_names = gpumc_model_names(language->plugins);
  language->algorithm_names = gpumc_algorithm_names(language->plugins);
  return language->model_names != NULL && language->algorithm_names != NULL &&
         find_model(language) && find_algorithm(language);
}
