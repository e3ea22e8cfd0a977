/* Declared keys: the one table a plugin writes, from which validation, defaults, the JSON Schema,
 * the reference page, `gpumc describe` and the resolved configuration all come. */
#ifndef GPUMC_CORE_PARAMS_H
#define GPUMC_CORE_PARAMS_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/config/config.h"

enum gpumc_key_type {
  GPUMC_KEY_BOOLEAN,  /* true or false */
  GPUMC_KEY_INTEGER,  /* 20000, 2e4 */
  GPUMC_KEY_REAL,     /* a finite number */
  GPUMC_KEY_STRING,   /* text */
  GPUMC_KEY_CHOICE,   /* one of `choices` */
  GPUMC_KEY_DEVICE,   /* auto, cpu, cuda, cuda:N */
  GPUMC_KEY_DURATION, /* "100 ms", "90 s", "10 min", "2 h", "1 d"; resolved to seconds */
  GPUMC_KEY_SIZE,     /* "512 MiB", "4 GiB"; resolved to bytes */
  GPUMC_KEY_TURNS,    /* one of `choices`, or a list of them with numbers: [{a: 2}, {b: 1}] */
  GPUMC_KEY_MAPPING,  /* a block with `children` */
};

/* The longest list that a key may declare. A configuration is read up to limits of its own
 * (config.h), in which all lists of a model and an algorithm have room together. */
enum { GPUMC_LIST_MAXIMUM = 100000 };

/* One declared key. Tables end with an entry whose name is NULL. */
struct gpumc_key {
  const char *name;
  enum gpumc_key_type type;
  const char *doc;          /* one line, a full sentence */
  const char *unit;         /* "1/J", "replicas"; NULL: none */
  const char *default_text; /* YAML; NULL: no default, the key is then absent unless given */
  /* YAML: the value in a small configuration to begin with (gpumc_language_example), of a required
   * key and, in a group, of the one that is chosen there; NULL: such a configuration has it at its
   * default, if at all. */
  const char *example;
  double minimum, maximum; /* numbers; no limits when both are 0 */
  bool minimum_exclusive;
  int64_t multiple_of;               /* integers: 0 or a divisor */
  const char *const *choices;        /* NULL-terminated */
  size_t list_minimum, list_maximum; /* list_maximum > 0: a sequence of that many values */
  bool ascending;                    /* lists: each value greater than the one before */
  bool required;
  const char *required_unless; /* a sibling that takes its place */
  bool sweepable;              /* may stand in the campaign block */
  bool incidental;             /* decides no number of the result (device, output, ...) */
  bool or_auto; /* integers without list: the text `auto` stands for leaving the key out */
  bool
      proportional; /* integers: a number of replicas or samples, to which memory is proportional */
  /* Of models: names the samples of the disorder, or what is written of them. Results that differ
   * in it alone are of other samples of one system, and can be merged. */
  bool of_samples;
  /* Of kernels: stays out of tasks that do not make a move which names it (gpumc_move.keys), unless
   * it is written down. */
  bool of_move;
  const char
      *exactly_one_of; /* siblings with the same text here exclude each other, one is needed */
  /* Integers: the default is the largest divisor, up to `default_text`, of the first of these
   * siblings, NULL-terminated, that is given: positive integers. */
  const char *const *default_divides;
  const struct gpumc_key *children; /* GPUMC_KEY_MAPPING */
  /* Inverse temperatures, beta = 1/T (temperatures.h). Of a value, a list, or a block of them:
   * `temperature` names the sibling that takes temperatures in its place. Of these and of the keys
   * in such a block: `temperature_doc`, what `doc` is of temperatures; a number with one is an
   * inverse temperature. Of `step` in such a block: the last step ends at `to`. */
  const char *temperature, *temperature_doc;
  bool ends_at_to;
  /* Of keys that are made of those (gpumc_keys_add_temperatures): the sibling whose place they
   * take; whether .inf is a value; lists: all values ascending, or all descending. */
  const char *inverse_of;
  bool or_infinite;
  bool monotonic;
};

/* A view of one block of a resolved configuration: values by dotted key below it, and, while the
 * configuration is being checked, the nodes they came from (NULL afterwards), the name of the block
 * and the keys that may be read, separated by blanks: a block stands for all keys in it, NULL for
 * all there are, "" for none. `report`: where a view that has `reads` reports keys read beside
 * them. */
struct gpumc_params {
  const cJSON *values;
  const struct gpumc_node *node;
  const char *block;
  const char *reads;
  struct gpumc_report *report;
};

/* Of the block that `params` views, those of the keys `reads` (NULL: all). False where one of them
 * has a mistake: then nothing can be read through `view`. */
bool gpumc_params_narrow(const struct gpumc_params *params, struct gpumc_report *report,
                         const char *reads, struct gpumc_params *view);

struct gpumc_model;
struct gpumc_model_ops;

/* What a check may look at in addition to keys. */
struct gpumc_subject {
  const struct gpumc_model_ops *model;
  const struct gpumc_model *instance;
};
enum gpumc_check_needs { GPUMC_NEEDS_KEYS, GPUMC_NEEDS_MODEL, GPUMC_NEEDS_INSTANCE };

/* What the table of keys cannot exclude: how values go together, and with the model. It runs only
 * where the keys that it declares have no mistake, and can read no others, so that it need not fear
 * values that the table forbids, nor such that an earlier check of its table has refused. */
struct gpumc_check {
  const char *reads; /* as gpumc_params.reads */
  enum gpumc_check_needs needs;
  void (*run)(const struct gpumc_params *params, const struct gpumc_subject *subject,
              struct gpumc_report *report);
};

/* Runs the checks of a table, which ends with one without `run`, in their order: those with just
 * these needs whose keys have no mistake. NULL: there are none. */
void gpumc_checks_run(const struct gpumc_check *checks, enum gpumc_check_needs needs,
                      const struct gpumc_params *params, const struct gpumc_subject *subject,
                      struct gpumc_report *report);

/* Typed reading of a key that the plugin declared; asserts on a key that it did not, or of another
 * type, and on one that the view does not hold; without assertions such a key is an internal error
 * of the report, and reads as absent, false, 1, "" and a list of 1. `has` is false for a key
 * without default that was not given. */
bool gpumc_params_has(const struct gpumc_params *params, const char *dotted_key);
/* Whether the file gives the key, one of the block itself, so that it is more than a default. */
bool gpumc_params_given(const struct gpumc_params *params, const char *name);
bool gpumc_params_boolean(const struct gpumc_params *params, const char *dotted_key);
int64_t gpumc_params_integer(const struct gpumc_params *params, const char *dotted_key);
double gpumc_params_real(const struct gpumc_params *params, const char *dotted_key);
const char *gpumc_params_string(const struct gpumc_params *params, const char *dotted_key);

/* A list of numbers, read from its first value to its last: `left` values, all of them at first, of
 * which every call takes the next. It is a chain, in which an index would cost a walk. */
struct gpumc_list {
  const cJSON *next;
  size_t left;
};
struct gpumc_list gpumc_params_list(const struct gpumc_params *params, const char *dotted_key);
int64_t gpumc_list_integer(struct gpumc_list *list);
double gpumc_list_real(struct gpumc_list *list);
/* The same for choices that take turns, a single one with the number 1, and what every call takes:
 * a name. */
struct gpumc_list gpumc_params_turns(const struct gpumc_params *params, const char *dotted_key);
const char *gpumc_list_turn(struct gpumc_list *list, uint32_t *number);
/* The last value of a list that is not empty: of an ascending one the greatest. */
double gpumc_params_last(const struct gpumc_params *params, const char *dotted_key);
/* For a check: a mistake at the place of `dotted_key` (or of the nearest block above it that was
 * given), which has one from now on. Of a key that was given as temperatures, the place is theirs
 * and the message begins with their name. */
void gpumc_params_mistake(const struct gpumc_params *params, struct gpumc_report *report,
                          const char *dotted_key, const char *format, ...) GPUMC_PRINTF(4, 5);
/* Whether the key was given as temperatures. */
bool gpumc_params_as_temperatures(const struct gpumc_params *params,
                                  const struct gpumc_report *report, const char *dotted_key);

/* The largest divisor of `number` > 0 that is not above `most` > 0. */
int64_t gpumc_divisor_up_to(int64_t number, int64_t most);

/* Check the mapping `node` (NULL: absent) against the table: unknown keys with the nearest name,
 * missing ones, types, ranges, lists, choices, exclusive groups. Returns the resolved values, every
 * default filled in and null where there is a mistake, as a new cJSON object (caller deletes it).
 * NULL only when memory ran out. `place`: where a missing key is reported. `context`: the
 * block's dotted name, "" for the root. */
cJSON *gpumc_params_resolve(const struct gpumc_key *keys, const struct gpumc_node *node,
                            struct gpumc_mark place, const char *context,
                            struct gpumc_report *report);

/* ---- scalars, what a key wants, and which keys have a mistake ---- */

enum { GPUMC_DESCRIPTION_BYTES = 128, GPUMC_KEY_NAME_BYTES = 256 };

/* Note that the key `name` in the block (or the block itself, `name` "") has a mistake, until
 * gpumc_wrong_forget: before the next task. */
void gpumc_wrong_note(struct gpumc_report *report, const char *block, const char *name);
void gpumc_wrong_forget(struct gpumc_report *report);
/* Whether that key, a block that it is in, or a key in it has one. */
bool gpumc_wrong_has(const struct gpumc_report *report, const char *block, const char *name);

/* Note that the key `name` of a block was given as temperatures, by the sibling `typed`, until
 * gpumc_wrong_forget. */
void gpumc_typed_note(struct gpumc_report *report, const char *block, const char *name,
                      const char *typed);

/* Integers up to here are exact in JSON numbers and doubles. */
#define GPUMC_INTEGER_LIMIT 9007199254740991.0

/* Of a key with `or_infinite`: .inf, not quoted. */
bool gpumc_scalar_is_infinite(const struct gpumc_node *node);
/* Empty, ~ or null, not quoted. */
bool gpumc_scalar_is_null(const struct gpumc_node *node);
bool gpumc_device_name_is_valid(const char *name);
extern const char *const gpumc_device_pattern;

/* "text 'abc'", "empty text", "the number 3", "a list", "nothing". Returns `description`. */
const char *gpumc_node_describe(const struct gpumc_node *node,
                                char description[static GPUMC_DESCRIPTION_BYTES]);
/* Integers without exponent, reals in the fewest digits that give them back. */
void gpumc_number_append(struct gpumc_text *text, double number);

/* Whether the node says `auto` for a key that may be left to the program. */
bool gpumc_key_is_auto(const struct gpumc_key *key, const struct gpumc_node *node);
/* What a key wants: "a list of 2 values, each an integer from 2 to 65536". */
void gpumc_key_expectation(const struct gpumc_key *key, struct gpumc_text *text);
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

/* The value of a key that is no block, checked; mistakes go to the report. `name`: dotted, for
 * messages. With a mistake some value stands in; null for `auto`. Choices that take turns: one, or a
 * list of blocks of one key each, where turns of the same one in a row are joined. NULL when memory
 * ran out. */
cJSON *gpumc_key_value(const struct gpumc_key *key, const struct gpumc_node *node, const char *name,
                       struct gpumc_report *report);
/* The default of a key that has one. NULL when memory ran out. */
cJSON *gpumc_key_default(const struct gpumc_key *key);

#endif
