/* Attributes of the recorder. */
#include "core/storage/recorder_attributes.h"

#include <stdlib.h>
#include <string.h>

#include "core/storage/hdf5_values.h"

static void release(struct gpumc_attribute *attribute)
{
  free((char *)attribute->path);
  free((char *)attribute->name);
  free((char *)attribute->text);
}

enum gpumc_status gpumc_attribute_keep(struct gpumc_attribute_list *list,
                                       const struct gpumc_attribute *attribute,
                                       struct gpumc_error *error)
{
  struct gpumc_attribute copy = *attribute;
  struct gpumc_attribute *items = realloc(list->items, (list->count + 1) * sizeof *items);
  if (items != NULL)
    list->items = items;
  copy.path = strdup(attribute->path);
  copy.name = strdup(attribute->name);
  copy.text = strdup(attribute->text != NULL ? attribute->text : "");
  if (items == NULL || copy.path == NULL || copy.name == NULL || copy.text == NULL) {
    release(&copy);
    return gpumc_error_set(error, GPUMC_FAILURE, "out of memory: the attribute %s of %s",
                           attribute->name, attribute->path);
  }
  list->items[list->count++] = copy;
  return GPUMC_OK;
}

/* The object at `path`, made as a group where missing. */
static hid_t open_object(const struct gpumc_hdf5_file *file, const char *path)
{
  if (strcmp(path, "/") != 0 && gpumc_hdf5_exists(file->id, path))
    return H5Oopen(file->id, path, H5P_DEFAULT);
  return gpumc_hdf5_group(file->id, path);
}

enum gpumc_status gpumc_attribute_write(const struct gpumc_hdf5_file *file,
                                        const struct gpumc_attribute *attribute,
                                        struct gpumc_error *error)
{
  enum gpumc_status status = GPUMC_OK;
  hid_t object = open_object(file, attribute->path);
  if (object < 0)
    return gpumc_hdf5_error(file, error, "write in %s", attribute->path);
  switch (attribute->kind) {
  case GPUMC_ATTRIBUTE_TEXT:
    status =
        gpumc_hdf5_set_text(file, object, attribute->path, attribute->name, attribute->text, error);
    break;
  case GPUMC_ATTRIBUTE_NUMBER:
    status = gpumc_hdf5_set_number(file, object, attribute->path, attribute->name,
                                   attribute->number, error);
    break;
  case GPUMC_ATTRIBUTE_INTEGER:
    status = gpumc_hdf5_set_integer(file, object, attribute->path, attribute->name,
                                    attribute->integer, error);
    break;
  }
  gpumc_hdf5_release(object);
  return status;
}

void gpumc_attribute_list_free(struct gpumc_attribute_list *list)
{
  for (size_t i = 0; i < list->count; i++)
    release(&list->items[i]);
  free(list->items);
  memset(list, 0, sizeof *list);
}
