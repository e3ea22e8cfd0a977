/* Inside result_info: attributes, numeric datasets, and the progress of runs. */
#ifndef GPUMC_CORE_RESULT_DATA_H
#define GPUMC_CORE_RESULT_DATA_H

#include "core/storage/hdf5_file.h"
#include "core/storage/result_info.h"

/* Reads `provenance`, `summary`, `datasets` (all numeric ones of rank 0 to 2 in /summary, and as
 * "NAME/..." those in its groups) and `runs` of a result. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_result_read_data(const struct gpumc_hdf5_file *file,
                                                          struct gpumc_result *result,
                                                          struct gpumc_error *error);
/* Adds the attributes of the group at `path` to `fields`; none if there is no such group. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_result_read_fields(const struct gpumc_hdf5_file *file, const char *path,
                         struct gpumc_result_fields *fields, struct gpumc_error *error);
/* Legal on zeroed ones; leaves them zeroed. */
void gpumc_result_fields_free(struct gpumc_result_fields *fields);
/* Frees these members and leaves them as they are. */
void gpumc_result_data_free(struct gpumc_result *result);

#endif
