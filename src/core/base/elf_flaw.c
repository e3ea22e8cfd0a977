/* What is wrong with the structure of a shared object (gpumc_elf_flaw of shared_object.h): its
 * dynamic table, and the symbols, versions and relocations that this leads to, once elf_object.c
 * has found the segments and sections sound. System V ABI, "Dynamic Linking", and the GNU
 * extensions for hash tables and versions. */
#include <elf.h>
#include <string.h>

#include "core/base/elf_object_internal.h"
#include "core/base/shared_object.h"

enum { DYNAMIC_MOST = 38, VERSIONS_MOST = 0x7fff };

/* The dynamic table by tag, GNU tags behind the others; 0: not there. */
enum {
  RELRSZ = 35,
  RELR = 36,
  RELRENT = 37,
  GNU_HASH = DYNAMIC_MOST,
  VERSYM,
  VERNEED,
  VERNEEDNUM,
  VERDEF,
  VERDEFNUM,
  RELACOUNT,
  TAGS
};

/* A shared object with its dynamic table. */
struct dynamic {
  struct gpumc_elf_object object;
  uint64_t value[TAGS];
  bool present[TAGS]; /* loaders ask this, and not for a value other than 0 */
  uint64_t symbols;   /* in the dynamic symbol table */
  uint64_t called;    /* relocations of the lists of functions that run at once */
};

static uint32_t word_at(const unsigned char *bytes, uint64_t index)
{
  uint32_t word;
  memcpy(&word, bytes + index * sizeof word, sizeof word);
  return word;
}

/* ---- the dynamic table ---- */

static size_t place_of(int64_t tag)
{
  static const struct {
    int64_t tag;
    size_t place;
  } extensions[] = {{DT_GNU_HASH, GNU_HASH},     {DT_VERSYM, VERSYM}, {DT_VERNEED, VERNEED},
                    {DT_VERNEEDNUM, VERNEEDNUM}, {DT_VERDEF, VERDEF}, {DT_VERDEFNUM, VERDEFNUM},
                    {DT_RELACOUNT, RELACOUNT}};
  for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++)
    if (extensions[i].tag == tag)
      return extensions[i].place;
  return tag > DT_NULL && tag < DYNAMIC_MOST ? (size_t)tag : TAGS;
}

static const char *read_dynamic(struct dynamic *dynamic)
{
  const unsigned char *table = gpumc_elf_contents(
      &dynamic->object, dynamic->object.dynamic->p_vaddr, dynamic->object.dynamic->p_filesz);
  const size_t count = dynamic->object.dynamic->p_filesz / sizeof(Elf64_Dyn);
  Elf64_Dyn entry = {.d_tag = 1};
  CHECK(table != NULL, "its dynamic table lies outside of the file");
  for (size_t i = 0; i < count && entry.d_tag != DT_NULL; i++) {
    memcpy(&entry, table + i * sizeof entry, sizeof entry);
    const size_t place = place_of(entry.d_tag);
    if (place < TAGS) {
      dynamic->value[place] = entry.d_un.d_val;
      dynamic->present[place] = true;
    }
  }
  CHECK(entry.d_tag == DT_NULL, "its dynamic table has no end");
  const unsigned char *texts =
      gpumc_elf_contents(&dynamic->object, dynamic->value[DT_STRTAB], dynamic->value[DT_STRSZ]);
  CHECK(texts != NULL && dynamic->value[DT_STRSZ] > 0 &&
            texts[dynamic->value[DT_STRSZ] - 1] == '\0',
        "its names lie outside of the file");
  for (size_t i = 0; i < count; i++) {
    memcpy(&entry, table + i * sizeof entry, sizeof entry);
    const bool is_name = entry.d_tag == DT_NEEDED || entry.d_tag == DT_SONAME ||
                         entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH ||
                         entry.d_tag == DT_AUXILIARY || entry.d_tag == DT_FILTER;
    CHECK(!is_name || entry.d_un.d_val < dynamic->value[DT_STRSZ],
          "its names lie outside of the file");
    if (entry.d_tag == DT_NULL)
      break;
  }
  return NULL;
}

/* Returns whether a function has that address, or the names of functions were stripped. */
static bool may_be_function(const struct dynamic *dynamic, uint64_t address)
{
  bool stripped = true;
  for (size_t i = 0; i < dynamic->object.header.e_shnum; i++) {
    const Elf64_Shdr section = gpumc_elf_section(&dynamic->object, i);
    if (section.sh_type != SHT_SYMTAB)
      continue;
    stripped = false;
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= section.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      memcpy(&symbol, dynamic->object.bytes + section.sh_offset + at, sizeof symbol);
      if (symbol.st_value == address && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC)
        return true;
    }
  }
  return stripped;
}

/* What runs first and last begins its section, or is a function of the program's own. */
static bool begins_code(const struct dynamic *dynamic, const Elf64_Shdr *section, uint64_t address)
{
  const char *name = gpumc_elf_section_name(&dynamic->object, section);
  if (section->sh_size == 0 || !is_within(address, 1, section->sh_addr, section->sh_size))
    return false;
  return address == section->sh_addr ||
         (strncmp(name, ".text", 5) == 0 && may_be_function(dynamic, address));
}

/* The sections that the table leads to are where it says, as far as there are sections. */
static const char *compare_with_sections(const struct dynamic *dynamic)
{
  static const struct {
    uint32_t type;
    const char *name;      /* NULL: any */
    size_t address, bytes; /* places in the table; TAGS: none */
  } known[] = {{SHT_INIT_ARRAY, NULL, DT_INIT_ARRAY, DT_INIT_ARRAYSZ},
               {SHT_FINI_ARRAY, NULL, DT_FINI_ARRAY, DT_FINI_ARRAYSZ},
               {SHT_DYNSYM, NULL, DT_SYMTAB, TAGS},
               {SHT_STRTAB, ".dynstr", DT_STRTAB, DT_STRSZ},
               {SHT_HASH, NULL, DT_HASH, TAGS},
               {SHT_GNU_HASH, NULL, GNU_HASH, TAGS},
               {SHT_GNU_versym, NULL, VERSYM, TAGS},
               {SHT_GNU_verneed, NULL, VERNEED, TAGS},
               {SHT_GNU_verdef, NULL, VERDEF, TAGS},
               {SHT_RELA, ".rela.dyn", DT_RELA, DT_RELASZ},
               {SHT_RELA, ".rela.plt", DT_JMPREL, DT_PLTRELSZ}};
  bool first = !dynamic->present[DT_INIT], last = !dynamic->present[DT_FINI];
  if (!gpumc_elf_has_sections(&dynamic->object))
    return NULL;
  for (size_t i = 0; i < dynamic->object.header.e_shnum; i++) {
    const Elf64_Shdr section = gpumc_elf_section(&dynamic->object, i);
    first = first || begins_code(dynamic, &section, dynamic->value[DT_INIT]);
    last = last || begins_code(dynamic, &section, dynamic->value[DT_FINI]);
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
      if (section.sh_type == known[k].type && section.sh_size > 0 &&
          (known[k].name == NULL ||
           strcmp(gpumc_elf_section_name(&dynamic->object, &section), known[k].name) == 0))
        CHECK(section.sh_addr == dynamic->value[known[k].address] &&
                  (known[k].bytes == TAGS || section.sh_size == dynamic->value[known[k].bytes]),
              "its sections and its dynamic table contradict each other");
  }
  CHECK(first && last, "an initialisation or exit function lies outside the code");
  return NULL;
}

/* What belongs together is there together. */
static const char *check_pairs(const struct dynamic *dynamic)
{
  static const size_t pairs[][2] = {{DT_RELA, DT_RELASZ},
                                    {DT_JMPREL, DT_PLTRELSZ},
                                    {DT_JMPREL, DT_PLTREL},
                                    {DT_RELA, DT_RELAENT},
                                    {RELR, RELRSZ},
                                    {RELR, RELRENT},
                                    {VERNEED, VERNEEDNUM},
                                    {VERDEF, VERDEFNUM},
                                    {DT_INIT_ARRAY, DT_INIT_ARRAYSZ},
                                    {DT_FINI_ARRAY, DT_FINI_ARRAYSZ}};
  const uint64_t *value = dynamic->value;
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
    CHECK((value[pairs[i][0]] == 0) == (value[pairs[i][1]] == 0) &&
              dynamic->present[pairs[i][0]] == dynamic->present[pairs[i][1]],
          "its dynamic table is damaged");
  CHECK(value[VERSYM] != 0 || (value[VERNEED] == 0 && value[VERDEF] == 0),
        "its dynamic table is damaged");
  return NULL;
}

/* ---- symbols ---- */

/* The table has to reach as far as the symbols, and every chain to end. */
static const char *check_gnu_hash(struct dynamic *dynamic)
{
  static const char *flaw = "its table of names is damaged";
  const uint64_t address = dynamic->value[GNU_HASH];
  const unsigned char *header = gpumc_elf_contents(&dynamic->object, address, 4 * sizeof(uint32_t));
  CHECK(header != NULL, flaw);
  const uint64_t buckets = word_at(header, 0), first = word_at(header, 1);
  const uint64_t bloom = word_at(header, 2), before = 16 + 8 * bloom;
  CHECK(buckets > 0 && bloom > 0 && is_power_of_two(bloom) && word_at(header, 3) < 64, flaw);
  const unsigned char *bucket = gpumc_elf_contents(&dynamic->object, address + before, 4 * buckets);
  CHECK(bucket != NULL, flaw);
  uint64_t last = 0;
  for (uint64_t i = 0; i < buckets; i++) {
    CHECK(word_at(bucket, i) == 0 || word_at(bucket, i) >= first, flaw);
    last = word_at(bucket, i) > last ? word_at(bucket, i) : last;
  }
  const uint64_t chains = address + before + 4 * buckets;
  const unsigned char *link = NULL;
  for (; last > 0; last++) {
    link = gpumc_elf_contents(&dynamic->object, chains + 4 * (last - first), 4);
    CHECK(link != NULL, flaw);
    if ((word_at(link, 0) & 1) != 0)
      break;
  }
  const uint64_t symbols = last > 0 ? last + 1 : first;
  CHECK(dynamic->symbols == 0 || symbols <= dynamic->symbols, flaw);
  dynamic->symbols = dynamic->symbols > 0 ? dynamic->symbols : symbols;
  return NULL;
}

static const char *check_old_hash(struct dynamic *dynamic)
{
  static const char *flaw = "its table of names is damaged";
  const uint64_t address = dynamic->value[DT_HASH];
  const unsigned char *header = gpumc_elf_contents(&dynamic->object, address, 2 * sizeof(uint32_t));
  CHECK(header != NULL, flaw);
  const uint64_t buckets = word_at(header, 0), chains = word_at(header, 1);
  const unsigned char *table =
      gpumc_elf_contents(&dynamic->object, address, 4 * (2 + buckets + chains));
  CHECK(buckets > 0 && table != NULL && (dynamic->symbols == 0 || chains == dynamic->symbols),
        flaw);
  dynamic->symbols = chains;
  for (uint64_t i = 0; i < buckets + chains; i++)
    CHECK(word_at(table, 2 + i) < chains, flaw);
  return NULL;
}

static const char *check_symbols(struct dynamic *dynamic)
{
  static const char *flaw = "a symbol lies outside of the file";
  CHECK(dynamic->value[GNU_HASH] != 0 || dynamic->value[DT_HASH] != 0,
        "its table of names is missing");
  if (dynamic->value[DT_HASH] != 0)
    TRY_FLAW(check_old_hash(dynamic));
  if (dynamic->value[GNU_HASH] != 0)
    TRY_FLAW(check_gnu_hash(dynamic));
  CHECK(dynamic->symbols <= dynamic->object.size / sizeof(Elf64_Sym) &&
            dynamic->value[DT_SYMENT] == sizeof(Elf64_Sym),
        flaw);
  const unsigned char *table = gpumc_elf_contents(&dynamic->object, dynamic->value[DT_SYMTAB],
                                                  dynamic->symbols * sizeof(Elf64_Sym));
  CHECK(table != NULL, flaw);
  for (uint64_t i = 0; i < dynamic->symbols; i++) {
    Elf64_Sym symbol;
    memcpy(&symbol, table + i * sizeof symbol, sizeof symbol);
    const int type = ELF64_ST_TYPE(symbol.st_info);
    const bool is_code = type == STT_FUNC || type == STT_GNU_IFUNC;
    CHECK(symbol.st_name < dynamic->value[DT_STRSZ], flaw);
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_ABS || type == STT_TLS)
      continue;
    CHECK(gpumc_elf_loaded(&dynamic->object, symbol.st_value, 0, is_code ? PF_X : PF_R) != NULL,
          flaw);
  }
  return NULL;
}

/* Follows a list of versions; `*highest` is the largest index in it. */
static const char *
check_version_list(const struct dynamic *dynamic, bool needs, uint64_t count, uint64_t *highest)
{
  static const char *flaw = "the versions of its symbols are damaged";
  uint64_t at = dynamic->value[needs ? VERNEED : VERDEF];
  for (uint64_t i = 0; i < count; i++) {
    Elf64_Verneed need;
    Elf64_Verdef define;
    const unsigned char *bytes =
        gpumc_elf_contents(&dynamic->object, at, needs ? sizeof need : sizeof define);
    CHECK(bytes != NULL && count <= VERSIONS_MOST, flaw);
    memcpy(&need, bytes, sizeof need);
    if (!needs)
      memcpy(&define, bytes, sizeof define);
    const uint64_t parts = needs ? need.vn_cnt : define.vd_cnt;
    const uint64_t next = needs ? need.vn_next : define.vd_next;
    CHECK((needs ? need.vn_version : define.vd_version) == 1 &&
              (!needs || need.vn_file < dynamic->value[DT_STRSZ]),
          flaw);
    if (!needs && (define.vd_ndx & VERSIONS_MOST) > *highest)
      *highest = define.vd_ndx & VERSIONS_MOST;
    uint64_t part = at + (needs ? need.vn_aux : define.vd_aux);
    for (uint64_t k = 0; k < parts; k++) {
      Elf64_Vernaux aux = {0};
      Elf64_Verdaux name = {0};
      const unsigned char *inner =
          gpumc_elf_contents(&dynamic->object, part, needs ? sizeof aux : sizeof name);
      CHECK(inner != NULL, flaw);
      if (needs)
        memcpy(&aux, inner, sizeof aux);
      else
        memcpy(&name, inner, sizeof name);
      CHECK((needs ? aux.vna_name : name.vda_name) < dynamic->value[DT_STRSZ], flaw);
      if (needs && (aux.vna_other & VERSIONS_MOST) > *highest)
        *highest = aux.vna_other & VERSIONS_MOST;
      const uint64_t step = needs ? aux.vna_next : name.vda_next;
      CHECK((step == 0) == (k + 1 == parts), flaw);
      part += step;
    }
    CHECK((next == 0) == (i + 1 == count), flaw);
    at += next;
  }
  return NULL;
}

static const char *check_versions(const struct dynamic *dynamic)
{
  static const char *flaw = "the versions of its symbols are damaged";
  uint64_t highest = 1;
  TRY_FLAW(check_version_list(dynamic, true, dynamic->value[VERNEEDNUM], &highest));
  TRY_FLAW(check_version_list(dynamic, false, dynamic->value[VERDEFNUM], &highest));
  if (dynamic->value[VERSYM] == 0)
    return NULL;
  const unsigned char *index =
      gpumc_elf_contents(&dynamic->object, dynamic->value[VERSYM], 2 * dynamic->symbols);
  CHECK(index != NULL, flaw);
  for (uint64_t i = 0; i < dynamic->symbols; i++) {
    uint16_t version;
    memcpy(&version, index + i * sizeof version, sizeof version);
    CHECK((version & VERSIONS_MOST) <= highest, flaw);
  }
  return NULL;
}

/* ---- relocations, and what runs at once ---- */

static bool is_relative(const struct dynamic *dynamic, uint64_t type)
{
  return (dynamic->object.header.e_machine == EM_X86_64 && type == R_X86_64_RELATIVE) ||
         (dynamic->object.header.e_machine == EM_AARCH64 && type == R_AARCH64_RELATIVE);
}

/* Resolvers of indirect functions run while the loader works. */
static bool is_indirect(const struct dynamic *dynamic, uint64_t type)
{
  return (dynamic->object.header.e_machine == EM_X86_64 && type == R_X86_64_IRELATIVE) ||
         (dynamic->object.header.e_machine == EM_AARCH64 && type == R_AARCH64_IRELATIVE);
}

static bool is_called(const struct dynamic *dynamic, uint64_t address)
{
  return is_within(address, 8, dynamic->value[DT_INIT_ARRAY], dynamic->value[DT_INIT_ARRAYSZ]) ||
         is_within(address, 8, dynamic->value[DT_FINI_ARRAY], dynamic->value[DT_FINI_ARRAYSZ]);
}

/* The first `relative` of them are not looked at by the loader: they have to be relative. */
static const char *
check_relocations(struct dynamic *dynamic, uint64_t address, uint64_t bytes, uint64_t relative)
{
  static const char *flaw = "a relocation leads out of the file";
  const unsigned char *table = gpumc_elf_contents(&dynamic->object, address, bytes);
  CHECK(table != NULL && bytes % sizeof(Elf64_Rela) == 0 && relative <= bytes / sizeof(Elf64_Rela),
        flaw);
  for (uint64_t at = 0; at < bytes; at += sizeof(Elf64_Rela)) {
    Elf64_Rela entry;
    memcpy(&entry, table + at, sizeof entry);
    const uint64_t type = ELF64_R_TYPE(entry.r_info), target = (uint64_t)entry.r_addend;
    CHECK(at / sizeof entry >= relative || is_relative(dynamic, type), flaw);
    CHECK(type == 0 || gpumc_elf_loaded(&dynamic->object, entry.r_offset, 8, PF_W) != NULL, flaw);
    dynamic->called += type != 0 && is_called(dynamic, entry.r_offset);
    CHECK(ELF64_R_SYM(entry.r_info) < dynamic->symbols || ELF64_R_SYM(entry.r_info) == 0, flaw);
    if (is_indirect(dynamic, type) ||
        (is_relative(dynamic, type) && is_called(dynamic, entry.r_offset)))
      CHECK(gpumc_elf_loaded(&dynamic->object, target, 1, PF_X) != NULL, flaw);
    else if (is_relative(dynamic, type))
      CHECK(gpumc_elf_loaded(&dynamic->object, target, 0, PF_R) != NULL, flaw);
  }
  return NULL;
}

/* Every word with bit 0 clear is an address, every other one says which of the next 63 follow. */
static const char *check_compact_relocations(struct dynamic *dynamic)
{
  static const char *flaw = "a relocation leads out of the file";
  const uint64_t bytes = dynamic->value[RELRSZ];
  const unsigned char *table = gpumc_elf_contents(&dynamic->object, dynamic->value[RELR], bytes);
  uint64_t where = 0;
  CHECK(table != NULL && bytes % 8 == 0, flaw);
  for (uint64_t at = 0; at < bytes; at += 8) {
    uint64_t entry;
    memcpy(&entry, table + at, sizeof entry);
    if ((entry & 1) == 0) {
      CHECK(gpumc_elf_loaded(&dynamic->object, entry, 8, PF_W) != NULL, flaw);
      dynamic->called += is_called(dynamic, entry);
      where = entry + 8;
      continue;
    }
    for (uint64_t bit = 1; bit < 64; bit++) {
      if ((entry >> bit & 1) == 0)
        continue;
      CHECK(gpumc_elf_loaded(&dynamic->object, where + 8 * (bit - 1), 8, PF_W) != NULL, flaw);
      dynamic->called += is_called(dynamic, where + 8 * (bit - 1));
    }
    where += 8 * 63;
  }
  return NULL;
}

static const char *check_calls(const struct dynamic *dynamic)
{
  static const char *flaw = "an initialisation or exit function lies outside the code";
  const uint64_t *value = dynamic->value;
  CHECK(!dynamic->present[DT_INIT] ||
            gpumc_elf_loaded(&dynamic->object, value[DT_INIT], 1, PF_X) != NULL,
        flaw);
  CHECK(!dynamic->present[DT_FINI] ||
            gpumc_elf_loaded(&dynamic->object, value[DT_FINI], 1, PF_X) != NULL,
        flaw);
  CHECK(!dynamic->present[DT_PREINIT_ARRAY] && !dynamic->present[DT_PREINIT_ARRAYSZ], flaw);
  CHECK(value[DT_INIT_ARRAYSZ] % 8 == 0 && value[DT_FINI_ARRAYSZ] % 8 == 0, flaw);
  CHECK(value[DT_INIT_ARRAY] == 0 || gpumc_elf_loaded(&dynamic->object, value[DT_INIT_ARRAY],
                                                      value[DT_INIT_ARRAYSZ], PF_W) != NULL,
        flaw);
  CHECK(value[DT_FINI_ARRAY] == 0 || gpumc_elf_loaded(&dynamic->object, value[DT_FINI_ARRAY],
                                                      value[DT_FINI_ARRAYSZ], PF_W) != NULL,
        flaw);
  return NULL;
}

const char *gpumc_elf_flaw(const unsigned char *bytes, size_t size)
{
  struct dynamic dynamic = {0};
  const uint64_t *value = dynamic.value;
  TRY_FLAW(gpumc_elf_read(&dynamic.object, bytes, size));
  dynamic.symbols = dynamic.object.symbols;
  TRY_FLAW(read_dynamic(&dynamic));
  TRY_FLAW(check_pairs(&dynamic));
  TRY_FLAW(compare_with_sections(&dynamic));
  TRY_FLAW(check_symbols(&dynamic));
  TRY_FLAW(check_versions(&dynamic));
  TRY_FLAW(check_calls(&dynamic));
  const bool *present = dynamic.present;
  CHECK(!present[DT_REL] && (!present[DT_RELA] || value[DT_RELAENT] == sizeof(Elf64_Rela)) &&
            (!present[DT_PLTREL] || value[DT_PLTREL] == DT_RELA) &&
            (!present[RELR] || value[RELRENT] == sizeof(uint64_t)),
        "its relocations are of another kind");
  if (value[DT_RELA] != 0 || value[DT_RELASZ] != 0)
    TRY_FLAW(check_relocations(&dynamic, value[DT_RELA], value[DT_RELASZ], value[RELACOUNT]));
  if (value[DT_JMPREL] != 0 || value[DT_PLTRELSZ] != 0)
    TRY_FLAW(check_relocations(&dynamic, value[DT_JMPREL], value[DT_PLTRELSZ], 0));
  if (value[RELR] != 0)
    TRY_FLAW(check_compact_relocations(&dynamic));
  CHECK(dynamic.called == (value[DT_INIT_ARRAYSZ] + value[DT_FINI_ARRAYSZ]) / 8,
        "an initialisation or exit function is missing");
  return NULL;
}
