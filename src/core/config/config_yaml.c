/* From YAML text to nodes with marks, by the events of libyaml. Nothing here trusts the text:
 * depth, nodes and bytes are bounded, aliases are copied within those bounds. */
#include "core/config/config.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "core/base/text_file.h"

/* ---- libyaml's messages about invalid YAML, explained to its author ---- */

/* `found`: the byte at the place of the problem, 0 at the end of the text. `context`: NULL where
 * there is none; it starts at `context_line`, from 1. */
struct gpumc_syntax {
  const char *problem, *context;
  size_t context_line;
  char found;
};

/* The first whose problem and context occur in libyaml's message applies; NULL: matches anything.
 * `line`: the words end with the line at which the context starts. */
struct explanation {
  const char *problem, *context, *words;
  bool line;
};

static const struct explanation explanations[] = {
    {"violates indentation", NULL, "a tab cannot indent; use spaces", false},
    {"did not find expected ',' or '}'", NULL, "a ',' or '}' is missing in the block in braces",
     true},
    {"did not find expected ',' or ']'", NULL, "a ',' or ']' is missing in the list in brackets",
     true},
    {"did not find expected key", "block mapping",
     "this line is indented differently from the rest of the block, or the text before it is "
     "unfinished",
     false},
    {"did not find expected '-' indicator", NULL,
     "expected a '-' as in the other items of the list", true},
    {"mapping values are not allowed", NULL,
     "no ':' is expected here; check the indentation of the line, and put text that contains ': ' "
     "in quotes",
     false},
    {"could not find expected ':'", NULL, "a ':' is missing after the key", true},
    {"found unexpected end of stream", "quoted scalar",
     "the closing quote is missing from the text", true},
    {"did not find expected <document start>", NULL,
     "there is text after the end of the value; put text with braces or brackets in quotes", false},
    {"undefined alias", NULL, "no anchor '&' before it has this name", false},
};

static bool is_in(const char *words, const char *text)
{
  return words == NULL || (text != NULL && strstr(text, words) != NULL);
}

static void syntax_describe(const struct gpumc_syntax *syntax, struct gpumc_text *text)
{
  if (syntax->found == '\t') {
    gpumc_text_append(text, "a tab cannot indent; use spaces");
    return;
  }
  if (strstr(syntax->problem, "cannot start any token") != NULL) {
    gpumc_text_append(text, "text cannot begin with '%c' unless it is in quotes", syntax->found);
    return;
  }
  for (size_t i = 0; i < sizeof explanations / sizeof *explanations; i++) {
    const struct explanation *e = &explanations[i];
    if (!is_in(e->problem, syntax->problem) || !is_in(e->context, syntax->context))
      continue;
    gpumc_text_append(text, "%s", e->words);
    if (e->line && syntax->context != NULL)
      gpumc_text_append(text, " that starts at line %zu", syntax->context_line);
    return;
  }
  gpumc_text_append(text, "%s", syntax->problem);
  if (syntax->context != NULL)
    gpumc_text_append(text, ", %s that starts at line %zu", syntax->context, syntax->context_line);
}

/* ---- from text to nodes ---- */

/* `node` is under construction until `complete`. */
struct anchor {
  char *name;
  struct gpumc_node *node;
  bool complete;
};

/* `stop`: a mistake after which reading on makes no sense. */
struct reader {
  yaml_parser_t parser;
  const char *source;
  const char *text; /* after any byte order mark */
  size_t length, column;
  struct gpumc_report *report;
  struct gpumc_node_budget budget;
  struct anchor *anchors;
  size_t n_anchors;
  bool stop, no_memory;
};

static struct gpumc_mark mark_of(const struct reader *reader, yaml_mark_t mark)
{
  return (struct gpumc_mark){.source = reader->source,
                             .line = mark.line + 1,
                             .column = mark.column + 1 + (mark.line == 0 ? reader->column : 0)};
}

/* The byte at a place that libyaml counts in characters; 0 at the end. */
static char byte_at(const struct reader *reader, size_t characters)
{
  const char *byte = reader->text, *end = reader->text + reader->length;
  while (byte < end && characters > 0) {
    byte++;
    while (byte < end && ((unsigned char)*byte & 0xc0) == 0x80)
      byte++;
    characters--;
  }
  return byte < end ? *byte : '\0';
}

static void report_syntax(struct reader *reader)
{
  const yaml_parser_t *parser = &reader->parser;
  const struct gpumc_syntax syntax = {.problem = parser->problem != NULL ? parser->problem
                                                                         : "unreadable text",
                                      .context = parser->context,
                                      .context_line = parser->context_mark.line + 1,
                                      .found = byte_at(reader, parser->problem_mark.index)};
  struct gpumc_text words = {0};
  syntax_describe(&syntax, &words);
  gpumc_report_mistake(reader->report, mark_of(reader, parser->problem_mark), "not valid YAML: %s",
                       gpumc_text_string(&words));
  gpumc_text_free(&words);
}

static bool next_event(struct reader *reader, yaml_event_t *event)
{
  memset(event, 0, sizeof *event);
  if (reader->stop)
    return false;
  if (yaml_parser_parse(&reader->parser, event))
    return true;
  reader->stop = true;
  if (reader->parser.error == YAML_MEMORY_ERROR)
    reader->no_memory = true;
  else
    report_syntax(reader);
  return false;
}

#define STOP(reader, mark, ...)                                                                    \
  do {                                                                                             \
    gpumc_report_mistake((reader)->report, (mark), __VA_ARGS__);                                   \
    (reader)->stop = true;                                                                         \
  } while (0)

static void report_too_much(struct reader *reader, struct gpumc_mark mark)
{
  gpumc_node_budget_report(&reader->budget, mark, reader->report);
  reader->stop = true;
}

static bool spend(struct reader *reader, struct gpumc_mark mark, size_t bytes, size_t depth)
{
  if (gpumc_node_budget_spend(&reader->budget, bytes, depth))
    return true;
  report_too_much(reader, mark);
  return false;
}

/* Registers an anchor before its node is complete, so that an alias inside finds it unfinished.
 * `*index` is left alone when there is no anchor. */
static void
open_anchor(struct reader *reader, const yaml_char_t *name, struct gpumc_node *node, size_t *index)
{
  if (name == NULL)
    return;
  if (reader->n_anchors == GPUMC_CONFIG_ANCHORS_MAXIMUM) {
    STOP(reader, node->mark, "more than %d anchors", GPUMC_CONFIG_ANCHORS_MAXIMUM);
    return;
  }
  if (reader->anchors == NULL)
    reader->anchors = calloc(GPUMC_CONFIG_ANCHORS_MAXIMUM, sizeof *reader->anchors);
  char *copy = strdup((const char *)name);
  if (reader->anchors == NULL || copy == NULL) {
    free(copy);
    reader->stop = reader->no_memory = true;
    return;
  }
  *index = reader->n_anchors++;
  reader->anchors[*index] = (struct anchor){.name = copy, .node = node};
}

static void close_anchor(struct reader *reader, size_t index)
{
  if (index != SIZE_MAX)
    reader->anchors[index].complete = true;
}

static struct gpumc_node *
follow_alias(struct reader *reader, const char *name, struct gpumc_mark mark, size_t depth)
{
  for (size_t i = reader->n_anchors; i-- > 0;) {
    const struct anchor *anchor = &reader->anchors[i];
    if (strcmp(anchor->name, name) != 0)
      continue;
    if (!anchor->complete) {
      STOP(reader, mark, "the alias '*%s' is inside the value that it refers to", name);
      return NULL;
    }
    struct gpumc_node *copy = gpumc_node_copy(anchor->node, depth, &reader->budget);
    if (copy == NULL && gpumc_node_budget_spent(&reader->budget))
      report_too_much(reader, mark);
    else if (copy == NULL)
      reader->stop = reader->no_memory = true;
    return copy;
  }
  STOP(reader, mark, "the alias '*%s' refers to no anchor before it", name);
  return NULL;
}

static void refuse_tag(struct reader *reader, const yaml_char_t *tag, struct gpumc_mark mark)
{
  if (tag != NULL)
    gpumc_report_mistake(reader->report, mark, "tags are not allowed, found '%s'",
                         (const char *)tag);
}

static void refuse_nul(struct reader *reader, const yaml_event_t *event, struct gpumc_mark mark)
{
  if (memchr(event->data.scalar.value, '\0', event->data.scalar.length) != NULL)
    gpumc_report_mistake(reader->report, mark, "text must not contain the character NUL");
}

static struct gpumc_node *compose(struct reader *reader, yaml_event_t *event, size_t depth);

static struct gpumc_node *compose_next(struct reader *reader, size_t depth)
{
  yaml_event_t event;
  if (!next_event(reader, &event))
    return NULL;
  struct gpumc_node *node = compose(reader, &event, depth);
  yaml_event_delete(&event);
  return node;
}

static struct gpumc_node *
compose_scalar(struct reader *reader, const yaml_event_t *event, struct gpumc_mark mark)
{
  size_t anchor = SIZE_MAX;
  if (!spend(reader, mark, event->data.scalar.length, 0))
    return NULL;
  refuse_tag(reader, event->data.scalar.tag, mark);
  refuse_nul(reader, event, mark);
  struct gpumc_node *node =
      gpumc_node_create(GPUMC_NODE_SCALAR, mark, (const char *)event->data.scalar.value,
                        event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE);
  if (node == NULL) {
    reader->stop = reader->no_memory = true;
    return NULL;
  }
  open_anchor(reader, event->data.scalar.anchor, node, &anchor);
  close_anchor(reader, anchor);
  return node;
}

static void compose_items(struct reader *reader, struct gpumc_node *sequence, size_t depth)
{
  yaml_event_t event;
  while (next_event(reader, &event)) {
    bool end = event.type == YAML_SEQUENCE_END_EVENT;
    struct gpumc_node *item = end ? NULL : compose(reader, &event, depth + 1);
    yaml_event_delete(&event);
    if (item == NULL)
      return;
    if (!gpumc_node_append(sequence, item))
      reader->stop = reader->no_memory = true;
  }
}

/* One key with its value; `event` is the key's. */
static void compose_entry(struct reader *reader, struct gpumc_node *mapping,
                          const yaml_event_t *event, size_t depth)
{
  struct gpumc_mark mark = mark_of(reader, event->start_mark);
  if (event->type != YAML_SCALAR_EVENT) {
    STOP(reader, mark, "a key must be a single word or text");
    return;
  }
  const char *key = (const char *)event->data.scalar.value;
  bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
  if (plain && strcmp(key, "<<") == 0)
    STOP(reader, mark, "merge keys ('<<') are not allowed");
  refuse_tag(reader, event->data.scalar.tag, mark);
  refuse_nul(reader, event, mark);
  if (event->data.scalar.anchor != NULL)
    gpumc_report_mistake(reader->report, mark, "a key cannot carry an anchor");
  if (reader->stop || !spend(reader, mark, event->data.scalar.length, 0))
    return;
  struct gpumc_node *value = compose_next(reader, depth + 1);
  if (value != NULL && !gpumc_node_insert(mapping, key, mark, value))
    reader->stop = reader->no_memory = true;
}

static int compare_entries(const void *left, const void *right)
{
  const struct gpumc_entry *a = *(const struct gpumc_entry *const *)left;
  const struct gpumc_entry *b = *(const struct gpumc_entry *const *)right;
  int order = strcmp(a->key, b->key);
  return order != 0 ? order : (a > b) - (a < b);
}

/* Duplicates stay in the mapping (an anchor may refer to them); every search finds the first. */
static void report_duplicates(struct reader *reader, const struct gpumc_node *mapping)
{
  const struct gpumc_entry **sorted = calloc(mapping->count + 1, sizeof *sorted);
  if (sorted == NULL) {
    reader->stop = reader->no_memory = true;
    return;
  }
  for (size_t i = 0; i < mapping->count; i++)
    sorted[i] = &mapping->entries[i];
  qsort(sorted, mapping->count, sizeof *sorted, compare_entries);
  for (size_t i = 1, first = 0; i < mapping->count; i++) {
    if (strcmp(sorted[i]->key, sorted[first]->key) != 0)
      first = i;
    else
      gpumc_report_mistake(reader->report, sorted[i]->key_mark,
                           "duplicate key '%s'; it was already given at line %zu", sorted[i]->key,
                           sorted[first]->key_mark.line);
  }
  free(sorted);
}

static void compose_entries(struct reader *reader, struct gpumc_node *mapping, size_t depth)
{
  yaml_event_t event;
  while (next_event(reader, &event)) {
    bool end = event.type == YAML_MAPPING_END_EVENT;
    if (!end)
      compose_entry(reader, mapping, &event, depth);
    yaml_event_delete(&event);
    if (end)
      break;
  }
  if (!reader->stop)
    report_duplicates(reader, mapping);
}

static struct gpumc_node *compose_collection(struct reader *reader, const yaml_event_t *event,
                                             struct gpumc_mark mark, size_t depth)
{
  bool is_mapping = event->type == YAML_MAPPING_START_EVENT;
  size_t anchor = SIZE_MAX;
  if (!spend(reader, mark, 0, depth))
    return NULL;
  refuse_tag(reader, is_mapping ? event->data.mapping_start.tag : event->data.sequence_start.tag,
             mark);
  struct gpumc_node *node =
      gpumc_node_create(is_mapping ? GPUMC_NODE_MAPPING : GPUMC_NODE_SEQUENCE, mark, NULL, false);
  if (node == NULL) {
    reader->stop = reader->no_memory = true;
    return NULL;
  }
  open_anchor(reader,
              is_mapping ? event->data.mapping_start.anchor : event->data.sequence_start.anchor,
              node, &anchor);
  if (is_mapping)
    compose_entries(reader, node, depth);
  else
    compose_items(reader, node, depth);
  close_anchor(reader, anchor);
  if (!reader->stop)
    return node;
  gpumc_node_free(node);
  return NULL;
}

static struct gpumc_node *compose(struct reader *reader, yaml_event_t *event, size_t depth)
{
  struct gpumc_mark mark = mark_of(reader, event->start_mark);
  switch (event->type) {
  case YAML_SCALAR_EVENT:
    return compose_scalar(reader, event, mark);
  case YAML_ALIAS_EVENT:
    return follow_alias(reader, (const char *)event->data.alias.anchor, mark, depth);
  default:
    return compose_collection(reader, event, mark, depth);
  }
}

/* Stream and document events round the one value; an empty text is an empty plain scalar. */
static struct gpumc_node *compose_stream(struct reader *reader)
{
  struct gpumc_node *root = NULL;
  yaml_event_t event;
  while (next_event(reader, &event)) {
    yaml_event_type_t type = event.type;
    struct gpumc_mark mark = mark_of(reader, event.start_mark);
    yaml_event_delete(&event);
    if (type == YAML_DOCUMENT_START_EVENT && root != NULL)
      STOP(reader, mark, "a second document starts here; a configuration has only one");
    else if (type == YAML_DOCUMENT_START_EVENT)
      root = compose_next(reader, 1);
    else if (type == YAML_STREAM_END_EVENT && root == NULL)
      root = gpumc_node_create(GPUMC_NODE_SCALAR, mark_of(reader, (yaml_mark_t){0}), "", true);
    if (type == YAML_STREAM_END_EVENT)
      break;
  }
  if (!reader->stop)
    return root;
  gpumc_node_free(root);
  return NULL;
}

/* Bad bytes are reported here: libyaml would give no place for them. */
static bool check_bytes(const struct reader *reader, const char *text, size_t length)
{
  struct gpumc_utf8_place place;
  struct gpumc_mark mark = {.source = reader->source, .line = 1, .column = 1 + reader->column};
  if (length > GPUMC_CONFIG_BYTES_MAXIMUM) {
    gpumc_report_mistake(reader->report, mark,
                         "larger than %d MiB; use shorter lists with fewer digits, or several "
                         "configurations",
                         GPUMC_CONFIG_MEBIBYTES_MAXIMUM);
    return false;
  }
  enum gpumc_utf8 found = gpumc_utf8_check(text, length, &place);
  mark.line = place.line;
  mark.column = place.column + (place.line == 1 ? reader->column : 0);
  if (found == GPUMC_UTF8_GOOD)
    return true;
  struct gpumc_text words = {0};
  gpumc_text_append_flaw(&words, text, length, &place, found);
  gpumc_report_mistake(reader->report, mark, "%s", gpumc_text_string(&words));
  gpumc_text_free(&words);
  return false;
}

enum gpumc_status gpumc_node_parse(const char *source, size_t column, const char *text,
                                   size_t length, struct gpumc_node **node,
                                   struct gpumc_report *report, struct gpumc_error *error)
{
  struct reader reader = {.source = source, .column = column, .report = report};
  *node = NULL;
  if (!check_bytes(&reader, text, length))
    return GPUMC_OK;
  /* libyaml would count the byte order mark as a column, once the encoding is set. */
  size_t skipped = length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  reader.text = text + skipped;
  reader.length = length - skipped;
  if (!yaml_parser_initialize(&reader.parser))
    return gpumc_error_set(error, GPUMC_FAILURE, "out of memory: reading %s", source);
  yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&reader.parser, (const unsigned char *)reader.text, reader.length);
  *node = compose_stream(&reader);
  yaml_parser_delete(&reader.parser);
  for (size_t i = 0; i < reader.n_anchors; i++)
    free(reader.anchors[i].name);
  free(reader.anchors);
  if (reader.no_memory || (*node == NULL && !reader.stop))
    return gpumc_error_set(error, GPUMC_FAILURE, "out of memory: reading %s", source);
  return GPUMC_OK;
}
