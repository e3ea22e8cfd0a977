/* Texts and attributes of HDF5 files, and the groups on the way to them. */
#include "core/storage/hdf5_values.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"

/* Longer than any configuration; anything that claims to be longer is damaged. */
enum { LONGEST_TEXT = 64 << 20 };

enum gpumc_status gpumc_hdf5_set_attribute(const struct gpumc_hdf5_file *file, hid_t object,
                                           const char *where, const char *name, hid_t space,
                                           hid_t type, hid_t memory_type, const void *value,
                                           struct gpumc_error *error)
{
  enum gpumc_status status;
  hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  /* Few exist already: to ask first would take longer for all others. */
  if (attribute < 0 && H5Aexists(object, name) > 0 && H5Adelete(object, name) >= 0)
    attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  if (attribute < 0 || H5Awrite(attribute, memory_type, value) < 0)
    status = gpumc_hdf5_error(file, error, "write the attribute %s of %s", name, where);
  else
    status = gpumc_hdf5_check(file, error);
  gpumc_hdf5_release(attribute);
  return status;
}

enum gpumc_status gpumc_hdf5_set_text(const struct gpumc_hdf5_file *file, hid_t object,
                                      const char *where, const char *name, const char *value,
                                      struct gpumc_error *error)
{
  const size_t length = strlen(value);
  if (length > GPUMC_HDF5_LONGEST_FIXED_TEXT) {
    hid_t type = gpumc_hdf5_text_type(H5T_VARIABLE);
    const enum gpumc_status status = gpumc_hdf5_set_attribute(
        file, object, where, name, file->scalar, type, type, &value, error);
    gpumc_hdf5_release(type);
    return status;
  }
  /* HDF5 has no empty text type. */
  if (H5Tset_size(file->text, length > 0 ? length : 1) < 0)
    return gpumc_hdf5_error(file, error, "write the attribute %s of %s", name, where);
  return gpumc_hdf5_set_attribute(file, object, where, name, file->scalar, file->text, file->text,
                                  value, error);
}

enum gpumc_status gpumc_hdf5_set_number(const struct gpumc_hdf5_file *file, hid_t object,
                                        const char *where, const char *name, double value,
                                        struct gpumc_error *error)
{
  return gpumc_hdf5_set_attribute(file, object, where, name, file->scalar, H5T_IEEE_F64LE,
                                  H5T_NATIVE_DOUBLE, &value, error);
}

enum gpumc_status gpumc_hdf5_set_integer(const struct gpumc_hdf5_file *file, hid_t object,
                                         const char *where, const char *name, int64_t value,
                                         struct gpumc_error *error)
{
  return gpumc_hdf5_set_attribute(file, object, where, name, file->scalar, H5T_STD_I64LE,
                                  H5T_NATIVE_INT64, &value, error);
}

hid_t gpumc_hdf5_intermediate_groups(void)
{
  hid_t list = H5Pcreate(H5P_LINK_CREATE);
  if (list < 0)
    return list;
  if (H5Pset_create_intermediate_group(list, 1) >= 0)
    return list;
  gpumc_hdf5_release(list);
  return H5I_INVALID_HID;
}

enum gpumc_status gpumc_hdf5_put_text(const struct gpumc_hdf5_file *file, const char *path,
                                      const char *text, struct gpumc_error *error)
{
  enum gpumc_status status;
  const size_t size = strlen(text) + 1;
  const H5D_layout_t layout = size <= GPUMC_HDF5_COMPACT_BYTES ? H5D_COMPACT : H5D_CONTIGUOUS;
  hid_t data = H5I_INVALID_HID;
  hid_t type = gpumc_hdf5_text_type(size);
  hid_t links = gpumc_hdf5_intermediate_groups();
  if (type >= 0 && links >= 0 && H5Pset_layout(file->plain, layout) >= 0)
    data = H5Dcreate2(file->id, path, type, file->scalar, links, file->plain, H5P_DEFAULT);
  if (data < 0 || H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) < 0)
    status = gpumc_hdf5_error(file, error, "write %s", path);
  else
    status = gpumc_hdf5_check(file, error);
  gpumc_hdf5_release(data);
  gpumc_hdf5_release(links);
  gpumc_hdf5_release(type);
  return status;
}

/* Negative if the file is too damaged to tell. */
static htri_t look_up(hid_t location, const char *path)
{
  char part[BUFSIZ];
  htri_t found = 1;
  for (const char *end = path; *end != '\0' && found > 0;) {
    end = strchr(end + 1, '/');
    if (end == NULL)
      end = path + strlen(path);
    if ((size_t)(end - path) >= sizeof part)
      return 0;
    memcpy(part, path, (size_t)(end - path));
    part[end - path] = '\0';
    if (strcmp(part, "/") != 0)
      found = H5Lexists(location, part, H5P_DEFAULT);
  }
  return found;
}

bool gpumc_hdf5_exists(hid_t location, const char *path)
{
  return look_up(location, path) > 0;
}

enum gpumc_status gpumc_hdf5_find(const struct gpumc_hdf5_file *file, hid_t location,
                                  const char *path, bool *found, struct gpumc_error *error)
{
  const htri_t answer = look_up(location, path);
  *found = answer > 0;
  return answer >= 0 ? GPUMC_OK : gpumc_hdf5_error(file, error, "look for %s", path);
}

hid_t gpumc_hdf5_group(hid_t location, const char *path)
{
  if (strcmp(path, "/") == 0 || gpumc_hdf5_exists(location, path))
    return H5Gopen2(location, path, H5P_DEFAULT);
  hid_t group = H5I_INVALID_HID;
  hid_t links = gpumc_hdf5_intermediate_groups();
  hid_t creation = H5Pcreate(H5P_GROUP_CREATE);
  if (links >= 0 && creation >= 0 && gpumc_hdf5_set_group(creation) >= 0)
    group = H5Gcreate2(location, path, links, creation, H5P_DEFAULT);
  gpumc_hdf5_release(creation);
  gpumc_hdf5_release(links);
  return group;
}

static bool read_any(hid_t object, bool is_attribute, hid_t type, void *buffer)
{
  if (is_attribute)
    return H5Aread(object, type, buffer) >= 0;
  return H5Dread(object, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, buffer) >= 0;
}

/* Returns the text of a scalar of text type, or NULL with the HDF5 error stack set or empty. */
static char *read_text(hid_t object, bool is_attribute, hid_t stored)
{
  struct gpumc_error ignored = {0};
  char *text = NULL;
  bool variable = H5Tis_variable_str(stored) > 0;
  size_t size = variable ? H5T_VARIABLE : H5Tget_size(stored) + 1;
  if (!variable && size > LONGEST_TEXT)
    return NULL;
  hid_t type = gpumc_hdf5_text_type(size);
  if (type < 0)
    return NULL;
  H5Tset_cset(type, H5Tget_cset(stored));
  if (variable) {
    char *allocated = NULL;
    if (read_any(object, is_attribute, type, &allocated)) {
      text = strdup(allocated != NULL ? allocated : "");
      H5free_memory(allocated);
    }
  } else if (gpumc_allocate_array(&text, size, "a text", &ignored) != GPUMC_OK) {
    gpumc_error_free(&ignored);
  } else if (!read_any(object, is_attribute, type, text)) {
    free(text);
    text = NULL;
  }
  gpumc_hdf5_release(type);
  return text;
}

static bool is_scalar(hid_t space)
{
  return space >= 0 && H5Sget_simple_extent_npoints(space) == 1;
}

enum gpumc_status gpumc_hdf5_get_text(const struct gpumc_hdf5_file *file, const char *path,
                                      char **text, struct gpumc_error *error)
{
  *text = NULL;
  hid_t data = gpumc_hdf5_open_dataset(file, file->id, path, error);
  if (data < 0)
    return GPUMC_FAILURE;
  enum gpumc_status status = GPUMC_OK;
  hid_t type = H5Dget_type(data);
  hid_t space = H5Dget_space(data);
  if (type < 0 || H5Tget_class(type) != H5T_STRING || !is_scalar(space)) {
    status = gpumc_error_set(error, GPUMC_FAILURE, "%s: %s is not text", file->path, path);
  } else {
    *text = read_text(data, false, type);
    if (*text == NULL)
      status = gpumc_hdf5_error(file, error, "read %s", path);
  }
  gpumc_hdf5_release(space);
  gpumc_hdf5_release(type);
  gpumc_hdf5_release(data);
  return status;
}

/* Returns the shortest decimal that reads back as the same double. */
static char *number_text(double value)
{
  char text[40];
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, value);
    if (strtod(text, NULL) == value || isnan(value))
      break;
  }
  return strdup(text);
}

char *gpumc_hdf5_attribute_text(hid_t object, const char *name)
{
  char *text = NULL;
  char digits[32];
  int64_t integer = 0;
  double number = 0;
  if (H5Aexists(object, name) <= 0)
    return NULL;
  hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
  if (attribute < 0)
    return NULL;
  hid_t type = H5Aget_type(attribute);
  hid_t space = H5Aget_space(attribute);
  H5T_class_t class = type < 0 || !is_scalar(space) ? H5T_NO_CLASS : H5Tget_class(type);
  if (class == H5T_STRING) {
    text = read_text(attribute, true, type);
  } else if (class == H5T_INTEGER && H5Aread(attribute, H5T_NATIVE_INT64, &integer) >= 0) {
    snprintf(digits, sizeof digits, "%" PRId64, integer);
    text = strdup(digits);
  } else if (class == H5T_FLOAT && H5Aread(attribute, H5T_NATIVE_DOUBLE, &number) >= 0) {
    text = number_text(number);
  }
  gpumc_hdf5_release(space);
  gpumc_hdf5_release(type);
  gpumc_hdf5_release(attribute);
  return text;
}

H5T_class_t gpumc_hdf5_attribute_class(hid_t object, const char *name)
{
  if (H5Aexists(object, name) <= 0)
    return H5T_NO_CLASS;
  hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
  if (attribute < 0)
    return H5T_NO_CLASS;
  hid_t type = H5Aget_type(attribute);
  H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
  H5Tclose(type);
  H5Aclose(attribute);
  return class;
}

bool gpumc_hdf5_attribute_integer(hid_t object, const char *name, int64_t *value)
{
  if (H5Aexists(object, name) <= 0)
    return false;
  hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
  if (attribute < 0)
    return false;
  hid_t type = H5Aget_type(attribute);
  hid_t space = H5Aget_space(attribute);
  bool valid = type >= 0 && H5Tget_class(type) == H5T_INTEGER && is_scalar(space) &&
               H5Aread(attribute, H5T_NATIVE_INT64, value) >= 0;
  gpumc_hdf5_release(space);
  gpumc_hdf5_release(type);
  gpumc_hdf5_release(attribute);
  return valid;
}
