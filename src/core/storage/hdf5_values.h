/* Texts and attributes in HDF5 files, written and read; every failure names file and object.
 *
 * Attributes are scalars: text (UTF-8), float64, int64. Texts, in attributes and in scalar
 * datasets, are of fixed length, so that they lie in metadata with checksums; attributes longer
 * than GPUMC_HDF5_LONGEST_FIXED_TEXT are of variable length. Both kinds are read. */
#ifndef GPUMC_CORE_HDF5_VALUES_H
#define GPUMC_CORE_HDF5_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/storage/hdf5_file.h"

/* The longest that keeps the root group's attributes within the first bytes of a file, where
 * result_mark.h looks for them, and an attribute of a group with many below the 4 KiB that HDF5
 * puts into blocks with checksums. */
enum { GPUMC_HDF5_LONGEST_FIXED_TEXT = 3072 };

/* Write the attribute `name` of the open object `object`, in place of one that is there; `where`
 * names the object in messages. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_hdf5_set_text(const struct gpumc_hdf5_file *file, hid_t object, const char *where,
                    const char *name, const char *value, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
gpumc_hdf5_set_number(const struct gpumc_hdf5_file *file, hid_t object, const char *where,
                      const char *name, double value, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
gpumc_hdf5_set_integer(const struct gpumc_hdf5_file *file, hid_t object, const char *where,
                       const char *name, int64_t value, struct gpumc_error *error);

/* A scalar text dataset; groups on the way are made. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_hdf5_put_text(const struct gpumc_hdf5_file *file,
                                                       const char *path, const char *text,
                                                       struct gpumc_error *error);
/* Caller frees *text. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_hdf5_get_text(const struct gpumc_hdf5_file *file,
                                                       const char *path, char **text,
                                                       struct gpumc_error *error);

/* Any scalar attribute as text (numbers so that they read back the same); NULL when there is none
 * of that name, when it is no scalar or cannot be read. Caller frees. */
char *gpumc_hdf5_attribute_text(hid_t object, const char *name);
/* H5T_STRING, H5T_INTEGER or H5T_FLOAT of our attributes; H5T_NO_CLASS when there is none. */
H5T_class_t gpumc_hdf5_attribute_class(hid_t object, const char *name);
/* False when there is no such integer. */
bool gpumc_hdf5_attribute_integer(hid_t object, const char *name, int64_t *value);

/* True when each part of "a/b/c" is a link that is there. */
bool gpumc_hdf5_exists(hid_t location, const char *path);
/* The same of a file that others may have made: GPUMC_FAILURE, naming file and path, where it is
 * too damaged to tell. What cannot be found there is not what is not there. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_hdf5_find(const struct gpumc_hdf5_file *file,
                                                   hid_t location, const char *path, bool *found,
                                                   struct gpumc_error *error);
/* The group at `path` ("/" too), made where missing with its parents; negative on failure. */
hid_t gpumc_hdf5_group(hid_t location, const char *path);
/* A link creation list that makes groups on the way. */
hid_t gpumc_hdf5_intermediate_groups(void);

/* Opens groups and datasets of HDF5 files that gpumc may not have written.
 *
 * In HDF5 the numbers of a dataset, or the dataset itself, may be stored elsewhere: in other
 * datasets (virtual), in external files, or in the target of a link. Missing parts are read as
 * zeros without an error, a dataset that refers to itself makes HDF5 recurse until the stack
 * overflows, and any file of the system can be named. So every dataset and group is opened here,
 * and accepted only if all of it is in the file that was opened. */

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
