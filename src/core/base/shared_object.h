/* Shared objects that the program opens, plugins and modules, read as bytes before the dynamic
 * loader, which trusts them, maps them and runs their constructors. */
#ifndef GPUMC_CORE_SHARED_OBJECT_H
#define GPUMC_CORE_SHARED_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

/* A file in memory. */
struct gpumc_shared_object {
  const unsigned char *bytes;
  size_t size;
};

/* Maps a file and checks that it is a shared object for this kind of processor with all of its
 * segments: GPUMC_INVALID if not. `kind`: what it should be, "plugin"; `remedy`: what helps if it
 * is none. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_shared_object_open(const char *path, const char *kind, const char *remedy,
                         struct gpumc_shared_object *object, struct gpumc_error *error);
/* Checks besides that its structure is sound (gpumc_elf_flaw): to be called before the loader gets
 * it. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_shared_object_whole(const char *path, const char *kind,
                                                             const char *remedy,
                                                             struct gpumc_error *error);
/* Legal on a zeroed object. */
void gpumc_shared_object_close(struct gpumc_shared_object *object);

/* Returns the contents of its first note with this owner and type, and their size; NULL: none. */
const unsigned char *gpumc_shared_object_note(const struct gpumc_shared_object *object,
                                              const char *owner, uint32_t type, size_t *size);

/* Returns whether everyone may write to the file or to a folder above it, and could so put other
 * code in its place; `place` names which. A folder with the sticky bit, such as /tmp, is none. */
bool gpumc_shared_object_is_exposed(const char *path, char *place, size_t bytes);

/* Modules of the program's own (MPI, NCCL): checks the file, that nobody else can write to it, and
 * the number of its interface, in a note of this type (module_note.h). GPUMC_FAILURE if it cannot
 * be used. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_module_check(const char *path, uint32_t type, uint32_t interface, struct gpumc_error *error);

/* Returns what is wrong with the structure of a 64-bit shared object of this machine's byte order,
 * "a segment lies outside of the file"; NULL: nothing. Headers, segments, sections, the dynamic
 * table, symbols, their versions and hash tables, and relocations are compared with each other, so
 * that the loader is not led out of the file. `bytes` begin with an ELF header. */
const char *gpumc_elf_flaw(const unsigned char *bytes, size_t size);

#endif
