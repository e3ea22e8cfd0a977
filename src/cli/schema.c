/* gpumc schema: the JSON Schema of the configuration language. */
#include "cli/cli.h"

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
  (void)state;
  if (key != ARGP_KEY_ARG)
    return ARGP_ERR_UNKNOWN;
  cli_usage_error("gpumc schema", "no argument is expected, not '%s'", argument);
}

static const struct argp parser = {
    NULL,
    parse_option,
    "",
    "Print the JSON Schema (draft 2020-12) of the configuration language.\v"
    "Example:\n"
    "  gpumc schema > schemas/gpumc.schema.json",
    NULL,
    NULL,
    NULL};

int cli_schema(int argc, char **argv)
{
  cli_parse(&parser, argc, argv, NULL);
  return cli_print_json(gpumc_language_schema());
}
