/* The ELF note by which a module of the program's (MPI, NCCL) states its interface, so that it can
 * be refused before anything of it runs. */
#ifndef GPUMC_CORE_MODULE_NOTE_H
#define GPUMC_CORE_MODULE_NOTE_H

#include <stdint.h>

#define GPUMC_NOTE_OWNER "gpumc"
/* Types of notes; that of plugins is 1 (core/plugins/plugin.h). */
enum { GPUMC_NOTE_MPI = 2, GPUMC_NOTE_NCCL = 3 };

/* As in <elf.h>: sizes of owner and contents, type, owner padded to a multiple of 4 bytes. */
struct gpumc_module_note {
  uint32_t owner_bytes, bytes, type;
  char owner[8];
  uint32_t interface;
};

/* Written once in a module. */
#define GPUMC_MODULE_NOTE(kind, number)                                                            \
  __attribute__((section(".note.gpumc"), used,                                                     \
                 aligned(4))) static const struct gpumc_module_note gpumc_module_note = {          \
      sizeof GPUMC_NOTE_OWNER, sizeof(uint32_t), kind, GPUMC_NOTE_OWNER, number}

#endif
