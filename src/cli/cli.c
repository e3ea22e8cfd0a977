/* What the subcommands share: messages, numbers, and the configuration with its overrides. */
#include "cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/units.h"
#include "core/base/utf8.h"

void cli_say_list(FILE *stream, const char *format, va_list arguments)
{
  struct gpumc_text text = {0};
  char *said = NULL;
  if (vasprintf(&said, format, arguments) < 0)
    return;
  gpumc_text_append_escaped(&text, said, GPUMC_ESCAPES_LINES);
  fputs(gpumc_text_string(&text), stream);
  gpumc_text_free(&text);
  free(said);
}

void cli_say(FILE *stream, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  cli_say_list(stream, format, arguments);
  va_end(arguments);
}

char *cli_line(const char *text)
{
  struct gpumc_text line = {0};
  gpumc_text_append_escaped(&line, text, GPUMC_ESCAPES_TEXT);
  char *copy = strdup(gpumc_text_string(&line));
  gpumc_text_free(&line);
  if (copy == NULL) {
    cli_error("out of memory while writing a line");
    exit(GPUMC_FAILURE);
  }
  return copy;
}

void cli_error(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  fputs("gpumc: error: ", stderr);
  cli_say_list(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
}

int cli_fail(struct gpumc_error *error)
{
  int code = (int)error->status;
  cli_error("%s", gpumc_error_text(error));
  gpumc_error_free(error);
  return code;
}

int cli_config_fail(struct gpumc_error *error)
{
  if (error->status != GPUMC_INVALID)
    return cli_fail(error);
  cli_say(stderr, "%s\n", gpumc_error_text(error));
  gpumc_error_free(error);
  return GPUMC_INVALID;
}

_Noreturn void cli_usage_error(const char *command, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "gpumc: error: ");
  cli_say_list(stderr, format, arguments);
  fprintf(stderr, "\nTry '%s --help'.\n", command);
  va_end(arguments);
  exit(GPUMC_INVALID);
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

int cli_print_json(cJSON *json)
{
  char *text = json != NULL ? cJSON_Print(json) : NULL;
  cJSON_Delete(json);
  if (text == NULL) {
    cli_error("out of memory while writing JSON");
    return GPUMC_FAILURE;
  }
  struct gpumc_text safe = {0};
  gpumc_text_append_escaped(&safe, text, GPUMC_ESCAPES_JSON);
  puts(gpumc_text_string(&safe));
  gpumc_text_free(&safe);
  free(text);
  return GPUMC_OK;
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
    cli_usage_error(command, "--set takes KEY=VALUE, not '%s'", assignment);
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

void cli_config_output(struct cli_config_options *options, const char *path)
{
  assign_text(&options->output_assignment, "output", path);
}

void cli_config_device(struct cli_config_options *options, const char *name)
{
  assign_text(&options->device_assignment, "kernel.device", name);
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
    cli_say(stderr, "%s: warning: ", path);
    if (config->n_tasks > 1)
      fprintf(stderr, "%zu of %zu tasks: ", count, config->n_tasks);
    cli_say(stderr, "%s\n", text);
  }
  cJSON_Delete(warnings);
}

void cli_config_require(const struct cli_arguments *arguments)
{
  if (arguments->subject == NULL)
    cli_usage_error(arguments->command, "the configuration file is missing");
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

int cli_config_main(const struct argp *argp, bool look, int argc, char **argv,
                    int (*work)(const struct cli_arguments *arguments,
                                const struct gpumc_config *config))
{
  struct cli_arguments arguments = {.command = argv[0], .kind = "configuration"};
  struct gpumc_config config = {0};
  struct gpumc_error error = {0};
  cli_parse(argp, argc, argv, &arguments);
  cli_config_require(&arguments);
  int code = load_for(&arguments, look, &config, &error) == GPUMC_OK ? work(&arguments, &config)
                                                                     : cli_config_fail(&error);
  gpumc_error_free(&error);
  gpumc_config_free(&config);
  cli_config_options_free(&arguments.config);
  return code;
}
