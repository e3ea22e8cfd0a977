/* Inside params: scalars as YAML has them, and the words for what is expected. */
#ifndef GPUMC_CORE_PARAMS_WORDS_H
#define GPUMC_CORE_PARAMS_WORDS_H

#include "core/base/text.h"
#include "core/config/params.h"

/* Whether it is an unquoted decimal number (no hex, octal, infinity or leading zeros), which may
 * overflow to infinity. */
bool gpumc_scalar_number(const struct gpumc_node *node, double *value);
/* The same, or .inf where the key allows for it. */
bool gpumc_key_number(const struct gpumc_key *key, const struct gpumc_node *node, double *value);
/* Whether it is true or false, not quoted. */
bool gpumc_scalar_boolean(const struct gpumc_node *node, bool *value);
/* A number or true is no text, so that a title 2024 is not guessed to mean '2024'. */
bool gpumc_scalar_is_text(const struct gpumc_node *node);

/* As gpumc_key_expectation, for one value of a list. */
void gpumc_key_element_expectation(const struct gpumc_key *key, struct gpumc_text *text);

#endif
