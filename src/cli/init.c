/* gpumc init: a configuration to begin with, of a model and an algorithm. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "core/base/user_file.h"

enum { OPTION_PLUGIN = CLI_OPTION_OWN };

struct init_arguments {
  const char *command;
  struct gpumc_plugin_set plugins;
  struct gpumc_text paths;       /* "plugins=['/home/me/potts.so'" */
  const char *model, *algorithm; /* NULL: not given */
  const char *path;              /* NULL: MODEL-ALGORITHM.yaml; "-": standard output */
  struct cli_config_options set;
};

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "Write FILE (default: MODEL-ALGORITHM.yaml); - for standard output",
     0},
    {"set", CLI_OPTION_SET, "KEY=VALUE", 0,
     "Set a key of the file, for example model.shape='[32, 32]'", 0},
    {"plugin", OPTION_PLUGIN, "PLUGIN", 0, CLI_PLUGIN_HELP, 0},
    {0}};

/* As YAML quotes a text: an apostrophe in it is doubled. */
static void append_quoted(struct gpumc_text *text, const char *words)
{
  gpumc_text_append(text, "'");
  for (; *words != '\0'; words++)
    gpumc_text_append(text, *words == '\'' ? "''" : "%c", *words);
  gpumc_text_append(text, "'");
}

/* To the set and to the list of the file: names as they are, paths in full, since those of a
 * configuration are relative to its own folder. */
static void add_plugin(struct init_arguments *arguments, const char *wanted)
{
  char *path = strchr(wanted, '/') != NULL ? realpath(wanted, NULL) : NULL;
  cli_plugin_add(&arguments->plugins, wanted);
  gpumc_text_append(&arguments->paths, arguments->paths.length > 0 ? ", " : "plugins=[");
  append_quoted(&arguments->paths, path != NULL ? path : wanted);
  free(path);
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
  struct init_arguments *arguments = state->input;
  switch (key) {
  case 'o':
    arguments->path = argument;
    return 0;
  case CLI_OPTION_SET:
    cli_config_set(&arguments->set, arguments->command, argument);
    return 0;
  case OPTION_PLUGIN:
    add_plugin(arguments, argument);
    return 0;
  case ARGP_KEY_ARG:
    if (arguments->model == NULL)
      arguments->model = argument;
    else if (arguments->algorithm == NULL)
      arguments->algorithm = argument;
    else
      cli_usage_error(arguments->command, "only one model and one algorithm, not '%s' as well",
                      argument);
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

const struct argp cli_init_argp = {
    options,
    parse_option,
    "[MODEL ALGORITHM]",
    "Write a small configuration for MODEL and ALGORITHM that runs in seconds. Comments explain "
    "its keys: the required ones with values to start from, the important optional ones with their "
    "defaults in lines that begin with a #. An existing file is never replaced.\v"
    "Examples:\n"
    "  gpumc init\n"
    "  gpumc init ea pt -o glass.yaml --set model.shape='[8, 8, 8]'\n"
    "  gpumc init hard_disks mpmc -o - | less\n"
    "\n"
    "Without arguments it uses the first model and algorithm of `gpumc list`.",
    NULL,
    NULL,
    NULL};

/* ---- which pair ---- */

/* "pa, pt": of the plugins of the other kind those that suit, either argument NULL. */
static void list_suiting(const struct gpumc_plugin_set *set, const struct gpumc_model_ops *model,
                         const struct gpumc_algorithm_ops *algorithm, struct gpumc_text *names)
{
  for (const struct gpumc_model_ops *const *m = set->models; *m != NULL; m++)
    if (algorithm != NULL && gpumc_language_suits(*m, algorithm))
      gpumc_text_append(names, "%s%s", names->length > 0 ? ", " : "", (*m)->name);
  for (const struct gpumc_algorithm_ops *const *a = set->algorithms; *a != NULL; a++)
    if (model != NULL && gpumc_language_suits(model, *a))
      gpumc_text_append(names, "%s%s", names->length > 0 ? ", " : "", (*a)->name);
}

enum { NAMES_MAXIMUM = 64 };

/* A name that no plugin of the kind has: the nearest one, or all of them; ends the program. */
static _Noreturn void refuse_name(const char *command, const char *kind, const char *name,
                                  const char *const *names, size_t count)
{
  struct gpumc_text all = {0};
  const char *nearest = gpumc_nearest_name(name, names, count);
  if (nearest != NULL)
    cli_usage_error(command, "unknown %s '%s'; did you mean '%s'?", kind, name, nearest);
  for (size_t i = 0; i < count; i++)
    gpumc_text_append(&all, "%s%s", i > 0 ? ", " : "", names[i]);
  cli_usage_error(command, "unknown %s '%s'; choose one of %s", kind, name,
                  gpumc_text_string(&all));
}

/* In the set, to which a plugin of the search path is added that has the name. */
static void want(struct init_arguments *arguments, enum gpumc_plugin_kind kind, const char *name)
{
  struct gpumc_error error = {0};
  if (name != NULL &&
      gpumc_plugin_set_want(&arguments->plugins, kind, name, true, &error) != GPUMC_OK)
    exit(cli_fail(&error));
}

static const struct gpumc_model_ops *find_model(const struct init_arguments *arguments)
{
  const struct gpumc_model_ops *const *models = arguments->plugins.models;
  const struct gpumc_model_ops *found =
      arguments->model == NULL ? models[0]
                               : gpumc_plugin_set_model(&arguments->plugins, arguments->model);
  const char *names[NAMES_MAXIMUM];
  size_t count = 0;
  for (; models[count] != NULL && count < NAMES_MAXIMUM; count++)
    names[count] = models[count]->name;
  if (found == NULL)
    refuse_name(arguments->command, "model", arguments->model, names, count);
  return found;
}

/* The algorithm that is named, or without names the first one for the model. */
static const struct gpumc_algorithm_ops *
find_algorithm(const struct init_arguments *arguments, const struct gpumc_model_ops *model)
{
  const struct gpumc_algorithm_ops *const *algorithms = arguments->plugins.algorithms;
  const char *names[NAMES_MAXIMUM];
  size_t count = 0, first = 0;
  struct gpumc_text suiting = {0};
  for (; algorithms[count] != NULL && count < NAMES_MAXIMUM; count++)
    names[count] = algorithms[count]->name;
  while (algorithms[first] != NULL && !gpumc_language_suits(model, algorithms[first]))
    first++;
  list_suiting(&arguments->plugins, model, NULL, &suiting);
  if (arguments->model != NULL && arguments->algorithm == NULL)
    cli_usage_error(arguments->command, "no algorithm given; model %s runs with %s", model->name,
                    gpumc_text_string(&suiting));
  gpumc_text_free(&suiting);
  const struct gpumc_algorithm_ops *found =
      arguments->algorithm == NULL
          ? algorithms[first]
          : gpumc_plugin_set_algorithm(&arguments->plugins, arguments->algorithm);
  if (found == NULL)
    refuse_name(arguments->command, "algorithm", arguments->algorithm, names, count);
  return found;
}

static void check_pair(const struct init_arguments *arguments, const struct gpumc_model_ops *model,
                       const struct gpumc_algorithm_ops *algorithm)
{
  struct gpumc_text algorithms = {0}, models = {0};
  if (gpumc_language_suits(model, algorithm))
    return;
  list_suiting(&arguments->plugins, model, NULL, &algorithms);
  list_suiting(&arguments->plugins, NULL, algorithm, &models);
  cli_usage_error(arguments->command,
                  "model %s does not run with algorithm %s: it runs with %s; %s runs %s",
                  model->name, algorithm->name, gpumc_text_string(&algorithms), algorithm->name,
                  gpumc_text_string(&models));
}

/* ---- the file ---- */

static enum gpumc_status
write_new(const char *path, const struct gpumc_text *text, struct gpumc_error *error)
{
  static const struct gpumc_user_file_rule rule = {.remedy = "choose another name with -o"};
  return gpumc_user_file_write(path, text, &rule, error);
}

int cli_init(int argc, char **argv)
{
  struct init_arguments arguments = {.command = argv[0]};
  struct gpumc_error error = {0};
  struct gpumc_text text = {0};
  char *path = NULL;
  cli_plugins_open(&arguments.plugins);
  cli_parse(&cli_init_argp, argc, argv, &arguments);
  if (arguments.paths.length > 0) {
    gpumc_text_append(&arguments.paths, "]");
    cli_config_set(&arguments.set, argv[0], gpumc_text_string(&arguments.paths));
  }
  want(&arguments, GPUMC_PLUGIN_MODEL, arguments.model);
  want(&arguments, GPUMC_PLUGIN_ALGORITHM, arguments.algorithm);
  const struct gpumc_model_ops *model = find_model(&arguments);
  const struct gpumc_algorithm_ops *algorithm = find_algorithm(&arguments, model);
  int code = GPUMC_OK;
  check_pair(&arguments, model, algorithm);
  enum gpumc_status status =
      gpumc_language_example(&arguments.plugins, model, algorithm, arguments.set.assignments,
                             arguments.set.n_assignments, &text, &error);
  if (status != GPUMC_OK) {
    code = cli_config_fail(&error);
  } else if (arguments.path != NULL && strcmp(arguments.path, "-") == 0) {
    fputs(gpumc_text_string(&text), stdout);
  } else if ((arguments.path != NULL
                  ? asprintf(&path, "%s", arguments.path)
                  : asprintf(&path, "%s-%s.yaml", model->name, algorithm->name)) < 0) {
    path = NULL;
    cli_error("out of memory while writing a configuration");
    code = GPUMC_FAILURE;
  } else if (write_new(path, &text, &error) != GPUMC_OK) {
    code = cli_fail(&error);
  } else {
    cli_say(stderr, "gpumc: %s: written; `gpumc run %s` runs it\n", path, path);
  }
  free(path);
  gpumc_text_free(&text);
  gpumc_text_free(&arguments.paths);
  cli_config_options_free(&arguments.set);
  gpumc_plugin_set_free(&arguments.plugins);
  return code;
}
