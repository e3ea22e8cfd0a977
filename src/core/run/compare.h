/* Whether a result or a checkpoint belongs to a task's configuration, and to the trajectory that
 * this program has. */
#ifndef GPUMC_CORE_COMPARE_H
#define GPUMC_CORE_COMPARE_H

#include "core/run/language.h"
#include "core/storage/checkpoint.h"
#include "core/storage/result_info.h"

/* How thoroughly a finished result or a checkpoint is checked: not at all; by its configuration;
 * also against its input files as they are now, as an onlooker does, who does not read the arrays
 * of a checkpoint; or, as a run does, with every byte of a checkpoint verified. */
enum gpumc_result_check {
  GPUMC_CHECK_ANY,
  GPUMC_CHECK_CONFIGURATION,
  GPUMC_CHECK_LOOK,
  GPUMC_CHECK_FILES
};

/* Returns GPUMC_INVALID with the differences if it does not. If the configuration leaves the kernel
 * open, the stored one is assumed. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_compare_result(const struct gpumc_task *task, const struct gpumc_result *result,
                     enum gpumc_result_check check, struct gpumc_error *error);
GPUMC_MUST_CHECK enum gpumc_status
gpumc_compare_checkpoint(const struct gpumc_task *task, const char *path,
                         struct gpumc_checkpoint_reader *reader, struct gpumc_error *error);
/* Checks that the files that the checkpoint was made with have this `checksum`
 * (gpumc_checksum_of_files): GPUMC_INVALID if not. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_compare_samples(const char *path, struct gpumc_checkpoint_reader *reader, uint64_t checksum,
                      struct gpumc_error *error);
/* The same with the files as they are now. */
GPUMC_MUST_CHECK enum gpumc_status
gpumc_compare_file(const struct gpumc_task *task, const char *path,
                   struct gpumc_checkpoint_reader *reader, struct gpumc_error *error);

/* Returns the checksum of the task's input files: `samples` is gpumc_samples_checksum() of the
 * model's samples, `file` that of the algorithm's file if it reads one. */
uint64_t gpumc_checksum_of_files(const struct gpumc_task *task, uint64_t samples, uint64_t file);

/* The attribute of /provenance with the plugins in use (gpumc_plugin_set_text), and the text in a
 * checkpoint; without plugins neither exists. */
#define GPUMC_RECORDED_PLUGINS "plugins"
#define GPUMC_CHECKPOINT_PLUGINS "run/plugins"

/* Attributes of /provenance if a task reads files: the number of samples of the model that the run
 * uses, and gpumc_checksum_of_files(), as text since attributes cannot be unsigned integers. */
#define GPUMC_READ_SAMPLES "read_samples"
#define GPUMC_READ_CHECKSUM "read_checksum"
enum { GPUMC_READ_CHECKSUM_BYTES = 17 };
const char *
gpumc_read_checksum_text(uint64_t checksum, char text[static GPUMC_READ_CHECKSUM_BYTES]);

#endif
