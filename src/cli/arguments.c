/* The command line by argp, with mistakes told as gpumc tells them: exit 2 and the nearest option;
 * and the options that several commands share.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "core/base/text.h"
#include "core/base/threads.h"

enum { OPTIONS_MAXIMUM = 40 };

/* argp's own options beside those of the command. */
static const struct argp_option standard_options[] = {
    {.name = "help", .key = '?'}, {.name = "usage", .key = 1}, {0}};

static const struct argp_option *
find_long(const struct argp_option *options, const char *name, size_t length, bool exact)
{
  for (; options != NULL && (options->name != NULL || options->key != 0); options++)
    if (options->name != NULL && strncmp(options->name, name, length) == 0 &&
        (!exact || options->name[length] == '\0'))
      return options;
  return NULL;
}

static size_t gather_names(const struct argp_option *options, const char **names, size_t count)
{
  for (; options->name != NULL || options->key != 0; options++)
    if (options->name != NULL && count < OPTIONS_MAXIMUM)
      names[count++] = options->name;
  return count;
}

static void
unknown_option(const struct argp *argp, const char *command, const char *word, size_t length)
{
  const char *names[OPTIONS_MAXIMUM];
  size_t count = gather_names(standard_options, names, 0);
  if (argp->options != NULL)
    count = gather_names(argp->options, names, count);
  char *name = strndup(word, length);
  const char *nearest = name != NULL ? gpumc_nearest_name(name, names, count) : NULL;
  free(name);
  if (nearest != NULL)
    cli_usage_error(command, "unknown option '--%.*s'; did you mean '--%s'?", (int)length, word,
                    nearest);
  cli_usage_error(command, "unknown option '--%.*s'", (int)length, word);
}

/* Returns how many further words the option takes. */
static int
check_long(const struct argp *argp, const char *command, const char *word, const char *next)
{
  size_t length = strcspn(word, "=");
  const struct argp_option *option = NULL;
  for (int exact = 1; exact >= 0 && option == NULL; exact--) {
    option = find_long(argp->options, word, length, exact);
    if (option == NULL)
      option = find_long(standard_options, word, length, exact);
  }
  if (option == NULL)
    unknown_option(argp, command, word, length);
  if (word[length] == '=' && option->arg == NULL)
    cli_usage_error(command, "option '--%s' takes no value", option->name);
  if (word[length] == '=' || option->arg == NULL)
    return 0;
  if (next == NULL)
    cli_usage_error(command, "option '--%s' needs a value (%s)", option->name, option->arg);
  return 1;
}

static int
check_short(const struct argp *argp, const char *command, const char *letters, const char *next)
{
  for (; *letters != '\0'; letters++) {
    const struct argp_option *option = argp->options;
    while (option != NULL && option->key != *letters && (option->name != NULL || option->key != 0))
      option++;
    bool known = option != NULL && option->key == *letters;
    if (!known && *letters == '?')
      return 0;
    if (!known)
      cli_usage_error(command, "unknown option '-%c'", *letters);
    if (option->arg == NULL)
      continue;
    if (letters[1] != '\0')
      return 0;
    if (next == NULL)
      cli_usage_error(command, "option '-%c' needs a value (%s)", *letters, option->arg);
    return 1;
  }
  return 0;
}

void cli_parse(const struct argp *argp, int argc, char **argv, void *input)
{
  for (int i = 1; i < argc; i++) {
    const char *word = argv[i];
    const char *next = i + 1 < argc ? argv[i + 1] : NULL;
    if (strcmp(word, "--") == 0)
      break;
    if (strncmp(word, "--", 2) == 0)
      i += check_long(argp, argv[0], word + 2, next);
    else if (word[0] == '-' && word[1] != '\0')
      i += check_short(argp, argv[0], word + 1, next);
  }
  argp_err_exit_status = GPUMC_INVALID;
  if (argp_parse(argp, argc, argv, 0, NULL, input) != 0)
    cli_usage_error(argv[0], "the command line cannot be read");
}

error_t cli_parse_common(int key, char *argument, struct argp_state *state)
{
  struct cli_arguments *arguments = state->input;
  switch (key) {
  case 'o':
    cli_config_output(&arguments->config, argument);
    return 0;
  case CLI_OPTION_SET:
    cli_config_set(&arguments->config, arguments->command, argument);
    return 0;
  case CLI_OPTION_DEVICE:
    arguments->on_cpu = strcmp(argument, "cpu") == 0;
    if (arguments->gpu == NULL)
      cli_config_device(&arguments->config, argument);
    return 0;
  case CLI_OPTION_GPU:
    arguments->gpu = argument;
    cli_config_device(&arguments->config, "cpu");
    return 0;
  case ARGP_KEY_END:
    if (arguments->gpu != NULL && arguments->on_cpu)
      cli_usage_error(arguments->command, "--gpu plans for a GPU, --device cpu does not: leave "
                                          "one of them out");
    return ARGP_ERR_UNKNOWN;
  case CLI_OPTION_THREADS:
    arguments->threads =
        (int)cli_integer(arguments->command, "--threads", argument, 1, GPUMC_THREADS_MAXIMUM);
    return 0;
  case CLI_OPTION_JSON:
    arguments->json = true;
    return 0;
  case ARGP_KEY_ARG:
    if (arguments->subject != NULL)
      cli_usage_error(arguments->command, "one %s at a time: '%s' and '%s'", arguments->kind,
                      arguments->subject, argument);
    arguments->subject = argument;
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

enum { OPTION_JSON = 256 };

static error_t parse_json_option(int key, char *argument, struct argp_state *state)
{
  bool *json = state->input;
  if (key == OPTION_JSON)
    *json = true;
  else if (key == ARGP_KEY_ARG)
    cli_usage_error(state->name, "no argument is expected, not '%s'", argument);
  else
    return ARGP_ERR_UNKNOWN;
  return 0;
}

bool cli_parse_json(const char *help, int argc, char **argv)
{
  static const struct argp_option options[] = {
      {"json", OPTION_JSON, NULL, 0, "The same as JSON", 0}, {0}};
  const struct argp parser = {options, parse_json_option, "", help, NULL, NULL, NULL};
  bool json = false;
  cli_parse(&parser, argc, argv, &json);
  return json;
}
