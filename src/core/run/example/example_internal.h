/* What the files of an example share: the writer, and what its assignments give. */
#ifndef GPUMC_CORE_EXAMPLE_INTERNAL_H
#define GPUMC_CORE_EXAMPLE_INTERNAL_H

#include "core/run/language_internal.h"

struct gpumc_example {
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

/* ---- example_assignments.c ---- */

/* The value of the last assignment of just that key, as the file has it, or NULL. */
const char *gpumc_example_assigned(const struct gpumc_example *example, const char *dotted_key);
/* Whether the key, or one in the block that it is, is assigned a value. */
bool gpumc_example_gives(const struct gpumc_example *example, const char *dotted_key);
/* The same of a key of a block; false where `name` is NULL. */
bool gpumc_example_gives_in(const struct gpumc_example *example, const char *block,
                            const char *name);
/* Whether the key is assigned null, and nothing after that. */
bool gpumc_example_removes(const struct gpumc_example *example, const char *dotted_key);
/* Whether all values are listed, in place of those that a key of the block would be an end of. */
bool gpumc_example_lists(const struct gpumc_example *example, const struct gpumc_key *keys,
                         const char *block);
/* The key of the pair at a dotted name; NULL: it has none. */
const struct gpumc_key *gpumc_example_key(const struct gpumc_example *example, const char *dotted);
/* Whether the pair has the key of an assignment. */
bool gpumc_example_declares(const struct gpumc_example *example, const char *assignment);
/* Refuses the mistakes that assignments have without a look at the text. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_example_check_assignments(const struct gpumc_example *example);

/* ---- example_text.c ---- */

/* Appends the configuration to `text`. */
void gpumc_example_append(struct gpumc_example *example);

#endif
