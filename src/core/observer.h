/* How a run tells what happens: the library never prints, the caller's observer does. */
#ifndef GPUMC_CORE_OBSERVER_H
#define GPUMC_CORE_OBSERVER_H

enum gpumc_message_level { GPUMC_NOTE, GPUMC_WARNING };

struct gpumc_position;

/* Both functions may be NULL. */
struct gpumc_observer {
  void *state;
  void (*message)(void *state, enum gpumc_message_level level, const char *text);
  /* Called after every unit. `seconds`: time worked so far, earlier parts included. */
  void (*progress)(void *state, const struct gpumc_position *position, double seconds);
};

#endif
