/* What the files of the language share. Its plugins are an argument, so that tests bring their own.
 */
#ifndef GPUMC_CORE_LANGUAGE_INTERNAL_H
#define GPUMC_CORE_LANGUAGE_INTERNAL_H

#include "core/run/language.h"

enum { GPUMC_TASKS_MAXIMUM = 100000, GPUMC_OUTPUT_BYTES_MAXIMUM = 4000 };

/* NULL-terminated each. */
struct gpumc_plugins {
  const struct gpumc_model_ops *const *models;
  const struct gpumc_algorithm_ops *const *algorithms;
};
/* Those of a set. */
struct gpumc_plugins gpumc_plugins_of(const struct gpumc_plugin_set *set);

/* The keys that kernels add to their block: the end of tables->kernel. */
const struct gpumc_key *gpumc_own_keys(const struct gpumc_language_tables *tables);

GPUMC_MUST_CHECK enum gpumc_status
gpumc_config_parse_with(const struct gpumc_plugins *plugins, const char *name, const char *text,
                        size_t length, const char *const *assignments, size_t n_assignments,
                        struct gpumc_config *config, struct gpumc_error *error);
cJSON *gpumc_language_schema_with(const struct gpumc_plugins *plugins);
void gpumc_language_reference_with(const struct gpumc_plugins *plugins, struct gpumc_text *text);

/* Moves that tasks of the model have without `update` become the defaults of the tables. */
void gpumc_language_tables_select(struct gpumc_language_tables *tables,
                                  const struct gpumc_model_ops *model);

/* The table of the block `model` or `algorithm`: `name`, one of `names`, then the plugin's keys
 * (gpumc_language_plugin_keys). Caller frees the array; NULL when memory ran out. */
struct gpumc_key *gpumc_block_keys(const struct gpumc_language_tables *tables, const char *block,
                                   const char *const *names, const struct gpumc_key *plugin_keys);
/* Makes of such a table of an algorithm the one for a model without a temperature (ladder.h). */
void gpumc_block_without_temperature(struct gpumc_key *keys);
/* Whether the algorithm gives weights by controls, and the model has none but others than those
 * that it moves: it moves inverse temperatures alone. */
bool gpumc_lacks_control(const struct gpumc_model_ops *model,
                         const struct gpumc_algorithm_ops *algorithm);
/* The names of the plugins, NULL-terminated; caller frees the array. */
const char **gpumc_model_names(const struct gpumc_plugins *plugins);
const char **gpumc_algorithm_names(const struct gpumc_plugins *plugins);

/* One configuration on its way to tasks. `model`, `algorithm` and their tables are NULL while the
 * name in the file is not known; where it is close to that of a plugin, this is taken for it, so
 * that the keys are checked as well. */
struct gpumc_language {
  const struct gpumc_plugins *plugins;
  struct gpumc_config *config;
  bool loads; /* plugins that the document names, into config->plugins; `loaded` is a view of it */
  struct gpumc_plugins loaded;
  bool look; /* gpumc_config_look */
  struct gpumc_report report;
  struct gpumc_language_tables tables;
  const char **model_names, **algorithm_names;
  const struct gpumc_model_ops *model;
  const struct gpumc_algorithm_ops *algorithm;
  bool model_is_guess, algorithm_is_guess;
  struct gpumc_key *model_keys, *algorithm_keys;
};

/* Loads the plugins that the document needs, of its list and of the search path, into
 * config->plugins, with mistakes where that fails. GPUMC_FAILURE: memory ran out. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_language_load_plugins(struct gpumc_language *language, struct gpumc_error *error);
/* The plugins that the document names, or means, with mistakes where they are not named; where
 * nothing is near, its keys are compared with those of all. False when memory ran out. */
bool gpumc_language_find_plugins(struct gpumc_language *language);
/* The declared key at a dotted name in the blocks of this configuration, or NULL. */
const struct gpumc_key *
gpumc_language_find(const struct gpumc_language *language, const char *dotted_key);
/* The nearest declared dotted name, or NULL; `sweepable`: among those that a campaign may vary.
 * Caller frees. */
char *gpumc_language_nearest(const struct gpumc_language *language, const char *dotted_key,
                             bool sweepable);

/* Check `root` (the file with the values of one combination in place) and append its task.
 * `axes[n_axes]`: the dotted keys that the campaign varies, for the label. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_language_add_task(struct gpumc_language *language, const struct gpumc_node *root,
                        const char *const *axes, size_t n_axes, struct gpumc_error *error);
/* A block of a task that may have mistakes: nothing can be read before the view is narrowed to keys
 * that have none. */
static inline struct gpumc_params
gpumc_language_view(struct gpumc_language *language, const cJSON *resolved,
                    const struct gpumc_node *root, const char *block)
{
  return (struct gpumc_params){.values = cJSON_GetObjectItemCaseSensitive(resolved, block),
                               .node = gpumc_node_find(root, block),
                               .block = block,
                               .reads = "",
                               .report = &language->report};
}
/* Whether the instance stands in a file; `params`: the model's block. */
static inline bool
gpumc_language_reads_file(const struct gpumc_language *language, const struct gpumc_params *params)
{
  const char *key = language->model->file_key;
  return key != NULL && gpumc_params_has(params, key);
}
/* The kernel of a task, in whose resolved configuration its variant is pinned, with mistakes where
 * none serves, or where its keys do not suit it. `instance`: NULL where there is none. `suits`:
 * whether model and algorithm go together; else no kernel is chosen. `*kernel`: NULL where there is
 * none or it stays open. False when memory ran out. */
bool gpumc_language_settle_kernel(struct gpumc_language *language, const struct gpumc_node *root,
                                  const struct gpumc_model *instance, bool suits, cJSON *resolved,
                                  const struct gpumc_kernel_ops **kernel);
/* Mistakes of the moves of a task with this kernel: keys that are for others, steps without time to
 * be tuned, channels that they cannot measure. False when memory ran out. */
bool gpumc_language_check_moves(struct gpumc_language *language, const struct gpumc_node *root,
                                cJSON *resolved, const struct gpumc_kernel_ops *kernel);
/* A mistake if a step that is to be tuned has no time for it; where no thermalization is given it
 * stands at `update`. Again after defaults are filled, which may be such a time. */
void gpumc_language_check_step(struct gpumc_language *language, const struct gpumc_node *root,
                               const cJSON *resolved, const struct gpumc_kernel_ops *kernel);
/* Whether the value of a key that is no list is its default. */
bool gpumc_key_has_default(const struct gpumc_key *key, const cJSON *value);
/* What the task has; not the task. */
void gpumc_task_free(struct gpumc_task *task);

/* Below a plugin whose name is not known nothing can be said about keys. */
bool gpumc_language_is_below_unknown(const struct gpumc_language *language, const char *dotted_key);

/* The path with its {placeholders} filled from `resolved`; NULL with a mistake reported, or when
 * memory ran out. Without `complete` (other values are missing or wrong) the names in braces are
 * checked, and the result is NULL. */
char *gpumc_output_fill(const struct gpumc_language *language, const char *pattern,
                        const cJSON *resolved, bool complete, struct gpumc_mark mark,
                        struct gpumc_report *report);
/* A mistake for the first two tasks whose files would collide: their results, or the result of one
 * and a file that the other has beside its own, whatever way their names are written. A mistake for
 * the first file that a task reads and any task would replace, and for the first result whose name
 * leaves no room for those beside it. False when memory ran out. */
bool gpumc_language_check_files(struct gpumc_language *language);
/* Put `value`, taken over in any case, in the place of a member; false when memory ran out. */
bool gpumc_json_replace(cJSON *object, const char *name, cJSON *value);
/* Put what `defaults` has into `values` where it is missing there, in blocks of both as well; false
 * when memory ran out. */
bool gpumc_json_fill(cJSON *values, const cJSON *defaults);
/* Compact JSON in which every number stands exactly. Caller frees; NULL when memory ran out. */
char *gpumc_json_text(const cJSON *value);
/* The value at a dotted key of a resolved configuration, or NULL. */
const cJSON *gpumc_resolved_find(const cJSON *resolved, const char *dotted_key);

#endif
