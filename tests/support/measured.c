/* Runs a test and appends what it took to a file, which tests/slowest reads:
 *
 *     gpumc_measured FILE NAME COMMAND...
 *
 * The test sees the number of commits as GPUMC_ROTATION, unless that is set:
 * tests/support/cases.py. A line has the name, the exit code, the CPU seconds of the test and of
 * all that it started and waited for, and the seconds that went by, between tabs. The exit code is
 * that of the test, 128 + N for signal N.
 *
 * GPUMC_STOP_AFTER=SECONDS (tests/validate --tenth): a test that is still at work then gets SIGINT,
 * at which Python's leave what they do, clean up and exit with 75 (support/cases.py), and SIGKILL
 * if that takes too long; what it left running is killed. Its line has 75, and CTest is told that
 * it was skipped: nothing had failed until then. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STOPPED = 75, SKIPPED = 77 }; /* exit codes */
enum { GRACE = 45 };                 /* seconds from SIGINT to SIGKILL: daemons are waited for */

static pid_t child;
static bool has_group;
static volatile sig_atomic_t is_stopped;

static void pass_on(int signal)
{
  if (child > 0)
    kill(has_group ? -child : child, signal);
}

static void stop(int signal)
{
  (void)signal;
  kill(-child, is_stopped ? SIGKILL : SIGINT);
  is_stopped = 1;
  alarm(GRACE);
}

/* Also those that left the group: all are children of this process by now. */
static void kill_what_is_left(void)
{
  char path[64];
  int left = 0;
  kill(-child, SIGKILL);
  snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
  do {
    FILE *children = fopen(path, "r");
    for (left = 0; children != NULL && fscanf(children, "%d", &left) == 1;)
      kill(left, SIGKILL);
    if (children != NULL)
      fclose(children);
  } while (left > 0 && waitpid(-1, NULL, 0) > 0);
}

static double seconds(struct timeval time)
{
  return (double)time.tv_sec + 1e-6 * (double)time.tv_usec;
}

/* The number of commits of the checkout in which tests run, or a number from the hash where not all
 * commits are there; nothing outside of one. */
static void set_rotation(void)
{
  char text[32] = "";
  if (getenv("GPUMC_ROTATION") != NULL)
    return;
  FILE *git = popen("if [ \"$(git rev-parse --is-shallow-repository)\" = true ]; then "
                    "printf '%d' 0x$(git rev-parse HEAD | cut -c 1-6); "
                    "else git rev-list --count HEAD; fi 2> /dev/null",
                    "r");
  if (git == NULL)
    return;
  if (fgets(text, sizeof text, git) != NULL) {
    text[strcspn(text, "\n")] = 0;
    setenv("GPUMC_ROTATION", text, 1);
  }
  pclose(git);
}

/* One write, so that tests side by side do not mix their lines. */
static void append(const char *file, const char *name, int code, double cpu, double wall)
{
  FILE *lines = fopen(file, "a");
  if (lines == NULL) {
    fprintf(stderr, "gpumc_measured: %s: %s\n", file, strerror(errno));
    return;
  }
  fprintf(lines, "%s\t%d\t%.2f\t%.2f\n", name, code, cpu, wall);
  fclose(lines);
}

int main(int argc, char **argv)
{
  if (argc < 4) {
    fprintf(stderr, "usage: gpumc_measured FILE NAME COMMAND...\n");
    return 2;
  }
  struct timespec begin, end;
  const char *limit = getenv("GPUMC_STOP_AFTER");
  const unsigned stop_after = limit == NULL ? 0 : (unsigned)strtoul(limit, NULL, 10);
  setenv("GPUMC_TEST", argv[2], 1);
  set_rotation();
  clock_gettime(CLOCK_MONOTONIC, &begin);
  has_group = stop_after > 0;
  if (has_group)
    prctl(PR_SET_CHILD_SUBREAPER, 1);
  child = fork();
  if (child < 0) {
    perror("gpumc_measured: fork");
    return 1;
  }
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* CTest ends a test that takes too long by SIGKILL */
    if (has_group) {
      setpgid(0, 0);
      signal(SIGINT, SIG_DFL); /* a shell's background jobs ignore it */
    }
    execvp(argv[3], argv + 3);
    fprintf(stderr, "gpumc_measured: %s: %s\n", argv[3], strerror(errno));
    _exit(127);
  }
  signal(SIGTERM, pass_on);
  if (has_group) {
    setpgid(child, child);
    signal(SIGINT, pass_on);
    signal(SIGALRM, stop);
    alarm(stop_after);
  } else {
    signal(SIGINT, SIG_IGN); /* Ctrl-C reaches the test itself */
  }
  int status = 0;
  struct rusage used;
  while (wait4(child, &status, 0, &used) < 0)
    if (errno != EINTR) {
      perror("gpumc_measured: wait");
      return 1;
    }
  clock_gettime(CLOCK_MONOTONIC, &end);
  alarm(0);
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  const bool was_stopped = is_stopped && (WIFSIGNALED(status) || code == STOPPED);
  if (was_stopped) {
    code = STOPPED;
    fprintf(stderr, "gpumc_measured: stopped after %u s, as GPUMC_STOP_AFTER has it\n", stop_after);
  }
  if (is_stopped)
    kill_what_is_left();
  append(argv[1], argv[2], code, seconds(used.ru_utime) + seconds(used.ru_stime),
         (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec));
  return was_stopped ? SKIPPED : code;
}
