/* Detection and names of the instruction-set levels. */
#include "core/numerics/isa.h"

#include <stddef.h>
#include <string.h>

static const char *const names[] = {
    [GPUMC_ISA_LEVEL_PORTABLE] = "portable",
    [GPUMC_ISA_LEVEL_V2] = "x86-64-v2",
    [GPUMC_ISA_LEVEL_V3] = "x86-64-v3",
    [GPUMC_ISA_LEVEL_V4] = "x86-64-v4",
};

enum gpumc_isa gpumc_isa_detect(void)
{
#ifdef GPUMC_ISA_X86_64
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4"))
    return GPUMC_ISA_LEVEL_V4;
  if (__builtin_cpu_supports("x86-64-v3"))
    return GPUMC_ISA_LEVEL_V3;
  return GPUMC_ISA_LEVEL_V2;
#else
  return GPUMC_ISA_LEVEL_PORTABLE;
#endif
}

const char *gpumc_isa_name(enum gpumc_isa isa)
{
  return names[isa];
}

const char *gpumc_isa_compiled(void)
{
#ifdef GPUMC_ISA_X86_64
  return "x86-64-v2, x86-64-v3, x86-64-v4";
#else
  return "portable";
#endif
}

bool gpumc_isa_is_compiled(const char *name)
{
#ifdef GPUMC_ISA_X86_64
  return strcmp(name, names[GPUMC_ISA_LEVEL_PORTABLE]) != 0;
#else
  return strcmp(name, "auto") == 0 || strcmp(name, names[GPUMC_ISA_LEVEL_PORTABLE]) == 0;
#endif
}

enum gpumc_status gpumc_isa_parse(const char *name, enum gpumc_isa *isa, struct gpumc_error *error)
{
  enum gpumc_isa highest = gpumc_isa_detect();
  *isa = highest;
#ifdef GPUMC_ISA_X86_64
  if (!__builtin_cpu_supports("x86-64-v2"))
    return gpumc_error_set(error, GPUMC_DEVICE,
                           "this processor is below x86-64-v2 (SSE4.2, POPCNT), which the CPU "
                           "kernels need");
#endif
  if (strcmp(name, "auto") == 0)
    return GPUMC_OK;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strcmp(name, names[i]) != 0)
      continue;
    enum gpumc_isa wanted = (enum gpumc_isa)i;
    if (wanted > highest ||
        (wanted == GPUMC_ISA_LEVEL_PORTABLE && highest != GPUMC_ISA_LEVEL_PORTABLE))
      return gpumc_error_set(error, GPUMC_DEVICE, "this machine supports %s, not %s",
                             names[highest], name);
    *isa = wanted;
    return GPUMC_OK;
  }
  return gpumc_error_set(
      error, GPUMC_INVALID,
      "unknown instruction-set level \"%s\"; use auto, x86-64-v2, x86-64-v3, x86-64-v4 or portable",
      name);
}
