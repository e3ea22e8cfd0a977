/* gpumc completion: what bash, zsh and fish complete, as a script of each. */
#include "cli/manual/completion.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/arguments.h"
#include "core/base/user_file.h"

struct completion_arguments {
  const char *command, *shell;
  const char *path; /* NULL: standard output */
};

static const struct argp_option own_options[] = {
    {"output", 'o', "FILE", 0, "Write FILE, in place of one of that name", 0}, {0}};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
  struct completion_arguments *arguments = state->input;
  if (key == 'o') {
    arguments->path = argument;
    return 0;
  }
  if (key != ARGP_KEY_ARG)
    return ARGP_ERR_UNKNOWN;
  if (arguments->shell != NULL)
    cli_usage_error(arguments->command, "one shell at a time: '%s' and '%s'", arguments->shell,
                    argument);
  arguments->shell = argument;
  return 0;
}

const struct argp cli_completion_argp = {
    own_options,
    parse_option,
    "bash|zsh|fish",
    "Print the script by which a shell completes commands, options, files, names of plugins, and "
    "the keys of --set with their values. An installed gpumc has the scripts where the shells look "
    "for them.\v"
    "Examples:\n"
    "  source <(gpumc completion bash)\n"
    "  gpumc completion zsh > ~/.zfunc/_gpumc\n"
    "  gpumc completion fish > ~/.config/fish/completions/gpumc.fish\n\n"
    "The folder of the zsh script must be in fpath before compinit is called.",
    NULL,
    NULL,
    NULL};

/* With each of these `characters` escaped by `escape` in front of it. */
static void append_escaped(struct gpumc_text *text, const char *words, const char *characters,
                           const char *escape)
{
  for (; *words != '\0'; words++)
    gpumc_text_append(text, "%s%c", strchr(characters, *words) != NULL ? escape : "", *words);
}

/* ---- zsh ---- */

/* ":FILE:_files", an action of _arguments, within single quotes. */
static void
zsh_action(struct gpumc_text *text, const struct cli_command *commands, const char *name)
{
  struct gpumc_text words = {0};
  const struct completion_kind *kind = completion_kind(manual_values(commands, name, &words));
  gpumc_text_append(text, ":");
  append_escaped(text, name, ":", "\\");
  gpumc_text_append(text, ":%s%s%s", kind->zsh, gpumc_text_string(&words), kind->zsh_end);
  text->failed = text->failed || words.failed;
  gpumc_text_free(&words);
}

static void zsh_doc(struct gpumc_text *text, const char *doc)
{
  for (; *doc != '\0'; doc++)
    gpumc_text_append(text, *doc == '\'' ? "'\\''" : strchr("[]:\\", *doc) ? "\\%c" : "%c", *doc);
}

static void zsh_command(struct gpumc_text *text, const struct cli_command *commands,
                        const struct cli_command *command)
{
  struct manual_option option[MANUAL_OPTIONS_MAXIMUM];
  struct manual_argument argument[MANUAL_ARGUMENTS_MAXIMUM];
  const size_t n_options = manual_options(command, option);
  const size_t n_arguments = manual_arguments(command, argument);
  gpumc_text_append(text, "      %s)\n        _arguments -s", command->name);
  for (size_t i = 0; i < n_options; i++) {
    const bool repeated =
        option[i].argument != NULL && strcmp(option[i].argument, "KEY=VALUE") == 0;
    const char *const value = option[i].argument == NULL ? "" : option[i].optional ? "=-" : "=";
    gpumc_text_append(text, " \\\n          ");
    if (option[i].letter != 0)
      gpumc_text_append(text, "'(-%c --%s)'{-%c%s,--%s%s}'[", option[i].letter, option[i].name,
                        option[i].letter, option[i].argument != NULL ? "+" : "", option[i].name,
                        value);
    else
      gpumc_text_append(text, "'%s--%s%s[", repeated ? "*" : "", option[i].name, value);
    zsh_doc(text, option[i].doc);
    gpumc_text_append(text, "]");
    if (option[i].argument != NULL && option[i].optional)
      gpumc_text_append(text, ":");
    if (option[i].argument != NULL)
      zsh_action(text, commands, option[i].argument);
    gpumc_text_append(text, "'");
  }
  for (size_t i = 0; i < n_arguments; i++) {
    gpumc_text_append(text, argument[i].repeated ? " \\\n          '*" : " \\\n          '%zu",
                      i + 1);
    zsh_action(text, commands, argument[i].name);
    gpumc_text_append(text, "'");
  }
  gpumc_text_append(text, " ;;\n");
}

static void write_zsh(const struct cli_command *commands, const struct manual_keys *keys,
                      struct gpumc_text *text)
{
  gpumc_text_append(text, "#compdef gpumc\n# Completion of gpumc for zsh, by `gpumc completion "
                          "zsh`.\n\n"
                          "_gpumc_keys() {\n"
                          "  local -a found\n"
                          "  if compset -P 1 '*='; then\n"
                          "    case $IPREFIX in\n");
  for (size_t i = 0; i < keys->count; i++)
    if (keys->items[i].words.length > 0)
      gpumc_text_append(text, "      *%s=) found=(%s) ;;\n", keys->items[i].name,
                        gpumc_text_string(&keys->items[i].words));
  gpumc_text_append(text, "    esac\n"
                          "    compadd -a found\n"
                          "  else\n"
                          "    found=(");
  manual_append_keys(text, keys);
  gpumc_text_append(text, ")\n"
                          "    compadd -S '' -a found\n"
                          "  fi\n"
                          "}\n\n"
                          "_gpumc() {\n"
                          "  local curcontext=$curcontext state line\n"
                          "  local -a commands\n"
                          "  commands=(\n");
  for (const struct cli_command *command = commands; command->name != NULL; command++) {
    gpumc_text_append(text, "    '%s:", command->name);
    zsh_doc(text, command->summary);
    gpumc_text_append(text, "'\n");
  }
  gpumc_text_append(text, "    'help:explain a command'\n"
                          "  )\n"
                          "  _arguments -C '(- *)'{-h,--help}'[show the commands]' \\\n"
                          "    '(- *)'{-V,--version}'[show version and build]' \\\n"
                          "    '1: :->command' '*:: :->arguments'\n"
                          "  case $state in\n"
                          "  command) _describe command commands ;;\n"
                          "  arguments)\n"
                          "    case $words[1] in\n"
                          "      help) _describe command commands ;;\n");
  for (const struct cli_command *command = commands; command->name != NULL; command++)
    zsh_command(text, commands, command);
  gpumc_text_append(text, "    esac ;;\n"
                          "  esac\n"
                          "}\n\n"
                          "if [[ $funcstack[1] == _gpumc ]]; then\n"
                          "  _gpumc \"$@\"\n"
                          "else\n"
                          "  compdef _gpumc gpumc\n"
                          "fi\n");
}

/* ---- fish ---- */

static void fish_values(struct gpumc_text *text, const struct cli_command *commands,
                        const char *name, bool of_option)
{
  struct gpumc_text words = {0};
  const struct completion_kind *kind = completion_kind(manual_values(commands, name, &words));
  gpumc_text_append(text, "%s%s%s%s", of_option ? kind->fish_option : "", kind->fish,
                    gpumc_text_string(&words), kind->fish_end);
  text->failed = text->failed || words.failed;
  gpumc_text_free(&words);
}

static void fish_command(struct gpumc_text *text, const struct cli_command *commands,
                         const struct cli_command *command)
{
  struct manual_option option[MANUAL_OPTIONS_MAXIMUM];
  struct manual_argument argument[MANUAL_ARGUMENTS_MAXIMUM];
  const size_t n_options = manual_options(command, option);
  const size_t n_arguments = manual_arguments(command, argument);
  const char *const begin = "complete -c gpumc -n '__fish_seen_subcommand_from";
  for (size_t i = 0; i < n_options; i++) {
    gpumc_text_append(text, "%s %s' -l %s", begin, command->name, option[i].name);
    if (option[i].letter != 0)
      gpumc_text_append(text, " -s %c", option[i].letter);
    if (option[i].argument != NULL && !option[i].optional)
      fish_values(text, commands, option[i].argument, true);
    gpumc_text_append(text, " -d '");
    append_escaped(text, option[i].doc, "'\\", "\\");
    gpumc_text_append(text, "'\n");
  }
  for (size_t i = 0; i < n_arguments; i++) {
    gpumc_text_append(text, "%s %s'", begin, command->name);
    fish_values(text, commands, argument[i].name, false);
    gpumc_text_append(text, "\n");
  }
}

static void write_fish(const struct cli_command *commands, const struct manual_keys *keys,
                       struct gpumc_text *text)
{
  gpumc_text_append(text, "# Completion of gpumc for fish, by `gpumc completion fish`.\n"
                          "function __gpumc_keys\n"
                          "  for key in ");
  manual_append_keys(text, keys);
  gpumc_text_append(text, "\n    echo $key\n  end\n");
  for (size_t i = 0; i < keys->count; i++)
    if (keys->items[i].words.length > 0)
      gpumc_text_append(text, "  printf '%%s\\n' %s={", keys->items[i].name),
          append_escaped(text, gpumc_text_string(&keys->items[i].words), "", ""),
          gpumc_text_append(text, "}\n");
  for (size_t i = 0; !text->failed && i < text->length; i++)
    if (text->characters[i] == '{') /* words of a list in braces stand between commas */
      for (; text->characters[i] != '}'; i++)
        if (text->characters[i] == ' ')
          text->characters[i] = ',';
  gpumc_text_append(text, "end\n\n"
                          "complete -c gpumc -f\n"
                          "complete -c gpumc -n __fish_use_subcommand -s h -l help -d 'Show the "
                          "commands'\n"
                          "complete -c gpumc -n __fish_use_subcommand -s V -l version -d 'Show "
                          "version and build'\n"
                          "complete -c gpumc -n __fish_use_subcommand -a help -d 'explain a "
                          "command'\n");
  for (const struct cli_command *command = commands; command->name != NULL; command++) {
    gpumc_text_append(text, "complete -c gpumc -n __fish_use_subcommand -a %s -d '", command->name);
    append_escaped(text, command->summary, "'\\", "\\");
    gpumc_text_append(text, "'\ncomplete -c gpumc -n '__fish_seen_subcommand_from help' -a %s\n",
                      command->name);
  }
  for (const struct cli_command *command = commands; command->name != NULL; command++)
    fish_command(text, commands, command);
}

static bool is_completion(const char *begin)
{
  const char *comment = strstr(begin, "# Completion of gpumc for ");
  return comment == begin || (comment != NULL && strncmp(begin, "#compdef gpumc\n", 15) == 0);
}

int cli_completion(const struct cli_command *commands, int argc, char **argv)
{
  static const struct gpumc_user_file_rule rule = {
      .own = is_completion, .remedy = "choose another name with -o, or move it away"};
  static const struct {
    const char *name;
    void (*write)(const struct cli_command *commands, const struct manual_keys *keys,
                  struct gpumc_text *text);
  } shells[] = {{"bash", completion_write_bash}, {"zsh", write_zsh}, {"fish", write_fish}};
  enum { N_SHELLS = sizeof shells / sizeof *shells };
  struct completion_arguments arguments = {.command = argv[0]};
  struct manual_keys keys = {0};
  struct gpumc_text text = {0};
  size_t shell = 0;
  cli_parse(&cli_completion_argp, argc, argv, &arguments);
  if (arguments.shell == NULL)
    cli_usage_error(argv[0], "a shell is missing: bash, zsh or fish");
  while (shell < N_SHELLS && strcmp(shells[shell].name, arguments.shell) != 0)
    shell++;
  if (shell == N_SHELLS)
    cli_usage_error(argv[0], "unknown shell '%s'; there are bash, zsh and fish", arguments.shell);
  bool good = manual_find_keys(&keys);
  if (good)
    shells[shell].write(commands, &keys, &text);
  good = good && !text.failed;
  manual_free_keys(&keys);
  struct gpumc_error error = {0};
  enum gpumc_status status = GPUMC_OK;
  if (!good)
    status = gpumc_error_set(&error, GPUMC_FAILURE, "out of memory while writing a completion");
  else if (arguments.path != NULL)
    status = gpumc_user_file_write(arguments.path, &text, &rule, &error);
  else
    fputs(gpumc_text_string(&text), stdout);
  gpumc_text_free(&text);
  return status == GPUMC_OK ? GPUMC_OK : cli_fail(&error);
}
