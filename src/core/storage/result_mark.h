/* The mark of results and working files, read without HDF5.
 *
 * A working file whose writer was killed cannot always be opened by HDF5. Its attribute `format` is
 * the first thing written to it, so it is within the first bytes, and is found there by following
 * the structure of the file: superblock, root group, attribute, text. */
#ifndef GPUMC_CORE_RESULT_MARK_H
#define GPUMC_CORE_RESULT_MARK_H

#include <stdbool.h>
#include <stddef.h>

/* The text of the attribute `format`. */
#define GPUMC_RESULTS_MARK "gpumc-results"

/* The number of a file's first bytes that decide. */
enum { GPUMC_RESULT_MARK_BYTES = 16384 };

/* Returns whether an HDF5 file that begins with these bytes is a result or a working file of gpumc,
 * by that attribute of its root group. A file that its writer left open also counts as one if the
 * structure is incomplete and the text is among the first bytes, or if nothing at all follows the
 * superblock. */
bool gpumc_result_mark_recognise(const char *begin, size_t length);
/* Returns whether it is one that its writer has closed. */
bool gpumc_result_mark_is_closed(const char *begin, size_t length);

#endif
