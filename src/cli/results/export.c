/* gpumc export: the tables of a result as CSV (RFC 4180), every number with all its digits. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/arguments.h"
#include "cli/cli.h"
#include "core/base/files.h"
#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/base/user_file.h"
#include "core/storage/result_info.h"
#include "core/storage/result_tables.h"

enum { OPTION_CSV = CLI_OPTION_OWN, OPTION_LIST, OPTION_FRESH };

/* Numbers of a column that are read at a time. */
enum { BLOCK_NUMBERS = 1 << 16 };

struct export_arguments {
  const char *command, *path, *directory;
  const char **wanted; /* names of tables; borrowed from argv */
  size_t n_wanted;
  bool list, temperature, fresh;
};

static const struct argp_option options[] = {
    {"csv", OPTION_CSV, NULL, 0, "Write CSV, the default and only format", 0},
    {"list", OPTION_LIST, NULL, 0, "List the tables of the file", 0},
    {"output", 'o', "DIR", 0, "Write each table to a file in DIR, all of them if none is named", 0},
    {"fresh", OPTION_FRESH, NULL, 0, "Replace existing regular files", 0},
    {"temperature", 'T', NULL, 0, "Add a column of temperatures next to inverse temperatures", 0},
    {0}};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
  struct export_arguments *arguments = state->input;
  switch (key) {
  case OPTION_CSV:
    return 0;
  case OPTION_LIST:
    arguments->list = true;
    return 0;
  case OPTION_FRESH:
    arguments->fresh = true;
    return 0;
  case 'o':
    arguments->directory = argument;
    return 0;
  case 'T':
    arguments->temperature = true;
    return 0;
  case ARGP_KEY_ARG:
    if (arguments->path == NULL)
      arguments->path = argument;
    else
      arguments->wanted[arguments->n_wanted++] = argument;
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

const struct argp cli_export_argp = {
    options,
    parse_option,
    "RESULT [TABLE...]",
    "Write tables of a result as CSV: the summary to standard output, or the named tables, or with "
    "-o all of them to files. Errors stand next to their values, columns are headed by \"name "
    "[units]\", and numbers read back exactly as they are in the file. Working files "
    "(RESULT.partial) are read as far as they have been written.\v"
    "Examples:\n"
    "  gpumc export results/ising.h5 > ising.csv\n"
    "  gpumc export results/ising.h5 runs/0000 -T\n"
    "  gpumc export results/ising.h5 --list\n"
    "  gpumc export results/ising.h5 -o tables/",
    NULL,
    NULL,
    NULL};

/* ---- one table ---- */

/* Quoted where it has to be. */
static void write_field(FILE *stream, const char *text)
{
  if (strpbrk(text, ",\"\r\n") == NULL) {
    fputs(text, stream);
    return;
  }
  fputc('"', stream);
  for (; *text != '\0'; text++) {
    if (*text == '"')
      fputc('"', stream);
    fputc(*text, stream);
  }
  fputc('"', stream);
}

static void write_title(FILE *stream, const char *name, const char *units)
{
  struct gpumc_text title = {0};
  const bool plain = units[0] == '\0' || strcmp(units, "1") == 0;
  gpumc_text_append(&title, plain ? "%s" : "%s [%s]", name, units);
  write_field(stream, gpumc_text_string(&title));
  gpumc_text_free(&title);
}

static void write_number(FILE *stream, double value, bool integer)
{
  if (isnan(value))
    fputs("nan", stream);
  else
    fprintf(stream, integer ? "%.0f" : "%.17g", value);
}

static bool is_beta(const struct gpumc_result_column *axis)
{
  return strcmp(axis->name, "beta") == 0;
}

/* Beside temperatures, the index of one may not have their name. */
static const char *heading(const struct gpumc_result_column *axis, bool temperature)
{
  const bool is_index = axis->integer || axis->path == NULL;
  return temperature && is_index && strcmp(axis->name, "temperature") == 0 ? "temperature_index"
                                                                           : axis->name;
}

static void write_header(FILE *stream, const struct gpumc_result_table *table, bool temperature)
{
  const char *comma = "";
  for (size_t d = 0; d < table->rank; d++) {
    const struct gpumc_result_column *axis = &table->axes[d];
    fputs(comma, stream);
    write_title(stream, heading(axis, temperature), axis->units);
    comma = ",";
    if (temperature && is_beta(axis)) {
      fputc(',', stream);
      write_title(stream, "temperature", strncmp(axis->units, "1/", 2) == 0 ? axis->units + 2 : "");
    }
  }
  for (size_t c = 0; c < table->n_columns; c++) {
    fputs(comma, stream);
    write_title(stream, table->columns[c].name, table->columns[c].units);
    comma = ",";
  }
  fputs("\r\n", stream);
}

/* Rows of a table on their way: axis[d] has all values of dimension d > 0, those of the block for
 * d = 0; column[c] has those of the block. */
struct block {
  double *axis[GPUMC_TABLE_RANK_MAXIMUM];
  double **column;
  size_t rows, width;
};

static void block_free(struct block *block, size_t n_columns)
{
  for (size_t d = 0; d < GPUMC_TABLE_RANK_MAXIMUM; d++)
    free(block->axis[d]);
  for (size_t c = 0; c < n_columns && block->column != NULL; c++)
    free(block->column[c]);
  free(block->column);
}

static enum gpumc_status block_make(const struct gpumc_result_tables *tables,
                                    const struct gpumc_result_table *table, struct block *block,
                                    struct gpumc_error *error)
{
  block->width = gpumc_result_table_width(table);
  block->rows = block->width < BLOCK_NUMBERS ? BLOCK_NUMBERS / (block->width + !block->width) : 1;
  GPUMC_TRY(gpumc_allocate_array(&block->axis[0], block->rows, "rows", error));
  for (size_t d = 1; d < table->rank; d++) {
    GPUMC_TRY(gpumc_allocate_array(&block->axis[d], table->shape[d] + 1, "an axis", error));
    GPUMC_TRY(gpumc_result_axis_read(tables, table, d, 0, table->shape[d], block->axis[d], error));
  }
  GPUMC_TRY(gpumc_allocate_array(&block->column, table->n_columns, "columns", error));
  for (size_t c = 0; c < table->n_columns; c++)
    GPUMC_TRY(
        gpumc_allocate_array(&block->column[c], block->rows * block->width + 1, "rows", error));
  return GPUMC_OK;
}

/* The line of number `i` of the block. */
static void write_line(FILE *stream, const struct gpumc_result_table *table,
                       const struct block *block, size_t i, bool temperature)
{
  const char *comma = "";
  for (size_t d = 0; d < table->rank; d++) {
    size_t inner = 1;
    for (size_t k = d + 1; k < table->rank; k++)
      inner *= table->shape[k];
    const size_t place = d == 0 ? i / inner : i / inner % table->shape[d];
    const double value = block->axis[d][place];
    fputs(comma, stream);
    write_number(stream, value, table->axes[d].integer || table->axes[d].path == NULL);
    comma = ",";
    if (temperature && is_beta(&table->axes[d])) {
      fputc(',', stream);
      write_number(stream, 1 / value, false);
    }
  }
  for (size_t c = 0; c < table->n_columns; c++) {
    fputs(comma, stream);
    write_number(stream, block->column[c][i], table->columns[c].integer);
    comma = ",";
  }
  fputs("\r\n", stream);
}

static enum gpumc_status write_table(const struct gpumc_result_tables *tables,
                                     const struct gpumc_result_table *table, bool temperature,
                                     FILE *stream, struct gpumc_error *error)
{
  const size_t rows = table->rank > 0 ? table->shape[0] : 1;
  struct block block = {0};
  enum gpumc_status status = GPUMC_OK;
  write_header(stream, table, temperature);
  GPUMC_TRY_OUT(status, block_make(tables, table, &block, error));
  for (size_t first = 0; first < rows; first += block.rows) {
    const size_t count = rows - first < block.rows ? rows - first : block.rows;
    if (table->rank > 0)
      GPUMC_TRY_OUT(status,
                    gpumc_result_axis_read(tables, table, 0, first, count, block.axis[0], error));
    for (size_t c = 0; c < table->n_columns; c++)
      GPUMC_TRY_OUT(status, gpumc_result_table_read(tables, table, &table->columns[c], first, count,
                                                    block.column[c], error));
    for (size_t i = 0; i < count * block.width; i++)
      write_line(stream, table, &block, i, temperature);
  }
out:
  block_free(&block, table->n_columns);
  return status;
}

/* ---- which tables ---- */

static void append_names(const struct gpumc_result_tables *tables, struct gpumc_text *text)
{
  for (size_t t = 0; t < tables->n; t++)
    gpumc_text_append(text, "%s%s", t == 0 ? "" : ", ", tables->items[t].name);
}

/* SIZE_MAX, with the error set, where there is none of that name. */
static size_t
find_table(const struct gpumc_result_tables *tables, const char *name, struct gpumc_error *error)
{
  struct gpumc_text known = {0};
  for (size_t t = 0; t < tables->n; t++)
    if (strcmp(tables->items[t].name, name) == 0)
      return t;
  append_names(tables, &known);
  (void)gpumc_error_set(error, GPUMC_INVALID, "%s has no table '%s'; it has %s", tables->file->path,
                        name, tables->n > 0 ? gpumc_text_string(&known) : "none yet");
  gpumc_text_free(&known);
  return SIZE_MAX;
}

/* ---- files of tables: all of them or none ---- */

/* "DIR/runs-0000-bins.csv". */
static char *
name_of(const struct export_arguments *arguments, const struct gpumc_result_table *table)
{
  char *path = NULL;
  if (asprintf(&path, "%s/%s.csv", arguments->directory, table->name) < 0)
    return NULL;
  for (char *c = path + strlen(arguments->directory) + 1; *c != '\0'; c++)
    if (strchr("/:,", *c) != NULL)
      *c = '-';
  return path;
}

static enum gpumc_status name_target(const struct export_arguments *arguments,
                                     const struct gpumc_result_table *table,
                                     struct gpumc_user_file *target, struct gpumc_error *error)
{
  const struct gpumc_user_file_rule rule = {.replace = arguments->fresh,
                                            .remedy = arguments->fresh
                                                          ? "move it away, or choose another folder"
                                                          : "--fresh replaces regular files"};
  char *path = name_of(arguments, table);
  enum gpumc_status status;
  if (path == NULL)
    status = gpumc_error_set(error, GPUMC_FAILURE, "out of memory: naming a file");
  else if (gpumc_file_is_same(path, arguments->path))
    status =
        gpumc_error_set(error, GPUMC_FAILURE, "cannot write %s: it is the result itself", path);
  else
    status = gpumc_user_file_name(target, path, &rule, error);
  free(path);
  return status;
}

static enum gpumc_status write_target(const struct export_arguments *arguments,
                                      const struct gpumc_result_tables *tables, size_t table,
                                      struct gpumc_user_file *target, struct gpumc_error *error)
{
  GPUMC_TRY(gpumc_user_file_open(target, error));
  GPUMC_TRY(
      write_table(tables, &tables->items[table], arguments->temperature, target->stream, error));
  return gpumc_user_file_close(target, error);
}

/* Writes all targets beside their names, and gives them these once all are complete. */
static enum gpumc_status write_targets(const struct export_arguments *arguments,
                                       const struct gpumc_result_tables *tables,
                                       const size_t *wanted, struct gpumc_user_file *targets,
                                       size_t n, struct gpumc_error *error)
{
  enum gpumc_status status = GPUMC_OK;
  for (size_t i = 0; i < n && status == GPUMC_OK; i++)
    status = write_target(arguments, tables, wanted[i], &targets[i], error);
  status = gpumc_user_files_publish(targets, n, status, error);
  for (size_t i = 0; i < n && status == GPUMC_OK; i++) {
    char *line = cli_line(targets[i].path);
    puts(line);
    free(line);
  }
  return status;
}

/* The tables that are wanted, none twice, and their files, whose names are all checked before
 * anything is written. */
static enum gpumc_status
make_targets(const struct export_arguments *arguments, const struct gpumc_result_tables *tables,
             size_t *wanted, struct gpumc_user_file *targets, size_t n, struct gpumc_error *error)
{
  for (size_t i = 0; i < n; i++) {
    wanted[i] = arguments->n_wanted > 0 ? find_table(tables, arguments->wanted[i], error) : i;
    if (wanted[i] == SIZE_MAX)
      return error->status;
    for (size_t k = 0; k < i; k++)
      if (wanted[k] == wanted[i])
        return gpumc_error_set(error, GPUMC_INVALID, "table '%s' is named twice",
                               arguments->wanted[i]);
  }
  for (size_t i = 0; i < n; i++) {
    GPUMC_TRY(name_target(arguments, &tables->items[wanted[i]], &targets[i], error));
    for (size_t k = 0; k < i; k++)
      if (strcmp(targets[k].path, targets[i].path) == 0)
        return gpumc_error_set(error, GPUMC_INVALID, "tables '%s' and '%s' would both be %s",
                               tables->items[wanted[k]].name, tables->items[wanted[i]].name,
                               targets[i].path);
  }
  return GPUMC_OK;
}

static enum gpumc_status export_files(const struct export_arguments *arguments,
                                      const struct gpumc_result_tables *tables,
                                      struct gpumc_error *error)
{
  const size_t n = arguments->n_wanted > 0 ? arguments->n_wanted : tables->n;
  struct gpumc_user_file *targets = NULL;
  size_t *wanted = NULL;
  enum gpumc_status status = GPUMC_OK;
  bool made = false;
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&targets, n + 1, "files", error));
  GPUMC_TRY_OUT(status, gpumc_allocate_array(&wanted, n + 1, "tables", error));
  GPUMC_TRY_OUT(status, make_targets(arguments, tables, wanted, targets, n, error));
  made = mkdir(arguments->directory, 0777) == 0;
  if (!made && errno != EEXIST)
    GPUMC_TRY_OUT(status, gpumc_error_set(error, GPUMC_FAILURE, "cannot create the folder %s: %s",
                                          arguments->directory, strerror(errno)));
  status = write_targets(arguments, tables, wanted, targets, n, error);
  if (status != GPUMC_OK && made)
    (void)rmdir(arguments->directory);
out:
  gpumc_user_files_free(targets, targets != NULL ? n : 0);
  free(targets);
  free(wanted);
  return status;
}

/* ---- standard output ---- */

static enum gpumc_status print_table(const struct export_arguments *arguments,
                                     const struct gpumc_result_tables *tables, const char *name,
                                     struct gpumc_error *error)
{
  const size_t t = find_table(tables, name, error);
  if (t == SIZE_MAX)
    return error->status;
  return write_table(tables, &tables->items[t], arguments->temperature, stdout, error);
}

static void list_tables(const struct gpumc_result_tables *tables)
{
  for (size_t t = 0; t < tables->n; t++) {
    const struct gpumc_result_table *table = &tables->items[t];
    const size_t rows = table->rank > 0 ? table->shape[0] : 1;
    cli_say(stdout, "%s: %zu rows, %zu columns\n", table->name,
            rows * gpumc_result_table_width(table), table->rank + table->n_columns);
  }
}

static enum gpumc_status export_all(const struct export_arguments *arguments,
                                    const struct gpumc_result_tables *tables,
                                    struct gpumc_error *error)
{
  if (arguments->list) {
    list_tables(tables);
    return GPUMC_OK;
  }
  if (arguments->directory != NULL)
    return export_files(arguments, tables, error);
  return print_table(arguments, tables, arguments->n_wanted > 0 ? arguments->wanted[0] : "summary",
                     error);
}

int cli_export(int argc, char **argv)
{
  struct export_arguments arguments = {.command = argv[0]};
  struct gpumc_result result = {0};
  struct gpumc_result_tables tables = {0};
  struct gpumc_error error = {0};
  enum gpumc_status status = GPUMC_OK;
  arguments.wanted = calloc((size_t)argc, sizeof *arguments.wanted);
  if (arguments.wanted == NULL) {
    cli_error("out of memory while reading the command line");
    return GPUMC_FAILURE;
  }
  cli_parse(&cli_export_argp, argc, argv, &arguments);
  if (arguments.path == NULL)
    cli_usage_error(argv[0], "no result file given");
  if (arguments.n_wanted > 1 && arguments.directory == NULL)
    cli_usage_error(argv[0], "only one table can go to standard output; use -o DIR for several");
  GPUMC_TRY_OUT(status, gpumc_result_read(arguments.path, &result, &error));
  GPUMC_TRY_OUT(status,
                gpumc_result_tables_open(arguments.path, !result.complete, &tables, &error));
  status = export_all(&arguments, &tables, &error);
out:
  gpumc_result_tables_close(&tables);
  gpumc_result_free(&result);
  free(arguments.wanted);
  return status == GPUMC_OK ? GPUMC_OK : cli_fail(&error);
}
