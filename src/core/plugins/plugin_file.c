/* The note of a plugin, read from the ELF file as bytes, and the search path. */
#include "core/plugins/plugin_file.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/checksum.h"
#include "core/base/shared_object.h"
#include "core/base/text.h"
#include "core/processes/launcher.h"

static const char remedy[] =
    "build it against the headers of this gpumc (docs/adding-a-model.md, Outside the tree)";

/* ---- the note ---- */

static enum gpumc_status
refuse(const char *path, const char *why, const char *what_helps, struct gpumc_error *error)
{
  return gpumc_error_set(error, GPUMC_INVALID, "%s: %s; %s", path, why, what_helps);
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

/* Code that others could exchange is not run, as ssh does not use such keys. */
static void look_at_rights(struct gpumc_plugin_file *file)
{
  char place[PATH_MAX];
  if (file->why_not[0] == '\0' && gpumc_shared_object_is_exposed(file->path, place, sizeof place))
    snprintf(file->why_not, sizeof file->why_not,
             "everyone can write to %s and so change the code; run chmod o-w %s", place, place);
}

static enum gpumc_status read_note(const struct gpumc_shared_object *object,
                                   struct gpumc_plugin_file *file, struct gpumc_error *error)
{
  size_t size = 0;
  const unsigned char *note =
      gpumc_shared_object_note(object, GPUMC_PLUGIN_OWNER, GPUMC_PLUGIN_NOTE_TYPE, &size);
  if (note == NULL || size < sizeof file->note)
    return refuse(file->path, "not a plugin: it has no gpumc note", remedy, error);
  memcpy(&file->note, note, sizeof file->note);
  if (!is_sound(&file->note) ||
      (file->note.abi == GPUMC_PLUGIN_ABI &&
       (size - sizeof file->note) / sizeof(uint32_t) < file->note.n_layout))
    return refuse(file->path, "damaged: its gpumc note cannot be read", remedy, error);
  compare(file, note + sizeof file->note);
  look_at_rights(file);
  file->checksum = gpumc_checksum_of(object->bytes, object->size);
  return GPUMC_OK;
}

enum gpumc_status
gpumc_plugin_file_read(const char *path, struct gpumc_plugin_file *file, struct gpumc_error *error)
{
  struct gpumc_shared_object object;
  *file = (struct gpumc_plugin_file){.path = strdup(path)};
  if (file->path == NULL)
    return gpumc_error_set(error, GPUMC_FAILURE, "out of memory: reading the plugin %s", path);
  GPUMC_TRY(gpumc_shared_object_open(path, "plugin", remedy, &object, error));
  const enum gpumc_status status = read_note(&object, file, error);
  gpumc_shared_object_close(&object);
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
