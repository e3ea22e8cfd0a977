/* Copies the arrays that make up a state to and from a checkpoint, through the host if they are in
 * device memory. */
#include "core/storage/checkpoint.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/memory.h"
#include "core/device/device.h"

enum { NAME_BYTES = 128 };

/* One array in transit. */
struct passage {
  char name[NAME_BYTES];
  size_t bytes;
  struct gpumc_device *device;
  void *values; /* on the host: the part's own values unless they are on a device */
};

size_t gpumc_element_bytes(enum gpumc_element element)
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
  const size_t bytes = gpumc_element_bytes(part->element), count = part->rows * part->width;
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
  enum gpumc_status status;
  GPUMC_TRY(passage_begin(&passage, part, device, prefix, error));
  if (device != NULL)
    GPUMC_TRY_OUT(status, device->ops->copy_to_host(device, passage.values, part->values,
                                                    passage.bytes, error));
  status = gpumc_checkpoint_put(writer, passage.name, part->element, part->rows, part->width,
                                passage.values, error);
out:
  passage_end(&passage);
  return status;
}

static enum gpumc_status load_part(const struct gpumc_part *part, struct gpumc_device *device,
                                   struct gpumc_checkpoint_reader *reader, const char *prefix,
                                   struct gpumc_error *error)
{
  struct passage passage;
  enum gpumc_status status;
  GPUMC_TRY(passage_begin(&passage, part, device, prefix, error));
  GPUMC_TRY_OUT(status, gpumc_checkpoint_get_rows(reader, passage.name, part->element, 0,
                                                  part->rows, part->width, passage.values, error));
  if (device != NULL)
    status =
        device->ops->copy_to_device(device, part->values, passage.values, passage.bytes, error);
out:
  passage_end(&passage);
  return status;
}

enum gpumc_status gpumc_parts_save(const struct gpumc_part *parts, size_t count,
                                   struct gpumc_device *device,
                                   struct gpumc_checkpoint_writer *writer, const char *prefix,
                                   struct gpumc_error *error)
{
  for (size_t i = 0; i < count; i++)
    GPUMC_TRY(save_part(&parts[i], device, writer, prefix, error));
  return GPUMC_OK;
}

enum gpumc_status gpumc_parts_load(const struct gpumc_part *parts, size_t count,
                                   struct gpumc_device *device,
                                   struct gpumc_checkpoint_reader *reader, const char *prefix,
                                   struct gpumc_error *error)
{
  for (size_t i = 0; i < count; i++)
    GPUMC_TRY(load_part(&parts[i], device, reader, prefix, error));
  return GPUMC_OK;
}
