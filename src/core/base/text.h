/* A growing string with a sticky failure flag, and the nearest of several names. */
#ifndef GPUMC_CORE_TEXT_H
#define GPUMC_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/error.h"

/* Zero-initialise. `characters` is NULL until something was appended. `failed`: memory ran out and
 * the text is incomplete; check once, after all the appending. */
struct gpumc_text {
  char *characters;
  size_t length, capacity;
  bool failed;
};

void gpumc_text_append(struct gpumc_text *text, const char *format, ...) GPUMC_PRINTF(2, 3);
/* How controls (C0, DEL, C1) and bytes that are not UTF-8 are written. */
enum gpumc_escapes {
  GPUMC_ESCAPES_TEXT,  /* as \xNN, line ends and tabs too */
  GPUMC_ESCAPES_LINES, /* as \xNN; line ends and tabs stay */
  GPUMC_ESCAPES_JSON,  /* as \u00NN, \ufffd for bytes; C0, which cJSON escapes itself, stays */
};
/* Appends text that came from elsewhere, a file or its name, which may hold line ends and commands
 * to a terminal. */
void gpumc_text_append_escaped(struct gpumc_text *text, const char *string,
                               enum gpumc_escapes escapes);
/* Never NULL. */
const char *gpumc_text_string(const struct gpumc_text *text);
/* Legal on a zeroed object; leaves it zeroed. */
void gpumc_text_free(struct gpumc_text *text);

/* The candidate nearest to `name` by edit distance (insert, delete, replace, swap of neighbours),
 * or NULL when none is near enough to be a likely typo: more than a third of the letters differ. */
const char *gpumc_nearest_name(const char *name, const char *const *candidates, size_t count);

#endif
