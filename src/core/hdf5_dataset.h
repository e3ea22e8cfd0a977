/* Opening what stands in HDF5 files that others may have made.
 *
 * HDF5 can say that the numbers of a dataset, or the dataset itself, stand somewhere else: in a
 * virtual dataset, in external storage, behind a link to another file. Where that is missing, zeros
 * are read without an error; where it refers to itself, HDF5 recurses until the stack ends; and it
 * names any file of the system. So every dataset and group that is read is opened here, and
 * accepted only if all of it stands in the file that was opened. */
#ifndef GPUMC_CORE_HDF5_DATASET_H
#define GPUMC_CORE_HDF5_DATASET_H

#include "core/hdf5_file.h"

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
