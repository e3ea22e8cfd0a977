/* The program: its commands, and how they speak: messages, JSON and tables. Only this folder prints
 * and decides exit codes. A command that has --json forms one JSON object and prints its text from
 * that, so that both say the same. */
#ifndef GPUMC_CLI_CLI_H
#define GPUMC_CLI_CLI_H

#include <argp.h>
#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "core/base/error.h"

/* `main` gets argv[0] = "gpumc NAME" and returns the exit code, of enum gpumc_status. A command
 * that is about all commands has `main_of_all` in its place, which gets their table, too. `argp`:
 * its options, arguments and help, from which its man page and completions are made. */
struct cli_command {
  const char *name;
  const char *summary;
  int (*main)(int argc, char **argv);
  const struct argp *argp;
  int (*main_of_all)(const struct cli_command *commands, int argc, char **argv);
};

#define CLI_COMMAND(name)                                                                          \
  extern const struct argp cli_##name##_argp;                                                      \
  int cli_##name(int argc, char **argv)
CLI_COMMAND(init);
CLI_COMMAND(run);
CLI_COMMAND(validate);
CLI_COMMAND(plan);
CLI_COMMAND(list);
CLI_COMMAND(describe);
CLI_COMMAND(schema);
CLI_COMMAND(merge);
CLI_COMMAND(info);
CLI_COMMAND(compare);
CLI_COMMAND(export);
CLI_COMMAND(status);
CLI_COMMAND(submit);
CLI_COMMAND(bench);
CLI_COMMAND(doctor);
#undef CLI_COMMAND
#define CLI_COMMAND_OF_ALL(name)                                                                   \
  extern const struct argp cli_##name##_argp;                                                      \
  int cli_##name(const struct cli_command *commands, int argc, char **argv)
CLI_COMMAND_OF_ALL(completion);
CLI_COMMAND_OF_ALL(man);
#undef CLI_COMMAND_OF_ALL
/* Take the signals that stop a run: for main(), before anything else is done. */
void cli_run_listen(void);

/* The words of the command line in one line. The caller frees; NULL when memory ran out. */
char *cli_command_line(int argc, char **argv);

/* As fprintf, of text that may come from files: controls are escaped, except line ends and tabs.
 * All output of commands but tables and JSON goes through it. */
void cli_say(FILE *stream, const char *format, ...) GPUMC_PRINTF(2, 3);
/* One line of it: line ends are escaped as well. The caller frees; never NULL. */
char *cli_line(const char *text);

/* ---- colours ---- */

enum cli_style {
  CLI_PLAIN,
  CLI_HEADING,
  CLI_ERROR,
  CLI_WARNING,
  CLI_GOOD,    /* what is done */
  CLI_WORKING, /* what is under way */
};

/* "auto", on a terminal unless NO_COLOR is set or TERM is "dumb", "always" or "never", from now on.
 * False for any other word. */
bool cli_color_choose(const char *when);
/* What begins the style on that stream, and what ends it; "" where there are no colours. */
const char *cli_style_on(FILE *stream, enum cli_style style);
const char *cli_style_off(FILE *stream, enum cli_style style);
/* Help on standard output, its headings in their style: "Usage:" and lines that end with a colon.
 */
void cli_print_help(const char *text);

/* ---- messages ---- */

/* "gpumc: LABELwarning: ..." on stderr; `label` is "" or ends with a blank. */
void cli_warning(const char *label, const char *format, ...) GPUMC_PRINTF(2, 3);
/* "gpumc: error: ..." on stderr. */
void cli_error(const char *format, ...) GPUMC_PRINTF(1, 2);
/* Prints and frees the error; returns its status. */
int cli_fail(struct gpumc_error *error);
/* The same for what gpumc_config_load reports: mistakes carry their place and stand as they are. */
int cli_config_fail(struct gpumc_error *error);
/* Mistakes of the command line: message, a hint at --help, exit 2. */
_Noreturn void cli_usage_error(const char *command, const char *format, ...) GPUMC_PRINTF(2, 3);

/* Print with a newline and delete; returns the exit code. NULL: memory ran out. */
int cli_print_json(cJSON *json);
/* Print it, with --json as it is, else as text by `print`, and delete it; returns the exit code. */
int cli_report(cJSON *json, bool as_json, void (*print)(const cJSON *json));

/* Members of such an object: "", NaN, false and NULL where there is none. */
const char *cli_text(const cJSON *json, const char *name);
double cli_number(const cJSON *json, const char *name);
bool cli_true(const cJSON *json, const char *name);
bool cli_has(const cJSON *json, const char *name);
const cJSON *cli_member(const cJSON *json, const char *name);
/* The first item of an array or object; NULL of an empty one and of NULL. */
const cJSON *cli_first(const cJSON *json);

/* "1.23 flips/ns" or, of any other unit, "1.23e+07 trials/s", of a rate in updates per second,
 * into `text`; returns it. */
const char *cli_rate_text(double updates_per_second, const char *unit, char text[static 32]);

/* Tables of text with aligned columns. */
enum { CLI_TABLE_COLUMNS = 12 };

struct cli_cell {
  char *text; /* owned; NULL: empty */
  enum cli_style style;
};

/* Zero-initialise, then set `columns`. Cells are kept row by row and printed at the end, when the
 * widths are known. `right[c]`: numbers, flush right. */
struct cli_table {
  size_t columns;
  bool right[CLI_TABLE_COLUMNS];
  struct cli_cell *cells; /* owned */
  size_t n_cells, capacity;
};

/* The next cell; out of memory leaves it empty. */
void cli_table_cell(struct cli_table *table, const char *format, ...) GPUMC_PRINTF(2, 3);
/* The style of the last cell. */
void cli_table_style(struct cli_table *table, enum cli_style style);
/* To stdout, two blanks between columns, `indent` before the first; frees the table. */
void cli_table_print(struct cli_table *table, int indent);

#endif
