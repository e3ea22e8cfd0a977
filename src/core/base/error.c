/* The error object: one status and one message, built where the failure happened. */
#include "core/base/error.h"

#include <stdio.h>
#include <stdlib.h>

static char out_of_memory_text[] = "out of memory while describing an error";

static void release(char *message)
{
  if (message != out_of_memory_text)
    free(message);
}

enum gpumc_status
gpumc_error_set(struct gpumc_error *error, enum gpumc_status status, const char *format, ...)
{
  char *message = NULL;
  va_list arguments;
  va_start(arguments, format);
  if (vasprintf(&message, format, arguments) < 0)
    message = out_of_memory_text;
  va_end(arguments);
  release(error->message);
  error->message = message;
  error->status = status;
  error->everywhere = false;
  return status;
}

void gpumc_error_prefix(struct gpumc_error *error, const char *format, ...)
{
  char *context = NULL;
  char *message = NULL;
  va_list arguments;
  va_start(arguments, format);
  int length = vasprintf(&context, format, arguments);
  va_end(arguments);
  if (length < 0)
    return;
  if (asprintf(&message, "%s: %s", context, gpumc_error_text(error)) >= 0) {
    release(error->message);
    error->message = message;
  }
  free(context);
}

const char *gpumc_error_text(const struct gpumc_error *error)
{
  return error->message != NULL ? error->message : "no error";
}

void gpumc_error_free(struct gpumc_error *error)
{
  release(error->message);
  error->message = NULL;
  error->status = GPUMC_OK;
  error->everywhere = false;
}
