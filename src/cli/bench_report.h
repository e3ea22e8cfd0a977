/* What `gpumc bench` prints: a table, or the same as JSON. */
#ifndef GPUMC_CLI_BENCH_REPORT_H
#define GPUMC_CLI_BENCH_REPORT_H

#include "cli/bench_case.h"
#include "cli/table.h"

/* Instruction set and threads are columns where `of_cpu`. */
struct bench_report {
  bool of_cpu;
  struct cli_table table;
  cJSON *json, *rates;
};

/* `device`: its description. */
void bench_report_begin(struct bench_report *report, bool of_cpu, const char *device,
                        const struct bench_bed *bed, const struct bench_settings *settings);
void bench_report_add(struct bench_report *report, const struct bench_case *measured);
/* Returns the exit code; frees the report. */
int bench_report_print(struct bench_report *report, bool json);
/* Without printing. */
void bench_report_free(struct bench_report *report);

#endif
