/* gpumc validate: every mistake of every file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/cli.h"

struct validate_arguments {
  struct cli_arguments common; /* without a subject: there are many */
  const char **paths;          /* borrowed from argv */
  size_t n_paths;
};

static const struct argp_option options[] = {
    {"set", CLI_OPTION_SET, "KEY=VALUE", 0, "Set any key before checking", 0},
    {"json", CLI_OPTION_JSON, NULL, 0, "Print the verdicts as JSON", 0},
    {0}};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
  struct validate_arguments *arguments = state->input;
  if (key != ARGP_KEY_ARG)
    return cli_parse_common(key, argument, state);
  arguments->paths[arguments->n_paths++] = argument;
  return 0;
}

const struct argp cli_validate_argp = {
    options,
    parse_option,
    "CONFIG...",
    "Check configurations and report every mistake as FILE:LINE:COLUMN: MESSAGE.\v"
    "Examples:\n"
    "  gpumc validate configs/ising2d/*.yaml\n"
    "\n"
    "The exit code is 2 if there is a mistake.",
    NULL,
    NULL,
    NULL};

/* The lines of a message as a JSON array. */
static cJSON *lines_json(const char *message)
{
  cJSON *lines = cJSON_CreateArray();
  while (*message != '\0') {
    size_t length = strcspn(message, "\n");
    char *line = strndup(message, length);
    cJSON_AddItemToArray(lines, cJSON_CreateString(line != NULL ? line : ""));
    free(line);
    message += length;
    message += *message == '\n';
  }
  return lines;
}

static void print_verdict(const cJSON *verdict)
{
  const double tasks = cli_number(verdict, "tasks");
  if (cli_true(verdict, "valid"))
    cli_say(stdout, "%s: ok (%.0f task%s)\n", cli_text(verdict, "file"), tasks,
            tasks == 1 ? "" : "s");
}

/* Mistakes and warnings go to stderr in either form. */
static enum gpumc_status
validate_one(const struct validate_arguments *arguments, const char *path, cJSON *verdicts)
{
  struct gpumc_config config = {0};
  struct gpumc_error error = {0};
  enum gpumc_status status = cli_config_load(&arguments->common.config, path, &config, &error);
  cJSON *verdict = cJSON_CreateObject();
  cJSON_AddStringToObject(verdict, "file", path);
  cJSON_AddBoolToObject(verdict, "valid", status == GPUMC_OK);
  cJSON_AddNumberToObject(verdict, "tasks", (double)config.n_tasks);
  cJSON_AddItemToObject(verdict, "mistakes",
                        lines_json(status == GPUMC_OK ? "" : gpumc_error_text(&error)));
  cJSON_AddItemToObject(verdict, "warnings", cli_config_warnings(&config));
  cJSON_AddItemToArray(verdicts, verdict);
  if (status != GPUMC_OK)
    cli_config_fail(&error);
  if (!arguments->common.json)
    print_verdict(verdict);
  cli_config_warn(path, &config);
  gpumc_error_free(&error);
  gpumc_config_free(&config);
  return status;
}

int cli_validate(int argc, char **argv)
{
  struct validate_arguments arguments = {.common.command = argv[0]};
  arguments.paths = calloc((size_t)argc, sizeof *arguments.paths);
  if (arguments.paths == NULL) {
    cli_error("out of memory while reading the command line");
    return GPUMC_FAILURE;
  }
  cli_parse(&cli_validate_argp, argc, argv, &arguments);
  if (arguments.n_paths == 0)
    cli_usage_error(argv[0], "no configuration file given");
  cJSON *verdicts = cJSON_CreateArray();
  enum gpumc_status worst = GPUMC_OK;
  for (size_t i = 0; i < arguments.n_paths; i++) {
    enum gpumc_status status = validate_one(&arguments, arguments.paths[i], verdicts);
    if (status > worst)
      worst = status;
  }
  int code = (int)worst;
  if (!arguments.common.json)
    cJSON_Delete(verdicts);
  else if (cli_print_json(verdicts) != GPUMC_OK)
    code = GPUMC_FAILURE;
  free(arguments.paths);
  cli_config_options_free(&arguments.common.config);
  return code;
}
