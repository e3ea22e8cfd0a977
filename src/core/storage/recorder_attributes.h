/* Inside the recorder: attributes by path, at once or kept until the file is there. */
#ifndef GPUMC_CORE_RECORDER_ATTRIBUTES_H
#define GPUMC_CORE_RECORDER_ATTRIBUTES_H

#include <stdint.h>

#include "core/storage/hdf5_file.h"

enum gpumc_attribute_kind {
  GPUMC_ATTRIBUTE_TEXT,
  GPUMC_ATTRIBUTE_NUMBER,
  GPUMC_ATTRIBUTE_INTEGER,
};

struct gpumc_attribute {
  enum gpumc_attribute_kind kind;
  const char *path, *name;
  const char *text;
  double number;
  int64_t integer;
};

/* Attributes that wait for the file. Zero-initialise. */
struct gpumc_attribute_list {
  size_t count;
  struct gpumc_attribute *items;
};

/* Keeps a copy. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_attribute_keep(struct gpumc_attribute_list *list,
                                                        const struct gpumc_attribute *attribute,
                                                        struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status gpumc_attribute_write(const struct gpumc_hdf5_file *file,
                                                         const struct gpumc_attribute *attribute,
                                                         struct gpumc_error *error);
void gpumc_attribute_list_free(struct gpumc_attribute_list *list);

#endif
