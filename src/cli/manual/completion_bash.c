/* The script by which bash completes. */
#include <stdio.h>
#include <string.h>

#include "cli/manual/completion.h"

/* "    echo 'words auto cpu' ;;" after a pattern of a case; nothing where anything may follow. */
static void bash_values(struct gpumc_text *text, const struct cli_command *commands,
                        const char *pattern, const char *name)
{
  struct gpumc_text words = {0};
  const enum manual_kind kind = manual_values(commands, name, &words);
  if (kind != MANUAL_ANYTHING)
    gpumc_text_append(text, "    %s) echo '%s%s' ;;\n", pattern, completion_kind(kind)->bash,
                      gpumc_text_string(&words));
  text->failed = text->failed || words.failed;
  gpumc_text_free(&words);
}

static void bash_command(struct gpumc_text *options, struct gpumc_text *values,
                         struct gpumc_text *arguments, const struct cli_command *commands,
                         const struct cli_command *command)
{
  struct manual_option option[MANUAL_OPTIONS_MAXIMUM];
  struct manual_argument argument[MANUAL_ARGUMENTS_MAXIMUM];
  char pattern[128];
  const size_t n_options = manual_options(command, option);
  const size_t n_arguments = manual_arguments(command, argument);
  gpumc_text_append(options, "    %s) echo '", command->name);
  for (size_t i = 0; i < n_options; i++) {
    gpumc_text_append(options, "%s--%s", i > 0 ? " " : "", option[i].name);
    if (option[i].letter != 0)
      gpumc_text_append(options, " -%c", option[i].letter);
    snprintf(pattern, sizeof pattern, "%s:--%s", command->name, option[i].name);
    if (option[i].letter != 0)
      snprintf(pattern + strlen(pattern), sizeof pattern - strlen(pattern), "|%s:-%c",
               command->name, option[i].letter);
    if (option[i].argument != NULL && !option[i].optional) {
      struct gpumc_text words = {0};
      if (manual_values(commands, option[i].argument, &words) == MANUAL_ANYTHING)
        gpumc_text_append(values, "    %s) echo nothing ;;\n", pattern);
      gpumc_text_free(&words);
      bash_values(values, commands, pattern, option[i].argument);
    }
  }
  gpumc_text_append(options, "' ;;\n");
  for (size_t i = 0; i < n_arguments; i++) {
    snprintf(pattern, sizeof pattern, argument[i].repeated ? "%s:*" : "%s:%zu", command->name, i);
    bash_values(arguments, commands, pattern, argument[i].name);
  }
}

static const char bash_body[] =
    "# The words of the line up to the cursor, not broken at = and :, as bash breaks them.\n"
    "_gpumc_split() {\n"
    "  local line=$COMP_LINE token i\n"
    "  words=()\n"
    "  for ((i = 0; i <= COMP_CWORD; i++)); do\n"
    "    token=${COMP_WORDS[i]}\n"
    "    if ((i == 0)) || [[ $line == [[:blank:]]* ]]; then\n"
    "      line=${line#\"${line%%[![:blank:]]*}\"}\n"
    "      words+=(\"$token\")\n"
    "    else\n"
    "      words[${#words[@]} - 1]+=$token\n"
    "    fi\n"
    "    line=${line:${#token}}\n"
    "  done\n"
    "}\n"
    "\n"
    "# Completes $1 as the kind $2 says.\n"
    "_gpumc_reply() {\n"
    "  local word=$1 kind=$2\n"
    "  case $kind in\n"
    "    words\\ *) mapfile -t COMPREPLY < <(compgen -W \"${kind#words }\" -- \"$word\") ;;\n"
    "    files) compopt -o filenames 2>/dev/null\n"
    "      mapfile -t COMPREPLY < <(compgen -f -- \"$word\") ;;\n"
    "    yaml | h5) compopt -o filenames 2>/dev/null\n"
    "      local pattern='!*.h5*'\n"
    "      [[ $kind == yaml ]] && pattern='!*.y?(a)ml'\n"
    "      mapfile -t COMPREPLY < <(shopt -s extglob\n"
    "        compgen -f -X \"$pattern\" -- \"$word\"; compgen -d -- \"$word\") ;;\n"
    "    keys)\n"
    "      if [[ $word == *=* ]]; then\n"
    "        mapfile -t COMPREPLY < <(compgen -P \"${word%%=*}=\" \\\n"
    "          -W \"$(_gpumc_choices \"${word%%=*}\")\" -- \"${word#*=}\")\n"
    "      else\n"
    "        compopt -o nospace 2>/dev/null\n"
    "        mapfile -t COMPREPLY < <(compgen -W \"$_gpumc_keys\" -- \"$word\")\n"
    "      fi ;;\n"
    "  esac\n"
    "}\n"
    "\n"
    "_gpumc() {\n"
    "  local words=() command word before i n=0 prefix=''\n"
    "  COMPREPLY=()\n"
    "  _gpumc_split\n"
    "  word=${words[${#words[@]} - 1]}\n"
    "  command=${words[1]:-}\n"
    "  if ((${#words[@]} <= 2)); then\n"
    "    mapfile -t COMPREPLY < <(compgen -W \"$_gpumc_commands help --help --version\" -- "
    "\"$word\")\n"
    "    return\n"
    "  fi\n"
    "  if [[ $command == help ]]; then\n"
    "    mapfile -t COMPREPLY < <(compgen -W \"$_gpumc_commands\" -- \"$word\")\n"
    "    return\n"
    "  fi\n"
    "  before=${words[${#words[@]} - 2]}\n"
    "  for ((i = 2; i < ${#words[@]} - 1; i++)); do\n"
    "    if [[ ${words[i]} == -* ]]; then\n"
    "      [[ ${words[i]} != *=* && -n $(_gpumc_values \"$command:${words[i]}\") ]] && ((i++))\n"
    "    else\n"
    "      ((n++))\n"
    "    fi\n"
    "  done\n"
    "  if [[ $word == --*=* ]]; then\n"
    "    prefix=${word%%=*}=\n"
    "    _gpumc_reply \"${word#*=}\" \"$(_gpumc_values \"$command:${word%%=*}\")\"\n"
    "  elif [[ -n $(_gpumc_values \"$command:$before\") ]]; then\n"
    "    _gpumc_reply \"$word\" \"$(_gpumc_values \"$command:$before\")\"\n"
    "  elif [[ $word == -* ]]; then\n"
    "    mapfile -t COMPREPLY < <(compgen -W \"$(_gpumc_options \"$command\")\" -- \"$word\")\n"
    "  else\n"
    "    _gpumc_reply \"$word\" \"$(_gpumc_arguments \"$command:$n\")\"\n"
    "  fi\n"
    "  # Bash puts the answer in place of what follows the last = or : alone.\n"
    "  COMPREPLY=(\"${COMPREPLY[@]/#/$prefix}\")\n"
    "  local broken=''\n"
    "  [[ $COMP_WORDBREAKS == *=* && $word == *=* ]] && broken=${word%\"${word##*=}\"}\n"
    "  [[ $COMP_WORDBREAKS == *:* && $word == *:* ]] && broken=${word%\"${word##*[:=]}\"}\n"
    "  [[ -z ${COMPREPLY[*]} ]] && COMPREPLY=()\n"
    "  COMPREPLY=(\"${COMPREPLY[@]#\"$broken\"}\")\n"
    "}\n"
    "complete -F _gpumc gpumc\n";

void completion_write_bash(const struct cli_command *commands, const struct manual_keys *keys,
                           struct gpumc_text *text)
{
  struct gpumc_text options = {0}, values = {0}, arguments = {0};
  gpumc_text_append(text, "# Completion of gpumc for bash, by `gpumc completion bash`.\n"
                          "_gpumc_commands='");
  for (const struct cli_command *command = commands; command->name != NULL; command++) {
    gpumc_text_append(text, "%s%s", command == commands ? "" : " ", command->name);
    bash_command(&options, &values, &arguments, commands, command);
  }
  gpumc_text_append(text, "'\n_gpumc_keys='");
  manual_append_keys(text, keys);
  gpumc_text_append(text,
                    "'\n\n"
                    "_gpumc_options() {\n  case $1 in\n%s  esac\n}\n\n"
                    "# What the value of an option is.\n"
                    "_gpumc_values() {\n  case $1 in\n%s  esac\n}\n\n"
                    "# What the argument of a command is, counted from 0.\n"
                    "_gpumc_arguments() {\n  case $1 in\n%s  esac\n}\n\n"
                    "_gpumc_choices() {\n  case $1 in\n",
                    gpumc_text_string(&options), gpumc_text_string(&values),
                    gpumc_text_string(&arguments));
  for (size_t i = 0; i < keys->count; i++)
    if (keys->items[i].words.length > 0)
      gpumc_text_append(text, "    %s) echo '%s' ;;\n", keys->items[i].name,
                        gpumc_text_string(&keys->items[i].words));
  gpumc_text_append(text, "  esac\n}\n\n%s", bash_body);
  text->failed = text->failed || options.failed || values.failed || arguments.failed;
  gpumc_text_free(&options);
  gpumc_text_free(&values);
  gpumc_text_free(&arguments);
}
