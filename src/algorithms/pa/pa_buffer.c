/* Host memory for messages between processes. */
#include <stdlib.h>

#include "algorithms/pa/pa_parts.h"
#include "core/base/memory.h"

enum gpumc_status
pa_buffer_reserve(struct pa_buffer *buffer, size_t bytes, struct gpumc_error *error)
{
  static const char what[] = "messages between processes";
  struct gpumc_device *device = buffer->device;
  if (bytes <= buffer->bytes)
    return GPUMC_OK;
  pa_buffer_free(buffer);
  bytes += bytes / 2; /* next time it may be a little more */
  if (device == NULL) {
    GPUMC_TRY(gpumc_allocate_array(&buffer->memory, bytes, what, error));
  } else {
    GPUMC_TRY(device->ops->slot_create(device, bytes, what, &buffer->slot, error));
    buffer->memory = buffer->slot.memory;
  }
  buffer->bytes = bytes;
  return GPUMC_OK;
}

void pa_buffer_free(struct pa_buffer *buffer)
{
  if (buffer->device != NULL)
    buffer->device->ops->slot_free(buffer->device, &buffer->slot);
  else
    free(buffer->memory);
  *buffer = (struct pa_buffer){.device = buffer->device};
}
