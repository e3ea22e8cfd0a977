/* Groups and datasets of HDF5 files that gpumc may not have written, accepted only if complete. */
#include <stdbool.h>
#include <string.h>

#include "core/storage/hdf5_values.h"

/* Longest path within a file that is considered. */
enum { PATH_BYTES = 1024 };

static enum gpumc_status refuse(const struct gpumc_hdf5_file *file, const char *name,
                                const char *reason, struct gpumc_error *error)
{
  return gpumc_error_set(error, GPUMC_FAILURE, "%s: %s %s", file->path, name, reason);
}

/* Checks the link `path` on the way to `wanted`. Soft links may be followed: one that leads through
 * a link out of the file ends at the driver, which opens no second file. */
static enum gpumc_status check_link(const struct gpumc_hdf5_file *file, hid_t location,
                                    const char *path, const char *wanted, struct gpumc_error *error)
{
  H5L_info_t link;
  const htri_t found = H5Lexists(location, path, H5P_DEFAULT);
  if (found < 0)
    return gpumc_hdf5_error(file, error, "look for %s", path);
  if (found == 0)
    return gpumc_error_set(error, GPUMC_FAILURE, "%s: holds no %s", file->path, wanted);
  if (H5Lget_info(location, path, &link, H5P_DEFAULT) < 0)
    return gpumc_hdf5_error(file, error, "read the link %s", path);
  if (link.type == H5L_TYPE_HARD || link.type == H5L_TYPE_SOFT)
    return GPUMC_OK;
  return refuse(file, path,
                link.type == H5L_TYPE_EXTERNAL
                    ? "is a link to another file, which is not followed: copy what it links to"
                    : "is a user-defined link, which is not followed",
                error);
}

/* Checks each part of "a/b/c". */
static enum gpumc_status check_links(const struct gpumc_hdf5_file *file, hid_t location,
                                     const char *path, struct gpumc_error *error)
{
  char part[PATH_BYTES];
  if (strlen(path) >= sizeof part)
    return refuse(file, "a path", "in it is too long", error);
  for (const char *end = path; *end != '\0';) {
    end = strchr(end + 1, '/');
    if (end == NULL)
      end = path + strlen(path);
    memcpy(part, path, (size_t)(end - path));
    part[end - path] = '\0';
    if (strcmp(part, "/") != 0)
      GPUMC_TRY(check_link(file, location, part, path, error));
  }
  return GPUMC_OK;
}

static enum gpumc_status check_filters(const struct gpumc_hdf5_file *file, hid_t creation,
                                       const char *name, struct gpumc_error *error)
{
  const int count = H5Pget_nfilters(creation);
  if (count < 0)
    return gpumc_hdf5_error(file, error, "read the filters of %s", name);
  for (unsigned i = 0; i < (unsigned)count; i++) {
    char filter_name[64] = "", reason[160];
    unsigned flags, configuration;
    size_t n_values = 0;
    const H5Z_filter_t filter = H5Pget_filter2(creation, i, &flags, &n_values, NULL,
                                               sizeof filter_name, filter_name, &configuration);
    if (filter >= 0 && H5Zfilter_avail(filter) > 0)
      continue;
    snprintf(reason, sizeof reason,
             "is stored with filter %d (%.40s), which is unavailable here: store it without a "
             "filter, or with gzip",
             (int)filter, filter_name[0] != '\0' ? filter_name : "without a name");
    return refuse(file, name, reason, error);
  }
  return GPUMC_OK;
}

/* Computes the bytes that the extent of a dataset and its type declare; false if they are
 * unknown. */
static bool declared_bytes(hid_t data, hsize_t *bytes)
{
  hsize_t extent[H5S_MAX_RANK];
  hid_t space = H5Dget_space(data), type = H5Dget_type(data);
  const H5S_class_t class = space < 0 ? H5S_NO_CLASS : H5Sget_simple_extent_type(space);
  const int rank = class == H5S_SIMPLE ? H5Sget_simple_extent_dims(space, extent, NULL) : 0;
  bool known = class != H5S_NO_CLASS && rank >= 0 && type >= 0;
  *bytes = class == H5S_NULL || !known ? 0 : H5Tget_size(type);
  for (int d = 0; d < rank && known; d++)
    known = !__builtin_mul_overflow(*bytes, extent[d], bytes);
  gpumc_hdf5_release(type);
  gpumc_hdf5_release(space);
  return known;
}

/* Texts of variable length differ in size between memory and file. */
static bool holds_numbers(hid_t data)
{
  hid_t type = H5Dget_type(data);
  const H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
  gpumc_hdf5_release(type);
  return class == H5T_INTEGER || class == H5T_FLOAT;
}

/* Checks numbers stored contiguously: HDF5 itself would read beyond their end. If they have no
 * place in the file they were never written, which gpumc_hdf5_check_written refuses. */
static enum gpumc_status check_size(const struct gpumc_hdf5_file *file, hid_t data,
                                    H5D_layout_t layout, const char *name,
                                    struct gpumc_error *error)
{
  hsize_t declared;
  const bool known = declared_bytes(data, &declared);
  const bool placed = layout == H5D_COMPACT || H5Dget_offset(data) != HADDR_UNDEF;
  if (!holds_numbers(data) || (known && (!placed || H5Dget_storage_size(data) == declared)))
    return GPUMC_OK;
  return refuse(file, name, "is damaged: it does not declare as many bytes as are stored", error);
}

static enum gpumc_status check_layout(const struct gpumc_hdf5_file *file, hid_t data,
                                      hid_t creation, const char *name, struct gpumc_error *error)
{
  const H5D_layout_t layout = H5Pget_layout(creation);
  switch (layout) {
  case H5D_VIRTUAL:
    return refuse(
        file, name,
        "is a virtual dataset, whose numbers are stored elsewhere: copy them into an ordinary "
        "dataset",
        error);
  case H5D_CHUNKED:
    return check_filters(file, creation, name, error);
  case H5D_COMPACT:
    return check_size(file, data, layout, name, error);
  case H5D_CONTIGUOUS:
    if (H5Pget_external_count(creation) == 0)
      return check_size(file, data, layout, name, error);
    return refuse(
        file, name,
        "has external storage, numbers in other files: copy them into an ordinary dataset", error);
  case H5D_LAYOUT_ERROR:
  case H5D_NLAYOUTS:
    break;
  }
  return refuse(file, name, "has an unknown layout", error);
}

enum gpumc_status gpumc_hdf5_check_dataset(const struct gpumc_hdf5_file *file, hid_t data,
                                           const char *name, struct gpumc_error *error)
{
  hid_t creation = H5Dget_create_plist(data);
  if (creation < 0)
    return gpumc_hdf5_error(file, error, "read the layout of %s", name);
  enum gpumc_status status = check_layout(file, data, creation, name, error);
  gpumc_hdf5_release(creation);
  return status;
}

/* For an array stored in chunks; HDF5 itself compares sizes, but filters change them. */
static bool has_all_chunks(hid_t data, hid_t creation)
{
  hsize_t extent[H5S_MAX_RANK], chunk[H5S_MAX_RANK], stored = 0, wanted = 1;
  hid_t space = H5Dget_space(data);
  const int rank = space < 0 ? -1 : H5Sget_simple_extent_dims(space, extent, NULL);
  bool known = rank > 0 && H5Pget_chunk(creation, rank, chunk) == rank &&
               H5Dget_num_chunks(data, space, &stored) >= 0;
  for (int d = 0; d < rank && known; d++)
    known = chunk[d] > 0 &&
            !__builtin_mul_overflow(wanted, (extent[d] + chunk[d] - 1) / chunk[d], &wanted);
  gpumc_hdf5_release(space);
  return known && stored == wanted;
}

/* Chunks without filters are as long as the layout says; HDF5 would read past the end of shorter
 * ones. */
static bool chunks_are_whole(hid_t data, hid_t creation)
{
  hsize_t chunk[H5S_MAX_RANK], count = 0;
  hid_t space = H5Dget_space(data), type = H5Dget_type(data);
  hsize_t bytes = type < 0 ? 0 : H5Tget_size(type);
  const int rank = H5Pget_chunk(creation, H5S_MAX_RANK, chunk);
  bool known = rank > 0 && space >= 0 && H5Dget_num_chunks(data, space, &count) >= 0 &&
               !__builtin_mul_overflow(bytes, count, &bytes);
  for (int d = 0; d < rank && known; d++)
    known = !__builtin_mul_overflow(bytes, chunk[d], &bytes);
  gpumc_hdf5_release(type);
  gpumc_hdf5_release(space);
  return known && H5Dget_storage_size(data) == bytes;
}

enum gpumc_status gpumc_hdf5_check_written(const struct gpumc_hdf5_file *file, hid_t data,
                                           const char *name, struct gpumc_error *error)
{
  H5D_space_status_t written = H5D_SPACE_STATUS_ERROR;
  hid_t creation = H5Dget_create_plist(data);
  const bool chunked = creation >= 0 && H5Pget_layout(creation) == H5D_CHUNKED;
  const bool whole = chunked && has_all_chunks(data, creation);
  const bool sound = !chunked || H5Pget_nfilters(creation) != 0 || chunks_are_whole(data, creation);
  gpumc_hdf5_release(creation);
  if (creation < 0 || H5Dget_space_status(data, &written) < 0)
    return gpumc_hdf5_error(file, error, "read how much of %s was written", name);
  if (!sound)
    return refuse(file, name, "is damaged: its chunks do not have the size that it declares",
                  error);
  if (chunked ? whole : written == H5D_SPACE_STATUS_ALLOCATED)
    return GPUMC_OK;
  return refuse(file, name,
                written == H5D_SPACE_STATUS_NOT_ALLOCATED
                    ? "was never written: it has a shape, but no numbers"
                    : "was written only in part, and has no numbers elsewhere",
                error);
}

hid_t gpumc_hdf5_open_dataset(const struct gpumc_hdf5_file *file, hid_t location, const char *path,
                              struct gpumc_error *error)
{
  if (check_links(file, location, path, error) != GPUMC_OK)
    return H5I_INVALID_HID;
  hid_t object = H5Oopen(location, path, H5P_DEFAULT);
  if (object < 0) {
    (void)gpumc_hdf5_error(file, error, "read %s", path);
    return H5I_INVALID_HID;
  }
  enum gpumc_status status = H5Iget_type(object) == H5I_DATASET
                                 ? gpumc_hdf5_check_dataset(file, object, path, error)
                                 : refuse(file, path, "is not a dataset", error);
  if (status == GPUMC_OK)
    return object;
  gpumc_hdf5_release(object);
  return H5I_INVALID_HID;
}

hid_t gpumc_hdf5_open_group(const struct gpumc_hdf5_file *file, hid_t location, const char *path,
                            struct gpumc_error *error)
{
  if (check_links(file, location, path, error) != GPUMC_OK)
    return H5I_INVALID_HID;
  hid_t group = H5Gopen2(location, path, H5P_DEFAULT);
  if (group < 0)
    (void)gpumc_hdf5_error(file, error, "read the group %s", path);
  return group;
}
