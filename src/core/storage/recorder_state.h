/* Inside the recorder: what it consists of. */
#ifndef GPUMC_CORE_RECORDER_STATE_H
#define GPUMC_CORE_RECORDER_STATE_H

#include "core/storage/recorder.h"
#include "core/storage/recorder_attributes.h"
#include "core/storage/recorder_log.h"
#include "core/storage/recorder_table.h"

enum gpumc_recorder_phase {
  GPUMC_RECORDER_DECLARING,
  GPUMC_RECORDER_APPENDING,
  GPUMC_RECORDER_SUMMARIZING,
  GPUMC_RECORDER_FINISHED
};

struct gpumc_recorder {
  enum gpumc_recorder_phase phase;
  char *output, *partial, *begun; /* OUTPUT, OUTPUT.partial, OUTPUT.partial.new */
  char *log_path;                 /* OUTPUT.log */
  char *title, *source, *resolved, *citations;
  size_t n_tables;
  struct gpumc_table *tables;
  struct gpumc_attribute_list attributes; /* given before the start */
  struct gpumc_hdf5_file *file;
  struct gpumc_log *log; /* NULL without long tables */
  size_t waiting;        /* bytes of rows of long tables that are not in the file yet */
  double last_flush;
};

#endif
