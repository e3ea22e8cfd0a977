/* What the files about declared keys share: reading scalars, describing what is wanted and found.
 */
#ifndef GPUMC_CORE_PARAMS_INTERNAL_H
#define GPUMC_CORE_PARAMS_INTERNAL_H

#include "core/config/params.h"

enum { GPUMC_DESCRIPTION_BYTES = 128, GPUMC_KEY_NAME_BYTES = 256 };

/* Note that the key `name` in the block (or the block itself, `name` "") has a mistake, until
 * gpumc_wrong_forget: before the next task. */
void gpumc_wrong_note(struct gpumc_report *report, const char *block, const char *name);
void gpumc_wrong_forget(struct gpumc_report *report);
/* Whether that key, a block that it is in, or a key in it has one. */
bool gpumc_wrong_has(const struct gpumc_report *report, const char *block, const char *name);

/* Whether the view holds the key. Where it does not, a check reads what it does not declare:
 * asserts in debug builds, and is an internal error of the report in others. */
bool gpumc_params_may_read(const struct gpumc_params *params, const char *dotted_key);

/* Integers up to here are exact in JSON numbers and doubles. */
#define GPUMC_INTEGER_LIMIT 9007199254740991.0

/* Empty, ~ or null, not quoted. */
bool gpumc_scalar_is_null(const struct gpumc_node *node);
/* An unquoted decimal number (no hex, octal, infinity, leading zeros); may overflow to infinity. */
bool gpumc_scalar_number(const struct gpumc_node *node, double *value);
/* true or false, not quoted. */
bool gpumc_scalar_boolean(const struct gpumc_node *node, bool *value);
bool gpumc_device_name_is_valid(const char *name);
extern const char *const gpumc_device_pattern;

/* "text 'abc'", "empty text", "the number 3", "a list", "nothing". Returns `description`. */
const char *gpumc_node_describe(const struct gpumc_node *node,
                                char description[static GPUMC_DESCRIPTION_BYTES]);
/* Integers without exponent, reals in the fewest digits that give them back. */
void gpumc_number_append(struct gpumc_text *text, double number);

/* What a key wants: "a list of 2 values, each an integer from 2 to 65536". */
void gpumc_key_expectation(const struct gpumc_key *key, struct gpumc_text *text);
/* The same for one value of it, and its range alone (" from 2 to 65536", "" without). */
void gpumc_key_element_expectation(const struct gpumc_key *key, struct gpumc_text *text);
void gpumc_key_range(const struct gpumc_key *key, struct gpumc_text *text);
bool gpumc_key_has_limits(const struct gpumc_key *key);

/* "block.name", or the name alone for the root, "". Returns `dotted`. */
const char *
gpumc_key_join(const char *block, const char *name, char dotted[static GPUMC_KEY_NAME_BYTES]);
/* Calls `visit` for every key that is no block, with its dotted name below `prefix` ("" or a
 * block). */
typedef void gpumc_key_visitor(void *state, const char *dotted_key, const struct gpumc_key *key);
void gpumc_keys_visit(const struct gpumc_key *keys, const char *prefix, gpumc_key_visitor *visit,
                      void *state);
/* The key at a dotted name in a table and the blocks below it, or NULL. */
const struct gpumc_key *gpumc_key_find(const struct gpumc_key *keys, const char *dotted_key);
size_t gpumc_key_count(const struct gpumc_key *keys);
/* A block that is left out stays absent when one of its keys must be given. */
bool gpumc_keys_need_values(const struct gpumc_key *keys);

/* The value of a key that is no block, checked; mistakes go to the report. `name`: dotted, for
 * messages. With a mistake some value stands in; NULL when memory ran out. */
cJSON *gpumc_key_value(const struct gpumc_key *key, const struct gpumc_node *node, const char *name,
                       struct gpumc_report *report);
/* The default of a key that has one. NULL when memory ran out. */
cJSON *gpumc_key_default(const struct gpumc_key *key);

#endif
