/* What results and messages record of the plugins in use, and whether two records agree. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "core/plugins/plugin_set.h"

char *gpumc_plugin_set_text(const struct gpumc_plugin_set *set, bool *failed)
{
  char abi[GPUMC_PLUGIN_ABI_BYTES], checksum[20];
  *failed = false;
  if (set->n_used == 0)
    return NULL;
  cJSON *list = cJSON_CreateArray();
  bool good = list != NULL;
  for (size_t i = 0; i < set->n_used && good; i++) {
    const struct gpumc_plugin_file *file = &set->used[i];
    cJSON *entry = cJSON_CreateObject();
    snprintf(checksum, sizeof checksum, "%016" PRIx64, file->checksum);
    good = entry != NULL && cJSON_AddStringToObject(entry, "name", file->note.name) != NULL &&
           cJSON_AddStringToObject(entry, "version", file->note.version) != NULL &&
           cJSON_AddStringToObject(entry, "path", file->path) != NULL &&
           cJSON_AddStringToObject(entry, "checksum", checksum) != NULL &&
           cJSON_AddStringToObject(entry, "abi", gpumc_plugin_abi(abi)) != NULL &&
           cJSON_AddStringToObject(entry, "models", file->note.models) != NULL &&
           cJSON_AddStringToObject(entry, "algorithms", file->note.algorithms) != NULL;
    if (!good || !cJSON_AddItemToArray(list, entry)) {
      cJSON_Delete(entry);
      good = false;
    }
  }
  char *text = good ? cJSON_PrintUnformatted(list) : NULL;
  cJSON_Delete(list);
  *failed = text == NULL;
  return text;
}

void gpumc_plugin_set_list(const struct gpumc_plugin_set *set, struct gpumc_text *text)
{
  for (size_t i = 0; i < set->n_used; i++)
    gpumc_text_append(text, "%s%s %s (checksum %016" PRIx64 ")", i == 0 ? "" : ", ",
                      set->used[i].note.name, set->used[i].note.version, set->used[i].checksum);
  if (set->n_used == 0)
    gpumc_text_append(text, "none");
}

static const char *member(const cJSON *entry, const char *name)
{
  const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(entry, name));
  return text != NULL ? text : "";
}

/* The entry of that name, NULL for none. */
static const cJSON *find_entry(const cJSON *list, const char *name)
{
  const cJSON *entry;
  cJSON_ArrayForEach(entry, list)
  {
    if (strcmp(member(entry, "name"), name) == 0)
      return entry;
  }
  return NULL;
}

/* Whether a plugin is known to have nothing but kernels, whose trajectory is compared besides. */
static bool has_only_kernels(const cJSON *entry)
{
  return cJSON_HasObjectItem(entry, "models") && member(entry, "models")[0] == '\0' &&
         member(entry, "algorithms")[0] == '\0';
}

/* Whether all plugins of one list are in another. */
static bool is_within(const cJSON *list, const cJSON *other)
{
  const cJSON *entry;
  cJSON_ArrayForEach(entry, list)
  {
    if (find_entry(other, member(entry, "name")) == NULL)
      return false;
  }
  return true;
}

bool gpumc_plugins_agree(const char *before, const char *now, char difference[static 256])
{
  cJSON *first = before != NULL ? cJSON_Parse(before) : NULL;
  cJSON *second = now != NULL ? cJSON_Parse(now) : NULL;
  const cJSON *one;
  difference[0] = '\0';
  cJSON_ArrayForEach(one, first)
  {
    const char *name = member(one, "name"), *version = member(one, "version");
    const cJSON *other = find_entry(second, name);
    if (other == NULL && has_only_kernels(one) && is_within(second, first))
      continue;
    if (other == NULL)
      snprintf(difference, 256, "version %.60s of plugin %.60s, which is not in use here", version,
               name);
    else if (strcmp(version, member(other, "version")) != 0)
      snprintf(difference, 256, "version %.60s of plugin %.60s, but this is version %.60s", version,
               name, member(other, "version"));
    if (difference[0] != '\0')
      break;
  }
  cJSON_Delete(first);
  cJSON_Delete(second);
  return difference[0] == '\0';
}
