/* The error object: one status and one message, built where the failure happened. */
#include "core/base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"

static char out_of_memory_text[] = "out of memory while describing an error";

static void release(char *message)
{
  if (message != out_of_memory_text)
    free(message);
}

/* A line break that the format does not have is in a name of the user's: it is escaped. A message
 * that was made elsewhere, "%s", stays as it is. Returns the message. */
static char *on_one_line(char *message, const char *format)
{
  struct gpumc_text line = {0};
  if (strpbrk(message, "\n\t") == NULL || strchr(format, '\n') != NULL ||
      strcmp(format, "%s") == 0 || strcmp(format, "%.*s") == 0)
    return message;
  gpumc_text_append_escaped(&line, message, GPUMC_ESCAPES_TEXT);
  if (line.failed) {
    gpumc_text_free(&line);
    return message;
  }
  release(message);
  return line.characters;
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
  message = on_one_line(message, format);
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
  context = on_one_line(context, format);
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
