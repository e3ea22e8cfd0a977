/* Inside the recorder: long tables, whose rows stand in the log instead of in memory. */
#ifndef GPUMC_CORE_RECORDER_LONG_H
#define GPUMC_CORE_RECORDER_LONG_H

#include "core/storage/recorder_state.h"

/* A fresh log, or the one of the checkpoint cut back to its length; nothing without long tables. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_long_tables_begin(struct gpumc_recorder *recorder, struct gpumc_error *error);
/* Rows that are not in the log yet into it. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_long_tables_log(struct gpumc_recorder *recorder, struct gpumc_error *error);
/* All rows of the log into the empty datasets of the working file, a part at a time by `store`. */
typedef enum gpumc_status
gpumc_long_tables_store(struct gpumc_recorder *recorder, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status gpumc_long_tables_replay(struct gpumc_recorder *recorder,
                                                            gpumc_long_tables_store *store,
                                                            struct gpumc_error *error);
/* Counts rows that a table has got; whether so much waits in memory that it should go to the file.
 */
bool gpumc_long_tables_add(struct gpumc_recorder *recorder, size_t table, size_t n_rows);

/* The log brought to the disk, its length and its tables' numbers of rows into a checkpoint; and
 * the log of a checkpoint opened and verified, without a change. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_long_tables_save(struct gpumc_recorder *recorder,
                                                          struct gpumc_checkpoint_writer *writer,
                                                          struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status gpumc_long_tables_load(struct gpumc_recorder *recorder,
                                                          struct gpumc_checkpoint_reader *reader,
                                                          struct gpumc_error *error);

#endif
