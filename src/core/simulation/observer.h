/* How a run tells what happens: the library never prints, the caller's observer does. */
#ifndef GPUMC_CORE_OBSERVER_H
#define GPUMC_CORE_OBSERVER_H

#include <stddef.h>

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

#endif
