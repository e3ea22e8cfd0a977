/* gpumc compare: whether two results agree within their errors, quantity by quantity. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/results/compare.h"
#include "core/statistics/significance.h"

enum { OPTION_ALPHA = CLI_OPTION_OWN, OPTION_GROUP };

/* As diff has it: trouble is neither yes nor no. */
enum { COMPATIBLE = 0, DIFFERENT = 1, TROUBLE = 2 };

struct compare_arguments {
  const char *command;
  struct cli_comparison comparison;
  int n_paths;
  bool points, temperature, json;
};

static const struct argp_option options[] = {
    {"alpha", OPTION_ALPHA, "P", 0,
     "Call the results different if all their differences together are less probable than P "
     "(default: 0.01)",
     0},
    {"group", OPTION_GROUP, "NAME", 0,
     "Compare the curves of a group of the summary, such as reweighted", 0},
    {"points", 'p', NULL, 0, "Print every point of every curve, not only the worst of each", 0},
    {"temperature", 'T', NULL, 0, CLI_TEMPERATURE_HELP, 0},
    {"json", CLI_OPTION_JSON, NULL, 0, "Print everything as JSON", 0},
    {0}};

static double probability(const char *command, const char *text)
{
  char *end;
  const double value = strtod(text, &end);
  if (end == text || *end != '\0' || !(value > 0 && value < 1))
    cli_usage_error(command, "--alpha: expected a number between 0 and 1, not '%s'", text);
  return value;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
  struct compare_arguments *arguments = state->input;
  switch (key) {
  case OPTION_ALPHA:
    arguments->comparison.alpha = probability(arguments->command, argument);
    return 0;
  case OPTION_GROUP:
    arguments->comparison.group = argument;
    return 0;
  case 'p':
    arguments->points = true;
    return 0;
  case 'T':
    arguments->temperature = true;
    return 0;
  case CLI_OPTION_JSON:
    arguments->json = true;
    return 0;
  case ARGP_KEY_ARG:
    if (arguments->n_paths == 2)
      cli_usage_error(arguments->command, "two results are compared; '%s' is a third", argument);
    arguments->comparison.side[arguments->n_paths++].path = argument;
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

const struct argp cli_compare_argp = {
    options,
    parse_option,
    "A B",
    "Compare two results: for every quantity that both have, at every point that both have, print "
    "the difference in error bars and the probability of such differences by chance.\v"
    "Examples:\n"
    "  gpumc compare cpu.h5 gpu.h5\n"
    "  gpumc compare old.h5 new.h5 --points -T\n"
    "  gpumc compare pa.h5 pt.h5 --json | jq .compatible\n\n"
    "Exit codes: 0 compatible; 1 not; 2 no comparison (usage, files, no point to compare, "
    "output).\n"
    "docs/statistics.md#comparing explains what the probabilities assume.",
    NULL,
    NULL,
    NULL};

/* ---- the command ---- */

static enum gpumc_status read_side(struct cli_side *side, struct gpumc_error *error)
{
  GPUMC_TRY(gpumc_result_read(side->path, &side->result, error));
  if (side->result.n_datasets == 0)
    return gpumc_error_set(error, GPUMC_INVALID, "%s has no summary yet: the run is not finished",
                           side->path);
  return gpumc_result_tables_open(side->path, false, &side->tables, error);
}

static void side_free(struct cli_side *side)
{
  gpumc_result_tables_close(&side->tables);
  gpumc_result_free(&side->result);
}

int cli_compare(int argc, char **argv)
{
  struct compare_arguments arguments = {.command = argv[0], .comparison.alpha = GPUMC_FALSE_ALARMS};
  struct cli_comparison *comparison = &arguments.comparison;
  struct gpumc_error error = {0};
  enum gpumc_status status = GPUMC_OK;
  cJSON *json = NULL;
  int code = TROUBLE;
  cli_parse(&cli_compare_argp, argc, argv, &arguments);
  if (arguments.n_paths < 2)
    cli_usage_error(argv[0], "two results are compared");
  for (size_t i = 0; i < 2; i++)
    GPUMC_TRY_OUT(status, read_side(&comparison->side[i], &error));
  GPUMC_TRY_OUT(status, cli_compare_check_group(comparison, &error));
  json = cli_compare_json(comparison, &error);
  if (json == NULL)
    goto out;
  code = cli_true(json, "compatible") ? COMPATIBLE : DIFFERENT;
  if (!arguments.json)
    cli_compare_print(json, arguments.points, arguments.temperature);
  else if (cli_print_json(json) != GPUMC_OK)
    code = TROUBLE;
  if (!arguments.json)
    cJSON_Delete(json);
  /* A failure to write is not a difference; main.c reports it. */
  if (fflush(stdout) != 0 || ferror(stdout))
    code = TROUBLE;
out:
  if (error.status != GPUMC_OK) {
    (void)cli_fail(&error);
    code = TROUBLE;
  }
  for (size_t i = 0; i < 2; i++)
    side_free(&comparison->side[i]);
  return code;
}
