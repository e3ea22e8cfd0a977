/* Opens groups and datasets of HDF5 files that gpumc may not have written.
 *
 * In HDF5 the numbers of a dataset, or the dataset itself, may be stored elsewhere: in other
 * datasets (virtual), in external files, or in the target of a link. Missing parts are read as
 * zeros without an error, a dataset that refers to itself makes HDF5 recurse until the stack
 * overflows, and any file of the system can be named. So every dataset and group is opened here,
 * and accepted only if all of it is in the file that was opened. */
#ifndef GPUMC_CORE_HDF5_DATASET_H
#define GPUMC_CORE_HDF5_DATASET_H

#include "core/storage/hdf5_file.h"

/* The dataset or group at `path` below `location`. Negative, with the error set (GPUMC_FAILURE,
 * with the file, the path and what was found there), when there is none, when a link on the way
 * leaves the file, or when it is a dataset that gpumc_hdf5_check_dataset refuses. */
hid_t gpumc_hdf5_open_dataset(const struct gpumc_hdf5_file *file, hid_t location, const char *path,
                              struct gpumc_error *error);
hid_t gpumc_hdf5_open_group(const struct gpumc_hdf5_file *file, hid_t location, const char *path,
                            struct gpumc_error *error);

/* Accepts an open dataset whose layout is contiguous, chunked or compact, in this file, with
 * filters that this HDF5 has. To be asked before anything else of the dataset, its shape included:
 * for a virtual dataset HDF5 opens other files to know it. `name` is for messages. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_hdf5_check_dataset(const struct gpumc_hdf5_file *file,
                                                            hid_t data, const char *name,
                                                            struct gpumc_error *error);
/* Refuses a dataset of which parts were never written: HDF5 would read its fill value there. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_hdf5_check_written(const struct gpumc_hdf5_file *file,
                                                            hid_t data, const char *name,
                                                            struct gpumc_error *error);

#endif
