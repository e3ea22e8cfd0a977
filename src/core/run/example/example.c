/* A configuration to begin with: the pair, the examples that its model gives, and the text that is
 * checked as a run would read it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/run/example/example_internal.h"
#include "core/simulation/registry.h"
#include "core/simulation/shared_keys.h"

/* ---- the pair ---- */

bool gpumc_language_suits(const struct gpumc_model_ops *model,
                          const struct gpumc_algorithm_ops *algorithm)
{
  bool served = false;
  for (size_t k = 0; model->kernels[k] != NULL; k++) {
    struct gpumc_text unused = {0};
    served = gpumc_kernel_serves(model->kernels[k], algorithm, &unused) || served;
    gpumc_text_free(&unused);
  }
  return served && gpumc_model_samples(model, algorithm->target) &&
         !gpumc_lacks_control(model, algorithm);
}

/* Whether an assignment of the user's is of the key of `example`, of a block that it is in, or of a
 * key in it. */
static bool is_overridden(const char *example, const char *const *assignments, size_t n_assignments)
{
  const size_t length = strcspn(example, "=");
  bool overridden = false;
  for (size_t i = 0; i < n_assignments; i++) {
    const size_t own = strcspn(assignments[i], "="), common = own < length ? own : length;
    overridden =
        overridden || (strncmp(example, assignments[i], common) == 0 &&
                       (own == length || (own > length ? assignments[i] : example)[common] == '.'));
  }
  return overridden;
}

/* Whether the user gives another of the keys that exclude each other than the one that the setting
 * is for: temperatures in place of inverse ones, or `control` in place of either (ladder.h). */
static bool is_of_other_control(const struct gpumc_example *example, const char *setting)
{
  static const char *const keys[] = {"algorithm.beta", "algorithm.temperature",
                                     "algorithm.control"};
  const size_t n = sizeof keys / sizeof *keys;
  bool other = false;
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < n; k++)
      other = other || (i != k && gpumc_example_gives(example, keys[k]) &&
                        strncmp(setting, keys[i], strlen(keys[i])) == 0);
  return other;
}

/* Whether the user lists all values of the block that the example is in. */
static bool is_in_listed(const struct gpumc_example *example, const char *setting)
{
  char block[GPUMC_KEY_NAME_BYTES];
  snprintf(block, sizeof block, "%.*s", (int)strcspn(setting, "="), setting);
  char *dot = strrchr(block, '.');
  if (dot == NULL)
    return false;
  *dot = '\0';
  const struct gpumc_key *key = gpumc_example_key(example, block);
  return key != NULL && key->children != NULL && gpumc_example_lists(example, key->children, block);
}

/* The examples of the model that the pair has and nothing overrides, and after them the
 * assignments. The caller frees the array; NULL when memory ran out. */
static const char **join_examples(const struct gpumc_example *example, size_t *count)
{
  const char *const *examples = example->model->examples;
  size_t n = 0, most = example->n_assignments + 1;
  for (size_t i = 0; examples != NULL && examples[i] != NULL; i++)
    most++;
  const char **all = calloc(most, sizeof *all);
  for (size_t i = 0; all != NULL && examples != NULL && examples[i] != NULL; i++)
    if (gpumc_example_declares(example, examples[i]) &&
        !is_of_other_control(example, examples[i]) && !is_in_listed(example, examples[i]) &&
        !is_overridden(examples[i], example->assignments, example->n_assignments))
      all[n++] = examples[i];
  for (size_t i = 0; all != NULL && i < example->n_assignments; i++)
    all[n++] = example->assignments[i];
  *count = n;
  return all;
}

/* The text as a run would read it; where it has a mistake, with the assignments of the user once
 * more, so that mistakes in these carry their names. */
static enum gpumc_status check_text(const struct gpumc_example *example)
{
  struct gpumc_config config;
  const char *text = gpumc_text_string(example->text);
  const size_t length = example->text->length;
  struct gpumc_error named = {0};
  enum gpumc_status status = gpumc_config_parse_with(example->plugins, "example", text, length,
                                                     NULL, 0, &config, example->error);
  if (status == GPUMC_OK) {
    gpumc_config_free(&config);
    return GPUMC_OK;
  }
  if (gpumc_config_parse_with(example->plugins, "example", text, length, example->assignments,
                              example->n_assignments, &config, &named) == GPUMC_OK)
    gpumc_config_free(&config);
  else
    status = gpumc_error_set(example->error, named.status, "%s", gpumc_error_text(&named));
  for (size_t i = 0; i < example->n_assignments; i++)
    if (gpumc_assignment_removes(example->assignments[i]) &&
        strstr(gpumc_error_text(example->error), "--set ") == NULL)
      gpumc_error_prefix(example->error, "with --set %s", example->assignments[i]);
  gpumc_error_free(&named);
  return status;
}

/* The whole text, without mistakes. */
static enum gpumc_status write_checked(struct gpumc_example *example)
{
  GPUMC_TRY(gpumc_example_check_assignments(example));
  struct gpumc_example whole = *example;
  const char **all = join_examples(example, &whole.n_assignments);
  if (all == NULL)
    return gpumc_error_set(example->error, GPUMC_FAILURE, "out of memory: an example");
  whole.assignments = all;
  gpumc_example_append(&whole);
  free(all);
  if (example->error->status != GPUMC_OK)
    return example->error->status;
  if (example->text->failed)
    return gpumc_error_set(example->error, GPUMC_FAILURE, "out of memory: an example");
  return check_text(example);
}

enum gpumc_status
gpumc_language_example(const struct gpumc_plugin_set *set, const struct gpumc_model_ops *model,
                       const struct gpumc_algorithm_ops *algorithm, const char *const *assignments,
                       size_t n_assignments, struct gpumc_text *text, struct gpumc_error *error)
{
  const struct gpumc_plugins plugins = gpumc_plugins_of(set);
  const struct gpumc_model_ops *const just_this[] = {model, NULL};
  struct gpumc_language_tables *tables = malloc(sizeof *tables);
  enum gpumc_status status = GPUMC_FAILURE;
  struct gpumc_key *model_keys = NULL, *algorithm_keys = NULL;
  const char **models = gpumc_model_names(&plugins), **algorithms = gpumc_algorithm_names(&plugins);
  if (tables == NULL || models == NULL || algorithms == NULL)
    goto out;
  gpumc_language_tables_fill(tables, just_this);
  gpumc_language_tables_select(tables, model);
  model_keys = gpumc_block_keys(tables, "model", models, model->keys);
  algorithm_keys = gpumc_block_keys(tables, "algorithm", algorithms, algorithm->keys);
  if (model_keys == NULL || algorithm_keys == NULL)
    goto out;
  if (model->n_controls > 0 && !gpumc_model_has_temperature(model))
    gpumc_block_without_temperature(algorithm_keys);
  struct gpumc_example example = {.plugins = &plugins,
                                  .model = model,
                                  .algorithm = algorithm,
                                  .tables = tables,
                                  .model_keys = model_keys,
                                  .algorithm_keys = algorithm_keys,
                                  .assignments = assignments,
                                  .n_assignments = n_assignments,
                                  .text = text,
                                  .error = error};
  status = write_checked(&example);
out:
  if (status == GPUMC_FAILURE && error->status == GPUMC_OK)
    gpumc_error_set(error, GPUMC_FAILURE, "out of memory: an example");
  free(tables);
  free(models);
  free(algorithms);
  free(model_keys);
  free(algorithm_keys);
  return status;
}
