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

/* The levels of this build, from the lowest to the highest. */
#if defined GPUMC_ISA_V3_ALONE
static const enum gpumc_isa lowest = GPUMC_ISA_LEVEL_V3, highest = GPUMC_ISA_LEVEL_V3;
static const char compiled[] = "x86-64-v3";
#elif defined GPUMC_ISA_X86_64
static const enum gpumc_isa lowest = GPUMC_ISA_LEVEL_V2, highest = GPUMC_ISA_LEVEL_V4;
static const char compiled[] = "x86-64-v2, x86-64-v3, x86-64-v4";
#else
static const enum gpumc_isa lowest = GPUMC_ISA_LEVEL_PORTABLE, highest = GPUMC_ISA_LEVEL_PORTABLE;
static const char compiled[] = "portable";
#endif

/* Returns the level of the machine; PORTABLE is below all others. */
static enum gpumc_isa of_machine(void)
{
#ifdef GPUMC_ISA_X86_64
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4"))
    return GPUMC_ISA_LEVEL_V4;
  if (__builtin_cpu_supports("x86-64-v3"))
    return GPUMC_ISA_LEVEL_V3;
  if (__builtin_cpu_supports("x86-64-v2"))
    return GPUMC_ISA_LEVEL_V2;
#endif
  return GPUMC_ISA_LEVEL_PORTABLE;
}

enum gpumc_isa gpumc_isa_lowest(void)
{
  return lowest;
}

enum gpumc_isa gpumc_isa_detect(void)
{
  const enum gpumc_isa machine = of_machine();
  return machine < lowest ? lowest : machine > highest ? highest : machine;
}

const char *gpumc_isa_name(enum gpumc_isa isa)
{
  return names[isa];
}

const char *gpumc_isa_compiled(void)
{
  return compiled;
}

bool gpumc_isa_is_compiled(const char *name)
{
  for (int level = (int)lowest; level <= (int)highest; level++)
    if (strcmp(name, names[level]) == 0)
      return true;
  return strcmp(name, "auto") == 0;
}

enum gpumc_status gpumc_isa_parse(const char *name, enum gpumc_isa *isa, struct gpumc_error *error)
{
  enum gpumc_isa best = gpumc_isa_detect();
  *isa = best;
  if (of_machine() < lowest)
    return gpumc_error_set(error, GPUMC_DEVICE,
                           "this processor is below %s%s, which the CPU kernels need",
                           names[lowest], lowest == GPUMC_ISA_LEVEL_V2 ? " (SSE4.2, POPCNT)" : "");
  if (strcmp(name, "auto") == 0)
    return GPUMC_OK;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strcmp(name, names[i]) != 0)
      continue;
    if (!gpumc_isa_is_compiled(name))
      return gpumc_error_set(error, GPUMC_DEVICE, "this build supports %s, not %s", compiled, name);
    enum gpumc_isa wanted = (enum gpumc_isa)i;
    if (wanted > best)
      return gpumc_error_set(error, GPUMC_DEVICE, "this machine supports %s, not %s", names[best],
                             name);
    *isa = wanted;
    return GPUMC_OK;
  }
  return gpumc_error_set(
      error, GPUMC_INVALID,
      "unknown instruction-set level \"%s\"; use auto, x86-64-v2, x86-64-v3, x86-64-v4 or portable",
      name);
}
