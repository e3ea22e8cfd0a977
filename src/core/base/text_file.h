/* Text files that users name: configurations, couplings, positions, tables.
 *
 * All of them are UTF-8 and have the same rules: a byte-order mark may begin them, lines end with
 * \n, \r\n or \r, and bytes that are not UTF-8, zero bytes and control characters are refused with
 * their place, in comments too. Files of words and numbers separate them by white space, and #
 * begins a comment. */
#ifndef GPUMC_CORE_TEXT_FILE_H
#define GPUMC_CORE_TEXT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "core/base/error.h"
#include "core/base/text.h"

/* Sets *hdf5 to whether the file has HDF5's signature: at its beginning, or at 512, 1024, 2048, ...
 * bytes, after a user block (MATLAB 7.3). GPUMC_INVALID if it cannot be read. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_file_is_hdf5(const char *path, bool *hdf5, struct gpumc_error *error);

/* Appends what is wrong at a place that gpumc_utf8_check found in `text`, and the remedy. */
void gpumc_text_append_flaw(struct gpumc_text *words, const char *text, size_t length,
                            const struct gpumc_utf8_place *place, enum gpumc_utf8 found);

enum { GPUMC_WORD_BYTES = 4096 };

/* A file that is read word by word, so that one long line does no harm. */
struct gpumc_text_file {
  const char *path; /* borrowed */
  size_t line;      /* of the last word, from 1; 0: nothing was read yet */
  /* The reader's own. */
  FILE *stream;
  size_t column;              /* of the last character in its line, from 1 */
  int last;                   /* the last byte that was read; it may end a line */
  unsigned char character[4]; /* the last character, of which bytes at .. length - 1 follow */
  size_t length, at;
  bool in_comment;
};

/* Opens a text file for reading; an HDF5 file is refused as such. `file` may be closed whatever the
 * outcome. Returns GPUMC_INVALID with the reason. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_text_file_open(const char *path, struct gpumc_text_file *file, struct gpumc_error *error);

/* Reads the next word, "" at the end of the file, and sets its line. GPUMC_INVALID, with the place,
 * for bytes that no text has, for a word that is too long, and if the file cannot be read. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_text_file_word(struct gpumc_text_file *file,
                                                        char word[static GPUMC_WORD_BYTES],
                                                        struct gpumc_error *error);

/* Returns whether a word is a number, and which; it may be infinite or none (nan). */
bool gpumc_word_is_number(const char *word, double *number);

/* Writes the beginning of a word in quotes, for a message: controls and bytes that are not UTF-8
 * are escaped. Returns `text`. */
enum { GPUMC_QUOTED_BYTES = 4 * 40 + 8 };
const char *gpumc_word_quoted(const char *word, char text[static GPUMC_QUOTED_BYTES]);

/* Legal on a zeroed object. */
void gpumc_text_file_close(struct gpumc_text_file *file);

#endif
