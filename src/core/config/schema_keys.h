/* JSON Schema of declared keys. A missing piece (memory) is NULL and makes the whole NULL. */
#ifndef GPUMC_CORE_SCHEMA_KEYS_H
#define GPUMC_CORE_SCHEMA_KEYS_H

#include "core/config/params.h"

/* Takes over `value`, also when it fails. */
bool gpumc_json_put(cJSON *object, const char *name, cJSON *value);
bool gpumc_json_push(cJSON *array, cJSON *value);
cJSON *gpumc_json_pair(const char *name, cJSON *value);

/* One key that is no block. */
cJSON *gpumc_schema_value(const struct gpumc_key *key);
/* A block of keys. What the campaign may supply instead goes to `conditions`, an array of schemas
 * of the root: missing sweepable keys, and exclusive groups with sweepable members. `name`: the
 * block's dotted name, "" for the root. `conditions` NULL: the block may be absent, all stays
 * inside. */
cJSON *gpumc_schema_block(const struct gpumc_key *keys, const char *name, cJSON *conditions);

#endif
