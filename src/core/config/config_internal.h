/* What the files of the configuration reader share: making, copying and freeing nodes. */
#ifndef GPUMC_CORE_CONFIG_INTERNAL_H
#define GPUMC_CORE_CONFIG_INTERNAL_H

#include "core/config/config.h"

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
