/* The text of an example, from the declared keys of a model and an algorithm: what is required with
 * the example of its declaration, what is optional in lines that begin with a # and the key. */
#include <string.h>

#include "core/run/example/example_internal.h"

enum { LINE_WIDTH = 108, INDENT = 2 };

/* ---- which keys, with which values ---- */

/* The key of its group, of those that exclude each other, which the configuration has: one that is
 * given, else the first with an example. */
static const struct gpumc_key *chosen_of(const struct gpumc_example *example,
                                         const struct gpumc_key *keys, const char *block,
                                         const char *group)
{
  const struct gpumc_key *chosen = NULL;
  for (const struct gpumc_key *key = keys; key->name != NULL; key++) {
    if (key->exactly_one_of == NULL || strcmp(key->exactly_one_of, group) != 0)
      continue;
    if (gpumc_example_gives_in(example, block, key->name))
      return key;
    if (chosen == NULL && key->example != NULL)
      chosen = key;
  }
  return chosen;
}

/* Whether another key, which is there, excludes this one. */
static bool is_excluded(const struct gpumc_example *example, const struct gpumc_key *keys,
                        const char *block, const struct gpumc_key *key)
{
  if (gpumc_example_gives_in(example, block, key->name))
    return false;
  if (key->exactly_one_of != NULL && chosen_of(example, keys, block, key->exactly_one_of) != key)
    return true;
  if (gpumc_example_gives_in(example, block, key->required_unless))
    return true;
  if (key->inverse_of != NULL && key->type != GPUMC_KEY_MAPPING)
    return true;
  if (!key->required && key->required_unless == NULL && key->example != NULL &&
      key->type == GPUMC_KEY_REAL && gpumc_example_lists(example, keys, block))
    return true;
  for (const struct gpumc_key *other = keys; other->name != NULL; other++)
    if (other->inverse_of != NULL && strcmp(other->inverse_of, key->name) == 0 &&
        gpumc_example_gives_in(example, block, other->name))
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
value_of(const struct gpumc_example *example, const char *block, const struct gpumc_key *key)
{
  const bool is_control = strcmp(block, "algorithm.control") == 0;
  if (strcmp(key->name, "name") == 0 && strcmp(block, "model") == 0)
    return example->model->name;
  if (strcmp(key->name, "name") == 0 && strcmp(block, "algorithm") == 0)
    return example->algorithm->name;
  for (size_t k = 0; strcmp(key->name, "name") == 0 && is_control && k < example->model->n_controls;
       k++)
    if (!example->model->controls[k].inverse_temperature)
      return example->model->controls[k].label.name;
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

static void append_meaning(const struct gpumc_example *example, const struct gpumc_key *keys,
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
    append_comment(example->text, indent, gpumc_text_string(&words));
  example->text->failed = example->text->failed || words.failed;
  gpumc_text_free(&words);
}

/* Whether a key of the block `keys` is for some kernels alone, which not every configuration has.
 */
static bool is_of_kernel(const struct gpumc_example *example, const struct gpumc_key *keys,
                         const struct gpumc_key *key)
{
  return keys == example->tables->kernel && key >= gpumc_own_keys(example->tables);
}

/* "{every: 10 min}": the block in a line, or nothing where a required key of it has no example. */
static void flow_of(const struct gpumc_example *example, const struct gpumc_key *key,
                    const char *dotted, struct gpumc_text *flow)
{
  const char *before = "{";
  if (key->example != NULL) {
    gpumc_text_append(flow, "%s", key->example);
    return;
  }
  for (const struct gpumc_key *child = key->children; child != NULL && child->name != NULL;
       child++) {
    const bool is_block = child->type == GPUMC_KEY_MAPPING;
    const char *value = is_block ? NULL : value_of(example, dotted, child);
    if (is_block || is_of_kernel(example, key->children, child) ||
        is_excluded(example, key->children, dotted, child))
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

static void append_block(struct gpumc_example *example, const struct gpumc_key *keys,
                         const char *block, size_t indent);

/* Whether the configuration has no mistake if the optional block is in it. */
static bool is_possible(const struct gpumc_example *example, const char *dotted)
{
  struct gpumc_text text = {0};
  struct gpumc_config config;
  struct gpumc_error error = {0};
  struct gpumc_example trial = *example;
  trial.tried = dotted;
  trial.text = &text;
  trial.error = &error;
  gpumc_example_append(&trial);
  const bool possible =
      !text.failed && error.status == GPUMC_OK &&
      gpumc_config_parse_with(example->plugins, "example", gpumc_text_string(&text), text.length,
                              NULL, 0, &config, &error) == GPUMC_OK;
  if (possible)
    gpumc_config_free(&config);
  gpumc_error_free(&error);
  gpumc_text_free(&text);
  return possible;
}

static void append_optional_block(struct gpumc_example *example, const struct gpumc_key *keys,
                                  const struct gpumc_key *key, const char *dotted, size_t indent)
{
  struct gpumc_text flow = {0};
  const bool is_tried = example->tried != NULL && strcmp(example->tried, dotted) == 0;
  flow_of(example, key, dotted, &flow);
  if (flow.length > 0 && (is_tried || (example->tried == NULL && is_possible(example, dotted)))) {
    append_meaning(example, keys, key, indent);
    append_indent(example->text, indent);
    gpumc_text_append(example->text, "%s%s: %s\n", is_tried ? "" : "#", key->name,
                      gpumc_text_string(&flow));
  }
  example->text->failed = example->text->failed || flow.failed;
  gpumc_text_free(&flow);
}

/* The keys of a block of its own; of the blocks of plugins, those that they declare. */
static const struct gpumc_key *
children_of(const struct gpumc_example *example, const struct gpumc_key *key, const char *dotted)
{
  if (strcmp(dotted, "model") == 0)
    return example->model_keys;
  return strcmp(dotted, "algorithm") == 0 ? example->algorithm_keys : key->children;
}

static void append_key(struct gpumc_example *example, const struct gpumc_key *keys,
                       const char *block, const struct gpumc_key *key, size_t indent)
{
  char dotted[GPUMC_KEY_NAME_BYTES];
  struct gpumc_text *text = example->text;
  gpumc_key_join(block, key->name, dotted);
  const bool is_block = key->type == GPUMC_KEY_MAPPING;
  const char *value = gpumc_example_assigned(example, dotted);
  if (is_excluded(example, keys, block, key) || gpumc_example_removes(example, dotted))
    return;
  if (is_block && value == NULL && !is_required(key) && !gpumc_example_gives(example, dotted)) {
    append_optional_block(example, keys, key, dotted, indent);
    return;
  }
  const bool is_written = value != NULL || is_block || value_of(example, block, key) != NULL;
  if (value == NULL && !is_block)
    value = is_written ? value_of(example, block, key) : optional_value(key);
  if (value == NULL && !is_block && is_required(key) && example->error->status == GPUMC_OK)
    gpumc_error_set(example->error, GPUMC_INVALID,
                    "the key %s is required and declares no example: give it a value with --set "
                    "%s=VALUE",
                    dotted, dotted);
  if (value == NULL && !is_block)
    return;
  append_meaning(example, keys, key, indent);
  append_indent(text, indent);
  gpumc_text_append(text, "%s%s:%s%s\n", is_written ? "" : "#", key->name, value != NULL ? " " : "",
                    value != NULL ? value : "");
  if (is_block && value == NULL)
    append_block(example, children_of(example, key, dotted), dotted, indent + INDENT);
}

static void append_block(struct gpumc_example *example, const struct gpumc_key *keys,
                         const char *block, size_t indent)
{
  for (const struct gpumc_key *key = keys; key != NULL && key->name != NULL; key++) {
    if (is_of_kernel(example, keys, key) && !gpumc_example_gives_in(example, block, key->name))
      continue;
    append_key(example, keys, block, key, indent);
    if (indent == 0 && key[1].name != NULL &&
        !(example->text->length > 1 &&
          strcmp(example->text->characters + example->text->length - 2, "\n\n") == 0))
      gpumc_text_append(example->text, "\n");
  }
}

void gpumc_example_append(struct gpumc_example *example)
{
  struct gpumc_text head = {0};
  gpumc_text_append(&head, "%s; algorithm: %s.", example->model->summary,
                    example->algorithm->summary);
  append_comment(example->text, 0, gpumc_text_string(&head));
  gpumc_text_append(
      example->text,
      "#\n"
      "# `gpumc run` on this file takes seconds; `gpumc validate` finds mistakes, and `gpumc plan` "
      "shows what a\n"
      "# run needs. Keys in lines that begin with # are optional: their values are the defaults, "
      "or "
      "an example of a\n"
      "# block; take the # away to change them. All keys: `gpumc describe %s`, `gpumc describe "
      "%s`,\n"
      "# `gpumc describe config`, `gpumc describe kernel`.\n\n",
      example->model->name, example->algorithm->name);
  example->text->failed = example->text->failed || head.failed;
  gpumc_text_free(&head);
  append_block(example, example->tables->root, "", 0);
}
