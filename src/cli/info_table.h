/* The summary of a result as tables: value(error), one row a point of the axis. */
#ifndef GPUMC_CLI_INFO_TABLE_H
#define GPUMC_CLI_INFO_TABLE_H

#include "core/storage/result_info.h"

/* To stdout. Scalars one a line; curves in tables of a few columns, long ones thinned out. */
void cli_info_summary(const struct gpumc_result *result);
/* Of an unfinished result: the rows of each run, and the last one. */
void cli_info_progress(const struct gpumc_result *result);

#endif
