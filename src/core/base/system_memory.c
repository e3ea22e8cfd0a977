/* How much memory this process may still take: /proc/meminfo, control groups, resource limits. */
#include "core/base/system_memory.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static double least(double a, double b)
{
  return a < b ? a : b;
}

/* The number behind `name` in a file of lines "name number". `name` NULL: the file's first number.
 */
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

/* What one group leaves; file cache that can be dropped does not count as used. */
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

/* The group and all above it, up to the mount point. */
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
