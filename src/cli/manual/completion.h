/* What the scripts of all shells share. */
#ifndef GPUMC_CLI_MANUAL_COMPLETION_H
#define GPUMC_CLI_MANUAL_COMPLETION_H

#include "cli/manual/options.h"

/* How a kind of values is written: for bash, a word; for zsh, an action of _arguments; for fish,
 * options of `complete`, those of the value of an option first. Words, where the kind has some,
 * stand before the ends. */
struct completion_kind {
  const char *bash, *zsh, *zsh_end, *fish_option, *fish, *fish_end;
};
const struct completion_kind *completion_kind(enum manual_kind kind);

void completion_write_bash(const struct cli_command *commands, const struct manual_keys *keys,
                           struct gpumc_text *text);

#endif
