/* Durations and sizes with units, read and written. */
#ifndef GPUMC_CORE_UNITS_H
#define GPUMC_CORE_UNITS_H

#include <stdbool.h>

/* "100 ms", "90 s", "10 min", "2 h", "1 d" -> seconds; false if the text is none. Blanks between
 * number and unit are optional. Positive and finite. */
bool gpumc_duration_read(const char *text, double *seconds);
/* "512 B", "4 KiB", "512 MiB", "4 GiB", "1 TiB" and kB, MB, GB, TB -> bytes. */
bool gpumc_size_read(const char *text, double *bytes);
/* "2 h 05 min", "3 min 20 s", "4.2 s". Returns `text`. */
const char *gpumc_duration_text(double seconds, char text[static 32]);

/* The regular expressions of the two, for the JSON Schema. */
extern const char *const gpumc_duration_pattern;
extern const char *const gpumc_size_pattern;

/* A value rounded to two digits of its standard error, which follow it in parentheses and
 * count from its last digit: -0.136(79), 12.3(1.5), 1230(150), 1.2346(12)e-07. With an error of 0,
 * one that is not known or not finite the value has seven digits: 0.5(0), 0.5(nan). An error below
 * the last digit that the value can have stands in full: 1(1e-20). A value that is no number is
 * "nan" or "inf", whatever its error. Returns `text`. */
const char *gpumc_measured_text(double value, double error, char text[static 64]);

#endif
