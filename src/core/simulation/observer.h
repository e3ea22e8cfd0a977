/* How a run tells what happens: the library never prints, the caller's observer does. */
#ifndef GPUMC_CORE_OBSERVER_H
#define GPUMC_CORE_OBSERVER_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum gpumc_message_level { GPUMC_NOTE, GPUMC_WARNING };

struct gpumc_position;

/* Both functions may be NULL. */
struct gpumc_observer {
  void *state;
  void (*message)(void *state, enum gpumc_message_level level, const char *text);
  /* Called after every unit. `seconds`: time worked so far, earlier parts included. */
  void (*progress)(void *state, const struct gpumc_position *position, double seconds);
};

/* To the observer, NULL for none, if it listens. */
static inline void gpumc_observer_tell(const struct gpumc_observer *observer,
                                       enum gpumc_message_level level, const char *text)
{
  if (observer != NULL && observer->message != NULL)
    observer->message(observer->state, level, text);
}

/* A note to it, as printf. */
__attribute__((format(printf, 2, 3))) static inline void
gpumc_observer_note(const struct gpumc_observer *observer, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  char *text = length >= 0 ? malloc((size_t)length + 1) : NULL;
  if (text == NULL)
    return;
  va_start(arguments, format);
  vsnprintf(text, (size_t)length + 1, format, arguments);
  va_end(arguments);
  gpumc_observer_tell(observer, GPUMC_NOTE, text);
  free(text);
}

#endif
