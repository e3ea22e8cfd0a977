/* gpumc man: the manual pages of the program, of each command and of the configuration language. */
#include "cli/manual/man.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments.h"
#include "cli/manual/options.h"
#include "core/base/files.h"
#include "core/base/user_file.h"

enum { OPTION_DIRECTORY = 'd' };

struct man_arguments {
  const char *command, *page, *directory;
};

static const struct argp_option options[] = {
    {"directory", OPTION_DIRECTORY, "DIR", 0,
     "Write all pages to DIR/man1 and DIR/man5, the layout of a folder in MANPATH", 0},
    {0}};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
  struct man_arguments *arguments = state->input;
  switch (key) {
  case OPTION_DIRECTORY:
    arguments->directory = argument;
    return 0;
  case ARGP_KEY_ARG:
    if (arguments->page != NULL)
      cli_usage_error(arguments->command, "only one page at a time, not both '%s' and '%s'",
                      arguments->page, argument);
    arguments->page = argument;
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

const struct argp cli_man_argp = {
    options,
    parse_option,
    "[PAGE]",
    "Print a manual page in roff: that of gpumc, that of a command where PAGE is its name, or "
    "gpumc.yaml, which describes the keys of a configuration.\v"
    "Examples:\n"
    "  gpumc man run | man -l -\n"
    "  gpumc man gpumc.yaml | man -l -\n"
    "  gpumc man --directory ~/.local/share/man",
    NULL,
    NULL,
    NULL};

/* ---- pages of commands ---- */

static void append_option(struct gpumc_text *text, const struct manual_option *option)
{
  gpumc_text_append(text, ".TP\n");
  if (option->letter != 0)
    gpumc_text_append(text, "\\fB\\-%c\\fR%s", option->letter,
                      option->argument == NULL || option->optional ? ", " : "");
  if (option->letter != 0 && option->argument != NULL && !option->optional) {
    gpumc_text_append(text, " \\fI");
    man_words(text, option->argument);
    gpumc_text_append(text, "\\fR, ");
  }
  gpumc_text_append(text, "\\fB\\-\\-");
  man_words(text, option->name);
  gpumc_text_append(text, "\\fR");
  if (option->argument != NULL) {
    gpumc_text_append(text, option->optional ? "[=\\fI" : "=\\fI");
    man_words(text, option->argument);
    gpumc_text_append(text, option->optional ? "\\fR]" : "\\fR");
  }
  gpumc_text_append(text, "\n");
  man_line(text, option->doc);
}

static void append_synopsis(struct gpumc_text *text, const struct cli_command *command)
{
  gpumc_text_append(text, ".SH SYNOPSIS\n\\fBgpumc %s\\fR [\\fIOPTION\\fR...]", command->name);
  if (command->argp->args_doc != NULL && command->argp->args_doc[0] != '\0') {
    gpumc_text_append(text, " \\fI");
    man_words(text, command->argp->args_doc);
    gpumc_text_append(text, "\\fR");
  }
  gpumc_text_append(text, "\n");
}

/* What follows the options in argp's help: headings of examples, indented lines, and paragraphs. */
static void append_tail(struct gpumc_text *text, const char *tail)
{
  gpumc_text_append(text, ".SH EXAMPLES\n");
  while (*tail != '\0') {
    size_t length = strcspn(tail, "\n");
    if (strncmp(tail, "  ", 2) == 0) {
      struct gpumc_text lines = {0};
      for (; strncmp(tail, "  ", 2) == 0; tail += length + (tail[length] == '\n')) {
        length = strcspn(tail, "\n");
        gpumc_text_append(&lines, "%s%.*s", lines.length > 0 ? "\n" : "", (int)length - 2,
                          tail + 2);
      }
      man_example(text, gpumc_text_string(&lines), lines.length);
      text->failed = text->failed || lines.failed;
      gpumc_text_free(&lines);
      continue;
    }
    char *line = strndup(tail, length);
    text->failed = text->failed || line == NULL;
    if (line != NULL && length > 0 && line[length - 1] != ':') {
      man_paragraph(text);
      man_line(text, line);
    }
    free(line);
    tail += length + (tail[length] == '\n');
  }
}

/* `command`: NULL for the page of the program. */
static void append_exit_status(struct gpumc_text *text, const char *command)
{
  static const struct {
    int code;
    const char *meaning;
  } codes[] = {
      {GPUMC_OK, "done"},
      {GPUMC_FAILURE, "failure at run time: input, output, memory, a damaged file"},
      {GPUMC_INVALID, "a mistake in the command line or the configuration"},
      {GPUMC_DEVICE, "the requested device is unavailable, or failed"},
      {GPUMC_STOPPED, "stopped by a signal or the time limit; the same command continues the run"},
  };
  static const struct {
    const char *command;
    int code;
    const char *meaning; /* in place of the general one */
  } own[] = {
      {"compare", GPUMC_OK, "the results are compatible"},
      {"compare", 1, "the results are not compatible"},
      {"compare", 2,
       "no comparison: a mistake in the command line, an unreadable file, no point to compare, or "
       "output that cannot be written"},
      {"status", GPUMC_OK,
       "the states of the tasks were shown; with \\fB\\-\\-watch\\fR, all tasks are done"},
      {"status", GPUMC_FAILURE,
       "failure at run time: input, output, memory; with \\fB\\-\\-watch\\fR also if a task has "
       "failed or was refused"},
      {"status", GPUMC_INVALID, "a mistake in the command line or the configuration"},
  };
  const size_t n_own = sizeof own / sizeof *own;
  bool has_own = false;
  gpumc_text_append(text, ".SH EXIT STATUS\n");
  for (size_t i = 0; i < n_own; i++) {
    if (command == NULL || strcmp(own[i].command, command) != 0)
      continue;
    gpumc_text_append(text, ".TP\n\\fB%d\\fR\n%s\n", own[i].code, own[i].meaning);
    has_own = true;
  }
  for (size_t i = 0; !has_own && i < sizeof codes / sizeof *codes; i++)
    gpumc_text_append(text, ".TP\n\\fB%d\\fR\n%s\n", codes[i].code, codes[i].meaning);
}

static void append_command_page(struct gpumc_text *text, const struct cli_command *command)
{
  char title[64], name[64];
  struct manual_option option[MANUAL_OPTIONS_MAXIMUM];
  const size_t count = manual_options(command, option);
  const char *tail = strchr(command->argp->doc, '\v');
  const size_t length =
      tail != NULL ? (size_t)(tail - command->argp->doc) : strlen(command->argp->doc);
  char *description = strndup(command->argp->doc, length);
  snprintf(name, sizeof name, "gpumc-%s", command->name);
  snprintf(title, sizeof title, "GPUMC\\-%s", command->name);
  for (char *letter = title; *letter != '\0'; letter++)
    *letter = *letter >= 'a' && *letter <= 'z' ? (char)(*letter - 'a' + 'A') : *letter;
  man_head(text, title, 1, name, command->summary);
  append_synopsis(text, command);
  gpumc_text_append(text, ".SH DESCRIPTION\n");
  man_line(text, description != NULL ? description : "");
  text->failed = text->failed || description == NULL;
  free(description);
  gpumc_text_append(text, ".SH OPTIONS\n");
  for (size_t i = 0; i < count; i++)
    append_option(text, &option[i]);
  if (tail != NULL)
    append_tail(text, tail + 1);
  append_exit_status(text, command->name);
  gpumc_text_append(text, ".SH SEE ALSO\n.BR gpumc (1),\n.BR gpumc.yaml (5)\n");
}

/* ---- the page of the program ---- */

static const char environment[] = ".SH ENVIRONMENT\n"
                                  ".TP\n"
                                  ".B OMP_NUM_THREADS\n"
                                  "Number of host threads if \\fB\\-\\-threads\\fR is not given.\n"
                                  ".TP\n"
                                  ".BR OMP_WAIT_POLICY \", \" GOMP_SPINCOUNT\n"
                                  "How threads wait for each other; if neither is set, the program "
                                  "sets the second to a small number.\n"
                                  ".TP\n"
                                  ".B CUDA_VISIBLE_DEVICES\n"
                                  "The GPUs that the program can see.\n"
                                  ".TP\n"
                                  ".BR NO_COLOR \", \" TERM\n"
                                  "Output has no colours if the first is set and not empty, or if "
                                  "the second is dumb or not set.\n";

static const char files[] =
    ".SH FILES\n"
    ".TP\n"
    "\\fIOUTPUT\\fR\n"
    "The result, an HDF5 file, once it is complete.\n"
    ".TP\n"
    "\\fIOUTPUT\\fR.partial\n"
    "The rows so far, readable during the run.\n"
    ".TP\n"
    "\\fIOUTPUT\\fR.ckpt, \\fIOUTPUT\\fR.log, \\fIOUTPUT\\fR.status, \\fIOUTPUT\\fR.lock\n"
    "What a run needs in order to continue, and how it reports its state.\n";

static void append_program_page(struct gpumc_text *text, const struct cli_command *commands)
{
  static const char example[] = "gpumc init ising2d pa\ngpumc run ising2d-pa.yaml\n"
                                "gpumc info results/ising2d-pa-1.h5";
  man_head(text, "GPUMC", 1, "gpumc", "Monte Carlo simulations for statistical physics");
  gpumc_text_append(text,
                    ".SH SYNOPSIS\n"
                    "\\fBgpumc\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR...] [\\fIARGUMENT\\fR...]\n"
                    ".SH DESCRIPTION\n"
                    "A configuration, described in\n"
                    ".BR gpumc.yaml (5),\n"
                    "names a model, an algorithm and their parameters. The program checks it and "
                    "runs it on all cores or on a GPU.\n"
                    "A run survives being stopped at any instant, and leaves one HDF5 file with "
                    "observables and their errors.\n"
                    ".SH COMMANDS\n");
  for (const struct cli_command *command = commands; command->name != NULL; command++) {
    gpumc_text_append(text, ".TP\n.BR gpumc\\-%s (1)\n", command->name);
    man_line(text, command->summary);
  }
  gpumc_text_append(text, ".SH OPTIONS\n"
                          ".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nShow the commands.\n"
                          ".TP\n\\fB\\-V\\fR, \\fB\\-\\-version\\fR\nShow version and build.\n"
                          ".SH EXAMPLES\nA first result:\n");
  man_example(text, example, strlen(example));
  append_exit_status(text, NULL);
  gpumc_text_append(text, "%s%s.SH SEE ALSO\n.BR gpumc.yaml (5)\n", environment, files);
}

/* ---- which page ---- */

enum { PAGES_MOST = 64 };

static const struct cli_command *find_command(const struct cli_command *commands, const char *name)
{
  for (; commands->name != NULL; commands++)
    if (strcmp(commands->name, name) == 0)
      return commands;
  return NULL;
}

/* The title that every page of gpumc begins with. */
static bool is_page(const char *begin)
{
  const char *title = strstr(begin, "\"gpumc manual\"\n");
  return strncmp(begin, ".TH GPUMC", 9) == 0 && title != NULL &&
         memchr(begin, '\n', (size_t)(title - begin)) == NULL;
}

/* Pages on their way to DIR/man1/NAME.1: all of them or none. */
struct pages {
  const char *directory;
  size_t n;
  struct gpumc_user_file files[PAGES_MOST];
};

static enum gpumc_status write_page(struct pages *pages, const char *name, int section,
                                    const struct gpumc_text *text, struct gpumc_error *error)
{
  static const struct gpumc_user_file_rule rule = {
      .own = is_page, .remedy = "choose another folder, or move it away"};
  struct gpumc_user_file *file = &pages->files[pages->n];
  char *path = NULL;
  if (pages->n == PAGES_MOST || text->failed ||
      asprintf(&path, "%s/man%d/%s.%d", pages->directory, section, name, section) < 0)
    return gpumc_error_set(error, GPUMC_FAILURE, "out of memory while writing a manual page");
  pages->n++;
  enum gpumc_status status;
  GPUMC_TRY_OUT(status, gpumc_user_file_name(file, path, &rule, error));
  GPUMC_TRY_OUT(status, gpumc_directory_prepare(path, error));
  GPUMC_TRY_OUT(status, gpumc_user_file_open(file, error));
  (void)fwrite(text->characters, 1, text->length, file->stream);
  status = gpumc_user_file_close(file, error);
out:
  free(path);
  return status;
}

static enum gpumc_status
write_pages(const struct cli_command *commands, const char *directory, struct gpumc_error *error)
{
  struct gpumc_text text = {0};
  struct pages pages = {.directory = directory};
  enum gpumc_status status = GPUMC_OK;
  append_program_page(&text, commands);
  GPUMC_TRY_OUT(status, write_page(&pages, "gpumc", 1, &text, error));
  for (const struct cli_command *command = commands; command->name != NULL; command++) {
    char name[64];
    snprintf(name, sizeof name, "gpumc-%s", command->name);
    gpumc_text_free(&text);
    append_command_page(&text, command);
    GPUMC_TRY_OUT(status, write_page(&pages, name, 1, &text, error));
  }
  gpumc_text_free(&text);
  GPUMC_TRY_OUT(status, man_language(&text, error));
  GPUMC_TRY_OUT(status, write_page(&pages, MANUAL_LANGUAGE_PAGE, 5, &text, error));
  status = gpumc_user_files_publish(pages.files, pages.n, status, error);
out:
  gpumc_user_files_free(pages.files, pages.n);
  gpumc_text_free(&text);
  return status;
}

int cli_man(const struct cli_command *commands, int argc, char **argv)
{
  struct man_arguments arguments = {.command = argv[0]};
  struct gpumc_error error = {0};
  struct gpumc_text text = {0};
  enum gpumc_status status = GPUMC_OK;
  cli_parse(&cli_man_argp, argc, argv, &arguments);
  const char *page = arguments.page;
  if (arguments.directory != NULL && page != NULL)
    cli_usage_error(argv[0], "--directory writes all pages: leave '%s' out", page);
  if (arguments.directory != NULL) {
    status = write_pages(commands, arguments.directory, &error);
    return status == GPUMC_OK ? GPUMC_OK : cli_fail(&error);
  }
  const struct cli_command *command = page != NULL ? find_command(commands, page) : NULL;
  if (page == NULL)
    append_program_page(&text, commands);
  else if (strcmp(page, MANUAL_LANGUAGE_PAGE) == 0)
    status = man_language(&text, &error);
  else if (command != NULL)
    append_command_page(&text, command);
  else
    cli_usage_error(argv[0], "there is no page for '%s': name a command, or " MANUAL_LANGUAGE_PAGE,
                    page);
  if (status == GPUMC_OK && text.failed)
    status = gpumc_error_set(&error, GPUMC_FAILURE, "out of memory while writing a manual page");
  if (status == GPUMC_OK)
    fputs(gpumc_text_string(&text), stdout);
  gpumc_text_free(&text);
  return status == GPUMC_OK ? GPUMC_OK : cli_fail(&error);
}
