/* What the files of a task take of the disk, known before it runs. */
#ifndef GPUMC_CORE_DISK_PLAN_H
#define GPUMC_CORE_DISK_PLAN_H

#include "core/run/prepare.h"

/* Bytes; estimates, since HDF5 adds to the numbers what it needs for itself. */
struct gpumc_disk_plan {
  double result;     /* the finished one, and the working file */
  double recorded;   /* of the result: the samples of the disorder, on request */
  double log;        /* of series and configurations */
  double checkpoint; /* one; there are two while it is replaced */
  double running;    /* all that is there at once, at most */
  double resuming;   /* the same at a resume, when the working file is written anew */
};

void gpumc_disk_plan_make(const struct gpumc_preparation *preparation,
                          struct gpumc_disk_plan *plan);

#endif
