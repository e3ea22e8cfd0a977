/* What the manual pages share: pieces of roff, with the macros of man(7). */
#ifndef GPUMC_CLI_MANUAL_MAN_H
#define GPUMC_CLI_MANUAL_MAN_H

#include "core/base/text.h"

/* The title and the section NAME; `title` in roff, the others as they are to be read. */
void man_head(struct gpumc_text *text, const char *title, int section, const char *name,
              const char *summary);
/* Words as they are to be read, UTF-8, in roff; and the same with the end of a line. */
void man_words(struct gpumc_text *text, const char *words);
void man_line(struct gpumc_text *text, const char *words);
/* Begins a paragraph, which a section that has just begun does by itself. */
void man_paragraph(struct gpumc_text *text);
/* So many bytes of lines that stand as they are. */
void man_example(struct gpumc_text *text, const char *lines, size_t length);

/* The page gpumc.yaml(5): the configuration language with all declared keys. */
GPUMC_MUST_CHECK enum gpumc_status man_language(struct gpumc_text *text, struct gpumc_error *error);

#endif
