/* gpumc status: how far the tasks of a configuration are, once or, with --watch, until they end. */
#include "cli/status/status.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/memory.h"
#include "core/base/text.h"

enum { OPTION_WATCH = CLI_OPTION_OWN };

static const double seconds_default = 2, seconds_least = 0.1, seconds_most = 86400;

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "Same as for gpumc run", 0},
    {"set", CLI_OPTION_SET, "KEY=VALUE", 0, "Same as for gpumc run", 0},
    {"temperature", 'T', NULL, 0, CLI_TEMPERATURE_HELP " in the names of tasks", 0},
    {"json", CLI_OPTION_JSON, NULL, 0, "Print the states as JSON", 0},
    {"watch", OPTION_WATCH, "SECONDS", OPTION_ARG_OPTIONAL,
     "Update the states every 2 seconds, or every SECONDS, until all tasks have ended", 0},
    {0}};

static void read_interval(struct status_arguments *arguments, const char *text)
{
  char *end;
  double seconds = strtod(text, &end);
  if (*end != '\0' && !gpumc_duration_read(text, &seconds))
    seconds = 0;
  if (!(seconds >= seconds_least && seconds <= seconds_most))
    cli_usage_error(arguments->common.command,
                    "--watch must be %g to %g seconds, such as '5' or '1 min', not '%s'",
                    seconds_least, seconds_most, text);
  arguments->seconds = seconds;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
  struct status_arguments *arguments = state->input;
  switch (key) {
  case OPTION_WATCH:
    arguments->watch = true;
    /* `--watch 5`: a number after it is the interval, not a configuration. */
    if (argument == NULL && state->next < state->argc &&
        isdigit((unsigned char)state->argv[state->next][0]) &&
        access(state->argv[state->next], F_OK) != 0)
      argument = state->argv[state->next++];
    if (argument != NULL)
      read_interval(arguments, argument);
    return 0;
  case ARGP_KEY_END:
    if (arguments->watch && arguments->common.json)
      cli_usage_error(arguments->common.command,
                      "--watch and --json cannot be combined: leave one of them out");
    return cli_parse_common(key, argument, state);
  default:
    return cli_parse_common(key, argument, state);
  }
}

const struct argp cli_status_argp = {
    options,
    parse_option,
    "CONFIG",
    "Show the state in which a run would find each task of CONFIG: done, running, resumable, "
    "failed, refused (result or checkpoint of another configuration, or a file that the model "
    "reads has changed or is missing) or not started, with progress and remaining time; under "
    "Slurm, also the jobs that you have submitted with gpumc submit.\v"
    "Examples:\n"
    "  gpumc status campaign.yaml\n"
    "  gpumc status campaign.yaml --watch\n"
    "  gpumc status campaign.yaml --json\n"
    "\n"
    "--watch redraws the table on a terminal, and prints a line for each change elsewhere. It ends "
    "when every task is done, failed or refused, with exit code 0 if all are done and 1 otherwise; "
    "Ctrl-C ends it earlier.",
    NULL,
    NULL,
    NULL};

static int report_status(const struct cli_arguments *arguments, const struct gpumc_config *config)
{
  struct gpumc_error error = {0};
  struct status_look look = {.arguments = (const struct status_arguments *)arguments,
                             .config = config};
  int code = GPUMC_OK;
  if (gpumc_allocate_array(&look.jobs, config->n_tasks, "jobs", &error) != GPUMC_OK ||
      gpumc_allocate_array(&look.reports, config->n_tasks, "reports", &error) != GPUMC_OK)
    code = cli_fail(&error);
  else if (look.arguments->watch)
    code = status_watch(&look);
  else
    code = cli_report(status_look_once(&look), arguments->json, status_print);
  free(look.jobs);
  free(look.reports);
  free(look.unknown_jobs);
  return code;
}

int cli_status(int argc, char **argv)
{
  struct status_arguments arguments = {.common = {.command = argv[0], .kind = "configuration"},
                                       .seconds = seconds_default};
  return cli_config_main_with(&cli_status_argp, true, argc, argv, &arguments.common, report_status);
}
