/* Inside the recorder: datasets with labels and dimension scales, and values on their way to them.
 */
#ifndef GPUMC_CORE_RECORDER_DATASET_H
#define GPUMC_CORE_RECORDER_DATASET_H

#include "core/storage/hdf5_file.h"
#include "core/storage/recorder.h"

/* A new dataset of `rank` 1 to 3 with the attributes of `label`; extensible along the first
 * dimension in chunks of `chunk_rows`, or of fixed shape when that is 0. Rank 0 is a scalar.
 * Negative, with the error set, on failure. `group` names the group in messages. */
hid_t gpumc_dataset_create(const struct gpumc_hdf5_file *file, hid_t location, const char *group,
                           const struct gpumc_label *label, size_t rank, const hsize_t *shape,
                           size_t chunk_rows, bool integer, struct gpumc_error *error);
/* Likewise of uint8, extensible, shape[2]. */
hid_t gpumc_dataset_create_bytes(const struct gpumc_hdf5_file *file, hid_t location,
                                 const char *group, const struct gpumc_label *label,
                                 const hsize_t shape[2], size_t chunk_rows,
                                 struct gpumc_error *error);
/* Attach the axis at `axis_path` to a dimension; it becomes a dimension scale of its own name. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_dataset_attach(const struct gpumc_hdf5_file *file, hid_t data, unsigned dimension,
                     const char *axis_path, struct gpumc_error *error);
/* Write `values` into rows first .. first+count-1, `width` values each, as float64 or int64.
 * `where` names the dataset in messages. GPUMC_FAILURE also for a value that is no integer in an
 * integer dataset. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_dataset_write(const struct gpumc_hdf5_file *file, hid_t data, const char *where, bool integer,
                    size_t first, size_t count, size_t width, const double *values,
                    struct gpumc_error *error);
/* The same for whole rows of bytes. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_dataset_write_bytes(const struct gpumc_hdf5_file *file, hid_t data, const char *where,
                          size_t first, size_t count, const uint8_t *bytes,
                          struct gpumc_error *error);

#endif
