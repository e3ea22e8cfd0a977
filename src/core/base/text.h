/* Texts: a growing string with a sticky failure flag, the nearest of several names, UTF-8, and
 * numbers with units, read and written. */
#ifndef GPUMC_CORE_TEXT_H
#define GPUMC_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

/* Zero-initialise. `characters` is NULL until something is appended. `failed`: memory ran out and
 * the text is incomplete; check once, after appending everything. */
struct gpumc_text {
  char *characters;
  size_t length, capacity;
  bool failed;
};

void gpumc_text_append(struct gpumc_text *text, const char *format, ...) GPUMC_PRINTF(2, 3);
/* How control characters (C0, DEL, C1) and bytes that are not UTF-8 are written. */
enum gpumc_escapes {
  GPUMC_ESCAPES_TEXT,  /* as \xNN, line ends and tabs too */
  GPUMC_ESCAPES_LINES, /* as \xNN; line ends and tabs stay */
  GPUMC_ESCAPES_JSON,  /* as \u00NN, \ufffd for bytes; C0, which cJSON escapes itself, stays */
};
/* Appends text from elsewhere (a file or its name), which may contain line ends and terminal
 * commands. */
void gpumc_text_append_escaped(struct gpumc_text *text, const char *string,
                               enum gpumc_escapes escapes);
/* Returns the text; never NULL. */
const char *gpumc_text_string(const struct gpumc_text *text);
/* Legal on a zeroed object; leaves it zeroed. */
void gpumc_text_free(struct gpumc_text *text);

/* Returns the candidate nearest to `name` by edit distance (insert, delete, replace, swap of
 * neighbours), or NULL if none is near enough to be a likely typo: more than a third of the letters
 * differ. */
const char *gpumc_nearest_name(const char *name, const char *const *candidates, size_t count);

/* ---- characters ---- */

enum gpumc_utf8 { GPUMC_UTF8_GOOD, GPUMC_UTF8_BAD_BYTE, GPUMC_UTF8_BAD_CHARACTER };

/* Line and column from 1, counted in characters; `code`: the byte or character at fault. */
struct gpumc_utf8_place {
  size_t line, column;
  uint32_t code;
};

enum gpumc_utf8 gpumc_utf8_check(const char *text, size_t length, struct gpumc_utf8_place *place);

/* ---- durations, sizes and measured values ---- */

/* Reads "100 ms", "90 s", "10 min", "2 h", "1 d" as seconds, positive and finite; false if the text
 * is not a duration. Blanks between number and unit are optional. */
bool gpumc_duration_read(const char *text, double *seconds);
/* Reads "512 B", "4 KiB", "512 MiB", "4 GiB", "1 TiB" and kB, MB, GB, TB as bytes. */
bool gpumc_size_read(const char *text, double *bytes);
/* Writes "2 h 05 min", "3 min 20 s", "4.2 s". Returns `text`. */
const char *gpumc_duration_text(double seconds, char text[static 32]);

/* The regular expressions of the two, for the JSON Schema. */
extern const char *const gpumc_duration_pattern;
extern const char *const gpumc_size_pattern;

/* Writes a value rounded to two digits of its standard error, which follows in parentheses and
 * counts from the last digit: -0.136(79), 12.3(1.5), 1230(150), 1.2346(12)e-07. If the error is 0,
 * unknown or not finite, the value has seven digits: 0.5(0), 0.5(?). An error below the last
 * digit that the value can have is written in full: 1(1e-20). A value that is not a number is "?",
 * one that is not finite "inf", whatever its error. Returns `text`. */
const char *gpumc_measured_text(double value, double error, char text[static 64]);

#endif
