/* Opening shared objects as bytes: header, notes, and who may write to them. */
#include "core/base/shared_object.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/files.h"
#include "core/base/module_note.h"

static bool has_range(const struct gpumc_shared_object *object, uint64_t offset, uint64_t size)
{
  return offset <= object->size && size <= object->size - offset;
}

/* The file is mapped, so that a large one costs nothing but its checksum. */
static enum gpumc_status map(const char *path, const char *kind, const char *remedy,
                             struct gpumc_shared_object *object, struct gpumc_error *error)
{
  const char *reason;
  struct stat found;
  const int descriptor = gpumc_regular_open(path, O_RDONLY, &reason);
  if (descriptor < 0)
    return gpumc_error_set(error, GPUMC_INVALID, "%s: cannot open the %s: %s", path, kind, reason);
  const bool known = fstat(descriptor, &found) == 0 && found.st_size > 0;
  void *bytes =
      known ? mmap(NULL, (size_t)found.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0) : MAP_FAILED;
  close(descriptor);
  if (bytes == MAP_FAILED && known)
    return gpumc_error_set(error, GPUMC_INVALID, "%s: cannot read the %s; %s", path, kind, remedy);
  if (bytes == MAP_FAILED)
    return gpumc_error_set(error, GPUMC_INVALID, "%s: not a %s: the file is empty; %s", path, kind,
                           remedy);
  *object = (struct gpumc_shared_object){bytes, (size_t)found.st_size};
  return GPUMC_OK;
}

/* The file says that it is a shared object for this kind of processor; else `*is_other` tells one
 * for another kind from what is none. */
static bool has_header(const struct gpumc_shared_object *object, Elf64_Ehdr *header, bool *is_other)
{
  Elf64_Ehdr own;
  FILE *program = fopen("/proc/self/exe", "rb");
  const bool known = program != NULL && fread(&own, sizeof own, 1, program) == 1;
  if (program != NULL)
    fclose(program);
  *is_other = false;
  if (!has_range(object, 0, sizeof *header) || memcmp(object->bytes, ELFMAG, SELFMAG) != 0)
    return false;
  memcpy(header, object->bytes, sizeof *header);
  *is_other = header->e_ident[EI_CLASS] != ELFCLASS64 ||
              (known && (header->e_ident[EI_DATA] != own.e_ident[EI_DATA] ||
                         header->e_machine != own.e_machine));
  return !*is_other && header->e_type == ET_DYN && header->e_phentsize == sizeof(Elf64_Phdr) &&
         has_range(object, header->e_phoff, (uint64_t)header->e_phnum * sizeof(Elf64_Phdr));
}

static Elf64_Phdr segment_of(const struct gpumc_shared_object *object, size_t i)
{
  Elf64_Ehdr header;
  Elf64_Phdr segment;
  memcpy(&header, object->bytes, sizeof header);
  memcpy(&segment, object->bytes + header.e_phoff + i * sizeof segment, sizeof segment);
  return segment;
}

/* The loader maps segments without a look at the size of the file: whatever reads a part that is
 * not there ends the program with SIGBUS. */
static bool is_cut_off(const struct gpumc_shared_object *object, size_t segments)
{
  for (size_t i = 0; i < segments; i++) {
    const Elf64_Phdr segment = segment_of(object, i);
    if (segment.p_filesz > 0 && !has_range(object, segment.p_offset, segment.p_filesz))
      return true;
  }
  return false;
}

static enum gpumc_status check(const char *path, const char *kind, const char *remedy,
                               const struct gpumc_shared_object *object, struct gpumc_error *error)
{
  Elf64_Ehdr header;
  bool is_other;
  if (!has_header(object, &header, &is_other) && is_other)
    return gpumc_error_set(error, GPUMC_INVALID, "%s: built for another kind of processor; %s",
                           path, remedy);
  if (!has_header(object, &header, &is_other))
    return gpumc_error_set(error, GPUMC_INVALID, "%s: not a %s: not a shared object; %s", path,
                           kind, remedy);
  if (is_cut_off(object, header.e_phnum))
    return gpumc_error_set(error, GPUMC_INVALID,
                           "%s: damaged: the file was cut off; copy or build it again", path);
  return GPUMC_OK;
}

enum gpumc_status gpumc_shared_object_open(const char *path, const char *kind, const char *remedy,
                                           struct gpumc_shared_object *object,
                                           struct gpumc_error *error)
{
  *object = (struct gpumc_shared_object){0};
  GPUMC_TRY(map(path, kind, remedy, object, error));
  const enum gpumc_status status = check(path, kind, remedy, object, error);
  if (status != GPUMC_OK)
    gpumc_shared_object_close(object);
  return status;
}

enum gpumc_status gpumc_shared_object_whole(const char *path, const char *kind, const char *remedy,
                                            struct gpumc_error *error)
{
  struct gpumc_shared_object object;
  GPUMC_TRY(gpumc_shared_object_open(path, kind, remedy, &object, error));
  const char *flaw = gpumc_elf_flaw(object.bytes, object.size);
  gpumc_shared_object_close(&object);
  return flaw == NULL ? GPUMC_OK
                      : gpumc_error_set(error, GPUMC_INVALID,
                                        "%s: damaged: %s; copy or build it again", path, flaw);
}

void gpumc_shared_object_close(struct gpumc_shared_object *object)
{
  if (object->bytes != NULL)
    munmap((void *)object->bytes, object->size);
  *object = (struct gpumc_shared_object){0};
}

/* ---- notes ---- */

static size_t padded(uint32_t bytes)
{
  return ((size_t)bytes + 3) & ~(size_t)3;
}

static const unsigned char *find_in_segment(const struct gpumc_shared_object *object,
                                            const Elf64_Phdr *segment, const char *owner,
                                            uint32_t type, size_t *size)
{
  uint64_t at = segment->p_offset;
  const uint64_t end = segment->p_offset + segment->p_filesz;
  while (end - at >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr header;
    memcpy(&header, object->bytes + at, sizeof header);
    at += sizeof header;
    if (end - at < padded(header.n_namesz) ||
        end - at - padded(header.n_namesz) < padded(header.n_descsz))
      return NULL;
    const unsigned char *name = object->bytes + at;
    at += padded(header.n_namesz);
    if (header.n_type == type && header.n_namesz == strlen(owner) + 1 &&
        memcmp(name, owner, header.n_namesz) == 0) {
      *size = header.n_descsz;
      return object->bytes + at;
    }
    at += padded(header.n_descsz);
  }
  return NULL;
}

const unsigned char *gpumc_shared_object_note(const struct gpumc_shared_object *object,
                                              const char *owner, uint32_t type, size_t *size)
{
  Elf64_Ehdr header;
  const unsigned char *found = NULL;
  memcpy(&header, object->bytes, sizeof header);
  for (size_t i = 0; i < header.e_phnum && found == NULL; i++) {
    const Elf64_Phdr segment = segment_of(object, i);
    if (segment.p_type == PT_NOTE && segment.p_filesz > 0)
      found = find_in_segment(object, &segment, owner, type, size);
  }
  return found;
}

/* ---- who may write ---- */

bool gpumc_shared_object_is_exposed(const char *path, char *place, size_t bytes)
{
  struct stat found;
  char *whole = realpath(path, NULL);
  bool exposed = whole != NULL && stat(whole, &found) == 0 && (found.st_mode & S_IWOTH) != 0;
  while (whole != NULL && !exposed) {
    char *slash = strrchr(whole, '/');
    if (slash == NULL || whole[1] == '\0')
      break;
    slash[slash == whole ? 1 : 0] = '\0';
    exposed = stat(whole, &found) == 0 && (found.st_mode & S_IWOTH) != 0 &&
              (found.st_mode & S_ISVTX) == 0;
  }
  if (exposed)
    snprintf(place, bytes, "%s", whole);
  free(whole);
  return exposed;
}

/* ---- modules ---- */

enum gpumc_status
gpumc_module_check(const char *path, uint32_t type, uint32_t interface, struct gpumc_error *error)
{
  static const char remedy[] = "build or install this gpumc again";
  struct gpumc_shared_object object = {0};
  char place[PATH_MAX];
  size_t size = 0;
  uint32_t found = 0;
  if (gpumc_shared_object_is_exposed(path, place, sizeof place))
    return gpumc_error_set(error, GPUMC_FAILURE,
                           "%s: not loaded, because everyone can write to %s: chmod o-w %s", path,
                           place, place);
  if (gpumc_shared_object_whole(path, "module of gpumc", remedy, error) != GPUMC_OK ||
      gpumc_shared_object_open(path, "module of gpumc", remedy, &object, error) != GPUMC_OK)
    return error->status = GPUMC_FAILURE;
  const unsigned char *note = gpumc_shared_object_note(&object, GPUMC_NOTE_OWNER, type, &size);
  if (note != NULL && size >= sizeof found)
    memcpy(&found, note, sizeof found);
  gpumc_shared_object_close(&object);
  return found == interface ? GPUMC_OK
                            : gpumc_error_set(error, GPUMC_FAILURE,
                                              "%s belongs to another version of gpumc: %s", path,
                                              remedy);
}
