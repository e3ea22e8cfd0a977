#include "cli/plan_disk.h"

#include <stdio.h>

#include "core/base/memory.h"

void cli_plan_disk_print(const struct gpumc_preparation *preparation)
{
  const double configurations = preparation->demand.configuration_bytes;
  const char *estimate =
      preparation->demand.estimated ? ", with steps that are chosen as it goes" : "";
  char size[32], of_it[32], resuming[32];
  struct gpumc_disk_plan disk;
  gpumc_disk_plan_make(preparation, &disk);
  printf("result      about %s", gpumc_size_text(disk.result, size));
  if (configurations > 0)
    printf(", %s of it configurations", gpumc_size_text(configurations, of_it));
  if (disk.recorded > 0)
    printf(", %s of it samples of the disorder", gpumc_size_text(disk.recorded, of_it));
  printf("%s\n", estimate);
  printf("disk        about %s while it runs, %s at a resume; a checkpoint is %s, two while it is "
         "replaced\n",
         gpumc_size_text(disk.running, size), gpumc_size_text(disk.resuming, resuming),
         gpumc_size_text(disk.checkpoint, of_it));
}

void cli_plan_disk_json(const struct gpumc_preparation *preparation, cJSON *json)
{
  struct gpumc_disk_plan disk;
  gpumc_disk_plan_make(preparation, &disk);
  cJSON_AddNumberToObject(json, "result_bytes", disk.result);
  if (disk.recorded > 0)
    cJSON_AddNumberToObject(json, "disorder_bytes", disk.recorded);
  cJSON_AddNumberToObject(json, "log_bytes", disk.log);
  cJSON_AddNumberToObject(json, "checkpoint_bytes", disk.checkpoint);
  cJSON_AddNumberToObject(json, "disk_bytes", disk.running);
  cJSON_AddNumberToObject(json, "disk_resume_bytes", disk.resuming);
}
