/* Inside result_info: the members of a group, and numeric datasets. */
#ifndef GPUMC_CORE_RESULT_DATASETS_H
#define GPUMC_CORE_RESULT_DATASETS_H

#include "core/storage/hdf5_file.h"
#include "core/storage/result_info.h"

/* All numeric datasets of rank 0 to 2 in `group`, and as "NAME/..." those in its groups, appended
 * to those of the result. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_result_read_datasets(const struct gpumc_hdf5_file *file, hid_t group,
                           struct gpumc_result *result, struct gpumc_error *error);
/* Name, labels, rank and shape of a numeric dataset of rank 0 to 2, without values; `*numeric` is
 * false, and nothing is read, when it is none. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_result_describe_dataset(const struct gpumc_hdf5_file *file, hid_t data, const char *name,
                              struct gpumc_result_dataset *dataset, bool *numeric,
                              struct gpumc_error *error);
void gpumc_result_dataset_free(struct gpumc_result_dataset *dataset);

#endif
