/* The command line: options that several commands share, numbers, and the configuration that a
 * command works on, with its overrides. */
#ifndef GPUMC_CLI_ARGUMENTS_H
#define GPUMC_CLI_ARGUMENTS_H

#include <argp.h>
#include <cjson/cJSON.h>
#include <stdbool.h>

#include "core/run/language.h"

/* Parse with argp and the options that all commands have, --help (-h), --usage and --color; every
 * mistake of the command line ends the program with exit 2, an unknown option naming the nearest
 * one. */
void cli_parse(const struct argp *argp, int argc, char **argv, void *input);
/* What the argp of a command that takes --json and nothing else is made of, and the same for it. */
extern const struct argp_option cli_json_options[];
error_t cli_parse_json_option(int key, char *argument, struct argp_state *state);
bool cli_parse_json(const struct argp *argp, int argc, char **argv);
/* The options that cli_parse adds to those of every command. */
extern const struct argp_option cli_standard_options[];

/* Numbers on the command line; `what` names the option. Usage error when they are none. */
long cli_integer(const char *command, const char *what, const char *text, long minimum,
                 long maximum);
double cli_duration(const char *command, const char *what, const char *text);
/* Numbers of tasks as "3", "0-8" or "0,3-8": returns the greatest one, and sets selected[i] for
 * each that is below `n`. */
long cli_task_list(const char *command, const char *text, size_t n, bool *selected);

/* Overrides of a configuration, given on the command line. */
struct cli_config_options {
  const char **assignments; /* "KEY=VALUE" of --set */
  size_t n_assignments;
  char *output_assignment, *device_assignment; /* owned; of -o and --device */
  bool look;                                   /* gpumc_config_look */
};

/* Add "KEY=VALUE" of --set. */
void cli_config_set(struct cli_config_options *options, const char *command,
                    const char *assignment);
enum gpumc_status cli_config_load(const struct cli_config_options *options, const char *path,
                                  struct gpumc_config *config, struct gpumc_error *error);
void cli_config_options_free(struct cli_config_options *options);
/* What results of these tasks are to be distrusted for: an array, each text once. */
cJSON *cli_config_warnings(const struct gpumc_config *config);
/* The same on stderr, a line "PATH: warning: ..." each. */
void cli_config_warn(const char *path, const struct gpumc_config *config);

/* What is built in, with the plugins that options --plugin add: a name in the search path, or a
 * path with a slash. What fails ends the program with its message. */
#define CLI_PLUGIN_HELP "Include this plugin: a name in the search path, or a path with a slash"
void cli_plugins_open(struct gpumc_plugin_set *set);
void cli_plugin_add(struct gpumc_plugin_set *set, const char *wanted);

/* Keys of the options that mean the same in several commands, beside 'o' of --output and 'T' of
 * --temperature. */
#define CLI_TEMPERATURE_HELP "Show temperatures instead of inverse temperatures"
enum {
  CLI_OPTION_SET = 256,
  CLI_OPTION_DEVICE,
  CLI_OPTION_THREADS,
  CLI_OPTION_JSON,
  CLI_OPTION_GPU,
  CLI_OPTION_PROCESSES,
  CLI_OPTION_PER_HOST,
  CLI_OPTION_OWN /* the first key that is free for a command's own options */
};

/* What these options and the one argument of a command gave. */
struct cli_arguments {
  const char *command;
  const char *kind;    /* of the argument, for messages: "configuration", "file", "name" */
  const char *subject; /* the argument; NULL: none given */
  struct cli_config_options config;
  int threads;     /* 0: all */
  const char *gpu; /* that is planned for, or NULL */
  int processes;   /* that are planned for; 0: one */
  int per_host;    /* of these on a host; 0: all */
  bool on_cpu;     /* requested by --device */
  bool json;
  bool temperature;    /* -T: temperatures in place of inverse temperatures */
  const char *refusal; /* why a run would refuse the configuration that is looked at, or NULL */
};

/* The argp parser of one argument and of the options above, whichever of them a command lists. Its
 * input is a struct cli_arguments, or a struct that begins with one. */
error_t cli_parse_common(int key, char *argument, struct argp_state *state);
/* Usage error when the argument CONFIG is missing. */
void cli_config_require(const struct cli_arguments *arguments);
/* A whole command of one CONFIG without options of its own: parse, load, and `work` on what was
 * loaded, which returns the exit code. `look`: of a configuration that is refused for a file that
 * its model reads too, with gpumc_config_look. */
int cli_config_main(const struct argp *argp, bool look, int argc, char **argv,
                    int (*work)(const struct cli_arguments *arguments,
                                const struct gpumc_config *config));

/* The same with options of its own: `arguments`, with its command and kind, is the first member of
 * what they are read into. */
int cli_config_main_with(const struct argp *argp, bool look, int argc, char **argv,
                         struct cli_arguments *arguments,
                         int (*work)(const struct cli_arguments *arguments,
                                     const struct gpumc_config *config));

#endif
