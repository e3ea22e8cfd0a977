/* What commands say: messages, JSON, text that is printed from JSON, and tables. */
#include "cli/cli.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/text.h"

/* ---- colours ---- */

static enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } color = COLOR_AUTO; /* of the program */

static const char *const style_codes[] = {
    [CLI_HEADING] = "\033[1m", [CLI_ERROR] = "\033[1;31m", [CLI_WARNING] = "\033[33m",
    [CLI_GOOD] = "\033[32m",   [CLI_WORKING] = "\033[36m",
};

bool cli_color_choose(const char *when)
{
  static const char *const words[] = {
      [COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never"};
  for (int i = COLOR_AUTO; i <= COLOR_NEVER; i++)
    if (strcmp(when, words[i]) == 0) {
      color = i;
      return true;
    }
  return false;
}

/* As no-color.org has it: a variable that is set and empty counts as none. A stream in memory is
 * printed on standard output in the end. */
static bool has_colors(FILE *stream)
{
  const char *const refusal = getenv("NO_COLOR"), *const terminal = getenv("TERM");
  if (color != COLOR_AUTO)
    return color == COLOR_ALWAYS;
  return (refusal == NULL || refusal[0] == '\0') && terminal != NULL &&
         strcmp(terminal, "dumb") != 0 &&
         isatty(fileno(stream) >= 0 ? fileno(stream) : STDOUT_FILENO) == 1;
}

const char *cli_style_on(FILE *stream, enum cli_style style)
{
  return style != CLI_PLAIN && has_colors(stream) ? style_codes[style] : "";
}

const char *cli_style_off(FILE *stream, enum cli_style style)
{
  return style != CLI_PLAIN && has_colors(stream) ? "\033[0m" : "";
}

void cli_print_help(const char *text)
{
  static const char usage[] = "Usage:";
  const char *const on = cli_style_on(stdout, CLI_HEADING);
  const char *const off = cli_style_off(stdout, CLI_HEADING);
  while (*text != '\0') {
    const int length = (int)strcspn(text, "\n");
    const int bold = strncmp(text, usage, strlen(usage)) == 0                  ? (int)strlen(usage)
                     : length > 0 && text[0] != ' ' && text[length - 1] == ':' ? length
                                                                               : 0;
    if (bold > 0)
      printf("%s%.*s%s", on, bold, text, off);
    printf("%.*s", length - bold, text + bold);
    text += length;
    if (*text == '\n')
      putchar(*text++);
  }
}

/* ---- messages ---- */

/* The first part of the message, with question marks for control characters. */
static void say_without_memory(FILE *stream, const char *format, va_list arguments)
{
  char said[1024];
  if (vsnprintf(said, sizeof said, format, arguments) < 0)
    return;
  for (char *next = said; *next != '\0'; next++)
    if ((unsigned char)*next < ' ' && *next != '\n')
      *next = '?';
  fputs(said, stream);
}

/* Line breaks belong to the format, or to a text that was made elsewhere, "%s"; any other is in a
 * name of the user's, and escaped. */
static void say_list(FILE *stream, const char *format, va_list arguments)
{
  struct gpumc_text text = {0};
  char *said = NULL;
  va_list again;
  va_copy(again, arguments);
  if (vasprintf(&said, format, arguments) < 0) {
    say_without_memory(stream, format, again);
    va_end(again);
    return;
  }
  const size_t own = strcspn(format, "\n"), ends = strlen(format) - own;
  const bool is_line = strspn(format + own, "\n") == ends && strncmp(format, "%s", own) != 0;
  const size_t length = strlen(said) - (is_line ? ends : 0);
  if (is_line)
    said[length] = '\0';
  gpumc_text_append_escaped(&text, said, is_line ? GPUMC_ESCAPES_TEXT : GPUMC_ESCAPES_LINES);
  if (text.failed)
    say_without_memory(stream, format, again);
  else
    fprintf(stream, "%s%s", gpumc_text_string(&text), is_line ? format + own : "");
  va_end(again);
  gpumc_text_free(&text);
  free(said);
}

void cli_say(FILE *stream, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  say_list(stream, format, arguments);
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

static void begin_message(const char *label, const char *word, enum cli_style style)
{
  cli_say(stderr, "gpumc: %s", label);
  fprintf(stderr, "%s%s:%s ", cli_style_on(stderr, style), word, cli_style_off(stderr, style));
}

void cli_warning(const char *label, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  begin_message(label, "warning", CLI_WARNING);
  say_list(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
}

void cli_error(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  begin_message("", "error", CLI_ERROR);
  say_list(stderr, format, arguments);
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
  begin_message("", "error", CLI_ERROR);
  say_list(stderr, format, arguments);
  fprintf(stderr, "\nTry '%s --help'.\n", command);
  va_end(arguments);
  exit(GPUMC_INVALID);
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

const char *cli_text(const cJSON *json, const char *name)
{
  const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, name));
  return text != NULL ? text : "";
}

double cli_number(const cJSON *json, const char *name)
{
  const cJSON *number = cJSON_GetObjectItemCaseSensitive(json, name);
  return cJSON_IsNumber(number) ? number->valuedouble : NAN;
}

bool cli_true(const cJSON *json, const char *name)
{
  return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, name));
}

bool cli_has(const cJSON *json, const char *name)
{
  return cJSON_GetObjectItemCaseSensitive(json, name) != NULL;
}

const cJSON *cli_member(const cJSON *json, const char *name)
{
  return cJSON_GetObjectItemCaseSensitive(json, name);
}

const cJSON *cli_first(const cJSON *json)
{
  return json != NULL ? json->child : NULL;
}

int cli_report(cJSON *json, bool as_json, void (*print)(const cJSON *json))
{
  if (as_json || json == NULL)
    return cli_print_json(json);
  print(json);
  cJSON_Delete(json);
  return GPUMC_OK;
}

const char *cli_rate_text(double updates_per_second, const char *unit, char text[static 32])
{
  if (strcmp(unit, "flips") == 0)
    snprintf(text, 32, "%.3g flips/ns", updates_per_second * 1e-9);
  else
    snprintf(text, 32, "%.3g %.10s/s", updates_per_second, unit);
  return text;
}

void cli_table_cell(struct cli_table *table, const char *format, ...)
{
  if (table->n_cells == table->capacity) {
    size_t capacity = table->capacity > 0 ? 2 * table->capacity : 64;
    struct cli_cell *grown = realloc(table->cells, capacity * sizeof *grown);
    if (grown == NULL)
      return;
    table->cells = grown;
    table->capacity = capacity;
  }
  va_list arguments;
  va_start(arguments, format);
  char *cell;
  if (vasprintf(&cell, format, arguments) < 0)
    cell = NULL;
  va_end(arguments);
  table->cells[table->n_cells++] = (struct cli_cell){.text = cell != NULL ? cli_line(cell) : NULL};
  free(cell);
}

void cli_table_style(struct cli_table *table, enum cli_style style)
{
  if (table->n_cells > 0)
    table->cells[table->n_cells - 1].style = style;
}

/* Characters on the screen of UTF-8 text. */
static int screen_width(const char *text)
{
  int width = 0;
  for (; *text != '\0'; text++)
    width += ((unsigned char)*text & 0xc0) != 0x80;
  return width;
}

static const char *cell_text(const struct cli_table *table, size_t cell)
{
  return cell < table->n_cells && table->cells[cell].text != NULL ? table->cells[cell].text : "";
}

static void print_row(const struct cli_table *table, size_t first, const int *width, int indent)
{
  printf("%*s", indent, "");
  for (size_t c = 0; c < table->columns; c++) {
    const char *text = cell_text(table, first + c);
    const enum cli_style style = first + c < table->n_cells ? table->cells[first + c].style : 0;
    const char *on = cli_style_on(stdout, style), *off = cli_style_off(stdout, style);
    int padding = width[c] - screen_width(text);
    bool last = c + 1 == table->columns;
    if (table->right[c])
      printf("%*s%s%s%s", padding, "", on, text, off);
    else
      printf("%s%s%s%*s", on, text, off, last ? 0 : padding, "");
    fputs(last ? "\n" : "  ", stdout);
  }
}

static void free_table(struct cli_table *table)
{
  for (size_t i = 0; i < table->n_cells; i++)
    free(table->cells[i].text);
  free(table->cells);
  memset(table, 0, sizeof *table);
}

void cli_table_print(struct cli_table *table, int indent)
{
  int width[CLI_TABLE_COLUMNS] = {0};
  for (size_t i = 0; i < table->n_cells; i++) {
    int own = screen_width(cell_text(table, i));
    if (own > width[i % table->columns])
      width[i % table->columns] = own;
  }
  for (size_t first = 0; first < table->n_cells; first += table->columns)
    print_row(table, first, width, indent);
  free_table(table);
}

/* ---- the command line ---- */

char *cli_command_line(int argc, char **argv)
{
  struct gpumc_text text = {0};
  for (int i = 0; i < argc; i++)
    gpumc_text_append(&text,
                      i == 0                       ? "%s"
                      : strpbrk(argv[i], " \t'\"") ? " \"%s\""
                                                   : " %s",
                      argv[i]);
  char *line = strdup(gpumc_text_string(&text));
  gpumc_text_free(&text);
  return line;
}
