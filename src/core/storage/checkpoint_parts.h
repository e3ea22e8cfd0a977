/* The arrays that a state consists of, listed once, to and from a checkpoint. */
#ifndef GPUMC_CORE_CHECKPOINT_PARTS_H
#define GPUMC_CORE_CHECKPOINT_PARTS_H

#include "core/device/device.h"
#include "core/storage/checkpoint.h"

/* values[rows][width]. */
struct gpumc_part {
  const char *name;
  enum gpumc_element element;
  size_t rows, width;
  void *values;
};

/* Each as the array PREFIX/name. `device`: whose memory the values are; NULL: the host's. */
GPUMC_MUST_CHECK enum gpumc_status gpumc_parts_save(const struct gpumc_part *parts, size_t count,
                                                    struct gpumc_device *device,
                                                    struct gpumc_checkpoint_writer *writer,
                                                    const char *prefix, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status gpumc_parts_load(const struct gpumc_part *parts, size_t count,
                                                    struct gpumc_device *device,
                                                    struct gpumc_checkpoint_reader *reader,
                                                    const char *prefix, struct gpumc_error *error);

#endif
