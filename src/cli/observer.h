/* Progress on stderr: a bar on a terminal, otherwise a timed line. */
#ifndef GPUMC_CLI_OBSERVER_H
#define GPUMC_CLI_OBSERVER_H

#include <stdbool.h>

#include "core/simulation/algorithm.h"

/* Of one task. `label`: in front of every line, "" for none; borrowed. */
struct cli_observer {
  struct gpumc_observer observer; /* hand this to the run */
  const char *label;
  bool quiet, terminal, bar_shown, begun;
  double first_fraction, first_seconds;  /* where this invocation began */
  double window_updates, window_seconds; /* where the rate is measured from */
  double rate;                           /* updates per second; negative before it is known */
  double last_shown;                     /* of the monotonic clock */
};

void cli_observer_init(struct cli_observer *observer, const char *label, bool quiet);
/* Remove the bar, if it is on the screen. */
void cli_observer_end(struct cli_observer *observer);

/* "1.23 flips/ns" of a rate in updates per second, into `text`; returns it. */
const char *cli_rate_text(double updates_per_second, char text[static 32]);

#endif
