/* A configuration to begin with, written from the declared keys of a model and an algorithm: what
 * is required with the example of its declaration, what is optional in lines that begin with a #
 * and the key. */
#include <stdio.h>
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

/* Whether an assignment is of that key, or of a block that the key is in. */
static bool is_of_key_or_block(const char *assignment, const char *key, size_t length)
{
  const size_t own = strcspn(assignment, "=");
  return own <= length && strncmp(assignment, key, own) == 0 && (own == length || key[own] == '.');
}

/* Whether an assignment of null from this one on takes its key away, or a block that it is in. */
static bool is_cancelled(const struct writer *writer, size_t place)
{
  const char *key = writer->assignments[place];
  bool cancelled = false;
  for (size_t i = place; i < writer->n_assignments; i++)
    cancelled = cancelled || (gpumc_assignment_removes(writer->assignments[i]) &&
                              is_of_key_or_block(writer->assignments[i], key, strcspn(key, "=")));
  return cancelled;
}

/* The value of the last assignment of just that key, as the file has it, or NULL. */
static const char *assigned(const struct writer *writer, const char *dotted_key)
{
  const size_t length = strlen(dotted_key);
  const char *value = NULL;
  for (size_t i = 0; i < writer->n_assignments; i++)
    if (strncmp(writer->assignments[i], dotted_key, length) == 0 &&
        writer->assignments[i][length] == '=' && !is_cancelled(writer, i))
      value = writer->assignments[i] + length + 1;
  if (value != NULL && value[0] == '\0')
    return "\"\""; /* nothing is null in a file, and an empty text after --set */
  return value;
}

/* Whether the key, or one in the block that it is, is assigned a value. */
static bool is_given(const struct writer *writer, const char *dotted_key)
{
  const size_t length = strlen(dotted_key);
  bool given = false;
  for (size_t i = 0; i < writer->n_assignments; i++)
    given =
        given || (strncmp(writer->assignments[i], dotted_key, length) == 0 &&
                  strchr("=.", writer->assignments[i][length]) != NULL && !is_cancelled(writer, i));
  return given;
}

/* Whether the key is assigned null, and nothing after that. */
static bool is_removed(const struct writer *writer, const char *dotted_key)
{
  const size_t length = strlen(dotted_key);
  bool removed = false;
  for (size_t i = 0; i < writer->n_assignments; i++)
    removed = removed || (strncmp(writer->assignments[i], dotted_key, length) == 0 &&
                          writer->assignments[i][length] == '=' &&
                          gpumc_assignment_removes(writer->assignments[i]));
  return removed && !is_given(writer, dotted_key);
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

/* Whether all values are listed, in place of those that the key would be an end of. */
static bool is_listed(const struct writer *writer, const struct gpumc_key *keys, const char *block)
{
  for (const struct gpumc_key *key = keys; key->name != NULL; key++)
    if (key->exactly_one_of != NULL && key->list_maximum > 0 &&
        is_given_in(writer, block, key->name))
      return true;
  return false;
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
  if (key->inverse_of != NULL && key->type != GPUMC_KEY_MAPPING)
    return true;
  if (!key->required && key->required_unless == NULL && key->example != NULL &&
      key->type == GPUMC_KEY_REAL && is_listed(writer, keys, block))
    return true;
  for (const struct gpumc_key *other = keys; other->name != NULL; other++)
    if (other->inverse_of != NULL && strcmp(other->inverse_of, key->name) == 0 &&
        is_given_in(writer, block, other->name))
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
  if (is_excluded(writer, keys, block, key) || is_removed(writer, dotted))
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

/* NULL: the pair has no such key. */
static const struct gpumc_key *declared_key(const struct writer *writer, const char *dotted)
{
  if (strncmp(dotted, "model.", strlen("model.")) == 0)
    return gpumc_key_find(writer->model_keys, dotted + strlen("model."));
  if (strncmp(dotted, "algorithm.", strlen("algorithm.")) == 0)
    return gpumc_key_find(writer->algorithm_keys, dotted + strlen("algorithm."));
  return gpumc_key_find(writer->tables->root, dotted);
}

static bool is_declared(const struct writer *writer, const char *assignment)
{
  char dotted[GPUMC_KEY_NAME_BYTES];
  const size_t length = strcspn(assignment, "=");
  if (length >= sizeof dotted)
    return false;
  memcpy(dotted, assignment, length);
  dotted[length] = '\0';
  return declared_key(writer, dotted) != NULL;
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

/* Whether the user gives another of the keys that exclude each other than the one that the example
 * is for: temperatures in place of inverse ones, or `control` in place of either (ladder.h). */
static bool is_of_other_control(const struct writer *writer, const char *example)
{
  static const char *const keys[] = {"algorithm.beta", "algorithm.temperature",
                                     "algorithm.control"};
  const size_t n = sizeof keys / sizeof *keys;
  bool other = false;
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < n; k++)
      other = other || (i != k && is_given(writer, keys[k]) &&
                        strncmp(example, keys[i], strlen(keys[i])) == 0);
  return other;
}

/* Whether the user lists all values of the block that the example is in. */
static bool is_in_listed(const struct writer *writer, const char *example)
{
  char block[GPUMC_KEY_NAME_BYTES];
  snprintf(block, sizeof block, "%.*s", (int)strcspn(example, "="), example);
  char *dot = strrchr(block, '.');
  if (dot == NULL)
    return false;
  *dot = '\0';
  const struct gpumc_key *key = declared_key(writer, block);
  return key != NULL && key->children != NULL && is_listed(writer, key->children, block);
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
        !is_in_listed(writer, examples[i]) &&
        !is_overridden(examples[i], writer->assignments, writer->n_assignments))
      all[n++] = examples[i];
  for (size_t i = 0; all != NULL && i < writer->n_assignments; i++)
    all[n++] = writer->assignments[i];
  *count = n;
  return all;
}

/* ---- mistakes of assignments ---- */

/* Whether a text is the YAML of a mapping, into which `assignment`, if any, can be set. Sets the
 * error, with the mistakes, where `error` is not NULL. */
static bool is_yaml(const char *text, const char *assignment, struct gpumc_error *error)
{
  struct gpumc_document document = {0};
  struct gpumc_report report = {0};
  struct gpumc_error failure = {0};
  bool good = gpumc_document_parse("example", text, strlen(text), &document, &report, &failure) ==
                  GPUMC_OK &&
              document.root != NULL;
  if (good && assignment != NULL)
    good = gpumc_document_set(&document, assignment, &report, &failure) == GPUMC_OK;
  good = good && report.calls == 0;
  if (!good && error != NULL && report.lines.length > 0) /* without the last line's end */
    (void)gpumc_error_set(error, GPUMC_INVALID, "%.*s", (int)report.lines.length - 1,
                          gpumc_text_string(&report.lines));
  else if (!good && error != NULL)
    (void)gpumc_error_set(error, GPUMC_FAILURE, "%s", gpumc_error_text(&failure));
  gpumc_error_free(&failure);
  gpumc_report_free(&report);
  gpumc_document_free(&document);
  return good;
}

/* Whether a value can stand in the line of its key. */
static bool fits_a_line(const char *value)
{
  struct gpumc_text line = {0};
  gpumc_text_append(&line, "key: %s\n", value);
  const bool fits = strchr(value, '\n') == NULL && is_yaml(gpumc_text_string(&line), NULL, NULL);
  gpumc_text_free(&line);
  return fits;
}

/* An assignment by itself: its key is one of the pair's, and may be missing where it is null; its
 * value is YAML, and can be written. */
static enum gpumc_status check_assignment(const struct writer *writer, const char *assignment)
{
  char dotted[GPUMC_KEY_NAME_BYTES];
  const size_t length = strcspn(assignment, "=");
  if (!is_declared(writer, assignment))
    return gpumc_error_set(writer->error, GPUMC_INVALID,
                           "--set %s: unknown key '%.*s' of model %s and algorithm %s", assignment,
                           (int)length, assignment, writer->model->name, writer->algorithm->name);
  memcpy(dotted, assignment, length); /* which is_declared has found to fit */
  dotted[length] = '\0';
  if (is_removed(writer, dotted) && declared_key(writer, dotted)->required)
    return gpumc_error_set(writer->error, GPUMC_INVALID,
                           "--set %s: the key is required, and cannot be left out", assignment);
  if (gpumc_assignment_removes(assignment))
    return GPUMC_OK;
  if (!is_yaml("{}", assignment, writer->error))
    return writer->error->status;
  if (!fits_a_line(assignment + length + 1))
    return gpumc_error_set(writer->error, GPUMC_INVALID,
                           "--set %s: init writes each value into the line of its key, where this "
                           "one is not valid: put it in quotes or braces",
                           assignment);
  return GPUMC_OK;
}

/* A value of a block as a whole, and one in the block after it, of which the file has one. */
static enum gpumc_status check_parts(const struct writer *writer)
{
  for (size_t i = 0; i < writer->n_assignments; i++)
    for (size_t k = 0; k < i; k++) {
      const char *part = writer->assignments[i], *whole = writer->assignments[k];
      const size_t length = strcspn(whole, "=");
      if (length < strcspn(part, "=") && is_of_key_or_block(whole, part, strcspn(part, "=")) &&
          !is_cancelled(writer, i) && !is_cancelled(writer, k))
        return gpumc_error_set(
            writer->error, GPUMC_INVALID,
            "--set %s: '%.*s' is set as a whole as well: put both into one value", part,
            (int)length, whole);
    }
  return GPUMC_OK;
}

/* The text as a run would read it; where it has a mistake, with the assignments of the user once
 * more, so that mistakes in these carry their names. */
static enum gpumc_status check_text(const struct writer *writer)
{
  struct gpumc_config config;
  const char *text = gpumc_text_string(writer->text);
  const size_t length = writer->text->length;
  struct gpumc_error named = {0};
  enum gpumc_status status = gpumc_config_parse_with(writer->plugins, "example", text, length, NULL,
                                                     0, &config, writer->error);
  if (status == GPUMC_OK) {
    gpumc_config_free(&config);
    return GPUMC_OK;
  }
  if (gpumc_config_parse_with(writer->plugins, "example", text, length, writer->assignments,
                              writer->n_assignments, &config, &named) == GPUMC_OK)
    gpumc_config_free(&config);
  else
    status = gpumc_error_set(writer->error, named.status, "%s", gpumc_error_text(&named));
  for (size_t i = 0; i < writer->n_assignments; i++)
    if (gpumc_assignment_removes(writer->assignments[i]) &&
        strstr(gpumc_error_text(writer->error), "--set ") == NULL)
      gpumc_error_prefix(writer->error, "with --set %s", writer->assignments[i]);
  gpumc_error_free(&named);
  return status;
}

/* The whole text, without mistakes. */
static enum gpumc_status write_checked(struct writer *writer)
{
  for (size_t i = 0; i < writer->n_assignments; i++)
    GPUMC_TRY(check_assignment(writer, writer->assignments[i]));
  GPUMC_TRY(check_parts(writer));
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
  return check_text(writer);
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
