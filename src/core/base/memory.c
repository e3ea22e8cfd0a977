/* Host memory: zeroed, aligned for the widest vector registers; failures say what was wanted. */
#include "core/base/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

enum gpumc_status gpumc_allocate(size_t count, size_t size, const char *what, void **memory,
                                 struct gpumc_error *error)
{
  size_t bytes;
  char text[32];
  *memory = NULL;
  if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - ALIGNMENT)
    return gpumc_error_set(error, GPUMC_FAILURE, "out of memory: %s needs %zu times %zu bytes",
                           what, count, size);
  bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  if (bytes == 0)
    bytes = ALIGNMENT;
  *memory = aligned_alloc(ALIGNMENT, bytes);
  if (*memory == NULL)
    return gpumc_error_set(error, GPUMC_FAILURE, "out of memory: %s needs %s", what,
                           gpumc_size_text((double)bytes, text));
  memset(*memory, 0, bytes);
  return GPUMC_OK;
}

const char *gpumc_size_text(double bytes, char text[static 32])
{
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  size_t unit = 0;
  /* From 1023.5 on it would be printed as 1024. */
  while (bytes >= 1023.5 && unit + 1 < sizeof units / sizeof *units) {
    bytes /= 1024;
    unit++;
  }
  snprintf(text, 32, unit == 0 || bytes >= 999.5 ? "%.0f %s" : "%.3g %s", bytes, units[unit]);
  return text;
}
