/* One task: every block resolved and checked, the kernel's variant pinned, the output path filled.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/config/config.h"
#include "core/config/params.h"
#include "core/config/temperatures.h"
#include "core/numerics/isa.h"
#include "core/plugins/plugin_flaws.h"
#include "core/run/language_internal.h"
#include "core/simulation/observables.h"
#include "core/simulation/registry.h"
#include "core/simulation/shared_keys.h"
#include "core/simulation/steps.h"

/* ---- the task ---- */

static enum gpumc_status out_of_memory(struct gpumc_error *error)
{
  return gpumc_error_set(error, GPUMC_FAILURE, "out of memory: checking the configuration");
}

/* Resolve a plugin's block into its place in `resolved`. False when memory ran out. */
static bool resolve_plugin(struct gpumc_language *language, const struct gpumc_node *root,
                           const char *block, const struct gpumc_key *keys, cJSON *resolved)
{
  const struct gpumc_entry *entry = gpumc_node_entry(root, block);
  if (keys == NULL || entry == NULL) {
    gpumc_wrong_note(&language->report, block, "");
    return true;
  }
  cJSON *values =
      gpumc_params_resolve(keys, entry->value, entry->key_mark, block, &language->report);
  return gpumc_json_replace(resolved, block, values);
}

/* Whether one of its kernels looks at instances. */
static bool kernels_ask(const struct gpumc_model_ops *model)
{
  bool ask = false;
  for (size_t k = 0; model->kernels != NULL && model->kernels[k] != NULL; k++)
    ask = ask || model->kernels[k]->refuses != NULL;
  return ask;
}

/* The instance of the model, if anybody asks for it: `instance->ops` is NULL where there is none.
 * False when memory ran out. */
static bool make_instance(struct gpumc_language *language, const struct gpumc_params *params,
                          struct gpumc_model *instance)
{
  struct gpumc_error error = {0};
  if (!kernels_ask(language->model) &&
      (language->algorithm == NULL ||
       (language->algorithm->checks == NULL && language->algorithm->defaults == NULL &&
        !language->algorithm->sweeps_alone &&
        (language->algorithm->required & GPUMC_OPERATION_WALK) == 0)))
    return true;
  if (language->look && gpumc_language_reads_file(language, params))
    return true;
  enum gpumc_status status = gpumc_model_create(language->model, params, instance, &error);
  if (status == GPUMC_INVALID && gpumc_language_reads_file(language, params))
    gpumc_params_mistake(params, &language->report, language->model->file_key, "%s",
                         gpumc_error_text(&error));
  else if (status == GPUMC_INVALID)
    gpumc_report_mistake(&language->report, params->node->mark, "%s", gpumc_error_text(&error));
  const char *flaw = status == GPUMC_OK && language->loads ? gpumc_instance_flaw(instance) : NULL;
  if (flaw != NULL) {
    gpumc_report_mistake(&language->report, params->node->mark,
                         "model %s describes this instance incorrectly (%s). This is a bug in the "
                         "model, not in the configuration; please report it to its author (rules: "
                         "docs/adding-a-model.md)",
                         language->model->name, flaw);
    status = GPUMC_INVALID;
  }
  gpumc_error_free(&error);
  if (status != GPUMC_OK) {
    language->model->destroy(instance);
    instance->ops = NULL;
  }
  return status == GPUMC_OK || status == GPUMC_INVALID;
}

/* The algorithms that sample what the model has, and average profiles where those are wanted: "use
 * a, b or c". */
static void
append_remedy(const struct gpumc_language *language, bool profiles, struct gpumc_text *text)
{
  const struct gpumc_algorithm_ops *const *algorithms = language->plugins->algorithms;
  const char *last = NULL, *before = "use ";
  for (size_t i = 0; algorithms[i] != NULL; i++) {
    if (!gpumc_model_samples(language->model, algorithms[i]->target) ||
        gpumc_lacks_control(language->model, algorithms[i]) ||
        (profiles && !algorithms[i]->profiles))
      continue;
    if (last != NULL) {
      gpumc_text_append(text, "%s%s", before, last);
      before = ", ";
    }
    last = algorithms[i]->name;
  }
  if (last != NULL)
    gpumc_text_append(text, "%s%s", strcmp(before, ", ") == 0 ? " or " : before, last);
}

/* A mistake where a profile is asked of an algorithm that averages none. */
static void
check_profile(struct gpumc_language *language, const struct gpumc_params *view, const char *key)
{
  struct gpumc_text text = {0};
  if (language->algorithm->profiles || !gpumc_params_boolean(view, key) ||
      !gpumc_observables_is_profile(language->model, key))
    return;
  append_remedy(language, true, &text);
  gpumc_params_mistake(view, &language->report, key,
                       "algorithm %s does not average profiles, and %s is one: leave it out%s%s",
                       language->algorithm->name, key, text.length > 0 ? ", or " : "",
                       gpumc_text_string(&text));
  gpumc_text_free(&text);
}

/* Requests of an algorithm that has these keys (GPUMC_REQUESTS_KEY), of the model or of
 * `instance`, unless that is NULL. */
static void check_requests(struct gpumc_language *language, const struct gpumc_params *algorithm,
                           const struct gpumc_model *instance)
{
  struct gpumc_report *report = &language->report;
  if (language->algorithm == NULL)
    return;
  const struct gpumc_key *key = language->tables.requests[language->algorithm->target];
  for (; key->name != NULL; key++) {
    struct gpumc_params view;
    if (!gpumc_params_narrow(algorithm, report, key->name, &view) ||
        !gpumc_params_has(&view, key->name))
      continue;
    if (instance == NULL) {
      gpumc_observables_check(&view, key->name, language->model, language->algorithm->target,
                              report);
      check_profile(language, &view, key->name);
    } else
      gpumc_observables_check_instance(&view, key->name, instance, report);
  }
}

/* The file that the algorithm reads, where its block has no mistake. False when memory ran out. */
static bool check_algorithm_file(struct gpumc_language *language,
                                 const struct gpumc_params *algorithm,
                                 const struct gpumc_model *instance)
{
  const char *key = language->algorithm != NULL ? language->algorithm->file_key : NULL;
  struct gpumc_params whole;
  struct gpumc_error error = {0};
  uint64_t unused;
  if (key == NULL || language->look ||
      !gpumc_params_narrow(algorithm, &language->report, NULL, &whole) ||
      !gpumc_params_has(&whole, key))
    return true;
  const enum gpumc_status status =
      language->algorithm->read_file(&whole, instance, &unused, &error);
  if (status == GPUMC_INVALID)
    gpumc_params_mistake(&whole, &language->report, key, "%s", gpumc_error_text(&error));
  gpumc_error_free(&error);
  return status == GPUMC_OK || status == GPUMC_INVALID;
}

/* Whether the model has what the algorithm samples, weights that follow controls or states of equal
 * weight; else a mistake at the algorithm's name. */
static bool check_target(struct gpumc_language *language, const struct gpumc_node *root)
{
  const struct gpumc_model_ops *model = language->model;
  const struct gpumc_algorithm_ops *algorithm = language->algorithm;
  const struct gpumc_node *name = gpumc_node_find(root, "algorithm.name");
  struct gpumc_text text = {0};
  if (model == NULL || algorithm == NULL ||
      (gpumc_model_samples(model, algorithm->target) && !gpumc_lacks_control(model, algorithm)))
    return true;
  if (gpumc_lacks_control(model, algorithm))
    gpumc_text_append(&text, "algorithm %s only moves temperatures, and model %s has none",
                      algorithm->name, model->name);
  else if (algorithm->target == GPUMC_ATHERMAL)
    gpumc_text_append(
        &text,
        "algorithm %s gives all states the same weight, but model %s weights them by their %s",
        algorithm->name, model->name, model->channels[model->tracked].label.name);
  else
    gpumc_text_append(&text,
                      "model %s has no temperature, from which algorithm %s computes weights: all "
                      "its allowed states have the same weight",
                      model->name, algorithm->name);
  gpumc_text_append(&text, ": ");
  append_remedy(language, false, &text);
  if (name != NULL && !language->model_is_guess && !language->algorithm_is_guess)
    gpumc_report_mistake(&language->report, name->mark, "%s", gpumc_text_string(&text));
  gpumc_text_free(&text);
  return false;
}

/* Checks run where the keys that they read have no mistake, those of the algorithm beside the model
 * only where it `suits` it; `instance` is made where no key of the model has a mistake, or stays
 * zeroed. False when memory ran out. */
static bool check_plugins(struct gpumc_language *language, const struct gpumc_node *root,
                          bool suits, cJSON *resolved, struct gpumc_model *instance)
{
  struct gpumc_report *report = &language->report;
  if (!resolve_plugin(language, root, "model", language->model_keys, resolved) ||
      !resolve_plugin(language, root, "algorithm", language->algorithm_keys, resolved))
    return false;
  const struct gpumc_params model = gpumc_language_view(language, resolved, root, "model");
  const struct gpumc_params algorithm = gpumc_language_view(language, resolved, root, "algorithm");
  const struct gpumc_check *checks =
      language->algorithm != NULL ? language->algorithm->checks : NULL;
  struct gpumc_subject subject = {.model = language->model};
  struct gpumc_params whole;
  gpumc_checks_run(checks, GPUMC_NEEDS_KEYS, &algorithm, &subject, report);
  if (language->model == NULL)
    return true;
  gpumc_checks_run(language->model->checks, GPUMC_NEEDS_KEYS, &model, &subject, report);
  check_requests(language, &algorithm, NULL);
  if (suits)
    gpumc_checks_run(checks, GPUMC_NEEDS_MODEL, &algorithm, &subject, report);
  if (!gpumc_params_narrow(&model, report, NULL, &whole))
    return true;
  if (!make_instance(language, &whole, instance))
    return false;
  if (instance->ops == NULL || !suits)
    return true;
  subject.instance = instance;
  check_requests(language, &algorithm, instance);
  gpumc_checks_run(checks, GPUMC_NEEDS_INSTANCE, &algorithm, &subject, report);
  return check_algorithm_file(language, &algorithm, instance);
}

/* The defaults that no table has, of blocks without mistakes. False when memory ran out. */
static bool fill_defaults(const struct gpumc_language *language, const struct gpumc_model *instance,
                          struct gpumc_task *task)
{
  cJSON *block = cJSON_GetObjectItemCaseSensitive(task->resolved, "algorithm");
  const struct gpumc_params algorithm = {.values = block};
  if (language->model == NULL || language->algorithm == NULL ||
      language->algorithm->defaults == NULL)
    return true;
  task->defaults = language->algorithm->defaults(&algorithm, instance);
  return task->defaults != NULL && gpumc_json_fill(block, task->defaults);
}

static bool add_warning(struct gpumc_task *task, const char *name, const char *text)
{
  return text == NULL || cJSON_AddStringToObject(task->warnings, name, text) != NULL;
}

/* What is known against sweeps of the instance's samples, of each move by itself: the first
 * warning;
 * `*warning` is NULL where that is nothing, or one of the moves has none. */
static enum gpumc_status
ask_move(const struct gpumc_kernel_ops *kernel, enum gpumc_target_kind target,
         const struct gpumc_params *algorithm, const struct gpumc_model *instance,
         const char **warning, struct gpumc_error *error)
{
  const struct gpumc_update update = gpumc_update_of(algorithm);
  const bool many = gpumc_params_has(algorithm, "samples");
  for (size_t t = update.count; t-- > 0;) {
    const struct gpumc_move *move = gpumc_kernel_move(kernel, update.turn[t].move, target);
    *warning = NULL;
    if (move == NULL || move->warn == NULL)
      return GPUMC_OK;
    GPUMC_TRY(move->warn(instance, many ? (size_t)gpumc_params_integer(algorithm, "samples") : 1,
                         warning, error));
    if (*warning == NULL)
      return GPUMC_OK;
  }
  return GPUMC_OK;
}

/* Where there are values of the moved control at which no sweep changes the energy; of moves that
 * take turns nothing is said. */
static bool warn_of_cycle(const struct gpumc_language *language,
                          const struct gpumc_kernel_ops *kernel,
                          const struct gpumc_params *algorithm,
                          const struct gpumc_kernel_options *options, struct gpumc_task *task)
{
  const char *key = language->algorithm->relaxing_key;
  const struct gpumc_update update = gpumc_update_of(algorithm);
  const struct gpumc_move *move =
      gpumc_kernel_move(kernel, update.turn[0].move, language->algorithm->target);
  char text[512];
  if (key == NULL || update.count > 1 || move == NULL || move->cycle == NULL)
    return true;
  const long long sweeps = (long long)gpumc_params_integer(algorithm, key);
  const uint32_t cycle = move->cycle(options);
  if (sweeps == 0 || sweeps >= cycle)
    return true;
  snprintf(text, sizeof text,
           "algorithm.%s = %lld is less than a cycle of the move %s, %u sweeps of which only one "
           "changes the energy: in some steps no replica changes its energy; use algorithm.%s: %u "
           "or more%s%s",
           key, sweeps, move->name, cycle, key, cycle,
           move->keys != NULL ? ", or a smaller kernel." : "",
           move->keys != NULL ? move->keys[0] : "");
  return add_warning(task, "sweeps_warning", text);
}

/* For those who do not only look, of blocks without mistakes. False when memory ran out, where
 * `error` may tell more of it. */
static bool fill_warnings(const struct gpumc_language *language, const struct gpumc_model *instance,
                          const struct gpumc_kernel_ops *kernel, struct gpumc_task *task,
                          struct gpumc_error *error)
{
  const struct gpumc_params block = gpumc_task_params(task, "kernel");
  const struct gpumc_params algorithm = gpumc_task_params(task, "algorithm");
  const char *warning = NULL, *name = NULL;
  bool good = true;
  if (language->look || language->model == NULL || language->algorithm == NULL)
    return true;
  task->warnings = cJSON_CreateObject();
  if (task->warnings == NULL)
    return false;
  struct gpumc_kernel_options options = {0};
  if (kernel != NULL && kernel->read != NULL)
    kernel->read(&block, &options);
  if (kernel != NULL && kernel->warning != NULL) {
    warning = kernel->warning(&options, &name);
    good = add_warning(task, name, warning);
    warning = NULL;
  }
  if (good && kernel != NULL)
    good = warn_of_cycle(language, kernel, &algorithm, &options, task);
  if (good && kernel != NULL && instance != NULL && language->algorithm->sweeps_alone)
    good = ask_move(kernel, language->algorithm->target, &algorithm, instance, &warning, error) ==
           GPUMC_OK;
  char text[GPUMC_WARNING_BYTES];
  good = good && add_warning(task, "ergodicity_warning", warning);
  if (good && kernel != NULL && instance != NULL && language->algorithm->warn != NULL) {
    good = language->algorithm->warn(&algorithm, instance, kernel, &name, text, error) == GPUMC_OK;
    good = good && (text[0] == '\0' || add_warning(task, name, text));
  }
  if (good && instance != NULL && language->model->warn != NULL) {
    name = language->model->warn(instance, text);
    good = name == NULL || add_warning(task, name, text);
  }
  return good;
}

/* Model, algorithm and what serves them; `before`: the calls of the report when there was no
 * mistake of this task yet. False when memory ran out; `error` may then say more. */
static bool settle_plugins(struct gpumc_language *language, const struct gpumc_node *root,
                           size_t before, struct gpumc_task *task, struct gpumc_error *error)
{
  cJSON *resolved = task->resolved;
  struct gpumc_model instance = {0};
  const struct gpumc_kernel_ops *kernel = NULL;
  const bool suits = check_target(language, root);
  bool good = check_plugins(language, root, suits, resolved, &instance);
  const struct gpumc_model *made = instance.ops != NULL ? &instance : NULL;
  good = good && gpumc_language_settle_kernel(language, root, made, suits, resolved, &kernel);
  if (good && language->report.calls == before)
    good = fill_defaults(language, made, task);
  if (good && kernel != NULL && language->report.calls == before)
    gpumc_language_check_step(language, root, resolved, kernel);
  if (good && language->report.calls == before)
    good = fill_warnings(language, made, kernel, task, error);
  if (instance.ops != NULL)
    language->model->destroy(&instance);
  return good;
}

/* The number, or the numbers of a list, as temperatures. */
static void append_inverse(struct gpumc_text *text, const cJSON *value)
{
  const cJSON *item = NULL;
  if (cJSON_IsArray(value)) {
    gpumc_text_append(text, "[");
    cJSON_ArrayForEach(item, value)
    {
      gpumc_text_append(text, "%s", item == value->child ? "" : ",");
      append_inverse(text, item);
    }
    gpumc_text_append(text, "]");
  } else if (value->valuedouble == 0)
    gpumc_text_append(text, ".inf");
  else
    gpumc_text_append(text, "%.6g", 1 / value->valuedouble);
}

static void append_value(struct gpumc_text *text, const cJSON *value)
{
  char *printed = cJSON_IsString(value) ? strdup(value->valuestring) : NULL;
  if (value == NULL) /* left open, as there is no instance to decide it */
    printed = strdup("auto");
  if (printed == NULL)
    printed = gpumc_json_text(value);
  gpumc_text_append(text, "%s", printed != NULL ? printed : "");
  text->failed = text->failed || printed == NULL;
  free(printed);
}

/* "model.shape=[16,16] seed=1"; `typed`: with temperatures in place of inverse ones. NULL when
 * memory ran out. */
static char *make_label(const struct gpumc_language *language, const cJSON *resolved,
                        const char *const *axes, size_t n_axes, bool typed)
{
  static const char block[] = "algorithm.";
  struct gpumc_text label = {0};
  for (size_t i = 0; i < n_axes; i++) {
    const cJSON *value = gpumc_resolved_find(resolved, axes[i]);
    char name[GPUMC_KEY_NAME_BYTES];
    gpumc_text_append(&label, "%s", i == 0 ? "" : " ");
    if (typed && value != NULL && strncmp(axes[i], block, strlen(block)) == 0 &&
        gpumc_temperatures_sibling(language->algorithm_keys, axes[i] + strlen(block), name)) {
      gpumc_text_append(&label, "%s%s=", block, name);
      append_inverse(&label, value);
    } else {
      gpumc_text_append(&label, "%s=", axes[i]);
      append_value(&label, value);
    }
  }
  char *text = label.failed ? NULL : strdup(gpumc_text_string(&label));
  gpumc_text_free(&label);
  return text;
}

/* Takes over what the task has when it succeeds. */
static bool append_task(struct gpumc_language *language, const struct gpumc_task *task)
{
  struct gpumc_config *config = language->config;
  size_t count = config->n_tasks;
  if ((count & (count - 1)) == 0) {
    struct gpumc_task *tasks = realloc(config->tasks, (count == 0 ? 1 : 2 * count) * sizeof *tasks);
    if (tasks == NULL)
      return false;
    config->tasks = tasks;
  }
  config->tasks[count] = *task;
  config->tasks[count].index = count;
  config->tasks[count].model = language->model;
  config->tasks[count].algorithm = language->algorithm;
  config->tasks[count].plugins = config->plugins_text;
  config->n_tasks++;
  return true;
}

/* The output path into `resolved` as well; `complete`: no mistake so far. A mistake leaves it NULL
 * and is no failure; the path itself, when it is no text, has been reported already. */
static bool fill_output(struct gpumc_language *language, const struct gpumc_node *root,
                        cJSON *resolved, bool complete, char **output)
{
  const struct gpumc_node *pattern = gpumc_node_find(root, "output");
  size_t before = language->report.calls;
  *output = NULL;
  if (pattern == NULL || pattern->kind != GPUMC_NODE_SCALAR)
    return true;
  *output = gpumc_output_fill(language, pattern->text, resolved, complete, pattern->mark,
                              &language->report);
  if (*output == NULL)
    return !complete || language->report.calls > before;
  return gpumc_json_replace(resolved, "output", cJSON_CreateString(*output));
}

enum gpumc_status gpumc_language_add_task(struct gpumc_language *language,
                                          const struct gpumc_node *root, const char *const *axes,
                                          size_t n_axes, struct gpumc_error *error)
{
  size_t before = language->report.calls;
  struct gpumc_task task = {0};
  bool good = false;
  gpumc_wrong_forget(&language->report);
  task.resolved =
      gpumc_params_resolve(language->tables.root, root, root->mark, "", &language->report);
  if (task.resolved == NULL)
    return out_of_memory(error);
  cJSON_DeleteItemFromObjectCaseSensitive(task.resolved, "campaign");
  if (!settle_plugins(language, root, before, &task, error))
    goto out;
  bool complete =
      language->report.calls == before && language->model != NULL && language->algorithm != NULL;
  good = fill_output(language, root, task.resolved, complete, &task.output);
  if (!good || task.output == NULL)
    goto out;
  task.label = make_label(language, task.resolved, axes, n_axes, false);
  task.typed_label = make_label(language, task.resolved, axes, n_axes, true);
  gpumc_temperatures_strip(language->algorithm_keys,
                           cJSON_GetObjectItemCaseSensitive(task.resolved, "algorithm"));
  good = task.label != NULL && task.typed_label != NULL && append_task(language, &task);
  if (good)
    return GPUMC_OK;
out:
  gpumc_task_free(&task);
  if (good)
    return GPUMC_OK;
  return error->status != GPUMC_OK ? error->status : out_of_memory(error);
}
