/* Where a result comes from: the attributes of /provenance. */
#include <hdf5.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <yaml.h>

#include "build_info.h"
#include "core/device/device_cuda.h"
#include "core/numerics/isa.h"
#include "core/run/run_internal.h"
#include "core/simulation/trust.h"

struct text_attribute {
  const char *name, *value;
};

const char *
gpumc_run_read_checksum_text(uint64_t checksum, char text[static GPUMC_READ_CHECKSUM_BYTES])
{
  snprintf(text, GPUMC_READ_CHECKSUM_BYTES, "%016" PRIx64, checksum);
  return text;
}

static enum gpumc_status record_texts(struct gpumc_recorder *recorder,
                                      const struct text_attribute *attributes, size_t count,
                                      struct gpumc_error *error)
{
  enum gpumc_status status = GPUMC_OK;
  for (size_t i = 0; i < count && status == GPUMC_OK; i++)
    status = gpumc_recorder_text(recorder, "provenance", attributes[i].name,
                                 attributes[i].value != NULL ? attributes[i].value : "", error);
  return status;
}

static enum gpumc_status record_program(struct gpumc_recorder *recorder, struct gpumc_error *error)
{
  unsigned major = 0, minor = 0, release = 0;
  char hdf5[48];
  struct utsname host = {0};
  H5get_libversion(&major, &minor, &release);
  snprintf(hdf5, sizeof hdf5, "%u.%u.%u", major, minor, release);
  char system[2 * sizeof host.sysname + 2 + sizeof host.machine];
  uname(&host);
  snprintf(system, sizeof system, "%s %s %s", host.sysname, host.release, host.machine);
  const struct text_attribute attributes[] = {
      {"git_commit", GPUMC_COMMIT},
      {"program_version", GPUMC_PROGRAM_VERSION},
      {"compiler", GPUMC_COMPILER},
      {"build_type", GPUMC_BUILD_TYPE},
      {"hdf5_version", hdf5},
      {"libyaml_version", yaml_get_version_string()},
      {"cjson_version", cJSON_Version()},
      {"host", host.nodename},
      {"operating_system", system},
  };
  return record_texts(recorder, attributes, sizeof attributes / sizeof *attributes, error);
}

static enum gpumc_status record_work(const struct gpumc_run *run, struct gpumc_error *error)
{
  const struct gpumc_preparation *preparation = &run->preparation;
  const struct text_attribute attributes[] = {
      {"device", preparation->device.description},
      {"kernel", preparation->kernel->variant},
      {"kernel_device", preparation->kernel->device},
      {"trajectory", preparation->kernel->trajectory},
      {"instruction_set", gpumc_isa_name(preparation->device.isa)},
      {"command_line", run->options->command_line},
      {"start", run->started},
  };
  return record_texts(run->recorder, attributes, sizeof attributes / sizeof *attributes, error);
}

/* Of kernels that have more than one generator. */
static enum gpumc_status record_generator(const struct gpumc_run *run, struct gpumc_error *error)
{
  const struct text_attribute generator = {
      "generator", gpumc_generators[run->preparation.demand.plan.tiling.generator]};
  if ((run->preparation.kernel->capabilities & GPUMC_CAN_TILE) == 0)
    return GPUMC_OK;
  return record_texts(run->recorder, &generator, 1, error);
}

/* Of models that read their samples from a file. */
static enum gpumc_status
record_what_was_read(const struct gpumc_run *run, struct gpumc_error *error)
{
  const size_t samples = run->preparation.demand.plan.samples;
  char text[GPUMC_READ_CHECKSUM_BYTES];
  if (!run->preparation.model.reads_file)
    return GPUMC_OK;
  enum gpumc_status status = gpumc_recorder_integer(run->recorder, "provenance", GPUMC_READ_SAMPLES,
                                                    (int64_t)samples, error);
  return status == GPUMC_OK
             ? gpumc_recorder_text(run->recorder, "provenance", GPUMC_READ_CHECKSUM,
                                   gpumc_run_read_checksum_text(run->read_checksum, text), error)
             : status;
}

static enum gpumc_status record_cuda(struct gpumc_recorder *recorder, struct gpumc_error *error)
{
  char driver[16], runtime[16];
  struct gpumc_gpu_list gpus;
  gpumc_gpus_find(&gpus);
  const struct text_attribute attributes[] = {
      {"cuda_driver_version", gpumc_cuda_version_text(gpus.driver, driver)},
      {"cuda_runtime_version", gpumc_cuda_version_text(gpus.runtime, runtime)},
  };
  return record_texts(recorder, attributes, sizeof attributes / sizeof *attributes, error);
}

enum gpumc_status gpumc_run_record_start(struct gpumc_run *run, struct gpumc_error *error)
{
  enum gpumc_status status = record_program(run->recorder, error);
  if (status == GPUMC_OK)
    status = record_work(run, error);
  if (status == GPUMC_OK)
    status = record_generator(run, error);
  if (status == GPUMC_OK)
    status = gpumc_trust_record_warnings(&run->context, "provenance", error);
  if (status == GPUMC_OK)
    status = gpumc_recorder_integer(run->recorder, "provenance", "thermal_seed",
                                    (int64_t)run->preparation.seed, error);
  if (status == GPUMC_OK)
    status = record_what_was_read(run, error);
  if (status == GPUMC_OK && strcmp(run->preparation.device.ops->name, "cuda") == 0)
    status = record_cuda(run->recorder, error);
  if (status == GPUMC_OK)
    status = gpumc_recorder_integer(run->recorder, "provenance", "threads",
                                    run->preparation.device.threads, error);
  return status;
}

/* Of this invocation: a run that was resumed has spent more before. */
static enum gpumc_status record_stages(struct gpumc_run *run, struct gpumc_error *error)
{
  struct gpumc_device *device = &run->preparation.device;
  const char *const *stages = run->task->algorithm->stages;
  double seconds[GPUMC_STAGES_MAXIMUM];
  enum gpumc_status status = device->ops->stage_seconds(device, seconds, error);
  if (status == GPUMC_OK)
    status = gpumc_recorder_number(run->recorder, "provenance", "seconds_units", run->unit_seconds,
                                   error);
  for (size_t i = 0; stages != NULL && stages[i] != NULL && status == GPUMC_OK; i++) {
    char name[48];
    snprintf(name, sizeof name, "seconds_%s", stages[i]);
    status = gpumc_recorder_number(run->recorder, "provenance", name, seconds[i + 1], error);
  }
  return status;
}

enum gpumc_status gpumc_run_record_end(struct gpumc_run *run, struct gpumc_error *error)
{
  struct gpumc_recorder *recorder = run->recorder;
  double updates = gpumc_run_position(run).updates;
  double seconds = gpumc_run_seconds(run);
  char end[32];
  gpumc_run_timestamp(end);
  enum gpumc_status status = gpumc_recorder_text(recorder, "provenance", "end", end, error);
  if (status == GPUMC_OK)
    status =
        gpumc_recorder_integer(recorder, "provenance", "resumes", (int64_t)run->resumes, error);
  if (status == GPUMC_OK)
    status = gpumc_recorder_number(recorder, "provenance", "updates", updates, error);
  if (status == GPUMC_OK)
    status = gpumc_recorder_number(recorder, "provenance", "seconds", seconds, error);
  if (status == GPUMC_OK)
    status = gpumc_recorder_number(recorder, "provenance", "update_rate",
                                   seconds > 0 ? updates / seconds : 0, error);
  return status == GPUMC_OK ? record_stages(run, error) : status;
}
