/* What libyaml says of a text that is no YAML, in words for whoever wrote it. */
#ifndef GPUMC_CORE_CONFIG_SYNTAX_H
#define GPUMC_CORE_CONFIG_SYNTAX_H

#include <stddef.h>

#include "core/base/text.h"

/* `found`: the byte at the place of the problem, 0 at the end of the text. `context`: NULL where
 * there is none; it starts at `context_line`, from 1. */
struct gpumc_syntax {
  const char *problem, *context;
  size_t context_line;
  char found;
};

void gpumc_syntax_describe(const struct gpumc_syntax *syntax, struct gpumc_text *text);

#endif
