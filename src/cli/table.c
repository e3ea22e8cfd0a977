/* Tables of text with aligned columns. */
#include "cli/table.h"

#include "cli/cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cli_table_cell(struct cli_table *table, const char *format, ...)
{
  if (table->n_cells == table->capacity) {
    size_t capacity = table->capacity > 0 ? 2 * table->capacity : 64;
    char **grown = realloc(table->cells, capacity * sizeof *grown);
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
  table->cells[table->n_cells++] = cell != NULL ? cli_line(cell) : NULL;
  free(cell);
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
  return cell < table->n_cells && table->cells[cell] != NULL ? table->cells[cell] : "";
}

static void print_row(const struct cli_table *table, size_t first, const int *width, int indent)
{
  printf("%*s", indent, "");
  for (size_t c = 0; c < table->columns; c++) {
    const char *text = cell_text(table, first + c);
    int padding = width[c] - screen_width(text);
    bool last = c + 1 == table->columns;
    if (table->right[c])
      printf("%*s%s", padding, "", text);
    else
      printf("%s%*s", text, last ? 0 : padding, "");
    fputs(last ? "\n" : "  ", stdout);
  }
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
  cli_table_free(table);
}

void cli_table_free(struct cli_table *table)
{
  for (size_t i = 0; i < table->n_cells; i++)
    free(table->cells[i]);
  free(table->cells);
  memset(table, 0, sizeof *table);
}
