/* Progress on stderr: a bar on a terminal, otherwise a line every half a minute. */
#include "cli/observer.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "core/base/clock.h"
#include "core/base/units.h"

static const double bar_interval = 0.1;   /* s */
static const double line_interval = 30.0; /* s */
static const double rate_window = 1.0;    /* s of work that a rate is taken over */
enum { BAR_WIDTH = 24 };

const char *cli_rate_text(double updates_per_second, char text[static 32])
{
  snprintf(text, 32, "%.3g flips/ns", updates_per_second * 1e-9);
  return text;
}

static void
measure_rate(struct cli_observer *observer, const struct gpumc_position *position, double seconds)
{
  if (!observer->begun) {
    observer->begun = true;
    observer->first_fraction = position->fraction;
    observer->first_seconds = seconds;
    observer->window_updates = position->updates;
    observer->window_seconds = seconds;
    return;
  }
  double elapsed = seconds - observer->window_seconds;
  if (elapsed <= 0 || (elapsed < rate_window && observer->rate >= 0))
    return;
  observer->rate = (position->updates - observer->window_updates) / elapsed;
  if (elapsed < rate_window)
    return;
  observer->window_updates = position->updates;
  observer->window_seconds = seconds;
}

/* Time left by the pace of this invocation; negative when it cannot be told yet. */
static double time_left(const struct cli_observer *observer, const struct gpumc_position *position,
                        double seconds)
{
  double done = position->fraction - observer->first_fraction;
  if (done <= 0)
    return -1;
  return (1 - position->fraction) * (seconds - observer->first_seconds) / done;
}

static void
show(struct cli_observer *observer, const struct gpumc_position *position, double seconds)
{
  char rate[32] = "", left[32] = "", bar[BAR_WIDTH + 1];
  double remaining = time_left(observer, position, seconds);
  if (observer->rate >= 0)
    cli_rate_text(observer->rate, rate);
  if (remaining >= 0)
    gpumc_duration_text(remaining, left);
  int filled = (int)(position->fraction * BAR_WIDTH);
  memset(bar, '.', BAR_WIDTH);
  memset(bar, '#', (size_t)(filled < 0 ? 0 : filled > BAR_WIDTH ? BAR_WIDTH : filled));
  bar[BAR_WIDTH] = '\0';
  if (observer->terminal)
    fprintf(stderr, "\r\033[K%s[%s] ", observer->label, bar);
  else
    fprintf(stderr, "gpumc: %s", observer->label);
  fprintf(stderr, "%3.0f %%  %s = %.6g", 100 * position->fraction, position->coordinate,
          position->value);
  if (*rate != '\0')
    fprintf(stderr, "  %s", rate);
  if (*left != '\0')
    fprintf(stderr, "  %s left", left);
  if (!observer->terminal)
    fputc('\n', stderr);
  fflush(stderr);
  observer->bar_shown = observer->terminal;
}

static void on_progress(void *state, const struct gpumc_position *position, double seconds)
{
  struct cli_observer *observer = state;
  measure_rate(observer, position, seconds);
  double time = gpumc_clock();
  double interval = observer->terminal ? bar_interval : line_interval;
  if (observer->quiet || time - observer->last_shown < interval)
    return;
  observer->last_shown = time;
  show(observer, position, seconds);
}

static void on_message(void *state, enum gpumc_message_level level, const char *text)
{
  struct cli_observer *observer = state;
  if (observer->quiet && level == GPUMC_NOTE)
    return;
  cli_observer_end(observer);
  cli_say(stderr, "gpumc: %s%s%s\n", observer->label, level == GPUMC_WARNING ? "warning: " : "",
          text);
}

void cli_observer_init(struct cli_observer *observer, const char *label, bool quiet)
{
  *observer = (struct cli_observer){.label = label, .quiet = quiet, .rate = -1};
  observer->observer =
      (struct gpumc_observer){.state = observer, .message = on_message, .progress = on_progress};
  observer->terminal = isatty(STDERR_FILENO) == 1;
  observer->last_shown = gpumc_clock();
}

void cli_observer_end(struct cli_observer *observer)
{
  if (observer->bar_shown)
    fputs("\r\033[K", stderr);
  observer->bar_shown = false;
}
