/* The command line by argp, where a mistake ends the program with exit 2 and the nearest option,
 * the options that several commands share, and the configuration that they name and change. */
#include "cli/arguments.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "core/base/text.h"
#include "core/base/machine.h"

enum { OPTIONS_MAXIMUM = 40, PROCESSES_MAXIMUM = 1 << 20 };

enum { OPTION_USAGE = 1, OPTION_COLOR, OPTION_ANY_LETTER = '?' };

const struct argp_option cli_standard_options[] = {
    {"help", 'h', NULL, 0, "Show this help", -1},
    {"usage", OPTION_USAGE, NULL, 0, "Show a short usage message", 0},
    {"color", OPTION_COLOR, "WHEN", 0,
     "Colours: auto (on a terminal, unless NO_COLOR is set), always or never", 0},
    {NULL, OPTION_ANY_LETTER, NULL, OPTION_HIDDEN, "As -h", 0},
    {0}};

/* argp's help on standard output, and the end. */
static void show_help(const struct argp_state *state, unsigned flags)
{
  char *text = NULL;
  size_t length = 0;
  FILE *stream = open_memstream(&text, &length);
  if (stream == NULL) {
    cli_error("out of memory while writing the help");
    exit(GPUMC_FAILURE);
  }
  argp_state_help(state, stream, flags);
  fclose(stream);
  cli_print_help(text);
  free(text);
  exit(GPUMC_OK);
}

static error_t parse_standard(int key, char *argument, struct argp_state *state)
{
  switch (key) {
  case 'h':
  case OPTION_ANY_LETTER:
    show_help(state, ARGP_HELP_SHORT_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC);
    return 0;
  case OPTION_USAGE:
    show_help(state, ARGP_HELP_USAGE);
    return 0;
  case OPTION_COLOR:
    if (!cli_color_choose(argument))
      cli_usage_error(state->name, "--color must be auto, always or never, not '%s'", argument);
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

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
  size_t count = gather_names(cli_standard_options, names, 0);
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

static const struct argp_option *find_short(const struct argp_option *options, char letter)
{
  for (; options != NULL && (options->name != NULL || options->key != 0); options++)
    if (options->key == letter)
      return options;
  return NULL;
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
      option = find_long(cli_standard_options, word, length, exact);
  }
  if (option == NULL)
    unknown_option(argp, command, word, length);
  if (word[length] == '=' && option->arg == NULL)
    cli_usage_error(command, "option '--%s' takes no value", option->name);
  if (word[length] == '=' || option->arg == NULL || (option->flags & OPTION_ARG_OPTIONAL) != 0)
    return 0;
  if (next == NULL)
    cli_usage_error(command, "option '--%s' needs a value (%s)", option->name, option->arg);
  return 1;
}

static int
check_short(const struct argp *argp, const char *command, const char *letters, const char *next)
{
  for (; *letters != '\0'; letters++) {
    const struct argp_option *option = find_short(argp->options, *letters);
    if (option == NULL)
      option = find_short(cli_standard_options, *letters);
    const bool known = option != NULL;
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
  static const struct argp standard = {
      cli_standard_options, parse_standard, NULL, NULL, NULL, NULL, NULL};
  static const struct argp_child children[] = {{&standard, 0, NULL, 0}, {0}};
  struct argp whole = *argp;
  whole.children = children;
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
  if (argp_parse(&whole, argc, argv, ARGP_NO_HELP, NULL, input) != 0)
    cli_usage_error(argv[0], "the command line cannot be read");
}

long cli_integer(const char *command, const char *what, const char *text, long minimum,
                 long maximum)
{
  char *end;
  errno = 0;
  long value = strtol(text, &end, 10);
  if (end == text || *end != '\0' || errno != 0 || value < minimum || value > maximum)
    cli_usage_error(command, "%s must be an integer from %ld to %ld, not '%s'", what, minimum,
                    maximum, text);
  return value;
}

double cli_duration(const char *command, const char *what, const char *text)
{
  double seconds;
  if (!gpumc_duration_read(text, &seconds))
    cli_usage_error(command, "%s must be a duration such as '90 s' or '11 h', not '%s'", what,
                    text);
  return seconds;
}

/* Reads a number and moves on; negative: there is none that a task can have. */
static long task_number(const char **text)
{
  char *end;
  errno = 0;
  const long number = **text >= '0' && **text <= '9' ? strtol(*text, &end, 10) : -1;
  if (number < 0 || number > INT_MAX || errno != 0)
    return -1;
  *text = end;
  return number;
}

long cli_task_list(const char *command, const char *text, size_t n, bool *selected)
{
  const char *rest = text;
  long greatest = 0;
  for (;; rest++) {
    const long first = task_number(&rest);
    long last = first;
    if (first >= 0 && *rest == '-') {
      rest++;
      last = task_number(&rest);
    }
    if (first < 0 || last < first || (*rest != ',' && *rest != '\0'))
      cli_usage_error(
          command,
          "--task must be a non-negative integer, a range or a list such as '0,3-8', not '%s'",
          text);
    for (size_t i = (size_t)first; i <= (size_t)last && i < n; i++)
      selected[i] = true;
    greatest = last > greatest ? last : greatest;
    if (*rest == '\0')
      return greatest;
  }
}

static void add_assignment(struct cli_config_options *options, const char *assignment)
{
  const char **grown =
      realloc(options->assignments, (options->n_assignments + 1) * sizeof *options->assignments);
  if (grown == NULL) {
    cli_error("out of memory while reading the command line");
    exit(GPUMC_FAILURE);
  }
  options->assignments = grown;
  options->assignments[options->n_assignments++] = assignment;
}

void cli_config_set(struct cli_config_options *options, const char *command, const char *assignment)
{
  const char *equals = strchr(assignment, '=');
  if (equals == NULL || equals == assignment)
    cli_usage_error(command, "--set must be KEY=VALUE, not '%s'", assignment);
  add_assignment(options, assignment);
}

/* "KEY=VALUE" in place of `*assignment`; a JSON string is a double-quoted YAML scalar, whatever it
 * holds. */
static void assign_text(char **assignment, const char *key, const char *value)
{
  cJSON *string = cJSON_CreateString(value);
  char *quoted = string != NULL ? cJSON_PrintUnformatted(string) : NULL;
  free(*assignment);
  *assignment = NULL;
  if (quoted == NULL || asprintf(assignment, "%s=%s", key, quoted) < 0) {
    cli_error("out of memory while reading the command line");
    exit(GPUMC_FAILURE);
  }
  free(quoted);
  cJSON_Delete(string);
}

enum gpumc_status cli_config_load(const struct cli_config_options *options, const char *path,
                                  struct gpumc_config *config, struct gpumc_error *error)
{
  struct cli_config_options all = {0};
  for (size_t i = 0; i < options->n_assignments; i++)
    add_assignment(&all, options->assignments[i]);
  if (options->output_assignment != NULL)
    add_assignment(&all, options->output_assignment);
  if (options->device_assignment != NULL)
    add_assignment(&all, options->device_assignment);
  enum gpumc_status status =
      options->look ? gpumc_config_look(path, all.assignments, all.n_assignments, config, error)
                    : gpumc_config_load(path, all.assignments, all.n_assignments, config, error);
  free(all.assignments);
  return status;
}

void cli_config_options_free(struct cli_config_options *options)
{
  free(options->assignments);
  free(options->output_assignment);
  free(options->device_assignment);
  memset(options, 0, sizeof *options);
}

error_t cli_parse_common(int key, char *argument, struct argp_state *state)
{
  struct cli_arguments *arguments = state->input;
  switch (key) {
  case 'o':
    assign_text(&arguments->config.output_assignment, "output", argument);
    return 0;
  case CLI_OPTION_SET:
    cli_config_set(&arguments->config, arguments->command, argument);
    return 0;
  case CLI_OPTION_DEVICE:
    arguments->on_cpu = strcmp(argument, "cpu") == 0;
    if (arguments->gpu == NULL)
      assign_text(&arguments->config.device_assignment, "kernel.device", argument);
    return 0;
  case CLI_OPTION_GPU:
    arguments->gpu = argument;
    assign_text(&arguments->config.device_assignment, "kernel.device", "cuda");
    return 0;
  case CLI_OPTION_PROCESSES:
    arguments->processes =
        (int)cli_integer(arguments->command, "--processes", argument, 1, PROCESSES_MAXIMUM);
    return 0;
  case CLI_OPTION_PER_HOST:
    arguments->per_host =
        (int)cli_integer(arguments->command, "--per-host", argument, 1, PROCESSES_MAXIMUM);
    return 0;
  case ARGP_KEY_END:
    if (arguments->per_host > arguments->processes)
      cli_usage_error(arguments->command,
                      "--per-host %d exceeds the number of processes (--processes)",
                      arguments->per_host);
    if (arguments->gpu != NULL && arguments->on_cpu)
      cli_usage_error(
          arguments->command,
          "--gpu plans for a GPU, but --device cpu selects the CPU: leave one of them out");
    return ARGP_ERR_UNKNOWN;
  case CLI_OPTION_THREADS:
    arguments->threads =
        (int)cli_integer(arguments->command, "--threads", argument, 1, GPUMC_THREADS_MAXIMUM);
    return 0;
  case CLI_OPTION_JSON:
    arguments->json = true;
    return 0;
  case 'T':
    arguments->temperature = true;
    return 0;
  case ARGP_KEY_ARG:
    if (arguments->subject != NULL)
      cli_usage_error(arguments->command, "only one %s at a time, not both '%s' and '%s'",
                      arguments->kind, arguments->subject, argument);
    arguments->subject = argument;
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

void cli_plugins_open(struct gpumc_plugin_set *set)
{
  struct gpumc_error error = {0};
  if (gpumc_plugin_set_init(set, &error) != GPUMC_OK)
    exit(cli_fail(&error));
}

void cli_plugin_add(struct gpumc_plugin_set *set, const char *wanted)
{
  struct gpumc_error error = {0};
  if (gpumc_plugin_set_add(set, wanted, NULL, &error) != GPUMC_OK)
    exit(cli_fail(&error));
}

enum { OPTION_JSON = 256 };

const struct argp_option cli_json_options[] = {
    {"json", OPTION_JSON, NULL, 0, "Print the same as JSON", 0}, {0}};

error_t cli_parse_json_option(int key, char *argument, struct argp_state *state)
{
  bool *json = state->input;
  if (key == OPTION_JSON)
    *json = true;
  else if (key == ARGP_KEY_ARG)
    cli_usage_error(state->name, "unexpected argument '%s'", argument);
  else
    return ARGP_ERR_UNKNOWN;
  return 0;
}

bool cli_parse_json(const struct argp *argp, int argc, char **argv)
{
  bool json = false;
  cli_parse(argp, argc, argv, &json);
  return json;
}

/* Among the members of an array or object. */
static bool has_text(const cJSON *texts, const char *text)
{
  const cJSON *known = texts != NULL ? texts->child : NULL;
  while (known != NULL && strcmp(known->valuestring, text) != 0)
    known = known->next;
  return known != NULL;
}

cJSON *cli_config_warnings(const struct gpumc_config *config)
{
  cJSON *warnings = cJSON_CreateArray();
  for (size_t i = 0; i < config->n_tasks; i++) {
    const cJSON *warning;
    cJSON_ArrayForEach(warning, config->tasks[i].warnings)
    {
      if (!has_text(warnings, warning->valuestring))
        cJSON_AddItemToArray(warnings, cJSON_CreateString(warning->valuestring));
    }
  }
  return warnings;
}

void cli_config_warn(const char *path, const struct gpumc_config *config)
{
  cJSON *warnings = cli_config_warnings(config);
  const cJSON *warning;
  cJSON_ArrayForEach(warning, warnings)
  {
    const char *text = warning->valuestring;
    size_t count = 0;
    for (size_t i = 0; i < config->n_tasks; i++)
      count += has_text(config->tasks[i].warnings, text);
    cli_say(stderr, "%s: ", path);
    fprintf(stderr, "%swarning:%s ", cli_style_on(stderr, CLI_WARNING),
            cli_style_off(stderr, CLI_WARNING));
    if (config->n_tasks > 1)
      fprintf(stderr, "%zu of %zu tasks: ", count, config->n_tasks);
    cli_say(stderr, "%s\n", text);
  }
  cJSON_Delete(warnings);
}

void cli_config_require(const struct cli_arguments *arguments)
{
  if (arguments->subject == NULL)
    cli_usage_error(arguments->command, "no configuration file given");
}

/* Loads what a command works on; with `look` also what a run would refuse for the files that its
 * models read, and then `arguments->refusal` says why. */
static enum gpumc_status load_for(struct cli_arguments *arguments, bool look,
                                  struct gpumc_config *config, struct gpumc_error *error)
{
  struct gpumc_error ignored = {0};
  enum gpumc_status status = cli_config_load(&arguments->config, arguments->subject, config, error);
  if (status != GPUMC_INVALID || !look)
    return status;
  arguments->config.look = true;
  if (cli_config_load(&arguments->config, arguments->subject, config, &ignored) == GPUMC_OK) {
    arguments->refusal = gpumc_error_text(error);
    status = GPUMC_OK;
  }
  gpumc_error_free(&ignored);
  return status;
}

/* The labels of -T in the place of those of the tasks. */
static void take_typed_labels(struct gpumc_config *config)
{
  for (size_t i = 0; i < config->n_tasks; i++) {
    struct gpumc_task *task = &config->tasks[i];
    char *label = task->label;
    task->label = task->typed_label;
    task->typed_label = label;
  }
}

int cli_config_main_with(const struct argp *argp, bool look, int argc, char **argv,
                         struct cli_arguments *arguments,
                         int (*work)(const struct cli_arguments *arguments,
                                     const struct gpumc_config *config))
{
  struct gpumc_config config = {0};
  struct gpumc_error error = {0};
  cli_parse(argp, argc, argv, arguments);
  cli_config_require(arguments);
  const enum gpumc_status status = load_for(arguments, look, &config, &error);
  if (arguments->temperature)
    take_typed_labels(&config);
  const int code = status == GPUMC_OK ? work(arguments, &config) : cli_config_fail(&error);
  gpumc_error_free(&error);
  gpumc_config_free(&config);
  cli_config_options_free(&arguments->config);
  return code;
}

int cli_config_main(const struct argp *argp, bool look, int argc, char **argv,
                    int (*work)(const struct cli_arguments *arguments,
                                const struct gpumc_config *config))
{
  struct cli_arguments arguments = {.command = argv[0], .kind = "configuration"};
  return cli_config_main_with(argp, look, argc, argv, &arguments, work);
}
