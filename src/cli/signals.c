/* The thread that hears signals, and the handlers in its place where none can be started. */
#include "cli/signals.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

#include "core/base/machine.h"

/* Nothing of it is large: what it calls is async-signal-safe. */
enum { STACK_BYTES = 256 << 10 };
enum { LOOK_MICROSECONDS = 100000 }; /* from one look to the next */

static struct {
  sigset_t set;
  const struct cli_listener *listener;
  bool any;     /* heard so far */
  double first; /* when, by gpumc_clock */
} listening;

bool cli_signal_is_ignored(int number)
{
  struct sigaction action;
  return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

bool cli_signal_was_heard(void)
{
  return __atomic_load_n(&listening.any, __ATOMIC_RELAXED);
}

void cli_end_by_signal(int number)
{
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  signal(number, SIG_DFL);
  raise(number);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static void hear(int number)
{
  if (!listening.any)
    listening.first = gpumc_clock();
  __atomic_store_n(&listening.any, true, __ATOMIC_RELAXED);
  listening.listener->heard(number);
}

static void look(void)
{
  listening.listener->look(gpumc_clock() - listening.first);
}

static void *listen(void *unused)
{
  static const struct timespec pause = {.tv_nsec = 1000 * LOOK_MICROSECONDS};
  (void)unused;
  for (;;) {
    const int number = listening.any ? sigtimedwait(&listening.set, NULL, &pause)
                                     : sigwaitinfo(&listening.set, NULL);
    if (number > 0)
      hear(number);
    if (listening.any)
      look();
  }
  return NULL;
}

static bool begin_thread(void)
{
  pthread_attr_t attributes;
  pthread_t thread;
  if (pthread_attr_init(&attributes) != 0)
    return false;
  const bool begun = pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0 &&
                     pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0 &&
                     pthread_create(&thread, &attributes, listen, NULL) == 0;
  pthread_attr_destroy(&attributes);
  return begun;
}

/* glibc documents setitimer as async-signal-safe. */
static void begin_to_look(void)
{
  static const struct timeval pause = {.tv_usec = LOOK_MICROSECONDS};
  setitimer(ITIMER_REAL, &(struct itimerval){.it_interval = pause, .it_value = pause}, NULL);
}

static void handle(int number)
{
  const int interrupted = errno;
  const bool begins = !listening.any;
  if (number == SIGALRM) {
    look();
  } else {
    hear(number);
    if (begins)
      begin_to_look();
  }
  errno = interrupted;
}

/* In place of the thread: the timer's signal looks. All are held back in each other's handlers. */
static void install_handlers(const int numbers[], size_t n)
{
  sigaddset(&listening.set, SIGALRM);
  const struct sigaction action = {
      .sa_handler = handle, .sa_mask = listening.set, .sa_flags = SA_RESTART};
  for (size_t i = 0; i < n; i++)
    sigaction(numbers[i], &action, NULL);
  sigaction(SIGALRM, &action, NULL);
  pthread_sigmask(SIG_UNBLOCK, &listening.set, NULL);
  if (listening.any)
    begin_to_look();
}

void cli_listen(const int numbers[], size_t n, const struct cli_listener *listener)
{
  static const struct timespec none = {0};
  listening.listener = listener;
  sigemptyset(&listening.set);
  for (size_t i = 0; i < n; i++)
    sigaddset(&listening.set, numbers[i]);
  pthread_sigmask(SIG_BLOCK, &listening.set, NULL);
  for (int number; (number = sigtimedwait(&listening.set, NULL, &none)) > 0;)
    hear(number);
  if (!begin_thread())
    install_handlers(numbers, n);
}
