/* The program: what its subcommands share. Only this folder prints and decides exit codes. */
#ifndef GPUMC_CLI_CLI_H
#define GPUMC_CLI_CLI_H

#include <argp.h>
#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>

#include "core/base/error.h"
#include "core/run/language.h"

/* `main` gets argv[0] = "gpumc NAME" and returns the exit code, of enum gpumc_status. */
struct cli_command {
  const char *name;
  const char *summary;
  int (*main)(int argc, char **argv);
};

int cli_run(int argc, char **argv);
/* Take the signals that stop a run: for main(), before anything else is done. */
void cli_run_listen(void);
int cli_validate(int argc, char **argv);
int cli_plan(int argc, char **argv);
int cli_list(int argc, char **argv);
int cli_describe(int argc, char **argv);
int cli_schema(int argc, char **argv);
int cli_info(int argc, char **argv);
int cli_status(int argc, char **argv);
int cli_bench(int argc, char **argv);
int cli_doctor(int argc, char **argv);

/* As fprintf, of text that may come from files: controls are escaped, except line ends and tabs.
 * All output of commands but tables and JSON goes through it. */
void cli_say(FILE *stream, const char *format, ...) GPUMC_PRINTF(2, 3);
void cli_say_list(FILE *stream, const char *format, va_list arguments);
/* One line of it: line ends are escaped as well. The caller frees; never NULL. */
char *cli_line(const char *text);

/* "gpumc: error: ..." on stderr. */
void cli_error(const char *format, ...) GPUMC_PRINTF(1, 2);
/* Prints and frees the error; returns its status. */
int cli_fail(struct gpumc_error *error);
/* The same for what gpumc_config_load reports: mistakes carry their place and stand as they are. */
int cli_config_fail(struct gpumc_error *error);
/* Mistakes of the command line: message, a hint at --help, exit 2. */
_Noreturn void cli_usage_error(const char *command, const char *format, ...) GPUMC_PRINTF(2, 3);

/* Parse with argp; every mistake of the command line ends the program with exit 2, an unknown
 * option naming the nearest one. */
void cli_parse(const struct argp *argp, int argc, char **argv, void *input);
/* The same for a command that takes --json and nothing else; `help` as in struct argp's doc. */
bool cli_parse_json(const char *help, int argc, char **argv);

/* Numbers on the command line; `what` names the option. Usage error when they are none. */
long cli_integer(const char *command, const char *what, const char *text, long minimum,
                 long maximum);
double cli_duration(const char *command, const char *what, const char *text);

/* Print with a newline and delete; returns the exit code. NULL: memory ran out. */
int cli_print_json(cJSON *json);

/* Overrides of a configuration, given on the command line. */
struct cli_config_options {
  const char **assignments; /* "KEY=VALUE" of --set */
  size_t n_assignments;
  char *output_assignment, *device_assignment; /* owned; of -o and --device */
  bool look;                                   /* gpumc_config_look */
};

/* Add "KEY=VALUE"; the path of -o; the name of --device. */
void cli_config_set(struct cli_config_options *options, const char *command,
                    const char *assignment);
void cli_config_output(struct cli_config_options *options, const char *path);
void cli_config_device(struct cli_config_options *options, const char *name);
enum gpumc_status cli_config_load(const struct cli_config_options *options, const char *path,
                                  struct gpumc_config *config, struct gpumc_error *error);
void cli_config_options_free(struct cli_config_options *options);
/* What results of these tasks are to be distrusted for: an array, each text once. */
cJSON *cli_config_warnings(const struct gpumc_config *config);
/* The same on stderr, a line "PATH: warning: ..." each. */
void cli_config_warn(const char *path, const struct gpumc_config *config);

/* Keys of the options that mean the same in several commands, beside 'o' of --output. */
enum {
  CLI_OPTION_SET = 256,
  CLI_OPTION_DEVICE,
  CLI_OPTION_THREADS,
  CLI_OPTION_JSON,
  CLI_OPTION_GPU,
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
  bool on_cpu;     /* asked for by --device */
  bool json;
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

#endif
