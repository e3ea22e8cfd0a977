/* Whether a result or a checkpoint is of a task's configuration, and of the trajectory that this
 * program has. */
#ifndef GPUMC_CORE_COMPARE_H
#define GPUMC_CORE_COMPARE_H

#include "core/run/language.h"
#include "core/storage/checkpoint.h"
#include "core/storage/result_info.h"

/* How closely a finished result, or a checkpoint, is looked at: not at all; by its configuration;
 * also against the model's file as it is now, as an onlooker does, who does not read the arrays of
 * a checkpoint; or, as a run does, with every byte of a checkpoint verified. */
enum gpumc_result_check {
  GPUMC_CHECK_ANY,
  GPUMC_CHECK_CONFIGURATION,
  GPUMC_CHECK_LOOK,
  GPUMC_CHECK_FILES
};

/* GPUMC_INVALID with the differences where it is not. A kernel that the configuration leaves open
 * is taken for the stored one. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_compare_result(const struct gpumc_task *task, const struct gpumc_result *result,
                     enum gpumc_result_check check, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
gpumc_compare_checkpoint(const struct gpumc_task *task, const char *path,
                         struct gpumc_checkpoint_reader *reader, struct gpumc_error *error);
/* Whether the samples that the checkpoint was made with, out of a file, are those of `checksum`
 * (gpumc_samples_checksum): GPUMC_INVALID where they are not. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_compare_samples(const char *path, struct gpumc_checkpoint_reader *reader, uint64_t checksum,
                      struct gpumc_error *error);
/* The same with the file as it is now. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_compare_file(const struct gpumc_task *task, const char *path,
                   struct gpumc_checkpoint_reader *reader, struct gpumc_error *error);

/* Attributes of /provenance where the model reads samples from a file: how many the run takes, and
 * gpumc_samples_checksum() of them, as text since attributes are no unsigned integers. */
#define GPUMC_READ_SAMPLES "read_samples"
#define GPUMC_READ_CHECKSUM "read_checksum"
enum { GPUMC_READ_CHECKSUM_BYTES = 17 };
const char *
gpumc_read_checksum_text(uint64_t checksum, char text[static GPUMC_READ_CHECKSUM_BYTES]);

#endif
