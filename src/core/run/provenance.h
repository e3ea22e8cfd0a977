/* The origin of a result: the attributes of /provenance. */
#ifndef GPUMC_CORE_PROVENANCE_H
#define GPUMC_CORE_PROVENANCE_H

#include "core/device/devices.h"
#include "core/processes/processes.h"
#include "core/run/prepare.h"

struct gpumc_provenance {
  struct gpumc_preparation *preparation;
  const struct gpumc_processes *processes;
  const struct gpumc_devices *devices; /* of a divided run */
  const struct gpumc_context *context; /* its recorder and warnings */
  uint64_t read_checksum;              /* gpumc_checksum_of_files */
  const char *command_line;
  const char *started; /* UTC, ISO 8601 */
  /* Known at the end. `updates`, counted as by the kernel, and `seconds` are for all invocations;
   * `invocation_seconds` and `unit_seconds`, spent in units of progress, are for this one. */
  uint64_t resumes;
  double updates, seconds, invocation_seconds, unit_seconds;
};

/* Records what is known before the recorder's start, so that a working file has it too; and, after
 * the tables are closed, what is only known at the end. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_provenance_start(const struct gpumc_provenance *provenance, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
gpumc_provenance_end(const struct gpumc_provenance *provenance, struct gpumc_error *error);

/* Writes the current time as "2017-08-01T12:00:00Z". */
void gpumc_timestamp(char text[static 32]);

/* For a merged result: who merged, and the work of all sources together. */
struct gpumc_merge_work {
  const struct gpumc_context *context;
  const char *command_line, *started;
  const char *plugins; /* gpumc_task.plugins */
  double updates, seconds;
};
GPUMC_MUST_CHECK enum gpumc_status
gpumc_provenance_of_merge(const struct gpumc_merge_work *work, struct gpumc_error *error);

#endif
