/* The cases of a test, chosen by time and commit as in cases.py. */
#include "support/cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { PASSES = 61, STEP = 23, WAITING = 3 };
/* Steps of the first pass, of the first case of each pass and of the first test, as in cases.py. */
static const double golden = 0.6180339887498949, other = 0.41421356237309515,
                    of_tests = 0.7320508075688772;

/* The case at work, which was not finished if a failed assertion left its loop. */
static struct {
  const char *loop;
  size_t number;
} running;

static bool is_found; /* a case that the user asked for */

static void tell_unfinished(void)
{
  const char *build = getenv("GPUMC_BUILD"), *test = getenv("GPUMC_TEST");
  if (running.loop != NULL)
    fprintf(stderr, "%s: left in case %zu, repeated by GPUMC_CASES=%s:%zu", running.loop,
            running.number, running.loop, running.number);
  if (running.loop != NULL && build != NULL && test != NULL)
    fprintf(stderr, " ctest --test-dir '%s' -R '^%s$' --output-on-failure", build, test);
  if (running.loop != NULL)
    fprintf(stderr, "\n");
  running.loop = NULL;
}

/* Of the sanitizers, where there are any: they end a program without atexit(). */
void __sanitizer_set_death_callback(void (*call)(void)) __attribute__((weak));

static double number_of(const char *variable, double missing)
{
  const char *text = getenv(variable);
  return text == NULL || *text == 0 ? missing : strtod(text, NULL);
}

static double seconds(void)
{
  return number_of("GPUMC_CASES_SECONDS", INFINITY) * number_of("GPUMC_CASES_SHARE", 1);
}

static double clock_seconds(clockid_t clock)
{
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Of this process and of those that it has waited for. */
static double cpu_seconds(void)
{
  struct rusage children;
  getrusage(RUSAGE_CHILDREN, &children);
  return clock_seconds(CLOCK_PROCESS_CPUTIME_ID) + (double)children.ru_utime.tv_sec +
         (double)children.ru_stime.tv_sec +
         1e-6 * (double)(children.ru_utime.tv_usec + children.ru_stime.tv_usec);
}

/* Returns whether there is an order of the user's: LOOP:NUMBER. */
static bool is_ordered(void)
{
  const char *only = getenv("GPUMC_CASES");
  return only != NULL && *only != 0;
}

static bool is_wanted(const struct cases *cases, size_t number)
{
  const char *only = getenv("GPUMC_CASES"), *colon = strrchr(only, ':');
  return colon != NULL && (size_t)(colon - only) == strlen(cases->loop) &&
         strncmp(only, cases->loop, strlen(cases->loop)) == 0 &&
         strtoull(colon + 1, NULL, 10) == number;
}

static bool in_passes(void)
{
  return isfinite(seconds()) && !is_ordered();
}

/* A case that there is not has not passed. */
static void finish(void)
{
  tell_unfinished();
  if (is_ordered() && !is_found) {
    fprintf(stderr, "GPUMC_CASES=%s: no loop has such a case\n", getenv("GPUMC_CASES"));
    fflush(NULL);
    _exit(1);
  }
}

struct cases cases_begin(const char *loop)
{
  static bool is_told;
  if (!is_told) {
    atexit(finish);
    if (__sanitizer_set_death_callback != NULL)
      __sanitizer_set_death_callback(tell_unfinished);
  }
  is_told = true;
  tell_unfinished();
  return (struct cases){.loop = loop,
                        .begin = cpu_seconds(),
                        .end = clock_seconds(CLOCK_MONOTONIC) + WAITING * seconds()};
}

static bool is_time_up(const struct cases *cases)
{
  return cases->taken > 0 && (cpu_seconds() - cases->begin >= seconds() ||
                              clock_seconds(CLOCK_MONOTONIC) >= cases->end);
}

/* Of fewer cases each is a pass. Without a time there is one of all. */
static size_t passes_of(const struct cases *cases)
{
  const size_t most = in_passes() ? PASSES : 1;
  return cases->total < most ? cases->total : most;
}

/* Returns a place among `count` that moves from commit to commit. */
static size_t place_of(double step, size_t count)
{
  const double turns = number_of("GPUMC_ROTATION", 0) * step;
  return (size_t)((turns - floor(turns)) * (double)count);
}

/* Returns whether a case belongs to the pass that is under way. Each pass comes in two halves: the
 * cases from some place on, then those before. */
static bool is_in_pass(const struct cases *cases, size_t number)
{
  const size_t passes = passes_of(cases), step = passes % STEP != 0 ? STEP : 1;
  const size_t turn = (cases->pass - 2) / 2, half = (cases->pass - 2) % 2;
  const size_t remainder = (place_of(golden, passes) + turn) * step % passes;
  const size_t members = (cases->total - remainder + passes - 1) / passes;
  const bool is_late = number / passes >= place_of(other, members);
  return number % passes == remainder && is_late == (half == 0);
}

static void tell(const struct cases *cases)
{
  fprintf(stderr, "%s: %zu of %zu cases (rotation %.0f):", cases->loop, cases->taken, cases->total,
          number_of("GPUMC_ROTATION", 0));
  for (size_t i = 0; i < cases->taken && i < CASES_SHOWN; i++)
    fprintf(stderr, "%s%zu", i == 0 ? " " : ", ", cases->shown[i]);
  fprintf(stderr, "%s; the longest, %zu, took %.1f s\n", cases->taken > CASES_SHOWN ? ", ..." : "",
          cases->longest, cases->most);
}

/* The case at work, if there is one, has passed. */
static void end_case(struct cases *cases)
{
  const double took = running.loop == NULL ? 0 : cpu_seconds() - cases->since;
  if (took > cases->most) {
    cases->most = took;
    cases->longest = running.number;
  }
  running.loop = NULL;
}

bool cases_more(struct cases *cases)
{
  end_case(cases);
  if (cases->pass == 1) {
    cases->total = cases->number;
    if (cases->total == 0)
      fail_msg("%s: no cases", cases->loop);
  }
  const size_t last = in_passes() ? 1 + 2 * passes_of(cases) : 2;
  const bool is_last = cases->pass == last;
  if (is_last || (cases->pass > 1 && in_passes() && is_time_up(cases))) {
    if (cases->taken < cases->total)
      tell(cases);
    return false;
  }
  cases->pass++;
  cases->number = 0;
  return true;
}

bool cases_take(struct cases *cases)
{
  const size_t number = cases->number++;
  end_case(cases);
  if (cases->pass == 1)
    return false;
  if (is_ordered()) {
    if (!is_wanted(cases, number))
      return false;
    is_found = true;
  } else if (in_passes() && (!is_in_pass(cases, number) || is_time_up(cases))) {
    return false;
  }
  if (cases->taken < CASES_SHOWN)
    cases->shown[cases->taken] = number;
  cases->taken++;
  cases->since = cpu_seconds();
  running.loop = cases->loop;
  running.number = number;
  return true;
}

size_t cases_number(const struct cases *cases)
{
  return cases->number - 1;
}

int cases_run(const struct CMUnitTest *tests, size_t count)
{
  if (!in_passes())
    return _cmocka_run_group_tests("tests", tests, count, NULL, NULL);
  const size_t first = place_of(of_tests, count);
  struct cases cases = cases_begin(__func__);
  int failed = 0;
  while (cases.taken < count && !is_time_up(&cases)) {
    const struct CMUnitTest *test = &tests[(first + cases.taken++) % count];
    failed += _cmocka_run_group_tests(test->name, test, 1, NULL, NULL);
  }
  if (cases.taken < count)
    fprintf(stderr, "%zu of %zu tests (rotation %.0f), from %s on\n", cases.taken, count,
            number_of("GPUMC_ROTATION", 0), tests[first].name);
  return failed;
}
