/* Arrays of a state to and from a checkpoint: those of a device by way of the host. */
#include "core/storage/checkpoint_parts.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/memory.h"

enum { NAME_BYTES = 128 };

/* One array on its way. */
struct passage {
  char name[NAME_BYTES];
  size_t bytes;
  struct gpumc_device *device;
  void *values; /* on the host: the part's own unless they are a device's */
};

static size_t element_bytes(enum gpumc_element element)
{
  static const size_t bytes[] = {
      [GPUMC_UINT8] = 1,  [GPUMC_UINT32] = 4,  [GPUMC_INT64] = 8,
      [GPUMC_UINT64] = 8, [GPUMC_FLOAT64] = 8,
  };
  return bytes[element];
}

static enum gpumc_status passage_begin(struct passage *passage, const struct gpumc_part *part,
                                       struct gpumc_device *device, const char *prefix,
                                       struct gpumc_error *error)
{
  const size_t bytes = element_bytes(part->element), count = part->rows * part->width;
  *passage = (struct passage){.bytes = count * bytes, .device = device, .values = part->values};
  snprintf(passage->name, NAME_BYTES, "%s/%s", prefix, part->name);
  return device == NULL ? GPUMC_OK
                        : gpumc_allocate(count, bytes, passage->name, &passage->values, error);
}

static void passage_end(struct passage *passage)
{
  if (passage->device != NULL)
    free(passage->values);
}

static enum gpumc_status save_part(const struct gpumc_part *part, struct gpumc_device *device,
                                   struct gpumc_checkpoint_writer *writer, const char *prefix,
                                   struct gpumc_error *error)
{
  struct passage passage;
  enum gpumc_status status = passage_begin(&passage, part, device, prefix, error);
  if (status == GPUMC_OK && device != NULL)
    status = device->ops->copy_to_host(device, passage.values, part->values, passage.bytes, error);
  if (status == GPUMC_OK)
    status = gpumc_checkpoint_put(writer, passage.name, part->element, part->rows, part->width,
                                  passage.values, error);
  passage_end(&passage);
  return status;
}

static enum gpumc_status load_part(const struct gpumc_part *part, struct gpumc_device *device,
                                   struct gpumc_checkpoint_reader *reader, const char *prefix,
                                   struct gpumc_error *error)
{
  struct passage passage;
  enum gpumc_status status = passage_begin(&passage, part, device, prefix, error);
  if (status == GPUMC_OK)
    status = gpumc_checkpoint_get_rows(reader, passage.name, part->element, 0, part->rows,
                                       part->width, passage.values, error);
  if (status == GPUMC_OK && device != NULL)
    status =
        device->ops->copy_to_device(device, part->values, passage.values, passage.bytes, error);
  passage_end(&passage);
  return status;
}

enum gpumc_status gpumc_parts_save(const struct gpumc_part *parts, size_t count,
                                   struct gpumc_device *device,
                                   struct gpumc_checkpoint_writer *writer, const char *prefix,
                                   struct gpumc_error *error)
{
  enum gpumc_status status = GPUMC_OK;
  for (size_t i = 0; i < count && status == GPUMC_OK; i++)
    status = save_part(&parts[i], device, writer, prefix, error);
  return status;
}

enum gpumc_status gpumc_parts_load(const struct gpumc_part *parts, size_t count,
                                   struct gpumc_device *device,
                                   struct gpumc_checkpoint_reader *reader, const char *prefix,
                                   struct gpumc_error *error)
{
  enum gpumc_status status = GPUMC_OK;
  for (size_t i = 0; i < count && status == GPUMC_OK; i++)
    status = load_part(&parts[i], device, reader, prefix, error);
  return status;
}
