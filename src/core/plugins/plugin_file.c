/* The note of a plugin, read from the ELF file as bytes, and the search path. */
#include "core/plugins/plugin_file.h"

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/checksum.h"
#include "core/base/files.h"
#include "core/base/text.h"
#include "core/processes/launcher.h"

static const char remedy[] =
    "build it against the headers of this gpumc (docs/adding-a-model.md, Outside the tree)";

/* ---- the note ---- */

/* A file in memory. */
struct image {
  const unsigned char *bytes;
  size_t size;
};

static bool has_range(const struct image *image, uint64_t offset, uint64_t size)
{
  return offset <= image->size && size <= image->size - offset;
}

static enum gpumc_status
refuse(const char *path, const char *why, const char *what_helps, struct gpumc_error *error)
{
  return gpumc_error_set(error, GPUMC_INVALID, "%s: %s: %s", path, why, what_helps);
}

/* The file is mapped, so that a large one costs nothing but its checksum. */
static enum gpumc_status map(const char *path, struct image *image, struct gpumc_error *error)
{
  const char *reason;
  struct stat found;
  const int descriptor = gpumc_regular_open(path, O_RDONLY, &reason);
  if (descriptor < 0)
    return gpumc_error_set(error, GPUMC_INVALID, "%s: cannot open the plugin: %s", path, reason);
  const bool known = fstat(descriptor, &found) == 0 && found.st_size > 0;
  void *bytes =
      known ? mmap(NULL, (size_t)found.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0) : MAP_FAILED;
  close(descriptor);
  if (bytes == MAP_FAILED)
    return refuse(path, known ? "cannot read the plugin" : "not a plugin: the file is empty",
                  remedy, error);
  *image = (struct image){bytes, (size_t)found.st_size};
  return GPUMC_OK;
}

/* The file says that it is a shared object for this kind of processor; else why not. */
static const char *header_flaw(const struct image *image, Elf64_Ehdr *header)
{
  Elf64_Ehdr own;
  FILE *program = fopen("/proc/self/exe", "rb");
  const bool known = program != NULL && fread(&own, sizeof own, 1, program) == 1;
  if (program != NULL)
    fclose(program);
  if (!has_range(image, 0, sizeof *header) || memcmp(image->bytes, ELFMAG, SELFMAG) != 0)
    return "not a plugin: not a shared object";
  memcpy(header, image->bytes, sizeof *header);
  if (header->e_ident[EI_CLASS] != ELFCLASS64 ||
      (known &&
       (header->e_ident[EI_DATA] != own.e_ident[EI_DATA] || header->e_machine != own.e_machine)))
    return "built for another kind of processor";
  if (header->e_type != ET_DYN || header->e_phentsize != sizeof(Elf64_Phdr) ||
      !has_range(image, header->e_phoff, (uint64_t)header->e_phnum * sizeof(Elf64_Phdr)))
    return "not a plugin: not a shared object";
  return NULL;
}

static Elf64_Phdr segment_of(const struct image *image, const Elf64_Ehdr *header, size_t i)
{
  Elf64_Phdr segment;
  memcpy(&segment, image->bytes + header->e_phoff + i * sizeof segment, sizeof segment);
  return segment;
}

/* The loader maps segments without a look at the size of the file: whatever reads a part that is
 * not there ends the program with SIGBUS. */
static bool is_cut_off(const struct image *image, const Elf64_Ehdr *header)
{
  for (size_t i = 0; i < header->e_phnum; i++) {
    const Elf64_Phdr segment = segment_of(image, header, i);
    if (segment.p_filesz > 0 && !has_range(image, segment.p_offset, segment.p_filesz))
      return true;
  }
  return false;
}

static size_t padded(uint32_t bytes)
{
  return ((size_t)bytes + 3) & ~(size_t)3;
}

/* The contents of our note in one segment of notes, all of it in the file; NULL: it is not there.
 */
static const unsigned char *
find_in_segment(const struct image *image, const Elf64_Phdr *segment, size_t *size)
{
  uint64_t at = segment->p_offset;
  const uint64_t end = segment->p_offset + segment->p_filesz;
  while (end - at >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr header;
    memcpy(&header, image->bytes + at, sizeof header);
    at += sizeof header;
    if (end - at < padded(header.n_namesz) ||
        end - at - padded(header.n_namesz) < padded(header.n_descsz))
      return NULL;
    const unsigned char *owner = image->bytes + at;
    at += padded(header.n_namesz);
    if (header.n_type == GPUMC_PLUGIN_NOTE_TYPE && header.n_namesz == sizeof GPUMC_PLUGIN_OWNER &&
        memcmp(owner, GPUMC_PLUGIN_OWNER, header.n_namesz) == 0) {
      *size = header.n_descsz;
      return image->bytes + at;
    }
    at += padded(header.n_descsz);
  }
  return NULL;
}

static const unsigned char *
find_note(const struct image *image, const Elf64_Ehdr *header, size_t *size)
{
  const unsigned char *found = NULL;
  for (size_t i = 0; i < header->e_phnum && found == NULL; i++) {
    const Elf64_Phdr segment = segment_of(image, header, i);
    if (segment.p_type == PT_NOTE && segment.p_filesz > 0)
      found = find_in_segment(image, &segment, size);
  }
  return found;
}

/* Texts end within their room, and have names in them: printed characters, no slash. */
static bool is_text(const char *text, size_t room)
{
  size_t length = 0;
  while (length < room && text[length] != '\0') {
    if (text[length] < ' ' || text[length] > '~' || text[length] == '/')
      return false;
    length++;
  }
  return length < room;
}

static bool is_sound(const struct gpumc_plugin_note *note)
{
  return is_text(note->name, sizeof note->name) && note->name[0] != '\0' &&
         is_text(note->version, sizeof note->version) &&
         is_text(note->models, sizeof note->models) &&
         is_text(note->algorithms, sizeof note->algorithms) &&
         is_text(note->kernels, sizeof note->kernels);
}

/* Compares sizes and offsets with those of this program, if the ABI has the same number. */
static void compare(struct gpumc_plugin_file *file, const unsigned char *layout)
{
  const struct gpumc_plugin_note *note = &file->note;
  if (note->abi != GPUMC_PLUGIN_ABI) {
    snprintf(file->why_not, sizeof file->why_not,
             "built for plugin ABI %" PRIu32 ", but this gpumc has ABI %d: %s", note->abi,
             GPUMC_PLUGIN_ABI, remedy);
    return;
  }
  const char *differs = note->n_layout != gpumc_plugin_layout_count ? "the list of structs" : NULL;
  const char *type = "";
  for (size_t i = 0; i < gpumc_plugin_layout_count && differs == NULL; i++) {
    uint32_t bytes;
    memcpy(&bytes, layout + i * sizeof bytes, sizeof bytes);
    if (bytes != gpumc_plugin_layout[i].bytes) {
      differs = "struct ";
      type = gpumc_plugin_layout[i].type;
    }
  }
  if (differs != NULL)
    snprintf(file->why_not, sizeof file->why_not,
             "built against other headers, in which %s%s differs: %s", differs, type, remedy);
}

static enum gpumc_status
read_image(const struct image *image, struct gpumc_plugin_file *file, struct gpumc_error *error)
{
  Elf64_Ehdr header;
  size_t size = 0;
  const char *flaw = header_flaw(image, &header);
  if (flaw != NULL)
    return refuse(file->path, flaw, remedy, error);
  if (is_cut_off(image, &header))
    return refuse(file->path, "damaged: the file was cut off", "copy or build it again", error);
  const unsigned char *note = find_note(image, &header, &size);
  if (note == NULL || size < sizeof file->note)
    return refuse(file->path, "not a plugin: it has no gpumc note", remedy, error);
  memcpy(&file->note, note, sizeof file->note);
  if (!is_sound(&file->note) ||
      (file->note.abi == GPUMC_PLUGIN_ABI &&
       (size - sizeof file->note) / sizeof(uint32_t) < file->note.n_layout))
    return refuse(file->path, "damaged: its gpumc note cannot be read", remedy, error);
  compare(file, note + sizeof file->note);
  file->checksum = gpumc_checksum_of(image->bytes, image->size);
  return GPUMC_OK;
}

enum gpumc_status
gpumc_plugin_file_read(const char *path, struct gpumc_plugin_file *file, struct gpumc_error *error)
{
  struct image image = {0};
  *file = (struct gpumc_plugin_file){.path = strdup(path)};
  if (file->path == NULL)
    return gpumc_error_set(error, GPUMC_FAILURE, "out of memory: reading the plugin %s", path);
  GPUMC_TRY(map(path, &image, error));
  const enum gpumc_status status = read_image(&image, file, error);
  munmap((void *)image.bytes, image.size);
  return status;
}

void gpumc_plugin_file_free(struct gpumc_plugin_file *file)
{
  free(file->path);
  memset(file, 0, sizeof *file);
}

bool gpumc_plugin_lists(const char *list, const char *name)
{
  const size_t length = strlen(name);
  for (const char *word = list; *word != '\0';) {
    const size_t found = strcspn(word, " ");
    if (found == length && strncmp(word, name, length) == 0)
      return true;
    word += found + strspn(word + found, " ");
  }
  return false;
}

const char *gpumc_plugin_abi(char text[static GPUMC_PLUGIN_ABI_BYTES])
{
  struct gpumc_checksum sum;
  gpumc_checksum_begin(&sum);
  for (size_t i = 0; i < gpumc_plugin_layout_count; i++) {
    const struct gpumc_plugin_extent *extent = &gpumc_plugin_layout[i];
    gpumc_checksum_add(&sum, extent->type, strlen(extent->type) + 1);
    if (extent->field != NULL)
      gpumc_checksum_add(&sum, extent->field, strlen(extent->field) + 1);
    gpumc_checksum_add(&sum, &extent->bytes, sizeof extent->bytes);
  }
  snprintf(text, GPUMC_PLUGIN_ABI_BYTES, "%d-%016" PRIx64, GPUMC_PLUGIN_ABI,
           gpumc_checksum_value(&sum));
  return text;
}

/* ---- the search path ---- */

/* Calls `visit` for each folder until it returns false. */
static void visit_folders(bool (*visit)(const char *folder, void *state), void *state)
{
  const char *variable = getenv("GPUMC_PLUGIN_PATH"), *data = getenv("XDG_DATA_HOME");
  const char *home = getenv("HOME");
  char folder[PATH_MAX];
  for (const char *word = variable; word != NULL && *word != '\0';) {
    const size_t length = strcspn(word, ":");
    snprintf(folder, sizeof folder, "%.*s", (int)length, word);
    if (length > 0 && !visit(folder, state))
      return;
    word += length + (word[length] == ':');
  }
  /* Paths in these variables must be absolute, by the specification of XDG. */
  folder[0] = '\0';
  if (data != NULL && data[0] == '/')
    snprintf(folder, sizeof folder, "%s/gpumc/plugins", data);
  else if (home != NULL && home[0] == '/')
    snprintf(folder, sizeof folder, "%s/.local/share/gpumc/plugins", home);
  if (folder[0] != '\0' && !visit(folder, state))
    return;
  char whole[PATH_MAX];
  if (gpumc_module_folder(folder, sizeof folder) &&
      strlen(folder) + sizeof "/plugins" <= sizeof folder) {
    strcat(folder, "/plugins");
    (void)visit(realpath(folder, whole) != NULL ? whole : folder, state);
  }
}

static bool append_folder(const char *folder, void *state)
{
  struct gpumc_text *text = state;
  gpumc_text_append(text, "%s%s", text->length > 0 ? ", " : "", folder);
  return true;
}

void gpumc_plugin_folders(struct gpumc_text *text)
{
  visit_folders(append_folder, text);
}

struct search {
  struct gpumc_plugin_list *list;
  enum gpumc_status status;
};

static int is_shared_object(const struct dirent *entry)
{
  const size_t length = strlen(entry->d_name);
  return length > 3 && strcmp(entry->d_name + length - 3, ".so") == 0;
}

/* Adds the file if it is a plugin, which may be one that this program cannot use. */
static enum gpumc_status add_file(struct gpumc_plugin_list *list, const char *path)
{
  struct gpumc_error ignored = {0};
  struct gpumc_plugin_file file;
  const enum gpumc_status status = gpumc_plugin_file_read(path, &file, &ignored);
  gpumc_error_free(&ignored);
  if (status != GPUMC_OK) {
    gpumc_plugin_file_free(&file);
    return status == GPUMC_INVALID ? GPUMC_OK : status;
  }
  struct gpumc_plugin_file *files = realloc(list->files, (list->count + 1) * sizeof *files);
  if (files == NULL) {
    gpumc_plugin_file_free(&file);
    return GPUMC_FAILURE;
  }
  list->files = files;
  list->files[list->count++] = file;
  return GPUMC_OK;
}

static bool search_folder(const char *folder, void *state)
{
  struct search *search = state;
  enum gpumc_status *status = &search->status;
  struct dirent **entries = NULL;
  const int count = scandir(folder, &entries, is_shared_object, alphasort);
  for (int i = 0; i < count; i++) {
    char path[PATH_MAX], whole[PATH_MAX];
    const int length = snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
    if (*status == GPUMC_OK && length > 0 && (size_t)length < sizeof path &&
        realpath(path, whole) != NULL)
      *status = add_file(search->list, whole);
    free(entries[i]);
  }
  free(entries);
  return *status == GPUMC_OK;
}

enum gpumc_status gpumc_plugin_search(struct gpumc_plugin_list *list, struct gpumc_error *error)
{
  struct search search = {.list = list, .status = GPUMC_OK};
  *list = (struct gpumc_plugin_list){0};
  visit_folders(search_folder, &search);
  return search.status == GPUMC_OK
             ? GPUMC_OK
             : gpumc_error_set(error, GPUMC_FAILURE, "out of memory: looking for plugins");
}

void gpumc_plugin_list_free(struct gpumc_plugin_list *list)
{
  for (size_t i = 0; i < list->count; i++)
    gpumc_plugin_file_free(&list->files[i]);
  free(list->files);
  *list = (struct gpumc_plugin_list){0};
}
