/* Signals that end a command, heard by a thread of their own.
 *
 * A thread that waits for a disk or a file server that does not answer runs no handler, and the
 * kernel may choose it for the signal. The signals are therefore held back from all threads but
 * one, which waits for nothing else and can end the program. */
#ifndef GPUMC_CLI_SIGNALS_H
#define GPUMC_CLI_SIGNALS_H

#include <stdbool.h>
#include <stddef.h>

/* `heard`: called for each signal. `look`: called about every tenth of a second from the first of
 * them on, with the seconds since. Both are async-signal-safe. */
struct cli_listener {
  void (*heard)(int number);
  void (*look)(double seconds);
};

/* Listens to these signals until the program ends; `listener` must last as long. To be called once,
 * before there are other threads. Signals that have waited are heard before it returns. If no
 * thread can be started, handlers hear, and a timer (SIGALRM) has them look: as well as the thread,
 * except while the kernel runs no handler. */
void cli_listen(const int numbers[], size_t n, const struct cli_listener *listener);

/* Returns whether any signal has been heard yet. */
bool cli_signal_was_heard(void);

/* Returns whether the parent, such as nohup, had the signal ignored. */
bool cli_signal_is_ignored(int number);

/* Ends the program as if it did not know the signal: the shell sees it. */
void cli_end_by_signal(int number);

#endif
