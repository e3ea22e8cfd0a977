/* Datasets of a result's summary, by name. */
#ifndef GPUMC_TESTS_RESULT_DATASET_H
#define GPUMC_TESTS_RESULT_DATASET_H

#include <string.h>

#include "core/storage/result_info.h"

/* Returns NULL if there is none with that name. */
static inline const struct gpumc_result_dataset *
find_dataset(const struct gpumc_result *result, const char *name)
{
  for (size_t i = 0; i < result->n_datasets; i++)
    if (strcmp(result->datasets[i].name, name) == 0)
      return &result->datasets[i];
  return NULL;
}

#endif
