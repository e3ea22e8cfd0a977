/* Memory for messages between processes. */
#include "algorithms/pa/pa_parts.h"

/* Next time it may be a little more. */
size_t pa_buffer_bytes(size_t bytes)
{
  return bytes + bytes / 2;
}

enum gpumc_status
pa_buffer_reserve(struct pa_buffer *buffer, size_t bytes, struct gpumc_error *error)
{
  if (bytes <= buffer->bytes)
    return GPUMC_OK;
  pa_buffer_free(buffer);
  GPUMC_TRY(gpumc_device_array(buffer->device, &buffer->memory, pa_buffer_bytes(bytes),
                               "messages between processes", error));
  buffer->bytes = pa_buffer_bytes(bytes);
  return GPUMC_OK;
}

void pa_buffer_free(struct pa_buffer *buffer)
{
  if (buffer->memory != NULL)
    buffer->device->ops->release(buffer->device, buffer->memory);
  *buffer = (struct pa_buffer){.device = buffer->device};
}
