/* What the program says of its own command line, for man pages and the completion of shells: the
 * options and arguments of a command, and which values they take, from the tables of argp, the
 * plugins and the declared keys. */
#ifndef GPUMC_CLI_MANUAL_OPTIONS_H
#define GPUMC_CLI_MANUAL_OPTIONS_H

#include "cli/cli.h"
#include "core/base/text.h"
#include "core/run/language.h"

enum { MANUAL_OPTIONS_MAXIMUM = 48, MANUAL_ARGUMENTS_MAXIMUM = 4 };

/* The manual page of the configuration language. */
#define MANUAL_LANGUAGE_PAGE "gpumc.yaml"

struct manual_option {
  const char *name;     /* long, without dashes */
  char letter;          /* 0: none */
  const char *argument; /* "FILE"; NULL: none */
  bool optional;        /* the value may be left out */
  const char *doc;
};
/* Those of the command, and after them those of all commands. Returns their number. */
size_t manual_options(const struct cli_command *command,
                      struct manual_option options[MANUAL_OPTIONS_MAXIMUM]);

/* One argument of a command: "CONFIG", several of which may follow each other. */
struct manual_argument {
  char name[32];
  bool repeated;
};
size_t manual_arguments(const struct cli_command *command,
                        struct manual_argument arguments[MANUAL_ARGUMENTS_MAXIMUM]);

/* What the value of an option or argument is, by its name. */
enum manual_kind {
  MANUAL_ANYTHING,
  MANUAL_FILES,
  MANUAL_CONFIGURATIONS, /* files whose names end in .yaml */
  MANUAL_RESULTS,        /* in .h5 */
  MANUAL_KEYS,           /* of the language, each with a value: "model.shape=..." */
  MANUAL_WORDS,          /* one of those that are appended to `words`, separated by blanks */
};
enum manual_kind
manual_values(const struct cli_command *commands, const char *name, struct gpumc_text *words);

/* A key of the language that is no block, by its dotted name, with the words that it takes,
 * separated by blanks; "" where it takes others. */
struct manual_key {
  char *name;
  struct gpumc_text words;
};

/* Those of all plugins, each once. Zero-initialise. */
struct manual_keys {
  struct manual_key *items;
  size_t count;
  bool failed;
};

/* False when memory ran out. Free also then. */
bool manual_find_keys(struct manual_keys *keys);
void manual_free_keys(struct manual_keys *keys);
/* "name=" of all keys, separated by blanks. */
void manual_append_keys(struct gpumc_text *text, const struct manual_keys *keys);

#endif
