/* The header, segments and sections of a shared object (elf_object_internal.h): System V ABI,
 * "Object Files". They say the same twice, so each is compared with the other. */
#include "core/base/elf_object_internal.h"

#include <string.h>

#ifndef PT_GNU_PROPERTY /* before glibc 2.32 */
#define PT_GNU_PROPERTY 0x6474e553
#endif

static const uint64_t memory_most = UINT64_C(1) << 36; /* of a segment, and its end */
static const uint64_t align_most = UINT64_C(1) << 30;
/* Loaders map whole pages; the smallest there are. */
static const uint64_t page = 4096;
/* The largest, to which linkers may round up. */
static const uint64_t rounded_most = 65536;

static bool in_file(const struct gpumc_elf_object *object, uint64_t offset, uint64_t size)
{
  return offset <= object->size && size <= object->size - offset;
}

const Elf64_Phdr *gpumc_elf_loaded(const struct gpumc_elf_object *object, uint64_t address,
                                   uint64_t size, uint32_t rights)
{
  for (size_t i = 0; i < object->header.e_phnum; i++) {
    const Elf64_Phdr *s = &object->segment[i];
    if (s->p_type == PT_LOAD && (s->p_flags & rights) == rights &&
        is_within(address, size, s->p_vaddr, s->p_memsz))
      return s;
  }
  return NULL;
}

const unsigned char *
gpumc_elf_contents(const struct gpumc_elf_object *object, uint64_t address, uint64_t size)
{
  const Elf64_Phdr *s = gpumc_elf_loaded(object, address, size, PF_R);
  return s != NULL && is_within(address, size, s->p_vaddr, s->p_filesz)
             ? object->bytes + s->p_offset + (address - s->p_vaddr)
             : NULL;
}

/* ---- segments ---- */

static const char *
check_load(const struct gpumc_elf_object *object, const Elf64_Phdr *s, uint64_t *end)
{
  CHECK(in_file(object, s->p_offset, s->p_filesz), "a segment lies outside of the file");
  CHECK(s->p_filesz <= s->p_memsz && s->p_memsz <= memory_most && s->p_vaddr <= memory_most,
        "a segment has an impossible size");
  CHECK(is_power_of_two(s->p_align) && s->p_align <= align_most && s->p_align % page == 0 &&
            (s->p_vaddr - s->p_offset) % page == 0,
        "a segment is not aligned");
  CHECK((s->p_flags & ~(uint32_t)(PF_R | PF_W | PF_X)) == 0 && (s->p_flags & PF_R) != 0,
        "a segment has invalid access flags");
  CHECK(s->p_vaddr >= *end, "two segments share memory");
  *end = s->p_vaddr + s->p_memsz;
  return NULL;
}

/* A segment that describes a part of a loaded one. */
static const char *check_part(const struct gpumc_elf_object *object, const Elf64_Phdr *s)
{
  /* Thread-local memory is elsewhere; the part that becomes read-only may be rounded up. */
  const bool file_only = s->p_type == PT_TLS || s->p_type == PT_GNU_RELRO;
  const uint64_t memory = file_only ? s->p_filesz : s->p_memsz;
  const Elf64_Phdr *whole = gpumc_elf_loaded(object, s->p_vaddr, memory, PF_R);
  CHECK(in_file(object, s->p_offset, s->p_filesz), "a segment lies outside of the file");
  CHECK(is_power_of_two(s->p_align) && s->p_align <= align_most && s->p_filesz <= s->p_memsz &&
            s->p_memsz <= memory_most,
        "a segment has an impossible size");
  CHECK(whole != NULL &&
            (s->p_filesz == 0 || s->p_offset - whole->p_offset == s->p_vaddr - whole->p_vaddr),
        "a segment lies outside of those that are loaded");
  return NULL;
}

static const char *check_segments(struct gpumc_elf_object *object)
{
  uint64_t end = 0;
  size_t loads = 0, code = 0;
  for (size_t i = 0; i < object->header.e_phnum; i++)
    if (object->segment[i].p_type == PT_LOAD) {
      TRY_FLAW(check_load(object, &object->segment[i], &end));
      loads++;
      code += (object->segment[i].p_flags & PF_X) != 0;
    }
  CHECK(loads > 0 && code > 0, "it has no code");
  for (size_t i = 0; i < object->header.e_phnum; i++) {
    const Elf64_Phdr *s = &object->segment[i], **one = NULL;
    switch (s->p_type) {
    case PT_DYNAMIC:
      one = &object->dynamic;
      break;
    case PT_GNU_RELRO:
      one = &object->relro;
      break;
    case PT_TLS:
      one = &object->tls;
      break;
    case PT_GNU_PROPERTY:
      one = &object->property;
      break;
    case PT_PHDR:
      one = &object->table;
      break;
    case PT_NOTE:
    case PT_GNU_EH_FRAME:
      break;
    default:
      continue;
    }
    CHECK(one == NULL || *one == NULL, "two segments of a kind that may occur only once");
    if (one != NULL)
      *one = s;
    TRY_FLAW(check_part(object, s));
  }
  CHECK(object->dynamic != NULL && object->dynamic->p_vaddr % sizeof(uint64_t) == 0 &&
            object->dynamic->p_filesz % sizeof(Elf64_Dyn) == 0,
        "it has no dynamic table");
  CHECK(object->table == NULL ||
            (object->table->p_offset == object->header.e_phoff &&
             object->table->p_filesz == object->header.e_phnum * sizeof(Elf64_Phdr)),
        "its segment table is not where its header says");
  CHECK(object->relro == NULL || (gpumc_elf_loaded(object, object->relro->p_vaddr,
                                                   object->relro->p_filesz, PF_W) != NULL &&
                                  object->relro->p_memsz - object->relro->p_filesz <= rounded_most),
        "a segment has invalid access flags");
  return NULL;
}

/* ---- sections: another description of the same, where it was not stripped ---- */

/* Data that is written after loading does not become read-only then. */
static bool
is_protected(const struct gpumc_elf_object *object, const char *name, const Elf64_Shdr *section)
{
  const Elf64_Phdr *relro = object->relro;
  if (relro == NULL || (strcmp(name, ".data") != 0 && strcmp(name, ".bss") != 0))
    return false;
  const uint64_t begin = relro->p_vaddr / page * page;
  const uint64_t end = (relro->p_vaddr + relro->p_memsz) / page * page;
  return section->sh_size > 0 && section->sh_addr < end &&
         section->sh_addr + section->sh_size > begin;
}

static const char *
check_section(struct gpumc_elf_object *object, const Elf64_Shdr *section, const char *name)
{
  static const char *flaw = "its sections and segments contradict each other";
  const bool in_memory_only = section->sh_type == SHT_NOBITS;
  CHECK(in_memory_only || section->sh_type == SHT_NULL ||
            in_file(object, section->sh_offset, section->sh_size),
        "a section lies outside of the file");
  if ((section->sh_flags & SHF_ALLOC) == 0)
    return NULL;
  const bool thread_local = (section->sh_flags & SHF_TLS) != 0;
  CHECK(!thread_local ||
            (object->tls != NULL && is_within(section->sh_addr, section->sh_size,
                                              object->tls->p_vaddr, object->tls->p_memsz)),
        flaw);
  if (thread_local && in_memory_only)
    return NULL;
  uint32_t needed = PF_R;
  needed |= (section->sh_flags & SHF_WRITE) != 0 ? PF_W : 0;
  needed |= (section->sh_flags & SHF_EXECINSTR) != 0 ? PF_X : 0;
  const Elf64_Phdr *s = gpumc_elf_loaded(object, section->sh_addr, section->sh_size, needed);
  CHECK(s != NULL && !is_protected(object, name, section), flaw);
  CHECK(in_memory_only || gpumc_elf_contents(object, section->sh_addr, section->sh_size) ==
                              object->bytes + section->sh_offset,
        flaw);
  if (section->sh_type == SHT_DYNAMIC)
    CHECK(section->sh_addr == object->dynamic->p_vaddr &&
              section->sh_size == object->dynamic->p_memsz,
          flaw);
  if (section->sh_type == SHT_DYNSYM)
    object->symbols = section->sh_size / sizeof(Elf64_Sym);
  return NULL;
}

Elf64_Shdr gpumc_elf_section(const struct gpumc_elf_object *object, size_t i)
{
  Elf64_Shdr section;
  memcpy(&section, object->bytes + object->header.e_shoff + i * sizeof section, sizeof section);
  return section;
}

bool gpumc_elf_has_sections(const struct gpumc_elf_object *object)
{
  const Elf64_Ehdr *header = &object->header;
  return header->e_shnum > 0 &&
         in_file(object, header->e_shoff, (uint64_t)header->e_shnum * sizeof(Elf64_Shdr));
}

const char *gpumc_elf_section_name(const struct gpumc_elf_object *object, const Elf64_Shdr *section)
{
  const Elf64_Shdr names = gpumc_elf_section(object, object->header.e_shstrndx);
  return (const char *)object->bytes + names.sh_offset + section->sh_name;
}

static const char *check_sections(struct gpumc_elf_object *object)
{
  const Elf64_Ehdr *header = &object->header;
  if (!gpumc_elf_has_sections(object))
    return NULL;
  CHECK(header->e_shentsize == sizeof(Elf64_Shdr) && header->e_shstrndx < header->e_shnum,
        "its table of sections is damaged");
  const Elf64_Shdr names = gpumc_elf_section(object, header->e_shstrndx);
  CHECK(names.sh_type == SHT_STRTAB && names.sh_size > 0 &&
            in_file(object, names.sh_offset, names.sh_size) &&
            object->bytes[names.sh_offset + names.sh_size - 1] == '\0',
        "its table of sections is damaged");
  for (size_t i = 0; i < header->e_shnum; i++) {
    const Elf64_Shdr section = gpumc_elf_section(object, i);
    CHECK(section.sh_name < names.sh_size, "its table of sections is damaged");
    TRY_FLAW(check_section(object, &section, gpumc_elf_section_name(object, &section)));
  }
  return NULL;
}

const char *gpumc_elf_read(struct gpumc_elf_object *object, const unsigned char *bytes, size_t size)
{
  *object = (struct gpumc_elf_object){.bytes = bytes, .size = size};
  memcpy(&object->header, bytes, sizeof object->header);
  const Elf64_Ehdr *header = &object->header;
  CHECK(
      header->e_ident[EI_VERSION] == EV_CURRENT && header->e_version == EV_CURRENT &&
          header->e_ehsize == sizeof *header && header->e_phnum <= GPUMC_ELF_SEGMENTS_MOST &&
          (header->e_ident[EI_OSABI] == ELFOSABI_NONE || header->e_ident[EI_OSABI] == ELFOSABI_GNU),
      "its header is damaged");
  CHECK(in_file(object, header->e_phoff, (uint64_t)header->e_phnum * sizeof(Elf64_Phdr)),
        "its segments lie outside of the file");
  memcpy(object->segment, bytes + header->e_phoff, header->e_phnum * sizeof(Elf64_Phdr));
  TRY_FLAW(check_segments(object));
  return check_sections(object);
}
