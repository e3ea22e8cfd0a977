/* Plugins in use: opened, checked against each other, and joined with what is built in. */
#include "core/plugins/plugin_set.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/shared_object.h"
#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/plugins/plugin_flaws.h"
#include "core/simulation/registry.h"

static const char kind_words[][10] = {"model", "algorithm"};

/* ---- lists ---- */

/* The length of a list of pointers that ends with NULL. */
static size_t length_of(const void *list)
{
  size_t length = 0;
  const void *item = NULL;
  do
    memcpy(&item, (const char *)list + length++ * sizeof item, sizeof item);
  while (item != NULL);
  return length - 1;
}

/* Appends such a list to another, NULL for an empty one, which is freed if that succeeds. Returns
 * NULL when memory ran out. */
static void *joined(void *list, const void *more)
{
  const size_t before = list != NULL ? length_of(list) : 0, added = length_of(more);
  char *grown = realloc(list, (before + added + 1) * sizeof(void *));
  if (grown != NULL)
    memcpy(grown + before * sizeof(void *), more, (added + 1) * sizeof(void *));
  return grown;
}

static enum gpumc_status out_of_memory(struct gpumc_error *error)
{
  return gpumc_error_set(error, GPUMC_FAILURE, "out of memory: loading plugins");
}

static enum gpumc_status
join(struct gpumc_plugin_set *set, const struct gpumc_model_ops *const *models,
     const struct gpumc_algorithm_ops *const *algorithms, struct gpumc_error *error)
{
  const struct gpumc_model_ops **all_models = joined(set->models, models);
  set->models = all_models != NULL ? all_models : set->models;
  const struct gpumc_algorithm_ops **all_algorithms = joined(set->algorithms, algorithms);
  set->algorithms = all_algorithms != NULL ? all_algorithms : set->algorithms;
  return all_models != NULL && all_algorithms != NULL ? GPUMC_OK : out_of_memory(error);
}

enum gpumc_status gpumc_plugin_set_init(struct gpumc_plugin_set *set, struct gpumc_error *error)
{
  *set = (struct gpumc_plugin_set){0};
  return join(set, gpumc_models(), gpumc_algorithms(), error);
}

void gpumc_plugin_set_free(struct gpumc_plugin_set *set)
{
  for (size_t i = 0; i < set->n_used; i++)
    gpumc_plugin_file_free(&set->used[i]);
  for (size_t i = 0; i < set->n_owned; i++)
    free(set->owned[i]);
  free(set->used);
  free(set->owned);
  free(set->models);
  free(set->algorithms);
  *set = (struct gpumc_plugin_set){0};
}

const struct gpumc_model_ops *
gpumc_plugin_set_model(const struct gpumc_plugin_set *set, const char *name)
{
  for (size_t i = 0; set->models[i] != NULL; i++)
    if (strcmp(set->models[i]->name, name) == 0)
      return set->models[i];
  return NULL;
}

const struct gpumc_algorithm_ops *
gpumc_plugin_set_algorithm(const struct gpumc_plugin_set *set, const char *name)
{
  for (size_t i = 0; set->algorithms[i] != NULL; i++)
    if (strcmp(set->algorithms[i]->name, name) == 0)
      return set->algorithms[i];
  return NULL;
}

static bool has(const struct gpumc_plugin_set *set, enum gpumc_plugin_kind kind, const char *name)
{
  return kind == GPUMC_PLUGIN_MODEL ? gpumc_plugin_set_model(set, name) != NULL
                                    : gpumc_plugin_set_algorithm(set, name) != NULL;
}

/* ---- one plugin ---- */

static const char *list_of(const struct gpumc_plugin_note *note, enum gpumc_plugin_kind kind)
{
  return kind == GPUMC_PLUGIN_MODEL ? note->models : note->algorithms;
}

/* Copies the first name of a list; returns the rest of the list. */
static const char *next_name(const char *list, char name[static GPUMC_PLUGIN_LIST_BYTES])
{
  const size_t length = strcspn(list, " ");
  snprintf(name, GPUMC_PLUGIN_LIST_BYTES, "%.*s", (int)length, list);
  return list + length + strspn(list + length, " ");
}

/* The first name of a list that the set has, into `name`; false: there is none. */
static bool find_taken(const struct gpumc_plugin_set *set, const struct gpumc_plugin_note *note,
                       enum gpumc_plugin_kind kind, char name[static GPUMC_PLUGIN_LIST_BYTES])
{
  for (const char *word = list_of(note, kind); *word != '\0';) {
    word = next_name(word, name);
    if (has(set, kind, name))
      return true;
  }
  return false;
}

/* The first name that a list has twice, into `name`; false: there is none. */
static bool find_repeated(const struct gpumc_plugin_note *note, enum gpumc_plugin_kind kind,
                          char name[static GPUMC_PLUGIN_LIST_BYTES])
{
  for (const char *word = list_of(note, kind); *word != '\0';) {
    word = next_name(word, name);
    if (gpumc_plugin_lists(word, name))
      return true;
  }
  return false;
}

/* Refuses names that are built in, that a plugin in use has, its own among them, or that it has
 * twice. */
static enum gpumc_status check_names(const struct gpumc_plugin_set *set,
                                     const struct gpumc_plugin_file *file,
                                     struct gpumc_error *error)
{
  char name[GPUMC_PLUGIN_LIST_BYTES];
  for (size_t i = 0; i < set->n_used; i++)
    if (strcmp(set->used[i].note.name, file->note.name) == 0)
      return gpumc_error_set(error, GPUMC_INVALID,
                             "%s: a plugin named '%s' is already in use, %s: leave one of them "
                             "out, or give it another name",
                             file->path, file->note.name, set->used[i].path);
  for (enum gpumc_plugin_kind kind = GPUMC_PLUGIN_MODEL; kind <= GPUMC_PLUGIN_ALGORITHM; kind++) {
    const char *owner = NULL;
    if (find_repeated(&file->note, kind, name))
      return gpumc_error_set(error, GPUMC_INVALID,
                             "%s: it has %s '%s' twice: leave one of them out", file->path,
                             kind_words[kind], name);
    if (!find_taken(set, &file->note, kind, name))
      continue;
    for (size_t i = 0; i < set->n_used && owner == NULL; i++)
      if (gpumc_plugin_lists(list_of(&set->used[i].note, kind), name))
        owner = set->used[i].path;
    return gpumc_error_set(
        error, GPUMC_INVALID,
        "%s: %s '%s' is already %s%s: leave one of them out, or give it another name", file->path,
        kind_words[kind], name, owner != NULL ? "in the plugin " : "built into this gpumc",
        owner != NULL ? owner : "");
  }
  return GPUMC_OK;
}

/* Runs code of the plugin for the first time, its constructors. */
static enum gpumc_status load(const struct gpumc_plugin_file *file,
                              const struct gpumc_plugin **plugin, struct gpumc_error *error)
{
  GPUMC_TRY(gpumc_shared_object_whole(file->path, "plugin", "build it again", error));
  void *library = dlopen(file->path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "%s: cannot be loaded: %s: plugins may use only what the installed "
                           "headers declare, and libraries that they are linked with",
                           file->path, dlerror());
  *plugin = dlsym(library, GPUMC_PLUGIN_SYMBOL);
  if (*plugin == NULL)
    return gpumc_error_set(
        error, GPUMC_INVALID,
        "%s: damaged: it has a gpumc note, but not the table " GPUMC_PLUGIN_SYMBOL
        ": compile plugin_entry.c with it",
        file->path);
  return GPUMC_OK;
}

/* The tables have what the note lists, and nothing in them is missing. */
static enum gpumc_status check_tables(const struct gpumc_plugin_file *file,
                                      const struct gpumc_plugin *plugin, struct gpumc_error *error)
{
  const char *flaw = NULL, *name = "", *kind = "";
  for (size_t i = 0; plugin->models[i] != NULL && flaw == NULL; i++) {
    flaw = gpumc_model_flaw(plugin->models[i]);
    kind = kind_words[GPUMC_PLUGIN_MODEL];
    name = plugin->models[i]->name != NULL ? plugin->models[i]->name : "(no name)";
    if (flaw == NULL && !gpumc_plugin_lists(file->note.models, name))
      flaw = "its name is not the one in models.def";
  }
  for (size_t i = 0; plugin->algorithms[i] != NULL && flaw == NULL; i++) {
    flaw = gpumc_algorithm_flaw(plugin->algorithms[i]);
    kind = kind_words[GPUMC_PLUGIN_ALGORITHM];
    name = plugin->algorithms[i]->name != NULL ? plugin->algorithms[i]->name : "(no name)";
    if (flaw == NULL && !gpumc_plugin_lists(file->note.algorithms, name))
      flaw = "its name is not the one in algorithms.def";
  }
  if (flaw == NULL)
    return GPUMC_OK;
  return gpumc_error_set(error, GPUMC_INVALID, "%s: %s '%s': %s: see docs/adding-a-model.md",
                         file->path, kind, name, flaw);
}

static enum gpumc_status own(struct gpumc_plugin_set *set, void *memory, struct gpumc_error *error)
{
  void **owned = realloc(set->owned, (set->n_owned + 1) * sizeof *owned);
  if (memory == NULL || owned == NULL) {
    free(memory);
    set->owned = owned != NULL ? owned : set->owned;
    return out_of_memory(error);
  }
  set->owned = owned;
  set->owned[set->n_owned++] = memory;
  return GPUMC_OK;
}

static enum gpumc_status add_kernel(struct gpumc_plugin_set *set, const char *path,
                                    const struct gpumc_plugin_kernel *added,
                                    struct gpumc_error *error)
{
  size_t place = 0;
  GPUMC_TRY(gpumc_plugin_set_want(set, GPUMC_PLUGIN_MODEL, added->model, false, error));
  while (set->models[place] != NULL && strcmp(set->models[place]->name, added->model) != 0)
    place++;
  const struct gpumc_model_ops *model = set->models[place];
  if (model == NULL)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "%s: has a kernel for model '%s', which is unknown here: name the "
                           "plugin that has the model before this one",
                           path, added->model);
  const size_t count = length_of(model->kernels);
  const struct gpumc_kernel_ops **kernels = calloc(count + 2, sizeof *kernels);
  GPUMC_TRY(own(set, kernels, error));
  struct gpumc_model_ops *copy = malloc(sizeof *copy);
  GPUMC_TRY(own(set, copy, error));
  memcpy(kernels, model->kernels, count * sizeof *kernels);
  kernels[count] = added->kernel;
  *copy = *model;
  copy->kernels = kernels;
  const char *flaw = gpumc_model_flaw(copy);
  for (size_t k = 0; k < count && flaw == NULL; k++)
    if (strcmp(kernels[k]->variant, added->kernel->variant) == 0 &&
        strcmp(kernels[k]->device, added->kernel->device) == 0)
      flaw = "the model already has a kernel of that variant for that device";
  if (flaw != NULL)
    return gpumc_error_set(error, GPUMC_INVALID,
                           "%s: a kernel for model '%s': %s: see docs/adding-a-model.md", path,
                           added->model, flaw);
  set->models[place] = copy;
  return GPUMC_OK;
}

/* Loads a file that may be used, if it can be. */
static enum gpumc_status open_plugin(const struct gpumc_plugin_set *set,
                                     const struct gpumc_plugin_file *file,
                                     const struct gpumc_plugin **plugin, struct gpumc_error *error)
{
  if (file->why_not[0] != '\0')
    return gpumc_error_set(error, GPUMC_INVALID, "%s: %s", file->path, file->why_not);
  GPUMC_TRY(check_names(set, file, error));
  GPUMC_TRY(load(file, plugin, error));
  return check_tables(file, *plugin, error);
}

/* Takes over the file, also on failure. */
static enum gpumc_status
use(struct gpumc_plugin_set *set, struct gpumc_plugin_file *file, struct gpumc_error *error)
{
  const struct gpumc_plugin *plugin = NULL;
  enum gpumc_status status = open_plugin(set, file, &plugin, error);
  struct gpumc_plugin_file *used =
      status == GPUMC_OK ? realloc(set->used, (set->n_used + 1) * sizeof *used) : NULL;
  if (used == NULL) {
    gpumc_plugin_file_free(file);
    return status != GPUMC_OK ? status : out_of_memory(error);
  }
  const char *path = file->path; /* `used` may move: a kernel may want the plugin of its model */
  set->used = used;
  set->used[set->n_used++] = *file;
  GPUMC_TRY(join(set, plugin->models, plugin->algorithms, error));
  for (size_t k = 0; plugin->kernels[k].kernel != NULL; k++)
    GPUMC_TRY(add_kernel(set, path, &plugin->kernels[k], error));
  return GPUMC_OK;
}

/* ---- by path, and by name ---- */

/* The path of a file, from the folder of a configuration if it is relative. NULL: memory. */
static char *path_beside(const char *path, const char *beside)
{
  const char *slash = beside != NULL ? strrchr(beside, '/') : NULL;
  char *joined = NULL;
  if (path[0] == '/' || slash == NULL)
    return strdup(path);
  return asprintf(&joined, "%.*s/%s", (int)(slash - beside), beside, path) < 0 ? NULL : joined;
}

bool gpumc_plugin_set_uses(const struct gpumc_plugin_set *set, const char *path)
{
  for (size_t i = 0; i < set->n_used; i++)
    if (strcmp(set->used[i].path, path) == 0)
      return true;
  return false;
}

/* `path`: as it is found, and as messages and results have it. */
static enum gpumc_status
use_path(struct gpumc_plugin_set *set, const char *path, struct gpumc_error *error)
{
  struct gpumc_plugin_file file;
  char whole[PATH_MAX];
  const char *found = realpath(path, whole) != NULL ? whole : path;
  if (gpumc_plugin_set_uses(set, found))
    return GPUMC_OK;
  const enum gpumc_status status = gpumc_plugin_file_read(found, &file, error);
  if (status == GPUMC_OK)
    return use(set, &file, error);
  gpumc_plugin_file_free(&file);
  return status;
}

static enum gpumc_status
refuse_name(const char *wanted, const struct gpumc_plugin_list *list, struct gpumc_error *error)
{
  struct gpumc_text folders = {0};
  const char **names = calloc(list->count + 1, sizeof *names);
  for (size_t i = 0; names != NULL && i < list->count; i++)
    names[i] = list->files[i].note.name;
  const char *nearest = names != NULL ? gpumc_nearest_name(wanted, names, list->count) : NULL;
  gpumc_plugin_folders(&folders);
  const enum gpumc_status status = gpumc_error_set(
      error, GPUMC_INVALID,
      "there is no plugin '%s' in %s%s%s%s; set GPUMC_PLUGIN_PATH to its folder, or give its path "
      "with a slash, such as ./%s",
      wanted, gpumc_text_string(&folders), nearest != NULL ? "; did you mean '" : "",
      nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "", wanted);
  gpumc_text_free(&folders);
  free(names);
  return status;
}

static enum gpumc_status
use_name(struct gpumc_plugin_set *set, const char *wanted, struct gpumc_error *error)
{
  struct gpumc_plugin_list list;
  size_t i = 0;
  enum gpumc_status status = gpumc_plugin_search(&list, error);
  while (status == GPUMC_OK && i < list.count && strcmp(list.files[i].note.name, wanted) != 0)
    i++;
  if (status == GPUMC_OK)
    status = i < list.count ? use_path(set, list.files[i].path, error)
                            : refuse_name(wanted, &list, error);
  gpumc_plugin_list_free(&list);
  return status;
}

enum gpumc_status gpumc_plugin_set_add(struct gpumc_plugin_set *set, const char *wanted,
                                       const char *beside, struct gpumc_error *error)
{
  if (strchr(wanted, '/') == NULL)
    return use_name(set, wanted, error);
  char *path = path_beside(wanted, beside);
  if (path == NULL)
    return out_of_memory(error);
  const enum gpumc_status status = use_path(set, path, error);
  free(path);
  return status;
}

/* Whether `candidate` is nearer to the name than `best`, "" for none, which it then becomes. */
static bool
is_nearer(const char *name, const char *candidate, char best[static GPUMC_PLUGIN_LIST_BYTES])
{
  const char *pair[] = {candidate, best};
  if (gpumc_nearest_name(name, pair, best[0] == '\0' ? 1 : 2) != candidate)
    return false;
  snprintf(best, GPUMC_PLUGIN_LIST_BYTES, "%s", candidate);
  return true;
}

/* The plugin of the list that has the name. NULL: there is none. */
static const struct gpumc_plugin_file *
find_wanted(const struct gpumc_plugin_list *list, enum gpumc_plugin_kind kind, const char *name)
{
  for (size_t i = 0; i < list->count; i++)
    if (gpumc_plugin_lists(list_of(&list->files[i].note, kind), name))
      return &list->files[i];
  return NULL;
}

/* The plugin of the list with the name, `nearest`, that is nearer to `name` than all in the set.
 * NULL: there is none. Notes have the names: nothing is loaded. */
static const struct gpumc_plugin_file *find_near(const struct gpumc_plugin_set *set,
                                                 const struct gpumc_plugin_list *list,
                                                 enum gpumc_plugin_kind kind, const char *name,
                                                 char nearest[static GPUMC_PLUGIN_LIST_BYTES])
{
  const struct gpumc_plugin_file *found = NULL;
  char candidate[GPUMC_PLUGIN_LIST_BYTES];
  nearest[0] = '\0';
  for (size_t i = 0; kind == GPUMC_PLUGIN_MODEL && set->models[i] != NULL; i++)
    (void)is_nearer(name, set->models[i]->name, nearest);
  for (size_t i = 0; kind == GPUMC_PLUGIN_ALGORITHM && set->algorithms[i] != NULL; i++)
    (void)is_nearer(name, set->algorithms[i]->name, nearest);
  for (size_t i = 0; i < list->count; i++)
    for (const char *word = list_of(&list->files[i].note, kind); *word != '\0';) {
      word = next_name(word, candidate);
      if (is_nearer(name, candidate, nearest))
        found = &list->files[i];
    }
  return found;
}

enum gpumc_status gpumc_plugin_set_want(struct gpumc_plugin_set *set, enum gpumc_plugin_kind kind,
                                        const char *name, bool suggests, struct gpumc_error *error)
{
  struct gpumc_plugin_list list;
  char nearest[GPUMC_PLUGIN_LIST_BYTES];
  const struct gpumc_plugin_file *wanted = NULL, *near = NULL;
  enum gpumc_status status;
  if (has(set, kind, name))
    return GPUMC_OK;
  GPUMC_TRY_OUT(status, gpumc_plugin_search(&list, error));
  wanted = find_wanted(&list, kind, name);
  near = suggests && wanted == NULL ? find_near(set, &list, kind, name, nearest) : NULL;
  if (wanted != NULL)
    status = use_path(set, wanted->path, error);
  else if (near != NULL)
    status = gpumc_error_set(error, GPUMC_INVALID,
                             "unknown %s '%s'; did you mean '%s'? It is in the plugin %s",
                             kind_words[kind], name, nearest, near->path);
out:
  gpumc_plugin_list_free(&list);
  return status;
}

/* A file before file i of the list that names find first, though it cannot be used, if that is so
 * for all models and algorithms of file i; else NULL. */
static const struct gpumc_plugin_file *
find_shadowing(const struct gpumc_plugin_set *set, const struct gpumc_plugin_list *list, size_t i)
{
  const struct gpumc_plugin_file *files = list->files, *found = NULL;
  char name[GPUMC_PLUGIN_LIST_BYTES];
  for (enum gpumc_plugin_kind kind = GPUMC_PLUGIN_MODEL; kind <= GPUMC_PLUGIN_ALGORITHM; kind++)
    for (const char *word = list_of(&files[i].note, kind); *word != '\0';) {
      size_t first = 0;
      word = next_name(word, name);
      while (first < i && !gpumc_plugin_lists(list_of(&files[first].note, kind), name))
        first++;
      if (first == i || has(set, kind, name))
        return NULL;
      found = &files[first];
    }
  return found;
}

enum gpumc_status gpumc_plugin_set_add_all(struct gpumc_plugin_set *set,
                                           struct gpumc_plugin_list *list,
                                           struct gpumc_error *error)
{
  for (size_t i = 0; i < list->count; i++) {
    struct gpumc_plugin_file *file = &list->files[i];
    struct gpumc_error reason = {0};
    if (file->why_not[0] != '\0' ||
        (file->note.models[0] == '\0' && file->note.algorithms[0] == '\0'))
      continue;
    const struct gpumc_plugin_file *shadowing = find_shadowing(set, list, i);
    if (shadowing != NULL) {
      snprintf(file->why_not, sizeof file->why_not,
               "shadowed by %.150s, which is found first: rebuild that one, or remove it",
               shadowing->path);
      continue;
    }
    const enum gpumc_status status = use_path(set, file->path, &reason);
    if (status == GPUMC_INVALID)
      snprintf(file->why_not, sizeof file->why_not, "%.255s", gpumc_error_text(&reason));
    gpumc_error_free(&reason);
    if (status == GPUMC_FAILURE)
      return out_of_memory(error);
  }
  return GPUMC_OK;
}
