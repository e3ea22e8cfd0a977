/* The segments and sections of a shared object, for elf_flaw.c: gpumc_elf_read checks them, after
 * which the others say what the file has at an address. elf_object.c has them all. */
#ifndef GPUMC_CORE_ELF_OBJECT_INTERNAL_H
#define GPUMC_CORE_ELF_OBJECT_INTERNAL_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GPUMC_ELF_SEGMENTS_MOST = 64 };

struct gpumc_elf_object {
  const unsigned char *bytes; /* borrowed */
  size_t size;
  Elf64_Ehdr header;
  Elf64_Phdr segment[GPUMC_ELF_SEGMENTS_MOST];
  const Elf64_Phdr *dynamic, *relro, *tls, *property, *table; /* in `segment`; NULL: none */
  uint64_t symbols; /* in the section of dynamic symbols; 0: unknown */
};

/* A check returns what is wrong, as gpumc_elf_flaw does; NULL: nothing. */
#define CHECK(holds, flaw)                                                                         \
  do {                                                                                             \
    if (!(holds))                                                                                  \
      return flaw;                                                                                 \
  } while (0)
#define TRY_FLAW(call)                                                                             \
  do {                                                                                             \
    const char *flaw_ = (call);                                                                    \
    if (flaw_ != NULL)                                                                             \
      return flaw_;                                                                                \
  } while (0)

static inline bool is_power_of_two(uint64_t value)
{
  return (value & (value - 1)) == 0;
}

static inline bool is_within(uint64_t begin, uint64_t size, uint64_t from, uint64_t room)
{
  return begin >= from && begin - from <= room && size <= room - (begin - from);
}

/* Reads the header, the segments and the sections, and compares them with each other. `bytes` begin
 * with an ELF header and must last as long as the object, which has pointers into itself. */
const char *
gpumc_elf_read(struct gpumc_elf_object *object, const unsigned char *bytes, size_t size);

/* Returns the segment that is loaded with these addresses, with all those rights; NULL: none. */
const Elf64_Phdr *gpumc_elf_loaded(const struct gpumc_elf_object *object, uint64_t address,
                                   uint64_t size, uint32_t rights);

/* Returns what the file has for these addresses; NULL: it is not all in the file. */
const unsigned char *
gpumc_elf_contents(const struct gpumc_elf_object *object, uint64_t address, uint64_t size);

/* The loader needs no sections: a file may end before them. */
bool gpumc_elf_has_sections(const struct gpumc_elf_object *object);
/* Legal where it has sections. */
Elf64_Shdr gpumc_elf_section(const struct gpumc_elf_object *object, size_t i);
const char *
gpumc_elf_section_name(const struct gpumc_elf_object *object, const Elf64_Shdr *section);

#endif
