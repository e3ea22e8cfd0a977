/* Positions of hard disks from a text file. */
#include "models/hard_disks/hard_disks.h"

enum gpumc_status hard_disks_read_file(const char *path, struct hard_disks_parameters *parameters,
                                       struct gpumc_error *error)
{
  (void)parameters;
  return gpumc_error_set(error, GPUMC_INVALID, "cannot read %s", path);
}
