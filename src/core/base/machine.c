/* Host threads; memory from /proc/meminfo, control groups and resource limits; the monotonic
 * clock. */
#include "core/base/machine.h"

#include <ctype.h>
#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/memory.h"

/* ---- threads ---- */

static const char variable[] = "OMP_NUM_THREADS";

/* With more threads, the barriers of a parallel region, which no signal interrupts, take tens of
 * milliseconds, and a unit of work takes seconds. */
enum { THREADS_PER_PROCESSOR = 32 };

static const char *skip_blanks(const char *text)
{
  while (isspace((unsigned char)*text))
    text++;
  return text;
}

/* Skips a number and the blanks around it; NULL if the number cannot be used. */
static const char *skip_number(const char *text)
{
  long number = 0;
  text = skip_blanks(text);
  for (; isdigit((unsigned char)*text) && number <= GPUMC_THREADS_MAXIMUM; text++)
    number = 10 * number + (*text - '0');
  return number >= 1 && number <= GPUMC_THREADS_MAXIMUM ? skip_blanks(text) : NULL;
}

static bool environment_tells(void)
{
  const char *text = getenv(variable);
  return text != NULL && *skip_blanks(text) != '\0';
}

bool gpumc_threads_environment_is_good(void)
{
  const char *text = getenv(variable);
  if (!environment_tells())
    return true;
  while ((text = skip_number(text)) != NULL && *text == ',')
    text++;
  return text != NULL && *text == '\0';
}

static enum gpumc_status suit_machine(int threads, const char *source, struct gpumc_error *error)
{
  const int processors = omp_get_num_procs();
  if (threads / THREADS_PER_PROCESSOR < processors || threads == THREADS_PER_PROCESSOR * processors)
    return GPUMC_OK;
  return gpumc_error_set(error, GPUMC_INVALID,
                         "%d threads requested (%s), but gpumc uses at most %d on %d processor%s, "
                         "and is fastest with as many threads as processors",
                         threads, source, THREADS_PER_PROCESSOR * processors, processors,
                         processors == 1 ? "" : "s");
}

enum gpumc_status
gpumc_threads_choose(int asked, int processors, int *threads, struct gpumc_error *error)
{
  *threads = asked;
  if (asked > GPUMC_THREADS_MAXIMUM)
    return gpumc_error_set(error, GPUMC_INVALID, "%d threads requested; gpumc uses at most %d",
                           asked, GPUMC_THREADS_MAXIMUM);
  if (asked > 0)
    return suit_machine(asked, "--threads", error);
  if (!gpumc_threads_environment_is_good())
    return gpumc_error_set(error, GPUMC_INVALID,
                           "%s is '%.40s', which is not a number of threads from 1 to %d or a list "
                           "of such numbers: correct it, unset it, or use --threads",
                           variable, getenv(variable), GPUMC_THREADS_MAXIMUM);
  *threads = processors > 0 && !environment_tells() ? processors : omp_get_max_threads();
  if (*threads > GPUMC_THREADS_MAXIMUM)
    *threads = GPUMC_THREADS_MAXIMUM;
  return suit_machine(*threads, variable, error);
}

/* As libgomp reads it: in kilobytes if there is no unit; 0: the system's default. */
static size_t stack_bytes(void)
{
  static const char units[] = "bkmg";
  const char *text = getenv("OMP_STACKSIZE");
  char *end = NULL;
  if (text == NULL)
    text = getenv("GOMP_STACKSIZE");
  if (text == NULL)
    return 0;
  const size_t number = strtoul(text, &end, 10);
  end += strspn(end, " \t");
  const char *unit = *end != '\0' ? strchr(units, tolower((unsigned char)*end)) : &units[1];
  return unit != NULL ? number << 10 * (unit - units) : 0;
}

/* Returns how many threads this process has beside the calling one: an earlier region has left
 * those of its team. */
static int threads_at_hand(void)
{
  struct stat found;
  enum { OTHER_LINKS = 2 }; /* "." and ".." */
  return stat("/proc/self/task", &found) == 0 && found.st_nlink > OTHER_LINKS
             ? (int)found.st_nlink - OTHER_LINKS - 1
             : 0;
}

static void *pass(void *gate)
{
  pthread_mutex_lock(gate);
  pthread_mutex_unlock(gate);
  return NULL;
}

/* Starts up to `count` threads that all exist at once, and ends them. Returns how many there were;
 * `*code` says why there were no more. */
static int start_and_end(pthread_t *threads, int count, int *code)
{
  pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
  pthread_attr_t attributes;
  const size_t stack = stack_bytes();
  int started = 0;
  *code = pthread_attr_init(&attributes);
  if (*code != 0)
    return 0;
  if (stack > 0)
    (void)pthread_attr_setstacksize(&attributes,
                                    stack); /* libgomp falls back to its default, too */
  pthread_mutex_lock(&gate);
  while (started < count && *code == 0) {
    *code = pthread_create(&threads[started], &attributes, pass, &gate);
    started += *code == 0;
  }
  pthread_mutex_unlock(&gate);
  for (int i = 0; i < started; i++)
    pthread_join(threads[i], NULL);
  pthread_attr_destroy(&attributes);
  return started;
}

enum gpumc_status gpumc_threads_try(int threads, struct gpumc_error *error)
{
  const int at_hand = threads_at_hand(), missing = threads - 1 - at_hand;
  pthread_t *started = NULL;
  int code = 0;
  if (missing <= 0)
    return GPUMC_OK;
  GPUMC_TRY(gpumc_allocate_array(&started, (size_t)missing, "threads to be tried", error));
  const int had = start_and_end(started, missing, &code);
  free(started);
  if (had == missing)
    return GPUMC_OK;
  return gpumc_error_set(error, GPUMC_FAILURE,
                         "cannot start %d threads, only %d (%s): use fewer (--threads), or raise "
                         "the limits on memory (ulimit -v) and processes (ulimit -u)",
                         threads, had + 1 + at_hand, strerror(code));
}

/* ---- memory ---- */

static double least(double a, double b)
{
  return a < b ? a : b;
}

/* Reads the number after `name` in a file of lines "name number". `name` NULL: the file's first
 * number. */
static bool read_number(const char *path, const char *name, double *value)
{
  char line[512];
  FILE *file = fopen(path, "r");
  bool found = false;
  if (file == NULL)
    return false;
  while (!found && fgets(line, sizeof line, file) != NULL) {
    size_t skip = name != NULL ? strlen(name) : 0;
    if (name == NULL || (strncmp(line, name, skip) == 0 && line[skip] == ' '))
      found = sscanf(line + skip, "%lf", value) == 1;
  }
  fclose(file);
  return found;
}

/* Returns the memory that one group leaves; file cache that can be dropped does not count as
 * used. */
static double group_leaves(const char *folder, const char *limit_name, const char *usage_name,
                           const char *cache_name)
{
  char path[4096 + 64];
  double limit, usage, cache = 0;
  snprintf(path, sizeof path, "%s/%s", folder, limit_name);
  if (!read_number(path, NULL, &limit))
    return (double)INFINITY;
  snprintf(path, sizeof path, "%s/%s", folder, usage_name);
  if (!read_number(path, NULL, &usage))
    return limit;
  snprintf(path, sizeof path, "%s/memory.stat", folder);
  if (!read_number(path, cache_name, &cache))
    cache = 0;
  double left = limit - (usage - cache);
  return left > 0 ? left : 0;
}

/* The same for the group and all groups above it, up to the mount point. */
static double groups_leave(const char *mount, const char *group, bool version_2)
{
  char folder[4096];
  double left = (double)INFINITY;
  int length = snprintf(folder, sizeof folder, "%s%s", mount, strcmp(group, "/") ? group : "");
  if (length < 0 || (size_t)length >= sizeof folder)
    return left;
  while (strlen(folder) >= strlen(mount)) {
    left = least(left, version_2
                           ? group_leaves(folder, "memory.max", "memory.current", "inactive_file")
                           : group_leaves(folder, "memory.limit_in_bytes", "memory.usage_in_bytes",
                                          "total_inactive_file"));
    *strrchr(folder, '/') = '\0';
  }
  return left;
}

static double control_groups_leave(void)
{
  char line[4096];
  double left = (double)INFINITY;
  FILE *file = fopen("/proc/self/cgroup", "r");
  if (file == NULL)
    return left;
  while (fgets(line, sizeof line, file) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    const char *group = strchr(line, '/');
    if (group == NULL)
      continue;
    if (strncmp(line, "0::", 3) == 0)
      left = least(left, groups_leave("/sys/fs/cgroup", group, true));
    else if (strstr(line, ":memory:") != NULL)
      left = least(left, groups_leave("/sys/fs/cgroup/memory", group, false));
  }
  fclose(file);
  return left;
}

static double address_space_leaves(void)
{
  struct rlimit limit;
  double pages = 0;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return (double)INFINITY;
  if (!read_number("/proc/self/statm", NULL, &pages))
    pages = 0;
  return (double)limit.rlim_cur - pages * (double)sysconf(_SC_PAGESIZE);
}

double gpumc_available_memory(void)
{
  double kibibytes, left = (double)INFINITY;
  if (read_number("/proc/meminfo", "MemAvailable:", &kibibytes))
    left = 1024 * kibibytes;
  return least(left, least(control_groups_leave(), address_space_leaves()));
}

/* ---- time ---- */

double gpumc_clock(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}
