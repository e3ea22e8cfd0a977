/* A configuration to begin with, written from the declared keys of a model and an algorithm: what
 * is required with the example of its declaration, what is optional in lines that begin with a #
 * and the key. */
#include <stdlib.h>
#include <string.h>

#include "core/run/language_internal.h"
#include "core/simulation/registry.h"
#include "core/simulation/shared_keys.h"

enum { LINE_WIDTH = 108, INDENT = 2 };

struct writer {
  const struct gpumc_plugins *plugins;
  const struct gpumc_model_ops *model;
  const struct gpumc_algorithm_ops *algorithm;
  const struct gpumc_language_tables *tables;
  const struct gpumc_key *model_keys, *algorithm_keys;
  const char *const *assignments; /* "KEY=VALUE" */
  size_t n_assignments;
  /* The optional block that is written as if its line had no #, to find out whether that is
   * possible, while others are left out; NULL: the whole configuration. */
  const char *tried;
  struct gpumc_text *text;
  struct gpumc_error *error; /* a key that is required and has no example */
};

/* ---- what is given by assignments ---- */

/* The value of the last assignment of just that key, or NULL. */
static const char *assigned(const struct writer *writer, const char *dotted_key)
{
  const size_t length = strlen(dotted_key);
  const char *value = NULL;
  for (size_t i = 0; i < writer->n_assignments; i++)
    if (strncmp(writer->assignments[i], dotted_key, length) == 0 &&
        writer->assignments[i][length] == '=')
      value = writer->assignments[i] + length + 1;
  return value;
}

/* Whether the key, or one in the block that it is, is assigned. */
static bool is_given(const struct writer *writer, const char *dotted_key)
{
  const size_t length = strlen(dotted_key);
  bool given = false;
  for (size_t i = 0; i < writer->n_assignments; i++)
    given = given || (strncmp(writer->assignments[i], dotted_key, length) == 0 &&
                      strchr("=.", writer->assignments[i][length]) != NULL);
  return given;
}

/* ---- which keys, with which values ---- */

static bool is_given_in(const struct writer *writer, const char *block, const char *name)
{
  char dotted[GPUMC_KEY_NAME_BYTES];
  return name != NULL && is_given(writer, gpumc_key_join(block, name, dotted));
}

/* The key of its group, of those that exclude each other, which the configuration has: one that is
 * given, else the first with an example. */
static const struct gpumc_key *chosen_of(const struct writer *writer, const struct gpumc_key *keys,
                                         const char *block, const char *group)
{
  const struct gpumc_key *chosen = NULL;
  for (const struct gpumc_key *key = keys; key->name != NULL; key++) {
    if (key->exactly_one_of == NULL || strcmp(key->exactly_one_of, group) != 0)
      continue;
    if (is_given_in(writer, block, key->name))
      return key;
    if (chosen == NULL && key->example != NULL)
      chosen = key;
  }
  return chosen;
}

/* Whether another key, which is there, excludes this one. */
static bool is_excluded(const struct writer *writer, const struct gpumc_key *keys,
                        const char *block, const struct gpumc_key *key)
{
  if (is_given_in(writer, block, key->name))
    return false;
  if (key->exactly_one_of != NULL && chosen_of(writer, keys, block, key->exactly_one_of) != key)
    return true;
  if (is_given_in(writer, block, key->required_unless))
    return true;
  for (const struct gpumc_key *other = keys; other->name != NULL; other++)
    if (other->required_unless != NULL && strcmp(other->required_unless, key->name) == 0)
      return true;
  return false;
}

static bool is_required(const struct gpumc_key *key)
{
  return key->required || key->required_unless != NULL;
}

/* The value of a key that the block has; NULL: it has none to be written. */
static const char *
value_of(const struct writer *writer, const char *block, const struct gpumc_key *key)
{
  const bool is_control = strcmp(block, "algorithm.control") == 0;
  if (strcmp(key->name, "name") == 0 && strcmp(block, "model") == 0)
    return writer->model->name;
  if (strcmp(key->name, "name") == 0 && strcmp(block, "algorithm") == 0)
    return writer->algorithm->name;
  for (size_t k = 0; strcmp(key->name, "name") == 0 && is_control && k < writer->model->n_controls;
       k++)
    if (!writer->model->controls[k].inverse_temperature)
      return writer->model->controls[k].label.name;
  return key->example;
}

/* Likewise, of one that need not be there. */
static const char *optional_value(const struct gpumc_key *key)
{
  if (key->or_auto)
    return "auto";
  if (key->default_text == NULL || key->default_divides != NULL)
    return NULL;
  return key->default_text[0] == '\0' ? "\"\"" : key->default_text;
}

/* ---- text ---- */

static void append_indent(struct gpumc_text *text, size_t indent)
{
  gpumc_text_append(text, "%*s", (int)indent, "");
}

/* As a comment, in lines of LINE_WIDTH characters. */
static void append_comment(struct gpumc_text *text, size_t indent, const char *words)
{
  size_t column = 0;
  while (*words != '\0') {
    const size_t length = strcspn(words, " ");
    if (column > 0 && column + 1 + length > LINE_WIDTH) {
      gpumc_text_append(text, "\n");
      column = 0;
    }
    if (column == 0) {
      append_indent(text, indent);
      gpumc_text_append(text, "#");
      column = indent + 1;
    }
    gpumc_text_append(text, " %.*s", (int)length, words);
    column += 1 + length;
    words += length;
    words += strspn(words, " ");
  }
  gpumc_text_append(text, "\n");
}

/* "in place of it" the keys that this one excludes. */
static void
append_others(const struct gpumc_key *keys, const struct gpumc_key *key, struct gpumc_text *words)
{
  const char *before = " In place of it: ";
  for (const struct gpumc_key *other = keys; other->name != NULL; other++) {
    const bool alternative =
        (key->required_unless != NULL && strcmp(key->required_unless, other->name) == 0) ||
        (other != key && key->exactly_one_of != NULL && other->exactly_one_of != NULL &&
         strcmp(key->exactly_one_of, other->exactly_one_of) == 0);
    if (!alternative)
      continue;
    gpumc_text_append(words, "%s`%s`", before, other->name);
    before = ", ";
  }
  if (before[0] == ',')
    gpumc_text_append(words, ".");
}

static void append_meaning(const struct writer *writer, const struct gpumc_key *keys,
                           const struct gpumc_key *key, size_t indent)
{
  struct gpumc_text words = {0};
  gpumc_text_append(&words, "%s", key->doc != NULL ? key->doc : "");
  if (key->unit != NULL)
    gpumc_text_append(&words, " Unit: %s.", key->unit);
  for (size_t i = 0; strcmp(key->name, "name") != 0 && key->choices != NULL && key->choices[i]; i++)
    gpumc_text_append(&words, "%s%s%s", i == 0 ? " One of " : ", ", key->choices[i],
                      key->choices[i + 1] == NULL ? "." : "");
  append_others(keys, key, &words);
  if (words.length > 0)
    append_comment(writer->text, indent, gpumc_text_string(&words));
  writer->text->failed = writer->text->failed || words.failed;
  gpumc_text_free(&words);
}

/* Whether a key of the block `keys` is for some kernels alone, which not every configuration has.
 */
static bool
is_of_kernel(const struct writer *writer, const struct gpumc_key *keys, const struct gpumc_key *key)
{
  return keys == writer->tables->kernel && key >= gpumc_own_keys(writer->tables);
}

/* "{every: 10 min}": the block in a line, or nothing where a required key of it has no example. */
static void flow_of(const struct writer *writer, const struct gpumc_key *key, const char *dotted,
                    struct gpumc_text *flow)
{
  const char *before = "{";
  if (key->example != NULL) {
    gpumc_text_append(flow, "%s", key->example);
    return;
  }
  for (const struct gpumc_key *child = key->children; child != NULL && child->name != NULL;
       child++) {
    const bool is_block = child->type == GPUMC_KEY_MAPPING;
    const char *value = is_block ? NULL : value_of(writer, dotted, child);
    if (is_block || is_of_kernel(writer, key->children, child) ||
        is_excluded(writer, key->children, dotted, child))
      continue;
    if (value == NULL && is_required(child)) {
      gpumc_text_free(flow);
      return;
    }
    if (value == NULL)
      value = optional_value(child);
    if (value == NULL)
      continue;
    gpumc_text_append(flow, "%s%s: %s", before, child->name, value);
    before = ", ";
  }
  if (before[0] == ',')
    gpumc_text_append(flow, "}");
}

/* ---- blocks ---- */

static void
append_block(struct writer *writer, const struct gpumc_key *keys, const char *block, size_t indent);

static void append_document(struct writer *writer);

/* Whether the configuration has no mistake if the optional block is in it. */
static bool is_possible(const struct writer *writer, const char *dotted)
{
  struct gpumc_text text = {0};
  struct gpumc_config config;
  struct gpumc_error error = {0};
  struct writer trial = *writer;
  trial.tried = dotted;
  trial.text = &text;
  trial.error = &error;
  append_document(&trial);
  const bool possible =
      !text.failed && error.status == GPUMC_OK &&
      gpumc_config_parse_with(writer->plugins, "example", gpumc_text_string(&text), text.length,
                              NULL, 0, &config, &error) == GPUMC_OK;
  if (possible)
    gpumc_config_free(&config);
  gpumc_error_free(&error);
  gpumc_text_free(&text);
  return possible;
}

static void append_optional_block(struct writer *writer, const struct gpumc_key *keys,
                                  const struct gpumc_key *key, const char *dotted, size_t indent)
{
  struct gpumc_text flow = {0};
  const bool is_tried = writer->tried != NULL && strcmp(writer->tried, dotted) == 0;
  flow_of(writer, key, dotted, &flow);
  if (flow.length > 0 && (is_tried || (writer->tried == NULL && is_possible(writer, dotted)))) {
    append_meaning(writer, keys, key, indent);
    append_indent(writer->text, indent);
    gpumc_text_append(writer->text, "%s%s: %s\n", is_tried ? "" : "#", key->name,
                      gpumc_text_string(&flow));
  }
  writer->text->failed = writer->text->failed || flow.failed;
  gpumc_text_free(&flow);
}

/* The keys of a block of its own; of the blocks of plugins, those that they declare. */
static const struct gpumc_key *
children_of(const struct writer *writer, const struct gpumc_key *key, const char *dotted)
{
  if (strcmp(dotted, "model") == 0)
    return writer->model_keys;
  return strcmp(dotted, "algorithm") == 0 ? writer->algorithm_keys : key->children;
}

static void append_key(struct writer *writer, const struct gpumc_key *keys, const char *block,
                       const struct gpumc_key *key, size_t indent)
{
  char dotted[GPUMC_KEY_NAME_BYTES];
  struct gpumc_text *text = writer->text;
  gpumc_key_join(block, key->name, dotted);
  const bool is_block = key->type == GPUMC_KEY_MAPPING;
  const char *value = assigned(writer, dotted);
  if (is_excluded(writer, keys, block, key))
    return;
  if (is_block && value == NULL && !is_required(key) && !is_given(writer, dotted)) {
    append_optional_block(writer, keys, key, dotted, indent);
    return;
  }
  const bool is_written = value != NULL || is_block || value_of(writer, block, key) != NULL;
  if (value == NULL && !is_block)
    value = is_written ? value_of(writer, block, key) : optional_value(key);
  if (value == NULL && !is_block && is_required(key) && writer->error->status == GPUMC_OK)
    gpumc_error_set(writer->error, GPUMC_INVALID,
                    "the key %s is required and declares no example: give it a value with --set "
                    "%s=VALUE",
                    dotted, dotted);
  if (value == NULL && !is_block)
    return;
  append_meaning(writer, keys, key, indent);
  append_indent(text, indent);
  gpumc_text_append(text, "%s%s:%s%s\n", is_written ? "" : "#", key->name, value != NULL ? " " : "",
                    value != NULL ? value : "");
  if (is_block && value == NULL)
    append_block(writer, children_of(writer, key, dotted), dotted, indent + INDENT);
}

static void
append_block(struct writer *writer, const struct gpumc_key *keys, const char *block, size_t indent)
{
  for (const struct gpumc_key *key = keys; key != NULL && key->name != NULL; key++) {
    if (is_of_kernel(writer, keys, key) && !is_given_in(writer, block, key->name))
      continue;
    append_key(writer, keys, block, key, indent);
    if (indent == 0 && key[1].name != NULL &&
        !(writer->text->length > 1 &&
          strcmp(writer->text->characters + writer->text->length - 2, "\n\n") == 0))
      gpumc_text_append(writer->text, "\n");
  }
}

static void append_document(struct writer *writer)
{
  struct gpumc_text head = {0};
  gpumc_text_append(&head, "%s; algorithm: %s.", writer->model->summary,
                    writer->algorithm->summary);
  append_comment(writer->text, 0, gpumc_text_string(&head));
  gpumc_text_append(
      writer->text,
      "#\n"
      "# `gpumc run` on this file takes seconds; `gpumc validate` finds mistakes, and `gpumc plan` "
      "shows what a\n"
      "# run needs. Keys in lines that begin with # are optional: their values are the defaults, "
      "or "
      "an example of a\n"
      "# block; take the # away to change them. All keys: `gpumc describe %s`, `gpumc describe "
      "%s`,\n"
      "# `gpumc describe config`, `gpumc describe kernel`.\n\n",
      writer->model->name, writer->algorithm->name);
  writer->text->failed = writer->text->failed || head.failed;
  gpumc_text_free(&head);
  append_block(writer, writer->tables->root, "", 0);
}

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

static bool is_declared(const struct writer *writer, const char *assignment)
{
  char dotted[GPUMC_KEY_NAME_BYTES];
  const size_t length = strcspn(assignment, "=");
  if (length >= sizeof dotted)
    return false;
  memcpy(dotted, assignment, length);
  dotted[length] = '\0';
  if (strncmp(dotted, "model.", strlen("model.")) == 0)
    return gpumc_key_find(writer->model_keys, dotted + strlen("model.")) != NULL;
  if (strncmp(dotted, "algorithm.", strlen("algorithm.")) == 0)
    return gpumc_key_find(writer->algorithm_keys, dotted + strlen("algorithm.")) != NULL;
  return gpumc_key_find(writer->tables->root, dotted) != NULL;
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

/* Whether the user moves another control than the example is for: the blocks `beta` and `control`
 * exclude each other (ladder.h). */
static bool is_of_other_control(const struct writer *writer, const char *example)
{
  static const char beta[] = "algorithm.beta", control[] = "algorithm.control";
  return (strncmp(example, beta, strlen(beta)) == 0 && is_given(writer, control)) ||
         (strncmp(example, control, strlen(control)) == 0 && is_given(writer, beta));
}

/* The examples of the model that the pair has and nothing overrides, and after them the
 * assignments. The caller frees the array; NULL when memory ran out. */
static const char **join_examples(const struct writer *writer, size_t *count)
{
  const char *const *examples = writer->model->examples;
  size_t n = 0, most = writer->n_assignments + 1;
  for (size_t i = 0; examples != NULL && examples[i] != NULL; i++)
    most++;
  const char **all = calloc(most, sizeof *all);
  for (size_t i = 0; all != NULL && examples != NULL && examples[i] != NULL; i++)
    if (is_declared(writer, examples[i]) && !is_of_other_control(writer, examples[i]) &&
        !is_overridden(examples[i], writer->assignments, writer->n_assignments))
      all[n++] = examples[i];
  for (size_t i = 0; all != NULL && i < writer->n_assignments; i++)
    all[n++] = writer->assignments[i];
  *count = n;
  return all;
}

/* The whole text, without mistakes. */
static enum gpumc_status write_checked(struct writer *writer)
{
  struct gpumc_config config;
  for (size_t i = 0; i < writer->n_assignments; i++)
    if (!is_declared(writer, writer->assignments[i]))
      return gpumc_error_set(writer->error, GPUMC_INVALID,
                             "unknown key '%.*s' of model %s and algorithm %s",
                             (int)strcspn(writer->assignments[i], "="), writer->assignments[i],
                             writer->model->name, writer->algorithm->name);
  struct writer whole = *writer;
  const char **all = join_examples(writer, &whole.n_assignments);
  if (all == NULL)
    return gpumc_error_set(writer->error, GPUMC_FAILURE, "out of memory: an example");
  whole.assignments = all;
  append_document(&whole);
  free(all);
  if (writer->error->status != GPUMC_OK)
    return writer->error->status;
  if (writer->text->failed)
    return gpumc_error_set(writer->error, GPUMC_FAILURE, "out of memory: an example");
  /* What is assigned once more, so that mistakes in it carry its name. */
  GPUMC_TRY(gpumc_config_parse_with(writer->plugins, "example", gpumc_text_string(writer->text),
                                    writer->text->length, writer->assignments,
                                    writer->n_assignments, &config, writer->error));
  gpumc_config_free(&config);
  return GPUMC_OK;
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
  struct writer writer = {.plugins = &plugins,
                          .model = model,
                          .algorithm = algorithm,
                          .tables = tables,
                          .model_keys = model_keys,
                          .algorithm_keys = algorithm_keys,
                          .assignments = assignments,
                          .n_assignments = n_assignments,
                          .text = text,
                          .error = error};
  status = write_checked(&writer);
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
