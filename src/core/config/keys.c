/* Tables of declared keys: counted, searched and visited, and the dotted names of keys. */
#include <assert.h>
#include <string.h>

#include "core/config/params.h"

size_t gpumc_key_count(const struct gpumc_key *keys)
{
  size_t count = 0;
  while (keys[count].name != NULL)
    count++;
  return count;
}

const struct gpumc_key *gpumc_key_find(const struct gpumc_key *keys, const char *dotted_key)
{
  size_t length = strcspn(dotted_key, ".");
  for (; keys != NULL && keys->name != NULL; keys++) {
    if (strncmp(keys->name, dotted_key, length) != 0 || keys->name[length] != '\0')
      continue;
    if (dotted_key[length] == '\0')
      return keys;
    return keys->type == GPUMC_KEY_MAPPING ? gpumc_key_find(keys->children, dotted_key + length + 1)
                                           : NULL;
  }
  return NULL;
}

const char *
gpumc_key_join(const char *block, const char *name, char dotted[static GPUMC_KEY_NAME_BYTES])
{
  size_t prefix = strlen(block), length = strlen(name);
  assert(prefix + length + 2 <= GPUMC_KEY_NAME_BYTES);
  memcpy(dotted, block, prefix);
  if (prefix > 0)
    dotted[prefix++] = '.';
  memcpy(dotted + prefix, name, length + 1);
  return dotted;
}

void gpumc_keys_visit(const struct gpumc_key *keys, const char *prefix, gpumc_key_visitor *visit,
                      void *state)
{
  char name[GPUMC_KEY_NAME_BYTES];
  for (; keys != NULL && keys->name != NULL; keys++) {
    gpumc_key_join(prefix, keys->name, name);
    if (keys->type == GPUMC_KEY_MAPPING)
      gpumc_keys_visit(keys->children, name, visit, state);
    else
      visit(state, name, keys);
  }
}
