/* Inside result_info: numeric datasets, and how far runs are. */
#ifndef GPUMC_CORE_RESULT_DATA_H
#define GPUMC_CORE_RESULT_DATA_H

#include "core/storage/hdf5_file.h"
#include "core/storage/result_info.h"

/* All numeric datasets of rank 0 to 2 in `group`, and as "NAME/..." those in its groups, appended
 * to those of the result. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_result_read_datasets(const struct gpumc_hdf5_file *file, hid_t group,
                           struct gpumc_result *result, struct gpumc_error *error);
void gpumc_result_dataset_free(struct gpumc_result_dataset *dataset);

/* The members of the open group /runs: `runs` and `n_runs` of the result. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_result_read_runs(const struct gpumc_hdf5_file *file,
                                                          hid_t group, struct gpumc_result *result,
                                                          struct gpumc_error *error);
void gpumc_result_runs_free(struct gpumc_result *result);

#endif
