/* Texts and attributes in HDF5 files, written and read; every failure names file and object.
 *
 * Attributes are scalars: text (UTF-8), float64, int64. Texts, in attributes and in scalar
 * datasets, have fixed length, so that they are stored in metadata with checksums; attributes
 * longer than GPUMC_HDF5_LONGEST_FIXED_TEXT have variable length. Both kinds can be read. */
#ifndef GPUMC_CORE_HDF5_VALUES_H
#define GPUMC_CORE_HDF5_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/storage/hdf5_file.h"

/* The longest text that keeps the root group's attributes within the first bytes of a file, where
 * result_mark.h looks for them, and an attribute of a group with many below the 4 KiB that HDF5
 * stores in blocks with checksums. */
enum { GPUMC_HDF5_LONGEST_FIXED_TEXT = 3072 };
/* Datasets of as many bytes are stored in their headers. */
enum { GPUMC_HDF5_COMPACT_BYTES = 8192 };

/* Writes the attribute `name` of the open object `object`, replacing an existing one; `where` names
 * the object in messages. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_hdf5_set_text(const struct gpumc_hdf5_file *file, hid_t object, const char *where,
                    const char *name, const char *value, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
gpumc_hdf5_set_number(const struct gpumc_hdf5_file *file, hid_t object, const char *where,
                      const char *name, double value, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
gpumc_hdf5_set_integer(const struct gpumc_hdf5_file *file, hid_t object, const char *where,
                       const char *name, int64_t value, struct gpumc_error *error);

/* The same for a value of any shape and type, in the file and in memory. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_hdf5_set_attribute(const struct gpumc_hdf5_file *file, hid_t object, const char *where,
                         const char *name, hid_t space, hid_t type, hid_t memory_type,
                         const void *value, struct gpumc_error *error);

/* Writes a scalar text dataset; creates groups on the way. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_hdf5_put_text(const struct gpumc_hdf5_file *file,
                                                       const char *path, const char *text,
                                                       struct gpumc_error *error);
/* Caller frees *text. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_hdf5_get_text(const struct gpumc_hdf5_file *file,
                                                       const char *path, char **text,
                                                       struct gpumc_error *error);

/* Returns any scalar attribute as text (numbers so that they read back the same); NULL if there is
 * none of that name, or if it is not a scalar or cannot be read. Caller frees. */
char *gpumc_hdf5_attribute_text(hid_t object, const char *name);
/* Returns H5T_STRING, H5T_INTEGER or H5T_FLOAT for our attributes; H5T_NO_CLASS if there is
 * none. */
H5T_class_t gpumc_hdf5_attribute_class(hid_t object, const char *name);
/* Returns false if there is no such integer. */
bool gpumc_hdf5_attribute_integer(hid_t object, const char *name, int64_t *value);

/* Returns whether each part of "a/b/c" is an existing link. */
bool gpumc_hdf5_exists(hid_t location, const char *path);
/* The same for a file that others may have made: GPUMC_FAILURE, naming file and path, if it is too
 * damaged to tell. Something that cannot be looked up is not the same as something missing. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_hdf5_find(const struct gpumc_hdf5_file *file,
                                                   hid_t location, const char *path, bool *found,
                                                   struct gpumc_error *error);
/* Opens the group at `path` ("/" too), creating it and its parents if missing; negative on
 * failure. */
hid_t gpumc_hdf5_group(hid_t location, const char *path);
/* Makes a link creation list that creates groups on the way. */
hid_t gpumc_hdf5_intermediate_groups(void);

/* Opens groups and datasets of HDF5 files that gpumc may not have written.
 *
 * In HDF5 the numbers of a dataset, or the dataset itself, may be stored elsewhere: in other
 * datasets (virtual), in external files, or in the target of a link. Missing parts are read as
 * zeros without an error, a dataset that refers to itself makes HDF5 recurse until the stack
 * overflows, and any file of the system can be named. So every dataset and group is opened here,
 * and accepted only if it lies completely in the file that was opened. */

/* Opens the dataset or group at `path` below `location`. Negative, with the error set
 * (GPUMC_FAILURE, with the file, the path and what was found there), if there is none, if a link on
 * the way leaves the file, or if it is a dataset that gpumc_hdf5_check_dataset refuses. */
hid_t gpumc_hdf5_open_dataset(const struct gpumc_hdf5_file *file, hid_t location, const char *path,
                              struct gpumc_error *error);
hid_t gpumc_hdf5_open_group(const struct gpumc_hdf5_file *file, hid_t location, const char *path,
                            struct gpumc_error *error);

/* Accepts an open dataset whose layout is contiguous, chunked or compact, in this file, with
 * filters that this HDF5 has. Call it before asking for anything else of the dataset, its shape
 * included: for a virtual dataset HDF5 opens other files to find out. `name` is for messages. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_hdf5_check_dataset(const struct gpumc_hdf5_file *file,
                                                            hid_t data, const char *name,
                                                            struct gpumc_error *error);
/* Refuses a dataset with parts that were never written: HDF5 would read its fill value there. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_hdf5_check_written(const struct gpumc_hdf5_file *file,
                                                            hid_t data, const char *name,
                                                            struct gpumc_error *error);

#endif
