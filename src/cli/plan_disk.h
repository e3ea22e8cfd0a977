/* What `gpumc plan` says of the disk. */
#ifndef GPUMC_CLI_PLAN_DISK_H
#define GPUMC_CLI_PLAN_DISK_H

#include <cjson/cJSON.h>

#include "core/run/disk_plan.h"

/* The lines of one task. */
void cli_plan_disk_print(const struct gpumc_preparation *preparation);
/* The members of its JSON object. */
void cli_plan_disk_json(const struct gpumc_preparation *preparation, cJSON *json);
#endif
