/* gpumc merge: several results become one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "core/run/merging/merge.h"
#include "core/simulation/algorithm.h"

enum { OPTION_FRESH = CLI_OPTION_OWN };

struct merge_arguments {
  const char *command;
  const char **paths; /* the output first; borrowed from argv */
  size_t n_paths;
  bool fresh, quiet;
};

static const struct argp_option options[] = {
    {"fresh", OPTION_FRESH, NULL, 0, "Replace an existing result at OUTPUT", 0},
    {"quiet", 'q', NULL, 0, "Print errors and warnings only, no notes", 0},
    {0}};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
  struct merge_arguments *arguments = state->input;
  switch (key) {
  case OPTION_FRESH:
    arguments->fresh = true;
    return 0;
  case 'q':
    arguments->quiet = true;
    return 0;
  case ARGP_KEY_ARG:
    arguments->paths[arguments->n_paths++] = argument;
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

const struct argp cli_merge_argp = {
    options,
    parse_option,
    "OUTPUT RESULT...",
    "Merge several finished results of one configuration that differ in their seeds or in their "
    "samples of the disorder.\v"
    "Examples:\n"
    "  gpumc merge results/all.h5 results/seed-*.h5\n"
    "\n"
    "Results that do not belong together are refused, and the message says what differs; "
    "docs/merging.md explains what is summed, and how. Merged results can be merged again.",
    NULL,
    NULL,
    NULL};

static void on_message(void *state, enum gpumc_message_level level, const char *text)
{
  const struct merge_arguments *arguments = state;
  char *line = cli_line(text);
  if (level == GPUMC_WARNING)
    cli_warning("", "%s", line);
  else if (!arguments->quiet)
    cli_say(stderr, "gpumc: %s\n", line);
  free(line);
}

int cli_merge(int argc, char **argv)
{
  struct merge_arguments arguments = {.command = argv[0]};
  struct gpumc_error error = {0};
  char *command_line = cli_command_line(argc, argv);
  arguments.paths = calloc((size_t)argc, sizeof *arguments.paths);
  if (arguments.paths == NULL) {
    cli_error("out of memory while reading the command line");
    return GPUMC_FAILURE;
  }
  cli_parse(&cli_merge_argp, argc, argv, &arguments);
  if (arguments.n_paths < 2)
    cli_usage_error(argv[0],
                    arguments.n_paths == 0 ? "no output given" : "no results to merge given");
  if (arguments.paths[0][0] == '\0')
    cli_usage_error(argv[0], "the name of the output is empty");
  const struct gpumc_observer observer = {.state = &arguments, .message = on_message};
  const struct gpumc_merge_options merge = {.output = arguments.paths[0],
                                            .paths = arguments.paths + 1,
                                            .n_paths = arguments.n_paths - 1,
                                            .fresh = arguments.fresh,
                                            .command_line = command_line,
                                            .observer = &observer};
  const enum gpumc_status status = gpumc_merge(&merge, &error);
  if (status == GPUMC_OK && !arguments.quiet)
    cli_say(stderr, "gpumc: %s: merged from %zu result%s\n", merge.output, merge.n_paths,
            merge.n_paths == 1 ? "" : "s");
  free(arguments.paths);
  free(command_line);
  return status == GPUMC_OK ? GPUMC_OK : cli_fail(&error);
}
