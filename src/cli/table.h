/* Tables of text with aligned columns. */
#ifndef GPUMC_CLI_TABLE_H
#define GPUMC_CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/error.h"

enum { CLI_TABLE_COLUMNS = 12 };

/* Zero-initialise, then set `columns`. Cells are kept row by row and printed at the end, when the
 * widths are known. `right[c]`: numbers, flush right. */
struct cli_table {
  size_t columns;
  bool right[CLI_TABLE_COLUMNS];
  char **cells; /* owned */
  size_t n_cells, capacity;
};

/* The next cell; out of memory leaves it empty. */
void cli_table_cell(struct cli_table *table, const char *format, ...) GPUMC_PRINTF(2, 3);
/* To stdout, two blanks between columns, `indent` before the first; frees the table. */
void cli_table_print(struct cli_table *table, int indent);
/* Without printing. */
void cli_table_free(struct cli_table *table);

#endif
