/* The completion of one shell, for all. */
#ifndef GPUMC_CLI_MANUAL_COMPLETION_H
#define GPUMC_CLI_MANUAL_COMPLETION_H

#include "cli/manual/options.h"

void completion_write_bash(const struct cli_command *commands, const struct manual_keys *keys,
                           struct gpumc_text *text);

#endif
