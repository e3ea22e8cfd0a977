/* A configuration text as a tree in which every node knows its place (YAML by libyaml). */
#ifndef GPUMC_CORE_CONFIG_H
#define GPUMC_CORE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/error.h"
#include "core/base/text.h"

/* Where something stands; line and column count from 1. `source`: the path as the user gave it, or
 * "--set KEY=VALUE" for an override; owned by the document. */
struct gpumc_mark {
  const char *source;
  size_t line, column;
};

enum gpumc_node_kind { GPUMC_NODE_SCALAR, GPUMC_NODE_SEQUENCE, GPUMC_NODE_MAPPING };

struct gpumc_node;

struct gpumc_entry {
  char *key;
  struct gpumc_mark key_mark;
  struct gpumc_node *value;
};

/* `text`, `plain` (not quoted): scalars. `items[count]`: sequences. `entries[count]`: mappings. */
struct gpumc_node {
  enum gpumc_node_kind kind;
  struct gpumc_mark mark;
  char *text;
  bool plain;
  size_t count;
  struct gpumc_node **items;
  struct gpumc_entry *entries;
};

/* The mistakes found so far, each a line `source:line:column: message`; the same line only once,
 * and no more than GPUMC_MISTAKES_LISTED lines. `calls` counts repeated and unlisted mistakes too.
 * `wrong`: the dotted names of the keys of the present task that have one, a line each (params.h).
 * `typed`: the dotted names of those that were given as temperatures, each followed by a blank and
 * the name that the file has (temperatures.h).
 * `fault`: an internal error met on the way, "" without. */
enum { GPUMC_MISTAKES_LISTED = 1000 };

struct gpumc_report {
  struct gpumc_text lines;
  size_t mistakes;
  size_t calls;
  struct gpumc_text wrong, typed;
  struct gpumc_text fault;
};

void gpumc_report_mistake(struct gpumc_report *report, struct gpumc_mark mark, const char *format,
                          ...) GPUMC_PRINTF(3, 4);
/* A check reads the key without declaring it: the internal error, of which the first is kept. */
void gpumc_report_fault(struct gpumc_report *report, const char *block, const char *key);
/* The lines in the order of their places. */
void gpumc_report_sort(struct gpumc_report *report);
void gpumc_report_free(struct gpumc_report *report);

/* A parsed file with what its nodes point to. */
struct gpumc_document {
  char *path;              /* as given */
  char *source;            /* the text of the file, NUL-terminated */
  struct gpumc_node *root; /* NULL when the text could not be parsed; the report says why */
  char **sources;          /* names of override sources, for their marks */
  size_t n_sources;
};

/* Read and parse. Mistakes in the YAML itself (syntax, duplicate keys, aliases into themselves,
 * more than one document, depth over 32, size over 8 MiB, bytes that are not UTF-8, a root that is
 * no mapping) go to the report; GPUMC_FAILURE is only for a file that cannot be read. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_document_read(const char *path, struct gpumc_document *document, struct gpumc_report *report,
                    struct gpumc_error *error);

/* The same for a text in memory; `name` stands for the path in messages. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_document_parse(const char *name, const char *text, size_t length,
                     struct gpumc_document *document, struct gpumc_report *report,
                     struct gpumc_error *error);

/* Replace or add the value at a dotted key ("algorithm.beta.step") by the YAML text `value`.
 * `assignment` is "KEY=VALUE" as given to --set. Below `campaign`, whose keys are dotted
 * themselves, the rest of the key is one key: "campaign.model.shape=[[8, 8], [16, 16]]". The value
 * null (or ~) takes the key away; nothing after the = is an empty text. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_document_set(struct gpumc_document *document, const char *assignment,
                   struct gpumc_report *report, struct gpumc_error *error);

/* Does this assignment take its key away? */
bool gpumc_assignment_removes(const char *assignment);

/* The node at a dotted key below `node`, or NULL; finds keys that hold dots themselves too. */
struct gpumc_node *gpumc_node_find(const struct gpumc_node *node, const char *dotted_key);

/* Legal on a zeroed object; leaves it zeroed. */
void gpumc_document_free(struct gpumc_document *document);

/* ---- for those who make or walk trees ---- */

enum {
  GPUMC_CONFIG_MEBIBYTES_MAXIMUM = 8, /* of a file, and of keys and values, aliases expanded */
  GPUMC_CONFIG_BYTES_MAXIMUM = GPUMC_CONFIG_MEBIBYTES_MAXIMUM << 20,
  GPUMC_CONFIG_DEPTH_MAXIMUM = 32,
  GPUMC_CONFIG_NODES_MAXIMUM = 300000, /* keys and values, aliases expanded */
  GPUMC_CONFIG_ANCHORS_MAXIMUM = 1000,
};

/* How much of the limits is used; `depth`: of the deepest list or block. */
struct gpumc_node_budget {
  size_t nodes, bytes, depth;
};
/* One key or value more; `depth`: 0 unless it is a list or block. False when that is too much. */
bool gpumc_node_budget_spend(struct gpumc_node_budget *budget, size_t bytes, size_t depth);
bool gpumc_node_budget_spent(const struct gpumc_node_budget *budget);
/* The mistake of a budget that is spent: which limit, and what helps. */
void gpumc_node_budget_report(const struct gpumc_node_budget *budget, struct gpumc_mark mark,
                              struct gpumc_report *report);

/* NULL when memory ran out. `text` is copied; NULL for no scalar. */
struct gpumc_node *
gpumc_node_create(enum gpumc_node_kind kind, struct gpumc_mark mark, const char *text, bool plain);
/* Both take over `item` or `value`, also on failure (memory), which they tell by false. */
bool gpumc_node_append(struct gpumc_node *sequence, struct gpumc_node *item);
bool gpumc_node_insert(struct gpumc_node *mapping, const char *key, struct gpumc_mark key_mark,
                       struct gpumc_node *value);
/* A deep copy. NULL when memory ran out, or when it would stand deeper than the limit or the copies
 * exceed `budget` (which is then beyond its limits). */
struct gpumc_node *
gpumc_node_copy(const struct gpumc_node *node, size_t depth, struct gpumc_node_budget *budget);
/* Legal on NULL. */
void gpumc_node_free(struct gpumc_node *node);

/* The entry of a mapping, or NULL (also for another kind of node, or NULL). */
struct gpumc_entry *gpumc_node_entry(const struct gpumc_node *node, const char *key);
/* Like gpumc_node_entry for a key of `length` bytes. */
struct gpumc_entry *
gpumc_node_entry_n(const struct gpumc_node *node, const char *key, size_t length);
/* The entry at a dotted key, with the mappings on the way made where they are missing; its value is
 * NULL when it is new. NULL when something on the way is no mapping (`*memory` stays true) or
 * memory ran out (false). */
struct gpumc_entry *gpumc_node_slot(struct gpumc_node *root, const char *dotted_key,
                                    struct gpumc_mark mark, bool *memory);

/* Takes the entry at a dotted key away; nothing happens where there is none. Below `campaign` the
 * rest of the key is one key. */
void gpumc_node_remove(struct gpumc_node *root, const char *dotted_key);

/* One YAML value without the demand that it be a mapping; NULL with mistakes in the report, or,
 * with the error set, when memory ran out. `column`: of its first character in `source`, from 0. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_node_parse(const char *source, size_t column, const char *text, size_t length,
                 struct gpumc_node **node, struct gpumc_report *report, struct gpumc_error *error);

#endif
