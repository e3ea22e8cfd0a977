/* Dimension scales, as HDF5's high-level library writes and reads them. It rewrites the list of an
 * axis for each dataset that gets it; here the list is written once, when all are known. */
#include "core/storage/recorder/recorder_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/storage/hdf5_values.h"

/* Dataset and dimension of it that have an axis: an element of the attribute REFERENCE_LIST. */
struct reference {
  hobj_ref_t data;
  int dimension;
};

struct gpumc_axis {
  char *path;
  hobj_ref_t address;
  size_t count;
  struct reference *references; /* [count], room for the next power of two */
};

/* So many axes wait to be written. */
enum { MOST_AXES = 64 };

void gpumc_axes_free(struct gpumc_axes *axes)
{
  for (size_t i = 0; i < axes->count; i++) {
    free(axes->axis[i].references);
    free(axes->axis[i].path);
  }
  free(axes->axis);
  memset(axes, 0, sizeof *axes);
}

static hid_t reference_type(void)
{
  hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(struct reference));
  if (type >= 0 &&
      H5Tinsert(type, "dataset", offsetof(struct reference, data), H5T_STD_REF_OBJ) >= 0 &&
      H5Tinsert(type, "dimension", offsetof(struct reference, dimension), H5T_NATIVE_INT) >= 0)
    return type;
  gpumc_hdf5_release(type);
  return H5I_INVALID_HID;
}

/* Writes an attribute of a list of `count` values. */
static enum gpumc_status set_list(const struct gpumc_hdf5_file *file, hid_t object,
                                  const char *where, const char *name, hid_t type, size_t count,
                                  const void *values, struct gpumc_error *error)
{
  const hsize_t shape[1] = {count};
  hid_t space = H5Screate_simple(1, shape, NULL);
  const enum gpumc_status status =
      gpumc_hdf5_set_attribute(file, object, where, name, space, type, type, values, error);
  gpumc_hdf5_release(space);
  return status;
}

static enum gpumc_status set_word(const struct gpumc_hdf5_file *file, hid_t object,
                                  const char *where, const char *name, const char *word,
                                  struct gpumc_error *error)
{
  hid_t type = H5Tcopy(H5T_C_S1);
  if (type >= 0)
    H5Tset_size(type, strlen(word) + 1);
  const enum gpumc_status status =
      gpumc_hdf5_set_attribute(file, object, where, name, file->scalar, type, type, word, error);
  gpumc_hdf5_release(type);
  return status;
}

/* Makes room for one more, and returns its place. */
static struct reference *add_reference(struct gpumc_axis *axis)
{
  if ((axis->count & (axis->count - 1)) == 0) {
    const size_t room = axis->count > 0 ? 2 * axis->count : 1;
    struct reference *grown = realloc(axis->references, room * sizeof *grown);
    if (grown == NULL)
      return NULL;
    axis->references = grown;
  }
  struct reference *added = &axis->references[axis->count++];
  memset(added, 0, sizeof *added); /* the padding is written, too */
  return added;
}

/* Puts the datasets that the axis in the file has already in front. */
static enum gpumc_status add_earlier(const struct gpumc_hdf5_file *file, hid_t data, hid_t type,
                                     struct gpumc_axis *axis, struct gpumc_error *error)
{
  enum gpumc_status status = GPUMC_OK;
  struct reference *all = NULL;
  hid_t attribute = H5Aopen(data, "REFERENCE_LIST", H5P_DEFAULT);
  hid_t space = attribute >= 0 ? H5Aget_space(attribute) : H5I_INVALID_HID;
  const hssize_t earlier = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
  if (earlier < 0) {
    status = gpumc_hdf5_error(file, error, "read the datasets of the axis %s", axis->path);
  } else {
    GPUMC_TRY_OUT(status, gpumc_allocate_array(&all, 2 * ((size_t)earlier + axis->count),
                                               "datasets of an axis", error));
    memcpy(all + earlier, axis->references, axis->count * sizeof *all);
    if (H5Aread(attribute, type, all) < 0)
      status = gpumc_hdf5_error(file, error, "read the datasets of the axis %s", axis->path);
    free(axis->references);
    axis->references = all;
    axis->count += (size_t)earlier;
  }
out:
  gpumc_hdf5_release(space);
  gpumc_hdf5_release(attribute);
  return status;
}

static enum gpumc_status write_axis(const struct gpumc_hdf5_file *file, hid_t type,
                                    struct gpumc_axis *axis, struct gpumc_error *error)
{
  const char *slash = strrchr(axis->path, '/');
  hid_t data = H5Dopen2(file->id, axis->path, H5P_DEFAULT);
  const htri_t known = data < 0 ? -1 : H5Aexists(data, "REFERENCE_LIST");
  enum gpumc_status status = GPUMC_OK;
  if (known < 0)
    GPUMC_TRY_OUT(status, gpumc_hdf5_error(file, error, "use %s as an axis", axis->path));
  if (known > 0)
    GPUMC_TRY_OUT(status, add_earlier(file, data, type, axis, error));
  if (known == 0) {
    GPUMC_TRY_OUT(status, set_word(file, data, axis->path, "CLASS", "DIMENSION_SCALE", error));
    GPUMC_TRY_OUT(status, set_word(file, data, axis->path, "NAME",
                                   slash != NULL ? slash + 1 : axis->path, error));
  }
  status = set_list(file, data, axis->path, "REFERENCE_LIST", type, axis->count, axis->references,
                    error);
out:
  gpumc_hdf5_release(data);
  return status;
}

enum gpumc_status gpumc_axes_write(struct gpumc_axes *axes, const struct gpumc_hdf5_file *file,
                                   struct gpumc_error *error)
{
  enum gpumc_status status = GPUMC_OK;
  hid_t type = axes->count > 0 ? reference_type() : H5I_INVALID_HID;
  for (size_t i = 0; i < axes->count && status == GPUMC_OK; i++)
    status = write_axis(file, type, &axes->axis[i], error);
  gpumc_hdf5_release(type);
  gpumc_axes_free(axes);
  return status;
}

/* Finds the axis at `path`, from the newest on, or adds it. */
static enum gpumc_status find_axis(struct gpumc_axes *axes, const struct gpumc_hdf5_file *file,
                                   const char *path, struct gpumc_axis **axis,
                                   struct gpumc_error *error)
{
  for (size_t i = axes->count; i > 0; i--) {
    *axis = &axes->axis[i - 1];
    if (strcmp((*axis)->path, path) == 0)
      return GPUMC_OK;
  }
  if (axes->count == MOST_AXES)
    GPUMC_TRY(gpumc_axes_write(axes, file, error));
  if (axes->axis == NULL)
    GPUMC_TRY(gpumc_allocate_array(&axes->axis, MOST_AXES, "axes of a result", error));
  *axis = &axes->axis[axes->count];
  **axis = (struct gpumc_axis){0};
  if (H5Rcreate(&(*axis)->address, file->id, path, H5R_OBJECT, -1) < 0)
    return gpumc_hdf5_error(file, error, "use %s as an axis", path);
  (*axis)->path = strdup(path);
  if ((*axis)->path == NULL)
    return gpumc_error_set(error, GPUMC_FAILURE, "out of memory: the axis %s", path);
  axes->count++;
  return GPUMC_OK;
}

enum gpumc_status gpumc_axes_attach(struct gpumc_axes *axes, const struct gpumc_hdf5_file *file,
                                    hid_t data, const char *where, size_t rank,
                                    const char *const *paths, struct gpumc_error *error)
{
  hvl_t of_dimension[GPUMC_DATASET_RANK_MAXIMUM] = {{0}};
  hobj_ref_t addresses[GPUMC_DATASET_RANK_MAXIMUM], own;
  bool any = false;
  assert(rank <= GPUMC_DATASET_RANK_MAXIMUM);
  for (size_t d = 0; d < rank; d++) {
    struct gpumc_axis *axis;
    if (paths[d] == NULL)
      continue;
    if (!any && H5Rcreate(&own, data, ".", H5R_OBJECT, -1) < 0)
      return gpumc_hdf5_error(file, error, "find %s", where);
    GPUMC_TRY(find_axis(axes, file, paths[d], &axis, error));
    struct reference *reference = add_reference(axis);
    if (reference == NULL)
      return gpumc_error_set(error, GPUMC_FAILURE, "out of memory: the axis %s", paths[d]);
    reference->data = own;
    reference->dimension = (int)d;
    addresses[d] = axis->address;
    of_dimension[d] = (hvl_t){1, &addresses[d]};
    any = true;
  }
  if (!any)
    return GPUMC_OK;
  hid_t type = H5Tvlen_create(H5T_STD_REF_OBJ);
  const enum gpumc_status status =
      set_list(file, data, where, "DIMENSION_LIST", type, rank, of_dimension, error);
  gpumc_hdf5_release(type);
  return status;
}
