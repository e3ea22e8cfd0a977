/* Inside result_info: how far the runs of an unfinished result are. */
#ifndef GPUMC_CORE_RESULT_RUNS_H
#define GPUMC_CORE_RESULT_RUNS_H

#include "core/storage/hdf5_file.h"
#include "core/storage/result_info.h"

/* The members of the open group /runs: `runs` and `n_runs` of the result. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_result_read_runs(const struct gpumc_hdf5_file *file,
                                                          hid_t group, struct gpumc_result *result,
                                                          struct gpumc_error *error);
void gpumc_result_runs_free(struct gpumc_result *result);

#endif
