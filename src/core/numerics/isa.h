/* Instruction-set levels that kernels are compiled for, and those that this machine supports. */
#ifndef GPUMC_CORE_ISA_H
#define GPUMC_CORE_ISA_H

#include <stdbool.h>

#include "core/base/error.h"

/* In ascending order. PORTABLE is for architectures other than x86-64. */
enum gpumc_isa {
  GPUMC_ISA_LEVEL_PORTABLE,
  GPUMC_ISA_LEVEL_V2, /* SSE4.2 */
  GPUMC_ISA_LEVEL_V3, /* AVX2 */
  GPUMC_ISA_LEVEL_V4, /* AVX-512 F, BW, CD, DQ, VL */
};

/* The object `name` compiled for the level `isa`. GPUMC_ISA_V3_ALONE: the build has no other. */
#if defined GPUMC_ISA_V3_ALONE
#define GPUMC_ISA_OBJECT(name, isa) ((void)(isa), &name##_v3)
#elif defined GPUMC_ISA_X86_64
#define GPUMC_ISA_OBJECT(name, isa)                                                                \
  ((isa) == GPUMC_ISA_LEVEL_V4 ? &name##_v4 : (isa) == GPUMC_ISA_LEVEL_V3 ? &name##_v3 : &name##_v2)
#else
#define GPUMC_ISA_OBJECT(name, isa) ((void)(isa), &name##_portable)
#endif

/* Return the lowest level that this build has, and the highest one that this machine runs too: the
 * lowest one even on a machine below it, which gpumc_isa_parse refuses. */
enum gpumc_isa gpumc_isa_lowest(void);
enum gpumc_isa gpumc_isa_detect(void);

/* Returns "portable", "x86-64-v2", "x86-64-v3" or "x86-64-v4". */
const char *gpumc_isa_name(enum gpumc_isa isa);

/* The levels whose kernels this build has, "x86-64-v2, x86-64-v3, x86-64-v4", and whether `name` is
 * "auto" or one of them. */
const char *gpumc_isa_compiled(void);
bool gpumc_isa_is_compiled(const char *name);

/* Returns the level of that name, or the highest for "auto". GPUMC_INVALID for a name that does not
 * exist, GPUMC_DEVICE for a level that this machine does not run or this build lacks. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_isa_parse(const char *name, enum gpumc_isa *isa, struct gpumc_error *error);

#endif
